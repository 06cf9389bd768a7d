//! `_embed`: linked resources put into the document that links to them.
//!
//! Contract: "Global request parameters". Links whose `embeddable` is true are dispatched as requests of their own,
//! with the caller's rights, in the embed context; each address once per reply, however many documents link to it. What
//! such a request returned is cached as text, until something that was read for it changes, and is used in responses of
//! that state only. Documents stay text, too: what is embedded is inserted before their last brace.
//!
//! A name with a dot (`venue.owner`) embeds in what is embedded, one level deep.

use super::Engine;
use crate::cache::documents::DocumentText;
use crate::cache::responses::{Caller, ConnectionFacts, HitCounts, MAX_AGE};
use crate::error::status;
use crate::handlers::RenderedJson;
use crate::model::Method;
use crate::registry::args::ArgRole;
use crate::request::call::Call;
use crate::request::{self, BodyParams, route};
use crate::scope::Scope;
use cms_storage::{BatchedReads, ReadSet, Snapshot, TrackedStorage};
use futures_util::FutureExt;
use indexmap::IndexMap;
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Weighter};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::hash::{Hash, Hasher};
use std::pin::Pin;
use std::sync::Arc;
use tracing::Dispatch;
use tracing::instrument::WithSubscriber;

/// Which relations are to be embedded.
#[derive(Clone, Debug, PartialEq)]
pub enum EmbedSelection {
    All,
    Only(Vec<String>),
}

impl EmbedSelection {
    fn includes(&self, rel: &str) -> bool {
        match self {
            EmbedSelection::All => true,
            EmbedSelection::Only(names) => names.iter().any(|name| name == rel || below(name, rel).is_some()),
        }
    }

    /// The selection for the documents of a relation.
    fn below(&self, rel: &str) -> Option<EmbedSelection> {
        let EmbedSelection::Only(names) = self else { return None };
        let below: Vec<String> = names.iter().filter_map(|name| below(name, rel)).map(str::to_owned).collect();
        (!below.is_empty()).then_some(EmbedSelection::Only(below))
    }
}

/// The part of a name below a relation: `owner` of `venue.owner`.
fn below<'n>(name: &'n str, rel: &str) -> Option<&'n str> {
    name.strip_prefix(rel)?.strip_prefix('.').filter(|below| !below.is_empty())
}

/// Reads the parameter; `None` when nothing is to be embedded.
pub fn wanted(value: Option<&Value>) -> Option<EmbedSelection> {
    let names: Vec<String> = match value? {
        Value::String(text) => text.split(',').map(|s| s.trim().to_owned()).collect(),
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::Bool(false) => return None,
        _ => return Some(EmbedSelection::All),
    };
    match names.first().map(String::as_str) {
        None | Some("" | "0" | "1" | "true") => Some(EmbedSelection::All),
        _ => Some(EmbedSelection::Only(names)),
    }
}

/// Reads that a linked resource makes one after another at most; beyond that each is fetched for itself.
const ROUNDS: usize = 16;

/// As many linked resources are fetched each for itself; what more of them read is read together.
const FEW: usize = 3;

/// Links that are followed from documents that are embedded themselves; the documents after that stay as they are.
const MOST_BELOW: usize = 1000;

/// Placeholder for links that are not to be followed.
const NOTHING: &[u8] = b"{}";

// ---------------------------------------------------------------------------------------------------- cached documents

/// Responses of linked resources, by address and caller: see the module.
pub struct EmbedCache {
    cache: Cache<EmbedKey, EmbedEntry, EmbedWeight>,
    asked: HitCounts,
}

#[derive(PartialEq, Eq)]
struct EmbedKey {
    href: String,
    caller: Caller,
    way: ConnectionFacts,
}

/// A key, borrowed.
#[derive(Hash)]
struct EmbedKeyRef<'a> {
    href: &'a str,
    caller: &'a Caller,
    way: ConnectionFacts,
}

impl Hash for EmbedKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        EmbedKeyRef { href: &self.href, caller: &self.caller, way: self.way }.hash(state);
    }
}

impl Equivalent<EmbedKey> for EmbedKeyRef<'_> {
    fn equivalent(&self, key: &EmbedKey) -> bool {
        self.href == key.href && *self.caller == key.caller && self.way == key.way
    }
}

#[derive(Clone)]
struct EmbedEntry {
    text: DocumentText,
    seen: Arc<ReadSet>,
    at: i64,
}

#[derive(Clone)]
struct EmbedWeight;

