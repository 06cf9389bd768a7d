//! Webhooks and their deliveries as rows.

use super::message::WebhookMessage;
use crate::boot::BootError;
use crate::events::EventFilter;
use cms_base::pool::wait;
use cms_core::features::webhooks::is_active;
use cms_core::outbound::ReceivedAnswer;
use cms_core::records::{self, Record, txt};
use cms_core::registry::Registry;
use cms_core::registry::columns::{delivery, webhook as col};
use cms_core::registry::name;
use cms_core::registry::resource::Resource;
use cms_declaration::{DeclaredWebhook, EventType, WebhookFormat};
use cms_storage::plan::{Change, CommitError, Cond, DbValue, Input, Op, Put, ReadPlan, Row, Target, WritePlan};
use cms_storage::{Storage, StorageError};
use serde_json::{Value, json};
use std::sync::Arc;

/// Bytes of a body and of a failure that are shown.
const MOST_SHOWN: usize = 4096;
const MOST_ERROR: usize = 500;

/// Values of a webhook that begins again from its place.
const STARTED: [(&str, DbValue); 4] = [
    (col::ATTEMPTS, DbValue::Int(0)),
    (col::DUE, DbValue::Null),
    (col::FAILING, DbValue::Null),
    (col::SIGNING_UNTIL, DbValue::Int(0)),
];

/// Ordered deliveries that are looked at together.
const MOST_WAITING: u64 = 1000;

/// The resources that hold them; `None`: there are no webhooks.
#[derive(Clone, Copy)]
pub struct WebhookTables<'r> {
    pub hooks: &'r Resource,
    pub deliveries: &'r Resource,
}

