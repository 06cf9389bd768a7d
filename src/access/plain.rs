//! Guards of rows of no further family.

use super::{Decision, GuardInput, GuardRows, target};
use crate::error::Code;
use crate::records::Record;
use crate::registry::resource::Context;
use cms_config::declaration::Action;

pub(super) fn plain_list(asking: &GuardInput<'_>) -> Decision {
    let resource = asking.resource()?;
    let caller = &asking.scope.principal;
    if asking.context() == Context::EDIT && !caller.can(resource.capability(Action::Edit)) {
        return Err(asking.refuse(Code::ForbiddenContext));
    }
    if !caller.can(resource.reading_capability()) {
        return Err(asking.refuse(Code::Forbidden));
    }
    Ok(GuardRows::default())
}

pub(super) fn plain_read(asking: &GuardInput<'_>) -> Decision {
    let row = asking.target(Code::RecordInvalidId)?;
    let record = Record { resource: asking.resource()?, row: &row };
    if asking.context() == Context::EDIT && !asking.sees_edited(record)? {
        return Err(asking.refuse(Code::ForbiddenContext));
    }
    if !asking.may(Action::Read, record)? {
        return Err(asking.refuse(Code::Forbidden));
    }
    target(row)
}

pub(super) fn plain_create(asking: &GuardInput<'_>) -> Decision {
    if !asking.scope.principal.can(asking.resource()?.capability(Action::Create)) {
        return Err(asking.refuse(Code::CannotCreate));
    }
    Ok(GuardRows::default())
}

pub(super) fn plain_update(asking: &GuardInput<'_>) -> Decision {
    let row = asking.target(Code::RecordInvalidId)?;
    if !asking.may(Action::Edit, Record { resource: asking.resource()?, row: &row })? {
        return Err(asking.refuse(Code::CannotEdit));
    }
    target(row)
}

pub(super) fn plain_delete(asking: &GuardInput<'_>) -> Decision {
    let row = asking.target(Code::RecordInvalidId)?;
    if !asking.may(Action::Delete, Record { resource: asking.resource()?, row: &row })? {
        return Err(asking.refuse(Code::CannotDelete));
    }
    target(row)
}
