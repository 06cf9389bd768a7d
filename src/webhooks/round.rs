//! Deliveries whose outcomes are stored together: a commit for each would take the time of those who write.

use super::message::WebhookMessage;
use super::row::{DeliveryAttempt, WebhookTables};
use crate::boot::BootError;
use cms_core::records::txt;
use cms_core::registry::columns::webhook as col;
use cms_storage::Storage;
use cms_storage::plan::{Change, DbValue};
use std::collections::VecDeque;
use std::time::Duration;

/// The outcomes of a webhook that has something to send are stored so often. After a kill, what was sent meanwhile is sent again.
const ROUND: Duration = Duration::from_secs(1);

/// A round of many deliveries is longer: its commit writes all deliveries that are remembered.
pub const LONG_ROUND: Duration = Duration::from_secs(5);
pub const MANY: usize = 50;

/// Deliveries of a round.
const MOST: usize = 500;

/// Columns of a webhook and their values.
pub type HookValues = Vec<(&'static str, DbValue)>;

/// The deliveries of a webhook since the last commit.
#[derive(Default)]
pub struct DeliveryRound {
    /// The newest ones, as many as are remembered.
    sent: VecDeque<SentMessage>,
    count: usize,
    /// The number of the last event that was delivered, and when.
    delivered: Option<(i64, i64)>,
    /// The state of the webhook after a failure, which ends the round.
    failure: HookValues,
}

/// A message that was sent.
pub struct SentMessage {
    /// The delivery, where the message has failed before.
    pub again: Option<i64>,
    pub message: WebhookMessage,
    pub attempt: DeliveryAttempt,
}

impl DeliveryRound {
    /// Whether nothing was sent.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether it has as many deliveries as it may have.
    pub fn is_full(&self) -> bool {
        self.count >= MOST
    }

    /// How long after the round before it is stored.
    pub fn length(&self) -> Duration {
        if self.count < MANY { ROUND } else { LONG_ROUND }
    }

    /// Forgets it.
    pub fn clear(&mut self) {
        *self = DeliveryRound::default();
    }

    /// Adds a delivery, with the state of the webhook after a failure.
    pub fn add(&mut self, sent: SentMessage, failure: HookValues, history: usize) {
        self.count += 1;
        if failure.is_empty() {
            self.delivered = Some((sent.message.seq(), sent.attempt.at));
        }
        self.failure = failure;
        self.sent.push_back(sent);
        // Older ones would be deleted with the same commit.
        if self.sent.len() > history {
            self.sent.pop_front();
        }
    }

    /// The changes that store it: the place of the webhook, how it goes, and the deliveries.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn changes(
        &self,
        (tables, storage): (WebhookTables<'_>, &dyn Storage),
        hook: i64,
        history: u64,
    ) -> Result<Vec<Change>, BootError> {
        let mut values = HookValues::new();
        if let Some((seq, at)) = self.delivered {
            values.extend([(col::POSITION, DbValue::Int(seq)), (col::SENT, DbValue::Int(at))]);
        }
        match self.failure.is_empty() {
            true => values.extend([
                (col::STATE, txt("active")),
                (col::ERROR, txt("")),
                (col::ATTEMPTS, DbValue::Int(0)),
                (col::DUE, DbValue::Null),
                (col::FAILING, DbValue::Null),
            ]),
            false => values.extend(self.failure.iter().cloned()),
        }
        values.extend(self.sent.back().into_iter().flat_map(|last| last.attempt.last()));
        let mut changes = vec![tables.set(hook, &values)];
        changes.extend(self.sent.iter().map(|sent| tables.outcome(hook, sent.again, &sent.message, &sent.attempt)));
        let new = self.sent.iter().filter(|sent| sent.again.is_none()).count() as u64;
        changes.extend(tables.shortened(storage, hook, history.saturating_sub(new))?);
        Ok(changes)
    }
}
