//! Content types of one's own: relations and deletion, filters and sort keys, what is unset, types of properties.

use super::server::{Server, run, stdout};
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// A folder with the shipped declarations, a namespace `own`, and resources given as name, family, properties and
/// further lines of their tables.
fn folder(resources: &[(&str, &str, Value, &str)]) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    let mut site = String::from("[namespaces.own]\npath = \"own/v1\"\n\n[capabilities.own]\nread = \"\"\n");
    for act in ["create", "edit", "edit_others", "edit_published", "edit_private", "publish", "read_private"] {
        site.push_str(&format!("{act} = \"edit_posts\"\n"));
    }
    site.push_str("delete = \"edit_posts\"\ndelete_published = \"edit_posts\"\ndelete_others = \"edit_posts\"\n\n");
    for (name, family, properties, more) in resources {
        let shared = match *family {
            "content" => json!({
                "id": {"type": "integer", "description": "Id.", "readonly": true, "x-column": "id"},
                "title": {"type": "string", "description": "Title.", "x-column": "title", "x-write": "text_field"},
                "slug": {"type": "string", "description": "Slug.", "x-column": "slug", "x-write": "slug"},
                "status": {"type": "string", "description": "State.", "x-column": "status",
                    "enum": ["draft", "publish", "private"]}
            }),
            _ => json!({
                "id": {"type": "integer", "description": "Id.", "readonly": true},
                "title": {"type": "string", "description": "Title.", "default": ""}
            }),
        };
        let mut all = shared.as_object().expect("an object").clone();
        for (property, doc) in properties.as_object().expect("an object") {
            let mut doc = doc.clone();
            doc["description"] = json!(property);
            all.insert(property.clone(), doc);
        }
        let schema = json!({"title": name, "type": "object", "properties": all});
        let file = folder.path().join(format!("schemas/{name}.json"));
        fs::write(file, schema.to_string()).expect("a file");
        let routes = if *family == "content" { "content" } else { "crud" };
        site.push_str(&format!(
            "[resources.{name}]\nfamily = \"{family}\"\nnamespace = \"own\"\nschema = \"schemas/{name}.json\"\n\
             kind = \"{name}\"\nroutes = [\"{routes}\"]\ncapabilities = \"own\"\n"
        ));
        site.push_str(if more.contains("sort = ") { "" } else { LISTS });
        if *family == "content" {
            site.push_str("address = \"/own/{slug}/\"\nsupports = [\"title\", \"author\"]\n");
        }
        site.push_str(more);
        site.push('\n');
        if !more.contains(".endpoints.list]") {
            site.push_str(&format!("[resources.{name}.endpoints.list]\n"));
        }
        site.push_str("orderby = { enum = [\"id\"], default = \"id\" }\norder = { default = \"asc\" }\n\n");
    }
    fs::write(folder.path().join("site.toml"), site).expect("a file");
    folder
}

/// The sort keys of resources that declare none.
const LISTS: &str = "sort = { id = \"id\" }\n";

/// Makes an item and returns its id.
fn make(server: &Server, resource: &str, mut body: Value) -> i64 {
    if body.get("status").is_none() && resource.starts_with("c_") {
        body["status"] = json!("publish");
    }
    let made = server.admin("POST", &format!("/own/v1/{resource}"), Some(&body));
    assert_eq!(made.status, 201, "{resource} {body}: {}", made.text);
    made.body["id"].as_i64().expect("an id")
}

fn relation(to: &str, on_delete: &str) -> Value {
    json!({"type": "integer", "x-relation": {"to": to, "on_delete": on_delete}})
}

// ------------------------------------------------------------------------------------------------ relations

/// Both families, with relations of every sort to a resource.
fn pointers(to: &str) -> Vec<(&'static str, &'static str, Value, &'static str)> {
    let properties = json!({
        "cleared": relation(to, "clear"),
        "kept": relation(to, "restrict"),
        "followed": relation(to, "cascade"),
        "usual": {"type": "integer", "x-relation": {"to": to}},
        "cleared_list": {"type": "array", "items": {"type": "integer"}, "x-relation": {"to": to, "on_delete": "clear"}},
        "kept_list": {"type": "array", "items": {"type": "integer"}, "x-relation": {"to": to, "on_delete": "restrict"}},
        "followed_list": {"type": "array", "items": {"type": "integer"}, "x-relation": {"to": to, "on_delete": "cascade"}}
    });
    vec![("c_pointers", "content", properties.clone(), ""), ("p_pointers", "plain", properties, "")]
}

