//! Checks of requests about terms, in addition to their arguments' rules.

use super::Work;
use crate::error::{ApiError, Code, refuse_if};
use crate::registry::columns::term;
use crate::registry::resource::Resource;

/// A flat taxonomy has no parents: a given one is an error, although no argument takes it.
///
/// # Errors
/// The request names a parent where there are none.
pub fn check(work: &Work<'_>, resource: &Resource) -> Result<(), ApiError> {
    let given = work.sources().get(term::PARENT).is_some_and(|parent| !parent.is_null());
    refuse_if(!resource.declared.hierarchical && given, Code::TaxonomyNotHierarchical)?;
    Ok(())
}
