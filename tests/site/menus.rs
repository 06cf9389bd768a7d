//! Classic menus: menus are terms, their items refer to records, to terms, or to a URL of their own.

use super::server::Server;
use serde_json::{Value, json};

const PLACES: &str = "[resources.menu_locations.options]\nkey = \"name\"\nholder = { resource = \"menus\", property = \"locations\", shown_as = \"menu\" }\n\
    entries = [{ name = \"primary\", description = \"At the top\" }, { name = \"footer\", description = \"Below\" }]\n";

fn site() -> Server {
    let server = Server::with(&["site.prefix=wp"]);
    std::fs::write(server.path("site.toml"), PLACES).expect("a file");
    server.restart_with(&["site.prefix=wp"])
}

fn made(server: &Server, route: &str, body: Value) -> Value {
    let answer = server.admin("POST", &format!("/wp/v2/{route}"), Some(&body));
    assert_eq!(answer.status, 201, "{route} {body}: {}", answer.text);
    answer.body
}

#[test]
fn items_tell_what_they_stand_for() {
    let server = site();
    let menu = made(&server, "menus", json!({"name": "Main"}))["id"].clone();
    let page = made(&server, "pages", json!({"title": "About us", "status": "publish"}));
    let term = made(&server, "categories", json!({"name": "News"}));
    let bodies = [
        json!({"title": "Elsewhere", "url": "https://example.org/", "classes": ["a", "b c"], "target": "_blank"}),
        json!({"type": "post_type", "object": "page", "object_id": page["id"], "menu_order": 2}),
        json!({"type": "taxonomy", "object": "category", "object_id": term["id"], "title": "All news", "menu_order": 3}),
        json!({"type": "post_type_archive", "object": "post", "menu_order": 4}),
        json!({"type": "post_type", "object": "page", "object_id": 987654, "menu_order": 5}),
    ];
    for body in &bodies {
        let mut body = body.clone();
        body["menus"] = menu.clone();
        made(&server, "menu-items", body);
    }
    let list = server.admin("GET", &format!("/wp/v2/menu-items?menus={menu}"), None);
    let told: Vec<Value> = list
        .body
        .as_array()
        .expect("items")
        .iter()
        .map(|item| {
            json!([item["title"]["rendered"], item["url"], item["object"], item["type_label"], item["invalid"]])
        })
        .collect();
    let site = &server.site;
    assert_eq!(
        json!(told),
        json!([
            ["Elsewhere", "https://example.org/", "custom", "Custom Link", false],
            ["About us", format!("{site}/about-us/"), "page", "Page", false],
            ["All news", format!("{site}/category/news/"), "category", "Category", false],
            ["Archive of posts", site, "post", "Post Type Archive", false],
            ["#987654 (no title)", "", "page", "Page", true],
        ])
    );
    let first = &list.body[0];
    assert_eq!((&first["classes"], &first["xfn"]), (&json!(["a", "bc"]), &json!([""])));
    assert_eq!(first["object_id"], first["id"], "what stands for nothing else stands for itself");

    let embedded = server.admin("GET", &format!("/wp/v2/menu-items/{}?_embed=1", list.body[1]["id"]), None).body;
    assert_eq!(embedded["_embedded"]["wp:menu-item-object"][0]["title"]["rendered"], "About us");
    assert_eq!(embedded["_embedded"]["wp:term"][0][0]["name"], "Main");
    assert_eq!(embedded["_links"]["wp:menu-item-object"][0]["post_type"], "page");

    let renamed = server.admin("PUT", &format!("/wp/v2/pages/{}", page["id"]), Some(&json!({"title": "Who we are"})));
    assert_eq!(renamed.status, 200);
    let item = format!("/wp/v2/menu-items/{}", list.body[1]["id"]);
    assert_eq!(server.admin("GET", &item, None).body["title"]["rendered"], "Who we are");
    server.admin("DELETE", &format!("/wp/v2/pages/{}?force=true", page["id"]), None);
    assert_eq!(server.admin("GET", &item, None).status, 404, "an item goes with what it stands for");
    server.admin("DELETE", &format!("/wp/v2/menus/{menu}?force=true"), None);
    let left = server.admin("GET", "/wp/v2/menu-items", None).body;
    assert_eq!(left, json!([]), "items go with their menu");
}

