//! Serving: boot, listen, follow changes of the declarations.

use crate::boot::{self, BootError, Secret, Services, Source};
use crate::config::declaration::Migrate;
use crate::config::load::{Loaded, attempt, environment};
use crate::config::source::Origin;
use crate::config::{shipped, watch};
use crate::engine::Engine;
use crate::files::Files;
use crate::http::{self, Facts, Reading, ReadingKind, Service, Swap};
use crate::model::{Reply, Request};
use crate::pages::Pages;
use crate::registry::Registry;
use crate::scheduler::Scheduler;
use crate::storage::Storage;
use crate::storage::plan::{Layout, Name};
use crate::storage::sqlite::{Claim, Sqlite};
use crate::xmlrpc::Rpc;
use std::future::Future;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use tracing::Level;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};

/// Between two sweeps of files without a record.
const SWEEP_PAUSE: Duration = Duration::from_secs(600);

/// How long the end of the program waits for the database.
const CLOSING: Duration = Duration::from_secs(10);

/// An engine with the facts that its transport needs.
struct Site {
    engine: Engine,
    /// XML-RPC and its path, unless it is off.
    calls: Option<(String, Rpc)>,
    pages: Pages,
    storage: Arc<dyn Storage>,
    facts: Facts,
}

impl Service for Site {
    fn call<'a>(&'a self, request: Request) -> Pin<Box<dyn Future<Output = Reply> + 'a>> {
        Box::pin(self.engine.serve(request))
    }

    fn admits<'a>(&'a self, request: &'a Request) -> Pin<Box<dyn Future<Output = Option<u64>> + 'a>> {
        Box::pin(self.engine.admits(request))
    }

    fn files(&self) -> Option<&Arc<Files>> {
        Some(&self.engine.shared().media.files)
    }

    fn serves(&self, path: &str) -> Option<usize> {
        // A call that is too large gets a fault, which needs the call's body to have been read.
        let called = self.calls.as_ref().filter(|(own, _)| own == path).map(|_| self.facts.server.max_body.as_usize());
        called.or_else(|| self.pages.serves(path).then(|| self.pages.max_body()))
    }

    fn elsewhere<'a>(&'a self, request: Request) -> Pin<Box<dyn Future<Output = Reply> + 'a>> {
        Box::pin(async move {
            match &self.calls {
                Some((own, calls)) if *own == request.path => calls.serve(&self.engine, request).await,
                _ => self.pages.serve(&self.engine, request).await,
            }
        })
    }

    fn not_found(&self) -> Reply {
        self.pages.not_found(&self.facts.rest_url)
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn health(&self) -> Result<(), String> {
        let read = self.storage.snapshot().and_then(|snapshot| snapshot.setting(&Name::from("site")));
        read.map(drop).map_err(|error| format!("the database cannot be read: {error}"))
    }

    fn readings(&self) -> Vec<Reading> {
        let (responses, embedded) = (self.engine.responses(), self.engine.embedded());
        let counter = |name, help, value| Reading { name, help, value, kind: ReadingKind::Counter };
        let gauge = |name, help, value| Reading { name, help, value, kind: ReadingKind::Gauge };
        let [hits, misses] = responses.hit_counts().numbers();
        let [embedded_hits, embedded_misses] = embedded.hit_counts().numbers();
        vec![
            counter("response_cache_hits", "Requests answered from the response cache", hits),
            counter("response_cache_misses", "Cacheable requests that were not in the response cache", misses),
            gauge("response_cache_bytes", "Bytes of cached responses", responses.bytes()),
            counter("embedded_cache_hits", "Embedded documents found in the cache", embedded_hits),
            counter("embedded_cache_misses", "Embedded documents that were not in the cache", embedded_misses),
            gauge("embedded_cache_bytes", "Bytes of cached embedded documents", embedded.bytes()),
            gauge("document_cache_bytes", "Bytes of cached documents", self.engine.shared().documents.bytes()),
        ]
    }
}

