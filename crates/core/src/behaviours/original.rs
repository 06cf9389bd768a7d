//! Records that are there before anybody writes them (`originals`), and what records show of the originals behind them.

use crate::records;
use crate::registry::resource::Property;
use crate::render::Item;
use cms_storage::plan::DbValue;
use serde_json::{Value, json};

/// Whether the resource declares an original with the slug of the record.
fn has_original(item: &Item<'_>) -> bool {
    item.resource.original_of_slug(item.record.text("slug")).is_some()
}

/// A number of a row; 0 for an original, which has none.
pub fn id(_: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    Some(json!(records::int(value).max(0)))
}

/// Where the record is from: the theme, or somebody who has written it.
pub fn source(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    Some(json!(if item.record.is_original() { "theme" } else { "custom" }))
}

/// Where a written record was from before; null where it was new.
pub fn origin(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    let changed = !item.record.is_original() && has_original(item);
    Some(if changed { json!("theme") } else { Value::Null })
}

/// Who has made the first version.
pub fn first_source(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    Some(json!(if has_original(item) { "theme" } else { "user" }))
}

/// Whether the theme has an original of the record.
pub fn exists(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    Some(json!(has_original(item)))
}

/// Whether users made the record, and not the theme.
pub fn is_own(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    Some(json!(!has_original(item)))
}

/// The name of the theme that has the original, or else of the record's author.
pub fn author(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    let registry = &item.scope.registry;
    if has_original(item) {
        let theme = registry.active_theme();
        let header = registry.declaration.themes.get(theme).map(|theme| &theme.header);
        let named = header.and_then(|header| header.get("name")).and_then(Value::as_str);
        return Some(json!(named.unwrap_or(theme)));
    }
    let named = item.batch.author_names.get(&item.record.int("author"));
    Some(json!(named.map_or("", |name| name)))
}
