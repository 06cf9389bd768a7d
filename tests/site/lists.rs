//! Lists: order, sticky records, exact searches, terms without records; what changes a term's slug.

use super::server::{Answer, Server};
use serde_json::{Value, json};

fn make(server: &Server, route: &str, body: Value) -> i64 {
    let made = server.admin("POST", &format!("/wp/v2/{route}"), Some(&body));
    assert_eq!(made.status, 201, "{body}: {}", made.text);
    made.body["id"].as_i64().expect("an id")
}

fn post(server: &Server, title: &str, more: Value) -> i64 {
    let mut body = json!({"title": title, "content": "text", "status": "publish"});
    body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    make(server, "posts", body)
}

fn ids(answer: &Answer) -> Vec<i64> {
    let list = answer.body.as_array().unwrap_or_else(|| panic!("{}", answer.text));
    list.iter().filter_map(|item| item["id"].as_i64()).collect()
}

fn found(server: &Server, route: &str) -> Vec<i64> {
    ids(&server.admin("GET", &format!("/wp/v2/{route}"), None))
}

#[test]
fn sticky_records_come_first_and_lengthen_the_page() {
    let server = Server::with(&["site.prefix=wp"]);
    let day = |day: u32| json!({"date": format!("2026-01-{day:02}T10:00:00")});
    let with = |more: Value, also: Value| {
        let mut all = more.as_object().expect("an object").clone();
        all.extend(also.as_object().expect("an object").clone());
        Value::Object(all)
    };
    let oldest = post(&server, "a", with(day(1), json!({"sticky": true})));
    let old = post(&server, "b", with(day(2), json!({"sticky": true})));
    let tag = make(&server, "tags", json!({"name": "T"}));
    let newer = post(&server, "c", with(day(3), json!({"tags": [tag]})));
    let newest = post(&server, "d", day(4));
    assert_eq!(found(&server, "posts?per_page=3"), [newest, newer, old]);
    let first = server.admin("GET", "/wp/v2/posts?per_page=3&ignore_sticky=false", None);
    assert_eq!((ids(&first), first.header("x-wp-total")), (vec![old, oldest, newest, newer], Some("4")));
    assert_eq!(found(&server, "posts?per_page=3&ignore_sticky=false&page=2"), [oldest]);
    assert_eq!(found(&server, &format!("posts?per_page=2&ignore_sticky=false&exclude={old}")), [oldest, newest, newer]);
    for selected in [format!("tags={tag}"), format!("include={newer}"), "search=c".to_owned()] {
        assert_eq!(found(&server, &format!("posts?ignore_sticky=false&{selected}")), [newer], "{selected}");
    }
    assert_eq!(found(&server, &format!("posts?ignore_sticky=false&tags_exclude={tag}")), [old, oldest, newest]);
}

#[test]
fn a_sort_key_without_what_it_sorts_by_is_an_error_of_records_alone() {
    let server = Server::with(&["site.prefix=wp"]);
    let [b, a] = ["b", "a"].map(|name| make(&server, "tags", json!({"name": name})));
    assert_eq!(found(&server, "tags?orderby=include"), [a, b], "as without a sort key");
    assert_eq!(found(&server, "tags?orderby=include_slugs&order=desc"), [b, a]);
    assert_eq!(found(&server, "users?orderby=include").len(), 1);
    let refused = server.admin("GET", "/wp/v2/posts?orderby=include", None);
    assert_eq!((refused.status, refused.code()), (400, "rest_orderby_include_missing_include"));
    assert_eq!(server.admin("GET", "/wp/v2/posts?orderby=include_slugs", None).status, 200);
}

#[test]
fn searches_are_exact_by_word_and_take_quotes_alone() {
    let server = Server::with(&["site.prefix=wp"]);
    let date = |day: u32| json!({"date": format!("2026-01-{day:02}T10:00:00")});
    let one = post(&server, "Élan", date(1));
    let two = post(&server, "elan vital", date(2));
    let quoted = post(&server, "a \" b", date(3));
    assert_eq!(found(&server, "posts?search=elan"), [two, one]);
    assert_eq!(found(&server, "posts?search=elan&search_semantics=exact"), [one]);
    assert!(found(&server, "posts?search=elan%20vital&search_semantics=exact").is_empty(), "each word is compared");
    assert_eq!(found(&server, "posts?search=%22elan%20vital%22&search_semantics=exact"), [two]);
    assert_eq!(found(&server, "posts?search=%22"), [quoted]);
    // Letters and frequent words say nothing beside others, and a plus is a blank.
    assert_eq!(found(&server, "posts?search=the%20x%20vital"), [two]);
    assert_eq!(found(&server, "posts?search=vital%2Belan"), [two]);
    assert_eq!(found(&server, "search?search=of%20vital&subtype=any").len(), 1);
    assert_eq!(found(&server, "posts?search=elan&orderby=relevance&order=asc"), [one, two]);
    let page = make(&server, "pages", json!({"title": "elan", "status": "publish"}));
    assert_eq!(found(&server, "search?search=elan&subtype=any").len(), 3);
    let fallback = found(&server, "search?type=post&search=elan&subtype=category");
    assert!(fallback.len() == 2 && !fallback.contains(&page), "{fallback:?}");
}

