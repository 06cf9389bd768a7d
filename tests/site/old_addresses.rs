//! Addresses that records had, and what visitors of the site's own address get.

use super::own_types;
use super::server::{Answer, Server, encoded, stdout};
use serde_json::{Value, json};
use std::fs;

fn made(server: &Server, base: &str, body: Value) -> Value {
    let made = server.admin("POST", &format!("/{}/v2/{base}", server.prefix), Some(&body));
    assert_eq!(made.status, 201, "{base} {body}: {}", made.text);
    made.body
}

fn published(server: &Server, base: &str, slug: &str, mut more: Value) -> Value {
    let own = json!({"title": slug, "slug": slug, "status": "publish", "date": "2024-05-06T07:08:09"});
    more.as_object_mut().expect("an object").extend(own.as_object().expect("an object").clone());
    made(server, base, more)
}

fn change(server: &Server, base: &str, record: &Value, body: Value) -> Value {
    let changed = server.admin("POST", &format!("/{}/v2/{base}/{}", server.prefix, record["id"]), Some(&body));
    assert_eq!(changed.status, 200, "{base} {body}: {}", changed.text);
    changed.body
}

pub fn visit(server: &Server, path: &str) -> Answer {
    server.send("GET", &format!("{}{path}", server.site), None, None, &[("accept", "text/html")])
}

/// Where a path of the site leads: the status, and the path or the address.
pub fn led(server: &Server, path: &str) -> (u16, String) {
    let answer = visit(server, path);
    let place = answer.header("location").unwrap_or_default();
    (answer.status, place.strip_prefix(&*server.site).unwrap_or(place).to_owned())
}

fn moved(server: &Server, path: &str, to: &str) {
    assert_eq!(led(server, path), (301, to.to_owned()), "{path}");
}

fn resolved(server: &Server, path: &str) -> Value {
    let query = encoded(path);
    server.get(&format!("/server/v1/resolve?path={query}")).body
}

#[test]
fn each_address_of_a_record_leads_to_the_newest() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let post = published(&server, "posts", "first", json!({}));
        for slug in ["second", "third"] {
            change(&server, "posts", &post, json!({"slug": slug}));
        }
        change(&server, "posts", &post, json!({"date": "2025-01-02T00:00:00"}));
        let now = "/2025/01/third/";
        for old in ["/2024/05/first/", "/2024/05/second", "/2024/05/third/?a=1", "/2024/05/FIRST/", "//2024/05/first/"]
        {
            moved(&server, old, now);
            let told = json!({"kind": "redirect", "status": 301, "location": format!("{}{now}", server.site)});
            assert_eq!(resolved(&server, old), told, "{prefix} {old}");
        }
        assert_eq!(led(&server, now).0, 200);
        assert_eq!(led(&server, "/2024/06/first/").0, 404, "a month that it never had");
        // The present slug is no old address.
        change(&server, "posts", &post, json!({"slug": "first", "date": "2024-05-06T07:08:09"}));
        assert_eq!(led(&server, "/2024/05/first/").0, 200);
        moved(&server, now, "/2024/05/first/");
        // A living record takes the address, and gives it back when it is gone.
        change(&server, "posts", &post, json!({"slug": "fourth"}));
        let taker = published(&server, "posts", "second", json!({}));
        assert_eq!(led(&server, "/2024/05/second/").0, 200, "{prefix}");
        let gone = format!("/{prefix}/v2/posts/{}?force=true", taker["id"]);
        assert_eq!(server.admin("DELETE", &gone, None).status, 200);
        moved(&server, "/2024/05/second/", "/2024/05/fourth/");
        // Hidden records are nowhere, old addresses included; deleted ones leave nothing.
        change(&server, "posts", &post, json!({"status": "draft"}));
        assert_eq!(led(&server, "/2024/05/first/").0, 404);
        change(&server, "posts", &post, json!({"status": "publish"}));
        moved(&server, "/2024/05/first/", "/2024/05/fourth/");
        let gone = format!("/{prefix}/v2/posts/{}?force=true", post["id"]);
        assert_eq!(server.admin("DELETE", &gone, None).status, 200);
        for old in ["/2024/05/first/", "/2024/05/second/", "/2024/05/fourth/"] {
            assert_eq!(led(&server, old).0, 404, "{prefix} {old}");
        }
    }
}

