//! How often one caller may ask: the declared limits, kept in memory (`[limits]`).
//!
//! A limit counts what is allowed and about to be done, so that refusals cost nobody anything; answers that are at hand
//! are not counted. Strangers are told apart by their networks, the others by who they are.

use super::attempts::network;
use super::meter::{Bucket, Meter};
use crate::config::declaration::{Callers, Limit};
use crate::error::{ApiError, Code};
use crate::registry::Registry;
use crate::scope::Scope;
use std::net::IpAddr;

/// Milliseconds of a second, in which buckets are counted.
const SECOND: i64 = 1000;

/// Whose requests count together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Who {
    Network(Option<IpAddr>),
    User(i64),
}

/// See the module's description.
#[derive(Default)]
pub struct Throttle {
    meter: Meter<(Box<str>, Who)>,
}

impl Throttle {
    /// Counts a request against the limits of its endpoint.
    ///
    /// # Errors
    /// 429 with the seconds to wait.
    pub fn request(&self, scope: &Scope, limits: &[usize]) -> Result<(), ApiError> {
        let known = scope.principal.known();
        self.take(scope, limits.iter().map(|i| limit(&scope.registry, *i)), |callers| match callers {
            Callers::All => true,
            Callers::Strangers => !known,
            Callers::Known => known,
            Callers::Mistaken => false,
        })
    }

    /// Counts credentials that are wrong.
    ///
    /// # Errors
    /// 429 with the seconds to wait.
    pub fn mistake(&self, scope: &Scope) -> Result<(), ApiError> {
        self.take(scope, scope.registry.declaration.limits.iter(), |callers| callers == Callers::Mistaken)
    }

    fn take<'l>(
        &self,
        scope: &Scope,
        limits: impl Iterator<Item = (&'l String, &'l Limit)>,
        concerns: impl Fn(Callers) -> bool,
    ) -> Result<(), ApiError> {
        let who = match scope.principal.id {
            0 => Who::Network(scope.peer.ip.map(network)),
            id => Who::User(id),
        };
        let bucket = |(name, limit): (&String, &Limit)| Bucket {
            key: (name.as_str().into(), who),
            pause: 60 * SECOND / i64::from(limit.per_minute.max(1)),
            burst: i64::from(limit.burst),
        };
        let buckets: Vec<_> = limits.filter(|(_, limit)| !limit.off && concerns(limit.callers)).map(bucket).collect();
        if buckets.is_empty() {
            return Ok(());
        }
        self.meter
            .take(&buckets, scope.now * SECOND)
            .map_err(|wait| ApiError::wait(Code::TooManyRequests, (wait + SECOND - 1) / SECOND))
    }
}

fn limit(registry: &Registry, index: usize) -> (&String, &Limit) {
    registry.declaration.limits.get_index(index).expect("endpoints name limits that are declared")
}
