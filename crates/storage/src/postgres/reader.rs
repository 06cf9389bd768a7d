//! Reading: a connection and a read-only transaction for the snapshots that a thread has open.
//!
//! The transaction begins with the first statement, in the same round trip, and ends without waiting. It is repeatable:
//! every statement of a request sees the same state. Nothing is sent for a snapshot that reads nothing.

use super::super::budget;
use super::super::feed::{self, FeedUpdate};
use super::super::nodes::Nodes;
use super::super::pin;
use super::super::plan::{DbValue, EdgePlan, ReadPlan, Row};
use super::super::read_cache::ReadCache;
use super::super::sql::{Bind, Rendered};
use super::super::sql_reads::{CachingSnapshot, Names, SqlReads};
use super::super::statement::{DbError, Fault, int};
use super::super::versions::Versions;
use super::super::words::Words;
use super::neighbours;
use super::pool::Lease;
use super::reads::{FetchedRows, StatementRunner, count_query, found, run_on};
use super::shared::PgShared;
use super::targets::{Targets, TargetsBefore};
use super::wire::{PendingRows, Prepared, Session, plain};
use crate::dependencies::Dependencies;
use crate::error::StorageError;
use crate::snapshot::{ReadRequest, ReadResult, Snapshot};
use arc_swap::Guard;
use std::cell::{Cell as Flag, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long reading what other nodes have committed may take.
const CATCHING_UP: Duration = Duration::from_secs(5);
/// Most reads that are under way before they are asked for.
const AHEAD: usize = 16;

/// Most reads of a transaction whose outcome is remembered, and most rows of one.
const REMEMBERED: usize = 64;
const FEW: usize = 16;

const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

thread_local! {
    static OPEN: RefCell<Vec<(u64, Rc<ReadTransaction>)>> = const { RefCell::new(Vec::new()) };
}

/// A read that was sent before it was asked for.
struct SentRead {
    key: String,
    binds: Vec<Bind>,
    prepared: Arc<Prepared>,
    rows: PendingRows,
}

/// State that the snapshots of a thread share.
struct ReadTransaction {
    lease: RefCell<Option<Lease>>,
    /// The server has given rows, so that another connection would show another state.
    has_read: Flag<bool>,
    /// Reads that were sent and not taken yet, by statement and binds.
    ahead: RefCell<Vec<SentRead>>,
    /// Outcomes of few rows: the same read finds the same in a transaction of one state.
    known: RefCell<Vec<(String, Vec<Bind>, FetchedRows)>>,
    /// Edges that were sent for with the rows at their ends.
    targets: TargetsBefore,
    /// Snapshots open.
    depth: Flag<u32>,
    /// [`Versions::settled`] before the transaction began.
    ///
    /// [`Versions::settled`]: super::super::versions::Versions::settled
    rising: u64,
}

impl ReadTransaction {
    /// Carries out a read in the transaction, which begins with the first one. Where the connection turns out to be dead
    /// then, another one is tried.
    fn within<T>(&self, shared: &PgShared, read: &dyn Fn(&Session) -> Result<T, DbError>) -> Result<T, DbError> {
        let mut lease = self.lease.borrow_mut();
        let first = !self.has_read.get();
        if lease.is_none() {
            *lease = Some(begun(shared, false)?);
        }
        let outcome = lease.as_deref().map(read);
        let outcome = match outcome {
            Some(Err(error)) if first && error.fault == Fault::Unavailable => {
                // Statements that were sent are lost with their connection.
                self.ahead.borrow_mut().clear();
                *lease = None;
                *lease = Some(begun(shared, true)?);
                lease.as_deref().map(read)
            }
            outcome => outcome,
        };
        self.has_read.set(true);
        outcome.unwrap_or_else(|| Err(DbError::other("there is no connection")))
    }
}

impl ReadTransaction {
    /// The outcome of the same read before.
    fn known(&self, key: &str, binds: &[Bind]) -> Option<FetchedRows> {
        let known = self.known.borrow();
        known.iter().find(|(text, values, _)| text == key && values == binds).map(|(.., found)| found.clone())
    }

    fn remember(&self, key: &str, binds: &[Bind], found: &FetchedRows) {
        let mut known = self.known.borrow_mut();
        if found.rows.len() <= FEW && known.len() < REMEMBERED {
            known.push((key.to_owned(), binds.to_vec(), found.clone()));
        }
    }

    /// Sends a read. Where that is not possible, the read itself will say so.
    fn send(&self, shared: &PgShared, key: &str, make: &dyn Fn() -> Rendered, binds: &[Bind]) {
        let sent = |ahead: &[SentRead]| ahead.iter().any(|sent| sent.key == key && sent.binds == binds);
        if self.ahead.borrow().len() >= AHEAD || sent(&self.ahead.borrow()) || self.known(key, binds).is_some() {
            return;
        }
        let has_read = self.has_read.get();
        let sent = self.within(shared, &|session| {
            let prepared = session.prepared(key, make, budget::deadline())?;
            let rows = session.ask(&prepared, binds);
            Ok(SentRead { key: key.to_owned(), binds: binds.to_vec(), prepared, rows })
        });
        // Nothing has been seen of the server's state by this.
        self.has_read.set(has_read);
        self.ahead.borrow_mut().extend(sent.ok());
    }

    /// The outcome of a read that was sent.
    fn sent_before(&self, key: &str, binds: &[Bind]) -> Option<Result<FetchedRows, DbError>> {
        let mut ahead = self.ahead.borrow_mut();
        let place = ahead.iter().position(|sent| sent.key == key && sent.binds == binds)?;
        let SentRead { prepared, rows, .. } = ahead.remove(place);
        let lease = self.lease.borrow();
        count_query();
        match lease.as_deref()?.taken(rows, budget::deadline()) {
            // Another connection may show the state as well.
            Err(error) if error.fault == Fault::Unavailable && !self.has_read.get() => None,
            rows => {
                self.has_read.set(true);
                Some(rows.and_then(|rows| found(&rows, &prepared)))
            }
        }
    }
}

fn begun(shared: &PgShared, fresh: bool) -> Result<Lease, DbError> {
    let lease = shared.pool.lend(fresh, budget::deadline())?;
    lease.send_begin(BEGIN);
    Ok(lease)
}

impl Drop for ReadTransaction {
    fn drop(&mut self) {
        if let Some(lease) = &*self.lease.borrow() {
            lease.send_text("COMMIT");
            lease.abandon();
        }
    }
}

/// Ends the transactions that nothing needs any more.
pub fn settle() {
    if pin::is_pinned() {
        return;
    }
    let ended = OPEN.try_with(|open| {
        let mut open = open.borrow_mut();
        let (needed, ended) = open.drain(..).partition(|(_, transaction)| transaction.depth.get() > 0);
        *open = needed;
        ended
    });
    // At the end of a thread its transactions are gone already.
    let _: Vec<(u64, Rc<ReadTransaction>)> = ended.unwrap_or_default();
}

impl PgShared {
    /// See [`Storage::catch_up`](super::super::Storage::catch_up): one statement where there is nothing new, two round
    /// trips where there is.
    pub fn catch_up(&self) -> Result<(), StorageError> {
        let longest = Instant::now() + CATCHING_UP;
        let deadline = budget::deadline().map_or(longest, |deadline| deadline.min(longest));
        budget::until(Some(deadline), || self.catch_up_in_time())
    }

    fn catch_up_in_time(&self) -> Result<(), StorageError> {
        let view = PgSnapshot::begin(self);
        // Writes of this node since an older state began are no sign that commits were lost.
        let begins = !view.transaction.has_read.get();
        let known = self.versions.known();
        let binds = |values: &[i64]| values.iter().map(|n| Bind::One(DbValue::Int(*n))).collect::<Vec<_>>();
        let commits = view.select(feed::COMMITS_AND_ENTRY, &binds(&[known.mark.seq]))?;
        let is_new = commits.first().map_or(0, |row| int(row, 0)) as u64 > known.commits;
        let is_another = begins && known.is_behind(commits.first(), self.common.node);
        if !is_new && !is_another {
            return Ok(());
        }
        let statements = FeedUpdate::statements(known).map(|(text, values)| (text, binds(&values)));
        for (text, binds) in &statements {
            view.transaction.send(self, text, &|| plain(text), binds);
        }
        let found = statements.iter().map(|(text, binds)| view.select(text, binds)).collect::<Result<_, _>>()?;
        self.take_up(&FeedUpdate::of(known, found));
        Ok(())
    }
}

impl PgShared {
    /// See [`Database::nodes`](super::super::Database::nodes).
    pub fn nodes(&self) -> Result<Nodes, StorageError> {
        let rows = PgSnapshot::begin(self).select(neighbours::NODES, &[])?;
        Ok(neighbours::nodes(&rows, &self.schema))
    }
}

/// A snapshot.
pub struct PgSnapshot<'s> {
    shared: &'s PgShared,
    transaction: Rc<ReadTransaction>,
    words: Guard<Arc<Words>>,
}

