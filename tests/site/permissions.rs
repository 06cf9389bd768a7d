//! Permissions: every route and method, by every role, for own objects and those of others.
//!
//! The table in `fixtures/permissions/ours.txt` contains this server's responses; `wordpress.txt` those of a WordPress
//! 6.1 to the same requests (`PERMISSIONS_OF="http://HOST/wp-json LOGIN PASSWORD [COLLECTION]" cargo test permissions`
//! records them again, or a collection's part). Where both have a row they agree, or the row is in `different.txt` with
//! the reason.

use super::server::{Answer, Server};
use expect_test::expect_file;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

const ROLES: [&str; 6] = ["stranger", "subscriber", "contributor", "author", "editor", "administrator"];

/// The target of a request.
struct Walk<'a> {
    client: &'a Server,
    rest: String,
    admin: (String, String),
    /// By role: number, login and application password.
    people: HashMap<&'static str, (i64, (String, String))>,
    /// Things that were only read, for the next reader.
    kept: HashMap<String, Vec<(String, String)>>,
    made: u32,
}

/// Kinds of content, with the states in which their rights differ.
const CONTENT: [&str; 4] = ["posts", "pages", "blocks", "navigation"];
/// Objects with an author: others belong to whoever created them.
const AUTHORED: [&str; 2] = ["posts", "pages"];
const STATES: [&str; 3] = ["publish", "draft", "private"];

