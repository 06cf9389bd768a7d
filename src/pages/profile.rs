//! The profile: own data, password, sessions and application passwords; those of others for users who may edit them.

use super::authorize::users_path;
use super::replies::see_other;
use super::{PageContext, console, factors, passkeys, said};
use cms_core::access::attempts::AttemptLimit;
use cms_core::access::factors::FactorDuty;
use cms_core::access::identity::available;
use cms_core::access::passwords::{KnownPassword, LoginContext};
use cms_core::access::sessions::{SessionRow, removed};
use cms_core::error::{ApiError, status};
use cms_core::families;
use cms_core::model::{Method, Reply};
use cms_core::records::{self, eq, txt};
use cms_core::registry::columns::{ID, session, user as col};
use cms_core::registry::name;
use cms_core::request::call::SubResponse;
use cms_storage::plan::{Cond, DbValue, Op, WritePlan};
use cms_text::browsers;
use cms_text::dates;
use cms_text::time;
use serde_json::{Map, Value, json};

/// Fields of the form of one's data, as the interface calls them.
const DATA: [&str; 6] = ["name", "first_name", "last_name", "email", "url", "description"];

const DAY: i64 = 24 * 60 * 60;

/// A notice, a problem or a new password that the page shows besides the profile.
#[derive(Default)]
pub(super) struct Notice {
    status: Option<u16>,
    problem: Option<String>,
    notice: Option<&'static str>,
    /// A new password and whose it is.
    secret: Option<(String, String)>,
}

/// The page.
pub(super) async fn show(visit: &PageContext<'_>, told: Notice) -> Reply {
    let user = shown_user(visit);
    let own = user == visit.scope.principal.id;
    let item = format!("{}/{user}", users_path(visit));
    let found = visit.rest(Method::Get, &item, json!({"context": "edit"}), Value::Null).await;
    if found.status != status::OK {
        return visit.message(found.status, "Not shown", &[&said(&found)]);
    }
    let available = available(&visit.scope.registry, &visit.scope.peer) && visit.available_for(user).unwrap_or(false);
    let passwords = match available {
        true => visit.rest(Method::Get, &format!("{item}/application-passwords"), json!({}), Value::Null).await.body,
        false => Value::Null,
    };
    let read = || {
        let row = factors::own_row(visit)?;
        let proofs = (factors::asks(visit, &row)?, factors::without_password(visit, &row)?);
        let caller = &visit.scope.principal;
        let passkey = passkeys::request_of(visit, caller, caller.session.as_deref().unwrap_or_default())?;
        Ok::<_, ApiError>((sessions(visit, user)?, address_before(visit, user)?, proofs, passkey))
    };
    let (sessions, before, (asks, without_password), passkey) = match read() {
        Ok(read) => read,
        Err(error) => return visit.failure(&error),
    };
    let notice = told.notice.or_else(|| done(visit.parameter("done")));
    let title = match own {
        true => visit.translate("Your profile"),
        false => visit.translate("Profile of {name}").replace("{name}", found.body["name"].as_str().unwrap_or("")),
    };
    let (app_name, secret) = told.secret.unzip();
    let data = json!({"width": "wide", "title": title, "action": address(visit, user), "own": own, "user": found.body, "before": before, "available": available, "passwords": passwords.as_array().map(|list| list.iter().map(|p| dated(visit, p)).collect::<Vec<_>>()), "sessions": sessions, "people": people(visit).await, "problem": told.problem, "notice": notice, "copies": secret.is_some(), "connects": visit.scope.registry.oauth().is_some(), "secret": secret, "app_name": app_name, "asks_factor": asks, "passkey": passkey, "without_password": without_password, "factors": visit.pages.declared.factors, "shortest": SHORTEST_PASSWORD});
    visit.page(told.status.unwrap_or(status::OK), "", "profile.html", data)
}

