//! Faults below the server: no space, another process's lock, damage. The server reports them, goes on reading where it
//! can, and goes on writing when the cause is gone.

use super::free_port::free_address;
use super::pages::{Browser, PASSWORD};
use super::server::{Answer, Server, run};
use serde_json::json;
use std::process::Command;

fn create(server: &Server, title: &str) -> Answer {
    let body = json!({"title": {"raw": title}, "content": {"raw": "word ".repeat(2000)}, "status": "publish"});
    server.admin("POST", "/cms/v2/posts", Some(&body))
}

fn titles(server: &Server) -> Vec<String> {
    let list = server.get("/cms/v2/posts?per_page=100&orderby=id&order=asc&_fields=title");
    assert_eq!(list.status, 200, "{}", list.text);
    let title = |post: &serde_json::Value| post["title"]["rendered"].as_str().expect("a title").to_owned();
    list.body.as_array().expect("a list").iter().map(title).collect()
}

pub fn check(server: &Server) -> (bool, String) {
    let at = |file: &str| server.path(file).to_str().expect("a path").to_owned();
    let (config, url) = (at("routes.toml"), server.storage());
    let output = run(&["--config", &config, "--set", &url, "--set", "site.demo=false", "check", "--data"], "");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.success(), said)
}

/// Files of the process may be so large from now on; more is what a full disk is to it.
fn limit_files(server: &Server, bytes: &str) {
    let done =
        Command::new("prlimit").args(["--pid", &server.pid().to_string(), &format!("--fsize={bytes}:")]).status();
    assert!(done.expect("util-linux is there").success());
}

#[test]
fn no_space_is_told_and_nothing_is_half_written() {
    let port = free_address().port();
    let server = Server::with(&[&format!("server.admin_listen=127.0.0.1:{port}")]);
    let health = || server.send("GET", &format!("http://127.0.0.1:{port}/health"), None, None, &[]);
    assert_eq!(create(&server, "before").status, 201);
    let size = |file: &str| std::fs::metadata(server.path(file)).map_or(0, |m| m.len());
    limit_files(&server, &(size("test.db").max(size("test.db-wal")) + 100_000).to_string());
    let mut written = vec!["before".to_owned()];
    let refused = (0..200).find_map(|n| {
        let answer = create(&server, &format!("post {n}"));
        if answer.status == 201 {
            written.push(format!("post {n}"));
        }
        (answer.status != 201).then_some(answer)
    });
    let refused = refused.expect("the space ends");
    assert_eq!((refused.status, refused.code()), (503, "rest_storage_unavailable"), "{}", refused.text);
    assert_eq!(titles(&server), written, "reads go on, and see what was acknowledged and nothing else");
    assert!(!create(&server, "still none").text.contains("still none"));
    let told = health();
    assert!(told.status == 200 && told.text.starts_with("ok\nwrites are refused: "), "{}", told.text);

    limit_files(&server, "unlimited");
    assert_eq!(create(&server, "after").status, 201, "no hand has to help");
    assert_eq!(health().text, "ok\n");
    written.push("after".to_owned());
    assert_eq!(titles(&server), written);
    let (whole, said) = check(&server);
    assert!(whole, "{said}");
}

#[test]
fn another_process_s_lock_is_waited_for_and_told() {
    let server = Server::start();
    assert_eq!(create(&server, "before").status, 201);
    let other = rusqlite::Connection::open(server.path("test.db")).expect("the database");
    other.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| create(&server, "refused"));
        assert_eq!(titles(&server), ["before"], "reads go on meanwhile");
        let refused = waiting.join().expect("an answer");
        assert_eq!((refused.status, refused.code()), (503, "rest_storage_unavailable"), "{}", refused.text);
        assert_eq!(refused.header("retry-after"), Some("1"));
        let entered = Browser::new(&server).post("/login", &[("login", "admin"), ("password", PASSWORD)]);
        assert_eq!(entered.status, 503, "{}", entered.text);
    });
    server.log_until("the database does not take writes: database is locked");
    other.execute_batch("ROLLBACK").expect("the lock is gone");
    assert_eq!(create(&server, "after").status, 201);
    assert_eq!(titles(&server), ["before", "after"]);
}

#[test]
fn damage_is_an_error_and_not_the_end() {
    let mut server = Server::start();
    for n in 0..60 {
        assert_eq!(create(&server, &format!("post {n}")).status, 201);
    }
    // Everything into the file itself.
    server.stop();
    let path = server.path("test.db");
    rusqlite::Connection::open(&path)
        .expect("the database")
        .pragma_update(None, "journal_mode", "DELETE")
        .expect("no log");
    let sound = std::fs::read(&path).expect("the file");
    let mut damaged = sound.clone();
    // The records are behind what a start reads.
    let records = damaged.len() * 3 / 4;
    damaged[records..].fill(0xA5);
    std::fs::write(&path, &damaged).expect("the file");

    server.kill_and_restart();
    let answers: Vec<Answer> = (1..=60).map(|n| server.get(&format!("/cms/v2/posts/{n}"))).collect();
    let broken = answers.iter().filter(|a| a.status == 500 && a.code() == "internal_server_error").count();
    let read = answers.iter().filter(|a| a.status == 200).count();
    assert!(broken > 0 && broken + read == 60, "{broken} broken, {read} read");
    assert_eq!(server.get("/").status, 200, "the server itself is well");
    let (whole, said) = check(&server);
    assert!(!whole, "{said}");

    server.stop();
    std::fs::write(&path, &sound).expect("the file");
    for end in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", path.display()));
    }
    server.kill_and_restart();
    assert_eq!(titles(&server).len(), 60, "with a sound copy all is there again");
}

#[test]
fn a_second_server_is_told_of_and_what_it_writes_is_known_to_the_first() {
    let mut first = Server::start();
    assert!(!first.log().contains("another server"), "{}", first.log());
    let mut second = first.beside();
    let told = second.log_until("another server");
    assert!(told.contains(&format!("(process {})", first.pid())) && told.contains("test.db-lock"), "{told}");

    // Each of them is the first to write something of a kind, which the other one then writes.
    for (writer, other) in [(&first, &second), (&second, &first)] {
        for (route, status) in [("posts", "publish"), ("pages", "draft"), ("posts", "private"), ("pages", "pending")] {
            let body = json!({"title": {"raw": "One of two"}, "status": status});
            for server in [writer, other] {
                let made = server.admin("POST", &format!("/cms/v2/{route}"), Some(&body));
                assert_eq!(made.status, 201, "{route} {status}: {}", made.text);
            }
        }
    }

    first.kill_and_restart();
    let told = first.log_until("another server");
    assert!(told.contains(&format!("(process {})", second.pid())), "the second one still runs: {told}");
    second.stop();
    first.kill_and_restart();
    assert!(!first.log().contains("another server"), "a killed server leaves no lock: {}", first.log());
}
