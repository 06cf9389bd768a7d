//! Where programs get their tokens (OAuth 2.1), and where they register (RFC 7591, 7592) and give tokens back (RFC 7009).
//!
//! Errors have the shape that OAuth wants. What a connection is, is [`crate::access::grants`]'s matter; people connect
//! programs on a page.

use crate::access::audit::Event;
use crate::access::authorization_server::{AuthorizationServer, GrantScope};
use crate::access::clients::{self, Client, Registration};
use crate::access::grants::{GrantSecret, IssuedTokens, Redemption};
use crate::access::identity::{self, available};
use crate::error::{ApiError, Code, status};
use crate::families;
use crate::handlers::{Handler, Outcome, Work, handler, sync_handler};
use crate::registry::vocabulary::{BehaviourEntry, HandlerRole, ResponseKind, VIRTUAL};
use cms_declaration::OAuthOptions;
use cms_declaration::translations::Sentence;
use cms_storage::plan::{CommitError, WritePlan};
use serde_json::{Value, json};

/// The response with tokens.
const TOKENS: &str = r#"{"type": "object", "properties": {"access_token": {"type": "string"}, "token_type": {"type": "string", "enum": ["Bearer"]}, "expires_in": {"type": "integer"}, "refresh_token": {"type": "string"}, "scope": {"type": "string"}}}"#;

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    handler(
        "oauth.token",
        |w| Box::pin(token(w)),
        "Gives a connected program its next tokens, for a code or a refresh token, each of which is good once.",
    )
    .responds(ResponseKind::Json(status::OK, TOKENS))
    .settings(&["oauth"])
    .role(HandlerRole::OAuthToken)
    .on(VIRTUAL),
    handler("oauth.revoke", |w| Box::pin(revoke(w)), "Ends the connection that a token belongs to.")
        .responds(ResponseKind::Json(status::OK, r#"{"type": "object"}"#))
        .settings(&["oauth"])
        .role(HandlerRole::OAuthRevoke)
        .on(VIRTUAL),
    handler("oauth.register", |w| Box::pin(register(w)), "Registers a program, which people may connect then.")
        .responds(ResponseKind::Created)
        .settings(&["oauth"])
        .role(HandlerRole::OAuthRegister)
        .on(VIRTUAL),
    sync_handler("oauth.client", client, "Responds with the registration of a program, to that program.")
        .settings(&["oauth"])
        .on(VIRTUAL),
    handler(
        "oauth.client_update",
        |w| Box::pin(update(w)),
        "Replaces the registration of a program, for that program.",
    )
    .settings(&["oauth"])
    .on(VIRTUAL),
    handler("oauth.client_delete", |w| Box::pin(delete(w)), "Ends the registration of a program, for that program.")
        .responds(ResponseKind::Json(status::OK, r#"{"type": "object"}"#))
        .settings(&["oauth"])
        .on(VIRTUAL),
];

/// An answer for this program alone.
fn answer(status: u16, body: Value) -> Result<Outcome, ApiError> {
    Ok(Outcome { status, body, private: true, ..Outcome::default() })
}

/// A refusal as OAuth words it.
fn refused(status: u16, error: &str, description: &str) -> Result<Outcome, ApiError> {
    answer(status, json!({"error": error, "error_description": description}))
}

/// The server with its rules; without pages nobody can connect a program.
fn declared<'a>(work: &Work<'a>) -> Result<(AuthorizationServer<'a>, &'a OAuthOptions), ApiError> {
    let registry = &work.scope.registry;
    let rules = registry.oauth().map(|(_, rules)| rules);
    AuthorizationServer::declared(registry).zip(rules).ok_or_else(|| ApiError::new(Code::NoRoute))
}

fn given<'a>(work: &Work<'a>, arg: &str) -> &'a str {
    work.allowed.args().text(arg).unwrap_or_default()
}

/// The next tokens of a program.
///
/// # Errors
/// The database cannot be read, or takes no writes. What OAuth refuses is a response.
pub async fn token(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let ((server, rules), scope) = (declared(work)?, work.scope);
    if !available(&scope.registry, &scope.peer) {
        return refused(status::BAD_REQUEST, "invalid_request", "Programs are connected over HTTPS alone.");
    }
    if !server.opens(given(work, "resource")) {
        return refused(status::BAD_REQUEST, "invalid_target", "The resource is not one of this site.");
    }
    let secret = match given(work, "grant_type") {
        "authorization_code" => GrantSecret::Code {
            code: given(work, "code"),
            redirect: given(work, "redirect_uri"),
            verifier: given(work, "code_verifier"),
        },
        "refresh_token" => GrantSecret::Refresh(given(work, "refresh_token")),
        _ => {
            let known = "The grant types are authorization_code and refresh_token.";
            return refused(status::BAD_REQUEST, "unsupported_grant_type", known);
        }
    };
    let Some(client) = Client::find(scope, given(work, "client_id"))? else {
        return refused(status::UNAUTHORIZED, "invalid_client", "No program is registered with this client_id.");
    };
    let wanted = given(work, "scope");
    let wider = |tokens: &IssuedTokens| {
        let of_grant = GrantScope::of(&tokens.limits);
        !wanted.is_empty() && GrantScope::parse(wanted).is_none_or(|wanted| wanted > of_grant)
    };
    match work.shared.identity.redeem(scope, rules, &client, &secret)? {
        Redemption::Issued { tokens, .. } if wider(&tokens) => {
            refused(status::BAD_REQUEST, "invalid_scope", "The connection was not given this scope.")
        }
        Redemption::Issued { tokens, changes, otherwise } => {
            match scope.storage.commit(WritePlan::new(changes)).await {
                Ok(_) => answer(status::OK, issued(&tokens)),
                Err(CommitError::Refused { .. } | CommitError::Stale) => {
                    work.write(otherwise).await?;
                    unfit(work)
                }
                Err(error) => Err(families::commit_failure(scope, error)),
            }
        }
        Redemption::Reused(changes) => {
            work.write(changes).await?;
            unfit(work)
        }
        Redemption::Refused => unfit(work),
    }
}

