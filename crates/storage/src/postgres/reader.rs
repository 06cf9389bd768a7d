//! Reading: a connection and a read-only transaction for the snapshots that a thread has open.
//!
//! The transaction begins with the first statement, in the same round trip, and ends without waiting. It is repeatable:
//! every statement of a request sees the same state. Nothing is sent for a snapshot that reads nothing.

mod targets;

use super::super::budget;
use super::super::catalogue::Catalogue;
use super::super::connection::Dialect;
use super::super::connection::{DbError, Fault, int, text_at};
use super::super::count_cache;
use super::super::dependencies;
use super::super::feed::{self, News};
use super::super::nodes::Nodes;
use super::super::plan::{DbValue, Edge, EdgePlan, MetaRow, Name, ReadPlan, RevisionCount, Row};
use super::super::sql::{Bind, Lowered, Rendered, Want, lower};
use super::super::tally::{Tallied, Without, tallied};
use super::super::words::{NO_WORD, Words};
use super::super::{Ahead, Dependencies, Held, Snapshot, StorageError};
use super::Shared;
use super::neighbours;
use super::pool::Lease;
use super::values::Cell;
use super::wire::{Asked, Prepared, Session, plain};
use arc_swap::Guard;
use std::cell::{Cell as Flag, RefCell};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use targets::Targets;

/// How long reading what other nodes have committed may take.
const CATCHING_UP: Duration = Duration::from_secs(5);
/// Most reads that are under way before they are asked for.
const AHEAD: usize = 16;

/// Most reads of a transaction whose outcome is remembered, and most rows of one.
const REMEMBERED: usize = 64;
const FEW: usize = 16;

const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

thread_local! {
    static OPEN: RefCell<Vec<(u64, Rc<Transaction>)>> = const { RefCell::new(Vec::new()) };
    /// How many of [`Hold`] live.
    static HELD: Flag<u32> = const { Flag::new(0) };
    static QUERIES: Flag<u64> = const { Flag::new(0) };
}

/// See [`super::Postgres::queries`].
pub fn queries() -> u64 {
    QUERIES.get()
}

/// A read that was sent before it was asked for.
struct Sent {
    key: String,
    binds: Vec<Bind>,
    prepared: Arc<Prepared>,
    rows: Asked,
}

/// What the snapshots of a thread share.
struct Transaction {
    lease: RefCell<Option<Lease>>,
    /// The server has given rows, so that another connection would show another state.
    has_read: Flag<bool>,
    /// Reads that were sent and not taken yet, by statement and binds.
    ahead: RefCell<Vec<Sent>>,
    /// Outcomes of few rows: the same read finds the same in a transaction of one state.
    known: RefCell<Vec<(String, Vec<Bind>, Found)>>,
    /// Edges that were sent for with the rows at their ends.
    targets: RefCell<Vec<Rc<Targets>>>,
    /// Snapshots open.
    depth: Flag<u32>,
    /// [`Versions::rising`] before the transaction began.
    ///
    /// [`Versions::rising`]: super::super::versions::Versions::rising
    rising: u64,
}

