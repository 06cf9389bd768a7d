//! Hashes of account passwords, made on a thread of their own with a bounded queue.
//!
//! bcrypt over a keyed pre-hash, so that the whole password counts and not its first 72 bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use sha2::Sha384;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use tokio::sync::oneshot;

/// Hashes that may wait; more are refused.
const QUEUE: usize = 64;

/// The marker of our hashes before bcrypt's own.
const MARK: &str = "$wp";

type Job = Box<dyn FnOnce() + Send>;

/// A thread that hashes.
pub struct Hasher {
    jobs: SyncSender<Job>,
    cost: u32,
}

/// Why a hash was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashError {
    /// Too many are waiting.
    Busy,
    /// bcrypt refused, or the thread is gone.
    Failed,
}

impl Hasher {
    /// Starts the thread; `cost` is bcrypt's (4 to 31).
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(cost: u32) -> std::io::Result<Hasher> {
        let (jobs, queue) = sync_channel::<Job>(QUEUE);
        std::thread::Builder::new().name("hasher".into()).spawn(move || {
            for job in queue {
                // A job that panics must not end the thread: its caller sees a closed channel.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
            }
        })?;
        Ok(Hasher { jobs, cost })
    }

    /// The hash of a new password.
    ///
    /// # Errors
    /// See [`HashError`].
    pub async fn hash(&self, password: &str) -> Result<String, HashError> {
        let (password, cost) = (prehash(password), self.cost);
        self.run(move || bcrypt::hash(password, cost).map(|hash| format!("{MARK}{hash}")).ok())
            .await?
            .ok_or(HashError::Failed)
    }

    /// Whether a password is the one behind a stored hash. An empty hash costs the same time and never fits.
    ///
    /// # Errors
    /// See [`HashError`].
    pub async fn verify(&self, password: &str, stored: &str) -> Result<bool, HashError> {
        let (plain, password, stored, cost) = (password.to_owned(), prehash(password), stored.to_owned(), self.cost);
        self.run(move || match stored.strip_prefix(MARK) {
            Some(hash) => bcrypt::verify(password, hash).unwrap_or(false),
            None if stored.starts_with("$2") => bcrypt::verify(plain, &stored).unwrap_or(false),
            None => {
                let _ = bcrypt::hash(password, cost);
                false
            }
        })
        .await
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, HashError> {
        let (send, receive) = oneshot::channel();
        let job: Job = Box::new(move || drop(send.send(work())));
        self.jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => HashError::Busy,
            TrySendError::Disconnected(_) => HashError::Failed,
        })?;
        receive.await.map_err(|_| HashError::Failed)
    }
}

fn prehash(password: &str) -> String {
    let mut mac = Hmac::<Sha384>::new_from_slice(b"wp-sha384").expect("HMAC takes keys of any length");
    mac.update(password.trim().as_bytes());
    STANDARD.encode(mac.finalize().into_bytes())
}
