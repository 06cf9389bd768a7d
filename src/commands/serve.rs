//! Serving: boot, listen, follow changes of the declarations.

use super::CONFIG;
use super::reload::{self, ConfigWatcher, ProcessStatus, ServerProcess};
use crate::backup;
use crate::boot::{self, BootError, ConfigSource, Secret, Services};
use crate::events::{self, EventHost, EventHub};
use crate::export;
use crate::mailer::{MailContext, Mailer};
use crate::mcp::{self, Mcp, McpReply};
use crate::pages::Pages;
use crate::scheduler::Scheduler;
use crate::webhooks::{self, WebhookContext, WebhookSender};
use cms_base::metrics::Reading;
use cms_base::platform;
use cms_config::load::{LoadedDeclaration, attempt, environment};
use cms_config::source::Origin;
use cms_config::{shipped, watch};
use cms_core::access::outbox;
use cms_core::engine::{Engine, error_reply};
use cms_core::families::file;
use cms_core::files::Files;
use cms_core::http::{
    self, BodySender, EdgeConfig, EdgeResponse, Listeners, PathLimits, ResponseFuture, Service, ServiceSwap,
    StreamFuture,
};
use cms_core::log;
use cms_core::model::{EventQuery, Payload, Reply, Request, StopSignal};
use cms_core::registry::Registry;
use cms_core::scope::read_settings;
use cms_core::xmlrpc::Rpc;
use cms_declaration::Workers;
use cms_declaration::units;
use cms_storage::Database;
use cms_storage::place::Place;
use cms_storage::plan::Name;
use cms_storage::sqlite::{Claim, Sqlite};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Between two sweeps of files without a record.
const SWEEP_PAUSE: Duration = Duration::from_secs(600);

/// How often a process that does not lead looks whether it does.
const FOLLOWER_PAUSE: Duration = Duration::from_secs(1);

/// How long the end of the program waits for a message that is being sent.
const POSTING: Duration = Duration::from_secs(5);

/// How long the end of the program waits for the database.
const CLOSING: Duration = Duration::from_secs(10);

/// An engine with the facts that its transport needs.
struct SiteService {
    engine: Arc<Engine>,
    /// XML-RPC and its path, unless it is off.
    calls: Option<(String, Rpc)>,
    mcp: Mcp,
    pages: Pages,
    hub: Arc<EventHub>,
    storage: Arc<dyn Database>,
    status: Arc<ProcessStatus>,
    facts: EdgeConfig,
}

impl mcp::McpHost for SiteService {
    fn mcp(&self) -> &Mcp {
        &self.mcp
    }
}

impl EventHost for SiteService {
    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn hub(&self) -> &EventHub {
        &self.hub
    }
}

impl Service for SiteService {
    fn call<'a>(&'a self, request: &'a Request) -> Pin<Box<dyn Future<Output = Reply> + 'a>> {
        Box::pin(async {
            let reply = self.engine.serve(request).await;
            match reply.payload {
                Payload::Export(query) => match export::piece(&self.engine, &query) {
                    Ok(payload) => Reply { payload, ..reply },
                    Err(error) => error_reply(&error),
                },
                payload => Reply { payload, ..reply },
            }
        })
    }

    fn admits<'a>(&'a self, request: &'a Request) -> Pin<Box<dyn Future<Output = Option<u64>> + 'a>> {
        Box::pin(self.engine.admits(request))
    }

    fn files(&self) -> Option<&Arc<Files>> {
        Some(&self.engine.shared().media.files)
    }

    fn sender<'a>(&'a self, request: &'a Request) -> Pin<Box<dyn Future<Output = BodySender> + 'a>> {
        Box::pin(async {
            let (owner, known) = self.engine.sender(request).await;
            BodySender { owner, known }
        })
    }

