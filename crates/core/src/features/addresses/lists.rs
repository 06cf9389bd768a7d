//! The lists of the site that show an item: those of its terms, its author, its date and its type, and the newest records; and the
//! records that show a term or an author.

use super::candidates::{archive_of, has_archive, public_taxonomies};
use super::find::is_public;
use super::period::Period;
use crate::access::policy;
use crate::error::ApiError;
use crate::records::{self, Record};
use crate::registry::columns::{ID, record, term};
use crate::registry::resource::{Relation, Resource};
use crate::render::{Batch, address, short_columns};
use crate::scope::{Principal, Scope};
use cms_declaration::Syndicated;
use cms_storage::Snapshot;
use cms_storage::plan::{Cond, DbValue, EdgePlan, Name, ReadPlan};
use cms_text::time::CivilDateTime;
use std::collections::BTreeMap;

/// Addresses of the lists that show a record, as far as it is one for everybody and the caller may read what they are of.
/// At most `most` terms of each taxonomy are looked at. The number of statements depends on declarations and on the depth
/// of terms alone.
///
/// # Errors
/// The database cannot be read.
pub fn lists_of(scope: &Scope, record: Record<'_>, most: u64) -> Result<Vec<String>, ApiError> {
    let resource = record.resource;
    if !resource.is_content() || !resource.viewable() || !is_public(scope, record) {
        return Ok(Vec::new());
    }
    let snapshot = scope.snapshot()?;
    let base = address::in_language(scope, record, &scope.registry.site.front);
    let mut lists = Vec::new();
    if resource.declared.syndication == Syndicated::Site {
        lists.push(newest_records(&*snapshot, scope, &base)?);
        lists.extend(periods(record).map(|period| format!("{base}{}", period.path())));
        if let Some(users) = scope.registry.users().filter(|users| policy::knows_authors(scope, users)) {
            // Whoever loses the last public record is listed no more, but the list has changed.
            let author = records::eq(ID, DbValue::Int(record.int(record::AUTHOR)));
            let of_author = links(&*snapshot, scope, users, author, 1, &mut Batch::default())?;
            lists.extend(of_author.iter().map(|link| address::moved(link, &scope.registry.site.front, &base)));
        }
    }
    if has_archive(resource) {
        lists.push(format!("{base}/{}/", archive_of(resource)));
    }
    let relations = relations_of_terms(scope, resource);
    if !relations.is_empty() {
        let rels = relations.iter().map(|relation| relation.rel.clone()).collect();
        let edges = snapshot.edges(&EdgePlan { rels, of: vec![record.id()], reverse: false })?;
        let targets = edges.into_iter().map(|edge| (edge.rel, edge.dst));
        lists.extend(lists_of_terms(scope, resource, targets, most)?);
    }
    Ok(lists)
}

/// Addresses of public records that refer to a term, a user or a file, at most `most` of each type.
///
/// # Errors
/// The database cannot be read.
pub fn records_with(scope: &Scope, named: Record<'_>, most: u64) -> Result<Vec<String>, ApiError> {
    let everybody = Scope { principal: Principal::default(), ..scope.clone() };
    let states = || scope.registry.declaration.statuses_where(|status| status.public);
    let snapshot = scope.snapshot()?;
    let mut found = Vec::new();
    for kind in scope.registry.content_types().filter(|kind| kind.viewable()) {
        let relations = kind.relations.iter().filter(|own| own.to == named.resource.index);
        let shows: Vec<Cond> =
            relations.filter_map(|own| records::referring(kind, own, &[DbValue::Int(named.id())])).collect();
        if !shows.is_empty() {
            let public = records::words(record::STATUS, states());
            let shown = records::all([public, Cond::Any(shows), policy::visible(&everybody, kind)]);
            found.extend(links(&*snapshot, &everybody, kind, shown, most, &mut Batch::default())?);
        }
    }
    Ok(found)
}

/// The address that lists the newest records: the site's own, or the page that is chosen for them.
fn newest_records(snapshot: &dyn Snapshot, scope: &Scope, base: &str) -> Result<String, ApiError> {
    let Some(page) = scope.page_of("page_for_posts") else { return Ok(format!("{base}/")) };
    let kind = records::kinds(snapshot, [page])?.pop();
    let resource = kind.and_then(|(_, kind)| scope.registry.resource_of_kind(&kind));
    let Some(resource) = resource else { return Ok(format!("{base}/")) };
    let chosen = records::all([records::eq(ID, DbValue::Int(page)), policy::visible(scope, resource)]);
    let found = links(snapshot, scope, resource, chosen, 1, &mut Batch::default())?.pop();
    Ok(found.unwrap_or_else(|| format!("{base}/")))
}

/// The year, the month and the day of a record.
fn periods(record: Record<'_>) -> impl Iterator<Item = Period> {
    let date = CivilDateTime::of(record.int(record::DATE_LOCAL));
    let parts = [format!("{:04}", date.year), date.month.to_string(), date.day.to_string()];
    (1..=parts.len()).filter_map(move |most| {
        let parts: Vec<&str> = parts[..most].iter().map(String::as_str).collect();
        Period::of(&parts)
    })
}

/// The relations of a resource's records to terms that have lists.
fn relations_of_terms<'r>(scope: &'r Scope, resource: &'r Resource) -> Vec<&'r Relation> {
    let taxonomies: Vec<usize> = public_taxonomies(&scope.registry).map(|taxonomy| taxonomy.index).collect();
    resource.relations.iter().filter(|own| own.is_list() && taxonomies.contains(&own.to)).collect()
}

/// Addresses of terms, which relations of a resource's records lead to, and of the terms above them, whose lists have the same
/// records.
///
/// # Errors
/// The database cannot be read.
pub fn lists_of_terms(
    scope: &Scope,
    resource: &Resource,
    targets: impl IntoIterator<Item = (Name, i64)>,
    most: u64,
) -> Result<Vec<String>, ApiError> {
    let relations = relations_of_terms(scope, resource);
    let mut by_taxonomy: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
    for (rel, term) in targets {
        if let Some(relation) = relations.iter().find(|relation| relation.rel == rel) {
            by_taxonomy.entry(relation.to).or_default().push(term);
        }
    }
    let snapshot = &*scope.snapshot()?;
    let mut lists = Vec::new();
    for (index, ids) in by_taxonomy {
        let taxonomy = &scope.registry.resources[index];
        let of = |ids: Vec<i64>| records::all([records::is_in(ID, ids), policy::visible(scope, taxonomy)]);
        let mut batch = Batch::default();
        lists.extend(links(snapshot, scope, taxonomy, of(ids.clone()), most, &mut batch)?);
        let above: Vec<i64> = batch.above.keys().copied().filter(|id| !ids.contains(id)).collect();
        if !above.is_empty() {
            lists.extend(links(snapshot, scope, taxonomy, of(above), most, &mut batch)?);
        }
    }
    Ok(lists)
}

/// Addresses of the rows of a resource that a condition holds for.
fn links(
    snapshot: &dyn Snapshot,
    scope: &Scope,
    resource: &Resource,
    condition: Cond,
    most: u64,
    batch: &mut Batch,
) -> Result<Vec<String>, ApiError> {
    let plan = ReadPlan { limit: Some(most), ..records::plan(resource, condition) };
    let rows = records::read(snapshot, resource, plan, &short_columns(resource))?;
    batch.load_addresses(snapshot, scope, resource, &rows)?;
    let link = |row| {
        let record = Record { resource, row };
        address::of(scope, record, batch, record.text(term::SLUG))
    };
    Ok(rows.iter().map(link).collect())
}
