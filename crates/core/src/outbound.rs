//! Requests to other sites: none, unless the configuration turns them on (`[outbound]`).
//!
//! A name is resolved once and connected to as it was checked; private, loopback, link-local and reserved networks are
//! refused, again at every redirect. Time, bytes, ports and redirects are limited, and so are the threads that wait.
//! It knows nothing of the purpose of a request.

use cms_base::network::{self, Network};
use cms_base::pool::{JobOwner, Pool, PoolError};
use cms_declaration::Outbound as Declared;
use once_cell::sync::OnceCell;
use quick_cache::sync::Cache;
use regex::Regex;
use std::fmt;
use std::io::Read as _;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, http};
use url::{Host, Url};

/// How long a response is cached, and how many are cached.
const FRESH: Duration = Duration::from_secs(3600);
const KEPT: usize = 128;

/// How long a connection without requests is used again. Receivers close them after some seconds, and a request must not meet that.
const IDLE: Duration = Duration::from_secs(2);

/// Why a name is not requested that has no address, or none that is public.
const UNKNOWN: &str = "nothing public has this name";

/// A response of another site with status 200.
#[derive(Debug)]
pub struct WebPage {
    /// Where it was in the end.
    pub url: Url,
    /// As much of it as is allowed; what is no text is replaced.
    pub text: String,
}

/// A file of another site, with its bytes.
#[derive(Debug)]
pub struct Download {
    pub file: tempfile::TempPath,
    pub size: u64,
}

/// A request that tells another site something.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutgoingRequest {
    pub method: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// The answer to it, as much of it as was read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceivedAnswer {
    pub status: u16,
    pub text: String,
    /// Bytes that were read.
    read: u64,
    headers: http::HeaderMap,
}

impl ReceivedAnswer {
    /// How long it asks to wait before the next request.
    pub fn retry_after(&self) -> Option<Duration> {
        retry_after(&self.headers)
    }

    /// The first header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Why there is no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchError {
    /// This address is not allowed; in words for the caller.
    Address(&'static str),
    /// Nothing useful was received; in words for operators.
    Nothing(String),
    /// The response has another status than 200.
    Status(u16),
    /// The response is larger than is allowed.
    TooLarge,
    /// The queue is full.
    Busy,
}

/// Why a file was not downloaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DownloadError {
    pub error: FetchError,
    /// How long the site asks to wait before the next request.
    pub wait: Option<Duration>,
}

impl From<FetchError> for DownloadError {
    fn from(error: FetchError) -> DownloadError {
        DownloadError { error, wait: None }
    }
}

impl From<DownloadError> for FetchError {
    fn from(refused: DownloadError) -> FetchError {
        refused.error
    }
}

/// Sends requests to other sites.
pub struct Outbound {
    declared: Declared,
    asker: Arc<HttpClient>,
    providers: Vec<(Regex, String)>,
    /// Started by the first request: most sites send none.
    pool: OnceCell<Pool>,
    kept: Cache<String, (Instant, Arc<WebPage>)>,
}

impl Outbound {
    /// A client within the rules of the declarations. Addresses of providers are checked at boot ([`pattern`]).
    pub fn new(declared: &Declared) -> Outbound {
        let listed = declared.providers.values();
        let providers = listed.flat_map(|provider| {
            let endpoint = provider.endpoint.replace("{format}", "json");
            provider.addresses.iter().filter_map(move |address| Some((pattern(address)?, endpoint.clone())))
        });
        Outbound {
            providers: providers.collect(),
            asker: Arc::new(HttpClient::new(declared, 0)),
            pool: OnceCell::new(),
            kept: Cache::new(KEPT),
            declared: declared.clone(),
        }
    }

    /// Whether any page may be fetched.
    pub fn pages(&self) -> bool {
        self.declared.link_previews
    }

    /// Whether files of any public address may be fetched.
    pub fn files(&self) -> bool {
        self.declared.uploads
    }

    /// Whether an address is one that requests are sent to, as far as that is known without resolving its name.
    pub fn allowed(&self, url: &Url) -> Result<(), FetchError> {
        self.asker.allowed(url)
    }

