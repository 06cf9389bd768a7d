//! `field_values`: the values of the field groups that apply to an item, as they are stored or as pages show them.

mod documents;

use self::documents::{file, record, term, user};
use super::files;
use super::read::options;
use crate::fields::{StoredValues, light, place, rows, stored, stored_ids, whole};
use crate::records::Record;
use crate::registry::fields::FieldNode;
use crate::registry::resource::Property;
use crate::render::Item;
use cms_declaration::{Field, FieldKind, Lines};
use cms_storage::plan::DbValue;
use cms_text::html::Html;
use cms_text::{autop, dates, php, render, time};
use serde_json::{Map, Value, json};

/// The values by name; an empty list where no group applies.
pub fn values(item: &Item<'_>, property: &Property, _: &DbValue) -> Option<Value> {
    let declared = &item.scope.registry.declaration;
    let groups = item.field_groups();
    let fields = groups.iter().flat_map(|group| &group.fields);
    let map = item.with_field_values(property, |values| {
        let value = |field: &FieldNode| match item.formatted {
            true => formatted(item, field, values),
            false => light(field, values),
        };
        fields.map(|field| (field.name.clone(), value(field))).collect::<Map<_, _>>()
    });
    Some(if map.is_empty() && declared.dialect.empty_list_as_object { json!([]) } else { Value::Object(map) })
}

/// The value of a field as pages show it.
fn formatted(item: &Item<'_>, field: &FieldNode, values: StoredValues<'_>) -> Value {
    let declared = &field.declared;
    let form = declared.form.as_deref().unwrap_or_default();
    // A field that holds others is shown by these.
    let shown = if declared.kind.holds_fields() { Value::Null } else { light(field, values) };
    match declared.kind {
        FieldKind::Text | FieldKind::Email | FieldKind::Url | FieldKind::Password | FieldKind::TrueFalse => shown,
        FieldKind::Textarea => map_text(shown, |text| in_lines(declared.lines, text)),
        FieldKind::Wysiwyg => map_text(shown, |text| render::render_content(text, &options(item))),
        FieldKind::Oembed => map_text(shown, embedding),
        FieldKind::Number | FieldKind::Range => {
            stored(field, values).or_else(|| declared.default.clone()).unwrap_or_else(|| json!(""))
        }
        FieldKind::ColorPicker if form == "array" => colour(shown.as_str().unwrap_or_default()),
        FieldKind::ColorPicker => shown,
        FieldKind::DatePicker | FieldKind::DateTimePicker | FieldKind::TimePicker => {
            let language = item.scope.settings.locale();
            match stored(field, values) {
                None => Value::Null,
                Some(value) => map_text(value, |text| moment(text, usual_form(field), language)),
            }
        }
        FieldKind::Select | FieldKind::Checkbox | FieldKind::Radio | FieldKind::ButtonGroup => match shown {
            Value::String(text) if declared.kind == FieldKind::Checkbox => {
                let one = Some(json!(text)).filter(|_| !text.is_empty());
                one.iter().map(|value| choice(field, value)).collect()
            }
            Value::Array(list) => list.iter().map(|value| choice(field, value)).collect(),
            Value::String(text) if !text.is_empty() => choice(field, &json!(text)),
            empty => empty,
        },
        FieldKind::Link | FieldKind::IconPicker => member(field, shown),
        FieldKind::GoogleMap => match place(stored(field, values)) {
            Value::Null => json!(false),
            place => place,
        },
        FieldKind::Image
        | FieldKind::File
        | FieldKind::PostObject
        | FieldKind::Relationship
        | FieldKind::PageLink
        | FieldKind::Taxonomy
        | FieldKind::Gallery
        | FieldKind::User => referred(item, field, values, &shown),
        FieldKind::Group | FieldKind::Layout => {
            let inside = field.fields.iter().map(|inner| (inner.name.clone(), formatted(item, inner, values)));
            Value::Object(inside.collect())
        }
        FieldKind::Repeater | FieldKind::FlexibleContent => {
            rows(field, values, |inner| formatted(item, inner, values)).unwrap_or(json!(false))
        }
    }
}

/// A text that is not empty, changed; any other value as it is.
fn map_text(value: Value, change: impl FnOnce(&str) -> String) -> Value {
    match value {
        Value::String(text) if !matches!(&*text, "" | "0") => json!(change(&text)),
        value => value,
    }
}

fn in_lines(lines: Lines, text: &str) -> String {
    match lines {
        Lines::Plain => text.to_owned(),
        Lines::Breaks => text.replace("\r\n", "\n").replace('\n', "<br />\n"),
        Lines::Paragraphs => autop::autop(text),
    }
}

