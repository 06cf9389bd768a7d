//! Whether one caller can take the program's memory or time from others: `cargo bench --bench budget`; `BENCH_BUDGET=5` for
//! five seconds an attack instead of thirty, `BENCH_ONLY=search` for those whose name contains a word.
//!
//! Four connections (eighty where the number is what was expensive) send one kind of request that was expensive once, beside a client that reads lists and items and
//! writes posts. It fails when the memory of the process grows by more than 64 MB beyond full caches, when the 99th
//! percentile of the other client's times exceeds 250 ms, or when an attack gets a server error other than 503. The
//! first row is the other client alone: what the machine itself needs.

mod common;

use common::{Program, answer, creation, post};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const API: &str = "/cms-json/cms/v2";
const POSTS: usize = 1000;
const ATTACKERS: usize = 4;
const GROWTH: u64 = 64 << 20;
const SLOWEST: Duration = Duration::from_millis(250);

/// The site as an attack knows it.
struct Site {
    authorization: String,
    /// A page whose content requests far more than it contains.
    nested: i64,
    /// One that lists every month and counts it, as often as it may.
    archives: i64,
    /// One that shows the excerpts of long records.
    excerpts: i64,
    /// Those that are long themselves.
    long: Vec<i64>,
    /// A page behind a password.
    locked: i64,
    /// The credentials of a user of the lowest role, and the user's id.
    reader: String,
    reader_id: i64,
}

/// Makes the n-th request.
type Attack = fn(&Site, usize) -> Vec<u8>;

