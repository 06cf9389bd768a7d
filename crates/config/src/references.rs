//! `{"$ref": "content.json#/properties/title"}` in schema files: parts of other files, or of the same one.
//!
//! A reference is replaced by a copy of its target. The keys beside it are merged over that copy as an overlay is: tables
//! key by key, `"+key"` appends to an array, `false` removes a table. It does not know what a schema means.

use super::check::suggestion;
use super::merge;
use super::read::Reader;
use super::tree::{Data, Node, Span, Table, pointer_segments};
use indexmap::IndexMap;

/// The keyword.
const REF: &str = "$ref";

/// Maximum depth of references within references.
const DEEPEST: usize = 16;

/// Maximum number of values that the references of one file copy.
const MOST: usize = 100_000;

/// The schema files that a tree refers to, with the places that name them.
pub fn files(tree: &Node) -> Vec<(String, Span)> {
    let mut found = Vec::new();
    collect(tree, &mut found);
    found
}

fn collect(node: &Node, found: &mut Vec<(String, Span)>) {
    match &node.data {
        Data::Table(table) => {
            for (key, member) in table {
                match member.node.as_str().filter(|_| key == REF) {
                    Some(text) => {
                        let file = text.split('#').next().unwrap_or_default();
                        if !file.is_empty() {
                            found.push((file.to_owned(), member.node.span));
                        }
                    }
                    None => collect(&member.node, found),
                }
            }
        }
        Data::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}

/// Replaces all references of a tree by copies of their targets. `others`: the finished trees of other files by their keys,
/// without those that have problems of their own.
pub fn resolve(reader: &mut Reader<'_>, mut tree: Node, others: &IndexMap<String, Node>) -> Node {
    // References to other parts of the tree lead to what was written there.
    let written = refers_to_itself(&tree).then(|| tree.clone());
    let own = written.as_ref();
    Resolver { reader, own, others, chain: Vec::new(), brought: 0 }.walk(&mut tree);
    tree
}

/// Whether a tree has references to parts of itself.
fn refers_to_itself(node: &Node) -> bool {
    match &node.data {
        Data::Table(table) => table.iter().any(|(key, member)| match member.node.as_str().filter(|_| key == REF) {
            Some(text) => text.is_empty() || text.starts_with('#'),
            None => refers_to_itself(&member.node),
        }),
        Data::Array(items) => items.iter().any(refers_to_itself),
        _ => false,
    }
}

struct Resolver<'a, 'r> {
    reader: &'a mut Reader<'r>,
    /// The file as it was read, where it refers to itself.
    own: Option<&'a Node>,
    others: &'a IndexMap<String, Node>,
    /// The references within this file that are being followed.
    chain: Vec<String>,
    /// Values that references have copied.
    brought: usize,
}

impl Resolver<'_, '_> {
    fn walk(&mut self, node: &mut Node) {
        match &mut node.data {
            Data::Table(table) => {
                table.values_mut().for_each(|member| self.walk(&mut member.node));
                let is_text = |node: &Node| node.as_str().is_some();
                if let Some(reference) = table.get(REF).filter(|member| is_text(&member.node))
                    && let Some(mut target) = self.target(&reference.node)
                {
                    table.shift_remove(REF);
                    let own = Node { data: Data::Table(std::mem::take(table)), span: node.span };
                    merge::overlay(&mut target, own, &self.reader.sources, &mut self.reader.problems);
                    *node = target;
                }
            }
            Data::Array(items) => items.iter_mut().for_each(|item| self.walk(item)),
            _ => {}
        }
    }

    /// A copy of the target of a reference, with its own references resolved.
    fn target(&mut self, reference: &Node) -> Option<Node> {
        let (text, place) = (reference.as_str().unwrap_or_default(), reference.span);
        let (file, pointer) = text.split_once('#').unwrap_or((text, ""));
        let whole = match file {
            "" => self.own?,
            file => self.others.get(&self.reader.resolve(place.source, file))?,
        };
        let path = pointer_segments(pointer);
        let Some(mut target) = whole.at(&path).cloned() else {
            let (last, parents) = path.split_last().map_or(("", &[][..]), |(last, parents)| (last, parents));
            let beside = whole.at(parents).and_then(Node::as_table);
            let hint = beside.and_then(|table: &Table| suggestion(last, table.keys().map(String::as_str)));
            self.reader.report(place, format!("`{text}` leads to nothing"), hint);
            return None;
        };
        if target.as_table().is_none() {
            self.reader.report(place, format!("`{text}` leads to {}, not to a schema", target.kind()), None);
            return None;
        }
        self.brought += size(&target);
        if self.brought > MOST {
            self.reader.report(place, format!("the references of this file copy more than {MOST} values"), None);
            return None;
        }
        if file.is_empty() {
            if self.chain.iter().any(|above| above == text) || self.chain.len() >= DEEPEST {
                self.reader.report(
                    place,
                    format!("`{text}` refers to itself, or over more than {DEEPEST} others"),
                    None,
                );
                return None;
            }
            self.chain.push(text.to_owned());
            self.walk(&mut target);
            self.chain.pop();
        }
        Some(target)
    }
}

fn size(node: &Node) -> usize {
    match &node.data {
        Data::Table(table) => table.values().map(|member| size(&member.node)).sum::<usize>() + 1,
        Data::Array(items) => items.iter().map(size).sum::<usize>() + 1,
        _ => 1,
    }
}
