//! View configuration: what is declared for all, for a kind and for one entity.

use super::server::Server;
use serde_json::{Value, json};

const OWN: &str = r#"
[resources.view_config.options.views.changes."postType/post".merge]
default_view = { perPage = 50, fields = ["date"] }
view_list = [{ slug = "mine", title = "Mine" }, { slug = "all", view = { perPage = 5 } }]

[resources.view_config.options.views.changes."postType/post".replace.default_view]
fields = ["slug", "author"]

[resources.view_config.options.views.changes."postType/post".remove]
form = { fields = ["date", "format"] }
default_view = ["sort"]

[[resources.view_config.options.views.changes."postType/post".lists]]
from = [{ resource = "tags", slug = "slug", title = "name" }]
also = [{ slug = "none", title = "Without a tag" }]
first = ["none"]
filter = { field = "tags", operator = "isAny" }

[resources.view_config.options.views.changes."shop/orders".set.default_view]
type = "table"
perPage = 7
"#;

fn config(server: &Server, query: &str) -> Value {
    let answer = server.admin("GET", &format!("/wp/v2/view-config?{query}"), None);
    assert_eq!((answer.status, answer.header("allow")), (200, Some("GET")), "{}", answer.text);
    answer.body
}

#[test]
fn own_changes_are_laid_over_what_is_declared_for_all() {
    let server = Server::with(&["site.prefix=wp"]);
    let before = config(&server, "kind=postType&name=post");
    assert_eq!(before["view_list"], json!([{"title": "All posts", "slug": "all"}]));
    std::fs::write(server.path("site.toml"), OWN).expect("a file");
    let server = server.restart_with(&["site.prefix=wp"]);
    for name in ["Tea", "Bread"] {
        assert_eq!(server.admin("POST", "/wp/v2/tags", Some(&json!({"name": name}))).status, 201);
    }
    let post = config(&server, "kind=postType&name=post");
    let view = json!({"type": "table", "filters": [], "perPage": 50, "fields": ["slug", "author", "date"], "titleField": "title"});
    assert_eq!(post["default_view"], view);
    let tag = |slug: &str, title: &str| {
        let filter = json!({"field": "tags", "operator": "isAny", "value": slug, "isLocked": true});
        json!({"title": title, "slug": slug, "view": {"filters": [filter]}})
    };
    let views = json!([{"title": "All posts", "slug": "all", "view": {"perPage": 5}}, {"slug": "mine", "title": "Mine"},
        tag("none", "Without a tag"), tag("bread", "Bread"), tag("tea", "Tea")]);
    assert_eq!(post["view_list"], views);
    let fields = post["form"]["fields"].as_array().expect("a list");
    assert!(!fields.contains(&json!("date")) && !fields.contains(&json!("format")), "{fields:?}");
    assert_eq!(before["form"]["fields"].as_array().map(Vec::len), Some(fields.len() + 2));
    let orders = config(&server, "kind=shop&name=orders");
    assert_eq!((&orders["default_view"], &orders["form"]), (&json!({"type": "table", "perPage": 7}), &json!({})));
    assert_eq!(
        config(&server, "kind=taxonomy&name=post_tag&_fields=name,form"),
        json!({"name": "post_tag", "form": {}})
    );
    assert_eq!(config(&server, "kind=root&name=site")["view_list"][0]["title"], "All items");
}

#[test]
fn who_edits_the_entities_sees_how_they_are_listed() {
    let server = Server::with(&["site.prefix=wp"]);
    let writer = server.user("writer", "contributor");
    let ask = |query: &str, user: Option<&(String, String)>| {
        let answer = server.ask("GET", &format!("/wp/v2/view-config?{query}"), user, None);
        (answer.status, answer.code().to_owned())
    };
    let is = |status: u16, code: &str| (status, code.to_owned());
    assert_eq!(ask("kind=postType&name=post", Some(&writer)).0, 200);
    assert_eq!(ask("kind=postType&name=page", Some(&writer)), is(403, "rest_cannot_read"));
    assert_eq!(ask("kind=taxonomy&name=category", Some(&writer)), is(403, "rest_cannot_read"));
    assert_eq!(ask("kind=root&name=site", Some(&writer)), is(403, "rest_cannot_read"));
    assert_eq!(ask("kind=other&name=thing", Some(&writer)).0, 200);
    assert_eq!(ask("kind=postType&name=post", None), is(401, "rest_cannot_read"));
    assert_eq!(ask("kind=taxonomy&name=post", Some(&writer)), is(404, "rest_view_config_invalid_entity"));
    assert_eq!(ask("kind=postType&name=custom_css", None), is(404, "rest_view_config_invalid_entity"));
    assert_eq!(ask("kind=postType", Some(&writer)), is(400, "rest_missing_callback_param"));
    let parts = config(&server, "kind=postType&name=wp_template_part");
    let slugs: Vec<&str> =
        parts["view_list"].as_array().expect("a list").iter().filter_map(|v| v["slug"].as_str()).collect();
    assert_eq!(slugs[..3], ["all-parts", "header", "footer"]);
    assert_eq!(parts["default_layouts"]["grid"], json!({"layout": {}}));
}
