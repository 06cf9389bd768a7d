//! Webhooks as people make them: who is told, in which form, with which secret. How they are sent is the
//! matter of the module `webhooks`.

use crate::access::failure;
use crate::error::{ApiError, Code, status};
use crate::families;
use crate::handlers::{Handler, Outcome, Work, handler, items};
use crate::model::event_head;
use crate::records::{self, Record, txt};
use crate::registry::columns::{delivery, webhook as col};
use crate::registry::link::parts::{SECRET_PREFIX, webhook_secret};
use crate::registry::name;
use crate::registry::resource::Resource;
use crate::registry::vocabulary::{BehaviourEntry, PLAIN, ResponseKind};
use crate::scope::Scope;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cms_config::declaration::EventType;
use cms_storage::plan::{Change, Cond, DbValue, Op, Put, Target, WritePlan};
use serde_json::{Value, json};
use url::Url;

/// The response to a delivery that was ordered.
const ORDERED: &str = r#"{"type": "object", "properties": {"delivery": {"type": "integer", "description": "Id of the delivery, which is sent in a moment."}}}"#;

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    handler("webhook.create", |w| Box::pin(create(w)), "Makes a webhook; only this response has its secret.")
        .fails(&[Code::CannotCreate])
        .responds(ResponseKind::Created)
        .on(PLAIN),
    handler("webhook.update", |w| Box::pin(update(w)), "Changes a webhook, and starts one again that was parked.")
        .fails(&[Code::CannotEdit, Code::PreconditionFailed, Code::RecordInvalidId])
        .on(PLAIN)
        .item(),
    handler("webhook.delete", |w| Box::pin(delete(w)), "Deletes a webhook that is not declared.")
        .fails(&[Code::CannotDelete, Code::PreconditionFailed, Code::RecordInvalidId])
        .responds(ResponseKind::Deleted)
        .on(PLAIN)
        .item(),
    handler("webhook.test", |w| Box::pin(test(w)), "Sends a test event to a webhook, whatever its filters.")
        .fails(&[Code::CannotEdit, Code::RecordInvalidId])
        .responds(ResponseKind::Json(status::ACCEPTED, ORDERED))
        .on(PLAIN)
        .item(),
    handler("webhook.redeliver", |w| Box::pin(redeliver(w)), "Sends a delivery of a webhook once more.")
        .fails(&[Code::CannotEdit, Code::RecordInvalidId])
        .responds(ResponseKind::Json(status::ACCEPTED, ORDERED))
        .on(PLAIN)
        .item(),
];

/// Bytes of a secret that the server makes.
const SECRET_BYTES: usize = 24;

/// Seconds for which the secret before is valid, too.
const ROTATION: i64 = 24 * 3600;

/// Seconds after which somebody may come again whose delivery found no place.
const AGAIN: i64 = 10;

/// Deliveries of one webhook that may wait because somebody ordered them.
const MOST_ORDERED: u64 = 20;

/// A secret that nobody knows yet.
pub fn new_secret() -> String {
    format!("{SECRET_PREFIX}{}", STANDARD.encode(rand::random::<[u8; SECRET_BYTES]>()))
}

/// Makes a webhook.
///
/// # Errors
/// Its address, its form, its secret or a resource is none; there are as many as there may be.
async fn create(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let scope = work.scope;
    check(work, None)?;
    let most = scope.registry.declaration.events.max_webhooks;
    if scope.snapshot()?.count(&records::columns(&resource.table, &["id"], records::always()))? >= most {
        let message = format!("There are {most} webhooks already; delete one of them first (events.max_webhooks).");
        return Err(ApiError::invalid_one(col::NAME, message));
    }
    let secret = given_secret(work)?.unwrap_or_else(new_secret);
    let newest = records::newest_change(&*scope.snapshot()?)?;
    let mut changes = families::plan_creation(&work.edit(resource, None))?;
    let values = [(col::SIGNING, txt(&secret)), (col::STATE, txt("active")), (col::POSITION, DbValue::Int(newest))];
    records::set_first(resource, &mut changes, &values);
    let written = work.insert(resource, changes).await?;
    let mut outcome = items::created(work, resource, &written)?;
    outcome.body["secret"] = json!(secret);
    Ok(Outcome { private: true, ..outcome })
}

