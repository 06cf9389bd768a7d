//! Limits.

use crate::shared::{args, refused_params, site, unique};
use serde_json::json;

const COLLECTIONS: [&str; 9] =
    ["posts", "pages", "blocks", "media", "categories", "tags", "users", "comments", "search"];

/// `per_page` maximum 100, all collections.
#[test]
fn per_page_is_at_most_100() {
    let site = site();
    for collection in COLLECTIONS {
        let route = format!("/cms/v2/{collection}");
        assert_eq!(site.admin("GET", &format!("{route}?per_page=100"), None).status, 200, "{route}");
        refused_params(site.admin("GET", &format!("{route}?per_page=101"), None), &["per_page"]);
        assert_eq!(args(&site, &route, "GET")["per_page"]["maximum"], 100, "{route}");
    }
    refused_params(site.admin("GET", "/cms/v2/themes?status=active&per_page=101", None), &["per_page"]);
}

/// `per_page` minimum 1 and `page` minimum 1.
#[test]
fn per_page_and_page_are_at_least_1() {
    let site = site();
    for collection in COLLECTIONS {
        let route = format!("/cms/v2/{collection}");
        for name in ["per_page", "page"] {
            assert_eq!(args(&site, &route, "GET")[name]["minimum"], 1, "{route} {name}");
            for bad in ["0", "-1", "", "1.5", "many"] {
                refused_params(site.admin("GET", &format!("{route}?{name}={bad}"), None), &[name]);
            }
        }
    }
}

/// `per_page` default 10 (search, themes, blocks), `page` default 1.
#[test]
fn ten_on_the_first_page_by_default() {
    let site = site();
    for collection in COLLECTIONS.into_iter().chain(["themes"]) {
        let args = args(&site, &format!("/cms/v2/{collection}"), "GET");
        assert_eq!(args["per_page"]["default"], 10, "{collection}");
        assert_eq!(args["page"]["default"], 1, "{collection}");
    }
    let name = unique("tenfold");
    for _ in 0..11 {
        let body = json!({"title": {"raw": name}, "content": {"raw": name}, "status": "Publish"});
        assert_eq!(site.admin("POST", "/cms/v2/blocks", Some(&body)).status, 201);
        let body = json!({"title": {"raw": name}, "status": "publish"});
        assert_eq!(site.admin("POST", "/cms/v2/posts", Some(&body)).status, 201);
    }
    for route in ["/cms/v2/blocks", "/cms/v2/search"] {
        let listed = site.admin("GET", &format!("{route}?search={name}"), None);
        assert_eq!(listed.body.as_array().map(Vec::len), Some(10), "{}", listed.text);
        assert_eq!(listed.header("x-cms-total"), Some("11"));
        assert_eq!(listed.header("x-cms-totalpages"), Some("2"));
        let second = site.admin("GET", &format!("{route}?search={name}&page=2"), None);
        assert_eq!(second.body.as_array().map(Vec::len), Some(1), "{}", second.text);
    }
}

/// `posts_per_page` default 10 in the settings.
#[test]
fn posts_per_page_starts_at_10() {
    let site = crate::server::Server::start();
    assert_eq!(site.admin("GET", "/cms/v2/settings", None).body["posts_per_page"], 10);
}

/// `_jsonp` callback: letters, digits, `_`, `.`, on all routes.
#[test]
fn a_callback_has_letters_digits_underscore_and_dot() {
    let site = site();
    for route in ["/", "/cms/v2", "/cms/v2/posts", "/cms/v2/search"] {
        for good in ["a", "a.b_c.D9", "_", "9", "jQuery123.cb"] {
            let answer = site.get(&format!("{route}?_jsonp={good}"));
            assert_eq!(answer.status, 200, "{good}");
            assert!(answer.text.contains(&format!("{good}(")), "{}", &answer.text[..60.min(answer.text.len())]);
        }
        for bad in ["a-b", "a(b", "a%20b", "a;b", "a%5B0%5D", "a$", "%C3%A4"] {
            let answer = site.get(&format!("{route}?_jsonp={bad}"));
            assert_eq!(answer.status, 400, "{bad}");
            assert!(answer.body.is_object(), "{}", answer.text);
        }
    }
}

/// More than 100 items need several requests, which together hold each item once.
#[test]
fn more_than_100_items_come_in_several_requests() {
    let site = site();
    let stem = unique("hundred");
    for n in 0..103 {
        let body = json!({"name": format!("{stem} {n}")});
        assert_eq!(site.admin("POST", "/cms/v2/tags", Some(&body)).status, 201);
    }
    let mut seen = Vec::new();
    for page in 1..=2 {
        let answer = site.get(&format!("/cms/v2/tags?search={stem}&per_page=100&page={page}&orderby=id"));
        assert_eq!(answer.header("x-cms-total"), Some("103"));
        assert_eq!(answer.header("x-cms-totalpages"), Some("2"));
        seen.extend(crate::shared::ids(&answer));
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 103);
}