impl Weighter<EmbedKey, EmbedEntry> for EmbedWeight {
    fn weight(&self, key: &EmbedKey, entry: &EmbedEntry) -> u64 {
        (key.href.len() + entry.text.len() + entry.seen.bytes() + key.caller.bytes() + 256) as u64
    }
}

impl EmbedCache {
    /// An empty store of at most `bytes`.
    pub fn new(bytes: u64) -> EmbedCache {
        let documents = usize::try_from(bytes / 1024).unwrap_or(usize::MAX).max(1024);
        EmbedCache { cache: Cache::with_weighter(documents, bytes, EmbedWeight), asked: HitCounts::default() }
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.cache.weight()
    }

    /// How often documents were found here.
    pub fn hit_counts(&self) -> &HitCounts {
        &self.asked
    }

    /// The cached response of the address, if it is still valid in the state of the snapshot. The current response comes
    /// to depend on what that was made from.
    fn get(&self, scope: &Scope, snapshot: &dyn Snapshot, asked: &EmbedKeyRef<'_>) -> Option<DocumentText> {
        // After a later commit, current versions belong to another state than the snapshot's.
        let holds = |entry: &EmbedEntry| {
            scope.now - entry.at < MAX_AGE && entry.seen.holds(&*scope.storage, scope.now) && snapshot.is_newest()
        };
        let found = self.cache.get(asked).filter(holds).map(|entry| entry.text);
        self.asked.count(found.is_some());
        found
    }
}

// ---------------------------------------------------------------------------------------------------- documents

/// The part of a document that contains its links.
#[derive(Deserialize)]
struct LinkedDocument<'a> {
    #[serde(rename = "_links", borrow, default)]
    links: IndexMap<Cow<'a, str>, Vec<DocumentLink<'a>>>,
}

#[derive(Deserialize)]
struct DocumentLink<'a> {
    #[serde(borrow, default)]
    href: Cow<'a, str>,
    #[serde(default)]
    embeddable: bool,
}

type DocumentLinks<'a> = Vec<(Cow<'a, str>, Vec<DocumentLink<'a>>)>;

/// The links to follow, by relation; with them those beside them that are not followed.
fn links<'a>(document: &'a [u8], wanted: &EmbedSelection) -> DocumentLinks<'a> {
    let links = serde_json::from_slice::<LinkedDocument<'a>>(document).map(|d| d.links).unwrap_or_default();
    links.into_iter().filter(|(rel, links)| wanted.includes(rel) && links.iter().any(|link| link.embeddable)).collect()
}

/// Documents as one text, each with `_embedded` where anything is.
pub async fn embed(engine: &Engine, scope: &Scope, documents: &RenderedJson, wanted: &EmbedSelection) -> Vec<u8> {
    let links: Vec<DocumentLinks<'_>> = documents.documents().iter().map(|document| links(document, wanted)).collect();
    let found = fetch_all(engine, scope, &links).await;
    let begun = embedded_documents(&links, &found, wanted);
    let below = embed_below(engine, scope, &begun).await;
    let texts = EmbedTexts { found: &found, below: &below };
    let mut links = links.iter();
    let empty = scope.registry.declaration.dialect.embed_empty_relations;
    documents.write(|document, all| write(document, links.next().map_or(&[], |links| links), &texts, empty, all))
}

/// Texts of embedded documents, by address; by relation and address where more is embedded in them.
struct EmbedTexts<'t> {
    found: &'t HashMap<&'t str, DocumentText>,
    below: &'t NestedTexts<'t>,
}

/// By relation and address.
type NestedTexts<'a> = HashMap<&'a str, HashMap<&'a str, DocumentText>>;

impl<'t> EmbedTexts<'t> {
    fn get(&self, rel: &str, href: &str) -> Option<&'t DocumentText> {
        self.below.get(rel).and_then(|texts| texts.get(href)).or_else(|| self.found.get(href))
    }
}

/// An embedded text in which more is to be embedded, by its relation and its address.
struct NestedEmbed<'a> {
    at: (&'a str, &'a str),
    documents: RenderedJson,
    wanted: EmbedSelection,
}

/// The embedded texts in which more is to be embedded.
fn embedded_documents<'a>(
    links: &'a [DocumentLinks<'_>],
    found: &HashMap<&'a str, DocumentText>,
    wanted: &EmbedSelection,
) -> Vec<NestedEmbed<'a>> {
    let mut seen = HashSet::new();
    let mut begun = Vec::new();
    for (rel, links) in links.iter().flatten() {
        let Some(wanted) = wanted.below(rel) else { continue };
        for href in links.iter().filter(|link| link.embeddable).map(|link| &*link.href) {
            let Some(text) = found.get(href).filter(|_| seen.insert((&**rel, href))) else { continue };
            let documents = match serde_json::from_slice::<Vec<&RawValue>>(text) {
                Ok(list) => RenderedJson::List(list.iter().map(|one| one.get().as_bytes().into()).collect()),
                Err(_) => RenderedJson::One(text.clone()),
            };
            begun.push(NestedEmbed { at: (rel, href), documents, wanted: wanted.clone() });
        }
    }
    begun
}

