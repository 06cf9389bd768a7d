//! From [`model::Reply`](crate::model::Reply) to the bytes and headers of a response.
//!
//! Owns the headers that every REST response carries, JSONP and pretty printing (contract: "Global request
//! parameters").

use crate::error::{ApiError, Code, status};
use crate::http::{PreparedService, body, encoding};
use crate::model::{Payload, Reply};
use crate::request::conditional;
use actix_http::body::BoxBody;
use actix_http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_http::{ConnectionType, Response, StatusCode};
use bytes::Bytes;
use serde_json::{Map, Value};
use std::borrow::Cow;

const JSON: &str = "application/json; charset=UTF-8";
const JAVASCRIPT: &str = "application/javascript; charset=UTF-8";

/// How the client wants a document to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonFormat {
    jsonp: Option<String>,
    pretty: bool,
}

impl JsonFormat {
    /// Reads `_jsonp` and `_pretty`. The error is a whole reply, since it has no shape at all.
    ///
    /// JSONP is for anonymous callers only: any site can make a browser run such a response, so what only the caller
    /// may see must never be in one.
    pub fn of(query: &Map<String, Value>, jsonp_enabled: bool, credentials: bool) -> Result<JsonFormat, Reply> {
        let pretty = query.contains_key("_pretty");
        let name = match query.get("_jsonp") {
            None => return Ok(JsonFormat { jsonp: None, pretty }),
            Some(Value::String(name)) if name.is_empty() => return Ok(JsonFormat { jsonp: None, pretty }),
            Some(_) if !jsonp_enabled => return Err(bare(ApiError::new(Code::JsonpDisabled), JSON)),
            Some(_) if credentials => {
                let message = "JSONP is for requests without credentials; leave out _jsonp.";
                return Err(bare(ApiError::new(Code::JsonpDisabled).with_message(message), JSON));
            }
            Some(Value::String(name)) if is_callback(name) => name.clone(),
            Some(_) => return Err(bare(ApiError::new(Code::JsonpInvalid), JAVASCRIPT)),
        };
        Ok(JsonFormat { jsonp: Some(name), pretty })
    }

    fn media_type(&self) -> &'static str {
        if self.jsonp.is_some() { JAVASCRIPT } else { JSON }
    }

    fn write(&self, json: Bytes) -> Bytes {
        let json = if self.pretty { pretty(json) } else { json };
        match &self.jsonp {
            None => json,
            // The comment keeps a name that is also the start of another file format from being taken for one.
            Some(name) => [b"/**/", name.as_bytes(), b"(", &as_script(&json), b")"].concat().into(),
        }
    }
}

/// Whether a request may authenticate its sender: by an `Authorization` header, or by the cookie of a session together
/// with a nonce. A cookie alone authenticates nobody.
pub fn brings_credentials(headers: &HeaderMap, query: &Map<String, Value>, prefix: &str) -> bool {
    let session = |cookie: &[u8]| {
        let name = cookie.trim_ascii();
        let name = name.strip_prefix(b"__Host-").unwrap_or(name);
        name.strip_prefix(prefix.as_bytes()).is_some_and(|rest| rest.starts_with(b"_session="))
    };
    let cookie = |value: &HeaderValue| value.as_bytes().split(|b| *b == b';').any(session);
    // A nonce may also be in a form, which is read later: any body counts.
    let nonce = || {
        headers.contains_key(format!("x-{prefix}-nonce"))
            || query.contains_key(&format!("_{prefix}nonce"))
            || super::receive::has_body(headers)
    };
    headers.contains_key(header::AUTHORIZATION) || headers.get_all(header::COOKIE).any(cookie) && nonce()
}

fn is_callback(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.')
}

/// The two errors about the callback have no `data` member (contract: "Errors", the row without a code).
fn bare(error: ApiError, media_type: &'static str) -> Reply {
    let mut reply = failure(&error.without_data());
    if let Payload::Json(Value::Object(members)) = &mut reply.payload {
        members.shift_remove("data");
    }
    reply.headers.push(("Content-Type".into(), media_type.into()));
    reply
}

