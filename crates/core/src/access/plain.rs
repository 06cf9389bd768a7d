//! Guards of rows of no further family.

use super::{Decision, GuardInput, GuardRows, target};
use crate::error::Code;
use crate::records::Record;
use crate::registry::resource::Context;
use cms_declaration::Action;

pub(super) fn plain_list(input: &GuardInput<'_>) -> Decision {
    let resource = input.resource()?;
    let caller = &input.scope.principal;
    if input.context() == Context::EDIT && !caller.can(resource.capability(Action::Edit)) {
        return Err(input.refuse(Code::ForbiddenContext));
    }
    input.refuse_if(!caller.can(resource.reading_capability()), Code::Forbidden)?;
    Ok(GuardRows::default())
}

pub(super) fn plain_read(input: &GuardInput<'_>) -> Decision {
    let row = input.target(Code::RecordInvalidId)?;
    let record = Record { resource: input.resource()?, row: &row };
    input.refuse_if(input.context() == Context::EDIT && !input.sees_edited(record)?, Code::ForbiddenContext)?;
    input.refuse_if(!input.may(Action::Read, record)?, Code::Forbidden)?;
    target(row)
}

pub(super) fn plain_create(input: &GuardInput<'_>) -> Decision {
    input.refuse_if(!input.scope.principal.can(input.resource()?.capability(Action::Create)), Code::CannotCreate)?;
    Ok(GuardRows::default())
}

pub(super) fn plain_update(input: &GuardInput<'_>) -> Decision {
    let row = input.target(Code::RecordInvalidId)?;
    if !input.may(Action::Edit, Record { resource: input.resource()?, row: &row })? {
        return Err(input.refuse(Code::CannotEdit));
    }
    target(row)
}

pub(super) fn plain_delete(input: &GuardInput<'_>) -> Decision {
    let row = input.target(Code::RecordInvalidId)?;
    if !input.may(Action::Delete, Record { resource: input.resource()?, row: &row })? {
        return Err(input.refuse(Code::CannotDelete));
    }
    target(row)
}
