//! Passkeys (Web Authentication): how they are made, and what they prove.
//!
//! One that has checked who holds it is password and second factor in one; any other one is a second factor alone. A challenge
//! is sealed for its purpose and stored nowhere; it has the number of its moment, which the proof has, too, and so it is good
//! once (see [`super::factor_proofs`]). It knows no page; the checks of the standard are in [`super::webauthn`].

use super::attempts::{AttemptLimit, Guess, Guesser};
use super::factor_proofs::{PATIENCE, secret_of, used};
use super::factors::{FactorKind, FactorRow};
use super::identity::{Identity, principal};
use super::passwords::takes_password;
pub use super::webauthn::PasskeyFault;
use super::webauthn::{Assertion, Attestation, NewPasskey, RelyingParty, read};
use crate::error::{ApiError, Code};
use crate::records::{self, Record, eq, txt};
use crate::registry::Site;
use crate::registry::columns::factor as col;
use crate::scope::{Principal, Scope};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cms_storage::plan::{Change, DbValue};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// Microseconds of a second: a challenge has the number of the microsecond in which it was made.
const SECOND: i64 = 1_000_000;

/// A passkey that was right.
pub struct ProvenPasskey {
    pub caller: Principal,
    /// They use the proof up; the plan is refused with [`super::factor_proofs::USED`] if it was used meanwhile.
    pub changes: Vec<Change>,
}

/// Why a passkey proves nothing.
pub enum PasskeyError {
    /// It is refused; whose it is, where that is known.
    Refused(PasskeyFault, Option<Box<Principal>>),
    /// It was not checked.
    Failed(ApiError),
}

impl From<PasskeyFault> for PasskeyError {
    fn from(fault: PasskeyFault) -> PasskeyError {
        PasskeyError::Refused(fault, None)
    }
}

impl<E: Into<ApiError>> From<E> for PasskeyError {
    fn from(error: E) -> PasskeyError {
        PasskeyError::Failed(error.into())
    }
}

/// The purpose of a use of a passkey.
#[derive(Clone, Copy)]
pub enum PasskeyUse<'a> {
    /// That the owner of this account is there, to whom something else is known already: a session, a password, a link. The
    /// challenge is bound to that.
    SecondFactor(&'a Principal, &'a str),
    /// Whose it is, and that the owner is there.
    Login,
}

/// A passkey as it is stored, sealed.
#[derive(Deserialize, Serialize)]
struct StoredPasskey {
    id: String,
    key: String,
    counter: u32,
}

/// Whether browsers make passkeys for the site's address.
pub fn has_passkeys(site: &Site) -> bool {
    RelyingParty::of(site).is_some()
}

impl Identity {
    /// The options with which a browser makes a passkey for the caller (`PublicKeyCredentialCreationOptionsJSON`); `None`: the
    /// site's address has none.
    pub fn passkey_creation(&self, scope: &Scope, site_name: &str, own: &[FactorRow]) -> Option<Value> {
        let site = RelyingParty::of(&scope.registry.site)?;
        let caller = &scope.principal;
        let mut options = site.creation(site_name);
        let handle = URL_SAFE_NO_PAD.encode(self.user_handle(caller.id));
        options["user"] = json!({"id": handle, "name": &*caller.login, "displayName": &*caller.login});
        options["challenge"] = json!(self.new_challenge(&creation_of(caller)));
        options["timeout"] = json!(PATIENCE.milliseconds());
        options["excludeCredentials"] = self.descriptors(own);
        Some(options)
    }

    /// The options with which a browser uses a passkey (`PublicKeyCredentialRequestOptionsJSON`); `None`: there is none among
    /// the factors of the account, or the site's address has none.
    pub fn passkey_request(&self, scope: &Scope, used_as: PasskeyUse<'_>, own: &[FactorRow]) -> Option<Value> {
        let site = RelyingParty::of(&scope.registry.site)?;
        let allowed = self.descriptors(own);
        let login = matches!(used_as, PasskeyUse::Login);
        if !login && allowed.as_array().is_none_or(Vec::is_empty) {
            return None;
        }
        let verification = if login { "required" } else { "preferred" };
        Some(json!({
            "rpId": site.id,
            "challenge": self.new_challenge(&used_as.purpose()),
            "timeout": PATIENCE.milliseconds(),
            "allowCredentials": allowed,
            "userVerification": verification,
        }))
    }

