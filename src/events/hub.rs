//! The newest entries of the change feed in memory, read once for all receivers of the process.

use super::feed::{entries_from, newest};
use super::visible::{VisibleEvent, likely_meanings};
use super::{EventFilter, FeedEntry};
use bytes::Bytes;
use cms_base::pool::OwnerShares;
use cms_core::registry::Registry;
use cms_declaration::EventType;
use cms_storage::{Database, StorageError};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Possible events in memory. A receiver that is further behind reads them from the database.
const MOST: usize = 4096;

/// Entries that are read at once.
const AT_ONCE: u64 = 500;

/// A decision for one receiver serves others with the same rights for this long.
const MOMENT: Duration = Duration::from_secs(1);

/// Decisions in memory.
const MOST_TOLD: usize = 4096;

/// Bytes of texts of streams in memory, with their keys.
const MOST_TEXT: usize = 8 << 20;

/// Commits of so long are read together.
const GATHER: Duration = Duration::from_millis(50);

/// Longest sleep of the reader: not every process that writes the same file wakes it.
const LONGEST: Duration = Duration::from_secs(1);

/// The decision on an entry for a receiver, and when it was made.
type CachedDecision = (Instant, Option<Arc<VisibleEvent>>);

/// An entry of the feed that is an event for some receivers.
pub struct PossibleEvent {
    pub entry: FeedEntry,
    /// The name of the resource.
    pub resource: String,
    /// All that the change may mean to a receiver.
    pub meanings: Vec<EventType>,
}

impl PossibleEvent {
    /// `None`: the entry is an event for no receiver.
    fn of(registry: &Registry, entry: FeedEntry) -> Option<Arc<PossibleEvent>> {
        let (resource, meanings) = likely_meanings(registry, &entry)?;
        Some(Arc::new(PossibleEvent { resource: resource.name.clone(), meanings, entry }))
    }
}

/// The text of a stream from a place in the feed on.
#[derive(Clone)]
pub struct StreamText {
    /// The number of the last entry that was decided on.
    pub until: i64,
    pub text: Bytes,
}

/// Texts of a moment ago by the place where they begin and the name of the streams that send them.
#[derive(Default)]
struct StreamTexts {
    list: HashMap<(i64, Arc<str>), (Instant, StreamText)>,
    size: usize,
}

/// See the module.
pub struct EventHub {
    state: Arc<HubState>,
    /// Places of listeners, by caller.
    pub open: Arc<OwnerShares>,
}

struct HubState {
    registry: Arc<Registry>,
    storage: Arc<dyn Database>,
    /// Held while the feed is read. Others use the entries that were read before.
    reading: Mutex<()>,
    recent: Mutex<RecentEntries>,
    told: Mutex<HashMap<(i64, Arc<str>), CachedDecision>>,
    texts: Mutex<StreamTexts>,
    receivers: AtomicUsize,
    /// The place in the feed that receivers who wait were notified of.
    announced: watch::Sender<FeedPlace>,
}

/// How far the feed was read.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct FeedPlace {
    /// The number of the newest entry.
    newest: i64,
    /// See [`RecentEntries::breaks`].
    breaks: u64,
}

#[derive(Default)]
struct RecentEntries {
    list: VecDeque<Arc<PossibleEvent>>,
    /// The list has all possible events after this number.
    since: i64,
    /// The newest entry that was read; `None`: nothing was read yet, or nobody listened.
    last: Option<Arc<FeedEntry>>,
    /// The thread that reads; it sleeps while nobody listens.
    reader: Option<Thread>,
    /// How often the feed did not go on where it was read.
    breaks: u64,
}

impl RecentEntries {
    fn place(&self) -> FeedPlace {
        FeedPlace { newest: self.last.as_ref().map_or(0, |last| last.seq), breaks: self.breaks }
    }
}

/// A receiver's share in the hub: while one is there, the feed is read.
pub struct HubReceiver {
    state: Arc<HubState>,
    pub changes: watch::Receiver<FeedPlace>,
    /// See [`RecentEntries::breaks`].
    breaks: u64,
}

