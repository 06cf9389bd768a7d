//! The item that a line of an import changes: the one that has the line's value of a property.

use crate::access::policy;
use crate::error::{ApiError, Code};
use crate::records::txt;
use crate::registry::resource::{Context, Property, PropertyKind, Resource};
use crate::scope::Scope;
use cms_storage::plan::{ColumnType, Cond, DbValue, IndexDef, Name, Op};
use cms_text::slug;
use serde_json::{Map, Value};

/// The property that items are found by.
pub(super) struct ItemLookup<'r> {
    pub(super) property: &'r Property,
    pub(super) column: Name,
    /// The column with the folded values, which has an index; true: no two rows have the same there.
    folded: Option<(Name, bool)>,
}

/// The property that items are found by: the key, the slug, or one whose values are texts or integers. Whether an item is
/// found says what value it has, so the caller has to be allowed to see it.
pub(super) fn found_by<'r>(scope: &'r Scope, resource: &'r Resource, wanted: &str) -> Result<ItemLookup<'r>, ApiError> {
    let found = resource.property(wanted).and_then(|property| Some((property, property.column.clone()?)));
    let usable = |(property, _): &(&Property, Name)| {
        matches!(property.kind, PropertyKind::Text | PropertyKind::Integer) && !property.digest && property.is_shown()
    };
    let Some((property, column)) = found.filter(usable) else {
        return Err(ApiError::invalid_one("upsert", format!("upsert: items are not found by {wanted}.")));
    };
    let hidden = resource.edit_only.contains(&column) || resource.locked.contains(&column);
    let reads = policy::reads_field(scope, &property.rights);
    if !reads || hidden && !policy::sees_edit_only(scope, resource, Context::VIEW) {
        let message = format!("You may not find items by {wanted}: you do not see the values of all of them.");
        return Err(scope.principal.refuse(Code::Forbidden).with_message(message));
    }
    let key = format!("{column}_key");
    let folded = scope.registry.layout.column(&resource.table, &key).filter(|(_, key)| key.ty == ColumnType::Key);
    let folded = folded.map(|(table, key)| {
        let unique = |index: &IndexDef| index.unique && index.columns[0].0 == key.name;
        (key.name.clone(), table.indexes.iter().any(unique))
    });
    Ok(ItemLookup { property, column, folded })
}

impl ItemLookup<'_> {
    /// The items with the value that a document has; `None`: it has none.
    pub(super) fn condition(&self, document: &Map<String, Value>) -> Option<Cond> {
        let value = match document.get(&self.property.name)? {
            Value::String(text) => txt(text),
            Value::Number(number) => DbValue::Int(number.as_i64()?),
            _ => return None,
        };
        let same = |value| Cond::Compare(self.column.clone(), Op::Eq, value);
        Some(match (&self.folded, &value) {
            (Some((key, unique)), DbValue::Text(text)) => {
                let folded = Cond::Compare(key.clone(), Op::Eq, txt(&slug::title_key(text)));
                if *unique { folded } else { Cond::All(vec![folded, same(value)]) }
            }
            _ => same(value),
        })
    }
}
