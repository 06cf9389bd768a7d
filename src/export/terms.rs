//! The terms of a site, those of taxonomies that nothing declares included.

use super::records::{property_values, replace, stored_values};
use crate::import::items::Term;
use cms_core::access::policy;
use cms_core::error::ApiError;
use cms_core::features::site_export::exported_name;
use cms_core::records::{self, Record, always, select};
use cms_core::registry::Registry;
use cms_core::registry::columns::term;
use cms_core::scope::Scope;
use cms_storage::{Snapshot, typed_row};
use std::collections::HashMap;

typed_row! {
    term::TABLE;
    /// A stored term.
    pub(super) struct TermRow {
        pub(super) id: i64,
        pub(super) taxonomy: String,
        pub(super) name: String,
        pub(super) slug: String,
        description: String,
        parent: i64,
    }
}

/// The name that WordPress has for a taxonomy.
pub(super) fn taxonomy(registry: &Registry, kind: &str) -> String {
    let declared = registry.taxonomies().find(|taxonomy| *taxonomy.kind == *kind);
    declared.map_or_else(|| kind.to_owned(), |taxonomy| exported_name(registry, taxonomy))
}

/// All of them: one after the term above it.
///
/// # Errors
/// The database cannot be read.
pub(super) fn all(scope: &Scope, snapshot: &dyn Snapshot) -> Result<Vec<Term>, ApiError> {
    let rows: Vec<TermRow> = snapshot.rows_as(&records::ordered(select::<TermRow>(always()), "id", false))?;
    let slugs: HashMap<i64, String> = rows.iter().map(|row| (row.id, row.slug.clone())).collect();
    let above: HashMap<i64, i64> = rows.iter().map(|row| (row.id, row.parent)).collect();
    // How many are above each. One that is above itself is at the top.
    let depth = |id: i64| {
        let above = std::iter::successors(Some(id), |id| above.get(id).copied().filter(|parent| *parent != 0));
        above.take(rows.len() + 1).count()
    };
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let mut meta = stored_values(snapshot, term::TABLE, &ids)?;
    for row in &rows {
        let of = scope.registry.taxonomies().find(|taxonomy| *taxonomy.kind == *row.taxonomy);
        if let (Some(of), Some(values)) = (of, meta.get_mut(&row.id)) {
            values.retain(|(key, _)| policy::reads_meta(scope, of, key));
        }
    }
    for taxonomy in scope.registry.taxonomies().filter(|taxonomy| taxonomy.properties.iter().any(|one| one.own)) {
        for row in snapshot.rows(&records::plan(taxonomy, always()))? {
            let record = Record { resource: taxonomy, row: &row };
            let values = property_values(scope, record, &HashMap::new());
            replace(meta.entry(record.id()).or_default(), values);
        }
    }
    let mut ordered: Vec<(usize, TermRow)> = Vec::with_capacity(ids.len());
    let depths: Vec<usize> = ids.iter().map(|id| depth(*id)).collect();
    ordered.extend(depths.into_iter().zip(rows));
    ordered.sort_by_key(|(depth, row)| (*depth, row.id));
    let one = |(_, row): (usize, TermRow)| Term {
        id: Some(row.id),
        taxonomy: taxonomy(&scope.registry, &row.taxonomy),
        parent_slug: slugs.get(&row.parent).cloned().unwrap_or_default(),
        meta: meta.remove(&row.id).unwrap_or_default(),
        slug: row.slug,
        name: row.name,
        description: row.description,
    };
    Ok(ordered.into_iter().map(one).collect())
}
