//! One condition decides what a caller may see: lists, items, totals, search, embedding, exports and tools agree about it, for
//! random roles, states, owners, parents and passwords.

use super::dice::Dice;
use super::mcp::{asked, names};
use super::media::png;
use super::server::{Answer, Server, stdout};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use tempfile::TempDir;

type Person = Option<(String, String)>;

/// States of records, those of the site among them.
const STATES: [&str; 8] = ["publish", "future", "draft", "pending", "private", "held", "secret", "open"];

/// The capabilities that roles are made of.
const CAPABILITIES: [&str; 17] = [
    "edit_posts",
    "edit_others_posts",
    "edit_published_posts",
    "edit_private_posts",
    "publish_posts",
    "read_private_posts",
    "delete_posts",
    "edit_pages",
    "edit_others_pages",
    "edit_published_pages",
    "edit_private_pages",
    "read_private_pages",
    "moderate_comments",
    "list_users",
    "edit_users",
    "upload_files",
    "import",
];

const SITE: &str = r#"
[statuses.held]
label = "Held"
protected = true
listed = true
[statuses.secret]
label = "Secret"
private = true
listed = true
[statuses.open]
label = "Open"
public = true
queryable = true
listed = true
[args.content_list.status.items]
enum = ["publish", "future", "draft", "pending", "private", "held", "secret", "open", "trash", "inherit", "any"]
[namespaces.own]
path = "own/v1"
[capabilities.loan]
read = "read"
create = "edit_posts"
edit = "edit_posts"
edit_others = "edit_others_posts"
delete = "edit_posts"
delete_others = "edit_others_posts"
[resources.loans]
family = "plain"
namespace = "own"
schema = "schemas/loan.json"
kind = "loan"
routes = ["crud"]
capabilities = "loan"
owner = "keeper"
sort = { id = "id" }
[resources.loans.endpoints.list]
orderby = { type = "string", enum = ["id"], default = "id", x-param = "orderby" }
[resources.events]
family = "content"
namespace = "own"
schema = "schemas/event.json"
kind = "event"
routes = ["content"]
capabilities = "post"
address = "/events/{slug}/"
supports = ["title", "author"]
sort = { id = "id" }
[resources.events.endpoints.list]
orderby = { type = "string", enum = ["id"], default = "id", x-param = "orderby" }
"#;

