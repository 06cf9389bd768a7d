//! A schema as any reader of JSON Schema draft 4 understands it: without words that only this contract has.

use serde_json::{Map, Value, json};

/// Keywords that draft 4 has, and the formats of the contract's profile of it.
const KEYWORDS: &[&str] = &[
    "$schema",
    "id",
    "title",
    "description",
    "default",
    "type",
    "format",
    "enum",
    "items",
    "additionalItems",
    "properties",
    "patternProperties",
    "additionalProperties",
    "required",
    "minProperties",
    "maxProperties",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "definitions",
    "dependencies",
];

/// A schema without further keywords. A boolean `required` of a property becomes part of the list of the schema around
/// it, unless that has a list of its own.
pub fn draft4(document: &Value) -> Value {
    let Value::Object(map) = document else { return document.clone() };
    let mut cleaned = Map::new();
    for (key, value) in map.iter().filter(|(key, _)| KEYWORDS.contains(&key.as_str())) {
        let value = match key.as_str() {
            "required" if value.is_boolean() => continue,
            "properties" | "patternProperties" | "definitions" | "dependencies" => members(value),
            "items" | "additionalItems" | "additionalProperties" | "not" | "allOf" | "anyOf" | "oneOf" => nested(value),
            "default" if *value == json!([]) && is_object(map.get("type")) => json!({}),
            _ => value.clone(),
        };
        cleaned.insert(key.clone(), value);
    }
    let needed: Vec<&String> = map
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter(|(_, property)| property.get("required") == Some(&Value::Bool(true)))
        .map(|(name, _)| name)
        .collect();
    if !needed.is_empty() && !cleaned.contains_key("required") {
        cleaned.insert("required".to_owned(), json!(needed));
    }
    Value::Object(cleaned)
}

fn is_object(kind: Option<&Value>) -> bool {
    match kind {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        kind => kind.is_some_and(|kind| kind == "object"),
    }
}

/// Schemas by name.
fn members(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(map.iter().map(|(name, schema)| (name.clone(), nested(schema))).collect()),
        other => other.clone(),
    }
}

/// A schema, or a list of them.
fn nested(value: &Value) -> Value {
    match value {
        Value::Array(list) => Value::Array(list.iter().map(draft4).collect()),
        other => draft4(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_of_draft_4_are_left() {
        let check = |document: Value, expected: Value| assert_eq!(draft4(&document), expected, "{document}");
        check(
            json!({"type": "string", "context": ["view"], "x-column": "a", "readonly": true}),
            json!({"type": "string"}),
        );
        check(json!({"type": "object", "default": []}), json!({"type": "object", "default": {}}));
        check(json!({"type": ["object", "null"], "default": []}), json!({"type": ["object", "null"], "default": {}}));
        check(json!({"type": "array", "default": []}), json!({"type": "array", "default": []}));
        check(json!({"required": true, "not": {"arg_options": {}}}), json!({"not": {}}));
        check(
            json!({"properties": {"a": {"required": true, "type": "string"}, "context": {"required": false}}}),
            json!({"properties": {"a": {"type": "string"}, "context": {}}, "required": ["a"]}),
        );
        check(
            json!({"required": ["b"], "properties": {"a": {"required": true}}}),
            json!({"required": ["b"], "properties": {"a": {}}}),
        );
        check(
            json!({"items": [{"example": 1}, {"items": {"readonly": true}}], "anyOf": [{"x-a": 1}],
                "dependencies": {"a": ["b"], "c": {"x-b": 1}}, "additionalProperties": false}),
            json!({"items": [{}, {"items": {}}], "anyOf": [{}], "dependencies": {"a": ["b"], "c": {}},
                "additionalProperties": false}),
        );
    }
}
