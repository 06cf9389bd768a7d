//! The report of an export: what it has written, and what it has left out.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct ExportReport {
    pub files: Vec<PathBuf>,
    pub authors: u64,
    pub terms: u64,
    pub comments: u64,
    /// By kind, as WordPress names it.
    pub records: BTreeMap<String, u64>,
    /// Values of properties that are meta values in the file, by kind and property.
    pub properties: BTreeMap<(String, String), u64>,
    /// Records that nobody has saved yet.
    pub unsaved: u64,
    /// Comments that are spam.
    pub spam: u64,
    /// Comments whose accounts own no record, and are not in the file.
    pub accounts: u64,
    /// Rows of other resources, by name: the format has no place for them.
    pub rows: BTreeMap<String, u64>,
    /// Records whose type, title and date another one has, too.
    pub twins: u64,
    /// Records that were changed after their date.
    pub changed: u64,
    /// Values of fields that refer to terms and accounts by number.
    pub numbers: u64,
    /// Roles that are stored: the format has no place for them.
    pub roles: u64,
}

impl fmt::Display for ExportReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for file in &self.files {
            writeln!(f, "written: {}", file.display())?;
        }
        let records: Vec<String> = self.records.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let records = if records.is_empty() { "no records".to_owned() } else { records.join(", ") };
        write!(f, "{records}; {} terms, {} comments, {} authors", self.terms, self.comments, self.authors)?;
        for ((kind, property), count) in &self.properties {
            write!(f, "\nas a meta value: {property} of {count} {kind}")?;
        }
        if self.unsaved > 0 {
            write!(f, "\nnot in the file: {} records that nobody has saved yet", self.unsaved)?;
        }
        if self.spam > 0 {
            write!(f, "\nnot in the file: {} comments that are spam", self.spam)?;
        }
        if self.accounts > 0 {
            write!(f, "\nnot in the file: the accounts of {} comments, which own no record", self.accounts)?;
        }
        for (resource, count) in &self.rows {
            write!(f, "\nnot in the file: {count} rows of {resource}; `Accept: application/x-ndjson` reads them")?;
        }
        if self.roles > 0 {
            write!(f, "\nnot in the file: {} stored roles; `cms-server roles --toml` prints them", self.roles)?;
        }
        let lost = [
            (self.twins, "records: another one has their type, title and date"),
            (self.changed, "dates of the last change"),
            (
                self.numbers,
                "references: the values of fields that refer to terms and accounts by number, which it numbers again",
            ),
        ];
        for (count, what) in lost.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, "\nWordPress's importer does not keep {count} {what}")?;
        }
        Ok(())
    }
}
