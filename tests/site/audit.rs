//! The audit trail: what happens to accounts, passwords and permissions leaves an entry, and what is published and deleted.

use super::server::{Answer, Server, until};
use serde_json::{Value, json};

/// Every entry, oldest first: event, login, path, subject, changed.
fn trail(server: &Server) -> Vec<(String, String, String, String, Value)> {
    let answer = server.admin("GET", "/server/v1/audit?order=asc&per_page=100", None);
    assert_eq!(answer.status, 200, "{}", answer.body);
    let text = |entry: &Value, member: &str| entry[member].as_str().unwrap_or_default().to_owned();
    let entries = answer.body.as_array().expect("a list").clone();
    let entry =
        |e: &Value| (text(e, "event"), text(e, "login"), text(e, "path"), text(e, "subject"), e["changed"].clone());
    entries.iter().map(entry).collect()
}

fn log_in(server: &Server, login: &str, password: &str) -> Answer {
    let body = format!("login={login}&password={password}").into_bytes();
    let url = format!("{}/login", server.site);
    server.send("POST", &url, None, Some(("application/x-www-form-urlencoded", body)), &[])
}

#[test]
fn what_happens_to_accounts_leaves_an_entry() {
    let server = Server::start();
    let before = trail(&server).len();
    let body = json!({"username": "eva", "email": "eva@example.org", "password": "long enough", "roles": ["author"]});
    let eva = server.admin("POST", "/cms/v2/users", Some(&body)).body["id"].as_i64().expect("an id");
    let item = format!("/cms/v2/users/{eva}");
    server.admin("PUT", &item, Some(&json!({"roles": ["editor"], "password": "another long one", "name": "Eva"})));
    server.admin("PUT", &item, Some(&json!({"name": "Eva E."})));
    let passwords = format!("{item}/application-passwords");
    let made = server.admin("POST", &passwords, Some(&json!({"name": "Phone", "read_only": true}))).body;
    let password = format!("{passwords}/{}", made["uuid"].as_str().expect("an identifier"));
    server.admin("DELETE", &password, None);
    assert_eq!(log_in(&server, "eva", "wrong+one").status, 401);
    assert_eq!(log_in(&server, "eva", "another+long+one").status, 303);
    assert_eq!(server.admin("POST", "/cms/v2/users", Some(&body)).status, 400, "she is there already");
    server.admin("DELETE", &format!("{item}?force=true&reassign=1"), None);

    let entry = |event: &str, login: &str, path: &str, subject: &str, changed: Value| {
        (event.to_owned(), login.to_owned(), path.to_owned(), subject.to_owned(), changed)
    };
    let expected = [
        entry("user_created", "admin", "/cms/v2/users", "", json!(["username=\"eva\"", "roles=[\"author\"]"])),
        entry("user_changed", "admin", &item, "", json!(["password", "roles=[\"editor\"]"])),
        entry("application_password_created", "admin", &passwords, "Phone", json!(["name", "read_only=true"])),
        entry("application_password_revoked", "admin", &password, "", json!([])),
        entry("login_failed", "eva", "/login", "", json!([])),
        entry("login", "eva", "/login", "", json!([])),
        entry("user_deleted", "admin", &item, "", json!(["force", "reassign=\"1\""])),
    ];
    assert_eq!(trail(&server)[before..], expected);
    let all = server.admin("GET", "/server/v1/audit?per_page=100", None).text;
    for secret in ["long enough", "another", "wrong", made["password"].as_str().expect("the clear value")] {
        assert!(!all.contains(secret), "{secret}");
    }
    let last = &server.admin("GET", "/server/v1/audit?event=login&user=&ip=127.0.0.1", None).body;
    assert_eq!((last.as_array().map(Vec::len), &last[0]["ip"]), (Some(1), &json!("127.0.0.1")));
    assert!(last[0]["client"].is_string(), "{last}");
}

