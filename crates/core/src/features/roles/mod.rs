//! Roles that people make and change: what is stored over the roles of the declarations, and the rules of it.
//!
//! All stored roles are one value of the settings, so that every cache and every node follows them as it follows a setting. A
//! change reads and writes it in one transaction.

pub mod guard;
mod table;

use crate::access::audit::{self, Event};
use crate::access::{failure, policy};
use crate::error::{ApiError, Code, refuse_if, status};
use crate::families::commit_failure;
use crate::handlers::{Handler, Outcome, TransactionScope, Work, handler, sync_handler};
use crate::records::{self, columns, eq, join_words, split_words, txt};
use crate::registry::columns::user;
use crate::registry::name;
use crate::registry::roles::{EffectiveRole, RoleOrigin, Roles, StoredRole, StoredRoles};
use crate::registry::vocabulary::{BehaviourEntry, ResponseKind, VIRTUAL};
use crate::scope::{STORED_ROLES, Scope, Settings, stored_roles};
use cms_storage::plan::{Change, Cond, Op, WritePlan};
use indexmap::IndexSet;
use serde_json::{Value, json};
use std::sync::Arc;

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    sync_handler("role.list", list, "Lists the roles in force: those of the declarations, then those that are stored.")
        .responds(ResponseKind::List)
        .on(VIRTUAL),
    sync_handler("role.get", get, "Responds with a role in force.").fails(&[Code::RecordInvalidId]).on(VIRTUAL),
    handler("role.create", |w| Box::pin(create(w)), "Stores a new role. Nobody gives what they do not hold.")
        .fails(&[Code::CannotCreate, Code::DuplicateValue, Code::InvalidParam])
        .responds(ResponseKind::Created)
        .on(VIRTUAL),
    handler("role.update", |w| Box::pin(update(w)), "Changes a role that is not locked, by the same rule.")
        .fails(&[Code::CannotEdit, Code::InvalidParam, Code::PreconditionFailed, Code::RecordInvalidId])
        .on(VIRTUAL),
    handler(
        "role.delete",
        |w| Box::pin(delete(w)),
        "Deletes a stored role, whose users get another one, or what is stored over a declared role.",
    )
    .fails(&[
        Code::CannotDelete,
        Code::CannotDeleteStored,
        Code::InvalidParam,
        Code::PreconditionFailed,
        Code::RecordInvalidId,
    ])
    .fails_at(&[(None, Code::CannotDeleteStored, status::CONFLICT)])
    .responds(ResponseKind::Deleted)
    .on(VIRTUAL),
    sync_handler("role.capabilities", table::get, "Responds with the capability that each action needs.").on(VIRTUAL),
];

/// Different combinations of roles that the users of one role may have.
const MOST_COMBINATIONS: usize = 100;

/// The roles in force.
fn list(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let roles = &work.scope.settings.roles;
    let documents = roles.iter().map(|(slug, role)| document(work.scope, slug, role)).collect();
    Ok(Outcome { private: true, ..Outcome::ok(Value::Array(documents)) })
}

/// One of them.
///
/// # Errors
/// There is none of this name.
fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let slug = slug(work);
    let role = work.scope.settings.roles.get(slug).ok_or_else(|| missing(work))?;
    Ok(shown(work.scope, slug, role))
}

/// Stores a role.
///
/// # Errors
/// The name is taken; a capability is none, or one that the caller does not hold; there are too many.
async fn create(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let edit = RolesEdit::begin(work).await?;
    let slug = work.allowed.args().text("slug").unwrap_or_default();
    // A stored role that does not apply has its name, too.
    if edit.roles().contains(slug) {
        let message = format!("There is a role `{slug}` already.");
        return Err(ApiError::new(Code::DuplicateValue).with_message(message));
    }
    let role = given(work, None)?;
    edit.check_givable(role.capabilities.iter().map(String::as_str), Code::CannotCreate)?;
    let made = edit.put(work, "role_created", slug, role).await?;
    let address = work.scope.registry.rest(&format!("{}/{slug}", work.path.trim_end_matches('/')));
    Ok(Outcome { version: made.version, private: true, ..Outcome::created(made.body, address) })
}