#[test]
fn bad_menus_and_items_are_refused() {
    let server = site();
    let menu = made(&server, "menus", json!({"name": "Main", "description": "At the top"}));
    made(&server, "menus", json!({"name": "Other"}));
    let item = made(&server, "menu-items", json!({"title": "a", "url": "https://example.org/"}));
    assert!(item.get("menus").is_none(), "in no menu: {item}");
    let at = |route: &str, value: &Value| format!("{route}/{}", value["id"]);
    let url = json!("https://example.org/");
    let refused: &[(&str, &str, Value, u16, &str)] = &[
        ("POST", "menus", json!({"name": "Main"}), 400, "menu_exists"),
        ("PUT", &at("menus", &menu), json!({"name": "Other"}), 500, "menu_exists"),
        ("POST", "menus", json!({}), 400, "rest_missing_callback_param"),
        ("POST", "menus", json!({"name": "L", "locations": ["nowhere"]}), 400, "rest_invalid_param"),
        ("POST", "menu-items", json!({"title": "a"}), 400, "rest_url_required"),
        ("POST", "menu-items", json!({"url": url}), 400, "rest_title_required"),
        ("POST", "menu-items", json!({"title": "a", "url": url, "menus": 999}), 400, "invalid_menu_id"),
        ("PUT", &at("menu-items", &item), json!({"title": ""}), 400, "rest_title_required"),
        ("DELETE", &at("menu-items", &item), Value::Null, 501, "rest_trash_not_supported"),
        ("DELETE", &at("menus", &menu), Value::Null, 501, "rest_trash_not_supported"),
        ("GET", "menus/999", Value::Null, 404, "rest_term_invalid"),
    ];
    for (method, route, body, status, code) in refused {
        let body = (!body.is_null()).then_some(body);
        let answer = server.admin(method, &format!("/wp/v2/{route}"), body);
        assert_eq!((answer.status, answer.code()), (*status, *code), "{method} {route} {body:?}");
    }
    let kept = server.admin("PUT", &format!("/wp/v2/{}", at("menus", &menu)), Some(&json!({"name": "Head"}))).body;
    assert_eq!((&kept["slug"], &kept["description"]), (&json!("head"), &json!("At the top")));
}

#[test]
fn a_place_shows_one_menu() {
    let server = site();
    let first = made(&server, "menus", json!({"name": "One", "locations": ["primary", "footer"]}))["id"].clone();
    let place = |name: &str| server.admin("GET", &format!("/wp/v2/menu-locations/{name}"), None).body["menu"].clone();
    assert_eq!((place("primary"), place("footer")), (first.clone(), first.clone()));
    let second = made(&server, "menus", json!({"name": "Two", "locations": ["primary"]}))["id"].clone();
    assert_eq!((place("primary"), place("footer")), (second, first.clone()));
    let left = server.admin("GET", &format!("/wp/v2/menus/{first}"), None).body;
    assert_eq!(left["locations"], json!(["footer"]), "what another menu got is gone here");
    server.admin("DELETE", &format!("/wp/v2/menus/{first}?force=true"), None);
    let places = server.admin("GET", "/wp/v2/menu-locations", None).body;
    let names: Vec<&String> = places.as_object().expect("an object").keys().collect();
    assert_eq!(names, ["primary", "footer"]);
    let menu = |name: &str| places[name]["_links"]["wp:menu"][0]["href"].clone();
    assert_eq!(menu("primary"), format!("{}/wp-json/wp/v2/menus/{}", server.site, place("primary")));
    assert_eq!((menu("footer"), &places["footer"]["menu"]), (Value::Null, &json!(0)), "no menu is there");
    assert_eq!(places["primary"]["_links"]["wp:menu"][0]["embeddable"], true);
    assert_eq!(
        places["primary"]["_links"]["collection"][0]["href"],
        format!("{}/wp-json/wp/v2/menu-locations", server.site)
    );
    let href = |name: &str| format!("{}/wp-json/wp/v2/menu-locations/{name}", server.site);
    let menu = server.admin("GET", &format!("/wp/v2/menus/{}?_embed", place("primary")), None).body;
    assert_eq!(menu["_links"]["wp:menu-location"], json!([{"embeddable": true, "href": href("primary")}]));
    assert_eq!(menu["_embedded"]["wp:menu-location"][0]["description"], "At the top");
    let third = made(&server, "menus", json!({"name": "Three"}));
    assert_eq!(third["_links"].get("wp:menu-location"), None);
    let embedded = server.admin("GET", "/wp/v2/menu-locations/primary?_embed", None).body;
    assert_eq!(embedded["_embedded"]["wp:menu"][0]["name"], "Two");
}