/// A site with these roles, and what is declared above.
fn site(roles: &[(String, Vec<&str>)]) -> Server {
    let folder = TempDir::new().expect("a temporary folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    let mut text = SITE.to_owned();
    for (name, capabilities) in roles {
        text.push_str(&format!("[roles.{name}]\nname = \"{name}\"\ncapabilities = {capabilities:?}\n"));
    }
    fs::write(folder.path().join("site.toml"), text).expect("a file");
    let loan = json!({"title": "loan", "type": "object", "properties": {
        "id": {"type": "integer", "description": "Id.", "readonly": true},
        "title": {"type": "string", "description": "Title.", "default": ""},
        "keeper": {"type": "integer", "description": "Who has it.", "default": 0},
    }});
    fs::write(folder.path().join("schemas/loan.json"), loan.to_string()).expect("a file");
    let event = json!({"title": "event", "type": "object", "properties": {
        "id": {"type": "integer", "description": "Id.", "readonly": true, "x-column": "id"},
        "title": {"type": "string", "description": "Title.", "x-column": "title", "x-write": "text_field"},
        "slug": {"type": "string", "description": "Slug.", "x-column": "slug", "x-write": "slug"},
        "author": {"type": "integer", "description": "Author.", "x-column": "author"},
        "status": {"type": "string", "description": "State.", "x-column": "status", "enum": STATES, "x-filterable": true},
    }});
    fs::write(folder.path().join("schemas/event.json"), event.to_string()).expect("a file");
    let content = folder.path().join("schemas/content.json");
    let schema = fs::read_to_string(&content).expect("a schema");
    let states = r#"["publish", "future", "draft", "pending", "private"]"#;
    assert!(schema.contains(states));
    fs::write(&content, schema.replace(states, &format!("{STATES:?}"))).expect("a file");
    Server::over(folder, &["mcp.path=/mcp"])
}

fn id(answer: &Answer) -> i64 {
    assert!(answer.status < 300, "{}", answer.text);
    answer.body["id"].as_i64().expect("an id")
}

fn make(server: &Server, route: &str, body: Value) -> i64 {
    id(&server.admin("POST", route, Some(&body)))
}

fn upload(server: &Server, name: &str, post: i64, author: i64) -> i64 {
    let disposition = format!("attachment; filename=\"{name}.png\"");
    let headers = [("content-disposition", disposition.as_str())];
    let url = format!("{}/cms/v2/media", server.rest);
    let made = id(&server.send("POST", &url, Some(&server.admin), Some(("image/png", png(2, 2))), &headers));
    make(server, &format!("/cms/v2/media/{made}"), json!({"post": post, "author": author}))
}

/// Posts and pages in every state, live and in the trash, with files and comments below them.
fn fill(server: &Server, dice: &mut Dice, owners: &[i64]) {
    let mut made = 0;
    for (kind, states) in [("posts", &STATES[..]), ("pages", &STATES[..5])] {
        for state in states {
            for trashed in [false, true] {
                made += 1;
                let author = *dice.of(owners);
                let body = json!({"title": format!("{kind} {made}"), "content": "hushword", "status": "publish",
                    "author": author, "comment_status": "open"});
                let post = make(server, &format!("/cms/v2/{kind}"), body);
                for status in ["approved", "hold", "spam"] {
                    let body = json!({"post": post, "content": format!("{status} {made}"), "author": dice.of(owners),
                        "status": status});
                    if kind == "posts" && !dice.one_in(3) {
                        make(server, "/cms/v2/comments", body);
                    }
                }
                if kind == "posts" || dice.one_in(3) {
                    upload(server, &format!("file{made}"), post, *dice.of(owners));
                }
                let mut change = json!({"status": state});
                if *state == "future" {
                    change["date"] = json!("2099-01-01T00:00:00");
                }
                if *state != "private" && dice.one_in(3) {
                    change["password"] = json!("key");
                }
                make(server, &format!("/cms/v2/{kind}/{post}"), change);
                if trashed {
                    let gone = server.admin("DELETE", &format!("/cms/v2/{kind}/{post}"), None);
                    assert_eq!(gone.status, 200, "{}", gone.text);
                }
            }
        }
    }
    for owner in owners {
        let state = dice.of(&STATES[2..]);
        make(server, "/own/v1/events", json!({"title": "An event", "status": state, "author": owner}));
        make(server, "/own/v1/loans", json!({"title": "A loan", "keeper": owner}));
        let file = upload(server, &format!("alone{owner}"), 0, *owner);
        if dice.one_in(2) {
            make(server, &format!("/cms/v2/media/{file}"), json!({"status": "private"}));
        }
    }
}

/// A caller, whose answers are asked for once.
struct Caller<'s> {
    server: &'s Server,
    person: Person,
    capabilities: Vec<&'s str>,
    open: RefCell<BTreeMap<String, bool>>,
}

impl Caller<'_> {
    fn get(&self, route: &str) -> Answer {
        self.server.ask("GET", route, self.person.as_ref(), None)
    }

    /// Whether an item is shown.
    fn opens(&self, route: &str) -> bool {
        if let Some(open) = self.open.borrow().get(route) {
            return *open;
        }
        let answer = self.get(route);
        assert!([200, 401, 403].contains(&answer.status), "{route}: {}", answer.text);
        self.open.borrow_mut().insert(route.to_owned(), answer.status == 200);
        answer.status == 200
    }

    fn can(&self, capability: &str) -> bool {
        self.capabilities.contains(&capability)
    }

    fn who(&self) -> String {
        format!("{:?} {:?}", self.person.as_ref().map(|person| &person.0), self.capabilities)
    }
}

