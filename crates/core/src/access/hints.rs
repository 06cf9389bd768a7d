//! The methods that the caller may use on items that a response shows, beside their links (`targetHints`).
//!
//! They are those that `Allow` lists at the item's own address: the guards of its route decide, each item for itself. What
//! the guards of a list read is read together, so a list costs a fixed number of statements. An anonymous caller has no
//! capability: what such a caller may do follows from the route alone, and nothing is read for it.

use super::{GUARDS, GuardInput, LoadedRows, ask};
use crate::error::ApiError;
use crate::model::Method;
use crate::records::{self, Record};
use crate::registry::resource::Resource;
use crate::registry::vocabulary::AnonymousAccess;
use crate::registry::{Endpoint, Registry, Route};
use crate::request::BodyParams;
use crate::request::args::{ArgSources, ArgValues};
use crate::request::route::{captures, endpoint};
use crate::scope::Scope;
use cms_declaration::Action;
use cms_storage::BatchedReads;
use cms_storage::plan::Row;
use serde_json::{Map, Value, json};
use std::cell::LazyCell;
use std::sync::Arc;
use tracing::Dispatch;

/// Reads that the guards of one item make one after another at most; beyond that each item reads for itself.
const ROUNDS: usize = 8;

/// The endpoints of an item's route that the caller may use, by position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Hints(u32);

impl Hints {
    /// As links show them; `None` when there is no method.
    pub fn shown(self, registry: &Registry, resource: &Resource) -> Option<Value> {
        self.shown_of(&registry.routes[registry.item_route(resource.index)?])
    }

    fn shown_of(self, route: &Route) -> Option<Value> {
        let endpoints = route.endpoints.iter().enumerate().filter(|(at, _)| self.has(*at));
        let methods: Vec<&str> = endpoints.flat_map(|(_, e)| e.methods.iter().map(|method| method.as_str())).collect();
        (!methods.is_empty()).then(|| json!({"allow": methods}))
    }

    fn has(self, at: usize) -> bool {
        u32::try_from(at).is_ok_and(|at| self.0.checked_shr(at).is_some_and(|bits| bits & 1 == 1))
    }
}

/// An item of a resource.
struct HintItem<'a> {
    path: String,
    row: Option<&'a Row>,
}

/// The hints of rows. `readable`: the caller may read them, which has been decided already.
pub fn of_rows(scope: &Scope, resource: &Resource, rows: &[Row], readable: bool) -> Result<Vec<Hints>, ApiError> {
    let item = |row| HintItem { path: records::item_path(&scope.registry, Record { resource, row }), row: Some(row) };
    of(scope, resource, rows.len(), readable, || rows.iter().map(item).collect())
}

/// The link to itself of an item at a path, which the caller may read.
pub fn self_link(scope: &Scope, resource: &Resource, path: String) -> Result<Map<String, Value>, ApiError> {
    hinted(scope, resource, path, true)
}

/// The link to a path of a resource, which the caller may read or not.
pub fn link(scope: &Scope, resource: &Resource, path: String) -> Result<Map<String, Value>, ApiError> {
    hinted(scope, resource, path, false)
}

fn hinted(scope: &Scope, resource: &Resource, path: String, readable: bool) -> Result<Map<String, Value>, ApiError> {
    let mut link = Map::from_iter([("href".to_owned(), Value::String(scope.registry.rest(&path)))]);
    let Some(route) = route_of(&scope.registry, resource, &path) else { return Ok(link) };
    let route = &scope.registry.routes[route];
    let hints = on_route(scope, resource, route, 1, readable, || vec![HintItem { path, row: None }])?;
    let shown = hints.first().and_then(|hints| hints.shown_of(route));
    link.extend(shown.map(|shown| ("targetHints".to_owned(), shown)));
    Ok(link)
}

/// The route of an item: that of its resource, or else the one that its path leads to, where items of the resource are
/// below those of others.
fn route_of(registry: &Registry, resource: &Resource, path: &str) -> Option<usize> {
    let leads = |route: &Route| {
        route.resource == Some(resource.index)
            && route.endpoints.iter().any(|endpoint| endpoint.methods.contains(&Method::Get))
            && route.matcher.is_match(path)
    };
    registry.item_route(resource.index).or_else(|| registry.routes.iter().position(leads))
}

/// Whether the hints of rows follow from more of them than their keys.
pub fn depend_on_rows(scope: &Scope, resource: &Resource) -> bool {
    scope.registry.declaration.dialect.target_hints && !is_closed(scope, resource)
}

