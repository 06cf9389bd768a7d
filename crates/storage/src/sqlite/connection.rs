//! SQLite's connection that writes and migrates.

use super::super::catalogue::Catalogue;
use super::super::connection::Connection;
use super::super::feed::CommitIdentity;
use super::super::plan::Row;
use super::super::sql_reads::{Names, SqlReads};
use super::super::statement::{DbError, Dialect, Fault, Param, Result, Statements};
use super::super::words::Words;
use super::checkpoint::{self, Checkpoints};
use super::connect::{self, ConnectionSettings};
use super::reads::ConnectionReads;
use super::segments::SegmentMerges;
use super::shared::SqliteShared;
use super::statement_cache::StatementCache;
use super::statements::{bind, select};
use super::{search, statistics};
use crate::opening::OpenError;
use crate::snapshot::Snapshot;
use rusqlite::OptionalExtension;
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::Arc;

/// See the module.
pub struct SqliteConnection {
    conn: rusqlite::Connection,
    shapes: StatementCache,
    frequent: search::FrequentTexts,
    merges: SegmentMerges,
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
            merges: SegmentMerges::default(),
            data_version: Cell::new(i64::MIN),
            checkpoints: RefCell::default(),
        }
    }

    /// The writer's: it also moves the log into the file.
    pub fn writing(mut conn: rusqlite::Connection, shared: &SqliteShared) -> SqliteConnection {
        let checkpoints = Checkpoints::start(&mut conn, shared);
        SqliteConnection { checkpoints: RefCell::new(checkpoints), ..SqliteConnection::new(conn) }
    }

    /// To a file that is written, and made if there is none.
    pub fn open(path: &Path) -> std::result::Result<SqliteConnection, OpenError> {
        connect::in_its_folder(path, &ConnectionSettings::default()).map(SqliteConnection::new)
    }

    /// To a file of ours that is only read.
    pub fn examining(path: &Path) -> std::result::Result<SqliteConnection, OpenError> {
        connect::examining(path).map(SqliteConnection::new)
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
        Box::new(SqlReads {
            executor: ConnectionReads { conn, shapes, frequent },
            names: Names { words, catalogue },
            caching: None,
        })
    }

    fn begin(&self) -> Result<()> {
        Ok(self.run("BEGIN IMMEDIATE").map(drop)?)
    }

    fn commit(&self, _: Option<CommitIdentity>) -> Result<()> {
        self.run("COMMIT").map(drop).map_err(|error| {
            // A commit that the disk has not confirmed may be in the log when that is read again.
            let unconfirmed = |inner: &rusqlite::ffi::Error| inner.extended_code == rusqlite::ffi::SQLITE_IOERR_FSYNC;
            match error.sqlite_error().is_some_and(unconfirmed) {
                true => DbError { fault: Fault::Unknown, cause: error.to_string() },
                false => error.into(),
            }
        })
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
        let more = self.run("BEGIN IMMEDIATE").map_err(DbError::from).and_then(|_| {
            let words = Words::load(self)?;
            let taken = search::take_in(&self.conn, catalogue, &words, search::TAKEN_IN)?;
            self.merges.took(taken);
            let more = taken as i64 >= search::TAKEN_IN || self.merges.turn(&self.conn, catalogue)?;
            self.run("COMMIT")?;
            Ok(more)
        });
        if more.is_err() && !self.conn.is_autocommit() {
            // Nothing more can be done here; the next group fails on BEGIN and reports why.
            let _ = self.conn.execute_batch("ROLLBACK");
        }
        more.unwrap_or(false)
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
