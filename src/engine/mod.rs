//! The order of the stages: receive, parse, authenticate, route, check, authorize, handle, render, finish.
//!
//! Re-entrant and free of transport: embedding and batches dispatch through it. The only place where a request waits
//! is a commit, and there it holds no thread. A request keeps the registry that it started with.

pub mod discovery;
pub mod embed;

use self::discovery::Discovery;
use self::embed::Embedded;
use crate::access::attempts::AttemptOutcome;
use crate::access::hashing::Hasher;
use crate::access::identity::Identity;
use crate::access::unlock::RecordPassword;
use crate::access::{self, Asking, Loaded};
use crate::behaviours::{QUERIES, READS, WRITES, dynamic, judge};
use crate::cache::documents::DocumentCache;
use crate::cache::responses::ResponseCache;
use crate::config::units::{Optional, Size};
use crate::error::{ApiError, Code};
use crate::families::file::MediaServices;
use crate::handlers::{HANDLERS, Outcome, Rendered, Work};
use crate::model::{Method, Payload, Reply, Request};
use crate::outbound::Outbound;
use crate::registry::args::Arg;
use crate::registry::resource::Resource;
use crate::registry::{Registry, Vocabulary, name};
use crate::request::args::{self, Checked, Sources};
use crate::request::conditional::{Expects, http_date};
use crate::request::fields::Fields;
use crate::request::route::{self, Match, Router};
use crate::request::{self, BodyParams};
use crate::scope::{Clock, Scope, Settings, read_settings};
use crate::storage::{Budgeted, ReadBudget, Storage, StorageError, TrackedStorage};
use arc_swap::ArcSwap;
use serde_json::{Map, Value, json};
use std::cell::LazyCell;
use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::time::Duration;

/// Everything that requests are served from.
pub struct Engine {
    registry: Arc<Registry>,
    router: Router,
    discovery: Discovery,
    storage: Arc<dyn Storage>,
    settings: ArcSwap<Settings>,
    identity: Arc<Identity>,
    hasher: Arc<Hasher>,
    media: Arc<MediaServices>,
    documents: DocumentCache,
    responses: ResponseCache,
    embedded: Embedded,
    outbound: Outbound,
    /// See [`crate::config::declaration::Storage::read_timeout`].
    read_timeout: Option<Duration>,
    clock: Arc<dyn Clock>,
}

/// Parameters that change the documents of an answer, or what is around them.
const SHAPING: [&str; 3] = ["_fields", "_envelope", "_highlight"];

/// A request on its way through the stages, from outside or from another request.
pub struct Call {
    pub method: Method,
    pub path: String,
    pub query: Map<String, Value>,
    pub raw_query: String,
    /// Broken bodies are reported only after a route has matched.
    pub body: Result<BodyParams, ApiError>,
    pub expects: Expects,
    /// Whoever asks takes rendered text as well as a document.
    pub text: bool,
}

/// What came of a call, before it is finished.
pub struct Dispatched {
    pub result: Result<Outcome, ApiError>,
    /// Methods that this caller may use on this route and object.
    pub allow: Vec<&'static str>,
}

/// The finished answer of a request inside another.
pub struct Part {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

/// The password of a record that a call brings.
struct PasswordAttempt<'a> {
    given: RecordPassword<'a>,
    /// Whose password it is to be.
    about: String,
    taken: AttemptOutcome,
}

/// The names that declarations may use.
pub fn vocabulary() -> Vocabulary {
    Vocabulary {
        reads: READS.iter().map(|(n, ..)| *n).collect(),
        writes: WRITES.iter().map(|(n, _)| *n).collect(),
        queries: QUERIES.iter().map(|(n, _)| *n).collect(),
        guards: access::GUARDS.iter().map(|(n, _)| *n).collect(),
        handlers: HANDLERS.iter().map(|(n, _)| *n).collect(),
        makers: dynamic::MAKERS.iter().map(|(n, _)| *n).collect(),
    }
}

