//! How declarations are combined: included files are joined, overlay files are merged over what is there.
//!
//! Works on trees and knows no files. Of the grammar it knows only where `false` is a value of its own.

use super::tree::{Data, Member, Node, Sources, Table, dotted};
use crate::Problem;

/// Joins an included file: tables join key by key, arrays of tables one after the other; anything else that is given
/// twice is a problem.
pub fn join(base: &mut Node, more: Node, sources: &Sources, problems: &mut Vec<Problem>) {
    Merge { sources, problems, path: Vec::new() }.join(base, more);
}

/// Merges a tree over another: tables merge key by key, `+key` appends to the array `key`, `false` removes a table,
/// everything else replaces.
pub fn overlay(base: &mut Node, top: Node, sources: &Sources, problems: &mut Vec<Problem>) {
    overlay_keeping_appends(base, top, sources, problems);
    resolve_appends(base);
}

/// [`overlay`], but a `+key` without a `key` stays as it is until [`settle`]: the resource may inherit the array.
pub fn overlay_keeping_appends(base: &mut Node, top: Node, sources: &Sources, problems: &mut Vec<Problem>) {
    Merge { sources, problems, path: Vec::new() }.overlay(base, top);
}

/// Renames each `+key` that has nothing to be appended to: it is the array itself.
pub fn resolve_appends(node: &mut Node) {
    match &mut node.data {
        Data::Table(table) => {
            if table.iter().any(|(key, member)| appended(key, &member.node).is_some()) {
                for (key, member) in std::mem::take(table) {
                    let name = appended(&key, &member.node).map(str::to_owned);
                    table.insert(name.unwrap_or(key), member);
                }
            }
            table.values_mut().for_each(|member| resolve_appends(&mut member.node));
        }
        Data::Array(items) => items.iter_mut().for_each(resolve_appends),
        _ => {}
    }
}

/// The name of the array that a member is appended to.
fn appended<'k>(key: &'k str, node: &Node) -> Option<&'k str> {
    key.strip_prefix('+').filter(|_| node.as_array().is_some())
}

/// Whether any table below a node appends to an array.
fn appends(node: &Node) -> bool {
    let Data::Table(table) = &node.data else { return false };
    table.iter().any(|(key, member)| appended(key, &member.node).is_some() || appends(&member.node))
}

/// Removes what a path names: a key of a table, or the elements of an array that equal this text or have it as their
/// `name`, `rel` or `path`. False when nothing is there.
pub fn remove(base: &mut Node, path: &[String]) -> bool {
    let Some((last, parents)) = path.split_last() else { return false };
    let parent = parents.iter().try_fold(base, |node, segment| match &mut node.data {
        Data::Table(table) => table.get_mut(segment).map(|member| &mut member.node),
        Data::Array(items) => items.iter_mut().find(|item| bears(item, segment)),
        _ => None,
    });
    match parent.map(|node| &mut node.data) {
        Some(Data::Table(table)) => table.shift_remove(last).is_some(),
        Some(Data::Array(items)) => {
            let before = items.len();
            items.retain(|item| !bears(item, last));
            items.len() < before
        }
        _ => false,
    }
}

fn bears(item: &Node, name: &str) -> bool {
    item.as_str() == Some(name)
        || ["name", "rel", "path"].iter().any(|key| item.child(key).and_then(Node::as_str) == Some(name))
}

/// Keywords of schemas and arguments for which `false` is a value although they may also hold a table.
const FALSE_IS_A_VALUE: [&str; 4] = ["additionalProperties", "additionalItems", "x-args", "default"];

struct Merge<'a> {
    sources: &'a Sources,
    problems: &'a mut Vec<Problem>,
    path: Vec<String>,
}

