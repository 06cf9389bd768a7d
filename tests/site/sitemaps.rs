//! Sitemaps and `robots.txt` as search engines read them: every address that everybody may read, and no other.

use super::free_port::free_address;
use super::inside::Inside;
use super::media::{png, upload};
use super::own_types;
use super::server::{Answer, Server, with_profiles};
use super::sitemap_schema::{SitemapEntry, entries};
use serde_json::{Value, json};

fn page(server: &Server, path: &str) -> Answer {
    server.send("GET", &format!("{}{path}", server.site), None, None, &[])
}

/// The entries of a sitemap, which is what its schema asks for.
fn read(answer: &Answer, root: &str) -> Vec<SitemapEntry> {
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.header("content-type"), Some("application/xml; charset=UTF-8"));
    let entries = entries(&answer.text, root).unwrap_or_else(|problem| panic!("{problem}: {}", answer.text));
    for modified in entries.iter().filter_map(|entry| entry.modified.as_ref()) {
        assert!(modified.ends_with("+00:00"), "{modified}");
    }
    entries
}

fn addresses(answer: &Answer, root: &str) -> Vec<String> {
    read(answer, root).into_iter().map(|entry| entry.url).collect()
}

fn parts(server: &Server, index: &str) -> Vec<String> {
    addresses(&page(server, index), "sitemapindex")
}

fn part(server: &Server, path: &str) -> Vec<String> {
    addresses(&page(server, path), "urlset")
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
        let told =
            |server: &Server| server.admin("GET", "/console/v1/description", None).body["site"]["noindex"].clone();
        assert_eq!(told(&server), true);
        let server = server.restart_with(&sets[..1]);
        assert_eq!((page(&server, "/").header("x-robots-tag"), told(&server)), (None, json!(false)));
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
    let port = free_address().port();
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

const LANGUAGES: &str = r#"
[resources.languages.options]
entries = [
  { name = "English", slug = "en", locale = "en_US" },
  { name = "Deutsch", slug = "de", locale = "de_DE" },
]

[resources.posts.endpoints]
create.translation_group = { description = "Name that translations share.", type = "string" }
"#;

/// The pictures at each address of a part, by the last part of the address.
fn pictures(server: &Server, path: &str) -> Vec<(String, Vec<String>)> {
    let name = |url: &str| url.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    let all = read(&page(server, path), "urlset").into_iter();
    all.filter(|entry| !entry.pictures.is_empty()).map(|entry| (name(&entry.url), entry.pictures)).collect()
}

#[test]
fn pictures_are_those_that_everybody_may_see() {
    let server = Server::over(with_profiles(&["seo"], ""), &[]);
    let picture = |name: &str| upload(&server, name, "image/png", png(1600, 900)).body;
    let [first, second, ninth] = ["first.png", "sec ond.png", "größe.png"].map(picture);
    let text = upload(&server, "notes.txt", "text/plain", b"x".to_vec()).body;
    let own = |file: &Value| file["source_url"].as_str().expect("an address").to_owned();
    let small = second["media_details"]["sizes"]["medium"]["source_url"].as_str().expect("a size").to_owned();
    let content = |urls: &[&str]| urls.iter().map(|url| format!("<p><img src=\"{url}\"></p>")).collect::<String>();
    let post = |slug: &str, more: Value| {
        let mut body = json!({"title": slug, "slug": slug, "status": "publish", "date": "2024-02-02T10:00:00"});
        body.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("an object"));
        make(&server, "posts", body)
    };
    let path = own(&ninth).strip_prefix(&*server.site).expect("on the server").to_owned();
    let both = content(&[
        &small,
        &own(&second),
        &path,
        "https://b.example/x.png",
        "data:image/png;base64,AA",
        "/files/none.png",
    ]);
    post("both", json!({"featured_media": first["id"], "content": both}));
    post("featured", json!({"featured_media": second["id"], "content": "x"}));
    post("again", json!({"featured_media": first["id"], "content": content(&[&own(&first)])}));
    post("file", json!({"content": content(&[&own(&text)])}));
    post("locked", json!({"featured_media": first["id"], "content": content(&[&own(&second)]), "password": "open"}));
    post("hidden", json!({"featured_media": first["id"], "noindex": true}));
    let private = post("private", json!({"featured_media": first["id"], "content": "x", "status": "private"}));
    let ascii = |file: &Value| own(file).replace(' ', "%20").replace('ö', "%C3%B6").replace('ß', "%C3%9F");
    let expected = |rows: &[(&str, &[&Value])]| -> Vec<(String, Vec<String>)> {
        rows.iter().map(|(slug, files)| ((*slug).to_owned(), files.iter().map(|file| ascii(file)).collect())).collect()
    };
    let listed = || pictures(&server, "/sitemap-posts-1.xml");
    assert_eq!(
        listed(),
        expected(&[("both", &[&first, &second, &ninth]), ("featured", &[&second]), ("again", &[&first])])
    );
    // A file below a record is for those who may read the record, and one may be hidden from search engines by itself.
    for (file, change) in [(&second, json!({"post": private["id"]})), (&first, json!({"noindex": true}))] {
        let changed = server.admin("POST", &format!("/cms/v2/media/{}", file["id"]), Some(&change));
        assert_eq!(changed.status, 200, "{}", changed.text);
    }
    assert_eq!(listed(), expected(&[("both", &[&ninth])]));
    let seen = server.admin("GET", "/server/v1/sitemap?path=/sitemap-posts-1.xml", None).text;
    assert!(!seen.contains(&ascii(&second)), "{seen}");
    let sets = ["sitemaps.pictures=0"];
    let server = server.restart_with(&sets);
    assert_eq!(pictures(&server, "/sitemap-posts-1.xml"), []);
    assert!(!page(&server, "/sitemap-posts-1.xml").text.contains("xmlns:image"));
}

