//! Connected programs (OAuth 2.1): what a person lets a program do, and the tokens that it gets for that.
//!
//! A connection is an application password whose secret changes: a row of the same table, so it is limited, listed and revoked
//! as those are, and ends with the password of the account. Its `hash` is that of the present access token. For the next one
//! the program gives what it was handed with it: a code first, refresh tokens then, each of them once. The row has the hash
//! of the one that is good; any other one that this server has made was given before, so that two have it, and the connection
//! ends. It knows no HTTP.

use super::app_passwords::{self, NewPassword};
use super::audit::{self, Event};
use super::clients::Client;
use super::hashing::same_text;
use super::identity::{Identity, available_for};
use super::tokens;
use crate::error::ApiError;
use crate::records::{self, Record, columns, eq, ordered, set, split_words, txt};
use crate::registry::columns::app_password as col;
use crate::registry::name;
use crate::scope::{CredentialLimits, DRAFTING, Scope};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cms_declaration::OAuthOptions;
use cms_storage::plan::{Change, Cond, DbValue, Put, ReadPlan, Target};
use cms_storage::typed_row;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

/// How codes and refresh tokens begin.
const CODE: &str = "cms-code.";
const REFRESH: &str = "cms-refresh.";

/// Random bytes of them.
const BYTES: usize = 32;

/// Characters of a verifier (RFC 7636).
const VERIFIER: std::ops::RangeInclusive<usize> = 43..=128;

/// Characters of a challenge: a SHA-256 digest.
const CHALLENGE: usize = 43;

/// Tag of the refusal when the row has another secret by now.
const TAKEN: &str = "grant_taken";

/// Name in the audit trail of the end of a connection whose secret was given twice.
const REUSED: &str = "token_reused";

/// A connection to be made: the limits that a person has chosen for a program.
pub struct NewGrant<'a> {
    pub user: i64,
    pub client: &'a Client,
    /// Name that the connection is listed under.
    pub title: &'a str,
    pub redirect: &'a str,
    pub challenge: &'a str,
    pub limits: CredentialLimits,
    /// Seconds that it lasts.
    pub period: i64,
}

/// The request that a code is bound to.
#[derive(Deserialize, Serialize)]
struct PendingGrant {
    redirect: String,
    challenge: String,
    /// When the connection ends.
    ends: i64,
}

typed_row! {
    col::TABLE;
    /// A connection.
    struct GrantRow {
        uuid: Arc<str> = col::KEY,
        user: DbValue,
        client: Arc<str> = col::APP_ID,
        expires: i64,
        read_only: bool,
        resources: Arc<str>,
        actions: Arc<str>,
        refresh: Arc<str>,
        pending: Arc<str>,
        connected: bool,
    }
}

/// A secret that a program gives for its next token.
pub enum GrantSecret<'a> {
    Code { code: &'a str, redirect: &'a str, verifier: &'a str },
    Refresh(&'a str),
}

/// The outcome of that.
pub enum Redemption {
    /// It is good for nothing.
    Refused,
    /// It was given before: the changes that end the connection.
    Reused(Vec<Change>),
    /// Tokens, the changes that store them, and those that end the connection if the first are refused: then another request
    /// has given the same at the same time.
    Issued { tokens: IssuedTokens, changes: Vec<Change>, otherwise: Vec<Change> },
}

/// The tokens that it gets.
pub struct IssuedTokens {
    pub access: String,
    pub refresh: String,
    /// Seconds that the access token is valid.
    pub lifetime: i64,
    pub limits: CredentialLimits,
}

/// Whether a text is a challenge that codes may be bound to.
pub fn is_challenge(text: &str) -> bool {
    text.len() == CHALLENGE && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

fn answers(verifier: &str, challenge: &str) -> bool {
    let readable = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~');
    VERIFIER.contains(&verifier.len())
        && verifier.bytes().all(readable)
        && same_text(&URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes())), challenge)
}

fn is_connected() -> Cond {
    eq(col::CONNECTED, DbValue::Int(1))
}

/// The change that ends the connections of a program.
pub fn ended(client: &str) -> Change {
    let own = Cond::All(vec![is_connected(), eq(col::APP_ID, txt(client))]);
    Change::RemoveWhere { table: name(col::TABLE), filter: own }
}

/// The condition of rows that are no connections yet: their codes have not been used.
pub fn is_pending() -> Cond {
    records::not(eq(col::PENDING, txt("")))
}

