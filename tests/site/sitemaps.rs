//! Sitemaps and `robots.txt` as search engines read them: every address that everybody may read, and no other.

use super::own_types;
use super::server::{Answer, Server};
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::{Value, json};

fn page(server: &Server, path: &str) -> Answer {
    server.send("GET", &format!("{}{path}", server.site), None, None, &[])
}

/// The addresses of a sitemap, which has the shape that sitemaps.org gives: nothing but `loc` and `lastmod`, in this order.
fn addresses(answer: &Answer, root: &str, entry: &str) -> Vec<String> {
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.header("content-type"), Some("application/xml; charset=UTF-8"));
    let mut reader = Reader::from_str(&answer.text);
    let (mut open, mut found) = (Vec::new(), Vec::new());
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error}: {}", answer.text)) {
            Event::Start(tag) => {
                let name = tag.name().as_ref().to_owned();
                let fits = match open.len() {
                    0 => name == root,
                    1 => name == entry,
                    _ => name == "loc" || name == "lastmod" && !found.is_empty(),
                };
                assert!(fits, "{name} in {open:?}: {}", answer.text);
                open.push(name);
            }
            Event::Text(text) if open.last().is_some_and(|name| name == "loc") => {
                found.push(text.to_string());
            }
            Event::Text(text) if open.last().is_some_and(|name| name == "lastmod") => {
                let text = text.to_string();
                assert!(cms_text::time::parse_datetime(&text).is_some() && text.ends_with("+00:00"), "{text}");
            }
            Event::GeneralRef(reference) if open.last().is_some_and(|name| name == "loc") => {
                assert_eq!(&*reference, "amp", "{}", answer.text);
                found.last_mut().expect("an address").push('&');
            }
            Event::End(_) => drop(open.pop()),
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(open.is_empty() && answer.text.contains("\"http://www.sitemaps.org/schemas/sitemap/0.9\""));
    found
}

fn parts(server: &Server, index: &str) -> Vec<String> {
    addresses(&page(server, index), "sitemapindex", "sitemap")
}

fn part(server: &Server, path: &str) -> Vec<String> {
    addresses(&page(server, path), "urlset", "url")
}

/// The addresses of all parts that the index names.
fn all(server: &Server, index: &str) -> Vec<String> {
    let own = |url: String| url.strip_prefix(&*server.site).expect("on the server").to_owned();
    let mut all: Vec<String> = parts(server, index).into_iter().flat_map(|url| part(server, &own(url))).collect();
    all.sort();
    all
}

fn declared(site: &str, sets: &[&str]) -> Server {
    let server = Server::with(sets);
    std::fs::write(server.path("site.toml"), site).expect("a file");
    server.restart_with(sets)
}

fn make(server: &Server, base: &str, body: Value) -> Value {
    let made = server.admin("POST", &format!("/{}/v2/{base}", server.prefix), Some(&body));
    assert_eq!(made.status, 201, "{base} {body}: {}", made.text);
    made.body
}

fn post(server: &Server, slug: &str, status: &str) -> Value {
    let date = if status == "future" { "2101-01-01T00:00:00" } else { "2024-02-02T10:00:00" };
    make(server, "posts", json!({"title": slug, "slug": slug, "status": status, "date": date}))
}

/// Records of every state, with terms and files; the addresses that everybody may read, without that of the site.
fn filled(server: &Server) -> Vec<String> {
    let tag = make(server, "tags", json!({"name": "Used"}))["id"].clone();
    make(server, "tags", json!({"name": "Unused"}));
    for status in ["draft", "pending", "private", "future"] {
        post(server, status, status);
    }
    let gone = post(server, "gone", "publish");
    server.admin("DELETE", &format!("/{}/v2/posts/{}", server.prefix, gone["id"]), None);
    make(
        server,
        "posts",
        json!({"title": "x", "slug": "shown", "status": "publish", "date": "2024-02-02T10:00:00", "tags": [tag]}),
    );
    // Its address is no secret, as in WordPress; what stands there is.
    make(
        server,
        "posts",
        json!({"title": "x", "slug": "locked", "status": "publish", "date": "2024-02-02T10:00:00", "password": "open"}),
    );
    let above = make(server, "pages", json!({"title": "About", "status": "publish"}))["id"].clone();
    make(server, "pages", json!({"title": "Team", "status": "publish", "parent": above}));
    server.user("writer", "author");
    let paths = [
        "/2024/02/locked/",
        "/2024/02/shown/",
        "/about/",
        "/about/team/",
        "/author/admin/",
        "/category/uncategorized/",
        "/tag/used/",
    ];
    paths.iter().map(|path| format!("{}{path}", server.site)).collect()
}

