//! A source of an import: a WordPress export, or a dump of a database. Both hold the same items.

use super::dump::{self, DumpLimits, SqlDump};
use super::encoding::TextEncodings;
use super::items::{ExportItem, ExportSummary, ReadError, SourcePart};
use super::wxr::{self, WxrLimits};
use crate::boot::BootError;
use crate::request::BYTE_ORDER_MARK;
use indicatif::ProgressBar;
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
    Wxr(PathBuf),
    Dump(Box<SqlDump>),
    /// An export inside the program.
    Text(&'static str),
}

impl ExportSource {
    /// The source that a file is, whose kind its first bytes tell. A dump is staged here, and `progress` shows that.
    ///
    /// # Errors
    /// The file cannot be read, or is no dump of one site.
    pub fn open(file: &Path, prefix: Option<&str>, progress: &ProgressBar) -> Result<ExportSource, BootError> {
        let refused = |why: String| BootError::Other(format!("{}: {why}", file.display()));
        let start = start(file).map_err(|error| refused(error.to_string()))?;
        if start.starts_with(ZIP) {
            return Err(refused("this is a ZIP archive: unpack it, and name the file that is in it".into()));
        }
        if !is_dump(&start) {
            let wrong = "--table-prefix is for dumps of databases, and this is none".to_owned();
            return if prefix.is_none() { Ok(ExportSource::Wxr(file.to_owned())) } else { Err(refused(wrong)) };
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
            ExportSource::Wxr(file) => file.metadata().map(|meta| meta.len()).map_err(|error| failed(&error)),
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
        let limits = WxrLimits::default();
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
            ExportSource::Wxr(file) => match File::open(file) {
                Ok(file) => wxr::read(BufReader::with_capacity(BUFFER, file), &limits, progress, each),
                Err(error) => Err(ReadError::unread(&error)),
            },
            ExportSource::Dump(dump) => dump.read(part, progress, each),
            ExportSource::Text(text) => wxr::read(Cursor::new(text), &limits, progress, each),
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
            ExportSource::Wxr(file) => file.display().fmt(f),
            ExportSource::Dump(_) => f.write_str("the dump"),
            ExportSource::Text(_) => f.write_str("the demo site"),
        }
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
