//! Guards of what is declared and not stored: kinds and states.

use crate::access::{Asking, Decision, Found, Guard, guard, policy};
use crate::error::{ApiError, Code};
use crate::registry::resource::Context;
use crate::registry::vocabulary::{Anonymous, Named};
use cms_config::declaration::Family;

/// Its rows of the table of guards.
pub const GUARDS: &[Named<Guard>] = &[
    guard("catalogue.list", list, "Allows every caller; the edit context needs the right to edit any content.")
        .anonymous(Anonymous::Perhaps)
        .on(&[Family::Catalogue]),
    guard("catalogue.read", read, "Allows every caller; a status must be one that the caller may see.")
        .anonymous(Anonymous::Perhaps)
        .on(&[Family::Catalogue]),
];

fn list(asking: &Asking<'_>) -> Decision {
    if asking.context() == Context::EDIT && !policy::edits_something(asking.scope) {
        return Err(asking.refuse(Code::CannotView));
    }
    Ok(Found::default())
}

/// States are for those who may see them; everything else is looked up by the handler.
fn read(asking: &Asking<'_>) -> Decision {
    let Some(wanted) = asking.args.text("status") else { return Ok(Found::default()) };
    match asking.registry().status(wanted) {
        None => Err(ApiError::new(Code::StatusInvalid)),
        Some(status) if policy::reads_status(asking.scope, status) => Ok(Found::default()),
        Some(_) => Err(asking.refuse(Code::CannotReadStatus)),
    }
}
