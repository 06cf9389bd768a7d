//! Block bindings: values that a block takes from a record instead of what is written in it.

use super::{DynamicPart, PartContext, loops, moment_of, render_inner, terms};
use crate::render::Item;
use cms_declaration::{BindingSource, BlockBindings, BoundAttribute};
use cms_text::blocks::{Block, Chunk};
use cms_text::html::Html;
use cms_text::html_policy::Policy;
use cms_text::sanitize::clean_url;
use cms_text::tags::{fill, names, set_attribute};
use serde_json::{Map, Value};

/// The bindings of a block, if it has any.
pub fn of(block: &Block<'_>) -> Option<Map<String, Value>> {
    block.attrs.filter(|json| json.contains("\"bindings\""))?;
    match block.attributes()["metadata"]["bindings"].take() {
        Value::Object(bound) => Some(bound),
        _ => None,
    }
}

/// A block that is not rendered otherwise, with the values that it is bound to; `None` where it is bound to nothing.
pub fn shown(item: &Item<'_>, block: &Block<'_>, bound: &Map<String, Value>, within: PartContext<'_>) -> Option<Html> {
    let declared = &item.scope.registry.declaration.block_bindings;
    let attributes = declared.attributes.get(block.name.as_deref()?)?;
    let part = DynamicPart {
        item,
        of: None,
        source: None,
        name: "",
        block: Some(block),
        attributes: Value::Null,
        within,
        left: 0,
    };
    let default = bound.get("__default").filter(|default| {
        let source = default["source"].as_str().and_then(|source| declared.sources.get(source));
        source == Some(&BindingSource::Overrides)
    });
    let part = DynamicPart { attributes: block.attributes(), ..part };
    let values: Vec<(&BoundAttribute, String)> = attributes
        .iter()
        .filter_map(|(attribute, place)| {
            let binding = bound.get(attribute).or(default)?;
            Some((place, value(&part, declared, (attribute, binding))?))
        })
        .collect();
    if values.is_empty() {
        return None;
    }
    let mut html = match values.iter().find(|(place, _)| place.attribute.is_none()) {
        Some((place, value)) => {
            filled(item, block, &names(&place.elements), &Html::sanitised(value, Policy::posts()), within)
        }
        None => render_inner(item, block, within),
    };
    for (place, value) in values {
        let Some(attribute) = place.attribute else { continue };
        let value = if attribute.is_address() { clean_url(&value) } else { value };
        html = set_attribute(&html, &names(&place.elements), attribute.name(), |_| value);
    }
    Some(Html::rendered(html))
}

/// The inside of a block with other content in its element; the blocks inside it stay.
fn filled(item: &Item<'_>, block: &Block<'_>, elements: &[&str], content: &Html, within: PartContext<'_>) -> String {
    let first = match block.chunks.first() {
        Some(Chunk::Html(first)) if block.chunks.len() > 1 => fill(first, elements, content),
        _ => return fill(&render_inner(item, block, within), elements, content),
    };
    let rest = Block { chunks: block.chunks[1..].to_vec(), ..block.clone() };
    first + &render_inner(item, &rest, within)
}

/// The value of a binding; `None` leaves what is written.
fn value(part: &DynamicPart<'_>, declared: &BlockBindings, (attribute, binding): (&str, &Value)) -> Option<String> {
    let argument = |key: &str| binding["args"][key].as_str();
    let source = declared.sources.get(binding["source"].as_str()?)?;
    let document = |fields: &str| loops::document_of(part, fields);
    match (source, argument("field"), argument("key")) {
        (BindingSource::Record, Some(field @ ("date" | "modified")), _) => {
            let document = document("date,modified")?;
            // A record that was never changed has no such date.
            match field == "modified" && document["modified"].as_str() <= document["date"].as_str() {
                true => Some(String::new()),
                false => Some(moment_of(part.item, &document[field]).1),
            }
        }
        (BindingSource::Record, Some("link"), _) => document("link")?["link"].as_str().map(str::to_owned),
        (BindingSource::Overrides, _, _) => {
            let name = part.attributes["metadata"]["name"].as_str().filter(|name| !name.is_empty())?;
            let own = &part.within.around("content")?[name];
            // Older editors wrote the values one level deeper.
            let value = if own["values"].is_object() { &own["values"][attribute] } else { &own[attribute] };
            value.as_str().map(str::to_owned)
        }
        (BindingSource::Term, Some(field), _) => terms::member(part, field),
        (BindingSource::Meta, _, Some(key)) if !key.starts_with('_') => match &document("meta")?["meta"][key] {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        },
        _ => None,
    }
}
