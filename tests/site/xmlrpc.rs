//! XML-RPC with raw XML: what its clients rely on, and what attackers send.

use crate::server::{Answer, Server, run};
use quick_xml::events::Event;
use serde_json::{Value, json};

/// A value as XML-RPC: `{"@date": …}` is a time, `{"@base64": …}` bytes.
fn value(json: &Value) -> String {
    let inner = match json {
        Value::Bool(flag) => format!("<boolean>{}</boolean>", u8::from(*flag)),
        Value::Number(number) => format!("<int>{number}</int>"),
        Value::String(text) => format!("<string>{}</string>", quick_xml::escape::escape(text.as_str())),
        Value::Null => "<nil/>".into(),
        Value::Array(list) => format!("<array><data>{}</data></array>", list.iter().map(value).collect::<String>()),
        Value::Object(map) if map.contains_key("@date") => {
            format!("<dateTime.iso8601>{}</dateTime.iso8601>", map["@date"].as_str().expect("a text"))
        }
        Value::Object(map) if map.contains_key("@base64") => {
            format!("<base64>{}</base64>", map["@base64"].as_str().expect("a text"))
        }
        Value::Object(map) => {
            let members = map.iter().map(|(k, v)| format!("<member><name>{k}</name>{}</member>", value(v)));
            format!("<struct>{}</struct>", members.collect::<String>())
        }
    };
    format!("<value>{inner}</value>")
}

/// A response as JSON: times as `@` and their text, faults as `{"fault": code}`.
pub fn read(xml: &str) -> Value {
    let mut reader = quick_xml::Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    let (mut stack, mut text): (Vec<(String, Vec<Value>)>, String) = (Vec::new(), String::new());
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Start(start) => {
                stack.push((start.name().into_inner().to_owned(), Vec::new()));
                text.clear();
            }
            Event::Text(part) => text.push_str(&part.xml10_content()),
            Event::GeneralRef(name) => match name.resolve_char_ref().expect("a reference") {
                Some(char) => text.push(char),
                None => text.push_str(quick_xml::escape::resolve_xml_entity(&name).expect("a known entity")),
            },
            Event::End(_) => {
                let (name, mut children) = stack.pop().expect("it was opened");
                let made = match name.as_str() {
                    "string" | "name" => json!(text),
                    "int" => json!(text.parse::<i64>().expect("a number")),
                    "double" => json!(text.parse::<f64>().expect("a number")),
                    "boolean" => json!(text == "1"),
                    "dateTime.iso8601" => json!(format!("@{text}")),
                    "data" => Value::Array(children),
                    "member" => json!([children[0], children[1]]),
                    "struct" => Value::Object(
                        children.iter().map(|m| (m[0].as_str().expect("a name").to_owned(), m[1].clone())).collect(),
                    ),
                    "fault" => json!({"fault": children[0]["faultCode"]}),
                    _ => children.pop().unwrap_or_else(|| panic!("<{name}> is empty in {xml}")),
                };
                text.clear();
                match stack.last_mut() {
                    Some((_, siblings)) => siblings.push(made),
                    None => return made,
                }
            }
            Event::Eof => panic!("cut short: {xml}"),
            _ => {}
        }
    }
}

pub fn body(method: &str, params: &[Value]) -> String {
    let params: String = params.iter().map(|p| format!("<param>{}</param>", value(p))).collect();
    format!(
        "<?xml version=\"1.0\"?>\n<methodCall><methodName>{method}</methodName><params>{params}</params></methodCall>\n"
    )
}

pub fn post(server: &Server, body: &str) -> Answer {
    let url = format!("{}/xmlrpc.php", server.site);
    server.send("POST", &url, None, Some(("text/xml", body.as_bytes().to_vec())), &[])
}

pub fn raw(server: &Server, method: &str, params: &[Value]) -> Value {
    let answer = post(server, &body(method, params));
    assert_eq!(answer.status, 200, "{method}: {}", answer.text);
    assert_eq!(answer.header("content-type"), Some("text/xml; charset=UTF-8"));
    read(&answer.text)
}

/// A call of a method whose parameters begin with a site, a login and a secret.
pub fn call_as(server: &Server, who: &(String, String), method: &str, params: &[Value]) -> Value {
    let mut all = vec![json!(1), json!(who.0), json!(who.1)];
    all.extend_from_slice(params);
    raw(server, method, &all)
}

fn call(server: &Server, method: &str, params: &[Value]) -> Value {
    call_as(server, &server.admin, method, params)
}

