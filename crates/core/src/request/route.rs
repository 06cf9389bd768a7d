//! Finds the routes that a path names.
//!
//! Contract: routes are tried in registration order, in any case; a route without the method is skipped; the end is
//! 404, never 405 (EXEMPLARS, contract fact 2).

use crate::model::Method;
use crate::registry::{Endpoint, Registry, Route};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Routes by their literal beginning, so that a request tries only a few patterns.
pub struct Router {
    /// Literal routes by their path in lower case.
    literal: HashMap<String, Vec<usize>>,
    /// Pattern routes by their first literal segments in lower case.
    patterns: HashMap<String, Vec<usize>>,
    /// Pattern routes whose first segments are no literals.
    loose: Vec<usize>,
}

/// A route that matches, with the values of its captures.
pub struct RouteMatch<'r> {
    pub index: usize,
    pub route: &'r Route,
    pub captures: Map<String, Value>,
}

impl Router {
    /// Sorts the routes of a registry.
    pub fn new(registry: &Registry) -> Router {
        let mut router = Router { literal: HashMap::new(), patterns: HashMap::new(), loose: Vec::new() };
        for (index, route) in registry.routes.iter().enumerate() {
            // A dot alone (`oembed/1.0`, `openapi.json`) is no pattern to people.
            match route.pattern.find(|c: char| "()[]{}?*+\\|^$".contains(c)) {
                None => router.literal.entry(route.pattern.to_lowercase()).or_default().push(index),
                Some(at) => match head(&route.pattern[..at]) {
                    Some(head) => router.patterns.entry(head.to_lowercase()).or_default().push(index),
                    None => router.loose.push(index),
                },
            }
        }
        router
    }

    /// The routes that the path names, in registration order.
    pub fn matches<'r>(&self, registry: &'r Registry, path: &str) -> Vec<RouteMatch<'r>> {
        let lower = path.to_lowercase();
        let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
        let lower = if lower.len() > 1 { lower.trim_end_matches('/') } else { &lower };
        let mut candidates: Vec<usize> = self.literal.get(lower).cloned().unwrap_or_default();
        candidates.extend(&self.loose);
        let mut end = 0;
        while let Some(next) = lower[end..].char_indices().skip(1).find(|(_, c)| *c == '/').map(|(i, _)| end + i) {
            candidates.extend(self.patterns.get(&lower[..next]).into_iter().flatten());
            end = next;
        }
        candidates.extend(self.patterns.get(lower).into_iter().flatten());
        candidates.sort_unstable();
        candidates.into_iter().filter_map(|index| matched(&registry.routes[index], index, path)).collect()
    }
}

/// The endpoint of a route that answers a method; HEAD falls back to GET.
pub fn endpoint(route: &Route, method: Method) -> Option<&Endpoint> {
    let find = |wanted| route.endpoints.iter().find(|e| e.methods.contains(&wanted));
    find(method).or_else(|| if method == Method::Head { find(Method::Get) } else { None })
}

/// The whole segments at the start of a pattern.
fn head(literal: &str) -> Option<&str> {
    let end = literal.rfind('/')?;
    (end > 0).then(|| &literal[..end])
}

fn matched<'r>(route: &'r Route, index: usize, path: &str) -> Option<RouteMatch<'r>> {
    captures(route, path).map(|captures| RouteMatch { index, route, captures })
}

/// The values of a route's captures in a path; `None` when the path is not one of the route.
pub fn captures(route: &Route, path: &str) -> Option<Map<String, Value>> {
    let mut captures = Map::new();
    if route.captures.is_empty() {
        return route.matcher.is_match(path).then_some(captures);
    }
    let found = route.matcher.captures(path)?;
    for name in &route.captures {
        if let Some(value) = found.name(name) {
            let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
            captures.insert(name.clone(), Value::String(text));
        }
    }
    Some(captures)
}
