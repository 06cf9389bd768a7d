//! The dump that a site becomes as it is read. A comment behind the rows of each page says what has been read so far: a reading that
//! was ended goes on behind the last one.

use super::rows::TableRow;
use crate::boot::BootError;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// A row of a dump.
const ROW: &str = include_str!("row.sql");

/// The words that comments begin with.
const SITE: &str = "-- cms-server: ";
const SINCE: &str = "-- since ";
const PAGE: &str = "-- page ";
const WHOLE: &str = "-- whole";
const IMPORTED: &str = "-- imported";

/// The progress of a reading.
#[derive(Default)]
pub(super) struct DumpState {
    /// Only what has changed since is read; as the site writes its dates.
    pub since: Option<String>,
    /// When a record was changed last.
    pub newest: String,
    /// Records that are in the dump.
    pub records: HashSet<i64>,
    /// Pages by collection, and whether there are no more.
    pages: HashMap<String, (u64, bool)>,
    pub whole: bool,
    imported: bool,
}

/// See the module.
pub(super) struct LiveDump {
    path: PathBuf,
    out: BufWriter<File>,
    pub state: DumpState,
    /// Records of the page that is being written.
    fresh: Vec<i64>,
}

impl LiveDump {
    /// Goes on with the dump of a site; begins one where there is none, or where that was imported: of what has changed since.
    ///
    /// # Errors
    /// The file is another one, in use, or cannot be written.
    pub(super) fn open(path: &Path, site: &str) -> Result<LiveDump, BootError> {
        let failed = |error: io::Error| BootError::Other(format!("{}: {error}", path.display()));
        if !path.exists() {
            begin(path, site, None).map_err(failed)?;
        }
        let (mut state, mut length) = scan(path, site).map_err(failed)?;
        if state.imported {
            begin(path, site, Some(&state.newest)).map_err(failed)?;
            (state, length) = scan(path, site).map_err(failed)?;
        }
        let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        if file.try_lock().is_err() {
            return Err(failed(io::Error::other("another import writes this file")));
        }
        // Behind the last comment is what was not finished.
        file.set_len(length).map_err(failed)?;
        Ok(LiveDump { path: path.to_owned(), out: BufWriter::new(file), state, fresh: Vec::new() })
    }

    /// The next page of a collection; `None`: there are no more.
    pub(super) fn next_page(&self, collection: &str) -> Option<u64> {
        match self.state.pages.get(collection) {
            None => Some(1),
            Some((_, true)) => None,
            Some((page, false)) => Some(page + 1),
        }
    }

    /// Begins a collection once more.
    pub(super) fn again(&mut self, collection: &str) {
        self.state.pages.remove(collection);
    }

    /// Writes a row.
    pub(super) fn row(&mut self, table: &str, row: &TableRow) -> Result<(), BootError> {
        let written = self.write_row(table, row);
        self.failed(written)
    }

    fn write_row(&mut self, table: &str, row: &TableRow) -> io::Result<()> {
        let columns: Vec<String> = row.iter().map(|(column, _)| format!("`{column}`")).collect();
        let head = ROW.replace("{table}", table).replace("{columns}", &columns.join(","));
        let (before, after) = head.split_once("{values}").unwrap_or_default();
        self.out.write_all(before.as_bytes())?;
        for (at, (_, text)) in row.iter().enumerate() {
            self.out.write_all(if at == 0 { b"'" } else { b",'" })?;
            self.out.write_all(escaped(text).as_bytes())?;
            self.out.write_all(b"'")?;
        }
        self.out.write_all(after.as_bytes())
    }

    /// Counts a record of the page; false where the dump has it already.
    pub(super) fn record(&mut self, id: i64, changed: Option<&str>) -> bool {
        if !self.state.records.insert(id) {
            return false;
        }
        self.fresh.push(id);
        if let Some(changed) = changed.filter(|changed| **changed > *self.state.newest) {
            self.state.newest = changed.to_owned();
        }
        true
    }

    /// Ends a page.
    pub(super) fn end_page(&mut self, collection: &str, page: u64, last: bool) -> Result<(), BootError> {
        self.state.pages.insert(collection.to_owned(), (page, last));
        let told =
            json!({"of": collection, "page": page, "last": last, "newest": self.state.newest, "records": self.fresh});
        self.fresh.clear();
        self.comment(&format!("{PAGE}{told}"))
    }

    /// Everything is read.
    pub(super) fn end(&mut self) -> Result<(), BootError> {
        self.state.whole = true;
        self.comment(WHOLE)
    }

    /// Everything is imported.
    pub(super) fn imported(mut self) -> Result<(), BootError> {
        self.comment(IMPORTED)
    }

    fn comment(&mut self, text: &str) -> Result<(), BootError> {
        let written = writeln!(self.out, "{text}").and_then(|()| self.out.flush());
        let written = written.and_then(|()| self.out.get_ref().sync_data());
        self.failed(written)
    }

    fn failed(&self, done: io::Result<()>) -> Result<(), BootError> {
        done.map_err(|error| BootError::Other(format!("{}: {error}", self.path.display())))
    }
}

/// Begins a dump in place of what is there.
fn begin(path: &Path, site: &str, since: Option<&str>) -> io::Result<()> {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    // It has drafts and addresses of people: nobody else may read it.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    let since = since.map(|since| format!("{SINCE}{since}\n")).unwrap_or_default();
    file.write_all(format!("{SITE}{site}\n{since}SET NAMES utf8mb4;\n{PAGE}{{}}\n").as_bytes())?;
    file.persist(path).map_err(|error| error.error)?.sync_all()
}

/// The progress that a dump tells of, and its length up to the last comment.
fn scan(path: &Path, site: &str) -> io::Result<(DumpState, u64)> {
    let mut input = BufReader::with_capacity(1 << 18, File::open(path)?);
    let (mut state, mut read, mut length, mut line) = (DumpState::default(), 0, 0, Vec::new());
    loop {
        line.clear();
        read += input.read_until(b'\n', &mut line)? as u64;
        let Some(whole) = line.strip_suffix(b"\n") else { break };
        let text = if whole.starts_with(b"-- ") { String::from_utf8_lossy(whole) } else { continue };
        if length == 0 && text.strip_prefix(SITE).is_some_and(|own| own != site) {
            return Err(io::Error::other("this is the dump of another site; name another file with --into"));
        }
        if let Some(since) = text.strip_prefix(SINCE) {
            state.since = Some(since.to_owned());
            state.newest = since.to_owned();
        } else if let Some(page) = text.strip_prefix(PAGE) {
            let told: Value = serde_json::from_str(page).unwrap_or_default();
            if let Some(of) = told["of"].as_str() {
                let ended = told["last"].as_bool().unwrap_or(false);
                state.pages.insert(of.to_owned(), (told["page"].as_u64().unwrap_or(1), ended));
                state.newest = told["newest"].as_str().unwrap_or_default().to_owned();
            }
            state.records.extend(told["records"].as_array().into_iter().flatten().filter_map(Value::as_i64));
        }
        state.whole |= text == WHOLE;
        state.imported |= text == IMPORTED;
        length = read;
    }
    match length {
        0 => Err(io::Error::other("this file is no dump of an import; name another one with --into")),
        length => Ok((state, length)),
    }
}

/// A text between the quotes of a statement.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '\\' => escaped.push_str("\\\\"),
            '\'' => escaped.push_str("\\'"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\0' => escaped.push_str("\\0"),
            letter => escaped.push(letter),
        }
    }
    escaped
}
