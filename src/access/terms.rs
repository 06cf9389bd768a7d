//! Guards of terms.

use super::{Decision, GuardInput, GuardRows, policy, target};
use crate::error::{ApiError, Code, status};
use crate::records::Record;
use crate::registry::resource::Context;
use cms_config::declaration::Action;

pub(super) fn term_list(asking: &GuardInput<'_>) -> Decision {
    let resource = asking.resource()?;
    if asking.context() == Context::EDIT && !asking.scope.principal.can(resource.capability(Action::Edit)) {
        return Err(asking.refuse(Code::ForbiddenContext));
    }
    if let Some(post) = asking.args.int("post").filter(|post| *post != 0) {
        match policy::parent_content(asking.scope, post, Action::Read)? {
            None => return Err(ApiError::new(Code::PostInvalidId).with_status(status::BAD_REQUEST)),
            Some(false) => return Err(asking.refuse(Code::ForbiddenContext)),
            Some(true) => {}
        }
    }
    Ok(GuardRows::default())
}

pub(super) fn term_read(asking: &GuardInput<'_>) -> Decision {
    let row = asking.target(Code::TermInvalid)?;
    let record = Record { resource: asking.resource()?, row: &row };
    if asking.context() == Context::EDIT && !asking.sees_edited(record)? {
        return Err(asking.refuse(Code::ForbiddenContext));
    }
    target(row)
}

pub(super) fn term_create(asking: &GuardInput<'_>) -> Decision {
    let resource = asking.resource()?;
    // Whoever may assign terms of a flat taxonomy may make them up.
    let act = if resource.declared.hierarchical { Action::Edit } else { Action::Assign };
    if !asking.scope.principal.can(resource.capability(act)) {
        return Err(asking.refuse(Code::CannotCreate));
    }
    Ok(GuardRows::default())
}

pub(super) fn term_update(asking: &GuardInput<'_>) -> Decision {
    let row = asking.target(Code::TermInvalid)?;
    if !asking.scope.principal.can(asking.resource()?.capability(Action::Edit)) {
        return Err(asking.refuse(Code::CannotUpdate));
    }
    target(row)
}

pub(super) fn term_delete(asking: &GuardInput<'_>) -> Decision {
    let row = asking.target(Code::TermInvalid)?;
    let resource = asking.resource()?;
    let default = resource.declared.default_setting.as_deref().map_or(0, |s| asking.scope.settings.int(s));
    // The default term stays, whoever the caller is: records need one to fall back on.
    if default == (Record { resource, row: &row }).id()
        || !asking.scope.principal.can(resource.capability(Action::Delete))
    {
        return Err(asking.refuse(Code::CannotDelete));
    }
    target(row)
}
