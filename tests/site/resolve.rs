//! Addresses of the site are resolved, as front ends ask: one address, or many.

use super::inside::Inside;
use super::media::{png, upload};
use super::server::{Answer, Server, encoded};
use serde_json::{Value, json};

const FRONT: &str = "https://www.example.org";

const SITE: &str = r#"
[site.front]
url = "https://www.example.org"

[site.front.paths]
posts = "/blog/{slug}"
pages = "/{path}"
categories = "/topics/{path}"
users = "/people/{slug}"
"#;

fn made(server: &Server, base: &str, body: Value) -> Value {
    let made = server.admin("POST", &format!("/{}/v2/{base}", server.prefix), Some(&body));
    assert_eq!(made.status, 201, "{base} {body}: {}", made.text);
    made.body
}

fn published(server: &Server, base: &str, title: &str, mut more: Value) -> Value {
    more["title"] = json!(title);
    more["status"] = json!("publish");
    made(server, base, more)
}

fn resolve(server: &Server, path: &str) -> Answer {
    server.get(&format!("/server/v1/resolve?path={}", encoded(path)))
}

/// The record or list at a path, without its links.
fn place(server: &Server, path: &str) -> Value {
    let answer = resolve(server, path);
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    let mut body = answer.body;
    body.as_object_mut().expect("an object").shift_remove("_links");
    body
}

fn nothing(server: &Server, path: &str) {
    let answer = resolve(server, path);
    assert_eq!((answer.status, answer.code()), (404, "rest_no_address"), "{path}: {}", answer.text);
}

fn fronted() -> Server {
    let server = Server::start();
    std::fs::write(server.path("site.toml"), SITE).expect("a file");
    server.restart_with(&[])
}

#[test]
fn each_kind_of_address_is_told() {
    let server = fronted();
    let rest = |path: &str| format!("{}{path}", server.rest);
    let post = published(&server, "posts", "The harbour", json!({"date": "2024-05-06T07:08:09"}));
    let above = published(&server, "pages", "About", json!({}));
    let page = published(&server, "pages", "Team", json!({"parent": above["id"]}));
    let boats = made(&server, "categories", json!({"name": "Boats"}));
    let small = made(&server, "categories", json!({"name": "Small", "parent": boats["id"]}));
    let record = |document: &Value, base: &str, kind: &str, path: &str, canonical: bool| {
        json!({"kind": "record", "resource": base, "type": kind, "id": document["id"],
            "rest": rest(&format!("/cms/v2/{base}/{}", document["id"])), "link": format!("{FRONT}{path}"),
            "canonical": canonical})
    };
    let term = json!({"kind": "term", "resource": "categories", "type": "category", "id": small["id"],
        "rest": rest(&format!("/cms/v2/categories/{}", small["id"])), "link": format!("{FRONT}/topics/boats/small"),
        "canonical": true});
    let author = json!({"kind": "author", "resource": "users", "type": "user", "id": 1,
        "rest": rest("/cms/v2/users/1"), "link": format!("{FRONT}/people/admin"), "canonical": true});
    let list = rest("/cms/v2/posts?after=2024-04-30T23%3A59%3A59&before=2024-06-01T00%3A00%3A00");
    let date = json!({"kind": "date", "year": 2024, "month": 5, "day": null, "rest": list,
        "link": format!("{FRONT}/2024/05/"), "canonical": true});
    let front = json!({"kind": "front_page", "resource": "posts", "type": "post", "rest": rest("/cms/v2/posts"),
        "link": format!("{FRONT}/"), "canonical": true});
    let at = |path: &str| record(&post, "posts", "post", "/blog/the-harbour", path == "/blog/the-harbour");
    for (path, expected) in [
        ("/blog/the-harbour", at("/blog/the-harbour")),
        ("/blog/the-harbour/", at("other")),
        ("/Blog/The-Harbour", Value::Null),
        ("/blog/The-Harbour", at("other")),
        ("//blog//the-harbour", at("other")),
        ("/blog/the%2dharbour", at("/blog/the-harbour")),
        ("/2024/05/the-harbour/", at("other")),
        ("/2024/06/the-harbour/", Value::Null),
        ("/about/team", record(&page, "pages", "page", "/about/team", true)),
        ("/team", Value::Null),
        ("/topics/boats/small", term.clone()),
        ("/people/admin", author.clone()),
        ("/2024/05/", date.clone()),
        ("/2023/", Value::Null),
        ("/2024/02/30/", Value::Null),
        ("/", front.clone()),
        ("/blog", Value::Null),
    ] {
        match expected {
            Value::Null => nothing(&server, path),
            expected => assert_eq!(place(&server, path), expected, "{path}"),
        }
    }
    // Numbers, as WordPress names things.
    for (query, expected) in [
        (format!("/?p={}", post["id"]), at("other")),
        (format!("/?page_id={}", post["id"]), at("other")),
        ("/?name=the-harbour".to_owned(), at("other")),
        ("/?p=abc".to_owned(), Value::Null),
    ] {
        match expected {
            Value::Null => assert_eq!(place(&server, &query)["kind"], "front_page", "{query}"),
            expected => assert_eq!(place(&server, &query), expected, "{query}"),
        }
    }
    for query in [format!("/?cat={}", small["id"]), "/?category_name=boats/small".to_owned()] {
        assert_eq!(place(&server, &query)["id"], small["id"], "{query}");
    }
    assert_eq!(place(&server, "/?author=1")["link"], author["link"]);
    assert_eq!(place(&server, "/?m=202405")["link"], date["link"]);
    for query in ["/?p=999999999", "/?p=99999999999999999999", "/?cat=999999999", "/?author=77", "/?m=202312"] {
        nothing(&server, query);
    }
}

