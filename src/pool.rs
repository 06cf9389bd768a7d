//! Threads for work that takes long, behind a queue that is bounded.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// A few threads that carry out what they are given, in order of arrival.
pub struct Pool {
    jobs: SyncSender<Job>,
}

/// Why nothing came of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolError {
    /// Too many are waiting.
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
        let (jobs, waiting) = sync_channel::<Job>(queue.max(1));
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..workers.max(1) {
            let waiting = Arc::clone(&waiting);
            std::thread::Builder::new().name(name.to_owned()).spawn(move || work(&waiting))?;
        }
        Ok(Pool { jobs })
    }

    /// Carries out a job; the caller waits without holding a thread.
    ///
    /// # Errors
    /// See [`PoolError`].
    pub async fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T, PoolError> {
        let (send, receive) = oneshot::channel();
        let job: Job = Box::new(move || drop(send.send(job())));
        self.jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => PoolError::Busy,
            TrySendError::Disconnected(_) => PoolError::Failed,
        })?;
        receive.await.map_err(|_| PoolError::Failed)
    }
}

fn work(waiting: &Mutex<Receiver<Job>>) {
    loop {
        let next = match waiting.lock() {
            Ok(queue) => queue.recv(),
            Err(_) => return,
        };
        let Ok(job) = next else { return };
        // A job that panics must not end the thread: its caller sees a closed channel.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
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
        let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(pool.run(|| ()))).collect();
        for job in &mut waiting {
            if futures_util::poll!(job) == std::task::Poll::Ready(Err(PoolError::Busy)) {
                refused += 1;
            }
        }
        assert!(refused >= 1, "{refused}");
        drop(open);
        assert_eq!(slow.await, Ok(()));
    }
}
