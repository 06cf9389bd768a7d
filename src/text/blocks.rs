//! Block delimiters in content: `<!-- wp:name {"attr":1} -->…<!-- /wp:name -->`.
//!
//! Owns the grammar of blocks (both spellings, `wp:` and `cms:`), the tree, and the classes that static core blocks get
//! when they are shown. It must not know how a dynamic block makes its content: the caller may supply it.

use super::autop::autop;
use super::html::Html;
use super::markup::{Attribute, Attributes, Piece, is_space, spans, tag_name};
use serde_json::Value;
use std::borrow::Cow;

/// Blocks inside blocks beyond this depth belong to the last block within it: the tree is walked recursively, and
/// content is not to choose how deep.
const MAX_DEPTH: usize = 64;

/// Whether a text is made of blocks, which turns automatic paragraphs off.
pub fn has_blocks(text: &str) -> bool {
    text.contains("<!-- wp:") || text.contains("<!-- cms:")
}

/// 1 for content made of blocks, 0 for other content.
pub fn block_version(text: &str) -> u8 {
    u8::from(has_blocks(text))
}

/// A block, or a stretch of content outside any (`name` is `None`).
#[derive(Clone, Debug, PartialEq)]
pub struct Block<'a> {
    /// With its namespace: `core/paragraph`.
    pub name: Option<Cow<'a, str>>,
    /// The JSON between name and end of the delimiter, not parsed yet: see [`Block::attributes`].
    pub attrs: Option<&'a str>,
    /// Markup and inner blocks in order.
    pub chunks: Vec<Chunk<'a>>,
}

