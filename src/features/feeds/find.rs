//! Which public list of the site a path names, and in which format its feed is wanted.

use crate::access::policy;
use crate::error::ApiError;
use crate::features::oembed;
use crate::handlers::Work;
use crate::records::{self, Record, eq, txt};
use crate::registry::columns::{ID, term, user};
use crate::registry::resource::Resource;
use crate::request::{decode_query, percent_decode};
use cms_config::declaration::{FeedFormat, Syndicated, Syndication};
use cms_storage::plan::{Cond, DbValue, ReadPlan, Row};
use cms_text::address::{PATH, SLUG};
use cms_text::time::CivilDateTime;
use serde_json::{Map, Value};

/// A public list.
#[derive(Debug)]
pub(super) enum PublicList<'a> {
    /// All records that feeds of the site have.
    Site,
    /// The records of a type.
    Kind(&'a Resource),
    /// The records of a term.
    Term(&'a Resource, Row),
    /// The records of a user.
    Author(&'a Resource, Row),
    Period(Period),
    /// The records that words find.
    Search(String),
    /// The comments of all records.
    Comments,
    /// The comments of a record.
    CommentsOn(&'a Resource, Row),
}

/// A year, a month or a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Period {
    pub year: i64,
    pub month: Option<u8>,
    pub day: Option<u8>,
    /// Its first second, and that of the next one, of the site's clock.
    pub begin: i64,
    pub end: i64,
}

/// A feed as a path and a query name it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FeedAddress {
    /// Path of the list, without slashes around it, in small letters as far as it has escapes.
    pub list: String,
    pub query: Map<String, Value>,
    pub format: FeedFormat,
    /// The feed of comments that the query asks for (`?feed=comments-rss2`).
    pub comments: bool,
}

impl FeedAddress {
    /// The feed of an address; `None`: it is none of a feed.
    ///
    /// # Errors
    /// The query cannot be read.
    pub(super) fn of(
        declared: &Syndication,
        path: &str,
        query: &str,
        depth: usize,
    ) -> Result<Option<FeedAddress>, ApiError> {
        let query = decode_query(query, depth)?;
        let whole = path.trim_matches('/').to_owned();
        let mut parts: Vec<&str> = whole.split('/').collect();
        let format = if let Some(format) = declared.aliases.get(path) {
            parts.clear();
            Some((*format, false))
        } else if parts.last() == Some(&&*declared.path) {
            parts.pop();
            Some((declared.format, false))
        } else if parts.len() > 1
            && parts[parts.len() - 2] == declared.path
            && let Some(format) = declared.format_of(parts[parts.len() - 1])
        {
            parts.truncate(parts.len() - 2);
            Some((format, false))
        } else {
            query.get("feed").and_then(Value::as_str).and_then(|name| named(declared, name))
        };
        Ok(format.map(|(format, comments)| FeedAddress { list: parts.join("/"), query, format, comments }))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.query.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }
}

/// The format of `?feed=`, and whether the feed is one of comments.
fn named(declared: &Syndication, name: &str) -> Option<(FeedFormat, bool)> {
    let (comments, name) = name.strip_prefix("comments-").map_or((false, name), |format| (true, format));
    let format = if name == declared.path { Some(declared.format) } else { declared.format_of(name) };
    Some((format?, comments))
}

/// The list of a feed's address; `None`: there is no such list.
///
/// # Errors
/// The database cannot be read.
pub(super) fn find<'a>(work: &Work<'a>, address: &FeedAddress) -> Result<Option<PublicList<'a>>, ApiError> {
    let declared = &work.scope.registry.declaration.syndication;
    let path = &*address.list;
    if path.is_empty() {
        return by_query(work, address);
    }
    if path == declared.comments.trim_matches('/') {
        return Ok(Some(PublicList::Comments));
    }
    let below = path.strip_prefix(declared.search.trim_matches('/')).and_then(|below| below.strip_prefix('/'));
    if let Some(words) = below {
        return Ok(percent_decode(&words.replace('+', " ")).map(|words| PublicList::Search(words.into_owned())));
    }
    let parts: Vec<&str> = path.split('/').collect();
    if parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_digit())) && parts[0].len() == 4 {
        return Ok(period(&parts).map(PublicList::Period));
    }
    let archive = |slug: &str| kinds(work, Syndicated::Own).find(|kind| archive_of(kind) == slug);
    if let Some(kind) = archive(path).filter(|kind| has_archive(kind)) {
        return Ok(Some(PublicList::Kind(kind)));
    }
    // Slugs have small letters, and so have the escapes that they consist of.
    let place = format!("/{}/", path.to_ascii_lowercase());
    if let Some(found) = by_template(work, &place)? {
        return Ok(Some(found));
    }
    let url = format!("{}{place}", work.scope.registry.site.url);
    let record = oembed::record_at(work, &url)?.map(|(resource, row)| PublicList::CommentsOn(resource, row));
    Ok(record.or_else(|| archive(path).map(PublicList::Kind)))
}

