//! The declarations themselves as resources: types, taxonomies, states.
//!
//! A catalogue responds with an object whose members are its entries by name, never paged.

pub mod guard;

use crate::access::policy::reads_status;
use crate::error::{ApiError, Code};
use crate::handlers::{Handler, Outcome, Work, sync_handler};
use crate::registry::Registry;
use crate::registry::resource::{Context, Resource, label_of};
use crate::registry::vocabulary::CATALOGUE;
use crate::registry::vocabulary::{BehaviourEntry, HandlerRole, ResponseKind};
use crate::scope::Scope;
use cms_declaration::{Action, Labels, Status};
use serde_json::{Map, Value, json};

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    sync_handler("catalogue.list", list, "Lists what is declared: types, taxonomies or statuses.")
        .fails(&[Code::CannotView])
        .responds(ResponseKind::ByKey)
        .on(CATALOGUE)
        .settings(&["autosave_feature", "labels"]),
    sync_handler("catalogue.get", get, "Responds with one declared type, taxonomy or status.")
        .fails(&[
            Code::CannotReadStatus,
            Code::CannotReadTypes,
            Code::Forbidden,
            Code::ForbiddenContext,
            Code::StatusInvalid,
            Code::TaxonomyInvalid,
            Code::TypeInvalid,
        ])
        .on(CATALOGUE)
        .settings(&["hidden", "autosave_feature", "labels"]),
];

/// Documents by name.
type CatalogueEntries = Vec<(String, Map<String, Value>)>;

/// The entries of a catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Catalogue {
    Types,
    Taxonomies,
    Statuses,
}

impl Catalogue {
    /// The catalogue that a resource of the family represents, by its kind.
    pub fn of(resource: &Resource) -> Option<Catalogue> {
        match &*resource.kind {
            "type" => Some(Catalogue::Types),
            "taxonomy" => Some(Catalogue::Taxonomies),
            "status" => Some(Catalogue::Statuses),
            _ => None,
        }
    }
}

/// Every entry that the caller may see, by name.
pub fn list(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let context = work.allowed.context();
    let mut all = Map::new();
    for (name, document) in entries(work, resource)? {
        if context == Context::EDIT && !edits_of(work, resource, &name) {
            continue;
        }
        all.insert(name, shown(resource, document, context));
    }
    // The response is one object, so `_fields` names its members: entries, not their fields.
    Ok(Outcome::ok(Value::Object(all)))
}

/// One entry.
///
/// # Errors
/// There is none of this name, or its edit context is closed to the caller.
pub fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let name = work.captures.values().next().and_then(Value::as_str).unwrap_or("");
    let missing = match Catalogue::of(resource) {
        Some(Catalogue::Taxonomies) => Code::TaxonomyInvalid,
        Some(Catalogue::Statuses) => Code::StatusInvalid,
        _ => Code::TypeInvalid,
    };
    let entry = entries(work, resource)?.into_iter().find(|(n, _)| n == name);
    if resource.declared.options.hidden.iter().any(|hidden| hidden == name) {
        let code = match Catalogue::of(resource) {
            Some(Catalogue::Types) => Code::CannotReadTypes,
            _ => Code::Forbidden,
        };
        return Err(work.scope.principal.refuse(code));
    }
    let (_, document) = entry.ok_or_else(|| ApiError::new(missing))?;
    let context = work.allowed.context();
    if context == Context::EDIT && !edits_of(work, resource, name) {
        return Err(work.scope.principal.refuse(Code::ForbiddenContext));
    }
    Ok(Outcome::ok(shown(resource, document, context)))
}

/// Whether the caller writes records of the type, or assigns terms of the taxonomy; a visible state is visible
/// completely.
fn edits_of(work: &Work<'_>, resource: &Resource, name: &str) -> bool {
    let scope = work.scope;
    let named = |r: &&Resource| r.api_name == *name;
    let (described, act) = match Catalogue::of(resource) {
        Some(Catalogue::Types) => (scope.registry.content_kinds().find(named), Action::Edit),
        Some(Catalogue::Taxonomies) => (scope.registry.taxonomy_kinds().find(named), Action::Assign),
        _ => return true,
    };
    described.is_some_and(|kind| scope.principal.can(kind.capability(act)))
}

fn shown(resource: &Resource, document: Map<String, Value>, context: Context) -> Value {
    let mut map = Map::new();
    for property in resource.properties.iter().filter(|p| p.contexts.shows_in(context)) {
        if let Some(value) = document.get(&property.name) {
            map.insert(property.name.clone(), value.clone());
        }
    }
    if let Some(links) = document.get("_links") {
        map.insert("_links".into(), links.clone());
    }
    Value::Object(map)
}

