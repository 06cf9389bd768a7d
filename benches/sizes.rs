//! The same requests to sites of different sizes: `cargo bench --bench sizes`. `BENCH_SIZES=1000,1000000` names others.
//!
//! Every site is filled over HTTP with posts of 60 to 400 words, each in one of twenty categories; one word occurs in
//! just a hundred of them, whatever the size. Responses are not cached (`cache.responses=false`), so each is made from
//! the database and from cached documents; a thousand hot keys are requested, after a round to warm up. The table shows
//! responses per second at 16 connections, with the median and the 99th percentile; the last column is the time at the
//! largest size divided by that at the smallest. Sitemaps and the feed are requested once each, and once more after a change, which
//! has to be in them. At the end the program is killed right after creates and started again.
//! The figures are also written to `target/bench-sizes.json`.
//!
//! Before that, the lists of posts and of two types of one's own are measured in the processor time that the server takes for each;
//! `BENCH_ONLY=articles,events` measures these alone.

mod common;

use common::own_types::{LISTS, OwnType, TYPES, declare};
use common::{Program, answer, measured, post};
use serde_json::{Value, json};
use std::cell::Cell;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// Keys that are requested again and again.
const HOT: usize = 1000;
/// Requests measured for each kind.
const ASKED: usize = 8000;
/// Posts that contain the rare word.
const RARE: usize = 100;
const CATEGORIES: usize = 20;
/// Redirects, and a fifth of the posts at most.
const REDIRECTS: usize = 10_000;

const QUESTIONS: [&str; 11] = [
    "list of 10",
    "list, authenticated",
    "list of 100, two fields",
    "item",
    "list of a category",
    "list with _embed",
    "page 50",
    "walk by cursor",
    "search, 100 matches",
    "address",
    "address of a redirect",
];

/// Addresses that search engines and readers of feeds follow; the number of posts decides on the names of the parts.
const FOUND: [(&str, &str); 5] = [
    ("index of the sitemaps, ms", "/sitemap.xml"),
    ("first part of a sitemap, ms", "/sitemap-posts-1.xml"),
    ("part in the middle, ms", "/sitemap-posts-{middle}.xml"),
    ("last part, ms", "/sitemap-posts-{last}.xml"),
    ("feed, ms", "/feed/"),
];

/// Addresses in a part of a sitemap.
const PART: usize = 5000;

fn main() {
    let sizes = std::env::var("BENCH_SIZES").unwrap_or_else(|_| "1000,10000,100000".to_owned());
    let sizes: Vec<usize> = sizes.split(',').map(|n| n.trim().parse().expect("a number")).collect();
    let only = std::env::var("BENCH_ONLY").unwrap_or_default();
    for of in TYPES.iter().filter(|of| only.is_empty() || only.split(',').any(|name| name == of.name)) {
        own_type(of, &sizes);
    }
    if !only.is_empty() {
        return;
    }
    let mut told = Vec::new();
    for size in &sizes {
        let folder = tempfile::TempDir::new().expect("a temporary folder");
        told.push(site(folder.path(), *size));
    }
    print(&sizes, &told);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../bench-sizes.json");
    std::fs::write(path, serde_json::to_string_pretty(&told).expect("JSON")).expect("a file");
}

/// Prints what the lists of a type cost in sites of these sizes.
fn own_type(of: &OwnType, sizes: &[usize]) {
    let mut costs: Vec<Vec<(f64, f64)>> = Vec::new();
    for size in sizes {
        let folder = tempfile::TempDir::new().expect("a temporary folder");
        declare(folder.path());
        let server = Program::start(folder.path(), &["cache.responses=false"]);
        let groups = of.fill(&server, *size);
        wait_for_index(folder.path());
        drop(server);
        let server = Program::start(folder.path(), &["cache.responses=false"]);
        costs.push(LISTS.iter().map(|kind| of.cost(&server, kind, *size, &groups)).collect());
    }
    let heads: Vec<String> = sizes.iter().map(|n| format!("{n} {}", of.name)).collect();
    println!("| {}, µs of processor time (a second) | {} | largest : smallest |", of.name, heads.join(" | "));
    println!("| --- |{} --- |", " --- |".repeat(sizes.len()));
    for (place, kind) in LISTS.iter().enumerate() {
        let cells: Vec<String> = costs.iter().map(|of| format!("{:.0} ({:.0})", of[place].0, of[place].1)).collect();
        let ratio = costs[costs.len() - 1][place].0 / costs[0][place].0;
        println!("| {kind} | {} | {ratio:.2} |", cells.join(" | "));
    }
    println!();
}

