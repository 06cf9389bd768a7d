//! Preview links: whoever holds a token reads its record as it is being edited, and nothing else.

use super::dice::Dice;
use super::inside::Inside;
use super::media::{png, upload};
use super::server::{Answer, Server, stdout};
use cms_base::clock::ManualClock;
use cms_core::model::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use tempfile::TempDir;

const SITE: &str = r#"
[resources.recipes]
extends = "content"
schema = "schemas/recipe.json"
namespace = "core"
kind = "recipe"
routes = ["content", "autosaves"]
capabilities = "post"
address = "permalinks"
taxonomies = ["tags"]
supports = ["title", "editor", "excerpt", "author", "thumbnail", "custom-fields"]
meta.source.schema = { description = "Where it is from.", type = "string", default = "" }
meta.secret.schema = { description = "What nobody is told.", type = "string", default = "", context = ["edit"] }
"#;

/// A site with a type of its own.
fn site(sets: &[&str]) -> Server {
    let folder = TempDir::new().expect("a temporary folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    let own = |kind: &str, more: Value| {
        let mut property = json!({"type": kind, "description": "See its name."});
        property.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        property
    };
    let schema = json!({"$ref": "content.json", "title": "recipe", "properties": {
        "steps": own("array", json!({"items": {"type": "object", "properties": {
            "text": {"type": "string", "description": "What is done."}}}, "default": []})),
        "minutes": own("integer", json!({})),
        "vegan": own("boolean", json!({})),
        "note": own("string", json!({"context": ["edit"]})),
        "likes": own("array", json!({"items": {"type": "integer"}, "x-relation": {"to": "recipes", "embeddable": true}})),
    }});
    let put = |file: &str, text: &str| fs::write(folder.path().join(file), text).expect("a file");
    put("site.toml", SITE);
    put("schemas/recipe.json", &schema.to_string());
    Server::over(folder, sets)
}

fn made(server: &Server, route: &str, body: &Value) -> i64 {
    let made = server.admin("POST", route, Some(body));
    assert_eq!(made.status, 201, "{route}: {}", made.text);
    made.body["id"].as_i64().expect("an id")
}

/// Whether no cache may have the response; those to credentials say it in more words.
fn is_kept_nowhere(answer: &Answer) -> bool {
    let said = answer.header("cache-control").unwrap_or_default();
    said.contains("private") && said.contains("no-store")
}

/// The time so many seconds after a link was made.
fn made_at(link: &Value, after: i64) -> String {
    let made = cms_text::time::parse_datetime(text(&link["created"])).expect("a time");
    format!("{}Z", cms_text::time::format_local(made.wall + after))
}

/// A link to a record, made by somebody.
fn link(server: &Server, item: &str, by: &(String, String)) -> Value {
    let made = server.ask("POST", &format!("{item}/preview-links"), Some(by), Some(&json!({})));
    assert_eq!(made.status, 201, "{item}: {}", made.text);
    assert!(is_kept_nowhere(&made), "{:?}", made.header("cache-control"));
    made.body
}

fn token(server: &Server, item: &str) -> String {
    text(&link(server, item, &server.admin)["token"]).to_owned()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("a text: {value}"))
}

fn shown(server: &Server, item: &str, token: &str) -> Answer {
    let and = if item.contains('?') { '&' } else { '?' };
    server.get(&format!("{item}{and}preview={token}"))
}

/// The one refusal, whatever was wrong.
fn refused(server: &Server, item: &str, token: &str, why: &str) {
    let answer = shown(server, item, token);
    assert_eq!((answer.status, answer.code()), (401, "rest_preview_invalid"), "{why}: {}", answer.text);
    assert_eq!(answer.body["message"], "This preview link is not for this record, or it has ended.", "{why}");
    assert!(is_kept_nowhere(&answer), "{why}");
    assert_eq!(answer.header("allow"), None, "{why}");
}

