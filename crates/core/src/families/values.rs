//! The stored form of given values: columns by the write behaviours, relations by their targets, meta by its
//! declaration.

use super::RowEdit;
use crate::access::{failure, policy};
use crate::behaviours::{WRITES, WriteContext, default_write, refused};
use crate::error::ApiError;
use crate::records::{self, columns, is_in};
use crate::registry::columns::{record, term};
use crate::registry::name;
use crate::registry::resource::{Property, PropertySource, Relation, Resource};
use crate::scope::Scope;
use cms_declaration::Family;
use cms_storage::plan::{Cond, DbValue, EdgePlan, MetaChange, Name, Op, Order};
use cms_text::{font, php};
use indexmap::IndexSet;
use serde_json::{Value, json};
use std::sync::Arc;

/// The column and value that an argument is stored as; `None` where the argument says nothing of the column.
///
/// # Errors
/// The property's write behaviour.
pub fn stored(scope: &Scope, property: &Property, value: &Value) -> Result<Option<(Name, DbValue)>, ApiError> {
    let (writable, value) = match &property.source {
        PropertySource::Object(children) => {
            let Some(member) = children.iter().find(|c| c.column.is_some() && !c.readonly) else { return Ok(None) };
            // The text alone means the member that people write. Clients send back what they have read, so the member may
            // be absent or null beside the rendered text.
            let given = if value.is_string() { Some(value) } else { value.get(&member.name) };
            let Some(given) = given.filter(|given| !given.is_null()) else { return Ok(None) };
            let is_title =
                scope.registry.declaration.dialect.keep_titles && member.column.as_deref() == Some(record::TITLE);
            if is_title && value.is_object() && php::is_empty(given) {
                return Ok(None);
            }
            (member, given)
        }
        _ => (property, value),
    };
    let Some(column) = &writable.column else { return Ok(None) };
    // An unset value is null, whatever the behaviour makes of texts.
    if writable.own && writable.nullable && value.is_null() {
        return Ok(Some((column.clone(), DbValue::Null)));
    }
    let behaviour = property.write.or(writable.write);
    let value = match behaviour {
        Some(behaviour) => {
            let written = (WRITES[behaviour.0].run)(&WriteContext { scope, property }, value)?;
            let given = value.as_str().unwrap_or_default();
            if property.refusal.is_some() && !given.is_empty() && written == records::txt("") {
                return Err(refused(property, given, "Nothing of this value can be stored.".into()));
            }
            check_stored(property, value, &written)?;
            written
        }
        None => default_write(scope, writable, value),
    };
    // No row has the key 0: it stands for none.
    let none = writable.own && writable.refers && value == DbValue::Int(0);
    Ok(Some((column.clone(), if none { DbValue::Null } else { value })))
}

/// The text that a behaviour returns has to fit the schema, as the sent text has to.
fn check_stored(property: &Property, given: &Value, written: &DbValue) -> Result<(), ApiError> {
    let (Some(schema), DbValue::Text(text)) = (&property.stored, written) else { return Ok(()) };
    if given.as_str() == Some(text) {
        return Ok(());
    }
    let checked = schema.check(&property.name, &Value::from(&**text));
    checked.map_err(|failure| ApiError::invalid(vec![*failure]))
}

/// The members of an object that are stored one by one; `None`: it is stored as one text.
pub fn written_members(property: &Property) -> Option<Vec<&Property>> {
    let PropertySource::Object(children) = &property.source else { return None };
    let written: Vec<&Property> = children.iter().filter(|c| c.column.is_some() && !c.readonly).collect();
    (written.len() > 1).then_some(written)
}

/// The column of a derived property, and the text that the given value of the other property makes. An update that sends
/// none of the members leaves it as it is.
pub fn derived(edit: &RowEdit<'_>, property: &Property) -> Option<(Name, DbValue)> {
    let (word, column) = (property.derived.as_ref()?, property.column.clone()?);
    let given = edit.wanted(&word.from)?;
    if edit.row.is_some() && !word.members.keys().any(|member| given.get(member).is_some()) {
        return None;
    }
    let parts = word.members.iter().map(|(member, how)| {
        let text = given.get(member).map_or_else(|| how.default.clone(), text_of);
        let text = font::comparable(&text);
        how.words.get(&text).cloned().unwrap_or(text)
    });
    Some((column, records::txt(&parts.collect::<Vec<_>>().join(";"))))
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The registered meta that an argument sets.
pub fn meta(resource: &Resource, value: &Value) -> Vec<MetaChange> {
    let mut all = Vec::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        let Some(declared) = resource.declared.meta.get(key) else { continue };
        let values: Vec<Arc<str>> = match (declared.single, value) {
            (_, Value::Null) => Vec::new(),
            (true, value) => vec![value.to_string().into()],
            (false, Value::Array(list)) => list.iter().map(|v| v.to_string().into()).collect(),
            (false, value) => vec![value.to_string().into()],
        };
        all.push(MetaChange::Key(name(key), values));
    }
    all
}

