//! Feeds, sitemaps, `robots.txt` and addresses of records at their paths of the site: requests to the routes that respond with
//! them, in nobody's name, so that everybody shares the responses.

use super::inner::{document_of, inner};
use super::replies::redirect;
use super::{Pages, home, reading};
use cms_core::engine::Engine;
use cms_core::error::status;
use cms_core::features::sitemaps;
use cms_core::model::{Method, Reply, Request};
use cms_core::registry::Registry;
use cms_core::registry::resource::Resource;
use cms_core::registry::vocabulary::HandlerRole;
use cms_declaration::{Robots, Sitemaps, Syndication};

/// Caches may store such a response; whether it still holds, they have to ask.
const REVALIDATED: &str = "no-cache";

/// The declared paths, and the routes behind them.
pub(super) struct Readers {
    syndication: Syndication,
    sitemaps: Sitemaps,
    robots: Robots,
    /// Paths of the routes, below the REST base.
    routes: Vec<(HandlerRole, String)>,
    rest_url: String,
    site_url: String,
    /// A front end shows the site.
    front: bool,
    /// Parameters of the site's own address that name something.
    parameters: Vec<String>,
    redirect_by: Option<String>,
}

/// Where a path leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReaderPlace {
    Route(HandlerRole),
    /// The index of the sitemaps.
    Redirect,
}

impl Readers {
    pub(super) fn new(registry: &Registry) -> Readers {
        let declaration = &registry.declaration;
        let roles = [HandlerRole::Feed, HandlerRole::Sitemap, HandlerRole::Robots, HandlerRole::Visit];
        let variable = |resource: &Resource| match resource.is_content() {
            true => resource.declared.query_var.clone().unwrap_or_else(|| "p".to_owned()),
            false => resource.declared.query_var.clone().unwrap_or_else(|| resource.api_name.clone()),
        };
        let named = registry.content_types().chain(registry.taxonomies()).map(variable);
        let declared = declaration.addresses.parameters.keys().cloned();
        let parameters = named.chain(declared).chain([declaration.addresses.page.clone()]).collect();
        let route = |role| Some((role, registry.route_with(role)?.pattern.clone()));
        Readers {
            syndication: declaration.syndication.clone(),
            sitemaps: declaration.sitemaps.clone(),
            robots: declaration.robots.clone(),
            routes: roles.into_iter().filter_map(route).collect(),
            rest_url: registry.site.rest_url.clone(),
            site_url: registry.site.url.clone(),
            front: registry.site.front != registry.site.url,
            parameters,
            redirect_by: declaration.addresses.redirect_by.get().cloned(),
        }
    }

    /// The route of a document, where no front end shows the site.
    pub(super) fn read_here<'r>(&self, rest: &'r str) -> Option<&'r str> {
        rest.strip_prefix(&*self.rest_url).filter(|_| !self.front)
    }

    /// Whether addresses of the site lead to what they name.
    pub(super) fn leads(&self) -> bool {
        self.routes.iter().any(|(role, _)| *role == HandlerRole::Visit)
    }

    /// Whether a path and a query may name something: each path but the site's own address, and that with a parameter.
    fn may_name(&self, request: &Request) -> bool {
        let corrected = request.path == super::HOME[1];
        !super::HOME.contains(&&*request.path)
            || corrected
            || self.parameters.iter().any(|name| request.query.contains_key(name))
    }

    /// A redirect with whoever made it.
    fn redirect(&self, status: u16, place: &str) -> Reply {
        let mut reply = redirect(status, place);
        reply.headers.push(("Cache-Control".into(), REVALIDATED.into()));
        reply.headers.extend(self.redirect_by.clone().map(|by| ("X-Redirect-By".to_owned(), by)));
        reply
    }

    /// Where a path below the site's address leads; `asked`: its query asks for a feed of the first page.
    pub(super) fn place(&self, path: &str, asked: bool) -> Option<ReaderPlace> {
        let (feeds, maps) = (&self.syndication, &self.sitemaps);
        let style = || maps.styles.get().is_some_and(|styles| styles.iter().any(|style| style == path));
        if maps.enabled && (path == maps.index || style() || sitemaps::part_of(maps, path).is_some()) {
            return Some(ReaderPlace::Route(HandlerRole::Sitemap));
        }
        if maps.enabled && maps.redirects.iter().any(|own| own == path) {
            return Some(ReaderPlace::Redirect);
        }
        if self.robots.enabled && path == "/robots.txt" {
            return Some(ReaderPlace::Route(HandlerRole::Robots));
        }
        let mut parts = path.trim_end_matches('/').rsplit('/');
        let (last, before) = (parts.next().unwrap_or_default(), parts.next());
        let named = last == feeds.path || before == Some(&feeds.path) && feeds.format_of(last).is_some();
        (feeds.enabled && (named || asked || feeds.aliases.contains_key(path)))
            .then_some(ReaderPlace::Route(HandlerRole::Feed))
    }
}

