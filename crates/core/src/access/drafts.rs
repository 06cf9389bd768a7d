//! Credentials that only draft (`actions = ["read", "draft"]`): they write drafts of their own, and nothing that readers see.
//!
//! Such a credential reaches the endpoints whose guards say that they keep to it. These guards ask whether the row is an own
//! draft, and the rules of the family ask whether what it becomes is one. A file is as visible as the draft that it is
//! attached to. Changes of other records are proposals, where the site has reviews.

use super::policy;
use crate::error::{ApiError, Code};
use crate::records::Record;
use crate::registry::columns::record as col;
use crate::registry::resource::Resource;
use crate::scope::{CredentialLimits, Scope};

/// Why a request is refused that is not within the limits of its credential.
pub fn beyond(limits: &CredentialLimits) -> ApiError {
    match limits.draft {
        true => refusal(
            "it creates and changes drafts of its own, uploads files for them, and proposes changes of other records",
        ),
        false => ApiError::new(Code::AppPasswordLimited),
    }
}

fn refusal(why: &str) -> ApiError {
    let message =
        format!("The credential in use may only draft (`actions`): {why}. A person publishes and does the rest.");
    ApiError::new(Code::AppPasswordLimited).with_message(message)
}

/// Whether the caller's credential only drafts.
pub fn only_drafts(scope: &Scope) -> bool {
    scope.principal.limits.as_ref().is_some_and(|limits| limits.draft)
}

/// A record as it is or as it is to be.
pub struct DraftedRecord<'a> {
    pub resource: &'a Resource,
    pub author: i64,
    pub status: &'a str,
    pub parent: i64,
}

impl<'a> DraftedRecord<'a> {
    fn of(record: Record<'a>) -> DraftedRecord<'a> {
        let (author, parent) = (record.int(col::AUTHOR), record.int(col::PARENT));
        DraftedRecord { resource: record.resource, author, status: record.text(col::STATUS), parent }
    }

    /// Whether it is a draft of the caller, or attached to one.
    fn is_own(&self, scope: &Scope) -> Result<bool, ApiError> {
        if !self.resource.supports("author") || self.author != scope.principal.id {
            return Ok(false);
        }
        match scope.registry.status(self.status) {
            Some(status) if status.draft || status.review => Ok(true),
            Some(status) if status.inherits && self.parent != 0 => {
                let own = policy::with_record(scope, self.parent, |record| {
                    // A file below a file is as visible as that in its turn: one step is enough.
                    !record.resource.supports("attached") && DraftedRecord::of(record).is_own(scope).unwrap_or(false)
                });
                Ok(own?.unwrap_or(false))
            }
            _ => Ok(false),
        }
    }
}

/// Whether a change of a record by the caller waits for a review: its credential only drafts, and the record is no draft of
/// its own. Kinds with a history have such changes, outside the trash.
///
/// # Errors
/// The database cannot be read.
pub fn proposes(scope: &Scope, record: Record<'_>) -> Result<bool, ApiError> {
    let trashed = || scope.registry.status_is(record.text(col::STATUS), |status| status.trash);
    let possible = only_drafts(scope) && scope.registry.reviews_of(record.resource).is_some();
    Ok(possible && !trashed() && !DraftedRecord::of(record).is_own(scope)?)
}

/// A credential that only drafts changes drafts of its own.
///
/// # Errors
/// The record is no such draft.
pub fn check_row(scope: &Scope, record: Record<'_>) -> Result<(), ApiError> {
    match only_drafts(scope) && !DraftedRecord::of(record).is_own(scope)? {
        true => Err(refusal("this is no draft of its own")),
        false => Ok(()),
    }
}

/// A credential that only drafts decides about no change.
///
/// # Errors
/// It would.
pub fn check_decision(scope: &Scope) -> Result<(), ApiError> {
    match only_drafts(scope) {
        true => Err(refusal("it proposes changes and withdraws them, and decides about none")),
        false => Ok(()),
    }
}

/// A credential that only drafts moves to the trash.
///
/// # Errors
/// The request deletes for good.
pub fn check_removal(scope: &Scope, for_good: bool) -> Result<(), ApiError> {
    match only_drafts(scope) && for_good {
        true => Err(refusal("it moves drafts of its own to the trash, and deletes nothing for good")),
        false => Ok(()),
    }
}

/// A credential that only drafts writes drafts of its own.
///
/// # Errors
/// The record would be none.
pub fn check_result(scope: &Scope, record: &DraftedRecord<'_>) -> Result<(), ApiError> {
    if !only_drafts(scope) || record.is_own(scope)? {
        return Ok(());
    }
    Err(match record.resource.supports("attached") {
        true => refusal("a file has to be attached to a draft of its own, or everybody could see it"),
        false => refusal(
            "the record would be no draft of its own: its state has to be a draft or a review, its author the caller",
        ),
    })
}
