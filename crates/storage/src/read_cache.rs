//! Small reads that cost much, cached until something is written that they could depend on: how many rows a list has, and the row
//! far inside it that a page begins behind.

use super::plan::DbValue;
use super::sql::Bind;
use crate::snapshot::ReadResult;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// Most bytes: nearly all of it is keys.
const BYTES: u64 = 4 << 20;
/// The usual number of reads in them.
const READS: usize = 8192;
/// Longer lists of values are read each time: caching them would cost more.
const LIST: usize = 256;
/// So are keys of more bytes.
const KEY: usize = 8 << 10;

/// See the module.
pub struct ReadCache(Cache<Vec<u8>, CachedRead, ReadBytes>);

#[derive(Clone)]
struct ReadBytes;

impl Weighter<Vec<u8>, CachedRead> for ReadBytes {
    fn weight(&self, key: &Vec<u8>, read: &CachedRead) -> u64 {
        let value = |value: &DbValue| match value {
            DbValue::Text(text) => size_of::<DbValue>() + text.len(),
            _ => size_of::<DbValue>(),
        };
        let rows = match &read.result {
            ReadResult::Rows(rows) => rows.iter().flatten().map(value).sum(),
            _ => 0,
        };
        (key.capacity() + size_of::<CachedRead>() + rows + 64) as u64
    }
}

/// A result, and the sum of the numbers of all that it depends on when it was read.
#[derive(Clone)]
struct CachedRead {
    stamp: u64,
    result: ReadResult,
}

impl Default for ReadCache {
    fn default() -> ReadCache {
        ReadCache(Cache::with_weighter(READS, BYTES, ReadBytes))
    }
}

impl ReadCache {
    /// The result, if it is cached under this stamp.
    pub fn get(&self, key: &[u8], stamp: u64) -> Option<ReadResult> {
        self.0.get(key).filter(|read| read.stamp == stamp).map(|read| read.result)
    }

    /// Caches a result.
    pub fn put(&self, key: Vec<u8>, stamp: u64, result: ReadResult) {
        self.0.insert(key, CachedRead { stamp, result });
    }
}

/// The key of a read; `None` where it is not to be cached.
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
