//! Identifies the caller: Basic authentication with application passwords, or a session with its nonce.
//!
//! Contract: "Authentication" 1 to 6, 9. A wrong or unknown credential leaves the caller anonymous. Secrets are stored
//! as a keyed hash, found by an index and never by scanning.

use super::app_passwords::CredentialRow;
use super::attempts::{AttemptLimit, Attempts, Guesser};
use super::audit::{self, Event};
use super::clients::is_client_token;
use super::credentials::CredentialError;
use super::hashing::same_text;
use super::sessions::{Purpose, nonce_given, nonce_header};
use super::throttle::Throttle;
use super::tokens;
use crate::error::{ApiError, Code};
use crate::model::{Peer, Request};
use crate::records::{self, Record, eq, txt};
use crate::registry::Registry;
use crate::registry::columns::{app_password, user};
use crate::registry::name;
use crate::scope::{BearerHeader, CredentialLimits, MissingCapability, Principal, Scope, Settings};
use ::base64::Engine as _;
use ::base64::engine::general_purpose::STANDARD;
use cms_base::metrics::Counter;
use cms_declaration::AppPasswords;
use cms_storage::Storage;
use cms_storage::plan::{Change, DbValue, Input, Put, Target, WritePlan};
use cms_text::base64;
use cms_text::hex::hex;
use cms_text::slug::title_key;
use hmac::{Hmac, Mac};
use quick_cache::sync::Cache;
use serde_json::{Value, json};
use sha2::Sha256;
use std::sync::Arc;

/// `last_used` and `last_ip` are written again only after this many seconds.
const REFRESH: i64 = 24 * 60 * 60;

/// Callers whose credentials were right a moment ago.
const MOST_VERIFIED: usize = 1_000;

/// Seconds for which valid credentials are cached, unless users or passwords are written meanwhile.
const MOMENT: i64 = 1;

/// Verifies credentials.
pub struct Identity {
    /// A keyed hash of nothing yet.
    key: Hmac<Sha256>,
    attempts: Attempts,
    /// Requests for links to set a password: counted apart, so that neither evicts the other.
    link_requests: Attempts,
    /// Passwords that were set.
    passwords_set: Attempts,
    /// Messages that were sent, by address.
    messages: Attempts,
    /// Documents that were read for a person.
    documents: Attempts,
    throttle: Throttle,
    /// By a keyed hash of the credentials and the declarations.
    verified: Cache<Arc<str>, CachedPrincipal>,
    failed: FailedLogins,
}

/// How often credentials were wrong.
#[derive(Debug, Default)]
pub struct FailedLogins {
    /// Account passwords.
    pub passwords: Counter,
    /// Application passwords.
    pub app_passwords: Counter,
}

/// The caller whom a credential names with the end of that, or why it is not valid.
pub(super) type LookedUp = Result<Result<(Principal, i64), CredentialError>, ApiError>;

/// A caller as the database had it at some time, with the versions of what was read.
#[derive(Clone)]
struct CachedPrincipal {
    principal: Principal,
    versions: [u64; 3],
    at: i64,
    /// When the password stops working; 0: never.
    expires: i64,
}

fn ended(expires: i64, now: i64) -> bool {
    expires != 0 && expires <= now
}

/// Versions of what callers are made from: the tables that credentials are looked up in, and the roles of this request.
fn versions(scope: &Scope) -> [u64; 3] {
    let [passwords, users] = ["app_password", "user"].map(|table| scope.storage.scope_version(&name(table)));
    [passwords, users, scope.settings.version]
}

impl Identity {
    /// `key` hashes the secrets; it is made once per database.
    pub fn new(key: &[u8]) -> Identity {
        Identity {
            key: Hmac::new_from_slice(key).expect("HMAC takes keys of any length"),
            attempts: Attempts::default(),
            link_requests: Attempts::default(),
            passwords_set: Attempts::default(),
            messages: Attempts::default(),
            documents: Attempts::default(),
            throttle: Throttle::default(),
            verified: Cache::new(MOST_VERIFIED),
            failed: FailedLogins::default(),
        }
    }

