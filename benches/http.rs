//! The contract compared with hand-written handlers, in one run: `cargo bench --bench http`.
//!
//! Over the same 1,000 posts: the program with its default configuration, and once more without cached responses; an
//! actix-web + rusqlite handler that reads the columns of rows and serialises them (`serde`), one that reads rows that
//! were rendered before (`rows`), one that sends the same bytes from memory (`static`), one that only responds with
//! 304. Workloads are interleaved round by round, so that a noisy machine is noisy for all of them; what counts are the
//! ratios. Writes are answered only after their commit is on disk; they are compared with a handler that writes the
//! same rows into a copy of the database, several requests to one commit. The mix is compared with a cached list.
//!
//! `BENCH_CONNECTIONS=1,16,64,256` names other numbers of connections. `BENCH_WORDPRESS="http://HOST:PORT/wp-json LOGIN
//! PASSWORD"` fills a fresh WordPress with the same posts and sends it the same requests. The table goes to the
//! standard output; `target/bench-http.json` and `target/bench-http.svg` contain the figures and a chart.

mod common;

use common::by_hand::Writer;
use common::{Program, answer, creation, fill, get, get_request, measured, median, post};
use indexmap::IndexMap;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::fmt::Write as _;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const POSTS: usize = 1000;
const ROUNDS: usize = 3;
/// How long one round of a workload lasts.
const ROUND: Duration = Duration::from_millis(1200);
const API: &str = "/cms-json/cms/v2";

/// Requests that one server gets, one after another, and its responses.
#[derive(Clone)]
struct Load {
    address: String,
    requests: Rc<Vec<Vec<u8>>>,
    status: u16,
}