fn pretty(json: Bytes) -> Bytes {
    let mut out = Vec::with_capacity(json.len() + json.len() / 2);
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let mut bytes = json.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if quoted {
            out.push(byte);
            quoted = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'{' | b'[' => {
                out.push(byte);
                match bytes.next_if(|next| matches!(next, b'}' | b']')) {
                    Some(end) => out.push(end),
                    None => {
                        depth += 1;
                        line(&mut out, depth);
                    }
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                line(&mut out, depth);
            }
            b':' => out.extend(b": "),
            byte => {
                quoted = byte == b'"';
                out.push(byte);
            }
        }
    }
    out.into()
}

/// Begins a line so deep inside.
fn line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.resize(out.len() + 2 * depth, b' ');
}

/// The two line separators that JSON allows in strings and old scripts do not.
fn as_script(json: &[u8]) -> Cow<'_, [u8]> {
    match std::str::from_utf8(json) {
        Ok(text) if text.contains(['\u{2028}', '\u{2029}']) => {
            Cow::Owned(text.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029").into_bytes())
        }
        _ => Cow::Borrowed(json),
    }
}

/// The reply that an error ends in.
pub fn failure(error: &ApiError) -> Reply {
    Reply { status: error.status(), headers: error.headers(), payload: Payload::Json(error.body()) }
}

/// The parts of a request that decide about the headers of its response.
pub struct RequestFacts<'a> {
    pub id: &'a str,
    pub preflight: bool,
    /// GET or HEAD.
    pub reads: bool,
    pub origin: Option<&'a HeaderValue>,
    /// The request carried credentials, so the response may be for one reader only.
    pub private: bool,
    pub headers: &'a HeaderMap,
}

impl RequestFacts<'_> {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Whether the client has a response with this tag, or of this `Last-Modified`, already.
    fn has(&self, tag: Option<&str>, headers: &[(String, String)]) -> bool {
        self.reads && conditional::is_not_modified(|name| self.header(name), tag, own(headers, "Last-Modified"))
    }
}

/// The entity tag of an encoded body: another encoding is another sequence of bytes, and a strong tag identifies bytes.
fn encoded_tag(tag: &str, encoding: Option<&str>) -> String {
    match encoding {
        Some(name) => format!("{}-{name}\"", tag.trim_end_matches('"')),
        None => tag.to_owned(),
    }
}

const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A REST response and the length of its body.
pub fn rest(
    reply: Reply,
    shape: &JsonFormat,
    compiled: &PreparedService,
    asked: &RequestFacts<'_>,
) -> (Response<BoxBody>, usize) {
    let mut status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut encoding = None;
    let (media_type, mut bytes) = match reply.payload {
        Payload::Empty | Payload::Events(_) | Payload::Export(_) => (shape.media_type(), Bytes::new()),
        // Writing a value that is already in memory cannot fail.
        Payload::Json(value) => {
            (shape.media_type(), shape.write(serde_json::to_vec(&value).unwrap_or_default().into()))
        }
        Payload::Text(text) => (shape.media_type(), shape.write(text)),
        Payload::Shared(kept) if *shape == JsonFormat::default() => {
            let (bytes, chosen) = encoding::choose(&kept, asked.header("accept-encoding"));
            encoding = chosen;
            (JSON, bytes)
        }
        Payload::Shared(kept) => (shape.media_type(), shape.write(kept.text.clone())),
        Payload::Other { media_type, bytes } | Payload::Page { media_type, bytes } => (media_type, bytes.into()),
        Payload::Pieces { media_type, bytes, .. } => (media_type, bytes),
    };
    let length = bytes.len();
    let tag = own(&reply.headers, "ETag").map(|tag| encoded_tag(tag, encoding));
    if status == StatusCode::OK && asked.has(tag.as_deref(), &reply.headers) {
        status = StatusCode::NOT_MODIFIED;
        bytes = Bytes::new();
        encoding = None;
    }
    let length = if status == StatusCode::NOT_MODIFIED { 0 } else { length };
    let mut response = Response::with_body(status, body::of(bytes));
    let headers = response.headers_mut();
    let link = add_own(headers, &reply.headers);
    headers.insert(header::LINK, link.map_or_else(|| compiled.link.clone(), |own| compiled.link_after(own)));
    if let Some(tag) = tag.and_then(|tag| HeaderValue::try_from(tag).ok()) {
        headers.insert(header::ETAG, tag);
    }
    if let Some(name) = encoding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(name));
        // The text as it is serves everybody; only encoded it must not reach those who cannot read it.
        headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    }
    if status != StatusCode::NOT_MODIFIED && !headers.contains_key(header::CONTENT_TYPE) {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    headers.insert(ROBOTS, HeaderValue::from_static("noindex"));
    if let Ok(id) = HeaderValue::from_str(asked.id) {
        headers.insert(REQUEST_ID, id);
    }
    let shared = !(asked.private || asked.preflight);
    compiled.cors.apply(asked.origin, asked.preflight, shared, headers);
    if asked.private {
        forbid_caching(headers, compiled.service.facts().full_no_cache);
    }
    // The rest of such a body is not worth reading.
    if matches!(status, StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT) {
        response.head_mut().set_connection_type(ConnectionType::Close);
    }
    (response, length)
}

