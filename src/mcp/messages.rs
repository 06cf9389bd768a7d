//! Messages: JSON-RPC read, the revision of the protocol recognised, methods dispatched.
//!
//! A fault of a message is an error of JSON-RPC; a refusal of a tool is a result that says so.

use super::{Mcp, header_text};
use cms_core::access::drafts;
use cms_core::engine::Engine;
use cms_core::error::status;
use cms_core::model::Request;
use cms_core::request::json_value;
use cms_core::scope::Scope;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The revision in which each request says what it is.
const MODERN: &str = "2026-07-28";
/// Revisions with a handshake, the newest first.
const LEGACY: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];
/// The revision of requests over HTTP that name none, and the only one with batches.
const UNNAMED: &str = "2025-03-26";

const PARSE: i64 = -32700;
pub(super) const INVALID_REQUEST: i64 = -32600;
const NO_METHOD: i64 = -32601;
pub(super) const INVALID_PARAMS: i64 = -32602;
pub(super) const INTERNAL: i64 = -32603;
/// A resource that is not there, in revisions with a handshake.
const NO_RESOURCE: i64 = -32002;
const HEADERS_DIFFER: i64 = -32020;
const UNSUPPORTED: i64 = -32022;

/// Longest name that a client gives itself or asks for, as the log and the audit trail have it, in characters.
const LONGEST_NAME: usize = 100;

/// Most messages in a batch.
const MOST: usize = 25;

/// How long clients may use a list of what is declared, in milliseconds.
const FRESH: u64 = 60_000;

/// The request for a stream of changes.
const LISTEN: &str = "subscriptions/listen";

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// The transport's facts about the sender.
#[derive(Clone, Debug, Default)]
pub struct McpHeaders {
    /// There are headers; over standard input there are none.
    http: bool,
    version: Option<String>,
    method: Option<String>,
    name: Option<String>,
}

impl McpHeaders {
    /// Reads the headers.
    pub fn of(request: &Request) -> McpHeaders {
        let text = |name: &str| request.header(name).map(|value| value.trim().to_owned());
        McpHeaders {
            http: true,
            version: text("mcp-protocol-version"),
            method: text("mcp-method"),
            name: text("mcp-name").and_then(|value| header_text(&value)),
        }
    }
}

/// The response to a message.
#[derive(Debug, PartialEq)]
pub enum McpResponse {
    /// It was a notification.
    Nothing,
    Done(Value),
    /// An error that HTTP shows in its status, too.
    Failed {
        status: u16,
        body: Value,
    },
}

/// An error of a method.
#[derive(Debug)]
pub(super) struct RpcError {
    pub code: i64,
    pub message: String,
    pub data: Option<Value>,
}

impl RpcError {
    pub fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into(), data: None }
    }

    /// A resource that is not there. Its code depends on the revision.
    pub fn absent(message: impl Into<String>) -> RpcError {
        RpcError::new(NO_RESOURCE, message)
    }
}

/// An error object as a message.
pub(super) fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

fn bad(status: u16, id: &Value, code: i64, message: &str) -> McpResponse {
    McpResponse::Failed { status, body: error(id, code, message) }
}

/// Reads a text.
///
/// # Errors
/// It is no JSON: the answer.
pub(super) fn read(scope: &Scope, text: &[u8]) -> Result<Value, McpResponse> {
    let depth = scope.registry.declaration.server.max_depth;
    json_value(text, depth).map_err(|error| bad(status::BAD_REQUEST, &Value::Null, PARSE, error.message()))
}

/// A message whose answer may come bit by bit.
pub(super) enum StreamKind {
    Progress,
    /// The id and the parameters of a subscription.
    Subscription(Value, Map<String, Value>),
}

