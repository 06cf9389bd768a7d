//! Contents of revisions and autosaves: under `cms` everything that a form edits, under `wp` the texts.

use super::inside::Inside;
use super::server::{Server, stdout};
use cms_base::clock::ManualClock;
use cms_core::model::Method;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

const SITE: &str = r#"
[resources.recipes]
extends = "content"
schema = "schemas/recipe.json"
namespace = "core"
kind = "recipe"
capabilities = "post"
taxonomies = ["tags"]
supports = ["title", "editor", "excerpt", "author", "thumbnail", "revisions", "custom-fields"]
meta.source.schema = { description = "Where it is from.", type = "string", default = "" }
"#;

/// A site with a type of its own.
pub fn recipes(sets: &[&str]) -> Server {
    let folder = TempDir::new().expect("a temporary folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    let own = |kind: &str, more: Value| {
        let mut property = json!({"type": kind, "description": "See its name."});
        property.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        property
    };
    let schema = json!({"$ref": "content.json", "title": "recipe", "properties": {
        "steps": own("array", json!({"items": {"type": "object", "properties": {
            "text": {"type": "string", "description": "What is done."},
            "of": {"type": "integer", "x-relation": {"to": "recipes"}, "x-filterable": true}}}, "default": []})),
        "minutes": own("integer", json!({})),
        "price": own("number", json!({})),
        "vegan": own("boolean", json!({})),
        "season": own("string", json!({"enum": ["summer", "winter"]})),
        "likes": own("array", json!({"items": {"type": "integer"}, "x-relation": {"to": "recipes"}})),
    }});
    let put = |file: &str, text: &str| fs::write(folder.path().join(file), text).expect("a file");
    put("site.toml", SITE);
    put("schemas/recipe.json", &schema.to_string());
    Server::over(folder, sets)
}

fn revisions(server: &Server, route: &str) -> Vec<Value> {
    let list = server.admin("GET", &format!("{route}/revisions?context=edit&orderby=id&order=asc"), None);
    list.body.as_array().unwrap_or_else(|| panic!("{}", list.text)).clone()
}

fn update(server: &Server, route: &str, body: &Value) -> Value {
    let done = server.admin("PUT", route, Some(body));
    assert_eq!(done.status, 200, "{}", done.text);
    done.body
}

#[test]
fn a_revision_holds_everything_that_a_form_edits() {
    let server = recipes(&[]);
    let tag = server.admin("POST", "/cms/v2/tags", Some(&json!({"name": "Sweet"}))).body["id"].clone();
    let other = server.admin("POST", "/cms/v2/recipes", Some(&json!({"title": {"raw": "Jam"}}))).body["id"].clone();
    let first = json!({"title": {"raw": "Cake"}, "content": {"raw": "Bake."}, "excerpt": {"raw": "Short."}, "status": "publish",
        "steps": [{"text": "first"}], "minutes": 20, "price": 5, "vegan": true, "season": "winter", "likes": [other],
        "tags": [tag], "meta": {"source": "Aunt"}, "comment_status": "open"});
    let made = server.admin("POST", "/cms/v2/recipes", Some(&first));
    assert_eq!(made.status, 201, "{}", made.text);
    let route = format!("/cms/v2/recipes/{}", made.body["id"]);
    assert_eq!(revisions(&server, &route).len(), 0);
    // Each change of a property alone is a version; the first is there, too.
    let changes = [
        json!({"steps": [{"text": "second"}]}),
        json!({"steps": []}),
        json!({"minutes": 30}),
        json!({"price": 5.5}),
        json!({"vegan": false}),
        json!({"season": "summer"}),
        json!({"likes": []}),
        json!({"tags": []}),
        json!({"meta": {"source": "Uncle"}}),
        json!({"comment_status": "closed"}),
        json!({"title": {"raw": "Tart"}}),
    ];
    let mut expected = vec![first];
    for (count, change) in changes.iter().enumerate() {
        update(&server, &route, change);
        // The same again is no version.
        update(&server, &route, change);
        let mut next = expected[count].clone();
        next.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
        expected.push(next);
        assert_eq!(revisions(&server, &route).len(), count + 2, "{change}");
    }
    let all = revisions(&server, &route);
    for (version, expected) in all.iter().zip(&expected) {
        for (name, value) in expected.as_object().expect("an object") {
            match name.as_str() {
                "status" => {}
                "title" | "content" | "excerpt" => assert_eq!(version[name]["raw"], value["raw"], "{name}"),
                "price" => assert_eq!(version[name].as_f64(), value.as_f64(), "{name}"),
                _ => assert_eq!(&version[name], value, "{name} of {version}"),
            }
        }
        assert!(version.get("password").is_none() && version.get("status").is_none(), "{version}");
    }
    // A state alone is no version: it is not brought back.
    update(&server, &route, &json!({"status": "draft"}));
    assert_eq!(revisions(&server, &route).len(), all.len());
    // One is described as it is shown.
    let described = server.admin("OPTIONS", &format!("{route}/revisions"), None).body;
    assert!(described["schema"]["properties"].get("steps").is_some(), "{described}");
    // Brought back by an update.
    let body: Value = ["steps", "minutes", "price", "vegan", "season", "likes", "tags", "meta"]
        .iter()
        .map(|name| ((*name).to_owned(), all[0][*name].clone()))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let back = update(&server, &route, &body);
    assert_eq!(
        (&back["steps"], &back["tags"], &back["meta"]["source"]),
        (&json!([{"text": "first"}]), &json!([tag]), &json!("Aunt"))
    );
    // Before the trash, nothing is lost either.
    server.admin("DELETE", &route, None);
    assert_eq!(revisions(&server, &route).last().expect("a version")["minutes"], 20);
}

