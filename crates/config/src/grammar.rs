//! The JSON Schema of `routes.toml` and of overlay files: what `cms-server schema` prints, and what the loader checks
//! against.
//!
//! Derived from the types; owns the keys that a file may have beside the declaration. It does not read files.

use cms_declaration::Declaration;
use cms_declaration::units::FORMATS;
use jsonschema::Validator;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// The keys of [`FileKeys`].
pub const FILE_KEYS: [&str; 3] = ["include", "overlays", "remove"];

/// Keys of a file about other files, which are no part of the declaration itself.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FileKeys {
    /// Files whose content comes before this file's own, relative to this file. A `*` is any part of a file's name; the
    /// files of such a pattern come in the order of their names. A key may be given in one of them only; `[[routes]]` and
    /// other arrays of tables are joined.
    pub include: Vec<String>,
    /// Files that are merged over the declaration in this order, before the environment and the command line.
    pub overlays: Vec<Overlay>,
    /// In overlay files: dotted keys that are removed before the overlay is merged. An element of an array is named by
    /// itself, or by its `name`, `rel` or `path`.
    pub remove: Vec<String>,
}

/// A file that is merged over the declaration: tables are merged key by key, `"+key" = […]` appends to an array,
/// `false` removes a table, any other value replaces.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Overlay {
    /// Relative to the file that names it.
    pub file: String,
    /// Dotted keys and the values that they must have. Evaluated with all unconditional overlays, the environment and
    /// the command line applied.
    #[serde(default)]
    pub when: Map<String, Value>,
    /// The file may be absent.
    #[serde(default)]
    pub optional: bool,
}

/// The grammar that somebody holds, or a new one.
fn held(kept: &Mutex<Weak<Grammar>>, make: impl FnOnce() -> Grammar) -> Arc<Grammar> {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    kept.upgrade().unwrap_or_else(|| {
        let made = Arc::new(make());
        *kept = Arc::downgrade(&made);
        made
    })
}

/// A JSON Schema made from types, with its compiled validator.
#[derive(Debug)]
pub struct Grammar {
    document: Value,
    validator: OnceLock<Validator>,
}

impl Grammar {
    /// The grammar of the merged declaration. It has some megabytes and is read while files are: it is made again when nobody
    /// holds it.
    pub fn declaration() -> Arc<Grammar> {
        static HELD: Mutex<Weak<Grammar>> = Mutex::new(Weak::new());
        held(&HELD, || Grammar::of(schema_of::<Declaration>()))
    }

    /// The grammar of [`FileKeys`].
    pub fn file_keys() -> Arc<Grammar> {
        static HELD: Mutex<Weak<Grammar>> = Mutex::new(Weak::new());
        held(&HELD, || Grammar::of(schema_of::<FileKeys>()))
    }

    fn of(document: Value) -> Grammar {
        Grammar { document, validator: OnceLock::new() }
    }

    /// The compiled schema.
    pub fn validator(&self) -> &Validator {
        let compile = || jsonschema::draft7::new(&self.document).expect("the schema of our own types compiles");
        self.validator.get_or_init(compile)
    }

