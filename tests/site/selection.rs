//! `_fields` only removes: what is left is what the whole answer has.

use super::server::Server;
use serde_json::{Value, json};

/// Something in each collection.
fn fill(server: &Server) {
    let made = |route: &str, body: Value| {
        let made = server.admin("POST", route, Some(&body));
        assert!(made.status < 300, "{route}: {}", made.text);
        made.body["id"].clone()
    };
    let tag = made("/wp/v2/tags", json!({"name": "Red"}));
    let above = made("/wp/v2/categories", json!({"name": "Above"}));
    let category = made("/wp/v2/categories", json!({"name": "Below", "parent": above}));
    let content = "<!-- wp:paragraph --><p>Words <a href=\"/\">and</a> a link</p><!-- /wp:paragraph -->";
    let post = made(
        "/wp/v2/posts",
        json!({"title": "A <b>post</b>", "content": content, "status": "publish", "tags": [tag], "categories": [category],
            "format": "aside", "sticky": true}),
    );
    made("/wp/v2/posts", json!({"title": "Locked", "content": content, "status": "publish", "password": "x"}));
    made("/wp/v2/posts", json!({"title": "", "content": content, "status": "draft"}));
    let page = made("/wp/v2/pages", json!({"title": "A page", "content": content, "status": "publish"}));
    made("/wp/v2/pages", json!({"title": "Below", "status": "publish", "parent": page}));
    let draft = made("/wp/v2/pages", json!({"title": "Draft"}));
    made("/wp/v2/pages", json!({"title": "Below a draft", "status": "publish", "parent": draft}));
    made("/wp/v2/blocks", json!({"title": "A block", "content": content, "status": "publish"}));
    made("/wp/v2/navigation", json!({"title": "Ways", "content": content, "status": "publish"}));
    made("/wp/v2/template-parts", json!({"slug": "part", "title": "Part", "content": content, "area": "header"}));
    made("/wp/v2/templates", json!({"slug": "whole", "title": "Whole", "content": content}));
    let comment = made("/wp/v2/comments", json!({"post": post, "content": "First."}));
    made("/wp/v2/comments", json!({"post": post, "content": "Second.", "parent": comment}));
    let menu = made("/wp/v2/menus", json!({"name": "Menu"}));
    for (kind, object, id) in
        [("post_type", "post", &post), ("taxonomy", "category", &category), ("post_type", "page", &page)]
    {
        let body =
            json!({"title": "", "type": kind, "object": object, "object_id": id, "menus": menu, "status": "publish"});
        made("/wp/v2/menu-items", body);
    }
    let own =
        json!({"title": "Own", "type": "custom", "url": "https://example.org/", "menus": menu, "status": "publish"});
    made("/wp/v2/menu-items", own);
    let archive =
        json!({"title": "", "type": "post_type_archive", "object": "post", "menus": menu, "status": "publish"});
    made("/wp/v2/menu-items", archive);
    let mut png = Vec::new();
    image::DynamicImage::new_rgb8(4, 2)
        .write_to(&mut std::io::Cursor::new(&mut png), image::ImageFormat::Png)
        .expect("a picture");
    let url = format!("{}/wp/v2/media?post={post}&caption=About", server.rest);
    let headers = [("content-disposition", "attachment; filename=a.png")];
    let picture = server.send("POST", &url, Some(&server.admin), Some(("image/png", png)), &headers);
    assert_eq!(picture.status, 201, "{}", picture.text);
    server.admin("POST", &format!("/wp/v2/posts/{post}"), Some(&json!({"featured_media": picture.body["id"]})));
}

