//! Rate limits (`[limits]`), in memory.
//!
//! A limit counts requests that are allowed, whether they are about to be carried out or answered from the response cache;
//! refused ones cost nothing. Anonymous callers are counted by network, others by user. Wrong credentials and wrong
//! passwords of records have limits of their own.

use super::attempts::{AttemptLimit, AttemptOutcome, Attempts, Guess, Guesser};
use super::meter::{Bucket, BucketHasher, Meter};
use crate::error::{ApiError, Code};
use crate::registry::Registry;
use crate::scope::Scope;
use cms_declaration::{Callers, Limit};

/// Milliseconds of a second, in which buckets are counted.
const SECOND: i64 = 1000;

/// See the module's description.
///
/// Allowed requests and mistakes are counted in tables of their own, so that a flood of one evicts nothing of the
/// other.
#[derive(Default)]
pub struct Throttle {
    keys: BucketHasher,
    requests: Meter,
    mistakes: Meter,
    /// Passwords of records.
    records: Attempts,
}

impl Throttle {
    /// Counts a request against the limits of its endpoint.
    ///
    /// # Errors
    /// 429 with the seconds to wait.
    pub fn request(&self, scope: &Scope, limits: &[usize]) -> Result<(), ApiError> {
        let known = scope.principal.is_logged_in();
        let limits = limits.iter().map(|i| limit(&scope.registry, *i));
        self.take(&self.requests, scope, limits, |callers| match callers {
            Callers::All => true,
            Callers::Anonymous => !known,
            Callers::Authenticated => known,
            Callers::FailedAuth | Callers::FailedRecordPassword => false,
        })
    }

    /// Counts credentials that are wrong.
    ///
    /// # Errors
    /// 429 with the seconds to wait.
    pub fn mistake(&self, scope: &Scope) -> Result<(), ApiError> {
        let limits = scope.registry.declaration.limits.iter();
        self.take(&self.mistakes, scope, limits, |callers| callers == Callers::FailedAuth)
    }

    /// Counts the password of a record before it is compared; `about` names the record. A password that was right
    /// before, from the same source, counts nowhere.
    ///
    /// # Errors
    /// 429 with the seconds to wait.
    pub fn guess(&self, scope: &Scope, about: &str, secret: &str) -> Result<AttemptOutcome, ApiError> {
        let Some(patience) = guessing(&scope.registry) else { return Ok(AttemptOutcome::Proven) };
        let taken = self.records.count_guess(&guess(scope, about, secret), patience, scope.now);
        taken.map_err(|wait| ApiError::wait(Code::TooManyRequests, wait))
    }

    /// Reports the outcome of a password that [`Throttle::guess`] has counted.
    pub fn report_guess(
        &self,
        scope: &Scope,
        (about, secret): (&str, &str),
        taken: AttemptOutcome,
        outcome: PasswordCheck,
    ) {
        let Some(patience) = guessing(&scope.registry) else { return };
        let guess = guess(scope, about, secret);
        match (taken, outcome) {
            (AttemptOutcome::Counted, PasswordCheck::Right) => self.records.right(&guess, patience),
            (AttemptOutcome::Counted, PasswordCheck::Unused) => self.records.uncount_guess(&guess, patience),
            // The record has another password by now, so this was a guess after all.
            (AttemptOutcome::Proven, PasswordCheck::Wrong) => {
                self.records.forget_proof(&guess);
                let _ = self.records.count_guess(&guess, patience, scope.now);
            }
            (AttemptOutcome::Counted, PasswordCheck::Wrong)
            | (AttemptOutcome::Proven, PasswordCheck::Right | PasswordCheck::Unused) => {}
        }
    }

    fn take<'l>(
        &self,
        meter: &Meter,
        scope: &Scope,
        limits: impl Iterator<Item = (&'l String, &'l Limit)>,
        concerns: impl Fn(Callers) -> bool,
    ) -> Result<(), ApiError> {
        let source = Guesser::of(scope).source();
        let bucket = |(name, limit): (&String, &Limit)| Bucket {
            key: self.keys.of(&[name.as_bytes(), &source]),
            pause: 60 * SECOND / i64::from(limit.per_minute.max(1)),
            burst: i64::from(limit.burst),
        };
        let buckets: Vec<_> =
            limits.filter(|(_, limit)| limit.enabled && concerns(limit.callers)).map(bucket).collect();
        if buckets.is_empty() {
            return Ok(());
        }
        meter
            .add_drops(&buckets, scope.now * SECOND)
            .map_err(|wait| ApiError::wait(Code::TooManyRequests, (wait + SECOND - 1) / SECOND))
    }
}

/// The outcome of a record's password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordCheck {
    Right,
    Wrong,
    /// It was compared with nothing.
    Unused,
}

fn guess<'a>(scope: &Scope, about: &'a str, secret: &'a str) -> Guess<'a> {
    Guess { who: Guesser::of(scope), about, secret, stored: "" }
}

/// The declared limit on passwords of records; of several the first counts.
fn guessing(registry: &Registry) -> Option<AttemptLimit> {
    let mut limits = registry.declaration.limits.values();
    let limit = limits.find(|limit| limit.enabled && limit.callers == Callers::FailedRecordPassword)?;
    Some(AttemptLimit::per_minute(limit.burst, limit.per_minute))
}

fn limit(registry: &Registry, index: usize) -> (&String, &Limit) {
    registry.declaration.limits.get_index(index).expect("endpoints name limits that are declared")
}