    fn serves(&self, path: &str, reads: bool) -> Option<PathLimits> {
        let all = |most: usize| PathLimits { most, unknown: most };
        // A call brings its credentials inside. One that is too large gets a fault, which needs the call's body to have been
        // read.
        let called =
            self.calls.as_ref().filter(|(own, _)| own == path).map(|_| all(self.facts.server.max_body.as_usize()));
        let messages = || {
            let most = self.engine.registry().declaration.mcp.max_body.as_usize();
            let unknown = most.min(self.facts.server.max_anonymous_body.as_usize());
            self.mcp.serves(path).then_some(PathLimits { most, unknown })
        };
        called.or_else(messages).or_else(|| self.pages.serves(path, reads).then(|| all(self.pages.max_body())))
    }

    fn serve_other_path<'a>(&'a self, request: Request) -> Pin<Box<dyn Future<Output = Reply> + 'a>> {
        Box::pin(async move {
            match &self.calls {
                Some((own, calls)) if *own == request.path => calls.serve(&self.engine, request).await,
                _ => self.pages.serve(&self.engine, request).await,
            }
        })
    }

    fn elsewhere_streamed(self: Arc<Self>, request: Request, endings: StopSignal) -> ResponseFuture {
        Box::pin(async move {
            if !self.mcp.serves(&request.path) {
                return EdgeResponse::Reply(self.serve_other_path(request).await);
            }
            match mcp::serve(self, request, endings).await {
                McpReply::Reply(reply) => EdgeResponse::Reply(reply),
                McpReply::Stream(headers, stream) => EdgeResponse::Stream(headers, stream),
            }
        })
    }

    fn open_stream(self: Arc<Self>, request: Request, query: EventQuery, endings: StopSignal) -> StreamFuture {
        Box::pin(events::serve(self, request, query, endings))
    }

    fn not_found(&self) -> Reply {
        self.pages.not_found(&self.facts.rest_url)
    }

    fn facts(&self) -> &EdgeConfig {
        &self.facts
    }

    fn health(&self) -> Result<String, String> {
        let read = self.storage.snapshot().and_then(|snapshot| snapshot.setting(&Name::from("site")));
        match read {
            Ok(_) => {
                let refused = self.storage.refuses_writes().map(|why| format!("writes are refused: {why}"));
                let lines = refused.into_iter().chain(self.storage.disagreements());
                Ok(self.status.warnings() + &lines.map(|line| format!("{line}\n")).collect::<String>())
            }
            Err(error) => Err(format!("the database cannot be read: {error}")),
        }
    }

    fn readings(&self) -> Vec<Reading> {
        let (responses, embedded) = (self.engine.responses(), self.engine.embedded());
        let documents = &self.engine.shared().documents;
        let mut readings = self.storage.readings();
        readings.extend(self.status.readings());
        readings.push(Reading::info("cms_server_node", &[self.facts.server.node.get().map_or("", String::as_str)]));
        for (name, counts, bytes) in [
            ("responses", responses.hit_counts(), responses.bytes()),
            ("embedded", embedded.hit_counts(), embedded.bytes()),
            ("documents", documents.hit_counts(), documents.bytes()),
        ] {
            let [hits, misses] = counts.numbers();
            readings.push(Reading::count("cms_server_cache_hits", &[name], hits));
            readings.push(Reading::count("cms_server_cache_misses", &[name], misses));
            readings.push(Reading::gauge("cms_server_cache_bytes", &[name], bytes as f64));
        }
        let failed = self.engine.identity().failed_logins();
        readings.push(Reading::count("cms_server_failed_logins", &["password"], failed.passwords.get()));
        readings.push(Reading::count("cms_server_failed_logins", &["app_password"], failed.app_passwords.get()));
        readings.push(Reading::gauge("cms_server_event_streams", &[], self.hub.open.taken() as f64));
        let pictures = self.engine.shared().media.pool.waiting();
        readings.push(Reading::gauge("cms_server_pictures_waiting", &[], pictures as f64));
        if let Ok(files) = self.storage.snapshot().and_then(|snapshot| file::waiting(&*snapshot)) {
            readings.push(Reading::gauge("cms_server_files_waiting", &[], files as f64));
        }
        if let Ok(messages) = self.storage.snapshot().and_then(|snapshot| outbox::waiting(&*snapshot, None)) {
            readings.push(Reading::gauge("cms_server_mail_waiting", &[], messages as f64));
        }
        let by_route = |(route, class, count)| Reading::count("cms_server_http_route_requests", &[route, class], count);
        readings.extend(self.engine.route_counts().map(by_route));
        readings
    }
}

