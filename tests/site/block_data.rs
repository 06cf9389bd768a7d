//! Contents as blocks: with attributes from delimiters and markup, patterns, and in the shape of VIP's Block Data API.

use super::server::Server;
use serde_json::{Value, json};

fn made(server: &Server, prefix: &str, route: &str, body: Value) -> i64 {
    let answer = server.admin("POST", &format!("/{prefix}/v2/{route}"), Some(&body));
    assert_eq!(answer.status, 201, "{}", answer.text);
    answer.body["id"].as_i64().expect("an id")
}

const CONTENT: &str = "<!-- wp:heading {\"level\":3} -->\n<h3 class=\"wp-block-heading\" id=\"top\">A <em>head</em> &amp; more</h3>\n\
    <!-- /wp:heading -->\n\nBetween\n\n\
    <!-- wp:list {\"ordered\":true} -->\n<ol class=\"wp-block-list\"><!-- wp:list-item -->\n<li>One</li>\n<!-- /wp:list-item --></ol>\n\
    <!-- /wp:list -->\n\n<!-- wp:paragraph {\"metadata\":{\"blockVisibility\":false}} --><p>Hidden</p><!-- /wp:paragraph -->\
    <!-- wp:acme/box {\"a\":1} /-->";

/// Name, attributes and inner blocks.
fn outline(blocks: &Value) -> Value {
    let all = blocks.as_array().expect("blocks").iter();
    all.map(|block| json!([block["name"], block["attributes"], outline(&block["inner"])])).collect()
}

#[test]
fn contents_are_shown_as_blocks_on_demand() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let id = made(&server, prefix, "posts", json!({"title": "A", "status": "publish", "content": CONTENT}));
        let item = format!("/{prefix}/v2/posts/{id}");
        let usual = server.get(&item).body;
        assert!(usual["content"].get("blocks").is_none(), "never by default");
        let blocks = server.get(&format!("{item}?_fields=content.blocks")).body;
        assert_eq!(blocks.as_object().expect("an object").len(), 1, "{blocks}");
        assert_eq!(
            outline(&blocks["content"]["blocks"]),
            json!([
                ["core/heading", {"level": 3, "content": "A <em>head</em> &amp; more", "anchor": "top"}, []],
                ["core/freeform", {"content": "Between"}, []],
                ["core/list", {"ordered": true, "values": ""}, [["core/list-item", {"content": "One"}, []]]],
                ["acme/box", {"a": 1}, []],
            ])
        );
        let html = |at: usize| blocks["content"]["blocks"][at]["html"].clone();
        assert_eq!(html(0), "<h3 class=\"wp-block-heading\" id=\"top\">A <em>head</em> &amp; more</h3>");
        assert!(html(2).as_str().is_some_and(|html| html.contains("<li>One</li>")), "{}", html(2));
        let whole = server.get(&format!("{item}?_blocks=1")).body;
        assert_eq!(whole["content"]["blocks"], blocks["content"]["blocks"]);
        assert_eq!(whole["content"]["rendered"], usual["content"]["rendered"]);
        for (query, there) in
            [("_blocks=0", false), ("_blocks=", false), ("_blocks=true", true), ("_fields=id,content.rendered", false)]
        {
            let found = server.get(&format!("{item}?{query}")).body;
            assert_eq!(found["content"].get("blocks").is_some(), there, "{query}");
        }
        let list = server.get(&format!("/{prefix}/v2/posts?_fields=id,content.blocks&include={id}")).body;
        assert_eq!(list[0], json!({"id": id, "content": {"blocks": blocks["content"]["blocks"]}}));
        // A change is seen at once, and what a password protects is not shown.
        server.admin("POST", &item, Some(&json!({"content": "Plain\n\nclassic"})));
        let classic = server.get(&format!("{item}?_fields=content.blocks")).body["content"]["blocks"].clone();
        assert_eq!(outline(&classic), json!([["core/freeform", {"content": "Plain\n\nclassic"}, []]]));
        assert_eq!(classic[0]["html"], "<p>Plain</p>\n<p>classic</p>");
        server.admin("POST", &item, Some(&json!({"password": "open"})));
        let locked = server.get(&format!("{item}?_fields=content.blocks"));
        assert!(!locked.text.contains("classic"), "{}", locked.text);
        let opened = server.get(&format!("{item}?_fields=content.blocks&password=open")).body;
        assert_eq!(opened["content"]["blocks"], classic);
    }
}

