//! E-mail: lost passwords, invitations and notices, over SMTP to a mail server in this process.

use super::free_port::free_address;
use super::inside::Inside;
use super::pages::{Browser, PASSWORD, field};
use super::server::{Answer, Server, program, run, stdout};
use cms_base::clock::ManualClock;
use cms_core::model::Method;
use cms_server::mailer::{MailContext, Mailer};
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

const NEW: &str = "another long password";

// ------------------------------------------------------------------------------------------------ a mail server

/// The mail server's treatment of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Take,
    /// It ends each connection at once.
    Down,
    /// 451.
    Later,
    /// 550 with the address of the recipient.
    Never,
}

/// How connections are encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tls {
    None,
    Start,
    Whole,
}

/// A message as it was received.
#[derive(Clone, Debug)]
struct Mail {
    to: String,
    from: String,
    head: String,
    body: String,
    encrypted: bool,
    login: String,
}

impl Mail {
    /// The one address in the text that begins so.
    fn link(&self, start: &str) -> String {
        let found: Vec<&str> = self.body.lines().filter(|line| line.starts_with(start)).collect();
        assert_eq!(found.len(), 1, "{}", self.body);
        found[0].to_owned()
    }
}

struct State {
    mode: Mode,
    mails: Vec<Mail>,
    /// Connections that there were.
    connections: usize,
}

/// A mail server on a port of this machine.
struct Smtp {
    port: u16,
    state: Arc<(Mutex<State>, Condvar)>,
}

impl Smtp {
    fn start(mode: Mode) -> Smtp {
        Smtp::with(mode, Tls::None)
    }

    fn with(mode: Mode, tls: Tls) -> Smtp {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::new((Mutex::new(State { mode, mails: Vec::new(), connections: 0 }), Condvar::new()));
        let ours = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let ours = ours.clone();
                std::thread::spawn(move || converse(stream, tls, &ours));
            }
        });
        Smtp { port, state }
    }

    fn set(&self, mode: Mode) {
        self.state.0.lock().expect("no panic holds it").mode = mode;
    }

    /// The message at this position, as soon as it is there.
    fn mail(&self, place: usize) -> Mail {
        let (state, grown) = &*self.state;
        let state = state.lock().expect("no panic holds it");
        let waited = grown.wait_timeout_while(state, Duration::from_secs(30), |state| state.mails.len() <= place);
        let (state, waited) = waited.expect("no panic holds it");
        assert!(!waited.timed_out(), "only {} messages have come", state.mails.len());
        state.mails[place].clone()
    }

    fn count(&self) -> usize {
        self.state.0.lock().expect("no panic holds it").mails.len()
    }

    fn connections(&self) -> usize {
        self.state.0.lock().expect("no panic holds it").connections
    }

    fn url(&self) -> String {
        format!("mail.url=smtp://127.0.0.1:{}", self.port)
    }
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/tls").join(name)
}

fn encrypted(stream: TcpStream) -> StreamOwned<ServerConnection, TcpStream> {
    let certificate = CertificateDer::from_pem_file(fixture("server1.pem")).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(fixture("server1.key")).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a certificate and its key");
    StreamOwned::new(ServerConnection::new(Arc::new(config)).expect("a connection"), stream)
}

fn converse(stream: TcpStream, tls: Tls, state: &Arc<(Mutex<State>, Condvar)>) -> Option<()> {
    let mode = {
        let mut state = state.0.lock().expect("no panic holds it");
        state.connections += 1;
        state.mode
    };
    if mode == Mode::Down {
        return None;
    }
    stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
    let raw = stream.try_clone().ok()?;
    let (mut lines, mut secure): (BufReader<Box<dyn Stream>>, bool) = match tls {
        Tls::Whole => (BufReader::new(Box::new(encrypted(stream))), true),
        _ => (BufReader::new(Box::new(stream)), false),
    };
    let say = |lines: &mut BufReader<Box<dyn Stream>>, text: &str| {
        let out = lines.get_mut();
        out.write_all(format!("{text}\r\n").as_bytes()).and_then(|()| out.flush()).ok()
    };
    say(&mut lines, "220 mail.example")?;
    let (mut from, mut to, mut login) = (String::new(), String::new(), String::new());
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_owned();
        match line.split(' ').next().unwrap_or_default() {
            "EHLO" if tls == Tls::Start && !secure => say(&mut lines, "250-mail.example\r\n250 STARTTLS")?,
            "EHLO" => say(&mut lines, "250-mail.example\r\n250-8BITMIME\r\n250 AUTH PLAIN")?,
            "STARTTLS" => {
                say(&mut lines, "220 go on")?;
                lines = BufReader::new(Box::new(encrypted(raw.try_clone().ok()?)));
                secure = true;
            }
            "AUTH" => {
                use base64::Engine as _;
                let given = line.rsplit(' ').next().unwrap_or_default();
                let given = base64::engine::general_purpose::STANDARD.decode(given).ok()?;
                login = String::from_utf8_lossy(&given).replace('\0', "|");
                say(&mut lines, "235 good")?;
            }
            "MAIL" => {
                from = line;
                say(&mut lines, "250 good")?;
            }
            "RCPT" if mode == Mode::Never => say(&mut lines, &format!("550 {} is not here", &line[8..]))?,
            "RCPT" if mode == Mode::Later => say(&mut lines, "451 later")?,
            "RCPT" => {
                to = line["RCPT TO:<".len()..].split('>').next().unwrap_or_default().to_owned();
                say(&mut lines, "250 good")?;
            }
            "DATA" => {
                say(&mut lines, "354 go on")?;
                let mut text = String::new();
                while !text.ends_with("\r\n.\r\n") {
                    lines.read_line(&mut text).ok()?;
                }
                // Counted before it is acknowledged, so that nothing is missing when the sender has gone on.
                let mail = read(&text, (&from, &to, &login), secure);
                let (state, grown) = &**state;
                state.lock().expect("no panic holds it").mails.push(mail);
                grown.notify_all();
                say(&mut lines, "250 good")?;
            }
            "QUIT" => {
                say(&mut lines, "221 bye")?;
                return Some(());
            }
            _ => say(&mut lines, "250 good")?,
        }
    }
}