/// Changes a webhook.
///
/// # Errors
/// As [`create`]; it is declared.
async fn update(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let secret = given_secret(work)?;
    let written = items::with_target(work, resource, async |row| {
        let record = Record { resource, row };
        check(work, Some(record))?;
        let mut changes = families::update(&work.edit(resource, Some(row)), record)?;
        // Whoever changes it wants it to be tried again, from where it was.
        let mut values = vec![
            (col::STATE, txt("active")),
            (col::ERROR, txt("")),
            (col::ATTEMPTS, DbValue::Int(0)),
            (col::DUE, DbValue::Null),
            (col::FAILING, DbValue::Null),
        ];
        if let Some(secret) = secret.as_deref().filter(|secret| *secret != record.text(col::SIGNING)) {
            values.push((col::SIGNING_BEFORE, record.value(col::SIGNING).clone()));
            values.push((col::SIGNING_UNTIL, DbValue::Int(work.scope.now + ROTATION)));
            values.push((col::SIGNING, txt(secret)));
        }
        records::set_first(resource, &mut changes, &values);
        work.rewrite(record, changes).await
    })
    .await?;
    let mut outcome = items::show_written(work, resource, written)?;
    if let (Some(secret), Value::Object(document)) = (secret, &mut outcome.body) {
        document.insert("secret".into(), json!(secret));
        outcome.private = true;
    }
    Ok(outcome)
}

/// Deletes a webhook.
///
/// # Errors
/// It is declared.
async fn delete(work: &Work<'_>) -> Result<Outcome, ApiError> {
    undeclared(work, target(work)?, Code::CannotDelete)?;
    items::delete(work).await
}

/// Orders a test.
///
/// # Errors
/// Too many deliveries wait.
async fn test(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let hook = target(work)?;
    let item = [json!(hook.resource.name), json!(hook.resource.api_name), json!(hook.id())];
    let mut event = event_head(0, "test", work.scope.now * 1000, 1, item);
    for name in ["slug", "link", "previous_slug", "previous_link"] {
        event.insert(name.into(), Value::Null);
    }
    event.insert("status".into(), json!({"before": null, "after": null}));
    event.extend(["changed", "keys"].map(|name| (name.to_owned(), json!([]))));
    event.insert("addresses".into(), json!({"all": false, "front": [], "rest": []}));
    let event = Value::Object(event);
    order(work, hook, [event].into_iter().collect(), "test").await
}

/// Orders another attempt of a delivery.
///
/// # Errors
/// The webhook has no such delivery; too many wait.
async fn redeliver(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let hook = target(work)?;
    let deliveries = deliveries(work.scope)?;
    let wanted = DbValue::Int(work.allowed.args().int("delivery").unwrap_or(0));
    let row = records::find(&*work.scope.snapshot()?, deliveries, &wanted)?;
    let found = row.as_ref().map(|row| Record { resource: deliveries, row });
    let found = found.filter(|found| found.int(delivery::WEBHOOK) == hook.id());
    let found = found.ok_or_else(|| failure(deliveries, Code::RecordInvalidId))?;
    let events = serde_json::from_str(found.text(delivery::EVENTS)).unwrap_or_default();
    order(work, hook, events, found.text(delivery::TYPE)).await
}

/// Stores a delivery that is sent next.
async fn order(work: &Work<'_>, hook: Record<'_>, events: Value, kind: &str) -> Result<Outcome, ApiError> {
    let (scope, deliveries) = (work.scope, deliveries(work.scope)?);
    let column = |column: &str| deliveries.plan_column(column).unwrap_or_else(|| name(column));
    let is = |name: &str, value: DbValue| Cond::Compare(column(name), Op::Eq, value);
    let waiting = vec![is(delivery::WEBHOOK, DbValue::Int(hook.id())), is(delivery::STATE, txt("waiting"))];
    if scope.snapshot()?.count(&records::plan(deliveries, Cond::All(waiting)))? >= MOST_ORDERED {
        let message = format!("{MOST_ORDERED} deliveries wait already: wait until they are sent.");
        return Err(ApiError::wait(Code::TooManyRequests, AGAIN).with_message(message));
    }
    let event = events.as_array().and_then(|events| events.last()?.get("id")?.as_i64()).unwrap_or(0);
    let put = Put::new(
        deliveries.table.clone(),
        Target::New,
        records::set_of(
            deliveries,
            &[
                (delivery::WEBHOOK, DbValue::Int(hook.id())),
                (delivery::MESSAGE, txt(&format!("msg_{}_{event}_{}", hook.id(), uuid::Uuid::new_v4().simple()))),
                (delivery::EVENT, DbValue::Int(event)),
                (delivery::TYPE, txt(kind)),
                (delivery::STATE, txt("waiting")),
                (delivery::CREATED, DbValue::Int(scope.now)),
                (delivery::EVENTS, txt(&events.to_string())),
            ],
        ),
    );
    let done = work.commit(WritePlan::new(vec![Change::Put(put)])).await;
    let done = done.map_err(|error| families::commit_failure(scope, error))?;
    let id = done.puts.first().map_or(0, |put| records::int(&put.key));
    Ok(Outcome { status: status::ACCEPTED, ..Outcome::ok(json!({"delivery": id})) })
}