impl Engine {
    /// Puts an engine together.
    ///
    /// # Errors
    /// The settings cannot be read.
    pub fn new(
        registry: Arc<Registry>,
        storage: Arc<dyn Storage>,
        identity: Arc<Identity>,
        hasher: Arc<Hasher>,
        media: Arc<MediaServices>,
        clock: Arc<dyn Clock>,
    ) -> Result<Engine, StorageError> {
        let settings = read_settings(&registry, &*storage)?;
        let cache = &registry.declaration.cache;
        let bytes = |size: &Optional<Size>| size.get().map_or(0, |size| size.bytes());
        let documents = DocumentCache::new(&registry, bytes(&cache.documents) / 4 * 3);
        let embedded = Embedded::new(bytes(&cache.documents) / 4);
        let responses = ResponseCache::new(bytes(&cache.responses));
        let outbound = Outbound::new(&registry.declaration.outbound);
        let read_timeout = registry.declaration.storage.read_timeout.get().map(|limit| limit.std());
        Ok(Engine {
            router: Router::new(&registry),
            discovery: Discovery::new(&registry),
            settings: ArcSwap::from_pointee(settings),
            registry,
            storage,
            identity,
            hasher,
            media,
            documents,
            responses,
            embedded,
            outbound,
            read_timeout,
            clock,
        })
    }

    /// Verifies and makes credentials.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Documents that were rendered before.
    pub fn documents(&self) -> &DocumentCache {
        &self.documents
    }

    /// Answers that were given before.
    pub fn responses(&self) -> &ResponseCache {
        &self.responses
    }

    /// Documents that were embedded before.
    pub fn embedded(&self) -> &Embedded {
        &self.embedded
    }

    /// HitCounts other sites.
    pub fn outbound(&self) -> &Outbound {
        &self.outbound
    }

    /// Hashes account passwords.
    pub fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    /// Where files live, and who works on pictures.
    pub fn media(&self) -> &Arc<MediaServices> {
        &self.media
    }

    /// Bytes that the body of a request may have when it brings files; `None` when its endpoint takes none, or its guard
    /// does not let this caller through. The guard is asked once more when the body is there.
    pub async fn admits(&self, request: &Request) -> Option<u64> {
        let method = request::effective_method(request)?;
        let matches = self.router.matches(&self.registry, &request.path);
        let (matched, endpoint) =
            matches.into_iter().find_map(|m| route::endpoint(m.route, method).map(|endpoint| (m, endpoint)))?;
        if !endpoint.file {
            return None;
        }
        let scope = self.scope(request).await.ok()?;
        let none = BodyParams::None;
        let sources = Sources { path: &matched.captures, body: &none, query: &request.query };
        let args = Checked::lenient(&endpoint.args, &sources, None);
        let loaded = Loaded::default();
        let route = matched.route;
        let (args, given) = (&&args, None);
        let asking = Asking { scope: &scope, route, endpoint, args, sources: &sources, loaded: &loaded, given };
        access::ask(&asking).ok().map(|_| self.registry.declaration.media.max_upload.bytes())
    }

    /// The registry that requests are served from.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// The discovery documents.
    pub fn discovery(&self) -> &Discovery {
        &self.discovery
    }

    /// The site's title as it is now.
    pub fn site_title(&self) -> String {
        self.settings().map(|s| s.text("title").to_owned()).unwrap_or_default()
    }

    /// Serves one request from outside.
    pub async fn serve(&self, request: Request) -> Reply {
        let mut scope = match self.scope(&request).await {
            Ok(scope) => scope,
            Err(error) => return error_reply(&error),
        };
        let method = match request::effective_method(&request) {
            Some(method) => method,
            None => return error_reply(&ApiError::new(Code::NoRoute)),
        };
        if let Some(error) = self.identity.objection(&scope, &request) {
            return error_reply(&error);
        }
        let question = self.responses.question(&request, &scope.principal, scope.now);
        if let Some(question) = &question
            && let Some(reply) = self.responses.get(question, &*self.storage)
        {
            return reply;
        }
        let observed = question.as_ref().map(|_| Arc::new(TrackedStorage::new(scope.storage.clone())));
        if let Some(observed) = &observed {
            observed.note(name("setting"), scope.settings.version);
            scope.storage = observed.clone();
        }
        let body = request::body_params(&request, self.registry.declaration.server.max_depth);
        let call = Call {
            method,
            path: request.path.clone(),
            query: request.query.clone(),
            raw_query: request.raw_query.clone(),
            body,
            expects: Expects::of(|name| request.header(name)),
            text: true,
        };
        let dispatched = self.dispatch(&scope, &call).await;
        let (mut reply, mut lasting) = self.finish(&scope, &call, dispatched).await;
        let reads = matches!(method, Method::Get | Method::Head);
        if reads && scope.budget.as_ref().is_some_and(|budget| budget.exceeded()) {
            // Whatever came of it lacks something: an embedded document, a right that could not be looked up.
            let ended = Dispatched { result: Err(ApiError::new(Code::ReadTimeout)), allow: Vec::new() };
            (reply, lasting) = self.finish(&scope, &call, ended).await;
        }
        reply.headers.extend(self.identity.fresh_nonce(&scope));
        match (question, observed) {
            (Some(question), Some(observed)) if lasting => self.responses.put(&question, &observed, reply),
            _ => reply,
        }
    }

