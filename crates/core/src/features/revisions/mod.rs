//! Earlier states of records: revisions and autosaves of every kind that declares them.
//!
//! A create makes no revision, each update that changes something makes one, and keeps the state before it where no
//! revision holds that; one autosave per record and user. Autosaves are part of the history: they are listed and counted
//! with the revisions. An autosave is whole: members that a request does not name are as they were.

mod documents;
pub mod guard;

use self::documents::{RevisionFacts, document, links_to_record, show};
use crate::access::hints;
use crate::behaviours::READS;
use crate::error::{ApiError, Code, refuse_if};
use crate::families::content::RevisionContent;
use crate::families::failures;
use crate::families::{self, content};
use crate::handlers::lists::{PageWindow, paging_headers, words_within};
use crate::handlers::{Handler, Outcome, Work, handler, sync_handler};
use crate::records::{self, Record, eq, is_in, txt};
use crate::registry::args::ArgRole;
use crate::registry::columns::{ID, user};
use crate::registry::name;
use crate::registry::resource::{Context, Property, PropertySource};
use crate::registry::vocabulary::VIRTUAL;
use crate::registry::vocabulary::{BehaviourEntry, HandlerRole, ResponseKind};
use crate::render::address;
use crate::render::{Batch, Item};
use crate::scope::Scope;
use cms_storage::plan::{Change, Cond, DbValue, Input, Op, Order, Put, ReadPlan, RevisionPut, Row, Target, WritePlan};
use cms_storage::{TypedRow, typed_row};
use cms_text::fold;
use cms_text::time;
use serde_json::{Map, Value, json};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    sync_handler("revision.list", list, "Lists the revisions of a record.")
        .fails(&[
            Code::OriginalInvalid,
            Code::CannotRead,
            Code::NoSearchTerm,
            Code::OrderbyIncludeMissing,
            Code::PostInvalidParent,
            Code::RevisionInvalidOffset,
            Code::RevisionInvalidPageNumber,
        ])
        .responds(ResponseKind::Page)
        .on(VIRTUAL)
        .parent(),
    sync_handler("revision.get", get, "Responds with one revision of a record.")
        .fails(&[
            Code::OriginalInvalid,
            Code::CannotRead,
            Code::PostInvalidId,
            Code::PostInvalidParent,
            Code::RevisionParentMismatch,
        ])
        .on(VIRTUAL)
        .parent(),
    handler("revision.delete", |w| Box::pin(delete(w)), "Deletes a revision.")
        .fails(&[
            Code::PostInvalidParent,
            Code::OriginalInvalid,
            Code::CannotDelete,
            Code::PostInvalidId,
            Code::TrashNotSupported,
        ])
        .responds(ResponseKind::Deleted)
        .on(VIRTUAL)
        .parent(),
    sync_handler("autosave.list", autosaves, "Lists the autosaves of a record.")
        .fails(&[Code::PostInvalidParent, Code::OriginalInvalid, Code::CannotRead])
        .responds(ResponseKind::List)
        .on(VIRTUAL)
        .parent(),
    sync_handler("autosave.get", autosave, "Responds with one autosave of a record.")
        .fails(&[Code::PostInvalidParent, Code::OriginalInvalid, Code::CannotRead, Code::NoAutosave])
        .on(VIRTUAL)
        .parent(),
    handler(
        "autosave.create",
        |w| Box::pin(save(w)),
        "Stores an autosave; a draft of the caller's own is changed itself.",
    )
    .role(HandlerRole::Autosave)
    .fails(&[Code::AutosaveNoChanges])
    .fails_of(failures::UPDATE)
    .fails_at(failures::UPDATE_AT)
    .on(VIRTUAL)
    .item()
    .parent(),
];

typed_row! {
    "revision";
    /// A row of the history.
    struct RevisionRow {
        id: i64,
        of: i64,
        author: i64,
        /// UTC seconds.
        at: i64,
        autosave: bool,
        json: Arc<str>,
    }
}

/// Revisions whose texts are in memory at once while a search reads them.
const AT_ONCE: u64 = 8;

