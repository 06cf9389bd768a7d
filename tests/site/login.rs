//! Login by identity providers: accounts and their roles, how they end, and those who attack them. The provider is one of this file,
//! which lies where a test wants it to; `tests/login` has others that know nothing of this server.

use super::free_port::free_address;
use super::pages::{Browser, PASSWORD, field};
use super::second_factor::{code, fault, set_up};
use super::server::{Answer, Server, run, with_profiles};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, Mac};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};

const SECRET: &str = "a secret/with + signs:";

/// How a provider signs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Signing {
    Right,
    /// `alg: none`, without a signature.
    Nothing,
    /// With the public key as a shared secret.
    PublicKeyAsSecret,
    /// With a key of somebody else, under the id of the provider's.
    ForeignKey,
    /// With a part that was changed afterwards.
    Changed,
}

/// The behaviour of a provider, which tests change.
struct Behaviour {
    key: Key,
    signing: Signing,
    /// Members of the ID token in place of the right ones; null: it has none.
    claims: Value,
    /// Members of its head.
    head: Value,
    /// Claims about the person elsewhere.
    userinfo: Value,
    /// Members of its description.
    about: Value,
    /// Members of the answer with tokens.
    tokens: Value,
    /// It takes a code again.
    forgetful: bool,
    /// Codes, with nonce and challenge.
    codes: HashMap<String, (String, String)>,
    /// Requests by path.
    asked: HashMap<String, usize>,
}

/// A pair of keys with its id.
struct Key {
    id: String,
    pair: EcdsaKeyPair,
}

impl Key {
    fn new(id: &str) -> Key {
        let random = SystemRandom::new();
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, made.as_ref(), &random).expect("a key");
        Key { id: id.to_owned(), pair }
    }

    fn published(&self) -> Value {
        let point = self.pair.public_key().as_ref();
        let number = |range: std::ops::Range<usize>| URL_SAFE_NO_PAD.encode(&point[range]);
        json!({"kty": "EC", "crv": "P-256", "use": "sig", "kid": self.id, "x": number(1..33), "y": number(33..65)})
    }

    fn sign(&self, message: &str) -> Vec<u8> {
        self.pair.sign(&SystemRandom::new(), message.as_bytes()).expect("a signature").as_ref().to_vec()
    }
}

/// An identity provider.
struct Provider {
    port: u16,
    behaviour: Arc<Mutex<Behaviour>>,
}

fn merged(mut own: Value, other: &Value) -> Value {
    for (name, value) in other.as_object().into_iter().flatten() {
        match value {
            Value::Null => drop(own.as_object_mut().expect("an object").remove(name)),
            value => own[name] = value.clone(),
        }
    }
    own
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_secs()
}

impl Behaviour {
    fn about(&self, issuer: &str) -> Value {
        let place = |path: &str| format!("{issuer}{path}");
        let own = json!({
            "issuer": issuer,
            "authorization_endpoint": place("/authorize"),
            "token_endpoint": place("/token"),
            "jwks_uri": place("/keys"),
            "userinfo_endpoint": place("/userinfo"),
            "end_session_endpoint": place("/end"),
            "response_types_supported": ["code", "id_token"],
            "id_token_signing_alg_values_supported": ["ES256", "HS256"],
        });
        merged(own, &self.about)
    }

    fn id_token(&self, issuer: &str, nonce: &str) -> String {
        let own =
            json!({"iss": issuer, "aud": "cms", "sub": "person-1", "nonce": nonce, "iat": now(), "exp": now() + 300});
        let claims = merged(own, &self.claims);
        let algorithm = match self.signing {
            Signing::Nothing => "none",
            Signing::PublicKeyAsSecret => "HS256",
            _ => "ES256",
        };
        let head = merged(json!({"alg": algorithm, "kid": self.key.id}), &self.head);
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", part(&head), part(&claims));
        let signature = match self.signing {
            Signing::Nothing => Vec::new(),
            Signing::PublicKeyAsSecret => {
                let mut mac =
                    Hmac::<Sha256>::new_from_slice(self.key.published().to_string().as_bytes()).expect("a key");
                mac.update(message.as_bytes());
                mac.finalize().into_bytes().to_vec()
            }
            Signing::ForeignKey => Key::new("another").sign(&message),
            Signing::Right | Signing::Changed => self.key.sign(&message),
        };
        let claims =
            if self.signing == Signing::Changed { merged(claims, &json!({"sub": "person-2"})) } else { claims };
        format!("{}.{}.{}", part(&head), part(&claims), URL_SAFE_NO_PAD.encode(signature))
    }

    /// The status and the document of an answer.
    fn answer(&mut self, issuer: &str, path: &str, authorization: &str, body: &str) -> (u16, Value) {
        *self.asked.entry(path.to_owned()).or_default() += 1;
        match path {
            "/.well-known/openid-configuration" => (200, self.about(issuer)),
            "/keys" => (200, json!({"keys": [{"kty": "oct", "k": "c2VjcmV0"}, self.key.published()]})),
            "/userinfo" => match authorization {
                "Bearer access" => (200, merged(json!({"sub": "person-1"}), &self.userinfo)),
                _ => (401, json!({})),
            },
            "/token" => {
                let form: HashMap<String, String> = url::form_urlencoded::parse(body.as_bytes()).into_owned().collect();
                let coded: String = url::form_urlencoded::byte_serialize(SECRET.as_bytes()).collect();
                let refused = |error: &str| (400, json!({"error": error}));
                if authorization != format!("Basic {}", STANDARD.encode(format!("cms:{coded}"))) {
                    return refused("invalid_client");
                }
                let found = self.codes.get(&form["code"]).cloned();
                if !self.forgetful {
                    self.codes.remove(&form["code"]);
                }
                let Some((nonce, challenge)) = found else {
                    return refused("invalid_grant");
                };
                let answers = URL_SAFE_NO_PAD.encode(Sha256::digest(form["code_verifier"].as_bytes()));
                if answers != challenge || !form["redirect_uri"].ends_with("/back") {
                    return refused("invalid_grant");
                }
                let tokens = json!({"access_token": "access", "token_type": "Bearer", "id_token": self.id_token(issuer, &nonce)});
                (200, merged(tokens, &self.tokens))
            }
            _ => (404, json!({})),
        }
    }
}