    /// The scope of a request whose sender says nothing of himself in its headers.
    ///
    /// # Errors
    /// The settings cannot be read.
    pub fn stranger(&self, request: &Request) -> Result<Scope, ApiError> {
        let budget = self.read_timeout.map(|limit| Arc::new(ReadBudget::new(request.id.clone(), limit)));
        Ok(Scope {
            registry: self.registry.clone(),
            storage: match &budget {
                Some(budget) => Arc::new(Budgeted::new(self.storage.clone(), budget.clone())),
                None => self.storage.clone(),
            },
            budget,
            settings: self.settings()?,
            principal: Default::default(),
            now: self.clock.now(),
            peer: request.peer.clone(),
            agent: request
                .header("user-agent")
                .unwrap_or_default()
                .chars()
                .take(self.registry.declaration.bounds.max_user_agent)
                .collect::<String>()
                .into(),
            depth: 0,
            request_id: request.id.clone(),
            tentative: false,
        })
    }

    async fn scope(&self, request: &Request) -> Result<Scope, ApiError> {
        let mut scope = self.stranger(request)?;
        scope.principal = self.identity.authenticate(&scope, request).await?;
        Ok(scope)
    }

    /// The settings as they are now.
    fn settings(&self) -> Result<Arc<Settings>, ApiError> {
        let current = self.settings.load_full();
        if current.version == self.storage.scope_version(&name("setting")) {
            return Ok(current);
        }
        let fresh = Arc::new(read_settings(&self.registry, &*self.storage)?);
        self.settings.store(fresh.clone());
        Ok(fresh)
    }

    /// Stages 4 to 8: route, check, authorize, handle.
    pub async fn dispatch(&self, scope: &Scope, call: &Call) -> Dispatched {
        let matches = self.router.matches(&self.registry, &call.path);
        if call.method == Method::Options {
            return self.describe(scope, call, matches);
        }
        if let Some(outcome) = self.index(scope, call) {
            return Dispatched { result: Ok(outcome), allow: vec!["GET"] };
        }
        let found = matches.into_iter().find_map(|m| route::endpoint(m.route, call.method).map(|e| (m, e)));
        let Some((matched, endpoint)) = found else {
            return Dispatched { result: Err(ApiError::new(Code::NoRoute)), allow: Vec::new() };
        };
        let body = match &call.body {
            Ok(body) => body,
            Err(error) => {
                let none = (&BodyParams::None, &call.query, None);
                let allow = self.allow(scope, &matched, (Some(endpoint), None), none, &Loaded::default());
                return Dispatched { result: Err(error.clone()), allow };
            }
        };
        let tried = match self.try_password(scope, call, &matched, body) {
            Ok(tried) => tried,
            Err(error) => return Dispatched { result: Err(error), allow: Vec::new() },
        };
        let given = tried.as_ref().map(|tried| &tried.given);
        let loaded = Loaded::default();
        let mut result = self.answer(scope, call, &matched, endpoint, (body, given), &loaded).await;
        // A write may have changed what the caller may do, or taken the target away.
        let written = result.as_mut().ok().and_then(|outcome| outcome.written.take());
        let edited = result.as_ref().is_ok_and(|outcome| outcome.edited);
        let fresh =
            written.map_or_else(Loaded::default, |(index, row)| Loaded::with(&self.registry.resources[index], row));
        let reads = matches!(call.method, Method::Get | Method::Head);
        let loaded = if reads { &loaded } else { &fresh };
        let granted = Some(endpoint).filter(|_| reads && result.is_ok());
        // What was written is shown as it is edited, and whoever may not read so has only written.
        let allow = match edited {
            true => {
                let mut query = call.query.clone();
                query.insert("context".into(), "edit".into());
                self.allow(scope, &matched, (Some(endpoint), granted), (body, &query, given), loaded)
            }
            false => self.allow(scope, &matched, (Some(endpoint), granted), (body, &call.query, given), loaded),
        };
        self.tried(scope, tried.as_ref());
        Dispatched { result, allow }
    }

