//! Streams of strangers and of each role while records change state and owner, and people their role, at random: an event
//! tells nothing that its receiver could not read at that moment, and nobody misses what they may read. Whoever comes back to an
//! old position is told no name either that they could never read, and revoked credentials end a stream within a second.

use super::dice::Dice;
use super::events::EventReader;
use super::media::{multipart, png};
use super::server::Server;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

const STATES: [&str; 4] = ["publish", "draft", "private", "pending"];
const ROLES: [&str; 4] = ["subscriber", "contributor", "author", "editor"];
const TYPES: [&str; 2] = ["posts", "pages"];
const STEPS: usize = 50;
const RESOURCES: &str = "?resources=posts,pages,comments,tags,categories,media,users";

/// Longest time until the stream of revoked credentials ends: a second, and what a busy machine takes.
const REVOKED: Duration = Duration::from_secs(4);

/// Somebody who listens, and asks for the same with requests.
struct Listener {
    name: &'static str,
    user: Option<(String, String)>,
    id: i64,
    events: EventReader,
    /// Its position when it began.
    place: String,
    /// Numbers of the names that it could read at some time.
    known: BTreeSet<usize>,
}

/// The numbers of the names in a text: every title and slug of the walk has one of its own.
fn names(text: &str) -> BTreeSet<usize> {
    let text = text.to_lowercase().replace("thing-", "thing ");
    let after = text.split("thing ").skip(1);
    after.filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()).collect()
}

struct Walk {
    server: Server,
    dice: Dice,
    listeners: Vec<Listener>,
    /// Records that are there, as `posts/12`.
    records: Vec<String>,
    comments: Vec<String>,
    files: Vec<String>,
    categories: Vec<Value>,
    made: usize,
}

