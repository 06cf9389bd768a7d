//! XML-RPC: words, lists and responses without end, and what it reveals of records that are not public.

use crate::server::Server;
use crate::xmlrpc::{body, call_as, post, raw, read};
use serde_json::{Value, json};

const TOO_LARGE: i64 = -32600;

fn words(number: usize) -> String {
    (0..number).map(|n| format!("w{n}")).collect::<Vec<_>>().join(",")
}

fn list(number: usize) -> Value {
    (0..number).map(|n| format!("w{n}")).collect()
}

#[test]
fn a_text_and_a_list_have_so_many_words() {
    let server = Server::start();
    let reader = server.user("rita", "subscriber");
    let options = |wanted: Value| call_as(&server, &reader, "wp.getOptions", &[wanted]);
    for number in [999, 1000] {
        assert_eq!(options(json!(words(number))), json!([]), "{number}");
        assert_eq!(options(list(number)), json!([]), "{number}");
    }
    assert_eq!(options(json!(words(1001))), json!({"fault": TOO_LARGE}));
    assert_eq!(options(list(1001)), json!({"fault": TOO_LARGE}));
    assert_eq!(options(json!("blog_title,blog_title , ,")).as_object().map(serde_json::Map::len), Some(1));
    // Hundreds of thousands of words end at once: they took seventeen seconds.
    let before = server.processor_time();
    for hostile in [words(70_000), ",".repeat(400 << 10), ",a".repeat(200 << 10)] {
        options(json!(hostile));
    }
    let taken = server.processor_time() - before;
    assert!(taken < 5.0, "{taken} s");
}

#[test]
fn tags_and_categories_of_a_text_are_so_many() {
    let server = Server::start();
    let author = server.user("ada", "editor");
    let create = |content: Value| call_as(&server, &author, "metaWeblog.newPost", &[content, json!(true)]);
    let fault = json!({"fault": TOO_LARGE});
    assert_eq!(create(json!({"title": "T", "mt_keywords": words(1001)})), fault);
    assert_eq!(create(json!({"title": "T", "mt_keywords": list(1001)})), fault);
    assert_eq!(create(json!({"title": "T", "categories": list(1001)})), fault);
    assert_eq!(create(json!({"title": "T", "categories": words(1001)})), fault);
    assert!(create(json!({"title": "T", "categories": list(1000)})).is_string());
    let made = create(json!({"title": "T", "mt_keywords": "a, b,a,,", "categories": "Uncategorized"}));
    assert!(made.is_string(), "{made}");
    let tags = server.get(&format!("/cms/v2/tags?post={}", made.as_str().expect("a number"))).body;
    assert_eq!(tags.as_array().map(Vec::len), Some(2), "{tags}");
}

#[test]
fn permission_comes_before_work() {
    let server = Server::start();
    let reader = server.user("rita", "subscriber");
    let hostile = json!({"title": "T", "post_title": "T", "mt_keywords": words(5000), "categories": list(900),
        "terms_names": {"post_tag": list(900)}, "terms": {"no such": [1]}});
    for (method, params) in [
        ("metaWeblog.newPost", vec![hostile.clone(), json!(true)]),
        ("wp.newPost", vec![hostile.clone()]),
        ("wp.newPage", vec![hostile.clone(), json!(true)]),
    ] {
        assert_eq!(call_as(&server, &reader, method, &params), json!({"fault": 401}), "{method}");
    }
    let tags = server.get("/cms/v2/tags").body;
    assert_eq!(tags, json!([]), "nothing was made on the way");
}

