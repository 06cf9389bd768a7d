//! SQLite's connection that writes and migrates.

use super::super::catalogue::Catalogue;
use super::super::connection::Connection;
use super::super::feed::Written;
use super::super::plan::{DbValue, Row};
use super::super::sql_reads::{Names, SqlReads};
use super::super::statement::{DbError, Dialect, Fault, Param, Result, Statements};
use super::super::words::Words;
use super::checkpoint::{self, Checkpoints};
use super::reader::ConnectionReads;
use super::shared::Shared;
use super::statement_cache::StatementCache;
use super::{search, statistics};
use crate::snapshot::Snapshot;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ErrorCode, OptionalExtension, Statement, ToSql};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// See the module.
pub struct SqliteConnection {
    conn: rusqlite::Connection,
    shapes: StatementCache,
    frequent: search::FrequentTexts,
    data_version: Cell<i64>,
    checkpoints: RefCell<Option<Checkpoints>>,
}

impl SqliteConnection {
    /// Around a connection that nobody else uses.
    pub fn new(conn: rusqlite::Connection) -> SqliteConnection {
        SqliteConnection {
            conn,
            shapes: StatementCache::default(),
            frequent: search::FrequentTexts::default(),
            data_version: Cell::new(i64::MIN),
            checkpoints: RefCell::default(),
        }
    }

    /// The writer's: it also moves the log into the file.
    pub fn writing(mut conn: rusqlite::Connection, shared: &Shared) -> SqliteConnection {
        let checkpoints = Checkpoints::start(&mut conn, shared);
        SqliteConnection { checkpoints: RefCell::new(checkpoints), ..SqliteConnection::new(conn) }
    }

    /// The connection itself.
    pub fn inner(&self) -> &rusqlite::Connection {
        &self.conn
    }

    /// The connection, which others use from here on.
    pub fn into_inner(self) -> rusqlite::Connection {
        self.conn
    }

    fn run(&self, text: &str) -> rusqlite::Result<usize> {
        self.conn.prepare_cached(text)?.execute([])
    }
}

impl From<rusqlite::Error> for DbError {
    fn from(error: rusqlite::Error) -> DbError {
        let fault = match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) => Fault::Duplicate(column_of(&error)),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Fault::Locked,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => Fault::ReadOnly,
            Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => Fault::Unavailable,
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Fault::Damaged,
            // Only the progress handler interrupts.
            Some(ErrorCode::OperationInterrupted) => Fault::TimedOut,
            Some(ErrorCode::Unknown) if lacks_table(&error.to_string()) => Fault::Outdated,
            _ => Fault::Other,
        };
        DbError { fault, cause: error.to_string() }
    }
}

/// Whether SQLite names a table or column that is not there; it has no code for that.
fn lacks_table(cause: &str) -> bool {
    ["no such table", "no such column", "has no column named"].iter().any(|text| cause.contains(text))
}

/// The first column, `table.column`, of the index that refused a row.
fn column_of(error: &rusqlite::Error) -> Option<Arc<str>> {
    let rusqlite::Error::SqliteFailure(_, Some(message)) = error else { return None };
    Some(message.strip_prefix("UNIQUE constraint failed: ")?.split(',').next()?.into())
}

impl ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Param::Null => ValueRef::Null,
            Param::Int(n) => ValueRef::Integer(*n),
            Param::Real(n) => ValueRef::Real(*n),
            Param::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

fn bind(statement: &mut Statement<'_>, params: &[Param<'_>]) -> rusqlite::Result<()> {
    params.iter().enumerate().try_for_each(|(place, value)| statement.raw_bind_parameter(place + 1, value))
}