#[test]
fn records_are_written_and_read() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let content = json!({"post_title": "Lamps & <oil>", "post_content": "<p>a</p>", "post_status": "publish",
            "terms_names": {"category": ["Light", "A & B"], "post_tag": ["dark"]}, "post_date_gmt": {"@date": "20200102T03:04:05"}});
        let id = call(&server, "wp.newPost", &[content]);
        assert!(id.is_string(), "{id}");
        let post = call(&server, "wp.getPost", std::slice::from_ref(&id));
        assert_eq!(post["post_id"], id);
        assert_eq!(post["post_title"], "Lamps & <oil>");
        assert_eq!(post["post_status"], "publish");
        assert_eq!(post["post_date_gmt"], "@20200102T03:04:05");
        assert_eq!(post["comment_status"], "closed");
        assert_eq!(
            (&post["sticky"], &post["menu_order"], &post["post_parent"]),
            (&json!(false), &json!(0), &json!("0"))
        );
        let names: Vec<&str> =
            post["terms"].as_array().expect("terms").iter().filter_map(|t| t["name"].as_str()).collect();
        assert_eq!(names.len(), 3, "{names:?}");
        assert_eq!(post["terms"][0]["taxonomy"], "category");

        // The same names again are the same terms.
        let again =
            json!({"post_title": "Second", "terms_names": {"category": ["light", "A & B"]}, "post_status": "odd"});
        let second = call(&server, "wp.newPost", &[again]);
        let post = call(&server, "wp.getPost", &[second.clone(), json!(["post_status", "terms"])]);
        assert_eq!(post["post_status"], "draft");
        assert_eq!(post.as_object().map(serde_json::Map::len), Some(3), "only what was asked for, and the id: {post}");
        let categories = call(&server, "wp.getTerms", &[json!("category")]);
        assert_eq!(categories.as_array().map(Vec::len), Some(3), "{categories}");

        assert_eq!(
            call(&server, "wp.editPost", &[id.clone(), json!({"post_title": "Oil", "terms": {"post_tag": []}})]),
            true
        );
        let post = call(&server, "wp.getPost", std::slice::from_ref(&id));
        assert_eq!((&post["post_title"], &post["post_content"]), (&json!("Oil"), &json!("<p>a</p>")));
        assert_eq!(post["terms"].as_array().map(Vec::len), Some(2), "{post}");
        let stale = json!({"post_title": "x", "if_not_modified_since": {"@date": "20010101T00:00:00"}});
        assert_eq!(call(&server, "wp.editPost", &[id.clone(), stale]), json!({"fault": 409}));

        let list = |filter: Value| call(&server, "wp.getPosts", &[filter, json!(["post_title"])]);
        assert_eq!(list(json!({"orderby": "title", "order": "ASC"})).as_array().map(Vec::len), Some(2));
        assert_eq!(list(json!({"orderby": "title", "order": "ASC", "number": 1}))[0]["post_title"], "Oil");
        assert_eq!(list(json!({"s": "Second"}))[0]["post_id"], second);
        assert_eq!(list(json!({"post_status": "draft"})).as_array().map(Vec::len), Some(1));
        assert_eq!(list(json!({"post_type": "page"})), json!([]));
        assert_eq!(list(json!({"post_type": "nope"})), json!({"fault": 403}));

        let revisions = call(&server, "wp.getRevisions", std::slice::from_ref(&id));
        assert!(revisions[0]["post_date"].as_str().is_some_and(|date| date.starts_with('@')), "{revisions}");
        assert_eq!(call(&server, "wp.restoreRevision", &[revisions[0]["post_id"].clone()]), true);

        // First the trash, then deleted.
        assert_eq!(call(&server, "wp.deletePost", std::slice::from_ref(&id)), true);
        assert_eq!(call(&server, "wp.getPost", &[id.clone(), json!(["post_status"])])["post_status"], "trash");
        assert_eq!(call(&server, "wp.deletePost", std::slice::from_ref(&id)), true);
        assert_eq!(call(&server, "wp.deletePost", &[id]), json!({"fault": 404}));
    }
}

#[test]
fn faults_have_the_codes_that_clients_know() {
    let server = Server::start();
    let check = |method: &str, params: Value, code: i64| {
        let params: Vec<Value> = params.as_array().expect("a list").clone();
        assert_eq!(raw(&server, method, &params), json!({"fault": code}), "{method} {params:?}");
    };
    let (login, secret) = (json!(server.admin.0), json!(server.admin.1));
    check("no.such", json!([]), -32601);
    check("", json!([]), -32601);
    check("wp.getUsersBlogs", json!(["admin"]), 400);
    check("wp.getUsersBlogs", json!(["admin", "wrong"]), 403);
    check("wp.getUsersBlogs", json!(["nobody", "wrong"]), 403);
    check("wp.getUsersBlogs", json!(["", ""]), 403);
    check("wp.getUsersBlogs", json!([["admin"], {"a": 1}]), 403);
    check("wp.getPost", json!([1, login, secret, 999_999]), 404);
    check("wp.getPost", json!([1, login, secret, "x"]), 404);
    check("wp.getPage", json!([1]), 403);
    check("wp.newPost", json!([1, login, secret, "x"]), -32602);
    check("wp.newPost", json!([1, login, secret, {}]), 500);
    check("wp.newPost", json!([1, login, secret, {"post_type": "nope", "post_title": "t"}]), 403);
    check("wp.newPost", json!([1, login, secret, {"post_title": "t", "terms": {"nope": [1]}}]), 401);
    check("wp.newPost", json!([1, login, secret, {"post_title": "t", "terms": {"category": [99999]}}]), 403);
    check("wp.newPost", json!([1, login, secret, {"post_title": "t", "post_author": 99999}]), 404);
    check("wp.getTerm", json!([1, login, secret, "category", 99999]), 404);
    check("wp.getTerms", json!([1, login, secret, "nope"]), 403);
    check("wp.newTerm", json!([1, login, secret, {"taxonomy": "post_tag", "name": "a", "parent": 1}]), 403);
    check("wp.newTerm", json!([1, login, secret, {"taxonomy": "category", "name": ""}]), 403);
    check("wp.getUser", json!([1, login, secret, 999]), 404);
    check("wp.getComment", json!([1, login, secret, 999]), 404);
    check("wp.getUsers", json!([1, login, secret, {"role": "nope"}]), 403);
    check("wp.newPost", json!([1, login, secret, {"post_title": "t", "post_thumbnail": 99999}]), 404);
    check("metaWeblog.newPost", json!([1, login, secret, {"title": "t", "wp_post_format": "odd"}, false]), 404);
    check("metaWeblog.newPost", json!([1, login, secret, {"title": "t", "post_type": "attachment"}, false]), 401);
    check("wp.getComments", json!([1, login, secret, {"post_type": "nope"}]), 404);
    check("wp.getPostType", json!([1, login, secret, "nope"]), 403);
    // Values of odd types where an expression wants others.
    check("wp.getUsers", json!([1, login, secret, {"order": {"a": [1]}}]), 400);
    check("demo.addTwoNumbers", json!(["x", 1]), 400);
    assert_eq!(raw(&server, "demo.addTwoNumbers", &[json!(3), json!(4)]), json!(7));
}

