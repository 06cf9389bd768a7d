//! Content types of one's own: relations and deletion, filters and sort keys, what is unset, types of properties.

use super::server::{Server, run, stdout};
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// A folder with the shipped declarations, a namespace `own`, and resources given as name, family, properties and
/// further lines of their tables.
pub(super) fn folder(resources: &[(&str, &str, Value, &str)]) -> TempDir {
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
                    "enum": ["draft", "publish", "private"], "x-filterable": true}
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
        let keys = if more.contains("start = \"start\"") { "\"id\", \"start\", \"price\"" } else { "\"id\"" };
        site.push_str(&format!(
            "orderby = {{ type = \"string\", enum = [{keys}], default = \"id\", x-param = \"orderby\" }}\n\
             order = {{ default = \"asc\" }}\n\n"
        ));
    }
    fs::write(folder.path().join("site.toml"), site).expect("a file");
    folder
}

/// The sort keys of resources that declare none.
const LISTS: &str = "sort = { id = \"id\" }\n";

/// Makes an item and returns its id.
pub(super) fn make(server: &Server, resource: &str, mut body: Value) -> i64 {
    if body.get("status").is_none() && resource.starts_with("c_") {
        body["status"] = json!("publish");
    }
    let made = server.admin("POST", &format!("/own/v1/{resource}"), Some(&body));
    assert_eq!(made.status, 201, "{resource} {body}: {}", made.text);
    made.body["id"].as_i64().expect("an id")
}

