//! Invalid input: each gets a clear error, and the server continues.

use super::server::Server;
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

#[test]
fn queries_paths_and_bodies() {
    let server = Server::start();
    let made = server.admin("POST", "/cms/v2/posts", Some(&json!({"title": {"raw": "Here"}, "status": "publish"})));
    assert_eq!(made.status, 201);
    let check = |method: &str, route: &str, body: Option<(&str, Vec<u8>)>, status: u16, code: &str| {
        let url = format!("{}{route}", server.rest);
        let answer = server.send(method, &url, Some(&server.admin), body, &[]);
        assert_eq!((answer.status, answer.code()), (status, code), "{method} {route:.200}: {}", answer.text);
        assert!(answer.body["message"].as_str().is_some_and(|m| !m.is_empty()));
    };
    let get = |route: &str, status, code| check("GET", route, None, status, code);
    for id in ["1e3", "-1", "1;drop", "1%20", "0x1"] {
        get(&format!("/cms/v2/posts/{id}"), 404, "rest_no_route");
    }
    for id in ["%00", "%C0%80", "1%FF"] {
        get(&format!("/cms/v2/posts/{id}"), 400, "rest_bad_request");
    }
    get("/cms/v2/posts/9223372036854775808", 400, "rest_invalid_param");
    get("/cms/v2/posts/999999", 404, "rest_post_invalid_id");
    get("/cms/v2/posts?page[]=1", 400, "rest_invalid_param");
    get("/cms/v2/posts?per_page=101", 400, "rest_invalid_param");
    get("/cms/v2/posts?orderby=password", 400, "rest_invalid_param");
    get("/cms/v2/posts?orderby=id;drop%20table%20record", 400, "rest_invalid_param");
    get("/cms/v2/posts?search=%FF", 400, "rest_bad_request");
    get("/cms/v2/posts?search=%00", 400, "rest_bad_request");
    get(&format!("/cms/v2/posts?a{}=1", "[x]".repeat(500)), 400, "rest_bad_request");
    get("/nothing/here", 404, "rest_no_route");
    check("BREW", "/cms/v2/posts", None, 404, "rest_no_route");
    let post = |media: &str, body: &[u8], status, code| {
        check("POST", "/cms/v2/posts", Some((media, body.to_vec())), status, code);
    };
    let json_type = "application/json";
    post(json_type, b"{", 400, "rest_invalid_json");
    post(json_type, b"{\"title\":\"\\ud800\"}", 400, "rest_invalid_json");
    post(json_type, b"{\"title\":\"\xff\"}", 400, "rest_invalid_json");
    post(json_type, b"{\"menu\":1e400}", 400, "rest_invalid_json");
    post(json_type, "[".repeat(100_000).as_bytes(), 400, "rest_invalid_json");
    post(json_type, b"[]", 400, "empty_content");
    post("text/plain", b"title=x", 400, "empty_content");
    post(json_type, b"", 400, "empty_content");
    let huge = vec![b'x'; 17 << 20];
    let url = format!("{}/cms/v2/posts", server.rest);
    let answer = server.send("POST", &url, Some(&server.admin), Some((json_type, huge)), &[]);
    assert_eq!((answer.status, answer.code()), (413, "rest_payload_too_large"));
    // Duplicate members: the last one counts.
    let answer = server.send(
        "POST",
        &url,
        Some(&server.admin),
        Some((json_type, br#"{"title":{"raw":"a"},"title":{"raw":"b"}}"#.to_vec())),
        &[],
    );
    assert_eq!((answer.status, &answer.body["title"]["raw"]), (201, &json!("b")), "{}", answer.text);
    assert_eq!(server.get("/cms/v2/posts/1").status, 200);
}

#[test]
fn tens_of_thousands_of_ids() {
    let server = Server::with(&["bounds.max_items=100000"]);
    let made = server.admin("POST", "/cms/v2/posts", Some(&json!({"title": {"raw": "Here"}, "status": "publish"})));
    let id = made.body["id"].clone();
    let ids: Vec<i64> = (1..=45_000).collect();
    // Too long for an address; clients send it as a body and name the method they mean.
    let url = format!("{}/cms/v2/posts", server.rest);
    let body = Some(("application/json", json!({"include": ids}).to_string().into_bytes()));
    let answer = server.send("POST", &url, None, body, &[("x-http-method-override", "GET")]);
    assert_eq!((answer.status, &answer.body[0]["id"]), (200, &id));
}

#[test]
fn numbers_beyond_the_largest_page_are_answered() {
    let server = Server::start();
    for query in ["page=9223372036854775807&per_page=100", "offset=9223372036854775807", "page=1&offset=-1"] {
        let answer = server.get(&format!("/cms/v2/posts?{query}"));
        assert!(answer.status < 500, "{query}: {}", answer.text);
    }
}

#[test]
fn a_client_that_dawdles_is_let_go() {
    let server = Server::with(&["server.read_timeout=1s"]);
    let address = server.site.trim_start_matches("http://").to_owned();
    let mut socket = TcpStream::connect(address).expect("a connection");
    socket
        .write_all(b"POST /cms-json/cms/v2/posts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n")
        .expect("a head");
    socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    let mut said = Vec::new();
    // It would go on for half a minute; the limit is a second.
    for _ in 0..100 {
        if socket.write_all(b"{").is_err() {
            break;
        }
        let mut buffer = [0; 4096];
        socket.set_read_timeout(Some(Duration::from_millis(300))).expect("a timeout");
        if let Ok(n) = socket.read(&mut buffer) {
            said.extend_from_slice(&buffer[..n]);
            if n == 0 || !said.is_empty() {
                break;
            }
        }
    }
    let said = String::from_utf8_lossy(&said);
    assert!(said.starts_with("HTTP/1.1 408"), "{said}");
    assert_eq!(server.get("/cms/v2/posts").status, 200);
}

#[test]
fn patterns_run_in_bounded_time() {
    let server = Server::start();
    let route = |pattern: &str| {
        format!(
            "[[\"+routes\"]]\npath = \"/try/echo\"\nendpoints = [{{ methods = [\"GET\"], handler = \"echo\", access = \"public\", with = {{ s = {{ type = \"string\", description = \"x\", pattern = '{pattern}' }} }} }}]\n"
        )
    };
    std::fs::write(server.path("site.toml"), route("^(a+)+$")).expect("a file");
    let end = Instant::now() + Duration::from_secs(10);
    while server.get("/try/echo?s=a").status != 200 {
        assert!(Instant::now() < end, "the route appears");
        std::thread::sleep(Duration::from_millis(50));
    }
    let start = Instant::now();
    let answer = server.get(&format!("/try/echo?s={}b", "a".repeat(50_000)));
    assert_eq!((answer.status, answer.code()), (400, "rest_invalid_param"));
    // Without a bound it would not end; a loaded machine takes its time for 50,000 letters.
    assert!(start.elapsed() < Duration::from_secs(20));
}