    /// Credentials that were wrong.
    pub fn failed_logins(&self) -> &FailedLogins {
        &self.failed
    }

    /// Counts a message to an address; `false`: it has got as many as it may.
    pub fn try_count_message(&self, address: &str, limit: AttemptLimit, now: i64) -> bool {
        self.messages.count_own(Guesser::Network(None), address, limit, now).is_ok()
    }

    /// The counter of requests against the declared limits.
    pub fn throttle(&self) -> &Throttle {
        &self.throttle
    }

    /// Guesses of secrets of accounts.
    pub(super) fn attempts(&self) -> &Attempts {
        &self.attempts
    }

    /// Passwords that were set.
    pub(super) fn passwords_set(&self) -> &Attempts {
        &self.passwords_set
    }

    /// Documents that were read for a person.
    pub(super) fn documents(&self) -> &Attempts {
        &self.documents
    }

    /// Requests for links to set a password.
    pub(super) fn link_requests(&self) -> &Attempts {
        &self.link_requests
    }

    /// The caller of a request; anonymous unless the credentials are valid.
    ///
    /// # Errors
    /// The database cannot be read; credentials were wrong too often.
    pub async fn authenticate(&self, scope: &Scope, request: &Request) -> Result<Principal, ApiError> {
        let header = request.header("authorization").filter(|header| !header.trim().is_empty());
        let Some(header) = header.filter(|_| scope.registry.takes_tokens()) else {
            return self.other_caller(scope, request).await;
        };
        match tokens::bearer(header) {
            Some(token) if is_client_token(token) => {
                Ok(Principal { client_token: Some(token.into()), ..Principal::default() })
            }
            Some(token) => self.token_caller(scope, request, token).await,
            None => Ok(Principal { bearer: BearerHeader::Other, ..self.other_caller(scope, request).await? }),
        }
    }

    /// The caller by an application password or a session.
    async fn other_caller(&self, scope: &Scope, request: &Request) -> Result<Principal, ApiError> {
        let Some((login, secret)) = request.header("authorization").and_then(basic) else {
            return self.browser_caller(scope, request);
        };
        let declared = &scope.registry.declaration;
        if !available(&scope.registry, &request.peer) {
            // Where there are no application passwords, the header may be meant for a proxy.
            let used = declared.site.application_passwords != AppPasswords::Off;
            return if used {
                self.refused(scope, &login, CredentialError::PlainHttp)
            } else {
                Ok(Principal::default())
            };
        }
        let lacks = missing_credentials(&login, &secret);
        if !lacks.is_empty() {
            let told = declared.dialect.explain_empty_credentials;
            return Ok(Principal { lacks: if told { lacks } else { &[] }, ..Principal::default() });
        }
        match self.verify(scope, &login, &secret).await? {
            Ok(caller) => Ok(caller),
            Err(reason) => {
                self.count_failure(scope)?;
                self.refused(scope, &login, reason)
            }
        }
    }

    /// Counts credentials of a program that are wrong.
    ///
    /// # Errors
    /// They were wrong too often.
    pub(super) fn count_failure(&self, scope: &Scope) -> Result<(), ApiError> {
        self.failed.app_passwords.inc();
        self.throttle.mistake(scope)
    }

    /// Refuses a request with credentials that are not valid, or makes it anonymous (`[dialect]
    /// refuse_wrong_credentials`). The reason is logged, never sent.
    fn refused(&self, scope: &Scope, login: &str, reason: CredentialError) -> Result<Principal, ApiError> {
        tracing::info!(request = %scope.request_id, login = shown(login), "credentials refused: {}", reason.text());
        match scope.registry.declaration.dialect.refuse_wrong_credentials {
            true if reason == CredentialError::PlainHttp => Err(ApiError::new(Code::InvalidCredentials)
                .with_message("Credentials are accepted over HTTPS only; this request came over plain HTTP.")),
            true => Err(ApiError::new(Code::InvalidCredentials)),
            false => Ok(Principal::default()),
        }
    }