#[test]
fn permissions_are_those_of_the_routes() {
    let server = Server::start();
    let subscriber = server.user("sub", "subscriber");
    let contributor = server.user("con", "contributor");
    let id = call(&server, "wp.newPost", &[json!({"post_title": "Mine", "post_status": "publish"})]);
    let refused = json!({"fault": 401});
    assert_eq!(call_as(&server, &subscriber, "wp.newPost", &[json!({"post_title": "t"})]), refused);
    assert_eq!(call_as(&server, &subscriber, "wp.getPost", std::slice::from_ref(&id)), refused);
    assert_eq!(call_as(&server, &contributor, "wp.getPost", std::slice::from_ref(&id)), refused);
    assert_eq!(call_as(&server, &contributor, "wp.editPost", &[id.clone(), json!({"post_title": "x"})]), refused);
    assert_eq!(call_as(&server, &contributor, "wp.deletePost", &[id]), refused);
    assert_eq!(
        call_as(&server, &contributor, "wp.newPost", &[json!({"post_title": "t", "post_status": "publish"})]),
        refused
    );
    let closed = json!({"fault": 403});
    assert_eq!(call_as(&server, &contributor, "wp.setOptions", &[json!({"blog_title": "x"})]), closed);
    for method in ["wp.getPageStatusList", "wp.getPageTemplates", "wp.getCommentStatusList"] {
        assert_eq!(call_as(&server, &contributor, method, &[]), closed, "{method}");
    }
    assert_eq!(call_as(&server, &subscriber, "wp.getPostFormats", &[]), closed);
    assert_eq!(call_as(&server, &subscriber, "wp.getPostTypes", &[]), json!([]));
    assert_eq!(call_as(&server, &contributor, "wp.getPostType", &[json!("page")]), refused);
    assert_eq!(call_as(&server, &subscriber, "wp.getAuthors", &[]), refused);
    let authors = call_as(&server, &contributor, "wp.getAuthors", &[]);
    assert_eq!(authors.as_array().map(Vec::len), Some(2), "who writes sees who may write: {authors}");
    let secret = json!({"post_title": "t", "post_password": "p"});
    assert_eq!(call_as(&server, &contributor, "wp.newPost", &[secret]), refused);
    assert_eq!(call_as(&server, &contributor, "wp.getUsers", &[]), refused);
    let own = call_as(&server, &contributor, "wp.newPost", &[json!({"post_title": "Own"})]);
    assert!(own.is_string(), "{own}");
    // Of lists, only what one may edit.
    let list = call_as(&server, &contributor, "wp.getPosts", &[json!({}), json!(["post_title"])]);
    assert_eq!(list, json!([{"post_id": own, "post_title": "Own"}]));
    let options = call_as(&server, &contributor, "wp.getOptions", &[]);
    assert_eq!(options["blog_title"]["readonly"], true);
    assert_eq!((&options["time_zone"]["value"], &options["thumbnail_size_w"]["value"]), (&json!("0"), &json!("150")));
    let order = call_as(&server, &contributor, "wp.getOptions", &[json!(["date_format", "blog_url", "none"])]);
    assert_eq!(
        order.as_object().map(|map| map.keys().map(String::as_str).collect::<Vec<_>>()),
        Some(vec!["date_format", "blog_url"])
    );
    let blogs = raw(&server, "wp.getUsersBlogs", &[json!(contributor.0), json!(contributor.1)]);
    assert_eq!(blogs[0]["isAdmin"], false);
}

#[test]
fn account_passwords_are_taken_unless_that_is_switched_off() {
    let server = Server::start();
    let blogs = |server: &Server, secret: &str| raw(server, "wp.getUsersBlogs", &[json!("admin"), json!(secret)]);
    assert_eq!(blogs(&server, "an account password")[0]["isAdmin"], true);
    assert_eq!(blogs(&server, &server.admin.1)[0]["xmlrpc"], format!("{}/xmlrpc.php", server.site));
    assert_eq!(
        raw(&server, "wp.getUsersBlogs", &[json!("admin@example.org"), json!("an account password")])[0]["blogid"],
        "1"
    );
    let server = server.restart_with(&["xmlrpc.account_passwords=false"]);
    assert_eq!(blogs(&server, "an account password"), json!({"fault": 403}));
    assert_eq!(blogs(&server, &server.admin.1)[0]["isAdmin"], true);
    let server = server.restart_with(&["site.application_passwords=\"off\""]);
    assert_eq!(blogs(&server, &server.admin.1), json!({"fault": 403}));
    assert_eq!(blogs(&server, "an account password")[0]["isAdmin"], true);
}

#[test]
fn guessing_is_slowed_and_owners_are_not() {
    let server = Server::with(&["xmlrpc.max_login_attempts=3", "xmlrpc.retry_after=1h"]);
    let ask = |login: &str, secret: &str| raw(&server, "wp.getUsersBlogs", &[json!(login), json!(secret)]);
    assert_eq!(ask("admin", "an account password")[0]["blogid"], "1");
    for (guess, code) in [("a", 403), ("b", 403), ("c", 403), ("d", 429), ("e", 429)] {
        assert_eq!(ask("admin", guess), json!({"fault": code}), "{guess}");
    }
    assert_eq!(ask("admin", "an account password")[0]["blogid"], "1", "it was proven before");
    assert_eq!(ask("admin", &server.admin.1)[0]["blogid"], "1", "application passwords do not wait");
    // A changed password is no longer proven.
    let changed = server.admin("POST", "/cms/v2/users/me", Some(&json!({"password": "another account password"})));
    assert_eq!(changed.status, 200, "{}", changed.text);
    assert_eq!(ask("admin", "an account password"), json!({"fault": 429}));
    // Guesses about another account are not slowed down.
    let codes: Vec<Value> = (0..5).map(|_| ask("nobody", "x")["fault"].clone()).collect();
    assert_eq!(codes, [403, 403, 403, 429, 429]);
}

