//! Who has which record open. One request says what a window of the console has open, and asks who else does.
//!
//! Nothing is locked: two people who write the same record see each other. An entry that is not repeated ends by
//! itself. A window asks every 20 seconds, and its entry is written once in a minute; it is in the database, so that it is
//! the same on every node.

use crate::access::{self, GuardInput, LoadedRows};
use crate::error::ApiError;
use crate::families;
use crate::handlers::{Outcome, Work};
use crate::records::{Record, columns, eq, int, is_in, ordered, path_key, text, txt, words};
use crate::registry::resource::Resource;
use crate::registry::{name, views};
use crate::request::BodyParams;
use crate::request::args::{ArgSources, ArgValues};
use cms_storage::plan::{Change, Cond, DbValue, Input, Op, Put, ReadPlan, Row, Target, WritePlan};
use cms_text::time::format_local;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const TABLE: &str = "presence";
const COLUMNS: [&str; 6] = ["key", "user", "item", "since", "taken", "expires"];

/// Seconds after which an entry that is not repeated ends.
const LIFETIME: i64 = 90;
/// Seconds before its end when an entry is written again.
const MARGIN: i64 = 30;
/// Entries of one user; the oldest gives way.
const MOST_OF_USER: u64 = 50;
/// Entries that one response shows.
const MOST_SHOWN: u64 = 200;

/// An entry of the table.
struct PresenceEntry<'r> {
    key: &'r str,
    user: i64,
    item: &'r str,
    since: i64,
    /// When its window has taken the record over; 0: it has not.
    taken: i64,
    expires: i64,
}

