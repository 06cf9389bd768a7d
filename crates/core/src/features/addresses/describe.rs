//! The places at addresses as documents, with the links of all records of a type made together.

use super::candidates::dated_kinds;
use super::find::{NamedPlace, SitePlace, find_all, public_record};
use super::heads;
use super::period::Period;
use super::preview_nonce;
use super::redirects::Redirect;
use super::requested::{RequestedAddress, normal, with_page};
use crate::access::{policy, preview_links};
use crate::behaviours::seo::SeoHead;
use crate::error::{ApiError, status};
use crate::handlers::Work;
use crate::records::{self, Record};
use crate::registry::Registry;
use crate::registry::columns::{ID, record, term};
use crate::registry::resource::Resource;
use crate::render::{Batch, address};
use crate::scope::{Principal, Scope};
use cms_storage::plan::{Cond, DbValue, Row};
use cms_text::time::format_local;
use percent_encoding::utf8_percent_encode;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use url::form_urlencoded::Serializer;

/// The prefix of fields that are those of the record's own document.
pub const RECORD: &str = "record.";

/// The place at an address, as a document.
pub struct DescribedAddress {
    document: Value,
    /// An editor has made a redirect there.
    pub redirect: bool,
    /// Its head for search engines, where that is wanted.
    pub head: Option<SeoHead>,
    /// Its own address, with the page of a list.
    link: String,
    old: bool,
    /// Parameters that name it, and whether they lead to its address.
    by: Option<(Vec<String>, bool)>,
    front: String,
}

impl DescribedAddress {
    /// The address of a redirect.
    pub fn of_redirect(redirect: Redirect) -> DescribedAddress {
        DescribedAddress {
            document: self::redirect(redirect.status, redirect.location.as_deref()),
            redirect: true,
            head: None,
            link: String::new(),
            old: false,
            by: None,
            front: String::new(),
        }
    }

    /// The document, with the head for search engines where that is wanted.
    pub fn into_document(mut self) -> Value {
        if let Some((head, members)) = self.head.zip(self.document.as_object_mut()) {
            let links = members.shift_remove("_links");
            members.insert("seo".into(), head.document());
            members.extend(links.map(|links| ("_links".to_owned(), links)));
        }
        self.document
    }

    /// Where a visitor is led who requests an address of the site; `None`: it is the right one.
    pub fn leads_to(&self, requested: &RequestedAddress, registry: &Registry) -> Option<(u16, String)> {
        let moved = |location: String| Some((status::MOVED_PERMANENTLY, location));
        if self.old {
            return moved(self.link.clone());
        }
        let named = self.by.iter().flat_map(|(names, _)| names).map(String::as_str);
        let kept = requested.query_without(&named.chain(preview_nonce::names(registry)).collect::<Vec<_>>());
        if self.by.is_some() {
            let leads = self.by.as_ref().is_some_and(|(_, leads)| *leads) && !self.link.contains('?');
            return if leads { moved(format!("{}{kept}", self.link)) } else { None };
        }
        let path = self.link.strip_prefix(&*self.front).unwrap_or("");
        let here = self
            .link
            .strip_prefix(registry.site.origin())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
        let right = here && normal(path).is_some_and(|path| path.eq_ignore_ascii_case(&requested.path));
        let at_root = requested.path == "/" && !requested.corrected;
        // Letters of another case are no reason to lead anybody elsewhere, as recorded.
        match right && !requested.corrected || at_root || path.contains('?') {
            true => None,
            false => moved(format!("{}{kept}", self.link)),
        }
    }
}

/// Whether the request names what search engines are told.
pub fn tells(work: &Work<'_>) -> bool {
    requested_fields(work).iter().any(|name| name.split('.').next() == Some("seo"))
}

