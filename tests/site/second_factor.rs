//! Second factors: how they are set up and asked for, what is required, and those who attack them.

use super::pages::{Browser, PASSWORD, field};
use super::server::{Answer, Server, run, until, with_profiles};
use super::xmlrpc;
use serde_json::json;
use std::path::Path;
use tempfile::TempDir;
use totp_rs::{Builder, Secret};

/// Seconds of one step of the codes.
const STEP: i64 = 30;

fn now() -> i64 {
    time::OffsetDateTime::now_utc().unix_timestamp()
}

/// The code of a secret, so many steps from now.
pub fn code(secret: &str, steps: i64) -> String {
    let secret = Secret::try_from_base32(secret).expect("base 32");
    let at = u64::try_from(now() + steps * STEP).expect("a time");
    Builder::new().with_secret(secret).build().expect("a secret").generate(at).to_string()
}

/// The text between two others.
fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before} in {text}"));
    rest.split_once(after).expect("an end").0
}

/// The secret of the page on which an app is set up.
fn secret_of(page: &Answer) -> String {
    between(&page.text, "</span> <code>", "</code>").to_owned()
}

fn codes_of(page: &Answer) -> Vec<String> {
    page.text.split("<li><code>").skip(1).map(|rest| rest.split_once('<').expect("an end").0.to_owned()).collect()
}

/// Sets an app up in a session: its secret and the recovery codes.
pub fn set_up(server: &Server, browser: &mut Browser<'_>, password: &str) -> (String, Vec<String>) {
    let page = browser.submit("/second-factor", "/second-factor", &[("act", "begin")]);
    assert_eq!(page.status, 200, "{}", page.text);
    let (secret, setup, token) = (secret_of(&page), field(&page, "setup"), field(&page, "token"));
    let first = code(&secret, 0);
    let form = [
        ("act", "add"),
        ("setup", setup.as_str()),
        ("name", "Phone"),
        ("first", first.as_str()),
        ("current", password),
        ("token", token.as_str()),
    ];
    let done = browser.post("/second-factor", &form);
    assert_eq!(done.status, 200, "{}", done.text);
    let codes = codes_of(&done);
    assert_eq!(codes.len(), 10, "{}", done.text);
    forget_proofs(server);
    (secret, codes)
}

/// Makes the codes of the last steps good again.
fn forget_proofs(server: &Server) {
    server.sql("UPDATE second_factor SET proof = 0");
}

/// A login up to the factor: what the page hands itself.
fn pending(server: &Server, login: &str, password: &str) -> String {
    let page = Browser::new(server).post("/login", &[("login", login), ("password", password)]);
    assert_eq!((page.status, page.header("set-cookie")), (200, None), "{}", page.text);
    field(&page, "pending")
}

fn with_code(server: &Server, pending: &str, code: &str) -> Answer {
    Browser::new(server).post("/login", &[("pending", pending), ("code", code)])
}

/// The events of the audit trail, the newest first.
fn events(server: &Server) -> Vec<String> {
    let entries = server.admin("GET", "/server/v1/audit?per_page=100", None).body;
    entries.as_array().expect("entries").iter().map(|entry| entry["event"].as_str().unwrap_or("").to_owned()).collect()
}

/// The response of XML-RPC to a login and an account password.
pub fn fault(server: &Server, who: &(String, String)) -> String {
    xmlrpc::post(server, &xmlrpc::body("wp.getProfile", &[json!(1), json!(who.0), json!(who.1)])).text
}