/// Keeps caches from storing a response; `full`: old ones, too.
fn forbid_caching(headers: &mut HeaderMap, full: bool) {
    let control = if full { NO_CACHE } else { "no-store, private" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(control));
    if full {
        headers.insert(header::EXPIRES, HeaderValue::from_static(EXPIRED));
    }
}

/// The value that keeps every cache from storing a response.
const NO_CACHE: &str = "no-cache, must-revalidate, max-age=0, no-store, private";

/// A time that is long past, for caches that know no `Cache-Control`.
const EXPIRED: &str = "Wed, 11 Jan 1984 05:00:00 GMT";

/// Tells search engines to leave a response out.
pub fn hide(response: &mut Response<BoxBody>) {
    response.headers_mut().insert(ROBOTS, HeaderValue::from_static("noindex"));
}

/// A response to a request outside the REST base and the length of its body: encoded where it is a page or a shared text, and
/// without a body where the client has it already.
pub fn page(mut reply: Reply, asked: &RequestFacts<'_>) -> (Response<BoxBody>, usize) {
    let accepted = asked.header("accept-encoding");
    let (bytes, encoding) = match &reply.payload {
        Payload::Shared(kept) => encoding::choose(kept, accepted),
        Payload::Text(text) => (text.clone(), None),
        _ => return plain(encoding::page(reply, accepted), asked.id),
    };
    if let Some(tag) = own(&reply.headers, "ETag").map(|tag| encoded_tag(tag, encoding)) {
        let unchanged = reply.status == status::OK && asked.has(Some(&tag), &reply.headers);
        reply.headers.retain(|(name, _)| name != "ETag");
        reply.headers.push(("ETag".into(), tag));
        if unchanged {
            return plain(
                Reply { status: StatusCode::NOT_MODIFIED.as_u16(), payload: Payload::Empty, ..reply },
                asked.id,
            );
        }
    }
    if let Some(name) = encoding {
        reply.headers.push(("Content-Encoding".into(), name.into()));
        reply.headers.push(("Vary".into(), "Accept-Encoding".into()));
    }
    plain(Reply { payload: Payload::Text(bytes), ..reply }, asked.id)
}

