//! `_fields`: which members of a document were requested.

use serde_json::{Map, Value};

/// The requested members; everything when nothing was named.
#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub struct Fields {
    paths: Vec<Vec<String>>,
    /// Names were given, although none of them may select anything.
    named: bool,
    way: FieldOptions,
}

/// How the parameter is read and what it selects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Hash)]
pub struct FieldOptions {
    /// Blanks separate names, names reach into lists by the positions of items, nothing left of an object is an empty list,
    /// and `_embedded` is a member only where something is embedded.
    pub positions: bool,
    /// Something is embedded.
    pub embeds: bool,
    /// Contents are requested as blocks (`_blocks`).
    pub blocks: Option<PatternView>,
    /// The links of a lone document are included whatever is requested.
    pub keeps_links: bool,
    /// Values of field groups are requested as pages show them.
    pub formatted: bool,
}

/// How contents that are requested as blocks show synced patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PatternView {
    /// With their blocks inside them.
    Resolved,
    /// By their ids, as they are written.
    Written,
}

impl PatternView {
    /// Reads `_blocks`: `raw`, or anything but `0`, `false` and nothing.
    pub fn of(value: Option<&Value>) -> Option<PatternView> {
        match value? {
            Value::String(text) if text == "raw" => Some(PatternView::Written),
            Value::String(text) => (!matches!(text.as_str(), "" | "0" | "false")).then_some(PatternView::Resolved),
            other => (*other != Value::Bool(false) && !other.is_null()).then_some(PatternView::Resolved),
        }
    }
}

impl Fields {
    /// Reads the parameter: a comma-separated text or a list; paths with dots.
    pub fn parse(value: Option<&Value>) -> Fields {
        Fields::read(value, FieldOptions::default(), &[])
    }

    /// Reads the parameter. Of the members `whole`, only whole ones can be requested; `*` is any but `id`.
    pub fn read(value: Option<&Value>, way: FieldOptions, whole: &[String]) -> Fields {
        let separates = |c: char| c == ',' || way.positions && c.is_ascii_whitespace();
        let names: Vec<String> = match value {
            Some(Value::String(text)) => text.split(separates).map(|s| s.trim().to_owned()).collect(),
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(|s| s.trim().to_owned()).collect(),
            _ => Vec::new(),
        };
        let mut paths: Vec<Vec<String>> = Vec::new();
        let names = names.into_iter().filter(|name| !name.is_empty());
        for path in names.map(|name| name.split('.').map(str::to_owned).collect::<Vec<_>>()) {
            // Recorded: what follows a part of what is included whole is not read.
            if way.positions && path.len() > 1 && paths.iter().any(|known| path[..path.len() - 1].starts_with(known)) {
                break;
            }
            paths.push(path);
        }
        let listed = matches!(value, Some(Value::Array(list)) if way.positions && !list.is_empty());
        let named = listed || !paths.is_empty();
        let is_whole = |member: &String| whole.iter().any(|one| one == member || one == "*" && member != "id");
        paths.retain(|path| path.len() == 1 || path[0] == "_links" || !is_whole(&path[0]));
        Fields { paths, named, way }
    }

    /// The same of a document whose links belong to one of its members: a lone one has them with the member.
    pub fn with_links_of(mut self, member: &str) -> Fields {
        self.way.keeps_links |= self.wants(member);
        self
    }

    /// Whether a lone document has links, whatever is requested.
    pub fn keeps_links(&self) -> bool {
        self.way.keeps_links
    }

    /// Whether values of field groups are requested as pages show them.
    pub fn formatted(&self) -> bool {
        self.way.formatted
    }

    /// Whether nothing is left out.
    pub fn is_all(&self) -> bool {
        !self.named
    }

    /// Whether a top-level member is requested, wholly or in part. `_embedded` depends on the links.
    pub fn wants(&self, member: &str) -> bool {
        let there = member != "_embedded" || !self.way.positions || self.way.embeds;
        self.is_all() || there && self.paths.iter().any(|p| p[0] == member)
    }

    /// Whether the content is requested as blocks: by a parameter, or as a field.
    pub fn blocks(&self) -> Option<PatternView> {
        let named =
            || self.paths.iter().any(|path| matches!(path.as_slice(), [a, b, ..] if a == "content" && b == "blocks"));
        self.way.blocks.or_else(|| named().then_some(PatternView::Resolved))
    }

