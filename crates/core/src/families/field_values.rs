//! Values of field groups in a write: what changes with the row once it is known what the row will be.

use super::RowEdit;
use crate::access::policy;
use crate::behaviours::allowed_html;
use crate::error::{ApiError, Code};
use crate::fields::{FieldWrites, LocationFacts, RuleTerms, applying, writes};
use crate::records::{self, Record, eq, is_in};
use crate::registry::columns::{record as col, term};
use crate::registry::fields::GroupFields;
use crate::registry::name;
use crate::registry::resource::Resource;
use cms_declaration::Action;
use cms_storage::plan::{Change, DbValue, EdgePlan, Input, MetaChange, Put, Row, Target};
use std::collections::{BTreeSet, HashSet};

/// Adds the given values to the changes of a row. Which groups apply follows from the row as it will be, and values of the
/// others are passed over.
pub fn add(edit: &RowEdit<'_>, changes: &mut Vec<Change>) -> Result<(), ApiError> {
    let resource = edit.resource;
    let Some(property) = resource.fields_property() else { return Ok(()) };
    let Some(given) = edit.args.explicit(&property.name) else { return Ok(()) };
    let own = |change: &Change| matches!(change, Change::Put(put) if put.table == resource.table);
    let Some(at) = changes.iter().position(own) else { return Ok(()) };
    let Change::Put(put) = &mut changes[at] else { return Ok(()) };
    let found = coming(edit, put)?;
    let clean = |text: &str| allowed_html(edit.scope, text);
    let all = writes(edit.scope, resource, &found, given, &clean);
    put.meta.extend(outdated(edit, &all)?);
    put.meta.extend(all.meta.iter().cloned());
    file_terms(edit, put, &all)?;
    let id = edit.record().map(|record| record.id());
    let put_number = changes[..at].iter().filter(|change| matches!(change, Change::Put(_))).count();
    changes.extend(attached(
        edit,
        &all.files,
        id.map_or(Input::IdOf(put_number), |id| Input::Value(DbValue::Int(id))),
    )?);
    Ok(())
}

/// The changes that remove values of former rows: those of fields of a row that is not written now.
fn outdated(edit: &RowEdit<'_>, all: &FieldWrites) -> Result<Vec<MetaChange>, ApiError> {
    let Some(record) = edit.record().filter(|_| !all.rows.is_empty()) else { return Ok(Vec::new()) };
    let Some(fields) = &edit.resource.fields else { return Ok(Vec::new()) };
    let written = all.meta.iter().filter_map(|change| match change {
        MetaChange::Key(key, _) => Some(&**key),
        _ => None,
    });
    let written: HashSet<&str> = written.collect();
    let inside = |key: &str| {
        let plain = key.strip_prefix('_').unwrap_or(key);
        all.rows.iter().any(|rows| plain.strip_prefix(&**rows).is_some_and(|rest| rest.starts_with('_')))
    };
    let is_outdated = |key: &str| inside(key) && fields.is_in_row(key) && !written.contains(key);
    let stored = edit.scope.snapshot()?.meta(&records::meta_space(edit.resource), &[record.id()])?;
    let keys: BTreeSet<_> = stored.into_iter().map(|row| row.key).filter(|key| is_outdated(key)).collect();
    Ok(keys.into_iter().map(|key| MetaChange::Key(key, Vec::new())).collect())
}

