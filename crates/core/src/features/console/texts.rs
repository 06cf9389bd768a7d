//! The texts of the description that people read, and their translations (`translations`): those in the description itself
//! are replaced, those that the console finds in `OPTIONS` are listed beside it.
//!
//! The interface itself stays in the language of the declarations.

use super::{describe, fields};
use crate::behaviours::dynamic::phrases;
use crate::model::Method;
use crate::registry::Registry;
use crate::registry::resource::Resource;
use crate::registry::roles::{Roles, StoredRoles};
use crate::registry::views::{self, humanize_name};
use cms_declaration::translations::Translator;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Labels that the console shows, as `labels` of a resource names them. A test compares the list with its source.
pub const LABELS: [&str; 5] = ["add_new_item", "items_list", "not_found", "not_found_in_trash", "search_items"];

/// Translates a description. A text that has no translation stays as it is declared.
pub fn translate(registry: &Registry, description: &mut Value, translator: &Translator<'_>) {
    let mut listed: BTreeMap<String, &str> = BTreeMap::new();
    for document in description["resources"].as_array().into_iter().flatten() {
        let said = outlined(registry, document).into_iter();
        listed.extend(said.filter_map(|text| translator.get(&text).map(|translated| (text, translated))));
    }
    description["texts"] = json!(listed);
    each(description, &mut |text| {
        if let Some(translated) = translator.get(text) {
            translated.clone_into(text);
        }
    });
}

/// Every text that a translation can have: of dynamic blocks, and of what the console shows to somebody, or of all that is
/// declared.
pub fn all(registry: &Registry, shown: bool) -> BTreeSet<String> {
    let is_shown = |resource: &&Resource| {
        let mut endpoints = describe::endpoints(registry, resource, true);
        !shown
            || endpoints.any(|(route, endpoint)| {
                !endpoint.methods.contains(&Method::Get) || describe::operation_name(route, endpoint) == Some("list")
            })
    };
    let roles = Roles::of(registry, &StoredRoles::new());
    let shown = registry.resources.iter().filter(is_shown);
    let documents: Vec<Value> = shown.map(|one| document(registry, &roles, one)).collect();
    let groups = registry.declaration.view_groups.iter();
    let groups: Vec<Value> = groups.map(|(name, group)| json!({"name": name, "label": group.label})).collect();
    let mut description = json!({"groups": groups, "resources": documents, "states": describe::states(registry)});
    let mut found = of(registry, &mut description);
    found.extend(phrases().map(str::to_owned));
    found
}

/// The texts of a description, and of what it leads to.
fn of(registry: &Registry, description: &mut Value) -> BTreeSet<String> {
    let documents = description["resources"].as_array().into_iter().flatten();
    let mut found: BTreeSet<String> = documents.flat_map(|document| outlined(registry, document)).collect();
    each(description, &mut |text| {
        found.insert(text.clone());
    });
    found.remove("");
    found
}

/// The members of a resource's description that follow from the declarations alone.
pub fn document(registry: &Registry, roles: &Roles, resource: &Resource) -> Value {
    let declared = &resource.declared;
    let title = resource.schema["title"].as_str().unwrap_or(&resource.name);
    let labels = declared.labels.iter().filter(|(key, _)| LABELS.contains(&key.as_str()));
    json!({
        "name": resource.name,
        "label": describe::label(resource),
        "singular": declared.labels.get("singular_name").cloned().unwrap_or_else(|| humanize_name(title)),
        "description": declared.listing.description.clone().unwrap_or_default(),
        "labels": labels.collect::<IndexMap<_, _>>(),
        "fields": fields::hints(registry, roles, resource),
        "view": views::view(registry, resource),
    })
}

