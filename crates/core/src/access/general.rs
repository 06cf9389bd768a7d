//! Guards that look at the caller alone.

use super::{Decision, GuardInput, GuardRows};
use crate::error::Code;

pub(super) fn public(_: &GuardInput<'_>) -> Decision {
    Ok(GuardRows::default())
}

pub(super) fn authenticated(input: &GuardInput<'_>) -> Decision {
    if input.scope.principal.is_logged_in() {
        Ok(GuardRows::default())
    } else {
        Err(input.scope.principal.refuse(Code::NotLoggedIn))
    }
}

pub(super) fn can(input: &GuardInput<'_>) -> Decision {
    if input.scope.principal.can(&input.endpoint.guard_param) {
        Ok(GuardRows::default())
    } else {
        Err(input.refuse(Code::Forbidden))
    }
}
