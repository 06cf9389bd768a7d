//! The Model Context Protocol over HTTP: handshakes, tools, resources, and what is refused.

use super::server::{Answer, Server, program};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::Stdio;

const MODERN: &str = "2026-07-28";

fn server() -> Server {
    Server::with(&["mcp.path=/mcp"])
}

fn address(server: &Server) -> String {
    format!("{}/mcp", server.site)
}

/// A message as an administrator, with further headers.
fn message(server: &Server, message: &Value, headers: &[(&str, &str)]) -> Answer {
    let body = ("application/json", message.to_string().into_bytes());
    server.send("POST", &address(server), Some(&server.admin), Some(body), headers)
}

/// The answer to a request of a revision with a handshake.
pub fn asked(server: &Server, user: &(String, String), method: &str, params: Value) -> Value {
    let request = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let body = ("application/json", request.to_string().into_bytes());
    let headers = [("mcp-protocol-version", "2025-11-25")];
    let answer = server.send("POST", &address(server), Some(user), Some(body), &headers);
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!((&answer.body["jsonrpc"], &answer.body["id"]), (&json!("2.0"), &json!(7)));
    answer.body
}

pub fn called(server: &Server, name: &str, arguments: Value) -> Value {
    asked(server, &server.admin, "tools/call", json!({"name": name, "arguments": arguments}))["result"].clone()
}

pub fn names(server: &Server, user: &(String, String)) -> Vec<String> {
    let tools = asked(server, user, "tools/list", json!({}))["result"]["tools"].clone();
    let tools = tools.as_array().expect("a list").iter();
    tools.filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

/// A request of the revision without a handshake.
fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    });
    json!({"jsonrpc": "2.0", "id": "a", "method": method, "params": params})
}

