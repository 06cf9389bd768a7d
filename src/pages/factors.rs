//! Second factors: the page where people set their own up, and the proof of one for every other page.
//!
//! A change of the factors of an account asks for what it has: its factor, or else its password. Every change is in the audit
//! trail and reported to the account's address.

use super::replies::see_other;
use super::{PageContext, login, passkeys};
use cms_core::access::addresses;
use cms_core::access::attempts::AttemptLimit;
use cms_core::access::audit::Event;
use cms_core::access::factor_proofs::{NewAuthenticator, USED};
use cms_core::access::factors::{FactorDuty, FactorRow, recovery_codes_left};
use cms_core::access::identity;
use cms_core::access::outbox::{self, MessageSubject};
use cms_core::access::passwords;
use cms_core::access::sessions::{self, OriginRow};
use cms_core::error::{ApiError, Code, status};
use cms_core::families;
use cms_core::families::user::end_sessions;
use cms_core::model::Reply;
use cms_core::records::{self, Record};
use cms_core::scope::Principal;
use cms_storage::plan::{Change, CommitError, DbValue, Row, WritePlan};
use cms_text::sanitize;
use serde_json::{Value, json};

/// Longest name of a factor, in characters.
const LONGEST_NAME: usize = 100;

/// Seconds after a login by an identity provider within which it stands for a password.
const RECENT: i64 = 10 * 60;

/// Why a factor was not proven, in words for people.
pub(super) struct FactorRefusal {
    pub status: u16,
    pub problem: String,
    pub headers: Vec<(String, String)>,
}

impl FactorRefusal {
    /// The code is wrong.
    pub(super) fn wrong() -> FactorRefusal {
        FactorRefusal::new(status::FORBIDDEN, "The code is wrong, or it was used before.")
    }

    pub(super) fn new(status: u16, problem: &str) -> FactorRefusal {
        FactorRefusal { status, problem: problem.to_owned(), headers: Vec::new() }
    }
}

impl From<ApiError> for FactorRefusal {
    fn from(error: ApiError) -> FactorRefusal {
        let text = match error.code() {
            Code::TooManyRequests => "Too many attempts. Wait a little, then try again.",
            _ => error.message(),
        };
        FactorRefusal { headers: error.headers(), ..FactorRefusal::new(error.status(), text) }
    }
}

/// Proves the factor of an account by what the form has: the changes that use the proof up. A failure is recorded, as is the use
/// of a recovery code.
pub(super) async fn prove(visit: &PageContext<'_>, account: &Principal) -> Result<Vec<Change>, FactorRefusal> {
    if !visit.field(passkeys::FIELD).is_empty() {
        return passkeys::prove(visit, account).await;
    }
    let pages = &visit.pages.declared;
    let limit = AttemptLimit::paused(pages.max_login_attempts, pages.retry_after);
    let code = visit.field("code");
    if let Some(proven) = visit.engine.identity().prove_code(&visit.scope, account.id, code, limit)? {
        let mut changes = proven.changes;
        changes.extend(proven.recovery.then(|| visit.happened("recovery_code_used", account, "")).flatten());
        return Ok(changes);
    }
    let (name, path) = ("second_factor_failed", &*visit.request.path);
    let event = Event { name, user: account.id, login: &account.login, path, ..Event::default() };
    identity::record(&visit.scope, &event).await;
    Err(FactorRefusal::wrong())
}

/// Proves the factor of the logged-in user, and uses the proof up.
pub(super) async fn prove_now(visit: &PageContext<'_>) -> Result<(), FactorRefusal> {
    let changes = prove(visit, &visit.scope.principal).await?;
    use_up(visit, changes).await
}

async fn use_up(visit: &PageContext<'_>, changes: Vec<Change>) -> Result<(), FactorRefusal> {
    match visit.scope.storage.commit(WritePlan::new(changes)).await {
        Ok(_) => Ok(()),
        Err(CommitError::Refused { tag: USED, .. }) => Err(FactorRefusal::wrong()),
        Err(error) => Err(families::commit_failure(&visit.scope, error).into()),
    }
}

/// Whether forms about an account ask for its factor.
pub(super) fn asks(visit: &PageContext<'_>, row: &Row) -> Result<bool, ApiError> {
    let (account, snapshot) = (account(visit, row)?, visit.scope.snapshot()?);
    Ok(FactorDuty::of(&visit.scope, &*snapshot, account)? == FactorDuty::Proof)
}

/// Whether the owner of an account logs in by an identity provider alone.
pub(super) fn without_password(visit: &PageContext<'_>, row: &Row) -> Result<bool, ApiError> {
    Ok(!passwords::has_password(&visit.scope, account(visit, row)?))
}

