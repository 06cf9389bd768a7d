//! Opening a file, and bringing its tables to the layout.

use super::super::catalogue::Catalogue;
use super::super::common::Common;
use super::super::migrate::{self, Extent, PendingChange};
use super::super::plan::Layout;
use super::super::versions;
use super::super::words::Words;
use super::backup;
use super::connect::{ConnectionSettings, explain, in_its_folder};
use super::connection::SqliteConnection;
use super::shared::SqliteShared;
use crate::feed::FeedRetention;
use crate::opening::{Migrated, OpenError};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

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
    pub feed: FeedRetention,
}

impl OpenOptions {
    /// The usual settings.
    pub fn new(path: impl Into<PathBuf>) -> OpenOptions {
        let ConnectionSettings { busy, mmap } = ConnectionSettings::default();
        OpenOptions {
            path: path.into(),
            migrate: true,
            copy: false,
            busy,
            queue: 4096,
            mmap,
            hold: Duration::from_secs(10),
            feed: FeedRetention::default(),
        }
    }
}

/// The result of [`open`].
pub struct OpenedFile {
    pub connection: Connection,
    pub shared: SqliteShared,
    pub applied: Vec<PendingChange>,
    pub copied: Option<PathBuf>,
}

/// Opens the writer's connection and brings the file to the layout.
pub fn open(options: &OpenOptions, layout: &Layout) -> std::result::Result<OpenedFile, OpenError> {
    static NEXT_ID: AtomicU64 = AtomicU64::new(0);
    let path = &options.path;
    let catalogue = Catalogue::new(layout).map_err(OpenError::Layout)?;
    let settings = ConnectionSettings { busy: options.busy, mmap: options.mmap };
    let connection = SqliteConnection::new(in_its_folder(path, &settings)?);
    let extent = if options.migrate { Extent::Apply { drops: &[] } } else { Extent::Refuse };
    let Migrated { changes: applied, copy: copied } =
        bring(&connection, path, (&catalogue, layout), extent, options.copy)?;
    let words = Words::load(&connection).map_err(|e| explain(path, e))?;
    let versions = versions::load(&connection).map_err(|e| explain(path, e))?;
    let connection = connection.into_inner();
    let shared = SqliteShared {
        id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
        path: path.clone(),
        settings,
        common: Arc::new(Common::new(catalogue, words, versions, (options.hold, options.feed))),
        log_pages: Arc::default(),
    };
    Ok(OpenedFile { connection, shared, applied, copied })
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
    let changes = outcome.map_err(|e| explain(path, e))?.into_changes(path)?;
    Ok(Migrated { changes, copy: made })
}