#[test]
fn every_field_alone_is_as_in_the_whole_answer() {
    const COLLECTIONS: [&str; 13] = [
        "posts",
        "pages",
        "media",
        "blocks",
        "navigation",
        "template-parts",
        "templates",
        "comments",
        "menus",
        "menu-items",
        "categories",
        "tags",
        "users",
    ];
    let server = Server::with(&["site.prefix=wp"]);
    fill(&server);
    let mut compared = 0;
    for collection in COLLECTIONS {
        for context in ["view", "edit", "embed"] {
            let route = format!("/wp/v2/{collection}?context={context}");
            let whole = server.admin("GET", &route, None).body;
            let whole = whole.as_array().unwrap_or_else(|| panic!("{route}: {whole}"));
            let keys: Vec<&String> = whole.first().and_then(|item| item.as_object()).expect("items").keys().collect();
            for key in keys {
                let alone = server.admin("GET", &format!("{route}&_fields={key}"), None).body;
                let alone = alone.as_array().unwrap_or_else(|| panic!("{route} {key}: {alone}"));
                assert_eq!(alone.len(), whole.len(), "{route} {key}");
                for (alone, whole) in alone.iter().zip(whole) {
                    assert_eq!(alone.get(key), whole.get(key), "{route} {key} of {whole:#}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn under_wp_names_reach_into_lists_by_position_and_some_members_are_selected_whole() {
    let server = Server::with(&["site.prefix=wp"]);
    fill(&server);
    let shown = |path: &str, fields: &str| server.admin("GET", &format!("/wp/v2/{path}_fields={fields}"), None).body;
    let list = |fields: &str| shown("posts?per_page=1&", fields)[0].clone();
    let href = list("_links.self.0.href")["_links"]["self"].clone();
    assert_eq!(href.as_array().map(|links| links[0].as_object().map(|link| link.len())), Some(Some(1)), "{href}");
    assert_eq!(list("_links.self.href"), json!({"_links": {"self": []}}));
    assert_eq!(list("class_list.nothing"), json!({"class_list": []}));
    assert_eq!(list("class_list.1"), json!({"class_list": {"1": "post"}}));
    assert_eq!(list("title.nothing"), json!({"title": []}));
    assert_eq!(list("nothing"), json!([]));
    assert_eq!(list("_embedded"), json!([]), "nothing is embedded");
    let post = &server.get("/wp/v2/posts?per_page=1").body[0]["id"];
    assert!(
        server.admin("PUT", &format!("/wp/v2/posts/{post}"), Some(&json!({"content": "Other words"}))).status < 300
    );
    let past = |fields: &str| shown(&format!("posts/{post}/revisions?"), fields)[0].clone();
    assert_eq!(past("_links"), json!([]), "the link is the parent's");
    assert!(past("parent,_links")["_links"]["parent"].is_array());
    assert_eq!(server.get("/wp/v2/posts?_fields[]=").body[0], json!([]));
    assert_eq!(list("type%20status"), json!({"type": "post", "status": "publish"}));
    // A part of a member that is there whole is not read.
    assert_eq!(list("type,type.x,status"), json!({"type": "post"}));
    for (path, part, whole) in [
        ("taxonomies/category?context=edit&", "labels.name", "labels"),
        ("users/1?", "avatar_urls.24", "avatar_urls"),
        ("users?", "avatar_urls.24", "avatar_urls"),
        ("comments?per_page=1&", "content.rendered", "content"),
        ("categories/1?", "meta.x", "meta"),
    ] {
        let first = |document: Value| if document.is_array() { document[0].clone() } else { document };
        assert!(first(shown(path, part)).get(whole).is_none(), "{path}{part}");
        assert!(first(shown(path, whole)).get(whole).is_some(), "{path}{whole}");
    }
    assert_eq!(
        shown("statuses/publish?", "slug.x").as_object().map(|all| all.keys().cloned().collect()),
        Some(vec!["_links".to_owned()])
    );
    let server = Server::start();
    let post = json!({"title": "T", "status": "publish"});
    assert_eq!(server.admin("POST", "/cms/v2/posts", Some(&post)).status, 201);
    let own = server.get("/cms/v2/posts?per_page=1&_fields=_links.self.href").body;
    assert!(own[0]["_links"]["self"][0]["href"].is_string(), "{own}");
}
