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
    // An address leads back to the record that it is made of, and so does the address at the site itself.
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
fn links_in_texts_lead_to_the_front_end() {
    let server = Server::start();
    std::fs::write(server.path("site.toml"), "[site.front]\nurl = \"https://www.example.org\"\n").expect("a file");
    let server = server.restart_with(&[]);
    let site = server.site.clone();
    let link = |path: &str, text: &str| format!("<a href=\"{site}{path}\">{text}</a>");
    let (page, file, login) = (link("/a/?b=1&amp;c", "a"), link("/files/a.pdf", "b"), link("/login", "c"));
    let elsewhere = "<a href=\"https://example.com/\">d</a>";
    let paragraph = format!("<p>{page} {file} {login} {elsewhere} {site}/</p>");
    let content = format!(
        "<!-- wp:paragraph -->\n{paragraph}\n<!-- /wp:paragraph -->\n<!-- wp:calendar /-->\n<!-- wp:archives /-->\n\
         <!-- wp:acme/card {{\"url\":\"{site}/b/\",\"file\":\"{site}/files/b.png\"}} /-->"
    );
    let body = json!({"title": "Links", "content": content, "excerpt": page, "status": "publish", "date": "2024-03-04T10:00:00"});
    let post = created(&server, "posts", &body);
    let of = format!("/cms/v2/posts/{}", post["id"]);
    let shown = server.get(&format!("{of}?_blocks=1")).body;
    let moved = page.replace(&site, FRONT);
    let html = shown["content"]["rendered"].as_str().expect("markup");
    for part in [
        format!("<p>{moved} {file} {login} {elsewhere} {site}/</p>"),
        format!("<a href=\"{FRONT}/2024/03/\">&laquo; Mar</a>"),
        format!("<a href='{FRONT}/2024/03/'>March 2024</a>"),
    ] {
        assert!(html.contains(&part), "{part} is not in {html}");
    }
    let excerpt = shown["excerpt"]["rendered"].as_str().expect("markup");
    assert!(excerpt.contains(&moved), "{excerpt}");
    let blocks = shown["content"]["blocks"].as_array().expect("blocks");
    assert!(blocks[0]["attributes"]["content"].as_str().is_some_and(|text| text.contains(&moved)), "{}", blocks[0]);
    let card = json!({"url": format!("{FRONT}/b/"), "file": format!("{site}/files/b.png")});
    assert_eq!(blocks.last().map(|block| &block["attributes"]), Some(&card));
    let comment = json!({"post": post["id"], "content": page});
    let comment = created(&server, "comments", &comment);
    assert!(comment["content"]["rendered"].as_str().is_some_and(|html| html.contains(FRONT)), "{comment}");
    // The stored text is the one that was written.
    let stored = server.admin("GET", &format!("{of}?context=edit"), None).body;
    assert_eq!(stored["content"]["raw"], content);
}

#[test]
fn addresses_have_the_category_of_a_record() {
    for (settings, path) in [
        ("[site]\npermalinks = \"/%category%/%postname%/\"\n", "{site}/{category}/the-quay/"),
        (
            "[site.front]\nurl = \"https://www.example.org\"\n[site.front.paths]\nposts = \"/in/{category|none}/{slug}\"\n",
            "https://www.example.org/in/{category}/the-quay",
        ),
    ] {
        let server = Server::start();
        std::fs::write(server.path("site.toml"), settings).expect("a file");
        let server = server.restart_with(&[]);
        let of = |category: &str| path.replace("{site}", &server.site).replace("{category}", category);
        let above = created(&server, "categories", &json!({"name": "Harbours"}));
        let below = created(&server, "categories", &json!({"name": "North", "parent": above["id"]}));
        let later = created(&server, "categories", &json!({"name": "Later"}));
        let body = json!({"title": "The quay", "status": "publish", "categories": [later["id"], below["id"]]});
        let post = created(&server, "posts", &body);
        assert_eq!(post["link"], of("harbours/north"));
        let item = format!("/cms/v2/posts/{}", post["id"]);
        let check = |category: &str| {
            let (item, list) = (server.get(&item), server.get("/cms/v2/posts?_fields=link"));
            assert_eq!((&item.body["link"], &list.body[0]["link"]), (&json!(of(category)), &json!(of(category))));
            assert!(item.header("link").is_some_and(|link| link.contains(&of(category))), "{:?}", item.headers);
            let embedded = server.get(&format!("/oembed/1.0/embed?url={}", of(category)));
            assert_eq!(embedded.body["title"], "The quay", "{}", embedded.text);
        };
        check("harbours/north");
        // Changes of terms are in the addresses of records at once.
        for (term, change, category) in [
            (&below, json!({"slug": "far-north"}), "harbours/far-north"),
            (&above, json!({"slug": "ports"}), "ports/far-north"),
            (&below, json!({"parent": 0}), "far-north"),
        ] {
            let changed = server.admin("POST", &format!("/cms/v2/categories/{}", term["id"]), Some(&change));
            assert_eq!(changed.status, 200, "{}", changed.text);
            check(category);
        }
        server.admin("POST", &item, Some(&json!({"categories": [later["id"]]})));
        check("later");
    }
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
