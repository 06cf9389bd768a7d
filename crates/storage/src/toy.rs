//! A toy engine, made by following `docs/storage-engine.md`: everything is in memory, and gone with it.
//!
//! The writer has a database in the memory of its own connection. After each commit it publishes a copy, so that readers
//! never wait for it and see nothing that is not committed.

use super::budget;
use super::catalogue::Catalogue;
use super::common::Common;
use super::connection::Connection;
use super::engine::StorageEngine;
use super::feed::CommitIdentity;
use super::layout_table::{keep, kept};
use super::migrate::{self, Described, ExistingColumn, Extent, META_VERSION, Schema, type_mark};
use super::pin;
use super::plan::{ColumnType, DbValue, Layout, Row};
use super::queue::Queue;
use super::sql::{Bind, Lowered};
use super::sql_reads::{Executor, Names, ReadTexts, SqlReads, read_texts};
use super::sqlite::register_functions;
use super::statement::{Dialect, Param, Result, Statements, int, params, text_at};
use super::versions;
use super::words::Words;
use crate::dependencies::Dependencies;
use crate::error::StorageError;
use crate::feed::FeedRetention;
use crate::snapshot::{ReadRequest, ReadResult, Snapshot};
use arc_swap::ArcSwapOption;
use rusqlite::ToSql;
use rusqlite::types::{Value, ValueRef};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

// ------------------------------------------------------------------------------------------------ statements

fn value(value: &DbValue) -> Value {
    match value {
        DbValue::Null => Value::Null,
        DbValue::Int(n) => Value::Integer(*n),
        DbValue::Real(n) => Value::Real(*n),
        DbValue::Text(text) => Value::Text(text.to_string()),
    }
}

fn bound(bind: &Bind) -> Box<dyn ToSql> {
    match bind {
        Bind::One(one) => Box::new(value(one)),
        Bind::List(values) | Bind::Members(values) => Box::new(Rc::new(values.iter().map(value).collect::<Vec<_>>())),
    }
}

/// The rows that a statement gives.
fn run<P: ToSql>(conn: &rusqlite::Connection, text: &str, params: impl IntoIterator<Item = P>) -> Result<Vec<Row>> {
    let mut statement = conn.prepare_cached(text)?;
    let width = statement.column_count();
    let mut rows = statement.query(rusqlite::params_from_iter(params))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let cell = |at| -> rusqlite::Result<DbValue> {
            Ok(match row.get_ref(at)? {
                ValueRef::Null => DbValue::Null,
                ValueRef::Integer(n) => DbValue::Int(n),
                ValueRef::Real(n) => DbValue::Real(n),
                ValueRef::Text(text) | ValueRef::Blob(text) => DbValue::Text(String::from_utf8_lossy(text).into()),
            })
        };
        found.push((0..width).map(cell).collect::<rusqlite::Result<Row>>()?);
    }
    Ok(found)
}

/// Sets a new connection up.
fn prepare(conn: &mut rusqlite::Connection) -> rusqlite::Result<()> {
    conn.progress_handler(1000, Some(budget::is_spent))?;
    register_functions(conn)
}

// ------------------------------------------------------------------------------------------------ writing

/// The state that the last commit left, for readers.
type NewestState = Arc<ArcSwapOption<Mutex<rusqlite::Connection>>>;

/// The writer's connection.
struct ToyConnection {
    conn: rusqlite::Connection,
    newest: NewestState,
    secrets: RefCell<BTreeMap<Arc<str>, Vec<u8>>>,
    /// Whether the writer's memory is that of the database.
    is_known: Cell<bool>,
}

impl ToyConnection {
    fn new() -> Result<ToyConnection> {
        let mut conn = rusqlite::Connection::open_in_memory()?;
        prepare(&mut conn)?;
        let (newest, secrets, is_known) = (NewestState::default(), RefCell::default(), Cell::new(false));
        Ok(ToyConnection { conn, newest, secrets, is_known })
    }

    /// Copies what is committed for the readers.
    fn publish(&self) -> Result<()> {
        static COPIES: AtomicU64 = AtomicU64::new(0);
        let name = format!("file:/toy-{}?vfs=memdb", COPIES.fetch_add(1, Ordering::Relaxed));
        let mut copy = rusqlite::Connection::open(&name)?;
        prepare(&mut copy)?;
        self.conn.execute("VACUUM INTO ?1", [name])?;
        self.newest.store(Some(Arc::new(Mutex::new(copy))));
        Ok(())
    }
}