#[test]
fn forms_offer_the_declared_places() {
    let server = site();
    let description = server.admin("GET", "/console/v1/description", None).body;
    let resources = description["resources"].as_array().expect("a list");
    let menus = resources.iter().find(|one| one["name"] == "menus").expect("menus");
    let hint = &menus["fields"]["locations"];
    let labels = json!({"primary": "At the top", "footer": "Below"});
    assert_eq!((&hint["control"], &hint["labels"]), (&json!("checkboxes"), &labels));
}

#[test]
fn what_is_counted_in_a_record_or_term_does_not_keep_it() {
    let server = site();
    let menu = made(&server, "menus", json!({"name": "Main"}))["id"].clone();
    let term = made(&server, "categories", json!({"name": "News"}))["id"].clone();
    let post = made(&server, "posts", json!({"title": "One", "status": "publish", "categories": [term]}))["id"].clone();
    for n in 0..3 {
        made(&server, "comments", json!({"post": post, "content": format!("Said {n}")}));
    }
    for (kind, object, id) in [("post_type", "post", &post), ("taxonomy", "category", &term)] {
        made(&server, "menu-items", json!({"type": kind, "object": object, "object_id": id, "menus": menu}));
    }
    for (route, left) in [(format!("categories/{term}"), 1), (format!("posts/{post}"), 0)] {
        let gone = server.admin("DELETE", &format!("/wp/v2/{route}?force=true"), None);
        assert_eq!((gone.status, &gone.body["deleted"]), (200, &json!(true)), "{route}: {}", gone.text);
        let items = server.admin("GET", "/wp/v2/menu-items", None).body;
        assert_eq!(items.as_array().map(Vec::len), Some(left), "items go with what they stand for");
    }
    assert_eq!(server.admin("GET", "/wp/v2/comments", None).body, json!([]));
}

#[test]
fn items_for_what_is_not_there_are_refused() {
    let server = site();
    let menu = made(&server, "menus", json!({"name": "Main"}))["id"].clone();
    let check = |mut item: Value, code: &str| {
        item["menus"] = menu.clone();
        let answer = server.admin("POST", "/wp/v2/menu-items", Some(&item));
        assert_eq!((answer.status, answer.code()), (400, code), "{item}: {}", answer.text);
    };
    check(json!({"type": "post_type", "object_id": 987654}), "rest_post_invalid_id");
    check(json!({"type": "taxonomy", "object_id": 987654}), "rest_term_invalid_id");
    check(json!({"type": "post_type_archive", "object": "boat"}), "rest_post_invalid_type");
    check(json!({"type": "post_type_archive"}), "rest_post_invalid_type");
    check(json!({"type": "custom", "url": "https://example.org/"}), "rest_title_required");
}

