//! Time passes: scheduled records are published on time, the trash is emptied; each transition of docs/states.md.

use super::inside::Inside;
use cms_base::clock::ManualClock;
use cms_core::model::Method;
use cms_server::scheduler::{self, Scheduler};
use cms_storage::sqlite::Sqlite;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const DAY: i64 = 86_400;

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs() as i64
}

fn iso(seconds: i64) -> String {
    cms_text::time::format_local(seconds)
}

#[test]
fn scheduled_posts_appear_on_time_without_traffic_and_at_boot() {
    let start = now();
    let clock = ManualClock::at(start);
    let site = Inside::timed(clock.clone());
    let mut scheduler = Scheduler::start(site.registry.clone(), &site.services).expect("a scheduler");
    let term = site.make("/cms/v2/tags", &json!({"name": "Tides"}))["id"].clone();
    let scheduled = |site: &Inside, title: &str, at: i64| -> i64 {
        let body = json!({"title": {"raw": title}, "status": "publish", "date_gmt": iso(at), "tags": [term]});
        let made = site.make("/cms/v2/posts", &body);
        assert_eq!(made["status"], "future", "{made}");
        made["id"].as_i64().expect("an id")
    };
    let listed = |site: &Inside| -> Vec<i64> {
        let list = site.get("/cms/v2/posts?orderby=date&order=asc", false).body;
        list.as_array().expect("a list").iter().map(|p| p["id"].as_i64().expect("an id")).collect()
    };
    let count = |site: &Inside| site.get(&format!("/cms/v2/tags/{term}"), false).body["count"].clone();
    let (later, first, second) = (
        scheduled(&site, "Far", start + 3600),
        scheduled(&site, "Ebb", start + 4),
        scheduled(&site, "Flood", start + 5),
    );
    assert!(listed(&site).is_empty());
    assert_eq!(site.get(&format!("/cms/v2/posts/{first}"), false).status, 401);
    assert_eq!(count(&site), 0);
    let before = site.get(&format!("/cms/v2/posts/{first}?context=edit"), true).body;
    clock.advance(4);
    await_transitions(&scheduler, 1);
    assert_eq!(listed(&site), [first]);
    clock.advance(2);
    await_transitions(&scheduler, 2);
    assert_eq!(listed(&site), [first, second], "date order, published without a request in between");
    assert_eq!(count(&site), 2);
    let after = site.get(&format!("/cms/v2/posts/{first}"), false).body;
    for kept in ["slug", "date_gmt", "modified_gmt", "tags"] {
        assert_eq!(after[kept], before[kept], "{kept}");
    }
    // A record that falls due while the server is down is published before the first response.
    let third = scheduled(&site, "Neap", start + 60);
    let clock = ManualClock::at(start + 100);
    let site = site.restart(clock.clone());
    scheduler = Scheduler::start(site.registry.clone(), &site.services).expect("a scheduler");
    assert_eq!(listed(&site), [first, second, third]);
    // A new date wakes the thread, whose next moment was an hour away.
    wait_for("the hour", || clock.awaited() == Some(start + 3600));
    let body = json!({"date_gmt": iso(start + 130), "status": "future"});
    assert_eq!(site.ask(Method::Put, &format!("/cms/v2/posts/{later}"), true, Some(&body)).status, 200);
    wait_for("the new date", || clock.awaited() == Some(start + 130));
    clock.advance(31);
    await_transitions(&scheduler, 2);
    assert!(listed(&site).contains(&later));
}

/// Waits until the thread has carried out so many transitions.
fn await_transitions(scheduler: &Scheduler, wanted: u64) {
    wait_for("transitions", || scheduler.progress().transitions() >= wanted);
}

fn wait_for(what: &str, done: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < until, "{what} did not come");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn several_are_published_in_one_commit_and_nothing_is_written_when_nothing_is_due() {
    let site = Inside::start();
    let start = now();
    for i in 0..5 {
        site.make(
            "/cms/v2/posts",
            &json!({"title": {"raw": "Later"}, "status": "future", "date_gmt": iso(start + 100 + i)}),
        );
    }
    let storage = &*site.services.storage;
    let look = |at: i64| scheduler::carry_out(&site.registry, storage, at, &mut HashSet::new()).expect("a look");
    let early = look(start);
    assert_eq!((early.records, early.next), (0, Some(start + 100)));
    let some = look(start + 102);
    assert_eq!((some.records, some.next), (3, Some(start + 103)));
    let rest = look(start + 1000);
    assert_eq!((rest.records, rest.next), (2, None));
    let list = site.get("/cms/v2/posts", false);
    assert_eq!(list.body.as_array().map(Vec::len), Some(5));
    assert!(list.queries < 10, "{} statements for a list of five", list.queries);
}