#[test]
fn a_login_asks_for_the_factor_of_an_account_that_has_one() {
    let server = Server::start();
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let mut other = Browser::of(&server, "admin", PASSWORD);
    let page = browser.get("/second-factor");
    assert!(page.text.contains("There is none yet."), "{}", page.text);
    let begun = browser.submit("/second-factor", "/second-factor", &[("act", "begin")]);
    assert!(begun.text.contains("<svg class=\"qr\"") && begun.text.contains("otpauth://totp/"), "{}", begun.text);
    assert!(!begun.header("content-security-policy").expect("a policy").contains("unsafe"));
    let (secret, codes) = set_up(&server, &mut browser, PASSWORD);
    assert_eq!(other.get("/profile").status, 302, "a session that began without the factor has ended");
    assert_eq!(browser.get("/profile").status, 200);
    let stored = server.sql("SELECT secret FROM second_factor").concat()
        + &server.sql("SELECT hash FROM recovery_code").concat();
    assert!(!stored.contains(&secret) && !stored.contains(&codes[0].replace('-', "")), "{stored}");
    assert!(!browser.get("/second-factor").text.contains(&codes[0]), "recovery codes are shown once");

    let mut fresh = Browser::new(&server);
    let form = [("login", "admin"), ("password", PASSWORD), ("redirect", "/profile"), ("remember", "1")];
    let page = fresh.post("/login", &form);
    assert_eq!((page.status, page.header("set-cookie")), (200, None), "no session before the factor");
    assert_eq!(fresh.get("/profile").status, 302);
    let pending = field(&page, "pending");
    assert_eq!(field(&page, "redirect"), "/profile");
    let wrong = fresh.post("/login", &[("pending", &pending), ("code", "000000")]);
    assert_eq!((wrong.status, wrong.header("set-cookie")), (403, None), "{}", wrong.text);
    assert_eq!(fresh.post("/login", &[("pending", &pending)]).status, 403, "no code at all");
    let form = [("pending", pending.as_str()), ("code", &code(&secret, 0)), ("redirect", "/profile")];
    let done = fresh.post("/login", &form);
    assert_eq!((done.status, done.header("location")), (303, Some("/profile")), "{}", done.text);
    assert!(done.header("set-cookie").is_some_and(|cookie| cookie.contains("Max-Age=1209600")), "it is remembered");
    assert_eq!(fresh.get("/profile").status, 200);

    let mut lost = Browser::new(&server);
    let pending = self::pending(&server, "admin", PASSWORD);
    let typed = codes[0].to_uppercase().replace('-', " ");
    assert_eq!(lost.post("/login", &[("pending", &pending), ("code", &typed)]).status, 303, "a recovery code");
    assert!(lost.get("/second-factor").text.contains("Left: 9"), "{}", lost.get("/second-factor").text);
    let found = events(&server);
    for event in ["second_factor_added", "second_factor_failed", "recovery_code_used", "login"] {
        assert!(found.iter().any(|name| name == event), "{event}: {found:?}");
    }
    assert!(!server.log().contains(&secret), "the log has the secret");
}

#[test]
fn what_a_login_hands_itself_is_good_for_that_login_alone() {
    let server = Server::start();
    let (secret, _) = set_up(&server, &mut Browser::of(&server, "admin", PASSWORD), PASSWORD);
    let good = pending(&server, "admin", PASSWORD);
    let mut browser = Browser::new(&server);
    assert_eq!(browser.post("/login", &[("pending", &good), ("code", &code(&secret, 0))]).status, 303);
    let setup = field(&browser.submit("/second-factor", "/second-factor", &[("act", "begin")]), "setup");
    for forged in ["x", &good[1..], &format!("{good}A"), &good.to_lowercase(), &setup] {
        let answer = with_code(&server, forged, &code(&secret, 1));
        assert_eq!((answer.status, answer.header("set-cookie")), (401, None), "{forged:.20}");
    }
    // Another password ends what waits.
    server.admin("PUT", "/cms/v2/users/1", Some(&json!({"password": "another long password"})));
    assert_eq!(with_code(&server, &good, &code(&secret, 1)).status, 401);
    let fresh = pending(&server, "admin", "another long password");
    assert_eq!(with_code(&server, &fresh, &code(&secret, 1)).status, 303);
}

#[test]
fn a_code_is_good_once_even_for_two_at_once() {
    let server = Server::start();
    let (secret, codes) = set_up(&server, &mut Browser::of(&server, "admin", PASSWORD), PASSWORD);
    let pending = pending(&server, "admin", PASSWORD);
    for code in [code(&secret, 0), codes[0].clone()] {
        let (ready, (server, pending, code)) = (std::sync::Barrier::new(4), (&server, &pending, &code));
        let statuses: Vec<u16> = std::thread::scope(|threads| {
            let ask = || {
                ready.wait();
                with_code(server, pending, code).status
            };
            let all: Vec<_> = (0..4).map(|_| threads.spawn(ask)).collect();
            all.into_iter().map(|thread| thread.join().expect("an answer")).collect()
        });
        assert_eq!(statuses.iter().filter(|status| **status == 303).count(), 1, "{statuses:?}");
        assert!(statuses.iter().all(|status| [303, 403].contains(status)), "{statuses:?}");
        assert_eq!(with_code(server, pending, code).status, 403, "nor later");
    }
    // Nor is one of before the last that was used.
    assert_eq!(with_code(&server, &pending, &code(&secret, -1)).status, 403);
}

