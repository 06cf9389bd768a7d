//! Abilities: those of WordPress, and own ones over the named behaviours.

use super::server::{Answer, Server};
use serde_json::{Value, json};

const OWN: &str = r#"
[ability_categories.desk]
label = "Desk"
description = "What the desk does."

[abilities."desk/note"]
category = "desk"
label = "Take a note"
description = "Creates a draft."
show_in_rest = true
capability = "read"
run = "request"
request = { method = "POST", path = "/{prefix}/v2/posts", args = { status = "draft" } }
input_schema = { type = "object", properties = { title = { type = "string", required = true, maxLength = 40, context = ["view"] }, categories = { type = "array", items = { type = "integer" } } } }
result = { id = { member = "id" }, title = { member = "title.raw" }, state = { member = "status" } }

[abilities."desk/tidy"]
category = "desk"
label = "Clear a note"
description = "Moves a record to the trash."
show_in_rest = true
capability = "read"
run = "request"
request = { method = "DELETE", path = "/{prefix}/v2/posts/{id}" }
annotations = { destructive = true, idempotent = true, cost = "low" }
input_schema = { type = "object", required = ["id"], properties = { id = { type = ["integer", "string"] } } }
result = { state = { member = "status" } }

[abilities."desk/greet"]
category = "desk"
label = "Greet"
description = "Says what the site is called."
show_in_rest = true
capability = "read"
run = "values"
annotations = { readonly = true }
result = { name = { setting = "title" }, hello = { value = true } }

[abilities."desk/broken"]
category = "desk"
label = "Broken"
description = "Promises something else."
show_in_rest = true
capability = "read"
run = "values"
annotations = { readonly = true }
output_schema = { type = "object", properties = { hello = { type = "integer" } } }
result = { hello = { value = "no number" } }

[abilities."desk/secret"]
category = "desk"
label = "Secret"
description = "Not shown."
capability = "read"
run = "values"
"#;

fn server() -> Server {
    let server = Server::with(&["site.prefix=wp"]);
    std::fs::write(server.path("site.toml"), OWN).expect("a file");
    server.restart_with(&["site.prefix=wp"])
}

fn run(server: &Server, method: &str, name: &str, input: Option<Value>) -> Answer {
    let body = input.map(|input| json!({"input": input}));
    server.admin(method, &format!("/wp-abilities/v1/abilities/{name}/run"), body.as_ref())
}

#[test]
fn own_abilities_send_requests_in_the_name_of_the_caller() {
    let server = server();
    let noted = run(&server, "POST", "desk/note", Some(json!({"title": "Milk", "categories": "1"})));
    assert_eq!((noted.status, &noted.body["title"], &noted.body["state"]), (200, &json!("Milk"), &json!("draft")));
    assert_eq!(noted.header("cache-control"), Some("no-cache, must-revalidate, max-age=0, no-store, private"));
    let id = noted.body["id"].clone();
    let post = server.admin("GET", &format!("/wp/v2/posts/{id}?context=edit"), None);
    assert_eq!((&post.body["title"]["raw"], &post.body["categories"]), (&json!("Milk"), &json!([1])));

    let reader = server.user("reader", "subscriber");
    let body = json!({"input": {"title": "Mine"}});
    let refused = server.ask("POST", "/wp-abilities/v1/abilities/desk/note/run", Some(&reader), Some(&body));
    assert_eq!((refused.status, refused.code()), (403, "rest_cannot_create"), "the route's own refusal");

    let tidied = server.admin("DELETE", &format!("/wp-abilities/v1/abilities/desk/tidy/run?input[id]={id}"), None);
    assert_eq!((tidied.status, &tidied.body), (200, &json!({"state": "trash"})), "{}", tidied.text);
    let gone = server.admin("DELETE", &format!("/wp-abilities/v1/abilities/desk/tidy/run?input[id]={id}"), None);
    assert_eq!((gone.status, gone.code()), (410, "rest_already_trashed"));
    let odd = server.admin("DELETE", "/wp-abilities/v1/abilities/desk/tidy/run?input[id]=1/revisions/2", None);
    assert_eq!((odd.status, odd.code()), (400, "ability_invalid_input"), "a value is no path");
}

