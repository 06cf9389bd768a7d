//! Guards of what is declared and not stored: kinds, states, themes.

use super::{Asking, Decision, Found, policy};
use crate::error::{ApiError, Code};
use crate::registry::resource::Context;
use serde_json::Value;

pub(super) fn catalogue_list(asking: &Asking<'_>) -> Decision {
    if asking.context() == Context::EDIT && !policy::edits_something(asking.scope) {
        return Err(asking.refuse(Code::CannotView));
    }
    Ok(Found::default())
}

/// States are for those who may see them; everything else is looked up by the handler.
pub(super) fn catalogue_read(asking: &Asking<'_>) -> Decision {
    let Some(wanted) = asking.args.text("status") else { return Ok(Found::default()) };
    match asking.registry().status(wanted) {
        None => Err(ApiError::new(Code::StatusInvalid)),
        Some(status) if policy::reads_status(asking.scope, status) => Ok(Found::default()),
        Some(_) => Err(asking.refuse(Code::CannotReadStatus)),
    }
}

/// The active theme is for everybody who edits; the others for those who change themes.
pub(super) fn theme_read(asking: &Asking<'_>) -> Decision {
    let caller = &asking.scope.principal;
    if caller.can("switch_themes") || caller.can("manage_network_themes") {
        return Ok(Found::default());
    }
    let wanted = asking.args.get("status").and_then(Value::as_array);
    let only_active = wanted.is_some_and(|list| !list.is_empty() && list.iter().all(|s| s == "active"));
    let named = asking.args.text("stylesheet");
    let active = named.is_some_and(|n| asking.registry().declaration.themes.get(n).is_some_and(|t| t.active));
    if (only_active || active) && policy::edits_something(asking.scope) {
        return Ok(Found::default());
    }
    Err(asking.refuse(if only_active || active { Code::CannotReadThemes } else { Code::CannotViewThemes }))
}
