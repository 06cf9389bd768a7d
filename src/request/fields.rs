//! `_fields`: which members of a document were requested.

use serde_json::{Map, Value};

/// The requested members; everything when nothing was named.
#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub struct Fields {
    paths: Vec<Vec<String>>,
}

impl Fields {
    /// Reads the parameter: a comma-separated text or a list; paths with dots.
    pub fn parse(value: Option<&Value>) -> Fields {
        let names: Vec<String> = match value {
            Some(Value::String(text)) => text.split(',').map(|s| s.trim().to_owned()).collect(),
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(|s| s.trim().to_owned()).collect(),
            _ => Vec::new(),
        };
        let paths = names.into_iter().filter(|n| !n.is_empty());
        Fields { paths: paths.map(|n| n.split('.').map(str::to_owned).collect()).collect() }
    }

    /// Whether nothing is left out.
    pub fn is_all(&self) -> bool {
        self.paths.is_empty()
    }

    /// Whether a top-level member is requested, wholly or in part. `_embedded` depends on the links.
    pub fn wants(&self, member: &str) -> bool {
        self.is_all() || self.paths.iter().any(|p| p[0] == member)
    }

    /// Leaves out of a document what was not requested; `alone`: it is no part of a list.
    pub fn keep_of(&self, document: Value, alone: bool) -> Value {
        if alone { self.keep_alone(document) } else { self.keep(document) }
    }

    /// Leaves out of a document in a list what was not requested.
    pub fn keep(&self, document: Value) -> Value {
        if self.is_all() {
            return document;
        }
        match document {
            Value::Object(map) => {
                let paths: Vec<&[String]> = self.paths.iter().map(Vec::as_slice).collect();
                Value::Object(kept(map, &paths))
            }
            other => other,
        }
    }

    /// Leaves out of a lone document what was not requested. Its links are included whole or not at all.
    pub fn keep_alone(&self, mut document: Value) -> Value {
        let links = document.as_object_mut().and_then(|map| map.shift_remove("_links"));
        let mut kept = self.keep(document);
        if let (Some(map), Some(links)) = (kept.as_object_mut(), links)
            && (self.wants("_links") || self.wants("_embedded"))
        {
            map.insert("_links".into(), links);
        }
        kept
    }
}

fn kept(map: Map<String, Value>, paths: &[&[String]]) -> Map<String, Value> {
    let mut out = Map::new();
    for (key, value) in map {
        let below: Vec<&[String]> = paths.iter().filter(|p| p[0] == key).map(|p| &p[1..]).collect();
        if below.is_empty() {
            continue;
        }
        if below.iter().any(|p| p.is_empty()) {
            out.insert(key, value);
            continue;
        }
        match value {
            Value::Object(inner) => drop(out.insert(key, Value::Object(kept(inner, &below)))),
            // What has no members is included whole.
            value => drop(out.insert(key, value)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keeps_what_was_asked_for() {
        let document = json!({"id": 1, "title": {"raw": "a", "rendered": "b"}, "_links": {"self": []}});
        let check = |fields: Value, expected: Value| {
            assert_eq!(Fields::parse(Some(&fields)).keep(document.clone()), expected, "{fields}");
        };
        check(json!(""), document.clone());
        check(json!("id, title.raw"), json!({"id": 1, "title": {"raw": "a"}}));
        check(json!(["_links"]), json!({"_links": {"self": []}}));
        check(json!("nothing"), json!({}));
        check(json!("id.more"), json!({"id": 1}));
    }
}