    /// The password of a record that a call brings, counted as a guess until [`Engine::tried`] tells what came of it.
    ///
    /// # Errors
    /// The caller has guessed wrong too often.
    fn try_password<'a>(
        &self,
        scope: &Scope,
        call: &'a Call,
        matched: &'a Match<'_>,
        body: &'a BodyParams,
    ) -> Result<Option<PasswordAttempt<'a>>, ApiError> {
        let sources = Sources { path: &matched.captures, body, query: &call.query };
        let resource = matched.route.resource.map(|index| &self.registry.resources[index]);
        let Some(given) = RecordPassword::of(call.method, resource.map(|r| r.family), &sources) else {
            return Ok(None);
        };
        // Another spelling of one record has places of its own, but whoever asks has few places for all records.
        let of = matched.captures.values().next_back().or_else(|| sources.get("post"));
        let about = format!("{}/{}", resource.map_or("", |r| &*r.name), of.unwrap_or(&Value::Null));
        let taken = self.identity.throttle().guess(scope, &about, given.text)?;
        Ok(Some(PasswordAttempt { given, about, taken }))
    }

    fn tried(&self, scope: &Scope, tried: Option<&PasswordAttempt<'_>>) {
        if let Some(PasswordAttempt { given, about, taken }) = tried {
            self.identity.throttle().guessed(scope, (about, given.text), *taken, given.outcome());
        }
    }

    async fn answer(
        &self,
        scope: &Scope,
        call: &Call,
        matched: &Match<'_>,
        endpoint: &crate::registry::Endpoint,
        (body, given): (&BodyParams, Option<&RecordPassword<'_>>),
        loaded: &Loaded,
    ) -> Result<Outcome, ApiError> {
        let sources = Sources { path: &matched.captures, body, query: &call.query };
        self.names_within(&sources)?;
        let resource = matched.route.resource.map(|index| &self.registry.resources[index]);
        let judge = |arg: &Arg, value: &Value| judge(scope, resource?, arg, value);
        // What a write is decided on is one state; many reads decide without the database.
        let state = if matches!(call.method, Method::Get | Method::Head) { None } else { Some(scope.snapshot()?) };
        let checked = args::check(&endpoint.args, &sources, &judge)?;
        let (route, args) = (matched.route, &&checked);
        let asking = Asking { scope, route, endpoint, args, sources: &sources, loaded, given };
        let allowed = access::allow(&asking, checked.clone())?;
        drop(state);
        let inner_read = scope.depth > 0 && matches!(call.method, Method::Get | Method::Head);
        if !inner_read {
            self.identity.throttle().request(scope, &endpoint.limits)?;
        }
        let fields = Fields::parse(sources.get("_fields"));
        let work = Work {
            scope,
            route: matched.route,
            endpoint,
            allowed: &allowed,
            fields: &fields,
            query: &call.query,
            raw_query: &call.raw_query,
            body,
            path: &call.path,
            expects: &call.expects,
            captures: &matched.captures,
            given,
            engine: self,
            whole: call.text && call.method == Method::Get && SHAPING.iter().all(|name| sources.get(name).is_none()),
        };
        let (_, handler) = HANDLERS[endpoint.handler.0];
        let mut outcome = handler(&work).await?;
        outcome.private |= given.is_some();
        let read = matches!(call.method, Method::Get | Method::Head) && outcome.status == 200;
        if let Some((lifetime, keys)) = &endpoint.cache
            && read
            && !(outcome.private || scope.principal.known())
        {
            outcome.headers.push(("Cache-Control".into(), lifetime.clone()));
            outcome.headers.extend(keys.clone().map(|header| (header, surrogate_keys(resource, &matched.captures))));
        }
        Ok(outcome)
    }

    /// Lists of names that every route takes have no declaration of their own to bound them.
    fn names_within(&self, sources: &Sources<'_>) -> Result<(), ApiError> {
        let most = usize::try_from(self.registry.declaration.bounds.max_items).unwrap_or(usize::MAX);
        for name in ["_fields", "_embed"] {
            let names = match sources.get(name) {
                Some(Value::String(text)) => text.split(',').count(),
                Some(Value::Array(list)) => list.len(),
                _ => 0,
            };
            if names > most {
                return Err(ApiError::invalid_one(name, format!("{name} takes at most {most} names.")));
            }
        }
        Ok(())
    }

    /// One request inside another; `batch` refuses routes that take no part in batches.
    pub async fn part(&self, scope: &Scope, call: &Call, batch: bool) -> Part {
        let refused = batch.then(|| self.takes_part(call).err()).flatten();
        let dispatched = match refused {
            None => self.dispatch(scope, call).await,
            Some(error) => {
                let matched = self.router.matches(&self.registry, &call.path).into_iter().next();
                let none = (&BodyParams::None, &call.query, None);
                let allow = matched.map(|m| self.allow(scope, &m, (None, None), none, &Loaded::default()));
                Dispatched { result: Err(error), allow: allow.unwrap_or_default() }
            }
        };
        let mut headers = Vec::new();
        if !dispatched.allow.is_empty() {
            headers.push(("Allow".to_owned(), dispatched.allow.join(", ")));
        }
        match dispatched.result {
            Err(error) => {
                headers.extend(error.headers());
                Part { status: error.status(), headers, body: error.body() }
            }
            Ok(outcome) => {
                headers.extend(outcome.headers);
                let fields = Fields::parse(call.query.get("_fields"));
                let body = if outcome.reduced { outcome.body } else { reduce(&fields, outcome.body) };
                Part { status: outcome.status, headers: join_links(&headers), body }
            }
        }
    }

    /// What stands against a part of a batch before anything is done.
    ///
    /// # Errors
    /// The route does not exist or takes no part in batches; arguments do not fit.
    pub fn check_part(&self, call: &Call) -> Result<(), ApiError> {
        self.takes_part(call)?;
        let matches = self.router.matches(&self.registry, &call.path);
        let found = matches.iter().find_map(|m| route::endpoint(m.route, call.method).map(|e| (m, e)));
        let (matched, endpoint) = found.ok_or_else(|| ApiError::new(Code::NoRoute))?;
        let none = BodyParams::None;
        let body = call.body.as_ref().unwrap_or(&none);
        let sources = Sources { path: &matched.captures, body, query: &call.query };
        args::check(&endpoint.args, &sources, &|_, _| None).map(|_| ())
    }

    fn takes_part(&self, call: &Call) -> Result<(), ApiError> {
        let matches = self.router.matches(&self.registry, &call.path);
        match matches.iter().find_map(|m| route::endpoint(m.route, call.method)) {
            Some(endpoint) if !endpoint.batch => Err(ApiError::new(Code::BatchNotAllowed)),
            _ => Ok(()),
        }
    }

    /// The root and the namespaces, which every registry has.
    fn index(&self, scope: &Scope, call: &Call) -> Option<Outcome> {
        if !matches!(call.method, Method::Get | Method::Head) {
            return None;
        }
        if call.path == "/" || call.path.is_empty() {
            let authentication = self.identity.describe(scope);
            return Some(indexed(call, discovery::root(scope, &self.discovery, authentication)));
        }
        let path = call.path.trim_matches('/');
        let namespace = self.registry.namespaces.iter().find(|n| n.eq_ignore_ascii_case(path))?;
        Some(indexed(call, discovery::namespace(scope, &self.discovery, namespace)))
    }

    fn describe(&self, scope: &Scope, call: &Call, matches: Vec<Match<'_>>) -> Dispatched {
        if let Some(matched) = matches.into_iter().next() {
            let document = self.discovery.options(scope, matched.index, &call.path);
            let none = BodyParams::None;
            let body = call.body.as_ref().unwrap_or(&none);
            let tried = match self.try_password(scope, call, &matched, body) {
                Ok(tried) => tried,
                Err(error) => return Dispatched { result: Err(error), allow: Vec::new() },
            };
            let brought = (body, &call.query, tried.as_ref().map(|tried| &tried.given));
            let allow = self.allow(scope, &matched, (None, None), brought, &Loaded::default());
            self.tried(scope, tried.as_ref());
            return Dispatched { result: Ok(Outcome::ok(document)), allow };
        }
        match self.discovery.index_options(&call.path) {
            Some(document) => Dispatched { result: Ok(Outcome::ok(document)), allow: vec!["GET"] },
            None if self.registry.declaration.dialect.options_without_route => {
                Dispatched { result: Ok(Outcome::ok(json!([]))), allow: Vec::new() }
            }
            None => Dispatched { result: Err(ApiError::new(Code::NoRoute)), allow: Vec::new() },
        }
    }

    /// HitCounts the guard of every method of the route with what the request brings, but for the endpoint whose guard has
    /// said yes already.
    fn allow(
        &self,
        scope: &Scope,
        matched: &Match<'_>,
        (answering, granted): (Option<&crate::registry::Endpoint>, Option<&crate::registry::Endpoint>),
        (body, query, given): (&BodyParams, &Map<String, Value>, Option<&RecordPassword<'_>>),
        loaded: &Loaded,
    ) -> Vec<&'static str> {
        let sources = Sources { path: &matched.captures, body, query };
        let mut methods = Vec::new();
        for endpoint in &matched.route.endpoints {
            let args = LazyCell::new(|| Checked::lenient(&endpoint.args, &sources, answering.map(|e| &e.args)));
            let asking =
                Asking { scope, route: matched.route, endpoint, args: &args, sources: &sources, loaded, given };
            if granted.is_some_and(|granted| std::ptr::eq(granted, endpoint)) || access::ask(&asking).is_ok() {
                methods.extend(endpoint.methods.iter().map(|m| m.as_str()));
            }
        }
        methods
    }

    /// Stage 9: headers, fields, embedding, envelope, entity tag. Also tells whether the answer may be kept.
    async fn finish(&self, scope: &Scope, call: &Call, dispatched: Dispatched) -> (Reply, bool) {
        let (private, version, modified) = match &dispatched.result {
            Ok(outcome) => (outcome.private, outcome.version, outcome.modified),
            Err(_) => (false, None, None),
        };
        let failed = dispatched.result.as_ref().is_err_and(|error| error.status() >= 500);
        let mut reply = self.shaped(scope, call, dispatched).await;
        if private {
            reply.headers.push(("Cache-Control".into(), "private, no-store".into()));
        }
        reply.headers.extend(modified.map(|modified| ("Last-Modified".to_owned(), http_date(modified))));
        if reply.status == 200 && call.method == Method::Get {
            if let Payload::Json(document) = &reply.payload {
                reply.payload = Payload::Text(document.to_string().into_bytes());
            }
            if let Payload::Text(text) = &reply.payload {
                reply.headers.push(("ETag".into(), entity_tag(version, text)));
            }
        } else if let Some(version) = version {
            reply.headers.push(("ETag".into(), format!("\"{version}\"")));
        }
        (reply, !private && !failed)
    }

    async fn shaped(&self, scope: &Scope, call: &Call, dispatched: Dispatched) -> Reply {
        let mut headers = Vec::new();
        if !dispatched.allow.is_empty() {
            headers.push(("Allow".to_owned(), dispatched.allow.join(", ")));
        }
        let none = BodyParams::None;
        let body = call.body.as_ref().unwrap_or(&none);
        let empty = Map::new();
        let sources = Sources { path: &empty, body, query: &call.query };
        let (status, mut document) = match dispatched.result {
            Err(error) => {
                headers.extend(error.headers());
                (error.status(), error.body())
            }
            Ok(outcome) => {
                headers.extend(outcome.headers);
                let headers = || join_links(&headers);
                if let Some((media_type, bytes)) = outcome.other {
                    return Reply {
                        status: outcome.status,
                        headers: headers(),
                        payload: Payload::Other { media_type, bytes },
                    };
                }
                let mut document = outcome.body;
                if outcome.text.is_none() && !outcome.reduced {
                    let fields = Fields::parse(sources.get("_fields"));
                    document = match call.method {
                        // Links are a member of a description like any other.
                        Method::Options => fields.keep(document),
                        _ => reduce(&fields, document),
                    };
                }
                let wanted = embed::wanted(sources.get("_embed"));
                let rendered = outcome.text.or_else(|| wanted.as_ref().map(|_| Rendered::of(&document)));
                if let Some(rendered) = rendered {
                    let text = match &wanted {
                        Some(wanted) => embed::embed(self, scope, &rendered, wanted).await,
                        None => rendered.text(),
                    };
                    if call.method != Method::Head && sources.get("_envelope").is_none() {
                        return Reply { status: outcome.status, headers: headers(), payload: Payload::Text(text) };
                    }
                    document = serde_json::from_slice(&text).unwrap_or_default();
                }
                (outcome.status, document)
            }
        };
        if call.method == Method::Head {
            let status = if sources.get("_envelope").is_some() { 200 } else { status };
            return Reply { status, headers: join_links(&headers), payload: Payload::Empty };
        }
        if sources.get("_envelope").is_some() {
            let shown: Map<String, Value> = join_links(&headers)
                .into_iter()
                .map(|(name, value)| (name, value.parse::<i64>().map_or_else(|_| json!(value), |n| json!(n))))
                .collect();
            document = json!({"body": document, "status": status, "headers": shown});
            return Reply { status: 200, headers: Vec::new(), payload: Payload::Json(document) };
        }
        Reply { status, headers: join_links(&headers), payload: Payload::Json(document) }
    }
}