    /// The caller whose cookie belongs to a session; anonymous unless the session's nonce proves that the request is
    /// intended.
    fn browser_caller(&self, scope: &Scope, request: &Request) -> Result<Principal, ApiError> {
        let depth = scope.registry.declaration.server.max_depth;
        let found = self.session(scope, request)?.filter(|caller| {
            let nonce = nonce_given(&scope.registry.site.prefix, request, depth);
            nonce.is_some_and(|nonce| self.nonce_fits(caller, Purpose::Rest, &nonce, scope.now))
        });
        if found.as_ref().is_some_and(|caller| caller.lacks_factor) {
            return Err(ApiError::new(Code::SecondFactorRequired));
        }
        let bare = request.header("authorization").is_none();
        Ok(found.unwrap_or_else(|| Principal { unheard: bare && request.peer.forwarded, ..Principal::default() }))
    }

    /// The user with this login (or e-mail address) and application password.
    pub async fn verify(
        &self,
        scope: &Scope,
        login: &str,
        secret: &str,
    ) -> Result<Result<Principal, CredentialError>, ApiError> {
        if !readable(&scope.registry, login, secret) {
            return Ok(Err(CredentialError::Unreadable));
        }
        let found = || self.look_up(scope, Some(login), self.hash(secret));
        self.recently_verified(scope, &format!("{login}|{secret}"), found).await
    }

    /// The caller by credentials that were valid a moment ago, or else as they are looked up.
    pub(super) async fn recently_verified<F: Future<Output = LookedUp>>(
        &self,
        scope: &Scope,
        credentials: &str,
        look_up: impl FnOnce() -> F,
    ) -> Result<Result<Principal, CredentialError>, ApiError> {
        let key: Arc<str> = self.digest(&format!("{}|{credentials}", scope.registry.fingerprint)).into();
        // Before anything is read, so that nothing older is filed under them.
        let versions = versions(scope);
        let still = |found: &CachedPrincipal| {
            // A clock that was set back does not make it recent.
            let recent = (0..=MOMENT).contains(&(scope.now - found.at)) && !ended(found.expires, scope.now);
            recent && found.versions == versions
        };
        if let Some(found) = self.verified.get(&key).filter(still) {
            return Ok(Ok(found.principal));
        }
        let found = look_up().await?;
        Ok(found.map(|(principal, expires)| {
            let verified = CachedPrincipal { principal: principal.clone(), versions, at: scope.now, expires };
            self.verified.insert(key, verified);
            principal
        }))
    }

    /// The caller, and when the credential with this hash stops working. Without a login it is a token.
    pub(super) async fn look_up(&self, scope: &Scope, login: Option<&str>, hash: String) -> LookedUp {
        let snapshot = scope.snapshot()?;
        let found = records::first_of::<CredentialRow>(&*snapshot, eq(app_password::HASH, txt(&hash)))?;
        let fits = |row: &CredentialRow| same_text(&row.hash, &hash) && row.token == login.is_none();
        let Some(found) = found.filter(fits) else {
            return Ok(Err(CredentialError::Unknown));
        };
        if ended(found.ends(), scope.now) {
            return Ok(Err(CredentialError::Expired));
        }
        let Some(users) = scope.registry.users() else {
            return Ok(Err(CredentialError::OtherUser));
        };
        let Some(row) = records::find(&*snapshot, users, &found.user)? else {
            return Ok(Err(CredentialError::OtherUser));
        };
        let record = Record { resource: users, row: &row };
        let named = login
            .map(title_key)
            .is_none_or(|key| same_text(record.text("login_key"), &key) || same_text(record.text("email_key"), &key));
        if !named {
            return Ok(Err(CredentialError::OtherUser));
        }
        if !available_for(&scope.registry, record) {
            return Ok(Err(CredentialError::UserExcluded));
        }
        let mut principal = principal(&scope.settings, record);
        principal.app_password = Some(found.uuid.clone());
        let limits = found.limits();
        // A connected program makes no credentials, which would outlive the connection.
        principal.limits = (found.connected || limits != CredentialLimits::default()).then(|| Arc::new(limits));
        drop(snapshot);
        self.touch(scope, &found).await;
        Ok(Ok((principal, found.ends())))
    }