fn read(text: &str, (from, to, login): (&str, &str, &str), encrypted: bool) -> Mail {
    assert!(!text.replace("\r\n", "").contains(['\r', '\n']), "every line ends as SMTP wants: {text:?}");
    let (head, body) = text.trim_end_matches(".\r\n").split_once("\r\n\r\n").expect("a head");
    let body = body.replace("\r\n..", "\r\n.");
    let body = match head.contains("Content-Transfer-Encoding: quoted-printable") {
        true => quoted_printable(&body),
        false => body,
    };
    Mail { to: to.into(), from: from.into(), head: head.into(), body, encrypted, login: login.into() }
}

fn quoted_printable(text: &str) -> String {
    let text = text.replace("=\r\n", "");
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, more @ ..] = rest {
        let pair = (*first == b'=').then(|| more.get(..2)).flatten();
        match pair.and_then(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &more[2..];
            }
            None => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn the_mail_server_of_the_tests_reads_what_is_encoded() {
    assert_eq!(quoted_printable("a=3Db=\r\nc =C3=BC=\r\n="), "a=bc ü=");
}

// ------------------------------------------------------------------------------------------------ helpers

/// A site at `http://site.example` whose mail goes to this server; notices of application passwords are off, since the
/// tests' users have some.
fn site(smtp: &Smtp, sets: &[&str]) -> Server {
    site_of(&[&smtp.url()], sets)
}

fn site_of(first: &[&str], sets: &[&str]) -> Server {
    let port = free_address().port();
    let listen = format!("server.listen=127.0.0.1:{port}");
    let mut all = vec![
        listen.as_str(),
        "site.url=http://site.example",
        "site.application_passwords=on",
        "mail.from=The site <cms@site.example>",
        "mail.notices.application_password=false",
    ];
    all.extend(first);
    all.extend(sets);
    let mut server = Server::with(&all);
    reached(&mut server, port);
    server
}

/// Requests go where the server listens, not to the site's address.
fn reached(server: &mut Server, port: u16) {
    server.site = format!("http://127.0.0.1:{port}");
    server.rest = format!("{}/{}-json", server.site, server.prefix);
}

fn port(server: &Server) -> u16 {
    server.site.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port")
}

fn request(server: &Server, login: &str) -> Answer {
    Browser::new(server).post("/lost-password", &[("login", login)])
}

/// The path of a link of a message.
fn path(link: &str) -> &str {
    link.strip_prefix("http://site.example").unwrap_or_else(|| panic!("{link} begins with another address"))
}

fn set(server: &Server, link: &str, password: &str) -> Answer {
    let mut browser = Browser::new(server);
    let page = browser.get(path(link));
    assert_eq!(page.status, 200, "{}", page.text);
    browser.post("/set-password", &[("link", &field(&page, "link")), ("new", password)])
}

fn log_in(server: &Server, login: &str, password: &str) -> u16 {
    Browser::new(server).post("/login", &[("login", login), ("password", password)]).status
}

fn token(link: &str) -> &str {
    link.split_once("token=").expect("a token").1
}

// ------------------------------------------------------------------------------------------------ lost passwords

#[test]
fn a_lost_password_is_set_anew_by_a_link() {
    let smtp = Smtp::start(Mode::Take);
    let server = site(&smtp, &["settings.title=Z\u{f6}e's site"]);
    let mut elsewhere = Browser::of(&server, "admin", PASSWORD);
    let login = Browser::new(&server).get("/login");
    assert!(login.text.contains("href=\"/lost-password\""), "{}", login.text);
    let page = Browser::new(&server).get("/lost-password");
    assert!(page.status == 200 && page.text.contains("name=\"login\""), "{}", page.text);
    // The host that the request names is of no account.
    let form: &[(&str, &str)] = &[("login", "ADMIN@example.org")];
    let asked = Browser::new(&server).send("POST", "/lost-password", Some(form), &[("host", "evil.example")]);
    assert_eq!(asked.status, 200, "{}", asked.text);
    let mail = smtp.mail(0);
    assert_eq!(mail.to, "admin@example.org");
    assert!(mail.from.contains("<cms@site.example>"), "{}", mail.from);
    for line in [
        "From: \"The site\" <cms@site.example>",
        "Auto-Submitted: auto-generated",
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=utf-8",
        "To: admin@example.org",
    ] {
        assert!(mail.head.lines().any(|l| l == line), "{line} in {}", mail.head);
    }
    for start in ["Date: ", "Message-ID: <", "Subject: =?utf-8?"] {
        assert!(mail.head.lines().any(|l| l.starts_with(start)), "{start} in {}", mail.head);
    }
    assert!(mail.body.contains("admin on Zöe's site") && mail.body.contains("within 1 hour"), "{}", mail.body);
    let link = mail.link("http://");
    let page = Browser::new(&server).get(path(&link));
    assert_eq!(page.header("referrer-policy"), Some("strict-origin"));
    assert_eq!(page.header("cache-control"), Some("no-store, private"));
    assert!(page.text.contains("<code>admin</code>"), "{}", page.text);
    assert_eq!(set(&server, &link, "short").status, 400);
    let slash = set(&server, &link, "a long \\ password");
    assert!(slash.status == 400 && slash.text.contains("role=\"alert\""), "{}", slash.text);
    assert_eq!(log_in(&server, "admin", PASSWORD), 303, "nothing has changed yet");
    let done = set(&server, &link, NEW);
    assert_eq!((done.status, done.header("location")), (303, Some("/login?done=password_set")), "{}", done.text);
    assert!(Browser::new(&server).get("/login?done=password_set").text.contains("Your password is set"));
    assert_eq!(elsewhere.get("/profile").status, 302, "sessions are ended");
    assert_eq!(log_in(&server, "admin", PASSWORD), 401);
    assert_eq!(log_in(&server, "admin", NEW), 303);
    let notice = smtp.mail(1);
    assert!(notice.to == "admin@example.org" && notice.body.contains("password of your account admin"), "{notice:?}");
    let again = Browser::new(&server).get(path(&link));
    assert!(again.status == 400 && again.text.contains("not valid"), "{}", again.text);
    let twice = Browser::new(&server).post("/set-password", &[("link", token(&link)), ("new", "a third password")]);
    assert_eq!(twice.status, 400);
    assert_eq!(log_in(&server, "admin", NEW), 303);
    let events = server.admin("GET", "/server/v1/audit?per_page=100", None).body;
    let events: Vec<&str> = events.as_array().expect("a list").iter().filter_map(|e| e["event"].as_str()).collect();
    for event in ["password_link_requested", "password_set_by_link"] {
        assert_eq!(events.iter().filter(|e| **e == event).count(), 1, "{events:?}");
    }
    assert!(!server.log_until("path=/set-password").contains(token(&link)), "the log holds no token");
}

#[test]
fn of_those_who_use_a_link_at_once_one_succeeds() {
    let smtp = Smtp::start(Mode::Take);
    let server = site(&smtp, &[]);
    request(&server, "admin");
    let link = smtp.mail(0).link("http://");
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let tries: Vec<_> = (0..8)
            .map(|n| {
                let (server, link) = (&server, &link);
                scope.spawn(move || {
                    let form = [("link", token(link)), ("new", &*format!("the password of {n}"))];
                    Browser::new(server).post("/set-password", &form).status
                })
            })
            .collect();
        tries.into_iter().map(|done| done.join().expect("a status")).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 303).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [303, 400].contains(status)), "{statuses:?}");
    let works = (0..8).filter(|n| log_in(&server, "admin", &format!("the password of {n}")) == 303).count();
    assert_eq!(works, 1);
}