impl WebhookTables<'_> {
    /// Those that are declared.
    pub fn of(registry: &Registry) -> Option<WebhookTables<'_>> {
        let declared = &registry.declaration.events;
        let hooks = registry.resource(declared.webhooks.get()?)?;
        Some(WebhookTables { hooks, deliveries: registry.resource(declared.deliveries.get()?)? })
    }

    /// The versions of both: where they are the same, nothing was written.
    pub fn versions(self, storage: &dyn Storage) -> [u64; 2] {
        [self.hooks, self.deliveries].map(|of| storage.scope_version(&of.table))
    }

    /// All webhooks.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn all(self, storage: &dyn Storage) -> Result<Vec<WebhookRow>, StorageError> {
        let plan = records::ordered(records::plan(self.hooks, records::always()), &self.hooks.key, false);
        let rows = storage.snapshot()?.rows(&plan)?;
        Ok(rows.into_iter().map(|row| WebhookRow::of(self.hooks, row)).collect())
    }

    /// The webhook with this id.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn find(self, storage: &dyn Storage, id: i64) -> Result<Option<WebhookRow>, StorageError> {
        let row = records::find(&*storage.snapshot()?, self.hooks, &DbValue::Int(id))?;
        Ok(row.map(|row| WebhookRow::of(self.hooks, row)))
    }

    /// The oldest delivery that somebody ordered of a webhook.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn ordered(self, storage: &dyn Storage, hook: i64) -> Result<Option<OrderedDelivery>, StorageError> {
        let waiting = vec![self.is(delivery::STATE, txt("waiting")), self.is(delivery::WEBHOOK, DbValue::Int(hook))];
        let plan = records::ordered(records::plan(self.deliveries, Cond::All(waiting)), &self.deliveries.key, false);
        let row = records::first_by::<Row>(&*storage.snapshot()?, plan)?;
        Ok(row.map(|row| {
            let row = Record { resource: self.deliveries, row: &row };
            let events: Vec<Value> = serde_json::from_str(row.text(delivery::EVENTS)).unwrap_or_default();
            let events = events.into_iter().map(Arc::new).collect();
            let message = WebhookMessage { id: row.text(delivery::MESSAGE).to_owned(), events };
            OrderedDelivery { id: row.id(), message }
        }))
    }

    /// Webhooks with deliveries that somebody ordered.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn waiting(self, storage: &dyn Storage) -> Result<Vec<i64>, StorageError> {
        let plan = records::plan(self.deliveries, self.is(delivery::STATE, txt("waiting")));
        let rows = storage.snapshot()?.rows(&ReadPlan { limit: Some(MOST_WAITING), ..plan })?;
        Ok(rows.iter().map(|row| Record { resource: self.deliveries, row }.int(delivery::WEBHOOK)).collect())
    }

    /// A condition on a column of deliveries.
    fn is(self, column: &str, value: DbValue) -> Cond {
        let column = self.deliveries.plan_column(column).unwrap_or_else(|| name(column));
        Cond::Compare(column, Op::Eq, value)
    }

    /// The delivery of a message that has failed before.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn failed(self, storage: &dyn Storage, hook: i64, message: &str) -> Result<Option<i64>, StorageError> {
        let of = self.deliveries;
        let own = vec![self.is(delivery::WEBHOOK, DbValue::Int(hook)), self.is(delivery::MESSAGE, txt(message))];
        let plan = records::ordered(records::plan(of, Cond::All(own)), &of.key, true);
        let row = records::first_by::<Row>(&*storage.snapshot()?, plan)?;
        Ok(row.map(|row| Record { resource: of, row: &row }.id()))
    }

    /// The change that sets columns of a webhook.
    pub fn set(self, id: i64, values: &[(&str, DbValue)]) -> Change {
        let target = Target::Existing { key: DbValue::Int(id), expect: None };
        Change::Put(Put::new(self.hooks.table.clone(), target, records::set_of(self.hooks, values)))
    }

    /// A webhook as the item of an event.
    pub fn item(self, hook: &WebhookRow) -> [Value; 3] {
        [json!(self.hooks.name), json!(self.hooks.api_name), json!(hook.id)]
    }

    /// The change that stores how a delivery went; `id`: it was ordered or failed before.
    pub fn outcome(self, hook: i64, id: Option<i64>, message: &WebhookMessage, outcome: &DeliveryAttempt) -> Change {
        let events: Vec<String> = message.events.iter().map(|event| event.to_string()).collect();
        let values = [
            (delivery::WEBHOOK, DbValue::Int(hook)),
            (delivery::MESSAGE, txt(&message.id)),
            (delivery::EVENT, DbValue::Int(message.seq())),
            (delivery::TYPE, txt(message.kind())),
            (delivery::STATE, txt(outcome.state())),
            (delivery::SENT, DbValue::Int(outcome.at)),
            (delivery::STATUS, outcome.status()),
            (delivery::ERROR, txt(&cut(&outcome.error, MOST_ERROR))),
            (delivery::REQUEST, txt(&cut(&outcome.body, MOST_SHOWN))),
            (delivery::RESPONSE, txt(outcome.answer.as_ref().map_or("", |answer| &answer.text))),
            (delivery::EVENTS, txt(&format!("[{}]", events.join(",")))),
        ];
        let mut set = records::set_of(self.deliveries, &values);
        let attempts = self.deliveries.plan_column(delivery::ATTEMPTS).unwrap_or_else(|| name(delivery::ATTEMPTS));
        let target = match id {
            Some(id) => {
                set.push((attempts, Input::Add(1)));
                Target::Existing { key: DbValue::Int(id), expect: None }
            }
            None => {
                set.extend(records::set_of(self.deliveries, &[(delivery::CREATED, DbValue::Int(outcome.at))]));
                set.push((attempts, Input::Value(DbValue::Int(i64::from(outcome.tried)))));
                Target::New
            }
        };
        Change::Put(Put::new(self.deliveries.table.clone(), target, set))
    }

    /// The change that deletes the oldest deliveries of a webhook, where it has more than so many.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn shortened(self, storage: &dyn Storage, hook: i64, most: u64) -> Result<Option<Change>, StorageError> {
        let of = self.deliveries;
        let own = self.is(delivery::WEBHOOK, DbValue::Int(hook));
        let plan = records::ordered(records::plan(of, own.clone()), &of.key, true);
        let plan = ReadPlan { columns: vec![of.key.clone()], offset: most, ..plan };
        let Some(key) = records::first_by::<DbValue>(&*storage.snapshot()?, plan)? else { return Ok(None) };
        let old = Cond::Compare(of.key.clone(), Op::Le, key);
        Ok(Some(Change::RemoveWhere { table: of.table.clone(), filter: Cond::All(vec![own, old]) }))
    }
}

