//! The first hour of a site on a small machine, one core and 256 MB: `cargo bench --bench small`; `BENCH_SMALL=3600` lasts
//! an hour instead of a minute.
//!
//! The program runs in a control group with these limits (Linux, as root; either version of the interface). A thousand posts are
//! imported; then fifty clients read lists, items, embeddings and searches without a pause. Beside them one client loads the files of
//! the console and the lists that it shows, two change and make posts, and one uploads a photograph of twelve megapixels every ten
//! seconds. The bench fails with an answer that is not as expected, if 99 of 100 answers take more than 300 ms, and if the kernel
//! ends the program for its memory.

mod common;

use common::{Program, answer, creation, get, keep_sending, post};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const POSTS: usize = 1000;
const READERS: usize = 50;
const MEMORY: u64 = 256 << 20;
const SLOWEST: Duration = Duration::from_millis(300);
const API: &str = "/cms-json/cms/v2";
const BETWEEN_PHOTOGRAPHS: Duration = Duration::from_secs(10);

fn main() {
    let seconds = std::env::var("BENCH_SMALL").map_or(60, |given| given.parse().expect("a number of seconds"));
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    // Longer than the program, which has to have left it.
    let Some(group) = Group::make() else {
        println!("left out: control groups cannot be made here");
        return;
    };
    let enter = group.entering();
    let server = Program::start_under(&["sh", "-c", &enter, "sh"], folder.path(), &[]);
    let begun = Instant::now();
    let lines: Vec<String> = (0..POSTS).map(record).collect();
    send(&server, "posts/import", "application/x-ndjson", "", lines.join("\n").as_bytes(), 200);
    println!("{POSTS} posts are imported in {:.1} s", begun.elapsed().as_secs_f64());

    let over = Arc::new(AtomicBool::new(false));
    let ids = Arc::new(ids(&server));
    let files = Arc::new(files_of_console());
    let (read, changed) = (ids.clone(), ids);
    let loads = [
        Load::start("readers", &server, &over, READERS, 200, move |_, c, n| reading(&read, c, n)),
        Load::start("console", &server, &over, 1, 200, move |authorization, _, n| console(&files, authorization, n)),
        Load::start("changes", &server, &over, 1, 200, move |authorization, _, n| changing(&changed, authorization, n)),
        Load::start("creates", &server, &over, 1, 201, |authorization, _, n| creation(authorization, 10_000_000 + n)),
    ];
    let (photograph, mut slowest, mut sent) = (photograph(), Duration::ZERO, 0);
    let end = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < end {
        let asked = Instant::now();
        let named = format!("Content-Disposition: attachment; filename=\"photograph-{sent}.jpg\"\r\n");
        send(&server, "media", "image/jpeg", &named, &photograph, 201);
        (slowest, sent) = (slowest.max(asked.elapsed()), sent + 1);
        std::thread::sleep(BETWEEN_PHOTOGRAPHS.min(end.saturating_duration_since(Instant::now())));
    }
    over.store(true, Ordering::Relaxed);
    println!("{seconds} s; answers, milliseconds that half of them, 99 of 100 and 999 of 1,000 take at most");
    let slow = loads.into_iter().map(Load::end).max().unwrap_or_default();
    println!("{sent} photographs, each stored in its sizes within {} ms", slowest.as_millis());
    println!("memory of the group at most {} MB of {}", group.most() >> 20, MEMORY >> 20);
    assert!(slow <= SLOWEST, "99 of 100 answers take {slow:?}");
}

/// A control group of one core and [`MEMORY`]; the program is ended by the kernel if it needs more.
struct Group {
    folders: Vec<PathBuf>,
    most: PathBuf,
}

