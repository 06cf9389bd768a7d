//! The memory that bodies of requests take together, while they are received and until they are answered.
//!
//! Each caller has a share of it, and callers without credentials together have half: neither keeps others out. Who
//! sends a body is only looked up where that body is large; it knows nothing else of requests.

use crate::error::{ApiError, Code, refuse_if};
use cms_base::pool::JobOwner;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of a body that are not counted: enough for a login, whatever else is being received.
const UNCOUNTED: usize = 8 << 10;

/// Bytes from which on it is looked up who sends a body.
const LOOKED_UP: usize = 64 << 10;

/// All bodies together, in multiples of the largest that is accepted.
const TOGETHER: usize = 3;

/// Who sends a body.
#[derive(Clone, Copy, Debug)]
pub struct BodySender {
    pub owner: JobOwner,
    /// Its credentials are valid.
    pub known: bool,
}

/// Limits of a body at a path outside the REST base.
#[derive(Clone, Copy, Debug)]
pub struct PathLimits {
    /// Most bytes of a body.
    pub most: usize,
    /// Most bytes of one whose headers name no caller.
    pub unknown: usize,
}

/// Limits of a body.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// Bytes of it.
    pub most: usize,
    /// Bytes of it without credentials.
    pub unknown: usize,
    /// Bytes of the largest that is accepted anywhere.
    pub largest: usize,
}

/// See the module's description.
#[derive(Debug, Default)]
pub struct Bodies(Mutex<BodyTotals>);

#[derive(Debug, Default)]
struct BodyTotals {
    all: usize,
    unknown: usize,
    owners: HashMap<JobOwner, usize>,
}

/// The memory of one body, given back when this is dropped.
#[derive(Debug)]
pub struct Reservation {
    bodies: Arc<Bodies>,
    limits: BodyLimits,
    sender: BodySender,
    bytes: usize,
    /// The sender was looked up.
    identified: bool,
}

impl Bodies {
    /// The memory of a body of which nothing is there yet. `sender` is the network that it comes from.
    pub fn reserve(self: &Arc<Bodies>, sender: JobOwner, limits: BodyLimits) -> Reservation {
        let sender = BodySender { owner: sender, known: false };
        Reservation { bodies: Arc::clone(self), limits, sender, bytes: 0, identified: false }
    }

    fn lock(&self) -> MutexGuard<'_, BodyTotals> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BodyTotals {
    /// Whether there are so many more bytes.
    ///
    /// # Errors
    /// There are not: of all, of those without credentials, or of this sender.
    fn check(&self, sender: BodySender, bytes: usize, largest: usize) -> Result<(), ApiError> {
        let all = largest.saturating_mul(TOGETHER);
        let class = if sender.known { all } else { all / 2 };
        let own = self.owners.get(&sender.owner).copied().unwrap_or(0);
        let fits =
            self.all + bytes <= all && own + bytes <= class / 3 * 2 && (sender.known || self.unknown + bytes <= class);
        if !fits {
            let why = "The server receives as many large requests at the moment as it can hold; try again.";
            return Err(ApiError::new(Code::Busy).with_message(why));
        }
        Ok(())
    }

    /// Counts so many more bytes.
    ///
    /// # Errors
    /// As [`BodyTotals::check`].
    fn add(&mut self, sender: BodySender, bytes: usize, largest: usize) -> Result<(), ApiError> {
        self.check(sender, bytes, largest)?;
        self.all += bytes;
        if !sender.known {
            self.unknown += bytes;
        }
        *self.owners.entry(sender.owner).or_default() += bytes;
        Ok(())
    }

    fn remove(&mut self, sender: BodySender, bytes: usize) {
        self.all = self.all.saturating_sub(bytes);
        if !sender.known {
            self.unknown = self.unknown.saturating_sub(bytes);
        }
        if let Some(own) = self.owners.get_mut(&sender.owner) {
            *own = own.saturating_sub(bytes);
            if *own == 0 {
                self.owners.remove(&sender.owner);
            }
        }
    }
}

impl Reservation {
    /// The head of the request announces so many bytes: a body for which there is no memory now is refused before it is
    /// sent. `identify` looks up who sends it.
    ///
    /// # Errors
    /// It is too large, for this sender or for all; there is no memory for it now.
    pub async fn announce(&mut self, bytes: usize, identify: impl AsyncFnOnce() -> BodySender) -> Result<(), ApiError> {
        self.admit(bytes, identify).await?;
        self.bodies.lock().check(self.sender, bytes.saturating_sub(UNCOUNTED), self.limits.largest)
    }

