//! `{prefix}` and `{PREFIX}` in every string and key.
//!
//! It does not know what any key means but `site.prefix`.

use super::grammar::Grammar;
use super::read::Reader;
use super::tree::{Data, Node, Table};
use serde_json::Value;

/// The prefix that a declaration gives, or the default.
pub fn prefix_of(root: &Node) -> String {
    let default = || Grammar::declaration().default_at(&["site", "prefix"]);
    let given = root.at(&["site", "prefix"]).and_then(Node::as_str).map(str::to_owned);
    given.or_else(|| default().as_ref().and_then(Value::as_str).map(str::to_owned)).unwrap_or_default()
}

/// Fills the prefix in everywhere; keys that become equal are a problem.
pub fn fill(reader: &mut Reader<'_>, node: &mut Node, prefix: &str) {
    match &mut node.data {
        Data::String(text) => fill_text(text, prefix),
        Data::Array(items) => items.iter_mut().for_each(|item| fill(reader, item, prefix)),
        Data::Table(table) => {
            if table.keys().any(|key| is_in(key)) {
                fill_keys(reader, table, prefix);
            }
            table.values_mut().for_each(|member| fill(reader, &mut member.node, prefix));
        }
        _ => {}
    }
}

fn fill_keys(reader: &mut Reader<'_>, table: &mut Table, prefix: &str) {
    for (mut key, member) in std::mem::take(table) {
        fill_text(&mut key, prefix);
        match table.get(&key) {
            None => drop(table.insert(key, member)),
            Some(first) => {
                let hint = Some(format!("the first is at {}", reader.sources.reference(first.key)));
                reader.report(member.key, format!("the key `{key}` is given twice once the prefix is filled in"), hint);
            }
        }
    }
}

/// As written in small letters and in capitals.
const PLACES: [&str; 2] = ["{prefix}", "{PREFIX}"];

/// Whether the prefix is to be filled in anywhere in a text.
pub fn is_in(text: &str) -> bool {
    // Most texts have no brace at all.
    text.contains('{') && PLACES.iter().any(|place| text.contains(place))
}

fn fill_text(text: &mut String, prefix: &str) {
    if is_in(text) {
        let [small, capital] = PLACES;
        *text = text.replace(small, prefix).replace(capital, &prefix.to_uppercase());
    }
}
