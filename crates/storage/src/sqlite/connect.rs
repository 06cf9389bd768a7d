//! Connections to a file: how each is set, and whether the file is one of ours.

use super::super::budget;
use super::super::migrate::META_VERSION;
use super::super::statement::{DbError, Fault};
use super::functions;
use crate::opening::OpenError;
use cms_base::platform;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Result};
use std::path::Path;
use std::time::Duration;

/// Marks the file as one of ours ("CmsS").
const APPLICATION: i64 = 0x436d_7353;
/// Prepared statements cached by each connection.
const STATEMENTS: usize = 512;
/// Instructions of SQLite's virtual machine between two checks of the clock: some ten microseconds.
const STEPS: i32 = 1000;

/// The settings of every connection.
pub struct ConnectionSettings {
    /// How long to wait for another process's lock.
    pub busy: Duration,
    /// Bytes of the file that are read through memory mapping.
    pub mmap: u64,
}

impl Default for ConnectionSettings {
    fn default() -> ConnectionSettings {
        ConnectionSettings { busy: Duration::from_secs(5), mmap: 1 << 30 }
    }
}

/// The writing connection to a file, whose folder is there.
pub fn in_its_folder(path: &Path, settings: &ConnectionSettings) -> std::result::Result<Connection, OpenError> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    if folder.is_some_and(|p| !p.is_dir()) {
        return Err(OpenError::DirectoryMissing { path: path.to_owned() });
    }
    if path.is_dir() {
        return Err(OpenError::Other { path: path.to_owned(), cause: "this is a folder, not a file".into() });
    }
    writing(path, settings)
}

/// See [`super::Sqlite::recover`].
pub fn recover(path: &Path) -> Result<Connection> {
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // Opening the file waits for another process's lock; this does not.
    conn.busy_timeout(Duration::ZERO)?;
    // The first read does it.
    conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(conn)
}

fn writing(path: &Path, settings: &ConnectionSettings) -> std::result::Result<Connection, OpenError> {
    let fail = |e| explain(path, e);
    create_private(path);
    let conn =
        connect(path, settings, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE).map_err(fail)?;
    check_origin(path, &conn)?;
    if conn.is_readonly("main").map_err(fail)? {
        return Err(OpenError::ReadOnly { path: path.to_owned() });
    }
    let set = || {
        let mode: String = conn.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
        conn.pragma_update(None, "synchronous", "FULL")?;
        conn.pragma_update(None, "wal_autocheckpoint", 4000)?;
        conn.pragma_update(None, "journal_size_limit", 64 << 20)?;
        // In KiB: what one group writes; the rest is read through the mapping.
        conn.pragma_update(None, "cache_size", -16_384)?;
        Ok(mode)
    };
    match set().map_err(fail)?.as_str() {
        "wal" => Ok(conn),
        mode => Err(OpenError::Other {
            path: path.to_owned(),
            cause: format!("the file system does not carry a write-ahead log (journal mode {mode})"),
        }),
    }
}

/// A new file contains secrets, so only its owner may read it. Where that fails, opening the file reports why.
fn create_private(path: &Path) {
    let mut options = std::fs::OpenOptions::new();
    let _ = platform::private(options.write(true).create_new(true)).open(path);
}

fn check_origin(path: &Path, conn: &Connection) -> std::result::Result<(), OpenError> {
    let number = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let read = || -> Result<_> {
        let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        Ok((tables, number("application_id")?, number("user_version")?))
    };
    match read().map_err(|e| explain(path, e))? {
        (0, ..) => Ok(()),
        (_, APPLICATION, version) if version > META_VERSION => {
            Err(OpenError::Newer { path: path.to_owned(), found: version })
        }
        (_, APPLICATION, _) => Ok(()),
        _ => Err(OpenError::Foreign { path: path.to_owned() }),
    }
}

/// Marks the file as ours.
pub fn sign(conn: &Connection) -> Result<()> {
    conn.pragma_update(None, "application_id", APPLICATION)?;
    conn.pragma_update(None, "user_version", META_VERSION)
}

/// A connection that only reads.
pub fn reading(path: &Path, settings: &ConnectionSettings) -> Result<Connection> {
    connect(path, settings, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// A connection that only reads a file of ours, to copy or examine it.
///
/// # Errors
/// There is no such file, its beginning is damaged, or it belongs to another program.
pub fn examining(path: &Path) -> std::result::Result<Connection, OpenError> {
    let settings = ConnectionSettings { busy: Duration::from_secs(30), mmap: 0 };
    if !path.is_file() {
        return Err(OpenError::Other { path: path.to_owned(), cause: "there is no such file".into() });
    }
    let conn = reading(path, &settings).map_err(|e| explain(path, e))?;
    check_origin(path, &conn)?;
    let tables = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0));
    match tables.map_err(|e| explain(path, e))? {
        0 => Err(OpenError::Foreign { path: path.to_owned() }),
        _ => Ok(conn),
    }
}

/// A connection for checkpoints.
pub fn checkpointing(path: &Path, settings: &ConnectionSettings) -> Result<Connection> {
    connect(path, settings, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

fn connect(path: &Path, settings: &ConnectionSettings, flags: OpenFlags) -> Result<Connection> {
    let mut conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // The busy timeout is set first: everything after it may meet another process's lock.
    conn.busy_timeout(settings.busy)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    // Plans of statements must not depend on bound values, or each new LIMIT would have its statement prepared again.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.pragma_update(None, "mmap_size", i64::try_from(settings.mmap).unwrap_or(i64::MAX))?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.pragma_update(None, "foreign_keys", false)?;
    conn.progress_handler(STEPS, Some(budget::is_spent))?;
    functions::register(&conn)?;
    Ok(conn)
}

/// Why a file is not opened.
pub fn explain(path: &Path, error: impl Into<DbError>) -> OpenError {
    let (path, error) = (path.to_owned(), error.into());
    match error.fault {
        Fault::Damaged => OpenError::NotADatabase { path, cause: error.cause },
        Fault::Locked => OpenError::Locked { path },
        Fault::ReadOnly => OpenError::ReadOnly { path },
        _ => OpenError::Other { path, cause: error.cause },
    }
}
