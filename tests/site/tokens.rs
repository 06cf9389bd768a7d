//! Login tokens: who gets one, what it opens, and how it ends.

use super::server::{Answer, Server, run, until, with_profiles};
use serde_json::{Value, json};

const PASSWORD: &str = "long enough";

/// A site that hands out tokens, with further declarations.
fn site(more: &str) -> Server {
    Server::over(with_profiles(&["login-tokens"], more), &["site.prefix=wp"])
}

fn log_in(server: &Server, login: &str, password: &str) -> Answer {
    server.ask("POST", "/jwt-auth/v1/token", None, Some(&json!({"username": login, "password": password})))
}

/// The token that an account gets.
fn token(server: &Server, login: &str, password: &str) -> String {
    let made = log_in(server, login, password);
    assert_eq!(made.status, 200, "{}", made.text);
    made.body["token"].as_str().expect("a token").to_owned()
}

fn with(server: &Server, method: &str, route: &str, header: &str, body: Option<&Value>) -> Answer {
    let body = body.map(|body| ("application/json", body.to_string().into_bytes()));
    server.send(method, &format!("{}{route}", server.rest), None, body, &[("authorization", header)])
}

/// Who asks, by a token: the name, or the code of the refusal.
fn asks(server: &Server, token: &str) -> String {
    let answer = with(server, "GET", "/wp/v2/users/me", &format!("Bearer {token}"), None);
    let text = |member: &str| answer.body[member].as_str().unwrap_or_default().to_owned();
    if answer.status == 200 { text("slug") } else { text("code") }
}

fn id(server: &Server, login: &str) -> i64 {
    let found = server.admin("GET", &format!("/wp/v2/users?context=edit&search={login}"), None).body;
    found[0]["id"].as_i64().expect("an id")
}

#[test]
fn a_login_gives_a_token_that_opens_what_the_user_may() {
    let server = site("");
    server.user("eva", "author");
    for login in ["eva", "EVA", "eva@example.org"] {
        let made = log_in(&server, login, PASSWORD);
        assert_eq!(made.status, 200, "{login}: {}", made.text);
        assert_eq!((&made.body["user_email"], &made.body["user_nicename"]), (&json!("eva@example.org"), &json!("eva")));
        assert!(made.header("cache-control").is_some_and(|said| said.contains("no-store")), "{:?}", made.headers);
    }
    let form = server.send(
        "POST",
        &format!("{}/jwt-auth/v1/token", server.rest),
        None,
        Some(("application/x-www-form-urlencoded", b"username=eva&password=long+enough".to_vec())),
        &[],
    );
    assert_eq!(form.status, 200, "{}", form.text);
    let token = token(&server, "eva", PASSWORD);
    assert_eq!(asks(&server, &token), "eva");
    let bearer = format!("bearer {token}");
    let made = with(&server, "POST", "/wp/v2/posts", &bearer, Some(&json!({"title": "A", "status": "publish"})));
    assert_eq!((made.status, &made.body["author"]), (201, &json!(id(&server, "eva"))), "{}", made.text);
    let others = with(&server, "POST", "/wp/v2/settings", &bearer, Some(&json!({"title": "B"})));
    assert_eq!((others.status, others.code()), (403, "rest_forbidden"));
    let valid = with(&server, "POST", "/jwt-auth/v1/token/validate", &bearer, None);
    assert_eq!((valid.status, &valid.body), (200, &json!({"code": "jwt_auth_valid_token", "data": {"status": 200}})));
    // A token is no application password: it opens nothing as Basic.
    let basic = ("eva".to_owned(), token.clone());
    assert_eq!(server.ask("GET", "/wp/v2/users/me", Some(&basic), None).status, 401);
    let stored = server.sql("SELECT hash, name, app_id FROM app_password");
    assert!(!stored.iter().any(|row| row.contains(&token[4..])), "{stored:?}");
    assert!(!server.log().contains(&token), "the log holds a token");
}

