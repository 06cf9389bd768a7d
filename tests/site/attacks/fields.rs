//! Fields of writes: how much, in whose name, and what their responses show.

use crate::server::{Answer, Server, stdout};
use cms_core::model::Method;
use cms_core::registry::Registry;
use cms_core::registry::resource::{PropertySource as From, Resource};
use cms_core::request::BodyParams;
use cms_core::request::args::{ArgSources, ArgValues};
use cms_server::boot::{self, ConfigSource};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use tempfile::TempDir;

type Who = (String, String);

/// A server, with an administrator's requests below the REST base of its dialect.
struct Site {
    server: Server,
}

impl Site {
    fn start(prefix: &str) -> Site {
        Site { server: Server::with(&[&format!("site.prefix={prefix}")]) }
    }

    fn with(prefix: &str, declarations: &str) -> Site {
        let folder = TempDir::new().expect("a temporary folder");
        stdout(&["init", folder.path().to_str().expect("a path")], "");
        std::fs::write(folder.path().join("site.toml"), declarations).expect("a file");
        Site { server: Server::over(folder, &[&format!("site.prefix={prefix}")]) }
    }

    fn route(&self, route: &str) -> String {
        format!("/{}/v2/{route}", self.server.prefix)
    }

    fn ask(&self, who: Option<&Who>, method: &str, route: &str, body: &Value) -> Answer {
        self.server.ask(method, &self.route(route), who, Some(body).filter(|body| !body.is_null()))
    }

    fn admin(&self, method: &str, route: &str, body: &Value) -> Answer {
        self.ask(Some(&self.server.admin), method, route, body)
    }

    fn made(&self, who: &Who, route: &str, body: &Value) -> Value {
        let answer = self.ask(Some(who), "POST", route, body);
        assert_eq!(answer.status, 201, "{route} {body:.200}: {:.300}", answer.text);
        answer.body
    }

    fn form(&self, method: &str, route: &str, form: &str) -> Answer {
        let body = Some(("application/x-www-form-urlencoded", form.as_bytes().to_vec()));
        let url = format!("{}{}", self.server.rest, self.route(route));
        self.server.send(method, &url, Some(&self.server.admin), body, &[])
    }
}

fn refused(answer: &Answer, status: u16, code: &str, what: &str) {
    assert_eq!((answer.status, answer.code()), (status, code), "{what}: {:.300}", answer.text);
}

/// The detail of the one argument that fails.
fn detail<'a>(answer: &'a Answer, arg: &str) -> &'a str {
    answer.body["data"]["details"][arg]["code"].as_str().unwrap_or("")
}

// ---------------------------------------------------------------------------------------------------- lengths

/// Resource, argument, where in it the text is, and the most characters.
const LENGTHS: [(&str, &str, &str, usize); 22] = [
    ("posts", "title", "raw", 65_535),
    ("posts", "excerpt", "raw", 65_535),
    ("posts", "slug", "", 200),
    ("posts", "password", "", 255),
    ("posts", "meta", "footnotes", 1 << 20),
    ("pages", "title", "raw", 65_535),
    ("blocks", "title", "raw", 65_535),
    ("categories", "name", "", 200),
    ("categories", "slug", "", 200),
    ("categories", "description", "", 65_535),
    ("tags", "name", "", 200),
    ("users", "username", "", 60),
    ("users", "name", "", 250),
    ("users", "first_name", "", 250),
    ("users", "nickname", "", 250),
    ("users", "slug", "", 50),
    ("users", "description", "", 65_535),
    ("users", "password", "", 4096),
    ("users/1/application-passwords", "name", "", 255),
    ("comments", "author_user_agent", "", 254),
    ("settings", "title", "", 255),
    ("settings", "description", "", 255),
];

/// A body that makes one of these but for one argument.
fn body(route: &str, number: usize, arg: &str, value: Value) -> Value {
    let mut body = match route {
        "users" => json!({"username": format!("u{number}"), "email": format!("u{number}@example.org"),
            "password": "long enough"}),
        "comments" => json!({"post": 1, "content": {"raw": format!("Comment {number}")}}),
        "settings" => json!({}),
        "categories" | "tags" => json!({"name": format!("term {number}")}),
        "posts" | "pages" | "blocks" => json!({"title": {"raw": format!("title {number}")}, "status": "draft"}),
        _ => json!({"name": "x"}),
    };
    body[arg] = value;
    body
}