/// A workload, the server that gets it, and another one for comparison.
struct Workload {
    name: &'static str,
    own: Load,
    /// The name of the other one, its load, and the target ratio.
    beside: Option<(&'static str, Load, f64)>,
    /// The same workload for a WordPress.
    wordpress: Option<Load>,
}

fn main() {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let server = Program::start(folder.path(), &[]);
    fill(&server.address, POSTS, |n| creation(&server.authorization, n));
    let bare = Program::start(folder.path(), &["cache.responses=false"]);
    let writer = Writer::start(&folder.path().join("bench.db"), &folder.path().join("writes-by-hand.db"));
    let by_hand = by_hand(folder.path(), &server.address, writer);
    let wordpress = std::env::var("BENCH_WORDPRESS").ok().map(|given| WordPress::of(&given));
    let connections = std::env::var("BENCH_CONNECTIONS").unwrap_or_else(|_| "16".to_owned());
    let mut told = Vec::new();
    for connections in connections.split(',').map(|c| c.trim().parse().expect("a number")) {
        println!("\n{connections} connections\n");
        println!(
            "| workload | per second | p50, p99, p99.9 µs | CPU µs | compared with | ratio | target | WordPress | times |"
        );
        println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
        // New for each number of connections: what was written meanwhile has other entity tags.
        for workload in workloads(&server, &bare, &by_hand, wordpress.as_ref()) {
            let row = measure(&workload, connections, &[&server, &bare]);
            println!("{}", line(&row));
            told.push(row);
        }
    }
    let memory =
        json!({"memory, MB": server.memory() >> 20, "memory without cached responses, MB": bare.memory() >> 20});
    println!(
        "\nmemory after it all: {} MB, without cached responses {} MB",
        memory["memory, MB"], memory["memory without cached responses, MB"]
    );
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("..");
    let whole = json!({"workloads": told, "memory": memory});
    std::fs::write(target.join("bench-http.json"), serde_json::to_string_pretty(&whole).expect("JSON"))
        .expect("a file");
    std::fs::write(target.join("bench-http.svg"), chart(&told)).expect("a file");
}

fn workloads(server: &Program, bare: &Program, by_hand: &str, wordpress: Option<&WordPress>) -> Vec<Workload> {
    let load = |address: &str, requests: Vec<Vec<u8>>| Load {
        address: address.to_owned(),
        requests: requests.into(),
        status: 200,
    };
    let kept = |path: &str| load(&server.address, vec![get_request(&format!("{API}/{path}"), "")]);
    // Leaving out another record each time makes each a request of its own, with the same work.
    let many = |program: &Program, path: &str, more: &str| {
        let requests =
            (1..=POSTS).map(|n| get_request(&format!("{API}/{}", path.replace("{n}", &n.to_string())), more));
        load(&program.address, requests.collect())
    };
    let hand = |path: &str| load(by_hand, vec![get_request(path, "")]);
    let there =
        |path: &str| wordpress.map(|w| load(&w.address, vec![get_request(&format!("{}/wp/v2/{path}", w.path), "")]));
    let tag = |path: &str| {
        let mut socket = TcpStream::connect(&server.address).expect("a connection");
        socket.write_all(&get_request(&format!("{API}/{path}"), "")).expect("a request");
        let mut buffer = Vec::new();
        answer(&mut socket, &mut buffer);
        let head = String::from_utf8_lossy(&buffer).into_owned();
        let tag =
            head.lines().find_map(|l| l.strip_prefix("etag: ").or(l.strip_prefix("ETag: "))).expect("a tag").to_owned();
        format!("If-None-Match: {tag}\r\n")
    };
    let unchanged =
        |address: &str, path: String, more: &str| Load { status: 304, ..load(address, vec![get_request(&path, more)]) };
    let authorization = format!("Authorization: {}\r\n", bare.authorization);
    let writes = |wanted: usize, of: &dyn Fn(usize) -> Vec<u8>| (0..wanted).map(of).collect::<Vec<_>>();
    let body = |n: usize| json!({"title": {"raw": format!("Changed {n}")}, "content": {"raw": format!("Words {n}. ").repeat(100)}});
    let update = |n: usize| post(&server.authorization, &format!("{API}/posts/{}", 1 + n % POSTS), &body(n));
    let update_by_hand = |n: usize| post("", &format!("/posts/{}", 1 + n % POSTS), &body(n));
    let below = |request: Vec<u8>| {
        String::from_utf8(request).expect("text").replacen(&format!("{API}/posts"), "/posts", 1).into_bytes()
    };
    let same = |n: usize| {
        let body = json!({"title": {"raw": "One title"}, "content": {"raw": format!("Words {n}. ").repeat(100)}, "status": "publish"});
        post(&server.authorization, &format!("{API}/posts"), &body)
    };
    // Nineteen reads of a thousand distinct lists and items for each update.
    let mix = |n: usize| match n % 20 {
        0 => update(n / 20),
        even if even % 2 == 0 => get_request(&format!("{API}/posts/{}", 1 + n * 7 % POSTS), ""),
        _ => get_request(&format!("{API}/posts?exclude={}", 1 + n * 7 % POSTS), ""),
    };
    let created = |address: &str, requests: Vec<Vec<u8>>| Load { status: 201, ..load(address, requests) };
    let beside = |what, load, aim| Some((what, load, aim));
    let alone = |name, own, wordpress| Workload { name, own, beside: None, wordpress };
    vec![
        Workload {
            name: "list of 10, cached",
            own: kept("posts"),
            beside: beside("static", hand("/list-static"), 0.85),
            wordpress: there("posts"),
        },
        Workload {
            name: "item, cached",
            own: kept("posts/500"),
            beside: beside("static", hand("/item-static"), 0.85),
            wordpress: wordpress.map(WordPress::item),
        },
        Workload {
            name: "list with _embed, cached",
            own: kept("posts?_embed"),
            beside: beside("static", hand("/embed-static"), 0.85),
            wordpress: there("posts?_embed"),
        },
        Workload {
            name: "list of 10",
            own: many(bare, "posts?exclude={n}", ""),
            beside: beside("rows", hand("/list-rows"), 0.8),
            wordpress: there("posts"),
        },
        Workload {
            name: "item",
            own: many(bare, "posts/{n}", ""),
            beside: beside("rows", hand("/item-rows"), 0.8),
            wordpress: wordpress.map(WordPress::item),
        },
        Workload {
            name: "list of 10 and serde",
            own: many(bare, "posts?exclude={n}", ""),
            beside: beside("serde", hand("/list"), 0.5),
            wordpress: None,
        },
        alone("list with _embed", many(bare, "posts?exclude={n}&_embed", ""), there("posts?_embed")),
        alone(
            "list of 100, two fields",
            many(bare, "posts?exclude={n}&per_page=100&_fields=id,title", ""),
            there("posts?per_page=100&_fields=id,title"),
        ),
        alone(
            "filtered and sorted list",
            many(bare, "posts?exclude={n}&categories=1&orderby=title&order=asc", ""),
            there("posts?categories=1&orderby=title&order=asc"),
        ),
        alone("page 50", many(bare, "posts?exclude={n}&page=50", ""), there("posts?page=50")),
        alone("search", many(bare, "posts?exclude={n}&search=post+777", ""), there("posts?search=post+777")),
        alone(
            "search for a short word",
            many(bare, "posts?exclude={n}&search=post+77", ""),
            there("posts?search=post+77"),
        ),
        alone(
            "OPTIONS",
            load(&bare.address, vec![format!("OPTIONS {API}/posts HTTP/1.1\r\nHost: bench\r\n\r\n").into_bytes()]),
            None,
        ),
        Workload {
            name: "304",
            own: unchanged(&server.address, format!("{API}/posts"), &tag("posts")),
            beside: beside("bare 304", unchanged(by_hand, "/unchanged".into(), ""), 0.9),
            wordpress: None,
        },
        Workload {
            name: "authenticated list",
            own: many(bare, "posts?exclude={n}", &authorization),
            beside: beside("anonymous", many(bare, "posts?exclude={n}", ""), 0.9),
            wordpress: None,
        },
        Workload {
            name: "mix, 5 % updates",
            own: load(&server.address, writes(20 * POSTS, &mix)),
            beside: beside("cached list", kept("posts"), 0.6),
            wordpress: None,
        },
        Workload {
            name: "update with a revision",
            own: load(&server.address, writes(4 * POSTS, &update)),
            beside: beside("by hand", load(by_hand, writes(4 * POSTS, &update_by_hand)), 0.5),
            wordpress: None,
        },
        Workload {
            name: "create",
            own: created(&server.address, writes(20_000, &|n| creation(&server.authorization, n))),
            beside: beside("by hand", created(by_hand, writes(20_000, &|n| below(creation("", n)))), 0.5),
            wordpress: wordpress.map(WordPress::creations),
        },
        Workload {
            name: "create, equal titles",
            own: created(&server.address, writes(20_000, &same)),
            beside: beside("by hand", created(by_hand, writes(20_000, &|n| below(same(n)))), 0.5),
            wordpress: None,
        },
    ]
}

/// Rounds of a workload and of what it is compared with, in turn.
fn measure(workload: &Workload, connections: usize, programs: &[&Program]) -> Value {
    let (mut own, mut other, mut third, mut times, mut cpu) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let before: f64 = programs.iter().map(|p| p.cpu()).sum();
        let (rate, some) = asked(&workload.own, connections);
        cpu.push((programs.iter().map(|p| p.cpu()).sum::<f64>() - before) * 1e6 / some.len().max(1) as f64);
        own.push(rate);
        times.extend(some);
        other.extend(workload.beside.as_ref().map(|(_, load, _)| asked(load, connections).0));
        third.extend(workload.wordpress.as_ref().map(|load| asked(load, connections.min(16)).0));
    }
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_micros() as u64;
    let mut row = json!({
        "workload": workload.name, "connections": connections, "rate": median(own.clone()).round(),
        "p50": at(0.5), "p99": at(0.99), "p99.9": at(0.999), "cpu": median(cpu).round(),
    });
    if let Some((what, _, aim)) = &workload.beside {
        let other = median(other);
        row["beside"] = json!({"what": what, "rate": other.round(), "ratio": median(own.clone()) / other, "aim": aim});
    }
    if workload.wordpress.is_some() {
        let rate = median(third);
        row["wordpress"] = json!({"rate": (rate * 10.0).round() / 10.0, "times": (median(own) / rate).round()});
    }
    row
}