/// How many items there are, as a list counts them.
fn total(answer: &Answer) -> usize {
    let total = ["x-cms-total", "x-wp-total"].into_iter().find_map(|name| answer.header(name));
    total.and_then(|total| total.parse().ok()).unwrap_or_else(|| panic!("no total: {:?}", answer.headers))
}

fn ids(documents: &Value) -> BTreeSet<i64> {
    documents.as_array().expect("a list").iter().map(|one| one["id"].as_i64().expect("an id")).collect()
}

/// The items of a list, each of which the list counts; `None`: it is refused.
fn listed(caller: &Caller<'_>, route: &str) -> Option<BTreeSet<i64>> {
    let answer = caller.get(route);
    if answer.status != 200 {
        assert!([400, 401, 403].contains(&answer.status), "{route}: {}", answer.text);
        return None;
    }
    let found = ids(&answer.body);
    assert_eq!(total(&answer), found.len(), "{route} for {}", caller.who());
    Some(found)
}

/// The same as lines, for those who may export.
fn exported(caller: &Caller<'_>, route: &str) -> Option<BTreeSet<i64>> {
    let url = format!("{}{route}", caller.server.rest);
    let answer = caller.server.send("GET", &url, caller.person.as_ref(), None, &[("accept", "application/x-ndjson")]);
    let lines = answer.text.lines().map(|line| serde_json::from_str(line).expect("a document"));
    (answer.status == 200).then(|| ids(&Value::Array(lines.collect())))
}

/// A list holds what is shown item by item, in this context, of what an administrator finds.
fn agree(caller: &Caller<'_>, all: &Caller<'_>, base: &str, filter: &str, context: &str) {
    let list = format!("{base}?per_page=100&context={context}{filter}");
    let Some(found) = listed(caller, &list) else { return };
    let there = listed(all, &format!("{base}?per_page=100{filter}")).expect("administrators see every list");
    let shown = |id: &i64| caller.opens(&format!("{base}/{id}?context={context}"));
    let readable: BTreeSet<i64> = there.iter().copied().filter(shown).collect();
    assert_eq!(found, readable, "{list} for {}", caller.who());
    if caller.can("export") {
        assert_eq!(exported(caller, &list), Some(readable), "{list} as lines for {}", caller.who());
    }
}

/// A list embeds what is shown at its own address.
fn embeds(caller: &Caller<'_>, route: &str, rel: &str) {
    let answer = caller.get(&format!("{route}?per_page=100&_embed=1"));
    for document in answer.body.as_array().into_iter().flatten() {
        let embedded = document["_embedded"][rel].as_array().into_iter().flatten();
        for (link, shown) in document["_links"][rel].as_array().into_iter().flatten().zip(embedded) {
            let href = link["href"].as_str().and_then(|href| href.strip_prefix(&*caller.server.rest)).expect("a route");
            assert_eq!(shown.get("code").is_none(), caller.opens(href), "{route} {rel} {href} for {}", caller.who());
        }
    }
}

/// Rows that belong to a record are as open as the record.
fn below(caller: &Caller<'_>, all: &Caller<'_>, kind: &str, post: i64) {
    let item = format!("/cms/v2/{kind}/{post}");
    let (reads, edits) = (caller.opens(&item), caller.opens(&format!("{item}?context=edit")));
    assert!(reads || !edits, "{item}: a caller who edits a record reads it: {}", caller.who());
    for part in ["revisions", "autosaves"] {
        assert_eq!(caller.opens(&format!("{item}/{part}")), edits, "{item}/{part} for {}", caller.who());
    }
    let whole = all.get(&item).body;
    let comments = caller.get(&format!("/cms/v2/comments?post={post}"));
    assert!(reads || comments.status != 200, "comments of {item} for {}", caller.who());
    let address = whole["link"].as_str().expect("an address");
    let card = caller.get(&format!("/oembed/1.0/embed?url={address}"));
    assert!(reads || card.status != 200, "the card of {item} for {}", caller.who());
    if reads {
        let shown = caller.get(&item).body;
        let locked = whole["content"]["protected"] == true;
        assert_eq!(shown["content"]["rendered"].as_str().expect("a text").is_empty(), locked, "{item}");
    }
}

