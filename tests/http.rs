//! The edge over real sockets, with a tiny service behind it: what clients see when they are odd, slow or hostile.

#[path = "common/free_port.rs"]
mod free_port;

use cms_base::metrics::Reading;
use cms_core::http::{EdgeConfig, Listeners, Service, ServiceSwap, bind, run, termination};
use cms_core::model::{Payload, Reply, Request};
use cms_declaration::units::{self, OptionalSetting, Size};
use cms_declaration::{Cors, Server, Workers};
use free_port::free_address;
use serde_json::{Value, json};
use std::future::Future;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::pin::Pin;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// More than fits into the buffers of sockets.
const LARGE: usize = 32 << 20;

/// Returns its request; `/panic`, `/slow` and `/large` do what they are called.
struct Echo {
    facts: EdgeConfig,
    name: &'static str,
}

impl Service for Echo {
    fn call<'a>(&'a self, request: &'a Request) -> Pin<Box<dyn Future<Output = Reply> + 'a>> {
        Box::pin(async move {
            match request.path.as_str() {
                "/panic" => panic!("asked to"),
                "/slow" => tokio::time::sleep(Duration::from_millis(600)).await,
                "/large" => {
                    let payload = Payload::Text(vec![b'1'; LARGE].into());
                    return Reply { status: 200, headers: Vec::new(), payload };
                }
                _ => {}
            }
            let headers = vec![
                ("X-CMS-Total".into(), "7".into()),
                ("Link".into(), "<http://x/2>; rel=\"next\"".into()),
                ("X-Broken".into(), "a\r\nInjected: b".into()),
            ];
            let payload = Payload::Json(json!({
                "service": self.name,
                "method": request.method.as_str(),
                "path": request.path,
                "raw_query": request.raw_query,
                "query": request.query,
                "body": request.body.len(),
                "ip": request.peer.ip.map(|ip| ip.to_string()),
                "https": request.peer.https,
                "odd": request.header("x-odd"),
            }));
            Reply { status: 200, headers, payload }
        })
    }

    fn facts(&self) -> &EdgeConfig {
        &self.facts
    }

    fn health(&self) -> Result<String, String> {
        if self.name == "sick" { Err("the disk is full".into()) } else { Ok(String::new()) }
    }

    fn readings(&self) -> Vec<Reading> {
        vec![Reading::gauge("cms_server_write_queue", &[], 3.0)]
    }
}

fn echo(name: &'static str, change: impl FnOnce(&mut EdgeConfig)) -> Arc<dyn Service> {
    let mut facts = EdgeConfig {
        rest_path: "/cms-json".into(),
        base: String::new(),
        rest_url: "http://site.example/cms-json".into(),
        prefix: "cms".into(),
        server: Server {
            workers: Workers::Number(1),
            max_body: Size::bytes_of(1000),
            max_query: Size::bytes_of(2000),
            max_depth: 8,
            read_timeout: units::Duration::seconds_of(1),
            keep_alive: OptionalSetting::on(units::Duration::seconds_of(30)),
            shutdown_timeout: units::Duration::seconds_of(30),
            access_log: false,
            trusted_proxies: vec!["127.0.0.0/8".into()],
            ..Server::default()
        },
        cors: Cors { reflect: true, ..Cors::default() },
        media: cms_declaration::Media::default(),
        jsonp: true,
        strict_route_parameter: false,
        full_no_cache: false,
        noindex: false,
    };
    change(&mut facts);
    Arc::new(Echo { facts, name })
}