impl Merge<'_> {
    fn join(&mut self, base: &mut Node, more: Node) {
        let first = base.span;
        match (&mut base.data, more.data) {
            (Data::Table(base), Data::Table(more)) => {
                for (key, member) in more {
                    match base.get_mut(&key) {
                        None => drop(base.insert(key, member)),
                        Some(existing) => {
                            self.path.push(key);
                            self.join(&mut existing.node, member.node);
                            self.path.pop();
                        }
                    }
                }
            }
            (Data::Array(base), Data::Array(more))
                if base.iter().chain(&more).all(|item| item.as_table().is_some()) =>
            {
                base.extend(more)
            }
            _ => {
                let first = self.sources.reference(first);
                let hint =
                    format!("the first is at {first}; keep one of them, or change it in an overlay such as site.toml");
                let message = format!("`{}` is given twice", dotted(&self.path));
                self.problems.push(self.sources.problem(more.span, message, Some(hint)));
            }
        }
    }

    fn overlay(&mut self, base: &mut Node, top: Node) {
        match (&mut base.data, top.data) {
            (Data::Table(base), Data::Table(top)) => {
                for (key, member) in top {
                    self.member(base, key, member);
                }
            }
            (_, data) => *base = Node { data, span: top.span },
        }
    }

    fn member(&mut self, base: &mut Table, key: String, member: Member) {
        if let Some(name) = appended(&key, &member.node) {
            return self.append(base, name.to_owned(), member);
        }
        base.shift_remove(&format!("+{key}"));
        self.path.push(key.clone());
        match base.get_mut(&key) {
            Some(existing) if self.removes(&existing.node, &member.node) => drop(base.shift_remove(&key)),
            Some(existing) => self.overlay(&mut existing.node, member.node),
            // A new table goes through the same steps, so that `+key` means the same in it.
            None if appends(&member.node) => {
                let mut node = Node::table(member.node.span);
                self.overlay(&mut node, member.node);
                base.insert(key, Member { key: member.key, node });
            }
            None => drop(base.insert(key, member)),
        }
        self.path.pop();
    }

    fn append(&mut self, base: &mut Table, name: String, member: Member) {
        match base.get_mut(&name).map(|existing| &mut existing.node.data) {
            None => match base.get_mut(&format!("+{name}")).map(|waiting| &mut waiting.node.data) {
                Some(Data::Array(items)) => items.extend(elements(member.node)),
                _ => drop(base.insert(format!("+{name}"), member)),
            },
            Some(Data::Array(items)) => items.extend(elements(member.node)),
            Some(_) => {
                self.path.push(name);
                let message = format!("`{}` is not an array, so nothing can be appended to it", dotted(&self.path));
                self.path.pop();
                self.problems.push(self.sources.problem(member.key, message, None));
            }
        }
    }

    fn removes(&self, existing: &Node, top: &Node) -> bool {
        matches!(top.data, Data::Bool(false)) && existing.as_table().is_some() && !self.false_is_a_value()
    }

    fn false_is_a_value(&self) -> bool {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        match path.as_slice() {
            // Here the grammar itself defines that `false` removes an argument from the endpoint.
            ["resources", _, "endpoints", _, _] => true,
            [.., "properties" | "patternProperties", _] => false,
            [.., last] => FALSE_IS_A_VALUE.contains(last),
            [] => false,
        }
    }
}

