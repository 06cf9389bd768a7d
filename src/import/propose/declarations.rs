//! A proposal as declarations: the text of `site.toml`, and the schema files that it names.

use super::plugins::{includes, language_properties};
use super::site_export::title;
use super::toml_text::{comment, key, members, value};
use super::{Proposal, ProposeReport, ProposedGroup, ProposedMeta, ProposedTaxonomy, ProposedType};
use crate::import::records::neutral;
use cms_declaration::Declaration;
use serde_json::{Map, Value, json};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// Lines at the head of the file; `{source}` is the file that was read.
const HEAD: &str = include_str!("site.toml");
/// Lines that a type with a tree of records has further.
const HIERARCHICAL: &str = include_str!("hierarchical.toml");
/// Lines that every type has.
const TYPE: &str = include_str!("type.toml");
/// Lines that a type has whose declaration is the plugin's.
const MARK: &str = include_str!("mark.toml");
/// Lines that a type or a taxonomy has whose items have languages.
const LANGUAGE: &str = include_str!("language.toml");

/// The files with their texts, and the report.
pub fn written(declared: &Declaration, proposal: Proposal, source: &str) -> (Vec<(String, String)>, ProposeReport) {
    let mut writer = DeclarationWriter::new(declared, &proposal);
    let by_plugin = !proposal.groups.is_empty() || proposal.types.iter().any(|one| one.by_plugin);
    let profile = includes(by_plugin, &proposal.profiles);
    let mut site = HEAD.replace("{source}", &comment(source)).replace("{profile}", &profile);
    proposal.profiles.iter().for_each(|profile| site.push_str(&profile.declared));
    let (shown, hidden): (Vec<&ProposedType>, Vec<&ProposedType>) = proposal.types.iter().partition(|one| one.shown);
    let (taxonomies, concealed): (Vec<&ProposedTaxonomy>, Vec<&ProposedTaxonomy>) =
        proposal.taxonomies.iter().partition(|one| one.shown);
    for one in &shown {
        site.push_str(&writer.content_type(one, &taxonomies));
    }
    for one in &taxonomies {
        site.push_str(&writer.taxonomy(one, &proposal.types));
    }
    if !writer.searched.is_empty() {
        let kinds = value(&json!(writer.searched));
        site.push_str(&format!("\n[args.search.subtype.items]\n\"+enum\" = {kinds}\n"));
    }
    site.push_str(&writer.of_existing(&taxonomies));
    site.push_str(&hidden_names("types", hidden.iter().map(|one| one.kind.as_str())));
    site.push_str(&hidden_names("taxonomies", concealed.iter().map(|one| one.kind.as_str())));
    let (areas, count) = areas(declared, &proposal.areas);
    site.push_str(&areas);
    let (values, known) = writer.values(&proposal);
    site.push_str(&values);
    let mut names = HashSet::new();
    for group in &proposal.groups {
        let name = free(&group.name, |name| names.contains(name));
        names.insert(name.clone());
        site.push_str(&field_group(&name, group));
    }
    let (left_out, notes) = (proposal.left_out.clone(), proposal.notes.clone());
    let mut report = ProposeReport { left_out, notes, ..ProposeReport::default() };
    report.left_out.extend(known);
    let not_shown = "the interface does not show it; its records and terms are stored";
    report.left_out.extend(hidden.iter().map(|one| format!("type {}: {not_shown}", one.kind)));
    report.left_out.extend(concealed.iter().map(|one| format!("taxonomy {}: {not_shown}", one.kind)));
    report.left_out.extend(writer.left_out);
    for field in proposal.groups.iter().flat_map(|group| &group.fields) {
        let kind = field.1.get("type").and_then(Value::as_str).unwrap_or_default();
        *report.fields.entry(kind.to_owned()).or_default() += 1;
    }
    report.counts = vec![
        ("types".to_owned(), writer.types),
        ("taxonomies".to_owned(), writer.taxonomies),
        ("meta keys".to_owned(), writer.meta),
        ("areas of widgets".to_owned(), count),
        ("field groups".to_owned(), proposal.groups.len() as u64),
        ("fields".to_owned(), report.fields.values().sum()),
    ];
    report.counts.extend(proposal.profiles.iter().map(|profile| (profile.count.0.to_owned(), profile.count.1)));
    let mut files = writer.schemas;
    files.push(("site.toml".to_owned(), site));
    (files, report)
}

