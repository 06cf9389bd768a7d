//! The schema of a field's values: as OPTIONS shows it, and as written values are checked.

use super::FieldNode;
use cms_declaration::FieldKind;
use serde_json::{Map, Number, Value, json};

/// The schema that OPTIONS shows. Front ends know the names of types that no JSON Schema has, such as `int`.
pub(super) fn shown(field: &FieldNode) -> Value {
    let mut schema = shape(field);
    let declared = &field.declared;
    schema.insert("required".into(), json!(declared.required));
    let default = declared.default.clone().filter(|default| *default != "");
    let default = match declared.kind {
        FieldKind::Text
        | FieldKind::Textarea
        | FieldKind::Wysiwyg
        | FieldKind::Email
        | FieldKind::Url
        | FieldKind::ColorPicker
        | FieldKind::Radio
        | FieldKind::ButtonGroup => default,
        FieldKind::Number | FieldKind::Range => default.map(super::numeric),
        FieldKind::TrueFalse => Some(json!(default.is_some_and(|default| !cms_text::php::is_empty(&default)))),
        FieldKind::Select if !declared.multiple => Some(default.unwrap_or(json!(false))),
        FieldKind::Select | FieldKind::Checkbox => Some(default.map_or(json!([]), listed)),
        _ => None,
    };
    if let Some(default) = default {
        schema.insert("default".into(), default);
    }
    Value::Object(schema)
}

/// The schema by which a written value is checked. `required`: whether a required one has to be there.
pub(super) fn checked(field: &FieldNode, required: bool) -> Value {
    let mut schema = shape(field);
    schema.retain(|word, _| !matches!(word.as_str(), "description" | "mimeTypes") && !word.starts_with("minW"));
    schema.retain(|word, _| !["maxWidth", "minHeight", "maxHeight", "minSize", "maxSize"].contains(&word.as_str()));
    if field.declared.kind == FieldKind::Select {
        // A number is a list of one, as what is no text is.
        schema.insert("type".into(), json!(["string", "array", "null"]));
    }
    if field.declared.kind == FieldKind::Group {
        let inside = field.fields.iter().map(|inner| (inner.name.clone(), checked(inner, required)));
        schema.insert("properties".into(), Value::Object(inside.collect()));
    }
    if field.holds_rows() {
        schema.insert("items".into(), row(field, &|inner| checked(inner, required)));
    }
    if required && field.declared.required {
        schema.insert("required".into(), json!(true));
    }
    Value::Object(plain_types(schema))
}

fn listed(value: Value) -> Value {
    if value.is_array() { value } else { json!([value]) }
}

/// The names of types as JSON Schema has them.
fn plain_types(schema: Map<String, Value>) -> Map<String, Value> {
    let name = |value: Value| match value.as_str() {
        Some("int") => json!("integer"),
        Some("float") => json!("number"),
        _ => value,
    };
    let word = |(word, value): (String, Value)| {
        let value = match (word.as_str(), value) {
            ("type", Value::Array(list)) => Value::Array(list.into_iter().map(name).collect()),
            ("items", Value::Object(items)) => Value::Object(plain_types(items)),
            ("properties", Value::Object(properties)) => properties
                .into_iter()
                .map(|(name, of)| {
                    (name, of.as_object().cloned().map_or(json!({}), |of| Value::Object(plain_types(of))))
                })
                .collect(),
            (_, value) => value,
        };
        (word, value)
    };
    schema.into_iter().map(word).collect()
}

