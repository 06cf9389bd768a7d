//! Proposes declarations for a site that is to move in: types, taxonomies and field groups, from a file of the old site.
//!
//! A reader of each kind of file gives a [`Proposal`]; here it becomes `site.toml` and schema files, which never replace files
//! that are there.

mod declarations;
mod field_groups;
mod site_export;
pub mod toml_text;

use crate::boot::BootError;
use crate::import::source::{self, ExportSource};
use crate::registry::Registry;
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
    /// Each part that stays out, and why.
    pub left_out: Vec<String>,
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

/// Writes `site.toml` and schema files for the content of a file.
///
/// # Errors
/// The file is of no kind that is read, or a file that would be written is there already; then nothing is written.
pub fn propose(
    registry: &Registry,
    file: &Path,
    prefix: Option<&str>,
    folder: &Path,
) -> Result<ProposeReport, BootError> {
    let refused = |why: String| BootError::Other(format!("{}: {why}; nothing was written", file.display()));
    let is_site = source::holds_site(file).map_err(|error| refused(error.to_string()))?;
    let proposal = match is_site {
        false => from_json(file),
        true => site_export::read(registry, &ExportSource::open(file, prefix, &ProgressBar::hidden())?),
    };
    let proposal = proposal.map_err(refused)?;
    let source = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (files, mut report) = declarations::written(&registry.declaration, proposal, &source);
    write_all(folder, &files)?;
    report.files = files.into_iter().map(|(name, _)| folder.join(name)).collect();
    Ok(report)
}

fn from_json(file: &Path) -> Result<Proposal, String> {
    let size = fs::metadata(file).map_err(|error| error.to_string())?.len();
    if size > LARGEST {
        return Err(format!("a file of more than {LARGEST} bytes is not read"));
    }
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let content: Value = serde_json::from_str(&text).map_err(|error| format!("this is no JSON ({error})"))?;
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
    files: Vec<PathBuf>,
}

impl ProposeReport {
    /// The report for programs.
    pub fn to_json(&self) -> Value {
        let counts: Map<String, Value> = self.counts.iter().map(|(what, n)| (what.clone(), json!(n))).collect();
        let files: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
        json!({"counts": counts, "fields": self.fields, "left_out": self.left_out, "files": files})
    }
}

impl fmt::Display for ProposeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, n) in &self.counts {
            writeln!(f, "{n:>8} {what}")?;
        }
        for (kind, n) in &self.fields {
            writeln!(f, "{n:>8} fields of the type {kind}")?;
        }
        for line in self.left_out.iter().take(LISTED) {
            writeln!(f, "left out: {line}")?;
        }
        if let Some(more) = self.left_out.len().checked_sub(LISTED).filter(|more| *more > 0) {
            writeln!(f, "left out: {more} more")?;
        }
        let files: Vec<String> = self.files.iter().map(|file| format!("written: {}", file.display())).collect();
        f.write_str(&files.join("\n"))
    }
}
