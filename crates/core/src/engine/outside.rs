//! Requests from outside: the caller, the response cache, and how a response is sent.

use super::finish::{FinalResponse, error_reply};
use super::stages::Origin;
use super::{CallOutcome, Engine};
use crate::access::authorization_server::AuthorizationServer;
use crate::cache::responses::ResponseKey;
use crate::error::{ApiError, Code, status};
use crate::model::{Method, Reply, Request};
use crate::registry::name;
use crate::request;
use crate::request::call::Call;
use crate::request::conditional::Preconditions;
use crate::scope::Scope;
use cms_declaration::Consistency;
use cms_storage::TrackedStorage;
use std::borrow::Cow;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;

/// The refusal of a request whose credentials are not valid. It names the metadata of the authorization server, where there is one.
fn unidentified(engine: &Engine, error: &ApiError) -> Reply {
    let mut reply = error_reply(error);
    let server = AuthorizationServer::declared(&engine.registry).filter(|_| reply.status == status::UNAUTHORIZED);
    reply.headers.extend(server.map(|server| {
        let more = server.challenge(&engine.registry.site.rest_path, error.code() == Code::TokenInvalid);
        ("WWW-Authenticate".to_owned(), format!("Bearer {more}"))
    }));
    reply
}

/// A request as it was received.
pub(super) struct OuterRequest<'a> {
    request: &'a Request,
    /// A cached response may be used.
    cached: bool,
    /// See [`Call::lines`].
    lines: bool,
    /// The key of its response in the cache, with what has been read for it so far; `None`: it is not cached.
    kept: Option<(ResponseKey<'a>, Arc<TrackedStorage>)>,
}

impl<'a> OuterRequest<'a> {
    pub(super) fn new(request: &'a Request) -> OuterRequest<'a> {
        let lines = request.wants_lines();
        OuterRequest { request, cached: !lines, lines, kept: None }
    }
}

impl<'a> Origin<'a> for OuterRequest<'a> {
    type Answer = Reply;

    async fn identify(&mut self, engine: &Engine) -> ControlFlow<Reply, (Cow<'a, Scope>, Method)> {
        let identified = async {
            let reads = engine.reads(self.request);
            if engine.registry.declaration.cache.consistency == Consistency::Strict {
                reads.storage.catch_up()?;
            } else if !reads.storage.has_commit_listener() {
                self.cached = reads.storage.catch_up().is_ok() && !self.lines;
            }
            let scope = engine.scope(self.request, reads).await?;
            let method = request::effective_method(self.request).ok_or_else(|| ApiError::new(Code::NoRoute))?;
            let objection = engine.identity().objection(&scope, self.request);
            let objection = objection.or_else(|| engine.token_objection(&scope, self.request));
            objection.map_or(Ok((scope, method)), Err)
        };
        match identified.await {
            Ok((scope, method)) => Continue((Cow::Owned(scope), method)),
            Err(error) => {
                engine.requests.count(None, error.status());
                Break(unidentified(engine, &error))
            }
        }
    }

    fn look_up(&mut self, engine: &Engine, scope: &mut Cow<'a, Scope>) -> ControlFlow<Reply> {
        let cache_key = || engine.responses.cache_key(self.request, &scope.principal, scope.now);
        let Some(key) = self.cached.then(cache_key).flatten() else {
            return Continue(());
        };
        if let Some((reply, route)) = engine.responses.get(&key, &*engine.storage) {
            let limits = if key.describes() { &[] } else { engine.limits(route) };
            let counted = engine.identity().throttle().request(scope, limits);
            let reply = counted.map_or_else(|error| error_reply(&error), |()| reply);
            engine.requests.count(route, reply.status);
            return Break(reply);
        }
        let read = Arc::new(TrackedStorage::new(scope.storage.clone()));
        // The settings were read before the reads of this request are tracked, and every response depends on them.
        read.note(name("setting"), scope.settings.version);
        scope.to_mut().storage = read.clone();
        self.kept = Some((key, read));
        Continue(())
    }

    fn decode(&self, engine: &Engine, method: Method) -> Cow<'a, Call> {
        let request = self.request;
        Cow::Owned(Call {
            method,
            path: request.path.clone(),
            query: request.query.clone(),
            raw_query: request.raw_query.clone(),
            body: match engine.registry.declaration.dialect.refuse_unlabelled_json
                && request::is_unlabelled_json(request)
            {
                true => Err(ApiError::new(Code::UnlabelledJson)),
                false => request::body_params(request, engine.registry.declaration.server.max_depth),
            },
            expects: Preconditions::of(|name| request.header(name)),
            text: true,
            lines: method == Method::Get && self.lines,
            custom_fields: Vec::new(),
        })
    }

    async fn finish(self, engine: &Engine, scope: &Scope, call: &Call, call_outcome: CallOutcome) -> Reply {
        let route = call_outcome.route;
        let FinalResponse { mut reply, mut lasting } = engine.finish(scope, call, call_outcome).await;
        let reads = matches!(call.method, Method::Get | Method::Head);
        // The response lacks something: an embedded document, a permission that could not be read.
        let refused = status::is_error(reply.status) && !status::is_server_error(reply.status);
        let incomplete = scope.budget.as_ref().and_then(|budget| {
            let away = (reads || refused) && budget.met_no_database();
            let late = reads && budget.exceeded();
            late.then_some(Code::ReadTimeout).or(away.then_some(Code::StorageReadOnly))
        });
        if let Some(code) = incomplete {
            let ended = CallOutcome::early(Err(ApiError::new(code)));
            FinalResponse { reply, lasting } = engine.finish(scope, call, ended).await;
        }
        reply.headers.extend(engine.identity().fresh_nonce(scope));
        engine.requests.count(route, reply.status);
        match self.kept {
            Some((key, read)) if lasting => engine.responses.put(&key, &read, reply, route),
            _ => reply,
        }
    }
}
