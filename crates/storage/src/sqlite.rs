//! SQLite as a [`Storage`]: one file, one writer thread, one read-only connection for each reading thread.
//!
//! The file is in WAL mode, so that readers never wait for the writer; a commit is reported when it is on disk.

pub mod backup;
mod checkpoint;
mod connect;
mod connection;
mod functions;
mod neighbour;
mod open;
#[cfg(test)]
mod query_plans;
mod reader;
mod reads;
mod schema;
mod search;
mod segments;
mod shared;
mod statement_cache;
mod statements;
mod statistics;
#[cfg(test)]
mod tests;
mod values;

pub(super) use connection::SqliteConnection;
#[cfg(test)]
pub(super) use functions::register as register_functions;
pub use neighbour::{Claim, Neighbour, StartLock};
pub use open::OpenOptions;
pub use reader::{end_idle_transactions, reuse_transactions};
use shared::SqliteShared;

use super::engine::StorageEngine;
use super::migrate::{Extent, PendingChange};
use super::plan::Layout;
use super::queue::Queue;
use crate::error::StorageError;
use crate::opening::{Migrated, OpenError};
use crate::snapshot::Snapshot;
use cms_base::metrics::Reading;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A database in a file. Dropping it waits until the writer has carried out what is queued.
pub struct Sqlite {
    shared: Arc<SqliteShared>,
    queue: Queue,
    applied: Vec<PendingChange>,
    copied: Option<PathBuf>,
}

/// See [`Sqlite::recover`]. (The last connection to a file takes the log away.)
pub struct Recovered {
    _connection: Option<Connection>,
}

impl Sqlite {
    /// Reads what a crash left in the log of a file, so that opening it while the outcome lives does not wait for
    /// that. Errors are reported by [`Sqlite::open`].
    pub fn recover(path: &Path) -> Recovered {
        Recovered { _connection: connect::recover(path).ok() }
    }

    /// Opens the file, creating it if there is none, and brings it to the layout.
    pub fn open(options: OpenOptions, layout: &Layout) -> Result<Sqlite, OpenError> {
        let opened = open::open(&options, layout)?;
        let shared = Arc::new(opened.shared);
        let (writing, connection) = (shared.clone(), opened.connection);
        let queue = Queue::start(shared.common.clone(), options.queue, move || {
            Box::new(SqliteConnection::writing(connection, &writing))
        });
        let queue = queue.map_err(|e| OpenError::Other { path: options.path.clone(), cause: e.to_string() })?;
        Ok(Sqlite { shared, queue, applied: opened.applied, copied: opened.copied })
    }

    /// The changes that bring a file to a layout, the refused ones among them; nothing is changed. A server may use the
    /// file meanwhile; its writes wait.
    ///
    /// # Errors
    /// The file cannot be opened or written.
    pub fn rehearse(path: &Path, layout: &Layout) -> Result<Vec<PendingChange>, OpenError> {
        open::migrated(path, layout, Extent::Rehearse, false).map(|rehearsed| rehearsed.changes)
    }

    /// Brings a file to a layout and deletes the values of `drops` (tables, and columns as `table.column`) where they
    /// stand in the way. With `copy` a file that has to be changed is copied before. No server may use the file.
    ///
    /// # Errors
    /// The file cannot be opened or written; a change would lose values that are not in `drops`.
    pub fn migrate(path: &Path, layout: &Layout, drops: &[String], copy: bool) -> Result<Migrated, OpenError> {
        open::migrated(path, layout, Extent::Apply { drops }, copy)
    }

    /// The changes that [`Sqlite::open`] made to an existing file.
    pub fn applied(&self) -> &[PendingChange] {
        &self.applied
    }

    /// The copy of an existing file from before [`Sqlite::open`] changed it.
    pub fn copied(&self) -> Option<&Path> {
        self.copied.as_deref()
    }

    /// How many statements the current thread has read with so far. Tests assert differences.
    pub fn queries() -> u64 {
        statements::queries()
    }

    /// How many bytes of text the current thread has read in rows so far. Tests assert differences.
    pub fn text_read() -> u64 {
        statements::text_read()
    }

    /// How many instructions of SQLite the reads of the current thread have taken so far. Tests assert differences.
    pub fn steps() -> u64 {
        statements::steps()
    }
}

impl StorageEngine for Sqlite {
    const SETTLE: fn() = reader::settle;

    fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Opening a snapshot takes over the versions that others have raised.
    fn view(&self) -> Result<Box<dyn Snapshot + '_>, StorageError> {
        Ok(Box::new(reader::SqliteSnapshot::begin(&self.shared)?))
    }

    fn count_rows(&self) -> Result<(), StorageError> {
        let conn = connect::checkpointing(&self.shared.path, &self.shared.settings)?;
        statistics::prepare(&conn)?;
        Ok(statistics::renew(&conn)?)
    }

    fn own_readings(&self) -> Vec<Reading> {
        let bytes = |end: &str| {
            let mut path = self.shared.path.clone().into_os_string();
            path.push(end);
            std::fs::metadata(path).map_or(0, |file| file.len()) as f64
        };
        vec![
            Reading::gauge("cms_server_database_bytes", &[], bytes("")),
            Reading::gauge("cms_server_database_log_bytes", &[], bytes("-wal")),
        ]
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.queue.finish();
        reader::forget(self.shared.id);
    }
}
