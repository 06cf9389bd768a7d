//! A resource that is declared while the server runs is in everything that follows from declarations after one save.

use super::console::{describe, resource};
use super::mcp::{asked, called, names};
use super::server::{Server, stdout};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const SCHEMA: &str = r#"{ "title": "lamp", "type": "object", "properties": {
  "id":    { "type": "integer", "description": "Id of the lamp.", "readonly": true },
  "title": { "type": "string", "description": "Title.", "x-create-arg": { "required": true }, "x-filterable": true },
  "slug":  { "type": "string", "description": "Short name in addresses.", "x-write": "slug" },
  "watts": { "type": "integer", "description": "What it consumes.", "minimum": 1, "x-filterable": true } } }"#;

const DECLARED: &str = r#"
namespaces.light.path = "light/v1"
capabilities.lamp = { read = "", create = "edit_posts", edit = "edit_posts", delete = "edit_others_posts" }

[resources.lamps]
family = "plain"
namespace = "light"
schema = "schemas/lamp.json"
routes = ["crud"]
capabilities = "lamp"
search = { title = "title" }
sort = { id = "id", watts = "watts" }
ability = true
"#;

/// Everything that follows from declarations, and whether it has the resource.
fn appearances(server: &Server) -> BTreeMap<&'static str, bool> {
    let config = server.path("routes.toml");
    let config = config.to_str().expect("a path");
    let admin = server.admin.clone();
    let index = server.get("/");
    let description = server.get("/openapi.json").body;
    let ability = server.admin("GET", "/abilities/v1/abilities/lamps/list", None);
    let options = server.ask("OPTIONS", "/light/v1/lamps", None, None);
    let list = server.get("/light/v1/lamps?where[watts][ge]=1");
    let generated = |args: &[&str], text: &str| stdout(&[args, &["--config", config]].concat(), "").contains(text);
    BTreeMap::from([
        ("the index", index.body["routes"].get("/light/v1/lamps").is_some()),
        ("the namespaces", index.body["namespaces"].as_array().is_some_and(|all| all.contains(&json!("light/v1")))),
        ("OPTIONS", options.body["schema"]["title"] == "lamp"),
        ("lists with criteria", list.status == 200),
        ("OpenAPI", description["paths"].get("/light/v1/lamps").is_some()),
        ("schemas of OpenAPI", description["components"]["schemas"].get("Lamp").is_some()),
        ("abilities", ability.status == 200),
        ("tools", names(server, &admin).contains(&"lamps-create".to_owned())),
        ("the console", resource(&describe(server, &admin), "lamps").is_some()),
        ("types for TypeScript", generated(&["types"], "interface Lamp ")),
        ("a client for TypeScript", generated(&["client"], "\"lamps.list\"")),
    ])
}

fn all(appearances: &BTreeMap<&'static str, bool>, wanted: bool) -> bool {
    appearances.values().all(|is_there| *is_there == wanted)
}

#[test]
fn a_resource_is_everywhere_after_one_save() {
    let server = Server::with(&["mcp.path=/mcp", "storage.migrate=auto"]);
    // A schema that nobody names changes nothing.
    std::fs::write(server.path("schemas/lamp.json"), SCHEMA).expect("a file");
    let before = appearances(&server);
    assert!(all(&before, false), "{before:?}");

    std::fs::write(server.path("site.toml"), DECLARED).expect("a file");
    let end = Instant::now() + Duration::from_secs(10);
    while server.get("/light/v1/lamps").status != 200 {
        assert!(Instant::now() < end, "the resource is not served: {}", server.log());
        std::thread::sleep(Duration::from_millis(50));
    }
    let after = appearances(&server);
    assert!(all(&after, true), "{after:?}");

    // Each interface reads what another writes.
    let made = called(&server, "lamps-create", json!({"title": "Standing lamp", "watts": 40}));
    assert_eq!(made["isError"], false, "{made}");
    let id = made["structuredContent"]["id"].as_i64().expect("an id");
    let run = server.admin(
        "POST",
        "/abilities/v1/abilities/lamps/create/run",
        Some(&json!({"input": {"title": "Torch", "watts": 2}})),
    );
    assert_eq!(run.status, 200, "{}", run.text);
    let url = format!("{}/light/v1/lamps/import?upsert=slug", server.rest);
    let lines = ("application/x-ndjson", b"{\"title\": \"Lantern\", \"slug\": \"lantern\", \"watts\": 9}\n".to_vec());
    let imported = server.send("POST", &url, Some(&server.admin), Some(lines), &[]);
    assert_eq!(imported.body["result"], "created", "{}", imported.text);

    let strong = server.get("/light/v1/lamps?where[watts][gt]=5&order_by=-watts&_fields=title");
    assert_eq!(strong.body, json!([{"title": "Standing lamp"}, {"title": "Lantern"}]));
    let found = server.get("/light/v1/lamps?search=torch&_fields=watts");
    assert_eq!(found.body, json!([{"watts": 2}]));
    let counted = server.get("/light/v1/lamps?_count_by=watts").body;
    assert_eq!(counted.as_array().map(Vec::len), Some(3), "{counted}");
    let url = format!("{}/light/v1/lamps?_fields=slug", server.rest);
    let exported = server.send("GET", &url, Some(&server.admin), None, &[("accept", "application/x-ndjson")]);
    assert_eq!(exported.text.lines().count(), 3, "{}", exported.text);
    let read = asked(&server, &server.admin, "resources/read", json!({"uri": format!("cms://lamps/{id}")}));
    let document: Value =
        serde_json::from_str(read["result"]["contents"][0]["text"].as_str().expect("a text")).expect("JSON");
    assert_eq!(document["title"], "Standing lamp");
}