#[test]
fn a_call_is_refused_in_a_fixed_order() {
    let server = server();
    let is = |answer: Answer, status: u16, code: &str| {
        assert_eq!((answer.status, answer.code()), (status, code), "{}", answer.text);
        assert_eq!(answer.header("allow"), None);
    };
    is(run(&server, "POST", "desk/nothing", None), 404, "rest_ability_not_found");
    is(run(&server, "GET", "desk/secret", None), 404, "rest_ability_not_found");
    is(run(&server, "GET", "desk/note", None), 405, "rest_ability_invalid_method");
    is(run(&server, "PUT", "desk/tidy", None), 405, "rest_ability_invalid_method");
    is(run(&server, "POST", "desk/note", None), 400, "ability_invalid_input");
    is(run(&server, "POST", "desk/note", Some(json!({"title": "x".repeat(41)}))), 400, "ability_invalid_input");
    let path = "/wp-abilities/v1/abilities/desk/greet/run";
    is(server.admin("GET", &format!("{path}?input[a]=b"), None), 400, "ability_missing_input_schema");
    is(server.get("/wp-abilities/v1/abilities/desk/nothing/run"), 404, "rest_ability_not_found");
    is(server.get(path), 401, "rest_ability_cannot_execute");
    let broken = run(&server, "GET", "desk/broken", None);
    assert_eq!((broken.status, broken.code()), (500, "ability_invalid_output"));
    let greeted = server.admin("GET", &format!("{path}?_fields=hello"), None);
    assert_eq!((greeted.status, greeted.body), (200, json!({"hello": true})));
}

#[test]
fn lists_of_abilities_are_filtered_and_hold_what_any_reader_understands() {
    let server = server();
    let names = |query: &str| {
        let found = server.admin("GET", &format!("/wp-abilities/v1/abilities?_fields=name{query}"), None);
        let list = found.body.as_array().unwrap_or_else(|| panic!("{}", found.text)).clone();
        list.iter().filter_map(|ability| ability["name"].as_str()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names("&namespace=desk"), "desk/note desk/tidy desk/greet desk/broken");
    assert_eq!(names("&category=desk&per_page=1&page=2"), "desk/tidy");
    assert_eq!(names("&meta[annotations][destructive]=true"), "desk/tidy");
    assert_eq!(names("&meta[annotations][readonly]=1&meta[annotations][cost]=low"), "");
    assert_eq!(names("&meta[annotations][cost]=low&meta[show_in_rest]=false"), "desk/tidy");
    assert_eq!(names("&meta[nothing]=1"), "");
    let note = server.admin("GET", "/wp-abilities/v1/abilities/desk/note", None).body;
    assert_eq!(note["input_schema"]["required"], json!(["title"]), "{note}");
    assert_eq!(note["input_schema"]["properties"]["title"], json!({"type": "string", "maxLength": 40}));
    let annotations = json!({"readonly": null, "destructive": null, "idempotent": null});
    let meta = json!({"annotations": annotations, "public": false, "show_in_rest": true});
    assert_eq!(note["meta"], meta);
    assert_eq!(note["_links"]["curies"][0]["name"], "wp");
    let embedded = server.admin("GET", "/wp-abilities/v1/categories/desk?context=embed", None).body;
    assert_eq!(embedded["label"], "Desk");
    let reader = server.user("reader", "subscriber");
    let listed = server.ask("GET", "/wp-abilities/v1/abilities", Some(&reader), None);
    assert_eq!((listed.status, listed.header("x-wp-total")), (200, Some("7")));
}

/// An own resource with a table of its own, whose operations are abilities by one line.
const LAMPS: &str = r#"
[resources.lamps]
extends = "plain"
schema = "lamp.json"
ability = true
"#;

const LAMP: &str = r#"{"title": "lamp", "type": "object", "properties": {
    "id": {"type": "integer", "context": ["view", "edit", "embed"], "readonly": true},
    "name": {"type": "string", "maxLength": 40, "required": true, "context": ["view", "edit", "embed"]}}}"#;

fn called(server: &Server, method: &str, name: &str, input: Value) -> Answer {
    let path = format!("/abilities/v1/abilities/{name}/run");
    match method {
        "POST" => server.admin(method, &path, Some(&json!({"input": input}))),
        _ => {
            let pairs = input.as_object().into_iter().flatten().map(|(name, value)| {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                format!("input[{name}]={text}")
            });
            server.admin(method, &format!("{path}?{}", pairs.collect::<Vec<_>>().join("&")), None)
        }
    }
}