impl Group {
    /// Nothing where control groups are not there, or not for this user.
    fn make() -> Option<Group> {
        let name = format!("cms-server-bench-{}", std::process::id());
        let root = Path::new("/sys/fs/cgroup");
        let unified = root.join("cgroup.controllers").exists();
        let (folders, limits, most) = if unified {
            let group = root.join(name);
            let limits =
                vec![(group.join("memory.max"), MEMORY.to_string()), (group.join("cpu.max"), "100000 100000".into())];
            (vec![group.clone()], limits, group.join("memory.peak"))
        } else {
            let (memory, cpu) = (root.join("memory").join(&name), root.join("cpu").join(&name));
            let limits = vec![
                (memory.join("memory.limit_in_bytes"), MEMORY.to_string()),
                (cpu.join("cpu.cfs_period_us"), "100000".into()),
                (cpu.join("cpu.cfs_quota_us"), "100000".into()),
            ];
            let most = memory.join("memory.max_usage_in_bytes");
            (vec![memory, cpu], limits, most)
        };
        let group = Group { folders, most };
        let made = group.folders.iter().all(|folder| fs::create_dir(folder).is_ok())
            && limits.iter().all(|(file, limit)| fs::write(file, limit).is_ok());
        made.then_some(group)
    }

    /// A script that starts its arguments within the group.
    fn entering(&self) -> String {
        let files: Vec<String> =
            self.folders.iter().map(|folder| format!("echo $$ > {}/cgroup.procs", folder.display())).collect();
        format!("{} && exec \"$@\"", files.join(" && "))
    }

    /// Bytes that were in use at the same time, with the cached pages of files.
    fn most(&self) -> u64 {
        fs::read_to_string(&self.most).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The last process leaves it a moment after it has ended.
        for folder in &self.folders {
            let until = Instant::now() + Duration::from_secs(5);
            while fs::remove_dir(folder).is_err() && folder.exists() && Instant::now() < until {
                std::thread::yield_now();
            }
        }
    }
}

/// Clients that send requests until it is over.
struct Load {
    name: &'static str,
    thread: JoinHandle<()>,
    times: Arc<Times>,
}

/// How many answers took how long, in tenths of a millisecond; the last place has all that took longer.
struct Times(Vec<AtomicU64>);

impl Load {
    fn start(
        name: &'static str,
        server: &Program,
        over: &Arc<AtomicBool>,
        connections: usize,
        status: u16,
        request: impl Fn(&str, usize, usize) -> Vec<u8> + Clone + Send + 'static,
    ) -> Load {
        let times = Arc::new(Times((0..20_000).map(|_| AtomicU64::new(0)).collect()));
        let counted = times.clone();
        let count = move |taken: &[Duration]| taken.iter().for_each(|taken| counted.add(*taken));
        let thread = keep_sending(server, over, (connections, status), request, count);
        Load { name, thread, times }
    }

    /// Waits for it, prints it, and gives what 99 of 100 answers take at most.
    fn end(self) -> Duration {
        self.thread.join().expect("the load ends");
        let [half, most, last] = [0.5, 0.99, 0.999].map(|part| self.times.at(part));
        let [half_ms, most_ms, last_ms] = [half, most, last].map(|time| time.as_secs_f64() * 1000.0);
        println!("{:>8}  {:>9}  {half_ms:>7.1}  {most_ms:>7.1}  {last_ms:>7.1}", self.name, self.times.count());
        most
    }
}

impl Times {
    fn add(&self, time: Duration) {
        let place = (time.as_micros() / 100) as usize;
        self.0[place.min(self.0.len() - 1)].fetch_add(1, Ordering::Relaxed);
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|n| n.load(Ordering::Relaxed)).sum()
    }

    /// The most time that a part of all answers takes.
    fn at(&self, part: f64) -> Duration {
        let (mut left, all) = ((self.count() as f64 * part) as u64, self.0.len());
        let place = self.0.iter().position(|n| {
            let n = n.load(Ordering::Relaxed);
            let here = n > left;
            left = left.saturating_sub(n);
            here
        });
        Duration::from_micros((place.unwrap_or(all) as u64 + 1) * 100)
    }
}