    /// The oEmbed endpoint of the provider for this address; `None`: no provider is declared.
    pub fn provider(&self, address: &str) -> Option<&str> {
        self.providers.iter().find(|(pattern, _)| pattern.is_match(address)).map(|(_, endpoint)| endpoint.as_str())
    }

    /// The page at an address now, or less than an hour ago.
    pub async fn get(&self, owner: JobOwner, url: &Url) -> Result<Arc<WebPage>, FetchError> {
        self.asker.allowed(url)?;
        let fresh = |at: &Instant| at.elapsed() < FRESH;
        if let Some((_, page)) = self.kept.get(url.as_str()).filter(|(at, _)| fresh(at)) {
            return Ok(page);
        }
        let (asker, wanted) = (Arc::clone(&self.asker), url.clone());
        let page = Arc::new(self.in_pool(owner, move || asker.page(wanted)).await?);
        self.kept.insert(url.as_str().to_owned(), (Instant::now(), Arc::clone(&page)));
        Ok(page)
    }

    /// Downloads a file of at most so many bytes.
    pub async fn download(
        &self,
        owner: JobOwner,
        url: &Url,
        into: tempfile::NamedTempFile,
        most: u64,
    ) -> Result<Download, FetchError> {
        self.asker.allowed(url)?;
        let (asker, wanted) = (Arc::clone(&self.asker), url.clone());
        self.in_pool(owner, move || Ok(asker.download(wanted, into, most, asker.patience)?)).await
    }

    /// Sends a request and reads the answer, whatever its status; one of more than so many bytes is an error. A redirect is not
    /// followed.
    pub async fn ask(
        &self,
        owner: JobOwner,
        url: &Url,
        request: OutgoingRequest,
        most: u64,
    ) -> Result<ReceivedAnswer, FetchError> {
        self.asker.allowed(url)?;
        let (asker, wanted) = (Arc::clone(&self.asker), url.clone());
        let asked = self.in_pool(owner, move || asker.send(&wanted, request, asker.patience, most.saturating_add(1)));
        let answer = asked.await?;
        if answer.read > most { Err(FetchError::TooLarge) } else { Ok(answer) }
    }

    /// Sends requests one after the other.
    pub fn sender(&self) -> OutboundSender {
        OutboundSender::new(&self.declared)
    }

    /// Downloads a file of at most so many bytes. It blocks the thread, for `patience` at most.
    ///
    /// # Errors
    /// See [`DownloadError`].
    pub fn fetch_file(
        &self,
        url: &Url,
        into: tempfile::NamedTempFile,
        (patience, most): (Duration, u64),
    ) -> Result<Download, DownloadError> {
        self.asker.download(url.clone(), into, most, patience)
    }

    async fn in_pool<T: Send + 'static>(
        &self,
        owner: JobOwner,
        job: impl FnOnce() -> Result<T, FetchError> + Send + 'static,
    ) -> Result<T, FetchError> {
        let declared = &self.declared;
        // Others would wait for sites that take their time, if one owner had all threads.
        let threads = (declared.workers, declared.workers.div_ceil(2));
        let pool = self.pool.get_or_try_init(|| Pool::start("outbound", threads, declared.queue));
        let pool = pool.map_err(|_| FetchError::Nothing("no thread".into()))?;
        pool.run(owner, job).await.map_err(|error| match error {
            PoolError::Busy => FetchError::Busy,
            PoolError::Failed => FetchError::Nothing("the request ended in a panic".into()),
        })?
    }
}

/// An address with `*` for any text, as it is declared: `https://*.example.com/watch*`. Plain HTTP matches, too. `None`:
/// it starts with neither scheme.
pub fn pattern(address: &str) -> Option<Regex> {
    let below = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"))?;
    let parts: Vec<String> = below.split('*').map(regex::escape).collect();
    Regex::new(&format!("^(?i:https?://{})$", parts.join(".*"))).ok()
}

/// Whether an address leads to this device.
pub fn is_loopback(url: &Url) -> bool {
    let here = match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        _ => false,
    };
    url.scheme() == "http" && here
}

/// The same, where it may be said by name.
pub fn is_device(url: &Url) -> bool {
    is_loopback(url) || url.scheme() == "http" && url.host_str() == Some("localhost")
}