    /// Leaves out of a document what was not requested; `alone`: it is no part of a list.
    pub fn keep_of(&self, document: Value, alone: bool) -> Value {
        if alone { self.select_single(document) } else { self.select(document) }
    }

    /// Leaves out of a document in a list what was not requested.
    pub fn select(&self, document: Value) -> Value {
        if self.is_all() || !document.is_object() {
            return document;
        }
        let paths: Vec<&[String]> = self.paths.iter().map(Vec::as_slice).collect();
        self.kept(document, &paths)
    }

    /// Leaves out of a lone document what was not requested. Its links are included whole or not at all.
    pub fn select_single(&self, mut document: Value) -> Value {
        let links = document.as_object_mut().and_then(|map| map.shift_remove("_links"));
        let kept = self.select(document);
        match links {
            Some(links) if self.way.keeps_links || self.wants("_links") || self.wants("_embedded") => {
                let mut map = if let Value::Object(map) = kept { map } else { Map::new() };
                map.insert("_links".into(), links);
                Value::Object(map)
            }
            _ => kept,
        }
    }

    fn kept(&self, value: Value, paths: &[&[String]]) -> Value {
        match value {
            Value::Object(map) => {
                let mut out = Map::new();
                for (key, value) in map {
                    out.extend(self.member(value, &key, paths).map(|value| (key, value)));
                }
                if out.is_empty() && self.way.positions { Value::Array(Vec::new()) } else { Value::Object(out) }
            }
            Value::Array(list) if self.way.positions => {
                let items = list.into_iter().enumerate();
                let kept: Vec<(usize, Value)> =
                    items.filter_map(|(at, item)| Some((at, self.member(item, &at.to_string(), paths)?))).collect();
                // Positions that do not count from 0 on are names.
                match kept.iter().enumerate().all(|(place, (at, _))| place == *at) {
                    true => kept.into_iter().map(|(_, item)| item).collect(),
                    false => Value::Object(kept.into_iter().map(|(at, item)| (at.to_string(), item)).collect()),
                }
            }
            // A value without members is included whole.
            other => other,
        }
    }

    /// The requested part of a member; `None`: nothing.
    fn member(&self, value: Value, key: &str, paths: &[&[String]]) -> Option<Value> {
        let below: Vec<&[String]> = paths.iter().filter(|p| p[0] == key).map(|p| &p[1..]).collect();
        if below.is_empty() {
            return None;
        }
        if below.iter().any(|p| p.is_empty()) { Some(value) } else { Some(self.kept(value, &below)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keeps_what_was_asked_for() {
        let document = json!({"id": 1, "title": {"raw": "a", "rendered": "b"}, "_links": {"self": []}});
        let check = |fields: Value, expected: Value| {
            assert_eq!(Fields::parse(Some(&fields)).select(document.clone()), expected, "{fields}");
        };
        check(json!(""), document.clone());
        check(json!("id, title.raw"), json!({"id": 1, "title": {"raw": "a"}}));
        check(json!(["_links"]), json!({"_links": {"self": []}}));
        check(json!("nothing"), json!({}));
        check(json!("id.more"), json!({"id": 1}));
    }
    #[test]
    fn reaches_into_lists_by_position() {
        let document =
            json!({"id": 1, "title": {"raw": "a"}, "list": [{"a": 1, "b": 2}, {"a": 3}], "labels": {"name": "n"}});
        let way = FieldOptions { positions: true, ..FieldOptions::default() };
        let check = |fields: &str, expected: Value| {
            let fields = Fields::read(Some(&json!(fields)), way, &["labels".to_owned()]);
            assert_eq!(fields.select(document.clone()), expected, "{fields:?}");
        };
        check("list.0.a", json!({"list": [{"a": 1}]}));
        check("list.1", json!({"list": {"1": {"a": 3}}}));
        check("list.a", json!({"list": []}));
        check("title.nothing", json!({"title": []}));
        check("nothing", json!([]));
        check("id labels", json!({"id": 1, "labels": {"name": "n"}}));
        check("labels.name", json!([]));
        check("labels.name,id", json!({"id": 1}));
        check("title,title.raw,id", json!({"title": {"raw": "a"}}));
        check("title.raw,title,id", json!({"title": {"raw": "a"}, "id": 1}));
        check("_embedded", json!([]));
        let nothing = Fields::read(Some(&json!([""])), way, &[]);
        assert_eq!(nothing.select(document.clone()), json!([]), "a list of an empty name names nothing");
        assert!(!Fields::read(Some(&json!("_embedded")), way, &[]).wants("_embedded"));
    }
}
