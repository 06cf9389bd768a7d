//! The cost of the transport: `cargo bench --bench edge 2>/dev/null`.
//!
//! A service that returns prerendered text, behind the whole of the edge, beside a bare actix-web handler that sends
//! the same body. One worker and one client thread each; rounds are interleaved, and what counts are the ratios of
//! rates. Below them: microseconds of processor time that the process spent on a request, client included, which a busy
//! machine disturbs less.

use actix_web::web::{self, Bytes};
use actix_web::{App, HttpResponse, HttpServer};
use cms_core::http::{EdgeConfig, Listeners, Service, ServiceSwap, bind, run};
use cms_core::model::{Payload, Reply, Request};
use cms_declaration::{Cors, Server, Workers};
use std::future::{Future, pending};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(700);
const CONNECTIONS: usize = 16;

struct Fixed {
    facts: EdgeConfig,
    text: Bytes,
}

impl Service for Fixed {
    fn call<'a>(&'a self, _: &'a Request) -> Pin<Box<dyn Future<Output = Reply> + 'a>> {
        Box::pin(async {
            let headers = vec![("X-CMS-Total".into(), "10".into()), ("Allow".into(), "GET".into())];
            Reply { status: 200, headers, payload: Payload::Text(self.text.clone()) }
        })
    }

    fn facts(&self) -> &EdgeConfig {
        &self.facts
    }
}

fn main() {
    println!("| body | bare actix | edge | edge and log | edge of bare | edge and log of bare | processor |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for length in [2, 1_800, 17_700] {
        let text = vec![b'1'; length];
        let servers = [bare(text.clone()), edge(text.clone(), false), edge(text, true)];
        let mut rates = [Vec::new(), Vec::new(), Vec::new()];
        let mut costs = rates.clone();
        for _ in 0..ROUNDS {
            for ((rates, costs), address) in rates.iter_mut().zip(&mut costs).zip(servers) {
                let before = processor_time();
                let (done, took) = load(address);
                rates.push(done / took);
                costs.push((processor_time() - before) * 1e6 / done);
            }
        }
        let [bare, plain, logged] = rates.map(median);
        let costs = costs.map(median).map(|cost| format!("{cost:.1}")).join(", ");
        let (of_bare, logged_of_bare) = (plain / bare, logged / bare);
        println!(
            "| {length} | {bare:.0}/s | {plain:.0}/s | {logged:.0}/s | {of_bare:.2} | {logged_of_bare:.2} | {costs} us |"
        );
    }
    // The servers have no end.
    std::process::exit(0);
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Seconds that this process has spent on processors (Linux; elsewhere 0).
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn bare(text: Vec<u8>) -> SocketAddr {
    let listener = bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound");
    std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let app = move || {
                let text = text.clone();
                App::new().route(
                    "/cms-json/cms/v2/posts",
                    web::get().to(move || {
                        let text = text.clone();
                        async move { HttpResponse::Ok().content_type("application/json; charset=UTF-8").body(text) }
                    }),
                )
            };
            HttpServer::new(app).workers(1).listen(listener)?.run().await
        })
    });
    address
}

fn edge(text: Vec<u8>, access_log: bool) -> SocketAddr {
    let facts = EdgeConfig {
        rest_path: "/cms-json".into(),
        base: String::new(),
        rest_url: "http://site.example/cms-json".into(),
        prefix: "cms".into(),
        server: Server { workers: Workers::Number(1), access_log, ..Server::default() },
        cors: Cors { any: true, ..Cors::default() },
        media: cms_declaration::Media::default(),
        jsonp: true,
        strict_route_parameter: false,
        full_no_cache: false,
        noindex: false,
    };
    let listener = bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound");
    std::thread::spawn(move || {
        run(
            Arc::new(ServiceSwap::new(Arc::new(Fixed { facts, text: text.into() }))),
            Listeners::of(listener, None),
            pending(),
            || {},
        )
    });
    address
}

/// Requests over some connections of one thread, and seconds.
fn load(address: SocketAddr) -> (f64, f64) {
    const REQUEST: &[u8] = b"GET /cms-json/cms/v2/posts?per_page=10 HTTP/1.1\r\nHost: bench\r\n\
        Accept: application/json\r\nUser-Agent: bench\r\nAccept-Encoding: gzip\r\n\r\n";
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let start = Instant::now();
    let end = start + ROUND;
    let local = tokio::task::LocalSet::new();
    let tasks = (0..CONNECTIONS).map(|_| {
        local.spawn_local(async move {
            let mut stream = tokio::net::TcpStream::connect(address).await.expect("it listens");
            stream.set_nodelay(true).expect("a socket");
            let mut buffer = vec![0; 64 << 10];
            let (mut done, mut length) = (0_u64, 0);
            while Instant::now() < end {
                stream.write_all(REQUEST).await.expect("it reads");
                let mut read = 0;
                while length == 0 || read < length {
                    read += stream.read(&mut buffer[read..]).await.expect("it answers");
                    length = length.max(answer_length(&buffer[..read]));
                }
                done += 1;
            }
            done
        })
    });
    let tasks: Vec<_> = tasks.collect();
    let done: u64 = runtime.block_on(local.run_until(async {
        let mut done = 0;
        for task in tasks {
            done += task.await.expect("no panic");
        }
        done
    }));
    (done as f64, start.elapsed().as_secs_f64())
}

/// Length of the first response with its head, once that is there. Request ids of a run are about equally long.
fn answer_length(bytes: &[u8]) -> usize {
    let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") else { return 0 };
    let head = String::from_utf8_lossy(&bytes[..end]);
    let length = head.lines().find_map(|l| l.strip_prefix("content-length: ")?.parse::<usize>().ok());
    end + 4 + length.unwrap_or(0)
}