#[test]
fn the_trail_is_for_those_who_edit_users_and_nobody_writes_it() {
    let server = Server::start();
    server.user("eva", "editor");
    let editor = server.user("otto", "editor");
    assert_eq!(server.get("/server/v1/audit").status, 401);
    assert_eq!(server.ask("GET", "/server/v1/audit", Some(&editor), None).status, 403);
    let id = server.admin("GET", "/server/v1/audit", None).body[0]["id"].clone();
    let item = format!("/server/v1/audit/{id}");
    assert_eq!(server.admin("GET", &item, None).status, 200);
    assert_eq!(server.ask("GET", &item, Some(&editor), None).status, 403);
    for (method, route) in [("POST", "/server/v1/audit"), ("PUT", &item), ("DELETE", &item)] {
        assert_eq!(server.admin(method, route, Some(&json!({"event": "x"}))).status, 404, "{method}");
    }
    let root = server.get("/").body;
    assert!(root["routes"]["/server/v1/audit"].is_object(), "the root lists it");
}

#[test]
fn no_trail_is_kept_where_none_is_declared() {
    let server = Server::with(&["site.audit=false"]);
    server.user("eva", "editor");
    assert_eq!(server.admin("GET", "/server/v1/audit", None).body, json!([]));
}

/// Creates a post; its path.
fn post(server: &Server, title: &str, status: &str) -> String {
    let made = server.admin("POST", "/cms/v2/posts", Some(&json!({"title": {"raw": title}, "status": status})));
    format!("/cms/v2/posts/{}", made.body["id"])
}

#[test]
fn what_is_published_and_deleted_leaves_an_entry() {
    let server = Server::start();
    let before = trail(&server).len();
    let item = post(&server, "Bees", "draft");
    server.admin("PUT", &item, Some(&json!({"content": {"raw": "Long legs."}})));
    server.admin("PUT", &item, Some(&json!({"status": "publish", "content": {"raw": "Short legs."}})));
    assert_eq!(server.admin("PUT", &item, Some(&json!({"status": "nothing"}))).status, 400);
    server.admin("DELETE", &item, None);
    server.admin("DELETE", &format!("{item}?force=true"), None);
    let tag = server.admin("POST", "/cms/v2/tags", Some(&json!({"name": "Bees"}))).body["id"].clone();
    let tag = format!("/cms/v2/tags/{tag}");
    server.admin("DELETE", &format!("{tag}?force=true"), None);
    let entry = |event: &str, path: &str, subject: &str, changed: Value| {
        (event.to_owned(), "admin".to_owned(), path.to_owned(), subject.to_owned(), changed)
    };
    let expected = [
        entry("content_created", "/cms/v2/posts", "Bees", json!(["status=\"draft\""])),
        entry("content_changed", &item, "", json!(["status=\"publish\""])),
        entry("content_deleted", &item, "", json!([])),
        entry("content_deleted", &item, "", json!(["force=true"])),
        entry("content_deleted", &tag, "", json!([])),
    ];
    assert_eq!(trail(&server)[before..], expected);
}

#[test]
fn entries_about_contents_are_few_and_those_about_accounts_stay() {
    let server = Server::with(&["site.max_audit_frequent=10"]);
    let body = json!({"username": "eva", "email": "eva@example.org", "password": "long enough"});
    assert_eq!(server.admin("POST", "/cms/v2/users", Some(&body)).status, 201);
    (0..25).for_each(|n| drop(post(&server, &format!("Post {n}"), "publish")));
    let of = |event: &str| {
        let answer = server.admin("GET", &format!("/server/v1/audit?per_page=100&event={event}"), None);
        answer.body.as_array().map_or(0, Vec::len)
    };
    until("the oldest entries are gone", || of("content_created") <= 10);
    assert_eq!((of("content_created"), of("user_created")), (10, 1));
}

#[test]
fn entries_about_terms_are_few_without_any_write_of_a_record() {
    let server = Server::with(&["site.max_audit_frequent=10"]);
    (0..25).for_each(|n| {
        let tag = server.admin("POST", "/cms/v2/tags", Some(&json!({"name": format!("Tag {n}")}))).body["id"].clone();
        assert_eq!(server.admin("DELETE", &format!("/cms/v2/tags/{tag}?force=true"), None).status, 200);
    });
    until("the oldest entries are gone", || {
        let answer = server.admin("GET", "/server/v1/audit?per_page=100&event=content_deleted", None);
        answer.body.as_array().map_or(0, Vec::len) <= 10
    });
}