#[test]
fn guesses_of_codes_are_slowed_wherever_they_come_from() {
    let sets = [
        "pages.max_login_attempts=2",
        "pages.retry_after=60s",
        "server.trusted_proxies=[\"127.0.0.1\"]",
        "site.application_passwords=on",
    ];
    let server = Server::with(&sets);
    let (secret, codes) = set_up(&server, &mut Browser::of(&server, "admin", PASSWORD), PASSWORD);
    let pending = pending(&server, "admin", PASSWORD);
    let from = |network: usize, code: &str| {
        let headers = [("x-forwarded-for", &*format!("198.51.{network}.7"))];
        Browser::new(&server).send("POST", "/login", Some(&[("pending", &pending), ("code", code)]), &headers)
    };
    assert_eq!([0; 3].map(|_| from(0, "000000").status), [403, 403, 429]);
    // Who knows the password does not get more guesses by proving that again.
    let form = [("login", "admin"), ("password", PASSWORD)];
    assert_eq!(
        Browser::new(&server).send("POST", "/login", Some(&form), &[("x-forwarded-for", "198.51.0.7")]).status,
        200
    );
    let waits = from(0, &code(&secret, 0));
    assert_eq!(waits.status, 429, "the right one waits, too");
    assert!(waits.header("retry-after").is_some());
    assert_eq!(from(1, &codes[0]).status, 303, "from elsewhere the owner gets in");
    let refused = (2..40).map(|network| from(network, "000000").status).filter(|status| *status == 429).count();
    assert!(refused >= 25, "guesses about one account are counted over all networks: {refused}");
    assert_eq!(server.admin("GET", "/cms/v2/users/me", None).status, 200, "programs are not locked out");
}

#[test]
fn no_other_door_takes_the_password_alone() {
    let site = "[xmlrpc]\naccount_passwords = true\n";
    let server = Server::over(with_profiles(&["login-tokens"], site), &["site.prefix=wp"]);
    server.user("eva", "author");
    let mut eva = Browser::new(&server);
    assert_eq!(eva.post("/wp-login.php", &[("log", "eva"), ("pwd", "long enough")]).status, 303);
    let token =
        || server.ask("POST", "/jwt-auth/v1/token", None, Some(&json!({"username": "eva", "password": "long enough"})));
    let who = ("eva".to_owned(), "long enough".to_owned());
    assert_eq!(token().status, 200);
    assert!(!fault(&server, &who).contains("faultCode"));
    let page = eva.submit("/second-factor", "/second-factor", &[("act", "begin")]);
    let (secret, setup, form_token) = (secret_of(&page), field(&page, "setup"), field(&page, "token"));
    let form = [
        ("act", "add"),
        ("setup", &*setup),
        ("first", &code(&secret, 0)),
        ("current", "long enough"),
        ("token", &form_token),
    ];
    assert_eq!(eva.post("/second-factor", &form).status, 200);

    let refused = token();
    assert_eq!((refused.status, refused.code()), (403, "rest_second_factor_required"), "{}", refused.text);
    let fault = fault(&server, &who);
    assert!(fault.contains("faultCode") && fault.contains("second factor"), "{fault}");
    assert_eq!(server.ask("GET", "/wp/v2/users/me", Some(&who), None).status, 401, "Basic takes no account passwords");
    let login = Browser::new(&server).post("/wp-login.php", &[("log", "eva"), ("pwd", "long enough")]);
    assert_eq!((login.status, login.header("set-cookie")), (200, None));
    for page in ["/wp-admin/authorize-application.php?app_name=A", "/wp-admin/profile.php", "/second-factor"] {
        assert_eq!(Browser::new(&server).get(page).status, 302, "{page}");
    }
    // Whoever does not know the password does not learn whether there is a factor.
    server.user("ada", "author");
    let wrong = |login: &str| {
        let form = [("log", login), ("pwd", "wrong")];
        Browser::new(&server).post("/wp-login.php", &form).text.replace(login, "LOGIN")
    };
    assert_eq!(wrong("eva"), wrong("ada"));
    let wrong = |login: &str| {
        server.ask("POST", "/jwt-auth/v1/token", None, Some(&json!({"username": login, "password": "wrong"}))).text
    };
    assert_eq!(wrong("eva"), wrong("ada"));
}

