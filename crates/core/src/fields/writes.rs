//! The changes that a write of values makes: meta values, terms of the record, files that become its own.

use super::checks::{by_name, row_fields};
use crate::registry::fields::{FieldNode, FieldTarget, GroupFields, LAYOUT, numeric};
use crate::registry::name;
use crate::registry::resource::Resource;
use crate::scope::Scope;
use cms_declaration::FieldKind;
use cms_storage::plan::MetaChange;
use cms_text::php;
use serde_json::{Map, Value, json};

/// See the module's description.
#[derive(Debug, Default)]
pub struct FieldWrites {
    pub meta: Vec<MetaChange>,
    /// Terms that the record gets, by the name of their taxonomy.
    pub terms: Vec<(String, Vec<i64>)>,
    /// Files that belong to the record from now on, where they belong to none.
    pub files: Vec<i64>,
    /// Meta keys of the outermost fields whose rows are written: values of former rows are removed.
    pub rows: Vec<String>,
}

/// The changes that given values make to an item, to which these groups apply. Values of other fields are passed over; `clean`
/// makes of markup what the caller may write.
pub fn writes(
    scope: &Scope,
    resource: &Resource,
    groups: &[&GroupFields],
    given: &Value,
    clean: &dyn Fn(&str) -> String,
) -> FieldWrites {
    let mut all = FieldWrites::default();
    let Some(check) = resource.fields.as_ref().and_then(|fields| fields.check.as_ref()) else { return all };
    let value = by_name(scope, resource, given);
    // It was checked when the request came in.
    let value = check.coerce("", value.clone()).unwrap_or(value);
    for field in groups.iter().flat_map(|group| &group.fields) {
        if let Some(value) = value.get(&field.name) {
            all.field(field, value, clean);
        }
    }
    all
}

impl FieldWrites {
    fn field(&mut self, field: &FieldNode, value: &Value, clean: &dyn Fn(&str) -> String) {
        match field.declared.kind {
            FieldKind::Group => return self.group(field, value, clean),
            _ if field.holds_rows() => return self.rows(field, value, clean),
            FieldKind::Taxonomy if field.declared.assigns => {
                let taxonomy = field.declared.taxonomy.clone().unwrap_or_default();
                self.terms.push((taxonomy, ids(value)));
            }
            _ if field.target() == Some(FieldTarget::File) => self.files.extend(ids(value)),
            _ => {}
        }
        match stored_form(field, value) {
            Some(Value::String(markup)) if field.holds_markup() => self.set(field, &json!(clean(&markup))),
            Some(form) => self.set(field, &form),
            None => self.unset(field),
        }
    }

    /// An empty group empties the fields inside; otherwise those that are named change.
    fn group(&mut self, field: &FieldNode, value: &Value, clean: &dyn Fn(&str) -> String) {
        let empty = php::is_empty(value);
        for inner in &field.fields {
            match value.get(&inner.name) {
                _ if empty => self.field(inner, &Value::Null, clean),
                Some(value) => self.field(inner, value, clean),
                None => {}
            }
        }
        self.set(field, &json!(""));
    }

    /// The rows that are given take the place of those that are stored.
    fn rows(&mut self, field: &FieldNode, value: &Value, clean: &dyn Fn(&str) -> String) {
        let outer = self.rows.len();
        let given = value.as_array().map_or(&[][..], Vec::as_slice);
        let rows: Vec<&Map<String, Value>> = given.iter().filter_map(Value::as_object).collect();
        for (at, row) in rows.iter().enumerate() {
            for inner in field.in_row(row_fields(field, row), &at.to_string()) {
                self.field(&inner, row.get(&inner.name).unwrap_or(&Value::Null), clean);
            }
        }
        self.rows.truncate(outer);
        self.rows.push(field.meta.clone());
        match field.declared.kind {
            _ if value.is_null() => self.unset(field),
            _ if rows.is_empty() => self.set(field, &json!("")),
            FieldKind::Repeater => self.set(field, &json!(rows.len().to_string())),
            _ => self.set(field, &rows.iter().filter_map(|row| row.get(LAYOUT).cloned()).collect()),
        }
    }