impl Identity {
    /// A new connection: the code for the program, and the changes that store it. The oldest connections of an account that
    /// has too many end.
    pub fn new_grant(
        &self,
        scope: &Scope,
        rules: &OAuthOptions,
        grant: &NewGrant<'_>,
    ) -> Result<(String, Vec<Change>), ApiError> {
        let own = Cond::All(vec![eq(col::USER, DbValue::Int(grant.user)), is_connected()]);
        let own = ordered(columns(col::TABLE, &[col::KEY], own), col::ORDINAL, true);
        let oldest = ReadPlan { offset: rules.most.max(1) - 1, limit: Some(rules.most.max(1)), ..own };
        let oldest: Vec<DbValue> = scope.snapshot()?.rows_as(&oldest)?;
        let mut changes = Vec::new();
        if !oldest.is_empty() {
            changes.push(Change::RemoveWhere { table: name(col::TABLE), filter: Cond::In(name(col::KEY), oldest) });
        }
        let wanted = NewPassword {
            user: grant.user,
            title: grant.title,
            app_id: &grant.client.id,
            expires: scope.now.saturating_add(rules.code.seconds_signed()),
            limits: grant.limits.clone(),
        };
        let (uuid, mut put) = app_passwords::stored(&wanted, "", true, scope.now);
        let code = self.grant_secret(CODE, &uuid);
        let pending = PendingGrant {
            redirect: grant.redirect.to_owned(),
            challenge: grant.challenge.to_owned(),
            ends: scope.now.saturating_add(grant.period),
        };
        put.set.retain(|(column, _)| &**column != col::HASH);
        put.set.extend(set([
            // No token has this hash.
            (col::HASH, txt(&self.digest(&format!("pending|{uuid}")))),
            (col::CONNECTED, DbValue::Int(1)),
            (col::TOKEN_ENDS, DbValue::Int(1)),
            (col::REFRESH, txt(&self.grant_hash(&code))),
            (col::PENDING, txt(&serde_json::to_string(&pending).unwrap_or_default())),
        ]));
        changes.push(Change::Put(put));
        changes.extend(grant.client.used(rules, scope.now));
        Ok((code, changes))
    }

    /// The next tokens of a connection for what the program gives. What was given before ends the connection.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn redeem(
        &self,
        scope: &Scope,
        rules: &OAuthOptions,
        client: &Client,
        given: &GrantSecret<'_>,
    ) -> Result<Redemption, ApiError> {
        let (mark, secret) = match given {
            GrantSecret::Code { code, .. } => (CODE, *code),
            GrantSecret::Refresh(token) => (REFRESH, *token),
        };
        let Some(row) = self.grant(scope, mark, secret)? else { return Ok(Redemption::Refused) };
        if !same_text(&row.refresh, &self.grant_hash(secret)) {
            return Ok(Redemption::Reused(ending(scope, &row, REUSED)));
        }
        if *row.client != *client.id || row.expires <= scope.now || !may_have(scope, &row)? {
            return Ok(Redemption::Refused);
        }
        let ends = match given {
            GrantSecret::Refresh(_) => row.expires,
            GrantSecret::Code { redirect, verifier, .. } => {
                let bound: Option<PendingGrant> = serde_json::from_str(&row.pending).ok();
                let fits = |bound: &PendingGrant| bound.redirect == *redirect && answers(verifier, &bound.challenge);
                match bound.filter(fits) {
                    Some(bound) => bound.ends,
                    None => return Ok(Redemption::Refused),
                }
            }
        };
        let (access, refresh) = (tokens::fresh(), self.grant_secret(REFRESH, &row.uuid));
        let lifetime = rules.access.seconds_signed().min(ends - scope.now);
        let still = Cond::All(vec![eq(col::KEY, txt(&row.uuid)), eq(col::REFRESH, txt(&row.refresh))]);
        let put = set([
            (col::HASH, txt(&self.token_hash(&access))),
            (col::TOKEN_ENDS, DbValue::Int(scope.now + lifetime)),
            (col::REFRESH, txt(&self.grant_hash(&refresh))),
            (col::PENDING, txt("")),
            (col::EXPIRES, DbValue::Int(ends)),
        ]);
        let target = Target::Existing { key: txt(&row.uuid), expect: None };
        let mut changes = vec![
            Change::Require { plan: columns(col::TABLE, &[col::KEY], still), found: true, tag: TAKEN },
            Change::Put(Put::new(col::TABLE, target, put)),
        ];
        changes.extend(client.used(rules, scope.now));
        let limits = CredentialLimits {
            read_only: row.read_only,
            draft: *row.actions == *DRAFTING,
            resources: split_words(&row.resources),
        };
        let tokens = IssuedTokens { access, refresh, lifetime, limits };
        Ok(Redemption::Issued { tokens, changes, otherwise: ending(scope, &row, REUSED) })
    }

    /// The changes that end the connection that a token belongs to, an access token or another one; of another program they
    /// end none.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn end_grant(&self, scope: &Scope, client: Option<&str>, token: &str) -> Result<Vec<Change>, ApiError> {
        let row = match tokens::is_token(token) {
            true => {
                let filter = Cond::All(vec![eq(col::HASH, txt(&self.token_hash(token))), is_connected()]);
                records::first_of::<GrantRow>(&*scope.snapshot()?, filter)?
            }
            false => self.grant(scope, REFRESH, token)?,
        };
        let own = row.filter(|row| client.is_none_or(|client| *row.client == *client));
        Ok(own.map(|row| ending(scope, &row, "program_disconnected")).unwrap_or_default())
    }

    /// The connection whose secret this is or was.
    fn grant(&self, scope: &Scope, mark: &str, secret: &str) -> Result<Option<GrantRow>, ApiError> {
        let Some((body, proof)) = secret.strip_prefix(mark).and_then(|rest| rest.rsplit_once('.')) else {
            return Ok(None);
        };
        let Some((uuid, _)) = body.split_once('.').filter(|_| same_text(&self.grant_proof(mark, body), proof)) else {
            return Ok(None);
        };
        let filter = Cond::All(vec![eq(col::KEY, txt(uuid)), is_connected()]);
        Ok(records::first_of::<GrantRow>(&*scope.snapshot()?, filter)?)
    }

    /// A code or a refresh token of a connection, which nobody else can make.
    fn grant_secret(&self, mark: &str, uuid: &str) -> String {
        let body = format!("{uuid}.{}", URL_SAFE_NO_PAD.encode(rand::random::<[u8; BYTES]>()));
        let proof = self.grant_proof(mark, &body);
        format!("{mark}{body}.{proof}")
    }

    fn grant_proof(&self, mark: &str, body: &str) -> String {
        self.digest(&format!("grant|{mark}{body}"))
    }

    fn grant_hash(&self, secret: &str) -> String {
        self.digest(&format!("granted|{secret}"))
    }
}

