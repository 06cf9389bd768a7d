//! Bounds of arguments that OPTIONS does not list: those declared as `x-unlisted-bounds`, and the most items of any list.

use serde_json::{Map, Value};

/// The document of an argument with its limits as keywords of JSON Schema, at every depth.
pub fn apply_bounds(doc: &Value, max_items: u64) -> Value {
    let Value::Object(doc) = doc else { return doc.clone() };
    let inner = |value: &Value| apply_bounds(value, max_items);
    let mut bounded = Map::new();
    for (key, value) in doc {
        let value = match (key.as_str(), value) {
            ("x-unlisted-bounds", _) => continue,
            ("properties" | "patternProperties", Value::Object(map)) => {
                Value::Object(map.iter().map(|(name, doc)| (name.clone(), inner(doc))).collect())
            }
            ("items" | "additionalProperties", doc) => inner(doc),
            ("oneOf" | "anyOf", Value::Array(list)) => Value::Array(list.iter().map(inner).collect()),
            (_, value) => value.clone(),
        };
        bounded.insert(key.clone(), value);
    }
    if let Some(Value::Object(bounds)) = doc.get("x-unlisted-bounds") {
        bounded.extend(bounds.clone());
    }
    if takes_lists(&bounded) && !bounded.contains_key("maxItems") {
        bounded.insert("maxItems".into(), max_items.into());
    }
    Value::Object(bounded)
}

fn takes_lists(doc: &Map<String, Value>) -> bool {
    match doc.get("type") {
        Some(Value::String(one)) => one == "array",
        Some(Value::Array(many)) => many.iter().any(|one| one == "array"),
        _ => doc.contains_key("items"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_list_has_a_bound() {
        let check = |doc: Value, expected: Value| assert_eq!(apply_bounds(&doc, 7), expected, "{doc}");
        check(json!({"type": "string"}), json!({"type": "string"}));
        check(json!({"type": "array"}), json!({"type": "array", "maxItems": 7}));
        check(json!({"type": "array", "maxItems": 9}), json!({"type": "array", "maxItems": 9}));
        check(json!({"type": ["null", "array"]}), json!({"type": ["null", "array"], "maxItems": 7}));
        check(
            json!({"type": "array", "x-unlisted-bounds": {"maxItems": 2}, "items": {"type": "array"}}),
            json!({"type": "array", "items": {"type": "array", "maxItems": 7}, "maxItems": 2}),
        );
        check(
            json!({"oneOf": [{"type": "object", "properties": {"terms": {"type": "array"}}}]}),
            json!({"oneOf": [{"type": "object", "properties": {"terms": {"type": "array", "maxItems": 7}}}]}),
        );
        check(
            json!({"type": "string", "x-unlisted-bounds": {"maxLength": 3}, "default": {"type": "array"}}),
            json!({"type": "string", "default": {"type": "array"}, "maxLength": 3}),
        );
    }
}