/// The response to a request for such a path; `None`: it is for a page.
pub(super) async fn serve(pages: &Pages, engine: &Engine, request: &Request) -> Option<Reply> {
    let readers = &pages.readers;
    if !matches!(request.method, Method::Get | Method::Head) {
        return None;
    }
    let role = match readers.place(&request.path, request.query.contains_key("feed") && pages.is_home(&request.path))? {
        ReaderPlace::Route(role) => role,
        ReaderPlace::Redirect => {
            let index = format!("{}{}", readers.site_url, readers.sitemaps.index);
            return Some(readers.redirect(status::MOVED_PERMANENTLY, &index));
        }
    };
    let route = readers.routes.iter().find(|(own, _)| *own == role).map(|(_, path)| path)?;
    let mut reply = engine.serve(&question(request, route)).await;
    if reply.status == status::NOT_FOUND {
        let maps = &readers.sitemaps;
        let foreign = sitemaps::part_of(maps, &request.path).is_some_and(|(list, _)| sitemaps::is_foreign(maps, list));
        return match foreign && maps.home_if_foreign {
            true => Some(home::respond(pages, engine, request)),
            false => Some(home::not_found(pages, &readers.rest_url)),
        };
    }
    // The methods of the route are not those of the path.
    reply.headers.retain(|(name, _)| name != "Allow");
    if !reply.headers.iter().any(|(name, _)| name == "Cache-Control") {
        reply.headers.push(("Cache-Control".into(), REVALIDATED.into()));
    }
    Some(reply)
}

/// The response to a request for what an address of the site names: where it is read, or a page that says what is there. `None`:
/// it names nothing, as the site's own address does.
pub(super) async fn visit(pages: &Pages, engine: &Engine, request: &Request) -> Option<Reply> {
    let readers = &pages.readers;
    if !matches!(request.method, Method::Get | Method::Head) || !readers.may_name(request) {
        return None;
    }
    let route = readers.routes.iter().find(|(role, _)| *role == HandlerRole::Visit).map(|(_, path)| path)?;
    let reply = engine.serve(&question(request, route)).await;
    let location = reply.headers.iter().find(|(name, _)| name == "Location").map(|(_, place)| place.clone());
    if let Some(location) = location {
        return Some(readers.redirect(reply.status, &location));
    }
    if reply.status == status::GONE {
        return Some(Reply { status: status::GONE, ..home::not_found(pages, &readers.rest_url) });
    }
    let document = document_of(&reply);
    if reply.status == status::FORBIDDEN {
        return Some(match super::media::prefers_html(request.header("accept")) {
            true => home::refused(pages, document["message"].as_str().unwrap_or_default(), &readers.rest_url),
            false => reply,
        });
    }
    if reply.status != status::OK {
        return Some(home::not_found(pages, &readers.rest_url));
    }
    if document["kind"] == "front_page" {
        return Some(home::respond(pages, engine, request));
    }
    if let Some(mut page) = reading::show(pages, engine, request, &document).await {
        page.headers.push(("Cache-Control".into(), REVALIDATED.into()));
        return Some(page);
    }
    Some(home::address(pages, document["rest"].as_str().unwrap_or(&readers.rest_url)))
}

/// The request to a route, without the credentials of the caller.
fn question(request: &Request, route: &str) -> Request {
    inner(request, route, &[("path", &request.path), ("query", &request.raw_query)])
}
