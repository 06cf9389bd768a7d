//! Properties and meta values that not everybody may read or write who may do so with their item (`x-read-capability`,
//! `x-write-capability`).
//!
//! Who may not read a value must not learn it through a filter, a sort order, a search, a link or the name in an event
//! either. `policy::reads_field` is the one rule; what is compiled here says which rights a use needs.

use super::args::Filter;
use super::resource::{HrefPiece, Link, LinkTarget, Property, PropertySource, QueryValue, Relation, Resource};
use serde_json::Value;

/// The capabilities that a field needs beside the rights to its item; an empty one is everybody's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldRights {
    pub read: String,
    pub write: String,
}

/// A field with rights of its own.
#[derive(Clone, Debug)]
pub struct GuardedField {
    /// The name of the property; of a meta value that of the property which shows it.
    pub property: String,
    /// The key of a meta value.
    pub key: Option<String>,
    pub rights: FieldRights,
}

impl GuardedField {
    /// Its name among the properties, or among the values of meta.
    pub fn own_name(&self) -> &str {
        self.key.as_deref().unwrap_or(&self.property)
    }

    /// Its name for people: `salary`, `meta.salary`.
    pub fn name(&self) -> String {
        match &self.key {
            Some(key) => format!("{}.{key}", self.property),
            None => self.property.clone(),
        }
    }
}

impl Resource {
    /// The rights of the property that holds a column, or whose sort key it is; `None`: it has none of its own.
    pub fn rights_of_column(&self, column: &str) -> Option<&FieldRights> {
        let holds = |own: &str| own == column || column.strip_suffix("_key") == Some(own);
        self.rights_where(|property| property.column.as_deref().is_some_and(holds))
    }

    /// The rights of the property that shows the targets of a relation.
    pub fn rights_of_relation(&self, relation: &Relation) -> Option<&FieldRights> {
        self.rights_where(|property| property.name == relation.property)
    }

    /// The rights of the values of a meta key.
    pub fn rights_of_meta(&self, key: &str) -> Option<&FieldRights> {
        self.meta.get(key).map(|of| &of.rights)
    }

    fn rights_where(&self, is: impl Fn(&Property) -> bool) -> Option<&FieldRights> {
        let named = || self.guarded.iter().filter(|field| field.key.is_none());
        named().find(|field| self.property(&field.property).is_some_and(&is)).map(|field| &field.rights)
    }

    /// The rights that a filter of its lists needs to the values that it compares.
    pub fn rights_of_filter(&self, filter: &Filter) -> Option<&FieldRights> {
        match filter {
            Filter::Column { column, .. } | Filter::Fixed { column, .. } => self.rights_of_column(column),
            Filter::Linked { rel, .. } => {
                let relation = self.relations.iter().find(|relation| relation.rel == *rel)?;
                self.rights_of_relation(relation)
            }
            // Each criterion has rights of its own.
            Filter::Where(_) => None,
            Filter::Query { params, .. } => {
                let text = |key: &str| params.get(key).and_then(Value::as_str);
                let column = text("column").and_then(|column| self.plan_column(column));
                column.and_then(|column| self.rights_of_column(&column)).or_else(|| self.rights_of_meta(text("key")?))
            }
        }
    }

    /// The rights to what a link shows of its item.
    pub fn rights_of_link<'r>(&'r self, link: &'r Link) -> impl Iterator<Item = &'r FieldRights> {
        let query: &[_] = match &link.target {
            LinkTarget::Collection { query, .. } => query,
            _ => &[],
        };
        let of_relations = query.iter().filter_map(|(_, value)| match value {
            QueryValue::Literal(text) => text.strip_prefix('@'),
            QueryValue::Column(_) => None,
        });
        let holder = |name| self.relations.iter().find(|own| own.property == name).map_or(name, Relation::holder);
        let of_relations =
            of_relations.filter_map(move |name| self.rights_where(|property| property.name == holder(name)));
        let columns = link.columns().into_iter().filter_map(|column| self.columns.get(column));
        of_relations.chain(columns.filter_map(|column| self.rights_of_column(column)))
    }

    /// The rights of the property of this name; `None`: it has none of its own.
    pub fn rights_of_property(&self, name: &str) -> Option<&FieldRights> {
        self.rights_where(|property| property.name == name)
    }
}

impl Link {
    /// Positions of the columns of the item that it shows, or that decide whether it is there.
    pub fn columns(&self) -> Vec<usize> {
        let mut used: Vec<usize> = self.when_column.into_iter().collect();
        match &self.target {
            LinkTarget::Item { column, .. } => used.push(*column),
            LinkTarget::Collection { query, .. } => used.extend(query.iter().filter_map(|(_, value)| match value {
                QueryValue::Column(column) => Some(*column),
                QueryValue::Literal(_) => None,
            })),
            LinkTarget::Template(pieces) => used.extend(pieces.iter().filter_map(|piece| match piece {
                HrefPiece::Column(column) => Some(*column),
                _ => None,
            })),
            // The columns of the reference are used by whatever needs what it leads to.
            LinkTarget::Referenced(_) => {}
        }
        used
    }
}

/// Whether a property's value is one of the row, or of its relations, and nothing else shows it: the words can guard it.
pub fn can_be_hidden(property: &Property) -> bool {
    match property.source {
        PropertySource::Column(_) | PropertySource::Read(_, Some(_)) => property.own,
        PropertySource::Relation(_) => true,
        _ => false,
    }
}
