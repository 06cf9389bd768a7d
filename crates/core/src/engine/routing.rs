//! The endpoint of a call. The root, the namespaces and OPTIONS have none and are handled here.

use super::allow::AllowContext;
use super::password::PasswordAttempt;
use super::{CallOutcome, Engine, discovery};
use crate::access::LoadedRows;
use crate::error::{ApiError, Code};
use crate::handlers::Outcome;
use crate::model::Method;
use crate::registry::Endpoint;
use crate::registry::resource::Resource;
use crate::request::BodyParams;
use crate::request::args::ArgSources;
use crate::request::call::Call;
use crate::request::route::{self, RouteMatch};
use crate::scope::Scope;
use serde_json::{Value, json};
use std::ops::ControlFlow::{self, Break, Continue};

/// A call with its endpoint.
pub(super) struct RoutedCall<'a> {
    pub engine: &'a Engine,
    pub scope: &'a Scope,
    pub call: &'a Call,
    pub matched: RouteMatch<'a>,
    pub endpoint: &'a Endpoint,
    pub body: &'a BodyParams,
}

impl Engine {
    /// The endpoint of a call.
    pub(super) fn route<'a>(&'a self, scope: &'a Scope, call: &'a Call) -> ControlFlow<CallOutcome, RoutedCall<'a>> {
        let matches = self.matches(&call.path, scope.secure());
        if call.method == Method::Options {
            return Break(self.describe(scope, call, matches));
        }
        if let Some(outcome) = self.index(scope, call) {
            return Break(CallOutcome { result: Ok(outcome), allow: vec!["GET"], route: None, preview: None });
        }
        let found = matches.into_iter().find_map(|m| route::endpoint(m.route, call.method).map(|e| (m, e)));
        let Some((matched, endpoint)) = found else {
            return Break(CallOutcome::early(Err(ApiError::new(Code::NoRoute))));
        };
        match &call.body {
            Ok(body) => Continue(RoutedCall { engine: self, scope, call, matched, endpoint, body }),
            Err(error) => {
                let sources = ArgSources { path: &matched.captures, body: &BodyParams::None, query: &call.query };
                let method = call.method;
                let asked = AllowContext { scope, matched: &matched, method, sources: &sources, given: None };
                let allow = asked.allow(Some(endpoint), None, &LoadedRows::default());
                Break(CallOutcome { result: Err(error.clone()), allow, route: Some(matched.index), preview: None })
            }
        }
    }

    /// The routes that a path names, as far as they exist for the request.
    pub(super) fn matches(&self, path: &str, secure: bool) -> Vec<RouteMatch<'_>> {
        let mut matches = self.router.matches(&self.registry, path);
        matches.retain(|matched| secure || !matched.route.secure_context);
        matches
    }

    /// Positions of the declared limits that count a read of a route.
    pub(super) fn limits(&self, route: Option<usize>) -> &[usize] {
        let read = route.and_then(|index| route::endpoint(&self.registry.routes[index], Method::Get));
        read.map_or(&[], |endpoint| &endpoint.limits)
    }

    /// The root and the namespaces, which every registry has.
    fn index(&self, scope: &Scope, call: &Call) -> Option<Outcome> {
        if !matches!(call.method, Method::Get | Method::Head) {
            return None;
        }
        if call.path == "/" || call.path.is_empty() {
            let authentication = self.identity().describe(scope);
            return Some(indexed(self, call, discovery::root(scope, authentication)));
        }
        let path = call.path.trim_matches('/');
        let namespace = self.registry.namespaces.iter().find(|n| n.eq_ignore_ascii_case(path))?;
        Some(indexed(self, call, discovery::namespace(scope, namespace)))
    }

    /// OPTIONS.
    fn describe(&self, scope: &Scope, call: &Call, matches: Vec<RouteMatch<'_>>) -> CallOutcome {
        if let Some(matched) = matches.into_iter().next() {
            let text = self.discovery.options(scope, matched.index, &call.path);
            let text = discovery::for_caller(scope, matched.route, text);
            let body = call.body.as_ref().unwrap_or(&BodyParams::None);
            let sources = ArgSources { path: &matched.captures, body, query: &call.query };
            let tried = match self.try_password(scope, &matched, &sources) {
                Ok(tried) => tried,
                Err(error) => return CallOutcome::early(Err(error)),
            };
            let given = tried.as_ref().map(|tried| &tried.given);
            let method = call.method;
            let asked = AllowContext { scope, matched: &matched, method, sources: &sources, given };
            let allow = asked.allow(None, None, &LoadedRows::default());
            self.report_password(scope, tried.as_ref());
            let outcome = match sources.get("_fields") {
                Some(_) => Outcome::ok(serde_json::from_str(&text).unwrap_or_default()),
                None => Outcome::of_text(text.into_bytes()),
            };
            let outcome = Outcome { private: given.is_some(), ..outcome };
            return CallOutcome { result: Ok(outcome), allow, route: Some(matched.index), preview: None };
        }
        match discovery::index_options(&self.registry, &call.path) {
            Some(document) => {
                CallOutcome { result: Ok(Outcome::ok(document)), allow: vec!["GET"], route: None, preview: None }
            }
            None if self.registry.declaration.dialect.options_without_route => {
                CallOutcome::early(Ok(Outcome::ok(json!([]))))
            }
            None => CallOutcome::early(Err(ApiError::new(Code::NoRoute))),
        }
    }
}

impl RoutedCall<'_> {
    /// The sources of arguments of the call.
    pub(super) fn sources(&self) -> ArgSources<'_> {
        ArgSources { path: &self.matched.captures, body: self.body, query: &self.call.query }
    }

    /// The route's resource.
    pub(super) fn resource(&self) -> Option<&Resource> {
        self.matched.route.resource.map(|index| &self.engine.registry.resources[index])
    }

    /// The record password of the call, counted as a guess.
    pub(super) fn count_password(&self) -> ControlFlow<CallOutcome, Option<PasswordAttempt<'_>>> {
        match self.engine.try_password(self.scope, &self.matched, &self.sources()) {
            Ok(attempt) => Continue(attempt),
            Err(error) => Break(CallOutcome::early(Err(error))),
        }
    }
}

/// An index without what was not requested.
fn indexed(engine: &Engine, call: &Call, document: Value) -> Outcome {
    let kept = engine.fields(None, |name| call.query.get(name)).select_single(document);
    Outcome { reduced: true, ..Outcome::ok(kept) }
}