/// The webhook that the path names.
fn target<'a>(work: &'a Work<'_>) -> Result<Record<'a>, ApiError> {
    let row = work.allowed.target().ok_or_else(|| ApiError::new(Code::Internal))?;
    Ok(Record { resource: work.resource()?, row })
}

/// The resource of the deliveries.
fn deliveries(scope: &Scope) -> Result<&Resource, ApiError> {
    let declared = scope.registry.declaration.events.deliveries.get();
    declared.and_then(|name| scope.registry.resource(name)).ok_or_else(|| ApiError::new(Code::Internal))
}

/// Refuses changes of a webhook that is declared.
fn undeclared(work: &Work<'_>, hook: Record<'_>, refusal: Code) -> Result<(), ApiError> {
    match hook.text(col::DECLARED) {
        "" => Ok(()),
        declared => {
            let message = format!("This webhook is declared as [webhooks.{declared}]: change it there.");
            Err(work.scope.principal.refuse(hook.resource.code(refusal)).with_message(message))
        }
    }
}

/// Refuses what cannot be sent.
fn check(work: &Work<'_>, hook: Option<Record<'_>>) -> Result<(), ApiError> {
    let registry = &work.scope.registry;
    if let Some(hook) = hook {
        undeclared(work, hook, Code::CannotEdit)?;
    }
    let args = work.allowed.args();
    let refused = |name: &str, message: String| Err(ApiError::invalid_one(name, message));
    if let Some(url) = args.explicit(col::URL).and_then(Value::as_str) {
        let web = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(web) = web else { return refused(col::URL, "The address is no http or https address.".into()) };
        if work.shared.outbound.allowed(&web).is_err() {
            let why = "Nothing is sent there: the address is not public, or its port is not allowed (outbound.networks, \
                       outbound.ports).";
            return refused(col::URL, why.into());
        }
    }
    if let Some(format) = args.explicit(col::FORMAT).and_then(Value::as_str)
        && !registry.declaration.webhook_formats.contains_key(format)
    {
        let known: Vec<&str> = registry.declaration.webhook_formats.keys().map(String::as_str).collect();
        return refused(col::FORMAT, format!("There is no format `{format}`; there are {}.", known.join(", ")));
    }
    let resources = args.explicit(col::RESOURCES).and_then(Value::as_array).into_iter().flatten();
    let unknown = resources.filter_map(Value::as_str).find(|name| registry.resource(name).is_none());
    if let Some(unknown) = unknown {
        return refused(col::RESOURCES, format!("There is no resource `{unknown}`."));
    }
    let events = args.explicit(col::EVENTS).and_then(Value::as_array).into_iter().flatten();
    match events.filter_map(Value::as_str).find(|name| EventType::named(name).is_none()) {
        Some(unknown) => refused(col::EVENTS, format!("There is no event `{unknown}`.")),
        None => Ok(()),
    }
}

/// The secret that a request gives.
fn given_secret(work: &Work<'_>) -> Result<Option<String>, ApiError> {
    let Some(secret) = work.allowed.args().explicit("secret").and_then(Value::as_str) else { return Ok(None) };
    match webhook_secret(secret) {
        Some(_) => Ok(Some(secret.to_owned())),
        None => Err(ApiError::invalid_one(
            "secret",
            "A secret is `whsec_` and 24 to 64 bytes in Base64, or another text of printable ASCII without spaces.",
        )),
    }
}
