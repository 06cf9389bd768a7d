//! Moving committed pages from the log into the file, beside the writer instead of in its commits.
//!
//! A checkpoint beside a busy writer never catches up with the log's end, so the log would grow for ever. When it is
//! some times too long, the writer moves the rest itself; that is little by then, and the log starts over. When nothing
//! is written for a while the log is emptied, so that a start after a crash has nothing to read through.
//!
//! The same thread renews the statistics of tables that have grown ([`statistics`]), at the start and after writes.

use super::connect::checkpointing;
use super::shared::{LONG_LOG, SqliteShared};
use super::statistics;
use rusqlite::Connection;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Pages in the log at which the writer helps.
const TOO_MANY: usize = 4 * LONG_LOG;

/// Without a commit for so long, the log is emptied.
const QUIET: Duration = Duration::from_secs(1);

/// Between two looks at which tables have grown.
const LOOK: Duration = Duration::from_secs(5);

const CHECKPOINT: &str = "PRAGMA wal_checkpoint(PASSIVE)";
const EMPTY: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// The writer's reports about the log.
#[derive(Default)]
struct Log {
    pages: Arc<AtomicUsize>,
    commits: AtomicU64,
    /// The thread knows that there is something in the log.
    noticed: AtomicBool,
    /// Held during a checkpoint.
    busy: Mutex<()>,
}

impl Log {
    /// Moves the log into the file, after a checkpoint that runs already.
    fn checkpoint(&self, conn: &Connection) -> rusqlite::Result<()> {
        let _busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        conn.prepare_cached(CHECKPOINT)?.query_row([], |_| Ok(()))
    }
}

/// See the module.
pub struct Checkpoints {
    log: Arc<Log>,
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    /// Takes over from SQLite, which would checkpoint in the writer's commits. `None` where it cannot: then it does.
    pub fn start(writer: &mut Connection, shared: &SqliteShared) -> Option<Checkpoints> {
        let conn = checkpointing(&shared.path, &shared.settings).ok()?;
        // It waits for nobody, so that nobody waits for it.
        conn.busy_timeout(Duration::ZERO).ok()?;
        let analysing = checkpointing(&shared.path, &shared.settings).ok()?;
        statistics::prepare(&analysing).ok()?;
        let (wake, calls) = sync_channel(1);
        let log = Arc::new(Log { pages: shared.log_pages.clone(), ..Log::default() });
        let seen = log.clone();
        let work = move || {
            let mut statistics = Statistics { conn: analysing, looked: None };
            // An existing database may have none.
            statistics.look();
            seen.noticed.store(true, Ordering::Relaxed);
            keep_short(&conn, &calls, &seen, &mut statistics);
            if seen.commits.load(Ordering::Relaxed) > 0 {
                statistics.look();
            }
        };
        let thread = Builder::new().name("storage-checkpoint".into()).spawn(work).ok()?;
        let seen = log.clone();
        let hook = move |_: &mut rusqlite::hooks::Wal, pages| {
            seen.pages.store(usize::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        };
        writer.wal_hook(Some(hook)).ok()?;
        Some(Checkpoints { log, wake: Some(wake), thread: Some(thread) })
    }

    /// To be called after each commit.
    pub fn committed(&self, writer: &Connection) {
        self.log.commits.fetch_add(1, Ordering::Relaxed);
        let pages = self.log.pages.load(Ordering::Relaxed);
        if pages >= TOO_MANY {
            let _ = self.log.checkpoint(writer);
        }
        let unknown = !self.log.noticed.swap(true, Ordering::Relaxed);
        if let (true, Some(wake)) = (unknown || pages >= LONG_LOG, &self.wake) {
            // A call that waits already will do.
            let _ = wake.try_send(());
        }
    }
}

/// The statistics of the tables, and when they were looked at.
struct Statistics {
    conn: Connection,
    looked: Option<Instant>,
}

impl Statistics {
    /// Renews them. What fails is tried again.
    fn look(&mut self) {
        drop(statistics::renew(&self.conn));
        self.looked = Some(Instant::now());
    }

    /// The same, if the last time is long ago.
    fn look_again(&mut self) {
        if self.looked.is_none_or(|looked| looked.elapsed() > LOOK) {
            self.look();
        }
    }
}

/// Moves the log into the file when it is long, and when nothing is written any more. Whatever prevents it (a
/// reader, a full disk) may be gone at the next call.
fn keep_short(conn: &Connection, calls: &Receiver<()>, log: &Log, statistics: &mut Statistics) {
    let mut commits = 0;
    loop {
        let call = match log.noticed.load(Ordering::Relaxed) {
            true => calls.recv_timeout(QUIET),
            false => calls.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match call {
            Err(RecvTimeoutError::Disconnected) => return,
            Ok(()) if log.pages.load(Ordering::Relaxed) < LONG_LOG => {}
            Ok(()) => {
                drop(log.checkpoint(conn));
                statistics.look_again();
            }
            Err(RecvTimeoutError::Timeout) => {
                let before = std::mem::replace(&mut commits, log.commits.load(Ordering::Relaxed));
                if before == commits {
                    statistics.look_again();
                    // A commit from here on calls again.
                    log.noticed.store(false, Ordering::Relaxed);
                    if log.checkpoint(conn).and_then(|()| empty(conn)).is_err() {
                        log.noticed.store(true, Ordering::Relaxed);
                    }
                }
            }
        }
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Moves the whole log into the file and leaves none of it. Fails where another process still reads the log.
pub fn empty(conn: &Connection) -> rusqlite::Result<()> {
    match conn.prepare_cached(EMPTY)?.query_row([], |row| row.get(0))? {
        0 => Ok(()),
        _ => Err(rusqlite::Error::QueryReturnedNoRows),
    }
}
