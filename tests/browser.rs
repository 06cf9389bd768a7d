//! The pages for people in a real browser: Chromium, driven over WebDriver.
//!
//! Without `chromedriver` on the path nothing is tested, and a line says so; `.ci/run` installs it. The browser resolves no
//! name, so that nothing leaves the machine.
//!
//! Pictures of the pages, light and dark, are left in `target/pages` and compared with those in `fixtures/pages`, which are
//! coarse: a cell is 16 pixels wide and high, so that fonts of other machines make no difference, and a lost style sheet
//! does. `UPDATE_EXPECT=1` renews them.

#[allow(dead_code, reason = "shared with the other tests, which use all of it")]
#[path = "site/described.rs"]
mod described;
#[path = "common/free_port.rs"]
mod free_port;
#[path = "common/left_out.rs"]
mod left_out;
#[path = "site/server.rs"]
#[allow(dead_code, reason = "shared with the other tests, which use all of it")]
mod server;

use base64::Engine as _;
use free_port::free_address;
use serde_json::{Value, json};
use server::{Server, with_profiles};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const TAB: &str = "\u{E004}";
const ENTER: &str = "\u{E007}";
const PASSWORD: &str = "an account password";

/// The steps of a user in a browser on a site.
type Walk = fn(&Browser, &Server);

/// A site whose address has a name, as passkeys need it.
fn named_site() -> Server {
    let port = free_address().port();
    Server::with(&[&format!("server.listen=127.0.0.1:{port}"), &format!("site.url=http://localhost:{port}")])
}

fn main() {
    let Some(driver) = Driver::start() else {
        left_out::left_out("there is no chromedriver");
        return;
    };
    let walks: [(&str, Walk); 8] = [
        ("the address says what runs here", the_address_says_what_runs_here),
        ("a program is authorized", a_program_is_let_in),
        ("a program is refused", a_program_is_refused),
        ("a password is shown", a_password_is_shown),
        ("an unsafe address is reported", an_unsafe_address_is_told),
        ("a profile makes and revokes passwords", a_profile_makes_and_revokes_passwords),
        ("the keyboard is enough", the_keyboard_is_enough),
        ("the explorer tries a request", the_explorer_tries_a_request),
    ];
    for (name, walk) in walks {
        for width in [1280, 390] {
            let site = Server::start();
            let browser = driver.browser(width, 780);
            walk(&browser, &site);
            println!("walk {name}, {width} pixels wide ... ok");
        }
    }
    for width in [1280, 390] {
        passkeys_log_people_in(&driver.browser(width, 780), &named_site());
        println!("walk passkeys log people in, {width} pixels wide ... ok");
        let site = Server::over(with_profiles(&["oauth"], ""), &[]);
        a_program_is_connected(&driver.browser(width, 780), &site);
        println!("walk a program is connected, {width} pixels wide ... ok");
    }
}

// ------------------------------------------------------------------------------------------------ the walks

fn the_address_says_what_runs_here(browser: &Browser, site: &Server) {
    browser.open(&format!("{}/", site.site));
    assert!(browser.text("main").contains(&site.rest), "{}", browser.text("main"));
    browser.fits();
    browser.picture("home");
    browser.click("#h-login ~ p a");
    browser.until(|| Some(browser.text("h1")).filter(|t| t == "Log in"));
    browser.open(&format!("{}/none", site.site));
    assert_eq!(browser.text("h1"), "Nothing here");
    browser.fits();
    browser.picture("none");
}

fn a_program_is_let_in(browser: &Browser, site: &Server) {
    let query =
        "app_name=Reader&app_id=12345678-1234-4234-8234-1234567890ab&success_url=https%3A%2F%2Fapp.example%2Fdone";
    browser.open(&format!("{}/authorize?{query}", site.site));
    browser.picture("login");
    log_in(browser);
    assert_eq!(browser.text("h1"), "Authorize a program?");
    assert!(browser.text("main").contains("app.example"));
    browser.fits();
    browser.picture("authorize");
    browser.click("button[value=approve]");
    let address = browser.until(|| Some(browser.address()).filter(|a| a.starts_with("https://app.example/")));
    let told: Vec<(String, String)> =
        url::form_urlencoded::parse(address.split_once('?').expect("a query").1.as_bytes()).into_owned().collect();
    let get = |name: &str| told.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone()).expect("a parameter");
    assert_eq!((get("site_url"), get("user_login")), (site.site.clone(), "admin".to_owned()));
    assert!(works(site, &get("password")), "the password works");
}