fn line(row: &Value) -> String {
    let beside = &row["beside"];
    let (what, ratio, aim) = match beside.is_object() {
        true => (
            format!("{} {}", beside["what"].as_str().unwrap_or(""), beside["rate"]),
            format!("{:.2}", beside["ratio"].as_f64().unwrap_or(f64::NAN)),
            beside["aim"].to_string(),
        ),
        false => Default::default(),
    };
    let (there, times) = match row["wordpress"].is_object() {
        true => (row["wordpress"]["rate"].to_string(), row["wordpress"]["times"].to_string()),
        false => Default::default(),
    };
    format!(
        "| {} | {} | {}, {}, {} | {} | {what} | {ratio} | {aim} | {there} | {times} |",
        row["workload"].as_str().unwrap_or(""),
        row["rate"],
        row["p50"],
        row["p99"],
        row["p99.9"],
        row["cpu"],
    )
}

fn asked(load: &Load, connections: usize) -> (f64, Vec<Duration>) {
    let (until, next, requests) = (Instant::now() + ROUND, Cell::new(0), load.requests.clone());
    measured(&load.address, connections, load.status, move |_, _| {
        let n = next.replace(next.get() + 1);
        (Instant::now() < until).then(|| requests[n % requests.len()].clone())
    })
}

/// Bars as long as the logarithm of the rate.
fn chart(rows: &[Value]) -> String {
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"{}\" font-family=\"sans-serif\" font-size=\"12\">\n",
        rows.len() * 22 + 30
    );
    out.push_str("<text x=\"8\" y=\"18\">responses per second (each third of the width is ten times as many)</text>\n");
    for (n, row) in rows.iter().enumerate() {
        let (y, rate) = (n * 22 + 40, row["rate"].as_f64().unwrap_or(1.0));
        let width = (rate.max(1.0).log10() * 80.0).round();
        let there = row["wordpress"]["rate"].as_f64().map(|rate| (rate.max(1.0).log10() * 80.0).round());
        let _ = writeln!(
            out,
            "<text x=\"8\" y=\"{y}\">{} ({})</text><rect x=\"260\" y=\"{}\" width=\"{width}\" height=\"14\" fill=\"#2a7\"/>{}<text x=\"{}\" y=\"{y}\">{rate}</text>",
            row["workload"].as_str().unwrap_or(""),
            row["connections"],
            y - 11,
            there.map_or_else(String::new, |w| format!(
                "<rect x=\"260\" y=\"{}\" width=\"{w}\" height=\"5\" fill=\"#c53\"/>",
                y - 2
            )),
            266.0 + width,
        );
    }
    out + "</svg>\n"
}

