//! The head of any address of the site for search engines, as Yoast's REST interface responds.

use crate::behaviours::seo::{not_found, plugin_forms};
use crate::error::{ApiError, Code, status};
use crate::features::addresses;
use crate::handlers::{Handler, Outcome, Work, sync_handler};
use crate::registry::vocabulary::{BehaviourEntry, ResponseKind};
use serde_json::json;

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[sync_handler(
    "seo.head",
    get,
    "Responds with what search engines are told of the place at an address, as markup and as JSON.",
)
.responds(ResponseKind::Json(status::OK, include_str!("response.json")))
.fails(&[Code::MissingParam])];

/// The head of the address that the argument `url` names; with status 404 that of a place that is not there.
///
/// # Errors
/// The database cannot be read.
fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let url = work.allowed.args().text("url").unwrap_or_default();
    let found = addresses::head_at(work, url)?;
    let status = if found.is_some() { status::OK } else { status::NOT_FOUND };
    let (html, json) = plugin_forms(work.scope, &found.unwrap_or_else(|| not_found(work.scope)));
    let body = json!({"html": html, "json": json, "status": status});
    Ok(Outcome { status, ..Outcome::ok(body) })
}