/// Passes every text of a description to a function, which may replace it.
fn each(description: &mut Value, visit: &mut dyn FnMut(&mut String)) {
    for part in ["groups", "states"] {
        list(description, part).for_each(|one| member(one, "label", visit));
    }
    for document in list(description, "resources") {
        for key in ["label", "singular", "description"] {
            member(document, key, visit);
        }
        values(document, "labels").for_each(|label| text(label, visit));
        for field in values(document, "fields") {
            for key in ["label", "help"] {
                member(field, key, visit);
            }
            values(field, "labels").for_each(|label| text(label, visit));
            if let Some(options) = field.get_mut("options") {
                member(options, "placeholder", visit);
            }
        }
        if let Some(view) = document.get_mut("view") {
            list(view, "view_list").for_each(|one| member(one, "title", visit));
            view.get_mut("form").into_iter().for_each(|form| fields_of(form, "fields", visit));
        }
    }
}

/// The fields of a form, or of a group of them.
fn fields_of(group: &mut Value, key: &str, visit: &mut dyn FnMut(&mut String)) {
    for field in list(group, key) {
        for key in ["label", "description"] {
            member(field, key, visit);
        }
        fields_of(field, "children", visit);
    }
}

fn list<'v>(value: &'v mut Value, key: &str) -> impl Iterator<Item = &'v mut Value> {
    value.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten()
}

fn values<'v>(value: &'v mut Value, key: &str) -> impl Iterator<Item = &'v mut Value> {
    value.get_mut(key).and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut)
}

fn member(value: &mut Value, key: &str, visit: &mut dyn FnMut(&mut String)) {
    if let Some(member) = value.get_mut(key) {
        text(member, visit);
    }
}

fn text(value: &mut Value, visit: &mut dyn FnMut(&mut String)) {
    if let Value::String(text) = value {
        visit(text);
    }
}

/// Texts that the console reads of a resource in `OPTIONS`: names, titles, descriptions and values of properties, of
/// arguments of requests that change something, and names of operations.
fn outlined(registry: &Registry, document: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let Some(resource) = document["name"].as_str().and_then(|name| registry.resource(name)) else { return found };
    let hints = &document["fields"];
    let mut outline = |name: &str, schema: &Value| {
        TextCollector { hints, found: &mut found }.property(name, name, schema);
    };
    for (name, schema) in resource.schema["properties"].as_object().into_iter().flatten() {
        outline(name, schema);
    }
    let endpoints = describe::endpoints(registry, resource, true);
    let mut operations = Vec::new();
    for (route, endpoint) in endpoints.filter(|(_, endpoint)| !endpoint.methods.contains(&Method::Get)) {
        operations.extend(describe::operation_name(route, endpoint).map(humanize_name));
        endpoint.args.args.iter().filter(|arg| arg.listed).for_each(|arg| outline(&arg.name, &arg.shown));
    }
    found.extend(operations);
    found
}

/// Gathers the texts of schemas.
struct TextCollector<'a> {
    hints: &'a Value,
    found: &'a mut BTreeSet<String>,
}

impl TextCollector<'_> {
    /// A property, by its name and its path in the record.
    fn property(&mut self, name: &str, path: &str, schema: &Value) {
        if self.hints[path].get("label").is_none() && schema["title"].as_str().is_none_or(str::is_empty) {
            self.found.insert(humanize_name(name));
        }
        self.schema(path, schema);
    }

    fn schema(&mut self, path: &str, schema: &Value) {
        let Some(schema) = schema.as_object() else { return };
        let texts = |word: &str| schema.get(word).and_then(Value::as_str);
        let members = |word: &str| schema.get(word).and_then(Value::as_object).into_iter().flatten();
        let items = |word: &str| schema.get(word).and_then(Value::as_array).into_iter().flatten();
        for key in ["title", "description"] {
            let told = key == "description" && self.hints[path].get("help").is_some_and(|help| help != "");
            self.found.extend(texts(key).filter(|_| !told).map(str::to_owned));
        }
        let labels = &self.hints[path]["labels"];
        let named = |value: &&str| labels.get(value).is_none();
        let choices = items("enum").filter_map(Value::as_str).filter(named);
        self.found.extend(choices.filter(|value| is_name(value)).map(humanize_name));
        for (name, inner) in members("properties") {
            // `raw` is edited as the property itself; what else such an object has is made of it.
            match name.as_str() {
                "raw" => self.schema(path, inner),
                "rendered" => {}
                _ => self.property(name, &format!("{path}.{name}"), inner),
            }
        }
        let inner = ["items", "additionalProperties"].into_iter().filter_map(|word| schema.get(word));
        for inner in inner.chain(members("patternProperties").map(|(_, inner)| inner)) {
            self.schema(&format!("{path}.*"), inner);
        }
        items("oneOf").chain(items("anyOf")).for_each(|inner| self.schema(path, inner));
    }
}

