//! The authorization page: a user lets a program in, or refuses.
//!
//! Contract: "Application passwords", the table of the page's parameters.

use super::replies::see_other;
use super::{PageContext, said};
use cms_core::access::addresses;
use cms_core::access::identity::available;
use cms_core::error::status;
use cms_core::model::{Method, Reply};
use serde_json::{Value, json};
use url::Url;

/// The request of a program.
struct AuthorizeRequest<'v> {
    app_name: &'v str,
    app_id: &'v str,
    /// Where the user is redirected with the password; `None`: it is shown.
    success: Option<Url>,
    reject: Option<Url>,
}

impl<'v> AuthorizeRequest<'v> {
    /// Reads the parameters, which the page's form sends back.
    ///
    /// # Errors
    /// A sentence for people: an address that leads where it must not, an id that is none.
    fn of(visit: &'v PageContext<'_>) -> Result<AuthorizeRequest<'v>, String> {
        let get = |name: &'static str| {
            let sent = visit.field(name);
            if sent.is_empty() { visit.parameter(name) } else { sent }
        };
        let address = |name| Some(get(name)).filter(|text| !text.is_empty()).map(addresses::target).transpose();
        let app_id = get("app_id");
        if !app_id.is_empty() && uuid::Uuid::try_parse(app_id).is_err() {
            return Err("The program's id (app_id) is no UUID.".into());
        }
        Ok(AuthorizeRequest {
            app_name: get("app_name"),
            app_id,
            success: address("success_url")?,
            reject: address("reject_url")?,
        })
    }

    /// Where a refusal leads: `reject_url`, else `success_url` with `success=false`.
    fn refused(&self) -> Option<String> {
        let told = self.success.as_ref().map(|url| addresses::with(url, &[("success", "false")]));
        self.reject.as_ref().map(|url| url.to_string()).or(told)
    }
}

/// The page with the request.
pub(super) fn ask(visit: &PageContext<'_>) -> Reply {
    if let Some(refusal) = unavailable(visit) {
        return refusal;
    }
    match AuthorizeRequest::of(visit) {
        Ok(asked) => form(visit, &asked, status::OK, None),
        Err(problem) => refusal(visit, &[&problem]),
    }
}

/// Carries out the user's decision.
pub(super) async fn decide(visit: &PageContext<'_>) -> Reply {
    if let Some(refusal) = unavailable(visit) {
        return refusal;
    }
    let asked = match AuthorizeRequest::of(visit) {
        Ok(asked) => asked,
        Err(problem) => return refusal(visit, &[&problem]),
    };
    if visit.field("act") != "approve" {
        return see_other(&asked.refused().unwrap_or_else(|| visit.pages.declared.profile.clone()));
    }
    let path = format!("{}/{}/application-passwords", users_path(visit), visit.scope.principal.id);
    let body = json!({"name": asked.app_name, "app_id": asked.app_id});
    let made = visit.rest(Method::Post, &path, Value::Null, body).await;
    if made.status != status::CREATED {
        return form(visit, &asked, made.status, Some(&said(&made)));
    }
    let secret = made.body["password"].as_str().unwrap_or_default();
    match &asked.success {
        Some(url) => {
            let plain: String = secret.chars().filter(char::is_ascii_alphanumeric).collect();
            let site = &visit.scope.registry.site.url;
            let login = &*visit.scope.principal.login;
            see_other(&addresses::with(url, &[("site_url", site), ("user_login", login), ("password", &plain)]))
        }
        None => {
            let data = json!({"secret": secret, "app_name": asked.app_name, "copies": true});
            visit.page(status::OK, "The program has a password", "secret.html", data)
        }
    }
}

fn form(visit: &PageContext<'_>, asked: &AuthorizeRequest<'_>, status: u16, problem: Option<&str>) -> Reply {
    let further: Vec<String> = [&asked.success, &asked.reject].into_iter().flatten().map(addresses::source).collect();
    let text = |url: &Option<Url>| url.as_ref().map(ToString::to_string).unwrap_or_default();
    let data = json!({"action": visit.pages.declared.authorize, "app_name": asked.app_name, "app_id": asked.app_id, "problem": problem, "success_url": text(&asked.success), "reject_url": text(&asked.reject), "target": asked.success.as_ref().map(|url| visit.say(&addresses::shown(url))), "site_url": visit.scope.registry.site.url});
    visit.page_towards(status, "Authorize a program?", "authorize.html", data, &further.join(" "))
}

pub(super) fn refusal(visit: &PageContext<'_>, problems: &[&str]) -> Reply {
    let lines = [problems, &["Nothing was changed. Report this to the makers of the program."]].concat();
    visit.message(status::BAD_REQUEST, "This request is not safe", &lines)
}

pub(super) fn unavailable(visit: &PageContext<'_>) -> Option<Reply> {
    if available(&visit.scope.registry, &visit.scope.peer) {
        let lines =
            ["Application passwords are not available for your account. Contact the administrators of the site."];
        return (!visit.caller_available())
            .then(|| visit.message(status::NOT_IMPLEMENTED, "Programs cannot be authorized", &lines));
    }
    let lines =
        ["Application passwords are not available: the site is not served over HTTPS, or they are switched off."];
    Some(visit.message(status::NOT_IMPLEMENTED, "Programs cannot be authorized", &lines))
}

/// Path of the people's routes.
pub(super) fn users_path(visit: &PageContext<'_>) -> String {
    visit.scope.registry.users().map(|users| users.path.clone()).unwrap_or_default()
}