#[test]
fn it_is_served_only_where_it_is_declared() {
    let off = Server::start();
    let body = ("application/json", b"{}".to_vec());
    assert_eq!(off.send("POST", &address(&off), Some(&off.admin), Some(body), &[]).status, 404);

    let server = server();
    let shaken =
        asked(&server, &server.admin, "initialize", json!({"protocolVersion": "2025-06-18"}))["result"].clone();
    assert_eq!(shaken["protocolVersion"], "2025-06-18");
    assert_eq!(shaken["capabilities"], json!({"tools": {}, "resources": {}, "prompts": {}}));
    let newest = asked(&server, &server.admin, "initialize", json!({"protocolVersion": "1900-01-01"}));
    assert_eq!(newest["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(asked(&server, &server.admin, "ping", json!({}))["result"], json!({}));
    let told = message(&server, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), &[]);
    assert_eq!((told.status, &*told.text), (202, ""));
    let responded = message(&server, &json!({"jsonrpc": "2.0", "id": 1, "result": {}}), &[]);
    assert_eq!(responded.status, 202);
}

#[test]
fn abilities_are_tools() {
    let server = server();
    let listed = asked(&server, &server.admin, "tools/list", json!({}))["result"]["tools"].clone();
    let tool = |name: &str| {
        let found = listed.as_array().expect("a list").iter().find(|tool| tool["name"] == name);
        found.unwrap_or_else(|| panic!("{name} is no tool")).clone()
    };
    let list = tool("posts-list");
    assert_eq!(list["annotations"]["readOnlyHint"], true);
    assert_eq!(list["annotations"]["openWorldHint"], false);
    assert_eq!(list["inputSchema"]["type"], "object");
    assert_eq!(list["inputSchema"]["properties"]["per_page"]["maximum"], 100);
    assert_eq!(list["outputSchema"]["properties"]["items"]["type"], "array");
    let publish = tool("posts-publish");
    assert_eq!(
        (&publish["annotations"]["destructiveHint"], &publish["annotations"]["idempotentHint"]),
        (&json!(false), &json!(true))
    );
    assert!(tool("posts-update")["annotations"].get("destructiveHint").is_none(), "nothing says that it is harmless");
    assert_eq!(tool("core-get-user-info")["inputSchema"]["additionalProperties"], false);

    let made = called(&server, "posts-create", json!({"title": "By a tool", "content": "x".repeat(200_000)}));
    assert_eq!((&made["isError"], &made["structuredContent"]["status"]), (&json!(false), &json!("draft")), "{made}");
    let id = made["structuredContent"]["id"].clone();
    let shown = called(&server, "posts-publish", json!({"id": id}));
    assert_eq!(shown["structuredContent"]["status"], "publish", "{shown}");
    let text: Value = serde_json::from_str(shown["content"][0]["text"].as_str().expect("a text")).expect("JSON");
    assert_eq!(text, shown["structuredContent"]);
    let found = called(&server, "posts-list", json!({"search": "tool", "_fields": ["id"]}));
    assert_eq!(found["structuredContent"], json!({"items": [{"id": id}]}));
    assert_eq!(called(&server, "core-get-site-info", json!({}))["structuredContent"]["language"], "en-US");

    for (name, arguments, code) in [
        ("posts-get", json!({"id": 99_999}), "rest_post_invalid_id"),
        ("posts-get", json!({"id": "1/revisions"}), "ability_invalid_input"),
        ("posts-list", json!({"per_page": 1000}), "rest_invalid_param"),
        ("posts-list", json!({"colour": "red"}), "ability_invalid_input"),
        ("core-get-site-info", json!({"fields": ["secret"]}), "ability_invalid_input"),
    ] {
        let refused = called(&server, name, arguments);
        let text = refused["content"][0]["text"].as_str().expect("a text");
        assert!(refused["isError"] == true && text.ends_with(&format!("({code})")), "{name}: {refused}");
    }
}

#[test]
fn what_a_caller_may_not_do_is_refused_or_not_offered() {
    let server = server();
    assert!(!names(&server, &server.admin).contains(&"posts-delete".to_owned()), "it is destructive");
    let hidden = asked(&server, &server.admin, "tools/call", json!({"name": "posts-delete", "arguments": {"id": 1}}));
    assert_eq!(hidden["error"]["code"], -32602);

    let reader = server.user("reader", "subscriber");
    assert!(!names(&server, &reader).contains(&"core-get-site-info".to_owned()), "it needs a capability");
    let refused =
        asked(&server, &reader, "tools/call", json!({"name": "posts-create", "arguments": {"title": "Mine"}}));
    let text = refused["result"]["content"][0]["text"].as_str().expect("a text");
    assert!(text.ends_with("(rest_cannot_create)"), "{text}");

    let password = |more: &[&str]| {
        let mut args = server.args();
        args.extend(["app-password", "add", "admin", "agent"]);
        args.extend(more);
        ("admin".to_owned(), super::server::stdout(&args, "").trim().to_owned())
    };
    let reads = password(&["--read-only"]);
    let offered = names(&server, &reads);
    assert!(offered.contains(&"posts-list".to_owned()) && !offered.contains(&"posts-create".to_owned()), "{offered:?}");
    let call = |user: &(String, String), name: &str, arguments: Value| {
        asked(&server, user, "tools/call", json!({"name": name, "arguments": arguments}))["result"].clone()
    };
    assert_eq!(call(&reads, "posts-list", json!({}))["isError"], false);
    assert_eq!(call(&reads, "posts-create", json!({"title": "No"}))["isError"], true);
    let pages = password(&["--resources", "pages"]);
    assert_eq!(call(&pages, "pages-create", json!({"title": "Yes"}))["isError"], false);
    for (name, arguments) in [("posts-create", json!({"title": "No"})), ("core-get-site-info", json!({}))] {
        assert_eq!(call(&pages, name, arguments)["isError"], true, "{name} is of another resource");
    }

    let all = server.restart_with(&["mcp.path=/mcp", "mcp.destructive=true"]);
    assert!(names(&all, &all.admin).contains(&"posts-delete".to_owned()));
    let made = called(&all, "posts-create", json!({"title": "Short-lived"}));
    let deleted = called(&all, "posts-delete", json!({"id": made["structuredContent"]["id"], "force": true}));
    assert_eq!(deleted["structuredContent"]["deleted"], true, "{deleted}");
}

#[test]
fn many_abilities_are_reached_through_three_tools() {
    let server = server().restart_with(&["mcp.path=/mcp", "mcp.direct=3"]);
    std::fs::write(server.path("site.toml"), "[abilities.\"posts/publish\"]\ntool = true\n").expect("a file");
    let server = server.restart_with(&["mcp.path=/mcp", "mcp.direct=3"]);
    let few = ["discover-abilities", "describe-ability", "execute-ability", "posts-publish"];
    assert_eq!(names(&server, &server.admin), few);
    let found = called(&server, "discover-abilities", json!({"search": "pages"}))["structuredContent"].clone();
    let found: Vec<&str> =
        found["abilities"].as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(found, ["pages/create", "pages/get", "pages/list", "pages/update"]);
    let described = called(&server, "describe-ability", json!({"name": "pages/list"}))["structuredContent"].clone();
    assert_eq!(described["inputSchema"]["properties"]["page"]["type"], "integer");
    let run = json!({"name": "pages/create", "arguments": {"title": "Found"}});
    assert_eq!(called(&server, "execute-ability", run)["structuredContent"]["status"], "draft");
    for (tool, arguments) in [
        ("execute-ability", json!({"name": "pages/delete", "arguments": {"id": 1}})),
        ("execute-ability", json!({})),
        ("describe-ability", json!({"name": 5})),
        ("discover-abilities", json!({"word": "pages"})),
        ("execute-ability", json!({"name": "pages/list", "arguments": "none"})),
    ] {
        assert_eq!(called(&server, tool, arguments)["isError"], true, "{tool}");
    }
    let stray = called(&server, "execute-ability", json!({"name": "pages/list", "argument": {}}));
    let text = stray["content"][0]["text"].as_str().expect("a sentence");
    assert_eq!(text, "`execute-ability` takes no argument `argument`; it takes name, arguments.");
}

#[test]
fn records_are_resources() {
    let server = server();
    let ids: Vec<Value> = (1..=3)
        .map(|n| {
            let body = json!({"title": format!("Number {n} &amp; more"), "status": "publish"});
            server.admin("POST", "/cms/v2/posts", Some(&body)).body["id"].clone()
        })
        .collect();
    server.admin("POST", "/cms/v2/pages", Some(&json!({"title": "A page", "status": "publish"})));
    let draft = server.admin("POST", "/cms/v2/posts", Some(&json!({"title": "Secret"}))).body["id"].clone();
    let server = server.restart_with(&["mcp.path=/mcp", "mcp.page=2"]);
    let templates = asked(&server, &server.admin, "resources/templates/list", json!({}))["result"].clone();
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "cms://posts/{id}");

    let (mut uris, mut cursor, mut pages) = (Vec::new(), Value::Null, 0);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        let page = asked(&server, &server.admin, "resources/list", params)["result"].clone();
        let list = page["resources"].as_array().expect("a list").clone();
        assert!(list.len() <= 2);
        uris.extend(list.iter().map(|one| one["uri"].as_str().expect("an address").to_owned()));
        if pages == 0 {
            assert_eq!(list[0]["title"], "Number 3 & more");
        }
        (pages, cursor) = (pages + 1, page["nextCursor"].clone());
        if cursor.is_null() {
            break;
        }
    }
    let expected: Vec<String> = ids.iter().rev().map(|id| format!("cms://posts/{id}")).collect();
    let others = ["cms://pages/", "cms://media/", "cms://categories/", "cms://tags/", "cms://comments/"];
    let of_others = |uri: &String| others.iter().any(|one| uri.starts_with(one));
    assert!(uris.starts_with(&expected) && uris[expected.len()..].iter().all(of_others), "{uris:?}");
    assert!(uris[expected.len()].starts_with("cms://pages/"), "{uris:?}");

    let read = |user: &(String, String), uri: &str| asked(&server, user, "resources/read", json!({"uri": uri}));
    let record = read(&server.admin, &format!("cms://posts/{}", ids[0]));
    let contents = &record["result"]["contents"][0];
    let document: Value = serde_json::from_str(contents["text"].as_str().expect("a text")).expect("JSON");
    assert_eq!((&document["id"], &contents["mimeType"]), (&ids[0], &json!("application/json")));
    let reader = server.user("reader", "subscriber");
    assert_eq!(read(&reader, &format!("cms://posts/{draft}"))["error"]["data"]["status"], 403);
    for absent in
        ["cms://posts/99999", "cms://posts/1/revisions", "cms://users/1", "file:///etc/passwd", "cms://posts/", ""]
    {
        assert_eq!(read(&server.admin, absent)["error"]["code"], -32002, "{absent}");
    }
    let lost = asked(&server, &server.admin, "resources/list", json!({"cursor": "posts:-1"}));
    assert_eq!(lost["error"]["code"], -32602);
}