/// Changes a role.
///
/// # Errors
/// It is locked, or allows what the caller may not do; as [`create`].
async fn update(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let edit = RolesEdit::begin(work).await?;
    let slug = slug(work);
    let role = edit.changeable(work, slug, Code::CannotEdit)?;
    let wanted = given(work, Some(role))?;
    let kept = edit.scope.registry.declared_roles.get(slug).filter(|_| role.required);
    let mut kept = kept.into_iter().flat_map(|role| &role.capabilities);
    if let Some(lost) = kept.find(|capability| !wanted.capabilities.contains(&***capability)) {
        let message = format!("This role keeps `{lost}`: some user always has it, with all that is declared.");
        return Err(ApiError::invalid_one("capabilities", message));
    }
    let added = wanted.capabilities.iter().filter(|capability| !role.capabilities.contains(capability.as_str()));
    edit.check_givable(added.map(String::as_str), Code::CannotEdit)?;
    edit.put(work, "role_changed", slug, wanted).await
}

/// Deletes what is stored of a role.
///
/// # Errors
/// Nothing is; it has users, and no other role for them is named; the caller may not give what they get.
async fn delete(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let mut edit = RolesEdit::begin(work).await?;
    let slug = slug(work);
    let role = edit.changeable(work, slug, Code::CannotDelete)?.clone();
    let mut moved = Vec::new();
    match role.origin {
        RoleOrigin::Declared => {
            let message = format!("This role is declared as [roles.{slug}]: delete it there.");
            return Err(edit.scope.principal.refuse(Code::CannotDelete).with_message(message));
        }
        RoleOrigin::Changed => {
            let declared = edit.scope.registry.declared_roles.get(slug);
            let back = declared.into_iter().flat_map(|role| &role.capabilities);
            let back = back.filter(|capability| !role.capabilities.contains(*capability));
            edit.check_givable(back.map(|capability| &**capability), Code::CannotDelete)?;
        }
        RoleOrigin::Stored => moved = edit.moved(work, slug)?,
    }
    let previous = document(&edit.scope, slug, &role);
    edit.stored.shift_remove(slug);
    edit.write(work, ("role_deleted", slug), Some(&role), moved).await?;
    Ok(Outcome { private: true, ..Outcome::ok(json!({"deleted": true, "previous": previous})) })
}

/// The role that a request names.
fn slug<'w>(work: &Work<'w>) -> &'w str {
    work.captures.get("slug").and_then(Value::as_str).unwrap_or_default()
}

fn missing(work: &Work<'_>) -> ApiError {
    work.resource().map_or_else(|error| error, |roles| failure(roles, Code::RecordInvalidId))
}