impl Transaction {
    /// Carries out a read in the transaction, which begins with the first one. Where the connection turns out to be dead
    /// then, another one is tried.
    fn within<T>(&self, shared: &Shared, read: &dyn Fn(&Session) -> Result<T, DbError>) -> Result<T, DbError> {
        let mut lease = self.lease.borrow_mut();
        let first = !self.has_read.get();
        if lease.is_none() {
            *lease = Some(begun(shared, false)?);
        }
        let outcome = lease.as_deref().map(read);
        let outcome = match outcome {
            Some(Err(error)) if first && error.fault == Fault::Unavailable => {
                // What was sent is lost with its connection.
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

impl Transaction {
    /// The outcome of the same read before.
    fn known(&self, key: &str, binds: &[Bind]) -> Option<Found> {
        let known = self.known.borrow();
        known.iter().find(|(text, values, _)| text == key && values == binds).map(|(.., found)| found.clone())
    }

    fn remember(&self, key: &str, binds: &[Bind], found: &Found) {
        let mut known = self.known.borrow_mut();
        if found.rows.len() <= FEW && known.len() < REMEMBERED {
            known.push((key.to_owned(), binds.to_vec(), found.clone()));
        }
    }

    /// Sends a read. Where that is not possible, the read itself will say so.
    fn send(&self, shared: &Shared, key: &str, make: &dyn Fn() -> Rendered, binds: &[Bind]) {
        let sent = |ahead: &[Sent]| ahead.iter().any(|sent| sent.key == key && sent.binds == binds);
        if self.ahead.borrow().len() >= AHEAD || sent(&self.ahead.borrow()) || self.known(key, binds).is_some() {
            return;
        }
        let has_read = self.has_read.get();
        let sent = self.within(shared, &|session| {
            let prepared = session.prepared(key, make, budget::deadline())?;
            let rows = session.ask(&prepared, binds);
            Ok(Sent { key: key.to_owned(), binds: binds.to_vec(), prepared, rows })
        });
        // Nothing has been seen of the server's state by this.
        self.has_read.set(has_read);
        self.ahead.borrow_mut().extend(sent.ok());
    }

    /// The outcome of a read that was sent.
    fn sent_before(&self, key: &str, binds: &[Bind]) -> Option<Result<Found, DbError>> {
        let mut ahead = self.ahead.borrow_mut();
        let place = ahead.iter().position(|sent| sent.key == key && sent.binds == binds)?;
        let Sent { prepared, rows, .. } = ahead.remove(place);
        let lease = self.lease.borrow();
        QUERIES.set(QUERIES.get() + 1);
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

fn begun(shared: &Shared, fresh: bool) -> Result<Lease, DbError> {
    let lease = shared.pool.lend(fresh, budget::deadline())?;
    lease.send_begin(BEGIN);
    Ok(lease)
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if let Some(lease) = &*self.lease.borrow() {
            lease.send_text("COMMIT");
            lease.abandon();
        }
    }
}

/// See [`super::super::Storage::hold`].
pub struct Hold {
    /// It belongs to its thread.
    _here: PhantomData<Rc<()>>,
}

impl Hold {
    /// Holds the state that the next snapshot finds, or the one that is held already.
    pub fn begin() -> Hold {
        HELD.set(HELD.get() + 1);
        Hold { _here: PhantomData }
    }
}

impl Held for Hold {}

impl Drop for Hold {
    fn drop(&mut self) {
        HELD.set(HELD.get() - 1);
        settle();
    }
}

/// Ends the transactions that nothing needs any more.
fn settle() {
    if HELD.get() > 0 {
        return;
    }
    let ended = OPEN.try_with(|open| {
        let mut open = open.borrow_mut();
        let (needed, ended) = open.drain(..).partition(|(_, transaction)| transaction.depth.get() > 0);
        *open = needed;
        ended
    });
    // At the end of a thread its transactions are gone already.
    let _: Vec<(u64, Rc<Transaction>)> = ended.unwrap_or_default();
}

impl Shared {
    /// See [`Storage::catch_up`](super::super::Storage::catch_up): one statement where there is nothing new, two round
    /// trips where there is.
    pub fn catch_up(&self) -> Result<(), StorageError> {
        let longest = Instant::now() + CATCHING_UP;
        let deadline = budget::deadline().map_or(longest, |deadline| deadline.min(longest));
        budget::until(Some(deadline), || self.catch_up_in_time())
    }

    fn catch_up_in_time(&self) -> Result<(), StorageError> {
        let view = View::begin(self);
        // What this node has written since an older state began is no sign that commits were lost.
        let begins = !view.transaction.has_read.get();
        let known = self.versions.known();
        let binds = |values: &[i64]| values.iter().map(|n| Bind::One(DbValue::Int(*n))).collect::<Vec<_>>();
        let commits = view.reading().select(feed::COMMITS_AND_ENTRY, &binds(&[known.mark.seq]))?;
        let is_new = commits.first().map_or(0, |row| int(row, 0)) as u64 > known.commits;
        let is_another = begins && known.is_behind(commits.first(), self.common.node);
        if !is_new && !is_another {
            return Ok(());
        }
        let statements = News::statements(known).map(|(text, values)| (text, binds(&values)));
        for (text, binds) in &statements {
            view.transaction.send(self, text, &|| plain(text), binds);
        }
        let found =
            statements.iter().map(|(text, binds)| view.reading().select(text, binds)).collect::<Result<_, _>>()?;
        self.take_up(&News::of(known, found));
        Ok(())
    }
}

impl Shared {
    /// See [`Database::nodes`](super::super::Database::nodes).
    pub fn nodes(&self) -> Result<Nodes, StorageError> {
        let rows = View::begin(self).reading().select(neighbours::NODES, &[])?;
        Ok(neighbours::nodes(&rows, &self.schema))
    }
}

/// A snapshot.
pub struct View<'s> {
    shared: &'s Shared,
    transaction: Rc<Transaction>,
    words: Guard<Arc<Words>>,
}

impl<'s> View<'s> {
    /// Opens a snapshot.
    pub fn begin(shared: &'s Shared) -> View<'s> {
        let transaction = OPEN.with_borrow_mut(|open| {
            if let Some((_, transaction)) = open.iter().find(|(id, _)| *id == shared.id) {
                return transaction.clone();
            }
            let transaction = Rc::new(Transaction {
                lease: RefCell::default(),
                has_read: Flag::new(false),
                ahead: RefCell::default(),
                known: RefCell::default(),
                targets: RefCell::default(),
                depth: Flag::new(0),
                rising: shared.versions.rising(),
            });
            open.push((shared.id, transaction.clone()));
            transaction
        });
        transaction.depth.set(transaction.depth.get() + 1);
        View { shared, transaction, words: shared.words.load() }
    }

    fn reading(&self) -> Reading<'_> {
        Reading { on: self, words: &self.words, catalogue: &self.shared.catalogue }
    }
}

impl Drop for View<'_> {
    fn drop(&mut self) {
        self.transaction.depth.set(self.transaction.depth.get() - 1);
        settle();
    }
}

/// Something that carries out statements in a transaction.
pub trait Run {
    /// The rows that a statement gives, and the statement.
    fn run(&self, key: &str, make: &dyn Fn() -> Rendered, binds: &[Bind]) -> Result<Found, DbError>;
}

/// The rows of a statement, words as their numbers.
#[derive(Clone)]
pub struct Found {
    pub rows: Vec<Row>,
    /// See [`Rendered::words`].
    pub words: Vec<bool>,
}

/// Reads with a connection.
pub fn run_on(session: &Session, key: &str, make: &dyn Fn() -> Rendered, binds: &[Bind]) -> Result<Found, DbError> {
    QUERIES.set(QUERIES.get() + 1);
    let deadline = budget::deadline();
    if budget::is_spent() {
        return Err(DbError { fault: Fault::TimedOut, cause: "the read took too long".into() });
    }
    let prepared = session.prepared(key, make, deadline)?;
    found(&session.taken(session.ask(&prepared, binds), deadline)?, &prepared)
}

fn found(rows: &[tokio_postgres::Row], prepared: &Prepared) -> Result<Found, DbError> {
    Ok(Found { rows: rows.iter().map(cells).collect::<Result<_, _>>()?, words: prepared.rendered.words.clone() })
}

/// The values of a row.
pub fn cells(row: &tokio_postgres::Row) -> Result<Row, DbError> {
    let cell = |at| row.try_get::<_, Cell>(at).map(|cell| cell.0).map_err(|e| DbError::other(e.to_string()));
    (0..row.len()).map(cell).collect()
}

impl Run for View<'_> {
    fn run(&self, key: &str, make: &dyn Fn() -> Rendered, binds: &[Bind]) -> Result<Found, DbError> {
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

/// Sends what a read would ask for, and finds nothing.
struct Sender<'s>(&'s View<'s>);

impl Run for Sender<'_> {
    fn run(&self, key: &str, make: &dyn Fn() -> Rendered, binds: &[Bind]) -> Result<Found, DbError> {
        self.0.transaction.send(self.0.shared, key, make, binds);
        Ok(Found { rows: Vec::new(), words: Vec::new() })
    }
}

impl Snapshot for View<'_> {
    fn reads_ahead(&self) -> bool {
        true
    }

    fn ahead(&self, reads: &[Ahead<'_>]) {
        let sender = Sender(self);
        let reading = Reading { on: &sender, words: &self.words, catalogue: &self.shared.catalogue };
        for read in reads {
            // Nothing is found yet, and what fails fails again when it is read.
            let _ = match read {
                Ahead::Rows(plan) => reading.rows(plan).map(drop),
                Ahead::Count(plan) => reading.count(plan).map(drop),
                Ahead::Edges(plan) if self.has_edges(plan) => Ok(()),
                Ahead::Edges(plan) => reading.edges(plan).map(drop),
                Ahead::Meta(space, ids) => reading.meta(space, ids).map(drop),
                Ahead::Revisions(space, ids) => reading.revisions(space, ids).map(drop),
                Ahead::Targets(edges, plan) => self.send_targets(edges, plan),
            };
        }
    }

    fn rows(&self, plan: &ReadPlan) -> Result<Vec<Row>, StorageError> {
        match self.rows_of_targets(plan)? {
            Some(rows) => Ok(rows),
            None => self.reading().rows(plan),
        }
    }

    fn count(&self, plan: &ReadPlan) -> Result<u64, StorageError> {
        let (catalogue, reading) = (&self.shared.catalogue, self.reading());
        if let Some(tallies) = tallied(plan, catalogue) {
            return reading.tallied(&tallies);
        }
        let lowered = lower(plan, Want::Count, catalogue, &self.words)?;
        let remembered = &self.shared.remembered;
        let stamp = dependencies::depends(plan, None, catalogue, &self.words).map(|on| self.shared.versions.sum(&on));
        // Versions that moved since the snapshot began belong to rows that it does not see.
        let kept = stamp
            .filter(|_| self.is_newest())
            .and_then(|stamp| Some((count_cache::key(lowered.shape(), &lowered.binds)?, stamp)));
        let Some((key, stamp)) = kept else { return reading.number(&lowered) };
        if let Some(n) = remembered.get(&key, stamp) {
            return Ok(n);
        }
        let n = reading.number(&lowered)?;
        remembered.put(key, stamp, n);
        Ok(n)
    }

    fn groups(&self, plan: &ReadPlan) -> Result<Vec<Row>, StorageError> {
        self.reading().groups(plan)
    }

    fn edges(&self, plan: &EdgePlan) -> Result<Vec<Edge>, StorageError> {
        match self.edges_of_targets(plan)? {
            Some(edges) => Ok(edges),
            None => self.reading().edges(plan),
        }
    }

    fn meta(&self, space: &Name, ids: &[i64]) -> Result<Vec<MetaRow>, StorageError> {
        self.reading().meta(space, ids)
    }

    fn revisions(&self, space: &Name, ids: &[i64]) -> Result<Vec<RevisionCount>, StorageError> {
        self.reading().revisions(space, ids)
    }

    fn setting(&self, key: &Name) -> Result<Option<Arc<str>>, StorageError> {
        self.reading().setting(key)
    }

    fn slug(&self, scope: &str, slug: &str) -> Result<Option<i64>, StorageError> {
        self.reading().slug(scope, slug)
    }

    fn depends(&self, plan: &ReadPlan, rows: Option<&[Row]>) -> Option<Dependencies> {
        self.reading().depends(plan, rows)
    }

    fn depends_on_revisions(&self, space: &Name, ids: &[i64]) -> Option<Dependencies> {
        self.reading().depends_on_revisions(space, ids)
    }

    fn is_newest(&self) -> bool {
        self.shared.versions.rising() == self.transaction.rising
    }
}

/// Reads in whatever transaction there is. Knows nothing of what was read before.
pub struct Reading<'r> {
    pub on: &'r dyn Run,
    pub words: &'r Words,
    pub catalogue: &'r Catalogue,
}

impl Reading<'_> {
    fn lowered(&self, lowered: &Lowered<'_>) -> Result<Found, StorageError> {
        Ok(self.on.run(&lowered.shape(), &|| lowered.render(Dialect::Postgres), &lowered.binds)?)
    }

    /// The one number that a statement gives.
    fn number(&self, lowered: &Lowered<'_>) -> Result<u64, StorageError> {
        Ok(self.lowered(lowered)?.rows.first().map_or(0, |row| int(row, 0).max(0) as u64))
    }

    fn tallied(&self, tallies: &Tallied) -> Result<u64, StorageError> {
        let sum = |plan: &ReadPlan| self.number(&lower(plan, Want::Sum, self.catalogue, self.words)?);
        let without = match &tallies.without {
            None => 0,
            Some(Without::Sum(plan)) => sum(plan)?,
            Some(Without::Rows(plan)) => self.number(&lower(plan, Want::Count, self.catalogue, self.words)?)?,
        };
        Ok(sum(&tallies.of)?.saturating_sub(without))
    }

    fn numbers(&self, words: &[Name]) -> Bind {
        Bind::List(words.iter().map(|w| DbValue::Int(self.words.number(w).unwrap_or(NO_WORD))).collect())
    }

    fn select(&self, text: &'static str, binds: &[Bind]) -> Result<Vec<Row>, StorageError> {
        Ok(self.on.run(text, &|| plain(text), binds)?.rows)
    }

    /// The word of a number, also of one that another process added a moment ago.
    fn word(&self, number: i64) -> Result<Name, StorageError> {
        if let Some(name) = self.words.name(number) {
            return Ok(name.clone());
        }
        let found = self.select(WORD, &[Bind::One(DbValue::Int(number))])?;
        let missing = || StorageError::Failed(format!("the dictionary has no word {number}"));
        found.first().and_then(|row| text_at(row, 0)).ok_or_else(missing)
    }

    fn of_space(&self, space: &Name, ids: &[i64]) -> [Bind; 2] {
        let space = DbValue::Int(self.words.number(space).unwrap_or(NO_WORD));
        [Bind::One(space), Bind::List(ids.iter().map(|id| DbValue::Int(*id)).collect())]
    }

    /// The rows of a plan, or its groups.
    fn read(&self, plan: &ReadPlan, want: Want) -> Result<Vec<Row>, StorageError> {
        let Found { mut rows, words } = self.lowered(&lower(plan, want, self.catalogue, self.words)?)?;
        for place in words.iter().enumerate().filter_map(|(place, word)| word.then_some(place)) {
            for row in &mut rows {
                if let DbValue::Int(number) = row[place] {
                    row[place] = DbValue::Text(self.word(number)?);
                }
            }
        }
        if words.is_empty() {
            // Rows of which nothing is read have one column all the same.
            rows.iter_mut().for_each(Vec::clear);
        }
        Ok(rows)
    }
}

impl Snapshot for Reading<'_> {
    fn rows(&self, plan: &ReadPlan) -> Result<Vec<Row>, StorageError> {
        self.read(plan, Want::Rows)
    }

