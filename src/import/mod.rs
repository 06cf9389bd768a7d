//! Imports a site: from a WordPress export or a dump of its database to commits.
//!
//! A first pass reads the whole source and writes nothing, so that a broken file changes nothing; the second one commits
//! in batches. Ids, slugs and dates stay the same; an id that is taken is replaced, and with it every reference. The
//! origin of every row is stored, so that a second run imports nothing twice. Parts of the file that the site does not
//! take as they are, are in the report.

pub mod addresses;
pub mod attachments;
mod dates;
mod dump;
mod encoding;
pub mod fetch;
mod field_values;
pub mod file_records;
pub mod filing;
mod ids;
mod importer;
pub mod items;
mod later;
pub mod live;
mod names;
mod properties;
pub mod propose;
mod records;
mod references;
pub mod remote;
mod report;
pub mod report_lines;
mod seo;
mod site;
pub mod source;
mod terms;
mod texts;
mod uploads;
mod versions;
pub mod wxr;
mod xml;

use self::ids::ExportIds;
use self::importer::Importer;
use self::items::{ExportItem, ExportSummary, ReadError, SourcePart};
pub use self::report::{ImportReport, RedirectOutcome, WidgetOutcome};
use self::source::ExportSource;
use crate::boot::{BootError, Services};
use cms_core::registry::Registry;
use cms_core::scope::read_settings;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Changes committed together.
const BATCH: usize = 400;

/// The demo site, which is imported into an empty database.
const DEMO: &str = include_str!("../../fixtures/demo.xml");

/// How an import runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct SiteImport<'o> {
    /// Login of the account that gets records whose author the source does not list.
    pub user: Option<&'o str>,
    /// Nothing is written.
    pub dry_run: bool,
    /// Records that an earlier run brought become what the source has now.
    pub renew: bool,
    /// Versions and autosaves of records come in, too.
    pub revisions: bool,
    /// Texts that were encoded twice are mended.
    pub mends: bool,
}

/// A bar on a terminal that shows how far an import is.
pub fn progress_bar() -> ProgressBar {
    let progress = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent}% {eta}") {
        progress.set_style(style);
    }
    progress
}

/// Imports a source; its redirects, which the routes take, are in the summary.
///
/// # Errors
/// The source is broken (then nothing was written), or the database refuses.
pub fn import(
    registry: &Registry,
    services: &Services,
    source: &ExportSource,
    options: SiteImport<'_>,
    progress: &ProgressBar,
) -> Result<(ImportReport, ExportSummary), BootError> {
    let was_empty = !services.has_records()?;
    let filed = if options.dry_run { 0 } else { filing::carry_out(registry, &*services.storage)? };
    let done = run(registry, services, source, options, was_empty, progress);
    progress.finish_and_clear();
    let (mut importer, mut summary) = done?;
    importer.report.filed = filed;
    site::take(&mut importer, &summary)?;
    site::refer(&importer, &mut summary.widgets);
    let spaces = [
        ("records", &importer.records),
        ("comments", &importer.comments),
        ("terms", &importer.terms),
        ("users", &importer.users),
    ];
    let lost = spaces.map(|(what, ids)| (what, ids.take_lost()));
    let mut report = importer.report;
    report.lost = lost;
    report.left_out.extend(summary.left_out.clone());
    report.warnings.clone_from(&summary.warnings);
    report.encodings.clone_from(&summary.encodings);
    report.other_versions = if options.revisions { 0 } else { summary.versions };
    Ok((report, summary))
}

/// Imports the demo site.
///
/// # Errors
/// The database refuses.
pub fn demo(registry: &Registry, services: &Services) -> Result<ImportReport, BootError> {
    let (source, options) = (ExportSource::Text(DEMO), SiteImport::default());
    run(registry, services, &source, options, false, &ProgressBar::hidden()).map(|(importer, _)| importer.report)
}

fn run<'a>(
    registry: &'a Registry,
    services: &'a Services,
    source: &ExportSource,
    options: SiteImport<'_>,
    was_empty: bool,
    progress: &ProgressBar,
) -> Result<(Importer<'a>, ExportSummary), BootError> {
    let length = source.length()?;
    progress.set_length(length * 2);
    progress.set_message("checking ");
    let (summary, ids) = survey(source, options.mends, |n| progress.set_position(n))?;
    progress.set_message("importing");
    let settings = read_settings(registry, &*services.storage)?;
    let mut importer = Importer::new(registry, services, &summary, settings, &ids, options, was_empty)?;
    let changed = |error| match error {
        ReadError::File(error) => BootError::Other(format!("{source}, {error}; the file changed meanwhile")),
        ReadError::Sink(error) => error,
    };
    let done = |n| progress.set_position(length + n);
    source.read(SourcePart::Items, options.mends, done, |item| importer.take(item)).map_err(changed)?;
    importer.finish()?;
    importer.take_later()?;
    if options.revisions && summary.versions > 0 {
        let version = |item| match item {
            ExportItem::Record(version) => importer.version(&version),
            ExportItem::Author(_) | ExportItem::Term(_) => Ok(()),
        };
        source.read(SourcePart::Versions, options.mends, done, version).map_err(changed)?;
        importer.flush()?;
    }
    Ok((importer, summary))
}

/// The first pass: everything is read, nothing is written.
fn survey(
    source: &ExportSource,
    mends: bool,
    progress: impl FnMut(u64),
) -> Result<(ExportSummary, ExportIds), BootError> {
    let mut ids = ExportIds::default();
    let done = source.read(SourcePart::Items, mends, progress, |item| {
        match item {
            ExportItem::Author(author) => ids.users.push(author.id.unwrap_or(0)),
            ExportItem::Term(term) => {
                let id = term.id.unwrap_or(0);
                ids.terms.push(id);
                ids.slugs.insert((term.taxonomy, term.slug), id);
            }
            ExportItem::Record(record) => {
                ids.records.push(record.id);
                ids.comments.extend(record.comments.iter().map(|c| c.id));
            }
        }
        Ok::<(), BootError>(())
    });
    match done {
        Ok(summary) => Ok((summary, ids)),
        Err(ReadError::File(error)) => Err(BootError::Other(format!("{source}, {error}; nothing was imported"))),
        Err(ReadError::Sink(error)) => Err(error),
    }
}
