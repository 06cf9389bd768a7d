//! How a database is opened, and why it is not.

use super::migrate::{META_VERSION, MigrationOutcome, PendingChange};
use crate::database::Database;
use crate::error::StorageError;
use crate::feed::FeedRetention;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a server opens a database.
#[derive(Clone, Copy, Debug)]
pub struct DatabaseOptions {
    /// Bring an existing database to the layout.
    pub migrate: bool,
    /// Copy a file before it is changed so.
    pub copy: bool,
    /// Most writes that wait.
    pub queue: usize,
    /// Most connections for reads; a file needs none.
    pub connections: usize,
    /// The database is opened for one command: little of its file is mapped into memory, which counts as that of the process.
    pub brief: bool,
    /// How long entries of the change feed stay.
    pub feed: FeedRetention,
}

/// A database that was opened, and what was changed in its tables.
pub(super) type OpenedDatabase = (Arc<dyn Database>, Vec<PendingChange>);

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
    /// The advice for the error.
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

/// The changes made to an existing file.
pub struct Migrated {
    pub changes: Vec<PendingChange>,
    /// The file as it was before.
    pub copy: Option<PathBuf>,
}

impl MigrationOutcome {
    /// The changes made to the database at an address, or the reason why it is not opened.
    pub(super) fn into_changes(self, at: &Path) -> Result<Vec<PendingChange>, OpenError> {
        let path = at.to_owned();
        match self {
            MigrationOutcome::Done(changes) => Ok(changes),
            MigrationOutcome::Unsafe(cause) => Err(OpenError::NotCopied { path, cause: cause.to_string() }),
            MigrationOutcome::Pending(changes) => Err(OpenError::Pending { path, changes }),
            MigrationOutcome::Destructive(changes) => Err(OpenError::Destructive { path, changes }),
        }
    }
}