impl Provider {
    fn start() -> Provider {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let none = || json!({});
        let behaviour = Arc::new(Mutex::new(Behaviour {
            key: Key::new("first"),
            signing: Signing::Right,
            claims: none(),
            head: none(),
            userinfo: json!({"preferred_username": "zoe", "name": "Zoë <b>Q</b>", "email": "zoe@example.org", "email_verified": true, "groups": ["staff", "editors"]}),
            about: none(),
            tokens: none(),
            forgetful: false,
            codes: HashMap::new(),
            asked: HashMap::new(),
        }));
        let shared = behaviour.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                std::thread::spawn(move || serve(stream, port, &shared));
            }
        });
        Provider { port, behaviour }
    }

    fn issuer(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn set(&self) -> MutexGuard<'_, Behaviour> {
        self.behaviour.lock().expect("no panic")
    }

    fn asked(&self, path: &str) -> usize {
        self.set().asked.get(path).copied().unwrap_or_default()
    }

    /// A person consents at the address where the site has sent them: the address that they are sent back to.
    fn consent(&self, address: &str) -> String {
        assert!(address.starts_with(&format!("{}/authorize?", self.issuer())), "{address}");
        let asked = parameters(address);
        assert_eq!((&*asked["response_type"], &*asked["code_challenge_method"]), ("code", "S256"));
        assert_eq!((&*asked["client_id"], &*asked["scope"]), ("cms", "openid email profile"));
        let mut state = self.set();
        let code = format!("code-{}-{}", state.codes.len(), state.asked.values().sum::<usize>());
        state.codes.insert(code.clone(), (asked["nonce"].clone(), asked["code_challenge"].clone()));
        with(&asked["redirect_uri"], &[("code", &code), ("state", &asked["state"])])
    }
}

fn parameters(address: &str) -> HashMap<String, String> {
    url::Url::parse(address).expect("an address").query_pairs().into_owned().collect()
}

fn with(address: &str, pairs: &[(&str, &str)]) -> String {
    let mut url = url::Url::parse(address).expect("an address");
    url.query_pairs_mut().extend_pairs(pairs);
    url.into()
}

fn serve(mut stream: TcpStream, port: u16, behaviour: &Mutex<Behaviour>) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    lines.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut authorization) = (0, String::new());
    loop {
        let mut line = String::new();
        lines.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(':') else { break };
        match name.to_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "authorization" => value.trim().clone_into(&mut authorization),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    lines.read_exact(&mut body).ok()?;
    let issuer = format!("http://127.0.0.1:{port}");
    let text = String::from_utf8(body).ok()?;
    let (status, document) = behaviour.lock().expect("no panic").answer(&issuer, &path, &authorization, &text);
    let document = document.to_string();
    let length = document.len();
    write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{document}").ok()
}

/// The declaration of a provider, with more of it, and of what else the site has.
fn declared(provider: &Provider, more: &str) -> String {
    let issuer = provider.issuer();
    format!(
        "[outbound]\nnetworks = [\"127.0.0.0/8\"]\nports = [{}]\n[limits.wrong_credentials]\nenabled = false\n\
         [login.providers.idp]\nlabel = \"The Institute\"\nissuer = \"{issuer}\"\nclient = \"cms\"\nsecret = \"{SECRET}\"\n{more}",
        provider.port
    )
}

const GROUPS: &str = "roles.groups = { editors = \"editor\", admins = \"administrator\" }\n";

fn site(provider: &Provider, more: &str) -> Server {
    Server::over(with_profiles(&[], &declared(provider, more)), &[])
}

fn location(answer: &Answer) -> String {
    answer.header("location").unwrap_or_else(|| panic!("{} {}", answer.status, answer.text)).to_owned()
}

/// Begins a login: where the provider asks for consent.
fn begin(browser: &mut Browser<'_>, wanted: &str) -> String {
    let answer = browser.get(&format!("/login-with/idp?redirect={}", super::server::encoded(wanted)));
    assert_eq!(answer.status, 302, "{}", answer.text);
    location(&answer)
}

/// A whole login.
fn log_in(provider: &Provider, browser: &mut Browser<'_>) -> Answer {
    let address = begin(browser, "");
    browser.get(&provider.consent(&address))
}

/// Who is logged in: the name in the head of a page.
fn who(browser: &mut Browser<'_>) -> Option<String> {
    let page = browser.get("/profile");
    let (_, rest) = page.text.split_once("<a href=\"/profile\">")?;
    Some(rest.split('<').next()?.to_owned())
}

fn account(server: &Server, login: &str) -> Value {
    let found = server.admin("GET", &format!("/cms/v2/users?context=edit&per_page=100&search={login}"), None).body;
    let all = found.as_array().cloned().unwrap_or_default();
    all.into_iter().find(|user| user["username"] == login).unwrap_or_default()
}

fn users(server: &Server) -> usize {
    server.admin("GET", "/cms/v2/users?context=edit&per_page=100", None).body.as_array().map_or(0, Vec::len)
}

/// The audit trail's events with their changes, the newest first.
fn events(server: &Server) -> Vec<(String, String)> {
    let found = server.admin("GET", "/server/v1/audit?per_page=100", None);
    let all = found.body.as_array().cloned().unwrap_or_default();
    all.iter().map(|one| (one["event"].as_str().unwrap_or_default().to_owned(), one["changed"].to_string())).collect()
}

