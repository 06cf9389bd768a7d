//! From a socket's request to [`model::Request`](crate::model::Request): addressing, limits, the client.
//!
//! Only what cannot be read or is too large is refused here; the method override, routes and credentials are for the
//! later stages.

use crate::error::{ApiError, Code, refuse_if};
use crate::http::bodies::{Bodies, BodyLimits, Reservation};
use crate::http::connection::ConnectionState;
use crate::http::proxies::{self, TrustedProxies};
use crate::http::uploads::{self, UploadBounds};
use crate::http::{EdgeConfig, Service};
use crate::model::{Method, Peer, Request, Upload};
use crate::request::{
    decode_path, decode_query, is_form_of_parts, is_parameters, may_bring_file, percent_decode, record_format,
};
use actix_http::header::{self, HeaderMap, HeaderName};
use actix_http::{HttpMessage as _, Payload, Request as HttpRequest};
use cms_base::network;
use cms_base::pool::JobOwner;
use futures_util::StreamExt as _;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Even where the configuration sets less, a client has this long to send its head, and its body.
pub const SHORTEST: Duration = Duration::from_secs(1);

/// The destination of an address.
#[derive(Debug, PartialEq, Eq)]
pub enum Destination {
    /// A route: decoded, with a leading slash; and the query without `rest_route`.
    Rest { path: String, raw_query: String },
    /// A path that is no text.
    Unreadable,
    /// An uploaded file, by its key.
    File(String),
    /// The site's address without a route, and every other path.
    Elsewhere,
}

/// A path below the site's address. Proxies pass on the path of that address, or take it away: both are understood.
pub fn local<'p>(path: &'p str, base: &str) -> &'p str {
    match path.strip_prefix(base) {
        Some("") => "/",
        Some(below) if below.starts_with('/') => below,
        _ => path,
    }
}

/// Finds the destination of a path and query as they were sent.
pub fn place(path: &str, query: &str, facts: &EdgeConfig) -> Destination {
    let Some(path) = decode_path(path) else { return Destination::Unreadable };
    let path = single_slash(&path);
    // Sites whose server rewrites no addresses have links of this form.
    let inside = path.strip_prefix("/index.php").filter(|inside| inside.starts_with('/')).map(single_slash);
    match inside.as_deref().unwrap_or(&path).strip_prefix(&*facts.rest_path) {
        Some(below) if below.is_empty() || below.starts_with('/') => {
            return Destination::Rest { path: single_slash(below).into_owned(), raw_query: query.into() };
        }
        _ => {}
    }
    if let Some(key) = path.strip_prefix(&*facts.media.path).and_then(|below| below.strip_prefix('/')) {
        return Destination::File(key.to_owned());
    }
    match &*path {
        "/" | "/index.php" => by_query(query, facts.strict_route_parameter),
        _ => Destination::Elsewhere,
    }
}

/// A path that begins with one slash. Clients join addresses that end in one with routes that begin with one.
fn single_slash(path: &str) -> Cow<'_, str> {
    let rest = path.trim_start_matches('/');
    if path.len() == rest.len() + 1 { Cow::Borrowed(path) } else { Cow::Owned(format!("/{rest}")) }
}

/// `?rest_route=/x`; the last one counts, as with every repeated key.
fn by_query(query: &str, strict: bool) -> Destination {
    let is_route = |pair: &&str| percent_decode(key(pair)).is_some_and(|key| key == "rest_route");
    let Some(pair) = query.split('&').rfind(is_route) else { return Destination::Elsewhere };
    let value = pair.split_once('=').map_or("", |(_, value)| value).replace('+', " ");
    let Some(route) = percent_decode(&value) else { return Destination::Unreadable };
    if route.is_empty() {
        return Destination::Elsewhere;
    }
    // A path that no route begins with.
    let path = if strict && !route.starts_with('/') { format!("//{route}") } else { single_slash(&route).into_owned() };
    let rest: Vec<&str> = query.split('&').filter(|pair| !is_route(pair)).collect();
    Destination::Rest { path, raw_query: rest.join("&") }
}

fn key(pair: &str) -> &str {
    pair.split('=').next().unwrap_or_default()
}

/// The query within the declared limits, decoded; 414 or 400 otherwise.
pub fn query(raw: &str, facts: &EdgeConfig) -> Result<Map<String, Value>, ApiError> {
    refuse_if(raw.len() > facts.server.max_query.as_usize(), Code::UriTooLong)?;
    decode_query(raw, facts.server.max_depth)
}

