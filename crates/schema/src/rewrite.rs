//! Copies of schema documents with some of their keywords.

use serde_json::Value;

/// Keywords that constrain.
pub(super) const KEYWORDS: &[&str] = &[
    "type",
    "enum",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "items",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "patternProperties",
    "additionalProperties",
    "minProperties",
    "maxProperties",
    "required",
    "oneOf",
    "anyOf",
];

/// See [`super::constraints`].
pub(super) fn constraints(document: &Value) -> Value {
    rewritten(document, &|key, _| KEYWORDS.contains(&key) || ["readonly", "x-max-bytes"].contains(&key))
}

/// A copy of a schema with the keywords that `keep` accepts, at every level that is a schema.
pub(super) fn rewritten(document: &Value, keep: &dyn Fn(&str, &Value) -> bool) -> Value {
    let again = |value: &Value| rewritten(value, keep);
    let Value::Object(map) = document else { return document.clone() };
    let words = map.iter().filter(|(key, value)| keep(key, value)).map(|(key, value)| {
        let value = match (key.as_str(), value) {
            ("properties" | "patternProperties", Value::Object(members)) => {
                Value::Object(members.iter().map(|(name, member)| (name.clone(), again(member))).collect())
            }
            ("items" | "additionalProperties", value) => again(value),
            ("anyOf" | "oneOf", Value::Array(list)) => Value::Array(list.iter().map(again).collect()),
            _ => value.clone(),
        };
        (key.clone(), value)
    });
    Value::Object(words.collect())
}