const ATTACKS: &[(&str, Attack)] = &[
    ("search of twenty words", |_, n| search(n, 20)),
    ("search of 900 words", |_, n| search(n, 900)),
    ("search of letters", |_, n| reading(&format!("posts?search={}", ["a", "e", "th", "in"][n % 4]))),
    ("lists of numbers", |_, n| reading(&format!("posts?exclude={}&include={}", numbers(n, 100), numbers(n + 7, 100)))),
    ("thousands of fields", |_, n| reading(&format!("posts?_fields={}", words(n, 3_000, ',')))),
    ("distinct questions", |_, n| reading(&format!("posts?per_page=100&_embed=1&x={n}&offset={}", n % 900))),
    ("thousands of parameters", |_, n| reading(&format!("posts?{}", words(n, 4_000, '&')))),
    ("deep parameters", |_, n| reading(&format!("posts?a{}={n}", "[b]".repeat(2_000)))),
    ("long logins in a form", |_, n| form("/login", &format!("login={}{n}&password=x", "\u{130}".repeat(30_000)))),
    ("many logins", |_, n| basic(&format!("nobody-{n}"), "a wrong password")),
    ("long logins", |_, n| basic(&format!("{}{n}", "a".repeat(40_000)), "x")),
    ("long passwords", |_, n| form("/login", &format!("login=admin&password={}{n}", "p".repeat(1 << 20)))),
    ("passwords of a post", |site, n| reading(&format!("pages/{}?password=guess-{n}", site.locked))),
    ("XML-RPC with commas", |_, n| rpc("wp.getOptions", &[&n.to_string(), "x", "y", &",".repeat(400_000)])),
    ("XML-RPC with many calls", |_, n| multicall(n)),
    ("XML-RPC with deep values", |_, _| xml(&"<array><data><value>".repeat(20_000))),
    ("large bodies", |site, n| {
        let comment = json!({"content": "&<[\"'".repeat(400_000), "post": n});
        post(&site.authorization, &format!("{API}/comments"), &comment)
    }),
    ("deep bodies", |_, _| body(&format!("{API}/comments"), "application/json", &"[".repeat(1 << 20))),
    ("bodies of many values", |site, _| {
        post(&site.authorization, &format!("{API}/posts"), &Value::Array(vec![json!(0); 1 << 20]))
    }),
    ("forms of many fields", |_, n| body(&format!("{API}/posts"), FORM, &words(n, 100_000, '&'))),
    ("a form of all fields that are read", |_, n| body(&format!("{API}/posts"), FORM, &words(n, 10_000, '&'))),
    ("a body of all values that are read", |_, n| {
        let members: Map<String, Value> = (0..MOST_VALUES).map(|k| (format!("w{n}x{k}"), json!(0))).collect();
        post("", &format!("{API}/posts"), &Value::Object(members))
    }),
    ("batches of searches", |_, n| batch(n)),
    ("a content of queries in queries", |site, n| reading(&format!("pages/{}?x={n}", site.nested))),
    ("a content of archives", |site, n| reading(&format!("pages/{}?x={n}", site.archives))),
    ("a content of long excerpts", |site, n| reading(&format!("pages/{}?x={n}", site.excerpts))),
    ("long contents", |site, n| reading(&format!("pages/{}?x={n}", site.long[n % site.long.len()]))),
    ("ranges and tags", |_, n| {
        let many = (0..2_000).map(|k| format!("{k}-{}", k + n)).collect::<Vec<_>>().join(",");
        format!("GET {API}/posts HTTP/1.1\r\nHost: b\r\nRange: bytes={many}\r\nIf-None-Match: {many}\r\n\r\n")
            .into_bytes()
    }),
    ("pictures with huge profiles", |site, n| picture(&site.authorization, n)),
    ("pictures with many profiles", |site, n| profiles(&site.authorization, n)),
    ("pictures of repeated descriptions", |site, n| upload(&site.authorization, "avif", n, repeated(2_000, 2_000, 4))),
    ("films of overlapping places", |site, n| upload(&site.authorization, "mp4", n, repeated(1, 60, 60))),
    ("transactions of own passwords", |site, n| {
        transaction(
            site,
            n,
            |site, n| json!({"method": "POST", "path": format!("/cms/v2/users/{}", site.reader_id), "body": {"password": format!("long enough {n}")}}),
        )
    }),
    ("transactions of own names", |site, n| {
        transaction(
            site,
            n,
            |site, n| json!({"method": "POST", "path": format!("/cms/v2/users/{}", site.reader_id), "body": {"nickname": format!("R{n}")}}),
        )
    }),
    ("own passwords", |site, n| {
        let body = json!({"password": format!("long enough {n}")});
        post(&site.reader, &format!("{API}/users/{}", site.reader_id), &body)
    }),
    ("own addresses", |site, n| {
        let body = json!({"email": format!("victim{n}@elsewhere.example")});
        post(&site.reader, &format!("{API}/users/{}", site.reader_id), &body)
    }),
    ("notices to an account", |site, n| {
        let passwords = format!("{API}/users/{}/application-passwords", site.reader_id);
        let body = json!({"name": format!("Program {n}")});
        let request = post(&site.reader, &passwords, &body);
        if n % 50 < 49 { request } else { [b"DELETE", &request[4..]].concat() }
    }),
    ("descriptions for a caller", |site, n| {
        let namespace = ["", "cms/v2", "server/v1", "oembed/1.0", "abilities/v1"][n % 5];
        let query = format!("for=me&_pretty&format={}&namespace={namespace}", ["json", "yaml"][n / 5 % 2]);
        let authorization = &site.reader;
        format!("GET /cms-json/openapi.json?{query} HTTP/1.1\r\nHost: b\r\nAuthorization: {authorization}\r\n\r\n")
            .into_bytes()
    }),
];

/// Attacks by many connections; and bytes of a body that each sends after the request and then leaves unfinished.
const CROWDS: &[(&str, Attack, usize)] = &[
    ("bodies that are not sent to the end", |_, _| unfinished("", &format!("{API}/posts")), UNFINISHED),
    ("calls that are not sent to the end", |_, _| unfinished("", "/xmlrpc.php"), UNFINISHED),
    ("bodies of a user, not sent to the end", |site, _| unfinished(&site.reader, &format!("{API}/posts")), UNFINISHED),
    (
        "own passwords by many connections",
        |site, n| {
            let body = json!({"password": format!("long enough {n}")});
            post(&site.reader, &format!("{API}/users/{}", site.reader_id), &body)
        },
        0,
    ),
    ("uploads by many connections", |site, n| film(&site.authorization, n), 0),
];
const UNFINISHED: usize = 15 << 20;
const CROWD: usize = 80;