#[test]
fn texts_are_as_long_as_their_columns() {
    let site = Site::start("cms");
    site.made(&site.server.admin, "posts", &json!({"title": {"raw": "Here"}, "status": "publish"}));
    let mut number = 0;
    for (route, arg, inner, most) in LENGTHS {
        for (length, fits) in [(most - 1, true), (most, true), (most + 1, false)] {
            number += 1;
            let text = "x".repeat(length);
            let value = if inner.is_empty() { json!(text) } else { json!({ inner: text }) };
            let answer = site.admin("POST", route, &body(route, number, arg, value));
            let what = format!("{route} {arg} {length}");
            if fits {
                assert!(answer.status < 300, "{what}: {:.300}", answer.text);
            } else {
                refused(&answer, 400, "rest_invalid_param", &what);
                assert!(answer.body["data"]["params"].get(arg).is_some(), "{what}: {:.300}", answer.text);
            }
        }
    }
    // A column of bytes counts bytes; the others count characters.
    let wide = |length: usize| json!({"title": {"raw": "é".repeat(length)}});
    assert_eq!(site.admin("POST", "posts", &wide(32_767)).status, 201);
    let answer = site.admin("POST", "posts", &wide(32_768));
    refused(&answer, 400, "rest_invalid_param", "bytes");
    assert_eq!(detail(&answer, "title"), "rest_too_long");
    assert_eq!(site.admin("POST", "tags", &json!({"name": "é".repeat(200)})).status, 201);
    refused(&site.admin("POST", "tags", &json!({"name": "é".repeat(201)})), 400, "rest_invalid_param", "characters");
    let address = |most: usize| format!("http://x.example/{}", "p".repeat(most - 17));
    for (route, most) in [("users", 100), ("settings", 2083)] {
        assert!(site.admin("POST", route, &body(route, 900, "url", json!(address(most)))).status < 300, "{route}");
        let answer = site.admin("POST", route, &body(route, 901, "url", json!(address(most + 1))));
        refused(&answer, 400, "rest_invalid_param", route);
    }
}

#[test]
fn comments_say_which_column_is_too_short() {
    for prefix in ["cms", "wp"] {
        let site = Site::start(prefix);
        let post = site.made(&site.server.admin, "posts", &json!({"title": {"raw": "Here"}, "status": "publish"}));
        let check = |arg: &str, value: Value, code: &str| {
            let mut body = json!({"post": post["id"], "content": {"raw": arg}, "author_name": "Ann",
                "author_email": "ann@example.org"});
            body[arg] = value;
            let answer = site.admin("POST", "comments", &body);
            if code.is_empty() {
                assert_eq!(answer.status, 201, "{prefix} {arg}: {:.300}", answer.text);
            } else {
                refused(&answer, 400, code, &format!("{prefix} {arg}"));
            }
        };
        let name = "comment_author_column_length";
        check("author_name", json!("n".repeat(245)), "");
        check("author_name", json!("n".repeat(246)), name);
        check("author_name", json!("é".repeat(123)), name);
        let site_of = |most: usize| json!(format!("http://x.example/{}", "u".repeat(most - 17)));
        check("author_url", site_of(200), "");
        check("author_url", site_of(201), "comment_author_url_column_length");
        check("content", json!({"raw": "c".repeat(65_525)}), "");
        check("content", json!({"raw": "c".repeat(65_526)}), "comment_content_column_length");
        let options = site.admin("OPTIONS", "comments", &Value::Null).body;
        assert_eq!(options["schema"]["properties"]["author_name"]["maxLength"], 245);
        // A user agent is cut, not refused.
        let url = format!("{}{}", site.server.rest, site.route("comments"));
        let agent = "a".repeat(2000);
        let body = json!({"post": post["id"], "content": {"raw": "From a browser"}}).to_string().into_bytes();
        let sent = Some(("application/json", body));
        let answer = site.server.send("POST", &url, Some(&site.server.admin), sent, &[("user-agent", &agent)]);
        assert_eq!(answer.body["author_user_agent"], "a".repeat(254), "{:.300}", answer.text);
    }
}

#[test]
fn options_tell_lengths_as_the_dialect_does() {
    let told = |prefix: &str| {
        let site = Site::start(prefix);
        let options = site.admin("OPTIONS", "users", &Value::Null).body;
        let endpoints = options["endpoints"].as_array().cloned().unwrap_or_default();
        let create = endpoints.iter().find(|e| e["methods"] == json!(["POST"])).expect("a creation").clone();
        (options["schema"]["properties"]["name"]["maxLength"].clone(), create["args"]["name"]["maxLength"].clone())
    };
    assert_eq!(told("cms"), (json!(250), json!(250)));
    // Clients there know arguments without lengths.
    assert_eq!(told("wp"), (json!(250), Value::Null));
}

