//! Redirects that editors have made: which one an address has, and how often each was used.

use super::pattern::{PathPattern, keys_of};
use super::requested::RequestedAddress;
use crate::error::{ApiError, status};
use crate::handlers::{Usage, Work};
use crate::records::{self, Record, is_in, txt};
use crate::registry::Registry;
use crate::registry::columns::redirect as col;
use crate::registry::resource::Resource;
use crate::scope::Scope;
use cms_storage::plan::{Change, Cond, DbValue, Input, Put, ReadPlan, Row, Target};
use std::collections::HashMap;

/// A redirect that an address has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    pub id: i64,
    pub status: u16,
    /// None: what was there is gone.
    pub location: Option<String>,
}

/// The resource with the redirects.
pub fn resource(registry: &Registry) -> Option<&Resource> {
    registry.resource(registry.declaration.addresses.redirects.get()?)
}

/// The redirects of these addresses, in one statement.
///
/// # Errors
/// The database cannot be read.
pub fn at_all(scope: &Scope, requested: &[RequestedAddress]) -> Result<Vec<Option<Redirect>>, ApiError> {
    let Some(resource) = resource(&scope.registry) else { return Ok(vec![None; requested.len()]) };
    let keys: Vec<Vec<String>> = requested.iter().map(|requested| keys_of(&requested.path)).collect();
    let wanted = keys.iter().flatten().map(|key| txt(key));
    let rows = with_keys(scope, resource, wanted.collect())?;
    let by_key: HashMap<&str, Record<'_>> =
        rows.iter().map(|row| Record { resource, row }).map(|record| (record.text(col::PATTERN), record)).collect();
    let one = |(requested, keys): (&RequestedAddress, Vec<String>)| {
        let record = keys.iter().find_map(|key| by_key.get(&**key))?;
        followed(&scope.registry, *record, requested)
    };
    Ok(requested.iter().zip(keys).map(one).collect())
}

/// The rows of redirects that are on and have one of these keys.
///
/// # Errors
/// The database cannot be read.
pub fn with_keys(scope: &Scope, resource: &Resource, keys: Vec<DbValue>) -> Result<Vec<Row>, ApiError> {
    let column = |name| resource.plan_column(name);
    let Some((pattern, enabled)) = column(col::PATTERN).zip(column(col::ENABLED)) else { return Ok(Vec::new()) };
    let on = records::eq(&enabled, DbValue::Int(1));
    let plan = records::plan(resource, records::all([Cond::In(pattern, keys), on]));
    Ok(scope.snapshot()?.rows(&plan)?)
}

/// Where a redirect leads from an address.
fn followed(registry: &Registry, record: Record<'_>, requested: &RequestedAddress) -> Option<Redirect> {
    let id = record.id();
    let status = u16::try_from(record.int(col::STATUS)).ok()?;
    if status == status::GONE {
        return Some(Redirect { id, status, location: None });
    }
    let pattern = PathPattern::parse(record.text(col::FROM)).ok()?;
    let target = pattern.filled(record.text(col::TO), &requested.path)?;
    let query = match requested.raw_query.is_empty() || target.contains('?') {
        true => String::new(),
        false => format!("?{}", requested.raw_query),
    };
    let base = if target.starts_with('/') { &*registry.site.front } else { "" };
    let (path, fragment) =
        target.split_once('#').map_or((&*target, String::new()), |(path, f)| (path, format!("#{f}")));
    Some(Redirect { id, status, location: Some(format!("{base}{path}{query}{fragment}")) })
}

/// Counts uses of redirects. Now and then they are written.
pub async fn count(work: &Work<'_>, redirects: impl Iterator<Item = &Redirect>) {
    let ids: Vec<i64> = redirects.map(|redirect| redirect.id).collect();
    let Some(resource) = resource(&work.scope.registry).filter(|_| !ids.is_empty()) else { return };
    let counted: HashMap<i64, Usage> = work.shared.redirects.count(ids, work.scope.now).into_iter().collect();
    if counted.is_empty() {
        return;
    }
    super::record(work, "the uses of redirects", changes(work.scope, resource, &counted)).await;
}

/// The changes that record uses. A redirect that is gone meanwhile has none.
fn changes(scope: &Scope, resource: &Resource, counted: &HashMap<i64, Usage>) -> Result<Vec<Change>, ApiError> {
    let Some((hits, last)) = resource.plan_column(col::HITS).zip(resource.plan_column(col::LAST_HIT)) else {
        return Ok(Vec::new());
    };
    let own = is_in(&resource.key, counted.keys().copied());
    let plan = ReadPlan { columns: vec![resource.key.clone()], ..records::plan(resource, own) };
    let there: Vec<i64> = scope.snapshot()?.rows_as(&plan)?;
    let put = |id: i64| {
        let usage = counted.get(&id)?;
        let set = vec![(hits.clone(), Input::Add(usage.count)), (last.clone(), Input::Value(DbValue::Int(usage.last)))];
        let target = Target::Existing { key: DbValue::Int(id), expect: None };
        Some(Change::Put(Put::new(resource.table.clone(), target, set)))
    };
    Ok(there.into_iter().filter_map(put).collect())
}