#[test]
fn what_a_tool_does_not_take_is_named() {
    let server = server();
    for (arguments, stray) in [
        (json!({"title": {"raw": "A", "row": "A"}}), "title.row"),
        (json!({"title": "A", "meta": {"none": 1}}), "meta.none"),
    ] {
        let refused = called(&server, "posts-create", arguments);
        let text = refused["content"][0]["text"].as_str().expect("a text");
        assert!(refused["isError"] == true && text.contains(&format!("`{stray}`")), "{refused}");
    }
}

#[test]
fn files_come_as_base64_or_from_an_address() {
    let server = server();
    let picture = STANDARD.encode(super::media::png(3, 2));
    let upload = |arguments: Value| called(&server, "media-upload", arguments);
    let made = upload(json!({"data": picture, "filename": "harbour.png", "title": "The harbour", "alt_text": "Boats"}));
    let file = &made["structuredContent"];
    assert_eq!(
        (&file["title"], &file["alt_text"], &file["mime_type"]),
        (&json!("The harbour"), &json!("Boats"), &json!("image/png")),
        "{made}"
    );
    let url = file["source_url"].as_str().expect("an address").to_owned();
    assert_eq!(server.send("GET", &url, None, None, &[]).status, 200);
    let again = upload(json!({"url": url}));
    assert_eq!(again["structuredContent"]["mime_type"], "image/png", "a file of this site: {again}");
    for (arguments, code) in [
        (json!({"url": "http://127.0.0.1:1/a.png"}), "rest_invalid_param"),
        (json!({"url": "http://192.0.2.1/a.png"}), "rest_invalid_param"),
        (json!({"url": url, "data": picture, "filename": "a.png"}), "rest_invalid_param"),
        (json!({"data": picture}), "rest_invalid_param"),
        (json!({"data": "not base64!", "filename": "a.png"}), "rest_invalid_param"),
        (json!({"data": STANDARD.encode("<?php"), "filename": "a.php"}), "rest_upload_unsupported_type"),
        (json!({}), "rest_upload_no_data"),
        (json!({"data": picture, "filename": "a.png", "colour": "red"}), "ability_invalid_input"),
    ] {
        let refused = upload(arguments.clone());
        let text = refused["content"][0]["text"].as_str().expect("a text");
        let told = text.ends_with(&format!("({code})"))
            || code == "rest_upload_unsupported_type" && text.contains("Taken are");
        assert!(refused["isError"] == true && told, "{code}: {text}");
    }
    // A credential that only drafts attaches files to drafts of its own.
    let who = super::draft_only::drafting(&server);
    let post = server.ask("POST", "/cms/v2/posts", Some(&who), Some(&json!({"title": "Draft"}))).body["id"].clone();
    let call = |arguments: Value| {
        asked(&server, &who, "tools/call", json!({"name": "media-upload", "arguments": arguments}))["result"].clone()
    };
    let hidden = call(json!({"data": picture, "filename": "b.png", "post": post}));
    assert_eq!(hidden["isError"], false, "{hidden}");
    let open = call(json!({"data": picture, "filename": "c.png"}));
    assert!(open["isError"] == true && open.to_string().contains("attached to a draft of its own"), "{open}");
}

