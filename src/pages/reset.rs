//! A lost password: the page that requests a link to set another one, and the page that the link leads to.
//!
//! The first responds alike, and does the same work, whether there is such an account or not: a request is only stored
//! here, and accounts are looked up when it is carried out. The second writes by itself: nobody is logged in there, and the
//! link must be used up with the change that it allows, or neither happens.

use super::factors::{self, FactorRefusal};
use super::replies::see_other;
use super::{PageContext, passkeys, profile, said_in};
use crate::pages::SHORTEST_PASSWORD;
use cms_core::access::attempts::AttemptLimit;
use cms_core::access::audit::{self, Event};
use cms_core::access::factor_proofs;
use cms_core::access::identity::{self, available};
use cms_core::access::links::{PasswordLink, USED};
use cms_core::access::malformed_password;
use cms_core::access::outbox::{self, Message, MessageSubject};
use cms_core::error::{ApiError, Code, refuse_if, status};
use cms_core::families::user;
use cms_core::model::Reply;
use cms_core::records::Record;
use cms_core::scope::Principal;
use cms_storage::plan::{Change, CommitError, Put, Target, WritePlan};
use cms_text::slug::title_key;
use serde_json::json;

/// The mark in the address of the login page after a change.
pub(super) const DONE: &str = "password_set";

/// The form that requests a link.
pub(super) fn ask(visit: &PageContext<'_>) -> Reply {
    if outbox::sends_links(&visit.scope.registry) { lost(visit, status::OK, None) } else { unavailable(visit) }
}

/// Stores the request.
pub(super) async fn request(visit: &PageContext<'_>) -> Reply {
    let registry = &visit.scope.registry;
    if !outbox::sends_links(registry) {
        return unavailable(visit);
    }
    let login = visit.field(&visit.pages.declared.fields.lost).trim();
    if login.is_empty() {
        return lost(visit, status::BAD_REQUEST, Some("Give your user name or your e-mail address."));
    }
    if login.len() <= registry.declaration.site.max_login.as_usize() && !login.contains('\0') {
        let key = title_key(login);
        if let Err(error) = visit.engine.identity().request_link(&visit.scope, &key) {
            return refused(visit, &error, "Too many requests. Wait a little, then try again.");
        }
        match store(visit, login).await {
            Ok(()) => {}
            Err(error) if error.code() == Code::Busy => {
                return refused(visit, &error, "Too many requests are waiting. Try again later.");
            }
            Err(error) => return visit.failure(&error),
        }
    }
    let line = "If there is such an account, a message with a link is on its way to its e-mail address.";
    let more = "Nothing arrived? Look among the unwanted mail, or ask the administrators of the site.";
    visit.message(status::OK, "Look at your mail", &[line, more])
}

/// Writes the request and its entry in the audit trail.
async fn store(visit: &PageContext<'_>, login: &str) -> Result<(), ApiError> {
    let scope = &visit.scope;
    let most = scope.registry.declaration.mail.queue;
    refuse_if(outbox::waiting(&*scope.snapshot()?, Some(MessageSubject::Reset))? >= most, Code::Busy)?;
    let message = Message { subject: MessageSubject::Reset, user: 0, address: "", data: json!({"login": login}) };
    let mut changes = vec![outbox::stored(&message, scope.now, scope.now)];
    let path = &visit.request.path;
    let event = Event { name: "password_link_requested", login, path, ..Event::default() };
    changes.extend(audit::entry(scope, &event));
    changes.extend(audit::overflow(scope)?);
    let done = scope.storage.commit(WritePlan::new(changes)).await;
    done.map(drop).map_err(|error| cms_core::families::commit_failure(scope, error))
}

/// The form for the new password.
pub(super) fn open(visit: &PageContext<'_>) -> Reply {
    let token = visit.parameter("token");
    if is_confirmation(token) {
        return confirmation(visit, token);
    }
    match visit.engine.identity().link(&visit.scope, token) {
        Ok(Some(link)) => form(visit, &link, token, status::OK, None),
        Ok(None) => void(visit),
        Err(error) => visit.failure(&error),
    }
}

