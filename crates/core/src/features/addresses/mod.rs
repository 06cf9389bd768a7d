//! The record, list or file at an address of the site, for front ends and for visitors of the site's own address.
//!
//! `requested` reads an address, `candidates` says what its form may name, `find` which of that is there, `describe` shows it.
//! Feeds and embeds ask here, too.

mod candidates;
mod describe;
mod find;
mod heads;
mod lists;
pub mod missing;
mod older;
mod pattern;
mod period;
pub mod preview_nonce;
pub mod redirects;
mod requested;
pub mod templates;
mod walk;

pub use candidates::{archive_of, is_public_taxonomy};
pub use find::{SitePlace, find, is_public, public_record};
pub use lists::{lists_of, lists_of_terms, records_with};
pub use older::older_links;
pub use pattern::{PathPattern, exact_key, keys_of};
pub use period::Period;
pub use requested::RequestedAddress;

use crate::behaviours::seo::{SeoHead, not_found};
use crate::error::{ApiError, Code, status};
use crate::handlers::{Handler, Outcome, Work, handler};
use crate::registry::vocabulary::{BehaviourEntry, HandlerRole, ResponseKind};
use crate::request::fields::Fields;
use cms_storage::plan::{Change, WritePlan};
use describe::{DescribedAddress, describe};
use percent_encoding::{CONTROLS, utf8_percent_encode};
use serde_json::{Value, json};

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    handler(
        "address.get",
        |w| Box::pin(get(w)),
        "Responds with what is at an address of the site: a record, a term, an author, a list, or where it leads.",
    )
    .responds(ResponseKind::Json(status::OK, include_str!("response.json")))
    .fails(&[Code::NoAddress, Code::PreviewInvalid, Code::MissingParam]),
    handler("address.visit", |w| Box::pin(visit(w)), "Leads visitors of the site's own address to what they request.")
        .role(HandlerRole::Visit)
        .responds(ResponseKind::Json(status::OK, include_str!("response.json")))
        .fails(&[Code::NoAddress, Code::PreviewNonce]),
];

/// The places at the addresses that the arguments name: `path` or `url`, or a list of `paths`.
///
/// # Errors
/// Nothing is at the one address; the token of a preview is not for the record there; the database cannot be read.
async fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let args = work.allowed.args();
    let nothing = || ApiError::new(Code::NoAddress);
    if let Some(paths) = args.explicit("paths").and_then(Value::as_array) {
        let texts: Vec<&str> = paths.iter().filter_map(Value::as_str).collect();
        let all = at_all(work, &texts).await?;
        let uncached = all.iter().flatten().any(|found| found.redirect);
        let none = || match describe::tells(work) {
            true => json!({"kind": "none", "seo": not_found(work.scope).document()}),
            false => json!({"kind": "none"}),
        };
        let all = all.into_iter().map(|found| found.map_or_else(none, DescribedAddress::into_document));
        return Ok(Outcome { uncached, ..shown(work, all.collect()) });
    }
    let Some(text) = args.text("path").or_else(|| args.text("url")) else {
        return Err(ApiError::missing(vec!["path".to_owned()]));
    };
    if let Some(token) = args.text("preview").filter(|token| !token.is_empty()) {
        let document = describe::preview(work, text, token)?.ok_or_else(|| ApiError::new(Code::PreviewInvalid))?;
        return Ok(Outcome { private: true, ..shown(work, document) });
    }
    let found = at_all(work, &[text]).await?.pop().flatten().ok_or_else(nothing)?;
    Ok(Outcome { uncached: found.redirect, ..shown(work, found.into_document()) })
}

/// The places at addresses, each with where it leads.
async fn at_all(work: &Work<'_>, texts: &[&str]) -> Result<Vec<Option<DescribedAddress>>, ApiError> {
    let requested: Vec<Option<RequestedAddress>> =
        texts.iter().map(|text| RequestedAddress::of(work.scope, text)).collect();
    let good: Vec<RequestedAddress> = requested.iter().flatten().cloned().collect();
    let followed = redirects::at_all(work.scope, &good)?;
    redirects::count(work, followed.iter().flatten()).await;
    let described = describe(work, &good, describe::tells(work))?.into_iter().zip(followed);
    let described = described.map(|(found, redirect)| redirect.map(DescribedAddress::of_redirect).or(found));
    let described: Vec<Option<DescribedAddress>> = described.collect();
    let absent = good.iter().zip(&described).filter(|(_, described)| described.is_none());
    missing::count(work, absent.map(|(requested, _)| requested)).await;
    let mut described = described.into_iter();
    Ok(requested.iter().map(|requested| requested.as_ref().and_then(|_| described.next().flatten())).collect())
}