#[test]
fn exactly_what_everybody_may_read_is_listed() {
    for (prefix, index, names) in [
        ("cms", "/sitemap.xml", ["posts", "pages", "categories", "tags", "users"]),
        ("wp", "/wp-sitemap.xml", ["posts-post", "posts-page", "taxonomies-category", "taxonomies-post_tag", "users"]),
    ] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let mut expected = filled(&server);
        expected.insert(0, format!("{}/", server.site));
        let start = index.trim_end_matches(".xml");
        let named: Vec<String> = names.iter().map(|name| format!("{}{start}-{name}-1.xml", server.site)).collect();
        assert_eq!(parts(&server, index), named, "{prefix}");
        assert_eq!(all(&server, index), expected, "{prefix}");
        let robots = page(&server, "/robots.txt");
        assert_eq!(robots.header("content-type"), Some("text/plain; charset=UTF-8"));
        assert!(robots.text.starts_with("User-agent: *\n"), "{}", robots.text);
        assert!(robots.text.ends_with(&format!("\nSitemap: {}{index}\n", server.site)), "{}", robots.text);
        let list = names[0];
        for missing in [
            format!("{start}-{list}-2.xml"),
            format!("{start}-{list}-0.xml"),
            format!("{start}-{list}-01.xml"),
            format!("{start}-{list}-99999999999999999999.xml"),
            format!("{start}-{list}-9223372036854775807.xml"),
            format!("{start}-{list}-x.xml"),
            format!("{start}-{}-1.xml", if prefix == "wp" { "posts-attachment" } else { "media" }),
            format!("{start}-{}-1.xml", if prefix == "wp" { "taxonomies-none" } else { "none" }),
        ] {
            assert_eq!(page(&server, &missing).status, 404, "{missing}");
        }
        let home = page(&server, &format!("{start}-nothing-1.xml"));
        assert_eq!(home.status, if prefix == "wp" { 200 } else { 404 }, "{prefix}: {}", home.text);
        let moved = page(&server, "/sitemap.xml");
        let to = (moved.status == 301).then(|| moved.header("location").unwrap_or_default().to_owned());
        assert_eq!(to, (prefix == "wp").then(|| format!("{}{index}", server.site)));
        let empty = server.restart_with(&[&format!("site.prefix={prefix}"), "site.list_authors=false"]);
        assert!(!parts(&empty, index).iter().any(|url| url.contains("users")), "{prefix}");
    }
}

#[test]
fn parts_are_full_and_only_the_last_one_grows() {
    let server = declared("[sitemaps]\naddresses = 2\n", &[]);
    for number in 1..=5 {
        post(&server, &format!("p{number}"), "publish");
    }
    let place = |slug: &str| format!("{}/2024/02/{slug}/", server.site);
    let of = |number: usize| format!("/sitemap-posts-{number}.xml");
    let listed = || parts(&server, "/sitemap.xml").iter().filter(|url| url.contains("-posts-")).count();
    assert_eq!(listed(), 3);
    for (number, slugs) in [(1, &["p1", "p2"][..]), (2, &["p3", "p4"]), (3, &["p5"])] {
        let expected: Vec<String> = slugs.iter().map(|slug| place(slug)).collect();
        assert_eq!(part(&server, &of(number)), expected, "{number}");
    }
    let tag = |path: &str| page(&server, path).header("etag").map(str::to_owned);
    let before = [tag(&of(1)), tag(&of(2)), tag(&of(3)), tag("/sitemap.xml")];
    post(&server, "p6", "publish");
    assert_eq!(part(&server, &of(3)), [place("p5"), place("p6")]);
    let after = [tag(&of(1)), tag(&of(2)), tag(&of(3)), tag("/sitemap.xml")];
    let same: Vec<bool> = before.iter().zip(&after).map(|(before, after)| before == after).collect();
    assert_eq!(same, [true, true, false, true]);
    assert_eq!((listed(), page(&server, &of(4)).status), (3, 404));
    post(&server, "p7", "publish");
    assert_eq!((listed(), part(&server, &of(4))), (4, vec![place("p7")]));
}

#[test]
fn a_sitemap_is_sent_again_only_after_a_change() {
    let server = Server::start();
    let made = post(&server, "first", "publish");
    for path in ["/sitemap.xml", "/sitemap-posts-1.xml", "/sitemap-users-1.xml", "/robots.txt"] {
        let url = format!("{}{path}", server.site);
        let whole = page(&server, path);
        let tag = whole.header("etag").unwrap_or_else(|| panic!("{path}: no tag")).to_owned();
        assert_eq!(whole.header("cache-control"), Some("no-cache"), "{path}");
        let again = server.send("GET", &url, None, None, &[("if-none-match", &tag)]);
        assert_eq!((again.status, again.bytes.len()), (304, 0), "{path}");
        let head = server.send("HEAD", &url, None, None, &[]);
        assert_eq!((head.status, head.header("etag"), head.bytes.len()), (200, Some(&*tag), 0), "{path}");
    }
    let changed = page(&server, "/sitemap-posts-1.xml").header("last-modified").map(str::to_owned);
    let url = format!("{}/sitemap-posts-1.xml", server.site);
    let since = [("if-modified-since", changed.as_deref().expect("the time of the last change"))];
    assert_eq!(server.send("GET", &url, None, None, &since).status, 304);
    let of = format!("/cms/v2/posts/{}", made["id"]);
    let steps = [
        ("POST", json!({"slug": "second"}), Some("/2024/02/second/")),
        ("POST", json!({"status": "draft"}), None),
        ("POST", json!({"status": "publish"}), Some("/2024/02/second/")),
        ("DELETE", json!({}), None),
    ];
    for (method, body, expected) in steps {
        let written = server.admin(method, &of, Some(&body));
        assert!(written.status < 300, "{body}: {}", written.text);
        let expected = expected.map(|path| format!("{}{path}", server.site));
        match expected {
            Some(place) => assert_eq!(part(&server, "/sitemap-posts-1.xml"), [place], "{method} {body}"),
            None => assert_eq!(page(&server, "/sitemap-posts-1.xml").status, 404, "{method} {body}"),
        }
    }
}

