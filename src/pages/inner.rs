//! Requests of pages to the routes behind them, in nobody's name, and the documents of the responses.

use cms_core::model::{Method, Payload, Reply, Request};
use serde_json::{Map, Value, json};
use url::form_urlencoded::Serializer;

/// A request with these arguments, without the credentials of the caller.
pub(super) fn inner(request: &Request, route: &str, arguments: &[(&str, &str)]) -> Request {
    let raw_query = Serializer::new(String::new()).extend_pairs(arguments).finish();
    let query = Map::from_iter(arguments.iter().map(|(name, value)| ((*name).to_owned(), json!(value))));
    Request {
        id: request.id.clone(),
        // The transport leaves out the body of a response to HEAD.
        method: Method::Get,
        path: route.to_owned(),
        raw_query,
        query,
        headers: request.headers.iter().filter(|(name, _)| name == "user-agent").cloned().collect(),
        body: Vec::new(),
        upload: None,
        goes_on: false,
        peer: request.peer.clone(),
    }
}

/// The document of a response; null where it has none.
pub(super) fn document_of(reply: &Reply) -> Value {
    match &reply.payload {
        Payload::Text(text) => serde_json::from_slice(text).unwrap_or_default(),
        Payload::Shared(text) => serde_json::from_slice(&text.text).unwrap_or_default(),
        Payload::Json(document) => document.clone(),
        _ => Value::Null,
    }
}
