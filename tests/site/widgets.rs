//! Widgets of a site: their settings, their order, and the places that they are in.

use super::server::{Answer, Server};
use serde_json::{Value, json};

/// A theme with a place for widgets.
const PLACE: &str = r#"
[resources.sidebars.options]
"+entries" = [
  { id = "side", name = "Side", description = "", class = "", status = "active", widgets = [], before_title = "<h2>", after_title = "</h2>", before_widget = "<section id=\"%1$s\" class=\"%2$s\">", after_widget = "</section>" },
]
"#;

fn with_a_place() -> Server {
    let server = Server::with(&["site.prefix=wp"]);
    std::fs::write(server.path("site.toml"), PLACE).expect("a file");
    server.restart_with(&["site.prefix=wp"])
}

fn make(server: &Server, kind: &str, place: &str, raw: Value) -> Answer {
    let body = json!({"id_base": kind, "sidebar": place, "instance": {"raw": raw}});
    server.admin("POST", "/wp/v2/widgets", Some(&body))
}

#[test]
fn widgets_are_made_changed_and_moved_to_the_unused_ones() {
    let server = with_a_place();
    let made = make(&server, "text", "side", json!({"title": "A <b>b</b>", "text": "x <i>y</i>", "zzz": 1}));
    assert_eq!((made.status, &made.body["id"]), (201, &json!("text-2")), "{}", made.text);
    let raw = json!({"title": "A b", "text": "x <i>y</i>", "filter": false});
    assert_eq!(made.body["instance"]["raw"], raw, "the settings that the type declares");
    let shown = made.body["rendered"].as_str().expect("HTML");
    assert!(shown.starts_with("<section id=\"text-2\" class=\"widget_text\"><h2>A b</h2>"), "{shown}");
    assert!(shown.contains("x <i>y</i>") && shown.ends_with("</section>"), "{shown}");
    let form = made.body["rendered_form"].as_str().expect("HTML");
    assert!(form.contains("name=\"widget-text[2][title]\" value=\"A b\""), "{form}");

    // The server takes back what it has encoded; what somebody else has, it does not.
    let stored = made.body["instance"].clone();
    let sent = json!({"id_base": "text", "instance": {"encoded": stored["encoded"], "hash": stored["hash"]}});
    let copy = server.admin("POST", "/wp/v2/widgets", Some(&sent));
    assert_eq!((copy.status, &copy.body["id"], &copy.body["instance"]["raw"]), (201, &json!("text-3"), &raw));
    assert_eq!((&copy.body["sidebar"], &copy.body["rendered"]), (&json!("wp_inactive_widgets"), &json!("")));
    let forged = json!({"id_base": "text", "instance": {"encoded": stored["encoded"], "hash": "0"}});
    assert_eq!(server.admin("POST", "/wp/v2/widgets", Some(&forged)).code(), "rest_invalid_widget");

    let form = json!({"form_data": "widget-text%5B2%5D%5Btitle%5D=From+a+form"});
    let changed = server.admin("PUT", "/wp/v2/widgets/text-2", Some(&form));
    assert_eq!(changed.body["instance"]["raw"]["title"], "From a form", "{}", changed.text);
    let view = server.admin("GET", "/wp/v2/widgets/text-2", None).body;
    assert!(view.get("instance").is_none() && view.get("rendered_form").is_none(), "{view}");
    assert_eq!(view["_links"]["self"][0]["targetHints"]["allow"], json!(["GET", "POST", "PUT", "PATCH", "DELETE"]));

    let unused = server.admin("DELETE", "/wp/v2/widgets/text-2", None);
    assert_eq!((unused.status, &unused.body["sidebar"]), (200, &json!("wp_inactive_widgets")));
    let gone = server.admin("DELETE", "/wp/v2/widgets/text-2?force=true", None);
    assert_eq!((gone.status, &gone.body["previous"]["id"]), (200, &json!("text-2")));
    assert_eq!(server.admin("GET", "/wp/v2/widgets/text-2", None).code(), "rest_widget_not_found");
    let listed = server.admin("GET", "/wp/v2/widgets?_fields=id,sidebar", None).body;
    assert_eq!(listed, json!([{"id": "text-3", "sidebar": "wp_inactive_widgets"}]));
}

