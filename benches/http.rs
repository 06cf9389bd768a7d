//! The served contract beside hand-written handlers, in one run: `cargo bench --bench http`.
//!
//! Three servers over the same 1,000 posts: the program itself; an actix-web + rusqlite handler that reads ten rows and
//! serialises them to the same bytes with serde; a handler that sends those bytes from memory. The workloads are
//! interleaved round by round, so that a noisy machine is noisy for all of them; what counts are the ratios printed.
//! Creates are measured with 64 connections, each answered only after its commit is on disk.

use indexmap::IndexMap;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const POSTS: usize = 1000;
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_millis(1500);

fn main() {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let server = Program::start(folder.path());
    server.fill();
    let list = get(&server.address, "/cms-json/cms/v2/posts").1;
    let item = get(&server.address, "/cms-json/cms/v2/posts/500").1;
    let by_hand = by_hand(folder.path(), &list, &item);
    let connections = std::env::var("BENCH_CONNECTIONS").ok().and_then(|c| c.parse().ok()).unwrap_or(16);

    let mut table = Vec::new();
    for (name, path) in [("list of 10", "/cms-json/cms/v2/posts"), ("item", "/cms-json/cms/v2/posts/500")] {
        let kind = if name == "item" { "item" } else { "list" };
        let mut rates = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            rates[0].push(load(&server.address, path, connections));
            rates[1].push(load(&by_hand, &format!("/{kind}"), connections));
            rates[2].push(load(&by_hand, &format!("/{kind}-static"), connections));
        }
        let [own, hand, fixed] = rates.map(median);
        table.push(format!(
            "| {name} | {own:.0}/s | {hand:.0}/s | {fixed:.0}/s | {:.2} | {:.2} |",
            own / hand,
            own / fixed
        ));
    }
    let creates = (0..3).map(|_| server.creates(64)).collect();
    println!("| workload | cms-server | by hand (serde) | static bytes | of by hand | of static |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for line in table {
        println!("{line}");
    }
    println!("\ncreate, 64 connections, durable: {:.0}/s", median(creates));
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

// ------------------------------------------------------------------------------------------------ the program

struct Program {
    process: Child,
    address: String,
    authorization: String,
}

impl Program {
    fn start(folder: &Path) -> Program {
        use base64::Engine;
        let program = env!("CARGO_BIN_EXE_cms-server");
        let url = format!("storage.url=sqlite:{}/bench.db", folder.display());
        let sets = ["--set", &url, "--set", "server.listen=127.0.0.1:0", "--set", "site.demo=false"];
        let mut add = Command::new(program)
            .args(sets)
            .args(["user", "add", "admin", "admin@example.org", "--role", "administrator", "--password-stdin"])
            .stdin(Stdio::piped())
            .spawn()
            .expect("the program starts");
        add.stdin.take().expect("a pipe").write_all(b"a password\n").expect("it reads");
        assert!(add.wait().expect("it ends").success());
        let secret = Command::new(program).args(sets).args(["app-password", "add", "admin", "bench"]).output();
        let secret = String::from_utf8(secret.expect("it ends").stdout).expect("text");
        let pair = base64::engine::general_purpose::STANDARD.encode(format!("admin:{}", secret.trim()));
        let mut process = Command::new(program)
            .args(sets)
            .args(["--set", "server.access_log=false"])
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut lines = BufReader::new(process.stderr.take().expect("a pipe")).lines();
        let address = loop {
            let line = lines.next().expect("it says where it listens").expect("text");
            if let Some((_, url)) = line.split_once("ms: http://") {
                break url.split('/').next().expect("a host").to_owned();
            }
        };
        std::thread::spawn(move || lines.for_each(drop));
        Program { process, address, authorization: format!("Basic {pair}") }
    }

    fn fill(&self) {
        let mut socket = TcpStream::connect(&self.address).expect("a connection");
        for n in 0..POSTS {
            let status = self.create(&mut socket, n);
            assert_eq!(status, 201);
        }
    }

    fn create(&self, socket: &mut TcpStream, n: usize) -> u16 {
        socket.write_all(&creation(&self.authorization, n)).expect("a request");
        answer(socket, &mut Vec::new()).0
    }

    /// Creates a second by many connections.
    fn creates(&self, connections: usize) -> f64 {
        let authorization = self.authorization.clone();
        rate(&self.address, connections, 201, move |c, n| creation(&authorization, c * 1_000_000 + n))
    }
}