impl<'r> PresenceEntry<'r> {
    fn of(row: &'r Row) -> PresenceEntry<'r> {
        let [user, since, taken, expires] = [1, 3, 4, 5].map(|place| int(&row[place]));
        PresenceEntry { key: text(&row[0]), user, item: text(&row[2]), since, taken, expires }
    }
}

/// Notes what the window has open, and responds with who else has it, and the records of its list, open.
///
/// # Errors
/// There is no such resource, or the caller may not edit the record; the database cannot be read or written.
pub async fn presence(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let (scope, args) = (work.scope, work.allowed.args());
    let named = args.text("resource").unwrap_or_default();
    let resource = scope.registry.resource(named);
    let resource = resource.ok_or_else(|| ApiError::invalid_one("resource", "There is no such resource."))?;
    let item = match args.text("item").unwrap_or_default() {
        "" => None,
        item => {
            let item = editable(work, resource, item);
            Some(item.ok_or_else(|| ApiError::invalid_one("item", "There is no such record that you may edit."))?)
        }
    };
    // Nobody can use a name that is another user's.
    let key = format!("{}-{}", scope.principal.id, args.text("tab").unwrap_or_default());
    let rows = entries(work, resource, item.as_deref(), &key)?;
    let entries: Vec<PresenceEntry<'_>> = rows.iter().map(PresenceEntry::of).collect();
    let own = entries.iter().find(|entry| entry.key == key);
    let take = args.get("take") == Some(&Value::Bool(true));
    let changes = match &item {
        Some(item) => opened(work, resource, item, (&key, own, take))?,
        None => own.map(|_| removed(&key)).into_iter().collect(),
    };
    if !changes.is_empty() {
        let done = work.commit(WritePlan::new(changes)).await;
        done.map_err(|error| families::commit_failure(scope, error))?;
    }
    let began = own.filter(|own| Some(own.item) == item.as_deref() && !take).map(|own| own.since.max(own.taken));
    let others: Vec<&PresenceEntry<'_>> = entries.iter().filter(|entry| entry.key != key).collect();
    let on_item = || others.iter().filter(|entry| Some(entry.item) == item.as_deref());
    let last = on_item().max_by_key(|entry| entry.taken);
    let taken_by = last.filter(|last| began.is_some_and(|began| last.taken > began)).map(|last| last.user);
    let document = json!({"others": shown(work, resource, &others, item.as_deref())?, "taken_by": taken_by});
    Ok(Outcome { private: true, ..Outcome::ok(document) })
}

/// The record as its path names it; `None` where there is none that the caller may edit.
fn editable(work: &Work<'_>, resource: &Resource, item: &str) -> Option<String> {
    let scope = work.scope;
    let (route, endpoint) = views::endpoint(&scope.registry, resource, "update")?;
    let [parameter] = &route.captures[..] else { return None };
    let (body, query) = (BodyParams::None, Map::new());
    let path = Map::from_iter([(parameter.clone(), json!(item))]);
    let sources = ArgSources { path: &path, body: &body, query: &query };
    let args = ArgValues::parse_lenient(&endpoint.args, &sources, None);
    let method = *endpoint.methods.first()?;
    let (args, sources, loaded) = (&&args, &sources, &LoadedRows::default());
    let input = GuardInput { scope, route, endpoint, method, args, sources, loaded, given: None, explains: false };
    let row = access::ask(&input).ok()?.target?;
    Some(path_key(&scope.registry, Record { resource, row: &row }))
}

/// The window's own entry, and those of the records that it asks for.
fn entries(work: &Work<'_>, resource: &Resource, item: Option<&str>, key: &str) -> Result<Vec<Row>, ApiError> {
    let listed = work.allowed.args().get("items").and_then(Value::as_array).into_iter().flatten();
    let items = listed.filter_map(Value::as_str).chain(item);
    let asked = Cond::All(vec![
        eq("resource", txt(&resource.name)),
        words("item", items),
        Cond::Compare(name("expires"), Op::Gt, DbValue::Int(work.scope.now)),
    ]);
    let plan = ordered(columns(TABLE, &COLUMNS, asked), "since", false);
    let snapshot = work.scope.snapshot()?;
    let mut rows = snapshot.rows(&ReadPlan { limit: Some(MOST_SHOWN), ..plan })?;
    if !rows.iter().any(|row| text(&row[0]) == key) {
        rows.extend(snapshot.rows(&columns(TABLE, &COLUMNS, eq("key", txt(key))))?);
    }
    Ok(rows)
}

/// The changes for a window that has a record open; none where its entry is valid for some time to come.
fn opened(
    work: &Work<'_>,
    resource: &Resource,
    item: &str,
    (key, own, take): (&str, Option<&PresenceEntry<'_>>, bool),
) -> Result<Vec<Change>, ApiError> {
    let (now, user) = (work.scope.now, work.scope.principal.id);
    let same = own.filter(|own| own.item == item && own.expires > now);
    if same.is_some_and(|own| own.expires - now > MARGIN) && !take {
        return Ok(Vec::new());
    }
    let before = Cond::Compare(name("expires"), Op::Le, DbValue::Int(now));
    let mut changes = vec![Change::RemoveWhere { table: name(TABLE), filter: before }, removed(key)];
    if own.is_none() {
        changes.extend(oldest(work, user)?);
    }
    let taken = if take { now } else { same.map_or(0, |own| own.taken) };
    let values = [
        ("user", DbValue::Int(user)),
        ("resource", txt(&resource.name)),
        ("item", txt(item)),
        ("since", DbValue::Int(same.map_or(now, |own| own.since))),
        ("taken", DbValue::Int(taken)),
        ("expires", DbValue::Int(now + LIFETIME)),
    ];
    let set = values.into_iter().map(|(column, value)| (name(column), Input::Value(value))).collect();
    changes.push(Change::Put(Put::new(name(TABLE), Target::Keyed(txt(key)), set)));
    Ok(changes)
}

fn removed(key: &str) -> Change {
    Change::RemoveWhere { table: name(TABLE), filter: eq("key", txt(key)) }
}

/// Makes room for another entry of the user.
fn oldest(work: &Work<'_>, user: i64) -> Result<Option<Change>, ApiError> {
    let own = || eq("user", DbValue::Int(user));
    let newest = ordered(columns(TABLE, &["expires"], own()), "expires", true);
    let plan = ReadPlan { offset: MOST_OF_USER - 1, limit: Some(1), ..newest };
    let last = work.scope.snapshot()?.rows(&plan)?.first().map(|row| row[0].clone());
    Ok(last.map(|last| {
        let old = Cond::Compare(name("expires"), Op::Le, last);
        Change::RemoveWhere { table: name(TABLE), filter: Cond::All(vec![own(), old]) }
    }))
}

/// The entries of records that the caller may edit, each user once for each record.
fn shown(
    work: &Work<'_>,
    resource: &Resource,
    others: &[&PresenceEntry<'_>],
    open: Option<&str>,
) -> Result<Vec<Value>, ApiError> {
    let mut may_edit: BTreeMap<&str, bool> = open.map(|item| (item, true)).into_iter().collect();
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    for entry in others {
        let may = *may_edit.entry(entry.item).or_insert_with(|| editable(work, resource, entry.item).is_some());
        if may && seen.insert((entry.item, entry.user)) {
            kept.push(entry);
        }
    }
    let users = work.scope.registry.users().map_or("", |users| &users.table);
    let wanted = columns(users, &["id", "name"], is_in("id", kept.iter().map(|entry| entry.user)));
    let named = if kept.is_empty() { Vec::new() } else { work.scope.snapshot()?.rows(&wanted)? };
    let name_of = |id: i64| named.iter().find(|row| int(&row[0]) == id).map_or("", |row| text(&row[1]));
    let document = |entry: &&&PresenceEntry<'_>| {
        let since = format!("{}Z", format_local(entry.since));
        json!({"item": entry.item, "user": entry.user, "name": name_of(entry.user), "since": since})
    };
    Ok(kept.iter().map(document).collect())
}
