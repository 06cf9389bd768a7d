//! Several requests in one: each is checked, authorized and answered by itself, in order; in one commit when requested.
//!
//! Batches do not nest: a part that is a batch is refused like every route that takes no part in batches.

use crate::error::{ApiError, Code, status};
use crate::handlers::{Handler, Outcome, TransactionScope, Work, handler};
use crate::model::Method;
use crate::registry::vocabulary::{BehaviourEntry, HandlerRole, ResponseKind};
use crate::request::call::Call;
use crate::request::conditional::Preconditions;
use crate::request::{self, BodyParams};
use crate::scope::Scope;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// The responses of a batch.
const BATCH: &str = r#"{"type": "object", "example": {"responses": [
    {"status": 201, "headers": {"Allow": "GET, POST"}, "body": {"id": 9, "name": "Tide tables", "slug": "tide-tables"}}]},
    "properties": {
    "failed": {"type": "string", "description": "Why no part was carried out."},
    "responses": {"type": "array", "description": "In the order of the requests.", "items": {"type": ["object", "null"],
        "properties": {"status": {"type": "integer"}, "headers": {"type": ["object", "array"]}, "body": {}}}}}}"#;

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] =
    &[handler("batch", |w| Box::pin(batch(w)), "Carries out the requests that the body lists, each by its own rules.")
        .role(HandlerRole::Batch)
        .responds(ResponseKind::Json(status::MULTI_STATUS, BATCH))];

/// One part: the request, or why it cannot be one.
struct BatchPart(Result<Call, ApiError>);

/// `batch/v1`.
///
/// # Errors
/// Failures of parts are in their envelopes; its own only error is that the database takes no transaction.
pub async fn batch(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let args = work.allowed.args();
    let depth = work.scope.registry.declaration.server.max_depth;
    let parts: Vec<BatchPart> = args
        .get("requests")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|p| BatchPart(call(p, depth)))
        .collect();
    let mut scope = work.scope.clone();
    scope.depth += 1;
    if args.text("validation") == Some("require-all-validate") {
        let checked: Vec<Option<ApiError>> = parts.iter().map(|part| objection(work, part)).collect();
        if checked.iter().any(Option::is_some) {
            return Ok(failed("validation", checked.into_iter().map(|e| e.map_or(Value::Null, |e| refused(&e)))));
        }
    }
    if args.flag("atomic") {
        return all_or_nothing(work, scope, &parts).await;
    }
    Ok(answered(run(work, &scope, &parts).await))
}

/// All parts as one commit: each sees what those before it wrote, and when one fails nothing was written.
async fn all_or_nothing(work: &Work<'_>, mut scope: Scope, parts: &[BatchPart]) -> Result<Outcome, ApiError> {
    match hashed_ahead(work, &scope, parts).await {
        Ok(hashes) => scope.hashes = Arc::new(hashes),
        Err((place, error)) => {
            let told = (0..parts.len()).map(|at| if at == place { refused(&error) } else { Value::Null });
            return Ok(failed("atomic", told));
        }
    }
    let open = TransactionScope::begin(work, scope).await?;
    let responses = run(work, &open.scope, parts).await;
    let good = |response: &Value| response["status"].as_u64().is_some_and(|status| status < status::BAD_REQUEST.into());
    if !responses.iter().all(good) {
        return Ok(failed("atomic", responses.into_iter().map(|r| if good(&r) { Value::Null } else { r })));
    }
    open.finish(work).await?;
    Ok(answered(responses))
}

/// The hashes of the passwords that the parts set, by the passwords: they are made before the transaction, for which all
/// other writes wait. Callers without credentials set none.
///
/// # Errors
/// One is not made: the place of its part, and why.
async fn hashed_ahead(
    work: &Work<'_>,
    scope: &Scope,
    parts: &[BatchPart],
) -> Result<HashMap<String, String>, (usize, ApiError)> {
    let mut hashes = HashMap::new();
    let calls = parts.iter().enumerate().filter_map(|(place, part)| Some((place, part.0.as_ref().ok()?)));
    for (place, call) in calls.filter(|_| scope.principal.is_logged_in()) {
        let Some((account, password)) = work.dispatch.password(scope, call) else { continue };
        let hash = work.shared.identity.hash_new(scope, &work.shared.hasher, (&account, password)).await;
        hashes.insert(password.to_owned(), hash.map_err(|error| (place, error))?);
    }
    Ok(hashes)
}