impl<'s> PgSnapshot<'s> {
    /// Opens a snapshot.
    pub fn begin(shared: &'s PgShared) -> PgSnapshot<'s> {
        let transaction = OPEN.with_borrow_mut(|open| {
            if let Some((_, transaction)) = open.iter().find(|(id, _)| *id == shared.id) {
                return transaction.clone();
            }
            let transaction = Rc::new(ReadTransaction {
                lease: RefCell::default(),
                has_read: Flag::new(false),
                ahead: RefCell::default(),
                known: RefCell::default(),
                targets: TargetsBefore::default(),
                depth: Flag::new(0),
                rising: shared.versions.settled(),
            });
            open.push((shared.id, transaction.clone()));
            transaction
        });
        transaction.depth.set(transaction.depth.get() + 1);
        PgSnapshot { shared, transaction, words: shared.words.load() }
    }

    fn names(&self) -> Names<'_> {
        Names { words: &self.words, catalogue: &self.shared.catalogue }
    }

    fn reads(&self) -> SqlReads<'_, &dyn StatementRunner> {
        SqlReads { executor: self, names: self.names(), caching: Some(self) }
    }

    /// The rows that a statement gives.
    fn select(&self, text: &'static str, binds: &[Bind]) -> Result<Vec<Row>, DbError> {
        Ok(self.run(text, &|| plain(text), binds)?.rows)
    }
}

