//! Who may have application passwords, hashes from elsewhere, and the role that some user always has.

use super::inside::Inside;
use super::server::{Server, run};
use cms_base::clock::ManualClock;
use cms_core::model::Method;
use serde_json::{Value, json};
use std::process::Output;

const ROUTE: &str = "/cms/v2/users/me/application-passwords";

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn known(server: &Server, user: &(String, String)) -> bool {
    server.ask("GET", "/cms/v2/users/me", Some(user), None).status == 200
}

fn basic(user: &(String, String)) -> String {
    use base64::Engine;
    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(format!("{}:{}", user.0, user.1)))
}

#[test]
fn application_passwords_can_be_limited_to_roles_and_users() {
    let server = Server::start();
    let editor = server.user("eva", "editor");
    let reader = server.user("rita", "subscriber");
    let author = server.user("Otto", "author");
    assert!(known(&server, &editor) && known(&server, &reader) && known(&server, &author));

    let limited = "[site.application_passwords_for]\nroles = [\"administrator\", \"editor\"]\nusers = [\"otto\"]\n";
    std::fs::write(server.path("site.toml"), limited).expect("a file");
    let server = server.restart_with(&[]);
    assert!(known(&server, &server.admin.clone()));
    assert!(known(&server, &editor), "by role");
    assert!(known(&server, &author), "by login, in any case");
    assert!(!known(&server, &reader), "what the others have works no more");
    let all = server.admin("GET", "/cms/v2/users?search=rita", None).body;
    let route = format!("/cms/v2/users/{}/application-passwords", all[0]["id"]);
    let refused = server.admin("POST", &route, Some(&json!({"name": "Phone"})));
    assert_eq!((refused.status, refused.code()), (501, "application_passwords_disabled_for_user"));
    assert!(server.get("/").body["authentication"]["application-passwords"].is_object(), "the feature itself is there");

    let text = "[site.application_passwords_for]\nroles = [\"editr\"]\n";
    std::fs::write(server.path("site.toml"), text).expect("a file");
    let config = server.path("routes.toml");
    let checked = run(&["--config", config.to_str().expect("a path"), "check"], "");
    assert!(!checked.status.success() && said(&checked).contains("did you mean `editor`?"), "{}", said(&checked));
}

#[test]
fn application_passwords_can_be_off_or_on() {
    let off = Server::with(&["site.application_passwords=off"]);
    assert_eq!(off.get("/").body["authentication"], json!({}));
    assert!(!known(&off, &off.admin.clone()));
    let refused = off.get(ROUTE);
    assert_eq!((refused.status, refused.code()), (501, "application_passwords_disabled"));

    let forced = Server::with(&["site.application_passwords=on", "server.trusted_proxies=[\"127.0.0.1\"]"]);
    assert!(known(&forced, &forced.admin.clone()));
    let safe = Server::with(&["server.trusted_proxies=[\"127.0.0.1\"]"]);
    assert!(!known(&safe, &safe.admin.clone()), "plain HTTP behind a proxy is not safe");
    let ask = |proto: &str| {
        let basic = basic(&safe.admin);
        let headers =
            [("authorization", basic.as_str()), ("x-forwarded-proto", proto), ("x-forwarded-for", "192.0.2.7")];
        safe.send("GET", &format!("{}/cms/v2/users/me", safe.rest), None, None, &headers).status
    };
    assert_eq!((ask("http"), ask("https")), (401, 200));
    let direct = Server::start();
    let basic = basic(&direct.admin);
    let headers = [("authorization", basic.as_str()), ("x-forwarded-for", "192.0.2.7")];
    let answer = direct.send("GET", &format!("{}/cms/v2/users/me", direct.rest), None, None, &headers);
    assert_eq!(answer.status, 401, "a forwarding header that nobody vouches for: it may have come from far");
}

