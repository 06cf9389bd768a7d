//! Connections for reads, lent to one thread at a time.

use super::super::statement::{DbError, Fault};
use super::connect::Address;
use super::wire::Session;
use std::ops::Deref;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How long a reader waits for a connection that others use.
const PATIENCE: Duration = Duration::from_secs(5);

/// See the module.
pub struct Pool {
    address: Arc<Address>,
    state: Mutex<PoolState>,
    freed: Condvar,
    most: usize,
}

#[derive(Default)]
struct PoolState {
    idle: Vec<Session>,
    lent: usize,
}

impl Pool {
    /// A pool of at most `most` connections; the first is opened when it is needed.
    pub fn new(address: Arc<Address>, most: usize) -> Pool {
        Pool { address, state: Mutex::default(), freed: Condvar::new(), most: most.max(1) }
    }

    /// A connection. `fresh`: a new one, since those that wait may all be dead.
    pub fn lend(self: &Arc<Pool>, fresh: bool, deadline: Option<Instant>) -> Result<Lease, DbError> {
        let until = deadline.unwrap_or_else(|| Instant::now() + PATIENCE).min(Instant::now() + PATIENCE);
        let mut state = self.lock();
        if fresh {
            state.idle.clear();
        }
        while state.idle.is_empty() && state.lent >= self.most {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let cause = "no connection to the database became free in time (storage.connections)".into();
                return Err(DbError { fault: Fault::Unavailable, cause });
            }
            state = self.freed.wait_timeout(state, left).unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
        state.lent += 1;
        let session = state.idle.pop().filter(|session| !session.is_broken());
        drop(state);
        let mut lease = Lease { session, pool: self.clone() };
        if lease.session.is_none() {
            lease.session = Some(Session::connect(&self.address, deadline)?);
        }
        Ok(lease)
    }

    /// Connections open.
    pub fn open(&self) -> usize {
        let state = self.lock();
        state.idle.len() + state.lent
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A connection that goes back to its pool when this is dropped.
pub struct Lease {
    session: Option<Session>,
    pool: Arc<Pool>,
}

impl Deref for Lease {
    type Target = Session;

    fn deref(&self) -> &Session {
        self.session.as_ref().expect("a lease has its connection until it is dropped")
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut state = self.pool.lock();
        state.lent -= 1;
        state.idle.extend(self.session.take().filter(|session| !session.is_broken()));
        drop(state);
        self.pool.freed.notify_one();
    }
}