impl Statements for ToyConnection {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn execute(&self, text: &str, params: &[Param<'_>]) -> Result<usize> {
        Ok(self.conn.prepare_cached(text)?.execute(rusqlite::params_from_iter(params))?)
    }

    fn select(&self, text: &str, params: &[Param<'_>]) -> Result<Vec<Row>> {
        run(&self.conn, text, params)
    }

    fn batch(&self, text: &str) -> Result<()> {
        Ok(self.conn.execute_batch(text)?)
    }
}

impl Connection for ToyConnection {
    fn reading<'r>(&'r self, words: &'r Words, catalogue: &'r Catalogue) -> Box<dyn Snapshot + 'r> {
        Box::new(SqlReads { executor: ToyReads(&self.conn), names: Names { words, catalogue }, caching: None })
    }

    fn begin(&self) -> Result<()> {
        self.batch("BEGIN")
    }

    fn commit(&self, _: Option<CommitIdentity>) -> Result<()> {
        self.batch("COMMIT")?;
        self.publish()
    }

    fn rollback(&self) {
        self.is_known.set(false);
        if self.in_transaction() {
            // A failure shows when the next one begins.
            let _ = self.batch("ROLLBACK");
        }
    }

    fn in_transaction(&self) -> bool {
        !self.conn.is_autocommit()
    }

    fn survives_failure(&self) -> bool {
        true
    }

    fn changes(&self) -> u64 {
        self.conn.total_changes()
    }

    /// There are no other processes.
    fn others_wrote(&self) -> Result<bool> {
        Ok(!self.is_known.replace(true))
    }

    fn secret(&self, name: &str, len: usize) -> Result<Vec<u8>> {
        let made = || std::iter::repeat_with(rand::random).take(len).collect();
        Ok(self.secrets.borrow_mut().entry(name.into()).or_insert_with(made).clone())
    }

    fn begin_reading(&self) -> Result<()> {
        self.begin()
    }

    fn secrets(&self) -> Result<Vec<(Arc<str>, Vec<u8>)>> {
        Ok(self.secrets.borrow().clone().into_iter().collect())
    }

    fn put_secret(&self, name: &str, value: &[u8]) -> Result<()> {
        self.secrets.borrow_mut().insert(name.into(), value.to_vec());
        Ok(())
    }

    fn close(&self) -> Result<()> {
        Ok(())
    }
}

// ------------------------------------------------------------------------------------------------ tables

impl Schema for ToyConnection {
    fn has_table(&self, name: &str) -> Result<bool> {
        self.exists("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1", params![name])
    }

    fn columns(&self, table: &str) -> Result<Vec<ExistingColumn>> {
        let rows = self.select("SELECT name, type, dflt_value, pk FROM pragma_table_info(?1)", params![table])?;
        Ok(rows.iter().map(ExistingColumn::of_row).collect())
    }

    fn indexes(&self, table: &str) -> Result<Vec<Described>> {
        let names = "SELECT name, \"unique\", partial FROM pragma_index_list(?1) WHERE origin = 'c'";
        let columns = "SELECT name, \"desc\" FROM pragma_index_xinfo(?1) WHERE key = 1 ORDER BY seqno";
        let text = |row: &Row| text_at(row, 0).unwrap_or_default().to_string();
        let index = |row: &Row| {
            let columns = self.select(columns, params![&text(row)])?;
            let columns = columns.iter().map(|row| (text(row), int(row, 1) > 0)).collect();
            Ok(Described { name: text(row), columns, unique: int(row, 1) > 0, partial: int(row, 2) > 0 })
        };
        self.select(names, params![table])?.iter().map(index).collect()
    }

    fn companion_tables(&self) -> &'static str {
        super::companions::companion_tables! {
            int: "INTEGER", text: "TEXT", name: "TEXT", bytes: "BLOB", copied: "", nulls: "", end: "", often: ""
        }
    }

    fn sql_type(&self, ty: ColumnType) -> &'static str {
        type_mark(ty)
    }

    fn version(&self) -> Result<i64> {
        Ok(kept(self, "version")?.and_then(|text| text.parse().ok()).unwrap_or(META_VERSION))
    }

    fn sign(&self) -> Result<()> {
        keep(self, "version", &META_VERSION.to_string())
    }
}

// ------------------------------------------------------------------------------------------------ reading

/// Carries out statements that read.
struct ToyReads<'r>(&'r rusqlite::Connection);

impl ToyReads<'_> {
    fn run(&self, lowered: &Lowered<'_>) -> Result<(Vec<Row>, Box<[bool]>)> {
        let rendered = lowered.render(Dialect::Sqlite);
        let rows = run(self.0, &rendered.text, rendered.order.iter().map(|place| bound(&lowered.binds[*place])))?;
        Ok((rows, rendered.words.iter().copied().collect()))
    }
}