/// The entries behind a place in the feed.
pub enum NextEntries {
    /// Possible events, and the number up to which there are no others.
    Entries(Vec<Arc<PossibleEvent>>, i64),
    /// The entries behind the place are deleted; the number of the newest one.
    Deleted(i64),
    /// The database lacks commits that it had, or never had; the number of the newest entry.
    Lost(i64),
}

impl EventHub {
    /// Over a database, for what is declared. Nothing is read before somebody listens.
    pub fn new(registry: Arc<Registry>, storage: Arc<dyn Database>) -> EventHub {
        let state = HubState {
            registry,
            storage,
            reading: Mutex::default(),
            recent: Mutex::default(),
            told: Mutex::default(),
            texts: Mutex::default(),
            receivers: AtomicUsize::new(0),
            announced: watch::Sender::new(FeedPlace::default()),
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
        let changes = state.announced.subscribe();
        let mut receiver = HubReceiver { state: state.clone(), changes, breaks: 0 };
        state.read_on()?;
        let mut recent = state.lock();
        match &recent.reader {
            Some(reader) => reader.unpark(),
            None => recent.reader = start(state).ok(),
        }
        let FeedPlace { newest, breaks } = recent.place();
        drop(recent);
        receiver.breaks = breaks;
        Ok((receiver, newest))
    }
}

impl HubReceiver {
    /// The possible events after a number that a filter may choose, a bounded number of them.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn after(&mut self, seq: i64, filter: &EventFilter) -> Result<NextEntries, StorageError> {
        self.changes.mark_unchanged();
        let recent = self.state.lock();
        let FeedPlace { newest: last, breaks } = recent.place();
        if breaks != self.breaks || seq > last || seq < 0 {
            self.breaks = breaks;
            return Ok(NextEntries::Lost(last));
        }
        if recent.since <= seq {
            let later = recent.list.range(recent.list.partition_point(|event| event.entry.seq <= seq)..);
            let wanted = later.filter(|event| filter.may_choose(event));
            let found: Vec<_> = wanted.take(AT_ONCE as usize).cloned().collect();
            let full = found.len() == AT_ONCE as usize;
            let until = found.last().filter(|_| full).map_or(last, |event| event.entry.seq);
            return Ok(NextEntries::Entries(found, until));
        }
        drop(recent);
        let found = entries_from(&*self.state.storage, seq + 1, AT_ONCE)?;
        let (Some(first), Some(until)) = (found.first(), found.last().map(|last| last.seq)) else {
            return Ok(NextEntries::Deleted(last));
        };
        if first.seq != seq + 1 {
            return Ok(NextEntries::Deleted(last));
        }
        let possible = found.into_iter().filter_map(|entry| PossibleEvent::of(&self.state.registry, entry));
        Ok(NextEntries::Entries(possible.filter(|event| filter.may_choose(event)).collect(), until))
    }

    /// Whether the feed has gone on since entries were taken: no database took over that lacks some of them.
    pub fn is_whole(&self) -> bool {
        self.state.lock().breaks == self.breaks
    }

    /// The database.
    pub fn storage(&self) -> &dyn Database {
        &*self.state.storage
    }

