//! Authentication: guesses, long credentials, forms and scripts of other sites, and their traces.

use crate::server::{Answer, Server};
use crate::xmlrpc::raw;
use serde_json::{Value, json};
use std::io::{Read, Write};

const PASSWORD: &str = "an account password";
const FORM: &str = "application/x-www-form-urlencoded";

/// A server behind a proxy, so that a test can come from many addresses.
fn proxied(sets: &[&str]) -> Server {
    let mut all = vec!["server.trusted_proxies=[\"127.0.0.1\"]", "site.application_passwords=\"on\""];
    all.extend_from_slice(sets);
    Server::with(&all)
}

fn log_in(server: &Server, (login, password): (&str, &str), headers: &[(&str, &str)]) -> Answer {
    let pairs = [("login", login), ("password", password)];
    let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    server.send("POST", &format!("{}/login", server.site), None, Some((FORM, form.into_bytes())), headers)
}

fn log_in_from(server: &Server, from: &str, password: &str) -> u16 {
    log_in(server, ("admin", password), &[("x-forwarded-for", from)]).status
}

/// The cookie of a new session.
fn session(server: &Server) -> String {
    let answer = log_in(server, ("admin", PASSWORD), &[]);
    let cookie = answer.header("set-cookie").unwrap_or_else(|| panic!("{} {}", answer.status, answer.text));
    cookie.split(';').next().unwrap_or_default().to_owned()
}

/// The token of the forms of a session.
fn token(server: &Server, cookie: &str) -> String {
    let page = server.send("GET", &format!("{}/profile", server.site), None, None, &[("cookie", cookie)]).text;
    let (_, rest) = page.split_once("name=\"token\" value=\"").unwrap_or_else(|| panic!("no token in {page}"));
    rest.split('"').next().unwrap_or_default().to_owned()
}

fn failed_logins(server: &Server) -> usize {
    let entries = server.admin("GET", "/server/v1/audit?event=login_failed&per_page=100", None);
    entries.body.as_array().map(Vec::len).unwrap_or_else(|| panic!("{}", entries.text))
}

/// A published post with a password, and its number.
fn locked(server: &Server) -> i64 {
    let body = json!({"title": {"raw": "T"}, "content": {"raw": "hidden words"}, "status": "publish", "password": "right",
        "comment_status": "open"});
    server.admin("POST", "/cms/v2/posts", Some(&body)).body["id"].as_i64().expect("a post")
}

// ------------------------------------------------------------------------------------------------ lengths

#[test]
fn logins_and_passwords_that_are_too_long_are_wrong_unread() {
    let server = Server::with(&["pages.max_login_attempts=100", "xmlrpc.max_login_attempts=100"]);
    for (login, password, read) in
        [(319, 9, true), (320, 9, true), (321, 9, false), (9, 4095, true), (9, 4096, true), (9, 4097, false)]
    {
        let (login, password) = ("x".repeat(login), "p".repeat(password));
        let before = failed_logins(&server);
        assert_eq!(log_in(&server, (&login, &password), &[]).status, 401);
        assert_eq!(failed_logins(&server) - before, usize::from(read), "the form, {} {}", login.len(), password.len());
        let answer = raw(&server, "wp.getUsersBlogs", &[json!(login), json!(password)]);
        assert_eq!(answer, json!({"fault": 403}));
        assert_eq!(failed_logins(&server) - before, 2 * usize::from(read), "XML-RPC, {}", login.len());
        assert_eq!(server.ask("GET", "/cms/v2/users/me", Some(&(login, password)), None).status, 401, "Basic");
    }
    assert_eq!(log_in(&server, ("admin", "a\0b"), &[]).status, 400, "no form holds a NUL");
    // Credentials that are rejected by length take no place in the table of attempts.
    for _ in 0..300 {
        assert_eq!(log_in(&server, (&"x".repeat(321), "y"), &[]).status, 401);
    }
    assert_eq!(log_in(&server, ("admin", PASSWORD), &[]).status, 303);
}