#[test]
fn whole_addresses_are_of_this_site() {
    let server = fronted();
    let post = published(&server, "posts", "The harbour", json!({"date": "2024-05-06T07:08:09"}));
    let of = |url: &str| server.get(&format!("/server/v1/resolve?url={}", encoded(url)));
    let site = &server.site;
    for url in [
        format!("{FRONT}/blog/the-harbour"),
        format!("{FRONT}/blog/the-harbour#comments"),
        "http://WWW.example.org/blog/the-harbour?utm_source=x".to_owned(),
        format!("{site}/2024/05/the-harbour/"),
        format!("{site}/?p={}", post["id"]),
    ] {
        let answer = of(&url);
        assert_eq!((answer.status, &answer.body["id"]), (200, &post["id"]), "{url}: {}", answer.text);
    }
    for url in [
        "https://elsewhere.example/blog/the-harbour",
        "https://www.example.org.elsewhere.example/blog/the-harbour",
        "https://www.example.org@elsewhere.example/blog/the-harbour",
        "https://www.example.org:8443/blog/the-harbour",
        "//www.example.org/blog/the-harbour",
        "ftp://www.example.org/blog/the-harbour",
        "javascript:alert(1)",
        "blog/the-harbour",
    ] {
        assert_eq!((of(url).status, of(url).code().to_owned()), (404, "rest_no_address".to_owned()), "{url}");
    }
    let without = server.get("/server/v1/resolve");
    assert_eq!((without.status, without.code()), (400, "rest_missing_callback_param"));
}

#[test]
fn paths_that_nothing_has_are_refused_quietly() {
    let server = Server::start();
    published(&server, "posts", "Привет мир", json!({"slug": "Привет мир", "date": "2024-05-06T07:08:09"}));
    let slug = "%d0%bf%d1%80%d0%b8%d0%b2%d0%b5%d1%82-%d0%bc%d0%b8%d1%80";
    for path in ["/2024/05/привет-мир/", &format!("/2024/05/{slug}/"), &format!("/2024/05/{}/", slug.to_uppercase())]
    {
        assert_eq!(place(&server, path)["canonical"], true, "{path}");
    }
    let long = format!("/{}", "a".repeat(8191));
    let deep = "/a".repeat(4000);
    for path in [
        "/../",
        "/2024/../2024/05/",
        "/%2e%2e/x",
        "/a%2Fb",
        "/a%5cb",
        "/%00",
        "/%ff%fe",
        "/%",
        "/%zz",
        "/\\",
        "/<script>",
        "/'or'1'='1",
        "/files/../../etc/passwd",
        "/2024/05/%D0%BF/",
        "/\u{202e}x",
        &long,
        &deep,
    ] {
        nothing(&server, path);
    }
    let longer = resolve(&server, &format!("{long}a"));
    assert_eq!((longer.status, longer.code()), (400, "rest_invalid_param"));
}

