//! Examples: values that follow from what is declared. A declared one (`x-example`) comes first; else the default, a
//! choice, or a value of the type within its bounds. Nothing is read from the database, so no key of a row is invented
//! for a request.

use crate::registry::args::Arg;
use crate::registry::resource::{Property, PropertySource, Resource};
use crate::registry::{Endpoint, Registry, Route};
use serde_json::{Map, Value, json};

/// Texts that patterns of usual kinds accept, tried in this order.
const TEXTS: &[&str] = &[
    "a",
    "ab",
    "abc",
    "a-b",
    "1",
    "12",
    "123",
    "1234",
    "A",
    "AB",
    "ABC",
    "en",
    "en_US",
    "2026-05-01",
    "#336699",
    "1.0",
];

/// The address of the site in examples.
const SITE: &str = "https://example.org";

/// A document with all members of the schema of a context. Its properties are those of the first resource, or of the one that
/// it is shown below.
pub(super) fn document(shown: &Value, resources: &[&Resource], registry: &Registry) -> Value {
    let rest_path = &registry.site.rest_path;
    let entry = resources.first().and_then(|resource| registry.entries(resource).first());
    let declared = |name: &str| resources.iter().filter_map(|of| of.property(name)).collect::<Vec<_>>();
    let mut document = members(shown, &declared, entry);
    if let Some(resource) = resources.first().filter(|resource| resource.template.parameters.is_empty()) {
        let key = match &document[&*resource.key] {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let at = |path: &str| json!([{"href": format!("{SITE}{rest_path}{path}")}]);
        if let Some(key) = key.filter(|_| resource.stores_rows()) {
            document["_links"] = json!({"self": at(&resource.item_path(&key)), "collection": at(&resource.path)});
        }
    }
    document
}

/// The members of an object.
fn members<'p>(schema: &Value, declared: &dyn Fn(&str) -> Vec<&'p Property>, entry: Option<&Value>) -> Value {
    let all = schema["properties"].as_object().into_iter().flatten();
    let shown = all.filter_map(|(name, doc)| {
        let properties = declared(name);
        let declared = properties.iter().any(|property| property.example.is_some());
        if !declared && properties.iter().any(|property| property.optional) {
            return None;
        }
        let of_entry = entry.and_then(|entry| entry.get(name)).filter(|value| !declared && is_of_type(value, doc));
        let value = match of_entry {
            Some(given) => within(given, doc),
            None => value(name, doc, &properties)?,
        };
        Some((name.clone(), value))
    });
    Value::Object(shown.collect())
}

/// The value of a property: the declared one, or one that follows from the schema.
fn value(name: &str, doc: &Value, properties: &[&Property]) -> Option<Value> {
    if let Some(declared) = properties.iter().find_map(|property| property.example.as_ref()) {
        return Some(within(declared, doc));
    }
    match properties.first().map(|property| &property.source) {
        Some(PropertySource::Fixed(value)) => Some(value.clone()),
        Some(PropertySource::Object(children)) => {
            let named = |name: &str| children.iter().filter(|child| child.name == name).collect();
            Some(members(doc, &named, None))
        }
        _ => {
            let stored = properties.iter().any(|property| property.write.is_some());
            derived(doc, name, stored)
        }
    }
}

/// The part of a value that a schema describes.
fn within(value: &Value, doc: &Value) -> Value {
    match (value, doc["properties"].as_object()) {
        (Value::Object(map), Some(known)) if doc.get("additionalProperties").is_none_or(|more| more == false) => {
            let kept = map.iter().filter_map(|(name, value)| Some((name.clone(), within(value, known.get(name)?))));
            Value::Object(kept.collect())
        }
        (Value::Array(list), _) if doc["items"].is_object() => {
            Value::Array(list.iter().map(|item| within(item, &doc["items"])).collect())
        }
        _ => value.clone(),
    }
}

/// A value that follows from a schema alone; `stored`: what is sent is normalised, so the text is one that stays as it is.
pub(super) fn derived(doc: &Value, name: &str, stored: bool) -> Option<Value> {
    let said = [&doc["example"], &doc["default"]];
    if let Some(value) = said.into_iter().find(|value| !is_empty(value) && is_of_type(value, doc)) {
        return Some(within(value, doc));
    }
    let listed = match &doc["enum"] {
        Value::Array(list) => list.iter().collect(),
        Value::Object(map) => map.values().collect(),
        _ => Vec::new(),
    };
    if let Some(choice) = listed.iter().find(|value| !is_empty(value)).or(listed.first()) {
        return Some(Value::clone(choice));
    }
    match types(doc).into_iter().find(|name| *name != "null") {
        Some("string") => Some(Value::String(text(doc, name, stored))),
        Some("integer") => number(doc).map(|number| json!(number.ceil() as i64)),
        Some("number") => number(doc).map(|number| json!(number)),
        Some("boolean" | "bool") => Some(json!(true)),
        Some("array") => list(doc, name, stored),
        Some("object") => Some(object(doc)),
        Some(_) => None,
        None => ["oneOf", "anyOf"].iter().find_map(|word| {
            let alternatives = doc[*word].as_array()?;
            alternatives.iter().find_map(|doc| derived(doc, name, stored))
        }),
    }
}

