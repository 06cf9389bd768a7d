//! Registered meta: what the text that an import stored under a key is by its declaration.
//!
//! Requests store values of the declared type. Imports store every value as the text that the export has, so that a
//! declaration that comes later finds all of it; what that text means is decided here, when it is shown.

use super::guarded::FieldRights;
use cms_declaration::Meta;
use cms_schema::{Dialect, Schema, Type};
use cms_text::php;
use serde_json::{Map, Value, json};

/// The declared type of a meta key's values, compiled.
#[derive(Clone, Debug)]
pub struct MetaType {
    /// `None`: the declaration was refused, or values may be texts.
    typed: Option<Schema>,
    /// The capabilities that reading and writing the values need.
    pub rights: FieldRights,
}

impl MetaType {
    /// Compiles a declaration.
    pub fn of(meta: &Meta, dialect: Dialect) -> MetaType {
        let compiled = Schema::compile(&Value::Object(meta.schema.clone()), dialect).ok();
        MetaType {
            rights: FieldRights::default(),
            typed: compiled.filter(|schema| !schema.types().is_empty() && !schema.types().contains(&Type::String)),
        }
    }

    /// The value of a stored one; `None` when a stored text does not fit.
    pub fn read(&self, stored: &Value, declared: &Map<String, Value>) -> Option<Value> {
        let (Some(schema), Value::String(text)) = (&self.typed, stored) else { return Some(stored.clone()) };
        if text.is_empty()
            && schema.types().iter().any(|one| matches!(one, Type::Boolean | Type::Integer | Type::Number))
        {
            return Some(empty(declared));
        }
        let structured = php::unserialize(text).or_else(|| json_of(text, schema));
        let value = structured.map_or_else(|| stored.clone(), |value| shaped(value, declared));
        schema.accept("meta", value).ok()
    }
}

/// The list or object that a text holds as JSON, where the declaration wants one: some plugins store it so.
fn json_of(text: &str, schema: &Schema) -> Option<Value> {
    let wanted = schema.types().iter().any(|one| matches!(one, Type::Array | Type::Object));
    let looks = wanted && text.trim_start().starts_with(['[', '{']);
    looks.then(|| serde_json::from_str(text).ok()).flatten()
}

/// Lists and objects of PHP are one type: what an array with numbers for keys is says the declaration.
fn shaped(value: Value, declared: &Map<String, Value>) -> Value {
    let wants = |name: &str| match declared.get("type") {
        Some(Value::Array(types)) => types.contains(&json!(name)),
        Some(one) => one == name,
        None => false,
    };
    let member = |name: &str| declared.get("properties")?.get(name)?.as_object();
    let [items, others] = ["items", "additionalProperties"].map(|key| declared.get(key).and_then(Value::as_object));
    let below = |value: Value, schema: Option<&Map<String, Value>>| match schema {
        Some(schema) => shaped(value, schema),
        None => value,
    };
    match value {
        Value::Object(map)
            if wants("array") && !wants("object") && map.keys().all(|key| key.parse::<i64>().is_ok()) =>
        {
            map.into_iter().map(|(_, value)| below(value, items)).collect()
        }
        Value::Array(list) if wants("object") && !wants("array") => shaped(php::list_to_object(list).into(), declared),
        Value::Array(list) => list.into_iter().map(|value| below(value, items)).collect(),
        Value::Object(map) => {
            let shape = |(key, value): (String, Value)| {
                let schema = member(&key).or(others);
                (key, below(value, schema))
            };
            Value::Object(map.into_iter().map(shape).collect())
        }
        other => other,
    }
}

/// The value of a key under which nothing is stored.
pub fn empty(schema: &Map<String, Value>) -> Value {
    match schema.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => json!(0),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_what_is_declared() {
        let check = |schema: Value, text: &str, expected: Option<Value>| {
            let Value::Object(schema) = schema else { panic!("{schema} is no schema") };
            let meta = Meta { schema: schema.clone(), single: true, beside: false };
            let read = MetaType::of(&meta, Dialect::default()).read(&json!(text), &schema);
            assert_eq!(read, expected, "{text} as {schema:?}");
        };
        let (integer, number) = (json!({"type": "integer"}), json!({"type": "number"}));
        let integers = json!({"type": "array", "items": {"type": "integer"}});
        let object = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "boolean"}}});
        check(integer.clone(), "7", Some(json!(7)));
        check(integer.clone(), "", Some(json!(0)));
        check(integer.clone(), "seven", None);
        check(integer.clone(), "i:7;", Some(json!(7)));
        check(number, "12.5", Some(json!(12.5)));
        check(json!({"type": "boolean"}), "1", Some(json!(true)));
        check(json!({"type": "boolean"}), "", Some(json!(false)));
        check(json!({"type": "boolean"}), "perhaps", None);
        check(integers.clone(), "[37, \"10\"]", Some(json!([37, 10])));
        check(integers.clone(), "[37", None);
        check(json!({"type": "object", "additionalProperties": true}), "{\"a\": [1]}", Some(json!({"a": [1]})));
        check(integers.clone(), "a:2:{i:0;i:37;i:1;s:2:\"10\";}", Some(json!([37, 10])));
        check(integers.clone(), "a:2:{i:3;i:37;i:8;s:2:\"10\";}", Some(json!([37, 10])));
        check(integers.clone(), "a:1:{i:0;s:3:\"one\";}", None);
        check(integers, "a:1:{i:0;s:9:\"cut", None);
        check(object.clone(), "a:2:{s:1:\"a\";s:1:\"x\";s:1:\"b\";b:1;}", Some(json!({"a": "x", "b": true})));
        check(object.clone(), "a:0:{}", Some(json!({})));
        check(object, "plain", None);
        let rows = json!({"type": "array", "items": {"type": "object", "additionalProperties": {"type": "array"}}});
        check(rows, "a:1:{i:0;a:1:{i:0;a:1:{i:5;i:1;}}}", Some(json!([{"0": [1]}])));
        check(json!({"type": "string"}), "a:1:{i:0;i:1;}", Some(json!("a:1:{i:0;i:1;}")));
        check(json!({}), "7", Some(json!("7")));
    }
}