/// The registered meta values that a request gives.
pub fn given_meta(edit: &RowEdit<'_>) -> Vec<MetaChange> {
    let properties = edit.resource.properties.iter().filter(|property| matches!(property.source, PropertySource::Meta));
    let given = properties.filter_map(|property| edit.args.explicit(&property.name));
    given.flat_map(|value| meta(edit.resource, value)).collect()
}

/// The targets of a relation that exist: as they were given, terms by name.
///
/// # Errors
/// One of them does not exist, where the declaration requires that.
pub fn related(edit: &RowEdit<'_>, property: &Property, index: usize, value: &Value) -> Result<Vec<i64>, ApiError> {
    let relation = &edit.resource.relations[index];
    let target = &edit.scope.registry.resources[relation.to];
    let given = value.as_array().into_iter().flatten().filter_map(Value::as_i64).map(i64::saturating_abs);
    let mut wanted: Vec<i64> = given.collect::<IndexSet<i64>>().into_iter().collect();
    if wanted.is_empty() {
        return Ok(wanted);
    }
    let seen = seen_or_linked(edit, property, relation, target)?;
    let filter = Cond::All(vec![records::own_rows(target), is_in(&target.key, wanted.iter().copied()), seen]);
    let mut plan = columns(&target.table, &[&target.key], filter);
    if target.is_taxonomy() {
        plan.order = vec![Order::Column(name(term::NAME_KEY), false)];
    }
    let found: IndexSet<i64> = edit.scope.snapshot()?.rows_as(&plan)?;
    if target.is_taxonomy() {
        return Ok(found.into_iter().collect());
    }
    let exists = |id: &i64| found.contains(id);
    if relation.check
        && let Some(missing) = wanted.iter().find(|id| !exists(id))
    {
        let message = format!("There is no item {missing} in {}.", target.name);
        return Err(ApiError::invalid_one(&property.name, message));
    }
    wanted.retain(exists);
    Ok(wanted)
}

/// Most items to which the keys of one relation inside a value lead.
const MOST_INSIDE: usize = 1000;

/// The rows exist to which the keys inside a value lead.
///
/// # Errors
/// As [`related`], and there are more than [`MOST_INSIDE`].
pub fn check_inside(edit: &RowEdit<'_>, property: &Property, value: &Value) -> Result<(), ApiError> {
    for index in &property.inner_relations {
        let relation = &edit.resource.relations[*index];
        let Some(keys) = relation.inner_keys() else { continue };
        let keys = keys.of(value);
        if keys.len() > MOST_INSIDE {
            let message = format!("`{}` names more than {MOST_INSIDE} items.", relation.property);
            return Err(ApiError::invalid_one(&property.name, message));
        }
        related(edit, property, *index, &json!(keys))?;
    }
    Ok(())
}

/// The rows that a relation may lead to: those that the caller may not read count as absent, unless they are linked
/// already. Terms are not hidden, and users not from those who name them.
fn seen_or_linked(
    edit: &RowEdit<'_>,
    property: &Property,
    relation: &Relation,
    target: &Resource,
) -> Result<Cond, ApiError> {
    if matches!(target.family, Family::Term | Family::User) {
        return Ok(records::always());
    }
    let linked = match edit.record() {
        Some(record) if !relation.is_column() => {
            let edges = EdgePlan { rels: vec![relation.rel.clone()], of: vec![record.id()], reverse: false };
            edit.scope.snapshot()?.edges(&edges)?.into_iter().map(|edge| edge.dst).collect()
        }
        Some(record) => vec![record.int(property.column.as_deref().unwrap_or(&property.name))],
        None => Vec::new(),
    };
    Ok(Cond::Any(vec![policy::visible(edit.scope, target), is_in(&target.key, linked)]))
}

/// The target of a relation in a column exists, or the relation is empty.
///
/// # Errors
/// It names what does not exist, and the declaration requires that.
pub fn check_reference(edit: &RowEdit<'_>, property: &Property, value: &DbValue) -> Result<(), ApiError> {
    let Some(relation) = edit.resource.relations.iter().find(|r| r.property == property.name && r.is_column()) else {
        return Ok(());
    };
    let target = &edit.scope.registry.resources[relation.to];
    let missing = match value {
        DbValue::Null | DbValue::Int(0) => false,
        value => {
            let seen = seen_or_linked(edit, property, relation, target)?;
            let own = Cond::Compare(name(&target.key), Op::Eq, value.clone());
            let plan = columns(&target.table, &[&target.key], Cond::All(vec![records::own_rows(target), own, seen]));
            edit.scope.snapshot()?.rows(&plan)?.is_empty()
        }
    };
    match relation.missing {
        _ if !(relation.check && missing) => Ok(()),
        Some(code) => Err(failure(edit.resource, code)),
        None => Err(ApiError::invalid_one(&property.name, format!("There is no such item in {}.", target.name))),
    }
}
