//! Templates and template parts: records that are identified by the theme and their slug.

use super::server::Server;
use serde_json::{Value, json};

#[test]
fn templates_are_known_by_theme_and_slug() {
    let server = Server::with(&["site.prefix=wp"]);
    let body = json!({"slug": "page-about", "title": "About", "content": "<!-- wp:paragraph --><p>x</p><!-- /wp:paragraph -->"});
    let made = server.admin("POST", "/wp/v2/templates", Some(&body));
    assert_eq!((made.status, &made.body["id"]), (201, &json!("plain//page-about")), "{}", made.text);
    let own = format!("{}/wp/v2/templates/plain//page-about", server.rest);
    assert_eq!(made.header("location"), Some(own.as_str()));
    assert_eq!(made.body["_links"]["self"][0]["href"], json!(own));
    for address in ["plain//page-about", "plain/page-about", "plain%2F%2Fpage-about"] {
        let read = server.admin("GET", &format!("/wp/v2/templates/{address}?context=edit"), None);
        assert_eq!((read.status, &read.body["content"]["block_version"]), (200, &json!(1)), "{address}: {}", read.text);
    }
    let facts =
        ["source", "origin", "type", "theme", "has_theme_file", "is_custom"].map(|name| made.body[name].clone());
    assert_eq!(json!(facts), json!(["custom", null, "wp_template", "plain", false, true]));

    let changed = server.admin("PUT", "/wp/v2/templates/plain//page-about", Some(&json!({"content": "<p>y</p>"})));
    assert_eq!((changed.status, &changed.body["content"]["raw"]), (200, &json!("<p>y</p>")));
    let past = server.admin("GET", "/wp/v2/templates/plain//page-about/revisions", None);
    assert_eq!((past.status, past.body.as_array().map(Vec::len)), (200, Some(1)), "{}", past.text);
    let told = ["id", "type", "slug", "parent", "source"].map(|name| past.body[0][name].clone());
    assert_eq!(json!(told), json!(["plain//page-about", "wp_template", "page-about", made.body["wp_id"], "custom"]));
    assert_eq!(past.body[0]["content"]["raw"], "<p>y</p>");
    assert_ne!(past.body[0]["wp_id"], made.body["wp_id"], "the revision has a number of its own");

    for (query, found) in [
        ("slug=page-about-us", json!("plain//page-about")),
        ("slug=single-post-hello", json!("plain//single")),
        ("slug=category-news", json!("plain//index")),
        ("slug=anything&is_custom=true", json!("plain//page")),
        ("slug=", Value::Null),
    ] {
        let answer = server.admin("GET", &format!("/wp/v2/templates/lookup?{query}"), None);
        assert_eq!((answer.status, answer.body.get("id").cloned().unwrap_or_default()), (200, found), "{query}");
    }
    let all = server.admin("GET", "/wp/v2/templates", None);
    let ids: Vec<&Value> = all.body.as_array().expect("a list").iter().map(|one| &one["id"]).collect();
    assert_eq!(json!(ids), json!(["plain//page-about", "plain//index", "plain//single", "plain//page"]));
    assert_eq!(all.header("x-wp-total"), None, "no pages, no totals");

    assert_eq!(server.admin("DELETE", "/wp/v2/templates/plain//page-about", None).body["status"], "trash");
    for (method, address) in [("GET", "plain//page-about"), ("PUT", "other//page-about"), ("DELETE", "plain//none")] {
        let gone =
            server.admin(method, &format!("/wp/v2/templates/{address}"), Some(&json!({})).filter(|_| method == "PUT"));
        assert_eq!((gone.status, gone.code()), (404, "rest_template_not_found"), "{method} {address}");
    }
    let refused = server.admin("POST", "/wp/v2/templates", Some(&json!({"title": "No slug"})));
    assert_eq!(refused.code(), "rest_missing_callback_param");
}

/// Chosen members of a document, in the order in which they are named.
fn members(document: &Value, names: &[&str]) -> Value {
    json!(names.iter().map(|name| document[*name].clone()).collect::<Vec<_>>())
}

