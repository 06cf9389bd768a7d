//! Pinning the state that a thread reads: while a guard lives, the transactions of its snapshots outlive them.

use std::cell::Cell;
use std::marker::PhantomData;
use std::rc::Rc;

thread_local! {
    /// How many guards of this thread live.
    static GUARDS: Cell<u32> = const { Cell::new(0) };
}

/// Keeps the state that a thread reads; see [`Storage::pin_snapshot`](crate::database::Storage::pin_snapshot).
pub struct PinGuard {
    /// Ends the transactions that nothing needs any more; `None` where nothing had to be pinned.
    settle: Option<fn()>,
    /// It belongs to its thread.
    _here: PhantomData<Rc<()>>,
}

impl PinGuard {
    /// Pins the state that the next snapshot finds, or the one that is pinned already.
    pub(super) fn new(settle: fn()) -> PinGuard {
        GUARDS.set(GUARDS.get() + 1);
        PinGuard { settle: Some(settle), _here: PhantomData }
    }

    /// Nothing needs to be pinned.
    pub(super) fn of_nothing() -> PinGuard {
        PinGuard { settle: None, _here: PhantomData }
    }
}

impl Drop for PinGuard {
    fn drop(&mut self) {
        if let Some(settle) = self.settle {
            GUARDS.set(GUARDS.get() - 1);
            settle();
        }
    }
}

/// Whether this thread's state is pinned.
pub(super) fn is_pinned() -> bool {
    GUARDS.get() > 0
}