// ------------------------------------------------------------------------------------------------ WordPress

/// A WordPress with the same posts.
struct WordPress {
    address: String,
    path: String,
    authorization: String,
    /// Number of one of the posts.
    some: i64,
}

impl WordPress {
    /// Fills the WordPress that `URL LOGIN PASSWORD` names, unless it holds as many posts already.
    fn of(given: &str) -> WordPress {
        use base64::Engine;
        let mut words = given.splitn(3, ' ');
        let mut word = || words.next().expect("URL, login and password");
        let (url, login, password) = (word(), word(), word());
        let (address, path) = url.trim_start_matches("http://").split_once('/').expect("a path");
        let pair = base64::engine::general_purpose::STANDARD.encode(format!("{login}:{password}"));
        let mut there = WordPress {
            address: address.into(),
            path: format!("/{path}"),
            authorization: format!("Basic {pair}"),
            some: 0,
        };
        let known = |there: &WordPress| -> Vec<Value> {
            serde_json::from_slice::<Vec<Value>>(&unchunked(
                &get(&there.address, &format!("{}/wp/v2/posts?per_page=100&page=9&_fields=id", there.path)).1,
            ))
            .unwrap_or_default()
        };
        if known(&there).is_empty() {
            fill(&there.address, POSTS, |n| there.creation(n));
        }
        there.some = known(&there).first().and_then(|post| post["id"].as_i64()).expect("posts");
        there
    }

