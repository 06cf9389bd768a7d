//! PostgreSQL's connection that writes and migrates.
//!
//! A transaction that writes holds a lock that all nodes share, so that one of them writes at a time, as on SQLite: the
//! dictionary, sequences, slugs, counts and versions are exact without further locks, and versions rise in the order of
//! commits. Plans that wait together are committed together, so that the lock costs each of them little.
//!
//! Statements of which nobody needs the outcome are sent without waiting; the next one that is waited for reports a
//! failure. Where the connection breaks while COMMIT is on its way, the change feed says what became of the transaction:
//! a transaction that gets the lock sees the entries of every transaction that was committed before. (Numbers of transactions say
//! less: those that were not on disk when a server crashed are used again.)
//!
//! A transaction has as long as one request that has no deadline ([`PATIENCE`]) for all of its statements together, so that a
//! silent server costs its callers no more than that.

use super::super::budget;
use super::super::catalogue::Catalogue;
use super::super::connection::Connection;
use super::super::feed::{self, CommitIdentity};
use super::super::plan::{DbValue, ReadPlan, Row};
use super::super::sql::{Bind, Rendered, ResultKind, lower};
use super::super::sql_reads::{Names, SqlReads};
use super::super::statement::{DbError, Dialect, Fault, Param, Result, Statements};
use super::super::words::Words;
use super::connect::Address;
use super::reads::{FetchedRows, StatementRunner, cells, run_on};
use super::wire::{PATIENCE, Prepared, Session, plain};
use crate::snapshot::Snapshot;
use std::cell::{Cell, Ref, RefCell};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The channel on which nodes hear of commits.
pub const CHANNEL: &str = "cms_server_commits";

/// Counts and samples the rows of all tables.
pub const STATISTICS: &str = "ANALYZE";

/// How long to ask what became of a transaction.
const ASKING: Duration = Duration::from_secs(5);

const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
/// The other nodes wait for a silent one no longer than this. (Its statements follow each other at once.)
const BEGIN_GROUP: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
    SET LOCAL idle_in_transaction_session_timeout = '3s'";

const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('cms-server ' || current_schema(), 0))";
const NOTIFY: &str = "SELECT pg_notify('cms_server_commits', current_schema() || ' ' || ?1)";
/// Before [`LOCK`], where what became of a transaction is asked for.
const BEGIN_ASKING: &str = "BEGIN; SET LOCAL lock_timeout = '1s'";

/// See the module.
pub struct PgConnection {
    address: Arc<Address>,
    /// The name of this node for other nodes.
    node: Arc<str>,
    session: RefCell<Option<Session>>,
    /// How long a transaction may take, and a statement outside of one.
    patience: Cell<Duration>,
    /// When the open transaction has to end.
    until: Cell<Option<Instant>>,
    open: Cell<bool>,
    changes: Cell<u64>,
    failure: RefCell<Option<DbError>>,
    /// The reads that the next transaction makes first.
    expected: RefCell<Vec<Expected>>,
    /// The rows of those reads in the open transaction, as long as nothing is written.
    early: RefCell<Vec<EarlyStatement>>,
    /// The tables are there.
    laid_out: bool,
    /// The number of commits that this process knows of; `None` after a failure.
    known: Cell<Option<i64>>,
    /// The number of commits in the open transaction.
    there: Cell<i64>,
}

/// A read that a transaction begins with: its key, the statement, its binds.
type Expected = (String, Rendered, Vec<Bind>);

/// The outcome of one.
struct EarlyStatement {
    key: String,
    binds: Vec<Bind>,
    rows: Vec<Row>,
    words: Vec<bool>,
}

/// Most reads that a transaction begins with.
const EXPECTED: usize = 16;

