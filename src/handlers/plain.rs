//! Writes of resources whose rows are their properties and nothing more.

use super::{Refusal, Work};
use crate::access::{failure, policy};
use crate::args::Checked;
use crate::behaviours::{WRITES, WriteContext, default_write};
use crate::config::declaration::Family;
use crate::error::{ApiError, Code};
use crate::records::{self, Record, among, columns, txt};
use crate::registry::resource::{OnDelete, Property, Relation, Resource, Source};
use crate::registry::{Registry, name};
use crate::storage::plan::{
    Change, Cond, DbValue, EdgePlan, Input, Name, Op, Order, Put, SlugClaim, Target, WritePlan,
};
use crate::text::slug;
use indexmap::IndexSet;
use serde_json::Value;
use std::sync::Arc;

/// Inserts a row.
///
/// # Errors
/// A relation to nothing, a value that must be unique and is taken.
pub async fn create(work: &Work<'_>, resource: &Resource) -> Result<DbValue, ApiError> {
    let mut put = put(work, resource, Target::New)?;
    if resource.key_is_text {
        let key = work.allowed.args().text(&resource.key).map_or_else(new_key, str::to_owned);
        put.target = Target::Keyed(records::txt(&key));
    }
    if let Some(owner) = &resource.declared.owner
        && !put.set.iter().any(|(column, _)| **column == **owner)
    {
        put.set.push((name(owner), Input::Value(DbValue::Int(work.scope.principal.id))));
    }
    put.slug = put.slug.or_else(|| slug_from_title(resource, work.allowed.args()));
    let plan = WritePlan { changes: vec![Change::Put(put)] };
    let done = work.commit(plan).await.map_err(|refusal| answer(work, resource, refusal))?;
    done.puts.into_iter().next().map(|put| put.key).ok_or_else(|| ApiError::new(Code::Internal))
}

/// Changes a row.
///
/// # Errors
/// As [`create`].
pub async fn update(work: &Work<'_>, resource: &Resource, row: &crate::storage::plan::Row) -> Result<DbValue, Refusal> {
    let record = Record { resource, row };
    let key = record.value(&resource.key).clone();
    let target = Target::Existing { key: key.clone(), expect: Some(record.int("version")) };
    let put = put(work, resource, target)?;
    work.carry_out(vec![Change::Put(put)], |refusal| answer(work, resource, refusal)).await?;
    Ok(key)
}

/// Deletes a row, with what the declarations say of those that point to it.
///
/// # Errors
/// Another row points to it and its relation refuses.
pub async fn remove(work: &Work<'_>, resource: &Resource, row: &crate::storage::plan::Row) -> Result<DbValue, Refusal> {
    let record = Record { resource, row };
    let key = record.value(&resource.key).clone();
    let mut changes = pointing(&work.scope.registry, resource, &key);
    changes.push(Change::Remove {
        table: resource.table.clone(),
        key: key.clone(),
        expect: Some(record.int("version")),
    });
    work.carry_out(changes, |refusal| answer(work, resource, refusal)).await?;
    Ok(key)
}

