//! The Model Context Protocol: abilities as tools and records as resources, for programs that act for people.
//!
//! Every tool call is a request to the route that runs abilities, and every resource a request to the route of its item, in
//! the caller's name: permissions, validation, limits and the audit trail are those of REST. There are no sessions: each
//! message is answered by itself, by any node. `messages` reads and dispatches them, `tools`, `records` and `prompts` answer, `streams`
//! sends what comes bit by bit, and this file is the address: who may send what over HTTP. Revision 2026-07-28 and the older ones with a handshake are
//! spoken, by what each request says.

mod messages;
mod prompts;
mod records;
mod streams;
mod tools;

pub use messages::{McpHeaders, McpResponse};

use crate::events::{CallerVersions, EventHost};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cms_base::pool::OwnerShares;
use cms_core::access::authorization_server::AuthorizationServer;
use cms_core::access::tokens::is_token;
use cms_core::engine::Engine;
use cms_core::error::{ApiError, Code, status};
use cms_core::model::{EventStream, Method, Payload, Reply, Request, StopSignal};
use cms_core::registry::Registry;
use cms_core::scope::{Progress, Scope};
use records::McpResource;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
use tools::Tool;

/// See the module's description.
#[derive(Debug)]
pub struct Mcp {
    path: String,
    /// Origins of pages whose requests are accepted.
    origins: Vec<String>,
    registry: Arc<Registry>,
    /// Made for the first message.
    offer: OnceLock<McpOffer>,
    scheme: String,
    page: usize,
    /// Path of the collection of prompts.
    prompts: Option<String>,
    /// Open subscriptions, by user.
    open: Arc<OwnerShares>,
    running: RunningCalls,
}

/// The tools and resources of a registry.
#[derive(Debug)]
struct McpOffer {
    /// Every ability that is offered, by its name as a tool.
    tools: HashMap<String, Tool>,
    /// The tools that lists show, in order.
    listed: Vec<String>,
    /// The tools that find, describe and run abilities are offered.
    finders: bool,
    /// Path of the collection of abilities.
    abilities: String,
    records: Vec<McpResource>,
}

impl McpOffer {
    fn of(registry: &Registry) -> McpOffer {
        let offered = tools::offered(registry);
        let finders = offered.len() > registry.declaration.mcp.direct;
        let mut listed: Vec<String> = if finders { tools::finders() } else { Vec::new() };
        listed.extend(offered.iter().filter(|(_, tool)| !finders || tool.chosen).map(|(name, _)| name.clone()));
        McpOffer {
            tools: offered.into_iter().collect(),
            listed,
            finders,
            abilities: tools::collection(registry).unwrap_or_default(),
            records: records::readable(registry),
        }
    }
}

/// Where messages are served.
pub trait McpHost: EventHost {
    fn mcp(&self) -> &Mcp;
}

/// The response to a request over HTTP.
pub enum McpReply {
    Reply(Reply),
    /// 200 with these headers, and events.
    Stream(Vec<(String, String)>, EventStream),
}

/// Calls that are being carried out, by caller and id.
#[derive(Default)]
struct RunningCalls(Mutex<HashMap<CallKey, Weak<Progress>>>);

/// The application password of a caller, and the id of a message as JSON.
type CallKey = (Arc<str>, String);

impl std::fmt::Debug for RunningCalls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} running", self.lock().len())
    }
}

impl RunningCalls {
    fn lock(&self) -> MutexGuard<'_, HashMap<CallKey, Weak<Progress>>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A call that can be called off, as long as it lives.
struct RunningCall<'a>(&'a RunningCalls, CallKey);

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        self.0.lock().remove(&self.1);
    }
}

impl Mcp {
    /// The offer of a registry, whether or not it is served over HTTP.
    pub fn new(registry: Arc<Registry>) -> Mcp {
        let declared = &registry.declaration.mcp;
        let own = url::Url::parse(&registry.site.url).map(|url| url.origin().ascii_serialization()).ok();
        Mcp {
            path: declared.path.get().cloned().unwrap_or_default(),
            origins: own.into_iter().chain(registry.declaration.cors.origins.iter().cloned()).collect(),
            scheme: registry.site.prefix.clone(),
            page: usize::from(declared.page.clamp(1, 100)),
            prompts: declared.prompts.get().and_then(|name| registry.resource(name)).map(|of| of.path.clone()),
            open: Arc::default(),
            running: RunningCalls::default(),
            offer: OnceLock::new(),
            registry,
        }
    }

    fn offer(&self) -> &McpOffer {
        self.offer.get_or_init(|| McpOffer::of(&self.registry))
    }

    /// Whether it is served at this path.
    pub fn serves(&self, path: &str) -> bool {
        !self.path.is_empty() && self.path == path
    }

    /// Whether a request may be a message at all.
    fn objection(&self, request: &Request) -> Option<Reply> {
        if request.method != Method::Post {
            let mut refusal = refused(status::METHOD_NOT_ALLOWED, "Messages are sent by POST.");
            refusal.headers.push(("Allow".into(), Method::Post.as_str().into()));
            return Some(refusal);
        }
        if let Some(origin) = request.header("origin")
            && !self.origins.iter().any(|own| own.eq_ignore_ascii_case(origin))
        {
            return Some(refused(status::FORBIDDEN, "Pages of this origin may not send messages here."));
        }
        let media_type = request.header("content-type").unwrap_or_default();
        if !media_type.split(';').next().is_some_and(|own| own.trim().eq_ignore_ascii_case("application/json")) {
            return Some(refused(status::UNSUPPORTED_MEDIA_TYPE, "Messages are JSON: send them as application/json."));
        }
        None
    }

