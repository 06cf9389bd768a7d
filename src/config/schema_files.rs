//! The schema files that resources and routes name, with the changes that the declaration makes to them.
//!
//! It does not know what a schema means: it is validated where it is compiled.

use super::check::suggestion;
use super::layers::{Change, Merged, SchemaEdit, nothing_to_remove, schema_stem};
use super::read::Reader;
use super::tree::{Data, Node, Span, Table};
use super::{merge, parse_json};
use indexmap::IndexMap;

/// Reads every schema file once, by its key; rewrites the names in the declaration to keys; applies the changes.
pub fn schema_files(reader: &mut Reader<'_>, merged: &mut Merged) -> IndexMap<String, Node> {
    let mut trees: IndexMap<String, Option<Node>> = IndexMap::new();
    for place in places(merged) {
        let at = place.span;
        let Data::String(name) = &mut place.data else { continue };
        *name = reader.resolve(at.source, name);
        if !trees.contains_key(name) {
            let tree = read(reader, name, at);
            trees.insert(name.clone(), tree);
        }
    }
    for edit in std::mem::take(&mut merged.edits) {
        let moot = merged.schema_stems.contains(&edit.stem) && !trees.keys().any(|key| schema_stem(key) == edit.stem);
        if !moot {
            apply(reader, &mut trees, edit);
        }
    }
    trees.into_iter().filter_map(|(key, tree)| Some((key, tree?))).collect()
}

/// Where the declaration names a file: `resources.*.schema` and `.entries_file`, `route_schemas.*`.
fn places(merged: &mut Merged) -> Vec<&mut Node> {
    let mut places = Vec::new();
    for (key, entry) in merged.root.as_table_mut().into_iter().flat_map(Table::iter_mut) {
        let named = entry.node.as_table_mut().into_iter().flat_map(Table::values_mut);
        match key.as_str() {
            "resources" => {
                let resources = named.filter_map(|resource| resource.node.as_table_mut());
                let files = resources
                    .flat_map(Table::iter_mut)
                    .filter(|(key, _)| matches!(key.as_str(), "schema" | "entries_file"));
                places.extend(files.map(|(_, file)| &mut file.node));
            }
            "route_schemas" => places.extend(named.map(|schema| &mut schema.node)),
            _ => {}
        }
    }
    places
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

fn apply(reader: &mut Reader<'_>, trees: &mut IndexMap<String, Option<Node>>, edit: SchemaEdit) {
    let named: Vec<usize> = (0..trees.len()).filter(|index| stem(trees, *index) == edit.stem).collect();
    let tree = match named.as_slice() {
        [one] => &mut trees[*one],
        several => return unclear(reader, trees, &edit, several),
    };
    let Some(tree) = tree else { return };
    match edit.change {
        Change::Overlay(node) => merge::overlay(tree, node, &reader.sources, &mut reader.problems),
        Change::Remove(path) => {
            if !merge::remove(tree, &path) {
                nothing_to_remove(reader, tree, &path, edit.place, &format!(" in the schema `{}`", edit.stem));
            }
        }
    }
}

fn unclear(reader: &mut Reader<'_>, trees: &IndexMap<String, Option<Node>>, edit: &SchemaEdit, named: &[usize]) {
    let stem_name = &edit.stem;
    if named.is_empty() {
        let stems: Vec<String> = (0..trees.len()).map(|index| stem(trees, index)).collect();
        let hint = suggestion(stem_name, stems.iter().map(String::as_str));
        if !reader.partial {
            reader.report(edit.place, format!("nothing names a schema file of the name `{stem_name}`"), hint);
        }
        return;
    }
    let names = named.iter().filter_map(|index| trees.get_index(*index)).map(|(key, _)| format!("`{key}`"));
    let message = format!("`{stem_name}` could mean {}", names.collect::<Vec<_>>().join(" or "));
    reader.report(edit.place, message, Some("give the schema files different names".to_owned()));
}

fn stem(trees: &IndexMap<String, Option<Node>>, index: usize) -> String {
    let key = trees.get_index(index).map_or("", |(key, _)| key.as_str());
    schema_stem(key)
}
