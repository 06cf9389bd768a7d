//! A source of an import: a WordPress export in one or several files, or a dump of a database. All hold the same items.

use super::dump::{self, DumpLimits, SqlDump};
use super::encoding::TextEncodings;
use super::items::{ExportItem, ExportSummary, FileFault, ReadError, SourcePart};
use super::wxr::{self, WxrLimits};
use crate::boot::BootError;
use cms_core::request::BYTE_ORDER_MARK;
use indicatif::ProgressBar;
use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// Bytes of the buffer that a file is read through.
const BUFFER: usize = 1 << 18;

/// Bytes of a file that say which kind it is.
const START: u64 = 4096;

/// The first bytes of an archive.
pub(super) const ZIP: &[u8] = b"PK\x03\x04";

/// Words and signs that dumps begin with.
const SQL: [&str; 16] = [
    "--",
    "/*",
    "# phpMyAdmin",
    "# MySQL",
    "# WordPress",
    "SET ",
    "CREATE ",
    "DROP ",
    "INSERT ",
    "REPLACE ",
    "USE ",
    "LOCK ",
    "START ",
    "BEGIN",
    "ALTER ",
    "DELIMITER ",
];

/// See the module. It can be read again and again.
pub enum ExportSource {
    /// Files of one site.
    Wxr(Vec<PathBuf>),
    Dump(Box<SqlDump>),
    /// An export inside the program.
    Text(&'static str),
}

impl ExportSource {
    /// The source that files are, whose kind their first bytes tell. A dump is staged here, and `progress` shows that.
    ///
    /// # Errors
    /// A file cannot be read, or is no dump of one site, or there is a dump among several files.
    pub fn open(files: &[PathBuf], prefix: Option<&str>, progress: &ProgressBar) -> Result<ExportSource, BootError> {
        let mut exports = Vec::new();
        for file in files {
            match ExportSource::of(file, prefix, progress, files.len() > 1)? {
                ExportSource::Wxr(file) => exports.extend(file),
                dump => return Ok(dump),
            }
        }
        Ok(ExportSource::Wxr(exports))
    }

    fn of(file: &Path, prefix: Option<&str>, progress: &ProgressBar, several: bool) -> Result<ExportSource, BootError> {
        let refused = |why: String| BootError::Other(format!("{}: {why}", file.display()));
        let start = start(file).map_err(|error| refused(error.to_string()))?;
        if start.starts_with(ZIP) {
            return Err(refused("this is a ZIP archive: unpack it, and name the file that is in it".into()));
        }
        if !is_dump(&start) {
            let wrong = "--table-prefix is for dumps of databases, and this is none".to_owned();
            return if prefix.is_none() { Ok(ExportSource::Wxr(vec![file.to_owned()])) } else { Err(refused(wrong)) };
        }
        if several {
            return Err(refused("this is a dump of a whole database: name it alone".into()));
        }
        let opened = File::open(file).and_then(|opened| Ok((opened.metadata()?.len(), opened)));
        let (length, opened) = opened.map_err(|error| refused(error.to_string()))?;
        progress.set_length(length);
        progress.set_message("reading  ");
        let dump = SqlDump::stage(progress.wrap_read(opened), length, prefix, DumpLimits::default());
        let dump = dump.map_err(|error| refused(format!("{error}; nothing was written")))?;
        Ok(ExportSource::Dump(Box::new(dump)))
    }

    /// The number that the progress of a reading goes up to.
    ///
    /// # Errors
    /// The source cannot be read.
    pub fn length(&self) -> Result<u64, BootError> {
        let failed = |error: &dyn fmt::Display| BootError::Other(format!("{self}: {error}"));
        match self {
            ExportSource::Wxr(files) => {
                let sizes = files.iter().map(|file| file.metadata().map(|meta| meta.len()));
                sizes.sum::<io::Result<u64>>().map_err(|error| failed(&error))
            }
            ExportSource::Dump(dump) => dump.length().map_err(|error| failed(&error)),
            ExportSource::Text(text) => Ok(text.len() as u64),
        }
    }

    /// Passes each item of a part on as soon as it is complete; `mends`: texts that were encoded twice are mended.
    ///
    /// # Errors
    /// The source is at fault, or the sink refuses.
    pub fn read<E>(
        &self,
        part: SourcePart,
        mends: bool,
        progress: impl FnMut(u64),
        mut each: impl FnMut(ExportItem) -> Result<(), E>,
    ) -> Result<ExportSummary, ReadError<E>> {
        let (mut encodings, mut versions) = (TextEncodings::new(mends), 0);
        let each = |mut item: ExportItem| {
            let belongs = match &item {
                ExportItem::Record(record) => part.has(&record.kind),
                ExportItem::Author(_) | ExportItem::Term(_) => part == SourcePart::Items,
            };
            if !belongs {
                versions += 1;
                return Ok(());
            }
            encodings.item(&mut item);
            each(item)
        };
        let mut summary = match self {
            ExportSource::Wxr(files) => match files.as_slice() {
                [file] => read_file(file, progress, each),
                files => read_files(files, progress, each),
            },
            ExportSource::Dump(dump) => dump.read(part, progress, each),
            ExportSource::Text(text) => wxr::read(Cursor::new(text), &WxrLimits::default(), progress, each),
        }?;
        encodings.site(&mut summary);
        summary.encodings = encodings;
        if part == SourcePart::Items {
            summary.versions += versions;
        }
        Ok(summary)
    }
}

impl fmt::Display for ExportSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportSource::Wxr(files) => {
                let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
                f.write_str(&names.join(", "))
            }
            ExportSource::Dump(_) => f.write_str("the dump"),
            ExportSource::Text(_) => f.write_str("the demo site"),
        }
    }
}

