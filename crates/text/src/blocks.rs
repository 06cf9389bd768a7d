//! Block delimiters in content: `<!-- wp:name {"attr":1} -->…<!-- /wp:name -->`.
//!
//! Owns the grammar of blocks (both spellings, `wp:` and `cms:`), the tree, and the order in which blocks are shown. It
//! must not know how a dynamic block makes its content: the caller may supply it.

use super::autop::autop;
use super::block_styles::BlockStyles;
use super::dress::{self, Decoration, UniqueNames};
use super::html::Html;
use super::markup::is_space;
use serde_json::Value;
use std::borrow::Cow;

/// Blocks inside blocks beyond this depth belong to the last block within it: the tree is walked recursively, and
/// content is not to choose how deep.
const MAX_DEPTH: usize = 64;

/// The namespace of blocks that are written without one.
const NAMESPACE: &str = "core/";

/// The full name of a block: `core/paragraph` of `paragraph`.
pub(super) fn full_name(name: &str) -> Cow<'_, str> {
    match name.contains('/') {
        true => Cow::Borrowed(name),
        false => Cow::Owned([NAMESPACE, name].concat()),
    }
}

/// The name of a block without the namespace that needs not be written.
fn short_name(name: &str) -> &str {
    name.strip_prefix(NAMESPACE).unwrap_or(name)
}

