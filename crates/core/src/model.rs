//! The nouns that travel between the stages of a request. No logic that belongs to a stage.

use bytes::Bytes;
use cms_text::time::format_local;
use futures_util::Stream;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::net::IpAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// An HTTP method of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

impl Method {
    /// The method of this name in capitals.
    pub fn parse(name: &str) -> Option<Method> {
        Some(match name {
            "GET" => Method::Get,
            "HEAD" => Method::Head,
            "POST" => Method::Post,
            "PUT" => Method::Put,
            "PATCH" => Method::Patch,
            "DELETE" => Method::Delete,
            "OPTIONS" => Method::Options,
            _ => return None,
        })
    }

    /// The name in capitals.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
            Method::Options => "OPTIONS",
        }
    }
}

/// Who sent the request, as far as the connection shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Peer {
    /// The client's address; behind trusted proxies, the one that they name.
    pub ip: Option<IpAddr>,
    /// The connection is encrypted up to the client, as far as known.
    pub https: bool,
    /// A forwarding header was present, believed or not.
    pub forwarded: bool,
    /// The host that the client named is its own machine: `localhost`, or a name below it.
    pub localhost: bool,
}

/// A request as it was received; nothing in it has been checked.
#[derive(Clone, Debug)]
pub struct Request {
    /// Identifies the request in logs.
    pub id: Arc<str>,
    pub method: Method,
    /// The route: percent-decoded, with a leading slash, without the REST base (`/` is the root).
    pub path: String,
    /// The query string as sent, without `rest_route`.
    pub raw_query: String,
    /// The query decoded: lists and maps from brackets, every leaf a string.
    pub query: Map<String, Value>,
    /// Names in lower case, in order.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Files in the body, where the endpoint takes any: they are on disk, and `body` is empty.
    pub upload: Option<Upload>,
    /// It reads the next part of a response that was begun: limits have counted it already.
    pub goes_on: bool,
    pub peer: Peer,
}

/// The upload that an endpoint for files received.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Upload {
    /// The parts beside the files, decoded like a query; the members of a JSON body.
    pub fields: Map<String, Value>,
    pub files: Vec<UploadFile>,
    /// It was sent as a form; otherwise the body as a whole is the only file.
    pub form: bool,
    /// `Content-Disposition` of the request.
    pub disposition: Option<String>,
    /// `Content-MD5` of the request.
    pub md5: Option<String>,
    /// It is announced as records, one after the other.
    pub records: Option<RecordFormat>,
}

/// How records are written one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordFormat {
    /// A JSON document in each line.
    Lines,
    /// Comma-separated values (RFC 4180); the first record names the properties.
    Csv,
}

/// A file that exists on disk as long as it is referenced.
#[derive(Clone, Debug)]
pub struct UploadFile {
    /// Name of the form's field; empty for a whole body.
    pub field: String,
    /// The client's name of the file, where a form has one.
    pub name: String,
    /// Bytes.
    pub size: u64,
    pub file: Arc<tempfile::TempPath>,
}

impl PartialEq for UploadFile {
    fn eq(&self, other: &UploadFile) -> bool {
        Arc::ptr_eq(&self.file, &other.file) && self.field == other.field && self.name == other.name
    }
}

impl UploadFile {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.file
    }
}

impl Request {
    /// The first header of this lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// Whether the client wants a collection in lines: it accepts them, and not JSON rather than that.
    pub fn wants_lines(&self) -> bool {
        let accepted = self.header("accept").unwrap_or_default();
        let place = |media_type: &str| accepted.find(media_type);
        place(LINES).is_some_and(|lines| place("application/json").is_none_or(|json| lines < json))
    }

    /// Whether the client takes a stream of events.
    pub fn wants_events(&self) -> bool {
        self.header("accept").is_some_and(|types| types.contains(EVENT_STREAM))
    }
}

/// A body that is sent as it comes.
pub type EventStream = Pin<Box<dyn Stream<Item = Bytes>>>;

/// The headers of a stream of events.
pub fn event_stream_headers() -> Vec<(String, String)> {
    // Proxies would hold events back.
    let headers = [("Content-Type", EVENT_STREAM), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no")];
    headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}

/// Why a body that is sent as it comes has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Other declarations are in charge.
    Replaced,
    /// The program ends.
    Stopping,
}

/// Says whether bodies that are sent as they come have to end.
pub type StopSignal = Arc<dyn Fn() -> Option<StopReason> + Send + Sync>;

/// The events that a stream tells of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventQuery {
    /// Names of resources; empty: all.
    pub resources: Vec<String>,
    /// Names of events; empty: all.
    pub events: Vec<String>,
    /// Names of states; empty: all.
    pub statuses: Vec<String>,
    /// The number of the last event that the client knows.
    pub after: Option<i64>,
    pub watched: Option<WatchedDocument>,
}

/// A document that a stream sends when it begins, and again whenever it differs.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchedDocument {
    /// The event that it is sent as.
    pub event: &'static str,
    /// Path of its route below the REST base.
    pub path: String,
    pub query: Map<String, Value>,
}

