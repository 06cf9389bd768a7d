//! The things that a source of an import holds, whichever kind of file it is: one importer, several readers.
//!
//! A reader yields one item at a time, authors and terms before the records that name them. It knows neither what a record
//! becomes nor where it is stored.

use super::encoding::TextEncodings;
use cms_storage::StorageError;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

/// A summary stores each pair of kind and status and each taxonomy, so a file may not invent any number of them.
const MOST_NAMES: usize = 4096;

/// The greatest whole number that every client reads as it is.
pub(super) const GREATEST: i64 = (1 << 53) - 1;

/// The type of records that are versions or autosaves of others.
pub(super) const VERSION: &str = "revision";

/// The items that a reading passes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourcePart {
    /// All but versions of records.
    #[default]
    Items,
    Versions,
}

impl SourcePart {
    /// Whether records of a type belong to it.
    pub(super) fn has(self, kind: &str) -> bool {
        (kind == VERSION) == (self == SourcePart::Versions)
    }
}

/// One thing that an export holds, in file order.
#[derive(Clone, Debug, PartialEq)]
pub enum ExportItem {
    Author(Author),
    /// From `wp:category`, `wp:tag` or `wp:term`.
    Term(Term),
    /// From `item`.
    Record(Box<ExportRecord>),
}

/// A person whom records name by login.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Author {
    /// Absent in version 1.0.
    pub id: Option<i64>,
    pub login: String,
    pub email: String,
    pub display_name: String,
    pub first_name: String,
    pub last_name: String,
    /// Whatever only a database has.
    pub account: Option<Box<AccountDetails>>,
}

/// The parts of an account that no export shows to others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountDetails {
    /// Empty for an account without a password.
    pub password_hash: String,
    /// Words of roles, those that nothing here declares included.
    pub roles: Vec<String>,
    pub slug: String,
    pub nickname: String,
    pub url: String,
    pub description: String,
    pub locale: String,
    /// UTC seconds.
    pub registered: Option<i64>,
    pub meta: Vec<(String, String)>,
}

/// A category, a tag, or a term of any other taxonomy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Term {
    /// Absent in version 1.0.
    pub id: Option<i64>,
    /// `category`, `post_tag`, `nav_menu`, `post_format`, ...
    pub taxonomy: String,
    pub slug: String,
    pub name: String,
    /// Empty for a term at the top.
    pub parent_slug: String,
    pub description: String,
    pub meta: Vec<(String, String)>,
}

/// A term as a record names it; files of other programs may give it no slug.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermRef {
    pub taxonomy: String,
    pub slug: String,
    pub name: String,
}

/// A post, a page, an attachment, a menu item, or whatever else `kind` says.
///
/// Dates are seconds since 1970-01-01 00:00:00, in the site's wall time (`_local`) or in UTC; the zero date is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportRecord {
    pub id: i64,
    pub title: String,
    /// Markup as its author wrote it.
    pub content: String,
    pub excerpt: String,
    pub link: String,
    pub guid: String,
    pub date_local: Option<i64>,
    pub date_utc: Option<i64>,
    /// Exports of older sites do not contain when a record was modified.
    pub modified_local: Option<i64>,
    pub modified_utc: Option<i64>,
    pub author_login: String,
    /// Percent-encoded if it is not ASCII, as the export has it.
    pub slug: String,
    pub status: String,
    /// Id of the record above, 0 for none.
    pub parent: i64,
    pub menu_order: i64,
    /// The post type.
    pub kind: String,
    pub password: String,
    pub sticky: bool,
    /// `open` or `closed`.
    pub comment_status: String,
    /// `open` or `closed`.
    pub ping_status: String,
    pub attachment_url: Option<String>,
    pub terms: Vec<TermRef>,
    /// In file order; a key may repeat.
    pub meta: Vec<(String, String)>,
    pub comments: Vec<Comment>,
    /// Where the record begins in the file, counted from 1.
    pub line: u64,
}

/// A comment on a record; dates as in [`ExportRecord`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comment {
    pub id: i64,
    pub author: String,
    pub email: String,
    pub url: String,
    pub ip: String,
    pub date_local: Option<i64>,
    pub date_utc: Option<i64>,
    pub content: String,
    /// The program that it was sent with; exports do not contain it.
    pub agent: String,
    /// `1`, `0`, `spam`, `trash` or `post-trashed`.
    pub approved: String,
    /// `comment` where the file leaves it empty, `pingback`, `trackback`, ...
    pub kind: String,
    /// Id of the comment that this one replies to, 0 for none.
    pub parent: i64,
    /// Id of the author if the commenter was logged in, else 0.
    pub user_id: i64,
    pub meta: Vec<(String, String)>,
}

/// The contents of a file, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportSummary {
    /// `wp:wxr_version`.
    pub version: String,
    /// The site's name.
    pub title: String,
    pub description: String,
    /// Where the site's files live.
    pub site_url: String,
    /// Where its pages live: `wp:base_blog_url`, or the channel's link if that is absent.
    pub base_url: String,
    /// As feeds write it: `en-US`.
    pub language: String,
    /// By kind and status.
    pub records: BTreeMap<(String, String), u64>,
    /// By taxonomy; terms that the file defines, not mentions of them.
    pub terms: BTreeMap<String, u64>,
    /// Taxonomies of the terms that records name.
    pub taxonomies: BTreeSet<String>,
    pub authors: u64,
    pub comments: u64,
    /// Settings of the site by the names that they have here, besides those above.
    pub settings: BTreeMap<String, ImportedSetting>,
    /// Redirects of the site: members by name.
    pub redirects: Vec<BTreeMap<String, String>>,
    /// In the order of their areas.
    pub widgets: Vec<ImportedWidget>,
    /// Names of the areas of widgets.
    pub areas: Vec<String>,
    /// Versions and autosaves of records, where they were not asked for.
    pub versions: u64,
    pub encodings: TextEncodings,
    /// Parts of the file that are not items and stay out, with the reason, counted.
    pub left_out: BTreeMap<String, u64>,
    pub warnings: Warnings,
}