/// The name, or the first one with a number that is free.
fn free(name: &str, taken: impl Fn(&str) -> bool) -> String {
    let name = if name.is_empty() { "group" } else { name };
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken(name)).unwrap_or_default()
}

/// A word that can be the name of a resource and of a file.
fn word(text: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    text.chars().map(safe).collect()
}

/// Types or taxonomies that the interface is not to show.
fn hidden_names<'n>(catalogue: &str, names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        return String::new();
    }
    format!(
        "\n# Not shown by the interface of the old site.\n[resources.{catalogue}.options]\n\"+hidden\" = {}\n",
        value(&json!(names))
    )
}

fn field_group(name: &str, group: &ProposedGroup) -> String {
    let name = key(name);
    let mut text = format!("\n[field_groups.{name}]\n");
    for member in members(&group.declared) {
        text.push_str(&format!("{member}\n"));
    }
    if group.fields.is_empty() {
        return text;
    }
    text.push_str(&format!("\n[field_groups.{name}.fields]\n"));
    for (path, field) in &group.fields {
        text.push_str(&format!("{} = {}\n", key(path), value(&Value::Object(field.clone()))));
    }
    text
}

/// The areas of widgets that nothing declares yet, and how many they are.
fn areas(declared: &Declaration, names: &[String]) -> (String, u64) {
    let mut found = declared.resources.values().filter_map(|own| own.options.widgets.as_ref());
    let Some((places, of)) = found.find_map(|own| Some((&own.places, declared.resources.get(&own.places)?))) else {
        return (String::new(), 0);
    };
    let is_known = |name: &str| of.options.entries.iter().any(|entry| entry["id"] == *name);
    let entries: Vec<String> = names
        .iter()
        .filter(|name| !is_known(name))
        .map(|name| {
            let entry = json!({"id": name, "name": title(name), "description": "", "class": "", "status": "active",
                "widgets": [], "before_widget": "<section id=\"%1$s\" class=\"widget %2$s\">", "after_widget": "</section>",
                "before_title": "<h2>", "after_title": "</h2>"});
            format!("  {},\n", value(&entry))
        })
        .collect();
    if entries.is_empty() {
        return (String::new(), 0);
    }
    let text = format!(
        "\n# Areas that have widgets. The theme gave them names and markup, which the file does not say.\n\
         [resources.{places}.options]\n\"+entries\" = [\n{}]\n",
        entries.concat()
    );
    (text, entries.len() as u64)
}

struct DeclarationWriter<'d> {
    declared: &'d Declaration,
    /// Names of resources by kind, those that are declared and those that are proposed.
    names: HashMap<String, String>,
    schemas: Vec<(String, String)>,
    types: u64,
    taxonomies: u64,
    meta: u64,
    /// Kinds whose records searches find.
    searched: Vec<String>,
    left_out: Vec<String>,
}

