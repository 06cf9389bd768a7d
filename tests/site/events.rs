//! The stream of events: what is told of which change to whom, where it goes on, and when it ends.

use super::media::{png, upload};
use super::server::Server;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// A stream that is read as it comes.
pub struct EventReader {
    lines: BufReader<TcpStream>,
    pub head: String,
    /// The place that the server named last.
    pub place: String,
}

impl EventReader {
    /// Opens a stream, with a login and a password perhaps, and reads the head of the response.
    pub fn open(server: &Server, query: &str, user: Option<&(String, String)>) -> EventReader {
        EventReader::after(server, query, user, "")
    }

    /// The same after the event with this id.
    pub fn after(server: &Server, query: &str, user: Option<&(String, String)>, last: &str) -> EventReader {
        EventReader::at(server, &format!("/server/v1/events{query}"), user, last)
    }

    /// The same of a route that has a stream.
    pub fn at(server: &Server, route: &str, user: Option<&(String, String)>, last: &str) -> EventReader {
        let address = server.site.trim_start_matches("http://").to_owned();
        let mut stream = TcpStream::connect(&address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
        let path = server.rest.strip_prefix(&server.site).expect("a path");
        let token = |user: &(String, String)| STANDARD.encode(format!("{}:{}", user.0, user.1));
        let login = user.map(|user| format!("Authorization: Basic {}\r\n", token(user))).unwrap_or_default();
        let last = if last.is_empty() { String::new() } else { format!("Last-Event-ID: {last}\r\n") };
        let line = format!("GET {path}{route} HTTP/1.1\r\nHost: {address}\r\n");
        write!(stream, "{line}Accept: text/event-stream\r\nConnection: close\r\n{login}{last}\r\n").expect("a request");
        let mut reader = EventReader { lines: BufReader::new(stream), head: String::new(), place: String::new() };
        while !reader.head.ends_with("\n\n") {
            let line = reader.line().expect("a head").to_lowercase();
            reader.head.push_str(&format!("{line}\n"));
        }
        reader
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line).expect("a line in time");
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// The next event with its name; `None` at the end.
    pub fn next(&mut self) -> Option<(String, Value)> {
        let mut name = "message".to_owned();
        loop {
            let line = self.line()?;
            if let Some(id) = line.strip_prefix("id: ") {
                self.place = id.to_owned();
            } else if let Some(event) = line.strip_prefix("event: ") {
                name = event.to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((name, serde_json::from_str(data).expect("JSON")));
            }
        }
    }

    /// The position that the stream begins with.
    pub fn position(&mut self) -> String {
        while self.place.is_empty() {
            let line = self.line().expect("a position");
            line.strip_prefix("id: ").unwrap_or_default().clone_into(&mut self.place);
        }
        self.place.clone()
    }

    /// The next event about items of a resource: its type, and the event.
    pub fn of(&mut self, resource: &str) -> (String, Value) {
        loop {
            let (_, event) = self.next().expect("an event");
            if event["resource"] == resource {
                return (event["type"].as_str().expect("a type").to_owned(), event);
            }
        }
    }
}

fn made(server: &Server, route: &str, body: Value) -> Value {
    let made = server.admin("POST", route, Some(&body));
    assert!(matches!(made.status, 200 | 201), "{route} {body}: {}", made.text);
    made.body
}

fn change(server: &Server, id: &Value, body: Value) {
    made(server, &format!("/{}/v2/posts/{id}", server.prefix), body);
}

#[test]
fn changes_are_told_in_their_order() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let posts = format!("/{prefix}/v2/posts");
        let mut events = EventReader::open(&server, "?resources=posts,tags", None);
        assert!(events.head.starts_with("http/1.1 200"), "{}", events.head);
        for header in ["content-type: text/event-stream\n", "x-accel-buffering: no\n", "cache-control: no-store\n"] {
            assert!(events.head.contains(header), "{}", events.head);
        }
        let mut editor = EventReader::open(&server, "?resources=posts", Some(&server.admin));
        let post = made(&server, &posts, json!({"title": "Harbour", "status": "publish"}));
        let id = &post["id"];
        let (kind, event) = events.of("posts");
        assert_eq!(kind, "published", "{event}");
        assert_eq!((&event["record"], &event["slug"], &event["link"]), (id, &json!("harbour"), &post["link"]));
        assert_eq!(event["status"], json!({"before": null, "after": "publish"}));
        assert_eq!(event["keys"], json!(["posts", format!("posts/{id}")]));
        assert_eq!((&event["version"], &event["kind"]), (&json!(1), &json!("post")));
        assert_eq!(event.as_object().map(|event| event.contains_key("title")), Some(false), "no contents");
        assert_eq!(editor.of("posts").0, "published");
        for (body, for_all, for_editors) in [
            (json!({"title": "Quay"}), Some("updated"), "updated"),
            (json!({"slug": "quay"}), Some("updated"), "updated"),
            (json!({"status": "private"}), Some("gone"), "unpublished"),
            (json!({"slug": "secret"}), None, "updated"),
            (json!({"status": "draft"}), None, "updated"),
            (json!({"status": "publish", "slug": "quay"}), Some("published"), "published"),
        ] {
            change(&server, id, body.clone());
            let (kind, told) = editor.of("posts");
            assert_eq!(kind, for_editors, "{body}: {told}");
            let Some(expected) = for_all else { continue };
            let (kind, event) = events.of("posts");
            assert_eq!((&*kind, &event["record"]), (expected, id), "{body}: {event}");
            let text = event.to_string();
            assert!(!text.contains("secret") && !text.contains("private") && !text.contains("draft"), "{text}");
            if body["slug"] == "quay" && expected == "updated" {
                assert_eq!((&event["slug"], &event["previous_slug"]), (&json!("quay"), &json!("harbour")));
                assert_eq!(event["previous_link"], post["link"]);
                assert!(event["changed"].as_array().is_some_and(|names| names.contains(&json!("slug"))), "{event}");
            }
            if expected == "gone" {
                assert_eq!((&event["slug"], &event["previous_slug"]), (&Value::Null, &json!("quay")));
                assert!(event["previous_link"].as_str().is_some_and(|link| link.ends_with("/quay/")), "{event}");
                assert_eq!(event["status"], json!({"before": "publish", "after": null}));
            }
        }
        let item = format!("{posts}/{id}");
        assert_eq!(server.admin("DELETE", &item, None).status, 200);
        let (kind, event) = events.of("posts");
        assert_eq!((&*kind, &event["previous_slug"]), ("gone", &json!("quay")), "{event}");
        assert_eq!(editor.of("posts").0, "trashed");
        change(&server, id, json!({"status": "publish"}));
        assert_eq!(editor.of("posts").0, "restored");
        assert_eq!(events.of("posts").0, "restored");
        assert_eq!(server.admin("DELETE", &format!("{item}?force=true"), None).status, 200);
        let (kind, event) = events.of("posts");
        assert_eq!((&*kind, &event["record"], &event["previous_slug"]), ("deleted", id, &json!("quay")), "{event}");
        assert_eq!(editor.of("posts").0, "deleted");
        // Terms have no states; what is gone is known by its taxonomy.
        let tag = made(&server, &format!("/{prefix}/v2/tags"), json!({"name": "Tides"}));
        assert_eq!(events.of("tags").0, "created");
        let tag = format!("/{prefix}/v2/tags/{}", tag["id"]);
        assert_eq!(server.admin("DELETE", &format!("{tag}?force=true"), None).status, 200);
        let (kind, event) = events.of("tags");
        assert_eq!((&*kind, &event["previous_slug"]), ("deleted", &json!("tides")), "{event}");
    }
}