/// A link in place of what only the other site could embed.
fn embedding(address: &str) -> String {
    let mut html = Html::new();
    html.raw("<a").attr("href", address).raw(">").text(address).raw("</a>");
    html.into()
}

/// The form of a moment that a field does not name.
fn usual_form(field: &FieldNode) -> &str {
    let usual = match field.declared.kind {
        FieldKind::DatePicker => "d/m/Y",
        FieldKind::TimePicker => "g:i a",
        _ => "d/m/Y g:i a",
    };
    field.declared.form.as_deref().filter(|form| !form.is_empty()).unwrap_or(usual)
}

/// A stored day, time or both in a form; what is none of these stays as it is.
fn moment(stored: &str, form: &str, language: &str) -> String {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let whole = match stored.len() {
        8 if digits(stored) => format!("{}-{}-{}T00:00:00", &stored[..4], &stored[4..6], &stored[6..]),
        8 => format!("1970-01-01T{stored}"),
        10 => format!("{stored}T00:00:00"),
        _ => stored.replacen(' ', "T", 1),
    };
    match time::parse_datetime(&whole) {
        Some(moment) => dates::format_php_date(moment.as_utc(), form, language),
        None => stored.to_owned(),
    }
}

/// A choice by its value, its label or both.
fn choice(field: &FieldNode, value: &Value) -> Value {
    let text = value.as_str().unwrap_or_default();
    let label = field.declared.choices.get(text).map_or(text, String::as_str);
    match field.declared.form.as_deref() {
        Some("label") => json!(label),
        Some("array") => json!({"value": value, "label": label}),
        _ => value.clone(),
    }
}

/// The one member of an object that a field shows, or all of it.
fn member(field: &FieldNode, value: Value) -> Value {
    let wanted = match (field.declared.kind, field.declared.form.as_deref()) {
        (FieldKind::Link, Some("url")) => "url",
        (FieldKind::IconPicker, Some("string") | None) => "value",
        (FieldKind::Link, _) => return link(value),
        _ => return value,
    };
    if value.is_object() { value[wanted].clone() } else { value }
}

/// A link with the members that every one has.
fn link(value: Value) -> Value {
    match value {
        Value::Object(members) => whole(["title", "url", "target"].map(|name| (name, json!(""))), members),
        none => none,
    }
}

/// Channels of a colour; those of nothing where it is none.
fn colour(text: &str) -> Value {
    let text = text.trim();
    let hex = |part: &str| u8::from_str_radix(part, 16).ok();
    let channels = |rgb: [u8; 3], alpha: Value| json!({"red": rgb[0], "green": rgb[1], "blue": rgb[2], "alpha": alpha});
    let none = || json!({"red": 0, "green": 0, "blue": 0, "alpha": 0});
    if let Some(digits) = text.strip_prefix('#').filter(|digits| digits.is_ascii()) {
        let wide: String =
            if digits.len() == 3 { digits.chars().flat_map(|c| [c, c]).collect() } else { digits.to_owned() };
        let parts = (wide.len() == 6).then(|| [hex(&wide[..2]), hex(&wide[2..4]), hex(&wide[4..])]);
        return match parts {
            Some([Some(red), Some(green), Some(blue)]) => channels([red, green, blue], json!(1)),
            _ => none(),
        };
    }
    let inside = text.to_ascii_lowercase();
    let inside =
        inside.strip_prefix("rgba(").or_else(|| inside.strip_prefix("rgb(")).and_then(|rest| rest.split_once(')'));
    let numbers: Vec<f64> =
        inside.map_or_else(Vec::new, |(list, _)| list.split(',').filter_map(|part| part.trim().parse().ok()).collect());
    let byte = |number: f64| number.clamp(0.0, 255.0) as u8;
    match numbers.as_slice() {
        [red, green, blue] => channels([byte(*red), byte(*green), byte(*blue)], json!(1)),
        [red, green, blue, alpha] => channels([byte(*red), byte(*green), byte(*blue)], json!(alpha)),
        _ => none(),
    }
}

