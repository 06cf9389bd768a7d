//! Kept answers: never stale, never somebody else's, encoded when asked for, and conditional requests.

use super::server::{Answer, Server};
use serde_json::{Value, json};

fn server() -> Server {
    Server::with(&["site.prefix=wp"])
}

fn post(server: &Server, body: Value) -> Answer {
    let made = server.admin("POST", "/wp/v2/posts", Some(&body));
    assert_eq!(made.status, 201, "{}", made.text);
    made
}

fn id(made: &Answer) -> i64 {
    made.body["id"].as_i64().expect("an id")
}

/// A stranger's GET with header lines.
fn with(server: &Server, route: &str, headers: &[(&str, &str)]) -> Answer {
    server.send("GET", &format!("{}{route}", server.rest), None, None, headers)
}

#[test]
fn a_read_after_a_write_is_never_stale() {
    let server = server();
    let server = &server;
    let category = server.admin("POST", "/wp/v2/categories", Some(&json!({"name": "Shared"})));
    let category = &id(&category);
    std::thread::scope(|threads| {
        for writer in 0..6 {
            threads.spawn(move || {
                let own = id(&post(server, json!({"title": "begins", "status": "publish", "categories": [category]})));
                for round in 0..120 {
                    let title = format!("writer {writer} round {round}");
                    let route = format!("/wp/v2/posts/{own}");
                    let changed = server.admin("POST", &route, Some(&json!({"title": title})));
                    assert_eq!(changed.status, 200, "{}", changed.text);
                    let item = server.get(&route);
                    assert_eq!(item.body["title"]["rendered"], json!(title));
                    for list in [
                        format!("/wp/v2/posts?include={own}"),
                        "/wp/v2/posts?per_page=50&_fields=id,title".to_owned(),
                        format!("/wp/v2/posts?categories={category}&per_page=20&_embed=author"),
                        format!("/wp/v2/search?search=writer+{writer}&per_page=50"),
                    ] {
                        let found = server.get(&list);
                        let found = found.body.as_array().expect("a list");
                        let mine = found.iter().find(|d| d["id"] == json!(own)).expect("the own post is listed");
                        let shown = mine["title"].get("rendered").unwrap_or(&mine["title"]);
                        assert_eq!(*shown, json!(title), "{list}");
                    }
                }
            });
        }
    });
}

#[test]
fn what_is_embedded_is_never_stale() {
    for answers in ["server.answers_mb=0", "server.answers_mb=8"] {
        let server = Server::with(&["site.prefix=wp", answers]);
        let server = &server;
        std::thread::scope(|threads| {
            for writer in 0..4 {
                threads.spawn(move || {
                    let term = json!({"name": format!("Topic {writer}")});
                    let term = id(&server.admin("POST", "/wp/v2/categories", Some(&term)));
                    let body = json!({"title": "holds", "status": "publish", "categories": [term]});
                    let posts: Vec<i64> = (0..3).map(|_| id(&post(server, body.clone()))).collect();
                    let list = format!("/wp/v2/posts?include={},{},{}&_embed", posts[0], posts[1], posts[2]);
                    for round in 0..30 {
                        let name = json!(format!("topic {writer} in round {round}"));
                        let route = format!("/wp/v2/categories/{term}");
                        let changed = server.admin("POST", &route, Some(&json!({"name": name})));
                        assert_eq!(changed.status, 200, "{}", changed.text);
                        let said = json!({"post": posts[round % 3], "content": format!("{writer} says {round}")});
                        let said = server.admin("POST", "/wp/v2/comments", Some(&said));
                        assert_eq!(said.status, 201, "{}", said.text);
                        let found = server.get(&list).body;
                        for document in found.as_array().expect("a list") {
                            assert_eq!(document["_embedded"]["wp:term"][0][0]["name"], name, "{document}");
                        }
                        let replies = |d: &Value| d["_embedded"]["replies"][0].as_array().map_or(0, Vec::len);
                        let all: usize = found.as_array().expect("a list").iter().map(replies).sum();
                        assert_eq!(all, round + 1);
                    }
                });
            }
        });
    }
}

