//! The console's page and files, what the server describes to it, and its own endpoints.

use super::pages::{Browser, PASSWORD};
use super::server::{Answer, Server, run, stdout};
use expect_test::expect_file;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use tempfile::TempDir;

type User = (String, String);

pub fn describe(server: &Server, user: &User) -> Value {
    let answer = server.ask("GET", "/console/v1/description", Some(user), None);
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.body
}

pub fn resource<'d>(description: &'d Value, name: &str) -> Option<&'d Value> {
    description["resources"].as_array()?.iter().find(|resource| resource["name"] == name)
}

/// The names of a resource's operations.
fn operations(description: &Value, name: &str) -> BTreeSet<String> {
    let found = resource(description, name).and_then(|resource| resource["operations"].as_object());
    found.into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

fn navigation(description: &Value) -> Vec<&str> {
    let resources = description["resources"].as_array().expect("a list").iter();
    resources.filter(|one| one["group"] != "").filter_map(|one| one["name"].as_str()).collect()
}

fn boot(page: &Answer) -> Value {
    let (_, rest) = page.text.split_once("id=\"boot\">").unwrap_or_else(|| panic!("no data in {}", page.text));
    let mut told: Value = serde_json::from_str(rest.split("</script>").next().expect("an end")).expect("JSON");
    if let Some(masked) = told["nonce"].as_str() {
        told["nonce"] = json!(unmasked(masked));
    }
    told
}

/// The nonce of the page: random bytes, then the nonce with these bytes added.
fn unmasked(masked: &str) -> String {
    let byte = |at: usize| u8::from_str_radix(&masked[at..at + 2], 16).expect("digits");
    let half = masked.len() / 2;
    (0..half).step_by(2).map(|at| char::from(byte(at) ^ byte(half + at))).collect()
}

fn asset(page: &Answer) -> &str {
    let (_, rest) = page.text.split_once("src=\"./").unwrap_or_else(|| panic!("no script in {}", page.text));
    rest.split('"').next().expect("an end")
}

// ------------------------------------------------------------------------------------------------ page and files

#[test]
fn every_address_of_the_console_is_its_page() {
    let server = Server::start();
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    for path in ["/admin", "/admin/", "/admin/r/posts/12?state=draft", "/admin/index.html", "/admin/assets/none.js"] {
        let page = browser.get(path);
        assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=UTF-8")), "{path}");
        assert!(page.text.contains("<base href=\"/admin/\">"), "{}", page.text);
        assert!(page.text.contains("<html lang=\"en-US\">") && page.text.contains("<title>A new site</title>"));
        assert_eq!(page.header("cache-control"), Some("private, no-store"));
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(page.header("referrer-policy"), Some("same-origin"));
        assert_eq!(page.header("cross-origin-opener-policy"), Some("same-origin"));
        let policy = page.header("content-security-policy").expect("a policy");
        for rule in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data: blob:",
            "connect-src 'self'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-src 'self'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.split(';').any(|own| own.trim() == rule), "{rule} in {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
    }
    assert_eq!(browser.get("/administration").status, 404);
    assert_eq!(browser.post("/admin", &[]).status, 403, "a form without a token");
    assert_eq!(browser.submit("/profile", "/admin", &[]).status, 404);
}

#[test]
fn the_page_is_compressed_and_no_two_have_the_same_nonce_in_them() {
    let server = Server::start();
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let [one, other] = [(); 2].map(|()| browser.get("/admin"));
    assert_eq!((one.header("content-encoding"), one.header("vary")), (None, Some("Accept-Encoding")));
    assert_eq!(boot(&one)["nonce"], boot(&other)["nonce"]);
    let written = |page: &Answer| page.text.split_once("\"nonce\":\"").expect("a nonce").1[..40].to_owned();
    assert_ne!(written(&one), written(&other));
    let packed = browser.send("GET", "/admin", None, &[("accept-encoding", "gzip, br")]);
    assert_eq!((packed.status, packed.header("content-encoding")), (200, Some("br")));
    assert_eq!(packed.header("content-type"), one.header("content-type"));
}

#[test]
fn the_page_says_where_everything_is() {
    for (prefix, login, profile) in [("cms", "/login", "/profile"), ("wp", "/wp-login.php", "/wp-admin/profile.php")] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let mut browser = Browser::new(&server);
        let names = if prefix == "wp" { ["log", "pwd"] } else { ["login", "password"] };
        let entered = browser.post(login, &[(names[0], "admin"), (names[1], PASSWORD)]);
        assert_eq!((entered.status, entered.header("location")), (303, Some("/admin")), "{}", entered.text);
        let page = browser.get("/admin/");
        let told = boot(&page);
        let nonce = told["nonce"].as_str().expect("a nonce");
        let header = format!("X-{}-Nonce", prefix.to_uppercase());
        for (key, value) in [
            ("base", json!(format!("/{prefix}-json"))),
            ("prefix", json!(prefix)),
            ("path", json!("/admin")),
            ("nonce_header", json!(header)),
            ("login_url", json!(login)),
            ("profile_url", json!(profile)),
            ("batch", json!("/batch/v1")),
            ("user", json!(1)),
        ] {
            assert_eq!(told[key], value, "{key}");
        }
        let url = format!("{}/console/v1/description", server.rest);
        let described = browser.send("GET", &url, None, &[(&header, nonce)]);
        assert_eq!(described.status, 200, "{}", described.text);
        let again = browser.get(told["nonce_url"].as_str().expect("an address"));
        assert_eq!((again.status, again.text.as_str()), (200, nonce));
        let explorer = told["explorer_url"].as_str().expect("an address");
        assert_eq!(browser.get(explorer).status, 200);
    }
}

#[test]
fn the_page_brings_the_description_in_the_language_of_the_browser() {
    let server = Server::start();
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    for (accepted, language, label) in [
        ("de-AT,de;q=0.9,en;q=0.8", "de", "Beiträge"),
        ("fr,DE;q=0.5", "de", "Beiträge"),
        ("en-GB,de;q=0.5", "en", "Posts"),
        ("fr, ;q, xx", "en", "Posts"),
        ("", "en", "Posts"),
    ] {
        let page = browser.send("GET", &format!("{}/admin", server.site), None, &[("accept-language", accepted)]);
        let told = boot(&page);
        assert_eq!(told["language"], language, "{accepted}");
        let posts = resource(&told["description"], "posts").expect("posts");
        assert_eq!(posts["label"], label, "{accepted}");
    }
}

#[test]
fn the_page_brings_what_is_asked_first() {
    let server = Server::start();
    let hostile = "</script><script>alert(1)</script> & more";
    let made =
        server.ask("POST", "/cms/v2/posts", Some(&server.admin), Some(&json!({"title": hostile, "status": "draft"})));
    assert_eq!(made.status, 201, "{}", made.text);
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let page = browser.get("/admin/r/posts");
    let told = boot(&page);
    assert_eq!(told["description"], describe(&server, &server.admin));
    let answer = &told["answers"][0];
    assert_eq!((&answer["path"], told["answers"].as_array().map(Vec::len)), (&json!("/cms/v2/posts"), Some(1)));
    let query = answer["query"].as_object().expect("a query").iter();
    let query: Vec<(&str, &str)> =
        query.map(|(name, value)| (name.as_str(), value.as_str().expect("a text"))).collect();
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
    let asked = server.ask("GET", &format!("/cms/v2/posts?{query}"), Some(&server.admin), None);
    assert_eq!((asked.status, &asked.body), (200, &answer["body"]), "{}", asked.text);
    assert!(
        asked.body.as_array().is_some_and(|rows| rows.iter().any(|row| row["id"] == made.body["id"])),
        "{}",
        asked.text
    );
    for path in ["/admin/", "/admin/r/posts?state=draft", "/admin/r/posts/12", "/admin/r/none", "/admin/r/comments"] {
        assert_eq!(boot(&browser.get(path))["answers"], json!([]), "{path}");
    }
    // Others are told what concerns them.
    let reader = server.user("reader", "subscriber");
    let told = boot(&Browser::of(&server, "reader", "long enough").get("/admin/r/posts"));
    assert_eq!(told["description"], describe(&server, &reader));
    assert!(!told["answers"].to_string().contains("more"), "{}", told["answers"]);
}

#[test]
fn a_visitor_logs_in_and_comes_back() {
    let server = Server::start();
    let mut browser = Browser::new(&server);
    let sent = browser.get("/admin/r/posts?state=draft&x=a%26b");
    let place = sent.header("location").expect("a place").to_owned();
    assert_eq!(sent.status, 302);
    let wanted = url::form_urlencoded::parse(place.split_once('?').expect("a query").1.as_bytes())
        .find(|(name, _)| name == "redirect")
        .map(|(_, value)| value.into_owned())
        .expect("the address");
    let entered = browser.post("/login", &[("login", "admin"), ("password", PASSWORD), ("redirect", &wanted)]);
    assert_eq!(entered.header("location"), Some("/admin/r/posts?state=draft&x=a%26b"));
    // Who has nothing to change lands at the profile, and the console is there nevertheless.
    server.user("reader", "subscriber");
    let mut reader = Browser::new(&server);
    let entered = reader.post("/login", &[("login", "reader"), ("password", "long enough")]);
    assert_eq!(entered.header("location"), Some("/profile"));
    assert!(!reader.get("/profile").text.contains("href=\"/admin\""));
    assert_eq!(reader.get("/admin").status, 200);
    assert!(browser.get("/profile").text.contains("href=\"/admin\""));
    let home = browser.send("GET", "/", None, &[("accept", "text/html")]);
    assert!(home.text.contains("href=\"/admin\""), "{}", home.text);
    let document = server.send("GET", &format!("{}/", server.site), None, None, &[]);
    assert_eq!(document.body["console"], json!(format!("{}/admin", server.site)));
}

#[test]
fn files_are_compressed_and_stay_in_caches() {
    let server = Server::start();
    let page = Browser::of(&server, "admin", PASSWORD).get("/admin");
    let url = format!("{}/admin/{}", server.site, asset(&page));
    let packed = server.send("GET", &url, None, None, &[("accept-encoding", "gzip, br;q=0.9")]);
    let plain = server.send("GET", &url, None, None, &[("accept-encoding", "br;q=0")]);
    for answer in [&packed, &plain] {
        assert_eq!(answer.status, 200, "{url}");
        assert_eq!(answer.header("content-type"), Some("text/javascript; charset=UTF-8"));
        assert_eq!(answer.header("cache-control"), Some("public, max-age=31536000, immutable"));
        assert_eq!(answer.header("vary"), Some("Accept-Encoding"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("set-cookie"), None);
    }
    assert_eq!((packed.header("content-encoding"), plain.header("content-encoding")), (Some("br"), None));
    assert!(packed.bytes.len() < plain.bytes.len(), "{} {}", packed.bytes.len(), plain.bytes.len());
    // The explorer's files say how long they may be stored, too.
    let explorer = server.send("GET", &format!("{}/assets/swagger-ui.css", server.site), None, None, &[]);
    assert_eq!(explorer.header("cache-control"), Some("public, max-age=86400"));
}

#[test]
fn hostile_titles_stay_texts() {
    let server = Server::start();
    let title = "</title></script><script>alert(1)</script><!-- \" ' & \u{2028}";
    let settings = json!({"title": title, "language": "en\"><script>"});
    assert_eq!(server.admin("POST", "/cms/v2/settings", Some(&settings)).status, 200);
    let page = Browser::of(&server, "admin", PASSWORD).get("/admin");
    assert_eq!(page.text.matches("<script").count(), 2, "{}", page.text);
    assert_eq!(page.text.matches("</script>").count(), 2, "{}", page.text);
    assert!(!page.text.contains("alert(1)</script>"), "{}", page.text);
    assert_eq!(boot(&page)["user"], 1);
    assert!(describe(&server, &server.admin)["site"]["title"].is_string());
}

#[test]
fn the_console_moves_and_goes_away() {
    let server = Server::with(&["console.path=/desk/of"]);
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let page = browser.get("/desk/of/r/posts");
    assert!(page.text.contains("<base href=\"/desk/of/\">"), "{}", page.text);
    assert_eq!(boot(&page)["path"], "/desk/of");
    assert_eq!(browser.get(&format!("/desk/of/{}", asset(&page))).status, 200);
    assert_eq!((browser.get("/admin").status, browser.get("/desk").status), (404, 404));
    for set in ["console.enabled=false", "pages.enabled=false"] {
        let server = Server::with(&[set]);
        let gone = server.send("GET", &format!("{}/admin", server.site), None, None, &[]);
        assert_eq!(gone.status, 404, "{set}");
        let home = server.send("GET", &format!("{}/", server.site), None, None, &[]);
        assert_eq!(home.body["console"], Value::Null, "{set}");
    }
    // Pages whose addresses are below the console's stay where they are.
    let server = Server::with(&["site.prefix=wp", "console.path=/wp-admin"]);
    let mut browser = Browser::new(&server);
    browser.post("/wp-login.php", &[("log", "admin"), ("pwd", PASSWORD)]);
    assert!(browser.get("/wp-admin/profile.php").text.contains("Your profile"));
    assert!(browser.get("/wp-admin/r/posts").text.contains("id=\"boot\""));
}

#[test]
fn files_elsewhere_may_be_shown() {
    let server = Server::start();
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    // The console is asked for at another address than the site's own, which files have.
    let page = browser.send("GET", "/admin", None, &[("host", "desk.example")]);
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains(&format!("img-src 'self' data: blob: {};", server.site)), "{policy}");
    assert!(policy.contains(&format!("media-src 'self' {};", server.site)), "{policy}");
}

#[test]
fn the_front_end_of_previews_may_be_framed_and_opened_and_no_other() {
    let previews = "token={token}&path={path}";
    for (address, origin) in [
        (format!("https://www.example.org/api/preview?{previews}"), "https://www.example.org"),
        (format!("http://LOCALHOST:3000/p/{{token}}?{previews}"), "http://localhost:3000"),
        (format!("https://zürich.example:443/?{previews}"), "https://xn--zrich-kva.example"),
    ] {
        let server =
            Server::with(&["site.front.url=https://elsewhere.example", &format!("site.front.preview={address}")]);
        let mut browser = Browser::of(&server, "admin", PASSWORD);
        let page = browser.get("/admin/r/posts");
        let policy = page.header("content-security-policy").expect("a policy");
        let frames = format!("frame-src 'self' {origin}");
        assert!(policy.split(';').any(|own| own.trim() == frames), "{frames} in {policy}");
        // The origin is in no other rule, and nobody frames the console.
        assert_eq!(policy.matches(origin).count(), 1, "{policy}");
        assert!(!policy.contains("elsewhere.example") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert_eq!(page.header("x-frame-options"), Some("DENY"));
        assert_eq!(page.header("cross-origin-opener-policy"), Some("same-origin-allow-popups"));
        assert_eq!(boot(&page)["description"]["site"]["preview_origin"], origin);
        // Other pages are as tight as ever.
        for path in ["/profile", "/login"] {
            let other = browser.get(path);
            assert_eq!(other.header("cross-origin-opener-policy"), Some("same-origin"), "{path}");
            assert!(!other.header("content-security-policy").is_some_and(|policy| policy.contains(origin)), "{path}");
        }
    }
}

// ------------------------------------------------------------------------------------------------ description

#[test]
fn the_description_of_the_shipped_site() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let mut described = describe(&server, &server.admin);
        assert_eq!(described["site"]["url"], json!(server.site));
        described["site"]["url"] = json!("{site}");
        let version = described["version"].take();
        assert_eq!(version.as_str().map(str::len), Some(16), "{version}");
        let text = serde_json::to_string_pretty(&described).expect("JSON");
        expect_file![format!("../../fixtures/golden/console.{prefix}.json")].assert_eq(&format!("{text}\n"));
    }
}