#[test]
fn a_person_gets_an_account_at_the_first_login_and_finds_it_at_the_next() {
    let provider = Provider::start();
    let server = site(&provider, GROUPS);
    let mut browser = Browser::new(&server);
    // The page that was asked for leads to the login, whose button leads to the provider.
    let login = location(&browser.get("/profile?of=me"));
    let page = browser.get(&login);
    assert!(page.text.contains(">Log in with The Institute</a>"), "{}", page.text);
    let (_, rest) = page.text.split_once("class=\"button\" href=\"").expect("a button");
    let button = rest.split('"').next().expect("an address").replace("&amp;", "&");
    let asked = browser.get(&button);
    assert_eq!(asked.status, 302, "{}", asked.text);
    assert_eq!(asked.header("cache-control"), Some("no-store, private"));
    let cookie = asked.header("set-cookie").expect("a cookie").to_owned();
    assert!(cookie.contains("; HttpOnly; SameSite=Lax; Max-Age=600"), "{cookie}");
    let answer = browser.get(&provider.consent(&location(&asked)));
    assert_eq!((answer.status, &*location(&answer)), (303, "/profile?of=me"), "{}", answer.text);
    assert_eq!(who(&mut browser).as_deref(), Some("zoe"));
    assert!(!browser.get("/profile").text.contains("name=\"current\""), "there is no password to give");
    let made = account(&server, "zoe");
    assert_eq!((&made["roles"], &made["email"]), (&json!(["editor"]), &json!("zoe@example.org")), "{made}");
    assert_eq!(made["name"], "Zoë Q", "{made}");
    let events = events(&server);
    assert!(
        events.iter().any(|(name, changed)| name == "account_made" && changed.contains("provider=idp")),
        "{events:?}"
    );
    assert!(events.iter().any(|(name, _)| name == "login"), "{events:?}");
    // Another name and address there, the same person: the address follows, the login stays.
    let renamed =
        json!({"preferred_username": "other", "email": "z@example.org", "email_verified": true, "groups": "editors"});
    provider.set().userinfo = renamed;
    let before = users(&server);
    assert_eq!(log_in(&provider, &mut Browser::new(&server)).status, 303);
    assert_eq!((users(&server), &account(&server, "zoe")["email"]), (before, &json!("z@example.org")));
    // Somebody else, who wants the same name.
    {
        let mut own = provider.set();
        own.claims = json!({"sub": "person-2"});
        own.userinfo = json!({"sub": "person-2", "preferred_username": "zoe", "groups": ["editors"]});
    }
    let mut other = Browser::new(&server);
    assert_eq!(log_in(&provider, &mut other).status, 303);
    assert_eq!(who(&mut other).as_deref(), Some("zoe-2"));
    // An account that is deleted is made again.
    let id = account(&server, "zoe")["id"].clone();
    let gone = server.admin("DELETE", &format!("/cms/v2/users/{id}?force=true&reassign=1"), None);
    assert_eq!(gone.status, 200, "{}", gone.text);
    provider.set().claims = json!({});
    provider.set().userinfo = json!({"preferred_username": "zoe", "groups": ["editors"]});
    assert_eq!(log_in(&provider, &mut browser).status, 303);
    assert_ne!(account(&server, "zoe")["id"], id);
    // Keys and description were read once.
    assert_eq!((provider.asked("/keys"), provider.asked("/.well-known/openid-configuration")), (1, 1));
}

#[test]
fn roles_are_those_of_the_claims_at_each_login() {
    let provider = Provider::start();
    let more = format!("{GROUPS}roles.\"realm.roles\" = {{ w = \"author\" }}\n");
    let server = site(&provider, &more);
    let roles = |claims: Value| {
        provider.set().userinfo = merged(json!({"preferred_username": "zoe"}), &claims);
        let mut browser = Browser::new(&server);
        let status = log_in(&provider, &mut browser).status;
        (status, account(&server, "zoe")["roles"].clone())
    };
    assert_eq!(roles(json!({"groups": ["admins"]})), (303, json!(["administrator"])));
    assert_eq!(roles(json!({"groups": ["admins", "editors", "root"]})), (303, json!(["editor", "administrator"])));
    assert_eq!(roles(json!({"realm": {"roles": ["w"]}})), (303, json!(["author"])));
    assert_eq!(roles(json!({"realm.roles": "w", "groups": {"editors": true}})), (303, json!(["author"])));
    // A value that is not declared gives nothing, whatever it is called.
    assert_eq!(roles(json!({"groups": ["administrator", "editor"], "roles": ["administrator"]})).0, 403);
    assert_eq!(account(&server, "zoe")["roles"], json!([]));
    // Whoever is demoted loses the rights in every session, and who is refused loses the sessions.
    assert_eq!(roles(json!({"groups": ["admins"]})).0, 303);
    let mut first = Browser::new(&server);
    assert_eq!(log_in(&provider, &mut first).status, 303);
    let settings = |browser: &mut Browser<'_>| browser.get("/profile").text.contains("href=\"/admin\"");
    assert!(settings(&mut first));
    assert_eq!(roles(json!({"groups": ["editors"]})), (303, json!(["editor"])));
    assert_eq!(who(&mut first).as_deref(), Some("zoe"));
    let (status, left) = roles(json!({}));
    assert_eq!((status, left), (403, json!([])));
    assert_eq!(who(&mut first), None, "the sessions have ended");
    assert!(events(&server).iter().any(|(name, _)| name == "login_refused"));
    // The last administrator keeps the role, and is refused all the same.
    assert_eq!(roles(json!({"groups": ["admins"]})).0, 303);
    let mut demote = server.args();
    demote.extend(["user", "role", "admin", "editor"]);
    assert!(run(&demote, "").status.success());
    provider.set().userinfo = json!({"preferred_username": "zoe"});
    assert_eq!(log_in(&provider, &mut Browser::new(&server)).status, 403);
    let mut list = server.args();
    list.extend(["user", "list"]);
    let listed = String::from_utf8(run(&list, "").stdout).expect("text");
    assert!(listed.lines().any(|line| line.contains("zoe") && line.contains("administrator")), "{listed}");
    // Nor is it exchanged for another one.
    provider.set().userinfo = json!({"preferred_username": "zoe", "groups": ["editors"]});
    let kept = log_in(&provider, &mut Browser::new(&server));
    assert_eq!(kept.status, 403, "{}", kept.text);
    assert!(kept.text.contains("Somebody has to have this role"), "{}", kept.text);
}

