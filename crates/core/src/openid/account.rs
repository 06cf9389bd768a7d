//! Who somebody is here whom a provider has logged in: accounts are found by issuer and subject, and made or taken over by e-mail
//! address only as declared. Roles follow the claims at each login.

use super::provider::{OpenIdProvider, ProvenPerson};
use crate::access::audit::{self, Event};
use crate::access::identity::{Identity, principal};
use crate::access::tokens;
use crate::error::{ApiError, Code};
use crate::families::user::{self, columns as col};
use crate::families::{Columns, text_column};
use crate::records::{self, Record, eq, set, txt};
use crate::registry::columns::{ID, login_identity};
use crate::registry::name;
use crate::scope::Scope;
use cms_declaration::IdentityProvider;
use cms_storage::plan::{Change, Cond, DbValue, Input, Put, Row, Target};
use cms_text::sanitize::{self, is_email};
use cms_text::slug;
use serde_json::Value;
use std::sync::Arc;

use super::id_token::Claims;

/// Longest login that is made of a claim, in bytes, and longest name.
const LONGEST_LOGIN: usize = 50;
const LONGEST_NAME: usize = 200;

/// Numbers that are tried behind a login that somebody has.
const NUMBERS: std::ops::Range<u32> = 2..10;

/// Who a person is here, and the changes that make it so.
pub enum AccountPlan {
    Known {
        user: i64,
        changes: Vec<Change>,
    },
    /// The id is that of the first row that is written.
    New {
        changes: Vec<Change>,
    },
    /// In words for the person; the changes are carried out all the same.
    Refused {
        why: &'static str,
        user: i64,
        changes: Vec<Change>,
    },
}

/// One login that is decided.
struct AccountDecision<'a> {
    identity: &'a Identity,
    scope: &'a Scope,
    provider: &'a OpenIdProvider,
    person: &'a ProvenPerson,
    /// Path of the request, for the audit trail.
    path: &'a str,
}

/// Decides who a person is.
///
/// # Errors
/// The database cannot be read.
pub fn decide(
    identity: &Identity,
    scope: &Scope,
    (provider, person): (&OpenIdProvider, &ProvenPerson),
    path: &str,
) -> Result<AccountPlan, ApiError> {
    AccountDecision { identity, scope, provider, person, path }.plan()
}

/// The roles that claims give; `None`: the provider is not declared to give any.
fn roles_of(declared: &IdentityProvider, claims: &Claims) -> Option<Vec<Arc<str>>> {
    if declared.roles.is_empty() {
        return None;
    }
    let mut roles: Vec<Arc<str>> = Vec::new();
    for (claim, by_value) in &declared.roles {
        let values: Vec<&str> = match claim_of(claims, claim) {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let given =
            by_value.iter().filter(|(value, _)| values.contains(&value.as_str())).map(|(_, role)| role.as_str());
        roles.extend(given.map(Arc::from));
    }
    if roles.is_empty() {
        roles.extend(declared.default_role.get().map(|role| Arc::from(role.as_str())));
    }
    let mut each: Vec<Arc<str>> = Vec::new();
    for role in roles {
        if !each.contains(&role) {
            each.push(role);
        }
    }
    Some(each)
}

/// A claim of this name, or one inside others that its parts lead to.
fn claim_of<'c>(claims: &'c Claims, name: &str) -> Option<&'c Value> {
    claims.get(name).or_else(|| {
        let mut parts = name.split('.');
        let first = claims.get(parts.next()?)?;
        parts.try_fold(first, |inside, part| inside.get(part))
    })
}

fn text<'c>(claims: &'c Claims, name: &str) -> Option<&'c str> {
    claims.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

/// A name as accounts store it.
fn shown(text: &str) -> String {
    sanitize::name(&text.chars().take(LONGEST_NAME).collect::<String>())
}

