//! Custom fields: the meta values of a row, each with its number, whatever their keys.
//!
//! Desktop editors change them one by one (XML-RPC). Values under declared keys are written by the property that shows
//! them, which checks them; the others are stored and shown nowhere else. A key that begins with an underscore belongs to
//! a program.

use super::{RowEdit, forbidden_fields};
use crate::access::policy;
use crate::error::ApiError;
use crate::records::meta_space;
use crate::registry::name;
use crate::registry::resource::Resource;
use crate::request::call::CustomField;
use cms_storage::plan::{Change, MetaChange, MetaRow};
use serde_json::{Value, json};

/// The argument of XML-RPC that the refusals name.
const NAME: &str = "custom_fields";

/// Whether a key is for people: those of terms all are.
pub fn is_open(resource: &Resource, key: &str) -> bool {
    let shown = key.trim_start_matches(|c: char| c.is_control() || (!c.is_ascii() && !c.is_alphabetic()));
    !resource.is_content() || !shown.starts_with('_')
}

/// Adds the edit's changes of single values to those of its row. A change that names what is not there, or is under a
/// key of a program, does nothing.
///
/// # Errors
/// A key or a value is too long; the row would have too many.
pub fn add(edit: &RowEdit<'_>, changes: &mut [Change]) -> Result<(), ApiError> {
    if edit.custom_fields.is_empty() {
        return Ok(());
    }
    let stored = match edit.record() {
        Some(record) => edit.scope.snapshot()?.meta(&meta_space(edit.resource), &[record.id()])?,
        None => Vec::new(),
    };
    let more = edits(edit, &stored)?;
    let row = changes.iter_mut().find_map(|change| match change {
        Change::Put(put) if put.table == edit.resource.table => Some(put),
        _ => None,
    });
    if let Some(row) = row {
        row.meta.extend(more);
    }
    Ok(())
}

fn edits(edit: &RowEdit<'_>, stored: &[MetaRow]) -> Result<Vec<MetaChange>, ApiError> {
    let resource = edit.resource;
    let bounds = &edit.scope.registry.declaration.bounds;
    let (mut all, mut count) = (Vec::new(), stored.len());
    for field in edit.custom_fields {
        match (field.number, &field.key) {
            (Some(number), key) => {
                let Some(found) = stored.iter().find(|row| row.number == number) else { continue };
                if !is_open(resource, &found.key) || key.as_ref().is_some_and(|key| **key != *found.key) {
                    continue;
                }
                let rights = resource.rights_of_meta(&found.key);
                if let Some(rights) = rights.filter(|rights| !policy::writes_field(edit.scope, rights)) {
                    // That there is none is no news to those who may not read it either.
                    match policy::reads_field(edit.scope, rights) {
                        true => return Err(forbidden_fields(edit.scope, &[format!("{NAME}.{}", found.key)])),
                        false => continue,
                    }
                }
                match key {
                    Some(key) if resource.declares_meta(key) => {}
                    Some(_) => all.push(MetaChange::Set(number, text(edit, field)?)),
                    None => all.push(MetaChange::Remove(number)),
                }
            }
            (None, Some(key)) => {
                let own = !key.is_empty() && is_open(resource, key);
                if !own || resource.declares_meta(key) {
                    continue;
                }
                if key.chars().count() > bounds.max_field_key {
                    return Err(refused(format!("a key has at most {} characters", bounds.max_field_key)));
                }
                count += 1;
                if count > bounds.max_fields {
                    return Err(refused(format!("a row has at most {} values", bounds.max_fields)));
                }
                all.push(MetaChange::Add(name(key), text(edit, field)?));
            }
            (None, None) => {}
        }
    }
    Ok(all)
}

/// The value as JSON text. Everything that is no list and no structure is stored as text.
fn text(edit: &RowEdit<'_>, field: &CustomField) -> Result<std::sync::Arc<str>, ApiError> {
    let most = edit.scope.registry.declaration.bounds.max_field_value.as_usize();
    let text = match &field.value {
        Value::Null | Value::Bool(false) => json!(""),
        Value::Bool(true) => json!("1"),
        Value::Number(number) => json!(number.to_string()),
        other => other.clone(),
    };
    let text = text.to_string();
    if text.len() > most {
        return Err(refused(format!("a value has at most {most} bytes")));
    }
    Ok(text.into())
}

fn refused(what: String) -> ApiError {
    ApiError::invalid_one(NAME, format!("{NAME}: {what}."))
}