#[test]
fn a_token_opens_its_record_alone() {
    for (prefix, sets) in [("cms", ["site.prefix=cms"]), ("wp", ["site.prefix=wp"])] {
        let server = site(&sets);
        let ns = format!("/{prefix}/v2");
        let mut items = Vec::new();
        for (resource, status) in [
            ("posts", json!({"status": "draft"})),
            ("posts", json!({"status": "private"})),
            ("posts", json!({"status": "future", "date": "2099-01-01T10:00:00"})),
            ("posts", json!({"status": "publish", "password": "key"})),
            ("pages", json!({"status": "pending"})),
            ("recipes", json!({"status": "draft"})),
        ] {
            let mut body =
                json!({"title": {"raw": format!("{resource} {status}")}, "content": {"raw": "<p>Inside.</p>"}});
            body.as_object_mut().expect("an object").extend(status.as_object().expect("an object").clone());
            let id = made(&server, &format!("{ns}/{resource}"), &body);
            items.push((format!("{ns}/{resource}/{id}"), status["status"].clone()));
        }
        let tokens: Vec<String> = items.iter().map(|(item, _)| token(&server, item)).collect();
        for (at, (item, status)) in items.iter().enumerate() {
            let own = &tokens[at];
            let answer = shown(&server, item, own);
            assert_eq!(answer.status, 200, "{item}: {}", answer.text);
            assert_eq!(
                (&answer.body["status"], &answer.body["id"]),
                (status, &json!(item.rsplit('/').next().and_then(|id| id.parse::<i64>().ok())))
            );
            assert!(text(&answer.body["content"]["rendered"]).contains("Inside."), "{item}: {}", answer.text);
            assert!(is_kept_nowhere(&answer), "{item}");
            assert_eq!((answer.header("allow"), answer.header("last-modified")), (Some("GET"), None));
            let head = server.ask("HEAD", &format!("{item}?preview={own}"), None, None);
            assert!(head.status == 200 && is_kept_nowhere(&head), "{item}");
            // Credentials make it no more: it is for whoever holds the token.
            let known = server.admin("GET", &format!("{item}?preview={own}"), None);
            assert_eq!((known.status, &known.body), (200, &answer.body));
            for by in [None, Some(&server.admin)] {
                let edit = server.ask("GET", &format!("{item}?context=edit&preview={own}"), by, None);
                assert_eq!((edit.status, edit.code()), (401, "rest_forbidden_context"), "{item}");
            }
            let (id, mac) = own.split_once('.').expect("a link and its proof");
            let other = tokens[(at + 1) % tokens.len()].split_once('.').expect("a link and its proof");
            let last = if mac.ends_with('0') { "1" } else { "0" };
            let wrong = [
                ("none", String::new()),
                ("WordPress's own", "true".to_owned()),
                ("the link alone", id.to_owned()),
                ("no proof", format!("{id}.")),
                ("no link", format!(".{mac}")),
                ("cut", own[..own.len() - 1].to_owned()),
                ("half", own[..own.len() / 2].to_owned()),
                ("longer", format!("{own}0")),
                ("another proof", format!("{id}.{}{last}", &mac[..mac.len() - 1])),
                ("in capitals", own.to_uppercase()),
                ("another record's", tokens[(at + 1) % tokens.len()].clone()),
                ("another record's link", format!("{}.{mac}", other.0)),
                ("another record's proof", format!("{id}.{}", other.1)),
                ("very long", "a".repeat(5000)),
                ("other scripts", "%E6%97%A5%E6%9C%AC.x".to_owned()),
            ];
            let missing = format!("{}/999999", item.rsplit_once('/').expect("an item").0);
            for (why, wrong) in &wrong {
                refused(&server, item, wrong, why);
                refused(&server, &missing, wrong, why);
                let edit = format!("{item}?context=edit");
                refused(&server, &edit, wrong, why);
            }
            refused(&server, &missing, own, "a record that there is not");
            refused(
                &server,
                &format!("{}/99999999999999999999", item.rsplit_once('/').expect("an item").0),
                own,
                "no number",
            );
            let list = server.get(&format!("{item}?preview[]={own}"));
            assert_eq!((list.status, list.code()), (401, "rest_preview_invalid"));
            // The type is a part of what a token is bound to.
            for resource in ["posts", "pages", "recipes", if prefix == "cms" { "blocks" } else { "navigation" }] {
                let elsewhere = format!("{ns}/{resource}/{}", item.rsplit('/').next().expect("an id"));
                if elsewhere != *item {
                    refused(&server, &elsewhere, own, "another type");
                }
            }
        }
        // Its password stays, and so does what others may see.
        let locked = &items[3].0;
        assert_eq!(server.get(locked).body["content"]["rendered"], "");
        assert_eq!(shown(&server, locked, &tokens[3]).body["content"]["protected"], true);
        assert_eq!(server.get(&items[0].0).status, 401);
    }
}