    fn set(&mut self, field: &FieldNode, value: &Value) {
        self.meta.push(MetaChange::Key(name(&field.meta), vec![value.to_string().into()]));
        if let Some(key) = &field.declared.key {
            self.meta.push(MetaChange::Key(name(&format!("_{}", field.meta)), vec![json!(key).to_string().into()]));
        }
    }

    fn unset(&mut self, field: &FieldNode) {
        for key in [field.meta.clone(), format!("_{}", field.meta)] {
            self.meta.push(MetaChange::Key(name(&key), Vec::new()));
        }
    }
}

/// The value as it is stored; `None`: nothing is.
fn stored_form(field: &FieldNode, value: &Value) -> Option<Value> {
    let declared = &field.declared;
    if value.is_null() {
        // Recorded: a link that is taken away leaves an empty text.
        return (declared.kind == FieldKind::Link).then(|| json!(""));
    }
    Some(match declared.kind {
        FieldKind::TrueFalse => json!(if php::is_empty(value) { "0" } else { "1" }),
        FieldKind::Select if declared.multiple => json!(texts(value)),
        FieldKind::Select => texts(value).into_iter().next().map_or(json!(""), Value::from),
        FieldKind::Link if value.get("url").is_none_or(php::is_empty) => json!(""),
        FieldKind::Link | FieldKind::IconPicker | FieldKind::GoogleMap => value.clone(),
        FieldKind::Taxonomy if field.is_list() => json!(texts(value)),
        FieldKind::Taxonomy => texts(value).into_iter().next().map_or(json!(""), Value::from),
        _ if value.is_array() => json!(texts(value)),
        _ => json!(text(value)),
    })
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(list) => list.iter().map(text).collect(),
        value => vec![text(value)],
    }
}

/// A scalar as WordPress stores it.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(flag) => if *flag { "1" } else { "" }.to_owned(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => (float as i64).to_string(),
            _ => number.to_string(),
        },
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn ids(value: &Value) -> Vec<i64> {
    texts(value).into_iter().filter_map(|id| numeric(Value::String(id)).as_i64()).filter(|id| *id > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cms_declaration::Field;

    #[test]
    fn values_are_stored_as_wordpress_stores_them() {
        let check = |declared: Value, value: Value, expected: Option<Value>| {
            let declared: Field = serde_json::from_value(declared).expect("a field");
            let field = FieldNode { name: "f".into(), meta: "f".into(), declared: declared.into(), fields: Vec::new() };
            assert_eq!(stored_form(&field, &value), expected, "{field:?} {value}");
        };
        check(json!({"type": "text"}), json!("a"), Some(json!("a")));
        check(json!({"type": "text"}), json!(null), None);
        check(json!({"type": "number"}), json!(12.0), Some(json!("12")));
        check(json!({"type": "number"}), json!(12.5), Some(json!("12.5")));
        check(json!({"type": "true_false"}), json!(false), Some(json!("0")));
        check(json!({"type": "select"}), json!(["a"]), Some(json!("a")));
        check(json!({"type": "select", "multiple": true}), json!("a"), Some(json!(["a"])));
        check(json!({"type": "checkbox"}), json!(["a", 5]), Some(json!(["a", "5"])));
        check(json!({"type": "link"}), json!({"title": "x", "url": ""}), Some(json!("")));
        check(json!({"type": "link"}), json!(null), Some(json!("")));
        check(json!({"type": "post_object"}), json!([3]), Some(json!(["3"])));
        check(json!({"type": "taxonomy", "control": "select"}), json!([3]), Some(json!("3")));
        check(json!({"type": "taxonomy"}), json!(3), Some(json!(["3"])));
    }
}
