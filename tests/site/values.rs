//! Values of arguments: nulls empty, names are cleaned, what is named has to be there.

use super::server::Server;
use serde_json::{Value, json};

fn made(server: &Server, route: &str, body: Value) -> String {
    let answer = server.admin("POST", &format!("/cms/v2/{route}"), Some(&body));
    assert_eq!(answer.status, 201, "{route} {body}: {}", answer.text);
    format!("/cms/v2/{route}/{}", answer.body["id"])
}

#[test]
fn null_empties_what_can_be_empty() {
    let server = Server::with(&["dialect.null_as_empty=true"]);
    let above = made(&server, "pages", json!({"title": {"raw": "Above"}, "status": "publish"}));
    let number: i64 = above.rsplit('/').next().and_then(|id| id.parse().ok()).expect("an id");
    let page = json!({"title": {"raw": "Page"}, "slug": "other", "password": "secret", "parent": number, "menu_order": 3,
        "status": "publish"});
    let page = made(&server, "pages", page);
    let tag = made(&server, "tags", json!({"name": "Tag", "description": "Words"}));
    let user = made(
        &server,
        "users",
        json!({"username": "ann", "email": "ann@example.org", "password": "Long enough 1", "first_name": "Ann",
            "name": "Ann A", "nickname": "Annie", "url": "https://example.org/"}),
    );
    let check = |path: &str, property: &str, expected: Value| {
        let path = format!("{path}?context=edit");
        let answer = server.admin("PUT", &path, Some(&json!({ property: null })));
        assert_eq!((answer.status, &answer.body[property]), (200, &expected), "{path} {property}: {}", answer.text);
    };
    check(&page, "password", json!(""));
    check(&page, "parent", json!(0));
    check(&page, "menu_order", json!(0));
    check(&page, "slug", json!("page"));
    check(&tag, "description", json!(""));
    check(&user, "first_name", json!(""));
    check(&user, "name", json!("ann"));
    check(&user, "nickname", json!("ann"));
    // The empty text is none of its values.
    check(&page, "comment_status", json!("closed"));
    check(&page, "status", json!("publish"));
    check(&user, "url", json!("https://example.org/"));
    check(&user, "email", json!("ann@example.org"));
    let answer = server.admin("PUT", &page, Some(&json!({"title": null, "content": null})));
    assert_eq!(answer.body["title"]["rendered"], json!("Page"), "{}", answer.text);
    let answer = server.admin("PUT", &user, Some(&json!({"password": null})));
    assert_eq!((answer.status, answer.code()), (400, "rest_invalid_param"), "nobody is without: {}", answer.text);
    let answer = server.admin("PUT", &user, Some(&json!({"roles": null})));
    assert_eq!((answer.status, &answer.body["roles"]), (200, &json!([])), "{}", answer.text);
    let answer = server.admin("POST", "/cms/v2/tags", Some(&json!({"name": null})));
    assert_eq!((answer.status, answer.code()), (400, "rest_missing_callback_param"));
}

#[test]
fn names_of_people_are_text() {
    let server = Server::start();
    let body = json!({"username": "bob", "email": "bob@example.org", "password": "Long enough 1",
        "first_name": "<b>Bob</b> & <script>alert(1)</script>", "last_name": "O'Hara", "slug": "Bob Ünlü 日本"});
    let bob = made(&server, "users", body);
    let shown = server.admin("GET", &format!("{bob}?context=edit"), None).body;
    assert_eq!(
        json!([shown["name"], shown["first_name"], shown["last_name"], shown["nickname"], shown["slug"]]),
        json!(["Bob &amp; O'Hara", "Bob &amp;", "O'Hara", "bob", "bob-unlu"])
    );
    let refused = |method: &str, path: &str, body: Value, code: &str| {
        let answer = server.admin(method, path, Some(&body));
        assert_eq!((answer.status, answer.code()), (400, code), "{path} {body}: {}", answer.text);
        answer.body
    };
    let new = |login: &str| json!({"username": login, "email": "new@example.org", "password": "Long enough 1"});
    for login in [" bob2", "bob2 ", "b\u{f6}b", ""] {
        let body = refused("POST", "/cms/v2/users", new(login), "rest_invalid_param");
        assert_eq!(body["data"]["details"]["username"]["code"], json!("rest_user_invalid_username"), "{login:?}");
    }
    refused("PUT", &bob, json!({"username": " bob"}), "rest_invalid_param");
    refused("PUT", &bob, json!({"username": "robert"}), "rest_user_invalid_argument");
    // Invalid numbers are reported before any lookup.
    refused("DELETE", "/cms/v2/users/987654?force=true&reassign=bob", json!({}), "rest_invalid_param");
}

