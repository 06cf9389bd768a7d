//! Passkeys: how they are made, what they open, and those who attack them. The authenticator is one in software.

use super::free_port::free_address;
use super::pages::{Browser, PASSWORD, field};
use super::server::{Answer, Server, run, until};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

const SITE: &str = "https://cms.example";
const HOST: &str = "cms.example";

/// Flags of an authenticator.
const PRESENT: u8 = 0x01;
const VERIFIED: u8 = 0x04;
const ATTESTED: u8 = 0x40;

fn site() -> Server {
    site_with(SITE, &[])
}

/// A site at this address, as a proxy in front of it reaches it.
fn site_with(url: &str, sets: &[&str]) -> Server {
    let port = free_address().port();
    let (listen, url) = (format!("server.listen=127.0.0.1:{port}"), format!("site.url={url}"));
    let mut server = Server::with(&[sets, &[&*listen, &*url, "site.application_passwords=on"]].concat());
    server.site = format!("http://127.0.0.1:{port}");
    server.rest = format!("{}/cms-json", server.site);
    server
}

fn base64(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A key of an authenticator.
enum Key {
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl Key {
    fn p256() -> Key {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, pkcs8.as_ref(), &random);
        Key::P256(pair.expect("a key"))
    }

    fn ed25519() -> Key {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
        Key::Ed25519(Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).expect("a key"))
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        match self {
            Key::P256(pair) => pair.sign(&SystemRandom::new(), message).expect("a signature").as_ref().to_vec(),
            Key::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
        }
    }

    /// As `SubjectPublicKeyInfo`.
    fn spki(&self) -> Vec<u8> {
        let (head, key): (&[u8], &[u8]) = match self {
            Key::P256(pair) => {
                (b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00", pair.public_key().as_ref())
            }
            Key::Ed25519(pair) => (b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00", pair.public_key().as_ref()),
        };
        [head, key].concat()
    }
}

/// An authenticator with one passkey.
struct Authenticator {
    key: Key,
    id: Vec<u8>,
    handle: String,
    counter: u32,
    flags: u8,
}

/// A browser's response before it is signed: attacks change it.
struct Response {
    ceremony: &'static str,
    challenge: String,
    origin: String,
    cross_origin: bool,
    party: String,
    flags: u8,
    counter: u32,
    id: Vec<u8>,
    handle: Option<String>,
    key: Vec<u8>,
    /// Bytes after the data of the authenticator.
    rest: Vec<u8>,
}

impl Response {
    fn client_data(&self) -> Vec<u8> {
        json!({"type": self.ceremony, "challenge": self.challenge, "origin": self.origin, "crossOrigin": self.cross_origin})
            .to_string()
            .into_bytes()
    }

    fn authenticator_data(&self) -> Vec<u8> {
        let mut data = [&*Sha256::digest(&self.party), &[self.flags], &self.counter.to_be_bytes()].concat();
        if self.flags & ATTESTED != 0 {
            data.extend([0; 16]);
            data.extend(u16::try_from(self.id.len()).unwrap_or(u16::MAX).to_be_bytes());
            data.extend(&self.id);
        }
        data.extend(&self.rest);
        data
    }
}

impl Authenticator {
    fn new() -> Authenticator {
        Authenticator::with(Key::p256(), VERIFIED)
    }

    fn with(key: Key, flags: u8) -> Authenticator {
        let id = Sha256::digest(key.spki()).to_vec();
        Authenticator { key, id, handle: String::new(), counter: 0, flags: PRESENT | flags }
    }

    fn response(&self, ceremony: &'static str, options: &Value) -> Response {
        Response {
            ceremony,
            challenge: options["challenge"].as_str().expect("a challenge").to_owned(),
            origin: SITE.to_owned(),
            cross_origin: false,
            party: HOST.to_owned(),
            flags: self.flags,
            counter: self.counter,
            id: self.id.clone(),
            handle: Some(self.handle.clone()),
            key: self.key.spki(),
            rest: Vec::new(),
        }
    }

    /// Makes the passkey.
    fn create(&mut self, options: &Value) -> String {
        self.create_with(options, |_| {})
    }

    fn create_with(&mut self, options: &Value, change: impl Fn(&mut Response)) -> String {
        self.handle = options["user"]["id"].as_str().expect("a handle").to_owned();
        let mut made = self.response("webauthn.create", options);
        made.flags |= ATTESTED;
        // The public key once more, as CBOR, which nobody reads.
        made.rest = vec![0xa5, 1, 2, 3, 0x26];
        change(&mut made);
        let data = made.authenticator_data();
        json!({
            "id": base64(&made.id),
            "response": {
                "clientDataJSON": base64(&made.client_data()),
                "authenticatorData": base64(&data),
                "publicKey": base64(&made.key),
            },
        })
        .to_string()
    }

    /// Uses the passkey.
    fn get(&mut self, options: &Value) -> String {
        self.get_with(options, |_| {})
    }

    fn get_with(&mut self, options: &Value, change: impl Fn(&mut Response)) -> String {
        self.counter += 1;
        let mut used = self.response("webauthn.get", options);
        change(&mut used);
        let (client, data) = (used.client_data(), used.authenticator_data());
        let signature = self.key.sign(&[&*data, &Sha256::digest(&client)].concat());
        json!({
            "id": base64(&used.id),
            "response": {
                "clientDataJSON": base64(&client),
                "authenticatorData": base64(&data),
                "signature": base64(&signature),
                "userHandle": used.handle,
            },
        })
        .to_string()
    }
}

/// The options that a page has for the browser.
fn options(page: &Answer) -> Value {
    let (_, rest) = page.text.split_once("data-options=\"").unwrap_or_else(|| panic!("no options in {}", page.text));
    let text = rest.split('"').next().expect("an end").replace("&quot;", "\"").replace("&amp;", "&");
    serde_json::from_str(&text.replace("&#039;", "'").replace("&#39;", "'")).expect("JSON")
}

/// The page on which a passkey is made, for a user who gives this.
fn creation(browser: &mut Browser<'_>, proof: (&str, &str)) -> Answer {
    browser.submit("/second-factor", "/second-factor", &[("act", "passkey"), proof])
}

fn add(browser: &mut Browser<'_>, made: &str, title: &str) -> Answer {
    browser.submit("/second-factor", "/second-factor", &[("act", "made"), ("name", title), ("passkey", made)])
}

/// Gives an account its first passkey: the recovery codes.
fn register(browser: &mut Browser<'_>, authenticator: &mut Authenticator, password: &str, title: &str) -> Vec<String> {
    let page = creation(browser, ("current", password));
    assert_eq!(page.status, 200, "{}", page.text);
    let done = add(browser, &authenticator.create(&options(&page)), title);
    assert_eq!(done.status, 200, "{}", done.text);
    let codes = done.text.split("<li><code>").skip(1);
    codes.map(|rest| rest.split_once('<').expect("an end").0.to_owned()).collect()
}

/// Those of the login page.
fn login_options(server: &Server) -> Value {
    options(&Browser::new(server).get("/login"))
}

fn log_in(server: &Server, used: &str) -> Answer {
    Browser::new(server).post("/login", &[("passkey", used)])
}

/// A login up to the factor.
fn password_step(server: &Server, login: &str, password: &str) -> Answer {
    let page = Browser::new(server).post("/login", &[("login", login), ("password", password)]);
    assert_eq!((page.status, page.header("set-cookie")), (200, None), "{}", page.text);
    page
}

fn factor_step(server: &Server, page: &Answer, used: &str) -> Answer {
    Browser::new(server).post("/login", &[("pending", &field(page, "pending")), ("passkey", used), ("code", "")])
}

/// The newest entry of the audit trail with this event: its user, and what it says.
fn refusal(server: &Server) -> (i64, String) {
    let entries = server.admin("GET", "/server/v1/audit?per_page=100&event=passkey_refused", None).body;
    let newest =
        entries.as_array().and_then(|entries| entries.iter().find(|entry| entry["event"] == "passkey_refused"));
    let newest = newest.unwrap_or_else(|| panic!("no refusal in {entries}"));
    (newest["user"].as_i64().unwrap_or(-1), newest["changed"][0].as_str().unwrap_or_default().to_owned())
}

fn has_event(server: &Server, event: &str) -> bool {
    let entries = server.admin("GET", "/server/v1/audit?per_page=100", None).body;
    entries.as_array().expect("entries").iter().any(|entry| entry["event"] == event)
}

#[test]
fn a_passkey_logs_in_alone_and_after_the_password() {
    let server = site();
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let mut other = Browser::of(&server, "admin", PASSWORD);
    let mut phone = Authenticator::new();
    let asked = browser.submit("/second-factor", "/second-factor", &[("act", "passkey")]);
    assert!(asked.status == 200 && asked.text.contains("name=\"current\""), "the password first: {}", asked.text);
    assert_eq!(creation(&mut browser, ("current", "wrong")).status, 403);
    let codes = register(&mut browser, &mut phone, PASSWORD, "Phone");
    assert_eq!(codes.len(), 10);
    assert_eq!(other.get("/profile").status, 302, "a session that began without the factor has ended");
    let stored = server.sql("SELECT secret FROM second_factor").concat();
    assert!(!stored.contains(&base64(&phone.id)), "{stored}");

    let page = Browser::new(&server).get("/login");
    assert!(!page.header("content-security-policy").expect("a policy").contains("unsafe"));
    assert!(page.text.contains("/assets/passkey.js") && page.text.contains("Log in with a passkey"), "{}", page.text);
    let asked = options(&page);
    assert_eq!((&asked["rpId"], &asked["userVerification"]), (&json!(HOST), &json!("required")));
    assert_eq!(asked["allowCredentials"], json!([]), "nobody learns who has passkeys");
    let mut fresh = Browser::new(&server);
    let form = [("passkey", phone.get(&asked)), ("redirect", "/profile".into()), ("remember", "1".into())];
    let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
    let done = fresh.post("/login", &form);
    assert_eq!((done.status, done.header("location")), (303, Some("/profile")), "{}", done.text);
    assert!(done.header("set-cookie").is_some_and(|cookie| cookie.contains("Max-Age=1209600")), "it is remembered");
    assert_eq!(fresh.get("/profile").status, 200);

    let page = password_step(&server, "admin", PASSWORD);
    let asked = options(&page);
    assert_eq!(asked["allowCredentials"], json!([{"type": "public-key", "id": base64(&phone.id)}]));
    let done = factor_step(&server, &page, &phone.get(&asked));
    assert_eq!(done.status, 303, "{}", done.text);
    let page = password_step(&server, "admin", PASSWORD);
    let form = [("pending", &*field(&page, "pending")), ("code", &*codes[0])];
    assert_eq!(Browser::new(&server).post("/login", &form).status, 303, "a recovery code is good in its place");

    // A second one asks for the first.
    let mut key = Authenticator::with(Key::ed25519(), VERIFIED);
    let asked = browser.submit("/second-factor", "/second-factor", &[("act", "passkey")]);
    assert!(!asked.text.contains("name=\"current\""), "the password does not suffice: {}", asked.text);
    let used = phone.get(&options(&asked));
    let page = creation(&mut browser, ("passkey", &used));
    let known = options(&page);
    assert_eq!(known["excludeCredentials"], json!([{"type": "public-key", "id": base64(&phone.id)}]));
    assert_eq!(known["attestation"], "none");
    assert_eq!(add(&mut browser, &key.create(&known), "Key").status, 303);
    assert_eq!(log_in(&server, &key.get(&login_options(&server))).status, 303, "Ed25519");
    let list = browser.get("/second-factor");
    assert!(
        list.text.contains("Phone") && list.text.contains("Key") && !list.text.contains("never used"),
        "{}",
        list.text
    );
    let listed = server.admin("GET", "/console/v1/users/1/second-factors", None).body;
    let listed: Vec<String> = listed.as_array().expect("factors").iter().map(|one| one["name"].to_string()).collect();
    assert!(
        listed.len() == 2 && ["Phone", "Key"].iter().all(|name| listed.contains(&format!("\"{name}\""))),
        "{listed:?}"
    );
    assert_eq!(server.admin("GET", "/console/v1/users/1/second-factors", None).body[0]["kind"], "passkey");

    // Each is taken away with one that is there.
    for (gone, by, left) in [("Phone", &mut key, 1), ("Key", &mut phone, 0)] {
        let sql = format!("SELECT key FROM second_factor WHERE name = '{gone}'");
        let id = server.sql(&sql).concat();
        let remove = |browser: &mut Browser<'_>, with: (&str, &str)| {
            browser.submit("/second-factor", "/second-factor", &[("act", "remove"), ("factor", &id), with])
        };
        let asked = browser.submit("/second-factor", "/second-factor", &[("act", "remove"), ("factor", &id)]);
        for wrong in [("current", PASSWORD), ("code", "000000")] {
            assert_eq!(remove(&mut browser, wrong).status, 403, "{wrong:?}");
        }
        // The last one is taken away with a recovery code: the phone is not known any more.
        let used = by.get(&options(&asked));
        let done = remove(&mut browser, if left == 1 { ("passkey", &used) } else { ("code", &codes[1]) });
        assert_eq!(done.status, 303, "{}", done.text);
        assert_eq!(server.sql("SELECT COUNT(*) FROM second_factor"), [left.to_string()]);
    }
    assert_eq!(server.sql("SELECT COUNT(*) FROM recovery_code"), ["0"]);
    assert_eq!(log_in(&server, &phone.get(&login_options(&server))).status, 403);
    assert_eq!(refusal(&server), (0, "reason=credential".to_owned()));
    assert_eq!(Browser::new(&server).post("/login", &[("login", "admin"), ("password", PASSWORD)]).status, 303);
    for event in ["second_factor_added", "second_factor_removed", "passkey_refused", "login"] {
        assert!(has_event(&server, event), "{event}");
    }
}

#[test]
fn a_passkey_that_checks_nobody_is_a_second_factor_alone() {
    let server = site();
    let mut key = Authenticator::with(Key::p256(), 0);
    register(&mut Browser::of(&server, "admin", PASSWORD), &mut key, PASSWORD, "Key");
    let alone = log_in(&server, &key.get(&login_options(&server)));
    assert_eq!((alone.status, alone.header("set-cookie")), (403, None), "{}", alone.text);
    assert!(alone.text.contains("Log in with your password first."), "{}", alone.text);
    assert_eq!(refusal(&server), (1, "reason=verification".to_owned()));
    let page = password_step(&server, "admin", PASSWORD);
    assert_eq!(factor_step(&server, &page, &key.get(&options(&page))).status, 303);
}

#[test]
fn what_is_wrong_with_a_passkey_keeps_it_out() {
    let server = site_with(SITE, &["pages.max_login_attempts=1000"]);
    server.user("eva", "author");
    let (mut phone, mut hers) = (Authenticator::new(), Authenticator::new());
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    register(&mut browser, &mut phone, PASSWORD, "Phone");
    register(&mut Browser::of(&server, "eva", "long enough"), &mut hers, "long enough", "Hers");
    let handle = hers.handle.clone();
    phone.counter = 100;
    assert_eq!(log_in(&server, &phone.get(&login_options(&server))).status, 303, "as it is, it is right");

    type Change = Box<dyn Fn(&mut Response)>;
    let changes: Vec<(&str, Change)> = vec![
        ("origin", Box::new(|r| r.origin = "https://evil.example".into())),
        ("origin", Box::new(|r| r.origin = "http://cms.example".into())),
        ("origin", Box::new(|r| r.origin = "https://cms.example:8443".into())),
        ("origin", Box::new(|r| r.origin = "https://cms.example.evil.example".into())),
        ("origin", Box::new(|r| r.cross_origin = true)),
        ("relying_party", Box::new(|r| r.party = "example".into())),
        ("relying_party", Box::new(|r| r.party = "www.cms.example".into())),
        ("ceremony", Box::new(|r| r.ceremony = "webauthn.create")),
        ("presence", Box::new(|r| r.flags = VERIFIED)),
        ("verification", Box::new(|r| r.flags = PRESENT)),
        ("malformed", Box::new(|r| r.rest = vec![0])),
        ("credential", Box::new(|r| r.id.reverse())),
        ("credential", Box::new(|r| r.id.clear())),
        ("user_handle", Box::new(|r| r.handle = None)),
        ("user_handle", Box::new(move |r| r.handle = Some(handle.clone()))),
        ("counter", Box::new(|r| r.counter = 101)),
        ("counter", Box::new(|r| r.counter = 0)),
        ("challenge", Box::new(|r| r.challenge.clear())),
        ("challenge", Box::new(|r| r.challenge = base64(&[7; 36]))),
        ("challenge", Box::new(|r| r.challenge = "A".repeat(5000))),
    ];
    for (index, (reason, change)) in changes.iter().enumerate() {
        phone.counter = 200;
        let answer = log_in(&server, &phone.get_with(&login_options(&server), change));
        assert_eq!((answer.status, answer.header("set-cookie")), (403, None), "{index} {reason}: {}", answer.text);
        assert_eq!(refusal(&server).1, format!("reason={reason}"), "{index}");
    }

    // Data are changed after they were signed, or another key has signed them.
    let forged = |used: &str, member: &str, bytes: &[u8]| {
        let mut used: Value = serde_json::from_str(used).expect("JSON");
        used["response"][member] = json!(base64(bytes));
        used.to_string()
    };
    let mut with_her_key =
        Authenticator { key: Key::p256(), id: phone.id.clone(), handle: phone.handle.clone(), ..Authenticator::new() };
    with_her_key.counter = 300;
    phone.counter = 300;
    let asked = login_options(&server);
    let mut higher = phone.response("webauthn.get", &asked);
    higher.counter = 9999;
    for used in [
        forged(&phone.get(&asked), "signature", b""),
        forged(&phone.get(&asked), "signature", &[0x30, 6, 2, 1, 0, 2, 1, 0]),
        forged(&phone.get(&asked), "signature", &[0; 16_000][..8000]),
        forged(&phone.get(&asked), "authenticatorData", &higher.authenticator_data()),
        with_her_key.get(&asked),
    ] {
        assert_eq!(log_in(&server, &used).status, 403);
        assert_eq!(refusal(&server), (1, "reason=signature".to_owned()));
    }
    for text in ["x", "{}", "null", "[]", "{\"id\":\"!\"}", &"[".repeat(10_000), &"x".repeat(60_000)] {
        assert_eq!(log_in(&server, text).status, 403, "{text:.20}");
        assert_eq!(refusal(&server), (0, "reason=malformed".to_owned()));
    }
    assert_eq!(log_in(&server, &"x".repeat(70_000)).status, 413, "no form is as long");

    // Nothing of it has used the passkey up, and it is right as it is.
    phone.counter = 400;
    assert_eq!(log_in(&server, &phone.get(&login_options(&server))).status, 303);
}

#[test]
fn a_challenge_is_good_once_and_for_its_purpose_alone() {
    let server = site();
    server.user("eva", "author");
    let (mut phone, mut hers) = (Authenticator::new(), Authenticator::new());
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    register(&mut browser, &mut phone, PASSWORD, "Phone");
    register(&mut Browser::of(&server, "eva", "long enough"), &mut hers, "long enough", "Hers");

    // By four at once, and later, also with a higher counter.
    let asked = login_options(&server);
    let used = phone.get(&asked);
    let (ready, shared) = (std::sync::Barrier::new(4), (&server, &used));
    let statuses: Vec<u16> = std::thread::scope(|threads| {
        let ask = || {
            ready.wait();
            log_in(shared.0, shared.1).status
        };
        let all: Vec<_> = (0..4).map(|_| threads.spawn(ask)).collect();
        all.into_iter().map(|thread| thread.join().expect("an answer")).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 303).count(), 1, "{statuses:?}");
    assert_eq!(log_in(&server, &used).status, 403);
    assert_eq!(log_in(&server, &phone.get(&asked)).status, 403, "another signature over the same challenge");
    assert_eq!(refusal(&server), (1, "reason=challenge".to_owned()));

    // The challenges of a login, of two logins whose password was right, of a form in a session, and of a new passkey.
    let mut other = Browser::new(&server);
    assert_eq!(other.post("/login", &[("passkey", &phone.get(&login_options(&server)))]).status, 303);
    let form = |browser: &mut Browser<'_>| {
        options(&browser.submit("/second-factor", "/second-factor", &[("act", "recovery")]))
    };
    let proof = phone.get(&form(&mut browser));
    let new = options(&creation(&mut browser, ("passkey", &proof)));
    let (one, two) = (password_step(&server, "admin", PASSWORD), password_step(&server, "admin", PASSWORD));
    for wrong in [login_options(&server), options(&two), form(&mut browser), new.clone()] {
        assert_eq!(factor_step(&server, &one, &phone.get(&wrong)).status, 403);
        assert_eq!(refusal(&server), (1, "reason=challenge".to_owned()));
    }
    for wrong in [options(&one), form(&mut browser), new] {
        assert_eq!(log_in(&server, &phone.get(&wrong)).status, 403);
    }
    for wrong in [login_options(&server), options(&one), form(&mut other)] {
        assert_eq!(creation(&mut browser, ("passkey", &phone.get(&wrong))).status, 403, "of another session");
        assert_eq!(refusal(&server), (1, "reason=challenge".to_owned()));
    }
    // Another person's passkey proves nothing about this account.
    assert_eq!(factor_step(&server, &one, &hers.get(&options(&one))).status, 403);
    assert_eq!(refusal(&server), (1, "reason=credential".to_owned()));
    assert_eq!(factor_step(&server, &one, &phone.get(&options(&one))).status, 303);
}

