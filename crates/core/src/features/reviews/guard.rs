//! The guard of decisions about changes that wait.

use crate::access::{Decision, Guard, GuardInput, GuardRows, drafts, guard};
use crate::error::Code;
use crate::records::Record;
use crate::registry::columns::review::{self as col, state};
use crate::registry::vocabulary::{BehaviourEntry, PLAIN};
use cms_declaration::Action;

/// Its row of the table of guards.
pub const GUARDS: &[BehaviourEntry<Guard>] = &[guard(
    "review.update",
    update,
    "Allows callers who may publish the record; to withdraw a change, the user in whose name it was proposed.",
)
.drafts()
.on(PLAIN)
.item()];

fn update(input: &GuardInput<'_>) -> Decision {
    let row = input.target(Code::RecordInvalidId)?;
    let record = Record { resource: input.resource()?, row: &row };
    let caller = &input.scope.principal;
    let withdraws = input.args.text(col::STATE) == Some(state::WITHDRAWN);
    if withdraws {
        input.refuse_if(!caller.is_logged_in() || record.int(col::USER) != caller.id, Code::CannotEdit)?;
    } else {
        drafts::check_decision(input.scope)?;
        input.refuse_if(!input.may(Action::Edit, record)?, Code::CannotEdit)?;
    }
    Ok(GuardRows { target: Some(row), ..GuardRows::default() })
}