#[test]
fn hashes_from_elsewhere_log_in_and_are_renewed() {
    let server = Server::start();
    let at = |file: &str| server.path(file).to_str().expect("a path").to_owned();
    let (config, url) = (at("routes.toml"), server.storage());
    let add = |login: &str, hash: &str| {
        let email = format!("{login}@example.org");
        let set = [
            "--config",
            &config,
            "--set",
            &url,
            "--set",
            "site.demo=false",
            "user",
            "add",
            login,
            &email,
            "--hash-stdin",
        ];
        run(&set, hash)
    };
    let stored = |login: &str| -> String {
        server.sql(&format!("SELECT password_hash FROM \"user\" WHERE login = '{login}'")).concat()
    };
    let log_in = |login: &str, password: &str| {
        let body = format!("login={login}&password={}", password.replace(' ', "+"));
        let form = Some(("application/x-www-form-urlencoded", body.into_bytes()));
        server.send("POST", &format!("{}/login", server.site), None, form, &[]).status
    };
    for (login, password, hash) in [
        ("old", "test12345", "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0"),
        ("plain", "a long pass phrase \u{fc}", "$2y$05$0HCypT4FfUPP74nmBGHK0uo2kFJLARKisSCtQnQLzuMuGdJMcOZ7a"),
        ("new", "a long pass phrase \u{fc}", "$wp$2y$05$teYVbUfrBl2iz4fpnkvsDeMbe0yqcQqK5K7KlcwJurm.oLVhhiDx6"),
    ] {
        let added = add(login, hash);
        assert!(added.status.success(), "{}", said(&added));
        assert_eq!(log_in(login, "wrong"), 401, "{login}");
        assert_eq!(stored(login), hash, "a wrong password renews nothing");
        assert_eq!(log_in(login, password), 303, "{login}");
        assert!(stored(login).starts_with("$wp$2"), "{}", stored(login));
        assert_eq!(log_in(login, password), 303, "{login}, once more");
    }
    let refused = add("bad", "5f4dcc3b5aa765d61d8327deb882cf99");
    assert!(!refused.status.success() && said(&refused).contains("$P$"), "{}", said(&refused));
}

#[test]
fn somebody_always_has_a_kept_role() {
    let server = Server::start();
    let refused = server.admin("POST", "/cms/v2/users/1", Some(&json!({"roles": ["editor"]})));
    assert!(refused.status >= 400, "{}", refused.text);
    let second = server.user("second", "administrator");
    let delete = |id: i64, user: &(String, String)| {
        server.ask("DELETE", &format!("/cms/v2/users/{id}?force=true&reassign=false"), Some(user), None)
    };
    let id = server.ask("GET", "/cms/v2/users/me", Some(&second), None).body["id"].as_i64().expect("an id");
    assert_eq!(delete(1, &second).status, 200, "there is another one");
    let last = delete(id, &second);
    assert_eq!((last.status, last.code()), (409, "rest_last_administrator"), "{}", last.text);
    let third = server.ask(
        "POST",
        "/cms/v2/users",
        Some(&second),
        Some(
            &json!({"username": "third", "email": "third@example.org", "password": "long enough", "roles": ["editor"]}),
        ),
    );
    let third = third.body["id"].as_i64().expect("an id");
    assert_eq!(delete(third, &second).status, 200, "nobody has to be an editor");

    let server = Server::start();
    std::fs::write(server.path("site.toml"), "[roles.editor]\nrequired = true\n").expect("a file");
    let server = server.restart_with(&[]);
    let editor = server.user("editor", "editor");
    let id = server.ask("GET", "/cms/v2/users/me", Some(&editor), None).body["id"].as_i64().expect("an id");
    let last = server.admin("DELETE", &format!("/cms/v2/users/{id}?force=true&reassign=false"), None);
    assert_eq!(last.code(), "rest_last_administrator", "any role may be declared as kept: {}", last.text);
}

/// A password of the administrator with limits; the pair that it logs in with.
fn limited(server: &Server, limits: &Value) -> (String, String) {
    let mut wanted = limits.clone();
    wanted["name"] = json!(format!("P {limits}"));
    let route = format!("/{}/v2/users/me/application-passwords", server.prefix);
    let made = server.admin("POST", &route, Some(&wanted));
    assert_eq!(made.status, 201, "{}", made.body);
    for (member, value) in limits.as_object().expect("limits") {
        assert_eq!(made.body[member], *value, "{}", made.body);
    }
    (server.admin.0.clone(), made.body["password"].as_str().expect("the clear value").to_owned())
}

