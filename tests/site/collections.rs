//! Collections beyond the contract: walk by cursor, leave totals out, show where a search found something.

use super::server::{Answer, Server};
use serde_json::{Value, json};

fn ids(answer: &Answer) -> Vec<i64> {
    answer.body.as_array().expect("a list").iter().map(|item| item["id"].as_i64().expect("an id")).collect()
}

/// The address after which `rel="next"` leads on.
fn next(answer: &Answer, server: &Server) -> Option<String> {
    let link = answer.header("link")?.split(", ").find(|link| link.ends_with("rel=\"next\""))?;
    let address = link.trim_start_matches('<').split('>').next()?;
    Some(address.strip_prefix(&server.rest).expect("an address of this server").to_owned())
}

fn posts(server: &Server, titles: &[&str]) -> Vec<i64> {
    let post = |title: &&str| {
        let content = format!("<p>Of the {title}.</p>");
        let body = json!({"title": {"raw": title}, "status": "publish", "content": {"raw": content}});
        server.admin("POST", "/cms/v2/posts", Some(&body)).body["id"].as_i64().expect("an id")
    };
    titles.iter().map(post).collect()
}

fn walk(server: &Server, first: &str) -> Vec<i64> {
    let mut route = first.to_owned();
    let mut seen = Vec::new();
    loop {
        let answer = server.get(&route);
        assert_eq!(answer.status, 200, "{route}: {}", answer.text);
        assert_eq!(answer.header("x-cms-total"), None, "a walk counts nothing");
        seen.extend(ids(&answer));
        match next(&answer, server) {
            Some(next) => route = next,
            None => return seen,
        }
    }
}

#[test]
fn a_walk_sees_every_row_once() {
    let server = Server::start();
    // Equal dates and equal titles: only the key distinguishes such rows.
    posts(&server, &["b", "a", "c", "a", "b", "a", "d"]);
    for order in ["", "&order=asc", "&orderby=title", "&orderby=title&order=asc", "&orderby=id&order=asc", "&search=of"]
    {
        let whole = ids(&server.get(&format!("/cms/v2/posts?per_page=100{order}")));
        assert_eq!(whole.len(), 7);
        for per_page in [1, 2, 3, 7, 8] {
            let walked = walk(&server, &format!("/cms/v2/posts?per_page={per_page}{order}&_cursor="));
            assert_eq!(walked, whole, "{order} by {per_page}");
        }
    }
    let first = server.get("/cms/v2/posts?per_page=3&_cursor=");
    let on = next(&first, &server).expect("more");
    posts(&server, &["newer than all"]);
    let second = ids(&server.get(&on));
    assert!(second.iter().all(|id| !ids(&first).contains(id)), "what comes before shifts nothing: {second:?}");
}

#[test]
fn bad_cursors_are_refused() {
    let server = Server::start();
    posts(&server, &["one", "two"]);
    let by_date = server.get("/cms/v2/posts?per_page=1&_cursor=");
    let cursor = next(&by_date, &server).expect("more").split("_cursor=").nth(1).expect("a cursor").to_owned();
    for query in [
        "_cursor=nonsense".to_owned(),
        format!("orderby=title&_cursor={cursor}"),
        format!("order=asc&_cursor={cursor}"),
        "orderby=include&include=1&_cursor=".to_owned(),
        "search=one&orderby=relevance&_cursor=".to_owned(),
    ] {
        let answer = server.get(&format!("/cms/v2/posts?{query}"));
        assert_eq!((answer.status, answer.code()), (400, "rest_invalid_param"), "{query}");
        assert!(answer.body["data"]["params"]["_cursor"].is_string(), "{}", answer.text);
    }
}

#[test]
fn totals_can_be_left_out() {
    let server = Server::start();
    posts(&server, &["one", "two", "three"]);
    let counted = server.get("/cms/v2/posts?per_page=2");
    assert_eq!(counted.header("x-cms-total"), Some("3"));
    let answer = server.get("/cms/v2/posts?per_page=2&_total=false");
    assert_eq!((answer.header("x-cms-total"), answer.header("x-cms-totalpages")), (None, None));
    assert_eq!(ids(&answer), ids(&counted));
    let rest = server.get(&next(&answer, &server).expect("a second page"));
    assert_eq!((ids(&rest).len(), next(&rest, &server)), (1, None));
}

#[test]
fn places_that_hold_what_was_looked_for_are_shown() {
    let server = Server::start();
    posts(&server, &["Crème brûlée", "Apple pie"]);
    let secret = json!({"title": {"raw": "Apple secrets"}, "content": {"raw": "Hidden apple."}, "status": "publish", "password": "x"});
    assert_eq!(server.admin("POST", "/cms/v2/posts", Some(&secret)).status, 201);
    let found = server.get("/cms/v2/posts?search=brulee&_highlight=1").body;
    let marked = json!({"title": "Crème <mark>brûlée</mark>", "content": "Of the Crème <mark>brûlée</mark>."});
    assert_eq!(found[0]["_highlights"], marked);
    let found = server.get("/cms/v2/search?search=pie&_highlight=1").body;
    assert_eq!(found[0]["_highlights"]["title"], "Apple <mark>pie</mark>");
    let locked = server.admin("GET", "/cms/v2/posts?search=secrets&_highlight=1", None).body;
    assert_eq!(locked[0]["_highlights"], json!({"title": "Apple <mark>secrets</mark>"}));
    for plain in ["/cms/v2/posts?search=pie", "/cms/v2/posts?search=pie&_highlight=false", "/cms/v2/posts?_highlight=1"]
    {
        assert_eq!(server.get(plain).body[0].get("_highlights"), None::<&Value>, "{plain}");
    }
}

#[test]
fn caches_are_told_what_is_declared() {
    let server = Server::start();
    let first = posts(&server, &["one"])[0];
    assert_eq!(server.get("/cms/v2/posts").header("cache-control"), None, "nothing is said unless it is declared");
    let text = "[resources.posts]\ncache_control = { max_age = \"5s\", shared_max_age = \"60s\", stale_while_revalidate = \"30s\", tag_header = \"Surrogate-Key\" }\n";
    std::fs::write(server.path("site.toml"), text).expect("a file");
    let server = server.restart_with(&[]);
    for (route, keys) in
        [("posts".to_owned(), "posts".to_owned()), (format!("posts/{first}"), format!("posts posts/{first}"))]
    {
        for _ in ["made", "kept"] {
            let answer = server.get(&format!("/cms/v2/{route}"));
            let expected = "public, max-age=5, s-maxage=60, stale-while-revalidate=30";
            assert_eq!(answer.header("cache-control"), Some(expected), "{route}");
            assert_eq!(answer.header("surrogate-key"), Some(keys.as_str()), "{route}");
        }
        let known = server.admin("GET", &format!("/cms/v2/{route}"), None);
        assert_eq!((known.header("cache-control"), known.header("surrogate-key")), (Some("no-store, private"), None));
    }
    let secret = json!({"title": {"raw": "s"}, "content": {"raw": "hidden"}, "status": "publish", "password": "x"});
    let id = server.admin("POST", "/cms/v2/posts", Some(&secret)).body["id"].clone();
    let unlocked = server.get(&format!("/cms/v2/posts/{id}?password=x"));
    assert_eq!(unlocked.header("cache-control"), Some("private, no-store"));
    assert_eq!(server.get("/cms/v2/posts/999").header("cache-control"), None, "errors are not for caches");
    assert_eq!(server.get("/cms/v2/pages").header("cache-control"), None);
}