#[test]
fn callers_are_told_what_they_may_do() {
    let server = Server::start();
    let of = |role: &str| describe(&server, &server.user(role, role));
    let (editor, author) = (of("editor"), of("author"));
    let (contributor, subscriber) = (of("contributor"), of("subscriber"));
    assert_eq!(
        navigation(&editor),
        [
            "posts",
            "pages",
            "comments",
            "categories",
            "tags",
            "blocks",
            "pattern_categories",
            "reviews",
            "media",
            "media_folders",
            "redirects",
            "missing_addresses",
            "prompts"
        ]
    );
    assert_eq!(navigation(&author), ["posts", "blocks", "reviews", "media", "media_folders"]);
    assert_eq!(navigation(&contributor), ["posts", "blocks", "reviews", "media"]);
    assert!(navigation(&subscriber).is_empty(), "{:?}", navigation(&subscriber));
    let has = |description: &Value, name: &str, wanted: &[&str], unwanted: &[&str]| {
        let found = operations(description, name);
        for operation in wanted {
            assert!(found.contains(*operation), "{name}: {operation} in {found:?}");
        }
        for operation in unwanted {
            assert!(!found.contains(*operation), "{name}: {operation} in {found:?}");
        }
    };
    has(&editor, "posts", &["list", "create", "get", "update", "delete", "revisions", "autosave"], &["import"]);
    has(&contributor, "posts", &["list", "create", "update", "delete"], &["import"]);
    has(&contributor, "media", &["list"], &["create"]);
    has(&author, "tags", &["list", "create"], &["update", "delete"]);
    has(&author, "categories", &["list"], &["create", "update", "delete"]);
    has(&author, "comments", &["create", "update"], &[]);
    has(&subscriber, "comments", &["create"], &["update", "delete"]);
    has(&subscriber, "posts", &["list", "get"], &["create", "update", "delete", "revisions"]);
    has(&subscriber, "users", &["update_me", "get_me"], &["create", "invite"]);
    has(&subscriber, "sessions", &["list", "delete", "delete_all"], &[]);
    assert!(resource(&subscriber, "settings").is_none() && resource(&editor, "audit").is_none());
    let stranger = server.get("/console/v1/description");
    assert_eq!((stranger.status, stranger.code()), (401, "rest_not_logged_in"));
    // A password that reads only has no operation that writes.
    let limited = json!({"name": "reads", "read_only": true});
    let made = server.admin("POST", "/cms/v2/users/1/application-passwords", Some(&limited));
    let reader = ("admin".to_owned(), made.body["password"].as_str().expect("a password").to_owned());
    has(&describe(&server, &reader), "posts", &["list", "get"], &["create", "update", "delete"]);
}