#[test]
fn every_way_to_use_a_token_but_its_own_changes_nothing() {
    let server = Server::start();
    let ns = "/cms/v2";
    let page = made(&server, &format!("{ns}/pages"), &json!({"title": {"raw": "Above"}, "status": "publish"}));
    let mut items = BTreeSet::new();
    for at in 0..6 {
        let status = ["draft", "private", "publish"][at % 3];
        let body = json!({"title": {"raw": format!("Hushword {at}")}, "content": {"raw": "Hushword"}, "status": status,
            "comment_status": "open"});
        items.insert(("posts", made(&server, &format!("{ns}/posts"), &body)));
        let mut body = body;
        body["parent"] = json!(page);
        items.insert(("pages", made(&server, &format!("{ns}/pages"), &body)));
    }
    let own = items.iter().next().cloned().expect("an item");
    let own_item = format!("{ns}/{}/{}", own.0, own.1);
    assert_eq!(server.get(&own_item).status, 401, "nobody may read it");
    let file = upload(&server, "attached.png", "image/png", png(8, 8)).body["id"].as_i64().expect("an id");
    server.admin("PUT", &format!("{ns}/media/{file}"), Some(&json!({"post": own.1})));
    let comment = json!({"post": own.1, "content": {"raw": "Hushword"}});
    server.admin("PUT", &own_item, Some(&json!({"status": "publish"})));
    let comment = made(&server, &format!("{ns}/comments"), &comment);
    server.admin("PUT", &own_item, Some(&json!({"status": "draft"})));
    let token = token(&server, &own_item);
    let reader = server.user("reader", "subscriber");
    // Every route that anybody may list, with every id that there is.
    let index = server.get("/").body;
    let mut paths: BTreeSet<String> = BTreeSet::new();
    let highest = server.admin("GET", &format!("{ns}/comments/{comment}"), None).body["id"].as_i64().expect("an id");
    let ids: Vec<i64> = (1..=highest.max(file).max(own.1 + 40)).collect();
    for (route, facts) in index["routes"].as_object().expect("routes") {
        if !facts["methods"].as_array().is_some_and(|methods| methods.contains(&json!("GET"))) {
            continue;
        }
        let parts = route.matches("(?P<").count();
        for id in &ids {
            let mut path = String::new();
            let mut rest = route.as_str();
            while let Some((before, after)) = rest.split_once("(?P<") {
                path.push_str(before);
                let name = after.split('>').next().unwrap_or_default();
                path.push_str(&match name {
                    "id" | "parent" | "user_id" => if name == "parent" { own.1 } else { *id }.to_string(),
                    _ => "post".to_owned(),
                });
                let mut depth = 1;
                let end = after.find(|c| {
                    depth += i32::from(c == '(') - i32::from(c == ')');
                    depth == 0
                });
                rest = &after[end.expect("a closing parenthesis") + 1..];
            }
            paths.insert(path + rest);
            if parts == 0 {
                break;
            }
        }
    }
    for query in ["status=any", "include=1", "search=hushword", "slug=hushword", "context=edit", "post=1", "_embed=1"] {
        for list in ["posts", "pages", "media", "comments", "search", "categories"] {
            paths.insert(format!("{ns}/{list}?{}", query.replace("=1", &format!("={}", own.1))));
        }
    }
    paths.insert(format!("{ns}/media?parent={}", own.1));
    assert!(paths.len() > 300, "{}", paths.len());
    let declares = |path: &str| {
        let item = path.strip_prefix(ns).and_then(|below| below.strip_prefix('/')?.split_once('/'));
        item.is_some_and(|(resource, id)| ["posts", "pages", "blocks"].contains(&resource) && id.parse::<i64>().is_ok())
    };
    let mut opened = Vec::new();
    for path in &paths {
        let and = if path.contains('?') { '&' } else { '?' };
        for by in [None, Some(&reader)] {
            let with = server.ask("GET", &format!("{path}{and}preview={token}"), by, None);
            if *path == own_item {
                assert_eq!(with.status, 200, "{}", with.text);
                opened.push(path.clone());
            } else if declares(path) {
                assert_eq!((with.status, with.code()), (401, "rest_preview_invalid"), "{path}");
            } else {
                let without = server.ask("GET", path, by, None);
                assert_eq!(with.status, without.status, "{path}");
                // Pages of lists link to each other with the query that was sent.
                assert_eq!(with.text.replace(&format!("preview={token}"), ""), without.text, "{path}");
            }
        }
    }
    assert_eq!(opened, [own_item.clone(), own_item.clone()]);
    // Nor does it help a write, or a read of what hangs below.
    for (method, route) in [
        ("PUT", own_item.clone()),
        ("DELETE", own_item.clone()),
        ("POST", format!("{own_item}/autosaves")),
        ("GET", format!("{own_item}/autosaves")),
        ("GET", format!("{own_item}/revisions")),
        ("GET", format!("{own_item}/preview-links")),
        ("POST", format!("{own_item}/preview-links")),
    ] {
        let body = json!({"title": {"raw": "Taken"}});
        let body = (method != "GET" && method != "DELETE").then_some(&body);
        let answer = server.ask(method, &format!("{route}?preview={token}"), None, body);
        assert_eq!(answer.status, 401, "{method} {route}: {}", answer.text);
    }
    let card = server.get(&format!("/oembed/1.0/embed?url={}/?p={}&preview={token}", server.rest, own.1));
    assert_eq!(card.status, 404, "{}", card.text);
    // After all that, nothing of it is in a cache.
    assert_eq!(server.get(&own_item).status, 401);
    assert_eq!(server.get(&format!("{ns}/media/{file}")).status, 401);
}

