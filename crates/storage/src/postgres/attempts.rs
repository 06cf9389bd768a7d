//! Attempts to connect to a server. As long as they fail, few are made: whoever waits for one holds a thread, and the
//! requests behind it wait, too.

use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// After a failed attempt nobody tries again for so long.
const PAUSE: Duration = Duration::from_millis(200);
/// Beside an attempt that is under way another one begins only after this. It may find a server that has just returned,
/// where the other one waits in vain.
const BESIDE: Duration = Duration::from_secs(1);

/// See the module.
#[derive(Default)]
pub struct ConnectAttempts(Mutex<AttemptState>);

#[derive(Default)]
struct AttemptState {
    /// When the last attempt failed; `None`: it did not.
    failed: Option<Instant>,
    /// When the last attempt began.
    begun: Option<Instant>,
    under_way: usize,
}

impl AttemptState {
    fn may_begin(&self, now: Instant) -> bool {
        let since = |moment: Option<Instant>| moment.map(|moment| now.saturating_duration_since(moment));
        let Some(failed) = since(self.failed) else { return true };
        match self.under_way {
            0 => failed >= PAUSE,
            _ => since(self.begun).is_none_or(|begun| begun >= BESIDE),
        }
    }
}

impl ConnectAttempts {
    /// Begins an attempt; `None`: it is not the time for one.
    pub fn begin(&self) -> Option<Attempt<'_>> {
        let (mut state, now) = (self.lock(), Instant::now());
        if !state.may_begin(now) {
            return None;
        }
        state.begun = Some(now);
        state.under_way += 1;
        Some(Attempt(self))
    }

    fn lock(&self) -> MutexGuard<'_, AttemptState> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// An attempt that is under way.
pub struct Attempt<'a>(&'a ConnectAttempts);

impl Attempt<'_> {
    /// The outcome is known.
    pub fn end(self, failed: bool) {
        self.0.lock().failed = failed.then(Instant::now);
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.0.lock().under_way -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_try_while_attempts_fail() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let state = |failed: Option<u64>, begun, under_way| AttemptState {
            failed: failed.map(at),
            begun: Some(at(begun)),
            under_way,
        };
        assert!(AttemptState::default().may_begin(start));
        assert!(state(None, 0, 7).may_begin(at(1)), "as many as there are threads, as long as it goes well");
        assert!(!state(Some(10), 0, 0).may_begin(at(209)));
        assert!(state(Some(10), 0, 0).may_begin(at(210)));
        assert!(!state(Some(10), 300, 1).may_begin(at(1_299)), "one is under way");
        assert!(state(Some(10), 300, 1).may_begin(at(1_300)), "and takes long");
    }

    #[test]
    fn an_attempt_is_over_whatever_becomes_of_it() {
        let attempts = ConnectAttempts::default();
        attempts.begin().expect("the first").end(true);
        assert!(attempts.begin().is_none(), "it has just failed");
        attempts.lock().failed = None;
        drop(attempts.begin());
        assert_eq!(attempts.lock().under_way, 0);
    }
}
