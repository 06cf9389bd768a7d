//! `block_render`: one block as a page would show it, for editors.

use crate::access::policy;
use crate::behaviours::{READS, dynamic};
use crate::error::{ApiError, Code};
use crate::handlers::{Handler, Outcome, Work, sync_handler};
use crate::records::Record;
use crate::registry::vocabulary::BehaviourEntry;
use crate::render::{Batch, Item};
use cms_declaration::Action;
use cms_schema::Schema;
use cms_storage::plan::DbValue;
use serde_json::{Map, Value, json};

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] =
    &[sync_handler("block.render", render, "Renders one block as a page shows it.")
        .settings(&["types"])
        .fails(&[Code::Forbidden, Code::RecordInvalidId])];

/// The argument with the attributes of the block.
const ATTRIBUTES: &str = "attributes";

/// The attributes of the request, as the block's type describes them.
///
/// # Errors
/// The type has no such attribute; a value does not fit.
fn attributes(work: &Work<'_>, block: &str) -> Result<Value, ApiError> {
    let given = work.allowed.args().get(ATTRIBUTES).cloned().unwrap_or_default();
    let types = work.resource()?.declared.options.types.as_deref();
    let registry = &work.scope.registry;
    let entry = types.and_then(|types| registry.entry(registry.resource(types)?, block));
    let Some(described) = entry.and_then(|entry| entry["attributes"].as_object()) else { return Ok(given) };
    let one = |attribute: &Value| {
        let words = ["type", "enum", "default", "items", "properties"].iter();
        let known = words.filter_map(|word| Some(((*word).to_owned(), attribute.get(*word)?.clone())));
        let mut known: Map<String, Value> = known.collect();
        if known.get("type").is_some_and(|kind| kind == "rich-text") {
            known.insert("type".into(), "string".into());
        }
        known
    };
    let properties: Map<String, Value> =
        described.iter().map(|(name, one_of)| (name.clone(), one(one_of).into())).collect();
    let schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    let dialect = registry.dialect();
    let schema = Schema::compile(&schema, dialect).map_err(|problems| work.scope.internal(&format!("{problems:?}")))?;
    let fitting = schema.check(ATTRIBUTES, &given).and_then(|()| schema.coerce(ATTRIBUTES, given));
    fitting.map_err(|failure| ApiError::invalid(vec![*failure]))
}

/// `{rendered}` of the block that the path names, with the attributes of the request.
///
/// # Errors
/// No renderer makes such a block; the caller may not edit the record that it is for.
pub fn render(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let args = work.allowed.args();
    let block = work.captures.get("name").and_then(Value::as_str).unwrap_or("");
    let within = args.get("post_id").and_then(Value::as_i64).unwrap_or(0);
    if within != 0 && policy::parent_content(work.scope, within, Action::Edit)? != Some(true) {
        return Err(work.scope.principal.refuse(work.resource()?.code(Code::Forbidden)));
    }
    let missing = work.resource()?.code(Code::RecordInvalidId);
    let missing = || ApiError::new(missing);
    let registry = &work.scope.registry;
    let made = registry.declaration.blocks.get(block).ok_or_else(missing)?;
    let some = made.resource.as_deref().and_then(|of| registry.resource(of)).or(registry.resources.first());
    let resource = some.ok_or_else(missing)?;
    let mut row = vec![DbValue::Null; resource.columns.len()];
    if let Some(place) = resource.column("id") {
        row[place] = DbValue::Int(within);
    }
    let batch = Batch::default();
    let item = Item::viewed(work.scope, Record { resource, row: &row }, &batch, READS, &work.unique);
    let attributes = attributes(work, block)?;
    let rendered = dynamic::block(&item, block, attributes).ok_or_else(missing)?;
    Ok(Outcome::ok(json!({"rendered": rendered})))
}
