//! Routes, their endpoints and arguments.

use crate::units::{Duration, Size};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Arguments by name: each a JSON Schema with `required`, `default` and our `x-` words (`x-param`, `x-filter`,
/// `x-value-map`, `x-arg-aliases`, `x-unlisted-bounds`: keywords that hold although OPTIONS does not list them,
/// `x-search-words`: how many words a search may have).
pub type ArgGroup = IndexMap<String, SchemaDoc>;

/// A JSON Schema (draft 4) with our `x-` words, as written.
pub type SchemaDoc = Map<String, Value>;

/// A namespace, the leading part of its routes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Namespace {
    /// `vendor/version`.
    pub path: String,
    /// Its routes are served; neither they nor the namespace are listed.
    #[serde(default)]
    pub hidden: bool,
}

/// A route: a path pattern and its endpoints.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// Path below the namespace; `{base}` is the resource's base; captures are `(?P<name>class)`.
    pub path: String,
    /// For routes outside a resource: the namespace's name; absent: the route has no namespace.
    #[serde(default)]
    pub namespace: Option<String>,
    /// For routes outside a resource: whose schema OPTIONS shows and handlers use.
    #[serde(default)]
    pub resource: Option<String>,
    /// It is served, but neither the root nor the descriptions list it.
    #[serde(default)]
    pub hidden: bool,
    /// OpenAPI describes it although it is hidden.
    #[serde(default)]
    pub described: bool,
    /// It exists only for requests that are sent in a secure context (`site.secure_context`).
    #[serde(default)]
    pub secure_context: bool,
    /// OPTIONS shows no schema although the resource has one.
    #[serde(default)]
    pub no_schema: bool,
    #[serde(default)]
    pub endpoints: Vec<Endpoint>,
}

/// One or more methods of a route with the same handler.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// HTTP methods that the endpoint answers.
    pub methods: Vec<String>,
    /// A named handler: `list`, `get`, `create`, `update`, `delete`, … (`cms-server routes` lists them).
    pub handler: String,
    /// A named guard, with the capability that it takes after a colon: `public`, `can:manage_options`, `content.read`.
    pub access: String,
    /// Error codes that replace those of the guard and of the resource.
    #[serde(default)]
    pub codes: IndexMap<String, String>,
    /// Only for callers who edit something: others are refused, after the guard's own refusals.
    #[serde(default)]
    pub editors_only: bool,
    /// Groups of arguments: names of `[args]`; `@create` and `@update` derive them from the schema; `@key` from the path.
    #[serde(default)]
    pub args: Vec<String>,
    /// Arguments of this endpoint alone, or changes to those of the groups (merged key by key; `false` removes one).
    #[serde(default)]
    pub with: IndexMap<String, Value>,
    /// A name under which resources adjust the arguments of this endpoint (`resources.X.endpoints.NAME`).
    #[serde(default)]
    pub name: Option<String>,
    /// Whether it may take part in batches; OPTIONS says so where this is declared. Default: no.
    #[serde(default)]
    pub batch: Option<bool>,
    /// Takes a file: the body may be as large as `media.max_upload` and goes to disk.
    #[serde(default)]
    pub file: bool,
    /// Most bytes of the files of one request, where that is less than `media.max_upload`.
    #[serde(default)]
    pub max_upload: Option<Size>,
    /// Lists do not name the pages before and after in the header `Link`.
    #[serde(default)]
    pub no_page_links: bool,
    /// Creates, changes or deletes credentials: closed to limited application passwords.
    #[serde(default)]
    pub credentials: bool,
    /// Capability with which a collection may be read whole, as JSON documents in lines (`Accept: application/x-ndjson`).
    /// Default: it may not.
    #[serde(default)]
    pub export: Option<String>,
    /// Only contains other requests, each of which is authorized by itself.
    #[serde(default)]
    pub envelope: bool,
    /// It acts by requests to other routes: the limits of an application password apply to these.
    #[serde(default)]
    pub forwards: bool,
    /// How long caches may keep responses to anonymous callers; without it there is no `Cache-Control`.
    #[serde(default)]
    pub cache_control: Option<CacheControl>,
    /// Its entry in the audit trail.
    #[serde(default)]
    pub audit: Option<Audit>,
}

/// How long caches may keep a response. Responses to credentials and to passwords of records are never cached.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CacheControl {
    /// In browsers.
    #[serde(default)]
    pub max_age: Option<Duration>,
    /// In caches that many share; absent: as in browsers.
    #[serde(default)]
    pub shared_max_age: Option<Duration>,
    /// How much longer a stale response may be used while a fresh one is fetched.
    #[serde(default)]
    pub stale_while_revalidate: Option<Duration>,
    /// Names the header that lists for shared caches what the response contains (`Surrogate-Key`, `Cache-Tag`): the
    /// collection, and `collection/id` for one item, so that they can invalidate it.
    #[serde(default)]
    pub tag_header: Option<String>,
}

/// An error that responses may tell.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorCode {
    /// Status of the response; absent: a refusal, which is 401 for anonymous callers and 403 for others.
    #[serde(default)]
    #[schemars(range(min = 400, max = 599))]
    pub status: Option<u16>,
    /// The error says nothing in `data`.
    #[serde(default)]
    pub bare: bool,
    /// Text for people.
    pub message: String,
}

/// The entry in the audit trail for a request that has written.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Audit {
    /// Name of the entry.
    pub event: String,
    /// Recorded only when one of these arguments is given; none named: always. Their names are recorded.
    #[serde(default)]
    pub args: Vec<String>,
    /// Arguments whose values are recorded too, where they are given.
    #[serde(default)]
    pub values: Vec<String>,
    /// The argument that names the subject, where the path does not.
    #[serde(default)]
    pub subject: Option<String>,
    /// It happens often: an entry is removed when `site.max_audit_frequent` entries are newer.
    #[serde(default)]
    pub frequent: bool,
}
