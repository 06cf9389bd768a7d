//! Accounts over the routes: their preferences, lengths of their texts, and what remains of their records.

use super::server::Server;
use serde_json::{Value, json};

#[test]
fn preferences_and_other_registered_values_are_stored() {
    let declared =
        "[resources.tags.meta.colour]\nschema = { description = \"Colour.\", type = \"string\", default = \"\" }\n";
    let server = Server::with(&["site.prefix=wp"]);
    std::fs::write(server.path("site.toml"), declared).expect("a file");
    let server = server.restart_with(&["site.prefix=wp"]);
    let stored = json!({"core/edit-post": {"a": 1}, "_modified": "2026-01-01T00:00:00"});
    let sent = json!({"meta": {"persisted_preferences": stored}});
    let written = server.admin("PUT", "/wp/v2/users/me", Some(&sent));
    assert_eq!(written.body["meta"]["persisted_preferences"], stored, "{}", written.text);
    let shown = server.admin("GET", "/wp/v2/users/me?context=edit", None);
    assert_eq!(shown.body["meta"]["persisted_preferences"], stored);
    let made =
        json!({"username": "new", "email": "new@example.org", "password": "a long password", "meta": sent["meta"]});
    let made = server.admin("POST", "/wp/v2/users", Some(&made));
    assert_eq!(made.body["meta"]["persisted_preferences"], stored, "{}", made.text);

    let tag = server.admin("POST", "/wp/v2/tags", Some(&json!({"name": "T", "meta": {"colour": "red"}})));
    assert_eq!(tag.body["meta"]["colour"], "red", "{}", tag.text);
    let path = format!("/wp/v2/tags/{}", tag.body["id"]);
    server.admin("PUT", &path, Some(&json!({"meta": {"colour": "blue"}})));
    server.admin("PUT", &path, Some(&json!({"description": "Another"})));
    assert_eq!(server.get(&path).body["meta"]["colour"], "blue");
}

#[test]
fn texts_of_accounts_that_are_too_long_are_faults_under_wp() {
    let server = Server::with(&["site.prefix=wp"]);
    let made = |change: Value| {
        let mut body = json!({"username": "anna", "email": "anna@example.org", "password": "a long password"});
        body.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
        server.admin("POST", "/wp/v2/users", Some(&body))
    };
    for (change, code) in [
        (json!({"username": "a".repeat(61)}), "user_login_too_long"),
        (json!({"slug": "s".repeat(51)}), "user_nicename_too_long"),
        (json!({"url": format!("http://{}.example", "u".repeat(90))}), "user_url_too_long"),
        (json!({"username": "-"}), "empty_user_nicename"),
        (json!({"username": "admin"}), "existing_user_login"),
    ] {
        let refused = made(change.clone());
        assert_eq!((refused.status, refused.code(), &refused.body["data"]), (500, code, &Value::Null), "{change}");
    }
    let fits = made(json!({"username": "a".repeat(60), "slug": "s".repeat(50)}));
    assert_eq!(fits.status, 201, "{}", fits.text);
    let path = format!("/wp/v2/users/{}", fits.body["id"]);
    let refused = server.admin("PUT", &path, Some(&json!({"slug": "s".repeat(51)})));
    assert_eq!((refused.status, refused.code()), (500, "user_nicename_too_long"));
    let server = server.restart_with(&[]);
    let body = json!({"username": "a".repeat(61), "email": "b@example.org", "password": "a long password"});
    assert_eq!(server.admin("POST", "/cms/v2/users", Some(&body)).code(), "rest_invalid_param");
}

#[test]
fn records_of_a_deleted_user_go_to_the_trash_or_to_whom_they_are_left() {
    let server = Server::with(&["site.prefix=wp"]);
    let made = |route: &str, body: Value| -> i64 {
        let made = server.admin("POST", &format!("/wp/v2/{route}"), Some(&body));
        made.body["id"].as_i64().unwrap_or_else(|| panic!("{}", made.text))
    };
    let user = |name: &str| {
        let email = format!("{name}@example.org");
        made("users", json!({"username": name, "email": email, "password": "a long password", "roles": ["author"]}))
    };
    let removed = |id: i64, reassign: &str| {
        let path = format!("/wp/v2/users/{id}?force=true&reassign={reassign}");
        let gone = server.admin("DELETE", &path, None);
        (gone.status, gone.code().to_owned())
    };
    let record = |route: &str, id: i64| server.admin("GET", &format!("/wp/v2/{route}/{id}?context=edit"), None).body;
    let anna = user("anna");
    let post = made("posts", json!({"title": "By Anna", "status": "publish", "author": anna}));
    let page = made("pages", json!({"title": "Page", "status": "draft", "author": anna}));
    let thrown = made("posts", json!({"title": "Thrown away", "author": anna}));
    server.admin("DELETE", &format!("/wp/v2/posts/{thrown}"), None);
    let comment = made("comments", json!({"post": post, "content": "First."}));
    assert_eq!(removed(anna, "nobody"), (400, "rest_invalid_param".into()));
    assert_eq!(removed(anna, "999999"), (400, "rest_user_invalid_reassign".into()));
    assert_eq!(removed(anna, "false"), (200, String::new()));
    assert_eq!(record("posts", post)["status"], "trash");
    assert_eq!(record("posts", post)["slug"], "by-anna__trashed");
    assert_eq!(record("pages", page)["status"], "trash");
    assert_eq!(record("posts", thrown)["code"], "rest_post_invalid_id", "what was in the trash is deleted");
    assert_eq!(record("comments", comment)["status"], "post-trashed");
    let restored = server.admin("PUT", &format!("/wp/v2/posts/{post}"), Some(&json!({"status": "publish"})));
    assert_eq!((restored.status, &restored.body["slug"]), (200, &json!("by-anna")), "{}", restored.text);

    for heir in ["1", "-1", "1.5"] {
        let zoe = user("zoe");
        let post = made("posts", json!({"title": "By Zoe", "status": "publish", "author": zoe}));
        assert_eq!(removed(zoe, heir), (200, String::new()), "{heir}");
        assert_eq!(
            (&record("posts", post)["author"], &record("posts", post)["status"]),
            (&json!(1), &json!("publish"))
        );
    }
}
