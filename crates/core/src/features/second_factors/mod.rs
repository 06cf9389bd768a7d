//! The second factors of a user, for those who may edit the user: what there is, and how others take it away. People set
//! their own up on a page, which asks for the one that they have.

use crate::access::factors::{FactorKind, FactorRow, ended};
use crate::access::outbox::{self, MessageSubject};
use crate::error::{ApiError, Code, status};
use crate::families::user::end_sessions;
use crate::features::application_passwords::COUNTED;
use crate::handlers::{Handler, Outcome, Work, handler, sync_handler};
use crate::registry::vocabulary::{BehaviourEntry, ResponseKind};
use cms_storage::plan::{Change, DbValue};
use cms_text::time::format_local;
use serde_json::{Value, json};

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    sync_handler("second_factor.list", list, "Lists the second factors of a user, the oldest first.")
        .responds(ResponseKind::List)
        .parent(),
    handler(
        "second_factor.delete",
        |w| Box::pin(delete(w)),
        "Takes a second factor of another user away, and ends the user's sessions.",
    )
    .fails(&[Code::RecordInvalidId, Code::CannotEdit, Code::Forbidden])
    .responds(ResponseKind::Deleted)
    .parent(),
    handler(
        "second_factor.delete_all",
        |w| Box::pin(delete_all(w)),
        "Takes all second factors of another user and the recovery codes away, and ends the user's sessions.",
    )
    .fails(&[Code::CannotEdit, Code::Forbidden])
    .responds(ResponseKind::Json(status::OK, COUNTED))
    .parent(),
];

/// The factors.
fn list(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let documents = rows(work)?.iter().map(document).collect();
    Ok(Outcome { private: true, ..Outcome::ok(Value::Array(documents)) })
}

/// Takes one away.
///
/// # Errors
/// The user has no such factor.
async fn delete(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let wanted = work.captures.get("id").and_then(Value::as_str).unwrap_or_default();
    let rows = rows(work)?;
    let found = rows.iter().find(|row| &*row.id == wanted);
    let row = found.ok_or_else(|| {
        let code = Code::RecordInvalidId;
        ApiError::new(work.resource().map_or(code, |resource| resource.code(code)))
    })?;
    let changes = row.removed(work.account()?.id(), rows.len() == 1);
    take_away(work, changes, format!("removed: {}", row.name)).await?;
    Ok(Outcome::ok(json!({"deleted": true, "previous": document(row)})))
}

/// Takes all away.
async fn delete_all(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let count = rows(work)?.len();
    let changes = ended(&DbValue::Int(work.account()?.id())).into();
    take_away(work, changes, "all were removed".to_owned()).await?;
    Ok(Outcome::ok(json!({"deleted": true, "count": count})))
}

/// The device may be lost, so its sessions end, too.
async fn take_away(work: &Work<'_>, mut changes: Vec<Change>, told: String) -> Result<(), ApiError> {
    let account = work.account()?;
    changes.push(end_sessions(&DbValue::Int(account.id()), None));
    let told = json!({"change": told});
    changes.extend(outbox::notification_change(work.scope, MessageSubject::SecondFactor, account, told));
    work.write(changes).await.map(drop)
}

fn rows(work: &Work<'_>) -> Result<Vec<FactorRow>, ApiError> {
    FactorRow::of_user(work.scope, work.account()?.id())
}

fn document(row: &FactorRow) -> Value {
    let moment = |seconds: i64| format!("{}Z", format_local(seconds));
    json!({
        "id": &*row.id,
        "name": &*row.name,
        "kind": FactorKind::parse(&row.kind).map(FactorKind::as_str),
        "created": moment(row.created),
        "last_used": (row.last_used != 0).then(|| moment(row.last_used)),
    })
}
