//! How often rows were used, counted in memory and written now and then.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

/// Seconds between two writes.
const PAUSE: i64 = 60;

/// Rows that are counted at once; uses of further ones are not counted until some are written.
const MOST: usize = 10_000;

/// Rows that are written by one request, so that none is slow for all others; the next one writes the next ones.
const MOST_WRITTEN: usize = 20;

/// Uses that are not written yet, of rows that are named by numbers or texts.
#[derive(Debug)]
pub struct UsageCounts<K>(Mutex<PendingUsages<K>>);

#[derive(Debug)]
struct PendingUsages<K> {
    rows: HashMap<K, Usage>,
    written: i64,
}

impl<K> Default for UsageCounts<K> {
    fn default() -> Self {
        UsageCounts(Mutex::new(PendingUsages { rows: HashMap::new(), written: 0 }))
    }
}

/// The uses of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    pub count: i64,
    /// The last one, in UTC seconds.
    pub last: i64,
}

impl<K: Clone + Eq + Hash> UsageCounts<K> {
    /// Counts uses at a second. From time to time it gives what is to be written, a few rows for each request.
    pub fn count(&self, rows: impl IntoIterator<Item = K>, now: i64) -> Vec<(K, Usage)> {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for row in rows {
            if counted.rows.len() < MOST || counted.rows.contains_key(&row) {
                let usage = counted.rows.entry(row).or_insert(Usage { count: 0, last: now });
                usage.count += 1;
                usage.last = now;
            }
        }
        if now - counted.written < PAUSE {
            return Vec::new();
        }
        let rows: Vec<K> = counted.rows.keys().take(MOST_WRITTEN).cloned().collect();
        let written = rows.iter().filter_map(|row| counted.rows.remove_entry(row)).collect();
        if counted.rows.is_empty() {
            counted.written = now;
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_written_once_a_minute() {
        let counts = UsageCounts::default();
        assert_eq!(counts.count([1], 1000), [(1, Usage { count: 1, last: 1000 })]);
        assert!(counts.count([1], 1001).is_empty() && counts.count([1], 1059).is_empty());
        assert_eq!(counts.count([1], 1060), [(1, Usage { count: 3, last: 1060 })]);
    }

    #[test]
    fn rows_are_bounded() {
        let counts = UsageCounts::default();
        counts.count([0], 1000);
        for row in 0..20_000 {
            assert!(counts.count([row], 1001).is_empty());
        }
        // Each request writes some of them, and then a minute passes.
        let mut written = 0;
        while written < MOST {
            let some = counts.count([5], 2000).len();
            assert!((1..=MOST_WRITTEN).contains(&some), "{some} after {written}");
            written += some;
        }
    }
}
