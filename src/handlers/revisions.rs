//! What records were: revisions and autosaves of every kind that declares them.
//!
//! A create makes no revision, each update that changes something makes one, and keeps the state before it where no
//! revision holds that; one autosave per record and user. Autosaves are part of the history: they are listed and counted
//! with the revisions. An autosave is whole: what a request does not name is as it was.

use super::lists::{Window, paging_headers, words_within};
use super::{Outcome, Work};
use crate::access::hints;
use crate::behaviours::READS;
use crate::error::{ApiError, Code};
use crate::families::content::RevisionContent;
use crate::families::{self, content};
use crate::records::{self, Record, among, columns, eq, int, text, txt};
use crate::registry::args::Role;
use crate::registry::columns::{ID, user};
use crate::registry::name;
use crate::registry::resource::{Context, Property, Source};
use crate::render::address;
use crate::render::{Batch, Item};
use crate::scope::Scope;
use cms_storage::plan::{Change, Cond, DbValue, Input, Op, Order, Put, ReadPlan, RevisionPut, Row, Target, WritePlan};
use cms_text::fold;
use cms_text::time;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

const COLUMNS: &[&str] = &["id", "of", "author", "at", "autosave", "json"];

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
        (wanted, _) if !wanted.is_empty() => filter.push(among("id", wanted)),
        (_, unwanted) if !unwanted.is_empty() => filter.push(Cond::Not(Box::new(among("id", unwanted)))),
        _ => {}
    }
    let snapshot = work.scope.snapshot()?;
    let mut plan = columns("revision", COLUMNS, Cond::All(filter));
    plan.order = order(work, &mut plan)?;
    let total = snapshot.count(&plan)?;
    let mut window = Window::of(args, set);
    if total > 0 && window.by_offset && window.offset >= total {
        return Err(ApiError::new(Code::RevisionInvalidOffset));
    }
    if args.get("per_page").is_none() {
        // Without a page size there is one page, and an offset means nothing.
        window.per_page = total.max(1);
        window.offset = if window.by_offset { 0 } else { (window.page - 1).saturating_mul(window.per_page) };
    }
    if total > 0 && !window.by_offset && window.page > window.pages(total) {
        return Err(ApiError::new(Code::RevisionInvalidPageNumber));
    }
    plan.limit = Some(window.per_page);
    plan.offset = window.offset;
    let rows = snapshot.rows(&plan)?;
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
    if orderby == "relevance" && search.is_none() {
        return Err(ApiError::new(Code::NoSearchTerm));
    }
    let mut found = Vec::new();
    if search.is_some() || orderby == "title" {
        found = by_texts(work, plan, search.unwrap_or(""))?;
        plan.filter = Cond::All(vec![plan.filter.clone(), among("id", found.iter().map(|f| f.id))]);
    }
    let column = |column: &str, descending| Order::Column(name(column), descending);
    let given = |found: &[Found]| vec![Order::Given(name("id"), found.iter().map(|f| DbValue::Int(f.id)).collect())];
    Ok(match orderby {
        "id" => vec![column("id", descending)],
        "include" => {
            let ids = numbers(work, "include");
            if ids.is_empty() {
                return Err(ApiError::new(Code::OrderbyIncludeMissing));
            }
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
struct Found {
    id: i64,
    at: i64,
    /// Folded.
    title: String,
    /// The lower, the better the title fits the search.
    rank: u8,
}

/// Reads the texts of a plan's rows; a few are in memory at a time.
fn by_texts(work: &Work<'_>, plan: &ReadPlan, search: &str) -> Result<Vec<Found>, ApiError> {
    let phrase = fold(search).into_owned();
    let words = match work.endpoint.args.role(Role::Search) {
        Some(arg) => words_within(arg, search)?,
        None => Vec::new(),
    };
    let words: Vec<(String, bool)> = words.into_iter().map(|w| (fold(&w.text).into_owned(), w.without)).collect();
    let snapshot = work.scope.snapshot()?;
    let mut found = Vec::new();
    let mut last = 0;
    loop {
        let rest = Cond::All(vec![plan.filter.clone(), Cond::Compare(name("id"), Op::Gt, DbValue::Int(last))]);
        let mut some = records::ordered(columns("revision", COLUMNS, rest), "id", false);
        some.limit = Some(AT_ONCE);
        let rows = snapshot.rows(&some)?;
        for row in &rows {
            last = int(&row[0]);
            let kept = content_of(row);
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
                found.push(Found { id: last, at: int(&row[3]), title, rank });
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
fn wanted(work: &Work<'_>) -> Result<Row, ApiError> {
    let wanted = work.captures.get("id").and_then(|v| v.as_str()?.parse::<i64>().ok()).unwrap_or(0);
    let filter = Cond::All(vec![eq("space", txt("content")), eq("id", DbValue::Int(wanted))]);
    let found = records::first(&*work.scope.snapshot()?, "revision", COLUMNS, filter)?;
    let row = found.ok_or_else(|| ApiError::new(Code::PostInvalidId))?;
    if int(&row[1]) != parent(work)?.id() {
        return Err(ApiError::new(Code::RevisionParentMismatch));
    }
    Ok(row)
}

/// Deletes a revision for good.
///
/// # Errors
/// The request does not say `force`: there is no trash for revisions.
pub async fn delete(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let force = work.allowed.args().role(&work.endpoint.args, Role::Force).and_then(Value::as_bool).unwrap_or(false);
    if !force {
        return Err(ApiError::new(Code::TrashNotSupported));
    }
    let record = parent(work)?;
    let row = wanted(work)?;
    let mut previous = document(work, &row)?;
    if let Some(members) = previous.as_object_mut() {
        members.shift_remove("_links");
    }
    let own = Cond::All(vec![of(record.id()), eq("id", row[0].clone())]);
    let removal = Change::RemoveWhere { table: name("revision"), filter: own };
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
///
/// # Errors
/// The database cannot be read.
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
    let mut document = work.fields.keep_alone(document);
    if let Some(map) = document.as_object_mut() {
        map.insert("_links".into(), links(work)?);
    }
    Ok(Outcome { reduced: true, ..Outcome::ok(document) })
}

/// The links of a revision or autosave.
fn links(work: &Work<'_>) -> Result<Value, ApiError> {
    let path = records::path_key(&work.scope.registry, parent(work)?);
    let up = work.scope.registry.rest(&work.owner()?.item_path(&path));
    Ok(json!({"parent": [{"href": up}]}))
}

/// Autosaves of the record, the newest first.
fn autosaved(work: &Work<'_>) -> Result<Vec<Row>, ApiError> {
    let filter = Cond::All(vec![of(parent(work)?.id()), eq("autosave", DbValue::Int(1))]);
    let mut plan = columns("revision", COLUMNS, filter);
    plan.order = vec![Order::Column(name("at"), true), Order::Column(name("id"), true)];
    Ok(work.scope.snapshot()?.rows(&plan)?)
}

/// Stores an autosave, or changes the draft itself when it is the caller's own.
///
/// # Errors
/// As an update; an autosave that would change nothing any more is deleted.
pub async fn save(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let owner = work.owner()?;
    let row = work.allowed.target().ok_or_else(|| ApiError::new(Code::Internal))?;
    let record = Record { resource: owner, row };
    let own = record.int("author") == work.scope.principal.id;
    if own && work.scope.registry.status_is(record.text("status"), |status| status.draft) {
        let written = super::items::with_target(work, owner, async |row| {
            let record = Record { resource: owner, row };
            work.rewrite(record, content::overwriting(&work.edit(owner, Some(row)), record)?).await
        })
        .await?;
        let row = super::items::row_of(work, owner, &written)?;
        let past = RevisionFacts::present(work, Record { resource: owner, row: &row })?;
        return alone(work, show(work, &past, Context::EDIT)?);
    }
    let (edit, present) = (work.edit(owner, Some(row)), RevisionContent::of(work.scope, record)?);
    let before = own_autosave(work)?;
    // What an autosave does not name is as the last one has it; as the record has it, where that was saved since.
    let saved_since = |row: &&Row| int(&row[3]) < record.int(content::columns::MODIFIED_UTC);
    let last = before.as_ref().filter(|row| !saved_since(row));
    let base = last.map_or_else(|| present.clone(), |row| content_of(row).completed(&present));
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
        changes.push(Change::RemoveWhere { table: name("revision"), filter: autosave_of(record.id(), author) });
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

fn own_autosave(work: &Work<'_>) -> Result<Option<Row>, ApiError> {
    let filter = autosave_of(parent(work)?.id(), work.scope.principal.id);
    Ok(records::first(&*work.scope.snapshot()?, "revision", COLUMNS, filter)?)
}

fn of(record: i64) -> Cond {
    Cond::All(vec![eq("space", txt("content")), eq("of", DbValue::Int(record))])
}

fn autosave_of(record: i64, author: i64) -> Cond {
    Cond::All(vec![of(record), eq("autosave", DbValue::Int(1)), eq("author", DbValue::Int(author))])
}

fn parent<'a>(work: &'a Work<'_>) -> Result<Record<'a>, ApiError> {
    let row = work.allowed.parent().ok_or_else(|| ApiError::new(Code::Internal))?;
    Ok(Record { resource: work.owner()?, row })
}

fn content_of(row: &Row) -> RevisionContent {
    RevisionContent::parse(text(&row[5]))
}

// ------------------------------------------------------------------------------------------------ documents

/// The members of a document of the history beside the texts.
struct RevisionFacts {
    id: i64,
    parent: i64,
    author: i64,
    /// On the clock of the site, and UTC; none while the date floats.
    date: Option<(i64, i64)>,
    modified: (i64, i64),
    slug: String,
    guid: String,
    preview: String,
    /// What it holds.
    content: RevisionContent,
    /// The record as it was then.
    then: Row,
}

impl RevisionFacts {
    /// The members of a revision or an autosave.
    fn of(work: &Work<'_>, record: Record<'_>, row: &Row) -> RevisionFacts {
        let (id, of, utc) = (int(&row[0]), int(&row[1]), int(&row[3]));
        let at = (work.scope.settings.zone.utc_to_local(utc), utc);
        let content = content_of(row);
        let autosave = int(&row[4]) != 0;
        RevisionFacts {
            id,
            parent: of,
            author: int(&row[2]),
            date: Some(at),
            modified: at,
            slug: format!("{of}-{}-v1", if autosave { "autosave" } else { "revision" }),
            guid: format!("{}/?p={id}", work.scope.registry.site.url),
            preview: if autosave { preview(work, record, true) } else { String::new() },
            then: content.row(record),
            content,
        }
    }

    /// A draft that was changed in place describes itself.
    fn present(work: &Work<'_>, record: Record<'_>) -> Result<RevisionFacts, ApiError> {
        let dates = |name: &str| (record.int(&format!("{name}_local")), record.int(&format!("{name}_utc")));
        Ok(RevisionFacts {
            id: record.id(),
            parent: record.int("parent"),
            author: record.int("author"),
            date: (record.int("date_floats") == 0).then(|| dates("date")),
            modified: dates("modified"),
            slug: record.text("slug").to_owned(),
            guid: record.text("guid").to_owned(),
            preview: preview(work, record, false),
            content: RevisionContent::of(work.scope, record)?,
            then: record.row.clone(),
        })
    }
}

fn document(work: &Work<'_>, row: &Row) -> Result<Value, ApiError> {
    show(work, &RevisionFacts::of(work, parent(work)?, row), work.allowed.context())
}

/// A document as the shown schema describes it, its texts in the rendering of the record's own kind.
fn show(work: &Work<'_>, past: &RevisionFacts, context: Context) -> Result<Value, ApiError> {
    let (shown, owner) = (work.resource()?, work.owner()?);
    let record = Record { resource: owner, row: &past.then };
    let author_names = if shown.declared.inherit_properties { authored(work, record, past)? } else { HashMap::new() };
    let edges = past.content.edges().map(|(rel, ends)| ((rel, record.id()), ends)).collect();
    let meta = HashMap::from([(record.id(), past.content.meta())]);
    let batch = Batch { author_names, edges, meta, ..Batch::default() };
    let scope = work.scope;
    work.unique.begin();
    let item = Item { context, ..Item::viewed(scope, record, &batch, READS, &work.unique) };
    let local = |at: Option<(i64, i64)>| at.map(|at| time::format_local(at.0));
    let utc = |at: Option<(i64, i64)>| at.map(|at| time::format_local(at.1));
    let mut map = Map::new();
    let wanted = |p: &&Property| p.contexts.shows_in(context) && work.fields.wants(&p.name);
    if shown.declared.inherit_properties {
        for property in owner.properties.iter().filter(wanted) {
            let value = match property.column.as_deref() {
                Some("id") => json!(past.id),
                Some("author") => json!(past.author),
                Some("status") => json!(scope.registry.inherited_status()),
                Some("modified_local") => json!(local(Some(past.modified))),
                _ => match item.value(property) {
                    Some(value) => value,
                    None => continue,
                },
            };
            map.insert(property.name.clone(), value);
        }
    }
    let whole = !scope.registry.declaration.dialect.revisions_of_texts;
    let held = |p: &&Property| p.is_versioned() && shown.property(&p.name).is_none() && past.content.holds(owner, p);
    for property in owner.properties.iter().filter(|_| whole).filter(held).filter(wanted) {
        if let Some(value) = item.value(property) {
            map.insert(property.name.clone(), value);
        }
    }
    for property in shown.properties.iter().filter(wanted) {
        let value = match property.name.as_str() {
            "id" => json!(past.id),
            "author" => json!(past.author),
            "parent" => json!(past.parent),
            "date" => json!(local(past.date)),
            "date_gmt" => json!(utc(past.date)),
            "modified" => json!(local(Some(past.modified))),
            "modified_gmt" => json!(utc(Some(past.modified))),
            "slug" => json!(past.slug),
            "guid" if context == Context::EDIT => json!({"rendered": past.guid, "raw": past.guid}),
            "guid" => json!({"rendered": past.guid}),
            "preview_link" => json!(past.preview),
            // Where values are not stored, what is shown is what a record without values shows.
            "meta" => match owner.property("meta") {
                Some(property) if whole && !past.content.holds(owner, property) => continue,
                property => property.and_then(|p| item.value(p)).unwrap_or_else(|| no_meta(scope)),
            },
            texts => match owner.property(texts) {
                Some(property) if matches!(property.source, Source::Object(_)) => then_text(&item, property),
                Some(property) => item.value(property).unwrap_or(Value::Null),
                None => continue,
            },
        };
        map.insert(property.name.clone(), value);
    }
    if let Some(links) = shown_links(work, past)? {
        map.insert("_links".into(), links);
    }
    Ok(Value::Object(map))
}

/// The links of a document of the history, where it shows them.
fn shown_links(work: &Work<'_>, past: &RevisionFacts) -> Result<Option<Value>, ApiError> {
    let (shown, owner, registry) = (work.resource()?, work.owner()?, &work.scope.registry);
    // Under that dialect the link is one of the member that names the parent.
    let linked = !registry.declaration.dialect.link_revisions
        || shown.declared.inherit_properties
        || work.fields.wants("parent") && past.parent != 0;
    if !linked || !work.fields.wants("_links") {
        return Ok(None);
    }
    let mut links = links(work)?;
    if shown.declared.inherit_properties {
        let kind = if past.slug.contains("-autosave-") { "autosaves" } else { "revisions" };
        let path = records::path_key(registry, parent(work)?);
        let path = format!("{}/{kind}/{}", owner.item_path(&path), past.id);
        links["self"] = json!([hints::self_link(work.scope, shown, path)?]);
    }
    Ok(Some(links))
}

/// What a record shows of meta values when none are registered.
fn no_meta(scope: &Scope) -> Value {
    if scope.registry.declaration.dialect.empty_list_as_object { json!([]) } else { json!({}) }
}

/// What the author of a revision is called, in place of the record's.
fn authored(work: &Work<'_>, record: Record<'_>, past: &RevisionFacts) -> Result<HashMap<i64, Arc<str>>, ApiError> {
    let id = eq(ID, DbValue::Int(past.author));
    let found = records::first(&*work.scope.snapshot()?, user::TABLE, &[user::NAME], id)?;
    Ok(found.into_iter().map(|row| (record.int("author"), Arc::from(text(&row[0])))).collect())
}

/// `raw` where the kind shows it, and `rendered` always.
fn then_text(item: &Item<'_>, property: &Property) -> Value {
    let Source::Object(children) = &property.source else { return Value::Null };
    let mut map = Map::new();
    for child in children.iter().filter(|c| c.name == "raw" && c.contexts.shows_in(item.context)) {
        map.insert("raw".into(), item.value(child).unwrap_or(Value::Null));
    }
    // A content shows what the server makes of its blocks now; the other texts follow from what was stored.
    let shown = children.iter().find(|child| child.name == "rendered" && property.name == "content");
    let stored = item.record.text(&property.name);
    let rendered = shown.and_then(|child| item.value(child));
    map.insert("rendered".into(), rendered.unwrap_or_else(|| json!(self::rendered(item, &property.name, stored))));
    Value::Object(map)
}

fn rendered(item: &Item<'_>, property: &str, stored: &str) -> String {
    use cms_text::render::{render_content, render_excerpt, render_title};
    let options = crate::behaviours::text_options(item);
    match property {
        "title" => render_title(stored),
        // An excerpt that nobody wrote stays empty here.
        "excerpt" if stored.is_empty() => String::new(),
        "excerpt" => render_excerpt(stored, "", &options),
        _ => render_content(stored, &options),
    }
}

/// The address of the record's preview: with the caller's autosave, or as it is. Empty for kinds without
/// pages of their own.
fn preview(work: &Work<'_>, record: Record<'_>, autosave: bool) -> String {
    if !record.resource.viewable() {
        return String::new();
    }
    let mut above = Batch::default();
    if let Ok(snapshot) = work.scope.snapshot() {
        // Without the records above, the address is shorter and no worse.
        let _ = above.load_above(&*snapshot, work.scope, record.resource, std::slice::from_ref(record.row));
    }
    let address = address::of(work.scope, record, &above, record.text("slug"));
    let join = if address.contains('?') { '&' } else { '?' };
    if !autosave {
        return format!("{address}{join}preview=true");
    }
    let id = record.id();
    let nonce = Sha256::digest(format!("{id}:{}:{}", work.scope.principal.id, work.scope.now / 43_200).as_bytes());
    let nonce: String = nonce.iter().take(5).map(|b| format!("{b:02x}")).collect();
    format!("{address}{join}preview_id={id}&preview_nonce={nonce}&preview=true")
}
