//! Hidden rows are not learnt by filters, counts, cursors, imports and lists of tools either.

use super::super::own_types::{folder, make};
use super::super::server::{Answer, Server};
use serde_json::{Value, json};
use std::fs;

/// Walks with a text that passwords lock, two of them with one.
fn walks() -> Server {
    let locked = json!({
        "way": {"type": "string", "x-password-protected": true, "x-filterable": true},
        "notes": {"type": "string", "context": ["edit"], "x-filterable": true},
        "password": {"type": "string", "x-column": "password", "context": ["edit"]}
    });
    let more = "[resources.c_walks.endpoints.list]\nway = { type = \"string\", x-filter = { column = \"way\", op = \"eq\" } }\n";
    let server = Server::over(folder(&[("c_walks", "content", locked, more)]), &[]);
    make(&server, "c_walks", json!({"title": "open", "way": "by the sea"}));
    make(&server, "c_walks", json!({"title": "locked", "way": "over the bridge", "password": "p", "notes": "n"}));
    server
}

fn titles(answer: &Answer) -> String {
    let list = answer.body.as_array().unwrap_or_else(|| panic!("{}", answer.text)).iter();
    list.map(|item| item["title"].as_str().unwrap_or_default()).collect::<Vec<_>>().join(",")
}

#[test]
fn what_a_password_locks_is_found_and_counted_by_those_alone_who_edit_it() {
    let server = walks();
    let route = "/own/v1/c_walks";
    let shown = server.get(&format!("{route}?orderby=id"));
    assert_eq!((titles(&shown).as_str(), &shown.body[1]["way"]), ("open,locked", &json!("")));
    for query in ["way=over%20the%20bridge", "where[way]=over%20the%20bridge", "where[way][contains]=bridge"] {
        let route = format!("{route}?{query}");
        assert_eq!(titles(&server.get(&route)), "", "{query}");
        assert_eq!(titles(&server.admin("GET", &route, None)), "locked", "{query}");
    }
    // Without a value, the argument leaves locked records where they are.
    assert_eq!(titles(&server.get(&format!("{route}?where[status]=publish"))), "open,locked");
    let counted = |answer: Answer| -> Vec<Value> {
        let list = answer.body.as_array().expect("a list").clone();
        list.into_iter().map(|one| one["value"].clone()).collect()
    };
    assert_eq!(counted(server.get(&format!("{route}?_count_by=way"))), ["by the sea"]);
    assert_eq!(counted(server.admin("GET", &format!("{route}?_count_by=way"), None)).len(), 2);
}

#[test]
fn documents_show_what_is_made_of_a_text_so_counts_do_not_show_the_text() {
    let content = json!({"content": {"type": "object", "x-write": "html", "context": ["view", "edit"], "properties": {
        "raw": {"type": "string", "description": "As stored.", "x-column": "content", "context": ["edit"]},
        "rendered": {"type": "string", "description": "As HTML.", "readonly": true, "x-column": "content",
            "x-read": "content.rendered", "x-filterable": true, "context": ["view", "edit"]}}}});
    let server = Server::over(folder(&[("c_walks", "content", content, "")]), &[]);
    let refused = server.get("/own/v1/c_walks?_count_by=content.rendered");
    assert_eq!((refused.status, refused.code()), (400, "rest_invalid_param"), "{}", refused.text);
    assert_eq!(server.get("/own/v1/c_walks?where[content.rendered][contains]=a").status, 200);
}

#[test]
fn an_import_finds_no_items_by_what_the_caller_does_not_see() {
    let server = walks();
    let site = fs::read_to_string(server.path("site.toml")).expect("a file");
    let role = "\n[roles.carrier]\nname = \"Carrier\"\ncapabilities = [\"read\", \"import\"]\n";
    fs::write(server.path("site.toml"), site + role).expect("a file");
    let server = server.restart_with(&[]);
    let carrier = server.user("carrier", "carrier");
    let import = |by: &str, line: Value, user: &(String, String)| {
        let url = format!("{}/own/v1/c_walks/import?upsert={by}", server.rest);
        let body = ("application/x-ndjson", line.to_string().into_bytes());
        server.send("POST", &url, Some(user), Some(body), &[])
    };
    for (by, value) in [("password", "p"), ("password", "q"), ("notes", "n"), ("way", "over the bridge")] {
        let refused = import(by, json!({by: value, "title": "x"}), &carrier);
        assert_eq!((refused.status, refused.code()), (403, "rest_forbidden"), "{by}: {}", refused.text);
    }
    let found = import("way", json!({"way": "over the bridge", "title": "renamed"}), &server.admin);
    assert!(found.text.contains("\"result\":\"updated\""), "{}", found.text);
}

/// A password of the administrator that is good for these resources.
fn limited(server: &Server, resources: &[&str]) -> (String, String) {
    let route = format!("/{}/v2/users/me/application-passwords", server.prefix);
    let made = server.admin("POST", &route, Some(&json!({"name": "Some", "resources": resources})));
    assert_eq!(made.status, 201, "{}", made.text);
    (server.admin.0.clone(), made.body["password"].as_str().expect("the clear value").to_owned())
}

#[test]
fn a_limited_password_filters_by_no_other_resource() {
    let server = Server::start();
    let posts = limited(&server, &["posts"]);
    let both = limited(&server, &["posts", "users"]);
    for query in ["where[author.slug]=admin", "where[categories.name][contains]=a"] {
        let refused = server.ask("GET", &format!("/cms/v2/posts?{query}"), Some(&posts), None);
        assert_eq!((refused.status, refused.code()), (403, "rest_application_password_limited"), "{query}");
    }
    for query in ["where[author]=1", "where[categories][set]=true", "_count_by=author"] {
        assert_eq!(server.ask("GET", &format!("/cms/v2/posts?{query}"), Some(&posts), None).status, 200, "{query}");
    }
    assert_eq!(server.ask("GET", "/cms/v2/posts?where[author.slug]=admin", Some(&both), None).status, 200);
}

#[test]
fn a_limited_password_is_offered_the_tools_of_its_resources_alone() {
    let server = Server::with(&["mcp.path=/mcp"]);
    let posts = limited(&server, &["posts"]);
    let names = super::super::mcp::names(&server, &posts);
    assert!(names.iter().any(|name| name == "posts-publish"), "{names:?}");
    let others: Vec<&String> = names.iter().filter(|name| !name.starts_with("posts-")).collect();
    assert!(others.is_empty(), "{others:?}");
    assert!(super::super::mcp::names(&server, &server.admin).iter().any(|name| name == "pages-list"));
}
