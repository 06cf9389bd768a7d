//! Who has which record open, and the views of lists that each user has saved.

use super::events::EventReader;
use super::inside::{Counted, Inside};
use super::server::Server;
use cms_base::clock::ManualClock;
use cms_core::model::Method;
use cms_server::boot::Secret;
use cms_storage::plan::{Cond, ReadPlan, Row};
use serde_json::{Value, json};
use std::sync::Arc;

type User = (String, String);

/// A site at a time that stands still, with two editors, an author, and a draft of the administrator's.
struct Site {
    site: Inside,
    clock: Arc<ManualClock>,
    post: i64,
}

impl Site {
    fn start() -> Site {
        let clock = ManualClock::at(1_800_000_000);
        let site = Inside::timed(clock.clone());
        let post = site.make("/cms/v2/posts", &json!({"title": "Tide tables", "status": "draft"}))["id"].as_i64();
        Site { site, clock, post: post.expect("an id") }
    }

    fn user(&self, login: &str, role: &str) -> User {
        let (site, address) = (&self.site, format!("{login}@example.org"));
        let made = site.services.add_user(&site.registry, login, &address, role, Secret::Password("a long password"));
        made.expect("a user");
        (login.to_owned(), site.services.add_app_password(login, "tests").expect("a password"))
    }

    fn send(&self, user: &User, body: &Value) -> Counted {
        self.site.ask_as(Method::Post, "/console/v1/presence", Some(user), Some(body))
    }

    /// A window of a user's has the draft open: the names of others there, and whether somebody has taken it over.
    fn open(&self, user: &User, take: bool) -> (Vec<String>, bool) {
        let tab = format!("{}-window", user.0);
        let body = json!({"tab": tab, "resource": "posts", "item": self.post.to_string(), "take": take});
        let told = self.send(user, &body);
        assert_eq!(told.status, 200, "{}", told.body);
        (names(&told.body), told.body["taken_by"].is_number())
    }

    /// When each entry of the table ends.
    fn expires(&self) -> Vec<Row> {
        let wanted = ReadPlan {
            table: "presence".into(),
            extensions: Vec::new(),
            columns: vec!["expires".into()],
            filter: Cond::All(Vec::new()),
            order: Vec::new(),
            limit: None,
            offset: 0,
            width: None,
        };
        self.site.services.storage.snapshot().and_then(|snapshot| snapshot.rows(&wanted)).expect("rows")
    }

    /// The entries that somebody sees who has a list with the draft open.
    fn list(&self, user: &User) -> Value {
        let items = [self.post.to_string(), "999999".to_owned()];
        let told = self.send(user, &json!({"tab": "a-list-of-posts", "resource": "posts", "items": items}));
        assert_eq!(told.status, 200, "{}", told.body);
        told.body
    }
}

