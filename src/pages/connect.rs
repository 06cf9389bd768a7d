//! The page where a person connects a program that asks by OAuth, or refuses.
//!
//! The request of the program is checked before it is shown and again when the person has decided. Nobody is redirected without
//! having decided: everybody may register a program, so a refusal that redirects would lead anywhere. The page shows where
//! the program is, since its name is its own choice.

use super::replies::see_other;
use super::{PageContext, authorize};
use cms_core::access::addresses;
use cms_core::access::audit::{self, Event};
use cms_core::access::authorization_server::{AuthorizationServer, GrantScope};
use cms_core::access::client_documents::{self, DocumentRefusal};
use cms_core::access::clients::{self, Client};
use cms_core::access::grants::{NewGrant, is_challenge};
use cms_core::access::outbox::{self, MessageSubject};
use cms_core::error::{ApiError, Code, status};
use cms_core::families;
use cms_core::model::Reply;
use cms_core::records::{self, Record};
use cms_core::registry::resource::Resource;
use cms_core::scope::CredentialLimits;
use cms_declaration::translations::Sentence;
use cms_declaration::{Action, OAuthOptions};
use cms_storage::plan::{Change, CommitError, DbValue, WritePlan};
use serde_json::{Value, json};
use url::Url;

/// Longest `state`, in bytes: it comes back in an address.
const LONGEST_STATE: usize = 2000;

const DAY: u64 = 24 * 60 * 60;

/// The request of a program.
struct ConnectRequest<'v> {
    client: Client,
    redirect: Url,
    /// As it was sent: the program names it again with its code.
    redirect_uri: &'v str,
    state: &'v str,
    challenge: &'v str,
    scope: GrantScope,
}

/// Why a request is not shown.
enum RequestRefusal {
    /// It is not known who asks.
    UnknownClient(&'static str),
    /// The document that the program names does not describe it: why.
    Document(Sentence),
    /// An error that the program may be told, if the person goes back to it.
    Program {
        host: String,
        back: String,
        description: &'static str,
    },
    Failed(ApiError),
}

impl From<ApiError> for RequestRefusal {
    fn from(error: ApiError) -> RequestRefusal {
        RequestRefusal::Failed(error)
    }
}

impl From<DocumentRefusal> for RequestRefusal {
    fn from(refusal: DocumentRefusal) -> RequestRefusal {
        match refusal {
            DocumentRefusal::Unfit(why) => RequestRefusal::Document(why),
            DocumentRefusal::Failed(error) => RequestRefusal::Failed(error),
        }
    }
}

/// A parameter of the program, from the form once it was shown.
fn given<'v>(visit: &'v PageContext<'_>, name: &str) -> &'v str {
    if visit.form.contains_key("client_id") { visit.field(name) } else { visit.parameter(name) }
}

/// The program that asks. Its document is read before, where that is due.
async fn program(visit: &PageContext<'_>, rules: &OAuthOptions) -> Result<Client, RequestRefusal> {
    let (scope, shared, id) = (&visit.scope, visit.engine.shared(), given(visit, "client_id"));
    let mut found = Client::find(scope, id)?;
    if found.as_ref().is_none_or(|client| client.is_stale(scope.now))
        && let Some(address) = client_documents::address(rules, id)
    {
        let services = (&*shared.identity, &shared.outbound);
        let registration = client_documents::read(scope, services, rules, &address).await?;
        let changes = match &found {
            Some(client) => Some(vec![client.replaced(&registration)]),
            None => clients::registered(scope, rules, &registration)?.map(|(_, mut changes)| {
                changes.extend(visit.happened("program_registered", &scope.principal, id));
                changes
            }),
        };
        let changes = changes.ok_or_else(|| ApiError::new(Code::Busy).with_message(clients::FULL))?;
        match scope.storage.commit(scope.attributed(WritePlan::new(changes))).await {
            // Somebody else has read it, too, or the program has gone.
            Ok(_) | Err(CommitError::Refused { .. } | CommitError::Stale) => found = Client::find(scope, id)?,
            Err(error) => return Err(families::commit_failure(scope, error).into()),
        }
    }
    found.ok_or(RequestRefusal::UnknownClient("The program is not registered here, or its registration has ended."))
}

impl<'v> ConnectRequest<'v> {
    async fn of(visit: &'v PageContext<'_>, rules: &OAuthOptions) -> Result<ConnectRequest<'v>, RequestRefusal> {
        let client = program(visit, rules).await?;
        let redirect_uri = given(visit, "redirect_uri");
        let known = client.redirects().iter().any(|own| addresses::is_registered(own, redirect_uri));
        let redirect = addresses::registered(redirect_uri, &rules.schemes).ok().filter(|_| known);
        let redirect = redirect.ok_or(RequestRefusal::UnknownClient(
            "The program has not registered the address where it wants to redirect you.",
        ))?;
        let state = given(visit, "state");
        let refused = |error: &str, description: &'static str| {
            let state = if state.len() > LONGEST_STATE { "" } else { state };
            let back = answer(visit, &redirect, state, &[("error", error)]);
            Err(RequestRefusal::Program { host: visit.say(&addresses::shown(&redirect)), back, description })
        };
        if given(visit, "response_type") != "code" {
            return refused("unsupported_response_type", "It asks for another response than a code.");
        }
        let challenge = given(visit, "code_challenge");
        if given(visit, "code_challenge_method") != "S256" || !is_challenge(challenge) {
            return refused("invalid_request", "It does not protect its code (PKCE with S256).");
        }
        if state.len() > LONGEST_STATE {
            return refused("invalid_request", "What it wants to be told again (state) is too long.");
        }
        let server = AuthorizationServer::declared(&visit.scope.registry);
        if !server.is_some_and(|server| server.opens(given(visit, "resource"))) {
            return refused("invalid_target", "It asks for access to another site.");
        }
        let scope = match given(visit, "scope") {
            "" => Some(GrantScope::Write),
            words => GrantScope::parse(words),
        };
        match scope {
            Some(scope) => Ok(ConnectRequest { client, redirect, redirect_uri, state, challenge, scope }),
            None => refused("invalid_scope", "It asks for something that this site does not know (scope)."),
        }
    }
}

