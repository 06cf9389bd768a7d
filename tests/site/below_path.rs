//! A site whose address has a path: behind a proxy that passes the path on, and behind one that takes it away.

use super::free_port::free_address;
use super::pages::{Browser, field};
use super::server::Server;
use serde_json::Value;

const BASE: &str = "/blog";

/// A server whose `site.url` has a path; its address without that, as a proxy sees it.
fn server() -> (Server, String) {
    let port = free_address().port();
    let host = format!("http://127.0.0.1:{port}");
    let server = Server::with(&[&format!("server.listen=127.0.0.1:{port}"), &format!("site.url={host}{BASE}")]);
    assert_eq!(server.rest, format!("{host}{BASE}/cms-json"));
    (server, host)
}

#[test]
fn everything_is_below_the_path_whether_the_proxy_passes_it_on_or_not() {
    let (server, host) = server();
    let listed = server.get("/cms/v2/users?_fields=id,_links").text;
    for at in [format!("{host}{BASE}"), host.clone()] {
        let get = |path: &str| server.send("GET", &format!("{at}{path}"), None, None, &[("accept", "text/html")]);
        let users = get("/cms-json/cms/v2/users?_fields=id,_links");
        assert_eq!((users.status, &users.text), (200, &listed), "{at}");
        assert!(get("/").text.contains("href=\"/blog/assets/style.css\""), "{at}");
        let login = get("/login");
        assert!(login.text.contains("action=\"/blog/login\"") && !login.text.contains("\"/login\""), "{}", login.text);
        for (path, status) in [
            ("/assets/style.css", 200),
            ("/assets/swagger-ui.js", 200),
            ("/nothing", 404),
            ("/files/none.png", 404),
            ("/?rest_route=/cms/v2/users", 200),
        ] {
            assert_eq!(get(path).status, status, "{at}{path}");
        }
        let console = get("/admin/posts");
        let place = console.header("location").unwrap_or_default().to_owned();
        let here =
            url::form_urlencoded::byte_serialize(format!("{host}{BASE}/admin/posts").as_bytes()).collect::<String>();
        assert_eq!((console.status, &*place), (302, &*format!("/blog/login?redirect={here}")), "{at}");
        let explorer = get("/explorer");
        assert!(
            explorer.text.contains("/blog/cms-json/openapi.json") && explorer.text.contains("/blog/assets/"),
            "{at}"
        );
        let described: Value = get("/cms-json/openapi.json").body;
        assert_eq!(described["servers"][0]["url"], "/blog/cms-json", "{at}");
        let root = get("/cms-json/").body;
        let authorize = &root["authentication"]["application-passwords"]["endpoints"]["authorization"];
        assert_eq!(*authorize, format!("{host}{BASE}/authorize"), "{at}");
    }
}

#[test]
fn people_log_in_and_work_below_the_path() {
    let (server, host) = server();
    let mut browser = Browser::new(&server);
    let form = [("login", "admin"), ("password", super::pages::PASSWORD)];
    let entered = browser.post("/login", &form);
    assert_eq!((entered.status, entered.header("location")), (303, Some("/blog/admin")), "{}", entered.text);
    let cookie = entered.header("set-cookie").unwrap_or_default();
    assert!(cookie.contains("; Path=/blog;"), "{cookie}");
    let console = browser.get("/admin");
    assert!(console.status == 503 || console.text.contains("<base href=\"/blog/admin/\">"), "{}", console.text);
    assert!(console.status == 503 || console.text.contains("\"base\":\"/blog/cms-json\""), "{}", console.text);
    let profile = browser.get("/profile");
    assert!(profile.text.contains("/blog/logout") && !profile.text.contains("\"/logout\""), "{}", profile.text);
    // A login leads to where the user wanted to go, and never out of the path.
    for (wanted, place) in [
        ("/blog/profile", "/blog/profile"),
        ("https://evil.example/blog/", "/blog/admin"),
        ("/shop/cart", "/blog/admin"),
        ("/blog/../shop", "/blog/admin"),
    ] {
        let entered = Browser::new(&server).post("/login", &[form[0], form[1], ("redirect", wanted)]);
        assert_eq!(entered.header("location"), Some(place), "{wanted}");
    }
    let token = field(&browser.get("/logout"), "token");
    let left = browser.post("/logout", &[("token", &token)]);
    assert_eq!((left.status, left.header("location")), (303, Some("/blog/login")));
    assert!(left.header("set-cookie").is_some_and(|cookie| cookie.contains("Path=/blog;")), "{left:?}");
    // A path that begins alike is beside the site.
    assert_eq!(server.send("GET", &format!("{host}/blogs/login"), None, None, &[]).status, 404);
}

#[test]
fn an_address_that_pages_cannot_be_below_is_refused() {
    for (url, sound) in [
        ("https://example.org/blog", true),
        ("https://example.org/a/b-c_d.e/", true),
        ("https://example.org/a//b", false),
        ("https://example.org/a%20b", false),
        ("https://example.org/a?b=c", false),
        ("https://example.org/a;b", false),
    ] {
        let done = super::server::run(&["check", "--set", &format!("site.url={url}")], "");
        assert_eq!(done.status.success(), sound, "{url}: {}", String::from_utf8_lossy(&done.stderr));
    }
}