/// The bytes of a request that makes a post.
fn creation(authorization: &str, n: usize) -> Vec<u8> {
    let words = "Seagulls stand on the pier and wait for the boats to come home. ".repeat(18);
    let body = json!({"title": {"raw": format!("Bench post {n}")}, "content": {"raw": words}, "status": "publish"});
    let body = body.to_string();
    let head = format!(
        "POST /cms-json/cms/v2/posts HTTP/1.1\r\nHost: bench\r\nAuthorization: {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        authorization,
        body.len()
    );
    format!("{head}{body}").into_bytes()
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

// ------------------------------------------------------------------------------------------------ by hand

/// Starts the hand-written server over a database that holds the same documents as rows of columns.
fn by_hand(folder: &Path, list: &[u8], item: &[u8]) -> String {
    use actix_web::{App, HttpResponse, HttpServer, web};
    let file = folder.join("by-hand.db");
    let documents: Vec<Map<String, Value>> = serde_json::from_slice(list).expect("a list");
    let one: Map<String, Value> = serde_json::from_slice(item).expect("a document");
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
    let columns = keys.iter().map(|k| format!("\"{k}\"")).collect::<Vec<_>>().join(", ");
    let list_sql: Arc<str> = format!("SELECT {columns} FROM post ORDER BY n LIMIT 10").into();
    let item_sql: Arc<str> = format!("SELECT {columns} FROM post WHERE n = 11").into();
    let (list, item): (Arc<[u8]>, Arc<[u8]>) = (list.into(), item.into());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            HttpServer::new(move || {
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

// ------------------------------------------------------------------------------------------------ the load

/// GETs a second.
fn load(address: &str, path: &str, connections: usize) -> f64 {
    let request = format!("GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n").into_bytes();
    rate(address, connections, 200, move |_, _| request.clone())
}

/// Requests a second by some connections, each waiting for its answer before it asks again. One thread serves them all,
/// because the machine's cores are the server's.
fn rate(address: &str, connections: usize, status: u16, request: impl Fn(usize, usize) -> Vec<u8> + 'static) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (done, request, start) = (Rc::new(Cell::new(0_u64)), Rc::new(request), Instant::now());
    let end = start + ROUND;
    let clients = tokio::task::LocalSet::new();
    for c in 0..connections {
        let (address, done, request) = (address.to_owned(), done.clone(), request.clone());
        clients.spawn_local(async move {
            let mut socket = tokio::net::TcpStream::connect(address).await.expect("a connection");
            let mut buffer = Vec::new();
            let mut n = 0;
            while Instant::now() < end {
                n += 1;
                socket.write_all(&request(c, n)).await.expect("a request");
                assert_eq!(answered(&mut socket, &mut buffer).await, status);
                done.set(done.get() + 1);
            }
        });
    }
    runtime.block_on(clients);
    done.get() as f64 / start.elapsed().as_secs_f64()
}

/// Reads one answer; its status.
async fn answered(socket: &mut tokio::net::TcpStream, buffer: &mut Vec<u8>) -> u16 {
    buffer.clear();
    loop {
        assert!(socket.read_buf(buffer).await.expect("an answer") > 0, "the connection was closed");
        let Some((status, whole)) = head(buffer) else { continue };
        while buffer.len() < whole {
            assert!(socket.read_buf(buffer).await.expect("the body") > 0, "the body was cut");
        }
        return status;
    }
}

/// Status and whole length of the answer that a buffer begins with, once its head is there.
fn head(buffer: &[u8]) -> Option<(u16, usize)> {
    let end = buffer.windows(4).position(|w| w == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&buffer[..end]).expect("a head in ASCII");
    let length = head.lines().find_map(|l| l.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned));
    let length: usize = length.and_then(|l| l.trim().parse().ok()).unwrap_or(0);
    Some((head[9..12].parse().expect("a status"), end + 4 + length))
}

fn get(address: &str, path: &str) -> (u16, Vec<u8>) {
    let mut socket = TcpStream::connect(address).expect("a connection");
    socket.write_all(format!("GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n").as_bytes()).expect("a request");
    let mut buffer = Vec::new();
    let (status, body) = answer(&mut socket, &mut buffer);
    (status, buffer[body..].to_vec())
}

/// Reads one answer into the buffer; its status and where its body starts.
fn answer(socket: &mut TcpStream, buffer: &mut Vec<u8>) -> (u16, usize) {
    buffer.clear();
    let mut chunk = [0; 65536];
    loop {
        if let Some((status, whole)) = head(buffer).filter(|(_, whole)| buffer.len() >= *whole) {
            let body = buffer.windows(4).position(|w| w == b"\r\n\r\n").map_or(whole, |at| at + 4);
            return (status, body);
        }
        let n = socket.read(&mut chunk).expect("an answer");
        assert!(n > 0, "the connection was closed");
        buffer.extend_from_slice(&chunk[..n]);
    }
}
