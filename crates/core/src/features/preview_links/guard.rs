//! The guard of the preview links of a record.

use crate::access::{Guard, guard};
use crate::features::revisions::guard::autosave;
use crate::registry::vocabulary::{BehaviourEntry, VIRTUAL};
use cms_declaration::Action;

/// Its row of the table of guards.
pub const GUARDS: &[BehaviourEntry<Guard>] =
    &[guard("preview_link", autosave, "Allows callers who may edit the record.")
        .needs(Action::Edit)
        .on(VIRTUAL)
        .parent()];
