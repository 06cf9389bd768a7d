//! The differences between engines, and the database that each is by them.

use super::nodes::{NodeFacts, Nodes};
use super::plan::{Name, WritePlan};
use super::queue::Queue;
use crate::database::{BeginFuture, CommitFuture, Database, Storage};
use crate::dependencies::VersionSlot;
use crate::error::StorageError;
use crate::pin::PinGuard;
use crate::snapshot::Snapshot;
use cms_base::metrics::Reading;
use std::thread::Thread;
use std::time::Duration;

/// A database whose writes pass through a [`Queue`]: the rest of [`Storage`] and [`Database`] is the same for all.
pub(super) trait StorageEngine: Send + Sync {
    /// Ends the read transactions of this thread that nothing needs any more.
    const SETTLE: fn();

    /// The queue of the one writer, and what readers share with it.
    fn queue(&self) -> &Queue;

    /// See [`Storage::snapshot`].
    fn view(&self) -> Result<Box<dyn Snapshot + '_>, StorageError>;

    /// See [`Storage::catch_up`]. Opening a snapshot may do it.
    fn take_up_others(&self) -> Result<(), StorageError> {
        self.view().map(drop)
    }

    /// See [`Storage::has_commit_listener`].
    fn hears_others(&self) -> bool {
        true
    }

    /// See [`Database::leads`]. Where all processes do it, conditions of the plans let each change be made once.
    fn is_leader(&self) -> bool {
        true
    }

    /// See [`Database::announce`].
    fn show_facts(&self, _facts: NodeFacts) {}

    /// See [`Database::nodes`].
    fn list_nodes(&self) -> Result<Option<Nodes>, StorageError> {
        Ok(None)
    }

    /// See [`Database::disagreements`].
    fn list_disagreements(&self) -> Vec<String> {
        Vec::new()
    }

    /// See [`Database::gather_statistics`].
    fn count_rows(&self) -> Result<(), StorageError> {
        Ok(())
    }

    /// Readings for `/metrics` of this engine alone.
    fn own_readings(&self) -> Vec<Reading> {
        Vec::new()
    }
}

impl<E: StorageEngine> Storage for E {
    fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StorageError> {
        self.view()
    }

    fn pin_snapshot(&self) -> PinGuard {
        PinGuard::new(E::SETTLE)
    }

    fn commit(&self, plan: WritePlan) -> CommitFuture {
        self.queue().commit(plan)
    }

    fn scope_version(&self, scope: &Name) -> u64 {
        self.queue().common.versions.get(scope)
    }

    fn slot_version(&self, slot: VersionSlot) -> u64 {
        self.queue().common.versions.slot_version(slot)
    }

    fn version_epoch(&self) -> Option<u64> {
        self.queue().common.versions.epoch()
    }

    fn catch_up(&self) -> Result<(), StorageError> {
        self.take_up_others()
    }

    fn has_commit_listener(&self) -> bool {
        self.hears_others()
    }

    fn begin(&self) -> BeginFuture {
        self.queue().begin()
    }
}

impl<E: StorageEngine> Database for E {
    fn secret(&self, name: &str, len: usize) -> Result<Vec<u8>, StorageError> {
        self.queue().secret(name, len)
    }

    fn close(&self, patience: Duration) -> Result<(), StorageError> {
        self.queue().close(patience)
    }

    fn leads(&self) -> bool {
        self.is_leader()
    }

    fn wake(&self, sleeper: Thread) {
        self.queue().common.wake(sleeper);
    }

    fn announce(&self, facts: NodeFacts) {
        self.show_facts(facts);
    }

    fn nodes(&self) -> Result<Option<Nodes>, StorageError> {
        self.list_nodes()
    }

    fn disagreements(&self) -> Vec<String> {
        self.list_disagreements()
    }

    fn refuses_writes(&self) -> Option<String> {
        self.queue().common.refuses_writes()
    }

    fn gather_statistics(&self) -> Result<(), StorageError> {
        self.count_rows()
    }

    fn readings(&self) -> Vec<Reading> {
        [self.own_readings(), self.queue().common.readings()].concat()
    }
}