#[test]
fn a_listener_goes_on_where_it_was() {
    let mut server = Server::start();
    let posts = "/cms/v2/posts";
    let mut events = EventReader::open(&server, "?resources=posts", None);
    let first = made(&server, posts, json!({"title": "One", "status": "publish"}));
    assert_eq!(events.of("posts").1["record"], first["id"]);
    let place = events.place.clone();
    drop(events);
    let ids: Vec<Value> = (0..20)
        .map(|n| made(&server, posts, json!({"title": format!("Post {n}"), "status": "publish"}))["id"].clone())
        .collect();
    let check = |mut events: EventReader| {
        for id in &ids {
            assert_eq!(events.of("posts").1["record"], *id);
        }
    };
    check(EventReader::after(&server, "?resources=posts", None, &place));
    check(EventReader::open(&server, &format!("?resources=posts&after={place}"), None));
    server.kill_and_restart();
    check(EventReader::after(&server, "?resources=posts&after=1", None, &place));
    // Only what the filter names: what was created in public counts as created, too.
    let mut created = EventReader::after(&server, "?resources=posts&events=created", None, &place);
    assert_eq!(created.of("posts").1["record"], ids[0]);
    // Drafts are of no matter to the first one, terms have no states.
    let [mut public, mut drafts] = ["publish", "draft"].map(|state| {
        EventReader::open(&server, &format!("?resources=posts,tags&statuses={state}"), Some(&server.admin))
    });
    let plan = made(&server, posts, json!({"title": "Plan"}));
    assert_eq!(drafts.of("posts").1["record"], plan["id"]);
    let tag = made(&server, "/cms/v2/tags", json!({"name": "Tides"}));
    assert_eq!(public.next().expect("an event").1["record"], tag["id"]);
    change(&server, &plan["id"], json!({"status": "publish"}));
    for reader in [&mut public, &mut drafts] {
        assert_eq!(reader.of("posts").1["status"], json!({"before": "draft", "after": "publish"}));
    }
    // Entries that the caller may not read are passed over, however many there are, and so are those of other filters.
    let draft = made(&server, posts, json!({"title": "Plan"}));
    for n in 0..120 {
        change(&server, &draft["id"], json!({"title": format!("Plan {n}")}));
    }
    let late = made(&server, posts, json!({"title": "Late", "status": "publish"}));
    for query in ["?resources=posts", "?events=created"] {
        let mut events = EventReader::after(&server, query, None, &place);
        while events.of("posts").1["record"] != late["id"] {}
    }
    for lost in ["999999999", "no number", "-5"] {
        let mut events = EventReader::after(&server, "", None, lost);
        let (name, event) = events.next().expect("an event");
        assert_eq!(name, "reset", "{lost}: {event}");
        assert_eq!(event["id"].to_string(), events.place);
        let tag = made(&server, "/cms/v2/tags", json!({"name": format!("Tag {lost}")}));
        assert_eq!(events.of("tags").1["record"], tag["id"]);
    }
}

