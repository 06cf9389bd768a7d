//! docs/content-types.md, "More examples": a resource of two text files, which exist only here.

use super::server::{Server, stdout};
use serde_json::json;
use std::fs;
use tempfile::TempDir;

const SITE: &str = include_str!("../../fixtures/books/site.toml");
const SCHEMA: &str = include_str!("../../fixtures/books/book.json");

/// The shipped declarations and this resource.
pub(super) fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    fs::write(folder.path().join("site.toml"), SITE).expect("a file");
    fs::write(folder.path().join("schemas/book.json"), SCHEMA).expect("a file");
    folder
}

#[test]
fn two_text_files_make_a_resource() {
    let server = Server::over(folder(), &[]);
    let editor = server.user("eve", "editor");
    let author = server.user("art", "author");
    let eve = server.admin("GET", "/cms/v2/users?search=eve", None).body[0]["id"].clone();

    // Discovery.
    let options = server.ask("OPTIONS", "/library/v1/books", Some(&editor), None);
    assert_eq!(options.status, 200);
    assert_eq!(options.body["schema"]["title"], "book");
    assert_eq!(options.body["schema"]["properties"]["pages"]["minimum"], 1);
    assert!(options.body["schema"]["properties"]["owner"].get("x-relation").is_none());
    assert_eq!(options.header("allow"), Some("GET, POST"));
    assert_eq!(server.ask("OPTIONS", "/library/v1/books", None, None).header("allow"), Some("GET"));
    let root = server.get("/");
    assert!(root.body["namespaces"].as_array().expect("a list").contains(&json!("library/v1")));
    assert!(root.body["routes"].get("/library/v1/books").is_some());

    // Validation: every failing argument at once.
    let bad = json!({"title": "", "pages": 0, "price": "dear", "language": "tlh", "published": "yesterday"});
    let answer = server.ask("POST", "/library/v1/books", Some(&editor), Some(&bad));
    assert_eq!((answer.status, answer.code()), (400, "rest_invalid_param"));
    let failing: Vec<&String> = answer.body["data"]["params"].as_object().expect("a map").keys().collect();
    assert_eq!(failing, ["title", "pages", "price", "published", "language"]);
    assert_eq!(
        server.ask("POST", "/library/v1/books", Some(&editor), Some(&json!({}))).code(),
        "rest_missing_callback_param"
    );

    // Write access is for editors.
    let book = json!({"title": "The long pier", "pages": "212", "price": 9.5, "in_print": "true",
        "published": "2019-03-04T05:06:07", "language": "nb", "subjects": "boats,ropes",
        "publisher": {"name": "Tide", "founded": 1911}, "owner": eve, "shelves": [1]});
    assert_eq!(server.ask("POST", "/library/v1/books", None, Some(&book)).status, 401);
    assert_eq!(server.ask("POST", "/library/v1/books", Some(&author), Some(&book)).code(), "rest_cannot_create");
    let made = server.ask("POST", "/library/v1/books", Some(&editor), Some(&book));
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!(made.header("location"), Some(format!("{}/library/v1/books/1", server.rest).as_str()));
    let expected = json!({"id": 1, "title": "The long pier", "slug": "the-long-pier", "pages": 212, "price": 9.5,
        "in_print": true, "published": "2019-03-04T05:06:07", "language": "nb", "subjects": ["boats", "ropes"],
        "publisher": {"name": "Tide", "founded": 1911}, "owner": eve, "shelves": [1]});
    for (key, value) in expected.as_object().expect("a map") {
        assert_eq!(&made.body[key], value, "{key}");
    }

    // Unique slugs.
    let twin =
        server.ask("POST", "/library/v1/books", Some(&editor), Some(&json!({"title": "The long pier", "pages": 90})));
    assert_eq!(twin.body["slug"], "the-long-pier-2");
    let third = server.ask("POST", "/library/v1/books", Some(&editor), Some(&json!({"title": "Åse", "pages": 400})));
    assert_eq!(third.body["slug"], "ase");

    // Filters, sort keys, search, paging.
    let ids = |query: &str| -> Vec<i64> {
        let answer = server.get(&format!("/library/v1/books?{query}"));
        assert_eq!(answer.status, 200, "{query}: {}", answer.text);
        answer.body.as_array().expect("a list").iter().map(|b| b["id"].as_i64().expect("an id")).collect()
    };
    assert_eq!(ids("min_pages=200&orderby=pages&order=asc"), [1, 3]);
    assert_eq!(ids("language=nb"), [1]);
    assert_eq!(ids("orderby=title&order=asc"), [1, 2, 3]);
    assert_eq!(ids("orderby=pages&order=desc"), [3, 1, 2]);
    assert_eq!(ids("search=LONG"), [2, 1]);
    assert_eq!(ids("include=3,1&orderby=include"), [3, 1]);
    let page = server.get("/library/v1/books?per_page=2&page=1");
    assert_eq!((page.header("x-cms-total"), page.header("x-cms-totalpages")), (Some("3"), Some("2")));

    // Links and embedding.
    let one = server.admin("GET", "/library/v1/books/1?_embed=owner", None);
    assert_eq!(one.body["_links"]["self"][0]["href"], format!("{}/library/v1/books/1", server.rest));
    assert_eq!(one.body["_links"]["owner"][0]["embeddable"], true);
    assert_eq!(one.body["_embedded"]["owner"][0]["name"], "eve", "{}", one.text);

    // Change and delete.
    let changed = server.ask("PATCH", "/library/v1/books/1", Some(&editor), Some(&json!({"pages": 213})));
    assert_eq!((changed.status, &changed.body["pages"], &changed.body["price"]), (200, &json!(213), &json!(9.5)));
    let deleted = server.ask("DELETE", "/library/v1/books/2", Some(&editor), None);
    assert_eq!((deleted.status, &deleted.body["previous"]["id"]), (200, &json!(2)), "{}", deleted.text);
    assert_eq!(server.get("/library/v1/books/2").status, 404);
    let nobody = json!({"title": "x", "pages": 1, "owner": 999});
    assert_eq!(server.ask("POST", "/library/v1/books", Some(&editor), Some(&nobody)).code(), "rest_invalid_param");
}

#[test]
fn a_property_can_be_added_with_rows_in_place() {
    let mut server = Server::over(folder(), &[]);
    let made = server.admin("POST", "/library/v1/books", Some(&json!({"title": "Fog", "pages": 10})));
    assert_eq!(made.status, 201, "{}", made.text);
    let grown = SCHEMA.replacen(
        "\"pages\":",
        "\"translator\": {\"type\": \"string\", \"description\": \"Who translated it.\"},\n    \"pages\":",
        1,
    );
    assert_ne!(grown, SCHEMA);
    fs::write(server.path("schemas/book.json"), grown).expect("a file");
    server.kill_and_restart();
    let book = server.get("/library/v1/books/1");
    assert_eq!((&book.body["title"], &book.body["translator"]), (&json!("Fog"), &json!(null)));
    let body = json!({"translator": "Odd"});
    let changed = server.admin("PUT", "/library/v1/books/1", Some(&body));
    assert_eq!(changed.body["translator"], "Odd", "{}", changed.text);
}