#[test]
fn whatever_an_answer_shows_makes_it_anew() {
    let server = server();
    let made = post(&server, json!({"title": "Shown", "status": "publish"}));
    let route = format!("/wp/v2/posts/{}", id(&made));
    let writes: [(&str, &str, Value); 6] = [
        ("/wp/v2/settings", "/", json!({"title": "Another name"})),
        ("/wp/v2/settings", "/", json!({"timezone": "Asia/Tokyo"})),
        ("/wp/v2/categories/1", "/wp/v2/posts?_embed", json!({"name": "Renamed"})),
        ("/wp/v2/users/1", "/wp/v2/posts?_embed=author", json!({"name": "Somebody"})),
        (&route, "/wp/v2/categories", json!({"status": "draft"})),
        (&route, "/wp/v2/search", json!({"status": "publish"})),
    ];
    for (written, read, body) in writes {
        let before = server.get(read);
        assert_eq!(server.get(read).text, before.text, "nothing was written to {read}");
        assert_eq!(server.admin("POST", written, Some(&body)).status, 200);
        assert_ne!(server.get(read).text, before.text, "{written} is shown by {read}");
    }
}

#[test]
fn answers_belong_to_those_who_may_see_them() {
    let server = server();
    let author = server.user("writer", "author");
    let other = server.user("reader", "subscriber");
    let private =
        server.ask("POST", "/wp/v2/posts", Some(&author), Some(&json!({"title": "Mine", "status": "private"})));
    let secret =
        post(&server, json!({"title": "Locked", "content": "treasure", "status": "publish", "password": "key"}));
    let route = format!("/wp/v2/posts/{}", id(&private));
    for _ in 0..3 {
        assert_eq!(server.ask("GET", &route, Some(&author), None).status, 200);
        assert_eq!(server.ask("GET", &route, Some(&other), None).status, 403);
        assert_eq!(server.get(&route).status, 401);
        let locked = format!("/wp/v2/posts/{}", id(&secret));
        let open = server.get(&format!("{locked}?password=key"));
        assert!(open.text.contains("treasure"));
        assert_eq!(open.header("cache-control"), Some("private, no-store"));
        assert!(!server.get(&locked).text.contains("treasure"));
        for user in [&author, &other] {
            let me = server.ask("GET", "/wp/v2/users/me", Some(user), None);
            assert_eq!(me.body["name"], json!(user.0));
            assert!(me.header("cache-control").is_some_and(|c| c.contains("no-store")));
        }
    }
    // What was taken away shows in the next request.
    assert_eq!(server.admin("POST", "/wp/v2/users/2", Some(&json!({"roles": ["subscriber"]}))).status, 200);
    let drafts = server.ask("GET", "/wp/v2/posts?status=private", Some(&author), None);
    assert_eq!(drafts.status, 400, "{}", drafts.text);
}

#[test]
fn what_another_process_writes_is_seen() {
    let server = server();
    assert_eq!(server.get("/wp/v2/posts").body, json!([]));
    let xml = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/import.xml");
    let at = |file: &str| server.path(file).to_str().expect("a path").to_owned();
    let db = format!("storage.url=sqlite:{}", at("test.db"));
    super::server::stdout(
        &["--config", &at("routes.toml"), "--set", &db, "--set", "site.prefix=wp", "import", xml],
        "",
    );
    std::thread::sleep(std::time::Duration::from_millis(60));
    assert_ne!(server.get("/wp/v2/posts").body, json!([]));
}

#[test]
fn a_reader_who_has_it_already_gets_304() {
    let server = server();
    let made = post(&server, json!({"title": "Tagged", "status": "publish"}));
    let route = format!("/wp/v2/posts/{}", id(&made));
    for route in ["/", "/wp/v2/posts", "/wp/v2/categories?per_page=1", &route] {
        let first = server.get(route);
        let tag = first.header("etag").unwrap_or_else(|| panic!("{route} has a tag")).to_owned();
        let again = with(&server, route, &[("if-none-match", &tag)]);
        assert_eq!((again.status, again.text.as_str(), again.header("etag")), (304, "", Some(&*tag)), "{route}");
        assert_eq!(again.header("content-length"), None);
        assert_eq!(with(&server, route, &[("if-none-match", "\"other\"")]).text, first.text);
    }
    let first = server.get(&route);
    let modified = first.header("last-modified").expect("a date").to_owned();
    assert_eq!(with(&server, &route, &[("if-modified-since", &modified)]).status, 304);
    assert_eq!(server.admin("POST", &route, Some(&json!({"title": "Changed"}))).status, 200);
    let tag = first.header("etag").expect("a tag");
    assert_eq!(with(&server, &route, &[("if-none-match", tag)]).status, 200);
}

