//! Guards that look at the caller alone.

use super::{Decision, GuardInput, GuardRows};
use crate::error::Code;

pub(super) fn public(_: &GuardInput<'_>) -> Decision {
    Ok(GuardRows::default())
}

pub(super) fn authenticated(asking: &GuardInput<'_>) -> Decision {
    if asking.scope.principal.is_logged_in() {
        Ok(GuardRows::default())
    } else {
        Err(asking.scope.principal.refuse(Code::NotLoggedIn))
    }
}

pub(super) fn can(asking: &GuardInput<'_>) -> Decision {
    if asking.scope.principal.can(&asking.endpoint.guard_param) {
        Ok(GuardRows::default())
    } else {
        Err(asking.refuse(Code::Forbidden))
    }
}