/// The types and bounds of a field's values, without defaults and whether they have to be there.
fn shape(field: &FieldNode) -> Map<String, Value> {
    let declared = &field.declared;
    let mut schema = match declared.kind {
        FieldKind::Text | FieldKind::Textarea | FieldKind::Wysiwyg | FieldKind::Password | FieldKind::ColorPicker => {
            text(None)
        }
        FieldKind::Email => text(Some("email")),
        FieldKind::Url | FieldKind::Oembed => text(Some("uri")),
        FieldKind::DatePicker => moment("A day as `Ymd`: 20260131."),
        FieldKind::DateTimePicker => moment("A day and a time: 2026-01-31 09:30:00."),
        FieldKind::TimePicker => moment("A time: 09:30:00."),
        FieldKind::Number | FieldKind::Range => number(field),
        FieldKind::TrueFalse => object(json!({"type": ["boolean", "null"]})),
        FieldKind::Select | FieldKind::Checkbox => choices(field),
        FieldKind::Radio | FieldKind::ButtonGroup => choice(field),
        FieldKind::Link => object(json!({"type": ["object", "null"], "properties": {
            "title": {"type": "string"}, "url": {"type": "string", "required": true, "format": "uri"}, "target": {"type": "string"},
        }})),
        FieldKind::IconPicker => icon(field),
        FieldKind::Image | FieldKind::File => file(field),
        FieldKind::PostObject
        | FieldKind::Relationship
        | FieldKind::Taxonomy
        | FieldKind::User
        | FieldKind::PageLink => ids(field),
        FieldKind::GoogleMap => place(),
        FieldKind::Gallery => bounded(field, object(json!({"type": ["array", "null"], "items": {"type": "integer"}}))),
        FieldKind::Group | FieldKind::Layout => {
            let inside: Map<String, Value> =
                field.fields.iter().map(|inner| (inner.name.clone(), shown(inner))).collect();
            object(json!({"type": ["object", "null"], "properties": inside}))
        }
        FieldKind::Repeater | FieldKind::FlexibleContent => {
            bounded(field, object(json!({"type": ["array", "null"], "items": row(field, &shown)})))
        }
    };
    if let Some(most) = declared.max_length {
        schema.insert("maxLength".into(), json!(most));
    }
    schema
}

/// The schema of a row: an object, or one of those of the layouts.
fn row(field: &FieldNode, of: &dyn Fn(&FieldNode) -> Value) -> Value {
    let inside = |fields: &[FieldNode]| fields.iter().map(|inner| (inner.name.clone(), of(inner))).collect();
    if field.declared.kind == FieldKind::Repeater {
        let properties: Map<String, Value> = inside(&field.fields);
        return json!({"type": "object", "properties": properties});
    }
    let layouts = field.fields.iter().map(|layout| {
        let mut properties: Map<String, Value> = inside(&layout.fields);
        let named = json!({"type": "string", "required": true, "enum": [layout.name]});
        properties.insert(super::LAYOUT.into(), named);
        json!({"type": "object", "title": layout.declared.label, "properties": properties})
    });
    json!({"type": "object", "oneOf": layouts.collect::<Vec<_>>()})
}