#[test]
fn what_is_no_login_is_refused_by_its_reason() {
    let server = site("");
    server.user("eva", "author");
    for (login, password, code) in [
        ("eva", "wrong", "[jwt_auth] incorrect_password"),
        ("eva", "", "[jwt_auth] incorrect_password"),
        ("eva@example.org", "wrong", "[jwt_auth] incorrect_password"),
        ("nobody", PASSWORD, "[jwt_auth] invalid_username"),
        ("", "", "[jwt_auth] invalid_username"),
        ("", PASSWORD, "[jwt_auth] invalid_username"),
        ("nobody@example.org", PASSWORD, "[jwt_auth] invalid_email"),
        (&"x".repeat(5000), PASSWORD, "[jwt_auth] invalid_username"),
    ] {
        let answer = log_in(&server, login, password);
        assert_eq!((answer.status, answer.code()), (403, code), "{login}");
        assert_eq!(answer.header("allow"), Some("POST"), "{login}");
    }
    let typed = server.ask("POST", "/jwt-auth/v1/token", None, Some(&json!({"username": ["eva"], "password": {}})));
    assert_eq!((typed.status, typed.code()), (400, "rest_invalid_param"), "{}", typed.text);
    assert_eq!(server.get("/jwt-auth/v1/token").code(), "rest_no_route");
}

#[test]
fn a_wrong_token_is_refused_on_every_route() {
    let server = site("");
    let good = token(&server, "admin", "an account password");
    let bad =
        ["abc".to_owned(), format!("{good}x"), good[..good.len() - 1].to_owned(), good.to_uppercase(), "a.b.c".into()];
    for token in bad {
        for (method, route) in [
            ("GET", "/wp/v2/posts"),
            ("GET", "/"),
            ("GET", "/wp/v2/users/me"),
            ("OPTIONS", "/wp/v2/posts"),
            ("GET", "/x"),
        ] {
            let answer = with(&server, method, route, &format!("Bearer {token}"), None);
            assert_eq!((answer.status, answer.code()), (403, "jwt_auth_invalid_token"), "{method} {route} {token}");
            assert_eq!(answer.header("allow"), None);
        }
    }
    for (header, read, check) in [
        ("Bearer", "jwt_auth_bad_auth_header", "jwt_auth_bad_auth_header"),
        ("Bearer abc", "jwt_auth_invalid_token", "jwt_auth_invalid_token"),
        ("Digest x", "", "jwt_auth_bad_auth_header"),
        ("Basic YTpi", "", "jwt_auth_bad_auth_header"),
        ("", "", "jwt_auth_no_auth_header"),
    ] {
        assert_eq!(with(&server, "GET", "/wp/v2/posts", header, None).code(), read, "{header}");
        let answer = with(&server, "POST", "/jwt-auth/v1/token/validate", header, None);
        assert_eq!((answer.status, answer.code()), (403, check), "{header}");
    }
    let none = server.ask("POST", "/jwt-auth/v1/token/validate", None, None);
    assert_eq!((none.status, none.code()), (403, "jwt_auth_no_auth_header"));
    // Where tokens are not declared, a header of that kind means nothing.
    let plain = Server::with(&["site.prefix=wp"]);
    assert_eq!(with(&plain, "GET", "/wp/v2/posts", "Bearer abc", None).status, 200);
    assert_eq!(log_in(&plain, "admin", "an account password").code(), "rest_no_route");
}

#[test]
fn tokens_end() {
    let server = site("[resources.login_tokens.options.tokens]\nmost = 3\n");
    server.user("eva", "author");
    let eva = id(&server, "eva");
    let passwords = format!("/wp/v2/users/{eva}/application-passwords");
    let count = || server.admin("GET", &passwords, None).body.as_array().map_or(0, Vec::len);
    let fresh = || token(&server, "eva", PASSWORD);

    // With time. (No right credentials are remembered: it was not used yet.)
    let past = fresh();
    server.sql("UPDATE app_password SET expires = 1 WHERE token = 1");
    assert_eq!(asks(&server, &past), "jwt_auth_invalid_token");
    // When there are too many: the oldest one. What has ended is gone by then.
    let all: Vec<String> = (0..4).map(|_| fresh()).collect();
    assert_eq!(count(), 1 + 3, "the application password stays");
    assert_eq!(asks(&server, &all[0]), "jwt_auth_invalid_token");
    assert!(all[1..].iter().all(|token| asks(&server, token) == "eva"));
    // One by one, as application passwords do.
    let listed = server.admin("GET", &passwords, None).body;
    let of_login: Vec<&Value> = listed.as_array().expect("a list").iter().filter(|p| p["expires"].is_i64()).collect();
    assert_eq!(of_login.len(), 3, "{listed}");
    let uuid = of_login[2]["uuid"].as_str().expect("an id");
    assert_eq!(server.admin("DELETE", &format!("{passwords}/{uuid}"), None).status, 200);
    until("the token ends", || asks(&server, &all[3]) == "jwt_auth_invalid_token");
    assert_eq!(asks(&server, &all[2]), "eva");
    // With the password of the account; application passwords stay.
    let item = format!("/wp/v2/users/{eva}");
    assert_eq!(server.admin("PUT", &item, Some(&json!({"password": "another long one"}))).status, 200);
    assert_eq!(asks(&server, &all[2]), "jwt_auth_invalid_token");
    assert_eq!(count(), 1);
    // By an operator.
    let token = token(&server, "eva", "another long one");
    let mut logout = server.args();
    logout.extend(["user", "logout", "eva"]);
    assert!(run(&logout, "").status.success());
    until("the token ends", || asks(&server, &token) == "jwt_auth_invalid_token");
    // With the account.
    let token = log_in(&server, "eva", "another long one").body["token"].as_str().expect("a token").to_owned();
    assert_eq!(asks(&server, &token), "eva");
    assert_eq!(server.admin("DELETE", &format!("{item}?force=true&reassign=1"), None).status, 200);
    assert_eq!(asks(&server, &token), "jwt_auth_invalid_token");
}

