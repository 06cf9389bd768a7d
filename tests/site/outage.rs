//! The database is away for a while: what is asked meanwhile is answered soon, and says when to come again.

use super::disk::{Titles, settled, work};
use super::relay::{Loss, Relay, Sender};
use super::server::{Answer, Server, within};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Messages of each kind with which connections end; `CMS_TEST_MESSAGES` sets another number.
const MESSAGES: u64 = 2;

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
        let left = BUDGET.saturating_sub(start.elapsed());
        within(left, "it recovers", || server.admin(method, "/cms/v2/users/me", body).status == 200);
    }
}

/// The status of a response, and how long it took.
fn timed(send: impl FnOnce() -> Answer) -> (u16, Duration) {
    let start = Instant::now();
    let answer = send();
    assert!(answer.status != 503 || answer.header("retry-after").is_some(), "{}", answer.text);
    (answer.status, start.elapsed())
}

#[test]
fn a_database_that_goes_silent_holds_nobody_longer_than_the_budget() {
    let first = Server::start();
    let Some(relay) = Relay::before(&first.storage()) else { return };
    let node = first.beside_with(&[&relay.storage, "storage.read_timeout=2s"]);
    let made = node.admin("POST", "/cms/v2/posts", Some(&json!({"title": {"raw": "One"}, "status": "publish"})));
    let item = format!("/cms/v2/posts/{}", made.body["id"]);
    for round in 0..3 {
        // Some connections wait in the pool.
        std::thread::scope(|threads| {
            for n in 0..8 {
                let node = &node;
                threads.spawn(move || node.get(&format!("/cms/v2/posts?search=before+{round}+{n}")));
            }
        });
        relay.hush();
        // More than there are workers: those that wait for a worker wait for the requests before them.
        let took: Vec<(u16, Duration)> = std::thread::scope(|threads| {
            let ask = |n: usize| {
                let (node, item) = (&node, &item);
                threads.spawn(move || match n % 4 {
                    0 => timed(|| node.admin("POST", item, Some(&json!({"content": {"raw": "Text"}})))),
                    1 => timed(|| node.admin("GET", &format!("{item}?context=edit&_={n}"), None)),
                    _ => timed(|| node.get(&format!("/cms/v2/posts?search=silent+{round}+{n}"))),
                })
            };
            let asked: Vec<_> = (0..48).map(ask).collect();
            asked.into_iter().map(|asked| asked.join().expect("a response")).collect()
        });
        relay.restore();
        println!("{took:?}");
        let longest = took.iter().map(|(_, took)| *took).max().unwrap_or_default();
        assert!(longest < BUDGET, "{longest:?}");
        assert!(took.iter().all(|(status, _)| *status == 503 || *status == 200), "{took:?}");
        recovered(&node);
    }
}

#[test]
fn a_long_list_is_read_in_time_by_connections_that_are_new() {
    let first = Server::start();
    let tag =
        |n: usize| first.admin("POST", "/cms/v2/tags", Some(&json!({"name": format!("Tag {n}")}))).body["id"].clone();
    let tags: Vec<Value> = (0..8).map(tag).collect();
    for n in 0..100 {
        let post = json!({"title": {"raw": format!("Post {n}")}, "status": "publish", "tags": tags});
        assert_eq!(first.admin("POST", "/cms/v2/posts", Some(&post)).status, 201);
    }
    // It has prepared nothing yet.
    let node = first.beside();
    for round in 0..3 {
        let path = format!("/cms/v2/posts?per_page=100&context=edit&status=any&offset={round}");
        let answer = node.admin("GET", &path, None);
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(answer.body.as_array().map(Vec::len), Some(100 - round));
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

#[test]
fn connections_that_end_with_any_message_lose_nothing_that_was_acknowledged() {
    let first = Server::start();
    let Some(relay) = Relay::before(&first.storage()) else { return };
    let node = first.beside_with(&[&relay.storage]);
    let mut all = Titles::new();
    // A statement that is prepared once is not counted.
    assert!(work(&node, "first", &mut all));
    relay.count_messages(None);
    assert!(work(&node, "counted", &mut all));
    let counts = relay.count_messages(None);
    let places = std::env::var("CMS_TEST_MESSAGES").map_or(MESSAGES, |given| given.parse().expect("a number"));
    let mut refused = 0;
    for (n, sender) in (0..places).flat_map(|n| [(n, Sender::Client), (n, Sender::Database)]) {
        for loss in [Loss::Connections, Loss::Database] {
            let place = 1 + counts[&sender] * n / places;
            let name = format!("{sender:?} {place} {loss:?}");
            let mut known = Titles::new();
            relay.count_messages(Some((sender, place, loss)));
            // A late one may not come: what is read again, and how often, depends on time.
            refused += u64::from(!work(&node, &name, &mut known));
            relay.restore();
            recovered(&node);
            settled(&node, &mut known);
            all.append(&mut known);
            assert!(!node.log().contains("panicked"), "{name}: {}", node.log());
        }
    }
    settled(&node, &mut all);
    assert!(refused > places, "{refused} of {} were refused", places * 4);
}