/// The class of a block by its full name: `wp-block-paragraph` of `core/paragraph`.
pub fn class_name(name: &str) -> String {
    format!("wp-block-{}", short_name(name).replace('/', "-"))
}

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

    /// As it is written in a content, delimiters included.
    pub fn written(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        let name = self.name.as_deref().map(short_name);
        if let Some(name) = name {
            out.extend(["<!-- wp:", name, " ", self.attrs.unwrap_or(""), " -->"]);
        }
        for chunk in &self.chunks {
            match chunk {
                Chunk::Html(html) => out.push_str(html),
                Chunk::Inner(inner) => inner.write(out),
            }
        }
        if let Some(name) = name {
            out.extend(["<!-- /wp:", name, " -->"]);
        }
    }

    /// Whether its attributes hide it.
    pub fn is_hidden(&self) -> bool {
        self.name.is_some() && dress::has_decoration(self.attrs, None) && dress::is_hidden(&self.attributes())
    }

    /// Its inside without delimiters, inner blocks included that are not hidden.
    pub fn inside(&self) -> String {
        let mut out = String::new();
        for chunk in &self.chunks {
            match chunk {
                Chunk::Html(html) => out.push_str(html),
                Chunk::Inner(inner) if inner.is_hidden() => {}
                Chunk::Inner(inner) => out.push_str(&inner.inside()),
            }
        }
        out
    }

    fn open(delimiter: &Delimiter<'a>) -> Block<'a> {
        Block { name: Some(full_name(delimiter.name)), attrs: delimiter.attrs, chunks: Vec::new() }
    }

    fn freeform(html: &'a str) -> Block<'a> {
        Block { name: None, attrs: None, chunks: vec![Chunk::Html(html)] }
    }
}

/// One block, with its content if it may have any, as it is written in a text: `core/separator` without attributes is
/// `<!-- wp:separator /-->`.
pub fn delimited(name: &str, attributes: &Value, inside: Option<&str>) -> String {
    let name = short_name(name);
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
        let stray = matches!(delimiter.kind, DelimiterKind::Close) && open.is_empty();
        if stray {
            // Stays text, as in the reference.
            continue;
        }
        push_html(before, &mut open, &mut done);
        at = delimiter.end;
        match delimiter.kind {
            DelimiterKind::Void if open.len() < MAX_DEPTH => push_block(Block::open(&delimiter), &mut open, &mut done),
            DelimiterKind::Void => {}
            DelimiterKind::Open if open.len() < MAX_DEPTH => open.push(Block::open(&delimiter)),
            DelimiterKind::Open => flattened += 1,
            DelimiterKind::Close if flattened > 0 => flattened -= 1,
            DelimiterKind::Close => {
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

/// Makes what a dynamic block shows, with these classes beside those that its author gave; `None` shows its inside.
pub type DynamicRenderer<'f> = &'f dyn Fn(&Block, &str) -> Option<Html>;

/// Everything that showing blocks depends on besides the blocks.
#[derive(Clone, Copy, Default)]
pub struct BlockOptions<'a> {
    /// Makes dynamic blocks; without it they show their inside.
    pub dynamic: Option<DynamicRenderer<'a>>,
    /// Declared styles of blocks.
    pub styles: Option<&'a BlockStyles>,
    /// The names that the document has used; without it the blocks use none of their own.
    pub unique: Option<&'a UniqueNames>,
    /// The block around them.
    pub around: Option<ParentBlock<'a>>,
}

/// The block that others are in.
#[derive(Clone, Copy)]
pub struct ParentBlock<'a> {
    /// With its namespace.
    pub name: &'a str,
    /// Its attribute `layout`.
    pub layout: &'a Value,
}

/// The text without delimiters, each block as it is shown: with its classes, and dynamic ones made by the caller.
pub fn render_blocks(text: &str, options: &BlockOptions) -> String {
    let mut out = String::with_capacity(text.len());
    for block in parse(text) {
        out.push_str(&render(&block, options));
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

/// The text with the attributes of each block as `change` returns them; `None` leaves a block as it is written.
pub fn change_attributes(text: &str, mut change: impl FnMut(Value) -> Option<Value>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for delimiter in Delimiters::of(text) {
        let Some(json) = delimiter.attrs else { continue };
        let read = serde_json::from_str::<Value>(json).ok().filter(Value::is_object);
        let Some(changed) = read.and_then(&mut change) else { continue };
        let start = json.as_ptr() as usize - text.as_ptr() as usize;
        let empty = changed.as_object().is_none_or(serde_json::Map::is_empty);
        out.push_str(&text[at..start]);
        at = start + json.len();
        match empty {
            // The space behind the attributes goes with them.
            true => at += text[at..].len() - text[at..].trim_start_matches(is_space).len(),
            false => out.push_str(&within_comment(&changed.to_string())),
        }
    }
    out.push_str(&text[at..]);
    out
}

fn render(block: &Block, options: &BlockOptions) -> String {
    let Some(name) = block.name.as_deref() else { return render_inside(block, options) };
    let declared = options.styles.and_then(|styles| styles.of(name));
    let attributes = if dress::has_decoration(block.attrs, declared) { block.attributes() } else { Value::Null };
    if dress::is_hidden(&attributes) {
        return String::new();
    }
    // The outer block comes first: it takes its names before the blocks inside it do.
    let look = Decoration::of(name, &attributes, options);
    let made = options.dynamic.and_then(|make| make(block, &look.added()));
    let before = match block.chunks.as_slice() {
        [Chunk::Html(before), _, ..] => Some(*before),
        _ => None,
    };
    look.dress(made.map_or_else(|| render_static(block, options), String::from), before)
}

/// A block that nothing makes.
fn render_static(block: &Block, options: &BlockOptions) -> String {
    let declared = options.styles.zip(block.name.as_deref()).and_then(|(styles, name)| styles.of(name));
    match declared {
        Some(declared) if !declared.inside => String::new(),
        Some(declared) if declared.paragraphs => autop(&render_inside(block, options)),
        _ => render_inside(block, options),
    }
}

/// The markup inside a block, without the classes and styles of the block itself.
pub fn render_inside(block: &Block, options: &BlockOptions) -> String {
    let layout = match block.attrs.is_some_and(|json| json.contains("\"layout\"")) {
        true => block.attributes()["layout"].take(),
        false => Value::Null,
    };
    let around = block.name.as_deref().map(|name| ParentBlock { name, layout: &layout });
    let options = BlockOptions { around, ..*options };
    let mut inside = String::new();
    for chunk in &block.chunks {
        match chunk {
            Chunk::Html(html) => inside.push_str(html),
            Chunk::Inner(inner) => inside.push_str(&render(inner, &options)),
        }
    }
    inside
}

/// Whether a comment is a delimiter, and the attributes in it.
pub(super) fn delimiter_attrs(comment: &str) -> Option<Option<&str>> {
    let found = delimiter(comment, 0, attributes_end(&comment[..comment.find("-->")?]))?;
    (found.end == comment.len()).then_some(found.attrs)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum DelimiterKind {
    Open,
    Close,
    Void,
}

struct Delimiter<'a> {
    start: usize,
    end: usize,
    kind: DelimiterKind,
    name: &'a str,
    attrs: Option<&'a str>,
}

struct Delimiters<'a> {
    text: &'a str,
    at: usize,
    /// Where the next comment ends; searched only when it has been passed, so that the whole search stays linear.
    comment_end: usize,
    /// Where the attributes of that comment end, if it has some. Any number of starts share the end of one comment.
    attributes_end: Option<usize>,
}

impl<'a> Delimiters<'a> {
    fn of(text: &'a str) -> Delimiters<'a> {
        match text.find("-->") {
            Some(end) => Delimiters { text, at: 0, comment_end: end, attributes_end: attributes_end(&text[..end]) },
            None => Delimiters { text, at: text.len(), comment_end: 0, attributes_end: None },
        }
    }
}

impl<'a> Iterator for Delimiters<'a> {
    type Item = Delimiter<'a>;

    fn next(&mut self) -> Option<Delimiter<'a>> {
        while let Some(start) = self.text[self.at..].find("<!--").map(|n| self.at + n) {
            if self.comment_end < start {
                self.comment_end = start + self.text[start..].find("-->")?;
                self.attributes_end = attributes_end(&self.text[..self.comment_end]);
            }
            match delimiter(self.text, start, self.attributes_end) {
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

fn delimiter(text: &str, start: usize, attributes_end: Option<usize>) -> Option<Delimiter<'_>> {
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
        attrs = Some(text.get(json..attributes_end?)?);
        rest = spaces(&text[attributes_end?..])?;
    }
    let (rest, void) = rest.strip_prefix('/').map_or((rest, false), |rest| (rest, true));
    let rest = rest.strip_prefix("-->")?;
    let kind = match (closes, void) {
        (true, _) => DelimiterKind::Close,
        (false, true) => DelimiterKind::Void,
        (false, false) => DelimiterKind::Open,
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

/// Where the attributes of the comment end that `text` ends with: they reach to the end of their comment, which no attribute
/// contains, and white space sets them off.
fn attributes_end(text: &str) -> Option<usize> {
    let before = text.strip_suffix('/').unwrap_or(text);
    let attributes = before.trim_end_matches(is_space);
    (attributes.len() < before.len() && attributes.ends_with('}')).then_some(attributes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let (styles, unique) = (BlockStyles::sample(), UniqueNames::default());
        render_blocks(text, &BlockOptions { styles: Some(&styles), unique: Some(&unique), ..Default::default() })
    }

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
    fn many_starts_share_the_end_of_a_comment() {
        // Each of them looked for the end of its attributes through the same white space before.
        let text = format!("{}}}{}x-->", "<!-- wp:a {".repeat(40_000), " ".repeat(400_000));
        let begun = std::time::Instant::now();
        assert_eq!(parse(&text), [Block::freeform(&text)]);
        assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
        let last = format!("{}<!-- wp:a {{\"x\":1}} {}-->", "<!-- wp:a {".repeat(3), " ".repeat(9));
        assert_eq!(parse(&last).last().and_then(|block| block.name.clone()).as_deref(), Some("core/a"));
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
            assert_eq!(shown(text), expected, "{text}");
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
            assert_eq!(shown(text), expected, "{text}");
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
            assert_eq!(shown(text), expected, "{text}");
        }
        let group = |layout: &str, tag: &str| {
            format!("<!-- wp:group {{\"layout\":{{{layout}}}}} --><div{tag}></div><!-- /wp:group -->")
        };
        let flow = "is-layout-flow wp-block-group-is-layout-flow";
        check(&group("\"type\":\"\\\" onmouseover=alert(1)\"", ""), "<div></div>");
        check(&group("", " title='x'class='y'"), &format!("<div title='x'class='y {flow}'></div>"));
        check(&group("\"orientation\":\"x\\\" y=z\"", ""), &format!("<div class=\"{flow}\"></div>"));
        check(&group("\"justifyContent\":\"x\\\" y=z\"", ""), &format!("<div class=\"{flow}\"></div>"));
        check(
            &group("\"type\":\"grid\"", ""),
            "<div class=\"is-layout-grid wp-container-core-group-is-layout-e39da43a wp-block-group-is-layout-grid\"></div>",
        );
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
        assert_eq!(shown(&text), "x");
        assert_eq!(strip_delimiters(&text), "x");
    }

    #[test]
    fn dynamic_blocks_are_made_by_the_caller() {
        let make = |block: &Block, _: &str| {
            (block.name.as_deref() == Some("x/y"))
                .then(|| Html::rendered(format!("[{}]", render_inside(block, &BlockOptions::default()))))
        };
        assert_eq!(
            render_blocks(
                "<!-- wp:x/y -->a<!-- /wp:x/y -->b",
                &BlockOptions { dynamic: Some(&make), ..BlockOptions::default() }
            ),
            "[a]b"
        );
    }
}
