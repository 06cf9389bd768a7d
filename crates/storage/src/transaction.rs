//! A transaction held open: several plans as one commit, with reads between them that see what is not committed yet.
//!
//! The writer's thread serves it and nothing else until it ends (see `writer/hold.rs`); this is the end that requests
//! hold. What is dropped without [`Transaction::finish`] has never happened.

use super::budget;
use super::plan::{CommitError, Committed, Name, WritePlan};
use super::versions::Versions;
use crate::database::{BeginFuture, CommitFuture, FinishFuture, Storage, Transaction, later};
use crate::dependencies::{Dependencies, VersionSlot};
use crate::error::StorageError;
use crate::pin::PinGuard;
use crate::snapshot::{ReadRequest, ReadResult, Snapshot};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How long ending a read takes that has reached its deadline.
const ENDING: Duration = Duration::from_millis(500);

/// Something to read inside the transaction.
type TransactionRead = Box<dyn FnOnce(&dyn Snapshot) + Send>;

/// An outcome that a caller waits for.
type PendingOutcome<T> = Pin<Box<dyn Future<Output = Result<T, CommitError>> + Send>>;

/// A step for the thread that holds the transaction.
pub(super) enum TransactionStep {
    Commit { plan: WritePlan, reply: oneshot::Sender<Result<Committed, CommitError>> },
    Read(TransactionRead),
    Finish { reply: oneshot::Sender<Result<(), CommitError>> },
}

/// The requests' end of a transaction.
pub(super) struct OpenTransaction {
    ops: Sender<TransactionStep>,
    /// As they are outside.
    versions: Arc<Versions>,
}

impl OpenTransaction {
    pub fn new(ops: Sender<TransactionStep>, versions: Arc<Versions>) -> OpenTransaction {
        OpenTransaction { ops, versions }
    }

    /// Reads on the thread that holds the transaction. That thread does nothing else, so the result comes at once, or the
    /// database is silent.
    fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn Snapshot) -> Result<T, StorageError> + Send + 'static,
    ) -> Result<T, StorageError> {
        let (reply, answer) = mpsc::channel();
        let deadline = budget::deadline();
        let job = move |snapshot: &dyn Snapshot| {
            // The caller waits for it.
            let _ = reply.send(budget::until(deadline, || read(snapshot)));
        };
        let ended = || StorageError::Failed("the transaction has ended".into());
        self.ops.send(TransactionStep::Read(Box::new(job))).map_err(|_| ended())?;
        let Some(deadline) = deadline else { return answer.recv().map_err(|_| ended())? };
        match answer.recv_timeout(deadline.saturating_duration_since(Instant::now()) + ENDING) {
            Ok(found) => found,
            Err(RecvTimeoutError::Timeout) => Err(StorageError::TimedOut),
            Err(RecvTimeoutError::Disconnected) => Err(ended()),
        }
    }

    /// Requests something whose result may take a while.
    fn ask<T: Send + 'static>(
        &self,
        op: impl FnOnce(oneshot::Sender<Result<T, CommitError>>) -> TransactionStep,
    ) -> PendingOutcome<T> {
        let (reply, answer) = oneshot::channel();
        let ended = || CommitError::Unavailable("the transaction took too long, or the writer has stopped".into());
        let sent = self.ops.send(op(reply)).map_err(|_| ended());
        Box::pin(later(async move {
            sent?;
            answer.await.unwrap_or_else(|_| Err(ended()))
        }))
    }
}

impl Transaction for OpenTransaction {
    fn finish(&self) -> FinishFuture {
        self.ask(|reply| TransactionStep::Finish { reply })
    }
}

impl Storage for OpenTransaction {
    fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StorageError> {
        Ok(Box::new(TransactionSnapshot(self)))
    }

    /// There is nothing to pin: nobody else writes meanwhile.
    fn pin_snapshot(&self) -> PinGuard {
        PinGuard::of_nothing()
    }

    fn commit(&self, plan: WritePlan) -> CommitFuture {
        self.ask(|reply| TransactionStep::Commit { plan, reply })
    }

    /// As it is outside: nothing that is read here can be filed under a version.
    fn scope_version(&self, scope: &Name) -> u64 {
        self.versions.get(scope)
    }

    fn slot_version(&self, slot: VersionSlot) -> u64 {
        self.versions.slot_version(slot)
    }

    fn version_epoch(&self) -> Option<u64> {
        self.versions.epoch()
    }

    /// Nobody else writes meanwhile.
    fn catch_up(&self) -> Result<(), StorageError> {
        Ok(())
    }

    fn has_commit_listener(&self) -> bool {
        true
    }

    fn begin(&self) -> BeginFuture {
        Box::pin(async { Err(CommitError::Failed("a transaction cannot hold another".into())) })
    }
}

/// The state inside the transaction.
struct TransactionSnapshot<'t>(&'t OpenTransaction);

impl TransactionSnapshot<'_> {
    /// Carries out a read of something that is handed to the thread that holds the transaction.
    fn of<T: Send + 'static>(
        &self,
        subject: T,
        request: impl FnOnce(&T) -> ReadRequest<'_> + Send + 'static,
    ) -> Result<ReadResult, StorageError> {
        self.0.read(move |snapshot| snapshot.read(request(&subject)))
    }
}

impl Snapshot for TransactionSnapshot<'_> {
    fn read(&self, request: ReadRequest<'_>) -> Result<ReadResult, StorageError> {
        match request {
            ReadRequest::Rows(plan) => self.of(plan.clone(), |plan| ReadRequest::Rows(plan)),
            ReadRequest::CachedRows(plan) => self.of(plan.clone(), |plan| ReadRequest::CachedRows(plan)),
            ReadRequest::Count(plan) => self.of(plan.clone(), |plan| ReadRequest::Count(plan)),
            ReadRequest::Groups(plan) => self.of(plan.clone(), |plan| ReadRequest::Groups(plan)),
            ReadRequest::Edges(plan) => self.of(plan.clone(), |plan| ReadRequest::Edges(plan)),
            ReadRequest::Meta(space, ids) => {
                self.of((space.clone(), ids.to_vec()), |(space, ids)| ReadRequest::Meta(space, ids))
            }
            ReadRequest::Revisions(space, ids) => {
                self.of((space.clone(), ids.to_vec()), |(space, ids)| ReadRequest::Revisions(space, ids))
            }
            ReadRequest::Setting(key) => self.of(key.clone(), |key| ReadRequest::Setting(key)),
            ReadRequest::Slug(scope, slug) => {
                self.of((scope.to_owned(), slug.to_owned()), |(scope, slug)| ReadRequest::Slug(scope, slug))
            }
        }
    }

    /// None: what is not committed may never have been.
    fn dependencies(&self, _: ReadRequest<'_>, _: &ReadResult) -> Option<Dependencies> {
        None
    }

    /// Never: what is not committed is no state of the database.
    fn is_newest(&self) -> bool {
        false
    }
}
