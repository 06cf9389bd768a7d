//! Users, application passwords and the audit trail, for whoever runs the server.
//!
//! Everything is a request to the routes in the name of the operator, so the rules of the API hold here, too: roles that
//! exist, a last administrator, entries in the audit trail.

use super::{UserCommand, limits, print_text, services, services_or_new};
use crate::boot::{BootError, ConfigSource, OPERATOR_NAME, Secret, Services};
use crate::mailer::{DeliveryOutcome, MailContext};
use crate::pages::SHORTEST_PASSWORD;
use cms_base::pool::wait;
use cms_core::access::audit::{self, Event};
use cms_core::access::factors;
use cms_core::access::outbox::{self, Message, MessageSubject};
use cms_core::access::tokens;
use cms_core::engine::Engine;
use cms_core::error::{ApiError, status};
use cms_core::families::user::{end_identities, end_sessions};
use cms_core::model::Method;
use cms_core::records::{self, Record, eq};
use cms_core::registry::Registry;
use cms_core::registry::columns::login_identity;
use cms_core::request::BodyParams;
use cms_core::request::call::Call;
use cms_core::scope::{Principal, Scope};
use cms_storage::FromRow as _;
use cms_storage::plan::{Change, DbValue, WritePlan};
use cms_text::slug::title_key;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::sync::Arc;

/// The operator in the audit trail: no row has this number.
const OPERATOR: i64 = -1;

/// Rows of one request.
const PAGE: usize = 100;

/// The routes, asked in the name of the operator.
pub(super) struct OperatorClient {
    pub registry: Arc<Registry>,
    pub services: Services,
    engine: Engine,
    scope: Scope,
}

impl OperatorClient {
    /// Opens the database that the declarations name.
    pub(super) fn new(source: &ConfigSource) -> Result<OperatorClient, BootError> {
        let (registry, services) = services(source)?;
        OperatorClient::over(Arc::new(registry), services)
    }

    /// Over a database that is open.
    pub(super) fn over(registry: Arc<Registry>, services: Services) -> Result<OperatorClient, BootError> {
        let engine = services.engine(registry.clone())?;
        let role: Arc<str> = registry.required_role().unwrap_or_default().into();
        let failed = |error: ApiError| BootError::Other(error.message().to_owned());
        let mut scope = engine.scope_of(Principal::default()).map_err(failed)?;
        scope.principal = Principal {
            id: OPERATOR,
            login: OPERATOR_NAME.into(),
            capabilities: Arc::new(scope.settings.roles.capabilities(std::slice::from_ref(&role))),
            roles: vec![role],
            ..Principal::default()
        };
        Ok(OperatorClient { registry, services, engine, scope })
    }

    /// The body of a response; a refusal is an error with its message.
    pub(super) fn ask(&self, method: Method, path: &str, query: Value, body: Value) -> Result<Value, BootError> {
        let body = if body.is_null() { BodyParams::None } else { BodyParams::Json(members(body)) };
        let call = Call::internal(method, path, members(query), body);
        let part = wait(self.engine.part(&self.scope, &call, false));
        if status::is_success(part.status) {
            return Ok(part.body);
        }
        Err(BootError::Other(part.body["message"].as_str().unwrap_or("the request failed").to_owned()))
    }

    /// All items of a collection.
    pub(super) fn all(&self, path: &str, query: Value) -> Result<Vec<Value>, BootError> {
        let mut all = Vec::new();
        for page in 1.. {
            let mut query = members(query.clone());
            query.insert("per_page".into(), json!(PAGE));
            query.insert("page".into(), json!(page));
            let found = self.ask(Method::Get, path, Value::Object(query), Value::Null)?;
            let found = found.as_array().cloned().unwrap_or_default();
            let full = found.len() == PAGE;
            all.extend(found);
            if !full {
                break;
            }
        }
        Ok(all)
    }

    fn users_path(&self) -> Result<&str, BootError> {
        let users = self.registry.users();
        users.map(|users| users.path.as_str()).ok_or_else(|| BootError::Other("no resource has users".into()))
    }