/// A widget in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedWidget {
    /// Its type and its number: `text-2`.
    pub id: String,
    /// `None`: it is not shown.
    pub area: Option<String>,
    pub settings: Value,
    /// Settings that are a record or a term.
    pub(super) references: Vec<(String, ImportedSetting)>,
}

/// The value of a setting in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportedSetting {
    Text(String),
    /// Id of a record.
    Record(i64),
    /// Id of a term.
    Term(i64),
}

impl ExportSummary {
    /// Counts an item.
    ///
    /// # Errors
    /// The file has too many names.
    pub(super) fn count(&mut self, item: &ExportItem) -> Result<(), String> {
        match item {
            ExportItem::Author(_) => self.authors += 1,
            ExportItem::Term(term) => *self.terms.entry(term.taxonomy.clone()).or_default() += 1,
            ExportItem::Record(record) => {
                *self.records.entry((record.kind.clone(), record.status.clone())).or_default() += 1;
                for term in &record.terms {
                    if !self.taxonomies.contains(&term.taxonomy) {
                        self.taxonomies.insert(term.taxonomy.clone());
                    }
                }
                self.comments += record.comments.len() as u64;
            }
        }
        match self.records.len() + self.terms.len() + self.taxonomies.len() {
            names if names > MOST_NAMES => {
                Err(format!("the file holds more than {MOST_NAMES} kinds, statuses and taxonomies"))
            }
            _ => Ok(()),
        }
    }

    /// Adds what a further file of the site has; title and settings are those of the first one.
    pub(super) fn add(&mut self, other: ExportSummary) {
        other.records.into_iter().for_each(|(key, n)| *self.records.entry(key).or_default() += n);
        other.terms.into_iter().for_each(|(key, n)| *self.terms.entry(key).or_default() += n);
        other.left_out.into_iter().for_each(|(what, n)| self.leave_out(what, n));
        other.warnings.listed.into_iter().for_each(|(line, text)| self.warnings.add(line, text));
        self.warnings.more += other.warnings.more;
        self.taxonomies.extend(other.taxonomies);
        self.authors += other.authors;
        self.comments += other.comments;
        self.versions += other.versions;
    }

    pub(super) fn leave_out(&mut self, what: impl Into<String>, count: u64) {
        if count > 0 {
            *self.left_out.entry(what.into()).or_default() += count;
        }
    }
}

/// The cause that ended a reading early.
#[derive(Debug)]
pub enum ReadError<E> {
    /// The file is at fault.
    File(FileFault),
    /// The sink did not take an item.
    Sink(E),
}

impl<E> From<FileFault> for ReadError<E> {
    fn from(error: FileFault) -> Self {
        ReadError::File(error)
    }
}

impl<E> From<StorageError> for ReadError<E> {
    fn from(error: StorageError) -> Self {
        ReadError::File(error.into())
    }
}

impl<E> ReadError<E> {
    /// A file cannot be opened.
    pub(super) fn unread(error: &std::io::Error) -> Self {
        ReadError::File(FileFault { line: 0, message: error.to_string(), hint: "" })
    }
}

impl<E: fmt::Display> fmt::Display for ReadError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::File(error) => error.fmt(f),
            ReadError::Sink(error) => error.fmt(f),
        }
    }
}

impl<E: std::error::Error> std::error::Error for ReadError<E> {}

/// Why a file cannot be read, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFault {
    /// Counted from 1; where the offending element, text or section begins. 0: it is no line's.
    pub line: u64,
    /// The fault, in one sentence without a full stop.
    pub message: String,
    /// The remedy for the reader of the message.
    pub hint: &'static str,
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "line {line}: {} ({})", self.message, self.hint),
        }
    }
}

impl std::error::Error for FileFault {}

impl From<StorageError> for FileFault {
    fn from(error: StorageError) -> FileFault {
        FileFault { line: 0, message: error.to_string(), hint: "" }
    }
}

/// Parts that were read otherwise than written, or not at all, with places: so many are listed, the others counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings {
    pub listed: Vec<(u64, String)>,
    pub more: u64,
}

impl Warnings {
    /// Lines that people still read.
    const MOST: usize = 100;

    /// Adds one; what is said of the same line already is not said twice.
    pub(super) fn add(&mut self, line: u64, message: String) {
        if self.listed.last().is_some_and(|(last, said)| *last == line && *said == message) {
            return;
        }
        match self.listed.len() < Self::MOST {
            true => self.listed.push((line, message)),
            false => self.more += 1,
        }
    }

    /// The same with the name of the file, where there are several.
    pub(super) fn in_file(self, file: &Path) -> Warnings {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let listed = self.listed.into_iter().map(|(line, text)| (line, format!("{text} (in {name})")));
        Warnings { listed: listed.collect(), more: self.more }
    }

    /// The warnings, line by line.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let more = (self.more > 0).then(|| format!("{} more lines of this kind", self.more));
        let listed = self.listed.iter().map(|(line, warning)| match line {
            0 => warning.clone(),
            line => format!("line {line}: {warning}"),
        });
        listed.chain(more)
    }
}
