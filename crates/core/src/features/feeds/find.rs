//! Which public list of the site a path names, and in which format its feed is wanted.

use crate::error::ApiError;
use crate::features::addresses::{self, Period, RequestedAddress, SitePlace};
use crate::handlers::Work;
use crate::records::Record;
use crate::registry::columns::{term, user};
use crate::registry::resource::Resource;
use crate::request::{decode_query, percent_decode};
use cms_declaration::{FeedFormat, ParameterKind, Syndicated, Syndication};
use cms_storage::plan::Row;
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

/// A feed as a path and a query name it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FeedAddress {
    /// Path of the list, without slashes around it, in small letters as far as it has escapes.
    pub list: String,
    pub query: Map<String, Value>,
    /// The query as it was sent.
    pub raw_query: String,
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
        let raw_query = query.to_owned();
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
        Ok(format.map(|(format, comments)| FeedAddress { list: parts.join("/"), query, raw_query, format, comments }))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.query.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    /// The words of a search.
    fn words(&self, work: &Work<'_>) -> Option<&str> {
        let declared = &work.scope.registry.declaration.addresses.parameters;
        let mut words = declared.iter().filter(|(_, parameter)| parameter.by == ParameterKind::Words);
        words.find_map(|(name, _)| self.text(name))
    }

    /// Whether a parameter that names a record is no number.
    fn names_nothing(&self, work: &Work<'_>) -> bool {
        let mut kinds = work.scope.registry.content_types();
        kinds.any(|kind| {
            let text = self.text(kind.declared.query_var.as_deref().unwrap_or("p"));
            text.is_some_and(|text| !text.bytes().all(|b| b.is_ascii_digit()))
        })
    }
}

/// The format of `?feed=`, and whether the feed is one of comments.
fn named(declared: &Syndication, name: &str) -> Option<(FeedFormat, bool)> {
    let (comments, name) = name.strip_prefix("comments-").map_or((false, name), |format| (true, format));
    let format = if name == declared.path { Some(declared.format) } else { declared.format_of(name) };
    Some((format?, comments))
}

/// The list of a feed's address, below the part of a language; `None`: there is no such list.
///
/// # Errors
/// The database cannot be read.
pub(super) fn find<'a>(
    work: &Work<'a>,
    language: Option<&str>,
    address: &FeedAddress,
) -> Result<Option<PublicList<'a>>, ApiError> {
    let declared = &work.scope.registry.declaration.syndication;
    let path = &*address.list;
    if path == declared.comments.trim_matches('/') {
        return Ok(Some(PublicList::Comments));
    }
    let below = path.strip_prefix(declared.search.trim_matches('/')).and_then(|below| below.strip_prefix('/'));
    if let Some(words) = below {
        return Ok(percent_decode(&words.replace('+', " ")).map(|words| PublicList::Search(words.into_owned())));
    }
    if let Some(words) = address.words(work).filter(|_| path.is_empty()) {
        return Ok(Some(PublicList::Search(words.to_owned())));
    }
    if path.is_empty() && address.names_nothing(work) {
        return Ok(None);
    }
    // A period without records has a feed without items.
    if let Some(period) = Period::at(path) {
        return Ok(Some(PublicList::Period(period)));
    }
    let archive = |slug: &str| kinds(work, Syndicated::Own).find(|kind| addresses::archive_of(kind) == slug);
    Ok(match named_by(work, language, address)? {
        Some(list) => Some(list),
        None => archive(path).map(PublicList::Kind),
    })
}

/// The list of what is at the address without the parts that name a feed.
fn named_by<'a>(
    work: &Work<'a>,
    language: Option<&str>,
    address: &FeedAddress,
) -> Result<Option<PublicList<'a>>, ApiError> {
    let path = language.map_or_else(String::new, |language| format!("/{language}"));
    let path = format!("{path}/{}", address.list);
    let Some(requested) = RequestedAddress::of_parts(work.scope, &path, &address.raw_query) else { return Ok(None) };
    let public = |resource, row: &Row| addresses::is_public(work.scope, Record { resource, row });
    let Some(found) = addresses::find(work.scope, &requested)?.filter(|found| !found.old) else { return Ok(None) };
    if address.list.is_empty() && found.by.is_none() {
        return Ok(of_site(work, address));
    }
    Ok(match found.place {
        SitePlace::Record(resource, row) if public(resource, &row) => Some(PublicList::CommentsOn(resource, row)),
        SitePlace::Term(resource, row) => Some(PublicList::Term(resource, row)),
        SitePlace::Author(resource, row) => Some(PublicList::Author(resource, row)),
        SitePlace::Period(period) => Some(PublicList::Period(period)),
        SitePlace::Archive(kind) if kind.declared.syndication == Syndicated::Own => Some(PublicList::Kind(kind)),
        _ => None,
    })
}

/// A list at the site's own address that is none of its addresses.
fn of_site<'a>(work: &Work<'a>, address: &FeedAddress) -> Option<PublicList<'a>> {
    if address.comments || address.text("withcomments").is_some() {
        return Some(PublicList::Comments);
    }
    let Some(name) = address.text("post_type") else { return Some(PublicList::Site) };
    let kind = work.scope.registry.resource_by_api_name(name);
    let kind = kind.filter(|kind| kind.is_content() && kind.viewable());
    kind.filter(|kind| kind.declared.syndication != Syndicated::None).map(PublicList::Kind)
}

/// Types whose records are in feeds in this way.
pub(super) fn kinds<'a>(work: &Work<'a>, wanted: Syndicated) -> impl Iterator<Item = &'a Resource> {
    let types = work.scope.registry.content_types();
    types.filter(move |kind| kind.declared.syndication == wanted && kind.viewable())
}

/// The values of a list that a title has, besides those of the program's own texts.
pub(super) fn name_of<'l>(list: &'l PublicList<'_>) -> &'l str {
    match list {
        PublicList::Term(resource, row) => Record { resource, row }.text(term::NAME),
        PublicList::Author(resource, row) => Record { resource, row }.text(user::NAME),
        _ => "",
    }
}
