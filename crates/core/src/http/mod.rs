//! The server's edge: sockets, limits, headers, logs, shutdown. The only module that names actix.
//!
//! A connection is watched by `connection` until it carries a request; that is read by `receive`, handled by a
//! [`Service`] and written by `respond`. The edge knows a [`Service`] that turns a [`Request`] into a [`Reply`], and
//! nothing of what happens inside. Each worker thread runs its services' futures itself, so these need not be `Send`.

mod access_log;
mod admin;
mod bodies;
mod body;
mod connection;
mod cors;
mod encoding;
mod events;
mod files;
mod guard;
mod lines;
mod listen;
pub mod memory;
mod platform;
mod proxies;
mod receive;
mod respond;
mod tls;
mod uploads;

use crate::error::{ApiError, Code, status};
use crate::files::Files;
use crate::log;
use crate::model::{EventQuery, Method, Payload, Peer, Reply, Request, StopSignal};
use crate::request::effective_method;
use cms_base::metrics::Reading;
use cms_base::platform::signal;
use cms_base::pool::JobOwner;
use cms_declaration::{Cors, Media, Server, Workers};

use access_log::{AccessLog, AccessLogEntry, RequestIds};
use actix_http::body::BoxBody;
use actix_http::error::DispatchError;
use actix_http::header::{self, HeaderValue};
use actix_http::{ConnectionType, HttpMessage as _, HttpService, KeepAlive, Method as HttpMethod, Protocol};
use actix_http::{Request as HttpRequest, Response};
use actix_service::{ServiceFactoryExt as _, fn_service};
use actix_web::rt::net::TcpStream;
use admin::Metrics;
use arc_swap::ArcSwap;
use bodies::{Bodies, BodyLimits};
use bytes::Bytes;
use connection::{BusyGuard, Connection, ConnectionState, Timeouts};
use listen::{Socket, SocketStream};
use platform::UnixStream;
use receive::{Destination, IncomingBody, ReceivedRequest};
use respond::{JsonFormat, RequestFacts};
use std::convert::Infallible;
use std::future::{Future, ready};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio_rustls::TlsAcceptor;

pub use bodies::{BodySender, PathLimits};
pub use events::{EdgeResponse, ResponseFuture, StreamFuture};
pub use listen::{Listeners, bind};
pub use platform::{notify_ready, notify_stopping};
pub use tls::Certificates;

/// A service that handles requests.
pub trait Service: Send + Sync + 'static {
    /// Handles one request. A panic inside becomes a 500 and ends this request only.
    fn call<'a>(&'a self, request: &'a Request) -> Pin<Box<dyn Future<Output = Reply> + 'a>>;

    /// Bytes that the body of this request may have when it brings files, which then go to disk; `None` when its endpoint
    /// takes none, or not from this caller. The request is as it was received, without its body.
    fn admits<'a>(&'a self, _: &'a Request) -> Pin<Box<dyn Future<Output = Option<u64>> + 'a>> {
        Box::pin(std::future::ready(None))
    }

    /// Where uploaded files live.
    fn files(&self) -> Option<&Arc<Files>> {
        None
    }

    /// Who sends a request, by its headers. The request is as it was received, without its body.
    fn sender<'a>(&'a self, request: &'a Request) -> Pin<Box<dyn Future<Output = BodySender> + 'a>> {
        Box::pin(std::future::ready(BodySender { owner: JobOwner::network(request.peer.ip), known: false }))
    }

    /// Whether something is served at this path outside the REST base, as the path was sent; `reads`: to requests that only
    /// read.
    fn serves(&self, _path: &str, _reads: bool) -> Option<PathLimits> {
        None
    }

    /// Handles a request for such a path.
    fn serve_other_path<'a>(&'a self, request: Request) -> Pin<Box<dyn Future<Output = Reply> + 'a>> {
        Box::pin(async move { self.call(&request).await })
    }

    /// Handles a request for such a path where the response may come bit by bit. Such a stream watches `endings`.
    fn elsewhere_streamed(self: Arc<Self>, request: Request, _endings: StopSignal) -> ResponseFuture {
        Box::pin(async move { EdgeResponse::Reply(self.serve_other_path(request).await) })
    }

    /// Opens the stream of events that a request asks for. It watches `endings`.
    fn open_stream(self: Arc<Self>, _request: Request, _query: EventQuery, _endings: StopSignal) -> StreamFuture {
        Box::pin(ready(Err(ApiError::new(Code::NoRoute))))
    }

    /// The response for an address outside the REST base where nothing is served.
    fn not_found(&self) -> Reply {
        respond::failure(&ApiError::new(Code::NoRoute))
    }

    /// Facts that the edge needs to address and decorate requests. The same as long as the service lives.
    fn facts(&self) -> &EdgeConfig;

    /// Whether requests can be served at all, for `/health`: lines that `/health` shows below `ok`, or the reason why
    /// not.
    fn health(&self) -> Result<String, String> {
        Ok(String::new())
    }

    /// The readings of this moment on `/metrics`, besides the edge's own counters.
    fn readings(&self) -> Vec<Reading> {
        Vec::new()
    }
}

