//! Accounts: logins, addresses, names, roles, and what becomes of a user's records.

use super::failures::Failures;
use super::field_values;
use super::values::{given_meta, stored};
use super::{Columns, RowEdit, column, text_column, text_of};
use crate::access::outbox::{self, MessageSubject};
use crate::access::{factors, failure, links, policy, preview_links, sessions, tokens};
use crate::error::{ApiError, Code, refuse_if, status};
use crate::records::{self, Record, eq, join_words, split_words, txt};
pub use crate::registry::columns::user as columns;
use crate::registry::columns::{ID, app_password, comment, login_identity, record, session};
use crate::registry::{Registry, name};
use crate::scope::Scope;
use cms_declaration::Action;
use cms_storage::plan::{Change, Cond, DbValue, Input, Name, Op, Put, ReadPlan, SlugClaim, Target};
use cms_text::{sanitize, slug};
use serde_json::{Value, json};
use std::sync::Arc;

use columns as col;

/// The errors that end requests for these rows.
pub const FAILURES: Failures = Failures {
    list: &[
        Code::ForbiddenContext,
        Code::ForbiddenOrderby,
        Code::ForbiddenParam,
        Code::ForbiddenWho,
        Code::UserCannotView,
    ],
    get: &[Code::ForbiddenContext, Code::UserCannotView, Code::UserInvalidId],
    create: &[
        Code::CannotCreateUser,
        Code::CannotEditRoles,
        Code::EmptyUserNicename,
        Code::ExistingUserEmail,
        Code::ExistingUserLogin,
        Code::UserExists,
        Code::UserInvalidRole,
    ],
    update: &[
        Code::CannotEdit,
        Code::CannotEditRoles,
        Code::LastAdministrator,
        Code::PreconditionFailed,
        Code::UserInvalidArgument,
        Code::UserInvalidEmail,
        Code::UserInvalidId,
        Code::UserInvalidRole,
        Code::UserInvalidSlug,
    ],
    delete: &[
        Code::CannotDeleteStored,
        Code::LastAdministrator,
        Code::PreconditionFailed,
        Code::TrashNotSupported,
        Code::UserCannotDelete,
        Code::UserInvalidId,
        Code::UserInvalidReassign,
    ],
};

/// The tags of refusals when another user has the login or the address.
pub const LOGIN_TAKEN: &str = Code::ExistingUserLogin.as_str();
pub const EMAIL_TAKEN: &str = Code::ExistingUserEmail.as_str();

/// Columns that follow from another one: what users are found and sorted by.
const KEYS: [(&str, &str); 3] =
    [(col::LOGIN, col::LOGIN_KEY), (col::EMAIL, col::EMAIL_KEY), (col::NAME, col::NAME_KEY)];

/// A new account as it is stored: what follows from its login and from `set` is derived here. People without a name are
/// called by their login. `registered` is in UTC seconds.
pub fn put(target: Target, login: &str, registered: i64, slug: Option<String>, mut set: Columns) -> Put {
    for named in [col::NAME, col::NICKNAME] {
        if text_of(&set, named).is_none() {
            set.push(text_column(named, login));
        }
    }
    set.push(text_column(col::LOGIN, login));
    set.push(column(col::REGISTERED, DbValue::Int(registered)));
    keyed(&mut set);
    let slug = slug.unwrap_or_else(|| slug::user_slug(login));
    Put { slug: Some(claim(slug, None)), ..Put::new(col::TABLE, target, set) }
}

/// Roles as they are stored.
pub fn roles_column<'r>(roles: impl IntoIterator<Item = &'r str>) -> (Name, Input) {
    text_column(col::ROLES, &join_words(roles))
}

/// Adds the keys of those columns that are set.
fn keyed(set: &mut Columns) {
    let keys: Columns =
        KEYS.iter().filter_map(|(of, key)| Some(text_column(key, &slug::title_key(text_of(set, of)?)))).collect();
    set.extend(keys);
}