fn of<'a>(
    scope: &Scope,
    resource: &Resource,
    count: usize,
    readable: bool,
    items: impl FnOnce() -> Vec<HintItem<'a>>,
) -> Result<Vec<Hints>, ApiError> {
    match scope.registry.item_route(resource.index) {
        Some(route) => on_route(scope, resource, &scope.registry.routes[route], count, readable, items),
        None => Ok(vec![Hints::default(); count]),
    }
}

fn on_route<'a>(
    scope: &Scope,
    resource: &Resource,
    route: &Route,
    count: usize,
    readable: bool,
    items: impl FnOnce() -> Vec<HintItem<'a>>,
) -> Result<Vec<Hints>, ApiError> {
    if count == 0 || !scope.registry.declaration.dialect.target_hints {
        return Ok(vec![Hints::default(); count]);
    }
    let asked = HintQuery { resource, route, readable };
    // A capability that the guards find missing is no reason for a refusal of this request.
    let scope = scope.clone();
    if readable && is_closed(&scope, resource) {
        return Ok(vec![asked.hints(|_, endpoint| is_public(endpoint)); count]);
    }
    match items().as_slice() {
        [one] => Ok(vec![asked.of(&scope, one)]),
        many => asked.hints_in_batch(&scope, many),
    }
}

/// Whether the caller may do nothing to a resource but read it: nobody is logged in, and no other action is open to
/// everybody.
pub fn is_closed(scope: &Scope, resource: &Resource) -> bool {
    let open = |(action, name): (&Action, &String)| *action != Action::Read && name.is_empty();
    !scope.principal.is_logged_in() && !resource.capabilities.iter().any(open)
}

/// Whether an endpoint is open to everybody.
pub fn is_public(endpoint: &Endpoint) -> bool {
    GUARDS[endpoint.guard.0].is.anonymous == AnonymousAccess::Always
}

struct HintQuery<'a> {
    resource: &'a Resource,
    route: &'a Route,
    readable: bool,
}

impl HintQuery<'_> {
    fn hints(&self, allows: impl Fn(usize, &Endpoint) -> bool) -> Hints {
        let reads = |endpoint: &Endpoint| self.readable && endpoint.methods.contains(&Method::Get);
        let endpoints = self.route.endpoints.iter().enumerate().take(u32::BITS as usize);
        let allowed = endpoints.filter(|(at, endpoint)| reads(endpoint) || allows(*at, endpoint));
        Hints(allowed.fold(0, |bits, (at, _)| bits | (1 << at)))
    }

    fn of(&self, scope: &Scope, item: &HintItem<'_>) -> Hints {
        let Some(captures) = captures(self.route, &item.path) else { return Hints::default() };
        let query = Map::new();
        let sources = ArgSources { path: &captures, body: &BodyParams::None, query: &query };
        let loaded = item.row.map_or_else(LoadedRows::default, |row| LoadedRows::named(self.resource, row.clone()));
        let usual = endpoint(self.route, Method::Get).map(|read| &read.args);
        self.hints(|_, endpoint| {
            let args = LazyCell::new(|| ArgValues::parse_lenient(&endpoint.args, &sources, usual));
            let (route, method, args) = (self.route, Method::Get, &args);
            let (sources, loaded) = (&sources, &loaded);
            let (given, explains) = (None, false);
            ask(&GuardInput { scope, route, endpoint, method, args, sources, loaded, given, explains }).is_ok()
        })
    }

    /// Each item is decided for itself, but what the guards of all of them read is read together.
    fn hints_in_batch(&self, scope: &Scope, items: &[HintItem<'_>]) -> Result<Vec<Hints>, ApiError> {
        let ahead = Arc::new(BatchedReads::new(scope.storage.clone()));
        let inner = Scope { storage: ahead.clone(), ..scope.clone() };
        let _state = scope.snapshot()?;
        let mut hints = vec![Hints::default(); items.len()];
        let mut left: Vec<usize> = (0..items.len()).collect();
        for _ in 0..ROUNDS {
            let mut later = Vec::new();
            for at in left {
                ahead.begin();
                // A read that is not there yet is no failure to be logged.
                let found = tracing::dispatcher::with_default(&Dispatch::none(), || self.of(&inner, &items[at]));
                if ahead.missed() {
                    later.push(at);
                } else {
                    hints[at] = found;
                }
            }
            left = later;
            if left.is_empty() {
                return Ok(hints);
            }
            ahead.fetch()?;
        }
        for at in left {
            hints[at] = self.of(scope, &items[at]);
        }
        Ok(hints)
    }
}
