//! The newest entries of the change feed in memory, read once for all receivers of the process.

use super::FeedEntry;
use super::feed::{entries_from, newest};
use super::told::ToldEvent;
use cms_base::pool::OwnerShares;
use cms_storage::{Database, StorageError};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
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

/// Longest sleep of the reader: not every process that writes the same file wakes it.
const LONGEST: Duration = Duration::from_secs(1);

/// The decision on an entry for a receiver, and when it was made.
type ToldAt = (Instant, Option<Arc<ToldEvent>>);

/// See the module.
pub struct EventHub {
    state: Arc<HubState>,
    /// Places of listeners, by caller.
    pub open: Arc<OwnerShares>,
}

struct HubState {
    storage: Arc<dyn Database>,
    recent: Mutex<RecentEntries>,
    told: Mutex<HashMap<(i64, Arc<str>), ToldAt>>,
    receivers: AtomicUsize,
    /// The number of the newest entry.
    newest: watch::Sender<i64>,
}

#[derive(Default)]
struct RecentEntries {
    list: VecDeque<Arc<FeedEntry>>,
    /// The newest one that was read; `None`: nothing was read yet, or nobody listened.
    last: Option<Arc<FeedEntry>>,
    /// The reader's thread is there.
    runs: bool,
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
        let mut recent = self.state.lock();
        self.state.receivers.fetch_add(1, Ordering::AcqRel);
        // From here on it is counted as a receiver, and leaves when it is dropped.
        let changes = self.state.newest.subscribe();
        let mut receiver = HubReceiver { state: self.state.clone(), changes, breaks: 0 };
        let read = self.state.read_on(&mut recent);
        if !recent.runs {
            recent.runs = start(&self.state).is_ok();
        }
        let at = recent.last.as_ref().map_or(0, |last| last.seq);
        receiver.breaks = recent.breaks;
        drop(recent);
        read.map(|()| (receiver, at))
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
            let later = recent.list.iter().skip_while(|entry| entry.seq <= seq);
            return Ok(NextEntries::Entries(later.take(AT_ONCE as usize).cloned().collect()));
        }
        drop(recent);
        let found = entries_from(&*self.state.storage, seq + 1, AT_ONCE)?;
        Ok(match found.first() {
            Some(first) if first.seq == seq + 1 => NextEntries::Entries(found.into_iter().map(Arc::new).collect()),
            _ => NextEntries::Lost(last),
        })
    }

    /// Reads what is new now, without waiting for the reader.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn catch_up(&self) -> Result<(), StorageError> {
        self.state.read_on(&mut self.state.lock())
    }

    /// The number of the newest entry that was read.
    pub fn newest(&self) -> i64 {
        *self.changes.borrow()
    }

    /// The decision of a moment ago on an entry, for receivers with the same rights.
    pub fn told(&self, seq: i64, caller: &Arc<str>) -> Option<Option<Arc<ToldEvent>>> {
        let told = self.state.told.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, event) = told.get(&(seq, caller.clone()))?;
        (at.elapsed() < MOMENT).then(|| event.clone())
    }

    /// Remembers a decision for a moment.
    pub fn note(&self, seq: i64, caller: &Arc<str>, event: Option<Arc<ToldEvent>>) {
        let mut told = self.state.told.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Reads what is new.
    fn read_on(&self, recent: &mut RecentEntries) -> Result<(), StorageError> {
        loop {
            let Some(last) = recent.last.clone() else {
                recent.last = newest(&*self.storage)?.map(Arc::new);
                break;
            };
            // The last one is read again: where another one has its number, commits were lost.
            let mut found = entries_from(&*self.storage, last.seq, AT_ONCE)?.into_iter();
            if found.next().as_ref() != Some(&*last) {
                recent.breaks += 1;
                recent.list.clear();
                recent.last = newest(&*self.storage)?.map(Arc::new);
                break;
            }
            let before = recent.list.len();
            recent.list.extend(found.map(Arc::new));
            let read = recent.list.len() - before;
            recent.last = recent.list.back().cloned().or(recent.last.take());
            let over = recent.list.len().saturating_sub(MOST);
            recent.list.drain(..over);
            if read + 1 < AT_ONCE as usize {
                break;
            }
        }
        let at = recent.last.as_ref().map_or(0, |last| last.seq);
        self.newest.send_replace(at);
        Ok(())
    }
}

/// Starts the thread that reads what each commit brings. It ends with the hub.
fn start(state: &Arc<HubState>) -> std::io::Result<()> {
    let (own, storage) = (Arc::downgrade(state), state.storage.clone());
    let thread = thread::Builder::new().name("events".into()).spawn(move || keep_reading(&own))?;
    storage.wake(thread.thread().clone());
    Ok(())
}

fn keep_reading(state: &Weak<HubState>) {
    loop {
        let Some(state) = state.upgrade() else { return };
        let mut recent = state.lock();
        if state.receivers.load(Ordering::Acquire) == 0 {
            // The next one begins with what is newest then.
            *recent = RecentEntries { runs: true, breaks: recent.breaks, ..RecentEntries::default() };
        } else if let Err(error) = state.read_on(&mut recent) {
            tracing::warn!("listeners wait for news: {error}");
        }
        drop(recent);
        drop(state);
        thread::park_timeout(LONGEST);
    }
}