impl Walk {
    fn start(seed: u64) -> Walk {
        let server = Server::start();
        let listener = |name: &'static str, user: Option<(String, String)>, id: i64| {
            let mut events = EventReader::open(&server, RESOURCES, user.as_ref());
            let place = events.position();
            Listener { name, user, id, events, place, known: BTreeSet::new() }
        };
        let mut listeners =
            vec![listener("stranger", None, 0), listener("administrator", Some(server.admin.clone()), 1)];
        for role in ROLES {
            let user = server.user(role, role);
            let found = server.admin("GET", &format!("/cms/v2/users?search={role}&context=edit"), None).body;
            listeners.push(listener(role, Some(user), found[0]["id"].as_i64().expect("an id")));
        }
        let category = |name: &str| server.admin("POST", "/cms/v2/categories", Some(&json!({"name": name})));
        let categories = ["Sea", "Tides", "Ships"].map(|name| category(name).body["id"].clone()).to_vec();
        let [records, comments, files] = [const { Vec::new() }; 3];
        Walk { server, dice: Dice(seed), listeners, records, comments, files, categories, made: 0 }
    }

    fn admin(&self, method: &str, route: &str, body: Option<&Value>) -> Value {
        let done = self.server.admin(method, &format!("/cms/v2/{route}"), body);
        assert!(done.status < 300, "{method} {route} {body:?}: {}", done.text);
        done.body
    }

    /// Who may read an item now. They know its names from then on.
    fn readers(&mut self, item: &str) -> Vec<bool> {
        let server = &self.server;
        let reads = |one: &mut Listener| {
            let answer = server.ask("GET", &format!("/cms/v2/{item}"), one.user.as_ref(), None);
            one.known.extend(names(&answer.text));
            answer.status == 200
        };
        self.listeners.iter_mut().map(reads).collect()
    }

    fn unique(&mut self) -> String {
        self.made += 1;
        format!("Thing {}", self.made)
    }

    /// A new value in any case, and a state or an owner perhaps.
    fn values(&mut self) -> Value {
        let mut body = json!({"title": self.unique()});
        if self.dice.one_in(2) {
            body["status"] = json!(self.dice.of(&STATES));
        }
        if self.dice.one_in(3) {
            // Everybody but strangers and subscribers has records.
            let owner = 1 + self.dice.below(self.listeners.len() - 1);
            body["author"] = json!(self.listeners[owner].id);
        }
        if self.dice.one_in(4) {
            body["slug"] = json!(self.unique().replace(' ', "-").to_lowercase());
        }
        if self.dice.one_in(4) {
            body["password"] = json!(*self.dice.of(&["", "tide"]));
        }
        body
    }

    /// Changes something: what was done, the item, and who could read it before.
    fn change(&mut self) -> (String, String, Vec<bool>) {
        let nobody = vec![false; self.listeners.len()];
        let choice = self.dice.below(14);
        if self.records.len() < 3 || choice < 2 {
            let (kind, body) = (*self.dice.of(&TYPES), self.values());
            let item = format!("{kind}/{}", self.admin("POST", kind, Some(&body))["id"]);
            self.records.push(item.clone());
            return (format!("made {body}"), item, nobody);
        }
        if choice == 2 {
            let at = self.dice.below(ROLES.len());
            let role = *self.dice.of(&ROLES);
            let user = format!("users/{}", self.listeners[2 + at].id);
            let before = self.readers(&user);
            let name = self.unique();
            self.admin("POST", &user, Some(&json!({"roles": [role], "name": name})));
            return (format!("became {role}"), user, before);
        }
        if choice > 11 {
            return self.file();
        }
        if choice < 5 {
            return self.comment();
        }
        let at = self.dice.below(self.records.len());
        let item = self.records[at].clone();
        let before = self.readers(&item);
        if choice == 9 && item.starts_with("posts/") {
            let category = self.dice.of(&self.categories.clone()).clone();
            let body = json!({"title": self.unique(), "categories": [category]});
            self.admin("POST", &item, Some(&body));
            return (format!("changed {body}"), item, before);
        }
        if choice > 9 {
            let trashed = self.admin("GET", &format!("{item}?context=edit"), None)["status"] == "trash";
            let force = trashed || self.dice.one_in(2);
            if force {
                self.records.remove(at);
            }
            self.admin("DELETE", &format!("{item}?force={force}"), None);
            return (format!("deleted, force={force}"), item, before);
        }
        let body = self.values();
        self.admin("POST", &item, Some(&body));
        (format!("changed {body}"), item, before)
    }

    /// Files are read as the records are that they belong to.
    fn file(&mut self) -> (String, String, Vec<bool>) {
        let title = self.unique();
        let of = self.dice.of(&self.records.clone()).clone();
        let (_, record) = of.split_once('/').expect("an item");
        let (kind, body) = multipart(&[("title", &title), ("post", record)], Some(("file", "t.png", &png(1, 1))));
        let url = format!("{}/cms/v2/media", self.server.rest);
        let made = self.server.send("POST", &url, Some(&self.server.admin), Some((kind, body)), &[]);
        assert_eq!(made.status, 201, "{}", made.text);
        let item = format!("media/{}", made.body["id"]);
        self.files.push(item.clone());
        (format!("attached to {of}"), item, vec![false; self.listeners.len()])
    }

    /// Comments are read as their records are.
    fn comment(&mut self) -> (String, String, Vec<bool>) {
        let status = *self.dice.of(&["approved", "hold"]);
        let text = self.unique();
        if self.comments.is_empty() || self.dice.one_in(2) {
            let posts: Vec<&String> = self.records.iter().filter(|item| item.starts_with("posts/")).collect();
            let state_of = |item: &str| self.admin("GET", &format!("{item}?context=edit"), None)["status"].clone();
            let open = posts.into_iter().find(|item| ["publish", "private"].map(Value::from).contains(&state_of(item)));
            let post = match open {
                Some(item) => item.trim_start_matches("posts/").to_owned(),
                None => {
                    self.admin("POST", "posts", Some(&json!({"title": text, "status": "private"})))["id"].to_string()
                }
            };
            let body = json!({"post": post.parse::<i64>().expect("a number"), "content": text, "status": status});
            let item = format!("comments/{}", self.admin("POST", "comments", Some(&body))["id"]);
            self.comments.push(item.clone());
            return (format!("made {body}"), item, vec![false; self.listeners.len()]);
        }
        let item = self.dice.of(&self.comments.clone()).clone();
        if self.server.admin("GET", &format!("/cms/v2/{item}"), None).status != 200 {
            // It went with its record.
            self.comments.retain(|own| *own != item);
            return self.comment();
        }
        let before = self.readers(&item);
        let body = json!({"content": text, "status": status});
        self.admin("POST", &item, Some(&body));
        (format!("changed {body}"), item, before)
    }

    /// The events of an item that each listener hears until everybody has heard of a tag.
    fn heard(&mut self, item: &str) -> Vec<Vec<Value>> {
        let name = self.unique();
        let tag = self.admin("POST", "tags", Some(&json!({"name": name})))["id"].clone();
        let (resource, key) = item.split_once('/').expect("an item");
        let key: i64 = key.parse().expect("a number");
        let mut all = Vec::new();
        for listener in &mut self.listeners {
            let mut own = Vec::new();
            loop {
                let (_, event) = listener.events.next().expect("an event");
                if event["resource"] == "tags" && event["record"] == tag {
                    break;
                }
                if event["resource"] == resource && event["record"] == key {
                    own.push(event);
                }
            }
            // Tags are everybody's.
            listener.known.extend(names(&name));
            all.push(own);
        }
        all
    }

    /// The events from the beginning, as each listener is told them now, name nothing that it could never read.
    fn replay(&mut self, seed: u64) {
        // Readers know what has become readable with something else, too.
        for item in [&self.records[..], &self.comments, &self.files].concat() {
            self.readers(&item);
        }
        let name = self.unique();
        let tag = self.admin("POST", "tags", Some(&json!({"name": name})))["id"].clone();
        for listener in &mut self.listeners {
            listener.known.extend(names(&name));
            let mut again = EventReader::after(&self.server, RESOURCES, listener.user.as_ref(), &listener.place);
            loop {
                let (_, event) = again.next().expect("an event");
                // Of what is gone for good those are told the last name who could read it by the role that they have now.
                if event["type"] == "deleted" {
                    continue;
                }
                let unknown: Vec<usize> = names(&event.to_string()).difference(&listener.known).copied().collect();
                assert!(unknown.is_empty(), "seed {seed}, {}, told again: {unknown:?} in {event}", listener.name);
                if event["resource"] == "tags" && event["record"] == tag {
                    break;
                }
            }
        }
    }

    /// Streams end where their credentials are revoked, though nothing else happens.
    fn revoke(&mut self) {
        for listener in &mut self.listeners.iter_mut().filter(|listener| ROLES.contains(&listener.name)) {
            let passwords = format!("/cms/v2/users/{}/application-passwords", listener.id);
            assert_eq!(self.server.admin("DELETE", &passwords, None).status, 200);
            let revoked = Instant::now();
            while listener.events.next().is_some() {}
            assert!(revoked.elapsed() < REVOKED, "{}: {:?}", listener.name, revoked.elapsed());
        }
    }
}