#[test]
fn records_below_others_move_with_them() {
    let server = Server::start();
    let top = published(&server, "pages", "top", json!({}));
    let other = published(&server, "pages", "other", json!({}));
    let below = published(&server, "pages", "sub", json!({"parent": top["id"]}));
    let deeper = published(&server, "pages", "deep", json!({"parent": below["id"]}));
    assert_eq!(deeper["link"], format!("{}/top/sub/deep/", server.site));
    change(&server, "pages", &below, json!({"parent": other["id"]}));
    moved(&server, "/top/sub/", "/other/sub/");
    moved(&server, "/top/sub/deep/", "/other/sub/deep/");
    change(&server, "pages", &other, json!({"slug": "elsewhere"}));
    for old in ["/top/sub/deep/", "/other/sub/deep/"] {
        moved(&server, old, "/elsewhere/sub/deep/");
    }
    moved(&server, "/other/", "/elsewhere/");
    change(&server, "pages", &below, json!({"parent": 0, "slug": "alone"}));
    for old in ["/top/sub/deep/", "/other/sub/deep/", "/elsewhere/sub/deep/"] {
        moved(&server, old, "/alone/deep/");
    }
    assert_eq!(led(&server, "/sub/").0, 404, "it was never there");
    // WordPress has none of these, and guesses by the last part.
    let server = Server::with(&["site.prefix=wp"]);
    let top = published(&server, "pages", "top", json!({}));
    let below = published(&server, "pages", "sub", json!({"parent": top["id"]}));
    change(&server, "pages", &top, json!({"slug": "up"}));
    assert_eq!(led(&server, "/top/").0, 404);
    moved(&server, "/top/sub/", "/up/sub/");
    moved(&server, "/su", "/up/sub/");
    change(&server, "pages", &below, json!({"status": "private"}));
    assert_eq!(led(&server, "/sub/").0, 404);
    // The number of a page of a text is neither a part of an old slug nor the beginning of another one.
    let dated = json!({"date": "2024-05-06T07:08:09"});
    let tides = published(&server, "posts", "tides", dated.clone());
    published(&server, "posts", "2024-tides", dated);
    change(&server, "posts", &tides, json!({"slug": "spring-tides"}));
    moved(&server, "/2024/05/tides/2/", "/2024/05/spring-tides/");
    moved(&server, "/2024/05/spring/2/", "/2024/05/spring-tides/");
}

#[test]
fn templates_that_the_site_had_are_understood() {
    let site = |lines: &str| format!("[site]\n{lines}\n");
    let server = Server::start();
    let with = |server: Server, lines: &str| {
        fs::write(server.path("site.toml"), site(lines)).expect("a file");
        server.restart_with(&[])
    };
    let post = published(&server, "posts", "harbour", json!({}));
    let id = &post["id"];
    let server = with(server, "permalinks = \"/archive/%post_id%/\"");
    moved(&server, "/2024/05/harbour/", &format!("/archive/{id}/"));
    let server = with(server, "permalinks = \"/%postname%/\"");
    moved(&server, "/2024/05/harbour/", "/harbour/");
    moved(&server, &format!("/archive/{id}/"), "/harbour/");
    assert_eq!(led(&server, "/2024/06/harbour/").0, 404);
    change(&server, "posts", &post, json!({"slug": "quay"}));
    for old in ["/harbour/", "/2024/05/harbour/", "/2024/05/quay/"] {
        moved(&server, old, "/quay/");
    }
    // The front end is another site, and its addresses change, too.
    let front = "[site.front]\nurl = \"https://www.example.org\"\n[site.front.paths]\nposts = ";
    let server = with(server, &format!("{front}\"/blog/{{slug}}\""));
    let ends = "https://www.example.org/blog/quay";
    let visited = |server: &Server, path: &str| {
        let answer = visit(server, path);
        (answer.status, answer.header("location").unwrap_or_default().to_owned())
    };
    for old in ["/harbour/", "/2024/05/quay/", "/blog/quay", &format!("/?p={id}"), "/quay/"] {
        assert_eq!(visited(&server, old), (301, ends.to_owned()), "{old}");
    }
    let server = with(server, &format!("{front}\"/news/{{slug}}\""));
    assert_eq!(resolved(&server, "/blog/quay")["location"], "https://www.example.org/news/quay");
    assert_eq!(resolved(&server, "/news/quay")["canonical"], true);
}

#[test]
fn own_types_keep_their_addresses() {
    let server = Server::over(own_types::folder(&[("c_events", "content", json!({}), "")]), &[]);
    let id = own_types::make(&server, "c_events", json!({"title": "Regatta", "slug": "regatta"}));
    let changed = server.admin("POST", &format!("/own/v1/c_events/{id}"), Some(&json!({"slug": "race"})));
    assert_eq!(changed.status, 200, "{}", changed.text);
    moved(&server, "/own/regatta/", "/own/race/");
    assert_eq!(resolved(&server, "/own/race/")["resource"], "c_events");
}