#[test]
fn without_roles_in_claims_accounts_have_those_of_the_site() {
    let provider = Provider::start();
    let server = site(&provider, "default_role = \"author\"\n");
    let mut browser = Browser::new(&server);
    assert_eq!(log_in(&provider, &mut browser).status, 303);
    let made = account(&server, "zoe");
    assert_eq!(made["roles"], json!(["author"]));
    let path = format!("/cms/v2/users/{}", made["id"]);
    assert_eq!(server.admin("POST", &path, Some(&json!({"roles": ["editor"]}))).status, 200);
    assert_eq!(log_in(&provider, &mut Browser::new(&server)).status, 303);
    assert_eq!(account(&server, "zoe")["roles"], json!(["editor"]));
    let closed = site(&provider, "create = false\n");
    let answer = log_in(&provider, &mut Browser::new(&closed));
    assert_eq!(answer.status, 403, "{}", answer.text);
    assert!(answer.text.contains("There is no account for you on this site"), "{}", answer.text);
}

#[test]
fn a_token_that_is_not_for_this_login_logs_nobody_in() {
    let provider = Provider::start();
    let server = site(&provider, GROUPS);
    assert_eq!(log_in(&provider, &mut Browser::new(&server)).status, 303);
    let before = users(&server);
    let hour = 3600;
    let claims = |claims: Value| (Signing::Right, claims, json!({}), json!({}));
    let signed = |signing: Signing| (signing, json!({}), json!({}), json!({}));
    let head = |head: Value| (Signing::Right, json!({}), head, json!({}));
    let tokens = |tokens: Value| (Signing::Right, json!({}), json!({}), tokens);
    let large = "x".repeat(1 << 20);
    let cases = [
        ("another issuer", claims(json!({"iss": "https://evil.example"}))),
        ("an issuer with a slash", claims(json!({"iss": format!("{}/", provider.issuer())}))),
        ("no issuer", claims(json!({"iss": null}))),
        ("another audience", claims(json!({"aud": "other"}))),
        ("no audience", claims(json!({"aud": null}))),
        ("two audiences and no party", claims(json!({"aud": ["cms", "other"]}))),
        ("another party", claims(json!({"aud": ["cms", "other"], "azp": "other"}))),
        ("a token that has ended", claims(json!({"exp": now() - hour, "iat": now() - 2 * hour}))),
        ("a clock that is an hour late", claims(json!({"iat": now() - hour, "exp": now() + hour}))),
        ("a clock that is an hour early", claims(json!({"iat": now() + hour, "exp": now() + 2 * hour}))),
        ("no end", claims(json!({"exp": null}))),
        ("an end that is a text", claims(json!({"exp": "9999999999"}))),
        ("no time", claims(json!({"iat": null}))),
        ("a beginning in an hour", claims(json!({"nbf": now() + hour}))),
        ("no nonce", claims(json!({"nonce": null}))),
        ("another nonce", claims(json!({"nonce": "of another login"}))),
        ("no subject", claims(json!({"sub": null}))),
        ("an empty subject", claims(json!({"sub": ""}))),
        ("another subject than elsewhere", claims(json!({"sub": "person-2"}))),
        ("claims of a megabyte", claims(json!({"groups": large}))),
        ("no signature", signed(Signing::Nothing)),
        ("the public key as a secret", signed(Signing::PublicKeyAsSecret)),
        ("a foreign key", signed(Signing::ForeignKey)),
        ("a changed part", signed(Signing::Changed)),
        ("a key that nobody has", head(json!({"kid": "unknown"}))),
        ("an algorithm of another key", head(json!({"alg": "RS256"}))),
        ("NONE in capitals", head(json!({"alg": "NONE"}))),
        ("something to be understood", head(json!({"crit": ["b64"], "b64": false}))),
        ("a key in the token", head(json!({"kid": null, "jwk": Key::new("own").published(), "alg": "none"}))),
        ("no ID token", tokens(json!({"id_token": null}))),
        ("an ID token of five parts", tokens(json!({"id_token": "a.b.c.d.e"}))),
        ("tokens of a megabyte", tokens(json!({"more": large}))),
    ];
    for (about, (signing, claims, head, tokens)) in cases {
        {
            let mut own = provider.set();
            (own.signing, own.claims, own.head, own.tokens) = (signing, claims, head, tokens);
        }
        let mut browser = Browser::new(&server);
        let answer = log_in(&provider, &mut browser);
        assert_eq!(answer.status, 403, "{about}: {}", answer.text);
        assert_eq!(who(&mut browser), None, "{about}");
        assert!(answer.text.contains("The answer of The Institute could not be taken"), "{about}: {}", answer.text);
    }
    assert_eq!(users(&server), before);
    assert!(events(&server).iter().any(|(name, changed)| name == "login_failed" && changed.contains("idp")));
    // A clock that is nearly right is one of those that there are.
    {
        let mut own = provider.set();
        (own.signing, own.head, own.tokens) = (Signing::Right, json!({}), json!({}));
        own.claims = json!({"iat": now() + 30, "aud": ["cms"], "azp": "cms"});
    }
    assert_eq!(log_in(&provider, &mut Browser::new(&server)).status, 303);
}

