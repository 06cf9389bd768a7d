//! Reading: a connection for each thread, a read transaction for each snapshot, text cached for each shape.
//!
//! Every statement of a request sees the same state, because all snapshots that a thread has open share a transaction,
//! and while something pins the state ([`pin`]) the transaction outlives them.
//!
//! To begin and to end a transaction costs as much as a small read, so threads that read often leave theirs open
//! ([`reuse_transactions`]): the next snapshot uses it again as long as nothing was committed since, by whatever process
//! ([`LogIndex`]). Open transactions keep the log from starting over, so they end after [`MAX_REUSE`], when the log is
//! long, and when the thread has nothing to do ([`end_idle_transactions`]).

use super::super::feed::{self, FeedUpdate};
use super::super::pin;
use super::super::read_cache::ReadCache;
use super::super::sql_reads::{CachingSnapshot, Names, SqlReads};
use super::super::statement::{Param, int};
use super::super::versions::Versions;
use super::super::words::Words;
use super::connect;
use super::reads::ConnectionReads;
use super::search;
use super::shared::SqliteShared;
use super::statement_cache::StatementCache;
use super::statements::select;
use crate::dependencies::Dependencies;
use crate::error::StorageError;
use crate::snapshot::{ReadRequest, ReadResult, Snapshot};
use arc_swap::Guard;
use cms_base::platform;
use rusqlite::{Connection, Result, ToSql};
use std::cell::{Cell, OnceCell, RefCell};
use std::fs::{self, File};
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a transaction serves snapshots that begin later.
const MAX_REUSE: Duration = Duration::from_millis(100);

/// The head of the log's index in SQLite's file format ("-shm"): every commit of any process changes it.
type LogHead = [u8; 48];

/// The file that all connections to a database share beside its log.
///
/// SQLite holds locks of the process on it, and the operating system drops all of them when *any* descriptor of the file is
/// closed: another process could then write at the same time. So the process opens each of these files once, and never
/// closes it.
#[derive(Clone, Copy)]
struct LogIndex(&'static File);

impl LogIndex {
    /// The one beside a database file; `None` where there is none, and then nothing is reused.
    fn beside(database: &Path) -> Option<LogIndex> {
        static OPENED: Mutex<Vec<LogIndex>> = Mutex::new(Vec::new());
        let mut path = fs::canonicalize(database).ok()?.into_os_string();
        path.push("-shm");
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        let there = platform::identity(&fs::metadata(&path).ok()?)?;
        let is_there = |one: &&LogIndex| one.0.metadata().is_ok_and(|m| platform::identity(&m) == Some(there));
        if let Some(known) = opened.iter().find(is_there) {
            return Some(*known);
        }
        let index = LogIndex(Box::leak(Box::new(File::open(path).ok()?)));
        opened.push(index);
        Some(index)
    }

    fn head(self) -> Option<LogHead> {
        let mut head = [0; size_of::<LogHead>()];
        platform::read_exact_at(self.0, &mut head, 0).ok().map(|()| head)
    }
}

thread_local! {
    static READERS: RefCell<Vec<(u64, Rc<Reader>)>> = const { RefCell::new(Vec::new()) };
    static REUSES: Cell<bool> = const { Cell::new(false) };
}

/// From here on this thread's transactions outlive their snapshots, until [`end_idle_transactions`]. Whether they did
/// already.
pub fn reuse_transactions() -> bool {
    REUSES.replace(true)
}

/// Ends the transactions of this thread that no snapshot uses.
pub fn end_idle_transactions() {
    READERS.with_borrow(|readers| readers.iter().for_each(|(_, reader)| reader.end_idle()));
}

/// Closes this thread's connection to a database.
pub fn forget(id: u64) {
    // At the end of a thread its connections are closed already.
    let _ = READERS.try_with(|readers| readers.borrow_mut().retain(|(of, _)| *of != id));
}

/// A thread's connection.
struct Reader {
    conn: Connection,
    shapes: StatementCache,
    frequent: search::FrequentTexts,
    /// Snapshots open.
    depth: Cell<u32>,
    /// There is a transaction.
    begun: Cell<bool>,
    /// No snapshot uses the transaction.
    idle: Cell<bool>,
    /// When the transaction began and the log's head before, where it may be used again.
    since: Cell<Option<(Instant, LogHead)>>,
    /// Opened when it is first needed.
    log: OnceCell<Option<LogIndex>>,
    /// The `data_version` at the last check.
    seen: Cell<i64>,
    /// [`Versions::settled`] before the transaction began.
    ///
    /// [`Versions::settled`]: super::super::versions::Versions::settled
    rising: Cell<u64>,
}

/// Ends the transactions of this thread that nothing needs any more.
pub fn settle() {
    // At the end of a thread its connections are closed already.
    let _ = READERS.try_with(|readers| readers.borrow().iter().for_each(|(_, reader)| reader.settle()));
}

/// A snapshot: the thread's connection with a read transaction, which ends with the last of its snapshots.
pub struct SqliteSnapshot<'s> {
    shared: &'s SqliteShared,
    reader: Rc<Reader>,
    words: Guard<Arc<Words>>,
}