#[test]
fn parts_of_the_theme_are_changed_and_brought_back() {
    let server = Server::with(&["site.prefix=wp"]);
    let part = "/wp/v2/template-parts/plain//header";
    let facts = ["source", "origin", "wp_id", "has_theme_file", "author", "author_text", "original_source", "date"];
    let theirs = json!(["theme", null, 0, true, 0, "Plain", "theme", null]);
    let first = server.admin("GET", part, None).body;
    assert_eq!(members(&first, &facts), theirs);
    assert!(first["_links"].get("version-history").is_none(), "{first}");
    for (method, below) in [("DELETE", "?force=true"), ("GET", "/revisions"), ("POST", "/autosaves")] {
        let body = json!({"content": "x"});
        let refused = server.admin(method, &format!("{part}{below}"), Some(&body).filter(|_| method == "POST"));
        assert_eq!((refused.status, refused.code()), (400, "rest_invalid_template"), "{method} {below}");
    }

    let changed = server.admin("PUT", part, Some(&json!({"content": "mine"})));
    assert_eq!(changed.status, 200, "{}", changed.text);
    let own = members(&changed.body, &["source", "origin", "has_theme_file", "author_text", "title", "area", "slug"]);
    let title = json!({"raw": "Header", "rendered": "Header"});
    assert_eq!(own, json!(["custom", "theme", true, "Plain", title, "header", "header"]));
    let listed = server.admin("GET", "/wp/v2/template-parts?_fields=id,source", None).body;
    let expected = json!([{"id": "plain//header", "source": "custom"}, {"id": "plain//footer", "source": "theme"}]);
    assert_eq!(listed, expected, "a changed part is listed once");
    let again = server.admin("PUT", part, Some(&json!({"content": ""})));
    assert_eq!(again.body["content"]["raw"], "", "an empty text is a text");

    // The editor resets a part by saying whose it is.
    let reset = server.admin("PUT", part, Some(&json!({"content": "ignored", "source": "theme"})));
    assert_eq!((reset.status, &reset.body["content"]["raw"]), (200, &first["content"]["raw"]));
    assert_eq!(members(&server.admin("GET", part, None).body, &facts), theirs);

    server.admin("PUT", part, Some(&json!({"content": "mine again"})));
    let gone = server.admin("DELETE", &format!("{part}?force=true"), None);
    assert_eq!((gone.status, &gone.body["previous"]["content"]["raw"]), (200, &json!("mine again")));
    assert_eq!(server.admin("GET", part, None).body["source"], "theme", "behind a deleted part is the theme's");
}

#[test]
fn revisions_of_templates_are_deleted_for_good() {
    let server = Server::with(&["site.prefix=wp"]);
    let template = "/wp/v2/templates/plain//own";
    server.admin("POST", "/wp/v2/templates", Some(&json!({"slug": "own", "content": "1"})));
    server.admin("PUT", template, Some(&json!({"content": "2"})));
    server.admin("PUT", template, Some(&json!({"content": "3"})));
    let past = server.admin("GET", &format!("{template}/revisions"), None).body;
    let hints = &past[0]["_links"]["self"][0]["targetHints"]["allow"];
    assert_eq!(hints, &json!(["GET", "DELETE"]), "{past}");
    let one = format!("{template}/revisions/{}", past[0]["wp_id"]);
    let editor = server.user("eve", "editor");
    assert_eq!(server.ask("DELETE", &one, Some(&editor), None).code(), "rest_cannot_delete");
    assert_eq!(server.admin("DELETE", &one, None).code(), "rest_trash_not_supported");
    let deleted = server.admin("DELETE", &format!("{one}?force=true"), None);
    assert_eq!((deleted.status, &deleted.body["previous"]["content"]["raw"]), (200, &json!("3")), "{}", deleted.text);
    assert_eq!(server.admin("GET", &one, None).code(), "rest_post_invalid_id");
    let left = server.admin("GET", template, None);
    assert_eq!(left.body["_links"]["version-history"][0]["count"], 1, "{}", left.text);
}

#[test]
fn callers_who_edit_anything_read_templates_in_the_edit_context() {
    let server = Server::with(&["site.prefix=wp"]);
    let (author, subscriber) = (server.user("anna", "author"), server.user("sid", "subscriber"));
    for route in ["templates?context=edit", "templates/plain//index?context=edit"] {
        assert_eq!(server.ask("GET", &format!("/wp/v2/{route}"), Some(&author), None).status, 200, "{route}");
        let refused = server.ask("GET", &format!("/wp/v2/{route}"), Some(&subscriber), None);
        assert_eq!((refused.status, refused.code()), (403, "rest_cannot_manage_templates"), "{route}");
    }
}