    /// The passkeys among the factors of one account, as browsers receive them.
    fn descriptors(&self, own: &[FactorRow]) -> Value {
        let known = own.iter().filter_map(|row| self.stored_passkey(row));
        known.map(|passkey| json!({"type": "public-key", "id": passkey.id})).collect()
    }

    /// The changes that give the caller's account the passkey that the browser has made. The plan is refused with
    /// [`super::factor_proofs::USED`] if an account has it already.
    ///
    /// # Errors
    /// The fault of the response.
    pub fn add_passkey(&self, scope: &Scope, title: &str, given: &str) -> Result<Vec<Change>, PasskeyFault> {
        let site = RelyingParty::of(&scope.registry.site).ok_or(PasskeyFault::RelyingParty)?;
        let made: Attestation = read(given)?;
        let number = self.challenge_number(&creation_of(&scope.principal), &made.challenge()?, scope.now)?;
        let NewPasskey { id, key, counter } = made.check(&site)?;
        let [id, key] = [id, key].map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
        let row = self.factor_id(&id);
        let secret = StoredPasskey { id, key, counter }.text();
        Ok(self.stored(scope, (FactorKind::Passkey, &row, title), secret.as_bytes(), number))
    }

    /// Checks what a browser hands over when a passkey is used.
    ///
    /// # Errors
    /// It is refused; the database cannot be read; passkeys were refused too often: 429 with the seconds to wait.
    pub fn prove_passkey(
        &self,
        scope: &Scope,
        used_as: PasskeyUse<'_>,
        given: &str,
        limit: AttemptLimit,
    ) -> Result<ProvenPasskey, PasskeyError> {
        let about = match used_as {
            PasskeyUse::SecondFactor(account, _) => format!("passkey|{}", account.id),
            PasskeyUse::Login => "passkey".to_owned(),
        };
        let guess = Guess { who: Guesser::Network(scope.peer.ip), about: &about, secret: "", stored: "" };
        let counted = self.attempts().count_guess(&guess, limit, scope.now);
        counted.map_err(|wait| ApiError::wait(Code::TooManyRequests, wait))?;
        let proven = self.checked_passkey(scope, used_as, given)?;
        self.attempts().forget_guesses(&guess, limit);
        Ok(proven)
    }

    fn checked_passkey(
        &self,
        scope: &Scope,
        used_as: PasskeyUse<'_>,
        given: &str,
    ) -> Result<ProvenPasskey, PasskeyError> {
        let site = RelyingParty::of(&scope.registry.site).ok_or(PasskeyFault::RelyingParty)?;
        let assertion: Assertion = read(given)?;
        let number = self.challenge_number(&used_as.purpose(), &assertion.challenge()?, scope.now)?;
        let snapshot = scope.snapshot()?;
        let key = txt(&self.factor_id(&URL_SAFE_NO_PAD.encode(&assertion.id.0)));
        let row = records::first_of::<FactorRow>(&*snapshot, eq(col::KEY, key))?.ok_or(PasskeyFault::Credential)?;
        let passkey = self.stored_passkey(&row).ok_or(PasskeyFault::Credential)?;
        let users = scope.registry.users().ok_or(PasskeyFault::Credential)?;
        let account = records::find(&*snapshot, users, &DbValue::Int(row.user))?.ok_or(PasskeyFault::Credential)?;
        let owner = principal(&scope.settings, Record { resource: users, row: &account });
        let refused = |fault: PasskeyFault| PasskeyError::Refused(fault, Some(owner.clone().into()));
        if matches!(used_as, PasskeyUse::SecondFactor(account, _) if account.id != owner.id) {
            return Err(PasskeyFault::Credential.into());
        }
        let record = Record { resource: users, row: &account };
        if matches!(used_as, PasskeyUse::Login) && !takes_password(&scope.registry, &scope.settings.roles, record) {
            return Err(refused(PasskeyFault::Account));
        }
        let (login, handle) = (matches!(used_as, PasskeyUse::Login), self.user_handle(owner.id));
        match assertion.user_handle().filter(|handle| !handle.is_empty()) {
            Some(given) if given != handle => return Err(refused(PasskeyFault::UserHandle)),
            None if login => return Err(refused(PasskeyFault::UserHandle)),
            _ => {}
        }
        let spki = URL_SAFE_NO_PAD.decode(&passkey.key).map_err(|_| refused(PasskeyFault::Key))?;
        let counter = assertion.check(&site, (&spki, passkey.counter), login).map_err(&refused)?;
        if number <= row.proof {
            return Err(refused(PasskeyFault::Challenge));
        }
        let secret = (counter != passkey.counter).then(|| {
            let counted = StoredPasskey { counter, ..passkey };
            self.seal(&secret_of(row.user, &row.id), counted.text().as_bytes())
        });
        let changes = used(&row, number, scope.now, secret.as_deref());
        Ok(ProvenPasskey { caller: owner, changes })
    }

