//! Checks a running site from outside: whether the proxies in front of it pass on what the contract needs, and whether the
//! nodes that share its database agree.
//!
//! It creates an application password for itself, which can only read and expires, and deletes it again. It changes
//! nothing else.

use super::{linked, present};
use crate::boot::{self, BootError, ConfigSource, Services};
use crate::mailer;
use cms_base::pool::JobOwner;
use cms_base::pool::wait;
use cms_core::access::{app_passwords, identity};
use cms_core::openid::provider::OpenIdProvider;
use cms_core::outbound::Outbound;
use cms_core::records::{self, eq, txt};
use cms_core::registry::columns::{app_password, user};
use cms_core::registry::{Registry, name};
use cms_core::scope::CredentialLimits;
use cms_storage::nodes::NodeFacts;
use cms_storage::plan::{Change, WritePlan};
use cms_text::slug::title_key;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use ureq::http::{Response, StatusCode, header};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

/// Seconds that the doctor waits for a response, and after which its password expires at the latest.
const PATIENCE: u64 = 10;
const LIFE: i64 = 300;

/// Seconds by which the clocks of the database and of this machine may differ.
const CLOCK: u64 = 30;

/// Users among whom one is searched who may have application passwords.
const MOST_USERS: u64 = 100;

/// One check: its subject, and the problem.
#[derive(Debug)]
pub struct Finding {
    pub what: String,
    /// The problem, and its remedy.
    pub wrong: Option<String>,
}

/// See [`super::Command::Doctor`].
pub(super) fn doctor(source: &ConfigSource, url: Option<String>, authority: Option<&Path>) -> Result<(), BootError> {
    // A check changes nothing: neither tables nor their rows.
    let registry = linked(source)?;
    present(&registry)?;
    let services = Services::start(boot::open_briefly(&registry, false)?, &registry)?;
    let site = url.unwrap_or_else(|| registry.site.url.clone());
    let findings = examine(&registry, &services, &site, authority)?;
    for finding in &findings {
        match &finding.wrong {
            None => {
                say!("good   {}", finding.what);
            }
            Some(wrong) => {
                say!("WRONG  {}: {wrong}", finding.what);
            }
        }
    }
    match findings.iter().filter(|finding| finding.wrong.is_some()).count() {
        0 => Ok(()),
        some => Err(BootError::Other(format!("{some} of {} checks failed", findings.len()))),
    }
}

/// All findings about the site at this address; checks that depend on a failed one are left out.
pub fn examine(
    registry: &Registry,
    services: &Services,
    site: &str,
    authority: Option<&Path>,
) -> Result<Vec<Finding>, BootError> {
    let mut tls = TlsConfig::builder();
    if let Some(file) = authority {
        tls = tls.root_certs(RootCerts::new_with_certs(&certificates(file)?));
    }
    let config = Agent::config_builder()
        .tls_config(tls.build())
        .http_status_as_error(false)
        .allow_non_standard_methods(true)
        .max_redirects(0)
        .max_idle_connections(0)
        .timeout_global(Some(Duration::from_secs(PATIENCE)));
    let mut findings = Vec::new();
    nodes(registry, services, &mut findings)?;
    mail(registry, &mut findings);
    providers(registry, &mut findings);
    break_glass(registry, services, &mut findings)?;
    let visit = SiteProbe { registry, site: site.trim_end_matches('/'), agent: config.build().into() };
    let Some(root) = visit.root(&mut findings) else { return Ok(findings) };
    visit.home(&mut findings);
    visit.pages(&mut findings);
    visit.methods(&mut findings);
    visit.tags(&mut findings);
    if visit.scheme(&root, &mut findings) {
        visit.credentials(services, &mut findings)?;
    }
    Ok(findings)
}

