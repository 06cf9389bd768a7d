//! How the program serves: listener, storage, caches, limits, requests to other sites.

use crate::units::{Duration, OptionalSetting, Size, yes};
use indexmap::IndexMap;
use schemars::JsonSchema;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;

/// How the server listens and what it accepts.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// Address and port, port 0 takes a free one; or `unix:/run/cms-server/http.sock`. A socket of systemd takes its place.
    #[schemars(extend("x-restart" = true))]
    pub listen: String,
    /// Certificate and key for HTTPS; `false`: plain HTTP. Their files are read again at each reload.
    #[schemars(extend("x-restart" = true))]
    pub tls: OptionalSetting<Tls>,
    /// Worker threads: a number, or `auto` for one per core.
    #[schemars(extend("x-restart" = true))]
    pub workers: Workers,
    /// Largest request body; larger ones are answered 413.
    pub max_body: Size,
    /// Largest body of a request without valid credentials; larger ones are answered 413. Calls of XML-RPC bring their
    /// credentials inside and may be as large as `max_body`. All bodies in progress take at most three times `max_body`
    /// together, half of that those without credentials; more are answered 503.
    pub max_anonymous_body: Size,
    /// Largest query string; longer ones are answered 414.
    pub max_query: Size,
    /// Deepest nesting of a body or query.
    pub max_depth: usize,
    /// How long a client may take to send its head, and its body.
    pub read_timeout: Duration,
    /// How long an idle connection stays open; `false` closes it after each response.
    #[schemars(extend("x-restart" = true))]
    pub keep_alive: OptionalSetting<Duration>,
    /// How long requests in flight may take at shutdown.
    #[schemars(extend("x-restart" = true))]
    pub shutdown_timeout: Duration,
    /// Networks of the proxies whose `X-Forwarded-*` headers are trusted; `unix`: what connects to the Unix socket.
    pub trusted_proxies: Vec<String>,
    /// HTML that the dynamic blocks and shortcodes of one content may produce; the rest is left out.
    pub max_rendered: Size,
    /// Name of this process among those that share a database, for metrics; `false`: the name of the host.
    #[schemars(extend("x-restart" = true))]
    pub node: OptionalSetting<String>,
    /// Address of the listener for `/health` and `/metrics`; `false`: none.
    #[schemars(extend("x-restart" = true))]
    pub admin_listen: OptionalSetting<String>,
    /// Whether each request is logged.
    pub access_log: bool,
    /// Whether a change of a declaration file rebuilds the registry.
    #[schemars(extend("x-restart" = true))]
    pub watch: bool,
}

impl Default for Server {
    fn default() -> Self {
        Server {
            listen: "127.0.0.1:8080".into(),
            tls: OptionalSetting::OFF,
            workers: Workers::Auto,
            max_body: Size::mib(16),
            max_anonymous_body: Size::mib(1),
            max_query: Size::kib(60),
            max_depth: 64,
            read_timeout: Duration::seconds_of(30),
            keep_alive: OptionalSetting::on(Duration::seconds_of(30)),
            shutdown_timeout: Duration::seconds_of(30),
            trusted_proxies: Vec::new(),
            max_rendered: Size::mib(2),
            node: OptionalSetting::OFF,
            admin_listen: OptionalSetting::OFF,
            access_log: true,
            watch: true,
        }
    }
}

/// Files in PEM, relative to the working directory.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The certificate, and those that lead to its authority.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

/// How many threads answer requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Workers {
    /// One per core.
    #[default]
    Auto,
    /// This number.
    Number(usize),
}

const AUTO: &str = "auto";

impl<'de> Deserialize<'de> for Workers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) if text == AUTO => Ok(Workers::Auto),
            number => usize::deserialize(number).map(Workers::Number).map_err(D::Error::custom),
        }
    }
}

impl Serialize for Workers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Workers::Auto => serializer.serialize_str(AUTO),
            Workers::Number(number) => number.serialize(serializer),
        }
    }
}

impl JsonSchema for Workers {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Workers".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [{"const": AUTO}, {"type": "integer", "minimum": 1, "maximum": 1024}]})
    }
}

