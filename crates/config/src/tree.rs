//! A value tree that stores where everything in it was written.
//!
//! Owns nodes, sources and places. It knows neither TOML nor JSON (see `parse_toml`, `parse_json`) nor what any key
//! means.

use super::shipped;
use crate::Problem;
use indexmap::IndexMap;
use serde_json::{Map, Number, Value};
use std::sync::{Arc, OnceLock};

/// Deepest nesting that any source may have.
pub const DEPTH: usize = 64;

/// A piece of a source's text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The source, as [`Sources::add`] numbered it.
    pub source: usize,
    pub start: usize,
    pub end: usize,
}

/// A value and where it was written.
#[derive(Clone, Debug)]
pub struct Node {
    pub data: Data,
    pub span: Span,
}

/// The content of a node: JSON's kinds.
#[derive(Clone, Debug)]
pub enum Data {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Node>),
    Table(Table),
}

/// Members in the order in which they were written.
pub type Table = IndexMap<String, Member>;

/// A member of a table.
#[derive(Clone, Debug)]
pub struct Member {
    pub key: Span,
    pub node: Node,
}

impl Node {
    /// An empty table.
    pub fn table(span: Span) -> Node {
        Node { data: Data::Table(Table::new()), span }
    }

    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::String(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_table(&self) -> Option<&Table> {
        match &self.data {
            Data::Table(table) => Some(table),
            _ => None,
        }
    }

    pub fn as_array(&self) -> Option<&[Node]> {
        match &self.data {
            Data::Array(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_table_mut(&mut self) -> Option<&mut Table> {
        match &mut self.data {
            Data::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The kind in words for the user, with its article.
    pub fn kind(&self) -> &'static str {
        match &self.data {
            Data::Null => "null",
            Data::Bool(_) => "a boolean",
            Data::Number(number) if number.is_f64() => "a float",
            Data::Number(_) => "an integer",
            Data::String(_) => "a string",
            Data::Array(_) => "an array",
            Data::Table(_) => "a table",
        }
    }

    /// The child under a key, or under an index in decimal.
    pub fn child(&self, segment: &str) -> Option<&Node> {
        match &self.data {
            Data::Table(table) => table.get(segment).map(|member| &member.node),
            Data::Array(items) => items.get(segment.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// The node at a path.
    pub fn at<S: AsRef<str>>(&self, path: &[S]) -> Option<&Node> {
        path.iter().try_fold(self, |node, segment| node.child(segment.as_ref()))
    }

    /// Where the node at a path was written, or else its nearest ancestor that was: a plain value's own place, a
    /// table's key.
    pub fn locate<S: AsRef<str>>(&self, path: &[S]) -> Span {
        let (mut node, mut span) = (self, self.span);
        for segment in path {
            let segment = segment.as_ref();
            let Some(child) = node.child(segment) else { break };
            span = match (&node.data, &child.data) {
                (Data::Table(table), Data::Table(_)) => table.get(segment).map_or(child.span, |member| member.key),
                _ => child.span,
            };
            node = child;
        }
        span
    }

    /// Where the key at the end of a path was written, or else what [`Node::locate`] finds.
    pub fn locate_key<S: AsRef<str>>(&self, path: &[S]) -> Span {
        let key = path.split_last().and_then(|(last, parents)| self.at(parents)?.as_table()?.get(last.as_ref()));
        key.map_or_else(|| self.locate(path), |member| member.key)
    }

    /// The tree without its places.
    pub fn to_value(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(flag) => Value::Bool(*flag),
            Data::Number(number) => Value::Number(number.clone()),
            Data::String(text) => Value::String(text.clone()),
            Data::Array(items) => Value::Array(items.iter().map(Node::to_value).collect()),
            Data::Table(table) => {
                let members = table.iter().map(|(key, member)| (key.clone(), member.node.to_value()));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }

    /// Moves the whole tree to one place, for values that were not written in a file.
    pub fn moved_to(mut self, span: Span) -> Node {
        self.span = span;
        match &mut self.data {
            Data::Array(items) => {
                for item in items {
                    *item = std::mem::replace(item, Node { data: Data::Null, span }).moved_to(span);
                }
            }
            Data::Table(table) => {
                for member in table.values_mut() {
                    member.key = span;
                    member.node = std::mem::replace(&mut member.node, Node { data: Data::Null, span }).moved_to(span);
                }
            }
            _ => {}
        }
        self
    }
}

/// A place as people and editors name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file as the user named it, or `command line` / `environment`.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// The line as written; `None` when it is too long to print.
    pub excerpt: Option<String>,
}

/// Longest line that is quoted in a problem, in characters.
const EXCERPT: usize = 400;

/// Every text that was read, so that a span can be turned into a place only when something is wrong.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    list: Vec<SourceText>,
}

#[derive(Clone, Debug)]
struct SourceText {
    name: Arc<str>,
    text: String,
    /// A shipped file has exactly this text.
    verbatim: bool,
    /// Where each line starts; computed when a place is first needed.
    lines: OnceLock<Vec<usize>>,
}

impl SourceText {
    fn lines(&self) -> &[usize] {
        self.lines.get_or_init(|| {
            let ends = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(ends.map(|(end, _)| end + 1)).collect()
        })
    }

    /// The line of a byte, from 1.
    fn line(&self, at: usize) -> usize {
        self.lines().partition_point(|line| *line <= at)
    }
}

impl Sources {
    /// Stores a text under the name that problems show.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> usize {
        let (name, text) = (name.into().into(), text.into());
        let verbatim = shipped::is_text(&text);
        self.list.push(SourceText { name, text, verbatim, lines: OnceLock::new() });
        self.list.len() - 1
    }

    /// The name of a source.
    pub fn name(&self, source: usize) -> &str {
        self.list.get(source).map_or("", |text| &text.name)
    }

    /// The text of a source.
    pub fn text(&self, source: usize) -> &str {
        self.list.get(source).map_or("", |text| &text.text)
    }

    /// Whether a shipped file has exactly the text of a source.
    pub fn is_verbatim(&self, source: usize) -> bool {
        self.list.get(source).is_some_and(|text| text.verbatim)
    }

    /// Whether everything in a tree stands in shipped files as it does there.
    pub fn is_all_verbatim(&self, node: &Node) -> bool {
        let below = match &node.data {
            Data::Array(items) => items.iter().all(|item| self.is_all_verbatim(item)),
            Data::Table(table) => table.values().all(|member| self.is_all_verbatim(&member.node)),
            _ => true,
        };
        below && self.is_verbatim(node.span.source)
    }

    /// The texts, in the order in which they were read.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|source| source.text.as_str())
    }

    /// File and line of a span's start.
    pub fn line(&self, span: Span) -> (Arc<str>, usize) {
        let source = self.list.get(span.source);
        source.map_or_else(|| ("".into(), 1), |source| (source.name.clone(), source.line(span.start)))
    }

    /// Line, column and excerpt of a span's start.
    pub fn place(&self, span: Span) -> Location {
        let Some(source) = self.list.get(span.source) else {
            return Location { file: String::new(), line: 1, column: 1, excerpt: None };
        };
        let SourceText { name, text, .. } = source;
        let mut start = span.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let line = source.line(start);
        let line_start = source.lines().get(line - 1).copied().unwrap_or(0);
        let line_text = text[line_start..].split('\n').next().unwrap_or("").trim_end_matches('\r');
        Location {
            file: name.to_string(),
            line,
            column: text[line_start..start].chars().count() + 1,
            excerpt: (line_text.chars().nth(EXCERPT).is_none()).then(|| printable(line_text)),
        }
    }

    /// `file:line:column`, for a hint that refers to another place.
    pub fn reference(&self, span: Span) -> String {
        let place = self.place(span);
        format!("{}:{}:{}", place.file, place.line, place.column)
    }

    /// A problem at a span.
    pub fn problem(&self, span: Span, message: impl Into<String>, hint: Option<String>) -> Problem {
        let place = self.place(span);
        Problem {
            file: place.file,
            place: Some((place.line, place.column)),
            excerpt: place.excerpt,
            message: message.into(),
            hint,
        }
    }
}

/// The line without control characters, which could change a terminal. Tabs become spaces, so that the mark
/// below the line is at the right column.
fn printable(line: &str) -> String {
    line.replace('\t', " ").replace(char::is_control, "\u{fffd}")
}

/// A path as a user would write it: `resources.posts.links[2].to`, with quotes around keys that need them.
pub fn dotted<S: AsRef<str>>(path: &[S]) -> String {
    let mut out = String::new();
    for segment in path {
        let segment = segment.as_ref();
        let bare = segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if !out.is_empty() && !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit()) {
            out.push_str(&format!("[{segment}]"));
            continue;
        }
        if !out.is_empty() {
            out.push('.');
        }
        match bare && !segment.is_empty() {
            true => out.push_str(segment),
            false => out.push_str(&format!("{segment:?}")),
        }
    }
    out
}

/// The segments of a JSON pointer.
pub fn pointer_segments(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|segment| segment.replace("~1", "/").replace("~0", "~")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters() {
        let mut sources = Sources::default();
        let source = sources.add("a.toml", "one\r\nzwö = \"ü\"x\nlast");
        let check = |start: usize, line: usize, column: usize, excerpt: &str| {
            let place = sources.place(Span { source, start, end: start });
            assert_eq!((place.line, place.column, place.excerpt.as_deref()), (line, column, Some(excerpt)), "{start}");
        };
        check(0, 1, 1, "one");
        check(5, 2, 1, "zwö = \"ü\"x");
        check(16, 2, 10, "zwö = \"ü\"x");
        check(22, 3, 5, "last");
        check(9999, 3, 5, "last");
    }

    #[test]
    fn paths_read_like_toml() {
        let check = |path: &[&str], expected: &str| assert_eq!(dotted(path), expected);
        check(&["site", "prefix"], "site.prefix");
        check(&["routes", "0", "path"], "routes[0].path");
        check(&["schemas", "a.b", ""], "schemas.\"a.b\".\"\"");
        assert_eq!(pointer_segments("/a~1b/~0/0"), ["a/b", "~", "0"]);
        assert!(pointer_segments("").is_empty());
    }
}