fn print(sizes: &[usize], told: &[Value]) {
    let heads: Vec<String> = sizes.iter().map(|n| format!("{n} posts")).collect();
    println!("| question | {} | time, largest : smallest |", heads.join(" | "));
    println!("| --- |{} --- |", " --- |".repeat(sizes.len()));
    for question in QUESTIONS {
        let rate = |site: &Value| site[question]["rate"].as_f64().unwrap_or(f64::NAN);
        let cells: Vec<String> = told
            .iter()
            .map(|site| format!("{:.0}/s ({}, {} µs)", rate(site), site[question]["p50"], site[question]["p99"]))
            .collect();
        let ratio = rate(&told[0]) / rate(&told[told.len() - 1]);
        println!("| {question} | {} | {ratio:.2} |", cells.join(" | "));
    }
    let facts = [
        "filled, posts/s",
        "start, ms",
        "start after a kill, ms",
        FOUND[0].0,
        FOUND[1].0,
        FOUND[2].0,
        FOUND[3].0,
        FOUND[4].0,
        "memory idle, MB",
        "memory under load, MB",
        "database, MB",
    ];
    for fact in facts {
        let cells: Vec<String> = told.iter().map(|site| site[fact].to_string()).collect();
        println!("| {fact} | {} | |", cells.join(" | "));
    }
}

/// Fills a site and runs every kind of request.
fn site(folder: &Path, size: usize) -> Value {
    let mut told = json!({"posts": size});
    let sets = ["cache.responses=false"];
    let server = Program::start(folder, &sets);
    told["filled, posts/s"] = json!(fill(&server, size).round());
    wait_for_index(folder);
    // At rest the log is emptied.
    std::thread::sleep(Duration::from_secs(4));
    drop(server);
    let server = Program::start(folder, &sets);
    told["start, ms"] = json!(server.ready_in);
    told["memory idle, MB"] = json!(server.memory() >> 20);
    found(&server, size, &mut told);
    for question in QUESTIONS {
        let ask = requests(&server, question, size);
        told[question] = asked(&server.address, ask);
    }
    told["memory under load, MB"] = json!(server.memory() >> 20);
    server.creates(16);
    let server = server.kill_and_restart(folder, &sets);
    told["start after a kill, ms"] = json!(server.ready_in);
    told["database, MB"] = json!(std::fs::metadata(folder.join("bench.db")).map_or(0, |m| m.len() >> 20));
    told
}

/// The times of sitemaps and the feed, before and after a change.
fn found(server: &Program, size: usize, told: &mut Value) {
    let parts = (size + 1).div_ceil(PART);
    let mut socket = TcpStream::connect(&server.address).expect("a connection");
    let mut ask = |path: &str| {
        let path = path.replace("{middle}", &parts.div_ceil(2).to_string()).replace("{last}", &parts.to_string());
        let start = Instant::now();
        socket.write_all(format!("GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n").as_bytes()).expect("a request");
        let mut buffer = Vec::new();
        let (status, _) = answer(&mut socket, &mut buffer);
        (status, start.elapsed().as_millis() as u64, String::from_utf8_lossy(&buffer).into_owned())
    };
    let before: Vec<u64> = FOUND.iter().map(|(_, path)| ask(path).1).collect();
    let body = json!({"title": {"raw": "Late"}, "slug": "late-news", "status": "publish"});
    let mut writer = TcpStream::connect(&server.address).expect("a connection");
    writer.write_all(&post(&server.authorization, "/cms-json/cms/v2/posts", &body)).expect("a request");
    assert_eq!(answer(&mut writer, &mut Vec::new()).0, 201);
    for ((name, path), before) in FOUND.iter().zip(before) {
        let (status, after, text) = ask(path);
        assert_eq!(status, 200, "{path}");
        let changes = path.contains("{last}") || *path == "/feed/";
        assert!(!changes || text.contains("late-news"), "{path} without the change");
        told[*name] = json!(before.max(after));
    }
}

fn asked(address: &str, requests: Vec<Vec<u8>>) -> Value {
    let round = |times: usize| {
        let (requests, next) = (requests.clone(), Cell::new(0));
        measured(address, 16, 200, move |_, _| {
            next.set(next.get() + 1);
            (next.get() <= times).then(|| requests[next.get() % requests.len()].clone())
        })
    };
    round(requests.len());
    let (rate, times) = round(ASKED);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_micros() as u64;
    json!({"rate": rate.round(), "p50": at(0.5), "p99": at(0.99)})
}

/// The hot requests of a kind.
fn requests(server: &Program, question: &str, size: usize) -> Vec<Vec<u8>> {
    let hot = HOT.min(size);
    let spread = |n: usize| 1 + n * (size / hot);
    let with = |path: String, authorization: &str| {
        format!("GET /cms-json/cms/v2/{path} HTTP/1.1\r\nHost: bench\r\n{authorization}\r\n").into_bytes()
    };
    let request = |path: String| with(path, "");
    // Leaving one post out makes each list a request of its own, with the same work.
    let lists = |query: &str| (0..hot).map(|n| request(format!("posts?exclude={}{query}", spread(n)))).collect();
    match question {
        "list, authenticated" => {
            let authorization = format!("Authorization: {}\r\n", server.authorization);
            (0..hot).map(|n| with(format!("posts?exclude={}", spread(n)), &authorization)).collect()
        }
        "list of 100, two fields" => lists("&per_page=100&_fields=id,title"),
        "item" => (0..hot).map(|n| request(format!("posts/{}", spread(n)))).collect(),
        "list of a category" => {
            let category = |n: usize| 2 + n % CATEGORIES;
            (0..hot).map(|n| request(format!("posts?categories={}&exclude={}", category(n), spread(n)))).collect()
        }
        "list with _embed" => lists("&_embed=1"),
        "page 50" => lists("&page=50"),
        "walk by cursor" => walk(&server.address, hot),
        "search, 100 matches" => lists("&search=quagga"),
        "address" => {
            let address = |n: usize| format!("{}post-{n}/", date(n)[..8].replace('-', "/"));
            (0..hot).map(|n| resolve(&address(n * (size / hot)))).collect()
        }
        "address of a redirect" => (0..hot).map(|n| resolve(&format!("old/{}/", n % redirects(size)))).collect(),
        _ => lists(""),
    }
}

