//! The service's OpenAPI description: of everything, of a namespace, or of what the caller may use.

use super::{HANDLERS, Outcome, Rendered, Work};
use crate::access::{self, Asking, GUARDS, Loaded, policy};
use crate::cache::documents::DocumentText;
use crate::config::declaration::Action;
use crate::error::ApiError;
use crate::openapi::{self, Selection};
use crate::registry::resource::Resource;
use crate::registry::vocabulary::{Anonymous, Vocabulary, descriptions};
use crate::registry::{Endpoint, Route};
use crate::request::BodyParams;
use crate::request::args::{Checked, Sources};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Descriptions that were made already: one for each namespace and format. They follow from the declarations alone.
#[derive(Default)]
pub struct Descriptions {
    made: Mutex<HashMap<(String, bool), DocumentText>>,
}

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
    let selection = |endpoints: &dyn Fn(&Route, &Endpoint) -> bool| {
        let vocabulary =
            Vocabulary { handlers: descriptions(HANDLERS), guards: descriptions(GUARDS), ..Vocabulary::default() };
        let namespace = Some(namespace).filter(|wanted| !wanted.is_empty());
        let document = openapi::document(
            registry,
            &vocabulary,
            &Selection { namespace, endpoints, server: &registry.site.rest_path },
        );
        written(work, &document, yaml)
    };
    if args.text("for") == Some("me") {
        let text = selection(&|route, endpoint| may_use(work, route, endpoint))?;
        return Ok(Outcome { private: true, ..outcome(text.into(), yaml) });
    }
    let key = (namespace.to_owned(), yaml);
    let made = &work.shared.descriptions.made;
    let found = made.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
    let text = match found {
        Some(text) => text,
        None => {
            let text: DocumentText = selection(&|_, _| true)?.into();
            made.lock().unwrap_or_else(PoisonError::into_inner).insert(key, text.clone());
            text
        }
    };
    Ok(outcome(text, yaml))
}

fn written(work: &Work<'_>, document: &Value, yaml: bool) -> Result<Vec<u8>, ApiError> {
    match yaml {
        true => openapi::yaml(document).map(String::into_bytes).map_err(|error| work.scope.internal(&error)),
        false => Ok(document.to_string().into_bytes()),
    }
}

fn outcome(text: DocumentText, yaml: bool) -> Outcome {
    match yaml {
        true => Outcome { status: 200, other: Some(("application/yaml", text.to_vec())), ..Outcome::default() },
        false => Outcome { status: 200, text: Some(Rendered::One(text)), ..Outcome::default() },
    }
}

/// Whether the caller may use an endpoint for some records at least: without one, its guard refuses nothing, and the
/// caller has the capability that the guard asks for first.
pub(super) fn may_use(work: &Work<'_>, route: &Route, endpoint: &Endpoint) -> bool {
    may_use_with(work, route, endpoint, &Map::new())
}

/// The same with some arguments.
pub(super) fn may_use_with(work: &Work<'_>, route: &Route, endpoint: &Endpoint, query: &Map<String, Value>) -> bool {
    let (scope, guard) = (work.scope, GUARDS[endpoint.guard.0].is);
    if scope.principal.limits.as_ref().is_some_and(|limits| !limits.admit(&scope.registry, route, endpoint)) {
        return false;
    }
    if guard.anonymous == Anonymous::Never && !scope.principal.known() {
        return false;
    }
    let owner = route.owner.or(route.resource).map(|index| &scope.registry.resources[index]);
    let can = |capability: &str| scope.principal.can(capability);
    let readable = |of: &&Resource| scope.principal.can(of.reading_capability());
    if guard.anonymous == Anonymous::WhereReadable && owner.filter(readable).is_none() {
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
    let sources = Sources { path: &empty, body: &none, query };
    let args = Checked::lenient(&endpoint.args, &sources, None);
    let (args, sources, loaded) = (&&args, &sources, &Loaded::default());
    let asking = Asking { scope, route, endpoint, method, args, sources, loaded, given: None };
    access::ask(&asking).map_or_else(|error| !error.is_denial(), |_| true)
}