/// The body of a request on its way.
pub struct IncomingBody<'e> {
    pub payload: Payload,
    pub limits: BodyLimits,
    /// The memory of all bodies.
    pub bodies: &'e Arc<Bodies>,
}

/// A request, and the memory that its body takes until it is answered.
pub struct ReceivedRequest {
    pub request: Request,
    pub memory: Reservation,
}

/// Reads the body and puts the request together. 413 for a body above its limit, 408 for one that takes too long, 503 where
/// there is no memory for it, 404 for a method that no route can have.
pub async fn request(
    http: &HttpRequest,
    incoming: IncomingBody<'_>,
    service: &dyn Service,
    (path, raw_query): (String, String),
    query: Map<String, Value>,
    (id, peer): (Arc<str>, Peer),
) -> Result<ReceivedRequest, ApiError> {
    let method = Method::parse(http.method().as_str()).ok_or_else(|| ApiError::new(Code::NoRoute))?;
    let headers = http.headers().iter();
    let headers = headers.map(|(n, v)| (n.as_str().to_owned(), text(n, v.as_bytes()))).collect();
    let mut request =
        Request { id, method, path, raw_query, query, headers, body: Vec::new(), upload: None, goes_on: false, peer };
    let network = JobOwner::network(request.peer.ip.map(network::caller_address));
    let mut memory = incoming.bodies.reserve(network, incoming.limits);
    if has_body(http.headers()) {
        let mut body = BodyReader { request: &request, headers: http.headers(), service, memory: &mut memory };
        if may_bring_file(&request) {
            (request.body, request.upload) = body.with_files(incoming).await?;
        } else {
            request.body = body.whole(incoming.payload).await?;
        }
    } else if request.method == Method::Post
        && let Some(format) = record_format(request.header("content-type"))
    {
        // No records are records, too.
        request.upload = Some(Upload { records: Some(format), ..Upload::default() });
    }
    Ok(ReceivedRequest { request, memory })
}

/// A body that is read, with the request that it belongs to.
pub struct BodyReader<'r> {
    request: &'r Request,
    headers: &'r HeaderMap,
    service: &'r dyn Service,
    memory: &'r mut Reservation,
}

impl BodyReader<'_> {
    /// There is memory for so many bytes of it.
    ///
    /// # Errors
    /// See [`Reservation::grow`].
    pub async fn grow(&mut self, bytes: usize) -> Result<(), ApiError> {
        let (service, request) = (self.service, self.request);
        self.memory.grow(bytes, async || service.sender(request).await).await
    }

    fn patience(&self) -> Duration {
        self.service.facts().server.read_timeout.std().max(SHORTEST)
    }

    /// Reads a body into memory.
    async fn whole(&mut self, payload: Payload) -> Result<Vec<u8>, ApiError> {
        let patience = self.patience();
        let read = tokio::time::timeout(patience, self.collected(payload)).await;
        read.unwrap_or_else(|_elapsed| Err(ApiError::new(Code::RequestTimeout)))
    }

    async fn collected(&mut self, mut payload: Payload) -> Result<Vec<u8>, ApiError> {
        let announced = announced(self.headers);
        let (service, request) = (self.service, self.request);
        self.memory.announce(announced, async || service.sender(request).await).await?;
        let mut body = SegmentedBody::new(announced);
        while let Some(chunk) = payload.next().await {
            let chunk = chunk.map_err(|_broken| ApiError::new(Code::BadRequest))?;
            self.grow(body.length() + chunk.len()).await?;
            body.push(&chunk);
        }
        Ok(body.into_bytes())
    }

    /// Reads a body that may hold files: to disk where the endpoint takes them, otherwise within the usual bounds.
    async fn with_files(&mut self, incoming: IncomingBody<'_>) -> Result<(Vec<u8>, Option<Upload>), ApiError> {
        let IncomingBody { payload, limits, .. } = incoming;
        let (request, service) = (self.request, self.service);
        let admitted = match service.files() {
            Some(files) => service.admits(request).await.map(|most| (most, files)),
            None => None,
        };
        let kind = request.header("content-type");
        let (form, parameters) = (is_form_of_parts(kind), is_parameters(kind));
        let usual = limits.most as u64;
        let bounds = UploadBounds {
            // A form contains more than the file.
            body: admitted.map_or(usual, |(most, _)| if form { most + usual } else { most }),
            fields: limits.most,
            depth: service.facts().server.max_depth,
            patience: self.patience(),
        };
        refuse_if(announced(self.headers) as u64 > bounds.body, Code::PayloadTooLarge)?;
        let mut body = Vec::new();
        let mut upload = match admitted {
            _ if form => uploads::form(self, payload, bounds, admitted.map(|(_, files)| &**files)).await?,
            Some((_, files)) if parameters => {
                body = self.whole(payload).await?;
                uploads::save_bytes(&body, files)?
            }
            Some((_, files)) => uploads::whole(payload, bounds, files).await?,
            None => return Ok((self.whole(payload).await?, None)),
        };
        upload.disposition = request.header("content-disposition").map(str::to_owned);
        upload.records = record_format(request.header("content-type"));
        upload.md5 = request.header("content-md5").map(str::to_owned);
        Ok((body, Some(upload)))
    }

    /// The headers of the request.
    pub fn headers(&self) -> &HeaderMap {
        self.headers
    }
}