    /// Records the use of a password. Only the first use waits until it is written.
    async fn touch(&self, scope: &Scope, found: &CredentialRow) {
        if found.last_used != 0 && scope.now - found.last_used < REFRESH {
            return;
        }
        let ip = scope.peer.ip.map(|ip| ip.to_string()).unwrap_or_default();
        let target = Target::Existing { key: txt(&found.uuid), expect: None };
        let set = vec![
            (name(app_password::LAST_USED), Input::Value(DbValue::Int(scope.now))),
            (name(app_password::LAST_IP), Input::Value(txt(&ip))),
        ];
        let put = Put::new(app_password::TABLE, target, set);
        let written = scope.storage.commit(WritePlan::new(vec![Change::Put(put)]));
        if found.last_used == 0
            && let Err(error) = written.await
        {
            tracing::warn!(request = %scope.request_id, "the use of a password was not recorded: {error}");
        }
    }

    /// The stored form of a secret: only its letters and digits count.
    pub fn hash(&self, secret: &str) -> String {
        self.digest(&secret.chars().filter(char::is_ascii_alphanumeric).collect::<String>())
    }

    /// Proves that this server has made a text: a keyed hash, in hexadecimal digits.
    pub fn proof(&self, text: &str) -> String {
        self.digest(text)
    }

    /// A keyed hash of a text, in hexadecimal digits.
    pub(super) fn digest(&self, text: &str) -> String {
        hex(&self.derived(text))
    }

    /// The same in bytes: a key for one purpose.
    pub(super) fn derived(&self, purpose: &str) -> [u8; 32] {
        let mut mac = self.key.clone();
        mac.update(purpose.as_bytes());
        mac.finalize().into_bytes().into()
    }

    /// A request that carries a nonce which is not its session's is refused, whatever it requests.
    pub fn objection(&self, scope: &Scope, request: &Request) -> Option<ApiError> {
        if scope.principal.is_logged_in() {
            return None;
        }
        let depth = scope.registry.declaration.server.max_depth;
        nonce_given(&scope.registry.site.prefix, request, depth).map(|_| ApiError::new(Code::InvalidNonce))
    }

    /// The header that brings a caller with a session a fresh nonce.
    pub fn fresh_nonce(&self, scope: &Scope) -> Option<(String, String)> {
        scope.principal.session.as_ref()?;
        Some((nonce_header(&scope.registry.site.prefix), self.nonce(&scope.principal, Purpose::Rest, scope.now)))
    }

    /// The root's `authentication`.
    pub fn describe(&self, scope: &Scope) -> Value {
        if !available(&scope.registry, &scope.peer) {
            return json!({});
        }
        let path = &scope.registry.declaration.pages.authorize;
        let page = format!("{}{path}", scope.registry.site.url);
        json!({"application-passwords": {"endpoints": {"authorization": page}}})
    }
}

/// A login as the log shows it: without control characters, and not longer than people's are.
fn shown(login: &str) -> String {
    const LONGEST: usize = 60;
    login.chars().filter(|c| !c.is_control()).take(LONGEST).collect()
}

/// Whether credentials are short enough to be checked (`site.max_login`, `site.max_password`). No login and no password
/// contains a NUL: other programs take it for the end of a text.
pub(super) fn readable(registry: &Registry, login: &str, secret: &str) -> bool {
    let site = &registry.declaration.site;
    login.len() <= site.max_login.as_usize()
        && secret.len() <= site.max_password.as_usize()
        && !login.contains('\0')
        && !secret.contains('\0')
}

/// Records an event that changes nothing else. A failure shows in the log.
pub async fn record(scope: &Scope, event: &Event<'_>) {
    let mut changes: Vec<Change> = audit::entry(scope, event).into_iter().collect();
    if event.user == 0 && !changes.is_empty() {
        match audit::overflow(scope) {
            Ok(old) => changes.extend(old),
            Err(error) => tracing::warn!(request = %scope.request_id, "the audit trail was not shortened: {error}"),
        }
    }
    if !changes.is_empty()
        && let Err(error) = scope.storage.commit(WritePlan::new(changes)).await
    {
        tracing::warn!(request = %scope.request_id, "{} was not recorded: {error}", event.name);
    }
}

