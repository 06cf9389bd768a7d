//! How second factors are made and proven: codes of authenticator apps, recovery codes, and what a login hands to itself
//! between the password and the factor.
//!
//! Every proof is good once: a proof has a number that is above that of the last one, and a recovery code goes with its use.
//! Both are checked again in the transaction that they allow ([`USED`]). It knows no page.

use super::attempts::{AttemptLimit, Guess, Guesser};
use super::factors::{FactorKind, FactorRow, recovery_codes_ended};
use super::identity::{Identity, principal};
use super::passwords::KnownPassword;
use crate::error::{ApiError, Code};
use crate::records::{self, Record, columns, eq, txt};
use crate::registry::columns::{factor as col, recovery, user};
use crate::registry::name;
use crate::scope::{Principal, Scope};
use cms_declaration::units::Duration;
use cms_storage::plan::{Change, Cond, DbValue, Op, Put, Target};
use qrcode::{Color, QrCode};
use rand::RngExt;
use serde_json::{Value, json};
use std::fmt::Write as _;
use totp_rs::{Builder, Totp};

/// The tag of the refusal when a proof was used meanwhile.
pub const USED: &str = "second_factor_used";

/// Bytes of the secret that an app shares with the server (RFC 4226).
const SECRET: usize = 20;

/// Recovery codes that an account gets at a time, and the letters and digits of one: 60 bits.
const CODES: usize = 10;
const CODE: usize = 12;

/// Characters of recovery codes: none is easily taken for another one.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Longest code that is read, in characters.
const LONGEST: usize = 64;

/// How long a login waits for the factor, and a new app for its first code.
pub(super) const PATIENCE: Duration = Duration::seconds_of(15 * 60);

/// Guesses about one account from everywhere, as a multiple of those from one network; and how much longer the pause is then.
const EVERYWHERE: (i64, i64) = (5, 10);

/// An app that is not set up yet.
pub struct NewAuthenticator {
    /// The secret, sealed: the page sends it back with the first code.
    pub setup: String,
    /// The secret as people type it.
    pub secret: String,
    /// The same as an address that apps open.
    pub address: String,
    /// The address as a QR code: the dark squares of a picture as the path of an SVG, and how many squares a side has.
    pub squares: (String, usize),
}

/// A factor that was proven.
pub struct ProvenFactor {
    /// They use the proof up; the plan is refused with [`USED`] if it was used meanwhile.
    pub changes: Vec<Change>,
    /// It was a recovery code.
    pub recovery: bool,
}

/// A login whose password was right.
pub struct PendingLogin {
    /// Whose.
    pub caller: Principal,
    /// The session is to last longer.
    pub remember: bool,
    /// The identity provider that it came from; empty: a password was right.
    pub provider: String,
}

impl Identity {
    /// A login by password that waits for the factor, as the page hands it to itself.
    pub fn pending_login(&self, known: &KnownPassword, remember: bool, now: i64) -> String {
        self.waiting((known.caller.id, &known.stored), remember, "", now)
    }

    /// The same after a login by an identity provider.
    pub fn pending_provider_login(&self, account: Record<'_>, provider: &str, now: i64) -> String {
        self.waiting((account.id(), account.text(user::PASSWORD_HASH)), false, provider, now)
    }

    fn waiting(&self, (user, stored): (i64, &str), remember: bool, provider: &str, now: i64) -> String {
        let login = json!([user, now + PATIENCE.seconds_signed(), remember, stored, provider]);
        self.seal("login", login.to_string().as_bytes())
    }

