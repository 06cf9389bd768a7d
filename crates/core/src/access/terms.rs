//! Guards of terms.

use super::{Decision, GuardInput, GuardRows, policy, target};
use crate::error::{ApiError, Code, status};
use crate::records::Record;
use crate::registry::resource::Context;
use crate::scope::Scope;
use cms_declaration::Action;
use cms_storage::StorageError;

pub(super) fn term_list(input: &GuardInput<'_>) -> Decision {
    let resource = input.resource()?;
    if input.context() == Context::EDIT && !input.scope.principal.can(resource.capability(Action::Edit)) {
        return Err(input.refuse(Code::ForbiddenContext));
    }
    if let Some(post) = input.args.int("post").filter(|post| *post != 0) {
        match policy::with_record(input.scope, post, |record| reads_terms_of(input.scope, record))?.transpose()? {
            None => return Err(ApiError::new(Code::PostInvalidId).with_status(status::BAD_REQUEST)),
            Some(false) => return Err(input.refuse(Code::ForbiddenContext)),
            Some(true) => {}
        }
    }
    Ok(GuardRows::default())
}

/// Whether the caller may read which terms a record has. Records without a page of their own show them to those alone who are
/// logged in.
fn reads_terms_of(scope: &Scope, record: Record<'_>) -> Result<bool, StorageError> {
    if scope.previewed(record.resource, record.id()).is_some() {
        return Ok(true);
    }
    let opened = record.resource.viewable() || scope.principal.is_logged_in();
    Ok(opened && policy::may(scope, Action::Read, record)?)
}

pub(super) fn term_read(input: &GuardInput<'_>) -> Decision {
    let row = input.target(Code::TermInvalid)?;
    let record = Record { resource: input.resource()?, row: &row };
    input.refuse_if(input.context() == Context::EDIT && !input.sees_edited(record)?, Code::ForbiddenContext)?;
    target(row)
}

pub(super) fn term_create(input: &GuardInput<'_>) -> Decision {
    let resource = input.resource()?;
    // Whoever may assign terms of a flat taxonomy may make them up.
    let act = if resource.declared.hierarchical { Action::Edit } else { Action::Assign };
    input.refuse_if(!input.scope.principal.can(resource.capability(act)), Code::CannotCreate)?;
    Ok(GuardRows::default())
}

pub(super) fn term_update(input: &GuardInput<'_>) -> Decision {
    let row = input.target(Code::TermInvalid)?;
    input.refuse_if(!input.scope.principal.can(input.resource()?.capability(Action::Edit)), Code::CannotUpdate)?;
    target(row)
}

pub(super) fn term_delete(input: &GuardInput<'_>) -> Decision {
    let row = input.target(Code::TermInvalid)?;
    let resource = input.resource()?;
    let default = resource.declared.default_setting.as_deref().map_or(0, |s| input.scope.settings.int(s));
    // The default term stays, whoever the caller is: records need one to fall back on.
    if default == (Record { resource, row: &row }).id()
        || !input.scope.principal.can(resource.capability(Action::Delete))
    {
        return Err(input.refuse(Code::CannotDelete));
    }
    target(row)
}
