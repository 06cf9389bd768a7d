//! Webhooks as people make them: who is told, in which form, with which secret. How they are sent is the
//! matter of the module `webhooks`.

mod rebuild;

use crate::access::failure;
use crate::error::{ApiError, Code, status};
use crate::families;
use crate::handlers::{Handler, Outcome, Work, handler, items, sync_handler};
use crate::model::event_of_webhook;
use crate::records::{self, Record, txt};
use crate::registry::columns::{delivery, webhook as col};
use crate::registry::link::parts::{SECRET_PREFIX, webhook_secret};
use crate::registry::name;
use crate::registry::resource::Resource;
use crate::registry::vocabulary::{BehaviourEntry, PLAIN, ResponseKind, VIRTUAL};
use crate::scope::Scope;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cms_declaration::EventType;
use cms_declaration::units::OptionalSetting;
use cms_storage::plan::{Change, Cond, DbValue, Op, Put, ReadPlan, Target, WritePlan};
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
    sync_handler(
        "rebuild.list",
        rebuild::list,
        "Lists the webhooks that rebuild the site, with the state of the last call.",
    )
    .responds(ResponseKind::List)
    .on(VIRTUAL),
    handler("rebuild.run", |w| Box::pin(rebuild::run(w)), "Calls a webhook that rebuilds the site.")
        .fails(&[Code::CannotEdit, Code::RecordInvalidId])
        .responds(ResponseKind::Json(status::ACCEPTED, ORDERED))
        .on(VIRTUAL),
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
    let all = records::columns(&resource.table, &["id"], records::always());
    let last = ReadPlan { offset: most.saturating_sub(1), limit: Some(1), ..all };
    if !scope.snapshot()?.rows(&last)?.is_empty() {
        let message = format!("There are {most} webhooks already; delete one of them first (events.max_webhooks).");
        return Err(ApiError::invalid_one(col::NAME, message));
    }
    let secret = given_secret(work)?.unwrap_or_else(new_secret);
    let newest = records::newest_change(&*scope.snapshot()?)?;
    let mut changes = families::plan_creation(&work.edit(resource, None)?)?;
    let values = [(col::SIGNING, txt(&secret)), (col::STATE, txt("active")), (col::POSITION, DbValue::Int(newest))];
    records::set_first(resource, &mut changes, &values);
    // Several requests at once make no more, either.
    changes.insert(0, Change::Require { plan: last, found: false, tag: "webhooks" });
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
        let mut changes = families::update(&work.edit(resource, Some(row))?, record)?;
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
    order_own(work, target(work)?, "test", false).await
}

/// Orders a message of one event that is no change.
async fn order_own(work: &Work<'_>, hook: Record<'_>, kind: &str, all: bool) -> Result<Outcome, ApiError> {
    let item = [json!(hook.resource.name), json!(hook.resource.api_name), json!(hook.id())];
    let event = event_of_webhook(0, kind, work.scope.now * 1000, item, all);
    order(work, hook, json!([event]), kind).await
}

/// Orders another attempt of a delivery.
///
/// # Errors
/// Its webhook is gone; too many wait.
async fn redeliver(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let delivery = target(work)?;
    let hooks = hooks(work.scope)?;
    let row = records::find(&*work.scope.snapshot()?, hooks, delivery.value(delivery::WEBHOOK))?;
    let row = row.ok_or_else(|| failure(delivery.resource, Code::RecordInvalidId))?;
    let events = serde_json::from_str(delivery.text(delivery::EVENTS)).unwrap_or_default();
    order(work, Record { resource: hooks, row: &row }, events, delivery.text(delivery::TYPE)).await
}

/// Stores a delivery that is sent next.
async fn order(work: &Work<'_>, hook: Record<'_>, events: Value, kind: &str) -> Result<Outcome, ApiError> {
    let (scope, deliveries) = (work.scope, deliveries(work.scope)?);
    let waiting = waiting(deliveries, &[hook.id()]);
    if scope.snapshot()?.count(&records::plan(deliveries, waiting))? >= MOST_ORDERED {
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

/// The row that the path names.
fn target<'a>(work: &'a Work<'_>) -> Result<Record<'a>, ApiError> {
    let row = work.allowed.target().ok_or_else(|| ApiError::new(Code::Internal))?;
    Ok(Record { resource: work.resource()?, row })
}

/// The resource of the deliveries.
fn deliveries(scope: &Scope) -> Result<&Resource, ApiError> {
    declared(scope, &scope.registry.declaration.events.deliveries)
}

/// The resource of the webhooks.
fn hooks(scope: &Scope) -> Result<&Resource, ApiError> {
    declared(scope, &scope.registry.declaration.events.webhooks)
}

/// The resource that a setting names.
fn declared<'s>(scope: &'s Scope, setting: &OptionalSetting<String>) -> Result<&'s Resource, ApiError> {
    setting.get().and_then(|name| scope.registry.resource(name)).ok_or_else(|| ApiError::new(Code::Internal))
}

/// The deliveries that somebody ordered of these webhooks, and that were not sent yet.
fn waiting(deliveries: &Resource, hooks: &[i64]) -> Cond {
    let column = |column: &str| deliveries.plan_column(column).unwrap_or_else(|| name(column));
    let of = Cond::In(column(delivery::WEBHOOK), hooks.iter().copied().map(DbValue::Int).collect());
    Cond::All(vec![of, Cond::Compare(column(delivery::STATE), Op::Eq, txt("waiting"))])
}

/// Whether a webhook receives events: it is on, and neither parked nor refused.
pub fn is_active(hook: Record<'_>) -> bool {
    hook.int(col::ENABLED) != 0 && !matches!(hook.text(col::STATE), "parked" | "refused")
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
    let is_known = |list: &str, name: &str| match list {
        col::RESOURCES => registry.resource(name).is_some(),
        col::EVENTS => EventType::named(name).is_some(),
        _ => registry.has_state(name),
    };
    for (list, what) in [(col::RESOURCES, "resource"), (col::EVENTS, "event"), (col::STATUSES, "state")] {
        let names = args.explicit(list).and_then(Value::as_array).into_iter().flatten();
        if let Some(unknown) = names.filter_map(Value::as_str).find(|name| !is_known(list, name)) {
            return refused(list, format!("There is no {what} `{unknown}`."));
        }
    }
    Ok(())
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
