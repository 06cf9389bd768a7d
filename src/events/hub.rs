//! The newest entries of the change feed in memory, read once for all receivers of the process.

use super::FeedEntry;
use super::feed::{entries_from, newest};
use super::visible::VisibleEvent;
use cms_base::pool::OwnerShares;
use cms_storage::{Database, StorageError};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Entries in memory. A receiver that is further behind reads them from the database.
const MOST: usize = 4096;

/// Entries that are read at once.
const AT_ONCE: u64 = 500;

/// A decision for one receiver serves others with the same rights for this long.
const MOMENT: Duration = Duration::from_millis(200);

/// Decisions in memory.
const MOST_TOLD: usize = 4096;

/// Commits of so long are read together.
const GATHER: Duration = Duration::from_millis(50);

/// Longest sleep of the reader: not every process that writes the same file wakes it.
const LONGEST: Duration = Duration::from_secs(1);

/// The decision on an entry for a receiver, and when it was made.
type CachedDecision = (Instant, Option<Arc<VisibleEvent>>);

/// See the module.
pub struct EventHub {
    state: Arc<HubState>,
    /// Places of listeners, by caller.
    pub open: Arc<OwnerShares>,
}

struct HubState {
    storage: Arc<dyn Database>,
    /// Held while the feed is read. Others use the entries that were read before.
    reading: Mutex<()>,
    recent: Mutex<RecentEntries>,
    told: Mutex<HashMap<(i64, Arc<str>), CachedDecision>>,
    receivers: AtomicUsize,
    /// The number of the newest entry.
    newest: watch::Sender<i64>,
}

#[derive(Default)]
struct RecentEntries {
    list: VecDeque<Arc<FeedEntry>>,
    /// The newest one that was read; `None`: nothing was read yet, or nobody listened.
    last: Option<Arc<FeedEntry>>,
    /// The thread that reads; it sleeps while nobody listens.
    reader: Option<Thread>,
    /// How often the feed did not go on where it was read.
    breaks: u64,
}

/// A receiver's share in the hub: while one is there, the feed is read.
pub struct HubReceiver {
    state: Arc<HubState>,
    pub changes: watch::Receiver<i64>,
    /// See [`RecentEntries::breaks`].
    breaks: u64,
}

/// The entries behind a place in the feed.
pub enum NextEntries {
    Entries(Vec<Arc<FeedEntry>>),
    /// The place is not there any more; the number of the newest entry.
    Lost(i64),
}

impl EventHub {
    /// Over a database. Nothing is read before somebody listens.
    pub fn new(storage: Arc<dyn Database>) -> EventHub {
        let state = HubState {
            storage,
            reading: Mutex::default(),
            recent: Mutex::default(),
            told: Mutex::default(),
            receivers: AtomicUsize::new(0),
            newest: watch::Sender::new(0),
        };
        EventHub { state: Arc::new(state), open: Arc::default() }
    }

    /// Begins to receive, with the number of the newest entry: what comes after it is not missed.
    ///
    /// # Errors
    /// The database cannot be read; no thread.
    pub fn join(&self) -> Result<(HubReceiver, i64), StorageError> {
        let state = &self.state;
        state.receivers.fetch_add(1, Ordering::AcqRel);
        // From here on it is counted as a receiver, and leaves when it is dropped.
        let changes = state.newest.subscribe();
        let mut receiver = HubReceiver { state: state.clone(), changes, breaks: 0 };
        state.read_on()?;
        let mut recent = state.lock();
        match &recent.reader {
            Some(reader) => reader.unpark(),
            None => recent.reader = start(state).ok(),
        }
        receiver.breaks = recent.breaks;
        let at = recent.last.as_ref().map_or(0, |last| last.seq);
        drop(recent);
        Ok((receiver, at))
    }
}