/// How the log is written, which is the standard error.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// `text`, or `json`: one JSON object per line.
    #[schemars(extend("x-restart" = true))]
    pub format: LogFormat,
    /// The least severe level that is logged. The environment variable `RUST_LOG` outranks it and sets levels by module:
    /// `info,cms_storage=debug`.
    #[schemars(extend("x-restart" = true))]
    pub level: LogLevel,
}

/// See [`Log::format`].
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

/// See [`Log::level`].
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    Error,
    Warn,
    #[default]
    Info,
    Debug,
    Trace,
}

impl LogLevel {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            LogLevel::Error => "error",
            LogLevel::Warn => "warn",
            LogLevel::Info => "info",
            LogLevel::Debug => "debug",
            LogLevel::Trace => "trace",
        }
    }
}

/// Caches in memory. Cached responses and documents survive writes to rows that they do not contain.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cache {
    /// Memory for all that is cached. Responses get three eighths of it, documents the rest, unless they have sizes of
    /// their own; what one of them does not take is the other's.
    pub memory: Size,
    /// Memory for whole responses and their compressed forms: `true` for a share, `false` for none.
    pub responses: Share,
    /// Memory for the JSON of single documents: `true` for a share, `false` for none.
    pub documents: Share,
    /// How soon what another process wrote is seen: `bounded` (a few milliseconds later), or `strict` (at once: every
    /// request first asks the database whether there is something new).
    pub consistency: Consistency,
}

/// How soon a process sees what others wrote.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Consistency {
    /// When it hears of it.
    #[default]
    Bounded,
    /// At the next request.
    Strict,
}

impl Default for Cache {
    fn default() -> Self {
        Cache {
            memory: Size::mib(56),
            responses: Share::Used(true),
            documents: Share::Used(true),
            consistency: Consistency::default(),
        }
    }
}

impl Cache {
    /// Bytes for responses and for documents.
    pub fn shares(&self) -> [u64; 2] {
        let all = self.memory.bytes();
        match (self.responses.own(), self.documents.own()) {
            (Some(responses), Some(documents)) => [responses, documents],
            (Some(responses), None) => [responses, all.saturating_sub(responses)],
            (None, Some(documents)) => [all.saturating_sub(documents), documents],
            (None, None) => [all / 8 * 3, all - all / 8 * 3],
        }
    }
}

/// The part of the memory for all caches that one cache may take.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Share {
    /// Its share; `false`: nothing.
    Used(bool),
    /// A size of its own.
    Own(Size),
}

impl JsonSchema for Share {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Share".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [{"const": true}, {"const": false}, generator.subschema_for::<Size>()]})
    }
}

impl Share {
    /// Bytes, where they are no share.
    fn own(self) -> Option<u64> {
        match self {
            Share::Used(true) => None,
            Share::Used(false) => Some(0),
            Share::Own(size) => Some(size.bytes()),
        }
    }
}

/// Where rows are stored.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Storage {
    /// `sqlite:FILE`, relative to the working directory, `sqlite::memory:`, or
    /// `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=require`.
    #[schemars(extend("x-restart" = true))]
    pub url: String,
    /// When tables follow the declarations: `boot` (additive changes at start), `auto` (at reloads too), `never`.
    pub migrate: Migrate,
    /// Whether the database is copied before tables change, to a file beside it; the three newest copies stay.
    pub copy_before_migration: bool,
    /// Writes that may wait; more are answered 503.
    #[schemars(extend("x-restart" = true))]
    pub write_queue: usize,
    /// Connections to a PostgreSQL server for reads. `server.workers` is as many, unless it is set: a worker waits for the
    /// rows that it reads.
    #[schemars(range(min = 1), extend("x-restart" = true))]
    pub connections: usize,
    /// How long the reads of one request may take together, those of embedded requests and of batches included; more is
    /// answered 503. `false`: no limit.
    pub read_timeout: OptionalSetting<Duration>,
}

impl Default for Storage {
    fn default() -> Self {
        Storage {
            url: "sqlite:site.db".into(),
            migrate: Migrate::Boot,
            copy_before_migration: true,
            write_queue: 4096,
            connections: 16,
            read_timeout: OptionalSetting::on(Duration::seconds_of(5)),
        }
    }
}

