//! An identity provider: what it says of itself (OpenID Connect Discovery), its keys, and what it is asked for at the end of a
//! login. Every request is one of `[outbound]`, so it reaches what that allows, has its time, and holds no worker.
//!
//! A provider's description of itself and its keys stay for an hour; a token with an unknown key makes its keys be read again, at
//! most once a minute. All of it is read from documents of limited size, so a provider takes no more memory than a few of these.

use super::id_token::{self, ALGORITHMS, Claims, Expected, KeySet, TokenError};
use super::pending::LoginProofs;
use crate::access::addresses;
use crate::outbound::{FetchError, Outbound, OutgoingRequest, is_safe};
use crate::registry::Registry;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cms_base::pool::JobOwner;
use cms_declaration::IdentityProvider;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};

/// How long a provider's description and its keys are used, and how long it is not asked again after it did not answer.
const FRESH: Duration = Duration::from_secs(3600);
const PAUSE: Duration = Duration::from_secs(5);

/// How often keys are read again at most because a token has an unknown one.
const RENEWAL: Duration = Duration::from_secs(60);

/// Most bytes of an answer: a description, keys, tokens, claims.
const MOST: u64 = 64 << 10;

/// Why a provider does not log somebody in. The words are for operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderError {
    /// It does not answer, or the queue is full.
    Unreachable(String),
    /// It answers what it must not.
    Wrong(String),
}

impl ProviderError {
    /// In words for operators.
    pub fn why(&self) -> &str {
        match self {
            ProviderError::Unreachable(why) | ProviderError::Wrong(why) => why,
        }
    }
}

/// A declared provider.
pub struct OpenIdProvider {
    pub name: String,
    pub declared: IdentityProvider,
    /// Where the provider sends people back to.
    redirect: String,
    /// Seconds by which the clocks may differ.
    skew: i64,
    secret: Result<Option<String>, String>,
    known: Mutex<Known>,
}

/// The documents that were read a while ago, and when.
#[derive(Default)]
struct Known {
    about: Option<(Instant, Result<Arc<Metadata>, ProviderError>)>,
    keys: Option<(Instant, Arc<KeySet>)>,
    /// When keys were read because of an unknown one.
    renewed: Option<Instant>,
}

/// A provider's description of itself.
#[derive(Clone, Debug, PartialEq)]
struct Metadata {
    authorization: Url,
    token: Url,
    keys: Url,
    userinfo: Option<Url>,
    end_session: Option<Url>,
    /// It names itself when it sends people back (RFC 9207).
    names_itself: bool,
    /// It takes the secret in the form alone.
    secret_in_form: bool,
}

/// The parameters that a provider sends a person back with.
#[derive(Clone, Copy, Debug)]
pub struct ProviderAnswer<'a> {
    pub code: &'a str,
    /// Empty: it does not name itself.
    pub issuer: &'a str,
}

/// Whom a provider has logged in.
#[derive(Debug)]
pub struct ProvenPerson {
    pub subject: String,
    pub claims: Claims,
    pub id_token: String,
}

/// The last part of the address that a provider sends people back to.
pub const BACK: &str = "/back";

impl OpenIdProvider {
    /// The declared providers.
    pub fn declared(registry: &Registry) -> Vec<OpenIdProvider> {
        let declared = &registry.declaration;
        let place = |name: &str| format!("{}{}/{name}{BACK}", registry.site.url, declared.pages.provider);
        let skew = declared.login.clock_skew.seconds_signed();
        let providers = declared.login.providers.iter();
        providers.map(|(name, provider)| OpenIdProvider::new(name, provider, place(name), skew)).collect()
    }

    /// A provider that leads back to `redirect`. Its secret is read now.
    fn new(name: &str, declared: &IdentityProvider, redirect: String, skew: i64) -> OpenIdProvider {
        OpenIdProvider {
            name: name.to_owned(),
            declared: declared.clone(),
            redirect,
            skew,
            secret: secret(name, declared),
            known: Mutex::default(),
        }
    }

    /// The name for people.
    pub fn title(&self) -> &str {
        self.declared.title(&self.name)
    }