#[test]
fn no_update_is_lost() {
    let server = server();
    let made = post(&server, json!({"title": "First", "status": "publish"}));
    let route = format!("/wp/v2/posts/{}", id(&made));
    let url = format!("{}{route}", server.rest);
    let write = |method: &str, body: Value, header: (&str, &str)| {
        let body = ("application/json", body.to_string().into_bytes());
        server.send(method, &url, Some(&server.admin), Some(body), &[header])
    };
    let tag = made.header("etag").expect("a tag").to_owned();
    let second = write("POST", json!({"title": "Second"}), ("if-match", &tag));
    assert_eq!(second.status, 200, "{}", second.text);
    let late = write("POST", json!({"title": "Late"}), ("if-match", &tag));
    assert_eq!((late.status, late.code()), (412, "rest_precondition_failed"));
    assert_eq!(write("DELETE", json!({"force": true}), ("if-match", &tag)).status, 412);
    let old = ("if-unmodified-since", "Thu, 01 Jan 2015 00:00:00 GMT");
    assert_eq!(write("PUT", json!({"title": "Late"}), old).status, 412);
    let read = server.get(&route);
    assert_eq!(read.body["title"]["rendered"], json!("Second"));
    let tag = read.header("etag").expect("a tag");
    assert_eq!(write("DELETE", json!({"force": true}), ("if-match", tag)).status, 200);
}

#[test]
fn kept_answers_are_encoded_once_and_can_be_read() {
    let server = server();
    for n in 0..10 {
        post(&server, json!({"title": format!("Number {n}"), "content": "word ".repeat(200), "status": "publish"}));
    }
    let plain = server.get("/wp/v2/posts");
    let tag = plain.header("etag").expect("a tag");
    for name in ["zstd", "br", "gzip"] {
        let agent: ureq::Agent = ureq::Agent::config_builder().accept_encoding("").build().into();
        let asked = agent.get(format!("{}/wp/v2/posts", server.rest)).header("accept-encoding", name);
        let mut answer = asked.call().expect("an answer");
        let header = |wanted: &str| answer.headers().get(wanted).and_then(|v| v.to_str().ok()).map(str::to_owned);
        assert_eq!(header("content-encoding").as_deref(), Some(name));
        assert!(header("vary").expect("vary").contains("Accept-Encoding"));
        let own = header("etag").expect("a tag");
        assert_ne!(own, tag);
        assert_eq!(with(&server, "/wp/v2/posts", &[("if-none-match", &own), ("accept-encoding", name)]).status, 304);
        let bytes = answer.body_mut().read_to_vec().expect("a body");
        assert!(bytes.len() * 4 < plain.text.len());
        let text = match name {
            "zstd" => zstd::bulk::decompress(&bytes, plain.text.len()).expect("zstd"),
            "br" => read(brotli::Decompressor::new(&*bytes, 4096)),
            _ => read(flate2::read::GzDecoder::new(&*bytes)),
        };
        assert_eq!(String::from_utf8_lossy(&text), plain.text);
    }
}

fn read(mut from: impl std::io::Read) -> Vec<u8> {
    let mut text = Vec::new();
    from.read_to_end(&mut text).expect("an encoding that can be undone");
    text
}

#[test]
fn what_is_kept_is_told_to_the_operator() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port").port();
    let listen = format!("server.admin_listen=127.0.0.1:{port}");
    let server = Server::with(&["site.prefix=wp", &listen]);
    for _ in 0..3 {
        server.get("/wp/v2/posts?_embed");
        server.get("/wp/v2/categories?_embed");
    }
    let mut told = ureq::get(format!("http://127.0.0.1:{port}/metrics")).call().expect("an answer");
    let told = told.body_mut().read_to_string().expect("text");
    for line in ["cms_server_answers_found 4", "cms_server_answers_missed 2", "cms_server_embedded_bytes "] {
        assert!(told.contains(line), "{line} in\n{told}");
    }
}

#[test]
fn settings_written_at_the_same_moment_are_all_kept() {
    let server = server();
    let server = &server;
    let fields = ["title", "description", "date_format", "time_format"];
    std::thread::scope(|threads| {
        for field in fields {
            threads.spawn(move || {
                for round in 0..40 {
                    let value = json!(format!("{field} {round}"));
                    let written = server.admin("POST", "/wp/v2/settings", Some(&json!({field: value})));
                    assert_eq!((written.status, &written.body[field]), (200, &value));
                    assert_eq!(server.admin("GET", "/wp/v2/settings", None).body[field], value, "nobody took it back");
                }
            });
        }
    });
}