#[test]
fn nobody_hears_of_what_they_may_not_read() {
    let server = Server::start();
    let (author, other) = (server.user("author", "author"), server.user("other", "author"));
    let mut stranger = EventReader::open(&server, "", None);
    let mut own = EventReader::open(&server, "?resources=posts", Some(&author));
    let mut others = EventReader::open(&server, "", Some(&other));
    let draft = server.ask("POST", "/cms/v2/posts", Some(&author), Some(&json!({"title": "Plan"}))).body;
    assert_eq!(own.of("posts").0, "created");
    made(&server, "/cms/v2/settings", json!({"description": "Ships and tides"}));
    made(&server, "/server/v1/redirects", json!({"from": "/old", "to": "/new"}));
    let page = made(&server, "/cms/v2/pages", json!({"title": "Team", "status": "private"}));
    assert_eq!(server.admin("DELETE", &format!("/cms/v2/pages/{}?force=true", page["id"]), None).status, 200);
    let item = format!("/cms/v2/posts/{}", draft["id"]);
    assert_eq!(server.ask("DELETE", &format!("{item}?force=true"), Some(&author), None).status, 200);
    assert_eq!(own.of("posts").0, "deleted");
    let tag = made(&server, "/cms/v2/tags", json!({"name": "Tides"}));
    for reader in [&mut stranger, &mut others] {
        let (_, event) = reader.next().expect("an event");
        assert_eq!((&event["resource"], &event["record"]), (&json!("tags"), &tag["id"]), "{event}");
    }
    // Administrators are told of all of it.
    let mut admin = EventReader::open(&server, "?after=1", Some(&server.admin));
    for resource in ["posts", "settings", "redirects", "pages", "tags"] {
        admin.of(resource);
    }
}

