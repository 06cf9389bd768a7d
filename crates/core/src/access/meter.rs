//! How often something happens: one leaky bucket per key, which drains with time.
//!
//! A bucket is stored as the moment at which it will be empty (GCRA), in whatever unit the caller's clock has. It knows
//! no request, and not what its keys mean.
//!
//! # Bounds
//!
//! A key is a digest, so its size does not depend on what a client sends, and a table holds at most [`MOST`] buckets:
//! about 2 MiB. Empty buckets are dropped first. If the table is still full, the bucket that would be empty first is
//! evicted, one for each new one. Hence to evict a full bucket an attacker has to put as many drops into each of [`MOST`]
//! other buckets, and each of these drops is itself a counted attempt: attacking from many addresses gains more from
//! those addresses than from the eviction. An eviction never makes anybody wait.

use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

/// Most buckets in one table; each takes about 110 bytes.
pub const MOST: usize = 16_384;

/// The key of a bucket.
pub type BucketKey = [u8; 16];

/// Makes keys from texts of any length. Each process has a secret of its own, so that nobody can find two texts
/// with one key beforehand.
pub struct BucketHasher([u8; 32]);

impl Default for BucketHasher {
    fn default() -> BucketHasher {
        BucketHasher(rand::random())
    }
}

impl BucketHasher {
    /// The key of some texts in this order.
    pub fn of(&self, texts: &[&[u8]]) -> BucketKey {
        let mut digest = Sha256::new_with_prefix(self.0);
        for text in texts {
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text);
        }
        let mut key = BucketKey::default();
        key.copy_from_slice(&digest.finalize()[..16]);
        key
    }
}

/// One bucket and what it holds.
pub struct Bucket {
    pub key: BucketKey,
    /// Time in which one drop runs out.
    pub pause: i64,
    /// Drops that it holds.
    pub burst: i64,
}

/// See the module's description.
#[derive(Default)]
pub struct Meter(Mutex<BucketTable>);

#[derive(Default)]
struct BucketTable {
    empty_at: HashMap<BucketKey, i64>,
    /// The same by time.
    order: BTreeSet<(i64, BucketKey)>,
}

impl Meter {
    /// Puts a drop into each bucket, or into none.
    ///
    /// # Errors
    /// One of them is full: the time until it takes a drop again.
    pub fn add_drops(&self, buckets: &[Bucket], now: i64) -> Result<(), i64> {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.drop_empty(now);
        // A clock that was set back makes nobody wait longer than a full bucket does.
        for bucket in buckets {
            let full = now.saturating_add(bucket.pause.saturating_mul(bucket.burst));
            if table.empty_at.get(&bucket.key).is_some_and(|at| *at > full) {
                table.set(bucket.key, full);
            }
        }
        let then: Vec<i64> = buckets
            .iter()
            .map(|b| table.empty_at.get(&b.key).copied().unwrap_or(now).max(now).saturating_add(b.pause))
            .collect();
        let over = buckets.iter().zip(&then).map(|(b, at)| at - now - b.pause.saturating_mul(b.burst)).max();
        if let Some(wait) = over.filter(|wait| *wait > 0) {
            return Err(wait);
        }
        table.make_room(buckets);
        for (bucket, at) in buckets.iter().zip(then) {
            table.set(bucket.key, at);
        }
        Ok(())
    }

    /// Takes a drop out again.
    pub fn remove_drop(&self, bucket: &Bucket) {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = table.empty_at.get(&bucket.key).copied() {
            table.set(bucket.key, at.saturating_sub(bucket.pause));
        }
    }

    /// Empties a bucket.
    pub fn forget(&self, key: &BucketKey) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(table.empty_at.len(), table.order.len());
        table.order.len()
    }
}

impl BucketTable {
    fn set(&mut self, key: BucketKey, at: i64) {
        if let Some(before) = self.empty_at.insert(key, at) {
            self.order.remove(&(before, key));
        }
        self.order.insert((at, key));
    }

    fn remove(&mut self, key: &BucketKey) {
        if let Some(at) = self.empty_at.remove(key) {
            self.order.remove(&(at, *key));
        }
    }

    fn drop_empty(&mut self, now: i64) {
        while let Some((at, key)) = self.order.first().copied()
            && at <= now
        {
            self.order.remove(&(at, key));
            self.empty_at.remove(&key);
        }
    }

