//! The engine: everything that requests are served from, and the order in which it is used.
//!
//! [`stages`] is the order; each stage is in a file of its own: `outside` (the caller, the response cache), `routing`,
//! `password`, `endpoint` (arguments, authorization, handler), `allow`, `finish`; `part`, `embed` and `discovery`
//! handle requests inside requests and the documents that describe the service. It is re-entrant and free of transport.
//! The only place where a request waits is a commit, and there it holds no thread. A request keeps the registry that it
//! started with.

mod allow;
pub mod discovery;
pub mod embed;
mod endpoint;
mod finish;
mod outside;
mod part;
mod password;
mod preview;
mod routing;
mod stages;

pub use self::finish::error_reply;

use self::discovery::Discovery;
use self::embed::EmbedCache;
use crate::access::hashing::Hasher;
use crate::access::identity::Identity;
use crate::access::{self, GuardInput, LoadedRows, tokens};
use crate::behaviours::{QUERIES, READS, WRITES, dynamic};
use crate::cache::documents::DocumentCache;
use crate::cache::responses::ResponseCache;
use crate::error::{ApiError, Code, status};
use crate::families::file::MediaServices;
use crate::features::HANDLERS;
use crate::features::abilities::ABILITIES;
use crate::handlers::auto_add::AutoAddMenus;
use crate::handlers::{Outcome, RowTurns, SharedServices};
use crate::model::{Method, Peer, Request, WEBHOOK_DEPTH};
use crate::outbound::Outbound;
use crate::records::Record;
use crate::registry::Registry;
use crate::registry::vocabulary::{HandlerRole, Vocabulary, descriptions};
use crate::request::args::{ArgSources, ArgValues};
use crate::request::route::{self, Router};
use crate::request::{self, BodyParams};
use crate::scope::{Principal, SETTINGS, Scope, Settings, read_settings};
use arc_swap::ArcSwap;
use cms_base::clock::Clock;
use cms_base::metrics::StatusCounters;
use cms_base::pool::JobOwner;
use cms_storage::{Budgeted, ReadBudget, Storage, StorageError};
use serde_json::Map;
use std::sync::Arc;
use std::time::Duration;

/// Most webhooks that a request may say led to it: those of other servers may allow more than this one.
const MOST_DEPTH: i64 = 255;

/// Everything that requests are served from.
pub struct Engine {
    registry: Arc<Registry>,
    router: Router,
    discovery: Discovery,
    storage: Arc<dyn Storage>,
    settings: ArcSwap<Settings>,
    shared: SharedServices,
    responses: ResponseCache,
    embedded: EmbedCache,
    requests: RouteCounts,
    /// See [`cms_declaration::Storage::read_timeout`].
    read_timeout: Option<Duration>,
    clock: Arc<dyn Clock>,
}

/// See [`Engine::reads`].
struct RequestStorage {
    budget: Option<Arc<ReadBudget>>,
    storage: Arc<dyn Storage>,
}

/// The outcome of a call, before it is finished.
pub struct CallOutcome {
    pub result: Result<Outcome, ApiError>,
    /// Methods that this caller may use on this route and object.
    pub allow: Vec<&'static str>,
    /// Position of the route, where there is one.
    pub route: Option<usize>,
    /// The scope of a preview, in which what is linked is embedded. Nothing of it may be cached.
    pub preview: Option<Box<Scope>>,
}

/// Requests from outside by route and class of status.
pub struct RouteCounts {
    routes: Vec<StatusCounters>,
    /// Those that reached no route.
    none: StatusCounters,
}

impl RouteCounts {
    fn new(registry: &Registry) -> RouteCounts {
        RouteCounts {
            routes: registry.routes.iter().map(|_| StatusCounters::default()).collect(),
            none: StatusCounters::default(),
        }
    }

    /// Counts a response.
    fn count(&self, route: Option<usize>, status: u16) {
        route.and_then(|index| self.routes.get(index)).unwrap_or(&self.none).count(status);
    }
}

/// The names that declarations may use.
pub fn vocabulary() -> Vocabulary {
    Vocabulary {
        handlers: descriptions(HANDLERS),
        guards: descriptions(access::GUARDS),
        reads: descriptions(READS),
        writes: descriptions(WRITES),
        queries: descriptions(QUERIES),
        renderers: descriptions(dynamic::MAKERS),
        abilities: descriptions(ABILITIES),
    }
}

/// The root of the project, whose files tests read.
#[cfg(test)]
pub const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The registry of the shipped files, with settings as the command line has them.
#[cfg(test)]
pub fn shipped(sets: &[&str]) -> Registry {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let loaded = cms_config::load::load(None, &sets, []).expect("the shipped files load");
    crate::registry::link::link(&loaded, &vocabulary(), "http://site.example").expect("and link")
}

