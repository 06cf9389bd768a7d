//! Requests that WordPress answers in its own way: what is taken, what is refused and with which code, what is shown.

use super::media::{png, upload};
use super::server::{Answer, Server};
use serde_json::{Value, json};

fn wordpress() -> Server {
    Server::with(&["site.prefix=wp"])
}

fn made(server: &Server, route: &str, body: Value) -> Value {
    let answer = server.admin("POST", &format!("/wp/v2/{route}"), Some(&body));
    assert_eq!(answer.status, 201, "{route} {body}: {}", answer.text);
    answer.body
}

/// The status, and the code of an error.
fn told(answer: &Answer) -> (u16, String) {
    let code = answer.body["code"].as_str().unwrap_or_default().to_owned();
    (answer.status, code)
}

fn is(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

#[test]
fn numbers_are_lists_of_one_item_and_late_days_count_on() {
    let server = wordpress();
    let tag = made(&server, "tags", json!({"name": "Moss"}))["id"].clone();
    let post = made(&server, "posts", json!({"title": "Fern", "tags": tag, "date": "2021-02-30T24:00:00"}));
    assert_eq!((&post["tags"], &post["date"]), (&json!([tag]), &json!("2021-03-03T00:00:00")));
    let route = format!("/wp/v2/posts/{}", post["id"]);
    assert_eq!(server.admin("PUT", &route, Some(&json!({"tags": false}))).body["tags"], json!([]));
    for refused in ["2021-02-32T00:00:00", "2021-13-01T00:00:00", "2021-02-01T25:00:00"] {
        assert_eq!(
            server.admin("PUT", &route, Some(&json!({"date": refused}))).code(),
            "rest_invalid_param",
            "{refused}"
        );
    }
    let strict = Server::start();
    let body = json!({"title": "Fern", "date": "2021-02-30T00:00:00"});
    assert_eq!(strict.admin("POST", "/cms/v2/posts", Some(&body)).code(), "rest_invalid_param");
}

#[test]
fn excerpts_have_as_many_words_as_the_request_says() {
    let server = wordpress();
    let post = made(&server, "posts", json!({"title": "P", "content": "one two three four", "status": "publish"}));
    let excerpt = |query: &str| {
        let answer = server.get(&format!("/wp/v2/posts/{}{query}", post["id"]));
        answer.body["excerpt"]["rendered"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(excerpt(""), "<p>one two three four</p>\n");
    assert_eq!(excerpt("?excerpt_length=2"), "<p>one two [&hellip;]</p>\n");
    assert_eq!(excerpt(""), "<p>one two three four</p>\n", "the short one is nobody else's");
}

#[test]
fn meta_values_are_checked_when_they_are_written() {
    let server = wordpress();
    let ask = |meta: Value| server.admin("POST", "/wp/v2/posts", Some(&json!({"title": "M", "meta": meta})));
    assert_eq!(told(&ask(json!({"footnotes": 5}))), is(400, "rest_invalid_type"));
    assert_eq!(ask(json!({"footnotes": null})).status, 201, "null takes away what is there");
    let whole = ask(json!("x"));
    assert_eq!(told(&whole), is(400, "rest_invalid_param"));
    assert_eq!((whole.body["data"]["params"]["meta"].is_string(), &whole.body["data"]["details"]), (true, &json!({})));
    let block = json!({"title": "B", "content": "x", "meta": {"wp_pattern_sync_status": "never"}});
    assert_eq!(server.admin("POST", "/wp/v2/blocks", Some(&block)).code(), "rest_not_in_enum");
    let user = server.admin("PUT", "/wp/v2/users/me", Some(&json!({"meta": {"persisted_preferences": 5}})));
    assert_eq!(told(&user), is(400, "rest_invalid_type"));
}

#[test]
fn templates_of_pages_are_checked_before_rights() {
    let server = wordpress();
    let page = made(&server, "pages", json!({"title": "P", "status": "publish"}));
    let route = format!("/wp/v2/pages/{}", page["id"]);
    let refused = server.ask("PUT", &route, None, Some(&json!({"template": "no-such"})));
    assert_eq!(told(&refused), is(400, "rest_invalid_param"));
    assert!(refused.body["data"]["params"]["template"].is_string(), "{}", refused.text);
    assert_eq!(server.admin("PUT", &route, Some(&json!({"template": ""}))).status, 200);
}

#[test]
fn the_state_that_a_record_has_is_taken() {
    let server = wordpress();
    let post = made(&server, "posts", json!({"title": "P", "status": "publish"}));
    let route = format!("/wp/v2/posts/{}", post["id"]);
    let trash = json!({"status": "trash"});
    assert_eq!(
        server.admin("PUT", &route, Some(&trash)).code(),
        "rest_invalid_param",
        "only a deletion moves it there"
    );
    assert_eq!(server.admin("DELETE", &route, None).body["status"], "trash");
    let again = server.admin("PUT", &route, Some(&trash));
    assert_eq!((again.status, &again.body["status"]), (200, &json!("trash")));
}

#[test]
fn comments_follow_their_record_to_the_trash() {
    let server = wordpress();
    let post = made(&server, "posts", json!({"title": "P", "status": "publish"}));
    let body = json!({"post": post["id"], "content": "held", "author_name": "Zoe", "author_email": "zoe@example.org"});
    let comment = made(&server, "comments", body);
    let route = format!("/wp/v2/comments/{}", comment["id"]);
    assert_eq!(server.admin("PUT", &route, Some(&json!({"author_email": ""}))).body["author_email"], "");
    let nothing = server.admin("POST", "/wp/v2/comments", Some(&json!({"post": post["id"], "content": 5})));
    assert_eq!(nothing.code(), "rest_comment_content_invalid", "a number is no text");

    server.admin("DELETE", &format!("/wp/v2/posts/{}", post["id"]), None);
    let below = server.admin("GET", &route, None).body;
    assert_eq!(below["status"], "post-trashed");
    let link = below["link"].as_str().unwrap_or_default();
    assert!(link.ends_with(&format!("/?p={}/#comment-{}", post["id"], comment["id"])), "{link}");
}

#[test]
fn an_emptied_slug_of_a_user_follows_from_the_login() {
    let server = wordpress();
    let body =
        json!({"username": "Greta", "email": "greta@example.org", "password": "a good password", "slug": "other"});
    let user = made(&server, "users", body);
    assert_eq!(user["slug"], "other");
    let emptied = server.admin("PUT", &format!("/wp/v2/users/{}", user["id"]), Some(&json!({"slug": ""})));
    assert_eq!(emptied.body["slug"], "greta");
}

#[test]
fn missing_templates_are_a_matter_of_those_who_may_see_some() {
    let server = wordpress();
    let (subscriber, author) = (server.user("sam", "subscriber"), server.user("ada", "author"));
    let ask = |method: &str, who| server.ask(method, "/wp/v2/templates/plain//none", who, None);
    assert_eq!(told(&ask("GET", None)), is(401, "rest_cannot_manage_templates"));
    assert_eq!(told(&ask("DELETE", Some(&subscriber))), is(403, "rest_cannot_manage_templates"));
    let missing = ask("GET", Some(&author));
    assert_eq!((told(&missing), missing.header("allow")), (is(404, "rest_template_not_found"), Some("GET")));
    let missing = server.admin("DELETE", "/wp/v2/templates/plain//none", None);
    assert_eq!(missing.header("allow"), Some("GET, POST, PUT, PATCH, DELETE"));
}

#[test]
fn templates_keep_their_slug_and_state_and_are_signed() {
    let server = wordpress();
    let template = made(&server, "templates", json!({"slug": "single-tree", "title": "Tree", "content": "x"}));
    assert_eq!(template["author_text"], "admin");
    let route = "/wp/v2/templates/plain//single-tree";
    let change = json!({"slug": "else", "status": "draft", "content": "y"});
    let changed = server.admin("PUT", route, Some(&change)).body;
    assert_eq!(
        (&changed["slug"], &changed["status"], &changed["content"]["raw"]),
        (&json!("single-tree"), &json!("publish"), &json!("y"))
    );
    let past = server.admin("GET", &format!("{route}/revisions"), None).body;
    assert_eq!((&past[0]["status"], &past[0]["author_text"]), (&json!("inherit"), &json!("admin")));
    let own = past[0]["_links"]["self"][0]["href"].as_str().unwrap_or_default().to_owned();
    assert!(own.ends_with(&format!("{route}/revisions/{}", past[0]["wp_id"])), "{own}");
    let trashed = server.admin("DELETE", route, None).body;
    assert_eq!((&trashed["id"], &trashed["status"]), (&json!("plain//single-tree"), &json!("trash")));
    let left = server.admin("GET", "/wp/v2/templates?_fields=slug", None).text;
    assert!(!left.contains("single-tree"), "nothing of the trash: {left}");
}

#[test]
fn items_of_menus_report_all_that_is_missing() {
    let server = wordpress();
    let refused = server.admin("POST", "/wp/v2/menu-items", Some(&json!({})));
    assert_eq!(told(&refused), is(400, "rest_title_required"));
    assert_eq!(refused.body["additional_errors"][0]["code"], "rest_url_required");
    let menu = made(&server, "menus", json!({"name": "Main"}))["id"].clone();
    let body =
        json!({"title": "Out", "url": "https://example.org", "menus": menu, "parent": 4711, "status": "pending"});
    let item = made(&server, "menu-items", body);
    assert_eq!((&item["parent"], &item["status"]), (&json!(4711), &json!("draft")));
    let route = format!("/wp/v2/menu-items/{}", item["id"]);
    assert_eq!(server.admin("PUT", &route, Some(&json!({"parent": item["id"]}))).body["parent"], 0, "never itself");
}

#[test]
fn what_is_not_shown_is_closed_and_what_is_not_there_is_not_found() {
    let server = wordpress();
    for taxonomy in ["post_format", "link_category"] {
        let route = format!("/wp/v2/taxonomies/{taxonomy}");
        assert_eq!(told(&server.get(&route)), is(401, "rest_forbidden"));
        assert_eq!(told(&server.admin("GET", &route, None)), is(403, "rest_forbidden"));
    }
    let none = server.admin("GET", "/wp/v2/global-styles/themes/none/variations", None);
    assert_eq!(told(&none), is(404, "rest_theme_not_found"));
    let faces = server.admin("GET", "/wp/v2/font-families/4711/font-faces", None);
    assert_eq!((faces.status, faces.header("allow")), (404, Some("GET, POST")));
    let patterns = made(&server, "wp_pattern_category", json!({"name": "Hero"}));
    let link = patterns["link"].as_str().unwrap_or_default();
    assert!(link.ends_with("/?taxonomy=wp_pattern_category&term=hero"), "{link}");
}

#[test]
fn pages_below_drafts_without_a_slug_have_addresses() {
    let server = wordpress();
    let draft = made(&server, "pages", json!({"title": "Draft"}));
    let page = made(&server, "pages", json!({"title": "Leaf", "status": "publish", "parent": draft["id"]}));
    assert_eq!(page["link"], json!(format!("{}/leaf/", server.site)));
}

#[test]
fn deletions_show_the_requested_fields_of_what_was() {
    let server = wordpress();
    let tag = made(&server, "tags", json!({"name": "Moss"}));
    let gone =
        server.admin("DELETE", &format!("/wp/v2/tags/{}?force=true&_fields=deleted,previous,name", tag["id"]), None);
    assert_eq!(gone.body, json!({"deleted": true, "previous": {"name": "Moss"}}));
}

#[test]
fn embeds_show_pictures_and_files_are_embedded() {
    let server = wordpress();
    let file = upload(&server, "leaf.png", "image/png", png(400, 320)).body;
    let post = made(&server, "posts", json!({"title": "P", "status": "publish", "featured_media": file["id"]}));
    for url in [format!("{}/?p={}", server.site, post["id"]), format!("{}/?attachment_id={}", server.site, file["id"])]
    {
        let shown =
            server.get(&format!("/oembed/1.0/embed?maxwidth=200&url={}", url.replace('?', "%3F").replace('=', "%3D")));
        assert_eq!((shown.status, &shown.body["thumbnail_url"]), (200, &file["source_url"]), "{}", shown.text);
        assert_eq!((&shown.body["thumbnail_width"], &shown.body["thumbnail_height"]), (&json!(200), &json!(160)));
    }
}

#[test]
fn options_describe_schemas_with_all_their_keywords() {
    let server = wordpress();
    let schema = |route: &str| server.ask("OPTIONS", &format!("/wp/v2/{route}"), None, None).body["schema"].clone();
    let template = schema("templates")["properties"].clone();
    assert_eq!((&template["slug"]["minLength"], &template["is_custom"]["type"]), (&json!(1), &json!("bool")));
    assert_eq!(schema("menu-items")["properties"]["type"]["default"], "custom");
    assert_eq!(schema("block-types")["properties"]["icon"]["default"], Value::Null);
    assert_eq!(
        schema("block-types")["properties"]["icon"].as_object().map(|icon| icon.contains_key("default")),
        Some(true)
    );
    assert_eq!(schema("block-types")["properties"]["icon"].get("x-described"), None);
    let styles = server.ask("OPTIONS", "/wp/v2/global-styles/themes/plain", None, None).body;
    assert_eq!(styles["endpoints"][0]["allow_batch"], json!({"v1": false}));
}

#[test]
fn dynamic_blocks_link_to_their_renderer() {
    let server = wordpress();
    let links =
        |name: &str| server.admin("GET", &format!("/wp/v2/block-types/core/{name}"), None).body["_links"].clone();
    let shown = json!([{"href": format!("{}/wp/v2/block-renderer/core/archives?context=edit", server.rest)}]);
    assert_eq!(links("archives")["wp:render-block"], shown);
    assert_eq!(links("group").get("wp:render-block"), None);
}

#[test]
fn a_parent_below_zero_is_none_and_a_record_that_is_its_own_autosave_links_to_no_parent() {
    let server = Server::with(&["site.prefix=wp"]);
    let made = |route: &str, body: Value| {
        let made = server.admin("POST", &format!("/wp/v2/{route}"), Some(&body));
        assert!(made.status < 300, "{route}: {}", made.text);
        made.body
    };
    let post = made("posts", json!({"title": "T", "content": "x", "status": "publish"}))["id"].clone();
    let comment = made("comments", json!({"post": post, "content": "First.", "parent": -1}));
    assert_eq!((&comment["parent"], comment["_links"].get("in-reply-to")), (&json!(0), None), "{comment}");
    let draft = made("posts", json!({"title": "Draft", "content": "x"}))["id"].clone();
    let saved = made(&format!("posts/{draft}/autosaves"), json!({"content": "y"}));
    assert_eq!((&saved["parent"], saved.get("_links")), (&json!(0), None), "{saved}");
    let tag = made("tags", json!({"name": "Words", "slug": "0", "parent": null}));
    assert_eq!(tag["slug"], "words", "a slug that is 0 says nothing, and neither does a parent that is null");
    let other = made(&format!("posts/{post}/autosaves"), json!({"content": "y"}));
    assert!(other["_links"]["parent"].is_array(), "{other}");
}

#[test]
fn a_slug_that_is_chosen_for_a_draft_is_kept_for_it() {
    let server = wordpress();
    let slug = |body: Value| made(&server, "posts", body)["slug"].clone();
    let draft = made(&server, "posts", json!({"title": "D", "slug": "tern", "status": "draft"}));
    assert_eq!(draft["slug"], "tern");
    assert_eq!(slug(json!({"title": "tern", "status": "publish"})), "tern-2");
    assert_eq!(slug(json!({"title": "E", "slug": "tern", "status": "pending"})), "tern-3");
    assert_eq!(slug(json!({"title": "Plover", "status": "draft"})), "", "nobody chose one");
    assert_eq!(slug(json!({"title": "Plover", "status": "publish"})), "plover");
    let route = format!("/wp/v2/posts/{}", draft["id"]);
    let published = server.admin("PUT", &route, Some(&json!({"status": "publish"})));
    assert_eq!(published.body["slug"], "tern");
    server.admin("DELETE", &route, None);
    assert_eq!(slug(json!({"title": "D", "slug": "tern", "status": "draft"})), "tern", "the trash gives it up");
}

#[test]
fn nobody_writes_markup_into_the_comment_of_somebody_who_may_not() {
    let server = wordpress();
    let subscriber = server.user("reader", "subscriber");
    let post = made(&server, "posts", json!({"title": "P", "status": "publish"}))["id"].clone();
    let body = json!({"post": post, "content": "Hello"});
    let theirs = server.ask("POST", "/wp/v2/comments", Some(&subscriber), Some(&body)).body["id"].clone();
    let own = made(&server, "comments", body)["id"].clone();
    let script = json!({"content": "<script>x()</script><em>y</em>"});
    for (comment, stored) in [(&theirs, "x()<em>y</em>"), (&own, "<script>x()</script><em>y</em>")] {
        let answer = server.admin("PUT", &format!("/wp/v2/comments/{comment}"), Some(&script));
        assert_eq!(answer.body["content"]["raw"], stored, "{}", answer.text);
    }
    let empty =
        server.admin("PUT", &format!("/wp/v2/comments/{theirs}"), Some(&json!({"content": "<iframe></iframe>"})));
    assert_eq!(told(&empty), is(400, "rest_comment_content_invalid"), "nothing of it is allowed");
}

#[test]
fn null_takes_a_file_off_its_record() {
    let server = wordpress();
    let post = made(&server, "posts", json!({"title": "P", "status": "publish"}))["id"].clone();
    let file = upload(&server, "a.png", "image/png", png(4, 4)).body["id"].clone();
    let route = format!("/wp/v2/media/{file}");
    for (sent, shown) in [(json!({"post": post}), post.clone()), (json!({"post": null}), Value::Null)] {
        assert_eq!(server.admin("PUT", &route, Some(&sent)).body["post"], shown, "{sent}");
    }
}

#[test]
fn a_site_that_stores_no_language_is_in_american_english() {
    let server = wordpress();
    assert_eq!(server.admin("PUT", "/wp/v2/settings", Some(&json!({"language": ""}))).body["language"], "");
    assert_eq!(server.admin("GET", "/wp/v2/users/me?context=edit", None).body["locale"], "en_US");
    let feed = server.send("GET", &format!("{}/feed/", server.site), None, None, &[]).text;
    assert!(feed.contains("<language>en-US</language>"), "{feed}");
}
