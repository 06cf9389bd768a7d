//! Guards that look at the caller alone.

use super::{Asking, Decision, Found};
use crate::error::Code;

pub(super) fn public(_: &Asking<'_>) -> Decision {
    Ok(Found::default())
}

pub(super) fn authenticated(asking: &Asking<'_>) -> Decision {
    if asking.scope.principal.known() {
        Ok(Found::default())
    } else {
        Err(asking.scope.principal.refuse(Code::NotLoggedIn))
    }
}

pub(super) fn can(asking: &Asking<'_>) -> Decision {
    if asking.scope.principal.can(&asking.endpoint.guard_param) {
        Ok(Found::default())
    } else {
        Err(asking.refuse(Code::Forbidden))
    }
}
