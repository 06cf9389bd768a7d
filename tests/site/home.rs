//! The site's own address: a page for browsers, a document for programs, and where clients find the interface.

use super::pages::{Browser, PASSWORD};
use super::server::{Answer, Server};
use serde_json::json;

const BROWSER: (&str, &str) = ("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");

fn ask(server: &Server, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    server.send(method, &format!("{}{path}", server.site), None, None, headers)
}

fn page(server: &Server, path: &str) -> Answer {
    let page = ask(server, "GET", path, &[BROWSER]);
    assert_eq!(page.header("content-type"), Some("text/html; charset=UTF-8"), "{path}: {}", page.text);
    page
}

#[test]
fn a_browser_is_told_what_runs_here() {
    for (prefix, login) in [("cms", "/login"), ("wp", "/wp-login.php")] {
        let server = Server::with(&[&format!("site.prefix={prefix}"), "pages.docs=\"https://docs.example/a?b&c\""]);
        let rest = format!("{}/", server.rest);
        server.admin(
            "POST",
            &format!("/{prefix}/v2/settings"),
            Some(&json!({"title": "Tea & \"Cake\" <b", "description": "It's"})),
        );
        for path in ["/", "/?utm_source=x", "/?p=x", "/?p=0", "/?cat=0", "/?rest_route="] {
            let page = page(&server, path);
            assert_eq!(page.status, 200, "{path}");
            for part in [
                format!("<a href=\"{rest}?_pretty\">{rest}</a>"),
                format!("<link rel=\"https://api.w.org/\" href=\"{rest}\">"),
                format!("<a href=\"{}/{prefix}/v2?_pretty\">{prefix}/v2</a>", server.rest),
                format!("<a href=\"{}{login}\">Log in</a>", server.site),
                format!("<a href=\"{}/admin\">The console</a>", server.site),
                format!("<code>{}/xmlrpc.php</code>", server.site),
                "<a href=\"https://docs.example/a?b&amp;c\">".to_owned(),
            ] {
                assert!(page.text.contains(&part), "{prefix} {path}: {part} in {}", page.text);
            }
            let (name, description) = ("Tea &amp; &quot;Cake&quot; &lt;b", "<p class=\"lead\">It&#39;s</p>");
            assert!(page.text.contains(&format!("<title>{name}</title>")), "{}", page.text);
            assert!(page.text.contains(&format!("<h1>{name}</h1>")), "{}", page.text);
            assert!(page.text.contains(description), "{}", page.text);
            let link = format!("<{rest}>; rel=\"https://api.w.org/\"");
            assert_eq!(page.header("link"), Some(link.as_str()), "{path}");
            assert_eq!(page.header("vary"), Some("Accept"));
            let policy = page.header("content-security-policy").expect("a policy");
            assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
            assert_eq!(page.header("x-frame-options"), Some("DENY"));
            assert_eq!(page.header("cache-control"), Some("no-store, private"));
        }
    }
}

#[test]
fn other_forms_of_the_address_lead_to_it() {
    let server = Server::start();
    for (path, place) in [("/index.php", "/"), ("/index.php?utm_source=x", "/?utm_source=x")] {
        let moved = ask(&server, "GET", path, &[BROWSER]);
        let place = format!("{}{place}", server.site);
        assert_eq!((moved.status, moved.header("location")), (301, Some(&*place)), "{path}");
    }
    assert_eq!(page(&server, "/?p=1").status, 404, "no record has this number");
}

#[test]
fn a_program_is_told_as_json() {
    let server = Server::with(&["pages.docs=\"https://docs.example/\""]);
    for headers in [&[][..], &[("accept", "*/*")], &[("accept", "application/json")]] {
        let answer = ask(&server, "GET", "/", headers);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json; charset=UTF-8")));
        let link = format!("<{}/>; rel=\"https://api.w.org/\"", server.rest);
        assert_eq!(answer.header("link"), Some(link.as_str()));
        let root = server.get("/").body;
        let told = &answer.body;
        assert_eq!((&told["name"], &told["description"]), (&root["name"], &root["description"]));
        assert_eq!(told["rest"], json!(format!("{}/", server.rest)));
        let namespaces: Vec<&String> = told["namespaces"].as_object().expect("namespaces").keys().collect();
        assert_eq!(json!(namespaces), root["namespaces"]);
        for address in told["namespaces"].as_object().expect("namespaces").values() {
            let found = server.send("GET", address.as_str().expect("an address"), None, None, &[]);
            assert_eq!(found.status, 200, "{address}");
        }
        assert_eq!(told["login"], json!(format!("{}/login", server.site)));
        assert_eq!(told["authorize"], json!(format!("{}/authorize", server.site)));
        assert_eq!(told["xmlrpc"], json!(format!("{}/xmlrpc.php", server.site)));
        assert_eq!(told["docs"], "https://docs.example/");
    }
}