/// Carries out what one of the page's forms requests.
pub(super) async fn change(visit: &PageContext<'_>) -> Reply {
    let user = shown_user(visit);
    let item = format!("{}/{user}", users_path(visit));
    let passwords = format!("{item}/application-passwords");
    let act = visit.field("act");
    let done = match act {
        "save" => {
            let given = DATA.iter().filter_map(|field| Some(((*field).to_owned(), visit.form.get(*field)?.clone())));
            let given: Map<String, Value> =
                given.filter(|(field, value)| field != "url" || *value != json!("")).collect();
            visit.rest(Method::Post, &item, json!({}), Value::Object(given)).await
        }
        "password" => match password(visit, &item).await {
            Ok(done) => done,
            Err(told) => return show(visit, told).await,
        },
        "create" => {
            let made = visit.rest(Method::Post, &passwords, json!({}), wanted_password(visit)).await;
            if made.status == status::CREATED {
                let text = |member: &str| made.body[member].as_str().unwrap_or_default().to_owned();
                return show(visit, Notice { secret: Some((text("name"), text("password"))), ..Notice::default() })
                    .await;
            }
            made
        }
        "revoke" => {
            let uuid: String = visit.field("uuid").chars().filter(|c| c.is_ascii_hexdigit() || *c == '-').collect();
            visit.rest(Method::Delete, &format!("{passwords}/{uuid}"), json!({}), json!({})).await
        }
        "revoke-all" => visit.rest(Method::Delete, &passwords, json!({}), json!({})).await,
        "end" | "end-all" => return end_sessions(visit, user, (act == "end").then(|| visit.field("session"))).await,
        _ => return show(visit, Notice::default()).await,
    };
    if status::is_error(done.status) {
        let told = Notice { status: Some(done.status), problem: Some(said(&done)), ..Notice::default() };
        return show(visit, told).await;
    }
    see_other(&with_done(&address(visit, user), act))
}

/// A new application password as the form describes it.
fn wanted_password(visit: &PageContext<'_>) -> Value {
    let mut wanted = json!({"name": visit.field("name")});
    if let Ok(days) = visit.field("days").parse::<u16>() {
        wanted["expires"] = json!(visit.scope.now + i64::from(days) * DAY);
    }
    match visit.field("access") {
        "read" => wanted["read_only"] = json!(true),
        "draft" => wanted["actions"] = json!(["read", "draft"]),
        _ => {}
    }
    wanted
}

/// Fewest characters of a password that a person chooses.
pub const SHORTEST_PASSWORD: usize = 8;

/// Why a new password is refused that has fewer.
pub(super) fn too_short(visit: &PageContext<'_>) -> String {
    let text = visit.translate("The new password is too short: at least {count} characters.");
    text.replace("{count}", &SHORTEST_PASSWORD.to_string())
}

/// Changes a password for a caller who knows the own one.
async fn password(visit: &PageContext<'_>, item: &str) -> Result<SubResponse, Notice> {
    let problem =
        |status: u16, text: &str| Notice { status: Some(status), problem: Some(text.into()), ..Notice::default() };
    if visit.field("new").chars().count() < SHORTEST_PASSWORD {
        return Err(problem(status::BAD_REQUEST, &too_short(visit)));
    }
    match knows_password(visit).await {
        Ok(Some(known)) if known.duty == FactorDuty::Proof => {
            factors::prove_now(visit).await.map_err(|refusal| problem(refusal.status, &refusal.problem))?
        }
        Ok(Some(_)) => {}
        Ok(None) => return Err(problem(status::FORBIDDEN, "Your present password is another one.")),
        Err(error) => return Err(problem(error.status(), error.message())),
    }
    Ok(visit.rest(Method::Post, item, json!({}), json!({"password": visit.field("new")})).await)
}

/// Whether the form has the logged-in user's present password.
pub(super) async fn knows_password(visit: &PageContext<'_>) -> Result<Option<KnownPassword>, ApiError> {
    let pages = &visit.pages.declared;
    let patience = AttemptLimit::paused(pages.max_login_attempts, pages.retry_after);
    let login = visit.scope.principal.login.clone();
    let (own, occasion) = ((&*login, visit.field("current")), LoginContext { patience, path: &visit.request.path });
    visit.engine.identity().verify_account(&visit.scope, &visit.engine.shared().hasher, own, occasion).await
}

/// Ends one session, or all but the caller's own.
async fn end_sessions(visit: &PageContext<'_>, user: i64, one: Option<&str>) -> Reply {
    // A caller who may edit the user may end the user's sessions; the API decides who that is.
    let item = format!("{}/{user}", users_path(visit));
    let may = visit.rest(Method::Get, &item, json!({"context": "edit"}), Value::Null).await;
    if may.status != status::OK {
        return visit.message(may.status, "Not done", &[&said(&may)]);
    }
    let own = visit.scope.principal.session.clone().unwrap_or_default();
    let which = match one {
        Some(key) => eq(session::HASH, txt(key)),
        None => Cond::Compare(name(session::HASH), Op::Ne, txt(&own)),
    };
    let mut changes = vec![removed(Cond::All(vec![eq(session::USER, DbValue::Int(user)), which]))];
    changes.extend(visit.happened("sessions_ended", &visit.scope.principal, &user.to_string()));
    match visit.scope.storage.commit(visit.scope.attributed(WritePlan::new(changes))).await {
        Ok(_) => see_other(&with_done(&address(visit, user), "end")),
        Err(error) => visit.failure(&families::commit_failure(&visit.scope, error)),
    }
}

