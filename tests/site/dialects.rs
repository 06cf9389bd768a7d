//! One database file serves both dialects: names are stored neutrally and spelled on the way out.

use super::server::Server;
use serde_json::{Value, json};

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
    assert_eq!(server.get("/try/v1/echo").status, 404);
    let told = std::process::Command::new("kill").args(["-HUP", &server.pid().to_string()]).status().expect("kill");
    assert!(told.success());
    let log = server.log_until("reloaded the declarations");
    assert_eq!(log.matches("reloaded the declarations").count(), 1, "only the signal reloads them: {log}");
    assert_eq!(server.get("/try/v1/echo").status, 200);
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
    assert_eq!((&one["attributes"]["level"]["type"], &one["is_dynamic"]), (&json!("number"), &json!(true)));
    let base = format!("{}/wp/v2/block-types", server.rest);
    let own = json!({"href": format!("{base}/core/heading"), "targetHints": {"allow": ["GET"]}});
    let links = one["_links"].as_object().expect("links");
    assert_eq!(links["collection"], json!([{"href": base}]));
    assert_eq!((&links["self"], &links["up"]), (&json!([own]), &json!([{"href": format!("{base}/core")}])));
    assert_eq!(server.admin("GET", "/wp/v2/block-types/core/none", None).code(), "rest_block_type_invalid");
    let author = server.user("anna", "author");
    assert_eq!(server.ask("GET", "/wp/v2/block-types", Some(&author), None).status, 200);
    assert_eq!(server.get("/wp/v2/block-types").code(), "rest_block_type_cannot_view");
}

#[test]
fn a_text_stands_for_its_object_except_in_blocks() {
    let server = Server::start();
    for route in ["posts", "pages"] {
        let made = server.admin("POST", &format!("/cms/v2/{route}"), Some(&json!({"title": "T", "content": "C"})));
        assert_eq!((made.status, &made.body["title"]["raw"]), (201, &json!("T")), "{}", made.text);
        assert_eq!(made.body["content"]["raw"], "C");
    }
    let refused = server.admin("POST", "/cms/v2/blocks", Some(&json!({"title": "T", "content": 5})));
    let params = &refused.body["data"]["params"];
    assert_eq!(refused.code(), "rest_invalid_param");
    assert_eq!(params["title"], "title is not of type object, got a string; write {\"raw\": \"…\"}.");
    assert_eq!(params["content"], "content is not of type object, got a number; write {\"raw\": \"…\"}.");
    let server = server.restart_with(&["site.prefix=wp"]);
    let refused = server.admin("POST", "/wp/v2/posts", Some(&json!({"sticky": "x"})));
    assert_eq!(refused.body["data"]["params"]["sticky"], "sticky is not of type boolean.");
}

#[test]
fn null_fits_where_a_type_says_so() {
    let server = Server::start();
    let made = server.admin("POST", "/cms/v2/posts", Some(&json!({"title": "T", "slug": "t", "sticky": true})));
    let post = format!("/cms/v2/posts/{}", made.body["id"]);
    for property in ["title", "slug", "sticky", "author", "categories", "meta", "status", "featured_media"] {
        let refused = server.admin("PUT", &post, Some(&json!({property: null})));
        assert_eq!((refused.status, refused.code()), (400, "rest_invalid_param"), "{property}: {}", refused.text);
        let message = refused.body["data"]["params"][property].as_str().unwrap_or_default().to_owned();
        assert!(message.contains("is not of type"), "{message}");
    }
    assert_eq!(server.admin("PUT", &post, Some(&json!({"date": null}))).status, 200);
    assert_eq!(server.admin("GET", &post, None).body["slug"], "t");
    let server = server.restart_with(&["site.prefix=wp"]);
    let emptied = server.admin("PUT", &post.replace("cms", "wp"), Some(&json!({"title": null, "sticky": null})));
    assert_eq!((emptied.status, &emptied.body["sticky"]), (200, &json!(false)), "{}", emptied.text);
}

#[test]
fn wrong_credentials_are_refused_on_every_route() {
    let server = Server::start();
    let wrong = ("admin".to_owned(), "abcd efgh ijkl mnop qrst uvwx".to_owned());
    for route in ["/", "/cms/v2/posts", "/cms/v2/users/me", "/cms/v2/nothing"] {
        let refused = server.ask("GET", route, Some(&wrong), None);
        assert_eq!((refused.status, refused.code()), (401, "rest_invalid_credentials"), "{route}");
    }
    let log = server.log_until("credentials refused");
    assert!(log.contains("there is no such application password") && log.contains("login=admin"), "{log}");
    assert_eq!(server.get("/cms/v2/posts").status, 200, "who sends none is anonymous");
    let server = server.restart_with(&["dialect.refuse_wrong_credentials=false"]);
    assert_eq!(server.ask("GET", "/cms/v2/posts", Some(&wrong), None).status, 200);
    let server = server.restart_with(&["site.prefix=wp"]);
    assert_eq!(server.ask("GET", "/wp/v2/posts", Some(&wrong), None).status, 200);
}

