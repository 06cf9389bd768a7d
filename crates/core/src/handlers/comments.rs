//! Checks of requests about comments, in addition to their arguments' rules.

use super::Work;
use crate::access::failure;
use crate::error::{ApiError, Code};
use crate::families::comment;
use crate::records::Record;
use crate::registry::resource::Resource;
use serde_json::Value;

/// A new comment has no number yet, and a type that people write.
///
/// # Errors
/// The request gives another.
pub fn check_new(work: &Work<'_>, resource: &Resource) -> Result<(), ApiError> {
    let named = |member: &str| work.sources().get(member).cloned().unwrap_or_default();
    if !matches!(named("id"), Value::Null) {
        return Err(failure(resource, Code::CommentExists));
    }
    let known = |kind: &str| kind.is_empty() || *kind == *resource.kind || resource.comment_type(kind).is_some();
    if named("type").as_str().is_some_and(|kind| !known(kind)) {
        return Err(failure(resource, Code::CommentInvalidType));
    }
    Ok(())
}

/// The type of a comment does not change.
///
/// # Errors
/// The request gives another.
pub fn check_change(work: &Work<'_>, record: Record<'_>) -> Result<(), ApiError> {
    let kind = work.sources().get("type").and_then(Value::as_str);
    if kind.is_some_and(|kind| kind != record.text(comment::columns::KIND)) {
        return Err(failure(record.resource, Code::CommentTypeFixed));
    }
    Ok(())
}