#[test]
fn older_revisions_show_what_they_have() {
    let server = recipes(&[]);
    let body = json!({"title": {"raw": "Cake"}, "content": {"raw": "Bake."}, "status": "publish", "minutes": 20});
    let made = server.admin("POST", "/cms/v2/recipes", Some(&body));
    let route = format!("/cms/v2/recipes/{}", made.body["id"]);
    update(&server, &route, &json!({"minutes": 30}));
    // As earlier releases stored them.
    let old = r#"{"title":"Cake","content":"Bake.","excerpt":""}"#;
    let newest = "SELECT max(number) FROM revision";
    server.sql(&format!("DELETE FROM revision WHERE number < ({newest})"));
    server.sql(&format!("UPDATE revision SET json = '{old}'"));
    let server = server.restart_with(&[]);
    let all = revisions(&server, &route);
    assert_eq!((all.len(), &all[0]["title"]["raw"]), (1, &json!("Cake")));
    for lacking in ["minutes", "steps", "meta", "tags"] {
        assert!(all[0].get(lacking).is_none(), "{lacking}: {}", all[0]);
    }
    // The next update keeps what the older one does not hold.
    update(&server, &route, &json!({"minutes": 40}));
    let minutes: Vec<Value> = revisions(&server, &route).iter().map(|one| one["minutes"].clone()).collect();
    assert_eq!(minutes, [Value::Null, json!(30), json!(40)]);
}

#[test]
fn the_first_version_has_its_author_and_its_time() {
    let now = time::OffsetDateTime::now_utc().unix_timestamp();
    let clock = ManualClock::at(now);
    let site = Inside::timed(clock.clone());
    let ask = |method, route: &str, body: &Value| site.ask(method, route, true, Some(body)).body;
    let made = ask(Method::Post, "/cms/v2/posts", &json!({"title": {"raw": "One"}, "status": "publish"}));
    let route = format!("/cms/v2/posts/{}", made["id"]);
    clock.advance(3600);
    ask(Method::Put, &route, &json!({"title": {"raw": "Two"}}));
    let all = site.ask(Method::Get, &format!("{route}/revisions?context=edit"), true, None).body;
    let titles: Vec<&Value> = all.as_array().expect("a list").iter().map(|one| &one["title"]["raw"]).collect();
    assert_eq!(titles, ["Two", "One"]);
    assert_eq!((&all[1]["modified_gmt"], &all[1]["author"]), (&made["modified_gmt"], &made["author"]));
    // A value that an autosave does not name is as the record has it, where that was saved since.
    let autosave = |body: &Value| ask(Method::Post, &format!("{route}/autosaves"), body);
    assert_eq!(autosave(&json!({"content": {"raw": "Long."}}))["title"]["raw"], "Two");
    clock.advance(60);
    assert_eq!(autosave(&json!({"title": {"raw": "Three"}}))["content"]["raw"], "Long.");
    clock.advance(60);
    ask(Method::Put, &route, &json!({"content": {"raw": "Other."}}));
    clock.advance(60);
    let last = autosave(&json!({"excerpt": {"raw": "Short."}}));
    let texts = ["title", "content", "excerpt"].map(|name| last[name]["raw"].clone());
    assert_eq!(texts, ["Two", "Other.", "Short."]);
}