impl CallOutcome {
    /// A response without an endpoint.
    fn early(result: Result<Outcome, ApiError>) -> CallOutcome {
        CallOutcome { result, allow: Vec::new(), route: None, preview: None }
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
        let [responses, documents] = registry.declaration.cache.shares();
        let embedded = EmbedCache::new(documents / 4);
        let documents = DocumentCache::new(&registry, documents / 4 * 3);
        let responses = ResponseCache::new(responses);
        let outbound = Outbound::new(&registry.declaration.outbound);
        let read_timeout = registry.declaration.storage.read_timeout.get().map(|limit| limit.std());
        Ok(Engine {
            router: Router::new(&registry),
            discovery: Discovery::new(&registry),
            requests: RouteCounts::new(&registry),
            settings: ArcSwap::from_pointee(settings),
            registry,
            storage,
            shared: SharedServices {
                redirects: Default::default(),
                missing: Default::default(),
                identity,
                hasher,
                media,
                documents,
                outbound,
                writes: Arc::default(),
                transactions: Arc::default(),
                menus: AutoAddMenus::default(),
                turns: RowTurns::default(),
                descriptions: Default::default(),
                inside: Default::default(),
            },
            responses,
            embedded,
            read_timeout,
            clock,
        })
    }

    /// Services that handlers use besides the database.
    pub fn shared(&self) -> &SharedServices {
        &self.shared
    }

    /// Verifies and makes credentials.
    pub fn identity(&self) -> &Identity {
        &self.shared.identity
    }

    /// The caches of responses.
    pub fn responses(&self) -> &ResponseCache {
        &self.responses
    }

    /// Documents that were embedded before.
    pub fn embedded(&self) -> &EmbedCache {
        &self.embedded
    }

    /// Responses by route and class of status, those that there were: each route by its pattern, `none` without one.
    pub fn route_counts(&self) -> impl Iterator<Item = (&str, &'static str, u64)> {
        let routes = self.registry.routes.iter().map(|route| &*route.pattern).zip(&self.requests.routes);
        let all = routes.chain([("none", &self.requests.none)]);
        let numbers = |(route, counts): (_, &'_ StatusCounters)| {
            counts.numbers().map(move |(class, n)| (route, class, n)).collect::<Vec<_>>()
        };
        all.flat_map(numbers).filter(|(_, _, count)| *count > 0)
    }

    /// The registry that requests are served from.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// The site's title as it is now.
    pub fn site_title(&self) -> String {
        self.settings(&*self.storage).map(|s| s.text("title").to_owned()).unwrap_or_default()
    }

    /// Most bytes of the body of a request that contains files; `None` when its endpoint takes none, or its guard
    /// refuses this caller. The guard runs once more when the body is there.
    pub async fn admits(&self, request: &Request) -> Option<u64> {
        let method = request::effective_method(request)?;
        let scope = self.anonymous(request).ok()?;
        let matches = self.matches(&request.path, scope.secure());
        let (matched, endpoint) =
            matches.into_iter().find_map(|m| route::endpoint(m.route, method).map(|endpoint| (m, endpoint)))?;
        if !endpoint.file {
            return None;
        }
        let scope = self.scope(request, self.reads(request)).await.ok()?;
        let none = BodyParams::None;
        let sources = ArgSources { path: &matched.captures, body: &none, query: &request.query };
        let args = ArgValues::parse_lenient(&endpoint.args, &sources, None);
        let loaded = LoadedRows::default();
        let route = matched.route;
        let (scope, args, given, explains) = (&scope, &&args, None, false);
        let (sources, loaded) = (&sources, &loaded);
        let input = GuardInput { scope, route, endpoint, method, args, sources, loaded, given, explains };
        let most = self.registry.declaration.media.max_upload.bytes();
        access::ask(&input).ok().map(|_| endpoint.max_upload.map_or(most, |own| own.min(most)))
    }