#[test]
fn who_may_edit_a_record_makes_lists_and_takes_back_its_links() {
    let server = site(&[]);
    let roles = ["administrator", "editor", "author", "contributor", "subscriber"];
    let people: Vec<(&str, (String, String))> =
        roles.iter().map(|role| (*role, server.user(&format!("one-{role}"), role))).collect();
    let id_of =
        |person: &(String, String)| server.ask("GET", "/cms/v2/users/me", Some(person), None).body["id"].clone();
    let owners: Vec<Value> = people.iter().map(|(_, person)| id_of(person)).collect();
    let mut edits = 0;
    for resource in ["posts", "pages", "recipes"] {
        for status in ["draft", "publish"] {
            for owner in [&json!(1)].into_iter().chain(&owners) {
                let body = json!({"title": {"raw": "Somebody's"}, "status": status, "author": owner});
                let item = format!("/cms/v2/{resource}/{}", made(&server, &format!("/cms/v2/{resource}"), &body));
                let by_admin = link(&server, &item, &server.admin);
                for who in people.iter().map(|(_, person)| Some(person)).chain([None]) {
                    let may = server.ask("GET", &format!("{item}?context=edit"), who, None).status == 200;
                    let links = format!("{item}/preview-links");
                    let said = |method: &str, route: &str| {
                        let body = (method == "POST").then(|| json!({}));
                        let answer = server.ask(method, route, who, body.as_ref());
                        assert!(may || answer.code() == "rest_cannot_edit", "{method} {route}: {}", answer.text);
                        answer.status
                    };
                    let denied = if who.is_none() { 401 } else { 403 };
                    assert_eq!(said("GET", &links), if may { 200 } else { denied }, "{item} {who:?}");
                    assert_eq!(said("POST", &links), if may { 201 } else { denied }, "{item} {who:?}");
                    let one = format!("{links}/{}", text(&by_admin["id"]));
                    if !may {
                        assert_eq!(said("DELETE", &one), denied, "{item} {who:?}");
                    }
                    edits += usize::from(may);
                }
                // Each sees all of them, newest first, and no token.
                let list = server.admin("GET", &format!("{item}/preview-links"), None);
                let list = list.body.as_array().expect("a list").clone();
                assert!(list.iter().all(|one| one.get("token").is_none() && one.get("address").is_none()));
                assert!(list.iter().any(|one| one["id"] == by_admin["id"] && one["user"] == 1));
                let gone = format!("{item}/preview-links/{}", text(&by_admin["id"]));
                let done = server.admin("DELETE", &gone, None);
                assert_eq!((done.status, &done.body["previous"]["id"]), (200, &by_admin["id"]), "{}", done.text);
                refused(&server, &item, text(&by_admin["token"]), "taken back");
                let again = server.admin("DELETE", &gone, None);
                assert_eq!((again.status, again.code()), (404, "rest_preview_link_not_found"));
            }
        }
    }
    assert!(edits > 40, "{edits}");
    let missing = server.admin("POST", "/cms/v2/posts/999999/preview-links", Some(&json!({})));
    assert_eq!((missing.status, missing.code()), (404, "rest_post_invalid_id"));
}

#[test]
fn a_link_has_an_end_and_an_entry_in_the_audit_trail() {
    let server = Server::start();
    let item = format!("/cms/v2/posts/{}", made(&server, "/cms/v2/posts", &json!({"title": {"raw": "Draft"}})));
    let other = format!("/cms/v2/posts/{}", made(&server, "/cms/v2/posts", &json!({"title": {"raw": "Other"}})));
    let links = format!("{item}/preview-links");
    for (given, good) in [
        (json!(59), false),
        (json!(60), true),
        (json!(604_800), true),
        (json!(604_801), false),
        (json!("soon"), false),
        (json!(-1), false),
    ] {
        let answer = server.admin("POST", &links, Some(&json!({"expires_in": given})));
        assert_eq!(answer.status, if good { 201 } else { 400 }, "{given}: {}", answer.text);
    }
    let made = link(&server, &item, &server.admin);
    let members: Vec<&str> = made.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(members, ["id", "user", "created", "expires", "token", "address", "rest"]);
    assert_eq!(made["address"], Value::Null, "no front end is declared");
    assert_eq!(text(&made["expires"]), made_at(&made, 3600));
    let rest = text(&made["rest"]).strip_prefix(&server.rest).expect("a route").to_owned();
    assert_eq!(server.get(&rest).body["title"]["rendered"], "Draft");
    // A link of one record is none of another.
    let elsewhere = server.admin("DELETE", &format!("{other}/preview-links/{}", text(&made["id"])), None);
    assert_eq!(elsewhere.code(), "rest_preview_link_not_found");
    server.admin("DELETE", &format!("{links}/{}", text(&made["id"])), None);
    let entries = server.admin("GET", "/server/v1/audit?per_page=2", None).body;
    let told: Vec<(&Value, &Value)> =
        entries.as_array().expect("a list").iter().map(|entry| (&entry["event"], &entry["path"])).collect();
    let gone = format!("{links}/{}", text(&made["id"]));
    assert_eq!(told, [(&json!("preview_link_revoked"), &json!(gone)), (&json!("preview_link_created"), &json!(links))]);
    assert!(!entries.to_string().contains(text(&made["token"])), "a token is in no entry");
    // Limited passwords make no credentials.
    for limits in [json!({"read_only": true}), json!({"resources": ["posts"]})] {
        let mut body = json!({"name": limits.to_string()});
        body.as_object_mut().expect("an object").extend(limits.as_object().expect("an object").clone());
        let limited = server.admin("POST", "/cms/v2/users/1/application-passwords", Some(&body)).body;
        let limited = ("admin".to_owned(), text(&limited["password"]).to_owned());
        let refused = server.ask("POST", &links, Some(&limited), Some(&json!({})));
        assert_eq!(refused.code(), "rest_application_password_limited", "{limits}: {}", refused.text);
    }
    // A record has so many links at most: another one ends the oldest.
    let tokens: Vec<String> = (0..101).map(|_| token(&server, &other)).collect();
    let list = server.admin("GET", &format!("{other}/preview-links"), None).body;
    assert_eq!(list.as_array().map(Vec::len), Some(100));
    assert_eq!(tokens.iter().filter(|token| shown(&server, &other, token).status == 200).count(), 100);
    assert_eq!(shown(&server, &other, &tokens[100]).status, 200, "the newest is not the one that ended");
}