    /// The user with this login or e-mail address.
    fn user(&self, login: &str) -> Result<Value, BootError> {
        let users = self.all(self.users_path()?, json!({"context": "edit", "search": login}))?;
        let wanted = Some(title_key(login));
        let is = |user: &&Value| ["username", "email"].iter().any(|key| user[*key].as_str().map(title_key) == wanted);
        let found = users.iter().find(is).cloned();
        found.ok_or_else(|| BootError::Other(format!("there is no user with the login {login}")))
    }

    fn user_path(&self, login: &str) -> Result<String, BootError> {
        Ok(format!("{}/{}", self.users_path()?, self.user(login)?["id"]))
    }

    fn user_id(&self, login: &str) -> Result<DbValue, BootError> {
        Ok(DbValue::Int(self.user(login)?["id"].as_i64().unwrap_or_default()))
    }

    /// Commits changes about a user that no route makes, with their entry in the audit trail.
    fn commit(&self, event: &'static str, login: &str, mut changes: Vec<Change>) -> Result<(), BootError> {
        let event = Event { name: event, user: OPERATOR, login: OPERATOR_NAME, subject: login, ..Event::default() };
        changes.extend(audit::entry(&self.scope, &event));
        wait(self.services.storage.commit(WritePlan::new(changes))).map(drop).map_err(BootError::Commit)
    }
}

fn members(value: Value) -> serde_json::Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => serde_json::Map::new(),
    }
}

/// Columns of text, each as wide as its widest cell.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in rows {
        let padded = |(cell, width): (&String, &usize)| {
            let blanks = width.saturating_sub(cell.chars().count());
            cell.clone() + &" ".repeat(blanks)
        };
        let cells: Vec<String> = row.iter().zip(&widths).map(padded).collect();
        let _ = writeln!(out, "{}", cells.join("  ").trim_end());
    }
    out
}

/// A member as text without control characters, which a terminal would obey.
fn cell(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(list) => list.iter().map(cell).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    };
    text.chars().filter(|c| !c.is_control()).collect()
}

fn rows(titles: &[&str], items: &[Value], keys: &[&str]) -> Vec<Vec<String>> {
    let head = titles.iter().map(|title| (*title).to_owned()).collect();
    let body = items.iter().map(|item| keys.iter().map(|key| cell(&item[*key])).collect());
    std::iter::once(head).chain(body).collect()
}

/// `user list`.
pub(super) fn user_list(source: &ConfigSource) -> Result<String, BootError> {
    let operator = OperatorClient::new(source)?;
    let users = operator.all(operator.users_path()?, json!({"context": "edit", "orderby": "id", "order": "asc"}))?;
    Ok(table(&rows(
        &["id", "login", "e-mail", "roles", "registered"],
        &users,
        &["id", "username", "email", "roles", "registered_date"],
    )))
}

/// `user passwd`: the sessions end, application passwords stay.
pub(super) fn user_passwd(source: &ConfigSource, login: &str) -> Result<String, BootError> {
    let operator = OperatorClient::new(source)?;
    let path = operator.user_path(login)?;
    let password = secret_line(&format!("New password of {login}: "))?;
    if password.chars().count() < SHORTEST_PASSWORD {
        return Err(BootError::Other(format!("a password has at least {SHORTEST_PASSWORD} characters")));
    }
    operator.ask(Method::Put, &path, json!({}), json!({"password": password}))?;
    Ok(format!("{login} has a new password; the sessions were ended\n"))
}

/// `user invite`: a link to set a password goes to the user's address.
pub(super) fn user_invite(source: &ConfigSource, login: &str) -> Result<String, BootError> {
    let operator = OperatorClient::new(source)?;
    let user = operator.user(login)?;
    let said = invite(&operator.registry, &operator.services, user["id"].as_i64().unwrap_or_default())?;
    operator.commit("user_invited", login, Vec::new())?;
    Ok(format!("{login}: {said}\n"))
}