impl AccountDecision<'_> {
    fn plan(&self) -> Result<AccountPlan, ApiError> {
        let roles = roles_of(&self.provider.declared, &self.person.claims);
        let none = roles.as_ref().is_some_and(Vec::is_empty);
        let known = self.known()?;
        if none {
            let why = "Your account there gives you no role on this site. Ask its administrators.";
            return self.refused(why, known.as_ref());
        }
        if let Some(row) = known {
            return self.updated(&row, roles, None);
        }
        let email = self.checked_email();
        let holder = email.map(|email| self.account(eq(col::EMAIL_KEY, txt(&slug::title_key(email))))).transpose()?;
        match holder.flatten() {
            Some(row) if self.provider.declared.link_by_email && self.may_be_taken(&row)? => {
                self.updated(&row, roles, Some(self.identity_put(Input::Value(DbValue::Int(self.record(&row)?.id())))))
            }
            Some(_) => self.refused(
                "There is an account with your e-mail address already, which is not connected with this login. Ask the administrators of \
                 the site.",
                None,
            ),
            None if self.provider.declared.create => self.made(roles, email),
            None => self.refused("There is no account for you on this site. Ask its administrators for one.", None),
        }
    }

    fn record<'r>(&'r self, row: &'r Row) -> Result<Record<'r>, ApiError> {
        let users = self.scope.registry.users();
        users.map(|resource| Record { resource, row }).ok_or_else(|| ApiError::new(Code::Internal))
    }

    fn account(&self, filter: Cond) -> Result<Option<Row>, ApiError> {
        let Some(users) = self.scope.registry.users() else { return Ok(None) };
        let mut plan = records::plan(users, filter);
        plan.limit = Some(1);
        Ok(self.scope.snapshot()?.rows(&plan)?.into_iter().next())
    }

    fn key(&self) -> String {
        let issuer = &self.provider.declared.issuer;
        self.identity.proof(&format!("login-identity|{}|{issuer}|{}", issuer.len(), self.person.subject))
    }

    /// The account that the person has here.
    fn known(&self) -> Result<Option<Row>, ApiError> {
        let own = eq(login_identity::KEY, txt(&self.key()));
        let snapshot = self.scope.snapshot()?;
        let user: Option<i64> = records::first(&*snapshot, login_identity::TABLE, &[login_identity::USER], own)?;
        user.map_or(Ok(None), |user| self.account(eq(ID, DbValue::Int(user))))
    }

    /// The e-mail address that the provider has checked.
    fn checked_email(&self) -> Option<&str> {
        let claims = &self.person.claims;
        let most = self.scope.registry.declaration.site.max_login.as_usize();
        let checked = matches!(claims.get("email_verified"), Some(Value::Bool(true)))
            || text(claims, "email_verified") == Some("true");
        text(claims, "email").filter(|email| checked && email.len() <= most && is_email(email))
    }

    /// Whether an account is that of the owner of its address, and of nobody else whom the provider knows: somebody may have
    /// written another one's address into an account, and a provider may give an address to another person.
    fn may_be_taken(&self, row: &Row) -> Result<bool, ApiError> {
        let account = self.record(row)?;
        let others = Cond::All(vec![
            eq(login_identity::USER, DbValue::Int(account.id())),
            eq(login_identity::ISSUER, txt(&self.provider.declared.issuer)),
        ]);
        let snapshot = self.scope.snapshot()?;
        let other: Option<DbValue> = records::first(&*snapshot, login_identity::TABLE, &[login_identity::KEY], others)?;
        Ok(account.int(col::EMAIL_PENDING) == 0 && other.is_none())
    }

    fn identity_put(&self, user: Input) -> Change {
        let mut columns = set([
            (login_identity::ISSUER, txt(&self.provider.declared.issuer)),
            (login_identity::SUBJECT, txt(&self.person.subject)),
            (login_identity::CREATED, DbValue::Int(self.scope.now)),
        ]);
        columns.push((name(login_identity::USER), user));
        Change::Put(Put::new(login_identity::TABLE, Target::Keyed(txt(&self.key())), columns))
    }

    /// The entry of the audit trail.
    fn event(&self, name: &str, user: i64, login: &str, changed: Vec<String>) -> Option<Change> {
        let mut all = vec![format!("provider={}", self.provider.name)];
        all.extend(changed);
        audit::entry(self.scope, &Event { name, user, login, path: self.path, subject: "", changed: all })
    }

    /// An account that there is, with the roles and the address that it has at the provider; `linked`: from now on it is the person's.
    fn updated(
        &self,
        row: &Row,
        roles: Option<Vec<Arc<str>>>,
        linked: Option<Change>,
    ) -> Result<AccountPlan, ApiError> {
        let account = self.record(row)?;
        if let Some(roles) = &roles
            && user::is_last_holder(self.scope, account, roles)?
        {
            return self.refused(Code::LastAdministrator.message(), Some(row));
        }
        let (mut changes, mut columns, mut changed) = (Vec::new(), Columns::new(), Vec::new());
        let login = account.text(col::LOGIN);
        if let Some(roles) = roles.filter(|roles| records::split_words(account.text(col::ROLES)) != *roles) {
            changes.extend(user::lost_roles(&self.scope.registry, account, &roles));
            columns.push(user::roles_column(roles.iter().map(|role| &**role)));
            changed.push(format!("roles={}", roles.join(" ")));
        }
        let other = self.checked_email().filter(|email| slug::title_key(email) != account.text(col::EMAIL_KEY));
        if let Some(email) = other {
            if self.account(eq(col::EMAIL_KEY, txt(&slug::title_key(email))))?.is_some() {
                changed.push("email=taken".to_owned());
            } else {
                let mut own = self.scope.clone();
                own.principal = principal(&own.settings, account);
                changes.extend(user::checked_address(&own, account, email, &mut columns));
                changed.push("email".to_owned());
            }
        }
        let event = if linked.is_some() { "account_linked" } else { "account_updated" };
        if !columns.is_empty() {
            let target = Target::Existing { key: DbValue::Int(account.id()), expect: None };
            changes.push(Change::Put(Put::new(col::TABLE, target, columns)));
        }
        if linked.is_some() || !changed.is_empty() {
            changes.extend(self.event(event, account.id(), login, changed));
        }
        changes.extend(linked);
        Ok(AccountPlan::Known { user: account.id(), changes })
    }

    /// A new account.
    fn made(&self, roles: Option<Vec<Arc<str>>>, email: Option<&str>) -> Result<AccountPlan, ApiError> {
        let (claims, registry) = (&self.person.claims, &self.scope.registry);
        let declared = self.provider.declared.default_role.get().map(String::as_str);
        let usual = || declared.or(registry.default_role()).map(Arc::from).into_iter().collect();
        let roles: Vec<Arc<str>> = roles.unwrap_or_else(usual);
        let login = self.free_login()?;
        let mut columns = vec![user::roles_column(roles.iter().map(|role| &**role))];
        columns.push(text_column(col::PASSWORD_HASH, ""));
        // Every account has an address of its own: what is missing is replaced by one that can never receive.
        let email =
            email.map_or_else(|| format!("{}-{}@invalid", slug::user_slug(&login), &self.key()[..8]), str::to_owned);
        columns.push(text_column(col::EMAIL, &email));
        for (column, claim) in [(col::NAME, "name"), (col::FIRST_NAME, "given_name"), (col::LAST_NAME, "family_name")] {
            columns.extend(text(claims, claim).map(|text| text_column(column, &shown(text))));
        }
        let changed = vec![format!("roles={}", roles.join(" "))];
        let mut entry = self.event("account_made", 0, &login, changed);
        // Its id is not known yet.
        if let Some(Change::Put(put)) = &mut entry {
            put.set.iter_mut().filter(|(column, _)| **column == *"user").for_each(|(_, user)| *user = Input::IdOf(0));
        }
        let mut changes = vec![Change::Put(user::put(Target::New, &login, self.scope.now, None, columns))];
        changes.push(self.identity_put(Input::IdOf(0)));
        changes.extend(entry);
        Ok(AccountPlan::New { changes })
    }

    /// A login that nobody has. It is no e-mail address: somebody else may have that.
    fn free_login(&self) -> Result<String, ApiError> {
        let claims = &self.person.claims;
        let wanted = ["preferred_username", "nickname", "email", "name"];
        let plain = |claim: &str| {
            let own = text(claims, claim)?.split('@').next().unwrap_or_default();
            let mut login = slug::sanitize_user_login(own);
            login.truncate(LONGEST_LOGIN);
            let login = login.trim().to_owned();
            (slug::valid_login(&login) && !slug::user_slug(&login).is_empty()).then_some(login)
        };
        let base = wanted.into_iter().find_map(plain).unwrap_or_else(|| "user".to_owned());
        let numbered = NUMBERS.map(|number| format!("{base}-{number}"));
        for login in std::iter::once(base.clone()).chain(numbered) {
            if self.account(eq(col::LOGIN_KEY, txt(&slug::title_key(&login))))?.is_none() {
                return Ok(login);
            }
        }
        Ok(format!("{base}-{}", &self.key()[..8]))
    }

    /// A refusal. An account that the person has loses its roles, its sessions and its tokens; the last one with a required role keeps
    /// all of them, so that somebody can still look after the site.
    fn refused(&self, why: &'static str, known: Option<&Row>) -> Result<AccountPlan, ApiError> {
        let account = known.map(|row| self.record(row)).transpose()?;
        let (user, login) = account.map_or((0, &*self.person.subject), |a| (a.id(), a.text(col::LOGIN)));
        let mut changes = Vec::new();
        if let Some(account) = account
            && !user::is_last_holder(self.scope, account, &[])?
        {
            let target = Target::Existing { key: DbValue::Int(user), expect: None };
            changes.extend(user::lost_roles(&self.scope.registry, account, &[]));
            changes.push(Change::Put(Put::new(col::TABLE, target, vec![user::roles_column([])])));
            changes.extend([user::end_sessions(&DbValue::Int(user), None), tokens::ended(&DbValue::Int(user))]);
        }
        changes.extend(self.event("login_refused", user, login, vec![format!("subject={}", self.person.subject)]));
        Ok(AccountPlan::Refused { why, user, changes })
    }
}