#[test]
fn an_answer_belongs_to_one_browser_and_is_good_once() {
    let provider = Provider::start();
    let server = site(&provider, GROUPS);
    let refused = |browser: &mut Browser<'_>, address: &str, about: &str| {
        let answer = browser.get(address);
        assert_eq!(answer.status, 400, "{about}: {}", answer.text);
        assert!(answer.text.contains("it began in another browser"), "{about}: {}", answer.text);
        assert_eq!(who(browser), None, "{about}");
    };
    let mut victim = Browser::new(&server);
    // An attacker makes a victim's browser finish the attacker's login.
    let mut attacker = Browser::new(&server);
    let address = begin(&mut attacker, "");
    let back = provider.consent(&address);
    refused(&mut victim, &back, "a browser without a cookie");
    begin(&mut victim, "");
    refused(&mut victim, &back, "a browser with a cookie of its own");
    // The code of one login with the state of another.
    let own = begin(&mut victim, "");
    let state = parameters(&own)["state"].clone();
    let code = parameters(&back)["code"].clone();
    let mixed = with(&format!("{}/login-with/idp/back", server.site), &[("code", &code), ("state", &state)]);
    assert_eq!(victim.get(&mixed).status, 403, "its verifier is another one");
    assert_eq!(who(&mut victim), None);
    for (about, state) in [
        ("none", String::new()),
        ("nonsense", "x.y".into()),
        ("a changed one", state.replacen(|c: char| c.is_ascii_alphanumeric(), "-", 1)),
        ("a long one", "a".repeat(20_000)),
    ] {
        let address = with(&format!("{}/login-with/idp/back", server.site), &[("code", "c"), ("state", &state)]);
        refused(&mut victim, &address, about);
    }
    // Good once, even where the provider takes the code twice.
    provider.set().forgetful = true;
    let back = provider.consent(&begin(&mut attacker, ""));
    assert_eq!(attacker.get(&back).status, 303);
    assert_eq!(who(&mut attacker).as_deref(), Some("zoe"));
    let asked = provider.asked("/token");
    // The back button leads on; after a logout it leads nowhere.
    assert_eq!(location(&attacker.get(&back)), "/admin");
    attacker.submit("/logout", "/logout", &[]);
    refused(&mut attacker, &back, "a login that has succeeded");
    assert_eq!(provider.asked("/token"), asked);
}

#[test]
fn two_tabs_do_not_disturb_each_other_and_a_refusal_is_none_of_the_site_s() {
    let provider = Provider::start();
    let server = site(&provider, GROUPS);
    let mut browser = Browser::new(&server);
    let (first, second) = (begin(&mut browser, "/profile?tab=1"), begin(&mut browser, "/profile?tab=2"));
    assert_ne!(parameters(&first)["state"], parameters(&second)["state"]);
    let (first, second) = (provider.consent(&first), provider.consent(&second));
    assert_eq!(location(&browser.get(&second)), "/profile?tab=2");
    assert_eq!(location(&browser.get(&first)), "/profile?tab=1");
    assert_eq!(who(&mut browser).as_deref(), Some("zoe"));
    // Two answers at once make one account.
    provider.set().claims = json!({"sub": "person-2"});
    provider.set().userinfo = json!({"sub": "person-2", "preferred_username": "both", "groups": ["editors"]});
    let before = users(&server);
    std::thread::scope(|scope| {
        let logins: Vec<_> = (0..4).map(|_| scope.spawn(|| log_in(&provider, &mut Browser::new(&server)))).collect();
        for login in logins {
            let answer = login.join().expect("an answer");
            assert_eq!(answer.status, 303, "{}", answer.text);
        }
    });
    assert_eq!(users(&server), before + 1);
    // Somebody who is logged in is not sent away.
    assert_eq!(location(&browser.get("/login-with/idp?redirect=/profile")), "/profile");
    // Cancelled consent: the button leads to the same page once more.
    let mut other = Browser::new(&server);
    let state = parameters(&begin(&mut other, "/profile?tab=3"))["state"].clone();
    let place = format!("{}/login-with/idp/back", server.site);
    let said = "<script>alert(1)</script>";
    let answer =
        other.get(&with(&place, &[("error", "access_denied"), ("error_description", said), ("state", &state)]));
    assert_eq!(answer.status, 403);
    assert!(answer.text.contains("You did not log in with The Institute."), "{}", answer.text);
    assert!(
        answer.text.contains("redirect=%2Fprofile%3Ftab%3D3") && !answer.text.contains("alert("),
        "{}",
        answer.text
    );
    let stranger = Browser::new(&server).get(&with(&place, &[("error", "access_denied"), ("state", &state)]));
    assert_eq!(stranger.status, 400, "{}", stranger.text);
    for (method, path) in [("POST", "/login-with/idp"), ("POST", "/login-with/idp/back"), ("GET", "/login-with/none")] {
        let answer = Browser::new(&server).send(method, path, (method == "POST").then_some(&[]), &[]);
        assert!([302, 404].contains(&answer.status), "{method} {path}: {}", answer.status);
        assert!(!answer.header("location").is_some_and(|place| place.contains("authorize?")), "{method} {path}");
    }
}

#[test]
fn a_login_leads_to_a_place_on_the_site_alone() {
    let provider = Provider::start();
    let server = site(&provider, GROUPS);
    let long = format!("/profile?{}", "a".repeat(3000));
    for (wanted, place) in [
        ("/profile?a=b", "/profile?a=b"),
        ("", "/admin"),
        ("https://evil.example/", "/admin"),
        ("//evil.example/", "/admin"),
        ("/\\evil.example/", "/admin"),
        ("\\\\evil.example", "/admin"),
        ("javascript:alert(1)", "/admin"),
        ("https://user@127.0.0.1/", "/admin"),
        ("/profile\r\nSet-Cookie: a=b", "/admin"),
        (&long, "/admin"),
    ] {
        let mut browser = Browser::new(&server);
        let address = begin(&mut browser, wanted);
        let answer = browser.get(&provider.consent(&address));
        assert_eq!((answer.status, &*location(&answer)), (303, place), "{wanted:?}");
    }
}

