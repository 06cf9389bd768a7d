//! Login and logout: the password, the second factor where the account has one, and the session that begins then.
//!
//! Between the two steps nothing is stored: the page hands itself a sealed text that says whose password was right. Whether a
//! factor is asked for is known to those alone who know the password.

use super::factors::{self, FactorRefusal};
use super::replies::see_other;
use super::{PageContext, passkeys, provider, reset};
use cms_core::access::addresses;
use cms_core::access::attempts::AttemptLimit;
use cms_core::access::factor_proofs::USED;
use cms_core::access::factors::FactorDuty;
use cms_core::access::outbox;
use cms_core::access::passwords::LoginContext;
use cms_core::access::sessions::{self, SESSION, SessionOrigin, cookie_name, removed};
use cms_core::error::{Code, status};
use cms_core::families;
use cms_core::model::Reply;
use cms_core::records::{eq, txt};
use cms_core::registry::columns::session;
use cms_core::scope::Principal;
use cms_storage::plan::{Change, CommitError, WritePlan};
use serde_json::json;

/// The form for the password.
pub(super) fn ask(visit: &PageContext<'_>, status: u16, problem: Option<&str>) -> Reply {
    ask_towards(visit, status, problem, wanted(visit))
}

/// The form of a login that leads to the `wanted` address.
pub(super) fn ask_towards(visit: &PageContext<'_>, status: u16, problem: Option<&str>, wanted: &str) -> Reply {
    let pages = &visit.pages.declared;
    if visit.known() && status == status::OK {
        return see_other(&destination(visit, wanted, &visit.scope.principal));
    }
    let purpose = addresses::local_path(&visit.scope.registry.site.url, wanted)
        .filter(|place| [&pages.authorize, &pages.connect].iter().any(|page| place.starts_with(*page)))
        .map(|_| "A program requests access to this site in your name. Log in first, then you decide.");
    let lost = outbox::sends_links(&visit.scope.registry).then_some(&pages.lost);
    let set = problem.is_none() && visit.parameter("done") == reset::DONE;
    let notice = set.then_some("Your password is set. Log in with it.");
    let data = json!({"action": pages.login, "redirect_name": pages.redirect, "redirect": wanted, "names": pages.fields, "login": visit.field(&pages.fields.login), "purpose": purpose, "problem": problem, "lost": lost, "notice": notice, "providers": provider::buttons(visit, wanted), "passkey": passkeys::login_request(visit)});
    visit.page(status, "Log in", "login.html", data)
}

/// Where the login is to lead, as the address or the form says.
pub(super) fn wanted<'v>(visit: &'v PageContext<'_>) -> &'v str {
    let redirect = &visit.pages.declared.redirect;
    [visit.field(redirect), visit.parameter(redirect)].into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}

/// Takes the password, a passkey alone, or the factor of a login whose password was right.
pub(super) async fn log_in(visit: &PageContext<'_>) -> Reply {
    let pages = &visit.pages.declared;
    let pending = visit.field("pending");
    if !pending.is_empty() {
        return with_factor(visit, pending).await;
    }
    if !visit.field(passkeys::FIELD).is_empty() {
        return passkeys::log_in(visit).await;
    }
    let [login, password, remember] =
        [&pages.fields.login, &pages.fields.password, &pages.fields.remember].map(|name| visit.field(name));
    if login.is_empty() || password.is_empty() {
        return ask(visit, status::UNAUTHORIZED, Some("Give your user name and your password."));
    }
    let patience = AttemptLimit::paused(pages.max_login_attempts, pages.retry_after);
    let identity = visit.engine.identity();
    let occasion = LoginContext { patience, path: &visit.request.path };
    let found = identity.verify_account(&visit.scope, &visit.engine.shared().hasher, (login, password), occasion).await;
    let known = match found {
        Ok(Some(known)) => known,
        Ok(None) => return ask(visit, status::UNAUTHORIZED, Some("The user name or the password is wrong.")),
        Err(error) if error.code() == Code::TooManyRequests => {
            let mut reply =
                ask(visit, status::TOO_MANY_REQUESTS, Some("Too many attempts. Wait a little, then try again."));
            reply.headers.extend(error.headers());
            return reply;
        }
        Err(error) if error.code() == Code::Forbidden => return ask(visit, error.status(), Some(error.message())),
        Err(error) => return visit.failure(&error),
    };
    let (duty, remember) = (known.duty, !remember.is_empty());
    if duty == FactorDuty::Proof {
        let pending = identity.pending_login(&known, remember, visit.scope.now);
        return factor(visit, (&known.before_factor(), &pending, wanted(visit)), status::OK, None);
    }
    let start = SessionStart { duty, remember, origin: SessionOrigin::default(), wanted: wanted(visit) };
    let reply = begin(visit, &known.before_factor(), &start, Vec::new()).await;
    reply.unwrap_or_else(|error| visit.failure(&families::commit_failure(&visit.scope, error)))
}

/// The form for the factor.
pub(super) fn factor(
    visit: &PageContext<'_>,
    (caller, pending, wanted): (&Principal, &str, &str),
    status: u16,
    problem: Option<&str>,
) -> Reply {
    let pages = &visit.pages.declared;
    let passkey = match passkeys::request_of(visit, caller, pending) {
        Ok(passkey) => passkey,
        Err(error) => return visit.failure(&error),
    };
    let data = json!({"action": pages.login, "login_page": pages.login, "redirect_name": pages.redirect, "redirect": wanted, "pending": pending, "passkey": passkey, "problem": problem});
    visit.page(status, "Second factor", "factor.html", data)
}

