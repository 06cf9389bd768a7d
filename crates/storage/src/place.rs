//! Where a database is, and what can be done with one that this process does not serve.

use super::catalogue::Catalogue;
use super::copy::{self, Copied};
use super::migrate::{self, PendingChange, Schema};
use super::opening::{DatabaseOptions, Migrated, OpenError, OpenedDatabase};
use super::plan::Layout;
use super::server::{self, DatabaseServer};
use super::sqlite::{OpenOptions, Sqlite, SqliteConnection, StartLock, backup};
use crate::database::Database;
use crate::error::StorageError;
use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Bytes of a file that are mapped for a command.
const MAPPED_BRIEFLY: u64 = 16 << 20;

/// Values of a column that are listed as contradictions.
const CONTRADICTIONS: usize = 20;

/// A database's address.
#[derive(Clone, Debug)]
pub enum Place {
    /// A file of SQLite.
    File(PathBuf),
    /// A schema on a PostgreSQL server.
    Server(String),
}

/// How long a process waits for others that start over the same database.
const STARTING: Duration = Duration::from_secs(120);

/// No other process starts over a database: see [`Place::start`].
pub struct StartTurn {
    _held: Option<Box<dyn Any>>,
}

/// Why a database was not copied.
#[derive(Debug)]
pub enum CopyError {
    Open(OpenError),
    Copy(StorageError),
}

impl From<OpenError> for CopyError {
    fn from(error: OpenError) -> CopyError {
        CopyError::Open(error)
    }
}

impl From<StorageError> for CopyError {
    fn from(error: StorageError) -> CopyError {
        CopyError::Copy(error)
    }
}

impl Place {
    /// The place that `storage.url` names.
    pub fn of(url: &str) -> Option<Place> {
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return Some(Place::Server(url.to_owned()));
        }
        let file = url.strip_prefix("sqlite:")?.trim_start_matches("//");
        (!file.is_empty()).then(|| Place::File(file.into()))
    }

    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Place::File(path) => Some(path),
            Place::Server(_) => None,
        }
    }

    /// The address as people may see it.
    pub fn shown(&self) -> String {
        match self {
            Place::File(path) => path.display().to_string(),
            Place::Server(url) => server::shown(url),
        }
    }

    /// The base of the names of the site's files.
    pub fn base(&self) -> PathBuf {
        match self {
            Place::File(path) => path.clone(),
            Place::Server(url) => server::name(url).into(),
        }
    }

    /// Waits until no other process starts over it, and lets none until the outcome is dropped: what a new database gets is
    /// made by one of those that start at once, and found by the others.
    ///
    /// # Errors
    /// Others take too long; a database server cannot be reached.
    pub fn start(&self) -> Result<StartTurn, OpenError> {
        let held: Option<Box<dyn Any>> = match self {
            Place::File(path) => {
                let lock = StartLock::of(path, STARTING).map_err(|_| OpenError::Starting { path: path.clone() })?;
                lock.map(|lock| Box::new(lock) as _)
            }
            Place::Server(url) => Some(Box::new(DatabaseServer::start(url, STARTING)?)),
        };
        Ok(StartTurn { _held: held })
    }

    /// Opens it and brings it to the layout.
    pub fn open(&self, options: DatabaseOptions, layout: &Layout) -> Result<Arc<dyn Database>, OpenError> {
        let DatabaseOptions { migrate, copy, queue, feed, brief, .. } = options;
        let (database, applied): OpenedDatabase = match self {
            Place::File(path) => {
                let mut options = OpenOptions { migrate, copy, queue, feed, ..OpenOptions::new(path) };
                if brief {
                    options.mmap = MAPPED_BRIEFLY;
                }
                let opened = Sqlite::open(options, layout)?;
                if let Some(copy) = opened.copied() {
                    tracing::info!("the database as it was before is {}", copy.display());
                }
                let applied = opened.applied().to_vec();
                (Arc::new(opened), applied)
            }
            Place::Server(url) => DatabaseServer::serve(url, options, layout)?,
        };
        for change in applied {
            tracing::info!("tables follow the declarations: {change}");
        }
        Ok(database)
    }

    /// The changes that bring it to a layout, the refused ones among them; nothing is changed.
    ///
    /// # Errors
    /// It cannot be opened or written.
    pub fn rehearse(&self, layout: &Layout) -> Result<Vec<PendingChange>, OpenError> {
        match self {
            Place::File(path) => Sqlite::rehearse(path, layout),
            Place::Server(url) => DatabaseServer::rehearse(url, layout),
        }
    }

    /// Brings it to a layout and deletes the values of `drops` where they stand in the way.
    ///
    /// # Errors
    /// It cannot be opened or written; a change would lose values that are not in `drops`.
    pub fn migrate(&self, layout: &Layout, drops: &[String], copy: bool) -> Result<Migrated, OpenError> {
        match self {
            Place::File(path) => Sqlite::migrate(path, layout, drops, copy),
            Place::Server(url) => {
                DatabaseServer::migrate(url, layout, drops).map(|changes| Migrated { changes, copy: None })
            }
        }
    }

    /// Copies it into another, new database; `progress` is called with a table and its rows so far.
    ///
    /// # Errors
    /// One of them cannot be opened, read or written; this one does not follow the layout; the other one has tables.
    pub fn copy(&self, to: &Place, layout: &Layout, progress: &mut dyn FnMut(&str, u64)) -> Result<Copied, CopyError> {
        let (from, to) = (self.connection(true)?, to.connection(false)?);
        Ok(copy::copy(&*from, &*to, layout, progress)?)
    }

    fn connection(&self, reading: bool) -> Result<Box<dyn Schema>, OpenError> {
        Ok(match self {
            Place::File(path) if reading => Box::new(SqliteConnection::examining(path)?),
            Place::File(path) => Box::new(SqliteConnection::open(path)?),
            Place::Server(url) => DatabaseServer::connection(url)?,
        })
    }

    /// Everything that is wrong with its contents, in sentences.
    ///
    /// # Errors
    /// It cannot be read at all.
    pub fn examine(&self, layout: &Layout) -> Result<Vec<String>, StorageError> {
        match self {
            Place::File(path) => backup::examine(path, layout),
            Place::Server(url) => DatabaseServer::examine(url, layout),
        }
    }

    /// Where stored values contradict the declarations, in sentences.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn contradictions(&self, layout: &Layout) -> Result<Vec<String>, CopyError> {
        let catalogue = Catalogue::new(layout)?;
        let conn = self.connection(true)?;
        Ok(migrate::contradictions(&*conn, &catalogue.tables, CONTRADICTIONS).map_err(StorageError::from)?)
    }

    /// Fails where a server uses the file; on a PostgreSQL server, locks do.
    ///
    /// # Errors
    /// A server uses it.
    pub fn unused(&self) -> Result<(), StorageError> {
        self.file().map_or(Ok(()), backup::unused)
    }
}