/// A webhook. It has no `Debug`: its secrets are in no log.
#[derive(Clone, PartialEq)]
pub struct WebhookRow {
    pub id: i64,
    pub url: String,
    pub format: String,
    pub filter: EventFilter,
    pub private: bool,
    pub debounce: i64,
    /// It is on, and neither parked nor refused.
    pub active: bool,
    rebuild: bool,
    pub declared: String,
    signing: [String; 2],
    signing_until: i64,
    pub position: i64,
    pub attempts: i64,
    pub due: i64,
    pub failing_since: Option<i64>,
}

impl WebhookRow {
    fn of(hooks: &Resource, row: Row) -> WebhookRow {
        let record = Record { resource: hooks, row: &row };
        let list = |column: &str| -> Vec<String> { serde_json::from_str(record.text(column)).unwrap_or_default() };
        let text = |column: &str| record.text(column).to_owned();
        let events = list(col::EVENTS).iter().filter_map(|name| EventType::named(name)).collect();
        let failing = record.value(col::FAILING);
        WebhookRow {
            id: record.id(),
            url: text(col::URL),
            format: text(col::FORMAT),
            filter: EventFilter { resources: list(col::RESOURCES), events, statuses: list(col::STATUSES) },
            private: record.int(col::PRIVATE) != 0,
            debounce: record.int(col::DEBOUNCE),
            active: is_active(record),
            rebuild: record.int(col::REBUILD) != 0,
            declared: text(col::DECLARED),
            signing: [text(col::SIGNING), text(col::SIGNING_BEFORE)],
            signing_until: record.int(col::SIGNING_UNTIL),
            position: record.int(col::POSITION),
            attempts: record.int(col::ATTEMPTS),
            due: record.int(col::DUE),
            failing_since: (*failing != DbValue::Null).then(|| records::int(failing)),
        }
    }

    /// Whether it waits for further changes, which are gathered.
    pub fn is_pending(&self) -> bool {
        self.due > 0 && self.attempts == 0
    }

    /// Its failures are over.
    pub fn start_over(&mut self) {
        (self.attempts, self.due, self.failing_since) = (0, 0, None);
    }

    /// The secrets that are valid at a moment, the newest first.
    pub fn secrets(&self, now: i64) -> Vec<&str> {
        let [newest, before] = &self.signing;
        let before = Some(before).filter(|before| !before.is_empty() && now < self.signing_until);
        [Some(newest), before].into_iter().flatten().map(String::as_str).collect()
    }
}

/// A delivery that somebody ordered: a test, or one more attempt.
pub struct OrderedDelivery {
    pub id: i64,
    pub message: WebhookMessage,
}

/// How an attempt went, or why there is none.
pub struct DeliveryAttempt {
    pub at: i64,
    pub tried: bool,
    pub body: String,
    pub answer: Option<ReceivedAnswer>,
    /// Empty: it was delivered.
    pub error: String,
}

impl DeliveryAttempt {
    /// The state of its delivery.
    pub fn state(&self) -> &'static str {
        match self.error.is_empty() {
            _ if !self.tried => "stopped",
            true => "sent",
            false => "failed",
        }
    }

    /// The status of the answer; 0: there was none.
    fn status(&self) -> DbValue {
        DbValue::Int(i64::from(self.answer.as_ref().map_or(0, |answer| answer.status)))
    }

    /// The columns of a webhook that say how its last attempt went.
    pub fn last(&self) -> [(&'static str, DbValue); 2] {
        [(col::ATTEMPTED, DbValue::Int(self.at)), (col::STATUS, self.status())]
    }
}