/// A part of a block's inside.
#[derive(Clone, Debug, PartialEq)]
pub enum Chunk<'a> {
    /// Markup as written.
    Html(&'a str),
    /// A block within the block.
    Inner(Block<'a>),
}

impl<'a> Block<'a> {
    /// The attributes, an empty object when there are none or when they are no JSON object.
    pub fn attributes(&self) -> Value {
        let read = self.attrs.and_then(|json| serde_json::from_str::<Value>(json).ok());
        read.filter(Value::is_object).unwrap_or_else(|| Value::Object(Default::default()))
    }

    /// The inner blocks in order.
    pub fn inner(&self) -> impl Iterator<Item = &Block<'a>> {
        self.chunks.iter().filter_map(|chunk| match chunk {
            Chunk::Inner(block) => Some(block),
            Chunk::Html(_) => None,
        })
    }

    /// Its inside without delimiters, inner blocks included.
    pub fn inside(&self) -> String {
        let mut out = String::new();
        for chunk in &self.chunks {
            match chunk {
                Chunk::Html(html) => out.push_str(html),
                Chunk::Inner(inner) => out.push_str(&inner.inside()),
            }
        }
        out
    }

    fn open(delimiter: &Delimiter<'a>) -> Block<'a> {
        let name = match delimiter.name {
            full if full.contains('/') => Cow::Borrowed(full),
            short => Cow::Owned(format!("core/{short}")),
        };
        Block { name: Some(name), attrs: delimiter.attrs, chunks: Vec::new() }
    }

    fn freeform(html: &'a str) -> Block<'a> {
        Block { name: None, attrs: None, chunks: vec![Chunk::Html(html)] }
    }
}

/// One block, with its content if it may have any, as it is written in a text: `core/separator` without attributes is
/// `<!-- wp:separator /-->`.
pub fn delimited(name: &str, attributes: &Value, inside: Option<&str>) -> String {
    let name = name.strip_prefix("core/").unwrap_or(name);
    let attributes = match attributes {
        Value::Object(map) if !map.is_empty() => format!("{} ", within_comment(&attributes.to_string())),
        _ => String::new(),
    };
    match inside {
        Some(inside) => format!("<!-- wp:{name} {attributes}-->{inside}<!-- /wp:{name} -->"),
        None => format!("<!-- wp:{name} {attributes}/-->"),
    }
}

/// JSON without anything that could end the comment around it.
pub fn within_comment(json: &str) -> String {
    // Within JSON these can only occur in texts.
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace("--", "\\u002d\\u002d")
}

/// The blocks of a text in order, with the text between them. A closing delimiter closes the innermost open block
/// whatever its name; blocks that are never closed end with the text.
pub fn parse(text: &str) -> Vec<Block<'_>> {
    let mut done = Vec::new();
    let mut open: Vec<Block> = Vec::new();
    // Openers that were too deep to become blocks.
    let mut flattened = 0;
    let mut at = 0;
    for delimiter in Delimiters::of(text) {
        let before = &text[at..delimiter.start];
        let stray = matches!(delimiter.kind, Kind::Close) && open.is_empty();
        if stray {
            // Stays text, as in the reference.
            continue;
        }
        push_html(before, &mut open, &mut done);
        at = delimiter.end;
        match delimiter.kind {
            Kind::Void if open.len() < MAX_DEPTH => push_block(Block::open(&delimiter), &mut open, &mut done),
            Kind::Void => {}
            Kind::Open if open.len() < MAX_DEPTH => open.push(Block::open(&delimiter)),
            Kind::Open => flattened += 1,
            Kind::Close if flattened > 0 => flattened -= 1,
            Kind::Close => {
                if let Some(block) = open.pop() {
                    push_block(block, &mut open, &mut done);
                }
            }
        }
    }
    push_html(&text[at..], &mut open, &mut done);
    while let Some(block) = open.pop() {
        push_block(block, &mut open, &mut done);
    }
    done
}

fn push_html<'a>(html: &'a str, open: &mut [Block<'a>], done: &mut Vec<Block<'a>>) {
    match open.last_mut() {
        _ if html.is_empty() => {}
        Some(parent) => parent.chunks.push(Chunk::Html(html)),
        None => done.push(Block::freeform(html)),
    }
}

fn push_block<'a>(block: Block<'a>, open: &mut [Block<'a>], done: &mut Vec<Block<'a>>) {
    match open.last_mut() {
        Some(parent) => parent.chunks.push(Chunk::Inner(block)),
        None => done.push(block),
    }
}

/// Makes what a dynamic block shows; `None` shows its inside.
pub type Dynamic<'f> = &'f dyn Fn(&Block) -> Option<Html>;

/// The text without delimiters, with the classes that static core blocks get, dynamic blocks made by the caller.
pub fn render_blocks(text: &str, dynamic: Option<Dynamic>) -> String {
    let mut out = String::with_capacity(text.len());
    for block in parse(text) {
        out.push_str(&render(&block, dynamic));
    }
    out
}

/// The text without block delimiters and otherwise unchanged.
pub fn strip_delimiters(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for delimiter in Delimiters::of(text) {
        out.push_str(&text[at..delimiter.start]);
        at = delimiter.end;
    }
    out.push_str(&text[at..]);
    out
}

fn render(block: &Block, dynamic: Option<Dynamic>) -> String {
    dynamic.and_then(|make| make(block)).map_or_else(|| render_inside(block, dynamic), String::from)
}

/// The content of a block, with the classes that the block gets itself: the block as if nothing rendered it.
pub fn render_inside(block: &Block, dynamic: Option<Dynamic>) -> String {
    let mut inside = String::new();
    for chunk in &block.chunks {
        match chunk {
            Chunk::Html(html) => inside.push_str(html),
            Chunk::Inner(inner) => inside.push_str(&render(inner, dynamic)),
        }
    }
    if block.name.is_some() { dress(block, inside) } else { inside }
}

/// What the reference adds to static blocks when it shows them (6.9; its 6.1 spells the layout classes in front).
fn dress(block: &Block, html: String) -> String {
    let core = block.name.as_deref().and_then(|n| n.strip_prefix("core/")).unwrap_or_default();
    match core {
        "shortcode" => autop(&html),
        // Reusable blocks are records: without a caller that finds them there is nothing to show.
        "block" => String::new(),
        "heading" => add_classes(&html, &["wp-block-heading"], &["h1", "h2", "h3", "h4", "h5", "h6"]),
        "list" => add_classes(&html, &["wp-block-list"], &["ul", "ol"]),
        _ => match LAID_OUT.iter().find(|name| **name == core) {
            Some(name) => add_layout(block, name, &html),
            None => html,
        },
    }
}

/// The core blocks that lay out their content.
const LAID_OUT: [&str; 8] = ["group", "columns", "column", "buttons", "quote", "gallery", "social-links", "query"];

/// The layouts that there are, each with its classes; what else a content names is no layout.
struct Layout {
    name: &'static str,
    class: &'static str,
    /// Behind `wp-block-NAME-`.
    suffix: &'static str,
}

const LAYOUTS: [Layout; 4] = [
    Layout { name: "default", class: "is-layout-flow", suffix: "is-layout-flow" },
    Layout { name: "constrained", class: "is-layout-constrained", suffix: "is-layout-constrained" },
    Layout { name: "flex", class: "is-layout-flex", suffix: "is-layout-flex" },
    Layout { name: "grid", class: "is-layout-grid", suffix: "is-layout-grid" },
];
const ORIENTATIONS: [(&str, &str); 2] = [("horizontal", "is-horizontal"), ("vertical", "is-vertical")];
const JUSTIFICATIONS: [(&str, &str); 5] = [
    ("left", "is-content-justification-left"),
    ("center", "is-content-justification-center"),
    ("right", "is-content-justification-right"),
    ("space-between", "is-content-justification-space-between"),
    ("stretch", "is-content-justification-stretch"),
];

/// The class of a known word.
fn class_of(known: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    known.iter().find(|(name, _)| *name == word).map(|(_, class)| *class)
}

fn add_layout(block: &Block, core: &'static str, html: &str) -> String {
    let attributes = block.attributes();
    let layout = &attributes["layout"];
    let text = |key: &str| layout[key].as_str().unwrap_or_default();
    let fallback = match core {
        "columns" | "buttons" | "gallery" | "social-links" => "flex",
        _ => "default",
    };
    let kind = match text("type") {
        _ if layout["inherit"] == true || layout.get("contentSize").is_some() => "constrained",
        "" => fallback,
        named => named,
    };
    let mut classes: Vec<&'static str> = Vec::new();
    if kind == "constrained" && core == "group" {
        classes.push("has-global-padding");
    }
    classes.extend(class_of(&ORIENTATIONS, text("orientation")));
    classes.extend(class_of(&JUSTIFICATIONS, text("justifyContent")));
    if text("flexWrap") == "nowrap" {
        classes.push("is-nowrap");
    }
    let layout = LAYOUTS.iter().find(|layout| layout.name == kind);
    classes.extend(layout.map(|layout| layout.class));
    let own = layout.map(|layout| format!("wp-block-{core}-{}", layout.suffix));
    add_classes(html, &classes.into_iter().chain(own.as_deref()).collect::<Vec<_>>(), &[])
}

/// Adds classes to the first tag (of one of the names, if any are given) unless it has them.
fn add_classes(html: &str, classes: &[&str], names: &[&str]) -> String {
    let Some((start, tag)) = first_tag(html, names).filter(|_| !classes.is_empty()) else { return html.to_owned() };
    let class = Attributes::of(tag).find(|attribute| tag[attribute.name.clone()].eq_ignore_ascii_case("class"));
    let behind = &html[start + tag.len()..];
    let mut out = String::with_capacity(html.len() + 64);
    out.push_str(&html[..start]);
    match class {
        None => {
            let name = 1 + tag_name(tag).0.len();
            out.push_str(&tag[..name]);
            out.push(' ');
            push_classes("", classes, b'"', &mut out);
            out.push_str(&tag[name..]);
        }
        Some(Attribute { name, value, quote }) => {
            out.push_str(&tag[..name.start]);
            push_classes(&tag[value.clone()], classes, quote.unwrap_or(b'"'), &mut out);
            out.push_str(&tag[value.end + usize::from(quote.is_some())..]);
        }
    }
    out.push_str(behind);
    out
}

/// `class="…"` with the classes that are there and those that are not.
fn push_classes(there: &str, wanted: &[&str], quote: u8, out: &mut String) {
    let there = there.trim_matches(is_space);
    let have = |class: &&&str| there.split(is_space).any(|have| have == **class);
    out.push_str("class=");
    out.push(char::from(quote));
    // A value without quotes may hold some.
    out.push_str(&if quote == b'"' { there.replace('"', "&quot;") } else { there.replace('\'', "&#039;") });
    for class in wanted.iter().filter(|class| !have(class)) {
        if !out.ends_with(char::from(quote)) {
            out.push(' ');
        }
        out.push_str(class);
    }
    out.push(char::from(quote));
}

/// The first opening tag of one of the names, as a browser reads it, and where it starts.
fn first_tag<'a>(html: &'a str, names: &[&str]) -> Option<(usize, &'a str)> {
    let mut at = 0;
    for span in spans(html) {
        let (Piece::Text(span) | Piece::Markup(span)) = span;
        let (name, closes) = if span.starts_with('<') { tag_name(span) } else { ("", false) };
        let wanted = names.is_empty() || names.iter().any(|n| n.eq_ignore_ascii_case(name));
        if !name.is_empty() && !closes && wanted && ends(span) {
            return Some((at, span));
        }
        at += span.len();
    }
    None
}

