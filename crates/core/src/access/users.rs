//! Guards of users: the path names one by its number or says `me`.

use super::{Decision, GuardInput, GuardRows, policy, target};
use crate::error::{ApiError, Code, refuse_if};
use crate::records::Record;
use crate::registry::Registry;
use crate::registry::resource::{Context, Resource};
use crate::request::args::ArgValues;
use cms_declaration::Action;
use cms_storage::plan::{DbValue, Row};
use cms_text::slug;
use serde_json::Value;

pub(super) fn user_list(input: &GuardInput<'_>) -> Decision {
    let caller = &input.scope.principal;
    let lists = caller.can(user_resource(input)?.capability(Action::List));
    let filtered = |arg: &str| input.args.explicit(arg).is_some_and(|v| v.as_array().is_none_or(|l| !l.is_empty()));
    input.refuse_if(!lists && (filtered("roles") || filtered("capabilities")), Code::UserCannotView)?;
    input.refuse_if(input.context() == Context::EDIT && !lists, Code::ForbiddenContext)?;
    if input.args.text("who") == Some("authors") {
        let mut content = input.registry().content_types().filter(|r| r.supports("author"));
        input.refuse_if(!lists && !content.any(|r| caller.can(r.capability(Action::Edit))), Code::ForbiddenWho)?;
    }
    Ok(GuardRows::default())
}

/// The user that the path names: an id, or `me`.
pub fn named_user(input: &GuardInput<'_>) -> Result<Row, ApiError> {
    let captured = path_user(input);
    let users = user_resource(input)?;
    let id = if names_caller(input) {
        refuse_if(!input.scope.principal.is_logged_in(), Code::UserInvalidId)?;
        input.scope.principal.id
    } else {
        let id = captured.and_then(|v| v.as_i64().or_else(|| v.as_str()?.parse().ok()));
        id.ok_or_else(|| ApiError::new(Code::UserInvalidId))?
    };
    input.load(users, &DbValue::Int(id))?.ok_or_else(|| ApiError::new(Code::UserInvalidId))
}

/// The path says `me`, or nothing at all.
pub fn names_caller(input: &GuardInput<'_>) -> bool {
    path_user(input).is_none_or(|captured| captured.as_str() == Some("me"))
}

/// The user that the path names, whether an argument is declared for it or not.
pub fn path_user<'a>(input: &GuardInput<'a>) -> Option<&'a Value> {
    USER_CAPTURES.iter().find_map(|name| input.sources.path.get(*name))
}

/// Captures of routes that name a user.
const USER_CAPTURES: [&str; 2] = ["user_id", "id"];

pub fn user_resource<'a>(input: &GuardInput<'a>) -> Result<&'a Resource, ApiError> {
    input.registry().users().ok_or_else(|| ApiError::new(Code::Internal))
}

pub(super) fn user_read(input: &GuardInput<'_>) -> Decision {
    let by_path = input.endpoint.args.get("id").is_some();
    if !by_path && !input.scope.principal.is_logged_in() {
        // Every caller may request this; the handler responds to anonymous ones.
        return Ok(GuardRows::default());
    }
    let row = named_user(input)?;
    let record = Record { resource: user_resource(input)?, row: &row };
    if record.id() == input.scope.principal.id {
        return target(row);
    }
    input.refuse_if(input.context() == Context::EDIT && !input.sees_edited(record)?, Code::ForbiddenContext)?;
    input.refuse_if(!input.may(Action::Read, record)?, Code::UserCannotView)?;
    target(row)
}

pub(super) fn user_create(input: &GuardInput<'_>) -> Decision {
    let can = |act: Action| user_resource(input).is_ok_and(|users| input.scope.principal.can(users.capability(act)));
    if !can(Action::Create) {
        // Invalid arguments are reported before missing permissions.
        return Err(
            malformed_account(input.registry(), input.args).unwrap_or_else(|| input.refuse(Code::CannotCreateUser))
        );
    }
    let wanted = roles(input);
    let default = input.registry().default_role();
    let usual = wanted.iter().all(|role| Some(*role) == default);
    if !usual && !can(Action::Promote) || !policy::check_assignable(input.scope, wanted) {
        return Err(input.refuse(Code::CannotEditRoles));
    }
    Ok(GuardRows::default())
}

/// The roles that a request gives a user.
fn roles<'a>(input: &GuardInput<'a>) -> Vec<&'a str> {
    let given = input.args.explicit("roles").and_then(Value::as_array).into_iter().flatten();
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

pub(super) fn user_update(input: &GuardInput<'_>) -> Decision {
    let row = named_user(input)?;
    let record = Record { resource: user_resource(input)?, row: &row };
    let roles = roles(input);
    let gives =
        roles.is_empty() || (input.may(Action::Promote, record)? && policy::check_assignable(input.scope, roles));
    input.refuse_if(!gives, Code::CannotEditRoles)?;
    input.refuse_if(!input.may(Action::Edit, record)?, Code::CannotEdit)?;
    target(row)
}

pub(super) fn user_delete(input: &GuardInput<'_>) -> Decision {
    let row = named_user(input)?;
    let record = Record { resource: user_resource(input)?, row: &row };
    input.refuse_if(!input.may(Action::Delete, record)?, Code::UserCannotDelete)?;
    target(row)
}
