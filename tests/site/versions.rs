//! A later version of the API beside the shipped one, over the same rows, by declaration alone.

use super::server::{Server, stdout};
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

const SITE: &str = r#"
[namespaces.next]
path = "{prefix}/v3"

[resources.articles]
family = "content"
schema = "schemas/article.json"
namespace = "next"
base = "posts"
kind = "post"
routes = ["content"]
capabilities = "post"
address = "permalinks"
taxonomies = ["categories", "tags"]
supports = ["title", "editor", "author", "revisions"]
sort = { author = "author", date = "date_local", id = "id", include = "@include", modified = "modified_local", parent = "parent", relevance = "@relevance", slug = "slug", include_slugs = "@slugs", title = "title_key" }
search = { title = "title", text = "content" }
links = [{ rel = "self", href = "{self}" }, { rel = "tags", to = "tags", query = { post = "id" }, embeddable = true }]
"#;

fn property(kind: &str, more: &Value) -> Value {
    let mut property = json!({"type": kind, "description": "See its name.", "context": ["view", "edit", "embed"]});
    property.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    property
}

fn server() -> Server {
    let folder = TempDir::new().expect("a temporary folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    let schema = json!({"$schema": "http://json-schema.org/draft-04/schema#", "title": "article", "type": "object",
    "properties": {
        "id": property("integer", &json!({"readonly": true})),
        "slug": property("string", &json!({"x-column": "slug", "x-write": "slug"})),
        "status": property("string", &json!({"x-column": "status", "enum": ["publish", "draft"]})),
        "heading": property("string", &json!({"x-column": "title"})),
        "text": property("string", &json!({"x-column": "content"})),
        // The taxonomies add none of theirs.
        "categories": false,
        "tags": false,
    }});
    let put = |file: &str, text: &str| fs::write(folder.path().join(file), text).expect("a file");
    put("site.toml", SITE);
    put("schemas/article.json", &schema.to_string());
    Server::over(folder, &[])
}

#[test]
fn two_versions_of_a_namespace_serve_one_table() {
    let server = server();
    let root = server.get("/").body;
    assert!(root["namespaces"].as_array().expect("a list").contains(&json!("cms/v3")), "{root}");
    assert!(server.get("/cms/v3").body["routes"].get("/cms/v3/posts").is_some());
    let tag = server.admin("POST", "/cms/v2/tags", Some(&json!({"name": "Red"}))).body["id"].clone();
    let body = json!({"title": {"raw": "Old"}, "content": {"raw": "Words."}, "status": "publish", "tags": [tag]});
    let old = server.admin("POST", "/cms/v2/posts", Some(&body)).body;
    let new =
        server.admin("POST", "/cms/v3/posts", Some(&json!({"heading": "New", "text": "More.", "status": "publish"})));
    assert_eq!(new.status, 201, "{}", new.text);
    assert_eq!(new.header("location"), Some(&*format!("{}/cms/v3/posts/{}", server.rest, new.body["id"])));

    // Each shows what the other wrote, in its own shape, and neither gives a slug twice.
    let ids = |route: &str| -> Vec<Value> {
        let list = server.get(route).body;
        list.as_array().expect(route).iter().map(|item| item["id"].clone()).collect()
    };
    for query in ["?orderby=id&order=asc", "?search=w&orderby=id", "?orderby=title&order=asc"] {
        assert_eq!(ids(&format!("/cms/v2/posts{query}")), ids(&format!("/cms/v3/posts{query}")), "{query}");
    }
    let at = |version: &str, id: &Value| format!("/cms/{version}/posts/{id}");
    let shown = server.get(&at("v3", &old["id"])).body;
    assert_eq!((&shown["heading"], &shown["text"], &shown["slug"]), (&json!("Old"), &json!("Words."), &json!("old")));
    assert!(shown.get("title").is_none() && shown.get("tags").is_none(), "{shown}");
    assert_eq!(shown["_links"]["self"][0]["href"], format!("{}{}", server.rest, at("v3", &old["id"])));
    let shown = server.get(&at("v2", &new.body["id"])).body;
    assert_eq!((&shown["title"]["rendered"], &shown["type"]), (&json!("New"), &json!("post")));
    assert_eq!(shown["_links"]["self"][0]["href"], format!("{}{}", server.rest, at("v2", &new.body["id"])));
    let twin = server.admin("POST", "/cms/v3/posts", Some(&json!({"heading": "Old", "status": "publish"})));
    assert_eq!(twin.body["slug"], "old-2");

    // A change through one shows in the other at once; what only one knows stays.
    let renamed = server.admin("PUT", &at("v3", &old["id"]), Some(&json!({"heading": "Renamed"})));
    assert_eq!(renamed.status, 200, "{}", renamed.text);
    let shown = server.get(&at("v2", &old["id"])).body;
    assert_eq!((&shown["title"]["rendered"], &shown["tags"]), (&json!("Renamed"), &json!([tag])));
    let revisions = server.admin("GET", &format!("{}/revisions", at("v2", &old["id"])), None);
    assert_eq!(revisions.body[0]["title"]["rendered"], "Renamed", "{}", revisions.text);
    assert_eq!(server.get(&format!("/cms/v2/tags/{tag}")).body["count"], 1);
    let embedded = server.get(&format!("{}?_embed", at("v3", &old["id"]))).body;
    assert_eq!(embedded["_embedded"]["tags"][0][0]["name"], "Red", "{embedded}");

    // The shipped version stays what the rest of the site names.
    let found = server.get("/cms/v2/search?search=Renamed&_embed").body;
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
    assert_eq!(found[0]["_links"]["self"][0]["href"], format!("{}{}", server.rest, at("v2", &old["id"])));
    let types = server.get("/cms/v2/types").body;
    assert_eq!((&types["post"]["rest_base"], &types["post"]["rest_namespace"]), (&json!("posts"), &json!("cms/v2")));
    assert_eq!(types.as_object().expect("a map").keys().filter(|key| key.contains("article")).count(), 0);
    assert_eq!(server.admin("DELETE", &at("v3", &old["id"]), None).status, 200);
    assert_eq!(server.get(&at("v2", &old["id"])).status, 401);
    assert_eq!(ids("/cms/v2/posts").len(), 2);
}