/// Sends a user a link to set a password; what became of it, in words.
pub(super) fn invite(registry: &Arc<Registry>, services: &Services, user: i64) -> Result<String, BootError> {
    invitations(registry)?;
    let message = Message { subject: MessageSubject::Invitation, user, address: "", data: json!({}) };
    Ok(match MailContext::new(registry.clone(), services)?.send_now(&message)? {
        DeliveryOutcome::Sent => "an invitation was sent".to_owned(),
        DeliveryOutcome::Dropped(why) => return Err(BootError::Other(format!("no invitation was sent: {why}"))),
        DeliveryOutcome::Failed(why) => return Err(BootError::Other(format!("the invitation was not sent: {why}"))),
        DeliveryOutcome::Retried(why) => format!("the invitation waits, and the server tries again ({why})"),
    })
}

/// There is e-mail, and a page that links lead to.
pub(super) fn invitations(registry: &Registry) -> Result<(), BootError> {
    let wrong = "invitations need e-mail (mail.url) and the pages (pages.enabled)";
    if outbox::sends_links(registry) { Ok(()) } else { Err(BootError::Other(wrong.into())) }
}

/// `mail test`.
pub(super) fn mail_test(source: &ConfigSource, address: &str) -> Result<String, BootError> {
    let (registry, services) = services(source)?;
    MailContext::new(Arc::new(registry), &services)?.test(address)?;
    Ok("a test message was sent\n".to_owned())
}

/// `user role`.
pub(super) fn user_role(source: &ConfigSource, login: &str, roles: &[String]) -> Result<String, BootError> {
    let operator = OperatorClient::new(source)?;
    let path = operator.user_path(login)?;
    let user = operator.ask(Method::Put, &path, json!({"context": "edit"}), json!({"roles": roles}))?;
    Ok(format!("{login}: {}\n", cell(&user["roles"])))
}

/// `user delete`: the records go to another user, or with the user.
pub(super) fn user_delete(source: &ConfigSource, login: &str, heir: Option<&str>) -> Result<String, BootError> {
    let operator = OperatorClient::new(source)?;
    let path = operator.user_path(login)?;
    let heir = heir.map(|heir| operator.user(heir)).transpose()?.map_or(json!(false), |heir| heir["id"].clone());
    operator.ask(Method::Delete, &path, json!({"force": true, "reassign": heir}), Value::Null)?;
    Ok(format!("{login} is deleted\n"))
}

/// `user logout`: every session and every token of the user ends.
pub(super) fn user_logout(source: &ConfigSource, login: &str) -> Result<String, BootError> {
    let operator = OperatorClient::new(source)?;
    let id = operator.user_id(login)?;
    operator.commit("logout", login, vec![end_sessions(&id, None), tokens::ended(&id)])?;
    Ok(format!("the sessions of {login} were ended\n"))
}

/// `user unlink`: nobody at an identity provider has the account any more; its sessions end.
pub(super) fn user_unlink(source: &ConfigSource, login: &str) -> Result<String, BootError> {
    let operator = OperatorClient::new(source)?;
    let id = operator.user_id(login)?;
    let own = records::columns(
        login_identity::TABLE,
        &[login_identity::ISSUER, login_identity::SUBJECT],
        eq(login_identity::USER, id.clone()),
    );
    let linked = operator.services.storage.snapshot()?.rows(&own)?;
    if linked.is_empty() {
        return Err(BootError::Other(format!("{login} is nobody at an identity provider")));
    }
    operator.commit("account_unlinked", login, vec![end_identities(&id), end_sessions(&id, None)])?;
    let line = |row| {
        let (issuer, subject) = <(Arc<str>, Arc<str>)>::from_row(row);
        format!("{login} is not {} at {issuer} any more; the sessions were ended\n", cell(&json!(*subject)))
    };
    Ok(linked.into_iter().map(line).collect())
}

/// `user reset-factor`: the second factors, the recovery codes and the sessions of the user end.
pub(super) fn user_reset_factor(source: &ConfigSource, login: &str) -> Result<String, BootError> {
    let operator = OperatorClient::new(source)?;
    let id = operator.user_id(login)?;
    let mut changes = Vec::from(factors::ended(&id));
    changes.push(end_sessions(&id, None));
    if let Some(users) = operator.registry.users()
        && let Some(row) = records::find(&*operator.services.storage.snapshot()?, users, &id)?
    {
        let (account, told) = (Record { resource: users, row: &row }, json!({"change": "all were removed"}));
        changes.extend(outbox::notification_change(&operator.scope, MessageSubject::SecondFactor, account, told));
    }
    operator.commit("second_factors_removed", login, changes)?;
    Ok(format!("{login} has no second factor any more; the sessions were ended\n"))
}

