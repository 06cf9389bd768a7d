//! Links with which the owner of an account sets a password: tokens that are good for one account, once, for a while.
//!
//! A token is 256 random bits; the table contains a keyed hash of it, so that the table alone authenticates nobody. It is
//! bound to the password and the e-mail address that the account has when it is made: a change of either voids it. It
//! knows no page and no message.
//!
//! A link with which an owner confirms an e-mail address is stored nowhere: it holds the account and its end, with a keyed
//! hash of both and of the address. It can be used again, to no effect.

use super::attempts::{AttemptLimit, Guesser};
use super::hashing::same_text;
use super::identity::Identity;
use super::outbox::{self, Message, MessageSubject};
use crate::error::{ApiError, Code};
use crate::records::{self, Record, columns, eq, txt};
use crate::registry::columns::{link as col, user};
use crate::registry::name;
use crate::registry::resource::Resource;
use crate::scope::Scope;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cms_declaration::units::Duration;
use cms_storage::plan::{Change, Cond, DbValue, Op, Put, Row, Target};
use cms_storage::{Snapshot, StorageError, typed_row};
use cms_text::slug::title_key;
use serde_json::json;
use std::sync::Arc;

/// Bytes of a token, and its characters.
const BYTES: usize = 32;
const LENGTH: usize = 43;

/// The tag of the refusal when a link was used meanwhile.
pub const USED: &str = "link_used";

typed_row! {
    col::TABLE;
    struct LinkRow {
        hash: Arc<str>,
        user: DbValue,
        expires: i64,
        bound: Arc<str>,
    }
}

/// A link that is valid.
pub struct PasswordLink {
    /// The account.
    pub row: Row,
    hash: String,
}

impl Identity {
    /// A new token for an account, valid until `expires`, and the change that stores it.
    pub fn new_link(&self, account: Record<'_>, expires: i64) -> (String, Change) {
        let token = URL_SAFE_NO_PAD.encode(rand::random::<[u8; BYTES]>());
        let set = records::set([
            (col::USER, DbValue::Int(account.id())),
            (col::EXPIRES, DbValue::Int(expires)),
            (col::BOUND, txt(&self.binding(account))),
        ]);
        let put = Put::new(col::TABLE, Target::Keyed(txt(&self.link_key(&token))), set);
        (token, Change::Put(put))
    }

    /// The change that takes a token back.
    pub fn plan_token_deletion(&self, token: &str) -> Change {
        Change::Remove { table: name(col::TABLE), key: txt(&self.link_key(token)), expect: None }
    }

    /// The password link of a token; `None`: it was used, it is too old, or the account has changed.
    pub fn link(&self, scope: &Scope, token: &str) -> Result<Option<PasswordLink>, ApiError> {
        // No token of another length was ever issued, so others need no lookup.
        if token.len() != LENGTH {
            return Ok(None);
        }
        let Some(users) = scope.registry.users() else { return Ok(None) };
        let hash = self.link_key(token);
        let snapshot = scope.snapshot()?;
        let found = records::first_of::<LinkRow>(&*snapshot, eq(col::HASH, txt(&hash)))?;
        let Some(found) = found.filter(|row| same_text(&row.hash, &hash) && row.expires > scope.now) else {
            return Ok(None);
        };
        let row = records::find(&*snapshot, users, &found.user)?;
        let bound = |row: &Row| same_text(&self.binding(Record { resource: users, row }), &found.bound);
        Ok(row.filter(bound).map(|row| PasswordLink { row, hash }))
    }

    /// The changes by which the owner of a new address is asked to confirm it; nothing where that address got such a
    /// message within a day.
    ///
    /// # Errors
    /// The caller has changed the own address too often: 429 with the seconds to wait.
    pub fn confirm_address(
        &self,
        scope: &Scope,
        account: Record<'_>,
        address: &str,
    ) -> Result<Option<Change>, ApiError> {
        let declared = &scope.registry.declaration.mail;
        let own = AttemptLimit::paused(declared.max_requests, declared.retry_after);
        let counted = self.link_requests().count_own(Guesser::of(scope), "own address", own, scope.now);
        counted.map_err(|wait| ApiError::wait(Code::TooManyRequests, wait))?;
        let (to, daily) = (title_key(address), AttemptLimit::paused(1, Duration::days(1)));
        let first = self.link_requests().count_own(Guesser::Network(None), &to, daily, scope.now).is_ok();
        let message = || {
            let data = json!({"login": account.text(user::LOGIN)});
            let message = Message { subject: MessageSubject::Confirmation, user: account.id(), address, data };
            outbox::stored(&message, scope.now, scope.now)
        };
        Ok((first && outbox::sends_links(&scope.registry)).then(message))
    }