#[test]
fn parts_are_found_by_area_and_strangers_see_none() {
    let server = Server::with(&["site.prefix=wp"]);
    for (slug, area) in [("top", "header"), ("bottom", "footer")] {
        let body = json!({"slug": slug, "area": area, "content": "x"});
        assert_eq!(server.admin("POST", "/wp/v2/template-parts", Some(&body)).status, 201);
    }
    let found = server.admin("GET", "/wp/v2/template-parts?area=footer&_fields=id", None).body;
    assert_eq!(found, json!([{"id": "plain//bottom"}, {"id": "plain//footer"}]));
    let author = server.user("anna", "author");
    for (route, who, status) in [
        ("template-parts", None, 401),
        ("template-parts/plain//top", None, 401),
        ("template-parts", Some(&author), 200),
    ] {
        let answer = server.ask("GET", &format!("/wp/v2/{route}"), who, None);
        assert_eq!(answer.status, status, "{route}");
        assert!(status == 200 || answer.code() == "rest_cannot_manage_templates", "{}", answer.text);
    }
    let refused =
        server.ask("POST", "/wp/v2/template-parts", Some(&author), Some(&json!({"slug": "a", "content": "x"})));
    assert_eq!((refused.status, refused.code()), (403, "rest_cannot_manage_templates"));
}

#[test]
fn the_site_has_styles_of_its_own() {
    let server = Server::with(&["site.prefix=wp"]);
    let post = server.admin("POST", "/wp/v2/posts", Some(&json!({"title": "first"})));
    assert_eq!(post.body["id"], 1, "an empty database keeps its numbers for what is imported");
    let server = server.restart_with(&["site.prefix=wp"]);
    let theme = server.admin("GET", "/wp/v2/themes?status=active", None).body;
    let link = theme[0]["_links"]["wp:user-global-styles"][0]["href"].as_str().expect("a link").to_owned();
    let own = link.strip_prefix(&server.rest).expect("of this server");
    let styles = json!({"color": {"text": "red"}});
    let changed = server.admin("POST", own, Some(&json!({"styles": styles})));
    assert_eq!((changed.status, &changed.body["styles"], &changed.body["settings"]), (200, &styles, &json!({})));
    assert_eq!(server.admin("GET", own, None).body["styles"], styles);
    server.admin("POST", own, Some(&json!({"styles": {"color": {"text": "blue"}}})));
    let past = server.admin("GET", &format!("{own}/revisions"), None).body;
    let told: Vec<&Value> = past.as_array().expect("a list").iter().map(|r| &r["styles"]["color"]["text"]).collect();
    assert_eq!(told, ["blue", "red"]);
    let one = server.admin("GET", &format!("{own}/revisions/{}", past[1]["id"]), None).body;
    assert_eq!((&one["styles"], &one["settings"]), (&styles, &json!({})));
    let (author, subscriber) = (server.user("anna", "author"), server.user("sid", "subscriber"));
    assert_eq!(server.ask("GET", own, Some(&author), None).status, 200);
    assert_eq!(server.ask("GET", own, Some(&subscriber), None).code(), "rest_cannot_view");
    let css = |css: Value| server.admin("POST", own, Some(&json!({"styles": {"css": css}})));
    assert_eq!(css(json!("a::before{content:\"<b>\"}</stylesheet>")).status, 200);
    for ends in ["p{}</style>", "p{}</STYLE x", "p{}</sty", "p{}</style", "p{} <"] {
        assert_eq!(css(json!(ends)).code(), "rest_custom_css_illegal_markup", "{ends}");
    }
    assert_eq!(css(json!(5)).code(), "rest_custom_css_invalid_type");
    assert_eq!(server.admin("GET", "/wp/v2/global-styles/999", None).code(), "rest_global_styles_not_found");
    let of_theme = server.admin("GET", "/wp/v2/global-styles/themes/plain", None).body;
    assert_eq!((&of_theme["styles"], &of_theme["settings"]), (&json!({}), &json!({})));
    assert_eq!(server.admin("GET", "/wp/v2/global-styles/themes/none", None).code(), "rest_theme_not_found");
    assert_eq!(server.admin("GET", "/wp/v2/global-styles/themes/plain/variations", None).body, json!([]));
}

