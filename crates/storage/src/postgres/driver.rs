//! The thread that drives all connections, how others wait for it, and what the server's errors mean.

use super::super::statement::{DbError, Fault};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
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

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

thread_local! {
    static WAKER: Waker = Waker::from(Arc::new(Unpark(thread::current())));
}

/// Sleeps until a future is ready; `None`: not by then.
pub fn wait<T>(future: impl Future<Output = T>, until: Instant) -> Option<T> {
    let mut future = pin!(future);
    WAKER.with(|waker| {
        let mut context = Context::from_waker(waker);
        loop {
            if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
                return Some(done);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            thread::park_timeout(left);
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
