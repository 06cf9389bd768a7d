//! Guards of the application passwords of a user (contract: "Authentication" 4, 5: where they are available, `edit_user`
//! is needed).

use crate::access::identity::{available, available_for};
use crate::access::{Decision, Guard, GuardInput, GuardRows, guard};
use crate::access::{named_user, names_caller, user_resource};
use crate::error::{Code, refuse_if};
use crate::records::Record;
use crate::registry::vocabulary::BehaviourEntry;
use cms_declaration::Action;

/// How application passwords are refused, whatever is done with them.
const OF_ACCOUNTS: &[Code] =
    &[Code::AppPasswordsDisabled, Code::NotLoggedIn, Code::UserInvalidId, Code::AppPasswordsDisabledForUser];

/// Its rows of the table of guards.
pub const GUARDS: &[BehaviourEntry<Guard>] = &[
    guard("app_password.list", list, "Allows callers who may edit the user.").fails(OF_ACCOUNTS).parent(),
    guard("app_password.read", read, "Allows callers who may edit the user.").fails(OF_ACCOUNTS).parent(),
    guard("app_password.create", create, "Allows callers who may edit the user.").fails(OF_ACCOUNTS).parent(),
    guard("app_password.update", update, "Allows callers who may edit the user.").fails(OF_ACCOUNTS).parent(),
    guard("app_password.delete", delete, "Allows callers who may edit the user.").fails(OF_ACCOUNTS).parent(),
    guard("app_password.delete_all", delete_all, "Allows callers who may edit the user.").fails(OF_ACCOUNTS).parent(),
    guard("app_password.introspect", introspect, "Allows the user.").fails(OF_ACCOUNTS).parent(),
];

fn guarded(input: &GuardInput<'_>, refusal: Code) -> Decision {
    let registry = &input.scope.registry;
    refuse_if(!available(registry, &input.scope.peer), Code::AppPasswordsDisabled)?;
    if names_caller(input) && !input.scope.principal.is_logged_in() {
        return Err(input.scope.principal.refuse(Code::NotLoggedIn));
    }
    let row = named_user(input)?;
    let record = Record { resource: user_resource(input)?, row: &row };
    refuse_if(!available_for(registry, record), Code::AppPasswordsDisabledForUser)?;
    if !input.may(Action::Edit, record)? {
        return Err(input.scope.principal.refuse(refusal));
    }
    Ok(GuardRows { parent: Some(row), ..GuardRows::default() })
}

/// May list them.
pub fn list(input: &GuardInput<'_>) -> Decision {
    guarded(input, Code::CannotListAppPasswords)
}

/// May read one.
fn read(input: &GuardInput<'_>) -> Decision {
    guarded(input, Code::CannotReadAppPassword)
}

/// May create one.
pub fn create(input: &GuardInput<'_>) -> Decision {
    guarded(input, Code::CannotCreateAppPasswords)
}

/// May rename one.
pub fn update(input: &GuardInput<'_>) -> Decision {
    guarded(input, Code::CannotEditAppPassword)
}

/// May revoke one.
pub fn delete(input: &GuardInput<'_>) -> Decision {
    guarded(input, Code::CannotDeleteAppPassword)
}

/// May revoke all of them.
pub fn delete_all(input: &GuardInput<'_>) -> Decision {
    guarded(input, Code::CannotDeleteAppPasswords)
}

/// May see the one in use: only the user.
pub fn introspect(input: &GuardInput<'_>) -> Decision {
    let found = guarded(input, Code::CannotIntrospect)?;
    let own = found.parent.as_ref().is_some_and(|row| {
        user_resource(input).is_ok_and(|users| Record { resource: users, row }.id() == input.scope.principal.id)
    });
    if own { Ok(found) } else { Err(input.scope.principal.refuse(Code::CannotIntrospect)) }
}