/// Sets the password, once.
pub(super) async fn set(visit: &PageContext<'_>) -> Reply {
    let token = visit.field("link");
    if is_confirmation(token) {
        return confirm(visit, token).await;
    }
    let link = match visit.engine.identity().link(&visit.scope, token) {
        Ok(Some(link)) => link,
        Ok(None) => return void(visit),
        Err(error) => return visit.failure(&error),
    };
    let password = visit.field("new");
    if password.chars().count() < SHORTEST_PASSWORD {
        return form(visit, &link, token, status::BAD_REQUEST, Some(&profile::too_short(visit)));
    }
    if let Some(error) = malformed_password(&visit.scope.registry, password) {
        return form(visit, &link, token, error.status(), Some(&said_in(&error.body())));
    }
    let changes = match proven(visit, &link).await {
        Ok(changes) => changes,
        Err(refusal) => {
            let mut reply = form(visit, &link, token, refusal.status, Some(&refusal.problem));
            reply.headers.extend(refusal.headers);
            return reply;
        }
    };
    match write(visit, &link, password, changes).await {
        Ok(()) => {
            let login = &visit.pages.declared.login;
            let mark = if login.contains('?') { '&' } else { '?' };
            see_other(&format!("{login}{mark}done={DONE}"))
        }
        Err(ResetFailure::Void) => void(visit),
        Err(ResetFailure::Error(error)) => visit.failure(&error),
    }
}

/// Proves the factor of the account, where it has one: who can read its mail has no more than that.
async fn proven(visit: &PageContext<'_>, link: &PasswordLink) -> Result<Vec<Change>, FactorRefusal> {
    if !factors::asks(visit, &link.row)? {
        return Ok(Vec::new());
    }
    factors::prove(visit, &owner(visit, link)?).await
}

fn owner(visit: &PageContext<'_>, link: &PasswordLink) -> Result<Principal, ApiError> {
    let users = visit.scope.registry.users().ok_or_else(|| ApiError::new(Code::Internal))?;
    Ok(identity::principal(&visit.scope.settings, Record { resource: users, row: &link.row }))
}

/// Whether a token confirms an e-mail address; those that set a password have no full stop.
fn is_confirmation(token: &str) -> bool {
    token.contains('.')
}

/// The form that confirms an e-mail address: programs open addresses in messages without being asked to.
fn confirmation(visit: &PageContext<'_>, token: &str) -> Reply {
    let users = visit.scope.registry.users();
    match (visit.engine.identity().confirmed(&visit.scope, token), users) {
        (Ok(Some(row)), Some(users)) => {
            let account = Record { resource: users, row: &row };
            let (login, email) = (account.text(user::columns::LOGIN), account.text(user::columns::EMAIL));
            let data = json!({"action": visit.pages.declared.reset, "link": token, "login": login, "email": email});
            with_origin(visit.page(status::OK, "Confirm your e-mail address", "confirm.html", data))
        }
        (Ok(_), _) => void(visit),
        (Err(error), _) => visit.failure(&error),
    }
}

/// Confirms the address.
async fn confirm(visit: &PageContext<'_>, token: &str) -> Reply {
    let (scope, users) = (&visit.scope, visit.scope.registry.users());
    let (row, users) = match (visit.engine.identity().confirmed(scope, token), users) {
        (Ok(Some(row)), Some(users)) => (row, users),
        (Ok(_), _) => return void(visit),
        (Err(error), _) => return visit.failure(&error),
    };
    let account = Record { resource: users, row: &row };
    let target = Target::Existing { key: account.value("id").clone(), expect: account.version() };
    let mut changes = vec![Change::Put(Put::new(users.table.clone(), target, user::confirmation(None)))];
    let (user, login, path) = (account.id(), account.text(user::columns::LOGIN), &visit.request.path);
    changes.extend(audit::entry(scope, &Event { name: "email_confirmed", user, login, path, ..Event::default() }));
    match scope.storage.commit(WritePlan::new(changes)).await {
        Ok(_) => visit.message(
            status::OK,
            "Your e-mail address is confirmed",
            &["Messages about your account go there now."],
        ),
        Err(CommitError::Stale) => void(visit),
        Err(error) => visit.failure(&cms_core::families::commit_failure(scope, error)),
    }
}

/// Why a password was not set.
enum ResetFailure {
    /// The link was used, or the account was changed, in between.
    Void,
    Error(ApiError),
}

impl From<ApiError> for ResetFailure {
    fn from(error: ApiError) -> ResetFailure {
        ResetFailure::Error(error)
    }
}

