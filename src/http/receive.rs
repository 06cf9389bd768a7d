//! From a socket's request to [`model::Request`](crate::model::Request): addressing, limits, who is asking.
//!
//! Nothing is judged but what cannot be read or is too large; the method override, routes and credentials are for the
//! stages behind.

use crate::error::{ApiError, Code};
use crate::http::{Facts, Network, proxies};
use crate::model::{Method, Peer, Request};
use crate::request::{decode_path, decode_query, percent_decode};
use actix_http::body::{BodyStream, to_bytes_limited};
use actix_http::header::{self, HeaderMap};
use actix_http::{HttpMessage as _, Payload, Request as HttpRequest};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// What an address means.
#[derive(Debug, PartialEq, Eq)]
pub enum Place {
    /// A route: decoded, with a leading slash; and the query without `rest_route`.
    Rest {
        path: String,
        raw_query: String,
    },
    /// A path that is no text.
    Unreadable,
    Home,
    Elsewhere,
}

/// Finds the place of a path and query as they came; `rest_path` is the REST base (`/cms-json`).
pub fn place(path: &str, query: &str, rest_path: &str) -> Place {
    let Some(path) = decode_path(path) else { return Place::Unreadable };
    match path.strip_prefix(rest_path) {
        Some("") => return Place::Rest { path: "/".into(), raw_query: query.into() },
        Some(below) if below.starts_with('/') => {
            return Place::Rest { path: below.into(), raw_query: query.into() };
        }
        _ => {}
    }
    match &*path {
        "/" | "/index.php" => by_query(query),
        _ => Place::Elsewhere,
    }
}

/// `?rest_route=/x`; the last one counts, as with every repeated key.
fn by_query(query: &str) -> Place {
    let is_route = |pair: &&str| percent_decode(key(pair)).is_some_and(|key| key == "rest_route");
    let Some(pair) = query.split('&').rfind(is_route) else { return Place::Home };
    let value = pair.split_once('=').map_or("", |(_, value)| value).replace('+', " ");
    let Some(route) = percent_decode(&value) else { return Place::Unreadable };
    if route.is_empty() {
        return Place::Home;
    }
    let slash = if route.starts_with('/') { "" } else { "/" };
    let rest: Vec<&str> = query.split('&').filter(|pair| !is_route(pair)).collect();
    Place::Rest { path: format!("{slash}{route}"), raw_query: rest.join("&") }
}

fn key(pair: &str) -> &str {
    pair.split('=').next().unwrap_or_default()
}

/// The query within the declared limits, decoded; 414 or 400 otherwise.
pub fn query(raw: &str, facts: &Facts) -> Result<Map<String, Value>, ApiError> {
    if raw.len() > facts.server.max_query {
        return Err(ApiError::new(Code::UriTooLong));
    }
    decode_query(raw, facts.server.max_depth)
}

/// Reads the body and puts the request together. 413 for a body above the limit, 408 for one that takes too long, 404
/// for a method that no route can have.
pub async fn request(
    http: &HttpRequest,
    payload: Payload,
    facts: &Facts,
    (path, raw_query): (String, String),
    query: Map<String, Value>,
    (id, peer): (Arc<str>, Peer),
) -> Result<Request, ApiError> {
    let method = Method::parse(http.method().as_str()).ok_or_else(|| ApiError::new(Code::NoRoute))?;
    let body = body(http.headers(), payload, facts).await?;
    let headers = http.headers().iter();
    let headers = headers.map(|(n, v)| (n.as_str().to_owned(), String::from_utf8_lossy(v.as_bytes()).into_owned()));
    Ok(Request { id, method, path, raw_query, query, headers: headers.collect(), body, peer })
}

/// The other end, behind trusted proxies the client that they name.
pub fn peer(http: &HttpRequest, trusted: &[Network]) -> Peer {
    proxies::peer(http.peer_addr().map(|address| address.ip()), trusted, |name| {
        http.headers().get_all(name).filter_map(|value| value.to_str().ok())
    })
}

fn announced(headers: &HeaderMap) -> usize {
    headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse().ok()).unwrap_or(0)
}

/// Whether something follows the head.
pub fn has_body(headers: &HeaderMap) -> bool {
    announced(headers) > 0 || headers.contains_key(header::TRANSFER_ENCODING)
}

async fn body(headers: &HeaderMap, payload: Payload, facts: &Facts) -> Result<Vec<u8>, ApiError> {
    let limit = facts.server.max_body;
    if !has_body(headers) {
        return Ok(Vec::new());
    }
    if announced(headers) > limit {
        return Err(ApiError::new(Code::PayloadTooLarge));
    }
    let patience = Duration::from_secs(facts.server.read_timeout.max(1));
    match tokio::time::timeout(patience, to_bytes_limited(BodyStream::new(payload), limit)).await {
        Err(_elapsed) => Err(ApiError::new(Code::RequestTimeout)),
        Ok(Err(_limit)) => Err(ApiError::new(Code::PayloadTooLarge)),
        Ok(Ok(Err(_broken))) => Err(ApiError::new(Code::BadRequest)),
        Ok(Ok(Ok(bytes))) => Ok(bytes.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let check = |path: &str, query: &str, expected: Place| {
            assert_eq!(place(path, query, "/cms-json"), expected, "{path}?{query}");
        };
        let rest = |path: &str, query: &str| Place::Rest { path: path.into(), raw_query: query.into() };
        check("/cms-json", "a=1", rest("/", "a=1"));
        check("/cms-json/", "", rest("/", ""));
        check("/cms-json/cms/v2/posts", "rest_route=/x", rest("/cms/v2/posts", "rest_route=/x"));
        check("/cms-json/a%20b%2Fc%2525", "", rest("/a b%2Fc%25", ""));
        check("/cms-json%2Fa", "", Place::Elsewhere);
        check("/cms-json/a+b", "", rest("/a+b", ""));
        check("/cms-json/%ff", "", Place::Unreadable);
        check("/cms-json/%00", "", Place::Unreadable);
        check("/cms-jsonx", "", Place::Elsewhere);
        check("/", "", Place::Home);
        check("/", "p=1", Place::Home);
        check("/", "rest_route=", Place::Home);
        check("/index.php", "", Place::Home);
        check("/", "rest_route=/cms/v2/posts&a[]=1", rest("/cms/v2/posts", "a[]=1"));
        check("/index.php", "a=1&rest%5Froute=%2Fx+y", rest("/x y", "a=1"));
        check("/", "rest_route=x&rest_route=/y&b", rest("/y", "b"));
        check("/", "rest_route=%ff", Place::Unreadable);
        check("/favicon.ico", "rest_route=/", Place::Elsewhere);
    }
}
