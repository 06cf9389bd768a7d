//! An address that is asked for: its path in one form, its query, and the page of a list that it names.

use crate::registry::Site;
use crate::render::address;
use crate::request::{decode_query, percent_decode};
use crate::scope::Scope;
use cms_text::slug;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Bytes that are encoded in a path beside those of other scripts.
const ENCODED: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'/').add(b'<').add(b'>').add(b'?').add(b'\\');

/// Most segments of a path; no item is that deep.
const MOST_SEGMENTS: usize = 110;

/// The segment before the number of a list's page.
const PAGING: &str = "page";

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestedAddress {
    /// The path: one slash before each segment, encoded in one way.
    pub path: String,
    /// The same without its language and the page of a list or of a text.
    pub list: String,
    /// The first part of the path, where it is a language that is not the default one.
    pub language: Option<String>,
    /// The page of a list.
    pub page: Option<u64>,
    pub query: Map<String, Value>,
    /// The query as it was sent.
    pub raw_query: String,
    /// The path with the query, where there is one.
    pub whole: String,
    /// The path was sent in another form.
    pub corrected: bool,
}

impl RequestedAddress {
    /// Reads a path, or an address of this site or of its front end. `None`: it is of another site, or no path.
    pub fn of(scope: &Scope, text: &str) -> Option<RequestedAddress> {
        let below = match text.starts_with('/') {
            true => text,
            false => below_site(&scope.registry.site, text)?,
        };
        let below = below.split('#').next().unwrap_or("");
        let (path, query) = below.split_once('?').unwrap_or((below, ""));
        RequestedAddress::of_parts(scope, path, query)
    }

    /// Reads a path below the site's address and a query.
    pub fn of_parts(scope: &Scope, path: &str, query: &str) -> Option<RequestedAddress> {
        let site = &scope.registry.site;
        let own = without_base(site, path);
        let depth = scope.registry.declaration.server.max_depth;
        let normal = normal(own)?;
        let (list, page) = split_page(&normal);
        let languages = scope.registry.languages.as_ref();
        let (language, list) = languages.map_or(("", list), |languages| languages.split(list));
        let language = languages.and_then(|languages| languages.part(language)).map(str::to_owned);
        Some(RequestedAddress {
            list: list.to_owned(),
            language,
            page,
            query: decode_query(query, depth).ok()?,
            raw_query: query.to_owned(),
            whole: if query.is_empty() { String::new() } else { format!("{normal}?{query}") },
            corrected: own.starts_with("//") || is_index(own),
            path: normal,
        })
    }

    /// The address of a list that each language has, in the language of this address.
    pub fn in_language(&self, site: &Site, link: &str) -> String {
        match &self.language {
            Some(language) => address::moved(link, &site.front, &format!("{}/{language}", site.front)),
            None => link.to_owned(),
        }
    }

    /// A parameter of the query that is a text and not empty.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    /// The page of a list, by the path or by the query.
    pub fn page_of(&self, parameter: &str) -> Option<u64> {
        self.page.or_else(|| self.parameter(parameter)?.parse().ok().filter(|page| *page > 0))
    }

    /// The query without some of its parameters, with its mark.
    pub fn query_without(&self, names: &[&str]) -> String {
        let name = |pair: &str| percent_decode(pair.split('=').next().unwrap_or("")).map(Cow::into_owned);
        let kept = self.raw_query.split('&').filter(|pair| !pair.is_empty());
        let kept: Vec<&str> = kept.filter(|pair| name(pair).is_some_and(|name| !names.contains(&&*name))).collect();
        if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) }
    }
}

/// The slug that the last segment of a path is.
pub fn last_slug(path: &str) -> Cow<'_, str> {
    slug_of(path.trim_end_matches('/').rsplit('/').next().unwrap_or(""))
}

/// The slug that a segment of a path names: as it is, where it can be one, otherwise as its text would be made one.
pub fn slug_of(segment: &str) -> Cow<'_, str> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'%' | b'.' | b'~');
    match segment.bytes().all(plain) {
        true if segment.bytes().any(|b| b.is_ascii_uppercase()) => segment.to_ascii_lowercase().into(),
        true => segment.into(),
        false => slug::sanitize_title(segment).into(),
    }
}

/// A path with one slash before each segment and one way of encoding; `None`: it is no text, or leads out of itself.
pub fn normal(path: &str) -> Option<String> {
    let path = path.trim_start_matches('/');
    let path = path.strip_prefix("index.php").filter(|rest| rest.is_empty() || rest.starts_with('/')).unwrap_or(path);
    let mut out = String::with_capacity(path.len() + 1);
    let segments = path.split('/').filter(|segment| !segment.is_empty());
    for (at, segment) in segments.enumerate() {
        let text = percent_decode(segment)?;
        if at == MOST_SEGMENTS || matches!(&*text, "." | "..") || text.contains('\0') {
            return None;
        }
        out.push('/');
        match text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')) {
            true => out.push_str(&text),
            false => push_encoded(&text, &mut out),
        }
    }
    if out.is_empty() || path.ends_with('/') {
        out.push('/');
    }
    Some(out)
}