    /// Reads what is new now, without waiting for the reader. Those who wait are not woken: the reader does that, for many
    /// entries at once.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn catch_up(&self) -> Result<(), StorageError> {
        self.state.read_on()
    }

    /// The same, unless something after a number was read already.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn catch_up_after(&self, seq: i64) -> Result<(), StorageError> {
        if seq < self.newest() { Ok(()) } else { self.catch_up() }
    }

    /// The number of the newest entry that was read.
    pub fn newest(&self) -> i64 {
        self.state.lock().place().newest
    }

    /// The number of the newest entry that those who wait were notified of.
    pub fn announced(&self) -> i64 {
        self.changes.borrow().newest
    }

    /// The decision of a moment ago on an entry, for receivers with the same rights.
    pub fn told(&self, seq: i64, caller: &Arc<str>) -> Option<Option<Arc<VisibleEvent>>> {
        let told = self.state.decisions();
        let (at, event) = told.get(&(seq, caller.clone()))?;
        (at.elapsed() < MOMENT).then(|| event.clone())
    }

    /// Remembers a decision for a moment.
    pub fn note(&self, seq: i64, caller: &Arc<str>, event: Option<Arc<VisibleEvent>>) {
        if !self.is_whole() {
            return;
        }
        let mut told = self.state.decisions();
        if told.len() >= MOST_TOLD {
            told.retain(|_, (at, _)| at.elapsed() < MOMENT);
        }
        if told.len() < MOST_TOLD {
            told.insert((seq, caller.clone()), (Instant::now(), event));
        }
    }

    /// The text of a moment ago from a place on, for streams of the same name.
    pub fn text(&mut self, seq: i64, streams: &Arc<str>) -> Option<StreamText> {
        self.changes.mark_unchanged();
        if !self.is_whole() {
            return None;
        }
        let texts = self.state.texts();
        let (at, text) = texts.list.get(&(seq, streams.clone()))?;
        (at.elapsed() < MOMENT).then(|| text.clone())
    }

    /// Remembers a text for a moment.
    pub fn share(&self, seq: i64, streams: &Arc<str>, text: StreamText) {
        if !self.is_whole() {
            return;
        }
        let mut texts = self.state.texts();
        let size = |name: &str, text: &StreamText| text.text.len() + name.len() + size_of::<StreamText>();
        let own = size(streams, &text);
        if texts.size + own > MOST_TEXT {
            texts.list.retain(|_, (at, _)| at.elapsed() < MOMENT);
            texts.size = texts.list.iter().map(|((_, name), (_, text))| size(name, text)).sum();
        }
        if texts.size + own <= MOST_TEXT {
            texts.size += own;
            let former = texts.list.insert((seq, streams.clone()), (Instant::now(), text));
            texts.size -= former.map_or(0, |(_, text)| size(streams, &text));
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

    fn texts(&self) -> MutexGuard<'_, StreamTexts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn alone(&self) -> MutexGuard<'_, ()> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what is new.
    fn read_on(&self) -> Result<(), StorageError> {
        let _alone = self.alone();
        while self.read_some()? {}
        Ok(())
    }

    /// Wakes those who wait, where there is news.
    fn announce(&self) {
        let place = self.lock().place();
        self.announced.send_if_modified(|announced| std::mem::replace(announced, place) != place);
    }

    /// Reads a bounded number of entries; whether there may be more.
    fn read_some(&self) -> Result<bool, StorageError> {
        let last = self.lock().last.clone();
        let Some(last) = last else {
            self.begin(newest(&*self.storage)?, false);
            return Ok(false);
        };
        // The last one is read again: where another one has its number, commits were lost.
        let mut found = entries_from(&*self.storage, last.seq, AT_ONCE)?.into_iter();
        if found.next().as_ref() != Some(&*last) {
            self.begin(newest(&*self.storage)?, true);
            // Their numbers are given to other changes.
            self.decisions().clear();
            *self.texts() = StreamTexts::default();
            return Ok(false);
        }
        let found: Vec<FeedEntry> = found.collect();
        let read = found.len();
        let newest = found.last().cloned().map(Arc::new);
        let possible: Vec<_> = found.into_iter().filter_map(|entry| PossibleEvent::of(&self.registry, entry)).collect();
        let mut recent = self.lock();
        recent.list.extend(possible);
        recent.last = newest.or(Some(last));
        let over = recent.list.len().saturating_sub(MOST);
        let dropped = recent.list.drain(..over).next_back().map(|event| event.entry.seq);
        recent.since = dropped.unwrap_or(recent.since);
        Ok(read + 1 >= AT_ONCE as usize)
    }

    /// Begins with what comes after an entry, where nothing was read before, or the feed broke off.
    fn begin(&self, newest: Option<FeedEntry>, broke: bool) {
        let mut recent = self.lock();
        recent.breaks += u64::from(broke);
        recent.list.clear();
        recent.since = newest.as_ref().map_or(0, |newest| newest.seq);
        recent.last = newest.map(Arc::new);
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
        state.announce();
        drop(state);
        // A commit meanwhile ends the sleep behind it at once.
        thread::sleep(GATHER);
        thread::park_timeout(LONGEST);
    }
}