/// Serves until the process is stopped.
///
/// # Errors
/// Anything that is wrong with the declarations, the address or the database; nothing is left half-started.
pub fn serve(source: &ConfigSource) -> Result<(), BootError> {
    let start = Instant::now();
    platform::outlive_file_limits().map_err(|e| BootError::Other(format!("signals cannot be handled: {e}")))?;
    let (outcome, files) = load(source);
    let loaded = outcome?;
    log::start(&loaded.declaration.log);
    let server = loaded.declaration.server.clone();
    let listeners = Listeners::open(&server).map_err(|e| BootError::Other(e.to_string()))?;
    let address = listeners.host();
    let place = boot::place(&loaded.declaration)?;
    let _claim = place.file().and_then(claim);
    // The log is read in parallel with the linking, calls of the user's are checked in parallel with the opening.
    let (recovered, registry) = thread::scope(|beside| {
        let recovered = beside.spawn(|| place.file().map(Sqlite::recover));
        let registry = boot::registry(&loaded, &address);
        (recovered.join().ok(), registry)
    });
    let registry = registry?;
    let (calls, services) = thread::scope(|beside| {
        let calls = beside.spawn(|| boot::calls(&loaded));
        let services = seeded(&registry);
        (calls.join(), services)
    });
    let calls = calls.map_err(|_| BootError::Other("the calls could not be compiled".into()))??;
    let services = services?;
    drop(recovered);
    let fixed = reload::fixed(&loaded);
    let layout = registry.layout.clone();
    let (sweeper, orphan_timeout) = (services.clone(), registry.declaration.media.orphan_timeout);
    let registry = Arc::new(registry);
    let scheduler = Scheduler::start(registry.clone(), &services)?;
    let backups = backup::start(&registry.declaration.backup, place.file(), &services)?;
    let mailer = Arc::new(Mailer::start(MailContext::new(registry.clone(), &services)?)?);
    let status = Arc::new(ProcessStatus::new(scheduler.progress().clone(), backups, mailer.progress().clone()));
    let insight = ServerProcess::new(services.storage.clone(), &status, &loaded);
    // Of the places of declarations no others are needed any more.
    drop(loaded);
    let (site, hooks) = self::site(&services, calls, registry.clone(), insight)?;
    let site = Arc::new(ServiceSwap::new(site));
    let webhooks = Arc::new(WebhookSender::start(hooks, status.webhooks.clone())?);
    let rest_url = site.load().facts().rest_url.clone();
    let current = Arc::new(Mutex::new((layout, services)));
    let follower = ConfigWatcher {
        source: source.clone(),
        current: current.clone(),
        site: site.clone(),
        scheduler,
        mailer: mailer.clone(),
        webhooks: webhooks.clone(),
        address,
        status,
        certificates: listeners.tls.clone(),
        fixed,
    };
    let watched = if server.watch { files } else { Vec::new() };
    let _watch = watch::watch(watched, move || follower.reload())
        .map_err(|e| BootError::Other(format!("cannot follow the declarations: {e}")))?;
    start_sweeper(sweeper, orphan_timeout)?;
    let welcome = welcome(&registry, source);
    let ready = || {
        log::notice(&format!("ready in {} ms: {rest_url}/", start.elapsed().as_millis()));
        log::notice(&welcome);
        http::notify_ready();
        give_back();
    };
    http::run(site, listeners, http::termination(), ready).map_err(|e| BootError::Other(e.to_string()))?;
    http::notify_stopping();
    close((&mailer, &webhooks), &*current.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).1.storage);
    Ok(())
}

/// Gives the system the memory that only reading declarations has used: files, their trees, their grammar. An idle program does so
/// by itself only when it allocates again.
pub(super) fn give_back() {
    // SAFETY: the function has no precondition, and may be called from any thread at any time.
    unsafe { libmimalloc_sys::mi_collect(true) }
}