/// Facts that the edge needs of the site; fixed as long as a service lives.
#[derive(Clone, Debug)]
pub struct EdgeConfig {
    /// Path of the REST base below the site's address, without a slash at the end: `/cms-json`.
    pub rest_path: String,
    /// Path of the site's address: `/blog`, or nothing.
    pub base: String,
    /// Absolute address of the REST base.
    pub rest_url: String,
    /// The platform's prefix as declared: `cms`.
    pub prefix: String,
    /// Listening, limits and timeouts. Settings of the listener itself are read once, at the start.
    pub server: Server,
    pub cors: Cors,
    /// Configuration of files: where they are served, and their types.
    pub media: Media,
    /// JSONP callbacks are honoured.
    pub jsonp: bool,
    /// See [`cms_declaration::Dialect::strict_route_parameter`].
    pub strict_route_parameter: bool,
    /// See [`cms_declaration::Dialect::full_no_cache`].
    pub full_no_cache: bool,
    /// See [`cms_declaration::Site::noindex`].
    pub noindex: bool,
}

/// The current service. A request keeps the one that it started with; the next request gets the one that was put last.
pub struct ServiceSwap(ArcSwap<PreparedService>);

impl ServiceSwap {
    /// Puts the first service in charge.
    pub fn new(service: Arc<dyn Service>) -> ServiceSwap {
        ServiceSwap(ArcSwap::from_pointee(PreparedService::new(service)))
    }

    /// The service in charge.
    pub fn load(&self) -> Arc<dyn Service> {
        Arc::clone(&self.0.load().service)
    }

    /// Puts another service in charge.
    pub fn store(&self, service: Arc<dyn Service>) {
        self.0.store(Arc::new(PreparedService::new(service)));
    }
}

/// A service with the parts of its facts that are worth preparing.
struct PreparedService {
    service: Arc<dyn Service>,
    cors: cors::CorsRules,
    trusted: proxies::TrustedProxies,
    /// Where clients find the REST base.
    link: HeaderValue,
}

impl PreparedService {
    fn new(service: Arc<dyn Service>) -> PreparedService {
        let facts = service.facts();
        PreparedService {
            cors: cors::CorsRules::new(&facts.cors, &facts.prefix),
            trusted: proxies::TrustedProxies::new(&facts.server.trusted_proxies),
            link: HeaderValue::try_from(api_link(facts)).unwrap_or(HeaderValue::from_static("")),
            service,
        }
    }

    /// `Link` in one line: what a reply gives, then where the REST base is.
    fn link_after(&self, own: &str) -> HeaderValue {
        let line = [own.as_bytes(), b", ", self.link.as_bytes()].concat();
        HeaderValue::from_maybe_shared(Bytes::from(line)).unwrap_or_else(|_| self.link.clone())
    }
}

fn api_link(facts: &EdgeConfig) -> String {
    format!("<{}/>; rel=\"https://api.w.org/\"", facts.rest_url.trim_end_matches('/'))
}

/// Ends at SIGTERM or SIGINT (elsewhere: Ctrl-C). A second signal ends the process at once.
pub async fn termination() {
    signal().await;
    actix_web::rt::spawn(async {
        signal().await;
        std::process::exit(1);
    });
}

