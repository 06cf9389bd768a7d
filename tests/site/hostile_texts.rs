//! Texts that are no plain ones, wherever readers, feeds and search engines meet them: feeds and sitemaps stay XML, pages run
//! nothing, and every text has a length.

use super::server::{Answer, Server, with_profiles};
use super::sitemap_schema::entries;
use serde_json::{Value, json};

/// A title, and what of it is text in feeds and on pages; none where it is cut.
fn titles() -> Vec<(String, Option<&'static str>)> {
    let rows = [
        ("A <em>bold</em> <script>alert(1)</script>word", Some("A bold alert(1)word")),
        ("Fish &amp; Chips &#8211; &lt;b&gt; ]]>", Some("Fish & Chips – <b> ]]>")),
        ("👩‍👩‍👧‍👦 at sea", Some("👩‍👩‍👧‍👦 at sea")),
        ("\u{5d0}\u{5d1} \u{200f}ab", Some("\u{5d0}\u{5d1} \u{200f}ab")),
        ("a\u{1}b\u{b}c\u{fffe}d", Some("abcd")),
        ("&#1;x&#xfffe;", None),
        ("</title></head><body onload=alert(2)>", None),
    ];
    let long = [("Ж ".repeat(21_800), None), ("x".repeat(65_535), None)];
    rows.map(|(title, text)| (title.to_owned(), text)).into_iter().chain(long).collect()
}

fn page(server: &Server, path: &str) -> Answer {
    server.send("GET", &format!("{}{path}", server.site), None, None, &[("accept", "text/html,*/*")])
}

/// Characters that no XML has.
fn forbidden(c: char) -> bool {
    matches!(c, '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

#[test]
fn texts_stay_texts_in_feeds_sitemaps_pages_and_heads() {
    let server = Server::over(with_profiles(&["seo"], "[settings]\ntitle = \"Harbour\"\n"), &[]);
    let make = |base: &str, body: Value| {
        let made = server.admin("POST", &format!("/cms/v2/{base}"), Some(&body));
        assert_eq!(made.status, 201, "{}", made.text);
        made.body
    };
    for (at, (title, _)) in titles().iter().enumerate() {
        let name = format!("C{at} {}", title.chars().take(150).collect::<String>());
        let term = make("categories", json!({"name": name, "slug": format!("c{at}")}));
        make(
            "posts",
            json!({"title": {"raw": title}, "slug": format!("r{at}"), "status": "publish", "date": format!("2024-05-06T07:08:{:02}", 59 - at),
            "content": {"raw": title}, "excerpt": {"raw": title}, "categories": [term["id"]]}),
        );
    }
    let titles = titles();
    for path in ["/feed/", "/feed/atom/", "/feed/rdf/", "/feed.json"] {
        let answer = page(&server, path);
        assert_eq!(answer.status, 200, "{path}");
        let json = path.ends_with("json");
        assert!(json || !answer.text.contains(forbidden), "{path}");
        let found = feed_rs::parser::parse(&*answer.bytes).unwrap_or_else(|problem| panic!("{path}: {problem}"));
        assert_eq!(found.entries.len(), titles.len(), "{path}");
        for (entry, (title, text)) in found.entries.iter().zip(&titles) {
            let shown = entry.title.as_ref().map_or("", |title| &title.content);
            let shown: String = shown.chars().filter(|c| !forbidden(*c)).collect();
            assert!(text.is_none_or(|text| shown == text), "{path}: {shown:?} of {title:?}");
            assert!(!shown.contains("<script"), "{path}: {shown}");
        }
    }
    let index = page(&server, "/sitemap.xml");
    let parts = entries(&index.text, "sitemapindex").expect("an index").into_iter().map(|part| part.url);
    for part in parts.chain(["/sitemap-posts-1.xml".to_owned()]) {
        let answer = page(&server, part.strip_prefix(&*server.site).unwrap_or(&part));
        assert!(!answer.text.contains(forbidden), "{part}");
        entries(&answer.text, "urlset").unwrap_or_else(|problem| panic!("{part}: {problem}"));
    }
    let tags = regex::Regex::new("<(script|iframe|body|head|title)\\b").expect("a pattern");
    let plain: Vec<String> =
        tags.find_iter(&page(&server, "/2024/05/r2/").text).map(|tag| tag.as_str().to_owned()).collect();
    assert_eq!(plain, ["<head", "<title", "<script", "<body"]);
    for (at, (title, _)) in titles.iter().enumerate() {
        let shown = page(&server, &format!("/2024/05/r{at}/"));
        let found: Vec<&str> = tags.find_iter(&shown.text).map(|tag| tag.as_str()).collect();
        assert_eq!((shown.status, found), (200, plain.iter().map(String::as_str).collect()), "{title:.60}");
        let start = shown.text.find("<title>").expect("a title") + 7;
        let head = &shown.text[start..start + shown.text[start..].find("</title>").expect("its end")];
        assert!(head.chars().count() <= 2_000, "{head:.60}");
    }
}