#[test]
fn passwords_are_changed_and_reset_with_the_factor_alone() {
    let folder = TempDir::new().expect("a folder");
    let server = Server::with(&[&format!("mail.url=file:{}", folder.path().display()), "mail.from=cms@site.example"]);
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let (secret, codes) = set_up(&server, &mut browser, PASSWORD);
    let new = "another long password";
    let change = |browser: &mut Browser<'_>, code: &str| {
        let form = [("act", "password"), ("current", PASSWORD), ("new", new), ("code", code)];
        browser.submit("/profile", "/profile", &form)
    };
    for code in ["", "000000"] {
        let answer = change(&mut browser, code);
        assert_eq!(answer.status, 403, "{}", answer.text);
    }
    let used = code(&secret, 0);
    assert_eq!(change(&mut browser, &used).status, 303);
    Browser::new(&server).post("/lost-password", &[("login", "admin")]);
    let link = mail_link(&server, folder.path());
    let mut stranger = Browser::new(&server);
    let page = stranger.get(&link);
    assert!(page.text.contains("name=\"code\""), "{}", page.text);
    let token = field(&page, "link");
    let reset = |code: &str| {
        Browser::new(&server).post("/set-password", &[("link", &token), ("new", "a third password"), ("code", code)])
    };
    for code in ["", "000000", &used] {
        let answer = reset(code);
        assert_eq!(answer.status, 403, "{code}: {}", answer.text);
    }
    assert_eq!(reset(&codes[3]).status, 303);
    assert_eq!(reset(&codes[4]).status, 400, "the link was used");
    let answer = with_code(&server, &pending(&server, "admin", "a third password"), &code(&secret, 1));
    assert_eq!(answer.status, 303, "a reset does not take the factor away");
}

/// The address of the link in the newest message, once there is one.
fn mail_link(server: &Server, folder: &Path) -> String {
    let mut found = String::new();
    until("a message has a link", || {
        let texts = mails(folder);
        let link = texts.iter().find_map(|text| text.lines().find(|line| line.contains("/set-password?token=")));
        found = link.unwrap_or_default().trim().to_owned();
        !found.is_empty()
    });
    found.replace(&server.site, "")
}

/// The messages in the folder.
fn mails(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .filter_map(|file| std::fs::read_to_string(file.path()).ok())
        .map(|text| text.replace("=\r\n", "").replace("=3D", "="))
        .collect()
}

