//! Accounts: the caller's own, and what becomes of passwords and records on the way to a write.

use super::items::{created, fetch, show, show_alone, show_written, with_target, written_context};
use super::{Outcome, Work, WriteRefusal, WrittenRow};
use crate::access::{self, outbox};
use crate::error::{ApiError, Code, refuse_if};
use crate::families::{self, user};
use crate::records::{self, Record};
use crate::registry::resource::Resource;
use cms_storage::plan::{Change, DbValue, Row};
use serde_json::{Value, json};

/// `me_get`: the caller.
///
/// # Errors
/// Nobody is logged in.
pub fn me(work: &Work<'_>) -> Result<Outcome, ApiError> {
    if !work.scope.principal.is_logged_in() {
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
    refuse_if(work.query.contains_key("id") || work.body.get("id").is_some(), Code::UserExists)?;
    well_formed(work)?;
    let mut changes = user::plan_creation(&work.edit(resource, None)?)?;
    work.allowed.args().check_deferred()?;
    hash_password(work, "", &mut changes).await?;
    let written = work.insert(resource, changes).await?;
    created(work, resource, &written)
}

/// Changes a user.
///
/// # Errors
/// As [`create`]; the login cannot change, and the last administrator stays one.
pub async fn update(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let written = with_target(work, resource, async |row| change(work, resource, row).await).await?;
    show_written(work, resource, written)
}

async fn change(work: &Work<'_>, resource: &Resource, row: &Row) -> Result<WrittenRow, WriteRefusal> {
    well_formed(work)?;
    let (edit, record) = (work.edit(resource, Some(row))?, Record { resource, row });
    let mut changes = user::update(&edit, record)?;
    work.allowed.args().check_deferred()?;
    if let Some(address) = user::other_address(&edit, record).filter(|_| outbox::is_pending(work.scope, record)) {
        changes.extend(work.shared.identity.confirm_address(work.scope, record, address)?);
    }
    hash_password(work, &record.key(), &mut changes).await?;
    work.rewrite(record, changes).await
}

fn well_formed(work: &Work<'_>) -> Result<(), ApiError> {
    access::malformed_account(&work.scope.registry, work.allowed.args()).map_or(Ok(()), Err)
}

/// Adds the hash of the password that is given; `account` is the key of an account that there is already, or empty.
async fn hash_password(work: &Work<'_>, account: &str, changes: &mut [Change]) -> Result<(), ApiError> {
    let Some(password) = work.allowed.args().explicit("password").and_then(Value::as_str) else { return Ok(()) };
    let hash = work.shared.identity.hash_new(work.scope, &work.shared.hasher, (account, password)).await?;
    user::set_password(changes, &hash);
    Ok(())
}

/// Deletes a user for good; the records are reassigned to another user, or deleted, too.
///
/// # Errors
/// Without `force`; the replacement does not exist; it is the last administrator.
pub async fn delete(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let args = work.allowed.args();
    refuse_if(!args.flag("force"), Code::TrashNotSupported)?;
    let target = work.target()?;
    let id = Record { resource, row: target }.id();
    let heir = match args.get("reassign") {
        // The sign and the fraction of a number are ignored.
        Some(Value::String(text)) => text.trim().parse::<f64>().ok().map(|number| number as i64),
        Some(value) => value.as_f64().map(|number| number as i64),
        None => None,
    };
    let heir = heir.map(i64::saturating_abs).filter(|heir| *heir != 0);
    if let Some(heir) = heir
        && (heir == id || records::find(&*work.scope.snapshot()?, resource, &DbValue::Int(heir))?.is_none())
    {
        return Err(ApiError::new(Code::UserInvalidReassign));
    }
    let context = written_context(work, Record { resource, row: target })?;
    let previous = show_alone(work, resource, target, context)?;
    with_target(work, resource, async |row| {
        let changes = families::removal(work.scope, Record { resource, row }, heir)?;
        work.carry_out(resource, changes).await
    })
    .await?;
    Ok(Outcome::ok(json!({"deleted": true, "previous": previous})))
}
