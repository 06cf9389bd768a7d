//! The Model Context Protocol where responses come bit by bit: subscriptions, progress, calls that are called off.

use super::server::Server;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

const MODERN: &str = "2026-07-28";

/// A response that is read as it comes.
struct Events {
    lines: BufReader<TcpStream>,
    head: String,
}

impl Events {
    /// Sends a message and reads the head of the response.
    fn of(server: &Server, user: &(String, String), message: &Value) -> Events {
        let address = server.site.trim_start_matches("http://").to_owned();
        let mut stream = TcpStream::connect(&address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        let (body, token) = (message.to_string(), STANDARD.encode(format!("{}:{}", user.0, user.1)));
        let modern = message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string();
        let version = if modern { MODERN } else { "2025-11-25" };
        let method = message["method"].as_str().expect("a method");
        let name = message["params"]["name"].as_str().map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Basic {token}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: {version}\r\nMcp-Method: {method}\r\n{name}Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("a request");
        Events { lines: BufReader::new(stream), head: String::new() }
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line).expect("a line in time");
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// The head, in small letters.
    fn head(&mut self) -> &str {
        while self.head.is_empty() || !self.head.ends_with("\n\n") {
            let line = self.line().expect("a head");
            self.head.push_str(&format!("{}\n", line.to_lowercase()));
        }
        &self.head
    }

    /// The next message; `None` at the end.
    fn next(&mut self) -> Option<Value> {
        self.head();
        loop {
            let line = self.line()?;
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).expect("JSON"));
            }
        }
    }
}

fn modern(id: Value, method: &str, mut params: Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    match params["_meta"].as_object_mut() {
        Some(own) => own.extend(meta.as_object().expect("an object").clone()),
        None => params["_meta"] = meta,
    }
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn listen(server: &Server, user: &(String, String), notifications: Value) -> Events {
    let message = modern(json!("s"), "subscriptions/listen", json!({"notifications": notifications}));
    Events::of(server, user, &message)
}

#[test]
fn a_subscription_tells_what_has_changed_as_the_caller_sees_it() {
    let server = Server::with(&["mcp.path=/mcp"]);
    let reader = server.user("reader", "subscriber");
    let new = |title: &str, status: &str| {
        server.admin("POST", "/cms/v2/posts", Some(&json!({"title": title, "status": status}))).body["id"].clone()
    };
    let change = |id: &Value, change: Value| {
        assert_eq!(server.admin("POST", &format!("/cms/v2/posts/{id}"), Some(&change)).status, 200);
    };
    let (one, other, draft) = (new("One", "publish"), new("Other", "publish"), new("Draft", "draft"));
    let uri = |id: &Value| format!("cms://posts/{id}");
    let wanted = json!({"resourceSubscriptions": [uri(&one), uri(&draft), "cms://posts/999999"], "resourcesListChanged": true, "promptsListChanged": true});
    let mut events = listen(&server, &reader, wanted);
    assert!(events.head().starts_with("http/1.1 200"), "{}", events.head);
    assert!(events.head().contains("content-type: text/event-stream\n"), "{}", events.head);
    let meta = json!({"io.modelcontextprotocol/subscriptionId": "s"});
    let agreed =
        json!({"resourceSubscriptions": [uri(&one)], "resourcesListChanged": true, "promptsListChanged": true});
    let acknowledged = events.next().expect("a message");
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"], json!({"notifications": agreed, "_meta": meta}));

    change(&other, json!({"content": "Nobody watches it"}));
    change(&one, json!({"title": "Changed"}));
    let updated = events.next().expect("a message");
    assert_eq!(updated["method"], "notifications/resources/updated", "{updated}");
    assert_eq!(updated["params"], json!({"uri": uri(&one), "_meta": meta}));
    new("A new one", "publish");
    assert_eq!(events.next().expect("a message")["method"], "notifications/resources/list_changed");
    change(&one, json!({"status": "draft"}));
    let mut both = [events.next(), events.next()].map(|message| message.expect("a message")["method"].to_string());
    both.sort();
    assert_eq!(both, ["\"notifications/resources/list_changed\"", "\"notifications/resources/updated\""]);
}

#[test]
fn a_subscription_ends_in_order() {
    let server = Server::with(&["mcp.path=/mcp", "mcp.subscription=1s", "mcp.max_subscriptions=10"]);
    let mut events = listen(&server, &server.admin, json!({}));
    assert_eq!(events.next().expect("a message")["params"]["notifications"], json!({}));
    let mut more = listen(&server, &server.admin, json!({"toolsListChanged": true}));
    assert!(more.head().starts_with("http/1.1 429"), "{}", more.head);
    let end = events.next().expect("a message");
    assert_eq!((&end["id"], &end["result"]["resultType"]), (&json!("s"), &json!("complete")));
    assert_eq!(events.next(), None);
    let mut again = listen(&server, &server.admin, json!({"toolsListChanged": true}));
    assert_eq!(again.next().expect("a message")["params"]["notifications"], json!({"toolsListChanged": true}));

    let mut refused = listen(&server, &server.admin, json!("all"));
    assert!(refused.head().starts_with("http/1.1 400"), "{}", refused.head);
    let stranger = ("admin".to_owned(), "wrong".to_owned());
    assert!(listen(&server, &stranger, json!({})).head().starts_with("http/1.1 401"));
}

#[test]
fn a_subscription_ends_when_its_password_is_revoked() {
    let server = Server::with(&["mcp.path=/mcp"]);
    let reader = server.user("reader", "subscriber");
    let post = server.admin("POST", "/cms/v2/posts", Some(&json!({"title": "One", "status": "publish"}))).body;
    let mut events =
        listen(&server, &reader, json!({"resourceSubscriptions": [format!("cms://posts/{}", post["id"])]}));
    assert!(events.next().is_some());
    let users = server.admin("GET", "/cms/v2/users?search=reader&context=edit", None).body;
    let passwords = format!("/cms/v2/users/{}/application-passwords", users[0]["id"]);
    assert_eq!(server.admin("DELETE", &passwords, None).status, 200);
    server.admin("POST", &format!("/cms/v2/posts/{}", post["id"]), Some(&json!({"title": "Two"})));
    let end = events.next().expect("a message");
    assert_eq!((&end["id"], events.next()), (&json!("s"), None), "nothing is told any more: {end}");
}

#[test]
fn a_call_tells_how_far_it_is_if_it_is_asked_to() {
    let server = Server::with(&["mcp.path=/mcp"]);
    let post = server.admin("POST", "/cms/v2/posts", Some(&json!({"title": "One"}))).body;
    let arguments = json!({"id": post["id"], "title": "Copy"});
    let params = json!({"name": "posts-copy", "arguments": arguments, "_meta": {"progressToken": 5}});
    for message in [
        modern(json!(7), "tools/call", params.clone()),
        json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}),
    ] {
        let mut events = Events::of(&server, &server.admin, &message);
        for (done, step) in ["original", "draft", "titled"].iter().enumerate() {
            let told = events.next().expect("a message");
            assert_eq!(told["method"], "notifications/progress");
            assert_eq!(told["params"], json!({"progressToken": 5, "progress": done, "total": 3, "message": step}));
        }
        let answer = events.next().expect("a message");
        assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(7), &json!(false)), "{answer}");
        assert_eq!(events.next(), None);
    }
    let wrong = modern(json!(7), "tools/call", json!({"name": "nothing", "_meta": {"progressToken": 5}}));
    let mut events = Events::of(&server, &server.admin, &wrong);
    assert!(events.head().contains("content-type: application/json"), "what has no progress is no stream");
}

