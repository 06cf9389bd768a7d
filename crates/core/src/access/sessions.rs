//! Browser sessions: a cookie, and the nonces that prove that a request is intended.
//!
//! Contract: "Authentication" 7. A session is a row, so that it can be revoked; the row contains a keyed hash of the
//! cookie, so that the table alone authenticates nobody. The cookie alone does not authenticate API requests: every
//! other site can make the browser send it. It knows no page.

use super::factors::FactorDuty;
use super::hashing::same_text;
use super::identity::{Identity, principal};
use crate::error::ApiError;
use crate::model::Request;
use crate::records::{self, Record, columns, eq, ordered, set, txt};
use crate::registry::columns::session as col;
use crate::registry::name;
use crate::request::{BodyParams, body_params};
use crate::scope::{Principal, Scope};
use cms_storage::plan::{Change, Cond, DbValue, Op, Put, ReadPlan, Target, WritePlan};
use cms_storage::typed_row;
use rand::RngExt;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Seconds of half a nonce's life: it lasts until the end of the next half.
const HALF_LIFE: i64 = 12 * 60 * 60;

/// A session's last use is written again after this many seconds.
const REFRESH: i64 = 60 * 60;

/// Letters and digits of a cookie.
const LENGTH: usize = 43;

/// Letters of a nonce: 60 bits.
const NONCE: usize = 15;

/// The purpose of a nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Requests to the interface.
    Rest,
    /// Forms of our own pages.
    Form,
}

/// By which identity provider a session began: its name and its ID token; both are empty after a password.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionOrigin<'a> {
    pub provider: &'a str,
    pub id_token: &'a str,
}

/// Longest ID token that is stored, in bytes.
const LONGEST_ID_TOKEN: usize = 4096;

impl Identity {
    /// A new session of a user that ends at `expires`: the value of the cookie ([`cookie_name`] with the same `host`), and the
    /// changes that store it. Beyond `pages.max_sessions` the least recently used one ends.
    pub fn begin_session(
        &self,
        scope: &Scope,
        (user, host): (i64, bool),
        expires: i64,
        origin: SessionOrigin<'_>,
    ) -> Result<(String, Vec<Change>), ApiError> {
        const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        let mut rng = rand::rng();
        let token: String = (0..LENGTH).map(|_| char::from(LETTERS[rng.random_range(0..LETTERS.len())])).collect();
        let ip = scope.peer.ip.map(|ip| ip.to_string()).unwrap_or_default();
        let ended = Cond::Compare(name(col::EXPIRES), Op::Le, DbValue::Int(scope.now));
        let set = set([
            (col::USER, DbValue::Int(user)),
            (col::CREATED, DbValue::Int(scope.now)),
            (col::SEEN, DbValue::Int(scope.now)),
            (col::EXPIRES, DbValue::Int(expires)),
            (col::IP, txt(&ip)),
            (col::AGENT, txt(&scope.agent)),
            (col::PROVIDER, txt(origin.provider)),
            (col::ID_TOKEN, txt(if origin.id_token.len() > LONGEST_ID_TOKEN { "" } else { origin.id_token })),
        ]);
        let mut changes = vec![removed(ended)];
        changes.extend(superseded(scope, user)?);
        changes.push(Change::Put(Put::new(col::TABLE, Target::Keyed(txt(&self.session_key(&token, host))), set)));
        Ok((token, changes))
    }

