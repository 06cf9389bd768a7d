//! Attributes of blocks: those in the delimiter, and those that are read from a block's markup by the rules of its type.
//!
//! A rule names a source (`attribute`, `html`, `rich-text`, `raw`, `tag`, `query`, `children`), a CSS selector within the
//! markup of the block itself, and a default. It knows no record: what is stored as meta is not here.

use super::blocks::{Block, Chunk};
use scraper::{ElementRef, Html, Selector};
use serde_json::{Map, Value, json};

/// How far lists in lists of a type go.
const DEEPEST: usize = 8;

/// The attributes of a type of blocks.
#[derive(Clone, Debug)]
pub struct BlockType(Vec<(String, SourceAttribute)>);

/// Readers differ in what they make of markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceReading {
    /// As the editor reads it: an HTML attribute of type `boolean` is there or not, and `raw` is the markup as written.
    Editor,
    /// As the Block Data API of VIP reads it: HTML attributes are texts, and neither `raw` nor ids of any element are read.
    Vip,
}

#[derive(Clone, Debug)]
struct SourceAttribute {
    source: Option<Source>,
    types: Vec<String>,
    choices: Option<Vec<Value>>,
    default: Option<Value>,
}

/// Where in the markup a value is; without a selector, in the element itself.
#[derive(Clone, Debug)]
struct Source {
    selector: Option<Selector>,
    /// The selector is `*`.
    is_any: bool,
    kind: SourceKind,
}

#[derive(Clone, Debug)]
enum SourceKind {
    Attribute(String),
    Html,
    /// The elements of this name inside, each with itself.
    Lines(String),
    Raw,
    Tag,
    Query(Vec<(String, SourceAttribute)>),
}

impl BlockType {
    /// Reads the `attributes` of a type.
    ///
    /// # Errors
    /// The name of the attribute and why it cannot be read: an unknown source, a selector that is none, lists too deep.
    pub fn compile(attributes: &Map<String, Value>) -> Result<BlockType, (String, String)> {
        compile(attributes, 0).map(BlockType)
    }

    /// The names of the attributes, each with the types of its values.
    pub fn attributes(&self) -> impl Iterator<Item = (&str, Vec<&str>)> {
        self.0.iter().map(|(name, attribute)| {
            let null = attribute.default.as_ref().filter(|value| value.is_null()).map(|_| "null");
            let declared = attribute.types.iter().map(String::as_str);
            (name.as_str(), declared.chain(null.filter(|_| !attribute.types.is_empty())).collect())
        })
    }

    /// The attributes of a block: as the delimiter has them, then as the markup says, then the defaults. Values of another
    /// type than declared give way to the default.
    pub fn read(&self, block: &Block<'_>, reading: SourceReading) -> Map<String, Value> {
        let mut found = match block.attributes() {
            Value::Object(found) => found,
            _ => Map::new(),
        };
        let markup = own_markup(block);
        let html =
            self.0.iter().any(|(_, attribute)| attribute.source.is_some()).then(|| Html::parse_fragment(&markup));
        for (name, attribute) in &self.0 {
            let value = match (&attribute.source, &html) {
                (Some(source), Some(html)) => source.find(html.root_element(), Some(&markup), attribute, reading),
                _ => found.shift_remove(name),
            };
            match value.filter(|value| attribute.takes(value, reading)).or_else(|| attribute.default.clone()) {
                Some(value) => drop(found.insert(name.clone(), value)),
                None => drop(found.shift_remove(name)),
            }
        }
        found
    }
}

