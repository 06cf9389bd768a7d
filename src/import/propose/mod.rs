//! Proposes declarations for a site that is to move in: types, taxonomies and field groups, from a file of the old site.
//!
//! A reader of each kind of file gives a [`Proposal`]; here it becomes `site.toml` and schema files, which never replace files
//! that are there.

mod declarations;
mod field_groups;
mod guesses;
mod plugins;
mod site_export;
pub mod toml_text;

use crate::boot::BootError;
use crate::import::report_lines::ReportLines;
use crate::import::source::{self, ExportSource};
use crate::import::xml::HINT_UTF8;
use cms_core::registry::Registry;
use indicatif::ProgressBar;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Most bytes of a file that is read.
const LARGEST: u64 = 64 << 20;
/// Lines of the report that name what stays out.
const LISTED: usize = 200;

/// The content of a file, as far as it can be declared.
#[derive(Debug, Default)]
pub struct Proposal {
    pub types: Vec<ProposedType>,
    pub taxonomies: Vec<ProposedTaxonomy>,
    pub groups: Vec<ProposedGroup>,
    pub meta: Vec<ProposedMeta>,
    /// Names of the areas that have widgets.
    pub areas: Vec<String>,
    /// Values for search engines, by meta key.
    pub seo: BTreeMap<String, u64>,
    pub profiles: Vec<ProposedProfile>,
    /// Each part that stays out, and why.
    pub left_out: Vec<String>,
    /// See [`ProposeReport::notes`].
    pub notes: Vec<String>,
}

/// A shipped file that the declarations include.
#[derive(Debug)]
pub struct ProposedProfile {
    pub file: &'static str,
    /// Why it is included.
    pub note: String,
    /// Declarations that it needs.
    pub declared: String,
    /// The line of the report.
    pub count: (&'static str, u64),
}

/// A type of records.
#[derive(Debug, Default)]
pub struct ProposedType {
    pub kind: String,
    pub base: String,
    pub name: String,
    pub singular: String,
    pub description: String,
    pub icon: String,
    pub hierarchical: bool,
    /// Whether the interface shows it.
    pub shown: bool,
    /// Whether searches find its records.
    pub searched: bool,
    pub archive: bool,
    pub supports: Vec<String>,
    /// Kinds of its taxonomies.
    pub taxonomies: Vec<String>,
    /// Advanced Custom Fields declares it.
    pub by_plugin: bool,
    /// Its records have languages.
    pub multilingual: bool,
}

/// A taxonomy.
#[derive(Debug, Default)]
pub struct ProposedTaxonomy {
    pub kind: String,
    pub base: String,
    pub name: String,
    pub singular: String,
    pub description: String,
    pub hierarchical: bool,
    pub shown: bool,
    /// Kinds of the records that have its terms.
    pub of: Vec<String>,
    /// Its terms have languages.
    pub multilingual: bool,
}

/// A group of fields, as it is declared.
#[derive(Debug, Default)]
pub struct ProposedGroup {
    pub name: String,
    /// Members of the declaration, without the fields.
    pub declared: Map<String, Value>,
    /// The fields by their full names.
    pub fields: Vec<(String, Map<String, Value>)>,
}

/// A meta key, with the type that its values show.
#[derive(Debug)]
pub struct ProposedMeta {
    /// Kind of the records, taxonomy of the terms, or kind of the accounts or comments that have it.
    pub kind: String,
    pub key: String,
    pub schema: Value,
    pub single: bool,
    /// The guess, and from how many items it was made.
    pub note: String,
    pub items: u64,
}

/// A reader of one kind of file; `None`: the file is of another kind.
type SourceReader = fn(&Value) -> Option<Proposal>;

/// Every kind of JSON file that is read, in the order in which they are tried.
const READERS: &[SourceReader] = &[field_groups::read];

/// Writes `site.toml` and schema files for the content of a file, or of several exports of one site.
///
/// # Errors
/// A file is of no kind that is read, or a file that would be written is there already; then nothing is written.
pub fn propose(
    registry: &Registry,
    sources: &[PathBuf],
    prefix: Option<&str>,
    folder: &Path,
) -> Result<ProposeReport, BootError> {
    let refused =
        |file: &Path, why: String| BootError::Other(format!("{}: {why}; nothing was written", file.display()));
    let mut others = Vec::new();
    for file in sources {
        if !source::holds_site(file).map_err(|error| refused(file, error.to_string()))? {
            others.push(file);
        }
    }
    let proposal = match (sources, others.as_slice()) {
        ([file], [_]) => from_json(file).map_err(|why| refused(file, why)),
        (_, [file, ..]) => Err(refused(file, "several files are exports of one site, and this is none".to_owned())),
        (files, []) => {
            let opened = ExportSource::open(files, prefix, &ProgressBar::hidden())?;
            site_export::read(registry, &opened)
                .map_err(|why| BootError::Other(format!("{opened}: {why}; nothing was written")))
        }
    }?;
    let name = |file: &PathBuf| file.file_name().map(|name| name.to_string_lossy().into_owned());
    let names: Vec<String> = sources.iter().filter_map(name).collect();
    let (files, mut report) = declarations::written(&registry.declaration, proposal, &names.join(" "));
    write_all(folder, &files)?;
    report.files = files.into_iter().map(|(name, _)| folder.join(name)).collect();
    Ok(report)
}

fn from_json(file: &Path) -> Result<Proposal, String> {
    let size = fs::metadata(file).map_err(|error| error.to_string())?.len();
    if size > LARGEST {
        return Err(format!("a file of more than {LARGEST} bytes is not read"));
    }
    let bytes = fs::read(file).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes).map_err(|_| format!("the text is not UTF-8 ({HINT_UTF8})"))?;
    let none = |error| format!("this is no JSON, and neither an export nor a dump of WordPress ({error})");
    let content: Value = serde_json::from_str(&text).map_err(none)?;
    let unknown = "this is neither an export of field groups nor of types and taxonomies";
    READERS.iter().find_map(|read| read(&content)).ok_or_else(|| unknown.to_owned())
}