impl<'s> SqliteSnapshot<'s> {
    /// Opens a snapshot.
    pub fn begin(shared: &'s SqliteShared) -> std::result::Result<SqliteSnapshot<'s>, StorageError> {
        let reader = reader(shared)?;
        if !reader.reuses(shared) {
            reader.end_idle();
        }
        if !reader.begun.get() {
            reader.begin(shared)?;
        }
        reader.depth.set(reader.depth.get() + 1);
        Ok(SqliteSnapshot { shared, reader, words: shared.words.load() })
    }

    fn reads(&self) -> SqlReads<'_, ConnectionReads<'_>> {
        let Reader { conn, shapes, frequent, .. } = &*self.reader;
        let names = Names { words: &self.words, catalogue: &self.shared.catalogue };
        SqlReads { executor: ConnectionReads { conn, shapes, frequent }, names, caching: Some(self) }
    }
}

impl CachingSnapshot for SqliteSnapshot<'_> {
    fn cache(&self) -> (&ReadCache, &Versions) {
        (&self.shared.cached, &self.shared.versions)
    }
}

impl Drop for SqliteSnapshot<'_> {
    fn drop(&mut self) {
        self.reader.depth.set(self.reader.depth.get() - 1);
        self.reader.settle();
    }
}

impl Snapshot for SqliteSnapshot<'_> {
    fn read(&self, request: ReadRequest<'_>) -> std::result::Result<ReadResult, StorageError> {
        self.reads().read(request)
    }

    fn dependencies(&self, request: ReadRequest<'_>, result: &ReadResult) -> Option<Dependencies> {
        self.reads().dependencies(request, result)
    }

    fn is_newest(&self) -> bool {
        self.shared.versions.rising() == self.reader.rising.get()
    }
}

fn reader(shared: &SqliteShared) -> std::result::Result<Rc<Reader>, StorageError> {
    READERS.with_borrow_mut(|readers| {
        if let Some((_, reader)) = readers.iter().find(|(id, _)| *id == shared.id) {
            return Ok(reader.clone());
        }
        let conn = connect::reading(&shared.path, &shared.settings)?;
        let reader = Rc::new(Reader {
            conn,
            shapes: StatementCache::default(),
            frequent: search::FrequentTexts::default(),
            depth: Cell::new(0),
            begun: Cell::new(false),
            idle: Cell::new(false),
            since: Cell::new(None),
            log: OnceCell::new(),
            seen: Cell::new(i64::MIN),
            rising: Cell::new(0),
        });
        readers.push((shared.id, reader.clone()));
        Ok(reader)
    })
}

impl Reader {
    fn begin(&self, shared: &SqliteShared) -> Result<()> {
        if !self.conn.is_autocommit() {
            self.end();
        }
        let rising = shared.versions.settled();
        self.rising.set(rising);
        let head = REUSES.get().then(|| self.log_head(shared)).flatten();
        self.since.set(head.map(|head| (Instant::now(), head)));
        execute(&self.conn, "BEGIN", &[])?;
        match self.look(shared) {
            Ok(took_up) => {
                // This transaction sees the newest state if only its own look has raised versions.
                if took_up && rising.checked_add(1) == Some(shared.versions.rising()) {
                    self.rising.set(rising + 1);
                }
                self.begun.set(true);
                Ok(())
            }
            Err(error) => {
                self.end();
                Err(error)
            }
        }
    }

    /// Ends the transaction when nothing needs it any more, or leaves it to the next snapshot.
    fn settle(&self) {
        if self.depth.get() > 0 || pin::is_pinned() || !self.begun.get() {
            return;
        }
        self.idle.set(true);
        if self.since.get().is_none() {
            self.end_idle();
        }
    }

    /// Takes over an idle transaction if it still shows the newest state.
    fn reuses(&self, shared: &SqliteShared) -> bool {
        if !self.idle.get() || shared.versions.rising() != self.rising.get() || shared.log_is_long() {
            return false;
        }
        let Some((since, head)) = self.since.get() else { return false };
        let reuses = since.elapsed() < MAX_REUSE && self.log_head(shared) == Some(head);
        reuses && self.idle.replace(false)
    }

    fn log_head(&self, shared: &SqliteShared) -> Option<LogHead> {
        (*self.log.get_or_init(|| LogIndex::beside(&shared.path)))?.head()
    }

    fn end_idle(&self) {
        if self.idle.replace(false) && self.begun.replace(false) {
            self.end();
        }
    }

    /// Takes notice of what other processes committed; whether there was something new. (Also starts the read transaction,
    /// which `BEGIN` alone does not.)
    fn look(&self, shared: &SqliteShared) -> Result<bool> {
        let version: i64 = self.conn.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if version == self.seen.get() {
            return Ok(false);
        }
        let all =
            |text: &str, values: &[i64]| select(&self.conn, text, &values.iter().map(Param::from).collect::<Vec<_>>());
        let known = shared.versions.known();
        let commits = all(feed::NUMBER_OF_COMMITS, &[])?.first().map_or(0, |row| int(row, 0));
        let is_new = commits as u64 > known.commits;
        if is_new {
            let found =
                FeedUpdate::statements(known).iter().map(|(text, values)| all(text, values)).collect::<Result<_>>()?;
            shared.take_up(&FeedUpdate::of(known, found));
        }
        self.seen.set(version);
        Ok(is_new)
    }

    fn end(&self) {
        if execute(&self.conn, "COMMIT", &[]).is_err() {
            // The transaction only read; `begin` tries once more.
            let _ = self.conn.execute_batch("ROLLBACK");
        }
    }
}

fn execute(conn: &Connection, text: &str, params: &[&dyn ToSql]) -> Result<usize> {
    conn.prepare_cached(text)?.execute(params)
}