pub(super) fn relation(to: &str, on_delete: &str) -> Value {
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

/// A deletion and rows of both families that refer to the deleted one. `new` makes an item and returns its id and
/// the route that deletes it.
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
        of(server, "/cms/v2/posts", json!({"title": {"raw": "Post"}, "status": "publish"}), "?force=true")
    });
    check_deletion("categories", vec![], &|server| {
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
        let body = json!({"title": {"raw": "p"}, "author": one, "status": "publish"});
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
pub(super) fn problems(resources: &[(&str, &str, Value, &str)]) -> String {
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
    let sound =
        json!({"way": {"type": "integer", "required": true, "x-relation": {"to": "posts", "on_delete": "restrict"}}});
    assert!(problems(&[("things", "plain", sound, "")]).contains("sound"));
}

// ------------------------------------------------------------------------------------------------ filters

/// A filter by a property: the argument's schema and the filter.
fn filter(argument: &str, column: &str, op: &str, schema: &str) -> String {
    format!("{argument} = {{ {schema}, x-filter = {{ column = \"{column}\", op = \"{op}\" }} }}\n")
}

/// The types of the properties that are filtered, and the schema of an argument for one value and for several.
const ONE_OF: [(&str, &str, &str); 6] = [
    ("start", "type = \"string\", format = \"date-time\"", "type = \"string\", format = \"date-time\""),
    ("day", "type = \"string\"", "type = \"string\""),
    ("count", "type = \"integer\"", "type = \"integer\""),
    ("price", "type = \"number\"", "type = \"number\""),
    ("open", "type = \"boolean\"", "type = \"boolean\""),
    ("size", "type = \"string\", enum = [\"s\", \"m\", \"l\"]", "type = \"string\""),
];

fn filtered(name: &str) -> String {
    let mut more = String::from(
        "sort = { id = \"id\", start = \"start\", price = \"price\" }\n[resources.NAME.endpoints.list]\n\
         venue = { type = \"integer\", x-filter = { column = \"venue\" } }\n\
         venues = { type = \"array\", items = { type = \"integer\" }, x-filter = { column = \"venues\", op = \"in\" } }\n\
         not_venues = { type = \"array\", items = { type = \"integer\" }, x-filter = { column = \"venues\", op = \"not_in\" } }\n\
         tag = { type = \"string\", x-filter = { column = \"tags\" } }\n\
         no_tag = { type = \"string\", x-filter = { column = \"tags\", op = \"ne\" } }\n\
         lucky = { type = \"array\", items = { type = \"integer\" }, x-filter = { column = \"lucky\", op = \"in\" } }\n\
         upcoming = { type = \"boolean\", x-filter = { column = \"start\", op = \"future\" } }\n\
         over = { type = \"boolean\", x-filter = { column = \"start\", op = \"past\" } }\n\
         since_now = { type = \"boolean\", x-filter = { column = \"start\", op = \"ge\", value = \"now\" } }\n\
         free = { type = \"boolean\", x-filter = { column = \"price\", op = \"eq\", value = 0 } }\n\
         after = { type = \"string\", format = \"date-time\", x-filter = { query = \"date\", column = \"start\", op = \"ge\" } }\n",
    );
    for (property, one, items) in ONE_OF {
        for op in ["eq", "ne", "lt", "le", "gt", "ge"] {
            if property != "open" || matches!(op, "eq" | "ne") {
                more.push_str(&filter(&format!("{property}_{op}"), property, op, one));
            }
        }
        for op in ["in", "not_in"] {
            more.push_str(&filter(
                &format!("{property}_{op}"),
                property,
                op,
                &format!("type = \"array\", items = {{ {items} }}"),
            ));
        }
    }
    more.replace("NAME", name)
}

#[test]
fn properties_are_filtered_by_every_operator() {
    let properties = json!({
        "start": {"type": "string", "format": "date-time", "x-index": true},
        "day": {"type": "string"},
        "count": {"type": "integer"},
        "price": {"type": "number"},
        "open": {"type": "boolean"},
        "size": {"type": "string", "enum": ["s", "m", "l"]},
        "venue": {"type": "integer", "x-relation": {"to": "venues"}},
        "venues": {"type": "array", "items": {"type": "integer"}, "x-relation": {"to": "venues"}},
        "tags": {"type": "array", "items": {"type": "string"}},
        "lucky": {"type": "array", "items": {"type": "integer"}}
    });
    let (content, plain) = (filtered("c_events"), filtered("events"));
    let declared = vec![
        ("venues", "plain", json!({}), ""),
        ("c_events", "content", properties.clone(), content.as_str()),
        ("events", "plain", properties, plain.as_str()),
    ];
    let server = Server::over(folder(&declared), &[]);
    assert_eq!(server.admin("PUT", "/cms/v2/settings", Some(&json!({"timezone": "Asia/Tokyo"}))).status, 200);
    let (here, there) = (make(&server, "venues", json!({})), make(&server, "venues", json!({})));
    for resource in ["c_events", "events"] {
        let first = make(
            &server,
            resource,
            json!({"title": "a", "start": "2001-01-01T10:00:00", "day": "2001-01-01", "count": -3, "price": 0, "open": false,
                "size": "s", "venue": here, "venues": [here], "tags": ["red", "blue"], "lucky": [1, 12]}),
        );
        let second = make(
            &server,
            resource,
            json!({"title": "b", "start": "2990-01-01T10:00:00", "day": "2990-01-01", "count": 7, "price": 2.5, "open": true,
                "size": "m", "venue": there, "venues": [here, there], "tags": ["redder"], "lucky": [2]}),
        );
        let unset = make(&server, resource, json!({"title": "c"}));
        let check = |query: &str, expected: &[i64]| {
            let query = query.replace("THERE", &there.to_string()).replace("HERE", &here.to_string());
            let answer = server.get(&format!("/own/v1/{resource}?{query}"));
            assert_eq!(answer.status, 200, "{resource} {query}: {}", answer.text);
            let found: Vec<i64> =
                answer.body.as_array().expect("a list").iter().filter_map(|item| item["id"].as_i64()).collect();
            assert_eq!(found, expected, "{resource} {query}");
        };
        for (property, low, high) in [
            ("start", "2001-01-01T10:00:00", "2990-01-01T10:00:00"),
            // The same moments by their offsets.
            ("start", "2001-01-01T01:00:00Z", "2990-01-01T03:00:00%2B02:00"),
            ("day", "2001-01-01", "2990-01-01"),
            ("count", "-3", "7"),
            ("price", "0", "2.5"),
        ] {
            let (low, high) =
                (|op: &str| format!("{property}_{op}={low}"), |op: &str| format!("{property}_{op}={high}"));
            check(&low("eq"), &[first]);
            check(&low("ne"), &[second, unset]);
            check(&low("gt"), &[second]);
            check(&low("ge"), &[first, second]);
            check(&high("lt"), &[first]);
            check(&high("le"), &[first, second]);
            check(&low("lt"), &[]);
            check(&low("in"), &[first]);
            check(&low("not_in"), &[second, unset]);
        }
        check("count_in=-3,7", &[first, second]);
        check("open_eq=true", &[second]);
        check("open_eq=0", &[first]);
        check("open_ne=true", &[first, unset]);
        check("open_in=false", &[first]);
        check("size_in=s,m", &[first, second]);
        check("size_ne=s", &[second, unset]);
        check("venue=HERE", &[first]);
        check("venues=THERE", &[second]);
        check("venues=HERE,THERE", &[first, second]);
        check("not_venues=THERE", &[first, unset]);
        check("tag=red", &[first]);
        check("no_tag=red", &[second, unset]);
        check("lucky=1", &[first]);
        check("lucky=2,12", &[first, second]);
        check("upcoming=true", &[second]);
        check("upcoming=false", &[first, unset]);
        check("over=true", &[first]);
        check("since_now=true", &[second]);
        check("free=true", &[first]);
        check("after=2500-01-01T00:00:00", &[second]);
        // Rows without a value are last, whatever the direction.
        let sorts = |order: &str, expected: &[i64]| {
            for orderby in ["start", "price"] {
                check(&format!("orderby={orderby}&order={order}"), expected);
                let mut walked = Vec::new();
                let mut query = format!("orderby={orderby}&order={order}&per_page=1&_cursor=");
                loop {
                    let page = server.get(&format!("/own/v1/{resource}?{query}"));
                    assert_eq!(page.status, 200, "{}", page.text);
                    walked.extend(page.body.as_array().expect("a list").iter().filter_map(|item| item["id"].as_i64()));
                    let Some(link) = page.header("link").and_then(|l| l.split_once('?')) else { break };
                    query = link.1.split('>').next().unwrap_or_default().to_owned();
                }
                assert_eq!(walked, expected, "{resource} by {orderby} {order}, page by page");
            }
        };
        sorts("asc", &[first, second, unset]);
        sorts("desc", &[second, first, unset]);
        assert_eq!(server.get(&format!("/own/v1/{resource}?start_ge=soon")).status, 400);
    }
}

#[test]
fn filters_that_do_not_fit_are_problems() {
    let properties = json!({
        "start": {"type": "string", "format": "date-time"},
        "count": {"type": "integer"},
        "open": {"type": "boolean"},
        "place": {"type": "object", "properties": {"city": {"type": "string"}}},
        "venues": {"type": "array", "items": {"type": "integer"}, "x-relation": {"to": "posts"}}
    });
    let cases = [
        ("type = \"string\"", "column = \"strat\"", "did you mean `start`?"),
        ("type = \"string\"", "column = \"start\", op = \"nearly\"", "unknown operator"),
        ("type = \"string\"", "column = \"start\", op = \"ge\"", "no values of the type of `start`"),
        ("type = \"string\"", "column = \"count\"", "no values of the type of `count`"),
        ("type = \"array\", items = { type = \"integer\" }", "column = \"count\"", "a list is compared with `count`"),
        ("type = \"boolean\"", "column = \"open\", op = \"lt\"", "values of `open` have no order"),
        ("type = \"string\"", "column = \"count\", op = \"contains\"", "`count` is no text"),
        ("type = \"string\"", "column = \"count\", op = \"has_word\"", "`count` has no words"),
        ("type = \"string\"", "column = \"place\"", "`place` is an object"),
        ("type = \"integer\"", "column = \"venues\", op = \"lt\"", "`venues` has no `lt`"),
        ("type = \"boolean\"", "column = \"count\", op = \"future\"", "`count` holds no times"),
        ("type = \"string\"", "column = \"start\", op = \"future\"", "its type is `boolean`"),
        ("type = \"boolean\"", "column = \"start\", op = \"ge\", value = \"tomorrow\"", "the value is \"now\""),
        ("type = \"boolean\"", "column = \"count\", op = \"ge\", value = \"many\"", "cannot be compared with \"many\""),
        ("type = \"boolean\"", "column = \"start\", op = \"ge\", vaule = \"now\"", "did you mean `value`?"),
        ("type = \"string\", format = \"date-time\"", "query = \"date\", column = \"count\"", "holds no times"),
    ];
    for family in ["content", "plain"] {
        for (schema, filter, expected) in cases {
            let more = format!(
                "sort = {{ id = \"id\" }}\n[resources.things.endpoints.list]\nwanted = {{ {schema}, x-filter = {{ {filter} }} }}\n"
            );
            let found = problems(&[("things", family, properties.clone(), &more)]);
            assert!(found.contains(expected), "{family} {schema} {filter}: {found}");
        }
    }
}

// ------------------------------------------------------------------------------------------------ types, null

/// Properties of every type: a value, another one, and one that is refused.
fn types() -> Vec<(&'static str, Value, Value, Value, Value)> {
    vec![
        ("text", json!({"type": "string"}), json!("a"), json!(""), json!(["x"])),
        ("line", json!({"type": "string", "x-write": "text_field"}), json!("a b"), json!("c"), json!({"a": 1})),
        (
            "isbn",
            json!({"type": "string", "pattern": "^[0-9]{3}$", "x-unique": true}),
            json!("123"),
            json!("456"),
            json!(""),
        ),
        ("pages", json!({"type": "integer", "minimum": 1}), json!(7), json!(1), json!(0)),
        ("price", json!({"type": "number"}), json!(2.5), json!(-1.0), json!("dear")),
        ("open", json!({"type": "boolean"}), json!(true), json!(false), json!("perhaps")),
        ("size", json!({"type": "string", "enum": ["s", "m"]}), json!("s"), json!("m"), json!("xl")),
        (
            "start",
            json!({"type": "string", "format": "date-time"}),
            json!("2030-01-02T03:04:05"),
            json!("1960-01-01T00:00:00"),
            json!("soon"),
        ),
        (
            "site",
            json!({"type": "string", "format": "uri"}),
            json!("https://example.org/"),
            json!("https://example.com/"),
            json!("no"),
        ),
        ("colour", json!({"type": "string", "format": "hex-color"}), json!("#ffffff"), json!("#000"), json!("white")),
        ("numbers", json!({"type": "array", "items": {"type": "integer"}}), json!([3, 1, 2]), json!([]), json!(["x"])),
        (
            "sizes",
            json!({"type": "array", "items": {"type": "string", "enum": ["s", "m"]}}),
            json!(["m", "s"]),
            json!(["s"]),
            json!(["xl"]),
        ),
        (
            "place",
            json!({"type": "object", "properties": {"city": {"type": "string"}, "at": {"type": "object", "properties":
                {"lat": {"type": "number"}, "lon": {"type": "number"}}}}}),
            json!({"city": "Bergen", "at": {"lat": 60.4, "lon": 5.3}}),
            json!({"city": "Oslo"}),
            json!({"city": 5, "at": "here"}),
        ),
        (
            "stops",
            json!({"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "order": {"type": "integer"}}}}),
            json!([{"name": "a", "order": 1}, {"name": "b", "order": 2}]),
            json!([{"name": "c"}]),
            json!([{"order": "first"}]),
        ),
        ("friend", json!({"type": "integer", "x-relation": {"to": "users"}}), json!(1), json!(null), json!(99)),
    ]
}

#[test]
fn properties_of_every_type_are_stored_as_given() {
    let all: serde_json::Map<String, Value> =
        types().into_iter().map(|(name, doc, ..)| (name.to_owned(), doc)).collect();
    let declared = vec![("c_all", "content", json!(all), ""), ("all", "plain", json!(all), "")];
    let server = Server::over(folder(&declared), &[]);
    for resource in ["c_all", "all"] {
        let route = format!("/own/v1/{resource}");
        let shown = server.ask("OPTIONS", &route, None, None).body["schema"]["properties"].clone();
        let path = format!("{route}/{}", make(&server, resource, json!({"title": "unset"})));
        for (name, _, one, other, bad) in types() {
            assert_eq!(server.get(&path).body[name], Value::Null, "{resource} {name} is unset");
            let nullable = shown[name]["type"].as_array().is_some_and(|types| types.contains(&json!("null")));
            assert!(nullable, "{resource} {name}: {}", shown[name]);
            let made = make(&server, resource, json!({"title": name, name: one}));
            let own = format!("{route}/{made}");
            assert_eq!(server.get(&own).body[name], one, "{resource} {name} is created");
            for value in [&other, &Value::Null, &one, &one] {
                let put = server.admin("PUT", &own, Some(&json!({name: value})));
                assert_eq!((put.status, &put.body[name]), (200, value), "{resource} {name}: {}", put.text);
                assert_eq!(&server.get(&own).body[name], value, "{resource} {name} is read");
            }
            let refused = server.admin("PUT", &own, Some(&json!({name: bad})));
            assert_eq!(refused.status, 400, "{resource} {name} {bad}: {}", refused.text);
            assert_eq!(server.get(&own).body[name], one, "{resource} {name} stays");
        }
        let twin = server.admin("POST", &route, Some(&json!({"title": "twin", "isbn": "123"})));
        assert_eq!((twin.status, twin.code()), (409, "rest_duplicate_value"), "{}", twin.text);
        assert!(twin.body["message"].as_str().is_some_and(|message| message.contains("isbn")), "{}", twin.text);
        assert!(twin.body["data"]["params"]["isbn"].is_string(), "{}", twin.text);
    }
}

#[test]
fn defaults_and_declared_values_stand_for_what_is_unset() {
    let properties = json!({
        "price": {"type": "number", "default": 5},
        "note": {"type": "string", "x-unset": ""},
        "name": {"type": "string", "x-create-arg": {"required": true}}
    });
    let declared = vec![("c_some", "content", properties.clone(), ""), ("some", "plain", properties, "")];
    let server = Server::over(folder(&declared), &[]);
    for resource in ["c_some", "some"] {
        let id = make(&server, resource, json!({"title": "x", "name": "n"}));
        let item = server.get(&format!("/own/v1/{resource}/{id}")).body;
        assert_eq!(
            (&item["price"], &item["note"], &item["name"]),
            (&json!(5.0), &json!(""), &json!("n")),
            "{resource}"
        );
        let shown = server.ask("OPTIONS", &format!("/own/v1/{resource}"), None, None).body;
        for (name, expected) in [("price", "number"), ("note", "string"), ("name", "string")] {
            assert_eq!(shown["schema"]["properties"][name]["type"], expected, "{resource} {name}");
        }
    }
}

// ------------------------------------------------------------------------------------------------ GET, then PUT

/// The members that any change changes.
const MOVES: [&str; 4] = ["modified", "modified_gmt", "_links", "_embedded"];

fn still(mut document: Value) -> Value {
    if let Some(document) = document.as_object_mut() {
        MOVES.iter().for_each(|member| drop(document.remove(*member)));
        // The date of a draft follows its last change until somebody chooses one.
        if document.get("status").is_some_and(|status| status == "draft") {
            document.remove("date");
            document.remove("date_gmt");
        }
    }
    document
}

/// Sends a document back as it was read: nothing changes.
fn send_back(server: &Server, route: &str) -> Result<(), String> {
    let read = || server.admin("GET", &format!("{route}?context=edit"), None);
    let before = read();
    if before.status != 200 {
        return Err(format!("{route}: GET {}", before.text));
    }
    // Recorded: a meta value outside its choices reads as null, which its own schema refuses.
    let mut sent = before.body.clone();
    if let Some(meta) = sent.get_mut("meta").and_then(Value::as_object_mut) {
        meta.retain(|_, value| !value.is_null());
    }
    let put = server.admin("PUT", route, Some(&sent));
    if put.status != 200 {
        return Err(format!("{route}: PUT {}", put.text));
    }
    let (before, after) = (still(before.body), still(read().body));
    let members = before.as_object().into_iter().flatten();
    let changed: Vec<String> = members
        .filter(|(name, value)| after.get(*name) != Some(value))
        .map(|(name, value)| format!("{name}: {value} became {}", after[name]))
        .collect();
    if changed.is_empty() && before == after { Ok(()) } else { Err(format!("{route}: {}", changed.join("; "))) }
}

/// Routes whose documents are no rows: what the declarations list, or state that a request switches.
const NO_ROWS: [&str; 6] = ["/plugins/", "/sidebars/", "/widgets/", "/font-families/", "/abilities/", "/reviews/"];

/// Every item whose route can update is made, poor and rich, read, and sent back.
fn check_sent_back(prefix: &str) {
    let sets = [&*format!("site.prefix={prefix}")];
    let server = Server::with(&sets);
    let ns = format!("/{prefix}/v2");
    // The theme's own styles are there from the second start on.
    let first = server.admin("POST", &format!("{ns}/posts"), Some(&json!({"title": {"raw": "first"}})));
    assert_eq!(first.status, 201, "{}", first.text);
    let server = server.restart_with(&sets);
    let create = |base: &str, body: Value| -> String {
        let route = if base.starts_with('/') { base.to_owned() } else { format!("{ns}/{base}") };
        let made = server.admin("POST", &route, Some(&body));
        assert_eq!(made.status, 201, "{base} {body}: {}", made.text);
        let id = made.body.get("id").or_else(|| made.body.get("uuid")).expect("a key");
        format!("{route}/{}", id.as_str().map_or_else(|| id.to_string(), str::to_owned))
    };
    let picture = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/site/own_types.rs")).expect("a file");
    let upload = server.send(
        "POST",
        &format!("{}{ns}/media", server.rest),
        Some(&server.admin),
        Some(("text/plain", picture)),
        &[("content-disposition", "attachment; filename=\"notes.txt\"")],
    );
    assert_eq!(upload.status, 201, "{}", upload.text);
    let media = upload.body["id"].clone();
    let mut items = vec![format!("{ns}/media/{media}"), format!("{ns}/settings"), format!("{ns}/users/me")];
    for base in ["posts", "pages", "blocks"] {
        items.push(create(base, json!({"title": {"raw": "poor"}})));
        items.push(create(base, json!({"title": {"raw": "Q & A <em>rich</em>"}, "content": {"raw": "<p>text \"quoted\"</p>"}, "status": "publish",
            "excerpt": {"raw": "an excerpt"}, "slug": format!("rich-{base}"), "date": "2020-02-03T04:05:06"})));
        items.push(create(base, json!({"title": {"raw": "later"}, "status": "future", "date": "2990-02-03T04:05:06"})));
        items.push(create(base, json!({"title": {"raw": "own"}, "status": "private", "content": {"raw": "x"}})));
    }
    items.push(create("posts", json!({"title": {"raw": "locked"}, "status": "publish", "password": "secret"})));
    items.push(create(
        "posts",
        json!({"title": {"raw": "sticky"}, "status": "publish", "sticky": true, "format": "aside"}),
    ));
    let folders = (prefix == "cms").then_some("media_folders");
    for base in ["categories", "tags", &format!("{prefix}_pattern_category")].into_iter().chain(folders) {
        items.push(create(base, json!({"name": "poor"})));
        items.push(create(base, json!({"name": "Q & A", "description": "what <b>it</b> is", "slug": "rich"})));
    }
    items.push(create("users", json!({"username": "poor", "email": "poor@example.org", "password": "long enough"})));
    items.push(create("users", json!({"username": "rich", "email": "rich@example.org", "password": "long enough",
        "first_name": "Ri", "last_name": "Ch", "description": "about", "url": "https://example.org/", "roles": ["editor"]})));
    items.push(create("users/1/application-passwords", json!({"name": "desk"})));
    items.push(create("/server/v1/redirects", json!({"from": "/poor", "to": "/"})));
    let rich =
        json!({"from": "/{year}/*", "to": "/in/{year}/*", "status": 308, "note": "a <b>note</b>", "enabled": false});
    items.push(create("/server/v1/redirects", rich));
    items.push(create(
        "/server/v1/webhooks",
        json!({"name": "poor", "url": "https://www.example.org/hook", "enabled": false}),
    ));
    let rich = json!({"name": "rich", "url": "https://www.example.org/purge", "format": "purge", "resources": ["posts"],
        "events": ["published"], "debounce": 5, "enabled": false});
    items.push(create("/server/v1/webhooks", rich));
    let role = json!({"slug": "proof", "name": "Proof & <b>b</b>", "capabilities": ["read", "edit_posts"]});
    assert_eq!(server.admin("POST", "/server/v1/roles", Some(&role)).status, 201);
    items.push("/server/v1/roles/proof".into());
    items.push(create("/server/v1/prompts", json!({"name": "poor", "text": "Look."})));
    let rich = json!({"name": "rich", "title": "R & <b>b</b>", "description": "what", "text": "Summarise {post} in <em>one</em> line.",
        "arguments": [{"name": "post", "description": "Id", "required": true}], "enabled": false});
    items.push(create("/server/v1/prompts", rich));
    let post = items.iter().find(|item| item.contains("/posts/")).and_then(|item| item.rsplit('/').next());
    let post: i64 = post.and_then(|id| id.parse().ok()).expect("an id");
    let left = create("users", json!({"username": "left", "email": "left@example.org", "password": "long enough"}));
    let by: i64 = left.rsplit('/').next().and_then(|id| id.parse().ok()).expect("an id");
    items.push(create("comments", json!({"post": post + 1, "content": {"raw": "bye"}, "author": by})));
    assert_eq!(server.admin("DELETE", &format!("{left}?force=true&reassign=1"), None).status, 200);
    items.push(create("comments", json!({"post": post + 1, "content": {"raw": "hello <b>there</b>"}})));
    if prefix == "wp" {
        for base in ["navigation", "menus", "menu-items", "templates", "template-parts"] {
            let body = match base {
                "menus" => json!({"name": "Main"}),
                "menu-items" => json!({"title": {"raw": "Home"}, "url": "https://example.org/", "status": "publish"}),
                "templates" | "template-parts" => {
                    json!({"slug": "own", "title": {"raw": "Own"}, "content": {"raw": "<p>x</p>"}})
                }
                _ => json!({"title": {"raw": "Way"}, "content": {"raw": "<p>x</p>"}, "status": "publish"}),
            };
            items.push(create(base, body));
        }
        let themes = server.admin("GET", &format!("{ns}/themes?status=active"), None);
        let styles = themes.body[0]["_links"][format!("{prefix}:user-global-styles")][0]["href"].as_str();
        let id = styles.and_then(|href| href.rsplit('/').next()).expect("the styles of the theme").to_owned();
        items.push(format!("{ns}/global-styles/{id}"));
    }
    let root = server.get("/").body;
    for (route, described) in root["routes"].as_object().expect("a map") {
        let puts = described["endpoints"].as_array().into_iter().flatten();
        let puts = puts.flat_map(|e| e["methods"].as_array().into_iter().flatten()).any(|method| method == "PUT");
        let base = route.split("(?P<").next().unwrap_or_default();
        let covered = items.iter().any(|item| item.starts_with(base)) || NO_ROWS.iter().any(|own| base.ends_with(own));
        assert!(!puts || covered, "nothing is sent back to {route}");
    }
    let wrong: Vec<String> = items.iter().filter_map(|item| send_back(&server, item).err()).collect();
    assert!(wrong.is_empty(), "{prefix}:\n{}", wrong.join("\n"));
}

#[test]
fn what_is_read_can_be_sent_back() {
    check_sent_back("cms");
}

#[test]
fn what_is_read_can_be_sent_back_in_the_other_dialect() {
    check_sent_back("wp");
}

#[test]
fn own_documents_can_be_sent_back() {
    let all: serde_json::Map<String, Value> =
        types().into_iter().map(|(name, doc, ..)| (name.to_owned(), doc)).collect();
    let declared = vec![("c_all", "content", json!(all), ""), ("all", "plain", json!(all), "")];
    let server = Server::over(folder(&declared), &[]);
    for resource in ["c_all", "all"] {
        let mut rich: serde_json::Map<String, Value> =
            types().into_iter().map(|(name, _, value, ..)| (name.to_owned(), value)).collect();
        rich.insert("title".into(), json!("rich"));
        for body in [json!({"title": "poor"}), json!(rich)] {
            let route = format!("/own/v1/{resource}/{}", make(&server, resource, body));
            assert_eq!(send_back(&server, &route), Ok(()));
        }
    }
}

// ------------------------------------------------------------------------------------------------ states

/// Articles in two states that lists select by, with a date that they are sorted by, below topics.
fn articles() -> TempDir {
    let folder = folder(&[("topics", "plain", json!({}), "")]);
    let schema = json!({"title": "article", "type": "object", "properties": {
        "id": {"type": "integer", "description": "Id.", "readonly": true},
        "state": {"type": "string", "description": "State.", "enum": ["draft", "live"], "default": "draft"},
        "published": {"type": "string", "format": "date-time", "description": "Date."},
        "topics": {"type": "array", "description": "Topics.", "items": {"type": "integer"}, "x-relation": {"to": "topics"}}
    }});
    fs::write(folder.path().join("schemas/article.json"), schema.to_string()).expect("a file");
    let more = r#"
[resources.articles]
extends = "plain"
namespace = "own"
schema = "schemas/article.json"
kind = "article"
capabilities = "own"
sort = { published = "published" }
search = {}

[resources.articles.endpoints.list]
orderby = { enum = ["id", "published"], default = "published" }
order = { default = "desc" }
state = { type = "array", items = { type = "string", enum = ["draft", "live"] }, default = ["live"], x-filter = { column = "state", op = "in" } }
topic = { type = "array", items = { type = "integer" }, x-filter = { column = "topics", op = "in" } }
"#;
    let site = folder.path().join("site.toml");
    fs::write(&site, fs::read_to_string(&site).expect("a file") + more).expect("a file");
    folder
}

/// Counts that are kept as rows are written are those of the rows, whatever is done to them.
#[test]
fn states_are_counted_and_lists_of_a_topic_are_in_order() {
    let mut server = Server::over(articles(), &[]);
    let topics: Vec<i64> = ["A", "B"].iter().map(|title| make(&server, "topics", json!({"title": title}))).collect();
    let [a, b] = topics[..] else { panic!("two topics") };
    let article = |server: &Server, day: Option<u32>, state: &str, topics: &[i64]| {
        let published = day.map(|day| format!("2026-01-{day:02}T10:00:00"));
        make(server, "articles", json!({"published": published, "state": state, "topics": topics}))
    };
    let first = article(&server, Some(1), "live", &[a]);
    let third = article(&server, Some(3), "live", &[a, b]);
    let second = article(&server, Some(2), "live", &[a]);
    let undated = article(&server, None, "live", &[a]);
    let draft = article(&server, Some(4), "draft", &[a]);
    let list = |server: &Server, query: &str| {
        let answer = server.get(&format!("/own/v1/articles?{query}"));
        assert_eq!(answer.status, 200, "{}", answer.text);
        let ids: Vec<i64> = answer.body.as_array().expect("a list").iter().map(|a| a["id"].as_i64().unwrap()).collect();
        (ids, answer.header("x-cms-total").and_then(|n| n.parse::<usize>().ok()).expect("a total"))
    };
    let cases = |server: &Server, cases: &[(&str, &[i64], usize)]| {
        for (query, ids, total) in cases {
            assert_eq!(list(server, query), (ids.to_vec(), *total), "{query}");
        }
    };
    let topic = format!("topic={a}");
    let in_topic = |more: &str| format!("{topic}&{more}");
    cases(
        &server,
        &[
            ("", &[third, second, first, undated], 4),
            ("order=asc", &[first, second, third, undated], 4),
            ("per_page=2&page=2", &[first, undated], 4),
            ("state=draft", &[draft], 1),
            ("state=draft,live", &[draft, third, second, first, undated], 5),
            (&topic, &[third, second, first, undated], 4),
            (&in_topic("order=asc"), &[first, second, third, undated], 4),
            (&in_topic("per_page=1&page=2"), &[second], 4),
            (&in_topic("state=draft,live"), &[draft, third, second, first, undated], 5),
            (&in_topic(&format!("exclude={third},{draft}")), &[second, first, undated], 3),
            (&format!("topic={a},{b}"), &[third, second, first, undated], 4),
            (&format!("topic={b}"), &[third], 1),
        ],
    );
    let change = |server: &Server, method: &str, id: i64, body: Value| {
        let answer = server.admin(method, &format!("/own/v1/articles/{id}"), Some(&body));
        assert_eq!(answer.status, 200, "{}", answer.text);
    };
    change(&server, "POST", draft, json!({"state": "live", "published": "2025-12-31T10:00:00"}));
    change(&server, "POST", first, json!({"state": "draft", "topics": [b]}));
    change(&server, "DELETE", second, json!({"force": true}));
    let after: [(&str, &[i64], usize); 4] = [
        ("", &[third, draft, undated], 3),
        (&topic, &[third, draft, undated], 3),
        ("state=draft", &[first], 1),
        (&format!("topic={b}&state=draft"), &[first], 1),
    ];
    cases(&server, &after);
    // A column that gets another name takes its numbers along.
    let schema = server.path("schemas/article.json");
    let text = fs::read_to_string(&schema).expect("a file");
    fs::write(&schema, text.replace("\"state\":{", "\"phase\":{\"x-was\":\"state\",")).expect("a file");
    let site = server.path("site.toml");
    let text = fs::read_to_string(&site).expect("a file");
    fs::write(&site, text.replace("column = \"state\"", "column = \"phase\"")).expect("a file");
    server.end();
    let server = server.restart_with(&[]);
    cases(&server, &after);
    let (good, out, _) = super::migrate::command(&server, &["check", "--data"]);
    assert!(good, "{out}");
}