#[test]
fn the_operations_of_a_resource_are_abilities_with_one_line() {
    let server = Server::with(&[]);
    std::fs::write(server.path("site.toml"), LAMPS).expect("a file");
    std::fs::write(server.path("lamp.json"), LAMP).expect("a file");
    let server = server.restart_with(&[]);
    let listed = server.admin("GET", "/abilities/v1/abilities?namespace=lamps&_fields=name", None).body;
    let names: Vec<&str> = listed.as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["lamps/list", "lamps/get", "lamps/create", "lamps/update", "lamps/delete"]);
    let category = server.admin("GET", "/abilities/v1/categories/lamps", None).body;
    assert_eq!(category["label"], "Lamps");
    let create = server.admin("GET", "/abilities/v1/abilities/lamps/create", None).body;
    assert_eq!(create["input_schema"]["required"], json!(["name"]), "{create}");
    assert_eq!(create["input_schema"]["properties"]["name"]["maxLength"], 40);
    assert_eq!(create["output_schema"]["properties"]["id"]["type"], "integer");

    let made = called(&server, "POST", "lamps/create", json!({"name": "Desk"}));
    assert_eq!((made.status, &made.body["name"]), (200, &json!("Desk")), "{}", made.text);
    assert!(made.body.get("_links").is_none());
    let id = made.body["id"].clone();
    let changed = called(&server, "POST", "lamps/update", json!({"id": id, "name": "Floor"}));
    assert_eq!((changed.status, &changed.body["name"]), (200, &json!("Floor")), "{}", changed.text);
    let read = called(&server, "GET", "lamps/get", json!({"id": id, "_fields": "name"}));
    assert_eq!((read.status, &read.body), (200, &json!({"name": "Floor"})), "{}", read.text);
    let all = called(&server, "GET", "lamps/list", json!({"per_page": 5}));
    assert_eq!(all.body.as_array().map(Vec::len), Some(1), "{}", all.text);
    let deleted = called(&server, "DELETE", "lamps/delete", json!({"id": id}));
    assert_eq!(deleted.status, 200, "{}", deleted.text);
    for (method, name, input, status, code) in [
        ("GET", "lamps/get", json!({"id": id}), 404, "rest_invalid_id"),
        ("GET", "lamps/get", json!({}), 400, "ability_invalid_input"),
        ("GET", "lamps/get", json!({"id": "1/revisions"}), 400, "ability_invalid_input"),
        ("POST", "lamps/create", json!({"name": "x".repeat(41)}), 400, "rest_invalid_param"),
        ("POST", "lamps/create", json!({"colour": "red"}), 400, "ability_invalid_input"),
        ("POST", "lamps/create", json!(["Desk"]), 400, "ability_invalid_input"),
        ("POST", "lamps/delete", json!({"id": 1}), 405, "rest_ability_invalid_method"),
    ] {
        let refused = called(&server, method, name, input);
        assert_eq!((refused.status, refused.code()), (status, code), "{name}: {}", refused.text);
    }
}

#[test]
fn the_guard_of_an_ability_is_that_of_its_route() {
    let server = Server::start();
    let run = |caller: Option<&(String, String)>, method: &str, name: &str, body: Option<Value>| {
        server.ask(method, &format!("/abilities/v1/abilities/{name}"), caller, body.as_ref())
    };
    let draft = json!({"input": {"title": "A draft"}});
    assert_eq!(run(None, "POST", "posts/create/run", Some(draft.clone())).code(), "rest_cannot_create");
    let reader = server.user("reader", "subscriber");
    assert_eq!(run(Some(&reader), "POST", "posts/create/run", Some(draft.clone())).status, 403);

    let made = server.admin("POST", "/abilities/v1/abilities/posts/create/run", Some(&draft));
    let id = made.body["id"].clone();
    let publish = json!({"input": {"id": id}});
    assert_eq!(run(Some(&reader), "POST", "posts/publish/run", Some(publish.clone())).code(), "rest_cannot_edit");
    let published = server.admin("POST", "/abilities/v1/abilities/posts/publish/run", Some(&publish));
    assert_eq!((published.status, &published.body["status"]), (200, &json!("publish")), "{}", published.text);
    assert_eq!(published.body["title"], "A draft");
    let open = run(None, "GET", "posts/list/run?input[per_page]=1&input[_fields]=id", None);
    assert_eq!((open.status, open.body.as_array().map(Vec::len)), (200, Some(1)), "{}", open.text);
}