    fn count(&self, plan: &ReadPlan) -> Result<u64, StorageError> {
        match tallied(plan, self.catalogue) {
            Some(tallies) => self.tallied(&tallies),
            None => self.number(&lower(plan, Want::Count, self.catalogue, self.words)?),
        }
    }

    fn groups(&self, plan: &ReadPlan) -> Result<Vec<Row>, StorageError> {
        self.read(plan, Want::Groups)
    }

    fn edges(&self, plan: &EdgePlan) -> Result<Vec<Edge>, StorageError> {
        let of = Bind::List(plan.of.iter().map(|id| DbValue::Int(*id)).collect());
        let text = if plan.reverse { EDGES_TO } else { EDGES_FROM };
        let rows = self.select(text, &[self.numbers(&plan.rels), of])?;
        rows.iter().map(|row| Ok(Edge { rel: self.word(int(row, 0))?, src: int(row, 1), dst: int(row, 2) })).collect()
    }

    fn meta(&self, space: &Name, ids: &[i64]) -> Result<Vec<MetaRow>, StorageError> {
        let rows = self.select(META, &self.of_space(space, ids))?;
        let value = |row: &Row| MetaRow {
            id: int(row, 0),
            key: text_at(row, 1).unwrap_or_default(),
            number: int(row, 2),
            json: text_at(row, 3).unwrap_or_default(),
        };
        Ok(rows.iter().map(value).collect())
    }