/// Backups that the server makes by itself.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Backup {
    /// Folder of the backups; `false`: none are made.
    #[schemars(extend("x-restart" = true))]
    pub folder: OptionalSetting<String>,
    /// Time between two backups; `false`: only the command makes some.
    #[schemars(extend("x-restart" = true))]
    pub every: OptionalSetting<Duration>,
    /// Backups that are retained; older ones are deleted.
    #[schemars(range(min = 1), extend("x-restart" = true))]
    pub keep: usize,
    /// Whether the uploaded files are in them, too.
    #[schemars(extend("x-restart" = true))]
    pub files: bool,
}

impl Default for Backup {
    fn default() -> Self {
        Backup { folder: OptionalSetting::OFF, every: OptionalSetting::on(Duration::days(1)), keep: 7, files: true }
    }
}

/// The change feed: a table (`change_feed`) that says which rows each commit changed, in the order of commits. Processes
/// that share a database learn from it what others wrote.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Feed {
    /// How long its entries stay.
    #[schemars(extend("x-restart" = true))]
    pub keep: Duration,
    /// Most entries; older ones are deleted.
    #[schemars(range(min = 1000), extend("x-restart" = true))]
    pub entries: u64,
}

impl Default for Feed {
    fn default() -> Self {
        Feed { keep: Duration::days(7), entries: 1_000_000 }
    }
}

/// See [`Storage::migrate`].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Migrate {
    Boot,
    Auto,
    Never,
}

/// Limits on values that clients send, where their schema sets none. More is answered 400.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bounds {
    /// Characters of a text without `maxLength`.
    pub max_length: u64,
    /// Items of a list without `maxItems`, in arguments and in bodies; names in `_fields` and `_embed`.
    #[schemars(range(min = 1))]
    pub max_items: u64,
    /// Members of an object without `maxProperties`.
    pub max_properties: u64,
    /// JSON text of what no schema describes: properties of free-form objects, lists without `items`.
    pub max_free_form: Size,
    /// Ancestors of a record or a term.
    pub max_ancestors: usize,
    /// Meta values of a row that clients give keys of their own (`custom_fields` of XML-RPC), with the others.
    pub max_fields: usize,
    /// Characters of such a key.
    pub max_field_key: usize,
    /// JSON text of such a value.
    pub max_field_value: Size,
    /// Revisions of a record, autosaves apart: the oldest ones beyond so many are deleted.
    #[schemars(range(min = 2))]
    pub max_revisions: u32,
    /// Characters of a `User-Agent` header that are stored, with comments and sessions; the rest is cut off.
    pub max_user_agent: usize,
    /// Whether the arguments in OPTIONS list `maxLength` and `maxItems` of their properties. The schema in the same
    /// response always lists them.
    pub in_options: bool,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            max_length: 65_535,
            max_items: 1000,
            max_properties: 1000,
            max_free_form: Size::mib(1),
            max_ancestors: 100,
            max_fields: 500,
            max_field_key: 255,
            max_field_value: Size::kib(64),
            max_revisions: 1000,
            max_user_agent: 254,
            in_options: true,
        }
    }
}

/// A rate limit: anonymous callers share one per network, users have one each. Beyond it, requests are answered
/// 429. Only requests that are allowed and about to be carried out count, and no response from the cache.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    pub callers: Callers,
    /// Methods that count; none named: all.
    #[serde(default)]
    pub methods: Vec<String>,
    /// Resources that count, by their declared names; none named: all routes.
    #[serde(default)]
    pub resources: Vec<String>,
    /// Requests in a burst.
    #[schemars(range(min = 1))]
    pub burst: u32,
    /// Requests per minute in the long run.
    #[schemars(range(min = 1))]
    pub per_minute: u32,
    /// Whether the limit applies.
    #[serde(default = "yes")]
    pub enabled: bool,
}

/// Whose requests a limit counts.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Callers {
    /// Everybody.
    All,
    /// Callers without credentials, counted by network.
    Anonymous,
    /// Callers with credentials, counted by user.
    Authenticated,
    /// Callers whose credentials are wrong: beyond the limit they are refused instead of being treated as anonymous.
    FailedAuth,
    /// Callers who give consecutive wrong passwords of one record: beyond the limit no password of that record is
    /// checked. `methods` and `resources` do not matter.
    FailedRecordPassword,
}