    /// The token with which the owner of an account confirms its present address until `expires`.
    pub fn confirmation(&self, account: Record<'_>, expires: i64) -> String {
        let (id, email) = (account.id(), account.text(user::EMAIL_KEY));
        format!("{id}.{expires}.{}", self.digest(&format!("confirmed|{id}|{expires}|{email}")))
    }

    /// The account whose address a token confirms; `None`: it is too old, or the account has another address by now.
    pub fn confirmed(&self, scope: &Scope, token: &str) -> Result<Option<Row>, ApiError> {
        let mut parts = token.splitn(3, '.').map(str::parse::<i64>);
        let (Some(Ok(id)), Some(Ok(expires))) = (parts.next(), parts.next()) else { return Ok(None) };
        let Some(users) = scope.registry.users() else { return Ok(None) };
        if expires <= scope.now {
            return Ok(None);
        }
        let row = records::find(&*scope.snapshot()?, users, &DbValue::Int(id))?;
        let good = |row: &Row| same_text(&self.confirmation(Record { resource: users, row }, expires), token);
        Ok(row.filter(good))
    }

    /// Counts a request for a link to the account with this login or address, whether there is one or not.
    ///
    /// # Errors
    /// 429 with the seconds to wait.
    pub fn request_link(&self, scope: &Scope, account: &str) -> Result<(), ApiError> {
        let declared = &scope.registry.declaration.mail;
        let wait = self.link_requests().count(
            scope.peer.ip,
            account,
            (declared.max_requests, declared.retry_after),
            scope.now,
        );
        wait.map_err(|wait| ApiError::wait(Code::TooManyRequests, wait))
    }

    fn binding(&self, account: Record<'_>) -> String {
        self.digest(&format!("bound|{}|{}", account.text(user::PASSWORD_HASH), account.text(user::EMAIL_KEY)))
    }

    fn link_key(&self, token: &str) -> String {
        self.digest(&format!("link|{token}"))
    }
}

impl PasswordLink {
    /// The changes that use the link up, with all others of the account; the plan is refused with [`USED`] if it was used
    /// meanwhile.
    pub fn used(&self, users: &Resource, now: i64) -> Vec<Change> {
        let account = Record { resource: users, row: &self.row };
        let valid = Cond::Compare(name(col::EXPIRES), Op::Gt, DbValue::Int(now));
        let filter = Cond::All(vec![eq(col::HASH, txt(&self.hash)), valid]);
        let plan = columns(col::TABLE, &[col::HASH], filter);
        vec![Change::Require { plan, found: true, tag: USED }, ended(&DbValue::Int(account.id()))]
    }
}

/// The change that ends every link of an account.
pub fn ended(account: &DbValue) -> Change {
    Change::RemoveWhere { table: name(col::TABLE), filter: eq(col::USER, account.clone()) }
}

/// The change that deletes links which are too old.
pub fn expired(now: i64) -> Change {
    let filter = Cond::Compare(name(col::EXPIRES), Op::Le, DbValue::Int(now));
    Change::RemoveWhere { table: name(col::TABLE), filter }
}

/// Valid links of an account.
pub fn count(snapshot: &dyn Snapshot, account: i64, now: i64) -> Result<u64, StorageError> {
    let valid = Cond::Compare(name(col::EXPIRES), Op::Gt, DbValue::Int(now));
    let filter = Cond::All(vec![eq(col::USER, DbValue::Int(account)), valid]);
    snapshot.count(&columns(col::TABLE, &[col::HASH], filter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confirmation_is_of_this_server() {
        let (one, other) = (Identity::new(&[7; 32]), Identity::new(&[8; 32]));
        assert_ne!(one.digest("confirmed|1|2|a@b"), other.digest("confirmed|1|2|a@b"));
        assert_ne!(one.digest("confirmed|1|2|a@b"), one.digest("confirmed|1|2|c@b"));
    }

    #[test]
    fn a_token_is_256_bits_that_nobody_shares() {
        let tokens: std::collections::HashSet<String> =
            (0..100).map(|_| URL_SAFE_NO_PAD.encode(rand::random::<[u8; BYTES]>())).collect();
        assert_eq!(tokens.len(), 100);
        assert!(tokens.iter().all(|token| token.len() == LENGTH));
        let (one, other) = (Identity::new(&[7; 32]), Identity::new(&[8; 32]));
        assert_ne!(one.link_key("token"), other.link_key("token"));
        assert_ne!(one.link_key("token"), one.hash("token"));
    }
}
