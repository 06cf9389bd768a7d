//! Relations whose keys are inside lists and objects.

use super::own_types::{folder, make, problems};
use super::revisions::recipes;
use super::server::Server;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

const RESOURCES: [&str; 2] = ["c_evenings", "p_evenings"];

fn film(on_delete: &str) -> Value {
    json!({"type": "integer", "x-filterable": true,
        "x-relation": {"to": "films", "on_delete": on_delete, "embeddable": on_delete == "clear"}})
}

/// Evenings of both families; `declared`: their program and their setting have relations inside.
fn evenings(declared: bool) -> TempDir {
    let mut properties = json!({
        "program": {"type": "array", "items": {"type": "object", "properties": {
            "at": {"type": "string"},
            "film": {"type": "integer"},
            "guests": {"type": "array", "items": {"type": "integer"}},
        }}},
        "setting": {"type": "object", "properties": {"main": {"type": "integer"}, "after": {"type": "integer"}}},
    });
    if declared {
        let rows = &mut properties["program"]["items"]["properties"];
        rows["film"] = film("clear");
        rows["guests"]["x-relation"] = json!({"to": "users"});
        let setting = &mut properties["setting"]["properties"];
        setting["main"] = film("restrict");
        setting["after"] = film("cascade");
    }
    let films = json!({"year": {"type": "integer", "x-filterable": true}});
    folder(&[
        ("films", "content", films, ""),
        (RESOURCES[0], "content", properties.clone(), ""),
        (RESOURCES[1], "plain", properties, ""),
    ])
}

fn films(server: &Server, years: [i64; 3]) -> [i64; 3] {
    years.map(|year| make(server, "films", json!({"title": year.to_string(), "year": year, "status": "publish"})))
}

fn delete(server: &Server, film: i64) -> u16 {
    server.admin("DELETE", &format!("/own/v1/films/{film}?force=true"), None).status
}

#[test]
fn keys_inside_values_are_relations() {
    let server = Server::over(evenings(true), &[]);
    let [old, new, other] = films(&server, [1950, 2020, 1999]);
    let mut evenings = Vec::new();
    for resource in RESOURCES {
        let list = |query: &str| -> Vec<i64> {
            let found = server.admin("GET", &format!("/own/v1/{resource}?{query}&orderby=id&order=asc"), None);
            assert_eq!(found.status, 200, "{query}: {}", found.text);
            found.body.as_array().expect("a list").iter().filter_map(|item| item["id"].as_i64()).collect()
        };
        let program =
            json!([{"at": "20:00", "film": old, "guests": [1]}, {"at": "22:00", "film": new}, {"at": "24:00"}]);
        let both = make(&server, resource, json!({"title": "both", "program": program}));
        let one = make(&server, resource, json!({"title": "one", "program": [{"film": new}]}));
        make(&server, resource, json!({"title": "none"}));
        evenings.push(format!("/own/v1/{resource}/{both}"));

        // Links, what they embed, criteria.
        let item = |id: i64, query: &str| server.admin("GET", &format!("/own/v1/{resource}/{id}{query}"), None).body;
        let shown = item(both, "?_embed=program.film");
        assert_eq!(shown["program"], program, "{resource}");
        let link = shown["_links"]["program.film"][0]["href"].as_str().expect("a link").to_owned();
        assert!(link.ends_with(&format!("/own/v1/films?include={old},{new}")), "{link}");
        let embedded = shown["_embedded"]["program.film"][0].as_array().expect("films");
        assert_eq!(embedded.len(), 2, "{shown}");
        assert_eq!(shown["_links"].get("setting.main"), None);
        for (query, found) in [
            (format!("where[program.film][any]={old}"), vec![both]),
            (format!("where[program.film][any]={new}"), vec![both, one]),
            (format!("where[program.film][all]={old},{new}"), vec![both]),
            (format!("where[program.film][none]={old}&where[program.film][set]=true"), vec![one]),
            ("where[program.film.year][lt]=2000".to_owned(), vec![both]),
        ] {
            assert_eq!(list(&query), found, "{resource} {query}");
        }

        // A film that does not exist is refused, and the program stays.
        let refused =
            server.admin("PUT", &format!("/own/v1/{resource}/{one}"), Some(&json!({"program": [{"film": 9999}]})));
        assert_eq!(refused.status, 400, "{}", refused.text);
        assert!(refused.body["data"]["params"]["program"].is_string(), "{}", refused.text);
        assert_eq!(item(one, "")["program"], json!([{"film": new}]));
        let many: Vec<i64> = (1..=1001).collect();
        let refused =
            server.admin("PUT", &format!("/own/v1/{resource}/{one}"), Some(&json!({"program": [{"guests": many}]})));
        assert_eq!(refused.status, 400, "{}", refused.text);

        // A change replaces what it led to.
        server.admin("PUT", &format!("/own/v1/{resource}/{one}"), Some(&json!({"program": [{"film": other}]})));
        assert_eq!(list(&format!("where[program.film][any]={new}")), [both]);
        assert_eq!(list(&format!("where[program.film][any]={other}")), [one]);
    }

    // A deleted film leaves the values, and a value can be sent back as it was read.
    assert_eq!(delete(&server, old), 200);
    for path in evenings {
        let program = &server.admin("GET", &path, None).body["program"];
        assert_eq!(*program, json!([{"at": "20:00", "guests": [1]}, {"at": "22:00", "film": new}, {"at": "24:00"}]));
        let sent = server.admin("PUT", &path, Some(&json!({"program": program})));
        assert_eq!((sent.status, &sent.body["program"]), (200, program), "{}", sent.text);
    }
}

