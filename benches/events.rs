//! The cost of webhooks and streams for those who write: `cargo bench --bench events`.
//!
//! Three programs, each over a database of its own: one that can tell nobody, one where nobody listens, and one with ten
//! webhooks and a hundred streams. In each, a thousand posts a second are changed, which makes events, while 16 connections
//! change tags, which makes none. What counts is how many tags they change, and the processor time of the program. Rounds are
//! interleaved. `BENCH_EVENTS=100` changes as many posts a second.

mod common;

use common::{Program, creation, fill, get_request, head, median, post};
use serde_json::json;
use std::cell::Cell;
use std::net::TcpListener;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

const POSTS: usize = 1000;
const TAGS: usize = 100;
const HOOKS: usize = 10;
const STREAMS: usize = 100;
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(3);
/// Connections that change tags, and those that change posts.
const WRITERS: usize = 16;
const TOLD: usize = 32;
const API: &str = "/cms-json/cms/v2";

/// The changes of a round a second, and their processor time.
#[derive(Default)]
struct Round {
    posts: f64,
    tags: f64,
    cpu: f64,
}

fn main() {
    let paced = std::env::var("BENCH_EVENTS").map_or(1000.0, |given| given.parse().expect("a number"));
    let (receiver, delivered) = receive();
    let heard = Arc::new(AtomicU64::new(0));
    let port = format!("outbound.ports=[{receiver}]");
    let sets: [&[&str]; 3] = [
        &["events.webhooks=false", "events.deliveries=false"],
        &[],
        &[r#"outbound.networks=["127.0.0.0/8"]"#, &port, "events.streams_of_caller=1000"],
    ];
    let folders = [(); 3].map(|()| tempfile::TempDir::new().expect("a temporary folder"));
    let sites: Vec<Program> = folders
        .iter()
        .zip(sets)
        .map(|(folder, more)| Program::start(folder.path(), &[&["events.resources.tags=[]"], more].concat()))
        .collect();
    for site in &sites {
        fill(&site.address, POSTS, |n| creation(&site.authorization, n));
        let tag = |n: usize| json!({"name": format!("Tag {n}")});
        fill(&site.address, TAGS, |n| post(&site.authorization, &format!("{API}/tags"), &tag(n)));
    }
    let told = &sites[2];
    let hook = |n: usize| json!({"name": format!("Hook {n}"), "url": format!("http://127.0.0.1:{receiver}/{n}")});
    fill(&told.address, HOOKS, |n| post(&told.authorization, "/cms-json/server/v1/webhooks", &hook(n)));
    listen(&told.address, &heard);
    let mut rounds: [Vec<Round>; 3] = Default::default();
    for n in 0..ROUNDS {
        for (at, site) in sites.iter().enumerate() {
            let before = [&delivered, &heard].map(|count| count.load(Ordering::Relaxed));
            let round = write(site, paced, n);
            let after = [&delivered, &heard].map(|count| count.load(Ordering::Relaxed));
            if at == 2 {
                let [posted, sent] = [0, 1].map(|at| (after[at] - before[at]) as f64 / ROUND.as_secs_f64());
                println!("round {n}: {posted:.0} deliveries and {sent:.0} events of streams a second");
            }
            rounds[at].push(round);
            settle(&[&delivered, &heard]);
        }
    }
    let of = |at: usize, what: fn(&Round) -> f64| median(rounds[at].iter().map(what).collect());
    println!("{:<12} {:>8} {:>8} {:>14}", "", "posts/s", "tags/s", "processor (s)");
    for (at, name) in ["off", "nobody", "10 and 100"].iter().enumerate() {
        println!("{name:<12} {:>8.0} {:>8.0} {:>14.2}", of(at, |r| r.posts), of(at, |r| r.tags), of(at, |r| r.cpu));
    }
    let whole = |at: usize| of(at, |round| round.posts + round.tags);
    println!("nobody : off {:.3}; 10 and 100 : nobody {:.3}", whole(1) / whole(0), whole(2) / whole(1));
}

/// Posts at a pace, and tags as fast as they are changed.
fn write(site: &Program, paced: f64, round: usize) -> Round {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (posts, tags, cpu, start) = (Rc::new(Cell::new(0_u32)), Rc::new(Cell::new(0_u32)), site.cpu(), Instant::now());
    let clients = LocalSet::new();
    for c in 0..WRITERS + TOLD {
        let (address, authorization) = (site.address.clone(), site.authorization.clone());
        let (own, told) = if c < TOLD { (posts.clone(), true) } else { (tags.clone(), false) };
        clients.spawn_local(async move {
            let mut socket = TcpStream::connect(address).await.expect("a connection");
            let mut buffer = Vec::new();
            for n in 0_u32.. {
                let due = Duration::from_secs_f64(f64::from(n) * TOLD as f64 / paced);
                if told {
                    tokio::time::sleep_until((start + due).into()).await;
                }
                if start.elapsed() > ROUND {
                    break;
                }
                let at = n as usize * if told { TOLD } else { WRITERS } + c;
                let request = if told {
                    let body = json!({"title": {"raw": format!("Changed {round} {at}")}});
                    post(&authorization, &format!("{API}/posts/{}", 1 + at % POSTS), &body)
                } else {
                    // The ids of tags begin behind the categories that each site has.
                    let body = json!({"description": format!("Changed {round} {at}")});
                    post(&authorization, &format!("{API}/tags/{}", 2 + at % TAGS), &body)
                };
                socket.write_all(&request).await.expect("a request");
                assert_eq!(answer(&mut socket, &mut buffer).await, 200, "{}", String::from_utf8_lossy(&buffer));
                own.set(own.get() + 1);
            }
        });
    }
    runtime.block_on(clients);
    let span = start.elapsed().as_secs_f64();
    Round { posts: f64::from(posts.get()) / span, tags: f64::from(tags.get()) / span, cpu: site.cpu() - cpu }
}

async fn answer(socket: &mut TcpStream, buffer: &mut Vec<u8>) -> u16 {
    buffer.clear();
    loop {
        assert!(socket.read_buf(buffer).await.expect("an answer") > 0, "the connection was closed");
        if let Some((status, whole)) = head(buffer)
            && buffer.len() >= whole
        {
            return status;
        }
    }
}

/// Waits until no event is sent any more.
fn settle(counts: &[&Arc<AtomicU64>]) {
    let mut before = Vec::new();
    loop {
        let now: Vec<u64> = counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        if now == before {
            return;
        }
        before = now;
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// A receiver of webhooks on a thread: its port, and how many requests it has answered.
fn receive() -> (u16, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    listener.set_nonblocking(true).expect("a listener");
    let count = Arc::new(AtomicU64::new(0));
    let own = count.clone();
    spawn(async move {
        let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
        while let Ok((mut socket, _)) = listener.accept().await {
            let own = own.clone();
            tokio::task::spawn_local(async move {
                let mut buffer = Vec::new();
                loop {
                    buffer.clear();
                    while !whole(&buffer) && socket.read_buf(&mut buffer).await.is_ok_and(|read| read > 0) {}
                    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
                    if !whole(&buffer) || socket.write_all(answer).await.is_err() {
                        break;
                    }
                    own.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    (port, count)
}

/// Whether a buffer has a request with its body.
fn whole(buffer: &[u8]) -> bool {
    let Some(end) = buffer.windows(4).position(|w| w == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&buffer[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse::<usize>().ok());
    buffer.len() >= end + 4 + length.unwrap_or(0)
}

/// Opens the streams on a thread, which counts their events.
fn listen(address: &str, heard: &Arc<AtomicU64>) {
    let (address, heard) = (address.to_owned(), heard.clone());
    spawn(async move {
        for _ in 0..STREAMS {
            let mut socket = TcpStream::connect(&address).await.expect("a connection");
            let heard = heard.clone();
            socket
                .write_all(&get_request("/cms-json/server/v1/events", "Accept: text/event-stream\r\n"))
                .await
                .expect("a request");
            tokio::task::spawn_local(async move {
                let mut chunk = vec![0; 1 << 16];
                while let Ok(read) = socket.read(&mut chunk).await
                    && read > 0
                {
                    let events = chunk[..read].windows(6).filter(|window| *window == b"\ndata:").count();
                    heard.fetch_add(events as u64, Ordering::Relaxed);
                }
            });
        }
        std::future::pending::<()>().await;
    });
}

/// Runs something on a thread of its own until the process ends.
fn spawn(work: impl Future<Output = ()> + Send + 'static) {
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        LocalSet::new().block_on(&runtime, work);
    });
}
