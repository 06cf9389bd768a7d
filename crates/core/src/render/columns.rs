//! Which columns rows have to be read with.

use super::{Needs, View, shown};
use crate::registry::columns::record;
use crate::registry::resource::{Context, Link, Property, PropertySource, Resource};
use std::collections::HashSet;

/// Columns of unbounded length, which many fields of a row can do without.
const LONG: [&str; 4] = ["content", "excerpt", "description", "extra"];

/// The columns that rows have to be read with to be shown so, by position: no long texts, and nothing that the resource
/// declares for itself, unless a wanted field needs it. `None`: all.
pub fn columns_for(resource: &Resource, view: &View<'_>) -> Option<Vec<usize>> {
    if view.fields.is_all() {
        return None;
    }
    let needs = Needs::of_documents(resource, view);
    if needs.texts {
        return None;
    }
    let mut used = HashSet::new();
    if needs.above {
        used.extend(&resource.address.columns);
    }
    // The source of a derived value is read although it is not shown.
    if let Some(reference) = resource.declared.reference.as_ref().filter(|_| needs.referenced) {
        used.extend(
            [&reference.class, &reference.id, &reference.kind].into_iter().filter_map(|own| resource.column(own)),
        );
    }
    for property in shown(&resource.properties, view) {
        use_columns(resource, property, view.context, &mut used);
    }
    if view.wants_links() {
        used.extend(resource.links.iter().flat_map(Link::columns));
        // Addresses name the item above.
        used.extend(resource.within.as_ref().and_then(|(within, _)| resource.column(&within.property)));
    }
    Some(all_but_spared(resource, &used))
}

/// Positions of the columns that every row has and that cannot be long, and of those that addresses show: what decisions
/// about a row and links to it need.
pub fn short_columns(resource: &Resource) -> Vec<usize> {
    all_but_spared(resource, &resource.address.columns.iter().copied().collect())
}

/// Positions of the columns without those that can be long and are not used.
pub(super) fn all_but_spared(resource: &Resource, used: &HashSet<usize>) -> Vec<usize> {
    let own = |column: usize| resource.columns[column].contains('.');
    let any_own = used.iter().any(|column| own(*column));
    let spared = |column: usize| match own(column) {
        true => !any_own,
        false => LONG.contains(&&*resource.columns[column]) && !used.contains(&column),
    };
    (0..resource.columns.len()).filter(|column| !spared(*column)).collect()
}

fn use_columns(resource: &Resource, property: &Property, context: Context, used: &mut HashSet<usize>) {
    match &property.source {
        PropertySource::Column(column) => used.extend([*column]),
        PropertySource::Read(_, column) => used.extend(*column),
        PropertySource::Extra => used.extend(resource.column("extra")),
        PropertySource::Object(children) => {
            let shown = children.iter().filter(|child| child.contexts.shows_in(context));
            shown.for_each(|child| use_columns(resource, child, context, used));
        }
        PropertySource::Fields(_) => {
            used.extend([record::TEMPLATE, record::FORMAT].into_iter().filter_map(|column| resource.column(column)));
        }
        PropertySource::Relation(_)
        | PropertySource::Meta
        | PropertySource::Members(..)
        | PropertySource::Nothing
        | PropertySource::Fixed(_) => {}
    }
}