#[test]
fn a_password_of_the_longest_length_works_and_a_longer_one_is_not_taken() {
    let server = Server::start();
    let set = |password: &str| server.admin("POST", "/cms/v2/users/me", Some(&json!({"password": password})));
    for length in [4095, 4096] {
        let long = "p".repeat(length);
        assert_eq!(set(&long).status, 200, "{length}");
        assert_eq!(log_in(&server, ("admin", &long), &[]).status, 303, "{length}");
        assert_eq!(log_in(&server, ("admin", &long[..length - 1]), &[]).status, 401, "each byte counts");
    }
    for (unfit, code) in [
        ("p".repeat(4097), "rest_invalid_param"),
        ("p\0p".to_owned(), "rest_bad_request"),
        (String::new(), "rest_invalid_param"),
    ] {
        let refused = set(&unfit);
        assert_eq!((refused.status, refused.code()), (400, code), "{}", refused.text);
        let account = json!({"username": "eva", "email": "eva@example.org", "password": unfit});
        assert_eq!(server.admin("POST", "/cms/v2/users", Some(&account)).status, 400);
    }
    let (cookie, long) = (log_in(&server, ("admin", &"p".repeat(4096)), &[]), "p".repeat(4097));
    let cookie = cookie.header("set-cookie").and_then(|c| c.split(';').next()).expect("a session");
    let (token, current) = (token(&server, cookie), "p".repeat(4096));
    let form = format!("act=password&token={token}&current={current}&new={long}").into_bytes();
    let profile = format!("{}/profile", server.site);
    assert_eq!(server.send("POST", &profile, None, Some((FORM, form)), &[("cookie", cookie)]).status, 400);
}

#[test]
fn passwords_of_records_have_a_length() {
    let server = Server::start();
    for (length, status) in [(254, 201), (255, 201), (256, 400)] {
        let body = json!({"title": {"raw": "T"}, "status": "publish", "password": "p".repeat(length)});
        assert_eq!(server.admin("POST", "/cms/v2/posts", Some(&body)).status, status, "JSON, {length}");
        let form = format!("title[raw]=T&status=publish&password={}", "p".repeat(length)).into_bytes();
        let url = format!("{}/cms/v2/posts", server.rest);
        assert_eq!(server.send("POST", &url, Some(&server.admin), Some((FORM, form)), &[]).status, status, "a form");
        let part = json!({"requests": [{"method": "POST", "path": "/cms/v2/posts", "body": body}]});
        let parts = server.admin("POST", "/batch/v1", Some(&part)).body;
        assert_eq!(parts["responses"][0]["status"], status, "a batch, {length}");
    }
}

#[test]
fn forms_of_pages_have_a_size() {
    let server = Server::start();
    let url = format!("{}/login", server.site);
    let send = |length: usize| {
        let mut form = b"login=admin&password=x&filler=".to_vec();
        form.resize(length, b'x');
        server.send("POST", &url, None, Some((FORM, form)), &[]).status
    };
    assert_eq!([(64 << 10) - 1, 64 << 10, (64 << 10) + 1, 1 << 20].map(send), [401, 401, 413, 413]);
    let parts = |length: usize| {
        let head = "--b\r\ncontent-disposition: form-data; name=\"login\"\r\n\r\n";
        let body = format!("{head}{}\r\n--b--\r\n", "x".repeat(length)).into_bytes();
        server.send("POST", &url, None, Some(("multipart/form-data; boundary=b", body)), &[]).status
    };
    assert_eq!([1000, 70_000].map(parts), [401, 413]);
}

