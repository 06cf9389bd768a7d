//! How the console shows resources: names of sections, icons, controls and properties in `view` and `x-view`.

use super::super::resource::{Property, PropertySource, Resource};
use super::super::views::NAMING;
use super::{Linker, escape};
use cms_text::phrase::pieces;
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Icons of the console. A test compares these lists with its source.
pub const ICONS: &[&str] = &[
    "alert",
    "archive",
    "block",
    "calendar",
    "check",
    "clock",
    "code",
    "columns",
    "comment",
    "copy",
    "crop",
    "dashboard",
    "database",
    "document",
    "download",
    "edit",
    "external",
    "eye",
    "file",
    "filter",
    "folder",
    "globe",
    "grid",
    "help",
    "image",
    "info",
    "key",
    "keyboard",
    "link",
    "list",
    "lock",
    "menu",
    "music",
    "page",
    "palette",
    "pin",
    "quote",
    "search",
    "settings",
    "shield",
    "split",
    "star",
    "table",
    "tag",
    "trash",
    "tree",
    "upload",
    "user",
    "users",
    "video",
    "warning",
];

/// Controls that edit a value.
pub const CONTROLS: &[&str] = &[
    "state",
    "slug",
    "password",
    "markup",
    "headline",
    "date-time",
    "date",
    "time",
    "colour",
    "e-mail",
    "address",
    "ip",
    "uuid",
    "file",
    "terms",
    "relation",
    "checkboxes",
    "radio",
    "select",
    "multi-line",
    "text",
    "integer",
    "number",
    "switch",
    "tokens",
    "list",
    "meta",
    "object",
    "search-result",
    "union",
    "map",
    "json",
    "time-zone",
];

/// Displays of a value in a list.
pub const DISPLAYS: &[&str] = &[
    "text",
    "html",
    "boolean",
    "enum",
    "state",
    "date-time",
    "date",
    "timestamp",
    "number",
    "bytes",
    "colour",
    "image",
    "url",
    "email",
    "relation",
    "list",
    "code",
    "json",
];

/// How a list is arranged.
const LAYOUTS: &[&str] = &["table", "list", "grid", "tree"];

/// Members of a view.
const MEMBERS: &[&str] = &[
    "type",
    "layout",
    "filters",
    "sort",
    "perPage",
    "fields",
    "titleField",
    "mediaField",
    "descriptionField",
    "showTitle",
    "showMedia",
    "showDescription",
    "showLevels",
];

/// The names in braces of a text.
fn places(text: &str) -> BTreeSet<&str> {
    pieces(text).filter_map(|(_, name)| name).collect()
}

/// Characters of a translation.
const LONGEST_TRANSLATION: usize = 1_000;