fn a_program_is_refused(browser: &Browser, site: &Server) {
    let (success, reject) =
        ("success_url=https%3A%2F%2Fapp.example%2Fdone", "reject_url=com.example.reader%3A%2F%2Fno");
    browser.open(&format!("{}/login", site.site));
    log_in(browser);
    for (query, place) in [
        (success.to_owned(), "https://app.example/done?success=false"),
        (format!("{success}&reject_url=https%3A%2F%2Fapp.example%2Fno"), "https://app.example/no"),
        (String::new(), "/profile"),
    ] {
        browser.open(&format!("{}/authorize?app_name=Reader&{query}", site.site));
        browser.click("button[value=reject]");
        let wanted = if place.starts_with('/') { format!("{}{place}", site.site) } else { place.to_owned() };
        browser.until(|| (browser.address() == wanted).then_some(()));
    }
    browser.open(&format!("{}/authorize?app_name=Reader&{reject}", site.site));
    assert_eq!(browser.text("h1"), "Authorize a program?", "a scheme of the program's own is fine");
}

fn a_password_is_shown(browser: &Browser, site: &Server) {
    browser.open(&format!("{}/authorize?app_name=Reader", site.site));
    log_in(browser);
    browser.click("button[value=approve]");
    browser.until(|| Some(browser.text("h1")).filter(|t| t == "The program has a password"));
    browser.fits();
    browser.picture("secret");
    assert!(works(site, &browser.value("#secret")));
    browser.click("[data-copy]");
    browser.until(|| Some(browser.text("[data-copy]")).filter(|t| t == "Copied"));
}

fn an_unsafe_address_is_told(browser: &Browser, site: &Server) {
    browser.open(&format!("{}/authorize?app_name=Reader&success_url=http%3A%2F%2Fapp.example%2F", site.site));
    log_in(browser);
    assert_eq!(browser.text("h1"), "This request is not safe");
    assert!(browser.text("main").contains("https:"));
    browser.fits();
    browser.picture("unsafe");
}

fn a_profile_makes_and_revokes_passwords(browser: &Browser, site: &Server) {
    browser.open(&format!("{}/profile", site.site));
    log_in(browser);
    assert_eq!(browser.text("h1"), "Your profile");
    browser.fits();
    browser.picture("profile");
    browser.fill("#app", "Phone");
    browser.click("form.row button");
    browser.until(|| Some(browser.text("h2")).filter(|t| t.contains("Phone")));
    let secret = browser.value("#secret");
    browser.fits();
    browser.picture("profile-secret");
    browser.click("[data-copy]");
    browser.until(|| Some(browser.text("[data-copy]")).filter(|t| t == "Copied"));
    assert!(works(site, &secret));
    browser.click("button[aria-label='Revoke: Phone']");
    browser.until(|| Some(browser.text("[role=status]")).filter(|t| t.contains("revoked")));
    assert!(!works(site, &secret), "it fails at once");
    browser.fill("#description", "Keeps bees.");
    browser.click("form.stack button.main");
    browser.until(|| Some(browser.text("[role=status]")).filter(|t| t == "Saved."));
    assert_eq!(browser.value("#description"), "Keeps bees.");
    browser.click(".top button");
    browser.until(|| Some(browser.text("h1")).filter(|t| t == "Log in"));
}

fn the_keyboard_is_enough(browser: &Browser, site: &Server) {
    browser.open(&format!("{}/authorize?app_name=Reader", site.site));
    // The first field gets the focus.
    browser.until(|| browser.run("return document.activeElement.tagName === 'INPUT'").as_bool().filter(|&there| there));
    browser.keys(&format!("admin{TAB}{PASSWORD}{ENTER}"));
    browser.until(|| Some(browser.text("h1")).filter(|t| t == "Authorize a program?"));
    let mut visited = Vec::new();
    for _ in 0..12 {
        browser.keys(TAB);
        let shows = "const e = document.activeElement, s = getComputedStyle(e); return [e.value || e.textContent, s.outlineStyle]";
        let at = browser.run(shows);
        assert_ne!(at[1], "none", "the focus is seen on {at}");
        visited.push(at[0].as_str().unwrap_or("").to_owned());
        if visited.last().is_some_and(|v| v == "approve") {
            break;
        }
    }
    assert_eq!(visited[0], "Skip to the page", "{visited:?}");
    browser.keys(ENTER);
    browser.until(|| Some(browser.text("h1")).filter(|t| t == "The program has a password"));
}