/// A user row as the caller of a request.
pub fn principal(settings: &Settings, record: Record<'_>) -> Principal {
    let roles = records::split_words(record.text("roles"));
    Principal {
        id: record.id(),
        login: record.text("login").into(),
        capabilities: Arc::new(settings.roles.capabilities(&roles)),
        roles,
        app_password: None,
        bearer: BearerHeader::default(),
        client_token: None,
        limits: None,
        session: None,
        lacks_factor: false,
        lacks: &[],
        unheard: false,
        missing: MissingCapability::default(),
    }
}

/// Whether application passwords may be used over this connection: by default only where nobody can listen.
pub fn available(registry: &Registry, peer: &Peer) -> bool {
    match registry.declaration.site.application_passwords {
        AppPasswords::Off => false,
        AppPasswords::On => true,
        AppPasswords::Https => peer.https || on_loopback(registry, peer),
    }
}

/// Whether a user may have application passwords at all.
pub fn available_for(registry: &Registry, user: Record<'_>) -> bool {
    let people = &registry.declaration.site.application_passwords_for;
    if people.roles.is_empty() && people.users.is_empty() {
        return true;
    }
    let login = user.text("login_key");
    records::split_words(user.text("roles")).iter().any(|role| people.roles.iter().any(|r| **r == **role))
        || people.users.iter().any(|user| title_key(user) == login)
}

/// Plain HTTP is safe only when nothing of it leaves the machine.
fn on_loopback(registry: &Registry, peer: &Peer) -> bool {
    let server = &registry.declaration.server;
    let bound = server.listen.starts_with("unix:")
        || server.listen.starts_with("127.")
        || server.listen.starts_with("localhost")
        || server.listen.starts_with("[::1]");
    let host = registry.site.url.split("://").nth(1).unwrap_or("");
    let local = host.starts_with("127.") || host.starts_with("localhost") || host.starts_with("[::1]");
    bound && local && server.trusted_proxies.is_empty() && !peer.forwarded
}

/// The header with which a program logs in.
pub fn basic_header(login: &str, secret: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{login}:{secret}")))
}

fn basic(header: &str) -> Option<(String, String)> {
    let (scheme, encoded) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(base64::decode(encoded.trim())?).ok()?;
    let (login, secret) = text.split_once(':')?;
    Some((login.to_owned(), secret.to_owned()))
}

/// The errors for parts that credentials lack (contract: "Errors", `empty_username`).
fn missing_credentials(login: &str, secret: &str) -> &'static [Code] {
    match (login.is_empty(), secret.is_empty()) {
        (true, true) => &[Code::EmptyUsername, Code::EmptyPassword],
        (true, false) => &[Code::EmptyUsername],
        (false, true) => &[Code::EmptyPassword],
        (false, false) => &[],
    }
}

/// Used by the command line, which has no request.
pub fn storage_is_empty(storage: &dyn Storage) -> Result<bool, cms_storage::StorageError> {
    Ok(!records::exists(&*storage.snapshot()?, user::TABLE, records::always())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_letters_and_digits_of_a_secret_count() {
        let identity = Identity::new(&[7; 32]);
        let hash = identity.hash("abcdEFGH1234");
        for same in ["abcd EFGH 1234", "abcd_EFGH-1234", " abcdEFGH1234 "] {
            assert_eq!(identity.hash(same), hash);
        }
        assert_ne!(identity.hash("abcdefgh1234"), hash);
        assert_ne!(Identity::new(&[8; 32]).hash("abcdEFGH1234"), hash);
    }

    #[test]
    fn malformed_credentials_are_none() {
        for header in ["", "Basic", "Basic !!!!", "Basic YWJj", "Bearer abc"] {
            assert_eq!(basic(header), None, "{header}");
        }
        assert_eq!(basic("basic YTpi"), Some(("a".into(), "b".into())));
        assert_eq!(basic("Basic Og=="), Some((String::new(), String::new())));
    }
}