/// Whether the account is there, and may have programs.
fn may_have(scope: &Scope, row: &GrantRow) -> Result<bool, ApiError> {
    let Some(users) = scope.registry.users() else { return Ok(false) };
    let user = records::find(&*scope.snapshot()?, users, &row.user)?;
    Ok(user.is_some_and(|row| available_for(&scope.registry, Record { resource: users, row: &row })))
}

/// The changes that end a connection, with an entry of the audit trail.
fn ending(scope: &Scope, row: &GrantRow, event: &str) -> Vec<Change> {
    let event = Event { name: event, user: records::int(&row.user), subject: &row.client, ..Event::default() };
    let removed = Change::RemoveWhere { table: name(col::TABLE), filter: eq(col::KEY, txt(&row.uuid)) };
    std::iter::once(removed).chain(audit::entry(scope, &event)).collect()
}

/// Rows that end by themselves: their table, the column with the moment, and which of its rows.
pub fn ending_rows() -> [(&'static str, &'static str, Cond); 2] {
    use crate::registry::columns::client;
    [(col::TABLE, col::EXPIRES, eq(col::TOKEN, DbValue::Int(1))), (client::TABLE, client::EXPIRES, records::always())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_verifier_answers_a_challenge() {
        // The example of RFC 7636, appendix B.
        let (verifier, challenge) =
            ("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        assert!(is_challenge(challenge) && answers(verifier, challenge));
        let long = "x".repeat(129);
        for other in ["", challenge, &verifier[1..], &format!("{verifier}="), &format!("{verifier} "), &long] {
            assert!(!answers(other, challenge), "{other}");
        }
        for none in ["", verifier.trim_end_matches('k'), &format!("{challenge}="), &"+".repeat(43)] {
            assert!(!is_challenge(none), "{none}");
        }
    }

    #[test]
    fn codes_and_refresh_tokens_are_made_here_alone() {
        let (identity, other) = (Identity::new(&[7; 32]), Identity::new(&[8; 32]));
        let code = identity.grant_secret(CODE, "u");
        let body = |text: &str| text[CODE.len()..].rsplit_once('.').map(|(body, _)| body.to_owned()).expect("a proof");
        assert!(code.ends_with(&identity.grant_proof(CODE, &body(&code))));
        assert!(!code.ends_with(&identity.grant_proof(REFRESH, &body(&code))));
        assert!(!code.ends_with(&other.grant_proof(CODE, &body(&code))));
    }
}