#[test]
fn lengths_hold_on_every_way_in() {
    let site = Site::start("wp");
    let id = site.made(&site.server.admin, "posts", &json!({"title": "Here"}))["id"].clone();
    let long = "x".repeat(65_536);
    let put = format!("posts/{id}");
    let check = |answer: Answer, what: &str| {
        refused(&answer, 400, "rest_invalid_param", what);
        assert_eq!(detail(&answer, "title"), "rest_too_long", "{what}: {:.300}", answer.text);
    };
    // A plain text, and the object that it is accepted for.
    check(site.admin("PUT", &put, &json!({ "title": long })), "a text");
    check(site.admin("PUT", &put, &json!({"title": {"raw": long}})), "an object");
    check(site.admin("PATCH", &put, &json!({ "title": long })), "PATCH");
    check(site.form("POST", &put, &format!("title={long}")), "a form");
    check(site.form("POST", &put, &format!("title[raw]={long}")), "a form with brackets");
    check(site.form("POST", &format!("{put}?_method=PUT"), &format!("title={long}")), "_method");
    check(site.admin("POST", &format!("{put}/autosaves"), &json!({ "title": long })), "an autosave");
    check(site.admin("POST", &put, &json!({"title": {"rendered": "x", "more": "x".repeat(1 << 20)}})), "free members");
    // Queries are shorter than titles.
    let answer = site.admin("POST", &format!("tags?name={}", "x".repeat(201)), &Value::Null);
    assert_eq!((answer.code(), detail(&answer, "name")), ("rest_invalid_param", "rest_too_long"));
    let part = json!({"method": "PUT", "path": site.route(&put), "body": {"title": long}});
    let batch = json!({"requests": [part]});
    let answer = site.server.admin("POST", "/batch/v1", Some(&batch));
    assert_eq!(answer.body["responses"][0]["body"]["code"], "rest_invalid_param", "{:.300}", answer.text);
    let form = format!(
        "--XX\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\n{long}\r\n--XX\r\nContent-Disposition: \
         form-data; name=\"file\"; filename=\"t.txt\"\r\n\r\nplain\r\n--XX--\r\n"
    );
    let url = format!("{}{}", site.server.rest, site.route("media"));
    let sent = Some(("multipart/form-data; boundary=XX", form.into_bytes()));
    check(site.server.send("POST", &url, Some(&site.server.admin), sent, &[]), "a form of parts");
    let (login, secret) = &site.server.admin;
    let call = |title: &str| {
        let text = |text: &str| format!("<param><value><string>{text}</string></value></param>");
        let post = format!(
            "<param><value><struct><member><name>post_title</name><value><string>{title}</string></value></member>\
             </struct></value></param>"
        );
        let params = [text("1"), text(login), text(secret), post].concat();
        let xml = format!("<methodCall><methodName>wp.newPost</methodName><params>{params}</params></methodCall>");
        let sent = Some(("text/xml", xml.into_bytes()));
        site.server.send("POST", &format!("{}/xmlrpc.php", site.server.site), None, sent, &[]).text
    };
    assert!(!call(&"x".repeat(65_535)).contains("<fault>"));
    assert!(call(&long).contains("<fault>"));
    // A slug is cut to its bytes there, as ever.
    let made =
        site.made(&site.server.admin, "posts", &json!({"title": "Cut", "slug": "s".repeat(300), "status": "publish"}));
    assert_eq!(made["slug"], "s".repeat(200));
    refused(
        &site.admin("POST", "posts", &json!({"title": "x", "slug": "s".repeat(2001)})),
        400,
        "rest_invalid_param",
        "slug",
    );
}

#[test]
fn a_form_has_so_many_fields() {
    let site = Site::start("wp");
    let fields = |count: usize| (0..count).map(|n| format!("&field{n}=x")).collect::<String>();
    // The title is one of them.
    assert_eq!(site.form("POST", "posts", &format!("title=Full{}", fields(9_999))).status, 201);
    let answer = site.form("POST", "posts", &format!("title=Over{}", fields(10_000)));
    refused(&answer, 400, "rest_bad_request", "a form");
    // Each part of a key is one, too; a repeated name counts again.
    refused(&site.form("POST", "posts", &"a[b]=x&".repeat(5_001)), 400, "rest_bad_request", "brackets");
    refused(&site.server.get(&format!("/wp/v2/posts?{}", "a&".repeat(10_001))), 400, "rest_bad_request", "a query");
    assert_eq!(site.server.get(&format!("/wp/v2/posts?{}", "a&".repeat(10_000))).status, 200);
}

#[test]
fn lists_and_objects_have_a_size() {
    let site = Site::start("cms");
    let ids = |count: usize| json!({"title": {"raw": "x"}, "categories": (1..=count).collect::<Vec<_>>()});
    assert_eq!(site.admin("POST", "posts", &ids(1000)).status, 201);
    let answer = site.admin("POST", "posts", &ids(1001));
    assert_eq!((answer.code(), detail(&answer, "categories")), ("rest_invalid_param", "rest_too_many_items"));
    let text = (1..=1001).map(|id| id.to_string()).collect::<Vec<_>>().join(",");
    let answer = site.form("POST", "posts", &format!("title[raw]=x&categories={text}"));
    assert_eq!(detail(&answer, "categories"), "rest_too_many_items");
    let members = |count: usize| {
        let members: Map<String, Value> = (0..count).map(|i| (format!("k{i}"), json!(1))).collect();
        json!({"title": {"raw": "x"}, "meta": members})
    };
    assert_eq!(site.admin("POST", "posts", &members(1000)).status, 201);
    refused(&site.admin("POST", "posts", &members(1001)), 400, "rest_invalid_param", "members");
    let free = |bytes: usize| json!({"title": {"raw": "x"}, "meta": {"k": "x".repeat(bytes - 3)}});
    assert_eq!(site.admin("POST", "posts", &free(1 << 20)).status, 201);
    refused(&site.admin("POST", "posts", &free((1 << 20) + 1)), 400, "rest_invalid_param", "free members");
}