#[test]
fn an_ended_link_opens_nothing() {
    let clock = ManualClock::at(time::OffsetDateTime::now_utc().unix_timestamp());
    let site = Inside::timed(clock.clone());
    let post = site.make("/cms/v2/posts", &json!({"title": {"raw": "Draft"}}));
    let item = format!("/cms/v2/posts/{}", post["id"]);
    let links = format!("{item}/preview-links");
    let usual = site.make(&links, &json!({}));
    let long = site.make(&links, &json!({"expires_in": 604_800}));
    let status = |made: &Value| site.get(&format!("{item}?preview={}", text(&made["token"])), false).status;
    clock.advance(3599);
    assert_eq!((status(&usual), status(&long)), (200, 200));
    clock.advance(1);
    assert_eq!((status(&usual), status(&long)), (401, 200));
    let listed = |count: usize| {
        let list = site.get(&links, true).body;
        assert_eq!(list.as_array().map(Vec::len), Some(count), "{list}");
    };
    listed(1);
    clock.advance(604_800 - 3600);
    assert_eq!((status(&usual), status(&long)), (401, 401));
    listed(0);
    // The next one that is made takes their rows away.
    site.make(&links, &json!({}));
    let done = site.ask(Method::Delete, &format!("{links}/{}", text(&long["id"])), true, None);
    assert_eq!(done.status, 404);
    listed(1);
}

#[test]
fn a_link_ends_with_the_right_of_who_made_it() {
    let server = Server::start();
    let person = server.user("otto", "editor");
    let me = server.ask("GET", "/cms/v2/users/me", Some(&person), None).body["id"].clone();
    let item = format!("/cms/v2/posts/{}", made(&server, "/cms/v2/posts", &json!({"title": {"raw": "Draft"}})));
    let made = link(&server, &item, &person);
    let token = text(&made["token"]).to_owned();
    let open = |expected: bool, why: &str| match expected {
        true => assert_eq!(shown(&server, &item, &token).status, 200, "{why}"),
        false => refused(&server, &item, &token, why),
    };
    let role = |role: &str| {
        let done = server.admin("PUT", &format!("/cms/v2/users/{me}"), Some(&json!({"roles": [role]})));
        assert_eq!(done.status, 200, "{}", done.text);
    };
    open(true, "as it was made");
    for (given, expected) in [("subscriber", false), ("contributor", false), ("author", false), ("editor", true)] {
        role(given);
        open(expected, given);
    }
    // An author edits what is the author's own.
    server.admin("PUT", &item, Some(&json!({"author": me})));
    role("author");
    open(true, "its author");
    server.admin("PUT", &item, Some(&json!({"author": 1})));
    open(false, "no longer its author");
    role("editor");
    open(true, "again");
    // In the trash nothing is previewed.
    server.admin("DELETE", &item, None);
    open(false, "in the trash");
    let trashed = server.ask("POST", &format!("{item}/preview-links"), Some(&person), Some(&json!({})));
    assert_eq!((trashed.status, trashed.code()), (410, "rest_already_trashed"));
    server.admin("PUT", &item, Some(&json!({"status": "draft"})));
    open(true, "out of the trash");
    let gone = server.admin("DELETE", &format!("/cms/v2/users/{me}?force=true&reassign=1"), None);
    assert_eq!(gone.status, 200, "{}", gone.text);
    open(false, "the user is deleted");
    assert_eq!(server.admin("GET", &format!("{item}/preview-links"), None).body, json!([]));
    // A deleted record has no preview, and says so as everything else does.
    let last = self::token(&server, &item);
    server.admin("DELETE", &format!("{item}?force=true"), None);
    refused(&server, &item, &last, "deleted");
}