struct Running {
    address: SocketAddr,
    services: Arc<ServiceSwap>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Running {
    fn start() -> Running {
        Running::start_with(|_| {})
    }

    fn start_with(change: impl FnOnce(&mut EdgeConfig)) -> Running {
        let listener = bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound socket");
        let services = Arc::new(ServiceSwap::new(echo("first", change)));
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let served = Arc::clone(&services);
        let admin = services.load().facts().server.admin_listen.get().map(|a| bind(a).expect("a free address"));
        let thread = std::thread::spawn(move || {
            let stop = async move {
                let _ = stopped.await;
            };
            run(served, Listeners::of(listener, admin), stop, || {})
        });
        Running { address, services, stop: Some(stop), thread: Some(thread) }
    }

    fn connect(&self) -> TcpStream {
        connect(self.address)
    }

    /// One request on a connection of its own.
    fn ask(&self, head: &str) -> Answer {
        let mut stream = self.connect();
        send(&mut stream, head.as_bytes(), b"");
        read(&mut stream, head.starts_with("HEAD"))
    }

    fn get(&self, target: &str) -> Answer {
        self.ask(&format!("GET {target} HTTP/1.1"))
    }

    fn signal(&mut self) {
        drop(self.stop.take());
    }

    fn end(&mut self) {
        self.signal();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the server does not panic").expect("the server ends well");
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.end();
        }
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(8))).expect("a socket");
    stream
}

/// Sends a head without its `Host` and blank line, and a body.
fn send(stream: &mut TcpStream, head: &[u8], body: &[u8]) {
    let bytes = [head, b"\r\nHost: x\r\n\r\n", body].concat();
    stream.write_all(&bytes).expect("the server reads");
}

#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        found.find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// Reads one response and leaves the connection open.
fn read(stream: &mut TcpStream, without_body: bool) -> Answer {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).expect("an answer in time") == 0 {
            panic!("the connection ended after {:?}", String::from_utf8_lossy(&bytes));
        }
        bytes.push(byte[0]);
    }
    let head = String::from_utf8(bytes).expect("heads are ASCII");
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).expect("a status line");
    let mut answer = Answer { status, head, body: String::new() };
    let length = answer.header("content-length").and_then(|v| v.parse().ok()).unwrap_or(0);
    if !without_body {
        let mut body = vec![0; length];
        stream.read_exact(&mut body).expect("a whole body");
        answer.body = String::from_utf8(body).expect("bodies are UTF-8");
    }
    answer
}

