//! Guards of records: who may list, read, write, change and delete them, and attach things to them.

use super::{Decision, GuardInput, GuardRows, drafts, policy, target};
use crate::error::{ApiError, Code, refuse_if};
use crate::records::{self, Record};
use crate::registry::columns::{ID, record};
use crate::registry::resource::{Context, Resource};
use crate::registry::vocabulary::HandlerRole;
use cms_declaration::{Action, ItemKey};
use cms_storage::plan::DbValue;
use serde_json::Value;

pub(super) fn content_list(input: &GuardInput<'_>) -> Decision {
    let resource = input.resource()?;
    if asks_to_edit(input, resource) && !input.scope.principal.can(resource.capability(Action::Edit)) {
        return Err(input.refuse(Code::ForbiddenContext));
    }
    Ok(GuardRows::default())
}

pub(super) fn content_read(input: &GuardInput<'_>) -> Decision {
    let row = input.target(Code::PostInvalidId)?;
    let record = Record { resource: input.resource()?, row: &row };
    input.refuse_if(asks_to_edit(input, record.resource) && !input.sees_edited(record)?, Code::ForbiddenContext)?;
    if let Some(preview) = input.scope.previewed(record.resource, record.id()) {
        return target(preview.row.clone());
    }
    refuse_if(input.given.is_some_and(|given| !given.opens(record.text("password"))), Code::PostIncorrectPassword)?;
    input.refuse_if(!input.may(Action::Read, record)?, Code::Forbidden)?;
    target(row)
}

/// Whether the request shows what only those see who may edit. Where only editors read what has a name, the edit context
/// opens nothing more.
fn asks_to_edit(input: &GuardInput<'_>, resource: &Resource) -> bool {
    input.context() == Context::EDIT && !(input.endpoint.editors_only && rights_are_uniform(resource))
}

pub(super) fn content_create(input: &GuardInput<'_>) -> Decision {
    let resource = input.resource()?;
    let caller = &input.scope.principal;
    refuse_if(input.sources.get("id").is_some(), Code::PostExists)?;
    author_and_sticky(input, resource)?;
    input.refuse_if(!caller.can(resource.capability(Action::Create)), Code::CannotCreate)?;
    assigned_terms(input, resource)?;
    attaches(input, resource, None)?;
    Ok(GuardRows::default())
}

/// Whoever attaches something to a record must be able to edit the record; what is attached to it `already` may stay.
/// An update may name a record that does not exist, as in the recorded contract: no address names it.
fn attaches(input: &GuardInput<'_>, resource: &Resource, already: Option<i64>) -> Result<(), ApiError> {
    if !resource.supports("attached") {
        return Ok(());
    }
    let parent = resource.properties.iter().find(|p| p.column.as_deref() == Some("parent"));
    let parent = parent.and_then(|p| input.args.int(&p.name)).filter(|id| *id != 0 && Some(*id) != already);
    let Some(id) = parent else { return Ok(()) };
    let exists = || -> Result<bool, ApiError> {
        Ok(records::exists(&*input.scope.snapshot()?, record::TABLE, records::eq(ID, DbValue::Int(id)))?)
    };
    if policy::parent_content(input.scope, id, Action::Edit)? == Some(true) || already.is_some() && !exists()? {
        return Ok(());
    }
    Err(input.refuse(Code::CannotEdit))
}

/// A new file out of one that is there: for those who bring files and edit this one.
pub(super) fn file_edit(input: &GuardInput<'_>) -> Decision {
    input.refuse_if(!input.scope.principal.can(input.resource()?.capability(Action::Create)), Code::CannotEditImage)?;
    let found = content_update(input)?;
    // The new file hangs where the request says, as after an update.
    attaches(input, input.resource()?, Some(0))?;
    Ok(found)
}

pub(super) fn content_update(input: &GuardInput<'_>) -> Decision {
    let resource = input.resource()?;
    if rights_are_uniform(resource) && !input.scope.principal.can(resource.capability(Action::Edit)) {
        return Err(input.refuse(Code::CannotEdit));
    }
    let row = input.target(Code::PostInvalidId)?;
    if !input.may(Action::Edit, Record { resource, row: &row })? {
        return Err(input.refuse(Code::CannotEdit));
    }
    let record = Record { resource, row: &row };
    if input.endpoint.role != Some(HandlerRole::Update) || !drafts::proposes(input.scope, record)? {
        drafts::check_row(input.scope, record)?;
    }
    author_and_sticky(input, resource)?;
    assigned_terms(input, resource)?;
    attaches(input, resource, Some(Record { resource, row: &row }.int("parent")))?;
    target(row)
}

/// Whether rights to such records are the same for all of them, so that they are checked before a record is looked up.
pub(super) fn rights_are_uniform(resource: &Resource) -> bool {
    resource.declared.key != ItemKey::Id
}

pub(super) fn content_delete(input: &GuardInput<'_>) -> Decision {
    let resource = input.resource()?;
    if rights_are_uniform(resource) && !input.scope.principal.can(resource.capability(Action::Delete)) {
        return Err(input.refuse(Code::CannotDelete));
    }
    let row = input.target(Code::PostInvalidId)?;
    if !input.may(Action::Delete, Record { resource, row: &row })? {
        return Err(input.refuse(Code::CannotDelete));
    }
    drafts::check_row(input.scope, Record { resource, row: &row })?;
    drafts::check_removal(input.scope, input.args.flag("force"))?;
    target(row)
}

/// Another's name and the front page are for those who edit others' records (or publish).
fn author_and_sticky(input: &GuardInput<'_>, resource: &Resource) -> Result<(), ApiError> {
    let caller = &input.scope.principal;
    let others = caller.can(resource.capability(Action::EditOthers));
    if let Some(author) = input.args.int("author")
        && resource.supports("author")
        && author != 0
        && author != caller.id
        && !others
    {
        return Err(input.refuse(Code::CannotEditOthers));
    }
    let may_stick = others || caller.can(resource.capability(Action::Publish));
    input
        .refuse_if(input.args.flag("sticky") && resource.supports("sticky") && !may_stick, Code::CannotAssignSticky)?;
    Ok(())
}

fn assigned_terms(input: &GuardInput<'_>, resource: &Resource) -> Result<(), ApiError> {
    // No term has the number 0, so nobody may assign it; terms that do not exist are left out.
    let none = |given: &Value| match given {
        Value::Array(ids) => ids.iter().any(|id| id.as_i64() == Some(0)),
        id => id.as_i64() == Some(0),
    };
    for relation in &resource.relations {
        let taxonomy = &input.registry().resources[relation.to];
        if taxonomy.is_taxonomy()
            && let Some(given) = input.args.explicit(&relation.property)
            && (none(given) || relation.is_list() && !policy::may_assign(&input.scope.principal, taxonomy))
        {
            return Err(input.refuse(Code::CannotAssignTerm));
        }
    }
    Ok(())
}
