//! The interface of a database: the traits that engines and their wrappers implement.

use crate::dependencies::VersionSlot;
use crate::error::StorageError;
use crate::nodes::{NodeFacts, Nodes};
use crate::pin::PinGuard;
use crate::plan::{CommitError, Committed, Name, WritePlan};
use crate::snapshot::Snapshot;
use cms_base::metrics;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::thread::Thread;
use std::time::Duration;

/// The time limit of writes. What has waited longer when its turn comes is refused: its caller is to come again, and others
/// are not to wait behind it.
pub const WRITE_PATIENCE: Duration = Duration::from_secs(15);

/// The outcome of a commit, ready when it is durable. Waiting for it blocks no thread.
pub type CommitFuture = Pin<Box<dyn Future<Output = Result<Committed, CommitError>> + Send>>;

/// A transaction, as soon as the database is free for it. Waiting for it blocks no thread.
pub type BeginFuture = Pin<Box<dyn Future<Output = Result<Arc<dyn Transaction>, CommitError>> + Send>>;

/// The end of a transaction, when it is durable.
pub type FinishFuture = Pin<Box<dyn Future<Output = Result<(), CommitError>> + Send>>;

/// The outcome of a future, but never when it is polled for the first time.
pub async fn later<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let (mut first, mut early) = (true, None);
    poll_fn(move |context| {
        if let Some(done) = early.take() {
            return Poll::Ready(done);
        }
        match future.as_mut().poll(context) {
            Poll::Ready(done) if std::mem::take(&mut first) => {
                early = Some(done);
                context.waker().wake_by_ref();
                Poll::Pending
            }
            polled => {
                first = false;
                polled
            }
        }
    })
    .await
}

/// A database.
///
/// All snapshots that a thread has open at a time are of one state.
pub trait Storage: Send + Sync {
    /// A consistent view for the reads of one stage; short-lived, never held across a commit.
    fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StorageError>;

    /// While the result lives, all snapshots of this thread are of the state that the first of them found. It reads
    /// nothing itself. It is dropped before the thread waits for anything: others would read an old state.
    fn pin_snapshot(&self) -> PinGuard;

    /// Queues the plan; resolves after its commit is on disk, and never when it is polled for the first time: whoever
    /// holds a state has dropped it before the outcome is known. Storage itself refuses as `key_taken` (the key that a plan
    /// gives a new row is taken in its space) and `duplicate` (a unique index has the value already).
    fn commit(&self, plan: WritePlan) -> CommitFuture;

    /// How often anything of the scope has been written: what caches compare. Scopes are a table, `table:kind` where it
    /// has a column of that name, a relation, [`crate::slugs`] of a table that relations lead to, `setting`. To file something under a scope version, read the version
    /// before the snapshot.
    fn scope_version(&self, scope: &Name) -> u64;

    /// How often what has this slot was written, since this process runs: see [`VersionSlot`].
    fn slot_version(&self, slot: VersionSlot) -> u64;

    /// Numbers the state of all versions: an equal number later means that none has changed. `None` while one changes, or
    /// where each version has to be read because that is recorded.
    fn version_epoch(&self) -> Option<u64>;

    /// Limits the response in progress: it is true until this time (UTC seconds) at most, and is cached no longer.
    fn limit_validity(&self, _until: i64) {}

    /// Takes notice of everything that other processes have committed so far: what their commits concern has other
    /// versions afterwards.
    fn catch_up(&self) -> Result<(), StorageError>;

    /// Whether commits of other processes arrive soon, without [`Storage::catch_up`]. Otherwise nothing that is cached may be
    /// used before that.
    fn has_commit_listener(&self) -> bool;

    /// Begins a transaction: other writers wait until it ends, a few seconds at most.
    fn begin(&self) -> BeginFuture;
}

/// A database as the process holds it.
pub trait Database: Storage {
    /// Bytes that are made once, at random, and stored: the same at every call with this name.
    fn secret(&self, name: &str, len: usize) -> Result<Vec<u8>, StorageError>;

    /// Carries out what is queued and makes ready for the end of the process. Later writes are refused.
    ///
    /// # Errors
    /// It took longer than `patience`, or something is left to do at the next start.
    fn close(&self, patience: Duration) -> Result<(), StorageError>;

    /// Whether this process carries out what falls due. Of several that share a database one does; threads of
    /// [`Database::wake`] are unparked when that changes.
    fn leads(&self) -> bool;

    /// After each commit from now on, this thread is unparked, too.
    fn wake(&self, sleeper: Thread);

    /// Shows others that serve the same database what they have to agree on with this process.
    fn announce(&self, _facts: NodeFacts) {}

    /// The processes that serve the database, where it can say so.
    fn nodes(&self) -> Result<Option<Nodes>, StorageError> {
        Ok(None)
    }

    /// In what others differ from what this process has announced, a sentence for each.
    fn disagreements(&self) -> Vec<String> {
        Vec::new()
    }

    /// Why the last commit failed; nothing where it did not.
    fn refuses_writes(&self) -> Option<String>;

    /// Lets the database find out how many rows there are of what, where it does not do so at once.
    ///
    /// # Errors
    /// It could not in time. It will later, by itself.
    fn gather_statistics(&self) -> Result<(), StorageError> {
        Ok(())
    }

    /// The readings of the database and its writer for `/metrics`.
    fn readings(&self) -> Vec<metrics::Reading>;
}

/// Several plans as one commit. It is a database itself: what it reads is what it has written so far, and a plan that is
/// refused undoes only itself. Nobody else sees any of it before [`Transaction::finish`]; dropping it instead, or
/// holding it for too long, rolls it back.
pub trait Transaction: Storage {
    /// Makes all of it durable, or nothing.
    fn finish(&self) -> FinishFuture;
}