fn the_explorer_tries_a_request(browser: &Browser, site: &Server) {
    // The route needs the rights of the session's user.
    browser.open(&format!("{}/login", site.site));
    log_in(browser);
    browser.open(&format!("{}/explorer", site.site));
    let shown = |css: &str| browser.until(|| Some(browser.text(css)).filter(|text| !text.is_empty()));
    shown("#operations-tag-settings");
    browser.fill(".operation-filter-input", "settings");
    browser.until(|| Some(browser.text("#operations-tag-posts")).filter(String::is_empty));
    browser.click("#operations-tag-settings button");
    assert_eq!(shown(".opblock-get .opblock-summary-path").replace('\u{200b}', ""), "/cms/v2/settings");
    browser.click(".opblock-get .opblock-summary-control");
    shown(".opblock-get .execute");
    browser.click(".opblock-get .execute");
    let status = shown(".live-responses-table tbody .response-col_status");
    assert!(status.contains("200"), "{status}: {}", browser.text(".live-responses-table"));
    browser.until(|| Some(browser.text(".live-responses-table")).filter(|text| text.contains("posts_per_page")));
}

/// By OAuth, with the example of RFC 7636, appendix B. Nothing listens where the program wants the person back.
fn a_program_is_connected(browser: &Browser, site: &Server) {
    let back = format!("http://{}/done", free_address());
    let program = json!({"client_name": "Assistant", "redirect_uris": [back]});
    let registered = site.ask("POST", "/oauth/v1/clients", None, Some(&program));
    let client = registered.body["client_id"].as_str().expect("an id");
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    let page = |state: &str| {
        let pairs = [
            ("client_id", client),
            ("redirect_uri", &back),
            ("response_type", "code"),
            ("code_challenge", challenge),
            ("code_challenge_method", "S256"),
            ("state", state),
        ];
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        browser.open(&format!("{}/connect?{query}", site.site));
    };
    // The answer that the program gets.
    let told = || {
        let address = browser.until(|| Some(browser.address()).filter(|address| address.starts_with(&back)));
        let address = url::Url::parse(&address).expect("an address");
        address.query_pairs().into_owned().collect::<std::collections::HashMap<_, _>>()
    };
    let connections = || site.sql("SELECT COUNT(*) FROM app_password WHERE connected = 1").concat();
    page("one");
    log_in(browser);
    assert_eq!(browser.text("h1"), "Connect a program?");
    browser.fits();
    browser.picture("connect");
    browser.click("button[value=reject]");
    let answer = told();
    assert_eq!((&*answer["error"], &*answer["state"], connections().as_str()), ("access_denied", "one", "0"));

    // The person goes back and thinks again, with less than the program asks for.
    browser.back();
    browser.until(|| Some(browser.text("h1")).filter(|text| text == "Connect a program?"));
    browser.click("#access [value=read]");
    browser.click("button[value=approve]");
    let first = told();
    assert_eq!(&*first["state"], "one");
    // The same page once more is another connection: a code is good for one.
    browser.back();
    browser.until(|| Some(browser.text("h1")).filter(|text| text == "Connect a program?"));
    browser.click("button[value=approve]");
    let second = browser.until(|| Some(told()).filter(|answer| answer.get("code") != first.get("code")));
    let exchanged = |answer: &std::collections::HashMap<String, String>| {
        let pairs = [
            ("grant_type", "authorization_code"),
            ("client_id", client),
            ("code", &*answer["code"]),
            ("redirect_uri", &back),
            ("code_verifier", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
        ];
        let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        let body = ("application/x-www-form-urlencoded", form.into_bytes());
        site.send("POST", &format!("{}/oauth/v1/token", site.rest), None, Some(body), &[])
    };
    let asks = |token: &str| {
        let bearer = format!("Bearer {token}");
        site.send("GET", &format!("{}/cms/v2/users/me", site.rest), None, None, &[("authorization", &bearer)]).status
    };
    let reads = exchanged(&first).body;
    assert_eq!(reads["scope"], "read");
    assert_eq!(exchanged(&first).status, 400, "a code is good once, and the connection of one that is used twice ends");
    let token = exchanged(&second).body["access_token"].as_str().expect("a token").to_owned();
    assert_eq!((asks(reads["access_token"].as_str().expect("a token")), asks(&token)), (401, 200));

    // The person's page lists what is left, and ends it.
    browser.open(&format!("{}/profile", site.site));
    browser.fits();
    browser.click("button[aria-label^='Revoke: Assistant at']");
    browser.until(|| Some(browser.text("[role=status]")).filter(|text| text.contains("revoked")));
    assert_eq!(asks(&token), 401, "it ends at once");
}

fn passkeys_log_people_in(browser: &Browser, site: &Server) {
    let headed = |title: &str| browser.until(|| Some(browser.text("h1")).filter(|text| text == title));
    let log_out = || {
        browser.open(&format!("{}/logout", site.site));
        browser.click("main button");
        headed("Log in");
    };
    // One that checks who holds it, as phones do.
    let phone = browser.authenticator(true);
    browser.open(&format!("{}/second-factor", site.site));
    log_in(browser);
    headed("Second factor");
    browser.fits();
    browser.click("form:has([value=passkey]) button");
    headed("Add a passkey");
    browser.fill("#current", PASSWORD);
    browser.click("button.main");
    browser.until(|| Some(browser.text("[data-passkey=create]")).filter(|text| text == "Make the passkey"));
    browser.fits();
    browser.picture("passkey");
    browser.fill("#name", "Phone");
    browser.click("[data-passkey=create]");
    headed("Your recovery codes");
    let code = browser.text(".codes code");
    assert_eq!(site.sql("SELECT kind, name FROM second_factor"), ["passkey|Phone"]);

    // With nothing else.
    log_out();
    browser.fits();
    browser.picture("login-passkey");
    browser.click("[data-passkey=get]");
    browser.until(|| Some(browser.text("h1")).filter(|text| text != "Log in"));
    // After the password.
    log_out();
    log_in(browser);
    assert_eq!(browser.text("h1"), "Second factor");
    browser.fits();
    browser.picture("factor-passkey");
    browser.click("[data-passkey=get]");
    browser.until(|| Some(browser.text("h1")).filter(|text| text != "Second factor"));

    // A key that checks nobody logs nobody in with nothing else, and the page says what to do.
    browser.open(&format!("{}/second-factor", site.site));
    browser.click("form:has([value=passkey]) button");
    headed("Add a passkey");
    browser.click("[data-passkey=get]");
    browser.until(|| Some(()).filter(|()| browser.text("[data-passkey=create]") == "Make the passkey"));
    browser.remove_authenticator(&phone);
    browser.authenticator(false);
    browser.fill("#name", "Key");
    browser.click("[data-passkey=create]");
    browser.until(|| Some(browser.text("[role=status]")).filter(|text| text.contains("is set up")));
    assert!(browser.text("main").contains("Key"));
    browser.click("form:has([value=remove]) button");
    headed("Remove a second factor");
    browser.click("[data-passkey=get]");
    browser.until(|| Some(browser.text("[role=status]")).filter(|text| text.contains("was removed")));
    assert_eq!(site.sql("SELECT name FROM second_factor"), ["Key"]);
    log_out();
    browser.click("[data-passkey=get]");
    browser.until(|| Some(browser.text("form [role=alert]")).filter(|text| text.contains("used no passkey")));
    log_in(browser);
    assert_eq!(browser.text("h1"), "Second factor");
    browser.click("[data-passkey=get]");
    browser.until(|| Some(browser.text("h1")).filter(|text| text != "Second factor"));

    browser.open(&format!("{}/second-factor", site.site));
    browser.click("form:has([value=remove]) button");
    headed("Remove a second factor");
    browser.fill("#code", &code);
    browser.click("button.main");
    browser.until(|| Some(browser.text("[role=status]")).filter(|text| text.contains("was removed")));
    assert_eq!(site.sql("SELECT COUNT(*) FROM second_factor"), ["0"]);
}

fn log_in(browser: &Browser) {
    assert_eq!(browser.text("h1"), "Log in");
    browser.fits();
    browser.fill("#login", "admin");
    browser.fill("#password", PASSWORD);
    browser.click("button.main");
    browser.until(|| Some(browser.text("h1")).filter(|t| t != "Log in"));
}

fn works(site: &Server, password: &str) -> bool {
    let user = ("admin".to_owned(), password.to_owned());
    site.ask("GET", "/cms/v2/users/me", Some(&user), None).status == 200
}

// ------------------------------------------------------------------------------------------------ WebDriver

/// `chromedriver`, which ends with this.
struct Driver {
    process: Child,
    address: String,
}

impl Driver {
    /// `None`: there is none on the path.
    fn start() -> Option<Driver> {
        // With port 0 it takes a port of IPv4 and ends where the same one of IPv6 is in use.
        let address = free_address();
        let port = format!("--port={}", address.port());
        let mut process = Command::new("chromedriver").arg(port).stdout(Stdio::piped()).spawn().ok()?;
        let mut lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        let started = lines.any(|line| line.expect("a line").contains("started successfully"));
        assert!(started, "chromedriver ends");
        std::thread::spawn(move || lines.for_each(drop));
        Some(Driver { process, address: format!("http://{address}") })
    }

    fn browser(&self, width: u32, height: u32) -> Browser<'_> {
        let args = vec![
            "--headless=new".to_owned(),
            "--no-sandbox".into(),
            "--disable-gpu".into(),
            "--disable-quic".into(),
            "--no-first-run".into(),
            "--disable-background-networking".into(),
            "--disable-component-update".into(),
            "--disable-sync".into(),
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost".into(),
        ];
        let metrics = json!({"width": width, "height": height, "pixelRatio": 1.0, "touch": false, "mobile": false});
        let options = json!({"args": args, "mobileEmulation": {"deviceMetrics": metrics}});
        let wanted = json!({"capabilities": {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options}}});
        let made = ask(&format!("{}/session", self.address), Some(&wanted));
        let id = made["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {made}")).to_owned();
        Browser { base: format!("{}/session/{id}", self.address), driver: self, width }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Browser<'d> {
    base: String,
    #[allow(dead_code, reason = "keeps the driver alive")]
    driver: &'d Driver,
    width: u32,
}