#[test]
fn menus_that_want_new_pages_get_an_item_for_each() {
    let server = Server::with(&["site.prefix=wp"]);
    let editor = server.user("erika", "editor");
    let wanting = made(&server, "menus", json!({"name": "Wants", "auto_add": true}))["id"].clone();
    made(&server, "menus", json!({"name": "Does not"}));
    let items = |menu: &Value| {
        let found = server.admin("GET", &format!("/wp/v2/menu-items?menus={menu}"), None).body;
        let shown = |item: &Value| json!([item["title"]["rendered"], item["type"], item["object"], item["menu_order"]]);
        found.as_array().expect("a list").iter().map(shown).collect::<Vec<_>>()
    };
    let page = |body: Value| {
        let made = server.ask("POST", "/wp/v2/pages", Some(&editor), Some(&body));
        assert_eq!(made.status, 201, "{}", made.text);
        made.body["id"].clone()
    };
    let above = page(json!({"title": "Harbour", "status": "publish"}));
    let draft = page(json!({"title": "Pier", "status": "draft"}));
    page(json!({"title": "Below", "status": "publish", "parent": above}));
    assert_eq!(items(&wanting), [json!(["Harbour", "post_type", "page", 1])], "no draft, and nothing below another");
    for status in ["publish", "draft", "publish"] {
        let changed =
            server.ask("PUT", &format!("/wp/v2/pages/{draft}"), Some(&editor), Some(&json!({"status": status})));
        assert_eq!(changed.status, 200, "{}", changed.text);
    }
    let expected = [json!(["Harbour", "post_type", "page", 1]), json!(["Pier", "post_type", "page", 2])];
    assert_eq!(items(&wanting), expected, "once, however often it is published");
    let all = server.admin("GET", "/wp/v2/menu-items", None);
    assert_eq!(all.header("x-wp-total"), Some("2"));
    let own = server.ask(
        "POST",
        "/wp/v2/menu-items",
        Some(&editor),
        Some(&json!({"title": "x", "url": "https://example.org/"})),
    );
    assert_eq!(own.status, 403, "items are not the editor's to make: {}", own.text);
}

#[test]
fn renaming_a_menu_to_a_taken_name_is_a_fault_without_data() {
    let server = site();
    made(&server, "menus", json!({"name": "Taken"}));
    let id = made(&server, "menus", json!({"name": "Other"}))["id"].clone();
    let created = server.admin("POST", "/wp/v2/menus", Some(&json!({"name": "Taken"})));
    assert_eq!((created.status, created.code(), &created.body["data"]["status"]), (400, "menu_exists", &json!(400)));
    for (name, code) in [("Taken", "menu_exists"), ("", "empty_term_name")] {
        let renamed = server.admin("PUT", &format!("/wp/v2/menus/{id}"), Some(&json!({"name": name})));
        assert_eq!((renamed.status, renamed.code(), &renamed.body["data"]), (500, code, &Value::Null), "{name}");
    }
    let nowhere =
        server.admin("POST", "/wp/v2/menus", Some(&json!({"name": "X", "locations": ["primary", "nowhere"]})));
    let detail = &nowhere.body["data"]["details"]["locations"];
    assert_eq!((nowhere.status, nowhere.code()), (400, "rest_invalid_param"));
    assert_eq!(detail["code"], json!("rest_invalid_menu_location"));
    assert_eq!(detail["data"], json!({"location": "nowhere"}));
}