#[test]
fn an_address_has_a_bounded_number_of_pictures() {
    for (sets, most) in [
        (&["sitemaps.pictures=2"][..], 2),
        (&[][..], 10),
        (&["site.prefix=wp"], 0),
        (&["site.prefix=wp", "sitemaps.pictures=3"], 3),
    ] {
        let server = Server::with(sets);
        let files: Vec<String> = (0..12)
            .map(|number| {
                upload(&server, &format!("p{number}.png"), "image/png", png(8, 8)).body["source_url"]
                    .as_str()
                    .expect("an address")
                    .to_owned()
            })
            .collect();
        let content: String = files.iter().map(|url| format!("<img src=\"{url}\">")).collect();
        make(&server, "posts", json!({"title": "x", "slug": "all", "status": "publish", "content": content}));
        let part = if server.prefix == "wp" { "/wp-sitemap-posts-post-1.xml" } else { "/sitemap-posts-1.xml" };
        let listed = pictures(&server, part);
        let found = listed.first().map_or(&[][..], |(_, pictures)| pictures);
        assert_eq!(found, &files[..most], "{sets:?}");
    }
}

#[test]
fn a_part_costs_the_same_whatever_its_records_show() {
    let site = Inside::over(with_profiles(&["languages"], LANGUAGES));
    let route = "/server/v1/sitemap?path=/sitemap-posts-1.xml";
    let post = |number: usize| {
        let content = "<img src=\"/files/none.png\">".repeat(number);
        let body = json!({"title": "x", "status": "publish", "content": content, "lang": (["en", "de"][number % 2])});
        site.make("/cms/v2/posts", &body);
    };
    post(1);
    let one = site.cheapest(route, false);
    (1..30).for_each(post);
    let many = site.cheapest(route, false);
    assert_eq!((one.status, many.status), (200, 200));
    assert!(one.queries > 0 && many.queries <= one.queries + 1, "{} and {}", one.queries, many.queries);
}

#[test]
fn translations_name_each_other() {
    let server = Server::over(with_profiles(&["seo", "languages"], LANGUAGES), &[]);
    let post = |slug: &str, lang: &str, group: &str, more: Value| {
        let mut body = json!({"title": slug, "slug": slug, "status": "publish", "date": "2024-02-02T10:00:00"});
        body["lang"] = json!(lang);
        body["translation_group"] = json!(group);
        body.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("an object"));
        make(&server, "posts", body);
    };
    post("sea", "en", "g1", json!({}));
    post("meer", "de", "g1", json!({}));
    post("alone", "en", "g2", json!({}));
    post("draft", "en", "g3", json!({"status": "draft"}));
    post("entwurf", "de", "g3", json!({}));
    post("shown", "en", "g4", json!({}));
    post("versteckt", "de", "g4", json!({"noindex": true}));
    post("twice", "de", "g1", json!({}));
    let front = |path: &str| format!("{}{path}", server.site);
    let own = |tag: &str, path: &str| (tag.to_owned(), front(path));
    let group = [own("x-default", "/2024/02/sea/"), own("en-US", "/2024/02/sea/"), own("de-DE", "/de/2024/02/meer/")];
    let listed = read(&page(&server, "/sitemap-posts-1.xml"), "urlset");
    let found: Vec<(&str, &[(String, String)])> =
        listed.iter().map(|entry| (&entry.url[server.site.len()..], &*entry.translations)).collect();
    assert_eq!(
        found,
        [
            ("/2024/02/sea/", &group[..]),
            ("/de/2024/02/meer/", &group[..]),
            ("/2024/02/alone/", &[]),
            ("/de/2024/02/entwurf/", &[]),
            ("/2024/02/shown/", &[]),
            ("/de/2024/02/twice/", &group[..]),
        ]
    );
    let server = server.restart_with(&["sitemaps.alternates=false"]);
    assert!(!page(&server, "/sitemap-posts-1.xml").text.contains("hreflang"));
}
