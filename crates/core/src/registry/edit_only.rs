//! Columns that documents show only in the edit context.
//!
//! A caller who may not see a value must not learn it through a filter, a sort order, a search or a total either. What
//! uses such a column is therefore only for callers who may edit the rows.

use super::args::{ArgRole, ArgSet, Filter};
use super::resource::{Context, Property, PropertySource, Relation, Resource, Sort};
use cms_storage::plan::Name;
use serde_json::Value;
use std::collections::HashSet;

/// The contexts for those who do not edit.
const OPEN: Context = Context(Context::VIEW.0 | Context::EMBED.0);

/// The columns of a resource that a property holds and that no property shows outside the edit context.
pub fn columns(resource: &Resource) -> HashSet<Name> {
    let (mut held, mut shown) = (HashSet::new(), HashSet::new());
    resource.properties.iter().for_each(|p| gather(resource, p, Context::ALL, &mut held, &mut shown));
    let mut hidden: HashSet<Name> = held.difference(&shown).cloned().collect();
    // Sort keys reveal their column.
    let keys = resource.columns.iter().filter(|c| c.strip_suffix("_key").is_some_and(|of| hidden.contains(of)));
    let keys: Vec<Name> = keys.cloned().collect();
    hidden.extend(keys);
    hidden
}

fn gather(
    resource: &Resource,
    property: &Property,
    above: Context,
    held: &mut HashSet<Name>,
    shown: &mut HashSet<Name>,
) {
    if property.hidden {
        return;
    }
    let contexts = Context(property.contexts.0 & above.0);
    let column = match &property.source {
        PropertySource::Object(children) => {
            // A property that is shown in another form (`rendered` next to `raw`) is shown.
            let whole = |p: &Property| p.contexts.shows_in(OPEN) && matches!(p.source, PropertySource::Read(_, None));
            let form = contexts.shows_in(OPEN) && children.iter().any(whole);
            let mut own = HashSet::new();
            children.iter().for_each(|p| gather(resource, p, contexts, &mut own, shown));
            shown.extend(own.iter().filter(|_| form).cloned());
            return held.extend(own);
        }
        PropertySource::Column(index) | PropertySource::Read(_, Some(index)) => resource.columns.get(*index).cloned(),
        _ => property.column.clone(),
    };
    let Some(column) = column else { return };
    if contexts.shows_in(OPEN) && !property.digest {
        shown.insert(column.clone());
    }
    held.insert(column);
}

/// Whether some value of some argument uses what only the edit context shows.
pub fn uses_edit_context(resource: &Resource, set: &ArgSet) -> bool {
    let sorts = |sort: &Sort| matches!(sort, Sort::Column(column) if resource.edit_only.contains(column));
    let sorted = (set.role(ArgRole::Orderby).is_some() || set.role(ArgRole::OrderKeys).is_some())
        && resource.sort.values().any(sorts);
    sorted || set.args.iter().any(|arg| arg.edit_only)
}

/// Whether only the edit context shows the targets of a relation.
pub fn hidden_relation(resource: &Resource, relation: &Relation) -> bool {
    let property = resource.property(relation.holder());
    property.is_some_and(|property| !property.contexts.shows_in(OPEN))
}

/// Whether a filter uses what only the edit context shows.
pub fn filters(resource: &Resource, filter: &Filter) -> bool {
    match filter {
        Filter::Column { column, .. } | Filter::Fixed { column, .. } => resource.edit_only.contains(column),
        Filter::Linked { rel, .. } => {
            let relation = resource.relations.iter().find(|relation| relation.rel == *rel);
            relation.is_some_and(|relation| hidden_relation(resource, relation))
        }
        Filter::Where(criteria) => criteria.0.values().any(|criterion| criterion.edit_only),
        Filter::Query { params, .. } => {
            let text = |key: &str| params.get(key).and_then(Value::as_str);
            let column = text("column").and_then(|column| resource.plan_column(column));
            let meta = text("key").and_then(|key| resource.declared.meta.get(key));
            let open = |context: &Value| matches!(context.as_str(), Some("view" | "embed"));
            let meta_hidden = meta
                .and_then(|meta| meta.schema.get("context")?.as_array())
                .is_some_and(|contexts| !contexts.iter().any(open));
            column.is_some_and(|column| resource.edit_only.contains(&column)) || meta_hidden
        }
    }
}
