//! The last stage of a request from outside: headers, fields, embedding, envelope, entity tag.

use super::{CallOutcome, Engine, embed};
use crate::error::{ApiError, status};
use crate::handlers::{Outcome, RenderedJson};
use crate::model::{LINES, Method, Payload, Reply};
use crate::registry::resource::Resource;
use crate::request::BodyParams;
use crate::request::args::ArgSources;
use crate::request::call::Call;
use crate::request::conditional::http_date;
use crate::request::fields::{FieldOptions, Fields, PatternView};
use crate::scope::Scope;
use bytes::Bytes;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::hash::BuildHasher as _;

/// A finished response.
pub(super) struct FinalResponse {
    pub reply: Reply,
    /// It may be cached for callers with the same request.
    pub lasting: bool,
}

/// A document on its way into a reply, or the whole reply.
enum ResponseDraft {
    Document(u16, Value),
    Reply(Reply),
}

impl Engine {
    /// Makes the response from the outcome of a call.
    pub(super) async fn finish(&self, scope: &Scope, call: &Call, mut call_outcome: CallOutcome) -> FinalResponse {
        let preview = call_outcome.preview.take();
        let scope = preview.as_deref().unwrap_or(scope);
        let lines = call_outcome.result.as_ref().ok().and_then(|outcome| outcome.lines.clone());
        let (private, version, modified) = match &call_outcome.result {
            Ok(outcome) => (outcome.private, outcome.version, outcome.modified),
            Err(_) => (false, None, None),
        };
        let uncached = call_outcome.result.as_ref().is_ok_and(|outcome| outcome.uncached);
        let private = private || preview.is_some();
        let failed = call_outcome.result.as_ref().is_err_and(|error| status::is_server_error(error.status()));
        let mut reply = self.shaped(scope, call, call_outcome).await;
        if private {
            reply.headers.push(("Cache-Control".into(), "private, no-store".into()));
        }
        reply.headers.extend(modified.map(|modified| ("Last-Modified".to_owned(), http_date(modified))));
        if reply.status == status::OK
            && matches!(call.method, Method::Get | Method::Options)
            && let Payload::Json(document) = &reply.payload
        {
            // Entity tags and the cache of responses take text. Writing a value that is already in memory cannot fail.
            reply.payload = Payload::Text(serde_json::to_vec(document).unwrap_or_default().into());
        }
        if let Some(next) = lines
            && let Payload::Text(text) = &reply.payload
            && let Some(bytes) = in_lines(text)
        {
            reply.payload = Payload::Pieces { media_type: LINES, bytes, next };
        }
        if reply.status == status::OK && call.method == Method::Get {
            if let Payload::Text(text) = &reply.payload {
                reply.headers.push(("ETag".into(), entity_tag(version, text)));
            }
        } else if let Some(version) = version {
            // Of a write: the next one can name the version in `If-Match` without reading the document first.
            reply.headers.push(("ETag".into(), format!("\"{version}\"")));
        }
        // A fault of the server may be gone at the next request.
        FinalResponse { reply, lasting: !private && !failed && !uncached }
    }

    async fn shaped(&self, scope: &Scope, call: &Call, call_outcome: CallOutcome) -> Reply {
        let mut headers = Vec::new();
        if !call_outcome.allow.is_empty() {
            headers.push(("Allow".to_owned(), call_outcome.allow.join(", ")));
        }
        let body = call.body.as_ref().unwrap_or(&BodyParams::None);
        let empty = Map::new();
        let sources = ArgSources { path: &empty, body, query: &call.query };
        let shown = match call_outcome.result {
            Err(error) => {
                headers.extend(error.headers());
                ResponseDraft::Document(error.status(), error.body())
            }
            Ok(mut outcome) => {
                headers.append(&mut outcome.headers);
                let resource = call_outcome.route.and_then(|route| self.resource_of(route));
                self.shown(scope, call, (&sources, resource), outcome, &headers).await
            }
        };
        let (status, document) = match shown {
            ResponseDraft::Document(status, document) => (status, document),
            ResponseDraft::Reply(reply) => return reply,
        };
        let enveloped = sources.get("_envelope").is_some();
        if call.method == Method::Head {
            // As for GET: the status inside an envelope is not that of the response.
            let status = if enveloped { status::OK } else { status };
            return Reply { status, headers: join_links(&headers), payload: Payload::Empty };
        }
        if enveloped {
            // Writing a value that is already in memory cannot fail.
            return envelope(status, &headers, &serde_json::to_vec(&document).unwrap_or_default());
        }
        Reply { status, headers: join_links(&headers), payload: Payload::Json(document) }
    }

    /// The resource of a route, by its position.
    pub(super) fn resource_of(&self, route: usize) -> Option<&Resource> {
        self.registry.routes.get(route)?.resource.map(|index| &self.registry.resources[index])
    }