fn search(caller: &Caller<'_>, all: &Caller<'_>) {
    for word in ["", "&search=hushword"] {
        let route = format!("/cms/v2/search?per_page=100{word}");
        let links = |caller: &Caller<'_>| -> BTreeSet<String> {
            let answer = caller.get(&route);
            assert_eq!(answer.status, 200, "{}", answer.text);
            let documents = answer.body.as_array().expect("a list").clone();
            assert_eq!(total(&answer), documents.len());
            let link = |one: &Value| one["_links"]["self"][0]["href"].as_str().expect("an address").to_owned();
            documents.iter().map(|one| link(one).replace(&caller.server.rest, "")).collect()
        };
        let expected = links(all).into_iter().filter(|item| {
            let locked = !word.is_empty() && all.get(item).body["content"]["protected"] == true;
            caller.opens(item) && (!locked || caller.opens(&format!("{item}?context=edit")))
        });
        assert_eq!(links(caller), expected.collect(), "{route} for {}", caller.who());
    }
}

/// Tools show what the routes show.
fn tools(caller: &Caller<'_>) {
    let Some(person) = caller.person.as_ref() else { return };
    if !names(caller.server, person).contains(&"posts-list".to_owned()) {
        return;
    }
    for state in STATES.iter().chain(&["trash"]) {
        let arguments = json!({"status": [state], "per_page": 100, "_fields": ["id"]});
        let called = asked(caller.server, person, "tools/call", json!({"name": "posts-list", "arguments": arguments}));
        let result = &called["result"];
        let route = format!("/cms/v2/posts?per_page=100&status={state}");
        match listed(caller, &route) {
            Some(found) => assert_eq!(ids(&result["structuredContent"]["items"]), found, "{route}: {}", caller.who()),
            None => assert_eq!(result["isError"], true, "{route} for {}", caller.who()),
        }
    }
}

#[test]
fn lists_items_totals_search_and_exports_agree_for_random_roles() {
    let mut dice = Dice(0x005E_ED36);
    let mut roles = vec![("r0".to_owned(), vec!["read", "edit_posts", "edit_others_posts", "export"])];
    for number in 1..4 {
        let mut held: Vec<&str> = CAPABILITIES.into_iter().filter(|_| dice.one_in(2)).collect();
        held.extend(if dice.one_in(6) { &["export"][..] } else { &["read", "export"][..] });
        roles.push((format!("r{number}"), held));
    }
    let server = site(&roles);
    let people: Vec<(String, String)> = roles.iter().map(|(role, _)| server.user(&format!("u{role}"), role)).collect();
    let number = |person: &(String, String)| {
        server.admin("GET", &format!("/cms/v2/users?slug={}", person.0), None).body[0]["id"].as_i64().expect("an id")
    };
    let mut owners: Vec<i64> = people.iter().map(number).collect();
    owners.push(1);
    fill(&server, &mut dice, &owners);

    let caller = |person: Person, capabilities: Vec<_>| Caller {
        server: &server,
        person,
        capabilities,
        open: RefCell::default(),
    };
    let all = caller(Some(server.admin.clone()), vec!["export", "list_users"]);
    let held = roles.iter().map(|(_, capabilities)| capabilities.clone());
    let mut callers: Vec<Caller<'_>> =
        people.into_iter().zip(held).map(|(person, held)| caller(Some(person), held)).collect();
    callers.push(caller(None, Vec::new()));
    let states = STATES.iter().chain(&["trash", "any"]).map(|state| format!("&status={state}"));
    let states: Vec<String> = states.chain([String::new()]).collect();
    for caller in &callers {
        for context in ["view", "edit"] {
            for filter in &states {
                agree(caller, &all, "/cms/v2/posts", filter, context);
                agree(caller, &all, "/cms/v2/pages", filter, context);
                agree(caller, &all, "/own/v1/events", filter, context);
            }
            for filter in ["", "&status=inherit", "&status=private", "&status=any"] {
                agree(caller, &all, "/cms/v2/media", filter, context);
            }
            for filter in ["", "&status=hold", "&status=spam", "&status=all"] {
                agree(caller, &all, "/cms/v2/comments", filter, context);
            }
            agree(caller, &all, "/own/v1/loans", "", context);
            people_agree(caller, &all, context);
        }
        embeds(caller, "/cms/v2/comments", "up");
        embeds(caller, "/cms/v2/media", "cms:attached-to");
        embeds(caller, "/cms/v2/posts", "author");
        for (kind, states) in [("posts", &STATES[..]), ("pages", &STATES[..2])] {
            for state in states.iter().chain(&["trash"]) {
                let there = listed(&all, &format!("/cms/v2/{kind}?per_page=100&status={state}"));
                there.into_iter().flatten().for_each(|post| below(caller, &all, kind, post));
            }
        }
        search(caller, &all);
        tools(caller);
    }
}

