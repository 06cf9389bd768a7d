//! Schemas of the contract (JSON Schema draft 4 with contexts) as OpenAPI 3.1 writes them (JSON Schema 2020-12).

use crate::registry::resource::Context;
use serde_json::{Map, Value, json};

/// Which side of a request a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Values that clients send: defaults and required members are shown.
    Request,
    /// Values that the server sends. `empty_lists`: an empty object may be written as an empty list.
    Response { empty_lists: bool },
}

/// Keywords that bound sent values. Stored ones may exceed them: they were imported, or have a number added.
const BOUNDS: &[&str] = &[
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
    "multipleOf",
];

/// A schema in the newer draft.
pub fn modern(document: &Value, side: Side) -> Value {
    let Value::Object(map) = document else { return document.clone() };
    let mut schema = Map::new();
    let mut types = types_of(map);
    if side != Side::Request && map.contains_key("default") && map["default"].is_null() && !types.is_empty() {
        push(&mut types, "null");
    }
    for (key, value) in map {
        match key.as_str() {
            "type" => {}
            "readonly" if value == true => {
                schema.insert("readOnly".into(), json!(true));
            }
            "format" => {
                schema.extend(format(value, side).map(|format| ("format".to_owned(), format)));
            }
            // Some schemas of WordPress list values by name.
            "enum" => {
                let by_name = value.as_object().map(|map| map.values().cloned().collect());
                schema.insert("enum".into(), by_name.unwrap_or_else(|| value.clone()));
            }
            // A value that fits several alternatives is refused when it is sent, but may be stored.
            "oneOf" if side != Side::Request => {
                schema.insert("anyOf".into(), nested(value, side));
            }
            "default" if side == Side::Request => {
                let listed = map.get("enum").and_then(Value::as_array);
                let fits = |own: &Value| own.is_null() || listed.is_none_or(|values| values.contains(own));
                let taken = default(value, &types).filter(fits);
                schema.extend(taken.map(|default| ("default".to_owned(), default)));
            }
            "required" if value.is_array() && side == Side::Request => {
                schema.insert("required".into(), value.clone());
            }
            "exclusiveMinimum" | "exclusiveMaximum" => {}
            "items" if value.is_array() => {
                schema.insert("prefixItems".into(), nested(value, side));
            }
            "items" | "additionalProperties" | "anyOf" | "oneOf" | "allOf" | "not" => {
                schema.insert(key.clone(), nested(value, side));
            }
            // Some schemas of WordPress write an empty list.
            "properties" | "patternProperties" if value.is_object() => {
                schema.insert(key.clone(), members(value, side));
            }
            "pattern" if side == Side::Request => {
                schema.insert(key.clone(), value.as_str().map_or_else(|| value.clone(), |text| json!(strict(text))));
            }
            // A title is left out: generators of clients take it for the name of a type, and several schemas have the same.
            key if key == "description" || (side == Side::Request && BOUNDS.contains(&key)) => {
                schema.insert(key.to_owned(), value.clone());
            }
            _ => {}
        }
    }
    exclusive(map, &mut schema, "exclusiveMinimum", "minimum");
    exclusive(map, &mut schema, "exclusiveMaximum", "maximum");
    if side == Side::Request {
        require(map, &mut schema);
    }
    widen(&mut schema, &mut types, side);
    settle(&mut schema, &types);
    Value::Object(schema)
}

/// Writes what generators of clients need: the items of a list, whatever they are; and no type beside alternatives that
/// have their own.
fn settle(schema: &mut Map<String, Value>, types: &[String]) {
    let alternatives = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)?.as_array());
    if let Some(alternatives) = alternatives {
        if alternatives.iter().all(|own| own.get("type").is_some()) {
            schema.remove("type");
        }
    } else if types.iter().any(|own| own == "array")
        // An object that may be written as an empty list.
        && !types.iter().any(|own| own == "object")
        && !["items", "prefixItems"].iter().any(|key| schema.contains_key(*key))
    {
        schema.insert("items".into(), json!({}));
    }
}

/// A schema as it is shown in a context: members of others are left out; those that are left are always there.
pub fn shown_in(document: &Value, context: Option<Context>) -> Value {
    let Value::Object(map) = document else { return document.clone() };
    let mut shown = map.clone();
    if let Some(properties) = map.get("properties").and_then(Value::as_object) {
        let seen = properties.iter().filter(|(_, doc)| context.is_none_or(|context| shows(doc, context)));
        let seen: Map<String, Value> = seen.map(|(name, doc)| (name.clone(), shown_in(doc, context))).collect();
        shown.insert("properties".into(), Value::Object(seen));
    }
    if let Some(items) = map.get("items") {
        shown.insert("items".into(), shown_in(items, context));
    }
    Value::Object(shown)
}