/// `app-password list`.
pub(super) fn app_password_list(source: &ConfigSource, login: &str) -> Result<String, BootError> {
    let operator = OperatorClient::new(source)?;
    let path = format!("{}/application-passwords", operator.user_path(login)?);
    let found = operator.ask(Method::Get, &path, json!({}), Value::Null)?;
    let keys = ["uuid", "name", "created", "last_used", "last_ip"];
    let titles = ["uuid", "name", "created", "last used", "last address"];
    Ok(table(&rows(&titles, found.as_array().map_or(&[], Vec::as_slice), &keys)))
}

/// `app-password revoke`: one by its UUID or its name.
pub(super) fn app_password_revoke(source: &ConfigSource, login: &str, wanted: &str) -> Result<String, BootError> {
    let operator = OperatorClient::new(source)?;
    let path = format!("{}/application-passwords", operator.user_path(login)?);
    let found = operator.ask(Method::Get, &path, json!({}), Value::Null)?;
    let is = |password: &&Value| password["uuid"] == *wanted || password["name"] == *wanted;
    let named: Vec<&Value> = found.as_array().into_iter().flatten().filter(is).collect();
    let [password] = named[..] else {
        let message = format!("{login} has {} application passwords `{wanted}`; name one by its UUID", named.len());
        return Err(BootError::Other(message));
    };
    let uuid = cell(&password["uuid"]);
    operator.ask(Method::Delete, &format!("{path}/{uuid}"), json!({}), Value::Null)?;
    Ok(format!("{} is revoked\n", cell(&password["name"])))
}

/// `audit`: the newest entries, the newest last.
pub(super) fn audit_trail(source: &ConfigSource, last: usize) -> Result<String, BootError> {
    let operator = OperatorClient::new(source)?;
    let trail = operator.registry.declaration.site.audit.get();
    let resource = trail.and_then(|audit| operator.registry.resource(audit));
    let path = resource.map(|resource| resource.path.clone());
    let path = path.ok_or_else(|| BootError::Other("no audit trail is declared (site.audit)".into()))?;
    let query = json!({"per_page": last.clamp(1, PAGE), "orderby": "id", "order": "desc"});
    let found = operator.ask(Method::Get, &path, query, Value::Null)?;
    let mut entries = found.as_array().cloned().unwrap_or_default();
    entries.reverse();
    let keys = ["date", "event", "login", "subject", "path", "changed", "ip"];
    Ok(table(&rows(&["date", "event", "by", "subject", "path", "changed", "address"], &entries, &keys)))
}