/// The revisions of a record.
///
/// # Errors
/// A page or offset beyond the end, an order that needs what the request does not bring.
pub fn list(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let (args, set) = (work.allowed.args(), &work.endpoint.args);
    let mut filter = vec![of(parent(work)?.id())];
    // A list of wanted values outranks a list of unwanted ones.
    match (numbers(work, "include"), numbers(work, "exclude")) {
        (wanted, _) if !wanted.is_empty() => filter.push(is_in("id", wanted)),
        (_, unwanted) if !unwanted.is_empty() => filter.push(Cond::Not(Box::new(is_in("id", unwanted)))),
        _ => {}
    }
    let snapshot = work.scope.snapshot()?;
    let mut plan = records::select::<RevisionRow>(Cond::All(filter));
    plan.order = order(work, &mut plan)?;
    let total = snapshot.count(&plan)?;
    let mut window = PageWindow::of(args, set);
    refuse_if(total > 0 && window.by_offset && window.offset >= total, Code::RevisionInvalidOffset)?;
    if args.get("per_page").is_none() {
        // Without a page size there is one page, and an offset means nothing.
        window.per_page = total.max(1);
        window.offset = if window.by_offset { 0 } else { (window.page - 1).saturating_mul(window.per_page) };
    }
    refuse_if(total > 0 && !window.by_offset && window.page > window.pages(total), Code::RevisionInvalidPageNumber)?;
    plan.limit = Some(window.per_page);
    plan.offset = window.offset;
    let rows: Vec<RevisionRow> = snapshot.rows_as(&plan)?;
    drop(snapshot);
    let documents: Vec<Value> = rows.iter().map(|row| document(work, row)).collect::<Result<_, _>>()?;
    let mut outcome = Outcome::ok(Value::Array(documents));
    paging_headers(work, &mut outcome, total, &window);
    Ok(outcome)
}

fn numbers(work: &Work<'_>, arg: &str) -> Vec<i64> {
    let list = work.allowed.args().get(arg).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_i64).map(i64::abs).collect()
}

/// The requested order. A search, and an order by texts, narrow the plan to the ids that they found.
fn order(work: &Work<'_>, plan: &mut ReadPlan) -> Result<Vec<Order>, ApiError> {
    let args = work.allowed.args();
    let descending = args.text("order") != Some("asc");
    let orderby = args.text("orderby").unwrap_or("date");
    let search = args.text("search").map(str::trim).filter(|t| !t.is_empty());
    refuse_if(orderby == "relevance" && search.is_none(), Code::NoSearchTerm)?;
    let mut found = Vec::new();
    if search.is_some() || orderby == "title" {
        found = by_texts(work, plan, search.unwrap_or(""))?;
        plan.filter = Cond::All(vec![plan.filter.clone(), is_in("id", found.iter().map(|f| f.id))]);
    }
    let column = |column: &str, descending| Order::Column(name(column), descending);
    let given =
        |found: &[RevisionMatch]| vec![Order::Given(name("id"), found.iter().map(|f| DbValue::Int(f.id)).collect())];
    Ok(match orderby {
        "id" => vec![column("id", descending)],
        "include" => {
            let ids = numbers(work, "include");
            refuse_if(ids.is_empty(), Code::OrderbyIncludeMissing)?;
            vec![Order::Given(name("id"), ids.into_iter().map(DbValue::Int).collect())]
        }
        // All slugs of a record's history contain `autosave` or `revision`.
        "slug" => vec![column("autosave", !descending), column("id", false)],
        "include_slugs" => vec![column("id", false)],
        "title" => {
            found.sort_by(|a, b| (&a.title, a.id).cmp(&(&b.title, b.id)));
            if descending {
                found.reverse();
            }
            given(&found)
        }
        "relevance" => {
            found.sort_by_key(|f| (f.rank, Reverse(f.at), f.id));
            given(&found)
        }
        _ => vec![column("at", descending), column("id", descending)],
    })
}

/// A revision whose texts hold what is searched for.
struct RevisionMatch {
    id: i64,
    at: i64,
    /// Folded.
    title: String,
    /// The lower, the better the title fits the search.
    rank: u8,
}

/// Reads the texts of a plan's rows; a few are in memory at a time.
fn by_texts(work: &Work<'_>, plan: &ReadPlan, search: &str) -> Result<Vec<RevisionMatch>, ApiError> {
    let phrase = fold(search).into_owned();
    let words = match work.endpoint.args.role(ArgRole::Search) {
        Some(arg) => words_within(arg, search)?,
        None => Vec::new(),
    };
    let words: Vec<(String, bool)> = words.into_iter().map(|w| (fold(&w.text).into_owned(), w.without)).collect();
    let snapshot = work.scope.snapshot()?;
    let mut found = Vec::new();
    let mut last = 0;
    loop {
        let rest = Cond::All(vec![plan.filter.clone(), Cond::Compare(name("id"), Op::Gt, DbValue::Int(last))]);
        let mut some = records::ordered(records::select::<RevisionRow>(rest), "id", false);
        some.limit = Some(AT_ONCE);
        let rows: Vec<RevisionRow> = snapshot.rows_as(&some)?;
        for row in &rows {
            last = row.id;
            let kept = row.content();
            let part = |part: &str| fold(kept.text(part)).into_owned();
            let (title, content, excerpt) = (part("title"), part("content"), part("excerpt"));
            let holds = |word: &str| title.contains(word) || content.contains(word) || excerpt.contains(word);
            if words.iter().all(|(word, without)| holds(word) != *without) {
                let wanted = || words.iter().filter(|(_, without)| !without);
                let rank = match () {
                    () if title.contains(&phrase) => 0,
                    () if wanted().all(|(word, _)| title.contains(word)) => 1,
                    () if wanted().any(|(word, _)| title.contains(word)) => 2,
                    () if excerpt.contains(&phrase) || content.contains(&phrase) => 3,
                    () => 4,
                };
                found.push(RevisionMatch { id: last, at: row.at, title, rank });
            }
        }
        if (rows.len() as u64) < AT_ONCE {
            return Ok(found);
        }
    }
}