#[test]
fn a_call_that_is_called_off_begins_no_further_step() {
    let server = Server::with(&["mcp.path=/mcp"]);
    let post = server.admin("POST", "/cms/v2/posts", Some(&json!({"title": "Original"}))).body;
    let other = rusqlite::Connection::open(server.path("test.db")).expect("the database");
    other.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    let params = json!({"name": "posts-copy", "arguments": {"id": post["id"]}});
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
    let mut events = Events::of(&server, &server.admin, &call);
    // The call waits for its entry in the audit trail. Each of these takes as long as the call took to get there.
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    let unknown = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "7"}});
    for message in std::iter::repeat_n(&cancelled, 20).chain([&unknown]) {
        assert!(Events::of(&server, &server.admin, message).head().starts_with("http/1.1 202"));
    }
    other.execute_batch("ROLLBACK").expect("no lock");
    events.head();
    let answer: Value = serde_json::from_str(&events.line().expect("a body")).expect("JSON");
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
    assert!(text.contains("rest_cancelled") && text.contains("`original`"), "{text}");
    let drafts = server.admin("GET", "/cms/v2/posts?status=draft&search=Original&_fields=id", None).body;
    assert_eq!(drafts.as_array().map(Vec::len), Some(1), "{drafts}");
}

#[test]
fn a_subscription_tells_that_other_declarations_are_in_charge() {
    let server = Server::with(&["mcp.path=/mcp"]);
    let mut events = listen(&server, &server.admin, json!({"toolsListChanged": true}));
    assert!(events.next().is_some());
    std::fs::write(server.path("site.toml"), "[abilities.\"posts/publish\"]\nlabel = \"Make public\"\n")
        .expect("a file");
    assert_eq!(events.next().expect("a message")["method"], "notifications/tools/list_changed");
    let end = events.next().expect("a message");
    assert_eq!((&end["result"]["resultType"], events.next()), (&json!("complete"), None));
}
