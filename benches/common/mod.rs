//! Parts of several benches: the program over a database of its own, and a load of requests.

// Each bench uses a part of it.
#![allow(dead_code)]

pub mod by_hand;
pub mod own_types;

use serde_json::json;
use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// How long a load lasts.
const ROUND: Duration = Duration::from_millis(1500);

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

// ------------------------------------------------------------------------------------------------ the program

pub struct Program {
    process: Child,
    pub address: String,
    pub authorization: String,
    /// Milliseconds until it accepted requests, as it reports itself.
    pub ready_in: f64,
}

impl Program {
    /// Starts it over `bench.db` in the folder, with further settings.
    pub fn start(folder: &Path, more: &[&str]) -> Program {
        Program::start_under(&[], folder, more)
    }

    /// The same, started by another program, which gets it as its last arguments.
    pub fn start_under(other: &[&str], folder: &Path, more: &[&str]) -> Program {
        use base64::Engine;
        let program = env!("CARGO_BIN_EXE_cms-server");
        let sets = settings(folder, more);
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        // Several programs that start in one folder share a database.
        let made = folder.join("administrator");
        if !folder.join("bench.db").exists() && !made.exists() {
            add_admin(program, &sets);
            std::fs::write(made, "").expect("a file");
        }
        let secret = Command::new(program).args(&sets).args(["app-password", "add", "admin", "bench"]).output();
        let secret = String::from_utf8(secret.expect("it ends").stdout).expect("text");
        let pair = base64::engine::general_purpose::STANDARD.encode(format!("admin:{}", secret.trim()));
        Program::run(other, &sets, format!("Basic {pair}"))
    }

    /// Kills it, and starts it again with other settings over the same database.
    pub fn kill_and_restart(self, folder: &Path, more: &[&str]) -> Program {
        let sets = settings(folder, more);
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let authorization = self.authorization.clone();
        drop(self);
        Program::run(&[], &sets, authorization)
    }

    fn run(other: &[&str], sets: &[&str], authorization: String) -> Program {
        let words: Vec<&str> = other.iter().copied().chain([env!("CARGO_BIN_EXE_cms-server")]).collect();
        let mut process = Command::new(words[0])
            .args(&words[1..])
            .args(sets)
            .args(["--set", "server.access_log=false"])
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut lines = BufReader::new(process.stderr.take().expect("a pipe")).lines();
        let (ready_in, address) = loop {
            let line = lines.next().expect("it says where it listens").expect("text");
            if let Some((before, url)) = line.split_once("ms: http://") {
                let ready_in = before.rsplit(' ').find_map(|word| word.parse().ok()).unwrap_or(f64::NAN);
                break (ready_in, url.split('/').next().expect("a host").to_owned());
            }
        };
        std::thread::spawn(move || lines.for_each(drop));
        Program { process, address, authorization, ready_in }
    }

    /// Creates a second by many connections.
    pub fn creates(&self, connections: usize) -> f64 {
        let authorization = self.authorization.clone();
        rate(&self.address, connections, 201, move |c, n| creation(&authorization, c * 1_000_000 + n))
    }

    /// The number of its process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Seconds of processor time that it has used.
    pub fn cpu(&self) -> f64 {
        cpu_seconds(Path::new(&format!("/proc/{}", self.process.id())))
    }

    /// Files and connections that it has open.
    pub fn files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.process.id())).map_or(0, Iterator::count)
    }

    /// Bytes of memory that are its own (anonymous pages).
    pub fn memory(&self) -> u64 {
        let told = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let line = told.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) * 1024
    }
}

