//! Pages for people: sessions, nonces, login, profile, letting programs in, and those who attack them.

use super::server::{Answer, Server};
use serde_json::json;
use std::time::{Duration, Instant};

pub const PASSWORD: &str = "an account password";
const APP: &str = "12345678-1234-4234-8234-1234567890ab";

/// A browser without scripts: it stores a cookie and sends forms.
pub struct Browser<'s> {
    pub server: &'s Server,
    pub cookie: String,
}

impl<'s> Browser<'s> {
    pub fn new(server: &'s Server) -> Browser<'s> {
        Browser { server, cookie: String::new() }
    }

    /// One that has logged in.
    pub fn of(server: &'s Server, login: &str, password: &str) -> Browser<'s> {
        let mut browser = Browser::new(server);
        let answer = browser.post("/login", &[("login", login), ("password", password)]);
        assert_eq!(answer.status, 303, "{}", answer.text);
        browser
    }

    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        form: Option<&[(&str, &str)]>,
        headers: &[(&str, &str)],
    ) -> Answer {
        let mut headers = headers.to_vec();
        let cookie = self.cookie.clone();
        if !cookie.is_empty() {
            headers.push(("cookie", &cookie));
        }
        let body = form.map(|pairs| {
            let form: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={}", percent(value))).collect();
            ("application/x-www-form-urlencoded", form.join("&").into_bytes())
        });
        let url = if path.starts_with('/') { format!("{}{path}", self.server.site) } else { path.to_owned() };
        let answer = self.server.send(method, &url, None, body, &headers);
        let set = answer.headers.iter().filter(|(name, _)| name == "set-cookie");
        for pair in set.filter_map(|(_, set)| set.split(';').next()) {
            let name = pair.split_once('=').map_or(pair, |(name, _)| name);
            let others = self.cookie.split("; ").filter(|own| !own.is_empty() && own.split('=').next() != Some(name));
            self.cookie = others.chain([pair]).collect::<Vec<_>>().join("; ");
        }
        answer
    }

    pub fn get(&mut self, path: &str) -> Answer {
        self.send("GET", path, None, &[])
    }

    pub fn post(&mut self, path: &str, form: &[(&str, &str)]) -> Answer {
        self.send("POST", path, Some(form), &[])
    }

    /// Sends a form of a page, with the page's token.
    pub fn submit(&mut self, page: &str, action: &str, form: &[(&str, &str)]) -> Answer {
        let token = field(&self.get(page), "token");
        let mut form = form.to_vec();
        form.push(("token", &token));
        self.post(action, &form)
    }

    pub fn rest(&mut self, method: &str, route: &str, headers: &[(&str, &str)]) -> Answer {
        let url = format!("{}{route}", self.server.rest);
        self.send(method, &url, None, headers)
    }
}

fn percent(text: &str) -> String {
    text.bytes()
        .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect()
}

fn unescaped(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&#39;", "'").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// The value of a field of the page's forms.
pub fn field(page: &Answer, name: &str) -> String {
    let at = page.text.find(&format!("name=\"{name}\"")).unwrap_or_else(|| panic!("no {name} in {}", page.text));
    let (_, rest) = page.text[at..].split_once("value=\"").expect("a value");
    unescaped(rest.split('"').next().expect("a closed value"))
}

/// The password that a page shows.
fn secret(page: &Answer) -> String {
    let at = page.text.find("id=\"secret\"").unwrap_or_else(|| panic!("no secret in {}", page.text));
    let (_, rest) = page.text[at..].split_once("value=\"").expect("a value");
    rest.split('"').next().expect("a closed value").to_owned()
}

fn location(answer: &Answer) -> &str {
    answer.header("location").unwrap_or_else(|| panic!("no Location: {} {}", answer.status, answer.text))
}

/// Parameters of an address, decoded.
fn parameters(url: &str) -> Vec<(String, String)> {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    url::form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}

fn works(server: &Server, login: &str, password: &str) -> bool {
    server.ask("GET", "/cms/v2/users/me", Some(&(login.into(), password.into())), None).status == 200
}

#[test]
fn pages_are_locked_down() {
    let server = Server::start();
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let mut stranger = Browser::new(&server);
    for page in
        [stranger.get("/login"), browser.get("/profile"), browser.get("/authorize?app_name=A"), browser.get("/logout")]
    {
        assert_eq!(page.status, 200, "{}", page.text);
        let policy = page.header("content-security-policy").expect("a policy");
        for rule in ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"] {
            assert!(policy.contains(rule), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(page.header("x-frame-options"), Some("DENY"));
        assert_eq!(page.header("referrer-policy"), Some("same-origin"));
        assert_eq!(page.header("cache-control"), Some("no-store, private"));
        assert_eq!(page.header("content-type"), Some("text/html; charset=UTF-8"));
        assert_eq!(page.header("access-control-allow-origin"), None);
        assert!(page.text.contains("<html lang=\"en\">") && page.text.contains("<h1>"), "{}", page.text);
    }
    assert!(stranger.get("/assets/style.css").text.contains("color-scheme"));
    assert_eq!(stranger.get("/assets/none.css").status, 404);
    let cors = stranger.send("GET", "/login", None, &[("origin", "https://other.example")]);
    assert_eq!(cors.header("access-control-allow-origin"), None);
}

#[test]
fn over_https_the_cookie_belongs_to_the_host() {
    let server = Server::with(&["server.trusted_proxies=[\"127.0.0.1\"]"]);
    let https: &[(&str, &str)] = &[("x-forwarded-proto", "https"), ("x-forwarded-for", "192.0.2.7")];
    let log_in = |headers: &[(&str, &str)]| {
        let form: &[(&str, &str)] = &[("login", "admin"), ("password", PASSWORD)];
        let answer = Browser::new(&server).send("POST", "/login", Some(form), headers);
        assert_eq!(answer.status, 303, "{}", answer.text);
        answer.header("set-cookie").expect("a cookie").to_owned()
    };
    let cookie = log_in(https);
    assert!(cookie.starts_with("__Host-cms_session=") && cookie.contains("; Secure"), "{cookie}");
    assert!(cookie.contains("; Path=/;") && !cookie.contains("Domain"), "{cookie}");
    let own = cookie.split(';').next().expect("a pair").to_owned();
    // One that began before this site was served over HTTPS goes on.
    let plain = log_in(&[]).split(';').next().expect("a pair").to_owned();
    assert!(plain.starts_with("cms_session="), "{plain}");
    let status = |cookies: &str| {
        let mut browser = Browser { server: &server, cookie: cookies.to_owned() };
        browser.send("GET", "/profile", None, https).status
    };
    assert_eq!((status(&own), status(&plain)), (200, 200));
    let foreign = "cms_session=0123456789012345678901234567890123456789012";
    assert_eq!(status(&format!("{foreign}; {own}")), 200, "a sibling's cookie does not count before it");
    // A cookie that opens a session under one name opens none under the other.
    assert_eq!(status(&own.replace("__Host-", "")), 302);
    assert_eq!(status(&format!("__Host-{plain}")), 302);
}

#[test]
fn a_login_opens_a_session_and_a_logout_ends_it() {
    let server = Server::start();
    let mut browser = Browser::new(&server);
    let answer = browser.post("/login", &[("login", "admin"), ("password", PASSWORD)]);
    assert_eq!((answer.status, location(&answer)), (303, "/admin"));
    let cookie = answer.header("set-cookie").expect("a cookie");
    for word in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    assert!(!cookie.contains("Max-Age") && !cookie.contains("Secure"), "{cookie}");
    assert!(browser.get("/profile").text.contains("admin@example.org"));
    let stolen = browser.cookie.clone();
    let out = browser.submit("/profile", "/logout", &[]);
    assert_eq!((out.status, location(&out)), (303, "/login"));
    assert!(out.header("set-cookie").is_some_and(|c| c.contains("Max-Age=0")));
    let mut thief = Browser { server: &server, cookie: stolen };
    assert_eq!(thief.get("/profile").status, 302, "a stolen cookie is worth nothing after the logout");
    let remembered =
        Browser::new(&server).post("/login", &[("login", "admin"), ("password", PASSWORD), ("remember", "1")]);
    assert!(remembered.header("set-cookie").is_some_and(|c| c.contains("Max-Age=1209600")));
    let by_mail = Browser::new(&server).post("/login", &[("login", "Admin@Example.org"), ("password", PASSWORD)]);
    assert_eq!(by_mail.status, 303);
}

#[test]
fn a_session_does_not_reach_the_interface_without_its_nonce() {
    let server = Server::start();
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let plain = browser.rest("GET", "/cms/v2/users/me", &[]);
    assert_eq!(plain.status, 401, "the cookie alone is a stranger's");
    assert_eq!(plain.header("x-cms-nonce"), None);
    let forged = browser.rest("GET", "/cms/v2/users/me", &[("x-cms-nonce", "0123456789abcde")]);
    assert_eq!((forged.status, forged.code()), (403, "rest_cookie_invalid_nonce"));
    assert_eq!(browser.rest("GET", "/cms/v2/posts?_cmsnonce=wrong", &[]).code(), "rest_cookie_invalid_nonce");
    let token = field(&browser.get("/profile"), "token");
    let other = browser.rest("GET", "/cms/v2/users/me", &[("x-cms-nonce", &token)]);
    assert_eq!(other.status, 403, "the token of a form is no nonce of the interface");
}

#[test]
fn a_nonce_makes_the_session_s_user_known() {
    let server = Server::with(&["site.prefix=wp"]);
    let mut browser = Browser::new(&server);
    let answer =
        browser.post("/wp-login.php", &[("log", "admin"), ("pwd", PASSWORD), ("redirect_to", "/wp-admin/profile.php")]);
    assert_eq!((answer.status, location(&answer)), (303, "/wp-admin/profile.php"));
    let nonce = browser.get("/wp-admin/admin-ajax.php?action=rest-nonce");
    assert_eq!(nonce.status, 200, "{}", nonce.text);
    let nonce = nonce.text;
    for headers in [vec![("x-wp-nonce", nonce.as_str())], vec![]] {
        let query = if headers.is_empty() { format!("?_wpnonce={nonce}") } else { String::new() };
        let me = browser.rest("GET", &format!("/wp/v2/users/me{query}"), &headers);
        assert_eq!((me.status, &me.body["slug"]), (200, &json!("admin")), "{}", me.text);
        let fresh = me.header("x-wp-nonce").expect("a fresh nonce").to_owned();
        assert_eq!(browser.rest("GET", "/wp/v2/settings", &[("x-wp-nonce", &fresh)]).status, 200);
    }
    let mut other = Browser::new(&server);
    other.post("/wp-login.php", &[("log", "admin"), ("pwd", PASSWORD)]);
    let foreign = other.rest("GET", "/wp/v2/users/me", &[("x-wp-nonce", &nonce)]);
    assert_eq!(foreign.code(), "rest_cookie_invalid_nonce", "a nonce is one session's");
    assert_eq!(Browser::new(&server).get("/wp-admin/admin-ajax.php?action=rest-nonce").status, 400);
    let token = field(&browser.get("/wp-admin/profile.php"), "token");
    let out = browser.post("/wp-login.php?action=logout", &[("token", &token)]);
    assert_eq!((out.status, location(&out)), (303, "/wp-login.php"));
    assert_eq!(browser.rest("GET", "/wp/v2/users/me", &[("x-wp-nonce", &nonce)]).status, 403);
    let page = browser.get("/wp-admin/authorize-application.php?app_name=A");
    assert!(location(&page).starts_with("/wp-login.php?redirect_to="), "{}", location(&page));
}

#[test]
fn a_wrong_password_logs_nobody_in() {
    let server = Server::start();
    for (login, password) in
        [("admin", "wrong"), ("nobody", PASSWORD), ("admin", server.admin.1.as_str()), ("", ""), ("admin", "")]
    {
        let mut browser = Browser::new(&server);
        let answer = browser.post("/login", &[("login", login), ("password", password)]);
        assert_eq!(answer.status, 401, "{login} {password}: {}", answer.text);
        assert_eq!(answer.header("set-cookie"), None);
        assert!(answer.text.contains("role=\"alert\""));
        assert!(!answer.text.contains(PASSWORD), "a password is never shown again");
    }
}

#[test]
fn guesses_are_slowed_for_one_account_from_one_place() {
    let server = Server::with(&["pages.max_login_attempts=3", "pages.retry_after=60s"]);
    let guess =
        |login: &str, password: &str| Browser::new(&server).post("/login", &[("login", login), ("password", password)]);
    for _ in 0..3 {
        assert_eq!(guess("admin", "wrong").status, 401);
    }
    let slowed = guess("admin", "wrong");
    let wait: u32 = slowed.header("retry-after").and_then(|wait| wait.parse().ok()).expect("Retry-After");
    // Less than the whole pause where the guesses took their time.
    assert!(slowed.status == 429 && (40..=60).contains(&wait), "{} {wait}", slowed.status);
    assert_eq!(guess("admin", PASSWORD).status, 429, "the right one waits, too: nobody learns whether it is right");
    assert!(works(&server, &server.admin.0, &server.admin.1), "programs are not locked out");
}

#[test]
fn a_right_password_is_not_slowed_once_it_was_proven() {
    let server = Server::with(&["pages.max_login_attempts=2", "pages.retry_after=60s"]);
    let guess =
        |password: &str| Browser::new(&server).post("/login", &[("login", "admin"), ("password", password)]).status;
    assert_eq!(guess(PASSWORD), 303);
    for _ in 0..4 {
        guess("wrong");
    }
    assert_eq!(guess(PASSWORD), 303, "whoever has proven the password before is not locked out");
}

#[test]
fn an_unknown_user_costs_the_time_of_a_known_one() {
    let server = Server::with(&["site.bcrypt_cost=9", "pages.max_login_attempts=1000"]);
    let took = |login: &str| {
        let start = Instant::now();
        Browser::new(&server).post("/login", &[("login", login), ("password", "wrong")]);
        start.elapsed()
    };
    // The shortest of eight: other work on the machine only adds.
    let tries: Vec<_> = (0..8).map(|_| (took("admin"), took("nobody"))).collect();
    let known = tries.iter().map(|(known, _)| *known).min().expect("eight tries");
    let unknown = tries.iter().map(|(_, unknown)| *unknown).min().expect("eight tries");
    let difference = known.abs_diff(unknown);
    assert!(known > Duration::from_millis(5) && difference < known / 2, "{known:?} {unknown:?}");
}

#[test]
fn nobody_is_sent_away_by_a_login() {
    let server = Server::start();
    for wanted in [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "javascript:alert(1)",
        "/a\r\nSet-Cookie: x=y",
        "/.//evil.example",
    ] {
        let form = [("login", "admin"), ("password", PASSWORD), ("redirect", wanted)];
        let answer = Browser::new(&server).post("/login", &form);
        assert_eq!((answer.status, location(&answer)), (303, "/admin"), "{wanted}");
        assert!(answer.headers.iter().filter(|(name, _)| name == "set-cookie").count() == 1, "{wanted}");
    }
    let form = [("login", "admin"), ("password", PASSWORD), ("redirect", "/authorize?app_name=A%20B&x=1")];
    assert_eq!(location(&Browser::new(&server).post("/login", &form)), "/authorize?app_name=A%20B&x=1");
}

#[test]
fn a_session_cannot_be_fixed_beforehand() {
    let server = Server::start();
    let mut browser = Browser { server: &server, cookie: "cms_session=chosenbytheattacker".into() };
    browser.post("/login", &[("login", "admin"), ("password", PASSWORD)]);
    assert_ne!(browser.cookie, "cms_session=chosenbytheattacker");
    let mut attacker = Browser { server: &server, cookie: "cms_session=chosenbytheattacker".into() };
    assert_eq!(attacker.get("/profile").status, 302);
    let mut again = Browser { server: &server, cookie: browser.cookie.clone() };
    again.post("/login", &[("login", "admin"), ("password", PASSWORD)]);
    assert_ne!(again.cookie, browser.cookie, "every login opens a session of its own");
}

#[test]
fn forms_from_elsewhere_are_not_taken() {
    let server = Server::start();
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let token = field(&browser.get("/profile"), "token");
    let form = [("act", "save"), ("description", "x"), ("token", token.as_str())];
    for headers in
        [[("sec-fetch-site", "cross-site")], [("sec-fetch-site", "same-site")], [("origin", "https://evil.example")]]
    {
        assert_eq!(browser.send("POST", "/profile", Some(&form), &headers).status, 403, "{headers:?}");
        let login = [("login", "admin"), ("password", PASSWORD)];
        assert_eq!(Browser::new(&server).send("POST", "/login", Some(&login), &headers).status, 403, "{headers:?}");
    }
    for token in ["", "wrong", "0123456789abcde"] {
        let form = [("act", "save"), ("description", "x"), ("token", token)];
        assert_eq!(browser.post("/profile", &form).status, 403, "{token}");
        let form = [("act", "approve"), ("app_name", "A"), ("token", token)];
        assert_eq!(browser.post("/authorize", &form).status, 403, "{token}");
        assert_eq!(browser.post("/logout", &[("token", token)]).status, 403, "{token}");
    }
    let other = Browser::of(&server, "admin", PASSWORD);
    let mut stolen = Browser { server: &server, cookie: other.cookie.clone() };
    assert_eq!(stolen.post("/profile", &form).status, 403, "the token of another session");
}

#[test]
fn a_program_is_let_in_and_gets_a_password() {
    let server = Server::start();
    let asked =
        format!("/authorize?app_name=My%20App&app_id={APP}&success_url=https%3A%2F%2Fapp.example%2Fdone%3Fx%3D1");
    let mut browser = Browser::new(&server);
    let to_login = browser.get(&asked);
    assert_eq!(to_login.status, 302);
    let kept = parameters(location(&to_login));
    assert_eq!(kept, [("redirect".to_owned(), format!("{}{asked}", server.site))]);
    let login = browser.get(location(&to_login));
    assert!(login.text.contains("A program requests"), "{}", login.text);
    let redirect = field(&login, "redirect");
    let answer = browser.post("/login", &[("login", "admin"), ("password", PASSWORD), ("redirect", &redirect)]);
    assert_eq!(location(&answer), asked);
    let page = browser.get(&asked);
    assert!(page.text.contains("My App") && page.text.contains("app.example"), "{}", page.text);
    assert!(
        page.header("content-security-policy").is_some_and(|p| p.contains("form-action 'self' https://app.example;"))
    );
    let fields = ["app_name", "app_id", "success_url", "reject_url", "token"].map(|name| (name, field(&page, name)));
    let mut form: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    form.push(("act", "approve"));
    let done = browser.post("/authorize", &form);
    assert_eq!(done.status, 303, "{}", done.text);
    assert!(location(&done).starts_with("https://app.example/done?x=1&"), "{}", location(&done));
    let told = parameters(location(&done));
    let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["x", "site_url", "user_login", "password"]);
    assert_eq!((told[1].1.as_str(), told[2].1.as_str()), (server.site.as_str(), "admin"));
    assert!(told[3].1.chars().all(|c| c.is_ascii_alphanumeric()), "{}", told[3].1);
    assert!(works(&server, "admin", &told[3].1));
    let listed = server.admin("GET", "/cms/v2/users/me/application-passwords", None).body;
    let made = listed.as_array().expect("a list").last().expect("one").clone();
    assert_eq!((&made["name"], &made["app_id"]), (&json!("My App"), &json!(APP)));
}

#[test]
fn a_refusal_leads_to_one_of_three_places() {
    let server = Server::start();
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let success = "success_url=https%3A%2F%2Fapp.example%2Fdone";
    let reject = "reject_url=https%3A%2F%2Fapp.example%2Fno%3Fwhy%3D1";
    let cases = [
        (format!("{success}&{reject}"), "https://app.example/no?why=1"),
        (reject.to_owned(), "https://app.example/no?why=1"),
        (success.to_owned(), "https://app.example/done?success=false"),
        (String::new(), "/profile"),
    ];
    let before = server.admin("GET", "/cms/v2/users/me/application-passwords", None).body;
    for (query, place) in cases {
        let page = browser.get(&format!("/authorize?app_name=A&{query}"));
        let fields = ["app_name", "success_url", "reject_url", "token"].map(|name| (name, field(&page, name)));
        let mut form: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        form.push(("act", "reject"));
        let answer = browser.post("/authorize", &form);
        assert_eq!((answer.status, location(&answer)), (303, place), "{query}");
    }
    assert_eq!(server.admin("GET", "/cms/v2/users/me/application-passwords", None).body, before);
}

#[test]
fn without_an_address_the_password_is_shown() {
    let server = Server::start();
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let done =
        browser.submit("/authorize?app_name=A", "/authorize", &[("app_name", "A <b>\"name\""), ("act", "approve")]);
    assert_eq!(done.status, 200, "{}", done.text);
    let shown = secret(&done);
    assert!(shown.split(' ').all(|group| group.len() == 4), "groups of four: {shown}");
    assert!(works(&server, "admin", &shown));
    assert!(!done.text.contains("<b>"), "names are text");
    let none = browser.submit("/authorize", "/authorize", &[("app_name", ""), ("act", "approve")]);
    assert_eq!(none.status, 400, "a password needs a name: {}", none.text);
}

#[test]
fn programs_cannot_send_people_anywhere() {
    let server = Server::start();
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let unsafe_urls = [
        "http://app.example/done",
        "http://127.0.0.1/done",
        "javascript:alert(1)",
        "data:text/html,x",
        "chrome://settings",
        "jar:https://a.example!/x",
        "feed:javascript:alert(1)",
        "ms-settings:privacy",
        "x-javascript:alert(1)",
        "myapp://callback",
        "file:///etc/passwd",
        "//app.example/",
        "nonsense",
        "https://",
        "https://app.example/\r\nSet-Cookie: a=b",
        "https://site.example@evil.example/",
    ];
    for url in unsafe_urls {
        for name in ["success_url", "reject_url"] {
            let page = browser.get(&format!("/authorize?app_name=A&{name}={}", percent(url)));
            assert_eq!(page.status, 400, "{name}={url}: {}", page.text);
            assert!(page.text.contains("Nothing was changed"), "the user sees a message");
            assert!(!page.text.contains("name=\"token\" value=\"\"") && page.header("location").is_none());
            let token = field(&browser.get("/profile"), "token");
            for act in ["approve", "reject"] {
                let form = [("app_name", "A"), (name, url), ("act", act), ("token", token.as_str())];
                let answer = browser.post("/authorize", &form);
                assert_eq!((answer.status, answer.header("location")), (400, None), "{act} {name}={url}");
            }
        }
    }
    assert_eq!(browser.get("/authorize?app_name=A&app_id=no-uuid").status, 400);
    for (target, shown, source) in [
        ("com.example.app://callback", "com.example.app:", "com.example.app:"),
        ("http://127.0.0.1:8123/done", "port 8123 of this device", "http://127.0.0.1:8123"),
    ] {
        let own = browser.get(&format!("/authorize?app_name=A&success_url={}", percent(target)));
        assert!(own.text.contains(shown), "{}", own.text);
        let policy = own.header("content-security-policy").unwrap_or_default();
        assert!(policy.contains(&format!("form-action 'self' {source};")), "{policy}");
    }
}

#[test]
fn a_profile_changes_what_is_one_s_own() {
    let server = Server::start();
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let form = [("act", "save"), ("name", "Ada <L>"), ("email", "ada@example.org"), ("description", "Writes.")];
    let saved = browser.submit("/profile", "/profile", &form);
    assert_eq!((saved.status, location(&saved)), (303, "/profile?done=save"), "{}", saved.text);
    let me = server.admin("GET", "/cms/v2/users/me?context=edit", None).body;
    assert_eq!((&me["email"], &me["description"]), (&json!("ada@example.org"), &json!("Writes.")));
    let bad = browser.submit("/profile", "/profile", &[("act", "save"), ("email", "nobody")]);
    assert!(bad.status == 400 && bad.text.contains("role=\"alert\""), "{}", bad.text);
    let made = browser.submit("/profile", "/profile", &[("act", "create"), ("name", "Phone")]);
    let shown = secret(&made);
    assert!(works(&server, "admin", &shown));
    assert!(!browser.get("/profile").text.contains(&shown), "shown once");
    let list = server.admin("GET", "/cms/v2/users/me/application-passwords", None).body;
    let phone = list.as_array().expect("a list").iter().find(|p| p["name"] == "Phone").expect("it is there");
    let uuid = phone["uuid"].as_str().expect("a uuid");
    assert_eq!(browser.submit("/profile", "/profile", &[("act", "revoke"), ("uuid", uuid)]).status, 303);
    assert!(!works(&server, "admin", &shown), "it fails at once");
    assert_eq!(browser.submit("/profile", "/profile", &[("act", "revoke-all")]).status, 303);
    assert!(!works(&server, &server.admin.0, &server.admin.1));
}

#[test]
fn a_new_password_ends_the_other_sessions() {
    let server = Server::start();
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let mut other = Browser::of(&server, "admin", PASSWORD);
    let change = |browser: &mut Browser<'_>, current: &str, new: &str| {
        browser.submit("/profile", "/profile", &[("act", "password"), ("current", current), ("new", new)]).status
    };
    assert_eq!(change(&mut browser, "wrong", "another password"), 403);
    assert_eq!(change(&mut browser, PASSWORD, "short"), 400);
    assert_eq!(change(&mut browser, PASSWORD, "another password"), 303);
    assert_eq!(browser.get("/profile").status, 200, "one's own session goes on");
    assert_eq!(other.get("/profile").status, 302);
    assert_eq!(Browser::new(&server).post("/login", &[("login", "admin"), ("password", PASSWORD)]).status, 401);
    Browser::of(&server, "admin", "another password");
    let mut third = Browser::of(&server, "admin", "another password");
    assert_eq!(browser.submit("/profile", "/profile", &[("act", "end-all")]).status, 303);
    assert_eq!(third.get("/profile").status, 302);
    assert_eq!(browser.get("/profile").status, 200);
    let body = json!({"password": "a third password"});
    assert_eq!(server.admin("POST", "/cms/v2/users/1", Some(&body)).status, 200);
    assert_eq!(browser.get("/profile").status, 302, "a password set by a program ends them, too");
}

#[test]
fn profiles_of_others_are_for_who_may_edit_them() {
    let server = Server::start();
    server.user("reader", "subscriber");
    let made = server.admin("GET", "/cms/v2/users?search=reader&context=edit", None).body;
    let id = made[0]["id"].as_i64().expect("an id");
    let mut admin = Browser::of(&server, "admin", PASSWORD);
    let address = format!("/profile?user={id}");
    assert!(admin.get("/profile").text.contains(&address), "others are listed");
    let page = admin.get(&address);
    assert!(page.status == 200 && page.text.contains("reader@example.org"), "{}", page.text);
    assert_eq!(admin.submit(&address, &address, &[("act", "save"), ("description", "Reads.")]).status, 303);
    let mut reader = Browser::of(&server, "reader", "long enough");
    assert_eq!(reader.get("/profile").status, 200);
    for act in ["save", "create", "revoke-all", "end-all", "password"] {
        let form = [("act", act), ("name", "x"), ("current", "long enough"), ("new", "another password")];
        let answer = reader.submit("/profile", "/profile?user=1", &form);
        assert_eq!(answer.status, 403, "{act}: {}", answer.text);
    }
    assert_eq!(reader.get("/profile?user=1").status, 403);
    assert!(works(&server, &server.admin.0, &server.admin.1));
}

#[test]
fn pages_can_be_switched_off() {
    let server = Server::with(&["pages.enabled=false"]);
    assert_eq!(Browser::new(&server).get("/login").status, 404);
    let off = Server::with(&["site.application_passwords=off"]);
    let mut browser = Browser::of(&off, "admin", PASSWORD);
    assert_eq!(browser.get("/authorize?app_name=A").status, 501);
    assert_eq!(off.get("/").body["authentication"], json!({}));
}

#[test]
fn a_limited_password_is_made_on_the_profile() {
    let server = Server::start();
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let form = [("act", "create"), ("name", "Reader"), ("access", "read"), ("days", "7")];
    let made = browser.submit("/profile", "/profile", &form);
    let reader = ("admin".to_owned(), secret(&made));
    assert!(works(&server, &reader.0, &reader.1));
    assert_eq!(
        server.ask("DELETE", "/cms/v2/posts/1", Some(&reader), None).code(),
        "rest_application_password_limited"
    );
    assert!(made.text.contains("reads only") && made.text.contains("· ends: "), "{}", made.text);
}

#[test]
fn dates_follow_the_language_of_the_site() {
    let server = Server::start();
    let day = |language: &str, pattern: &str| {
        server.admin("POST", "/cms/v2/settings", Some(&json!({"language": language})));
        let page = Browser::of(&server, "admin", PASSWORD).get("/profile").text;
        let pattern = regex::Regex::new(&format!("since: {pattern}, ")).expect("a pattern");
        assert!(pattern.is_match(&page), "{language}: {page}");
    };
    day("de_DE", r"\d\d\.\d\d\.\d{4}");
    day("en_US", r"\p{L}{3} \d{1,2}, \d{4}");
    day("nb_NO", r"\d{2}\. \p{L}{3,4}\.? \d{4}");
}

#[test]
fn pages_speak_the_language_of_the_browser() {
    let server = Server::start();
    let asked = |path: &str, tag: &str| {
        server
            .send(
                "GET",
                &format!("{}{path}", server.site),
                None,
                None,
                &[("accept-language", tag), ("accept", "text/html")],
            )
            .text
    };
    for tag in ["de", "de-AT,de;q=0.9,en;q=0.5", "fr,DE;q=0.8"] {
        let page = asked("/login", tag);
        for part in
            ["<html lang=\"de\">", ">Anmelden</button>", "Benutzername oder E-Mail-Adresse", "angemeldet bleiben"]
        {
            assert!(page.contains(part), "{tag}: {part} in {page}");
        }
        assert!(asked("/", tag).contains("Die Konsole"), "{tag}");
    }
    for tag in ["en-GB,de;q=0.5", "fr", ""] {
        assert!(asked("/login", tag).contains("<html lang=\"en\">"), "{tag}");
    }
    // Times have the form of the browser's region; without one, that of the site's language.
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    for (tag, pattern) in
        [("en-GB", r"since: \d{1,2} \p{L}{3,4} \d{4}, \d\d:\d\d"), ("de", r"seit: \d\d\.\d\d\.\d{4}, \d\d:\d\d")]
    {
        let page = browser.send("GET", "/profile", None, &[("accept-language", tag)]).text;
        assert!(regex::Regex::new(pattern).expect("a pattern").is_match(&page), "{tag}: {page}");
    }
    let wrong = server.send(
        "POST",
        &format!("{}/login", server.site),
        None,
        Some(("application/x-www-form-urlencoded", b"login=admin&password=guess".to_vec())),
        &[("accept-language", "de")],
    );
    assert!(wrong.text.contains("Benutzername oder Passwort ist falsch."), "{}", wrong.text);
}