/// A list of users shows who has published something, to those who list users all; every one of them is shown at the
/// own address, too.
fn people_agree(caller: &Caller<'_>, all: &Caller<'_>, context: &str) {
    if caller.can("list_users") {
        return agree(caller, all, "/cms/v2/users", "", context);
    }
    let list = format!("/cms/v2/users?per_page=100&context={context}");
    for user in listed(caller, &list).into_iter().flatten() {
        assert!(caller.opens(&format!("/cms/v2/users/{user}?context={context}")), "{user} for {}", caller.who());
    }
}

#[test]
fn a_trashed_private_record_stays_private() {
    let roles = [("own".to_owned(), vec!["read", "edit_posts", "edit_others_posts"])];
    let server = site(&roles);
    let person = server.user("ann", "own");
    for (state, shown) in
        [("private", false), ("secret", false), ("publish", false), ("future", false), ("draft", true)]
    {
        let mut body = json!({"title": "Kept", "content": "Nobody's", "status": state});
        if state == "future" {
            body["date"] = json!("2099-01-01T00:00:00");
        }
        let post = make(&server, "/cms/v2/posts", body);
        assert_eq!(server.admin("DELETE", &format!("/cms/v2/posts/{post}"), None).status, 200);
        for context in ["view", "edit"] {
            let item = server.ask("GET", &format!("/cms/v2/posts/{post}?context={context}"), Some(&person), None);
            assert_eq!(item.status, if shown { 200 } else { 403 }, "{state} {context}: {}", item.text);
            let route = format!("/cms/v2/posts?status=trash&context={context}&include={post}");
            let list = server.ask("GET", &route, Some(&person), None);
            assert_eq!(total(&list), usize::from(shown), "{state} {context}");
            assert_eq!(ids(&list.body).contains(&post), shown, "{state} {context}: {}", list.text);
        }
    }
}

