//! Account passwords: how they are hashed and verified, and whether one suffices without a second factor.

use super::attempts::{AttemptLimit, AttemptOutcome, Guess, Guesser};
use super::audit::Event;
use super::factors::FactorDuty;
use super::hashing::{HashError, Hasher, is_foreign};
use super::identity::{Identity, principal, readable, record};
use crate::error::{ApiError, Code, status};
use crate::records::{self, Record, eq, txt};
use crate::registry::columns::user;
use crate::registry::resource::Resource;
use crate::registry::roles::Roles;
use crate::registry::{Registry, name};
use crate::scope::{Principal, Scope};
use cms_storage::plan::{Change, Cond, Input, Put, Row, Target, WritePlan};
use cms_text::slug::title_key;
use std::sync::Arc;

/// Where an account password is given, and how many guesses are allowed there.
#[derive(Clone, Copy, Debug)]
pub struct LoginContext<'a> {
    pub patience: AttemptLimit,
    pub path: &'a str,
}

/// An account whose password is known. Whether that suffices is decided here: every place that takes account passwords asks.
pub struct KnownPassword {
    pub(super) caller: Principal,
    /// The hash of the password.
    pub(super) stored: String,
    /// The password had to be hashed, since it had not been proven from there a while before.
    pub hashed: bool,
    pub duty: FactorDuty,
}

impl KnownPassword {
    /// Begins the time in which a factor has to be set up, where one is required.
    ///
    /// # Errors
    /// The database cannot be read; the account does not log in with a password.
    fn of(scope: &Scope, account: Record<'_>, hashed: bool) -> Result<KnownPassword, ApiError> {
        if !takes_password(&scope.registry, &scope.settings.roles, account) {
            return Err(ApiError::new(Code::Forbidden).with_status(status::FORBIDDEN).with_message(NO_PASSWORD));
        }
        let duty = FactorDuty::of(scope, &*scope.snapshot()?, account)?;
        if let Some(begun) = duty.begun(account) {
            // Nobody waits for it.
            drop(scope.storage.commit(WritePlan::new(vec![begun])));
        }
        let stored = account.text("password_hash").to_owned();
        Ok(KnownPassword { caller: principal(&scope.settings, account), stored, hashed, duty })
    }

    /// The account, where nothing else asks for its second factor.
    ///
    /// # Errors
    /// It has one, or has to have one.
    pub fn alone(self) -> Result<Principal, ApiError> {
        match self.duty {
            FactorDuty::None | FactorDuty::SetUpUntil(_) => Ok(self.caller),
            FactorDuty::Proof | FactorDuty::SetUp => Err(ApiError::new(Code::SecondFactorRequired)),
        }
    }

    /// The account, for a page that asks for the factor, or leads to where one is set up.
    pub fn before_factor(self) -> Principal {
        self.caller
    }
}

impl Identity {
    /// The hash of a password that is to be set. Setting passwords of one account is limited as guessing them is; a new
    /// account has an empty key.
    ///
    /// # Errors
    /// The caller has set that one too often; the queue of hashes is full; a transaction is open.
    pub async fn hash_new(
        &self,
        scope: &Scope,
        hasher: &Hasher,
        (account, password): (&str, &str),
    ) -> Result<String, ApiError> {
        if let Some(hash) = scope.hashes.get(password) {
            return Ok(hash.clone());
        }
        let owner = scope.job_owner()?;
        let pages = &scope.registry.declaration.pages;
        let (limit, who) = (AttemptLimit::paused(pages.max_login_attempts, pages.retry_after), Guesser::of(scope));
        if !account.is_empty() {
            let counted = self.passwords_set().count_own(who, account, limit, scope.now);
            counted.map_err(|wait| ApiError::wait(Code::TooManyRequests, wait))?;
        }
        hasher.hash(owner, password).await.map_err(|error| unhashed(scope, error))
    }

    /// The owner of an account has proven it otherwise than by a password, and set this one: what was guessed wrong from
    /// there before does not count any more.
    pub fn proven(&self, scope: &Scope, account: Record<'_>, (password, stored): (&str, &str), patience: AttemptLimit) {
        for about in [account.text("login_key"), account.text("email_key")] {
            let who = Guesser::Network(scope.peer.ip);
            self.attempts().right(&Guess { who, about, secret: password, stored }, patience);
        }
    }

