//! The files of a declaration, with their includes and overlays, and the order in which they are merged.
//!
//! Of the grammar it knows `include`, `overlays`, `remove` and `schemas`, which concern files.

use super::check::{self, suggestion};
use super::grammar::{FILE_KEYS, FileKeys, Grammar, Overlay};
use super::read::Reader;
use super::tree::{Data, Member, Node, Sources, Span, Table, dotted};
use super::{merge, parse_toml};
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;

/// The content of a file and its includes.
pub struct Layer {
    root: Node,
    overlays: Vec<Entry>,
    removals: Vec<Removal>,
}

impl Layer {
    /// A copy of the tables of these names, with all removals.
    fn part(&self, names: &HashSet<&str>) -> Layer {
        let mut root = Node::table(self.root.span);
        if let (Data::Table(all), Data::Table(part)) = (&self.root.data, &mut root.data) {
            let named = all.iter().filter(|(key, _)| names.contains(key.trim_start_matches('+')));
            part.extend(named.map(|(key, member)| (key.clone(), member.clone())));
        }
        Layer { root, overlays: Vec::new(), removals: self.removals.clone() }
    }
}

/// An overlay that a file names.
struct Entry {
    key: String,
    named_at: Span,
    optional: bool,
    when: Vec<OverlayCondition>,
}

struct OverlayCondition {
    path: Vec<String>,
    value: Value,
    place: Span,
}

/// A path to remove.
#[derive(Clone)]
pub struct Removal {
    pub path: Vec<String>,
    pub place: Span,
}

/// The merged declaration, and the changes to schema files.
pub struct MergeResult {
    pub root: Node,
    pub edits: Vec<SchemaEdit>,
    /// Removals of keys of resources that these do not declare themselves: they may inherit them or get them from a
    /// taxonomy.
    pub waiting: Vec<Removal>,
    /// Names of the schema files that any layer declares, also of resources that a later layer removes: changes to
    /// those are moot, not wrong.
    pub schema_stems: HashSet<String>,
    /// Keys of one or two segments at or below which the declaration is not as the program has it: a file of the user's, the
    /// environment or the command line says or removes something.
    pub own: Vec<Vec<String>>,
}

/// A change to the schema file of this name. Separate from the declaration, because `false` and `remove` refer to
/// the content of the file.
pub struct SchemaEdit {
    pub stem: String,
    pub place: Span,
    pub change: Change,
}

/// See [`SchemaEdit`].
pub enum Change {
    Overlay(Node),
    Remove(Vec<String>),
}

/// The main file's layer and those of the overlays whose conditions hold, in order.
pub fn layers(reader: &mut Reader<'_>, settings: &[Node]) -> Vec<Layer> {
    let mut base = main_layer(reader);
    let entries = std::mem::take(&mut base.overlays);
    let mut loaded: Vec<Option<Layer>> = Vec::new();
    for entry in &entries {
        loaded.push(if entry.when.is_empty() { overlay_layer(reader, entry) } else { None });
    }
    // Conditions see everything that does not itself depend on conditions, so that their order does not matter.
    let told = reader.problems.len();
    let named: HashSet<&str> =
        entries.iter().flat_map(|entry| &entry.when).flat_map(|c| c.path.first()).map(String::as_str).collect();
    let unconditional = std::iter::once(&base).chain(loaded.iter().flatten()).map(|layer| layer.part(&named)).collect();
    let mut seen = merge(reader, unconditional, settings).root;
    merge::resolve_appends(&mut seen);
    reader.problems.truncate(told);
    for (entry, slot) in entries.iter().zip(&mut loaded) {
        if !entry.when.is_empty() && holds(reader, entry, &seen) {
            *slot = overlay_layer(reader, entry);
        }
    }
    std::iter::once(base).chain(loaded.into_iter().flatten()).collect()
}

/// Merges the layers and then the settings over each other.
pub fn merge(reader: &mut Reader<'_>, layers: Vec<Layer>, settings: &[Node]) -> MergeResult {
    let span = layers.first().map_or(NOWHERE, |layer| layer.root.span);
    let root = Node::table(span);
    let (edits, waiting) = (Vec::new(), Vec::new());
    let mut merged = MergeResult { root, edits, waiting, schema_stems: HashSet::new(), own: Vec::new() };
    for layer in layers {
        for removal in layer.removals {
            if !reader.sources.is_verbatim(removal.place.source) {
                merged.own.push(removal.path.iter().take(2).cloned().collect());
            }
            remove(reader, &mut merged, removal);
        }
        lay_over(reader, &mut merged, layer.root);
    }
    for setting in settings {
        lay_over(reader, &mut merged, setting.clone());
    }
    merged
}

/// Applies the removals that had to wait until resources were complete.
pub fn remove_inherited(reader: &mut Reader<'_>, merged: &mut MergeResult) {
    for Removal { path, place } in std::mem::take(&mut merged.waiting) {
        if !merge::remove(&mut merged.root, &path) {
            nothing_to_remove(reader, &merged.root, &path, place, "");
        }
    }
}