/// A response outside the REST base and the length of its body.
pub fn plain(reply: Reply, id: &str) -> (Response<BoxBody>, usize) {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let (media_type, bytes) = match reply.payload {
        Payload::Empty | Payload::Events(_) | Payload::Export(_) => (JSON, Bytes::new()),
        Payload::Json(value) => (JSON, serde_json::to_vec(&value).unwrap_or_default().into()),
        Payload::Text(text) => (JSON, text),
        Payload::Shared(kept) => (JSON, kept.text.clone()),
        Payload::Other { media_type, bytes } | Payload::Page { media_type, bytes } => (media_type, bytes.into()),
        Payload::Pieces { media_type, bytes, .. } => (media_type, bytes),
    };
    let length = bytes.len();
    let mut response = Response::with_body(status, body::of(bytes));
    let headers = response.headers_mut();
    if let Some(link) = add_own(headers, &reply.headers).and_then(|link| HeaderValue::from_str(link).ok()) {
        headers.insert(header::LINK, link);
    }
    if !headers.contains_key(header::CONTENT_TYPE) {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store, private"));
    }
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, id);
    }
    if matches!(status, StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT) {
        response.head_mut().set_connection_type(ConnectionType::Close);
    }
    (response, length)
}

/// A header line of a reply.
fn own<'r>(headers: &'r [(String, String)], name: &str) -> Option<&'r str> {
    headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
}

/// Adds a reply's own header lines, but returns `Link`, which has to become one line with ours. A value that cannot be
/// in a line (a line feed in it) is left out: half a header would be worse.
fn add_own<'r>(headers: &mut HeaderMap, own: &'r [(String, String)]) -> Option<&'r str> {
    let mut link = None;
    for (name, value) in own {
        if name.eq_ignore_ascii_case("link") {
            link = Some(value.as_str());
            continue;
        }
        match (HeaderName::try_from(name.as_str()), HeaderValue::from_str(value)) {
            (Ok(name), Ok(value)) => headers.append(name, value),
            _ => tracing::warn!(header = name, "left out a header that cannot be written"),
        }
    }
    link
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn query(value: Value) -> Map<String, Value> {
        value.as_object().cloned().expect("an object")
    }

    #[test]
    fn callbacks() {
        let check = |name: Value, enabled: bool, expected: Result<Option<&str>, &str>| {
            let found = JsonFormat::of(&query(json!({"_jsonp": name})), enabled, false);
            let found = found.map(|shape| shape.jsonp).map_err(|reply| match reply.payload {
                Payload::Json(body) => {
                    assert_eq!(body.get("data"), None);
                    body["code"].as_str().unwrap_or_default().to_owned()
                }
                other => format!("{other:?}"),
            });
            assert_eq!(found.as_ref().map(|n| n.as_deref()).map_err(String::as_str), expected, "{name} {enabled}");
        };
        check(json!("a.b_C1"), true, Ok(Some("a.b_C1")));
        check(json!(""), true, Ok(None));
        check(json!(""), false, Ok(None));
        check(json!("f"), false, Err("rest_callback_disabled"));
        for wrong in [json!("alert(1)"), json!("a[0]"), json!("é"), json!("a b"), json!(["f"])] {
            check(wrong, true, Err("rest_callback_invalid"));
        }
    }

    #[test]
    fn shapes() {
        let check = |wanted: Value, json: &str, expected: &str| {
            let shape = JsonFormat::of(&query(wanted), true, false).expect("a fine shape");
            assert_eq!(String::from_utf8_lossy(&shape.write(Bytes::copy_from_slice(json.as_bytes()))), expected);
        };
        check(json!({}), "{\"a\":1}", "{\"a\":1}");
        check(json!({"_pretty": ""}), "{\"b\":1,\"a\":[]}", "{\n  \"b\": 1,\n  \"a\": []\n}");
        for value in [
            json!({"a\"{[,:]}\\": ["\\", "\\\"", {}, [[], [1.5, null]], {"b": {"c": "\n, :"}}], "d": true}),
            json!("alone"),
            json!([]),
        ] {
            let printed = serde_json::to_string_pretty(&value).expect("JSON");
            check(json!({"_pretty": ""}), &value.to_string(), &printed);
        }
        check(json!({"_jsonp": "f"}), "[\"\u{2028}\"]", "/**/f([\"\\u2028\"])");
        check(json!({"_jsonp": "f", "_pretty": "1"}), "[1]", "/**/f([\n  1\n])");
    }
}
