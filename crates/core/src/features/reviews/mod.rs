//! Reviews: changes that wait until a person publishes them or sends them back, with what they would change.

pub mod guard;

use crate::access::identity::principal;
use crate::access::policy;
use crate::error::{ApiError, Code, refuse_if, status};
use crate::families;
use crate::handlers::proposals::proposal_of;
use crate::handlers::{Handler, Outcome, TransactionScope, Work, WrittenRow, handler, items};
use crate::model::Method;
use crate::records::{self, Record, eq, txt};
use crate::registry::columns::app_password;
use crate::registry::columns::review::{self as col, state};
use crate::registry::resource::Resource;
use crate::registry::vocabulary::{BehaviourEntry, PLAIN};
use crate::request::BodyParams;
use crate::request::call::Call;
use crate::request::conditional::Preconditions;
use crate::scope::{PreviewedRecord, Scope};
use cms_declaration::Action;
use cms_storage::plan::{Change, CommitError, DbValue, Put, Row, Target, WritePlan};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    handler(
        "review.get",
        |w| Box::pin(get(w)),
        "Responds with a change that waits or was decided; while it waits, with what it would change.",
    )
    .fails(&[Code::RecordInvalidId, Code::Forbidden, Code::ForbiddenContext])
    .on(PLAIN)
    .item(),
    handler("review.update", |w| Box::pin(update(w)), "Publishes, sends back or withdraws a change that waits.")
        .fails(&[
            Code::RecordInvalidId,
            Code::CannotEdit,
            Code::ReviewClosed,
            Code::ReviewOutdated,
            Code::PreconditionFailed,
        ])
        .on(PLAIN)
        .item(),
];

/// The record of a change as it is stored.
struct ReviewedRecord<'a> {
    resource: &'a Resource,
    row: Row,
}

impl<'a> ReviewedRecord<'a> {
    /// `None`: it is gone.
    fn find(scope: &'a Scope, review: Record<'_>) -> Result<Option<ReviewedRecord<'a>>, ApiError> {
        let Some(resource) = scope.registry.resource(review.text(col::RESOURCE)) else { return Ok(None) };
        let row = records::find(&*scope.snapshot()?, resource, review.value(col::RECORD))?;
        Ok(row.map(|row| ReviewedRecord { resource, row }))
    }

    fn record(&self) -> Record<'_> {
        Record { resource: self.resource, row: &self.row }
    }

    /// Changes with the record, and with what is proposed.
    fn tag(&self, review: Record<'_>) -> String {
        format!("{}-{}", review.version().unwrap_or(0), self.record().version().unwrap_or(0))
    }

    /// The document for editing of the record as it is, and as it would be; `None` where the caller reads no such.
    async fn documents(&self, work: &Work<'_>, review: Record<'_>) -> Option<[Value; 2]> {
        let record = self.record();
        let path = records::item_path(&work.scope.registry, record);
        let query = json!({"context": "edit"});
        let present = work.ask(Method::Get, &path, query.clone(), BodyParams::None).await;
        let content = proposal_of(review).content;
        let preview = PreviewedRecord {
            id: record.id(),
            row: content.row(record),
            edges: content.edges().collect(),
            meta: content.held_meta(),
        };
        let scope = Scope { preview: Some(Arc::new(preview)), ..work.scope.clone() };
        let proposed = work.ask_in(scope, Method::Get, &path, query, BodyParams::None).await;
        (present.status == status::OK && proposed.status == status::OK).then_some([present.body, proposed.body])
    }
}

/// A member of a document, or one of its meta values.
fn member<'d>(document: &'d Value, name: &str) -> &'d Value {
    match name.split_once('.') {
        Some((outer, inner)) => &document[outer][inner],
        None => &document[name],
    }
}

/// The members that a change names: those that the caller may read, and the others.
fn read_members(scope: &Scope, resource: &Resource, review: Record<'_>) -> (Vec<String>, Vec<String>) {
    let reads = |name: &String| {
        let rights = match name.split_once('.') {
            Some((_, key)) => resource.rights_of_meta(key),
            None => resource.rights_of_property(name),
        };
        rights.is_none_or(|rights| policy::reads_field(scope, rights))
    };
    proposal_of(review).members.into_iter().partition(reads)
}

/// Facts that a person wants to know before a decision.
fn notices(
    scope: &Scope,
    review: Record<'_>,
    found: Option<&ReviewedRecord<'_>>,
) -> Result<Vec<&'static str>, ApiError> {
    let mut all = Vec::new();
    match found.map(ReviewedRecord::record) {
        None => all.push("record_gone"),
        Some(record) => {
            let trashed = scope.registry.status_is(record.text("status"), |status| status.trash);
            all.extend(trashed.then_some("record_trashed"));
            let changed = record.version().is_some_and(|version| version != review.int(col::BASE));
            all.extend((changed && !trashed).then_some("record_changed"));
            all.extend((!proposer_may_edit(scope, review, record)?).then_some("user_may_not_edit"));
        }
    }
    let key = review.text(col::CREDENTIAL);
    if !key.is_empty() {
        let this = eq(app_password::KEY, txt(key));
        let ends: Option<i64> =
            records::first(&*scope.snapshot()?, app_password::TABLE, &[app_password::EXPIRES], this)?;
        let valid = ends.is_some_and(|ends| ends == 0 || ends > scope.now);
        all.extend((!valid).then_some("credential_ended"));
    }
    Ok(all)
}

