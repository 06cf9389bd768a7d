//! A disk that fails: the n-th write, sync, read, cut or mapping of the database's files fails, is cut short or comes late, once or
//! from then on. Nothing that was acknowledged is lost, no response mixes states, errors are 503 with a line in the log.

use super::faults::check;
use super::left_out::left_out;
use super::server::{Answer, Server};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

/// A kind of call, what happens to it, and whether it happens once or from then on.
const DISTURBANCES: &[(&str, &str, bool)] = &[
    ("write", "failed", false),
    ("write", "failed", true),
    ("write", "full", false),
    ("write", "full", true),
    ("write", "short", true),
    ("write", "late", false),
    ("sync", "failed", false),
    ("sync", "failed", true),
    ("sync", "late", false),
    ("read", "failed", false),
    ("read", "failed", true),
    ("read", "short", true),
    ("read", "late", false),
    ("truncate", "failed", true),
    ("map", "failed", true),
];

/// Places in the work at which each disturbance begins; `CMS_TEST_DISK` sets another number.
const PLACES: usize = 1;

/// A library of C that is preloaded into the program, with its folder; `None` without a compiler.
pub(super) fn preloaded(source: &str) -> Option<(TempDir, PathBuf)> {
    let folder = TempDir::new().expect("a temporary folder");
    let (text, library) = (folder.path().join("library.c"), folder.path().join("library.so"));
    std::fs::write(&text, source).expect("a file");
    let built = Command::new("cc").args(["-O1", "-shared", "-fPIC", "-o"]).args([&library, &text]).status();
    built.is_ok_and(|status| status.success()).then_some((folder, library))
}

/// The library that stands between the program and the disk.
fn library() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<(TempDir, PathBuf)>> = OnceLock::new();
    BUILT.get_or_init(|| preloaded(include_str!("disk/disk.c"))).as_ref().map(|(_, library)| &**library)
}

/// The environment of a program whose calls from `from` to `to` are disturbed.
fn disk(server: &Server, (call, how): (&str, &str), from: i64, to: i64) -> Vec<(&'static str, String)> {
    let library = library().expect("it was built").display().to_string();
    let counted = server.path("calls").display().to_string();
    vec![
        ("LD_PRELOAD", library),
        ("DISK_PATH", "test.db".to_owned()),
        ("DISK_CALL", call.to_owned()),
        ("DISK_HOW", how.to_owned()),
        ("DISK_FROM", from.to_string()),
        ("DISK_TO", to.to_string()),
        ("DISK_COUNT", counted),
    ]
}

/// The titles that a post may have, by id: the acknowledged one alone, or also those of changes whose outcome nobody knows.
/// `None`: the post may be gone.
pub(super) type Titles = BTreeMap<i64, Vec<Option<String>>>;

/// Whether what was wanted is done; otherwise it was refused for the database, or nobody knows what became of it.
fn done(server: &Server, answer: &Answer, wanted: u16) -> bool {
    match answer.status {
        503 => {
            assert!(["rest_storage_unavailable", "rest_outcome_unknown"].contains(&answer.code()), "{}", answer.text);
        }
        // SQLite takes some reads that fail for damage.
        500 => drop(server.log_until("ERROR the database is damaged: ")),
        status => assert_eq!(status, wanted, "{}", answer.text),
    }
    answer.status == wanted
}

/// A write that is refused has never happened.
fn is_refused(answer: &Answer) -> bool {
    answer.code() == "rest_storage_unavailable"
}

/// A change as the only part of an atomic batch, whose transaction is held open: the answer of the part.
fn put_in_a_transaction(server: &Server, route: &str, change: &Value) -> Answer {
    let part = json!({"method": "PUT", "path": route, "body": change});
    let mut answer = server.admin("POST", "/batch/v1", Some(&json!({"atomic": true, "requests": [part]})));
    if answer.status == 207 {
        let part = answer.body["responses"][0].take();
        answer.status = part["status"].as_u64().and_then(|status| status.try_into().ok()).expect("a status");
        answer.body = part["body"].clone();
        answer.text = part.to_string();
    }
    answer
}

/// Creates, changes and deletes posts, and reads each as soon as it is written.
pub(super) fn work(server: &Server, name: &str, known: &mut Titles) -> bool {
    let mut whole = true;
    for n in 0..6 {
        let title = |what: &str| format!("{name}, {what} {n}");
        let body = |title: &str| json!({"title": {"raw": title}, "content": {"raw": format!("{title} ").repeat(200)}, "status": "publish"});
        let made = server.admin("POST", "/cms/v2/posts", Some(&body(&title("new"))));
        if !done(server, &made, 201) {
            whole = false;
            continue;
        }
        let id = made.body["id"].as_i64().expect("an id");
        let route = format!("/cms/v2/posts/{id}");
        known.insert(id, vec![Some(title("new"))]);
        let possible = known.get_mut(&id).expect("it is there");
        let change = body(&title("changed"));
        let changed = match n % 3 {
            1 => put_in_a_transaction(server, &route, &change),
            _ => server.admin("PUT", &route, Some(&change)),
        };
        match done(server, &changed, 200) {
            true => *possible = vec![Some(title("changed"))],
            false if is_refused(&changed) => whole = false,
            false => possible.push(Some(title("changed"))),
        }
        let shown = server.get(&route);
        if done(server, &shown, 200) {
            seen(&shown.body, possible);
        }
        if n % 3 == 2 {
            let deleted = server.admin("DELETE", &format!("{route}?force=true"), None);
            match done(server, &deleted, 200) {
                true => *possible = vec![None],
                false if is_refused(&deleted) => whole = false,
                false => possible.push(None),
            }
        }
        whole &= possible.len() == 1;
    }
    whole
}

