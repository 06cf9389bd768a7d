//! Rows of resources that are their properties and nothing more, and what happens to rows that refer to a deleted one.

use super::values::{check_reference, related, stored};
use super::{Columns, POINTED_TO, RowEdit, deletion};
use crate::config::declaration::Family;
use crate::error::ApiError;
use crate::records::{self, Record, columns, txt};
use crate::registry::resource::{OnDelete, Resource, Source};
use crate::registry::{Registry, name};
use crate::request::args::Checked;
use crate::storage::plan::{Change, Cond, DbValue, Input, Name, Op, Put, SlugClaim, Target};
use crate::text::slug;
use std::sync::Arc;

/// The column of plain rows that claims a slug.
const SLUG: &str = "slug";

/// The plan that makes a row.
///
/// # Errors
/// A relation to nothing, a value that the property's behaviour refuses.
pub fn creation(edit: &RowEdit<'_>) -> Result<Vec<Change>, ApiError> {
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

/// The plan that deletes a row, with what the declarations say of rows that refer to it.
pub fn removal(registry: &Registry, record: Record<'_>) -> Vec<Change> {
    let mut changes = pointing(registry, record.resource, record.value(&record.resource.key));
    changes.push(deletion(record));
    changes
}

/// What happens to rows of other resources that refer to a deleted row.
pub fn pointing(registry: &Registry, resource: &Resource, key: &DbValue) -> Vec<Change> {
    let mut changes = Vec::new();
    let DbValue::Int(id) = key else { return changes };
    for other in &registry.resources {
        changes.extend(standing(other, resource, *id));
        for relation in other.relations.iter().filter(|r| r.to == resource.index) {
            let points = if relation.many {
                Cond::Linked { rel: relation.rel.clone(), dst: vec![*id] }
            } else {
                let Some(column) = other.plan_column(&relation.property) else { continue };
                Cond::Compare(column, Op::Eq, DbValue::Int(*id))
            };
            let filter = Cond::All(vec![records::own_rows(other), points]);
            match (relation.on_delete, relation.many) {
                (OnDelete::Refuse, _) => {
                    let plan = columns(&other.table, &[&other.key], filter);
                    changes.push(Change::Require { plan, found: false, tag: POINTED_TO });
                }
                (OnDelete::Cascade, _) => changes.push(Change::RemoveWhere { table: other.table.clone(), filter }),
                (OnDelete::Clear | OnDelete::Reassign, true) => {
                    changes.push(Change::Unlink { rel: relation.rel.clone(), dst: *id, instead: None });
                }
                (OnDelete::Clear | OnDelete::Reassign, false) => changes.push(Change::UpdateWhere {
                    table: other.table.clone(),
                    filter,
                    set: vec![(name(&relation.property), DbValue::Int(0))],
                }),
            }
        }
    }
    // Edges last: they are counted in the deleted row, and a lookup of rows writes the counts first, which raises the
    // version that the deletion expects.
    changes.sort_by_key(|change| matches!(change, Change::Unlink { .. }));
    changes
}

/// Rows of `other` that represent a deleted row: they are deleted, too.
fn standing(other: &Resource, resource: &Resource, id: i64) -> Option<Change> {
    let declared = other.declared.reference.as_ref()?;
    let class = if resource.family == Family::Term { &declared.term } else { &declared.record };
    let same = vec![
        records::own_rows(other),
        Cond::Compare(other.plan_column(&declared.class)?, Op::Eq, txt(class)),
        Cond::Compare(other.plan_column(&declared.id)?, Op::Eq, DbValue::Int(id)),
    ];
    Some(Change::RemoveWhere { table: other.table.clone(), filter: Cond::All(same) })
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
            Source::Relation(index) => {
                let ids = related(edit, property, *index, value)?;
                edges.push((resource.relations[*index].rel.clone(), ids));
            }
            _ => {
                let Some((column, value)) = stored(edit.scope, property, value)? else { continue };
                check_reference(edit, property, &value)?;
                if &*column == SLUG {
                    claimed = Some(claim(resource, records::text(&value)));
                } else {
                    set.push((column, Input::Value(value)));
                }
            }
        }
    }
    Ok(Put { slug: claimed, edges, ..Put::new(resource.table.clone(), edit.target(), set) })
}

fn claim(resource: &Resource, wanted: &str) -> SlugClaim {
    SlugClaim {
        column: name(SLUG),
        scope: Some(Arc::clone(&resource.kind)),
        candidates: vec![if wanted.is_empty() { SlugClaim::ID.into() } else { slug::sanitize_title(wanted).into() }],
        refuse: None,
    }
}

/// Resources with a slug and a title get the one from the other.
fn slug_from_title(resource: &Resource, args: &Checked) -> Option<SlugClaim> {
    resource.property(SLUG)?;
    let title = args.text("title").or_else(|| args.text("name")).unwrap_or("");
    Some(claim(resource, title))
}