/// As many values of a JSON body as the server reads, the body itself left out.
const MOST_VALUES: usize = 49_990;

const FORM: &str = "application/x-www-form-urlencoded";

fn main() {
    let seconds = std::env::var("BENCH_BUDGET").map_or(30, |given| given.parse().expect("a number of seconds"));
    let only = std::env::var("BENCH_ONLY").unwrap_or_default();
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let outbox = format!("mail.url=file:{}", folder.path().join("outbox").display());
    let server = Program::start(folder.path(), &[&outbox, "mail.from=cms@site.example"]);
    let site = Arc::new(prepare(&server));
    warm_up(&server, &site);
    let held = server.memory() >> 20;
    println!("{POSTS} posts, {seconds} seconds an attack, {ATTACKERS} connections; {held} MB with full caches");
    println!(
        "{:<36}{:>9}{:>12}{:>8}{:>11}{:>9}  load  responses",
        "attack", "requests", "memory", "cpu", "others p99", "others"
    );
    let mut failures = Vec::new();
    let few = ATTACKS.iter().map(|(name, attack)| (*name, Some((*attack, 0, ATTACKERS))));
    let many = CROWDS.iter().map(|(name, attack, more)| (*name, Some((*attack, *more, CROWD))));
    let chosen = few.chain(many).filter(|(name, _)| name.contains(&only));
    for (name, attack) in std::iter::once(("no attack", None)).chain(chosen) {
        let outcome = run(&server, &site, attack, Duration::from_secs(seconds));
        let requests = outcome.statuses.iter().map(|(_, count)| count).sum::<u64>();
        println!(
            "{name:<36}{requests:>9}{:>+9} MB{:>6} s{:>8} ms{:>9}  {:>4}  {}",
            (outcome.grown as f64 / f64::from(1 << 20)).round(),
            outcome.cpu.round(),
            outcome.slowest.as_millis(),
            outcome.others,
            load(),
            outcome.statuses.iter().map(|(status, count)| format!("{status}: {count}")).collect::<Vec<_>>().join(", "),
        );
        if outcome.grown > GROWTH {
            failures.push(format!("{name}: memory grows by {} MB", outcome.grown >> 20));
        }
        if outcome.slowest > SLOWEST {
            failures.push(format!("{name}: others wait {} ms", outcome.slowest.as_millis()));
        }
        for (status, _) in outcome.statuses.iter().filter(|(status, _)| *status >= 500 && *status != 503) {
            failures.push(format!("{name}: answered {status}"));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// The load of the machine in the last minute, where the system reports it.
fn load() -> String {
    let told = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    told.split(' ').next().unwrap_or_default().to_owned()
}

// ------------------------------------------------------------------------------------------------ the site

fn prepare(server: &Program) -> Site {
    let authorization = server.authorization.clone();
    // Pages, so that the other client, who reads posts, meets none of them.
    let make = |title: &str, content: &str, password: &str| {
        let body =
            json!({"title": {"raw": title}, "content": {"raw": content}, "password": password, "status": "publish"});
        let (status, made) = ask(server, &post(&authorization, &format!("{API}/pages"), &body));
        assert_eq!(status, 201, "{}", String::from_utf8_lossy(&made));
        serde_json::from_slice::<Value>(&made).expect("JSON")["id"].as_i64().expect("an id")
    };
    let (maker, count) = (authorization.clone(), POSTS / 16 + 1);
    common::measured(&server.address, 16, 201, move |c, n| (n < count).then(|| dated(&maker, c * count + n)));
    let query = |wanted: &str, inside: &str| {
        format!(
            "<!-- wp:query {{\"query\":{wanted}}} --><!-- wp:post-template -->{inside}<!-- /wp:post-template -->\
             <!-- /wp:query -->"
        )
    };
    let (posts, pages) = (r#"{"perPage":100}"#, r#"{"perPage":20,"postType":"page","order":"asc"}"#);
    let prose = "\"Seagulls\" stand on the pier -- they don't wait for 'boats' to come home...\n\n";
    let reader = reader(server);
    let long = (0..20).map(|n| make(&format!("Long {n}"), &prose.repeat((1 << 20) / prose.len()), "")).collect();
    Site {
        nested: make("Nested", &query(posts, &query(posts, &"x".repeat(10_000))), ""),
        archives: make("Archives", &"<!-- wp:archives {\"showPostCounts\":true} /-->".repeat(200), ""),
        excerpts: make("Excerpts", &query(pages, "<!-- wp:post-excerpt /-->").repeat(9), ""),
        long,
        locked: make("Locked", "", "secret"),
        reader: reader.0,
        reader_id: reader.1,
        authorization,
    }
}

/// A user of the lowest role.
fn reader(server: &Program) -> (String, i64) {
    use base64::Engine;
    let made = |path: &str, body: Value| {
        let (status, made) = ask(server, &post(&server.authorization, &format!("{API}/{path}"), &body));
        assert_eq!(status, 201, "{}", String::from_utf8_lossy(&made));
        serde_json::from_slice::<Value>(&made).expect("JSON")
    };
    let user = json!({"username": "reader", "email": "reader@site.example", "password": "long enough", "roles": ["subscriber"]});
    let id = made("users", user)["id"].as_i64().expect("an id");
    let password = made(&format!("users/{id}/application-passwords"), json!({"name": "bench"}));
    let pair = format!("reader:{}", password["password"].as_str().expect("a password"));
    (format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair)), id)
}

/// The n-th post, in a month of its own.
fn dated(authorization: &str, n: usize) -> Vec<u8> {
    let date = format!("{}-{:02}-05T10:00:00", 1930 + n / 12, 1 + n % 12);
    let body = json!({"title": {"raw": format!("Post {n}")}, "content": {"raw": "Seagulls stand on the pier. ".repeat(40)},
                      "date": date, "status": "publish"});
    post(authorization, &format!("{API}/posts"), &body)
}

/// The memory of a site under usual load counts as before: threads have worked, caches are as full as they may be.
fn warm_up(server: &Program, site: &Site) {
    for n in 0..3_000 {
        let (status, _) = ask(server, &usual(n, &server.authorization));
        assert!(status < 300, "{status}");
    }
    for n in 0..600 {
        let (status, _) = ask(server, &reading(&format!("posts?per_page=100&_embed=1&warm={n}&offset={}", n % 900)));
        assert_eq!(status, 200);
    }
    // The long documents are cached, too.
    for page in &site.long {
        let (status, _) = ask(server, &reading(&format!("pages/{page}")));
        assert_eq!(status, 200);
    }
    let (status, _) = ask(server, &picture(&site.authorization, usize::MAX));
    assert_eq!(status, 201);
}

/// Requests of an ordinary client.
fn usual(n: usize, authorization: &str) -> Vec<u8> {
    match n % 10 {
        0 => creation(authorization, 5_000_000 + n),
        1 | 2 => reading(&format!("posts?page={}", 1 + n % 90)),
        3 => reading(&format!("posts?per_page=5&_embed=1&exclude={}", 1 + n % POSTS)),
        4 => reading(&format!("posts?search=post+{}", n % 997)),
        _ => reading(&format!("posts/{}", 1 + n % POSTS)),
    }
}

// ------------------------------------------------------------------------------------------------ an attack

struct Outcome {
    /// Most memory in the meantime beyond that before, in bytes.
    grown: u64,
    /// Seconds of processor time that the server took.
    cpu: f64,
    /// 99th percentile of the other client's times.
    slowest: Duration,
    /// Requests that the other client sent.
    others: usize,
    /// How often the attack got each status; 0: the connection was closed.
    statuses: Vec<(u16, u64)>,
}

fn run(server: &Program, site: &Arc<Site>, attack: Option<(Attack, usize, usize)>, span: Duration) -> Outcome {
    let (over, counter) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let (before, used) = (server.memory(), server.cpu());
    let attackers: Vec<_> = attack
        .iter()
        .flat_map(|(attack, more, connections)| std::iter::repeat_n((*attack, *more), *connections))
        .map(|attack| {
            let (address, site, over, counter) = (server.address.clone(), site.clone(), over.clone(), counter.clone());
            std::thread::spawn(move || send(&address, &site, attack, (&over, &counter)))
        })
        .collect();
    let (start, mut times, mut most) = (Instant::now(), Vec::new(), before);
    let mut socket = TcpStream::connect(&server.address).expect("a connection");
    let mut buffer = Vec::new();
    while start.elapsed() < span {
        let request = usual(times.len(), &server.authorization);
        let asked = Instant::now();
        socket.write_all(&request).expect("a request");
        let (status, _) = answer(&mut socket, &mut buffer);
        assert!(status < 300, "somebody who means no harm is answered {status}");
        times.push(asked.elapsed());
        most = most.max(server.memory());
        std::thread::sleep(Duration::from_millis(10));
    }
    let cpu = server.cpu() - used;
    over.store(true, Ordering::Relaxed);
    let mut statuses = std::collections::BTreeMap::new();
    for attacker in attackers {
        for status in attacker.join().expect("the attack ends") {
            *statuses.entry(status).or_insert(0) += 1;
        }
    }
    times.sort();
    Outcome {
        grown: most.saturating_sub(before),
        cpu,
        slowest: times[times.len() * 99 / 100],
        others: times.len(),
        statuses: statuses.into_iter().collect(),
    }
}

/// Sends until it is over; the statuses of the responses.
fn send(
    address: &str,
    site: &Site,
    (attack, more): (Attack, usize),
    (over, counter): (&AtomicBool, &AtomicU64),
) -> Vec<u16> {
    // Made once: a machine that attacks does not take the processors of the one that is attacked.
    static BLANKS: [u8; 64 << 10] = [b' '; 64 << 10];
    let mut statuses = Vec::new();
    let mut connection = None;
    while !over.load(Ordering::Relaxed) {
        let request = attack(site, usize::try_from(counter.fetch_add(1, Ordering::Relaxed)).expect("a number"));
        let mut socket = connection.take().unwrap_or_else(|| TcpStream::connect(address).expect("a connection"));
        // A server that refuses a head or a body before its end closes the connection.
        let rest = |socket: &mut TcpStream| (0..more / BLANKS.len()).try_for_each(|_| socket.write_all(&BLANKS));
        let sent = socket.write_all(&request).and_then(|()| rest(&mut socket));
        match read(&mut socket) {
            Some((status, closes)) => {
                statuses.push(status);
                connection = Some(socket).filter(|_| sent.is_ok() && !closes);
            }
            None => statuses.push(0),
        }
    }
    statuses
}

/// One response: its status, and whether the connection is closed after it; `None`: closed before a response.
fn read(socket: &mut TcpStream) -> Option<(u16, bool)> {
    use std::io::Read;
    let (mut buffer, mut chunk) = (Vec::new(), [0; 65536]);
    loop {
        match socket.read(&mut chunk) {
            Ok(n) if n > 0 => buffer.extend_from_slice(&chunk[..n]),
            _ => return None,
        }
        if let Some((status, _)) = common::head(&buffer).filter(|(_, whole)| buffer.len() >= *whole) {
            let head = String::from_utf8_lossy(&buffer[..buffer.len().min(4_096)]).to_ascii_lowercase();
            return Some((status, head.contains("\r\nconnection: close")));
        }
    }
}

fn ask(server: &Program, request: &[u8]) -> (u16, Vec<u8>) {
    let mut socket = TcpStream::connect(&server.address).expect("a connection");
    socket.write_all(request).expect("a request");
    let mut buffer = Vec::new();
    let (status, body) = answer(&mut socket, &mut buffer);
    (status, buffer[body..].to_vec())
}

// ------------------------------------------------------------------------------------------------ requests

fn reading(below: &str) -> Vec<u8> {
    format!("GET {API}/{below} HTTP/1.1\r\nHost: bench\r\n\r\n").into_bytes()
}

fn body(path: &str, media: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nHost: bench\r\nContent-Type: {media}\r\nContent-Length: {length}\r\n\r\n{body}")
        .into_bytes()
}

fn form(path: &str, fields: &str) -> Vec<u8> {
    body(path, FORM, fields)
}

/// Some words that no other request contains.
fn words(n: usize, count: usize, between: char) -> String {
    let words: Vec<String> = (0..count).map(|k| format!("w{}x{k}", n % 1_000_000)).collect();
    words.join(&between.to_string())
}

fn numbers(n: usize, count: usize) -> String {
    (0..count).map(|k| ((n * 31 + k * 7) % 5_000 + 1).to_string()).collect::<Vec<_>>().join(",")
}

fn search(n: usize, count: usize) -> Vec<u8> {
    let mut words = words(n, count, '+');
    words.truncate(50_000);
    reading(&format!("posts?search={words}"))
}

fn basic(login: &str, password: &str) -> Vec<u8> {
    use base64::Engine;
    let pair = base64::engine::general_purpose::STANDARD.encode(format!("{login}:{password}"));
    format!("GET {API}/users/me HTTP/1.1\r\nHost: bench\r\nAuthorization: Basic {pair}\r\n\r\n").into_bytes()
}

fn xml(parameters: &str) -> Vec<u8> {
    let call = format!(
        "<?xml version=\"1.0\"?><methodCall><methodName>wp.getOptions</methodName><params><param><value>{parameters}"
    );
    body("/xmlrpc.php", "text/xml", &call)
}

fn rpc(method: &str, parameters: &[&str]) -> Vec<u8> {
    let parameters: String =
        parameters.iter().map(|p| format!("<param><value><string>{p}</string></value></param>")).collect();
    let call = format!(
        "<?xml version=\"1.0\"?><methodCall><methodName>{method}</methodName><params>{parameters}</params></methodCall>"
    );
    body("/xmlrpc.php", "text/xml", &call)
}

fn multicall(n: usize) -> Vec<u8> {
    let call = format!(
        "<value><struct><member><name>methodName</name><value>wp.getPosts</value></member><member><name>params</name><value>\
         <array><data><value>{n}</value><value>admin</value><value>wrong</value></data></array></value></member></struct></value>"
    );
    let calls = call.repeat(500);
    body(
        "/xmlrpc.php",
        "text/xml",
        &format!(
            "<methodCall><methodName>system.multicall</methodName><params><param><value><array><data>{calls}</data></array>\
             </value></param></params></methodCall>"
        ),
    )
}

fn batch(n: usize) -> Vec<u8> {
    let part =
        |k: usize| json!({"method": "POST", "path": format!("/cms/v2/comments?search={}", words(n * 25 + k, 20, '+'))});
    let parts: Vec<Value> = (0..25).map(part).collect();
    post("", "/cms-json/batch/v1", &json!({"requests": parts}))
}

/// A PNG of one pixel with so many colour profiles of so many bytes.
fn coloured(profiles: usize, length: usize) -> Vec<u8> {
    let deflated = |length: usize| {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        let zeros = vec![0; 1 << 20];
        let mut left = length;
        while left > 0 {
            let part = left.min(zeros.len());
            encoder.write_all(&zeros[..part]).expect("memory");
            left -= part;
        }
        encoder.finish().expect("memory")
    };
    let chunk = |kind: &[u8], data: &[u8]| {
        let mut sum = flate2::Crc::new();
        sum.update(kind);
        sum.update(data);
        let length = u32::try_from(data.len()).expect("a short chunk");
        [&length.to_be_bytes()[..], kind, data, &sum.sum().to_be_bytes()].concat()
    };
    [
        b"\x89PNG\r\n\x1a\n".to_vec(),
        chunk(b"IHDR", &[0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]),
        chunk(b"iCCP", &[b"x\0\0", &deflated(length)[..]].concat()).repeat(profiles),
        chunk(b"IDAT", &deflated(2)),
        chunk(b"IEND", &[]),
    ]
    .concat()
}

/// One colour profile of 400 MB, which takes up 400 KB.
fn picture(authorization: &str, n: usize) -> Vec<u8> {
    static BYTES: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    upload(authorization, "png", n, BYTES.get_or_init(|| coloured(1, 400 << 20)).clone())
}

/// A film of 4 MB.
fn film(authorization: &str, n: usize) -> Vec<u8> {
    static BYTES: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    upload(authorization, "mp4", n, BYTES.get_or_init(|| repeated(1, 1, 1)).clone())
}

/// As many of 4 MB as 8 MB hold.
fn profiles(authorization: &str, n: usize) -> Vec<u8> {
    static BYTES: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    upload(authorization, "png", n, BYTES.get_or_init(|| coloured(2_000, 4_000_000)).clone())
}

/// A picture made of boxes: so many descriptions of one item in so many places, in each of several boxes.
fn repeated(descriptions: u16, places: u16, boxes: usize) -> Vec<u8> {
    let made = |name: &[u8; 4], inside: &[u8]| {
        let length = u32::try_from(inside.len() + 8).expect("a short box");
        [&length.to_be_bytes()[..], name, inside].concat()
    };
    let info = made(b"infe", b"\x02\0\0\0\0\x07\0\0Exif\0");
    let infos = [b"\0\0\0\0".as_slice(), &descriptions.to_be_bytes(), &info.repeat(descriptions.into())].concat();
    let place = [40_u32.to_be_bytes(), (4_u32 << 20).to_be_bytes()].concat();
    let located =
        [b"\0\0\0\0\x44\0\0\x01\0\x07\0\0".as_slice(), &places.to_be_bytes(), &place.repeat(places.into())].concat();
    let meta = [b"\0\0\0\0".to_vec(), made(b"iinf", &infos), made(b"iloc", &located)].concat();
    let mut file = [made(b"ftyp", b"avif\0\0\0\0mif1avif"), made(b"meta", &meta).repeat(boxes)].concat();
    file.resize(file.len() + (4 << 20), 0);
    file
}

fn upload(authorization: &str, kind: &str, n: usize, bytes: Vec<u8>) -> Vec<u8> {
    let mime = if kind == "mp4" { "video/mp4".to_owned() } else { format!("image/{kind}") };
    let head = format!(
        "POST {API}/media HTTP/1.1\r\nHost: bench\r\nAuthorization: {authorization}\r\nContent-Type: {mime}\r\n\
         Content-Disposition: attachment; filename=\"p{n}.{kind}\"\r\nContent-Length: {}\r\n\r\n",
        bytes.len()
    );
    [head.into_bytes(), bytes].concat()
}

/// An atomic batch of 25 parts by a user of the lowest role.
fn transaction(site: &Site, n: usize, part: fn(&Site, usize) -> Value) -> Vec<u8> {
    let parts: Vec<Value> = (0..25).map(|k| part(site, n * 25 + k)).collect();
    post(&site.reader, "/cms-json/batch/v1", &json!({"atomic": true, "requests": parts}))
}

/// The head of a request with a large body.
fn unfinished(authorization: &str, path: &str) -> Vec<u8> {
    let kind = if path.ends_with(".php") { "text/xml" } else { "application/json" };
    let authorization =
        if authorization.is_empty() { String::new() } else { format!("Authorization: {authorization}\r\n") };
    format!(
        "POST {path} HTTP/1.1\r\nHost: bench\r\n{authorization}Content-Type: {kind}\r\nContent-Length: 16000000\r\n\r\n"
    )
    .into_bytes()
}
