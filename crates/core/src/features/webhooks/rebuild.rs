//! Webhooks that rebuild the site, for those who press a button and need not know what it calls.

use super::{deliveries, hooks, is_active, order_own, waiting};
use crate::access::failure;
use crate::error::{ApiError, Code, status};
use crate::handlers::{Outcome, Work};
use crate::records::{self, Record};
use crate::registry::columns::{delivery, webhook as col};
use crate::scope::Scope;
use cms_storage::plan::{Cond, DbValue, Op, Row};
use cms_text::time::format_local;
use serde_json::{Value, json};

/// Lists them, with the state of the last call.
///
/// # Errors
/// The database cannot be read.
pub fn list(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let (hooks, rows) = (hooks(work.scope)?, marked(work.scope)?);
    let marked: Vec<Record<'_>> = rows.iter().map(|row| Record { resource: hooks, row }).collect();
    let deliveries = deliveries(work.scope)?;
    let ids: Vec<i64> = marked.iter().map(Record::id).collect();
    let pending = records::plan(deliveries, waiting(deliveries, &ids));
    let pending = work.scope.snapshot()?.rows(&pending)?;
    let pending: Vec<i64> =
        pending.iter().map(|row| Record { resource: deliveries, row }.int(delivery::WEBHOOK)).collect();
    let documents = marked.iter().map(|hook| document(*hook, pending.contains(&hook.id()))).collect();
    Ok(Outcome { private: true, ..Outcome::ok(Value::Array(documents)) })
}

/// Calls one.
///
/// # Errors
/// There is no such webhook; it is paused.
pub async fn run(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let (hooks, rows) = (hooks(work.scope)?, marked(work.scope)?);
    let wanted = work.allowed.args().int("id");
    let found = rows.iter().map(|row| Record { resource: hooks, row }).find(|hook| Some(hook.id()) == wanted);
    let hook = found.ok_or_else(|| failure(hooks, Code::RecordInvalidId))?;
    if !is_active(hook) {
        let message = "This webhook is off, or has failed for too long: who manages it has to start it again.";
        return Err(work.scope.principal.refuse(hooks.code(Code::CannotEdit)).with_message(message));
    }
    order_own(work, hook, "rebuild", true).await
}

/// The webhooks that are marked, of which there are `events.max_webhooks` at most.
fn marked(scope: &Scope) -> Result<Vec<Row>, ApiError> {
    let hooks = hooks(scope)?;
    let Some(column) = hooks.plan_column(col::REBUILD) else { return Ok(Vec::new()) };
    let plan = records::plan(hooks, Cond::Compare(column, Op::Eq, DbValue::Int(1)));
    Ok(scope.snapshot()?.rows(&records::ordered(plan, &hooks.key, false))?)
}

fn document(hook: Record<'_>, pending: bool) -> Value {
    let moment = |column: &str| match hook.value(column) {
        DbValue::Int(seconds) => json!(format!("{}Z", format_local(*seconds))),
        _ => Value::Null,
    };
    let status = match hook.value(col::STATUS) {
        DbValue::Int(status) => u16::try_from(*status).ok(),
        _ => None,
    };
    let state = match status {
        _ if pending || hook.text(col::STATE) == "pending" => "pending",
        _ if !is_active(hook) => "paused",
        None => "never",
        Some(status) if status::is_success(status) => "sent",
        Some(_) => "failed",
    };
    json!({
        "id": hook.id(),
        "name": hook.text(col::NAME),
        "state": state,
        "status": status,
        "time": moment(col::ATTEMPTED),
        "due": moment(col::DUE),
    })
}