    /// The fields that a request names of the documents of a resource.
    pub(super) fn fields<'v>(
        &self,
        resource: Option<&Resource>,
        parameter: impl Fn(&str) -> Option<&'v Value>,
    ) -> Fields {
        let declared = resource.map(|resource| &resource.declared);
        let way = FieldOptions {
            positions: self.registry.declaration.dialect.select_positions,
            embeds: parameter("_embed").is_some(),
            blocks: PatternView::of(parameter("_blocks")),
            keeps_links: declared.is_some_and(|declared| declared.keeps_links),
            formatted: self.wants_formatted(&parameter),
        };
        let fields = Fields::read(parameter("_fields"), way, declared.map_or(&[], |declared| &declared.whole_fields));
        match resource.and_then(Resource::fields_property) {
            Some(property) => fields.with_links_of(&property.name),
            None => fields,
        }
    }

    /// Whether a request wants values of field groups as pages show them.
    fn wants_formatted<'v>(&self, parameter: &impl Fn(&str) -> Option<&'v Value>) -> bool {
        let declared = &self.registry.declaration.fields;
        let given = declared.parameter.as_deref().and_then(parameter).and_then(Value::as_str);
        given.is_some() && given == declared.formatted.as_deref()
    }

    /// The requested fields of an outcome, with what is embedded in them.
    async fn shown(
        &self,
        scope: &Scope,
        call: &Call,
        (sources, resource): (&ArgSources<'_>, Option<&Resource>),
        outcome: Outcome,
        headers: &[(String, String)],
    ) -> ResponseDraft {
        let status = outcome.status;
        let reply = |payload: Payload| ResponseDraft::Reply(Reply { status, headers: join_links(headers), payload });
        if let Some((media_type, bytes)) = outcome.other {
            return reply(Payload::Other { media_type, bytes });
        }
        if let Some(payload) = outcome.payload.filter(|_| call.method != Method::Head) {
            return reply(payload);
        }
        let mut document = outcome.body;
        if outcome.text.is_none() && !outcome.reduced {
            let fields = self.fields(resource, |name| sources.get(name));
            document = match call.method {
                // Links are a member of a description like any other.
                Method::Options => fields.select(document),
                _ => reduce(&fields, document),
            };
        }
        let wanted = embed::wanted(sources.get("_embed"));
        let rendered = outcome.text.or_else(|| wanted.as_ref().map(|_| RenderedJson::of(&document)));
        let Some(rendered) = rendered else { return ResponseDraft::Document(status, document) };
        let text = match &wanted {
            Some(wanted) => embed::embed(self, scope, &rendered, wanted).await.into(),
            None => rendered.into_text(),
        };
        match (call.method, sources.get("_envelope")) {
            // Nothing of the document is sent.
            (Method::Head, _) => ResponseDraft::Document(status, Value::Null),
            (_, Some(_)) => ResponseDraft::Reply(envelope(status, headers, &text)),
            (_, None) => reply(Payload::Text(text)),
        }
    }
}

/// The documents of a list, each on a line of its own; `None`: the text is no list.
fn in_lines(list: &[u8]) -> Option<Bytes> {
    let documents: Vec<&RawValue> = serde_json::from_slice(list).ok()?;
    let mut lines = Vec::with_capacity(list.len());
    for document in documents {
        lines.extend_from_slice(document.get().as_bytes());
        lines.push(b'\n');
    }
    Some(lines.into())
}

/// A document with its status and headers in one more document. Its text is not read again: a page of long contents is
/// long.
fn envelope(status: u16, headers: &[(String, String)], document: &[u8]) -> Reply {
    let shown: Map<String, Value> = join_links(headers)
        .into_iter()
        .map(|(name, value)| (name, value.parse::<i64>().map_or_else(|_| json!(value), |n| json!(n))))
        .collect();
    let after = format!(",\"status\":{status},\"headers\":{}}}", Value::Object(shown));
    let text = [b"{\"body\":", document, after.as_bytes()].concat();
    Reply { status: status::OK, headers: Vec::new(), payload: Payload::Text(text.into()) }
}

/// Leaves out what was not requested, of a document or of each in a list.
pub(super) fn reduce(fields: &Fields, document: Value) -> Value {
    match document {
        Value::Array(list) => Value::Array(list.into_iter().map(|d| fields.select(d)).collect()),
        document => fields.select_single(document),
    }
}

/// The version of the row and a digest of the text: equal tags are equal bytes, and writes can be held to the version.
fn entity_tag(version: Option<i64>, text: &[u8]) -> String {
    // The same in every process of one build: tags outlive a restart.
    let digest = foldhash::quality::FixedState::with_seed(0).hash_one(text);
    match version {
        Some(version) => format!("\"{version}-{digest:016x}\""),
        None => format!("\"{digest:016x}\""),
    }
}

/// `Link` headers travel as one.
pub(super) fn join_links(headers: &[(String, String)]) -> Vec<(String, String)> {
    let mut joined: Vec<(String, String)> = Vec::new();
    for (name, value) in headers {
        match joined.iter_mut().find(|(n, _)| n == name && n == "Link") {
            Some((_, links)) => {
                links.push_str(", ");
                links.push_str(value);
            }
            None => joined.push((name.clone(), value.clone())),
        }
    }
    joined
}

/// A reply that is an error and nothing else.
pub fn error_reply(error: &ApiError) -> Reply {
    Reply { status: error.status(), headers: error.headers(), payload: Payload::Json(error.body()) }
}