/// Whether secrets may go to an address: an encrypted one, or one of this device.
pub fn is_safe(url: &Url) -> bool {
    url.scheme() == "https" || is_device(url)
}

/// Sends requests over a connection that stays open between them where the receiver wants that.
pub struct OutboundSender(HttpClient);

impl OutboundSender {
    /// A sender within what is declared.
    pub fn new(declared: &Declared) -> OutboundSender {
        OutboundSender(HttpClient::new(declared, 1))
    }

    /// Sends a request and reads at most so many bytes of the answer, whatever its status. It blocks the thread, for `patience` at
    /// most. A redirect is not followed: whoever receives it has named its address.
    ///
    /// # Errors
    /// See [`FetchError`].
    pub fn send(
        &self,
        url: &Url,
        request: OutgoingRequest,
        (patience, most): (Duration, u64),
    ) -> Result<ReceivedAnswer, FetchError> {
        self.0.allowed(url)?;
        self.0.send(url, request, patience, most)
    }
}

struct HttpClient {
    agent: Agent,
    open: Vec<Network>,
    ports: Vec<u16>,
    patience: Duration,
    redirects: u32,
    bytes: u64,
}

impl HttpClient {
    /// A client that leaves so many connections open for the next request.
    fn new(declared: &Declared, idle: usize) -> HttpClient {
        let open: Vec<Network> = declared.networks.iter().filter_map(|text| Network::parse(text)).collect();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_idle_connections(idle)
            .max_idle_age(IDLE)
            // A proxy of the environment would resolve names itself.
            .proxy(None)
            .user_agent(concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")))
            .build();
        let resolver = PublicResolver { open: open.clone(), inner: DefaultResolver::default(), last: Mutex::default() };
        HttpClient {
            agent: Agent::with_parts(config, DefaultConnector::default(), resolver),
            open,
            ports: declared.ports.clone(),
            patience: declared.timeout.std(),
            redirects: declared.redirects,
            bytes: declared.max_response.bytes(),
        }
    }

    /// Whether an address is allowed at all, as far as that is known without resolving its name.
    fn allowed(&self, url: &Url) -> Result<(), FetchError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(FetchError::Address("not an address of a page"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(FetchError::Address("an address with a name or password in it"));
        }
        if !url.port_or_known_default().is_some_and(|port| self.ports.contains(&port)) {
            return Err(FetchError::Address("an address with a port that is not allowed"));
        }
        let fits = match url.host() {
            Some(Host::Ipv4(address)) => reachable(&self.open, address.into()),
            Some(Host::Ipv6(address)) => reachable(&self.open, address.into()),
            // These names lead to this machine, whatever answers for them.
            Some(Host::Domain(name)) if self.open.is_empty() => {
                let name = name.trim_end_matches('.');
                name != "localhost" && !name.ends_with(".localhost")
            }
            Some(Host::Domain(_)) => true,
            None => false,
        };
        fits.then_some(()).ok_or(FetchError::Address("an address that is not public"))
    }

    /// The page at an address.
    fn page(&self, url: Url) -> Result<WebPage, FetchError> {
        let (url, mut answer) = self.follow(url, self.patience)?;
        let mut bytes = Vec::new();
        let body = answer.body_mut().as_reader().take(self.bytes).read_to_end(&mut bytes);
        body.map_err(|error| FetchError::Nothing(error.to_string()))?;
        Ok(WebPage { url, text: String::from_utf8_lossy(&bytes).into_owned() })
    }

    /// The file at an address, whatever it is.
    fn download(
        &self,
        url: Url,
        mut into: tempfile::NamedTempFile,
        most: u64,
        patience: Duration,
    ) -> Result<Download, DownloadError> {
        let (_, mut answer) = self.reach(url, patience)?;
        if answer.status() != http::StatusCode::OK {
            let error = FetchError::Status(answer.status().as_u16());
            return Err(DownloadError { error, wait: retry_after(answer.headers()) });
        }
        let mut body = answer.body_mut().as_reader().take(most.saturating_add(1));
        let size = std::io::copy(&mut body, &mut into).map_err(|error| FetchError::Nothing(error.to_string()))?;
        if size > most {
            return Err(FetchError::TooLarge.into());
        }
        Ok(Download { file: into.into_temp_path(), size })
    }

    fn send(
        &self,
        url: &Url,
        request: OutgoingRequest,
        patience: Duration,
        most: u64,
    ) -> Result<ReceivedAnswer, FetchError> {
        let mut built = http::Request::builder().method(request.method.as_str()).uri(url.as_str());
        for (name, value) in &request.headers {
            built = built.header(name, value);
        }
        let built = built.body(request.body).map_err(|error| FetchError::Nothing(error.to_string()))?;
        let built = self.agent.configure_request(built).timeout_global(Some(patience)).build();
        let mut answer = self.agent.run(built).map_err(|error| match error {
            ureq::Error::HostNotFound => FetchError::Address(UNKNOWN),
            error => FetchError::Nothing(error.to_string()),
        })?;
        let mut bytes = Vec::new();
        // The status counts, also where the rest of the answer does not come.
        let _ = answer.body_mut().as_reader().take(most).read_to_end(&mut bytes);
        let (read, text) = (bytes.len() as u64, String::from_utf8_lossy(&bytes).replace('\0', ""));
        Ok(ReceivedAnswer { status: answer.status().as_u16(), text, read, headers: answer.headers().clone() })
    }

    /// The response with status 200 that an address leads to, and where it was in the end.
    fn follow(&self, url: Url, patience: Duration) -> Result<(Url, http::Response<ureq::Body>), FetchError> {
        let (url, answer) = self.reach(url, patience)?;
        match answer.status() {
            http::StatusCode::OK => Ok((url, answer)),
            status => Err(FetchError::Status(status.as_u16())),
        }
    }

    /// The response that an address leads to, whatever its status, and where it was in the end.
    fn reach(&self, mut url: Url, patience: Duration) -> Result<(Url, http::Response<ureq::Body>), FetchError> {
        let end = Instant::now() + patience;
        for _ in 0..=self.redirects {
            self.allowed(&url)?;
            let left = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            let request = self.agent.get(url.as_str()).config().timeout_global(Some(left)).build();
            let answer = request.call().map_err(|error| match error {
                ureq::Error::HostNotFound => FetchError::Address(UNKNOWN),
                error => FetchError::Nothing(error.to_string()),
            })?;
            if answer.status().is_redirection()
                && let Some(next) = answer.headers().get(http::header::LOCATION).and_then(|value| value.to_str().ok())
            {
                url = url
                    .join(next)
                    .map_err(|error| FetchError::Nothing(format!("redirected to no address: {error}")))?;
                continue;
            }
            return Ok((url, answer));
        }
        Err(FetchError::Nothing("redirected too often".into()))
    }
}

/// How long a response asks to wait before the next request: seconds or a moment (`Retry-After`).
fn retry_after(headers: &http::HeaderMap) -> Option<Duration> {
    let asked = headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.trim();
    let until = |moment: SystemTime| moment.duration_since(SystemTime::now()).unwrap_or_default();
    asked.parse().ok().map(Duration::from_secs).or_else(|| httpdate::parse_http_date(asked).ok().map(until))
}

fn reachable(open: &[Network], address: IpAddr) -> bool {
    network::public(address) || open.iter().any(|network| network.contains(address))
}

/// Resolves names, and returns only addresses that may be connected to.
struct PublicResolver {
    open: Vec<Network>,
    inner: DefaultResolver,
    last: Mutex<Option<ResolvedName>>,
}

/// The name of the last request, with its addresses: the client asks before each request, also where a connection is open.
struct ResolvedName {
    name: String,
    at: Instant,
    addresses: Vec<SocketAddr>,
}

impl fmt::Debug for PublicResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checked").field("open", &self.open).finish_non_exhaustive()
    }
}