/// Uses the link up, sets the password, ends every session, notes it in the audit trail and notifies the owner, in one
/// plan.
async fn write(
    visit: &PageContext<'_>,
    link: &PasswordLink,
    password: &str,
    mut changes: Vec<Change>,
) -> Result<(), ResetFailure> {
    let users = visit.scope.registry.users().ok_or_else(|| ApiError::new(Code::Internal))?;
    let account = Record { resource: users, row: &link.row };
    let (engine, key) = (visit.engine, account.key());
    let hash = engine.identity().hash_new(&visit.scope, &engine.shared().hasher, (&key, password)).await?;
    // From here on it is the owner who acts.
    let mut scope = visit.scope.clone();
    scope.principal = identity::principal(&scope.settings, account);
    let target = Target::Existing { key: account.value("id").clone(), expect: account.version() };
    changes.extend(link.used(users, scope.now));
    changes.push(Change::Put(Put::new(users.table.clone(), target, Vec::new())));
    user::set_password(&mut changes, &hash);
    changes.extend(user::new_password(&scope, account, None));
    let path = &visit.request.path;
    let (user, login) = (account.id(), &*scope.principal.login);
    changes
        .extend(audit::entry(&scope, &Event { name: "password_set_by_link", user, login, path, ..Event::default() }));
    match scope.storage.commit(WritePlan::new(changes)).await {
        Ok(_) => {
            let pages = &visit.pages.declared;
            let patience = AttemptLimit::paused(pages.max_login_attempts, pages.retry_after);
            visit.engine.identity().proven(&scope, account, (password, &hash), patience);
            Ok(())
        }
        Err(CommitError::Refused { tag: USED | factor_proofs::USED, .. } | CommitError::Stale) => {
            Err(ResetFailure::Void)
        }
        Err(error) => Err(cms_core::families::commit_failure(&scope, error).into()),
    }
}

fn lost(visit: &PageContext<'_>, status: u16, problem: Option<&str>) -> Reply {
    let pages = &visit.pages.declared;
    let data = json!({"action": pages.lost, "login_page": pages.login, "field": pages.fields.lost, "login": visit.field(&pages.fields.lost), "problem": problem});
    visit.page(status, "Lost password", "lost.html", data)
}

fn refused(visit: &PageContext<'_>, error: &ApiError, text: &str) -> Reply {
    let mut reply = lost(visit, error.status(), Some(text));
    reply.headers.extend(error.headers());
    reply
}

/// The address of this page holds the token, so that browsers tell nobody more of it than the site. (With `no-referrer`
/// they would not tell with our own form that it comes from this site.)
fn form(visit: &PageContext<'_>, link: &PasswordLink, token: &str, status: u16, problem: Option<&str>) -> Reply {
    let Some(users) = visit.scope.registry.users() else { return void(visit) };
    let login = Record { resource: users, row: &link.row }.text("login");
    let proof = || Ok((factors::asks(visit, &link.row)?, passkeys::request_of(visit, &owner(visit, link)?, token)?));
    let (asks, passkey) = match proof() {
        Ok(proof) => proof,
        Err(error) => return visit.failure(&error),
    };
    let data = json!({"action": visit.pages.declared.reset, "link": token, "login": login, "asks_factor": asks, "passkey": passkey, "problem": problem, "shortest": SHORTEST_PASSWORD, "programs": available(&visit.scope.registry, &visit.scope.peer)});
    with_origin(visit.page(status, "Set a password", "reset.html", data))
}

/// A page whose form the browser sends with its origin.
fn with_origin(mut reply: Reply) -> Reply {
    for (name, value) in &mut reply.headers {
        if name == "Referrer-Policy" {
            "strict-origin".clone_into(value);
        }
    }
    reply
}

/// The page for a link that is not valid.
fn void(visit: &PageContext<'_>) -> Reply {
    let pages = &visit.pages.declared;
    let mut data =
        json!({"lines": ["It was used, it is too old, or the account has changed since.", "Nothing was changed."]});
    if outbox::sends_links(&visit.scope.registry) {
        data["link"] = json!(pages.lost);
        data["link_text"] = json!("Request another link");
    }
    visit.page(status::BAD_REQUEST, "This link is not valid", "message.html", data)
}

fn unavailable(visit: &PageContext<'_>) -> Reply {
    let line = "This site sends no e-mail. Ask its administrators for a new password.";
    visit.message(status::NOT_IMPLEMENTED, "Lost password", &[line])
}