#[test]
fn prompts_are_what_editors_write() {
    let server = server();
    let editor = server.user("ed", "editor");
    let body = json!({
        "name": "summarise", "title": "Summarise", "description": "In the house style.",
        "text": "Summarise the post {post} in {count} sentences. {other}",
        "arguments": [{"name": "post", "description": "Id of the post.", "required": true}, {"name": "count"}],
    });
    let made = server.ask("POST", "/server/v1/prompts", Some(&editor), Some(&body));
    assert_eq!(made.status, 201, "{}", made.text);
    let twice = server.ask("POST", "/server/v1/prompts", Some(&editor), Some(&body));
    assert_eq!((twice.status, twice.code()), (409, "rest_duplicate_value"), "{}", twice.text);
    let hidden = json!({"name": "hidden", "text": "x", "enabled": false});
    assert_eq!(server.ask("POST", "/server/v1/prompts", Some(&editor), Some(&hidden)).status, 201);
    let author = server.user("al", "author");
    assert_eq!(server.ask("POST", "/server/v1/prompts", Some(&author), Some(&body)).status, 403);
    assert_eq!(server.get("/server/v1/prompts").status, 401);
    let who = super::draft_only::drafting(&server);
    assert_eq!(server.ask("POST", "/server/v1/prompts", Some(&who), Some(&body)).status, 403, "it only drafts");

    let listed = asked(&server, &who, "prompts/list", json!({}))["result"]["prompts"].clone();
    let expected = json!([{"name": "summarise", "title": "Summarise", "description": "In the house style.", "arguments": body["arguments"]}]);
    assert_eq!(listed, expected);
    let reader = server.user("re", "subscriber");
    assert_eq!(asked(&server, &reader, "prompts/list", json!({}))["result"]["prompts"], json!([]));
    let get = |params: Value| asked(&server, &who, "prompts/get", params);
    let filled = get(json!({"name": "summarise", "arguments": {"post": "{count}", "count": "3"}}))["result"].clone();
    assert_eq!(filled["messages"][0]["content"]["text"], "Summarise the post {count} in 3 sentences. {other}");
    assert_eq!(
        (&filled["messages"][0]["role"], &filled["description"]),
        (&json!("user"), &json!("In the house style."))
    );
    for (params, words) in [
        (json!({"name": "summarise"}), "`post` is missing"),
        (json!({"name": "summarise", "arguments": {"post": "1", "tone": "dry"}}), "no argument `tone`"),
        (json!({"name": "summarise", "arguments": {"post": 1}}), "`post` is no text"),
        (json!({"name": "hidden"}), "no prompt `hidden`"),
        (json!({}), "`name`"),
    ] {
        let refused = get(params)["error"].clone();
        let told = refused["message"].as_str().is_some_and(|text| text.contains(words));
        assert!(refused["code"] == -32602 && told, "{words}: {refused}");
    }
}

