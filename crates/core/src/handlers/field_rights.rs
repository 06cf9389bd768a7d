//! Whether a request may write the fields that it names: those with rights of their own (`x-write-capability`).

use super::Work;
use super::items::show;
use crate::access::policy;
use crate::error::ApiError;
use crate::families::forbidden_fields;
use crate::registry::args::{SpellingDirection, convert_spelling};
use crate::registry::guarded::GuardedField;
use crate::registry::resource::{Context, PropertySource, Resource};
use crate::request::fields::Fields;
use cms_storage::plan::Row;
use serde_json::{Value, json};

/// Refuses values of fields that the caller may not write. Documents may be sent back as they were read: a value that the
/// item shows to the caller is no change.
///
/// # Errors
/// The request gives one another value: 401 or 403, with all such fields.
pub fn check(work: &Work<'_>, resource: &Resource, row: Option<&Row>) -> Result<(), ApiError> {
    let closed = resource.guarded.iter().filter(|field| !policy::writes_field(work.scope, &field.rights));
    let given: Vec<(&GuardedField, Value)> =
        closed.filter_map(|field| Some((field, given(work, resource, field)?))).collect();
    if given.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> =
        given.iter().flat_map(|(field, _)| [Some(&*field.property), field.key.as_deref()]).flatten().collect();
    let fields = Fields::parse(Some(&json!(names)));
    let shown = row.map(|row| show(work, resource, row, Context::EDIT, &fields)).transpose()?;
    let changes = |(field, value): &(&GuardedField, Value)| {
        let composed =
            resource.property(&field.property).is_some_and(|own| matches!(own.source, PropertySource::Object(_)));
        let same = |shown: &Value| if composed { is_part(value, shown) } else { value == shown };
        let read = shown.as_ref().filter(|_| policy::reads_field(work.scope, &field.rights));
        !read.and_then(|document| shown_in(document, field)).is_some_and(same)
    };
    let refused: Vec<String> = given.iter().filter(|one| changes(one)).map(|(field, _)| field.name()).collect();
    if refused.is_empty() { Ok(()) } else { Err(forbidden_fields(work.scope, &refused)) }
}

/// The value that the request gives a field, as documents spell it.
fn given(work: &Work<'_>, resource: &Resource, field: &GuardedField) -> Option<Value> {
    let value = work.allowed.args().explicit(&field.property)?;
    let Some(key) = &field.key else {
        let spelling = resource.property(&field.property).map_or(&[][..], |property| &property.aliases);
        return Some(convert_spelling(value.clone(), spelling, SpellingDirection::ToApi));
    };
    value.get(key).cloned()
}

/// The value of a field in a document: some meta values are members of their own.
fn shown_in<'d>(document: &'d Value, field: &GuardedField) -> Option<&'d Value> {
    match &field.key {
        None => document.get(&field.property),
        Some(key) => document.get(&field.property).and_then(|values| values.get(key)).or_else(|| document.get(key)),
    }
}

/// Whether an object, or its text alone, says nothing other than the document.
fn is_part(given: &Value, shown: &Value) -> bool {
    match given {
        Value::Object(members) => members.iter().all(|(name, value)| shown.get(name) == Some(value)),
        text => shown.get("raw") == Some(text),
    }
}
