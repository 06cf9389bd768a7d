//! Contents in several languages: where they are read, how terms are filtered, what an import brings.

use super::server::{Server, stdout, with_profiles};
use serde_json::{Value, json};
use std::fs;

const DECLARED: &str = r#"
[resources.languages.options]
entries = [
  { name = "English", slug = "en", locale = "en_US" },
  { name = "Deutsch", slug = "de", locale = "de_DE" },
  { name = "Galego", slug = "gl", locale = "gl_ES" },
]
"#;

/// A site whose default language is English.
fn site() -> Server {
    Server::over(with_profiles(&["languages"], DECLARED), &["site.prefix=wp"])
}

fn made(server: &Server, route: &str, body: Value) -> Value {
    let made = server.admin("POST", &format!("/wp/v2/{route}"), Some(&body));
    assert_eq!(made.status, 201, "{}", made.text);
    made.body
}

fn slugs(server: &Server, route: &str) -> Vec<String> {
    let list = server.get(&format!("/wp/v2/{route}")).body;
    let mut slugs: Vec<String> = list
        .as_array()
        .expect("a list")
        .iter()
        .map(|item| item["slug"].as_str().unwrap_or_default().to_owned())
        .collect();
    slugs.sort();
    slugs
}

#[test]
fn languages_are_listed_for_everybody_and_written_by_nobody() {
    let server = site();
    let list = server.get("/pll/v1/languages").body;
    let shown: Vec<Value> = list
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| json!([one["slug"], one["w3c"], one["home_url"], one["is_default"]]))
        .collect();
    let home = |below: &str| format!("{}/{below}", server.site);
    assert_eq!(
        shown,
        [
            json!(["en", "en-US", home(""), true]),
            json!(["de", "de-DE", home("de/"), false]),
            json!(["gl", "gl-ES", home("gl/"), false])
        ]
    );
    assert_eq!(server.get("/pll/v1/languages/de").body, list[1]);
    let unknown = server.get("/pll/v1/languages/xx");
    assert_eq!((unknown.status, unknown.code()), (404, "rest_invalid_slug"));
    let settings = server.get("/pll/v1/settings");
    assert_eq!((settings.status, settings.code()), (401, "rest_forbidden_context"));
    assert_eq!(server.admin("GET", "/pll/v1/settings", None).body["default_lang"], "en");
    for (method, route) in [("POST", "/pll/v1/languages"), ("POST", "/pll/v1/settings"), ("PATCH", "/pll/v1/settings")]
    {
        let refused = server.admin(method, route, Some(&json!({"name": "x"})));
        assert_eq!((refused.status, refused.code()), (501, "rest_languages_declared"), "{method} {route}");
    }
}

#[test]
fn addresses_begin_with_other_languages() {
    let server = site();
    let link = |item: &Value| {
        item["link"].as_str().unwrap_or_default().strip_prefix(&*server.site).unwrap_or_default().to_owned()
    };
    let dated = |slug: &str, lang: Value| json!({"title": slug, "slug": slug, "status": "publish", "date": "2024-05-06T07:08:09", "lang": lang});
    for (slug, lang, expected) in [
        ("one", json!("de"), "/de/2024/05/one/"),
        ("two", json!("en"), "/2024/05/two/"),
        ("three", json!(""), "/2024/05/three/"),
        ("four", json!("xx"), "/2024/05/four/"),
        ("five", json!("de,gl"), "/2024/05/five/"),
    ] {
        let item = made(&server, "posts", dated(slug, lang));
        assert_eq!(link(&item), expected);
        assert!(item.get("lang").is_none() && item.get("translation_group").is_none(), "{item}");
    }
    let asked = server.admin(
        "POST",
        "/wp/v2/posts?lang=gl",
        Some(&json!({"title": "six", "status": "publish", "date": "2024-05-06T07:08:09"})),
    );
    assert_eq!(link(&asked.body), "/gl/2024/05/six/");
    let page = made(&server, "pages", json!({"title": "Über", "slug": "ueber", "status": "publish", "lang": "de"}));
    assert_eq!(link(&page), "/de/ueber/");
    let below = made(
        &server,
        "pages",
        json!({"title": "B", "slug": "b", "status": "publish", "lang": "de", "parent": page["id"]}),
    );
    assert_eq!(link(&below), "/de/ueber/b/");
    assert_eq!(link(&made(&server, "categories", json!({"name": "Haus", "lang": "de"}))), "/de/category/haus/");
    let draft = made(&server, "posts", json!({"title": "D", "lang": "de"}));
    assert_eq!(link(&draft), format!("/de/?p={}", draft["id"]));
    let upper = made(&server, "posts", dated("seven", json!("DE")));
    assert_eq!(link(&upper), "/de/2024/05/seven/");
    assert_eq!(upper["guid"]["raw"], format!("{}/2024/05/seven/", server.site), "{upper}");
    // Lists and searches read no more than they show.
    let listed = server.get("/wp/v2/posts?slug=one&_fields=link").body;
    assert_eq!(link(&listed[0]), "/de/2024/05/one/");
    let found = server.get("/wp/v2/search?search=one&_fields=url").body;
    assert_eq!(found[0]["url"], format!("{}/de/2024/05/one/", server.site));
    // A record moves with its language.
    let item = format!("/wp/v2/posts/{}", draft["id"]);
    let moved =
        server.admin("POST", &item, Some(&json!({"status": "publish", "date": "2024-05-06T07:08:09", "lang": "gl"})));
    assert_eq!(link(&moved.body), "/gl/2024/05/d/");
    let embed = |path: &str| server.get(&format!("/oembed/1.0/embed?url={}{path}", server.site)).status;
    assert_eq!(
        [embed("/de/2024/05/one/"), embed("/2024/05/one/"), embed("/gl/2024/05/one/"), embed("/2024/05/two/")],
        [200, 404, 404, 200]
    );
}

