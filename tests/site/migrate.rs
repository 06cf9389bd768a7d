//! Values when declarations change: the plan, new names, values that are deleted on purpose.

use super::server::{Server, run, stdout};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// The properties of a book.
fn declare(folder: &Path, properties: &Value) {
    let mut all = json!({
        "id": {"type": "integer", "description": "Id.", "readonly": true},
        "title": {"type": "string", "description": "Title.", "default": ""},
    });
    for (property, doc) in properties.as_object().expect("an object") {
        all[property] = doc.clone();
    }
    let schema = json!({"title": "book", "type": "object", "properties": all});
    fs::write(folder.join("schemas/book.json"), schema.to_string()).expect("a file");
}

/// A folder with books that have a number of pages and a publisher, and a server over it that holds one book.
fn site() -> (Server, i64) {
    let folder = TempDir::new().expect("a temporary folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    let site = "[namespaces.own]\npath = \"own/v1\"\n[capabilities.own]\nread = \"\"\ncreate = \"edit_posts\"\n\
        edit = \"edit_posts\"\ndelete = \"edit_posts\"\n[resources.books]\nextends = \"plain\"\nkind = \"book\"\n\
        schema = \"schemas/book.json\"\nnamespace = \"own\"\ncapabilities = \"own\"\n";
    fs::write(folder.path().join("site.toml"), site).expect("a file");
    declare(folder.path(), &json!({"pages": {"type": "integer"}, "owner": refers_to("users")}));
    let server = Server::over(folder, &[]);
    let made = server.admin("POST", "/own/v1/books", Some(&json!({"title": "A", "pages": 310, "owner": 1})));
    assert_eq!(made.status, 201, "{}", made.text);
    let id = made.body["id"].as_i64().expect("an id");
    (server, id)
}

fn refers_to(resource: &str) -> Value {
    json!({"type": "integer", "x-relation": {"to": resource}})
}

/// Runs a command over the server's declarations and database: success, output, errors.
pub(super) fn command(server: &Server, args: &[&str]) -> (bool, String, String) {
    let config = server.path("routes.toml");
    let storage = server.storage();
    let all = [args, &["--config", config.to_str().expect("a path"), "--set", &storage]].concat();
    let output = run(&all, "");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_plan_says_what_would_be_lost_and_how_to_keep_it() {
    let (mut server, id) = site();
    let folder = server.path("");
    let (good, out, _) = command(&server, &["migrate", "--dry-run"]);
    assert!(good && out.contains("the tables are as declared"), "{out}");
    let (good, _, errors) = command(&server, &["migrate"]);
    assert!(!good && errors.contains("stop the server first"), "{errors}");
    server.end();
    declare(&folder, &json!({"page_count": {"type": "integer"}, "owner": refers_to("users")}));
    let (good, out, errors) = command(&server, &["migrate", "--dry-run"]);
    assert!(!good && errors.contains("would lose values"), "{errors}");
    for line in [
        "remove the column `pages` (1 row holds a value in it)",
        "to move the values to `page_count`, write at that property: \"x-was\": \"pages\"",
        "to delete the values: cms-server migrate --drop books.pages",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
    let (good, out, _) = command(&server, &["migrate", "--dry-run", "--json"]);
    let plan: Value = serde_json::from_str(&out).expect("JSON");
    assert!(!good && plan["applied"] == false, "{plan}");
    let refused = plan["changes"].as_array().expect("a list").iter().find(|c| !c["refused"].is_null());
    assert_eq!(refused.expect("a refusal")["refused"]["new_names"], json!(["page_count"]), "{plan}");
    let (good, out, _) = command(&server, &["check", "--data"]);
    assert!(!good && out.contains("remove the column `pages`"), "{out}");
    let (good, _, errors) = command(&server, &["migrate"]);
    assert!(!good && errors.contains("cms-server migrate --dry-run"), "{errors}");

    declare(&folder, &json!({"page_count": {"type": "integer", "x-was": "pages"}, "owner": refers_to("users")}));
    let (good, out, errors) = command(&server, &["migrate"]);
    assert!(good && out.contains("rename the column `pages` to `page_count`"), "{out} {errors}");
    assert!(out.contains("The database as it was is"), "{out}");
    let server = server.restart_with(&[]);
    assert_eq!(server.get(&format!("/own/v1/books/{id}")).body["page_count"], 310);
}

#[test]
fn values_are_deleted_on_purpose_and_after_a_copy() {
    let (mut server, id) = site();
    let folder = server.path("");
    server.end();
    declare(&folder, &json!({"pages": {"type": "string"}, "owner": refers_to("posts")}));
    let (good, out, _) = command(&server, &["migrate", "--dry-run"]);
    assert!(!good && out.contains("make the column `pages` hold text"), "{out}");
    assert!(out.contains("let `owner` refer to rows of post (1 values refer to rows of user)"), "{out}");
    let (good, _, errors) = command(&server, &["migrate", "--drop", "books.title"]);
    assert!(!good && errors.contains("books.pages, books.owner"), "{errors}");
    let (good, _, errors) = command(&server, &["migrate", "--drop", "books.pages"]);
    assert!(!good && errors.contains("`owner`"), "{errors}");
    let (good, out, errors) = command(&server, &["migrate", "--drop", "books.pages", "--drop", "books.owner"]);
    assert!(good && out.contains("The database as it was is"), "{out} {errors}");
    let copy = out.split("as it was is ").nth(1).and_then(|rest| rest.lines().next()).expect("a path");
    assert!(fs::metadata(copy).expect("the copy").len() > 0);
    let server = server.restart_with(&[]);
    let book = server.get(&format!("/own/v1/books/{id}"));
    assert_eq!(
        (&book.body["title"], &book.body["pages"], &book.body["owner"]),
        (&json!("A"), &json!(null), &json!(null))
    );
    let (good, out, _) = command(&server, &["check", "--data"]);
    assert!(good && out.contains("whole"), "{out}");
}

#[test]
fn a_former_name_that_the_table_never_had_is_told() {
    let (mut server, _) = site();
    let folder = server.path("");
    server.end();
    let pages = json!({"type": "integer"});
    let shelf = json!({"type": "string", "x-was": "shelv"});
    declare(&folder, &json!({"pages": pages, "owner": refers_to("users"), "shelf": shelf}));
    let (good, out, _) = command(&server, &["migrate", "--dry-run"]);
    assert!(good && out.contains("x-was names `shelv`, and the table has no such column"), "{out}");
}

#[test]
fn check_and_routes_speak_json() {
    let (mut server, _) = site();
    server.end();
    let (good, out, _) = command(&server, &["check", "--data", "--json"]);
    let checked: Value = serde_json::from_str(&out).expect("JSON");
    assert!(good && checked["sound"] == true && checked["data"]["problems"] == json!([]), "{checked}");
    let (_, out, _) = command(&server, &["routes", "--json"]);
    let routes: Value = serde_json::from_str(&out).expect("JSON");
    let books = routes.as_array().expect("a list").iter().find(|r| r["path"] == "/own/v1/books");
    assert_eq!(books.expect("the route")["handler"], "list", "{books:?}");
    fs::write(server.path("site.toml"), "[resources.books]\nextends = \"plainn\"\n").expect("a file");
    let (good, out, errors) = command(&server, &["check", "--json"]);
    let checked: Value = serde_json::from_str(&out).expect("JSON");
    assert!(!good && errors.is_empty() && checked["sound"] == false, "{checked} {errors}");
    let problem = &checked["problems"][0];
    assert_eq!(
        (&problem["place"]["line"], &problem["hint"]),
        (&json!(2), &json!("did you mean `plain`?")),
        "{checked}"
    );
}
