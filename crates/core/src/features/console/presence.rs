//! Who has which record open. One request says what a window of the console has open, and asks who else does.
//!
//! Nothing is locked: two people who write the same record see each other. An entry that is not repeated ends by
//! itself. A window asks every 30 seconds, and its entry is written once in a minute; it is in the database, so that it is
//! the same on every node. What happens meanwhile a window hears by a stream of events.

use crate::access::{self, GuardInput, LoadedRows};
use crate::error::ApiError;
use crate::features::events;
use crate::handlers::{Outcome, Work};
use crate::model::WatchedDocument;
use crate::records::{Record, columns, eq, first_by, first_of, is_in, ordered, path_key, select, set, txt, words};
use crate::registry::columns::{ID, presence as col, user};
use crate::registry::resource::Resource;
use crate::registry::{name, views};
use crate::request::BodyParams;
use crate::request::args::{ArgSources, ArgValues};
use cms_storage::plan::{Change, Cond, DbValue, Op, Put, ReadPlan, Target};
use cms_storage::typed_row;
use cms_text::time::format_local;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Seconds after which an entry that is not repeated ends.
const LIFETIME: i64 = 90;
/// Seconds before its end when an entry is written again.
const MARGIN: i64 = 30;
/// Entries of one user; the oldest gives way.
const MOST_OF_USER: u64 = 50;
/// Entries that one response shows.
const MOST_SHOWN: u64 = 200;

typed_row! {
    col::TABLE;
    /// An entry of the table.
    struct PresenceEntry {
        key: Arc<str>,
        user: i64,
        item: Arc<str>,
        since: i64,
        /// When its window has taken the record over; 0: it has not.
        taken: i64,
        expires: i64,
    }
}

/// A window that asks.
struct ConsoleWindow<'a> {
    resource: &'a Resource,
    /// The record that it has open.
    item: Option<String>,
    key: String,
    entries: Vec<PresenceEntry>,
}

/// Notes what the window has open, and responds with who else has it, and the records of its list, open.
///
/// # Errors
/// There is no such resource, or the caller may not edit the record; the database cannot be read or written.
pub async fn presence(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let window = ConsoleWindow::of(work)?;
    let take = work.allowed.args().get("take") == Some(&Value::Bool(true));
    let own = window.own();
    let changes = match &window.item {
        Some(item) => opened(work, window.resource, item, (&window.key, own, take))?,
        None => own.map(|_| removed(&window.key)).into_iter().collect(),
    };
    if !changes.is_empty() {
        work.write(changes).await?;
    }
    window.document(work, take)
}

/// The same without a note of what the window has open.
///
/// # Errors
/// As [`presence`].
pub fn others(work: &Work<'_>) -> Result<Outcome, ApiError> {
    ConsoleWindow::of(work)?.document(work, false)
}

/// Responds with a stream of events and, whenever it differs, of who else has the records open.
///
/// # Errors
/// There is no such resource, or no such state.
pub fn stream(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let args = work.allowed.args();
    let given = ["tab", "resource", "item", "items"].into_iter();
    let query = given.filter_map(|name| Some((name.to_owned(), args.explicit(name)?.clone()))).collect();
    // The stream is below the document.
    let path = work.path.rsplit_once('/').map_or("", |(path, _)| path).to_owned();
    events::opened(work, Some(WatchedDocument { event: "presence", path, query }))
}

