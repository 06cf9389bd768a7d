//! `extends`: resources that inherit the keys of another one.
//!
//! A resource is merged over the one that it extends, as an overlay is merged over `routes.toml`. Of the grammar it knows
//! `base_resources`, `resources` and `extends`.

use super::check::suggestion;
use super::layers::{MergeResult, Removal};
use super::merge;
use super::read::Reader;
use super::tree::{Node, Span, Table};
use std::collections::HashSet;

/// The identity of a resource, which others do not inherit from it. From a base resource they inherit every key.
/// `declaration::Resource::extends` documents this list.
const OWN: [&str; 11] = [
    "base",
    "kind",
    "api_name",
    "query_var",
    "labels",
    "listing",
    "seed",
    "default_setting",
    "auto_add",
    "schema_links",
    "originals",
];

/// The tables of resources, in the order in which `extends` is looked up.
static TABLES: [&str; 2] = ["base_resources", "resources"];

/// Merges each resource over the one that it extends.
pub fn inherit(reader: &mut Reader<'_>, merged: &mut MergeResult) {
    let removals = std::mem::take(&mut merged.waiting);
    let mut heirs = Inheritance { reader, removals, done: HashSet::new(), failed: false };
    for table in TABLES {
        for name in names(&merged.root, table) {
            heirs.complete(&mut merged.root, (table, &name), &mut Vec::new());
        }
    }
    merged.waiting = heirs.removals;
    // Keys that it would inherit are not reported as absent.
    reader.partial |= heirs.failed;
    merge::resolve_appends(&mut merged.root);
}

fn names(root: &Node, table: &str) -> Vec<String> {
    root.child(table).and_then(Node::as_table).into_iter().flat_map(Table::keys).cloned().collect()
}

struct Inheritance<'a, 'r> {
    reader: &'a mut Reader<'r>,
    /// Removals of keys that the resource itself does not declare, but may inherit.
    removals: Vec<Removal>,
    done: HashSet<(&'static str, String)>,
    /// Some resource extends one that does not exist.
    failed: bool,
}

impl Inheritance<'_, '_> {
    /// Completes a resource after the one that it extends. `chain`: the resources that are being completed, each because
    /// the one before extends it.
    fn complete(&mut self, root: &mut Node, at: (&'static str, &str), chain: &mut Vec<(&'static str, String)>) {
        let (table, name) = at;
        if !self.done.insert((table, name.to_owned())) {
            return;
        }
        let Some(own) = root.at(&[table, name]).cloned() else { return };
        let Some((wanted, place)) = extended(&own) else { return };
        chain.push((table, name.to_owned()));
        if let Some(from) = self.find(root, table, &wanted, place, chain) {
            self.complete(root, (from, &wanted), chain);
            let mut whole = root.at(&[from, &wanted]).cloned().unwrap_or(Node::table(own.span));
            if let Some(inherited) = whole.as_table_mut() {
                inherited.shift_remove("extends");
                inherited.retain(|key, _| from == TABLES[0] || !OWN.contains(&key.as_str()));
            }
            let of_this = |removal: &Removal| removal.path[..2] == [table, name];
            self.removals.retain(|removal| !(of_this(removal) && merge::remove(&mut whole, &removal.path[2..])));
            whole.span = own.span;
            merge::overlay_keeping_appends(&mut whole, own, &self.reader.sources, &mut self.reader.problems);
            let table = root.as_table_mut().and_then(|root| root.get_mut(table)?.node.as_table_mut());
            if let Some(member) = table.and_then(|table| table.get_mut(name)) {
                member.node = whole;
            }
        }
        chain.pop();
    }

    /// The table of the resource that another one extends.
    fn find(
        &mut self,
        root: &Node,
        table: &str,
        wanted: &str,
        place: Span,
        chain: &[(&'static str, String)],
    ) -> Option<&'static str> {
        match declaring(root, table, wanted) {
            Some(found) if chain.iter().any(|(table, name)| *table == found && name == wanted) => {
                let names: Vec<&str> = chain.iter().map(|(_, name)| name.as_str()).chain([wanted]).collect();
                let message = format!("these resources extend each other: {}", names.join(" -> "));
                self.reader.report(place, message, None);
                self.failed = true;
                None
            }
            Some(found) => Some(found),
            None => {
                let names: Vec<String> = searched(table).iter().flat_map(|table| names(root, table)).collect();
                let hint = suggestion(wanted, names.iter().map(String::as_str));
                if !self.reader.partial {
                    self.reader.report(place, format!("there is no resource `{wanted}` to extend"), hint);
                }
                self.failed = true;
                None
            }
        }
    }
}

/// A resource, what it extends, and so on: the table and the name of each.
pub fn line(root: &Node, name: &str) -> Vec<(&'static str, String)> {
    let mut line = vec![(TABLES[1], name.to_owned())];
    while let Some((table, name)) = line.last()
        && let Some((wanted, _)) = root.at(&[table, name.as_str()]).and_then(extended)
    {
        let Some(from) = declaring(root, table, &wanted) else { break };
        line.push((from, wanted));
    }
    line
}

/// The table with what a resource of a table extends.
fn declaring(root: &Node, table: &str, wanted: &str) -> Option<&'static str> {
    searched(table).iter().copied().find(|table| root.at(&[table, wanted]).is_some())
}

/// The tables in which it may be.
fn searched(table: &str) -> &'static [&'static str] {
    if table == TABLES[0] { &TABLES[..1] } else { &TABLES }
}

/// Whether a resource has the value at a path from the one that it extends: then both have it from one place in a file.
pub fn is_inherited(root: &Node, path: &[&str]) -> bool {
    let [table, name, below @ ..] = path else { return false };
    let Some((from, _)) = root.at(&[table, name]).and_then(extended) else { return false };
    let place = root.locate(path);
    TABLES.iter().any(|table| root.locate(&[&[table, from.as_str()], below].concat()) == place)
}

/// The name of what a resource extends, and where it says so.
fn extended(resource: &Node) -> Option<(String, Span)> {
    let extends = resource.child("extends")?;
    Some((extends.as_str()?.to_owned(), extends.span))
}