    /// The grammar of some keys at the top, which is compiled sooner than the whole. Nothing is required.
    pub fn part<'k>(&self, keys: impl Iterator<Item = &'k String>) -> Grammar {
        let known = |key: &String| Some((key.clone(), self.document["properties"].get(key)?.clone()));
        let properties: Map<String, Value> = keys.filter_map(known).collect();
        let mut definitions = Map::new();
        properties.values().for_each(|schema| self.define(schema, &mut definitions));
        let closed = &self.document["additionalProperties"];
        Grammar::of(json!({"properties": properties, "additionalProperties": closed, "definitions": definitions}))
    }

    /// Adds the definitions that a schema refers to.
    fn define(&self, schema: &Value, definitions: &mut Map<String, Value>) {
        match schema {
            Value::Object(map) => {
                let name = map.get("$ref").and_then(Value::as_str).and_then(|of| of.strip_prefix("#/definitions/"));
                if let Some(name) = name.filter(|name| !definitions.contains_key(*name)) {
                    let definition = &self.document["definitions"][name];
                    definitions.insert(name.to_owned(), definition.clone());
                    self.define(definition, definitions);
                }
                map.values().for_each(|inner| self.define(inner, definitions));
            }
            Value::Array(list) => list.iter().for_each(|inner| self.define(inner, definitions)),
            _ => {}
        }
    }

    /// The schema of the value at a path, references followed; `None` when no such key is allowed.
    pub fn at<S: AsRef<str>>(&self, path: &[S]) -> Option<&Value> {
        self.field(path).map(|schema| self.resolve(schema))
    }

    /// The schema at a path before references are followed: description and default are beside the reference.
    pub fn field<S: AsRef<str>>(&self, path: &[S]) -> Option<&Value> {
        path.iter().try_fold(&self.document, |schema, segment| self.child(schema, segment.as_ref()))
    }

    /// The keys that a table at a path may have, where they are a closed set.
    pub fn keys<S: AsRef<str>>(&self, path: &[S]) -> Vec<&str> {
        let properties = self.at(path).and_then(|schema| schema["properties"].as_object());
        properties.into_iter().flat_map(|properties| properties.keys().map(String::as_str)).collect()
    }

    /// The values that a schema lists, if it is such a choice.
    pub fn choices<'a>(&'a self, schema: &'a Value) -> Vec<&'a str> {
        let mut out = Vec::new();
        for branch in schema["oneOf"].as_array().into_iter().flatten().chain([schema]) {
            out.extend(branch["enum"].as_array().into_iter().flatten().filter_map(Value::as_str));
            out.extend(branch["const"].as_str());
        }
        out
    }

    /// The default of the value at a path, from the nearest ancestor that has one.
    pub fn default_at<S: AsRef<str>>(&self, path: &[S]) -> Option<Value> {
        let mut schema = &self.document;
        let mut value: Option<&Value> = None;
        for segment in path {
            schema = self.child(schema, segment.as_ref())?;
            value = value.and_then(|value| value.get(segment.as_ref())).or_else(|| schema.get("default"));
        }
        value.cloned()
    }

    fn child<'a>(&'a self, schema: &'a Value, segment: &str) -> Option<&'a Value> {
        let schema = self.resolve(schema);
        match schema["properties"].get(segment) {
            Some(property) => Some(property),
            None if schema["items"].is_object() => Some(&schema["items"]),
            None => schema.get("additionalProperties").filter(|entry| entry.as_bool() != Some(false)),
        }
    }

    /// Follows references and wrappers of one (`allOf: [x]`, `anyOf: [x, null]`).
    pub fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let mut schema = schema;
        loop {
            let wrapped = match (&schema["$ref"], &schema["allOf"], &schema["anyOf"]) {
                (Value::String(reference), _, _) => self.document.pointer(reference.trim_start_matches('#')),
                (_, Value::Array(parts), _) if parts.len() == 1 => parts.first(),
                // The alternative to null, or to `false` for off.
                (_, _, Value::Array(parts)) => {
                    parts.iter().find(|part| part["type"] != json!("null") && part.get("const").is_none())
                }
                _ => return schema,
            };
            let Some(inner) = wrapped else { return schema };
            schema = inner;
        }
    }
}

/// The JSON Schema of each file of a declaration, `schemas/routes.schema.json`, for editors. A file may have any part: nothing is
/// required, `false` removes an entry, `"+key"` appends. Draft 7: what the TOML language servers of editors support.
pub fn routes_document() -> Value {
    let mut document = schema_of::<Declaration>();
    let keys = schema_of::<FileKeys>();
    for part in ["properties", "definitions"] {
        let mut merged = keys[part].as_object().cloned().unwrap_or_default();
        merged.extend(document[part].as_object().cloned().unwrap_or_default());
        document[part] = Value::Object(merged);
    }
    loosen(&mut document);
    document["title"] = json!("routes.toml");
    document["description"] = json!("The declaration of a site's REST contract, or a part of it.");
    document
}

