//! Requests to other sites: none unless they are turned on, never to addresses that are not public, bounded in time and
//! size; and what editors request beside them.

use super::server::{Answer, Server};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Another site: responses by path, counts requests.
struct Elsewhere {
    port: u16,
    asked: Arc<AtomicUsize>,
}

impl Elsewhere {
    fn start() -> Elsewhere {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                counter.fetch_add(1, Ordering::Relaxed);
                std::thread::spawn(move || drop(answer(stream, port)));
            }
        });
        Elsewhere { port, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

fn answer(mut stream: TcpStream, port: u16) -> std::io::Result<()> {
    let mut line = String::new();
    let mut reader = BufReader::new(stream.try_clone()?);
    reader.read_line(&mut line)?;
    let target = line.split(' ').nth(1).unwrap_or("/").to_owned();
    let path = target.split('?').next().unwrap_or("/");
    let moved = |to: String| format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
    let page = |body: &str| format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let text = match path {
        "/page" => page(
            "<html><head><title>Tides &amp; <b>ropes</b></title><link rel=icon href=i.png>\
             <meta name=description content='About it'><meta property=og:image content='javascript:x'></head></html>",
        ),
        "/moved" => moved("/page".into()),
        "/home" => moved(format!("http://127.0.0.2:{port}/page")),
        "/port" => moved("http://127.0.0.1:1/".into()),
        "/scheme" => moved("file:///etc/passwd".into()),
        "/circle" => moved("/circle".into()),
        "/large" => page(&format!("<title>Large</title>{}", "x".repeat(3 << 20))),
        "/slow" => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")?;
            for _ in 0..100 {
                stream.write_all(b"x")?;
                std::thread::sleep(Duration::from_millis(200));
            }
            String::new()
        }
        "/oembed" => {
            page(&json!({"type": "video", "title": "A film", "html": "<iframe></iframe>", "asked": target}).to_string())
        }
        "/oembed-broken" => page("no JSON"),
        _ => "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned(),
    };
    stream.write_all(text.as_bytes())?;
    // A server that closes with bytes unread resets the connection.
    let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
    let _ = reader.read(&mut [0; 4096]);
    Ok(())
}

fn details(server: &Server, url: &str) -> Answer {
    let encoded: String = url.bytes().map(|byte| format!("%{byte:02X}")).collect();
    server.admin("GET", &format!("/wp-block-editor/v1/url-details?url={encoded}"), None)
}

#[test]
fn nobody_is_asked_unless_the_configuration_says_so() {
    let elsewhere = Elsewhere::start();
    let server = Server::with(&["site.prefix=wp", "outbound.networks=[\"127.0.0.1\"]", &ports(&elsewhere)]);
    let answer = details(&server, &elsewhere.url("/page"));
    assert_eq!((answer.status, answer.code()), (404, "no_response"), "{}", answer.text);
    let proxied = server.admin("GET", &format!("/oembed/1.0/proxy?url={}", elsewhere.url("/page")), None);
    assert_eq!((proxied.status, proxied.code()), (404, "oembed_invalid_url"));
    assert_eq!(elsewhere.asked(), 0);
    let own = details(&server, &format!("{}/", server.site));
    assert_eq!((own.status, &own.body["title"]), (200, &json!("A new site")), "this site needs nobody");
    let made = server.admin("POST", "/wp/v2/posts", Some(&json!({"title": "<b>Tide</b>", "status": "publish"})));
    let link = made.body["link"].as_str().expect("an address").to_owned();
    assert_eq!(details(&server, &link).body["title"], "Tide");
}

fn ports(elsewhere: &Elsewhere) -> String {
    format!("outbound.ports=[{}]", elsewhere.port)
}