#[test]
fn the_trash_is_emptied_after_its_days() {
    let site = Inside::start();
    let page = |body: Value| site.make("/cms/v2/pages", &body)["id"].as_i64().expect("an id");
    let old = page(json!({"title": {"raw": "Old"}, "status": "publish", "comment_status": "open"}));
    let child = page(json!({"title": {"raw": "Child"}, "status": "publish", "parent": old}));
    let body =
        json!({"post": old, "content": {"raw": "Gone with it."}, "author_name": "A", "author_email": "a@example.org"});
    site.make("/cms/v2/comments", &body);
    let trashed = site.ask(Method::Delete, &format!("/cms/v2/pages/{old}"), true, None);
    assert_eq!((trashed.status, &trashed.body["status"]), (200, &json!("trash")));
    let storage = &*site.services.storage;
    let look = |at: i64| scheduler::carry_out(&site.registry, storage, at, &mut HashSet::new()).expect("a look");
    let early = look(now() + 29 * DAY);
    assert_eq!(early.records, 0);
    let next = early.next.expect("a time for emptying the trash");
    assert!((next - now() - 30 * DAY).abs() < 60, "{next}");
    assert_eq!(site.get(&format!("/cms/v2/pages/{old}"), true).status, 200);
    let late = look(next);
    assert_eq!((late.records, late.next), (1, None));
    assert_eq!(site.get(&format!("/cms/v2/pages/{old}"), true).status, 404);
    assert_eq!(site.get(&format!("/cms/v2/pages/{child}"), true).body["parent"], 0);
    assert_eq!(site.get("/cms/v2/comments?status=all", true).body.as_array().map(Vec::len), Some(0));
}

/// A round costs the same among many records of every state.
#[test]
fn what_falls_due_is_found_without_reading_what_does_not() {
    let site = Inside::start();
    let late = json!({"title": {"raw": "Late"}, "status": "future", "date_gmt": iso(now() + DAY)});
    site.make("/cms/v2/posts", &late);
    let post =
        |status: &str| site.make("/cms/v2/posts", &json!({"title": {"raw": "Post"}, "status": status}))["id"].clone();
    let (published, trashed) = (post("publish"), post("draft"));
    assert_eq!(site.ask(Method::Delete, &format!("/cms/v2/posts/{trashed}"), true, None).status, 200);
    let steps = || {
        let before = Sqlite::steps();
        let round = scheduler::carry_out(&site.registry, &*site.services.storage, now(), &mut HashSet::new());
        assert_eq!(round.expect("a round").records, 0);
        Sqlite::steps() - before
    };
    let few = steps();
    for (table, id) in [("record", published.as_i64()), ("record", trashed.as_i64())] {
        site.copy_row(table, id.expect("an id"), 3000);
    }
    let many = steps();
    assert!(many <= few + 100, "{few} instructions, with many records {many}");
}

#[test]
fn each_transition_of_the_table_is_as_it_says() {
    let site = Inside::start();
    let make = |status: &str| {
        let date = if status == "future" { iso(now() + DAY) } else { iso(now() - DAY) };
        let body = json!({"title": {"raw": "T"}, "status": status, "date_gmt": date});
        site.make("/cms/v2/posts", &body)["id"].as_i64().expect("an id")
    };
    let table = include_str!("../../docs/states.md");
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let mut walked = 0;
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let (from, by, to) = (cells[1], cells[2], cells[3]);
        let id = make(from.trim_end_matches(" in trash"));
        let path = format!("/cms/v2/posts/{id}");
        let put = |body: Value| site.ask(Method::Put, &path, true, Some(&body));
        if from.ends_with(" in trash") {
            assert_eq!(site.ask(Method::Delete, &path, true, None).status, 200, "{row}");
        }
        let done = match by {
            "DELETE" => site.ask(Method::Delete, &path, true, None),
            "DELETE force" => site.ask(Method::Delete, &format!("{path}?force=true"), true, None),
            "time" => {
                scheduler::carry_out(&site.registry, &*site.services.storage, now() + 31 * DAY, &mut HashSet::new())
                    .expect("a look");
                site.get(&path, true)
            }
            "status publish, date ahead" => put(json!({"status": "publish", "date_gmt": iso(now() + DAY)})),
            "status future, date past" => put(json!({"status": "future", "date_gmt": iso(now() - DAY)})),
            "date past" => put(json!({"date_gmt": iso(now() - DAY)})),
            "date ahead" => put(json!({"date_gmt": iso(now() + DAY)})),
            other => put(json!({"status": other.strip_prefix("status ").expect("a status")})),
        };
        match to {
            "gone" if by == "DELETE force" => {
                assert_eq!((done.status, &done.body["deleted"]), (200, &json!(true)), "{row}");
                assert_eq!(site.get(&path, true).status, 404, "{row}");
            }
            "gone" => assert_eq!(done.status, 404, "{row}"),
            "410" => assert_eq!(done.status, 410, "{row}"),
            to => assert_eq!((done.status, &done.body["status"]), (200, &json!(to)), "{row}: {}", done.body),
        }
        walked += 1;
    }
    assert!(walked > 20, "{walked} transitions");
}