#[test]
fn what_is_looked_for_is_text() {
    let server = Server::start();
    made(&server, "posts", json!({"title": {"raw": "A striking word"}, "status": "publish"}));
    made(&server, "posts", json!({"title": {"raw": "Draft of a striking word"}, "status": "draft"}));
    let check = |query: &str, expected: &str| {
        let answer = server.admin("GET", &format!("/cms/v2/posts?{query}"), None);
        assert_eq!(answer.header("x-cms-total"), Some(expected), "{query}: {}", answer.text);
    };
    check("search=%3Cb%3Estriking%3C/b%3E", "1");
    // Nothing named is the usual, not everything.
    check("status=", "1");
    check("status=any", "2");
    let answer = server.admin("GET", "/cms/v2/tags?post=0", None);
    assert_eq!(answer.status, 200, "{}", answer.text);
}

#[test]
fn records_without_an_excerpt_may_be_empty() {
    let server = Server::start();
    made(&server, "pages", json!({"status": "draft"}));
    let answer = server.admin("POST", "/cms/v2/posts", Some(&json!({"status": "draft"})));
    assert_eq!((answer.status, answer.code()), (400, "empty_content"), "{}", answer.text);
}

#[test]
fn the_terms_of_a_record_come_by_name() {
    let server = Server::start();
    let term = |name: &str| -> i64 {
        let path = made(&server, "tags", json!({"name": name}));
        path.rsplit('/').next().and_then(|id| id.parse().ok()).expect("an id")
    };
    let (wind, tide, ebb) = (term("Wind"), term("tide"), term("Ébb"));
    let body = json!({"title": {"raw": "Sea"}, "status": "publish", "tags": [wind, tide, ebb, 987654]});
    let sea = made(&server, "posts", body);
    assert_eq!(server.get(&sea).body["tags"], json!([ebb, tide, wind]));
}

#[test]
fn what_is_refused_is_refused_for_the_first_reason() {
    let server = Server::with(&["site.prefix=wp"]);
    let author = server.user("anna", "author");
    let check = |method: &str, route: &str, body: Value, expected: (u16, &str)| {
        let answer = server.ask(method, &format!("/wp/v2/{route}"), Some(&author), Some(&body));
        assert_eq!((answer.status, answer.code()), expected, "{method} {route} {body}: {}", answer.text);
    };
    let account =
        |login: &str, password: &str| json!({"username": login, "email": "b@example.org", "password": password});
    check("POST", "users", account("berta", "p"), (403, "rest_cannot_create_user"));
    check("POST", "users", account("b<>", "p"), (400, "rest_invalid_param"));
    check("POST", "users", account("", "p"), (400, "rest_invalid_param"));
    check("POST", "users", account("berta", "a\\b"), (400, "rest_invalid_param"));
    check("POST", "users/1", json!({"roles": ["editor"]}), (403, "rest_cannot_edit_roles"));
    check("POST", "users/1", json!({"name": "x"}), (403, "rest_cannot_edit"));
}

#[test]
fn descriptions_fields_and_pages_at_their_edges() {
    let server = Server::with(&["site.prefix=wp"]);
    let options = |route: &str| server.send("OPTIONS", &format!("{}{route}", server.rest), None, None, &[]);
    for unknown in ["/wp/v2/nothing", "/wp/v2/posts/x", "/none/v1"] {
        let answer = options(unknown);
        assert_eq!(
            (answer.status, answer.body, answer.headers.iter().any(|(n, _)| n == "allow")),
            (200, json!([]), false)
        );
    }
    let own = json!([{"href": format!("{}/wp/v2/posts", server.rest)}]);
    assert_eq!(options("/wp/v2/posts/").body["_links"]["self"], own);
    assert_eq!(
        options("/wp/v2/posts?_fields=namespace,_links").body,
        json!({"namespace": "wp/v2", "_links": {"self": own}})
    );
    assert_eq!(options("/wp/v2/posts/1").body.get("_links"), None, "its path has a value");
    let cms = Server::start();
    let answer = cms.send("OPTIONS", &format!("{}/cms/v2/nothing", cms.rest), None, None, &[]);
    assert_eq!((answer.status, answer.code()), (404, "rest_no_route"));

    let body = json!({"title": "Piece", "content": "x", "status": "publish"});
    assert_eq!(server.admin("POST", "/wp/v2/blocks", Some(&body)).status, 201);
    for (query, total, links) in
        [("offset=0", "1", None), ("offset=1", "0", None), ("page=2&search=nothing", "0", Some("page=0"))]
    {
        let answer = server.get(&format!("/wp/v2/blocks?{query}"));
        assert_eq!((&answer.body, answer.header("x-wp-total")), (&json!([]), Some(total)), "{query}");
        let previous = answer.headers.iter().find(|(name, value)| name == "link" && value.contains("rel=\"prev\""));
        assert_eq!(previous.is_some(), links.is_some(), "{query}");
        assert!(previous.is_none_or(|(_, link)| links.is_some_and(|page| link.contains(page))), "{previous:?}");
    }
    let shown = server.admin("GET", "/wp/v2/blocks?_fields=slug.more,title.none", None).body;
    assert_eq!(shown, json!([{"slug": "piece", "title": []}]));
    let root = server.get("/?_fields=name").body;
    assert_eq!(root.as_object().map(|map| map.keys().cloned().collect::<Vec<_>>()), Some(vec!["name".into()]));
}