/// Takes the factor, and begins the session.
async fn with_factor(visit: &PageContext<'_>, pending: &str) -> Reply {
    let resumed = match visit.engine.identity().resumed_login(&visit.scope, pending) {
        Ok(Some(resumed)) => resumed,
        Ok(None) => return ask(visit, status::UNAUTHORIZED, Some("That took too long. Log in again.")),
        Err(error) => return visit.failure(&error),
    };
    let caller = &resumed.caller;
    let refused = |refusal: FactorRefusal| {
        let mut reply = factor(visit, (caller, pending, wanted(visit)), refusal.status, Some(&refusal.problem));
        reply.headers.extend(refusal.headers);
        reply
    };
    let changes = match factors::prove(visit, caller).await {
        Ok(changes) => changes,
        Err(refusal) => return refused(refusal),
    };
    let origin = SessionOrigin { provider: &resumed.provider, id_token: "" };
    let start = SessionStart { duty: FactorDuty::Proof, remember: resumed.remember, origin, wanted: wanted(visit) };
    match begin(visit, caller, &start, changes).await {
        Ok(reply) => reply,
        Err(CommitError::Refused { tag: USED, .. }) => refused(FactorRefusal::wrong()),
        Err(error) => visit.failure(&families::commit_failure(&visit.scope, error)),
    }
}

/// The session that a login begins.
pub(super) struct SessionStart<'a> {
    pub duty: FactorDuty,
    pub remember: bool,
    pub origin: SessionOrigin<'a>,
    /// Address that it leads to.
    pub wanted: &'a str,
}

/// Begins the session of a caller, with further changes.
pub(super) async fn begin(
    visit: &PageContext<'_>,
    caller: &Principal,
    SessionStart { duty, remember, origin, wanted }: &SessionStart<'_>,
    mut changes: Vec<Change>,
) -> Result<Reply, CommitError> {
    let pages = &visit.pages.declared;
    let lifetime = if *remember { pages.remember_lifetime } else { pages.session_lifetime };
    let expires = visit.scope.now + lifetime.seconds_signed();
    let who = (caller.id, bound_to_host(visit));
    let begun = visit.engine.identity().begin_session(&visit.scope, who, expires, *origin);
    let (token, begun) = match begun {
        Ok(begun) => begun,
        Err(error) => return Ok(visit.failure(&error)),
    };
    changes.extend(begun);
    changes.extend(visit.happened("login", caller, origin.provider));
    visit.scope.storage.commit(WritePlan::new(changes)).await?;
    let place = match duty {
        FactorDuty::SetUp | FactorDuty::SetUpUntil(_) => factors::place(visit, wanted),
        FactorDuty::None | FactorDuty::Proof => destination(visit, wanted, caller),
    };
    let mut reply = see_other(&place);
    reply.headers.push(cookie(
        visit,
        (SESSION, bound_to_host(visit)),
        &token,
        remember.then(|| lifetime.seconds_signed()),
    ));
    Ok(reply)
}

/// Ends the session.
pub(super) async fn log_out(visit: &PageContext<'_>) -> Reply {
    let mut reply = see_other(&visit.pages.declared.login);
    if let Some(key) = &visit.scope.principal.session {
        let origin = match sessions::origin(&visit.scope, key) {
            Ok(origin) => origin,
            Err(error) => return visit.failure(&error),
        };
        let mut changes = vec![removed(eq(session::HASH, txt(key)))];
        changes.extend(visit.happened("logout", &visit.scope.principal, ""));
        if let Err(error) = visit.scope.storage.commit(WritePlan::new(changes)).await {
            return visit.failure(&families::commit_failure(&visit.scope, error));
        }
        if let Some(origin) = origin {
            reply = provider::logged_out(visit, &origin).await.unwrap_or(reply);
        }
    }
    reply.headers.push(cookie(visit, (SESSION, bound_to_host(visit)), "", Some(0)));
    if bound_to_host(visit) {
        // One of before this site was served over HTTPS.
        reply.headers.push(cookie(visit, (SESSION, false), "", Some(0)));
    }
    reply
}

/// Whether the session's cookie is sent over HTTPS only.
fn secure(visit: &PageContext<'_>) -> bool {
    visit.scope.peer.https || visit.scope.registry.site.url.starts_with("https:")
}

/// Whether no other site of the domain can set the session's cookie: browsers allow that at the root of a host alone.
pub(super) fn bound_to_host(visit: &PageContext<'_>) -> bool {
    secure(visit) && visit.scope.registry.site.base.is_empty()
}

/// A cookie of this site ([`cookie_name`]), which scripts do not read and other sites do not send along.
pub(super) fn cookie(
    visit: &PageContext<'_>,
    (what, host): (&str, bool),
    value: &str,
    seconds: Option<i64>,
) -> (String, String) {
    let age = seconds.map(|seconds| format!("; Max-Age={seconds}")).unwrap_or_default();
    let site = &visit.scope.registry.site;
    let secure = if secure(visit) { "; Secure" } else { "" };
    let name = cookie_name(&site.prefix, what, host);
    let path = if site.base.is_empty() { "/" } else { &site.base };
    ("Set-Cookie".into(), format!("{name}={value}; Path={path}; HttpOnly; SameSite=Lax{age}{secure}"))
}

/// Where a login leads: a place on this site, otherwise the console for those who may change something, and the
/// profile for others.
pub(super) fn destination(visit: &PageContext<'_>, wanted: &str, caller: &Principal) -> String {
    let place = addresses::local_path(&visit.scope.registry.site.url, wanted);
    place.or_else(|| visit.console_of(caller)).unwrap_or_else(|| visit.pages.declared.profile.clone())
}
