//! Changes of records that wait for a review: what the record would be, and which of its members the change names.

use super::revision::{self, HeldContent, RevisionContent};
use super::{ContentDraft, given, take};
use crate::error::{ApiError, Code, refuse_if};
use crate::families::RowEdit;
use crate::records::Record;
use crate::registry::resource::{Property, PropertySource};
use cms_storage::plan::DbValue;
use serde_json::Value;

/// A change that waits for a review.
pub struct ProposedChange {
    /// The record as it would be. A member that the change does not name is as it was when the change was proposed.
    pub content: RevisionContent,
    /// The members that the change names; `meta.KEY` names one meta value.
    pub members: Vec<String>,
}

/// The change that an edit proposes, in addition to what was proposed before.
///
/// # Errors
/// It names a member that no revision could hold, or changes nothing; the rules for the values.
pub fn proposal(
    edit: &RowEdit<'_>,
    record: Record<'_>,
    before: Option<ProposedChange>,
) -> Result<ProposedChange, ApiError> {
    let (mut named, mut members, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for property in edit.resource.properties.iter().filter(|property| !property.readonly) {
        let Some(value) = edit.args.explicit(&property.name) else { continue };
        match &property.source {
            PropertySource::Meta => {
                for key in value.as_object().into_iter().flatten().map(|(key, _)| key) {
                    let member = format!("{}.{key}", property.name);
                    let known = edit.resource.declared.meta.contains_key(key);
                    if known { &mut members } else { &mut others }.push(member);
                }
                named.push(property);
            }
            _ if property.is_versioned() || revision::TEXTS.contains(&&*property.name) => {
                members.push(property.name.clone());
                named.push(property);
            }
            _ if is_as_given(record, property, value) => {}
            _ => others.push(property.name.clone()),
        }
    }
    others.extend(edit.custom_fields.iter().map(|_| "custom_fields".to_owned()).take(1));
    if !others.is_empty() {
        let message = format!(
            "A change that waits for a review cannot contain {}: a person changes that. Leave it out.",
            others.join(", ")
        );
        return Err(ApiError::new(Code::AppPasswordLimited).with_message(message));
    }
    let present = RevisionContent::held_by(HeldContent::Whole, edit.scope, record)?;
    let (base, mut all) = match before {
        Some(before) => (before.content.completed(&present), before.members),
        None => (present.clone(), Vec::new()),
    };
    let content = changed(edit, record, &base, &named)?;
    members.retain(|member| !all.contains(member));
    all.append(&mut members);
    refuse_if(all.is_empty() || content.reads_as(&present), Code::ProposalNoChanges)?;
    Ok(ProposedChange { content, members: all })
}

/// Whether a record has a value already: its state, its address, its author.
fn is_as_given(record: Record<'_>, property: &Property, value: &Value) -> bool {
    let Some(column) = &property.column else { return false };
    match (record.value(column), value) {
        (DbValue::Int(present), value) => value.as_i64() == Some(*present),
        (DbValue::Text(present), Value::String(given)) => **present == **given,
        (DbValue::Null, value) => matches!(value, Value::Null) || *value == "",
        _ => false,
    }
}

/// A content with the values that an edit gives these properties.
pub(super) fn changed(
    edit: &RowEdit<'_>,
    record: Record<'_>,
    base: &RevisionContent,
    properties: &[&Property],
) -> Result<RevisionContent, ApiError> {
    let row = base.row(record);
    let edit = &RowEdit { row: Some(&row), ..*edit };
    let mut draft = ContentDraft { before: edit.row, ..ContentDraft::empty(edit.resource) };
    for property in properties {
        take(edit, &mut draft, property)?;
    }
    given::template(edit, &mut draft);
    given::media(edit, &mut draft)?;
    Ok(base.clone().after(&draft, &draft.edges, &draft.meta))
}