    /// The address at the provider where a person logs in.
    ///
    /// # Errors
    /// The provider is not described.
    pub async fn login_address(
        &self,
        outbound: &Outbound,
        owner: JobOwner,
        proofs: &LoginProofs,
    ) -> Result<String, ProviderError> {
        let about = self.about(outbound, owner).await?;
        let scopes = ["openid"].into_iter().chain(self.declared.scopes.iter().map(String::as_str));
        let scopes: Vec<&str> = scopes.collect();
        let challenge = proofs.challenge();
        Ok(addresses::with(
            &about.authorization,
            &[
                ("response_type", "code"),
                ("client_id", &self.declared.client),
                ("redirect_uri", &self.redirect),
                ("scope", &scopes.join(" ")),
                ("state", &proofs.state),
                ("nonce", &proofs.nonce),
                ("code_challenge", &challenge),
                ("code_challenge_method", "S256"),
            ],
        ))
    }

    /// The address at the provider where a person logs out and is sent back from; `None`: there is none.
    pub async fn logout_address(
        &self,
        outbound: &Outbound,
        owner: JobOwner,
        (id_token, back): (&str, &str),
    ) -> Option<String> {
        let about = self.about(outbound, owner).await.ok()?;
        let mut pairs = vec![("client_id", &*self.declared.client), ("post_logout_redirect_uri", back)];
        pairs.extend((!id_token.is_empty()).then_some(("id_token_hint", id_token)));
        Some(addresses::with(about.end_session.as_ref()?, &pairs))
    }