#[test]
fn a_site_that_is_not_to_be_found_says_so() {
    for (prefix, index) in [("cms", "/sitemap.xml"), ("wp", "/wp-sitemap.xml")] {
        let sets = [&*format!("site.prefix={prefix}"), "site.noindex=true"];
        let server = Server::with(&sets);
        post(&server, "shown", "publish");
        assert_eq!(page(&server, "/robots.txt").text, "User-agent: *\nDisallow: /\n");
        for path in [index, &*format!("{}-users-1.xml", index.trim_end_matches(".xml"))] {
            assert_eq!(page(&server, path).status, 404, "{path}");
        }
        // Nothing is listed, whatever a link leads to.
        for path in ["/", "/feed/", "/robots.txt", "/nothing", "/login", &*format!("/{prefix}-json/{prefix}/v2/posts")]
        {
            assert_eq!(page(&server, path).header("x-robots-tag"), Some("noindex"), "{prefix} {path}");
        }
        let server = server.restart_with(&sets[..1]);
        assert_eq!(page(&server, "/").header("x-robots-tag"), None);
        assert_eq!(page(&server, index).status, 200);
    }
}

#[test]
fn what_is_declared_is_listed_where_it_is_read() {
    let own = [
        ("c_events", "content", json!({}), "sitemap = true\n"),
        ("c_notes", "content", json!({}), ""),
        ("c_secret", "content", json!({}), "sitemap = true\nlisting = { viewable = false }\n"),
    ];
    let folder = own_types::folder(&own);
    let file = folder.path().join("site.toml");
    let mut site = std::fs::read_to_string(&file).expect("a file");
    site.push_str(
        "[site.front]\nurl = \"https://www.example.org\"\n[site.front.paths]\nposts = \"/blog/{slug}\"\n\
         c_events = \"/agenda/{slug}\"\n[resources.tags]\nsitemap = false\n",
    );
    std::fs::write(&file, site).expect("a file");
    let server = Server::over(folder, &[]);
    for resource in ["c_events", "c_notes", "c_secret"] {
        own_types::make(&server, resource, json!({"title": format!("In {resource} & more")}));
        own_types::make(&server, resource, json!({"title": "Draft", "status": "draft"}));
    }
    let tag = make(&server, "tags", json!({"name": "Used"}))["id"].clone();
    make(&server, "posts", json!({"title": "Post", "status": "publish", "tags": [tag]}));
    let front = |path: &str| format!("https://www.example.org{path}");
    let expected = ["/", "/agenda/in-c_events-more", "/author/admin/", "/blog/post", "/category/uncategorized/"];
    assert_eq!(all(&server, "/sitemap.xml"), expected.map(front));
    let robots = page(&server, "/robots.txt").text;
    assert!(robots.ends_with(&format!("\nSitemap: {}/sitemap.xml\n", server.site)), "{robots}");
    let server = server.restart_with(&["sitemaps.enabled=false", "robots.enabled=false"]);
    for path in ["/sitemap.xml", "/sitemap-posts-1.xml", "/robots.txt"] {
        assert_eq!(page(&server, path).status, 404, "{path}");
    }
}

#[test]
fn sitemaps_are_below_the_path_of_the_site() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port").port();
    let host = format!("http://127.0.0.1:{port}");
    let sets = [&*format!("server.listen=127.0.0.1:{port}"), &*format!("site.url={host}/below"), "site.prefix=wp"];
    let server = Server::with(&sets);
    let mut expected = filled(&server);
    expected.insert(0, format!("{host}/below/"));
    assert_eq!(all(&server, "/wp-sitemap.xml"), expected);
    let robots = page(&server, "/robots.txt").text;
    assert!(robots.contains("\nDisallow: /below/wp-admin/\n"), "{robots}");
    assert!(robots.ends_with(&format!("\nSitemap: {host}/below/wp-sitemap.xml\n")), "{robots}");
    // The style sheets that browsers ask for are there.
    let text = page(&server, "/wp-sitemap.xml").text;
    let (_, rest) = text.split_once("href=\"").expect("a style sheet");
    let style = server.send("GET", rest.split('"').next().unwrap_or_default(), None, None, &[]);
    assert_eq!((style.status, style.header("content-type")), (200, Some("application/xml; charset=UTF-8")));
}
