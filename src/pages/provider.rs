//! Login by an identity provider: the buttons that lead there, the address that people come back to, and the logout there.
//!
//! An answer is taken in the browser that the login began in alone, once, and by the provider that it began with. Whatever
//! goes wrong ends at the login page, which says so; what exactly is in the log.

use super::login::{self, SessionStart, ask_towards, bound_to_host, destination};
use super::replies::{found, see_other};
use super::{PageContext, Pages};
use cms_core::access::audit::{self, Event};
use cms_core::access::factors::FactorDuty;
use cms_core::access::identity::{self, principal};
use cms_core::access::sessions::{LOGIN, OriginRow, SessionOrigin, cookie, cookie_name};
use cms_core::error::{ApiError, Code, status};
use cms_core::families;
use cms_core::model::Reply;
use cms_core::openid::account::{self, AccountPlan};
use cms_core::openid::pending::{self, ProviderLogin, USED};
use cms_core::openid::provider::{BACK, OpenIdProvider, ProvenPerson, ProviderAnswer, ProviderError};
use cms_core::records::{self, Record};
use cms_storage::plan::{CommitError, DbValue, WritePlan};
use serde_json::{Value, json};
use url::form_urlencoded::Serializer;

/// The part of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProviderPath {
    /// Where its button leads.
    Begin(usize),
    /// Where it sends people back to.
    Back(usize),
}

/// The page of a provider that a path of the host names.
pub(super) fn part(pages: &Pages, path: &str) -> Option<ProviderPath> {
    let rest = path.strip_prefix(pages.declared.provider.as_str())?.strip_prefix('/')?;
    let (name, back) = rest.strip_suffix(BACK).map_or((rest, false), |name| (name, true));
    let at = pages.providers.iter().position(|own| own.name == name)?;
    Some(if back { ProviderPath::Back(at) } else { ProviderPath::Begin(at) })
}

/// The buttons of the login, which lead to `wanted` in the end.
pub(super) fn buttons(visit: &PageContext<'_>, wanted: &str) -> Value {
    let pages = &visit.pages.declared;
    let button = |provider: &OpenIdProvider| {
        let kept = match wanted {
            "" => String::new(),
            wanted => format!("?{}", Serializer::new(String::new()).append_pair(&pages.redirect, wanted).finish()),
        };
        let label = visit.translate("Log in with {provider}").replace("{provider}", provider.title());
        json!({"address": format!("{}/{}{kept}", pages.provider, provider.name), "label": label})
    };
    visit.pages.providers.iter().map(button).collect()
}

/// Sends a person to the provider.
pub(super) async fn begin(visit: &PageContext<'_>, at: usize) -> Reply {
    let provider = &visit.pages.providers[at];
    let wanted = visit.parameter(&visit.pages.declared.redirect);
    if visit.known() {
        return see_other(&destination(visit, wanted, &visit.scope.principal));
    }
    let host = bound_to_host(visit);
    let browser = own_cookie(visit).map_or_else(pending::new_cookie, str::to_owned);
    let login = ProviderLogin::begin(&provider.name, wanted, visit.scope.now);
    let proofs = login.proofs(visit.engine.identity(), &browser);
    let address = match visit.scope.job_owner() {
        Ok(owner) => provider.login_address(&visit.engine.shared().outbound, owner, &proofs).await,
        Err(error) => return visit.failure(&error),
    };
    match address {
        Ok(address) => {
            let mut reply = found(&address);
            reply.headers.push(login::cookie(visit, (LOGIN, host), &browser, Some(pending::LIFETIME)));
            reply
        }
        Err(error) => unreachable(visit, provider, &error, wanted),
    }
}