/// Whether the answer to a message may come bit by bit, and how.
pub(super) fn streamed(peer: &McpHeaders, message: &Value) -> Option<StreamKind> {
    let id = message.get("id").filter(|id| id.is_string() || id.is_i64() || id.is_u64())?;
    let params = message.get("params")?.as_object()?;
    match message.get("method")?.as_str()? {
        "tools/call" => {
            let token = params.get("_meta")?.get("progressToken")?;
            (token.is_string() || token.is_i64() || token.is_u64()).then_some(StreamKind::Progress)
        }
        LISTEN => (message.get("jsonrpc")? == "2.0" && revision(peer, LISTEN, params, id).is_ok_and(|modern| modern))
            .then(|| StreamKind::Subscription(id.clone(), params.clone())),
        _ => None,
    }
}

/// The notification that a call is so far.
pub(super) fn progress(token: &Value, done: usize, of: usize, next: &str) -> Value {
    let mut params = json!({"progressToken": token, "progress": done, "total": of});
    if !next.is_empty() {
        params["message"] = json!(next);
    }
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
}

/// Answers a message, or several.
pub(super) async fn answer(
    mcp: &Mcp,
    engine: &Engine,
    scope: &Scope,
    peer: &McpHeaders,
    message: &Value,
) -> McpResponse {
    let Value::Array(batch) = message else { return one(mcp, engine, scope, peer, message).await };
    let named = peer.version.as_deref().unwrap_or(UNNAMED);
    if named != UNNAMED || batch.is_empty() || batch.len() > MOST {
        let message = format!("A message is one object; in revision {UNNAMED} also a list of up to {MOST}.");
        return bad(status::BAD_REQUEST, &Value::Null, INVALID_REQUEST, &message);
    }
    let mut answers = Vec::new();
    for message in batch {
        match one(mcp, engine, scope, peer, message).await {
            McpResponse::Nothing => {}
            McpResponse::Done(body) | McpResponse::Failed { body, .. } => answers.push(body),
        }
    }
    if answers.is_empty() { McpResponse::Nothing } else { McpResponse::Done(Value::Array(answers)) }
}

/// A request that was read.
struct McpRequest<'a> {
    id: &'a Value,
    method: &'a str,
    params: Map<String, Value>,
    modern: bool,
    http: bool,
}

async fn one(mcp: &Mcp, engine: &Engine, scope: &Scope, peer: &McpHeaders, message: &Value) -> McpResponse {
    let null = Value::Null;
    let id = message.get("id").filter(|id| id.is_string() || id.is_i64() || id.is_u64());
    let known = id.unwrap_or(&null);
    let invalid = |text: &str| bad(status::BAD_REQUEST, known, INVALID_REQUEST, text);
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid("The message is not JSON-RPC 2.0.");
    }
    let Some(method) = message.get("method").and_then(Value::as_str) else {
        // A response: the server has asked nothing.
        let response = message.get("result").is_some() || message.get("error").is_some();
        return if response { McpResponse::Nothing } else { invalid("The message has no method.") };
    };
    let Some(id) = id else {
        if message.get("id").is_some() {
            return invalid("The id is a text or an integer.");
        }
        if method == "notifications/cancelled"
            && let Some(request) = message.get("params").and_then(|params| params.get("requestId"))
        {
            mcp.call_off(scope, request);
        }
        return McpResponse::Nothing;
    };
    let params = match message.get("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params.clone(),
        Some(_) => return bad(status::BAD_REQUEST, id, INVALID_PARAMS, "The parameters are not an object."),
    };
    let modern = match revision(peer, method, &params, id) {
        Ok(modern) => modern,
        Err(refusal) => return refusal,
    };
    let called = McpRequest { id, method, params, modern, http: peer.http };
    match dispatch(mcp, engine, scope, &called).await {
        Ok(result) => McpResponse::Done(json!({"jsonrpc": "2.0", "id": id, "result": finished(result, &called)})),
        Err(failure) => {
            let code = if failure.code == NO_RESOURCE && modern { INVALID_PARAMS } else { failure.code };
            let mut body = error(id, code, &failure.message);
            if let Some(data) = failure.data {
                body["error"]["data"] = data;
            }
            match code == NO_METHOD && modern && peer.http {
                true => McpResponse::Failed { status: status::NOT_FOUND, body },
                false => McpResponse::Done(body),
            }
        }
    }
}