/// Types whose records are in feeds in this way.
pub(super) fn kinds<'a>(work: &Work<'a>, wanted: Syndicated) -> impl Iterator<Item = &'a Resource> {
    let types = work.scope.registry.content_types();
    types.filter(move |kind| kind.declared.syndication == wanted && kind.viewable())
}

/// The site has a page that lists its records.
fn has_archive(kind: &Resource) -> bool {
    !matches!(kind.declared.listing.has_archive, None | Some(Value::Bool(false)))
}

/// The slug of that page.
pub(super) fn archive_of(kind: &Resource) -> &str {
    match &kind.declared.listing.has_archive {
        Some(Value::String(slug)) => slug,
        Some(Value::Bool(true)) => &kind.api_name,
        _ => kind.path.rsplit('/').next().unwrap_or(&kind.name),
    }
}

/// A list that the query names.
fn by_query<'a>(work: &Work<'a>, address: &FeedAddress) -> Result<Option<PublicList<'a>>, ApiError> {
    let registry = &work.scope.registry;
    for kind in registry.content_types() {
        let variable = kind.declared.query_var.as_deref().unwrap_or("p");
        if let Some(id) = address.text(variable) {
            let found = oembed::record_at(work, &format!("{}/?{variable}={id}", registry.site.url))?;
            return Ok(found.map(|(resource, row)| PublicList::CommentsOn(resource, row)));
        }
    }
    if address.comments || address.text("withcomments").is_some() {
        return Ok(Some(PublicList::Comments));
    }
    for (variable, name) in &registry.declaration.syndication.term_parameters {
        if let Some(text) = address.text(variable)
            && let Some(taxonomy) = registry.resource(name)
        {
            let id = text.parse().map_or_else(|_| records::never(), |id| eq(ID, DbValue::Int(id)));
            return term_where(work, taxonomy, id);
        }
    }
    for taxonomy in public_taxonomies(work) {
        let variable = taxonomy.declared.query_var.as_deref().unwrap_or(&taxonomy.api_name);
        if let Some(path) = address.text(variable) {
            let slug = path.trim_matches('/').rsplit('/').next().unwrap_or(path);
            return term_where(work, taxonomy, eq(term::SLUG, txt(slug)));
        }
    }
    if let Some(users) = registry.users() {
        let by_id = address
            .text("author")
            .map(|id| id.parse().map_or_else(|_| records::never(), |id| eq(ID, DbValue::Int(id))));
        let by_slug = || address.text("author_name").map(|slug| eq(user::SLUG, txt(slug)));
        if let Some(which) = by_id.or_else(by_slug) {
            return author_where(work, users, which);
        }
    }
    if let Some(words) = address.text("s") {
        return Ok(Some(PublicList::Search(words.to_owned())));
    }
    let month = address
        .text("m")
        .filter(|m| m.is_ascii())
        .map(|m| [m.get(..4), m.get(4..6), m.get(6..8)].into_iter().flatten().collect::<Vec<_>>());
    let parts = || ["year", "monthnum", "day"].iter().map_while(|name| address.text(name)).collect::<Vec<_>>();
    let parts = month.unwrap_or_else(parts);
    if !parts.is_empty() {
        return Ok(period(&parts).map(PublicList::Period));
    }
    if let Some(name) = address.text("post_type") {
        let kind = registry.resource_by_api_name(name);
        return Ok(kind
            .filter(|kind| kind.is_content() && kind.viewable() && kind.declared.syndication != Syndicated::None)
            .map(PublicList::Kind));
    }
    Ok(Some(PublicList::Site))
}

