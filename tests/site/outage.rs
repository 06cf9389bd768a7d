//! The database is away for a while: what is asked meanwhile is answered soon, and says when to come again.

use super::relay::Relay;
use super::server::{Answer, Server};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// No request takes longer.
const BUDGET: Duration = Duration::from_secs(10);

fn create(title: &str) -> Value {
    json!({"path": "/cms/v2/posts", "body": {"title": {"raw": title}, "status": "publish"}})
}

fn batch(server: &Server, atomic: bool, requests: &[Value]) -> Answer {
    let start = Instant::now();
    let answer = server.admin("POST", "/batch/v1", Some(&json!({"atomic": atomic, "requests": requests})));
    assert!(start.elapsed() < BUDGET, "{:?}: {}", start.elapsed(), answer.text);
    answer
}

fn titles(server: &Server) -> Vec<String> {
    let list = server.get("/cms/v2/posts?orderby=id&order=asc&_fields=title").body;
    let title = |post: &Value| post["title"]["rendered"].as_str().expect("a title").to_owned();
    list.as_array().expect("a list").iter().map(title).collect()
}

/// Waits until the server reads and writes again.
fn recovered(server: &Server) {
    let start = Instant::now();
    let body = json!({"description": "is back"});
    for (method, body) in [("GET", None), ("POST", Some(&body))] {
        while server.admin(method, "/cms/v2/users/me", body).status != 200 {
            assert!(start.elapsed() < BUDGET, "it does not recover");
        }
    }
}

#[test]
fn the_parts_of_a_batch_say_that_the_database_is_away() {
    let first = Server::start();
    let Some(relay) = Relay::before(&first.storage()) else { return };
    let node = first.beside_with(&[&relay.storage]);
    assert_eq!(batch(&node, false, &[create("One")]).status, 207);
    relay.cut_at("Two of four");
    let all = ["One of four", "Two of four", "Three of four", "Four of four"].map(create);
    let answer = batch(&node, false, &all);
    assert_eq!(answer.status, 207, "{}", answer.text);
    let parts = answer.body["responses"].as_array().expect("parts").clone();
    let statuses: Vec<&Value> = parts.iter().map(|part| &part["status"]).collect();
    assert_eq!(statuses, [201, 503, 503, 503], "{}", answer.text);
    for part in &parts[1..] {
        assert!(part["headers"]["Retry-After"].as_i64().is_some_and(|after| after > 0), "{part}");
        assert!(part["body"]["code"].is_string(), "{part}");
    }
    let away = batch(&node, true, &all);
    assert_eq!(away.status, 503, "{}", away.text);
    assert!(away.header("retry-after").is_some(), "{:?}", away.headers);
    relay.restore();
    recovered(&node);
    assert_eq!(titles(&node), ["One", "One of four"], "nothing else was written");

    relay.cut_at("Six of six");
    let answer = batch(&node, true, &[create("Five of six"), create("Six of six")]);
    assert!(answer.status == 503 || answer.body["failed"] == "atomic", "{} {}", answer.status, answer.text);
    relay.restore();
    recovered(&node);
    assert_eq!(titles(&node), ["One", "One of four"], "all or nothing");
    let seven = batch(&node, true, &[create("Seven")]);
    assert_eq!(seven.status, 207, "{}", seven.text);
    relay.cut();
    let start = Instant::now();
    let answer = node.get("/cms/v2/posts?search=nothing");
    assert_eq!((answer.status, answer.header("retry-after").is_some()), (503, true), "{}", answer.text);
    assert!(start.elapsed() < BUDGET);
}
