//! Acknowledged writes are there after the process was killed without warning.

use super::server::{Server, stdout};
use serde_json::json;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn acknowledged_writes_survive_a_kill() {
    let mut server = Server::start();
    let mut acknowledged = Vec::new();
    for round in 0..5 {
        for n in 0..20 {
            let body = json!({"title": {"raw": format!("Round {round} number {n}")}, "status": "publish"});
            let made = server.admin("POST", "/cms/v2/posts", Some(&body));
            assert_eq!(made.status, 201, "{}", made.text);
            acknowledged.push((made.body["id"].as_i64().expect("an id"), body["title"]["raw"].clone()));
        }
        server.kill_and_restart();
        for (id, title) in &acknowledged {
            let post = server.get(&format!("/cms/v2/posts/{id}"));
            assert_eq!((post.status, &post.body["title"]["rendered"]), (200, title));
            assert_eq!(post.body["categories"], json!([1]));
        }
    }
    let total = server.get("/cms/v2/posts?per_page=1");
    assert_eq!(total.header("x-cms-total"), Some("100"));
}

#[test]
fn sigterm_lets_requests_finish() {
    let server = Server::start();
    let url = server.rest.clone();
    let pid = server.pid();
    let workers: Vec<_> = (0..4)
        .map(|_| {
            let url = url.clone();
            std::thread::spawn(move || {
                let mut whole = 0;
                while let Ok(mut answer) = ureq::get(format!("{url}/cms/v2/categories")).call() {
                    let text = answer.body_mut().read_to_string().expect("an answer that began ends");
                    assert!(text.ends_with(']'), "{text}");
                    whole += 1;
                }
                whole
            })
        })
        .collect();
    std::thread::sleep(std::time::Duration::from_millis(200));
    let killed = std::process::Command::new("kill").args(["-TERM", &pid.to_string()]).status().expect("kill");
    assert!(killed.success());
    for worker in workers {
        assert!(worker.join().expect("no answer was cut") > 0);
    }
}

#[test]
fn after_a_clean_end_the_file_alone_is_complete() {
    let mut server = Server::start();
    for n in 0..20 {
        let body = json!({"title": {"raw": format!("Number {n}")}, "status": "publish"});
        assert_eq!(server.admin("POST", "/cms/v2/posts", Some(&body)).status, 201);
    }
    server.end();
    let size = std::fs::metadata(server.path("test.db-wal")).map_or(0, |log| log.len());
    assert_eq!(size, 0, "nothing is left in the log");
    let copy = server.path("copy.db");
    std::fs::copy(server.path("test.db"), &copy).expect("a copy of the file alone");
    let copy = rusqlite::Connection::open(copy).expect("the copy");
    let titles = "SELECT count(*) FROM record WHERE title LIKE 'Number %'";
    let found: i64 = copy.query_row(titles, [], |row| row.get(0)).expect("the records");
    assert_eq!(found, 20);
}

/// Commands write while a server writes and reads, and others read, copy and examine the files.
#[test]
fn two_processes_that_write_at_once_lose_nothing() {
    let server = Server::start();
    let (acknowledged, done) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    let run = |words: &[&str]| stdout(&[server.args(), words.to_vec()].concat(), "a long password\n");
    std::thread::scope(|threads| {
        for writer in 0..2 {
            let (server, acknowledged, done) = (&server, &acknowledged, &done);
            threads.spawn(move || {
                for n in (0..).take_while(|_| !done.load(Ordering::Relaxed)) {
                    let body = json!({"title": {"raw": format!("Writer {writer} number {n}")}, "status": "publish"});
                    let made = server.admin("POST", "/cms/v2/posts", Some(&body));
                    assert_eq!(made.status, 201, "{}", made.text);
                    acknowledged.lock().expect("no panic").push(made.body["id"].as_i64().expect("an id"));
                    assert_eq!(
                        server.get(&format!("/cms/v2/posts?search=number&per_page={}", n % 30 + 1)).status / 100,
                        2
                    );
                }
            });
        }
        for n in 0..4 {
            run(&[
                "user",
                "add",
                &format!("user{n}"),
                &format!("user{n}@example.org"),
                "--role",
                "editor",
                "--password-stdin",
            ]);
            run(&["status"]);
            if n % 2 == 0 && super::server::postgres::server().is_none() {
                run(&["backup", server.path(&format!("copy{n}.db")).to_str().expect("a path")]);
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    let acknowledged = acknowledged.into_inner().expect("no panic");
    for id in &acknowledged {
        assert_eq!(server.get(&format!("/cms/v2/posts/{id}")).status, 200, "{id} of {}", acknowledged.len());
    }
    for n in 0..4 {
        let found = server.admin("GET", &format!("/cms/v2/users?search=user{n}@example.org"), None);
        assert_eq!(found.header("x-cms-total"), Some("1"), "user{n}: {}", found.text);
    }
    run(&["check", "--data"]);
}