#[test]
fn an_import_brings_the_addresses_of_the_old_site() {
    let server = Server::with(&["site.prefix=wp"]);
    let meta = |key: &str, value: &str| {
        format!("<wp:postmeta><wp:meta_key>{key}</wp:meta_key><wp:meta_value>{value}</wp:meta_value></wp:postmeta>")
    };
    let more = [("_wp_old_slug", "older"), ("_wp_old_slug", "oldest"), ("_wp_old_date", "2019-03-04")];
    let more: String = more.map(|(key, value)| meta(key, value)).concat();
    let export = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\"><channel><title>Old</title>\
         <wp:wxr_version>1.2</wp:wxr_version><wp:base_site_url>http://old.example</wp:base_site_url>\
         <wp:base_blog_url>http://old.example</wp:base_blog_url>\
         <item><title>Now</title><wp:post_id>801</wp:post_id><wp:post_date>2020-01-02 03:04:05</wp:post_date>\
         <wp:post_date_gmt>2020-01-02 03:04:05</wp:post_date_gmt><wp:post_type>post</wp:post_type>\
         <wp:post_name>now</wp:post_name><wp:status>publish</wp:status>{more}</item></channel></rss>"
    );
    fs::write(server.path("export.xml"), export).expect("a file");
    let file = server.path("export.xml");
    let mut args = server.args();
    args.retain(|arg| *arg != "serve");
    args.extend(["import", file.to_str().expect("a path")]);
    let report = stdout(&args, "");
    assert!(!report.contains("_wp_old"), "{report}");
    // Nothing says when the record had which slug.
    for old in ["/2020/01/older/", "/2020/01/oldest", "/2019/03/now/", "/2019/03/older/", "/2019/03/oldest/", "/?p=801"]
    {
        moved(&server, old, "/2020/01/now/");
    }
}

#[test]
fn what_is_there_is_shown_as_data() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let post = published(&server, "posts", "harbour", json!({"content": "Secret <b>", "password": "x"}));
        let rest = format!("{}/{prefix}/v2/posts/{}", server.rest, post["id"]);
        let shown = visit(&server, "/2024/05/harbour/");
        assert_eq!((shown.status, shown.header("content-type")), (200, Some("text/html; charset=UTF-8")));
        assert!(shown.text.contains(&format!("href=\"{rest}\"")) && !shown.text.contains("Secret"), "{}", shown.text);
        let link = format!("<{rest}>; rel=\"alternate\"; type=\"application/json\"");
        assert_eq!(shown.header("link"), Some(&*link));
        let old = visit(&server, "/2024/05/harbour");
        let by = if prefix == "wp" { Some("WordPress") } else { None };
        assert_eq!((old.status, old.header("x-redirect-by"), old.header("cache-control")), (301, by, Some("no-cache")));
        let head = server.send("HEAD", &format!("{}/2024/05/harbour", server.site), None, None, &[]);
        assert_eq!((head.status, head.header("location"), &*head.text), (301, old.header("location"), ""));
        for (path, status) in [
            ("/category/uncategorized/", 200),
            ("/category/uncategorized/page/1/", 200),
            ("/category/uncategorized/page/9/", 404),
            ("/author/admin/", 200),
            ("/2024/05/06/", 200),
            ("/2024/05/07/", 404),
            ("/page/1/", 200),
            ("/?paged=2", 404),
            ("/2024/05/harbour/page/1/", 200),
            ("/2024/05/harbour/page/2/", 404),
            ("/nothing/", 404),
            ("/2024/05/..%2f..%2fetc/passwd", 404),
            ("/%ff", 400),
            ("/a%00b", 400),
        ] {
            assert_eq!(visit(&server, path).status, status, "{prefix} {path}");
        }
        for (path, place) in [
            ("/index.php", "/"),
            ("/index.php/2024/05/harbour/", "/2024/05/harbour/"),
            ("/2024/05/harbour/2/", "/2024/05/harbour/"),
            ("/2024/05/harbour?x=1", "/2024/05/harbour/?x=1"),
            ("/2024/05/harbour?x=%0d%0aSet-Cookie:%20a=b", "/2024/05/harbour/?x=%0d%0aSet-Cookie:%20a=b"),
            ("/2024/05/harbour?x=é", "/2024/05/harbour/?x=%C3%A9"),
            ("/category/uncategorized", "/category/uncategorized/"),
            ("/2024/5", "/2024/05/"),
        ] {
            moved(&server, path, place);
        }
        let put = server.send("POST", &format!("{}/2024/05/harbour/", server.site), None, None, &[]);
        assert_eq!(put.status, 404);
        // Nobody is led away from the site.
        for path in
            ["//elsewhere.example/2024/05/harbour", "/\\elsewhere.example/", "/2024/05/harbour/@elsewhere.example"]
        {
            let place = led(&server, path).1;
            assert!(place.is_empty() || place.starts_with("/2024/05/harbour/"), "{path}: {place}");
        }
    }
}