/// Escapes are in small letters, as slugs have them.
fn push_encoded(text: &str, out: &mut String) {
    for part in utf8_percent_encode(text, ENCODED) {
        match part.starts_with('%') {
            true => out.push_str(&part.to_ascii_lowercase()),
            false => out.push_str(part),
        }
    }
}

fn is_index(path: &str) -> bool {
    let rest = path.trim_start_matches('/').strip_prefix("index.php");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The path without `/page/2`, and that number.
fn split_page(path: &str) -> (&str, Option<u64>) {
    let bare = path.trim_end_matches('/');
    let found = bare.rsplit_once('/').and_then(|(before, number)| {
        let number = number.parse().ok().filter(|n: &u64| *n > 0 && !number.starts_with(['0', '+']))?;
        Some((before.strip_suffix(PAGING)?, number))
    });
    match found {
        Some((list, number)) if list.ends_with('/') => (list, Some(number)),
        _ => (path, None),
    }
}

/// The path of a list's page.
pub fn with_page(link: &str, page: u64) -> String {
    format!("{}/{PAGING}/{page}/", link.trim_end_matches('/'))
}

/// A path without that of the site or of the front end before it.
fn without_base<'p>(site: &Site, path: &'p str) -> &'p str {
    let after_host = |url: &str| {
        let rest = url.split_once("//").map_or(url, |(_, rest)| rest);
        rest.find('/').map_or("", |at| &rest[at..]).to_owned()
    };
    for base in [after_host(&site.front), site.base.clone()] {
        let below = if base.is_empty() { None } else { path.strip_prefix(&*base) };
        match below {
            Some("") => return "/",
            Some(below) if below.starts_with('/') => return below,
            _ => {}
        }
    }
    path
}

/// The part of an address behind that of the site or of its front end.
fn below_site<'u>(site: &Site, url: &'u str) -> Option<&'u str> {
    // One of them may be below the other.
    let (long, short) =
        if site.front.len() > site.url.len() { (&site.front, &site.url) } else { (&site.url, &site.front) };
    let below = |base: &str| {
        // A site that is reached in both ways has one set of addresses.
        let (scheme, bare) = base.split_once("://")?;
        let (given, rest) = url.split_once("://")?;
        let web = |scheme: &str| ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
        if !web(scheme) || !web(given) {
            return None;
        }
        let (host, rest) = rest.split_at_checked(bare.len())?;
        let ends = rest.is_empty() || rest.starts_with(['/', '?', '#']);
        (ends && host.eq_ignore_ascii_case(bare)).then_some(rest)
    };
    below(long).or_else(|| below(short))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_one_form() {
        for (given, expected) in [
            ("", Some("/")),
            ("/", Some("/")),
            ("//a///b", Some("/a/b")),
            ("/a/b/", Some("/a/b/")),
            ("/index.php", Some("/")),
            ("/index.php/a/", Some("/a/")),
            ("/index.phpx", Some("/index.phpx")),
            ("/%D0%BF%D1%80/", Some("/%d0%bf%d1%80/")),
            ("/пр", Some("/%d0%bf%d1%80")),
            ("/a%20b", Some("/a%20b")),
            ("/a%2Fb", Some("/a%2fb")),
            ("/..%2Fb", Some("/..%2fb")),
            ("/a%00", None),
            ("/%ff", None),
            ("/..", None),
            ("/a/%2e%2E/b", None),
            ("/a/./b", None),
            ("/50%", Some("/50%25")),
        ] {
            assert_eq!(normal(given).as_deref(), expected, "{given}");
        }
        assert!(normal(&"/a".repeat(MOST_SEGMENTS)).is_some() && normal(&"/a".repeat(MOST_SEGMENTS + 1)).is_none());
    }

    #[test]
    fn the_page_of_a_list_is_no_part_of_its_path() {
        for (path, list, page) in [
            ("/category/a/page/2/", "/category/a/", Some(2)),
            ("/page/2", "/", Some(2)),
            ("/page/0/", "/page/0/", None),
            ("/page/+2/", "/page/+2/", None),
            ("/mypage/2/", "/mypage/2/", None),
            ("/a/page/", "/a/page/", None),
        ] {
            assert_eq!(split_page(path), (list, page), "{path}");
        }
    }

    #[test]
    fn segments_name_slugs() {
        for (segment, slug) in [("Hello", "hello"), ("%d0%bf", "%d0%bf"), ("a.b", "a.b"), ("Ü b", "u-b"), ("a'b", "ab")]
        {
            assert_eq!(slug_of(segment), slug, "{segment}");
        }
    }
}
