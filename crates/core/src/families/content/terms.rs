//! The default terms of records: what a record without a term of a taxonomy gets, in its language.

use super::ContentDraft;
use crate::error::ApiError;
use crate::families::RowEdit;
use crate::records::{self, Record, txt};
use crate::registry::Registry;
use crate::registry::columns::ID;
use crate::registry::resource::Resource;
use crate::scope::Scope;
use cms_storage::plan::{Cond, DbValue, EdgePlan, Name, Op, ReadPlan};

/// A record that has no term of a taxonomy gets its default one whenever it is written, unless others (or none) are
/// given.
pub(super) fn of_draft(edit: &RowEdit<'_>, draft: &mut ContentDraft<'_>) -> Result<(), ApiError> {
    let given: Vec<Name> = draft.edges.iter().map(|(rel, _)| rel.clone()).collect();
    let (scope, resource) = (edit.scope, draft.resource);
    let language = scope.registry.languages.as_ref().and_then(|languages| edit.given_text(&languages.column));
    let found = match edit.record() {
        Some(record) => missing_terms(scope, record, &given, language)?,
        None => {
            let defaults = default_terms(&scope.registry, resource, &given, |setting| scope.settings.int(setting));
            that_exist(scope, resource, defaults, language.unwrap_or_default())?
        }
    };
    draft.edges.extend(found);
    Ok(())
}

/// The default terms of those taxonomies of which a record can have terms, but for the relations `given`.
pub fn default_terms(
    registry: &Registry,
    resource: &Resource,
    given: &[Name],
    setting: impl Fn(&str) -> i64,
) -> Vec<(Name, Vec<i64>)> {
    let mut defaults = Vec::new();
    for relation in resource.relations.iter().filter(|r| r.is_list() && !given.contains(&r.rel)) {
        let default = registry.resources[relation.to].declared.default_setting.as_deref().map_or(0, &setting);
        if default != 0 {
            defaults.push((relation.rel.clone(), vec![default]));
        }
    }
    defaults
}

/// The default terms of those taxonomies of which a record has no term, and that are not given. `language`: the
/// one that the request gives the record.
pub(super) fn missing_terms(
    scope: &Scope,
    record: Record<'_>,
    given: &[Name],
    language: Option<&str>,
) -> Result<Vec<(Name, Vec<i64>)>, ApiError> {
    let mut defaults = default_terms(&scope.registry, record.resource, given, |setting| scope.settings.int(setting));
    if defaults.is_empty() {
        return Ok(defaults);
    }
    let present = scope.snapshot()?.edges(&edges_of(&defaults, record.id()))?;
    defaults.retain(|(rel, _)| !present.iter().any(|edge| edge.rel == *rel));
    let kept = || scope.registry.languages.as_ref().map_or("", |languages| record.text(&languages.column));
    that_exist(scope, record.resource, defaults, language.unwrap_or_else(kept))
}

/// Terms by relation without those that do not exist: a setting may name such a term.
fn that_exist(
    scope: &Scope,
    resource: &Resource,
    mut terms: Vec<(Name, Vec<i64>)>,
    language: &str,
) -> Result<Vec<(Name, Vec<i64>)>, ApiError> {
    for (rel, ids) in &mut terms {
        let relation = resource.relations.iter().find(|relation| relation.rel == *rel);
        let Some(taxonomy) = relation.map(|relation| &scope.registry.resources[relation.to]) else { continue };
        let there: Vec<i64> = scope.snapshot()?.rows_as(&those_of(taxonomy, ids))?;
        ids.retain(|id| there.contains(id));
        for id in ids {
            *id = in_language(scope, taxonomy, *id, language)?.unwrap_or(*id);
        }
    }
    Ok(terms)
}

/// The translation of a default term, which is in the default language; `None` where it has none.
fn in_language(scope: &Scope, taxonomy: &Resource, id: i64, language: &str) -> Result<Option<i64>, ApiError> {
    let Some(languages) = scope.registry.languages.as_ref() else { return Ok(None) };
    let slug = languages.named(language);
    let columns = taxonomy.plan_column(&languages.group).zip(taxonomy.plan_column(&languages.column));
    let Some((group, column)) = columns.filter(|_| slug != languages.default) else { return Ok(None) };
    let snapshot = scope.snapshot()?;
    let own = records::plan(taxonomy, records::eq(ID, DbValue::Int(id)));
    let shared: Vec<String> = snapshot.rows_as(&ReadPlan { columns: vec![group.clone()], ..own })?;
    let Some(shared) = shared.into_iter().next().filter(|shared| !shared.is_empty()) else { return Ok(None) };
    let same_group = Cond::Compare(group, Op::Eq, txt(&shared));
    let translations = records::plan(taxonomy, Cond::All(vec![same_group, languages.rows(&column, slug)]));
    let found: Vec<i64> = snapshot.rows_as(&ReadPlan { columns: vec![taxonomy.key.clone()], ..translations })?;
    Ok(found.first().copied())
}

/// The plan that finds which of these terms exist.
pub(super) fn those_of(taxonomy: &Resource, ids: &[i64]) -> ReadPlan {
    let named = records::plan(taxonomy, records::is_in("id", ids.iter().copied()));
    ReadPlan { columns: vec![taxonomy.key.clone()], ..named }
}

/// The edges of a record in the relations of some terms.
pub(super) fn edges_of(terms: &[(Name, Vec<i64>)], id: i64) -> EdgePlan {
    EdgePlan { rels: terms.iter().map(|(rel, _)| rel.clone()).collect(), of: vec![id], reverse: false }
}

/// The default terms of relations of which a request gives no property.
pub(super) fn defaults_beside(
    scope: &Scope,
    resource: &Resource,
    given: &dyn Fn(&str) -> bool,
) -> Vec<(Name, Vec<i64>)> {
    let given = resource.relations.iter().filter(|relation| given(&relation.property));
    let given: Vec<Name> = given.map(|relation| relation.rel.clone()).collect();
    default_terms(&scope.registry, resource, &given, |setting| scope.settings.int(setting))
}