#[test]
fn pages_of_other_sites_are_described_within_bounds() {
    let elsewhere = Elsewhere::start();
    let sets =
        ["site.prefix=wp", "outbound.link_previews=true", "outbound.timeout=2s", "outbound.networks=[\"127.0.0.1\"]"];
    let server = Server::with(&[&sets[..], &[&ports(&elsewhere)]].concat());
    let expected =
        json!({"title": "Tides & ropes", "icon": elsewhere.url("/i.png"), "description": "About it", "image": ""});
    for path in ["/page", "/moved"] {
        let answer = details(&server, &elsewhere.url(path));
        assert_eq!((answer.status, &answer.body), (200, &expected), "{path}: {}", answer.text);
        let fresh = answer.header("cache-control").is_some_and(|control| control.ends_with("no-store, private"));
        assert!(fresh, "{path}");
    }
    assert_eq!(details(&server, &elsewhere.url("/large")).body["title"], "Large", "what is too much is not read");
    let before = elsewhere.asked();
    details(&server, &elsewhere.url("/page"));
    assert_eq!(elsewhere.asked(), before, "an hour old at most");
    let started = Instant::now();
    for (path, status, code) in [
        ("/none", 404, "no_response"),
        ("/circle", 404, "no_response"),
        ("/slow", 404, "no_response"),
        ("/home", 400, "rest_invalid_param"),
        ("/port", 400, "rest_invalid_param"),
        ("/scheme", 400, "rest_invalid_param"),
    ] {
        let answer = details(&server, &elsewhere.url(path));
        assert_eq!((answer.status, answer.code()), (status, code), "{path}: {}", answer.text);
    }
    assert!(started.elapsed() < Duration::from_secs(15), "a slow site holds nobody up: {:?}", started.elapsed());
    let before = elsewhere.asked();
    for url in ["http://10.0.0.1/", "http://[::1]/", "ftp://127.0.0.1/", "http://a@127.0.0.1/", "http://127.0.0.1:1/"] {
        let answer = details(&server, url);
        assert_eq!((answer.status, answer.code()), (400, "rest_invalid_param"), "{url}: {}", answer.text);
    }
    assert_eq!(elsewhere.asked(), before);
    let reader = server.user("rita", "subscriber");
    let route = format!("/wp-block-editor/v1/url-details?url={}", elsewhere.url("/page"));
    for (who, status) in [(None, 401), (Some(&reader), 403)] {
        let answer = server.ask("GET", &route, who, None);
        assert_eq!((answer.status, answer.code()), (status, "rest_cannot_view_url_details"));
    }
}

#[test]
fn declared_providers_say_how_to_show_what_they_hold() {
    let elsewhere = Elsewhere::start();
    let provider = |name: &str, address: &str, endpoint: &str| {
        let url = elsewhere.url(endpoint);
        format!("outbound.providers.{name}={{ addresses = [\"https://{address}\"], endpoint = \"{url}\" }}")
    };
    let good = provider("films", "*.films.example/watch*", "/oembed?key=1");
    let broken = provider("broken", "broken.example/*", "/oembed-broken");
    let networks = "outbound.networks=[\"127.0.0.1\"]";
    let server = Server::with(&["site.prefix=wp", networks, &ports(&elsewhere), &good, &broken]);
    let proxied = |url: &str| server.admin("GET", &format!("/oembed/1.0/proxy?maxwidth=400&url={url}"), None);
    let answer = proxied("https://www.films.example/watch/5");
    assert_eq!((answer.status, &answer.body["html"]), (200, &json!("<iframe></iframe>")), "{}", answer.text);
    let asked = answer.body["asked"].as_str().unwrap_or("");
    assert_eq!(asked, "/oembed?key=1&url=https%3A%2F%2Fwww.films.example%2Fwatch%2F5&maxwidth=400&format=json");
    for url in ["https://broken.example/x", "https://other.example/x"] {
        assert_eq!((proxied(url).status, proxied(url).code()), (404, "oembed_invalid_url"), "{url}");
    }
}

