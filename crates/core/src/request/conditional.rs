//! Conditional requests: what a write expects of the row as it is, and whether a reader has the newest response
//! already.
//!
//! Pure functions on header lines (RFC 9110, section 13). An entity tag here is `"version-digest"`, or `"digest"` where
//! no single row with versions is shown; a write is compared with the version, whatever the digest.

use cms_text::time::WRITABLE;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The conditions of a write on its target (`If-Match`, `If-Unmodified-Since`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preconditions {
    /// The versions that are welcome; no list: any.
    versions: Option<Vec<i64>>,
    /// Seconds since 1970; counts only where no version is named.
    unmodified_since: Option<i64>,
}

impl Preconditions {
    /// Reads the two headers; `get` gives a header by its lower-case name.
    pub fn of<'h>(get: impl Fn(&str) -> Option<&'h str>) -> Preconditions {
        match get("if-match") {
            Some(list) if list.trim() == "*" => Preconditions::default(),
            Some(list) => {
                Preconditions { versions: Some(tags(list).filter_map(version).collect()), unmodified_since: None }
            }
            None => Preconditions { versions: None, unmodified_since: get("if-unmodified-since").and_then(seconds) },
        }
    }

    /// Reads an entity tag, with its quotes or without.
    pub fn tagged(tag: &str) -> Preconditions {
        let quoted = tag == "*" || tag.ends_with('"');
        let tag = if quoted { tag.to_owned() } else { format!("\"{tag}\"") };
        Preconditions::of(|name| (name == "if-match").then_some(tag.as_str()))
    }

    /// Whether a row is as expected; one without versions, or without a time of its last change, cannot be compared.
    pub fn matches(&self, version: Option<i64>, modified: Option<i64>) -> bool {
        match (&self.versions, self.unmodified_since) {
            (Some(welcome), _) => version.is_none_or(|version| welcome.contains(&version)),
            (None, Some(since)) => modified.is_none_or(|modified| modified <= since),
            (None, None) => true,
        }
    }
}

/// Whether the client has this response already (`If-None-Match`, else `If-Modified-Since`).
pub fn is_not_modified<'h>(get: impl Fn(&str) -> Option<&'h str>, tag: Option<&str>, modified: Option<&str>) -> bool {
    match (get("if-none-match"), tag) {
        (Some(list), Some(tag)) => list.trim() == "*" || tags(list).any(|t| t.trim_start_matches("W/") == tag),
        (Some(_), None) => false,
        (None, _) => match (get("if-modified-since").and_then(seconds), modified.and_then(seconds)) {
            (Some(since), Some(modified)) => modified <= since,
            _ => false,
        },
    }
}

/// A moment as HTTP writes it; what is before 1970 or after 9999 is the nearest that can be written.
pub fn http_date(seconds: i64) -> String {
    let within = seconds.clamp(0, *WRITABLE.end()).unsigned_abs();
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(within))
}

fn seconds(date: &str) -> Option<i64> {
    let moment: SystemTime = httpdate::parse_http_date(date.trim()).ok()?;
    i64::try_from(moment.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
}

fn tags(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim)
}

/// The version in a strong tag. A weak one is equal to nothing that is written.
fn version(tag: &str) -> Option<i64> {
    let inner = tag.strip_prefix('"')?.strip_suffix('"')?;
    inner.split('-').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MONDAY: &str = "Mon, 02 Nov 2026 10:00:00 GMT";

    fn headers<'h>(given: &'h [(&'h str, &'h str)]) -> impl Fn(&str) -> Option<&'h str> {
        move |name| given.iter().find(|(n, _)| *n == name).map(|(_, v)| *v)
    }

    #[test]
    fn writes() {
        let modified = seconds(MONDAY);
        let check = |given: &[(&str, &str)], expected: bool| {
            assert_eq!(Preconditions::of(headers(given)).matches(Some(7), modified), expected, "{given:?}");
        };
        check(&[], true);
        check(&[("if-match", "*")], true);
        check(&[("if-match", "\"7-abc\"")], true);
        check(&[("if-match", "\"6-abc\", \"7\"")], true);
        check(&[("if-match", "\"6-abc\"")], false);
        check(&[("if-match", "W/\"7-abc\"")], false);
        check(&[("if-match", "7")], false);
        check(&[("if-match", "\"6\""), ("if-unmodified-since", MONDAY)], false);
        check(&[("if-unmodified-since", MONDAY)], true);
        check(&[("if-unmodified-since", "Mon, 02 Nov 2026 09:59:59 GMT")], false);
        check(&[("if-unmodified-since", "some day")], true);
        assert!(Preconditions::of(headers(&[("if-match", "\"6\"")])).matches(None, None));
        for (tag, expected) in [("\"7\"", true), ("7", true), ("7-abc", true), ("*", true), ("6", false), ("", false)] {
            assert_eq!(Preconditions::tagged(tag).matches(Some(7), modified), expected, "{tag}");
        }
    }

    #[test]
    fn every_moment_can_be_written() {
        for (moment, expected) in [
            (i64::MIN, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (253_402_300_800, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (i64::MAX, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] {
            assert_eq!(http_date(moment), expected, "{moment}");
        }
    }

    #[test]
    fn reads() {
        let check = |given: &[(&str, &str)], expected: bool| {
            assert_eq!(is_not_modified(headers(given), Some("\"7-a\""), Some(MONDAY)), expected, "{given:?}");
        };
        check(&[], false);
        check(&[("if-none-match", "*")], true);
        check(&[("if-none-match", "\"1\", W/\"7-a\"")], true);
        check(&[("if-none-match", "\"7-b\"")], false);
        check(&[("if-none-match", "\"7-b\""), ("if-modified-since", MONDAY)], false);
        check(&[("if-modified-since", MONDAY)], true);
        check(&[("if-modified-since", "Mon, 02 Nov 2026 09:59:59 GMT")], false);
        check(&[("if-modified-since", "\u{feff}")], false);
    }
}
