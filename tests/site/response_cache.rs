//! Cached responses: never stale, never another caller's, encoded when requested, and conditional requests.

use super::free_port::free_address;
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

/// An anonymous GET with header lines.
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
                for round in 0..40 {
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
    for answers in ["cache.responses=false", "cache.responses=8MiB"] {
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
    // A removal shows in the next request.
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
    let db = server.storage();
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
fn metrics_count_hits_and_misses_of_the_caches() {
    let port = free_address().port();
    let listen = format!("server.admin_listen=127.0.0.1:{port}");
    let server = Server::with(&["site.prefix=wp", &listen]);
    for _ in 0..3 {
        server.get("/wp/v2/posts?_embed");
        server.get("/wp/v2/categories?_embed");
    }
    let mut told = ureq::get(format!("http://127.0.0.1:{port}/metrics")).call().expect("an answer");
    let told = told.body_mut().read_to_string().expect("text");
    for line in [
        "cms_server_cache_hits_total{cache=\"responses\"} 4",
        "cms_server_cache_misses_total{cache=\"responses\"} 2",
        "cms_server_cache_bytes{cache=\"embedded\"} ",
    ] {
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

/// The reads that a site shows: lists by every order and many conditions, items, terms, people, comments, searches.
const QUESTIONS: [&str; 44] = [
    "posts",
    "posts?orderby=title",
    "posts?orderby=modified",
    "posts?orderby=slug&order=asc",
    "posts?orderby=author",
    "posts?orderby=id&order=asc&per_page=3&page=2",
    "posts?orderby=include&include=3,1,2",
    "posts?per_page=3&_embed",
    "posts?per_page=2&page=2&_fields=id,title,_links",
    "posts?_fields=id,content",
    "posts?categories=1",
    "posts?categories_exclude=1",
    "posts?author=1",
    "posts?author_exclude=1",
    "posts?exclude=1,2",
    "posts?sticky=true",
    "posts?slug=word-one",
    "posts?search=word",
    "posts?search=word+two&orderby=relevance",
    "posts?after=2026-01-01T00:00:00&orderby=date&order=asc",
    "posts?modified_before=2030-01-01T00:00:00",
    "posts?_total=false&per_page=4",
    "posts/FIRST",
    "posts/SECOND?_embed",
    "posts/FIRST?context=embed",
    "posts?status=publish,draft,trash&context=edit",
    "posts?status=private",
    "posts/FIRST/revisions",
    "posts/FIRST/revisions?per_page=1&context=edit",
    "posts/FIRST?context=edit",
    "pages?orderby=menu_order&order=asc",
    "pages?parent=0",
    "pages?parent_exclude=0",
    "categories?hide_empty=true",
    "categories?orderby=count&order=desc",
    "categories?post=FIRST",
    "categories/1",
    "comments",
    "comments?post=FIRST&orderby=date_gmt&order=asc",
    "comments?status=hold&context=edit",
    "users",
    "users/1?_embed",
    "search?search=word",
    "types/post",
];

#[test]
fn kept_answers_are_those_that_would_be_made_anew() {
    let server = server();
    let author = server.user("writer", "author");
    let write = |method: &str, route: &str, body: Value| {
        let answer = server.admin(method, &format!("/wp/v2/{route}"), Some(&body));
        assert!(answer.status < 500, "{method} {route}: {}", answer.text);
        answer
    };
    let made: Vec<i64> = (0..8)
        .map(|n| {
            let words = ["one", "two", "three"][n % 3];
            let date = format!("2026-0{}-01T00:00:00", n + 1);
            id(&write(
                "POST",
                "posts",
                json!({"title": format!("Word {words}"), "content": "word", "status": "publish", "date": date}),
            ))
        })
        .collect();
    let page = id(&write("POST", "pages", json!({"title": "Page", "status": "publish"})));
    let below = id(&write("POST", "pages", json!({"title": "Below", "status": "publish", "parent": page})));
    let terms: Vec<i64> =
        (0..3).map(|n| id(&write("POST", "categories", json!({"name": format!("Topic {n}")})))).collect();
    let mut comments: Vec<i64> = Vec::new();
    let mut seed = 7_u64;
    let mut roll = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let questions = QUESTIONS.map(|q| q.replace("FIRST", &made[0].to_string()).replace("SECOND", &made[1].to_string()));
    for round in 0..60 {
        let post = format!("posts/{}", made[roll(made.len())]);
        let (term, other) = (terms[roll(3)], terms[roll(3)]);
        let status = ["publish", "publish", "draft", "private", "pending", "future"][roll(6)];
        let (what, answer) = match round % 20 {
            0 | 10 => ("title", write("POST", &post, json!({"title": format!("Word {round}")}))),
            1 | 11 => ("content", write("POST", &post, json!({"content": format!("Word two {round}")}))),
            2 | 12 => ("status", write("POST", &post, json!({"status": status, "date": "2031-01-01T00:00:00"}))),
            3 => (
                "date",
                write(
                    "POST",
                    &post,
                    json!({"date": format!("2026-0{}-11T00:00:00", 1 + roll(9)), "status": "publish"}),
                ),
            ),
            4 => ("terms", write("POST", &post, json!({"categories": [term, other]}))),
            5 => ("sticky", write("POST", &post, json!({"sticky": roll(2) == 1}))),
            6 => ("slug", write("POST", &post, json!({"slug": (["word-one", "another"][roll(2)])}))),
            7 => ("author", write("POST", &post, json!({"author": 1 + roll(2)}))),
            8 => ("trash", write("DELETE", &post, json!({}))),
            9 => ("excerpt", write("POST", &post, json!({"excerpt": format!("{round}"), "status": "publish"}))),
            13 => (
                "comment",
                write(
                    "POST",
                    "comments",
                    json!({"post": made[roll(2)], "content": format!("Says {round}"), "status": (["approve", "hold"][roll(2)])}),
                ),
            ),
            14 => ("term", write("POST", &format!("categories/{term}"), json!({"name": format!("Topic {round}")}))),
            15 => ("user", write("POST", "users/1", json!({"name": format!("Somebody {round}")}))),
            16 => (
                "page",
                write(
                    "POST",
                    &format!("pages/{below}"),
                    json!({"parent": ([0, page][roll(2)]), "menu_order": roll(5)}),
                ),
            ),
            17 => ("autosave", write("POST", &format!("{post}/autosaves"), json!({"title": format!("Auto {round}")}))),
            18 => match comments.pop() {
                Some(comment) => {
                    ("no comment", write("DELETE", &format!("comments/{comment}"), json!({"force": roll(2) == 1})))
                }
                None => ("nothing", server.get("/wp/v2")),
            },
            _ => {
                let past = server.admin("GET", &format!("/wp/v2/posts/{}/revisions", made[0]), None);
                match past.body[0]["id"].as_i64().filter(|_| roll(2) == 1) {
                    Some(old) => (
                        "revision",
                        write("DELETE", &format!("posts/{}/revisions/{old}?force=true", made[0]), json!({})),
                    ),
                    None => {
                        ("new", write("POST", "posts", json!({"title": "Word new", "status": "publish", "author": 2})))
                    }
                }
            }
        };
        if what == "comment" && answer.status == 201 {
            comments.push(id(&answer));
        }
        for question in &questions {
            let anew = format!("/wp/v2/{question}{}unknown={round}", if question.contains('?') { '&' } else { '?' });
            let who = [None, Some(&server.admin), Some(&author)][roll(3)];
            let (kept, fresh) =
                (server.ask("GET", &format!("/wp/v2/{question}"), who, None), server.ask("GET", &anew, who, None));
            assert_eq!(kept.text, fresh.text, "round {round}: {question} after {what}, as {who:?}");
            assert_eq!(kept.header("x-wp-total"), fresh.header("x-wp-total"), "round {round}: {question} after {what}");
        }
    }
}

#[test]
fn writes_leave_the_answers_that_do_not_show_them() {
    let server = server_with_metrics();
    let made: Vec<i64> = (0..14).map(|n| id(&post(&server.0, json!({"title": format!("Post {n}"), "content": "word", "status": "publish", "date": format!("2026-01-{:02}T00:00:00", n + 1)})))).collect();
    let (old, new) = (made[0], made[13]);
    let kept = |question: &str, write: &dyn Fn()| {
        let route = format!("/wp/v2/{question}");
        server.0.get(&route);
        server.0.get(&route);
        write();
        let before = found(&server);
        server.0.get(&route);
        found(&server) > before
    };
    let change = |id: i64, body: Value| {
        let answer = server.0.admin("POST", &format!("/wp/v2/posts/{id}"), Some(&body));
        assert_eq!(answer.status, 200, "{}", answer.text);
    };
    let title = || change(old, json!({"title": format!("Renamed {}", found(&server))}));
    for (question, stays) in [
        ("posts", true),
        ("posts?per_page=5&_embed", true),
        ("posts?author=1&exclude=3", true),
        ("posts?categories=1", true),
        (&*format!("posts/{new}"), true),
        ("posts?order=asc", false),
        ("posts?orderby=title", false),
        ("posts?orderby=modified", false),
        (&*format!("posts/{old}"), false),
        ("posts?search=word", false),
    ] {
        assert_eq!(kept(question, &title), stays, "a title changes beside {question}");
    }
    assert!(!kept("posts", &|| change(old, json!({"status": "draft"}))), "one less in all");
    assert!(!kept("posts", &|| drop(post(&server.0, json!({"title": "x", "status": "publish"})))), "one more");
    assert!(kept("pages", &|| change(new, json!({"status": "private"}))), "another kind");
}

#[test]
fn descriptions_are_cached_for_their_caller() {
    let server = server_with_metrics();
    let made = id(&post(&server.0, json!({"title": "Described", "status": "publish"})));
    let route = format!("/wp/v2/posts/{made}");
    let described = |who| {
        let before = found(&server);
        let cached = server.0.ask("OPTIONS", &route, who, None);
        let hits = found(&server) - before;
        let fresh = server.0.ask("OPTIONS", &format!("{route}?unknown={}", found(&server)), who, None);
        assert_eq!(cached.header("allow"), fresh.header("allow"));
        assert_eq!((cached.status, cached.body["methods"].as_array().map(Vec::len)), (200, Some(5)));
        assert_eq!(cached.body["endpoints"], fresh.body["endpoints"]);
        (hits, cached.header("allow").unwrap_or_default().to_owned())
    };
    assert_eq!(described(None), (0, "GET".into()));
    assert_eq!(described(None), (1, "GET".into()));
    let all = "GET, POST, PUT, PATCH, DELETE";
    assert_eq!(described(Some(&server.0.admin)), (0, all.into()));
    assert_eq!(described(Some(&server.0.admin)), (1, all.into()));
    assert_eq!(server.0.get(&route).body["id"], made, "a GET is another request");
    let hidden = server.0.admin("POST", &route, Some(&json!({"status": "draft"})));
    assert_eq!(hidden.status, 200);
    assert_eq!(described(None), (0, String::new()));
}

/// A server that reports its cache, and where.
fn server_with_metrics() -> (Server, String) {
    let port = free_address().port();
    let address = format!("127.0.0.1:{port}");
    (Server::with(&["site.prefix=wp", &format!("server.admin_listen={address}")]), format!("http://{address}/metrics"))
}

/// Responses that came from the cache.
fn found((server, metrics): &(Server, String)) -> u64 {
    let text = server.send("GET", metrics, None, None, &[]).text;
    let line = text.lines().find(|line| line.starts_with("cms_server_cache_hits_total{cache=\"responses\"} "));
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or_else(|| panic!("{text}"))
}
