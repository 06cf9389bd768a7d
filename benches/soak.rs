//! Whether memory, files and log stay bounded under load: `cargo bench --bench soak`; `BENCH_SOAK=3600` runs for an
//! hour instead of a minute.
//!
//! Eight connections read lists, items, searches and embeddings, two change posts, one makes posts, and short
//! connections are opened and closed. What is measured: memory of the process, open files, the write-ahead log. It
//! fails when memory still grows in the last third, the log exceeds its limit, or files stay open.

mod common;

use common::{Program, creation, get, keep_sending, measured, post};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const POSTS: usize = 1000;
const SAMPLES: u32 = 30;
const API: &str = "/cms-json/cms/v2";
/// The bound of the log (64 MB) and what a checkpoint may lag behind.
const LOG: u64 = 96 << 20;
/// Connections of the load, the idle ones that a server may still hold, and files of the database.
const FILES: usize = 64;

struct Sample {
    memory: u64,
    files: usize,
    log: u64,
}

fn main() {
    let seconds = std::env::var("BENCH_SOAK").map_or(60, |given| given.parse().expect("a number of seconds"));
    let span = Duration::from_secs(seconds);
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let server = Program::start(folder.path(), &[]);
    let authorization = server.authorization.clone();
    let made = measured(&server.address, 16, 201, move |c, n| {
        (n < POSTS / 16 + 1).then(|| creation(&authorization, c * 10_000 + n))
    });
    println!("{} posts; {seconds} seconds", made.1.len());
    let first = server.files();
    let (over, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let loads = [load(&server, &over, &answered, 8, 200, reading), load(&server, &over, &answered, 2, 200, changing)];
    let making = load(&server, &over, &answered, 1, 201, |authorization, _, n| {
        // A site that grows without end would not reveal a leak.
        std::thread::sleep(Duration::from_millis(20));
        creation(authorization, 20_000_000 + n)
    });
    let start = Instant::now();
    let mut samples = Vec::new();
    for turn in 1..=SAMPLES {
        while start.elapsed() < span * turn / SAMPLES {
            let (status, _) = get(&server.address, &format!("{API}/posts?per_page=1"));
            assert_eq!(status, 200);
            std::thread::sleep(Duration::from_millis(20));
        }
        let sample = sample(&server, folder.path());
        println!(
            "{:>6} s  {:>9} responses  {:>4} MB  {:>4} files  log {:>3} MB",
            start.elapsed().as_secs(),
            answered.load(Ordering::Relaxed),
            sample.memory >> 20,
            sample.files,
            sample.log >> 20
        );
        samples.push(sample);
    }
    over.store(true, Ordering::Relaxed);
    loads.into_iter().chain([making]).for_each(|load| load.join().expect("the load ends"));
    judge(&samples, first, server.files());
}

/// A thread that sends requests by some connections until it is over, and counts the answers.
fn load(
    server: &Program,
    over: &Arc<AtomicBool>,
    answered: &Arc<AtomicU64>,
    connections: usize,
    status: u16,
    request: fn(&str, usize, usize) -> Vec<u8>,
) -> std::thread::JoinHandle<()> {
    let answered = answered.clone();
    let count = move |times: &[Duration]| {
        answered.fetch_add(times.len() as u64, Ordering::Relaxed);
    };
    keep_sending(server, over, (connections, status), request, count)
}

fn reading(_: &str, connection: usize, n: usize) -> Vec<u8> {
    let spread = connection * 131 + n;
    let path = match n % 5 {
        0 => format!("posts?page={}", 1 + spread % 90),
        1 | 2 => format!("posts/{}", 1 + spread % POSTS),
        3 => format!("posts?per_page=5&_embed=1&exclude={}", 1 + spread % POSTS),
        _ => format!("posts?search=post+{}", spread % 997),
    };
    format!("GET {API}/{path} HTTP/1.1\r\nHost: bench\r\n\r\n").into_bytes()
}

fn changing(authorization: &str, connection: usize, n: usize) -> Vec<u8> {
    let id = 1 + (connection * 503 + n * 7) % POSTS;
    post(authorization, &format!("{API}/posts/{id}"), &json!({"content": {"raw": format!("The {n}th tide came in.")}}))
}

fn sample(server: &Program, folder: &Path) -> Sample {
    let log = std::fs::metadata(folder.join("bench.db-wal")).map_or(0, |file| file.len());
    Sample { memory: server.memory(), files: server.files(), log }
}

fn judge(samples: &[Sample], first: usize, last: usize) {
    let third = samples.len() / 3;
    let most = |part: &[Sample]| part.iter().map(|sample| sample.memory).max().unwrap_or(0) as f64;
    let grown = most(&samples[2 * third..]) / most(&samples[third..2 * third]);
    let log = samples.iter().map(|sample| sample.log).max().unwrap_or(0);
    println!(
        "memory, last third : middle third {grown:.2}; log at most {} MB; files {first} before, {last} after",
        log >> 20
    );
    assert!(grown < 1.1, "memory grows");
    assert!(log <= LOG, "the log grows beyond its bound");
    assert!(last <= first + FILES, "files stay open");
}