#[test]
fn a_login_goes_on_below_a_path_and_behind_a_proxy() {
    let provider = Provider::start();
    let port = free_address().port();
    let host = format!("http://127.0.0.1:{port}");
    let own = [format!("server.listen=127.0.0.1:{port}"), format!("site.url={host}/blog")];
    let server = Server::over(with_profiles(&[], &declared(&provider, GROUPS)), &own.each_ref().map(String::as_str));
    let mut browser = Browser::new(&server);
    let page = browser.get(&format!("{host}/blog/login"));
    assert!(page.text.contains("class=\"button\" href=\"/blog/login-with/idp\""), "{}", page.text);
    let asked = browser.get(&format!("{host}/blog/login-with/idp?redirect=/blog/profile"));
    assert!(asked.header("set-cookie").is_some_and(|cookie| cookie.contains("; Path=/blog;")), "{}", asked.text);
    let back = provider.consent(&location(&asked));
    assert!(back.starts_with(&format!("{host}/blog/login-with/idp/back?")), "{back}");
    assert_eq!(location(&browser.get(&back)), "/blog/profile");
    // Over HTTPS no other site of the domain can set the cookie.
    let server =
        Server::over(with_profiles(&[], &declared(&provider, GROUPS)), &["server.trusted_proxies=[\"127.0.0.1\"]"]);
    let https: &[(&str, &str)] = &[("x-forwarded-proto", "https"), ("x-forwarded-for", "192.0.2.7")];
    let mut browser = Browser::new(&server);
    let asked = browser.send("GET", "/login-with/idp", None, https);
    let cookie = asked.header("set-cookie").expect("a cookie").to_owned();
    assert!(cookie.starts_with("__Host-cms_login=") && cookie.contains("; Secure"), "{cookie}");
    let back = provider.consent(&location(&asked));
    assert_eq!(Browser::new(&server).send("GET", &back, None, https).status, 400);
    let plain = browser.cookie.replace("__Host-", "");
    let mut sibling = Browser { server: &server, cookie: plain };
    assert_eq!(sibling.send("GET", &back, None, https).status, 400, "a sibling's cookie does not count");
    assert_eq!(browser.send("GET", &back, None, https).status, 303);
}

#[test]
fn the_answer_of_one_provider_is_nothing_to_another() {
    let (honest, evil) = (Provider::start(), Provider::start());
    let second = format!(
        "[login.providers.evil]\nissuer = \"{}\"\nclient = \"cms\"\nsecret = \"{SECRET}\"\n{GROUPS}",
        evil.issuer()
    );
    let text = declared(&honest, &format!("{GROUPS}{second}"));
    let ports = format!("ports = [{}, {}]", honest.port, evil.port);
    let text = text.replace(&format!("ports = [{}]", honest.port), &ports);
    let server = Server::over(with_profiles(&[], &text), &[]);
    let mut browser = Browser::new(&server);
    // The evil one sends the browser on to the honest one, whose answer comes back to either address.
    let asked = location(&browser.get("/login-with/evil"));
    let code = parameters(&honest.consent(&begin(&mut browser, "")))["code"].clone();
    let state = parameters(&asked)["state"].clone();
    let to = |name: &str, more: &[(&str, &str)]| {
        let place = format!("{}/login-with/{name}/back", server.site);
        with(&with(&place, &[("code", &code), ("state", &state)]), more)
    };
    assert_eq!(browser.get(&to("idp", &[])).status, 400, "the state is of the other one");
    assert_eq!(browser.get(&to("evil", &[("iss", &honest.issuer())])).status, 403, "it names another one");
    assert_eq!(evil.asked("/token"), 0, "the code was given to nobody");
    // The same subject at each of them is another person.
    assert_eq!(log_in(&honest, &mut browser).status, 303);
    let mut other = Browser::new(&server);
    evil.set().userinfo = json!({"preferred_username": "zoe", "groups": ["editors"]});
    let asked = location(&other.get("/login-with/evil"));
    assert_eq!(other.get(&evil.consent(&asked)).status, 303);
    assert_eq!(who(&mut other).as_deref(), Some("zoe-2"));
    // Where a provider says that it names itself, it has to.
    honest.set().about = json!({"authorization_response_iss_parameter_supported": true});
    let server = site(&honest, GROUPS);
    let mut browser = Browser::new(&server);
    let back = honest.consent(&begin(&mut browser, ""));
    assert_eq!(browser.get(&back).status, 403);
    let back = honest.consent(&begin(&mut browser, ""));
    assert_eq!(browser.get(&with(&back, &[("iss", &honest.issuer())])).status, 303);
}

#[test]
fn keys_change_and_are_not_asked_for_all_the_time() {
    let provider = Provider::start();
    let server = site(&provider, GROUPS);
    assert_eq!(log_in(&provider, &mut Browser::new(&server)).status, 303);
    assert_eq!(provider.asked("/keys"), 1);
    // A new key is seen at the first token that is signed with it.
    provider.set().key = Key::new("second");
    for _ in 0..2 {
        assert_eq!(log_in(&provider, &mut Browser::new(&server)).status, 303);
        assert_eq!(provider.asked("/keys"), 2);
    }
    // Within the minute no further one is, whoever asks how often.
    provider.set().key = Key::new("third");
    for _ in 0..5 {
        assert_eq!(log_in(&provider, &mut Browser::new(&server)).status, 403);
    }
    assert_eq!(provider.asked("/keys"), 2);
    let server = site(&provider, GROUPS);
    assert_eq!(log_in(&provider, &mut Browser::new(&server)).status, 303);
}

