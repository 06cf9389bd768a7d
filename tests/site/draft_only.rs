//! Credentials that only draft: what they may do, and that nothing which a stranger reads changes by them, whatever they send.

use super::dice::Dice;
use super::media::{multipart, png};
use super::server::{Answer, Server};
use super::xmlrpc::call_as;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A credential of an administrator that only drafts.
pub(super) fn drafting(server: &Server) -> (String, String) {
    let body = json!({"name": "Assistant", "actions": ["read", "draft"]});
    let made = server.admin("POST", "/cms/v2/users/me/application-passwords", Some(&body));
    assert_eq!((made.status, &made.body["actions"]), (201, &json!(["read", "draft"])), "{}", made.text);
    (server.admin.0.clone(), made.body["password"].as_str().expect("the clear value").to_owned())
}

fn refused(answer: &Answer, about: &str) {
    assert_eq!((answer.status, answer.code()), (403, "rest_application_password_limited"), "{about}: {}", answer.text);
    assert!(answer.text.contains("may only draft (`actions`)"), "{about}: {}", answer.text);
}

fn upload(server: &Server, who: &(String, String), fields: &[(&str, &str)]) -> Answer {
    let (kind, body) = multipart(fields, Some(("file", "a.png", &png(2, 2))));
    server.send("POST", &format!("{}/cms/v2/media", server.rest), Some(who), Some((kind, body)), &[])
}

#[test]
fn a_drafting_credential_writes_drafts_and_nothing_else() {
    let server = Server::with(&["mcp.path=/mcp"]);
    let who = drafting(&server);
    let ask = |method: &str, route: &str, body: Value| server.ask(method, route, Some(&who), Some(&body));
    let id = |answer: &Answer| answer.body["id"].as_i64().unwrap_or_else(|| panic!("{}", answer.text));

    let made = ask("POST", "/cms/v2/posts", json!({"title": "A", "content": "B"}));
    assert_eq!((made.status, &made.body["status"]), (201, &json!("draft")), "{}", made.text);
    let draft = format!("/cms/v2/posts/{}", id(&made));
    let changed = ask("PUT", &draft, json!({"title": "C", "status": "pending", "tags": []}));
    assert_eq!((changed.status, &changed.body["status"]), (200, &json!("pending")), "{}", changed.text);
    let page = ask("POST", "/cms/v2/pages", json!({"title": "A page", "status": "draft"}));
    assert_eq!(page.status, 201, "{}", page.text);
    let file = upload(&server, &who, &[("post", &id(&made).to_string())]);
    assert_eq!(file.status, 201, "{}", file.text);
    let media = format!("/cms/v2/media/{}", id(&file));
    assert_eq!(ask("POST", &media, json!({"alt_text": "An example"})).status, 200);
    assert_eq!(server.get(&media).status, 401, "a stranger does not see it");
    assert_eq!(server.ask("GET", "/cms/v2/settings", Some(&who), None).status, 200, "it reads what its user reads");

    refused(&upload(&server, &who, &[]), "a file that everybody sees");
    let live = server.admin("POST", "/cms/v2/posts", Some(&json!({"title": "Live", "status": "publish"})));
    let others = server.user("eva", "author");
    let theirs = server.ask("POST", "/cms/v2/posts", Some(&others), Some(&json!({"title": "D"})));
    let (live, theirs) = (format!("/cms/v2/posts/{}", id(&live)), format!("/cms/v2/posts/{}", id(&theirs)));
    for (about, method, route, body) in [
        ("publishing at once", "POST", "/cms/v2/posts", json!({"title": "A", "status": "publish"})),
        (
            "publishing later",
            "POST",
            "/cms/v2/posts",
            json!({"title": "A", "status": "future", "date": "2090-01-01T00:00:00"}),
        ),
        ("a private record", "POST", "/cms/v2/posts", json!({"title": "A", "status": "private"})),
        ("a draft of another", "POST", "/cms/v2/posts", json!({"title": "A", "author": 2})),
        ("publishing its draft", "PUT", &draft, json!({"status": "publish"})),
        ("giving its draft away", "PUT", &draft, json!({"author": 2})),
        ("deleting a live record", "DELETE", &live, json!({})),
        ("deleting another's draft", "DELETE", &theirs, json!({})),
        ("deleting for good", "DELETE", &format!("{draft}?force=true"), json!({})),
        ("a file for everybody", "POST", &media, json!({"post": 0})),
        ("an autosave of a live record", "POST", &format!("{live}/autosaves"), json!({"title": "X"})),
        ("a tag", "POST", "/cms/v2/tags", json!({"name": "X"})),
        ("a category", "PUT", "/cms/v2/categories/1", json!({"name": "X"})),
        ("a comment", "POST", "/cms/v2/comments", json!({"post": 1, "content": "X"})),
        ("a setting", "POST", "/cms/v2/settings", json!({"title": "X"})),
        (
            "a user",
            "POST",
            "/cms/v2/users",
            json!({"username": "x", "email": "x@example.org", "password": "long enough"}),
        ),
        ("its own account", "POST", "/cms/v2/users/me", json!({"name": "X"})),
        ("a credential", "POST", "/cms/v2/users/me/application-passwords", json!({"name": "X"})),
    ] {
        refused(&ask(method, route, body), about);
    }
    let back = ask("PUT", &live, json!({"status": "draft"}));
    assert_eq!((back.status, back.code()), (403, "rest_application_password_limited"), "{}", back.text);
    // Changes of what is no draft of its own wait for a review.
    for (about, route) in [("a live record", &live), ("another's draft", &theirs)] {
        let waits = ask("PUT", route, json!({"title": "X"}));
        assert_eq!((waits.status, &waits.body["state"]), (202, &json!("pending")), "{about}: {}", waits.text);
    }
    let parts =
        json!({"requests": [{"method": "POST", "path": "/cms/v2/posts", "body": {"title": "X", "status": "publish"}}]});
    let batch = ask("POST", "/batch/v1", parts).text;
    assert!(batch.contains("may only draft"), "{batch}");
    let publish = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "posts-publish", "arguments": {"id": id(&made)}}});
    let body = ("application/json", publish.to_string().into_bytes());
    let told = server.send("POST", &format!("{}/mcp", server.site), Some(&who), Some(body), &[]).text;
    assert!(told.contains("may only draft"), "{told}");
    let waits = call_as(&server, &who, "wp.editPost", &[json!(live.rsplit('/').next()), json!({"post_title": "Y"})]);
    assert!(waits["fault"].is_number(), "{waits}");
    let called = call_as(&server, &who, "wp.newPost", &[json!({"post_title": "X", "post_status": "publish"})]);
    assert!(called["fault"].is_number(), "{called}");
    let gone = ask("DELETE", &draft, json!({}));
    assert_eq!((gone.status, &gone.body["status"]), (200, &json!("trash")), "{}", gone.text);
    refused(&ask("PUT", &draft, json!({"status": "draft"})), "the trash");

    // Words that are none, and how it is listed.
    for wrong in [json!(["publish"]), json!([]), json!("draft"), json!(["read", "draft", "read"])] {
        let body = json!({"name": "x", "actions": wrong});
        let answer = server.admin("POST", "/cms/v2/users/me/application-passwords", Some(&body));
        assert_eq!(answer.status, if wrong == json!("draft") { 201 } else { 400 }, "{wrong}: {}", answer.text);
    }
    let only = server.admin(
        "POST",
        "/cms/v2/users/me/application-passwords",
        Some(&json!({"name": "x", "actions": ["read"]})),
    );
    assert_eq!((&only.body["read_only"], only.body.get("actions")), (&json!(true), None), "{}", only.text);
}