/// The address of the page, from where people go on to where they wanted.
pub(super) fn place(visit: &PageContext<'_>, wanted: &str) -> String {
    let pages = &visit.pages.declared;
    match addresses::local_path(&visit.scope.registry.site.url, wanted) {
        Some(place) => visit.leading(&pages.factors, &place),
        None => pages.factors.clone(),
    }
}

/// The row of the logged-in user.
pub(super) fn own_row(visit: &PageContext<'_>) -> Result<Row, ApiError> {
    let users = visit.scope.registry.users().ok_or_else(|| ApiError::new(Code::Internal))?;
    let row = records::find(&*visit.scope.snapshot()?, users, &DbValue::Int(visit.scope.principal.id))?;
    row.ok_or_else(|| ApiError::new(Code::UserInvalidId))
}

/// The account that the page works on, and its factors.
pub(super) struct OwnFactors {
    row: Row,
    pub(super) factors: Vec<FactorRow>,
    duty: FactorDuty,
    /// Its owner logs in by an identity provider alone.
    without_password: bool,
}

impl OwnFactors {
    fn of(visit: &PageContext<'_>) -> Result<OwnFactors, ApiError> {
        let row = own_row(visit)?;
        let account = account(visit, &row)?;
        let factors = FactorRow::of_user(&visit.scope, account.id())?;
        let duty = FactorDuty::of(&visit.scope, &*visit.scope.snapshot()?, account)?;
        let without_password = without_password(visit, &row)?;
        Ok(OwnFactors { row, factors, duty, without_password })
    }

    /// Whether the account has as many factors as it may have.
    fn is_full(&self, visit: &PageContext<'_>) -> bool {
        self.factors.len() as u64 >= visit.pages.declared.max_factors
    }

    pub(super) fn refuse_full(&self, visit: &PageContext<'_>) -> Result<(), FactorRefusal> {
        match self.is_full(visit) {
            true => Err(FactorRefusal::new(status::BAD_REQUEST, FULL)),
            false => Ok(()),
        }
    }

    /// The options with which the browser uses a passkey in a form of the page; `None`: the account has none.
    fn passkey(&self, visit: &PageContext<'_>) -> Option<String> {
        let caller = &visit.scope.principal;
        passkeys::request(visit, caller, &self.factors, caller.session.as_deref().unwrap_or_default())
    }
}

fn account<'a>(visit: &'a PageContext<'_>, row: &'a Row) -> Result<Record<'a>, ApiError> {
    let users = visit.scope.registry.users().ok_or_else(|| ApiError::new(Code::Internal))?;
    Ok(Record { resource: users, row })
}

/// The page.
pub(super) fn show(visit: &PageContext<'_>, status: u16, problem: Option<&str>) -> Reply {
    match shown(visit) {
        Ok(mut data) => {
            data["problem"] = json!(problem);
            visit.page(status, "Second factor", "factors.html", data)
        }
        Err(error) => visit.failure(&error),
    }
}

fn shown(visit: &PageContext<'_>) -> Result<Value, ApiError> {
    let own = OwnFactors::of(visit)?;
    let moment = |seconds: i64| super::profile::moment(visit, seconds);
    let factor = |row: &FactorRow| {
        let used = (row.last_used != 0).then(|| moment(row.last_used));
        json!({"id": &*row.id, "name": &*row.name, "created": moment(row.created), "last_used": used})
    };
    let factors: Vec<Value> = own.factors.iter().map(factor).collect();
    let due = match own.duty {
        FactorDuty::SetUpUntil(due) => Some(moment(due)),
        _ => None,
    };
    let place = login::destination(visit, visit.parameter(&visit.pages.declared.redirect), &visit.scope.principal);
    Ok(json!({
        "width": "wide",
        "action": address(visit),
        "factors": factors,
        "left": recovery_codes_left(&visit.scope, visit.scope.principal.id)?,
        "due": due,
        "required": own.duty == FactorDuty::SetUp,
        "next": (own.duty != FactorDuty::SetUp).then_some(place),
        "notice": done(visit.parameter("done")),
        "full": own.is_full(visit),
        "no_passkeys": passkeys::unavailable(visit),
    }))
}

/// The page with the place to go on to.
pub(super) fn address(visit: &PageContext<'_>) -> String {
    place(visit, visit.parameter(&visit.pages.declared.redirect))
}

fn done(act: &str) -> Option<&'static str> {
    Some(match act {
        "add" => "The second factor is set up. It is asked for at each login from now on.",
        "remove" => "The second factor was removed.",
        _ => return None,
    })
}