#[test]
fn no_ability_of_ours_is_among_those_of_wordpress() {
    let server = Server::with(&["site.prefix=wp"]);
    let listed = server.admin("GET", "/wp-abilities/v1/abilities?_fields=name", None).body;
    let names: Vec<&str> = listed.as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["core/get-site-info", "core/get-user-info", "core/get-environment-info"]);
    let categories = server.admin("GET", "/wp-abilities/v1/categories?_fields=slug", None).body;
    assert_eq!(categories, json!([{"slug": "site"}, {"slug": "user"}]));
}

/// A note that is created, read and given an author: as steps, and the same as one commit.
fn filing() -> String {
    let ability = |name: &str, atomic: bool| {
        format!(
            r#"
[abilities."{name}"]
category = "site"
label = "File a note"
description = "Creates a draft and gives it an author."
show_in_rest = true
atomic = {atomic}
input_schema = {{ type = "object", additionalProperties = false, required = ["title"], properties = {{ title = {{ type = "string" }}, author = {{ type = "integer" }}, tag = {{ type = "string" }} }} }}
steps = [
  {{ name = "note", method = "POST", path = "/{{prefix}}/v2/posts", args = {{ title = "Note: {{title}}", status = "draft" }} }},
  {{ name = "seen", method = "GET", path = "/{{prefix}}/v2/posts/{{note.id}}", args = {{ context = "edit", _fields = ["id", "title"] }} }},
  {{ name = "filed", when = "author", method = "POST", path = "/{{prefix}}/v2/posts/{{seen.id}}", if_match = "{{seen._etag}}", args = {{ author = "{{author}}" }} }},
  {{ name = "tagged", when = "tag", method = "POST", path = "/{{prefix}}/v2/posts/{{seen.id}}", if_match = "{{tag}}", args = {{ excerpt = "{{tag}}" }} }},
]
result = {{ id = {{ step = "note", member = "id" }}, title = {{ step = "seen", member = "title.raw" }}, tag = {{ member = "_etag" }}, by = {{ step = "filed", member = "author" }} }}
"#
        )
    };
    ability("desk/file", false) + &ability("desk/file-whole", true)
}

#[test]
fn an_ability_of_several_requests_uses_what_the_earlier_ones_responded() {
    let server = Server::with(&[]);
    std::fs::write(server.path("site.toml"), filing()).expect("a file");
    let server = server.restart_with(&[]);
    let drafts = || {
        let list = server.admin("GET", "/cms/v2/posts?status=draft&search=Note&_fields=id", None);
        list.body.as_array().map(Vec::len).unwrap_or_else(|| panic!("{}", list.text))
    };
    let filed = called(&server, "POST", "desk/file", json!({"title": "Milk", "author": 1}));
    assert_eq!((filed.status, &filed.body["title"]), (200, &json!("Note: Milk")), "{}", filed.text);
    assert_eq!(filed.body["by"], json!(1));
    let post = server.admin("GET", &format!("/cms/v2/posts/{}?context=edit", filed.body["id"]), None);
    assert_eq!((&post.body["title"]["raw"], &post.body["excerpt"]["raw"]), (&json!("Note: Milk"), &json!("")));
    let version = |tag: &str| tag.trim_matches('"').split('-').next().map(str::to_owned);
    assert_eq!(version(post.header("etag").expect("a tag")), version(filed.body["tag"].as_str().expect("a tag")));

    let skipped = called(&server, "POST", "desk/file", json!({"title": "Tea"}));
    assert_eq!(
        (skipped.status, &skipped.body["by"]),
        (200, &json!(null)),
        "a step without its value: {}",
        skipped.text
    );
    assert_eq!(drafts(), 2);

    let refused = called(&server, "POST", "desk/file", json!({"title": "Salt", "author": 999_999}));
    assert_eq!((refused.status, refused.code()), (400, "rest_invalid_author"), "{}", refused.text);
    assert_eq!((&refused.body["data"]["step"], &refused.body["data"]["written"]), (&json!("filed"), &json!(["note"])));
    assert_eq!(drafts(), 3, "what came before it stays");
    let whole = called(&server, "POST", "desk/file-whole", json!({"title": "Salt", "author": 999_999}));
    assert_eq!((whole.status, &whole.body["data"]["step"]), (400, &json!("filed")), "{}", whole.text);
    assert_eq!((&whole.body["data"]["written"], drafts()), (&json!([]), 3), "nothing was written");
    let stale = called(&server, "POST", "desk/file-whole", json!({"title": "Salt", "tag": "\"99\""}));
    assert_eq!((stale.status, stale.code()), (412, "rest_precondition_failed"), "{}", stale.text);
    assert_eq!((&stale.body["data"]["step"], drafts()), (&json!("tagged"), 3));
    let kept = called(&server, "POST", "desk/file-whole", json!({"title": "Salt", "author": 1}));
    assert_eq!((kept.status, drafts()), (200, 4), "{}", kept.text);

    let reader = server.user("reader", "subscriber");
    let body = json!({"input": {"title": "Mine"}});
    let refused = server.ask("POST", "/abilities/v1/abilities/desk/file/run", Some(&reader), Some(&body));
    assert_eq!((refused.status, refused.code()), (403, "rest_cannot_create"), "the route's own refusal");
    assert_eq!(refused.body["data"]["step"], "note");
}