/// Serves until the process is stopped.
///
/// # Errors
/// Anything that is wrong with the declarations, the address or the database; nothing is left half-started.
pub fn serve(source: &Source) -> Result<(), BootError> {
    let start = Instant::now();
    log_to_stderr();
    outlive_file_limits().map_err(|e| BootError::Other(format!("signals cannot be handled: {e}")))?;
    let (outcome, files) = load(source);
    let loaded = outcome?;
    let server = loaded.declaration.server.clone();
    let listener = http::bind(&server.listen).map_err(|e| BootError::Other(e.to_string()))?;
    let address = listener.local_addr().map_or_else(|_| server.listen.clone(), |a| a.to_string());
    let database = boot::database(&loaded.declaration)?;
    let _claim = claim(database);
    // The log is read in parallel with the linking, the calls are compiled in parallel with the opening.
    let (recovered, registry) = thread::scope(|beside| {
        let recovered = beside.spawn(|| Sqlite::recover(database));
        let registry = boot::registry(&loaded, &address);
        (recovered.join().ok(), registry)
    });
    let registry = registry?;
    let (calls, services) = thread::scope(|beside| {
        let calls = beside.spawn(|| boot::calls(&loaded, &registry));
        let services = seeded(&registry);
        (calls.join(), services)
    });
    let calls = calls.map_err(|_| BootError::Other("the calls could not be compiled".into()))??;
    let services = services?;
    drop(recovered);
    // The places of declarations are not needed any more.
    drop(loaded);
    let layout = registry.layout.clone();
    let orphan_timeout = registry.declaration.media.orphan_timeout;
    let sweeper = services.clone();
    let registry = Arc::new(registry);
    let keeper = Scheduler::start(registry.clone(), services.storage.clone())?;
    let site = Arc::new(Swap::new(self::site(&services, calls, registry)?));
    let rest_url = site.load().facts().rest_url.clone();
    let current = Arc::new(Mutex::new((layout, services)));
    let follower = Follower { source: source.clone(), current: current.clone(), site: site.clone(), keeper, address };
    let watched = if server.watch { files } else { Vec::new() };
    let _watch = watch::watch(watched, move || follower.reload())
        .map_err(|e| BootError::Other(format!("cannot follow the declarations: {e}")))?;
    // The socket listens already: connections from now on are served.
    tell!("ready in {} ms: {rest_url}/", start.elapsed().as_millis());
    thread::Builder::new()
        .name("sweeper".into())
        .spawn(move || delete_orphans(&sweeper, orphan_timeout))
        .map_err(|e| BootError::Other(format!("no thread for sweeping: {e}")))?;
    http::run(site, listener, http::termination()).map_err(|e| BootError::Other(e.to_string()))?;
    let last = current.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).1.storage.clone();
    if let Err(error) = last.close(CLOSING) {
        tracing::warn!("the write-ahead log is not in the database yet, the next start reads it: {error}");
    }
    Ok(())
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

/// A write beyond a limit on the size of files fails like one to a full disk; by default it would end the process.
#[cfg(unix)]
fn outlive_file_limits() -> std::io::Result<()> {
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default()).map(drop)
}

#[cfg(not(unix))]
fn outlive_file_limits() -> std::io::Result<()> {
    Ok(())
}

/// Sweeps now, for what the last run has left, and from time to time.
fn delete_orphans(services: &Services, after: crate::config::units::Duration) {
    loop {
        match services.sweep(after.seconds()) {
            Ok(0) => {}
            Ok(n) => tracing::info!("{n} files without a record were swept away"),
            Err(error) => tracing::warn!("files without a record stay for now: {error}"),
        }
        thread::sleep(SWEEP_PAUSE);
    }
}

/// The declarations, and the files whose change requires another load, also when there is something wrong with them.
fn load(source: &Source) -> (Result<Loaded, BootError>, Vec<PathBuf>) {
    let origin = source.config.as_deref().map_or(shipped::origin(), Origin::File);
    let attempt = attempt(origin, &source.sets, environment());
    (attempt.outcome.map_err(BootError::Problems), attempt.files)
}