#[test]
fn synced_patterns_are_resolved_or_named() {
    let server = Server::with(&["site.prefix=wp"]);
    let text = |text: &str| format!("<!-- wp:paragraph -->\n<p>{text}</p>\n<!-- /wp:paragraph -->");
    let pattern = made(&server, "wp", "blocks", json!({"title": "P", "status": "publish", "content": text("shared")}));
    let draft = made(&server, "wp", "blocks", json!({"title": "D", "status": "draft", "content": text("secret")}));
    let named = |id: i64| format!("<!-- wp:block {{\"ref\":{id}}} /-->");
    let content = [pattern, draft, 987_654].map(named).concat();
    let id = made(&server, "wp", "posts", json!({"title": "A", "status": "publish", "content": content}));
    let blocks =
        |how: &str| outline(&server.get(&format!("/wp/v2/posts/{id}?_blocks={how}")).body["content"]["blocks"]);
    let shared = json!([["core/paragraph", {"content": "shared", "dropCap": false}, []]]);
    let of = |inner: &Value| {
        json!([
            ["core/block", {"ref": pattern, "content": {}}, inner],
            ["core/block", {"ref": draft, "content": {}}, []],
            ["core/block", {"ref": 987_654, "content": {}}, []],
        ])
    };
    assert_eq!(blocks("1"), of(&shared));
    assert_eq!(blocks("raw"), of(&json!([])));
    server.admin("POST", &format!("/wp/v2/blocks/{pattern}"), Some(&json!({"content": text("changed")})));
    assert_eq!(blocks("1")[0][2][0][1]["content"], "changed");
    // One that is in itself ends.
    server.admin("POST", &format!("/wp/v2/blocks/{pattern}"), Some(&json!({"content": named(pattern)})));
    assert_eq!(blocks("1")[0][2], json!([["core/block", {"ref": pattern, "content": {}}, []]]));
}

/// Markup that is written to keep the server busy costs no more than its size.
#[test]
fn hostile_markup_is_read_in_time() {
    let server = Server::start();
    let block = |markup: &str| format!("<!-- wp:paragraph -->{markup}<!-- /wp:paragraph -->");
    for (name, markup) in [
        ("elements in each other", "<p><b>".repeat(20_000)),
        ("tables", "<table><tr><td>".repeat(5_000)),
        ("links in links", "<a href=x><p>".repeat(10_000)),
        ("attributes", format!("<p {}>x", (0..20_000).map(|n| format!("a{n}=1 ")).collect::<String>())),
        ("entities", "&amp;".repeat(40_000)),
    ] {
        let id = made(&server, "cms", "posts", json!({"title": name, "status": "publish", "content": block(&markup)}));
        let before = server.processor_time();
        let answer = server.get(&format!("/cms/v2/posts/{id}?_fields=content.blocks"));
        assert_eq!(answer.status, 200, "{name}");
        let took = server.processor_time() - before;
        assert!(took < 10.0, "{name}: {took} s");
    }
    let deep =
        (0..200).fold(String::new(), |inside, _| format!("<!-- wp:group --><div>{inside}</div><!-- /wp:group -->"));
    let many = block("<p>x</p>").repeat(12_000);
    for (name, content, most) in [("deep", deep, 100), ("many", many, 10_000)] {
        let id = made(&server, "cms", "posts", json!({"title": name, "status": "publish", "content": content}));
        let answer = server.get(&format!("/cms/v2/posts/{id}?_fields=content.blocks"));
        let count = answer.text.matches("\"inner\":").count();
        assert!((1..=most).contains(&count), "{name}: {count}");
    }
}

#[test]
fn the_shape_of_vips_api_is_there_on_demand() {
    let server = Server::with(&["site.prefix=wp"]);
    let route = |id: i64, query: &str| format!("/vip-block-data-api/v1/posts/{id}/blocks{query}");
    assert_eq!(server.get(&route(1, "")).status, 404, "off by default");
    std::fs::write(server.path("site.toml"), "include = [\"schemas/dialects/block-data.toml\"]\n").expect("a file");
    let server = server.restart_with(&["site.prefix=wp"]);
    let id = made(&server, "wp", "posts", json!({"title": "A", "status": "publish", "content": CONTENT}));
    let item = json!({"name": "core/list-item", "attributes": {"content": "One"}});
    let list = json!({"name": "core/list", "attributes": {"ordered": true, "values": ""}, "innerBlocks": [item]});
    let heading = json!({"name": "core/heading", "attributes": {"content": "A <em>head</em> &amp; more", "level": 3}});
    let unknown = json!({"name": "acme/box", "attributes": {"a": 1}});
    let answer = server.get(&route(id, ""));
    assert_eq!(answer.body["blocks"], json!([heading, list, unknown]));
    assert_eq!(answer.body["warnings"].as_array().map(Vec::len), Some(1), "{}", answer.text);
    assert_eq!(server.get(&route(id, "?include=core/heading,core/list-item")).body, json!({"blocks": [heading]}));
    assert_eq!(server.get(&route(id, "?exclude=core/list,acme/box")).body, json!({"blocks": [heading]}));
    let locked = json!({"title": "L", "status": "publish", "password": "x", "content": CONTENT});
    let locked = made(&server, "wp", "posts", locked);
    let draft = made(&server, "wp", "posts", json!({"title": "D", "content": CONTENT}));
    let classic = made(&server, "wp", "posts", json!({"title": "C", "status": "publish", "content": "classic"}));
    for (id, query, code) in [
        (id, "?include=heading", "rest_invalid_param"),
        (id, "?include=", "rest_invalid_param"),
        (id, "?include=core/a&exclude=core/b", "vip-block-data-api-invalid-params"),
        (classic, "", "vip-block-data-api-no-blocks"),
        (draft, "", "rest_invalid_param"),
        (locked, "", "rest_invalid_param"),
        (0, "", "rest_invalid_param"),
        (987_654, "", "rest_invalid_param"),
    ] {
        let answer = server.get(&route(id, query));
        assert_eq!((answer.status, answer.code()), (400, code), "{id}{query}");
    }
    for id in [draft, locked] {
        assert_eq!(server.admin("GET", &route(id, ""), None).status, 200);
    }
}
