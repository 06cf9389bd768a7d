//! Imports a site: from a WordPress export to commits.
//!
//! A first pass reads the whole file and writes nothing, so that a broken file changes nothing; the second one commits
//! in batches. Ids, slugs and dates stay the same; an id that is taken is replaced, and with it every reference. The
//! origin of every row is stored, so that a second run imports nothing twice.

pub mod attachments;
mod ids;
mod importer;
mod records;
mod terms;
pub mod wxr;
mod xml;

use self::ids::Ids;
use self::importer::Importer;
use crate::boot::{BootError, Services};
use crate::registry::Registry;
use crate::scope::read_settings;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor};
use std::path::Path;
use wxr::{Item, Limits, ReadError, Summary};

/// Changes committed together.
const BATCH: usize = 400;

/// The demo site, which is imported into an empty database.
const DEMO: &str = include_str!("../../fixtures/demo.xml");

/// What an import did, for people.
#[derive(Debug, Default)]
pub struct Report {
    /// Records brought in, by kind and status.
    records: BTreeMap<(String, String), u64>,
    terms: u64,
    users: u64,
    comments: u64,
    /// Things that an earlier run brought already.
    known: u64,
    /// Ids that were taken: space, id of the file, id given instead.
    moved: Vec<(&'static str, i64, i64)>,
    /// Taxonomies that nothing here declares.
    left_out: BTreeMap<String, u64>,
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = String::new();
        for ((kind, status), n) in &self.records {
            let _ = writeln!(out, "{n:>8} {kind} {status}");
        }
        for (what, n) in [("terms", self.terms), ("users", self.users), ("comments", self.comments)] {
            let _ = writeln!(out, "{n:>8} {what}");
        }
        if self.known > 0 {
            let _ = writeln!(out, "{:>8} were here already", self.known);
        }
        for (taxonomy, n) in &self.left_out {
            let _ = writeln!(out, "{n:>8} terms of {taxonomy} left out: no resource is declared for them");
        }
        for (what, from, to) in &self.moved {
            let _ = writeln!(out, "{what} {from} was taken and became {to}; what pointed to it follows");
        }
        f.write_str(out.trim_end())
    }
}

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
) -> Result<Report, BootError> {
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
    let report = run(registry, services, &shown, open, user, &progress);
    progress.finish_and_clear();
    report
}

/// Imports the demo site.
///
/// # Errors
/// The database refuses.
pub fn demo(registry: &Registry, services: &Services) -> Result<Report, BootError> {
    run(registry, services, "the demo site", || Ok(Cursor::new(DEMO)), None, &ProgressBar::hidden())
}

fn run<R: BufRead>(
    registry: &Registry,
    services: &Services,
    shown: &str,
    open: impl Fn() -> Result<R, BootError>,
    user: Option<&str>,
    progress: &ProgressBar,
) -> Result<Report, BootError> {
    progress.set_message("checking ");
    let (summary, ids) = survey(open()?, shown, |n| progress.set_position(n))?;
    progress.set_message("importing");
    let first = progress.position();
    let storage = &*services.storage;
    let settings = read_settings(registry, storage)?;
    let mut importer = Importer::new(registry, services, &summary, settings, &ids, user)?;
    let limits = Limits::default();
    let done = wxr::read(open()?, &limits, |n| progress.set_position(first + n), |item| importer.take(item));
    match done {
        Ok(_) => importer.finish(),
        Err(ReadError::Wxr(error)) => Err(BootError::Other(format!("{shown}, {error}; the file changed meanwhile"))),
        Err(ReadError::Sink(error)) => Err(error),
    }
}

/// The first pass: everything is read, nothing is written.
fn survey<R: BufRead>(input: R, shown: &str, progress: impl FnMut(u64)) -> Result<(Summary, Ids), BootError> {
    let mut ids = Ids::default();
    let done = wxr::read(input, &Limits::default(), progress, |item| {
        match item {
            Item::Author(author) => ids.users.push(author.id.unwrap_or(0)),
            Item::Term(term) => ids.terms.push(term.id.unwrap_or(0)),
            Item::Record(record) => {
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