/// Writes counts in one commit. Those that cannot be written are lost, with a line in the log.
async fn record(work: &Work<'_>, what: &str, changes: Result<Vec<Change>, ApiError>) {
    let failed = match changes {
        Ok(changes) if changes.is_empty() => None,
        Ok(changes) => work.scope.storage.commit(WritePlan::new(changes)).await.err().map(|error| error.to_string()),
        Err(error) => Some(error.to_string()),
    };
    if let Some(error) = failed {
        tracing::warn!("{what} were not recorded: {error}");
    }
}

/// The head of the place at an address, for search engines; `None`: nothing is there.
///
/// # Errors
/// The database cannot be read.
pub fn head_at(work: &Work<'_>, url: &str) -> Result<Option<SeoHead>, ApiError> {
    let Some(requested) = RequestedAddress::of(work.scope, url) else { return Ok(None) };
    let found = describe(work, std::slice::from_ref(&requested), true)?.pop().flatten();
    Ok(found.and_then(|found| found.head))
}

/// The documents with what of them was requested. A name that begins with `record.` is one of the record's own document.
fn shown(work: &Work<'_>, document: Value) -> Outcome {
    let of_record = describe::record_fields(work);
    if of_record.is_empty() {
        return Outcome::ok(document);
    }
    let own: Vec<Value> = describe::requested_fields(work)
        .into_iter()
        .filter(|name| !of_record.iter().any(|of| name.strip_prefix(describe::RECORD) == Some(of)))
        .chain(["_links", "_embedded"])
        .map(Value::from)
        .collect();
    let fields = Fields::parse(Some(&Value::Array(own)));
    let kept = match document {
        Value::Array(list) => list.into_iter().map(|document| fields.select_single(document)).collect(),
        document => fields.select_single(document),
    };
    Outcome { reduced: true, ..Outcome::ok(kept) }
}

/// The response to a visitor who requests `path` and `query` of the site's own address: where it leads, or what is there.
///
/// # Errors
/// Nothing is there; it is the address of a preview of somebody else.
async fn visit(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let args = work.allowed.args();
    let (path, query) = (args.text("path").unwrap_or("/"), args.text("query").unwrap_or(""));
    let nothing = || ApiError::new(Code::NoAddress);
    let requested = RequestedAddress::of_parts(work.scope, path, query).ok_or_else(nothing)?;
    preview_nonce::check(work.scope, &requested)?;
    let site = &work.scope.registry.site;
    let followed = redirects::at_all(work.scope, std::slice::from_ref(&requested))?.pop().flatten();
    if let Some(redirect) = followed {
        redirects::count(work, std::iter::once(&redirect)).await;
        return Ok(leads(redirect.status, redirect.location.as_deref()));
    }
    if let Some(place) = work.scope.registry.declaration.addresses.elsewhere.get(path) {
        return Ok(leads(status::FOUND, Some(&format!("{}{place}", site.url))));
    }
    let Some(found) = describe(work, std::slice::from_ref(&requested), false)?.pop().flatten() else {
        missing::count(work, std::iter::once(&requested)).await;
        return Err(nothing());
    };
    Ok(match found.leads_to(&requested, &work.scope.registry) {
        Some((status, location)) => leads(status, Some(&location)),
        None => Outcome::ok(found.into_document()),
    })
}

/// A redirect as a response of its own.
fn leads(status: u16, location: Option<&str>) -> Outcome {
    // A header is ASCII; what is encoded already stays.
    let location = location.map(|location| utf8_percent_encode(location, CONTROLS).to_string());
    let headers = location.map(|location| ("Location".to_owned(), location)).into_iter().collect();
    Outcome { status, headers, reduced: true, ..Outcome::ok(Value::Null) }
}