/// The post is whole, with one of the titles.
fn seen(post: &Value, possible: &[Option<String>]) {
    let title = post["title"]["rendered"].as_str().expect("a title").to_owned();
    let content = post["content"]["rendered"].as_str().expect("a content");
    assert_eq!(content.matches(&*title).count(), 200, "{title}: {content}");
    assert!(possible.contains(&Some(title)), "{post} is none of {possible:?}");
}

/// After the disk is well again: each post is as it was acknowledged, lists and totals agree. What may have been is what is now.
pub(super) fn settled(server: &Server, known: &mut Titles) {
    for (id, possible) in known.iter_mut() {
        let shown = server.get(&format!("/cms/v2/posts/{id}"));
        match shown.status {
            200 => seen(&shown.body, possible),
            404 => assert!(possible.contains(&None), "{id} is lost: {possible:?}"),
            status => panic!("{status}: {}", shown.text),
        }
        *possible = vec![shown.body["title"]["rendered"].as_str().map(str::to_owned)];
    }
    let page = |page: u64| {
        server.get(&format!("/cms/v2/posts?per_page=100&orderby=id&order=asc&page={page}&_fields=id,title"))
    };
    let first = page(1);
    let number = |name: &str| first.header(name).expect("a header").parse::<u64>().expect("a number");
    let (total, pages) = (number("x-cms-total"), number("x-cms-totalpages"));
    let listed = (1..=pages).map(|number| page(number).body.as_array().expect("a list").len() as u64).sum::<u64>();
    assert_eq!(listed, total, "{}", first.text);
    assert!(total >= known.values().filter(|possible| possible[0].is_some()).count() as u64);
}

/// How often the work of a server makes a call.
fn calls(server: &mut Server, call: &str, known: &mut Titles) -> i64 {
    server.restart_in(&disk(server, (call, "late"), 0, -1)).expect("a disk that works");
    assert!(work(server, call, known));
    server.end();
    let count = std::fs::read_to_string(server.path("calls")).expect("a number");
    count.parse().expect("a number")
}

fn server() -> Server {
    Server::with(&["server.watch=false", "server.access_log=false"])
}

#[test]
fn a_disk_that_fails_loses_nothing_that_was_acknowledged() {
    if library().is_none() {
        return left_out("there is no C compiler");
    }
    let (mut server, mut known) = (server(), Titles::new());
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    for (call, ..) in DISTURBANCES {
        counts.entry(call).or_insert_with(|| calls(&mut server, call, &mut known));
    }
    let places = std::env::var("CMS_TEST_DISK").ok().and_then(|n| n.parse().ok()).unwrap_or(PLACES);
    let rounds = DISTURBANCES.len() * places;
    let mut refused = 0;
    for (round, (call, how, lasting)) in DISTURBANCES.iter().cycle().take(rounds).enumerate() {
        let part = (round * 7 % rounds) as i64;
        let from = 1 + counts[call] * part / rounds as i64;
        let to = if *lasting { i64::MAX } else { from };
        let name = format!("{call} {from} {how}{}", if *lasting { " for good" } else { "" });
        match server.restart_in(&disk(&server, (call, how), from, to)) {
            Ok(()) => {
                let whole = work(&server, &name, &mut known);
                assert!(whole || !matches!(*how, "late" | "short"), "{name}: a slow disk loses nothing");
                if !whole {
                    refused += 1;
                    server.log_until("ERROR ");
                }
                assert!(!server.log().contains("panicked"), "{name}: {}", server.log());
            }
            Err(said) => {
                let told = ["test.db", "the database "].iter().any(|text| said.contains(text));
                assert!(told && !said.contains("panicked"), "{name}: {said}");
            }
        }
        server.kill_and_restart();
        settled(&server, &mut known);
    }
    assert!(refused > 0);
    server.end();
    let (sound, said) = check(&server);
    assert!(sound, "{said}");
}

/// The test above would see a loss: a disk that did not keep the log of the last commits.
#[test]
fn a_lost_log_is_noticed() {
    let (mut server, mut known) = (server(), Titles::new());
    assert!(work(&server, "lost", &mut known));
    server.stop();
    std::fs::remove_file(server.path("test.db-wal")).expect("the log");
    server.kill_and_restart();
    let noticed = std::panic::catch_unwind(AssertUnwindSafe(|| settled(&server, &mut known)));
    assert!(noticed.is_err());
}