/// Whether a tag ends as a browser reads it: a `>` at the end may be part of a value whose quote is never closed.
fn ends(tag: &str) -> bool {
    let mut attributes = Attributes::of(tag);
    attributes.by_ref().for_each(drop);
    attributes.end == Some(tag.len())
}

/// Whether a comment is a delimiter, and the attributes in it.
pub(super) fn delimiter_attrs(comment: &str) -> Option<Option<&str>> {
    let found = delimiter(comment, 0, comment.find("-->")?)?;
    (found.end == comment.len()).then_some(found.attrs)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Open,
    Close,
    Void,
}

struct Delimiter<'a> {
    start: usize,
    end: usize,
    kind: Kind,
    name: &'a str,
    attrs: Option<&'a str>,
}

struct Delimiters<'a> {
    text: &'a str,
    at: usize,
    /// Where the next comment ends; searched only when it has been passed, so that the whole search stays linear.
    comment_end: usize,
}

impl<'a> Delimiters<'a> {
    fn of(text: &'a str) -> Delimiters<'a> {
        match text.find("-->") {
            Some(comment_end) => Delimiters { text, at: 0, comment_end },
            None => Delimiters { text, at: text.len(), comment_end: 0 },
        }
    }
}

impl<'a> Iterator for Delimiters<'a> {
    type Item = Delimiter<'a>;

