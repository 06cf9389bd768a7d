//! `_embed`: linked resources put into the document that links to them.
//!
//! Contract: "Global request parameters". Links whose `embeddable` is true are dispatched as requests of their own,
//! with the caller's rights, in the embed context; each address once per reply, however many documents link to it.

use crate::engine::{Call, Engine};
use crate::model::Method;
use crate::request::{self, BodyParams};
use crate::scope::Scope;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;

/// Which relations are to be embedded.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    All,
    Only(Vec<String>),
}

/// Reads the parameter; `None` when nothing is to be embedded.
pub fn wanted(value: Option<&Value>) -> Option<Wanted> {
    let names: Vec<String> = match value? {
        Value::String(text) => text.split(',').map(|s| s.trim().to_owned()).collect(),
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::Bool(false) => return None,
        _ => return Some(Wanted::All),
    };
    match names.first().map(String::as_str) {
        None | Some("" | "0" | "1" | "true") => Some(Wanted::All),
        _ => Some(Wanted::Only(names)),
    }
}

/// Puts `_embedded` into a document, or into each of a list.
pub async fn embed(engine: &Engine, scope: &Scope, document: Value, wanted: &Wanted) -> Value {
    let mut cache = HashMap::new();
    match document {
        Value::Array(list) => {
            let mut out = Vec::with_capacity(list.len());
            for document in list {
                out.push(one(engine, scope, document, wanted, &mut cache).await);
            }
            Value::Array(out)
        }
        document => one(engine, scope, document, wanted, &mut cache).await,
    }
}

async fn one(
    engine: &Engine,
    scope: &Scope,
    mut document: Value,
    wanted: &Wanted,
    cache: &mut HashMap<String, Value>,
) -> Value {
    let Some(links) = document.get("_links").and_then(Value::as_object).cloned() else { return document };
    let mut embedded = Map::new();
    for (rel, list) in &links {
        if let Wanted::Only(names) = wanted
            && !names.contains(rel)
        {
            continue;
        }
        let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
        if !list.iter().any(embeddable) {
            continue;
        }
        let mut found = Vec::new();
        for link in list {
            let href = link.get("href").and_then(Value::as_str).unwrap_or_default();
            if !embeddable(link) {
                found.push(Value::Object(Map::new()));
                continue;
            }
            if !cache.contains_key(href) {
                let fetched = fetch(engine, scope, href).await;
                cache.insert(href.to_owned(), fetched);
            }
            found.push(cache[href].clone());
        }
        embedded.insert(rel.clone(), Value::Array(found));
    }
    if let (Some(map), false) = (document.as_object_mut(), embedded.is_empty()) {
        map.insert("_embedded".into(), Value::Object(embedded));
    }
    document
}

fn embeddable(link: &Value) -> bool {
    link.get("embeddable") == Some(&Value::Bool(true))
}

/// What a request of its own would answer at this address.
fn fetch<'a>(engine: &'a Engine, scope: &'a Scope, href: &'a str) -> Pin<Box<dyn Future<Output = Value> + 'a>> {
    Box::pin(async move {
        let Some(below) = href.strip_prefix(&scope.registry.site.rest_url) else { return Value::Object(Map::new()) };
        let (path, raw_query) = below.split_once('?').unwrap_or((below, ""));
        let mut query =
            request::decode_query(raw_query, scope.registry.declaration.server.max_depth).unwrap_or_default();
        query.entry("context").or_insert_with(|| Value::from("embed"));
        let call = Call {
            method: Method::Get,
            path: path.to_owned(),
            query,
            raw_query: raw_query.to_owned(),
            body: Ok(BodyParams::None),
            expects: Default::default(),
        };
        let mut inner = scope.clone();
        inner.depth += 1;
        match engine.dispatch(&inner, &call).await.result {
            Ok(outcome) => outcome.body,
            Err(error) => error.body(),
        }
    })
}