    fn stored_passkey(&self, row: &FactorRow) -> Option<StoredPasskey> {
        if *row.kind != *FactorKind::Passkey.as_str() {
            return None;
        }
        let secret = self.unseal(&secret_of(row.user, &row.id), &row.secret)?;
        serde_json::from_slice(&secret).ok()
    }

    /// The name by which authenticators know an account: nothing about the person.
    fn user_handle(&self, user: i64) -> [u8; 32] {
        self.derived(&format!("passkey|user|{user}"))
    }

    fn new_challenge(&self, purpose: &str) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let number = i64::try_from(now.as_micros()).unwrap_or(i64::MAX);
        self.seal(purpose, &number.to_be_bytes())
    }

    /// The number of a challenge that was made for this purpose, and not too long ago.
    fn challenge_number(&self, purpose: &str, challenge: &str, now: i64) -> Result<i64, PasskeyFault> {
        let bytes = self.unseal(purpose, challenge).ok_or(PasskeyFault::Challenge)?;
        let number = i64::from_be_bytes(bytes.try_into().map_err(|_| PasskeyFault::Challenge)?);
        let ends = number / SECOND + PATIENCE.seconds_signed();
        if ends > now { Ok(number) } else { Err(PasskeyFault::Challenge) }
    }
}

impl StoredPasskey {
    fn text(&self) -> String {
        json!(self).to_string()
    }
}

impl PasskeyUse<'_> {
    /// The purpose of a sealed challenge.
    fn purpose(self) -> String {
        match self {
            PasskeyUse::SecondFactor(account, bound) => format!("passkey|proof|{}|{bound}", account.id),
            PasskeyUse::Login => "passkey|login".to_owned(),
        }
    }
}

/// The purpose of the sealed challenge for a new passkey of a caller in one session.
fn creation_of(caller: &Principal) -> String {
    format!("passkey|new|{}|{}", caller.id, caller.session.as_deref().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_ends_and_is_for_one_purpose() {
        let identity = Identity::new(&[7; 32]);
        let (one, two) = (identity.new_challenge("one"), identity.new_challenge("one"));
        let now =
            i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_secs()).expect("a time");
        let number = identity.challenge_number("one", &one, now).expect("a number");
        assert!((now - 2..=now + 2).contains(&(number / SECOND)), "{number}");
        assert!(identity.challenge_number("one", &two, now).expect("a number") >= number);
        let end = number / SECOND + PATIENCE.seconds_signed();
        assert_eq!(identity.challenge_number("one", &one, end - 1), Ok(number));
        assert_eq!(identity.challenge_number("one", &one, end), Err(PasskeyFault::Challenge));
        assert_eq!(identity.challenge_number("two", &one, now), Err(PasskeyFault::Challenge));
        let other = identity.seal("one", b"another text");
        assert_eq!(identity.challenge_number("one", &other, now), Err(PasskeyFault::Challenge));
    }

    #[test]
    fn accounts_and_sessions_have_purposes_of_their_own() {
        let caller = |id: i64, session: &str| Principal { id, session: Some(session.into()), ..Principal::default() };
        let all = [caller(1, "a"), caller(1, "b"), caller(2, "a")];
        let mut purposes: Vec<String> = all.iter().map(creation_of).collect();
        purposes.extend(all.iter().map(|one| PasskeyUse::SecondFactor(one, "a").purpose()));
        purposes.push(PasskeyUse::SecondFactor(&all[0], "b").purpose());
        purposes.push(PasskeyUse::Login.purpose());
        purposes.sort();
        purposes.dedup();
        // The proof of an account is bound to what is given beside it, which is the session's own.
        assert_eq!(purposes.len(), 3 + 2 + 1 + 1);
    }
}
