//! Moving what is committed from the log into the file, beside the writer instead of in its commits.
//!
//! A checkpoint beside a busy writer never catches up with the log's end, so the log would grow for ever. When it is
//! some times too long, the writer moves the rest itself; that is little by then, and the log starts anew.

use super::super::sqlite::{Shared, checkpointing};
use rusqlite::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

/// Pages in the log that call for a checkpoint.
const PAGES: usize = 4000;
/// Pages in the log at which the writer helps.
const TOO_MANY: usize = 4 * PAGES;

const CHECKPOINT: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// See the module.
pub struct Checkpoints {
    pages: Arc<AtomicUsize>,
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    /// Takes over from SQLite, which would checkpoint in the writer's commits. `None` where it cannot: then it does.
    pub fn start(writer: &mut Connection, shared: &Shared) -> Option<Checkpoints> {
        let conn = checkpointing(&shared.path, &shared.settings).ok()?;
        let (wake, calls) = sync_channel(1);
        let work = move || {
            while calls.recv().is_ok() {
                // Whatever is in the way (a reader, a full disk) may be gone at the next call.
                let _ = checkpoint(&conn);
            }
        };
        let thread = Builder::new().name("storage-checkpoint".into()).spawn(work).ok()?;
        let pages = Arc::new(AtomicUsize::new(0));
        let seen = pages.clone();
        let hook = move |_: &mut rusqlite::hooks::Wal, pages| {
            seen.store(usize::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        };
        writer.wal_hook(Some(hook)).ok()?;
        Some(Checkpoints { pages, wake: Some(wake), thread: Some(thread) })
    }

    /// To be called after each commit.
    pub fn committed(&self, writer: &Connection) {
        let pages = self.pages.load(Ordering::Relaxed);
        if pages >= TOO_MANY {
            let _ = checkpoint(writer);
        } else if let (true, Some(wake)) = (pages >= PAGES, &self.wake) {
            // A call that waits already will do.
            let _ = wake.try_send(());
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

fn checkpoint(conn: &Connection) -> rusqlite::Result<()> {
    conn.prepare_cached(CHECKPOINT)?.query_row([], |_| Ok(()))
}
