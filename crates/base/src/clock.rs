//! The time of day, as a part that tests replace.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, Thread};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The machine's clock may be set while a thread waits; no wait is longer than this.
const LONGEST: Duration = Duration::from_secs(60);

/// The time of day, and waiting for a time.
pub trait Clock: Send + Sync {
    /// Seconds since 1970 in UTC.
    fn now(&self) -> i64;

    /// Blocks the thread until `moment` (UTC seconds; `None`: for long) or until the thread is unparked. It may return
    /// earlier, so callers compare the time again.
    fn park_until(&self, moment: Option<i64>);
}

/// The machine's clock.
pub struct SystemClock;

impl SystemClock {
    /// Seconds since 1970 in UTC.
    pub fn now() -> i64 {
        i64::try_from(since_1970().as_secs()).unwrap_or(i64::MAX)
    }
}

impl Clock for SystemClock {
    fn now(&self) -> i64 {
        SystemClock::now()
    }

    fn park_until(&self, moment: Option<i64>) {
        let moment = moment.map(|moment| Duration::from_secs(moment.max(0).unsigned_abs()));
        thread::park_timeout(moment.map_or(LONGEST, |moment| moment.saturating_sub(since_1970()).min(LONGEST)));
    }
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A clock that stands still until a test moves it.
#[derive(Debug)]
pub struct ManualClock {
    now: AtomicI64,
    waiting: Mutex<Vec<(Option<i64>, Thread)>>,
}

impl ManualClock {
    /// It shows `now` (UTC seconds).
    pub fn at(now: i64) -> Arc<ManualClock> {
        Arc::new(ManualClock { now: AtomicI64::new(now), waiting: Mutex::default() })
    }

    /// Moves it, and wakes the threads that wait for a time.
    pub fn advance(&self, seconds: i64) {
        self.now.fetch_add(seconds, Ordering::SeqCst);
        for (_, thread) in self.waiting().iter() {
            thread.unpark();
        }
    }

    /// The earliest moment that a thread waits for.
    pub fn awaited(&self) -> Option<i64> {
        self.waiting().iter().filter_map(|(moment, _)| *moment).min()
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<(Option<i64>, Thread)>> {
        self.waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Clock for ManualClock {
    fn now(&self) -> i64 {
        self.now.load(Ordering::SeqCst)
    }

    fn park_until(&self, moment: Option<i64>) {
        {
            // Under the lock, so that the clock is not moved between the comparison and the entry.
            let mut waiting = self.waiting();
            if moment.is_some_and(|moment| moment <= self.now()) {
                return;
            }
            waiting.push((moment, thread::current()));
        }
        thread::park();
        self.waiting().retain(|(_, waiter)| waiter.id() != thread::current().id());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_waits_for_its_moment_and_not_for_less() {
        let clock = ManualClock::at(1_000);
        clock.park_until(Some(1_000));
        let other = clock.clone();
        let waiter = thread::spawn(move || {
            while other.now() < 1_060 {
                other.park_until(Some(1_060));
            }
            other.now()
        });
        for _ in 0..3 {
            assert!(!waiter.is_finished());
            while clock.awaited() != Some(1_060) {
                thread::yield_now();
            }
            clock.advance(20);
        }
        assert_eq!(waiter.join().expect("the thread"), 1_060);
    }

    #[test]
    fn the_machines_clock_does_not_wait_for_the_past() {
        let began = SystemClock::now();
        SystemClock.park_until(Some(began - 5));
        assert!(SystemClock.now() >= began);
    }
}
