//! Writes of the user family: logins, addresses, roles, passwords, and what becomes of a user's records.

use super::items::{created, fetch, show, show_written, with_target, written_context};
use super::plain::stored;
use super::{Outcome, Refusal, Work};
use crate::access::hashing::HashError;
use crate::access::{self, policy};
use crate::error::{ApiError, Code};
use crate::fields::Fields;
use crate::records::{self, Record, eq, join_words, split_words, txt};
use crate::registry::name;
use crate::registry::resource::Resource;
use crate::storage::plan::{Change, Cond, DbValue, Input, Name, Op, Put, Row, SlugClaim, Target, WritePlan};
use crate::text::{sanitize, slug};
use serde_json::{Value, json};
use std::sync::Arc;

/// `me_get`: the caller.
///
/// # Errors
/// Nobody is logged in.
pub fn me(work: &Work<'_>) -> Result<Outcome, ApiError> {
    if !work.scope.principal.known() {
        return Err(work.scope.principal.refuse(Code::NotLoggedIn));
    }
    let resource = work.resource()?;
    let row = fetch(work, resource, &DbValue::Int(work.scope.principal.id))?;
    Ok(Outcome::ok(show(work, resource, &row, work.allowed.context(), work.fields)?))
}

/// Makes a user.
///
/// # Errors
/// A login or address that is taken or malformed, a role that does not exist.
pub async fn create(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    if work.query.contains_key("id") || work.body.get("id").is_some() {
        return Err(ApiError::new(Code::UserExists));
    }
    let args = work.allowed.args();
    if let Some(error) = access::malformed_account(&work.scope.registry, args) {
        return Err(error);
    }
    let login = args.text("username").unwrap_or("").to_owned();
    let mut set = columns(work, resource)?;
    set.retain(|entry| !unnamed(entry));
    let roles = roles(work, None)?.unwrap_or_else(|| vec![access::NEW_USER.into()]);
    let set_if_absent = |set: &mut Vec<(Name, Input)>, column: &str, value: &str| {
        if !set.iter().any(|(c, _)| &**c == column) {
            set.push((name(column), Input::Value(txt(value))));
        }
    };
    set.push((name("login"), Input::Value(txt(&login))));
    set.push((name("login_key"), Input::Value(txt(&slug::title_key(&login)))));
    set.push((name("roles"), Input::Value(txt(&join_words(roles.iter().map(|r| &**r))))));
    set.push((name("registered"), Input::Value(DbValue::Int(work.scope.now))));
    set_if_absent(&mut set, "name", &full_name(work, &login));
    set_if_absent(&mut set, "nickname", &login);
    key_of_name(&mut set);
    let wanted = args.text("slug").map(slug::nicename).filter(|s| !s.is_empty());
    let claim = SlugClaim {
        column: name("slug"),
        scope: Some("user".into()),
        candidates: vec![wanted.unwrap_or_else(|| slug::nicename(&login)).into()],
        refuse: None,
    };
    let changes = vec![
        taken("login_key", &slug::title_key(&login), 0, "existing_user_login"),
        taken("email_key", &slug::title_key(args.text("email").unwrap_or("")), 0, "existing_user_email"),
        Change::Put(Put {
            table: resource.table.clone(),
            target: Target::New,
            set: hashed(work, set).await?,
            slug: Some(claim),
            edges: Vec::new(),
            meta: Vec::new(),
            revision: None,
        }),
    ];
    let done = work.commit(WritePlan { changes }).await.map_err(|refusal| answer(work, resource, refusal))?;
    let key = done.puts.into_iter().next().map(|put| put.key).ok_or_else(|| ApiError::new(Code::Internal))?;
    created(work, resource, &key)
}

/// Changes a user.
///
/// # Errors
/// As [`create`]; the login cannot change, and the last administrator stays one.
pub async fn update(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let key = with_target(work, resource, async |row| change(work, resource, row).await).await?;
    show_written(work, resource, &key)
}