#[test]
fn a_stream_ends_with_its_credentials_and_has_its_bounds() {
    let server = Server::with(&["events.streams_of_caller=2", "events.streams=4"]);
    let reader = server.user("reader", "subscriber");
    let mut one = EventReader::open(&server, "", Some(&reader));
    let two = EventReader::open(&server, "", Some(&reader));
    let refused = EventReader::open(&server, "", Some(&reader));
    assert!(refused.head.starts_with("http/1.1 429") && refused.head.contains("retry-after:"), "{}", refused.head);
    // All callers together have no more than the process has.
    let strangers = [0, 1].map(|_| EventReader::open(&server, "", None));
    assert!(strangers.iter().all(|one| one.head.starts_with("http/1.1 200")), "{}", strangers[1].head);
    let refused = EventReader::open(&server, "", Some(&server.admin));
    assert!(refused.head.starts_with("http/1.1 429"), "{}", refused.head);
    drop((two, strangers));
    let users = server.admin("GET", "/cms/v2/users?search=reader&context=edit", None).body;
    let passwords = format!("/cms/v2/users/{}/application-passwords", users[0]["id"]);
    assert_eq!(server.admin("DELETE", &passwords, None).status, 200);
    while let Some((_, event)) = one.next() {
        assert_ne!(event["resource"], "posts");
    }
    // Without a request for a stream there is none.
    let plain = server.get("/server/v1/events");
    assert_eq!((plain.status, plain.code()), (400, "rest_bad_request"), "{}", plain.text);
    for (query, status) in
        [("?resources=nothing", 400), ("?events=nothing", 400), ("?statuses=nothing", 400), ("?after=x", 400)]
    {
        assert_eq!(server.get(&format!("/server/v1/events{query}")).status, status, "{query}");
    }
}

#[test]
fn a_node_tells_what_another_has_written() {
    let first = Server::start();
    let second = first.beside();
    let mut events = EventReader::open(&second, "?resources=posts", None);
    for n in 0..5 {
        let post = made(&first, "/cms/v2/posts", json!({"title": format!("Post {n}"), "status": "publish"}));
        assert_eq!(events.of("posts").1["record"], post["id"]);
    }
    // Each node knows every place.
    let mut again = EventReader::after(&first, "?resources=posts", None, &events.place);
    let post = made(&second, "/cms/v2/posts", json!({"title": "Last", "status": "publish"}));
    assert_eq!(again.of("posts").1["record"], post["id"]);
}

#[test]
fn what_is_told_is_declared() {
    let server = Server::start();
    let site = "[events.resources]\nposts = [\"published\"]\ntags = []\n[events.ignore]\npages = [\"menu_order\"]\n";
    std::fs::write(server.path("site.toml"), site).expect("a file");
    let server = server.restart_with(&[]);
    let mut events = EventReader::open(&server, "", Some(&server.admin));
    let post = made(&server, "/cms/v2/posts", json!({"title": "Plan"}));
    made(&server, "/cms/v2/tags", json!({"name": "Tides"}));
    change(&server, &post["id"], json!({"status": "publish"}));
    let (_, event) = events.next().expect("an event");
    assert_eq!((&event["type"], &event["record"]), (&json!("published"), &post["id"]), "{event}");
}

/// The addresses of an event where the site is read, and whether others may show the item, too.
fn front(event: &Value) -> (BTreeSet<String>, bool) {
    let addresses = &event["addresses"];
    let front = addresses["front"].as_array().expect("addresses").iter().filter_map(Value::as_str);
    (front.map(str::to_owned).collect(), addresses["all"].as_bool().expect("a decision"))
}

/// Addresses with those of their feeds.
fn with_feeds(links: &[&Value]) -> BTreeSet<String> {
    let links = links.iter().filter_map(|link| link.as_str());
    links.flat_map(|link| [link.to_owned(), format!("{link}feed/")]).collect()
}