/// Serves until `stop` is ready ([`termination`], usually), then lets requests in flight finish within
/// `shutdown_timeout`. `ready` is called when requests are served and a signal would be heard. Blocks; call it outside any
/// async runtime. Fails when threads cannot be had.
pub fn run(
    services: Arc<ServiceSwap>,
    listeners: Listeners,
    stop: impl Future<Output = ()> + Send + 'static,
    ready: impl FnOnce(),
) -> io::Result<()> {
    let server = services.load().facts().server.clone();
    let edge = Edge {
        bodies: Arc::default(),
        services,
        log: AccessLog::start(io::stderr(), log::format())?,
        metrics: listeners.admin.is_some().then(|| Arc::new(Metrics::new())),
        ids: RequestIds::new(),
        stopping: Arc::default(),
    };
    actix_web::rt::System::new().block_on(serve(Arc::new(edge), &server, listeners, stop, ready))
}

async fn serve(
    edge: Arc<Edge>,
    server: &Server,
    Listeners { public, tls, admin }: Listeners,
    stop: impl Future<Output = ()> + Send + 'static,
    ready: impl FnOnce(),
) -> io::Result<()> {
    let mut stop = Box::pin(stop);
    // It hears signals from its first poll on.
    if futures_util::poll!(&mut stop).is_ready() {
        return Ok(());
    }
    let admin = match (admin, &edge.metrics) {
        (Some(listener), Some(metrics)) => {
            Some(admin::admin_server(listener, Arc::clone(metrics), Arc::clone(&edge.services))?)
        }
        _ => None,
    };
    // A socket of ours is removed when this is dropped.
    let public = &public;
    let tls = tls.map(|certificates| certificates.acceptor()).transpose()?;
    let stopping = edge.stopping.clone();
    let running = public_server(edge, server, (public, tls))?;
    let handle = running.handle();
    // A signal that the library is given would have it sleep for 300 ms after the last request.
    actix_web::rt::spawn(async move {
        stop.await;
        stopping.store(true, Ordering::Relaxed);
        handle.stop(true).await;
    });
    let admin = admin.map(|admin| {
        let handle = admin.handle();
        actix_web::rt::spawn(admin);
        handle
    });
    ready();
    let outcome = running.await;
    if let Some(admin) = admin {
        admin.stop(false).await;
    }
    outcome
}

/// How long a refused client may go on sending after the response.
const LINGER: Duration = Duration::from_secs(5);

/// Threads of each worker that read and write files. As many as there are uploads would take the processors from
/// everybody else.
const FILE_THREADS: usize = 8;

