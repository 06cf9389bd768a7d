//! The records and comments of a feed: requests to the lists of their resources, with what these leave to others: names of
//! authors and terms, numbers of comments.

use super::find::{PublicList, kinds};
use super::media;
use crate::access::policy;
use crate::error::{ApiError, status};
use crate::handlers::Work;
use crate::model::Method;
use crate::records::{self, Record, int, is_in, text};
use crate::registry::columns::{ID, record, term, user};
use crate::registry::name;
use crate::registry::resource::Resource;
use crate::render::{Batch, address};
use crate::request::BodyParams;
use crate::request::conditional::http_date;
use cms_config::declaration::Syndicated;
use cms_storage::plan::{Cond, DbValue, Order, ReadPlan};
use cms_text::phrase::fill;
use cms_text::render::render_title;
use cms_text::sanitize::{decode_value, unescape};
use cms_text::strip::strip_tags;
use cms_text::time::{format_local, parse_datetime};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Properties of a record that feeds show, besides its terms. Some resources let them be requested whole alone.
const PROPERTIES: &str = "id,date_gmt,modified_gmt,guid,link,title,excerpt,content,author,comment_status";

/// A moment in the forms that feeds write: of mails (RSS), and with the zone (Atom, JSON).
pub(super) fn moment(seconds: i64) -> Value {
    json!({"mail": http_date(seconds).replace("GMT", "+0000"), "iso": format!("{}Z", format_local(seconds)), "seconds": seconds})
}

fn seconds(document: &Value, member: &str) -> i64 {
    document[member].as_str().and_then(parse_datetime).map_or(0, |time| time.as_utc())
}

/// The latest change among items.
pub(super) fn newest(items: &[Value]) -> Option<i64> {
    items.iter().filter_map(|item| item["modified"]["seconds"].as_i64()).max()
}

/// The latest change of the records that a list without items belongs to: the one whose comments it would have, or those of the
/// site.
///
/// # Errors
/// The database cannot be read.
pub(super) fn last_change(work: &Work<'_>, list: Option<&PublicList<'_>>) -> Result<Option<i64>, ApiError> {
    if let Some(PublicList::CommentsOn(resource, row)) = list {
        return Ok(Record { resource, row }.modified());
    }
    let kinds = kinds(work, Syndicated::Site).map(|kind| &*kind.kind);
    let filter = Cond::All(vec![records::words(record::KIND, kinds), policy::published(work.scope)]);
    let plan = records::columns(record::TABLE, &[record::MODIFIED_UTC], filter);
    let order = vec![Order::Column(name(record::MODIFIED_LOCAL), true)];
    let rows = work.scope.snapshot()?.rows(&ReadPlan { order, limit: Some(1), ..plan })?;
    Ok(rows.first().map(|row| int(&row[0])))
}

/// The title of a record as text; that it is locked is part of it.
pub(super) fn title_of(work: &Work<'_>, record: Record<'_>) -> String {
    shown_title(work, &render_title(record.text(record::TITLE)), !record.text(record::PASSWORD).is_empty())
}

fn shown_title(work: &Work<'_>, rendered: &str, locked: bool) -> String {
    let title = decode_value(&strip_tags(rendered)).trim().to_owned();
    if locked { fill(work.scope.phrase("Protected: {title}"), &[("title", &title)]) } else { title }
}

/// The address of a record.
///
/// # Errors
/// The database cannot be read.
pub(super) fn link_of(work: &Work<'_>, record: Record<'_>) -> Result<String, ApiError> {
    let mut batch = Batch::default();
    batch.load_above(&*work.scope.snapshot()?, work.scope, record.resource, std::slice::from_ref(record.row))?;
    Ok(address::of(work.scope, record, &batch, record.text(record::SLUG)))
}

/// The records of a list, the newest first.
///
/// # Errors
/// A list cannot be read.
pub(super) async fn records(work: &Work<'_>, list: &PublicList<'_>) -> Result<Vec<Value>, ApiError> {
    let mut all = Vec::new();
    for kind in kinds_of(work, list) {
        let Some(query) = query_for(work, kind, list) else { continue };
        let documents = documents(work, &kind.path, query).await?;
        all.extend(documents.into_iter().map(|document| (kind, document)));
    }
    all.sort_by(|(_, a), (_, b)| b["date_gmt"].as_str().cmp(&a["date_gmt"].as_str()));
    all.truncate(most(work));
    let beside = RecordFacts::of(work, &all)?;
    all.iter().map(|(kind, document)| record_item(work, kind, document, &beside)).collect()
}

fn most(work: &Work<'_>) -> usize {
    work.scope.registry.declaration.syndication.items as usize
}

/// The types whose records a list has.
fn kinds_of<'a>(work: &Work<'a>, list: &PublicList<'a>) -> Vec<&'a Resource> {
    let any = || kinds(work, Syndicated::Site).chain(kinds(work, Syndicated::Own));
    match list {
        PublicList::Kind(kind) => vec![kind],
        PublicList::Term(taxonomy, _) => {
            any().filter(|kind| kind.declared.taxonomies.contains(&taxonomy.name)).collect()
        }
        PublicList::Search(_) => any().filter(|kind| kind.declared.searchable).collect(),
        _ => kinds(work, Syndicated::Site).collect(),
    }
}

