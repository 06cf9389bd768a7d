//! Guards of users: the path names one by its number or says `me`.

use super::{Decision, GuardInput, GuardRows, policy, target};
use crate::error::{ApiError, Code};
use crate::records::Record;
use crate::registry::Registry;
use crate::registry::resource::{Context, Resource};
use crate::request::args::ArgValues;
use cms_config::declaration::{Action, Family};
use cms_storage::plan::{DbValue, Row};
use cms_text::slug;
use serde_json::Value;

pub(super) fn user_list(asking: &GuardInput<'_>) -> Decision {
    let caller = &asking.scope.principal;
    let lists = caller.can(user_resource(asking)?.capability(Action::List));
    let filtered = |arg: &str| asking.args.explicit(arg).is_some_and(|v| v.as_array().is_none_or(|l| !l.is_empty()));
    if !lists && (filtered("roles") || filtered("capabilities")) {
        return Err(asking.refuse(Code::UserCannotView));
    }
    if asking.context() == Context::EDIT && !lists {
        return Err(asking.refuse(Code::ForbiddenContext));
    }
    if asking.args.text("who") == Some("authors") {
        let mut content = asking.registry().family(Family::Content).filter(|r| r.supports("author"));
        if !lists && !content.any(|r| caller.can(r.capability(Action::Edit))) {
            return Err(asking.refuse(Code::ForbiddenWho));
        }
    }
    Ok(GuardRows::default())
}

/// The user that the path names: an id, or `me`.
pub fn named_user(asking: &GuardInput<'_>) -> Result<Row, ApiError> {
    let captured = path_user(asking);
    let users = user_resource(asking)?;
    let id = if names_caller(asking) {
        if !asking.scope.principal.is_logged_in() {
            return Err(ApiError::new(Code::UserInvalidId));
        }
        asking.scope.principal.id
    } else {
        let id = captured.and_then(|v| v.as_i64().or_else(|| v.as_str()?.parse().ok()));
        id.ok_or_else(|| ApiError::new(Code::UserInvalidId))?
    };
    asking.load(users, &DbValue::Int(id))?.ok_or_else(|| ApiError::new(Code::UserInvalidId))
}

/// The path says `me`, or nothing at all.
pub fn names_caller(asking: &GuardInput<'_>) -> bool {
    path_user(asking).is_none_or(|captured| captured.as_str() == Some("me"))
}

/// The user that the path names, whether an argument is declared for it or not.
pub fn path_user<'a>(asking: &GuardInput<'a>) -> Option<&'a Value> {
    USER_CAPTURES.iter().find_map(|name| asking.sources.path.get(*name))
}

/// Captures of routes that name a user.
const USER_CAPTURES: [&str; 2] = ["user_id", "id"];

pub fn user_resource<'a>(asking: &GuardInput<'a>) -> Result<&'a Resource, ApiError> {
    asking.registry().family(Family::User).next().ok_or_else(|| ApiError::new(Code::Internal))
}

pub(super) fn user_read(asking: &GuardInput<'_>) -> Decision {
    let by_path = asking.endpoint.args.get("id").is_some();
    if !by_path && !asking.scope.principal.is_logged_in() {
        // Every caller may request this; the handler responds to anonymous ones.
        return Ok(GuardRows::default());
    }
    let row = named_user(asking)?;
    let record = Record { resource: user_resource(asking)?, row: &row };
    if record.id() == asking.scope.principal.id {
        return target(row);
    }
    if asking.context() == Context::EDIT && !asking.sees_edited(record)? {
        return Err(asking.refuse(Code::ForbiddenContext));
    }
    if !asking.may(Action::Read, record)? {
        return Err(asking.refuse(Code::UserCannotView));
    }
    target(row)
}

pub(super) fn user_create(asking: &GuardInput<'_>) -> Decision {
    let can = |act: Action| user_resource(asking).is_ok_and(|users| asking.scope.principal.can(users.capability(act)));
    if !can(Action::Create) {
        // Invalid arguments are reported before missing permissions.
        return Err(
            malformed_account(asking.registry(), asking.args).unwrap_or_else(|| asking.refuse(Code::CannotCreateUser))
        );
    }
    let wanted = roles(asking);
    let default = asking.registry().default_role();
    let usual = wanted.iter().all(|role| Some(*role) == default);
    if !usual && !can(Action::Promote) || !policy::check_assignable(asking.scope, wanted) {
        return Err(asking.refuse(Code::CannotEditRoles));
    }
    Ok(GuardRows::default())
}

/// The roles that a request gives a user.
fn roles<'a>(asking: &GuardInput<'a>) -> Vec<&'a str> {
    let given = asking.args.explicit("roles").and_then(Value::as_array).into_iter().flatten();
    given.filter_map(Value::as_str).collect()
}

/// The problem of the login, the address or the password that a request gives an account, as an argument that does not
/// fit.
pub fn malformed_account(registry: &Registry, args: &ArgValues) -> Option<ApiError> {
    let site = &registry.declaration.site;
    let given = |name: &str| args.explicit(name).and_then(Value::as_str);
    if given("username").is_some_and(|login| !slug::normal_login(login)) {
        return Some(ApiError::invalid_for("username", Code::UserInvalidUsername));
    }
    if given("email").is_some_and(|email| email.len() > site.max_login.as_usize()) {
        let message = format!("An e-mail address has at most {} bytes.", site.max_login.bytes());
        return Some(ApiError::invalid_one("email", message));
    }
    malformed_password(registry, given("password")?)
}

/// The problem of a new account password, as an argument that does not fit.
pub fn malformed_password(registry: &Registry, password: &str) -> Option<ApiError> {
    let site = &registry.declaration.site;
    if password.len() > site.max_password.as_usize() {
        let message = format!("A password has at most {} bytes.", site.max_password.bytes());
        return Some(ApiError::invalid_one("password", message));
    }
    let unfit = password.is_empty() || password.contains(['\\', '\0']);
    unfit.then(|| ApiError::invalid_for("password", Code::UserInvalidPassword))
}

pub(super) fn user_update(asking: &GuardInput<'_>) -> Decision {
    let row = named_user(asking)?;
    let record = Record { resource: user_resource(asking)?, row: &row };
    let roles = roles(asking);
    let gives =
        roles.is_empty() || (asking.may(Action::Promote, record)? && policy::check_assignable(asking.scope, roles));
    if !gives {
        return Err(asking.refuse(Code::CannotEditRoles));
    }
    if !asking.may(Action::Edit, record)? {
        return Err(asking.refuse(Code::CannotEdit));
    }
    target(row)
}

pub(super) fn user_delete(asking: &GuardInput<'_>) -> Decision {
    let row = named_user(asking)?;
    let record = Record { resource: user_resource(asking)?, row: &row };
    if !asking.may(Action::Delete, record)? {
        return Err(asking.refuse(Code::UserCannotDelete));
    }
    target(row)
}