    fn revisions(&self, space: &Name, ids: &[i64]) -> Result<Vec<RevisionCount>, StorageError> {
        let rows = self.select(REVISIONS, &self.of_space(space, ids))?;
        Ok(rows.iter().map(|row| RevisionCount { of: int(row, 0), count: int(row, 1), newest: int(row, 2) }).collect())
    }

    fn setting(&self, key: &Name) -> Result<Option<Arc<str>>, StorageError> {
        let rows = self.select("SELECT json FROM setting WHERE key = ?1", &[Bind::One(DbValue::Text(key.clone()))])?;
        Ok(rows.first().and_then(|row| text_at(row, 0)))
    }

    fn slug(&self, scope: &str, slug: &str) -> Result<Option<i64>, StorageError> {
        let binds = [scope, slug].map(|text| Bind::One(DbValue::Text(text.into())));
        let rows = self.select("SELECT id FROM slug WHERE scope = ?1 AND slug = ?2", &binds)?;
        Ok(rows.first().map(|row| int(row, 0)))
    }

    fn depends(&self, plan: &ReadPlan, rows: Option<&[Row]>) -> Option<Dependencies> {
        dependencies::depends(plan, rows, self.catalogue, self.words)
    }

    fn depends_on_revisions(&self, space: &Name, ids: &[i64]) -> Option<Dependencies> {
        Some(dependencies::depends_on_revisions(space, ids, self.words))
    }

    /// Whether it is, only the connection's owner knows.
    fn is_newest(&self) -> bool {
        false
    }
}

const WORD: &str = "SELECT word FROM dictionary WHERE number = ?1";
const EDGES_FROM: &str = "SELECT rel, src, dst FROM edge WHERE rel = ANY(?1) AND src = ANY(?2) ORDER BY src, rel, pos";
const EDGES_TO: &str = "SELECT rel, src, dst FROM edge WHERE rel = ANY(?1) AND dst = ANY(?2) ORDER BY dst, rel, src";
const META: &str = "SELECT id, key, n, json FROM meta WHERE space = ?1 AND id = ANY(?2) ORDER BY id, key, n";
const REVISIONS: &str = "SELECT \"of\", count(*), (SELECT id FROM revision AS other \
    WHERE other.space = revision.space AND other.\"of\" = revision.\"of\" ORDER BY \"at\" DESC, id DESC LIMIT 1) \
    FROM revision WHERE space = ?1 AND \"of\" = ANY(?2) GROUP BY space, \"of\" ORDER BY \"of\"";
