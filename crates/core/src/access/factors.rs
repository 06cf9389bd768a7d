//! Second factors of accounts: which there are, and which accounts have to have one.
//!
//! Logins by password need the factor of an account that has one, those by an identity provider where that is declared;
//! application passwords and tokens never do. How a factor is
//! proven is [`super::factor_proofs`]'s matter.

use crate::error::ApiError;
use crate::records::{self, Record, eq, ordered, txt};
use crate::registry::columns::{factor as col, recovery, user};
use crate::registry::{Registry, name};
use crate::scope::Scope;
use cms_base::named;
use cms_storage::plan::{Change, Cond, DbValue, Put, Target};
use cms_storage::{Snapshot, StorageError, typed_row};
use std::sync::Arc;

named! {
    /// The means of a factor.
    pub enum FactorKind {
        /// Codes of an app, which change with time (RFC 6238).
        Totp = "totp",
        /// A key of a device or a password manager (Web Authentication).
        Passkey = "passkey",
    }
}

typed_row! {
    col::TABLE;
    /// A factor of an account.
    pub struct FactorRow {
        pub id: Arc<str> = col::KEY,
        pub(super) user: i64,
        pub kind: Arc<str>,
        pub name: Arc<str>,
        pub(super) secret: Arc<str>,
        pub created: i64,
        /// 0: never.
        pub last_used: i64,
        pub(super) proof: i64,
    }
}

impl FactorRow {
    /// The factors of an account, the oldest first.
    pub fn of_user(scope: &Scope, user: i64) -> Result<Vec<FactorRow>, ApiError> {
        let own = records::select::<FactorRow>(of_user(user));
        Ok(scope.snapshot()?.rows_as(&ordered(own, col::CREATED, false))?)
    }

    /// The change that takes it away, with the recovery codes where it is the `last` one.
    pub fn removed(&self, user: i64, last: bool) -> Vec<Change> {
        let own = Cond::All(vec![of_user(user), eq(col::KEY, txt(&self.id))]);
        let mut changes = vec![Change::RemoveWhere { table: name(col::TABLE), filter: own }];
        changes.extend(last.then(|| recovery_codes_ended(&DbValue::Int(user))));
        changes
    }
}

/// Recovery codes that an account has left.
pub fn recovery_codes_left(scope: &Scope, user: i64) -> Result<u64, ApiError> {
    let own = eq(recovery::USER, DbValue::Int(user));
    Ok(scope.snapshot()?.count(&records::columns(recovery::TABLE, &[recovery::HASH], own))?)
}

/// The changes that take every factor of an account away.
pub fn ended(account: &DbValue) -> [Change; 2] {
    let own = Change::RemoveWhere { table: name(col::TABLE), filter: eq(col::USER, account.clone()) };
    [own, recovery_codes_ended(account)]
}

/// The change that voids the recovery codes of an account.
pub(super) fn recovery_codes_ended(account: &DbValue) -> Change {
    Change::RemoveWhere { table: name(recovery::TABLE), filter: eq(recovery::USER, account.clone()) }
}

fn of_user(user: i64) -> Cond {
    eq(col::USER, DbValue::Int(user))
}

/// The duty of a login, beside the password or the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactorDuty {
    /// Nothing: there is no factor, and none is required.
    None,
    /// A proof of the account's factor.
    Proof,
    /// Nothing yet: a factor is required, and has to be there at this second.
    SetUpUntil(i64),
    /// There is no factor, and it is too late to go on without.
    SetUp,
}

impl FactorDuty {
    /// The duty of an account.
    pub fn of(scope: &Scope, snapshot: &dyn Snapshot, account: Record<'_>) -> Result<FactorDuty, StorageError> {
        if records::first_of::<FactorRow>(snapshot, of_user(account.id()))?.is_some() {
            return Ok(FactorDuty::Proof);
        }
        Ok(FactorDuty::without_factor(scope, account))
    }

    /// The duty of an account in a session, whose beginning has proven the factor that there was; `provider` is the identity provider
    /// that it began with. Only accounts from which one is required cost a look.
    pub fn in_session(
        scope: &Scope,
        snapshot: &dyn Snapshot,
        account: Record<'_>,
        provider: &str,
    ) -> Result<FactorDuty, StorageError> {
        match grace(scope, account) {
            Some(_) if asks_after(&scope.registry, provider) => FactorDuty::of(scope, snapshot, account),
            _ => Ok(FactorDuty::None),
        }
    }

    /// The duty of an account after a login by an identity provider.
    pub fn after_provider(
        scope: &Scope,
        snapshot: &dyn Snapshot,
        account: Record<'_>,
        provider: &str,
    ) -> Result<FactorDuty, StorageError> {
        match asks_after(&scope.registry, provider) {
            true => FactorDuty::of(scope, snapshot, account),
            false => Ok(FactorDuty::None),
        }
    }

    fn without_factor(scope: &Scope, account: Record<'_>) -> FactorDuty {
        let Some(grace) = grace(scope, account) else { return FactorDuty::None };
        match account.int(user::FACTOR_DUE) {
            0 if grace > 0 => FactorDuty::SetUpUntil(scope.now.saturating_add(grace)),
            due if due > scope.now => FactorDuty::SetUpUntil(due),
            _ => FactorDuty::SetUp,
        }
    }

    /// The change that begins the time of grace; nothing where it has begun.
    pub fn begun(self, account: Record<'_>) -> Option<Change> {
        let FactorDuty::SetUpUntil(due) = self else { return None };
        let target = Target::Existing { key: account.value(&account.resource.key).clone(), expect: None };
        let set = records::set([(user::FACTOR_DUE, DbValue::Int(due))]);
        (account.int(user::FACTOR_DUE) == 0).then(|| Change::Put(Put::new(user::TABLE, target, set)))
    }
}

/// Whether a login needs the account's factor: each by password (an empty name), and those by a provider that is declared so, since a
/// provider asks for factors of its own.
fn asks_after(registry: &Registry, provider: &str) -> bool {
    provider.is_empty() || registry.declaration.login.providers.get(provider).is_some_and(|own| own.second_factor)
}

/// Seconds for which an account may go on without a factor, by the strictest of its roles; `None`: none is required.
fn grace(scope: &Scope, account: Record<'_>) -> Option<i64> {
    let roles = &scope.settings.roles;
    let held = account.text(user::ROLES).split_whitespace().filter_map(|role| roles.get(role));
    held.filter_map(|role| role.factor_grace).min()
}
