//! Cross-origin headers of the REST base (contract: "CORS").
//!
//! Compiled from the declared rules and the prefix; what is added depends on the request's `Origin` alone. Pages outside
//! the base never get any.

use actix_http::header::{self, HeaderMap, HeaderName, HeaderValue};
use cms_declaration::Cors;

const METHODS: HeaderValue = HeaderValue::from_static("OPTIONS, GET, POST, PUT, PATCH, DELETE");
const VARY: HeaderValue = HeaderValue::from_static("Origin");

/// Longest `Origin` that is checked and repeated, in bytes: a scheme, a host name of at most 255 bytes, a port.
const LONGEST_ORIGIN: usize = 320;

/// Scripts of listed origins write: they compare versions, repeat what was limited, and ask for responses without a body.
const EXPOSED_TO_LISTED: [&str; 3] = ["ETag", "X-Request-Id", "Retry-After"];
const ALLOWED_TO_LISTED: [&str; 3] = ["If-Match", "If-None-Match", "Prefer"];

/// The declared rules. Without any, nothing is added.
pub struct CorsRules {
    any: bool,
    reflect: bool,
    origins: Vec<String>,
    /// Headers of every response.
    always: Vec<(HeaderName, HeaderValue)>,
    /// Also without an origin: a cache must not serve one origin's response to another.
    varies: bool,
    max_age: Option<HeaderValue>,
}

impl CorsRules {
    /// `prefix` is the platform's prefix as declared (`cms`), for the default lists of headers.
    pub fn new(cors: &Cors, prefix: &str) -> CorsRules {
        let prefix = prefix.to_ascii_uppercase();
        let listed = [
            (header::ACCESS_CONTROL_EXPOSE_HEADERS, list_or(&cors.expose_headers, || exposed(&prefix))),
            (header::ACCESS_CONTROL_ALLOW_HEADERS, list_or(&cors.allow_headers, || allowed(&prefix))),
        ];
        let declared = cors.any || cors.reflect || !cors.origins.is_empty();
        let always = listed.into_iter().filter(|_| declared);
        CorsRules {
            any: cors.any,
            reflect: cors.reflect,
            origins: cors.origins.clone(),
            always: always.filter_map(|(name, list)| Some((name, HeaderValue::try_from(list).ok()?))).collect(),
            varies: cors.reflect || !cors.origins.is_empty(),
            max_age: cors.max_age.get().map(|age| HeaderValue::from(age.seconds())),
        }
    }

    /// Adds what a request of this origin gets; `preflight` is one by `OPTIONS`, `shared` a response that caches may
    /// serve to others, perhaps of another origin.
    pub fn apply(&self, origin: Option<&HeaderValue>, preflight: bool, shared: bool, headers: &mut HeaderMap) {
        for (name, value) in &self.always {
            headers.insert(name.clone(), value.clone());
        }
        if self.varies && (shared || origin.is_some()) {
            headers.append(header::VARY, VARY);
        }
        let Some(origin) = origin.filter(|origin| origin.len() <= LONGEST_ORIGIN) else { return };
        let listed = self.lists(origin);
        if listed {
            extend(headers, header::ACCESS_CONTROL_EXPOSE_HEADERS, &EXPOSED_TO_LISTED);
            extend(headers, header::ACCESS_CONTROL_ALLOW_HEADERS, &ALLOWED_TO_LISTED);
        }
        if self.reflect || listed {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
        } else if self.any {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        } else {
            return;
        }
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        if let Some(age) = self.max_age.as_ref().filter(|_| preflight) {
            headers.insert(header::ACCESS_CONTROL_MAX_AGE, age.clone());
        }
    }

    fn lists(&self, origin: &HeaderValue) -> bool {
        origin.to_str().is_ok_and(|origin| self.origins.iter().any(|listed| is_origin(listed, origin)))
    }
}

/// Adds the names that a list of headers does not have.
fn extend(headers: &mut HeaderMap, name: HeaderName, more: &[&str]) {
    let list = headers.get(&name).and_then(|list| list.to_str().ok()).unwrap_or_default();
    let mut names: Vec<&str> = list.split(", ").filter(|name| !name.is_empty()).collect();
    names.extend(more.iter().filter(|more| !list.split(", ").any(|name| name.eq_ignore_ascii_case(more))));
    if let Ok(list) = HeaderValue::try_from(names.join(", ")) {
        headers.insert(name, list);
    }
}

fn is_origin(listed: &str, origin: &str) -> bool {
    listed.eq_ignore_ascii_case(origin)
}

fn list_or(declared: &[String], default: impl FnOnce() -> String) -> String {
    if declared.is_empty() { default() } else { declared.join(", ") }
}