/// What happens to rows of other resources that point to a row that goes.
pub fn pointing(registry: &Registry, resource: &Resource, key: &DbValue) -> Vec<Change> {
    let mut changes = Vec::new();
    let DbValue::Int(id) = key else { return changes };
    for other in &registry.resources {
        if let Some(reference) = &other.declared.reference {
            let class = if resource.family == Family::Term { &reference.term } else { &reference.record };
            if let Some((column, number)) = other.plan_column(&reference.class).zip(other.plan_column(&reference.id)) {
                let same = vec![
                    records::own_rows(other),
                    Cond::Compare(column, Op::Eq, txt(class)),
                    Cond::Compare(number, Op::Eq, DbValue::Int(*id)),
                ];
                changes.push(Change::RemoveWhere { table: other.table.clone(), filter: Cond::All(same) });
            }
        }
        for relation in other.relations.iter().filter(|r| r.to == resource.index) {
            let points = if relation.many {
                Cond::Linked { rel: relation.rel.clone(), dst: vec![*id] }
            } else {
                let Some(column) = other.plan_column(&relation.property) else { continue };
                Cond::Compare(column, Op::Eq, DbValue::Int(*id))
            };
            let filter = Cond::All(vec![records::own_rows(other), points]);
            match (relation.on_delete, relation.many) {
                (OnDelete::Refuse, _) => {
                    let plan = columns(&other.table, &[&other.key], filter);
                    changes.push(Change::Require { plan, found: false, tag: "pointed_to" });
                }
                (OnDelete::Cascade, _) => changes.push(Change::RemoveWhere { table: other.table.clone(), filter }),
                (OnDelete::Clear | OnDelete::Reassign, true) => {
                    changes.push(Change::Unlink { rel: relation.rel.clone(), dst: *id, instead: None });
                }
                (OnDelete::Clear | OnDelete::Reassign, false) => changes.push(Change::UpdateWhere {
                    table: other.table.clone(),
                    filter,
                    set: vec![(name(&relation.property), DbValue::Int(0))],
                }),
            }
        }
    }
    // Edges last: they are counted in the row that goes, and what looks rows up writes the counts down, which raises the
    // version that the deletion expects.
    changes.sort_by_key(|change| matches!(change, Change::Unlink { .. }));
    changes
}

/// A random key for a resource whose keys are texts.
fn new_key() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The columns, relations and slug that the arguments set.
fn put(work: &Work<'_>, resource: &Resource, target: Target) -> Result<Put, ApiError> {
    let mut put = Put {
        table: resource.table.clone(),
        target,
        set: Vec::new(),
        slug: None,
        edges: Vec::new(),
        meta: Vec::new(),
        revision: None,
    };
    let args = work.allowed.args();
    let creating = !matches!(put.target, Target::Existing { .. });
    for property in resource.properties.iter().filter(|p| !p.readonly && *p.name != *resource.key) {
        let value = if creating { args.get(&property.name) } else { args.given(&property.name) };
        let Some(value) = value else { continue };
        match &property.source {
            Source::Relation(index) => {
                let relation = &resource.relations[*index];
                let ids = related(work, resource, property, *index, value)?;
                put.edges.push((relation.rel.clone(), ids));
            }
            _ => {
                let Some((column, value)) = stored(work, resource, property, value)? else { continue };
                check_reference(work, resource, property, &value)?;
                if &*column == "slug" {
                    put.slug = Some(claim(resource, records::text(&value)));
                } else {
                    put.set.push((column, Input::Value(value)));
                }
            }
        }
    }
    Ok(put)
}

/// The column and value that an argument is stored as.
///
/// # Errors
/// The property's write behaviour.
pub fn stored(
    work: &Work<'_>,
    resource: &Resource,
    property: &Property,
    value: &Value,
) -> Result<Option<(Name, DbValue)>, ApiError> {
    let writable = match &property.source {
        // The text that people write stands in the object's `raw`.
        Source::Object(children) => children.iter().find(|c| c.column.is_some() && !c.readonly),
        _ => Some(property),
    };
    let Some(writable) = writable else { return Ok(None) };
    let Some(column) = &writable.column else { return Ok(None) };
    let behaviour = property.write.or(writable.write);
    let value = match behaviour {
        Some(behaviour) => WRITES[behaviour.0].1(&WriteContext { scope: work.scope, resource, property }, value)?,
        None => default_write(work.scope, writable, value),
    };
    Ok(Some((column.clone(), value)))
}