fn entries(work: &Work<'_>, resource: &Resource) -> Result<CatalogueEntries, ApiError> {
    let scope = work.scope;
    let registry = &scope.registry;
    let of_type = work.allowed.args().text("type").unwrap_or("");
    Ok(match Catalogue::of(resource) {
        Some(Catalogue::Types) => {
            registry.content_kinds().map(|r| (r.api_name.clone(), kind(scope, resource, r))).collect()
        }
        Some(Catalogue::Taxonomies) => registry
            .taxonomy_kinds()
            .map(|r| (r.api_name.clone(), taxonomy(scope, resource, r)))
            .filter(|(_, document)| {
                let types = document.get("types").and_then(Value::as_array);
                of_type.is_empty() || types.is_some_and(|t| t.iter().any(|t| t == of_type))
            })
            .collect(),
        Some(Catalogue::Statuses) => {
            let all = registry.declaration.statuses.iter().filter(|(_, s)| reads_status(scope, s));
            all.map(|(name, status)| (name.clone(), state(scope, name, status))).collect()
        }
        None => return Err(ApiError::new(Code::Internal)),
    })
}

fn common(scope: &Scope, catalogue: &Resource, entry: &Resource) -> Map<String, Value> {
    let mut map = match json!(entry.declared.listing) {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    let labels = labels(&catalogue.declared.options.labels, entry);
    if !labels.is_empty() {
        map.insert("labels".into(), Value::Object(labels));
    }
    map.entry("name").or_insert_with(|| json!(entry.title));
    map.insert("slug".into(), json!(entry.api_name));
    map.insert("hierarchical".into(), json!(entry.declared.hierarchical));
    map.insert("rest_base".into(), json!(entry.base));
    map.insert("rest_namespace".into(), json!(entry.namespace));
    let items = format!("{}:items", scope.registry.site.prefix);
    let mut links = Map::new();
    links.insert("collection".into(), json!([{"href": scope.registry.rest(&catalogue.path)}]));
    links.insert(items, json!([{"href": scope.registry.rest(&entry.path)}]));
    let prefix = &scope.registry.site.prefix;
    if let Some(href) = scope.registry.declaration.curies.get(prefix) {
        links.insert("curies".into(), json!([{"name": prefix, "href": href, "templated": true}]));
    }
    map.insert("_links".into(), Value::Object(links));
    map
}

/// The labels of a resource: its own, and those that follow from its names.
fn labels(usual: &Labels, entry: &Resource) -> Map<String, Value> {
    let own = &entry.declared.labels;
    let name = |key: &str| own.get(key).map_or(entry.title.as_str(), String::as_str);
    let filled = |template: &Value| match template {
        Value::String(text) => json!(label_of(text, name("name"), name("singular_name"))),
        _ => Value::Null,
    };
    let template = |key: &String, all: &Value| {
        let nested = usual.hierarchical.get(key).filter(|_| entry.declared.hierarchical);
        filled(nested.unwrap_or(all))
    };
    let mut labels: Map<String, Value> = usual
        .all
        .iter()
        .map(|(key, all)| (key.clone(), own.get(key).map_or_else(|| template(key, all), |own| json!(own))))
        .collect();
    labels.extend(
        own.iter().filter(|(key, _)| !usual.all.contains_key(*key)).map(|(key, own)| (key.clone(), json!(own))),
    );
    labels
}

fn kind(scope: &Scope, catalogue: &Resource, entry: &Resource) -> Map<String, Value> {
    let registry = &scope.registry;
    let mut map = common(scope, catalogue, entry);
    let shown = |feature: &String| entry.declared.supports_with.get(feature).cloned().unwrap_or(json!(true));
    let mut supports: Map<String, Value> =
        entry.declared.supports.iter().map(|feature| (feature.clone(), shown(feature))).collect();
    if catalogue.declared.options.autosave_feature && entry.supports("editor") && autosaves(registry, entry) {
        supports.insert("autosave".into(), json!(true));
    }
    map.insert("supports".into(), Value::Object(supports));
    let taxonomies: Vec<&str> =
        entry.declared.taxonomies.iter().filter_map(|t| registry.resource(t)).map(|t| t.api_name.as_str()).collect();
    map.insert("taxonomies".into(), json!(taxonomies));
    map.entry("has_archive").or_insert_with(|| json!(false));
    map.entry("viewable").or_insert_with(|| json!(true));
    map.entry("icon").or_insert(Value::Null);
    map
}

/// Whether records of a resource have autosaves.
fn autosaves(registry: &Registry, entry: &Resource) -> bool {
    registry.routes.iter().any(|route| route.owner == Some(entry.index) && route.has_role(HandlerRole::Autosave))
}

fn taxonomy(scope: &Scope, catalogue: &Resource, entry: &Resource) -> Map<String, Value> {
    let mut map = common(scope, catalogue, entry);
    let carriers = scope.registry.content_kinds().filter(|r| r.declared.taxonomies.contains(&entry.name));
    let types: Vec<&str> = carriers.map(|r| r.api_name.as_str()).collect();
    map.insert("types".into(), json!(types));
    map
}

fn state(scope: &Scope, name: &str, status: &Status) -> Map<String, Value> {
    // The first kind of content is what a site's archive shows.
    let archive = scope.registry.content_types().next().map_or("", |r| &r.path);
    let query = if status.public { String::new() } else { format!("?status={name}") };
    let document = json!({
        "name": status.label,
        "private": status.private,
        "protected": status.protected,
        "public": status.public,
        "queryable": status.queryable,
        "show_in_list": status.listed,
        "slug": name,
        "date_floating": status.date_floating,
        "_links": {"archives": [{"href": scope.registry.rest(&format!("{archive}{query}"))}]},
    });
    document.as_object().cloned().unwrap_or_default()
}