impl Executor for ToyReads<'_> {
    type Row<'r> = Row;

    const TEXTS: ReadTexts =
        read_texts!("IN (SELECT value FROM rarray(?1))", "IN (SELECT value FROM rarray(?2))", "GROUP BY \"of\"");

    const NAMES_INDEXES: bool = false;

    fn rows(&self, lowered: &Lowered<'_>, words: &Words) -> std::result::Result<Vec<Row>, StorageError> {
        let (rows, are_words) = self.run(lowered)?;
        self.name_words(rows, &are_words, words)
    }

    fn number(&self, lowered: &Lowered<'_>) -> std::result::Result<u64, StorageError> {
        Ok(self.run(lowered)?.0.first().map_or(0, |row| int(row, 0).max(0) as u64))
    }

    fn select<T>(
        &self,
        text: &'static str,
        binds: &[Bind],
        decode: impl FnMut(&Row) -> std::result::Result<T, StorageError>,
    ) -> std::result::Result<Vec<T>, StorageError> {
        run(self.0, text, binds.iter().map(bound))?.iter().map(decode).collect()
    }
}

/// The state that the snapshots of a thread share.
struct SharedState {
    conn: Arc<Mutex<rusqlite::Connection>>,
    /// [`Versions::settled`](versions::Versions::settled) before it was taken.
    rising: u64,
}

thread_local! {
    static OPEN: RefCell<Vec<(u64, Rc<SharedState>)>> = const { RefCell::new(Vec::new()) };
}

/// Lets go of the states that no snapshot has and that are not pinned.
fn settle() {
    if !pin::is_pinned() {
        // At the end of a thread they are gone already.
        let _ = OPEN.try_with(|open| open.borrow_mut().retain(|(_, state)| Rc::strong_count(state) > 1));
    }
}

/// Settles when it is dropped.
struct SettleOnDrop;

impl Drop for SettleOnDrop {
    fn drop(&mut self) {
        settle();
    }
}

/// A snapshot.
struct ToySnapshot<'s> {
    common: &'s Common,
    words: Arc<Words>,
    state: Rc<SharedState>,
    /// After the state, in the order in which fields are dropped.
    _settle: SettleOnDrop,
}

impl Snapshot for ToySnapshot<'_> {
    fn read(&self, request: ReadRequest<'_>) -> std::result::Result<ReadResult, StorageError> {
        let conn = self.state.conn.lock().unwrap_or_else(PoisonError::into_inner);
        let names = Names { words: &self.words, catalogue: &self.common.catalogue };
        SqlReads { executor: ToyReads(&conn), names, caching: None }.read(request)
    }

    fn dependencies(&self, request: ReadRequest<'_>, result: &ReadResult) -> Option<Dependencies> {
        super::observe::of(request, result, &self.common.catalogue, &self.words)
    }

    fn is_newest(&self) -> bool {
        self.common.versions.rising() == self.state.rising
    }
}

// ------------------------------------------------------------------------------------------------ the engine

/// A database in memory.
pub struct Toy {
    /// Distinguishes databases that one thread reads.
    id: u64,
    newest: NewestState,
    queue: Queue,
}

impl Toy {
    /// A new one with the tables of a layout.
    pub fn open(layout: &Layout) -> std::result::Result<Toy, StorageError> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(0);
        let (catalogue, conn) = (Catalogue::new(layout)?, ToyConnection::new()?);
        migrate::migrate(&conn, &catalogue, layout, Extent::Apply { drops: &[] }, &mut || Ok(()))?;
        let (words, versions) = (Words::load(&conn)?, versions::load(&conn)?);
        let limits = (Duration::from_secs(10), FeedRetention::default());
        let common = Arc::new(Common::new(catalogue, words, versions, limits));
        let newest = conn.newest.clone();
        let queue = Queue::start(common, 100, move || Box::new(conn));
        let queue = queue.map_err(|error| StorageError::Failed(error.to_string()))?;
        Ok(Toy { id: NEXT_ID.fetch_add(1, Ordering::Relaxed), newest, queue })
    }
}

impl StorageEngine for Toy {
    const SETTLE: fn() = settle;

    fn queue(&self) -> &Queue {
        &self.queue
    }

    fn view(&self) -> std::result::Result<Box<dyn Snapshot + '_>, StorageError> {
        let common = &*self.queue.common;
        let none = || StorageError::Failed("nothing was committed".into());
        let state = OPEN.with_borrow_mut(|open| {
            if let Some((_, state)) = open.iter().find(|(id, _)| *id == self.id) {
                return Ok::<_, StorageError>(state.clone());
            }
            // Before the state: versions that rise between the two make it look old, never new.
            let rising = common.versions.settled();
            let state = Rc::new(SharedState { conn: self.newest.load_full().ok_or_else(none)?, rising });
            open.push((self.id, state.clone()));
            Ok(state)
        })?;
        Ok(Box::new(ToySnapshot { common, words: common.words.load_full(), state, _settle: SettleOnDrop }))
    }
}
