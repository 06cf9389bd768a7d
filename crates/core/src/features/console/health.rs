//! Findings about the site's health that need nothing outside the process, and the places of declarations.

use crate::access::identity::available;
use crate::access::outbox;
use crate::error::ApiError;
use crate::handlers::{Outcome, ProcessInfo, Work};
use serde_json::{Value, json};

/// How bad a finding is.
#[derive(Clone, Copy)]
enum FindingLevel {
    Fine,
    Warning,
    Problem,
}

impl FindingLevel {
    fn name(self) -> &'static str {
        match self {
            FindingLevel::Fine => "ok",
            FindingLevel::Warning => "warning",
            FindingLevel::Problem => "problem",
        }
    }
}

/// The findings.
pub fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let mut findings = vec![encryption(work), passwords(work), mail(work)?, database(work)];
    if let Some(inside) = work.shared.inside.get() {
        findings.extend([declared(&**inside), nodes(&**inside), backups(work, &**inside)]);
    }
    Ok(Outcome { private: true, ..Outcome::ok(Value::Array(findings)) })
}

/// The declarations with their places, and the problems of the newest ones.
pub fn declarations(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let inside = work.shared.inside.get();
    let places = inside.map_or(&[][..], |inside| inside.declared());
    let places = places.iter().map(|at| json!({"name": at.name, "file": &*at.file, "line": at.line}));
    let problems = inside.map(|inside| inside.refusal()).unwrap_or_default();
    let document = json!({"declarations": places.collect::<Vec<_>>(), "problems": problems});
    Ok(Outcome { private: true, ..Outcome::ok(document) })
}

fn finding(check: &str, level: FindingLevel, message: impl Into<String>, hint: Option<&str>) -> Value {
    json!({"level": level.name(), "check": check, "message": message.into(), "hint": hint})
}

fn encryption(work: &Work<'_>) -> Value {
    let (peer, site) = (&work.scope.peer, &work.scope.registry.site.url);
    let local = peer.localhost || peer.ip.is_none_or(|ip| ip.is_loopback());
    match (peer.https, site.starts_with("https://")) {
        (true, _) => finding("https", FindingLevel::Fine, "Requests are encrypted.", None),
        (false, true) => finding(
            "https",
            FindingLevel::Problem,
            "The site's address is one of HTTPS, and the server does not see that requests are encrypted.",
            Some("Let the proxy send X-Forwarded-Proto, and add its network to server.trusted_proxies."),
        ),
        (false, false) if local => finding("https", FindingLevel::Fine, "The site is served on this machine.", None),
        (false, false) => finding(
            "https",
            FindingLevel::Problem,
            "Requests are not encrypted: passwords and sessions can be read on the way.",
            Some("Serve the site over HTTPS: server.tls, or a proxy in front of it."),
        ),
    }
}

fn passwords(work: &Work<'_>) -> Value {
    match available(&work.scope.registry, &work.scope.peer) {
        true => finding("application_passwords", FindingLevel::Fine, "Application passwords are available.", None),
        false => finding(
            "application_passwords",
            FindingLevel::Warning,
            "Programs have no passwords here.",
            Some("They need HTTPS, and site.application_passwords."),
        ),
    }
}

fn mail(work: &Work<'_>) -> Result<Value, ApiError> {
    if work.scope.registry.declaration.mail.url.get().is_none() {
        let hint = "Set mail.url and mail.from.";
        let message = "The server sends no e-mail: nobody gets an invitation or a link for a lost password.";
        return Ok(finding("mail", FindingLevel::Warning, message, Some(hint)));
    }
    let (waiting, late) = outbox::backlog(&*work.scope.snapshot()?, work.scope.now)?;
    Ok(match (waiting, late) {
        (0, _) => finding("mail", FindingLevel::Fine, "No message waits.", None),
        (waiting, 0) => finding("mail", FindingLevel::Fine, format!("{waiting} messages wait."), None),
        (_, late) => finding(
            "mail",
            FindingLevel::Problem,
            format!("{late} messages wait after an attempt that failed."),
            Some("The log says why; cms-server mail test ADDRESS sends a test message."),
        ),
    })
}

fn database(work: &Work<'_>) -> Value {
    match work.scope.storage.snapshot() {
        Ok(_) => finding("database", FindingLevel::Fine, "The database can be read.", None),
        Err(error) => finding("database", FindingLevel::Problem, format!("The database cannot be read: {error}"), None),
    }
}

fn declared(inside: &dyn ProcessInfo) -> Value {
    let (refusal, waiting) = (inside.refusal(), inside.waiting());
    match (refusal.first(), waiting.is_empty()) {
        (Some(first), _) => finding(
            "declarations",
            FindingLevel::Problem,
            format!(
                "The newest declarations are refused, older ones are in force: {}",
                first.lines().next().unwrap_or("")
            ),
            Some("cms-server check lists every problem."),
        ),
        (None, false) => {
            let message = format!("Changed keys wait for a restart: {}.", waiting.join(", "));
            finding("declarations", FindingLevel::Warning, message, Some("Restart the server."))
        }
        (None, true) => finding("declarations", FindingLevel::Fine, "The newest declarations are in force.", None),
    }
}

fn nodes(inside: &dyn ProcessInfo) -> Value {
    let differing = inside.disagreements();
    match differing.is_empty() {
        true => finding("nodes", FindingLevel::Fine, "No other process differs from this one.", None),
        false => finding("nodes", FindingLevel::Problem, differing.join(" "), Some("cms-server doctor compares them.")),
    }
}

fn backups(work: &Work<'_>, inside: &dyn ProcessInfo) -> Value {
    let declared = &work.scope.registry.declaration.backup;
    let Some(every) = declared.folder.get().and(declared.every.get()) else {
        let message = "The server makes no backups by itself.";
        return finding(
            "backups",
            FindingLevel::Warning,
            message,
            Some("Set backup.folder, or make backups otherwise."),
        );
    };
    let late = |hours: i64| hours * 3600 > 2 * every.seconds_signed();
    match (inside.backup_age(), inside.backup_failed()) {
        (_, true) => {
            finding("backups", FindingLevel::Problem, "The last backup has failed.", Some("The log says why."))
        }
        (Some(hours), _) if late(hours) => {
            finding("backups", FindingLevel::Problem, format!("The newest backup is {hours} hours old."), None)
        }
        (Some(hours), _) => {
            finding("backups", FindingLevel::Fine, format!("The newest backup is {hours} hours old."), None)
        }
        (None, _) => finding("backups", FindingLevel::Warning, "There is no backup yet.", None),
    }
}
