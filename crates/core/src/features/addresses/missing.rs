//! Addresses that were requested and that nothing has: how often on which day, so that editors see which need a redirect.

use super::pattern::exact_key;
use super::requested::RequestedAddress;
use crate::error::ApiError;
use crate::handlers::{Usage, Work};
use crate::records::{self, Record, txt};
use crate::registry::Registry;
use crate::registry::columns::missing_address as col;
use crate::registry::resource::Resource;
use cms_storage::plan::{Change, Cond, DbValue, Input, Order, Put, ReadPlan, Target};
use cms_text::time::format_local;
use serde_json::{Value, json};

/// Bytes of a path that is counted; longer ones are not what a link of old has.
const LONGEST: usize = 500;

/// Addresses that are kept. Another one takes the place of the one that was requested least, and longest ago.
const MOST_KEPT: u64 = 10_000;

/// Days of an address that are kept.
const MOST_DAYS: usize = 30;

/// The resource with these addresses.
pub fn resource(registry: &Registry) -> Option<&Resource> {
    registry.resource(registry.declaration.addresses.missing.get()?)
}

/// Counts a request for addresses that nothing has. Now and then the counts are written.
pub async fn count(work: &Work<'_>, requested: impl Iterator<Item = &RequestedAddress>) {
    let Some(resource) = resource(&work.scope.registry) else { return };
    let paths =
        requested.filter(|requested| requested.path.len() <= LONGEST).map(|requested| exact_key(&requested.path));
    let paths: Vec<String> = paths.collect();
    if paths.is_empty() {
        return;
    }
    let counted = work.shared.missing.count(paths, work.scope.now);
    if !counted.is_empty() {
        super::record(work, "addresses that were not found", changes(work, resource, counted)).await;
    }
}

/// The change that takes an address off the list, by the key of its path.
pub fn answered(registry: &Registry, key: &str) -> Option<Change> {
    let resource = resource(registry)?;
    let filter = records::eq(&resource.plan_column(col::PATH)?, txt(key));
    Some(Change::RemoveWhere { table: resource.table.clone(), filter })
}

/// The changes that record the counts of these paths.
fn changes(work: &Work<'_>, resource: &Resource, counted: Vec<(String, Usage)>) -> Result<Vec<Change>, ApiError> {
    let snapshot = work.scope.snapshot()?;
    let [Some(path), Some(hits), Some(last), Some(days)] = col::ALL.map(|column| resource.plan_column(column)) else {
        return Ok(Vec::new());
    };
    let wanted = counted.iter().map(|(path, _)| txt(path)).collect();
    let rows = snapshot.rows(&records::plan(resource, Cond::In(path.clone(), wanted)))?;
    let known = |path: &str| rows.iter().map(|row| Record { resource, row }).find(|row| row.text(col::PATH) == path);
    let mut changes = Vec::new();
    let mut new = 0;
    for (text, usage) in counted {
        let known = known(&text);
        let mut set = vec![
            (hits.clone(), known.map_or(Input::Value(DbValue::Int(usage.count)), |_| Input::Add(usage.count))),
            (last.clone(), Input::Value(DbValue::Int(usage.last))),
            (days.clone(), Input::Value(txt(&with_day(known.map_or("", |known| known.text(col::DAYS)), usage)))),
        ];
        let target = match known {
            Some(known) => Target::Existing { key: DbValue::Int(known.id()), expect: None },
            None => {
                new += 1;
                set.push((path.clone(), Input::Value(txt(&text))));
                Target::New
            }
        };
        changes.push(Change::Put(Put::new(resource.table.clone(), target, set)));
    }
    let all = records::plan(resource, records::always());
    let surplus = (snapshot.count(&all)? + new).saturating_sub(MOST_KEPT).min(new);
    if surplus > 0 {
        let order = vec![Order::Column(hits, false), Order::Column(last, false)];
        let least = snapshot.rows(&ReadPlan { order, limit: Some(surplus), ..all })?;
        let gone = least.iter().map(|row| DbValue::Int(Record { resource, row }.id()));
        changes.extend(gone.map(|key| Change::Remove { table: resource.table.clone(), key, expect: None }));
    }
    Ok(changes)
}

/// The counts of the days, newest first, with those of the last use added.
fn with_day(days: &str, usage: Usage) -> String {
    let mut days: Vec<Value> = serde_json::from_str(days).unwrap_or_default();
    let day = &format_local(usage.last)[..10];
    match days.first_mut().filter(|newest| newest["day"] == day) {
        Some(newest) => newest["hits"] = json!(newest["hits"].as_i64().unwrap_or(0) + usage.count),
        None => days.insert(0, json!({"day": day, "hits": usage.count})),
    }
    days.truncate(MOST_DAYS);
    Value::Array(days).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_and_bounded() {
        let day = 86_400;
        let used = |count, last| Usage { count, last };
        let mut days = with_day("", used(2, day));
        days = with_day(&days, used(3, day + 5));
        assert_eq!(days, r#"[{"day":"1970-01-02","hits":5}]"#);
        days = with_day(&days, used(1, 2 * day));
        assert_eq!(days, r#"[{"day":"1970-01-03","hits":1},{"day":"1970-01-02","hits":5}]"#);
        for at in 3..100 {
            days = with_day(&days, used(1, at * day));
        }
        let kept: Vec<Value> = serde_json::from_str(&days).expect("JSON");
        assert_eq!(kept.len(), MOST_DAYS);
    }
}
