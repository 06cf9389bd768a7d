//! Values as they are stored, which is the form that programs get: texts, numbers, ids.

use crate::registry::fields::{FieldNode, LAYOUT, MOST_ROWS, numeric};
use cms_declaration::FieldKind;
use cms_text::php;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::sync::Arc;

/// Rows without any value, beside as many as there are with some.
const EMPTY_ROWS: usize = 20;

/// The meta values of an item, with their keys, and the terms that it has.
#[derive(Clone, Copy)]
pub struct StoredValues<'a> {
    pub meta: &'a [(Arc<str>, Value)],
    /// Terms of the record in the taxonomy of this name.
    pub terms: &'a dyn Fn(&str) -> Vec<i64>,
}

/// The stored value of a field; `None` where there is none. What PHP has serialised is read.
pub fn stored(field: &FieldNode, values: StoredValues<'_>) -> Option<Value> {
    let (_, value) = values.meta.iter().find(|(key, _)| **key == *field.meta)?;
    let structured = matches!(
        field.declared.kind,
        FieldKind::Select
            | FieldKind::Checkbox
            | FieldKind::Link
            | FieldKind::IconPicker
            | FieldKind::GoogleMap
            | FieldKind::FlexibleContent
    );
    match value {
        Value::Null => None,
        Value::String(text) if structured || field.target().is_some() => {
            Some(php::unserialize(text).unwrap_or_else(|| value.clone()))
        }
        _ => Some(value.clone()),
    }
}

/// The value of a field as it is stored.
pub fn light(field: &FieldNode, values: StoredValues<'_>) -> Value {
    let declared = &field.declared;
    let value = stored(field, values);
    let default = || declared.default.clone().filter(|default| !default.is_null());
    match declared.kind {
        FieldKind::Text
        | FieldKind::Textarea
        | FieldKind::Wysiwyg
        | FieldKind::Email
        | FieldKind::Url
        | FieldKind::ColorPicker
        | FieldKind::Radio
        | FieldKind::ButtonGroup => value.or_else(default).map_or(json!(""), text),
        FieldKind::Password | FieldKind::Oembed | FieldKind::DateTimePicker | FieldKind::TimePicker => {
            value.map_or(Value::Null, text)
        }
        FieldKind::DatePicker => value.filter(|value| !php::is_empty(value)).map_or(Value::Null, text),
        FieldKind::Number | FieldKind::Range => value.or_else(default).map_or(json!(""), numeric),
        FieldKind::TrueFalse => json!(!value.or_else(default).as_ref().is_none_or(php::is_empty)),
        FieldKind::Select if !declared.multiple => {
            let first = value.or_else(default).and_then(|value| match value {
                Value::Array(list) => list.into_iter().next(),
                Value::Object(map) => map.into_iter().next().map(|(_, value)| value),
                value => Some(value),
            });
            first.filter(|value| *value != "" && !value.is_null()).map_or(json!(false), text)
        }
        FieldKind::Select => value.or_else(default).map_or(json!([]), |value| Value::Array(texts(value))),
        FieldKind::Checkbox => match value.or_else(|| default().filter(|default| *default != "")) {
            None => json!([]),
            // Recorded: a text that was written alone stays alone.
            Some(Value::String(text)) => json!(text),
            Some(value) => Value::Array(texts(value)),
        },
        FieldKind::Link => value.unwrap_or(Value::Null),
        FieldKind::IconPicker => match value {
            Some(icon @ Value::Object(_)) => icon,
            Some(Value::String(name)) if !name.is_empty() => json!({"type": "dashicons", "value": name}),
            _ => json!({"type": null, "value": null}),
        },
        FieldKind::GoogleMap => match place(value) {
            Value::Object(members) => members.into_iter().map(|(name, value)| (name, numeric(value))).collect(),
            none => none,
        },
        FieldKind::Taxonomy if declared.assigned => assigned(field, values),
        FieldKind::Taxonomy if field.is_list() => json!(value.map_or_else(Vec::new, ids)),
        FieldKind::Taxonomy => value.map_or_else(Vec::new, ids).into_iter().next().map_or(Value::Null, Value::from),
        FieldKind::Image | FieldKind::File => {
            value.map_or_else(Vec::new, ids).into_iter().next().map_or(Value::Null, Value::from)
        }
        FieldKind::PageLink if value.as_ref().is_some_and(|value| *value == "") => json!(""),
        FieldKind::PostObject | FieldKind::Relationship | FieldKind::PageLink | FieldKind::User => match value {
            Some(Value::Array(list)) => Value::Array(list.into_iter().map(numeric).collect()),
            Some(value) if !php::is_empty(&value) => numeric(value),
            _ => Value::Null,
        },
        FieldKind::Gallery => match value.map_or_else(Vec::new, ids) {
            none if none.is_empty() => Value::Null,
            pictures => json!(pictures),
        },
        FieldKind::Group | FieldKind::Layout => {
            let inside = field.fields.iter().map(|inner| (inner.name.clone(), light(inner, values)));
            Value::Object(inside.collect())
        }
        FieldKind::Repeater | FieldKind::FlexibleContent => {
            rows(field, values, |inner| light(inner, values)).unwrap_or_default()
        }
    }
}

