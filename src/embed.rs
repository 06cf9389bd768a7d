//! `_embed`: linked resources put into the document that links to them.
//!
//! Contract: "Global request parameters". Links whose `embeddable` is true are dispatched as requests of their own,
//! with the caller's rights, in the embed context; each address once per reply, however many documents link to it.

use crate::engine::{Call, Engine};
use crate::error::ApiError;
use crate::model::Method;
use crate::request::{self, BodyParams};
use crate::scope::Scope;
use crate::storage::Ahead;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use tracing::Dispatch;
use tracing::instrument::WithSubscriber;

/// Which relations are to be embedded.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    All,
    Only(Vec<String>),
}

impl Wanted {
    fn includes(&self, rel: &str) -> bool {
        match self {
            Wanted::All => true,
            Wanted::Only(names) => names.iter().any(|name| name == rel),
        }
    }
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

/// Reads that a linked resource makes one after another at most; beyond that each is fetched for itself.
const ROUNDS: usize = 16;

/// Puts `_embedded` into a document, or into each of a list.
pub async fn embed(engine: &Engine, scope: &Scope, document: Value, wanted: &Wanted) -> Value {
    match document {
        Value::Array(list) => {
            let mut cache = together(engine, scope, &list, wanted).await;
            let mut out = Vec::with_capacity(list.len());
            for document in list {
                out.push(one(engine, scope, document, wanted, &mut cache).await);
            }
            Value::Array(out)
        }
        document => one(engine, scope, document, wanted, &mut HashMap::new()).await,
    }
}

/// What the documents of a list link to, by address. Each address is a request of its own, but what all of them read is
/// read together: a fixed number of statements for each relation, however long the list is.
async fn together(engine: &Engine, scope: &Scope, list: &[Value], wanted: &Wanted) -> HashMap<String, Value> {
    let mut fetched = HashMap::new();
    let mut left = addresses(list, wanted);
    let ahead = Arc::new(Ahead::new(scope.storage.clone()));
    let scope = Scope { storage: ahead.clone(), ..scope.clone() };
    for _ in 0..ROUNDS {
        let mut later = Vec::new();
        for address in left {
            ahead.begin();
            // A read that is not there yet is no failure to be logged.
            let answer = fetch(engine, &scope, &address).with_subscriber(Dispatch::none()).await;
            match (ahead.missed(), answer) {
                (true, _) => later.push(address),
                (false, Ok(document)) => {
                    fetched.insert(address, document);
                }
                // Fetched once more for itself, it says aloud what was wrong.
                (false, Err(error)) if error.status() >= 500 => {}
                (false, Err(error)) => {
                    fetched.insert(address, error.body());
                }
            }
        }
        left = later;
        if left.is_empty() || ahead.fetch().is_err() {
            break;
        }
    }
    fetched
}

/// The addresses that are to be embedded, each once.
fn addresses(list: &[Value], wanted: &Wanted) -> Vec<String> {
    let (mut seen, mut all) = (HashSet::new(), Vec::new());
    let links = list.iter().filter_map(|document| document.get("_links")?.as_object()).flatten();
    for (_, links) in links.filter(|(rel, _)| wanted.includes(rel)) {
        for link in links.as_array().into_iter().flatten().filter(|link| embeddable(link)) {
            let address = link.get("href").and_then(Value::as_str).unwrap_or_default();
            if seen.insert(address) {
                all.push(address.to_owned());
            }
        }
    }
    all
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
        if !wanted.includes(rel) {
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
                cache.insert(href.to_owned(), fetched.unwrap_or_else(|error| error.body()));
            }
            found.push(cache[href].clone());
        }
        // A relation under which there is nothing at all says nothing.
        if found.iter().any(|document| !is_empty(document)) {
            embedded.insert(rel.clone(), Value::Array(found));
        }
    }
    if let (Some(map), false) = (document.as_object_mut(), embedded.is_empty()) {
        map.insert("_embedded".into(), Value::Object(embedded));
    }
    document
}

fn is_empty(document: &Value) -> bool {
    match document {
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

fn embeddable(link: &Value) -> bool {
    link.get("embeddable") == Some(&Value::Bool(true))
}

type Fetching<'a> = Pin<Box<dyn Future<Output = Result<Value, ApiError>> + 'a>>;

/// What a request of its own would answer at this address.
fn fetch<'a>(engine: &'a Engine, scope: &'a Scope, href: &'a str) -> Fetching<'a> {
    Box::pin(async move {
        let Some(below) = href.strip_prefix(&scope.registry.site.rest_url) else {
            return Ok(Value::Object(Map::new()));
        };
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
        engine.dispatch(&inner, &call).await.result.map(|outcome| outcome.body)
    })
}