/// The address of the program with an answer.
fn answer(visit: &PageContext<'_>, redirect: &Url, state: &str, pairs: &[(&str, &str)]) -> String {
    let mut pairs = pairs.to_vec();
    if !state.is_empty() {
        pairs.push(("state", state));
    }
    pairs.push(("iss", &visit.scope.registry.site.url));
    addresses::with(redirect, &pairs)
}

/// The page with the request.
pub(super) async fn ask(visit: &PageContext<'_>) -> Reply {
    let Some((_, rules)) = visit.scope.registry.oauth() else { return missing(visit) };
    if let Some(refusal) = authorize::unavailable(visit) {
        return refusal;
    }
    match ConnectRequest::of(visit, rules).await {
        Ok(asked) => form(visit, rules, &asked),
        Err(refusal) => refuse(visit, refusal),
    }
}

/// Carries out the person's decision.
pub(super) async fn decide(visit: &PageContext<'_>) -> Reply {
    let Some((_, rules)) = visit.scope.registry.oauth() else { return missing(visit) };
    if let Some(refusal) = authorize::unavailable(visit) {
        return refusal;
    }
    let asked = match ConnectRequest::of(visit, rules).await {
        Ok(asked) => asked,
        Err(refusal) => return refuse(visit, refusal),
    };
    if visit.field("act") != "approve" {
        return see_other(&answer(visit, &asked.redirect, asked.state, &[("error", "access_denied")]));
    }
    let (code, changes) = match granted(visit, rules, &asked) {
        Ok(granted) => granted,
        Err(error) => return visit.failure(&error),
    };
    match visit.scope.storage.commit(visit.scope.attributed(WritePlan::new(changes))).await {
        Ok(_) => see_other(&answer(visit, &asked.redirect, asked.state, &[("code", &code)])),
        Err(error) => visit.failure(&families::commit_failure(&visit.scope, error)),
    }
}

/// The code, and the changes that connect the program: as far as it asked, and no further than the person chose.
fn granted(
    visit: &PageContext<'_>,
    rules: &OAuthOptions,
    asked: &ConnectRequest<'_>,
) -> Result<(String, Vec<Change>), ApiError> {
    let (scope, caller) = (&visit.scope, &visit.scope.principal);
    let chosen = visit.form.get("only").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let chosen: Vec<&str> = chosen.collect();
    let resources = kinds(visit).filter(|kind| chosen.contains(&kind.name.as_str()));
    let chosen_scope = GrantScope::parse(visit.field("access")).map_or(asked.scope, |chosen| chosen.min(asked.scope));
    let limits = CredentialLimits {
        read_only: chosen_scope == GrantScope::Read,
        draft: chosen_scope == GrantScope::Draft,
        resources: resources.map(|kind| kind.name.as_str().into()).collect(),
    };
    if limits.resources.is_empty() && !chosen.is_empty() {
        return Err(ApiError::new(Code::BadRequest).with_message("None of these kinds of content is known here."));
    }
    let period = rules.periods.iter().find(|period| visit.field("period") == period.seconds().to_string());
    let period = period.or(rules.periods.first()).ok_or_else(|| ApiError::new(Code::Internal))?;
    let title = title(visit, asked);
    let grant = NewGrant {
        user: caller.id,
        client: &asked.client,
        title: &title,
        redirect: asked.redirect_uri,
        challenge: asked.challenge,
        limits,
        period: period.seconds_signed(),
    };
    let (code, mut changes) = visit.engine.identity().new_grant(scope, rules, &grant)?;
    let mut changed =
        vec![format!("host={}", addresses::shown(&asked.redirect)), format!("days={}", period.seconds() / DAY)];
    changed.push(format!("scope={}", chosen_scope.text()));
    changed.extend(grant.limits.resources.iter().map(|name| format!("resource={name}")));
    let path = &visit.request.path;
    let (name, subject) = ("program_connected", title.as_str());
    let event = Event { name, user: caller.id, login: &caller.login, path, subject, changed };
    changes.extend(audit::entry(scope, &event));
    let users = scope.registry.users().ok_or_else(|| ApiError::new(Code::Internal))?;
    if let Some(row) = records::find(&*scope.snapshot()?, users, &DbValue::Int(caller.id))? {
        let account = Record { resource: users, row: &row };
        let subject = MessageSubject::ApplicationPassword;
        changes.extend(outbox::notification_change(scope, subject, account, json!({"name": title})));
    }
    Ok((code, changes))
}