#[test]
fn a_passkey_is_made_by_its_owner_alone() {
    let server = site_with(SITE, &["pages.max_factors=2"]);
    server.user("eva", "author");
    let (mut admin, mut eva) = (Browser::of(&server, "admin", PASSWORD), Browser::of(&server, "eva", "long enough"));
    let page = |browser: &mut Browser<'_>, password: &str| options(&creation(browser, ("current", password)));
    let mut phone = Authenticator::new();
    type Change = Box<dyn Fn(&mut Response)>;
    let changes: Vec<(&str, Change)> = vec![
        ("another origin", Box::new(|r| r.origin = "https://evil.example".into())),
        ("a frame", Box::new(|r| r.cross_origin = true)),
        ("another relying party", Box::new(|r| r.party = "evil.example".into())),
        ("nobody there", Box::new(|r| r.flags = ATTESTED)),
        ("nothing made", Box::new(|r| (r.flags, r.rest) = (PRESENT, Vec::new()))),
        ("a use", Box::new(|r| r.ceremony = "webauthn.get")),
        ("another challenge", Box::new(|r| r.challenge = base64(&[1; 36]))),
        ("no key", Box::new(|r| r.key.clear())),
        ("half a key", Box::new(|r| r.key.truncate(40))),
        ("a key of another kind", Box::new(|r| r.key[22] = 0x08)),
        ("a long key", Box::new(|r| r.key = vec![0x30; 4000])),
        ("no identifier", Box::new(|r| r.id.clear())),
        ("a long identifier", Box::new(|r| r.id = vec![1; 1024])),
    ];
    for (what, change) in changes {
        let asked = page(&mut admin, PASSWORD);
        let answer = add(&mut admin, &phone.create_with(&asked, &change), "A");
        assert_eq!(answer.status, 400, "{what}: {}", answer.text);
    }
    let asked = page(&mut admin, PASSWORD);
    let attested = |bytes: usize| {
        let mut made: Value = serde_json::from_str(&Authenticator::new().create(&asked)).expect("JSON");
        made["response"]["attestationObject"] = json!(base64(&vec![0; bytes]));
        made.to_string()
    };
    assert_eq!(add(&mut admin, &attested(40_000), "A").status, 400, "more than is read");
    assert_eq!(add(&mut admin, &attested(65_000), "A").status, 413);
    assert_eq!(server.sql("SELECT COUNT(*) FROM second_factor"), ["0"]);

    // Of another person, and of another session of the same person.
    let mut again = Browser::of(&server, "admin", PASSWORD);
    for browser in [&mut eva, &mut again] {
        assert_eq!(add(browser, &phone.create(&asked), "A").status, 400);
    }
    let made = phone.create(&asked);
    let handle = phone.handle.clone();
    assert_eq!(add(&mut admin, &made, " <b>My</b> phone ").status, 200);
    assert_eq!(server.sql("SELECT name FROM second_factor"), ["My phone"]);
    assert_eq!(add(&mut admin, &made, "A").status, 403, "it is there already");
    let hers = page(&mut eva, "long enough");
    assert_eq!(add(&mut eva, &phone.create(&hers), "A").status, 403, "one passkey has one account");
    assert_eq!(server.sql("SELECT COUNT(*) FROM second_factor"), ["1"]);

    phone.handle = handle;
    let mut more = || {
        let asked = admin.submit("/second-factor", "/second-factor", &[("act", "passkey")]);
        let page = creation(&mut admin, ("passkey", &phone.get(&options(&asked))));
        let made = |page: &Answer| Authenticator::new().create(&options(page));
        if page.status == 200 { add(&mut admin, &made(&page), "B").status } else { page.status }
    };
    assert_eq!([more(), more()], [303, 400], "two are as many as an account may have");
}