impl<'d> DeclarationWriter<'d> {
    fn new(declared: &'d Declaration, proposal: &Proposal) -> DeclarationWriter<'d> {
        let named = declared
            .resources
            .iter()
            .map(|(name, one)| (one.kind.clone().unwrap_or_else(|| name.clone()), name.clone()));
        let mut names: HashMap<String, String> = named.collect();
        let types = proposal.types.iter().filter(|one| one.shown).map(|one| (&one.kind, &one.base));
        let taxonomies = proposal.taxonomies.iter().filter(|one| one.shown).map(|one| (&one.kind, &one.base));
        let mut taken: HashSet<String> =
            declared.resources.keys().chain(declared.base_resources.keys()).cloned().collect();
        for (kind, base) in types.chain(taxonomies).filter(|(kind, _)| !kind.is_empty()) {
            if !names.contains_key(kind) {
                let name = free(&word(base), |name| taken.contains(name));
                taken.insert(name.clone());
                names.insert(kind.clone(), name);
            }
        }
        DeclarationWriter {
            declared,
            names,
            schemas: Vec::new(),
            types: 0,
            taxonomies: 0,
            meta: 0,
            searched: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// The name of a resource that is to be declared; `None`: there is one of the kind already.
    fn new_name(&mut self, what: &str, kind: &str) -> Option<String> {
        let name = self.names.get(kind)?.clone();
        if self.declared.resources.contains_key(&name) {
            self.left_out.push(format!("{what} {kind}: it is declared already, as {name}"));
            return None;
        }
        Some(name)
    }

    fn schema(&mut self, name: &str, document: &Value) -> String {
        let file = format!("schemas/{name}.json");
        let text = serde_json::to_string_pretty(document).unwrap_or_default();
        self.schemas.push((file.clone(), format!("{text}\n")));
        file
    }

    fn content_type(&mut self, one: &ProposedType, taxonomies: &[&ProposedTaxonomy]) -> String {
        let Some(name) = self.new_name("type", &one.kind) else { return String::new() };
        self.types += 1;
        let schema = self.schema(&name, &schema_of_type(one));
        let path = if one.hierarchical { "path" } else { "slug" };
        let also = taxonomies.iter().filter(|of| of.of.contains(&one.kind) && !one.taxonomies.contains(&of.kind));
        let kinds = one.taxonomies.iter().chain(also.map(|of| &of.kind));
        let taxonomies: Vec<String> = kinds.filter_map(|kind| self.names.get(kind).cloned()).collect();
        let mut resource = Map::new();
        let mut put = |key: &str, value: Value| drop(resource.insert(key.to_owned(), value));
        put("extends", json!("content"));
        put("schema", json!(schema));
        put("kind", json!(one.kind));
        put("base", json!(one.base));
        put("address", json!(format!("/{}/{{{path}}}/", one.kind)));
        put("supports", json!(one.supports));
        put("hierarchical", if one.hierarchical { json!(true) } else { Value::Null });
        put("searchable", if one.searched { json!(true) } else { Value::Null });
        put("taxonomies", if taxonomies.is_empty() { Value::Null } else { json!(taxonomies) });
        let mut text = table(&format!("resources.{name}"), &resource);
        let listing = json!({"name": one.name, "description": one.description, "has_archive": one.archive,
            "icon": one.icon});
        text.push_str(&table(&format!("resources.{name}.listing"), listing.as_object().unwrap_or(&Map::new())));
        text.push_str(&TYPE.replace("{name}", &name));
        if one.by_plugin {
            text.push_str(&MARK.replace("{name}", &name));
        }
        text.push_str(&labels(&name, &one.name, &one.singular));
        if one.hierarchical {
            text.push('\n');
            text.push_str(&HIERARCHICAL.replace("{name}", &name));
        }
        if one.multilingual {
            text.push_str(&LANGUAGE.replace("{name}", &name).replace("{argument}", "language"));
        }
        if one.searched {
            self.searched.push(one.kind.clone());
        }
        text
    }

    fn taxonomy(&mut self, one: &ProposedTaxonomy, types: &[ProposedType]) -> String {
        let Some(name) = self.new_name("taxonomy", &one.kind) else { return String::new() };
        self.taxonomies += 1;
        let like = if one.hierarchical { "category.json" } else { "term.json" };
        let mut properties = json!({"taxonomy": {"enum": [one.kind], "x-example": one.kind}});
        for (name, property) in language_properties().into_iter().filter(|_| one.multilingual) {
            properties[name] = property;
        }
        let schema = self.schema(
            &name,
            &json!({
                "$schema": "http://json-schema.org/draft-04/schema#", "$ref": like, "title": one.kind,
                "properties": properties,
            }),
        );
        let of: Vec<&String> = of_types(one, types).into_iter().filter_map(|kind| self.names.get(kind)).collect();
        let link = |to: &&String| json!({"rel": "{prefix}:post_type", "to": to, "query": {(one.base.clone()): "id"}});
        let mut resource = Map::new();
        let mut put = |key: &str, value: Value| drop(resource.insert(key.to_owned(), value));
        put("extends", json!("term"));
        put("schema", json!(schema));
        put("kind", json!(one.kind));
        put("base", json!(one.base));
        put("address", json!(format!("/{}/{{slug}}/", one.kind)));
        put("hierarchical", if one.hierarchical { json!(true) } else { Value::Null });
        put("+links", json!(of.iter().map(link).collect::<Vec<_>>()));
        let mut text = table(&format!("resources.{name}"), &resource);
        let listing = json!({"name": one.name, "description": one.description});
        text.push_str(&table(&format!("resources.{name}.listing"), listing.as_object().unwrap_or(&Map::new())));
        text.push_str(&labels(&name, &one.name, &one.singular));
        if one.hierarchical {
            text.push_str(&format!("\n[resources.{name}.endpoints.list]\nparent = {{ description = \"Only terms below this one.\", type = \"integer\", x-filter = {{ column = \"parent\", op = \"eq\" }} }}\n"));
        }
        if one.multilingual {
            text.push_str(&LANGUAGE.replace("{name}", &name).replace("{argument}", "lang"));
        }
        text
    }

    /// Meta keys, those of most items first, and why others are not declared.
    fn values(&mut self, proposal: &Proposal) -> (String, Vec<String>) {
        let (mut text, mut left_out) = (String::new(), Vec::new());
        let mut all: Vec<&ProposedMeta> = proposal.meta.iter().collect();
        all.sort_by_key(|one| Reverse(one.items));
        for one in all {
            let neutral = neutral(&one.kind);
            let Some(name) = self.names.get(&one.kind).or_else(|| self.names.get(neutral)) else {
                left_out.push(format!("meta key {} of {}: no resource shows items of this kind", one.key, one.kind));
                continue;
            };
            if self.declared.resources.get(name).is_some_and(|resource| resource.meta.contains_key(&one.key)) {
                left_out.push(format!("meta key {} of {}: it is declared already", one.key, one.kind));
                continue;
            }
            self.meta += 1;
            let single = if one.single { "" } else { "single = false\n" };
            let (note, schema) = (comment(&one.note), value(&one.schema));
            text.push_str(&format!(
                "\n# Guessed: {note}.\n[resources.{name}.meta.{}]\n{single}schema = {schema}\n",
                key(&one.key)
            ));
        }
        (text, left_out)
    }

    /// Taxonomies of resources that are declared already.
    fn of_existing(&self, taxonomies: &[&ProposedTaxonomy]) -> String {
        let mut text = String::new();
        for (resource_name, resource) in &self.declared.resources {
            let kind = resource.kind.as_ref().unwrap_or(resource_name);
            let added =
                taxonomies.iter().filter(|one| one.of.contains(kind)).filter_map(|one| self.names.get(&one.kind));
            let added: Vec<&String> = added.filter(|name| !self.declared.resources.contains_key(*name)).collect();
            if !added.is_empty() {
                text.push_str(&format!("\n[resources.{resource_name}]\n\"+taxonomies\" = {}\n", value(&json!(added))));
            }
        }
        text
    }
}

/// Kinds of the records that have terms of a taxonomy: as either says.
fn of_types<'p>(one: &'p ProposedTaxonomy, types: &'p [ProposedType]) -> Vec<&'p String> {
    let also = types.iter().filter(|of| of.taxonomies.contains(&one.kind) && !one.of.contains(&of.kind));
    one.of.iter().chain(also.map(|of| &of.kind)).collect()
}

fn table(path: &str, map: &Map<String, Value>) -> String {
    format!("\n[{path}]\n{}\n", members(map).join("\n"))
}

fn labels(name: &str, plural: &str, singular: &str) -> String {
    let labels = json!({"name": plural, "singular_name": singular});
    table(&format!("resources.{name}.labels"), labels.as_object().unwrap_or(&Map::new()))
}

/// Properties of records by the features that a type has.
fn schema_of_type(one: &ProposedType) -> Value {
    let has = |feature: &str| one.supports.iter().any(|own| own == feature);
    let mut properties = Map::new();
    let features: [(&str, &[&str]); 7] = [
        ("title", &["title"]),
        ("editor", &["content"]),
        ("excerpt", &["excerpt"]),
        ("author", &["author"]),
        ("thumbnail", &["featured_media"]),
        ("comments", &["comment_status", "ping_status"]),
        ("custom-fields", &["meta"]),
    ];
    for (_, own) in features.iter().filter(|(feature, _)| !has(feature)) {
        properties.extend(own.iter().map(|property| ((*property).to_owned(), json!(false))));
    }
    if one.hierarchical {
        properties.insert("parent".into(), json!({"$ref": "page.json#/properties/parent"}));
    }
    if has("page-attributes") {
        properties.insert("menu_order".into(), json!({"$ref": "page.json#/properties/menu_order"}));
    }
    if one.multilingual {
        properties.extend(language_properties().map(|(name, property)| (name.to_owned(), property)));
    }
    json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "$ref": "content.json",
        "title": one.kind,
        "properties": properties,
    })
}