impl Walk<'_> {
    fn ask(&self, method: &str, route: &str, who: Option<&(String, String)>, body: Option<&Value>) -> Answer {
        let body = body.map(|b| ("application/json", b.to_string().into_bytes()));
        self.client.send(method, &format!("{}{route}", self.rest), who, body, &[])
    }

    fn admin(&self, method: &str, route: &str, body: &Value) -> Value {
        let answer = self.ask(method, route, Some(&self.admin), Some(body));
        assert!(answer.status < 300, "{method} {route} {body}: {}", answer.text);
        answer.body
    }

    fn unique(&mut self) -> String {
        self.made += 1;
        format!("thing{}x{}", std::process::id(), self.made)
    }

    /// A user for every role.
    fn people(&mut self) {
        for role in &ROLES[1..] {
            let login = format!("{role}{}", self.unique());
            let body = json!({"username": login, "email": format!("{login}@example.org"), "password": "long enough", "roles": [role]});
            let id = self.admin("POST", "/wp/v2/users", &body)["id"].as_i64().expect("an id");
            let made =
                self.admin("POST", &format!("/wp/v2/users/{id}/application-passwords"), &json!({"name": "walk"}));
            self.people.insert(role, (id, (login, made["password"].as_str().expect("a password").to_owned())));
        }
    }

    /// Values for a route's variables: a thing of that collection that belongs to `owner`, in a state.
    fn thing(&mut self, route: &str, owner: i64, state: &str) -> Vec<(String, String)> {
        let collection = route.split('/').nth(3).unwrap_or("");
        let made = |v: &Value| v["id"].as_i64().expect("an id").to_string();
        let pair = |name: &str, value: String| (name.to_owned(), value);
        let name = self.unique();
        match collection {
            c if CONTENT.contains(&c) => {
                let at = format!("/wp/v2/{c}");
                let body = json!({"title": name, "content": "First.", "status": state, "author": owner});
                let id = made(&self.admin("POST", &at, &body));
                if route.contains("/autosaves/") {
                    let saved = self.admin("POST", &format!("{at}/{id}/autosaves"), &json!({"content": "Saved."}));
                    return vec![pair("parent", id), pair("id", made(&saved))];
                }
                if !route.contains("/revisions/") {
                    return vec![pair("parent", id.clone()), pair("id", id)];
                }
                self.admin("POST", &format!("{at}/{id}"), &json!({"content": "Second."}));
                self.admin("POST", &format!("{at}/{id}"), &json!({"content": "Third."}));
                let revisions =
                    self.ask("GET", &format!("{at}/{id}/revisions?per_page=1"), Some(&self.admin), None).body;
                vec![pair("parent", id), pair("id", made(&revisions[0]))]
            }
            "media" => {
                let headers = [("content-disposition", format!("attachment; filename={name}.txt"))];
                let headers = [("content-disposition", headers[0].1.as_str())];
                let body = Some(("text/plain", b"A file.".to_vec()));
                let url = format!("{}/wp/v2/media", self.rest);
                let id = made(&self.client.send("POST", &url, Some(&self.admin), body, &headers).body);
                self.admin("POST", &format!("/wp/v2/media/{id}"), &json!({"author": owner}));
                vec![pair("id", id)]
            }
            "font-families" => ["font_family_id", "id"].iter().map(|v| pair(v, "999".to_owned())).collect(),
            "global-styles" => ["stylesheet", "parent", "id"].iter().map(|v| pair(v, "999".to_owned())).collect(),
            "templates" | "template-parts" => {
                let body = json!({"slug": name, "title": name, "content": "First.", "status": state});
                let made = self.admin("POST", &format!("/wp/v2/{collection}"), &body);
                let named = made["id"].as_str().expect("a name").to_owned();
                // The path of a history contains the id of its record.
                let mut number = "1".to_owned();
                if route.contains("/revisions/") || route.contains("/autosaves/") {
                    let at = format!("/wp/v2/{collection}/{named}");
                    self.admin("PUT", &at, &json!({"content": "Second."}));
                    number = self.admin("POST", &format!("{at}/autosaves"), &json!({"content": "Saved."}))["wp_id"]
                        .to_string();
                    if route.contains("/revisions/") {
                        let past = self.ask("GET", &format!("{at}/revisions"), Some(&self.admin), None).body;
                        number = past[0]["wp_id"].to_string();
                    }
                    return vec![pair("parent", named), pair("id", number)];
                }
                vec![pair("parent", named.clone()), pair("id", if route.contains("(?P<id>") { named } else { number })]
            }
            "menu-items" => {
                let body = json!({"title": name, "url": "https://example.org/", "status": state});
                let id = made(&self.admin("POST", "/wp/v2/menu-items", &body));
                vec![pair("id", id.clone()), pair("parent", id)]
            }
            _ if route.starts_with("/wp-abilities/") => {
                vec![pair("slug", "nothing".to_owned()), pair("name", "nothing/nothing".to_owned())]
            }
            "categories" | "tags" | "wp_pattern_category" | "menus" => {
                vec![pair("id", made(&self.admin("POST", &format!("/wp/v2/{collection}"), &json!({"name": name}))))]
            }
            "comments" => {
                let post = json!({"title": name, "status": "publish", "author": owner});
                let post = made(&self.admin("POST", "/wp/v2/posts", &post));
                let body = json!({"post": post, "content": name, "author": owner, "status": if state == "draft" { "hold" } else { "approved" }});
                vec![pair("id", made(&self.admin("POST", "/wp/v2/comments", &body)))]
            }
            "users" if route.contains("application-passwords") => {
                let at = format!("/wp/v2/users/{owner}/application-passwords");
                let made = self.admin("POST", &at, &json!({"name": name}));
                vec![pair("user_id", owner.to_string()), pair("uuid", made["uuid"].as_str().unwrap_or("").to_owned())]
            }
            "users" => vec![pair("id", owner.to_string())],
            "block-renderer" => vec![pair("name", "core/archives".to_owned())],
            "types" => vec![pair("type", "page".to_owned())],
            "statuses" => vec![pair("status", state.to_owned())],
            "taxonomies" => vec![pair("taxonomy", "category".to_owned())],
            // A declared or empty item has no owner: a name that nothing has shows who gets as far as "not found".
            _ => ["id", "location", "plugin", "stylesheet", "slug", "namespace", "name", "collection"]
                .iter()
                .map(|v| pair(v, "nothing".to_owned()))
                .collect(),
        }
    }

    /// The status for each role.
    fn row(&mut self, method: &str, route: &str, state: &str, own: bool) -> String {
        let mut cells = Vec::new();
        for role in ROLES {
            let person = self.people.get(role).cloned();
            let owner = match (&person, own) {
                (Some((id, _)), true) => *id,
                (None, true) => {
                    cells.push("-".to_owned());
                    continue;
                }
                (_, false) if route.starts_with("/wp/v2/users") => {
                    let login = self.unique();
                    let body = json!({"username": login, "email": format!("{login}@example.org"), "password": "long enough", "roles": ["author"]});
                    self.admin("POST", "/wp/v2/users", &body)["id"].as_i64().expect("an id")
                }
                (_, false) => 1,
            };
            let key = format!("{route} {state} {owner}");
            let values = match self.kept.get(&key) {
                Some(values) if method.starts_with("GET") => values.clone(),
                _ if route.contains("(?P<") => self.thing(route, owner, state),
                _ => Vec::new(),
            };
            if method.starts_with("GET") {
                self.kept.insert(key, values.clone());
            }
            let body = self.body(method, route, state);
            let (method, query) = method.split_once(' ').unwrap_or((method, ""));
            let at = format!("{}{query}", filled(route, &values));
            let who = person.as_ref().map(|(_, credentials)| credentials);
            let answer = self.ask(method, &at, who, body.as_ref());
            cells.push(match answer.status {
                200..300 => answer.status.to_string(),
                status => format!("{status} {}", answer.code()),
            });
        }
        cells.join(" | ")
    }

    /// The body of a write: enough to be taken, where the writer may write.
    fn body(&mut self, method: &str, route: &str, state: &str) -> Option<Value> {
        if !method.starts_with("P") {
            return None;
        }
        let name = self.unique();
        let item = route.ends_with(')');
        let collection = route.split('/').nth(3).unwrap_or("");
        Some(match collection {
            _ if route.ends_with("autosaves") => json!({"content": name}),
            _ if route.contains("application-passwords") => json!({"name": name}),
            c if CONTENT.contains(&c) && !item => json!({"title": name, "status": state}),
            "categories" | "tags" | "wp_pattern_category" | "menus" => json!({"name": name}),
            "templates" | "template-parts" if !item && !route.ends_with("autosaves") => {
                json!({"slug": name, "title": name, "content": name, "status": state})
            }
            "menu-items" if !item => json!({"title": name, "url": "https://example.org/", "status": state}),
            "comments" if item => json!({"content": name}),
            "comments" => {
                let post = json!({"title": name, "status": state});
                json!({"post": self.admin("POST", "/wp/v2/posts", &post)["id"], "content": name})
            }
            "users" if !item && !route.ends_with("/me") => {
                json!({"username": name, "email": format!("{name}@example.org"), "password": "long enough"})
            }
            "users" => json!({"description": name}),
            "settings" => json!({"posts_per_page": 10}),
            "plugins" if !item => json!({"slug": "nothing"}),
            "font-families" if route.ends_with("font-faces") => json!({"font_face_settings": "{}"}),
            "font-families" => json!({"font_family_settings": "{}"}),
            "widgets" if !item => json!({"sidebar": "nothing", "id_base": "nothing"}),
            "block-renderer" => json!({"context": "edit"}),
            "v1" => json!({"requests": []}),
            _ => json!({"title": name}),
        })
    }
}