/// Whether a request is of the revision without a handshake.
fn revision(peer: &McpHeaders, method: &str, params: &Map<String, Value>, id: &Value) -> Result<bool, McpResponse> {
    let meta = params.get("_meta");
    let named = meta.and_then(|meta| meta.get(META_VERSION));
    let differ = |text: &str| Err(bad(status::BAD_REQUEST, id, HEADERS_DIFFER, text));
    let wanted = match (&named, &peer.version) {
        (Some(named), header) => {
            let named = named.as_str().unwrap_or_default();
            if peer.http && header.as_deref() != Some(named) {
                return differ("MCP-Protocol-Version is missing, or is not the version of the message.");
            }
            named
        }
        (None, Some(header)) if header == MODERN => {
            return Err(bad(
                status::BAD_REQUEST,
                id,
                INVALID_PARAMS,
                "The message does not name its version in _meta.",
            ));
        }
        (None, Some(header)) => header,
        (None, None) => UNNAMED,
    };
    if wanted != MODERN && !LEGACY.contains(&wanted) {
        let mut body = error(id, UNSUPPORTED, "Unsupported protocol version");
        let supported: Vec<&str> = std::iter::once(MODERN).chain(LEGACY).collect();
        body["error"]["data"] = json!({"supported": supported, "requested": wanted});
        return Err(McpResponse::Failed { status: status::BAD_REQUEST, body });
    }
    if wanted != MODERN {
        return Ok(false);
    }
    if !meta.and_then(|meta| meta.get(META_CAPABILITIES)).is_some_and(Value::is_object) {
        return Err(bad(
            status::BAD_REQUEST,
            id,
            INVALID_PARAMS,
            "The message does not name the capabilities of the client in _meta.",
        ));
    }
    if peer.http {
        if peer.method.as_deref() != Some(method) {
            return differ("Mcp-Method is missing, or is not the method of the message.");
        }
        let subject = match method {
            "tools/call" | "prompts/get" => params.get("name"),
            "resources/read" => params.get("uri"),
            _ => None,
        };
        if subject.is_some_and(|subject| subject.as_str() != peer.name.as_deref()) {
            return differ("Mcp-Name is missing, or is not what the message names.");
        }
    }
    Ok(true)
}

async fn dispatch(mcp: &Mcp, engine: &Engine, scope: &Scope, called: &McpRequest<'_>) -> Result<Value, RpcError> {
    let params = &called.params;
    let text = |name: &str| params.get(name).and_then(Value::as_str);
    let needed = |name: &str| {
        text(name)
            .ok_or_else(|| RpcError::new(INVALID_PARAMS, format!("The parameter `{name}` is missing, or no text.")))
    };
    check_params(called)?;
    let one_page = || match text("cursor") {
        Some(_) => Err(RpcError::new(INVALID_PARAMS, "There is no such page.")),
        None => Ok(()),
    };
    match (called.method, called.modern) {
        ("server/discover", true) => Ok(discovered(mcp, scope, called.http)),
        ("initialize", false) => Ok(initialized(mcp, scope, text("protocolVersion"))),
        ("ping", false) => Ok(json!({})),
        ("tools/list", _) => one_page().map(|()| mcp.list_tools(scope)),
        ("tools/call", _) => {
            let name = needed("name")?;
            let scope = Scope { agent: client(params, scope), ..scope.clone() };
            let (scope, _call) = mcp.callable(scope, called.id);
            let (login, client) = (&*scope.principal.login, &*scope.agent);
            let shown: String = name.chars().take(LONGEST_NAME).collect();
            tracing::info!(request = %scope.request_id, login, client, tool = shown, "tool called");
            mcp.call_tool(engine, &scope, name, params.get("arguments")).await
        }
        ("resources/list", _) => mcp.list_records(engine, scope, text("cursor")).await,
        ("resources/templates/list", _) => one_page().map(|()| mcp.record_templates()),
        ("resources/read", _) => mcp.read_record(engine, scope, needed("uri")?).await,
        ("prompts/list", _) if mcp.has_prompts() => mcp.list_prompts(engine, scope, text("cursor")).await,
        ("prompts/get", _) if mcp.has_prompts() => {
            mcp.get_prompt(engine, scope, needed("name")?, params.get("arguments")).await
        }
        (LISTEN, true) if called.http => {
            let message = "Changes come as events: accept text/event-stream.";
            Err(RpcError::new(INVALID_REQUEST, message))
        }
        (method, _) => Err(RpcError::new(NO_METHOD, format!("There is no method `{method}`."))),
    }
}