fn issued(tokens: &IssuedTokens) -> Value {
    json!({
        "access_token": tokens.access,
        "token_type": "Bearer",
        "expires_in": tokens.lifetime,
        "refresh_token": tokens.refresh,
        "scope": GrantScope::of(&tokens.limits).text(),
    })
}

/// A code or a token that is good for nothing. It counts as wrong credentials do.
fn unfit(work: &Work<'_>) -> Result<Outcome, ApiError> {
    work.shared.identity.throttle().mistake(work.scope)?;
    let why = "The code or the token is wrong, has ended, was used before, or belongs to another program, address or verifier.";
    refused(status::BAD_REQUEST, "invalid_grant", why)
}

/// Ends a connection. A token that is none is no error (RFC 7009).
///
/// # Errors
/// The database cannot be read, or takes no writes.
pub async fn revoke(work: &Work<'_>) -> Result<Outcome, ApiError> {
    declared(work)?;
    let (client, token) = (given(work, "client_id"), given(work, "token"));
    if token.is_empty() {
        return refused(status::BAD_REQUEST, "invalid_request", "The parameter token is missing.");
    }
    let client = Some(client).filter(|client| !client.is_empty()).map(clients::id_here);
    let changes = work.shared.identity.end_grant(work.scope, client.as_deref(), token)?;
    if !changes.is_empty() {
        work.write(changes).await?;
    }
    answer(status::OK, json!({}))
}

/// Registers a program.
///
/// # Errors
/// The database cannot be read, or takes no writes. What OAuth refuses is a response.
pub async fn register(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let ((_, rules), scope) = (declared(work)?, work.scope);
    let registration = match registration(work, rules) {
        Ok(registration) => registration,
        Err((error, why)) => return refused(status::BAD_REQUEST, error, &why.to_string()),
    };
    let Some((id, changes)) = clients::registered(scope, rules, &registration)? else {
        return refused(status::UNAVAILABLE, "temporarily_unavailable", clients::FULL);
    };
    work.write(changes).await?;
    let event = Event { name: "program_registered", path: work.path, subject: &id, ..Event::default() };
    identity::record(scope, &event).await;
    let made = Client::find(scope, &id)?.ok_or_else(|| ApiError::new(Code::Internal))?;
    answer(status::CREATED, document(work, &made))
}

/// The registration that the program asks for, or the error of RFC 7591 with its reason.
fn registration(work: &Work<'_>, rules: &OAuthOptions) -> Result<Registration, (&'static str, Sentence)> {
    let args = work.allowed.args();
    let members = ["client_name", "redirect_uris", "grant_types", "response_types"];
    let said = members.iter().filter_map(|name| Some(((*name).to_owned(), args.explicit(name)?.clone())));
    Registration::checked(rules, &Value::Object(said.collect()))
}

/// The registration, with what a program manages it by.
fn document(work: &Work<'_>, client: &Client) -> Value {
    let address = AuthorizationServer::declared(&work.scope.registry).map(|server| server.client_address(&client.id));
    let redirects = client.redirects();
    json!({
        "client_id": &*client.id,
        "client_id_issued_at": client.created,
        "client_name": &*client.name,
        "redirect_uris": redirects.iter().map(|address| &**address).collect::<Vec<_>>(),
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "registration_client_uri": address,
        "registration_access_token": work.shared.identity.client_token(&client.id),
    })
}

/// The program that the path names, where the header has its token.
fn own(work: &Work<'_>) -> Result<Option<Client>, ApiError> {
    declared(work)?;
    let id = work.captures.get("client_id").and_then(Value::as_str).unwrap_or_default();
    let token = work.scope.principal.client_token.as_deref().unwrap_or_default();
    if !work.shared.identity.client_token_fits(id, token) {
        work.shared.identity.throttle().mistake(work.scope)?;
        return Ok(None);
    }
    Client::find(work.scope, id)
}

/// Why a registration is not shown: whether there is one is not told.
fn not_own() -> Result<Outcome, ApiError> {
    refused(status::UNAUTHORIZED, "invalid_token", "The token is not that of this registration.")
}

/// The registration.
///
/// # Errors
/// The database cannot be read.
pub fn client(work: &Work<'_>) -> Result<Outcome, ApiError> {
    match own(work)? {
        Some(client) => answer(status::OK, document(work, &client)),
        None => not_own(),
    }
}

/// Replaces the registration.
///
/// # Errors
/// The database cannot be read, or takes no writes.
pub async fn update(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let Some(client) = own(work)? else { return not_own() };
    let registration = match registration(work, declared(work)?.1) {
        Ok(registration) => registration,
        Err((error, why)) => return refused(status::BAD_REQUEST, error, &why.to_string()),
    };
    work.write(vec![client.replaced(&registration)]).await?;
    let changed = Client::find(work.scope, &client.id)?.ok_or_else(|| ApiError::new(Code::Internal))?;
    answer(status::OK, document(work, &changed))
}

/// Ends the registration. What people have connected by it ends with it.
///
/// # Errors
/// The database cannot be read, or takes no writes.
pub async fn delete(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let Some(client) = own(work)? else { return not_own() };
    work.write(client.removed()).await?;
    answer(status::OK, json!({}))
}
