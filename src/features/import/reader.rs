//! Reads the lines of a file that is imported, one at a time.

use crate::request::BYTE_ORDER_MARK;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

/// Bytes of one line.
const LONGEST_LINE: u64 = 8 << 20;

/// The lines of a file, without empty ones.
pub struct ImportLines {
    file: BufReader<File>,
    /// Nothing was read yet.
    begins: bool,
}

impl ImportLines {
    /// Begins with the first line.
    pub fn of(file: File) -> ImportLines {
        ImportLines { file: BufReader::new(file), begins: true }
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
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

    /// Passes over so many lines.
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
