//! Links of a site that is read elsewhere (`[site.front]`).

use super::server::Server;
use serde_json::{Value, json};

const FRONT: &str = "https://www.example.org";

/// Posts get a property that their addresses show.
const SITE: &str = r#"
[site.front]
url = "https://www.example.org/"

[site.front.paths]
posts = "/blog/{date:%Y-%m}/{place|somewhere}/{slug}"
pages = "/{author}/{path}"
categories = "/topics/{path}"
users = "/people/{slug}"

[schemas.post.properties]
place = { type = "string", context = ["view", "edit", "embed"] }
"#;

fn created(server: &Server, base: &str, body: &Value) -> Value {
    let answer = server.admin("POST", &format!("/cms/v2/{base}"), Some(body));
    assert_eq!(answer.status, 201, "{}", answer.text);
    answer.body
}

#[test]
fn links_lead_to_the_front_end() {
    let server = Server::start();
    std::fs::write(server.path("site.toml"), SITE).expect("a file");
    let server = server.restart_with(&[]);
    let publish = |base: &str, body: Value| {
        let mut body = body;
        body["status"] = json!("publish");
        created(&server, base, &body)
    };
    let date = json!("2024-03-04T10:00:00");
    let post = publish("posts", json!({"title": "The harbour", "date": date, "place": "Old town/hall"}));
    let nowhere = publish("posts", json!({"title": "Lost", "date": date}));
    let above = publish("pages", json!({"title": "About"}));
    let page = publish("pages", json!({"title": "Team", "parent": above["id"]}));
    let draft = created(&server, "posts", &json!({"title": "Not yet"}));
    let category = created(&server, "categories", &json!({"name": "Boats"}));
    let tag = created(&server, "tags", &json!({"name": "Wind"}));
    let id = draft["id"].as_i64().expect("a number");
    for (document, path) in [
        (&post, "/blog/2024-03/Old%20town%2Fhall/the-harbour".to_owned()),
        (&page, "/admin/about/team".to_owned()),
        (&nowhere, "/blog/2024-03/somewhere/lost".to_owned()),
        (&draft, format!("/?p={id}")),
        (&category, "/topics/boats".to_owned()),
        (&tag, "/tag/wind/".to_owned()),
    ] {
        assert_eq!(document["link"], format!("{FRONT}{path}"), "{document}");
    }
    // The identifier does not change with the front end, and what is not read there stays.
    let guid = post["guid"]["rendered"].as_str().expect("an address");
    assert!(guid.starts_with(&*server.site) && guid.ends_with("/the-harbour/"), "{guid}");
    assert_eq!(post["permalink_template"], format!("{FRONT}/blog/2024-03/Old%20town%2Fhall/%postname%"));
    let root = server.admin("GET", "/", None).body;
    assert_eq!((&root["home"], &root["url"]), (&json!(FRONT), &json!(server.site)));
    // A list that shows links alone reads what the address is made of.
    let links = server.admin("GET", "/cms/v2/posts?_fields=link&orderby=id&order=asc", None).body;
    assert_eq!(links, json!([{"link": post["link"]}, {"link": nowhere["link"]}]));
    let of = format!("/cms/v2/posts/{}", post["id"]);
    let single = server.admin("GET", &of, None);
    assert!(single.header("link").is_some_and(|link| link.contains("https://www.example.org/blog/2024-03/")));
    let words = server.admin("GET", "/cms/v2/search?search=harbour", None).body;
    assert_eq!(words[0]["url"], post["link"]);
    let words = server.admin("GET", "/cms/v2/search?search=team", None).body;
    assert_eq!(words[0]["url"], page["link"]);
    // What an address is made of leads back to the record, and so does the address at the site itself.
    for address in [post["link"].as_str(), page["link"].as_str(), Some(guid)] {
        let route = format!("/oembed/1.0/embed?url={}", address.expect("an address").replace('%', "%25"));
        let embedded = server.get(&route);
        let link = if Some(guid) == address { post["link"].as_str() } else { address };
        let html = embedded.body["html"].as_str().unwrap_or_default();
        assert!(html.contains(link.expect("an address")), "{route}: {}", embedded.text);
    }
    // A change of what an address shows is in it at once.
    let moved = server.admin("POST", &of, Some(&json!({"place": "Quay"}))).body;
    let address = format!("{FRONT}/blog/2024-03/Quay/the-harbour");
    assert_eq!((&moved["link"], &server.get(&of).body["link"]), (&json!(address), &json!(address)));
}

#[test]
fn every_link_to_a_record_is_its_own() {
    let server = Server::with(&["site.prefix=wp"]);
    let declared = "[site]\npermalinks = \"/%author%/%postname%/\"\n[resources.pages]\naddress = \"/docs/{path}/\"\n";
    std::fs::write(server.path("site.toml"), declared).expect("a file");
    let server = server.restart_with(&["site.prefix=wp"]);
    let made = |base: &str, body: &Value| {
        let answer = server.admin("POST", &format!("/wp/v2/{base}"), Some(body));
        assert_eq!(answer.status, 201, "{base}: {}", answer.text);
        answer.body
    };
    let menu = made("menus", &json!({"name": "Main"}))["id"].clone();
    for (base, object, path) in [("posts", "post", "/admin/the-quay/"), ("pages", "page", "/docs/the-quay/")] {
        let record = made(base, &json!({"title": "The quay", "status": "publish"}));
        assert_eq!(record["link"], format!("{}{path}", server.site));
        let body = json!({"type": "post_type", "object": object, "object_id": record["id"], "menus": menu});
        assert_eq!(made("menu-items", &body)["url"], record["link"]);
        let found = server.get(&format!("/wp/v2/search?search=quay&subtype={object}"));
        assert_eq!(found.body[0]["url"], record["link"], "{}", found.text);
        let link = record["link"].as_str().expect("an address");
        let embedded = server.get(&format!("/oembed/1.0/embed?url={link}"));
        assert!(embedded.body["html"].as_str().is_some_and(|html| html.contains(link)), "{}", embedded.text);
    }
}