/// Ends what works beside the requests; the writer last, since the others write.
fn close((mailer, webhooks): (&Mailer, &WebhookSender), storage: &dyn Database) {
    mailer.finish(POSTING);
    webhooks.finish(POSTING);
    if let Err(error) = storage.close(CLOSING) {
        tracing::warn!("the write-ahead log is not in the database yet, the next start reads it: {error}");
    }
}

/// The next steps for a person who has started the server.
fn welcome(registry: &Registry, source: &ConfigSource) -> String {
    let (pages, site) = (&registry.declaration.pages, &registry.site.url);
    let console = &registry.declaration.console;
    let mut lines = Vec::new();
    match (pages.enabled, console.enabled) {
        (true, true) => lines.push(format!("console: {site}{}", console.path)),
        (true, false) => lines.push(format!("log in: {site}{}", pages.login)),
        (false, _) => {}
    }
    let password = |config: &str| format!("password for a program: cms-server{config} app-password add LOGIN NAME");
    match &source.config {
        Some(file) => lines.push(password(&format!(" --config {}", file.display()))),
        None => lines.extend([default_site(registry), password("")]),
    }
    lines.extend(pages.docs.get().map(|docs| format!("documentation: {docs}")));
    lines.join("\n")
}

/// Where the data of a site is that nobody has configured, and how to configure it.
fn default_site(registry: &Registry) -> String {
    let data = boot::place(&registry.declaration).map_or_else(
        |_| String::new(),
        |place| match place.file() {
            Some(file) => std::path::absolute(file).unwrap_or_else(|_| file.to_owned()).display().to_string(),
            None => place.shown(),
        },
    );
    let next = match Path::new(CONFIG).exists() {
        true => format!("{CONFIG} in this folder is not used without --config {CONFIG}"),
        false => format!("to edit them: cms-server init, then cms-server --config {CONFIG}"),
    };
    format!("data: {data}; declarations: those inside the program ({next})")
}

/// Marks the database as used by this server, and warns of another one.
fn claim(database: &Path) -> Option<Claim> {
    let (claim, neighbour) = Claim::of(database)?;
    if let Some(neighbour) = neighbour {
        let process = neighbour.process.map_or_else(String::new, |number| format!(" (process {number})"));
        tracing::warn!(
            "another server{process} uses {}: it holds the lock on {}. Run one server for each database: their caches, \
             rate limits and schedules do not know of each other",
            database.display(),
            neighbour.file.display()
        );
    }
    Some(claim)
}

fn start_sweeper(services: Services, after: units::Duration) -> Result<(), BootError> {
    let thread = thread::Builder::new().name("sweeper".into()).spawn(move || delete_orphans(&services, after));
    thread.map(drop).map_err(|e| BootError::Other(format!("no thread for sweeping: {e}")))
}

/// Sweeps now, for what the last run has left, and from time to time.
fn delete_orphans(services: &Services, after: units::Duration) {
    loop {
        while !services.storage.leads() {
            thread::sleep(FOLLOWER_PAUSE);
        }
        match services.sweep(after.seconds()) {
            Ok(0) => {}
            Ok(n) => tracing::info!("{n} files without a record were swept away"),
            Err(error) => tracing::warn!("files without a record stay for now: {error}"),
        }
        thread::sleep(SWEEP_PAUSE);
    }
}

/// The declarations, and the files whose change requires another load, also when there is something wrong with them.
pub(super) fn load(source: &ConfigSource) -> (Result<LoadedDeclaration, BootError>, Vec<PathBuf>) {
    let origin = source.config.as_deref().map_or(shipped::origin(), Origin::File);
    let mut attempt = attempt(origin, &source.sets, environment());
    // A renewed certificate is taken over like a changed declaration.
    if let Some(tls) = attempt.outcome.as_ref().ok().and_then(|loaded| loaded.declaration.server.tls.get()) {
        attempt.files.extend([PathBuf::from(&tls.certificate), PathBuf::from(&tls.key)]);
    }
    (attempt.outcome.map_err(BootError::Problems), attempt.files)
}

/// The database, opened and with all that is always there.
fn seeded(registry: &Registry) -> Result<Services, BootError> {
    let _starting = boot::place(&registry.declaration)?.start()?;
    let services = Services::start(boot::open(registry, true)?, registry)?;
    services.seed(registry)?;
    first_start(&services, registry)?;
    services.complete(registry)?;
    webhooks::declare(registry, &*services.storage)?;
    Ok(services)
}