/// The route with its variables replaced.
fn filled(route: &str, values: &[(String, String)]) -> String {
    let mut out = String::new();
    let mut rest = route;
    while let Some((before, after)) = rest.split_once("(?P<") {
        out.push_str(before);
        let name = after.split('>').next().unwrap_or("");
        let value = values.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
        out.push_str(value.unwrap_or_else(|| panic!("no value for {name} of {route}")));
        let mut depth = 1;
        let end = after.find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        });
        rest = &after[end.expect("a closing parenthesis") + 1..];
    }
    out + rest
}

/// Every row of the table, by the routes that the server lists.
fn walk(walk: &mut Walk, routes: &BTreeSet<(String, String)>) -> BTreeMap<String, String> {
    walk.people();
    let mut rows = BTreeMap::new();
    for (route, method) in routes {
        let collection = route.split('/').nth(3).unwrap_or("");
        let item = route.contains("(?P<");
        let content = CONTENT.contains(&collection);
        let states: &[&str] = match collection {
            "statuses" => &STATES,
            "menu-items" if item || method == "POST" => &STATES[..2],
            "templates" | "template-parts" if item || method == "POST" => &STATES[..1],
            _ if content && (item || method == "POST") => &STATES,
            "comments" if item || method == "POST" => &STATES[..2],
            _ => &[""],
        };
        let owned = item && (AUTHORED.contains(&collection) || matches!(collection, "media" | "comments" | "users"));
        let mut asked = vec![method.clone()];
        match method.as_str() {
            "GET" => asked.push("GET ?context=edit".into()),
            "DELETE" if collection == "users" => asked = vec!["DELETE ?force=true&reassign=1".into()],
            "DELETE" => asked.push("DELETE ?force=true".into()),
            _ => {}
        }
        for method in &asked {
            for state in states {
                for own in [true, false] {
                    // Nobody of the walk may be deleted, nor lose the password that it walks with.
                    let lost = collection == "users" && method.starts_with("DELETE");
                    if (own && (lost || !owned)) || (lost && route.ends_with("/me")) {
                        continue;
                    }
                    let whose = match (owned || (item && content), own) {
                        (false, _) => "",
                        (true, true) => "own",
                        (true, false) => "others'",
                    };
                    let key = format!("{method} {route} {whose} {state}");
                    let row = walk.row(method, route, state, own);
                    rows.insert(key.split_whitespace().collect::<Vec<_>>().join(" "), row);
                }
            }
        }
    }
    rows
}

