//! Whether every word of ours in schemas and arguments exists and has a value of its type.

use super::super::words::{KeywordError, all_fit, check, is_word, names};
use super::guarded::is_misplaced;
use super::{ArgOrigin, Linker, escape};
use cms_config::check::suggestion;
use serde_json::{Map, Value};

/// Keywords below which further documents stand, by name.
const NAMED: [&str; 3] = ["properties", "patternProperties", "definitions"];
/// Keywords that hold one document or a list of them.
const NESTED: [&str; 8] =
    ["items", "additionalProperties", "oneOf", "anyOf", "allOf", "x-args", "x-create-arg", "arg_options"];

/// How schemas of draft 4 name it; the last one names no draft.
const DRAFT_4: [&str; 2] = ["http://json-schema.org/draft-04/schema", "http://json-schema.org/schema"];

impl Linker<'_> {
    /// Checks the words of all schema files and of all declared arguments.
    pub(super) fn words(&mut self) {
        let declared = self.declared;
        let mut files: Vec<&String> = declared
            .resources
            .values()
            .chain(declared.base_resources.values())
            .map(|resource| &resource.schema)
            .collect();
        files.sort();
        files.dedup();
        for file in files.into_iter().filter(|file| !self.loaded.is_shipped_schema(file)) {
            if let Some(Value::Object(schema)) = self.schema(file) {
                self.schema_file(file, schema);
                self.document(&ArgOrigin::Schema(file.clone(), String::new()), "", schema);
            }
        }
        for (group, args) in &declared.args {
            for (arg, doc) in args {
                self.document(&ArgOrigin::Config(vec!["args".into(), group.clone(), arg.clone()]), "", doc);
            }
        }
        let tables = [("resources", &declared.resources), ("base_resources", &declared.base_resources)];
        for (table, (name, resource)) in tables.into_iter().flat_map(|(table, all)| all.iter().map(move |r| (table, r)))
        {
            let at = |rest: [&str; 3]| -> ArgOrigin {
                let path = [table, name.as_str()].into_iter().chain(rest);
                ArgOrigin::Config(path.map(str::to_owned).collect())
            };
            for (endpoint, args) in &resource.endpoints {
                for (arg, doc) in args.iter().filter_map(|(arg, doc)| Some((arg, doc.as_object()?))) {
                    self.document(&at(["endpoints", endpoint, arg]), "", doc);
                }
            }
            for (key, meta) in &resource.meta {
                self.document(&at(["meta", key, "schema"]), "", &meta.schema);
            }
        }
        let sets = declared.route_sets.iter().map(|(name, routes)| (vec!["route_sets".into(), name.clone()], routes));
        for (path, routes) in sets.chain([(vec!["routes".to_owned()], &declared.routes)]) {
            for (i, route) in routes.iter().enumerate() {
                for (n, endpoint) in route.endpoints.iter().enumerate() {
                    for (arg, doc) in endpoint.with.iter().filter_map(|(arg, doc)| Some((arg, doc.as_object()?))) {
                        let more = [i.to_string(), "endpoints".into(), n.to_string(), "with".into(), arg.clone()];
                        let path = path.iter().cloned().chain(more).collect();
                        self.document(&ArgOrigin::Config(path), "", doc);
                    }
                }
            }
        }
    }

    /// Checks the keywords at the top of a schema, which nothing would read otherwise.
    fn schema_file(&mut self, file: &str, schema: &Map<String, Value>) {
        let draft = schema.get("$schema").and_then(Value::as_str);
        let of_four = |draft: &&str| DRAFT_4.contains(&draft.trim_end_matches('#'));
        if let Some(other) = draft.filter(|draft| !of_four(draft)) {
            let message = format!("`{other}` is another draft: schemas are of draft 4");
            let hint = "write http://json-schema.org/draft-04/schema#, or leave $schema out";
            self.in_schema(file, "/$schema", message, Some(hint.into()));
        }
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        for (i, name) in required.enumerate().filter(|(_, name)| !properties.contains_key(*name)) {
            let hint = suggestion(name, properties.keys().map(String::as_str));
            self.in_schema(file, &format!("/required/{i}"), format!("`{name}` is no property"), hint);
        }
        for (name, doc) in properties {
            let has_members =
                doc.get("properties").and_then(Value::as_object).is_some_and(|members| !members.is_empty());
            if has_members && doc.get("x-meta") == Some(&Value::Bool(true)) {
                let pointer = format!("/properties/{}/properties", escape(name));
                let hint = "declare each as [resources.NAME.meta.KEY] with a schema";
                self.in_schema(file, &pointer, "keys of meta are not declared in the schema", Some(hint.into()));
            }
        }
    }

    /// The words of one document and of those in it.
    fn document(&mut self, place: &ArgOrigin, pointer: &str, doc: &Map<String, Value>) {
        let in_schema = matches!(place, ArgOrigin::Schema(..));
        let unsure = !all_fit(doc, in_schema);
        for (key, value) in doc {
            let below = || format!("{pointer}/{}", escape(key));
            if is_misplaced(key, place, pointer) {
                let message =
                    format!("`{key}` stands at a property of a type or at a declared meta value, and not here");
                let hint = "put it at the whole property or meta value, or give this a property of its own";
                self.report(place, &below(), message, Some(hint.into()));
            }
            // In changes to arguments `false` takes a word away.
            let removed = !in_schema && *value == Value::Bool(false);
            if unsure && is_word(key) && !(removed && names(false).iter().any(|word| word.name == *key)) {
                match check(key, value, in_schema) {
                    Ok(()) => {}
                    Err(KeywordError::Type(message)) => {
                        self.report(place, &below(), format!("`{key}` has a wrong value: {message}"), None);
                    }
                    Err(KeywordError::Unknown(known)) => {
                        let hint = suggestion(key, known);
                        self.report(place, &below(), format!("unknown keyword `{key}`"), hint);
                    }
                }
            }
            if NAMED.contains(&key.as_str()) {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    if let Value::Object(inner) = inner {
                        self.document(place, &format!("{}/{}", below(), escape(name)), inner);
                    }
                }
            } else if NESTED.contains(&key.as_str()) {
                match value {
                    Value::Object(inner) => self.document(place, &below(), inner),
                    Value::Array(list) => {
                        for (i, inner) in list.iter().enumerate() {
                            if let Value::Object(inner) = inner {
                                self.document(place, &format!("{}/{i}", below()), inner);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}
