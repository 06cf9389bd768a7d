//! The server's edge: sockets, limits, headers, logs, shutdown. The only module that names actix.
//!
//! It knows a [`Service`] that turns a [`Request`] into a [`Reply`], and nothing of what happens inside. Each worker
//! thread runs its services' futures itself, so these need not be `Send`.

mod access_log;
mod cors;
mod guard;
mod metrics;
mod pages;
mod proxies;
mod receive;
mod respond;

pub use proxies::Network;

use crate::config::declaration::{Cors, Server};
use crate::error::{ApiError, Code};
use crate::model::{Method, Payload, Reply, Request};
use crate::request::effective_method;
use access_log::{AccessLog, Entry};
use actix_web::http::header;
use actix_web::http::{KeepAlive, Method as HttpMethod};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use arc_swap::ArcSwap;
use metrics::Metrics;
use receive::Place;
use respond::{Asked, Shape};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// What answers requests.
pub trait Service: Send + Sync + 'static {
    /// Answers one request. A panic inside becomes a 500 and ends this request only.
    fn call<'a>(&'a self, request: Request) -> Pin<Box<dyn Future<Output = Reply> + 'a>>;

    /// The site's name as it is now, as text.
    fn title(&self) -> String;

    /// What the edge must know to address and decorate requests.
    fn facts(&self) -> &Facts;
}

/// What the edge must know of the site; fixed as long as a service lives.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Path of the REST base, without a slash at the end: `/cms-json`.
    pub rest_path: String,
    /// Absolute address of the REST base.
    pub rest_url: String,
    /// Absolute address of the site.
    pub site_url: String,
    /// The platform's prefix as declared: `cms`.
    pub prefix: String,
    /// Listening, limits and timeouts. What concerns the listener itself is read once, at the start.
    pub server: Server,
    pub cors: Cors,
    /// JSONP callbacks are honoured.
    pub jsonp: bool,
}

/// The service in charge. A request keeps the one that it started with; the next one gets what was put last.
pub struct Swap(ArcSwap<Arc<dyn Service>>);

impl Swap {
    /// Puts the first service in charge.
    pub fn new(service: Arc<dyn Service>) -> Swap {
        Swap(ArcSwap::from_pointee(service))
    }

    /// The service in charge.
    pub fn load(&self) -> Arc<dyn Service> {
        Arc::clone(&self.0.load())
    }

    /// Puts another service in charge.
    pub fn store(&self, service: Arc<dyn Service>) {
        self.0.store(Arc::new(service));
    }
}

/// Opens a listener on `host:port`; port 0 takes a free one. The error names the address and what to do.
pub fn bind(address: &str) -> io::Result<TcpListener> {
    let explain = |error: io::Error| {
        let cause = match error.kind() {
            io::ErrorKind::AddrInUse => "another program listens there already; stop it or take another port".into(),
            io::ErrorKind::PermissionDenied => "this user may not listen there; take a port above 1023".into(),
            io::ErrorKind::AddrNotAvailable => "this machine has no such address".into(),
            io::ErrorKind::InvalidInput => "an address looks like 127.0.0.1:8080".into(),
            _ => error.to_string(),
        };
        io::Error::new(error.kind(), format!("cannot listen on {address}: {cause}"))
    };
    let candidates: Vec<SocketAddr> = address.to_socket_addrs().map_err(explain)?.collect();
    let mut failure = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for candidate in candidates {
        match listen(candidate) {
            Ok(listener) => return Ok(listener),
            Err(error) => failure = error,
        }
    }
    Err(explain(failure))
}

/// Connections that may wait to be accepted; the standard library's 128 is too few for a burst of clients.
const BACKLOG: i32 = 4096;

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // On Unix this lets a restart take over a port whose old connections linger; elsewhere it would share live ones.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.bind(&SockAddr::from(address))?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Ends at SIGTERM or SIGINT (elsewhere: Ctrl-C). A second signal ends the process at once.
pub async fn termination() {
    signal().await;
    actix_web::rt::spawn(async {
        signal().await;
        std::process::exit(1);
    });
}

#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    std::future::poll_fn(|context| match interrupt.poll_recv(context) {
        std::task::Poll::Ready(_) => std::task::Poll::Ready(()),
        std::task::Poll::Pending => terminate.poll_recv(context).map(|_| ()),
    })
    .await;
}

#[cfg(not(unix))]
async fn signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}

/// Serves until `stop` is ready ([`termination`], usually), then lets requests in flight finish within
/// `shutdown_timeout`. Blocks; call it outside any async runtime. Fails when threads or the admin listener cannot be
/// had.
pub fn run(
    services: Arc<Swap>,
    listener: TcpListener,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let server = services.load().facts().server.clone();
    let admin = if server.admin_listen.is_empty() { None } else { Some(bind(&server.admin_listen)?) };
    let edge = Edge {
        services,
        log: AccessLog::start()?,
        metrics: admin.is_some().then(|| Arc::new(Metrics::new())),
        ids: Ids::new(),
    };
    actix_web::rt::System::new().block_on(serve(Arc::new(edge), &server, listener, admin, stop))
}