impl Drop for PgSnapshot<'_> {
    fn drop(&mut self) {
        self.transaction.depth.set(self.transaction.depth.get() - 1);
        settle();
    }
}

impl StatementRunner for PgSnapshot<'_> {
    fn run(&self, key: &str, make: &dyn Fn() -> Rendered, binds: &[Bind]) -> Result<FetchedRows, DbError> {
        if let Some(found) = self.transaction.known(key, binds) {
            return Ok(found);
        }
        let found = match self.transaction.sent_before(key, binds) {
            Some(found) => found?,
            None => self.transaction.within(self.shared, &|session| run_on(session, key, make, binds))?,
        };
        self.transaction.remember(key, binds, &found);
        Ok(found)
    }
}

impl CachingSnapshot for PgSnapshot<'_> {
    fn cache(&self) -> (&ReadCache, &Versions) {
        (&self.shared.cached, &self.shared.versions)
    }
}

/// Sends the statements of a read ahead, and finds nothing.
struct PrefetchRunner<'s>(&'s PgSnapshot<'s>);

impl StatementRunner for PrefetchRunner<'_> {
    fn run(&self, key: &str, make: &dyn Fn() -> Rendered, binds: &[Bind]) -> Result<FetchedRows, DbError> {
        self.0.transaction.send(self.0.shared, key, make, binds);
        Ok(FetchedRows { rows: Vec::new(), words: Vec::new() })
    }
}

impl Snapshot for PgSnapshot<'_> {
    fn read(&self, request: ReadRequest<'_>) -> Result<ReadResult, StorageError> {
        let found = match request {
            ReadRequest::Rows(plan) => self.transaction.targets.rows(self, plan)?.map(ReadResult::Rows),
            ReadRequest::Edges(plan) => self.transaction.targets.edges(self, &self.words, plan)?.map(ReadResult::Edges),
            _ => None,
        };
        found.map_or_else(|| self.reads().read(request), Ok)
    }

    fn can_prefetch(&self) -> bool {
        true
    }

    fn prefetch(&self, requests: &[ReadRequest<'_>]) {
        let sender = PrefetchRunner(self);
        let reads = SqlReads { executor: &sender as &dyn StatementRunner, names: self.names(), caching: None };
        for request in requests {
            if matches!(request, ReadRequest::Edges(plan) if self.transaction.targets.has_edges(plan)) {
                continue;
            }
            // Nothing is found yet, and what fails fails again when it is read.
            let _ = reads.read(*request);
        }
    }

    fn prefetch_targets(&self, edges: &EdgePlan, rows: &ReadPlan) {
        // A read that fails here fails again when it is made.
        let Ok(Some(targets)) = Targets::of(edges, rows, self.names()) else { return };
        self.transaction.targets.add(targets, |text, binds| {
            self.transaction.send(self.shared, text, &|| plain(text), binds);
        });
    }

    fn dependencies(&self, request: ReadRequest<'_>, result: &ReadResult) -> Option<Dependencies> {
        self.reads().dependencies(request, result)
    }

    fn is_newest(&self) -> bool {
        self.shared.versions.rising() == self.transaction.rising
    }
}