    /// Whose session the cookie of the request opens.
    pub fn session(&self, scope: &Scope, request: &Request) -> Result<Option<Principal>, ApiError> {
        // A sibling domain can set a cookie without `__Host-`, but none that opens a session which began with that.
        let own = |host: bool| {
            let name = cookie_name(&scope.registry.site.prefix, SESSION, host);
            // No cookie of another length was ever issued, so others need no lookup.
            cookie(request, &name, |value| value.len() == LENGTH).map(|token| self.session_key(token, host))
        };
        let Some(key) = own(true).or_else(|| own(false)) else { return Ok(None) };
        let snapshot = scope.snapshot()?;
        let wanted = [col::HASH, col::USER, col::EXPIRES, col::SEEN, col::PROVIDER];
        let row = records::first(&*snapshot, col::TABLE, &wanted, eq(col::HASH, txt(&key)))?;
        let fits = |(hash, _, expires, ..): &(Arc<str>, DbValue, i64, i64, Arc<str>)| {
            same_text(hash, &key) && *expires > scope.now
        };
        let Some((hash, user, _, seen, provider)) = row.filter(fits) else { return Ok(None) };
        let Some(users) = scope.registry.users() else { return Ok(None) };
        let Some(user) = records::find(&*snapshot, users, &user)? else { return Ok(None) };
        let account = Record { resource: users, row: &user };
        let duty = FactorDuty::in_session(scope, &*snapshot, account, &provider)?;
        let mut changes: Vec<Change> = duty.begun(account).into_iter().collect();
        if scope.now - seen >= REFRESH {
            let target = Target::Existing { key: DbValue::Text(hash), expect: None };
            changes.push(Change::Put(Put::new(col::TABLE, target, set([(col::SEEN, DbValue::Int(scope.now))]))));
        }
        if !changes.is_empty() {
            // Nobody waits for it.
            drop(scope.storage.commit(WritePlan::new(changes)));
        }
        let mut principal = principal(&scope.settings, account);
        principal.session = Some(key.into());
        if duty == FactorDuty::SetUp {
            principal.lacks_factor = true;
            principal.capabilities = Arc::default();
        }
        Ok(Some(principal))
    }

    /// The nonce of a caller with a session, good for 12 to 24 hours.
    pub fn nonce(&self, caller: &Principal, purpose: Purpose, now: i64) -> String {
        self.nonce_of(caller, purpose, now.div_euclid(HALF_LIFE))
    }

    /// Whether a nonce is the caller's and not too old.
    pub fn nonce_fits(&self, caller: &Principal, purpose: Purpose, nonce: &str, now: i64) -> bool {
        let half = now.div_euclid(HALF_LIFE);
        [half, half - 1].iter().any(|half| same_text(&self.nonce_of(caller, purpose, *half), nonce))
    }

    fn nonce_of(&self, caller: &Principal, purpose: Purpose, half: i64) -> String {
        let session = caller.session.as_deref().unwrap_or_default();
        let mut digest = self.digest(&format!("nonce|{half}|{purpose:?}|{}|{session}", caller.id));
        digest.truncate(NONCE);
        digest
    }

    /// The key of a session. A cookie that is set for this host alone (`host`) opens nothing under another name.
    fn session_key(&self, token: &str, host: bool) -> String {
        self.digest(&format!("{}session|{token}", if host { HOST } else { "" }))
    }
}

/// The change that makes room for one more session of a user.
fn superseded(scope: &Scope, user: i64) -> Result<Option<Change>, ApiError> {
    let most = scope.registry.declaration.pages.max_sessions.max(1);
    let own = ordered(columns(col::TABLE, &[col::HASH], eq(col::USER, DbValue::Int(user))), col::SEEN, true);
    let keys: Vec<DbValue> = scope.snapshot()?.rows_as(&ReadPlan { offset: most - 1, ..own })?;
    Ok((!keys.is_empty()).then(|| removed(Cond::In(name(col::HASH), keys))))
}

/// The change that ends the sessions that meet a condition.
pub fn removed(filter: Cond) -> Change {
    Change::RemoveWhere { table: name(col::TABLE), filter }
}

typed_row! {
    col::TABLE;
    /// A session as its user sees it.
    pub struct SessionRow {
        pub hash: Arc<str>,
        pub created: i64,
        pub seen: i64,
        pub expires: i64,
        pub ip: Arc<str>,
        pub agent: Arc<str>,
    }
}

impl SessionRow {
    /// The sessions of a user that have not ended, the one that was used last first.
    pub fn of_user(scope: &Scope, user: i64) -> Result<Vec<SessionRow>, ApiError> {
        let still = Cond::Compare(name(col::EXPIRES), Op::Gt, DbValue::Int(scope.now));
        let own = records::select::<SessionRow>(Cond::All(vec![eq(col::USER, DbValue::Int(user)), still]));
        Ok(scope.snapshot()?.rows_as(&ordered(own, col::SEEN, true))?)
    }
}

typed_row! {
    col::TABLE;
    /// Where a session comes from ([`SessionOrigin`]).
    pub struct OriginRow {
        pub provider: Arc<str>,
        pub id_token: Arc<str>,
        pub created: i64,
    }
}

