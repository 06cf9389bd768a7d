//! How long the reads of one request may take together.
//!
//! The time of each read is added up, wherever the request waits in between; the rest of the budget limits the next
//! read. SQLite checks every few instructions whether the budget of the running read is spent and then ends that read.
//! Only reads are limited: a statement that writes never runs with a deadline.

use super::forward::forward;
use super::plan::{EdgePlan, ReadPlan, WritePlan};
use crate::database::{BeginFuture, CommitFuture, FinishFuture, Storage, Transaction};
use crate::error::StorageError;
use crate::snapshot::{ReadRequest, ReadResult, Snapshot};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

thread_local! {
    /// When the read that runs on this thread has to end.
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Whether the read that runs on this thread has used up its budget.
pub(super) fn is_spent() -> bool {
    DEADLINE.get().is_some_and(|deadline| Instant::now() >= deadline)
}

/// The deadline of the read that runs on this thread, to hand it to another thread.
pub(super) fn deadline() -> Option<Instant> {
    DEADLINE.get()
}

/// Runs something that ends at a deadline.
pub(super) fn until<T>(deadline: Option<Instant>, run: impl FnOnce() -> T) -> T {
    /// Puts the deadline of the surrounding read back, also after a panic.
    struct Restore(Option<Instant>);
    impl Drop for Restore {
        fn drop(&mut self) {
            DEADLINE.set(self.0);
        }
    }
    let _restore = Restore(DEADLINE.replace(deadline));
    run()
}

/// The time that one request may spend on reads, and has spent.
pub struct ReadBudget {
    /// For the log: which request it is.
    request: Arc<str>,
    limit: Duration,
    /// Nanoseconds.
    spent: AtomicU64,
    committed: AtomicBool,
    exceeded: AtomicBool,
    unavailable: AtomicBool,
}

impl ReadBudget {
    /// A budget of which nothing is spent.
    pub fn new(request: Arc<str>, limit: Duration) -> ReadBudget {
        let (spent, committed, exceeded, unavailable) = Default::default();
        ReadBudget { request, limit, spent, committed, exceeded, unavailable }
    }

    /// Whether a read was ended or refused.
    pub fn exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Relaxed)
    }

    /// Whether the database was away for a read, before the request had written anything.
    pub fn met_no_database(&self) -> bool {
        self.unavailable.load(Ordering::Relaxed) && !self.committed.load(Ordering::Relaxed)
    }

    /// Begins again: a part of the request is done, and the next one may take as long.
    pub fn renew(&self) {
        self.spent.store(0, Ordering::Relaxed);
    }

    /// The rest of the budget. A request that has written gets the budget once more, so that it can respond.
    fn left(&self) -> Duration {
        let limit = if self.committed.load(Ordering::Relaxed) { self.limit * 2 } else { self.limit };
        limit.saturating_sub(Duration::from_nanos(self.spent.load(Ordering::Relaxed)))
    }

    /// Counts the time that something takes, which ends when all is spent.
    fn spend<T>(&self, run: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let outcome = until(Some(began + self.left()), run);
        let took = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.spent.fetch_add(took, Ordering::Relaxed);
        outcome
    }

    fn read<T>(&self, read: impl FnOnce() -> Result<T, StorageError>) -> Result<T, StorageError> {
        if self.left().is_zero() {
            self.exceeded.store(true, Ordering::Relaxed);
            return Err(StorageError::TimedOut);
        }
        let outcome = self.spend(read);
        match outcome {
            Err(StorageError::TimedOut) => self.exceeded.store(true, Ordering::Relaxed),
            Err(StorageError::Unavailable(_)) => self.unavailable.store(true, Ordering::Relaxed),
            Ok(_) | Err(StorageError::Failed(_)) => {}
        }
        outcome
    }
}

/// The request is over: an operator has to know which one was ended.
impl Drop for ReadBudget {
    fn drop(&mut self) {
        if self.exceeded() {
            let seconds = self.limit.as_secs_f64();
            tracing::warn!(request = %self.request, "the reads of a request were ended after {seconds} s (storage.read_timeout)");
        }
    }
}

/// Carries everything out on the storage inside and counts the time of reads.
pub struct Budgeted<S: ?Sized> {
    budget: Arc<ReadBudget>,
    inner: Arc<S>,
}

impl<S: ?Sized> Budgeted<S> {
    /// Counts reads of `inner` against a budget.
    pub fn new(inner: Arc<S>, budget: Arc<ReadBudget>) -> Budgeted<S> {
        Budgeted { budget, inner }
    }
}

impl<S: Storage + ?Sized> Storage for Budgeted<S> {
    fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StorageError> {
        Ok(Box::new(BudgetedSnapshot { inner: self.inner.snapshot()?, budget: &self.budget }))
    }

    forward!(inner: pin_snapshot scope_version slot_version version_epoch limit_validity has_commit_listener);