/// Whether a schema depends on the context anywhere.
pub fn has_contexts(document: &Value) -> bool {
    match document {
        Value::Object(map) => map.contains_key("context") || map.values().any(has_contexts),
        Value::Array(list) => list.iter().any(has_contexts),
        _ => false,
    }
}

fn shows(document: &Value, context: Context) -> bool {
    let Some(list) = document.get("context").and_then(Value::as_array) else { return true };
    list.iter().filter_map(Value::as_str).filter_map(Context::parse).any(|own| own.shows_in(context))
}

fn types_of(map: &Map<String, Value>) -> Vec<String> {
    // Some schemas of WordPress write it like this.
    let named = |name: &str| match name {
        "bool" => "boolean".to_owned(),
        "int" => "integer".to_owned(),
        "float" => "number".to_owned(),
        name => name.to_owned(),
    };
    let mut types = Vec::new();
    match map.get("type") {
        Some(Value::String(one)) => types.push(named(one)),
        Some(Value::Array(list)) => {
            list.iter().filter_map(Value::as_str).for_each(|name| push(&mut types, &named(name)));
        }
        _ => {}
    }
    types
}

fn push(types: &mut Vec<String>, wanted: &str) {
    if !types.iter().any(|own| own == wanted) {
        types.push(wanted.to_owned());
    }
}

/// Writes the types. A null that a value may be has to be among the listed values, too.
fn widen(schema: &mut Map<String, Value>, types: &mut Vec<String>, side: Side) {
    let is_open_object = types.iter().any(|own| own == "object") && !types.iter().any(|own| own == "array");
    if side == (Side::Response { empty_lists: true }) && is_open_object {
        push(types, "array");
        schema.insert("maxItems".into(), json!(0));
    }
    let lists_null = schema.get("enum").and_then(Value::as_array).is_some_and(|list| list.contains(&Value::Null));
    if lists_null && !types.is_empty() {
        push(types, "null");
    }
    let nullable = types.iter().any(|own| own == "null");
    if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut)
        && nullable
        && !values.iter().any(Value::is_null)
    {
        values.push(Value::Null);
    }
    let written = match types.as_slice() {
        [] => return,
        [one] => json!(one),
        several => json!(several),
    };
    schema.insert("type".into(), written);
}

/// A pattern without escapes of characters that mean nothing: ECMA 262 refuses them where a pattern is read as Unicode.
pub(super) fn strict(pattern: &str) -> String {
    let mut written = String::new();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        let escaped = if c == '\\' { rest.next() } else { None };
        match escaped {
            Some(plain) if !plain.is_alphanumeric() && !r"^$\.*+?()[]{}|/-".contains(plain) => written.push(plain),
            Some(other) => written.extend([c, other]),
            None => written.push(c),
        }
    }
    written
}

/// Dates of the contract have no zone, so they are no `date-time` of RFC 3339; what is shown where there is no address
/// is an empty text.
fn format(value: &Value, side: Side) -> Option<Value> {
    match (value.as_str()?, side) {
        ("date-time", _) => Some(json!("date-time-local")),
        ("uri", Side::Response { .. }) => Some(json!("uri-reference")),
        ("email" | "ip", Side::Response { .. }) => None,
        _ => Some(value.clone()),
    }
}

/// The default where it is one of the types.
fn default(value: &Value, types: &[String]) -> Option<Value> {
    let is = |wanted: &str| types.is_empty() || types.iter().any(|own| own == wanted);
    match value {
        Value::Null => is("null").then(|| value.clone()).filter(|_| !types.is_empty()),
        Value::Array(list) if list.is_empty() && !is("array") && is("object") => Some(json!({})),
        Value::Bool(_) => is("boolean").then(|| value.clone()),
        Value::Number(number) => (is("number") || (is("integer") && !number.is_f64())).then(|| value.clone()),
        Value::String(_) => is("string").then(|| value.clone()),
        Value::Array(_) => is("array").then(|| value.clone()),
        Value::Object(_) => is("object").then(|| value.clone()),
    }
}