/// Writes new files, or none of them.
fn write_all(folder: &Path, files: &[(String, String)]) -> Result<(), BootError> {
    let failed =
        |path: &Path, error: &io::Error| BootError::Other(format!("{}: {error}; nothing was written", path.display()));
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.join(name)).collect();
    if let Some(there) = paths.iter().find(|path| path.symlink_metadata().is_ok()) {
        let hint = "name another folder, or move the file away";
        return Err(BootError::Other(format!(
            "{} exists already; nothing was written\n  hint: {hint}",
            there.display()
        )));
    }
    let mut written: Vec<&PathBuf> = Vec::new();
    for (path, (_, text)) in paths.iter().zip(files) {
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        let done =
            made.and_then(|()| File::options().write(true).create_new(true).open(path)?.write_all(text.as_bytes()));
        if let Err(error) = done {
            // The error is reported; a file that cannot be removed is left.
            written.into_iter().for_each(|path| drop(fs::remove_file(path)));
            return Err(failed(path, &error));
        }
        written.push(path);
    }
    Ok(())
}

/// The report: what came in as what, and what stayed out.
#[derive(Debug, Default)]
pub struct ProposeReport {
    /// Numbers by what they count.
    counts: Vec<(String, u64)>,
    /// Fields by type.
    fields: BTreeMap<String, u64>,
    left_out: Vec<String>,
    /// Parts of the file that were read in another way than they are written, or may have to be mended.
    notes: Vec<String>,
    files: Vec<PathBuf>,
}

impl ProposeReport {
    /// The report for programs: that of an import, with the fields by type, and the files that were written.
    pub fn to_json(&self) -> Value {
        let files: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
        let mut document = self.lines(false).to_json();
        document.insert("fields".into(), json!(self.fields));
        document.insert("files".into(), json!(files));
        Value::Object(document)
    }

    /// The report, line by line; for people with fields and files, and the first lines of what stays out.
    fn lines(&self, people: bool) -> ReportLines {
        let mut lines = ReportLines::default();
        self.counts.iter().for_each(|(what, n)| lines.count(*n, what));
        let fields = self.fields.iter().filter(|_| people);
        fields.for_each(|(kind, n)| lines.count(*n, format!("fields of the type {kind}")));
        let listed = if people { LISTED } else { usize::MAX };
        self.left_out.iter().take(listed).for_each(|line| lines.leave_out(None, line));
        if let Some(more) = self.left_out.len().checked_sub(listed).filter(|more| *more > 0) {
            lines.leave_out(None, format!("{more} more"));
        }
        self.notes.iter().for_each(|line| lines.note(line));
        let files = self.files.iter().filter(|_| people);
        files.for_each(|file| lines.note(format!("written: {}", file.display())));
        lines
    }
}

impl fmt::Display for ProposeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines(true).fmt(f)
    }
}
