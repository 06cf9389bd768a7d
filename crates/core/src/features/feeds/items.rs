//! The records and comments of a feed: requests to the lists of their resources, with what these leave to others: names of
//! authors and terms, numbers of comments.

use super::find::{PublicList, kinds};
use super::media::PlayedFiles;
use crate::access::policy;
use crate::error::{ApiError, status};
use crate::handlers::Work;
use crate::model::Method;
use crate::records::{self, Record, is_in};
use crate::registry::columns::{ID, record, term, user};
use crate::registry::name;
use crate::registry::resource::Resource;
use crate::render::{Batch, address, short_columns};
use crate::request::BodyParams;
use crate::request::conditional::http_date;
use cms_declaration::{FeedFormat, Podcast, Syndicated};
use cms_storage::plan::{Cond, Order, ReadPlan, Row};
use cms_text::phrase::fill;
use cms_text::render::render_title;
use cms_text::sanitize::{decode_value, esc_html, unescape};
use cms_text::strip::strip_tags;
use cms_text::time::{format_local, parse_datetime};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

/// Properties of a record that feeds show, besides its terms. Some resources let them be requested whole alone. The rest is read
/// from its row: a type may have it and show it in no document.
const PROPERTIES: &str = "id,title,excerpt,content";

/// The argument that selects records by their language.
const LANGUAGE: &str = "language";

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
    Ok(records::first_by(&*work.scope.snapshot()?, ReadPlan { order, ..plan })?)
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
    batch.load_address_parts(
        &*work.scope.snapshot()?,
        work.scope,
        record.resource,
        std::slice::from_ref(record.row),
    )?;
    Ok(address::of(work.scope, record, &batch, record.text(record::SLUG)))
}

/// The records of a list, in a language perhaps, the newest first.
///
/// # Errors
/// A list cannot be read.
pub(super) async fn records(
    work: &Work<'_>,
    list: &PublicList<'_>,
    language: Option<&str>,
) -> Result<Vec<Value>, ApiError> {
    let mut all = Vec::new();
    for kind in kinds_of(work, list) {
        let Some(query) = query_for(work, kind, list, language) else { continue };
        let documents = documents(work, &kind.path, query).await?;
        all.extend(FeedRecord::of(work, kind, documents)?);
    }
    all.sort_by_key(|found| Reverse(found.record().int(record::DATE_UTC)));
    all.truncate(most(work));
    let beside = RecordFacts::of(work, &all)?;
    Ok(all.iter().map(|found| record_item(work, found, &beside)).collect())
}

/// A record that a list has.
struct FeedRecord<'a> {
    kind: &'a Resource,
    document: Value,
    row: Row,
    link: String,
}

impl<'a> FeedRecord<'a> {
    fn of(work: &Work<'_>, kind: &'a Resource, documents: Vec<Value>) -> Result<Vec<FeedRecord<'a>>, ApiError> {
        let id = |document: &Value| document["id"].as_i64().unwrap_or(0);
        let snapshot = work.scope.snapshot()?;
        let plan = records::plan(kind, is_in(ID, documents.iter().map(id)));
        let rows = records::read(&*snapshot, kind, plan, &short_columns(kind))?;
        let mut batch = Batch::default();
        batch.load_address_parts(&*snapshot, work.scope, kind, &rows)?;
        let mut links: HashMap<i64, (String, Row)> = HashMap::new();
        for row in rows {
            let record = Record { resource: kind, row: &row };
            let link = address::of(work.scope, record, &batch, record.text(record::SLUG));
            links.insert(record.id(), (link, row));
        }
        let found = documents.into_iter().filter_map(|document| {
            let (link, row) = links.remove(&id(&document))?;
            Some(FeedRecord { kind, document, row, link })
        });
        Ok(found.collect())
    }

    fn record(&self) -> Record<'_> {
        Record { resource: self.kind, row: &self.row }
    }

    /// A text of the document as HTML.
    fn html(&self, member: &str) -> Cow<'_, str> {
        let value = &self.document[member];
        match value["rendered"].as_str() {
            Some(html) => html.trim().into(),
            None => esc_html(value.as_str().unwrap_or_default().trim()).into(),
        }
    }

    /// Its elements for podcasts, as far as they have texts.
    fn elements(&self) -> Vec<Value> {
        let Some(known) = self.document.as_object() else { return Vec::new() };
        let filled = self.kind.podcast.iter().filter_map(|(name, template)| Some((name, template.filled(known)?)));
        filled.filter_map(|(name, value)| podcast_element(name, &value)).collect()
    }

    /// Its terms, by id.
    fn terms<'s>(&'s self, work: &'s Work<'_>) -> impl Iterator<Item = i64> + 's {
        let of = |taxonomy| self.document[property_of(taxonomy)].as_array().into_iter().flatten();
        taxonomies(work, self.kind).flat_map(of).filter_map(Value::as_i64)
    }
}

