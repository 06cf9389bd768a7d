//! Imports a site: from a WordPress export to commits.
//!
//! A first pass reads the whole file and writes nothing, so that a broken file changes nothing; the second one commits
//! in batches. Ids, slugs and dates stay the same; an id that is taken is replaced, and with it every reference. The
//! origin of every row is stored, so that a second run imports nothing twice. Parts of the file that the site does not
//! take as they are, are in the report.

pub mod attachments;
mod dates;
pub mod filing;
mod ids;
mod importer;
pub mod propose;
mod records;
mod report;
mod seo;
mod site;
mod terms;
mod uploads;
pub mod wxr;
mod xml;

use self::ids::ExportIds;
use self::importer::Importer;
pub use self::report::ImportReport;
use crate::boot::{BootError, Services};
use crate::registry::Registry;
use crate::scope::read_settings;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor};
use std::path::Path;
use wxr::{ExportItem, ExportSummary, ReadError, WxrLimits};

/// Changes committed together.
const BATCH: usize = 400;

/// The demo site, which is imported into an empty database.
const DEMO: &str = include_str!("../../fixtures/demo.xml");

/// Imports a file in the name of a user; `bar` shows the progress on a terminal.
///
/// # Errors
/// The file cannot be read or is broken (then nothing was written), or the database refuses.
pub fn import(
    registry: &Registry,
    services: &Services,
    file: &Path,
    user: Option<&str>,
    bar: bool,
) -> Result<ImportReport, BootError> {
    let open = || {
        let file = File::open(file).map_err(|e| BootError::Other(format!("{}: {e}", file.display())))?;
        Ok::<_, BootError>(BufReader::with_capacity(1 << 18, file))
    };
    let size = std::fs::metadata(file).map_or(0, |m| m.len());
    let shown = file.display().to_string();
    let progress = ProgressBar::with_draw_target(
        Some(size * 2),
        if bar { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() },
    );
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent}% {eta}") {
        progress.set_style(style);
    }
    let was_empty = !services.has_records()?;
    let filed = filing::carry_out(registry, &*services.storage)?;
    let done = run(registry, services, &shown, open, user, &progress);
    progress.finish_and_clear();
    let (mut report, summary) = done?;
    report.filed = filed;
    site::take(registry, services, &summary, was_empty, &mut report)?;
    report.warnings = summary.warnings;
    Ok(report)
}

/// Imports the demo site.
///
/// # Errors
/// The database refuses.
pub fn demo(registry: &Registry, services: &Services) -> Result<ImportReport, BootError> {
    let demo = || Ok(Cursor::new(DEMO));
    run(registry, services, "the demo site", demo, None, &ProgressBar::hidden()).map(|(report, _)| report)
}

fn run<R: BufRead>(
    registry: &Registry,
    services: &Services,
    shown: &str,
    open: impl Fn() -> Result<R, BootError>,
    user: Option<&str>,
    progress: &ProgressBar,
) -> Result<(ImportReport, ExportSummary), BootError> {
    progress.set_message("checking ");
    let (summary, ids) = survey(open()?, shown, |n| progress.set_position(n))?;
    progress.set_message("importing");
    let first = progress.position();
    let storage = &*services.storage;
    let settings = read_settings(registry, storage)?;
    let mut importer = Importer::new(registry, services, &summary, settings, &ids, user)?;
    let limits = WxrLimits::default();
    let done = wxr::read(open()?, &limits, |n| progress.set_position(first + n), |item| importer.take(item));
    match done {
        Ok(_) => Ok((importer.finish()?, summary)),
        Err(ReadError::Wxr(error)) => Err(BootError::Other(format!("{shown}, {error}; the file changed meanwhile"))),
        Err(ReadError::Sink(error)) => Err(error),
    }
}

/// The first pass: everything is read, nothing is written.
fn survey<R: BufRead>(
    input: R,
    shown: &str,
    progress: impl FnMut(u64),
) -> Result<(ExportSummary, ExportIds), BootError> {
    let mut ids = ExportIds::default();
    let done = wxr::read(input, &WxrLimits::default(), progress, |item| {
        match item {
            ExportItem::Author(author) => ids.users.push(author.id.unwrap_or(0)),
            ExportItem::Term(term) => ids.terms.push(term.id.unwrap_or(0)),
            ExportItem::Record(record) => {
                ids.records.push(record.id);
                ids.comments.extend(record.comments.iter().map(|c| c.id));
            }
        }
        Ok::<(), BootError>(())
    });
    match done {
        Ok(summary) => Ok((summary, ids)),
        Err(ReadError::Wxr(error)) => Err(BootError::Other(format!("{shown}, {error}; nothing was imported"))),
        Err(ReadError::Sink(error)) => Err(error),
    }
}