/// The database, opened and with all that is always there.
fn seeded(registry: &Registry) -> Result<Services, BootError> {
    let services = Services::start(boot::open(registry, true)?, registry)?;
    services.seed(registry)?;
    first_start(&services, registry)?;
    services.complete(registry)?;
    Ok(services)
}

fn site(services: &Services, calls: Option<Rpc>, registry: Arc<Registry>) -> Result<Arc<dyn Service>, BootError> {
    let facts = Facts {
        prefix: registry.site.prefix.clone(),
        rest_path: registry.site.rest_path.clone(),
        rest_url: registry.site.rest_url.clone(),
        server: registry.declaration.server.clone(),
        cors: registry.declaration.cors.clone(),
        media: registry.declaration.media.clone(),
        jsonp: registry.declaration.site.jsonp,
        strict_route_parameter: registry.declaration.dialect.strict_route_parameter,
        full_no_cache: registry.declaration.dialect.full_no_cache,
    };
    let calls = calls.map(|calls| (registry.declaration.xmlrpc.path.clone(), calls));
    let pages = Pages::new(&registry);
    let engine = services.engine(registry)?;
    Ok(Arc::new(Site { engine, calls, pages, storage: services.storage.clone(), facts }))
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
        let (address, password) = (format!("{login}@example.org"), crate::access::identity::new_secret());
        services.add_user(registry, &login, &address, role, Secret::Password(&password))?;
        tell!("This is a new database. Its administrator is `{login}` with the password {password}");
    }
    if registry.declaration.site.demo && !services.has_records()? {
        crate::import::demo(registry, services)?;
    }
    services.mark_started()
}

/// Follows changes of the declarations.
struct Follower {
    source: Source,
    /// The tables that the database was opened for, and what serves it.
    current: Arc<Mutex<(Layout, Services)>>,
    site: Arc<Swap>,
    keeper: Scheduler,
    address: String,
}

impl Follower {
    /// Builds another registry and swaps it in if it is valid; otherwise the old one stays. The files to watch next.
    fn reload(&self) -> Vec<PathBuf> {
        let (outcome, files) = load(&self.source);
        match outcome.and_then(|loaded| self.swap(&loaded)) {
            Ok(()) => {
                tell!("reloaded the declarations");
            }
            Err(error) => {
                tell!("{error}\nthe old declarations stay in force");
            }
        }
        files
    }

    fn swap(&self, loaded: &Loaded) -> Result<(), BootError> {
        let registry = boot::registry(loaded, &self.address)?;
        let mut current = self.current.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut services = current.1.clone();
        if registry.layout != current.0 {
            // A half-typed property must not become a column: tables follow a reload only when that is configured.
            let migrates = registry.declaration.storage.migrate == Migrate::Auto;
            services.storage = Arc::new(boot::open(&registry, migrates)?);
        }
        services.seed(&registry)?;
        services.complete(&registry)?;
        let layout = registry.layout.clone();
        let registry = Arc::new(registry);
        let calls = boot::calls(loaded, &registry)?;
        self.site.store(site(&services, calls, registry.clone())?);
        self.keeper.take(registry, services.storage.clone());
        *current = (layout, services);
        Ok(())
    }
}

/// Errors and warnings of the program go to the standard error, one line each. What the HTTP library says of a connection
/// is about what a client sent: the access log has it, and any client could fill the disk with it.
fn log_to_stderr() {
    let ours = filter_fn(|event| *event.level() <= Level::INFO && !event.target().starts_with("actix_http::h1"));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false).with_target(false);
    let subscriber = tracing_subscriber::registry().with(lines.with_filter(ours));
    // A second server in one process (tests) keeps the first one's.
    let _ = tracing::subscriber::set_global_default(subscriber);
}
