//! Passkeys on the pages: what their forms offer to the browser, and what they take from it.
//!
//! A script of the site hands the options of a form to the browser, and puts its response into the form. The options have a
//! challenge, so every page is offered fresh ones.

use super::PageContext;
use super::factors::{FactorRefusal, OwnFactors, finish, title};
use super::login::{self, SessionStart};
use cms_core::access::attempts::AttemptLimit;
use cms_core::access::audit::Event;
use cms_core::access::factor_proofs::USED;
use cms_core::access::factors::{FactorDuty, FactorRow};
use cms_core::access::identity;
use cms_core::access::passkeys::{self, PasskeyError, PasskeyFault, PasskeyUse, ProvenPasskey};
use cms_core::access::sessions::SessionOrigin;
use cms_core::error::{ApiError, status};
use cms_core::families;
use cms_core::model::Reply;
use cms_core::scope::Principal;
use cms_storage::plan::{Change, CommitError};
use serde_json::json;

/// The field with the browser's response.
pub(super) const FIELD: &str = "passkey";

/// The hint of a site for whose address browsers make no passkeys.
const NO_ADDRESS: &str =
    "Passkeys need a site whose address has a name and begins with https:. The operator sets it (site.url).";

/// Why nobody can add a passkey; `None`: everybody can.
pub(super) fn unavailable(visit: &PageContext<'_>) -> Option<&'static str> {
    (!passkeys::has_passkeys(&visit.scope.registry.site)).then_some(NO_ADDRESS)
}

/// The options with which the browser uses a passkey in a form, as JSON; `None`: the account has none. The proof is bound to
/// what the form has beside it: see [`bound`].
pub(super) fn request(visit: &PageContext<'_>, account: &Principal, own: &[FactorRow], bound: &str) -> Option<String> {
    let used_as = PasskeyUse::SecondFactor(account, bound);
    visit.engine.identity().passkey_request(&visit.scope, used_as, own).map(|options| options.to_string())
}

/// The same for an account whose factors are not read yet.
pub(super) fn request_of(
    visit: &PageContext<'_>,
    account: &Principal,
    bound: &str,
) -> Result<Option<String>, ApiError> {
    Ok(request(visit, account, &FactorRow::of_user(&visit.scope, account.id)?, bound))
}

/// The same for a login with a passkey alone.
pub(super) fn login_request(visit: &PageContext<'_>) -> Option<String> {
    let options = visit.engine.identity().passkey_request(&visit.scope, PasskeyUse::Login, &[]);
    options.map(|options| options.to_string())
}

/// The secret to which the proof in a form is bound: a login whose password was right, a link from the mail, or the session.
fn bound<'v>(visit: &'v PageContext<'_>) -> &'v str {
    let beside = [visit.field("pending"), visit.field("link")].into_iter().find(|text| !text.is_empty());
    beside.or(visit.scope.principal.session.as_deref()).unwrap_or_default()
}

/// Proves the factor of an account by the passkey in the form: the changes that use the proof up.
pub(super) async fn prove(visit: &PageContext<'_>, account: &Principal) -> Result<Vec<Change>, FactorRefusal> {
    let proven = check(visit, PasskeyUse::SecondFactor(account, bound(visit))).await?;
    Ok(proven.changes)
}

/// Logs in with the passkey in the form alone.
pub(super) async fn log_in(visit: &PageContext<'_>) -> Reply {
    let ProvenPasskey { caller, changes } = match check(visit, PasskeyUse::Login).await {
        Ok(proven) => proven,
        Err(refusal) => {
            let mut reply = login::ask(visit, refusal.status, Some(&refusal.problem));
            reply.headers.extend(refusal.headers);
            return reply;
        }
    };
    let remember = !visit.field(&visit.pages.declared.fields.remember).is_empty();
    let origin = SessionOrigin::default();
    let start = SessionStart { duty: FactorDuty::Proof, remember, origin, wanted: login::wanted(visit) };
    match login::begin(visit, &caller, &start, changes).await {
        Ok(reply) => reply,
        Err(CommitError::Refused { tag: USED, .. }) => {
            login::ask(visit, status::FORBIDDEN, Some(reason(PasskeyFault::Challenge)))
        }
        Err(error) => visit.failure(&families::commit_failure(&visit.scope, error)),
    }
}

/// Checks the passkey in the form. One that is refused is in the audit trail.
async fn check(visit: &PageContext<'_>, used_as: PasskeyUse<'_>) -> Result<ProvenPasskey, FactorRefusal> {
    let pages = &visit.pages.declared;
    let limit = AttemptLimit::paused(pages.max_login_attempts, pages.retry_after);
    let given = visit.field(FIELD);
    let (fault, owner) = match visit.engine.identity().prove_passkey(&visit.scope, used_as, given, limit) {
        Ok(proven) => return Ok(proven),
        Err(PasskeyError::Failed(error)) => return Err(error.into()),
        Err(PasskeyError::Refused(fault, owner)) => (fault, owner),
    };
    let whose = match used_as {
        PasskeyUse::SecondFactor(account, _) => Some(account),
        PasskeyUse::Login => owner.as_deref(),
    };
    let (user, login) = whose.map_or((0, ""), |whose| (whose.id, &whose.login));
    let changed = vec![format!("reason={}", fault.as_str())];
    let event = Event { name: "passkey_refused", user, login, path: &visit.request.path, changed, ..Event::default() };
    identity::record(&visit.scope, &event).await;
    Err(refused(fault))
}

fn refused(fault: PasskeyFault) -> FactorRefusal {
    FactorRefusal::new(status::FORBIDDEN, reason(fault))
}

/// Why a passkey is refused, in words for people.
fn reason(fault: PasskeyFault) -> &'static str {
    match fault {
        PasskeyFault::Challenge => "That took too long, or it was used before. Try again.",
        PasskeyFault::Credential => "This site does not know that passkey.",
        PasskeyFault::Verification => {
            "That passkey does not check who holds it, so it is a second factor alone. Log in with your password first."
        }
        PasskeyFault::Counter => {
            "That passkey was refused: it may have been copied. Remove it, and tell the administrators of the site."
        }
        PasskeyFault::Origin | PasskeyFault::RelyingParty => {
            "That passkey was used for another address than that of this site."
        }
        PasskeyFault::Account => "This account logs in by the login of your organisation.",
        PasskeyFault::Key => "The site cannot use passkeys of this kind.",
        PasskeyFault::Malformed
        | PasskeyFault::Ceremony
        | PasskeyFault::Presence
        | PasskeyFault::UserHandle
        | PasskeyFault::Signature => "The passkey was not accepted.",
    }
}

/// The page on which the browser makes a passkey, for an owner who has proven to be one.
pub(super) fn set_up(visit: &PageContext<'_>, own: &OwnFactors, status: u16, problem: Option<&str>) -> Reply {
    let made = visit.engine.identity().passkey_creation(&visit.scope, &visit.site_name(), &own.factors);
    let Some(options) = made else { return visit.message(status::BAD_REQUEST, "Add a passkey", &[NO_ADDRESS]) };
    let data = json!({"action": super::factors::address(visit), "passkey": options.to_string(), "name": title(visit, "Passkey"), "problem": problem});
    visit.page(status, "Add a passkey", "factor-passkey.html", data)
}

/// Adds the passkey that the browser has made.
pub(super) async fn add(visit: &PageContext<'_>, own: &OwnFactors) -> Result<Reply, FactorRefusal> {
    own.refuse_full(visit)?;
    let title = title(visit, "Passkey");
    let added = visit.engine.identity().add_passkey(&visit.scope, &title, visit.field(FIELD));
    let added = added.map_err(|fault| FactorRefusal::new(status::BAD_REQUEST, reason(fault)))?;
    finish(visit, own, &title, added).await
}