/// Everything that a stranger reads: every collection, what it lists, and the site's own addresses.
fn seen(server: &Server, routes: &[String]) -> BTreeMap<String, String> {
    let mut seen = BTreeMap::new();
    let mut read = |url: String| {
        let answer = server.send("GET", &url, None, None, &[]);
        seen.insert(url, format!("{} {}", answer.status, answer.text));
        answer
    };
    for route in routes.iter().filter(|route| !route.contains("(?P")) {
        let found = read(format!("{}{route}?per_page=100", server.rest));
        for item in found.body.as_array().into_iter().flatten().take(5) {
            if let Some(id) = item["id"].as_i64() {
                read(format!("{}{route}/{id}", server.rest));
            }
        }
    }
    for path in ["/", "/feed/", "/robots.txt", "/sitemap.xml", "/login", "/nothing"] {
        read(format!("{}{path}", server.site));
    }
    seen
}

/// A value that some argument takes.
fn value(dice: &mut Dice) -> Value {
    let words = [
        "publish",
        "draft",
        "private",
        "future",
        "pending",
        "trash",
        "inherit",
        "hello-world",
        "X",
        "",
        "open",
        "closed",
        "published",
        "withdrawn",
        "1-1",
    ];
    match dice.below(7) {
        0 => json!(dice.below(40)),
        1 => json!(dice.one_in(2)),
        2 => json!([dice.below(20), dice.below(20)]),
        3 => json!({"raw": "X", "a": 1}),
        4 => json!("2020-01-01T00:00:00"),
        _ => json!(*dice.of(&words)),
    }
}

fn body(dice: &mut Dice) -> Value {
    let names = [
        "title",
        "content",
        "status",
        "author",
        "id",
        "slug",
        "parent",
        "sticky",
        "date",
        "name",
        "description",
        "post",
        "menu_order",
        "password",
        "template",
        "meta",
        "tags",
        "categories",
        "comment_status",
        "email",
        "roles",
        "username",
        "force",
        "excerpt",
        "value",
        "state",
        "seen",
        "note",
    ];
    let mut body = json!({"title": "X", "content": "X"});
    for _ in 0..dice.below(6) {
        let name = *dice.of(&names);
        body[name] = value(dice);
    }
    if dice.one_in(3) {
        body["status"] = json!(*dice.of(&["publish", "draft", "future", "private"]));
    }
    body
}