    /// A login that waits, while the account has the password that was right; `None`: it has waited too long.
    pub fn resumed_login(&self, scope: &Scope, given: &str) -> Result<Option<PendingLogin>, ApiError> {
        let Some(text) = self.unseal("login", given) else { return Ok(None) };
        let login: Value = serde_json::from_slice(&text).unwrap_or_default();
        let (Some(user), Some(ends)) = (login[0].as_i64(), login[1].as_i64()) else { return Ok(None) };
        let Some(users) = scope.registry.users().filter(|_| ends > scope.now) else { return Ok(None) };
        let Some(row) = records::find(&*scope.snapshot()?, users, &DbValue::Int(user))? else { return Ok(None) };
        let account = Record { resource: users, row: &row };
        let same = account.text(user::PASSWORD_HASH) == login[3];
        let resumed = || PendingLogin {
            caller: principal(&scope.settings, account),
            remember: login[2] == true,
            provider: login[4].as_str().unwrap_or_default().to_owned(),
        };
        Ok(same.then(resumed))
    }

    /// A new secret for an app of an account.
    ///
    /// # Errors
    /// The name of the site or of the account makes no QR code.
    pub fn new_authenticator(&self, scope: &Scope, site: &str, login: &str) -> Result<NewAuthenticator, ApiError> {
        let secret: [u8; SECRET] = rand::random();
        let ends = scope.now + PATIENCE.seconds_signed();
        let setup = self.seal(&setup_of(scope.principal.id), &[ends.to_be_bytes().as_slice(), &secret].concat());
        self.authenticator(scope, &setup, site, login)?.ok_or_else(|| ApiError::new(Code::Internal))
    }

    /// An app that is being set up; `None`: that has taken too long.
    pub fn authenticator(
        &self,
        scope: &Scope,
        setup: &str,
        site: &str,
        login: &str,
    ) -> Result<Option<NewAuthenticator>, ApiError> {
        let Some(secret) = self.setup_secret(scope, setup) else { return Ok(None) };
        let label = |text: &str| text.replace(':', " ").chars().take(LONGEST).collect::<String>();
        let named = Builder::new().with_secret(secret).with_issuer(Some(label(site))).with_account_name(label(login));
        let totp = named.build().map_err(|error| scope.internal(&error))?;
        let address = totp.to_url().map_err(|error| scope.internal(&error))?;
        let squares = squares(&address).map_err(|error| scope.internal(&error))?;
        let secret = totp.secret().to_base32();
        Ok(Some(NewAuthenticator { setup: setup.to_owned(), secret, address, squares }))
    }

    fn setup_secret(&self, scope: &Scope, setup: &str) -> Option<[u8; SECRET]> {
        let bytes = self.unseal(&setup_of(scope.principal.id), setup)?;
        let (ends, secret) = bytes.split_first_chunk()?;
        (i64::from_be_bytes(*ends) > scope.now).then(|| secret.try_into().ok()).flatten()
    }

    /// The changes that give the caller's account an app that has shown its first code; `None`: the code is wrong, or the
    /// set-up has taken too long. The plan is refused with [`USED`] if it is there already.
    pub fn add_authenticator(&self, scope: &Scope, setup: &str, title: &str, code: &str) -> Option<Vec<Change>> {
        let secret = self.setup_secret(scope, setup)?;
        let step = step_of(&secret, &plain(code), scope.now)?;
        let id = self.factor_id(&totp_rs::Secret::from(secret).to_base32());
        Some(self.stored(scope, (FactorKind::Totp, &id, title), &secret, step))
    }

    /// The identifier of the factor with this secret, or with this public name.
    pub(super) fn factor_id(&self, text: &str) -> String {
        let mut id = self.digest(&format!("factor|{}", self.digest(text)));
        id.truncate(LONGEST / 2);
        id
    }

    /// The changes that store a new factor of the caller.
    pub(super) fn stored(
        &self,
        scope: &Scope,
        (kind, id, title): (FactorKind, &str, &str),
        secret: &[u8],
        proof: i64,
    ) -> Vec<Change> {
        let user = scope.principal.id;
        let set = records::set([
            (col::USER, DbValue::Int(user)),
            (col::KIND, txt(kind.as_str())),
            (col::NAME, txt(title)),
            (col::SECRET, txt(&self.seal(&secret_of(user, id), secret))),
            (col::CREATED, DbValue::Int(scope.now)),
            (col::LAST_USED, DbValue::Int(0)),
            (col::PROOF, DbValue::Int(proof)),
        ]);
        let plan = columns(col::TABLE, &[col::KEY], eq(col::KEY, txt(id)));
        vec![
            Change::Require { plan, found: false, tag: USED },
            Change::Put(Put::new(col::TABLE, Target::Keyed(txt(id)), set)),
        ]
    }