fn table(rows: &BTreeMap<String, String>) -> String {
    let mut out = format!("{}\n", ROLES.join(" | "));
    for (key, row) in rows {
        out.push_str(&format!("{key}\n    {row}\n"));
    }
    out
}

fn rows(text: &str) -> BTreeMap<String, String> {
    let mut lines = text.lines().skip(1);
    let mut rows = BTreeMap::new();
    while let (Some(key), Some(row)) = (lines.next(), lines.next()) {
        rows.insert(key.to_owned(), row.trim().to_owned());
    }
    rows
}

fn folder(file: &str) -> String {
    format!("{}/fixtures/permissions/{file}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_route_answers_every_role_as_declared() {
    let server = Server::with(&["site.prefix=wp"]);
    let start = |rest: &str, admin: &(String, String)| Walk {
        client: &server,
        rest: rest.to_owned(),
        admin: admin.clone(),
        people: HashMap::new(),
        kept: HashMap::new(),
        made: 0,
    };
    let mut routes = BTreeSet::new();
    for (route, about) in server.get("/").body["routes"].as_object().expect("routes") {
        for method in about["methods"].as_array().expect("methods") {
            routes.insert((route.clone(), method.as_str().expect("a method").to_owned()));
        }
    }
    if let Ok(elsewhere) = std::env::var("PERMISSIONS_OF") {
        let mut words = elsewhere.split(' ').map(str::to_owned);
        let mut next = || words.next().expect("URL, login and password");
        let (rest, admin) = (next(), (next(), next()));
        let mut other = start(&rest, &admin);
        let known = other.ask("GET", "/", None, None).body["routes"].clone();
        let only = words.next().unwrap_or_default();
        let known_there = |(route, method): &&(String, String)| {
            let methods = known[route]["methods"].as_array();
            route.contains(&only) && methods.is_some_and(|methods| methods.contains(&json!(method)))
        };
        let mut recorded = rows(&std::fs::read_to_string(folder("wordpress.txt")).unwrap_or_default());
        recorded.retain(|row, _| !row.contains(&only));
        recorded.extend(walk(&mut other, &routes.iter().filter(known_there).cloned().collect()));
        std::fs::write(folder("wordpress.txt"), table(&recorded)).expect("a file");
    }
    let ours = walk(&mut start(&server.rest, &server.admin), &routes);
    assert!(ours.len() > 300, "{} rows", ours.len());
    follows_from_the_declarations(&ours);
    let recorded = rows(&std::fs::read_to_string(folder("wordpress.txt")).expect("what was recorded"));
    let known = std::fs::read_to_string(folder("different.txt")).expect("what is known to differ");
    let excused: BTreeSet<&str> = known.lines().filter(|l| !l.starts_with('#') && !l.is_empty()).collect();
    let mut differ = BTreeSet::new();
    let mut shared = 0;
    for (key, theirs) in &recorded {
        let Some(row) = ours.get(key) else { continue };
        shared += 1;
        if row != theirs {
            differ.insert(key.as_str());
            if !excused.contains(key.as_str()) {
                eprintln!("{key}\n    ours   {row}\n    theirs {theirs}");
            }
        }
    }
    expect_file![folder("ours.txt")].assert_eq(&table(&ours));
    assert_eq!(differ, excused, "rows that differ from what WordPress answers, of {shared}");
}

/// The rights that declared roles and capability maps mean for content, computed here once more.
fn follows_from_the_declarations(rows: &BTreeMap<String, String>) {
    let read = |file: &str| -> toml::Table {
        let text = std::fs::read_to_string(format!("{}/{file}", env!("CARGO_MANIFEST_DIR"))).expect("a file");
        toml::from_str(&text).expect("TOML")
    };
    let (shipped, laid_over) = (read("schemas/core/11-roles.toml"), read("schemas/dialects/wp.toml"));
    let capability = |map: &str, act: &str| -> Option<String> {
        let of = |file: &toml::Table| Some(file.get("capabilities")?.get(map)?.get(act)?.as_str()?.to_owned());
        of(&laid_over).or_else(|| of(&shipped))
    };
    let has = |role: &str, capability: &str| {
        let list = shipped["roles"].get(role).and_then(|r| r["capabilities"].as_array());
        list.is_some_and(|list| list.iter().any(|c| c.as_str() == Some(capability)))
    };
    let mut checked = 0;
    for (collection, map) in CONTENT.iter().zip(["post", "page", "block", "navigation"]) {
        for (method, act) in [("GET", "read"), ("PUT", "edit"), ("DELETE", "delete")] {
            for state in STATES {
                for own in [true, false] {
                    if own && !AUTHORED.contains(collection) {
                        continue;
                    }
                    let whose = if own { "own" } else { "others'" };
                    let key = format!("{method} /wp/v2/{collection}/(?P<id>[\\d]+) {whose} {state}");
                    let cells: Vec<&str> = rows[&key].split(" | ").collect();
                    for (role, cell) in ROLES.iter().zip(cells) {
                        let can = |act: &str| capability(map, act).is_some_and(|c| has(role, &c));
                        let changes = |act: &str| {
                            let to = |what: &str| can(&format!("{act}_{what}"));
                            let out = state != "publish" || to("published");
                            match (own, state) {
                                (true, "publish") => out,
                                (true, _) => can(act),
                                (false, "private") => to("others") && to("private"),
                                (false, _) => to("others") && out,
                            }
                        };
                        let reads = capability(map, "read").is_none_or(|c| has(role, &c));
                        let allowed = match (act, state) {
                            ("read", "publish") => reads,
                            ("read", _) if own => reads,
                            ("read", "private") => can("read_private"),
                            ("read", _) => changes("edit"),
                            _ => changes(act),
                        };
                        if cell != "-" {
                            assert_eq!(cell.starts_with('2'), allowed, "{key} by {role}: {cell}");
                            checked += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(checked > 300, "{checked} cells");
}

#[test]
fn a_refusal_names_the_capability_that_is_missing() {
    for (set, named) in [("site.prefix=cms", true), ("site.prefix=wp", false)] {
        let server = Server::with(&[set]);
        let zoe = server.user("zoe", "author");
        let ns = format!("/{}/v2", server.prefix);
        let name = json!({"name": "Topic"});
        let refused = server.ask("POST", &format!("{ns}/categories"), Some(&zoe), Some(&name));
        assert_eq!(refused.status, 403, "{}", refused.text);
        let told = (refused.body["data"]["capability"].as_str(), refused.text.contains("`manage_categories`"));
        assert_eq!(told, (named.then_some("manage_categories"), named), "{}", refused.text);
        let stranger = server.ask("POST", &format!("{ns}/categories"), None, Some(&name));
        assert_eq!((stranger.status, &stranger.body["data"]["capability"]), (401, &serde_json::Value::Null));
    }
}
