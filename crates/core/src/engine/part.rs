//! Requests inside requests: parts of a batch, and requests of handlers and pages to other routes.

use super::allow::AllowContext;
use super::finish::{join_links, reduce};
use super::{CallOutcome, Engine};
use crate::access::LoadedRows;
use crate::error::{ApiError, Code};
use crate::handlers::Dispatcher;
use crate::registry::columns::user::PASSWORD_HASH;
use crate::request::BodyParams;
use crate::request::args::{self, ArgSources};
use crate::request::call::{Call, SubResponse};
use crate::request::route;
use crate::scope::Scope;
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;

impl Engine {
    /// One request inside another; `batch` refuses routes that take no part in batches.
    pub async fn part(&self, scope: &Scope, call: &Call, batch: bool) -> SubResponse {
        let refused = batch.then(|| self.takes_part(call).err()).flatten();
        let call_outcome = match refused {
            None => self.dispatch(scope, call).await,
            Some(error) => CallOutcome { allow: self.allow_refused(scope, call), ..CallOutcome::early(Err(error)) },
        };
        let mut headers = Vec::new();
        if !call_outcome.allow.is_empty() {
            headers.push(("Allow".to_owned(), call_outcome.allow.join(", ")));
        }
        match call_outcome.result {
            Err(error) => {
                headers.extend(error.headers());
                SubResponse { status: error.status(), headers, body: error.body(), version: None }
            }
            Ok(outcome) => {
                headers.extend(outcome.headers);
                let resource = call_outcome.route.and_then(|route| self.resource_of(route));
                let fields = self.fields(resource, |name| call.query.get(name));
                let body = if outcome.reduced { outcome.body } else { reduce(&fields, outcome.body) };
                SubResponse { status: outcome.status, headers: join_links(&headers), body, version: outcome.version }
            }
        }
    }

    /// The methods of the route that a refused part names.
    fn allow_refused(&self, scope: &Scope, call: &Call) -> Vec<&'static str> {
        let Some(matched) = self.router.matches(&self.registry, &call.path).into_iter().next() else {
            return Vec::new();
        };
        let sources = ArgSources { path: &matched.captures, body: &BodyParams::None, query: &call.query };
        let method = call.method;
        let asked = AllowContext { scope, matched: &matched, method, sources: &sources, given: None };
        asked.allow(None, None, &LoadedRows::default())
    }

    fn takes_part(&self, call: &Call) -> Result<(), ApiError> {
        let matches = self.router.matches(&self.registry, &call.path);
        match matches.iter().find_map(|m| route::endpoint(m.route, call.method)) {
            Some(endpoint) if endpoint.batch != Some(true) => Err(ApiError::new(Code::BatchNotAllowed)),
            _ => Ok(()),
        }
    }
}

impl Dispatcher for Engine {
    fn part<'a>(
        &'a self,
        scope: &'a Scope,
        call: &'a Call,
        batch: bool,
    ) -> Pin<Box<dyn Future<Output = SubResponse> + 'a>> {
        Box::pin(Engine::part(self, scope, call, batch))
    }

    fn check_part(&self, call: &Call) -> Result<(), ApiError> {
        self.takes_part(call)?;
        let matches = self.router.matches(&self.registry, &call.path);
        let found = matches.iter().find_map(|m| route::endpoint(m.route, call.method).map(|e| (m, e)));
        let (matched, endpoint) = found.ok_or_else(|| ApiError::new(Code::NoRoute))?;
        let body = call.body.as_ref().unwrap_or(&BodyParams::None);
        let sources = ArgSources { path: &matched.captures, body, query: &call.query };
        args::check(&endpoint.args, &sources, &|_, _| None, &|_| false).map(|_| ())
    }

    fn password<'c>(&self, scope: &Scope, call: &'c Call) -> Option<(String, &'c str)> {
        let Ok(BodyParams::Json(body)) = &call.body else { return None };
        let matches = self.router.matches(&self.registry, &call.path);
        let matched = matches.iter().find(|m| route::endpoint(m.route, call.method).is_some())?;
        let resource = &self.registry.resources[matched.route.resource?];
        let password = resource.property_of_column(PASSWORD_HASH)?;
        let password = body.get(&password.name)?.as_str()?;
        let account = match matched.captures.get(&*resource.key).and_then(Value::as_str) {
            Some(key) => key.to_owned(),
            None if *call.path == *resource.path => String::new(),
            // The other route of an account is the caller's own.
            None => scope.principal.id.to_string(),
        };
        Some((account, password))
    }
}