#[test]
fn passwords_without_limits_say_nothing_of_them() {
    let server = Server::start();
    let made = server.admin("POST", ROUTE, Some(&json!({"name": "All", "read_only": false, "resources": []}))).body;
    let all = server.admin("GET", ROUTE, None).body;
    for password in all.as_array().expect("a list").iter().chain([&made]) {
        for member in ["expires", "read_only", "resources"] {
            assert!(password.get(member).is_none(), "{password}");
        }
    }
}

#[test]
fn a_password_that_reads_only_writes_nowhere() {
    let server = Server::with(&["site.prefix=wp"]);
    let reader = limited(&server, &json!({"read_only": true}));
    let post = server.admin("POST", "/wp/v2/posts", Some(&json!({"title": "T", "status": "private"}))).body;
    let item = format!("/wp/v2/posts/{}", post["id"]);
    assert_eq!(server.ask("GET", &format!("{item}?context=edit"), Some(&reader), None).status, 200);
    assert_eq!(server.ask("OPTIONS", &item, Some(&reader), None).header("allow"), Some("GET"));
    assert_eq!(server.ask("GET", &item, Some(&reader), None).header("allow"), Some("GET"));
    let writes = [
        ("POST", "/wp/v2/posts".to_owned(), json!({"title": "Mine"})),
        ("PUT", item.clone(), json!({"title": "Mine"})),
        ("DELETE", item.clone(), json!({"force": true})),
        ("POST", format!("{item}/autosaves"), json!({"title": "Mine"})),
        ("POST", "/wp/v2/settings".to_owned(), json!({"title": "Mine"})),
        ("POST", "/wp/v2/users/me".to_owned(), json!({"name": "Me"})),
        ("POST", "/wp/v2/comments".to_owned(), json!({"post": post["id"], "content": "C"})),
        ("POST", "/wp/v2/users/me/application-passwords".to_owned(), json!({"name": "More"})),
    ];
    for (method, route, body) in &writes {
        let refused = server.ask(method, route, Some(&reader), Some(body));
        assert_eq!((refused.status, refused.code()), (403, "rest_application_password_limited"), "{method} {route}");
    }
    // By another method's name, and inside other requests.
    let route = format!("{item}?_method=DELETE");
    assert_eq!(server.ask("POST", &route, Some(&reader), None).code(), "rest_application_password_limited");
    for atomic in [false, true] {
        let parts =
            json!({"atomic": atomic, "requests": [{"method": "DELETE", "path": item, "body": {"force": true}}]});
        let done = server.ask("POST", "/batch/v1", Some(&reader), Some(&parts));
        assert_eq!(done.body["responses"][0]["body"]["code"], "rest_application_password_limited", "{}", done.body);
    }
    let call = |method: &str, last: &str| {
        let string = |text: &str| format!("<param><value><string>{text}</string></value></param>");
        let params = ["1", &reader.0, &reader.1].map(string).concat();
        let body = format!(
            "<?xml version=\"1.0\"?><methodCall><methodName>{method}</methodName><params>{params}{last}</params></methodCall>"
        );
        let url = format!("{}/xmlrpc.php", server.site);
        server.send("POST", &url, None, Some(("text/xml", body.into_bytes())), &[]).text
    };
    let id = format!("<param><value><int>{}</int></value></param>", post["id"]);
    assert!(call("wp.getPost", &id).contains("post_title"));
    assert!(call("wp.deletePost", &id).contains("<name>faultCode</name>"));
    assert_eq!(server.admin("GET", &item, None).body["status"], "private", "it is as it was");
}