#[test]
fn sites_without_a_name_over_https_have_no_passkeys() {
    for url in ["http://cms.example", "http://127.0.0.1:8080", "https://192.0.2.1", "https://[2001:db8::1]"] {
        let server = site_with(url, &[]);
        let mut browser = Browser::of(&server, "admin", PASSWORD);
        assert!(!Browser::new(&server).get("/login").text.contains("passkey"), "{url}");
        let page = browser.get("/second-factor");
        assert!(page.text.contains("site.url") && !page.text.contains("Add a passkey"), "{url}: {}", page.text);
        let refused = creation(&mut browser, ("current", PASSWORD));
        assert!(refused.status == 400 && refused.text.contains("site.url"), "{url}: {}", refused.text);
        assert_eq!(log_in(&server, "{}").status, 403, "{url}");
    }
    let server = site_with("http://localhost:8080", &[]);
    assert_eq!(login_options(&server)["rpId"], "localhost");
}

#[test]
fn passkeys_count_where_factors_do() {
    let folder = TempDir::new().expect("a folder");
    let server = site_with(
        SITE,
        &[
            &format!("mail.url=file:{}", folder.path().display()),
            "mail.from=cms@site.example",
            "roles.administrator.second_factor=required",
            "roles.administrator.second_factor_grace=0s",
        ],
    );
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    assert_eq!(browser.get("/profile").header("location"), Some("/second-factor"), "one is required");
    let mut phone = Authenticator::new();
    register(&mut browser, &mut phone, PASSWORD, "Phone");
    let profile = browser.get("/profile");
    assert_eq!(profile.status, 200);
    until("it is reported", || {
        let files = std::fs::read_dir(folder.path()).into_iter().flatten().flatten();
        files.filter_map(|file| std::fs::read_to_string(file.path()).ok()).any(|mail| mail.contains("added: Phone"))
    });
    // A new password asks for it.
    let change = |browser: &mut Browser<'_>, used: &str| {
        let new = [("act", "password"), ("current", PASSWORD), ("new", "another long password"), ("passkey", used)];
        browser.submit("/profile", "/profile", &new)
    };
    assert_eq!(change(&mut browser, "").status, 403);
    let used = phone.get(&options(&profile));
    assert_eq!(change(&mut browser, &used).status, 303);
    assert_eq!(change(&mut browser, &used).status, 403, "once");
    let config = server.path("routes.toml");
    let (config, url) = (config.to_str().expect("a path"), server.storage());
    let done = run(&["--config", config, "--set", &url, "user", "reset-factor", "admin"], "");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(server.sql("SELECT COUNT(*) FROM second_factor"), ["0"]);
    assert_eq!(log_in(&server, &phone.get(&login_options(&server))).status, 403);
}

