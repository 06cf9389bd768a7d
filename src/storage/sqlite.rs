//! SQLite as a [`Storage`]: one file, one writer thread, one read-only connection for each reading thread.
//!
//! The file is in WAL mode, so that readers never wait for the writer; a commit is reported when it is on disk.

mod count_cache;
mod functions;
mod neighbour;
mod open;
#[cfg(test)]
mod query_plans;
mod reader;
mod statement_cache;
#[cfg(test)]
mod tests;
mod values;

pub use neighbour::{Claim, Neighbour};
pub use open::META_VERSION;
pub use open::{Migrated, OpenError, OpenOptions, PendingChange, Refusal};
pub(super) use open::{checkpointing, commits, examining, load_words, read_generations, sign};
pub(super) use reader::Reading;
pub use reader::{end_idle_transactions, reuse_transactions};
pub(super) use statement_cache::StatementCache;
pub(super) use values::{Dictionary, bind, decode};

use super::catalogue::Catalogue;
use super::migrate::Extent;
use super::plan::{CommitError, Layout, Name, WritePlan};
use super::transaction::OpenTransaction;
use super::versions::Versions;
use super::words::Words;
use super::writer::{self, Begin, Job};
use super::{BeginFuture, CommitFuture, Held, Snapshot, Storage, StorageError, Transaction, VersionSlot, later};
use crate::metrics::{self, Counter, DURATIONS, Gauge, Histogram, SIZES};
use arc_swap::ArcSwap;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// A database in a file. Dropping it waits until the writer has carried out what is queued.
pub struct Sqlite {
    shared: Arc<Shared>,
    queue: Option<SyncSender<Job>>,
    writer: Option<JoinHandle<()>>,
    applied: Vec<PendingChange>,
    copied: Option<PathBuf>,
}

/// What readers and the writer have in common.
pub(super) struct Shared {
    /// Distinguishes databases that one thread reads.
    pub id: u64,
    pub path: PathBuf,
    pub settings: open::Settings,
    /// See [`OpenOptions::hold`].
    pub hold: Duration,
    pub catalogue: Catalogue,
    pub words: ArcSwap<Words>,
    pub versions: Arc<Versions>,
    /// They sleep until something is written.
    pub sleepers: ArcSwap<Vec<Thread>>,
    pub remembered: count_cache::CountCache,
    /// Pages in the log.
    pub log_pages: Arc<AtomicUsize>,
    pub counts: WriteCounts,
}

/// What the writer has done.
pub(super) struct WriteCounts {
    /// Writes and transactions that wait.
    pub queue: Gauge,
    pub wait: Histogram,
    pub commit: Histogram,
    /// Writes in one commit.
    pub writes: Histogram,
    pub failures: Counter,
}

impl Default for WriteCounts {
    fn default() -> WriteCounts {
        WriteCounts {
            queue: Gauge::default(),
            wait: Histogram::new(DURATIONS),
            commit: Histogram::new(DURATIONS),
            writes: Histogram::new(SIZES),
            failures: Counter::default(),
        }
    }
}

impl Shared {
    /// Whether the log waits for its readers to start over.
    pub fn log_is_long(&self) -> bool {
        self.log_pages.load(Ordering::Relaxed) >= writer::LONG_LOG
    }

    /// Takes over words that are in the database. Words are only added, so fewer are an older state.
    pub fn learn(&self, words: &Words) {
        self.words.rcu(|known| if words.next() > known.next() { Arc::new(words.clone()) } else { known.clone() });
    }
}

/// See [`Sqlite::recover`]. (The last connection to a file takes the log away.)
pub struct Recovered {
    _connection: Option<Connection>,
}

impl Sqlite {
    /// Reads what a crash left in the log of a file, so that opening it while the outcome lives does not wait for
    /// that. Errors are reported by [`Sqlite::open`].
    pub fn recover(path: &Path) -> Recovered {
        Recovered { _connection: open::recover(path).ok() }
    }