/// The rows that a statement gives.
pub fn select(conn: &rusqlite::Connection, text: &str, params: &[Param<'_>]) -> rusqlite::Result<Vec<Row>> {
    let mut statement = conn.prepare_cached(text)?;
    let width = statement.column_count();
    bind(&mut statement, params)?;
    let mut rows = statement.raw_query();
    let mut found = Vec::new();
    while let Some(found_row) = rows.next()? {
        found.push((0..width).map(|at| found_row.get_ref(at).map(raw)).collect::<rusqlite::Result<Row>>()?);
    }
    Ok(found)
}

/// A stored value, words as their numbers.
fn raw(value: ValueRef<'_>) -> DbValue {
    match value {
        ValueRef::Null => DbValue::Null,
        ValueRef::Integer(n) => DbValue::Int(n),
        ValueRef::Real(n) => DbValue::Real(n),
        ValueRef::Text(text) | ValueRef::Blob(text) => DbValue::Text(String::from_utf8_lossy(text).into()),
    }
}

impl Statements for SqliteConnection {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn execute(&self, text: &str, params: &[Param<'_>]) -> Result<usize> {
        let mut statement = self.conn.prepare_cached(text)?;
        bind(&mut statement, params)?;
        Ok(statement.raw_execute()?)
    }

    fn select(&self, text: &str, params: &[Param<'_>]) -> Result<Vec<Row>> {
        Ok(select(&self.conn, text, params)?)
    }

    fn batch(&self, text: &str) -> Result<()> {
        Ok(self.conn.execute_batch(text)?)
    }
}

impl Connection for SqliteConnection {
    fn reading<'r>(&'r self, words: &'r Words, catalogue: &'r Catalogue) -> Box<dyn Snapshot + 'r> {
        let SqliteConnection { conn, shapes, frequent, .. } = self;
        Box::new(SqlReads { executor: ConnectionReads { conn, shapes, frequent }, names: Names { words, catalogue } })
    }

    fn begin(&self) -> Result<()> {
        Ok(self.run("BEGIN IMMEDIATE").map(drop)?)
    }

    fn commit(&self, _: Option<Written>) -> Result<()> {
        Ok(self.run("COMMIT").map(drop)?)
    }

    fn rollback(&self) {
        if !self.conn.is_autocommit() {
            // Nothing more can be done here; the next group fails on BEGIN and reports why.
            let _ = self.conn.execute_batch("ROLLBACK");
        }
        self.data_version.set(i64::MIN);
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

    fn others_wrote(&self) -> Result<bool> {
        let version: i64 = self.conn.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        Ok(self.data_version.replace(version) != version)
    }

    fn leave_for_search(&self, table: i64, id: i64) -> Result<bool> {
        self.execute(search::NOTE, crate::statement::params![table, id])?;
        Ok(true)
    }

    fn take_in(&self, catalogue: &Catalogue) -> bool {
        let taken = self.run("BEGIN IMMEDIATE").map_err(DbError::from).and_then(|_| {
            let words = Words::load(self)?;
            let taken = search::take_in(&self.conn, catalogue, &words, search::TAKEN_IN)?;
            self.run("COMMIT")?;
            Ok(taken)
        });
        if taken.is_err() && !self.conn.is_autocommit() {
            // Nothing more can be done here; the next group fails on BEGIN and reports why.
            let _ = self.conn.execute_batch("ROLLBACK");
        }
        taken.is_ok_and(|taken| taken as i64 >= search::TAKEN_IN)
    }

    fn secret(&self, name: &str, len: usize) -> Result<Vec<u8>> {
        let mut select = self.conn.prepare_cached("SELECT value FROM secret WHERE name = ?1")?;
        if let Some(value) = select.query_row([name], |row| row.get(0)).optional()? {
            return Ok(value);
        }
        let value: Vec<u8> = std::iter::repeat_with(rand::random).take(len).collect();
        // Another process may have created one meanwhile; then that one is used.
        let text = "INSERT INTO secret (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING";
        self.conn.prepare_cached(text)?.execute((name, value))?;
        Ok(select.query_row([name], |row| row.get(0))?)
    }

    fn begin_reading(&self) -> Result<()> {
        Ok(self.run("BEGIN").map(drop)?)
    }

    fn secrets(&self) -> Result<Vec<(Arc<str>, Vec<u8>)>> {
        let mut select = self.conn.prepare("SELECT name, value FROM secret ORDER BY name")?;
        let rows = select.query_map([], |row| Ok((row.get::<_, String>(0)?.into(), row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn put_secret(&self, name: &str, value: &[u8]) -> Result<()> {
        self.conn.prepare_cached("INSERT INTO secret (name, value) VALUES (?1, ?2)")?.execute((name, value))?;
        Ok(())
    }

    fn gather_statistics(&self) -> Result<()> {
        statistics::prepare(&self.conn)?;
        Ok(statistics::renew(&self.conn)?)
    }

    fn rest(&self) {
        if let Some(checkpoints) = &*self.checkpoints.borrow() {
            checkpoints.committed(&self.conn);
        }
    }

    fn close(&self) -> Result<()> {
        // Its thread holds the log meanwhile.
        drop(self.checkpoints.take());
        Ok(checkpoint::empty(&self.conn)?)
    }
}