#[test]
fn what_programs_ask_people_for_has_a_length() {
    let server = Server::start();
    let cookie = session(&server);
    let ask = |query: String| {
        server.send("GET", &format!("{}/authorize?{query}", server.site), None, None, &[("cookie", &cookie)]).status
    };
    let address = |length: usize| format!("https://a.example/{}", "x".repeat(length - 18));
    for (length, status) in [(8191, 200), (8192, 200), (8193, 400)] {
        assert_eq!(ask(format!("app_name=A&success_url={}", address(length))), status, "{length}");
        assert_eq!(ask(format!("app_name=A&reject_url={}", address(length))), status, "{length}");
    }
    let token = token(&server, &cookie);
    for (length, status) in [(254, 200), (255, 200), (256, 400)] {
        let form = format!("act=approve&token={token}&app_name={}", "n".repeat(length)).into_bytes();
        let url = format!("{}/authorize", server.site);
        assert_eq!(server.send("POST", &url, None, Some((FORM, form)), &[("cookie", &cookie)]).status, status);
    }
    // A request of an anonymous caller is not passed on at any length.
    let long = server.send("GET", &format!("{}/profile?{}", server.site, "x".repeat(9000)), None, None, &[]);
    assert_eq!((long.status, long.header("location")), (302, Some("/login")));
}

// ------------------------------------------------------------------------------------------------ guesses

#[test]
fn a_password_counts_as_proven_only_where_it_was_proven() {
    let server = proxied(&["pages.max_login_attempts=3", "pages.retry_after=1h"]);
    let (owner, other) = ("192.0.2.1", "198.51.100.1");
    assert_eq!(log_in_from(&server, owner, PASSWORD), 303);
    for n in 0..40 {
        let status = log_in_from(&server, other, &format!("guess {n}"));
        assert_eq!(status, if n < 3 { 401 } else { 429 }, "{n}");
    }
    assert_eq!(log_in_from(&server, other, PASSWORD), 429, "who waits learns nothing");
    assert_eq!(log_in_from(&server, owner, PASSWORD), 303, "and nobody is locked out elsewhere");
    // Behind the owner's own address the same guesses end, too: after thirty checks not even the right one is accepted.
    for n in 0..40 {
        log_in_from(&server, owner, &format!("guess {n}"));
    }
    assert_eq!(log_in_from(&server, owner, PASSWORD), 429);
}

#[test]
fn more_addresses_of_one_network_bring_no_more_guesses() {
    let server = proxied(&["pages.max_login_attempts=1", "pages.retry_after=1h"]);
    let borne =
        |from: &dyn Fn(u32) -> String| (1..=40).filter(|n| log_in_from(&server, &from(*n), "wrong") == 401).count();
    assert_eq!(borne(&|n| format!("2001:db8::{n:x}")), 1, "a /64 is one source");
    assert_eq!(borne(&|n| format!("2001:db8:0:{n:x}::1")), 19, "a /48 has twenty guesses");
    assert_eq!(borne(&|n| format!("192.0.2.{n}")), 20, "and so has a /24");
    assert_eq!(borne(&|n| format!("198.51.{n}.1")), 40);
}