#[test]
fn passkeys_are_tried_no_faster_than_passwords() {
    let server = site_with(SITE, &["pages.max_login_attempts=3", "pages.retry_after=60s"]);
    let mut stranger = Authenticator::new();
    stranger.handle = base64(b"nobody");
    let asked = login_options(&server);
    let statuses = [0; 4].map(|_| log_in(&server, &stranger.get(&asked)).status);
    assert_eq!(statuses, [403, 403, 403, 429]);
    assert_eq!(Browser::new(&server).post("/login", &[("login", "admin"), ("password", PASSWORD)]).status, 303);
}

#[test]
fn a_passkey_alone_does_not_stand_for_the_login_of_an_organisation() {
    let server = site();
    let mut phone = Authenticator::new();
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    register(&mut browser, &mut phone, PASSWORD, "Phone");
    let (site, rest) = (server.site.clone(), server.rest.clone());
    let sets = [
        &*site.replace("http://", "server.listen="),
        &*format!("site.url={SITE}"),
        "site.application_passwords=on",
        r#"login.providers.idp={issuer="https://idp.example",client="cms",secret="s3cret"}"#,
        "roles.administrator.password_login=false",
        "login.break_glass=somebody",
    ];
    let mut server = server.restart_with(&sets);
    (server.site, server.rest) = (site, rest);
    let refused = log_in(&server, &phone.get(&login_options(&server)));
    assert_eq!(refused.status, 403, "{}", refused.text);
    assert!(refused.text.contains("by the login of your organisation"), "{}", refused.text);
    assert_eq!(refusal(&server), (1, "reason=account".into()));
}