fn public_server(
    edge: Arc<Edge>,
    server: &Server,
    (socket, tls): (&Socket, Option<TlsAcceptor>),
) -> io::Result<actix_server::Server> {
    let keep_alive = server.keep_alive.get().map_or(Duration::ZERO, |idle| idle.std());
    let patience = Timeouts { read: server.read_timeout.std().max(receive::SHORTEST), idle: keep_alive };
    let mut builder = actix_server::Server::build()
        .shutdown_timeout(server.shutdown_timeout.seconds())
        .disable_signals()
        .worker_max_blocking_threads(FILE_THREADS);
    if let Workers::Number(number) = server.workers {
        builder = builder.workers(number);
    }
    let draining = builder.graceful_shutdown_signal();
    let http = {
        let edge = Arc::clone(&edge);
        move || {
            let (draining, edge) = (draining.clone(), Arc::clone(&edge));
            HttpService::build()
                .keep_alive(if keep_alive.is_zero() { KeepAlive::Disabled } else { KeepAlive::Timeout(keep_alive) })
                // `Connection` times heads itself, and reports it to the client.
                .client_request_timeout(Duration::ZERO)
                .client_disconnect_timeout(LINGER)
                .graceful_shutdown_signal(move || {
                    let draining = draining.clone();
                    async move { draining.notified().await }
                })
                .on_connect_ext(|connection: &Connection, extensions| {
                    extensions.insert(connection.standing());
                })
                .finish(fn_service(move |request| {
                    let edge = Arc::clone(&edge);
                    // In a box, which goes with the request: a connection lasts longer, and streams are many.
                    Box::pin(async move { Ok::<_, Infallible>(answer(request, &edge).await) })
                }))
        }
    };
    let builder = match (socket, tls) {
        (Socket::Tcp(listener), None) => builder.listen("edge", listener.try_clone()?, move || {
            let edge = Arc::clone(&edge);
            let watched = fn_service(move |stream: TcpStream| {
                let _ = stream.set_nodelay(true);
                let peer = stream.peer_addr().ok();
                let connection =
                    Connection::new(SocketStream::Tcp(stream), patience, Arc::clone(&edge), peer.map(|p| p.ip()));
                ready(Ok((connection, Protocol::Http1, peer)))
            });
            watched.and_then(http())
        })?,
        (Socket::Tcp(listener), Some(tls)) => builder.listen("edge", listener.try_clone()?, move || {
            let (edge, tls) = (Arc::clone(&edge), tls.clone());
            let watched = fn_service(move |stream: TcpStream| shake_hands(stream, tls.clone(), patience, edge.clone()));
            watched.and_then(http())
        })?,
        // Nobody reads along on a socket of this machine.
        (Socket::Unix(listener, _), _) => platform::listen(builder, listener, move || {
            let edge = Arc::clone(&edge);
            let watched = fn_service(move |stream: UnixStream| {
                let connection = Connection::new(SocketStream::Unix(stream), patience, Arc::clone(&edge), None);
                ready(Ok((connection, Protocol::Http1, None)))
            });
            watched.and_then(http())
        })?,
    };
    Ok(builder.run())
}

/// A connection over TLS, as soon as the client has agreed to one; it has as long as for a head.
async fn shake_hands(
    stream: TcpStream,
    tls: TlsAcceptor,
    patience: Timeouts,
    edge: Arc<Edge>,
) -> Result<(Connection, Protocol, Option<SocketAddr>), DispatchError> {
    let _ = stream.set_nodelay(true);
    let peer = stream.peer_addr().ok();
    let refused = |error: io::Error| {
        if let Some(metrics) = &edge.metrics {
            metrics.refuse();
        }
        DispatchError::Io(error)
    };
    let agreed = tokio::time::timeout(patience.read, tls.accept(stream)).await;
    let stream = agreed.unwrap_or_else(|_elapsed| Err(io::ErrorKind::TimedOut.into())).map_err(refused)?;
    let connection = Connection::new(SocketStream::Tls(Box::new(stream)), patience, edge, peer.map(|p| p.ip()));
    Ok((connection, Protocol::Http1, peer))
}

/// State that all workers share.
struct Edge {
    bodies: Arc<Bodies>,
    services: Arc<ServiceSwap>,
    log: AccessLog,
    metrics: Option<Arc<Metrics>>,
    ids: RequestIds,
    /// No further request is served.
    stopping: Arc<AtomicBool>,
}

impl Edge {
    /// Records a connection that was refused before there was a request.
    fn note_refusal(&self, status: u16, ip: Option<IpAddr>) {
        if let Some(metrics) = &self.metrics {
            metrics.refuse();
        }
        if self.services.0.load().service.facts().server.access_log {
            let (id, took) = (self.ids.next(), Duration::ZERO);
            self.log.note(&AccessLogEntry { id: &id, method: "", path: "", query: "", status, took, bytes: 0, ip });
        }
    }
}

/// Every request passes through here.
async fn answer(http: HttpRequest, edge: &Edge) -> Response<BoxBody> {
    let id = edge.ids.next();
    log::within(id.clone(), respond_to(http, edge, id)).await
}

/// Between two looks for transactions that a worker has left open.
const IDLE_PAUSE: Duration = Duration::from_millis(50);

/// Lets the worker's snapshots share transactions, and ends those that are not used any more.
fn share_transactions() {
    if cms_storage::reuse_transactions() {
        return;
    }
    actix_web::rt::spawn(async {
        loop {
            tokio::time::sleep(IDLE_PAUSE).await;
            cms_storage::end_idle_transactions();
        }
    });
}