/// The fewest and the most items that are declared; without a bound as many as a repeater has.
fn bounded(field: &FieldNode, mut schema: Map<String, Value>) -> Map<String, Value> {
    let declared = &field.declared;
    let limit = |number: Option<f64>| number.filter(|number| *number >= 1.0).map(|number| number as u64);
    schema.extend(limit(declared.min).map(|fewest| ("minItems".to_owned(), json!(fewest))));
    let most = limit(declared.max).unwrap_or(super::MOST_ROWS as u64).min(super::MOST_ROWS as u64);
    schema.insert("maxItems".into(), json!(most));
    schema
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn text(format: Option<&str>) -> Map<String, Value> {
    let mut schema = object(json!({"type": ["string", "null"]}));
    if let Some(format) = format {
        schema.insert("format".into(), json!(format));
    }
    schema
}

fn moment(description: &str) -> Map<String, Value> {
    object(json!({"type": ["string", "null"], "description": description}))
}

/// A whole number where it is one.
fn bound(number: f64) -> Option<Value> {
    // Recorded: a bound of 0 is none.
    let whole = number.fract() == 0.0 && number.abs() < 1e15;
    (number != 0.0)
        .then(|| if whole { json!(number as i64) } else { Number::from_f64(number).map_or(Value::Null, Value::Number) })
}

fn number(field: &FieldNode) -> Map<String, Value> {
    let mut schema = object(json!({"type": ["number", "null"]}));
    for (word, limit) in [("minimum", field.declared.min), ("maximum", field.declared.max)] {
        schema.extend(limit.and_then(bound).map(|limit| (word.to_owned(), limit)));
    }
    schema
}

/// The values that may be chosen, as texts, and those that are numbers as numbers, too.
fn values(field: &FieldNode) -> Vec<Value> {
    let texts = field.declared.choices.keys().map(|value| json!(value));
    let numbers = field.declared.choices.keys().filter_map(|value| value.parse::<i64>().ok()).map(Value::from);
    texts.chain(numbers).collect()
}

fn choices(field: &FieldNode) -> Map<String, Value> {
    let declared = &field.declared;
    let select = declared.kind == FieldKind::Select;
    let (types, of) = match select {
        true => (json!(["string", "array", "int", "null"]), json!(["string", "int"])),
        false => (json!(["integer", "string", "array", "null"]), json!(["string", "integer"])),
    };
    let mut schema = object(json!({"type": types, "items": {"type": of}}));
    if !declared.custom && !declared.choices.is_empty() {
        schema["items"]["enum"] = Value::Array(values(field));
    }
    if select {
        count(field, &mut schema);
    }
    schema
}

/// How many items a list has: one unless there may be several, at least one unless there may be none.
fn count(field: &FieldNode, schema: &mut Map<String, Value>) {
    let declared = &field.declared;
    let limit = |number: Option<f64>| number.filter(|number| *number >= 1.0).map(|number| number as u64);
    let fewest = limit(declared.min).or((!declared.nullable).then_some(1));
    let most = if field.is_list() { limit(declared.max) } else { Some(1) };
    schema.extend(fewest.map(|fewest| ("minItems".to_owned(), json!(fewest))));
    schema.extend(most.map(|most| ("maxItems".to_owned(), json!(most))));
}

fn choice(field: &FieldNode) -> Map<String, Value> {
    let declared = &field.declared;
    let mut schema = text(None);
    if declared.custom || declared.choices.is_empty() {
        return schema;
    }
    let mut values = values(field);
    let buttons = declared.kind == FieldKind::ButtonGroup;
    if buttons || declared.nullable {
        values.push(Value::Null);
    }
    if buttons && declared.nullable {
        values.push(json!(""));
    }
    schema.insert("enum".into(), Value::Array(values));
    schema
}

fn icon(field: &FieldNode) -> Map<String, Value> {
    object(json!({"type": ["object", "null"], "properties": {
        "type": {"description": "Where the icon comes from.", "type": ["string"], "required": true, "enum": field.declared.sources.iter()
            .filter(|source| *source != "media_library").collect::<Vec<_>>()},
        "value": {"description": "Name, id or address of the icon.", "type": ["string", "int"], "required": true},
    }}))
}

fn file(field: &FieldNode) -> Map<String, Value> {
    let mut schema = object(json!({"type": ["integer", "null"]}));
    if !field.declared.mime_types.is_empty() {
        schema.insert("mimeTypes".into(), json!(field.declared.mime_types.join(",")));
    }
    schema
}

fn ids(field: &FieldNode) -> Map<String, Value> {
    let mut schema = match field.declared.kind {
        FieldKind::PageLink => {
            object(json!({"type": ["integer", "array", "null", "string"], "items": {"type": ["integer", "string"]}}))
        }
        _ => object(json!({"type": ["integer", "array", "null"], "items": {"type": "integer"}})),
    };
    count(field, &mut schema);
    schema
}

fn place() -> Map<String, Value> {
    let (text, number, count) =
        (json!({"type": "string"}), json!({"type": ["string", "float"]}), json!({"type": ["string", "int"]}));
    object(json!({"type": ["object", "null"], "properties": {
        "address": text, "lat": number, "lng": number, "zoom": count, "place_id": text, "name": text, "street_number": count,
        "street_name": text, "street_name_short": text, "city": text, "state": text, "state_short": text,
        "post_code": count, "country": text, "country_short": text,
    }}))
}
