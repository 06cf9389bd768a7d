//! The methods that a caller may use beside the links of items: those that `Allow` lists at the items' own addresses.

use super::inside::Inside;
use super::server::Server;
use cms_core::model::Method;
use serde_json::{Value, json};

/// The methods that the link of a document to itself lists.
fn hints(document: &Value) -> Vec<String> {
    let link = &document["_links"]["self"][0];
    let methods = link["targetHints"]["allow"].as_array().cloned().unwrap_or_default();
    methods.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[test]
fn links_list_what_the_caller_may_do() {
    let server = Server::with(&["site.prefix=wp"]);
    let author = server.user("author", "author");
    let editor = server.user("editor", "editor");
    let make = |user: &(String, String), route: &str, body: Value| {
        let made = server.ask("POST", route, Some(user), Some(&body));
        assert_eq!(made.status, 201, "{}", made.text);
        made.body["id"].as_i64().expect("an id")
    };
    let mine = make(&author, "/wp/v2/posts", json!({"title": "Mine", "status": "publish"}));
    make(&editor, "/wp/v2/posts", json!({"title": "Another", "status": "publish", "comment_status": "open"}));
    make(&author, "/wp/v2/posts", json!({"title": "Draft"}));
    make(&editor, "/wp/v2/pages", json!({"title": "Page", "status": "publish"}));
    make(&server.admin, "/wp/v2/tags", json!({"name": "Tag"}));
    make(&author, "/wp/v2/comments", json!({"post": mine, "content": "Well"}));
    let lists = [
        "/wp/v2/posts",
        "/wp/v2/posts?context=edit&status=any",
        "/wp/v2/pages",
        "/wp/v2/categories",
        "/wp/v2/tags",
        "/wp/v2/comments",
        "/wp/v2/users",
        "/wp/v2/users?context=edit",
        "/wp/v2/search",
        "/wp/v2/block-types?namespace=core",
        "/wp/v2/themes?status=active",
    ];
    let mut compared = 0;
    for user in [None, Some(&author), Some(&editor), Some(&server.admin)] {
        for list in lists {
            let answer = server.ask("GET", list, user, None);
            if answer.status != 200 {
                continue;
            }
            // Once more from the cache of documents.
            let again =
                server.ask("GET", &format!("{list}{}", if list.contains('?') { "&x=1" } else { "?x=1" }), user, None);
            assert_eq!(again.body, answer.body, "{list}");
            for document in answer.body.as_array().expect("a list").iter().take(3) {
                let href =
                    document["_links"]["self"][0]["href"].as_str().unwrap_or_else(|| panic!("{list}: {document}"));
                let item = server.send("GET", href, user, None, &[]);
                let allowed: Vec<&str> = item.header("allow").unwrap_or_default().split(", ").collect();
                assert_eq!(hints(document), allowed, "{list} {href} for {:?}", user.map(|user| &user.0));
                compared += 1;
            }
        }
    }
    assert!(compared > 40, "{compared}");
    // The same text is not for callers with other rights.
    let of =
        |user: Option<&(String, String)>| hints(&server.ask("GET", &format!("/wp/v2/posts/{mine}"), user, None).body);
    assert_eq!(of(None), ["GET"]);
    assert_eq!(of(Some(&author)), ["GET", "POST", "PUT", "PATCH", "DELETE"]);
    assert_eq!(of(None), ["GET"]);
    // Embedded documents have them, too; under the other prefix nothing has.
    let embedded = server.ask("GET", &format!("/wp/v2/posts/{mine}?_embed=author"), Some(&author), None);
    assert_eq!(hints(&embedded.body["_embedded"]["author"][0]), ["GET", "POST", "PUT", "PATCH"], "{}", embedded.text);
    let server = server.restart_with(&["site.prefix=cms"]);
    let plain = server.admin("GET", "/cms/v2/posts", None);
    assert!(plain.status == 200 && !plain.text.contains("targetHints"), "{}", plain.text);
}

#[test]
fn they_cost_anonymous_callers_nothing_and_others_the_same_for_any_list() {
    let site = Inside::with(&["site.prefix=wp"]);
    let plain = Inside::with(&["site.prefix=wp", "dialect.target_hints=false"]);
    for site in [&site, &plain] {
        for i in 0..30 {
            let post = site.make(
                "/wp/v2/posts",
                &json!({"title": format!("P{i}"), "status": "publish", "comment_status": "open"}),
            );
            let body = json!({"post": post["id"], "content": format!("C{i}"), "author_name": "A", "author_email": "a@example.org"});
            site.make("/wp/v2/comments", &body);
        }
    }
    let table = |site: &Inside, list: &str, admin: bool| {
        [10, 30].map(|n| site.cheapest(&format!("{list}?per_page={n}"), admin).queries)
    };
    for list in ["/wp/v2/posts", "/wp/v2/comments", "/wp/v2/users", "/wp/v2/categories", "/wp/v2/search"] {
        assert_eq!(table(&site, list, false), table(&plain, list, false), "{list}");
        let [few, many] = table(&site, list, true);
        assert!(many <= few && few <= table(&plain, list, true)[0] + 3, "{list}: {few} {many}");
    }
    assert_eq!(
        site.ask(Method::Get, "/wp/v2/posts", false, None).body[0]["_links"]["self"][0]["targetHints"],
        json!({"allow": ["GET"]})
    );
}

/// A record's password is in the query, whatever the method: in a body it is the one that the record is to have.
#[test]
fn the_password_in_a_body_opens_nothing() {
    let server = Server::with(&["site.prefix=wp"]);
    let made =
        server.admin("POST", "/wp/v2/posts", Some(&json!({"title": "P", "status": "publish", "password": "old"})));
    let route = format!("/wp/v2/posts/{}", made.body["id"]);
    let all = Some("GET, POST, PUT, PATCH, DELETE");
    let write = |query: &str, body: Value| {
        let answer = server.admin("POST", &format!("{route}{query}"), Some(&body));
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.header("allow").map(str::to_owned)
    };
    assert_eq!(write("", json!({"title": "Q"})).as_deref(), all);
    assert_eq!(write("?password=wrong", json!({"password": "new"})).as_deref(), Some("POST, PUT, PATCH, DELETE"));
    assert_eq!(write("?password=new", json!({"title": "R", "password": "new"})).as_deref(), all);
    let read = server.send("GET", &format!("{}{route}?password=new", server.rest), None, None, &[]);
    assert_eq!((read.status, read.body["content"]["protected"].clone()), (200, json!(true)));
    let read = server.ask("GET", &format!("{route}?password=old"), None, None);
    assert_eq!(read.code(), "rest_post_incorrect_password");
}
