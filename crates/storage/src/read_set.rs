//! Records what is read from a database, so that a response can be cached until something in it changes.
//!
//! It knows what reads depend on, and the versions of that; nothing of what the reads are for.

use super::forward::forward;
use super::plan::Name;
use crate::database::Storage;
use crate::dependencies::{Dependencies, VersionSlot};
use crate::error::StorageError;
use crate::snapshot::{ReadRequest, ReadResult, Snapshot};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Passes every call on to the database inside and records what the reads depend on.
pub struct TrackedStorage {
    inner: Arc<dyn Storage>,
    noted: Mutex<RecordedReads>,
}

/// One read.
#[derive(Default)]
struct RecordedReads {
    /// Each scope with its scope version before it was first read.
    scopes: Vec<(Name, u64)>,
    /// Each slot with its number after a read of what has it; many times where it was read many times.
    slots: Vec<(VersionSlot, u64)>,
    /// Something was read that has no version, or was not the newest when it was read.
    unsettled: bool,
    /// When it ends to be true, whatever is written (UTC seconds).
    until: Option<i64>,
}

/// The dependencies of a response, and the sum of the versions then. They only grow, so equal sums are equal versions.
#[derive(Debug)]
pub struct ReadSet {
    scopes: Box<[Name]>,
    slots: Box<[VersionSlot]>,
    sum: u64,
    /// When what was made ends to be true, whatever is written (UTC seconds).
    until: Option<i64>,
    /// The last epoch in which it was current.
    current_in: AtomicU64,
}

impl ReadSet {
    /// Bytes that it takes up.
    pub fn bytes(&self) -> usize {
        // A scope is a text of its own, with two counters before it.
        let scopes: usize = self.scopes.iter().map(|scope| size_of::<Name>() + scope.len() + 16).sum();
        scopes + size_of_val(&*self.slots)
    }

    /// Whether nothing that was read has been written since, and its time has not ended.
    pub fn holds(&self, storage: &dyn Storage, now: i64) -> bool {
        if let Some(until) = self.until {
            if now >= until {
                return false;
            }
            // A response that uses it is true for no longer.
            storage.limit_validity(until);
        }
        let epoch = storage.version_epoch();
        if epoch.is_some_and(|epoch| epoch == self.current_in.load(Ordering::Relaxed)) {
            return true;
        }
        let scopes: u64 = self.scopes.iter().map(|scope| storage.scope_version(scope)).sum();
        let holds = scopes + self.slots.iter().map(|slot| storage.slot_version(*slot)).sum::<u64>() == self.sum;
        if let Some(epoch) = epoch.filter(|_| holds) {
            self.current_in.store(epoch, Ordering::Relaxed);
        }
        holds
    }
}

impl TrackedStorage {
    /// Begins to record what is read from a database.
    pub fn new(inner: Arc<dyn Storage>) -> TrackedStorage {
        TrackedStorage { inner, noted: Mutex::default() }
    }

    /// The reads so far; `None` when it cannot be determined whether they are still current.
    pub fn seen(&self) -> Option<ReadSet> {
        let mut noted = self.lock();
        noted.slots.sort_unstable();
        noted.slots.dedup();
        // The same slot under two numbers: what was read first belongs to another state than what was read last.
        if noted.unsettled || noted.slots.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return None;
        }
        let sum: u64 = noted.scopes.iter().map(|(_, n)| n).chain(noted.slots.iter().map(|(_, n)| n)).sum();
        let scopes = noted.scopes.iter().map(|(scope, _)| scope.clone()).collect();
        Some(ReadSet {
            scopes,
            slots: noted.slots.iter().map(|(slot, _)| *slot).collect(),
            sum,
            until: noted.until,
            current_in: AtomicU64::new(u64::MAX),
        })
    }

    /// Records a scope that was read at a version known from elsewhere.
    pub fn note(&self, scope: Name, version: u64) {
        self.lock().add(scope, version);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, RecordedReads> {
        self.noted.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl RecordedReads {
    /// A second read under another version belongs to another state than the first.
    fn add(&mut self, scope: Name, version: u64) {
        match self.scopes.iter().find(|(known, _)| *known == scope) {
            Some((_, first)) => self.unsettled |= *first != version,
            None => self.scopes.push((scope, version)),
        }
    }
}

impl Storage for TrackedStorage {
    fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StorageError> {
        Ok(Box::new(TrackedSnapshot { inner: self.inner.snapshot()?, by: self }))
    }

    forward!(inner: pin_snapshot commit begin catch_up has_commit_listener);

    /// The caller stores something under the result, and so depends on it.
    fn scope_version(&self, scope: &Name) -> u64 {
        let version = self.inner.scope_version(scope);
        self.lock().add(scope.clone(), version);
        version
    }

    /// As for a version.
    fn slot_version(&self, slot: VersionSlot) -> u64 {
        let number = self.inner.slot_version(slot);
        self.lock().slots.push((slot, number));
        number
    }

    /// Versions that are compared are recorded one by one.
    fn version_epoch(&self) -> Option<u64> {
        None
    }

    fn limit_validity(&self, until: i64) {
        let mut noted = self.lock();
        noted.until = Some(noted.until.map_or(until, |known| known.min(until)));
        drop(noted);
        self.inner.limit_validity(until);
    }
}

struct TrackedSnapshot<'s> {
    inner: Box<dyn Snapshot + 's>,
    by: &'s TrackedStorage,
}

impl TrackedSnapshot<'_> {
    fn note(&self, on: Option<Dependencies>) {
        let Some(on) = on else {
            self.by.lock().unsettled = true;
            return;
        };
        if on == Dependencies::default() {
            return;
        }
        let scopes: Vec<u64> = on.scopes.iter().map(|scope| self.by.inner.scope_version(scope)).collect();
        let slots: Vec<u64> = on.slots.iter().map(|slot| self.by.inner.slot_version(*slot)).collect();
        let mut noted = self.by.lock();
        // Only then do these numbers belong to the rows that the snapshot sees.
        noted.unsettled |= !self.inner.is_newest();
        for (scope, version) in on.scopes.into_iter().zip(scopes) {
            noted.add(scope, version);
        }
        noted.slots.extend(on.slots.into_iter().zip(slots));
    }
}

impl Snapshot for TrackedSnapshot<'_> {
    fn read(&self, request: ReadRequest<'_>) -> Result<ReadResult, StorageError> {
        let result = self.inner.read(request);
        // A read that failed says nothing of what it would have found.
        self.note(result.as_ref().ok().and_then(|result| self.inner.dependencies(request, result)));
        result
    }

    forward!(inner: can_prefetch prefetch prefetch_targets dependencies is_newest);
}
