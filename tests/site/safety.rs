//! Backups of the database, its examination, and a hundred kills while it is written.

use super::server::{Server, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Runs a command of the program over a server's folder.
fn command(server: &Server, args: &[&str]) -> Output {
    let at = |file: &str| server.path(file).to_str().expect("a path").to_owned();
    let (config, url) = (at("routes.toml"), server.storage());
    let mut all = vec!["--config", &config, "--set", &url, "--set", "site.demo=false"];
    all.extend(args);
    run(&all, "")
}

fn whole(server: &Server) {
    let checked = command(server, &["check", "--data"]);
    assert!(checked.status.success() && said(&checked).contains("whole"), "{}", said(&checked));
}

/// A site with something of everything that is counted or refers to something.
fn furnish(server: &Server) {
    let id = |value: &Value| value["id"].as_i64().expect("an id");
    let category = id(&server.admin("POST", "/cms/v2/categories", Some(&json!({"name": "Counted"}))).body);
    for n in 0..12 {
        let body = json!({"title": {"raw": format!("Post {n}")}, "content": {"raw": "Words"}, "categories": [category],
            "status": if n % 3 == 0 { "draft" } else { "publish" }});
        let post = id(&server.admin("POST", "/cms/v2/posts", Some(&body)).body);
        server.admin("POST", &format!("/cms/v2/posts/{post}"), Some(&json!({"content": {"raw": "Other words"}})));
        server.admin("POST", "/cms/v2/comments", Some(&json!({"post": post, "content": {"raw": format!("Said {n}")}})));
        if n % 4 == 0 {
            server.admin("DELETE", &format!("/cms/v2/posts/{post}?force=true"), None);
        }
    }
}

/// Writes until stopped; returns the titles that were acknowledged.
fn write_on(server: &Server, stop: &Arc<AtomicBool>) -> std::thread::JoinHandle<Vec<String>> {
    let (rest, admin, stop) = (server.rest.clone(), server.admin.clone(), stop.clone());
    std::thread::spawn(move || {
        let mut written = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let title = format!("While copied {}", written.len());
            let body = json!({"title": {"raw": title}, "status": "publish"});
            if post(&rest, &admin, "/cms/v2/posts", &body).is_some_and(|(status, _)| status == 201) {
                written.push(title);
            }
        }
        written
    })
}

/// A POST; nothing when the connection breaks.
fn post(rest: &str, admin: &(String, String), route: &str, body: &Value) -> Option<(u16, Value)> {
    use base64::Engine;
    let pair = base64::engine::general_purpose::STANDARD.encode(format!("{}:{}", admin.0, admin.1));
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let request = agent.post(format!("{rest}{route}")).header("authorization", format!("Basic {pair}"));
    let mut answer = request.content_type("application/json").send(body.to_string()).ok()?;
    let status = answer.status().as_u16();
    Some((status, serde_json::from_reader(answer.body_mut().as_reader()).ok()?))
}

