//! Block bindings: values that a block takes from a record instead of what is written in it.

use super::{Part, Within, inside_of, loops, moment_of};
use crate::render::Item;
use crate::text::blocks::{Block, Chunk};
use crate::text::html::Html;
use crate::text::html_policy::Policy;
use crate::text::sanitize::clean_url;
use crate::text::tags::{fill, set_attribute};
use serde_json::{Map, Value};

/// What a bound attribute of a block is in its markup.
#[derive(Clone, Copy)]
enum Place {
    /// The content of the first of these elements.
    Content(&'static [&'static str]),
    /// An attribute of the first of these elements.
    Attribute(&'static [&'static str], &'static str),
    /// An attribute that holds an address.
    Address(&'static [&'static str], &'static str),
}

/// The attributes that can be bound, by block.
const BOUND: &[(&str, &str, Place)] = &[
    ("core/paragraph", "content", Place::Content(&["p"])),
    ("core/heading", "content", Place::Content(&["h1", "h2", "h3", "h4", "h5", "h6"])),
    ("core/list-item", "content", Place::Content(&["li"])),
    ("core/button", "text", Place::Content(&["a", "button"])),
    ("core/button", "url", Place::Address(&["a"], "href")),
    ("core/button", "linkTarget", Place::Attribute(&["a"], "target")),
    ("core/button", "rel", Place::Attribute(&["a"], "rel")),
    ("core/image", "url", Place::Address(&["img"], "src")),
    ("core/image", "alt", Place::Attribute(&["img"], "alt")),
    ("core/image", "title", Place::Attribute(&["img"], "title")),
    ("core/image", "caption", Place::Content(&["figcaption"])),
];

/// The bindings of a block, if it has any.
pub fn of(block: &Block<'_>) -> Option<Map<String, Value>> {
    block.attrs.filter(|json| json.contains("\"bindings\""))?;
    match block.attributes()["metadata"]["bindings"].take() {
        Value::Object(bound) => Some(bound),
        _ => None,
    }
}

/// A block that is not rendered otherwise, with the values that it is bound to; `None` where it is bound to nothing.
pub fn shown(item: &Item<'_>, block: &Block<'_>, bound: &Map<String, Value>, within: Within<'_>) -> Option<Html> {
    let name = block.name.as_deref()?;
    let part = Part { item, of: None, block: Some(block), attributes: Value::Null, within, left: 0 };
    let values: Vec<(Place, String)> = BOUND
        .iter()
        .filter(|(of, _, _)| *of == name)
        .filter_map(|(_, attribute, place)| Some((*place, value(&part, bound.get(*attribute)?)?)))
        .collect();
    if values.is_empty() {
        return None;
    }
    let content = values.iter().find_map(|(place, value)| match place {
        Place::Content(elements) => Some((*elements, Html::sanitised(value, Policy::posts()))),
        _ => None,
    });
    let mut html = match content {
        Some((elements, content)) => filled(item, block, elements, &content, within),
        None => inside_of(item, block, within),
    };
    for (place, value) in values {
        html = match place {
            Place::Content(_) => html,
            Place::Attribute(elements, name) => set_attribute(&html, elements, name, |_| value),
            Place::Address(elements, name) => set_attribute(&html, elements, name, |_| clean_url(&value)),
        };
    }
    Some(Html::rendered(html))
}

/// The inside of a block with other content in its element; the blocks inside it stay.
fn filled(item: &Item<'_>, block: &Block<'_>, elements: &[&str], content: &Html, within: Within<'_>) -> String {
    let first = match block.chunks.first() {
        Some(Chunk::Html(first)) if block.chunks.len() > 1 => fill(first, elements, content),
        _ => return fill(&inside_of(item, block, within), elements, content),
    };
    let rest = Block { chunks: block.chunks[1..].to_vec(), ..block.clone() };
    first + &inside_of(item, &rest, within)
}

/// The value of a binding; `None` leaves what is written.
fn value(part: &Part<'_>, binding: &Value) -> Option<String> {
    let argument = |key: &str| binding["args"][key].as_str();
    let source = binding["source"].as_str()?;
    let document = |fields: &str| loops::document_of(part, fields);
    match (source, argument("field"), argument("key")) {
        ("core/post-data", Some(field @ ("date" | "modified")), _) => {
            let document = document("date,modified")?;
            // What was never changed has no such date.
            match field == "modified" && document["modified"].as_str() <= document["date"].as_str() {
                true => Some(String::new()),
                false => Some(moment_of(part.item, &document[field]).1),
            }
        }
        ("core/post-data", Some("link"), _) => document("link")?["link"].as_str().map(str::to_owned),
        ("core/post-meta", _, Some(key)) if !key.starts_with('_') => match &document("meta")?["meta"][key] {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        },
        _ => None,
    }
}