/// The request for the records of a type in a list; `None`: its own list cannot be asked for them.
fn query_for(work: &Work<'_>, kind: &Resource, list: &PublicList<'_>) -> Option<Value> {
    let registry = &work.scope.registry;
    let mut fields = PROPERTIES.to_owned();
    for taxonomy in taxonomies(work, kind) {
        fields = format!("{fields},{}", property_of(taxonomy));
    }
    let mut query = Map::new();
    let narrowing = match list {
        PublicList::Term(taxonomy, row) => {
            let id = Record { resource: taxonomy, row }.id();
            let all = json!({"terms": [id], "include_children": true});
            vec![(property_of(taxonomy), if taxonomy.declared.hierarchical { all } else { json!([id]) })]
        }
        PublicList::Author(users, row) => vec![("author", json!([Record { resource: users, row }.id()]))],
        PublicList::Search(words) => vec![("search", json!(words))],
        PublicList::Period(period) => {
            vec![("after", json!(format_local(period.begin - 1))), ("before", json!(format_local(period.end)))]
        }
        _ => Vec::new(),
    };
    let route = registry.routes.iter().find(|route| route.pattern == kind.path)?;
    let endpoint = route.endpoints.iter().find(|endpoint| endpoint.methods.contains(&Method::Get))?;
    for (argument, value) in narrowing {
        // A type without this argument would respond with all of its records.
        endpoint.args.get(argument)?;
        query.insert(argument.to_owned(), value);
    }
    query.insert("_fields".to_owned(), json!(fields));
    query.insert("per_page".to_owned(), json!(most(work)));
    Some(Value::Object(query))
}

fn taxonomies<'a>(work: &'a Work<'_>, kind: &'a Resource) -> impl Iterator<Item = &'a Resource> {
    kind.declared.taxonomies.iter().filter_map(|name| work.scope.registry.resource(name))
}

/// The property of records with their terms, which is an argument of their list, too.
fn property_of(taxonomy: &Resource) -> &str {
    taxonomy.path.rsplit('/').next().unwrap_or(&taxonomy.name)
}

/// The documents of a list.
async fn documents(work: &Work<'_>, path: &str, query: Value) -> Result<Vec<Value>, ApiError> {
    let mut part = work.ask(Method::Get, path, query, BodyParams::None).await;
    // Who may not read a record may not read what belongs to it either: it has no such items for everybody.
    if matches!(part.status, status::UNAUTHORIZED | status::FORBIDDEN) {
        return Ok(Vec::new());
    }
    if part.status != status::OK {
        return Err(work
            .scope
            .internal(&format!("a feed needs {path}, which responded with {}: {}", part.status, part.body)));
    }
    Ok(part.body.as_array_mut().map(std::mem::take).unwrap_or_default())
}

/// Facts about the records of a feed that are in other rows, by id.
struct RecordFacts {
    authors: HashMap<i64, (String, String)>,
    /// Names of terms.
    terms: HashMap<i64, String>,
    comments: HashMap<i64, i64>,
}

impl RecordFacts {
    fn of(work: &Work<'_>, all: &[(&Resource, Value)]) -> Result<RecordFacts, ApiError> {
        let snapshot = work.scope.snapshot()?;
        let ids = |member: &str| all.iter().filter_map(|(_, document)| document[member].as_i64()).collect::<Vec<_>>();
        let (authors, records) = (ids("author"), ids("id"));
        let terms = all.iter().flat_map(|(kind, document)| {
            let of =
                |taxonomy| document[property_of(taxonomy)].as_array().into_iter().flatten().filter_map(Value::as_i64);
            taxonomies(work, kind).flat_map(of).collect::<Vec<_>>()
        });
        let terms: Vec<i64> = terms.collect();
        let mut facts = RecordFacts { authors: HashMap::new(), terms: HashMap::new(), comments: HashMap::new() };
        if !authors.is_empty() {
            let plan = records::columns(user::TABLE, &[ID, user::NAME, user::URL], is_in(ID, authors));
            let of = |row: &Vec<DbValue>| (int(&row[0]), (text(&row[1]).to_owned(), text(&row[2]).to_owned()));
            facts.authors = snapshot.rows(&plan)?.iter().map(of).collect();
        }
        if !terms.is_empty() {
            let plan = records::columns(term::TABLE, &[ID, term::NAME], is_in(ID, terms));
            facts.terms = snapshot.rows(&plan)?.iter().map(|row| (int(&row[0]), unescape(text(&row[1])))).collect();
        }
        if !records.is_empty() {
            let plan = records::columns(record::TABLE, &[ID, record::COMMENT_COUNT], is_in(ID, records));
            facts.comments = snapshot.rows(&plan)?.iter().map(|row| (int(&row[0]), int(&row[1]))).collect();
        }
        Ok(facts)
    }
}

