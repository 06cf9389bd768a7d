//! Instructions that the program needs for a request: `cargo bench --bench instructions`. They hardly depend on what else
//! the machine does, so they tell what a change costs where times cannot.
//!
//! The program runs under valgrind (`apt-get install valgrind`) with one worker. Each workload sends its requests one
//! after another, once to warm up and once to be counted. Counts that are more than a twentieth above those in
//! `benches/instructions.txt` fail; `UPDATE_EXPECT=1` writes that file. Counts of another compiler are not compared.

mod common;

use common::{Program, answer, creation, fill, get_request, post};
use indexmap::IndexMap;
use serde_json::json;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

const API: &str = "/cms-json/cms/v2";
const POSTS: usize = 200;
/// Requests of a workload.
const REQUESTS: usize = 100;
/// The least difference that makes a count another one.
const TOLERANCE: f64 = 0.05;
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions.txt");

/// Content that shows other records.
const PARTS: &str = "<!-- wp:latest-posts {\"displayPostDate\":true} /--><!-- wp:archives /--><!-- wp:categories /-->\
     <!-- wp:query {\"query\":{\"perPage\":4}} --><div class=\"wp-block-query\"><!-- wp:post-template --><!-- wp:post-title /-->\
     <!-- wp:post-excerpt /--><!-- /wp:post-template --></div><!-- /wp:query -->";

/// Content as the theme unit test has it: what depends on the day, and what counts the whole site.
const BLOCKS: &str = "<!-- wp:calendar /--><!-- wp:categories {\"displayAsDropdown\":true,\"showHierarchy\":true,\
     \"showPostCounts\":true} /--><!-- wp:archives {\"showPostCounts\":true} /--><!-- wp:latest-comments /-->\
     <!-- wp:post-date {\"format\":\"human-diff\"} /--><!-- wp:tag-cloud /-->";
/// Categories of the block site, each below the one before, and the id of the first: the site has one already.
const CATEGORIES: usize = 20;
const BLOCK_CATEGORY: usize = 2;

/// The n-th request of a workload.
type Request = Box<dyn Fn(usize) -> Vec<u8>>;

/// The program under valgrind.
struct Counted {
    program: Program,
    dumps: String,
    taken: usize,
}

impl Counted {
    fn start(folder: &Path, name: &str, more: &[&str]) -> Counted {
        let dumps = folder.join(name).to_string_lossy().into_owned();
        let out = format!("--callgrind-out-file={dumps}");
        let valgrind = ["valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=yes", &out];
        let sets: Vec<&str> = more.iter().copied().chain(["server.workers=1"]).collect();
        Counted { program: Program::start_under(&valgrind, folder, &sets), dumps, taken: 0 }
    }