fn object(doc: &Value) -> Value {
    let all = doc["properties"].as_object().into_iter().flatten();
    Value::Object(all.filter_map(|(name, doc)| Some((name.clone(), derived(doc, name, false)?))).collect())
}

fn list(doc: &Value, name: &str, stored: bool) -> Option<Value> {
    let least = doc["minItems"].as_u64().unwrap_or(0).max(1);
    if doc["maxItems"] == 0 || !doc["items"].is_object() {
        return (doc["minItems"].as_u64().unwrap_or(0) == 0).then(|| json!([]));
    }
    let choices = doc["items"]["enum"].as_array().filter(|list| list.len() as u64 >= least);
    let items: Vec<Value> = match choices {
        Some(choices) => choices.iter().take(usize::try_from(least).ok()?).cloned().collect(),
        None if least == 1 => vec![derived(&doc["items"], name, stored)?],
        None => return None,
    };
    Some(Value::Array(items))
}

/// A number within the bounds: 1 where that is one, else the nearest to it.
fn number(doc: &Value) -> Option<f64> {
    let step = doc["multipleOf"].as_f64().unwrap_or(1.0);
    let beyond = |flag: &str| if doc[flag] == true { step } else { 0.0 };
    let least = doc["minimum"].as_f64().map_or(f64::MIN, |least| least + beyond("exclusiveMinimum"));
    let most = doc["maximum"].as_f64().map_or(f64::MAX, |most| most - beyond("exclusiveMaximum"));
    let near = (1_f64.max(least).min(most) / step).ceil() * step;
    (near >= least && near <= most).then_some(near)
}

/// A text of the format, or the name of the value.
fn text(doc: &Value, name: &str, stored: bool) -> String {
    match doc["format"].as_str() {
        Some("date-time") => return "2026-05-01T09:30:00".to_owned(),
        Some("date") => return "2026-05-01".to_owned(),
        Some("email") => return "ann@example.org".to_owned(),
        Some("uri") => return format!("{SITE}/"),
        Some("ip") => return "192.0.2.1".to_owned(),
        Some("uuid") => return "9b1d1c0e-5b1f-4a39-8c55-0d6a2f0a4c11".to_owned(),
        Some("hex-color") => return "#336699".to_owned(),
        _ => {}
    }
    let words = name.trim_start_matches('_').replace(['_', ':', '.'], if stored { "-" } else { " " });
    let mut written = match stored {
        true => words.to_lowercase(),
        false => {
            let mut letters = words.chars();
            letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
        }
    };
    let bound = |word: &str| doc[word].as_u64().and_then(|bound| usize::try_from(bound).ok());
    if let Some(least) = bound("minLength").filter(|least| *least <= 200) {
        while written.chars().count() < least {
            written.push('a');
        }
    }
    bound("maxLength").map_or(written.clone(), |most| written.chars().take(most).collect())
}