#[test]
fn a_navigation_is_there_for_whoever_asks_for_one() {
    let route = "/wp-block-editor/v1/navigation-fallback";
    let server = Server::with(&["site.prefix=wp"]);
    let author = server.user("anna", "author");
    assert_eq!(server.ask("GET", route, Some(&author), None).code(), "rest_cannot_create");
    let first = server.admin("GET", &format!("{route}?_embed=1"), None);
    let embedded = &first.body["_embedded"]["self"][0];
    assert_eq!(embedded["content"]["raw"], "<!-- wp:page-list /-->", "{}", first.text);
    assert_eq!((&embedded["id"], &embedded["slug"]), (&first.body["id"], &json!("navigation")));
    assert_eq!(server.admin("GET", route, None).body["id"], first.body["id"], "made once");

    let gone = format!("/wp/v2/navigation/{}?force=true", first.body["id"]);
    assert_eq!(server.admin("DELETE", &gone, None).status, 200);
    let menu = server.admin("POST", "/wp/v2/menus", Some(&json!({"name": "Main"}))).body["id"].clone();
    let item = |title: &str, parent: &Value| {
        let body = json!({"title": title, "url": "https://example.org/", "menus": menu, "parent": parent, "status": "publish"});
        let made = server.admin("POST", "/wp/v2/menu-items", Some(&body));
        assert_eq!(made.status, 201, "{}", made.text);
        made.body["id"].clone()
    };
    let above = item("Harbour", &json!(0));
    item("Pier", &above);
    let id = server.admin("GET", route, None).body["id"].clone();
    let made = server.admin("GET", &format!("/wp/v2/navigation/{id}?context=edit"), None).body;
    let content = made["content"]["raw"].as_str().unwrap_or("");
    let links: Vec<&str> = content.split("<!-- ").skip(1).map(|part| part.split(' ').next().unwrap_or("")).collect();
    assert_eq!(links, ["wp:navigation-submenu", "wp:navigation-link", "/wp:navigation-submenu"], "{content}");
    assert!(content.contains("\"label\":\"Harbour\"") && content.contains("\"label\":\"Pier\""), "{content}");
    assert_eq!(made["title"]["raw"], "Main");
}

#[test]
fn the_site_looks_at_itself() {
    let server = Server::with(&["site.prefix=wp"]);
    let found = |test: &str| {
        let answer = server.admin("GET", &format!("/wp-site-health/v1/tests/{test}"), None);
        assert_eq!(answer.status, 200, "{}", answer.text);
        ["test", "status"].map(|name| answer.body[name].as_str().unwrap_or("").to_owned())
    };
    assert_eq!(found("https-status"), ["https_status", "recommended"]);
    assert_eq!(found("authorization-header"), ["authorization_header", "good"]);
    assert_eq!(found("page-cache"), ["page_cache", "good"]);
    assert_eq!(server.get("/wp-site-health/v1/tests/https-status").code(), "rest_forbidden");
}

#[test]
fn a_theme_is_exported_with_the_templates_of_the_site() {
    let server = Server::with(&["site.prefix=wp"]);
    let body = json!({"slug": "single", "title": "Single", "content": "<p>one</p>"});
    assert_eq!(server.admin("POST", "/wp/v2/templates", Some(&body)).status, 201);
    let body = json!({"slug": "top", "area": "header", "content": "<p>two</p>"});
    assert_eq!(server.admin("POST", "/wp/v2/template-parts", Some(&body)).status, 201);
    let answer = server.admin("GET", "/wp-block-editor/v1/export", None);
    assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"plain.zip\""));
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(answer.bytes)).expect("an archive");
    let names: Vec<String> = zip.file_names().map(|name| name.expect("text").into_owned()).collect();
    let own = ["templates/single.html", "templates/index.html", "templates/page.html"];
    let parts = ["parts/top.html", "parts/header.html", "parts/footer.html", "theme.json", "style.css"];
    assert_eq!(names, [&own[..], &parts[..]].concat(), "what the site has written, and what the theme has");
    let mut text = String::new();
    zip.by_name("templates/single.html").expect("a page").read_to_string(&mut text).expect("text");
    assert_eq!(text, "<p>one</p>");
    let answer = server.get("/wp-block-editor/v1/export");
    assert_eq!((answer.status, answer.code()), (401, "rest_cannot_export_templates"));
}