#[test]
fn accounts_are_taken_by_a_checked_address_alone_and_only_as_declared() {
    let provider = Provider::start();
    let person = |sub: &str, email: &str, checked: bool| {
        let mut own = provider.set();
        own.claims = json!({"sub": sub});
        own.userinfo = json!({"sub": sub, "preferred_username": "p", "email": email, "email_verified": checked});
    };
    let closed = site(&provider, "");
    closed.user("eva", "author");
    let email = account(&closed, "eva")["email"].as_str().expect("an address").to_owned();
    person("eva-there", &email, true);
    let answer = log_in(&provider, &mut Browser::new(&closed));
    assert_eq!(answer.status, 403);
    assert!(answer.text.contains("which is not connected with this login"), "{}", answer.text);
    // The checked one is the address beside it.
    provider.set().claims = json!({"sub": "eva-there", "email": email});
    provider.set().userinfo =
        json!({"sub": "eva-there", "preferred_username": "q", "email": "e@example.org", "email_verified": true});
    let linked = site(&provider, "link_by_email = true\n");
    linked.user("eva", "author");
    let mut browser = Browser::new(&linked);
    assert_eq!(log_in(&provider, &mut browser).status, 303);
    assert_eq!(who(&mut browser).as_deref(), Some("q"));
    // An address that nobody has checked is nobody's: the account gets one that never receives.
    person("eva-there", &email, false);
    let mut browser = Browser::new(&closed);
    assert_eq!(log_in(&provider, &mut browser).status, 303);
    assert_eq!(who(&mut browser).as_deref(), Some("p"));
    assert!(account(&closed, "p")["email"].as_str().is_some_and(|own| own.ends_with("@invalid")));

    let server = site(&provider, "link_by_email = true\n");
    server.user("eva", "author");
    person("eva-there", &email.to_uppercase(), true);
    assert_eq!(log_in(&provider, &mut Browser::new(&server)).status, 303);
    assert!(events(&server).iter().any(|(name, _)| name == "account_linked"));
    let mut browser = Browser::new(&server);
    assert_eq!(log_in(&provider, &mut browser).status, 303);
    assert_eq!(who(&mut browser).as_deref(), Some("eva"));
    // The provider gives the address to another person.
    person("another", &email, true);
    assert_eq!(log_in(&provider, &mut Browser::new(&server)).status, 403);
    // Unless the operator parts the account from the person before.
    let mut unlink = server.args();
    unlink.extend(["user", "unlink", "eva"]);
    let done = run(&unlink, "");
    let said = String::from_utf8(done.stdout).expect("text");
    assert_eq!(said, format!("eva is not eva-there at {} any more; the sessions were ended\n", provider.issuer()));
    assert_eq!(who(&mut browser), None);
    assert!(!run(&unlink, "").status.success(), "there is nobody left");
    assert_eq!(log_in(&provider, &mut browser).status, 303);
    assert_eq!(who(&mut browser).as_deref(), Some("eva"));
    // Somebody has written another one's address into an own account, and waits for that one to log in.
    server.user("mallory", "author");
    let set = "UPDATE \"user\" SET email_pending = 1, email = 'v@example.org', email_key = 'v@example.org' WHERE login = 'mallory'";
    server.sql(set);
    person("victim", "v@example.org", true);
    assert_eq!(log_in(&provider, &mut Browser::new(&server)).status, 403);
}

#[test]
fn a_logout_leads_to_the_provider_that_the_login_came_from() {
    let provider = Provider::start();
    let server = site(&provider, GROUPS);
    let mut browser = Browser::new(&server);
    assert_eq!(log_in(&provider, &mut browser).status, 303);
    let out = browser.submit("/logout", "/logout", &[]);
    assert_eq!(out.status, 200, "{}", out.text);
    let place = out.header("refresh").and_then(|text| text.strip_prefix("0; url=")).expect("a place").to_owned();
    assert!(place.starts_with(&format!("{}/end?", provider.issuer())), "{place}");
    let asked = parameters(&place);
    assert_eq!((&*asked["client_id"], &asked["post_logout_redirect_uri"]), ("cms", &format!("{}/login", server.site)));
    assert_eq!(asked["id_token_hint"].split('.').count(), 3);
    assert!(out.text.contains("The Institute asks whether you log out there, too"), "{}", out.text);
    assert_eq!(who(&mut browser), None);
    // Whoever came with a password, or where that is declared, logs out here alone.
    let mut other = Browser::of(&server, "admin", PASSWORD);
    assert_eq!(location(&other.submit("/logout", "/logout", &[])), "/login");
    let quiet = site(&provider, "logout = false\n");
    let mut browser = Browser::new(&quiet);
    assert_eq!(log_in(&provider, &mut browser).status, 303);
    assert_eq!(location(&browser.submit("/logout", "/logout", &[])), "/login");
}

#[test]
fn roles_may_have_no_password_but_for_one_account() {
    let provider = Provider::start();
    let roles = "[roles.author]\npassword_login = false\n[roles.administrator]\npassword_login = false\n";
    let programs = "[xmlrpc]\naccount_passwords = true\n";
    let tokens = format!("{GROUPS}[login]\nbreak_glass = \"admin\"\n{roles}{programs}");
    let server = Server::over(with_profiles(&["login-tokens"], &declared(&provider, &tokens)), &[]);
    let add = |login: &str, role: &str| {
        let email = format!("{login}@example.org");
        let mut args = server.args();
        args.extend(["user", "add", login, &email, "--role", role, "--password-stdin"]);
        assert!(run(&args, &format!("{PASSWORD}\n")).status.success());
    };
    add("eva", "author");
    add("otto", "administrator");
    add("ida", "editor");
    let form = |login, password| [("login", login), ("password", password)];
    let mut browser = Browser::new(&server);
    for (login, password, status) in [
        ("eva", PASSWORD, 403),
        ("eva", "a wrong password", 401),
        ("otto", PASSWORD, 403),
        ("eva@example.org", PASSWORD, 403),
        ("nobody", PASSWORD, 401),
        ("ida", PASSWORD, 303),
        ("admin", PASSWORD, 303),
    ] {
        let answer = Browser::new(&server).post("/login", &form(login, password));
        assert_eq!(answer.status, status, "{login}: {}", answer.text);
    }
    let told = browser.post("/login", &form("eva", PASSWORD));
    assert!(told.text.contains("does not log in with a password"), "{}", told.text);
    // The same wherever an account's password is taken.
    let body = json!({"username": "eva", "password": PASSWORD});
    let token = server.ask("POST", "/jwt-auth/v1/token", None, Some(&body));
    assert_eq!(token.status, 403, "{}", token.text);
    let said = fault(&server, &("eva".to_owned(), PASSWORD.to_owned()));
    assert!(said.contains("faultCode") && said.contains("does not log in with a password"), "{said}");
    let own = fault(&server, &("ida".to_owned(), PASSWORD.to_owned()));
    assert!(!own.contains("faultCode"), "{own}");
    // Application passwords are not concerned.
    let (login, secret) = server.user("uwe", "author");
    assert_eq!(server.ask("GET", "/cms/v2/users/me", Some(&(login, secret)), None).status, 200);
}

