//! Rules that follow from the declarations of own properties: an unset value is null, so its types include `null`,
//! unless another value is shown in its place; an indexed value has a length.

use super::super::words::PropertyWords;
use super::layout::filtered_columns;
use super::property::{has_source, is_own, is_required, kind_of, types_of};
use crate::registry::resource::PropertyKind;
use cms_config::load::LoadedDeclaration;
use cms_declaration::{Family, Resource};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// The schemas of resources by file, with `null` among the types of properties that may be unset.
pub(super) fn with_null(loaded: &LoadedDeclaration) -> HashMap<&str, Value> {
    let mut schemas: HashMap<&str, Value> = HashMap::new();
    for resource in loaded.declaration.resources.values() {
        let Some(schema) = loaded.schemas.get(&resource.schema) else { continue };
        let schema = schemas.entry(&resource.schema).or_insert_with(|| schema.clone());
        let required: Vec<String> = schema["required"].as_array().into_iter().flatten().filter_map(name_of).collect();
        let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { continue };
        // A property that the schema lists as required is required at the property.
        for name in &required {
            if let Some(doc) = properties.get_mut(name).and_then(Value::as_object_mut) {
                doc.entry("required").or_insert(Value::Bool(true));
            }
        }
        let key = properties.iter().find(|(_, doc)| doc["x-key"] == true).map(|(name, _)| name.clone());
        let key = key.unwrap_or_else(|| "id".to_owned());
        let filtered = filtered_columns(resource);
        for (name, doc) in properties.iter_mut() {
            let words = PropertyWords::of(doc);
            bound_indexed(resource, (&key, name), (doc, &words), &filtered);
            if may_be_unset(resource, &key, name, (doc, &words))
                && let Some(doc) = doc.as_object_mut()
            {
                admit_null(doc);
            }
        }
    }
    schemas
}

fn name_of(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Most bytes of a text in an index. PostgreSQL has room for 2,704 with what belongs to the row; what one database takes
/// the other one takes, too.
const INDEXED: u64 = 2600;

/// A text in an index has a length, if the declaration gives none.
fn bound_indexed(
    resource: &Resource,
    (key, name): (&str, &str),
    (doc, words): (&mut Value, &PropertyWords),
    filtered: &HashSet<String>,
) {
    let column = words.column.as_deref().unwrap_or(name);
    let own = is_own(resource.family, key, Some(column)) || resource.family == Family::Plain && name == key;
    let indexed = words.index || words.unique || name == key || filtered.contains(column);
    // A character has four bytes at most.
    let short = doc.get("maxLength").and_then(Value::as_u64).is_some_and(|longest| longest * 4 <= INDEXED);
    if !own || !indexed || short || kind_of(doc) != PropertyKind::Text {
        return;
    }
    if let Some(doc) = doc.as_object_mut() {
        let most = doc.get("x-max-bytes").and_then(Value::as_u64).unwrap_or(INDEXED);
        doc.insert("x-max-bytes".into(), most.min(INDEXED).into());
    }
}

/// Whether nothing may be stored in a property, and nothing else says how that is shown.
fn may_be_unset(resource: &Resource, key: &str, name: &str, (doc, words): (&Value, &PropertyWords)) -> bool {
    let column = words.column.as_deref().unwrap_or(name);
    // A plain resource makes its slugs itself.
    let made = resource.family == Family::Plain && column == "slug";
    let stored = is_own(resource.family, key, Some(column))
        && !made
        && !(words.relation.is_some() && kind_of(doc) == PropertyKind::Json)
        && words.read.as_deref().is_none_or(|read| read == "time")
        && words.constant.is_none()
        && !(words.meta || words.handler_property || words.input_only);
    let told = doc.get("default").is_some() || words.unset.is_some() || words.default_null || is_required(doc);
    let composed = doc.get("properties").and_then(Value::as_object).is_some_and(|c| c.values().any(has_source));
    stored && !told && !composed && !types_of(doc).is_empty()
}

fn admit_null(doc: &mut Map<String, Value>) {
    let null = Value::from("null");
    match doc.get_mut("type") {
        Some(Value::Array(types)) if !types.contains(&null) => types.push(null),
        Some(one @ Value::String(_)) if *one != null => *one = Value::Array(vec![one.take(), null]),
        _ => return,
    }
    if let Some(Value::Array(choices)) = doc.get_mut("enum")
        && !choices.contains(&Value::Null)
    {
        choices.push(Value::Null);
    }
}
