//! How often rows were used, counted in memory and written now and then.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Seconds between two writes.
const PAUSE: i64 = 60;

/// Rows that are counted at once; the counts of further ones wait for the next write.
const MOST: usize = 10_000;

/// Uses that are not written yet.
#[derive(Debug, Default)]
pub struct UsageCounts(Mutex<PendingUsages>);

#[derive(Debug, Default)]
struct PendingUsages {
    rows: HashMap<i64, Usage>,
    written: i64,
}

/// The uses of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    pub count: i64,
    /// The last one, in UTC seconds.
    pub last: i64,
}

impl UsageCounts {
    /// Counts a use at a second. From time to time it gives all that is to be written.
    pub fn count(&self, row: i64, now: i64) -> Vec<(i64, Usage)> {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.rows.len() < MOST || counted.rows.contains_key(&row) {
            let usage = counted.rows.entry(row).or_insert(Usage { count: 0, last: now });
            usage.count += 1;
            usage.last = now;
        }
        if now - counted.written < PAUSE {
            return Vec::new();
        }
        counted.written = now;
        std::mem::take(&mut counted.rows).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_written_once_a_minute() {
        let counts = UsageCounts::default();
        assert_eq!(counts.count(1, 1000), [(1, Usage { count: 1, last: 1000 })]);
        assert!(counts.count(1, 1001).is_empty() && counts.count(1, 1059).is_empty());
        assert_eq!(counts.count(1, 1060), [(1, Usage { count: 3, last: 1060 })]);
    }

    #[test]
    fn rows_are_bounded() {
        let counts = UsageCounts::default();
        counts.count(0, 1000);
        for row in 0..20_000 {
            assert!(counts.count(row, 1001).is_empty());
        }
        assert_eq!(counts.count(5, 2000).len(), MOST);
    }
}
