//! One database file serves both dialects: names are stored neutrally and spelled on the way out.

use super::server::Server;
use serde_json::json;

#[test]
fn the_same_file_opens_under_both_prefixes() {
    let server = Server::start();
    let body = json!({"title": {"raw": "Hours"}, "content": {"raw": "<!-- cms:paragraph --><p>Nine.</p><!-- /cms:paragraph -->"},
        "status": "Publish"});
    let made = server.admin("POST", "/cms/v2/blocks", Some(&body));
    assert_eq!((made.status, &made.body["type"], &made.body["status"]), (201, &json!("cms_block"), &json!("Publish")));
    let id = made.body["id"].clone();

    let server = server.restart_with(&["site.prefix=wp"]);
    let block = server.admin("GET", &format!("/wp/v2/blocks/{id}?context=edit"), None);
    assert_eq!((&block.body["type"], &block.body["status"]), (&json!("wp_block"), &json!("publish")), "{}", block.text);
    assert_eq!(block.body["content"]["raw"], body["content"]["raw"], "delimiters stay as they were written");
    let refused = server.admin("PUT", &format!("/wp/v2/blocks/{id}"), Some(&json!({"status": "Future"})));
    assert_eq!(refused.code(), "rest_invalid_param", "capitals are the other dialect's");
    let plain = server.admin("PUT", &format!("/wp/v2/blocks/{id}"), Some(&json!({"title": "A plain text"})));
    assert_eq!(plain.body["title"]["raw"], "A plain text");
    assert_eq!(server.get("/wp/v2/posts").header("x-wp-total"), Some("0"));

    let server = server.restart_with(&[]);
    let block = server.admin("GET", &format!("/cms/v2/blocks/{id}"), None);
    assert_eq!((&block.body["title"]["raw"], &block.body["status"]), (&json!("A plain text"), &json!("Publish")));
}

#[test]
fn formats_that_records_have_are_found_under_wp() {
    let server = Server::with(&["site.prefix=wp"]);
    for (format, status) in [("video", "publish"), ("aside", "publish"), ("quote", "draft"), ("standard", "publish")] {
        let body = json!({"title": format, "format": format, "status": status});
        assert_eq!(server.admin("POST", "/wp/v2/posts", Some(&body)).status, 201);
    }
    let ids = |query: &str| {
        let found = server.get(&format!("/wp/v2/search?type=post-format{query}"));
        let list = found.body.as_array().unwrap_or_else(|| panic!("{}", found.text)).clone();
        let total = found.header("x-wp-total").map(str::to_owned).unwrap_or_default();
        (list.iter().map(|item| item["id"].as_str().expect("a name").to_owned()).collect::<Vec<_>>().join(" "), total)
    };
    let is = |ids: &str, total: &str| (ids.to_owned(), total.to_owned());
    assert_eq!(ids(""), is("aside video", "2"));
    assert_eq!(ids("&search=VID&subtype=post"), is("video", "1"));
    assert_eq!(ids("&search=quo"), is("", "0"), "drafts are not for strangers");
    assert_eq!(ids("&per_page=1&page=2"), is("video", "2"));
    let beyond = server.get("/wp/v2/search?type=post-format&page=2");
    assert_eq!((beyond.status, beyond.code()), (400, "rest_search_invalid_page_number"));
    let found = server.get("/wp/v2/search?type=post-format&search=video").body;
    let expected = json!([{"id": "video", "title": "Video", "url": format!("{}/type/video/", server.site),
        "type": "post-format", "_links": {"collection": [{"href": format!("{}/wp/v2/search", server.rest)}]}}]);
    assert_eq!(found, expected);
    let server = server.restart_with(&[]);
    assert_eq!(server.get("/cms/v2/search?type=post-format").code(), "rest_invalid_param");
}

#[test]
fn sighup_reads_the_declarations_anew() {
    let server = Server::with(&["server.watch=false"]);
    let more = "[namespaces.try]\npath = \"try/v1\"\n\n[[\"+routes\"]]\npath = \"/echo\"\nnamespace = \"try\"\nendpoints = [{ methods = [\"GET\"], handler = \"echo\", access = \"public\" }]\n";
    std::fs::write(server.path("site.toml"), more).expect("a file");
    std::thread::sleep(std::time::Duration::from_millis(700));
    assert_eq!(server.get("/try/v1/echo").status, 404, "nobody watches");
    let told = std::process::Command::new("kill").args(["-HUP", &server.pid().to_string()]).status().expect("kill");
    assert!(told.success());
    let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while server.get("/try/v1/echo").status != 200 {
        assert!(std::time::Instant::now() < end, "the new route answers");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn types_of_blocks_are_data() {
    let server = Server::with(&["site.prefix=wp"]);
    let all = server.admin("GET", "/wp/v2/block-types", None).body;
    let names: Vec<&str> = all.as_array().expect("a list").iter().filter_map(|block| block["name"].as_str()).collect();
    assert!(names.len() >= 90 && names.contains(&"core/paragraph") && names.contains(&"core/navigation"));
    for (route, found) in
        [("/core", names.len()), ("?namespace=core", names.len()), ("/else", 0), ("?namespace=else", 0)]
    {
        let list = server.admin("GET", &format!("/wp/v2/block-types{route}"), None).body;
        assert_eq!(list.as_array().expect("a list").len(), found, "{route}");
    }
    let one = server.admin("GET", "/wp/v2/block-types/core/heading", None).body;
    assert_eq!((&one["attributes"]["level"]["type"], &one["is_dynamic"]), (&json!("number"), &json!(false)));
    let base = format!("{}/wp/v2/block-types", server.rest);
    let links = json!({"collection": [{"href": base}], "self": [{"href": format!("{base}/core/heading")}], "up": [{"href": format!("{base}/core")}]});
    assert_eq!(one["_links"], links);
    assert_eq!(server.admin("GET", "/wp/v2/block-types/core/none", None).code(), "rest_block_type_invalid");
    let author = server.user("anna", "author");
    assert_eq!(server.ask("GET", "/wp/v2/block-types", Some(&author), None).status, 200);
    assert_eq!(server.get("/wp/v2/block-types").code(), "rest_block_type_cannot_view");
}