#[test]
fn whoever_writes_what_he_may_not_edit_is_not_told_to_read() {
    let server = Server::with(&["site.prefix=wp"]);
    let author = server.user("anna", "author");
    let made = server.ask("POST", "/wp/v2/tags", Some(&author), Some(&json!({"name": "Rope"})));
    assert_eq!((made.status, made.header("allow")), (201, Some("POST")), "{}", made.text);
    let made = server.admin("POST", "/wp/v2/tags", Some(&json!({"name": "Tide"})));
    assert_eq!(made.header("allow"), Some("GET, POST"));
}

#[test]
fn only_what_caches_share_varies_by_origin_for_those_who_send_none() {
    let server = Server::with(&["site.prefix=wp"]);
    let vary = |answer: &super::server::Answer| answer.headers.iter().any(|(n, v)| n == "vary" && v.contains("Origin"));
    assert!(vary(&server.get("/wp/v2/posts")));
    assert!(!vary(&server.admin("GET", "/wp/v2/posts", None)));
    let url = format!("{}/wp/v2/posts", server.rest);
    let answer = server.send("GET", &url, Some(&server.admin), None, &[("origin", "https://example.org")]);
    assert!(vary(&answer));
}

#[test]
fn a_record_without_terms_gets_the_default_one_when_it_is_written_again() {
    let server = Server::with(&["site.prefix=wp"]);
    for write in ["PUT", "DELETE"] {
        let body = json!({"title": "None", "status": "publish", "categories": []});
        let made = server.admin("POST", "/wp/v2/posts", Some(&body)).body;
        assert_eq!(made["categories"], json!([]), "none were asked for");
        let route = format!("/wp/v2/posts/{}", made["id"]);
        let changed = server.admin(write, &route, Some(&json!({"title": "Still"})).filter(|_| write == "PUT"));
        assert_eq!((changed.status, &changed.body["categories"]), (200, &json!([1])), "{write}: {}", changed.text);
    }
}

#[test]
fn what_waits_for_review_has_no_slug_whoever_sends_it() {
    let server = Server::with(&["site.prefix=wp"]);
    let writer = server.user("carl", "contributor");
    let made = server.ask("POST", "/wp/v2/posts", Some(&writer), Some(&json!({"title": "Mine", "slug": "mine"}))).body;
    let route = format!("/wp/v2/posts/{}", made["id"]);
    let pending = json!({"status": "pending"});
    assert_eq!(server.admin("PUT", &route, Some(&pending)).body["slug"], "mine");
    let again = server.ask("PUT", &route, Some(&writer), Some(&pending));
    assert_eq!((again.status, &again.body["slug"]), (200, &json!("")), "{}", again.text);
}

#[test]
fn a_page_beyond_the_end_is_told_beside_an_offset_too() {
    let server = Server::with(&["site.prefix=wp"]);
    server.admin("POST", "/wp/v2/posts", Some(&json!({"title": "One", "status": "publish"})));
    for (query, status) in [("offset=0&page=2", 400), ("offset=0&page=1", 200), ("offset=5&page=2", 200)] {
        assert_eq!(server.get(&format!("/wp/v2/posts?{query}")).status, status, "{query}");
    }
}

#[test]
fn what_has_no_words_for_a_slug_is_called_by_its_id() {
    let server = Server::with(&["site.prefix=wp"]);
    for (route, body) in [
        ("/wp/v2/posts", json!({"title": "", "content": "x", "status": "publish"})),
        ("/wp/v2/posts", json!({"title": "\"><", "slug": "?!", "status": "publish"})),
        ("/wp/v2/pages", json!({"content": "x", "status": "publish"})),
        ("/wp/v2/tags", json!({"name": "\"><"})),
    ] {
        let made = server.admin("POST", route, Some(&body));
        assert_eq!(made.status, 201, "{}", made.text);
        let id = made.body["id"].to_string();
        assert_eq!(made.body["slug"], json!(id), "{route} {body}");
        let again = server.admin("POST", &format!("{route}/{id}"), Some(&json!({"description": "y"})));
        assert_eq!(again.body["slug"], json!(id), "{route} {body}");
    }
}