#[test]
fn a_description_is_sent_once() {
    let server = Server::start();
    let first = server.ask("GET", "/console/v1/description", Some(&server.admin), None);
    let tag = first.header("etag").expect("a tag").to_owned();
    use base64::Engine as _;
    let pair = base64::engine::general_purpose::STANDARD.encode(format!("{}:{}", server.admin.0, server.admin.1));
    let basic = format!("Basic {pair}");
    let again = |tag: &str| {
        let headers = [("authorization", basic.as_str()), ("if-none-match", tag)];
        server.send("GET", &format!("{}/console/v1/description", server.rest), None, None, &headers)
    };
    assert_eq!(again(&tag).status, 304);
    assert_eq!(server.admin("POST", "/cms/v2/settings", Some(&json!({"title": "Other"}))).status, 200);
    let changed = again(&tag);
    assert_eq!((changed.status, &changed.body["site"]["title"]), (200, &json!("Other")));
}

#[test]
fn paths_are_those_that_serve() {
    let server = Server::start();
    let post = json!({"title": "A", "content": "one", "status": "publish"});
    let id = server.admin("POST", "/cms/v2/posts", Some(&post)).body["id"].to_string();
    server.admin("POST", &format!("/cms/v2/posts/{id}"), Some(&json!({"content": "two"})));
    let described = describe(&server, &server.admin);
    let path = |name: &str, operation: &str| {
        let path = &resource(&described, name).expect("it is described")["operations"][operation]["path"];
        path.as_str().unwrap_or_else(|| panic!("{name} {operation}")).to_owned()
    };
    let revisions = server.admin("GET", &path("posts", "revisions").replace("{id}", &id), None);
    let revision = revisions.body[0]["id"].to_string();
    let one = path("posts", "revision").replace("{id}", &id).replace("{revision}", &revision);
    assert_eq!(server.admin("GET", &one, None).status, 200, "{one}");
    assert_eq!(path("sessions", "delete"), "/console/v1/users/{user_id}/sessions/{id}");
    assert_eq!(path("application_passwords", "get"), "/cms/v2/users/{user_id}/application-passwords/{uuid}");
    assert_eq!(
        resource(&described, "application_passwords").expect("it is described")["parent"],
        json!({"resource": "users", "parameter": "user_id"})
    );
    let posts = resource(&described, "posts").expect("it is described");
    assert_eq!(posts["fields"]["categories"]["relation"], json!({"resources": ["categories"], "many": true}));
    assert!(posts["fields"]["featured_media"]["operators"].as_array().is_some_and(|all| all.contains(&json!("eq"))));
    assert_eq!(posts["taxonomies"], json!(["categories", "tags"]));
    // Where a file is used can be asked.
    let found = server.admin("GET", "/cms/v2/posts?where[featured_media][eq]=7&_fields=id", None);
    assert_eq!((found.status, &found.body), (200, &json!([])), "{}", found.text);
    for (route, property) in [("posts", "status"), ("comments", "status"), ("media", "author"), ("pages", "parent")] {
        let counted = server.admin("GET", &format!("/cms/v2/{route}?_count_by={property}&context=edit"), None);
        assert_eq!(counted.status, 200, "{route}: {}", counted.text);
    }
}