#[test]
fn an_autosave_holds_what_it_does_not_name() {
    for (prefix, resources) in
        [("cms", vec!["posts", "pages", "blocks", "recipes"]), ("wp", vec!["posts", "pages", "recipes"])]
    {
        let server = recipes(&[&format!("site.prefix={prefix}")]);
        for resource in resources {
            let whole = json!({"title": {"raw": "Title"}, "content": {"raw": "Content."}, "excerpt": {"raw": "Excerpt."}, "status": "publish"});
            let made = server.admin("POST", &format!("/{prefix}/v2/{resource}"), Some(&whole)).body;
            let route = format!("/{prefix}/v2/{resource}/{}", made["id"]);
            let names: Vec<&str> =
                ["title", "content", "excerpt"].into_iter().filter(|name| made.get(*name).is_some()).collect();
            let mut expected: Vec<Value> = names.iter().map(|name| whole[*name]["raw"].clone()).collect();
            for (at, name) in names.iter().enumerate() {
                let changed = json!(format!("Another {name}."));
                let done = server.admin("POST", &format!("{route}/autosaves"), Some(&json!({*name: {"raw": changed}})));
                assert_eq!(done.status, 200, "{route} {name}: {}", done.text);
                expected[at] = changed;
                let list = server.admin("GET", &format!("{route}/autosaves?context=edit"), None).body;
                let found: Vec<Value> = names.iter().map(|name| list[0][*name]["raw"].clone()).collect();
                assert_eq!(found, expected, "{route} after {name}");
            }
            let record = server.admin("GET", &format!("{route}?context=edit"), None).body;
            assert_eq!(record["title"]["raw"], "Title", "the record is as it was");
        }
    }
}

#[test]
fn an_autosave_holds_own_properties() {
    let server = recipes(&[]);
    let body = json!({"title": {"raw": "Cake"}, "status": "publish", "minutes": 20, "steps": [{"text": "one"}], "meta": {"source": "Aunt"}});
    let made = server.admin("POST", "/cms/v2/recipes", Some(&body)).body;
    let route = format!("/cms/v2/recipes/{}", made["id"]);
    let tag = server.admin("POST", "/cms/v2/tags", Some(&json!({"name": "Sweet"}))).body["id"].clone();
    let autosave = |body: &Value| server.admin("POST", &format!("{route}/autosaves"), Some(body));
    let saved = autosave(&json!({"minutes": 30, "tags": [tag]})).body;
    assert_eq!(
        (&saved["minutes"], &saved["tags"], &saved["steps"]),
        (&json!(30), &json!([tag]), &json!([{"text": "one"}]))
    );
    assert_eq!((&saved["title"]["raw"], &saved["meta"]["source"]), (&json!("Cake"), &json!("Aunt")));
    let saved = autosave(&json!({"meta": {"source": "Uncle"}})).body;
    assert_eq!((&saved["minutes"], &saved["meta"]["source"]), (&json!(30), &json!("Uncle")));
    // As the record is: there is nothing to store any more.
    let same = autosave(&json!({"minutes": 20, "tags": [], "meta": {"source": "Aunt"}}));
    assert_eq!(same.code(), "rest_autosave_no_changes", "{}", same.text);
    assert_eq!(server.admin("GET", &format!("{route}/autosaves"), None).body, json!([]));
    // A state, a slug and a password are not what is written.
    autosave(&json!({"status": "draft", "slug": "other", "title": {"raw": "Tart"}}));
    let record = server.get(&route).body;
    assert_eq!((&record["status"], &record["slug"]), (&json!("publish"), &json!("cake")));
}

#[test]
fn under_wp_a_revision_holds_the_texts() {
    let server = recipes(&["site.prefix=wp"]);
    let body = json!({"title": "Cake", "content": "Bake.", "status": "publish", "minutes": 20});
    let made = server.admin("POST", "/wp/v2/recipes", Some(&body)).body;
    let route = format!("/wp/v2/recipes/{}", made["id"]);
    update(&server, &route, &json!({"minutes": 30}));
    update(&server, &route, &json!({"title": "Tart"}));
    let all = revisions(&server, &route);
    let titles: Vec<&Value> = all.iter().map(|one| &one["title"]["raw"]).collect();
    assert_eq!(titles, ["Cake", "Tart"]);
    assert!(all[0].get("minutes").is_none(), "{}", all[0]);
}

#[test]
fn the_oldest_revisions_go() {
    let server = Server::with(&["bounds.max_revisions=3"]);
    let made = server.admin("POST", "/cms/v2/posts", Some(&json!({"title": {"raw": "0"}, "status": "publish"}))).body;
    let route = format!("/cms/v2/posts/{}", made["id"]);
    for title in ["1", "2", "3", "4"] {
        update(&server, &route, &json!({"title": {"raw": title}}));
    }
    let titles: Vec<Value> = revisions(&server, &route).iter().map(|one| one["title"]["raw"].clone()).collect();
    assert_eq!(titles, ["2", "3", "4"]);
}