/// The list of a term or a user whose address has this path, in the front end or at the site's own address.
fn by_template<'a>(work: &Work<'a>, path: &str) -> Result<Option<PublicList<'a>>, ApiError> {
    for taxonomy in public_taxonomies(work) {
        if let Some(slug) = slug_in(taxonomy, path)
            && let Some(found) = term_where(work, taxonomy, eq(term::SLUG, txt(slug)))?
        {
            return Ok(Some(found));
        }
    }
    let Some(users) = work.scope.registry.users() else { return Ok(None) };
    match slug_in(users, path) {
        Some(slug) => author_where(work, users, eq(user::SLUG, txt(slug))),
        None => Ok(None),
    }
}

/// The slug of the item whose address has this path.
fn slug_in<'p>(resource: &'p Resource, path: &'p str) -> Option<&'p str> {
    let found = resource.address.templates().find_map(|template| {
        let found = template.match_path(path)?;
        found.text(PATH).or_else(|| found.text(SLUG))
    })?;
    found.rsplit('/').next()
}

fn public_taxonomies<'a>(work: &Work<'a>) -> impl Iterator<Item = &'a Resource> {
    let public = |taxonomy: &&Resource| taxonomy.declared.listing.visibility.get("public") == Some(&Value::Bool(true));
    work.scope.registry.taxonomies().filter(public)
}

fn term_where<'a>(work: &Work<'_>, taxonomy: &'a Resource, which: Cond) -> Result<Option<PublicList<'a>>, ApiError> {
    let found = first(work, taxonomy, [which, policy::visible(work.scope, taxonomy)])?;
    Ok(found.map(|row| PublicList::Term(taxonomy, row)))
}

fn author_where<'a>(work: &Work<'_>, users: &'a Resource, which: Cond) -> Result<Option<PublicList<'a>>, ApiError> {
    let found = first(work, users, [which, policy::listed_users(work.scope, users)])?;
    Ok(found.map(|row| PublicList::Author(users, row)))
}

fn first(work: &Work<'_>, resource: &Resource, conditions: [Cond; 2]) -> Result<Option<Row>, ApiError> {
    let plan = ReadPlan { limit: Some(1), ..records::plan(resource, records::all(conditions)) };
    Ok(work.scope.snapshot()?.rows(&plan)?.pop())
}

/// The period that a year, a month and a day name; `None` where there is no such day.
fn period(parts: &[&str]) -> Option<Period> {
    let number = |at: usize| {
        parts.get(at).map(|part| part.parse::<u8>().ok().filter(|n| *n > 0)).map_or(Some(None), |n| n.map(Some))
    };
    let year: i64 = parts.first().filter(|_| parts.len() <= 3)?.parse().ok().filter(|year| (1..9999).contains(year))?;
    let (month, day) = (number(1)?, number(2)?);
    let first = |year, month: u8, day: u8| CivilDateTime { year, month, day, hour: 0, minute: 0, second: 0 }.seconds();
    let begin = first(year, month.unwrap_or(1), day.unwrap_or(1))?;
    let end = match (month, day) {
        (Some(_), Some(_)) => begin + 24 * 60 * 60,
        (Some(12), None) | (None, _) => first(year + 1, 1, 1)?,
        (Some(month), None) => first(year, month + 1, 1)?,
    };
    Some(Period { year, month, day, begin, end })
}

/// The values of a list that a title has, besides those of the program's own texts.
pub(super) fn name_of<'l>(list: &'l PublicList<'_>) -> &'l str {
    match list {
        PublicList::Term(resource, row) => Record { resource, row }.text(term::NAME),
        PublicList::Author(resource, row) => Record { resource, row }.text(user::NAME),
        _ => "",
    }
}
