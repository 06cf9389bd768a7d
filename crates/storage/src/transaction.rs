//! A transaction held open: several plans as one commit, with reads between them that see what is not committed yet.
//!
//! The writer's thread serves it and nothing else until it ends (see `writer/hold.rs`); this is the end that requests
//! hold. What is dropped without [`Transaction::finish`] has never happened.

use super::budget;
use super::plan::{CommitError, Committed, Edge, EdgePlan, MetaRow, Name, ReadPlan, RevisionCount, Row, WritePlan};
use super::versions::Versions;
use super::{
    BeginFuture, CommitFuture, Dependencies, FinishFuture, Held, Snapshot, Storage, StorageError, Transaction,
    VersionSlot, later,
};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How long ending a read takes that has reached its deadline.
const ENDING: Duration = Duration::from_millis(500);

/// Something to read inside the transaction.
type Look = Box<dyn FnOnce(&dyn Snapshot) + Send>;

/// An outcome that a caller waits for.
type Waiting<T> = Pin<Box<dyn Future<Output = Result<T, CommitError>> + Send>>;

/// What the thread that holds the transaction is to do.
pub(super) enum Op {
    Commit { plan: WritePlan, reply: oneshot::Sender<Result<Committed, CommitError>> },
    Read(Look),
    Finish { reply: oneshot::Sender<Result<(), CommitError>> },
}

/// The requests' end of a transaction.
pub(super) struct OpenTransaction {
    ops: Sender<Op>,
    /// As they are outside.
    versions: Arc<Versions>,
}

impl OpenTransaction {
    pub fn new(ops: Sender<Op>, versions: Arc<Versions>) -> OpenTransaction {
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
        self.ops.send(Op::Read(Box::new(job))).map_err(|_| ended())?;
        let Some(deadline) = deadline else { return answer.recv().map_err(|_| ended())? };
        match answer.recv_timeout(deadline.saturating_duration_since(Instant::now()) + ENDING) {
            Ok(found) => found,
            Err(RecvTimeoutError::Timeout) => Err(StorageError::TimedOut),
            Err(RecvTimeoutError::Disconnected) => Err(ended()),
        }
    }

    /// Requests something whose result may take a while.
    fn ask<T: Send + 'static>(&self, op: impl FnOnce(oneshot::Sender<Result<T, CommitError>>) -> Op) -> Waiting<T> {
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
        self.ask(|reply| Op::Finish { reply })
    }
}

impl Storage for OpenTransaction {
    fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StorageError> {
        Ok(Box::new(Inside(self)))
    }

    /// Nothing to hold: nobody else writes meanwhile.
    fn hold(&self) -> Box<dyn Held + '_> {
        Box::new(Unchanging)
    }

    fn commit(&self, plan: WritePlan) -> CommitFuture {
        self.ask(|reply| Op::Commit { plan, reply })
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

    fn hears_commits(&self) -> bool {
        true
    }

    fn begin(&self) -> BeginFuture {
        Box::pin(async { Err(CommitError::Failed("a transaction cannot hold another".into())) })
    }
}

/// See [`Storage::hold`].
struct Unchanging;

impl Held for Unchanging {}

/// The state inside the transaction.
struct Inside<'t>(&'t OpenTransaction);

impl Snapshot for Inside<'_> {
    fn rows(&self, plan: &ReadPlan) -> Result<Vec<Row>, StorageError> {
        let plan = plan.clone();
        self.0.read(move |snapshot| snapshot.rows(&plan))
    }

    fn count(&self, plan: &ReadPlan) -> Result<u64, StorageError> {
        let plan = plan.clone();
        self.0.read(move |snapshot| snapshot.count(&plan))
    }

    fn groups(&self, plan: &ReadPlan) -> Result<Vec<Row>, StorageError> {
        let plan = plan.clone();
        self.0.read(move |snapshot| snapshot.groups(&plan))
    }

    fn edges(&self, plan: &EdgePlan) -> Result<Vec<Edge>, StorageError> {
        let plan = plan.clone();
        self.0.read(move |snapshot| snapshot.edges(&plan))
    }

    fn meta(&self, space: &Name, ids: &[i64]) -> Result<Vec<MetaRow>, StorageError> {
        let (space, ids) = (space.clone(), ids.to_vec());
        self.0.read(move |snapshot| snapshot.meta(&space, &ids))
    }

    fn revisions(&self, space: &Name, ids: &[i64]) -> Result<Vec<RevisionCount>, StorageError> {
        let (space, ids) = (space.clone(), ids.to_vec());
        self.0.read(move |snapshot| snapshot.revisions(&space, &ids))
    }

    fn setting(&self, key: &Name) -> Result<Option<Arc<str>>, StorageError> {
        let key = key.clone();
        self.0.read(move |snapshot| snapshot.setting(&key))
    }

    fn slug(&self, scope: &str, slug: &str) -> Result<Option<i64>, StorageError> {
        let (scope, slug) = (scope.to_owned(), slug.to_owned());
        self.0.read(move |snapshot| snapshot.slug(&scope, &slug))
    }

    /// None: what is not committed may never have been.
    fn depends(&self, _: &ReadPlan, _: Option<&[Row]>) -> Option<Dependencies> {
        None
    }

    /// None, for the same reason.
    fn depends_on_revisions(&self, _: &Name, _: &[i64]) -> Option<Dependencies> {
        None
    }

    /// Never: what is not committed is no state of the database.
    fn is_newest(&self) -> bool {
        false
    }
}