#[test]
fn bounds_are_declared() {
    let site = Site::with(
        "cms",
        "[bounds]\nmax_length = 1000\nmax_items = 20\n\n[[\"+routes\"]]\npath = \"/try/echo\"\nendpoints = [{ methods = [\"POST\"], handler = \
         \"echo\", access = \"public\", with = { s = { description = \"x\", type = \"string\" }, l = { description = \
         \"x\", type = \"array\", items = { type = \"string\" } } } }]\n",
    );
    let check = |body: Value, status: u16| {
        let answer = site.server.admin("POST", "/try/echo", Some(&body));
        assert_eq!(answer.status, status, "{body}: {}", answer.text);
    };
    check(json!({"s": "x".repeat(1000)}), 200);
    check(json!({"s": "x".repeat(1001)}), 400);
    check(json!({"l": vec!["a"; 20]}), 200);
    check(json!({"l": vec!["a"; 21]}), 400);
    check(json!({"l": ["x".repeat(1001)]}), 400);
}

/// Values larger than any usual bound, for an argument of whatever type; texts with a bound of their own are tried elsewhere.
fn monsters(source: &Value) -> Vec<Value> {
    let long = Value::String("x".repeat(LARGEST));
    let bounded = |doc: &Value| doc.get("maxLength").is_some() || doc.get("readonly") == Some(&json!(true));
    let mut all = vec![json!([long]), json!({ "unknown": long }), json!(vec!["1"; 10_001])];
    if !bounded(source) && source.pointer("/properties/raw").is_none_or(|raw| !bounded(raw)) {
        all.push(long.clone());
    }
    let properties = source.get("properties").and_then(Value::as_object);
    all.extend(
        properties.into_iter().flatten().filter(|(_, doc)| !bounded(doc)).map(|(name, _)| json!({ name: long })),
    );
    all
}

/// More than any usual bound: texts, and what no schema describes.
const LARGEST: usize = (1 << 20) + 1;

/// Arguments whose length has an error of its own.
fn judged_later(resource: &Resource, arg: &str) -> bool {
    let property = resource.property(arg);
    property.is_some_and(|p| match &p.source {
        From::Object(children) => children.iter().any(|child| child.longest.is_some()),
        _ => p.longest.is_some(),
    })
}

#[test]
fn every_argument_of_every_write_is_bounded() {
    for prefix in ["cms", "wp"] {
        let sets = vec![format!("site.prefix={prefix}"), "storage.url=sqlite::memory:".into()];
        let loaded = ConfigSource { config: None, sets }.load().expect("declarations");
        let registry: Registry = boot::registry(&loaded, "127.0.0.1:1").expect("a registry");
        let (mut unbounded, mut tried) = (Vec::new(), HashSet::new());
        for route in &registry.routes {
            for endpoint in route.endpoints.iter().filter(|e| e.methods.iter().any(|m| *m != Method::Get)) {
                for arg in &endpoint.args.args {
                    let resource = route.owner.map(|index| &registry.resources[index]);
                    if resource.is_some_and(|resource| judged_later(resource, &arg.name)) {
                        continue;
                    }
                    // Many routes share an argument.
                    if !tried.insert((arg.name.clone(), arg.shown.to_string(), arg.accepts.clone())) {
                        continue;
                    }
                    // OPTIONS does not show every bound that a schema has.
                    let schema = resource.and_then(|resource| loaded.schemas.get(&resource.declared.schema));
                    let property = schema.and_then(|schema| schema["properties"].get(&arg.name));
                    for monster in monsters(property.unwrap_or(&arg.shown)) {
                        let body = BodyParams::Json(Map::from_iter([(arg.name.clone(), monster.clone())]));
                        let (path, query) = (Map::new(), Map::new());
                        let sources = ArgSources { path: &path, body: &body, query: &query };
                        let taken = ArgValues::parse_lenient(&endpoint.args, &sources, None);
                        let large = |value: &Value| value.to_string().len() > LARGEST;
                        let taken = taken.get(&arg.name);
                        if taken.is_some_and(|taken| large(taken) || taken.as_array().is_some_and(|l| l.len() > 1000)) {
                            unbounded.push(format!("{} {} {:.40}", route.pattern, arg.name, monster.to_string()));
                        }
                    }
                }
            }
        }
        assert!(unbounded.is_empty(), "{prefix}: {unbounded:#?}");
    }
}