#[test]
fn places_hold_widgets_in_an_order() {
    let server = with_a_place();
    for (kind, raw) in [
        ("block", json!({"content": "<!-- wp:paragraph --><p>One</p><!-- /wp:paragraph -->"})),
        ("search", json!({})),
        ("recent-posts", json!({"number": 3})),
    ] {
        assert_eq!(make(&server, kind, "side", raw).status, 201, "{kind}");
    }
    let ids = |place: &str| server.admin("GET", &format!("/wp/v2/sidebars/{place}"), None).body["widgets"].clone();
    assert_eq!(ids("side"), json!(["recent-posts-2", "search-2", "block-2"]), "the newest first");
    let order = json!({"widgets": ["block-2", "recent-posts-2", "nothing-1"]});
    let arranged = server.admin("PUT", "/wp/v2/sidebars/side", Some(&order));
    assert_eq!((arranged.status, &arranged.body["widgets"]), (200, &json!(["block-2", "recent-posts-2"])));
    assert_eq!((ids("side"), ids("wp_inactive_widgets")), (json!(["block-2", "recent-posts-2"]), json!(["search-2"])));
    let embedded = server.admin("GET", "/wp/v2/sidebars/side?_embed=1", None).body;
    let shown = &embedded["_embedded"]["wp:widget"][0];
    assert_eq!((&shown[0]["id"], &shown[1]["id"]), (&json!("block-2"), &json!("recent-posts-2")), "{embedded}");
    assert!(shown[0]["rendered"].as_str().is_some_and(|html| html.contains(">One</p>")), "{embedded}");
    let editor = server.user("eve", "editor");
    for (method, route, body) in [
        ("GET", "widgets/block-2", None),
        ("POST", "widgets", Some(json!({"id_base": "text"}))),
        ("PUT", "sidebars/side", Some(json!({"widgets": []}))),
        ("POST", "widget-types/text/encode", Some(json!({}))),
    ] {
        let refused = server.ask(method, &format!("/wp/v2/{route}"), Some(&editor), body.as_ref());
        assert_eq!((refused.status, refused.code()), (403, "rest_cannot_manage_widgets"), "{method} {route}");
    }
}

#[test]
fn settings_that_fit_no_type_are_refused() {
    let server = with_a_place();
    for (body, code) in [
        (json!({}), "rest_invalid_widget"),
        (json!({"id_base": "none"}), "rest_invalid_widget"),
        (json!({"id": "none-3"}), "rest_invalid_widget"),
        (json!({"id_base": "text", "instance": {}}), "rest_invalid_widget"),
        (json!({"id_base": "text", "instance": {"raw": "x"}}), "rest_invalid_param"),
        (json!({"id_base": "text", "instance": {"raw": {"text": "x".repeat(70_000)}}}), "rest_invalid_param"),
    ] {
        let refused = server.admin("POST", "/wp/v2/widgets", Some(&body));
        assert_eq!((refused.status, refused.code()), (400, code), "{:.80}", body.to_string());
    }
    let elsewhere = make(&server, "text", "no-such-place", json!({}));
    assert_eq!((elsewhere.status, &elsewhere.body["sidebar"]), (201, &json!("wp_inactive_widgets")));
    let named = json!({"id": "search-9", "instance": {"raw": {"title": "<script>x</script>"}}});
    let named = server.admin("POST", "/wp/v2/widgets", Some(&named));
    assert_eq!((&named.body["id"], &named.body["id_base"]), (&json!("search-9"), &json!("search")));
    assert_eq!(make(&server, "search", "", json!({})).body["id"], "search-10", "numbers are not used twice");
    let again = server.admin("POST", "/wp/v2/widgets", Some(&json!({"id": "search-9", "sidebar": ""})));
    assert_eq!((again.status, &again.body["id"]), (201, &json!("search-9")), "one that is there is changed");
}

#[test]
fn an_editor_shows_settings_before_they_are_stored() {
    let server = with_a_place();
    let form = json!({"form_data": "widget-text%5B7%5D%5Btitle%5D=T&widget-text%5B7%5D%5Btext%5D=shown", "number": 4});
    let encoded = server.admin("POST", "/wp/v2/widget-types/text/encode", Some(&form)).body;
    assert_eq!(encoded["instance"]["raw"], json!({"title": "T", "text": "shown", "filter": false}), "{encoded}");
    assert!(encoded["preview"].as_str().is_some_and(|html| html.contains("shown")), "{encoded}");
    assert!(encoded["form"].as_str().is_some_and(|html| html.contains("value=\"T\"")), "{encoded}");
    let page = json!({"instance": {"encoded": encoded["instance"]["encoded"], "hash": encoded["instance"]["hash"]}});
    let page = server.admin("POST", "/wp/v2/widget-types/text/render", Some(&page)).body;
    assert!(page["preview"].as_str().is_some_and(|html| html.contains("shown</p>")), "{page}");
    let forged = json!({"instance": {"encoded": "e30=", "hash": "x"}});
    let refused = server.admin("POST", "/wp/v2/widget-types/text/encode", Some(&forged));
    assert_eq!((refused.status, refused.code()), (400, "rest_invalid_widget"));
    assert_eq!(server.admin("GET", "/wp/v2/widgets", None).body, json!([]), "nothing is stored");
}