#[test]
fn items_keep_titles_and_parents_and_refuse_what_is_no_menu_and_no_url() {
    let server = site();
    let menu = made(&server, "menus", json!({"name": "Main"}))["id"].clone();
    let page = |title: &str| made(&server, "pages", json!({"title": title, "status": "publish"}))["id"].clone();
    let (one, other) = (page("One"), page("Other"));
    let term = made(&server, "categories", json!({"name": "News"}))["id"].clone();
    let item = |body: Value| made(&server, "menu-items", body);
    let top = item(json!({"title": "Top", "url": "#", "menus": menu}))["id"].clone();
    let below = item(
        json!({"type": "post_type", "object": "page", "object_id": one, "title": "One", "menus": menu, "parent": top}),
    );
    let path = format!("/wp/v2/menu-items/{}", below["id"]);
    let titled = || server.admin("GET", &path, None).body["title"]["rendered"].clone();
    server.admin("PUT", &format!("/wp/v2/pages/{one}"), Some(&json!({"title": "Renamed"})));
    assert_eq!(titled(), "Renamed", "a title equal to the page's is the page's");
    server.admin("PUT", &path, Some(&json!({"object_id": other})));
    assert_eq!(titled(), "Renamed", "an item that leads elsewhere keeps its title");
    server.admin("PUT", &path, Some(&json!({"title": "Other"})));
    server.admin("PUT", &format!("/wp/v2/pages/{other}"), Some(&json!({"title": "Again"})));
    assert_eq!(titled(), "Again");
    server.admin("DELETE", &format!("/wp/v2/menu-items/{top}?force=true"), None);
    assert_eq!(server.admin("GET", &path, None).body["parent"], top, "the parent's number stays");

    let kind = item(json!({"type": "post_type", "object": "post", "object_id": other}));
    assert_eq!((&kind["invalid"], &kind["type_label"]), (&json!(false), &json!("Post")), "the record is there");
    let taxonomy = item(json!({"type": "taxonomy", "object": "post_tag", "object_id": term}));
    assert_eq!((&taxonomy["invalid"], &taxonomy["url"]), (&json!(true), &json!("")), "no tag has this number");
    let unknown = item(json!({"type": "taxonomy", "object": "post", "object_id": term}));
    assert_eq!((&unknown["invalid"], &unknown["type_label"]), (&json!(true), &json!("post")));
    let classes = item(json!({"title": "C", "url": "#", "classes": ["<b>", "é!"]}))["classes"].clone();
    assert_eq!(classes, json!(["b", ""]));

    let refused = |body: Value| server.admin("PUT", &path, Some(&body));
    let none = refused(json!({"menus": 0}));
    assert_eq!((none.status, none.code()), (403, "rest_cannot_assign_term"));
    let script = refused(json!({"url": "javascript:alert(1)"}));
    assert_eq!((script.status, script.code()), (400, "rest_invalid_param"));
    assert_eq!(script.body["data"]["details"]["url"]["code"], "rest_invalid_url");
}

#[test]
fn nobody_assigns_a_term_without_a_number_and_what_is_deleted_has_no_links() {
    let server = Server::with(&["site.prefix=wp"]);
    let tag = made(&server, "tags", json!({"name": "Blue"}))["id"].clone();
    for ids in [json!([0]), json!([tag, 0])] {
        let sent = server.admin("POST", "/wp/v2/posts", Some(&json!({"title": "T", "tags": ids})));
        assert_eq!((sent.status, sent.code()), (403, "rest_cannot_assign_term"), "{ids}");
    }
    let post = made(&server, "posts", json!({"title": "T", "tags": [tag, 999_999]}));
    assert_eq!(post["tags"], json!([tag]));
    let user = json!({"username": "gone", "email": "gone@example.org", "password": "a long password"});
    let user = made(&server, "users", user)["id"].clone();
    let [post, tag] = [&post["id"], &tag].map(Value::to_string);
    for path in [format!("posts/{post}?"), format!("tags/{tag}?"), format!("users/{user}?reassign=1&")] {
        let gone = server.admin("DELETE", &format!("/wp/v2/{path}force=true"), None);
        assert_eq!(gone.body["deleted"], true, "{path}: {}", gone.text);
        assert!(gone.body["previous"]["id"].is_u64() && gone.body["previous"].get("_links").is_none(), "{}", gone.text);
    }
}