#[test]
fn streams_tell_nobody_what_they_may_not_read() {
    for seed in [41, 4711] {
        let mut walk = Walk::start(seed);
        let mut told = 0;
        for step in 0..STEPS {
            let (done, item, before) = walk.change();
            let after = walk.readers(&item);
            let heard = walk.heard(&item);
            for (at, listener) in walk.listeners.iter().enumerate() {
                let [before, after] = [before[at], after[at]];
                let what = format!(
                    "seed {seed}, step {step}, {}: {item} {done}; could read it {before}, then {after}: {:?}",
                    listener.name, heard[at]
                );
                assert_eq!(!heard[at].is_empty(), before || after, "{what}");
                for event in &heard[at] {
                    told += 1;
                    let secret: Vec<usize> = names(&event.to_string()).difference(&listener.known).copied().collect();
                    assert!(secret.is_empty(), "{secret:?}: {what}");
                    let unknown = |names: &[&str]| names.iter().all(|name| event[*name].is_null());
                    assert!(after || (unknown(&["slug", "link"]) && event["status"]["after"].is_null()), "{what}");
                    assert!(after || matches!(event["type"].as_str(), Some("gone" | "deleted")), "{what}");
                    let former = unknown(&["previous_slug", "previous_link"]) && event["status"]["before"].is_null();
                    assert!(before || (former && event["changed"] == json!([])), "{what}");
                }
            }
        }
        assert!(told > STEPS, "{told}");
        walk.replay(seed);
        walk.revoke();
    }
}
