//! The sessions of a user, and the link by which a user sets a first password.

pub mod guard;

use crate::access::outbox::{self, Message, MessageSubject};
use crate::access::sessions::{SessionRow, removed};
use crate::error::{ApiError, Code, status};
use crate::families::user::end_sessions as all_but;
use crate::features::application_passwords::COUNTED;
use crate::handlers::{Handler, Outcome, Work, handler, sync_handler};
use crate::records::{eq, txt};
use crate::registry::columns::{session, user};
use crate::registry::vocabulary::{BehaviourEntry, ResponseKind};
use cms_storage::plan::{Cond, DbValue};
use cms_text::browsers;
use cms_text::time::format_local;
use serde_json::{Value, json};

/// The response to an invitation.
const INVITED: &str = r#"{"type": "object", "properties": {"invited": {"type": "boolean"}, "user": {"type": "integer", "description": "Id of the user."}}}"#;

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    sync_handler("session.list", sessions, "Lists the sessions of a user, the one that was used last first.")
        .responds(ResponseKind::List)
        .parent(),
    handler("session.delete", |w| Box::pin(end_session(w)), "Ends a session of a user.")
        .fails(&[Code::RecordInvalidId, Code::CannotEdit])
        .responds(ResponseKind::Deleted)
        .parent(),
    handler(
        "session.delete_all",
        |w| Box::pin(end_sessions(w)),
        "Ends all sessions of a user but the one that the request was sent with.",
    )
    .fails(&[Code::CannotEdit])
    .responds(ResponseKind::Json(status::OK, COUNTED))
    .parent(),
    handler("user.invite", |w| Box::pin(invite(w)), "Sends a user a link to set a password.")
        .fails(&[Code::CannotEdit, Code::Forbidden, Code::InvalidParam])
        .responds(ResponseKind::Json(status::OK, INVITED))
        .parent(),
];

/// The sessions that have not ended, the one that was used last first.
pub fn sessions(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let documents = rows(work)?.iter().map(|row| document(work, row)).collect();
    Ok(Outcome { private: true, ..Outcome::ok(Value::Array(documents)) })
}

/// Ends one.
///
/// # Errors
/// The user has no such session.
pub async fn end_session(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let wanted = work.captures.get("id").and_then(Value::as_str).unwrap_or_default();
    let found = rows(work)?.into_iter().find(|row| &*row.hash == wanted);
    let row = found.ok_or_else(|| missing(work))?;
    let own = eq(session::USER, DbValue::Int(work.account()?.id()));
    work.write(vec![removed(Cond::All(vec![own, eq(session::HASH, txt(wanted))]))]).await?;
    Ok(Outcome::ok(json!({"deleted": true, "previous": document(work, &row)})))
}

/// Ends all but the one in use.
pub async fn end_sessions(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let own = work.scope.principal.session.as_deref();
    let count = rows(work)?.iter().filter(|row| Some(&*row.hash) != own).count();
    work.write(vec![all_but(&DbValue::Int(work.account()?.id()), own)]).await?;
    Ok(Outcome::ok(json!({"deleted": true, "count": count})))
}

/// Sends the link.
///
/// # Errors
/// The user has no e-mail address.
pub async fn invite(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let account = work.account()?;
    if account.text(user::EMAIL).is_empty() {
        return Err(ApiError::invalid_one("user_id", "This user has no e-mail address."));
    }
    let message = Message { subject: MessageSubject::Invitation, user: account.id(), address: "", data: json!({}) };
    work.write(vec![outbox::stored(&message, work.scope.now, work.scope.now)]).await?;
    Ok(Outcome::ok(json!({"invited": true, "user": account.id()})))
}

fn rows(work: &Work<'_>) -> Result<Vec<SessionRow>, ApiError> {
    SessionRow::of_user(work.scope, work.account()?.id())
}

fn document(work: &Work<'_>, row: &SessionRow) -> Value {
    let moment = |seconds: i64| format!("{}Z", format_local(seconds));
    json!({
        "id": &*row.hash,
        "browser": browsers::describe_user_agent(&row.agent),
        "current": work.scope.principal.session.as_ref() == Some(&row.hash),
        "created": moment(row.created),
        "seen": moment(row.seen),
        "expires": moment(row.expires),
        "ip": &*row.ip,
        "agent": &*row.agent,
    })
}

/// The resource's own code for what is not there.
fn missing(work: &Work<'_>) -> ApiError {
    let code = Code::RecordInvalidId;
    ApiError::new(work.resource().map_or(code, |resource| resource.code(code)))
}