    /// Sends a command to valgrind, and waits until that is done.
    fn tell(&self, command: &str) {
        let pid = format!("--pid={}", self.program.pid());
        let done = Command::new("vgdb").args([&pid, command]).output().expect("vgdb, which comes with valgrind");
        assert!(done.status.success(), "{command}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// Instructions for each of the requests.
    fn count(&mut self, status: u16, request: &Request) -> u64 {
        let mut socket = TcpStream::connect(&self.program.address).expect("a connection");
        let (mut buffer, mut round) = (Vec::new(), 0);
        let mut all = |socket: &mut TcpStream| {
            for n in 0..REQUESTS {
                let request = request(round * REQUESTS + n);
                socket.write_all(&request).expect("a request");
                assert_eq!(answer(socket, &mut buffer).0, status, "{}", String::from_utf8_lossy(&request));
            }
            round += 1;
        };
        all(&mut socket);
        self.tell("zero");
        all(&mut socket);
        self.tell("dump");
        self.taken += 1;
        let dump = std::fs::read_to_string(format!("{}.{}", self.dumps, self.taken)).expect("what valgrind counted");
        let sum = dump.lines().find_map(|line| line.strip_prefix("summary: ")?.trim().parse::<u64>().ok());
        sum.expect("a sum") / REQUESTS as u64
    }
}

fn main() {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let plain = Program::start(folder.path(), &[]);
    fill(&plain.address, POSTS, |n| creation(&plain.authorization, n));
    let page = |n| {
        let body = json!({"title": {"raw": format!("Page {n}")}, "content": {"raw": PARTS}, "status": "publish"});
        post(&plain.authorization, &format!("{API}/pages"), &body)
    };
    fill(&plain.address, 5, page);
    let category = |n: usize| {
        let parent = if n == 0 { 0 } else { BLOCK_CATEGORY + n - 1 };
        let body = json!({"name": format!("Part {n}"), "parent": parent});
        post(&plain.authorization, &format!("{API}/categories"), &body)
    };
    fill(&plain.address, CATEGORIES, category);
    let of_blocks = |n: usize| {
        let body = json!({"title": {"raw": format!("Blocks {n}")}, "content": {"raw": BLOCKS}, "status": "publish",
            "date": format!("1990-01-{:02}T00:00:00", n + 1), "categories": [BLOCK_CATEGORY]});
        post(&plain.authorization, &format!("{API}/posts"), &body)
    };
    fill(&plain.address, 10, of_blocks);
    drop(plain);
    let mut counts = IndexMap::new();
    let mut cached = Counted::start(folder.path(), "cached", &[]);
    for (name, status, request) in from_cache() {
        counts.insert(name, cached.count(status, &request));
    }
    drop(cached);
    let mut bare = Counted::start(folder.path(), "bare", &["cache.responses=false"]);
    for (name, status, request) in without_cache(&bare.program.authorization) {
        counts.insert(name, bare.count(status, &request));
    }
    drop(bare);
    report(&counts);
}

fn from_cache() -> Vec<(&'static str, u16, Request)> {
    let reading = |path: &'static str| -> Request { Box::new(move |_| get_request(&format!("{API}/{path}"), "")) };
    vec![
        ("list of 10, cached", 200, reading("posts")),
        ("item, cached", 200, reading("posts/100")),
        ("list with _embed, cached", 200, reading("posts?_embed")),
        ("list of the block site, cached", 200, reading("posts?categories=2")),
    ]
}

fn without_cache(authorization: &str) -> Vec<(&'static str, u16, Request)> {
    let reading = |path: &'static str, more: String| -> Request {
        Box::new(move |n| {
            // The same ones while they are counted as before.
            let id = (1 + n % REQUESTS).to_string();
            get_request(&format!("{API}/{}", path.replace("{n}", &id)), &more)
        })
    };
    let anonymous = |path| reading(path, String::new());
    let own = authorization.to_owned();
    let create: Request = Box::new(move |n| creation(&own, POSTS + n));
    let own = authorization.to_owned();
    let update: Request = Box::new(move |n| {
        let words = format!("Words {n}. ").repeat(100);
        let body = json!({"title": {"raw": format!("Changed {n}")}, "content": {"raw": words}});
        post(&own, &format!("{API}/posts/{}", 1 + n % POSTS), &body)
    });
    let options: Request = Box::new(|_| format!("OPTIONS {API}/posts HTTP/1.1\r\nHost: bench\r\n\r\n").into_bytes());
    vec![
        ("list of 10", 200, anonymous("posts?exclude={n}")),
        ("item", 200, anonymous("posts/{n}")),
        ("item in an envelope", 200, anonymous("posts/{n}?_envelope")),
        ("list with _embed", 200, anonymous("posts?exclude={n}&_embed")),
        ("list of 100, two fields", 200, anonymous("posts?exclude={n}&per_page=100&_fields=id,title")),
        ("list of 100 in an envelope", 200, anonymous("posts?exclude={n}&per_page=100&_envelope")),
        ("filtered and sorted list", 200, anonymous("posts?exclude={n}&categories=1&orderby=title&order=asc")),
        ("search", 200, anonymous("posts?exclude={n}&search=post+77")),
        ("pages that show other records", 200, anonymous("pages?exclude={n}")),
        ("pages that show other records, in an envelope", 200, anonymous("pages?exclude={n}&_envelope")),
        ("list of the block site", 200, anonymous("posts?exclude={n}&categories=2")),
        ("OPTIONS", 200, options),
        ("authenticated list", 200, reading("posts?exclude={n}", format!("Authorization: {authorization}\r\n"))),
        ("create", 201, create),
        ("update with a revision", 200, update),
    ]
}

/// Prints the counts beside those of the file.
fn report(counts: &IndexMap<&str, u64>) {
    let version = Command::new("rustc").arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    let version = String::from_utf8_lossy(&version).trim().to_owned();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let lines: String = counts.iter().map(|(name, count)| format!("{name}: {count}\n")).collect();
        std::fs::write(FILE, format!("# instructions for a request; compiled by {version}\n{lines}")).expect("a file");
    }
    let text = std::fs::read_to_string(FILE).unwrap_or_default();
    let known: IndexMap<&str, u64> = text
        .lines()
        .filter_map(|line| line.rsplit_once(": "))
        .filter_map(|(n, c)| Some((n, c.parse().ok()?)))
        .collect();
    let mut failures = Vec::new();
    for (name, count) in counts {
        let Some(before) = known.get(name) else {
            println!("{name:<46} {count:>10}");
            failures.push(format!("{name} is not in {FILE}"));
            continue;
        };
        let change = *count as f64 / *before as f64 - 1.0;
        println!("{name:<46} {count:>10} {before:>10} {:>+6.1} %", change * 100.0);
        if change > TOLERANCE {
            failures.push(format!("{name}: {count} instructions, {before} before"));
        }
    }
    if !text.contains(&version) {
        println!("the file has counts of another compiler: nothing is compared");
        return;
    }
    assert!(failures.is_empty(), "\n{}\nUPDATE_EXPECT=1 takes the new counts over", failures.join("\n"));
}