#[test]
fn a_change_asks_for_what_the_account_has_and_is_reported() {
    let folder = TempDir::new().expect("a folder");
    let server = Server::with(&[&format!("mail.url=file:{}", folder.path().display()), "mail.from=cms@site.example"]);
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    // The first one asks for the password.
    let page = browser.submit("/second-factor", "/second-factor", &[("act", "begin")]);
    let (secret, setup, token) = (secret_of(&page), field(&page, "setup"), field(&page, "token"));
    let add = |browser: &mut Browser<'_>, first: &str, current: &str, setup: &str| {
        let form = [
            ("act", "add"),
            ("setup", setup),
            ("name", "A"),
            ("first", first),
            ("current", current),
            ("token", &token),
        ];
        browser.post("/second-factor", &form)
    };
    assert_eq!(add(&mut browser, &code(&secret, 0), "wrong", &setup).status, 403);
    assert_eq!(add(&mut browser, "000000", PASSWORD, &setup).status, 400, "the app has to show a code first");
    assert_eq!(add(&mut browser, &code(&secret, 0), PASSWORD, "forged").status, 400);
    let done = add(&mut browser, &code(&secret, 0), PASSWORD, &setup);
    assert_eq!(done.status, 200, "{}", done.text);
    let codes = codes_of(&done);
    // Another person's set-up is nobody else's.
    server.user("eva", "author");
    let mut eva = Browser::of(&server, "eva", "long enough");
    let token = field(&eva.get("/second-factor"), "token");
    let form = [
        ("act", "add"),
        ("setup", &*setup),
        ("first", &code(&secret, 0)),
        ("current", "long enough"),
        ("token", &token),
    ];
    assert_eq!(eva.post("/second-factor", &form).status, 400);

    // Every further change asks for the factor; the password does not suffice.
    let id = field(&browser.get("/second-factor"), "factor");
    let act = |browser: &mut Browser<'_>, act: &str, with: (&str, &str)| {
        browser.submit("/second-factor", "/second-factor", &[("act", act), ("factor", &id), with])
    };
    let asked = browser.submit("/second-factor", "/second-factor", &[("act", "remove"), ("factor", &id)]);
    assert!(asked.status == 200 && asked.text.contains("name=\"code\""), "{}", asked.text);
    for wrong in [("current", PASSWORD), ("code", "000000"), ("code", "")] {
        assert_eq!(act(&mut browser, "remove", wrong).status, 403, "{wrong:?}");
        assert_eq!(act(&mut browser, "recovery", wrong).status, 403, "{wrong:?}");
    }
    let made = act(&mut browser, "recovery", ("code", &codes[0]));
    let fresh = codes_of(&made);
    assert_eq!((made.status, fresh.len()), (200, 10), "{}", made.text);
    assert_eq!(act(&mut browser, "remove", ("code", &codes[1])).status, 403, "the old codes are void");
    assert_eq!(act(&mut browser, "remove", ("code", &fresh[0])).status, 303);
    assert_eq!(server.sql("SELECT COUNT(*) FROM recovery_code"), ["0"]);
    assert_eq!(Browser::new(&server).post("/login", &[("login", "admin"), ("password", PASSWORD)]).status, 303);
    for text in ["added: A", "new recovery codes", "removed: A"] {
        until("the change is reported", || mails(folder.path()).iter().any(|mail| mail.contains(text)));
    }
    let found = events(&server);
    for event in ["second_factor_added", "recovery_code_used", "recovery_codes_made", "second_factor_removed"] {
        assert!(found.iter().any(|name| name == event), "{event}: {found:?}");
    }
}

#[test]
fn administrators_and_operators_help_who_has_lost_a_factor() {
    let server = Server::start();
    server.user("eva", "author");
    let editor = server.user("ed", "editor");
    let mut eva = Browser::of(&server, "eva", "long enough");
    set_up(&server, &mut eva, "long enough");
    set_up(&server, &mut Browser::of(&server, "admin", PASSWORD), PASSWORD);
    let id = server.sql("SELECT id FROM \"user\" WHERE login = 'eva'").concat();
    let route = format!("/console/v1/users/{id}/second-factors");
    let listed = server.admin("GET", &route, None);
    assert_eq!(
        (listed.status, &listed.body[0]["name"], &listed.body[0]["kind"]),
        (200, &json!("Phone"), &json!("totp"))
    );
    assert!(!listed.text.contains("secret"), "{}", listed.text);
    assert_eq!(server.ask("GET", &route, Some(&editor), None).status, 403);
    let one = format!("{route}/{}", listed.body[0]["id"].as_str().expect("an id"));
    for route in [&route, &one] {
        assert_eq!(server.ask("DELETE", route, Some(&editor), None).status, 403);
        assert_eq!(server.get(route).status, if *route == one { 404 } else { 401 });
    }
    assert_eq!(server.admin("DELETE", &format!("{route}/none"), None).code(), "rest_second_factor_not_found");
    let own = server.admin("DELETE", "/console/v1/users/me/second-factors", None);
    assert_eq!((own.status, own.code()), (403, "rest_cannot_remove_second_factor"), "the own one is asked for");
    assert_eq!(server.admin("DELETE", &one, None).status, 200);
    assert_eq!(eva.get("/profile").status, 302, "the sessions have ended");
    assert_eq!(Browser::new(&server).post("/login", &[("login", "eva"), ("password", "long enough")]).status, 303);

    let config = server.path("routes.toml");
    let (config, url) = (config.to_str().expect("a path"), server.storage());
    let done = run(&["--config", config, "--set", &url, "user", "reset-factor", "admin"], "");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(Browser::new(&server).post("/login", &[("login", "admin"), ("password", PASSWORD)]).status, 303);
    assert!(events(&server).iter().filter(|event| *event == "second_factors_removed").count() >= 2);
    // Who is deleted leaves none.
    set_up(&server, &mut Browser::of(&server, "eva", "long enough"), "long enough");
    assert_eq!(server.admin("DELETE", &format!("/cms/v2/users/{id}?force=true&reassign=1"), None).status, 200);
    assert_eq!(server.sql("SELECT COUNT(*) FROM second_factor"), ["0"]);
}

