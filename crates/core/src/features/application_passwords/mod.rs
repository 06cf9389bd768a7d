//! Application passwords of a user.
//!
//! Contract: "Application password record": the clear value is shown once, in groups of four, and never stored.

pub mod guard;

use crate::access::app_passwords::{NewPassword, format_secret, plan_creation};
use crate::access::grants::is_pending;
use crate::access::hints;
use crate::access::outbox::{self, MessageSubject};
use crate::error::{ApiError, Code, status};
use crate::handlers::{Handler, Outcome, Work, handler, sync_handler};
use crate::records::{self, eq, text, txt};
use crate::registry::columns::app_password;
use crate::registry::link::nearest;
use crate::registry::name;
use crate::registry::resource::PropertyKind;
use crate::registry::vocabulary::{BehaviourEntry, HandlerRole, ResponseKind};
use crate::scope::CredentialLimits;
use cms_storage::plan::{Change, Cond, DbValue, Input, Put, Row, Target};
use cms_text::{sanitize, time};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The response where several were deleted.
pub const COUNTED: &str = r#"{"type": "object", "properties": {"deleted": {"type": "boolean"}, "count": {"type": "integer", "description": "How many were deleted."}}}"#;

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    sync_handler("app_password.list", list, "Lists the application passwords of a user.")
        .fails(&[Code::CannotListAppPasswords])
        .responds(ResponseKind::List)
        .parent(),
    sync_handler("app_password.get", get, "Responds with one application password.")
        .fails(&[Code::AppPasswordNotFound, Code::CannotReadAppPassword])
        .parent(),
    sync_handler(
        "app_password.introspect",
        introspect,
        "Responds with the application password that the request was sent with.",
    )
    .fails(&[Code::CannotIntrospect])
    .parent(),
    handler(
        "app_password.create",
        |w| Box::pin(create(w)),
        "Creates an application password; only this response holds its clear value.",
    )
    .fails(&[Code::CannotCreateAppPasswords])
    .responds(ResponseKind::Created)
    .parent(),
    handler("app_password.update", |w| Box::pin(update(w)), "Renames an application password.")
        .fails(&[Code::AppPasswordNotFound, Code::CannotEditAppPassword])
        .parent(),
    handler("app_password.delete", |w| Box::pin(delete(w)), "Revokes an application password.")
        .role(HandlerRole::RevokeCredential)
        .fails(&[Code::AppPasswordNotFound, Code::CannotDeleteAppPassword])
        .responds(ResponseKind::Deleted)
        .parent(),
    handler("app_password.delete_all", |w| Box::pin(delete_all(w)), "Revokes all application passwords of a user.")
        .fails(&[Code::CannotDeleteAppPasswords])
        .responds(ResponseKind::Json(status::OK, COUNTED))
        .parent(),
];

const COLUMNS: &[&str] = &[
    "uuid",
    "app_id",
    "name",
    "created",
    "last_used",
    "last_ip",
    "user",
    "expires",
    "read_only",
    "actions",
    "resources",
    "connected",
];

/// Members of a password that are shown only when they have a value.
const LIMITS: [&str; 5] = ["expires", "read_only", "actions", "resources", "connected"];

/// The passwords of a user, and the programs that the user has connected.
fn shown(user: i64) -> Cond {
    Cond::All(vec![eq("user", DbValue::Int(user)), records::not(is_pending())])
}

/// All passwords of the user, oldest first.
pub fn list(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let user = user(work)?;
    let plan = records::ordered(records::columns(app_password::TABLE, COLUMNS, shown(user)), "ordinal", false);
    let rows = work.scope.snapshot()?.rows(&plan)?;
    Ok(Outcome::ok(Value::Array(rows.iter().map(|row| document(work, row, user, None)).collect::<Result<_, _>>()?)))
}

/// One password.
///
/// # Errors
/// The user has no such password.
pub fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let user = user(work)?;
    let row = find(work, user, uuid(work))?;
    Ok(Outcome::ok(document(work, &row, user, None)?))
}