#[test]
fn a_backup_is_made_under_writes_and_put_back() {
    let server = Server::start();
    furnish(&server);
    whole(&server);
    let stop = Arc::new(AtomicBool::new(false));
    let writer = write_on(&server, &stop);
    std::thread::sleep(Duration::from_millis(300));
    let file = server.path("copy.db");
    let name = file.to_str().expect("a path").to_owned();
    let before = server.get("/cms/v2/posts?per_page=1").header("x-cms-total").expect("a total").to_owned();
    let made = command(&server, &["backup", &name]);
    assert!(made.status.success() && said(&made).contains("whole"), "{}", said(&made));
    let again = command(&server, &["backup", &name]);
    assert!(!again.status.success() && said(&again).contains("overwrites none"), "{}", said(&again));
    let refused = command(&server, &["restore", &name]);
    assert!(!refused.status.success() && said(&refused).contains("stop the server first"), "{}", said(&refused));
    assert!(!server.path("test.db.restored").exists(), "a refusal leaves no file");
    assert_eq!(server.get("/cms/v2/posts").status, 200, "and nothing happened to the one that is used");
    stop.store(true, Ordering::Relaxed);
    let written = writer.join().expect("a writer");
    assert!(written.len() > 5, "{}", written.len());
    whole(&server);
    let kept = server.path("kept.db");
    std::fs::copy(&file, &kept).expect("a copy of the copy");

    let stopped = Stopped::of(server);
    let restored = stopped.command(&["restore", &name]);
    assert!(restored.status.success() && said(&restored).contains("before-1"), "{}", said(&restored));
    assert!(stopped.0.path("test.db.before-1").exists());
    let checked = stopped.command(&["check", "--data"]);
    assert!(said(&checked).contains("whole"), "{}", said(&checked));
    let server = stopped.start();
    let after: u64 =
        server.get("/cms/v2/posts?per_page=1").header("x-cms-total").expect("a total").parse().expect("a number");
    let before: u64 = before.parse().expect("a number");
    assert!(after >= before && after <= before + written.len() as u64, "{before} {after}");
    let title = json!({"title": {"raw": "Life goes on"}, "status": "publish"});
    assert_eq!(server.admin("POST", "/cms/v2/posts", Some(&title)).status, 201);
}

/// A server whose process has ended, over its folder.
struct Stopped(Server);

impl Stopped {
    fn of(mut server: Server) -> Stopped {
        server.stop();
        Stopped(server)
    }

    fn command(&self, args: &[&str]) -> Output {
        command(&self.0, args)
    }

    fn start(mut self) -> Server {
        self.0.kill_and_restart();
        self.0
    }
}

#[test]
fn what_is_not_whole_is_told_and_not_put_back() {
    let server = Server::start();
    furnish(&server);
    let stopped = Stopped::of(server);
    let path = stopped.0.path("test.db");
    let name = |file: &str| stopped.0.path(file).to_str().expect("a path").to_owned();
    assert!(stopped.command(&["backup", &name("good.db")]).status.success());

    let conn = rusqlite::Connection::open(&path).expect("a database");
    conn.execute_batch("UPDATE term SET count = count + 5; DELETE FROM record WHERE id = (SELECT min(id) FROM record)")
        .expect("damage");
    drop(conn);
    let checked = stopped.command(&["check", "--data"]);
    let text = said(&checked);
    assert!(!checked.status.success(), "{text}");
    for finding in ["count says", "that is not there", "tallies of record differ"] {
        assert!(text.contains(finding), "{finding}: {text}");
    }

    let mut bytes = std::fs::read(name("good.db")).expect("a copy");
    let length = bytes.len();
    bytes[length / 2..length / 2 + 4096].fill(0xA5);
    std::fs::write(name("bad.db"), &bytes).expect("a damaged copy");
    std::fs::write(name("no.db"), b"this is no database, only a text of some length that says so").expect("a file");
    for bad in ["bad.db", "no.db", "missing.db"] {
        let refused = stopped.command(&["restore", &name(bad)]);
        assert!(!refused.status.success(), "{bad}: {}", said(&refused));
    }
    assert!(!Path::new(&name("test.db.before-1")).exists(), "nothing was moved");
    assert!(stopped.command(&["restore", &name("good.db")]).status.success());
    let checked = stopped.command(&["check", "--data"]);
    assert!(checked.status.success(), "{}", said(&checked));
}

/// The acknowledged writes of a round: title and category by id.
type Acknowledged = Arc<Mutex<BTreeMap<i64, (String, i64)>>>;

/// Kills in a row; `CMS_TEST_KILLS` sets another number.
const KILLS: usize = 15;