#[test]
fn terms_are_filtered_and_records_are_not() {
    let server = site();
    for (slug, lang) in [("house", "en"), ("haus", "de"), ("casa", "gl"), ("plain", "")] {
        made(&server, "tags", json!({"name": slug, "slug": slug, "lang": lang}));
        made(&server, "posts", json!({"title": slug, "slug": slug, "status": "publish", "lang": lang}));
    }
    for (query, expected) in [
        ("", &["casa", "haus", "house", "plain"][..]),
        ("lang=", &["casa", "haus", "house", "plain"]),
        ("lang=de", &["haus"]),
        ("lang=gl", &["casa"]),
        ("lang=en", &["house", "plain"]),
        ("lang=xx", &["house", "plain"]),
        ("lang=de,gl", &["house", "plain"]),
    ] {
        assert_eq!(slugs(&server, &format!("tags?{query}")), expected, "{query}");
        assert_eq!(slugs(&server, &format!("posts?{query}")).len(), 4, "{query}");
    }
    assert_eq!(slugs(&server, "posts?language=de"), ["haus"]);
    let listed = server.ask("OPTIONS", "/wp/v2/tags", None, None).body;
    assert!(listed["endpoints"][0]["args"].get("lang").is_none(), "{listed}");
}

#[test]
fn names_of_terms_are_unique_in_their_language() {
    let server = site();
    let new = |route: &str, name: &str, lang: &str| {
        let created = server.admin("POST", &format!("/wp/v2/{route}"), Some(&json!({"name": name, "lang": lang})));
        (created.status, created.body["slug"].as_str().unwrap_or_else(|| created.code()).to_owned())
    };
    for route in ["categories", "tags"] {
        for (name, lang, status, slug) in [
            ("Sport", "en", 201, "sport"),
            ("Sport", "", 400, "term_exists"),
            ("Sport", "de", 201, "sport-2"),
            ("sport", "de", 400, "term_exists"),
            ("Meer", "gl", 201, "meer"),
        ] {
            assert_eq!(new(route, name, lang), (status, slug.to_owned()), "{route} {name} {lang}");
        }
        let parent = json!({"lang": "de"});
        let gl = server.get(&format!("/wp/v2/{route}?slug=meer&lang=gl")).body[0]["id"].clone();
        let moved = server.admin("POST", &format!("/wp/v2/{route}/{gl}"), Some(&parent));
        assert_eq!(moved.status, 200, "{}", moved.text);
        assert_eq!(new(route, "Meer", "de").0, 400);
        assert_eq!(new(route, "Meer", "gl").0, 201);
    }
}

#[test]
fn readers_find_each_language() {
    let server = site();
    for (slug, lang) in [("house", "en"), ("haus", "de")] {
        made(&server, "posts", json!({"title": slug, "slug": slug, "status": "publish", "lang": lang}));
    }
    let page =
        |path: &str| server.send("GET", &format!("{}{path}", server.site), None, None, &[("accept", "text/html")]);
    for (path, status) in [("/", 200), ("/de/", 200), ("/gl/", 200), ("/en/", 404), ("/xx/", 404), ("/?lang=de", 200)] {
        let answer = page(path);
        assert_eq!(
            (answer.status, answer.header("content-type").is_some_and(|kind| kind.starts_with("text/html"))),
            (status, true),
            "{path}"
        );
    }
    for (path, there, not) in [("/feed/", "house", "haus"), ("/de/feed/", "haus", "house")] {
        let feed = page(path);
        assert_eq!(feed.status, 200, "{path}: {}", feed.text);
        assert!(
            feed.text.contains(&format!("<title>{there}</title>"))
                && !feed.text.contains(&format!("<title>{not}</title>")),
            "{path}: {}",
            feed.text
        );
    }
    for (slug, lang) in [("house", "en"), ("haus", "de")] {
        made(&server, "pages", json!({"title": format!("page of {slug}"), "status": "publish", "lang": lang}));
    }
    let post = server.get("/wp/v2/posts?language=de").body[0].clone();
    made(&server, "comments", json!({"post": post["id"], "content": "Schön"}));
    let below = post["link"].as_str().unwrap().strip_prefix(&*server.site).unwrap();
    for (path, holds) in [
        ("/feed/", "<language>en-US</language>"),
        ("/de/feed/", "<language>de-DE</language>"),
        ("/de/feed/?s=page", "<title>page of haus</title>"),
        ("/de/?feed=rss2", "<title>haus</title>"),
        (&*format!("{below}feed/"), "Schön"),
    ] {
        let feed = page(path);
        let kind = feed.header("content-type").unwrap_or_default();
        assert!(kind.starts_with("application/rss+xml") && feed.text.contains(holds), "{path}: {kind} {}", feed.text);
    }
    // Lists that each language has stay in the language of their address.
    let year = &post["date"].as_str().unwrap()[..4];
    for path in [format!("/de/{year}/"), "/de/author/admin/".to_owned()] {
        assert_eq!(page(&path).status, 200, "{path}");
        let short = page(path.trim_end_matches('/'));
        assert_eq!((short.status, short.header("location")), (301, Some(&*format!("{}{path}", server.site))), "{path}");
    }
    assert_eq!(page("/xx/feed/").status, 200, "under `wp` the feed of a list that does not exist is empty");
}