    /// Whom the provider has logged in, for what it sent the person back with.
    ///
    /// # Errors
    /// The answer is not for this login, or the provider does not answer.
    pub async fn person(
        &self,
        outbound: &Outbound,
        owner: JobOwner,
        (answer, proofs, now): (ProviderAnswer<'_>, &LoginProofs, i64),
    ) -> Result<ProvenPerson, ProviderError> {
        let wrong = |why: &str| ProviderError::Wrong(why.to_owned());
        let about = self.about(outbound, owner).await?;
        // A code of another provider must not be given to this one (mix-up).
        let named = !answer.issuer.is_empty();
        if named && answer.issuer != self.declared.issuer || about.names_itself && !named {
            return Err(wrong("the answer is from another issuer"));
        }
        let tokens = self.tokens(outbound, owner, &about, (answer.code, &proofs.verifier)).await?;
        let text = |name: &str| tokens[name].as_str();
        let id_token = text("id_token").ok_or_else(|| wrong("there is no ID token"))?;
        let expected = Expected {
            issuer: &self.declared.issuer,
            client: &self.declared.client,
            nonce: &proofs.nonce,
            now,
            skew: self.skew,
        };
        let mut checked = id_token::verified(id_token, &*self.keys(outbound, owner, &about, false).await?, &expected);
        if checked == Err(TokenError::UnknownKey) {
            let keys = self.keys(outbound, owner, &about, true).await?;
            checked = id_token::verified(id_token, &keys, &expected);
        }
        let signed = checked.map_err(|error| match error {
            TokenError::UnknownKey => wrong("the ID token is signed with a key that the provider does not have"),
            TokenError::Wrong(why) => wrong(why),
        })?;
        let subject = id_token::subject(&signed).unwrap_or_default().to_owned();
        let mut claims = match (&about.userinfo, text("access_token")) {
            (Some(address), Some(token)) => userinfo(outbound, owner, address, (token, &subject)).await?,
            _ => Claims::new(),
        };
        if signed.contains_key("email") {
            // The checked one is the address beside it, which may be another one.
            claims.remove("email_verified");
        }
        claims.extend(signed);
        Ok(ProvenPerson { subject, claims, id_token: id_token.to_owned() })
    }

    /// Whether people can log in by the provider, as far as that shows without one.
    ///
    /// # Errors
    /// The first problem, in words for operators.
    pub async fn examine(&self, outbound: &Outbound, owner: JobOwner) -> Result<(), String> {
        let words = |error: ProviderError| error.why().to_owned();
        let about = self.about(outbound, owner).await.map_err(words)?;
        self.secret.clone()?;
        self.keys(outbound, owner, &about, false).await.map(drop).map_err(words)
    }

    /// The problem of the declared secret, in words for operators.
    pub fn unreadable_secret(&self) -> Option<&str> {
        self.secret.as_ref().err().map(String::as_str)
    }

    async fn about(&self, outbound: &Outbound, owner: JobOwner) -> Result<Arc<Metadata>, ProviderError> {
        // Whoever comes while it is being read waits for the same answer.
        let mut known = self.known.lock().await;
        if let Some((at, about)) = &known.about
            && at.elapsed() < if about.is_ok() { FRESH } else { PAUSE }
        {
            return about.clone();
        }
        let address = format!("{}/.well-known/openid-configuration", self.declared.issuer.trim_end_matches('/'));
        let about = match Url::parse(&address) {
            Ok(url) => json(outbound, owner, &url, get(None)).await.and_then(|document| {
                Metadata::read(&self.declared.issuer, &document).map(Arc::new).map_err(ProviderError::Wrong)
            }),
            Err(_) => Err(ProviderError::Wrong("the issuer is no address".into())),
        };
        let about = about.map_err(|error| match error {
            ProviderError::Unreachable(why) => ProviderError::Unreachable(format!("{address}: {why}")),
            ProviderError::Wrong(why) => ProviderError::Wrong(format!("{address}: {why}")),
        });
        known.about = Some((Instant::now(), about.clone()));
        about
    }

    /// The provider's keys; `renewed`: those that it has now, unless they were read for that a moment ago.
    async fn keys(
        &self,
        outbound: &Outbound,
        owner: JobOwner,
        about: &Metadata,
        renewed: bool,
    ) -> Result<Arc<KeySet>, ProviderError> {
        let mut known = self.known.lock().await;
        let again = renewed && known.renewed.is_none_or(|at| at.elapsed() >= RENEWAL);
        if let Some((at, keys)) = known.keys.as_ref().filter(|_| !again)
            && at.elapsed() < FRESH
        {
            return Ok(Arc::clone(keys));
        }
        if again {
            known.renewed = Some(Instant::now());
        }
        let document = json(outbound, owner, &about.keys, get(None)).await?;
        let keys = KeySet::read(&document).filter(|keys| !keys.is_empty());
        let keys =
            keys.ok_or_else(|| ProviderError::Wrong(format!("{}: there are no keys that are known", about.keys)))?;
        let keys = Arc::new(keys);
        known.keys = Some((Instant::now(), Arc::clone(&keys)));
        Ok(keys)
    }

    async fn tokens(
        &self,
        outbound: &Outbound,
        owner: JobOwner,
        about: &Metadata,
        (code, verifier): (&str, &str),
    ) -> Result<Value, ProviderError> {
        let client = &*self.declared.client;
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &self.redirect),
            ("code_verifier", verifier),
        ];
        let mut headers = vec![("Content-Type".to_owned(), "application/x-www-form-urlencoded".to_owned())];
        match self.secret.as_ref().map_err(|why| ProviderError::Wrong(why.clone()))? {
            Some(secret) if !about.secret_in_form => {
                let coded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
                let pair = STANDARD.encode(format!("{}:{}", coded(client), coded(secret)));
                headers.push(("Authorization".to_owned(), format!("Basic {pair}")));
            }
            Some(secret) => form.extend([("client_id", client), ("client_secret", secret)]),
            None => form.push(("client_id", client)),
        }
        let body = Serializer::new(String::new()).extend_pairs(form).finish().into_bytes();
        headers.push(ACCEPT.map(str::to_owned).into());
        json(outbound, owner, &about.token, OutgoingRequest { method: "POST".into(), headers, body }).await
    }
}

const ACCEPT: [&str; 2] = ["Accept", "application/json"];

fn get(bearer: Option<&str>) -> OutgoingRequest {
    let mut headers = vec![ACCEPT.map(str::to_owned).into()];
    headers.extend(bearer.map(|token| ("Authorization".to_owned(), format!("Bearer {token}"))));
    OutgoingRequest { method: "GET".into(), headers, body: Vec::new() }
}