/// One revision.
///
/// # Errors
/// There is none of this number, or it belongs to another record.
pub fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    alone(work, document(work, &wanted(work)?)?)
}

/// The revision that the path names.
fn wanted(work: &Work<'_>) -> Result<RevisionRow, ApiError> {
    let wanted = work.captures.get("id").and_then(|v| v.as_str()?.parse::<i64>().ok()).unwrap_or(0);
    let filter = Cond::All(vec![eq("space", txt("content")), eq("id", DbValue::Int(wanted))]);
    let found = records::first_of::<RevisionRow>(&*work.scope.snapshot()?, filter)?;
    let row = found.ok_or_else(|| ApiError::new(Code::PostInvalidId))?;
    refuse_if(row.of != parent(work)?.id(), Code::RevisionParentMismatch)?;
    Ok(row)
}

/// Deletes a revision for good.
///
/// # Errors
/// The request does not say `force`: there is no trash for revisions.
pub async fn delete(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let force = work.allowed.args().role(&work.endpoint.args, ArgRole::Force).and_then(Value::as_bool).unwrap_or(false);
    refuse_if(!force, Code::TrashNotSupported)?;
    let record = parent(work)?;
    let row = wanted(work)?;
    let mut previous = document(work, &row)?;
    if let Some(members) = previous.as_object_mut() {
        members.shift_remove("_links");
    }
    let own = Cond::All(vec![of(record.id()), eq("id", DbValue::Int(row.id))]);
    let removal = Change::RemoveWhere { table: name(RevisionRow::TABLE), filter: own };
    let done = work.commit(WritePlan::new(vec![removal, touched(record)])).await;
    done.map_err(|error| families::refusal(work.scope, record.resource, error))?;
    Ok(Outcome { reduced: false, ..Outcome::ok(json!({"deleted": true, "previous": previous})) })
}

/// Changes nothing but the version of a record: its links contain its history, so what shows them is out of date.
fn touched(record: Record<'_>) -> Change {
    let set = vec![(name(content::columns::PARENT), Input::Add(0))];
    let target = Target::Existing { key: record.value("id").clone(), expect: None };
    Change::Put(Put::new(record.resource.table.clone(), target, set))
}

/// The autosaves of a record, the newest first.
pub fn autosaves(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let rows = autosaved(work)?;
    Ok(Outcome::ok(Value::Array(rows.iter().map(|row| document(work, row)).collect::<Result<_, _>>()?)))
}

/// The newest autosave of the record, by whatever user and whatever id is given.
///
/// # Errors
/// There is none.
pub fn autosave(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let row = autosaved(work)?.into_iter().next().ok_or_else(|| ApiError::new(Code::NoAutosave))?;
    alone(work, document(work, &row)?)
}

/// The response with one document.
fn alone(work: &Work<'_>, document: Value) -> Result<Outcome, ApiError> {
    let linked = work.scope.registry.declaration.dialect.link_revisions && !work.fields.wants("_links");
    if !linked || document["parent"].as_i64().is_none_or(|id| id == 0) {
        return Ok(Outcome::ok(document));
    }
    let mut document = work.fields.select_single(document);
    if let Some(map) = document.as_object_mut() {
        map.insert("_links".into(), links_to_record(work)?);
    }
    Ok(Outcome { reduced: true, ..Outcome::ok(document) })
}

/// Autosaves of the record, the newest first.
fn autosaved(work: &Work<'_>) -> Result<Vec<RevisionRow>, ApiError> {
    let filter = Cond::All(vec![of(parent(work)?.id()), eq("autosave", DbValue::Int(1))]);
    let mut plan = records::select::<RevisionRow>(filter);
    plan.order = vec![Order::Column(name("at"), true), Order::Column(name("id"), true)];
    Ok(work.scope.snapshot()?.rows_as(&plan)?)
}