/// A row of a field as it is stored.
pub struct StoredRow<'f> {
    /// Of flexible content.
    layout: Option<&'f str>,
    pub fields: Vec<FieldNode>,
}

/// The rows of a field. Of those without any value only so many are rows as a form may leave.
pub fn stored_rows<'f>(field: &'f FieldNode, values: StoredValues<'_>) -> Vec<StoredRow<'f>> {
    let Some(value) = stored(field, values).filter(|_| field.holds_rows()) else { return Vec::new() };
    let row = |at: usize, layout: Option<&'f FieldNode>| StoredRow {
        layout: layout.map(|layout| layout.name.as_str()),
        fields: field.in_row(layout.map_or(&field.fields, |layout| &layout.fields), &at.to_string()),
    };
    if field.declared.kind == FieldKind::FlexibleContent {
        let named = |name: Value| field.fields.iter().find(|layout| Some(&*layout.name) == name.as_str());
        let names = match value {
            Value::Array(list) => list,
            _ => Vec::new(),
        };
        let rows = names.into_iter().take(MOST_ROWS).enumerate();
        return rows.filter_map(|(at, name)| Some(row(at, Some(named(name)?)))).collect();
    }
    let inside =
        |key: &str| key.strip_prefix(&*field.meta)?.strip_prefix('_')?.split('_').next()?.parse::<usize>().ok();
    let filled: HashSet<usize> = values.meta.iter().filter_map(|(key, _)| inside(key)).collect();
    let count = numeric(value).as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
    (0..count.min(filled.len() * 2 + EMPTY_ROWS).min(MOST_ROWS)).map(|at| row(at, None)).collect()
}

/// The rows as objects; `None`: there are none.
pub fn rows(field: &FieldNode, values: StoredValues<'_>, value: impl Fn(&FieldNode) -> Value) -> Option<Value> {
    let object = |row: &StoredRow<'_>| {
        let layout = row.layout.map(|layout| (LAYOUT.to_owned(), json!(layout)));
        let inside = row.fields.iter().map(|inner| (inner.name.clone(), value(inner)));
        Value::Object(layout.into_iter().chain(inside).collect())
    };
    let rows: Vec<Value> = stored_rows(field, values).iter().map(object).collect();
    (!rows.is_empty()).then_some(Value::Array(rows))
}

/// The ids in the stored value of a field.
pub fn stored_ids(field: &FieldNode, values: StoredValues<'_>) -> Vec<i64> {
    match (field.declared.kind, &field.declared.taxonomy) {
        (FieldKind::Taxonomy, Some(taxonomy)) if field.declared.assigned => (values.terms)(taxonomy),
        _ => stored(field, values).map_or_else(Vec::new, ids),
    }
}

/// The terms of the record as the value: one, or a list; false where there is none.
fn assigned(field: &FieldNode, values: StoredValues<'_>) -> Value {
    let terms = stored_ids(field, values);
    match terms.first() {
        None => json!(false),
        Some(_) if field.is_list() => json!(terms),
        Some(first) => json!(first),
    }
}

/// A scalar as a text.
fn text(value: Value) -> Value {
    match value {
        Value::Number(number) => json!(number.to_string()),
        Value::Bool(flag) => json!(if flag { "1" } else { "" }),
        value => value,
    }
}