fn exposed(prefix: &str) -> String {
    format!("X-{prefix}-Total, X-{prefix}-TotalPages, Link")
}

fn allowed(prefix: &str) -> String {
    format!("Authorization, X-{prefix}-Nonce, Content-Disposition, Content-MD5, Content-Type")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(cors: &Cors, origin: Option<&str>, preflight: bool) -> Vec<(String, String)> {
        let origin = origin.map(|o| HeaderValue::from_str(o).expect("a header's value"));
        let mut headers = HeaderMap::new();
        CorsRules::new(cors, "cms").apply(origin.as_ref(), preflight, true, &mut headers);
        let text = |value: &HeaderValue| value.to_str().expect("text").to_owned();
        headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
    }

    fn check(cors: &Cors, origin: Option<&str>, expected: &[(&str, &str)]) {
        let found = headers(cors, origin, false);
        let chosen = ["vary", "access-control-allow-origin", "access-control-allow-credentials"];
        let found: Vec<_> = chosen
            .iter()
            .filter_map(|name| found.iter().find(|(n, _)| n == name))
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(found, expected, "{cors:?} {origin:?}");
    }

    #[test]
    fn rules() {
        let reflect = Cors { reflect: true, ..Cors::default() };
        let any = Cors { any: true, ..Cors::default() };
        let listed = Cors { origins: vec!["https://a.example".into()], ..Cors::default() };
        let vary = ("vary", "Origin");
        let credentials = ("access-control-allow-credentials", "true");
        check(&Cors::default(), Some("https://a.example"), &[]);
        check(&reflect, None, &[vary]);
        check(&reflect, Some("null"), &[vary, ("access-control-allow-origin", "null"), credentials]);
        check(&any, None, &[]);
        check(&any, Some("https://a.example"), &[("access-control-allow-origin", "*")]);
        check(
            &listed,
            Some("https://a.example"),
            &[vary, ("access-control-allow-origin", "https://a.example"), credentials],
        );
        check(&listed, Some("https://b.example"), &[vary]);
        check(&listed, Some("https://a.example.evil.example"), &[vary]);
    }

    #[test]
    fn listed_origins_compare_versions() {
        let listed = Cors { origins: vec!["https://a.example".into()], ..Cors::default() };
        let text = |origin: &str| format!("{:?}", headers(&listed, Some(origin), false));
        assert!(text("https://a.example").contains("Link, ETag, X-Request-Id, Retry-After"));
        assert!(text("https://a.example").contains("Content-Type, If-Match, If-None-Match, Prefer"));
        assert!(!text("https://b.example").contains("ETag"), "others only read");
        let declared = Cors { expose_headers: vec!["etag".into()], allow_headers: vec!["Prefer".into()], ..listed };
        let text = format!("{:?}", headers(&declared, Some("https://a.example"), false));
        assert!(
            text.contains("\"etag, X-Request-Id, Retry-After\"")
                && text.contains("\"Prefer, If-Match, If-None-Match\"")
        );
        let reflect = Cors { reflect: true, ..Cors::default() };
        assert!(!format!("{:?}", headers(&reflect, Some("https://a.example"), false)).contains("ETag"));
    }

    #[test]
    fn lists_of_headers_follow_the_prefix_or_the_declaration() {
        let declared = Cors { reflect: true, expose_headers: vec!["A".into(), "B".into()], ..Cors::default() };
        let found = headers(&declared, None, false);
        let get = |name: &str| found.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
        assert_eq!(get("access-control-expose-headers"), Some("A, B"));
        let allowed = "Authorization, X-CMS-Nonce, Content-Disposition, Content-MD5, Content-Type";
        assert_eq!(get("access-control-allow-headers"), Some(allowed));
        assert_eq!(headers(&Cors::default(), Some("https://a"), true), []);
    }

    #[test]
    fn an_origin_that_is_too_long_is_not_repeated() {
        let reflect = Cors { reflect: true, ..Cors::default() };
        let of = |length: usize| format!("https://{}", "x".repeat(length - 8));
        let told =
            |length| headers(&reflect, Some(&of(length)), false).iter().any(|(n, _)| n.ends_with("allow-origin"));
        assert!(told(LONGEST_ORIGIN - 1) && told(LONGEST_ORIGIN) && !told(LONGEST_ORIGIN + 1));
    }

    #[test]
    fn preflights_say_how_long_they_hold() {
        let cors = Cors {
            any: true,
            max_age: cms_declaration::units::OptionalSetting::on(cms_declaration::units::Duration::seconds_of(600)),
            ..Cors::default()
        };
        let has = |preflight| headers(&cors, Some("https://a"), preflight).iter().any(|(n, _)| n.ends_with("max-age"));
        assert!(has(true));
        assert!(!has(false));
    }
}