#[test]
fn many_calls_in_one_guess_once() {
    let server = Server::start();
    let one = |method: &str, params: Value| json!({"methodName": method, "params": params});
    let (login, secret) = (&server.admin.0, &server.admin.1);
    let calls = json!([
        one("demo.sayHello", json!([])),
        one("no.such", json!([])),
        one("system.multicall", json!([[]])),
        one("wp.getUsersBlogs", json!([login, secret])),
        one("wp.getUsersBlogs", json!([login, "guess 1"])),
        one("wp.getUsersBlogs", json!([login, secret])),
        one("wp.getTags", json!([1, login, "an account password"])),
        one("demo.sayHello", json!([])),
    ]);
    let answers = raw(&server, "system.multicall", &[calls]);
    let code = |i: usize| answers[i]["faultCode"].clone();
    assert_eq!(answers[0], json!(["Hello!"]));
    assert_eq!((code(1), code(2)), (json!(-32601), json!(-32600)));
    assert_eq!(answers[3][0][0]["blogid"], "1");
    // After the first wrong guess not even the right password is checked.
    assert_eq!((code(4), code(5), code(6)), (json!(403), json!(403), json!(403)));
    assert_eq!(answers[7], json!(["Hello!"]));
    // And the guesses of one request cost one comparison: a thousand would take minutes.
    let many = Value::Array((0..50).map(|i| one("wp.getUsersBlogs", json!([login, format!("guess {i}")]))).collect());
    let answers = raw(&server, "system.multicall", &[many]);
    assert!(answers.as_array().is_some_and(|a| a.len() == 50 && a.iter().all(|f| f["faultCode"] == 403)), "{answers}");
    let too_many = Value::Array((0..51).map(|_| one("demo.sayHello", json!([]))).collect());
    assert_eq!(raw(&server, "system.multicall", &[too_many]), json!({"fault": -32600}));
    for odd in [json!("x"), json!([1, "x", [], {}]), json!({})] {
        raw(&server, "system.multicall", &[odd]);
    }
}

#[test]
fn hostile_xml_is_refused_and_costs_little() {
    let server = Server::with(&["xmlrpc.max_body=1000000B"]);
    let check = |text: &str, code: i64| {
        let answer = post(&server, text);
        assert_eq!((answer.status, read(&answer.text)), (200, json!({"fault": code})), "{text:.60}");
    };
    let hello = "<methodCall><methodName>demo.sayHello</methodName></methodCall>";
    for broken in ["", "<", "<methodResponse/>", "<methodCall>", "{\"method\": 1}", "<html><body/></html>"] {
        check(broken, -32700);
    }
    // Entity bombs and files from elsewhere.
    check(&format!("<!DOCTYPE m [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]>{hello}"), -32700);
    check(&format!("<!DOCTYPE m SYSTEM \"file:///etc/passwd\">{hello}"), -32700);
    check("<methodCall><methodName>demo.sayHello&xxe;</methodName></methodCall>", -32700);
    check("<methodCall><methodName>demo.sayHello&#0;</methodName></methodCall>", -32700);
    check(&format!("<?xml version=\"1.0\" encoding=\"UTF-7\"?>{hello}"), -32701);
    let nested = |n: usize| format!("{}{}", "<array><data><value>".repeat(n), "</value></data></array>".repeat(n));
    check(
        &body("demo.sayHello", &[])
            .replace("<params>", &format!("<params><param><value>{}</value></param>", nested(10_000))),
        -32600,
    );
    check(&body("demo.sayHello", &vec![json!(1); 20_001]), -32600);
    check(&body("demo.sayHello", &[json!("x".repeat(1_000_001))]), -32600);
    assert_eq!(raw(&server, "demo.sayHello", &[]), json!("Hello!"), "and it still answers");
    // Calls are XML alone: no form, no query, no other method.
    let url = format!("{}/xmlrpc.php", server.site);
    for method in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"] {
        let answer = server.send(method, &url, None, None, &[("origin", "https://elsewhere.example")]);
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{method}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "CORS is for the REST base");
    }
}

/// Every method with values of every kind in every place: a result or a fault, and never a failure of the server's own.
#[test]
fn odd_parameters_never_break_it() {
    let server = Server::with(&["server.access_log=false"]);
    let odd = [
        json!(-1),
        json!(9_223_372_036_854_775_807_i64),
        json!(""),
        json!("\u{10ffff}<&>' OR 1=1 --"),
        json!(null),
        json!(true),
        json!([]),
        json!([[["x"]], {"a": 1}]),
        json!({}),
        json!({"post_type": ["x"], "post_status": {"a": 1}, "number": -5, "offset": "x", "orderby": [], "order": 7,
            "terms": "x", "terms_names": {"category": "x", "post_tag": [[]]}, "custom_fields": [1, {"key": []}],
            "title": [], "description": {}, "categories": 7, "mt_keywords": {}, "taxonomy": [], "name": {}, "status": [],
            "bits": 1, "post_date": "soon", "post_thumbnail": [], "mime_type": ["/"], "content": []}),
    ];
    let methods = raw(&server, "system.listMethods", &[]);
    for method in methods.as_array().expect("a list").iter().filter_map(Value::as_str) {
        // The login is in the first, second, third or fourth place.
        for place in 0..4 {
            for value in &odd {
                let mut params = vec![value.clone(); 6];
                params[place] = json!(server.admin.0);
                params[place + 1] = json!(server.admin.1);
                let answer = post(&server, &body(method, &params));
                assert_eq!(answer.status, 200, "{method} {value}");
                assert!(!answer.text.contains("Something went wrong"), "{method} at {place}, {value}: {}", answer.text);
                read(&answer.text);
            }
        }
    }
}

