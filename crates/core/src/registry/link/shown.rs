//! Schemas as OPTIONS shows them.

use super::super::resource::*;
use super::super::without_x_words;
use super::links::applies;
use cms_declaration::{self as declaration, Declaration};
use cms_schema::Dialect;
use serde_json::{Map, Value, json};

/// The schema that OPTIONS shows.
pub(super) fn shown_schema(
    schema: &Value,
    resource: &Resource,
    (declared, fields): (&Declaration, Option<Map<String, Value>>),
    dialect: Dialect,
) -> Value {
    let mut shown = match without_x_words(schema) {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    shown.entry("$schema").or_insert_with(|| json!("http://json-schema.org/draft-04/schema#"));
    shown.entry("title").or_insert_with(|| json!(resource.api_name));
    shown.entry("type").or_insert_with(|| json!("object"));
    let links = match resource.declared.schema_links.as_slice() {
        [] => described_links(resource, declared),
        written => written.to_vec(),
    };
    if !links.is_empty() {
        shown.insert("links".into(), Value::Array(links));
    }
    if let Some(properties) = shown.get_mut("properties").and_then(Value::as_object_mut) {
        let hidden = |name: &String| resource.property(name).is_some_and(|property| property.hidden);
        properties.retain(|name, _| !hidden(name));
        let of_fields = |name: &String| {
            resource.property(name).is_some_and(|property| matches!(property.source, PropertySource::Fields(_)))
        };
        // Without a group that could apply, nothing is to be described.
        properties.retain(|name, _| fields.is_some() || !of_fields(name));
        for (_, doc) in properties.iter_mut().filter(|(name, _)| of_fields(name)) {
            doc["properties"] = json!(fields);
        }
        for (name, doc) in properties.iter_mut() {
            if let Some(doc) = doc.as_object_mut() {
                doc.shift_remove("arg_options");
                // TOML cannot say null, and meta keys are declared beside the schema.
                let declared = schema.get("properties").and_then(|p| p.get(name));
                if declared.and_then(|d| d.get("x-meta")) == Some(&json!(true)) {
                    doc.extend(meta_properties(resource, without_x_words));
                    show_no_meta(doc, dialect);
                }
                if declared.and_then(|d| d.get("x-default-null")) == Some(&json!(true)) {
                    doc.insert("default".into(), Value::Null);
                }
            }
        }
    }
    Value::Object(shown)
}

/// The links of a resource whose relations the declarations describe, as its schema lists them.
fn described_links(resource: &Resource, declared: &Declaration) -> Vec<Value> {
    let mut listed: Vec<Value> = Vec::new();
    let of_this = resource.declared.links.iter().filter(|link| applies(&resource.declared, &link.when));
    for link in of_this.filter(|_| resource.declared.links_in_options) {
        let Some(relation) = declared.link_relations.get(&link.rel) else { continue };
        let explained = declared
            .curies
            .iter()
            .find_map(|(name, href)| Some(href.replace("{rel}", link.rel.strip_prefix(name)?.strip_prefix(':')?)));
        let rel = explained.unwrap_or_else(|| link.rel.clone());
        if listed.iter().any(|listed| listed["rel"] == *rel) {
            continue;
        }
        listed.push(json!({
            "rel": rel,
            "title": relation.title,
            "href": format!("{{base}}{}/{{{}}}", resource.path, resource.key),
            "targetSchema": {"type": "object", "properties": relation.properties},
        }));
    }
    listed
}

/// Where empty lists pass for empty maps, one shows that no meta is registered.
pub(super) fn show_no_meta(doc: &mut Map<String, Value>, dialect: Dialect) {
    if dialect.empty_list_as_object {
        doc.entry("properties").or_insert_with(|| json!([]));
    }
}

/// Registered meta as the `properties` of the `meta` object; nothing where none is registered.
pub(super) fn meta_properties(resource: &Resource, written: impl Fn(&Value) -> Value) -> Option<(String, Value)> {
    let doc = |meta: &declaration::Meta| {
        let one = written(&Value::Object(meta.schema.clone()));
        if meta.single { one } else { json!({"type": "array", "items": one}) }
    };
    let registered: Map<String, Value> =
        resource.declared.meta.iter().map(|(key, meta)| (key.clone(), doc(meta))).collect();
    (!registered.is_empty()).then(|| ("properties".to_owned(), Value::Object(registered)))
}

/// Takes `maxLength` and `maxItems` out of what is shown of an argument.
pub(super) fn without_bounds(shown: &mut Map<String, Value>) {
    shown.shift_remove("maxLength");
    shown.shift_remove("maxItems");
    let inner = shown.get_mut("items").and_then(Value::as_object_mut);
    inner.into_iter().for_each(without_bounds);
    for key in ["properties", "oneOf", "anyOf"] {
        match shown.get_mut(key) {
            Some(Value::Object(members)) => {
                members.values_mut().filter_map(Value::as_object_mut).for_each(without_bounds);
            }
            Some(Value::Array(list)) => list.iter_mut().filter_map(Value::as_object_mut).for_each(without_bounds),
            _ => {}
        }
    }
}

/// Links of the schema name the REST base as `{base}`.
pub(super) fn schema_links(resources: &mut [Resource], rest_url: &str) {
    for resource in resources {
        for link in resource.schema.get_mut("links").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(href) = link.get("href").and_then(Value::as_str).map(|h| h.replace("{base}", rest_url)) {
                link["href"] = Value::String(href);
            }
        }
    }
}