// ------------------------------------------------------------------------------------------------ own resources

fn own(site: &str, schemas: &[(&str, Value)]) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    fs::write(folder.path().join("site.toml"), site).expect("a file");
    for (name, schema) in schemas {
        fs::write(folder.path().join("schemas").join(name), schema.to_string()).expect("a file");
    }
    folder
}

const EVENTS: &str = r#"
[resources.venues]
extends = "plain"
schema = "schemas/venue.json"

[resources.events]
extends = "content"
schema = "schemas/event.json"
taxonomies = ["tags"]
sort = { starts = "starts" }
"#;

const VIEW: &str = r#"
[view_groups.agenda]
label = "Agenda"

[resources.venues.view]
group = "agenda"
icon = "pin"

[resources.events.labels]
name = "Events"
singular_name = "Event"

[resources.events.view]
group = "agenda"
order = 1
icon = "calendar"
default_view = { type = "list", fields = ["starts", "venue"], sort = { field = "starts", direction = "asc" } }
view_list = [{ title = "{labels.all_items}", slug = "all" }, { title = "Free", slug = "free", view = { filters = [
  { field = "price", operator = "is", value = 0, isLocked = true },
] } }]
form = { fields = ["title", { id = "when", label = "When", children = ["starts"] }, "venue"] }
fields.price = { label = "Entry fee", help = "In euros.", control = "number" }
"#;