/// The place at each of these addresses; `told`: with what search engines are told of it.
///
/// # Errors
/// The database cannot be read.
pub fn describe(
    work: &Work<'_>,
    requested: &[RequestedAddress],
    told: bool,
) -> Result<Vec<Option<DescribedAddress>>, ApiError> {
    let scope = work.scope;
    let found = find_all(scope, requested)?;
    let links = links(scope, &found)?;
    let mut heads = if told { heads::of_items(work, &found, requested)? } else { HashMap::new() };
    let mut all = Vec::new();
    for (at, (found, requested)) in found.into_iter().zip(requested).enumerate() {
        let page = requested.page_of(&scope.registry.declaration.addresses.page).unwrap_or(1);
        let there = match &found {
            Some(found) if page > 1 => has_page(scope, &found.place, page)?,
            _ => true,
        };
        let Some(found) = found.filter(|_| there) else {
            all.push(None);
            continue;
        };
        let place = if told { heads::place_of(work, &found.place, requested) } else { None };
        let mut described = shown(work, found, links.get(&at), requested);
        let head = heads.remove(&at).or_else(|| place.map(|place| place.head(scope, &described.link, Some(page))));
        // Each page of a list is one of its own.
        described.head = head.map(|head| match page > 1 && head.canonical == head.link {
            true => SeoHead { canonical: described.link.clone(), ..head },
            false => head,
        });
        all.push(Some(described));
    }
    Ok(all)
}

/// Whether a list has so many pages. What is no list has one.
fn has_page(scope: &Scope, place: &SitePlace<'_>, page: u64) -> Result<bool, ApiError> {
    let per_page = u64::try_from(scope.settings.int("posts_per_page")).unwrap_or(0).max(1);
    let published = |filter: Cond| {
        let kinds = records::words(record::KIND, dated_kinds(scope).map(|kind| &*kind.kind));
        let plan = records::columns(record::TABLE, &[ID], records::all([kinds, policy::published(scope), filter]));
        scope.snapshot()?.count(&plan).map_err(ApiError::from)
    };
    let count = match place {
        SitePlace::Site => published(records::always())?,
        SitePlace::Period(period) => published(period.condition())?,
        SitePlace::Author(resource, row) => {
            published(records::eq(record::AUTHOR, DbValue::Int(Record { resource, row }.id())))?
        }
        SitePlace::Term(resource, row) => u64::try_from(Record { resource, row }.int(term::COUNT)).unwrap_or(0),
        SitePlace::Archive(kind) => {
            let published = policy::published(scope);
            scope.snapshot()?.count(&records::plan(kind, published))?
        }
        SitePlace::Record(..) | SitePlace::File(..) => 0,
    };
    Ok((page - 1).saturating_mul(per_page) < count)
}

