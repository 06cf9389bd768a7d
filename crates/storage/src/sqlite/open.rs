//! Opening a file: settings of each connection, what can go wrong and what to do about it.

use super::super::backup;
use super::super::budget;
use super::super::catalogue::Catalogue;
use super::super::engine::Common;
use super::super::migrate::{self, Extent, META_VERSION, Outcome, PendingChange};
use super::super::plan::Layout;
use super::super::statement::{DbError, Fault};
use super::super::versions;
use super::super::words::Words;
use super::shared::Shared;
use super::{SqliteConnection, functions};
use crate::error::StorageError;
use crate::feed::Keep as FeedKeep;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Result};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Marks the file as one of ours ("CmsS").
const APPLICATION: i64 = 0x436d_7353;
/// Prepared statements cached by each connection.
const STATEMENTS: usize = 512;
/// Instructions of SQLite's virtual machine between two checks of the clock: some ten microseconds.
const STEPS: i32 = 1000;

/// How to open a database.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    pub path: PathBuf,
    /// Bring an existing file to the layout. Otherwise [`OpenError::Pending`] lists what would change. A new file is
    /// always laid out.
    pub migrate: bool,
    /// Copy an existing file before it is changed so: see [`backup::before_migration`].
    pub copy: bool,
    /// How long to wait for another process's lock.
    pub busy: Duration,
    /// Most writes in the queue; one more is refused as busy.
    pub queue: usize,
    /// Bytes of the file that are read through memory mapping.
    pub mmap: u64,
    /// How long a transaction may make other writers wait. What takes longer is rolled back.
    pub hold: Duration,
    /// How long entries of the change feed stay.
    pub feed: FeedKeep,
}

impl OpenOptions {
    /// The usual settings.
    pub fn new(path: impl Into<PathBuf>) -> OpenOptions {
        OpenOptions {
            path: path.into(),
            migrate: true,
            copy: false,
            busy: Duration::from_secs(5),
            queue: 4096,
            mmap: 1 << 30,
            hold: Duration::from_secs(10),
            feed: FeedKeep::default(),
        }
    }
}

/// What every connection is set to.
pub struct Settings {
    busy: Duration,
    mmap: u64,
}

/// Why a database was not opened.
#[derive(Debug)]
pub enum OpenError {
    /// The folder that should hold the file is not there.
    DirectoryMissing {
        path: PathBuf,
    },
    /// The file is no database, or a damaged one.
    NotADatabase {
        path: PathBuf,
        cause: String,
    },
    /// The file is a database of another program.
    Foreign {
        path: PathBuf,
    },
    /// The file or its folder does not take writes.
    ReadOnly {
        path: PathBuf,
    },
    /// Another process holds the lock.
    Locked {
        path: PathBuf,
    },
    /// Another process has been starting over it for too long.
    Starting {
        path: PathBuf,
    },
    /// A later version of this program wrote the file.
    Newer {
        path: PathBuf,
        found: i64,
    },
    /// The declarations differ from the file and migration is off.
    Pending {
        path: PathBuf,
        changes: Vec<PendingChange>,
    },
    /// The declarations would lose what the file holds.
    Destructive {
        path: PathBuf,
        changes: Vec<PendingChange>,
    },
    /// The file has to be changed, and the copy before that could not be made.
    NotCopied {
        path: PathBuf,
        cause: String,
    },
    /// The database server is away, or its database cannot be used.
    Server {
        /// Its address, without the password.
        at: String,
        cause: String,
        hint: &'static str,
    },
    /// The declarations contradict themselves.
    Layout(StorageError),
    Other {
        path: PathBuf,
        cause: String,
    },
}