#[test]
fn links_show_no_keys_that_the_document_hides() {
    let of = json!({"type": "integer", "x-relation": {"to": "users", "embeddable": true}});
    let list =
        json!({"type": "array", "items": {"type": "integer"}, "x-relation": {"to": "users", "embeddable": true}});
    let properties = json!({
        "crew": {"type": "object", "properties": {"head": of}, "context": ["edit"]},
        "guests": list,
        "hosts": list.as_object().map(|list| {
            let mut list = list.clone();
            list.insert("context".into(), json!(["edit"]));
            list
        }),
    });
    let server = Server::over(folder(&[("evenings", "content", properties, "")]), &[]);
    let body = json!({"title": "x", "status": "publish", "crew": {"head": 1}, "guests": [1], "hosts": [1]});
    let path = format!("/own/v1/evenings/{}", make(&server, "evenings", body));
    let links = |item: &Value| -> Vec<String> {
        let links = item["_links"].as_object().expect("links").keys();
        links.filter(|rel| ["crew.head", "guests", "hosts"].contains(&rel.as_str())).cloned().collect()
    };
    assert_eq!(links(&server.get(&path).body), ["guests"]);
    let edited = server.admin("GET", &format!("{path}?context=edit"), None).body;
    assert_eq!(links(&edited), ["crew.head", "guests", "hosts"], "{edited}");
}

#[test]
fn deletions_follow_keys_inside_values() {
    let server = Server::over(evenings(true), &[]);
    for resource in RESOURCES {
        let [kept, followed, _] = films(&server, [1, 2, 3]);
        let evening = make(&server, resource, json!({"title": "x", "setting": {"main": kept, "after": followed}}));
        let refused = server.admin("DELETE", &format!("/own/v1/films/{kept}?force=true"), None);
        assert_eq!(
            (refused.status, &refused.body["data"]["referring"]),
            (409, &json!({resource: [evening.to_string()]}))
        );
        assert_eq!(delete(&server, followed), 200);
        let gone = server.admin("GET", &format!("/own/v1/{resource}/{evening}"), None);
        assert_eq!(gone.status, 404, "{}", gone.text);
        assert_eq!(delete(&server, kept), 200, "nothing refers to it any more");
    }
}