/// Whether the user in whose name a change was proposed may still change the record.
fn proposer_may_edit(scope: &Scope, review: Record<'_>, record: Record<'_>) -> Result<bool, ApiError> {
    let Some(users) = scope.registry.users() else { return Ok(false) };
    let Some(user) = records::find(&*scope.snapshot()?, users, review.value(col::USER))? else { return Ok(false) };
    let principal = principal(&scope.settings, Record { resource: users, row: &user });
    Ok(policy::may(&Scope { principal, ..scope.clone() }, Action::Edit, record)?)
}

/// A change; while it waits, with the difference against the record as it is.
///
/// # Errors
/// The database cannot be read.
async fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let (resource, row) = (work.resource()?, work.target()?);
    let review = Record { resource, row };
    let mut document = items::show(work, resource, row, work.allowed.context(), work.fields)?;
    if review.text(col::STATE) == state::WAITING
        && let Some(map) = document.as_object_mut()
    {
        let found = ReviewedRecord::find(work.scope, review)?;
        let mut difference = Value::Null;
        if let Some(found) = &found
            && work.fields.wants("difference")
            && let Some([present, proposed]) = found.documents(work, review).await
        {
            let members = read_members(work.scope, found.resource, review).0;
            let of = |name: &String| {
                let [present, proposed] = [&present, &proposed].map(|document| member(document, name));
                json!({"member": name, "present": present, "proposed": proposed})
            };
            difference = members.iter().map(of).collect();
        }
        let told = notices(work.scope, review, found.as_ref())?;
        let seen = found.as_ref().map(|found| found.tag(review));
        for (name, value) in [("notices", json!(told)), ("difference", difference), ("seen", json!(seen))] {
            if work.fields.wants(name) {
                map.insert(name.into(), value);
            }
        }
    }
    Ok(Outcome { private: true, uncached: true, ..Outcome::of_row(document, review) })
}

/// Decides about a change that waits.
///
/// # Errors
/// It does not wait; it or the record is not as it was when the caller read it; what the record's route refuses.
async fn update(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let (resource, args) = (work.resource()?, work.allowed.args());
    let row = work.target()?;
    let review = Record { resource, row };
    refuse_if(!work.expects.matches(review.version(), review.modified()), Code::PreconditionFailed)?;
    refuse_if(review.text(col::STATE) != state::WAITING, Code::ReviewClosed)?;
    let wanted = args.text(col::STATE).unwrap_or_default();
    let decision = || {
        let note = args.text(col::NOTE).unwrap_or_default();
        let values = [
            (col::STATE, txt(wanted)),
            (col::NOTE, txt(note)),
            (col::DECIDED_BY, DbValue::Int(work.scope.principal.id)),
            (col::DECIDED, DbValue::Int(work.scope.now)),
            (col::CHANGED, DbValue::Int(work.scope.now)),
        ];
        let target = Target::Existing { key: review.value(&resource.key).clone(), expect: review.version() };
        let put = Put::new(resource.table.clone(), target, records::set_of(resource, &values));
        WritePlan::new(std::iter::once(Change::Put(put)).chain(work.audited()).collect())
    };
    let refused = |error: CommitError| match error {
        CommitError::Stale => ApiError::new(Code::ReviewOutdated),
        error => families::commit_failure(work.scope, error),
    };
    if wanted == state::PUBLISHED {
        let open = TransactionScope::begin(work, work.scope.clone()).await?;
        publish(work, &open.scope, review).await?;
        work.commit_in(&open.scope, decision()).await.map_err(refused)?;
        open.finish(work).await?;
    } else {
        work.commit_in(work.scope, decision()).await.map_err(refused)?;
    }
    items::show_written(work, resource, WrittenRow::unread(review.value(&resource.key).clone()))
}

/// Changes the record as was proposed, in the name of the caller.
async fn publish(work: &Work<'_>, scope: &Scope, review: Record<'_>) -> Result<(), ApiError> {
    let outdated = || ApiError::new(Code::ReviewOutdated);
    let found = ReviewedRecord::find(scope, review)?;
    let told = notices(scope, review, found.as_ref())?;
    let Some(found) = found.filter(|_| !told.contains(&"record_trashed")) else {
        return Err(outdated().with_message("The record is gone or in the trash: send the change back, or restore it."));
    };
    let Some(seen) = work.allowed.args().text("seen") else {
        let message = "Give as `seen` what the review that you have read has as `seen`.";
        return Err(ApiError::new(Code::MissingParam).with_message(message).with("params", json!(["seen"])));
    };
    refuse_if(seen != found.tag(review), Code::ReviewOutdated)?;
    let Some([_, proposed]) = found.documents(work, review).await else {
        return Err(work.scope.principal.refuse(Code::CannotEdit));
    };
    let (members, hidden) = read_members(scope, found.resource, review);
    if !hidden.is_empty() {
        return Err(families::forbidden_fields(scope, &hidden));
    }
    let mut body = Map::new();
    for name in members {
        let value = member(&proposed, &name).clone();
        // A text is written as it is stored.
        let value = if value["raw"].is_string() { value["raw"].clone() } else { value };
        match name.split_once('.') {
            Some((outer, inner)) => body.entry(outer).or_insert_with(|| json!({}))[inner] = value,
            None => drop(body.insert(name, value)),
        }
    }
    let record = found.record();
    let path = records::item_path(&scope.registry, record);
    let mut call = Call::internal(Method::Put, &path, Map::new(), BodyParams::Json(body));
    call.expects = Preconditions::tagged(&format!("\"{}\"", record.version().unwrap_or(0)));
    let mut scope = scope.clone();
    scope.depth += 1;
    let part = work.dispatch.part(&scope, &call, false).await;
    match status::is_success(part.status) {
        true => Ok(()),
        false => Err(work.refusal_of(&part)),
    }
}