/// The parameters of a method, which is a text each unless [`check_params`] says otherwise; `None`: any. A client of a later
/// revision may send more with its handshake, which it has to be able to make.
fn parameters(method: &str) -> Option<&'static [&'static str]> {
    Some(match method {
        "server/discover" | "ping" => &[],
        "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list" => &["cursor"],
        "tools/call" | "prompts/get" => &["name", "arguments"],
        "resources/read" => &["uri"],
        LISTEN => &["notifications"],
        _ => return None,
    })
}

/// Refuses parameters that a method does not take: a client must not believe that they have an effect.
///
/// # Errors
/// There is one, or it has another type.
fn check_params(called: &McpRequest<'_>) -> Result<(), RpcError> {
    let Some(known) = parameters(called.method) else { return Ok(()) };
    let refused = |message: String| Err(RpcError::new(INVALID_PARAMS, message));
    for (name, value) in called.params.iter().filter(|(name, _)| *name != "_meta") {
        let shown: String = name.chars().take(LONGEST_NAME).collect();
        if !known.contains(&name.as_str()) {
            return refused(format!("`{}` takes no parameter `{shown}`.", called.method));
        }
        if !value.is_string() && !matches!(name.as_str(), "arguments" | "notifications") {
            return refused(format!("The parameter `{shown}` is no text."));
        }
    }
    Ok(())
}

/// The name that the client gives itself: in the message, else in its headers.
fn client(params: &Map<String, Value>, scope: &Scope) -> Arc<str> {
    let info = params.get("_meta").and_then(|meta| meta.get(META_CLIENT));
    let of = |member: &str| info.and_then(|info| info.get(member)).and_then(Value::as_str);
    match (of("name"), of("version")) {
        (Some(name), version) => {
            let all = [name, version.unwrap_or_default()].join(" ");
            all.trim().chars().take(LONGEST_NAME).collect::<String>().into()
        }
        (None, _) => scope.agent.clone(),
    }
}

/// A result with what its revision wants in addition.
fn finished(mut result: Value, called: &McpRequest<'_>) -> Value {
    if called.modern
        && let Some(map) = result.as_object_mut()
    {
        map.insert("resultType".into(), json!("complete"));
        map.insert("_meta".into(), json!({META_SERVER: server()}));
        let fresh = match called.method {
            "server/discover" | "tools/list" | "resources/templates/list" => Some(FRESH),
            "resources/list" | "resources/read" | "prompts/list" => Some(0),
            _ => None,
        };
        if let Some(fresh) = fresh {
            map.insert("ttlMs".into(), json!(fresh));
            map.insert("cacheScope".into(), json!("private"));
        }
    }
    result
}

fn server() -> Value {
    json!({"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")})
}