#[test]
fn kills_lose_nothing_that_was_acknowledged() {
    let mut server = Server::with(&["server.watch=false", "server.access_log=false"]);
    let category = |server: &Server, n: usize| {
        let made = server.admin("POST", "/cms/v2/categories", Some(&json!({"name": format!("Kind {n}")})));
        made.body["id"].as_i64().expect("an id")
    };
    let categories: Vec<i64> = (0..4).map(|n| category(&server, n)).collect();
    let acknowledged: Acknowledged = Arc::default();
    let rounds = std::env::var("CMS_TEST_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(KILLS);
    for round in 0..rounds {
        let writers: Vec<_> = (0..3)
            .map(|writer| {
                let (rest, admin, told) = (server.rest.clone(), server.admin.clone(), acknowledged.clone());
                let category = categories[(round + writer) % 4];
                std::thread::spawn(move || {
                    for n in 0.. {
                        let title = format!("Round {round} writer {writer} number {n}");
                        let body = json!({"title": {"raw": title}, "content": {"raw": format!("Body of {title}")},
                            "status": "publish", "categories": [category], "meta": {"footnotes": title}});
                        // The server is gone.
                        let Some((status, made)) = post(&rest, &admin, "/cms/v2/posts", &body) else { return };
                        assert_eq!(status, 201, "{made}");
                        let id = made["id"].as_i64().expect("an id");
                        told.lock().expect("a map").insert(id, (title.clone(), category));
                        let change = json!({"content": {"raw": format!("Changed body of {title}")}});
                        let Some((status, _)) = post(&rest, &admin, &format!("/cms/v2/posts/{id}"), &change) else {
                            return;
                        };
                        assert_eq!(status, 200);
                    }
                })
            })
            .collect();
        // After another number of records each time; its writers are at another point of the next ones each.
        let enough = acknowledged.lock().expect("a map").len() + 1 + (round * 7) % 5;
        let written = || acknowledged.lock().expect("a map").len();
        while written() < enough && !writers.iter().any(std::thread::JoinHandle::is_finished) {
            std::thread::sleep(Duration::from_millis(1));
        }
        server.stop();
        for writer in writers {
            writer.join().expect("a writer");
        }
        server.kill_and_restart();
        if round % 15 == 14 {
            whole(&server);
        }
    }
    let told = acknowledged.lock().expect("a map").clone();
    assert!(told.len() > rounds, "{} writes", told.len());
    let (mut seen, mut page) = (BTreeMap::new(), 1);
    loop {
        let route = format!(
            "/cms/v2/posts?per_page=100&orderby=id&order=asc&context=edit&page={page}&_fields=id,title,categories,content,meta"
        );
        let answer = server.admin("GET", &route, None);
        assert_eq!(answer.status, 200, "{}", answer.text);
        for post in answer.body.as_array().expect("a list") {
            assert!(seen.insert(post["id"].as_i64().expect("an id"), post.clone()).is_none(), "listed twice: {post}");
        }
        let pages: u64 = answer.header("x-cms-totalpages").expect("a header").parse().expect("a number");
        page += 1;
        if page > pages {
            break;
        }
    }
    let titles: std::collections::BTreeSet<&str> = seen.values().filter_map(|p| p["title"]["raw"].as_str()).collect();
    assert_eq!(titles.len(), seen.len(), "none is there twice");
    for (id, (title, category)) in &told {
        let post = seen.get(id).unwrap_or_else(|| panic!("{id} {title} was acknowledged and is gone"));
        assert_eq!((&post["title"]["raw"], &post["categories"]), (&json!(title), &json!([category])), "{post}");
        let body = post["content"]["raw"].as_str().expect("a text");
        assert!(body.ends_with(&format!("ody of {title}")), "{post}");
    }
    let counted: i64 = categories
        .iter()
        .map(|id| server.get(&format!("/cms/v2/categories/{id}")).body["count"].as_i64().expect("a count"))
        .sum();
    assert_eq!(counted, seen.len() as i64);
    let (_, (title, _)) = told.iter().next_back().expect("one");
    let found = server.get(&format!("/cms/v2/search?search={}", title.replace(' ', "%20")));
    assert!(
        found.body.as_array().is_some_and(|list| list.iter().any(|f| f["title"] == title.as_str())),
        "{}",
        found.text
    );
    whole(&server);
}