/// A piece of the site's export.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteExportQuery {
    /// Stored kinds of records; `None`: all.
    pub kinds: Option<Vec<Arc<str>>>,
    /// Records that were changed then or later, in UTC seconds.
    pub since: Option<i64>,
    /// Records with higher ids.
    pub after: i64,
    /// Records up to this id.
    pub until: Option<i64>,
    /// The file goes on: so many records are read for the piece.
    pub goes_on: Option<u64>,
    /// The capabilities of the reader, who reads single fields by them.
    pub reader: Arc<HashSet<Arc<str>>>,
}

/// The version of the shape of events. It changes where a member changes its meaning, never where one is added.
const EVENT_VERSION: u64 = 1;

/// The members that every event begins with: its number, its type, when it was (UTC milliseconds), its depth, and the resource, the
/// kind and the key of the item.
pub fn event_head(id: i64, event: &str, at: i64, depth: i64, item: [Value; 3]) -> Map<String, Value> {
    let time = format!("{}.{:03}Z", format_local(at.div_euclid(1000)), at.rem_euclid(1000));
    let [resource, kind, record] = item;
    let members = [
        ("version", json!(EVENT_VERSION)),
        ("id", json!(id)),
        ("type", json!(event)),
        ("time", json!(time)),
        ("depth", json!(depth)),
        ("resource", resource),
        ("kind", kind),
        ("record", record),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// An event that is no change: a webhook's receiver gets it whatever its filters are. `all`: any address may be concerned.
pub fn event_of_webhook(id: i64, event: &str, at: i64, hook: [Value; 3], all: bool) -> Value {
    let mut document = event_head(id, event, at, 1, hook);
    for name in ["slug", "link", "previous_slug", "previous_link"] {
        document.insert(name.into(), Value::Null);
    }
    document.insert("status".into(), json!({"before": null, "after": null}));
    document.extend(["changed", "keys"].map(|name| (name.to_owned(), json!([]))));
    document.insert("addresses".into(), json!({"all": all, "front": [], "rest": []}));
    Value::Object(document)
}

/// The header that says how many webhooks, one after the other, led to a request. There is no standard name: `CDN-Loop`
/// (RFC 8586) is that of caches, and `Max-Forwards` that of proxies.
pub const WEBHOOK_DEPTH: &str = "webhook-depth";

/// Headers of a signed request to a receiver, as Standard Webhooks name them: its id, its time and its signatures.
pub const WEBHOOK_HEADERS: [&str; 3] = ["webhook-id", "webhook-timestamp", "webhook-signature"];

/// Media type of a stream of events.
pub const EVENT_STREAM: &str = "text/event-stream";

/// Media type of JSON documents in lines.
pub const LINES: &str = "application/x-ndjson";

/// Media type of comma-separated values.
pub const CSV: &str = "text/csv";

/// Media type of WordPress's exports.
pub const WXR: &str = "application/rss+xml";

/// The body of a reply.
#[derive(Clone, Debug)]
pub enum Payload {
    /// The beginning of a body that is read piece by piece. More follows for the same request with this `_cursor`.
    Pieces {
        media_type: &'static str,
        bytes: Bytes,
        next: Option<String>,
    },
    /// A piece of the site's export. Whoever serves the request writes it.
    Export(Box<SiteExportQuery>),
    /// A stream of events. Whoever serves the request opens it.
    Events(Box<EventQuery>),
    /// No body at all.
    Empty,
    Json(Value),
    /// JSON text that was rendered before.
    Text(Bytes),
    /// JSON text that is cached.
    Shared(Arc<SharedText>),
    /// Anything else, with its media type.
    Other {
        media_type: &'static str,
        bytes: Vec<u8>,
    },
    /// A page that is compressed for clients that accept it. Its size then depends on which of its texts are alike, so that
    /// a secret in it has to be written in another way each time.
    Page {
        media_type: &'static str,
        bytes: Vec<u8>,
    },
}

/// A text that many responses share, with its encodings, each computed at first use.
#[derive(Debug)]
pub struct SharedText {
    pub text: Bytes,
    /// Encoded texts in the order of the edge's table of encodings; empty where encoding does not pay, or where there is
    /// no room for it.
    pub encoded: [OnceLock<Bytes>; 3],
    room: Arc<EncodingBudget>,
}

impl SharedText {
    /// A text without encodings yet; `room` is what these may take.
    pub fn new(text: impl Into<Bytes>, room: Arc<EncodingBudget>) -> SharedText {
        SharedText { text: text.into(), encoded: Default::default(), room }
    }

    /// Takes room for an encoding of so many bytes; false when there is none.
    pub fn takes(&self, bytes: usize) -> bool {
        self.room.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes as u64)).is_ok()
    }
}

impl Drop for SharedText {
    fn drop(&mut self) {
        let taken: usize = self.encoded.iter().filter_map(OnceLock::get).map(Bytes::len).sum();
        self.room.0.fetch_add(taken as u64, Relaxed);
    }
}

/// Bytes that encodings of cached texts may still use together.
#[derive(Debug)]
pub struct EncodingBudget(AtomicU64);

impl EncodingBudget {
    /// A budget of so many bytes.
    pub fn new(bytes: u64) -> Arc<EncodingBudget> {
        Arc::new(EncodingBudget(AtomicU64::new(bytes)))
    }

    /// The rest of the budget.
    pub fn left(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A response.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    /// Names as they are to be written (`X-CMS-Total`).
    pub headers: Vec<(String, String)>,
    pub payload: Payload,
}