/// A route with values in the places of its parameters.
fn filled(route: &str, known: &[i64], dice: &mut Dice) -> String {
    let mut path = String::new();
    let mut rest = route;
    while let Some((before, after)) = rest.split_once("(?P<") {
        path.push_str(before);
        let mut depth = 1;
        let end = after.find(|c| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth == 0
        });
        let end = end.unwrap_or(after.len() - 1);
        let number = if dice.one_in(2) { *dice.of(known) } else { dice.below(40) as i64 };
        path.push_str(&if after[..end].contains("\\d") || dice.one_in(2) { number.to_string() } else { "x".into() });
        rest = &after[end + 1..];
    }
    path + rest
}

#[test]
fn nothing_that_a_stranger_reads_changes() {
    let quiet = ["mcp.path=/mcp", "mcp.direct=200", "mcp.destructive=true", "server.access_log=false"];
    let server = Server::with(&quiet);
    let who = drafting(&server);
    let index = server.admin("GET", "/", None).body;
    let routes: Vec<String> = index["routes"].as_object().expect("routes").keys().cloned().collect();
    let tools = super::mcp::names(&server, &server.admin);
    let mut known = Vec::new();
    let mut waits = 0;
    for (of, status) in
        ["posts", "pages"].iter().flat_map(|of| ["publish", "publish", "draft", "private"].map(|status| (of, status)))
    {
        let body = json!({"title": format!("{of} {status}"), "content": "Text", "status": status});
        let made = server.admin("POST", &format!("/cms/v2/{of}"), Some(&body));
        known.extend(made.body["id"].as_i64());
    }
    server.admin("POST", "/cms/v2/tags", Some(&json!({"name": "One"})));
    server.admin("POST", "/cms/v2/comments", Some(&json!({"post": known[0], "content": "First"})));
    assert_eq!(upload(&server, &server.admin, &[]).status, 201);
    // A response that differs by itself shows nothing.
    let (first, mut before) = (seen(&server, &routes), seen(&server, &routes));
    before.retain(|url, text| first.get(url) == Some(text));
    assert!(before.len() > 40, "{} addresses", before.len());
    let calls = std::env::var("CMS_TEST_DRAFT_CALLS").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
    let (mut dice, mut done) = (Dice(44), 0);
    for call in 0..calls {
        let body = body(&mut dice);
        let route: &String = dice.of(&routes);
        let path = filled(route, &known, &mut dice);
        let method = *dice.of(&["POST", "POST", "PUT", "PATCH", "DELETE"]);
        let answer = match dice.below(6) {
            0 => {
                let part = json!({"requests": [{"method": method, "path": path, "body": body}]});
                server.ask("POST", "/batch/v1", Some(&who), Some(&part))
            }
            1 => {
                let mut arguments = body.clone();
                arguments["id"] = json!(*dice.of(&known));
                let params = json!({"name": *dice.of(&tools), "arguments": arguments});
                let message = json!({"jsonrpc": "2.0", "id": call, "method": "tools/call", "params": params});
                let bytes = ("application/json", message.to_string().into_bytes());
                server.send("POST", &format!("{}/mcp", server.site), Some(&who), Some(bytes), &[])
            }
            2 => {
                let method = *dice.of(&[
                    "wp.newPost",
                    "wp.editPost",
                    "wp.deletePost",
                    "wp.newTerm",
                    "wp.editProfile",
                    "wp.setOptions",
                ]);
                let post = json!({"post_title": "X", "post_status": *dice.of(&["publish", "draft"])});
                let params = if method == "wp.newPost" { vec![post] } else { vec![json!(*dice.of(&known)), post] };
                call_as(&server, &who, method, &params);
                continue;
            }
            _ if dice.one_in(2) => server.ask(method, &path, Some(&who), Some(&body)),
            _ => {
                // Records are what it may write: those of its own, and others.
                let of = *dice.of(&["posts", "pages", "media"]);
                let path = format!("/cms/v2/{of}/{}", dice.of(&known));
                let new = dice.one_in(3) && of != "media";
                let (method, path) = if new { ("POST", format!("/cms/v2/{of}")) } else { (method, path) };
                // Half of them are sound, so that there are drafts to go on with.
                let status = *dice.of(&["draft", "draft", "pending", "publish"]);
                let mut sound = json!({"title": "X", "content": "X", "status": status});
                if !new && dice.one_in(2) {
                    // A change of a live record that waits.
                    sound = json!({"title": format!("X{call}"), "excerpt": "X", "tags": [known[0]]});
                }
                let body = if dice.one_in(2) { &sound } else { &body };
                server.ask(method, &path, Some(&who), Some(body))
            }
        };
        assert!(answer.status < 500 || [501, 503].contains(&answer.status), "{method} {path} {body}: {}", answer.text);
        waits += usize::from(answer.status == 202);
        if answer.status == 201 {
            known.extend(answer.body["id"].as_i64());
            done += 1;
        }
        if call % 100 == 99 || call + 1 == calls {
            let after = seen(&server, &routes);
            for (url, text) in &before {
                assert_eq!(after.get(url), Some(text), "{url} after {call} calls, the last {method} {path} {body}");
            }
        }
    }
    assert!(done > 5 && waits > 1, "{done} drafts, {waits} changes that wait");
}