async fn respond_to(mut http: HttpRequest, edge: &Edge, id: Arc<str>) -> Response<BoxBody> {
    share_transactions();
    let started = Instant::now();
    let busy =
        http.conn_data::<Rc<ConnectionState>>().map(|standing| standing.begin(receive::has_body(http.headers())));
    let in_flight = edge.metrics.as_ref().map(|metrics| metrics.begin());
    let payload = http.take_payload();
    let compiled = edge.services.0.load_full();
    let (service, facts) = (&*compiled.service, compiled.service.facts());
    let peer = receive::peer(&http, &compiled.trusted);
    let ip = peer.ip;
    let query = http.uri().query().unwrap_or_default();
    let local = receive::local(http.path(), &facts.base);
    let (mut response, bytes) = match receive::place(local, query, facts) {
        Destination::Rest { path, raw_query } => {
            rest(&http, (payload, busy.as_ref()), (&compiled, edge), (path, raw_query), (Arc::clone(&id), peer)).await
        }
        Destination::Unreadable => {
            let message = "The path of the request is no UTF-8 text, or holds a NUL.";
            let error = ApiError::new(Code::BadRequest).with_message(message);
            respond::rest(respond::failure(&error), &JsonFormat::default(), &compiled, &asked(&http, &id))
        }
        Destination::File(key) => file(&http, &key, &compiled, &id).await,
        Destination::Elsewhere if let Some(served) = service.serves(local, reads(&http)) => {
            elsewhere(&http, (payload, served, busy.as_ref()), (&compiled, edge), (Arc::clone(&id), peer)).await
        }
        Destination::Elsewhere => respond::plain(service.not_found(), &id),
    };
    if facts.noindex {
        respond::hide(&mut response);
    }
    if let Some(busy) = busy.filter(|_| response.head().connection_type() == ConnectionType::Close) {
        busy.close();
    }
    drop(in_flight);
    let (status, took) = (response.status().as_u16(), started.elapsed());
    if let Some(metrics) = &edge.metrics {
        metrics.count(Method::parse(http.method().as_str()), status, took);
    }
    if facts.server.access_log {
        let (method, path) = (http.method().as_str(), http.path());
        edge.log.note(&AccessLogEntry { id: &id, method, path, query, status, took, bytes, ip });
    }
    response
}

async fn rest(
    http: &HttpRequest,
    (payload, busy): (actix_http::Payload, Option<&BusyGuard>),
    (compiled, edge): (&Arc<PreparedService>, &Edge),
    (path, raw_query): (String, String),
    (id, peer): (Arc<str>, Peer),
) -> (Response<BoxBody>, usize) {
    let facts = compiled.service.facts();
    let asked = asked(http, &id);
    let refused =
        |error: ApiError, shape: &JsonFormat| respond::rest(respond::failure(&error), shape, compiled, &asked);
    let query = match receive::query(&raw_query, facts) {
        Ok(query) => query,
        Err(error) => return refused(error, &JsonFormat::default()),
    };
    let shape =
        match JsonFormat::of(&query, facts.jsonp, respond::brings_credentials(http.headers(), &query, &facts.prefix)) {
            Ok(shape) => shape,
            Err(reply) => return respond::rest(reply, &JsonFormat::default(), compiled, &asked),
        };
    let (most, unknown) = (facts.server.max_body.as_usize(), facts.server.max_anonymous_body.as_usize());
    let limits = BodyLimits { most, unknown: unknown.min(most), largest: most };
    let incoming = IncomingBody { payload, limits, bodies: &edge.bodies };
    let place = (path, raw_query);
    let received = receive::request(http, incoming, &*compiled.service, place, query, (Arc::clone(&id), peer));
    let ReceivedRequest { request, memory: _memory } = match received.await {
        Ok(received) => received,
        Err(error) => return refused(error, &shape),
    };
    if let Some(busy) = busy {
        busy.has_read();
    }
    // A POST that overrides its method with HEAD gets no body either; of a real HEAD actix keeps the length and drops
    // the bytes.
    let overridden = request.method != Method::Head && effective_method(&request) == Some(Method::Head);
    match guard::guarded(compiled.service.call(&request)).await {
        Ok(Reply { payload: Payload::Pieces { media_type, bytes, next: Some(next) }, status, headers })
            if !overridden =>
        {
            let first = Payload::Pieces { media_type, bytes: bytes.clone(), next: None };
            let (response, length) =
                respond::rest(Reply { payload: first, status, headers }, &JsonFormat::default(), compiled, &asked);
            (response.set_body(lines::body(bytes, next, compiled.clone(), request)), length)
        }
        Ok(Reply { payload: Payload::Events(query), .. }) if !overridden => {
            let opened = events::response(http, (request, *query), (compiled, edge), &asked).await;
            opened.unwrap_or_else(|error| refused(error, &shape))
        }
        Ok(reply) if overridden => {
            respond::rest(Reply { payload: Payload::Empty, ..reply }, &JsonFormat::default(), compiled, &asked)
        }
        Ok(reply) => respond::rest(reply, &shape, compiled, &asked),
        Err(panic) => {
            tracing::error!(request = &*id, panic, "a request failed inside the server");
            refused(ApiError::new(Code::Internal), &shape)
        }
    }
}