fn compile(attributes: &Map<String, Value>, depth: usize) -> Result<Vec<(String, SourceAttribute)>, (String, String)> {
    let one = |(name, doc): (&String, &Value)| {
        let source = source(doc, depth).map_err(|why| (name.clone(), why))?;
        let types = match &doc["type"] {
            Value::String(one) => vec![one.clone()],
            Value::Array(all) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        let default = doc.get("default").cloned();
        Ok((name.clone(), SourceAttribute { source, types, choices: doc["enum"].as_array().cloned(), default }))
    };
    attributes.iter().map(one).collect()
}

fn source(doc: &Value, depth: usize) -> Result<Option<Source>, String> {
    let Some(named) = doc.get("source").and_then(Value::as_str) else { return Ok(None) };
    let selector = match doc.get("selector").and_then(Value::as_str) {
        Some(text) => Some(Selector::parse(text).map_err(|_| format!("`{text}` is not a CSS selector"))?),
        None => None,
    };
    let text = |key: &str| doc.get(key).and_then(Value::as_str).map(str::to_owned);
    let kind = match named {
        "attribute" | "property" => {
            SourceKind::Attribute(text("attribute").or_else(|| text("property")).unwrap_or_default())
        }
        "html" | "rich-text" | "children" | "text" => text("multiline").map_or(SourceKind::Html, SourceKind::Lines),
        "raw" => SourceKind::Raw,
        "tag" => SourceKind::Tag,
        "query" if depth >= DEEPEST => return Err(format!("more than {DEEPEST} lists are in each other")),
        "query" => {
            let inner =
                doc.get("query").and_then(Value::as_object).ok_or("a `query` names the attributes of its items")?;
            SourceKind::Query(compile(inner, depth + 1).map_err(|(name, why)| format!("{name}: {why}"))?)
        }
        // Stored with the record, not in its markup.
        "meta" => return Ok(None),
        other => return Err(format!("`{other}` is not a source")),
    };
    let is_any = doc["selector"] == "*";
    Ok(Some(Source { selector, is_any, kind }))
}

impl Source {
    /// The value in an element. `markup`: as written, at the top alone.
    fn find(
        &self,
        within: ElementRef<'_>,
        markup: Option<&str>,
        attribute: &SourceAttribute,
        reading: SourceReading,
    ) -> Option<Value> {
        if let SourceKind::Query(inner) = &self.kind {
            let selector = self.selector.as_ref()?;
            let item = |element| Value::Object(item(inner, element, reading));
            return Some(within.select(selector).map(item).collect());
        }
        let element = match &self.selector {
            Some(selector) => within.select(selector).next(),
            None => Some(within),
        };
        match &self.kind {
            SourceKind::Attribute(_) if self.is_any && reading == SourceReading::Vip => None,
            SourceKind::Attribute(name) => {
                let value = element.and_then(|element| element.value().attr(name));
                match attribute.types.iter().any(|ty| ty == "boolean") && reading == SourceReading::Editor {
                    // One of an element that is not there is false, too.
                    true => Some(Value::Bool(value.is_some())),
                    false => value.map(Value::from),
                }
            }
            // The editor reads a text that is not there as an empty one.
            SourceKind::Html if element.is_none() && reading == SourceReading::Editor => Some(Value::from("")),
            SourceKind::Html => Some(Value::from(element?.inner_html())),
            SourceKind::Lines(tag) => {
                let lines = element?.child_elements().filter(|child| child.value().name() == tag);
                Some(Value::from(lines.map(|line| line.html()).collect::<String>()))
            }
            SourceKind::Raw => {
                markup.filter(|_| reading == SourceReading::Editor).map(|markup| json!(markup.trim_matches('\n')))
            }
            SourceKind::Tag => Some(Value::from(element?.value().name())),
            SourceKind::Query(_) => None,
        }
    }
}

fn item(
    attributes: &[(String, SourceAttribute)],
    element: ElementRef<'_>,
    reading: SourceReading,
) -> Map<String, Value> {
    let one = |(name, attribute): &(String, SourceAttribute)| {
        let value = attribute.source.as_ref().and_then(|source| source.find(element, None, attribute, reading));
        let value = value.filter(|value| attribute.takes(value, reading)).or_else(|| attribute.default.clone());
        Some((name.clone(), value?))
    };
    attributes.iter().filter_map(one).collect()
}

impl SourceAttribute {
    /// Whether a value is of one of the types and among the choices.
    fn takes(&self, value: &Value, reading: SourceReading) -> bool {
        let fits = |ty: &String| match ty.as_str() {
            "string" | "rich-text" => value.is_string(),
            "number" => value.is_number(),
            "integer" => value.as_f64().is_some_and(|n| n.fract() == 0.0),
            "boolean" => value.is_boolean(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            "null" => value.is_null(),
            _ => true,
        };
        reading == SourceReading::Vip
            || (self.types.is_empty() || self.types.iter().any(fits))
                && self.choices.as_ref().is_none_or(|choices| choices.contains(value))
    }
}

/// The markup of a block without that of the blocks in it.
fn own_markup(block: &Block<'_>) -> String {
    let mut markup = String::new();
    for chunk in &block.chunks {
        if let Chunk::Html(html) = chunk {
            markup.push_str(html);
        }
    }
    markup
}

#[cfg(test)]
mod tests {
    use super::super::blocks::parse;
    use super::*;
    use proptest::prelude::*;

    fn read(attributes: Value, text: &str, reading: SourceReading) -> Value {
        let Value::Object(attributes) = attributes else { panic!("an object") };
        let ty = BlockType::compile(&attributes).expect("compiles");
        let blocks = parse(text);
        Value::Object(ty.read(&blocks[0], reading))
    }

    #[test]
    fn attributes_come_from_delimiter_and_markup() {
        let check = |attributes: Value, text: &str, expected: Value| {
            let text = format!("<!-- wp:x {{\"a\":1,\"own\":\"x\"}} -->\n{text}\n<!-- /wp:x -->");
            let mut found = read(attributes, &text, SourceReading::Editor);
            let own = found.as_object_mut().and_then(|found| found.shift_remove("own"));
            assert_eq!(own, Some(json!("x")), "what no type declares stays");
            assert_eq!(found, expected, "{text}");
        };
        let a = |more: Value| json!({"a": more});
        check(a(json!({"type": "number"})), "", json!({"a": 1}));
        check(a(json!({"type": "string"})), "", json!({}));
        check(a(json!({"type": "string", "default": "d"})), "", json!({"a": "d"}));
        check(a(json!({"type": ["string", "number"], "enum": [2]})), "", json!({}));
        let html = |selector: &str| json!({"a": {"type": "rich-text", "source": "rich-text", "selector": selector}});
        check(html("p,h1"), "<h1 id=x>a &amp; <b>b</b> &lt;é\u{a0}</h1>", json!({"a": "a &amp; <b>b</b> &lt;é&nbsp;"}));
        check(html("p"), "<h1>a</h1>", json!({"a": ""}));
        let attr =
            |ty: &str| json!({"a": {"type": ty, "source": "attribute", "selector": "figure > a", "attribute": "href"}});
        check(attr("string"), "<figure><a href='/x?a&amp;b'></a></figure>", json!({"a": "/x?a&b"}));
        check(attr("string"), "<figure><b><a href='/x'></a></b></figure>", json!({}));
        check(attr("boolean"), "<figure><a href></a></figure>", json!({"a": true}));
        check(attr("boolean"), "<figure><a></a></figure>", json!({"a": false}));
        check(attr("number"), "<figure><a href='1'></a></figure>", json!({}));
        let lines = json!({"a": {"type": "string", "source": "html", "selector": "ol,ul", "multiline": "li"}});
        check(
            lines,
            "<ul><li>1</li><b>x</b><li>2<ul><li>3</li></ul></li></ul>",
            json!({"a": "<li>1</li><li>2<ul><li>3</li></ul></li>"}),
        );
        check(json!({"a": {"type": "string", "source": "raw"}}), "<p>&amp;<b>", json!({"a": "<p>&amp;<b>"}));
        let cells = json!({"tag": {"type": "string", "source": "tag"}, "of": {"type": "string", "source": "attribute", "attribute": "scope"}});
        let cells = json!({"cells": {"type": "array", "source": "query", "selector": "td,th", "query": cells}});
        check(
            json!({"a": {"type": "array", "source": "query", "selector": "tbody tr", "query": cells}}),
            "<table><tr><th scope=row>1</th><td>2</td></tr></table>",
            json!({"a": [{"cells": [{"tag": "th", "of": "row"}, {"tag": "td"}]}]}),
        );
    }

    #[test]
    fn inner_blocks_are_not_read() {
        let ty = json!({"content": {"type": "rich-text", "source": "rich-text", "selector": "li"}});
        let text = "<!-- wp:x -->\n<li>One<!-- wp:y -->\n<li>Two</li>\n<!-- /wp:y --></li>\n<!-- /wp:x -->";
        assert_eq!(read(ty, text, SourceReading::Editor), json!({"content": "One"}));
    }

    #[test]
    fn the_other_reading_keeps_texts() {
        let ty = json!({
            "loop": {"type": "boolean", "source": "attribute", "selector": "audio", "attribute": "loop"},
            "raw": {"type": "string", "source": "raw"},
        });
        let text = "<!-- wp:x --><audio loop></audio><!-- /wp:x -->";
        assert_eq!(read(ty, text, SourceReading::Vip), json!({"loop": ""}));
    }

    #[test]
    fn types_that_cannot_be_read_are_told() {
        for (attribute, expected) in [
            (json!({"source": "attribute", "selector": "a["}), "`a[` is not a CSS selector"),
            (json!({"source": "moon"}), "`moon` is not a source"),
            (json!({"source": "query", "selector": "a"}), "a `query` names the attributes of its items"),
        ] {
            let attributes = Map::from_iter([("a".to_owned(), attribute)]);
            assert_eq!(BlockType::compile(&attributes).expect_err(expected), ("a".to_owned(), expected.to_owned()));
        }
    }

    proptest! {
        #[test]
        fn no_markup_stops_it(parts in prop::collection::vec(prop_oneof![
            prop::sample::select(vec!["<p>", "</p>", "<td", "<table>", "</li>", "<a href='", "<!--", "-->", "<b><i>", "&#0;", "<svg>", "<template>", "\u{0}", "<!-- wp:x -->", "<!-- /wp:x -->"]).prop_map(str::to_owned),
            "\\PC{0,8}",
        ], 0..40), reading in prop::sample::select(vec![SourceReading::Editor, SourceReading::Vip])) {
            let html = json!({"source": "html", "selector": "p, td > *", "multiline": "li"});
            let query = json!({"source": "query", "selector": "*", "query": {"tag": {"source": "tag"}, "html": {"source": "rich-text"}}});
            let Value::Object(attributes) = json!({"html": html, "query": query, "raw": {"source": "raw"}}) else { panic!("an object") };
            let ty = BlockType::compile(&attributes).expect("compiles");
            for block in parse(&format!("<!-- wp:x -->{}", parts.concat())) {
                ty.read(&block, reading);
            }
        }
    }
}
