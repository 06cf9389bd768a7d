//! Rows of tables from the documents of a site: `live.json` says which member becomes which column.

use crate::import::field_values::stored;
use cms_text::php;
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The rows of a table that a document has.
#[derive(Deserialize)]
pub(super) struct LiveRowShape {
    pub table: String,
    /// The source of each column.
    columns: BTreeMap<String, String>,
    /// A row for each entry of this member.
    each: Option<String>,
    /// Without a value in this column there is no row.
    needs: Option<String>,
    /// Columns whose values have other words in tables, with the names of the lists.
    #[serde(default)]
    words: BTreeMap<String, String>,
    /// The column of an address that becomes a name below the folder of uploads.
    below: Option<String>,
    /// The column of a list that becomes an array with `true` for each.
    flags: Option<String>,
    /// The same row is written once.
    #[serde(default)]
    pub once: bool,
}

/// Words of tables for those of documents, by list.
pub(super) type WordLists = BTreeMap<String, BTreeMap<String, String>>;

/// Facts about a document besides it.
#[derive(Clone, Copy)]
pub(super) struct DocumentFacts<'f> {
    /// The type of a record, the taxonomy of a term.
    pub kind: &'f str,
    /// Members with ids of terms.
    pub terms: &'f [String],
    pub words: &'f WordLists,
}

/// Texts of values that need no row: the empty one, and an empty list.
const NOTHING: [&str; 2] = ["", "a:0:{}"];

/// Columns with their texts.
pub(super) type TableRow = Vec<(String, String)>;

impl LiveRowShape {
    /// The members that the rows are made of, as `_fields` names them.
    pub(super) fn members(&self) -> impl Iterator<Item = String> + '_ {
        let pointers = self.columns.values().chain(&self.each).filter_map(|source| source.strip_prefix('/'));
        pointers.map(|pointer| {
            let names = pointer.split('/').take_while(|name| !name.starts_with(|first: char| first.is_ascii_digit()));
            names.collect::<Vec<_>>().join(".")
        })
    }

    /// The rows of a document.
    pub(super) fn rows(&self, document: &Value, facts: DocumentFacts<'_>) -> Vec<TableRow> {
        let entries: Vec<(String, Value)> = match self.each.as_deref() {
            None => vec![(String::new(), Value::Null)],
            Some("@terms") => terms(document, facts.terms).map(|id| (String::new(), id)).collect(),
            Some(pointer) => match document.pointer(pointer) {
                Some(Value::Object(members)) => {
                    members.clone().into_iter().filter(|(_, value)| !value.is_null()).collect()
                }
                _ => Vec::new(),
            },
        };
        entries.iter().filter_map(|entry| self.row(document, facts, entry)).collect()
    }

    fn row(&self, document: &Value, facts: DocumentFacts<'_>, entry: &(String, Value)) -> Option<TableRow> {
        let mut row = Vec::with_capacity(self.columns.len());
        for (column, source) in &self.columns {
            let value = match source.as_str() {
                "#key" => Some(entry.0.clone()),
                "#value" => stored(&entry.1),
                "@kind" => Some(facts.kind.to_owned()),
                source => match source.strip_prefix('=') {
                    Some(text) => Some(text.to_owned()),
                    None => document.pointer(source).and_then(|value| self.read(column, value)),
                },
            };
            let value = match self.words.get(column) {
                Some(list) => value.and_then(|word| facts.words.get(list)?.get(&word).cloned()),
                None => value,
            };
            let missing = value.as_ref().is_none_or(|text| NOTHING.contains(&text.as_str()));
            if missing && self.needs.as_deref() == Some(column) {
                return None;
            }
            row.extend(value.map(|value| (column.clone(), value)));
        }
        Some(row)
    }

    fn read(&self, column: &str, value: &Value) -> Option<String> {
        if self.below.as_deref() == Some(column) {
            let (_, file) = value.as_str()?.split_once("/uploads/")?;
            return Some(percent_decode_str(file).decode_utf8().map_or_else(|_| file.to_owned(), Cow::into_owned));
        }
        if self.flags.as_deref() == Some(column) {
            let words = value.as_array().into_iter().flatten().filter_map(Value::as_str);
            let flags: Map<String, Value> = words.map(|word| (word.to_owned(), Value::Bool(true))).collect();
            return (!flags.is_empty()).then(|| php::serialize(&Value::Object(flags)));
        }
        stored(value)
    }
}

/// The ids of the terms of a document; a member has one or several.
fn terms<'d>(document: &'d Value, members: &'d [String]) -> impl Iterator<Item = Value> + 'd {
    members.iter().flat_map(|member| match &document[member.as_str()] {
        Value::Array(ids) => ids.clone(),
        Value::Number(id) if id.as_i64() != Some(0) => vec![Value::Number(id.clone())],
        _ => Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn documents_become_rows() {
        let words = BTreeMap::from([("w".to_owned(), BTreeMap::from([("hold".to_owned(), "0".to_owned())]))]);
        let terms = ["tags".to_owned(), "menus".to_owned()];
        let facts = DocumentFacts { kind: "post", terms: &terms, words: &words };
        let document = json!({"id": 7, "title": {"raw": "A"}, "status": "hold", "tags": [1, 2], "menus": 3, "none": null,
            "meta": {"a": 5, "b": ["x"], "c": "", "d": []},
            "acf": {"a": "", "b": [], "c": {"w": 3}, "d": false, "e": null}, "roles": ["editor"], "url": "https://a.example/wp-content/uploads/2024/b%20b.jpg"});
        for (shape, expected) in [
            (
                json!({"table": "t", "columns": {"a": "/id", "b": "/title/raw", "c": "=x", "d": "@kind", "e": "/none"}}),
                "a=7 b=A c=x d=post",
            ),
            (json!({"table": "t", "columns": {"s": "/status"}, "words": {"s": "w"}}), "s=0"),
            (json!({"table": "t", "columns": {"s": "/title/raw"}, "words": {"s": "w"}, "needs": "s"}), ""),
            (json!({"table": "t", "each": "@terms", "columns": {"t": "#value"}}), "t=1, t=2, t=3"),
            (
                json!({"table": "t", "each": "/meta", "columns": {"k": "#key", "v": "#value"}, "needs": "v"}),
                "k=a v=5, k=b v=a:1:{i:0;s:1:\"x\";}",
            ),
            (
                json!({"table": "t", "each": "/acf", "columns": {"k": "#key", "v": "#value"}}),
                "k=a v=, k=b v=a:0:{}, k=c v=a:1:{s:1:\"w\";i:3;}, k=d v=",
            ),
            (json!({"table": "t", "columns": {"r": "/roles"}, "flags": "r"}), "r=a:1:{s:6:\"editor\";b:1;}"),
            (json!({"table": "t", "columns": {"f": "/url"}, "below": "f"}), "f=2024/b b.jpg"),
        ] {
            let parsed: LiveRowShape = serde_json::from_value(shape.clone()).expect("a shape");
            let rows = parsed.rows(&document, facts).into_iter().map(|row| {
                let columns: Vec<String> = row.into_iter().map(|(column, text)| format!("{column}={text}")).collect();
                columns.join(" ")
            });
            assert_eq!(rows.collect::<Vec<_>>().join(", "), expected, "{shape}");
        }
    }
}
