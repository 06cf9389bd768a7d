//! A kind of content of one's own, by declaration alone: what posts can do, papers of a journal can.

use super::inside::Inside;
use super::server::{Server, stdout};
use cms_server::scheduler;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    let put = |file: &str, text: &str| fs::write(folder.path().join(file), text).expect("a file");
    put("site.toml", include_str!("../../fixtures/journal/site.toml"));
    put("schemas/paper.json", include_str!("../../fixtures/journal/paper.json"));
    put("schemas/paper-v2.json", include_str!("../../fixtures/journal/paper-v2.json"));
    folder
}

fn ids(list: &Value) -> Vec<i64> {
    list.as_array().expect("a list").iter().map(|p| p["id"].as_i64().expect("an id")).collect()
}

#[test]
fn papers_can_do_what_posts_can() {
    let server = Server::over(folder(), &[]);
    let referee = server.user("ruth", "referee");
    let subscriber = server.user("sue", "subscriber");
    let ask = |method: &str, route: &str, body: Value| {
        server.ask(method, route, Some(&referee), (!body.is_null()).then_some(&body))
    };
    let topic = ask("POST", "/journal/v1/topics", json!({"name": "Tides"}));
    assert_eq!(topic.status, 201, "{}", topic.text);
    let topic = topic.body["id"].clone();

    // Permissions of its own: users who write posts write no papers, and the other way round.
    let paper = json!({"title": {"raw": "On ebb and flow"}, "content": {"raw": "Water falls."}, "status": "publish",
        "doi": "10.1/1", "pages": 12, "topics": [topic], "meta": {"funding": "Port"}});
    assert_eq!(server.ask("POST", "/journal/v1/papers", Some(&subscriber), Some(&paper)).status, 403);
    assert_eq!(ask("POST", "/cms/v2/posts", json!({"title": {"raw": "x"}})).status, 403);
    let made = ask("POST", "/journal/v1/papers", paper);
    assert_eq!(made.status, 201, "{}", made.text);
    let id = made.body["id"].as_i64().expect("an id");
    let path = format!("/journal/v1/papers/{id}");
    for (key, value) in [("slug", json!("on-ebb-and-flow")), ("doi", json!("10.1/1")), ("pages", json!(12))] {
        assert_eq!(made.body[key], value, "{key}");
    }
    assert_eq!(made.body["meta"]["funding"], "Port");
    assert_eq!(server.get(&format!("/journal/v1/topics/{topic}")).body["count"], 1);

    // Revisions and autosaves.
    assert_eq!(ask("PUT", &path, json!({"content": {"raw": "Water falls and rises."}})).status, 200);
    let revisions = ask("GET", &format!("{path}/revisions"), Value::Null);
    assert_eq!(revisions.body.as_array().map(Vec::len), Some(2), "{}", revisions.text);
    let shown = server.get(&path);
    assert_eq!(shown.body["_links"]["version-history"][0]["count"], 2, "{}", shown.text);
    let saved = ask("POST", &format!("{path}/autosaves"), json!({"content": {"raw": "Water stands."}}));
    assert_eq!((saved.status, &saved.body["parent"]), (200, &json!(id)), "{}", saved.text);

    // Filters, sort keys, meta, topics, search.
    let other = json!({"title": {"raw": "A short note"}, "status": "publish", "pages": 1});
    let other = ask("POST", "/journal/v1/papers", other).body["id"].as_i64().expect("an id");
    let list = |query: &str| {
        let answer = server.get(&format!("/journal/v1/papers?{query}"));
        assert_eq!(answer.status, 200, "{query}: {}", answer.text);
        ids(&answer.body)
    };
    assert_eq!(list("orderby=pages&order=asc"), [other, id]);
    assert_eq!(list("min_pages=2"), [id]);
    assert_eq!(list("funding=Port"), [id]);
    assert!(list("funding=Nobody").is_empty());
    assert_eq!(list(&format!("topics={topic}")), [id]);
    assert_eq!(list("search=ebb"), [id]);
    assert_eq!(ids(&server.get("/cms/v2/search?search=ebb&subtype=paper").body), [id]);

    // Global parameters.
    let embedded = server.get(&format!("{path}?_embed=author,topic&_fields=id,_links,_embedded")).body;
    assert_eq!(embedded["_embedded"]["author"][0]["name"], "ruth", "{embedded}");
    assert_eq!(embedded["_embedded"]["topic"][0][0]["name"], "Tides", "{embedded}");
    assert_eq!(
        server.get(&format!("{path}?_fields=doi,title.rendered")).body,
        json!({"title": {"rendered": "On ebb and flow"}, "doi": "10.1/1"})
    );
    let wrapped = server.get(&format!("{path}?_envelope&_fields=id")).body;
    assert_eq!((&wrapped["status"], &wrapped["body"]), (&json!(200), &json!({"id": id})));
    assert!(server.get(&format!("{path}?_jsonp=show&_fields=id")).text.contains("show({\"id\""));
    assert_eq!(ask("POST", &format!("{path}?_method=PATCH"), json!({"pages": 13})).body["pages"], 13);
    assert_eq!(
        ask("GET", &format!("{path}?context=edit"), Value::Null).body["content"]["raw"],
        "Water falls and rises."
    );
    let by_query = server.send("GET", &format!("{}/?rest_route={path}", server.site), None, None, &[]);
    assert_eq!(by_query.body["id"], id, "{}", by_query.text);
    let parts = json!({"requests": [{"path": path, "method": "PUT", "body": {"pages": 14}}, {"path": format!("{path}0"), "method": "PUT"}]});
    let batch = ask("POST", "/batch/v1", parts);
    assert_eq!((batch.status, &batch.body["responses"][0]["body"]["pages"]), (207, &json!(14)), "{}", batch.text);
    assert_eq!(batch.body["responses"][1]["status"], 404);

    // The same table in the next version's shape, and a route without a namespace.
    let v2 = server.get(&format!("/journal/v2/papers/{id}"));
    assert_eq!((v2.status, &v2.body["heading"]), (200, &json!("On ebb and flow")), "{}", v2.text);
    assert!(v2.body.get("title").is_none() && v2.body.get("pages").is_none());
    assert_eq!(ids(&server.get("/journal/v2/papers").body), list(""));
    let renamed = ask("PUT", &format!("/journal/v2/papers/{id}"), json!({"heading": "On tides"}));
    assert_eq!(renamed.status, 200, "{}", renamed.text);
    let first = server.get(&path).body;
    assert_eq!((&first["title"]["rendered"], &first["pages"]), (&json!("On tides"), &json!(14)));
    let ping = server.get("/ping");
    assert_eq!(ping.status, 200, "{}", ping.text);
    assert!(ping.text.contains("pong"));

    // The trash, and back.
    let trashed = ask("DELETE", &path, Value::Null);
    assert_eq!((trashed.status, &trashed.body["status"]), (200, &json!("trash")), "{}", trashed.text);
    assert_eq!(ask("DELETE", &path, Value::Null).status, 410);
    assert_eq!(server.get(&path).status, 401);
    assert_eq!(server.get(&format!("/journal/v1/topics/{topic}")).body["count"], 0);
    let back = ask("PUT", &path, json!({"status": "publish"}));
    assert_eq!((&back.body["status"], &back.body["slug"]), (&json!("publish"), &json!("on-ebb-and-flow")));
    assert_eq!(ask("DELETE", &format!("{path}?force=true"), Value::Null).body["deleted"], true);
}

