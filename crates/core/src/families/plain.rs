//! Rows of resources that are their properties and nothing more.

use super::failures::Failures;
use super::values::{check_inside, check_reference, related, stored};
use super::{Columns, RowEdit};
use crate::error::{ApiError, Code};
use crate::records::{self, txt};
use crate::registry::name;
use crate::registry::resource::{PropertySource, Resource};
use crate::request::args::ArgValues;
use cms_storage::plan::{Change, DbValue, Input, Name, Put, SlugClaim, Target};
use cms_text::{sanitize, slug};
use std::sync::Arc;

/// The errors that end requests for these rows.
pub const FAILURES: Failures = Failures {
    list: &[Code::Forbidden, Code::ForbiddenContext, Code::ForbiddenOrderby, Code::ForbiddenParam],
    get: &[Code::Forbidden, Code::ForbiddenContext, Code::RecordInvalidId],
    create: &[Code::CannotCreate, Code::DuplicateValue],
    update: &[Code::CannotEdit, Code::DuplicateValue, Code::PreconditionFailed, Code::RecordInvalidId],
    delete: &[Code::CannotDelete, Code::PreconditionFailed, Code::RecordInvalidId],
};

/// The column of plain rows that claims a slug.
const SLUG: &str = "slug";

/// The plan that makes a row.
///
/// # Errors
/// A relation to nothing, a value that the property's behaviour refuses.
pub fn plan_creation(edit: &RowEdit<'_>) -> Result<Vec<Change>, ApiError> {
    let resource = edit.resource;
    let mut put = put(edit)?;
    if resource.key_is_text {
        let key = edit.args.text(&resource.key).map_or_else(new_key, str::to_owned);
        put.target = Target::Keyed(txt(&key));
    }
    if let Some(owner) = &resource.declared.owner
        && !put.set.iter().any(|(column, _)| **column == **owner)
    {
        put.set.push(super::column(owner, DbValue::Int(edit.scope.principal.id)));
    }
    put.slug = put.slug.or_else(|| slug_from_title(resource, edit.args));
    Ok(vec![Change::Put(put)])
}

/// The plan that changes a row.
///
/// # Errors
/// As [`creation`].
pub fn update(edit: &RowEdit<'_>) -> Result<Vec<Change>, ApiError> {
    Ok(vec![Change::Put(put(edit)?)])
}

/// A random key for a resource whose keys are texts.
fn new_key() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The columns, relations and slug that are given.
fn put(edit: &RowEdit<'_>) -> Result<Put, ApiError> {
    let resource = edit.resource;
    let mut set: Columns = Vec::new();
    let mut edges: Vec<(Name, Vec<i64>)> = Vec::new();
    let mut claimed = None;
    for property in resource.properties.iter().filter(|p| !p.readonly && *p.name != *resource.key) {
        let Some(value) = edit.wanted(&property.name) else { continue };
        match &property.source {
            PropertySource::Relation(index) => {
                let ids = related(edit, property, *index, value)?;
                edges.push((resource.relations[*index].rel.clone(), ids));
            }
            _ => {
                check_inside(edit, property, value)?;
                let Some((column, value)) = stored(edit.scope, property, value)? else { continue };
                check_reference(edit, property, &value)?;
                if &*column == SLUG {
                    claimed = Some(claim(resource, slug::sanitize_title(records::text(&value))));
                } else {
                    set.push((column, Input::Value(value)));
                }
            }
        }
    }
    Ok(Put { slug: claimed, edges, ..Put::new(resource.table.clone(), edit.target(), set) })
}

/// The claim of a slug, or of the key where nothing is left of what was wanted.
fn claim(resource: &Resource, slug: String) -> SlugClaim {
    SlugClaim {
        column: name(SLUG),
        scope: Some(Arc::clone(&resource.kind)),
        candidates: vec![if slug.is_empty() { SlugClaim::ID.into() } else { slug.into() }],
        reserved: false,
        refuse: None,
        longest: SlugClaim::LONGEST,
    }
}

/// Resources with a slug and a title get the one from the other.
fn slug_from_title(resource: &Resource, args: &ArgValues) -> Option<SlugClaim> {
    resource.property(SLUG)?;
    let title = ["title", "name"].iter().filter_map(|name| args.text(name)).find(|text| !text.is_empty()).unwrap_or("");
    Some(claim(resource, slug::of_plain_text(&sanitize::text_field(title, false))))
}
