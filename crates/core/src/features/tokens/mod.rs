//! A login by which a program gets a token, and the question whether a token is valid. Routes, codes and the members of the
//! responses are declared (`options.tokens`); what a token is and how it is checked is [`crate::access::tokens`]'s matter.

use crate::access::attempts::AttemptLimit;
use crate::access::audit::{self, Event};
use crate::access::identity::{available, available_for};
use crate::access::passwords::LoginContext;
use crate::error::{ApiError, Code, status};
use crate::handlers::{Handler, Outcome, Work, handler, sync_handler};
use crate::records::{self, Record, eq, txt};
use crate::registry::columns::user;
use crate::registry::resource::Resource;
use crate::registry::vocabulary::{BehaviourEntry, HandlerRole, ResponseKind, VIRTUAL};
use crate::scope::BearerHeader;
use cms_declaration::TokenOptions;
use cms_storage::plan::{Cond, DbValue};
use cms_text::sanitize::is_email;
use cms_text::slug::title_key;
use serde_json::{Map, Value, json};

/// The response about a token that is valid.
const CHECKED: &str = r#"{"type": "object", "description": "What `options.tokens.valid` declares."}"#;

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    handler(
        "token.create",
        |w| Box::pin(create(w)),
        "Responds to the name and the password of an account with a token that programs log in with.",
    )
    .fails(&[
        Code::LoginUnknown,
        Code::LoginUnknownEmail,
        Code::LoginWrongPassword,
        Code::AppPasswordsDisabled,
        Code::AppPasswordsDisabledForUser,
        Code::SecondFactorRequired,
        Code::TooManyRequests,
    ])
    .settings(&["tokens"])
    .on(VIRTUAL),
    sync_handler(
        "token.check",
        check,
        "Says whether the token of the request is valid. Where it is declared, other tokens are refused everywhere.",
    )
    .fails(&[Code::TokenMissing, Code::TokenMalformed, Code::TokenInvalid])
    .responds(ResponseKind::Json(status::OK, CHECKED))
    .settings(&["tokens"])
    .role(HandlerRole::TokenCheck)
    .on(VIRTUAL),
];

/// Makes a token, and shows it for the only time.
///
/// # Errors
/// The name or the password is wrong, or was too often; programs do not log in here; the database takes no writes.
pub async fn create(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let (resource, rules) = declared(work)?;
    let scope = work.scope;
    if !available(&scope.registry, &scope.peer) {
        return Err(ApiError::new(resource.code(Code::AppPasswordsDisabled)));
    }
    let given = |arg: &str| work.allowed.args().text(arg).unwrap_or_default();
    let (login, password) = (given(&rules.login).trim(), given(&rules.password));
    let pages = &scope.registry.declaration.pages;
    let patience = AttemptLimit::paused(pages.max_login_attempts, pages.retry_after);
    let (identity, occasion) = (&work.shared.identity, LoginContext { patience, path: work.path });
    let Some(known) = identity.verify_account(scope, &work.shared.hasher, (login, password), occasion).await? else {
        return Err(ApiError::new(resource.code(refusal(work, login)?)));
    };
    let caller = known.alone().map_err(|error| ApiError::new(resource.code(error.code())))?;
    let users = scope.registry.users().ok_or_else(|| ApiError::new(Code::Internal))?;
    let row = records::find(&*scope.snapshot()?, users, &DbValue::Int(caller.id))?;
    let row = row.ok_or_else(|| ApiError::new(resource.code(Code::LoginUnknown)))?;
    let account = Record { resource: users, row: &row };
    if !available_for(&scope.registry, account) {
        return Err(ApiError::new(resource.code(Code::AppPasswordsDisabledForUser)));
    }
    let (token, mut changes) = identity.new_token(scope, caller.id, rules)?;
    let event =
        Event { name: "token_created", user: caller.id, login: &caller.login, path: work.path, ..Event::default() };
    changes.extend(audit::entry(scope, &event));
    work.write(changes).await?;
    Ok(Outcome { private: true, ..Outcome::ok(document(account, rules, token)) })
}

/// The token and what is shown of the account.
fn document(account: Record<'_>, rules: &TokenOptions, token: String) -> Value {
    let mut members = Map::from_iter([(rules.member.clone(), json!(token))]);
    for (member, property) in &rules.account {
        let column = account.resource.property(property).and_then(|property| property.column.as_deref());
        members.insert(member.clone(), json!(account.text(column.unwrap_or(property))));
    }
    Value::Object(members)
}

/// Why a login is refused. Its outcome has taken the same time, whichever it is.
fn refusal(work: &Work<'_>, login: &str) -> Result<Code, ApiError> {
    let key = title_key(login);
    let named = Cond::Any(vec![eq(user::LOGIN_KEY, txt(&key)), eq(user::EMAIL_KEY, txt(&key))]);
    Ok(match records::exists(&*work.scope.snapshot()?, user::TABLE, named)? {
        true if !login.is_empty() => Code::LoginWrongPassword,
        _ if is_email(login) => Code::LoginUnknownEmail,
        _ => Code::LoginUnknown,
    })
}

/// Whether the token of the request is valid.
///
/// # Errors
/// It is not, or there is none.
pub fn check(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let (resource, rules) = declared(work)?;
    let refused = |code: Code| Err(ApiError::new(resource.code(code)));
    match work.scope.principal.bearer {
        BearerHeader::Absent => refused(Code::TokenMissing),
        BearerHeader::Other | BearerHeader::Empty => refused(Code::TokenMalformed),
        BearerHeader::Wrong => refused(Code::TokenInvalid),
        BearerHeader::Valid => Ok(Outcome { private: true, ..Outcome::ok(Value::Object(rules.valid.clone())) }),
    }
}

fn declared<'a>(work: &Work<'a>) -> Result<(&'a Resource, &'a TokenOptions), ApiError> {
    let resource = work.resource()?;
    let rules = resource.declared.options.tokens.as_ref();
    Ok((resource, rules.ok_or_else(|| ApiError::new(Code::Internal))?))
}