#[test]
fn passwords_of_records_are_guessed_as_slowly_as_those_of_accounts() {
    let server = proxied(&["site.anonymous_comments=true"]);
    let post = locked(&server);
    let body = json!({"post": post, "content": {"raw": "c"}, "author_name": "A", "author_email": "a@example.org"});
    let mut with = body.clone();
    let mut comment = move |password: &str| {
        with["password"] = json!(password);
        ("POST", "/cms/v2/comments".to_owned(), Some(with.clone()))
    };
    let read = |method: &'static str, route: String| {
        move |password: &str| {
            let mark = if route.contains('?') { '&' } else { '?' };
            (method, format!("{route}{mark}password={password}"), None)
        }
    };
    type Guess<'g> = &'g mut dyn FnMut(&str) -> (&'static str, String, Option<Value>);
    let ways: [(&str, Guess<'_>); 7] = [
        ("an item", &mut read("GET", format!("/cms/v2/posts/{post}"))),
        ("a list", &mut read("GET", format!("/cms/v2/posts?include={post}"))),
        ("HEAD", &mut read("HEAD", format!("/cms/v2/posts/{post}"))),
        ("Allow", &mut read("OPTIONS", format!("/cms/v2/posts/{post}"))),
        ("another method", &mut read("POST", format!("/cms/v2/posts/{post}?_method=GET"))),
        ("comments", &mut read("GET", format!("/cms/v2/comments?post={post}"))),
        ("a comment", &mut comment),
    ];
    for (n, (way, guess)) in ways.into_iter().enumerate() {
        let from = format!("192.0.{n}.1");
        let mut ask = |from: &str, password: &str| {
            let (method, route, body) = guess(password);
            let body = body.map(|b| ("application/json", b.to_string().into_bytes()));
            server.send(method, &format!("{}{route}", server.rest), None, body, &[("x-forwarded-for", from)])
        };
        let right = ask("203.0.113.1", "right");
        assert!([200, 201].contains(&right.status), "{way}: {}", right.text);
        for n in 0..10 {
            assert_ne!(ask(&from, &format!("guess{n}")).status, 429, "{way}, guess {n}");
        }
        for password in ["guess10", "guess10", "right"] {
            let slowed = ask(&from, password);
            assert_eq!(slowed.status, 429, "{way}, {password}: {}", slowed.text);
            let wait: u32 = slowed.header("retry-after").and_then(|s| s.parse().ok()).expect("Retry-After");
            assert!((1..=30).contains(&wait), "{way}: {wait}");
            assert_eq!(slowed.header("allow"), None, "{way}");
        }
        let again = ask("203.0.113.1", "right").status;
        assert!(again == right.status || way == "a comment" && again != 429, "{way}: elsewhere it is right");
    }
}

#[test]
fn readers_with_the_right_password_do_not_wait() {
    let server = proxied(&[]);
    let (post, other) = (locked(&server), locked(&server));
    let from = ("x-forwarded-for", "192.0.2.1");
    let ask = |post: i64, password: &str| {
        let url = format!("{}/cms/v2/posts/{post}?password={password}", server.rest);
        server.send("GET", &url, None, None, &[from])
    };
    for _ in 0..30 {
        let shown = ask(post, "right");
        assert!(shown.status == 200 && shown.text.contains("hidden words"), "{}", shown.text);
    }
    // Another person behind the same address guesses; a caller who had the right password before goes on reading.
    for n in 0..15 {
        ask(post, &format!("guess{n}"));
    }
    assert_eq!(ask(post, "guess").status, 429);
    assert_eq!(ask(post, "right").status, 200);
    assert_eq!(ask(other, "right").status, 200, "another record has places of its own");
    // A new password ends that.
    let changed = server.admin("POST", &format!("/cms/v2/posts/{post}"), Some(&json!({"password": "new"})));
    assert_eq!(changed.status, 200, "{}", changed.text);
    assert_eq!([ask(post, "right").status, ask(post, "right").status], [403, 429]);
    // All records together allow five times as many guesses as one.
    let mut borne = 0;
    for n in 0..100 {
        let record = server.send(
            "GET",
            &format!("{}/cms/v2/posts?include={other}&offset=0&password=guess{n}&post={n}", server.rest),
            None,
            None,
            &[("x-forwarded-for", "198.51.100.7")],
        );
        borne += usize::from(record.status == 200);
    }
    assert_eq!(borne, 50);
    // Setting a password is no guess, and what has none is opened by none.
    for n in 0..12 {
        let body = json!({"password": format!("set {n}")});
        assert_eq!(server.admin("POST", &format!("/cms/v2/posts/{other}"), Some(&body)).status, 200);
    }
}

#[test]
fn the_limit_on_passwords_of_records_is_declared() {
    let server = Server::start();
    std::fs::write(server.path("site.toml"), "[limits.record_passwords]\nburst = 2\nper_minute = 1\n").expect("a file");
    let server = server.restart_with(&[]);
    let post = locked(&server);
    let guess = |n: u32| server.get(&format!("/cms/v2/posts/{post}?password=guess{n}")).status;
    assert_eq!([1, 2, 3].map(guess), [403, 403, 429]);
    std::fs::write(server.path("site.toml"), "[limits.record_passwords]\nenabled = false\n").expect("a file");
    let server = server.restart_with(&[]);
    let guess = |n: u32| server.get(&format!("/cms/v2/posts/{post}?password=guess{n}")).status;
    assert!((0..30).map(guess).all(|status| status == 403));
}

// ------------------------------------------------------------------------------------------------ other sites

#[test]
fn jsonp_is_for_requests_without_credentials() {
    let server = Server::start();
    let url = |route: &str| format!("{}{route}", server.rest);
    let ask = |route: &str, user: Option<&(String, String)>, headers: &[(&str, &str)]| {
        let answer = server.send("GET", &url(route), user, None, headers);
        (answer.status, answer.code().to_owned())
    };
    let off = (400, "rest_callback_disabled".to_owned());
    assert_eq!(ask("/cms/v2/users/me?_jsonp=f", Some(&server.admin), &[]), off);
    assert_eq!(ask("/cms/v2/posts?_jsonp=f", Some(&("admin".into(), "wrong".into())), &[]), off);
    assert_eq!(ask("/cms/v2/posts?_jsonp=f", None, &[("authorization", "Bearer x")]), off);
    let cookie = session(&server);
    let cookie = ("cookie", cookie.as_str());
    assert_eq!(ask("/cms/v2/posts?_jsonp=f&_cmsnonce=0123456789abcde", None, &[cookie]), off);
    assert_eq!(ask("/cms/v2/posts?_jsonp=f", None, &[cookie, ("x-cms-nonce", "0123456789abcde")]), off);
    // A cookie alone authenticates nobody, and an empty name requests nothing.
    for (headers, query) in [(&[cookie][..], "_jsonp=f"), (&[("cookie", "a=b")], "_jsonp=f"), (&[], "_jsonp=f")] {
        let answer = server.send("GET", &url(&format!("/cms/v2/posts?{query}")), None, None, headers);
        assert!(answer.status == 200 && answer.text.starts_with("/**/f("), "{headers:?} {}", answer.text);
    }
    assert_eq!(ask("/cms/v2/users/me?_jsonp=", Some(&server.admin), &[]).0, 200);
}

#[test]
fn forms_of_unknown_origin_are_not_taken() {
    let server = Server::start();
    let cookie = session(&server);
    let token = token(&server, &cookie);
    let forms = [
        ("/login", format!("login=admin&password={}", PASSWORD.replace(' ', "+")), 303),
        ("/profile", format!("act=save&description=x&token={token}"), 303),
        ("/authorize", format!("act=approve&app_name=A&token={token}"), 200),
        ("/logout", format!("token={token}"), 303),
    ];
    let own = server.site.clone();
    for (page, form, taken) in &forms {
        let send = |headers: &[(&str, &str)]| {
            let headers: Vec<(&str, &str)> = headers.iter().copied().chain([("cookie", cookie.as_str())]).collect();
            let body = Some((FORM, form.clone().into_bytes()));
            server.send("POST", &format!("{}{page}", server.site), None, body, &headers).status
        };
        for refused in [
            &[("origin", "null")][..],
            &[("origin", "null"), ("sec-fetch-site", "cross-site")],
            &[("origin", "null"), ("sec-fetch-site", "same-site")],
            &[("origin", "null"), ("sec-fetch-site", "none")],
            &[("origin", "")],
            &[("origin", "https://evil.example")],
            &[("origin", "https://evil.example, null")],
        ] {
            assert_eq!(send(refused), 403, "{page} {refused:?}");
        }
        assert_eq!(send(&[("origin", "null"), ("sec-fetch-site", "same-origin")]), *taken, "{page}");
        if *page != "/logout" {
            assert_eq!(send(&[("origin", own.as_str())]), *taken, "{page}");
        }
    }
}

#[test]
fn a_long_origin_is_not_repeated() {
    let server = Server::with(&["cors.reflect=true"]);
    for (length, told) in [(319, true), (320, true), (321, false), (60_000, false)] {
        let origin = format!("https://{}", "o".repeat(length - 8));
        let answer = server.send("GET", &format!("{}/", server.rest), None, None, &[("origin", &origin)]);
        let header = answer.header("access-control-allow-origin");
        assert_eq!((answer.status, header.is_some()), (200, told), "{length}");
    }
}

// ------------------------------------------------------------------------------------------------ what is left behind

#[test]
fn headers_of_any_length_do_no_harm() {
    let server = proxied(&[]);
    let many = |text: &str, times: usize| vec![text; times].join(",");
    for (name, value) in [
        ("x-forwarded-for", many("1.2.3.4", 7000)),
        ("x-forwarded-for", many("127.0.0.1", 6000)),
        ("x-forwarded-proto", many("https", 9000)),
        ("if-none-match", many("\"a\"", 15_000)),
        ("if-match", many("\"7\"", 15_000)),
        ("accept-encoding", many("gzip;q=0", 6000)),
        ("range", format!("bytes={}", many("0-1", 15_000))),
        ("cookie", vec!["cms_session=x"; 4000].join("; ")),
        ("cookie", format!("cms_session={}", "x".repeat(60_000))),
        ("authorization", format!("Basic {}", "YTph".repeat(15_000))),
        ("user-agent", "x".repeat(60_000)),
    ] {
        let url = format!("{}/cms/v2/posts", server.rest);
        let answer = server.send("GET", &url, None, None, &[(name, &value)]);
        let expected = if name == "authorization" { 401 } else { 200 };
        assert_eq!(answer.status, expected, "{name}: {}", answer.text);
    }
    // An address before more proxies than are followed is not believed.
    let failed = failed_logins(&server);
    for (proxies, ip) in [(14, "192.0.2.9"), (15, "192.0.2.9"), (16, "127.0.0.1")] {
        let via = format!("192.0.2.9{}", ", 127.0.0.1".repeat(proxies));
        log_in(&server, ("admin", "wrong"), &[("x-forwarded-for", &via)]);
        let entries = server.admin("GET", "/server/v1/audit?event=login_failed&per_page=1&order=desc", None).body;
        assert_eq!(entries[0]["ip"], ip, "{proxies}");
    }
    assert_eq!(failed_logins(&server), failed + 3);
}

#[test]
fn what_a_program_says_of_itself_is_kept_short() {
    let server = Server::with(&["site.anonymous_comments=true"]);
    let post = json!({"title": {"raw": "T"}, "status": "publish", "comment_status": "open"});
    let post = server.admin("POST", "/cms/v2/posts", Some(&post)).body["id"].clone();
    let agent = "\u{e9}".repeat(20_000);
    let body = json!({"post": post, "author_name": "A", "author_email": "a@example.org", "content": {"raw": "c"}});
    let body = Some(("application/json", body.to_string().into_bytes()));
    let url = format!("{}/cms/v2/comments", server.rest);
    let answer = server.send("POST", &url, None, body, &[("user-agent", &agent)]);
    assert_eq!(answer.status, 201, "{}", answer.text);
    assert_eq!(log_in(&server, ("admin", PASSWORD), &[("user-agent", &agent)]).status, 303);
    assert_eq!(server.sql("SELECT max(length(author_user_agent)) FROM comment"), ["254"]);
    assert_eq!(server.sql("SELECT max(length(agent)) FROM session"), ["254"]);
}

#[test]
fn wrong_logins_leave_so_many_entries() {
    let server = Server::with(&["site.max_audit_anonymous=3", "pages.max_login_attempts=100"]);
    server.user("eva", "author");
    let all = |server: &Server| server.admin("GET", "/server/v1/audit?per_page=100", None).body.clone();
    let count = |entries: &Value, event: &str| {
        entries.as_array().map_or(0, |list| list.iter().filter(|entry| entry["event"] == event).count())
    };
    let kept = count(&all(&server), "user_created");
    assert_eq!(kept, 1);
    for (n, expected) in [(1, 1), (2, 2), (3, 3), (4, 3), (5, 3)] {
        log_in(&server, (&format!("login {n}"), "wrong"), &[]);
        assert_eq!(count(&all(&server), "login_failed"), expected, "after {n}");
    }
    let entries = all(&server);
    let newest: Vec<&str> = entries
        .as_array()
        .into_iter()
        .flatten()
        .filter(|e| e["event"] == "login_failed")
        .filter_map(|e| e["login"].as_str())
        .collect();
    assert_eq!(newest, ["login 5", "login 4", "login 3"]);
    assert_eq!(count(&entries, "user_created"), kept, "entries about users stay");
    log_in(&server, ("admin", PASSWORD), &[]);
    assert_eq!((count(&all(&server), "login"), count(&all(&server), "login_failed")), (1, 3));
}

#[test]
fn a_user_has_so_many_sessions_and_application_passwords() {
    let server = Server::with(&["pages.max_sessions=2", "site.max_application_passwords=3"]);
    let rows = |sql: &str| server.sql(sql).concat().parse::<i64>().expect("a number");
    for expected in [1, 2, 2, 2] {
        let cookie = session(&server);
        assert_eq!(rows("SELECT count(*) FROM session"), expected);
        assert!(!token(&server, &cookie).is_empty(), "the newest one lives");
    }
    let make = |name: &str| {
        let made = server.admin("POST", "/cms/v2/users/me/application-passwords", Some(&json!({"name": name})));
        (made.status, made.code().to_owned())
    };
    // One is there already, for the tests.
    let refused = (400, "rest_invalid_param".to_owned());
    assert_eq!([make("a").0, make("b").0], [201, 201]);
    assert_eq!([make("c"), make("d")], [refused.clone(), refused]);
    assert_eq!(rows("SELECT count(*) FROM app_password"), 3);
}

#[test]
fn malformed_requests_leave_an_access_line_and_no_error() {
    let server = Server::start();
    let address = server.site.trim_start_matches("http://").to_owned();
    let send = |bytes: &[u8]| {
        let mut stream = std::net::TcpStream::connect(&address).expect("a connection");
        stream.write_all(bytes).expect("it is sent");
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    };
    for malformed in [
        "GET / HTTP/1.1\r\nhost: a\r\nbad header\r\n\r\n",
        "\u{16}\u{3}\u{1}\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\ncontent-length: abc\r\n\r\n",
    ] {
        let answer = send(malformed.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 400"), "{malformed:?}: {answer}");
    }
    let long = "q".repeat(50_000);
    assert_eq!(server.get(&format!("/?long={long}")).status, 200);
    assert_eq!(server.get("/cms/v2/types?last").status, 200);
    let log = server.log_until("query=last");
    assert_eq!(log.lines().find(|line| line.contains("ERROR")), None);
    let longest = log.lines().map(str::len).max().unwrap_or(0);
    assert!(log.contains("long=qqqq") && longest < 6000, "{longest}");
}

#[test]
fn two_drafts_of_one_slug_do_not_break_the_export() {
    let server = Server::with(&["site.prefix=wp"]);
    for slug in ["a", "a"] {
        let body = json!({"slug": slug, "status": "draft", "title": "T", "content": "c"});
        assert_eq!(server.admin("POST", "/wp/v2/templates", Some(&body)).status, 201);
    }
    let archive = server.admin("GET", "/wp-block-editor/v1/export", None);
    assert_eq!(archive.status, 200, "{:.200}", archive.text);
    assert!(archive.text.contains("templates/a.html") && archive.text.contains("templates/a-2.html"));
}