impl PgConnection {
    /// A connection to a database that may have no tables yet.
    pub fn new(address: Arc<Address>, session: Session) -> PgConnection {
        PgConnection {
            address,
            node: "".into(),
            laid_out: false,
            session: RefCell::new(Some(session)),
            patience: Cell::new(PATIENCE),
            until: Cell::new(None),
            open: Cell::new(false),
            changes: Cell::new(0),
            failure: RefCell::default(),
            expected: RefCell::default(),
            early: RefCell::default(),
            known: Cell::new(None),
            there: Cell::new(0),
        }
    }

    /// The writer's: other nodes hear of its commits.
    pub fn writing((address, node): (Arc<Address>, Arc<str>), session: Session, patience: Duration) -> PgConnection {
        PgConnection { node, laid_out: true, patience: Cell::new(patience), ..PgConnection::new(address, session) }
    }

    /// How long a transaction may take from now on, and a statement outside of one.
    pub fn patience(&self, patience: Duration) {
        self.patience.set(patience);
    }

    /// The connection. A broken one is replaced.
    fn session(&self) -> Result<Ref<'_, Session>> {
        let until = self.until.get().unwrap_or_else(|| Instant::now() + self.patience.get());
        let usable = self.session.borrow().as_ref().is_some_and(|session| !session.is_broken());
        if !usable {
            if self.open.get() {
                return Err(gone());
            }
            *self.session.borrow_mut() = None;
            // Behind another connection may be a server that lacks commits.
            self.known.set(None);
            let session = Session::connect(&self.address, Some(until))?;
            *self.session.borrow_mut() = Some(session);
        }
        let session = Ref::filter_map(self.session.borrow(), Option::as_ref).map_err(|_| gone())?;
        session.limit(Some(until));
        Ok(session)
    }

    /// The rows read when the transaction began.
    fn early(&self, key: &str, binds: &[Bind]) -> Option<FetchedRows> {
        let mut early = self.early.borrow_mut();
        let place = early.iter().position(|early| early.key == key && early.binds == binds)?;
        let EarlyStatement { rows, words, .. } = early.swap_remove(place);
        Some(FetchedRows { rows, words })
    }

    fn expect_one(&self, key: String, rendered: Rendered, binds: Vec<Bind>) {
        let mut expected = self.expected.borrow_mut();
        if expected.len() < EXPECTED {
            expected.push((key, rendered, binds));
        }
    }

    /// Something is written.
    fn changed(&self, rows: u64) {
        self.early.borrow_mut().clear();
        self.changes.set(self.changes.get() + rows);
    }

    fn prepared(&self, session: &Session, text: &str) -> Result<Arc<Prepared>> {
        session.prepared(text, &|| plain(text), None)
    }

    fn rows(&self, text: &str, lists: Vec<Vec<Bind>>) -> Result<Vec<Vec<Row>>> {
        let session = self.session()?;
        let prepared = self.prepared(&session, text)?;
        let found = session.query_each(&prepared, lists, None)?;
        found.iter().map(|rows| rows.iter().map(cells).collect()).collect()
    }

    fn begin_by(&self, text: &'static str) -> Result<()> {
        self.until.set(Some(Instant::now() + self.patience.get()));
        let begun = match self.try_begin(text) {
            // A connection that has waited may be dead.
            Err(error) if error.fault == Fault::Unavailable => {
                *self.session.borrow_mut() = None;
                self.try_begin(text)
            }
            begun => begun,
        };
        self.open.set(begun.is_ok());
        self.until.set(self.until.get().filter(|_| begun.is_ok()));
        begun
    }

    fn try_begin(&self, text: &'static str) -> Result<()> {
        let session = self.session()?;
        session.send_begin(text);
        session.send(&self.prepared(&session, LOCK)?, &[]);
        let mut asked = Vec::new();
        if self.laid_out {
            asked.push((self.prepared(&session, feed::NUMBER_OF_COMMITS)?, Vec::new()));
        }
        let expected = std::mem::take(&mut *self.expected.borrow_mut());
        let own = asked.len();
        for (key, rendered, binds) in &expected {
            let copy = || Rendered {
                text: rendered.text.clone(),
                order: rendered.order.clone(),
                words: rendered.words.clone(),
            };
            asked.push((session.prepared(key, &copy, None)?, binds.clone()));
        }
        let found = session.query_all(&asked, None)?;
        let mut early = Vec::with_capacity(expected.len());
        for ((key, rendered, binds), rows) in expected.into_iter().zip(found.iter().skip(own)) {
            let rows = rows.iter().map(cells).collect::<Result<_>>()?;
            early.push(EarlyStatement { key, binds, rows, words: rendered.words });
        }
        *self.early.borrow_mut() = early;
        let first = |rows: Option<&Vec<_>>| rows.and_then(|rows| rows.first()).map(cells).transpose();
        let commits = found.first().filter(|_| self.laid_out);
        self.there.set(first(commits)?.map_or(0, |row| crate::statement::int(&row, 0)));
        Ok(())
    }

    /// The outcome of a transaction whose COMMIT was not answered.
    fn outcome(&self, written: CommitIdentity, lost: DbError) -> Result<()> {
        let until = Instant::now() + ASKING;
        self.until.set(Some(until));
        loop {
            match self.was_committed(written) {
                Ok(true) => return Ok(()),
                Ok(false) => return Err(DbError { fault: Fault::Unavailable, cause: lost.cause }),
                Err(_) if Instant::now() < until => {
                    // Its transaction may have failed.
                    *self.session.borrow_mut() = None;
                    thread::sleep(Duration::from_millis(100));
                }
                Err(_) => {
                    let what = "the connection broke during a commit, and whether it was made is not known";
                    return Err(DbError { fault: Fault::Unknown, cause: format!("{what}: {lost}") });
                }
            }
        }
    }

    fn was_committed(&self, written: CommitIdentity) -> Result<bool> {
        let session = self.session()?;
        let (lock, find) = (self.prepared(&session, LOCK)?, self.prepared(&session, feed::FIND)?);
        session.batch(BEGIN_ASKING)?;
        // Before it is there, the transaction may still be on its way.
        session.query_all(&[(lock, Vec::new())], None)?;
        let values = [written.seq, written.commit as i64, written.node].map(|n| Bind::One(DbValue::Int(n)));
        let found = session.query_all(&[(find, values.to_vec())], None)?;
        session.batch("ROLLBACK")?;
        Ok(found.iter().any(|rows| !rows.is_empty()))
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of a secret.
fn bytes_of(name: &str, value: &str) -> Result<Vec<u8>> {
    let byte = |at| value.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
    let bytes: Option<Vec<u8>> = (0..value.len()).step_by(2).map(byte).collect();
    bytes.ok_or_else(|| DbError::other(format!("the secret {name} is damaged")))
}

fn gone() -> DbError {
    DbError { fault: Fault::Unavailable, cause: "the connection to the database was lost".into() }
}

fn value(param: &Param<'_>) -> DbValue {
    match *param {
        Param::Null => DbValue::Null,
        Param::Int(n) => DbValue::Int(n),
        Param::Real(n) => DbValue::Real(n),
        Param::Text(text) => DbValue::Text(text.into()),
    }
}

fn binds(params: &[Param<'_>]) -> Vec<Bind> {
    params.iter().map(|param| Bind::One(value(param))).collect()
}

/// An insertion of one row, as one of the rows that arrays of their values make.
fn of_arrays(text: &str, one: &Prepared) -> Rendered {
    let head = text.split_once("VALUES").map_or(text, |(head, _)| head);
    let array = |(place, ty): (usize, &str)| format!("?{}::{ty}[]", place + 1);
    let arrays: Vec<String> = one.types().enumerate().map(array).collect();
    plain(&format!("{head} SELECT * FROM unnest({})", arrays.join(", ")))
}

impl Statements for PgConnection {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn execute(&self, text: &str, params: &[Param<'_>]) -> Result<usize> {
        let session = self.session()?;
        let prepared = self.prepared(&session, text)?;
        let changed = session.execute(&prepared, &binds(params), None)? as usize;
        self.changed(changed as u64);
        Ok(changed)
    }

    fn send(&self, text: &str, params: &[Param<'_>]) -> Result<()> {
        if !self.open.get() {
            return self.execute(text, params).map(drop);
        }
        let session = self.session()?;
        let prepared = self.prepared(&session, text)?;
        session.send(&prepared, &binds(params));
        self.changed(1);
        Ok(())
    }

    /// All rows in one statement: arrays of the values of each column.
    fn send_each(&self, text: &str, rows: &[Vec<Param<'_>>]) -> Result<()> {
        let [_, _, ..] = rows else { return rows.iter().try_for_each(|row| self.send(text, row)) };
        let session = self.session()?;
        let one = self.prepared(&session, text)?;
        let key = format!("{text} FROM ARRAYS");
        let prepared = session.prepared(&key, &|| of_arrays(text, &one), None)?;
        let column = |place| Bind::List(rows.iter().map(|row| value(&row[place])).collect());
        let columns: Vec<Bind> = (0..prepared.rendered.order.len()).map(column).collect();
        session.send(&prepared, &columns);
        self.changed(rows.len() as u64);
        Ok(())
    }

    fn settle(&self) -> Result<()> {
        self.session()?.settle(None)
    }

    fn select(&self, text: &str, params: &[Param<'_>]) -> Result<Vec<Row>> {
        let binds = binds(params);
        if let Some(found) = self.early(text, &binds) {
            return Ok(found.rows);
        }
        Ok(self.rows(text, vec![binds])?.into_iter().next().unwrap_or_default())
    }

    fn select_each(&self, text: &str, params: &[Vec<Param<'_>>]) -> Result<Vec<Vec<Row>>> {
        if params.is_empty() {
            return Ok(Vec::new());
        }
        self.changed(1);
        self.rows(text, params.iter().map(|params| binds(params)).collect())
    }

    fn select_all(&self, statements: &[(&str, Vec<i64>)]) -> Result<Vec<Vec<Row>>> {
        let session = self.session()?;
        let asked = |(text, values): &(&str, Vec<i64>)| {
            let binds = values.iter().map(|n| Bind::One(DbValue::Int(*n))).collect();
            Ok((self.prepared(&session, text)?, binds))
        };
        let asked = statements.iter().map(asked).collect::<Result<Vec<_>>>()?;
        let found = session.query_all(&asked, None)?;
        found.iter().map(|rows| rows.iter().map(cells).collect()).collect()
    }

    fn batch(&self, text: &str) -> Result<()> {
        self.early.borrow_mut().clear();
        self.session()?.batch(text)
    }
}

impl Connection for PgConnection {
    fn reading<'r>(&'r self, words: &'r Words, catalogue: &'r Catalogue) -> Box<dyn Snapshot + 'r> {
        Box::new(SqlReads { executor: self as &dyn StatementRunner, names: Names { words, catalogue }, caching: None })
    }

    fn expect(&self, text: &str, params: &[Param<'_>]) {
        self.expect_one(text.to_owned(), plain(text), binds(params));
    }

    fn expect_rows(&self, plan: &ReadPlan, words: &Words, catalogue: &Catalogue) {
        // A mistake in the plan is reported when it is carried out.
        if let Ok(lowered) = lower(plan, ResultKind::Rows, catalogue, words) {
            self.expect_one(lowered.shape(), lowered.render(Dialect::Postgres), lowered.binds);
        }
    }

    fn failure(&self) -> Option<DbError> {
        self.failure.take()
    }

    fn begin(&self) -> Result<()> {
        self.begin_by(BEGIN)
    }

    fn begin_group(&self) -> Result<()> {
        self.begin_by(BEGIN_GROUP)
    }

    fn commit(&self, written: Option<CommitIdentity>) -> Result<()> {
        let session = self.session()?;
        if written.is_some() {
            let notify = self.prepared(&session, NOTIFY)?;
            session.send(&notify, &[Bind::One(DbValue::Text(self.node.clone()))]);
        }
        session.send_text("COMMIT");
        let committed = session.settle(None);
        drop(session);
        self.open.set(false);
        let committed = match (committed, written) {
            (Err(lost), Some(written)) if lost.fault == Fault::Unavailable => self.outcome(written, lost),
            (committed, _) => committed,
        };
        self.until.set(None);
        let there = written.map_or(self.there.get(), |written| written.commit as i64);
        self.known.set(committed.is_ok().then_some(there));
        committed
    }

    fn rollback(&self) {
        self.early.borrow_mut().clear();
        self.expected.borrow_mut().clear();
        self.open.set(false);
        self.known.set(None);
        let failed = self.session.borrow().as_ref().is_some_and(|session| {
            session.abandon();
            session.is_broken() || session.batch("ROLLBACK").is_err()
        });
        if failed {
            *self.session.borrow_mut() = None;
        }
        self.until.set(None);
    }

    fn in_transaction(&self) -> bool {
        self.open.get() && self.session.borrow().as_ref().is_some_and(|session| !session.is_broken())
    }

    fn survives_failure(&self) -> bool {
        false
    }

    fn changes(&self) -> u64 {
        self.changes.get()
    }

    fn others_wrote(&self) -> Result<bool> {
        Ok(self.known.get() != Some(self.there.get()))
    }

    fn secret(&self, name: &str, len: usize) -> Result<Vec<u8>> {
        let select = "SELECT value FROM secret WHERE name = ?1";
        let stored = || self.text(select, crate::statement::params![name]);
        let value = match stored()? {
            Some(value) => value,
            None => {
                let value: Vec<u8> = std::iter::repeat_with(rand::random).take(len).collect();
                let insert = "INSERT INTO secret (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING";
                self.execute(insert, crate::statement::params![name, &hexadecimal(&value)])?;
                // Another process may have created one meanwhile; then that one is used.
                stored()?.ok_or_else(|| DbError::other("a secret was not stored"))?
            }
        };
        bytes_of(name, &value)
    }

    fn begin_reading(&self) -> Result<()> {
        self.batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
        self.open.set(true);
        Ok(())
    }

    fn gather_statistics(&self) -> Result<()> {
        self.batch(STATISTICS)
    }

    fn secrets(&self) -> Result<Vec<(Arc<str>, Vec<u8>)>> {
        let rows = self.select("SELECT name, value FROM secret ORDER BY name", &[])?;
        let text = |row: &Row, place| crate::statement::text_at(row, place).unwrap_or_default();
        rows.iter().map(|row| Ok((text(row, 0), bytes_of(&text(row, 0), &text(row, 1))?))).collect()
    }

    fn put_secret(&self, name: &str, value: &[u8]) -> Result<()> {
        let insert = "INSERT INTO secret (name, value) VALUES (?1, ?2)";
        self.execute(insert, crate::statement::params![name, &hexadecimal(value)]).map(drop)
    }

    fn close(&self) -> Result<()> {
        *self.session.borrow_mut() = None;
        Ok(())
    }
}

impl StatementRunner for PgConnection {
    /// A read that has a deadline may be ended by it, and the transaction goes on.
    fn run(&self, key: &str, make: &dyn Fn() -> Rendered, binds: &[Bind]) -> Result<FetchedRows> {
        if let Some(found) = self.early(key, binds) {
            return Ok(found);
        }
        let session = self.session()?;
        if budget::deadline().is_none() {
            let found = run_on(&session, key, make, binds);
            self.failure.replace(found.as_ref().err().cloned());
            return found;
        }
        session.send_text("SAVEPOINT a_read");
        let found = run_on(&session, key, make, binds);
        if let Err(error) = &found {
            if error.fault == Fault::TimedOut {
                session.recover();
            }
            session.abandon();
            session.batch("ROLLBACK TO a_read; RELEASE a_read")?;
        } else {
            session.send_text("RELEASE a_read");
        }
        found
    }
}