impl Resolver for PublicResolver {
    fn resolve(
        &self,
        uri: &http::Uri,
        config: &ureq::config::Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let (scheme, authority) =
            (uri.scheme_str().unwrap_or_default(), uri.authority().map_or("", |own| own.as_str()));
        let (name, mut allowed) = (format!("{scheme}://{authority}"), self.empty());
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = last.as_ref().filter(|known| known.name == name && known.at.elapsed() < IDLE) {
            known.addresses.iter().for_each(|address| allowed.push(*address));
            return Ok(allowed);
        }
        drop(last);
        // A name without an address is answered like one of a private network: which of them there are is not told.
        let found = self.inner.resolve(uri, config, timeout).map_err(|_| ureq::Error::HostNotFound)?;
        found.iter().filter(|address| reachable(&self.open, address.ip())).for_each(|address| allowed.push(*address));
        if allowed.is_empty() {
            return Err(ureq::Error::HostNotFound);
        }
        last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(ResolvedName { name, at: Instant::now(), addresses: allowed.to_vec() });
        Ok(allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outbound(networks: &[&str]) -> Outbound {
        let networks = networks.iter().map(|text| (*text).to_owned()).collect();
        Outbound::new(&Declared { networks, ..Declared::default() })
    }

    #[test]
    fn a_response_asks_to_wait_in_seconds_or_until_a_moment() {
        let past = httpdate::fmt_http_date(SystemTime::UNIX_EPOCH);
        let later = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3600));
        let check = |value: &str, least: u64, most: u64| {
            let headers = http::HeaderMap::from_iter([(http::header::RETRY_AFTER, value.parse().expect("a header"))]);
            let found = retry_after(&headers).map(|wait| wait.as_secs());
            assert!(found.is_some_and(|seconds| (least..=most).contains(&seconds)), "{value}: {found:?}");
        };
        check(" 7 ", 7, 7);
        check(&past, 0, 0);
        check(&later, 3500, 3600);
        let wrong = http::HeaderMap::from_iter([(http::header::RETRY_AFTER, "soon".parse().expect("a header"))]);
        assert_eq!((retry_after(&wrong), retry_after(&http::HeaderMap::new())), (None, None));
    }