/// Bytes of a segment of a body.
const SEGMENT: usize = 64 << 10;

/// A body while it is received. A large one is in one piece only once it is whole: the allocator uses small segments again
/// at once, but keeps large pieces for a while, and clients that never send the end would fill the memory with those.
struct SegmentedBody {
    full: Vec<Vec<u8>>,
    last: Vec<u8>,
}

impl SegmentedBody {
    fn new(announced: usize) -> SegmentedBody {
        SegmentedBody { full: Vec::new(), last: Vec::with_capacity(announced.min(SEGMENT)) }
    }

    fn length(&self) -> usize {
        self.full.len() * SEGMENT + self.last.len()
    }

    fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.last.len() == SEGMENT {
                self.full.push(std::mem::replace(&mut self.last, Vec::with_capacity(SEGMENT)));
            }
            let (fits, rest) = bytes.split_at(bytes.len().min(SEGMENT - self.last.len()));
            self.last.extend_from_slice(fits);
            bytes = rest;
        }
    }

    fn into_bytes(self) -> Vec<u8> {
        if self.full.is_empty() {
            return self.last;
        }
        let mut bytes = Vec::with_capacity(self.length());
        for segment in self.full.into_iter().chain([self.last]) {
            bytes.extend_from_slice(&segment);
        }
        bytes
    }
}

/// A header's value as UTF-8; names of files may be Latin-1, as old clients write them.
fn text(name: &HeaderName, value: &[u8]) -> String {
    match std::str::from_utf8(value) {
        Err(_) if *name == header::CONTENT_DISPOSITION => value.iter().map(|byte| char::from(*byte)).collect(),
        _ => String::from_utf8_lossy(value).into_owned(),
    }
}

/// The other end, or the client that trusted proxies name.
pub fn peer(http: &HttpRequest, trusted: &TrustedProxies) -> Peer {
    let encrypted = http.conn_data::<Rc<ConnectionState>>().is_some_and(|connection| connection.encrypted());
    let connected = (http.peer_addr().map(|address| address.ip()), encrypted);
    proxies::peer(connected, trusted, |name| http.headers().get_all(name).filter_map(|value| value.to_str().ok()))
}

fn announced(headers: &HeaderMap) -> usize {
    headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse().ok()).unwrap_or(0)
}