fn instructions(scope: &Scope) -> String {
    let registry = &scope.registry;
    let title = cms_text::sanitize::unescape(scope.settings.text("title"));
    let mut text = format!(
        "Content of the site {title} ({}). Tools act in the name of the user {}; the site refuses what that user may not \
         do. Ask for single members with `_fields` to keep results short.",
        registry.site.url, scope.principal.login
    );
    if drafts::only_drafts(scope) {
        text.push_str(" Your credential only drafts.");
        if registry.reviews().is_some() {
            text.push_str(
                " A change of a record that is no draft of its own waits until a person decides: the result names the review, \
                 whose `state` and `note` tell the outcome.",
            );
        }
    }
    let declared = registry.declaration.mcp.instructions.trim();
    if !declared.is_empty() {
        text.push_str("\n\n");
        text.push_str(declared);
    }
    text
}

/// The features of the server. `changes`: clients may subscribe to changes.
fn capabilities(mcp: &Mcp, changes: bool) -> Value {
    let mut all = match changes {
        true => json!({"tools": {"listChanged": true}, "resources": {"listChanged": true, "subscribe": true}}),
        false => json!({"tools": {}, "resources": {}}),
    };
    if mcp.has_prompts() {
        all["prompts"] = if changes { json!({"listChanged": true}) } else { json!({}) };
    }
    all
}

fn discovered(mcp: &Mcp, scope: &Scope, http: bool) -> Value {
    let versions: Vec<&str> = std::iter::once(MODERN).chain(LEGACY).collect();
    // Over standard input there are no subscriptions.
    let capabilities = capabilities(mcp, http);
    json!({"supportedVersions": versions, "capabilities": capabilities, "instructions": instructions(scope)})
}

/// The handshake of older revisions. Nothing of it is remembered.
fn initialized(mcp: &Mcp, scope: &Scope, wanted: Option<&str>) -> Value {
    let version = LEGACY.into_iter().find(|own| Some(*own) == wanted).unwrap_or(LEGACY[0]);
    json!({
        "protocolVersion": version,
        "capabilities": capabilities(mcp, false),
        "serverInfo": server(),
        "instructions": instructions(scope),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(peer: &McpHeaders, params: &Value) -> Result<bool, i64> {
        let params = params.as_object().expect("an object");
        revision(peer, "tools/call", params, &json!(1)).map_err(|answer| match answer {
            McpResponse::Failed { status: 400, body } => body["error"]["code"].as_i64().expect("a code"),
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn each_request_says_its_revision() {
        let header = |version: &str, name: &str| McpHeaders {
            http: true,
            version: Some(version.into()).filter(|v: &String| !v.is_empty()),
            method: Some("tools/call".into()),
            name: Some(name.into()),
        };
        let modern = json!({"name": "a", "_meta": {META_VERSION: MODERN, META_CAPABILITIES: {}}});
        assert_eq!(says(&header(MODERN, "a"), &modern), Ok(true));
        assert_eq!(says(&McpHeaders::default(), &modern), Ok(true), "standard input has no headers");
        assert_eq!(says(&header("2025-06-18", "a"), &json!({})), Ok(false));
        assert_eq!(says(&header("", "a"), &json!({})), Ok(false));
        assert_eq!(says(&McpHeaders::default(), &json!({})), Ok(false));
        for (peer, params, code) in [
            (header("", "a"), modern.clone(), HEADERS_DIFFER),
            (header("2025-06-18", "a"), modern.clone(), HEADERS_DIFFER),
            (header(MODERN, "b"), modern.clone(), HEADERS_DIFFER),
            (McpHeaders { method: None, ..header(MODERN, "a") }, modern.clone(), HEADERS_DIFFER),
            (header(MODERN, "a"), json!({}), INVALID_PARAMS),
            (header("1900-01-01", "a"), json!({}), UNSUPPORTED),
            (header(MODERN, "a"), json!({"name": "a", "_meta": {META_VERSION: MODERN}}), INVALID_PARAMS),
            (McpHeaders::default(), json!({"_meta": {META_VERSION: 7}}), UNSUPPORTED),
        ] {
            assert_eq!(says(&peer, &params), Err(code), "{params}");
        }
    }
}
