//! A site at an address that is asked over REST: one request after the other, with a pause between them, within `[outbound]`.

use crate::boot::BootError;
use cms_core::error::status;
use cms_core::outbound::{FetchError, OutboundSender, OutgoingRequest};
use cms_declaration::Outbound as Declared;
use serde_json::{Map, Value};
use std::thread::sleep;
use std::time::{Duration, Instant};
use url::{Host, Url};

/// Bytes of an answer that are read.
const MOST: u64 = 64 << 20;
/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a request is sent that the site asks to send later, and how long it may ask to wait.
const TRIES: u32 = 5;
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// The wait where a site names none: long enough for most limits.
const USUAL_PAUSE: Duration = Duration::from_secs(10);

/// An answer to a GET.
pub struct RemoteAnswer {
    pub status: u16,
    /// Items of the whole collection.
    pub total: Option<u64>,
    /// Null where an error is a page for people.
    pub body: Value,
}

/// See the module.
pub struct RemoteSite {
    client: OutboundSender,
    /// Where its REST interface begins.
    rest: Url,
    /// The header that names the caller, and its value.
    caller: Option<(String, String)>,
    pause: Duration,
    next: Instant,
    /// It has answered once, so that a failure may pass.
    reached: bool,
}

impl RemoteSite {
    /// The site at an address, which is that of its pages or of its interface; `prefix` names the interface.
    ///
    /// # Errors
    /// It is no address.
    pub fn new(declared: &Declared, site: &str, prefix: &str, pause: Duration) -> Result<RemoteSite, BootError> {
        let wrong = |why: &str| BootError::Other(format!("{site}: {why}"));
        let mut rest = Url::parse(site).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(rest.scheme(), "http" | "https") {
            return Err(wrong("name the site by its address: https://old.example.org"));
        }
        let path = rest.path().trim_end_matches('/').to_owned();
        let interface = format!("/{prefix}-json");
        let path = if path.ends_with(&interface) { path } else { path + &interface };
        rest.set_path(&path);
        rest.set_query(None);
        rest.set_fragment(None);
        let client = OutboundSender::new(declared);
        Ok(RemoteSite { client, rest, caller: None, pause, next: Instant::now(), reached: false })
    }

    /// Asks in the name of a user, by an application password.
    ///
    /// # Errors
    /// The password would travel as a readable text.
    pub fn with_login(mut self, login: &str, password: &str) -> Result<RemoteSite, BootError> {
        use base64::Engine as _;
        let own = match self.rest.host() {
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            Some(Host::Domain(name)) => name == "localhost",
            None => false,
        };
        if self.rest.scheme() != "https" && !own {
            return Err(BootError::Other(format!("{}: a password is sent over https:// only", self.rest)));
        }
        let pair = base64::engine::general_purpose::STANDARD.encode(format!("{login}:{password}"));
        self.caller = Some(("Authorization".to_owned(), format!("Basic {pair}")));
        Ok(self)
    }

    fn address(&self, path: &str, query: &Map<String, Value>) -> Url {
        let mut url = self.rest.clone();
        url.set_path(&format!("{}{path}", self.rest.path()));
        url.query_pairs_mut().extend_pairs(query.iter().map(|(name, value)| (name, text(value))));
        url
    }

    /// Sends a GET, again where the site asks to come back later.
    ///
    /// # Errors
    /// It may not be asked, does not answer, or answers with what is no JSON.
    pub fn get(&mut self, path: &str, query: &Map<String, Value>) -> Result<RemoteAnswer, BootError> {
        let url = self.address(path, query);
        let failed = |why: String| BootError::Other(format!("{url}: {why}"));
        for tried in 1..=TRIES {
            sleep(self.next.saturating_duration_since(Instant::now()));
            let accept = ("Accept".to_owned(), "application/json".to_owned());
            let headers = self.caller.iter().cloned().chain([accept]).collect();
            let request = OutgoingRequest { method: "GET".into(), headers, body: Vec::new() };
            let answer = match self.client.send(&url, request, (PATIENCE, MOST)) {
                Ok(answer) => answer,
                Err(FetchError::Nothing(_)) if self.reached && tried < TRIES => {
                    self.next = Instant::now() + USUAL_PAUSE.min(self.pause * 2_u32.pow(tried));
                    continue;
                }
                Err(error) => return Err(failed(unanswered(error))),
            };
            self.reached = true;
            self.next = Instant::now() + self.pause;
            if matches!(answer.status, 429 | 503) {
                self.next += asked_pause(answer.retry_after());
                continue;
            }
            if (300..400).contains(&answer.status) {
                let to = answer.header("location").unwrap_or_default();
                return Err(failed(format!("this leads to {to}: name the site by the address that it has")));
            }
            let total = answer.header("x-wp-total").or_else(|| answer.header("x-cms-total"));
            let total = total.and_then(|value| value.trim().parse().ok());
            let body = match serde_json::from_str(answer.text.trim_start_matches('\u{feff}')) {
                Ok(body) => body,
                Err(error) if answer.status == status::OK => return Err(failed(format!("this is no JSON ({error})"))),
                Err(_) => Value::Null,
            };
            return Ok(RemoteAnswer { status: answer.status, total, body });
        }
        Err(failed(format!("the site asked {TRIES} times to come back later; try a longer --pause")))
    }
}

/// The path of the collection of a type or a taxonomy, as the site lists it; `None`: REST has no such collection.
pub fn collection_path(listed: &Value) -> Option<String> {
    let namespace = listed["rest_namespace"].as_str().unwrap_or("wp/v2");
    let base = listed["rest_base"].as_str().filter(|base| !base.is_empty() && !base.contains("(?P"))?;
    Some(format!("/{namespace}/{base}"))
}

/// A value as it is in an address.
pub fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// How long to wait where a site asks to come back later: as long as it says, within bounds.
pub fn asked_pause(asked: Option<Duration>) -> Duration {
    asked.unwrap_or(USUAL_PAUSE).min(LONGEST_PAUSE)
}

fn unanswered(error: FetchError) -> String {
    match error {
        FetchError::Address(why) => {
            format!("{why}\n  hint: outbound.networks and outbound.ports say which addresses may be asked")
        }
        FetchError::Nothing(why) => why,
        FetchError::Status(_) | FetchError::TooLarge | FetchError::Busy => "there is no answer".to_owned(),
    }
}