/// The groups that apply to the row as it will be.
fn coming<'a>(edit: &RowEdit<'a>, put: &Put) -> Result<Vec<&'a GroupFields>, ApiError> {
    let (scope, resource) = (edit.scope, edit.resource);
    let snapshot = scope.snapshot()?;
    let mut row: Row = edit.row.cloned().unwrap_or_else(|| vec![DbValue::Null; resource.columns.len()]);
    for (column, input) in &put.set {
        let short = column.rsplit_once('.').map_or(&**column, |(_, short)| short);
        if let (Some(place), Input::Value(value)) = (resource.column(short), input) {
            row[place] = value.clone();
        }
    }
    let record = Record { resource, row: &row };
    let id = edit.record().map_or(0, |record| record.id());
    let of = resource.fields.as_ref();
    let relations = || resource.relations.iter().filter(|relation| relation.is_list());
    let mut edges = Vec::new();
    if id != 0 && of.is_some_and(|of| of.terms) {
        let rels = relations().map(|relation| relation.rel.clone()).collect();
        edges = snapshot.edges(&EdgePlan { rels, of: vec![id], reverse: false })?;
    }
    let terms = |taxonomy: usize| -> Vec<i64> {
        let of = relations().filter(|relation| relation.to == taxonomy);
        let each = of.flat_map(|relation| match put.edges.iter().find(|(rel, _)| *rel == relation.rel) {
            Some((_, given)) => given.clone(),
            None => edges.iter().filter(|edge| edge.rel == relation.rel).map(|edge| edge.dst).collect(),
        });
        each.collect()
    };
    let children = id != 0 && of.is_some_and(|of| of.children) && {
        let below = records::all([records::own_rows(resource), eq(col::PARENT, DbValue::Int(id))]);
        records::exists(&*snapshot, &resource.table, below)?
    };
    let place = if of.is_some_and(|of| of.place) { place_of(edit, record)? } else { None };
    let facts = LocationFacts {
        resource,
        id,
        status: record.text(col::STATUS),
        parent: record.int(col::PARENT),
        template: record.text(col::TEMPLATE),
        format: record.text(col::FORMAT),
        roles: record.text("roles"),
        children,
        place,
        terms: &terms,
        rule_terms: &RuleTerms::load(&*snapshot, &scope.registry, resource)?,
    };
    Ok(applying(scope, &facts))
}

/// The resource of a comment's record.
fn place_of<'a>(edit: &RowEdit<'a>, record: Record<'_>) -> Result<Option<&'a Resource>, ApiError> {
    let kinds = records::kinds(&*edit.scope.snapshot()?, [record.int("post")])?;
    Ok(kinds.first().and_then(|(_, kind)| edit.scope.registry.resource_of_kind(kind)))
}

/// The record gets the terms that fields assign, as far as these exist and the caller may assign them.
fn file_terms(edit: &RowEdit<'_>, put: &mut Put, all: &FieldWrites) -> Result<(), ApiError> {
    for (taxonomy, ids) in &all.terms {
        let resources = &edit.scope.registry.resources;
        let leads = |to: usize| resources[to].is_taxonomy() && resources[to].is_named(taxonomy);
        let Some(relation) = edit.resource.relations.iter().find(|relation| relation.is_list() && leads(relation.to))
        else {
            continue;
        };
        let terms = &resources[relation.to];
        if !policy::may_assign(&edit.scope.principal, terms) {
            return Err(edit.scope.principal.refuse(Code::CannotAssignTerm));
        }
        let wanted = records::all([records::own_rows(terms), is_in("id", ids.iter().copied())]);
        let plan = records::ordered(records::columns(&terms.table, &["id"], wanted), term::NAME_KEY, false);
        let there = edit.scope.snapshot()?.rows_as(&plan)?;
        put.edges.retain(|(rel, _)| *rel != relation.rel);
        put.edges.push((relation.rel.clone(), there));
    }
    Ok(())
}

/// Files that belong to no record belong to this one from now on, if the caller may edit them.
fn attached(edit: &RowEdit<'_>, files: &[i64], owner: Input) -> Result<Vec<Change>, ApiError> {
    if files.is_empty() || !edit.resource.is_content() {
        return Ok(Vec::new());
    }
    let mut changes = Vec::new();
    for resource in edit.scope.registry.content_types().filter(|resource| resource.supports("files")) {
        let free = records::all([is_in("id", files.iter().copied()), eq(col::PARENT, DbValue::Int(0))]);
        for row in edit.scope.snapshot()?.rows(&records::plan(resource, free))? {
            let record = Record { resource, row: &row };
            if policy::may(edit.scope, Action::Edit, record)? {
                let target = Target::Existing { key: DbValue::Int(record.id()), expect: None };
                let set = vec![(name(col::PARENT), owner.clone())];
                changes.push(Change::Put(Put::new(resource.table.clone(), target, set)));
            }
        }
    }
    Ok(changes)
}