#[test]
fn parameters_that_do_not_exist_are_named_where_a_request_asks() {
    let server = Server::start();
    assert_eq!(server.get("/cms/v2/posts?per_pgae=1").status, 200);
    let refused = server.get("/cms/v2/posts?per_pgae=1&_fields=id&strict");
    assert_eq!((refused.status, refused.code()), (400, "rest_invalid_param"));
    let params = json!({"per_pgae": "per_pgae is no parameter of this endpoint; did you mean per_page?"});
    assert_eq!(refused.body["data"]["params"], params);
    assert_eq!(server.get("/cms/v2/posts?per_page=1&_fields=id&strict").status, 200);
    let refused = server.admin("POST", "/cms/v2/posts?strict", Some(&json!({"titel": "T"})));
    assert!(refused.text.contains("did you mean title?"), "{}", refused.text);
    let server = server.restart_with(&["dialect.refuse_unknown_parameters=true"]);
    assert_eq!(server.get("/cms/v2/posts?per_pgae=1").status, 400);
}

#[test]
fn json_under_another_name_is_recognised() {
    let server = Server::start();
    let send = |kind: &str, body: &str| {
        let url = format!("{}/cms/v2/posts", server.rest);
        server.send("POST", &url, Some(&server.admin), Some((kind, body.as_bytes().to_vec())), &[])
    };
    for kind in ["text/plain", "application/x-www-form-urlencoded"] {
        let refused = send(kind, "{\"title\": \"T\"}");
        assert_eq!((refused.status, refused.code()), (415, "rest_unsupported_media_type"), "{}", refused.text);
        assert!(refused.text.contains("Content-Type: application/json"));
    }
    assert_eq!(send("application/x-www-form-urlencoded", "title=T").status, 201);
    assert_eq!(send("application/x-www-form-urlencoded", "title=%7BT").status, 201);
}

#[test]
fn the_root_lists_the_namespace_of_the_server() {
    let server = Server::start();
    let root = server.get("/").body;
    assert!(root["namespaces"].as_array().expect("a list").contains(&json!("server/v1")), "{}", root["namespaces"]);
    assert!(root["routes"]["/server/v1/audit"].is_object());
    let root = server.restart_with(&["site.prefix=wp"]).get("/").body;
    assert!(!root["namespaces"].as_array().expect("a list").contains(&json!("server/v1")));
}

#[test]
fn addresses_and_numbers_are_read_leniently_under_wp() {
    let server = Server::with(&["site.prefix=wp"]);
    let profile = server.admin("POST", "/wp/v2/users/me", Some(&json!({"url": ""})));
    assert_eq!((profile.status, &profile.body["url"]), (200, &json!("")), "{}", profile.text);
    let menu = server.admin("POST", "/wp/v2/menus", Some(&json!({"name": "M"}))).body["id"].clone();
    let item = json!({"title": "Top", "url": "#", "menus": menu});
    let item = server.admin("POST", "/wp/v2/menu-items", Some(&item));
    assert_eq!((item.status, &item.body["url"]), (201, &json!("#")), "{}", item.text);
    let post =
        server.admin("POST", "/wp/v2/posts", Some(&json!({"title": "P", "status": "publish"}))).body["id"].clone();
    let comment =
        json!({"post": post, "content": "x", "author_name": "A", "author_email": "a@b.example", "author_url": ""});
    assert_eq!(server.admin("POST", "/wp/v2/comments", Some(&comment)).status, 201);
    assert_eq!(server.get("/wp/v2/posts?per_page=%20%201").body.as_array().map(Vec::len), Some(1));
    for id in ["9223372036854775808", "99999999999999999999999999"] {
        let answer = server.get(&format!("/wp/v2/posts/{id}"));
        assert_eq!((answer.status, answer.code()), (404, "rest_post_invalid_id"), "{id}");
    }
    let server = Server::start();
    assert_eq!(server.admin("POST", "/cms/v2/users/me", Some(&json!({"url": "#"}))).code(), "rest_invalid_param");
    assert_eq!(server.get("/cms/v2/posts?per_page=%20%201").code(), "rest_invalid_param");
}