async fn change(work: &Work<'_>, resource: &Resource, row: &Row) -> Result<DbValue, Refusal> {
    let record = Record { resource, row };
    let key = record.value("id").clone();
    let args = work.allowed.args();
    if let Some(error) = access::malformed_account(&work.scope.registry, args) {
        return Err(error.into());
    }
    if args.given("username").and_then(Value::as_str).is_some_and(|login| login != record.text("login")) {
        return Err(ApiError::new(Code::UserInvalidArgument).into());
    }
    let mut set = columns(work, resource)?;
    // Without a name people are called by their login.
    for (_, input) in set.iter_mut().filter(|entry| unnamed(entry)) {
        *input = Input::Value(record.value("login").clone());
    }
    key_of_name(&mut set);
    let mut changes = Vec::new();
    if let Some(email) = args.given("email").and_then(Value::as_str) {
        changes.push(taken("email_key", &slug::title_key(email), record.id(), "rest_user_invalid_email"));
    }
    if let Some(roles) = roles(work, Some(record))? {
        set.push((name("roles"), Input::Value(txt(&join_words(roles.iter().map(|r| &**r))))));
        let lost = kept_roles(work, record).filter(|role| !roles.iter().any(|r| **r == **role));
        changes.extend(lost.map(|role| another_with(role, record.id())));
    }
    if args.given("password").is_some() {
        changes.push(end_sessions(&key, work.scope.principal.session.as_deref()));
    }
    let slug = args.given("slug").and_then(Value::as_str).map(slug::nicename).filter(|s| !s.is_empty());
    let slug = slug.map(|slug| SlugClaim {
        column: name("slug"),
        scope: Some("user".into()),
        candidates: vec![slug.into()],
        refuse: Some("rest_user_invalid_slug"),
    });
    changes.push(Change::Put(Put {
        table: resource.table.clone(),
        target: Target::Existing { key: key.clone(), expect: Some(record.int("version")) },
        set: hashed(work, set).await?,
        slug,
        edges: Vec::new(),
        meta: Vec::new(),
        revision: None,
    }));
    work.carry_out(changes, |refusal| answer(work, resource, refusal)).await?;
    Ok(key)
}

/// Deletes a user for good; the records go to another user, or with them.
///
/// # Errors
/// Without `force`; the heir does not exist; it is the last administrator.
pub async fn delete(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let args = work.allowed.args();
    if !args.flag("force") {
        return Err(ApiError::new(Code::TrashNotSupported));
    }
    let target = work.allowed.target().ok_or_else(|| ApiError::new(Code::Internal))?;
    let id = Record { resource, row: target }.id();
    let heir = match args.get("reassign") {
        Some(Value::String(text)) => text.parse().ok(),
        Some(value) => value.as_i64(),
        None => None,
    };
    let heir = heir.filter(|heir| *heir != 0);
    if let Some(heir) = heir
        && (heir == id || records::find(&*work.scope.snapshot()?, resource, &DbValue::Int(heir))?.is_none())
    {
        return Err(ApiError::new(Code::UserInvalidReassign));
    }
    let context = written_context(work, Record { resource, row: target });
    let previous = show(work, resource, target, context, &Fields::all())?;
    with_target(work, resource, async |row| remove(work, resource, row, heir).await).await?;
    Ok(Outcome::ok(json!({"deleted": true, "previous": previous})))
}

async fn remove(work: &Work<'_>, resource: &Resource, row: &Row, heir: Option<i64>) -> Result<DbValue, Refusal> {
    let record = Record { resource, row };
    let key = record.value("id").clone();
    let own = eq("author", key.clone());
    let mut changes = Vec::new();
    changes.extend(kept_roles(work, record).map(|role| another_with(role, record.id())));
    match heir {
        Some(heir) => changes.push(Change::UpdateWhere {
            table: name("record"),
            filter: own,
            set: vec![(name("author"), DbValue::Int(heir))],
        }),
        None => {
            let of_own = Cond::Related {
                table: name("record"),
                inner: name("id"),
                outer: name("post"),
                filter: Box::new(own.clone()),
            };
            changes.push(Change::RemoveWhere { table: name("comment"), filter: of_own });
            changes.push(Change::RemoveWhere { table: name("record"), filter: own });
        }
    }
    changes.push(Change::UpdateWhere {
        table: name("comment"),
        filter: eq("author", key.clone()),
        set: vec![(name("author"), DbValue::Int(0))],
    });
    changes.push(Change::RemoveWhere { table: name("app_password"), filter: eq("user", key.clone()) });
    changes.push(end_sessions(&key, None));
    changes.extend(super::plain::pointing(&work.scope.registry, resource, &key));
    changes.push(Change::Remove {
        table: resource.table.clone(),
        key: key.clone(),
        expect: Some(record.int("version")),
    });
    work.carry_out(changes, |refusal| answer(work, resource, refusal)).await?;
    Ok(key)
}

/// Ends the sessions of a user, but for the one named.
fn end_sessions(user: &DbValue, but: Option<&str>) -> Change {
    let mut filter = vec![eq("user", user.clone())];
    filter.extend(but.map(|key| Cond::Compare(name("hash"), Op::Ne, txt(key))));
    Change::RemoveWhere { table: name("session"), filter: Cond::All(filter) }
}

fn answer(work: &Work<'_>, resource: &Resource, refusal: Refusal) -> ApiError {
    match refusal {
        Refusal::Error(error) => error,
        Refusal::Stale => ApiError::new(Code::UserInvalidId),
        Refusal::Rule { tag, .. } => match Code::parse(tag) {
            Some(code) => crate::access::failure(resource, code),
            None => work.scope.internal(&format!("no answer for refusal {tag}")),
        },
    }
}