#[test]
fn what_the_site_tells_assistants_is_declared() {
    let server = Server::with(&["mcp.path=/mcp", "mcp.instructions=Write in British English. Ask before you publish."]);
    let shaken = asked(&server, &server.admin, "initialize", json!({"protocolVersion": "2025-11-25"}));
    let text = shaken["result"]["instructions"].as_str().expect("a text");
    assert!(text.ends_with("\n\nWrite in British English. Ask before you publish."), "{text}");
}

#[test]
fn requests_that_say_their_revision_need_no_handshake() {
    let server = server();
    let ask = |method: &str, params: Value, name: Option<&str>| {
        let mut headers = vec![("mcp-protocol-version", MODERN), ("mcp-method", method)];
        headers.extend(name.map(|name| ("mcp-name", name)));
        message(&server, &modern(method, params), &headers)
    };
    let found = ask("server/discover", json!({}), None).body["result"].clone();
    assert_eq!(found["supportedVersions"][0], MODERN);
    assert_eq!((&found["resultType"], &found["cacheScope"]), (&json!("complete"), &json!("private")));
    let listed = ask("tools/list", json!({}), None).body["result"].clone();
    assert!(listed["ttlMs"].is_u64() && listed["tools"].as_array().is_some_and(|tools| tools.len() > 5));
    let info =
        ask("tools/call", json!({"name": "core-get-site-info"}), Some("core-get-site-info")).body["result"].clone();
    assert_eq!((&info["resultType"], &info["isError"]), (&json!("complete"), &json!(false)));
    let absent = ask("resources/read", json!({"uri": "cms://posts/9"}), Some("=?base64?Y21zOi8vcG9zdHMvOQ==?="));
    assert_eq!((absent.status, &absent.body["error"]["code"]), (200, &json!(-32602)));
    for gone in ["ping", "initialize", "completion/complete"] {
        let answer = ask(gone, json!({}), None);
        assert_eq!((answer.status, &answer.body["error"]["code"]), (404, &json!(-32601)), "{gone}");
    }
    for (headers, code) in [
        (vec![("mcp-method", "tools/list")], -32020),
        (vec![("mcp-protocol-version", "2025-06-18"), ("mcp-method", "tools/list")], -32020),
        (vec![("mcp-protocol-version", MODERN)], -32020),
        (vec![("mcp-protocol-version", MODERN), ("mcp-method", "tools/call")], -32020),
    ] {
        let answer = message(&server, &modern("tools/list", json!({})), &headers);
        assert_eq!((answer.status, &answer.body["error"]["code"]), (400, &json!(code)), "{headers:?}");
    }
    let old = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let unknown = message(&server, &old, &[("mcp-protocol-version", "1900-01-01")]);
    assert_eq!((unknown.status, &unknown.body["error"]["code"]), (400, &json!(-32022)));
    assert_eq!(unknown.body["error"]["data"]["requested"], "1900-01-01");
}

