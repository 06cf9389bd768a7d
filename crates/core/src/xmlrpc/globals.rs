//! Names that expressions may use besides their parameters: the declarations, the site, the caller.

use super::shape::Bindings;
use super::value::{Value, from_json};
use super::words::MOST_WORDS;
use crate::registry::Registry;
use crate::registry::resource::Resource;
use crate::scope::Principal;
use serde_json::json;
use std::sync::Arc;

/// Names that every expression sees and that follow from the declarations alone.
pub fn globals<'m>(registry: &Registry, methods: impl Iterator<Item = &'m String>) -> Bindings {
    let served = |resource: &&Resource| !resource.declared.routes.is_empty();
    let terms = registry.taxonomies().filter(served).map(|r| (r.api_name.as_str(), taxonomy(r, None)));
    let terms = Value::from_pairs(terms);
    let types = registry.content_types().filter(served).map(|r| (r.api_name.as_str(), kind(registry, r)));
    let routes = registry.resources.iter().map(|r| (r.name.as_str(), Value::from(r.path.as_str())));
    let site = Value::from_pairs([
        ("url", Value::from(registry.site.url.as_str())),
        ("rest_url", Value::from(registry.site.rest_url.as_str())),
        ("calls_url", Value::from(format!("{}{}", registry.site.url, registry.declaration.xmlrpc.path))),
        ("prefix", Value::from(registry.site.prefix.as_str())),
        ("version", Value::from(env!("CARGO_PKG_VERSION"))),
        ("program", Value::from(env!("CARGO_PKG_NAME"))),
        ("login_url", Value::from(format!("{}{}", registry.site.url, registry.declaration.pages.login))),
        ("profile_url", Value::from(format!("{}{}", registry.site.url, registry.declaration.pages.profile))),
    ]);
    Bindings::default()
        .and(&Arc::from(MOST_WORDS), Value::from(registry.declaration.xmlrpc.max_list))
        .and(&Arc::from("site"), site)
        .and(&Arc::from("types"), Value::from_pairs(types))
        .and(&Arc::from("taxonomies"), terms)
        .and(&Arc::from("routes"), Value::from_pairs(routes))
        .and(&Arc::from("sizes"), from_json(&json!(registry.declaration.media.sizes)))
        .and(&Arc::from("theme"), theme(registry))
        .and(&Arc::from("methods"), methods.map(|name| Value::from(name.as_str())).collect())
}

/// The active theme.
fn theme(registry: &Registry) -> Value {
    let name = registry.active_theme();
    let Some(theme) = registry.declaration.themes.get(name) else { return Value::UNDEFINED };
    Value::from_pairs([
        ("name", Value::from(name)),
        ("supports", from_json(&json!(theme.supports))),
        ("templates", from_json(&json!(theme.templates))),
    ])
}

/// The capability for each action on rows of a resource.
fn actions(resource: &Resource) -> Value {
    from_json(&json!(resource.capabilities))
}

/// A content resource as expressions see it.
fn kind(registry: &Registry, resource: &Resource) -> Value {
    let relation = |to: &Resource| resource.relations.iter().find(|r| r.is_list() && r.to == to.index);
    let terms = registry.taxonomies().filter(|term| !term.declared.routes.is_empty());
    let terms = terms.filter_map(|term| relation(term).map(|relation| taxonomy(term, Some(&relation.property))));
    let further = [
        ("supports", resource.declared.supports.iter().map(|s| Value::from(s.as_str())).collect()),
        ("meta", resource.declared.meta.keys().map(|key| Value::from(key.as_str())).collect()),
        ("taxonomies", terms.collect()),
    ];
    Value::from_pairs(common(resource).into_iter().chain(further))
}

/// Members that expressions see of content resources and of taxonomies alike.
fn common(resource: &Resource) -> [(&'static str, Value); 5] {
    [
        ("name", Value::from(resource.api_name.as_str())),
        ("route", Value::from(resource.path.as_str())),
        ("resource", Value::from(resource.name.as_str())),
        ("hierarchical", Value::from(resource.declared.hierarchical)),
        ("actions", actions(resource)),
    ]
}

fn taxonomy(resource: &Resource, property: Option<&str>) -> Value {
    let property = ("property", property.map_or(Value::UNDEFINED, Value::from));
    Value::from_pairs(common(resource).into_iter().chain([property]))
}

/// The caller as expressions see it. The capability without a name is everybody's.
pub fn caller(principal: &Principal) -> Value {
    let held = principal.capabilities.iter().map(|capability| &**capability);
    let can = held.chain([""]).map(|capability| (capability, Value::from(true)));
    Value::from_pairs([
        ("id", Value::from(principal.id)),
        ("login", Value::from(&*principal.login)),
        ("can", Value::from_pairs(can)),
        ("roles", principal.roles.iter().map(|role| Value::from(&**role)).collect()),
    ])
}