    /// Whether the caller may read an item by the route at this path, if its row is the given one.
    pub fn lets_read(&self, scope: &Scope, path: &str, record: Record<'_>) -> Result<bool, ApiError> {
        let matches = self.matches(path, scope.secure());
        let found =
            matches.into_iter().find_map(|m| route::endpoint(m.route, Method::Get).map(|endpoint| (m, endpoint)));
        let Some((matched, endpoint)) = found else { return Ok(false) };
        let (none, query) = (BodyParams::None, Map::new());
        let sources = ArgSources { path: &matched.captures, body: &none, query: &query };
        let args = ArgValues::parse_lenient(&endpoint.args, &sources, None);
        let loaded = LoadedRows::with(record.resource, record.row.clone());
        let (route, method, given, explains) = (matched.route, Method::Get, None, false);
        let (args, sources, loaded) = (&&args, &sources, &loaded);
        let input = GuardInput { scope, route, endpoint, method, args, sources, loaded, given, explains };
        match access::ask(&input) {
            Ok(rows) => Ok(rows.missing.is_none()),
            // A row that cannot be read now decides nothing.
            Err(error) if status::is_temporary(error.status()) => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// Whom a request is counted for, by its headers, and whether that is a user. The cookie of a session suffices: the
    /// nonce may be in the body.
    pub async fn sender(&self, request: &Request) -> (JobOwner, bool) {
        let Ok(mut scope) = self.anonymous(request) else { return (JobOwner::network(None), false) };
        let caller = match self.identity().authenticate(&scope, request).await {
            Ok(caller) if caller.is_logged_in() => Some(caller),
            _ => self.identity().session(&scope, request).ok().flatten(),
        };
        scope.principal = caller.unwrap_or_default();
        (scope.source(), scope.principal.is_logged_in())
    }

    /// The scope of a request whose headers name no caller.
    ///
    /// # Errors
    /// The settings cannot be read.
    pub fn anonymous(&self, request: &Request) -> Result<Scope, ApiError> {
        self.anonymous_with(request, self.reads(request))
    }

    /// The database for the reads of one request, and what bounds their time.
    fn reads(&self, request: &Request) -> RequestStorage {
        let budget = self.read_timeout.map(|limit| Arc::new(ReadBudget::new(request.id.clone(), limit)));
        let storage: Arc<dyn Storage> = match &budget {
            Some(budget) => Arc::new(Budgeted::new(self.storage.clone(), budget.clone())),
            None => self.storage.clone(),
        };
        RequestStorage { budget, storage }
    }

    fn anonymous_with(
        &self,
        request: &Request,
        RequestStorage { budget, storage }: RequestStorage,
    ) -> Result<Scope, ApiError> {
        let agent = request.header("user-agent").unwrap_or_default().chars();
        Ok(Scope {
            budget,
            peer: request.peer.clone(),
            agent: agent.take(self.registry.declaration.bounds.max_user_agent).collect::<String>().into(),
            hook_depth: hook_depth(request)?,
            // The next part of a response is a request inside the one that began it.
            depth: u8::from(request.goes_on),
            request_id: request.id.clone(),
            ..self.scope_over(storage, Principal::default())?
        })
    }

    /// The time of requests that begin now, in UTC seconds.
    pub fn now(&self) -> i64 {
        self.clock.now()
    }

    /// The scope of the program's own requests, in the name of a caller whom no credentials name.
    ///
    /// # Errors
    /// The settings cannot be read.
    pub fn scope_of(&self, principal: Principal) -> Result<Scope, ApiError> {
        self.scope_over(self.storage.clone(), principal)
    }

    fn scope_over(&self, storage: Arc<dyn Storage>, principal: Principal) -> Result<Scope, ApiError> {
        Ok(Scope {
            registry: self.registry.clone(),
            settings: self.settings(&*storage)?,
            storage,
            budget: None,
            principal,
            now: self.now(),
            peer: Peer { https: true, ..Peer::default() },
            agent: "".into(),
            hook_depth: 0,
            depth: 0,
            request_id: "".into(),
            tentative: false,
            imported: None,
            tool: false,
            progress: None,
            hashes: Arc::default(),
            preview: None,
        })
    }

    /// The scope of a request from outside, with the caller that its headers name.
    async fn scope(&self, request: &Request, reads: RequestStorage) -> Result<Scope, ApiError> {
        let mut scope = self.anonymous_with(request, reads)?;
        scope.principal = self.identity().authenticate(&scope, request).await?;
        Ok(scope)
    }

    /// Why a request is refused for its token, unless it asks whether that is valid.
    fn token_objection(&self, scope: &Scope, request: &Request) -> Option<ApiError> {
        let objection = tokens::objection(scope)?;
        let asks = |matched: &route::RouteMatch<'_>| matched.route.has_role(HandlerRole::TokenCheck);
        (!self.matches(&request.path, scope.secure()).iter().any(asks)).then_some(objection)
    }

    /// The settings as they are now. `storage` is the engine's own, or bounds how long its reads take.
    fn settings(&self, storage: &dyn Storage) -> Result<Arc<Settings>, ApiError> {
        let current = self.settings.load_full();
        if current.version == storage.scope_version(&SETTINGS) {
            return Ok(current);
        }
        let fresh = Arc::new(read_settings(&self.registry, storage)?);
        self.settings.store(fresh.clone());
        Ok(fresh)
    }
}

/// How many webhooks, one after the other, led to a request, as it says.
fn hook_depth(request: &Request) -> Result<i64, ApiError> {
    let Some(given) = request.header(WEBHOOK_DEPTH) else { return Ok(0) };
    let digits = (1..=3).contains(&given.len()) && given.bytes().all(|byte| byte.is_ascii_digit());
    let depth = given.parse().ok().filter(|depth| digits && (0..=MOST_DEPTH).contains(depth));
    depth.ok_or_else(|| {
        let message = format!(
            "The header Webhook-Depth has to be a number from 0 to {MOST_DEPTH}: send the one of the webhook's request, or none."
        );
        ApiError::new(Code::BadRequest).with_message(message)
    })
}