    fn creation(&self, n: usize) -> Vec<u8> {
        let text = String::from_utf8(creation(&self.authorization, n)).expect("text");
        text.replacen(&format!("{API}/posts"), &format!("{}/wp/v2/posts", self.path), 1).into_bytes()
    }

    fn creations(&self) -> Load {
        let requests: Vec<Vec<u8>> = (0..500).map(|n| self.creation(POSTS + n)).collect();
        Load { address: self.address.clone(), requests: requests.into(), status: 201 }
    }

    fn item(&self) -> Load {
        let request = get_request(&format!("{}/wp/v2/posts/{}", self.path, self.some), "");
        Load { address: self.address.clone(), requests: vec![request].into(), status: 200 }
    }
}

/// A body that was sent in chunks, put together.
fn unchunked(body: &[u8]) -> Vec<u8> {
    if body.starts_with(b"[") {
        return body.to_vec();
    }
    let (mut out, mut rest) = (Vec::new(), body);
    while let Some(end) = rest.windows(2).position(|w| w == b"\r\n") {
        let length = usize::from_str_radix(String::from_utf8_lossy(&rest[..end]).trim(), 16).unwrap_or(0);
        if length == 0 {
            break;
        }
        out.extend_from_slice(&rest[end + 2..end + 2 + length]);
        rest = &rest[end + 4 + length..];
    }
    out
}

// ------------------------------------------------------------------------------------------------ by hand