fn exclusive(map: &Map<String, Value>, schema: &mut Map<String, Value>, flag: &str, bound: &str) {
    if map.get(flag) == Some(&json!(true))
        && let Some(limit) = schema.remove(bound)
    {
        schema.insert(flag.to_owned(), limit);
    }
}

/// A boolean `required` of a property becomes part of the list of the schema around it.
fn require(map: &Map<String, Value>, schema: &mut Map<String, Value>) {
    let properties = map.get("properties").and_then(Value::as_object).into_iter().flatten();
    let needed: Vec<&String> = properties.filter(|(_, doc)| doc["required"] == true).map(|(name, _)| name).collect();
    if !needed.is_empty() && !schema.contains_key("required") {
        schema.insert("required".into(), json!(needed));
    }
}

fn members(value: &Value, side: Side) -> Value {
    let map = value.as_object().into_iter().flatten();
    Value::Object(map.map(|(name, document)| (name.clone(), modern(document, side))).collect())
}

fn nested(value: &Value, side: Side) -> Value {
    match value {
        Value::Array(list) => Value::Array(list.iter().map(|document| modern(document, side)).collect()),
        other => modern(other, side),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draft_4_becomes_2020_12() {
        let request = |document: Value, expected: Value| assert_eq!(modern(&document, Side::Request), expected);
        request(
            json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true, "default": null, "x-column": "a"}),
            json!({"exclusiveMinimum": 0, "type": "integer"}),
        );
        request(json!({"type": "object", "default": []}), json!({"default": {}, "type": "object"}));
        request(json!({"type": "string", "default": 5}), json!({"type": "string"}));
        request(
            json!({"type": ["null", "string"], "enum": ["a"], "default": null, "format": "date-time"}),
            json!({"enum": ["a", null], "default": null, "format": "date-time-local", "type": ["null", "string"]}),
        );
        request(
            json!({"type": "object", "properties": {"a": {"required": true, "type": "string"}, "b": {"readonly": true}}}),
            json!({"properties": {"a": {"type": "string"}, "b": {"readOnly": true}}, "required": ["a"], "type": "object"}),
        );
        request(json!({"items": [{"type": "string"}, {}]}), json!({"prefixItems": [{"type": "string"}, {}]}));
        request(
            json!({"type": "string", "pattern": r"^[\w\-\%]\#\.\\$"}),
            json!({"pattern": r"^[\w\-%]#\.\\$", "type": "string"}),
        );
        request(json!({"type": "object", "properties": []}), json!({"type": "object"}));
        request(json!({"type": "array", "title": "Row"}), json!({"items": {}, "type": "array"}));
        request(
            json!({"type": ["object", "array"], "oneOf": [{"type": "object"}, {"type": "array", "items": {}}]}),
            json!({"oneOf": [{"type": "object"}, {"items": {}, "type": "array"}]}),
        );
    }

    #[test]
    fn responses_say_what_may_be_absent() {
        let side = Side::Response { empty_lists: true };
        let response = |document: Value, expected: Value| assert_eq!(modern(&document, side), expected);
        response(json!({"type": "integer", "default": null}), json!({"type": ["integer", "null"]}));
        response(json!({"type": "string", "format": "uri"}), json!({"format": "uri-reference", "type": "string"}));
        response(json!({"type": "object"}), json!({"maxItems": 0, "type": ["object", "array"]}));
        response(json!({"type": "string", "default": "a", "maxLength": 5}), json!({"type": "string"}));
    }

    #[test]
    fn contexts_select_members() {
        let document = json!({"properties": {
            "id": {"context": ["view", "edit", "embed"]},
            "raw": {"context": ["edit"]},
            "free": {},
            "content": {"context": ["view", "edit"], "properties": {"raw": {"context": ["edit"]}, "rendered": {}}},
        }});
        let names = |context: Context| {
            let shown = shown_in(&document, Some(context));
            let names =
                |doc: &Value| doc["properties"].as_object().expect("object").keys().cloned().collect::<Vec<_>>();
            let inner = shown["properties"].get("content").map(names).unwrap_or_default();
            (names(&shown).join(" "), inner.join(" "))
        };
        assert_eq!(names(Context::VIEW), ("id free content".to_owned(), "rendered".to_owned()));
        assert_eq!(names(Context::EDIT), ("id raw free content".to_owned(), "raw rendered".to_owned()));
        assert_eq!(names(Context::EMBED), ("id free".to_owned(), String::new()));
        assert!(has_contexts(&document) && !has_contexts(&json!({"type": "string"})));
    }
}
