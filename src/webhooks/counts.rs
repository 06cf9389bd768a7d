//! How deliveries go, as numbers for the operator.

use cms_base::metrics::Reading;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The outcomes of an attempt, as deliveries have them as `state`.
const OUTCOMES: [&str; 3] = ["sent", "failed", "stopped"];

/// The numbers of each webhook, by its id.
#[derive(Default)]
pub struct WebhookCounts(Mutex<BTreeMap<i64, HookCounts>>);

#[derive(Default)]
struct HookCounts {
    outcomes: [u64; OUTCOMES.len()],
    /// Entries of the change feed that it has not come to; `None`: another node sends.
    lag: Option<i64>,
}

impl WebhookCounts {
    /// Counts an attempt.
    pub fn note(&self, hook: i64, outcome: &str) {
        if let Some(at) = OUTCOMES.iter().position(|known| *known == outcome) {
            self.lock().entry(hook).or_default().outcomes[at] += 1;
        }
    }

    /// Says how far behind each webhook is. Those that are not named are gone.
    pub fn set_lags(&self, lags: &[(i64, i64)]) {
        let mut counts = self.lock();
        counts.retain(|id, _| lags.iter().any(|(known, _)| known == id));
        for (id, lag) in lags {
            counts.entry(*id).or_default().lag = Some(*lag);
        }
    }

    /// Forgets how far behind they are: another node sends.
    pub fn clear_lags(&self) {
        self.lock().values_mut().for_each(|counts| counts.lag = None);
    }

    /// The readings of it on `/metrics`.
    pub fn readings(&self) -> Vec<Reading> {
        let mut readings = Vec::new();
        for (id, counts) in &*self.lock() {
            let id = id.to_string();
            for (outcome, count) in OUTCOMES.iter().zip(counts.outcomes) {
                readings.push(Reading::count("cms_server_webhook_deliveries", &[&id, outcome], count));
            }
            let lag = counts.lag.map(|lag| Reading::gauge("cms_server_webhook_lag", &[&id], lag as f64));
            readings.extend(lag);
        }
        readings
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<i64, HookCounts>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
