//! Requests as a socket delivers them.

use super::HtmlAuditor;
use cms_core::http::memory::MemoryServer;
use cms_core::http::{EdgeConfig, Service};
use cms_core::model::{Payload, Reply, Request};
use cms_core::request::{body_params, effective_method};
use cms_declaration::units::Size;
use cms_declaration::{Cors, Media, Server};
use serde_json::{Map, Value, json};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

/// Largest body that the edge of the targets takes.
const LARGEST: usize = 256 << 10;

/// A connection with these bytes on it, and nothing behind them.
pub(super) fn head(bytes: &[u8], _: HtmlAuditor) {
    for request in exchange(bytes) {
        assert!(request.path.starts_with('/') && !request.path.contains('\0'), "{:?}", request.path);
        assert!(request.headers.iter().all(|(name, _)| *name == name.to_ascii_lowercase()), "{:?}", request.headers);
        assert!(request.body.len() <= LARGEST);
        assert!(!mentions_nul(&Value::Object(request.query.clone())));
        let _ = effective_method(&request);
        if let Err(refusal) = body_params(&request, 64) {
            assert_eq!(refusal.status(), 400);
        }
    }
}

/// A body of parts, whose boundary is `X`.
pub(super) fn multipart(bytes: &[u8], _: HtmlAuditor) {
    let Some(fields) = posted(bytes, "X") else { return };
    let mut pairs = Vec::new();
    for (name, value) in &fields {
        leaves(name.clone(), value, &mut pairs);
    }
    // Such names have more than one spelling in the head of a part, or mean something else at the top.
    let plain = |name: &str| name.bytes().all(|b| (b' '..0x7f).contains(&b) && !matches!(b, b'"' | b'\\' | b'%'));
    if pairs.iter().any(|(name, _)| !plain(name)) || fields.keys().any(|name| name.contains(['[', ' ', '.'])) {
        return;
    }
    // No text of one is as long as this.
    let boundary = "Y".repeat(60);
    let mut written = String::new();
    for (name, value) in &pairs {
        written += &format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
    }
    written += &format!("--{boundary}--\r\n");
    if written.matches(&boundary).count() == pairs.len() + 1 && written.len() <= LARGEST {
        assert_eq!(posted(written.as_bytes(), &boundary), Some(fields), "{written}");
    }
}

/// The fields of a form of parts, if it is one.
fn posted(body: &[u8], boundary: &str) -> Option<Map<String, Value>> {
    let mut sent = format!(
        "POST /cms-json/x HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary={boundary}\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    sent.extend_from_slice(body);
    Some(exchange(&sent).into_iter().next()?.upload?.fields)
}

/// Names in brackets and their texts.
fn leaves(name: String, value: &Value, pairs: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => pairs.push((name, text.clone())),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, item)| leaves(format!("{name}[{i}]"), item, pairs));
        }
        Value::Object(map) => map.iter().for_each(|(key, item)| leaves(format!("{name}[{key}]"), item, pairs)),
        other => unreachable!("a form holds texts, not {other}"),
    }
}

fn mentions_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(list) => list.iter().any(mentions_nul),
        Value::Object(map) => map.iter().any(|(key, value)| key.contains('\0') || mentions_nul(value)),
        _ => false,
    }
}

/// Sends these bytes as a client and returns the requests that arrive behind the edge.
fn exchange(bytes: &[u8]) -> Vec<Request> {
    thread_local! {
        static EDGE: (Arc<RecordingService>, MemoryServer) = {
            let seen = Arc::new(RecordingService { facts: facts(), requests: Mutex::default() });
            let memory = MemoryServer::new(Arc::clone(&seen) as Arc<dyn Service>).expect("a runtime");
            (seen, memory)
        };
    }
    EDGE.with(|(seen, memory)| {
        let answer = memory.exchange(bytes).expect("the connection ends");
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1."), "{}", String::from_utf8_lossy(&answer));
        assert!(!answer.starts_with(b"HTTP/1.1 500"), "{}", String::from_utf8_lossy(&answer));
        std::mem::take(&mut *seen.requests.lock().unwrap_or_else(PoisonError::into_inner))
    })
}

/// A service that records its requests.
struct RecordingService {
    facts: EdgeConfig,
    requests: Mutex<Vec<Request>>,
}

impl Service for RecordingService {
    fn call<'a>(&'a self, request: &'a Request) -> Pin<Box<dyn Future<Output = Reply> + 'a>> {
        let payload = Payload::Json(json!({ "path": request.path, "query": request.query }));
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        let headers = vec![("ETag".into(), "\"a\"".into())];
        Box::pin(std::future::ready(Reply { status: 200, headers, payload }))
    }

    fn facts(&self) -> &EdgeConfig {
        &self.facts
    }
}

fn facts() -> EdgeConfig {
    EdgeConfig {
        rest_path: "/cms-json".into(),
        base: String::new(),
        rest_url: "http://site.example/cms-json".into(),
        prefix: "cms".into(),
        server: Server {
            max_body: Size::bytes_of(LARGEST as u64),
            access_log: false,
            trusted_proxies: vec!["127.0.0.0/8".into()],
            ..Server::default()
        },
        cors: Cors { reflect: true, ..Cors::default() },
        media: Media::default(),
        jsonp: true,
        strict_route_parameter: false,
        full_no_cache: false,
        noindex: false,
    }
}