/// A role as the request gives it; what it leaves out is as before.
fn given(work: &Work<'_>, before: Option<&EffectiveRole>) -> Result<StoredRole, ApiError> {
    let args = work.allowed.args();
    let name = match args.explicit("name").and_then(Value::as_str) {
        Some(name) => name.trim().to_owned(),
        None => before.map(|role| role.name.clone()).unwrap_or_default(),
    };
    if name.is_empty() {
        return Err(ApiError::invalid_one("name", "A role has a name."));
    }
    let capabilities: IndexSet<String> = match args.explicit("capabilities").and_then(Value::as_array) {
        Some(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        None => before.into_iter().flat_map(|role| &role.capabilities).map(|name| name.to_string()).collect(),
    };
    let known = &work.scope.registry.capabilities;
    if let Some(unknown) = capabilities.iter().find(|name| !known.contains(name.as_str())) {
        return Err(ApiError::invalid_one("capabilities", format!("No declaration names a capability `{unknown}`.")));
    }
    Ok(StoredRole { name, capabilities })
}

/// A change of the stored roles. Nobody else writes until it ends.
struct RolesEdit {
    /// The caller and the roles as they are within the transaction.
    scope: Scope,
    /// `None`: the request is part of one already.
    open: Option<TransactionScope>,
    stored: StoredRoles,
}

impl RolesEdit {
    async fn begin(work: &Work<'_>) -> Result<RolesEdit, ApiError> {
        let open = match work.scope.tentative {
            true => None,
            false => Some(TransactionScope::begin(work, work.scope.clone()).await?),
        };
        let mut scope = open.as_ref().map_or(work.scope, |open| &open.scope).clone();
        let stored = stored_roles(&*scope.snapshot()?)?;
        scope.settings = with_roles(&scope, Roles::of(&scope.registry, &stored));
        // Who has lost something meanwhile does not give it.
        let mut held = scope.settings.roles.capabilities(&scope.principal.roles);
        held.retain(|capability| scope.principal.capabilities.contains(capability));
        scope.principal.capabilities = Arc::new(held);
        Ok(RolesEdit { scope, open, stored })
    }

    fn roles(&self) -> &Roles {
        &self.scope.settings.roles
    }

    /// A role that the caller may change, as the request expects it.
    fn changeable(&self, work: &Work<'_>, slug: &str, refusal: Code) -> Result<&EffectiveRole, ApiError> {
        let role = self.roles().get(slug).ok_or_else(|| missing(work))?;
        refuse_if(!work.expects.matches(Some(role.version()), None), Code::PreconditionFailed)?;
        if role.locked {
            let message = format!("This role is locked where it is declared, as [roles.{slug}]: change it there.");
            return Err(self.scope.principal.refuse(refusal).with_message(message));
        }
        self.check_givable(role.capabilities.iter().map(|capability| &**capability), refusal)?;
        Ok(role)
    }

    /// Refuses what the caller does not hold.
    fn check_givable<'c>(&self, capabilities: impl Iterator<Item = &'c str>, refusal: Code) -> Result<(), ApiError> {
        let Some(missing) = policy::missing_of(&self.scope, capabilities) else { return Ok(()) };
        let message = format!("You do not hold `{missing}`, and nobody gives or takes what they do not hold.");
        Err(self.scope.principal.refuse(refusal).with_message(message))
    }

    /// Stores a role and shows it.
    async fn put(mut self, work: &Work<'_>, event: &str, slug: &str, role: StoredRole) -> Result<Outcome, ApiError> {
        let most = self.scope.registry.declaration.site.max_stored_roles;
        let before = self.roles().get(slug).cloned();
        self.stored.insert(slug.to_owned(), role);
        if self.stored.len() as u64 > most {
            let message =
                format!("There are {most} stored roles already; delete one of them first (site.max_stored_roles).");
            return Err(ApiError::invalid_one("slug", message));
        }
        let mut scope = work.scope.clone();
        scope.settings = with_roles(&scope, self.write(work, (event, slug), before.as_ref(), Vec::new()).await?);
        let role = scope.settings.roles.get(slug).ok_or_else(|| missing(work))?;
        Ok(shown(&scope, slug, role))
    }

    /// Writes what is to be stored, with the entry of the audit trail and further changes. The roles in force then.
    async fn write(
        self,
        work: &Work<'_>,
        (event, slug): (&str, &str),
        before: Option<&EffectiveRole>,
        mut changes: Vec<Change>,
    ) -> Result<Roles, ApiError> {
        let scope = &self.scope;
        let roles = Roles::of(&scope.registry, &self.stored);
        let json = serde_json::to_string(&self.stored).map_err(|error| scope.internal(&error))?;
        changes.push(Change::Setting { key: name(STORED_ROLES), json: Some(json.into()) });
        let mut changed = difference(before, roles.get(slug));
        let to = work.allowed.args().explicit("reassign").and_then(Value::as_str);
        changed.extend(to.map(|to| format!("reassign={to}")));
        let (user, login, path) = (scope.principal.id, &*scope.principal.login, work.path);
        changes.extend(audit::entry(scope, &Event { name: event, user, login, path, subject: slug, changed }));
        let written = work.commit_in(scope, WritePlan::new(changes)).await;
        written.map_err(|error| commit_failure(scope, error))?;
        if let Some(open) = self.open {
            open.finish(work).await?;
        }
        Ok(roles)
    }

    /// The changes that take a role from all users and give them the one that the request names.
    fn moved(&self, work: &Work<'_>, slug: &str) -> Result<Vec<Change>, ApiError> {
        let refused = |message: String| {
            ApiError::new(Code::CannotDeleteStored).with_status(status::CONFLICT).with_message(message)
        };
        let holders = || Cond::HasWord(name(user::ROLES), name(slug));
        let snapshot = self.scope.snapshot()?;
        let count = snapshot.count(&columns(user::TABLE, &["id"], holders()))?;
        let to = work.allowed.args().explicit("reassign").and_then(Value::as_str);
        let Some(to) = to.filter(|_| count > 0) else {
            let users = if count == 1 { "1 user has".to_owned() } else { format!("{count} users have") };
            let message = format!("{users} this role: name another one for them (`reassign`).");
            return if count == 0 { Ok(Vec::new()) } else { Err(refused(message)) };
        };
        let Some(role) = self.roles().get(to).filter(|_| to != slug) else {
            return Err(ApiError::invalid_one("reassign", format!("There is no other role `{to}`.")));
        };
        self.check_givable(role.capabilities.iter().map(|capability| &**capability), Code::CannotDelete)?;
        // Users with the same roles are changed together, however many they are.
        let mut changes = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        while seen.len() < MOST_COMBINATIONS {
            let others = seen.iter().map(|roles| Cond::Compare(name(user::ROLES), Op::Ne, txt(roles)));
            let filter = Cond::All(std::iter::once(holders()).chain(others).collect());
            let Some(held) = records::first::<String>(&*snapshot, user::TABLE, &[user::ROLES], filter)? else {
                return Ok(changes);
            };
            let mut words: IndexSet<Arc<str>> = split_words(&held).into_iter().collect();
            words.shift_remove(slug);
            words.insert(to.into());
            changes.push(Change::UpdateWhere {
                table: name(user::TABLE),
                filter: eq(user::ROLES, txt(&held)),
                set: vec![(name(user::ROLES), txt(&join_words(words.iter().map(|word| &**word))))],
            });
            seen.push(held);
        }
        Err(refused("The users of this role have too many different roles beside it: change their roles first.".into()))
    }
}

