//! `x-max-bytes` of what no schema describes: how much JSON text it is.

use super::failure::{Reason, Report, ValuePath, count};
use serde_json::Value;
use std::io::{Result, Write};

/// Refuses values that no schema describes when they are more than `most` bytes of JSON text together.
pub(super) fn check_free<R: Report>(
    place: &ValuePath<'_>,
    most: Option<u64>,
    size: impl FnOnce() -> u64,
) -> std::result::Result<(), R> {
    match most {
        Some(most) if size() > most => {
            Err(R::at(place, Reason::TooLong, || format!("holds more than {} of JSON", count(most, "byte", "bytes"))))
        }
        _ => Ok(()),
    }
}

/// Bytes of a value as JSON text.
pub(super) fn size_of(value: &Value) -> u64 {
    let mut counter = Counter(0);
    // Counting cannot fail.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
