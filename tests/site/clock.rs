//! A clock that jumps forth and back while the server runs: schedules, the change feed, credentials, sessions and failed logins.

use super::disk::preloaded;
use super::left_out::left_out;
use super::pages::{Browser, PASSWORD};
use super::server::{Server, until};
use serde_json::{Value, json};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::time::{SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// The clock of a server.
struct Clock {
    file: File,
    _library: TempDir,
}

impl Clock {
    /// Starts a server again with a clock of its own; `None` without a C compiler.
    fn of(server: &mut Server) -> Option<Clock> {
        let Some((folder, library)) = preloaded(include_str!("clock/clock.c")) else {
            left_out("there is no C compiler");
            return None;
        };
        let path = server.path("clock");
        std::fs::write(&path, 0_i64.to_ne_bytes()).expect("a file");
        let environment = [("LD_PRELOAD", library.display().to_string()), ("CLOCK_FILE", path.display().to_string())];
        server.restart_in(&environment).expect("it starts");
        let file = File::options().write(true).open(path).expect("the file");
        Some(Clock { file, _library: folder })
    }

    /// Sets it so many seconds after the machine's.
    fn set(&self, seconds: i64) {
        self.file.write_all_at(&seconds.to_ne_bytes(), 0).expect("a write");
    }
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs().cast_signed()
}

fn post(server: &Server, title: &str, due: Option<i64>) -> i64 {
    let mut body = json!({"title": {"raw": title}, "status": "publish"});
    if let Some(due) = due {
        body["date_gmt"] = json!(cms_text::time::format_local(due));
    }
    let made = server.admin("POST", "/cms/v2/posts", Some(&body));
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!(made.body["status"], if due.is_some() { "future" } else { "publish" }, "{title}");
    made.body["id"].as_i64().expect("an id")
}

#[test]
fn schedules_and_the_feed_follow_a_clock_that_jumps() {
    let mut server = Server::start();
    let Some(clock) = Clock::of(&mut server) else { return };
    let (near, far) = (post(&server, "Near", Some(now() + HOUR)), post(&server, "Far", Some(now() + 100 * DAY)));
    let shown = |id: i64| server.get(&format!("/cms/v2/posts/{id}")).status == 200;
    let changes = || {
        let held = r#"SELECT number FROM dictionary WHERE word = 'record'"#;
        server.sql(&format!(r#"SELECT count(*) FROM change_feed WHERE id = {near} AND "table" IN ({held})"#))
    };
    assert!(!shown(near));
    clock.set(2 * HOUR);
    // The scheduler looks at the clock once in a minute, and when something is written.
    post(&server, "Wakes the scheduler", None);
    until("it is due", || shown(near));
    let published = changes();
    clock.set(-DAY);
    assert!(shown(near) && shown(post(&server, "Early", None)) && !shown(far));
    assert_eq!(changes(), published, "it is published once");
    // A change makes a record whose date is to come a scheduled one, so this one is older than all times of the clock.
    let old = json!({"title": {"raw": "Old"}, "status": "publish", "date_gmt": "2020-01-01T00:00:00"});
    let old = server.admin("POST", "/cms/v2/posts", Some(&old)).body["id"].clone();
    for seconds in [8 * DAY, -30 * DAY, 0, 60 * DAY, -DAY] {
        clock.set(seconds);
        let title = format!("At {seconds}");
        let changed = server.admin("PUT", &format!("/cms/v2/posts/{old}"), Some(&json!({"title": {"raw": title}})));
        assert_eq!(changed.status, 200, "{}", changed.text);
        assert_eq!(server.get(&format!("/cms/v2/posts/{old}")).body["title"]["rendered"], *title);
        let list = server.get("/cms/v2/posts?_fields=title").body;
        assert!(
            list.as_array().is_some_and(|list| list.iter().any(|post| post["title"]["rendered"] == *title)),
            "{list}"
        );
        assert!(shown(near) && !shown(far));
        // Nothing is missing in the part of the feed that is kept.
        let gaps = "SELECT max(seq) - min(seq) + 1 - count(*) FROM change_feed";
        assert_eq!(server.sql(gaps), ["0"]);
    }
}

#[test]
fn credentials_follow_a_clock_that_jumps_and_end_at_once_when_they_are_revoked() {
    let mut server = Server::start();
    let Some(clock) = Clock::of(&mut server) else { return };
    let route = "/cms/v2/users/me/application-passwords";
    let make = |body: &Value| {
        let made = server.admin("POST", route, Some(body));
        assert_eq!(made.status, 201, "{}", made.text);
        let secret = ("admin".to_owned(), made.body["password"].as_str().expect("a password").to_owned());
        (secret, made.body["uuid"].as_str().expect("an identifier").to_owned())
    };
    let known = |secret: &(String, String)| server.ask("GET", "/cms/v2/users/me", Some(secret), None).status == 200;
    let (short, _) = make(&json!({"name": "Short", "expires": now() + HOUR}));
    for (seconds, is_known) in [(0, true), (2 * HOUR, false), (0, true), (-DAY, true), (2 * HOUR, false)] {
        clock.set(seconds);
        assert_eq!(known(&short), is_known, "{seconds}");
    }
    let (other, uuid) = make(&json!({"name": "Other"}));
    assert!(known(&other));
    clock.set(-DAY);
    assert!(known(&other));
    assert_eq!(server.admin("DELETE", &format!("{route}/{uuid}"), None).status, 200);
    assert!(!known(&other), "a password that was used in the future ends when it is revoked");

    clock.set(0);
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    for (seconds, is_open) in [(0, true), (-DAY, true), (DAY, true), (400 * DAY, false)] {
        clock.set(seconds);
        assert_eq!(browser.get("/profile").status == 200, is_open, "{seconds}");
    }
}

#[test]
fn a_clock_that_goes_back_locks_nobody_out() {
    let mut server = Server::start();
    let Some(clock) = Clock::of(&mut server) else { return };
    let log_in = |password: &str| Browser::new(&server).post("/login", &[("login", "admin"), ("password", password)]);
    clock.set(DAY);
    assert_ne!(log_in("wrong").status, 303);
    clock.set(0);
    let refused = log_in(PASSWORD);
    let wait: i64 = refused.header("retry-after").map_or(0, |wait| wait.parse().expect("seconds"));
    assert!(wait <= HOUR, "{}: {wait} s", refused.status);
    clock.set(wait);
    let done = if refused.status == 303 { refused } else { log_in(PASSWORD) };
    assert_eq!(done.status, 303, "{}", done.text);
}