/// What a deletion does to rows of both families that refer to the deleted one.
fn check_deletion(to: &str, mut declared: Vec<(&str, &str, Value, &str)>, new: &dyn Fn(&Server) -> (i64, String)) {
    let pointing = pointers(to);
    declared.extend(pointing.iter().cloned());
    let server = Server::over(folder(&declared), &[]);
    for (resource, ..) in &pointing {
        let get = |id: i64| server.admin("GET", &format!("/own/v1/{resource}/{id}"), None);
        let (id, target) = new(&server);
        let cleared = make(&server, resource, json!({"title": "cleared", "cleared": id}));
        let usual = make(&server, resource, json!({"title": "usual", "usual": id}));
        let listed = make(&server, resource, json!({"title": "listed", "cleared_list": [id]}));
        let followed = make(&server, resource, json!({"title": "followed", "followed": id}));
        let followed_list = make(&server, resource, json!({"title": "followed", "followed_list": [id]}));
        let other = make(&server, resource, json!({"title": "other"}));
        for property in ["kept", "kept_list"] {
            let value = if property == "kept" { json!(id) } else { json!([id]) };
            let kept = make(&server, resource, json!({"title": "kept", property: value}));
            let refused = server.admin("DELETE", &target, None);
            assert_eq!(refused.status, 409, "{resource} {property} to {to}: {}", refused.text);
            let message = refused.body["message"].as_str().expect("a message");
            assert!(message.contains(resource) && message.contains(&kept.to_string()), "{message}");
            assert_eq!(get(cleared).body["cleared"], id, "nothing is done");
            let gone = server.admin("DELETE", &format!("/own/v1/{resource}/{kept}?force=true"), None);
            assert_eq!(gone.status, 200, "{}", gone.text);
        }
        let deleted = server.admin("DELETE", &target, None);
        assert_eq!(deleted.status, 200, "{resource} to {to}: {}", deleted.text);
        assert_eq!(get(cleared).body["cleared"], Value::Null, "{resource} to {to}");
        assert_eq!(get(usual).body["usual"], Value::Null, "{resource} to {to}");
        assert_eq!(get(listed).body["cleared_list"], json!([]), "{resource} to {to}");
        assert_eq!((get(followed).status, get(followed_list).status), (404, 404), "{resource} to {to}");
        assert_eq!(get(other).status, 200);
    }
}

#[test]
fn deletions_follow_on_delete() {
    let of = |server: &Server, route: &str, body: Value, end: &str| {
        let made = server.admin("POST", route, Some(&body));
        assert_eq!(made.status, 201, "{route}: {}", made.text);
        let id = made.body["id"].as_i64().expect("an id");
        (id, format!("{route}/{id}{end}"))
    };
    let venue = ("venues", "plain", json!({}), "");
    check_deletion("venues", vec![venue], &|server| of(server, "/own/v1/venues", json!({"title": "Hall"}), ""));
    let hall = ("c_halls", "content", json!({}), "");
    check_deletion("c_halls", vec![hall], &|server| {
        of(server, "/own/v1/c_halls", json!({"title": "Hall", "status": "publish"}), "?force=true")
    });
    check_deletion("posts", vec![], &|server| {
        of(server, "/cms/v2/posts", json!({"title": "Post", "status": "publish"}), "?force=true")
    });
    check_deletion("categories", vec![], &|server| {
        // Two servers' worth of names are unique by the sequence of ids.
        let taken = server.get("/cms/v2/categories?per_page=100").body.as_array().map_or(0, Vec::len);
        of(server, "/cms/v2/categories", json!({"name": format!("Term {taken}")}), "?force=true")
    });
    check_deletion("users", vec![], &|server| {
        let taken = server.admin("GET", "/cms/v2/users?per_page=100&context=edit", None);
        let login = format!("user{}", taken.body.as_array().map_or(0, Vec::len));
        let body = json!({"username": login, "email": format!("{login}@example.org"), "password": "long enough"});
        of(server, "/cms/v2/users", body, "?force=true&reassign=1")
    });
}