#[test]
fn only_who_may_read_a_record_is_told_of_it() {
    let server = Server::start();
    let draft = made(&server, "posts", json!({"title": "Not yet"}));
    let private = made(&server, "posts", json!({"title": "Ours", "status": "private", "date": "2024-05-06T07:08:09"}));
    let trashed = published(&server, "posts", "Gone", json!({"date": "2024-05-06T07:08:09"}));
    assert_eq!(server.admin("DELETE", &format!("/cms/v2/posts/{}", trashed["id"]), None).status, 200);
    for path in [format!("/?p={}", draft["id"]), "/2024/05/ours/".to_owned()] {
        nothing(&server, &path);
        let own = server.admin("GET", &format!("/server/v1/resolve?path={}", encoded(&path)), None);
        assert_eq!((own.status, &own.body["kind"]), (200, &json!("record")), "{path}: {}", own.text);
    }
    assert_eq!(private["status"], "private");
    for path in ["/2024/05/gone/".to_owned(), format!("/?p={}", trashed["id"])] {
        nothing(&server, &path);
        let own = server.admin("GET", &format!("/server/v1/resolve?path={}", encoded(&path)), None);
        assert_eq!(own.status, 404, "{path}: {}", own.text);
    }
    // Pages for visitors change nobody's rights.
    let visited = server.send("GET", &format!("{}/?p={}", server.site, draft["id"]), Some(&server.admin), None, &[]);
    assert_eq!(visited.status, 404);
}

#[test]
fn the_document_is_a_part_of_the_answer() {
    let server = fronted();
    let post = published(&server, "posts", "The harbour", json!({"content": "Boats."}));
    let of = |more: &str| server.get(&format!("/server/v1/resolve?path=/blog/the-harbour&{more}"));
    let whole = of("_embed=record");
    let item = server.get(&format!("/cms/v2/posts/{}", post["id"])).body;
    assert_eq!(whole.body["_embedded"]["record"], json!([item]), "{}", whole.text);
    let parts = of("_embed=record&_fields=kind,record.title.rendered,record.id");
    let shown = json!([{"id": post["id"], "title": {"rendered": "The harbour"}}]);
    assert_eq!((&parts.body["kind"], &parts.body["_embedded"]["record"]), (&json!("record"), &shown), "{}", parts.text);
    assert!(parts.body.get("rest").is_none(), "{}", parts.text);
    let deeper = of("_embed=record,record.author");
    let name = &deeper.body["_embedded"]["record"][0]["_embedded"]["author"][0]["name"];
    assert_eq!(name, "admin", "{}", deeper.text);
    // The same bytes once more are not sent, until something in them changes.
    let tag = whole.header("etag").expect("a tag").to_owned();
    let url = format!("{}/server/v1/resolve?path=/blog/the-harbour&_embed=record", server.rest);
    let again = |tag: &str| server.send("GET", &url, None, None, &[("if-none-match", tag)]);
    assert_eq!(again(&tag).status, 304);
    published(&server, "posts", "Another", json!({}));
    assert_eq!(again(&tag).status, 304);
    server.admin("POST", &format!("/cms/v2/posts/{}", post["id"]), Some(&json!({"title": "The quay"})));
    let changed = again(&tag);
    assert_eq!(
        (changed.status, &changed.body["_embedded"]["record"][0]["title"]["rendered"]),
        (200, &json!("The quay"))
    );
    // A password opens it as it opens the document.
    let locked = json!({"password": "open", "content": "Secret.", "slug": "locked"});
    published(&server, "posts", "Locked", locked);
    let shut = server.get("/server/v1/resolve?path=/blog/locked&_embed=record");
    assert!(!shut.text.contains("Secret"), "{}", shut.text);
}

