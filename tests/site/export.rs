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
    // Those who accept both, JSON first, get JSON.
    let url = format!("{}/cms/v2/posts", server.rest);
    let both = server.send("GET", &url, None, None, &[("accept", "application/json, application/x-ndjson;q=0.5")]);
    assert_eq!(both.status, 200, "{}", both.text);
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

// ------------------------------------------------------------------------------------------------ import

fn import(server: &Server, route: &str, lines: &str, as_user: Option<&(String, String)>) -> Answer {
    let body = Some((LINES, lines.as_bytes().to_vec()));
    server.send("POST", &format!("{}{route}", server.rest), as_user, body, &[])
}

/// What became of each line.
fn results(answer: &Answer) -> Vec<Value> {
    documents(answer)
}

fn count(results: &[Value], result: &str) -> usize {
    results.iter().filter(|line| line["result"] == result).count()
}

#[test]
fn what_is_exported_is_imported_without_a_change() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}"), "site.demo=true"]);
        let admin = server.admin.clone();
        let at = |route: &str| format!("/{prefix}/v2/{route}");
        for (route, key) in [("posts", "id"), ("pages", "slug"), ("categories", "slug"), ("tags", "id")] {
            let status = if matches!(route, "posts" | "pages") { "&status=any" } else { "" };
            let listed = at(&format!("{route}?context=edit{status}"));
            let before = export(&server, &listed, Some(&admin));
            let lines = documents(&before).len();
            assert!(lines > 0, "{route}");
            let done =
                results(&import(&server, &at(&format!("{route}/import?upsert={key}")), &before.text, Some(&admin)));
            assert_eq!(count(&done, "unchanged"), lines, "{prefix} {route}: {done:#?}");
            assert_eq!(export(&server, &listed, Some(&admin)).text, before.text);
        }
        // Another site gets the same items, once.
        let other = Server::with(&[&format!("site.prefix={prefix}")]);
        let tags = export(&server, &at("tags?context=edit"), Some(&admin)).text;
        let admin = other.admin.clone();
        let route = at("tags/import?upsert=slug");
        let made = results(&import(&other, &route, &tags, Some(&admin)));
        assert_eq!(count(&made, "created"), made.len());
        let again = results(&import(&other, &route, &tags, Some(&admin)));
        assert_eq!(count(&again, "unchanged"), again.len(), "{again:#?}");
    }
}

#[test]
fn each_line_has_a_result_of_its_own() {
    let server = Server::start();
    let admin = server.admin.clone();
    let lines = "{\"name\": \"One\", \"slug\": \"one\"}\nnonsense\n\n{\"slug\": \"nameless\"}\n[]\n{\"name\": \"Two\"}";
    let done = results(&import(&server, "/cms/v2/tags/import?upsert=slug", lines, Some(&admin)));
    let shown = |line: &Value| (line["position"].clone(), line["status"].clone(), line["result"].clone());
    assert_eq!(
        done.iter().map(shown).collect::<Vec<_>>(),
        [
            (json!(0), json!(201), json!("created")),
            (json!(1), json!(400), json!("failed")),
            (json!(2), json!(400), json!("failed")),
            (json!(3), json!(400), json!("failed")),
            (json!(4), json!(201), json!("created")),
        ]
    );
    assert_eq!(done[2]["error"]["code"], "rest_missing_callback_param");
    let changed = "{\"name\": \"Uno\", \"slug\": \"one\"}\n{\"name\": \"Two\", \"slug\": \"two\"}";
    let done = results(&import(&server, "/cms/v2/tags/import?upsert=slug", changed, Some(&admin)));
    assert_eq!((count(&done, "updated"), count(&done, "unchanged")), (1, 1), "{done:#?}");
    let from = results(&import(&server, "/cms/v2/tags/import?upsert=slug&from=1", changed, Some(&admin)));
    assert_eq!(from.len(), 1);
    assert_eq!(from[0]["position"], 1);
}

#[test]
fn a_long_file_is_imported_in_several_requests() {
    let server = Server::start();
    let admin = server.admin.clone();
    let file: String = (0..1100).map(|n| format!("{{\"name\": \"Tag {n}\", \"slug\": \"tag-{n}\"}}\n")).collect();
    let first = results(&import(&server, "/cms/v2/tags/import?upsert=slug", &file, Some(&admin)));
    let next = first.last().and_then(|line| line["next"].as_u64()).expect("where to go on");
    assert_eq!((first.len(), next), (1001, 1000));
    let rest = results(&import(&server, &format!("/cms/v2/tags/import?upsert=slug&from={next}"), &file, Some(&admin)));
    assert_eq!((rest.len(), count(&rest, "created")), (100, 100));
    assert_eq!(server.get("/cms/v2/tags?per_page=1").header("x-cms-total"), Some("1100"));
}

#[test]
fn a_line_that_is_too_long_fails_alone() {
    let server = Server::start();
    let admin = server.admin.clone();
    let long = "x".repeat((8 << 20) + 100);
    let lines = format!("{{\"name\": \"{long}\"}}\n{{\"name\": \"Two\", \"slug\": \"two\"}}\n");
    let done = results(&import(&server, "/cms/v2/tags/import?upsert=slug", &lines, Some(&admin)));
    let shown = |line: &Value| (line["position"].clone(), line["result"].clone());
    assert_eq!(done.iter().map(shown).collect::<Vec<_>>(), [(json!(0), json!("failed")), (json!(1), json!("created"))]);
}

#[test]
fn imports_are_for_those_who_may() {
    let server = Server::start();
    let line = "{\"name\": \"One\"}";
    let author = server.user("author", "author");
    assert_eq!(import(&server, "/cms/v2/tags/import", line, None).status, 401);
    assert_eq!(import(&server, "/cms/v2/tags/import", line, Some(&author)).status, 403);
    let admin = server.admin.clone();
    let wrong = import(&server, "/cms/v2/tags/import?upsert=description_of", line, Some(&admin));
    assert_eq!((wrong.status, wrong.code()), (400, "rest_invalid_param"));
    let empty = server.admin("POST", "/cms/v2/tags/import", None);
    assert_eq!((empty.status, empty.code()), (400, "rest_upload_no_data"));
    assert_eq!(server.get("/cms/v2/tags").body, json!([]));
}
