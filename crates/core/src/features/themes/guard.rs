//! The guard of themes.

use crate::access::{Decision, Guard, GuardInput, GuardRows, guard, policy};
use crate::error::Code;
use crate::registry::vocabulary::BehaviourEntry;
use serde_json::Value;

/// Its rows of the table of guards.
pub const GUARDS: &[BehaviourEntry<Guard>] = &[
    guard("theme.list", read, "Allows callers who may switch themes, and editors for the active one."),
    guard("theme.read", read, "Allows callers who may switch themes, and editors for the active one."),
];

/// The active theme is for everybody who edits; the others for those who change themes.
fn read(input: &GuardInput<'_>) -> Decision {
    let caller = &input.scope.principal;
    if caller.can("switch_themes") || caller.can("manage_network_themes") {
        return Ok(GuardRows::default());
    }
    let wanted = input.args.get("status").and_then(Value::as_array);
    let only_active = wanted.is_some_and(|list| !list.is_empty() && list.iter().all(|s| s == "active"));
    let named = input.args.text("stylesheet");
    let active = named.is_some_and(|n| input.registry().declaration.themes.get(n).is_some_and(|t| t.active));
    if (only_active || active) && policy::edits_something(input.scope) {
        return Ok(GuardRows::default());
    }
    Err(input.refuse(if only_active || active { Code::CannotReadThemes } else { Code::CannotViewThemes }))
}