    fn commit(&self, plan: WritePlan) -> CommitFuture {
        let (budget, commit) = (self.budget.clone(), self.inner.commit(plan));
        Box::pin(async move {
            let committed = commit.await?;
            budget.committed.store(true, Ordering::Relaxed);
            Ok(committed)
        })
    }

    fn catch_up(&self) -> Result<(), StorageError> {
        self.budget.spend(|| self.inner.catch_up())
    }

    fn begin(&self) -> BeginFuture {
        let (budget, begin) = (self.budget.clone(), self.inner.begin());
        Box::pin(async move { Ok(Arc::new(Budgeted::new(begin.await?, budget)) as Arc<dyn Transaction>) })
    }
}

impl Transaction for Budgeted<dyn Transaction> {
    fn finish(&self) -> FinishFuture {
        self.inner.finish()
    }
}

struct BudgetedSnapshot<'s> {
    inner: Box<dyn Snapshot + 's>,
    budget: &'s ReadBudget,
}

impl Snapshot for BudgetedSnapshot<'_> {
    fn read(&self, request: ReadRequest<'_>) -> Result<ReadResult, StorageError> {
        self.budget.read(|| self.inner.read(request))
    }

    fn prefetch(&self, requests: &[ReadRequest<'_>]) {
        // Sending may wait, too. What fails fails again when it is read.
        self.budget.spend(|| self.inner.prefetch(requests));
    }

    fn prefetch_targets(&self, edges: &EdgePlan, rows: &ReadPlan) {
        self.budget.spend(|| self.inner.prefetch_targets(edges, rows));
    }

    forward!(inner: can_prefetch dependencies is_newest);
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::*;
    use super::super::plan::{Change, Cond, Row};
    use super::*;

    /// A database with enough rows that SQLite checks the clock while it reads them.
    fn filled() -> (Arc<dyn Storage>, tempfile::TempDir) {
        let Site { db, folder } = site();
        commit(&db, (0..500).map(|n| Change::Put(post("publish", n, "One of many"))).collect()).unwrap();
        (Arc::new(db), folder)
    }

    fn bounded(db: &Arc<dyn Storage>, limit: Duration) -> (Arc<ReadBudget>, Budgeted<dyn Storage>) {
        let budget = Arc::new(ReadBudget::new("test".into(), limit));
        (budget.clone(), Budgeted::new(db.clone(), budget))
    }

    fn long_read(db: &dyn Storage) -> Result<Vec<Row>, StorageError> {
        db.snapshot()?.rows(&read("record", &["id"], Cond::Contains(vec![name("title")], "many".into())))
    }

    #[test]
    fn a_request_of_many_parts_has_the_budget_for_each() {
        let (db, _folder) = filled();
        let (budget, storage) = bounded(&db, Duration::from_secs(60));
        budget.spent.store(u64::MAX, Ordering::Relaxed);
        assert_eq!(long_read(&storage), Err(StorageError::TimedOut));
        budget.renew();
        assert_eq!(long_read(&storage).unwrap().len(), 500);
    }

    #[test]
    fn a_read_ends_with_its_budget_and_the_next_one_does_not_begin() {
        let (db, _folder) = filled();
        let (budget, storage) = bounded(&db, Duration::from_nanos(1));
        assert!(!budget.exceeded());
        assert_eq!(long_read(&storage), Err(StorageError::TimedOut));
        assert!(budget.exceeded());
        let short = storage.snapshot().unwrap().setting(&name("settings"));
        assert_eq!(short, Err(StorageError::TimedOut));
        assert_eq!(long_read(&*db).unwrap().len(), 500, "other reads of the same thread go on");
        let (budget, storage) = bounded(&db, Duration::from_secs(3600));
        assert_eq!((long_read(&storage).unwrap().len(), budget.exceeded()), (500, false));
    }

    #[test]
    fn a_transaction_outlives_a_read_that_was_ended_in_it() {
        let (db, _folder) = filled();
        let (budget, storage) = bounded(&db, Duration::from_nanos(1));
        let transaction = wait(storage.begin()).unwrap();
        let one = || vec![Change::Put(post("publish", 1, "Written"))];
        commit(&*transaction, one()).unwrap();
        assert_eq!(long_read(&*transaction), Err(StorageError::TimedOut));
        commit(&*transaction, one()).unwrap();
        wait(transaction.finish()).unwrap();
        assert!(budget.exceeded());
        let written = read("record", &["id"], eq("title", text("Written")));
        assert_eq!(rows(&*db, &written).len(), 2);
    }

    #[test]
    fn who_has_written_gets_the_budget_once_more() {
        let limit = Duration::from_secs(1);
        let budget = ReadBudget::new("test".into(), limit);
        assert_eq!(budget.left(), limit);
        budget.spent.store(1_000_000_000, Ordering::Relaxed);
        assert_eq!(budget.left(), Duration::ZERO);
        budget.committed.store(true, Ordering::Relaxed);
        assert_eq!(budget.left(), limit);
    }
}