const EXPORT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:excerpt="http://wordpress.org/export/1.2/excerpt/" xmlns:content="http://purl.org/rss/1.0/modules/content/"
  xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:wp="http://wordpress.org/export/1.2/">
<channel><title>Old</title><link>https://old.example</link><wp:wxr_version>1.2</wp:wxr_version>
<wp:base_site_url>https://old.example</wp:base_site_url><wp:base_blog_url>https://old.example</wp:base_blog_url>
<wp:category><wp:term_id>11</wp:term_id><wp:category_nicename>boats</wp:category_nicename><wp:cat_name>Boats</wp:cat_name></wp:category>
<wp:category><wp:term_id>12</wp:term_id><wp:category_nicename>boote</wp:category_nicename><wp:cat_name>Boote</wp:cat_name></wp:category>
<wp:term><wp:term_id>21</wp:term_id><wp:term_taxonomy>language</wp:term_taxonomy><wp:term_slug>de</wp:term_slug><wp:term_name>Deutsch</wp:term_name></wp:term>
<wp:term><wp:term_id>22</wp:term_id><wp:term_taxonomy>term_translations</wp:term_taxonomy><wp:term_slug>pll_t1</wp:term_slug><wp:term_name>pll_t1</wp:term_name>
<wp:term_description>a:2:{s:2:"en";i:11;s:2:"de";i:12;}</wp:term_description></wp:term>
ITEMS
</channel></rss>"#;

fn item(id: i64, slug: &str, language: &str) -> String {
    format!(
        "<item><title>{slug}</title><dc:creator>ann</dc:creator><content:encoded>Text</content:encoded><excerpt:encoded></excerpt:encoded>\
         <wp:post_id>{id}</wp:post_id><wp:post_date>2024-01-02 03:04:05</wp:post_date><wp:post_date_gmt>2024-01-02 03:04:05</wp:post_date_gmt>\
         <wp:post_name>{slug}</wp:post_name><wp:status>publish</wp:status><wp:post_type>post</wp:post_type>\
         <category domain=\"language\" nicename=\"{language}\">{language}</category>\
         <category domain=\"post_translations\" nicename=\"pll_p1\">pll_p1</category></item>"
    )
}

#[test]
fn an_import_brings_languages_and_translations() {
    let server = site();
    let file = server.path("old.xml");
    fs::write(&file, EXPORT.replace("ITEMS", &[item(101, "sea", "en"), item(102, "meer", "de")].concat()))
        .expect("a file");
    let mut import = server.args();
    let path = file.display().to_string();
    import.extend(["import", &*path]);
    stdout(&import, "");
    let link = |route: &str| {
        server.get(&format!("/wp/v2/{route}")).body[0]["link"].as_str().unwrap_or_default().replace(&server.site, "")
    };
    assert_eq!([link("posts?slug=sea"), link("posts?slug=meer")], ["/2024/01/sea/", "/de/2024/01/meer/"]);
    assert_eq!(slugs(&server, "categories?lang=de"), ["boote"]);
    assert_eq!(link("categories?slug=boote"), "/de/category/boote/");
    let groups = server.sql("SELECT translation_group FROM x_post ORDER BY 1");
    assert_eq!(groups, ["pll_p1", "pll_p1"]);
    assert_eq!(server.sql("SELECT translation_group FROM x_category WHERE lang = 'de'"), ["pll_t1"]);
    // The default category of a record is the one in its language, where it is translated.
    let category = |slug: &str| server.get(&format!("/wp/v2/categories?slug={slug}")).body[0]["id"].clone();
    let default = json!({"default_category": category("boats")});
    assert_eq!(server.admin("PUT", "/wp/v2/settings", Some(&default)).status, 200);
    for (lang, slug) in [("en", "boats"), ("de", "boote"), ("gl", "boats")] {
        let post = made(&server, "posts", json!({"title": lang, "lang": lang}));
        assert_eq!(post["categories"], json!([category(slug)]), "{lang}");
    }
}