/// Reports that a removal found nothing, with the nearest existing name.
pub fn nothing_to_remove(reader: &mut Reader<'_>, root: &Node, path: &[String], place: Span, within: &str) {
    if reader.partial {
        return;
    }
    let reach = (0..path.len()).rev().find(|reach| root.at(&path[..*reach]).is_some()).unwrap_or(0);
    let keys = root.at(&path[..reach]).and_then(Node::as_table).into_iter().flat_map(Table::keys);
    let near = path.get(reach).and_then(|segment| check::nearest(segment, keys.map(String::as_str)));
    let hint = near.map(|near| format!("did you mean `{near}`?"));
    reader.report(place, format!("there is no `{}`{within} to remove", dotted(path)), hint);
}

const NOWHERE: Span = Span { source: usize::MAX, start: 0, end: 0 };

fn main_layer(reader: &mut Reader<'_>) -> Layer {
    let main = reader.origin.main();
    let Some(mut base) = layer(reader, &main, None, false, &mut Walk::default()) else {
        return Layer { root: Node::table(NOWHERE), overlays: Vec::new(), removals: Vec::new() };
    };
    for removal in base.removals.drain(..) {
        let hint = Some("overlay files remove what other files declare; delete the declaration instead".to_owned());
        reader.report(removal.place, "`remove` is for overlay files", hint);
    }
    base
}

fn overlay_layer(reader: &mut Reader<'_>, entry: &Entry) -> Option<Layer> {
    let mut layer = layer(reader, &entry.key, Some(entry.named_at), entry.optional, &mut Walk::default())?;
    for nested in layer.overlays.drain(..) {
        let hint = Some(format!("list it in `{}`", reader.origin.name(&reader.origin.main())));
        reader.report(nested.named_at, "an overlay cannot have overlays", hint);
    }
    Some(layer)
}

fn holds(reader: &mut Reader<'_>, entry: &Entry, seen: &Node) -> bool {
    let grammar = Grammar::declaration();
    let mut all = true;
    for condition in &entry.when {
        let found = seen.at(&condition.path).map(Node::to_value).or_else(|| grammar.default_at(&condition.path));
        if found.is_none() && grammar.field(&condition.path).is_none() && !reader.partial {
            let (last, parents) = condition.path.split_last().map_or(("", &[][..]), |(l, p)| (l.as_str(), p));
            let message = format!("`when` names the key `{}`, which does not exist", dotted(&condition.path));
            reader.report(condition.place, message, suggestion(last, grammar.keys(parents)));
        }
        all &= found.as_ref() == Some(&condition.value);
    }
    all
}

/// The path through the includes of one file.
#[derive(Default)]
struct Walk {
    /// Files that are being read, each included by the previous one.
    chain: Vec<String>,
    /// All files that were reached.
    reached: HashSet<String>,
}

/// Longest chain of includes.
const LONGEST_CHAIN: usize = 16;

/// A file with its includes.
fn layer(reader: &mut Reader<'_>, key: &str, named_at: Option<Span>, optional: bool, walk: &mut Walk) -> Option<Layer> {
    if let Some(message) = refusal(reader, key, walk) {
        reader.report_file(named_at, key, message, None);
        reader.partial = true;
        return None;
    }
    walk.reached.insert(key.to_owned());
    let told = reader.problems.len();
    let source = reader.source(key, named_at, optional);
    let root = source.and_then(|source| parse_toml::parse(&reader.sources, source, &mut reader.problems));
    reader.partial |= reader.problems.len() > told;
    let mut root = root?;
    walk.chain.push(key.to_owned());
    let mut layer = file_keys(reader, &mut root, walk);
    walk.chain.pop();
    merge::join(&mut layer.root, root, &reader.sources, &mut reader.problems);
    Some(layer)
}

fn refusal(reader: &Reader<'_>, key: &str, walk: &Walk) -> Option<String> {
    let name = reader.origin.name(key);
    if walk.chain.iter().any(|above| above == key) {
        let chain: Vec<String> = walk.chain.iter().map(|above| reader.origin.name(above)).collect();
        return Some(format!("this include goes in a circle: {} -> {name}", chain.join(" -> ")));
    }
    if walk.reached.contains(key) {
        return Some(format!("`{name}` is included already"));
    }
    (walk.chain.len() >= LONGEST_CHAIN).then(|| format!("these are more than {LONGEST_CHAIN} includes within includes"))
}