#[test]
fn events_name_the_addresses_that_show_the_item() {
    let server = Server::start();
    let sea = made(&server, "/cms/v2/categories", json!({"name": "Sea"}));
    let tides = made(&server, "/cms/v2/categories", json!({"name": "Tides", "parent": sea["id"]}));
    let tag = made(&server, "/cms/v2/tags", json!({"name": "Spring"}));
    let mut events = EventReader::open(&server, "", None);
    let mut admin = EventReader::open(&server, "", Some(&server.admin));
    let post = made(
        &server,
        "/cms/v2/posts",
        json!({"title": "Harbour", "status": "publish", "date": "2024-05-06T10:00:00",
            "categories": [tides["id"]], "tags": [tag["id"]]}),
    );
    let base = tag["link"].as_str().and_then(|link| link.split_once("/tag/")).expect("a link").0.to_owned();
    let site: Vec<Value> =
        ["/", "/2024/", "/2024/05/", "/2024/05/06/"].iter().map(|path| json!(format!("{base}{path}"))).collect();
    let author = server.get(&format!("/cms/v2/users/{}", post["author"])).body["link"].clone();
    let mut lists: Vec<&Value> = vec![&post["link"], &sea["link"], &tides["link"], &tag["link"], &author];
    lists.extend(&site);
    let mut expected = with_feeds(&lists);
    expected.insert(format!("{base}/feed.json"));
    let (_, event) = events.of("posts");
    assert_eq!(front(&event), (expected.clone(), false), "{event}");
    let links = ["self", "collection"].map(|link| post["_links"][link][0]["href"].clone());
    assert_eq!(event["addresses"]["rest"], json!(links));
    assert_eq!(front(&admin.of("posts").1).0, expected);
    // The address before, too; lists of another author or date are not known.
    let id = &post["id"];
    change(&server, id, json!({"slug": "quay"}));
    let moved = events.of("posts").1;
    assert!(front(&moved).0.is_superset(&expected) && !front(&moved).1, "{moved}");
    assert!(front(&moved).0.contains(moved["link"].as_str().expect("a link")), "{moved}");
    change(&server, id, json!({"slug": "harbour", "date": "2024-06-06T10:00:00"}));
    let dated = events.of("posts").1;
    assert!(front(&dated).1 && front(&dated).0.contains(&format!("{base}/2024/06/")), "{dated}");
    change(&server, id, json!({"date": "2024-05-06T10:00:00"}));
    events.of("posts");
    // The lists that have lost it; what is written about a draft concerns no address where the site is read.
    change(&server, id, json!({"status": "draft"}));
    let gone = events.of("posts").1;
    assert_eq!((&gone["type"], front(&gone)), (&json!("gone"), (expected.clone(), false)), "{gone}");
    change(&server, id, json!({"title": "Plan"}));
    let mut draft = admin.of("posts").1;
    while draft["changed"] != json!(["title"]) && draft["status"] != json!({"before": "draft", "after": "draft"}) {
        draft = admin.of("posts").1;
    }
    assert_eq!(front(&draft), (BTreeSet::new(), false), "{draft}");
    assert_eq!(draft["addresses"]["rest"], json!(links));
    // A record that is gone for good was in lists that nobody knows any more.
    change(&server, id, json!({"status": "publish"}));
    assert_eq!(front(&events.of("posts").1), (expected, false));
    let comment = made(&server, "/cms/v2/comments", json!({"post": id, "content": "Ahoy"}));
    let (_, event) = events.of("comments");
    let mut shown = with_feeds(&[&post["link"]]);
    shown.insert(format!("{base}/comments/feed/"));
    assert_eq!((&event["record"], front(&event)), (&comment["id"], (shown, false)), "{event}");
    assert_eq!(server.admin("DELETE", &format!("/cms/v2/posts/{id}?force=true"), None).status, 200);
    let (_, event) = events.of("posts");
    assert_eq!((&event["type"], front(&event)), (&json!("deleted"), (BTreeSet::new(), true)), "{event}");
}