impl<'a> ConsoleWindow<'a> {
    fn of(work: &Work<'a>) -> Result<ConsoleWindow<'a>, ApiError> {
        let (scope, args) = (work.scope, work.allowed.args());
        let resource = scope.registry.resource(args.text("resource").unwrap_or_default());
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
        let entries = entries(work, resource, item.as_deref(), &key)?;
        Ok(ConsoleWindow { resource, item, key, entries })
    }

    fn own(&self) -> Option<&PresenceEntry> {
        self.entries.iter().find(|entry| *entry.key == *self.key)
    }

    /// Who else has the records open, and who has taken the open one over.
    fn document(&self, work: &Work<'_>, takes: bool) -> Result<Outcome, ApiError> {
        let item = self.item.as_deref();
        let own = self.own().filter(|own| Some(&*own.item) == item && !takes);
        let began = own.map(|own| own.since.max(own.taken));
        let others: Vec<&PresenceEntry> = self.entries.iter().filter(|entry| *entry.key != *self.key).collect();
        let on_item = others.iter().filter(|entry| Some(&*entry.item) == item);
        let last = on_item.max_by_key(|entry| entry.taken);
        let taken_by = last.filter(|last| began.is_some_and(|began| last.taken > began)).map(|last| last.user);
        let document = json!({"others": shown(work, self.resource, &others, item)?, "taken_by": taken_by});
        Ok(Outcome { private: true, ..Outcome::ok(document) })
    }
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
fn entries(
    work: &Work<'_>,
    resource: &Resource,
    item: Option<&str>,
    key: &str,
) -> Result<Vec<PresenceEntry>, ApiError> {
    let listed = work.allowed.args().get("items").and_then(Value::as_array).into_iter().flatten();
    let items = listed.filter_map(Value::as_str).chain(item);
    let asked = Cond::All(vec![
        eq(col::RESOURCE, txt(&resource.name)),
        words(col::ITEM, items),
        Cond::Compare(name(col::EXPIRES), Op::Gt, DbValue::Int(work.scope.now)),
    ]);
    let plan = ordered(select::<PresenceEntry>(asked), col::SINCE, false);
    let snapshot = work.scope.snapshot()?;
    let mut entries: Vec<PresenceEntry> = snapshot.rows_as(&ReadPlan { limit: Some(MOST_SHOWN), ..plan })?;
    if !entries.iter().any(|entry| &*entry.key == key) {
        entries.extend(first_of::<PresenceEntry>(&*snapshot, eq(col::KEY, txt(key)))?);
    }
    let others = entries.iter().filter(|entry| &*entry.key != key);
    if let Some(first) = others.map(|entry| entry.expires).min() {
        work.scope.storage.limit_validity(first);
    }
    Ok(entries)
}

/// The changes for a window that has a record open; none where its entry is valid for some time to come.
fn opened(
    work: &Work<'_>,
    resource: &Resource,
    item: &str,
    (key, own, take): (&str, Option<&PresenceEntry>, bool),
) -> Result<Vec<Change>, ApiError> {
    let (now, user) = (work.scope.now, work.scope.principal.id);
    let same = own.filter(|own| &*own.item == item && own.expires > now);
    if same.is_some_and(|own| own.expires - now > MARGIN) && !take {
        return Ok(Vec::new());
    }
    let before = Cond::Compare(name(col::EXPIRES), Op::Le, DbValue::Int(now));
    let mut changes = vec![Change::RemoveWhere { table: name(col::TABLE), filter: before }, removed(key)];
    if own.is_none() {
        changes.extend(oldest(work, user)?);
    }
    let taken = if take { now } else { same.map_or(0, |own| own.taken) };
    let set = set([
        (col::USER, DbValue::Int(user)),
        (col::RESOURCE, txt(&resource.name)),
        (col::ITEM, txt(item)),
        (col::SINCE, DbValue::Int(same.map_or(now, |own| own.since))),
        (col::TAKEN, DbValue::Int(taken)),
        (col::EXPIRES, DbValue::Int(now + LIFETIME)),
    ]);
    changes.push(Change::Put(Put::new(col::TABLE, Target::Keyed(txt(key)), set)));
    Ok(changes)
}

fn removed(key: &str) -> Change {
    Change::RemoveWhere { table: name(col::TABLE), filter: eq(col::KEY, txt(key)) }
}

/// Makes room for another entry of the user.
fn oldest(work: &Work<'_>, user: i64) -> Result<Option<Change>, ApiError> {
    let own = || eq(col::USER, DbValue::Int(user));
    let newest = ordered(columns(col::TABLE, &[col::EXPIRES], own()), col::EXPIRES, true);
    let last = first_by(&*work.scope.snapshot()?, ReadPlan { offset: MOST_OF_USER - 1, ..newest })?;
    Ok(last.map(|last| {
        let old = Cond::Compare(name(col::EXPIRES), Op::Le, last);
        Change::RemoveWhere { table: name(col::TABLE), filter: Cond::All(vec![own(), old]) }
    }))
}

/// The entries of records that the caller may edit, each user once for each record.
fn shown(
    work: &Work<'_>,
    resource: &Resource,
    others: &[&PresenceEntry],
    open: Option<&str>,
) -> Result<Vec<Value>, ApiError> {
    let mut may_edit: BTreeMap<&str, bool> = open.map(|item| (item, true)).into_iter().collect();
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    for entry in others {
        let may = *may_edit.entry(&entry.item).or_insert_with(|| editable(work, resource, &entry.item).is_some());
        if may && seen.insert((&entry.item, entry.user)) {
            kept.push(entry);
        }
    }
    let mut names: HashMap<i64, Arc<str>> = HashMap::new();
    if !kept.is_empty() {
        let wanted = is_in(ID, kept.iter().map(|entry| entry.user));
        names = work.scope.snapshot()?.rows_as(&columns(user::TABLE, &[ID, user::NAME], wanted))?;
    }
    let document = |entry: &&&PresenceEntry| {
        let (name, since) = (names.get(&entry.user).map_or("", |name| name), format_local(entry.since));
        json!({"item": &*entry.item, "user": entry.user, "name": name, "since": format!("{since}Z")})
    };
    Ok(kept.iter().map(document).collect())
}