/// A stored file, or the page for missing addresses.
async fn file(http: &HttpRequest, key: &str, compiled: &PreparedService, id: &str) -> (Response<BoxBody>, usize) {
    let facts = compiled.service.facts();
    if let Some(stored) = compiled.service.files().filter(|_| reads(http)) {
        match files::answer(http, key, stored, facts).await {
            Ok(Some(answer)) => return answer,
            Ok(None) => {}
            Err(error) => tracing::error!("{key} cannot be served: {error}"),
        }
    }
    respond::plain(compiled.service.not_found(), id)
}

/// Serves a request outside the REST base: no shapes, no CORS, no REST headers.
async fn elsewhere(
    http: &HttpRequest,
    (payload, served, busy): (actix_http::Payload, PathLimits, Option<&BusyGuard>),
    (compiled, edge): (&Arc<PreparedService>, &Edge),
    (id, peer): (Arc<str>, Peer),
) -> (Response<BoxBody>, usize) {
    let facts = compiled.service.facts();
    let refused = |error: &ApiError| respond::plain(respond::failure(error), &id);
    let raw_query = http.uri().query().unwrap_or_default();
    let query = match receive::query(raw_query, facts) {
        Ok(query) => query,
        Err(error) => return refused(&error),
    };
    let place = (receive::local(http.path(), &facts.base).to_owned(), raw_query.to_owned());
    let largest = facts.server.max_body.as_usize();
    let limits = BodyLimits { most: served.most.min(largest), unknown: served.unknown.min(largest), largest };
    let incoming = IncomingBody { payload, limits, bodies: &edge.bodies };
    let received = receive::request(http, incoming, &*compiled.service, place, query, (Arc::clone(&id), peer));
    let ReceivedRequest { request, memory: _memory } = match received.await {
        Ok(received) => received,
        Err(error) => return refused(&error),
    };
    if let Some(busy) = busy {
        busy.has_read();
    }
    match guard::guarded(Arc::clone(&compiled.service).elsewhere_streamed(request, edge.endings(compiled))).await {
        Ok(EdgeResponse::Reply(reply)) => respond::page(reply, &asked(http, &id)),
        Ok(EdgeResponse::Stream(headers, stream)) => {
            let (head, _) = respond::plain(Reply { status: status::OK, headers, payload: Payload::Empty }, &id);
            (head.set_body(events::body(stream, http.conn_data::<Rc<ConnectionState>>().cloned())), 0)
        }
        Err(panic) => {
            tracing::error!(request = &*id, panic, "a request failed inside the server");
            refused(&ApiError::new(Code::Internal))
        }
    }
}

fn asked<'a>(http: &'a HttpRequest, id: &'a str) -> RequestFacts<'a> {
    let headers = http.headers();
    RequestFacts {
        id,
        preflight: *http.method() == HttpMethod::OPTIONS,
        origin: headers.get(header::ORIGIN),
        private: headers.contains_key(header::AUTHORIZATION) || headers.contains_key(header::COOKIE),
        reads: reads(http),
        headers,
    }
}

fn reads(http: &HttpRequest) -> bool {
    *http.method() == HttpMethod::GET || *http.method() == HttpMethod::HEAD
}
