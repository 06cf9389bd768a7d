//! `site_health.test`: one check of the site by itself, with the declared texts.

use crate::error::{ApiError, Code};
use crate::handlers::{Handler, Outcome, Work, sync_handler};
use crate::registry::vocabulary::BehaviourEntry;
use serde_json::{Map, Value};

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] =
    &[sync_handler("site_health.test", test, "Responds with one declared check of the site's health.")
        .fails(&[Code::Forbidden])
        .settings(&["entries", "key"])];

/// Whether all is well.
type HealthCheck = fn(&Work<'_>) -> bool;

/// The checks, by the name that declarations use.
const CHECKS: [(&str, HealthCheck); 3] = [
    // Nothing can be wrong: the server does not need what is checked.
    ("needless", |_| true),
    // The site's address is one of HTTPS.
    ("https", |work| work.scope.registry.site.url.starts_with("https://")),
    // Credentials that a program sends in the header arrive: this request had some.
    ("authorization", |work| work.scope.principal.app_password.is_some()),
];

/// The entry that the path ends with (`options.entries`): its members, and those of its `good` or `bad`, by its `check`.
///
/// # Errors
/// The declaration names no such entry or check: 500.
pub fn test(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let undeclared = || ApiError::new(Code::Internal);
    let registry = &work.scope.registry;
    let named = work.path.rsplit('/').next();
    let entry = named.and_then(|name| registry.entry(resource, name)).ok_or_else(undeclared)?;
    let check = CHECKS.iter().find(|(name, _)| entry["check"] == *name).ok_or_else(undeclared)?.1;
    let found = &entry[if check(work) { "good" } else { "bad" }];
    let told = resource.properties.iter().filter_map(|property| {
        let value = found.get(&property.name).or_else(|| entry.get(&property.name))?;
        Some((property.name.clone(), value.clone()))
    });
    Ok(Outcome { private: true, ..Outcome::ok(Value::Object(told.collect::<Map<_, _>>())) })
}
