//! The Model Context Protocol: abilities as tools and records as resources, for programs that act for people.
//!
//! Every tool call is a request to the route that runs abilities, and every resource a request to the route of its item, in
//! the caller's name: permissions, validation, limits and the audit trail are those of REST. There are no sessions: each
//! message is answered by itself, by any node. `messages` reads and dispatches them, `tools` and `records` answer, and
//! this file is the address: who may send what over HTTP. Revision 2026-07-28 and the older ones with a handshake are
//! spoken, by what each request says.

mod messages;
mod records;
mod tools;

pub use messages::{Answer, Peer};

use crate::engine::Engine;
use crate::error::{ApiError, Code};
use crate::model::{Method, Payload, Reply, Request};
use crate::registry::Registry;
use crate::scope::Scope;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use records::Readable;
use serde_json::Value;
use std::collections::HashMap;
use tools::Tool;

/// See the module's description.
#[derive(Debug)]
pub struct Mcp {
    path: String,
    /// Origins of pages whose requests are accepted.
    origins: Vec<String>,
    /// Every ability that is offered, by its name as a tool.
    tools: HashMap<String, Tool>,
    /// The tools that lists show, in order.
    listed: Vec<String>,
    /// The tools that find, describe and run abilities are offered.
    finders: bool,
    /// Path of the collection of abilities.
    abilities: String,
    records: Vec<Readable>,
    scheme: String,
    page: usize,
}

impl Mcp {
    /// What a registry offers, whether or not it is served over HTTP.
    pub fn new(registry: &Registry) -> Mcp {
        let declared = &registry.declaration.mcp;
        let offered = tools::offered(registry);
        let finders = offered.len() > declared.direct;
        let mut listed: Vec<String> = if finders { tools::finders() } else { Vec::new() };
        listed.extend(offered.iter().filter(|(_, tool)| !finders || tool.chosen).map(|(name, _)| name.clone()));
        let own = url::Url::parse(&registry.site.url).map(|url| url.origin().ascii_serialization()).ok();
        Mcp {
            path: declared.path.get().cloned().unwrap_or_default(),
            origins: own.into_iter().chain(registry.declaration.cors.origins.iter().cloned()).collect(),
            tools: offered.into_iter().collect(),
            listed,
            finders,
            abilities: tools::collection(registry).unwrap_or_default(),
            records: records::readable(registry),
            scheme: registry.site.prefix.clone(),
            page: usize::from(declared.page.clamp(1, 100)),
        }
    }

    /// Whether it is served at this path.
    pub fn serves(&self, path: &str) -> bool {
        !self.path.is_empty() && self.path == path
    }

    /// Handles a request to the address.
    pub async fn serve(&self, engine: &Engine, mut request: Request) -> Reply {
        if request.method != Method::Post {
            let mut refusal = refused(405, "Messages are sent by POST.");
            refusal.headers.push(("Allow".into(), Method::Post.as_str().into()));
            return refusal;
        }
        if let Some(origin) = request.header("origin")
            && !self.origins.iter().any(|own| own.eq_ignore_ascii_case(origin))
        {
            return refused(403, "Pages of this origin may not send messages here.");
        }
        let media_type = request.header("content-type").unwrap_or_default();
        if !media_type.split(';').next().is_some_and(|own| own.trim().eq_ignore_ascii_case("application/json")) {
            return refused(415, "Messages are JSON: send them as application/json.");
        }
        let scope = match caller(engine, &mut request).await {
            Ok(scope) => scope,
            Err(refusal) => return refusal,
        };
        let peer = Peer::of(&request);
        let answer = self.answer(engine, &scope, &peer, &request.body).await;
        reply(answer)
    }

    /// Answers the text of a message, or of several.
    pub async fn answer(&self, engine: &Engine, scope: &Scope, peer: &Peer, text: &[u8]) -> Answer {
        messages::answer(self, engine, scope, peer, text).await
    }
}

/// The scope of the caller whom an application password names: as Basic, or the same text as Bearer. Sessions are for
/// people, and their cookies are sent by every page.
async fn caller(engine: &Engine, request: &mut Request) -> Result<Scope, Reply> {
    for (name, value) in &mut request.headers {
        if name == "authorization"
            && let Some((scheme, token)) = value.split_once(' ')
            && scheme.eq_ignore_ascii_case("bearer")
        {
            *value = format!("Basic {}", token.trim());
        }
    }
    let scope = engine.anonymous(request).map_err(|error| failed(&error))?;
    let caller = engine.identity().authenticate(&scope, request).await.map_err(|error| failed(&error))?;
    if caller.app_password.is_none() {
        return Err(failed(&ApiError::new(Code::NotLoggedIn)));
    }
    Ok(Scope { principal: caller, ..scope })
}

/// An error of the transport, with what a client needs to log in.
fn failed(error: &ApiError) -> Reply {
    let mut reply = refused(error.status(), error.message());
    reply.headers.extend(error.headers());
    if reply.status == 401 {
        for scheme in ["Bearer", "Basic"] {
            reply.headers.push(("WWW-Authenticate".into(), format!("{scheme} realm=\"mcp\"")));
        }
    }
    reply
}

fn refused(status: u16, message: &str) -> Reply {
    reply(Answer::Failed { status, body: messages::error(&Value::Null, messages::INVALID_REQUEST, message) })
}

fn reply(answer: Answer) -> Reply {
    let (status, payload) = match answer {
        Answer::Nothing => (202, Payload::Empty),
        Answer::Done(body) => (200, Payload::Json(body)),
        Answer::Failed { status, body } => (status, Payload::Json(body)),
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
