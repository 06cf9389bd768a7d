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
fn formats_that_records_have_are_found_under_wp() {
    let server = Server::with(&["site.prefix=wp"]);
    let find = |query: &str| server.get(&format!("/wp/v2/search?type=post-format{query}"));
    assert_eq!(find("").body, serde_json::json!([]));
    for format in ["gallery", "aside"] {
        let body = serde_json::json!({"title": format, "format": format, "status": "publish"});
        assert_eq!(server.admin("POST", "/wp/v2/posts", Some(&body)).status, 201);
    }
    let all = find("");
    assert_eq!(
        (all.header("x-wp-total"), &all.body[0]["id"], &all.body[1]["id"]),
        (Some("2"), &"aside".into(), &"gallery".into())
    );
    let one = find("&search=gall").body[0].take();
    assert_eq!((&one["title"], &one["type"]), (&"Gallery".into(), &"post-format".into()));
    assert_eq!(one["url"], format!("{}/type/gallery/", server.site));
    assert_eq!(find("&per_page=1&page=2").body[0]["id"], "gallery");
    assert_eq!(server.get("/cms/v2/search?type=post-format").status, 404, "another dialect");
}