/// The password that the request was authenticated with.
///
/// # Errors
/// It was authenticated otherwise.
pub fn introspect(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let user = user(work)?;
    let used = work.scope.principal.app_password.clone();
    let used = used.ok_or_else(|| ApiError::new(Code::NoAuthenticatedAppPassword))?;
    let row = find(work, user, &used)?;
    Ok(Outcome::ok(document(work, &row, user, None)?))
}

/// The password that the path names.
fn uuid<'a>(work: &Work<'a>) -> &'a str {
    work.captures.get("uuid").and_then(Value::as_str).unwrap_or("")
}

/// Makes a password and shows it for the only time.
///
/// # Errors
/// An empty name; an end that is past; a limit to resources that there are not; as many passwords as a user may have.
pub async fn create(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let user = user(work)?;
    let title = title(work)?.ok_or_else(|| ApiError::new(Code::AppPasswordEmptyName))?;
    let most = work.scope.registry.declaration.site.max_application_passwords;
    // Tokens have a bound of their own.
    let own = Cond::All(vec![eq("user", DbValue::Int(user)), eq("token", DbValue::Int(0))]);
    let own = records::columns(app_password::TABLE, &["uuid"], own);
    if work.scope.snapshot()?.count(&own)? >= most {
        let message = format!("A user has at most {most} application passwords; revoke one of them first.");
        return Err(ApiError::invalid_one("name", message));
    }
    let args = work.allowed.args();
    let app_id = args.text("app_id").unwrap_or("");
    let wanted = NewPassword { user, title: &title, app_id, expires: expires(work)?, limits: limits(work)? };
    let (made, secret, put) = plan_creation(&work.shared.identity, &wanted, work.scope.now);
    let mut changes = vec![Change::Put(put)];
    changes.extend(outbox::notification_change(
        work.scope,
        MessageSubject::ApplicationPassword,
        work.account()?,
        json!({"name": title}),
    ));
    work.write(changes).await?;
    let row = find(work, user, &made)?;
    let path = format!("{}/{made}", work.path.trim_end_matches('/'));
    Ok(Outcome::created(document(work, &row, user, Some(format_secret(&secret)))?, work.scope.registry.rest(&path)))
}

/// Renames a password.
///
/// # Errors
/// An empty name; the user has no such password.
pub async fn update(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let user = user(work)?;
    let uuid = uuid(work);
    find(work, user, uuid)?;
    let mut set = Vec::new();
    if let Some(title) = title(work)? {
        set.push((name("name"), Input::Value(txt(&title))));
    }
    if !set.is_empty() {
        let target = Target::Existing { key: txt(uuid), expect: None };
        work.write(vec![Change::Put(Put::new(app_password::TABLE, target, set))]).await?;
    }
    let row = find(work, user, uuid)?;
    Ok(Outcome::ok(document(work, &row, user, None)?))
}

/// Revokes a password.
///
/// # Errors
/// The user has no such password.
pub async fn delete(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let user = user(work)?;
    let row = find(work, user, uuid(work))?;
    let mut previous = document(work, &row, user, None)?;
    if let Some(members) = previous.as_object_mut() {
        members.shift_remove("_links");
    }
    work.write(vec![Change::Remove { table: name(app_password::TABLE), key: row[0].clone(), expect: None }]).await?;
    Ok(Outcome::ok(json!({"deleted": true, "previous": previous})))
}

/// Revokes all passwords of the user.
pub async fn delete_all(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let filter = eq("user", DbValue::Int(user(work)?));
    let count = work.scope.snapshot()?.count(&records::columns(app_password::TABLE, &["uuid"], filter.clone()))?;
    work.write(vec![Change::RemoveWhere { table: name(app_password::TABLE), filter }]).await?;
    Ok(Outcome::ok(json!({"deleted": true, "count": count})))
}

fn user(work: &Work<'_>) -> Result<i64, ApiError> {
    work.account().map(|account| account.id())
}

fn find(work: &Work<'_>, user: i64, uuid: &str) -> Result<Row, ApiError> {
    let filter = Cond::All(vec![eq("uuid", txt(uuid)), eq("user", DbValue::Int(user))]);
    let found = records::first(&*work.scope.snapshot()?, app_password::TABLE, COLUMNS, filter)?;
    found.ok_or_else(|| ApiError::new(Code::AppPasswordNotFound))
}