/// The addresses of the items among places, by position.
fn links(scope: &Scope, found: &[Option<NamedPlace<'_>>]) -> Result<HashMap<usize, String>, ApiError> {
    let mut rows: HashMap<usize, (Vec<usize>, Vec<Row>)> = HashMap::new();
    for (at, found) in found.iter().enumerate() {
        if let Some(
            SitePlace::Record(resource, row) | SitePlace::Term(resource, row) | SitePlace::Author(resource, row),
        ) = found.as_ref().map(|found| &found.place)
        {
            let (places, rows) = rows.entry(resource.index).or_default();
            places.push(at);
            rows.push(row.clone());
        }
    }
    let snapshot = scope.snapshot()?;
    let mut links = HashMap::new();
    for (index, (places, rows)) in rows {
        let resource = &scope.registry.resources[index];
        let mut batch = Batch::default();
        batch.load_addresses(&*snapshot, scope, resource, &rows)?;
        for (at, row) in places.into_iter().zip(&rows) {
            let record = Record { resource, row };
            links.insert(at, address::of(scope, record, &batch, record.text(record::SLUG)));
        }
    }
    Ok(links)
}

fn shown(
    work: &Work<'_>,
    found: NamedPlace<'_>,
    link: Option<&String>,
    requested: &RequestedAddress,
) -> DescribedAddress {
    let scope = work.scope;
    let site = &scope.registry.site;
    let link = link.cloned().unwrap_or_default();
    let by = found.by.map(|(names, leads)| (names.into_iter().map(str::to_owned).collect(), leads));
    let mut described = DescribedAddress {
        document: Value::Null,
        redirect: false,
        head: None,
        link,
        old: found.old,
        by,
        front: site.front.clone(),
    };
    let page = requested.page_of(&scope.registry.declaration.addresses.page);
    let (kind, mut members) = match &found.place {
        SitePlace::Record(resource, row) => {
            let record = Record { resource, row };
            if found.old {
                described.document = redirect(status::MOVED_PERMANENTLY, Some(&described.link));
                return described;
            }
            let kind = role_of(scope, record);
            if kind == FRONT_PAGE {
                described.link = requested.in_language(site, &format!("{}/", site.front));
            }
            (kind, item(work, record))
        }
        SitePlace::Term(resource, row) => ("term", item(work, Record { resource, row })),
        SitePlace::Author(resource, row) => {
            described.link = requested.in_language(site, &described.link);
            ("author", item(work, Record { resource, row }))
        }
        SitePlace::File(resource, row, key) => {
            described.front = site.url.clone();
            described.link = format!("{}{}/{}", site.url, scope.registry.declaration.media.path, encoded(key));
            ("file", item(work, Record { resource, row }))
        }
        SitePlace::Archive(kind) => {
            described.link = requested.in_language(site, &format!("{}/{}/", site.front, super::archive_of(kind)));
            ("archive", of_type(kind, scope.registry.rest(&kind.path)))
        }
        SitePlace::Period(period) => {
            described.link = requested.in_language(site, &format!("{}{}", site.front, period.path()));
            ("date", of_period(scope, *period))
        }
        SitePlace::Site => {
            described.link = requested.in_language(site, &format!("{}/", site.front));
            let kind = dated_kinds(scope).next();
            (FRONT_PAGE, kind.map(|kind| of_type(kind, scope.registry.rest(&kind.path))).unwrap_or_default())
        }
    };
    if let Some(page) = page.filter(|_| requested.page.is_some() || matches!(found.place, SitePlace::Site)) {
        members.insert("page".into(), json!(page));
        if requested.page.is_some() {
            described.link = with_page(&described.link, page);
        }
    }
    with_document(described, kind, members, requested)
}

/// The description with its document: the kind, the members, the link and whether it is the very address that was requested.
fn with_document(
    mut described: DescribedAddress,
    kind: &str,
    mut members: Map<String, Value>,
    requested: &RequestedAddress,
) -> DescribedAddress {
    members.insert("link".into(), json!(described.link));
    let below = described.link.strip_prefix(&*described.front).unwrap_or("");
    let (path, query) = below.split_once('?').unwrap_or((below, ""));
    let same = normal(path).is_some_and(|path| path == requested.path) && query == requested.raw_query;
    members.insert("canonical".into(), json!(same && !requested.corrected));
    // The links of a document are its last member.
    let links = members.shift_remove("_links");
    members.extend(links.map(|links| ("_links".to_owned(), links)));
    let mut document = Map::from_iter([("kind".to_owned(), json!(kind))]);
    document.extend(members);
    described.document = Value::Object(document);
    described
}

/// The site's own address, whether it is a record or a list.
const FRONT_PAGE: &str = "front_page";

/// The part that a record has in the site.
fn role_of(scope: &Scope, record: Record<'_>) -> &'static str {
    let is = |setting: &str| scope.page_of(setting) == Some(record.id());
    if is("page_on_front") {
        FRONT_PAGE
    } else if is("page_for_posts") {
        "posts_page"
    } else {
        "record"
    }
}

/// Where an address leads.
fn redirect(status: u16, location: Option<&str>) -> Value {
    json!({"kind": "redirect", "status": status, "location": location})
}

fn of_type(kind: &Resource, rest: String) -> Map<String, Value> {
    let members = [("resource", json!(kind.name)), ("type", json!(kind.api_name)), ("rest", json!(rest))];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// An item with its number, and the link by which its document is embedded.
fn item(work: &Work<'_>, record: Record<'_>) -> Map<String, Value> {
    item_at(work, record, &[])
}

fn item_at(work: &Work<'_>, record: Record<'_>, more: &[(&str, &str)]) -> Map<String, Value> {
    let registry = &work.scope.registry;
    let rest = registry.rest(&records::item_path(registry, record));
    let mut query = Serializer::new(String::new());
    query.append_pair("context", "view").extend_pairs(more);
    let fields = record_fields(work);
    if !fields.is_empty() {
        query.append_pair("_fields", &fields.join(","));
    }
    let href = format!("{rest}?{}", query.finish());
    let mut members = of_type(record.resource, rest);
    members.shift_insert(2, "id".into(), json!(record.id()));
    members.insert("_links".into(), json!({"record": [{"href": href, "embeddable": true}]}));
    members
}

/// The names that the request gives in `_fields`.
pub fn requested_fields<'w>(work: &'w Work<'_>) -> Vec<&'w str> {
    match work.query.get("_fields") {
        Some(Value::String(text)) => text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect(),
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Those of them that are of the record's own document.
pub fn record_fields<'w>(work: &'w Work<'_>) -> Vec<&'w str> {
    requested_fields(work).into_iter().filter_map(|name| name.strip_prefix(RECORD)).collect()
}

/// A period with the list of its records.
fn of_period(scope: &Scope, period: Period) -> Map<String, Value> {
    let kind = dated_kinds(scope).next();
    let mut members = Map::from_iter([
        ("year".to_owned(), json!(period.year)),
        ("month".to_owned(), json!(period.month)),
        ("day".to_owned(), json!(period.day)),
    ]);
    members.extend(kind.map(|kind| {
        let (after, before) = (format_local(period.begin - 1), format_local(period.end));
        let query = Serializer::new(String::new()).append_pair("after", &after).append_pair("before", &before).finish();
        ("rest".to_owned(), json!(format!("{}?{query}", scope.registry.rest(&kind.path))))
    }));
    members
}

/// The key of a file as a part of an address.
fn encoded(key: &str) -> String {
    key.split('/').map(|part| utf8_percent_encode(part, address::UNRESERVED).to_string()).collect::<Vec<_>>().join("/")
}

/// The record that the token of a preview link is for, where the address is one that it has or will have; `None`: the token
/// is good for nothing here.
///
/// # Errors
/// The database cannot be read.
pub fn preview(work: &Work<'_>, text: &str, token: &str) -> Result<Option<Value>, ApiError> {
    let scope = Scope { principal: Principal::default(), preview: None, ..work.scope.clone() };
    let registry = &scope.registry;
    let Some(id) = preview_links::record_of(&scope, token)? else { return Ok(None) };
    let kind = records::kinds(&*scope.snapshot()?, [id])?.pop();
    let Some(resource) = kind.and_then(|(_, kind)| registry.resource_of_kind(&kind)) else { return Ok(None) };
    let Some(link) = work.shared.identity.preview(&scope, resource, id, token)? else { return Ok(None) };
    let record = Record { resource, row: &link.row };
    let mut batch = Batch::default();
    batch.load_addresses(&*scope.snapshot()?, &scope, resource, std::slice::from_ref(&link.row))?;
    let own = address::of(&scope, record, &batch, record.text(record::SLUG));
    let below = own.strip_prefix(&*registry.site.front).unwrap_or("/").to_owned();
    let variable = resource.declared.query_var.as_deref().unwrap_or("p");
    let known = [below, address::once_published(&scope, record, &batch), format!("/?{variable}={id}")];
    let Some(requested) = RequestedAddress::of(&scope, text) else { return Ok(None) };
    let names = |known: &String| {
        let (path, query) = known.split_once('?').unwrap_or((known, ""));
        let same = normal(path)
            .is_some_and(|path| path.trim_end_matches('/').eq_ignore_ascii_case(requested.path.trim_end_matches('/')));
        same && (query.is_empty() && path != "/" || requested.raw_query.split('&').any(|pair| pair == query))
    };
    if !known.iter().any(names) && !has_another_title(&scope, record, &requested)? {
        return Ok(None);
    }
    let mut document = Map::from_iter([("kind".to_owned(), json!("record"))]);
    document.extend(item_at(work, record, &[("preview", token)]));
    let links = document.shift_remove("_links");
    document.insert("link".into(), json!(own));
    document.insert("canonical".into(), json!(true));
    document.extend(links.map(|links| ("_links".to_owned(), links)));
    Ok(Some(Value::Object(document)))
}

/// Whether a record without a slug may have had the address by another title: one of the form of its type, which no record for
/// everybody has. A preview stays where it is while its title is written.
fn has_another_title(scope: &Scope, record: Record<'_>, requested: &RequestedAddress) -> Result<bool, ApiError> {
    let fits = || record.resource.address.templates().any(|template| template.match_path(&requested.list).is_some());
    Ok(record.text(record::SLUG).is_empty() && fits() && public_record(scope, requested)?.is_none())
}
