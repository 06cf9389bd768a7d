//! The common parts of every database: the layout, the dictionary and the versions in memory, and the queue of the one
//! writer.

use super::catalogue::Catalogue;
use super::feed::FeedUpdate;
use super::read_cache::ReadCache;
use super::versions::Versions;
use super::words::Words;
use crate::dependencies::VersionSlot;
use crate::feed::FeedRetention;
use arc_swap::ArcSwap;
use cms_base::metrics::{self, Counter, DURATIONS, Gauge, Histogram, SIZES};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;
use std::time::Duration;

/// State that readers and the writer share.
pub(super) struct Common {
    /// How long a transaction may make other writers wait. What takes longer is rolled back.
    pub hold: Duration,
    pub catalogue: Catalogue,
    pub words: ArcSwap<Words>,
    pub versions: Arc<Versions>,
    /// They sleep until something is written.
    pub sleepers: ArcSwap<Vec<Thread>>,
    pub cached: ReadCache,
    pub counts: WriteCounts,
    /// How long entries of the change feed stay.
    pub feed: FeedRetention,
    /// Names this process in the change feed: a random number.
    pub node: i64,
    /// Held while commits of others are taken up: two threads may have read the same.
    taking_up: Mutex<()>,
}

/// Counts of the writer's work.
pub(super) struct WriteCounts {
    /// Writes and transactions that wait.
    pub queue: Gauge,
    pub wait: Histogram,
    pub commit: Histogram,
    /// Writes in one commit.
    pub writes: Histogram,
    pub failures: Counter,
    /// Why the last commit failed; nothing where it did not.
    pub refused: Mutex<Option<String>>,
}

impl Default for WriteCounts {
    fn default() -> WriteCounts {
        WriteCounts {
            queue: Gauge::default(),
            wait: Histogram::new(DURATIONS),
            commit: Histogram::new(DURATIONS),
            writes: Histogram::new(SIZES),
            failures: Counter::default(),
            refused: Mutex::default(),
        }
    }
}

impl Common {
    pub fn new(
        catalogue: Catalogue,
        words: Words,
        versions: Versions,
        (hold, feed): (Duration, FeedRetention),
    ) -> Common {
        Common {
            hold,
            feed,
            node: rand::random::<i64>() & i64::MAX,
            catalogue,
            words: ArcSwap::from_pointee(words),
            versions: Arc::new(versions),
            sleepers: ArcSwap::default(),
            cached: ReadCache::default(),
            counts: WriteCounts::default(),
            taking_up: Mutex::default(),
        }
    }

    /// Takes over words that are in the database. Words are only added, so fewer are an older state.
    pub fn learn(&self, words: &Words) {
        self.words.rcu(|known| if words.next() > known.next() { Arc::new(words.clone()) } else { known.clone() });
    }

    /// After each commit from now on, this thread is unparked, too.
    pub fn wake(&self, sleeper: Thread) {
        self.sleepers.rcu(|before| {
            let others = before.iter().filter(|other| other.id() != sleeper.id());
            others.chain([&sleeper]).cloned().collect::<Vec<_>>()
        });
    }

    /// Takes notice of what other processes have committed. It may fall due here: they may have ended by then.
    pub fn take_up(&self, news: &FeedUpdate) {
        let _alone = self.taking_up.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if news.is_another_past(self.node) {
            tracing::warn!(
                "the change feed does not go on where this server has read it: commits were lost (a failover, a restored \
                 copy), or entries are deleted too soon (feed.entries); nothing that was cached before is used"
            );
            self.words.store(Arc::new(news.words.clone()));
            self.versions.start_over(&news.numbers, news.mark());
            return self.wake_all();
        }
        self.learn(&news.words);
        let known = self.versions.known().commits;
        // An own commit that the writer has not taken up yet is there for readers already.
        let slots = news.slots(known, &self.catalogue);
        let slots = slots.unwrap_or_else(|| vec![VersionSlot::OTHERS]);
        self.versions.take_up(&news.numbers, &slots, news.mark());
        self.wake_all();
    }

    /// See [`crate::database::Database::refuses_writes`].
    pub fn refuses_writes(&self) -> Option<String> {
        self.counts.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers how the last commit went.
    pub fn remember(&self, refused: Option<String>) {
        *self.counts.refused.lock().unwrap_or_else(PoisonError::into_inner) = refused;
    }

    /// Unparks the threads that sleep until something is written.
    pub fn wake_all(&self) {
        self.sleepers.load().iter().for_each(Thread::unpark);
    }

    /// The writer's readings for `/metrics`.
    pub fn readings(&self) -> Vec<metrics::Reading> {
        use metrics::Reading;
        let counts = &self.counts;
        vec![
            Reading::gauge("cms_server_write_queue", &[], counts.queue.get() as f64),
            Reading::observed("cms_server_write_wait_seconds", &counts.wait),
            Reading::observed("cms_server_commit_duration_seconds", &counts.commit),
            Reading::observed("cms_server_commit_writes", &counts.writes),
            Reading::count("cms_server_commit_failures", &[], counts.failures.get()),
        ]
    }
}