/// Whether each node that serves the database agrees with these declarations, with this machine's clock and with each
/// other.
fn nodes(registry: &Registry, services: &Services, findings: &mut Vec<Finding>) -> Result<(), BootError> {
    let Some(nodes) = services.storage.nodes()? else { return Ok(()) };
    let apart = nodes.clock.unsigned_abs();
    let wrong = (apart > CLOCK).then(|| format!("they differ by {apart} seconds; synchronise both (NTP)."));
    findings.push(Finding { what: "the clocks of the database and of this machine agree".into(), wrong });
    let files = services.media.files.place(false).map_err(|error| BootError::Other(error.to_string()))?;
    let own = services.facts(registry, "", files.as_deref());
    let own = NodeFacts { clock: nodes.clock, ..own };
    for node in &nodes.serving {
        let differences = own.differences(node);
        let wrong = (!differences.is_empty()).then(|| format!("it {}", differences.join("; it ")));
        findings.push(Finding { what: format!("the node {} agrees with what is here", node.name), wrong });
    }
    Ok(())
}

/// Whether the mail server takes messages, where there is one.
fn mail(registry: &Registry, findings: &mut Vec<Finding>) {
    let wrong = match mailer::sender(registry) {
        Ok(None) => return,
        Ok(Some(sender)) => sender.probe().err().map(|error| format!("{}; check [mail]", error.why)),
        Err(error) => Some(error.to_string()),
    };
    findings.push(Finding { what: "the mail server answers".into(), wrong });
}

/// Whether each identity provider is what it is declared to be, and answers this machine.
fn providers(registry: &Registry, findings: &mut Vec<Finding>) {
    let outbound = Outbound::new(&registry.declaration.outbound);
    for provider in OpenIdProvider::declared(registry) {
        let wrong = wait(provider.examine(&outbound, JobOwner::PROGRAM)).err();
        let wrong = wrong.map(|why| format!("{why}; check [login.providers.{}] and [outbound]", provider.name));
        findings.push(Finding { what: format!("people can log in with {}", provider.name), wrong });
    }
}

/// Whether the account for emergencies could log in with a password.
fn break_glass(registry: &Registry, services: &Services, findings: &mut Vec<Finding>) -> Result<(), BootError> {
    let Some(login) = registry.declaration.login.break_glass.get() else { return Ok(()) };
    let (own, snapshot) = (eq(user::LOGIN_KEY, txt(&title_key(login))), services.storage.snapshot()?);
    let hash: Option<Arc<str>> = records::first(&*snapshot, user::TABLE, &[user::PASSWORD_HASH], own)?;
    let wrong = match hash.as_deref() {
        None => Some("there is no such account"),
        Some("") => Some("it has no password; give it one with `cms-server user passwd`"),
        Some(_) => None,
    };
    let what = format!("the account {login} has a password (login.break_glass)");
    findings.push(Finding { what, wrong: wrong.map(str::to_owned) });
    Ok(())
}

/// The certificates of a file in PEM.
fn certificates(file: &Path) -> Result<Vec<Certificate<'static>>, BootError> {
    let fail = |what: String| BootError::Other(format!("--ca {}: {what}", file.display()));
    let text = std::fs::read(file).map_err(|error| fail(error.to_string()))?;
    let items: Result<Vec<PemItem<'static>>, _> = parse_pem(&text).collect();
    let certificate = |item| match item {
        PemItem::Certificate(certificate) => Some(certificate),
        _ => None,
    };
    let found: Vec<_> = items.map_err(|error| fail(error.to_string()))?.into_iter().filter_map(certificate).collect();
    if found.is_empty() {
        return Err(fail("there is no certificate in PEM in this file".into()));
    }
    Ok(found)
}

struct SiteProbe<'a> {
    registry: &'a Registry,
    site: &'a str,
    agent: Agent,
}