/// A line of an import.
fn record(n: usize) -> String {
    let text = "The tide comes in over the flats, and the terns rise before it. ".repeat(20 + n % 30);
    json!({"title": format!("Log {n}"), "status": "publish", "content": format!("<p>{text}</p>")}).to_string()
}

fn reading(ids: &[u64], connection: usize, n: usize) -> Vec<u8> {
    let spread = connection * 131 + n;
    let path = match n % 5 {
        0 => format!("posts?page={}", 1 + spread % 90),
        1 | 2 => format!("posts/{}", ids[spread % ids.len()]),
        3 => format!("posts?per_page=5&_embed=1&exclude={}", ids[spread % ids.len()]),
        _ => format!("posts?search=log+{}", spread % 997),
    };
    format!("GET {API}/{path} HTTP/1.1\r\nHost: bench\r\n\r\n").into_bytes()
}

/// The files of the console, and lists as it asks for them.
fn console(files: &[String], authorization: &str, n: usize) -> Vec<u8> {
    const LISTS: [&str; 4] = [
        "posts?context=edit&per_page=20&status=publish,draft",
        "media?context=edit&per_page=20",
        "comments?context=edit&per_page=20",
        "posts?context=edit&per_page=20&search=log+7",
    ];
    let place = n % (files.len() + LISTS.len());
    let path = files.get(place).cloned().unwrap_or_else(|| format!("{API}/{}", LISTS[place - files.len()]));
    format!("GET {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: {authorization}\r\n\r\n").into_bytes()
}

fn changing(ids: &[u64], authorization: &str, n: usize) -> Vec<u8> {
    // As often as many people type who save at once, not as fast as it goes.
    std::thread::sleep(Duration::from_millis(50));
    let id = ids[n * 7 % ids.len()];
    post(authorization, &format!("{API}/posts/{id}"), &json!({"content": {"raw": format!("The {n}th tide came in.")}}))
}

fn ids(server: &Program) -> Vec<u64> {
    let pages = 1..=POSTS / 100;
    let page = |page| {
        let (status, body) = get(&server.address, &format!("{API}/posts?per_page=100&page={page}&_fields=id"));
        assert_eq!(status, 200);
        serde_json::from_slice::<Vec<Value>>(&body).expect("a list").into_iter().filter_map(|item| item["id"].as_u64())
    };
    pages.flat_map(page).collect()
}

fn files_of_console() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("console/dist/assets");
    let files = fs::read_dir(folder)
        .expect("the console is built")
        .filter_map(|file| file.ok()?.file_name().into_string().ok());
    files.map(|name| format!("/admin/assets/{}", name.trim_end_matches(".br"))).collect()
}

/// Sends a body, and expects a status.
fn send(server: &Program, path: &str, kind: &str, more: &str, body: &[u8], expected: u16) {
    let head = format!(
        "POST {API}/{path} HTTP/1.1\r\nHost: bench\r\nAuthorization: {}\r\nContent-Type: {kind}\r\n{more}Content-Length: {}\r\n\r\n",
        server.authorization,
        body.len()
    );
    let mut socket = TcpStream::connect(&server.address).expect("a connection");
    socket.write_all(&[head.as_bytes(), body].concat()).expect("a request");
    let mut buffer = Vec::new();
    let (status, at) = answer(&mut socket, &mut buffer);
    assert_eq!(status, expected, "{path}: {}", String::from_utf8_lossy(&buffer[at..]));
}

/// Twelve megapixels with enough in them that they do not compress to nothing.
fn photograph() -> Vec<u8> {
    let picture = image::RgbImage::from_fn(4000, 3000, |x, y| {
        let wave = |a: u32, b: u32| ((x.wrapping_mul(a) ^ y.wrapping_mul(b)) >> 4) as u8;
        image::Rgb([wave(3, 5), wave(7, 2), wave(1, 9)])
    });
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, image::ImageFormat::Jpeg).expect("a picture");
    bytes.into_inner()
}