    fn next(&mut self) -> Option<Delimiter<'a>> {
        while let Some(start) = self.text[self.at..].find("<!--").map(|n| self.at + n) {
            if self.comment_end < start {
                self.comment_end = start + self.text[start..].find("-->")?;
            }
            match delimiter(self.text, start, self.comment_end) {
                Some(found) => {
                    self.at = found.end;
                    return Some(found);
                }
                None => self.at = start + 4,
            }
        }
        None
    }
}

fn delimiter(text: &str, start: usize, comment_end: usize) -> Option<Delimiter<'_>> {
    let rest = spaces(&text[start + 4..])?;
    let (rest, closes) = rest.strip_prefix('/').map_or((rest, false), |rest| (rest, true));
    let rest = rest.strip_prefix("wp:").or_else(|| rest.strip_prefix("cms:"))?;
    let first = word_length(rest)?;
    let length = match rest[first..].strip_prefix('/') {
        Some(tail) => first + 1 + word_length(tail)?,
        None => first,
    };
    let (name, rest) = rest.split_at(length);
    let mut rest = spaces(rest)?;
    let mut attrs = None;
    if rest.starts_with('{') {
        let json = text.len() - rest.len();
        let length = json_length(text.get(json..comment_end)?)?;
        attrs = Some(&rest[..length]);
        rest = spaces(&rest[length..])?;
    }
    let (rest, void) = rest.strip_prefix('/').map_or((rest, false), |rest| (rest, true));
    let rest = rest.strip_prefix("-->")?;
    let kind = match (closes, void) {
        (true, _) => Kind::Close,
        (false, true) => Kind::Void,
        (false, false) => Kind::Open,
    };
    Some(Delimiter { start, end: text.len() - rest.len(), kind, name, attrs })
}

/// At least one white space.
fn spaces(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(is_space);
    (rest.len() < text.len()).then_some(rest)
}

fn word_length(text: &str) -> Option<usize> {
    let letter = |c: char| c.is_ascii_lowercase();
    let length = text.find(|c: char| !letter(c) && !c.is_ascii_digit() && c != '_' && c != '-').unwrap_or(text.len());
    text.starts_with(letter).then_some(length)
}

