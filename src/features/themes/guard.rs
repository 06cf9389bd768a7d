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
fn read(asking: &GuardInput<'_>) -> Decision {
    let caller = &asking.scope.principal;
    if caller.can("switch_themes") || caller.can("manage_network_themes") {
        return Ok(GuardRows::default());
    }
    let wanted = asking.args.get("status").and_then(Value::as_array);
    let only_active = wanted.is_some_and(|list| !list.is_empty() && list.iter().all(|s| s == "active"));
    let named = asking.args.text("stylesheet");
    let active = named.is_some_and(|n| asking.registry().declaration.themes.get(n).is_some_and(|t| t.active));
    if (only_active || active) && policy::edits_something(asking.scope) {
        return Ok(GuardRows::default());
    }
    Err(asking.refuse(if only_active || active { Code::CannotReadThemes } else { Code::CannotViewThemes }))
}