#[test]
fn a_state_of_ones_own_ends_by_itself() {
    let site = Inside::over(folder());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs() as i64;
    let admin = site.get("/cms/v2/users/me", true).body["id"].clone();
    assert!(admin.is_i64());
    let body = json!({"title": {"raw": "Soon"}, "status": "embargo"});
    let refused = site.ask(cms_core::model::Method::Post, "/journal/v1/papers", true, Some(&body));
    assert_eq!(refused.status, 403, "administrators have no right that nobody gave them");
    let member = json!({"roles": ["administrator", "referee"]});
    site.make(&format!("/cms/v2/users/{admin}"), &member);
    let made = site.make("/journal/v1/papers", &body);
    assert_eq!(made["status"], "embargo");
    let list = |query: &str| site.get(&format!("/journal/v1/papers{query}"), true).body;
    assert_eq!(list("?status=embargo").as_array().map(Vec::len), Some(1));
    assert_eq!(site.get("/journal/v1/papers", false).body, json!([]));
    let mut stuck = HashSet::new();
    let mut look =
        |at: i64| scheduler::carry_out(&site.registry, &*site.services.storage, at, &mut stuck).expect("a look");
    let early = look(now + 6 * 86_400);
    assert_eq!(early.records, 0);
    assert_eq!(look(early.next.expect("a day on which it ends")).records, 1);
    assert_eq!(site.get("/journal/v1/papers", false).body[0]["id"], made["id"]);
}