#[test]
fn conditions_on_terms_are_joined_with_exclusions() {
    let server = Server::with(&["site.prefix=wp"]);
    let category = make(&server, "categories", json!({"name": "C"}));
    let tag = make(&server, "tags", json!({"name": "T"}));
    let both = post(&server, "both", json!({"categories": [category], "tags": [tag]}));
    let neither = post(&server, "neither", json!({}));
    let tagged = post(&server, "tagged", json!({"tags": [tag]}));
    let query = format!("posts?orderby=id&order=asc&categories={category}&tags_exclude={tag}");
    assert_eq!(found(&server, &format!("{query}&tax_relation=OR")), [both, neither]);
    assert!(found(&server, &query).is_empty());
    assert_eq!(found(&server, &format!("posts?tags={tag}&orderby=id&order=asc")), [both, tagged]);
}

#[test]
fn menus_are_empty_without_published_items() {
    let server = Server::with(&["site.prefix=wp"]);
    let [full, drafts, _empty] = ["full", "drafts", "empty"].map(|name| make(&server, "menus", json!({"name": name})));
    make(&server, "menu-items", json!({"title": "x", "url": "https://x.example", "menus": full, "status": "publish"}));
    make(&server, "menu-items", json!({"title": "x", "url": "https://x.example", "menus": drafts, "status": "draft"}));
    let list = server.admin("GET", "/wp/v2/menus?hide_empty=true", None);
    assert_eq!((ids(&list), list.header("x-wp-total")), (vec![full], Some("1")));
    assert_eq!(found(&server, "menus").len(), 3);
}

#[test]
fn an_emptied_slug_follows_from_the_name_and_stays_unique() {
    let server = Server::with(&["site.prefix=wp"]);
    let above = make(&server, "categories", json!({"name": "Above"}));
    make(&server, "categories", json!({"name": "Tea"}));
    let below = make(&server, "categories", json!({"name": "Green", "parent": above}));
    let change = |id: i64, taxonomy: &str, body: Value| {
        let changed = server.admin("POST", &format!("/wp/v2/{taxonomy}/{id}"), Some(&body));
        (changed.status, changed.body["slug"].as_str().map(str::to_owned).unwrap_or(changed.code().to_owned()))
    };
    let is = |status: u16, slug: &str| (status, slug.to_owned());
    assert_eq!(change(below, "categories", json!({"name": "Tea", "slug": ""})), is(200, "tea-above"));
    assert_eq!(change(below, "categories", json!({"slug": "tea"})), is(500, "duplicate_term_slug"));
    assert_eq!(change(below, "categories", json!({"slug": "tea", "parent": 0})), is(200, "tea-2"));
    let [one, two] = ["One", "Two"].map(|name| make(&server, "tags", json!({"name": name})));
    assert_eq!(change(two, "tags", json!({"name": "One", "slug": ""})), is(200, "one-2"));
    assert_eq!(change(one, "tags", json!({"slug": ""})), is(200, "one"), "its own slug is not taken");
}

#[test]
fn links_to_pages_leave_the_other_parameters_where_they_are() {
    let server = Server::with(&["site.prefix=wp"]);
    for n in 0..3 {
        server.admin("POST", "/wp/v2/tags", Some(&json!({"name": format!("T {n}")})));
    }
    let links = |query: &str| {
        let answer = server.get(&format!("/wp/v2/tags?{query}"));
        let links = answer.headers.iter().filter(|(name, _)| name == "link").map(|(_, value)| value.as_str());
        links.collect::<Vec<_>>().join(", ")
    };
    let site = &server.site;
    let address = |query: &str| format!("{site}/wp-json/wp/v2/tags?{query}");
    let found = links("per_page=1&page=2&order=asc");
    for (query, rel) in [("per_page=1&page=1&order=asc", "prev"), ("per_page=1&page=3&order=asc", "next")] {
        assert!(found.contains(&format!("<{}>; rel=\"{rel}\"", address(query))), "{rel} in {found}");
    }
    assert!(links("per_page=1").contains(&address("per_page=1&page=2")));
}

#[test]
fn linked_lists_are_embedded_as_whole_as_they_may_be() {
    let server = Server::with(&["site.prefix=wp"]);
    let tags: Vec<Value> = (0..12)
        .map(|n| server.admin("POST", "/wp/v2/tags", Some(&json!({"name": format!("T {n}")}))).body["id"].clone())
        .collect();
    let post = json!({"title": "Tagged", "status": "publish", "tags": tags});
    let id = server.admin("POST", "/wp/v2/posts", Some(&post)).body["id"].clone();
    let embedded = server.get(&format!("/wp/v2/posts/{id}?_embed=wp:term")).body;
    assert_eq!(embedded["_embedded"]["wp:term"][1].as_array().map(Vec::len), Some(12), "{embedded}");
    assert_eq!(server.get(&format!("/wp/v2/tags?post={id}")).body.as_array().map(Vec::len), Some(10));
}
