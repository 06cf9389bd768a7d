//! Threads for work that takes long, behind a queue that is bounded; and the memory that they share.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// A few threads that carry out jobs, in order of arrival.
pub struct Pool {
    jobs: SyncSender<Job>,
    waiting: Arc<AtomicUsize>,
}

/// Why a job has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolError {
    /// The queue is full.
    Busy,
    /// The job panicked, or the threads are gone.
    Failed,
}

impl Pool {
    /// Starts `workers` threads; `queue` jobs may wait.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(name: &str, workers: usize, queue: usize) -> std::io::Result<Pool> {
        let (jobs, queued) = sync_channel::<Job>(queue.max(1));
        let queued = Arc::new(Mutex::new(queued));
        for _ in 0..workers.max(1) {
            let queued = Arc::clone(&queued);
            std::thread::Builder::new().name(name.to_owned()).spawn(move || work(&queued))?;
        }
        Ok(Pool { jobs, waiting: Arc::default() })
    }

    /// Jobs that no thread has begun yet.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Carries out a job; the caller waits without blocking a thread.
    ///
    /// # Errors
    /// See [`PoolError`].
    pub async fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T, PoolError> {
        let (send, receive) = oneshot::channel();
        let place = Waiting::of(&self.waiting);
        let job: Job = Box::new(move || {
            drop(place);
            drop(send.send(job()));
        });
        self.jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => PoolError::Busy,
            TrySendError::Disconnected(_) => PoolError::Failed,
        })?;
        receive.await.map_err(|_| PoolError::Failed)
    }
}

/// A place in the queue, given back when a job begins or is refused.
struct Waiting(Arc<AtomicUsize>);

impl Waiting {
    fn of(number: &Arc<AtomicUsize>) -> Waiting {
        number.fetch_add(1, Ordering::Relaxed);
        Waiting(number.clone())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn work(queued: &Mutex<Receiver<Job>>) {
    loop {
        let next = match queued.lock() {
            Ok(queue) => queue.recv(),
            Err(_) => return,
        };
        let Ok(job) = next else { return };
        // A job that panics must not end the thread: its caller sees a closed channel.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
    }
}

/// Bytes that several jobs share: each takes what it may need before it begins, and waits until there is as much. In
/// order of arrival, so that a large job is not passed by small ones for ever.
#[derive(Default)]
pub struct Budget {
    /// Held by the thread that takes the next job.
    turn: Mutex<()>,
    taken: Mutex<u64>,
    freed: Condvar,
}

/// Bytes of a [`Budget`], given back when this is dropped.
pub struct Reservation<'b> {
    budget: &'b Budget,
    bytes: u64,
}

impl Budget {
    /// Takes bytes of at most `most`, as soon as they are free; `None` for more than there are at all. Who holds some
    /// must not take more.
    pub fn take(&self, bytes: u64, most: u64) -> Option<Reservation<'_>> {
        if bytes > most {
            return None;
        }
        let _next = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |taken: &mut u64| taken.saturating_add(bytes) > most && *taken > 0;
        let mut taken = self.freed.wait_while(taken, full).unwrap_or_else(PoisonError::into_inner);
        *taken = taken.saturating_add(bytes);
        Some(Reservation { budget: self, bytes })
    }

    /// Bytes that are taken now.
    #[cfg(test)]
    pub fn taken(&self) -> u64 {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut taken = self.budget.taken.lock().unwrap_or_else(PoisonError::into_inner);
        *taken = taken.saturating_sub(self.bytes);
        self.budget.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn jobs_are_done_refused_and_survived() {
        let pool = Pool::start("test", 1, 1).expect("a thread");
        assert_eq!(pool.run(|| 7).await, Ok(7));
        assert_eq!(pool.run(|| panic!("a job of the test")).await, Err::<(), _>(PoolError::Failed));
        let (open, gate) = std::sync::mpsc::channel::<()>();
        let slow = pool.run(move || gate.recv().unwrap_or_default());
        let mut slow = Box::pin(slow);
        // Polled once, it occupies the thread; what follows waits, and then nothing more does.
        let mut refused = 0;
        assert!(futures_util::poll!(&mut slow).is_pending());
        let mut waiting = Vec::new();
        for mut job in (0..3).map(|_| Box::pin(pool.run(|| ()))) {
            match futures_util::poll!(&mut job) {
                std::task::Poll::Ready(Err(PoolError::Busy)) => refused += 1,
                _ => waiting.push(job),
            }
        }
        assert!(refused >= 1, "{refused}");
        assert!(pool.waiting() >= 1, "refused jobs do not wait");
        drop(open);
        assert_eq!(slow.await, Ok(()));
        for job in waiting {
            let _ = job.await;
        }
        assert_eq!(pool.waiting(), 0);
    }

    #[test]
    fn bytes_are_taken_and_given_back() {
        let budget = Budget::default();
        assert!(budget.take(11, 10).is_none(), "more than there is at all");
        let first = budget.take(10, 10).expect("all of it");
        std::thread::scope(|scope| {
            let (asks, asked) = std::sync::mpsc::channel();
            let budget = &budget;
            let waits = scope.spawn(move || {
                asks.send(()).expect("a listener");
                budget.take(1, 10).map(|taken| (budget.taken(), drop(taken)).0)
            });
            asked.recv().expect("a beginning");
            assert_eq!(budget.taken(), 10);
            drop(first);
            assert_eq!(waits.join().expect("an end"), Some(1));
        });
        assert_eq!(budget.taken(), 0);
        // A panic gives back, too.
        let broken = std::panic::catch_unwind(|| {
            let _taken = budget.take(5, 10);
            panic!("a job of the test");
        });
        assert!(broken.is_err() && budget.taken() == 0);
    }
}