impl Browser<'_> {
    fn open(&self, url: &str) {
        self.post("url", &json!({"url": url}));
    }

    /// Goes back in the history. A script that does is run again where the page leaves before it returns.
    fn back(&self) {
        self.post("back", &json!({}));
    }

    fn address(&self) -> String {
        self.get("url").as_str().unwrap_or("").to_owned()
    }

    /// The text of the first element that fits; empty when none does.
    fn text(&self, css: &str) -> String {
        let script = format!("const e = document.querySelector({}); return e ? e.innerText : ''", json!(css));
        self.run(&script).as_str().unwrap_or("").trim().to_owned()
    }

    fn value(&self, css: &str) -> String {
        self.run(&format!("return document.querySelector({}).value", json!(css))).as_str().unwrap_or("").to_owned()
    }

    fn element(&self, css: &str) -> String {
        let found = self.post("element", &json!({"using": "css selector", "value": css}));
        let id = found.as_object().and_then(|o| o.values().next()).and_then(Value::as_str);
        id.unwrap_or_else(|| panic!("no {css} at {}: {found}", self.address())).to_owned()
    }

    fn click(&self, css: &str) {
        self.post(&format!("element/{}/click", self.element(css)), &json!({}));
    }

    fn fill(&self, css: &str, text: &str) {
        let element = self.element(css);
        self.post(&format!("element/{element}/clear"), &json!({}));
        self.post(&format!("element/{element}/value"), &json!({"text": text}));
    }

    /// Presses keys wherever the focus is.
    fn keys(&self, keys: &str) {
        let presses: Vec<Value> = keys
            .chars()
            .flat_map(|key| [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})])
            .collect();
        self.post("actions", &json!({"actions": [{"type": "key", "id": "keys", "actions": presses}]}));
    }

    /// An authenticator in software, which says yes to everything: one that checks who holds it and keeps passkeys, or a
    /// key that does neither.
    fn authenticator(&self, verifies: bool) -> String {
        let wanted = json!({
            "protocol": "ctap2", "transport": if verifies { "internal" } else { "usb" }, "hasResidentKey": verifies,
            "hasUserVerification": verifies, "isUserConsenting": true, "isUserVerified": verifies,
        });
        let made = self.post("webauthn/authenticator", &wanted);
        made.as_str().unwrap_or_else(|| panic!("no authenticator: {made}")).to_owned()
    }

    fn remove_authenticator(&self, id: &str) {
        let _ = agent().delete(&format!("{}/webauthn/authenticator/{id}", self.base)).call();
    }

    fn run(&self, script: &str) -> Value {
        self.post("execute/sync", &json!({"script": script, "args": []}))
    }

    /// Nothing of the page stands out at the side.
    fn fits(&self) {
        let widths = self.run("return [document.documentElement.scrollWidth, window.innerWidth]");
        assert!(widths[0].as_i64() <= widths[1].as_i64(), "{widths} at {}", self.address());
    }

    /// axe finds nothing wrong with the page, where `CMS_TEST_AXE` names its script.
    fn accessible(&self) {
        let Some(script) = std::env::var_os("CMS_TEST_AXE") else { return };
        let script = std::fs::read_to_string(script).expect("the script of axe");
        self.run(&script);
        let check = "const done = arguments[0]; axe.run().then(found => done(found.violations.map(v => \
            `${v.impact}: ${v.help} (${v.nodes.map(n => n.target.join(' ')).join(', ')})`)))";
        let found = self.post("execute/async", &json!({"script": check, "args": []}));
        assert_eq!(found, json!([]), "{}", self.address());
    }

    /// Pictures of the whole page, light and dark, and whether they are as they were.
    fn picture(&self, name: &str) {
        for scheme in ["light", "dark"] {
            let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
            self.devtools("Emulation.setEmulatedMedia", &media);
            self.accessible();
            let size = self.run("return [innerWidth, document.documentElement.offsetHeight]");
            let clip = json!({"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1});
            let shot = self.devtools("Page.captureScreenshot", &json!({"captureBeyondViewport": true, "clip": clip}));
            let png = base64::engine::general_purpose::STANDARD.decode(shot["data"].as_str().expect("a picture"));
            compare(&format!("{name}-{}-{scheme}", self.width), &png.expect("base64"));
        }
    }

    fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.post("goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }

    /// Waits until there is a result, at most a minute: other lanes may keep the machine busy.
    fn until<T>(&self, ask: impl Fn() -> Option<T>) -> T {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(answer) = ask() {
                return answer;
            }
            assert!(Instant::now() < end, "it never came; the page is {} {}", self.address(), self.text("body"));
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    fn get(&self, command: &str) -> Value {
        ask(&format!("{}/{command}", self.base), None)
    }

    fn post(&self, command: &str, body: &Value) -> Value {
        ask(&format!("{}/{command}", self.base), Some(body))
    }
}

impl Drop for Browser<'_> {
    fn drop(&mut self) {
        let _ = agent().delete(&self.base).call();
    }
}

/// Width and height of a cell of a stored picture, in pixels.
const CELL: u32 = 16;

/// Compares a picture with the stored one, cell by cell.
fn compare(name: &str, png: &[u8]) {
    let root = env!("CARGO_MANIFEST_DIR");
    std::fs::create_dir_all(format!("{root}/target/pages")).expect("a folder");
    std::fs::write(format!("{root}/target/pages/{name}.png"), png).expect("a file");
    let page = image::load_from_memory(png).expect("a picture").into_luma8();
    let (width, height) = (page.width().div_ceil(CELL), page.height().div_ceil(CELL));
    let now = image::imageops::resize(&page, width, height, image::imageops::FilterType::Triangle);
    let stored = format!("{root}/fixtures/pages/{name}.png");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        return now.save(&stored).expect("a file");
    }
    let then = image::open(&stored).unwrap_or_else(|e| panic!("{stored}: {e}")).into_luma8();
    let rows = now.height().abs_diff(then.height());
    assert!(now.width() == then.width() && rows <= 2 + then.height() / 20, "{name}: {rows} rows more or less");
    let cells: Vec<u8> = now.pixels().zip(then.pixels()).map(|(a, b)| a.0[0].abs_diff(b.0[0])).collect();
    let mean = cells.iter().map(|&d| f64::from(d)).sum::<f64>() / cells.len() as f64;
    assert!(mean < 12.0, "{name} is another page: target/pages/{name}.png differs by {mean:.1} of 255 on average");
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).build().into()
}

/// A command; its value. A failed one returns, too: the caller finds nothing in it.
fn ask(url: &str, body: Option<&Value>) -> Value {
    let answer = match body {
        Some(body) => agent().post(url).content_type("application/json").send(body.to_string()),
        None => agent().get(url).call(),
    };
    let mut answer = answer.unwrap_or_else(|e| panic!("{url}: {e}"));
    let mut value: Value =
        serde_json::from_reader(answer.body_mut().as_reader()).unwrap_or_else(|e| panic!("{url}: {e}"));
    value["value"].take()
}