impl HubReceiver {
    /// The entries after a number, a bounded number of them.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn after(&mut self, seq: i64) -> Result<NextEntries, StorageError> {
        self.changes.mark_unchanged();
        let recent = self.state.lock();
        let (breaks, last) = (recent.breaks, recent.last.as_ref().map_or(0, |last| last.seq));
        if breaks != self.breaks || seq > last || seq < 0 {
            self.breaks = breaks;
            return Ok(NextEntries::Lost(last));
        }
        let in_memory = recent.list.front().is_some_and(|first| first.seq <= seq + 1);
        if in_memory || seq == last {
            let later = recent.list.range(recent.list.partition_point(|entry| entry.seq <= seq)..);
            return Ok(NextEntries::Entries(later.take(AT_ONCE as usize).cloned().collect()));
        }
        drop(recent);
        let found = entries_from(&*self.state.storage, seq + 1, AT_ONCE)?;
        Ok(match found.first() {
            Some(first) if first.seq == seq + 1 => NextEntries::Entries(found.into_iter().map(Arc::new).collect()),
            _ => NextEntries::Lost(last),
        })
    }

    /// Whether the feed has gone on since entries were taken: no database took over that lacks some of them.
    pub fn is_whole(&self) -> bool {
        self.state.lock().breaks == self.breaks
    }

    /// The database.
    pub fn storage(&self) -> &dyn Database {
        &*self.state.storage
    }

    /// Reads what is new now, without waiting for the reader.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn catch_up(&self) -> Result<(), StorageError> {
        self.state.read_on()
    }

    /// The number of the newest entry that was read.
    pub fn newest(&self) -> i64 {
        *self.changes.borrow()
    }

    /// The decision of a moment ago on an entry, for receivers with the same rights.
    pub fn told(&self, seq: i64, caller: &Arc<str>) -> Option<Option<Arc<VisibleEvent>>> {
        let told = self.state.decisions();
        let (at, event) = told.get(&(seq, caller.clone()))?;
        (at.elapsed() < MOMENT).then(|| event.clone())
    }

    /// Remembers a decision for a moment.
    pub fn note(&self, seq: i64, caller: &Arc<str>, event: Option<Arc<VisibleEvent>>) {
        let mut told = self.state.decisions();
        if told.len() >= MOST_TOLD {
            told.retain(|_, (at, _)| at.elapsed() < MOMENT);
        }
        if told.len() < MOST_TOLD {
            told.insert((seq, caller.clone()), (Instant::now(), event));
        }
    }
}

impl Drop for HubReceiver {
    fn drop(&mut self) {
        self.state.receivers.fetch_sub(1, Ordering::AcqRel);
    }
}

impl HubState {
    fn lock(&self) -> MutexGuard<'_, RecentEntries> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decisions(&self) -> MutexGuard<'_, HashMap<(i64, Arc<str>), CachedDecision>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn alone(&self) -> MutexGuard<'_, ()> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what is new.
    fn read_on(&self) -> Result<(), StorageError> {
        let _alone = self.alone();
        let breaks = self.lock().breaks;
        while self.read_some()? {}
        let recent = self.lock();
        let at = recent.last.as_ref().map_or(0, |last| last.seq);
        let broke = recent.breaks != breaks;
        drop(recent);
        // Nobody is woken for nothing.
        self.newest.send_if_modified(|newest| std::mem::replace(newest, at) != at || broke);
        Ok(())
    }

    /// Reads a bounded number of entries; whether there may be more.
    fn read_some(&self) -> Result<bool, StorageError> {
        let last = self.lock().last.clone();
        let Some(last) = last else {
            let found = newest(&*self.storage)?.map(Arc::new);
            self.lock().last = found;
            return Ok(false);
        };
        // The last one is read again: where another one has its number, commits were lost.
        let mut found = entries_from(&*self.storage, last.seq, AT_ONCE)?.into_iter();
        if found.next().as_ref() != Some(&*last) {
            let found = newest(&*self.storage)?.map(Arc::new);
            // Their numbers are given to other changes.
            self.decisions().clear();
            let mut recent = self.lock();
            recent.breaks += 1;
            recent.list.clear();
            recent.last = found;
            return Ok(false);
        }
        let mut recent = self.lock();
        let before = recent.list.len();
        recent.list.extend(found.map(Arc::new));
        let read = recent.list.len() - before;
        recent.last = recent.list.back().cloned().or(Some(last));
        let over = recent.list.len().saturating_sub(MOST);
        recent.list.drain(..over);
        Ok(read + 1 >= AT_ONCE as usize)
    }

    /// Forgets what was read where nobody listens; whether that is so.
    fn is_left(&self) -> bool {
        let _alone = self.alone();
        let mut recent = self.lock();
        let left = self.receivers.load(Ordering::Acquire) == 0;
        if left {
            // The next one begins with what is newest then.
            (recent.list, recent.last) = (VecDeque::new(), None);
        }
        left
    }
}

impl Drop for HubState {
    fn drop(&mut self) {
        // Its thread sees that it is gone.
        if let Some(reader) = &self.lock().reader {
            reader.unpark();
        }
    }
}

/// Starts the thread that reads what each commit brings. It ends with the hub.
fn start(state: &Arc<HubState>) -> std::io::Result<Thread> {
    let (own, storage) = (Arc::downgrade(state), state.storage.clone());
    let thread = thread::Builder::new().name("events".into()).spawn(move || keep_reading(&own))?;
    storage.wake(thread.thread().clone());
    Ok(thread.thread().clone())
}

fn keep_reading(state: &Weak<HubState>) {
    loop {
        let Some(state) = state.upgrade() else { return };
        if state.is_left() {
            drop(state);
            // The next receiver wakes it.
            thread::park();
            continue;
        }
        if let Err(error) = state.read_on() {
            tracing::warn!("event streams and webhooks wait for news: {error}");
        }
        drop(state);
        // A commit meanwhile ends the sleep behind it at once.
        thread::sleep(GATHER);
        thread::park_timeout(LONGEST);
    }
}