#[test]
fn what_is_empty_on_purpose_is_not_written_either() {
    let server = Server::with(&["site.prefix=wp"]);
    for (method, route, body, status, code) in [
        ("POST", "plugins", json!({"slug": "some"}), 403, "rest_cannot_install_plugin"),
        ("POST", "plugins", json!({}), 400, "rest_missing_callback_param"),
        ("PUT", "plugins/some/some", json!({"status": "active"}), 404, "rest_plugin_not_found"),
        ("DELETE", "plugins/some", Value::Null, 404, "rest_plugin_not_found"),
        ("PUT", "sidebars/some", json!({"widgets": []}), 404, "rest_sidebar_not_found"),
        ("POST", "widgets", json!({"sidebar": "some"}), 400, "rest_invalid_widget"),
        ("PUT", "widgets/some-1", json!({}), 404, "rest_widget_not_found"),
        ("DELETE", "widgets/some-1", Value::Null, 404, "rest_widget_not_found"),
        ("POST", "widget-types/some/encode", json!({}), 404, "rest_widget_type_invalid"),
        ("POST", "widget-types/some/render", json!({}), 404, "rest_widget_type_invalid"),
        ("GET", "block-directory/search?term=some", Value::Null, 200, ""),
        ("GET", "block-directory/search", Value::Null, 400, "rest_missing_callback_param"),
        ("GET", "pattern-directory/patterns?search=some", Value::Null, 200, ""),
    ] {
        let body = Some(&body).filter(|body| !body.is_null());
        let answer = server.admin(method, &format!("/wp/v2/{route}"), body);
        assert_eq!(answer.status, status, "{method} {route}: {}", answer.text);
        assert_eq!(answer.body.get("code").and_then(Value::as_str).unwrap_or(""), code, "{method} {route}");
        assert_eq!(
            server.ask(method, &format!("/wp/v2/{route}"), None, body).status,
            if status == 400 && code.contains("missing") { 400 } else { 401 }
        );
    }
    let own =
        server.admin("POST", "/wp/v2/posts", Some(&json!({"title": "Shown elsewhere", "status": "publish"}))).body;
    let address = own["link"].as_str().expect("an address");
    let shown = server.admin("GET", &format!("/oembed/1.0/proxy?url={address}"), None);
    assert_eq!(shown.body["title"], "Shown elsewhere", "{}", shown.text);
    let other = server.admin("GET", "/oembed/1.0/proxy?url=https://video.example/1", None);
    assert_eq!((other.status, other.code()), (404, "oembed_invalid_url"));
    assert_eq!(server.get(&format!("/oembed/1.0/proxy?url={address}")).status, 401);
}

#[test]
fn the_widgets_of_a_place_may_be_embedded() {
    let server = Server::with(&["site.prefix=wp"]);
    let places = server.admin("GET", "/wp/v2/sidebars", None).body;
    assert_eq!(places[0]["_links"]["wp:widget"][0]["embeddable"], true, "{places}");
}

#[test]
fn the_theme_says_what_editors_may_change() {
    let server = Server::with(&["site.prefix=wp"]);
    let theme = server.admin("GET", "/wp/v2/themes/plain", None).body;
    assert_eq!(theme["is_block_theme"], true, "{theme}");
    let kinds = theme["default_template_types"].as_array().expect("a list");
    assert!(kinds.iter().any(|kind| kind["slug"] == "single"), "{theme}");
    let export = |who: &Value| who["_links"]["wp:export-theme"][0].clone();
    assert_eq!(export(&theme)["targetHints"]["allow"], json!(["GET"]), "{theme}");
    let author = server.user("anna", "author");
    let seen = server.ask("GET", "/wp/v2/themes/plain", Some(&author), None).body;
    assert!(export(&seen)["href"].is_string() && export(&seen).get("targetHints").is_none(), "{seen}");
}

#[test]
fn a_revision_shows_what_the_server_makes_of_its_blocks() {
    let server = Server::with(&["site.prefix=wp"]);
    let link = |label: &str| json!({"content": format!("<!-- wp:navigation-link {{\"label\":\"{label}\",\"url\":\"/a\"}} /-->")});
    let made = server.admin("POST", "/wp/v2/navigation", Some(&link("Before"))).body;
    let route = format!("/wp/v2/navigation/{}", made["id"]);
    server.admin("PUT", &route, Some(&link("After")));
    let past = server.admin("GET", &format!("{route}/revisions"), None).body;
    let shown = past[0]["content"]["rendered"].as_str().expect("HTML");
    assert!(shown.contains(">After</span>"), "{past}");
    assert_eq!(past[0]["meta"], json!([]), "{past}");
}