/// Carries out what one of the page's forms requests.
pub(super) async fn change(visit: &PageContext<'_>) -> Reply {
    let own = match OwnFactors::of(visit) {
        Ok(own) => own,
        Err(error) => return visit.failure(&error),
    };
    let asked = ["code", "current", passkeys::FIELD].iter().any(|field| visit.form.contains_key(*field));
    let done = match (visit.field("act"), asked) {
        ("begin", _) => return begin(visit, &own),
        ("add", _) => add(visit, &own).await,
        ("made", _) => passkeys::add(visit, &own).await,
        ("passkey", _) if passkeys::unavailable(visit).is_some() => {
            return show(visit, status::BAD_REQUEST, passkeys::unavailable(visit));
        }
        ("remove" | "recovery" | "passkey", false) => return confirm(visit, &own, status::OK, None),
        ("passkey", true) => begin_passkey(visit, &own).await,
        ("remove", true) => remove(visit, &own).await,
        ("recovery", true) => recovery(visit, &own).await,
        _ => return show(visit, status::OK, None),
    };
    done.unwrap_or_else(|refusal| {
        let (status, problem) = (refusal.status, Some(&*refusal.problem));
        let mut reply = match visit.field("act") {
            "add" => match authenticator(visit) {
                Ok(Some(new)) => set_up(visit, &own, &new, status, problem),
                _ => show(visit, status, problem),
            },
            "made" => passkeys::set_up(visit, &own, status, problem),
            _ => confirm(visit, &own, status, problem),
        };
        reply.headers.extend(refusal.headers);
        reply
    })
}

/// The page on which a new app is set up.
fn begin(visit: &PageContext<'_>, own: &OwnFactors) -> Reply {
    if let Err(refusal) = own.refuse_full(visit) {
        return show(visit, refusal.status, Some(&refusal.problem));
    }
    let caller = &visit.scope.principal;
    match visit.engine.identity().new_authenticator(&visit.scope, &visit.site_name(), &caller.login) {
        Ok(new) => set_up(visit, own, &new, status::OK, None),
        Err(error) => visit.failure(&error),
    }
}

const FULL: &str = "There are as many as an account may have. Remove one first.";

/// The app that the form sets up.
fn authenticator(visit: &PageContext<'_>) -> Result<Option<NewAuthenticator>, ApiError> {
    let (site, login) = (visit.site_name(), &visit.scope.principal.login);
    visit.engine.identity().authenticator(&visit.scope, visit.field("setup"), &site, login)
}

fn set_up(
    visit: &PageContext<'_>,
    own: &OwnFactors,
    new: &NewAuthenticator,
    status: u16,
    problem: Option<&str>,
) -> Reply {
    let (path, side) = &new.squares;
    let name = title(visit, "Authenticator app");
    let data = json!({"action": address(visit), "asks_factor": own.duty == FactorDuty::Proof, "passkey": own.passkey(visit), "without_password": own.without_password, "setup": new.setup, "secret": new.secret, "address": new.address, "path": path, "side": side, "name": name, "problem": problem});
    visit.page(status, "Set up an app", "factor-app.html", data)
}

/// The question before a change.
fn confirm(visit: &PageContext<'_>, own: &OwnFactors, status: u16, problem: Option<&str>) -> Reply {
    let act = visit.field("act");
    let named = own.factors.iter().find(|factor| *factor.id == *visit.field("factor"));
    if act == "remove" && named.is_none() {
        return show(visit, status::NOT_FOUND, Some("There is no such second factor."));
    }
    let title = match act {
        "remove" => "Remove a second factor",
        "passkey" => "Add a passkey",
        _ => "New recovery codes",
    };
    let data = json!({"action": address(visit), "asks_factor": own.duty == FactorDuty::Proof, "passkey": own.passkey(visit), "without_password": own.without_password, "act": act, "factor": visit.field("factor"), "name": named.map(|factor| &*factor.name), "problem": problem});
    visit.page(status, title, "factor-confirm.html", data)
}

/// Proves that the one who changes factors is the owner of the account: by a factor, or the password where there is none.
async fn present(visit: &PageContext<'_>, own: &OwnFactors) -> Result<Vec<Change>, FactorRefusal> {
    let caller = &visit.scope.principal;
    if own.duty == FactorDuty::Proof {
        return prove(visit, caller).await;
    }
    if own.without_password {
        // The provider has asked then for what it asks.
        let key = caller.session.as_deref().unwrap_or_default();
        let recent = |origin: OriginRow| visit.scope.now - origin.created <= RECENT;
        return match sessions::origin(&visit.scope, key)?.is_some_and(recent) {
            true => Ok(Vec::new()),
            false => Err(FactorRefusal::new(status::FORBIDDEN, "Log out and in again, then repeat it.")),
        };
    }
    match super::profile::knows_password(visit).await? {
        Some(_) => Ok(Vec::new()),
        None => Err(FactorRefusal::new(status::FORBIDDEN, "Your present password is another one.")),
    }
}