/// The rows that a value refers to, in the form that the field names: ids, addresses or documents. What is not there, or not for the
/// reader, is left out.
fn referred(item: &Item<'_>, field: &FieldNode, values: StoredValues<'_>, shown: &Value) -> Value {
    let declared = &field.declared;
    let many = match declared.kind {
        FieldKind::Image | FieldKind::File => false,
        FieldKind::Relationship => true,
        _ => field.is_list(),
    };
    let list = match declared.kind {
        FieldKind::PageLink => addresses(item, shown),
        _ => stored_ids(field, values).into_iter().filter_map(|id| document(item, declared, id)).collect(),
    };
    let given = !matches!(shown, Value::Null | Value::Bool(false)) && *shown != json!([]);
    let none = || match declared.kind {
        FieldKind::PageLink if many && (given || shown.is_array()) => json!([]),
        FieldKind::Relationship | FieldKind::PageLink => Value::Null,
        // The rows that it refers to are gone.
        FieldKind::Taxonomy | FieldKind::PostObject if many && given => json!([]),
        FieldKind::Taxonomy if given => Value::Null,
        _ => json!(false),
    };
    match list.first() {
        None => none(),
        Some(first) if !many => first.clone(),
        // One id that is stored alone stays alone.
        Some(first)
            if declared.kind == FieldKind::PostObject
                && declared.form.as_deref() == Some("id")
                && !shown.is_array() =>
        {
            first.clone()
        }
        Some(_) => Value::Array(list),
    }
}

/// One row that a value refers to.
fn document(item: &Item<'_>, declared: &Field, id: i64) -> Option<Value> {
    let form = declared.form.as_deref();
    let rows = &item.batch.field_rows;
    let resources = &item.scope.registry.resources;
    let found = |at: &(usize, Vec<DbValue>)| at.0;
    match declared.kind {
        FieldKind::Image | FieldKind::File | FieldKind::Gallery => match form {
            Some("id") => Some(json!(id)),
            form => {
                let (at, row) = rows.records.get(&id)?;
                let record = Record { resource: &resources[*at], row };
                Some(if form == Some("url") { json!(files::source_of(item.scope, record)) } else { file(item, record) })
            }
        },
        FieldKind::PostObject | FieldKind::Relationship => match form {
            Some("id") => Some(json!(id)),
            _ => rows.records.get(&id).map(|at| record(Record { resource: &resources[found(at)], row: &at.1 })),
        },
        FieldKind::Taxonomy => match form {
            Some("object") => {
                let at = rows.terms.get(&id)?;
                let own = &resources[found(at)];
                let fits = declared.taxonomy.as_deref().is_none_or(|taxonomy| own.is_named(taxonomy));
                fits.then(|| term(Record { resource: own, row: &at.1 }))
            }
            _ => Some(json!(id)),
        },
        FieldKind::User => match form {
            Some("id") => Some(json!(id)),
            form => {
                let (at, row) = rows.users.get(&id)?;
                Some(user(item.scope, Record { resource: &resources[*at], row }, form == Some("object")))
            }
        },
        _ => None,
    }
}

/// Addresses of records, and texts as they are.
fn addresses(item: &Item<'_>, shown: &Value) -> Vec<Value> {
    let all = match shown {
        Value::Array(list) => list.as_slice(),
        Value::Null => &[],
        value => std::slice::from_ref(value),
    };
    let address = |value: &Value| match value.as_i64() {
        Some(id) => item.batch.places.get(&id).filter(|place| place.seen).map(|place| json!(place.address)),
        None => Some(value.clone()).filter(|value| !php::is_empty(value)),
    };
    all.iter().filter_map(address).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_the_form_of_the_field() {
        let check =
            |stored: &str, form: &str, expected: &str| assert_eq!(moment(stored, form, "en_US"), expected, "{stored}");
        check("20270304", "d/m/Y", "04/03/2027");
        check("2027-03-04 05:06:07", "Y-m-d H:i", "2027-03-04 05:06");
        check("13:14:15", "H:i", "13:14");
        check("2027-03-04", "j F Y", "4 March 2027");
        check("nodate", "Y", "nodate");
        check("äöüß", "Y", "äöüß");
    }

    #[test]
    fn colours_have_channels() {
        let check = |text: &str, expected: [f64; 4]| {
            let shown = colour(text);
            let found = ["red", "green", "blue", "alpha"].map(|channel| shown[channel].as_f64().unwrap_or(-1.0));
            assert_eq!(found, expected, "{text}");
        };
        check("#102030", [16.0, 32.0, 48.0, 1.0]);
        check("#fff", [255.0, 255.0, 255.0, 1.0]);
        check("rgba(255,0,10,0.3)", [255.0, 0.0, 10.0, 0.3]);
        check("rgb(1, 2, 3)", [1.0, 2.0, 3.0, 1.0]);
        check("#äöü", [0.0; 4]);
        check("red", [0.0; 4]);
        check("", [0.0; 4]);
    }
}
