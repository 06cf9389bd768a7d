//! Guards of roles.

use crate::access::{Decision, Guard, GuardInput, GuardRows, guard, user_resource};
use crate::error::Code;
use crate::registry::vocabulary::{BehaviourEntry, VIRTUAL};
use cms_declaration::Action;

/// Its rows of the table of guards.
pub const GUARDS: &[BehaviourEntry<Guard>] = &[
    guard("role.read", read, "Allows callers who may promote users.").fails(&[Code::Forbidden]).on(VIRTUAL),
    guard("role.change", change, "Allows callers who may promote users and hold the capability behind the colon.")
        .param("CAPABILITY")
        .fails(&[Code::Forbidden])
        .on(VIRTUAL),
];

fn read(input: &GuardInput<'_>) -> Decision {
    let promote = user_resource(input)?.capability(Action::Promote);
    input.refuse_if(!input.scope.principal.can(promote), Code::Forbidden)?;
    Ok(GuardRows::default())
}

/// The capabilities of a role decide about its users as promoting them does.
fn change(input: &GuardInput<'_>) -> Decision {
    input.refuse_if(!input.scope.principal.can(&input.endpoint.guard_param), Code::Forbidden)?;
    read(input)
}