#[test]
fn a_preview_shows_the_newest_of_autosave_and_record_whole() {
    let server = site(&[]);
    let ns = "/cms/v2";
    let tag = |name: &str| made(&server, &format!("{ns}/tags"), &json!({"name": name}));
    let (sweet, sour) = (tag("Sweet"), tag("Sour"));
    let jam = made(&server, &format!("{ns}/recipes"), &json!({"title": {"raw": "Jam"}, "status": "publish"}));
    let hidden = made(&server, &format!("{ns}/recipes"), &json!({"title": {"raw": "Hidden"}, "status": "draft"}));
    let picture = |post: i64, name: &str| {
        let file = upload(&server, name, "image/png", png(8, 8)).body["id"].as_i64().expect("an id");
        server.admin("PUT", &format!("{ns}/media/{file}"), Some(&json!({"post": post})));
        file
    };
    let body = json!({"title": {"raw": "Cake"}, "content": {"raw": "<p>Old.</p>"}, "excerpt": {"raw": "Old."}, "status": "publish",
        "steps": [{"text": "one"}], "minutes": 20, "vegan": false, "note": "quiet", "tags": [sweet],
        "meta": {"source": "Aunt", "secret": "hush"}});
    let cake = made(&server, &format!("{ns}/recipes"), &body);
    let item = format!("{ns}/recipes/{cake}");
    let public = server.get(&item).body;
    let by_admin = token(&server, &item);
    let editor = server.user("otto", "editor");
    let by_editor = text(&link(&server, &item, &editor)["token"]).to_owned();
    assert_eq!(shown(&server, &item, &by_admin).body, public, "nothing is pending");

    let file = picture(cake, "cake.png");
    let change = json!({"title": {"raw": "Tart"}, "content": {"raw": "<p>New.</p>"}, "excerpt": {"raw": "New."},
        "steps": [{"text": "two"}], "minutes": 30, "vegan": true, "note": "loud", "tags": [sour], "likes": [jam, hidden],
        "featured_media": file, "meta": {"source": "Uncle", "secret": "louder"}});
    let saved = server.admin("POST", &format!("{item}/autosaves"), Some(&change));
    assert_eq!(saved.status, 200, "{}", saved.text);
    for _ in 0..2 {
        let answer = shown(&server, &format!("{item}?_embed=1"), &by_admin);
        let preview = &answer.body;
        for name in ["steps", "minutes", "vegan", "tags", "likes", "featured_media"] {
            assert_eq!(preview[name], change[name], "{name} of {preview}");
        }
        assert_eq!(preview["title"]["rendered"], "Tart");
        assert!(
            text(&preview["content"]["rendered"]).contains("New.")
                && text(&preview["excerpt"]["rendered"]).contains("New.")
        );
        assert_eq!(preview["meta"], json!({"source": "Uncle"}), "what needs editing is not shown");
        assert!(preview.get("note").is_none() && !answer.text.contains("loud"), "{}", answer.text);
        assert_eq!(
            (&preview["id"], &preview["status"], &preview["slug"]),
            (&public["id"], &public["status"], &public["slug"])
        );
        let members = |document: &Value| -> BTreeSet<String> {
            let names = document.as_object().expect("an object").keys();
            names.filter(|name| *name != "_embedded").cloned().collect()
        };
        assert_eq!(members(preview), members(&public), "the document's own shape");
        let embedded = |rel: &str, name: &str| -> Vec<String> {
            let all = preview["_embedded"][rel].as_array().into_iter().flatten();
            let all = all.flat_map(|one| one.as_array().cloned().unwrap_or_else(|| vec![one.clone()]));
            all.map(|one| one.pointer(name).map_or_else(|| one.to_string(), |value| text(value).to_owned())).collect()
        };
        assert_eq!(embedded("cms:term", "/name"), ["Sour"]);
        assert_eq!(embedded("likes", "/title/rendered"), ["Jam"], "another draft stays hidden");
        assert!(embedded("cms:featuredmedia", "/source_url")[0].ends_with("cake.png"), "{preview}");
        let fields = shown(&server, &format!("{item}?_fields=title,tags"), &by_admin).body;
        assert_eq!(fields, json!({"title": {"rendered": "Tart"}, "tags": [sour]}));
        // Readers, and those with the link of somebody who has saved nothing, see what is saved.
        assert_eq!(server.get(&item).body["title"], public["title"]);
        assert_eq!(shown(&server, &item, &by_editor).body["title"], public["title"]);
        assert_eq!(server.get(&format!("{ns}/tags?post={cake}")).body[0]["name"], "Sweet");
    }
    // Each shows the autosave of who made the link.
    server.ask("POST", &format!("{item}/autosaves"), Some(&editor), Some(&json!({"title": {"raw": "Pie"}})));
    assert_eq!(shown(&server, &item, &by_editor).body["title"]["rendered"], "Pie");
    assert_eq!(shown(&server, &item, &by_admin).body["title"]["rendered"], "Tart");
    // The next autosave is seen at once.
    server.admin("POST", &format!("{item}/autosaves"), Some(&json!({"title": {"raw": "Torte"}})));
    let preview = shown(&server, &item, &by_admin).body;
    assert_eq!((&preview["title"]["rendered"], &preview["minutes"]), (&json!("Torte"), &json!(30)));
}

#[test]
fn files_of_a_draft_are_shown_in_its_preview_alone() {
    let server = Server::start();
    let ns = "/cms/v2";
    let term = made(&server, &format!("{ns}/categories"), &json!({"name": "Inside"}));
    let body =
        json!({"title": {"raw": "Draft"}, "content": {"raw": "[gallery]"}, "status": "draft", "categories": [term]});
    let post = made(&server, &format!("{ns}/posts"), &body);
    let other = made(&server, &format!("{ns}/posts"), &json!({"title": {"raw": "Other"}, "status": "draft"}));
    let picture = |post: i64, name: &str| {
        let file = upload(&server, name, "image/png", png(8, 8)).body["id"].as_i64().expect("an id");
        server.admin("PUT", &format!("{ns}/media/{file}"), Some(&json!({"post": post})));
        file
    };
    let (own, foreign) = (picture(post, "own.png"), picture(other, "foreign.png"));
    let item = format!("{ns}/posts/{post}");
    let token = token(&server, &item);
    for (featured, expected) in [(own, true), (foreign, false), (own, true)] {
        let done = server.admin("PUT", &item, Some(&json!({"featured_media": featured})));
        assert_eq!(done.status, 200, "{}", done.text);
        for _ in 0..2 {
            let answer = shown(&server, &format!("{item}?_embed=1"), &token);
            let preview = &answer.body;
            assert_eq!(preview["_embedded"]["cms:term"][0][0]["name"], "Inside", "{preview}");
            assert_eq!(preview["_embedded"].get("cms:featuredmedia").is_some(), expected, "{preview}");
            assert!(text(&preview["content"]["rendered"]).contains("own"), "{preview}");
            assert!(!answer.text.contains("foreign.png"), "{preview}");
            for file in [own, foreign] {
                assert_eq!(server.get(&format!("{ns}/media/{file}")).status, 401);
            }
        }
    }
}