/// What an answer shows, for caches that can be told to forget it: its collection, and the item where it is one.
fn surrogate_keys(resource: Option<&Resource>, captures: &Map<String, Value>) -> String {
    let Some(resource) = resource else { return "site".to_owned() };
    match captures.values().next_back() {
        Some(Value::String(key)) => format!("{} {}/{key}", resource.name, resource.name),
        Some(key) => format!("{} {}/{key}", resource.name, resource.name),
        None => resource.name.clone(),
    }
}

/// An index without what was not asked for. Its links always come.
fn indexed(call: &Call, mut document: Value) -> Outcome {
    let links = document.as_object_mut().and_then(|map| map.shift_remove("_links"));
    let mut document = Fields::parse(call.query.get("_fields")).keep(document);
    if let Some(map) = document.as_object_mut() {
        map.extend(links.map(|links| ("_links".to_owned(), links)));
    }
    Outcome { reduced: true, ..Outcome::ok(document) }
}

/// Leaves out what was not asked for, of a document or of each in a list.
fn reduce(fields: &Fields, document: Value) -> Value {
    match document {
        Value::Array(list) => Value::Array(list.into_iter().map(|d| fields.keep(d)).collect()),
        document => fields.keep_alone(document),
    }
}

/// The version of the row and a digest of the text: equal tags are equal bytes, and writes can be held to the version.
fn entity_tag(version: Option<i64>, text: &[u8]) -> String {
    // The same in every process of one build: tags outlive a restart.
    let digest = foldhash::quality::FixedState::with_seed(0).hash_one(text);
    match version {
        Some(version) => format!("\"{version}-{digest:016x}\""),
        None => format!("\"{digest:016x}\""),
    }
}

/// `Link` headers travel as one.
fn join_links(headers: &[(String, String)]) -> Vec<(String, String)> {
    let mut joined: Vec<(String, String)> = Vec::new();
    for (name, value) in headers {
        match joined.iter_mut().find(|(n, _)| n == name && n == "Link") {
            Some((_, links)) => {
                links.push_str(", ");
                links.push_str(value);
            }
            None => joined.push((name.clone(), value.clone())),
        }
    }
    joined
}

/// A reply that is an error and nothing else.
pub fn error_reply(error: &ApiError) -> Reply {
    Reply { status: error.status(), headers: error.headers(), payload: Payload::Json(error.body()) }
}