fn names(body: &Value) -> Vec<String> {
    let others = body["others"].as_array().expect("a list").iter();
    others.map(|other| other["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn people_are_told_who_else_has_a_record_open() {
    let site = Site::start();
    let (ann, ben) = (site.user("ann", "editor"), site.user("ben", "editor"));
    assert_eq!(site.open(&ann, false), (vec![], false));
    assert_eq!(site.open(&ben, false), (vec!["ann".to_owned()], false));
    assert_eq!(site.open(&ann, false), (vec!["ben".to_owned()], false));
    let list = site.list(&ann);
    assert_eq!(names(&list), ["ann", "ben"], "the window with the list has nothing open");
    assert_eq!(list["others"][0]["item"], site.post.to_string());
    assert_eq!(list["others"][0]["since"], "2027-01-15T08:00:00Z");
    // Somebody closes the record.
    site.send(&ben, &json!({"tab": "ben-window", "resource": "posts"}));
    assert_eq!(site.open(&ann, false), (vec![], false));
}

#[test]
fn an_entry_ends_and_is_written_seldom() {
    let site = Site::start();
    let (ann, ben) = (site.user("ann", "editor"), site.user("ben", "editor"));
    site.open(&ann, false);
    let mut written = vec![site.expires()];
    for _ in 0..9 {
        site.clock.advance(20);
        site.open(&ann, false);
        written.push(site.expires());
    }
    written.dedup();
    assert_eq!(written.len(), 4, "three minutes, so it is written three times more");
    assert_eq!(names(&site.list(&ben)), ["ann"]);
    site.clock.advance(89);
    assert_eq!(site.open(&ben, false).0, ["ann"], "a window may be late");
    site.clock.advance(31);
    assert_eq!(site.open(&ben, false).0, [""; 0]);
}

#[test]
fn a_record_is_taken_over_on_purpose() {
    let site = Site::start();
    let (ann, ben) = (site.user("ann", "editor"), site.user("ben", "editor"));
    site.open(&ann, false);
    site.clock.advance(5);
    assert_eq!(site.open(&ben, true), (vec!["ann".to_owned()], false));
    assert_eq!(site.open(&ann, false), (vec!["ben".to_owned()], true));
    assert!(!site.open(&ben, false).1);
    site.clock.advance(5);
    assert!(!site.open(&ann, true).1);
    assert!(site.open(&ben, false).1 && !site.open(&ann, false).1);
    // A record that somebody has taken over is free again when they are gone.
    site.send(&ann, &json!({"tab": "ann-window", "resource": "posts"}));
    assert_eq!(site.open(&ben, false), (vec![], false));
}

#[test]
fn only_those_who_may_edit_a_record_are_told_of_it() {
    let site = Site::start();
    let (ann, tom, sue) = (site.user("ann", "editor"), site.user("tom", "author"), site.user("sue", "subscriber"));
    site.open(&ann, false);
    for user in [&tom, &sue] {
        assert_eq!(names(&site.list(user)), [""; 0], "{}", user.0);
        let item = site.post.to_string();
        let refused = site.send(user, &json!({"tab": "some-window", "resource": "posts", "item": item}));
        assert_eq!((refused.status, &refused.body["code"]), (400, &json!("rest_invalid_param")), "{}", user.0);
    }
    // One cannot tell a record that does not exist from one that is none of one's business.
    let absent = site.send(&tom, &json!({"tab": "some-window", "resource": "posts", "item": "999999"}));
    let other = site.send(&tom, &json!({"tab": "some-window", "resource": "posts", "item": site.post.to_string()}));
    assert_eq!(absent.body, other.body);
    let nobody = site.site.ask(
        Method::Post,
        "/console/v1/presence",
        false,
        Some(&json!({"tab": "some-window", "resource": "posts"})),
    );
    assert_eq!(nobody.status, 401);
    for bad in [
        json!({"tab": "some-window", "resource": "nothing"}),
        json!({"tab": "short", "resource": "posts"}),
        json!({"tab": "some window", "resource": "posts"}),
        json!({"tab": "some-window", "resource": "posts", "items": vec!["1"; 101]}),
    ] {
        assert_eq!(site.send(&ann, &bad).status, 400, "{bad}");
    }
}

#[test]
fn a_user_has_a_limited_number_of_windows() {
    let site = Site::start();
    let (ann, ben) = (site.user("ann", "editor"), site.user("ben", "editor"));
    let open = |number: usize| {
        let body = json!({"tab": format!("window-{number:04}"), "resource": "posts", "item": site.post.to_string()});
        assert_eq!(site.send(&ann, &body).status, 200);
        site.clock.advance(1);
    };
    (0..60).for_each(open);
    assert_eq!(site.expires().len(), 50, "the oldest windows give way");
    // Each person is named once.
    assert_eq!(names(&site.list(&ben)), ["ann"]);
}

#[test]
fn every_kind_of_record_is_shared() {
    let site = Site::start();
    let ann = site.user("ann", "administrator");
    let ben = site.user("ben", "administrator");
    let term = site.site.make("/cms/v2/categories", &json!({"name": "Harbour"}))["id"].to_string();
    for (resource, item) in [("categories", &*term), ("users", "1")] {
        let body = |tab: &str| json!({"tab": tab, "resource": resource, "item": item});
        assert_eq!(site.send(&ann, &body("ann-window")).status, 200, "{resource}");
        assert_eq!(names(&site.send(&ben, &body("ben-window")).body), ["ann"], "{resource}");
    }
}

/// A window with a list hears who opens and leaves a record of it, and of changes of its records.
#[test]
fn a_window_hears_of_others_at_once() {
    let server = Server::start();
    let (ann, ben) = (server.user("ann", "editor"), server.user("ben", "editor"));
    let post = server.admin("POST", "/cms/v2/posts", Some(&json!({"title": "Tide tables"}))).body["id"].to_string();
    let route = "/console/v1/presence";
    let window = |resource: &str| format!("{route}/events?resources=posts&tab=ann-window&resource={resource}");
    let mut stream = EventReader::at(&server, &format!("{}&items={post}", window("posts")), Some(&ann), "");
    let mut next = || stream.next().expect("an event");
    assert_eq!(next(), ("presence".into(), json!({"others": [], "taken_by": null})));
    let say = |item: &str| {
        let body = json!({"tab": "ben-window", "resource": "posts", "item": item});
        assert_eq!(server.ask("POST", route, Some(&ben), Some(&body)).status, 200);
    };
    say(&post);
    let (name, document) = next();
    assert_eq!((&*name, names(&document)), ("presence", vec!["ben".to_owned()]));
    // A document that does not differ is not sent, and events come in between.
    say(&post);
    server.admin("POST", &format!("/cms/v2/posts/{post}"), Some(&json!({"title": "High water"})));
    let (name, event) = next();
    assert_eq!(
        (&*name, &event["type"], &event["resource"], event["record"].to_string()),
        ("message", &json!("updated"), &json!("posts"), post.clone())
    );
    say("");
    assert_eq!(next(), ("presence".into(), json!({"others": [], "taken_by": null})));
    for (user, path, status) in [
        (None, window("posts"), 401),
        (Some(&ann), window("nothing"), 200),
        (Some(&ann), format!("{route}/events?resources=nothing&tab=ann-window&resource=posts"), 400),
        (Some(&ann), format!("{route}/events?resource=posts"), 400),
    ] {
        let opened = EventReader::at(&server, &path, user, "");
        assert!(opened.head.starts_with(&format!("http/1.1 {status}")), "{path}: {}", opened.head);
    }
}

#[test]
fn saved_views_are_their_owners_own() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let (ann, ben, sue) =
            (server.user("ann", "editor"), server.user("ben", "administrator"), server.user("sue", "subscriber"));
        let route = "/console/v1/saved-views";
        let view = json!({"resource": "posts", "name": "Mine", "query": "f=author~eq~2"});
        let made = server.ask("POST", route, Some(&ann), Some(&view));
        assert_eq!(made.status, 201, "{}", made.text);
        let item = format!("{route}/{}", made.body["id"]);
        let list = |user: &User| {
            let asked = format!("{route}?context=edit&where[resource]=posts");
            server.ask("GET", &asked, Some(user), None)
        };
        let own = list(&ann).body;
        assert_eq!((&own[0]["name"], &own[0]["query"]), (&view["name"], &view["query"]), "{own}");
        assert_eq!(list(&ben).body, json!([]), "not even administrators see them");
        assert_eq!(list(&sue).status, 403);
        for (user, path) in [(&ben, route.to_owned()), (&ben, item.clone())] {
            let read = server.ask("GET", &path, Some(user), None);
            assert!(!read.text.contains("Mine"), "{}", read.text);
        }
        assert_eq!(server.ask("GET", &format!("{item}?context=edit"), Some(&ben), None).status, 403);
        assert_eq!(server.ask("PUT", &item, Some(&ben), Some(&view)).status, 403);
        assert_eq!(server.ask("DELETE", &item, Some(&ben), None).status, 403);
        assert_eq!(server.ask("DELETE", &format!("{item}?force=true"), Some(&ann), None).status, 200);
        // The contract knows nothing of it.
        assert!(!server.get("/").text.contains("saved-views") && !server.get("/").text.contains("presence"));
    }
}