#[test]
fn a_block_shows_whether_it_is_followed_as_a_member_of_its_own() {
    let server = Server::with(&["site.prefix=wp"]);
    let meta = json!({"wp_pattern_sync_status": "unsynced"});
    let own = made(&server, "blocks", json!({"title": "B", "content": "x", "status": "publish", "meta": meta}));
    let plain = made(&server, "blocks", json!({"title": "P", "content": "x", "status": "publish"}));
    let shown = |id: &Value, query: &str| {
        let block = server.admin("GET", &format!("/wp/v2/blocks/{id}?{query}"), None).body;
        (block["wp_pattern_sync_status"].clone(), block["meta"]["wp_pattern_sync_status"].clone())
    };
    let (own, plain) = (&own["id"], &plain["id"]);
    for query in ["", "context=edit", "_fields=meta,wp_pattern_sync_status"] {
        assert_eq!(shown(own, query), (json!("unsynced"), Value::Null), "{query}");
        assert_eq!(shown(plain, query), (json!(""), Value::Null), "{query}");
    }
    assert_eq!(shown(own, "_fields=wp_pattern_sync_status"), (json!(""), Value::Null), "without the meta it is empty");
}

/// A menu with a page, a draft below it, an address below that, a term, and an item that is no longer shown.
fn menu_of(server: &Server) -> Value {
    let menu = made(server, "menus", json!({"name": "Main", "locations": ["primary"]}));
    let page = made(server, "pages", json!({"title": "About us", "slug": "about", "status": "publish"}));
    let hidden = made(server, "pages", json!({"title": "Plans"}));
    let term = made(server, "categories", json!({"name": "News"}));
    let item = |order: i64, mut body: Value| {
        body["menus"] = menu["id"].clone();
        body["menu_order"] = json!(order);
        made(server, "menu-items", body)["id"].clone()
    };
    let top = item(2, json!({"type": "post_type", "object": "page", "object_id": page["id"]}));
    let draft = item(3, json!({"type": "post_type", "object": "page", "object_id": hidden["id"], "parent": top}));
    item(4, json!({"title": "Secret", "url": "https://example.org/secret", "parent": draft}));
    let elsewhere = item(
        5,
        json!({"title": "Elsewhere", "url": "https://example.org/", "parent": top, "target": "_blank", "classes": ["x"]}),
    );
    item(1, json!({"type": "taxonomy", "object": "category", "object_id": term["id"], "title": "All news"}));
    item(6, json!({"title": "Later", "url": "https://example.org/later", "status": "draft"}));
    item(7, json!({"type": "post_type", "object": "page", "object_id": 987654}));
    json!({"menu": menu["id"], "page": page["id"], "draft": hidden["id"], "elsewhere": elsewhere})
}

/// Titles, addresses and what is below them.
fn outline(items: &Value) -> Value {
    let all = items.as_array().expect("items").iter();
    all.map(|item| json!([item["title"], item["url"], outline(&item["items"])])).collect()
}