    /// Evicts as many buckets as these need places, but none of these.
    fn make_room(&mut self, buckets: &[Bucket]) {
        let new = buckets.iter().filter(|bucket| !self.empty_at.contains_key(&bucket.key)).count();
        while self.order.len() + new > MOST {
            let own = |key: &BucketKey| buckets.iter().any(|bucket| bucket.key == *key);
            let Some(key) = self.order.iter().map(|(_, key)| *key).find(|key| !own(key)) else { return };
            self.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u32) -> BucketKey {
        u128::from(n).to_le_bytes()
    }

    #[test]
    fn a_bucket_holds_its_drops_and_loses_one_each_pause() {
        let meter = Meter::default();
        let take = |now: i64| meter.add_drops(&[Bucket { key: key(1), pause: 10, burst: 3 }], now);
        assert_eq!([take(0), take(0), take(0), take(0), take(4)], [Ok(()), Ok(()), Ok(()), Err(10), Err(6)]);
        assert_eq!([take(10), take(10)], [Ok(()), Err(10)]);
        assert_eq!([take(1000), take(1000), take(1000), take(1000)], [Ok(()), Ok(()), Ok(()), Err(10)]);
    }

    #[test]
    fn a_clock_that_goes_back_makes_nobody_wait_longer_than_a_full_bucket() {
        let meter = Meter::default();
        let take = |now: i64| meter.add_drops(&[Bucket { key: key(1), pause: 10, burst: 3 }], now);
        assert_eq!([take(1_000_000), take(0), take(9), take(10), take(10)], [Ok(()), Err(10), Err(1), Ok(()), Err(10)]);
        assert_eq!([take(40), take(40), take(40), take(40)], [Ok(()), Ok(()), Ok(()), Err(10)]);
    }

    #[test]
    fn a_drop_goes_into_all_buckets_or_none() {
        let meter = Meter::default();
        let bucket = |n: u32, burst| Bucket { key: key(n), pause: 10, burst };
        assert!(meter.add_drops(&[bucket(1, 2), bucket(2, 1)], 0).is_ok());
        assert!(meter.add_drops(&[bucket(1, 2), bucket(2, 1)], 0).is_err());
        assert!(meter.add_drops(&[bucket(1, 2)], 0).is_ok(), "the refused one took no place here");
        meter.remove_drop(&bucket(1, 2));
        assert!(meter.add_drops(&[bucket(1, 2)], 0).is_ok());
        meter.forget(&key(1));
        assert!(meter.add_drops(&[bucket(1, 1)], 0).is_ok());
    }

    #[test]
    fn a_full_table_evicts_single_buckets_and_keeps_the_full_ones() {
        let meter = Meter::default();
        let bucket = |n: u32| Bucket { key: key(n), pause: 10, burst: 3 };
        for _ in 0..3 {
            assert!(meter.add_drops(&[bucket(0)], 0).is_ok());
        }
        for n in 1..=3 * MOST as u32 {
            assert!(meter.add_drops(&[bucket(n)], 0).is_ok());
            assert!(meter.len() <= MOST);
        }
        assert_eq!(meter.len(), MOST, "at its limit, and no fewer");
        assert_eq!(meter.add_drops(&[bucket(0)], 0), Err(10), "what is full stays full");
        // The newest one is counted although every other bucket would be evicted later.
        let last = 4 * MOST as u32;
        assert_eq!([0; 4].map(|_| meter.add_drops(&[bucket(last)], 0)), [Ok(()), Ok(()), Ok(()), Err(10)]);
        // An empty bucket makes room for all.
        assert!(meter.add_drops(&[bucket(1)], 31).is_ok());
        assert_eq!(meter.len(), 1);
    }

    #[test]
    fn keys_depend_on_each_text_and_on_the_process() {
        let keys = BucketHasher::default();
        assert_eq!(keys.of(&[b"a", b"b"]), keys.of(&[b"a", b"b"]));
        for other in [&[b"ab".as_slice()] as &[&[u8]], &[b"a", b"b", b""], &[b"", b"ab"], &[b"b", b"a"]] {
            assert_ne!(keys.of(&[b"a", b"b"]), keys.of(other));
        }
        assert_ne!(keys.of(&[b"a"]), BucketHasher::default().of(&[b"a"]));
    }
}