async fn serve(
    edge: Arc<Edge>,
    server: &Server,
    listener: TcpListener,
    admin: Option<TcpListener>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let admin = match (admin, &edge.metrics) {
        (Some(listener), Some(metrics)) => Some(metrics::admin_server(listener, Arc::clone(metrics))?),
        _ => None,
    };
    let data = web::Data::from(edge);
    let app = move || App::new().app_data(data.clone()).default_service(web::to(answer));
    let mut public = HttpServer::new(app)
        .client_request_timeout(Duration::from_secs(server.read_timeout))
        .keep_alive(match server.keep_alive {
            0 => KeepAlive::Disabled,
            seconds => KeepAlive::Timeout(Duration::from_secs(seconds)),
        })
        .shutdown_timeout(server.shutdown_timeout)
        .shutdown_signal(stop)
        .tcp_nodelay(true);
    if server.workers > 0 {
        public = public.workers(server.workers);
    }
    let public = public.listen(listener)?.run();
    let admin = admin.map(|admin| {
        let handle = admin.handle();
        actix_web::rt::spawn(admin);
        handle
    });
    let outcome = public.await;
    if let Some(admin) = admin {
        admin.stop(false).await;
    }
    outcome
}

/// What all workers share.
struct Edge {
    services: Arc<Swap>,
    log: AccessLog,
    metrics: Option<Arc<Metrics>>,
    ids: Ids,
}

/// Makes ids that are short, and different between runs too.
struct Ids {
    run: u32,
    next: AtomicU64,
}

impl Ids {
    fn new() -> Ids {
        Ids { run: rand::random(), next: AtomicU64::new(1) }
    }

    fn next(&self) -> Arc<str> {
        format!("{:08x}-{:x}", self.run, self.next.fetch_add(1, Ordering::Relaxed)).into()
    }
}

/// Every request comes through here.
async fn answer(http: HttpRequest, payload: web::Payload, edge: web::Data<Edge>) -> HttpResponse {
    let (at, started) = (SystemTime::now(), Instant::now());
    let service = edge.services.load();
    let facts = service.facts();
    let id = edge.ids.next();
    let (response, bytes) = match receive::place(http.uri().path(), http.query_string(), &facts.rest_path) {
        Place::Rest { path, raw_query } => rest(&http, payload, &*service, (path, raw_query), &id).await,
        Place::Unreadable => {
            let message = "The path of the request is no UTF-8 text, or holds a NUL.";
            let error = ApiError::new(Code::BadRequest).with_message(message);
            respond::rest(respond::failure(&error), &Shape::default(), facts, &asked(&http, &id))
        }
        Place::Home if reads(&http) => respond::page(pages::home(&service.title(), &facts.rest_url), true, facts),
        Place::Home | Place::Elsewhere => respond::page(pages::not_found(&facts.rest_url), false, facts),
    };
    let took = started.elapsed();
    if let Some(metrics) = &edge.metrics {
        metrics.count(Method::parse(http.method().as_str()), response.status().as_u16(), took);
    }
    if facts.server.access_log {
        edge.log.write(Entry {
            at,
            id,
            method: http.method().to_string(),
            path: http.uri().path().to_owned(),
            query: http.query_string().to_owned(),
            status: response.status().as_u16(),
            took,
            bytes,
            ip: receive::peer(&http, facts).ip,
        });
    }
    response
}

async fn rest(
    http: &HttpRequest,
    payload: web::Payload,
    service: &dyn Service,
    (path, raw_query): (String, String),
    id: &Arc<str>,
) -> (HttpResponse, usize) {
    let facts = service.facts();
    let asked = asked(http, id);
    let refused = |error: ApiError, shape: &Shape| respond::rest(respond::failure(&error), shape, facts, &asked);
    let query = match receive::query(&raw_query, facts) {
        Ok(query) => query,
        Err(error) => return refused(error, &Shape::default()),
    };
    let shape = match Shape::of(&query, facts.jsonp) {
        Ok(shape) => shape,
        Err(reply) => return respond::rest(reply, &Shape::default(), facts, &asked),
    };
    let request = match receive::request(http, payload, facts, (path, raw_query), query, Arc::clone(id)).await {
        Ok(request) => request,
        Err(error) => return refused(error, &shape),
    };
    // A POST that asks to be a HEAD gets no body either; of a real HEAD actix keeps the length and drops the bytes.
    let overridden = request.method != Method::Head && effective_method(&request) == Some(Method::Head);
    match guard::guarded(service.call(request)).await {
        Ok(reply) if overridden => {
            respond::rest(Reply { payload: Payload::Empty, ..reply }, &Shape::default(), facts, &asked)
        }
        Ok(reply) => respond::rest(reply, &shape, facts, &asked),
        Err(panic) => {
            tracing::error!(request = &**id, panic, "a request failed inside the server");
            refused(ApiError::new(Code::Internal), &shape)
        }
    }
}

fn asked<'a>(http: &'a HttpRequest, id: &'a str) -> Asked<'a> {
    let headers = http.headers();
    Asked {
        id,
        method: Method::parse(http.method().as_str()),
        origin: headers.get(header::ORIGIN).and_then(|value| value.to_str().ok()),
        private: headers.contains_key(header::AUTHORIZATION) || headers.contains_key(header::COOKIE),
    }
}

fn reads(http: &HttpRequest) -> bool {
    *http.method() == HttpMethod::GET || *http.method() == HttpMethod::HEAD
}