// ---------------------------------------------------------------------------------------------------- odd values

#[test]
fn a_nul_is_in_no_text() {
    let site = Site::start("cms");
    let url = format!("{}{}", site.server.rest, site.route("tags"));
    let send = |kind: &str, body: &str| {
        site.server.send("POST", &url, Some(&site.server.admin), Some((kind, body.as_bytes().to_vec())), &[])
    };
    let json_type = "application/json";
    for body in [
        r#"{"name":"a\u0000b"}"#,
        r#"{"name":"ab","description":"\u0000"}"#,
        r#"{"name":"ab","meta":{"k\u0000":1}}"#,
        r#"{"name":"ab","meta":[["\u0000"]]}"#,
    ] {
        refused(&send(json_type, body), 400, "rest_bad_request", body);
    }
    refused(&send("application/x-www-form-urlencoded", "name=a%00b"), 400, "rest_bad_request", "a form");
    let part = |name: &str| {
        let kind = "multipart/form-data; boundary=XX";
        let body = format!("--XX\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\n{name}\r\n--XX--\r\n");
        send(kind, &body)
    };
    assert_eq!(part("a\0b").status, 400);
    // An escaped backslash before the digits is no NUL.
    let answer = send(json_type, r#"{"name":"a\\u0000b"}"#);
    assert_eq!((answer.status, &answer.body["name"]), (201, &json!("a\\u0000b")));
}

#[test]
fn numbers_beyond_64_bits_are_none() {
    let site = Site::start("cms");
    let url = format!("{}{}", site.server.rest, site.route("pages"));
    let huge = "9".repeat(400);
    for (number, code) in [
        ("1e999", "rest_invalid_json"),
        (huge.as_str(), "rest_invalid_json"),
        ("1e30", "rest_invalid_param"),
        ("9223372036854775808", "rest_invalid_param"),
        ("\"1e400\"", "rest_invalid_param"),
    ] {
        let body = format!("{{\"title\":{{\"raw\":\"a\"}},\"menu_order\":{number}}}").into_bytes();
        let sent = Some(("application/json", body));
        refused(&site.server.send("POST", &url, Some(&site.server.admin), sent, &[]), 400, code, number);
    }
}

// ---------------------------------------------------------------------------------------------------- in whose name

#[test]
fn a_comment_stays_its_authors() {
    for prefix in ["cms", "wp"] {
        let site = Site::start(prefix);
        let (author, editor) = (site.server.user("anna", "author"), site.server.user("edna", "editor"));
        let me = site.ask(Some(&author), "GET", "users/me", &Value::Null).body["id"].clone();
        let post = site.made(&author, "posts", &json!({"title": {"raw": "Mine"}, "status": "publish"}));
        let body = json!({"post": post["id"], "content": {"raw": "Hello"}, "author_name": "Guest",
            "author_email": "guest@example.org", "author_ip": "192.0.2.7"});
        let comment = site.made(&editor, "comments", &body);
        assert_eq!(comment["author_email"], "guest@example.org", "moderators see what they wrote");
        let route = format!("comments/{}", comment["id"]);
        let change = |who: &Who, body: Value| site.ask(Some(who), "PUT", &route, &body);
        refused(&change(&author, json!({"author": 1})), 403, "rest_comment_invalid_author", prefix);
        refused(&change(&author, json!({"author_ip": "192.0.2.8"})), 403, "rest_comment_invalid_author_ip", prefix);
        let posted = format!("{route}?_method=PUT");
        let answer = site.ask(Some(&author), "POST", &posted, &json!({"author": 1}));
        refused(&answer, 403, "rest_comment_invalid_author", "_method");
        // As it is, and one's own name.
        for own in [comment["author"].clone(), me.clone()] {
            let answer = change(&author, json!({"author": own, "content": {"raw": format!("By {own}")}}));
            assert_eq!(answer.status, 200, "{own}: {}", answer.text);
            assert!(!answer.text.contains("guest@") && !answer.text.contains("192.0.2"), "{}", answer.text);
        }
        let moderated = change(&editor, json!({"author": 1}));
        assert_eq!((moderated.status, &moderated.body["author"]), (200, &json!(1)));
        assert!(moderated.text.contains("admin@example.org"));
        for (method, route) in [("DELETE", route.clone()), ("DELETE", format!("{route}?force=true"))] {
            let answer = site.ask(Some(&author), method, &route, &Value::Null);
            assert_eq!(answer.status, 200, "{}", answer.text);
            for secret in ["admin@example.org", "author_ip", "author_user_agent"] {
                assert!(!answer.text.contains(secret), "{method} {route} shows {secret}: {}", answer.text);
            }
        }
    }
}

/// People who manage accounts without being administrators.
const STAFF: &str = r#"
[roles.hr]
name = "HR"
capabilities = ["read", "create_users", "list_users"]

[roles.support]
name = "Support"
capabilities = ["read", "edit_users", "list_users", "delete_users"]

[roles.promoter]
name = "Promoter"
capabilities = ["read", "create_users", "list_users", "edit_users", "promote_users"]

[roles.librarian]
name = "Librarian"
capabilities = ["read", "keep_books"]
"#;

#[test]
fn nobody_makes_an_account_that_may_more() {
    let site = Site::with("cms", STAFF);
    let person = |login: &str, role: &str| json!({"username": login, "email": format!("{login}@example.org"), "password": "long enough", "roles": [role]});
    let admin = &site.server.admin;
    let victim = site.made(admin, "users", &person("second", "administrator"))["id"].clone();
    // A user with a required role gives any role, also one that allows what it does not.
    site.made(admin, "users", &person("book", "librarian"));
    for (role, creates, roles_by_creation) in [("hr", true, false), ("support", false, false), ("promoter", true, true)]
    {
        let who = site.server.user(role, role);
        let own = site.ask(Some(&who), "GET", "users/me", &Value::Null).body["id"].clone();
        let denied = |method: &str, route: &str, body: Value, code: &str| {
            refused(&site.ask(Some(&who), method, route, &body), 403, code, &format!("{role} {method} {route} {body}"));
        };
        let code = if creates { "rest_cannot_edit_roles" } else { "rest_cannot_create_user" };
        for wanted in ["administrator", "editor", "librarian"] {
            denied("POST", "users", person("evil", wanted), code);
        }
        if creates {
            let made = site.made(&who, "users", &person(&format!("{role}sub"), "subscriber"));
            assert_eq!(made.get("email").is_some(), roles_by_creation, "{role} sees what GET shows: {made}");
        }
        let everything = json!({"roles": ["administrator"]});
        for route in [format!("users/{own}"), "users/me".into(), format!("users/{own}?_method=PATCH")] {
            denied("POST", &route, everything.clone(), "rest_cannot_edit_roles");
        }
        denied(
            "POST",
            &format!("users/{own}"),
            json!({"roles": ["subscriber", "administrator"]}),
            "rest_cannot_edit_roles",
        );
        denied("POST", &format!("users/{victim}"), json!({"password": "taken over"}), "rest_cannot_edit");
        denied("POST", &format!("users/{victim}"), json!({"email": "mine@example.org"}), "rest_cannot_edit");
        let code = "rest_cannot_create_application_passwords";
        denied("POST", &format!("users/{victim}/application-passwords"), json!({"name": "x"}), code);
        denied("DELETE", &format!("users/{victim}?force=true&reassign=false"), Value::Null, "rest_user_cannot_delete");
        let part = json!({"method": "POST", "path": site.route("users"), "body": person("evil", "administrator")});
        let answer = site.server.ask("POST", "/batch/v1", Some(&who), Some(&json!({"requests": [part]})));
        assert_eq!(answer.body["responses"][0]["status"], 403, "{}", answer.text);
    }
    let who = site.server.user("promoter2", "promoter");
    let made = site.made(&who, "users", &person("plain", "subscriber"));
    let route = format!("users/{}", made["id"]);
    assert_eq!(site.ask(Some(&who), "POST", &route, &json!({"roles": ["hr"]})).status, 200, "what one has one gives");
    assert_eq!(site.ask(Some(&who), "POST", &route, &json!({"first_name": "Pat"})).status, 200);
}

#[test]
fn parents_make_neither_loops_nor_towers() {
    let site = Site::with("cms", "[bounds]\nmax_ancestors = 3\n");
    for (route, body) in
        [("pages", json!({"title": {"raw": "p"}, "status": "publish"})), ("categories", json!({"name": "c"}))]
    {
        let mut ids: Vec<Value> = Vec::new();
        for level in 0..5 {
            let mut body = body.clone();
            if route == "categories" {
                body["name"] = json!(format!("c{level}"));
            }
            body["parent"] = ids.last().cloned().unwrap_or(json!(0));
            let answer = site.admin("POST", route, &body);
            assert_eq!(answer.status, if level < 4 { 201 } else { 400 }, "{route} {level}: {}", answer.text);
            ids.push(answer.body["id"].clone());
        }
        // The tower as a whole goes below nothing, and its foot not below its top.
        let other = json!({"title": {"raw": "other"}, "name": "other", "status": "publish"});
        let other = site.made(&site.server.admin, route, &other)["id"].clone();
        let moved =
            |id: &Value, parent: &Value| site.admin("POST", &format!("{route}/{id}"), &json!({ "parent": parent }));
        refused(&moved(&ids[0], &other), 400, "rest_invalid_param", route);
        let looped = moved(&ids[0], &ids[3]);
        assert_eq!((looped.status, &looped.body["parent"]), (200, &json!(0)), "{route}: {}", looped.text);
        assert_eq!(moved(&ids[1], &other).status, 200);
        // Of two moves at once that would make a loop together, one at most is carried out.
        for _ in 0..8 {
            std::thread::scope(|scope| {
                scope.spawn(|| moved(&ids[0], &other));
                scope.spawn(|| moved(&other, &ids[0]));
            });
            let parent = |id: &Value| site.admin("GET", &format!("{route}/{id}"), &Value::Null).body["parent"].clone();
            assert!(parent(&ids[0]) != other || parent(&other) != ids[0], "{route}: a loop");
            assert!(moved(&ids[0], &json!(0)).status == 200 && moved(&other, &json!(0)).status == 200);
        }
    }
}

#[test]
fn what_a_contributor_may_not_say() {
    let site = Site::start("cms");
    let who = site.server.user("conny", "contributor");
    let draft = site.made(&who, "posts", &json!({"title": {"raw": "Mine"}}));
    for (member, code) in [
        (json!({"status": "publish"}), "rest_cannot_publish"),
        (json!({"status": "private"}), "rest_cannot_publish"),
        (json!({"status": "future", "date": "2090-01-01T00:00:00"}), "rest_cannot_publish"),
        (json!({"sticky": true}), "rest_cannot_assign_sticky"),
        (json!({"author": 1}), "rest_cannot_edit_others"),
        (json!({"author": "1"}), "rest_cannot_edit_others"),
    ] {
        let own = format!("posts/{}", draft["id"]);
        for (method, route) in
            [("POST", "posts".to_owned()), ("PUT", own.clone()), ("POST", format!("{own}?_method=PATCH"))]
        {
            let mut body = member.clone();
            body["title"] = json!({"raw": "x"});
            refused(&site.ask(Some(&who), method, &route, &body), 403, code, &format!("{method} {route} {body}"));
        }
    }
    let pending = site.made(&who, "posts", &json!({"title": {"raw": "x"}, "slug": "home", "status": "pending"}));
    assert_eq!(pending["slug"], "", "a slug is for who publishes");
}

// ---------------------------------------------------------------------------------------------------- what responses
// show

const OWN: &str = r#"
[roles.scribe]
name = "Scribe"
capabilities = ["read", "scribble"]

[capabilities.note]
read = ""
create = "scribble"
edit = "manage_options"
delete = "scribble"

[resources.notes]
family = "plain"
namespace = "core"
schema = "schemas/note.json"
kind = "note"
routes = ["crud"]
capabilities = "note"
sort = { id = "id" }

[resources.notes.endpoints.list]
orderby = { description = "x", type = "string", enum = ["id"], default = "id", x-param = "orderby" }
"#;

const NOTE: &str = r#"{"title": "note", "type": "object", "properties": {
    "id": {"type": "integer", "description": "x", "readonly": true},
    "text": {"type": "string", "description": "x"},
    "secret": {"type": "string", "description": "x", "context": ["edit"], "default": "hidden"}}}"#;