#[test]
fn a_password_for_some_resources_reaches_no_others() {
    let server = Server::start();
    let some = limited(&server, &json!({"resources": ["posts", "tags"]}));
    let body = json!({"title": {"raw": "T"}, "content": {"raw": "C"}, "status": "publish"});
    let post = server.ask("POST", "/cms/v2/posts", Some(&some), Some(&body));
    assert_eq!(post.status, 201, "{}", post.body);
    let item = format!("/cms/v2/posts/{}", post.body["id"]);
    assert_eq!(server.ask("PUT", &item, Some(&some), Some(&json!({"title": {"raw": "U"}}))).status, 200);
    assert_eq!(server.ask("GET", &format!("{item}/revisions"), Some(&some), None).status, 200);
    assert_eq!(server.ask("GET", "/", Some(&some), None).status, 200, "what is served is no secret");
    for route in ["/cms/v2/pages", "/cms/v2/users/me", "/cms/v2/settings", "/cms/v2/search", ROUTE] {
        let refused = server.ask("GET", route, Some(&some), None);
        assert_eq!((refused.status, refused.code()), (403, "rest_application_password_limited"), "{route}");
    }
    let embedded = server.ask("GET", &format!("{item}?_embed"), Some(&some), None).body;
    assert_eq!(embedded["_embedded"]["author"][0]["code"], "rest_application_password_limited");

    for (bad, param) in [(json!(["post"]), "resources"), (json!("posts,no"), "resources")] {
        let refused = server.admin("POST", ROUTE, Some(&json!({"name": "N", "resources": bad})));
        assert_eq!((refused.status, refused.code()), (400, "rest_invalid_param"));
        let said = refused.body["data"]["params"][param].as_str().unwrap_or_default().to_owned();
        assert!(said.contains("no resource"), "{said}");
    }
}

#[test]
fn a_password_that_has_ended_makes_nobody_known() {
    let now = time::OffsetDateTime::now_utc().unix_timestamp();
    let clock = ManualClock::at(now);
    let site = Inside::timed(clock.clone());
    let refused = site.ask(Method::Post, ROUTE, true, Some(&json!({"name": "Late", "expires": now - 1})));
    assert_eq!((refused.status, &refused.body["code"]), (400, &json!("rest_invalid_param")));
    let made = site.make(ROUTE, &json!({"name": "Short", "expires": now + 60}));
    let short = ("admin".to_owned(), made["password"].as_str().expect("a password").to_owned());
    let known = || site.ask_as(Method::Get, "/cms/v2/users/me", Some(&short), None).status == 200;
    assert!(known());
    clock.advance(59);
    assert!(known());
    clock.advance(1);
    assert!(!known(), "it works after its end");
    // A password that was made is not changed later: neither its end nor its limits.
    let item = format!("{ROUTE}/{}", made["uuid"].as_str().expect("an identifier"));
    let later = json!({"name": "Later", "expires": now + 1000});
    let changed = site.ask(Method::Put, &item, true, Some(&later));
    assert_eq!((&changed.body["name"], &changed.body["expires"]), (&json!("Later"), &json!(now + 60)));
    assert!(!known());
}

#[test]
fn the_command_line_makes_limited_passwords() {
    let server = Server::start();
    let config = server.path("routes.toml");
    let url = server.storage();
    let add = |more: &[&str]| {
        let mut args = vec!["--config", config.to_str().expect("a path"), "--set", &url, "app-password", "add"];
        args.extend(["admin", "reader"]);
        args.extend(more);
        run(&args, "")
    };
    let made = add(&["--read-only", "--resources", "posts,users", "--days", "2"]);
    assert!(made.status.success(), "{}", said(&made));
    let reader = ("admin".to_owned(), String::from_utf8_lossy(&made.stdout).trim().to_owned());
    assert!(known(&server, &reader));
    assert_eq!(server.ask("DELETE", "/cms/v2/posts/1", Some(&reader), None).status, 403);
    assert_eq!(server.ask("GET", "/cms/v2/pages", Some(&reader), None).status, 403);
    let refused = add(&["--resources", "pots"]);
    assert!(!refused.status.success() && said(&refused).contains("did you mean `posts`?"), "{}", said(&refused));
}

#[test]
fn a_refusal_behind_a_proxy_tells_that_no_credentials_arrived() {
    let server = Server::with(&["site.application_passwords=on"]);
    let url = format!("{}/cms/v2/users/me", server.rest);
    let said = |user: Option<&(String, String)>, headers: &[(&str, &str)]| {
        let answer = server.send("GET", &url, user, None, headers);
        assert_eq!(answer.code(), if user.is_some() { "rest_invalid_credentials" } else { "rest_not_logged_in" });
        answer.body["message"].as_str().unwrap_or_default().contains("Authorization")
    };
    assert!(said(None, &[("x-forwarded-for", "192.0.2.1")]));
    assert!(!said(None, &[]), "nobody stands between");
    let wrong = ("admin".to_owned(), "wrong".to_owned());
    assert!(!said(Some(&wrong), &[("x-forwarded-for", "192.0.2.1")]), "they arrived, and are wrong");
}