/// Whether something follows the head.
pub fn has_body(headers: &HeaderMap) -> bool {
    announced(headers) > 0 || headers.contains_key(header::TRANSFER_ENCODING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let check = |path: &str, query: &str, expected: Destination| {
            assert_eq!(place(path, query, &facts(false)), expected, "{path}?{query}");
        };
        let rest = |path: &str, query: &str| Destination::Rest { path: path.into(), raw_query: query.into() };
        check("/cms-json", "a=1", rest("/", "a=1"));
        check("/cms-json/", "", rest("/", ""));
        check("/cms-json/cms/v2/posts", "rest_route=/x", rest("/cms/v2/posts", "rest_route=/x"));
        check("/cms-json/a%20b%2Fc%2525", "", rest("/a b%2Fc%25", ""));
        check("/cms-json%2Fa", "", Destination::Elsewhere);
        check("/cms-json/a+b", "", rest("/a+b", ""));
        check("/cms-json/%ff", "", Destination::Unreadable);
        check("/cms-json/%00", "", Destination::Unreadable);
        check("/cms-jsonx", "", Destination::Elsewhere);
        check("/cms-json//cms/v2/posts", "", rest("/cms/v2/posts", ""));
        check("//cms-json/cms/v2/posts", "", rest("/cms/v2/posts", ""));
        check("///cms-json///", "", rest("/", ""));
        check("/cms-json/cms/v2//posts", "", rest("/cms/v2//posts", ""));
        check("/index.php/cms-json/cms/v2/posts", "a=1", rest("/cms/v2/posts", "a=1"));
        check("//index.php//cms-json", "", rest("/", ""));
        check("/index.php/", "", Destination::Elsewhere);
        check("/index.php/files/a", "", Destination::Elsewhere);
        check("/index.phpx/cms-json", "", Destination::Elsewhere);
        check("//files/a.png", "", Destination::File("a.png".into()));
        check("/", "", Destination::Elsewhere);
        check("/", "p=1", Destination::Elsewhere);
        check("/", "rest_route=", Destination::Elsewhere);
        check("/index.php", "", Destination::Elsewhere);
        check("/", "rest_route=/cms/v2/posts&a[]=1", rest("/cms/v2/posts", "a[]=1"));
        check("/index.php", "a=1&rest%5Froute=%2Fx+y", rest("/x y", "a=1"));
        check("/", "rest_route=x&rest_route=/y&b", rest("/y", "b"));
        check("/", "rest_route=//y", rest("/y", ""));
        check("/", "rest_route=%ff", Destination::Unreadable);
        check("/files/2026/11/a%20b.png", "", Destination::File("2026/11/a b.png".into()));
        check("/files", "", Destination::Elsewhere);
        check("/filesx/a", "", Destination::Elsewhere);
        check("/favicon.ico", "rest_route=/", Destination::Elsewhere);
    }

    #[test]
    fn a_body_is_the_bytes_that_are_received() {
        let sent: Vec<u8> = (0..3 * SEGMENT + 7).map(|n| u8::try_from(n % 251).expect("a byte")).collect();
        for (length, chunk) in
            [(0, 1), (1, 1), (SEGMENT, 1_000), (SEGMENT + 1, SEGMENT), (sent.len(), 70_000), (sent.len(), sent.len())]
        {
            let mut body = SegmentedBody::new(if chunk % 2 == 0 { length } else { 0 });
            sent[..length].chunks(chunk).for_each(|bytes| body.push(bytes));
            assert_eq!(body.length(), length);
            assert!(body.into_bytes() == sent[..length], "{length} bytes in chunks of {chunk}");
        }
    }

    #[test]
    fn proxies_pass_on_the_path_of_the_site_or_not() {
        for (path, base, expected) in [
            ("/cms-json/x", "/blog", "/cms-json/x"),
            ("/blog/cms-json/x", "/blog", "/cms-json/x"),
            ("/blog", "/blog", "/"),
            ("/blog/", "/blog", "/"),
            ("/blogs/x", "/blog", "/blogs/x"),
            ("/a/b/login", "/a/b", "/login"),
            ("/a/login", "/a/b", "/a/login"),
            ("/x", "", "/x"),
            ("/", "", "/"),
        ] {
            assert_eq!(local(path, base), expected, "{path} below {base}");
        }
    }

    #[test]
    fn a_route_may_have_to_begin_with_a_slash() {
        let rest = |path: &str| Destination::Rest { path: path.into(), raw_query: String::new() };
        assert_eq!(place("/", "rest_route=cms/v2/posts", &facts(false)), rest("/cms/v2/posts"));
        assert_eq!(place("/", "rest_route=cms/v2/posts", &facts(true)), rest("//cms/v2/posts"));
        assert_eq!(place("/", "rest_route=/cms/v2/posts", &facts(true)), rest("/cms/v2/posts"));
    }

    fn facts(strict_route_parameter: bool) -> EdgeConfig {
        EdgeConfig {
            rest_path: "/cms-json".into(),
            base: String::new(),
            rest_url: String::new(),
            prefix: "cms".into(),
            server: Default::default(),
            cors: Default::default(),
            media: cms_declaration::Media { path: "/files".into(), ..Default::default() },
            jsonp: true,
            strict_route_parameter,
            full_no_cache: false,
            noindex: false,
        }
    }
}