/// The settings of a scope with other roles.
fn with_roles(scope: &Scope, roles: Roles) -> Arc<Settings> {
    Arc::new(Settings { roles, ..(*scope.settings).clone() })
}

/// The capabilities that a change of a role adds and removes, in parts that an entry of the audit trail has room for.
fn difference(before: Option<&EffectiveRole>, after: Option<&EffectiveRole>) -> Vec<String> {
    /// Bytes of a part.
    const LONGEST: usize = 280;
    let none = IndexSet::new();
    let of = |role: Option<&EffectiveRole>| role.map_or_else(|| none.clone(), |role| role.capabilities.clone());
    let (old, new) = (of(before), of(after));
    let mut parts = Vec::new();
    if let Some(role) = after.filter(|role| before.is_none_or(|before| before.name != role.name)) {
        parts.push(format!("name={}", role.name));
    }
    for (what, names) in [("added", new.difference(&old)), ("removed", old.difference(&new))] {
        let mut part = String::new();
        for name in names {
            if part.len() + name.len() > LONGEST {
                parts.push(std::mem::take(&mut part));
            }
            part = if part.is_empty() { format!("{what}={name}") } else { format!("{part},{name}") };
        }
        parts.extend(Some(part).filter(|part| !part.is_empty()));
    }
    parts
}

fn shown(scope: &Scope, slug: &str, role: &EffectiveRole) -> Outcome {
    Outcome { version: Some(role.version()), private: true, ..Outcome::ok(document(scope, slug, role)) }
}

/// A role as documents show it.
fn document(scope: &Scope, slug: &str, role: &EffectiveRole) -> Value {
    let declared = scope.registry.declaration.roles.get(slug);
    let capabilities: Vec<&str> = role.capabilities.iter().map(|name| &**name).collect();
    let within = policy::missing_of(scope, capabilities.iter().copied()).is_none();
    json!({
        "slug": slug,
        "name": role.name,
        "capabilities": capabilities,
        "origin": role.origin.name(),
        "locked": role.locked,
        "required": role.required,
        "default": declared.is_some_and(|role| role.default),
        "imported": declared.is_some_and(|role| role.imported),
        "editable": within && !role.locked,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_the_audit_trail_names_what_was_added_and_removed() {
        let role = |name: &str, capabilities: &[String]| EffectiveRole {
            name: name.into(),
            capabilities: capabilities.iter().map(|name| Arc::from(name.as_str())).collect(),
            locked: false,
            required: false,
            origin: RoleOrigin::Stored,
            factor_grace: None,
            password_login: true,
        };
        let few = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let old = role("Proof", &few(&["read", "edit_posts"]));
        let new = role("Proofs", &few(&["read", "publish_posts"]));
        assert_eq!(difference(Some(&old), Some(&new)), ["name=Proofs", "added=publish_posts", "removed=edit_posts"]);
        assert_eq!(difference(Some(&old), None), ["removed=read,edit_posts"]);
        let many: Vec<String> = (0..100).map(|n| format!("capability_{n}")).collect();
        let parts = difference(None, Some(&role("All", &many)));
        assert!(parts.iter().all(|part| part.len() <= 300), "{parts:?}");
        assert_eq!(parts.iter().flat_map(|part| part.split(',')).count(), 101);
    }
}
