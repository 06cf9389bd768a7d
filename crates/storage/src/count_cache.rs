//! Counts that are cached until something is written that they could depend on.
//!
//! A page of a list needs the number of all rows; counting them costs more than reading the page.

use super::plan::DbValue;
use super::sql::Bind;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// Most bytes: nearly all of it is keys.
const BYTES: u64 = 2 << 20;
/// The usual number of counts in them.
const COUNTS: usize = 4096;
/// Longer lists of values are counted each time: caching them would cost more.
const LIST: usize = 256;
/// So are keys of more bytes.
const KEY: usize = 8 << 10;

/// See the module.
pub struct CountCache(Cache<Vec<u8>, CachedCount, CountBytes>);

#[derive(Clone)]
struct CountBytes;

impl Weighter<Vec<u8>, CachedCount> for CountBytes {
    fn weight(&self, key: &Vec<u8>, _: &CachedCount) -> u64 {
        (key.capacity() + size_of::<CachedCount>() + 64) as u64
    }
}

/// A count, and the sum of the numbers of all that it depends on when it was made.
#[derive(Clone, Copy)]
struct CachedCount {
    stamp: u64,
    n: u64,
}

impl Default for CountCache {
    fn default() -> CountCache {
        CountCache(Cache::with_weighter(COUNTS, BYTES, CountBytes))
    }
}

impl CountCache {
    /// The count, if it is cached under this stamp.
    pub fn get(&self, key: &[u8], stamp: u64) -> Option<u64> {
        self.0.get(key).filter(|counted| counted.stamp == stamp).map(|counted| counted.n)
    }

    /// Caches a count.
    pub fn put(&self, key: Vec<u8>, stamp: u64, n: u64) {
        self.0.insert(key, CachedCount { stamp, n });
    }
}

/// The key of a count; `None` where it is not to be cached.
pub fn key(shape: String, binds: &[Bind]) -> Option<Vec<u8>> {
    let mut key = shape.into_bytes();
    let mut value = |value: &DbValue| match value {
        DbValue::Null => key.push(0),
        DbValue::Int(n) => {
            key.push(1);
            key.extend(n.to_le_bytes());
        }
        DbValue::Real(n) => {
            key.push(2);
            key.extend(n.to_le_bytes());
        }
        DbValue::Text(text) => {
            key.push(3);
            key.extend(text.len().to_le_bytes());
            key.extend(text.as_bytes());
        }
    };
    for bind in binds {
        match bind {
            Bind::One(one) => value(one),
            Bind::List(list) | Bind::Members(list) if list.len() > LIST => return None,
            Bind::List(list) | Bind::Members(list) => {
                value(&DbValue::Int(list.len() as i64));
                list.iter().for_each(&mut value);
            }
        }
    }
    (key.len() <= KEY).then_some(key)
}