/// The targets of a relation that exist: as they were given, terms by their names.
///
/// # Errors
/// One of them does not, where the declaration wants them checked.
pub fn related(
    work: &Work<'_>,
    resource: &Resource,
    property: &Property,
    index: usize,
    value: &Value,
) -> Result<Vec<i64>, ApiError> {
    let relation = &resource.relations[index];
    let target = &work.scope.registry.resources[relation.to];
    let given = value.as_array().into_iter().flatten().filter_map(Value::as_i64).map(i64::saturating_abs);
    let mut wanted: Vec<i64> = given.collect::<IndexSet<i64>>().into_iter().collect();
    if wanted.is_empty() {
        return Ok(wanted);
    }
    let seen = seen_or_linked(work, resource, property, relation, target)?;
    let filter = Cond::All(vec![records::own_rows(target), among(&target.key, wanted.iter().copied()), seen]);
    let mut plan = columns(&target.table, &[&target.key], filter);
    if target.family == Family::Term {
        plan.order = vec![Order::Column(name("name_key"), false)];
    }
    let rows = work.scope.snapshot()?.rows(&plan)?;
    let found: IndexSet<i64> = rows.iter().map(|row| records::int(&row[0])).collect();
    if target.family == Family::Term {
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

/// What a relation may lead to: records that the caller may not read are as if they were not there, unless they are
/// linked already. Other rows are not hidden.
fn seen_or_linked(
    work: &Work<'_>,
    resource: &Resource,
    property: &Property,
    relation: &Relation,
    target: &Resource,
) -> Result<Cond, ApiError> {
    if target.family != Family::Content {
        return Ok(records::everything());
    }
    let linked = match work.allowed.target() {
        Some(row) if relation.many => {
            let of = vec![Record { resource, row }.id()];
            let edges = EdgePlan { rels: vec![relation.rel.clone()], of, reverse: false };
            work.scope.snapshot()?.edges(&edges)?.into_iter().map(|edge| edge.dst).collect()
        }
        Some(row) => vec![Record { resource, row }.int(property.column.as_deref().unwrap_or(&property.name))],
        None => Vec::new(),
    };
    Ok(Cond::Any(vec![policy::visible(work.scope, target), among(&target.key, linked)]))
}

/// A relation kept in a column leads to something, or nowhere.
///
/// # Errors
/// It names what is not there, and the declaration wants that checked.
pub fn check_reference(
    work: &Work<'_>,
    resource: &Resource,
    property: &Property,
    value: &DbValue,
) -> Result<(), ApiError> {
    let Some(relation) = resource.relations.iter().find(|r| r.property == property.name && !r.many) else {
        return Ok(());
    };
    let missing = match value {
        DbValue::Null | DbValue::Int(0) => false,
        value => {
            let target = &work.scope.registry.resources[relation.to];
            let seen = seen_or_linked(work, resource, property, relation, target)?;
            let own = Cond::Compare(name(&target.key), Op::Eq, value.clone());
            let plan = columns(&target.table, &[&target.key], Cond::All(vec![records::own_rows(target), own, seen]));
            work.scope.snapshot()?.rows(&plan)?.is_empty()
        }
    };
    if relation.check
        && missing
        && let Some(code) = relation.missing
    {
        return Err(crate::access::failure(resource, code));
    }
    if relation.check && missing {
        let target = &work.scope.registry.resources[relation.to];
        return Err(ApiError::invalid_one(&property.name, format!("There is no such item in {}.", target.name)));
    }
    Ok(())
}

fn claim(resource: &Resource, wanted: &str) -> SlugClaim {
    SlugClaim {
        column: name("slug"),
        scope: Some(Arc::clone(&resource.kind)),
        candidates: vec![if wanted.is_empty() { SlugClaim::ID.into() } else { slug::sanitize_title(wanted).into() }],
        refuse: None,
    }
}

/// Resources with a slug and a title get the one from the other.
fn slug_from_title(resource: &Resource, args: &Checked) -> Option<SlugClaim> {
    resource.property("slug")?;
    let title = args.text("title").or_else(|| args.text("name")).unwrap_or("");
    Some(claim(resource, title))
}

fn answer(work: &Work<'_>, resource: &Resource, refusal: Refusal) -> ApiError {
    match refusal {
        Refusal::Error(error) => error,
        Refusal::Stale => failure(resource, Code::RecordInvalidId),
        Refusal::Rule { tag: "key_taken" | "duplicate", .. } => failure(resource, Code::DuplicateValue),
        Refusal::Rule { tag: "pointed_to", .. } => {
            failure(resource, Code::CannotDeleteStored).with_message("Other items point to this one.").with_status(409)
        }
        Refusal::Rule { tag, .. } => work.scope.internal(&format!("no answer for refusal {tag}")),
    }
}