    #[test]
    fn addresses_that_are_not_public_are_not_asked() {
        let check = |address: &str, expected: bool| {
            let url = Url::parse(address).expect("an address");
            assert_eq!(outbound(&[]).asker.allowed(&url).is_ok(), expected, "{address}");
        };
        check("https://example.org/a?b=c", true);
        check("http://8.8.8.8/", true);
        for wrong in [
            "ftp://example.org/",
            "file:///etc/passwd",
            "data:text/html,x",
            "http://example.org:22/",
            "http://user@example.org/",
            "http://:secret@example.org/",
            "http://127.0.0.1/",
            "http://127.1/",
            "http://0x7f.1/",
            "http://2130706433/",
            "http://017700000001/",
            "http://[::1]/",
            "http://[::ffff:10.0.0.1]/",
            "http://169.254.169.254/latest/meta-data",
        ] {
            check(wrong, false);
        }
    }

    #[test]
    fn names_that_lead_home_are_not_followed() {
        let ask = |networks: &[&str]| {
            let found = outbound(networks)
                .asker
                .follow(Url::parse("http://localhost:8080/").expect("an address"), Duration::from_secs(5));
            found.expect_err("nothing listens there, or it is not allowed")
        };
        assert!(matches!(ask(&[]), FetchError::Address(_)));
        // As for a name of a private network: which of them there are is not told.
        let missing = outbound(&[])
            .asker
            .follow(Url::parse("http://nothing.invalid:8080/").expect("an address"), Duration::from_secs(5));
        assert_eq!(missing.err(), Some(FetchError::Address(UNKNOWN)));
    }

    #[test]
    fn providers_are_found_by_their_addresses() {
        let check = |declared: &str, address: &str, expected: bool| {
            let found = pattern(declared).is_some_and(|pattern| pattern.is_match(address));
            assert_eq!(found, expected, "{declared} {address}");
        };
        check("https://*.example.com/watch*", "https://www.example.com/watch?v=1", true);
        check("https://*.example.com/watch*", "http://WWW.example.com/watch", true);
        check("https://*.example.com/watch*", "https://example.com/watch", false);
        check("https://example.com/*", "https://example.com.evil.org/", false);
        check("https://example.com/v", "https://example.com/v2", false);
        check("example.com/*", "https://example.com/", false);
    }
}
