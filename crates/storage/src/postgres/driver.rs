//! The thread that drives all connections, how others wait for it, and what the server's errors mean.

use super::super::statement::{DbError, Fault};
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// The thread on which connections live.
pub struct Driver {
    pub handle: Handle,
    _stop: oneshot::Sender<()>,
}

impl Driver {
    /// Starts the thread. It ends when the driver is dropped.
    pub fn start() -> std::io::Result<Driver> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        thread::Builder::new().name("storage-postgres".into()).spawn(move || {
            // An error is the sender's end.
            let _ = runtime.block_on(stopped);
            runtime.shutdown_timeout(Duration::from_millis(200));
        })?;
        Ok(Driver { handle, _stop: stop })
    }
}

/// The signal that wakes a thread that waits for the server. It does not park: an unpark that tells the thread's own loop of a
/// commit would be lost here, and the loop would sleep through that commit.
#[derive(Default)]
struct WaitSignal {
    woken: Mutex<bool>,
    changed: Condvar,
}

impl Wake for WaitSignal {
    fn wake(self: Arc<Self>) {
        *self.woken.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_one();
    }
}

impl WaitSignal {
    /// Sleeps until it is woken, or for this long.
    fn sleep(&self, left: Duration) {
        let woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        let woken = self.changed.wait_timeout_while(woken, left, |woken| !*woken);
        *woken.unwrap_or_else(PoisonError::into_inner).0 = false;
    }
}

thread_local! {
    static SIGNAL: Arc<WaitSignal> = Arc::default();
}

/// Sleeps until a future is ready; `None`: not by then.
pub fn wait<T>(future: impl Future<Output = T>, until: Instant) -> Option<T> {
    let mut future = pin!(future);
    SIGNAL.with(|signal| {
        let waker = Waker::from(signal.clone());
        let mut context = Context::from_waker(&waker);
        loop {
            if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
                return Some(done);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            signal.sleep(left);
        }
    })
}

/// The kind and the cause of an error. `closed`: the connection is gone.
pub fn explain(error: &Error, closed: bool) -> DbError {
    let Some(db) = error.as_db_error() else {
        let fault = if closed || error.is_closed() { Fault::Unavailable } else { Fault::Other };
        return DbError { fault, cause: with_causes(error) };
    };
    let code = db.code();
    let fault = match code.code() {
        "23505" => Fault::Duplicate(column_of(db)),
        "25006" => Fault::ReadOnly,
        "55P03" | "40001" | "40P01" => Fault::Locked,
        _ if *code == SqlState::QUERY_CANCELED => Fault::TimedOut,
        // No connection, no resources, an operator's intervention, the system's I/O.
        code if ["08", "53", "57", "58"].iter().any(|class| code.starts_with(class)) => Fault::Unavailable,
        "25P03" => Fault::Unavailable,
        // A table or column that is not there.
        "42P01" | "42703" => Fault::Outdated,
        _ => Fault::Other,
    };
    DbError { fault, cause: format!("{}: {} ({})", db.severity(), db.message(), code.code()) }
}

/// The first column, `table.column`, of the index that refused a row.
fn column_of(error: &tokio_postgres::error::DbError) -> Option<Arc<str>> {
    let columns = error.detail()?.split_once("Key (")?.1;
    let first = columns.split([',', ')']).next()?.trim_matches('"');
    Some(format!("{}.{first}", error.table()?).into())
}

/// An error with what caused it.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text.push_str(": ");
        text.push_str(&next.to_string());
        cause = next.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    #[test]
    fn waiting_leaves_a_thread_its_unpark() {
        let mut asked = false;
        let answer = poll_fn(|context| {
            if std::mem::replace(&mut asked, true) {
                return Poll::Ready(());
            }
            // A commit comes while the thread waits for the server.
            thread::current().unpark();
            context.waker().wake_by_ref();
            Poll::Pending
        });
        let long = Duration::from_secs(20);
        let began = Instant::now();
        assert_eq!(wait(answer, began + long), Some(()));
        thread::park_timeout(long);
        assert!(began.elapsed() < long, "the thread is woken");
    }

    #[test]
    fn waiting_ends_in_time() {
        assert_eq!(wait(std::future::pending::<()>(), Instant::now() + Duration::from_millis(20)), None);
    }
}