#[test]
fn an_unknown_account_gets_the_same_answer() {
    let smtp = Smtp::start(Mode::Take);
    let server = site(&smtp, &[]);
    let strip = |answer: &Answer| {
        let vary = ["date", "x-request-id"];
        let mut headers = answer.headers.clone();
        headers.retain(|(name, _)| !vary.contains(&name.as_str()));
        headers.sort();
        (answer.status, headers, answer.text.clone())
    };
    let unknown = strip(&request(&server, "nobody"));
    assert_eq!(unknown.0, 200);
    for login in ["nobody@example.org", "admin", "admin@example.org", &"x".repeat(5000), "a\r\nBcc: b@example.org"] {
        assert_eq!(strip(&request(&server, login)), unknown, "{login}");
    }
    assert_eq!((smtp.mail(0).to, smtp.mail(1).to), ("admin@example.org".into(), "admin@example.org".into()));
    let log = server.log_until("is dropped: there is no such account");
    assert!(!log.contains("nobody"), "{log}");
    assert_eq!(request(&server, " ").status, 400);
}

#[test]
fn a_link_is_valid_for_a_while_and_for_the_account_as_it_is() {
    let smtp = Smtp::start(Mode::Take);
    let server = site(&smtp, &["mail.notices={ password = false, email = false, application_password = false }"]);
    let void = |link: &str| {
        assert_eq!(Browser::new(&server).get(path(link)).status, 400);
        let form = [("link", token(link)), ("new", NEW)];
        assert_eq!(Browser::new(&server).post("/set-password", &form).status, 400);
        assert_ne!(log_in(&server, "reader", NEW), 303);
    };
    server.user("reader", "subscriber");
    let users = server.admin("GET", "/cms/v2/users?search=reader&context=edit", None);
    let route = format!("/cms/v2/users/{}", users.body[0]["id"]);
    request(&server, "reader");
    let first = smtp.mail(0).link("http://");
    assert_eq!(server.admin("POST", &route, Some(&json!({"password": "changed meanwhile"}))).status, 200);
    void(&first);
    request(&server, "reader");
    let second = smtp.mail(1).link("http://");
    assert_eq!(server.admin("POST", &route, Some(&json!({"email": "other@example.org"}))).status, 200);
    void(&second);
    for wrong in [
        &second[..second.len() - 1],
        &format!("{second}x"),
        "http://site.example/set-password?token=",
        "http://site.example/set-password",
    ] {
        assert_eq!(Browser::new(&server).get(path(wrong)).status, 400, "{wrong}");
    }
    let port = port(&server);
    let url = smtp.url();
    let mut server = server.restart_with(&[
        &format!("server.listen=127.0.0.1:{port}"),
        "site.url=http://site.example",
        "site.application_passwords=on",
        "mail.from=cms@site.example",
        "mail.notices={ password = false, email = false, application_password = false }",
        "mail.reset_lifetime=0s",
        &url,
    ]);
    reached(&mut server, port);
    request(&server, "reader");
    let third = smtp.mail(2);
    assert_eq!(third.to, "other@example.org");
    assert_eq!(Browser::new(&server).get(path(&third.link("http://"))).status, 400, "it has expired");
}