#[test]
fn lists_structures_and_parameters_have_a_length() {
    let server = Server::start();
    let hello = |params: &[Value]| raw(&server, "demo.sayHello", params);
    let members = |number: usize| -> Value {
        (0..number).map(|n| (format!("k{n}"), json!(1))).collect::<serde_json::Map<_, _>>().into()
    };
    for (number, answer) in [(999, json!("Hello!")), (1000, json!("Hello!")), (1001, json!({"fault": TOO_LARGE}))] {
        assert_eq!(hello(&[list(number)]), answer, "a list of {number}");
        assert_eq!(hello(&[members(number)]), answer, "a structure of {number}");
        assert_eq!(hello(&vec![json!(1); number]), answer, "{number} parameters");
    }
    // One name again and again is a structure as long as any other.
    let again = |number: usize| {
        let member = "<member><name>k</name><value>v</value></member>".repeat(number);
        let param = format!("<param><value><struct>{member}</struct></value></param></params>");
        read(&post(&server, &body("demo.sayHello", &[]).replace("</params>", &param)).text)
    };
    assert_eq!([again(1000), again(1001)], [json!("Hello!"), json!({"fault": TOO_LARGE})]);
    let short = server.restart_with(&["xmlrpc.max_list=2"]);
    assert_eq!(raw(&short, "demo.addTwoNumbers", &[json!(1), json!(2)]), json!(3));
    assert_eq!(raw(&short, "demo.addTwoNumbers", &[json!(1), json!(2), json!(3)]), json!({"fault": TOO_LARGE}));
}

#[test]
fn an_answer_holds_so_much_text() {
    let server = Server::with(&["xmlrpc.max_response=20000B"]);
    let admin = &server.admin;
    for n in 0..3 {
        let content =
            json!({"title": {"raw": format!("T{n}")}, "content": {"raw": "c".repeat(4000)}, "status": "publish"});
        assert_eq!(server.admin("POST", "/cms/v2/posts", Some(&content)).status, 201);
    }
    let posts =
        |number: i64| call_as(&server, admin, "wp.getPosts", &[json!({"number": number}), json!(["post_content"])]);
    assert_eq!(posts(1).as_array().map(Vec::len), Some(1));
    assert_eq!(posts(3), json!({"fault": 413}), "raw and rendered text were read for three");
    let one = json!({"methodName": "wp.getPosts", "params": [1, admin.0, admin.1, {"number": 1}, ["post_content"]]});
    let answers = raw(&server, "system.multicall", &[Value::Array(vec![one; 8])]);
    let full = answers.as_array().into_iter().flatten().filter(|answer| answer.is_array()).count();
    assert_eq!(full, 4, "four of 4,000 bytes fit: {answers:.200}");
    assert!(answers.as_array().is_some_and(|all| all.len() == 8 && all[4..].iter().all(|a| a["faultCode"] == 413)));
}

#[test]
fn trackbacks_do_not_tell_which_records_exist() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let make = |route: &str, status: &str| {
            let body = json!({"title": {"raw": "T"}, "status": status});
            let made = server.admin("POST", &format!("/{prefix}/v2/{route}"), Some(&body));
            made.body["id"].as_i64().unwrap_or_else(|| panic!("{route}: {}", made.text))
        };
        let ask = |id: i64| post(&server, &body("mt.getTrackbackPings", &[json!(id)])).text;
        let missing = ask(99_999);
        assert_eq!(read(&missing), json!({"fault": 404}));
        assert_eq!(read(&ask(make("posts", "publish"))), json!([]));
        let public = make("posts", "publish");
        server.admin("POST", &format!("/{prefix}/v2/posts/{public}"), Some(&json!({"title": {"raw": "U"}})));
        let revision =
            server.admin("GET", &format!("/{prefix}/v2/posts/{public}/revisions"), None).body[0]["id"].clone();
        let hidden = [
            make("posts", "draft"),
            make("posts", "private"),
            make("posts", "pending"),
            make("pages", "private"),
            make("blocks", "publish"),
            revision.as_i64().expect("a revision"),
            0,
            -1,
        ];
        for id in hidden {
            assert_eq!(ask(id), missing, "{prefix} {id}");
        }
    }
}

#[test]
fn a_text_that_comes_as_bytes_holds_no_nul() {
    let server = Server::start();
    let call = |bytes: &str| {
        let title = json!({"post_title": "TITLE", "post_status": "draft"});
        let params = [json!(1), json!(server.admin.0), json!(server.admin.1), title];
        let text = body("wp.newPost", &params).replace("<string>TITLE</string>", &format!("<base64>{bytes}</base64>"));
        assert!(text.contains("<base64>"), "{text}");
        post(&server, &text).text
    };
    assert!(!call("VGl0bGU=").contains("faultCode"), "`Title`");
    let refused = read(&call("VGkAdGxl"));
    assert_eq!(refused, json!({"fault": -32602}), "`Ti`, a NUL, `tle`");
}