/// Starts the hand-written server over a database that holds the same documents as rows of columns.
fn by_hand(folder: &Path, own: &str, writer: Writer) -> String {
    let asked = |path: &str| get(own, &format!("{API}/{path}")).1;
    let (list, item, embed) = (asked("posts"), asked("posts/500"), asked("posts?_embed"));
    use actix_web::{App, HttpResponse, HttpServer, web};
    let file = folder.join("by-hand.db");
    let documents: Vec<Map<String, Value>> = serde_json::from_slice(&list).expect("a list");
    let one: Map<String, Value> = serde_json::from_slice(&item).expect("a document");
    let keys: Arc<Vec<String>> = Arc::new(one.keys().cloned().collect());
    let connection = rusqlite::Connection::open(&file).expect("a database");
    connection.execute_batch("PRAGMA journal_mode=WAL").expect("WAL");
    let columns: Vec<String> = keys.iter().map(|k| format!("\"{k}\" TEXT")).collect();
    connection
        .execute_batch(&format!("CREATE TABLE post(n INTEGER PRIMARY KEY, {})", columns.join(", ")))
        .expect("a table");
    let marks = vec!["?"; keys.len()].join(", ");
    for document in documents.iter().chain([&one]) {
        let values: Vec<String> = keys.iter().map(|k| document[k.as_str()].to_string()).collect();
        let sql = format!("INSERT INTO post VALUES (NULL, {marks})");
        connection.execute(&sql, rusqlite::params_from_iter(values)).expect("a row");
    }
    connection.execute_batch("CREATE TABLE made(n INTEGER PRIMARY KEY, text TEXT)").expect("a table");
    for document in documents.iter().chain([&one]) {
        let text = Value::Object(document.clone()).to_string();
        connection.execute("INSERT INTO made VALUES (NULL, ?1)", [text]).expect("a row");
    }
    let columns = keys.iter().map(|k| format!("\"{k}\"")).collect::<Vec<_>>().join(", ");
    let list_sql: Arc<str> = format!("SELECT {columns} FROM post ORDER BY n LIMIT 10").into();
    let item_sql: Arc<str> = format!("SELECT {columns} FROM post WHERE n = 11").into();
    let [list, item, embed] = [list, item, embed].map(Arc::<[u8]>::from);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            HttpServer::new(move || {
                let creating = writer.clone();
                let create = move |body: web::Bytes| {
                    let writer = creating.clone();
                    async move { HttpResponse::Created().json(json!({"id": writer.put(None, &body).await})) }
                };
                let changing = writer.clone();
                let change = move |id: web::Path<i64>, body: web::Bytes| {
                    let writer = changing.clone();
                    async move { HttpResponse::Ok().json(json!({"id": writer.put(Some(*id), &body).await})) }
                };
                let connection = Arc::new(Mutex::new(rusqlite::Connection::open(&file).expect("a database")));
                let read = |sql: Arc<str>, keys: Arc<Vec<String>>, whole: bool| {
                    let connection = connection.clone();
                    move || {
                        let connection = connection.lock().expect("one thread");
                        let mut statement = connection.prepare_cached(&sql).expect("a statement");
                        let rows = statement.query_map([], |row| {
                            let mut map = IndexMap::with_capacity(keys.len());
                            for (i, key) in keys.iter().enumerate() {
                                map.insert(key.clone(), RawValue::from_string(row.get(i)?).expect("JSON"));
                            }
                            Ok(map)
                        });
                        let rows: Vec<IndexMap<String, Box<RawValue>>> =
                            rows.expect("rows").map(|r| r.expect("a row")).collect();
                        let count = if whole {
                            connection
                                .prepare_cached("SELECT count(*) FROM post")
                                .expect("a statement")
                                .query_row([], |r| r.get::<_, i64>(0))
                                .expect("a count")
                        } else {
                            1
                        };
                        let body = if whole { serde_json::to_vec(&rows) } else { serde_json::to_vec(&rows[0]) };
                        let body = body.expect("JSON");
                        async move {
                            HttpResponse::Ok()
                                .insert_header(("X-Total", count))
                                .content_type("application/json")
                                .body(body)
                        }
                    }
                };
                let rows = |sql: &'static str| {
                    let connection = connection.clone();
                    move || {
                        let connection = connection.lock().expect("one thread");
                        let mut statement = connection.prepare_cached(sql).expect("a statement");
                        let rows = statement.query_map([], |row| row.get::<_, String>(0)).expect("rows");
                        let texts: Vec<String> = rows.map(|row| row.expect("a row")).collect();
                        let body =
                            if sql.contains("LIMIT") { format!("[{}]", texts.join(",")) } else { texts.concat() };
                        async move { HttpResponse::Ok().content_type("application/json").body(body) }
                    }
                };
                let fixed = |bytes: Arc<[u8]>| {
                    move || {
                        let bytes = bytes.clone();
                        async move { HttpResponse::Ok().content_type("application/json").body(bytes.to_vec()) }
                    }
                };
                App::new()
                    .route("/list", web::get().to(read(list_sql.clone(), keys.clone(), true)))
                    .route("/item", web::get().to(read(item_sql.clone(), keys.clone(), false)))
                    .route("/list-static", web::get().to(fixed(list.clone())))
                    .route("/item-static", web::get().to(fixed(item.clone())))
                    .route("/embed-static", web::get().to(fixed(embed.clone())))
                    .route("/list-rows", web::get().to(rows("SELECT text FROM made ORDER BY n LIMIT 10")))
                    .route("/item-rows", web::get().to(rows("SELECT text FROM made WHERE n = 11")))
                    .route("/posts", web::post().to(create))
                    .route("/posts/{id}", web::post().to(change))
                    .route("/unchanged", web::get().to(|| async { HttpResponse::NotModified().finish() }))
            })
            .workers(std::thread::available_parallelism().map_or(1, usize::from))
            .listen(listener)
            .expect("a listener")
            .run()
            .await
        })
    });
    address
}
