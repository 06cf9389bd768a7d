//! What is unset is null: the types of declared properties include `null`, unless something else stands for no value.

use super::super::words::PropertyWords;
use super::property::{has_source, is_own, is_required, kind_of, types_of};
use crate::config::declaration::{Family, Resource};
use crate::config::load::Loaded;
use crate::registry::resource::Kind;
use serde_json::{Map, Value};

/// The declarations with `null` among the types of properties that may be unset.
pub(super) fn with_null(loaded: &Loaded) -> Loaded {
    let mut loaded = loaded.clone();
    for resource in loaded.declaration.resources.values() {
        let properties = loaded.schemas.get_mut(&resource.schema).and_then(|schema| schema.get_mut("properties"));
        let Some(properties) = properties.and_then(Value::as_object_mut) else { continue };
        let key = properties.iter().find(|(_, doc)| PropertyWords::of(doc).key).map(|(name, _)| name.clone());
        let key = key.unwrap_or_else(|| "id".to_owned());
        for (name, doc) in properties.iter_mut() {
            if may_be_unset(resource, &key, name, doc)
                && let Some(doc) = doc.as_object_mut()
            {
                admit_null(doc);
            }
        }
    }
    loaded
}

/// Whether nothing may be stored in a property, and nothing else says how that is shown.
fn may_be_unset(resource: &Resource, key: &str, name: &str, doc: &Value) -> bool {
    let words = PropertyWords::of(doc);
    let column = words.column.as_deref().unwrap_or(name);
    // A plain resource makes its slugs itself.
    let made = resource.family == Family::Plain && column == "slug";
    let stored = is_own(resource.family, key, Some(column))
        && !made
        && !(words.relation.is_some() && kind_of(doc) == Kind::Json)
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
