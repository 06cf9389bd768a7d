//! Logins that have begun: what comes back from the provider belongs to the browser that was sent there.
//!
//! Nothing is stored of a login until it succeeds. The browser has a random cookie; `state` holds the provider, where the person
//! wants to go, and the end, with a keyed hash of these and of the cookie; the nonce and PKCE's verifier follow from the same. So
//! another browser can do nothing with an address that comes back, whoever has sent it there, and several tabs do not disturb
//! each other. A login that has succeeded is stored until its end, so that it does so once.

use crate::access::hashing::same_text;
use crate::access::identity::Identity;
use crate::error::ApiError;
use crate::records::{columns, eq, first, set, txt};
use crate::registry::columns::login_state as col;
use crate::registry::name;
use crate::scope::Scope;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cms_storage::plan::{Change, Cond, DbValue, Op, Put, Target};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Seconds within which a person logs in at the provider.
pub const LIFETIME: i64 = 10 * 60;

/// Longest address that a login leads back to, in bytes: it is a part of the provider's address. A longer one is left out.
const LONGEST_WANTED: usize = 2_000;

/// Longest `state` that is read, in bytes: what is in it, encoded.
const LONGEST: usize = 6_000;

/// Bytes of a cookie and of the number of a login.
const COOKIE: usize = 32;
const ID: usize = 16;

/// The tag of the refusal when a login has succeeded before.
pub const USED: &str = "login_used";

/// A login that has begun.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ProviderLogin {
    pub provider: String,
    /// Where the person wants to go; it is checked when the login ends, as every such address is.
    pub wanted: String,
    id: String,
    ends: i64,
}

/// The proofs that an answer belongs to a login.
pub struct LoginProofs {
    pub state: String,
    pub nonce: String,
    /// The text that the challenge is made from (RFC 7636).
    pub verifier: String,
}

impl LoginProofs {
    /// The challenge of PKCE.
    pub fn challenge(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(self.verifier.as_bytes()))
    }
}

/// A new cookie for a browser.
pub fn new_cookie() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; COOKIE]>())
}

/// Whether a text has the form of such a cookie.
pub fn is_cookie(text: &str) -> bool {
    text.len() == COOKIE.div_ceil(3) * 4 - 1 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
}

impl ProviderLogin {
    /// A login that begins now.
    pub fn begin(provider: &str, wanted: &str, now: i64) -> ProviderLogin {
        ProviderLogin {
            provider: provider.to_owned(),
            wanted: if wanted.len() > LONGEST_WANTED || wanted.contains(char::is_control) {
                String::new()
            } else {
                wanted.to_owned()
            },
            id: URL_SAFE_NO_PAD.encode(rand::random::<[u8; ID]>()),
            ends: now + LIFETIME,
        }
    }

    /// The login that a `state` belongs to, in the browser with this cookie; `None`: it is another one's, or too old.
    pub fn of(identity: &Identity, cookie: &str, state: &str, now: i64) -> Option<ProviderLogin> {
        let (text, proof) = state.split_once('.').filter(|_| state.len() <= LONGEST && is_cookie(cookie))?;
        if !same_text(&identity.proof(&format!("login-state|{cookie}|{text}")), proof) {
            return None;
        }
        let login: ProviderLogin = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        (login.ends > now).then_some(login)
    }

    /// The proofs of the login in the browser with this cookie.
    pub fn proofs(&self, identity: &Identity, cookie: &str) -> LoginProofs {
        let text = URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default());
        let of = |what: &str| identity.proof(&format!("login-{what}|{cookie}|{}", self.id));
        let proof = identity.proof(&format!("login-state|{cookie}|{text}"));
        LoginProofs { state: format!("{text}.{proof}"), nonce: of("nonce"), verifier: of("verifier") }
    }

    /// Whether the login has succeeded before.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn is_used(&self, scope: &Scope) -> Result<bool, ApiError> {
        Ok(first::<DbValue>(&*scope.snapshot()?, col::TABLE, &[col::ID], eq(col::ID, txt(&self.id)))?.is_some())
    }

    /// The changes by which the login succeeds, once: they are refused with [`USED`] then.
    pub fn used(&self, now: i64) -> Vec<Change> {
        let before = columns(col::TABLE, &[col::ID], eq(col::ID, txt(&self.id)));
        let past = Cond::Compare(name(col::EXPIRES), Op::Le, DbValue::Int(now));
        let own = set([(col::EXPIRES, DbValue::Int(self.ends))]);
        vec![
            Change::Require { plan: before, found: false, tag: USED },
            Change::RemoveWhere { table: name(col::TABLE), filter: past },
            Change::Put(Put::new(col::TABLE, Target::Keyed(txt(&self.id)), own)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_back_belongs_to_a_browser_a_server_and_a_while() {
        let (identity, other) = (Identity::new(&[7; 32]), Identity::new(&[8; 32]));
        let (browser, second) = (new_cookie(), new_cookie());
        assert!(is_cookie(&browser) && browser != second);
        let login = ProviderLogin::begin("idp", "/a?b=c", 1000);
        let proofs = login.proofs(&identity, &browser);
        let of = |identity, cookie: &str, state: &str, now| ProviderLogin::of(identity, cookie, state, now);
        assert_eq!(of(&identity, &browser, &proofs.state, 1000 + LIFETIME - 1), Some(login.clone()));
        assert_eq!(of(&identity, &browser, &proofs.state, 1000 + LIFETIME), None);
        assert_eq!(of(&identity, &second, &proofs.state, 1000), None);
        assert_eq!(of(&identity, "", &proofs.state, 1000), None);
        assert_eq!(of(&other, &browser, &proofs.state, 1000), None);
        let (text, proof) = proofs.state.split_once('.').expect("two parts");
        let later = ProviderLogin { ends: 9000, ..login.clone() };
        let changed = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&later).expect("text"));
        for wrong in [format!("{changed}.{proof}"), format!("{text}."), text.to_owned(), format!("{text}.{proof}a")] {
            assert_eq!(of(&identity, &browser, &wrong, 1000), None, "{wrong}");
        }
    }

    #[test]
    fn each_login_has_proofs_of_its_own() {
        let (identity, browser) = (Identity::new(&[7; 32]), new_cookie());
        let of = |login: &ProviderLogin, browser: &str| login.proofs(&identity, browser);
        let (one, two) = (ProviderLogin::begin("idp", "", 0), ProviderLogin::begin("idp", "", 0));
        let (first, other) = (of(&one, &browser), of(&two, &browser));
        assert!(first.nonce != other.nonce && first.verifier != other.verifier && first.nonce != first.verifier);
        assert_eq!(first.nonce, of(&one, &browser).nonce);
        assert_ne!(first.verifier, of(&one, &new_cookie()).verifier);
        assert_eq!((first.verifier.len(), first.challenge().len()), (64, 43));
    }

    #[test]
    fn an_address_that_is_too_long_for_the_provider_s_is_left_out() {
        let identity = Identity::new(&[7; 32]);
        for (wanted, kept) in
            [("\"".repeat(LONGEST_WANTED), LONGEST_WANTED), ("a".repeat(LONGEST_WANTED + 1), 0), ("a\u{1}".into(), 0)]
        {
            let login = ProviderLogin::begin("idp", &wanted, 0);
            assert_eq!(login.wanted.len(), kept);
            let browser = new_cookie();
            let state = login.proofs(&identity, &browser).state;
            assert_eq!(ProviderLogin::of(&identity, &browser, &state, 0), Some(login), "{}", state.len());
        }
    }
}