/// A record as feeds show it.
fn record_item(work: &Work<'_>, kind: &Resource, document: &Value, facts: &RecordFacts) -> Result<Value, ApiError> {
    let registry = &work.scope.registry;
    let rendered = |member: &str| document[member]["rendered"].as_str().unwrap_or_default();
    let locked = document["content"]["protected"] == true;
    let id = document["id"].as_i64().unwrap_or(0);
    let link = document["link"].as_str().unwrap_or_default();
    let hidden = || work.scope.phrase("There is no excerpt because this is a protected post.").to_owned();
    let excerpt = if locked { hidden() } else { strip_tags(rendered("excerpt")).trim().to_owned() };
    let content = if locked { hidden() } else { rendered("content").trim().to_owned() };
    let (author, author_url) =
        document["author"].as_i64().and_then(|id| facts.authors.get(&id)).cloned().unwrap_or_default();
    let terms: Vec<&String> = taxonomies(work, kind)
        .flat_map(|taxonomy| document[property_of(taxonomy)].as_array().into_iter().flatten())
        .filter_map(|id| facts.terms.get(&id.as_i64()?))
        .collect();
    let count = facts.comments.get(&id).copied().unwrap_or(0);
    let open = document["comment_status"] == "open" || count > 0;
    let feed = |format: &str| match link.split_once('?') {
        None => format!("{link}{}/{format}", registry.declaration.syndication.path),
        Some((_, query)) => {
            format!("{}/?feed={}&{query}", registry.site.url, if format.is_empty() { "rss2" } else { "atom" })
        }
    };
    let guid = document["guid"]["rendered"].as_str().filter(|guid| !guid.is_empty()).unwrap_or(link);
    let enclosures = if locked { Vec::new() } else { media::enclosures(work, &content)? };
    Ok(json!({
        "id": id,
        "title": shown_title(work, rendered("title"), locked),
        "link": link,
        "guid": guid,
        "date": moment(seconds(document, "date_gmt")),
        "modified": moment(seconds(document, "modified_gmt")),
        "author": author,
        "author_url": author_url,
        "terms": terms,
        "excerpt": excerpt,
        "content": if content.is_empty() { &excerpt } else { &content },
        "enclosures": enclosures,
        "comments": open.then(|| json!({
            "count": count,
            "link": format!("{link}#{}", if count > 0 { "comments" } else { "respond" }),
            "all": format!("{link}#comments"),
            "feed": feed(""),
            "atom": feed("atom/"),
        })),
    }))
}

/// The comments of a record, or of all, the newest first.
///
/// # Errors
/// The list of comments cannot be read.
pub(super) async fn comments(work: &Work<'_>, list: &PublicList<'_>) -> Result<Vec<Value>, ApiError> {
    let Some(comments) = work.scope.registry.comment_resources().next() else { return Ok(Vec::new()) };
    let mut query = json!({
        "_fields": "id,author_name,author_url,date_gmt,link,content,post",
        "per_page": most(work), "orderby": "date_gmt", "order": "desc",
    });
    let single = match list {
        PublicList::CommentsOn(resource, row) => Some(Record { resource, row }.id()),
        _ => None,
    };
    if let Some(id) = single {
        query["post"] = json!(id);
    }
    let all = documents(work, &comments.path, query).await?;
    let titles = match single {
        Some(_) => HashMap::new(),
        None => titles(work, all.iter().filter_map(|document| document["post"].as_i64()))?,
    };
    let one = |document: &Value| {
        let name = document["author_name"].as_str().filter(|name| !name.is_empty());
        let name = name.map_or_else(|| work.scope.phrase("Anonymous").to_owned(), unescape);
        let title = document["post"].as_i64().and_then(|id| titles.get(&id));
        let (phrase, title) = match title {
            Some(title) => (work.scope.phrase("Comment on {title} by {name}"), title.as_str()),
            None => (work.scope.phrase("By: {name}"), ""),
        };
        let content = document["content"]["rendered"].as_str().unwrap_or_default().trim();
        let date = moment(seconds(document, "date_gmt"));
        json!({
            "id": document["id"],
            "title": fill(phrase, &[("title", title), ("name", &name)]),
            "link": document["link"],
            "guid": document["link"],
            "date": date,
            "modified": date,
            "author": name,
            "author_url": document["author_url"],
            "terms": [],
            "excerpt": strip_tags(content).trim(),
            "content": content,
            "enclosures": [],
        })
    };
    Ok(all.iter().map(one).collect())
}

/// Titles of records by id.
fn titles(work: &Work<'_>, ids: impl Iterator<Item = i64>) -> Result<HashMap<i64, String>, ApiError> {
    let columns = [ID, record::TITLE, record::PASSWORD];
    let rows = work.scope.snapshot()?.rows(&records::columns(record::TABLE, &columns, is_in(ID, ids)))?;
    let of =
        |row: &Vec<DbValue>| (int(&row[0]), shown_title(work, &render_title(text(&row[1])), !text(&row[2]).is_empty()));
    Ok(rows.iter().map(of).collect())
}