/// The claims about a person besides those of the ID token.
async fn userinfo(
    outbound: &Outbound,
    owner: JobOwner,
    address: &Url,
    (token, subject): (&str, &str),
) -> Result<Claims, ProviderError> {
    match json(outbound, owner, address, get(Some(token))).await? {
        Value::Object(claims) if claims.get("sub").and_then(Value::as_str) == Some(subject) => Ok(claims),
        _ => Err(ProviderError::Wrong(format!("{address}: the claims are about somebody else"))),
    }
}

/// The secret that a provider knows the site by; what is wrong, in words for operators.
fn secret(name: &str, declared: &IdentityProvider) -> Result<Option<String>, String> {
    let Some(file) = declared.secret_file.get() else { return Ok(declared.secret.get().cloned()) };
    let place = format!("login.providers.{name}.secret_file: {file}");
    let text = std::fs::read_to_string(file).map_err(|error| format!("{place}: {error}"))?;
    match text.lines().next().map(str::trim) {
        Some(secret) if !secret.is_empty() => Ok(Some(secret.to_owned())),
        _ => Err(format!("{place}: the first line is empty")),
    }
}

/// The document that an address answers with.
async fn json(
    outbound: &Outbound,
    owner: JobOwner,
    url: &Url,
    request: OutgoingRequest,
) -> Result<Value, ProviderError> {
    let wrong = |why: String| ProviderError::Wrong(format!("{url}: {why}"));
    let unreachable = |why: &str| ProviderError::Unreachable(format!("{url}: {why}"));
    let answer = outbound.ask(owner, url, request, MOST).await.map_err(|error| match error {
        FetchError::Address(why) => unreachable(&format!("{why} (outbound.networks, outbound.ports)")),
        FetchError::Nothing(why) => unreachable(&why),
        FetchError::Busy => unreachable("too many requests wait (outbound.queue)"),
        FetchError::TooLarge => wrong(format!("the answer has more than {MOST} bytes")),
        FetchError::Status(status) => wrong(format!("the answer is {status}")),
    })?;
    if answer.status != crate::error::status::OK {
        let error: Value = serde_json::from_str(&answer.text).unwrap_or_default();
        let code: String = error["error"].as_str().unwrap_or_default().chars().take(60).collect();
        return Err(wrong(format!("the answer is {} {code}", answer.status)));
    }
    serde_json::from_str(&answer.text).map_err(|error| wrong(format!("the answer is no JSON: {error}")))
}

impl Metadata {
    fn read(issuer: &str, document: &Value) -> Result<Metadata, String> {
        let own = document["issuer"].as_str().unwrap_or_default();
        if own != issuer {
            return Err(format!("it calls itself {own:?}, which issuer has to be exactly"));
        }
        let optional = |name: &str| match document[name].as_str() {
            None => Ok(None),
            Some(text) => match Url::parse(text).ok().filter(is_safe) {
                Some(url) => Ok(Some(url)),
                None => Err(format!("{name} is no encrypted address")),
            },
        };
        let needed = |name: &str| optional(name)?.ok_or_else(|| format!("it has no {name}"));
        let lists = |name: &str, wanted: &[&str]| {
            let all = document[name].as_array();
            all.map(|all| all.iter().any(|one| one.as_str().is_some_and(|one| wanted.contains(&one))))
        };
        if lists("response_types_supported", &["code"]) == Some(false) {
            return Err("it gives no codes (response_types_supported)".into());
        }
        if lists("id_token_signing_alg_values_supported", &ALGORITHMS) == Some(false) {
            return Err(format!("it signs with none of {}", ALGORITHMS.join(", ")));
        }
        let methods = "token_endpoint_auth_methods_supported";
        Ok(Metadata {
            authorization: needed("authorization_endpoint")?,
            token: needed("token_endpoint")?,
            keys: needed("jwks_uri")?,
            userinfo: optional("userinfo_endpoint")?,
            end_session: optional("end_session_endpoint")?,
            names_itself: document["authorization_response_iss_parameter_supported"] == true,
            secret_in_form: lists(methods, &["client_secret_basic"]) == Some(false)
                && lists(methods, &["client_secret_post"]) == Some(true),
        })
    }
}
