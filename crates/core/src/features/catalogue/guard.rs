//! Guards of what is declared and not stored: kinds and states.

use crate::access::{Decision, Guard, GuardInput, GuardRows, guard, policy};
use crate::error::{ApiError, Code};
use crate::registry::resource::Context;
use crate::registry::vocabulary::CATALOGUE;
use crate::registry::vocabulary::{AnonymousAccess, BehaviourEntry};

/// Its rows of the table of guards.
pub const GUARDS: &[BehaviourEntry<Guard>] = &[
    guard("catalogue.list", list, "Allows every caller; the edit context needs the right to edit any content.")
        .anonymous(AnonymousAccess::Perhaps)
        .on(CATALOGUE),
    guard("catalogue.read", read, "Allows every caller; a status must be one that the caller may see.")
        .anonymous(AnonymousAccess::Perhaps)
        .on(CATALOGUE),
];

fn list(input: &GuardInput<'_>) -> Decision {
    input.refuse_if(input.context() == Context::EDIT && !policy::edits_something(input.scope), Code::CannotView)?;
    Ok(GuardRows::default())
}

/// States are for those who may see them; everything else is looked up by the handler.
fn read(input: &GuardInput<'_>) -> Decision {
    let Some(wanted) = input.args.text("status") else { return Ok(GuardRows::default()) };
    match input.registry().status(wanted) {
        None => Err(ApiError::new(Code::StatusInvalid)),
        Some(status) if policy::reads_status(input.scope, status) => Ok(GuardRows::default()),
        Some(_) => Err(input.refuse(Code::CannotReadStatus)),
    }
}