#[test]
fn editors_find_it() {
    let server = Server::start();
    let url = format!("{}/xmlrpc.php", server.site);
    let home = server.send("GET", &format!("{}/", server.site), None, None, &[("accept", "text/html")]);
    assert!(
        home.text
            .contains(&format!("<link rel=\"EditURI\" type=\"application/rsd+xml\" title=\"RSD\" href=\"{url}?rsd\">"))
    );
    let rsd = server.send("GET", &format!("{url}?rsd"), None, None, &[]);
    assert_eq!((rsd.status, rsd.header("content-type")), (200, Some("text/xml; charset=UTF-8")));
    for part in [
        format!("name=\"WordPress\" blogID=\"1\" preferred=\"true\" apiLink=\"{url}\""),
        format!("apiLink=\"{}/\"", server.rest),
    ] {
        assert!(rsd.text.contains(&part), "{part} in {}", rsd.text);
    }
    let methods = raw(&server, "mt.supportedMethods", &[]);
    assert!(methods.as_array().is_some_and(|list| list.contains(&json!("metaWeblog.newPost"))), "{methods}");
    let all = raw(&server, "system.listMethods", &[]);
    let own: Vec<Value> = all
        .as_array()
        .expect("a list")
        .iter()
        .filter(|name| !name.as_str().is_some_and(|n| n.starts_with("system.")))
        .cloned()
        .collect();
    assert_eq!(Value::Array(own), methods);
    let server = server.restart_with(&["xmlrpc.enabled=false"]);
    assert_eq!(post(&server, &body("demo.sayHello", &[])).status, 404);
    let home = server.send("GET", &format!("{}/", server.site), None, None, &[("accept", "text/html")]);
    assert!(!home.text.contains("EditURI"));
    let server = server.restart_with(&["xmlrpc.path=\"/old-interface\""]);
    assert_eq!(post(&server, &body("demo.sayHello", &[])).status, 404);
    let url = format!("{}/old-interface", server.site);
    let answer = server.send("POST", &url, None, Some(("text/xml", body("demo.sayHello", &[]).into_bytes())), &[]);
    assert_eq!(read(&answer.text), json!("Hello!"));
}

#[test]
fn editors_of_the_desk_write() {
    let server = Server::start();
    let (login, secret) = (json!(server.admin.0), json!(server.admin.1));
    let of = |method: &str, id: &Value, more: &[Value]| {
        let mut params = vec![id.clone(), login.clone(), secret.clone()];
        params.extend_from_slice(more);
        raw(&server, method, &params)
    };
    let entry = json!({"title": "Entry", "description": "above", "mt_text_more": "below", "mt_excerpt": "short",
        "mt_keywords": "one, two,one", "categories": ["Uncategorized", "Unheard of"], "mt_allow_comments": 0,
        "dateCreated": {"@date": "20200102T03:04:05"}});
    let id = call(&server, "metaWeblog.newPost", &[entry, json!(true)]);
    let read = of("metaWeblog.getPost", &id, &[]);
    for (member, expected) in [
        ("title", json!("Entry")),
        ("description", json!("above")),
        ("mt_text_more", json!("below")),
        ("mt_excerpt", json!("short")),
        ("mt_keywords", json!("one, two")),
        ("categories", json!(["Uncategorized"])),
        ("mt_allow_comments", json!(0)),
        ("dateCreated", json!("@20200102T03:04:05")),
        ("post_status", json!("publish")),
    ] {
        assert_eq!(read[member], expected, "{member}");
    }
    assert_eq!(
        of("metaWeblog.editPost", &id, &[json!({"title": "Changed", "mt_keywords": ["three"]}), json!(true)]),
        true
    );
    let recent = call(&server, "metaWeblog.getRecentPosts", &[json!(5)]);
    assert_eq!(
        (&recent[0]["title"], &recent[0]["mt_keywords"], &recent[0]["description"]),
        (&json!("Changed"), &json!("three"), &json!("above"))
    );
    let category = call(&server, "wp.newCategory", &[json!({"name": "Fresh"})]);
    assert_eq!(call(&server, "wp.newCategory", &[json!({"name": "Fresh"})]), category, "the same one, again");
    assert_eq!(of("mt.setPostCategories", &id, &[json!([{"categoryId": category}])]), true);
    assert_eq!(
        of("mt.getPostCategories", &id, &[])[0],
        json!({"categoryName": "Fresh", "categoryId": category.to_string(), "isPrimary": true})
    );
    assert_eq!(call(&server, "mt.getRecentPostTitles", &[json!(1)])[0]["title"], "Changed");
    assert_eq!(raw(&server, "mt.getTrackbackPings", std::slice::from_ref(&id)), json!([]));
    assert_eq!(
        raw(&server, "blogger.deletePost", &[json!("key"), id, login.clone(), secret.clone(), json!(true)]),
        true
    );

    let text = json!("<title>Note</title><category>1</category>All in one");
    let id = raw(
        &server,
        "blogger.newPost",
        &[json!("key"), json!(1), login.clone(), secret.clone(), text.clone(), json!(false)],
    );
    let note = raw(&server, "blogger.getPost", &[json!("key"), id.clone(), login.clone(), secret.clone()]);
    assert_eq!(note["content"], text);
    assert_eq!(of("mt.publishPost", &id, &[]), id);

    let page = json!({"title": "Page", "description": "text", "wp_slug": "p", "wp_page_order": 3});
    let id = call(&server, "wp.newPage", &[page, json!(true)]);
    let read = raw(&server, "wp.getPage", &[json!(1), id.clone(), login, secret]);
    assert_eq!(
        (&read["page_status"], &read["wp_slug"], &read["wp_page_order"]),
        (&json!("publish"), &json!("p"), &json!(3))
    );
    assert_eq!(call(&server, "wp.getPageList", &[])[0]["page_id"], id);
    assert_eq!(call(&server, "wp.deletePage", &[id]), true);
}