#[test]
fn who_needs_a_factor_can_do_nothing_else_after_the_time_of_grace() {
    let server = Server::with(&[
        "roles.administrator.second_factor=required",
        "roles.administrator.second_factor_grace=2d",
        "xmlrpc.account_passwords=true",
    ]);
    let form = [("login", "admin"), ("password", PASSWORD), ("redirect", "/profile")];
    let mut browser = Browser::new(&server);
    let first = browser.post("/login", &form);
    assert_eq!((first.status, first.header("location")), (303, Some("/second-factor?redirect=%2Fprofile")));
    assert!(browser.get("/second-factor").text.contains("Set one up until:"), "{}", browser.get("/second-factor").text);
    assert_eq!(browser.get("/profile").status, 200, "not yet");
    until("the time has begun", || server.sql("SELECT second_factor_due FROM \"user\" WHERE id = 1").concat() != "0");
    let due: i64 = server.sql("SELECT second_factor_due FROM \"user\" WHERE id = 1").concat().parse().expect("a time");
    assert!((due - now() - 2 * 24 * 60 * 60).abs() < 60, "{due}");
    let nonce = browser.get("/nonce").text;
    let rest = |browser: &mut Browser<'_>, method: &str, route: &str| {
        let url = format!("{}{route}", server.rest);
        browser.send(method, &url, None, &[("x-cms-nonce", &nonce)])
    };
    assert_eq!(rest(&mut browser, "GET", "/cms/v2/users/me").status, 200);

    server.sql("UPDATE \"user\" SET second_factor_due = 1 WHERE id = 1");
    let refused = rest(&mut browser, "GET", "/cms/v2/users/me");
    assert_eq!((refused.status, refused.code()), (403, "rest_second_factor_required"), "{}", refused.text);
    for (method, route) in [
        ("POST", "/cms/v2/posts"),
        ("DELETE", "/cms/v2/posts/1"),
        ("GET", "/cms/v2/posts?context=edit"),
        ("POST", "/batch/v1"),
    ] {
        assert_eq!(rest(&mut browser, method, route).code(), "rest_second_factor_required", "{method} {route}");
    }
    for page in ["/profile", "/admin", "/admin/posts", "/authorize?app_name=A", "/profile?user=1"] {
        let answer = browser.get(page);
        assert_eq!((answer.status, answer.header("location")), (303, Some("/second-factor")), "{page}");
    }
    let token = field(&browser.get("/second-factor"), "token");
    let made = browser.post("/authorize", &[("act", "approve"), ("app_name", "A"), ("token", &token)]);
    assert_eq!(made.header("location"), Some("/second-factor"), "no application password is made meanwhile");
    let fault = fault(&server, &("admin".into(), PASSWORD.into()));
    assert!(fault.contains("second factor"), "{fault}");
    assert_eq!(server.admin("GET", "/cms/v2/users/me", None).status, 200, "programs go on");
    // Nor is the page a way around the password.
    let begun = browser.submit("/second-factor", "/second-factor", &[("act", "begin")]);
    let form = [
        ("act", "add"),
        ("setup", &*field(&begun, "setup")),
        ("first", &code(&secret_of(&begun), 0)),
        ("current", "wrong"),
        ("token", &token),
    ];
    assert_eq!(browser.post("/second-factor", &form).status, 403);

    set_up(&server, &mut browser, PASSWORD);
    assert_eq!(browser.get("/profile").status, 200);
    assert_eq!(rest(&mut browser, "GET", "/cms/v2/users/me").status, 200);
    server.user("eva", "editor");
    assert_eq!(Browser::of(&server, "eva", "long enough").get("/profile").status, 200, "other roles need none");
}