#[test]
fn the_token_of_a_preview_opens_the_address_that_a_draft_will_have() {
    let server = fronted();
    let draft = made(&server, "posts", json!({"title": "Not yet", "content": "Soon."}));
    let other = published(&server, "posts", "Other", json!({}));
    let link = server.admin("POST", &format!("/cms/v2/posts/{}/preview-links", draft["id"]), Some(&json!({})));
    let token = link.body["token"].as_str().expect("a token").to_owned();
    let of = |path: &str, token: &str| {
        let path = encoded(path);
        server.get(&format!("/server/v1/resolve?path={path}&preview={token}&_embed=record"))
    };
    for path in ["/blog/not-yet".to_owned(), "/blog/not-yet/".to_owned(), format!("/?p={}", draft["id"])] {
        for _ in 0..2 {
            let answer = of(&path, &token);
            let embedded = &answer.body["_embedded"]["record"][0];
            assert_eq!(
                (answer.status, &embedded["title"]["rendered"]),
                (200, &json!("Not yet")),
                "{path}: {}",
                answer.text
            );
            let kept = answer.header("cache-control").unwrap_or_default();
            assert!(kept.contains("private") && kept.contains("no-store"), "{kept}");
        }
        nothing(&server, &path);
    }
    let cut = &token[..token.len() - 1];
    for (path, token) in [
        ("/blog/other", &*token),
        ("/elsewhere/not-yet", &token),
        ("/", &token),
        ("/blog/not-yet", cut),
        ("/blog/other", cut),
        ("/blog/nothing", "x"),
    ] {
        let answer = of(path, token);
        assert_eq!((answer.status, answer.code()), (401, "rest_preview_invalid"), "{path}: {}", answer.text);
    }
    // Its slug follows from its title, so that the address of a preview is another one when the title has changed.
    let change = |body: Value| server.admin("POST", &format!("/cms/v2/posts/{}", draft["id"]), Some(&body)).status;
    assert_eq!(change(json!({"title": "Almost"})), 200);
    for path in ["/blog/not-yet", "/blog/almost"] {
        let answer = of(path, &token);
        let shown = &answer.body["_embedded"]["record"][0]["title"]["rendered"];
        assert_eq!((answer.status, shown), (200, &json!("Almost")), "{path}: {}", answer.text);
    }
    assert_eq!(of("/blog/other", &token).status, 401);
    assert_eq!(change(json!({"slug": "almost"})), 200);
    assert_eq!((of("/blog/not-yet", &token).status, of("/blog/almost", &token).status), (401, 200));
    assert_eq!(change(json!({"slug": "not-yet"})), 200);
    let revoked = format!("/cms/v2/posts/{}/preview-links/{}", draft["id"], link.body["id"].as_str().expect("an id"));
    assert_eq!(server.admin("DELETE", &revoked, None).status, 200);
    assert_eq!(of("/blog/not-yet", &token).status, 401);
    assert_eq!(place(&server, "/blog/other")["id"], other["id"]);
}

#[test]
fn many_addresses_are_one_request() {
    let server = fronted();
    let posts: Vec<Value> = (0..99).map(|n| published(&server, "posts", &format!("Post {n}"), json!({}))).collect();
    let paths: Vec<String> = (0..99).map(|n| format!("paths[]=/blog/post-{n}")).collect();
    let answer = server.get(&format!("/server/v1/resolve?paths[]=/nothing&{}", paths.join("&")));
    assert_eq!(answer.status, 200, "{}", answer.text);
    let found: Vec<&Value> = answer.body.as_array().expect("a list").iter().map(|one| &one["id"]).collect();
    let expected: Vec<&Value> = posts.iter().map(|post| &post["id"]).collect();
    assert_eq!((answer.body[0].clone(), &found[1..]), (json!({"kind": "none"}), &expected[..]));
    let many = server.get(&format!("/server/v1/resolve?paths[]=/&paths[]=/&{}", paths.join("&")));
    assert_eq!((many.status, many.code()), (400, "rest_invalid_param"));
    let odd = server.get("/server/v1/resolve?paths[]=/a%252Fb&paths[]=https://elsewhere.example/&paths[]=/blog/post-3");
    assert_eq!(
        (&odd.body[0]["kind"], &odd.body[1]["kind"], &odd.body[2]["id"]),
        (&json!("none"), &json!("none"), &posts[3]["id"])
    );
}