impl Linker<'_> {
    /// Languages, and that their texts say something of a reasonable length.
    pub(super) fn translations(&mut self) {
        for (language, texts) in &self.declared.translations {
            let path = ["translations", language.as_str()];
            let parts = || language.split('-');
            let plain = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric());
            let letters = |part: &str| (2..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphabetic());
            if !parts().all(plain) || !parts().next().is_some_and(letters) {
                let hint = "write the tag of a language: `de`, `pt-BR`".to_owned();
                self.problem(&path, format!("`{language}` is no language"), Some(hint));
            }
            for (text, translation) in texts {
                let place = [path[0], path[1], text.as_str()];
                if translation.trim().is_empty() {
                    let hint = "leave it out: the text stays as it is declared".to_owned();
                    self.problem(&place, "the translation is empty", Some(hint));
                } else if translation.chars().count() > LONGEST_TRANSLATION {
                    let message = format!("the translation has more than {LONGEST_TRANSLATION} characters");
                    self.problem(&place, message, None);
                } else if let Some(name) = places(text).symmetric_difference(&places(translation)).next() {
                    let hint = format!("write `{name}` in braces in both or in neither: a value stands there");
                    self.problem(&place, "the translation has other places in braces than the text", Some(hint));
                }
            }
        }
    }

    /// The words of `view` of every resource, and of `x-view` of its properties.
    pub(super) fn views(&mut self, resources: &[Resource]) {
        let all = resources.iter().flat_map(|resource| names_of(&resource.properties)).collect();
        for resource in resources {
            let own = names_of(&resource.properties);
            let names = PropertyNames { own: own.iter().map(String::as_str).collect(), all: &all };
            let path = ["resources", resource.name.as_str(), "view"];
            let view = resource.declared.view.clone();
            let groups: Vec<&str> = self.declared.view_groups.keys().map(String::as_str).collect();
            self.word(&path, "group", "section", view.group.as_deref(), &groups);
            self.word(&path, "icon", "icon", view.icon.as_deref(), ICONS);
            for (name, field) in &view.fields {
                let path = [&path[..], &["fields", name]].concat();
                self.property_name(&path[..path.len() - 1], name, Some(name), &names);
                self.word(&path, "control", "control", field.control.as_deref(), CONTROLS);
                self.word(&path, "display", "display", field.display.as_deref(), DISPLAYS);
            }
            self.creations(&[&path[..], &["creates"]].concat(), resources, (&view.creates, &names));
            self.list_view(&[&path[..], &["default_view"]].concat(), &view.default_view, &names);
            for (layout, change) in &view.default_layouts {
                let path = [&path[..], &["default_layouts"]].concat();
                self.word(&path, layout, "layout", Some(layout), LAYOUTS);
                let change = change.as_object().cloned().unwrap_or_default();
                self.list_view(&[&path[..], &[layout]].concat(), &change, &names);
            }
            for (i, choice) in view.view_list.iter().flatten().enumerate() {
                self.list_view(&[&path[..], &["view_list", &i.to_string(), "view"]].concat(), &choice.view, &names);
            }
            let fields = view.form.get("fields").cloned().unwrap_or_default();
            self.form_fields(&[&path[..], &["form", "fields"]].concat(), &fields, &names);
            self.property_views(resource);
        }
    }

    /// The records that are created from one of a resource, each property from one of this.
    fn creations(
        &mut self,
        path: &[&str],
        resources: &[Resource],
        (creates, names): (&IndexMap<String, IndexMap<String, String>>, &PropertyNames<'_>),
    ) {
        for (resource, fill) in creates {
            let path = [path, &[resource]].concat();
            let Some(index) = self.resource_named(&path, resource) else { continue };
            let theirs = names_of(&resources[index].properties);
            let theirs: Vec<&str> = theirs.iter().map(String::as_str).collect();
            for (property, own) in fill {
                let path = [&path[..], &[property]].concat();
                self.known(&path, "property", property, &theirs);
                self.known(&path, "property", own, &names.own);
            }
        }
    }

    /// A word of a closed list; nothing where there is none.
    fn word(&mut self, path: &[&str], key: &str, what: &str, word: Option<&str>, known: &[&str]) {
        let Some(word) = word else { return };
        self.known(&[path, &[key]].concat(), what, word, known);
    }

    /// The name of a property; nothing where there is none. Views leave out what a resource does not have: a shipped view may
    /// name a property that a schema of one's own lacks, and an inherited one what only others of its heirs have.
    fn property_name(&mut self, path: &[&str], key: &str, name: Option<&str>, names: &PropertyNames<'_>) {
        let Some(name) = name.filter(|name| !names.own.contains(name)) else { return };
        let path = [path, &[key]].concat();
        let is_inherited = || names.all.contains(name) && self.loaded.is_inherited(&path);
        if !self.loaded.is_shipped(&path) && !is_inherited() {
            self.known(&path, "property", name, &names.own);
        }
    }

    fn list_view(&mut self, path: &[&str], view: &Map<String, Value>, names: &PropertyNames<'_>) {
        for (member, value) in view {
            self.word(path, member, "member of a view", Some(member), MEMBERS);
            if NAMING.contains(&member.as_str()) {
                self.property_name(path, member, value.as_str(), names);
            }
        }
        self.word(path, "type", "layout", view.get("type").and_then(Value::as_str), LAYOUTS);
        let list = |member: &str| view.get(member).and_then(Value::as_array).cloned().unwrap_or_default();
        for (i, field) in list("fields").iter().enumerate() {
            self.property_name(&[path, &["fields"]].concat(), &i.to_string(), field.as_str(), names);
        }
        for (i, filter) in list("filters").iter().enumerate() {
            let i = i.to_string();
            let path = [path, &["filters", i.as_str()]].concat();
            self.property_name(&path, "field", filter["field"].as_str(), names);
        }
        let sort = view.get("sort").cloned().unwrap_or_default();
        self.property_name(&[path, &["sort"]].concat(), "field", sort["field"].as_str(), names);
        self.word(&[path, &["sort"]].concat(), "direction", "direction", sort["direction"].as_str(), &["asc", "desc"]);
    }

    /// Names of properties, and groups of them.
    fn form_fields(&mut self, path: &[&str], fields: &Value, names: &PropertyNames<'_>) {
        for (i, field) in fields.as_array().into_iter().flatten().enumerate() {
            let i = i.to_string();
            let below = [path, &[i.as_str()]].concat();
            match &field["children"] {
                Value::Array(_) => self.form_fields(&[&below[..], &["children"]].concat(), &field["children"], names),
                _ if field.is_string() => self.property_name(path, &i, field.as_str(), names),
                _ => self.property_name(&below, "id", field["id"].as_str(), names),
            }
        }
    }

    /// Controls and displays that a schema names.
    fn property_views(&mut self, resource: &Resource) {
        for property in &resource.properties {
            let inner = property.inner_views.iter().map(|inner| (inner.pointer.as_str(), &inner.view));
            for (below, view) in std::iter::once(("", &property.view)).chain(inner) {
                let words = [("control", &view.control, CONTROLS), ("display", &view.display, DISPLAYS)];
                for (key, word, known) in words {
                    let Some(word) = word else { continue };
                    let pointer = format!("/properties/{}{below}/x-view/{key}", escape(&property.name));
                    let place = super::ArgOrigin::Schema(resource.declared.schema.clone(), pointer);
                    self.known_in((&place, ""), key, word, known);
                }
            }
        }
    }
}

/// Names of properties that views of one resource may have.
struct PropertyNames<'a> {
    own: Vec<&'a str>,
    /// Those of every resource.
    all: &'a BTreeSet<String>,
}

/// The names of properties; `a.b` of what is nested.
fn names_of(properties: &[Property]) -> Vec<String> {
    let mut names = Vec::new();
    for property in properties.iter().filter(|property| !property.hidden) {
        names.push(property.name.clone());
        if let PropertySource::Object(children) = &property.source {
            names.extend(names_of(children).iter().map(|child| format!("{}.{child}", property.name)));
        }
    }
    names
}