impl SiteProbe<'_> {
    fn rest(&self, path: &str) -> String {
        format!("{}{}{path}", self.site, self.registry.site.rest_path)
    }

    fn ask(&self, method: &str, url: &str, headers: &[(header::HeaderName, &str)]) -> Result<Response<Body>, String> {
        let mut request = ureq::http::Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        // An empty text has a length; without one, the body would be announced in pieces.
        let answer = match method {
            "POST" | "PUT" | "PATCH" => request.body("").map(|request| self.agent.run(request)),
            _ => request.body(()).map(|request| self.agent.run(request)),
        };
        answer.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    /// The root's document, if the API responds there at all.
    fn root(&self, findings: &mut Vec<Finding>) -> Option<Value> {
        let url = self.rest("/");
        let what = format!("the API responds at {url}");
        let answer = match self.ask("GET", &url, &[]) {
            Ok(answer) => answer,
            Err(error) => {
                let wrong = format!("{error}. Does the server run, and does this address lead to it?");
                findings.push(Finding { what, wrong: Some(wrong) });
                return None;
            }
        };
        let status = answer.status();
        let root = json_of(answer);
        let Some(root) = root.filter(|root| status == StatusCode::OK && root["namespaces"].is_array()) else {
            let wrong = format!("the response is {status} and no description of the site; pass {url} on unchanged.");
            findings.push(Finding { what, wrong: Some(wrong) });
            return None;
        };
        findings.push(Finding { what, wrong: None });
        let told = root["url"].as_str().unwrap_or_default().trim_end_matches('/');
        let wrong = (told != self.site)
            .then(|| format!("it calls itself {told}: set site.url = \"{}\", or check it there.", self.site));
        findings.push(Finding { what: "the site knows its own address".into(), wrong });
        Some(root)
    }

    /// Clients find the API by a header of the home page, and another one hides the site.
    fn home(&self, findings: &mut Vec<Finding>) {
        let answer = self.ask("GET", &format!("{}/", self.site), &[]);
        let has = |name: &str, text: &str| {
            answer.as_ref().map(|answer| {
                let lines = answer.headers().get_all(name).iter().filter_map(|line| line.to_str().ok());
                lines.into_iter().any(|line| line.contains(text))
            })
        };
        let links = has("link", &self.registry.site.rest_path);
        let wrong = match links {
            Ok(true) => None,
            Ok(false) => {
                Some("no Link header names it; another program responds there, or a proxy drops the header.".into())
            }
            Err(error) => Some(error.clone()),
        };
        findings.push(Finding { what: "the home page leads to the API".into(), wrong });
        let why = match self.registry.declaration.site.noindex {
            true => "site.noindex is on, which is for copies of a site that are being tried out.",
            false => "something in front of the server sends X-Robots-Tag: noindex.",
        };
        let hidden = has("x-robots-tag", "noindex").is_ok_and(|hidden| hidden);
        let wrong = hidden.then(|| why.to_owned());
        findings.push(Finding { what: "search engines may list the site".into(), wrong });
    }

    /// People log in on pages, whose files and form are below the same address.
    fn pages(&self, findings: &mut Vec<Finding>) {
        if !self.registry.declaration.pages.enabled {
            return;
        }
        // Where browsers are, not where the server says that it is.
        let path = url::Url::parse(self.site)
            .map_or_else(|_| String::new(), |url| url.path().trim_end_matches('/').to_owned());
        let pages = self.registry.declaration.pages.below(&path);
        let origin = self.site.strip_suffix(&*path).unwrap_or(self.site);
        let text = |path: &str| -> Result<String, String> {
            let mut answer = self.ask("GET", &format!("{origin}{path}"), &[])?;
            match answer.status() {
                StatusCode::OK => answer.body_mut().read_to_string().map_err(|error| error.to_string()),
                status => Err(format!("the response is {status}")),
            }
        };
        let login = text(&pages.login).and_then(|page| match page.contains(&format!("action=\"{}\"", pages.login)) {
            true => Ok(()),
            false => Err("another page is there".to_owned()),
        });
        let style = text(&format!("{}/style.css", pages.assets)).map(drop);
        for (what, found, path) in
            [("the login page is there", login, &pages.login), ("pages find their files", style, &pages.assets)]
        {
            let why = |why: String| {
                format!("{origin}{path}: {why}; site.url has to be the address that browsers use, with its path.")
            };
            findings.push(Finding { what: what.into(), wrong: found.err().map(why) });
        }
    }

    /// A request without a route is refused by the server, and not by a proxy in front of it.
    fn methods(&self, findings: &mut Vec<Finding>) {
        for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            let url = self.rest("/no-such-route");
            // Where descriptions are bare, that of what does not exist is empty.
            let bare = method == "OPTIONS" && self.registry.declaration.dialect.options_without_route;
            let ours = |answer| {
                json_of(answer).is_some_and(|body| body["code"] == "rest_no_route" || (bare && body == json!([])))
            };
            let wrong = match self.ask(method, &url, &[]).map(ours) {
                Ok(true) => None,
                Ok(false) => Some("something in front of the server handles it; let all methods through.".into()),
                Err(error) => Some(error),
            };
            findings.push(Finding { what: format!("{method} arrives"), wrong });
        }
    }

    /// Conditional requests save work only when entity tags are passed on unchanged.
    fn tags(&self, findings: &mut Vec<Finding>) {
        let Some(resource) = self.registry.content_types().next() else { return };
        let url = self.rest(&resource.path);
        let tag = self.ask("GET", &url, &[]).ok().and_then(|answer| {
            let tag = answer.headers().get(header::ETAG)?.to_str().ok()?;
            Some(tag.to_owned())
        });
        let again = tag.and_then(|tag| self.ask("GET", &url, &[(header::IF_NONE_MATCH, &tag)]).ok());
        let wrong = again
            .is_none_or(|answer| answer.status() != StatusCode::NOT_MODIFIED)
            .then(|| "a proxy drops or changes ETag or If-None-Match; clients read everything again.".to_owned());
        findings.push(Finding { what: "unchanged responses are not sent twice".into(), wrong });
    }

    /// Whether application passwords may be used at this address.
    fn scheme(&self, root: &Value, findings: &mut Vec<Finding>) -> bool {
        let open = root["authentication"]["application-passwords"].is_object();
        let wrong = (!open).then(|| {
            if self.site.starts_with("https:") {
                "the server does not see that this is HTTPS: let the proxy send X-Forwarded-Proto, and add its network to \
                 server.trusted_proxies."
            } else {
                "this is not HTTPS, or site.application_passwords is off."
            }
        });
        findings.push(Finding { what: "application passwords are available".into(), wrong: wrong.map(str::to_owned) });
        open
    }

    /// An application password has to authenticate.
    fn credentials(&self, services: &Services, findings: &mut Vec<Finding>) -> Result<(), BootError> {
        let Some(users) = self.registry.users() else { return Ok(()) };
        let Some(login) = services.any_login(self.registry)? else { return Ok(()) };
        let title = format!("doctor {}", app_passwords::new_secret());
        let limits = CredentialLimits {
            read_only: true,
            resources: vec![users.name.as_str().into()],
            ..CredentialLimits::default()
        };
        let expires = services.clock.now() + LIFE;
        let secret = services.add_limited_app_password(&login, &title, expires, limits, None)?;
        let basic = identity::basic_header(&login, &secret);
        let url = self.rest(&format!("{}/me", users.path));
        let answer = self.ask("GET", &url, &[(header::AUTHORIZATION, &basic)]);
        let gone = Change::RemoveWhere { table: name(app_password::TABLE), filter: eq("name", txt(&title)) };
        wait(services.storage.commit(WritePlan::new(vec![gone])))
            .map_err(|error| BootError::Other(format!("the password `{title}` was not deleted: {error}")))?;
        let wrong = match answer {
            Ok(answer) if answer.status() == StatusCode::OK => None,
            Ok(answer) if answer.status() == StatusCode::UNAUTHORIZED => Some(
                "the Authorization header does not arrive: let the proxy pass it on, and remove any login of its own."
                    .into(),
            ),
            Ok(answer) => Some(format!("the response is {}.", answer.status())),
            Err(error) => Some(error),
        };
        findings.push(Finding { what: "an application password authenticates its user".into(), wrong });
        Ok(())
    }
}

fn json_of(mut answer: Response<Body>) -> Option<Value> {
    serde_json::from_slice(&answer.body_mut().read_to_vec().ok()?).ok()
}

impl Services {
    /// The login of some user who may have application passwords.
    fn any_login(&self, registry: &Registry) -> Result<Option<String>, BootError> {
        let Some(users) = registry.users() else { return Ok(None) };
        let snapshot = self.storage.snapshot()?;
        let mut plan = records::plan(users, records::always());
        plan.limit = Some(MOST_USERS);
        let rows = snapshot.rows(&plan)?;
        let mut people = rows.iter().map(|row| records::Record { resource: users, row });
        Ok(people.find(|user| identity::available_for(registry, *user)).map(|user| user.text("login").to_owned()))
    }
}
