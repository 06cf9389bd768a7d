//! Cross-origin headers of the REST base (contract: "CORS").
//!
//! A pure function of the declared rules, the prefix and the request's `Origin`. Pages outside the base never get any.

use crate::config::declaration::Cors;
use crate::model::Method;

const METHODS: &str = "OPTIONS, GET, POST, PUT, PATCH, DELETE";

/// The headers that the rules add, names in lower case; none when no rule is declared.
///
/// `prefix` is the platform's prefix as declared (`cms`), for the default lists of headers.
pub fn headers(cors: &Cors, prefix: &str, origin: Option<&str>, method: Option<Method>) -> Vec<(&'static str, String)> {
    if !cors.any && !cors.reflect && cors.origins.is_empty() {
        return Vec::new();
    }
    let prefix = prefix.to_ascii_uppercase();
    let mut headers = vec![
        ("access-control-expose-headers", list_or(&cors.expose_headers, || exposed(&prefix))),
        ("access-control-allow-headers", list_or(&cors.allow_headers, || allowed(&prefix))),
    ];
    if cors.reflect || !cors.origins.is_empty() {
        // Also without an origin: a cache must not hand one origin's answer to another.
        headers.push(("vary", "Origin".into()));
    }
    let Some(origin) = origin else { return headers };
    if cors.reflect || cors.origins.iter().any(|listed| is_origin(listed, origin)) {
        headers.push(("access-control-allow-origin", origin.to_owned()));
        headers.push(("access-control-allow-credentials", "true".into()));
    } else if cors.any {
        headers.push(("access-control-allow-origin", "*".into()));
    } else {
        return headers;
    }
    headers.push(("access-control-allow-methods", METHODS.into()));
    if cors.max_age > 0 && method == Some(Method::Options) {
        headers.push(("access-control-max-age", cors.max_age.to_string()));
    }
    headers
}

fn is_origin(listed: &str, origin: &str) -> bool {
    listed.trim_end_matches('/').eq_ignore_ascii_case(origin)
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

    fn check(cors: &Cors, origin: Option<&str>, expected: &[(&str, &str)]) {
        let found = headers(cors, "cms", origin, Some(Method::Get));
        let found: Vec<_> = found
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .filter(|(name, _)| {
                matches!(*name, "vary" | "access-control-allow-origin" | "access-control-allow-credentials")
            })
            .collect();
        assert_eq!(found, expected, "{cors:?} {origin:?}");
    }

    #[test]
    fn rules() {
        let reflect = Cors { reflect: true, ..Cors::default() };
        let any = Cors { any: true, ..Cors::default() };
        let listed = Cors { origins: vec!["https://a.example/".into()], ..Cors::default() };
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
    fn lists_of_headers_follow_the_prefix_or_the_declaration() {
        let declared = Cors { reflect: true, expose_headers: vec!["A".into(), "B".into()], ..Cors::default() };
        let found = headers(&declared, "cms", None, None);
        assert!(found.contains(&("access-control-expose-headers", "A, B".into())));
        let (_, allowed) = &found[1];
        assert_eq!(allowed, "Authorization, X-CMS-Nonce, Content-Disposition, Content-MD5, Content-Type");
    }

    #[test]
    fn preflights_say_how_long_they_hold() {
        let cors = Cors { any: true, max_age: 600, ..Cors::default() };
        let has = |method| headers(&cors, "cms", Some("https://a"), method).iter().any(|(n, _)| n.ends_with("max-age"));
        assert!(has(Some(Method::Options)));
        assert!(!has(Some(Method::Get)));
    }
}
