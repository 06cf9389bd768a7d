//! Guards of what belongs to an account: its sessions and second factors, and the invitation to it.

use crate::access::{Decision, Guard, GuardInput, GuardRows, guard, named_user, outbox, path_user, user_resource};
use crate::error::Code;
use crate::records::Record;
use crate::registry::vocabulary::BehaviourEntry;
use cms_declaration::Action;

/// Its rows of the table of guards.
pub const GUARDS: &[BehaviourEntry<Guard>] = &[
    guard("account.edit", edit, "Allows the user, and callers who may edit the user.")
        .fails(&[Code::NotLoggedIn, Code::UserInvalidId])
        .parent(),
    guard("account.other", other, "Allows callers who may edit another user.").parent(),
    guard("account.invite", invite, "Allows callers who may edit another user, where mail is on.").parent(),
];

/// The user that the path names, for callers who may edit that user.
fn edit(input: &GuardInput<'_>) -> Decision {
    input.refuse_if(!input.scope.principal.is_logged_in(), Code::NotLoggedIn)?;
    let row = named_user(input)?;
    let record = Record { resource: user_resource(input)?, row: &row };
    match input.may(Action::Edit, record)? {
        true => Ok(GuardRows { parent: Some(row), ..GuardRows::default() }),
        false => Err(input.refuse(Code::CannotEdit)),
    }
}

/// Nobody invites themselves: who is here has a way in.
fn invite(input: &GuardInput<'_>) -> Decision {
    if !outbox::sends_links(input.registry())
        || !input.scope.principal.can(user_resource(input)?.capability(Action::Edit))
    {
        return Err(input.refuse(Code::Forbidden));
    }
    other(input)
}

/// Of others alone: who acts on the own account proves on a page to be its owner.
fn other(input: &GuardInput<'_>) -> Decision {
    let found = edit(input)?;
    let users = user_resource(input)?;
    let own = path_user(input).is_some()
        && found.parent.as_ref().is_some_and(|row| Record { resource: users, row }.id() == input.scope.principal.id);
    if own { Err(input.refuse(Code::Forbidden)) } else { Ok(found) }
}
