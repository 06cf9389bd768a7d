//! Application passwords: what a secret looks like, and how one is stored. How they are verified is
//! [`super::identity`]'s matter.

use super::identity::Identity;
use crate::records::{set, split_words, txt};
use crate::registry::columns::app_password as col;
use crate::scope::{CredentialLimits, DRAFTING};
use cms_storage::plan::{DbValue, Put, Target};
use cms_storage::typed_row;
use std::sync::Arc;

/// Letters and digits of a new application password: 24 of 62 are 142 bits.
const LENGTH: usize = 24;

/// An application password to be made.
#[derive(Clone, Debug, Default)]
pub struct NewPassword<'a> {
    pub user: i64,
    pub title: &'a str,
    pub app_id: &'a str,
    /// Seconds since 1970 at which it stops working; 0: never.
    pub expires: i64,
    pub limits: CredentialLimits,
}

typed_row! {
    col::TABLE;
    /// A credential of a program, as it is verified.
    pub(super) struct CredentialRow {
        pub(super) uuid: Arc<str> = col::KEY,
        pub(super) user: DbValue,
        pub(super) last_used: i64,
        pub(super) hash: Arc<str>,
        pub(super) expires: i64,
        pub(super) read_only: bool,
        pub(super) resources: Arc<str>,
        pub(super) actions: Arc<str>,
        pub(super) token: bool,
        pub(super) connected: bool,
        pub(super) token_ends: i64,
    }
}

impl CredentialRow {
    /// When it stops working; 0: never. The token of a connection ends before the connection.
    pub(super) fn ends(&self) -> i64 {
        if self.connected { self.token_ends } else { self.expires }
    }

    /// Its limits.
    pub(super) fn limits(&self) -> CredentialLimits {
        CredentialLimits {
            read_only: self.read_only,
            draft: *self.actions == *DRAFTING,
            resources: split_words(&self.resources),
        }
    }
}

/// Puts an application password into the database: its key, the clear secret and the plan.
pub fn plan_creation(identity: &Identity, wanted: &NewPassword<'_>, now: i64) -> (String, String, Put) {
    let secret = new_secret();
    let (uuid, put) = stored(wanted, &identity.hash(&secret), false, now);
    (uuid, secret, put)
}

/// A credential by its hash: its key and the plan. `token`: a login has made it.
pub fn stored(wanted: &NewPassword<'_>, hash: &str, token: bool, now: i64) -> (String, Put) {
    let uuid = uuid::Uuid::new_v4().to_string();
    // Distinguishes passwords that were made within one second.
    let ordinal = i64::try_from(time::OffsetDateTime::now_utc().unix_timestamp_nanos() / 1000).unwrap_or(now);
    let set = set([
        (col::USER, DbValue::Int(wanted.user)),
        (col::NAME, txt(wanted.title)),
        (col::APP_ID, txt(wanted.app_id)),
        (col::EXPIRES, DbValue::Int(wanted.expires)),
        (col::READ_ONLY, DbValue::Int(wanted.limits.read_only.into())),
        (col::ACTIONS, txt(wanted.limits.actions())),
        (col::RESOURCES, txt(&wanted.limits.resources.join(" "))),
        (col::HASH, txt(hash)),
        (col::TOKEN, DbValue::Int(token.into())),
        (col::CREATED, DbValue::Int(now)),
        (col::ORDINAL, DbValue::Int(ordinal)),
    ]);
    let put = Put::new(col::TABLE, Target::Keyed(txt(&uuid)), set);
    (uuid, put)
}

/// A new secret: letters and digits only.
pub fn new_secret() -> String {
    use rand::RngExt;
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut rng = rand::rng();
    (0..LENGTH).map(|_| char::from(LETTERS[rng.random_range(0..LETTERS.len())])).collect()
}

/// A secret as people read it: groups of four.
pub fn format_secret(secret: &str) -> String {
    let letters: Vec<char> = secret.chars().collect();
    letters.chunks(4).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_letters_and_digits_in_groups_of_four() {
        let secret = new_secret();
        assert_eq!(secret.len(), LENGTH);
        assert!(secret.chars().all(|c| c.is_ascii_alphanumeric()));
        assert_eq!(format_secret("abcdEFGH12"), "abcd EFGH 12");
    }
}
