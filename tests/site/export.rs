//! Whole collections as lines (`Accept: application/x-ndjson`).

use super::server::{Answer, Server};
use serde_json::{Value, json};
use std::collections::HashSet;

const LINES: &str = "application/x-ndjson";

fn export(server: &Server, route: &str, as_user: Option<&(String, String)>) -> Answer {
    server.send("GET", &format!("{}{route}", server.rest), as_user, None, &[("accept", LINES)])
}

fn documents(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.header("content-type"), Some(LINES));
    answer.text.lines().map(|line| serde_json::from_str(line).expect("a document in each line")).collect()
}

#[test]
fn a_collection_is_read_whole() {
    let server = Server::start();
    for number in 0..260 {
        let body = json!({"name": format!("Tag {number}"), "description": "two\nlines"});
        assert_eq!(server.admin("POST", "/cms/v2/tags", Some(&body)).status, 201);
    }
    let admin = server.admin.clone();
    let all = documents(&export(&server, "/cms/v2/tags?orderby=id", Some(&admin)));
    let ids: HashSet<i64> = all.iter().filter_map(|tag| tag["id"].as_i64()).collect();
    assert_eq!((all.len(), ids.len()), (260, 260));
    assert_eq!(all[0]["description"], "two\nlines");
    // Sort order, filters, fields and embedding are those of lists.
    let named =
        documents(&export(&server, "/cms/v2/tags?orderby=id&order=desc&_fields=name&search=Tag%2025", Some(&admin)));
    assert_eq!(named.first(), Some(&json!({"name": "Tag 259"})));
    assert_eq!(named.len(), 11);
    let few = documents(&export(&server, "/cms/v2/tags?orderby=id&per_page=7&_fields=id", Some(&admin)));
    assert_eq!(few.len(), 260, "per_page is how many are read at once");
    let none = documents(&export(&server, "/cms/v2/tags?search=nothing", Some(&admin)));
    assert!(none.is_empty());
    let failed = export(&server, "/cms/v2/tags?orderby=nonsense", Some(&admin));
    assert_eq!((failed.status, failed.code()), (400, "rest_invalid_param"));
}

#[test]
fn those_who_may_not_export_are_refused() {
    let server = Server::start();
    let author = server.user("author", "author");
    assert_eq!(export(&server, "/cms/v2/posts", None).status, 401);
    let refused = export(&server, "/cms/v2/posts", Some(&author));
    assert_eq!((refused.status, refused.code()), (403, "rest_forbidden"));
    // What is no such collection is what it always is, and so is a list for those who ask for JSON.
    let types = export(&server, "/cms/v2/types", None);
    assert_eq!(types.status, 200);
    assert!(types.header("content-type").is_some_and(|own| own.starts_with("application/json")));
    assert!(server.get("/cms/v2/posts").body.is_array());
}

#[test]
fn what_is_cached_for_lists_is_not_what_is_exported() {
    let server = Server::start();
    let admin = server.admin.clone();
    let route = "/cms/v2/posts?_fields=id";
    assert!(server.admin("GET", route, None).body.is_array());
    let lines = documents(&export(&server, route, Some(&admin)));
    assert!(server.admin("GET", route, None).body.is_array());
    assert_eq!(documents(&export(&server, route, Some(&admin))), lines);
}