#[test]
fn a_demoted_user_has_no_more_by_an_old_token() {
    let server = site("");
    server.user("eva", "administrator");
    let token = format!("Bearer {}", token(&server, "eva", PASSWORD));
    let edit = || with(&server, "GET", "/wp/v2/settings", &token, None).status;
    assert_eq!(edit(), 200);
    let item = format!("/wp/v2/users/{}", id(&server, "eva"));
    assert_eq!(server.admin("PUT", &item, Some(&json!({"roles": ["subscriber"]}))).status, 200);
    assert_eq!(edit(), 403);
}

#[test]
fn guesses_are_limited_and_recorded() {
    let server = site("[pages]\nmax_login_attempts = 3\n");
    server.user("eva", "author");
    let codes: Vec<u16> = (0..4).map(|n| log_in(&server, "eva", &format!("wrong {n}")).status).collect();
    assert_eq!(codes, [403, 403, 403, 429]);
    let waits = log_in(&server, "eva", PASSWORD);
    assert!(waits.status == 429 && waits.header("retry-after").is_some(), "the right one waits, too");
    token(&server, "admin", "an account password");
    let trail = server.admin("GET", "/server/v1/audit?order=asc&per_page=100", None).body;
    let events: Vec<(&str, &str)> = trail
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|entry| Some((entry["event"].as_str()?, entry["login"].as_str()?)))
        .filter(|(event, _)| ["login_failed", "token_created"].contains(event))
        .collect();
    assert_eq!(
        events,
        [("login_failed", "eva"); 3].into_iter().chain([("token_created", "admin")]).collect::<Vec<_>>()
    );
    // Tokens are guessed no faster than application passwords.
    let server = site("[limits.wrong_credentials]\nburst = 3\nper_minute = 1\n");
    let codes: Vec<u16> =
        (0..4).map(|n| with(&server, "GET", "/wp/v2/posts", &format!("Bearer cms.{n}"), None).status).collect();
    assert_eq!(codes.last(), Some(&429), "{codes:?}");
}

#[test]
fn tokens_are_for_those_whose_programs_may_log_in() {
    let server = site("[site.application_passwords_for]\nroles = [\"administrator\"]\n");
    let body = json!({"username": "eva", "email": "eva@example.org", "password": PASSWORD, "roles": ["author"]});
    assert_eq!(server.admin("POST", "/wp/v2/users", Some(&body)).status, 201);
    let refused = log_in(&server, "eva", PASSWORD);
    assert_eq!((refused.status, refused.code()), (501, "application_passwords_disabled_for_user"));
    let made = token(&server, "admin", "an account password");
    let off = server.restart_with(&["site.prefix=wp", "site.application_passwords=off"]);
    assert_eq!(log_in(&off, "admin", "an account password").code(), "application_passwords_disabled");
    assert_eq!(asks(&off, &made), "jwt_auth_invalid_token");
    // One code for every login that fails tells nobody which accounts exist.
    let quiet = "[resources.login_tokens.codes]\nrest_login_unknown = \"rest_invalid_credentials\"\n\
        rest_login_unknown_email = \"rest_invalid_credentials\"\nrest_login_wrong_password = \"rest_invalid_credentials\"\n";
    let server = site(quiet);
    for (login, password) in [("admin", "wrong"), ("nobody", "wrong"), ("no@example.org", "wrong")] {
        assert_eq!(log_in(&server, login, password).code(), "rest_invalid_credentials", "{login}");
    }
}