#[test]
fn events_say_where_other_addresses_may_show_the_item() {
    let server = Server::start();
    let mut events = EventReader::open(&server, "", Some(&server.admin));
    let tag = made(&server, "/cms/v2/tags", json!({"name": "Spring"}));
    assert_eq!(front(&events.of("tags").1), (with_feeds(&[&tag["link"]]), false));
    let page = made(&server, "/cms/v2/pages", json!({"title": "Port", "status": "publish"}));
    assert_eq!(front(&events.of("pages").1), (with_feeds(&[&page["link"]]), false));
    let item = format!("/cms/v2/pages/{}", page["id"]);
    made(&server, &item, json!({"slug": "quay"}));
    let (addresses, all) = front(&events.of("pages").1);
    assert!(addresses.is_superset(&with_feeds(&[&page["link"]])) && !all, "{addresses:?}");
    made(&server, "/cms/v2/pages", json!({"title": "Crane", "status": "publish", "parent": page["id"]}));
    assert!(!front(&events.of("pages").1).1);
    // The address of the page below moves with it.
    made(&server, &item, json!({"slug": "pier"}));
    assert!(front(&events.of("pages").1).1);
    made(&server, "/cms/v2/settings", json!({"description": "Ships and tides"}));
    let (_, event) = events.of("settings");
    assert_eq!(front(&event), (BTreeSet::new(), true), "{event}");
    made(&server, "/server/v1/redirects", json!({"from": "/old", "to": "/new"}));
    assert!(front(&events.of("redirects").1).1);
    // The lists of its date before are not known any more, also where it is scheduled by that.
    let post =
        made(&server, "/cms/v2/posts", json!({"title": "Tide", "status": "publish", "date": "2023-08-15T08:00:00"}));
    assert!(!front(&events.of("posts").1).1);
    change(&server, &post["id"], json!({"status": "future", "date": "2123-08-15T08:00:00"}));
    assert!(front(&events.of("posts").1).1);
    // A file names the records that refer to it.
    let file = upload(&server, "ship.png", "image/png", png(4, 4)).body;
    assert!(!front(&events.of("media").1).1);
    let shows = json!({"title": "Ship", "status": "publish", "featured_media": file["id"]});
    let shows = made(&server, "/cms/v2/posts", shows);
    made(&server, &format!("/cms/v2/media/{}", file["id"]), json!({"alt_text": "A ship"}));
    let (addresses, all) = front(&events.of("media").1);
    assert!(addresses.contains(shows["link"].as_str().expect("a link")) && !all, "{addresses:?}");
}

#[test]
fn events_name_the_addresses_of_terms_names_and_moves_before() {
    let server = Server::start();
    let sea = made(&server, "/cms/v2/categories", json!({"name": "Sea"}));
    let land = made(&server, "/cms/v2/categories", json!({"name": "Land"}));
    let tides = made(&server, "/cms/v2/categories", json!({"name": "Tides", "parent": sea["id"]}));
    let body = json!({"title": "Harbour", "status": "publish", "categories": [tides["id"]]});
    let post = made(&server, "/cms/v2/posts", body);
    let mut events = EventReader::open(&server, "", None);
    let mut admin = EventReader::open(&server, "", Some(&server.admin));
    // The lists of the category that it left, and of the one above.
    change(&server, &post["id"], json!({"categories": [land["id"]]}));
    let (_, event) = events.of("posts");
    let lists = with_feeds(&[&tides["link"], &sea["link"], &land["link"]]);
    assert!(front(&event).0.is_superset(&lists) && !front(&event).1, "{event}");
    assert!(event["changed"].as_array().is_some_and(|names| names.contains(&json!("categories"))), "{event}");
    // Records show the names of their terms and authors, drafts do so to nobody.
    made(&server, "/cms/v2/posts", json!({"title": "Plan", "categories": [land["id"]]}));
    made(&server, &format!("/cms/v2/categories/{}", land["id"]), json!({"name": "Shore"}));
    let (_, event) = events.of("categories");
    let mut shown = with_feeds(&[&land["link"]]);
    shown.insert(post["link"].as_str().expect("a link").to_owned());
    assert_eq!(front(&event), (shown, false), "{event}");
    made(&server, "/cms/v2/users/1", json!({"name": "Ann"}));
    let (_, event) = events.of("users");
    assert!(front(&event).0.contains(post["link"].as_str().expect("a link")), "{event}");
    // The addresses of terms below move with the one above.
    made(&server, &format!("/cms/v2/categories/{}", sea["id"]), json!({"slug": "ocean"}));
    assert!(front(&events.of("categories").1).1);
    // A second move concerns the first address, too: editors learn it.
    for slug in ["quay", "pier"] {
        change(&server, &post["id"], json!({"slug": slug}));
    }
    let first = post["link"].as_str().expect("a link");
    let second = |events: &mut EventReader| loop {
        let (_, event) = events.of("posts");
        if event["previous_slug"] == "quay" {
            return front(&event);
        }
    };
    let (addresses, all) = second(&mut events);
    assert!(!addresses.contains(first) && !all, "{addresses:?}");
    let (addresses, all) = second(&mut admin);
    assert!(addresses.contains(first) && !all, "{addresses:?}");
}