#[test]
fn small_rules_of_wordpress() {
    let server = Server::with(&["site.prefix=wp"]);
    let at = |query: &str| server.send("GET", &format!("{}/?rest_route={query}", server.site), None, None, &[]);
    assert_eq!((at("/wp/v2/posts").status, at("wp/v2/posts").code()), (200, "rest_no_route"));
    let mine = server.admin("GET", "/wp/v2/users/me", None);
    let no_cache = "no-cache, must-revalidate, max-age=0, no-store, private";
    assert_eq!(mine.header("cache-control"), Some(no_cache));
    assert_eq!(mine.header("expires"), Some("Wed, 11 Jan 1984 05:00:00 GMT"));
    assert_eq!(server.get("/wp/v2/posts").header("expires"), None);
    assert_eq!(mine.body["meta"], json!([]));
    let edited = server.admin("GET", "/wp/v2/users/me?context=edit", None).body;
    assert_eq!(edited["meta"], json!({"persisted_preferences": {}}));

    for (who, code) in [("", "rest_invalid_param"), ("?context=edit", "block_cannot_read")] {
        assert_eq!(server.get(&format!("/wp/v2/block-renderer/core/latest-posts{who}")).code(), code, "{who}");
    }
    let described = server.admin("OPTIONS", "/wp/v2/users/1/application-passwords", None).body;
    let deletes =
        described["endpoints"].as_array().and_then(|all| all.iter().find(|e| e["methods"] == json!(["DELETE"])));
    assert_eq!(deletes.map(|endpoint| &endpoint["args"]), Some(&json!([])), "{described}");
    let writer = server.user("writer", "author");
    let other = server.ask("GET", "/wp/v2/users/1/application-passwords", Some(&writer), None);
    assert_eq!(
        (other.status, other.code()),
        (403, "rest_cannot_list_application_passwords"),
        "the path names the user"
    );

    let types = server.ask("GET", "/wp/v2/types?context=edit", Some(&writer), None).body;
    let types: Vec<&str> = types.as_object().expect("an object").keys().map(String::as_str).collect();
    assert!(types.contains(&"post") && !types.contains(&"page") && !types.contains(&"wp_template"), "{types:?}");
    let labels = server.admin("GET", "/wp/v2/types/page?context=edit", None).body["labels"].clone();
    assert_eq!(
        (&labels["add_new_item"], &labels["item_trashed"]),
        (&json!("Add page"), &json!("The page is in the trash."))
    );
    assert!(
        labels
            .as_object()
            .is_some_and(|labels| labels.len() > 30 && labels.values().all(|l| !l.to_string().contains('{')))
    );

    let locked = json!({"title": "Safe", "status": "publish", "password": "pw"});
    let link = server.admin("POST", "/wp/v2/posts", Some(&locked)).body["link"].as_str().expect("a link").to_owned();
    let described = server.get(&format!("/oembed/1.0/embed?url={link}"));
    assert_eq!(described.body["title"], "Protected: Safe", "{}", described.text);
}

#[test]
fn settings_that_do_not_fit_are_adjusted_or_left_alone_under_wp() {
    let server = Server::with(&["site.prefix=wp"]);
    let set = |key: &str, value: Value| server.admin("POST", "/wp/v2/settings", Some(&json!({key: value})));
    set("timezone", json!("Europe/Berlin"));
    set("url", json!("https://example.org"));
    for (key, given, stored) in [
        ("timezone", json!("Nowhere/City"), json!("Europe/Berlin")),
        ("timezone", json!("europe/berlin"), json!("Europe/Berlin")),
        ("timezone", json!("UTC+3"), json!("Europe/Berlin")),
        ("timezone", json!("Etc/GMT+3"), json!("Etc/GMT+3")),
        ("timezone", json!(""), json!("")),
        ("url", json!("nowhere"), json!("https://example.org")),
        ("url", json!("HTTP://other.example/a b"), json!("http://other.example/a%20b")),
        ("posts_per_page", json!(0), json!(1)),
        ("posts_per_page", json!(-1), json!(-1)),
        ("posts_per_page", json!(-5), json!(5)),
        ("start_of_week", json!(-1), json!(1)),
        ("start_of_week", json!(99), json!(99)),
        ("page_on_front", json!(-3), json!(3)),
        ("page_for_posts", json!(-3), json!(3)),
        ("site_icon", json!(-1), json!(1)),
        ("default_category", json!(-4), json!(4)),
        ("date_format", json!("F j <script>x</script>"), json!("F j x")),
        ("date_format", json!("  "), json!("  ")),
        ("date_format", json!("&amp; <"), json!("&amp; ")),
        ("time_format", json!("g:i & a"), json!("g:i &amp; a")),
        ("title", json!("  A <b>B</b> "), json!("  A &lt;b&gt;B&lt;/b&gt; ")),
    ] {
        let sent = set(key, given.clone());
        assert_eq!((sent.status, &sent.body[key]), (200, &stored), "{key}: {given}");
        assert_eq!(server.admin("GET", "/wp/v2/settings", None).body[key], stored, "{key}: {given}");
    }
    // A record gets no category where the default one does not exist.
    set("default_category", json!(999_999));
    let made = server.admin("POST", "/wp/v2/posts", Some(&json!({"title": "T", "status": "publish"})));
    assert_eq!((made.status, &made.body["categories"]), (201, &json!([])), "{}", made.text);
    let edited = server.admin("POST", &format!("/wp/v2/posts/{}", made.body["id"]), Some(&json!({"title": "U"})));
    assert_eq!((edited.status, &edited.body["categories"]), (200, &json!([])), "{}", edited.text);
}
