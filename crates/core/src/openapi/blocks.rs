//! The schemas of `content.blocks`: one for each type of blocks, told apart by `name`.

use super::components::{pascal, reference};
use super::schemas::{Side, modern};
use crate::registry::Registry;
use crate::registry::resource::Resource;
use cms_text::block_source::BlockType;
use serde_json::{Map, Value, json};

/// The name of the schema of any block.
const BLOCK: &str = "Block";

/// The name of that of a block whose type is not declared.
const OTHER: &str = "OtherBlock";

/// The mark of an alternative that clients with types leave out: its `name` is any text, so it would be part of every other.
pub(super) const OPEN: &str = "x-open";

/// The name of the schema that an object has, for clients that take a type within itself. Some generators do not.
pub(super) const NAMED: &str = "x-schema";

/// Adds `blocks` to the contents of a document of a content type. They are there on demand alone.
pub(super) fn extend(registry: &Registry, resource: &Resource, properties: &mut Map<String, Value>) {
    if registry.block_types().is_empty() || !resource.is_content() {
        return;
    }
    let contents = properties.get_mut("content").and_then(|content| content["properties"].as_object_mut());
    if let Some(contents) = contents.filter(|contents| contents.contains_key("rendered")) {
        let description = "The content as blocks, where `_blocks` or `_fields` requests it.";
        let list = json!({"type": "array", "items": reference(BLOCK), "description": description});
        contents.insert("blocks".into(), list);
    }
}

/// Whether a schema has them.
pub(super) fn is_extended(schema: &Value) -> bool {
    schema["properties"]["content"]["properties"]["blocks"]["items"] == reference(BLOCK)
}

/// Whether a name is that of one of these schemas, so that no document has it.
pub(super) fn is_reserved(registry: &Registry, name: &str) -> bool {
    [BLOCK, OTHER].contains(&name)
        || name.ends_with(BLOCK) && registry.block_types().keys().any(|kind| named(kind) == name)
}

/// The name of the schema of a type.
fn named(kind: &str) -> String {
    format!("{}{BLOCK}", pascal(kind.strip_prefix("core/").unwrap_or(kind)))
}

/// The schemas by name.
pub(super) fn schemas(registry: &Registry) -> Vec<(String, Value)> {
    let one = |(name, kind): (&String, &BlockType)| {
        (named(name), block(json!({"type": "string", "enum": [name]}), kind.attributes().map(attribute).collect()))
    };
    let mut all: Vec<(String, Value)> = registry.block_types().iter().map(one).collect();
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    all.dedup_by(|(a, _), (b, _)| a == b);
    let mut other = reference(OTHER);
    other[OPEN] = json!(true);
    let alternatives: Vec<Value> = all.iter().map(|(name, _)| reference(name)).chain([other]).collect();
    all.push((OTHER.to_owned(), block(json!({"type": "string"}), Map::new())));
    let description = "A block of a content. `name` says which.";
    all.push((BLOCK.to_owned(), json!({"description": description, "anyOf": alternatives})));
    all
}

fn block(name: Value, attributes: Map<String, Value>) -> Value {
    json!({
        "type": "object",
        "required": ["name", "attributes", "inner", "html"],
        "properties": {
            "name": name,
            "attributes": {"type": "object", "properties": attributes, "additionalProperties": {}},
            "inner": {"type": "array", "items": {"type": "object", "description": "A block.", (NAMED): BLOCK}},
            "html": {"type": ["string", "null"], "description": "The block as the server renders it; null where the content is too long."},
        },
    })
}

/// An attribute of a block, by the types of its values. An object of unknown members, of which generators would make a type for
/// each attribute, is any value, and so is a type that no schema has.
fn attribute((name, types): (&str, Vec<&str>)) -> (String, Value) {
    let types: Option<Vec<&str>> = types.into_iter().map(schema_type).collect();
    let schema = types.filter(|types| !types.is_empty()).map_or_else(|| json!({}), |types| json!({"type": types}));
    (name.to_owned(), modern(&schema, Side::Response { empty_lists: false }))
}

fn schema_type(name: &str) -> Option<&str> {
    match name {
        "rich-text" => Some("string"),
        "string" | "number" | "integer" | "boolean" | "array" | "null" => Some(name),
        _ => None,
    }
}