/// The user's roles that somebody always has.
fn kept_roles<'a>(work: &Work<'a>, user: Record<'a>) -> impl Iterator<Item = &'a str> {
    let kept = work.scope.registry.declaration.roles.iter().filter(|(_, role)| role.required);
    kept.map(|(key, _)| key.as_str()).filter(move |key| user.text("roles").split_whitespace().any(|r| r == *key))
}

fn another_with(role: &str, but: i64) -> Change {
    let filter = Cond::All(vec![
        Cond::HasWord(name("roles"), role.into()),
        Cond::Compare(name("id"), Op::Ne, DbValue::Int(but)),
    ]);
    Change::Require {
        plan: records::columns("user", &["id"], filter),
        found: true,
        tag: Code::LastAdministrator.as_str(),
    }
}

fn taken(column: &str, key: &str, but: i64, tag: &'static str) -> Change {
    let filter = Cond::All(vec![eq(column, txt(key)), Cond::Compare(name("id"), Op::Ne, DbValue::Int(but))]);
    Change::Require { plan: records::columns("user", &["id"], filter), found: false, tag }
}

/// A name that is set, to nothing.
fn unnamed((column, input): &(Name, Input)) -> bool {
    matches!(&**column, "name" | "nickname") && *input == Input::Value(txt(""))
}

/// Sets what people are sorted and found by, where their name is set.
fn key_of_name(set: &mut Vec<(Name, Input)>) {
    let shown = set.iter().find_map(|(column, input)| match input {
        Input::Value(DbValue::Text(shown)) if &**column == "name" => Some(shown.clone()),
        _ => None,
    });
    set.extend(shown.map(|shown| (name("name_key"), Input::Value(txt(&slug::title_key(&shown))))));
}

/// The columns that the arguments set; the password is hashed by [`hashed`].
fn columns(work: &Work<'_>, resource: &Resource) -> Result<Vec<(Name, Input)>, ApiError> {
    let mut set = Vec::new();
    for property in resource.properties.iter().filter(|p| !p.readonly) {
        let Some(value) = work.allowed.args().given(&property.name) else { continue };
        if matches!(property.column.as_deref(), None | Some("login" | "slug" | "roles")) {
            continue;
        }
        let Some((column, value)) = stored(work, resource, property, value)? else { continue };
        if &*column == "email" {
            set.push((name("email_key"), Input::Value(txt(&slug::title_key(records::text(&value))))));
        }
        set.push((column, Input::Value(value)));
    }
    Ok(set)
}

/// Replaces the password in `password_hash` by its hash.
async fn hashed(work: &Work<'_>, mut set: Vec<(Name, Input)>) -> Result<Vec<(Name, Input)>, ApiError> {
    let Some(password) = work.allowed.args().given("password").and_then(Value::as_str) else { return Ok(set) };
    let hash = work.engine.hasher().hash(password).await.map_err(|error| match error {
        HashError::Busy => ApiError::new(Code::TooManyRequests),
        HashError::Failed => work.scope.internal(&"the password could not be hashed"),
    })?;
    set.retain(|(column, _)| &**column != "password_hash");
    set.push((name("password_hash"), Input::Value(txt(&hash))));
    Ok(set)
}

fn full_name(work: &Work<'_>, login: &str) -> String {
    let part = |arg: &str| sanitize::name(work.allowed.args().text(arg).unwrap_or(""));
    let full = format!("{} {}", part("first_name"), part("last_name"));
    let full = full.trim();
    if full.is_empty() { login.to_owned() } else { full.to_owned() }
}

/// The roles asked for: declared ones, which the caller may give.
fn roles(work: &Work<'_>, of: Option<Record<'_>>) -> Result<Option<Vec<Arc<str>>>, ApiError> {
    let Some(given) = work.allowed.args().given("roles") else { return Ok(None) };
    let wanted: Vec<Arc<str>> = match given {
        Value::Array(list) => list.iter().map(|v| v.as_str().map_or_else(|| v.to_string().into(), Arc::from)).collect(),
        _ => split_words(given.as_str().unwrap_or("")),
    };
    let caller = &work.scope.principal;
    for role in &wanted {
        if !work.scope.registry.roles.contains_key(&**role) {
            return Err(ApiError::new(Code::UserInvalidRole));
        }
    }
    let own = of.is_some_and(|record| record.id() == caller.id);
    let keeps = |capability: &str| work.scope.registry.capabilities(&wanted).contains(capability);
    if own && caller.can("edit_users") && !keeps("edit_users") {
        // Nobody takes the keys from themselves.
        return Err(ApiError::new(Code::UserInvalidRole).with_status(403));
    }
    if of.is_some_and(|record| !policy::may(work.scope, "promote", record)) {
        return Err(caller.refuse(Code::CannotEditRoles));
    }
    Ok(Some(wanted))
}
