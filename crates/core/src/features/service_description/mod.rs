//! The service's OpenAPI description: of everything, of a namespace, or of what the caller may use.

use crate::access::{self, GUARDS, GuardInput, LoadedRows, policy};
use crate::cache::descriptions::DescriptionKey;
use crate::cache::documents::DocumentText;
use crate::error::{ApiError, status};
use crate::features;
use crate::handlers::{Handler, Outcome, RenderedJson, Work, sync_handler};
use crate::openapi::{self, Selection};
use crate::registry::resource::Resource;
use crate::registry::vocabulary::{AnonymousAccess, BehaviourEntry, ResponseKind, Vocabulary, descriptions};
use crate::registry::{Endpoint, Route};
use crate::request::BodyParams;
use crate::request::args::{ArgSources, ArgValues};
use cms_declaration::Action;
use serde_json::{Map, Value};

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[sync_handler(
    "openapi.get",
    get,
    "Describes the service as OpenAPI 3.1: all of it, one namespace, or what the caller may use.",
)
.responds(ResponseKind::Json(status::OK, "{}"))];

/// `namespace`: its routes alone; `for=me`: what the caller may use; `format`: `json` or `yaml`.
///
/// # Errors
/// There is no such namespace.
pub fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let (registry, args) = (&work.scope.registry, work.allowed.args());
    let namespace = args.text("namespace").unwrap_or_default();
    if !namespace.is_empty() && !registry.namespaces.iter().any(|own| own == namespace) {
        return Err(ApiError::invalid_one("namespace", format!("There is no namespace {namespace}.")));
    }
    let yaml = args.text("format") == Some("yaml");
    let for_caller = args.text("for") == Some("me");
    let endpoints = registry.routes.iter().flat_map(|route| route.endpoints.iter().map(move |own| (route, own)));
    let usable = for_caller.then(|| endpoints.map(|(route, own)| may_use(work, route, own)).collect());
    let wanted = DescriptionKey { namespace: namespace.to_owned(), yaml, usable };
    let text = work.shared.descriptions.text(wanted, work.scope.source(), |wanted| {
        let described = |route: &Route, own: &Endpoint| wanted.usable.is_none() || may_use(work, route, own);
        let vocabulary = Vocabulary {
            handlers: descriptions(features::HANDLERS),
            guards: descriptions(GUARDS),
            ..Vocabulary::default()
        };
        let namespace = Some(namespace).filter(|wanted| !wanted.is_empty());
        let selection = Selection { namespace, endpoints: &described, server: &registry.site.rest_place() };
        written(work, &openapi::document(registry, &vocabulary, &selection), yaml)
    })?;
    Ok(Outcome { private: for_caller, ..outcome(text, yaml) })
}

fn written(work: &Work<'_>, document: &Value, yaml: bool) -> Result<Vec<u8>, ApiError> {
    match yaml {
        true => openapi::yaml(document).map(String::into_bytes).map_err(|error| work.scope.internal(&error)),
        false => Ok(document.to_string().into_bytes()),
    }
}

fn outcome(text: DocumentText, yaml: bool) -> Outcome {
    match yaml {
        true => Outcome { status: status::OK, other: Some(("application/yaml", text.to_vec())), ..Outcome::default() },
        false => Outcome { status: status::OK, text: Some(RenderedJson::One(text)), ..Outcome::default() },
    }
}

/// Whether the caller may use an endpoint for some records at least: without one, its guard refuses nothing, and the
/// caller has the capability that the guard asks for first.
pub fn may_use(work: &Work<'_>, route: &Route, endpoint: &Endpoint) -> bool {
    may_use_with(work, route, endpoint, &Map::new())
}

/// The same with some arguments.
pub fn may_use_with(work: &Work<'_>, route: &Route, endpoint: &Endpoint, query: &Map<String, Value>) -> bool {
    let (scope, guard) = (work.scope, GUARDS[endpoint.guard.0].is);
    if scope.principal.limits.as_ref().is_some_and(|limits| !limits.admit(&scope.registry, route, endpoint)) {
        return false;
    }
    if guard.anonymous == AnonymousAccess::Never && !scope.principal.is_logged_in() {
        return false;
    }
    let owner = route.owner.or(route.resource).map(|index| &scope.registry.resources[index]);
    let can = |capability: &str| scope.principal.can(capability);
    let readable = |of: &&Resource| scope.principal.can(of.reading_capability());
    if guard.anonymous == AnonymousAccess::WhereReadable && owner.filter(readable).is_none() {
        return false;
    }
    if guard.editors && !policy::edits_something(scope) && !owner.is_some_and(|of| can(of.capability(Action::Moderate)))
    {
        return false;
    }
    let needed = guard.needs.zip(owner).map(|(action, owner)| owner.capability(action));
    if needed.is_some_and(|capability| !scope.principal.can(capability)) {
        return false;
    }
    let Some(method) = endpoint.methods.first().copied() else { return false };
    let (none, empty) = (BodyParams::None, Map::new());
    let sources = ArgSources { path: &empty, body: &none, query };
    let args = ArgValues::parse_lenient(&endpoint.args, &sources, None);
    let (args, sources, loaded) = (&&args, &sources, &LoadedRows::default());
    let (given, explains) = (None, false);
    let input = GuardInput { scope, route, endpoint, method, args, sources, loaded, given, explains };
    access::ask(&input).map_or_else(|error| !error.is_denial(), |_| true)
}