#[test]
fn cascades_go_on_and_stop_at_what_is_restricted() {
    let declared = vec![
        ("roots", "plain", json!({"next": relation("roots", "cascade"), "itself": relation("roots", "restrict")}), ""),
        ("c_middles", "content", json!({"root": relation("roots", "cascade")}), ""),
        (
            "leaves",
            "plain",
            json!({"middle": relation("c_middles", "cascade"), "held": relation("c_middles", "restrict"),
                "let_go": relation("c_middles", "clear")}),
            "",
        ),
    ];
    let server = Server::over(folder(&declared), &[]);
    let status = |route: String| server.admin("GET", &route, None).status;
    let root = make(&server, "roots", json!({"title": "a"}));
    let second = make(&server, "roots", json!({"title": "b", "next": root}));
    // A circle, and a row that refers to itself.
    let body = json!({"next": second, "itself": root});
    assert_eq!(server.admin("PUT", &format!("/own/v1/roots/{root}"), Some(&body)).status, 200);
    let middle = make(&server, "c_middles", json!({"title": "m", "root": second}));
    let leaf = make(&server, "leaves", json!({"title": "l", "middle": middle}));
    let free = make(&server, "leaves", json!({"title": "f", "let_go": middle}));
    let held = make(&server, "leaves", json!({"title": "h", "held": middle}));
    // The trash changes nothing.
    assert_eq!(server.admin("DELETE", &format!("/own/v1/c_middles/{middle}"), None).status, 200);
    let refused = server.admin("DELETE", &format!("/own/v1/roots/{root}"), None);
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(refused.text.contains("leaves") && refused.text.contains(&held.to_string()), "{}", refused.text);
    assert_eq!(server.admin("DELETE", &format!("/own/v1/leaves/{held}"), None).status, 200);
    let deleted = server.admin("DELETE", &format!("/own/v1/roots/{root}"), None);
    assert_eq!(deleted.status, 200, "{}", deleted.text);
    for (resource, id, expected) in [
        ("roots", root, 404),
        ("roots", second, 404),
        ("c_middles", middle, 404),
        ("leaves", leaf, 404),
        ("leaves", free, 200),
    ] {
        assert_eq!(status(format!("/own/v1/{resource}/{id}")), expected, "{resource} {id}");
    }
    assert_eq!(server.get(&format!("/own/v1/leaves/{free}")).body["let_go"], Value::Null);
}

#[test]
fn a_deleted_user_leaves_to_the_heir() {
    let owned = json!({"keeper": relation("users", "reassign"), "about": relation("posts", "restrict")});
    let declared = vec![("c_owned", "content", owned.clone(), ""), ("owned", "plain", owned, "")];
    let server = Server::over(folder(&declared), &[]);
    let user = |login: &str| {
        let body = json!({"username": login, "email": format!("{login}@example.org"), "password": "long enough",
            "roles": ["editor"]});
        server.admin("POST", "/cms/v2/users", Some(&body)).body["id"].as_i64().expect("an id")
    };
    for resource in ["c_owned", "owned"] {
        let (one, heir) = (user(&format!("one{resource}")), user(&format!("heir{resource}")));
        let body = json!({"title": "p", "author": one, "status": "publish"});
        let post = server.admin("POST", "/cms/v2/posts", Some(&body)).body["id"].clone();
        let id = make(&server, resource, json!({"title": "x", "keeper": one, "about": post}));
        let path = format!("/own/v1/{resource}/{id}");
        // The user's post would be deleted, and something refers to it.
        let refused = server.admin("DELETE", &format!("/cms/v2/users/{one}?force=true&reassign=false"), None);
        assert_eq!(refused.status, 409, "{}", refused.text);
        let deleted = server.admin("DELETE", &format!("/cms/v2/users/{one}?force=true&reassign={heir}"), None);
        assert_eq!(deleted.status, 200, "{}", deleted.text);
        assert_eq!(server.get(&path).body["keeper"], heir);
        assert_eq!(server.admin("PUT", &path, Some(&json!({"about": null}))).status, 200);
        let deleted = server.admin("DELETE", &format!("/cms/v2/users/{heir}?force=true&reassign=false"), None);
        assert_eq!(deleted.status, 200, "{}", deleted.text);
        assert_eq!(server.get(&path).body["keeper"], Value::Null, "nobody gets it");
    }
}

/// The problems that the program finds in declarations.
fn problems(resources: &[(&str, &str, Value, &str)]) -> String {
    let folder = folder(resources);
    let config = folder.path().join("routes.toml");
    let output = run(&["check", "--config", config.to_str().expect("a path")], "");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn relations_that_cannot_be_carried_out_are_problems() {
    let cases = [
        (json!({"type": "integer", "required": true, "x-relation": {"to": "posts"}}), "cannot clear `way`"),
        (
            json!({"type": "integer", "x-create-arg": {"required": true}, "x-relation": {"to": "posts", "on_delete": "clear"}}),
            "cannot clear `way`",
        ),
        (relation("posts", "reassign"), "have no replacement"),
        (json!({"type": "string", "x-relation": {"to": "posts"}}), "cannot hold keys of `posts`"),
        (json!({"type": "integer", "x-relation": {"to": "posts", "on_delete": "explode"}}), "explode"),
    ];
    for (doc, expected) in cases {
        let found = problems(&[("things", "plain", json!({"way": doc.clone()}), "")]);
        assert!(found.contains(expected), "{doc}: {found}");
    }
    let sound = json!({"way": {"type": "integer", "required": true, "x-relation": {"to": "posts", "on_delete": "restrict"}}});
    assert!(problems(&[("things", "plain", sound, "")]).contains("sound"));
}
