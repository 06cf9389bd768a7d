//! Changes of records by credentials that only draft: rows that wait until a person decides about them. Nothing that readers
//! see changes before that.

use super::{Outcome, Work, WrittenRow, items};
use crate::access::audit::{self, Event};
use crate::error::{ApiError, Code, refuse_if, status};
use crate::families;
use crate::families::content::{self, ProposedChange, RevisionContent, columns as record_col};
use crate::records::{self, Record, eq, txt};
use crate::registry::columns::app_password;
use crate::registry::columns::review::{self as col, state};
use crate::registry::resource::Resource;
use crate::scope::Scope;
use cms_storage::plan::{Change, CommitError, Cond, DbValue, Put, Target, WritePlan};
use serde_json::{Value, json};
use std::sync::Arc;

/// The resource of these changes.
///
/// # Errors
/// There is none: 500.
pub fn resource(scope: &Scope) -> Result<&Resource, ApiError> {
    scope.registry.reviews().ok_or_else(|| ApiError::new(Code::Internal))
}

/// The change that a row holds.
pub fn proposal_of(review: Record<'_>) -> ProposedChange {
    let members: Vec<String> = serde_json::from_str(review.text(col::MEMBERS)).unwrap_or_default();
    ProposedChange { content: RevisionContent::parse(review.text(col::CONTENT)), members }
}

/// The credential of the caller: its key, and the name under which it is listed.
fn client(scope: &Scope) -> Result<(Arc<str>, Arc<str>), ApiError> {
    let Some(key) = scope.principal.app_password.clone() else { return Ok((Arc::default(), scope.agent.clone())) };
    let this = eq(app_password::KEY, txt(&key));
    let title = records::first(&*scope.snapshot()?, app_password::TABLE, &[app_password::NAME], this)?;
    Ok((key, title.unwrap_or_default()))
}

/// Stores the change that a request describes instead of making it. One of each user, program and record waits: what a
/// program proposes next is added to it.
///
/// # Errors
/// The change is none; too many wait.
pub async fn propose(work: &Work<'_>, resource: &Resource) -> Result<Outcome, ApiError> {
    let (scope, reviews) = (work.scope, self::resource(work.scope)?);
    let row = work.target()?;
    let record = Record { resource, row };
    refuse_if(!work.expects.matches(record.version(), record.modified()), Code::PreconditionFailed)?;
    let (credential, client) = client(scope)?;
    let is = |column: &str, value: DbValue| {
        let column = reviews.plan_column(column).unwrap_or_else(|| column.into());
        eq(&column, value)
    };
    let user = DbValue::Int(scope.principal.id);
    let waiting = || vec![is(col::USER, user.clone()), is(col::STATE, txt(state::WAITING))];
    let own = [is(col::RECORD, DbValue::Int(record.id())), is(col::CLIENT, txt(&client))];
    let own = records::plan(reviews, Cond::All(waiting().into_iter().chain(own).collect()));
    let before = scope.snapshot()?.rows(&own)?.into_iter().next();
    let before = before.as_ref().map(|row| Record { resource: reviews, row });
    if before.is_none() {
        let count = scope.snapshot()?.count(&records::plan(reviews, Cond::All(waiting())))?;
        refuse_if(count >= scope.registry.declaration.reviews.most, Code::ReviewsFull)?;
    }
    let ProposedChange { content, members } =
        content::proposal(&work.edit(resource, Some(row))?, record, before.map(proposal_of))?;
    let mut values = vec![
        (col::MEMBERS, txt(&json!(members).to_string())),
        (col::CONTENT, txt(&content.json())),
        (col::CREDENTIAL, txt(&credential)),
        (col::CHANGED, DbValue::Int(scope.now)),
    ];
    let target = match before {
        Some(before) => Target::Existing { key: before.value(&reviews.key).clone(), expect: before.version() },
        None => {
            values.extend([
                (col::RECORD, DbValue::Int(record.id())),
                (col::RESOURCE, txt(&resource.name)),
                (col::TITLE, txt(record.text(record_col::TITLE))),
                (col::USER, user.clone()),
                (col::CLIENT, txt(&client)),
                (col::STATE, txt(state::WAITING)),
                (col::CREATED, DbValue::Int(scope.now)),
                (col::BASE, DbValue::Int(record.version().unwrap_or(0))),
            ]);
            Target::New
        }
    };
    let put = Put::new(reviews.table.clone(), target, records::set_of(reviews, &values));
    let event = Event {
        name: "change_proposed",
        user: scope.principal.id,
        login: &scope.principal.login,
        path: work.path,
        subject: &client,
        changed: members,
    };
    let changes = std::iter::once(Change::Put(put)).chain(audit::entry(scope, &event)).collect();
    let done = work.commit_in(scope, WritePlan::new(changes)).await.map_err(|error| match error {
        CommitError::Stale => families::contended(),
        error => families::commit_failure(scope, error),
    })?;
    let key = done.puts.into_iter().next().map(|put| put.key).ok_or_else(|| ApiError::new(Code::Internal))?;
    let shown = items::created(work, reviews, &WrittenRow::unread(key))?;
    Ok(Outcome { status: status::ACCEPTED, private: true, ..shown })
}

/// The sentence about a change that waits, for protocols whose responses have no place for its document.
pub fn told(document: &Value) -> String {
    format!(
        "Nothing has changed yet: the change waits for a review (number {}), in which a person publishes it or sends it back.",
        document["id"]
    )
}