/// Whether the server has closed the connection, cleanly or not, without another byte.
fn is_closed(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

#[test]
fn every_answer_of_the_api_carries_its_headers() {
    let server = Running::start();
    let answer = server.get("/cms-json/cms/v2/caf%C3%A9?a[]=1&a[]=2");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["path"], "/cms/v2/café");
    assert_eq!(answer.json()["query"], json!({"a": ["1", "2"]}));
    for (name, value) in [
        ("content-type", "application/json; charset=UTF-8"),
        ("x-content-type-options", "nosniff"),
        ("x-robots-tag", "noindex"),
        ("link", "<http://x/2>; rel=\"next\", <http://site.example/cms-json/>; rel=\"https://api.w.org/\""),
        ("x-cms-total", "7"),
        ("vary", "Origin"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }
    for absent in ["cache-control", "x-broken", "injected", "access-control-allow-origin"] {
        assert_eq!(answer.header(absent), None, "{absent}");
    }
    let other = server.ask("GET /cms-json HTTP/1.1\r\nAuthorization: Basic eA==");
    assert_eq!(other.json()["path"], "/");
    assert_eq!(other.header("cache-control"), Some("no-store, private"));
    assert!(other.header("x-request-id").is_some());
    assert_ne!(other.header("x-request-id"), answer.header("x-request-id"));
}

#[test]
fn head_is_get_without_a_body() {
    let server = Running::start();
    let mut stream = server.connect();
    let plain = server.get("/cms-json/x");
    for target in ["/cms-json/x", "/cms-json"] {
        send(&mut stream, format!("HEAD {target} HTTP/1.1").as_bytes(), b"");
        let answer = read(&mut stream, true);
        assert_eq!(answer.status, 200);
        assert!(answer.header("link").is_some_and(|link| link.contains("rel=\"https://api.w.org/\"")));
        assert_eq!(answer.header("content-type"), Some("application/json; charset=UTF-8"));
    }
    // The same connection is reused, so no body was left on it.
    send(&mut stream, b"GET /cms-json/x HTTP/1.1", b"");
    let answer = read(&mut stream, false);
    assert_eq!(answer.json()["method"], "GET");
    assert_eq!(answer.header("content-length"), plain.header("content-length"));
}

#[test]
fn a_post_that_asks_to_be_head_gets_no_body() {
    let server = Running::start();
    let answer = server.ask("POST /cms-json/x?_method=HEAD HTTP/1.1\r\nContent-Length: 0");
    assert_eq!((answer.status, answer.body.as_str()), (200, ""));
    assert_eq!(answer.header("content-type"), Some("application/json; charset=UTF-8"));
}

#[test]
fn addresses() {
    let server = Running::start();
    let answer = server.get("/?rest_route=/cms/v2/posts&page=2");
    assert_eq!(answer.json()["path"], "/cms/v2/posts");
    assert_eq!(answer.json()["raw_query"], "page=2");
    assert_eq!(answer.json()["query"], json!({"page": "2"}));
    assert_eq!(server.get("/index.php?rest_route=%2Fx").json()["path"], "/x");
    let missing = server.ask("GET /wp-login.php HTTP/1.1\r\nOrigin: https://a.example");
    assert_eq!((missing.status, missing.header("access-control-allow-origin")), (404, None));
    assert_eq!((missing.code().as_str(), missing.header("link")), ("rest_no_route", None));
}

#[test]
fn what_cannot_be_read_is_refused() {
    let server = Running::start();
    for target in ["/cms-json/%ff", "/cms-json/%00", "/cms-json/x?a=%ff", "/cms-json/x?a=%00", "/?rest_route=%ff"] {
        let answer = server.get(target);
        assert_eq!((answer.status, answer.code().as_str()), (400, "rest_bad_request"), "{target}");
    }
    let deep = format!("/cms-json/x?a{}=1", "[b]".repeat(20));
    assert_eq!(server.get(&deep).status, 400);
    let answer = server.get(&format!("/cms-json/x?a={}", "b".repeat(3000)));
    assert_eq!((answer.status, answer.code().as_str()), (414, "rest_uri_too_long"));
    let answer = server.ask("BREW /cms-json/x HTTP/1.1");
    assert_eq!((answer.status, answer.code().as_str()), (404, "rest_no_route"));
    let mut odd = server.connect();
    send(&mut odd, b"GET /cms-json/x HTTP/1.1\r\nX-Odd: a\xffb", b"");
    assert_eq!(read(&mut odd, false).json()["odd"], "a\u{fffd}b");
    assert_eq!(server.get("/cms-json/x").status, 200);
}

#[test]
fn what_people_type_into_an_address_is_read() {
    let server = Running::start();
    for (typed, encoded) in [
        ("/cms-json/x?search=Grüße", "/cms-json/x?search=Gr%C3%BC%C3%9Fe"),
        ("/cms-json/größe/日本", "/cms-json/gr%C3%B6%C3%9Fe/%E6%97%A5%E6%9C%AC"),
        ("/cms-json/x?a=<b>\"c\"`d`&e=%C3%BC+ü", "/cms-json/x?a=%3Cb%3E%22c%22%60d%60&e=%C3%BC+%C3%BC"),
    ] {
        let (typed, encoded) = (server.get(typed), server.get(encoded));
        assert_eq!((typed.status, &typed.body), (200, &encoded.body));
    }
    let bytes = |line: &[u8]| {
        let mut stream = server.connect();
        send(&mut stream, line, b"");
        read(&mut stream, false)
    };
    assert_eq!(bytes(b"GET /cms-json/x?a=\xff\xfe HTTP/1.1").code(), "rest_bad_request", "no text at all");
    // A request that becomes longer than actix has room for at once arrives whole, with what follows it.
    let mut stream = server.connect();
    for (length, status) in [(50, 200), (300, 200), (12_000, 414), (20_000, 414)] {
        let text = "ü".repeat(length);
        let head = format!("POST /cms-json/x?a={text} HTTP/1.1\r\nContent-Length: 3");
        send(&mut stream, head.as_bytes(), b"abc");
        let answer = read(&mut stream, false);
        assert_eq!(answer.status, status, "{length}");
        match status {
            200 => assert_eq!((&answer.json()["query"], &answer.json()["body"]), (&json!({"a": text}), &json!(3))),
            _ => stream = server.connect(),
        }
    }
    // A line that arrives byte by byte.
    let mut stream = server.connect();
    stream.set_nodelay(true).expect("a socket");
    for byte in "GET /cms-json/x?a=ü<\u{1F600} HTTP/1.1\r\nHost: x\r\nX-Odd: ü\r\n\r\n".as_bytes() {
        stream.write_all(&[*byte]).expect("the server reads");
    }
    let answer = read(&mut stream, false).json();
    assert_eq!((&answer["query"], &answer["odd"]), (&json!({"a": "ü<\u{1F600}"}), &json!("ü")));
}

#[test]
fn jsonp_and_pretty() {
    let server = Running::start();
    let answer = server.get("/cms-json/x?_jsonp=a.b");
    assert!(answer.body.starts_with("/**/a.b({") && answer.body.ends_with("})"), "{}", answer.body);
    assert_eq!(answer.header("content-type"), Some("application/javascript; charset=UTF-8"));
    let answer = server.get("/cms-json/x?_jsonp=alert(1)");
    assert_eq!((answer.status, answer.code().as_str()), (400, "rest_callback_invalid"));
    assert_eq!(answer.json().get("data"), None);
    assert_eq!(answer.header("content-type"), Some("application/javascript; charset=UTF-8"));
    assert!(server.get("/cms-json/panic?_jsonp=f").body.starts_with("/**/f({\"code\":\"internal_server_error\""));
    assert!(server.get("/cms-json/x?_pretty").body.starts_with("{\n  \"service\""));
    server.services.store(echo("second", |facts| facts.jsonp = false));
    let answer = server.get("/cms-json/x?_jsonp=f");
    assert_eq!((answer.status, answer.code().as_str()), (400, "rest_callback_disabled"));
}

#[test]
fn cors_is_for_the_api() {
    let server = Running::start();
    let answer = server.ask("OPTIONS /cms-json/x HTTP/1.1\r\nOrigin: https://a.example");
    assert_eq!(answer.json()["method"], "OPTIONS");
    for (name, value) in [
        ("access-control-allow-origin", "https://a.example"),
        ("access-control-allow-credentials", "true"),
        ("access-control-allow-methods", "OPTIONS, GET, POST, PUT, PATCH, DELETE"),
        ("access-control-expose-headers", "X-CMS-Total, X-CMS-TotalPages, Link"),
        ("access-control-allow-headers", "Authorization, X-CMS-Nonce, Content-Disposition, Content-MD5, Content-Type"),
        ("vary", "Origin"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }
    let error = server.ask("GET /cms-json/panic HTTP/1.1\r\nOrigin: https://a.example");
    assert_eq!((error.status, error.header("access-control-allow-origin")), (500, Some("https://a.example")));
}

#[test]
fn a_large_body_is_refused() {
    let server = Running::start();
    let mut stream = server.connect();
    send(&mut stream, b"POST /cms-json/x HTTP/1.1\r\nContent-Length: 1000", &[b'x'; 1000]);
    assert_eq!(read(&mut stream, false).json()["body"], 1000);
    // Announced, and really on its way: the response must arrive although the body is never read.
    let mut stream = server.connect();
    let mut writer = stream.try_clone().expect("a socket");
    let sender = std::thread::spawn(move || {
        let _ = writer.write_all(b"POST /cms-json/x HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n");
        let _ = writer.write_all(&vec![b'x'; 8_000_000]);
    });
    let answer = read(&mut stream, false);
    assert_eq!((answer.status, answer.code().as_str()), (413, "rest_payload_too_large"));
    assert!(is_closed(&mut stream));
    sender.join().expect("the sender ends");
    let mut stream = server.connect();
    let chunks = [b"400\r\n".as_slice(), &[b'x'; 1024], b"\r\n0\r\n\r\n"].concat();
    send(&mut stream, b"POST /cms-json/x HTTP/1.1\r\nTransfer-Encoding: chunked", &chunks);
    let answer = read(&mut stream, false);
    assert_eq!((answer.status, answer.code().as_str()), (413, "rest_payload_too_large"));
}

#[test]
fn a_panic_ends_its_request_only() {
    let server = Running::start();
    let mut stream = server.connect();
    for _ in 0..3 {
        send(&mut stream, b"GET /cms-json/panic HTTP/1.1", b"");
        let answer = read(&mut stream, false);
        assert_eq!((answer.status, answer.code().as_str()), (500, "internal_server_error"));
        assert!(!answer.body.contains("asked to"));
        send(&mut stream, b"GET /cms-json/x HTTP/1.1", b"");
        assert_eq!(read(&mut stream, false).status, 200);
    }
}

#[test]
fn slow_clients_are_let_go() {
    let server = Running::start();
    let trickle = |first: &[u8]| {
        let mut stream = server.connect();
        stream.write_all(first).expect("the server reads");
        let started = Instant::now();
        let mut writer = stream.try_clone().expect("a socket");
        let dripping = std::thread::spawn(move || {
            for _ in 0..100 {
                std::thread::sleep(Duration::from_millis(200));
                if writer.write_all(b"x").is_err() {
                    return;
                }
            }
        });
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        // The limit is one second; a loaded machine adds to it, and the client would go on for twenty.
        assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
        dripping.join().expect("the client ends");
        String::from_utf8_lossy(&answer).into_owned()
    };
    std::thread::scope(|scope| {
        let head = scope.spawn(|| trickle(b"GET /cms-json/x HTTP/1.1\r\nX-Slow: "));
        let body =
            scope.spawn(|| trickle(b"POST /cms-json/x HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{\"a\":\""));
        let head = head.join().expect("no panic");
        assert!(head.starts_with("HTTP/1.1 408"), "{head}");
        let body = body.join().expect("no panic");
        assert!(body.starts_with("HTTP/1.1 408") && body.contains("rest_request_timeout"), "{body}");
    });
}

#[test]
fn proxies_are_believed_when_declared() {
    let server = Running::start();
    let head = "GET /cms-json/x HTTP/1.1\r\nX-Forwarded-For: 6.6.6.6, 1.2.3.4\r\nX-Forwarded-Proto: https";
    let answer = server.ask(head).json();
    assert_eq!((&answer["ip"], &answer["https"]), (&json!("1.2.3.4"), &json!(true)));
    server.services.store(echo("second", |facts| facts.server.trusted_proxies.clear()));
    let answer = server.ask(head).json();
    assert_eq!((&answer["ip"], &answer["https"]), (&json!("127.0.0.1"), &json!(false)));
}

#[test]
fn a_running_request_keeps_its_service_through_a_swap() {
    let server = Running::start();
    let mut slow = server.connect();
    send(&mut slow, b"GET /cms-json/slow HTTP/1.1", b"");
    std::thread::sleep(Duration::from_millis(150));
    server.services.store(echo("second", |_| {}));
    assert_eq!(server.get("/cms-json/x").json()["service"], "second");
    assert_eq!(read(&mut slow, false).json()["service"], "first");
}

#[test]
fn shutdown_lets_requests_finish() {
    let mut server = Running::start();
    let mut idle = server.connect();
    send(&mut idle, b"GET /cms-json/x HTTP/1.1", b"");
    assert_eq!(read(&mut idle, false).status, 200);
    let mut slow = server.connect();
    send(&mut slow, b"GET /cms-json/slow HTTP/1.1", b"");
    std::thread::sleep(Duration::from_millis(150));
    let started = Instant::now();
    server.signal();
    assert_eq!(read(&mut slow, false).status, 200);
    server.end();
    // An idle connection would hold the end up for `shutdown_timeout`, 30 seconds; a loaded machine adds to what it takes.
    assert!(started.elapsed() < Duration::from_secs(20), "an idle connection held it up: {:?}", started.elapsed());
    assert!(TcpStream::connect(server.address).is_err());
}

/// Sends bytes now and then until the server responds or has had enough.
fn drip(stream: &mut TcpStream, bytes: &[u8]) -> Duration {
    let started = Instant::now();
    stream.set_nonblocking(true).expect("a socket");
    for byte in bytes.iter().cycle() {
        let answered = stream.peek(&mut [0]).is_ok();
        if answered || started.elapsed() > Duration::from_secs(20) || stream.write_all(&[*byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    stream.set_nonblocking(false).expect("a socket");
    started.elapsed()
}

#[test]
fn every_head_has_to_come_in_time() {
    const HEAD: &[u8] = b"GET /cms-json/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    let server = Running::start();
    let in_time = |took: Duration| assert!((900..15_000).contains(&took.as_millis()), "{took:?}");
    let refused = |stream: &mut TcpStream| {
        in_time(drip(stream, HEAD));
        let answer = read(stream, false);
        assert_eq!((answer.status, answer.code().as_str()), (408, "rest_request_timeout"));
        assert!(is_closed(stream));
    };
    let first = || refused(&mut server.connect());
    let second = || {
        let mut stream = server.connect();
        send(&mut stream, b"GET /cms-json/x HTTP/1.1", b"");
        assert_eq!(read(&mut stream, false).status, 200);
        refused(&mut stream);
    };
    let silent = || {
        let (mut stream, started) = (server.connect(), Instant::now());
        assert!(is_closed(&mut stream));
        in_time(started.elapsed());
    };
    std::thread::scope(|scope| {
        for one in [scope.spawn(first), scope.spawn(second), scope.spawn(silent)] {
            one.join().expect("no panic");
        }
    });
    // A request is answered while slow ones before it are still waited for. They have a second, which a loaded machine may
    // need for less, so one round of some has to show it.
    let overtakes = || {
        let slow: Vec<TcpStream> = (0..8).map(|_| server.connect()).collect();
        assert_eq!(server.get("/cms-json/x").status, 200);
        slow.iter().all(|stream| {
            stream.set_nonblocking(true).expect("a socket");
            stream.peek(&mut [0]).is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
        })
    };
    assert!((0..20).any(|_| overtakes()), "a request waits for the slow ones");
}

#[test]
fn answers_have_to_be_taken_in_time() {
    let server = Running::start();
    let mut idle = server.connect();
    send(&mut idle, b"GET /cms-json/large HTTP/1.1", b"");
    let mut slow = server.connect();
    send(&mut slow, b"GET /cms-json/large HTTP/1.1", b"");
    // Who takes it slowly gets all of it.
    let mut some = vec![0; LARGE / 32];
    for _ in 0..32 {
        std::thread::sleep(Duration::from_millis(70));
        slow.read_exact(&mut some).expect("there is more");
    }
    // Who takes nothing gets what was under way when the server lost its patience.
    let mut taken = Vec::new();
    let _ = idle.read_to_end(&mut taken);
    assert!(taken.len() < LARGE, "the server has stopped sending");
}

#[test]
fn heads_that_cannot_be_read_are_refused_with_words() {
    let server = Running::start();
    let check = |bytes: &[u8], status: u16, code: &str| {
        let mut stream = server.connect();
        let _ = stream.write_all(bytes);
        let answer = read(&mut stream, false);
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{start}");
        assert!(is_closed(&mut stream), "{start}");
    };
    let long = "1,".repeat(400_000);
    check(format!("GET /cms-json/?include={long} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes(), 414, "rest_uri_too_long");
    check(format!("GET / HTTP/1.1\r\nX-Long: {long}\r\n\r\n").as_bytes(), 431, "rest_head_too_large");
    for garbage in [
        &b"nonsense\r\n\r\n"[..],
        b"GET /\0 HTTP/1.1\r\n\r\n",
        b"GET /cms-json/ HTTP/1.1\r\nX\0: y\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"\x16\x03\x01\x00\xff\r\n\r\n",
    ] {
        check(garbage, 400, "rest_bad_request");
    }
    assert_eq!(server.get("/cms-json/x").status, 200);
}

#[test]
fn requests_on_one_connection_are_answered_in_order() {
    let server = Running::start();
    let mut stream = server.connect();
    let many: String = (0..40)
        .map(|i| match i % 3 {
            0 => format!("GET /cms-json/{i} HTTP/1.1\r\nHost: x\r\n\r\n"),
            1 => format!("POST /cms-json/{i} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab"),
            _ => format!(
                "PUT /cms-json/{i} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"
            ),
        })
        .collect();
    stream.write_all(many.as_bytes()).expect("the server reads");
    for i in 0..40 {
        let answer = read(&mut stream, false).json();
        assert_eq!((&answer["path"], &answer["body"]), (&json!(format!("/{i}")), &json!([0, 2, 1][i % 3])));
    }
}

#[test]
fn odd_bodies() {
    let server = Running::start();
    // A response although no body arrives.
    let announced = server.ask("POST /cms-json/x HTTP/1.1\r\nContent-Length: 999999999999");
    assert_eq!((announced.status, announced.code().as_str()), (413, "rest_payload_too_large"));
    let mut broken = server.connect();
    send(&mut broken, b"POST /cms-json/x HTTP/1.1\r\nTransfer-Encoding: chunked", b"zz\r\nabc\r\n");
    let answer = read(&mut broken, false);
    assert_eq!((answer.status, answer.code().as_str()), (400, "rest_bad_request"));
    let mut leaving = server.connect();
    send(&mut leaving, b"POST /cms-json/x HTTP/1.1\r\nContent-Length: 50", b"abc");
    leaving.shutdown(std::net::Shutdown::Write).expect("a socket");
    assert_eq!(read(&mut leaving, false).code(), "rest_bad_request");
    assert_eq!(server.get("/cms-json/x").status, 200);
}

/// The process that the next test starts; alone it does nothing.
#[test]
fn serve_until_signalled() {
    let Ok(address) = std::env::var("EDGE_TEST_ADDRESS") else { return };
    let listener = bind(&address).expect("the port was free just now");
    run(Arc::new(ServiceSwap::new(echo("child", |_| {}))), Listeners::of(listener, None), termination(), || {})
        .expect("the server ends well");
}

#[cfg(unix)]
#[test]
fn sigterm_and_sigint_end_the_server_gracefully() {
    for signal in ["-TERM", "-INT"] {
        let address = free_address();
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "serve_until_signalled"])
            .env("EDGE_TEST_ADDRESS", address.to_string())
            .stdout(Stdio::null())
            .spawn()
            .expect("a process");
        let mut slow = (0..100)
            .find_map(|_| {
                std::thread::sleep(Duration::from_millis(30));
                TcpStream::connect(address).ok()
            })
            .expect("the child listens");
        send(&mut slow, b"GET /cms-json/slow HTTP/1.1", b"");
        std::thread::sleep(Duration::from_millis(200));
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(kill.is_ok_and(|status| status.success()));
        assert_eq!(read(&mut slow, false).status, 200);
        assert!(child.wait().is_ok_and(|status| status.success()), "{signal}");
    }
}

#[test]
fn operators_have_a_listener_of_their_own() {
    let admin = free_address();
    let server = Running::start_with(|facts| facts.server.admin_listen = OptionalSetting::on(admin.to_string()));
    server.get("/cms-json/x");
    server.get("/nothing");
    let ask = |target: &str| {
        let mut stream = connect(admin);
        send(&mut stream, format!("GET {target} HTTP/1.1").as_bytes(), b"");
        read(&mut stream, false)
    };
    assert_eq!((ask("/health").status, ask("/health").body.as_str()), (200, "ok\n"));
    let metrics = ask("/metrics").body;
    assert!(metrics.contains("cms_server_http_requests_total{method=\"GET\",status=\"2xx\"} 1"), "{metrics}");
    assert!(metrics.contains("cms_server_http_requests_total{method=\"GET\",status=\"4xx\"} 1"), "{metrics}");
    assert!(
        metrics.contains("cms_server_http_in_flight 0") && metrics.contains("cms_server_write_queue 3"),
        "{metrics}"
    );
    assert_eq!(server.get("/metrics").status, 404);
    server.services.store(echo("sick", |_| {}));
    assert_eq!((ask("/health").status, ask("/health").body.as_str()), (503, "the disk is full\n"));
}

#[test]
fn a_port_in_use_is_named() {
    let taken = bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("a bound socket").to_string();
    let error = bind(&address).expect_err("it is taken");
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
    assert!(error.to_string().contains(&address), "{error}");
    assert!(bind("nonsense").is_err());
}
