//! `Allow`: the methods that a caller may use on a route and what it names.

use crate::access::hints::{is_closed, is_public};
use crate::access::unlock::RecordPassword;
use crate::access::{self, GuardInput, LoadedRows};
use crate::model::Method;
use crate::registry::Endpoint;
use crate::request::args::{ArgSources, ArgValues};
use crate::request::route::RouteMatch;
use crate::scope::Scope;
use std::cell::LazyCell;

/// The input of the guards of a route.
pub(super) struct AllowContext<'a> {
    pub scope: &'a Scope,
    pub matched: &'a RouteMatch<'a>,
    /// The method of the request.
    pub method: Method,
    pub sources: &'a ArgSources<'a>,
    /// The password of a record that the request brings.
    pub given: Option<&'a RecordPassword<'a>>,
}

impl AllowContext<'_> {
    /// Runs the guard of every method of the route on what the request contains, except for the endpoint whose guard
    /// has allowed it already. Absent arguments have the defaults of the called endpoint.
    pub(super) fn allow(
        &self,
        answering: Option<&Endpoint>,
        granted: Option<&Endpoint>,
        loaded: &LoadedRows,
    ) -> Vec<&'static str> {
        let AllowContext { scope, matched, method, sources, given } = *self;
        let mut methods = Vec::new();
        let resource = matched.route.resource.map(|index| &scope.registry.resources[index]);
        let closed = resource.is_some_and(|resource| is_closed(scope, resource));
        // Their guards would only find that out again.
        let refused = |endpoint: &Endpoint| closed && !endpoint.methods.contains(&Method::Get) && !is_public(endpoint);
        for endpoint in &matched.route.endpoints {
            let is_granted = granted.is_some_and(|granted| std::ptr::eq(granted, endpoint));
            if refused(endpoint) && !is_granted {
                continue;
            }
            let args = LazyCell::new(|| ArgValues::parse_lenient(&endpoint.args, sources, answering.map(|e| &e.args)));
            let (route, args) = (matched.route, &args);
            let explains = false;
            let input = GuardInput { scope, route, endpoint, method, args, sources, loaded, given, explains };
            if is_granted || access::ask(&input).is_ok() {
                methods.extend(endpoint.methods.iter().map(|m| m.as_str()));
            }
        }
        methods
    }
}