/// The name that the connection is listed under.
fn title(visit: &PageContext<'_>, asked: &ConnectRequest<'_>) -> String {
    let host = visit.say(&addresses::shown(&asked.redirect));
    match &*asked.client.name {
        "" => host,
        name => visit.translate("{name} at {place}").replace("{place}", &host).replace("{name}", name),
    }
}

/// Kinds of content that a connection can be limited to: those of which the person may edit some.
fn kinds<'v>(visit: &'v PageContext<'_>) -> impl Iterator<Item = &'v Resource> {
    let all = visit.scope.registry.resources.iter().filter(|kind| kind.stores_rows() && !kind.is_users());
    all.filter(|kind| visit.scope.principal.has(kind.capability(Action::Edit)))
}

fn form(visit: &PageContext<'_>, rules: &OAuthOptions, asked: &ConnectRequest<'_>) -> Reply {
    let mut kinds: Vec<(String, &str)> = kinds(visit)
        .map(|kind| {
            (visit.translate(kind.declared.labels.get("name").map_or(&kind.title, |label| label)), kind.name.as_str())
        })
        .collect();
    kinds.sort();
    let period = |period: &cms_declaration::units::Duration| {
        let days = period.seconds() / DAY;
        let text = if days == 1 { "for a day" } else { "for {count} days" };
        let label = visit.translate(text).replace("{count}", &days.to_string());
        json!({"value": period.seconds(), "label": label})
    };
    let sent = [
        ("client_id", asked.client.own_id()),
        ("redirect_uri", asked.redirect_uri),
        ("response_type", "code"),
        ("code_challenge", asked.challenge),
        ("code_challenge_method", "S256"),
        ("state", asked.state),
        ("scope", asked.scope.text()),
        ("resource", given(visit, "resource")),
    ];
    let data = json!({
        "action": visit.pages.declared.connect,
        "name": &*asked.client.name,
        "site_url": visit.scope.registry.site.url,
        "target": visit.say(&addresses::shown(&asked.redirect)),
        "described": addresses::document(&asked.client.document).map(|url| visit.say(&addresses::shown(&url))),
        "scope": asked.scope.text(),
        "kinds": kinds.iter().map(|(label, name)| json!({"label": label, "name": name})).collect::<Vec<_>>(),
        "periods": rules.periods.iter().map(period).collect::<Vec<_>>(),
        "sent": sent.iter().map(|(name, value)| json!({"name": name, "value": value})).collect::<Vec<_>>(),
    });
    visit.page_towards(status::OK, "Connect a program?", "connect.html", data, &addresses::source(&asked.redirect))
}

fn refuse(visit: &PageContext<'_>, refusal: RequestRefusal) -> Reply {
    match refusal {
        RequestRefusal::UnknownClient(problem) => authorize::refusal(visit, &[problem]),
        RequestRefusal::Document(why) => {
            let problem = "The document in which the program describes itself cannot be used.";
            authorize::refusal(visit, &[problem, &visit.say(&why)])
        }
        RequestRefusal::Program { host, back, description } => {
            let why = "The program asks for something that it cannot get here. Nothing was changed.";
            let data = json!({"lines": [why, description], "link": back, "link_text": "Back to the program", "link_place": host});
            visit.page(status::BAD_REQUEST, "The program cannot be connected", "message.html", data)
        }
        RequestRefusal::Failed(error) => visit.failure(&error),
    }
}

fn missing(visit: &PageContext<'_>) -> Reply {
    visit.message(status::NOT_FOUND, "Nothing here", &["There is no page at this address."])
}