#[test]
fn under_wp_a_preview_shows_the_texts_of_an_autosave() {
    let server = Server::with(&["site.prefix=wp"]);
    let body = json!({"title": "Old", "content": "<p>Old.</p>", "status": "publish"});
    let item = format!("/wp/v2/posts/{}", made(&server, "/wp/v2/posts", &body));
    let token = token(&server, &item);
    server.admin("POST", &format!("{item}/autosaves"), Some(&json!({"title": "New", "content": "<p>New.</p>"})));
    let preview = shown(&server, &item, &token).body;
    assert_eq!(preview["title"]["rendered"], "New");
    assert_eq!(server.get(&item).body["title"]["rendered"], "Old");
    // WordPress's own link is as it was, and its description of the route.
    let saved = server.admin("GET", &format!("{item}/autosaves?context=edit"), None).body;
    assert!(text(&saved[0]["preview_link"]).ends_with("&preview=true"), "{saved}");
    let described = server.ask("OPTIONS", &item, None, None).body;
    assert!(!described.to_string().contains("preview"), "{described}");
    assert!(!server.get("/wp/v2").text.contains("preview-links"));
}

#[test]
fn a_link_leads_to_the_front_end() {
    let server = site(&[]);
    let pages = |title: &str, above: i64| {
        let body =
            json!({"title": {"raw": title}, "parent": above, "status": if above == 0 { "publish" } else { "draft" }});
        made(&server, "/cms/v2/pages", &body)
    };
    let above = pages("About us", 0);
    let drafts = [
        (
            "posts",
            made(&server, "/cms/v2/posts", &json!({"title": {"raw": "Kötstigen & more"}})),
            "/blog/kotstigen-more",
        ),
        ("pages", pages("Team", above), "/about-us/team/"),
        (
            "recipes",
            made(&server, "/cms/v2/recipes", &json!({"title": {"raw": "Soup"}, "slug": "fish-soup"})),
            "/eat/fish-soup",
        ),
        ("posts", made(&server, "/cms/v2/posts", &json!({"content": {"raw": "<p>No title.</p>"}})), "/?p="),
    ];
    let item = |base: &str, id: i64| format!("/cms/v2/{base}/{id}");
    assert_eq!(link(&server, &item("posts", drafts[0].1), &server.admin)["address"], Value::Null);
    let front = r#"
[site.front]
url = "https://www.example.org"
preview = "https://www.example.org/api/preview?token={token}&path={path}&type={type}&id={id}"
[site.front.paths]
posts = "/blog/{slug}"
recipes = "/eat/{slug}"
"#;
    fs::write(server.path("site.toml"), format!("{SITE}{front}")).expect("a file");
    let server = server.restart_with(&[]);
    for (base, id, path) in drafts {
        let link = link(&server, &item(base, id), &server.admin);
        let address = url::Url::parse(text(&link["address"])).expect("an address");
        let values: Vec<(String, String)> = address.query_pairs().into_owned().collect();
        let path = if path.ends_with('=') { format!("{path}{id}") } else { path.to_owned() };
        let expected = [
            ("token", text(&link["token"])),
            ("path", &path),
            ("type", &base[..base.len() - 1]),
            ("id", &id.to_string()),
        ];
        assert_eq!(values, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(address[..url::Position::AfterPath], *"https://www.example.org/api/preview");
    }
}

#[test]
fn under_wp_the_address_of_a_preview_needs_the_nonce_of_who_follows_it() {
    let server = Server::with(&["site.prefix=wp"]);
    let new = json!({"title": "Public", "slug": "public", "status": "publish", "date": "2024-05-06T07:08:09"});
    let post = server.admin("POST", "/wp/v2/posts", Some(&new)).body;
    let id = &post["id"];
    let visit = |query: &str, accept: &str| {
        server.send("GET", &format!("{}/?p={id}&{query}", server.site), None, None, &[("accept", accept)])
    };
    let wrong = format!("preview=true&preview_id={id}&preview_nonce=abc");
    let data = visit(&wrong, "application/json");
    assert_eq!((data.status, data.code()), (403, "wp_die"), "{}", data.text);
    let page = visit(&wrong, "text/html");
    assert_eq!(page.status, 403);
    assert!(
        page.header("content-type").is_some_and(|kind| kind.starts_with("text/html")) && !page.text.contains("Public")
    );
    // Without a nonce it is the record's own address, and no redirect keeps what makes it a preview.
    for query in ["preview=true", &format!("preview=true&preview_id={id}"), "preview_nonce=abc"] {
        let led = visit(query, "text/html");
        let place = led.header("location").unwrap_or_default();
        assert_eq!((led.status, place), (301, format!("{}/2024/05/public/", server.site).as_str()), "{query}");
    }
    let kept = visit("preview=true&a=1", "text/html");
    assert!(
        kept.header("location").is_some_and(|place| place.ends_with("/public/?a=1")),
        "{:?}",
        kept.header("location")
    );
}

/// Requests with tokens; `CMS_TEST_PREVIEWS` tries more.
const TRIES: usize = 2000;

/// A record that readers do not see, with a word that nothing else has.
struct HiddenRecord {
    item: String,
    id: i64,
    word: String,
    token: String,
}

/// The records of types that have preview links: drafts, private, scheduled and waiting ones, and the change of a public one.
fn hidden_records(inside: &Inside) -> Vec<HiddenRecord> {
    let mut all = Vec::new();
    for kind in ["posts", "pages"] {
        for state in ["draft", "private", "future", "pending", "publish"] {
            let word = format!("secret{kind}{state}");
            let text = |word: &str| json!({"raw": format!("{word} in words")});
            let live = state == "publish";
            let shown = if live { "seen" } else { &*word };
            let body = json!({"title": text(shown), "content": text(shown), "excerpt": text(shown), "slug": format!("{kind}-{shown}"),
                "status": state, "date": if state == "future" { "2031-01-01T00:00:00" } else { "2024-01-01T00:00:00" }});
            let id = inside.make(&format!("/cms/v2/{kind}"), &body)["id"].as_i64().expect("an id");
            let item = format!("/cms/v2/{kind}/{id}");
            if live {
                inside.make(&format!("{item}/autosaves"), &json!({"title": text(&word), "content": text(&word)}));
            }
            let token = self::text(&inside.make(&format!("{item}/preview-links"), &json!({}))["token"]).to_owned();
            all.push(HiddenRecord { item, id, word, token });
        }
    }
    all
}

#[test]
fn over_all_routes_a_token_opens_its_record_alone() {
    let tries = std::env::var("CMS_TEST_PREVIEWS").ok().and_then(|n| n.parse().ok()).unwrap_or(TRIES);
    let mut dice = Dice(0x00C0_FFEE);
    let inside = Inside::start();
    let hidden = hidden_records(&inside);
    let routes: Vec<_> = inside
        .registry
        .routes
        .iter()
        .filter(|route| route.endpoints.iter().any(|own| own.methods.contains(&Method::Get)))
        .collect();
    let words: Vec<&str> = hidden.iter().map(|record| &*record.word).collect();
    let (mut opened, mut refused) = (0, 0);
    for at in 0..tries {
        let (of, at_record) = (dice.of(&hidden), dice.of(&hidden));
        // The token as it is, cut, of another record in its second half, or with a letter changed.
        let other = dice.of(&hidden);
        let (id, signature) = of.token.split_once('.').expect("two parts");
        let changed = match dice.below(8) {
            0 => of.token[..of.token.len() - 1].to_owned(),
            1 => format!("{id}.{}", other.token.split_once('.').expect("two parts").1),
            2 => format!("{id}.{}", signature.to_uppercase()),
            _ => of.token.clone(),
        };
        let whole = changed == of.token;
        let value = match dice.below(4) {
            0 => at_record.word.clone(),
            1 => format!("posts-{}", at_record.word),
            _ => at_record.id.to_string(),
        };
        // Half of the tries are at items and addresses, where a token means something.
        let path = match dice.below(4) {
            0 => at_record.item.clone(),
            1 => "/server/v1/resolve".to_owned(),
            _ => dice.of(&routes).template.filled(|_| value.clone()),
        };
        let queries = [
            String::new(),
            "&_embed=1".to_owned(),
            "&context=edit".to_owned(),
            "&status=any".to_owned(),
            format!("&search={}", at_record.word),
            format!("&include={}&status=draft", at_record.id),
            format!("&path=/?p={}", at_record.id),
            format!("&path=/{}/&_embed=record", at_record.item.rsplit('/').nth(1).unwrap_or_default()),
            format!("&post={}&parent={}", at_record.id, at_record.id),
        ];
        let route = format!("{path}?preview={changed}{}", dice.of(&queries));
        let told = inside.get(&route, false);
        let text = told.body.to_string();
        // The links of a list repeat what was asked for, so there the whole text counts.
        let repeated = |word: &str| route.contains(&format!("search={word}")) || route.contains(&format!("-{word}"));
        let shows = |word: &str| text.contains(&format!("{word} in words")) || text.contains(word) && !repeated(word);
        let seen: Vec<&str> = words.iter().copied().filter(|word| shows(word)).collect();
        let own = whole && (path == of.item || path == "/server/v1/resolve");
        let foreign: Vec<&&str> = seen.iter().filter(|word| !(own && **word == of.word)).collect();
        assert!(foreign.is_empty(), "try {at}: {route} shows {foreign:?}: {text}");
        opened += usize::from(path == of.item && whole && told.status == 200 && seen.contains(&&*of.word));
        if path == at_record.item && (!whole || at_record.id != of.id) {
            assert_eq!((told.status, &told.body["code"]), (401, &json!("rest_preview_invalid")), "try {at}: {route}");
            refused += 1;
        }
    }
    assert!(opened > tries / 100 && refused > tries / 10, "{opened} opened, {refused} refused of {tries}");
}