/// The Model Context Protocol: abilities as tools, records as resources, for programs that act for people.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mcp {
    /// Path of its address (`"/mcp"`); `false`: it is not served.
    pub path: OptionalSetting<String>,
    /// Tools of single abilities, at most. Where there are more abilities, three tools find, describe and run them, and only
    /// abilities with `tool = true` are tools of their own.
    pub direct: usize,
    /// Abilities that are declared destructive are tools, too.
    pub destructive: bool,
    /// Largest message.
    pub max_body: Size,
    /// Resources on one page of the list, at most 100.
    #[schemars(range(min = 1, max = 100))]
    pub page: u8,
    /// Subscriptions that are open at once, of each process; of one user a tenth of them.
    pub max_subscriptions: usize,
    /// How long a subscription lasts, at most; the client subscribes again.
    pub subscription: Duration,
    /// Instructions for assistants, after the facts of the site: the house style, what to ask before doing.
    #[schemars(length(max = 10_000))]
    pub instructions: String,
    /// The resource with the prompts that editors write; `false`: there are none.
    pub prompts: OptionalSetting<String>,
}

/// Changes of records by credentials that only draft: they wait until a person decides.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reviews {
    /// The resource with these changes; `false`: such credentials change nothing but drafts of their own.
    pub resource: OptionalSetting<String>,
    /// Changes of one user that wait at most.
    pub most: u64,
}

impl Default for Reviews {
    fn default() -> Self {
        Reviews { resource: OptionalSetting::OFF, most: 100 }
    }
}

impl Default for Mcp {
    fn default() -> Self {
        Mcp {
            path: OptionalSetting::OFF,
            direct: 40,
            destructive: false,
            max_body: Size::mib(4),
            page: 50,
            max_subscriptions: 100,
            subscription: Duration::seconds_of(3600),
            instructions: String::new(),
            prompts: OptionalSetting::OFF,
        }
    }
}

/// Bounds of requests to other sites: previews, uploads and providers (all off), webhooks, logins, documents of OAuth clients.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Outbound {
    /// Whether editors may fetch title, icon, description and picture of any public page.
    pub link_previews: bool,
    /// Whether callers who may upload files may have them fetched from any public address.
    pub uploads: bool,
    /// Sites that describe how to embed their pages (oEmbed), by any name.
    pub providers: IndexMap<String, Provider>,
    /// Private networks that outbound requests may reach.
    pub networks: Vec<String>,
    /// Ports that outbound requests may use.
    pub ports: Vec<u16>,
    /// How long one request may take, redirections included.
    pub timeout: Duration,
    /// Most redirections.
    pub redirects: u32,
    /// How much of a response is read.
    pub max_response: Size,
    /// Requests at the same time; of one caller at most half of them, rounded up.
    pub workers: usize,
    /// Requests that may wait; more are answered 503.
    pub queue: usize,
}

impl Default for Outbound {
    fn default() -> Self {
        Outbound {
            link_previews: false,
            uploads: false,
            providers: IndexMap::new(),
            networks: Vec::new(),
            ports: vec![80, 443, 8080],
            timeout: Duration::seconds_of(5),
            redirects: 3,
            max_response: Size::kib(150),
            workers: 2,
            queue: 16,
        }
    }
}

/// A site that describes how to embed its pages.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// Addresses that it serves, with `*` for any text (`https://*.example.com/watch*`).
    pub addresses: Vec<String>,
    /// URL of its oEmbed endpoint; `{format}` is replaced by `json`.
    pub endpoint: String,
}

/// Cross-origin rules.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cors {
    /// Any origin may read without credentials.
    pub any: bool,
    /// Origins that may send credentials.
    pub origins: Vec<String>,
    /// Every origin is echoed with credentials allowed (harmless only because a cookie without a nonce authenticates
    /// nobody).
    pub reflect: bool,
    /// Request headers that scripts may send.
    pub allow_headers: Vec<String>,
    /// Response headers that scripts may read.
    pub expose_headers: Vec<String>,
    /// How long browsers may cache the response to a preflight; `false`: the header is absent.
    pub max_age: OptionalSetting<Duration>,
}