#[test]
fn calls_that_write_are_in_the_audit_trail_with_the_name_of_the_client() {
    let server = server();
    let call = |name: &str, arguments: Value| {
        let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", name)];
        let body = modern("tools/call", json!({"name": name, "arguments": arguments}));
        message(&server, &body, &headers).body["result"].clone()
    };
    assert_eq!(call("posts-create", json!({"title": "A draft"}))["isError"], false);
    assert_eq!(call("posts-list", json!({}))["isError"], false);
    assert_eq!(call("posts-update", json!({"id": 999_999, "title": "x"}))["isError"], true, "tried is recorded, too");
    called(&server, "posts-create", json!({"title": "By an older client"}));
    let trail = server.admin("GET", "/server/v1/audit?event=tool_called&order=asc", None).body;
    let entries = trail.as_array().expect("a list").iter().map(|entry| {
        let text = |member: &str| entry[member].as_str().unwrap_or_default().to_owned();
        [text("subject"), text("login"), text("path"), text("client")]
    });
    let entries: Vec<[String; 4]> = entries.collect();
    let tested = |subject: &str| [subject, "admin", "/mcp", "tests 1"].map(str::to_owned);
    assert_eq!(entries[..2], [tested("posts/create"), tested("posts/update")]);
    assert_eq!(entries.len(), 3);
    assert!(entries[2][3].starts_with("ureq"), "an older client has no name but its user agent: {:?}", entries[2]);
}

