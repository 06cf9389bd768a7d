//! The site's own address: what runs here and where the interface, its documentation and the login are. As a page for
//! browsers, as JSON for programs.

use super::replies::headers;
use super::{HTML, PageContext, media};
use cms_core::engine::Engine;
use cms_core::error::status;
use cms_core::model::{Payload, Reply, Request};
use cms_core::xmlrpc;
use cms_text::sanitize::unescape;
use serde_json::{Value, json};

/// The page, or the document for clients that do not request HTML.
pub(super) fn show(visit: &PageContext<'_>) -> Reply {
    let as_page = !visit.pages.declared.home_as_json || media::prefers_html(visit.request.header("accept"));
    if as_page {
        return page(visit);
    }
    let reply = Reply { status: status::OK, headers: headers(""), payload: Payload::Json(document(visit)) };
    linked(visit, reply)
}

/// With the address of the interface. Programs get another form.
fn linked(visit: &PageContext<'_>, mut reply: Reply) -> Reply {
    let rest_url = visit.scope.registry.site.rest_url.trim_end_matches('/');
    reply.headers.push(("Link".into(), format!("<{rest_url}/>; rel=\"https://api.w.org/\"")));
    reply.headers.push(("Vary".into(), "Accept".into()));
    reply
}

/// The content of both forms; addresses are absolute, and null where there is none.
fn document(visit: &PageContext<'_>) -> Value {
    let (registry, settings, declared) = (&visit.scope.registry, &visit.scope.settings, &visit.pages.declared);
    let site = &registry.site;
    let namespaces: serde_json::Map<String, Value> =
        registry.namespaces.iter().map(|name| (name.clone(), json!(format!("{}/{name}", site.rest_url)))).collect();
    let absolute = |path: &str| declared.enabled.then(|| format!("{}{path}", site.origin()));
    json!({
        "name": settings.text("title"),
        "description": settings.text("description"),
        "software": env!("CARGO_PKG_NAME"),
        "rest": format!("{}/", site.rest_url),
        "namespaces": namespaces,
        "xmlrpc": xmlrpc::address(registry),
        "docs": declared.docs.get(),
        "explorer": declared.explorer.get().and_then(|path| absolute(path)),
        "console": visit.pages.console.as_deref().and_then(absolute),
        "login": absolute(&declared.login),
        "profile": absolute(&declared.profile),
        "authorize": absolute(&declared.authorize),
    })
}

/// The page.
pub(super) fn page(visit: &PageContext<'_>) -> Reply {
    let mut data = document(visit);
    data["description"] = json!(unescape(visit.scope.settings.text("description")));
    data["rsd"] = json!(xmlrpc::description_url(&visit.scope.registry));
    data["width"] = json!("wide");
    data["own_console"] = json!(visit.console_of(&visit.scope.principal));
    // The heading is the site's name, so it is not repeated above it.
    data["title"] = json!(visit.site_name());
    linked(visit, visit.page(status::OK, "", "home.html", data))
}

/// The page of the site's address, for people, in response to a request.
pub(super) fn respond(pages: &super::Pages, engine: &Engine, request: &Request) -> Reply {
    match PageContext::of(pages, engine, request) {
        Ok(visit) => page(&visit),
        Err(error) => cms_core::engine::error_reply(&error),
    }
}

/// The page for an address that nothing has.
pub(super) fn not_found(pages: &super::Pages, rest_url: &str) -> Reply {
    let line = "No page has this address. The content of this site is served as data, for the programs that show it.";
    told(pages, status::NOT_FOUND, "Nothing here", line, &format!("{rest_url}/"))
}

/// The page for an address that is for somebody else.
pub(super) fn refused(pages: &super::Pages, line: &str, rest_url: &str) -> Reply {
    told(pages, status::FORBIDDEN, "No preview here", line, &format!("{rest_url}/"))
}

/// The page for an address whose content is served as data.
pub(super) fn address(pages: &super::Pages, rest: &str) -> Reply {
    let line = "The content of this address is served as data, for the programs that show it.";
    let mut reply = told(pages, status::OK, "Served as data", line, rest);
    reply.headers.push(("Link".into(), format!("<{rest}>; rel=\"alternate\"; type=\"application/json\"")));
    reply
}

/// A page with a line, and a link to data.
fn told(pages: &super::Pages, status: u16, title: &str, line: &str, link: &str) -> Reply {
    let data = json!({
        "lang": "en",
        "title": title,
        "assets": pages.declared.assets,
        "lines": [line],
        "link": link,
        "link_text": link,
    });
    match pages.render("message.html", data) {
        Ok(html) => Reply { status, headers: headers(""), payload: Payload::Other { media_type: HTML, bytes: html } },
        Err(error) => {
            tracing::error!("a page without a request cannot be shown: {error}");
            cms_core::engine::error_reply(&cms_core::error::ApiError::new(cms_core::error::Code::NoRoute))
        }
    }
}
