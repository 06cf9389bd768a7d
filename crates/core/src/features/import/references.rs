//! References of lines that are imported to items that later lines bring.
//!
//! Items may refer to each other in circles, and to themselves. A reference to what is not there yet is left out when the
//! item is made, and set when all lines are through.

use crate::error::ApiError;
use crate::records::{self, columns};
use crate::registry::columns::{ID, record};
use crate::registry::name;
use crate::registry::resource::Resource;
use crate::scope::Scope;
use cms_storage::InnerKeys;
use cms_storage::plan::{Cond, DbValue};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// A property of a resource by which an item refers to others that have to be there.
pub struct ItemReference<'r> {
    property: &'r str,
    /// The place of the keys, where they are inside the property's value.
    inside: Option<&'r InnerKeys>,
    table: &'r str,
    key: &'r str,
    filter: Cond,
    /// The items referred to are of the same resource.
    pub own: bool,
}

/// Such properties of a resource.
pub fn references<'r>(scope: &'r Scope, resource: &'r Resource) -> Vec<ItemReference<'r>> {
    let registry = &scope.registry;
    let relations = resource.relations.iter().filter(|relation| relation.check).map(|relation| {
        let to = &registry.resources[relation.to];
        let own = relation.to == resource.index;
        ItemReference {
            property: relation.holder(),
            inside: relation.inner_keys(),
            table: &to.table,
            key: &to.key,
            filter: records::own_rows(to),
            own,
        }
    });
    let free = resource.supports("attached") || resource.declared.loose_parent;
    let placed = resource.is_taxonomy() || resource.is_content() && !free;
    let above = resource.property_of_column(record::PARENT).filter(|_| placed).map(|property| {
        let filter = if resource.is_taxonomy() { records::own_rows(resource) } else { records::always() };
        ItemReference { property: &property.name, inside: None, table: &resource.table, key: ID, filter, own: true }
    });
    relations.chain(above).collect()
}

/// A key as it is compared: as the text of its JSON.
pub fn key_of(document: &Map<String, Value>, property: &str) -> Option<String> {
    document.get(property).and_then(key)
}

fn key(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => number.as_i64().filter(|id| *id != 0).map(|id| id.to_string()),
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        _ => None,
    }
}

impl ItemReference<'_> {
    /// The keys that a document has in the property.
    pub fn keys(&self, document: &Map<String, Value>) -> Vec<(String, DbValue)> {
        let stored = |value: &Value| {
            let key = key(value)?;
            let stored = value.as_i64().map_or_else(|| records::txt(&key), DbValue::Int);
            Some((key, stored))
        };
        match (self.inside, document.get(self.property)) {
            (_, None) => Vec::new(),
            (Some(inside), Some(value)) => {
                inside.of(value).into_iter().map(|key| (key.to_string(), DbValue::Int(key))).collect()
            }
            (None, Some(Value::Array(list))) => list.iter().filter_map(stored).collect(),
            (None, Some(one)) => stored(one).into_iter().collect(),
        }
    }

    /// Those of the keys of which there is no item.
    fn missing(&self, scope: &Scope, document: &Map<String, Value>) -> Result<HashSet<String>, ApiError> {
        let mut wanted: HashMap<String, DbValue> = self.keys(document).into_iter().collect();
        if wanted.is_empty() {
            return Ok(HashSet::new());
        }
        let among = Cond::In(name(self.key), wanted.values().cloned().collect());
        let plan = columns(self.table, &[self.key], Cond::All(vec![self.filter.clone(), among]));
        let found: Vec<DbValue> = scope.snapshot()?.rows_as(&plan)?;
        wanted.retain(|_, value| !found.contains(value));
        Ok(wanted.into_keys().collect())
    }
}

/// Takes those references out of a document that lead to nothing and are `later`; the properties that had them.
pub fn defer(
    scope: &Scope,
    references: &[ItemReference<'_>],
    document: &mut Map<String, Value>,
    later: impl Fn(&ItemReference<'_>, &str) -> bool,
) -> Result<Vec<String>, ApiError> {
    let mut deferred = Vec::new();
    for reference in references {
        let mut missing = reference.missing(scope, document)?;
        missing.retain(|key| later(reference, key));
        if missing.is_empty() {
            continue;
        }
        if !deferred.iter().any(|property| property == reference.property) {
            deferred.push(reference.property.to_owned());
        }
        match (reference.inside, document.get_mut(reference.property)) {
            (Some(inside), Some(value)) => {
                inside.replace(value, |key| Some(key).filter(|key| !missing.contains(&key.to_string())));
            }
            (None, Some(Value::Array(list))) => {
                list.retain(|value| key(value).is_none_or(|key| !missing.contains(&key)))
            }
            _ => drop(document.remove(reference.property)),
        }
    }
    Ok(deferred)
}