/// Attributes reach to the end of their comment, which no attribute contains; white space sets them off.
fn json_length(comment: &str) -> Option<usize> {
    let before = comment.strip_suffix('/').unwrap_or(comment);
    let json = before.trim_end_matches(is_space);
    (json.len() < before.len() && json.ends_with('}')).then_some(json.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_noticed() {
        fn check(text: &str, expected: u8) {
            assert_eq!(block_version(text), expected, "{text}");
        }
        check("<!-- wp:paragraph -->", 1);
        check("<!-- cms:paragraph -->", 1);
        check("<p>x</p>", 0);
        check("<!--wp:paragraph-->", 0);
    }

    #[test]
    fn trees_are_read() {
        let text = "a<!-- wp:group {\"x\":{\"y\":1}} --><div><!-- cms:foo/bar /--></div><!-- /wp:group -->b";
        let blocks = parse(text);
        assert_eq!(blocks.len(), 3);
        assert_eq!(blocks[0], Block::freeform("a"));
        assert_eq!(blocks[1].name.as_deref(), Some("core/group"));
        assert_eq!(blocks[1].attributes()["x"]["y"], 1);
        let inner: Vec<_> = blocks[1].inner().map(|b| b.name.as_deref()).collect();
        assert_eq!(inner, [Some("foo/bar")]);
        assert_eq!(blocks[2], Block::freeform("b"));
    }

    #[test]
    fn delimiters_go() {
        fn check(text: &str, expected: &str) {
            assert_eq!(render_blocks(text, None), expected, "{text}");
        }
        check("<!-- wp:paragraph -->\n<p>x</p>\n<!-- /wp:paragraph -->", "\n<p>x</p>\n");
        check("<!-- cms:paragraph -->\n<p>x</p>\n<!-- /cms:paragraph -->", "\n<p>x</p>\n");
        check("<!-- wp:paragraph --><p>unclosed</p>", "<p>unclosed</p>");
        check("<p>a</p><!-- /wp:paragraph -->", "<p>a</p><!-- /wp:paragraph -->");
        check("<!-- wp:paragraph {\"bad json} --><p>x</p><!-- /wp:paragraph -->", "<p>x</p>");
        check("<!-- wp:Paragraph --><p>x</p>", "<!-- wp:Paragraph --><p>x</p>");
        check(
            "<!-- wp:group --><div><!-- wp:paragraph --><p>x</p><!-- /wp:group -->",
            "<div class=\"is-layout-flow wp-block-group-is-layout-flow\"><p>x</p>",
        );
        check("<!-- wp:foo/bar /-->x", "x");
        check("text <!-- wp:x", "text <!-- wp:x");
        check("<!-- wp:block {\"ref\":1} /-->", "");
    }

    #[test]
    fn classes_are_added_once() {
        fn check(text: &str, expected: &str) {
            assert_eq!(render_blocks(text, None), expected, "{text}");
        }
        check(
            "<!-- wp:heading --><h2 id=\"y\">H</h2><!-- /wp:heading -->",
            "<h2 class=\"wp-block-heading\" id=\"y\">H</h2>",
        );
        check(
            "<!-- wp:heading --><h2 class=\"wp-block-heading\">H</h2><!-- /wp:heading -->",
            "<h2 class=\"wp-block-heading\">H</h2>",
        );
        check(
            "<!-- wp:list --><ol class='k'><li>a</li></ol><!-- /wp:list -->",
            "<ol class='k wp-block-list'><li>a</li></ol>",
        );
        check(
            "<!-- wp:group --><div class=\"wp-block-group\"></div><!-- /wp:group -->",
            "<div class=\"wp-block-group is-layout-flow wp-block-group-is-layout-flow\"></div>",
        );
    }

    #[test]
    fn no_attribute_can_be_left() {
        fn check(text: &str, expected: &str) {
            assert_eq!(render_blocks(text, None), expected, "{text}");
        }
        let group = |layout: &str, tag: &str| {
            format!("<!-- wp:group {{\"layout\":{{{layout}}}}} --><div{tag}></div><!-- /wp:group -->")
        };
        let flow = "is-layout-flow wp-block-group-is-layout-flow";
        check(&group("\"type\":\"\\\" onmouseover=alert(1)\"", ""), "<div></div>");
        check(&group("", " title='x'class='y'"), &format!("<div title='x'class='y {flow}'></div>"));
        check(&group("\"orientation\":\"x\\\" y=z\"", ""), &format!("<div class=\"{flow}\"></div>"));
        check(&group("\"justifyContent\":\"x\\\" y=z\"", ""), &format!("<div class=\"{flow}\"></div>"));
        check(&group("\"type\":\"grid\"", ""), "<div class=\"is-layout-grid wp-block-group-is-layout-grid\"></div>");
        // `class=` within another value is none.
        check(
            &group("", " title=\" class=\" x=\" onmouseover=alert(1)//\""),
            &format!("<div class=\"{flow}\" title=\" class=\" x=\" onmouseover=alert(1)//\"></div>"),
        );
        check(&group("", " title=\"<p \" class=a\"b"), &format!("<div title=\"<p \" class=\"a&quot;b {flow}\"></div>"));
        check(&group("", " class"), &format!("<div class=\"{flow}\"></div>"));
        check(&group("", "\ttitle=x CLASS = 'y' z"), &format!("<div\ttitle=x class='y {flow}' z></div>"));
    }

    #[test]
    fn deep_nesting_is_flattened() {
        let text = format!("{}x{}", "<!-- wp:group -->".repeat(10_000), "<!-- /wp:group -->".repeat(10_000));
        assert_eq!(render_blocks(&text, None), "x");
        assert_eq!(strip_delimiters(&text), "x");
    }

    #[test]
    fn dynamic_blocks_are_made_by_the_caller() {
        let make = |block: &Block| {
            (block.name.as_deref() == Some("x/y")).then(|| Html::rendered(format!("[{}]", render_inside(block, None))))
        };
        assert_eq!(render_blocks("<!-- wp:x/y -->a<!-- /wp:x/y -->b", Some(&make)), "[a]b");
    }
}