/// Takes a person back.
pub(super) async fn back(visit: &PageContext<'_>, at: usize) -> Reply {
    let (provider, identity) = (&visit.pages.providers[at], visit.engine.identity());
    let browser = own_cookie(visit).unwrap_or_default();
    let login = ProviderLogin::of(identity, browser, visit.parameter("state"), visit.scope.now);
    let Some(login) = login.filter(|login| login.provider == provider.name) else {
        return over(visit, "");
    };
    match login.is_used(&visit.scope) {
        Ok(false) => {}
        Ok(true) => return over(visit, &login.wanted),
        Err(error) => return visit.failure(&error),
    }
    if !visit.parameter("error").is_empty() {
        let text = "You did not log in with {provider}.";
        return problem(visit, provider, (status::FORBIDDEN, text), &login.wanted);
    }
    let owner = match visit.scope.job_owner() {
        Ok(owner) => owner,
        Err(error) => return visit.failure(&error),
    };
    let answer = ProviderAnswer { code: visit.parameter("code"), issuer: visit.parameter("iss") };
    let proofs = login.proofs(identity, browser);
    let asked = (answer, &proofs, visit.scope.now);
    match provider.person(&visit.engine.shared().outbound, owner, asked).await {
        Ok(person) => match settle(visit, provider, &person).await {
            Ok(Ok(user)) => finish(visit, provider, (user, &person), &login).await,
            Ok(Err(why)) => problem(visit, provider, (status::FORBIDDEN, why), &login.wanted),
            Err(error) => visit.failure(&error),
        },
        Err(error @ ProviderError::Unreachable(_)) => unreachable(visit, provider, &error, &login.wanted),
        Err(error) => refused(visit, provider, &error, &login.wanted).await,
    }
}

/// The cookie of this browser.
fn own_cookie<'v>(visit: &'v PageContext<'_>) -> Option<&'v str> {
    let name = cookie_name(&visit.scope.registry.site.prefix, LOGIN, bound_to_host(visit));
    cookie(visit.request, &name, pending::is_cookie)
}

/// Carries out who the person is here: the account, or why there is none. Where somebody else writes in between, such as another
/// tab of a first login, it is decided once more.
async fn settle(
    visit: &PageContext<'_>,
    provider: &OpenIdProvider,
    person: &ProvenPerson,
) -> Result<Result<i64, &'static str>, ApiError> {
    match settled(visit, provider, person).await? {
        Err(CommitError::Refused { .. } | CommitError::Stale) => settled(visit, provider, person).await?,
        done => done,
    }
    .map_err(|error| families::commit_failure(&visit.scope, error))
}

async fn settled(
    visit: &PageContext<'_>,
    provider: &OpenIdProvider,
    person: &ProvenPerson,
) -> Result<Result<Result<i64, &'static str>, CommitError>, ApiError> {
    let scope = &visit.scope;
    let plan = account::decide(visit.engine.identity(), scope, (provider, person), &visit.request.path)?;
    let (changes, outcome) = match plan {
        AccountPlan::Known { user, changes } => (changes, Some(Ok(user))),
        AccountPlan::New { changes } => (changes, None),
        AccountPlan::Refused { why, user: 0, mut changes } => {
            changes.extend(audit::overflow(scope)?);
            (changes, Some(Err(why)))
        }
        AccountPlan::Refused { why, changes, .. } => (changes, Some(Err(why))),
    };
    if changes.is_empty() {
        return Ok(Ok(outcome.unwrap_or(Err(""))));
    }
    let done = scope.storage.commit(WritePlan::new(changes)).await;
    Ok(done.map(|done| outcome.unwrap_or_else(|| Ok(done.puts.first().map_or(0, |put| records::int(&put.key))))))
}

/// Begins the session, or asks for the second factor where that is declared.
async fn finish(
    visit: &PageContext<'_>,
    provider: &OpenIdProvider,
    (user, person): (i64, &ProvenPerson),
    login: &ProviderLogin,
) -> Reply {
    finished(visit, provider, (user, person), login).await.unwrap_or_else(|error| match error {
        CommitError::Refused { tag: USED, .. } => over(visit, &login.wanted),
        error => visit.failure(&families::commit_failure(&visit.scope, error)),
    })
}