/// The envelopes of all parts, done in order.
async fn run(work: &Work<'_>, scope: &Scope, parts: &[BatchPart]) -> Vec<Value> {
    let mut responses = Vec::with_capacity(parts.len());
    for part in parts {
        responses.push(match &part.0 {
            Err(error) => refused(error),
            Ok(call) => {
                let done = work.dispatch.part(scope, call, true).await;
                let headers: Map<String, Value> =
                    done.headers.into_iter().map(|(n, v)| (n, number_or_text(v))).collect();
                json!({"body": done.body, "status": done.status, "headers": headers})
            }
        });
    }
    responses
}

fn answered(responses: Vec<Value>) -> Outcome {
    Outcome { status: status::MULTI_STATUS, body: json!({"responses": responses}), ..Outcome::default() }
}

/// The response when nothing was done, because of `why`.
fn failed(why: &str, responses: impl Iterator<Item = Value>) -> Outcome {
    let responses: Vec<Value> = responses.collect();
    Outcome { status: status::MULTI_STATUS, body: json!({"failed": why, "responses": responses}), ..Outcome::default() }
}

fn refused(error: &ApiError) -> Value {
    json!({"body": error.body(), "status": error.status(), "headers": {}})
}

fn objection(work: &Work<'_>, part: &BatchPart) -> Option<ApiError> {
    match &part.0 {
        Err(error) => Some(error.clone()),
        Ok(call) => work.dispatch.check_part(call).err(),
    }
}

fn number_or_text(value: String) -> Value {
    value.parse::<i64>().map_or_else(|_| json!(value), |n| json!(n))
}

fn call(part: &Value, depth: usize) -> Result<Call, ApiError> {
    let method = part.get("method").and_then(Value::as_str).unwrap_or("POST");
    let method = Method::parse(method).ok_or_else(|| ApiError::new(Code::NoRoute))?;
    let address = below_host(part.get("path").and_then(Value::as_str).unwrap_or(""))?;
    let (path, raw_query) = address.split_once('?').unwrap_or((address, ""));
    // A path that is no route is not looked up: the empty path is the index.
    let path = request::decode_path(path).filter(|p| p.starts_with('/')).ok_or_else(|| ApiError::new(Code::NoRoute))?;
    let body = match part.get("body") {
        Some(Value::Object(map)) => BodyParams::Json(map.clone()),
        _ => BodyParams::None,
    };
    Ok(Call {
        method,
        path,
        query: request::decode_query(raw_query, depth)?,
        raw_query: raw_query.to_owned(),
        body: Ok(body),
        expects: Preconditions::of(|name| header(part, name)),
        text: false,
        lines: false,
        custom_fields: Vec::new(),
    })
}

/// A header of the part, by its lower-case name.
fn header<'p>(part: &'p Value, name: &str) -> Option<&'p str> {
    let headers = part.get("headers")?.as_object()?;
    headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name))?.1.as_str()
}

/// The path and query of an address: without scheme, host and fragment.
fn below_host(address: &str) -> Result<&str, ApiError> {
    let address = address.split('#').next().unwrap_or("");
    match address.split_once("//") {
        Some((scheme, rest)) if scheme.is_empty() || scheme.ends_with(':') => {
            let end = rest.find(['/', '?']).unwrap_or(rest.len());
            if is_host(&rest[..end]) { Ok(&rest[end..]) } else { Err(ApiError::new(Code::InvalidPath)) }
        }
        _ => Ok(address),
    }
}

/// Whether there is a host before the port, and the port is one.
fn is_host(authority: &str) -> bool {
    let host = authority.rsplit('@').next().unwrap_or("");
    // The colons within brackets are those of an address.
    let name = host.rfind(']').map_or(0, |end| end + 1);
    match host[name..].split_once(':') {
        Some((before, port)) => name + before.len() > 0 && (port.is_empty() || port.parse::<u16>().is_ok()),
        None => !host.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_below_the_host() {
        fn check(address: &str, below: Option<&str>) {
            assert_eq!(below_host(address).ok(), below, "{address}");
        }
        check("/cms/v2/tags", Some("/cms/v2/tags"));
        check("/cms/v2/tags?name=a//b", Some("/cms/v2/tags?name=a//b"));
        check("/cms/v2/tags#part", Some("/cms/v2/tags"));
        check("http://example.org/cms/v2/tags?x=1", Some("/cms/v2/tags?x=1"));
        check("//example.org/tags", Some("/tags"));
        check("http://example.org", Some(""));
        check("cms/v2/tags", Some("cms/v2/tags"));
        check("", Some(""));
        check("///", None);
        check("http:///x", None);
        check("//:7", None);
        check("http://:80/x", None);
        check("http://example.org:port/x", None);
        check("http://example.org:70000/x", None);
        check("http://example.org:8080/x", Some("/x"));
        check("http://[::1]/x", Some("/x"));
        check("http://[::1]:x/x", None);
        check("http://me@/x", None);
    }
}