#[test]
fn an_ability_changes_only_what_nobody_has_changed_since() {
    let server = Server::start();
    let made = called(&server, "POST", "posts/create", json!({"title": "One"}));
    let (id, first) = (made.body["id"].clone(), made.body["_etag"].clone());
    assert!(first.is_string(), "{}", made.text);
    let changed = called(&server, "POST", "posts/update", json!({"id": id, "title": "Two", "if_match": first}));
    assert_eq!((changed.status, &changed.body["title"]["raw"]), (200, &json!("Two")), "{}", changed.text);
    let stale = called(&server, "POST", "posts/update", json!({"id": id, "title": "Three", "if_match": first}));
    assert_eq!((stale.status, stale.code()), (412, "rest_precondition_failed"));
    let read = called(&server, "GET", "posts/get", json!({"id": id}));
    assert_eq!(read.body["_etag"], changed.body["_etag"]);
    let few = called(&server, "GET", "posts/get", json!({"id": id, "_fields": "id"}));
    assert_eq!(few.body, json!({"id": id}));
    let named = called(&server, "GET", "posts/get", json!({"id": id, "_fields": "id,_etag"}));
    assert_eq!(named.body, json!({"id": id, "_etag": changed.body["_etag"]}));

    let run = |tag: &str| {
        let body = ("application/json", json!({"input": {"id": id}}).to_string().into_bytes());
        let url = format!("{}/abilities/v1/abilities/posts/publish/run", server.rest);
        server.send("POST", &url, Some(&server.admin), Some(body), &[("if-match", tag)])
    };
    assert_eq!(run(first.as_str().expect("a tag")).status, 412, "the header holds for the record");
    let published = run(changed.body["_etag"].as_str().expect("a tag"));
    assert_eq!((published.status, &published.body["status"]), (200, &json!("publish")), "{}", published.text);
    assert!(published.header("etag").is_some());
    let gone = called(
        &server,
        "DELETE",
        "posts/delete",
        json!({"id": id, "if_match": first.as_str().map(|tag| tag.trim_matches('"'))}),
    );
    assert_eq!(gone.status, 412, "{}", gone.text);
}

#[test]
fn a_post_is_copied_whole_or_not_at_all() {
    let server = Server::start();
    let post = json!({"title": "Harbour", "content": "Ships {and} boats", "excerpt": "Short", "status": "publish", "categories": [1]});
    let id = server.admin("POST", "/cms/v2/posts", Some(&post)).body["id"].clone();
    let copied = called(&server, "POST", "posts/copy", json!({"id": id}));
    assert_eq!((copied.status, &copied.body["original"]), (200, &id), "{}", copied.text);
    let draft = server.admin("GET", &format!("/cms/v2/posts/{}?context=edit", copied.body["id"]), None).body;
    assert_eq!((&draft["status"], &draft["title"]["raw"]), (&json!("draft"), &json!("Harbour")));
    assert_eq!((&draft["content"]["raw"], &draft["categories"]), (&json!("Ships {and} boats"), &json!([1])));
    let titled = called(&server, "POST", "posts/copy", json!({"id": id, "title": "Port"}));
    let draft = server.admin("GET", &format!("/cms/v2/posts/{}?context=edit", titled.body["id"]), None).body;
    assert_eq!(draft["title"]["raw"], "Port", "{}", titled.text);
    assert_eq!(called(&server, "POST", "posts/copy", json!({"id": 999_999})).code(), "rest_post_invalid_id");
}