const SHOP: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:wp="http://wordpress.org/export/1.2/">
<channel><title>Shop</title><link>http://shop.example</link><wp:wxr_version>1.2</wp:wxr_version>
<item><title>A chair</title><wp:post_id>501</wp:post_id><wp:status>publish</wp:status><wp:post_type>product</wp:post_type>
<wp:comment><wp:comment_id>9</wp:comment_id><wp:comment_author>Ann</wp:comment_author><wp:comment_content>Fine</wp:comment_content><wp:comment_approved>1</wp:comment_approved><wp:comment_type>comment</wp:comment_type></wp:comment></item>
<item><title>Its picture</title><wp:post_id>502</wp:post_id><wp:status>inherit</wp:status><wp:post_parent>501</wp:post_parent>
<wp:post_type>attachment</wp:post_type><wp:attachment_url>http://shop.example/chair.jpg</wp:attachment_url></item>
<item><title>Another</title><wp:post_id>503</wp:post_id><wp:status>inherit</wp:status><wp:post_parent>0</wp:post_parent>
<wp:post_type>attachment</wp:post_type><wp:attachment_url>http://shop.example/table.jpg</wp:attachment_url></item>
</channel></rss>"#;

#[test]
fn a_file_below_a_record_of_an_undeclared_type_is_for_those_who_may_edit_it() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let file = server.path("shop.xml");
        fs::write(&file, SHOP).expect("a file");
        stdout(&["--set", &server.storage(), "import", file.to_str().expect("a path")], "");
        let media = format!("/{prefix}/v2/media");
        let all = server.admin("GET", &format!("{media}?per_page=100"), None);
        assert_eq!(ids(&all.body), BTreeSet::from([502, 503]), "{prefix}: {}", all.text);
        assert_eq!(total(&all), 2);
        let editor = server.user("editor", "editor");
        let subscriber = server.user("subscriber", "subscriber");
        for (person, status) in [(Some(&editor), 200), (Some(&subscriber), 403), (None, 401)] {
            for context in ["", "?context=edit"] {
                let one = server.ask("GET", &format!("{media}/502{context}"), person, None);
                assert_eq!(one.status, status, "{prefix} {context}: {}", one.text);
            }
            let listed = ids(&server.ask("GET", &format!("{media}?per_page=100"), person, None).body);
            assert_eq!(listed.contains(&502), status == 200, "{prefix}");
        }
        // So are comments below such records, for moderators.
        let comments = format!("/{prefix}/v2/comments");
        for comment in ids(&server.admin("GET", &comments, None).body) {
            assert_eq!(server.admin("GET", &format!("{comments}/{comment}"), None).status, 200, "{prefix}");
        }
        assert_eq!(ids(&server.get(&comments).body), BTreeSet::new(), "{prefix}");
    }
}

#[test]
fn files_that_are_below_each_other_are_for_those_who_may_edit_them() {
    let server = Server::start();
    let [one, other] = ["one", "other"].map(|name| upload(&server, name, 0, 1));
    server.sql(&format!("UPDATE record SET parent = {other} WHERE id = {one}"));
    server.sql(&format!("UPDATE record SET parent = {one} WHERE id = {other}"));
    for file in [one, other] {
        let route = format!("/cms/v2/media/{file}");
        assert_eq!((server.get(&route).status, server.admin("GET", &route, None).status), (401, 200));
    }
    assert_eq!(ids(&server.get("/cms/v2/media").body), BTreeSet::new());
}