#[test]
fn head_is_get_without_a_body_and_routes_go_first() {
    let server = Server::start();
    for headers in [&[BROWSER][..], &[]] {
        let (get, head) = (ask(&server, "GET", "/", headers), ask(&server, "HEAD", "/", headers));
        assert_eq!((head.status, head.text.as_str()), (200, ""));
        for name in ["link", "content-type", "content-length", "vary", "content-security-policy"] {
            assert_eq!(head.header(name), get.header(name), "{name}");
        }
    }
    let routed = ask(&server, "GET", "/?rest_route=/cms/v2/types/post", &[BROWSER]);
    assert_eq!(routed.body["slug"], "post");
    assert_eq!(ask(&server, "POST", "/", &[]).status, 404);
}

#[test]
fn whoever_is_logged_in_is_led_to_the_profile() {
    let server = Server::start();
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let shown = browser.send("GET", "/", None, &[BROWSER]);
    assert!(shown.text.contains("You are logged in as: admin."), "{}", shown.text);
    assert!(shown.text.contains(&format!("<a href=\"{}/profile\">Your profile</a>", server.site)), "{}", shown.text);
    assert!(!shown.text.contains("Log in</a>"), "{}", shown.text);
}

#[test]
fn what_is_off_is_not_told() {
    let server = Server::with(&["pages.enabled=false", "xmlrpc.enabled=false"]);
    let shown = page(&server, "/");
    for absent in ["Log in", "XML-RPC", "EditURI", "For this site"] {
        assert!(!shown.text.contains(absent), "{absent} in {}", shown.text);
    }
    let told = ask(&server, "GET", "/", &[]).body;
    for key in ["login", "profile", "authorize", "xmlrpc", "docs"] {
        assert_eq!(told[key], json!(null), "{key}");
    }
    assert!(ask(&server, "GET", "/assets/style.css", &[]).text.contains("color-scheme"));
}

#[test]
fn an_address_that_nothing_has_says_so() {
    let server = Server::start();
    for path in ["/2026/11/a-record/", "/files/none.png", "/favicon.ico"] {
        let missing = page(&server, path);
        assert_eq!(missing.status, 404, "{path}");
        assert!(missing.text.contains("<h1>Nothing here</h1>"), "{}", missing.text);
        assert!(missing.text.contains(&format!("href=\"{}/\"", server.rest)), "{}", missing.text);
        assert_eq!(missing.header("link"), None);
        assert!(missing.header("content-security-policy").is_some_and(|policy| !policy.contains("unsafe")));
    }
}

#[test]
fn addresses_of_wordpress_lead_to_the_console() {
    let server = Server::with(&["site.prefix=wp", "console.path=/office"]);
    let here = |path: &str| ask(&server, "GET", path, &[BROWSER]);
    for path in ["/wp-admin", "/wp-admin/", "/wp-admin/index.php", "/wp-admin/?from=a-bookmark"] {
        let moved = here(path);
        assert_eq!((moved.status, moved.header("location")), (302, Some("/office")), "{path}");
    }
    assert_eq!(here("/wp-admin/edit.php").status, 404);
    assert_eq!(ask(&Server::start(), "GET", "/wp-admin/", &[BROWSER]).status, 404, "cms has no such address");
    for without in ["console.enabled=false", "pages.enabled=false"] {
        let server = Server::with(&["site.prefix=wp", without]);
        assert_eq!(ask(&server, "GET", "/wp-admin/", &[BROWSER]).status, 404, "{without}");
    }
}

#[test]
fn scripts_of_other_origins_may_compare_versions() {
    let origin = ("origin", "https://app.example");
    let lists = |server: &Server| {
        let answer = ask(server, "OPTIONS", server.rest.strip_prefix(&server.site).expect("below"), &[origin]);
        ["access-control-allow-headers", "access-control-expose-headers"]
            .map(|name| answer.header(name).unwrap_or_default().to_owned())
    };
    let has = |list: &str, names: &[&str]| names.iter().all(|name| list.split(", ").any(|own| own == *name));
    let (request, response) = (["If-Match", "If-None-Match"], ["ETag", "X-Request-Id", "Retry-After"]);
    let [allowed, exposed] = lists(&Server::start());
    assert!(has(&allowed, &request) && has(&exposed, &response), "{allowed}; {exposed}");
    assert!(has(&allowed, &["Authorization", "X-CMS-Nonce"]) && has(&exposed, &["X-CMS-Total", "Link"]));
    // Clients of WordPress see its lists, unless the site has listed their origin.
    let [allowed, exposed] = lists(&Server::with(&["site.prefix=wp"]));
    assert_eq!(exposed, "X-WP-Total, X-WP-TotalPages, Link");
    assert!(!has(&allowed, &request[..1]));
    let [allowed, exposed] = lists(&Server::with(&["site.prefix=wp", "cors.origins=[\"https://app.example\"]"]));
    assert!(has(&allowed, &request) && has(&exposed, &response), "{allowed}; {exposed}");
}
