//! Pages of single records for readers, where no front end shows the site.

use super::media::{png, upload};
use super::server::{Answer, Server, with_profiles};
use serde_json::{Value, json};

fn page(server: &Server, path: &str) -> Answer {
    server.send("GET", &format!("{}{path}", server.site), None, None, &[("accept", "text/html")])
}

fn made(server: &Server, base: &str, mut body: Value) -> Value {
    let members = [("status", json!("publish")), ("date", json!("2024-05-06T07:08:09"))];
    let body = body.as_object_mut().expect("an object");
    members.into_iter().for_each(|(name, value)| {
        body.entry(name).or_insert(value);
    });
    let made = server.admin("POST", &format!("/{}/v2/{base}", server.prefix), Some(&json!(body)));
    assert_eq!(made.status, 201, "{}", made.text);
    made.body
}

/// Names and contents of the tags of the head.
fn tags(page: &Answer) -> Vec<(String, String)> {
    let pattern = regex::Regex::new(r#"<meta (?:name|property)="([^"]+)" content="([^"]*)">"#).expect("a pattern");
    pattern.captures_iter(&page.text).map(|found| (found[1].to_owned(), found[2].to_owned())).collect()
}

#[test]
fn a_record_is_read_at_its_own_address() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        server.admin("POST", &format!("/{prefix}/v2/settings"), Some(&json!({"title": "Nets & Ropes"})));
        let content = "<!-- wp:paragraph --><p>The boats come in at <em>six</em>.</p><!-- /wp:paragraph -->";
        made(&server, "posts", json!({"title": "Fish & \"Chips\" <b>x</b>", "slug": "six", "content": content}));
        let shown = page(&server, "/2024/05/six/");
        assert_eq!((shown.status, shown.header("content-type")), (200, Some("text/html; charset=UTF-8")));
        for there in [
            "<html lang=\"en-US\">",
            "<title>Fish &amp; &#8220;Chips&#8221; x",
            "<time datetime=\"2024-05-06T07:08:09Z\">May 6, 2024</time> · admin</p>",
            ">The boats come in at <em>six</em>.</p>",
            "<main>",
            "Nets &amp; Ropes</a>",
        ] {
            let text = shown.text.replace('“', "&#8220;").replace('”', "&#8221;");
            assert!(text.contains(there), "{prefix}: no {there} in {}", shown.text);
        }
        assert!(shown.text.matches("<h1>").count() == 1 && !shown.text.contains("<script"), "{}", shown.text);
        let described = tags(&shown).into_iter().find(|(name, _)| name == "description");
        assert_eq!(described.map(|(_, text)| text).as_deref(), Some("The boats come in at six."));
        assert!(shown.text.contains(&format!("<link rel=\"canonical\" href=\"{}/2024/05/six/\">", server.site)));
        assert!(shown.header("link").is_some_and(|link| link.contains("application/json")));
        assert_eq!(shown.header("cache-control"), Some("no-cache"));
        let policy = shown.header("content-security-policy").expect("a policy");
        assert!(
            policy.starts_with("default-src 'none'; style-src 'self';") && !policy.contains("script-src"),
            "{policy}"
        );
        let styles: Vec<&str> = shown.text.split("rel=\"stylesheet\" href=\"").skip(1).collect();
        let style = page(&server, styles[0].split('"').next().unwrap_or_default());
        assert_eq!((styles.len(), style.status), (1, 200));
        let icon = include_str!("../../src/pages/templates/favicon.svg").len();
        let whole = shown.bytes.len() + style.bytes.len() + icon;
        assert!(whole <= 10 * 1024, "{whole} bytes");
        let head = server.send("HEAD", &format!("{}/2024/05/six/", server.site), None, None, &[]);
        assert_eq!((head.status, head.bytes.len()), (200, 0));
    }
}

#[test]
fn what_is_not_for_everybody_has_no_page() {
    let server = Server::start();
    for status in ["draft", "pending", "private"] {
        let made =
            made(&server, "posts", json!({"title": "A secret", "slug": status, "status": status, "content": "secret"}));
        for path in [format!("/2024/05/{status}/"), format!("/?p={}", made["id"])] {
            let shown = page(&server, &path);
            assert!(shown.status != 200 || !shown.text.contains("secret"), "{path}: {}", shown.text);
        }
    }
    made(&server, "posts", json!({"title": "Closed", "slug": "closed", "content": "secret", "password": "open"}));
    let locked = page(&server, "/2024/05/closed/");
    assert_eq!(locked.status, 200);
    assert!(locked.text.contains("protected by a password") && !locked.text.contains("secret"), "{}", locked.text);
    // The caller's own rights make no difference.
    let seen = server.send("GET", &format!("{}/2024/05/closed/", server.site), Some(&server.admin), None, &[]);
    assert!(!seen.text.contains("secret"), "{}", seen.text);
}