/// The texts with what is embedded in them.
async fn embed_below<'a>(engine: &Engine, scope: &Scope, begun: &[NestedEmbed<'a>]) -> NestedTexts<'a> {
    if begun.is_empty() {
        return HashMap::new();
    }
    let mut left = MOST_BELOW;
    let mut followed = Vec::new();
    for one in begun {
        for document in one.documents.documents() {
            let links = links(document, &one.wanted);
            left = left.saturating_sub(links.iter().map(|(_, links)| links.len()).sum());
            followed.push(if left > 0 { links } else { DocumentLinks::new() });
        }
    }
    let found = fetch_all(engine, scope, &followed).await;
    let texts = EmbedTexts { found: &found, below: &HashMap::new() };
    let empty = scope.registry.declaration.dialect.embed_empty_relations;
    let mut links = followed.iter();
    let mut below = NestedTexts::new();
    for NestedEmbed { at: (rel, href), documents, .. } in begun {
        let text = documents.write(|document, all| {
            write(document, links.next().map_or(&[], |links| links), &texts, empty, all);
        });
        below.entry(rel).or_default().insert(href, text.into());
    }
    below
}

/// Appends a document with what it links to; with `empty` also relations under which there is nothing at all.
fn write(
    document: &[u8],
    links: &[(Cow<'_, str>, Vec<DocumentLink<'_>>)],
    texts: &EmbedTexts<'_>,
    empty: bool,
    all: &mut Vec<u8>,
) {
    let begun = all.len() + document.len();
    all.extend_from_slice(document);
    for (rel, links) in links {
        let texts =
            || links.iter().map(|link| texts.get(rel, &link.href).filter(|_| link.embeddable).map_or(NOTHING, |t| t));
        if !empty && texts().all(|text| text == NOTHING || text == b"[]") {
            continue;
        }
        if all.len() == begun {
            all.pop();
            all.extend_from_slice(b",\"_embedded\":{");
        } else {
            all.push(b',');
        }
        all.extend_from_slice(Value::from(&**rel).to_string().as_bytes());
        all.extend_from_slice(b":[");
        for (i, text) in texts().enumerate() {
            if i > 0 {
                all.push(b',');
            }
            all.extend_from_slice(text);
        }
        all.push(b']');
    }
    if all.len() != begun {
        all.extend_from_slice(b"}}");
    }
}

// ---------------------------------------------------------------------------------------------------- requests

/// The responses of all the links, by address.
async fn fetch_all<'a>(
    engine: &Engine,
    scope: &Scope,
    links: &'a [DocumentLinks<'_>],
) -> HashMap<&'a str, DocumentText> {
    let (caller, way) = (Caller::of(&scope.principal), ConnectionFacts::of(&scope.peer));
    let (mut found, mut missing): (HashMap<&str, DocumentText>, Vec<&str>) = Default::default();
    let mut asked = HashSet::new();
    let all = links.iter().flatten().flat_map(|(_, links)| links).filter(|link| link.embeddable);
    {
        let snapshot = scope.storage.snapshot().ok();
        for href in all.map(|link| &*link.href) {
            if !asked.insert(href) {
                continue;
            }
            let key = EmbedKeyRef { href, caller: &caller, way };
            let shared = snapshot.as_ref().filter(|_| scope.preview.is_none());
            match shared.and_then(|snapshot| engine.embedded().get(scope, &**snapshot, &key)) {
                Some(text) => drop(found.insert(href, text)),
                None => missing.push(href),
            }
        }
    }
    let keep = |href: &str, answer: &LinkedResponse, observed: &TrackedStorage| {
        if let Some(seen) = observed.seen().filter(|_| answer.lasting && scope.preview.is_none()) {
            let key = EmbedKey { href: href.to_owned(), caller: caller.clone(), way };
            let entry = EmbedEntry { text: answer.text.clone(), seen: Arc::new(seen), at: scope.now };
            engine.embedded().cache.insert(key, entry);
        }
    };
    if missing.len() > FEW {
        missing = fetch_in_batch(engine, scope, missing, |href, answer, observed| {
            keep(href, &answer, observed);
            found.insert(href, answer.text);
        });
    }
    for href in missing {
        let observed = Arc::new(observed(scope));
        let answer = fetch(engine, Scope { storage: observed.clone(), ..scope.clone() }, href).await;
        keep(href, &answer, &observed);
        found.insert(href, answer.text);
    }
    found
}

