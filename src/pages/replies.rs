//! Headers and redirects that the replies of all pages share, and what they say of errors.

use super::HTML;
use cms_core::error::status;
use cms_core::model::{Payload, Reply};
use cms_core::request::call::SubResponse;
use serde_json::{Map, Value};

/// The headers of a page: it is not cached, not framed, and loads nothing from elsewhere.
pub(super) fn headers(further: &str) -> Vec<(String, String)> {
    let policy = format!(
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'{}{further}; base-uri 'none'; \
         frame-ancestors 'none'",
        if further.is_empty() { "" } else { " " }
    );
    frame_headers(&policy, ALONE)
}

/// Pages of other sites have no hold of the page's window, nor the page of theirs.
pub(super) const ALONE: &str = "same-origin";

/// Pages of other sites have no hold of the page's window; the page has one of the windows that it opens.
pub(super) const WITH_OPENED: &str = "same-origin-allow-popups";

/// The headers of a page with a policy of its own, and with [`ALONE`] or [`WITH_OPENED`].
pub(super) fn frame_headers(policy: &str, opener: &str) -> Vec<(String, String)> {
    [
        ("Content-Security-Policy", policy),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", opener),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

/// Leads on to a place, once.
pub(super) fn found(place: &str) -> Reply {
    redirect(status::FOUND, place)
}

/// Leads to where the result of a form is.
pub(super) fn see_other(place: &str) -> Reply {
    redirect(status::SEE_OTHER, place)
}

/// Leads to a place with a status of its own.
pub(super) fn redirect(status: u16, place: &str) -> Reply {
    let mut headers = headers("");
    headers.push(("Location".into(), place.to_owned()));
    Reply { status, headers, payload: Payload::Other { media_type: HTML, bytes: Vec::new() } }
}

/// The text of an API error for people: what is wrong with each field, or its message.
pub(super) fn said(part: &SubResponse) -> String {
    said_in(&part.body)
}

/// The same of the document of an error.
pub(super) fn said_in(body: &Value) -> String {
    let params = body["data"]["params"].as_object();
    let each: Vec<&str> = params.into_iter().flat_map(Map::values).filter_map(Value::as_str).collect();
    if each.is_empty() { body["message"].as_str().unwrap_or_default().to_owned() } else { each.join(" ") }
}