#[test]
fn earlier_versions_and_previews_show_the_keys_that_they_have() {
    let server = recipes(&[]);
    let new = |steps: Value| {
        let body = json!({"title": {"raw": "Cake"}, "status": "publish", "steps": steps});
        let made = server.admin("POST", "/cms/v2/recipes", Some(&body));
        assert_eq!(made.status, 201, "{}", made.text);
        made.body["id"].as_i64().expect("an id")
    };
    let dough = new(json!([]));
    let steps = json!([{"text": "bake", "of": dough}]);
    let cake = new(steps.clone());
    let route = format!("/cms/v2/recipes/{cake}");
    let found = || server.get(&format!("/cms/v2/recipes?where[steps.of][any]={dough}")).body[0]["id"].as_i64();
    assert_eq!(found(), Some(cake));
    assert_eq!(server.admin("PUT", &route, Some(&json!({"steps": []}))).status, 200);
    assert_eq!(found(), None);
    let revisions = server.admin("GET", &format!("{route}/revisions?context=edit&orderby=id&order=asc"), None).body;
    assert_eq!(revisions[0]["steps"], steps, "{revisions}");
    let saved = server.admin("POST", &format!("{route}/autosaves"), Some(&json!({"steps": steps})));
    assert_eq!((saved.status, &saved.body["steps"]), (200, &steps), "{}", saved.text);
    let back = server.admin("PUT", &route, Some(&json!({"steps": revisions[0]["steps"]})));
    assert_eq!((back.status, &back.body["steps"], found()), (200, &steps, Some(cake)), "{}", back.text);
}

#[test]
fn a_relation_is_declared_inside_values_that_are_there() {
    let mut server = Server::over(evenings(false), &[]);
    let [there, gone, _] = films(&server, [1, 2, 3]);
    let values = json!({"title": "x", "program": [{"film": there}, {"film": gone}]});
    let ids = RESOURCES.map(|resource| make(&server, resource, values.clone()));
    assert_eq!(delete(&server, gone), 200);
    let schemas = |server: &Server, declared: bool| {
        let made = evenings(declared);
        for resource in RESOURCES {
            let file = format!("schemas/{resource}.json");
            fs::copy(made.path().join(&file), server.path(&file)).expect("a file");
        }
    };
    schemas(&server, true);
    server.restart_in(&[]).expect("it starts");
    for (resource, id) in RESOURCES.into_iter().zip(ids) {
        let item = server.admin("GET", &format!("/own/v1/{resource}/{id}"), None).body;
        assert_eq!(item["program"], json!([{"film": there}, {}]), "{resource}");
        let found = server.admin("GET", &format!("/own/v1/{resource}?where[program.film][any]={there}"), None).body;
        assert_eq!(found[0]["id"], id, "{resource}");
    }
    // Without the declaration nothing is lost.
    schemas(&server, false);
    server.restart_in(&[]).expect("it starts");
    for (resource, id) in RESOURCES.into_iter().zip(ids) {
        let item = server.admin("GET", &format!("/own/v1/{resource}/{id}"), None).body;
        assert_eq!(item["program"], values["program"], "{resource}");
    }
}

#[test]
fn relations_that_cannot_be_inside_are_problems() {
    let inside = |doc: Value| json!({"parts": {"type": "object", "properties": {"of": doc}}});
    let to = |more: Value| {
        let mut word = json!({"to": "posts"});
        word.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        json!({"type": "integer", "x-relation": word})
    };
    let mut required = to(json!({}));
    required["required"] = json!(true);
    let mut text = to(json!({}));
    text["type"] = json!("string");
    for (doc, problem) in [
        (to(json!({"to": "postz"})), "unknown resource `postz`"),
        (to(json!({"check": false})), "always checked"),
        (to(json!({"to": "users", "on_delete": "reassign"})), "inside a value"),
        (required, "is required"),
        (text, "cannot hold keys"),
    ] {
        let found = problems(&[("things", "plain", inside(doc.clone()), "")]);
        assert!(found.contains(problem), "{doc}: {found}");
    }
}