#[test]
fn what_is_no_message_is_refused() {
    let server = server();
    let post = |body: &str, headers: &[(&str, &str)]| {
        let body = ("application/json", body.as_bytes().to_vec());
        server.send("POST", &address(&server), Some(&server.admin), Some(body), headers)
    };
    let deep = "[".repeat(5000);
    let crowded = format!("[{}0]", "0,".repeat(60_000));
    let many = format!("[{}]", vec![r#"{"jsonrpc":"2.0","method":"a"}"#; 26].join(","));
    for (body, code) in [
        ("", -32700),
        ("{", -32700),
        (deep.as_str(), -32700),
        ("\u{0}", -32700),
        (r#"{"jsonrpc":"2.0","id":"\u0000","method":"ping"}"#, -32700),
        (crowded.as_str(), -32700),
        ("7", -32600),
        ("[]", -32600),
        (many.as_str(), -32600),
        ("{}", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#, -32602),
    ] {
        let answer = post(body, &[]);
        assert_eq!((answer.status, &answer.body["error"]["code"]), (400, &json!(code)), "{body:.60}: {}", answer.text);
    }
    for (request, code) in [
        (json!({"method": "nothing"}), -32601),
        (json!({"method": "tools/call"}), -32602),
        (json!({"method": "tools/call", "params": {"name": 5}}), -32602),
        (json!({"method": "tools/call", "params": {"name": "no-tool"}}), -32602),
        (json!({"method": "tools/call", "params": {"name": "posts-list", "arguments": [1]}}), -32602),
        (json!({"method": "tools/list", "params": {"cursor": "x"}}), -32602),
        (json!({"method": "tools/list", "params": {"page": "x"}}), -32602),
        (json!({"method": "tools/call", "params": {"name": "posts-list", "args": {}}}), -32602),
        (json!({"method": "resources/templates/list", "params": {"cursor": "x"}}), -32602),
        (json!({"method": "resources/read", "params": {}}), -32602),
        (json!({"method": "resources/read", "params": {"uri": 5}}), -32602),
        (json!({"method": "prompts/list", "params": {"cursor": "x"}}), -32602),
        (json!({"method": "prompts/get", "params": {"name": "none"}}), -32602),
        (json!({"method": "ping", "params": {"now": true}}), -32602),
    ] {
        let mut request = request;
        request["jsonrpc"] = json!("2.0");
        request["id"] = json!("x");
        let answer = post(&request.to_string(), &[]);
        assert_eq!((answer.status, &answer.body["error"]["code"]), (200, &json!(code)), "{request}: {}", answer.text);
    }
    let ping = |id: u8| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let batch = json!([ping(1), {"jsonrpc": "2.0", "method": "notifications/cancelled"}, ping(2), 5]);
    let answered = post(&batch.to_string(), &[]).body;
    assert_eq!(answered.as_array().map(Vec::len), Some(3), "{answered}");
    assert_eq!((&answered[1]["id"], &answered[2]["error"]["code"]), (&json!(2), &json!(-32600)));
    assert_eq!(post(&batch.to_string(), &[("mcp-protocol-version", "2025-11-25")]).status, 400);
    assert_eq!(
        server.send("POST", &address(&server), Some(&server.admin), Some(("text/plain", b"{}".to_vec())), &[]).status,
        415
    );
    for method in ["GET", "DELETE", "PUT"] {
        let answer = server.send(method, &address(&server), Some(&server.admin), None, &[]);
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{method}");
    }
}

#[test]
fn a_message_needs_an_application_password_and_no_foreign_page() {
    let server = server();
    let body = || Some(("application/json", br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_vec()));
    let post = |user: Option<&(String, String)>, headers: &[(&str, &str)]| {
        server.send("POST", &address(&server), user, body(), headers)
    };
    let (login, secret) = &server.admin;
    let token = STANDARD.encode(format!("{login}:{secret}"));
    assert_eq!(post(None, &[("authorization", &format!("Bearer {token}"))]).status, 200);
    let wrong = (login.clone(), "wrong".to_owned());
    for refused in [
        post(None, &[]),
        post(Some(&wrong), &[]),
        post(None, &[("authorization", "Bearer nonsense")]),
        post(None, &[("authorization", "Bearer")]),
        post(None, &[("cookie", "cms_session=abc"), ("x-cms-nonce", "abc")]),
    ] {
        assert_eq!(refused.status, 401, "{}", refused.text);
        let schemes = refused.headers.iter().filter(|(name, _)| name == "www-authenticate");
        assert_eq!(
            schemes.map(|(_, value)| &**value).collect::<Vec<_>>(),
            ["Bearer realm=\"mcp\"", "Basic realm=\"mcp\""]
        );
    }
    let own = server.site.clone();
    assert_eq!(post(Some(&server.admin), &[("origin", &own)]).status, 200);
    for origin in ["https://evil.example", "null", "http://127.0.0.1.evil.example", ""] {
        assert_eq!(post(Some(&server.admin), &[("origin", origin)]).status, 403, "{origin}");
    }
    let large = vec![b' '; 5 << 20];
    let large = server.send("POST", &address(&server), Some(&server.admin), Some(("application/json", large)), &[]);
    assert_eq!(large.status, 413);
}

#[test]
fn reads_by_tools_count_against_the_limits() {
    let server = Server::with(&[
        "mcp.path=/mcp",
        "limits.agents.callers=authenticated",
        "limits.agents.burst=3",
        "limits.agents.per_minute=1",
    ]);
    let answers: Vec<Value> = (0..4).map(|_| called(&server, "posts-list", json!({}))).collect();
    assert!(answers[..3].iter().all(|answer| answer["isError"] == false), "{answers:?}");
    assert_eq!(answers[3]["isError"], true);
}

/// The answers to lines over standard input, and whether the program ended well.
fn spoken(server: &Server, more: &[&str], lines: &[Vec<u8>]) -> (bool, Vec<Value>) {
    let mut args = server.args();
    args.extend(["mcp", "--user"]);
    args.extend(more);
    let mut child = program()
        .args(&args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut input = child.stdin.take().expect("a pipe");
    let text: Vec<u8> = lines.iter().flat_map(|line| [line, b"\n".as_slice()].concat()).collect();
    let writing = std::thread::spawn(move || {
        // A program that refuses to start reads nothing.
        let _ = input.write_all(&text);
    });
    let output = child.wait_with_output().expect("ends");
    writing.join().expect("a thread");
    let answers = String::from_utf8(output.stdout).expect("text");
    (output.status.success(), answers.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
}

#[test]
fn a_user_speaks_over_standard_input() {
    let server = Server::start();
    let run = |more: &[&str], lines: &[Value]| {
        let lines: Vec<Vec<u8>> = lines.iter().map(|line| line.to_string().into_bytes()).collect();
        spoken(&server, more, &lines)
    };
    let create = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "posts-create", "arguments": {"title": "By hand"}}});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        create.clone(),
        json!("no message"),
        modern("server/discover", json!({})),
    ];
    let (done, answers) = run(&["admin"], &lines);
    assert!(done && answers.len() == 4, "{answers:?}");
    let id = &answers[1]["result"]["structuredContent"]["id"];
    assert_eq!(server.admin("GET", &format!("/cms/v2/posts/{id}"), None).body["title"]["rendered"], "By hand");
    assert_eq!(answers[2]["error"]["code"], -32600);
    assert_eq!(answers[3]["result"]["supportedVersions"][0], MODERN);
    let (_, answers) = run(&["admin", "--read-only"], &[create]);
    assert_eq!(answers[0]["result"]["isError"], true);
    assert!(!run(&["nobody"], &[]).0);
}

#[test]
fn broken_messages_end_nothing() {
    let server = Server::start();
    let call = |name: &str, arguments: Value| json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}});
    let whole = [
        modern("tools/list", json!({})),
        modern("resources/read", json!({"uri": "cms://posts/1"})),
        call("posts-list", json!({"search": "a", "_fields": ["id"], "where": {"date": {"lt": "now"}}})),
        call("posts-get", json!({"id": 1})),
        call("core-get-site-info", json!({"fields": ["name"]})),
        json!([{"jsonrpc": "2.0", "id": "a", "method": "ping"}, {"jsonrpc": "2.0", "id": 2, "method": "resources/list", "params": {"cursor": "pages:1"}}]),
    ];
    let odd = ["null", "[]", "{}", "-1", "1e400", "\"\u{fffd}\"", "\"cms://posts/../1\"", "\"\"", "[[[[", "\\ud800"];
    // A fixed sequence of numbers, so that a run is like the one before.
    let mut state = 20_260_728_u64;
    let mut next = |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits") % most
    };
    let mut lines = Vec::new();
    for _ in 0..600 {
        let mut line = whole[next(whole.len())].to_string().into_bytes();
        for _ in 0..=next(3) {
            let at = next(line.len());
            match next(4) {
                0 => line.truncate(at.max(1)),
                1 => line[at] = b" \"{}[]:,0x\xff\0"[next(12)],
                2 => drop(line.splice(at..at, odd[next(odd.len())].bytes())),
                _ => {
                    let end = (at + next(12)).min(line.len());
                    line.drain(at..end);
                }
            }
            if line.is_empty() {
                line.push(b'{');
            }
        }
        lines.push(line);
    }
    lines.push(json!({"jsonrpc": "2.0", "id": "last", "method": "ping"}).to_string().into_bytes());
    let (done, answers) = spoken(&server, &["admin", "--read-only"], &lines);
    assert!(done && answers.len() > 300, "{} answers", answers.len());
    assert_eq!(answers.last().map(|answer| &answer["id"]), Some(&json!("last")), "the program lives to the end");
    let internal = answers.iter().find(|answer| answer["error"]["code"] == -32603);
    assert_eq!(internal, None);
}

