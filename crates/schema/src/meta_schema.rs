//! Whether a document is a schema of draft 4, by the draft's own schema of schemas.
//!
//! It finds what no keyword family does. Compiling that schema takes longer than compiling most documents, so it is asked only
//! about those that a quicker look does not settle.

use super::rewrite::rewritten;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The types that the draft knows.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Pointers to what the draft does not allow in a document, each with the reason.
pub fn problems(document: &Value) -> Vec<(String, String)> {
    // A boolean `required` is draft 3 and allowed by the contract.
    let keep = |key: &str, value: &Value| !(key.starts_with("x-") || (key == "required" && value.is_boolean()));
    let document = rewritten(document, &keep);
    let problem = |error: jsonschema::ValidationError<'_>| {
        (error.instance_path().to_string(), format!("Draft 4 does not allow this: {error}"))
    };
    // Patterns are checked by `pattern`, which knows what it can run.
    let judged_elsewhere = |error: &jsonschema::ValidationError<'_>| error.kind().keyword() == "format";
    jsonschema::draft4::meta::validator().iter_errors(&document).filter(|e| !judged_elsewhere(e)).map(problem).collect()
}

/// Whether [`problems`] finds nothing for certain. False says nothing.
pub fn surely_fits(document: &Value) -> bool {
    let Value::Object(map) = document else { return false };
    let needed = [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")];
    needed.iter().all(|(key, other)| map.contains_key(*other) || !map.contains_key(*key))
        && map.iter().all(|(key, value)| keyword_fits(key, value))
}

fn keyword_fits(key: &str, value: &Value) -> bool {
    match key {
        "$schema" | "title" | "description" | "format" | "pattern" => value.is_string(),
        "minimum" | "maximum" => value.is_number(),
        "exclusiveMinimum" | "exclusiveMaximum" | "uniqueItems" => value.is_boolean(),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => value.is_u64(),
        "multipleOf" => value.as_f64().is_some_and(|step| step > 0.0),
        "type" => is_type(value) || set(value).is_some_and(|types| types.iter().all(is_type)),
        "enum" => set(value).is_some(),
        "required" => value.is_boolean() || set(value).is_some_and(|names| names.iter().all(Value::is_string)),
        "properties" | "patternProperties" => {
            value.as_object().is_some_and(|all: &Map<_, _>| all.values().all(surely_fits))
        }
        "items" => surely_fits(value),
        "additionalProperties" => value.is_boolean() || surely_fits(value),
        "anyOf" | "oneOf" => value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(surely_fits)),
        "default" | "context" | "readonly" | "example" | "arg_options" | "links" => true,
        other => other.starts_with("x-"),
    }
}

fn is_type(value: &Value) -> bool {
    value.as_str().is_some_and(|name| TYPES.contains(&name))
}

/// A list that is not empty and whose values are all different. Numbers with fractions may equal whole ones, so they are
/// left to the draft's schema, and so are lists and objects.
fn set(value: &Value) -> Option<&[Value]> {
    let list = value.as_array().filter(|list| !list.is_empty())?;
    let mut seen = HashSet::new();
    let simple = |value: &Value| !matches!(value, Value::Array(_) | Value::Object(_)) && !value.is_f64();
    list.iter().all(|value| simple(value) && seen.insert(value)).then_some(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Whatever a quick look settles is a schema of draft 4, with every keyword and every kind of value.
    #[test]
    fn a_quick_look_is_never_wrong() {
        let keywords = [
            "$schema",
            "id",
            "title",
            "description",
            "format",
            "pattern",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "uniqueItems",
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "minProperties",
            "maxProperties",
            "multipleOf",
            "type",
            "enum",
            "required",
            "properties",
            "patternProperties",
            "items",
            "additionalProperties",
            "additionalItems",
            "anyOf",
            "oneOf",
            "allOf",
            "not",
            "dependencies",
            "definitions",
            "default",
            "context",
            "readonly",
            "example",
            "arg_options",
            "links",
            "x-word",
        ];
        let values = [
            json!(null),
            json!(true),
            json!(0),
            json!(1),
            json!(-1),
            json!(1.0),
            json!(0.5),
            json!(""),
            json!("string"),
            json!("file"),
            json!([]),
            json!([""]),
            json!(["string"]),
            json!(["string", "string"]),
            json!([1, 1.0]),
            json!([[1], [1]]),
            json!([true, "null", 3]),
            json!({}),
            json!([{}]),
            json!({"a": {}}),
            json!({"a": 1}),
            json!({"type": "moon"}),
            json!([{"type": "moon"}]),
            json!({"a": {"required": []}}),
            json!({"minLength": -1}),
        ];
        let mut settled = 0;
        for (key, value) in keywords.iter().flat_map(|key| values.iter().map(move |value| (key, value))) {
            for other in [json!({}), json!({"minimum": 1, "maximum": 2})] {
                let mut document = other;
                document[key] = value.clone();
                if surely_fits(&document) {
                    settled += 1;
                    assert_eq!(problems(&document), [], "{document}");
                }
            }
        }
        assert!(settled > 200, "{settled}");
    }
}