/// Stores an autosave, or changes the draft itself when it is the caller's own.
///
/// # Errors
/// As an update; an autosave that would change nothing any more is deleted.
pub async fn save(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let owner = work.owner()?;
    let row = work.target()?;
    let record = Record { resource: owner, row };
    let own = record.int("author") == work.scope.principal.id;
    if own && work.scope.registry.status_is(record.text("status"), |status| status.draft) {
        let written = crate::handlers::items::with_target(work, owner, async |row| {
            let record = Record { resource: owner, row };
            work.rewrite(record, content::overwriting(&work.edit(owner, Some(row))?, record)?).await
        })
        .await?;
        let row = crate::handlers::items::row_of(work, owner, &written)?;
        let past = RevisionFacts::present(work, Record { resource: owner, row: &row })?;
        return alone(work, show(work, &past, Context::EDIT)?);
    }
    let (edit, present) = (work.edit(owner, Some(row))?, RevisionContent::of(work.scope, record)?);
    let before = own_autosave(work)?;
    // Members that an autosave does not name are the last one's; the record's, where that was saved since.
    let last = before.as_ref().filter(|row| !row.is_older(record));
    let base = last.map_or_else(|| present.clone(), |row| row.content().completed(&present));
    let given = content::autosave(&edit, record, &base)?;
    if let Some(row) = before.as_ref().filter(|_| given.is_none()) {
        return alone(work, show(work, &RevisionFacts::of(work, record, row), Context::EDIT)?);
    }
    let content = given.unwrap_or(base);
    // Under that dialect what is given decides alone, whatever the last autosave has beside it.
    let compared = match work.scope.registry.declaration.dialect.revisions_of_texts {
        true => content::autosave(&edit, record, &present)?.unwrap_or_else(|| present.clone()),
        false => content.clone(),
    };
    if before.is_some() && compared.reads_as(&present) {
        commit(work, record, None).await?;
        return Err(ApiError::new(Code::AutosaveNoChanges));
    }
    commit(work, record, Some(content.json())).await?;
    let row = own_autosave(work)?.ok_or_else(|| ApiError::new(Code::Internal))?;
    alone(work, show(work, &RevisionFacts::of(work, record, &row), Context::EDIT)?)
}

/// Replaces the caller's autosave, or takes it away.
async fn commit(work: &Work<'_>, record: Record<'_>, json: Option<std::sync::Arc<str>>) -> Result<(), ApiError> {
    let author = work.scope.principal.id;
    let mut changes = Vec::new();
    if json.is_none() {
        let filter = autosave_of(record.id(), author);
        changes.push(Change::RemoveWhere { table: name(RevisionRow::TABLE), filter });
    }
    let at = work.scope.now;
    // Changes nothing but the version: the record's links contain its history, so what shows them is out of date.
    let set = vec![(name(content::columns::PARENT), Input::Add(0))];
    let target = Target::Existing { key: record.value("id").clone(), expect: None };
    changes.push(Change::Put(Put {
        revisions: json
            .map(|json| RevisionPut { author, at, autosave: true, json, keep: None, skip_same: false })
            .into_iter()
            .collect(),
        ..Put::new(record.resource.table.clone(), target, set)
    }));
    let done = work.commit(WritePlan::new(changes)).await;
    done.map(|_| ()).map_err(|error| families::refusal(work.scope, record.resource, error))
}

/// The content of a user's autosave of a record, where it is newer than the record.
pub fn pending(scope: &Scope, record: Record<'_>, user: i64) -> Result<Option<RevisionContent>, ApiError> {
    let found = records::first_of::<RevisionRow>(&*scope.snapshot()?, autosave_of(record.id(), user))?;
    Ok(found.filter(|row| !row.is_older(record)).map(|row| row.content()))
}

impl RevisionRow {
    /// Whether the record was saved after it.
    fn is_older(&self, record: Record<'_>) -> bool {
        self.at < record.int(content::columns::MODIFIED_UTC)
    }

    fn content(&self) -> RevisionContent {
        RevisionContent::parse(&self.json)
    }
}

fn own_autosave(work: &Work<'_>) -> Result<Option<RevisionRow>, ApiError> {
    let filter = autosave_of(parent(work)?.id(), work.scope.principal.id);
    Ok(records::first_of(&*work.scope.snapshot()?, filter)?)
}

fn of(record: i64) -> Cond {
    Cond::All(vec![eq("space", txt("content")), eq("of", DbValue::Int(record))])
}

fn autosave_of(record: i64, author: i64) -> Cond {
    Cond::All(vec![of(record), eq("autosave", DbValue::Int(1)), eq("author", DbValue::Int(author))])
}

fn parent<'a>(work: &'a Work<'_>) -> Result<Record<'a>, ApiError> {
    work.parent(work.owner()?)
}
