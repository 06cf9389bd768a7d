//! RowTurns at a row that several requests want to change at once.
//!
//! A change is decided on the row as it was read. Where the row has changed since, it is decided again, and with many writers
//! a request could lose every time. So requests that have lost wait in line for the row, and later ones behind them. Other
//! nodes have lines of their own; only the first of each compete.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OwnedMutexGuard;

/// The line of requests at a row: each waits for the lock.
type RowLock = Arc<tokio::sync::Mutex<()>>;

/// The lines at all rows that have one.
#[derive(Default)]
pub struct RowTurns(Mutex<HashMap<String, RowLock>>);

/// A request's turn; the next one has its own when this is dropped.
pub struct Turn<'t> {
    // It goes first: a line that nobody holds or waits in is forgotten.
    _held: OwnedMutexGuard<()>,
    _place: PlaceInLine<'t>,
}

struct PlaceInLine<'t> {
    turns: &'t RowTurns,
    row: String,
}

impl RowTurns {
    /// Whether requests wait for this row, or one of them has its turn.
    pub fn has_line(&self, row: &str) -> bool {
        self.lines().contains_key(row)
    }

    /// Waits in line.
    pub async fn wait_for_turn(&self, row: String) -> Turn<'_> {
        let place = PlaceInLine { turns: self, row };
        let line = self.lines().entry(place.row.clone()).or_default().clone();
        Turn { _held: line.lock_owned().await, _place: place }
    }

    fn lines(&self) -> MutexGuard<'_, HashMap<String, RowLock>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PlaceInLine<'_> {
    fn drop(&mut self) {
        let mut lines = self.turns.lines();
        if lines.get(&self.row).is_some_and(|line| Arc::strong_count(line) == 1) {
            lines.remove(&self.row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Waker};

    fn poll<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            std::task::Poll::Ready(done) => Some(done),
            std::task::Poll::Pending => None,
        }
    }

    #[test]
    fn turns_follow_each_other_and_lines_are_forgotten() {
        let turns = RowTurns::default();
        assert!(!turns.has_line("a"));
        let first = poll(pin!(turns.wait_for_turn("a".into()))).expect("nobody is before it");
        let (mut second, mut third) =
            (Box::pin(turns.wait_for_turn("a".into())), Box::pin(turns.wait_for_turn("a".into())));
        assert!(poll(second.as_mut()).is_none() && poll(third.as_mut()).is_none());
        assert!(poll(pin!(turns.wait_for_turn("b".into()))).is_some(), "another row");
        assert!(!turns.has_line("b"));
        drop(first);
        assert!(poll(third.as_mut()).is_none(), "the second one is before it");
        // Its client has gone away.
        drop(second);
        let third = poll(third.as_mut()).expect("it is the first now");
        assert!(turns.has_line("a"));
        drop(third);
        assert!(!turns.has_line("a"));
    }
}