impl OpenError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            OpenError::DirectoryMissing { .. } => "Create the folder, or name another file.",
            OpenError::NotADatabase { .. } => {
                "Name another file, or restore a backup; nothing in this file was changed by the server."
            }
            OpenError::Foreign { .. } => "Name another file; this one was left as it is.",
            OpenError::ReadOnly { .. } => {
                "Let the user that runs the server write to the file and to its folder (the write-ahead log is beside the file)."
            }
            OpenError::Starting { .. } | OpenError::Locked { .. } => {
                "Stop the other process, or try again when it is done."
            }
            OpenError::Newer { .. } => "Start the newer version, or restore the backup from before the upgrade.",
            OpenError::Pending { .. } => "Allow migration (storage.migrate), or restore the declarations.",
            OpenError::Destructive { .. } => {
                "Restore the declarations, or run `cms-server migrate --dry-run`: it prints how values move or are deleted."
            }
            OpenError::NotCopied { .. } => {
                "Make room on the disk, or make a backup and start with storage.copy_before_migration = false."
            }
            OpenError::Server { hint, .. } => hint,
            OpenError::Layout(_) => "This is a mistake in the declarations.",
            OpenError::Other { .. } => "The cause comes from the database library or the operating system.",
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, changes: &[PendingChange]| {
            changes.iter().try_for_each(|change| write!(f, "\n  {change}"))
        };
        match self {
            OpenError::DirectoryMissing { path } => {
                let folder = path.parent().unwrap_or(path);
                write!(f, "{}: there is no folder {}", path.display(), folder.display())
            }
            OpenError::NotADatabase { path, cause } => write!(f, "{}: not a valid database ({cause})", path.display()),
            OpenError::Foreign { path } => write!(f, "{}: this database belongs to another program", path.display()),
            OpenError::ReadOnly { path } => write!(f, "{}: the database cannot be written", path.display()),
            OpenError::Locked { path } => write!(f, "{}: another process has locked the database", path.display()),
            OpenError::Starting { path } => {
                write!(f, "{}: another process starts over this database and takes too long", path.display())
            }
            OpenError::NotCopied { path, cause } => {
                write!(f, "{}: its tables have to change, and it cannot be copied before: {cause}", path.display())
            }
            OpenError::Newer { path, found } => write!(
                f,
                "{}: written by a newer version (tables of version {found}, this one knows {META_VERSION})",
                path.display()
            ),
            OpenError::Pending { path, changes } => {
                write!(f, "{}: the declarations require changes to the tables", path.display())?;
                list(f, changes)
            }
            OpenError::Destructive { path, changes } => {
                write!(f, "{}: the declarations require changes that would lose values", path.display())?;
                list(f, changes)
            }
            OpenError::Server { at, cause, .. } => write!(f, "{at}: {cause}"),
            OpenError::Layout(cause) => write!(f, "the tables cannot be laid out: {cause}"),
            OpenError::Other { path, cause } => write!(f, "{}: {cause}", path.display()),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<rusqlite::Error> for StorageError {
    fn from(error: rusqlite::Error) -> StorageError {
        DbError::from(error).into()
    }
}

/// What was changed in an existing file.
pub struct Migrated {
    pub changes: Vec<PendingChange>,
    /// The file as it was before.
    pub copy: Option<PathBuf>,
}

/// What [`open`] gives.
pub struct Opened {
    pub connection: Connection,
    pub shared: Shared,
    pub applied: Vec<PendingChange>,
    pub copied: Option<PathBuf>,
}

/// Opens the writer's connection and brings the file to the layout.
pub fn open(options: &OpenOptions, layout: &Layout) -> std::result::Result<Opened, OpenError> {
    static NEXT_ID: AtomicU64 = AtomicU64::new(0);
    let path = &options.path;
    let catalogue = Catalogue::new(layout).map_err(OpenError::Layout)?;
    let settings = Settings { busy: options.busy, mmap: options.mmap };
    let connection = SqliteConnection::new(in_its_folder(path, &settings)?);
    let extent = if options.migrate { Extent::Apply { drops: &[] } } else { Extent::Refuse };
    let Migrated { changes: applied, copy: copied } =
        bring(&connection, path, (&catalogue, layout), extent, options.copy)?;
    let words = Words::load(&connection).map_err(|e| explain(path, e))?;
    let versions = versions::load(&connection).map_err(|e| explain(path, e))?;
    let connection = connection.into_inner();
    let shared = Shared {
        id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
        path: path.clone(),
        settings,
        common: Arc::new(Common::new(catalogue, words, versions, (options.hold, options.feed))),
        log_pages: Arc::default(),
    };
    Ok(Opened { connection, shared, applied, copied })
}

/// See [`super::Sqlite::migrate`] and [`super::Sqlite::rehearse`].
pub fn migrated(
    path: &Path,
    layout: &Layout,
    extent: Extent<'_>,
    copy: bool,
) -> std::result::Result<Migrated, OpenError> {
    let catalogue = Catalogue::new(layout).map_err(OpenError::Layout)?;
    bring(&SqliteConnection::open(path)?, path, (&catalogue, layout), extent, copy)
}

impl SqliteConnection {
    /// To a file that is written, and made if there is none.
    pub fn open(path: &Path) -> std::result::Result<SqliteConnection, OpenError> {
        let options = OpenOptions::new(path);
        in_its_folder(path, &Settings { busy: options.busy, mmap: options.mmap }).map(SqliteConnection::new)
    }

    /// To a file of ours that is only read.
    pub fn examining(path: &Path) -> std::result::Result<SqliteConnection, OpenError> {
        examining(path).map(SqliteConnection::new)
    }
}

/// Brings the file to the layout; with `copy`, copies a file that has to be changed before that.
fn bring(
    connection: &SqliteConnection,
    path: &Path,
    (catalogue, layout): (&Catalogue, &Layout),
    extent: Extent<'_>,
    copy: bool,
) -> std::result::Result<Migrated, OpenError> {
    let mut made = None;
    let mut preserve = || {
        if copy {
            made = Some(backup::before_migration(path)?);
        }
        Ok(())
    };
    let outcome = migrate::migrate(connection, catalogue, layout, extent, &mut preserve);
    match outcome.map_err(|e| explain(path, e))? {
        Outcome::Done(changes) => Ok(Migrated { changes, copy: made }),
        Outcome::Unsafe(cause) => Err(OpenError::NotCopied { path: path.to_owned(), cause: cause.to_string() }),
        Outcome::Pending(changes) => Err(OpenError::Pending { path: path.to_owned(), changes }),
        Outcome::Destructive(changes) => Err(OpenError::Destructive { path: path.to_owned(), changes }),
    }
}

/// The writing connection to a file, whose folder is there.
fn in_its_folder(path: &Path, settings: &Settings) -> std::result::Result<Connection, OpenError> {
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

fn writing(path: &Path, settings: &Settings) -> std::result::Result<Connection, OpenError> {
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
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(path);
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
pub fn reading(path: &Path, settings: &Settings) -> Result<Connection> {
    connect(path, settings, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// A connection that only reads a file of ours, to copy or examine it.
///
/// # Errors
/// There is no such file, its beginning is damaged, or it belongs to another program.
pub fn examining(path: &Path) -> std::result::Result<Connection, OpenError> {
    let settings = Settings { busy: Duration::from_secs(30), mmap: 0 };
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
pub fn checkpointing(path: &Path, settings: &Settings) -> Result<Connection> {
    connect(path, settings, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

fn connect(path: &Path, settings: &Settings, flags: OpenFlags) -> Result<Connection> {
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

fn explain(path: &Path, error: impl Into<DbError>) -> OpenError {
    let (path, error) = (path.to_owned(), error.into());
    match error.fault {
        Fault::Damaged => OpenError::NotADatabase { path, cause: error.cause },
        Fault::Locked => OpenError::Locked { path },
        Fault::ReadOnly => OpenError::ReadOnly { path },
        _ => OpenError::Other { path, cause: error.cause },
    }
}