fn schemas() -> [(&'static str, Value); 2] {
    let venue = json!({"title": "venue", "type": "object", "properties": {
        "id": {"type": "integer", "description": "Id.", "readonly": true},
        "name": {"type": "string", "description": "Name.", "x-filterable": true},
        "seats": {"type": "integer", "description": "Seats."},
        "open": {"type": "boolean", "description": "Open.", "default": false}
    }});
    let event = json!({"$ref": "content.json", "title": "event", "properties": {
        "starts": {"type": "string", "format": "date-time", "description": "Start.", "x-index": true},
        "price": {"type": "number", "description": "Price.", "default": 0, "x-filterable": true},
        "form": {"type": "string", "description": "Form.", "enum": ["a", "b"],
            "x-view": {"control": "radio", "labels": {"a": "Talk", "b": "Walk"}}},
        "venue": {"type": "integer", "description": "Venue.", "x-relation": {"to": "venues"}, "x-filterable": true}
    }});
    [("venue.json", venue), ("event.json", event)]
}

#[test]
fn own_resources_are_described_without_a_word() {
    let server = Server::over(own(EVENTS, &schemas()), &[]);
    let described = describe(&server, &server.admin);
    let (venues, events) =
        (resource(&described, "venues").expect("venues"), resource(&described, "events").expect("events"));
    assert_eq!(
        (&venues["label"], &venues["singular"], &venues["icon"]),
        (&json!("Venues"), &json!("Venue"), &json!("list"))
    );
    assert_eq!((&venues["group"], &venues["key"]), (&json!("content"), &json!("id")));
    assert_eq!(venues["view"]["default_view"]["titleField"], "name");
    assert_eq!(venues["view"]["default_view"]["fields"], json!(["seats", "open"]));
    assert_eq!(venues["view"]["form"]["fields"], json!(["name", "seats", "open"]));
    assert_eq!(events["view"]["default_view"]["titleField"], "title");
    assert_eq!(
        events["view"]["default_view"]["fields"],
        json!(["status", "author", "tags", "date", "starts", "price", "form", "venue"])
    );
    let fields = &events["fields"];
    assert_eq!(fields["venue"]["relation"], json!({"resources": ["venues"], "many": false}));
    assert_eq!(fields["starts"]["sort"], "starts");
    assert_eq!(fields["form"], json!({"control": "radio", "labels": {"a": "Talk", "b": "Walk"}}));
    assert!(fields["price"]["operators"].as_array().is_some_and(|all| all.contains(&json!("le"))), "{fields}");
    let tabs = events["view"]["view_list"].as_array().expect("a list").iter().map(|view| &view["slug"]);
    assert_eq!(
        json!(tabs.collect::<Vec<_>>()),
        json!(["all", "publish", "future", "draft", "pending", "private", "trash"])
    );
    assert!(events["supports"].as_array().is_some_and(|all| all.contains(&json!("editor"))));
}

#[test]
fn titles_of_schemas_are_the_labels_of_their_properties() {
    let schema = json!({"title": "talk", "type": "object", "properties": {
        "id": {"type": "integer", "readonly": true},
        "name": {"type": "string", "title": "Headline"},
        "speakers": {"type": "array", "items": {"type": "integer"}, "x-relation": {"to": "users"}},
        "guests": {"type": "array", "items": {"type": "integer"}, "x-relation": {"to": "users"}, "title": "Guests of honour"},
        "room": {"type": "string", "title": "Hall", "x-view": {"label": "Room"}}
    }});
    let site = "[resources.talks]\nnamespace = \"core\"\nfamily = \"plain\"\nschema = \"schemas/talks.json\"\n\
                kind = \"talk\"\nroutes = [\"crud\"]\ncapabilities = \"post\"\nsort = { id = \"id\" }\n";
    let server = Server::over(own(site, &[("talks.json", schema)]), &[]);
    let told = describe(&server, &server.admin);
    let fields = &resource(&told, "talks").expect("described")["fields"];
    let label = |name: &str| fields[name]["label"].as_str();
    assert_eq!(
        [label("name"), label("guests"), label("room")],
        [Some("Headline"), Some("Guests of honour"), Some("Room")]
    );
    // Without a title the console says the name in words, not that of the other resource.
    assert_eq!((label("speakers"), fields["speakers"]["relation"]["resources"][0].as_str()), (None, Some("users")));
}

#[test]
fn declared_views_are_laid_over_what_follows() {
    let server = Server::over(own(&format!("{EVENTS}{VIEW}"), &schemas()), &[]);
    let described = describe(&server, &server.admin);
    let groups = described["groups"].as_array().expect("a list");
    assert_eq!(groups.last(), Some(&json!({"name": "agenda", "label": "Agenda"})));
    let events = resource(&described, "events").expect("events");
    assert_eq!((&events["group"], &events["icon"]), (&json!("agenda"), &json!("calendar")));
    let agenda: Vec<&str> = navigation(&described).into_iter().rev().take(2).collect();
    assert_eq!(agenda, ["venues", "events"]);
    let view = &events["view"];
    assert_eq!((&view["default_view"]["type"], &view["default_view"]["perPage"]), (&json!("list"), &json!(20)));
    assert_eq!(view["default_view"]["fields"], json!(["starts", "venue"]));
    assert_eq!(view["default_view"]["titleField"], "title");
    assert_eq!(view["view_list"][0], json!({"title": "All events", "slug": "all"}));
    assert_eq!(view["view_list"][1]["view"]["filters"][0]["field"], "price");
    assert_eq!(view["form"]["fields"][1], json!({"id": "when", "label": "When", "children": ["starts"]}));
    let price = &events["fields"]["price"];
    assert_eq!(
        (&price["label"], &price["help"], &price["control"]),
        (&json!("Entry fee"), &json!("In euros."), &json!("number"))
    );
}

// ------------------------------------------------------------------------------------------------ endpoints

#[test]
fn people_see_and_end_sessions() {
    let server = Server::start();
    let writer = server.user("writer", "author");
    let (mut first, mut second) =
        (Browser::of(&server, "writer", "long enough"), Browser::of(&server, "writer", "long enough"));
    let nonce = |browser: &mut Browser<'_>| boot(&browser.get("/admin"))["nonce"].as_str().expect("a nonce").to_owned();
    let route = format!("{}/console/v1/users/me/sessions", server.rest);
    let token = nonce(&mut first);
    let listed = first.send("GET", &route, None, &[("x-cms-nonce", &token)]);
    let sessions = listed.body.as_array().unwrap_or_else(|| panic!("{}", listed.text));
    assert_eq!(sessions.len(), 2, "{}", listed.text);
    assert_eq!(sessions.iter().filter(|one| one["current"] == true).count(), 1);
    assert!(sessions.iter().all(|one| one["created"].as_str().is_some_and(|at| at.ends_with('Z'))));
    let other = sessions.iter().find(|one| one["current"] == false).expect("the other one");
    let one = format!("{route}/{}", other["id"].as_str().expect("an id"));
    let ended = first.send("DELETE", &one, None, &[("x-cms-nonce", &token)]);
    assert_eq!((ended.status, &ended.body["deleted"]), (200, &json!(true)), "{}", ended.text);
    assert_eq!(second.get("/admin").status, 302, "the other browser is logged out");
    let gone = first.send("DELETE", &one, None, &[("x-cms-nonce", &token)]);
    assert_eq!((gone.status, gone.code()), (404, "rest_session_not_found"));
    assert_eq!(first.get("/admin").status, 200);
    // Others' sessions are for those who may edit the user.
    let of_admin = "/console/v1/users/1/sessions";
    assert_eq!(server.ask("GET", of_admin, Some(&writer), None).status, 403);
    assert_eq!(server.ask("DELETE", of_admin, Some(&writer), None).status, 403);
    assert_eq!(server.get(of_admin).status, 401);
    let id = server.ask("GET", "/cms/v2/users/me", Some(&writer), None).body["id"].to_string();
    let all = server.admin("DELETE", &format!("/console/v1/users/{id}/sessions"), None);
    assert_eq!((all.status, &all.body["count"]), (200, &json!(1)), "{}", all.text);
    assert_eq!(first.get("/admin").status, 302);
    let trail = server.admin("GET", "/server/v1/audit?event=sessions_ended", None);
    assert_eq!(trail.body.as_array().map(Vec::len), Some(2), "{}", trail.text);
    assert_eq!(trail.body[0]["subject"], id);
    let options = server.ask("OPTIONS", &format!("/console/v1/users/{id}/sessions"), Some(&server.admin), None);
    assert_eq!(options.body["schema"]["title"], "session", "{}", options.text);
}

#[test]
fn invitations_are_sent_where_there_is_mail() {
    let server = Server::start();
    server.user("guest", "author");
    let guest = server.admin("GET", "/cms/v2/users?search=guest&context=edit", None).body[0]["id"].to_string();
    let route = format!("/console/v1/users/{guest}/invitation");
    let off = server.admin("POST", &route, None);
    assert_eq!((off.status, off.code()), (403, "rest_cannot_invite"));
    assert!(!operations(&describe(&server, &server.admin), "users").contains("invite"));
    let mails = server.path("mails");
    let server = server.restart_with(&[&format!("mail.url=file:{}", mails.display()), "mail.from=a@example.org"]);
    let invite = &resource(&describe(&server, &server.admin), "users").expect("users")["operations"]["invite"].clone();
    assert_eq!((&invite["method"], &invite["path"]), (&json!("POST"), &json!("/console/v1/users/{id}/invitation")));
    let sent = server.admin("POST", &route, None);
    assert_eq!((sent.status, &sent.body["invited"]), (200, &json!(true)), "{}", sent.text);
    let own = server.admin("POST", "/console/v1/users/1/invitation", None);
    assert_eq!((own.status, own.code()), (403, "rest_cannot_invite"));
    let helper = server.user("helper", "editor");
    assert_eq!(server.ask("POST", &route, Some(&helper), None).status, 403);
    let trail = server.admin("GET", "/server/v1/audit?event=user_invited", None);
    assert_eq!((trail.body.as_array().map(Vec::len), &trail.body[0]["subject"]), (Some(1), &json!(guest)));
    server.log_until("(invitation) was sent");
    let letters = fs::read_dir(&mails).expect("a folder").flatten();
    let mut letters = letters.filter_map(|file| fs::read_to_string(file.path()).ok());
    assert!(letters.any(|letter| letter.contains("guest@example.org")));
}

#[test]
fn administrators_see_health_and_declarations() {
    let server = Server::start();
    let findings = server.admin("GET", "/console/v1/health", None);
    let checks: Vec<&str> =
        findings.body.as_array().expect("a list").iter().filter_map(|one| one["check"].as_str()).collect();
    assert_eq!(checks, ["https", "application_passwords", "mail", "database", "declarations", "nodes", "backups"]);
    assert!(
        findings.body.as_array().is_some_and(|all| all.iter().all(|one| one["level"] != "problem")),
        "{}",
        findings.text
    );
    let level = |findings: &Answer, check: &str| {
        let all = findings.body.as_array().expect("a list");
        all.iter().find(|one| one["check"] == check).map(|one| one["level"].clone()).unwrap_or_default()
    };
    assert_eq!(level(&findings, "declarations"), "ok");
    let editor = server.user("editor", "editor");
    for route in ["/console/v1/health", "/console/v1/declarations"] {
        assert_eq!(server.ask("GET", route, Some(&editor), None).status, 403, "{route}");
        assert_eq!(server.get(route).status, 401, "{route}");
    }
    let declared = server.admin("GET", "/console/v1/declarations", None).body;
    assert_eq!(declared["problems"], json!([]));
    let posts =
        declared["declarations"].as_array().expect("a list").iter().find(|one| one["name"] == "resources.posts");
    let posts = posts.expect("it is declared");
    let text = fs::read_to_string(server.path("schemas/core/20-posts.toml")).expect("a file");
    let line = text.lines().position(|line| line == "[resources.posts]").expect("a line") + 1;
    assert_eq!(posts["line"], line);
    assert!(posts["file"].as_str().is_some_and(|file| file.ends_with("schemas/core/20-posts.toml")), "{posts}");
    fs::write(server.path("site.toml"), "[resources.posts]\nkinds = 1\n").expect("a file");
    server.log_until("the old declarations stay in force");
    let refused = server.admin("GET", "/console/v1/declarations", None).body;
    let problem = refused["problems"][0].as_str().expect("a problem");
    assert!(problem.contains("site.toml:2:1") && problem.contains("kinds"), "{problem}");
    assert_eq!(level(&server.admin("GET", "/console/v1/health", None), "declarations"), "problem");
}

#[test]
fn discovery_does_not_know_of_it() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let root = server.get("/").body;
        assert!(!root["namespaces"].to_string().contains("console"), "{}", root["namespaces"]);
        assert!(root["routes"].as_object().is_some_and(|all| all.keys().all(|route| !route.contains("console"))));
        let options = server.ask("OPTIONS", "/console/v1/description", Some(&server.admin), None);
        assert_eq!((options.status, &options.body["schema"]["title"]), (200, &json!("console-description")));
    }
}