fn elements(node: Node) -> Vec<Node> {
    match node.data {
        Data::Array(items) => items,
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse_toml;
    use super::*;

    fn trees(texts: [&str; 2]) -> (Sources, [Node; 2]) {
        let mut sources = Sources::default();
        let mut problems = Vec::new();
        let nodes = texts.map(|text| {
            let source = sources.add(format!("{}", sources.text(0).len()), text);
            parse_toml::parse(&sources, source, &mut problems).expect(text)
        });
        (sources, nodes)
    }

    #[test]
    fn overlays() {
        let check = |base: &str, top: &str, expected: &str| {
            let (sources, [mut base_node, top_node]) = trees([base, top]);
            let mut problems = Vec::new();
            overlay(&mut base_node, top_node, &sources, &mut problems);
            let found = match problems.first() {
                Some(problem) => problem.message.clone(),
                None => base_node.to_value().to_string(),
            };
            assert_eq!(found, expected, "{base} <- {top}");
        };
        // tables merge, in the base's order; other values replace
        check("a.x = 1\nb = 2", "b = 3\na.y = 4\nc = 5", r#"{"a":{"x":1,"y":4},"b":3,"c":5}"#);
        check("a = [1, 2]", "a = [3]", r#"{"a":[3]}"#);
        check("a = 1", "a.b = 2", r#"{"a":{"b":2}}"#);
        check("a.b = 1", "a = 2", r#"{"a":2}"#);
        // arrays are appended to by `+`, also where there was none
        check("a = [1]", "\"+a\" = [2, 3]", r#"{"a":[1,2,3]}"#);
        check("a.b = 1", "\"+c\" = [2]", r#"{"a":{"b":1},"c":[2]}"#);
        check("[[a]]\nx = 1", "[[\"+a\"]]\nx = 2", r#"{"a":[{"x":1},{"x":2}]}"#);
        check("z = 1", "[a.b]\n\"+c\" = [2]", r#"{"z":1,"a":{"b":{"c":[2]}}}"#);
        check("a = 1", "\"+a\" = [2]", "`a` is not an array, so nothing can be appended to it");
        check("a = 1", "\"+a\" = 2", r#"{"a":1,"+a":2}"#);
        check("\"+a\" = [1]", "\"+a\" = [2]", r#"{"a":[1,2]}"#);
        check("\"+a\" = [1]", "a = [2]", r#"{"a":[2]}"#);
        // `false` removes a table, and only a table
        check("a.b = 1\nc = 1", "a = false", r#"{"c":1}"#);
        check("a = true", "a = false", r#"{"a":false}"#);
        check("a = [1]", "a = false", r#"{"a":false}"#);
        check("b = 1", "a = false", r#"{"b":1,"a":false}"#);
        // ... except where it is a value
        check(
            "[resources.r.endpoints.list]\na = {}",
            "[resources.r.endpoints.list]\na = false",
            r#"{"resources":{"r":{"endpoints":{"list":{"a":false}}}}}"#,
        );
        check("additionalProperties.type = 1", "additionalProperties = false", r#"{"additionalProperties":false}"#);
        check("properties.default.type = 1", "properties.default = false", r#"{"properties":{}}"#);
    }

    #[test]
    fn includes() {
        let check = |base: &str, more: &str, expected: &str| {
            let (sources, [mut base_node, more_node]) = trees([base, more]);
            let mut problems = Vec::new();
            join(&mut base_node, more_node, &sources, &mut problems);
            let found = match problems.first() {
                Some(problem) => format!("{} ({})", problem.message, problem.hint.as_deref().unwrap_or("")),
                None => base_node.to_value().to_string(),
            };
            assert_eq!(found, expected, "{base} + {more}");
        };
        check("[a.x]\n[b]", "[a.y]\n[c]", r#"{"a":{"x":{},"y":{}},"b":{},"c":{}}"#);
        check("[[r]]\nx = 1", "[[r]]\nx = 2", r#"{"r":[{"x":1},{"x":2}]}"#);
        check(
            "a.b = 1",
            "a.b = 1",
            "`a.b` is given twice (the first is at 0:1:7; keep one of them, or change it in an overlay such as site.toml)",
        );
        check(
            "a = [1]",
            "a = [2]",
            "`a` is given twice (the first is at 0:1:5; keep one of them, or change it in an overlay such as site.toml)",
        );
    }

    #[test]
    fn removals() {
        let check = |path: &[&str], expected: Option<&str>| {
            let text =
                "a.b.c = 1\ncaps = [\"x\", \"y\"]\n[[links]]\nrel = \"self\"\n[[links]]\nrel = \"up\"\nq.z = 1\n";
            let (_, [mut node, _]) = trees([text, ""]);
            let path: Vec<String> = path.iter().map(|s| s.to_string()).collect();
            let found = remove(&mut node, &path).then(|| node.to_value().to_string());
            assert_eq!(found.as_deref(), expected, "{path:?}");
        };
        let links = r#""links":[{"rel":"self"},{"rel":"up","q":{"z":1}}]"#;
        check(&["a", "b", "c"], Some(&format!(r#"{{"a":{{"b":{{}}}},"caps":["x","y"],{links}}}"#)));
        check(&["caps", "x"], Some(&format!(r#"{{"a":{{"b":{{"c":1}}}},"caps":["y"],{links}}}"#)));
        check(&["links", "self"], Some(r#"{"a":{"b":{"c":1}},"caps":["x","y"],"links":[{"rel":"up","q":{"z":1}}]}"#));
        check(
            &["links", "up", "q"],
            Some(r#"{"a":{"b":{"c":1}},"caps":["x","y"],"links":[{"rel":"self"},{"rel":"up"}]}"#),
        );
        check(&["a", "x"], None);
        check(&["a", "x", "y"], None);
        check(&["caps", "z"], None);
        check(&[], None);
    }
}
