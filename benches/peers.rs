//! The same requests to this server and to others that a reader can install: `cargo bench --bench peers`. `benches/peers/start`
//! installs and starts the others; `BENCH_PEERS=pocketbase` names some of them.
//!
//! Each gets a collection of 1,000 articles with a body of 3 KB, and then each kind of request over 16 connections, in rounds that
//! take turns, so that a noisy machine is noisy for all of them. Reads are anonymous. The table, in Markdown, has requests a second
//! (the median of three rounds) and the microseconds of processor time for each, of all processes of the server.

mod common;

use common::{Program, answer, cpu_seconds, get_request, median, rate};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const ARTICLES: usize = 1000;
const TOPICS: usize = 20;
const ROUNDS: usize = 3;
const CONNECTIONS: usize = 16;
const KINDS: [&str; 6] = ["list", "item", "filter", "search", "create", "update"];

/// The declarations of articles.
const SITE: &str = r#"
[namespaces.press]
path = "press/v1"

[capabilities.press]
read = ""
create = "edit_others_posts"
edit = "edit_others_posts"
delete = "edit_others_posts"

[resources.articles]
extends = "plain"
namespace = "press"
schema = "schemas/article.json"
kind = "article"
capabilities = "press"
sort = { rank = "rank", title = "title" }
search = { title = "title", body = "body" }

[resources.articles.endpoints.list]
orderby = { enum = ["id", "include", "rank", "title"], default = "rank" }
order = { default = "desc" }
topic = { description = "Only articles of these topics.", type = "array", items = { type = "string" }, x-filter = { column = "topic", op = "in" } }
"#;

/// A server, and how it is asked.
struct Peer {
    name: String,
    durable: String,
    address: String,
    authorization: String,
    process: u32,
    created: u16,
    /// Where a response has the id of a new article.
    id: String,
    /// The paths of the kinds that read, and of new articles.
    paths: BTreeMap<String, String>,
    /// Method and path of a change.
    update: (String, String),
    ids: Vec<String>,
    /// Ends the server when it goes.
    _started: Started,
}

enum Started {
    Own { _program: Program, _folder: tempfile::TempDir },
    Other(Child),
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Started::Other(child) = self {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}

impl Peer {
    /// This server, with cached responses or without.
    fn own(cached: bool) -> Peer {
        let folder = tempfile::TempDir::new().expect("a temporary folder");
        declare(folder.path());
        let sets: &[&str] = if cached { &[] } else { &["cache.responses=false"] };
        let program = Program::start(folder.path(), sets);
        let articles = "/cms-json/press/v1/articles";
        let paths = [
            ("list", articles.to_owned()),
            ("item", format!("{articles}/{{id}}")),
            ("filter", format!("{articles}?orderby=title&order=asc&topic=topic+{{n}}")),
            ("search", format!("{articles}?search=word{{n}}w")),
            ("create", articles.to_owned()),
        ];
        Peer {
            name: if cached { "cms-server" } else { "cms-server, no responses cached" }.to_owned(),
            durable: "yes: a sync for each commit, which writes that wait share".to_owned(),
            address: program.address.clone(),
            authorization: program.authorization.clone(),
            process: program.pid(),
            created: 201,
            id: "/id".to_owned(),
            paths: paths.into_iter().map(|(kind, path)| (kind.to_owned(), path)).collect(),
            update: ("PATCH".to_owned(), format!("{articles}/{{id}}")),
            ids: Vec::new(),
            _started: Started::Own { _program: program, _folder: folder },
        }
    }

    /// Another one; `None` if it cannot be installed or started here, which is said.
    fn other(name: &str) -> Option<Peer> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder: PathBuf = root.join("target/peers").join(name);
        let mut child = Command::new(root.join("benches/peers/start"))
            .arg(name)
            .arg(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("text");
        let Ok(told) = serde_json::from_str::<Value>(&line) else {
            eprintln!("left out: {name}");
            let _ = child.wait();
            return None;
        };
        let text = |key: &str| told[key].as_str().unwrap_or_else(|| panic!("{key} in {told}")).to_owned();
        let paths = ["list", "item", "filter", "search", "create"];
        let word = |n: usize| told["update"][n].as_str().expect("a method and a path").to_owned();
        Some(Peer {
            name: text("name"),
            durable: text("durable"),
            address: text("address"),
            authorization: text("authorization"),
            process: u32::try_from(told["pid"].as_u64().expect("a process")).expect("a number of a process"),
            created: u16::try_from(told["created"].as_u64().expect("a status")).expect("a status"),
            id: text("id"),
            paths: paths.into_iter().map(|key| (key.to_owned(), text(key))).collect(),
            update: (word(0), word(1)),
            ids: Vec::new(),
            _started: Started::Other(child),
        })
    }

    /// The bytes of a request that makes or changes an article.
    fn write(&self, method: &str, path: &str, body: &Value) -> Vec<u8> {
        let body = body.to_string();
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            self.authorization,
            body.len()
        )
        .into_bytes()
    }

