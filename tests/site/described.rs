//! The shipped declarations' description, and what it promises of a response. Every response that a test gets from them is held
//! to it: its status is one of the operation's, its body fits the schema, an error's code is listed.

use super::server::{Answer, stdout};
use cms_core::registry::path_template::PathTemplate;
use jsonschema::Draft;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock};

/// The description of the shipped declarations under a prefix.
pub struct Described {
    pub document: Value,
    /// Path templates with their expressions, the more literal ones first.
    paths: Vec<(String, regex::Regex)>,
    /// The document by its name, where references find it.
    registry: jsonschema::Registry<'static>,
    validators: Mutex<HashMap<String, Arc<jsonschema::Validator>>>,
}

/// The name of the document in references.
const NAME: &str = "urn:description";

/// The description under a prefix, made once.
pub fn under(prefix: &str) -> &'static Described {
    static ALL: OnceLock<BTreeMap<&'static str, Described>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let made =
            |prefix| (prefix, Described::new(&stdout(&["openapi", "--set", &format!("site.prefix={prefix}")], "")));
        ["cms", "wp"].map(made).into_iter().collect()
    });
    all.get(prefix).unwrap_or_else(|| panic!("no description under {prefix}"))
}

impl Described {
    /// Reads a description.
    pub fn new(text: &str) -> Described {
        let document: Value = serde_json::from_str(text).expect("a description");
        let compile = |path: &str, segment: &str| {
            let captures = regex::Regex::new(r"\{[^}]+\}").expect("an expression");
            let parts: Vec<String> = captures.split(path).map(regex::escape).collect();
            regex::Regex::new(&format!("^{}$", parts.join(segment))).expect("an expression")
        };
        // A capture is one segment; those of some paths hold slashes, so a second look allows them.
        let all = document["paths"].as_object().expect("paths").keys();
        let of = |segment: &'static str| all.clone().map(move |path| (path.clone(), compile(path, segment)));
        let (mut paths, mut loose): (Vec<_>, Vec<_>) = (of("[^/]+").collect(), of(".+").collect());
        for list in [&mut paths, &mut loose] {
            list.sort_by_key(|(path, _)| (path.matches('{').count(), std::cmp::Reverse(path.len())));
        }
        paths.append(&mut loose);
        let registry = jsonschema::Registry::new().add(NAME, document.clone()).and_then(|registry| registry.prepare());
        Described { document, paths, registry: registry.expect("a description"), validators: Mutex::default() }
    }

    /// The operation that a request reaches.
    fn operation(&self, method: &str, path: &str) -> Option<(&str, &Value)> {
        let path = path.trim_end_matches('/');
        let matching = self.paths.iter().filter(|(_, pattern)| pattern.is_match(path));
        matching
            .filter_map(|(path, _)| Some((&**path, self.document["paths"][path].get(method.to_lowercase())?)))
            .next()
    }

    /// A validator of a schema of the description.
    pub fn validator(&self, schema: &Value) -> Arc<jsonschema::Validator> {
        let mut all = self.validators.lock().expect("no panic holds it");
        // A schema refers to the document, which is megabytes, instead of holding a copy of it.
        let made = |text: &String| {
            let text = text.replace("\"$ref\":\"#", &format!("\"$ref\":\"{NAME}#"));
            let schema = serde_json::from_str(&text).expect("a schema");
            let options = jsonschema::options().with_draft(Draft::Draft202012).with_registry(&self.registry);
            Arc::new(options.build(&schema).unwrap_or_else(|error| panic!("{schema}: {error}")))
        };
        all.entry(schema.to_string()).or_insert_with_key(made).clone()
    }

    /// The difference of a response from what is described; `None`: there is none.
    pub fn objection(&self, method: &str, path: &str, answer: &Answer) -> Option<String> {
        let (template, operation) = self.operation(method, path)?;
        let responses = &operation["responses"];
        // Where a capture does not fit, no route does.
        if answer.header("content-type") == Some("application/x-ndjson") {
            let lines = &responses["200"]["content"]["application/x-ndjson"];
            return lines.is_null().then(|| format!("{template}: lines are not described"));
        }
        if answer.status == 304 || answer.body.is_null() || answer.code() == "rest_no_route" {
            return None;
        }
        let Some(response) = responses.get(answer.status.to_string()) else {
            return Some(format!("{template}: {} is not described: {}", answer.status, answer.code()));
        };
        let schema = &response["content"]["application/json"]["schema"];
        if answer.status >= 400 {
            let codes = schema["properties"]["code"]["examples"].as_array().cloned().unwrap_or_default();
            let listed = codes.iter().any(|code| code == answer.code());
            let said = || format!("{template}: the code {} is not listed for {}", answer.code(), answer.status);
            return (!listed).then(said);
        }
        if schema.is_null() {
            return None;
        }
        self.validator(schema).validate(&answer.body).err()?;
        // The alternative that fits best says what is wrong.
        let (mut alternatives, mut found) = (Vec::new(), Vec::new());
        references(schema, &mut alternatives);
        let one = answer.body.get("previous").or(answer.body.get(0)).unwrap_or(&answer.body);
        for name in alternatives {
            let validator = self.validator(&json!({"$ref": name}));
            let errors = validator.iter_errors(one).map(|error| format!("{} {error}", error.instance_path()));
            found.push((name, errors.map(|text| text.chars().take(300).collect()).collect::<Vec<String>>()));
        }
        found.sort_by_key(|(_, errors)| errors.len());
        Some(format!("{template}: {:?}", found.first()))
    }
}

/// The schemas that a schema refers to.
fn references(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(map) => {
            found.extend(map.get("$ref").and_then(Value::as_str).map(str::to_owned));
            map.values().for_each(|value| references(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

/// The path of a route as descriptions write it.
pub fn path_of(pattern: &str) -> String {
    PathTemplate::of(pattern).uri_template()
}