/// `status`: what runs where, and how much there is of it.
pub(super) fn status(source: &ConfigSource) -> Result<String, BootError> {
    let operator = OperatorClient::new(source)?;
    let place = crate::boot::place(&operator.registry.declaration)?;
    let mut rows = vec![
        vec!["version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()],
        vec!["tables".to_owned(), format!("version {}", cms_storage::META_VERSION)],
        vec!["site".to_owned(), operator.registry.site.url.clone()],
        vec!["interface".to_owned(), operator.registry.site.rest_url.clone()],
    ];
    match place.file() {
        Some(file) => {
            let bytes = |path: &std::path::Path| std::fs::metadata(path).map_or(0, |file| file.len());
            let mut log = file.as_os_str().to_owned();
            log.push("-wal");
            rows.push(vec!["database".to_owned(), format!("{}, {} bytes", file.display(), bytes(file))]);
            rows.push(vec!["its log".to_owned(), format!("{} bytes", bytes(std::path::Path::new(&log)))]);
        }
        None => rows.push(vec!["database".to_owned(), place.shown()]),
    }
    let snapshot = operator.services.storage.snapshot()?;
    for resource in operator.registry.resources.iter().filter(|resource| resource.stores_rows()) {
        let own = cms_core::records::own_rows(resource);
        let count = snapshot.count(&cms_core::records::columns(&resource.table, &[&resource.key], own))?;
        rows.push(vec![resource.name.clone(), count.to_string()]);
    }
    let waiting = outbox::waiting(&*snapshot, None)?;
    rows.push(vec!["outbox".to_owned(), format!("{waiting} messages wait")]);
    Ok(table(&rows))
}

/// Carries out a command about users.
pub(super) fn user(source: &ConfigSource, command: UserCommand) -> Result<(), BootError> {
    match command {
        UserCommand::List => print_text(user_list(source)),
        UserCommand::Passwd { login } => print_text(user_passwd(source, &login)),
        UserCommand::Role { login, roles } => print_text(user_role(source, &login, &roles)),
        UserCommand::Delete { login, reassign, .. } => print_text(user_delete(source, &login, reassign.as_deref())),
        UserCommand::Logout { login } => print_text(user_logout(source, &login)),
        UserCommand::Unlink { login } => print_text(user_unlink(source, &login)),
        UserCommand::ResetFactor { login } => print_text(user_reset_factor(source, &login)),
        UserCommand::Invite { login } => print_text(user_invite(source, &login)),
        UserCommand::Add { login, email, role, invite: true, .. } => {
            user_add_invited(source, &login, &email, role.as_deref())
        }
        UserCommand::Add { login, email, role, hash_stdin, .. } => {
            user_add(source, &login, &email, role.as_deref(), hash_stdin)
        }
    }
}

/// A secret: asked for at the terminal, which does not show it, or the first line of the standard input.
pub(super) fn secret_line(prompt: &str) -> Result<String, BootError> {
    let failed = |error: std::io::Error| BootError::Other(error.to_string());
    let mut line = String::new();
    if std::io::stdin().is_terminal() {
        line = rpassword::prompt_password(prompt).map_err(failed)?;
    } else {
        std::io::stdin().lock().read_line(&mut line).map_err(failed)?;
    }
    match line.trim_end_matches(['\r', '\n']) {
        "" => Err(BootError::Other("no password was given".into())),
        line => Ok(line.to_owned()),
    }
}

fn user_add(
    source: &ConfigSource,
    login: &str,
    email: &str,
    role: Option<&str>,
    hashed: bool,
) -> Result<(), BootError> {
    let line = secret_line(&format!("Password of {login}: "))?;
    let secret = if hashed { Secret::Hash(&line) } else { Secret::Password(&line) };
    let (registry, services) = services_or_new(source)?;
    added(&registry, &services, (login, email, role), secret).map(drop)
}

fn user_add_invited(source: &ConfigSource, login: &str, email: &str, role: Option<&str>) -> Result<(), BootError> {
    let (registry, services) = services_or_new(source)?;
    let registry = Arc::new(registry);
    invitations(&registry)?;
    let id = added(&registry, &services, (login, email, role), Secret::None)?;
    tell!("{login}: {}", invite(&registry, &services, id)?);
    Ok(())
}

/// Adds a user with this login, address and role, and says so; the id.
fn added(
    registry: &Registry,
    services: &Services,
    (login, email, role): (&str, &str, Option<&str>),
    secret: Secret<'_>,
) -> Result<i64, BootError> {
    let role = role.or(registry.default_role());
    let role = role.ok_or_else(|| BootError::Other("no role is the default one; name one with --role".into()))?;
    let id = services.add_user(registry, login, email, role, secret)?;
    tell!("user {id}: {login} ({role})");
    Ok(id)
}

/// Makes an application password and prints it.
pub(super) fn app_password_add(
    source: &ConfigSource,
    (login, name): (&str, &str),
    actions: (bool, bool),
    resources: &[String],
    days: Option<u16>,
) -> Result<(), BootError> {
    let (registry, services) = services(source)?;
    let limits = limits(&registry, actions, resources)?;
    let now = services.clock.now();
    let expires = days.map_or(0, |days| now + i64::from(days) * 24 * 60 * 60);
    say!("{}", services.add_limited_app_password(login, name, expires, limits, Some(&registry))?);
    Ok(())
}