fn claim(slug: String, refuse: Option<&'static str>) -> SlugClaim {
    let (scope, candidates) = (Some(col::TABLE.into()), vec![slug.into()]);
    SlugClaim { column: name(col::SLUG), scope, candidates, reserved: false, refuse, longest: slug::MAX_NICENAME }
}

/// The plan that makes a user; the password is added by [`set_password`].
///
/// # Errors
/// A role that does not exist or that the caller may not give.
pub fn plan_creation(edit: &RowEdit<'_>) -> Result<Vec<Change>, ApiError> {
    let login = edit.args.text("username").unwrap_or("");
    lengths(edit)?;
    let mut set = given(edit)?;
    set.retain(|entry| !is_unnamed(entry));
    if text_of(&set, col::NAME).is_none() {
        set.push(text_column(col::NAME, &full_name(edit, login)));
    }
    let default = || edit.scope.registry.default_role().into_iter().map(Arc::from).collect();
    let roles = roles(edit)?.unwrap_or_else(default);
    set.push(roles_column(roles.iter().map(|role| &**role)));
    let slug = edit.args.text("slug").map(slug::user_slug).filter(|s| !s.is_empty());
    if slug.is_none() && slug::user_slug(login).is_empty() {
        return Err(failure(edit.resource, Code::EmptyUserNicename));
    }
    let email = edit.args.text("email").unwrap_or("");
    let mut changes = vec![
        taken(col::LOGIN_KEY, login, 0, LOGIN_TAKEN),
        taken(col::EMAIL_KEY, email, 0, EMAIL_TAKEN),
        Change::Put(Put { meta: given_meta(edit), ..put(Target::New, login, edit.scope.now, slug, set) }),
    ];
    field_values::add(edit, &mut changes)?;
    Ok(changes)
}

/// The plan that changes a user; the password is added by [`set_password`].
///
/// # Errors
/// As [`creation`]; the login cannot change, and the last holder of a required role keeps it.
pub fn update(edit: &RowEdit<'_>, record: Record<'_>) -> Result<Vec<Change>, ApiError> {
    if edit.given_text("username").is_some_and(|login| login != record.text(col::LOGIN)) {
        return Err(ApiError::new(Code::UserInvalidArgument));
    }
    lengths(edit)?;
    let mut set = given(edit)?;
    // Without a name people are called by their login.
    for (_, input) in set.iter_mut().filter(|entry| is_unnamed(entry)) {
        *input = Input::Value(record.value(col::LOGIN).clone());
    }
    keyed(&mut set);
    let mut changes = Vec::new();
    if let Some(email) = edit.given_text("email") {
        changes.push(taken(col::EMAIL_KEY, email, record.id(), Code::UserInvalidEmail.as_str()));
        if other_address(edit, record).is_some() {
            changes.extend(outbox::notification_change(
                edit.scope,
                MessageSubject::Email,
                record,
                json!({"new": email}),
            ));
            set.extend(standing(edit.scope, record, email));
        }
    }
    if let Some(roles) = roles(edit)? {
        set.push(roles_column(roles.iter().map(|role| &**role)));
        changes.extend(lost_roles(&edit.scope.registry, record, &roles));
    }
    if edit.args.explicit("password").is_some() {
        changes.extend(new_password(edit.scope, record, edit.scope.principal.session.as_deref()));
    }
    let slug = edit.given_text("slug").map(slug::user_slug).map(|slug| match slug.is_empty() {
        // As for a new account: the slug follows from the login.
        true => claim(slug::user_slug(record.text(col::LOGIN)), None),
        false => claim(slug, Some(Code::UserInvalidSlug.as_str())),
    });
    let meta = given_meta(edit);
    changes.push(Change::Put(Put { slug, meta, ..Put::new(edit.resource.table.clone(), edit.target(), set) }));
    field_values::add(edit, &mut changes)?;
    Ok(changes)
}

/// The given e-mail address, if it is another one than the account has.
pub fn other_address<'a>(edit: &RowEdit<'a>, record: Record<'_>) -> Option<&'a str> {
    edit.given_text("email").filter(|email| slug::title_key(email) != record.text(col::EMAIL_KEY))
}