    /// New recovery codes of an account, which replace those that it has, as people write them down.
    pub fn new_recovery_codes(&self, user: i64) -> (Vec<String>, Vec<Change>) {
        let mut rng = rand::rng();
        let mut changes = vec![recovery_codes_ended(&DbValue::Int(user))];
        let mut codes = Vec::with_capacity(CODES);
        for _ in 0..CODES {
            let code: String = (0..CODE).map(|_| char::from(LETTERS[rng.random_range(0..LETTERS.len())])).collect();
            let set = records::set([(recovery::USER, DbValue::Int(user))]);
            let target = Target::Keyed(txt(&self.recovery_hash(user, &code)));
            changes.push(Change::Put(Put::new(recovery::TABLE, target, set)));
            codes.push(format!("{}-{}-{}", &code[..4], &code[4..8], &code[8..]));
        }
        (codes, changes)
    }

    fn recovery_hash(&self, user: i64, code: &str) -> String {
        self.digest(&format!("recovery|{user}|{code}"))
    }

    /// Proves the factor of an account by a code of an app or a recovery code; `None`: it is wrong, or was used.
    ///
    /// # Errors
    /// The database cannot be read; codes were wrong too often: 429 with the seconds to wait.
    pub fn prove_code(
        &self,
        scope: &Scope,
        user: i64,
        given: &str,
        limit: AttemptLimit,
    ) -> Result<Option<ProvenFactor>, ApiError> {
        let (code, about) = (plain(given), format!("factor|{user}"));
        let here = Guess { who: Guesser::Network(scope.peer.ip), about: &about, secret: &code, stored: "" };
        let everywhere = Guess { who: Guesser::User(user), ..here };
        let guesses = [(here, limit), (everywhere, limit.times(EVERYWHERE))];
        for (guess, limit) in &guesses {
            let counted = self.attempts().count_guess(guess, *limit, scope.now);
            counted.map_err(|wait| ApiError::wait(Code::TooManyRequests, wait))?;
        }
        let proven = self.matching(scope, user, &code)?;
        if proven.is_some() {
            for (guess, limit) in &guesses {
                self.attempts().forget_guesses(guess, *limit);
            }
        }
        Ok(proven)
    }

    fn matching(&self, scope: &Scope, user: i64, code: &str) -> Result<Option<ProvenFactor>, ApiError> {
        if code.len() == CODE {
            let hash = txt(&self.recovery_hash(user, code));
            let plan = columns(recovery::TABLE, &[recovery::HASH], eq(recovery::HASH, hash.clone()));
            let found = scope.snapshot()?.count(&plan)? > 0;
            let used = Change::Remove { table: name(recovery::TABLE), key: hash, expect: None };
            let changes = vec![Change::Require { plan, found: true, tag: USED }, used];
            return Ok(found.then_some(ProvenFactor { changes, recovery: true }));
        }
        for factor in FactorRow::of_user(scope, user)? {
            let secret = self.unseal(&secret_of(user, &factor.id), &factor.secret).unwrap_or_default();
            let step = step_of(&secret, code, scope.now).filter(|step| *step > factor.proof);
            if let Some(step) = step.filter(|_| *factor.kind == *FactorKind::Totp.as_str()) {
                let changes = used(&factor, step, scope.now, None);
                return Ok(Some(ProvenFactor { changes, recovery: false }));
            }
        }
        Ok(None)
    }
}

