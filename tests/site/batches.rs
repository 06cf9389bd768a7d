//! Atomic batches.

use super::server::Server;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};

fn post(title: &str, more: &Value) -> Value {
    let mut body = json!({"title": {"raw": title}, "status": "publish"});
    body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    json!({"path": "/cms/v2/posts", "body": body})
}

fn atomic(server: &Server, requests: &[Value]) -> Value {
    let answer = server.admin("POST", "/batch/v1", Some(&json!({"atomic": true, "requests": requests})));
    assert_eq!(answer.status, 207, "{}", answer.text);
    answer.body
}

#[test]
fn a_part_that_fails_takes_all_others_back() {
    let server = Server::start();
    let id = |made: &Value| made["id"].as_i64().expect("an id");
    let tag = server.admin("POST", "/cms/v2/tags", Some(&json!({"name": "Red"}))).body;
    let there = server.admin("POST", "/cms/v2/posts", Some(&post("There", &json!({}))["body"])).body;
    let address = format!("/cms/v2/posts/{}", id(&there));
    let rename = |title: &str| json!({"method": "PUT", "path": address, "body": {"title": {"raw": title}}});
    let state = || {
        let routes = [
            "/cms/v2/posts?context=edit&per_page=100".to_owned(),
            "/cms/v2/tags?context=edit".to_owned(),
            "/cms/v2/users?context=edit".to_owned(),
            format!("{address}/revisions"),
        ];
        routes.map(|route| {
            let answer = server.admin("GET", &route, None);
            (answer.header("x-cms-total").map(str::to_owned), answer.text)
        })
    };
    let before = state();
    let requests = [
        post("New", &json!({"tags": [id(&tag)], "slug": "new"})),
        rename("Elsewhere"),
        json!({"path": "/cms/v2/users", "body": {"username": "new", "email": "new@example.org", "password": "long enough"}}),
        json!({"method": "PUT", "path": "/cms/v2/posts/999999", "body": {}}),
        json!({"method": "DELETE", "path": format!("{address}?force=true")}),
        json!({"method": "DELETE", "path": format!("/cms/v2/tags/{}?force=true", id(&tag))}),
    ];
    let answer = atomic(&server, &requests);
    assert_eq!(answer["failed"], "atomic");
    let responses = answer["responses"].as_array().expect("a list");
    let told: Vec<&Value> = responses.iter().map(|r| &r["status"]).collect();
    assert_eq!(told, [&json!(null), &json!(null), &json!(null), &json!(404), &json!(null), &json!(null)], "{answer}");
    assert_eq!(state(), before);
    // A later one is given the slug, and nothing that was rendered in between is shown.
    let answer = atomic(&server, &[post("New", &json!({"tags": [id(&tag)]})), rename("Renamed"), rename("Once more")]);
    assert!(answer.get("failed").is_none(), "{answer}");
    assert_eq!(answer["responses"][0]["body"]["slug"], "new");
    assert_eq!(server.get(&address).body["title"]["rendered"], "Once more");
    assert_eq!(server.get(&format!("/cms/v2/tags/{}", id(&tag))).body["count"], 1);
    let revisions = server.admin("GET", &format!("{address}/revisions"), None).body;
    // The state before the first change is one of them.
    assert_eq!(revisions.as_array().map(Vec::len), Some(3), "{revisions}");
}