pub(super) fn site(
    services: &Services,
    calls: Option<Rpc>,
    registry: Arc<Registry>,
    insight: ServerProcess,
) -> Result<(Arc<dyn Service>, WebhookContext), BootError> {
    match crate::import::filing::carry_out(&registry, &*services.storage) {
        Ok(0) => {}
        Ok(count) => tracing::info!("{count} terms of imported records are shown now that they are declared"),
        Err(error) => tracing::warn!("terms of imported records are not shown yet: {error}"),
    }
    if let Err(error) = services.remember_templates(&registry) {
        tracing::warn!("the templates of addresses are not remembered yet: {error}");
    }
    let mut server = registry.declaration.server.clone();
    let storage = &registry.declaration.storage;
    if server.workers == Workers::Auto && matches!(Place::of(&storage.url), Some(Place::Server(_))) {
        // A worker that waits for the database serves nobody else.
        server.workers = Workers::Number(storage.connections);
    }
    if server.node.get().is_none() {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        server.node = units::OptionalSetting::on(host.trim().to_owned());
    }
    let facts = EdgeConfig {
        prefix: registry.site.prefix.clone(),
        rest_path: registry.site.rest_path.clone(),
        base: registry.site.base.clone(),
        rest_url: registry.site.rest_url.clone(),
        server,
        cors: registry.declaration.cors.clone(),
        media: registry.declaration.media.clone(),
        jsonp: registry.declaration.site.jsonp,
        strict_route_parameter: registry.declaration.dialect.strict_route_parameter,
        full_no_cache: registry.declaration.dialect.full_no_cache,
        noindex: registry.declaration.site.noindex,
    };
    announce(services, &registry, facts.server.node.get().map_or("", String::as_str));
    for left_out in read_settings(&registry, &*services.storage)?.roles.left_out {
        tracing::warn!("{left_out}");
    }
    let calls = calls.map(|calls| (registry.declaration.xmlrpc.path.clone(), calls));
    let (pages, mcp) = (Pages::new(&registry), Mcp::new(registry.clone()));
    let hub = Arc::new(EventHub::new(registry.clone(), services.storage.clone()));
    let engine = Arc::new(services.engine(registry)?);
    let (storage, status) = (insight.storage.clone(), insight.status.clone());
    let webhooks = WebhookContext::new(engine.clone(), hub.clone(), services);
    // It has none yet.
    let _ = engine.shared().inside.set(Box::new(insight));
    Ok((Arc::new(SiteService { engine, calls, mcp, pages, hub, storage, status, facts }), webhooks))
}

/// Shows other nodes what they have to agree on with this one, where there can be others, and warns where uploads will fail.
fn announce(services: &Services, registry: &Registry, name: &str) {
    let unwritable = |error| tracing::warn!("uploads will fail: the folder of files cannot be written: {error}");
    if boot::place(&registry.declaration).is_ok_and(|place| place.file().is_some()) {
        services.media.files.try_folder().unwrap_or_else(unwritable);
        return;
    }
    let files = services.media.files.place(true).unwrap_or_else(|error| {
        unwritable(error);
        None
    });
    services.storage.announce(services.facts(registry, name, files.as_deref()));
}

/// At its first start a site gets an administrator, and the demo site when that is wanted, unless commands have brought
/// them before.
fn first_start(services: &Services, registry: &Registry) -> Result<(), BootError> {
    if services.was_started()? {
        return Ok(());
    }
    if let Some(role) = registry.required_role()
        && !services.holds(role)?
    {
        let login = services.free_login("admin")?;
        let (address, password) = (format!("{login}@example.org"), cms_core::access::app_passwords::new_secret());
        services.add_user(registry, &login, &address, role, Secret::Password(&password))?;
        log::notice(&format!("This is a new database. Its administrator is `{login}` with the password {password}"));
    }
    if registry.declaration.site.demo && !services.has_records()? {
        crate::import::demo(registry, services)?;
    }
    services.mark_started()
}