/// An element of a podcast: its name, its text, and the attribute that has the text instead. `None`: there is no text.
fn podcast_element(name: &str, value: &Value) -> Option<Value> {
    let text = match value {
        Value::String(text) => decode_value(&strip_tags(text)).trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    let attribute = match name {
        "image" => Some("href"),
        "category" => Some("text"),
        _ => None,
    };
    (!text.is_empty()).then(|| json!({"name": name, "attribute": attribute, "text": text}))
}

/// The elements of a podcast that a feed has itself; `None`: none of its items is an episode.
pub(super) fn podcast(work: &Work<'_>, list: Option<&PublicList<'_>>) -> Option<Value> {
    let list = list.filter(|list| !matches!(list, PublicList::Comments | PublicList::CommentsOn(..)))?;
    let declared: Vec<&Podcast> =
        kinds_of(work, list).into_iter().filter_map(|kind| kind.declared.podcast.as_ref()).collect();
    let first = declared.first()?;
    let whole = matches!(list, PublicList::Kind(_));
    let channel = first.channel.iter().filter(|_| whole);
    let channel: Vec<Value> = channel.filter_map(|(name, text)| podcast_element(name, &json!(text))).collect();
    Some(json!({"channel": channel}))
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
        PublicList::Search(_) => {
            let types = work.scope.registry.content_types();
            types.filter(|kind| kind.declared.searchable && kind.viewable()).collect()
        }
        _ => kinds(work, Syndicated::Site).collect(),
    }
}