/// The changes that use a proof of a factor up, and store a new secret where it has one after that.
pub(super) fn used(factor: &FactorRow, proof: i64, now: i64, secret: Option<&str>) -> Vec<Change> {
    let before = Cond::Compare(name(col::PROOF), Op::Lt, DbValue::Int(proof));
    let same = eq(col::SECRET, txt(&factor.secret));
    let plan = columns(col::TABLE, &[col::KEY], Cond::All(vec![eq(col::KEY, txt(&factor.id)), before, same]));
    let target = Target::Existing { key: txt(&factor.id), expect: None };
    let mut set = records::set([(col::PROOF, DbValue::Int(proof)), (col::LAST_USED, DbValue::Int(now))]);
    set.extend(secret.map(|secret| records::set([(col::SECRET, txt(secret))])).into_iter().flatten());
    vec![Change::Require { plan, found: true, tag: USED }, Change::Put(Put::new(col::TABLE, target, set))]
}

/// The purpose of a sealed set-up.
fn setup_of(user: i64) -> String {
    format!("authenticator|{user}")
}

/// The purpose of a factor's sealed secret.
pub(super) fn secret_of(user: i64, id: &str) -> String {
    format!("second factor|{user}|{id}")
}

/// A code without spaces and hyphens.
fn plain(given: &str) -> String {
    given.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).take(LONGEST).collect()
}

/// The step of time that a code is of: this one, the one before or the next.
fn step_of(secret: &[u8], code: &str, now: i64) -> Option<i64> {
    let totp: Totp = Builder::new().with_secret(secret.to_vec()).build().ok()?;
    let step = totp.check(code, u64::try_from(now).ok()?)?;
    i64::try_from(step).ok()
}

/// A text as a QR code: see [`NewAuthenticator::squares`].
fn squares(text: &str) -> Result<(String, usize), qrcode::types::QrError> {
    let code = QrCode::new(text)?;
    let (side, mut path) = (code.width(), String::new());
    let dark = code.to_colors().into_iter().enumerate().filter(|(_, color)| *color == Color::Dark);
    for (at, _) in dark {
        let _ = write!(path, "M{} {}h1v1h-1z", at % side, at / side);
    }
    Ok((path, side))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The secret of RFC 6238's test vectors.
    const KEY: &[u8] = b"12345678901234567890";

    #[test]
    fn codes_are_those_of_the_standard() {
        // The vectors have eight digits; the last six are the code.
        for (now, code) in [(59, "287082"), (1_111_111_109, "081804"), (2_000_000_000, "279037")] {
            assert_eq!(step_of(KEY, code, now), Some(now / 30), "{now}");
            assert_eq!(step_of(KEY, code, now + 30), Some(now / 30), "a step later");
            assert_eq!(step_of(KEY, code, now + 90), None);
        }
        for wrong in ["", "28708", "2870822", "28708a", "२८७०८२"] {
            assert_eq!(step_of(KEY, wrong, 59), None, "{wrong}");
        }
        assert_eq!(step_of(b"short", "287082", 59), None);
        assert_eq!(step_of(KEY, "287082", -1), None);
    }

    #[test]
    fn recovery_codes_are_stored_as_digests_of_one_account() {
        let identity = Identity::new(&[7; 32]);
        let (codes, changes) = identity.new_recovery_codes(1);
        assert_eq!((codes.len(), changes.len()), (CODES, CODES + 1));
        assert!(codes.iter().all(|code| code.len() == CODE + 2 && plain(code).len() == CODE), "{codes:?}");
        assert!(!format!("{changes:?}").contains(&plain(&codes[0])));
        assert_ne!(identity.recovery_hash(1, "x"), identity.recovery_hash(2, "x"));
    }

    #[test]
    fn a_code_is_read_as_people_type_it() {
        assert_eq!(plain(" 123 456 "), "123456");
        assert_eq!(plain("ABCD-efgh-1234"), "abcdefgh1234");
        assert_eq!(plain(&"1".repeat(1000)).len(), LONGEST);
    }

    #[test]
    fn a_qr_code_is_a_square_of_squares() {
        let (path, side) = squares("otpauth://totp/A:ada?secret=ABC").expect("a code");
        assert!(side >= 21 && path.starts_with("M0 0h1v1h-1z"), "{side} {path:.40}");
        assert!(path.chars().all(|c| c.is_ascii_digit() || "Mhvz- ".contains(c)), "{path}");
    }
}
