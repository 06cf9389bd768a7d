//! Who may have application passwords, hashes from elsewhere, and the role that somebody always has.

use super::server::{Server, run};
use serde_json::json;
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
    let (config, url) = (at("routes.toml"), format!("storage.url=sqlite:{}", at("test.db")));
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
        let database = rusqlite::Connection::open(server.path("test.db")).expect("a database");
        database
            .query_row("SELECT password_hash FROM user WHERE login = ?1", [login], |row| row.get(0))
            .expect("a user")
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
    std::fs::write(server.path("site.toml"), "[roles.editor]\nkept = true\n").expect("a file");
    let server = server.restart_with(&[]);
    let editor = server.user("editor", "editor");
    let id = server.ask("GET", "/cms/v2/users/me", Some(&editor), None).body["id"].as_i64().expect("an id");
    let last = server.admin("DELETE", &format!("/cms/v2/users/{id}?force=true&reassign=false"), None);
    assert_eq!(last.code(), "rest_last_administrator", "any role may be declared as kept: {}", last.text);
}