/// Each address is a request of its own, but what all of them read is read together: a fixed number of statements for
/// each relation, however many there are. Returns the addresses that are better fetched each for itself.
fn fetch_in_batch<'a>(
    engine: &Engine,
    scope: &Scope,
    mut left: Vec<&'a str>,
    mut take: impl FnMut(&'a str, LinkedResponse, &TrackedStorage),
) -> Vec<&'a str> {
    let ahead = Arc::new(BatchedReads::new(scope.storage.clone()));
    let inner = Scope { storage: ahead.clone(), ..scope.clone() };
    // One snapshot for all of it: only so it is known what a response was made from.
    let Ok(_state) = scope.storage.snapshot() else { return left };
    let mut alone = Vec::new();
    for _ in 0..ROUNDS {
        let mut later = Vec::new();
        for href in left {
            ahead.begin();
            let observed = Arc::new(observed(&inner));
            let inner = Scope { storage: observed.clone(), ..inner.clone() };
            // A read that is not there yet is no failure to be logged. Nothing may wait in here: the
            // state would be held while others run.
            let answer = fetch(engine, inner, href).with_subscriber(Dispatch::none()).now_or_never();
            match answer {
                _ if ahead.missed() => later.push(href),
                Some(answer) if !status::is_server_error(answer.status) => take(href, answer, &observed),
                // Run once more by itself, it reports what was wrong.
                _ => alone.push(href),
            }
        }
        left = later;
        if left.is_empty() || ahead.fetch().is_err() {
            break;
        }
    }
    left.extend(alone);
    left
}

/// The database of a linked request, which records what is read.
fn observed(scope: &Scope) -> TrackedStorage {
    let observed = TrackedStorage::new(scope.storage.clone());
    observed.note("setting".into(), scope.settings.version);
    observed
}

/// The response of a linked resource.
struct LinkedResponse {
    status: u16,
    text: DocumentText,
    /// The same for all callers with the same rights.
    lasting: bool,
}

/// As many items as a list at this path may have: a linked list is embedded as whole as it can be.
fn longest_list(engine: &Engine, scope: &Scope, path: &str) -> Option<Value> {
    let matches = engine.matches(path, scope.secure());
    let endpoint = matches.iter().find_map(|matched| route::endpoint(matched.route, Method::Get))?;
    endpoint.args.role(ArgRole::PerPage)?.shown.get("maximum").cloned()
}

/// The response of a request of its own to this address.
fn fetch<'a>(
    engine: &'a Engine,
    mut scope: Scope,
    href: &'a str,
) -> Pin<Box<dyn Future<Output = LinkedResponse> + 'a>> {
    Box::pin(async move {
        let Some(below) = href.strip_prefix(&scope.registry.site.rest_url) else {
            return LinkedResponse { status: status::OK, text: NOTHING.into(), lasting: true };
        };
        let (path, raw_query) = below.split_once('?').unwrap_or((below, ""));
        let mut query =
            request::decode_query(raw_query, scope.registry.declaration.server.max_depth).unwrap_or_default();
        query.entry("context").or_insert_with(|| Value::from("embed"));
        if let Some(most) = longest_list(engine, &scope, path) {
            query.entry("per_page").or_insert(most);
        }
        let call = Call {
            method: Method::Get,
            path: path.to_owned(),
            query,
            raw_query: raw_query.to_owned(),
            body: Ok(BodyParams::None),
            expects: Default::default(),
            text: true,
            lines: false,
            custom_fields: Vec::new(),
        };
        scope.depth += 1;
        let answered = engine.dispatch(&scope, &call).await;
        // No cache has a document that the token of a link shows.
        let shared = answered.preview.is_none();
        let (status, rendered, lasting) = match answered.result {
            Ok(outcome) => {
                let rendered = outcome.text.unwrap_or_else(|| RenderedJson::of(&outcome.body));
                (outcome.status, rendered, shared && !outcome.private)
            }
            Err(error) => (error.status(), RenderedJson::of(&error.body()), !status::is_server_error(error.status())),
        };
        let text = match rendered {
            RenderedJson::One(text) => text,
            list => list.into_text().as_ref().into(),
        };
        LinkedResponse { status, text, lasting }
    })
}