/// The request for the records of a type in a list; `None`: its own list cannot be asked for them.
fn query_for(work: &Work<'_>, kind: &Resource, list: &PublicList<'_>, language: Option<&str>) -> Option<Value> {
    let registry = &work.scope.registry;
    let mut fields = PROPERTIES.to_owned();
    for taxonomy in taxonomies(work, kind) {
        fields = format!("{fields},{}", property_of(taxonomy));
    }
    for reference in kind.podcast.iter().flat_map(|(_, template)| template.references()) {
        fields = format!("{fields},{}", reference.of);
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
    let takes = |name: &str, value: &Value| {
        endpoint.args.get(name).is_some_and(|argument| argument.schema.check(name, value).is_ok())
    };
    for (argument, value) in narrowing {
        // A type without this argument would respond with all of its records.
        if !takes(argument, &value) {
            return None;
        }
        query.insert(argument.to_owned(), value);
    }
    let spoken = language.map(|language| (LANGUAGE, json!(language)));
    for (argument, value) in [("orderby", json!("date")), ("order", json!("desc"))].into_iter().chain(spoken) {
        if takes(argument, &value) {
            query.insert(argument.to_owned(), value);
        }
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
    /// Names and addresses.
    authors: HashMap<i64, (Arc<str>, Arc<str>)>,
    /// Names of terms.
    terms: HashMap<i64, String>,
    played: PlayedFiles,
}

impl RecordFacts {
    fn of(work: &Work<'_>, all: &[FeedRecord<'_>]) -> Result<RecordFacts, ApiError> {
        let snapshot = work.scope.snapshot()?;
        let authors: Vec<i64> = all.iter().map(|found| found.record().int(record::AUTHOR)).collect();
        let terms: Vec<i64> = all.iter().flat_map(|found| found.terms(work)).collect();
        let contents: Vec<Cow<'_, str>> = all.iter().map(|found| found.html("content")).collect();
        let played = PlayedFiles::of(work, contents.iter().map(|content| &**content))?;
        let mut facts = RecordFacts { authors: HashMap::new(), terms: HashMap::new(), played };
        if !authors.is_empty() {
            let plan = records::columns(user::TABLE, &[ID, user::NAME, user::URL], is_in(ID, authors));
            let authors: Vec<(i64, Arc<str>, Arc<str>)> = snapshot.rows_as(&plan)?;
            facts.authors = authors.into_iter().map(|(id, name, url)| (id, (name, url))).collect();
        }
        if !terms.is_empty() {
            let plan = records::columns(term::TABLE, &[ID, term::NAME], is_in(ID, terms));
            let terms: Vec<(i64, Arc<str>)> = snapshot.rows_as(&plan)?;
            facts.terms = terms.into_iter().map(|(id, name)| (id, unescape(&name))).collect();
        }
        Ok(facts)
    }
}

/// A record as feeds show it.
fn record_item(work: &Work<'_>, found: &FeedRecord<'_>, facts: &RecordFacts) -> Value {
    let (record, link) = (found.record(), &found.link);
    let locked = !record.text(record::PASSWORD).is_empty();
    let hidden = || work.scope.phrase("There is no excerpt because this is a protected post.").to_owned();
    let excerpt = if locked { hidden() } else { strip_tags(&found.html("excerpt")).trim().to_owned() };
    let content = if locked { hidden() } else { found.html("content").into_owned() };
    let (author, author_url) = facts.authors.get(&record.int(record::AUTHOR)).cloned().unwrap_or_default();
    let terms: Vec<&String> = found.terms(work).filter_map(|id| facts.terms.get(&id)).collect();
    let guid = Some(record.text(record::GUID)).filter(|guid| !guid.is_empty()).unwrap_or(link);
    let enclosures = if locked { Vec::new() } else { facts.played.enclosures(work, &content) };
    json!({
        "id": record.id(),
        "title": shown_title(work, &found.html("title"), locked),
        "link": link,
        "guid": guid,
        "date": moment(record.int(record::DATE_UTC)),
        "modified": moment(record.int(record::MODIFIED_UTC)),
        "author": &*author,
        "author_url": &*author_url,
        "terms": terms,
        "excerpt": excerpt,
        "content": if content.is_empty() { &excerpt } else { &content },
        "enclosures": enclosures,
        "podcast": if locked { Vec::new() } else { found.elements() },
        "comments": comments_of(work, found),
    })
}

/// The comments of a record as its item in a feed has them; nothing where it takes and has none.
fn comments_of(work: &Work<'_>, found: &FeedRecord<'_>) -> Option<Value> {
    let (record, registry) = (found.record(), &work.scope.registry);
    let (link, count) = (&found.link, record.int(record::COMMENT_COUNT));
    if !record.takes_comments() && count == 0 {
        return None;
    }
    // The server has the feed, wherever the record is read.
    let below = registry.site.front == registry.site.url && !link.contains('?');
    let path = &registry.declaration.syndication.path;
    let feed = |format: FeedFormat| match below {
        true if format == FeedFormat::Rss2 => format!("{}/{path}/", link.trim_end_matches('/')),
        true => format!("{}/{path}/{}/", link.trim_end_matches('/'), format.name()),
        false => {
            let variable = found.kind.declared.query_var.as_deref().unwrap_or("p");
            format!("{}/?feed={}&{variable}={}", registry.site.url, format.name(), record.id())
        }
    };
    Some(json!({
        "count": count,
        "link": format!("{link}#{}", if count > 0 { "comments" } else { "respond" }),
        "all": format!("{link}#comments"),
        "feed": feed(FeedFormat::Rss2),
        "atom": feed(FeedFormat::Atom),
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
        query["post"] = json!([id]);
    }
    let all = documents(work, &comments.path, query).await?;
    let records = CommentedRecord::of(work, all.iter().filter_map(|document| document["post"].as_i64()))?;
    let one = |document: &Value| {
        let name = document["author_name"].as_str().filter(|name| !name.is_empty());
        let name = name.map_or_else(|| work.scope.phrase("Anonymous").to_owned(), unescape);
        let record = document["post"].as_i64().and_then(|id| records.get(&id));
        let (phrase, title) = match record.filter(|_| single.is_none()) {
            Some(record) => (work.scope.phrase("Comment on {title} by {name}"), record.title.as_str()),
            None => (work.scope.phrase("By: {name}"), ""),
        };
        let guid = record.map(|record| record.guid.as_str()).filter(|guid| !guid.is_empty());
        let guid = guid.map(|guid| format!("{guid}#comment-{}", document["id"]));
        let content = document["content"]["rendered"].as_str().unwrap_or_default().trim();
        let date = moment(seconds(document, "date_gmt"));
        json!({
            "id": document["id"],
            "title": fill(phrase, &[("title", title), ("name", &name)]),
            "link": document["link"],
            "guid": guid.map_or_else(|| document["link"].clone(), Value::String),
            "date": date,
            "modified": date,
            "author": name,
            "author_url": document["author_url"],
            "terms": [],
            "excerpt": strip_tags(content).trim(),
            "content": content,
            "enclosures": [],
            "podcast": [],
        })
    };
    Ok(all.iter().map(one).collect())
}

/// A record as the feed of its comments shows it.
struct CommentedRecord {
    title: String,
    /// It does not change when the record moves.
    guid: String,
}

impl CommentedRecord {
    /// Records by id.
    fn of(work: &Work<'_>, ids: impl Iterator<Item = i64>) -> Result<HashMap<i64, CommentedRecord>, ApiError> {
        let plan =
            records::columns(record::TABLE, &[ID, record::TITLE, record::PASSWORD, record::GUID], is_in(ID, ids));
        let rows: Vec<(i64, String, Arc<str>, String)> = work.scope.snapshot()?.rows_as(&plan)?;
        let of = |(id, title, password, guid): (i64, String, Arc<str>, String)| {
            (id, CommentedRecord { title: shown_title(work, &render_title(&title), !password.is_empty()), guid })
        };
        Ok(rows.into_iter().map(of).collect())
    }
}
