//! The registry as an OpenAPI 3.1 description: every route, argument, body, response and error that is declared.
//!
//! Nothing here is written per resource: paths come from routes, parameters from arguments, schemas from resources,
//! responses from what handlers say of themselves ([`crate::registry::vocabulary::ResponseKind`]). It knows nothing of
//! requests; who may see which endpoint is the caller's question ([`Selection::endpoints`]).

mod blocks;
mod codes;
mod components;
mod examples;
mod model;
mod operations;
mod parameters;
mod responses;
pub mod schemas;
pub mod typescript;
mod webhooks;

use crate::registry::vocabulary::Vocabulary;
use crate::registry::{Endpoint, Registry, Route};
use components::Components;
use serde_json::{Map, Value, json};

/// The version of the specification.
const VERSION: &str = "3.1.0";

/// The part of the registry that is described.
pub struct Selection<'a> {
    /// Routes of this namespace; absent: all.
    pub namespace: Option<&'a str>,
    /// Endpoints that are described.
    pub endpoints: &'a dyn Fn(&Route, &Endpoint) -> bool,
    /// Address of the REST base.
    pub server: &'a str,
}

/// The parts that the description is built from.
pub struct DescriptionBuilder<'a> {
    registry: &'a Registry,
    vocabulary: &'a Vocabulary,
    components: Components<'a>,
    /// Names of operations that are taken.
    operations: Vec<String>,
}

/// The description as a document. Routes that are not listed in the root are left out.
pub fn document(registry: &Registry, vocabulary: &Vocabulary, selection: &Selection<'_>) -> Value {
    let mut describing =
        DescriptionBuilder { registry, vocabulary, components: Components::new(registry), operations: Vec::new() };
    let mut paths: Map<String, Value> = Map::new();
    let chosen = |route: &&Route| {
        let shown = !route.hidden || route.described;
        shown && selection.namespace.is_none_or(|wanted| route.namespace == wanted)
    };
    let mut tags: Vec<String> = Vec::new();
    let mut requests = Map::new();
    for (path, item) in describing.indexes(selection.namespace) {
        paths.insert(path, item);
    }
    for route in registry.routes.iter().filter(chosen) {
        let (path, item) = describing.route(route, selection.endpoints);
        if item.is_empty() {
            continue;
        }
        if describing.is_stream(route) {
            requests.extend(describing.webhooks(route));
        }
        let tag = describing.tag(route);
        if !tags.contains(&tag) {
            tags.push(tag);
        }
        // Several routes may have one path: the first that has a method answers it.
        let methods = paths.entry(path).or_insert_with(|| json!({}));
        if let Some(methods) = methods.as_object_mut() {
            for (method, operation) in item {
                methods.entry(method).or_insert(operation);
            }
        }
    }
    let declared = tags.iter().map(|tag| describing.tag_document(tag));
    let tags: Vec<Value> =
        std::iter::once(json!({"name": "discovery", "description": INDEXES})).chain(declared).collect();
    let mut described = json!({
        "openapi": VERSION,
        "info": info(registry),
        "servers": [{"url": selection.server}],
        "tags": tags,
        "paths": paths,
        "components": describing.components.finish(),
    });
    if !requests.is_empty() {
        described["webhooks"] = Value::Object(requests);
    }
    described
}

/// A description as YAML.
///
/// # Errors
/// A value that YAML cannot hold.
pub fn yaml(document: &Value) -> Result<String, serde_saphyr::ser::Error> {
    serde_saphyr::to_string(document)
}

const INDEXES: &str = "What the service is and which routes it has.";

fn info(registry: &Registry) -> Value {
    let prefix = registry.site.prefix.to_uppercase();
    let description = format!(
        "Every request may be sent with `_fields` (the members that the response contains), `_embed` (linked documents \
         in `_embedded`) and `_envelope` (status and headers in the body). A list in a query is written with commas, or \
         as `name[]=a&name[]=b`. Arguments of a body may be sent as JSON or as a form. `X-HTTP-Method-Override` and \
         `_method` replace the method of a POST. HEAD is answered wherever GET is. `X-{prefix}-Total` and \
         `X-{prefix}-TotalPages` count a collection. `OPTIONS` describes a single route, with `Allow` for the caller."
    );
    json!({
        "title": "Content site",
        "version": env!("CARGO_PKG_VERSION"),
        "description": description,
        "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
    })
}
