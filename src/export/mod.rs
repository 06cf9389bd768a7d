//! Exports a site: all records with their terms, values and comments as WXR 1.2, which WordPress's importer takes.
//!
//! Everything is read from one snapshot, page by page, so that memory holds some records with their comments however many
//! there are. Whatever the format has no place for is counted in the report.

pub mod files;
mod losses;
mod piece;
mod records;
mod report;
mod terms;
mod write;

use self::losses::ImporterLosses;
pub use self::piece::piece;
use self::records::RecordReader;
pub use self::report::ExportReport;
use self::write::{ExportedSite, WxrWriter};
use crate::boot::{BootError, Services};
use crate::import::items::ExportItem;
use cms_core::error::ApiError;
use cms_core::features::site_export;
use cms_core::model::{Method, SiteExportQuery};
use cms_core::records::{always, plan};
use cms_core::registry::Registry;
use cms_core::registry::resource::Resource;
use cms_core::scope::{Principal, Scope, stored_roles};
use cms_storage::Snapshot;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Records that are read together.
const PAGE: u64 = 200;

/// A choice of records, and the size of the files.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// Resources, by name; empty: all.
    pub types: Vec<String>,
    /// Records that were changed then or later, in UTC seconds.
    pub since: Option<i64>,
    /// Bytes after which another file begins: with the next item.
    pub part: Option<u64>,
}

/// Writes the export of a site into a file; further parts are beside it, with `-2` and so on behind the name.
///
/// # Errors
/// A file is there already or cannot be written; a type is none; the database cannot be read.
pub fn export(
    registry: &Arc<Registry>,
    services: &Services,
    file: &Path,
    options: &ExportOptions,
) -> Result<ExportReport, BootError> {
    let engine = services.engine(registry.clone())?;
    // The operator reads every field.
    let capabilities = Arc::new(registry.capabilities.iter().cloned().collect());
    let reader = Principal { capabilities, ..Principal::default() };
    let scope = engine.scope_of(reader).map_err(|error| BootError::Other(error.to_string()))?;
    let kinds = site_export::kinds(registry, options.types.iter().map(String::as_str));
    let kinds = kinds.map_err(|none| BootError::Other(format!("there is no content type {none}")))?;
    let query = SiteExportQuery { kinds, since: options.since, ..SiteExportQuery::default() };
    let mut parts = ExportParts::new(&scope, file, options.part);
    let mut report = ExportReport::default();
    let written = write_all(&scope, &query, &mut parts, &mut report);
    match written.and_then(|()| parts.finish()) {
        Ok(()) => {
            report.files = parts.files;
            Ok(report)
        }
        Err(error) => {
            parts.remove();
            Err(error)
        }
    }
}

fn write_all(
    scope: &Scope,
    query: &SiteExportQuery,
    parts: &mut ExportParts,
    report: &mut ExportReport,
) -> Result<(), BootError> {
    let failed = |error: ApiError| BootError::Other(error.to_string());
    let snapshot = scope.snapshot().map_err(failed)?;
    let terms = terms::all(scope, &*snapshot).map_err(failed)?;
    let mut reader = RecordReader::new(scope, &*snapshot, query).map_err(failed)?;
    let authors = reader.authors().map_err(failed)?;
    report.authors = authors.len() as u64;
    report.terms = terms.len() as u64;
    for author in authors {
        parts.put(&ExportItem::Author(author))?;
    }
    let mut losses = ImporterLosses::new(&scope.registry.field_groups);
    for term in terms {
        losses.of_term(&term, report);
        parts.put(&ExportItem::Term(term))?;
    }
    while let Some(page) = reader.page(PAGE, report).map_err(failed)? {
        for record in page {
            losses.of_record(&record, report);
            parts.put(&ExportItem::Record(Box::new(record)))?;
        }
    }
    report.rows = rows(scope, &*snapshot).map_err(failed)?;
    report.roles = stored_roles(&*snapshot)?.len() as u64;
    Ok(())
}