fn read_file<E>(
    file: &Path,
    progress: impl FnMut(u64),
    each: impl FnMut(ExportItem) -> Result<(), E>,
) -> Result<ExportSummary, ReadError<E>> {
    match File::open(file) {
        Ok(file) => wxr::read(BufReader::with_capacity(BUFFER, file), &WxrLimits::default(), progress, each),
        Err(error) => Err(ReadError::unread(&error)),
    }
}

/// Files of one site are read as if they were one: the authors and terms of all of them come before the records. What several files
/// have comes once, as the first of them has it.
fn read_files<E>(
    files: &[PathBuf],
    mut progress: impl FnMut(u64),
    mut each: impl FnMut(ExportItem) -> Result<(), E>,
) -> Result<ExportSummary, ReadError<E>> {
    let mut whole: Option<ExportSummary> = None;
    let (mut before, mut read, mut again) = (HashSet::new(), 0, 0);
    for records in [false, true] {
        for file in files {
            let (mut own, mut last) = (HashSet::new(), 0);
            // Each file is read twice.
            let done = |bytes| {
                last = bytes;
                progress((read + bytes) / 2);
            };
            let summary = read_file(file, done, |item| {
                if matches!(item, ExportItem::Record(_)) != records {
                    return Ok(());
                }
                let key = key(&item);
                if before.contains(&key) {
                    again += u64::from(records);
                    return Ok(());
                }
                own.insert(key);
                each(item)
            });
            read += last;
            before.extend(own);
            let summary = summary.map_err(|error| in_file(error, file))?;
            let summary = ExportSummary { warnings: summary.warnings.in_file(file), ..summary };
            match &mut whole {
                _ if records => {}
                None => whole = Some(summary),
                Some(whole) if whole.base_url != summary.base_url => {
                    let (this, before) = (&summary.base_url, &whole.base_url);
                    let message = format!("this is an export of {this}, and the one before is of {before}");
                    return Err(in_file(ReadError::File(FileFault { line: 0, message, hint: "" }), file));
                }
                Some(whole) => whole.add(summary),
            }
        }
    }
    let mut whole = whole.unwrap_or_default();
    whole.leave_out("records that a file before has, too", again);
    Ok(whole)
}

/// The identity of an item across the files of a site.
#[derive(PartialEq, Eq, Hash)]
enum SourceKey {
    Author(String),
    /// Its taxonomy, and its slug or name.
    Term(String, String),
    Record(i64),
}

fn key(item: &ExportItem) -> SourceKey {
    match item {
        ExportItem::Author(author) => SourceKey::Author(author.login.clone()),
        ExportItem::Term(term) => {
            let word = if term.slug.is_empty() { &term.name } else { &term.slug };
            SourceKey::Term(term.taxonomy.clone(), word.clone())
        }
        ExportItem::Record(record) => SourceKey::Record(record.id),
    }
}

fn in_file<E>(error: ReadError<E>, file: &Path) -> ReadError<E> {
    match error {
        ReadError::File(FileFault { line, message, hint }) => {
            ReadError::File(FileFault { line, message: format!("{message}, in {}", file.display()), hint })
        }
        error => error,
    }
}

/// Whether a file is a site's export or a dump, by its first bytes.
///
/// # Errors
/// It cannot be read.
pub fn holds_site(file: &Path) -> io::Result<bool> {
    let start = start(file)?;
    let is_xml = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&start).trim_ascii_start().starts_with(b"<");
    Ok(is_xml || is_dump(&start) || start.starts_with(ZIP))
}

fn start(file: &Path) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    File::open(file)?.take(START).read_to_end(&mut start)?;
    Ok(start)
}

/// Whether a file that begins so is a dump of a database.
fn is_dump(start: &[u8]) -> bool {
    // PowerShell writes UTF-16, which is refused with a reason.
    let is_utf16 = start.starts_with(b"\xff\xfe-\0");
    let text = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start).trim_ascii_start();
    let begins = |word: &&str| text.get(..word.len()).is_some_and(|own| own.eq_ignore_ascii_case(word.as_bytes()));
    start.starts_with(dump::PACKED) || is_utf16 || SQL.iter().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_file_is_in_its_first_bytes() {
        for (start, expected) in [
            (&b"-- MySQL dump 10.13"[..], true),
            (b"\xef\xbb\xbf\n/*!40101 SET NAMES utf8 */", true),
            (b"insert into `a`", true),
            (b"# WordPress MySQL database backup", true),
            (b"\x1f\x8b\x08", true),
            (b"\xff\xfe-\0-\0", true),
            (b"<?xml version=\"1.0\"?>", false),
            (b"<!-- export --><rss>", false),
            (b"{\"a\": 1}", false),
            (b"", false),
            (b"settings", false),
            (b"# A table of TOML", false),
        ] {
            assert_eq!(is_dump(start), expected, "{start:?}");
        }
    }
}