/// The requested name; spaces alone are none.
fn title(work: &Work<'_>) -> Result<Option<String>, ApiError> {
    let Some(given) = work.allowed.args().text("name") else { return Ok(None) };
    let clean = sanitize::text_field(given, work.scope.registry.declaration.dialect.escape_text_fields);
    if clean.is_empty() { Err(ApiError::new(Code::AppPasswordEmptyName)) } else { Ok(Some(clean)) }
}

/// The second at which a new password is to stop working; 0: never.
fn expires(work: &Work<'_>) -> Result<i64, ApiError> {
    match work.allowed.args().int("expires") {
        Some(expires) if expires <= work.scope.now => {
            Err(ApiError::invalid_one("expires", "This moment has passed already."))
        }
        expires => Ok(expires.unwrap_or(0)),
    }
}

/// The limits that a new password is to have.
fn limits(work: &Work<'_>) -> Result<CredentialLimits, ApiError> {
    let args = work.allowed.args();
    let named = args.explicit("resources").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let resources: Vec<Arc<str>> = named.map(Arc::from).collect();
    let declared = || work.scope.registry.resources.iter().map(|resource| resource.name.as_str());
    if let Some(unknown) = resources.iter().find(|name| !declared().any(|d| *d == ***name)) {
        let hint = nearest(unknown, declared()).unwrap_or_default();
        return Err(ApiError::invalid_one("resources", format!("There is no resource `{unknown}` here. {hint}")));
    }
    let actions = args.explicit("actions").and_then(Value::as_array);
    let includes = |action: &str| actions.is_some_and(|actions| actions.iter().any(|one| one == action));
    let draft = includes("draft") && !args.flag("read_only");
    Ok(CredentialLimits { read_only: args.flag("read_only") || actions.is_some() && !draft, draft, resources })
}

/// The record in the requested context; times are numbers or texts as the schema says.
fn document(work: &Work<'_>, row: &Row, user: i64, secret: Option<String>) -> Result<Value, ApiError> {
    let resource = work.resource()?;
    let context = work.allowed.context();
    let mut map = Map::new();
    for property in resource
        .properties
        .iter()
        .filter(|p| p.contexts.shows_in(context) || (secret.is_some() && p.name == "password"))
    {
        if property.name == "password" {
            if let Some(secret) = &secret {
                map.insert("password".into(), json!(secret));
            }
            continue;
        }
        let Some(index) = COLUMNS.iter().position(|c| *c == property.name) else { continue };
        // Most passwords have no limits, and then show none.
        let limit = LIMITS.contains(&COLUMNS[index]);
        if limit
            && matches!(&row[index], DbValue::Int(0) | DbValue::Null | DbValue::Text(_))
            && text(&row[index]).is_empty()
        {
            continue;
        }
        let value = match (&row[index], property.name.as_str()) {
            (DbValue::Int(_), _) if property.kind == PropertyKind::Boolean => json!(true),
            (DbValue::Int(0) | DbValue::Null, "last_used") => Value::Null,
            (DbValue::Int(seconds), _) if matches!(property.kind, PropertyKind::Text | PropertyKind::Time) => {
                json!(time::format_local(*seconds))
            }
            (DbValue::Int(seconds), _) => json!(seconds),
            (value, "last_ip") if text(value).is_empty() => Value::Null,
            (value, "resources" | "actions") => json!(text(value).split(' ').collect::<Vec<_>>()),
            (value, _) => json!(text(value)),
        };
        map.insert(property.name.clone(), value);
    }
    let path = format!("{}/{}/application-passwords/{}", users_path(work), user, text(&row[0]));
    map.insert("_links".into(), json!({"self": [hints::self_link(work.scope, work.resource()?, path)?]}));
    Ok(Value::Object(map))
}

fn users_path(work: &Work<'_>) -> String {
    work.scope.registry.users().map(|r| r.path.clone()).unwrap_or_default()
}
