//! How often something happens: one bucket per key, which empties by the clock.
//!
//! A bucket is kept as the moment at which it will be empty (GCRA), in whatever unit the caller's clock has. It knows no
//! request, and neither who nor what its keys stand for.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

/// Buckets that are remembered; beyond that the empty ones are forgotten.
const MOST: usize = 10_000;

/// One bucket and what it holds.
pub struct Bucket<K> {
    pub key: K,
    /// Time in which one drop runs out.
    pub pause: i64,
    /// Drops that it holds.
    pub burst: i64,
}

/// See the module's description.
pub struct Meter<K> {
    empty_at: Mutex<HashMap<K, i64>>,
}

impl<K> Default for Meter<K> {
    fn default() -> Meter<K> {
        Meter { empty_at: Mutex::default() }
    }
}

impl<K: Eq + Hash + Clone> Meter<K> {
    /// Puts a drop into each bucket, or into none.
    ///
    /// # Errors
    /// One of them is full: the time until it takes a drop again.
    pub fn take(&self, buckets: &[Bucket<K>], now: i64) -> Result<(), i64> {
        let mut empty_at = self.empty_at.lock().unwrap_or_else(PoisonError::into_inner);
        if empty_at.len() >= MOST {
            empty_at.retain(|_, at| *at > now);
        }
        if empty_at.len() >= MOST {
            empty_at.clear();
        }
        let then: Vec<i64> =
            buckets.iter().map(|b| empty_at.get(&b.key).copied().unwrap_or(now).max(now) + b.pause).collect();
        let over = buckets.iter().zip(&then).map(|(b, at)| at - now - b.pause.saturating_mul(b.burst)).max();
        if let Some(wait) = over.filter(|wait| *wait > 0) {
            return Err(wait);
        }
        empty_at.extend(buckets.iter().map(|b| b.key.clone()).zip(then));
        Ok(())
    }

    /// Takes a drop out again.
    pub fn give_back(&self, bucket: &Bucket<K>) {
        let mut empty_at = self.empty_at.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = empty_at.get_mut(&bucket.key) {
            *at -= bucket.pause;
        }
    }

    /// Empties a bucket.
    pub fn forget(&self, key: &K) {
        self.empty_at.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.empty_at.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_its_drops_and_loses_one_each_pause() {
        let meter = Meter::default();
        let take = |now: i64| meter.take(&[Bucket { key: "a", pause: 10, burst: 3 }], now);
        assert_eq!([take(0), take(0), take(0), take(0), take(4)], [Ok(()), Ok(()), Ok(()), Err(10), Err(6)]);
        assert_eq!([take(10), take(10)], [Ok(()), Err(10)]);
        assert_eq!([take(1000), take(1000), take(1000), take(1000)], [Ok(()), Ok(()), Ok(()), Err(10)]);
    }

    #[test]
    fn a_drop_goes_into_all_buckets_or_none() {
        let meter = Meter::default();
        let bucket = |key: &'static str, burst| Bucket { key, pause: 10, burst };
        assert!(meter.take(&[bucket("a", 2), bucket("b", 1)], 0).is_ok());
        assert!(meter.take(&[bucket("a", 2), bucket("b", 1)], 0).is_err());
        assert!(meter.take(&[bucket("a", 2)], 0).is_ok(), "the refused one took no place here");
        meter.give_back(&bucket("a", 2));
        assert!(meter.take(&[bucket("a", 2)], 0).is_ok());
        meter.forget(&"a");
        assert!(meter.take(&[bucket("a", 1)], 0).is_ok());
    }
}