#[test]
fn a_provider_that_is_wrong_or_does_not_answer_is_named() {
    let provider = Provider::start();
    let server = site(&provider, GROUPS);
    let doctor = |server: &Server| {
        let own = format!("site.url={}", server.site);
        let mut args = server.args();
        args.extend(["--set", &own, "doctor", "--url", &server.site]);
        let done = run(&args, "");
        format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr))
    };
    let said = doctor(&server);
    assert!(said.contains("good   people can log in with idp"), "{said}");
    for (login, said) in [
        ("Admin", "good   the account Admin has a password"),
        ("nobody", "WRONG  the account nobody has a password (login.break_glass): there is no such account"),
    ] {
        let emergencies = site(&provider, &format!("[login]\nbreak_glass = \"{login}\"\n"));
        let found = doctor(&emergencies);
        assert!(found.contains(said), "{login}: {found}");
    }
    for (about, why) in [
        (json!({"issuer": "https://other.example"}), "it calls itself"),
        (json!({"token_endpoint": "http://192.0.2.1/token"}), "token_endpoint is no encrypted address"),
        (json!({"jwks_uri": null}), "it has no jwks_uri"),
        (json!({"id_token_signing_alg_values_supported": ["HS256", "none"]}), "it signs with none of"),
        (json!({"response_types_supported": ["id_token"]}), "it gives no codes"),
        (json!({"more": "x".repeat(1 << 20)}), "more than 65536 bytes"),
        (json!({"jwks_uri": format!("{}/nothing", provider.issuer())}), "the answer is 404"),
    ] {
        provider.set().about = about;
        let said = doctor(&server);
        assert!(said.contains("WRONG  people can log in with idp") && said.contains(why), "{why}: {said}");
        assert!(said.contains("check [login.providers.idp]"), "{said}");
    }
    // A person is told, and what exactly is in the log.
    provider.set().about = json!({"issuer": "https://other.example"});
    let fresh = site(&provider, GROUPS);
    let mut browser = Browser::new(&fresh);
    let asked = provider.asked("/.well-known/openid-configuration");
    let answer = browser.get("/login-with/idp?redirect=/profile");
    assert_eq!(answer.status, 503);
    assert!(answer.text.contains("The Institute cannot be asked at the moment"), "{}", answer.text);
    assert!(answer.text.contains("redirect=%2Fprofile"), "{}", answer.text);
    fresh.log_until("idp logs nobody in");
    assert_eq!(Browser::new(&fresh).get("/login-with/idp").status, 503);
    assert_eq!(provider.asked("/.well-known/openid-configuration"), asked + 1, "it is not asked again at once");
    // A provider that does not listen, and one that may not be asked.
    let nobody = free_address().port();
    let text = declared(&provider, "").replace(&provider.port.to_string(), &nobody.to_string());
    let silent = Server::over(with_profiles(&[], &text), &[]);
    assert_eq!(Browser::new(&silent).get("/login-with/idp").status, 503);
    let text = declared(&provider, "").replace("networks = [\"127.0.0.0/8\"]", "networks = []");
    let private = Server::over(with_profiles(&[], &text), &[]);
    assert_eq!(Browser::new(&private).get("/login-with/idp").status, 503);
    assert!(doctor(&private).contains("outbound.networks"), "{}", doctor(&private));
    // A secret that cannot be read.
    let text = declared(&provider, "").replace(&format!("secret = \"{SECRET}\""), "secret_file = \"/nowhere\"");
    let lost = Server::over(with_profiles(&[], &text), &[]);
    let mut check = lost.args();
    check.push("check");
    let done = run(&check, "");
    let said = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(said.contains("login.providers.idp.secret_file: /nowhere"), "{said}");
    provider.set().about = json!({});
    assert!(doctor(&lost).contains("secret_file: /nowhere"), "{}", doctor(&lost));
}

#[test]
fn the_second_factor_of_an_account_is_asked_for_where_that_is_declared() {
    let provider = Provider::start();
    let required = "[roles.editor]\nsecond_factor = \"required\"\nsecond_factor_grace = \"0s\"\n";
    // The provider's own suffice, also where the role requires one.
    let server = site(&provider, &format!("{GROUPS}{required}"));
    let mut browser = Browser::new(&server);
    assert_eq!(location(&log_in(&provider, &mut browser)), "/admin");
    assert_eq!(browser.get("/admin").status, 200);
    let server = site(&provider, &format!("second_factor = true\n{GROUPS}{required}"));
    let mut browser = Browser::new(&server);
    assert_eq!(location(&log_in(&provider, &mut browser)), "/second-factor");
    assert!(!browser.get("/profile").text.contains("href=\"/admin\""));
    // Who has no password sets one up after the login.
    let (secret, _) = set_up(&server, &mut browser, "");
    assert_eq!(browser.get("/admin").status, 200);
    let mut other = Browser::new(&server);
    let asked = begin(&mut other, "/profile?a=b");
    let back = provider.consent(&asked);
    let page = other.get(&back);
    assert_eq!(page.status, 200, "{}", page.text);
    assert_eq!(who(&mut other), None, "there is no session yet");
    assert_eq!(other.get(&back).status, 400, "the answer is used up");
    let (pending, redirect) = (field(&page, "pending"), field(&page, "redirect"));
    let wrong = [("pending", &*pending), ("redirect", &*redirect), ("code", "000000")];
    assert_eq!(other.post("/login", &wrong).status, 403);
    let right = code(&secret, 0);
    let answer = other.post("/login", &[("pending", &pending), ("redirect", &redirect), ("code", &right)]);
    assert_eq!((answer.status, &*location(&answer)), (303, "/profile?a=b"), "{}", answer.text);
    assert_eq!(who(&mut other).as_deref(), Some("zoe"));
    // The session knows its provider.
    let out = other.submit("/logout", "/logout", &[]);
    assert!(out.header("refresh").is_some_and(|place| place.contains("/end?") && !place.contains("id_token_hint")));
}