#[test]
fn an_upsert_finds_nothing_that_the_caller_does_not_see() {
    let mut roles = vec![("mover".to_owned(), vec!["read", "import", "edit_posts", "publish_posts"])];
    roles[0].1.push("edit_published_posts");
    let server = site(&roles);
    let person = server.user("mover", "mover");
    for route in ["/cms/v2/posts", "/own/v1/events"] {
        for (state, title) in [("private", "Privsecret"), ("draft", "Draftsecret"), ("held", "Heldsecret")] {
            make(&server, route, json!({"title": title, "status": state, "slug": title}));
        }
        let trashed = make(&server, route, json!({"title": "Trashsecret", "status": "publish"}));
        assert_eq!(server.admin("DELETE", &format!("{route}/{trashed}"), None).status, 200);
    }
    let import = |route: &str, line: Value| {
        let body = Some(("application/x-ndjson", format!("{line}\n").into_bytes()));
        let answer = server.send("POST", &format!("{}{route}", server.rest), Some(&person), body, &[]);
        assert_eq!(answer.status, 200, "{}", answer.text);
        let mut result: Value = serde_json::from_str(answer.text.lines().next().expect("a line")).expect("JSON");
        result.as_object_mut().expect("an object").remove("id");
        result
    };
    for (by, route) in [("title", "/own/v1/events"), ("slug", "/own/v1/events"), ("slug", "/cms/v2/posts")] {
        let route = &format!("{route}/import?upsert={by}");
        for title in ["Privsecret", "Draftsecret", "Heldsecret", "Trashsecret", "Nothingsuch"] {
            let value = if by == "slug" { title.to_lowercase() } else { title.to_owned() };
            let mut line = json!({"title": {"raw": "Other"}, "status": "draft"});
            if route.starts_with("/own") {
                line["title"] = json!("Other");
            }
            line[by] = json!(value);
            let result = import(route, line);
            assert_eq!(
                (&result["status"], &result["result"]),
                (&json!(201), &json!("created")),
                "{route} {title}: {result}"
            );
        }
    }
    // Users whom the list hides are like those who do not exist.
    let hidden = import(
        "/cms/v2/users/import?upsert=slug",
        json!({"slug": "mover2", "username": "mover2", "email": "m@example.org"}),
    );
    server.user("quiet", "subscriber");
    let quiet = import(
        "/cms/v2/users/import?upsert=slug",
        json!({"slug": "quiet", "username": "mover2", "email": "m@example.org"}),
    );
    assert_eq!(hidden, quiet);
}

#[test]
fn a_refusal_names_the_same_capability_each_time() {
    let giver = ("giver".to_owned(), vec!["read", "list_users", "create_users", "promote_users", "edit_users"]);
    let server = site(&[giver, ("writer".to_owned(), vec!["read", "edit_posts"])]);
    let (giver, writer) = (server.user("giver", "giver"), server.user("writer", "writer"));
    let editor = make(
        &server,
        "/cms/v2/users",
        json!({"username": "ed", "email": "ed@example.org",
        "password": "long enough", "roles": ["editor"]}),
    );
    let states =
        ["publish", "private", "draft"].map(|s| make(&server, "/cms/v2/posts", json!({"title": s, "status": s})));
    let new = json!({"username": "new", "email": "new@example.org", "password": "long enough", "roles": ["editor"]});
    let cases = [
        (&giver, "POST", "/cms/v2/users".to_owned(), new, "upload_files"),
        (&giver, "POST", format!("/cms/v2/users/{editor}"), json!({"name": "Ed"}), "upload_files"),
        (&giver, "POST", format!("/cms/v2/users/{editor}"), json!({"roles": ["subscriber"]}), "upload_files"),
        (&writer, "POST", format!("/cms/v2/posts/{}", states[0]), json!({"title": "x"}), "edit_others_posts"),
        (&writer, "POST", format!("/cms/v2/posts/{}", states[1]), json!({"title": "x"}), "edit_others_posts"),
        (&writer, "GET", format!("/cms/v2/posts/{}", states[1]), Value::Null, "read_private_posts"),
        (&writer, "GET", format!("/cms/v2/posts/{}", states[2]), Value::Null, "edit_others_posts"),
        (&writer, "DELETE", format!("/cms/v2/posts/{}", states[2]), Value::Null, "delete_others_posts"),
        (&writer, "POST", "/cms/v2/posts".to_owned(), json!({"title": "x", "author": 1}), "edit_others_posts"),
    ];
    for (person, method, route, body, capability) in &cases {
        for _ in 0..6 {
            let body = Some(body).filter(|body| !body.is_null());
            let answer = server.ask(method, route, Some(person), body);
            assert_eq!(answer.status, 403, "{method} {route}: {}", answer.text);
            assert_eq!(answer.body["data"]["capability"], *capability, "{method} {route}: {}", answer.text);
        }
    }
}
