//! The service's OpenAPI description: of everything, of a namespace, or of what the caller may use.

use super::{HANDLERS, Outcome, Rendered, Work};
use crate::access::{self, Asking, GUARDS, Loaded, policy};
use crate::cache::documents::DocumentText;
use crate::error::ApiError;
use crate::openapi::{self, Selection};
use crate::registry::resource::Resource;
use crate::registry::vocabulary::{Anonymous, Vocabulary, descriptions};
use crate::registry::{Endpoint, Route};
use crate::request::BodyParams;
use crate::request::args::{Checked, Sources};
use cms_base::pool::JobOwner;
use cms_config::declaration::Action;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Descriptions that one caller has had made and that are kept: each namespace in each format, for several passwords.
const MOST_OF_CALLER: usize = 64;

/// Bytes of all that are kept for callers. Callers with the same rights share one.
const MOST_BYTES: usize = 8 << 20;

/// What a description depends on beside the declarations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Wanted {
    namespace: String,
    yaml: bool,
    /// Of each endpoint in the order of the routes, whether the caller may use it; `None`: all are described.
    usable: Option<Vec<bool>>,
}

/// Descriptions that were made already. They follow from the declarations and from what is wanted.
#[derive(Default)]
pub struct Descriptions {
    made: Mutex<DescriptionCache>,
}

#[derive(Default)]
struct DescriptionCache {
    texts: HashMap<Wanted, CachedDescription>,
    uses: u64,
}

struct CachedDescription {
    text: DocumentText,
    /// For whom it was made.
    owner: JobOwner,
    /// The number of its last use.
    used: u64,
}

impl DescriptionCache {
    fn get(&mut self, wanted: &Wanted) -> Option<DocumentText> {
        self.uses += 1;
        let found = self.texts.get_mut(wanted)?;
        found.used = self.uses;
        Some(found.text.clone())
    }

    fn put(&mut self, wanted: Wanted, text: DocumentText, owner: JobOwner) {
        let used = self.uses;
        self.texts.insert(wanted, CachedDescription { text, owner, used });
        while self.of(owner).count() > MOST_OF_CALLER {
            self.remove(owner);
        }
        while self.for_callers().map(|(_, made)| made.text.len()).sum::<usize>() > MOST_BYTES {
            let largest = self
                .for_callers()
                .map(|(_, made)| made.owner)
                .max_by_key(|owner| self.of(*owner).map(|(_, made)| made.text.len()).sum::<usize>());
            let Some(owner) = largest else { return };
            self.remove(owner);
        }
    }

    /// Those that depend on rights. There are few of the others.
    fn for_callers(&self) -> impl Iterator<Item = (&Wanted, &CachedDescription)> {
        self.texts.iter().filter(|(wanted, _)| wanted.usable.is_some())
    }

    fn of(&self, owner: JobOwner) -> impl Iterator<Item = (&Wanted, &CachedDescription)> {
        self.for_callers().filter(move |(_, made)| made.owner == owner)
    }

    /// Removes the one of an owner that was not used for longest.
    fn remove(&mut self, owner: JobOwner) {
        if let Some(oldest) = self.of(owner).min_by_key(|(_, made)| made.used).map(|(wanted, _)| wanted.clone()) {
            self.texts.remove(&oldest);
        }
    }
}

impl Descriptions {
    /// The description, which is made where it is not kept.
    fn text(
        &self,
        wanted: Wanted,
        owner: JobOwner,
        make: impl FnOnce(&Wanted) -> Result<Vec<u8>, ApiError>,
    ) -> Result<DocumentText, ApiError> {
        let made = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let found = made().get(&wanted);
        if let Some(text) = found {
            return Ok(text);
        }
        let text: DocumentText = make(&wanted)?.into();
        made().put(wanted, text.clone(), owner);
        Ok(text)
    }
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
    let for_caller = args.text("for") == Some("me");
    let endpoints = registry.routes.iter().flat_map(|route| route.endpoints.iter().map(move |own| (route, own)));
    let usable = for_caller.then(|| endpoints.map(|(route, own)| may_use(work, route, own)).collect());
    let wanted = Wanted { namespace: namespace.to_owned(), yaml, usable };
    let text = work.shared.descriptions.text(wanted, work.scope.source(), |wanted| {
        let described = |route: &Route, own: &Endpoint| wanted.usable.is_none() || may_use(work, route, own);
        let vocabulary =
            Vocabulary { handlers: descriptions(HANDLERS), guards: descriptions(GUARDS), ..Vocabulary::default() };
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
    let (given, explains) = (None, false);
    let asking = Asking { scope, route, endpoint, method, args, sources, loaded, given, explains };
    access::ask(&asking).map_or_else(|error| !error.is_denial(), |_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_with_the_same_rights_share_a_description_and_each_has_places() {
        let kept = Descriptions::default();
        let wanted = |usable: Option<Vec<bool>>| Wanted { namespace: String::new(), yaml: false, usable };
        let text = |owner: i64, usable: Option<Vec<bool>>, own: &str| {
            let text = kept.text(wanted(usable), JobOwner::user(owner), |_| Ok(own.as_bytes().to_vec()));
            String::from_utf8_lossy(&text.expect("a description")).into_owned()
        };
        assert_eq!(text(1, None, "all"), "all");
        assert_eq!(text(1, Some(vec![true]), "some"), "some");
        assert_eq!(text(2, Some(vec![true]), "made again"), "some");
        assert_eq!(text(1, Some(vec![false]), "none"), "none");
        for rights in 2..200 {
            text(2, Some(vec![true; rights]), "other");
        }
        assert_eq!(text(1, Some(vec![true]), "made again"), "some", "another caller has places of its own");
        let large = "x".repeat(1 << 20);
        for rights in 200..220 {
            text(3, Some(vec![true; rights]), &large);
        }
        assert_eq!(text(1, Some(vec![false]), "made again"), "none", "and bytes");
        assert_eq!(text(1, None, "made again"), "all");
        let made = kept.made.lock().expect("unpoisoned");
        assert!(made.of(JobOwner::user(2)).count() <= MOST_OF_CALLER);
        assert!(made.for_callers().map(|(_, made)| made.text.len()).sum::<usize>() <= MOST_BYTES);
    }
}