/// The JSON Schema of an overlay, `schemas/overlay.schema.json`: files of other versions name it.
pub fn overlay_document() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "overlay",
        "description": "A file that is merged over routes.toml.",
        "allOf": [{"$ref": "routes.schema.json"}]
    })
}

fn schema_of<T: JsonSchema>() -> Value {
    let mut schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<T>().to_value();
    without_formats(&mut schema);
    schema
}

/// schemars writes Rust's integer types as `format`. Readers of the schema do not need it, and the check of
/// `uint32` needs `maximum` instead.
fn without_formats(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            let format = map.get("format").and_then(Value::as_str).map(str::to_owned);
            if let Some(format) = format.filter(|format| FORMATS.iter().all(|(ours, _)| ours != format)) {
                map.remove("format");
                if format == "uint32" {
                    map.entry("maximum").or_insert(json!(u32::MAX));
                }
            }
            map.values_mut().for_each(without_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(without_formats),
        _ => {}
    }
}

fn loosen(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.get("required").is_some_and(Value::is_array) {
                map.remove("required");
            }
            map.values_mut().for_each(loosen);
            if map.get("additionalProperties").is_some_and(Value::is_object)
                && let Some(entry) = map.remove("additionalProperties")
            {
                map.insert("additionalProperties".into(), json!({"anyOf": [{"const": false}, entry]}));
            }
            if map.contains_key("properties") && map.get("additionalProperties") == Some(&json!(false)) {
                map.insert("patternProperties".into(), json!({"^\\+": {"type": "array"}}));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(loosen),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_schemas() {
        let grammar = Grammar::declaration();
        let check = |path: &str, expected: Option<&str>| {
            let path: Vec<&str> = path.split('.').collect();
            let found = grammar.at(&path).map(|schema| schema["type"].to_string());
            assert_eq!(found.as_deref(), expected, "{path:?}");
        };
        check("site.prefix", Some("\"string\""));
        check("site.prefx", None);
        check("roles.editor.capabilities.0", Some("\"string\""));
        check("resources.posts.links.2.when.revised", Some("\"boolean\""));
        check("route_sets.collection.0.endpoints.1.methods", Some("\"array\""));
        assert!(grammar.keys(&["site"]).contains(&"prefix"));
        assert_eq!(grammar.choices(grammar.at(&["storage", "migrate"]).expect("known")), ["boot", "auto", "never"]);
        assert!(grammar.choices(grammar.at(&["resources", "x", "family"]).expect("known")).contains(&"singleton"));
    }

    #[test]
    fn defaults_are_known() {
        let grammar = Grammar::declaration();
        let check = |path: &[&str], expected: Option<Value>| assert_eq!(grammar.default_at(path), expected, "{path:?}");
        check(&["site", "prefix"], Some(json!("cms")));
        check(&["server", "max_depth"], Some(json!(64)));
        check(&["site"], Some(grammar.default_at(&["site"]).expect("has one")));
        check(&["site", "nothing"], None);
    }

    #[test]
    fn the_document_accepts_what_files_say() {
        let routes = jsonschema::draft7::new(&routes_document()).expect("compiles");
        let check = |document: Value, valid: bool| assert_eq!(routes.is_valid(&document), valid, "{document}");
        check(json!({"include": ["a.toml"], "site": {"prefix": "wp"}}), true);
        check(json!({"overlays": [{"file": "a.toml", "when": {"site.prefix": "wp"}}]}), true);
        check(json!({"resources": {"posts": {"base": "articles"}}}), true);
        check(json!({"resources": {"posts": false}}), true);
        check(json!({"resources": {"posts": {"+supports": ["x"]}}}), true);
        check(json!({"resources": {"papers": {"extends": "posts", "+supports": ["x"]}}}), true);
        check(json!({"site": {"prefx": "wp"}}), false);
        check(json!({"server": {"max_depth": -1}}), false);
    }
}