async fn finished(
    visit: &PageContext<'_>,
    provider: &OpenIdProvider,
    (user, person): (i64, &ProvenPerson),
    login: &ProviderLogin,
) -> Result<Reply, CommitError> {
    let (scope, wanted) = (&visit.scope, &*login.wanted);
    let found = || -> Result<_, ApiError> {
        let users = scope.registry.users().ok_or_else(|| ApiError::new(Code::Internal))?;
        let snapshot = scope.snapshot()?;
        let row = records::find(&*snapshot, users, &DbValue::Int(user))?;
        let row = row.ok_or_else(|| ApiError::new(Code::UserInvalidId))?;
        let account = Record { resource: users, row: &row };
        let duty = FactorDuty::after_provider(scope, &*snapshot, account, &provider.name)?;
        let pending = visit.engine.identity().pending_provider_login(account, &provider.name, scope.now);
        Ok((principal(&scope.settings, account), duty, duty.begun(account), pending))
    };
    let (caller, duty, begun, pending) = match found() {
        Ok(found) => found,
        Err(error) => return Ok(visit.failure(&error)),
    };
    let mut changes = login.used(scope.now);
    if duty == FactorDuty::Proof {
        scope.storage.commit(WritePlan::new(changes)).await?;
        return Ok(login::factor(visit, (&caller, &pending, wanted), status::OK, None));
    }
    changes.extend(begun);
    let origin = SessionOrigin { provider: &provider.name, id_token: &person.id_token };
    login::begin(visit, &caller, &SessionStart { duty, remember: false, origin, wanted }, changes).await
}

const OVER: &str = "That login is over, or it began in another browser. Log in again.";

/// The page for an answer that belongs to no login of this browser, or to one that has ended: by the back button, for example.
fn over(visit: &PageContext<'_>, wanted: &str) -> Reply {
    if visit.known() {
        return see_other(&destination(visit, wanted, &visit.scope.principal));
    }
    ask_towards(visit, status::BAD_REQUEST, Some(OVER), wanted)
}

/// Records that the provider's answer is not taken.
async fn refused(visit: &PageContext<'_>, provider: &OpenIdProvider, error: &ProviderError, wanted: &str) -> Reply {
    let scope = &visit.scope;
    tracing::warn!(request = %scope.request_id, "the login by {} failed: {}", provider.name, error.why());
    let changed = vec![format!("provider={}", provider.name), error.why().to_owned()];
    let event = Event { name: "login_failed", path: &visit.request.path, changed, ..Event::default() };
    identity::record(scope, &event).await;
    if let Err(error) = visit.engine.identity().throttle().mistake(scope) {
        return visit.failure(&error);
    }
    let text = "The answer of {provider} could not be taken. Log in again; if that does not help, ask the administrators of the site.";
    problem(visit, provider, (status::FORBIDDEN, text), wanted)
}

fn unreachable(visit: &PageContext<'_>, provider: &OpenIdProvider, error: &ProviderError, wanted: &str) -> Reply {
    tracing::warn!(request = %visit.scope.request_id, "{} logs nobody in: {}", provider.name, error.why());
    let text = "{provider} cannot be asked at the moment. Try again later.";
    problem(visit, provider, (status::UNAVAILABLE, text), wanted)
}

/// The login page with what went wrong.
fn problem(visit: &PageContext<'_>, provider: &OpenIdProvider, (status, text): (u16, &str), wanted: &str) -> Reply {
    let text = visit.translate(text).replace("{provider}", provider.title());
    ask_towards(visit, status, Some(&text), wanted)
}

/// The page after a logout that leads to the provider with which the session began; `None`: there is nothing to do there. A
/// redirect would not leave the site, whose forms lead nowhere else.
pub(super) async fn logged_out(visit: &PageContext<'_>, origin: &OriginRow) -> Option<Reply> {
    let named = |own: &&OpenIdProvider| *own.name == *origin.provider && own.declared.logout;
    let provider = visit.pages.providers.iter().find(named)?;
    let site = &visit.scope.registry.site;
    let back = format!("{}{}", site.url, visit.scope.registry.declaration.pages.login);
    let (outbound, owner) = (&visit.engine.shared().outbound, visit.scope.job_owner().ok()?);
    let place = provider.logout_address(outbound, owner, (&origin.id_token, &back)).await?;
    let line = visit.translate("You are logged out here. {provider} asks whether you log out there, too.");
    let line = line.replace("{provider}", provider.title());
    let data = json!({"lines": [line], "link": place, "link_text": "Log out there"});
    let mut reply = visit.page(status::OK, "Logged out", "message.html", data);
    reply.headers.push(("Refresh".into(), format!("0; url={place}")));
    Some(reply)
}
