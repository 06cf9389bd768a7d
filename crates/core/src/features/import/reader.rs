//! Reads the records of a file that is imported, one at a time, each as a JSON document.

use crate::model::RecordFormat;
use crate::request::BYTE_ORDER_MARK;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

/// Bytes of one line.
const LONGEST_LINE: u64 = 8 << 20;

/// Bytes of a file of comma-separated values, of which a record has no other bound.
const LARGEST_TABLE: u64 = 32 << 20;

/// Most columns of such a file.
const MOST_COLUMNS: usize = 1000;

/// The member of the document of a record in a table that says why it is none.
pub const PROBLEM: &str = "";

/// Why a file has no records.
pub enum RecordError {
    Unread(io::Error),
    /// A sentence for people.
    Invalid(String),
}

/// The records of a file.
pub enum ImportRecords {
    Lines(ImportLines),
    Csv(ImportTable),
}

impl ImportRecords {
    /// Begins with the first record.
    ///
    /// # Errors
    /// The file cannot be read, or is no such table.
    pub fn of(file: File, format: RecordFormat) -> Result<ImportRecords, RecordError> {
        match format {
            RecordFormat::Lines => Ok(ImportRecords::Lines(ImportLines { file: BufReader::new(file), begins: true })),
            RecordFormat::Csv => ImportTable::of(file).map(ImportRecords::Csv),
        }
    }

    /// The properties that the columns of a table name.
    pub fn columns(&self) -> &[String] {
        match self {
            ImportRecords::Lines(_) => &[],
            ImportRecords::Csv(table) => &table.columns,
        }
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        match self {
            ImportRecords::Lines(lines) => lines.next(),
            ImportRecords::Csv(table) => table.next(),
        }
    }

    /// Passes over so many records.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn skip(&mut self, count: u64) -> io::Result<()> {
        for _ in 0..count {
            if self.next()?.is_none() {
                break;
            }
        }
        Ok(())
    }
}

/// The lines of a file, without empty ones.
pub struct ImportLines {
    file: BufReader<File>,
    /// Nothing was read yet.
    begins: bool,
}

impl ImportLines {
    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let mut line = Vec::new();
            let read = (&mut self.file).take(LONGEST_LINE).read_until(b'\n', &mut line)?;
            if read == 0 {
                return Ok(None);
            }
            // The rest of a line that is too long is no line of its own. The part that was read is no JSON.
            let mut whole = line.ends_with(b"\n") || (read as u64) < LONGEST_LINE;
            while !whole {
                let mut rest = Vec::new();
                let read = (&mut self.file).take(LONGEST_LINE).read_until(b'\n', &mut rest)?;
                whole = rest.ends_with(b"\n") || read == 0;
            }
            if std::mem::take(&mut self.begins) && line.starts_with(BYTE_ORDER_MARK) {
                line.drain(..BYTE_ORDER_MARK.len());
            }
            let blank = line.trim_ascii().is_empty();
            if !blank {
                return Ok(Some(line));
            }
        }
    }
}

/// A table of comma-separated values, whose first record names its columns.
pub struct ImportTable {
    records: csv::Reader<File>,
    columns: Vec<String>,
}

impl ImportTable {
    fn of(file: File) -> Result<ImportTable, RecordError> {
        let size = file.metadata().map_err(RecordError::Unread)?.len();
        if size > LARGEST_TABLE {
            let most = LARGEST_TABLE >> 20;
            let message = format!("The file has more than {most} MiB: divide it, each part with the first line.");
            return Err(RecordError::Invalid(message));
        }
        let mut records = csv::ReaderBuilder::new().flexible(true).from_reader(file);
        let first = records.byte_headers().map_err(|error| RecordError::Unread(error.into()))?;
        let columns: Vec<String> = first.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect();
        let twice = columns.iter().enumerate().find(|(at, name)| columns[..*at].contains(name));
        if let Some((_, name)) = twice {
            return Err(RecordError::Invalid(format!("Two columns have the name `{name}`.")));
        }
        if columns.len() > MOST_COLUMNS {
            return Err(RecordError::Invalid(format!("The file has more than {MOST_COLUMNS} columns.")));
        }
        Ok(ImportTable { records, columns })
    }

    /// The next record as a document of texts. Empty values are left out.
    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut record = csv::ByteRecord::new();
        if !self.records.read_byte_record(&mut record)? {
            return Ok(None);
        }
        let mut document = Map::new();
        for (at, value) in record.iter().enumerate().filter(|(_, value)| !value.is_empty()) {
            let (column, value) = match (self.columns.get(at), std::str::from_utf8(value)) {
                (Some(column), Ok(value)) => (column.as_str(), value),
                (None, _) => (PROBLEM, "The record has more values than there are columns."),
                (_, Err(_)) => (PROBLEM, "The record is no UTF-8."),
            };
            document.insert(column.to_owned(), Value::from(value));
        }
        // A quotation mark that is never closed makes the rest of the file one value.
        if record.len() < self.columns.len() {
            let problem = "The record has fewer values than there are columns. Is a quotation mark left open?";
            document.insert(PROBLEM.to_owned(), Value::from(problem));
        }
        Ok(Some(Value::Object(document).to_string().into_bytes()))
    }
}