/// The messages that were sent, as soon as nothing waits any more.
fn all_sent(smtp: &Smtp, server: &Server) -> Vec<Mail> {
    for _ in 0..3_000 {
        if server.sql("SELECT count(*) FROM outbox") == ["0"] {
            return smtp.state.0.lock().expect("no panic holds it").mails.clone();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("messages still wait");
}

fn sent_to(mails: &[Mail], address: &str) -> usize {
    mails.iter().filter(|mail| mail.to == address).count()
}

#[test]
fn a_new_address_gets_one_message_until_its_owner_confirms_it() {
    for prefix in ["cms", "wp"] {
        let smtp = Smtp::start(Mode::Take);
        // The pages are at the same addresses under both prefixes.
        let server = site(
            &smtp,
            &[
                &format!("site.prefix={prefix}"),
                "pages.lost=/lost-password",
                "pages.reset=/set-password",
                "pages.login=/login",
                "pages.profile=/profile",
                "pages.fields.lost=login",
                "pages.fields.login=login",
                "pages.fields.password=password",
                "mail.notices.application_password=true",
            ],
        );
        let reader = server.user("reader", "subscriber");
        let me = format!("/{prefix}/v2/users/me");
        let ask = |method: &str, below: &str, body: serde_json::Value| {
            server.ask(method, &format!("{me}{below}"), Some(&reader), Some(&body))
        };
        let changed = ask("POST", "", json!({"email": "victim@elsewhere.example"}));
        assert_eq!((changed.status, &changed.body["email"]), (200, &json!("victim@elsewhere.example")));
        for n in 0..30 {
            let made = ask("POST", "/application-passwords", json!({"name": format!("Buy this {n}")}));
            assert_eq!(made.status, 201, "{}", made.text);
        }
        for n in 0..3 {
            assert_eq!(ask("POST", "", json!({"password": format!("own password {n}")})).status, 200);
        }
        // A link for the account goes to the address that is confirmed.
        let requested = request(&server, "victim@elsewhere.example");
        assert_eq!(requested.status, 200, "{prefix}: {}", requested.text);
        let mails = all_sent(&smtp, &server);
        let to_victim: Vec<&Mail> = mails.iter().filter(|mail| mail.to == "victim@elsewhere.example").collect();
        assert_eq!(to_victim.len(), 1, "{to_victim:?}");
        assert!(!to_victim[0].body.contains("Buy this"), "{}", to_victim[0].body);
        let before = sent_to(&mails, "reader@example.org");
        assert!((20..=21).contains(&before), "of all kinds together as many as declared: {before}");

        // The page of the link changes nothing before its form is sent.
        let link = to_victim[0].link("http://");
        let page = Browser::new(&server).get(path(&link));
        assert!(page.status == 200 && page.text.contains("victim@elsewhere.example"), "{}", page.text);
        let pending = || server.sql("SELECT email_pending, email_before FROM \"user\" WHERE login = 'reader'");
        assert_eq!(pending(), ["1|reader@example.org"]);
        let mut browser = Browser::of(&server, "reader", "own password 2");
        let told = |profile: String| profile.contains("not confirmed yet") && profile.contains("reader@example.org");
        assert!(told(browser.get("/profile").text), "{prefix}");
        let forged = path(&link).replace("token=", "token=9");
        assert_eq!(Browser::new(&server).get(&forged).status, 400);
        let done = Browser::new(&server).post("/set-password", &[("link", &field(&page, "link"))]);
        assert_eq!((done.status, done.text.contains("is confirmed")), (200, true), "{}", done.text);
        assert_eq!(pending(), ["0|"]);
        assert!(!told(browser.get("/profile").text), "{prefix}");
    }
}

#[test]
fn own_addresses_change_only_so_often_and_those_of_others_at_once() {
    let smtp = Smtp::start(Mode::Take);
    let server = site(&smtp, &["mail.notices={ password = false, email = false, application_password = false }"]);
    let reader = server.user("reader", "subscriber");
    let change =
        |email: &str| server.ask("POST", "/cms/v2/users/me", Some(&reader), Some(&json!({"email": email}))).status;
    let addresses = ["a@elsewhere.example", "b@elsewhere.example", "a@elsewhere.example", "c@elsewhere.example"];
    assert_eq!(addresses.map(change), [200, 200, 200, 429]);
    let id = server.admin("GET", "/cms/v2/users?search=reader", None).body[0]["id"].clone();
    let by_admin = json!({"email": "d@elsewhere.example"});
    assert_eq!(server.admin("POST", &format!("/cms/v2/users/{id}"), Some(&by_admin)).status, 200);
    assert_eq!(request(&server, "reader").status, 200);
    let mails = all_sent(&smtp, &server);
    // An address that was changed before the message was sent confirms nothing any more, so that may have been left out.
    assert!(sent_to(&mails, "a@elsewhere.example") <= 1 && sent_to(&mails, "b@elsewhere.example") <= 1, "{mails:?}");
    assert_eq!((sent_to(&mails, "c@elsewhere.example"), sent_to(&mails, "d@elsewhere.example")), (0, 1));
}

#[test]
fn requests_for_links_are_limited() {
    let smtp = Smtp::start(Mode::Take);
    let server = site(&smtp, &["mail.max_requests=4", "mail.max_links=2"]);
    for _ in 0..4 {
        assert_eq!(request(&server, "admin").status, 200);
    }
    let waits = request(&server, "Admin");
    assert_eq!(waits.status, 429, "{}", waits.text);
    assert!(waits.header("retry-after").is_some_and(|s| (1..=600).contains(&s.parse::<i64>().unwrap_or(0))));
    assert_eq!(request(&server, "nobody").status, 200, "others do not wait");
    server.log_until("as many valid links as it may");
    server.log_until("there is no such account");
    assert_eq!(smtp.count(), 2, "an account has no more links at a time");
    let accepted = (0..100).filter(|n| request(&server, &format!("nobody{n}")).status == 200).count();
    assert_eq!(accepted, 15, "a source requests links for five times as many accounts");
    assert_eq!(log_in(&server, "admin", PASSWORD), 303, "logins are counted apart");
}

#[test]
fn requests_that_wait_are_limited_and_notices_are_not() {
    let smtp = Smtp::start(Mode::Later);
    let server = site(&smtp, &["mail.queue=2", "mail.backoff=1h"]);
    for login in ["admin", "admin@example.org"] {
        assert_eq!(request(&server, login).status, 200);
    }
    let full = request(&server, "nobody");
    assert_eq!(full.status, 503, "{}", full.text);
    assert_eq!(server.admin("POST", "/cms/v2/users/1", Some(&json!({"password": NEW}))).status, 200);
    server.log_until("(password) was not sent and is tried again");
}

// ------------------------------------------------------------------------------------------------ sending

#[test]
fn what_a_mail_server_does_not_take_is_sent_later() {
    let smtp = Smtp::start(Mode::Down);
    let mut server = site(&smtp, &["mail.backoff=1s"]);
    request(&server, "admin");
    server.log_until("message 1 (reset) was not sent and is tried again");
    smtp.set(Mode::Later);
    let log = server.log_until("transient error (451)");
    assert!(!log.contains("admin@"), "{log}");
    // It survives a crash.
    server.stop();
    smtp.set(Mode::Take);
    let port = port(&server);
    server.kill_and_restart();
    reached(&mut server, port);
    let link = smtp.mail(0).link("http://");
    assert_eq!(set(&server, &link, NEW).status, 303, "the last link is valid");
    assert_eq!(smtp.mail(1).to, "admin@example.org");
    server.end();
}

#[test]
fn the_wait_between_two_attempts_doubles() {
    let smtp = Smtp::start(Mode::Later);
    let folder = TempDir::new().expect("a folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    let declared = format!(
        "[site]\nurl = \"http://site.example\"\napplication_passwords = \"on\"\n\n[mail]\nurl = \"smtp://127.0.0.1:{}\"\nfrom = \"cms@site.example\"\n",
        smtp.port
    );
    std::fs::write(folder.path().join("site.toml"), declared).expect("a file");
    let start = 1_800_000_000;
    let clock = ManualClock::at(start);
    let site = Inside::over(folder).restart(clock.clone());
    let mailer =
        Mailer::start(MailContext::new(site.registry.clone(), &site.services).expect("a sender")).expect("a thread");
    let reached = |numbers: [u64; 2], awaited: i64| {
        let end = Instant::now() + Duration::from_secs(30);
        while (mailer.progress().numbers(), clock.awaited()) != (numbers, Some(awaited)) {
            assert!(Instant::now() < end, "{:?} {:?}", mailer.progress().numbers(), clock.awaited());
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    reached([0, 0], start + 30);
    let changed = site.ask(Method::Put, "/cms/v2/users/1", true, Some(&json!({"password": NEW})));
    assert_eq!(changed.status, 200, "{}", changed.body);
    // The outbox is looked at every half minute, and the message is due after one and then two minutes.
    reached([1, 0], start + 30);
    clock.advance(30);
    reached([1, 0], start + 60);
    clock.advance(30);
    reached([2, 0], start + 90);
    for half_minute in 3..6 {
        clock.advance(30);
        reached([2, 0], start + 30 * (half_minute + 1));
    }
    smtp.set(Mode::Take);
    clock.advance(30);
    reached([2, 1], start + 210);
    assert!(smtp.mail(0).body.contains("password of your account admin"));
    mailer.finish(Duration::from_secs(10));
}

#[test]
fn what_is_refused_for_good_is_not_tried_again() {
    let smtp = Smtp::start(Mode::Never);
    let admin = free_address();
    let server = site(&smtp, &["mail.backoff=0s", "mail.attempts=3", &format!("server.admin_listen={admin}")]);
    request(&server, "admin");
    let log = server.log_until("message 1 (reset) was not sent: ");
    assert!(log.contains("<address> is not here") && !log.contains("admin@example.org"), "{log}");
    assert_eq!(smtp.connections(), 1);
    smtp.set(Mode::Later);
    request(&server, "admin");
    server.log_until("message 2 (reset) was not sent: ");
    assert_eq!(smtp.connections(), 1 + 3, "as often as mail.attempts says");
    let metrics = server.send("GET", &format!("http://{admin}/metrics"), None, None, &[]).text;
    for line in [
        "cms_server_mails_total{outcome=\"failed\"} 2",
        "cms_server_mails_total{outcome=\"retried\"} 2",
        "cms_server_mails_total{outcome=\"sent\"} 0",
        "cms_server_mail_waiting 0",
    ] {
        assert!(metrics.lines().any(|l| l == line), "{line} in\n{metrics}");
    }
}

#[test]
fn messages_are_encrypted_and_the_mail_server_is_known() {
    let folder = TempDir::new().expect("a folder");
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "s3cret\n").expect("a file");
    for (tls, scheme, end) in [(Tls::Whole, "smtps", ""), (Tls::Start, "smtp", "?starttls")] {
        let smtp = Smtp::with(Mode::Take, tls);
        let url = format!("mail.url={scheme}://ada%40site@127.0.0.1:{}{end}", smtp.port);
        let ca = format!("mail.ca={}", fixture("authority.pem").display());
        let server = site_of(&[&url, &ca], &[&format!("mail.password_file={}", secret.display())]);
        request(&server, "admin");
        let mail = smtp.mail(0);
        assert!(mail.encrypted);
        assert_eq!(mail.login, "|ada@site|s3cret");
        drop(server);
        let server = site_of(&[&url], &[]);
        request(&server, "admin");
        server.log_until("message 1 (reset) was not sent and is tried again");
        assert_eq!(smtp.count(), 1, "nobody vouches for its certificate");
    }
    let smtp = Smtp::start(Mode::Take);
    let server = site_of(&[&format!("mail.url=smtp://127.0.0.1:{}?starttls", smtp.port)], &[]);
    request(&server, "admin");
    server.log_until("message 1 (reset) was not sent and is tried again");
    assert_eq!(smtp.count(), 0, "without STARTTLS nothing is sent");
}

// ------------------------------------------------------------------------------------------------ notices

#[test]
fn owners_learn_what_changes_in_their_accounts() {
    let smtp = Smtp::start(Mode::Take);
    let server = site(&smtp, &["mail.notices.application_password=true"]);
    let first = smtp.mail(0);
    assert!(first.to == "admin@example.org" && first.body.contains("By:   command line"), "of a command: {first:?}");
    let (_, _) = server.user("reader", "subscriber");
    let made = smtp.mail(1);
    assert_eq!(made.to, "reader@example.org", "of a new account nobody is notified");
    assert!(made.body.contains("Name: tests") && made.body.contains("By:   admin, from 127.0.0.1"), "{}", made.body);
    assert!(made.body.contains("http://site.example/profile"), "{}", made.body);
    let users = server.admin("GET", "/cms/v2/users?search=reader&context=edit", None);
    let route = format!("/cms/v2/users/{}", users.body[0]["id"]);
    let change = json!({"password": NEW, "email": "new@example.org", "first_name": "R\r\nBcc: x@example.org"});
    assert_eq!(server.admin("POST", &route, Some(&change)).status, 200);
    let (one, other) = (smtp.mail(2), smtp.mail(3));
    assert_eq!((one.to.as_str(), other.to.as_str()), ("reader@example.org", "reader@example.org"), "the old address");
    let texts = format!("{}{}", one.body, other.body);
    assert!(
        texts.contains("It is new@example.org now") && texts.contains("password of your account reader"),
        "{texts}"
    );
    assert_eq!(server.admin("POST", &route, Some(&json!({"email": "new@example.org", "name": "R"}))).status, 200);
    // Nothing has changed, so the next message is another one.
    let mut browser = Browser::of(&server, "reader", NEW);
    let form = [("act", "create"), ("name", "Phone")];
    assert_eq!(browser.submit("/profile", "/profile", &form).status, 200);
    let phone = smtp.mail(4);
    assert!(phone.to == "new@example.org" && phone.body.contains("Name: Phone"), "{phone:?}");
}

#[test]
fn notices_have_switches() {
    let smtp = Smtp::start(Mode::Take);
    let server = site(&smtp, &["mail.notices.email=false", "mail.notices.password=false"]);
    let change = json!({"password": NEW, "email": "new@example.org"});
    assert_eq!(server.admin("POST", "/cms/v2/users/1", Some(&change)).status, 200);
    request(&server, "admin");
    assert!(smtp.mail(0).body.contains("set-password"), "the link is the first message");
}

#[test]
fn titles_make_no_headers() {
    let smtp = Smtp::start(Mode::Take);
    let server = site(&smtp, &["settings.title=\"Evil\\r\\nBcc: all@example.org\\r\\n\\r\\nText\""]);
    request(&server, "admin");
    let mail = smtp.mail(0);
    assert!(!mail.head.lines().any(|line| line.to_lowercase().starts_with("bcc")), "{}", mail.head);
    assert!(mail.head.contains("Subject: Evil") && !mail.body.starts_with("Text"), "{mail:?}");
    assert_eq!(mail.to, "admin@example.org");
}

// ------------------------------------------------------------------------------------------------ invitations

/// Runs a command beside the server; what it says, and whether it succeeds.
fn command(server: &Server, smtp: Option<&Smtp>, args: &[&str]) -> (String, bool) {
    let config = server.path("routes.toml");
    let mut command = program();
    command.args(["--config", config.to_str().expect("a path")]);
    command.args(["--set", &server.storage()]);
    command.args(["--set", "site.url=http://site.example", "--set", "mail.from=cms@site.example"]);
    if let Some(smtp) = smtp {
        command.args(["--set", &smtp.url()]);
    }
    let done = command.args(args).stdin(Stdio::null()).output().expect("the program ends");
    let said = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    (said, done.status.success())
}

#[test]
fn an_invited_user_sets_a_password() {
    let smtp = Smtp::start(Mode::Take);
    let server = site(&smtp, &[]);
    let add = ["user", "add", "zoe", "zoe@example.org", "--role", "editor", "--invite"];
    let (said, done) = command(&server, None, &add);
    assert!(!done && said.contains("mail.url"), "{said}");
    let (said, done) = command(&server, Some(&smtp), &add);
    assert!(done && said.contains("zoe: an invitation was sent"), "{said}");
    let mail = smtp.mail(0);
    assert!(mail.to == "zoe@example.org" && mail.body.contains("within 3 days"), "{mail:?}");
    for guess in ["", " ", "zoe"] {
        assert_eq!(log_in(&server, "zoe", guess), 401, "there is no password yet");
    }
    let (said, done) = command(&server, Some(&smtp), &["user", "invite", "zoe"]);
    assert!(done && said.contains("an invitation was sent"), "{said}");
    let second = smtp.mail(1).link("http://site.example/set-password");
    assert_eq!(set(&server, &second, NEW).status, 303);
    assert_eq!(log_in(&server, "zoe", NEW), 303);
    let first = mail.link("http://site.example/set-password");
    assert_eq!(Browser::new(&server).get(path(&first)).status, 400, "every link ends");
    // The notice of the change leaves before the mail server refuses.
    smtp.mail(2);
    smtp.set(Mode::Later);
    let (said, done) = command(&server, Some(&smtp), &["user", "invite", "zoe"]);
    assert!(done && said.contains("waits") && said.contains("451"), "{said}");
    let (said, _) = command(&server, Some(&smtp), &["status"]);
    assert!(said.contains("1 messages wait"), "{said}");
}

#[test]
fn an_operator_tries_whether_messages_are_sent() {
    let smtp = Smtp::start(Mode::Take);
    let server = site(&smtp, &[]);
    let (said, done) = command(&server, Some(&smtp), &["mail", "test", "ops@example.org"]);
    assert!(done && said.contains("a test message was sent"), "{said}");
    assert_eq!(smtp.mail(0).to, "ops@example.org");
    smtp.set(Mode::Never);
    let (said, done) = command(&server, Some(&smtp), &["mail", "test", "ops@example.org"]);
    assert!(!done && said.contains("550"), "{said}");
    let (said, done) = command(&server, Some(&smtp), &["mail", "test", "ops"]);
    assert!(!done && said.contains("address of the recipient"), "{said}");
    let (said, done) = command(&server, None, &["mail", "test", "ops@example.org"]);
    assert!(!done && said.contains("mail.url is not set"), "{said}");
    let doctor = ["doctor", "--url", &server.site];
    assert!(command(&server, Some(&smtp), &doctor).0.contains("good   the mail server answers"));
    smtp.set(Mode::Down);
    assert!(command(&server, Some(&smtp), &doctor).0.contains("WRONG  the mail server answers"));
}

// ------------------------------------------------------------------------------------------------ off, files, WordPress

#[test]
fn without_mail_people_learn_whom_to_ask() {
    let server = Server::start();
    assert!(!Browser::new(&server).get("/login").text.contains("lost"));
    for answer in [Browser::new(&server).get("/lost-password"), request(&server, "admin")] {
        assert!(answer.status == 501 && answer.text.contains("Ask its administrators"), "{}", answer.text);
    }
    assert_eq!(Browser::new(&server).get("/set-password?token=x").status, 400);
    let (said, done) = command(&server, None, &["status"]);
    assert!(done && said.contains("0 messages wait"), "{said}");
}

#[test]
fn messages_become_files_where_that_is_wanted() {
    let folder = TempDir::new().expect("a folder");
    let outbox = folder.path().join("outbox");
    let server = Server::with(&[
        &format!("mail.url=file:{}", outbox.display()),
        "mail.from=cms@site.example",
        "mail.notices.application_password=false",
    ]);
    request(&server, "admin");
    server.log_until("(reset) was sent");
    let files: Vec<_> = std::fs::read_dir(&outbox).expect("a folder").flatten().map(|entry| entry.path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let text = std::fs::read_to_string(&files[0]).expect("a message");
    assert!(
        text.contains("To: admin@example.org") && text.contains(&format!("{}/set-password?token=", server.site)),
        "{text}"
    );
}

#[test]
fn mail_is_switched_on_by_a_reload() {
    let server = Server::with(&["mail.from=cms@site.example", "mail.notices.application_password=false"]);
    assert_eq!(request(&server, "admin").status, 501);
    let outbox = server.path("outbox");
    let on = format!("[mail]\nurl = \"file:{}\"\n", outbox.display());
    std::fs::write(server.path("site.toml"), on).expect("a file");
    server.log_until("reloaded the declarations");
    // A user who is logged in may request a link, too.
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    assert_eq!(browser.submit("/lost-password", "/lost-password", &[("login", "admin")]).status, 200);
    server.log_until("(reset) was sent");
    assert_eq!(std::fs::read_dir(&outbox).expect("a folder").count(), 1);
}

#[test]
fn under_wp_the_addresses_are_those_of_wordpress() {
    let smtp = Smtp::start(Mode::Take);
    let server = site(&smtp, &["site.prefix=wp"]);
    let mut browser = Browser::new(&server);
    assert!(browser.get("/wp-login.php").text.contains("href=\"/wp-login.php?action=lostpassword\""));
    // WordPress sends nothing when a program creates a user.
    server.user("reader", "subscriber");
    assert_eq!(browser.post("/wp-login.php?action=lostpassword", &[("user_login", "reader")]).status, 200);
    let mail = smtp.mail(0);
    assert_eq!(mail.to, "reader@example.org");
    let link = mail.link("http://site.example/wp-login.php?action=rp&token=");
    let page = browser.get(path(&link));
    assert_eq!(page.status, 200, "{}", page.text);
    let done = browser.post("/wp-login.php?action=rp", &[("link", &field(&page, "link")), ("new", NEW)]);
    assert_eq!((done.status, done.header("location")), (303, Some("/wp-login.php?done=password_set")));
    let form = [("log", "reader"), ("pwd", NEW)];
    assert_eq!(Browser::new(&server).post("/wp-login.php", &form).status, 303);
}

#[test]
fn wrong_declarations_are_reported_without_the_password() {
    let wrong = "mail.url=smtp://ada:s3cret@mail.example.org";
    let done = run(&["check", "--set", wrong, "--set", "mail.from=cms@example.org"], "");
    let said = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(!done.status.success() && said.contains("unencrypted") && !said.contains("s3cret"), "{said}");
    let fine = ["--set", "mail.url=smtps://ada:s3cret@mail.example.org", "--set", "mail.from=cms@example.org"];
    let mut args = vec!["check", "--set", "site.url=https://example.org"];
    args.extend(fine);
    stdout(&args, "");
}