/// Adds the app whose first code is right.
async fn add(visit: &PageContext<'_>, own: &OwnFactors) -> Result<Reply, FactorRefusal> {
    own.refuse_full(visit)?;
    let title = title(visit, "Authenticator app");
    let added =
        visit.engine.identity().add_authenticator(&visit.scope, visit.field("setup"), &title, visit.field("first"));
    let added = added.ok_or_else(|| {
        let text = "The code of the app is wrong. Is the clock of the device right?";
        FactorRefusal::new(status::BAD_REQUEST, text)
    })?;
    let mut changes = present(visit, own).await?;
    changes.extend(added);
    finish(visit, own, &title, changes).await
}

/// The name that the form gives a new factor.
pub(super) fn title(visit: &PageContext<'_>, otherwise: &str) -> String {
    let title: String = sanitize::text_field(visit.field("name"), false).chars().take(LONGEST_NAME).collect();
    if title.is_empty() { visit.translate(otherwise) } else { title }
}

/// The page on which a passkey is made, for who has proven to be the owner.
async fn begin_passkey(visit: &PageContext<'_>, own: &OwnFactors) -> Result<Reply, FactorRefusal> {
    own.refuse_full(visit)?;
    let changes = present(visit, own).await?;
    use_up(visit, changes).await?;
    Ok(passkeys::set_up(visit, own, status::OK, None))
}

/// Commits a factor that was added, with recovery codes where it is the first one.
pub(super) async fn finish(
    visit: &PageContext<'_>,
    own: &OwnFactors,
    title: &str,
    mut changes: Vec<Change>,
) -> Result<Reply, FactorRefusal> {
    let codes = match own.factors.is_empty() {
        true => {
            let (codes, made) = visit.engine.identity().new_recovery_codes(visit.scope.principal.id);
            changes.extend(made);
            codes
        }
        false => Vec::new(),
    };
    // A session that began without the factor would go on without.
    changes.push(end_sessions(&DbValue::Int(visit.scope.principal.id), visit.scope.principal.session.as_deref()));
    commit(visit, own, ("second_factor_added", title, format!("added: {title}")), changes).await?;
    Ok(if codes.is_empty() { see_other(&with_done(visit, "add")) } else { codes_page(visit, &codes) })
}

/// Takes a factor away.
async fn remove(visit: &PageContext<'_>, own: &OwnFactors) -> Result<Reply, FactorRefusal> {
    let factor = own.factors.iter().find(|factor| *factor.id == *visit.field("factor"));
    let factor = factor.ok_or_else(|| FactorRefusal::new(status::NOT_FOUND, "There is no such second factor."))?;
    let mut changes = present(visit, own).await?;
    changes.extend(factor.removed(visit.scope.principal.id, own.factors.len() == 1));
    let title = &*factor.name;
    commit(visit, own, ("second_factor_removed", title, format!("removed: {title}")), changes).await?;
    Ok(see_other(&with_done(visit, "remove")))
}

/// Replaces the recovery codes.
async fn recovery(visit: &PageContext<'_>, own: &OwnFactors) -> Result<Reply, FactorRefusal> {
    if own.factors.is_empty() {
        return Err(FactorRefusal::new(
            status::BAD_REQUEST,
            "There is no second factor, so there is nothing to recover.",
        ));
    }
    let mut changes = present(visit, own).await?;
    let (codes, made) = visit.engine.identity().new_recovery_codes(visit.scope.principal.id);
    changes.extend(made);
    commit(visit, own, ("recovery_codes_made", "", "new recovery codes".to_owned()), changes).await?;
    Ok(codes_page(visit, &codes))
}

/// The recovery codes, for the only time.
fn codes_page(visit: &PageContext<'_>, codes: &[String]) -> Reply {
    let data = json!({"codes": codes, "next": address(visit)});
    visit.page(status::OK, "Your recovery codes", "recovery.html", data)
}

fn with_done(visit: &PageContext<'_>, act: &str) -> String {
    let address = address(visit);
    let mark = if address.contains('?') { '&' } else { '?' };
    format!("{address}{mark}done={act}")
}

/// Commits a change with its entry in the audit trail and its message.
async fn commit(
    visit: &PageContext<'_>,
    own: &OwnFactors,
    (event, subject, told): (&str, &str, String),
    mut changes: Vec<Change>,
) -> Result<(), FactorRefusal> {
    let account = account(visit, &own.row)?;
    changes.extend(visit.happened(event, &visit.scope.principal, subject));
    let told = json!({"change": told});
    changes.extend(outbox::notification_change(&visit.scope, MessageSubject::SecondFactor, account, told));
    match visit.scope.storage.commit(WritePlan::new(changes)).await {
        Ok(_) => Ok(()),
        Err(CommitError::Refused { tag: USED, .. }) => Err(FactorRefusal::wrong()),
        Err(error) => Err(families::commit_failure(&visit.scope, error).into()),
    }
}