#[test]
fn markup_of_an_author_runs_nothing_on_the_page() {
    let server = Server::start();
    let evil = "<script>alert(1)</script><img src=x onerror=alert(2)><iframe src=\"https://b.example/\"></iframe><p>Good</p>\
                <a href=\"javascript:alert(3)\">x</a><form action=\"https://b.example/\"><input name=q></form>";
    made(
        &server,
        "posts",
        json!({"title": "</title><script>alert(4)</script>T", "slug": "evil", "content": {"raw": evil}}),
    );
    let shown = page(&server, "/2024/05/evil/");
    assert_eq!(shown.status, 200);
    for not in ["<script", "onerror", "<iframe", "javascript:", "<form", "<input"] {
        assert!(!shown.text.contains(not), "{not}: {}", shown.text);
    }
    assert!(shown.text.contains("<p>Good</p>"), "{}", shown.text);
}

#[test]
fn the_page_tells_search_engines_what_the_document_tells() {
    let server = Server::over(with_profiles(&["seo"], "[settings]\ntitle = \"Harbour\"\n"), &[]);
    let picture = upload(&server, "card.png", "image/png", png(1600, 900)).body;
    let seo = json!({"title": "Six \"o'clock\"", "description": "What the boats bring & more.", "nofollow": true, "directives": ["noarchive"]});
    let hostile = "At six &lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt; &lt;!-- \u{2028}";
    let body = json!({"title": {"raw": hostile}, "slug": "six", "content": "x", "seo_values": seo, "featured_media": picture["id"]});
    let post = made(&server, "posts", body);
    let shown = page(&server, "/2024/05/six/");
    let tags = tags(&shown);
    let tag = |name: &str| tags.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
    assert!(shown.text.contains("<title>Six &quot;o"), "{}", shown.text);
    assert_eq!(tag("description"), Some("What the boats bring &amp; more."));
    assert!(
        tag("robots")
            .is_some_and(|words| words.starts_with("index, nofollow, max-snippet:") && words.ends_with("noarchive"))
    );
    assert_eq!(tag("og:image"), picture["source_url"].as_str());
    assert_eq!((tag("og:image:width"), tag("og:image:height")), (Some("1600"), Some("900")));
    assert_eq!((tag("og:site_name"), tag("twitter:card")), (Some("Harbour"), Some("summary_large_image")));
    assert!(tags.iter().all(|(_, value)| !value.is_empty()), "{tags:?}");
    // The graph is data: the one block of the page, which no text in it ends.
    let told = server.get(&format!("/cms/v2/posts/{}?_fields=seo.schema", post["id"])).body;
    let (_, rest) = shown.text.split_once("<script type=\"application/ld+json\">").expect("a block of data");
    let (block, after) = rest.split_once("</script>").expect("its end");
    assert!(!block.contains(['<', '>', '&', '\u{2028}']) && !after.contains("<script"), "{block} {after}");
    assert_eq!(shown.text.matches("<script").count(), 1, "{}", shown.text);
    let read: Value = serde_json::from_str(block).expect("JSON");
    assert_eq!(read, json!({"@context": "https://schema.org", "@graph": told["seo"]["schema"]}));
    let policy = shown.header("content-security-policy").expect("a policy");
    assert!(policy.starts_with("default-src 'none';") && !policy.contains("script-src"), "{policy}");
    assert!(shown.bytes.len() < 8 * 1024, "{} bytes", shown.bytes.len());
}

#[test]
fn the_page_is_of_sites_that_no_front_end_shows() {
    let server = Server::start();
    let post = made(&server, "posts", json!({"title": "At six", "slug": "six", "content": "The boats"}));
    made(&server, "pages", json!({"title": "About", "slug": "about", "content": "Of us"}));
    assert!(page(&server, "/about/").text.contains("Of us"));
    assert!(page(&server, "/category/uncategorized/").text.contains("Served as data"));
    let server = server.restart_with(&["pages.reader=false"]);
    let off = page(&server, "/2024/05/six/").text;
    assert!(off.contains("Served as data") && !off.contains("The boats"), "{off}");
    let server = server.restart_with(&["pages.enabled=false"]);
    assert!(page(&server, "/2024/05/six/").text.contains("The boats"));
    let server = server.restart_with(&["site.front.url=https://www.example.org"]);
    let elsewhere = page(&server, "/2024/05/six/");
    assert!(!elsewhere.text.contains("The boats"), "{}: {} {}", post["id"], elsewhere.status, elsewhere.text);
}

#[test]
fn the_page_is_in_the_language_of_its_address() {
    let languages = "[resources.languages.options]\nentries = [\n  { name = \"English\", slug = \"en\", locale = \"en_US\" },\n  \
                     { name = \"Deutsch\", slug = \"de\", locale = \"de_DE\" },\n]\n";
    let server = Server::over(with_profiles(&["languages"], languages), &[]);
    made(
        &server,
        "posts",
        json!({"title": "Um sechs", "slug": "sechs", "lang": "de", "content": "x", "password": "offen"}),
    );
    let shown = page(&server, "/de/2024/05/sechs/").text;
    assert!(shown.contains("<html lang=\"de-DE\">") && shown.contains("Der Inhalt ist durch ein Passwort"), "{shown}");
}
