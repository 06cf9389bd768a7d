//! Hints about the fields of groups: labels, controls, what values refer to, and the type that a form writes where several are accepted.

use crate::registry::Registry;
use crate::registry::fields::{FieldNode, FieldTarget};
use crate::registry::resource::Resource;
use cms_declaration::FieldKind;
use serde_json::{Map, Value, json};

/// Adds the hints of all fields of a resource, by their paths in documents; `*` is a row.
pub(super) fn add_hints(registry: &Registry, resource: &Resource, hints: &mut Map<String, Value>) {
    let (Some(fields), Some(property)) = (&resource.fields, resource.fields_property()) else { return };
    if let Value::Object(own) = hints.entry(property.name.clone()).or_insert_with(|| json!({})) {
        own.insert("merges".into(), json!(true));
    }
    for group in &fields.groups {
        add(registry, &property.name, &registry.field_groups[*group].fields, hints);
    }
}

fn add(registry: &Registry, above: &str, fields: &[FieldNode], hints: &mut Map<String, Value>) {
    for field in fields {
        // The rows of flexible content have their fields themselves.
        let path = match field.declared.kind {
            FieldKind::Layout => above.to_owned(),
            _ => format!("{above}.{}", field.name),
        };
        if field.declared.kind != FieldKind::Layout {
            hints.entry(path.clone()).or_insert_with(|| hint(registry, field));
        }
        let inside = if field.holds_rows() { format!("{path}.*") } else { path };
        add(registry, &inside, &field.fields, hints);
    }
}

fn hint(registry: &Registry, field: &FieldNode) -> Value {
    let declared = &field.declared;
    let mut hint = Map::new();
    let mut put = |name: &str, value: Option<Value>| drop(value.map(|value| hint.insert(name.to_owned(), value)));
    put("label", declared.label.as_ref().map(|label| json!(label)));
    put("labels", (!declared.choices.is_empty()).then(|| json!(declared.choices)));
    let (control, form) = match declared.kind {
        FieldKind::DatePicker => (Some("date"), Some("compact")),
        FieldKind::DateTimePicker => (Some("date-time"), Some("spaced")),
        FieldKind::TimePicker => (Some("time"), Some("seconds")),
        kind => (usual_control(kind), None),
    };
    put("control", control.map(Value::from));
    put("options", form.map(|form| json!({"form": form})));
    // The control shows how the value is written.
    put("help", form.map(|_| json!("")));
    let written = match field.target().filter(|_| declared.kind != FieldKind::PageLink) {
        Some(_) => Some("integer"),
        None if matches!(declared.kind, FieldKind::Select | FieldKind::Checkbox) => Some("string"),
        None => None,
    };
    put("type", written.map(|one| json!(if field.is_list() { "array" } else { one })));
    let to = targets(registry, field);
    put("relation", (!to.is_empty()).then(|| json!({"resources": to, "many": field.is_list()})));
    Value::Object(hint)
}

/// The control of the values of a kind, where their schema does not say it.
fn usual_control(kind: FieldKind) -> Option<&'static str> {
    match kind {
        FieldKind::Textarea => Some("multi-line"),
        FieldKind::Wysiwyg => Some("markup"),
        FieldKind::ColorPicker => Some("colour"),
        FieldKind::Radio | FieldKind::ButtonGroup => Some("radio"),
        FieldKind::Image | FieldKind::File | FieldKind::Gallery => Some("file"),
        _ => None,
    }
}

/// The resources of the rows that values refer to. Of a page link an address is a value, too.
fn targets<'r>(registry: &'r Registry, field: &FieldNode) -> Vec<&'r str> {
    let declared = &field.declared;
    let is_taken = |resource: &&Resource| match declared.kinds.as_slice() {
        [] => resource.viewable(),
        kinds => kinds.iter().any(|kind| resource.is_named(kind)),
    };
    let found: Vec<&Resource> = match field.target() {
        None => Vec::new(),
        Some(FieldTarget::Record) if declared.kind == FieldKind::PageLink => Vec::new(),
        Some(FieldTarget::Record) => registry.content_types().filter(is_taken).collect(),
        Some(FieldTarget::File) => {
            registry.content_types().find(|resource| resource.supports("files")).into_iter().collect()
        }
        Some(FieldTarget::User) => registry.users().into_iter().collect(),
        Some(FieldTarget::Term) => {
            let taxonomy = declared.taxonomy.as_deref();
            registry.taxonomies().filter(|resource| taxonomy.is_some_and(|name| resource.is_named(name))).collect()
        }
    };
    found.into_iter().map(|resource| resource.name.as_str()).collect()
}