#[test]
fn everybody_gets_a_menu_as_a_tree() {
    let server = site();
    let ids = menu_of(&server);
    let site = server.site.clone();
    let tree = |path: &str| server.get(&format!("/server/v1/menus/{path}"));
    let expected = |about: &str, more: &Value| {
        json!([["All news", format!("{site}/category/news/"), []], [about, format!("{site}/about/"), more],])
    };
    let below = json!([["Elsewhere", "https://example.org/", []]]);
    for path in ["primary", "main"] {
        let answer = tree(path);
        assert_eq!((answer.status, &answer.body["id"]), (200, &ids["menu"]), "{}", answer.text);
        assert_eq!(outline(&answer.body["items"]), expected("About us", &below));
    }
    let elsewhere = tree("main").body["items"][1]["items"][0].clone();
    assert_eq!(
        (&elsewhere["id"], &elsewhere["target"], &elsewhere["classes"], &elsewhere["type"]),
        (&ids["elsewhere"], &json!("_blank"), &json!(["x"]), &json!("custom"))
    );
    // Editors get the same, and everybody gets what is new.
    let same = server.admin("GET", "/server/v1/menus/primary", None);
    assert_eq!(outline(&same.body["items"]), expected("About us", &below));
    let page = format!("/wp/v2/pages/{}", ids["page"]);
    server.admin("POST", &page, Some(&json!({"title": "About"})));
    server.admin(
        "POST",
        &format!("/wp/v2/pages/{}", ids["draft"]),
        Some(&json!({"status": "publish", "slug": "plans"})),
    );
    let below = json!([
        ["Plans", format!("{site}/plans/"), [["Secret", "https://example.org/secret", []]]],
        ["Elsewhere", "https://example.org/", []],
    ]);
    assert_eq!(outline(&tree("primary").body["items"]), expected("About", &below));
    server.admin("DELETE", &page, None);
    assert_eq!(outline(&tree("primary").body["items"]), json!([["All news", format!("{site}/category/news/"), []]]));
    for path in ["footer", "other", "1", "%2e%2e"] {
        let answer = tree(path);
        assert_eq!((answer.status, answer.code()), (404, "rest_invalid_id"), "{path}: {}", answer.text);
    }
}

#[test]
fn menus_are_opened_by_a_setting() {
    let server = site();
    let ids = menu_of(&server);
    let someone = server.user("someone", "subscriber");
    let menu = format!("/wp/v2/menus/{}", ids["menu"]);
    let item = format!("/wp/v2/menu-items/{}", ids["elsewhere"]);
    let reads =
        ["/wp/v2/menus", &menu, "/wp/v2/menu-items", &item, "/wp/v2/menu-locations", "/wp/v2/menu-locations/primary"];
    for route in reads {
        assert_eq!(server.get(route).status, 401, "{route}");
        assert_eq!(server.ask("GET", route, Some(&someone), None).status, 403, "{route}");
    }
    let server = server.restart_with(&["site.prefix=wp", "site.public_menus=true"]);
    let drafts = server.admin("GET", "/wp/v2/menu-items?status=draft", None);
    let draft = format!("/wp/v2/menu-items/{}", drafts.body[0]["id"]);
    for (caller, refused) in [(None, 401), (Some(&someone), 403)] {
        let ask = |method: &str, route: &str| {
            let body = (method != "GET").then(|| json!({"name": "x", "title": "x"}));
            let answer = server.ask(method, route, caller, body.as_ref());
            (answer.status, if answer.status == 200 { String::new() } else { answer.code().to_owned() })
        };
        for route in reads {
            assert_eq!(ask("GET", route), (200, String::new()), "{route}");
        }
        let items = server.ask("GET", "/wp/v2/menu-items", caller, None);
        assert!(items.body.as_array().expect("items").iter().all(|item| item["status"] == "publish"), "{}", items.text);
        // Recorded: anonymous callers may not read the terms of an item.
        let embedded = server.ask("GET", &format!("{item}?_embed=wp:term"), caller, None).body["_embedded"].clone();
        let told = embedded["wp:term"][0].clone();
        match caller {
            None => assert_eq!(told["code"], "rest_forbidden_context", "{told}"),
            Some(_) => assert_eq!(told[0]["name"], "Main", "{told}"),
        }
        for (method, route, code) in [
            ("GET", draft.as_str(), "rest_forbidden"),
            ("GET", &format!("{item}?context=edit"), "rest_forbidden_context"),
            ("GET", &format!("{menu}?context=edit"), "rest_forbidden_context"),
            ("POST", &menu, "rest_cannot_update"),
            ("POST", "/wp/v2/menu-items", "rest_cannot_create"),
        ] {
            assert_eq!(ask(method, route), (refused, code.to_owned()), "{method} {route}");
        }
    }
}