/// WordPress lists three abilities; tools are there all the same.
#[test]
fn a_site_of_wordpress_has_tools_for_what_is_in_it() {
    let server = Server::with(&["site.prefix=wp", "mcp.path=/mcp"]);
    let offered = names(&server, &server.admin);
    for of in ["posts", "pages", "media", "categories", "tags", "comments"] {
        for verb in ["list", "get", "update"] {
            assert!(offered.contains(&format!("{of}-{verb}")), "{of}-{verb}: {offered:?}");
        }
        assert_eq!(offered.contains(&format!("{of}-create")), of != "media", "{of}");
        assert!(!offered.contains(&format!("{of}-delete")), "{of}");
    }
    assert!(!offered.contains(&"execute-ability".to_owned()), "{offered:?}");
    let made = called(&server, "posts-create", json!({"title": {"raw": "By a tool"}, "status": "publish"}));
    assert_eq!(made["isError"], false, "{made}");
    let found = called(&server, "posts-list", json!({"search": "tool", "_fields": ["id"]}));
    assert_eq!(found["structuredContent"]["items"].as_array().map(Vec::len), Some(1), "{found}");
    let tag = called(&server, "tags-create", json!({"name": "Moss"}));
    assert_eq!(tag["isError"], false, "{tag}");
    // Over REST it is as WordPress has it.
    let listed = server.admin("GET", "/wp-abilities/v1/abilities", None).body;
    let listed: Vec<&str> = listed.as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(listed, ["core/get-site-info", "core/get-user-info", "core/get-environment-info"]);
    let hidden = server.admin("GET", "/wp-abilities/v1/abilities/posts/list/run", None);
    assert_eq!((hidden.status, hidden.code()), (404, "rest_ability_not_found"));
}