    fn fill(&mut self) {
        let mut socket = TcpStream::connect(&self.address).expect("a connection");
        for n in 0..ARTICLES {
            socket.write_all(&self.write("POST", &self.paths["create"], &article(n))).expect("a request");
            let mut buffer = Vec::new();
            let (status, body) = answer(&mut socket, &mut buffer);
            assert_eq!(status, self.created, "{}: {}", self.name, String::from_utf8_lossy(&buffer));
            let told = String::from_utf8_lossy(&buffer[body..]);
            // It may come in chunks, whose lengths are lines of their own.
            let json = &told[told.find('{').unwrap_or(0)..=told.rfind('}').unwrap_or(0)];
            let made: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {told}"));
            let id = made.pointer(&self.id).expect("an id");
            self.ids.push(id.as_str().map_or_else(|| id.to_string(), str::to_owned));
        }
    }

    /// Requests a second, and the microseconds of processor time for each.
    fn load(&self, kind: &str) -> (f64, f64) {
        let requests: Vec<Vec<u8>> = (0..ARTICLES).map(|n| self.request(kind, n)).collect();
        let status = if kind == "create" { self.created } else { 200 };
        let (before, began) = (self.processor_time(), std::time::Instant::now());
        let rate = rate(&self.address, CONNECTIONS, status, move |c, n| requests[(c * 61 + n) % ARTICLES].clone());
        let done = rate * began.elapsed().as_secs_f64();
        (rate, (self.processor_time() - before) * 1e6 / done)
    }

    fn request(&self, kind: &str, n: usize) -> Vec<u8> {
        let at = |path: &str| path.replace("{id}", &self.ids[n]).replace("{n}", &(n % TOPICS).to_string());
        match kind {
            "create" => self.write("POST", &self.paths[kind], &article(n)),
            "update" => self.write(&self.update.0, &at(&self.update.1), &article(n + 1)),
            _ => get_request(&at(&self.paths[kind]), ""),
        }
    }

    /// Seconds of processor time of its process and of those that it has started.
    fn processor_time(&self) -> f64 {
        let parents: BTreeMap<u32, u32> = std::fs::read_dir("/proc")
            .expect("Linux")
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(|process: u32| Some((process, parent(process)?)))
            .collect();
        let mut own = vec![self.process];
        let mut at = 0;
        while at < own.len() {
            let parent = own[at];
            own.extend(parents.iter().filter(|(_, of)| **of == parent).map(|(process, _)| *process));
            at += 1;
        }
        own.iter().map(|process| cpu_seconds(Path::new(&format!("/proc/{process}")))).sum()
    }
}

fn parent(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
}

fn article(n: usize) -> Value {
    let words = "Seagulls stand on the pier and wait for the boats to come home. ".repeat(46);
    let title = format!("Article {:06}", n * 7919 % 1_000_003);
    // Every topic has a word of its own, which a search finds.
    let body = format!("{words}word{}w", n % TOPICS);
    json!({"title": title, "body": body, "topic": format!("topic {}", n % TOPICS), "rank": n})
}

/// Writes the declarations of articles into a folder.
fn declare(folder: &Path) {
    let program = env!("CARGO_BIN_EXE_cms-server");
    let made = Command::new(program).args(["init", folder.to_str().expect("a path")]).output().expect("it ends");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let text = |write: &str, index: bool| json!({"type": "string", "description": "Text.", "x-write": write, "x-index": index});
    let schema = json!({"title": "article", "type": "object", "properties": {
        "id": {"type": "integer", "description": "Id.", "readonly": true},
        "title": text("text_field", true),
        "body": text("html", false),
        "topic": text("text_field", true),
        "rank": {"type": "integer", "description": "Place in the list.", "x-index": true},
    }});
    std::fs::write(folder.join("schemas/article.json"), schema.to_string()).expect("a file");
    std::fs::write(folder.join("site.toml"), SITE).expect("a file");
}

fn main() {
    let named = std::env::var("BENCH_PEERS").unwrap_or_else(|_| "pocketbase".to_owned());
    let mut peers = vec![Peer::own(true), Peer::own(false)];
    peers.extend(named.split(',').filter(|name| !name.is_empty()).filter_map(Peer::other));
    peers.iter_mut().for_each(Peer::fill);
    let mut table = format!("| requests a second (µs of processor time) | {} | durable |\n", KINDS.join(" | "));
    let _ = writeln!(table, "|{}", " --- |".repeat(KINDS.len() + 2));
    let mut measured = vec![BTreeMap::<&str, Vec<(f64, f64)>>::new(); peers.len()];
    for kind in KINDS {
        // One round to warm up.
        for round in 0..=ROUNDS {
            for (peer, measured) in peers.iter().zip(&mut measured) {
                let load = peer.load(kind);
                if round > 0 {
                    measured.entry(kind).or_default().push(load);
                }
            }
        }
    }
    for (peer, measured) in peers.iter().zip(measured) {
        let cells: Vec<String> = KINDS
            .iter()
            .map(|kind| {
                let of = |which: fn(&(f64, f64)) -> f64| median(measured[kind].iter().map(which).collect());
                format!("{:.0} ({:.0})", of(|load| load.0), of(|load| load.1))
            })
            .collect();
        let _ = writeln!(table, "| {} | {} | {} |", peer.name, cells.join(" | "), peer.durable);
    }
    print!("{table}");
}
