//! The files of JSON that a declaration names: schema files, with what they refer to and what the declaration changes in
//! them, and files of entries.
//!
//! It does not know what a schema means: it is validated where it is compiled.

use super::check::suggestion;
use super::layers::{Change, MergeResult, SchemaEdit, nothing_to_remove, schema_stem};
use super::read::Reader;
use super::taxonomies::TaxonomyProperty;
use super::tree::{Data, Member, Node, Span, Table};
use super::{merge, parse_json, prefix, references, shipped};
use indexmap::IndexMap;
use serde_json::Value;
use std::sync::Arc;

/// The entries of each file that resources name as `entries_file`, by its key.
pub type EntryFiles = IndexMap<String, EntryFile>;

/// The entries of a file.
#[derive(Clone, Debug)]
pub enum EntryFile {
    /// The text of a shipped file, which is sound: it is read when its entries are needed.
    Shipped(&'static str),
    Read(Arc<Vec<Value>>),
}

impl EntryFile {
    /// The entries; those of a shipped file are read at each call.
    pub fn entries(&self) -> Vec<Value> {
        match self {
            EntryFile::Read(entries) => entries.to_vec(),
            EntryFile::Shipped(text) => {
                let mut file = serde_json::from_str::<Value>(text).unwrap_or_default();
                match file.get_mut(ENTRIES).map(Value::take) {
                    Some(Value::Array(entries)) => entries,
                    _ => Vec::new(),
                }
            }
        }
    }
}

/// The key by which a resource names its schema file.
const SCHEMA: &str = "schema";

/// The key by which a resource names its file of entries.
const ENTRIES_FILE: &str = "entries_file";

/// The member of such a file that has them.
const ENTRIES: &str = "entries";

/// Reads every schema file once, by its key; rewrites the names in the declaration to keys; resolves the references;
/// applies the changes; adds the properties of taxonomies.
pub fn schema_files(
    reader: &mut Reader<'_>,
    merged: &mut MergeResult,
    brought: Vec<TaxonomyProperty>,
) -> IndexMap<String, Node> {
    let mut files = Files::default();
    let mut shown = Vec::new();
    for place in places(merged) {
        let at = place.span;
        let Data::String(name) = &mut place.data else { continue };
        *name = reader.resolve(at.source, name);
        files.read(reader, name, at);
        shown.push(name.clone());
    }
    for edit in std::mem::take(&mut merged.edits) {
        let moot =
            merged.schema_stems.contains(&edit.stem) && !files.raw.keys().any(|key| schema_stem(key) == edit.stem);
        if !moot {
            files.note(reader, edit);
        }
    }
    for key in shown {
        files.finish(reader, &key, &mut Vec::new());
    }
    files.with_properties(merged, brought);
    files.done
}

/// The schema files of a declaration by key.
#[derive(Default)]
struct Files {
    /// As read; `None` for one that cannot be, or is finished.
    raw: IndexMap<String, Option<Node>>,
    /// The declaration's changes of each.
    edits: IndexMap<String, Vec<SchemaEdit>>,
    /// With references resolved and changes applied.
    done: IndexMap<String, Node>,
}

impl Files {
    /// Reads a file and those that it refers to.
    fn read(&mut self, reader: &mut Reader<'_>, key: &str, named_at: Span) {
        let mut open = vec![(key.to_owned(), named_at)];
        while let Some((key, named_at)) = open.pop() {
            if self.raw.contains_key(&key) {
                continue;
            }
            let tree = read(reader, &key, named_at);
            let more = tree.iter().flat_map(references::files);
            open.extend(more.map(|(file, place)| (reader.resolve(place.source, &file), place)));
            self.raw.insert(key, tree);
        }
    }

    /// Stores a change for the file that it is about.
    fn note(&mut self, reader: &mut Reader<'_>, edit: SchemaEdit) {
        let keys: Vec<&String> = self.raw.keys().filter(|key| schema_stem(key) == edit.stem).collect();
        match keys.as_slice() {
            [one] => self.edits.entry((*one).clone()).or_default().push(edit),
            [] => {
                let stems: Vec<String> = self.raw.keys().map(|key| schema_stem(key)).collect();
                let hint = suggestion(&edit.stem, stems.iter().map(String::as_str));
                if !reader.partial {
                    let message = format!("nothing names a schema file of the name `{}`", edit.stem);
                    reader.report(edit.place, message, hint);
                }
            }
            several => {
                let names: Vec<String> = several.iter().map(|key| format!("`{key}`")).collect();
                let message = format!("`{}` could mean {}", edit.stem, names.join(" or "));
                reader.report(edit.place, message, Some("give the schema files different names".to_owned()));
            }
        }
    }

    /// Finishes a file after those that it refers to, so that changes to those reach it. `chain`: the files that are being
    /// finished, each because the one before refers to it.
    fn finish(&mut self, reader: &mut Reader<'_>, key: &str, chain: &mut Vec<String>) {
        // Nothing needs it as it was read once it is being finished.
        let Some(raw) = self.raw.get_mut(key).and_then(Option::take) else { return };
        chain.push(key.to_owned());
        for (file, place) in references::files(&raw) {
            let other = reader.resolve(place.source, &file);
            if chain.contains(&other) {
                let names: Vec<String> = chain.iter().chain([&other]).map(|key| reader.origin.name(key)).collect();
                reader.report(place, format!("these schema files refer to each other: {}", names.join(" -> ")), None);
            } else {
                self.finish(reader, &other, chain);
            }
        }
        chain.pop();
        let mut tree = references::resolve(reader, raw, &self.done);
        for edit in self.edits.shift_remove(key).unwrap_or_default() {
            apply(reader, &mut tree, edit);
        }
        self.done.insert(key.to_owned(), tree);
    }

