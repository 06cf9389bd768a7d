//! The route of the stream of events. What is told of a change is the matter of the module `events`.

use crate::error::{ApiError, status};
use crate::handlers::{Handler, Outcome, Work, handler};
use crate::model::{EVENT_STREAM, EventQuery, Payload, WatchedDocument};
use crate::registry::vocabulary::{BehaviourEntry, ResponseKind};
use serde_json::Value;

/// The response as programs see it that know no streams.
pub const STREAM: &str = r#"{"type": "string", "description": "Server-Sent Events: each has the number of a change in `id` and a document in `data`."}"#;

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[handler(
    "event.stream",
    |w| Box::pin(async move { stream(w) }),
    "Tells of changes as they come, as far as the caller may read what has changed (Server-Sent Events).",
)
.responds(ResponseKind::Json(status::OK, STREAM))
.also(EVENT_STREAM)];

fn stream(work: &Work<'_>) -> Result<Outcome, ApiError> {
    opened(work, None)
}

/// Responds with the query of a stream, which the edge opens.
///
/// # Errors
/// There is no such resource, or no such state.
pub fn opened(work: &Work<'_>, watched: Option<WatchedDocument>) -> Result<Outcome, ApiError> {
    let args = work.allowed.args();
    let list = |name: &str| -> Vec<String> {
        let given = args.get(name).and_then(Value::as_array).into_iter().flatten();
        given.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let resources = list("resources");
    let unknown = resources.iter().find(|name| work.scope.registry.resource(name).is_none());
    if let Some(unknown) = unknown {
        return Err(ApiError::invalid_one("resources", format!("There is no resource `{unknown}`.")));
    }
    let statuses = list("statuses");
    if let Some(unknown) = statuses.iter().find(|name| !work.scope.registry.has_state(name)) {
        return Err(ApiError::invalid_one("statuses", format!("There is no state `{unknown}`.")));
    }
    let query = EventQuery { resources, events: list("events"), statuses, after: args.int("after"), watched };
    Ok(Outcome { private: true, payload: Some(Payload::Events(Box::new(query))), ..Outcome::ok(Value::Null) })
}