#[test]
fn writes_answer_what_a_get_would_show() {
    let folder = TempDir::new().expect("a temporary folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    std::fs::write(folder.path().join("site.toml"), OWN).expect("a file");
    std::fs::write(folder.path().join("schemas/note.json"), NOTE).expect("a file");
    let site = Site { server: Server::over(folder, &[]) };
    let who = site.server.user("sam", "scribe");
    let made = site.made(&who, "notes", &json!({"text": "mine"}));
    assert_eq!((&made["text"], made.get("secret")), (&json!("mine"), None));
    let route = format!("notes/{}", made["id"]);
    refused(
        &site.ask(Some(&who), "GET", &format!("{route}?context=edit"), &Value::Null),
        403,
        "rest_forbidden_context",
        "",
    );
    assert_eq!(site.admin("PUT", &route, &json!({"text": "ours"})).body["secret"], "hidden");
    let gone = site.ask(Some(&who), "DELETE", &route, &Value::Null);
    assert_eq!((gone.status, gone.body["previous"].get("secret")), (200, None), "{}", gone.text);
}

// ---------------------------------------------------------------------------------------------------- locked records

#[test]
fn a_password_locks_every_content() {
    for prefix in ["cms", "wp"] {
        let site = Site::start(prefix);
        let body = json!({"title": {"raw": "Locked"}, "status": "publish", "password": "sesame",
            "content": {"raw": "SECRET text"}, "excerpt": {"raw": "SECRET summary"},
            "meta": {"footnotes": "[{\"id\":\"a\",\"content\":\"SECRET note\"}]"}});
        let below = site.server.user("carl", "contributor");
        for kind in ["posts", "pages"] {
            let id = site.made(&site.server.admin, kind, &body)["id"].clone();
            site.admin("PUT", &format!("{kind}/{id}"), &json!({"title": {"raw": "Locked again"}}));
            let author = site.made(
                &site.server.admin,
                "posts",
                &json!({"title": {"raw": "Open"}, "status": "publish",
                "content": {"raw": format!("<!-- {prefix}:latest-posts {{\"displayPostContent\":true}} /-->")}}),
            );
            let open = format!("posts/{}", author["id"]);
            let routes = [
                format!("{kind}/{id}"),
                format!("{kind}/{id}?_embed=1"),
                format!("{kind}/{id}?context=embed"),
                format!("{kind}/{id}?_fields=meta"),
                format!("{kind}/{id}?password="),
                kind.to_owned(),
                format!("{kind}?search=Locked&_highlight=1"),
                format!("{kind}?include={id}&_fields=id,meta.footnotes"),
                format!("{kind}?include={id}&context=embed"),
                format!("{kind}?_cursor="),
                "search?search=Locked&_embed=1&_highlight=1".to_owned(),
                open,
            ];
            for route in &routes {
                for (name, who) in [("a stranger", None), ("a contributor", Some(&below))] {
                    let answer = site.ask(who, "GET", route, &Value::Null);
                    assert_eq!(answer.status, 200, "{route}: {:.300}", answer.text);
                    assert!(!answer.text.contains("SECRET"), "{prefix} {name} {route}: {}", answer.text);
                }
            }
            let closed = site.ask(None, "GET", &format!("{kind}/{id}"), &Value::Null).body;
            assert_eq!(closed["meta"]["footnotes"], "", "the key is there, as for a record without notes");
            for (route, who) in [
                (format!("{kind}/{id}?password=sesame"), None),
                (format!("{kind}/{id}?context=edit"), Some(&site.server.admin)),
            ] {
                let shown = site.ask(who, "GET", &route, &Value::Null).body;
                for part in ["content", "excerpt"] {
                    let text = shown[part]["rendered"].as_str().unwrap_or_default();
                    assert!(text.contains("SECRET"), "{route}: {shown}");
                }
                assert!(shown["meta"]["footnotes"].as_str().is_some_and(|notes| notes.contains("SECRET")), "{shown}");
            }
            let revisions = site.ask(Some(&below), "GET", &format!("{kind}/{id}/revisions"), &Value::Null);
            assert_eq!(revisions.status, 403, "{}", revisions.text);
        }
    }
}

#[test]
fn a_schema_says_what_a_password_locks() {
    let more = "[schemas.post.properties.menu_note]\ndescription = \"x\"\ntype = \"string\"\nx-password-protected = true\n\n\
        [schemas.post.properties.open_note]\ndescription = \"x\"\ntype = \"string\"\n\n\
        [resources.posts.meta.price]\nschema = { description = \"x\", type = \"integer\", default = 0, x-password-protected = false }\n";
    let site = Site::with("cms", more);
    let body = json!({"title": {"raw": "Locked"}, "status": "publish", "password": "sesame", "menu_note": "SECRET",
        "open_note": "open", "meta": {"footnotes": "SECRET", "price": 7}});
    let id = site.made(&site.server.admin, "posts", &body)["id"].clone();
    let shown = site.ask(None, "GET", &format!("posts/{id}"), &Value::Null).body;
    assert_eq!((&shown["menu_note"], &shown["open_note"]), (&json!(""), &json!("open")), "{shown}");
    assert_eq!(shown["meta"], json!({"footnotes": "", "price": 7}));
    let shown = site.ask(None, "GET", &format!("posts/{id}?password=sesame"), &Value::Null).body;
    assert_eq!((&shown["menu_note"], &shown["meta"]["footnotes"]), (&json!("SECRET"), &json!("SECRET")));
}

#[test]
fn a_line_of_an_import_is_read_as_any_other_body() {
    let server = Server::start();
    let deep = format!("{{\"name\": {}1{}}}", "[".repeat(70), "]".repeat(70));
    let many = format!("{{\"name\": [{}1]}}", "1,".repeat(50_000));
    let lines = ["{\"name\": \"a\\u0000b\"}", &deep, &many, "[\"a\"]", "{\"name\": \"kept\"}"].join("\n");
    let url = format!("{}/cms/v2/tags/import", server.rest);
    let answer =
        server.send("POST", &url, Some(&server.admin), Some(("application/x-ndjson", lines.into_bytes())), &[]);
    let results = answer.text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a result in each line"));
    let results: Vec<String> = results.map(|line| format!("{} {}", line["result"], line["error"]["code"])).collect();
    let failed = |code: &str| format!("\"failed\" \"{code}\"");
    let (bad, invalid) = (failed("rest_bad_request"), failed("rest_invalid_json"));
    assert_eq!(results, [&bad, &invalid, &bad, &invalid, "\"created\" null"]);
    let tags = server.get("/cms/v2/tags").body;
    assert_eq!(tags.as_array().map(Vec::len), Some(1), "{tags}");
}