#[test]
fn files_and_pages_of_the_front_are_told() {
    let server = Server::with(&["site.prefix=wp"]);
    let file = upload(&server, "a boat.png", "image/png", png(8, 8)).body;
    let source = file["source_url"].as_str().expect("an address");
    let path = source.strip_prefix(&*server.site).expect("on the site");
    let found = place(&server, path);
    assert_eq!(
        (&found["kind"], &found["id"], &found["link"]),
        (&json!("file"), &file["id"], &json!(source)),
        "{found}"
    );
    let own = file["link"].as_str().and_then(|link| link.strip_prefix(&*server.site)).expect("on the site");
    assert_eq!(place(&server, own)["kind"], "record");
    let home = published(&server, "pages", "Welcome", json!({}));
    let news = published(&server, "pages", "News", json!({}));
    let settings = json!({"show_on_front": "page", "page_on_front": home["id"], "page_for_posts": news["id"]});
    assert_eq!(server.admin("POST", "/wp/v2/settings", Some(&settings)).status, 200);
    let site = |path: &str| format!("{}{path}", server.site);
    for (path, kind, of, link) in [
        ("/", "front_page", &home, "/"),
        ("/welcome/", "front_page", &home, "/"),
        ("/news/", "posts_page", &news, "/news/"),
    ] {
        let found = place(&server, path);
        assert_eq!(
            (&found["kind"], &found["id"], &found["link"]),
            (&json!(kind), &of["id"], &json!(site(link))),
            "{path}"
        );
    }
}

#[test]
fn the_number_of_statements_does_not_depend_on_that_of_addresses() {
    let inside = Inside::start();
    let page = |slug: &str, parent: &Value| {
        inside.make("/cms/v2/pages", &json!({"title": slug, "slug": slug, "parent": parent, "status": "publish"}))
    };
    for n in 0..10 {
        let date = format!("2024-05-{:02}T07:08:09", n + 1);
        let post = json!({"title": "A post", "slug": format!("post-{n}"), "date": date, "status": "publish"});
        let post = inside.make("/cms/v2/posts", &post);
        inside.make(&format!("/cms/v2/posts/{}", post["id"]), &json!({"slug": format!("new-{n}")}));
        let top = page(&format!("top-{n}"), &json!(0));
        page("sub", &top["id"]);
        inside.make("/cms/v2/categories", &json!({"name": format!("Term {n}")}));
    }
    let of = |n: usize| {
        let old = format!("paths[]=/2024/05/post-{n}/&paths[]=/2024/05/new-{n}/&paths[]=/top-{n}/sub/");
        format!("{old}&paths[]=/category/term-{n}/&paths[]=/2024/05/{:02}/&paths[]=/nothing-{n}/", n + 1)
    };
    let ask = |queries: &[String]| inside.cheapest(&format!("/server/v1/resolve?{}", queries.join("&")), false);
    let (few, many) = (ask(&[of(0)]), ask(&(0..10).map(of).collect::<Vec<_>>()));
    let kinds: Vec<&str> = few.body.as_array().expect("a list").iter().filter_map(|one| one["kind"].as_str()).collect();
    assert_eq!(kinds, ["redirect", "record", "record", "term", "date", "none"], "{}", few.body);
    assert_eq!(many.body.as_array().map(Vec::len), Some(60));
    assert_eq!(few.queries, many.queries, "{}", many.body);
    println!("{} statements", many.queries);
}
