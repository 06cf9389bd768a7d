//! What the values of arguments do: nulls empty, names are cleaned, what is named has to be there.

use super::server::Server;
use serde_json::{Value, json};

fn made(server: &Server, route: &str, body: Value) -> String {
    let answer = server.admin("POST", &format!("/cms/v2/{route}"), Some(&body));
    assert_eq!(answer.status, 201, "{route} {body}: {}", answer.text);
    format!("/cms/v2/{route}/{}", answer.body["id"])
}

#[test]
fn null_empties_what_can_be_empty() {
    let server = Server::start();
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
    // What is no number is told before anybody is looked for.
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