/// By which provider a session began; `None`: it began with a password, or has ended.
pub fn origin(scope: &Scope, key: &str) -> Result<Option<OriginRow>, ApiError> {
    let found = records::first_of::<OriginRow>(&*scope.snapshot()?, eq(col::HASH, txt(key)))?;
    Ok(found.filter(|row| !row.provider.is_empty()))
}

/// The name of a cookie of this site, which ends with `what` ([`SESSION`], [`LOGIN`]); where nobody can read along (`host`), of one
/// that browsers take from this host alone.
pub fn cookie_name(prefix: &str, what: &str, host: bool) -> String {
    format!("{}{prefix}{what}", if host { HOST } else { "" })
}

/// The beginning of names of such cookies: they are sent over HTTPS only, and have the path `/`.
const HOST: &str = "__Host-";

/// The cookie that holds a session, and the one of a browser in which a login by an identity provider has begun.
pub const SESSION: &str = "_session";
pub const LOGIN: &str = "_login";

/// The header of requests and responses that holds a nonce of the interface.
pub fn nonce_header(prefix: &str) -> String {
    format!("X-{}-Nonce", prefix.to_uppercase())
}

/// The nonce that a request to the interface carries: a header, or a parameter of the query or of a form.
pub fn nonce_given(prefix: &str, request: &Request, max_depth: usize) -> Option<String> {
    let within = |name: &str, before: &str, after: &str| {
        name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)) == Some(prefix)
    };
    if let Some((_, nonce)) = request.headers.iter().find(|(name, _)| within(name, "x-", "-nonce")) {
        return Some(nonce.clone());
    }
    let parameter = |fields: &Map<String, Value>| {
        let (_, value) = fields.iter().find(|(name, _)| within(name, "_", "nonce"))?;
        Some(value.as_str().unwrap_or_default().to_owned())
    };
    // JSON holds no nonce, and reading it twice would cost twice.
    let json = || request.header("content-type").is_some_and(|kind| kind.contains("json"));
    let given = parameter(&request.query);
    if given.is_some() || request.body.is_empty() && request.upload.is_none() || json() {
        return given;
    }
    match body_params(request, max_depth) {
        Ok(BodyParams::Form(fields)) => parameter(&fields),
        Ok(BodyParams::Upload(upload)) if upload.form => parameter(&upload.fields),
        _ => None,
    }
}

/// The first cookie of this name with a value that fits.
pub fn cookie<'r>(request: &'r Request, name: &str, fits: impl Fn(&str) -> bool) -> Option<&'r str> {
    let lines = request.headers.iter().filter(|(name, _)| name == "cookie");
    let mut pairs = lines.flat_map(|(_, line)| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(own, value)| *own == name && fits(value)).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(id: i64, session: &str) -> Principal {
        Principal { id, session: Some(session.into()), ..Principal::default() }
    }

    #[test]
    fn a_nonce_lasts_between_twelve_and_twenty_four_hours() {
        let identity = Identity::new(&[7; 32]);
        let caller = caller(1, "a");
        let nonce = identity.nonce(&caller, Purpose::Rest, 0);
        let fits = |now| identity.nonce_fits(&caller, Purpose::Rest, &nonce, now);
        assert!(fits(0) && fits(HALF_LIFE - 1) && fits(2 * HALF_LIFE - 1));
        assert!(!fits(2 * HALF_LIFE) && !fits(-1 - HALF_LIFE));
    }

    #[test]
    fn a_nonce_is_one_user_s_in_one_session_for_one_purpose() {
        let identity = Identity::new(&[7; 32]);
        let nonce = identity.nonce(&caller(1, "a"), Purpose::Rest, 0);
        assert!(!identity.nonce_fits(&caller(2, "a"), Purpose::Rest, &nonce, 0));
        assert!(!identity.nonce_fits(&caller(1, "b"), Purpose::Rest, &nonce, 0));
        assert!(!identity.nonce_fits(&caller(1, "a"), Purpose::Form, &nonce, 0));
        assert!(!Identity::new(&[8; 32]).nonce_fits(&caller(1, "a"), Purpose::Rest, &nonce, 0));
        assert!(!identity.nonce_fits(&caller(1, "a"), Purpose::Rest, "", 0));
    }
}
