//! One node on SQLite, one on PostgreSQL and three on PostgreSQL, in one run:
//! `tests/postgres/with cargo bench --bench nodes`.
//!
//! `CMS_TEST_POSTGRES` names an empty database on this machine, which `tests/postgres/with` makes. Each has 1,000 posts.
//! Workloads are interleaved round by round; what counts are the ratios to SQLite. "Cold" lists and items have queries
//! that no response was cached for. Processor time is that of all nodes, and that of the database's processes.

mod common;

use common::{Program, cpu_seconds, creation, fill, get_request, measured, median, post};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const POSTS: usize = 1000;
const ROUNDS: usize = 3;
const ROUND: Duration = Duration::from_millis(1500);
const API: &str = "/cms-json/cms/v2";

/// Nodes that share a database.
struct Site {
    name: &'static str,
    nodes: Vec<Program>,
}

/// A workload: its connections, the expected status, and the n-th request of all, with an authorization.
struct Workload {
    name: &'static str,
    connections: usize,
    status: u16,
    request: fn(&str, usize) -> Vec<u8>,
    /// The least ratio to SQLite of one node on PostgreSQL.
    target: Option<f64>,
}

fn reading(path: &str) -> Vec<u8> {
    get_request(&format!("{API}/{path}"), "")
}

fn changed(authorization: &str, n: usize) -> Vec<u8> {
    let body = json!({"title": {"raw": format!("Changed {n}")}});
    post(authorization, &format!("{API}/posts/{}", 1 + n % POSTS), &body)
}

const WORKLOADS: [Workload; 6] = [
    Workload { name: "cached list", connections: 16, status: 200, request: |_, _| reading("posts"), target: Some(0.9) },
    Workload {
        name: "cold list",
        connections: 64,
        status: 200,
        request: |_, n| reading(&format!("posts?exclude={}", 1_000_000 + n)),
        target: Some(0.4),
    },
    Workload {
        name: "cold item",
        connections: 64,
        status: 200,
        request: |_, n| reading(&format!("posts/{}?x={n}", 1 + n % POSTS)),
        target: None,
    },
    Workload { name: "create", connections: 64, status: 201, request: creation, target: None },
    Workload { name: "update", connections: 64, status: 200, request: changed, target: None },
    Workload {
        name: "cached list, 5 % updates",
        connections: 16,
        status: 200,
        request: |own, n| if n % 20 == 0 { changed(own, n) } else { reading("posts") },
        target: None,
    },
];

/// The number of the next request.
static NEXT: AtomicUsize = AtomicUsize::new(2 * POSTS);

/// The figures of a round.
struct Round {
    rate: f64,
    p99: Duration,
    /// Microseconds of processor time for a request, in the nodes and in the database.
    cpu: [f64; 2],
}

fn main() {
    let Ok(server) = std::env::var("CMS_TEST_POSTGRES") else {
        println!("CMS_TEST_POSTGRES names no database: tests/postgres/with cargo bench --bench nodes");
        return;
    };
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let sites = [("SQLite", 1), ("PostgreSQL", 1), ("PostgreSQL, 3 nodes", 3)].map(|(name, nodes)| {
        let own = folder.path().join(name);
        std::fs::create_dir(&own).expect("a folder");
        let set = (name != "SQLite").then(|| format!("storage.url={}", schema(&server, &format!("nodes{nodes}"))));
        let sets: Vec<&str> = set.iter().map(String::as_str).collect();
        let nodes: Vec<Program> = (0..nodes).map(|_| Program::start(&own, &sets)).collect();
        fill(&nodes[0].address, POSTS, |n| creation(&nodes[0].authorization, n));
        if let Some(set) = &set {
            // The server would do so by itself within a minute.
            psql(set.trim_start_matches("storage.url="), "ANALYZE");
        }
        Site { name, nodes }
    });
    println!("| workload | site | per second | p99 ms | CPU µs in nodes, database | ratio to SQLite | target |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let mut figures = Vec::new();
    for workload in &WORKLOADS {
        let mut rounds: Vec<Vec<Round>> = sites.iter().map(|_| Vec::new()).collect();
        for _ in 0..ROUNDS {
            for (site, rounds) in sites.iter().zip(&mut rounds) {
                rounds.push(round(site, workload));
            }
        }
        let of = |rounds: &[Round], value: fn(&Round) -> f64| median(rounds.iter().map(value).collect());
        let sqlite = of(&rounds[0], |round| round.rate);
        for (site, rounds) in sites.iter().zip(&rounds) {
            let (rate, p99) = (of(rounds, |r| r.rate), of(rounds, |r| r.p99.as_secs_f64() * 1000.0));
            let (nodes, database) = (of(rounds, |r| r.cpu[0]), of(rounds, |r| r.cpu[1]));
            let target = workload.target.filter(|_| site.name == "PostgreSQL").map_or(String::new(), |t| t.to_string());
            let ratio = rate / sqlite;
            println!(
                "| {} | {} | {rate:.0} | {p99:.1} | {nodes:.0}, {database:.0} | {ratio:.2} | {target} |",
                workload.name, site.name
            );
            figures.push(json!({"workload": workload.name, "site": site.name, "per second": rate, "p99 ms": p99,
                "node µs": nodes, "database µs": database, "ratio": ratio}));
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/target/bench-nodes.json");
    std::fs::write(path, Value::from(figures).to_string()).expect("the figures are written");
}

/// Sends a workload to all nodes of a site at once, each with its share of the connections.
fn round(site: &Site, workload: &Workload) -> Round {
    let (before, start) = (cpu(site), Instant::now());
    let connections = workload.connections.div_ceil(site.nodes.len());
    let (until, status, request) = (start + ROUND, workload.status, workload.request);
    let mut times: Vec<Duration> = std::thread::scope(|scope| {
        let load = |node: &Program| {
            let (address, own) = (node.address.clone(), node.authorization.clone());
            scope.spawn(move || {
                let next = move |_, _| {
                    let n = NEXT.fetch_add(1, Ordering::Relaxed);
                    (Instant::now() < until).then(|| request(&own, n))
                };
                measured(&address, connections, status, next).1
            })
        };
        let loads: Vec<_> = site.nodes.iter().map(load).collect();
        loads.into_iter().flat_map(|load| load.join().expect("a load")).collect()
    });
    times.sort();
    let (took, after) = (start.elapsed(), cpu(site));
    let micros = |place: usize| (after[place] - before[place]) * 1e6 / times.len().max(1) as f64;
    Round {
        rate: times.len() as f64 / took.as_secs_f64(),
        p99: times.get(times.len() * 99 / 100).copied().unwrap_or_default(),
        cpu: [micros(0), micros(1)],
    }
}

/// Seconds of processor time of the nodes, and of all processes of PostgreSQL on this machine.
fn cpu(site: &Site) -> [f64; 2] {
    let named = |path: &Path| std::fs::read_to_string(path.join("comm")).is_ok_and(|name| name.trim() == "postgres");
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    let database: f64 = processes.filter(|path| named(path)).map(|path| cpu_seconds(&path)).sum();
    [site.nodes.iter().map(Program::cpu).sum(), database]
}

fn psql(url: &str, text: &str) {
    assert!(Command::new("psql").args([url, "-qc", text]).status().expect("psql").success());
}

/// A schema of its own in the database.
fn schema(server: &str, name: &str) -> String {
    psql(server, &format!("CREATE SCHEMA {name}"));
    let mark = if server.contains('?') { '&' } else { '?' };
    format!("{server}{mark}options=-csearch_path%3D{name},public")
}