#[test]
fn terms_comments_people_and_options() {
    let server = Server::start();
    let term = call(
        &server,
        "wp.newTerm",
        &[json!({"taxonomy": "category", "name": "Below", "parent": 1, "description": "d"})],
    );
    assert_eq!(call(&server, "wp.editTerm", &[term.clone(), json!({"taxonomy": "category", "name": "Beneath"})]), true);
    let read = call(&server, "wp.getTerm", &[json!("category"), term.clone()]);
    assert_eq!((&read["name"], &read["parent"], &read["count"]), (&json!("Beneath"), &json!("1"), &json!(0)));
    assert_eq!(call(&server, "wp.getTerms", &[json!("category"), json!({"search": "neath"})]), json!([read]));
    assert_eq!(call(&server, "wp.suggestCategories", &[json!("Ben"), json!(3)])[0]["category_name"], "Beneath");
    assert_eq!(call(&server, "wp.deleteTerm", &[json!("category"), term]), true);
    assert_eq!(call(&server, "wp.deleteTerm", &[json!("category"), json!(1)]), json!({"fault": 401}));
    assert_eq!(call(&server, "wp.getTaxonomy", &[json!("post_tag")])["hierarchical"], false);
    let kind = call(&server, "wp.getPostType", &[json!("post")]);
    assert_eq!(kind["taxonomies"], json!(["category", "post_tag"]));
    assert_eq!((&kind["cap"]["edit_posts"], &kind["map_meta_cap"]), (&json!("edit_posts"), &json!(true)));
    assert!(kind["labels"].is_object() && kind["supports"].get("sticky").is_none(), "{kind}");
    let types = |filter: Value| -> Vec<String> {
        let types = call(&server, "wp.getPostTypes", &[filter]);
        types.as_object().expect("types").keys().cloned().collect()
    };
    assert_eq!(types(json!({"public": true})), ["post", "page", "attachment"]);
    assert_eq!(types(json!({"hierarchical": 1, "public": true})), ["page"]);
    assert_eq!(call(&server, "wp.getPostTypes", &[]).as_object().map(serde_json::Map::len), Some(3));
    let formats = call(&server, "wp.getPostFormats", &[json!({"show-supported": true})]);
    assert_eq!((&formats["all"]["aside"], &formats["supported"][0]), (&json!("Aside"), &json!("aside")));
    // A taxonomy with parents is read page by page as well.
    let second = call(&server, "wp.getTerms", &[json!("category"), json!({"number": 1, "offset": 1})]);
    assert_eq!(second.as_array().map(Vec::len), Some(0), "{second}");

    let post =
        call(&server, "wp.newPost", &[json!({"post_title": "P", "post_status": "publish", "comment_status": "open"})]);
    let comment = call(&server, "wp.newComment", &[post.clone(), json!({"content": "Well said"})]);
    let read = call(&server, "wp.getComment", std::slice::from_ref(&comment));
    for (member, expected) in
        [("content", "Well said"), ("status", "approve"), ("post_title", "P"), ("author", "admin")]
    {
        assert_eq!(read[member], expected, "{member}");
    }
    assert_eq!(call(&server, "wp.editComment", &[comment.clone(), json!({"status": "hold"})]), true);
    let held = call(&server, "wp.getComments", &[json!({"post_id": post.clone(), "status": "hold"})]);
    assert_eq!(held.as_array().map(Vec::len), Some(1));
    let counts = json!({"approved": 0, "awaiting_moderation": 1, "spam": 0, "total_comments": 1});
    assert_eq!(call(&server, "wp.getCommentCount", &[post]), counts);
    assert_eq!(call(&server, "wp.deleteComment", std::slice::from_ref(&comment)), true);
    assert_eq!(call(&server, "wp.deleteComment", std::slice::from_ref(&comment)), true);
    assert_eq!(call(&server, "wp.getComment", &[comment]), json!({"fault": 404}));

    assert_eq!(call(&server, "wp.editProfile", &[json!({"first_name": "Ada"})]), true);
    let profile = call(&server, "wp.getProfile", &[json!(["first_name", "username"])]);
    assert_eq!(profile, json!({"user_id": "1", "username": "admin", "first_name": "Ada"}));
    assert_eq!(
        call(&server, "wp.getAuthors", &[]),
        json!([{"user_id": "1", "user_login": "admin", "display_name": "admin"}])
    );
    let set = call(&server, "wp.setOptions", &[json!({"blog_tagline": "New", "blog_url": "http://x"})]);
    assert_eq!(set["blog_tagline"]["value"], "New");
    assert_eq!(set["blog_url"]["value"], server.site, "what may only be read stays");
    let zone =
        |hours: Value| call(&server, "wp.setOptions", &[json!({"time_zone": hours})])["time_zone"]["value"].clone();
    assert_eq!(
        [zone(json!("-3.5")), zone(json!("2")), zone(json!("Asia/Tokyo"))],
        [json!("-3.5"), json!("2"), json!("9")]
    );
}

#[test]
fn files_come_through_the_upload_of_the_routes() {
    let server = Server::start();
    // One red dot.
    let dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
    let file = |name: &str| json!({"name": name, "type": "image/png", "bits": {"@base64": dot}, "overwrite": false});
    let made = call(&server, "wp.uploadFile", &[file("dot.png")]);
    assert_eq!(
        (&made["file"], &made["type"], &made["id"]),
        (&json!("dot.png"), &json!("image/png"), &made["attachment_id"])
    );
    assert_eq!((&made["title"], &made["alt"]), (&json!("dot.png"), &json!("")));
    assert_eq!(made["metadata"].as_object().map(|m| m.contains_key("sizes")), Some(false), "{made}");
    assert_eq!(call(&server, "metaWeblog.newMediaObject", &[file("dot.png")])["file"], "dot-1.png");
    let url = made["url"].as_str().expect("an address");
    assert_eq!(server.send("GET", url, None, None, &[]).status, 200);
    let content = json!({"post_title": "t", "post_thumbnail": made["id"]});
    let id = call(&server, "wp.newPost", &[content]);
    let read =
        |id: &Value| call(&server, "wp.getPost", &[id.clone(), json!(["post_thumbnail"])])["post_thumbnail"].clone();
    assert_eq!(read(&id)["attachment_id"], made["id"]);
    call(&server, "wp.editPost", &[id.clone(), json!({"post_thumbnail": ""})]);
    assert_eq!(read(&id), json!([]), "none is an empty list");
    assert_eq!(
        call(&server, "wp.getMediaLibrary", &[json!({"mime_type": "image/png"})]).as_array().map(Vec::len),
        Some(2)
    );
    assert_eq!(call(&server, "wp.deleteFile", &[made["id"].clone()]), true);
    assert_eq!(call(&server, "wp.getMediaItem", &[made["id"].clone()]), json!({"fault": 404}));
    for wrong in [file("dot.exe"), json!({"name": "dot.png", "bits": {"@base64": "AAAA"}})] {
        assert_eq!(call(&server, "wp.uploadFile", &[wrong]), json!({"fault": 415}));
    }
    assert_eq!(call(&server, "wp.uploadFile", &[json!({"bits": "text"})]), json!({"fault": 400}));
    assert_eq!(call(&server, "wp.uploadFile", &[json!({"name": "dot.png"})]), json!({"fault": -32602}));
    let subscriber = server.user("sub", "subscriber");
    assert_eq!(call_as(&server, &subscriber, "wp.uploadFile", &[file("dot.png")]), json!({"fault": 401}));
}