/// Takes `include`, `overlays` and `remove` out of a file and follows the includes.
fn file_keys(reader: &mut Reader<'_>, root: &mut Node, walk: &mut Walk) -> Layer {
    let mut layer = Layer { root: Node::table(root.span), overlays: Vec::new(), removals: Vec::new() };
    let keys = taken_out(root);
    let Some(said) = read_file_keys(reader, &keys) else { return layer };
    for (index, file) in said.include.iter().enumerate() {
        let place = keys.locate(&["include", &index.to_string()]);
        for included in reader.included(place, file) {
            let Some(part) = self::layer(reader, &included, Some(place), false, walk) else { continue };
            merge::join(&mut layer.root, part.root, &reader.sources, &mut reader.problems);
            layer.overlays.extend(part.overlays);
            layer.removals.extend(part.removals);
        }
    }
    for (index, path) in said.remove.iter().enumerate() {
        let place = keys.locate(&["remove", &index.to_string()]);
        layer.removals.extend(dotted_key(reader, path, place).map(|path| Removal { path, place }));
    }
    for (index, overlay) in said.overlays.into_iter().enumerate() {
        layer.overlays.push(entry(reader, &keys, &index.to_string(), overlay));
    }
    layer
}

fn taken_out(root: &mut Node) -> Node {
    let mut keys = Table::new();
    for name in FILE_KEYS {
        if let Some(member) = root.as_table_mut().and_then(|table| table.shift_remove(name)) {
            keys.insert(name.to_owned(), member);
        }
    }
    Node { data: Data::Table(keys), span: root.span }
}

fn read_file_keys(reader: &mut Reader<'_>, keys: &Node) -> Option<FileKeys> {
    let found = check::check(&Grammar::file_keys(), (keys, &keys.to_value()), &reader.sources, false);
    let said = serde_json::from_value::<FileKeys>(keys.to_value());
    if found.is_empty() && said.is_ok() {
        return said.ok();
    }
    reader.problems.extend(found);
    reader.partial = true;
    None
}

fn entry(reader: &mut Reader<'_>, keys: &Node, index: &str, overlay: Overlay) -> Entry {
    let named_at = keys.locate(&["overlays", index, "file"]);
    let mut when = Vec::new();
    for (path, value) in overlay.when {
        let place = keys.locate_key(&["overlays", index, "when", &path]);
        when.extend(dotted_key(reader, &path, place).map(|path| OverlayCondition { path, value, place }));
    }
    Entry { key: reader.resolve(named_at.source, &overlay.file), named_at, optional: overlay.optional, when }
}

fn dotted_key(reader: &mut Reader<'_>, text: &str, place: Span) -> Option<Vec<String>> {
    let path = parse_toml::parse_key(text);
    if path.is_none() {
        let hint = Some("segments are joined by dots; those with other characters are quoted".to_owned());
        reader.report(place, format!("`{text}` is not a dotted key"), hint);
    }
    path
}

/// The name by which `[schemas.NAME]` means a schema file.
pub fn schema_stem(file: &str) -> String {
    Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn lay_over(reader: &mut Reader<'_>, merged: &mut MergeResult, mut root: Node) {
    let tables = ["base_resources", "resources"].into_iter().filter_map(|table| root.child(table)?.as_table());
    let resources = tables.flat_map(Table::values);
    let files = resources.filter_map(|resource| resource.node.child("schema")?.as_str());
    merged.schema_stems.extend(files.map(schema_stem));
    own_keys(&reader.sources, &root, &[], &mut merged.own);
    let schemas = root.as_table_mut().and_then(|table| table.shift_remove("schemas"));
    merge::overlay_keeping_appends(&mut merged.root, root, &reader.sources, &mut reader.problems);
    let Some(schemas) = schemas else { return };
    let Data::Table(stems) = schemas.node.data else {
        let message = format!("`schemas` must be a table, not {}", schemas.node.kind());
        return reader.report(schemas.node.span, message, None);
    };
    for (stem, Member { key: place, node }) in stems {
        match node.as_table() {
            Some(_) => merged.edits.push(SchemaEdit { stem, place, change: Change::Overlay(node) }),
            None => {
                let message = format!("`{}` must be a table, not {}", dotted(&["schemas", &stem]), node.kind());
                reader.report(node.span, message, None);
            }
        }
    }
}

/// See [`MergeResult::own`].
fn own_keys(sources: &Sources, node: &Node, above: &[String], own: &mut Vec<Vec<String>>) {
    for (key, member) in node.as_table().into_iter().flatten() {
        let path = [above, &[key.trim_start_matches('+').to_owned()]].concat();
        match path.len() == 1 && member.node.as_table().is_some() {
            true => own_keys(sources, &member.node, &path, own),
            false if sources.is_all_verbatim(&member.node) => {}
            false => own.push(path),
        }
    }
}

fn remove(reader: &mut Reader<'_>, merged: &mut MergeResult, removal: Removal) {
    let place = removal.place;
    match removal.path.as_slice() {
        [first, stem, rest @ ..] if first == "schemas" && !rest.is_empty() => {
            merged.edits.push(SchemaEdit { stem: stem.clone(), place, change: Change::Remove(rest.to_vec()) });
        }
        path if merge::remove(&mut merged.root, path) => {}
        [table, name, _, ..] if merged.root.at(&[table, name]).is_some() && table.ends_with("resources") => {
            merged.waiting.push(removal);
        }
        path => nothing_to_remove(reader, &merged.root, path, place, ""),
    }
}