/// How many rows resources have that people write and that are their properties and nothing more.
fn rows(scope: &Scope, snapshot: &dyn Snapshot) -> Result<BTreeMap<String, u64>, ApiError> {
    let mut counts = BTreeMap::new();
    let registry = &scope.registry;
    let written = |resource: &Resource| {
        let own = registry.routes.iter().filter(|route| route.resource == Some(resource.index));
        own.flat_map(|route| &route.endpoints).any(|endpoint| endpoint.methods.contains(&Method::Post))
    };
    for resource in registry.resources.iter().filter(|resource| resource.is_plain() && written(resource)) {
        let count = snapshot.count(&plan(resource, always()))?;
        if count > 0 {
            counts.insert(resource.path.clone(), count);
        }
    }
    Ok(counts)
}

/// The facts about the site that an export begins with.
fn exported_site(scope: &Scope) -> ExportedSite {
    let setting = |name: &str| scope.settings.text(name).to_owned();
    ExportedSite {
        title: setting("title"),
        description: setting("description"),
        language: scope.settings.language_tag(),
        url: scope.registry.site.url.clone(),
    }
}

/// The files of an export.
struct ExportParts {
    file: PathBuf,
    site: ExportedSite,
    most: u64,
    out: Option<WxrWriter<CountedFile>>,
    /// Those that were made.
    files: Vec<PathBuf>,
    /// The one that was written or tried last.
    place: PathBuf,
}

impl ExportParts {
    fn new(scope: &Scope, file: &Path, most: Option<u64>) -> ExportParts {
        let site = exported_site(scope);
        let most = most.unwrap_or(u64::MAX);
        ExportParts { file: file.to_owned(), site, most, out: None, files: Vec::new(), place: file.to_owned() }
    }

    fn put(&mut self, item: &ExportItem) -> Result<(), BootError> {
        let written = self.try_put(item);
        written.map_err(|error| self.unwritten(&error))
    }

    fn try_put(&mut self, item: &ExportItem) -> io::Result<()> {
        if self.out.as_ref().is_some_and(|out| out.output().written >= self.most) {
            self.close()?;
        }
        self.open()?.item(item)
    }

    /// The file that is being written, or another one.
    fn open(&mut self) -> io::Result<&mut WxrWriter<CountedFile>> {
        let out = match self.out.take() {
            Some(out) => out,
            None => {
                let place = self.next_place();
                self.place.clone_from(&place);
                // A file that is there belongs to somebody.
                let file = BufWriter::with_capacity(1 << 18, File::create_new(&place)?);
                self.files.push(place);
                WxrWriter::begin(CountedFile { file, written: 0 }, &self.site)?
            }
        };
        Ok(self.out.insert(out))
    }

    /// The place of the next file.
    fn next_place(&self) -> PathBuf {
        if self.files.is_empty() {
            return self.file.clone();
        }
        let stem = self.file.file_stem().unwrap_or_default().to_string_lossy();
        let extension = self.file.extension().map(|end| format!(".{}", end.to_string_lossy())).unwrap_or_default();
        self.file.with_file_name(format!("{stem}-{}{extension}", self.files.len() + 1))
    }

    fn close(&mut self) -> io::Result<()> {
        let Some(out) = self.out.take() else { return Ok(()) };
        out.end()?.file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }

    fn finish(&mut self) -> Result<(), BootError> {
        // A site without anything is an export, too.
        let closed = if self.files.is_empty() { self.open().map(drop) } else { Ok(()) }.and_then(|()| self.close());
        closed.map_err(|error| self.unwritten(&error))
    }

    /// Removes what was written, so that the export can be tried again.
    fn remove(&mut self) {
        self.out = None;
        // The error is reported; a file that cannot be removed is left.
        self.files.iter().for_each(|file| drop(fs::remove_file(file)));
    }

    fn unwritten(&self, error: &io::Error) -> BootError {
        let hint = match error.kind() {
            io::ErrorKind::AlreadyExists => "; move it away or choose another name",
            _ => "",
        };
        BootError::Other(format!("{}: {error}{hint}", self.place.display()))
    }
}

/// A file, with the bytes that were written to it.
struct CountedFile {
    file: BufWriter<File>,
    written: u64,
}

impl Write for CountedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