/// The items of a list, or the one value that stands alone, as texts.
fn texts(value: Value) -> Vec<Value> {
    match value {
        Value::Array(list) => list.into_iter().map(text).collect(),
        Value::Object(map) => map.into_iter().map(|(_, value)| text(value)).collect(),
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::Null => Vec::new(),
        value => vec![text(value)],
    }
}

/// The ids in a value.
fn ids(value: Value) -> Vec<i64> {
    let all = match value {
        Value::Array(list) => list,
        Value::Object(map) => map.into_iter().map(|(_, value)| value).collect(),
        value => vec![value],
    };
    all.into_iter().filter_map(|id| numeric(id).as_i64()).filter(|id| *id > 0).collect()
}

/// A place with the members that every one has, as they are stored; null where there is none.
pub fn place(value: Option<Value>) -> Value {
    let Some(value) = value.filter(|value| !php::is_empty(value)) else { return Value::Null };
    let members = match value {
        Value::Object(members) => members,
        Value::Array(list) => php::list_to_object(list),
        _ => Map::new(),
    };
    whole([("address", json!("")), ("lat", json!(0)), ("lng", json!(0))], members)
}

/// An object with the members that every one of its kind has.
pub fn whole(usual: [(&str, Value); 3], members: Map<String, Value>) -> Value {
    let mut map: Map<String, Value> = usual.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
    map.extend(members);
    Value::Object(map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cms_declaration::Field;

    fn node(declared: Value) -> FieldNode {
        let declared: Field = serde_json::from_value(declared).expect("a field");
        FieldNode { name: "f".into(), meta: "f".into(), declared: declared.into(), fields: Vec::new() }
    }

    #[test]
    fn stored_texts_are_shown_by_their_type() {
        let terms = |_: &str| vec![4, 5];
        let check = |declared: Value, value: Option<Value>, expected: Value| {
            let meta: Vec<(Arc<str>, Value)> = value.clone().map(|value| ("f".into(), value)).into_iter().collect();
            let shown = light(&node(declared.clone()), StoredValues { meta: &meta, terms: &terms });
            assert_eq!(shown, expected, "{declared} {value:?}");
        };
        check(json!({"type": "text", "default": "plain"}), None, json!("plain"));
        check(json!({"type": "text", "default": "plain"}), Some(json!("")), json!(""));
        check(json!({"type": "number"}), Some(json!("12.5")), json!(12.5));
        check(json!({"type": "number", "default": "7"}), None, json!(7));
        check(json!({"type": "true_false"}), Some(json!("1")), json!(true));
        check(json!({"type": "true_false", "default": 1}), None, json!(true));
        check(json!({"type": "select"}), Some(json!("")), json!(false));
        check(
            json!({"type": "select", "multiple": true}),
            Some(json!("a:2:{i:0;s:1:\"a\";i:1;s:1:\"b\";}")),
            json!(["a", "b"]),
        );
        check(json!({"type": "checkbox"}), Some(json!("a")), json!("a"));
        check(json!({"type": "image"}), Some(json!("12")), json!(12));
        check(json!({"type": "image"}), Some(json!("")), json!(null));
        check(json!({"type": "post_object"}), Some(json!(["3", 4])), json!([3, 4]));
        check(json!({"type": "relationship"}), Some(json!("a:1:{i:0;s:2:\"37\";}")), json!([37]));
        check(json!({"type": "taxonomy", "taxonomy": "genre", "assigned": true}), None, json!([4, 5]));
        check(json!({"type": "taxonomy", "control": "select"}), Some(json!(["9"])), json!(9));
        check(json!({"type": "date_picker"}), Some(json!("")), json!(null));
        check(json!({"type": "link"}), Some(json!("")), json!(""));
        check(json!({"type": "google_map"}), Some(json!({"lat": 1})), json!({"address": "", "lat": 1, "lng": 0}));
        check(
            json!({"type": "google_map"}),
            Some(json!({"city": "7"})),
            json!({"address": "", "lat": 0, "lng": 0, "city": 7}),
        );
        check(json!({"type": "text"}), Some(json!("a:0:{}")), json!("a:0:{}"));
        check(json!({"type": "select"}), Some(json!("a:1:{s:1:\"x\";s:1:\"a\";}")), json!("a"));
        check(json!({"type": "page_link"}), Some(json!("")), json!(""));
    }
}