fn types(doc: &Value) -> Vec<&str> {
    match &doc["type"] {
        Value::String(one) => vec![one],
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

fn is_of_type(value: &Value, doc: &Value) -> bool {
    let types = types(doc);
    types.is_empty()
        || types.into_iter().any(|name| match name {
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "boolean" | "bool" => value.is_boolean(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            _ => value.is_null(),
        })
}

/// A body that the server takes: what is required, what has a declared example, and what a resource declares of its own.
/// `None` where nothing is known that can be sent: a required key of another resource's row above all.
pub(super) fn body_example(route: &Route, endpoint: &Endpoint, owner: Option<&Resource>) -> Option<Value> {
    let mut body = Map::new();
    for arg in endpoint.args.args.iter().filter(|arg| !route.captures.contains(&arg.name)) {
        let property = owner.and_then(|resource| resource.property(&arg.name)).filter(|own| !own.readonly);
        let is_own = |property: &Property| property.own && !property.refers && property.among.is_none();
        let typical = match &arg.example {
            Some(example) => !example.is_null(),
            None => property.is_some_and(is_own),
        };
        if !typical && !arg.required {
            continue;
        }
        match argument(arg, owner, property) {
            Some(value) => drop(body.insert(arg.name.clone(), value)),
            None if arg.required => return None,
            None => {}
        }
    }
    (!body.is_empty()).then_some(Value::Object(body))
}

/// A value that an argument takes: the declared one, or one as documents show it where they do.
fn argument(arg: &Arg, owner: Option<&Resource>, property: Option<&Property>) -> Option<Value> {
    let declared = arg.example.as_ref().filter(|example| !example.is_null());
    if declared.is_none() && property.is_some_and(|property| property.refers) {
        return None;
    }
    let shown = || {
        let (resource, property) = owner.zip(property)?;
        value(&arg.name, &resource.schema["properties"][&arg.name], &[property])
    };
    let fits = |value: &Value| arg.schema.check(&arg.name, value).is_ok();
    if let Some(json) = &arg.json {
        let mut value = declared.cloned().or_else(shown)?;
        if let Some(members) = value.as_object_mut() {
            members.retain(|name, value| !json.absent.contains(name) && !is_empty(value));
        }
        let text = value.to_string();
        return json.read(&arg.name, &text).is_ok().then_some(Value::String(text)).filter(fits);
    }
    if let Some(declared) = declared.filter(|declared| fits(declared)) {
        return Some(declared.clone());
    }
    let stored = property.is_some_and(|property| property.write.is_some());
    let followed = [shown(), derived(&arg.shown, &arg.name, stored)].into_iter().flatten();
    let texts = TEXTS.iter().map(|text| json!(text));
    followed.chain(texts).find(|value| !is_empty(value) && fits(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_follow_from_schemas() {
        let check = |doc: Value, expected: Value| {
            let found = derived(&doc, "first_name", false).unwrap_or(Value::Null);
            assert_eq!(found, expected, "{doc}");
            // Dates of the contract have no zone.
            let judged = !expected.is_null() && doc.get("format").is_none();
            let fits = !judged || jsonschema::draft4::new(&doc).expect("a schema").is_valid(&found);
            assert!(fits, "{found} does not fit {doc}");
        };
        check(json!({"type": "string"}), json!("First name"));
        check(json!({"type": "string", "maxLength": 3}), json!("Fir"));
        check(json!({"type": "string", "minLength": 12}), json!("First nameaa"));
        check(json!({"type": "string", "default": "", "enum": ["", "nb"]}), json!("nb"));
        check(json!({"type": "string", "default": "x"}), json!("x"));
        check(json!({"type": ["null", "string"], "format": "date-time"}), json!("2026-05-01T09:30:00"));
        check(json!({"type": "integer"}), json!(1));
        check(json!({"type": "integer", "minimum": 10, "exclusiveMinimum": true}), json!(11));
        check(json!({"type": "integer", "maximum": -2}), json!(-2));
        check(json!({"type": "integer", "minimum": 4, "multipleOf": 5}), json!(5));
        check(json!({"type": "integer", "minimum": 6, "maximum": 9, "multipleOf": 5}), json!(null));
        check(json!({"type": "number", "maximum": 0.5, "multipleOf": 0.25}), json!(0.5));
        check(json!({"type": "array", "items": {"type": "boolean"}}), json!([true]));
        check(json!({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2}), json!(["a", "b"]));
        check(json!({"type": "array", "items": {"type": "string"}, "minItems": 2}), json!(null));
        check(json!({"type": "array"}), json!([]));
        check(json!({"type": "object", "properties": {"a": {"type": "integer"}}}), json!({"a": 1}));
        check(json!({"oneOf": [{"type": "integer", "minimum": 3}, {"type": "string"}]}), json!(3));
        assert_eq!(derived(&json!({"type": "string"}), "first_name", true), Some(json!("first-name")));
        let named = |name: &str| derived(&json!({"type": "string"}), name, false);
        assert_eq!((named("\u{e5}r"), named("_")), (Some(json!("\u{c5}r")), Some(json!(""))));
    }

    #[test]
    fn a_declared_value_shows_what_the_schema_shows() {
        let doc = json!({"properties": {"rendered": {}, "list": {"items": {"properties": {"a": {}}}}}});
        let given = json!({"raw": "a", "rendered": "b", "list": [{"a": 1, "b": 2}]});
        assert_eq!(within(&given, &doc), json!({"rendered": "b", "list": [{"a": 1}]}));
        assert_eq!(within(&given, &json!({"additionalProperties": {}, "properties": {"raw": {}}})), given);
    }
}
