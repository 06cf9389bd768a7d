//! Values that a record's password locks (`x-password-protected`), as columns and filters.
//!
//! A caller who may not see a locked value must not learn it through a filter, a count or a cursor either.

use super::args::Filter;
use super::resource::{Property, PropertySource, Resource};
use cms_storage::plan::Name;
use serde_json::{Value, json};
use std::collections::HashSet;

/// The columns of a resource that hold a locked property.
pub fn columns(resource: &Resource) -> HashSet<Name> {
    fn gather(properties: &[Property], found: &mut HashSet<Name>) {
        for property in properties {
            if let PropertySource::Object(children) = &property.source {
                gather(children, found);
            }
            found.extend(property.column.clone().filter(|_| property.locked));
        }
    }
    let mut found = HashSet::new();
    gather(&resource.properties, &mut found);
    found
}

/// Whether a filter compares what is locked. Criteria of `where` know that themselves.
pub fn filters(resource: &Resource, filter: &Filter) -> bool {
    let is_locked = |found: &dyn Fn(&Property) -> bool| resource.properties.iter().any(|own| own.locked && found(own));
    match filter {
        Filter::Column { column, .. } | Filter::Fixed { column, .. } => resource.locked.contains(column),
        Filter::Linked { rel, .. } => {
            let mut relations = resource.relations.iter().filter(|relation| relation.rel == *rel);
            relations.any(|relation| is_locked(&|own| own.name == relation.holder()))
        }
        Filter::Where(_) => false,
        Filter::Query { params, .. } => {
            let text = |key: &str| params.get(key).and_then(Value::as_str);
            let column = text("column").and_then(|column| resource.plan_column(column));
            let meta = text("key").and_then(|key| resource.declared.meta.get(key));
            column.is_some_and(|column| resource.locked.contains(&column))
                || meta.is_some_and(|meta| meta.schema.get("x-password-protected") != Some(&json!(false)))
                    && is_locked(&|own| matches!(own.source, PropertySource::Meta))
        }
    }
}