/// The user whose profile is requested.
fn shown_user(visit: &PageContext<'_>) -> i64 {
    visit.parameter("user").parse().unwrap_or(visit.scope.principal.id)
}

fn address(visit: &PageContext<'_>, user: i64) -> String {
    let profile = &visit.pages.declared.profile;
    if user == visit.scope.principal.id { profile.clone() } else { format!("{profile}?user={user}") }
}

fn with_done(address: &str, act: &str) -> String {
    let mark = if address.contains('?') { '&' } else { '?' };
    format!("{address}{mark}done={act}")
}

fn done(act: &str) -> Option<&'static str> {
    Some(match act {
        "save" => "Saved.",
        "password" => "The password was changed, and the other sessions were ended.",
        "revoke" => "The password was revoked. It does not work any more.",
        "revoke-all" => "All application passwords were revoked.",
        "end" => "Ended.",
        _ => return None,
    })
}

/// Where messages to a user go as long as the address is not confirmed; `None` where it is.
fn address_before(visit: &PageContext<'_>, user: i64) -> Result<Option<String>, ApiError> {
    let pending = Cond::All(vec![eq(ID, DbValue::Int(user)), eq(col::EMAIL_PENDING, DbValue::Int(1))]);
    Ok(records::first(&*visit.scope.snapshot()?, col::TABLE, &[col::EMAIL_BEFORE], pending)?)
}

fn sessions(visit: &PageContext<'_>, user: i64) -> Result<Vec<Value>, ApiError> {
    let own = visit.scope.principal.session.as_ref();
    let document = |row: &SessionRow| {
        json!({
            "key": &*row.hash, "own": own == Some(&row.hash), "created": moment(visit, row.created),
            "seen": moment(visit, row.seen), "ip": &*row.ip, "agent": browsers::describe_user_agent(&row.agent),
        })
    };
    Ok(SessionRow::of_user(&visit.scope, user)?.iter().map(document).collect())
}

/// An application password with its times as people read them.
fn dated(visit: &PageContext<'_>, password: &Value) -> Value {
    let mut shown = password.clone();
    shown["ended"] = json!(password["expires"].as_i64().is_some_and(|end| end <= visit.scope.now));
    for member in ["created", "last_used", "expires"] {
        shown[member] = match &password[member] {
            Value::Number(seconds) => json!(moment(visit, seconds.as_i64().unwrap_or(0))),
            Value::String(utc) => match time::parse_datetime(utc) {
                Some(at) => json!(moment(visit, at.as_utc())),
                None => json!(utc),
            },
            _ => Value::Null,
        };
    }
    shown
}

/// A moment in the site's time zone, to the minute, as the browser's language writes it.
pub(super) fn moment(visit: &PageContext<'_>, seconds: i64) -> String {
    let settings = &visit.scope.settings;
    let language = console::accepted(visit).unwrap_or_else(|| settings.locale());
    dates::format_for_language(settings.zone.utc_to_local(seconds), language)
}

/// The other users, for callers who may list them.
async fn people(visit: &PageContext<'_>) -> Option<Vec<Value>> {
    let query = json!({"context": "edit", "per_page": "100", "exclude": visit.scope.principal.id.to_string()});
    let found = visit.rest(Method::Get, &users_path(visit), query, Value::Null).await;
    let list = found.body.as_array().filter(|list| found.status == status::OK && !list.is_empty())?;
    let person = |user: &Value| {
        let id = user["id"].as_i64().unwrap_or(0);
        let roles = user["roles"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let declared = &visit.scope.settings.roles;
        let roles: Vec<&str> = roles.map(|role| declared.get(role).map_or(role, |known| &known.name)).collect();
        json!({"link": address(visit, id), "name": user["name"], "roles": roles.join(", ")})
    };
    Some(list.iter().map(person).collect())
}