/// Writes changes.
///
/// # Errors
/// The database does not take them.
pub fn commit(storage: &dyn Storage, changes: Vec<Change>) -> Result<(), BootError> {
    match wait(storage.commit(WritePlan::new(changes))) {
        // The webhook was deleted meanwhile.
        Ok(_) | Err(CommitError::Stale) => Ok(()),
        Err(error) => Err(BootError::Commit(error)),
    }
}

/// Brings the rows of declared webhooks to what is declared, before anybody is served by these declarations. New ones begin
/// behind the newest change. The caller starts alone over the database: two that do this at once would write a row each.
///
/// # Errors
/// The database cannot be read or written.
pub fn declare(registry: &Registry, storage: &dyn Storage) -> Result<(), BootError> {
    let Some(tables) = WebhookTables::of(registry) else { return Ok(()) };
    let present = tables.all(storage)?;
    let declared = &registry.declaration.webhooks;
    let mut changes = Vec::new();
    for row in present.iter().filter(|row| !row.declared.is_empty() && !declared.contains_key(&row.declared)) {
        let key = DbValue::Int(row.id);
        changes.push(Change::Remove { table: tables.hooks.table.clone(), key, expect: None });
    }
    for (declared_name, hook) in declared {
        let known = present.iter().find(|row| row.declared == *declared_name);
        let list = |values: Value| txt(&values.to_string());
        let events: Vec<&str> = hook.events.iter().map(|event| event.name()).collect();
        let flag = |on: bool| DbValue::Int(i64::from(on));
        let mut values = vec![
            (col::NAME, txt(declared_name)),
            (col::DECLARED, txt(declared_name)),
            (col::URL, txt(&hook.url)),
            (col::FORMAT, txt(&hook.format)),
            (col::RESOURCES, list(json!(hook.resources))),
            (col::EVENTS, list(json!(events))),
            (col::STATUSES, list(json!(hook.statuses))),
            (col::PRIVATE, flag(hook.private)),
            (col::DEBOUNCE, DbValue::Int(i64::from(hook.debounce))),
            (col::ENABLED, flag(hook.enabled)),
            (col::REBUILD, flag(hook.rebuild)),
            (col::SIGNING, txt(&hook.secret)),
        ];
        match known {
            None => {
                let newest = records::newest_change(&*storage.snapshot()?)?;
                values.extend([(col::STATE, txt("active")), (col::POSITION, DbValue::Int(newest))]);
                let set = records::set_of(tables.hooks, &values);
                changes.push(Change::Put(Put::new(tables.hooks.table.clone(), Target::New, set)));
            }
            Some(row) if !is_as_declared(row, hook) => {
                // One that is parked is tried again.
                values.extend(STARTED);
                values.extend([(col::STATE, txt("active")), (col::ERROR, txt(""))]);
                changes.push(tables.set(row.id, &values));
            }
            Some(_) => {}
        }
    }
    if changes.is_empty() { Ok(()) } else { commit(storage, changes) }
}

fn is_as_declared(row: &WebhookRow, hook: &DeclaredWebhook) -> bool {
    let (resources, events) = (hook.resources.clone(), hook.events.clone());
    let filter = EventFilter { resources, events, statuses: hook.statuses.clone() };
    row.url == hook.url
        && row.format == hook.format
        && row.filter == filter
        && (row.private, row.debounce) == (hook.private, i64::from(hook.debounce))
        && row.rebuild == hook.rebuild
        && row.signing[0] == hook.secret
        && row.active == hook.enabled
}

/// The declared form of a webhook's requests.
pub fn format_of<'r>(registry: &'r Registry, hook: &WebhookRow) -> Option<&'r WebhookFormat> {
    registry.declaration.webhook_formats.get(&hook.format)
}

/// At most so many bytes of a text.
fn cut(text: &str, most: usize) -> String {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