    /// Answers the text of a message, or of several.
    pub async fn answer(&self, engine: &Engine, scope: &Scope, peer: &McpHeaders, text: &[u8]) -> McpResponse {
        match messages::read(scope, text) {
            Ok(message) => self.answer_read(engine, scope, peer, &message).await,
            Err(answer) => answer,
        }
    }

    async fn answer_read(&self, engine: &Engine, scope: &Scope, peer: &McpHeaders, message: &Value) -> McpResponse {
        messages::answer(self, engine, scope, peer, message).await
    }

    /// The scope in which a call is carried out, which its client may call off meanwhile.
    fn callable(&self, scope: Scope, id: &Value) -> (Scope, Option<RunningCall<'_>>) {
        let Some(password) = scope.principal.app_password.clone() else { return (scope, None) };
        let progress = scope.progress.clone().unwrap_or_else(|| Progress::new(|_, _, _| {}));
        let key = (password, id.to_string());
        self.running.lock().insert(key.clone(), Arc::downgrade(&progress));
        (Scope { progress: Some(progress), ..scope }, Some(RunningCall(&self.running, key)))
    }

    /// A refusal for want of credentials, with what a client needs to get some.
    fn challenging(&self, mut refusal: Reply, request: &Request) -> Reply {
        if refusal.status == status::UNAUTHORIZED {
            let sent = request.header("authorization").is_some();
            let server = AuthorizationServer::declared(&self.registry);
            let more = server.map(|server| format!(", {}", server.challenge(&self.path, sent))).unwrap_or_default();
            for (scheme, more) in [("Bearer", more.as_str()), ("Basic", "")] {
                let challenge = format!("{scheme} realm=\"mcp\"{more}");
                refusal.headers.push(("WWW-Authenticate".into(), challenge));
            }
        }
        refusal
    }

    /// Calls a call of the same caller off, if it is still being carried out by this process.
    fn call_off(&self, scope: &Scope, id: &Value) {
        let Some(password) = scope.principal.app_password.clone() else { return };
        let running = self.running.lock().get(&(password, id.to_string())).and_then(Weak::upgrade);
        if let Some(running) = running {
            running.cancel();
        }
    }
}

/// Handles a request to the address. `endings` says when a subscription has to end.
pub async fn serve<H: McpHost>(host: Arc<H>, mut request: Request, endings: StopSignal) -> McpReply {
    let mcp = host.mcp();
    if let Some(refusal) = mcp.objection(&request) {
        return McpReply::Reply(refusal);
    }
    let (scope, versions) = match caller(host.engine(), &mut request).await {
        Ok(caller) => caller,
        Err(refusal) => return McpReply::Reply(mcp.challenging(refusal, &request)),
    };
    let peer = McpHeaders::of(&request);
    let message = match messages::read(&scope, &request.body) {
        Ok(message) => message,
        Err(answer) => return McpReply::Reply(reply(answer)),
    };
    match messages::streamed(&peer, &message).filter(|_| request.wants_events()) {
        Some(messages::StreamKind::Progress) => streams::progressing(host, scope, peer, message).await,
        Some(messages::StreamKind::Subscription(id, params)) => {
            streams::listening(host, (request, endings), (&scope, versions), (id, params)).await
        }
        None => McpReply::Reply(reply(mcp.answer_read(host.engine(), &scope, &peer, &message).await)),
    }
}

/// The scope of the caller whom an application password names: as Basic, or the same text as Bearer. Sessions are for
/// people, and their cookies are sent by every page. With the versions that the caller was identified at.
async fn caller(engine: &Engine, request: &mut Request) -> Result<(Scope, CallerVersions), Reply> {
    for (name, value) in &mut request.headers {
        if name == "authorization"
            && let Some((scheme, token)) = value.split_once(' ')
            && scheme.eq_ignore_ascii_case("bearer")
            && !is_token(token.trim())
        {
            *value = format!("Basic {}", token.trim());
        }
    }
    let scope = engine.anonymous(request).map_err(|error| failed(&error))?;
    let versions = CallerVersions::of(&scope);
    let caller = engine.identity().authenticate(&scope, request).await.map_err(|error| failed(&error))?;
    if caller.app_password.is_none() {
        return Err(failed(&ApiError::new(Code::NotLoggedIn)));
    }
    Ok((Scope { principal: caller, ..scope }, versions))
}

/// An error of the transport.
fn failed(error: &ApiError) -> Reply {
    let mut reply = refused(error.status(), error.message());
    reply.headers.extend(error.headers());
    reply
}

fn refused(status: u16, message: &str) -> Reply {
    reply(McpResponse::Failed { status, body: messages::error(&Value::Null, messages::INVALID_REQUEST, message) })
}

fn reply(answer: McpResponse) -> Reply {
    let (status, payload) = match answer {
        McpResponse::Nothing => (status::ACCEPTED, Payload::Empty),
        McpResponse::Done(body) => (status::OK, Payload::Json(body)),
        McpResponse::Failed { status, body } => (status, Payload::Json(body)),
    };
    Reply { status, headers: vec![("Cache-Control".into(), "no-store".into())], payload }
}

/// A value of a header as the protocol writes what is no plain text (`=?base64?…?=`).
fn header_text(value: &str) -> Option<String> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}