/// Whether a new address is confirmed, and where messages go until it is. One that was confirmed before needs no other
/// confirmation.
fn standing(scope: &Scope, record: Record<'_>, email: &str) -> Columns {
    let before = outbox::notification_address(record);
    let pending = outbox::is_pending(scope, record) && slug::title_key(email) != slug::title_key(before);
    confirmation(pending.then_some(before))
}

/// Adds an address to the columns of an account that somebody else has checked; the changes that go with it.
pub fn checked_address(scope: &Scope, account: Record<'_>, email: &str, set: &mut Columns) -> Vec<Change> {
    set.extend([text_column(col::EMAIL, email), text_column(col::EMAIL_KEY, &slug::title_key(email))]);
    set.extend(confirmation(None));
    let notice = outbox::notification_change(scope, MessageSubject::Email, account, json!({"new": email}));
    let mut changes = vec![taken(col::EMAIL_KEY, email, account.id(), EMAIL_TAKEN)];
    changes.extend(notice);
    changes
}

/// The columns of an address that is confirmed, or of one whose messages go to that `before` it until then.
pub fn confirmation(before: Option<&str>) -> Columns {
    vec![
        column(col::EMAIL_PENDING, DbValue::Int(before.is_some().into())),
        text_column(col::EMAIL_BEFORE, before.unwrap_or_default()),
    ]
}

/// Changes that follow a new password: other sessions end, but for the one named, and so do tokens and links to set one; the
/// owner is notified.
pub fn new_password(scope: &Scope, record: Record<'_>, but: Option<&str>) -> Vec<Change> {
    let key = record.value(ID);
    let mut changes = vec![end_sessions(key, but), links::ended(key), tokens::ended(key)];
    changes.extend(outbox::notification_change(scope, MessageSubject::Password, record, Value::Null));
    changes
}

/// Adds the hash of a password to the plan of an account.
pub fn set_password(changes: &mut [Change], hash: &str) {
    let accounts = changes.iter_mut().filter_map(|change| match change {
        Change::Put(put) if *put.table == *col::TABLE => Some(put),
        _ => None,
    });
    for put in accounts {
        put.set.push(text_column(col::PASSWORD_HASH, hash));
    }
}

/// Changes when a user is deleted: records are reassigned, or deleted but for those `left`; passwords and sessions end.
pub fn ending(registry: &Registry, record: Record<'_>, heir: Option<i64>, left: &[i64]) -> Vec<Change> {
    let key = record.value(ID);
    let own = own_records(key, left);
    let mut changes: Vec<Change> = lost_roles(registry, record, &[]).collect();
    match heir {
        Some(heir) => changes.push(Change::UpdateWhere {
            table: name(record::TABLE),
            filter: own,
            set: vec![(name(record::AUTHOR), DbValue::Int(heir))],
        }),
        None => {
            let of_own = Cond::Related {
                table: name(record::TABLE),
                inner: name(ID),
                outer: name(comment::POST),
                filter: Box::new(own.clone()),
            };
            changes.push(Change::RemoveWhere { table: name(comment::TABLE), filter: of_own });
            changes.push(Change::RemoveWhere { table: name(record::TABLE), filter: own });
        }
    }
    changes.push(Change::UpdateWhere {
        table: name(comment::TABLE),
        filter: eq(comment::AUTHOR, key.clone()),
        set: vec![(name(comment::AUTHOR), DbValue::Int(0))],
    });
    changes.push(Change::RemoveWhere { table: name(app_password::TABLE), filter: eq(app_password::USER, key.clone()) });
    changes.push(end_sessions(key, None));
    changes.extend(factors::ended(key));
    changes.push(links::ended(key));
    changes.push(end_identities(key));
    changes.push(preview_links::ended(key));
    changes
}

/// The records of a user, but for those `left`.
pub fn own_records(user: &DbValue, left: &[i64]) -> Cond {
    let own = eq(record::AUTHOR, user.clone());
    if left.is_empty() {
        return own;
    }
    Cond::All(vec![own, Cond::Not(Box::new(records::is_in(ID, left.iter().copied())))])
}