    /// Whether the body may have so many bytes.
    ///
    /// # Errors
    /// It is too large, for this sender or for all.
    async fn admit(&mut self, bytes: usize, identify: impl AsyncFnOnce() -> BodySender) -> Result<(), ApiError> {
        refuse_if(bytes > self.limits.most, Code::PayloadTooLarge)?;
        if bytes > LOOKED_UP && !self.identified {
            self.identified = true;
            let sender = identify().await;
            self.give_back();
            self.sender = sender;
        }
        if !self.sender.known && bytes > self.limits.unknown {
            let most = self.limits.unknown;
            let why =
                format!("The request is too large: without valid credentials, its body has at most {most} bytes.");
            return Err(ApiError::new(Code::PayloadTooLarge).with_message(why));
        }
        Ok(())
    }

    /// The body has so many bytes by now.
    ///
    /// # Errors
    /// As [`Reservation::announce`].
    pub async fn grow(&mut self, bytes: usize, identify: impl AsyncFnOnce() -> BodySender) -> Result<(), ApiError> {
        self.admit(bytes, identify).await?;
        let counted = bytes.saturating_sub(UNCOUNTED);
        if counted > self.bytes {
            self.bodies.lock().add(self.sender, counted - self.bytes, self.limits.largest)?;
            self.bytes = counted;
        }
        Ok(())
    }

    fn give_back(&mut self) {
        if self.bytes > 0 {
            self.bodies.lock().remove(self.sender, self.bytes);
            self.bytes = 0;
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;
    const LIMITS: BodyLimits = BodyLimits { most: 16 * MIB, unknown: MIB, largest: 16 * MIB };

    fn code(result: Result<(), ApiError>) -> Option<Code> {
        result.err().map(|error| error.code())
    }

    #[tokio::test]
    async fn a_body_is_as_large_as_its_sender_may_send() {
        let bodies = Arc::new(Bodies::default());
        let unknown = BodySender { owner: JobOwner::user(-1), known: false };
        let known = BodySender { owner: JobOwner::user(1), known: true };
        for (sender, bytes, expected) in [
            (unknown, MIB, None),
            (unknown, MIB + 1, Some(Code::PayloadTooLarge)),
            (known, 16 * MIB, None),
            (known, 16 * MIB + 1, Some(Code::PayloadTooLarge)),
        ] {
            let mut body = bodies.reserve(JobOwner::network(None), LIMITS);
            assert_eq!(code(body.grow(bytes, async || sender).await), expected, "{sender:?} {bytes}");
        }
        let mut small = bodies.reserve(JobOwner::network(None), LIMITS);
        assert_eq!(
            code(small.grow(LOOKED_UP, async || -> BodySender { panic!("nobody has to be looked up") }).await),
            None
        );
        drop(small);
        let taken = bodies.lock();
        assert_eq!((taken.all, taken.unknown, taken.owners.len()), (0, 0, 0), "everything was given back");
    }

    #[tokio::test]
    async fn bodies_share_the_memory() {
        let bodies = Arc::new(Bodies::default());
        let limits = BodyLimits { unknown: 16 * MIB, ..LIMITS };
        let mut held = Vec::new();
        let mut add = async |n: i64, known: bool, bytes: usize| {
            let mut body = bodies.reserve(JobOwner::network(None), limits);
            let done = code(body.grow(bytes, async || BodySender { owner: JobOwner::user(n), known }).await);
            held.push(body);
            done
        };
        assert_eq!(add(1, false, 16 * MIB).await, None);
        assert_eq!(add(1, false, MIB).await, Some(Code::Busy), "one sender has two thirds");
        assert_eq!(add(2, false, 7 * MIB).await, None);
        assert_eq!(add(3, false, 2 * MIB).await, Some(Code::Busy), "without credentials there is a half");
        assert_eq!(add(4, false, UNCOUNTED).await, None, "a login always fits");
        assert_eq!(add(5, true, 16 * MIB).await, None);
        assert_eq!(add(5, true, 8 * MIB).await, None);
        assert_eq!(add(6, true, 2 * MIB).await, Some(Code::Busy), "all of it");
        let announced = async |bytes: usize| {
            let mut body = bodies.reserve(JobOwner::network(None), limits);
            code(body.announce(bytes, async || BodySender { owner: JobOwner::user(6), known: true }).await)
        };
        assert_eq!(announced(2 * MIB).await, Some(Code::Busy), "before it is sent");
        assert_eq!(announced(UNCOUNTED).await, None);
        held.clear();
        let taken = bodies.lock();
        assert_eq!((taken.all, taken.unknown, taken.owners.len()), (0, 0, 0));
    }
}
