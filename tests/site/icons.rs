//! Icons: those of the shipped set, and own ones in a collection of their own.

use super::server::Server;
use serde_json::json;

const OWN: &str = r#"
[resources.icon_collections.options]
"+entries" = [{ slug = "desk", label = "Desk", description = "" }]

[resources.icons.options]
"+entries" = [
  { name = "desk/lamp", label = "Reading LAMP", collection = "desk", content = '<svg viewBox="0 0 9 9" onload="x()"><script>x()</script><path d="M1 1z" style="fill:red" fill-rule="evenodd"/><image href="http://x.example"/><polygon points="1,2 3,4" stroke="red"/></svg>' },
]
"#;

#[test]
fn icons_are_shapes_and_own_ones_are_found_beside_the_shipped_set() {
    let server = Server::with(&["site.prefix=wp"]);
    std::fs::write(server.path("site.toml"), OWN).expect("a file");
    let server = server.restart_with(&["site.prefix=wp"]);
    let all = server.admin("GET", "/wp/v2/icons?per_page=3&page=2", None);
    let icons = all.body.as_array().unwrap_or_else(|| panic!("{}", all.text));
    assert_eq!((icons.len(), all.header("x-wp-total")), (89, None), "pages are taken and ignored");
    let shape = regex::Regex::new(
        r#"^<svg xmlns="[^"]*" viewbox="0 0 24 24">(<(path|polygon)( [a-z-]+="[^"<>]*")+ />)+</svg>$"#,
    );
    let shape = shape.expect("a pattern");
    for icon in icons.iter().filter(|icon| icon["collection"] == "core") {
        let drawing = icon["content"].as_str().expect("a text");
        assert!(shape.is_match(drawing), "{icon}");
    }
    let names = |query: &str| {
        let found = server.admin("GET", &format!("/wp/v2/icons{query}"), None);
        let list = found.body.as_array().unwrap_or_else(|| panic!("{}", found.text)).clone();
        list.iter().filter_map(|icon| icon["name"].as_str()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names("/desk"), "desk/lamp");
    assert_eq!(names("?collection=desk&search=lamp"), "desk/lamp", "labels are searched in any case");
    assert_eq!(names("?search=DESK"), "desk/lamp core/desktop");
    assert_eq!(names("/core?search=lamp"), "");
    let lamp = server.admin("GET", "/wp/v2/icons/desk/lamp?context=embed", None).body;
    let drawing =
        "<svg viewbox=\"0 0 9 9\">x()<path d=\"M1 1z\" fill-rule=\"evenodd\" /><polygon points=\"1,2 3,4\" /></svg>";
    assert_eq!(lamp, json!({"name": "desk/lamp", "label": "Reading LAMP", "content": drawing, "collection": "desk"}));
    let writer = server.user("writer", "contributor");
    let collections = server.ask("GET", "/wp/v2/icon-collections?search=nothing&_fields=slug", Some(&writer), None);
    assert_eq!((collections.status, collections.body), (200, json!([{"slug": "core"}, {"slug": "desk"}])));
    let odd = server.admin("GET", "/wp/v2/icons?collection=Desk!", None);
    assert_eq!((odd.status, odd.code()), (400, "rest_invalid_param"));
}