    /// Opens the file, creating it if there is none, and brings it to the layout.
    pub fn open(options: OpenOptions, layout: &Layout) -> Result<Sqlite, OpenError> {
        let opened = open::open(&options, layout)?;
        let (queue, jobs) = mpsc::sync_channel(options.queue);
        let shared = Arc::new(opened.shared);
        let writer = writer::spawn(opened.connection, shared.clone(), jobs)
            .map_err(|e| OpenError::Other { path: options.path.clone(), cause: e.to_string() })?;
        Ok(Sqlite { shared, queue: Some(queue), writer: Some(writer), applied: opened.applied, copied: opened.copied })
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

    /// What [`Sqlite::open`] changed in an existing file.
    pub fn applied(&self) -> &[PendingChange] {
        &self.applied
    }

    /// The copy of an existing file from before [`Sqlite::open`] changed it.
    pub fn copied(&self) -> Option<&Path> {
        self.copied.as_deref()
    }

    /// Bytes that are made once, at random, and stored: the same at every call with this name.
    pub fn secret(&self, name: &str, len: usize) -> Result<Vec<u8>, StorageError> {
        let (reply, answer) = mpsc::channel();
        let job = Job::Secret { name: name.into(), len, reply };
        let gone = || StorageError::Failed("the writer has stopped".into());
        self.queue.as_ref().ok_or_else(gone)?.send(job).map_err(|_| gone())?;
        answer.recv().map_err(|_| gone())?
    }

    /// Carries out what is queued, then moves the log into the file, which is complete by itself from then on. Later
    /// writes are refused.
    ///
    /// # Errors
    /// The log could not be emptied: another process reads it, the disk is full, or it took longer than `patience`.
    pub fn close(&self, patience: Duration) -> Result<(), StorageError> {
        let (reply, answer) = mpsc::channel();
        let gone = || StorageError::Failed("the writer has stopped".into());
        self.queue.as_ref().ok_or_else(gone)?.send(Job::Close { reply }).map_err(|_| gone())?;
        answer.recv_timeout(patience).map_err(|_| StorageError::Failed("the writer takes too long".into()))?
    }

    /// After each commit from now on, this thread is unparked, too.
    pub fn wake(&self, sleeper: Thread) {
        self.shared.sleepers.rcu(|before| {
            let others = before.iter().filter(|other| other.id() != sleeper.id());
            others.chain([&sleeper]).cloned().collect::<Vec<_>>()
        });
    }

    /// What `/metrics` shows of the file and its writer.
    pub fn readings(&self) -> Vec<metrics::Reading> {
        use metrics::Reading;
        let counts = &self.shared.counts;
        let bytes = |end: &str| {
            let mut path = self.shared.path.clone().into_os_string();
            path.push(end);
            std::fs::metadata(path).map_or(0, |file| file.len()) as f64
        };
        vec![
            Reading::gauge("cms_server_database_bytes", &[], bytes("")),
            Reading::gauge("cms_server_database_log_bytes", &[], bytes("-wal")),
            Reading::gauge("cms_server_write_queue", &[], counts.queue.get() as f64),
            Reading::observed("cms_server_write_wait_seconds", &counts.wait),
            Reading::observed("cms_server_commit_duration_seconds", &counts.commit),
            Reading::observed("cms_server_commit_writes", &counts.writes),
            Reading::count("cms_server_commit_failures", &[], counts.failures.get()),
        ]
    }

    /// How many statements the current thread has read with so far. Tests assert differences.
    pub fn queries() -> u64 {
        reader::queries()
    }

    /// How many bytes of text the current thread has read in rows so far. Tests assert differences.
    pub fn text_read() -> u64 {
        reader::text_read()
    }
}

impl Sqlite {
    fn send(&self, job: Job) -> Result<(), CommitError> {
        let queue = self.queue.as_ref().ok_or_else(stopped)?;
        // Before the writer takes it out of the queue.
        self.shared.counts.queue.inc();
        queue.try_send(job).map_err(|e| {
            self.shared.counts.queue.dec();
            match e {
                TrySendError::Full(_) => CommitError::Busy,
                TrySendError::Disconnected(_) => stopped(),
            }
        })
    }
}

fn stopped() -> CommitError {
    CommitError::Unavailable("the writer has stopped".into())
}

impl Storage for Sqlite {
    fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StorageError> {
        Ok(Box::new(reader::View::begin(&self.shared)?))
    }

    fn hold(&self) -> Box<dyn Held + '_> {
        Box::new(reader::Hold::begin())
    }

    fn commit(&self, plan: WritePlan) -> CommitFuture {
        let (reply, answer) = oneshot::channel();
        let sent = self.send(Job::Commit { plan, reply, queued: Instant::now() });
        Box::pin(later(async move {
            sent?;
            answer.await.unwrap_or_else(|_| Err(stopped()))
        }))
    }

    fn scope_version(&self, scope: &Name) -> u64 {
        self.shared.versions.get(scope)
    }

    fn slot_version(&self, slot: VersionSlot) -> u64 {
        self.shared.versions.slot_version(slot)
    }

    fn version_epoch(&self) -> Option<u64> {
        self.shared.versions.epoch()
    }

    fn begin(&self) -> BeginFuture {
        let (ready, answer) = oneshot::channel();
        let (ops, served) = mpsc::channel();
        let sent = self.send(Job::Begin(Begin { ops: served, ready }));
        let versions = Arc::clone(&self.shared.versions);
        Box::pin(async move {
            sent?;
            answer.await.unwrap_or_else(|_| Err(stopped()))?;
            Ok(Arc::new(OpenTransaction::new(ops, versions)) as Arc<dyn Transaction>)
        })
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(writer) = self.writer.take() {
            // A panic of the writer was reported when it happened.
            let _ = writer.join();
        }
        reader::forget(self.shared.id);
    }
}