/// The custom fields of a record as `key=value`, by their ids.
fn fields(post: &Value) -> Vec<(String, String)> {
    let fields = post["custom_fields"].as_array().expect("fields");
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("a text: {value}")).to_owned();
    fields.iter().map(|f| (text(&f["id"]), format!("{}={}", text(&f["key"]), text(&f["value"])))).collect()
}

#[test]
fn custom_fields_are_kept_changed_and_deleted_one_by_one() {
    let server = Server::with(&["bounds.max_fields=6", "bounds.max_field_key=20", "bounds.max_field_value=100B"]);
    let content = json!({"post_title": "P", "post_status": "publish", "custom_fields": [
        {"key": "mood", "value": "calm"}, {"key": "mood", "value": "wild"}, {"key": "n", "value": 7},
        {"key": "_edit_lock", "value": "1"}, {"key": "", "value": "x"}, {"value": "x"}]});
    let id = call(&server, "wp.newPost", &[content]);
    let read = || fields(&call(&server, "wp.getPost", &[id.clone(), json!(["custom_fields"])]));
    let texts = || read().into_iter().map(|(_, text)| text).collect::<Vec<_>>();
    assert_eq!(texts(), ["mood=calm", "mood=wild", "n=7"]);
    let edit = |fields: Value| call(&server, "wp.editPost", &[id.clone(), json!({"custom_fields": fields})]);
    let before = read();
    let number = |at: usize| before[at].0.clone();
    // Another value, one less, one more; another key, an unknown id and a program's own change nothing.
    assert_eq!(
        edit(
            json!([{"id": number(1), "key": "mood", "value": "mild"}, {"id": number(2)}, {"key": "more", "value": true},
            {"id": number(0), "key": "other", "value": "x"}, {"id": "999999", "key": "mood", "value": "x"},
            {"id": "x"}, {"key": "_wp_trash", "value": "x"}])
        ),
        true
    );
    assert_eq!(texts(), ["mood=calm", "mood=mild", "more=1"]);
    assert_eq!(read()[..2], [before[0].clone(), (number(1), "mood=mild".into())], "they keep their ids");
    // The fields of another record are not reached from here.
    let other = call(&server, "wp.newPost", &[json!({"post_title": "O", "custom_fields": [{"id": number(0)}]})]);
    assert_eq!(call(&server, "wp.editPost", &[other, json!({"custom_fields": [{"id": number(0)}]})]), true);
    assert_eq!(texts().len(), 3);
    // Bounds: of keys, values and their number. A refused change leaves everything as it was.
    for fields in [
        json!([{"key": "k".repeat(21), "value": "x"}]),
        json!([{"key": "k", "value": "x".repeat(99)}]),
        json!([{"key": "a", "value": "1"}, {"key": "b", "value": "2"}, {"key": "c", "value": "3"}, {"key": "d", "value": "4"}]),
    ] {
        assert_eq!(edit(fields), json!({"fault": 400}));
    }
    assert_eq!(texts().len(), 3);
    // Callers who may not edit the record do not see it at all.
    let contributor = server.user("con", "contributor");
    assert_eq!(call_as(&server, &contributor, "wp.getPost", std::slice::from_ref(&id)), json!({"fault": 401}));
    // They survive changes by others and the trash, and go with the record.
    assert_eq!(
        server
            .admin(
                "POST",
                &format!("/cms/v2/posts/{}", id.as_str().expect("an id")),
                Some(&json!({"title": {"raw": "Q"}}))
            )
            .status,
        200
    );
    assert_eq!(texts(), ["mood=calm", "mood=mild", "more=1"]);
    assert_eq!(call(&server, "wp.deletePost", std::slice::from_ref(&id)), true);
    assert_eq!(texts().len(), 3);
    assert_eq!(call(&server, "wp.deletePost", std::slice::from_ref(&id)), true);
    assert_eq!(call(&server, "wp.getPost", &[id]), json!({"fault": 404}));
}

#[test]
fn editors_of_the_desk_keep_custom_fields_too() {
    let server = Server::start();
    let (login, secret) = (json!(server.admin.0), json!(server.admin.1));
    let entry = json!({"title": "E", "custom_fields": [{"key": "mood", "value": "calm"}],
        "enclosure": {"url": "https://site.example/a.mp3", "length": 5, "type": "audio/mpeg"}});
    let id = call(&server, "metaWeblog.newPost", &[entry.clone(), json!(true)]);
    let read = || raw(&server, "metaWeblog.getPost", &[id.clone(), login.clone(), secret.clone()]);
    assert_eq!(read()["enclosure"], entry["enclosure"]);
    let mood = fields(&read()).into_iter().find(|(_, text)| text == "mood=calm").expect("the field").0;
    let change = json!({"custom_fields": [{"id": mood, "key": "mood", "value": "wild"}]});
    let params = [id.clone(), login.clone(), secret.clone(), change, json!(true)];
    assert_eq!(raw(&server, "metaWeblog.editPost", &params), true);
    assert!(fields(&read()).contains(&(mood, "mood=wild".into())), "{:?}", read());
    let recent = call(&server, "metaWeblog.getRecentPosts", &[json!(1)]);
    assert_eq!(fields(&recent[0]), fields(&read()));

    let page = call(
        &server,
        "wp.newPage",
        &[json!({"title": "P", "custom_fields": [{"key": "k", "value": "v"}]}), json!(true)],
    );
    let read = raw(&server, "wp.getPage", &[json!(1), page.clone(), login, secret]);
    assert_eq!(fields(&read)[0].1, "k=v");
    assert_eq!(fields(&call(&server, "wp.getPages", &[])[0]), fields(&read));

    let term = json!({"taxonomy": "category", "name": "T", "custom_fields": [{"key": "colour", "value": "red"}]});
    let term = call(&server, "wp.newTerm", &[term]);
    let read = || call(&server, "wp.getTerm", &[json!("category"), term.clone()]);
    let (number, text) = fields(&read()).remove(0);
    assert_eq!(text, "colour=red");
    let change = json!({"taxonomy": "category", "custom_fields": [{"id": number}]});
    assert_eq!(call(&server, "wp.editTerm", &[term.clone(), change]), true);
    assert_eq!(read()["custom_fields"], json!([]));
}