/// The first block of a language after a text.
fn block<'d>(document: &'d str, after: &str, language: &str) -> &'d str {
    let (_, rest) = document.split_once(after).unwrap_or_else(|| panic!("no {after}"));
    let (_, rest) = rest.split_once(&format!("```{language}\n")).expect("a block");
    rest.split_once("\n```").expect("its end").0
}

#[test]
fn the_documented_view_is_sound() {
    let (types, console) = (include_str!("../../docs/content-types.md"), include_str!("../../docs/console.md"));
    let site = block(types, "`site.toml` is merged over", "toml");
    let view = block(console, "### An example", "toml");
    let schema = |after: &str| serde_json::from_str(block(types, after, "json")).expect("JSON");
    let schemas =
        [("venue.json", schema("## 2. The schema of a venue")), ("event.json", schema("## 3. The schema of an event"))];
    let server = Server::over(own(&format!("{site}\n{view}\n"), &schemas), &[]);
    let described = describe(&server, &server.admin);
    let events = resource(&described, "events").expect("events");
    assert_eq!((&events["group"], &events["label"]), (&json!("agenda"), &json!("Events")));
    assert_eq!(events["fields"]["price"]["label"], "Entry fee");
    assert_eq!(events["view"]["default_view"]["sort"], json!({"field": "starts", "direction": "asc"}));
    assert!(events["states"].as_array().is_some_and(|all| all.contains(&json!("cancelled"))), "{}", events["states"]);
}

