//! Guards of revisions and autosaves: a caller who may edit a record may read its history.

use crate::access::{Decision, Guard, GuardInput, GuardRows, failure, guard};
use crate::error::{ApiError, Code, refuse_if};
use crate::records::{self, Record, eq, txt};
use crate::registry::resource::Resource;
use crate::registry::vocabulary::BehaviourEntry;
use crate::registry::vocabulary::VIRTUAL;
use cms_declaration::Action;
use cms_storage::plan::{Cond, DbValue, Row};
use serde_json::Value;

/// Its rows of the table of guards.
pub const GUARDS: &[BehaviourEntry<Guard>] = &[
    guard("revision.list", read, "Allows callers who may edit the record.").needs(Action::Edit).on(VIRTUAL).parent(),
    guard("revision.read", read, "Allows callers who may edit the record.").needs(Action::Edit).on(VIRTUAL).parent(),
    guard(
        "revision.delete",
        delete,
        "Allows callers who may delete the record where it says `deletes_revisions`, otherwise nobody.",
    )
    .needs(Action::Delete)
    .on(VIRTUAL)
    .parent(),
    guard("autosave.list", read, "Allows callers who may edit the record.").needs(Action::Edit).on(VIRTUAL).parent(),
    guard("autosave.read", read, "Allows callers who may edit the record.").needs(Action::Edit).on(VIRTUAL).parent(),
    guard("autosave.create", autosave, "Allows callers who may edit the record.")
        .needs(Action::Edit)
        .on(VIRTUAL)
        .item()
        .parent(),
];

fn owner<'a>(input: &GuardInput<'a>) -> Result<&'a Resource, ApiError> {
    let index = input.route.owner.ok_or_else(|| ApiError::new(Code::Internal))?;
    Ok(&input.registry().resources[index])
}

/// The record that the path's first number names.
fn record(input: &GuardInput<'_>, missing: Code) -> Result<Row, ApiError> {
    let resource = owner(input)?;
    let arg = if input.route.captures.iter().any(|c| c == "parent") { "parent" } else { "id" };
    let text = input.sources.path.get(arg).and_then(Value::as_str).unwrap_or("");
    let key = records::key_of(input.registry(), &*input.scope.snapshot()?, resource, text)?;
    let row = key.map(|key| input.load(resource, &key)).transpose()?.flatten();
    let row = row.ok_or_else(|| failure(resource, missing))?;
    if (Record { resource, row: &row }).is_original() {
        return Err(failure(resource, Code::OriginalInvalid));
    }
    Ok(row)
}

fn editable(input: &GuardInput<'_>, missing: Code, refusal: Code) -> Decision {
    let row = record(input, missing)?;
    if !input.may(Action::Edit, Record { resource: owner(input)?, row: &row })? {
        return Err(input.scope.principal.refuse(owner(input)?.code(refusal)));
    }
    Ok(GuardRows { parent: Some(row), ..GuardRows::default() })
}

/// May see the history.
fn read(input: &GuardInput<'_>) -> Decision {
    editable(input, Code::PostInvalidParent, Code::CannotRead)
}

/// Deletes from the history, where the resource lets those who may delete the record do so (`deletes_revisions`).
pub fn delete(input: &GuardInput<'_>) -> Decision {
    let row = record(input, Code::PostInvalidParent)?;
    let of = Record { resource: owner(input)?, row: &row };
    let allowed = of.resource.declared.deletes_revisions && input.may(Action::Delete, of)?;
    if of.resource.declared.deletes_revisions && !allowed {
        return Err(input.scope.principal.refuse(Code::CannotDelete));
    }
    let number = input.sources.path.get("id").and_then(|v| v.as_str()?.parse::<i64>().ok()).unwrap_or(0);
    let own = eq("of", DbValue::Int(of.id()));
    let filter = Cond::All(vec![eq("space", txt("content")), eq("id", DbValue::Int(number))]);
    let filter = if allowed { Cond::All(vec![filter, own]) } else { filter };
    refuse_if(!records::exists(&*input.scope.snapshot()?, "revision", filter)?, Code::PostInvalidId)?;
    if !allowed {
        return Err(input.scope.principal.refuse(Code::CannotDelete));
    }
    Ok(GuardRows { parent: Some(row), ..GuardRows::default() })
}

/// May leave an autosave.
pub fn autosave(input: &GuardInput<'_>) -> Decision {
    let found = editable(input, Code::PostInvalidId, Code::CannotEdit)?;
    Ok(GuardRows { target: found.parent.clone(), ..found })
}
