//! Keeps a panic inside the request that caused it.
//!
//! The hook prints nothing for a guarded panic: [`guarded`] returns its text to the caller, who logs it once together
//! with the request's id. Panics elsewhere are printed as usual.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a future to its end; `Err` is the message of a panic and its place.
///
/// State that the future shares with others must tolerate being left in the middle: locks that poison, transactions
/// that roll back when dropped.
pub async fn guarded<T>(mut future: Pin<Box<dyn Future<Output = T> + '_>>) -> Result<T, String> {
    install_hook();
    poll_fn(|context| {
        let outer = GUARDED.replace(true);
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        GUARDED.set(outer);
        match polled {
            Ok(poll) => poll.map(Ok),
            Err(panic) => std::task::Poll::Ready(Err(describe(panic.as_ref()))),
        }
    })
    .await
}

fn describe(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into());
    match PLACE.take() {
        Some(place) => format!("{said} ({place})"),
        None => said,
    }
}

fn install_hook() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let outer = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if GUARDED.get() {
                PLACE.set(info.location().map(ToString::to_string));
            } else {
                outer(info);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<T>(future: impl Future<Output = T> + 'static) -> Result<T, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(guarded(Box::pin(future)))
    }

    #[test]
    fn panics_become_texts_with_their_place() {
        assert_eq!(run(async { 7 }), Ok(7));
        let said = run(async { panic!("number {}", 5) }).expect_err("it panics");
        assert!(said.starts_with("number 5 (") && said.contains("guard.rs:"), "{said}");
        let said = run(async {
            tokio::task::yield_now().await;
            panic!("later")
        });
        assert!(said.expect_err("it panics").starts_with("later"));
    }
}