/// `routes.toml` is the user's, too.
#[test]
fn check_finds_unknown_properties_of_views_in_every_file_of_the_user() {
    let view = "\n[resources.recipes]\nextends = \"plain\"\nschema = \"schemas/plain.json\"\n\
                [resources.recipes.view.default_view]\nfields = [\"titel\"]\n";
    for file in ["site.toml", "routes.toml"] {
        let folder = own("", &[]);
        let mut declared = OpenOptions::new().append(true).open(folder.path().join(file)).expect("a file");
        declared.write_all(view.as_bytes()).expect("a file");
        let config = folder.path().join("routes.toml");
        let told = run(&["check", "--config", config.to_str().expect("a path")], "");
        let said = String::from_utf8_lossy(&told.stderr).into_owned();
        assert!(!told.status.success(), "{file}: {said}");
        assert!(said.contains(&format!("/{file}:")) && said.contains("unknown property `titel`"), "{file}: {said}");
    }
}

#[test]
fn clients_of_wordpress_are_told_the_views_of_own_resources() {
    let server = Server::over(own(&format!("{EVENTS}{VIEW}"), &schemas()), &["site.prefix=wp"]);
    let config = |name: &str| {
        let answer = server.admin("GET", &format!("/wp/v2/view-config?kind=postType&name={name}"), None);
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.body
    };
    let events = config("events");
    assert_eq!(events["default_view"]["fields"], json!(["starts", "venue"]));
    assert_eq!(events["view_list"][1]["slug"], "free");
    assert_eq!(events["form"]["fields"][2], "venue");
    // Those of WordPress are as WordPress has them, whatever the console shows.
    let posts = config("post");
    assert_eq!(posts["view_list"], json!([{"title": "All posts", "slug": "all"}]));
    let files = config("attachment");
    assert_eq!((&files["default_view"]["mediaField"], &files["default_view"]["type"]), (&Value::Null, &json!("table")));
}