#[test]
fn parts_follow_what_those_before_them_wrote() {
    let server = Server::start();
    let ids: Vec<i64> = (0..2)
        .map(|n| server.admin("POST", "/cms/v2/tags", Some(&json!({"name": format!("T{n}")}))).body["id"].as_i64())
        .map(|id| id.expect("an id"))
        .collect();
    let requests = [
        post("Twin", &json!({})),
        post("Twin", &json!({})),
        json!({"method": "DELETE", "path": format!("/cms/v2/tags/{}?force=true", ids[0])}),
        json!({"method": "PUT", "path": format!("/cms/v2/tags/{}", ids[1]), "body": {"name": "T0"}}),
    ];
    let answer = atomic(&server, &requests);
    let slugs: Vec<&Value> = (0..2).map(|n| &answer["responses"][n]["body"]["slug"]).collect();
    assert_eq!(slugs, ["twin", "twin-2"], "{answer}");
    assert_eq!(answer["responses"][3]["body"]["name"], "T0");
    let plain = server.admin("POST", "/batch/v1", Some(&json!({"requests": [post("A", &json!({})), {"path": "/no"}]})));
    assert_eq!(
        (&plain.body["responses"][0]["status"], &plain.body["responses"][1]["status"]),
        (&json!(201), &json!(404))
    );
    let wrong = server.admin("POST", "/batch/v1", Some(&json!({"requests": [], "atomic": "perhaps"})));
    assert_eq!((wrong.status, wrong.code()), (400, "rest_invalid_param"));
}

#[test]
fn a_broken_connection_leaves_all_or_nothing() {
    use base64::Engine as _;
    use std::io::Write as _;
    let server = Server::start();
    let (login, secret) = &server.admin;
    let credentials = base64::engine::general_purpose::STANDARD.encode(format!("{login}:{secret}"));
    let host = server.site.trim_start_matches("http://");
    for round in 0..8u64 {
        let requests: Vec<Value> = (0..20).map(|n| post(&format!("P{round} {n}"), &json!({}))).collect();
        let body = json!({"atomic": true, "requests": requests}).to_string();
        let mut stream = std::net::TcpStream::connect(host).expect("a connection");
        let head = format!(
            "POST /cms-json/batch/v1 HTTP/1.1\r\nHost: {host}\r\nAuthorization: Basic {credentials}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).expect("a request sent");
        std::thread::sleep(std::time::Duration::from_millis(4 * round));
        drop(stream);
    }
    // The writer continues at once.
    assert_eq!(server.admin("POST", "/cms/v2/tags", Some(&json!({"name": "After"}))).status, 201);
    for _ in 0..10 {
        let list = server.get("/cms/v2/posts?per_page=1");
        let total: u64 = list.header("x-cms-total").and_then(|n| n.parse().ok()).expect("a total");
        assert_eq!(total % 20, 0, "{total}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn nobody_sees_half_of_a_batch_and_other_writers_get_their_turn() {
    const ROUNDS: usize = 12;
    let server = Server::start();
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let reader = threads.spawn(|| {
            let mut looks = 0;
            while !done.load(Ordering::Relaxed) {
                let list = server.get("/cms/v2/posts?per_page=100&_fields=id");
                let shown = list.body.as_array().map_or(0, Vec::len);
                let total = list.header("x-cms-total").and_then(|n| n.parse::<usize>().ok());
                assert_eq!((shown % 5, total), (0, Some(shown)), "{}", list.text);
                looks += 1;
            }
            looks
        });
        let writer = threads.spawn(|| {
            for n in 0..ROUNDS {
                let made = server.admin("POST", "/cms/v2/tags", Some(&json!({"name": format!("T{n}")})));
                assert_eq!(made.status, 201, "{}", made.text);
            }
        });
        for round in 0..ROUNDS {
            let mut requests: Vec<Value> = (0..5).map(|n| post(&format!("P{round} {n}"), &json!({}))).collect();
            if round % 2 == 1 {
                requests.push(json!({"path": "/cms/v2/posts", "body": {"status": "no such state"}}));
            }
            let answer = atomic(&server, &requests);
            assert_eq!(answer.get("failed").is_some(), round % 2 == 1, "{answer}");
        }
        writer.join().expect("all tags are made");
        done.store(true, Ordering::Relaxed);
        assert!(reader.join().expect("only whole batches are seen") > 3);
    });
    assert_eq!(server.get("/cms/v2/posts?per_page=1").header("x-cms-total"), Some("30"));
    assert_eq!(server.get("/cms/v2/tags?per_page=1").header("x-cms-total"), Some(&*ROUNDS.to_string()));
}