/// No route shows, finds, sorts by or filters by what is under a key that nothing declares.
#[test]
fn no_route_shows_custom_fields() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let content = json!({"post_title": "P", "post_status": "publish",
            "custom_fields": [{"key": "hiddenkey", "value": "hiddenvalue"}]});
        let id = call(&server, "wp.newPost", &[content]);
        let id = id.as_str().expect("an id");
        let route = format!("/{prefix}/v2/posts/{id}");
        let body = json!({"meta": {"hiddenkey": "x"}, "custom_fields": [{"key": "hiddenkey", "value": "y"}]});
        let written = server.admin("POST", &route, Some(&body));
        assert!(!written.text.contains("hidden"), "{}", written.text);
        for route in [
            route.clone(),
            format!("{route}?context=edit"),
            format!("{route}?context=edit&_fields=meta,custom_fields,_links"),
            format!("/{prefix}/v2/posts?context=edit&_embed"),
            format!("{route}/revisions?context=edit"),
        ] {
            let shown = server.admin("GET", &route, None);
            assert!(shown.status == 200 && !shown.text.contains("hidden"), "{route}: {}", shown.text);
        }
        let found =
            |query: &str| server.admin("GET", &format!("/{prefix}/v2/{query}"), None).body.as_array().map(Vec::len);
        assert_eq!(found("posts?context=edit&search=hiddenvalue"), Some(0));
        assert_eq!(found("search?search=hiddenvalue"), Some(0));
        assert_eq!(found("posts?context=edit&hiddenkey=other"), found("posts?context=edit"), "it is no filter");
        let described = server.admin("OPTIONS", &format!("/{prefix}/v2/posts"), None);
        assert!(!described.text.contains("custom_fields"), "{}", described.text);
        let kept = call(&server, "wp.getPost", &[json!(id), json!(["custom_fields"])]);
        assert_eq!(fields(&kept)[0].1, "hiddenkey=hiddenvalue", "REST changed nothing of it");
    }
}

#[test]
fn wrong_declarations_stop_the_boot_and_say_where() {
    let check = |more: &str, expected: &[&str]| {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path().to_str().expect("a path");
        assert!(run(&["init", at], "").status.success());
        std::fs::write(folder.path().join("site.toml"), more).expect("writes");
        let output = run(&["--config", &format!("{at}/routes.toml"), "check"], "");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{more}");
        for part in expected {
            assert!(said.contains(part), "{part} in {said}");
        }
    };
    let step = |step: &str| format!("[xmlrpc.methods.\"a.b\"]\nparams = [\"id: id\"]\nsteps = [{step}]\n");
    check(&step("{ get = \"routes.posts ~\" }"), &["site.toml:3:", "is no expression"]);
    check(&step("{ get = \"rutes.posts\" }"), &["`rutes` is not known here", "did you mean `routes`?"]);
    check(&step("{ get = \"id|uper\" }"), &["unknown filter: `uper`"]);
    check(&step("{ use = \"recrd\" }"), &["there is no routine `recrd`", "did you mean `record`?"]);
    check(&step("{ refuse = \"rest_no\" }"), &["unknown error code `rest_no`"]);
    check(&step("{ get = \"id\", post = \"id\" }"), &["this one does 2"]);
    check(&step("{ when = \"id\" }"), &["this one does 0"]);
    check(
        "[xmlrpc.routines]\na = [{ use = \"b\" }]\nb = [{ use = \"a\" }]\n[xmlrpc.methods.\"a.b\"]\nsteps = [{ use = \"a\" }]",
        &["the routine a holds itself"],
    );
    check(
        "[xmlrpc.methods.\"a.b\"]\nresult = { shape = \"pots\" }",
        &["there is no shape `pots`", "did you mean `post`?"],
    );
    check("[xmlrpc.methods.\"a.b\"]\nparams = [\"a: number\"]", &["`a: number` is no parameter"]);
    check("[xmlrpc.methods.\"a.b\"]\nparams = [\"@login\"]", &["`@login` and `@secret` go together"]);
    check("[xmlrpc.methods.\"a.b\"]\nsame_as = \"wp.getPots\"", &["did you mean `wp.getPost`?"]);
    check("[xmlrpc.faults]\nnonsense = 1", &["unknown error `nonsense`"]);
    check("[xmlrpc]\npath = \"x\"", &["a path begins with a slash"]);
}

#[test]
fn a_method_of_ones_own_is_a_declaration() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(run(&["init", folder.path().to_str().expect("a path")], "").status.success());
    let method = "[xmlrpc.methods.\"library.shout\"]\nparams = [\"@login\", \"@secret\", \"words: list\"]\n\
        steps = [{ each = \"words\", item = \"w\", collect = \"w|upper\", as = \"loud\" }]\nresult = \"me.login ~ ': ' ~ loud|join(' ')\"\n";
    std::fs::write(folder.path().join("site.toml"), method).expect("writes");
    let server = Server::over(folder, &[]);
    let params = [json!(server.admin.0), json!(server.admin.1), json!(["a", "b"])];
    assert_eq!(raw(&server, "library.shout", &params), json!("admin: A B"));
}