/// Seconds of processor time of a process, by its folder in `/proc`.
pub fn cpu_seconds(process: &Path) -> f64 {
    let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
    let ticks = stat.rsplit(')').next().unwrap_or("").split_whitespace().skip(11).take(2);
    // Linux counts in hundredths.
    ticks.filter_map(|t| t.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The arguments of a program over `bench.db` in the folder.
fn settings(folder: &Path, more: &[&str]) -> Vec<String> {
    let url = format!("storage.url=sqlite:{}/bench.db", folder.display());
    let own = [&url, "server.listen=127.0.0.1:0", "site.demo=false"];
    let sets = own.iter().chain(more).flat_map(|set| ["--set".to_owned(), (*set).to_owned()]);
    let config = folder.join("routes.toml");
    let declared = config.exists().then(|| ["--config".to_owned(), config.display().to_string()]);
    declared.into_iter().flatten().chain(sets).collect()
}

/// Makes the administrator.
fn add_admin(program: &str, sets: &[&str]) {
    let mut add = Command::new(program)
        .args(sets)
        .args(["user", "add", "admin", "admin@example.org", "--role", "administrator", "--password-stdin"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("the program starts");
    add.stdin.take().expect("a pipe").write_all(b"a password\n").expect("it reads");
    assert!(add.wait().expect("it ends").success());
}

/// The bytes of a request that makes a post.
pub fn creation(authorization: &str, n: usize) -> Vec<u8> {
    let words = "Seagulls stand on the pier and wait for the boats to come home. ".repeat(18);
    let body = json!({"title": {"raw": format!("Bench post {n}")}, "content": {"raw": words}, "status": "publish"});
    post(authorization, "/cms-json/cms/v2/posts", &body)
}

/// The bytes of a POST.
pub fn post(authorization: &str, path: &str, body: &serde_json::Value) -> Vec<u8> {
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: {authorization}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
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

// ------------------------------------------------------------------------------------------------ the load

/// GETs a second.
pub fn load(address: &str, path: &str, connections: usize) -> f64 {
    let request = format!("GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n").into_bytes();
    rate(address, connections, 200, move |_, _| request.clone())
}

/// Requests a second by some connections.
pub fn rate(
    address: &str,
    connections: usize,
    status: u16,
    request: impl Fn(usize, usize) -> Vec<u8> + 'static,
) -> f64 {
    let until = Instant::now() + ROUND;
    measured(address, connections, status, move |c, n| (Instant::now() < until).then(|| request(c, n))).0
}

/// Requests per second and the sorted latencies, by some connections that each wait for a response before they send the
/// next request, until there is nothing more to send. One thread serves them all, because the machine's cores are the
/// server's.
pub fn measured(
    address: &str,
    connections: usize,
    status: u16,
    request: impl Fn(usize, usize) -> Option<Vec<u8>> + 'static,
) -> (f64, Vec<Duration>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (done, request, start) = (Rc::new(Cell::new(0_u64)), Rc::new(request), Instant::now());
    let times = Rc::new(RefCell::new(Vec::new()));
    let clients = tokio::task::LocalSet::new();
    for c in 0..connections {
        let (address, done, request, times) = (address.to_owned(), done.clone(), request.clone(), times.clone());
        clients.spawn_local(async move {
            let mut socket = tokio::net::TcpStream::connect(address).await.expect("a connection");
            let mut buffer = Vec::new();
            let mut n = 0;
            while let Some(bytes) = request(c, n) {
                n += 1;
                let asked = Instant::now();
                socket.write_all(&bytes).await.expect("a request");
                let got = answered(&mut socket, &mut buffer).await;
                assert_eq!(got, status, "{}", String::from_utf8_lossy(&bytes));
                times.borrow_mut().push(asked.elapsed());
                done.set(done.get() + 1);
            }
        });
    }
    runtime.block_on(clients);
    let rate = done.get() as f64 / start.elapsed().as_secs_f64();
    let mut times = times.take();
    times.sort();
    (rate, times)
}

/// A thread that sends requests by so many connections, each answered with a status, until it is over. `each` gets the latencies of
/// some seconds at a time: a list of all of them would grow for an hour.
pub fn keep_sending(
    server: &Program,
    over: &Arc<AtomicBool>,
    (connections, status): (usize, u16),
    request: impl Fn(&str, usize, usize) -> Vec<u8> + Clone + Send + 'static,
    each: impl Fn(&[Duration]) + Send + 'static,
) -> JoinHandle<()> {
    let (address, authorization, over) = (server.address.clone(), server.authorization.clone(), over.clone());
    std::thread::spawn(move || {
        while !over.load(Ordering::Relaxed) {
            let until = Instant::now() + Duration::from_secs(5);
            let (over, authorization, request) = (over.clone(), authorization.clone(), request.clone());
            let (_, times) = measured(&address, connections, status, move |c, n| {
                let goes_on = Instant::now() < until && !over.load(Ordering::Relaxed);
                goes_on.then(|| request(&authorization, c, n))
            });
            each(&times);
        }
    })
}

/// Reads one response; its status.
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

/// Status and whole length of the response that a buffer begins with, once that is known.
pub fn head(buffer: &[u8]) -> Option<(u16, usize)> {
    let end = buffer.windows(4).position(|w| w == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&buffer[..end]).expect("a head in ASCII").to_ascii_lowercase();
    let status = head[9..12].parse().expect("a status");
    if head.contains("\r\ntransfer-encoding: chunked") {
        // In JSON no line is a lone 0.
        let last = buffer[end..].windows(7).position(|w| w == b"\r\n0\r\n\r\n")?;
        return Some((status, end + last + 7));
    }
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")).and_then(|l| l.trim().parse().ok());
    Some((status, end + 4 + length.filter(|_| status != 304).unwrap_or(0)))
}

pub fn get(address: &str, path: &str) -> (u16, Vec<u8>) {
    let mut socket = TcpStream::connect(address).expect("a connection");
    socket.write_all(format!("GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n").as_bytes()).expect("a request");
    let mut buffer = Vec::new();
    let (status, body) = answer(&mut socket, &mut buffer);
    (status, buffer[body..].to_vec())
}

/// The bytes of a GET with further header lines.
pub fn get_request(path: &str, more: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: bench\r\n{more}\r\n").into_bytes()
}

/// Makes records, one after another.
pub fn fill(address: &str, records: usize, request: impl Fn(usize) -> Vec<u8>) {
    let mut socket = TcpStream::connect(address).expect("a connection");
    for n in 0..records {
        socket.write_all(&request(n)).expect("a request");
        assert_eq!(answer(&mut socket, &mut Vec::new()).0, 201);
    }
}

/// Reads one response into the buffer; its status and where its body starts.
pub fn answer(socket: &mut TcpStream, buffer: &mut Vec<u8>) -> (u16, usize) {
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