    /// The user with this login (or e-mail address) and account password. An unknown user costs the same time.
    /// A failure is recorded, unless the credentials are too long to be checked.
    ///
    /// # Errors
    /// The database cannot be read; the queue of hashes is full, or too many guesses were wrong; the password is right, and the
    /// account does not log in with one.
    pub async fn verify_account(
        &self,
        scope: &Scope,
        hasher: &Hasher,
        (login, password): (&str, &str),
        LoginContext { patience, path }: LoginContext<'_>,
    ) -> Result<Option<KnownPassword>, ApiError> {
        let Some(users) = scope.registry.users() else { return Ok(None) };
        if !readable(&scope.registry, login, password) {
            return Ok(None);
        }
        let key = title_key(login);
        let row = {
            let named = Cond::Any(vec![eq("login_key", txt(&key)), eq("email_key", txt(&key))]);
            let mut plan = records::plan(users, named);
            plan.limit = Some(1);
            scope.snapshot()?.rows(&plan)?.into_iter().next()
        };
        let stored = row.as_ref().map_or("", |row| Record { resource: users, row }.text("password_hash"));
        let known = |hashed: bool| {
            let account = row.as_ref().map(|row| Record { resource: users, row });
            account.map(|account| KnownPassword::of(scope, account, hashed)).transpose()
        };
        let guess = Guess { who: Guesser::Network(scope.peer.ip), about: &key, secret: password, stored };
        let taken = self.attempts().count_guess(&guess, patience, scope.now);
        if taken.map_err(|wait| ApiError::wait(Code::TooManyRequests, wait))? == AttemptOutcome::Proven {
            return known(false);
        }
        match hasher.verify(scope.job_owner()?, password, stored).await {
            Ok(true) => {
                self.attempts().right(&guess, patience);
                if let Some(row) = row.as_ref().filter(|_| is_foreign(stored)) {
                    renew(scope, hasher, row, users, password).await;
                }
                known(true)
            }
            Ok(false) => {
                self.failed_logins().passwords.inc();
                record(scope, &Event { name: "login_failed", login, path, ..Event::default() }).await;
                Ok(None)
            }
            Err(error) => {
                self.attempts().uncount_guess(&guess, patience);
                Err(unhashed(scope, error))
            }
        }
    }
}

/// The refusal of a password that is right.
const NO_PASSWORD: &str = "This account does not log in with a password, but by the login of your organisation.";

/// Whether an account logs in with a password: its roles do, or it is the one for emergencies (`login.break_glass`).
pub fn takes_password(registry: &Registry, roles: &Roles, account: Record<'_>) -> bool {
    let break_glass = &registry.declaration.login.break_glass;
    let named = |login: &String| title_key(login) == account.text(user::LOGIN_KEY);
    let without = |role: &Arc<str>| roles.get(role).is_some_and(|role| !role.password_login);
    break_glass.get().is_some_and(named) || !records::split_words(account.text(user::ROLES)).iter().any(without)
}

/// Whether an account has a password that logs in.
pub fn has_password(scope: &Scope, account: Record<'_>) -> bool {
    !account.text(user::PASSWORD_HASH).is_empty() && takes_password(&scope.registry, &scope.settings.roles, account)
}

/// Why there is no hash: nothing that the caller has done.
fn unhashed(scope: &Scope, error: HashError) -> ApiError {
    match error {
        HashError::Busy => {
            ApiError::new(Code::Busy).with_message("The server checks many passwords at the moment; try again.")
        }
        HashError::Failed => scope.internal(&"a password could not be hashed"),
    }
}

/// Replaces a hash that another program made by one of ours, now that the password is known. A failure is logged;
/// the next login tries again.
async fn renew(scope: &Scope, hasher: &Hasher, row: &Row, users: &Resource, password: &str) {
    let Ok(owner) = scope.job_owner() else { return };
    let Ok(hash) = hasher.hash(owner, password).await else { return };
    let record = Record { resource: users, row };
    let target = Target::Existing { key: record.value("id").clone(), expect: record.version() };
    let put = Put::new(users.table.clone(), target, vec![(name("password_hash"), Input::Value(txt(&hash)))]);
    if let Err(error) = scope.storage.commit(WritePlan::new(vec![Change::Put(put)])).await {
        tracing::warn!(request = %scope.request_id, "the hash of a password was not renewed: {error}");
    }
}