    /// Adds the properties of taxonomies, unless the schema has its own, or `false`. A resource that gets one has its own
    /// copy of the schema, because others may share the file.
    fn with_properties(&mut self, merged: &mut MergeResult, brought: Vec<TaxonomyProperty>) {
        for TaxonomyProperty { resource, property, at, doc } in brought {
            let Some(place) = place(merged, &resource) else { continue };
            let Data::String(file) = &mut place.data else { continue };
            let Some(tree) = self.done.get_mut(file) else { continue };
            match tree.at(&["properties", &property]).map(|own| &own.data) {
                Some(Data::Bool(false)) => {
                    merge::remove(tree, &["properties".to_owned(), property]);
                    continue;
                }
                Some(_) => continue,
                None => {}
            }
            let own = format!("({resource})");
            if !file.ends_with(&own) {
                let copy = tree.clone();
                *file = format!("{file} {own}");
                self.done.insert(file.clone(), copy);
            }
            let Some(tree) = self.done.get_mut(file) else { continue };
            let empty = Member { key: at, node: Node::table(at) };
            let properties = tree.as_table_mut().map(|table| table.entry("properties".to_owned()).or_insert(empty));
            if let Some(properties) = properties.and_then(|properties| properties.node.as_table_mut()) {
                properties.insert(property, Member { key: at, node: doc });
            }
        }
    }
}

/// Where a resource names its schema.
fn place<'m>(merged: &'m mut MergeResult, resource: &str) -> Option<&'m mut Node> {
    let resources = merged.root.as_table_mut()?.get_mut("resources")?.node.as_table_mut()?;
    Some(&mut resources.get_mut(resource)?.node.as_table_mut()?.get_mut("schema")?.node)
}

/// Where the declaration names schema files.
fn places(merged: &mut MergeResult) -> Vec<&mut Node> {
    let mut places = Vec::new();
    for (key, entry) in merged.root.as_table_mut().into_iter().flat_map(Table::iter_mut) {
        match key.as_str() {
            "resources" | "base_resources" => places.extend(in_resources(&mut entry.node, SCHEMA)),
            "route_schemas" => places.extend(members(&mut entry.node)),
            _ => {}
        }
    }
    places
}

/// Where the resources of a table name files under a key.
fn in_resources<'n>(table: &'n mut Node, key: &'static str) -> impl Iterator<Item = &'n mut Node> {
    let resources = members(table).filter_map(Node::as_table_mut);
    resources.filter_map(move |resource| Some(&mut resource.get_mut(key)?.node))
}

fn members(node: &mut Node) -> impl Iterator<Item = &mut Node> {
    node.as_table_mut().into_iter().flat_map(Table::values_mut).map(|member| &mut member.node)
}

/// Reads every file of entries once; rewrites the names in the declaration to keys.
pub fn entry_files(reader: &mut Reader<'_>, merged: &mut MergeResult, prefix: &str) -> EntryFiles {
    let mut files = EntryFiles::new();
    let tables = merged.root.as_table_mut().into_iter().flat_map(Table::iter_mut);
    let resources = tables.filter(|(key, _)| matches!(key.as_str(), "resources" | "base_resources"));
    for place in resources.flat_map(|(_, entry)| in_resources(&mut entry.node, ENTRIES_FILE)) {
        let at = place.span;
        let Data::String(name) = &mut place.data else { continue };
        *name = reader.resolve(at.source, name);
        if !files.contains_key(name) {
            let none = || EntryFile::Read(Arc::default());
            let file = entry_file(reader, name, at, prefix).unwrap_or_else(none);
            files.insert(name.clone(), file);
        }
    }
    files
}

/// A file of entries. `None`: it has a problem, which is reported.
fn entry_file(reader: &mut Reader<'_>, key: &str, named_at: Span, prefix: &str) -> Option<EntryFile> {
    let source = reader.source(key, Some(named_at), false)?;
    // Nobody asks for places in a file that is known to be sound.
    if let Some(text) = shipped::same(key, reader.sources.text(source)).filter(|text| !prefix::is_in(text)) {
        return Some(EntryFile::Shipped(text));
    }
    let mut tree = parse_json::parse(&reader.sources, source, &mut reader.problems)?;
    prefix::fill(reader, &mut tree, prefix);
    let entries =
        tree.child(ENTRIES).and_then(|entries| Some(entries.as_array()?.iter().map(Node::to_value).collect()));
    if entries.is_none() {
        reader.report(tree.span, format!("a file of entries has them in a list `{ENTRIES}`"), None);
    }
    entries.map(|entries| EntryFile::Read(Arc::new(entries)))
}

fn read(reader: &mut Reader<'_>, key: &str, named_at: Span) -> Option<Node> {
    let source = reader.source(key, Some(named_at), false)?;
    let tree = parse_json::parse(&reader.sources, source, &mut reader.problems)?;
    if tree.as_table().is_none() {
        reader.report(tree.span, format!("a schema must be an object, not {}", tree.kind()), None);
        return None;
    }
    Some(tree)
}

fn apply(reader: &mut Reader<'_>, tree: &mut Node, edit: SchemaEdit) {
    match edit.change {
        Change::Overlay(node) => merge::overlay(tree, node, &reader.sources, &mut reader.problems),
        Change::Remove(path) => {
            if !merge::remove(tree, &path) {
                nothing_to_remove(reader, tree, &path, edit.place, &format!(" in the schema `{}`", edit.stem));
            }
        }
    }
}