fn redirects(size: usize) -> usize {
    REDIRECTS.min(size / 5)
}

/// The request for what is at a path of the site.
fn resolve(path: &str) -> Vec<u8> {
    format!("GET /cms-json/server/v1/resolve?path=/{path} HTTP/1.1\r\nHost: bench\r\n\r\n").into_bytes()
}

/// Requests of a walk through the newest posts.
fn walk(address: &str, steps: usize) -> Vec<Vec<u8>> {
    let mut path = "/cms-json/cms/v2/posts?_cursor=".to_owned();
    let mut requests = Vec::new();
    let mut socket = TcpStream::connect(address).expect("a connection");
    while requests.len() < steps {
        let request = format!("GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n").into_bytes();
        socket.write_all(&request).expect("a request");
        let mut buffer = Vec::new();
        let (status, body) = answer(&mut socket, &mut buffer);
        assert_eq!(status, 200);
        requests.push(request);
        let head = String::from_utf8_lossy(&buffer[..body]).to_lowercase().find("link: <").map(|at| at + 7);
        let Some(at) = head else { break };
        let link = String::from_utf8_lossy(&buffer[at..body]).into_owned();
        let url = link.split('>').next().expect("an address");
        path = url.splitn(4, '/').nth(3).map(|rest| format!("/{rest}")).expect("a path");
    }
    requests
}

/// Makes the categories, posts and redirects; posts a second.
fn fill(server: &Program, size: usize) -> f64 {
    let mut socket = TcpStream::connect(&server.address).expect("a connection");
    for n in 0..CATEGORIES {
        let body = json!({"name": format!("Category {n}")});
        socket.write_all(&post(&server.authorization, "/cms-json/cms/v2/categories", &body)).expect("a request");
        assert_eq!(answer(&mut socket, &mut Vec::new()).0, 201);
    }
    let (authorization, next) = (server.authorization.clone(), Cell::new(0));
    let start = Instant::now();
    measured(&server.address, 64, 201, move |_, _| {
        let n = next.replace(next.get() + 1);
        (n < size).then(|| post(&authorization, "/cms-json/cms/v2/posts", &document(n, size)))
    });
    let rate = size as f64 / start.elapsed().as_secs_f64();
    let (authorization, next) = (server.authorization.clone(), Cell::new(0));
    measured(&server.address, 64, 201, move |_, _| {
        let n = next.replace(next.get() + 1);
        let body = json!({"from": format!("/old/{n}/"), "to": format!("/new/{n}/")});
        (n < redirects(size)).then(|| post(&authorization, "/cms-json/server/v1/redirects", &body))
    });
    rate
}

/// A post like others: its words are drawn from a vocabulary in which a few are frequent.
fn document(n: usize, size: usize) -> Value {
    let mut state = (n as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut draw = |most: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % most
    };
    let mut words = Vec::new();
    for _ in 0..60 + draw(340) {
        let rank = draw(2000) * draw(2000) / 2000;
        words.push(format!("{}{}", SYLLABLES[(rank % 16) as usize], SYLLABLES[(rank / 16 % 16) as usize]));
    }
    if n.is_multiple_of((size / RARE).max(1)) {
        words.push("quagga".to_owned());
    }
    json!({
        "title": {"raw": format!("{} {} {n}", words[0], words[1])},
        "slug": format!("post-{n}"),
        "content": {"raw": format!("<p>{}</p>", words.join(" "))},
        "status": "publish",
        "date": date(n),
        "categories": [2 + n % CATEGORIES],
    })
}

/// Twenty minutes after the post before.
fn date(n: usize) -> String {
    let (minute, day) = (n * 20 % 1440, n / 72);
    format!(
        "{}-{:02}-{:02}T{:02}:{:02}:00",
        1980 + day / 336,
        1 + day / 28 % 12,
        1 + day % 28,
        minute / 60,
        minute % 60
    )
}

const SYLLABLES: [&str; 16] =
    ["ba", "den", "kor", "li", "mar", "no", "pel", "ri", "sa", "ten", "ul", "ver", "wi", "xan", "yo", "zu"];

/// Waits until the writer has taken every post into the index of the search.
fn wait_for_index(folder: &Path) {
    let path = folder.join("bench.db");
    for _ in 0..100_000 {
        let conn = rusqlite::Connection::open(&path).expect("the database");
        let waiting = conn.query_row("SELECT count(*) FROM search_todo", [], |row| row.get::<_, i64>(0));
        if waiting.expect("a count") == 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}
