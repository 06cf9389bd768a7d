//! Streams of strangers and of each role while records change state and owner, and people their role, at random: an event
//! tells nothing that its receiver could not read at that moment, and nobody misses what they may read.

use super::dice::Dice;
use super::events::EventReader;
use super::server::Server;
use serde_json::{Value, json};

const STATES: [&str; 4] = ["publish", "draft", "private", "pending"];
const ROLES: [&str; 4] = ["subscriber", "contributor", "author", "editor"];
const TYPES: [&str; 2] = ["posts", "pages"];
const STEPS: usize = 80;

/// Somebody who listens, and asks for the same with requests.
struct Listener {
    name: &'static str,
    user: Option<(String, String)>,
    id: i64,
    events: EventReader,
}

struct Walk {
    server: Server,
    dice: Dice,
    listeners: Vec<Listener>,
    /// Records that are there, as `posts/12`.
    records: Vec<String>,
    comments: Vec<String>,
    made: usize,
}

impl Walk {
    fn start(seed: u64) -> Walk {
        let server = Server::start();
        let listener = |name: &'static str, user: Option<(String, String)>, id: i64| {
            let events = EventReader::open(&server, "?resources=posts,pages,comments,tags", user.as_ref());
            Listener { name, user, id, events }
        };
        let mut listeners =
            vec![listener("stranger", None, 0), listener("administrator", Some(server.admin.clone()), 1)];
        for role in ROLES {
            let user = server.user(role, role);
            let found = server.admin("GET", &format!("/cms/v2/users?search={role}&context=edit"), None).body;
            listeners.push(listener(role, Some(user), found[0]["id"].as_i64().expect("an id")));
        }
        Walk { server, dice: Dice(seed), listeners, records: Vec::new(), comments: Vec::new(), made: 0 }
    }

    fn admin(&self, method: &str, route: &str, body: Option<&Value>) -> Value {
        let done = self.server.admin(method, &format!("/cms/v2/{route}"), body);
        assert!(done.status < 300, "{method} {route} {body:?}: {}", done.text);
        done.body
    }

    /// Who may read an item now.
    fn readers(&self, item: &str) -> Vec<bool> {
        let reads =
            |one: &Listener| self.server.ask("GET", &format!("/cms/v2/{item}"), one.user.as_ref(), None).status == 200;
        self.listeners.iter().map(reads).collect()
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
        body
    }

    /// Changes something: what was done, the item, and who could read it before.
    fn change(&mut self) -> (String, String, Vec<bool>) {
        let nobody = vec![false; self.listeners.len()];
        let choice = self.dice.below(12);
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
            self.admin("POST", &user, Some(&json!({"roles": [role]})));
        }
        if choice < 5 {
            return self.comment();
        }
        let at = self.dice.below(self.records.len());
        let item = self.records[at].clone();
        let before = self.readers(&item);
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
            all.push(own);
        }
        all
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
                    let unknown = |names: &[&str]| names.iter().all(|name| event[*name].is_null());
                    assert!(after || (unknown(&["slug", "link"]) && event["status"]["after"].is_null()), "{what}");
                    assert!(after || matches!(event["type"].as_str(), Some("gone" | "deleted")), "{what}");
                    let former = unknown(&["previous_slug", "previous_link"]) && event["status"]["before"].is_null();
                    assert!(before || (former && event["changed"] == json!([])), "{what}");
                }
            }
        }
        assert!(told > STEPS, "{told}");
    }
}