/// Ends the sessions of a user, but for the one named.
pub fn end_sessions(user: &DbValue, but: Option<&str>) -> Change {
    let mut filter = vec![eq(session::USER, user.clone())];
    filter.extend(but.map(|key| Cond::Compare(name(session::HASH), Op::Ne, txt(key))));
    sessions::removed(Cond::All(filter))
}

/// The change that unlinks an account from the people at identity providers whose it is.
pub fn end_identities(user: &DbValue) -> Change {
    Change::RemoveWhere { table: name(login_identity::TABLE), filter: eq(login_identity::USER, user.clone()) }
}

/// The conditions under which an account may have these roles alone: somebody else has each required one that it loses.
pub fn lost_roles<'a>(
    registry: &'a Registry,
    account: Record<'a>,
    roles: &'a [Arc<str>],
) -> impl Iterator<Item = Change> {
    let tag = Code::LastAdministrator.as_str();
    others_with_lost(registry, account, roles).map(move |plan| Change::Require { plan, found: true, tag })
}

/// Whether an account with these roles alone would lose a required one that nobody else has.
///
/// # Errors
/// The database cannot be read.
pub fn is_last_holder(scope: &Scope, account: Record<'_>, roles: &[Arc<str>]) -> Result<bool, ApiError> {
    let snapshot = scope.snapshot()?;
    for plan in others_with_lost(&scope.registry, account, roles) {
        if snapshot.rows(&ReadPlan { limit: Some(1), ..plan })?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The other accounts with each required role that an account with these roles alone would lose.
fn others_with_lost<'a>(
    registry: &'a Registry,
    account: Record<'a>,
    roles: &'a [Arc<str>],
) -> impl Iterator<Item = ReadPlan> {
    let lost = required_roles(registry, account).filter(|role| !roles.iter().any(|r| **r == **role));
    lost.map(move |role| {
        let filter = Cond::All(vec![
            Cond::HasWord(name(col::ROLES), role.into()),
            Cond::Compare(name(ID), Op::Ne, DbValue::Int(account.id())),
        ]);
        records::columns(col::TABLE, &[ID], filter)
    })
}

/// The user's roles that are required.
fn required_roles<'a>(registry: &'a Registry, user: Record<'a>) -> impl Iterator<Item = &'a str> {
    let required = registry.declaration.roles.iter().filter(|(_, role)| role.required);
    required.map(|(key, _)| key.as_str()).filter(move |key| user.text(col::ROLES).split_whitespace().any(|r| r == *key))
}

/// Nobody else has this login or address.
fn taken(column: &str, text: &str, but: i64, tag: &'static str) -> Change {
    let key = eq(column, txt(&slug::title_key(text)));
    let filter = Cond::All(vec![key, Cond::Compare(name(ID), Op::Ne, DbValue::Int(but))]);
    Change::Require { plan: records::columns(col::TABLE, &[ID], filter), found: false, tag }
}

/// A name that is set, to nothing.
fn is_unnamed((column, input): &(Name, Input)) -> bool {
    [col::NAME, col::NICKNAME].contains(&&**column) && *input == Input::Value(txt(""))
}

/// The columns that are given, but for those with rules of their own.
fn given(edit: &RowEdit<'_>) -> Result<Columns, ApiError> {
    let mut set = Vec::new();
    for property in edit.resource.properties.iter().filter(|p| !p.readonly) {
        let Some(value) = edit.args.explicit(&property.name) else { continue };
        if matches!(property.column.as_deref(), None | Some(col::LOGIN | col::SLUG | col::ROLES | col::PASSWORD_HASH)) {
            continue;
        }
        let Some((column, value)) = stored(edit.scope, property, value)? else { continue };
        set.push((column, Input::Value(value)));
    }
    Ok(set)
}

/// Texts that are longer than the declaration lets the stored ones be.
fn lengths(edit: &RowEdit<'_>) -> Result<(), ApiError> {
    for property in &edit.resource.properties {
        let Some((given, (most, code))) = edit.given_text(&property.name).zip(property.longest) else { continue };
        let length = match property.column.as_deref() {
            Some(col::SLUG) => slug::sanitize_title(given).len(),
            Some(col::LOGIN) => given.len(),
            _ => match stored(edit.scope, property, &Value::from(given))? {
                Some((_, DbValue::Text(text))) => text.len(),
                _ => continue,
            },
        };
        if length > most {
            return Err(failure(edit.resource, code));
        }
    }
    Ok(())
}

fn full_name(edit: &RowEdit<'_>, login: &str) -> String {
    let part = |arg: &str| sanitize::name(edit.args.text(arg).unwrap_or(""));
    let full = format!("{} {}", part("first_name"), part("last_name"));
    let full = full.trim();
    if full.is_empty() { login.to_owned() } else { full.to_owned() }
}

/// The roles that are given: declared ones, which the caller may give.
fn roles(edit: &RowEdit<'_>) -> Result<Option<Vec<Arc<str>>>, ApiError> {
    let Some(given) = edit.args.explicit("roles") else { return Ok(None) };
    let wanted: Vec<Arc<str>> = match given {
        Value::Array(list) => list.iter().map(|v| v.as_str().map_or_else(|| v.to_string().into(), Arc::from)).collect(),
        _ => split_words(given.as_str().unwrap_or("")),
    };
    refuse_if(wanted.iter().any(|role| !edit.scope.settings.roles.contains(role)), Code::UserInvalidRole)?;
    let Some(record) = edit.record() else { return Ok(Some(wanted)) };
    may_have(edit.scope, record, &wanted)?;
    Ok(Some(wanted))
}

/// Whether the caller may give a user these roles.
fn may_have(scope: &Scope, record: Record<'_>, wanted: &[Arc<str>]) -> Result<(), ApiError> {
    let caller = &scope.principal;
    let edits = record.resource.capability(Action::Edit);
    if record.id() == caller.id && caller.can(edits) && !scope.settings.roles.capabilities(wanted).contains(edits) {
        // Nobody takes the keys from themselves.
        return Err(ApiError::new(Code::UserInvalidRole).with_status(status::FORBIDDEN));
    }
    if !policy::may(scope, Action::Promote, record)? {
        policy::note_missing(scope, Action::Promote, record)?;
        return Err(caller.refuse(Code::CannotEditRoles));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(put: &Put, wanted: &str) -> Option<String> {
        text_of(&put.set, wanted).map(str::to_owned)
    }

    #[test]
    fn an_account_is_told_by_its_login() {
        let put = put(Target::New, "Ada L", 7, None, vec![text_column(col::EMAIL, "Ada@Example.org")]);
        assert_eq!(texts(&put, "name").as_deref(), Some("Ada L"));
        assert_eq!(texts(&put, "nickname").as_deref(), Some("Ada L"));
        assert_eq!(texts(&put, "login_key"), Some(slug::title_key("Ada L")));
        assert_eq!(texts(&put, "email_key"), Some(slug::title_key("Ada@Example.org")));
        assert_eq!(texts(&put, "name_key"), Some(slug::title_key("Ada L")));
        assert_eq!(put.slug.expect("a slug").candidates, [Arc::from(slug::user_slug("Ada L"))]);
    }

    #[test]
    fn a_name_that_is_told_stays() {
        let put = put(Target::New, "ada", 7, Some("a".into()), vec![text_column(col::NAME, "Ada")]);
        assert_eq!(texts(&put, "name").as_deref(), Some("Ada"));
        assert_eq!(texts(&put, "name_key"), Some(slug::title_key("Ada")));
        assert_eq!(texts(&put, "nickname").as_deref(), Some("ada"));
        assert_eq!(put.slug.expect("a slug").candidates, [Arc::from("a")]);
    }

    #[test]
    fn a_password_goes_to_the_account_alone() {
        let mut changes = vec![
            taken(col::LOGIN_KEY, "ada", 0, LOGIN_TAKEN),
            Change::Put(put(Target::New, "ada", 7, None, Vec::new())),
        ];
        set_password(&mut changes, "hash");
        let Change::Put(put) = &changes[1] else { panic!("a put") };
        assert_eq!(text_of(&put.set, "password_hash"), Some("hash"));
    }
}