/// A value that the console shows in words: one that is written like a name.
fn is_name(value: &str) -> bool {
    let rest = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    value.starts_with(|c: char| c.is_ascii_lowercase()) && value.chars().all(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::PROJECT;
    use std::fs;
    use std::path::Path;

    #[test]
    fn texts_of_a_description() {
        let mut description = json!({
            "groups": [{"name": "a", "label": "Group"}],
            "states": [{"name": "b", "label": "State", "names": ["other"]}],
            "resources": [{
                "name": "c", "label": "Things", "singular": "Thing", "description": "", "labels": {"add_new_item": "Add"},
                "fields": {"label": {"label": "Label", "control": "text", "labels": {"x": "Ex"}, "options": {"placeholder": "Here", "rows": 2}}},
                "view": {"view_list": [{"title": "All", "slug": "all"}],
                    "form": {"fields": ["d", {"id": "e", "label": "Box", "children": [{"id": "f", "description": "Inside"}]}]}},
            }],
        });
        let mut found = Vec::new();
        each(&mut description, &mut |text| {
            found.push(text.clone());
            text.insert(0, '~');
        });
        let expected = ["Group", "State", "Things", "Thing", "", "Add", "Label", "Ex", "Here", "All", "Box", "Inside"];
        assert_eq!(found, expected);
        let text = description.to_string();
        assert_eq!(text.matches('~').count(), expected.len(), "{text}");
        assert!(text.contains("\"control\":\"text\"") && text.contains("\"label\":\"~Label\""), "{text}");
    }

    #[test]
    fn labels_are_those_that_the_console_shows() {
        fn sources(folder: &Path, text: &mut String) {
            for entry in fs::read_dir(folder).expect("a folder of the console").flatten() {
                match entry.path() {
                    path if path.is_dir() => sources(&path, text),
                    path => text.push_str(&fs::read_to_string(path).expect("a source")),
                }
            }
        }
        let mut text = String::new();
        sources(&Path::new(PROJECT).join("console/src"), &mut text);
        let used = text.split("resource.labels[\"").skip(1).filter_map(|rest| rest.split('"').next());
        assert_eq!(used.collect::<BTreeSet<_>>(), BTreeSet::from(LABELS));
        assert!(!text.contains("resource.labels."), "labels are written `resource.labels[\"key\"]`");
    }

    #[test]
    fn texts_of_a_schema() {
        let schema = json!({
            "description": "Opening hours.",
            "items": {"properties": {
                "from": {"type": "string", "description": "First hour.", "enum": ["half_past", "8:00"]},
                "raw": {"description": "As written."}, "rendered": {"description": "Made of it."},
                "kind": {"title": "Kind of day"},
            }},
            "oneOf": [{"title": "A number"}, {"type": "null"}],
        });
        let hints = json!({"hours": {"label": "Hours"}, "hours.*.from": {"help": "Told."}});
        let mut found = BTreeSet::new();
        TextCollector { hints: &hints, found: &mut found }.property("hours", "hours", &schema);
        let expected = ["A number", "As written.", "From", "Half past", "Kind of day", "Opening hours."];
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    }
}
