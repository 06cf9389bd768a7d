//! The grammar of `routes.toml`: what a user may write, as types.
//!
//! `cms-server schema` prints the JSON Schema of [`Declaration`]; the loader checks every file against it, so a field
//! added here is at once known to editors, to the boot's problem report and to the registry. Nothing is interpreted
//! here. In every string `{prefix}` and `{PREFIX}` stand for `site.prefix`. What a file may say beside the declaration
//! (`include`, `overlays`, `remove`) is in `grammar`. Types with defaults serialise, so that the defaults are in the
//! JSON Schema too.

mod media;
mod options;
mod resource;
mod route;
mod server;
mod site;

pub use media::*;
pub use options::*;
pub use resource::*;
pub use route::*;
pub use server::*;
pub use site::*;

use super::xmlrpc::XmlRpc;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The whole of `routes.toml` after includes, overlays, environment and command line are merged.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// How the program listens and what it accepts.
    #[serde(default)]
    pub server: Server,
    /// What is kept in memory.
    #[serde(default)]
    pub cache: Cache,
    /// Where rows live.
    #[serde(default)]
    pub storage: Storage,
    /// What the site is called and where it stands.
    #[serde(default)]
    pub site: Site,
    /// How values are read and answers are shaped where clients differ.
    #[serde(default)]
    pub dialect: Dialect,
    /// Uploaded files.
    #[serde(default)]
    pub media: Media,
    /// Requests to other sites.
    #[serde(default)]
    pub outbound: Outbound,
    /// Values of the settings resource on an empty database, by property.
    #[serde(default)]
    pub settings: Map<String, Value>,
    /// Roles by machine name.
    #[serde(default)]
    pub roles: IndexMap<String, Role>,
    /// What acts on an object need, by name; resources refer to one.
    #[serde(default)]
    pub capabilities: IndexMap<String, CapabilityMap>,
    /// Record states by neutral name.
    #[serde(default)]
    pub statuses: IndexMap<String, Status>,
    /// States of comments by neutral name. The first public one is that of approved comments, the first one that is
    /// neither public nor removed that of comments which wait for a moderator.
    #[serde(default)]
    pub comment_statuses: IndexMap<String, CommentStatus>,
    /// Namespaces by the name that resources refer to.
    #[serde(default)]
    pub namespaces: IndexMap<String, Namespace>,
    /// Reusable groups of arguments.
    #[serde(default)]
    pub args: IndexMap<String, ArgGroup>,
    /// Reusable sets of routes that a resource takes over with its own base, schema and arguments.
    #[serde(default)]
    pub route_sets: IndexMap<String, Vec<Route>>,
    /// Error codes that the server does not know by itself, for resources and endpoints to name.
    #[serde(default)]
    pub codes: IndexMap<String, ErrorCode>,
    /// Resources that are not served: others extend them.
    #[serde(default)]
    pub base_resources: IndexMap<String, Resource>,
    /// What each of its `taxonomies` brings to a resource.
    #[serde(default)]
    pub per_taxonomy: PerTaxonomy,
    /// What OPTIONS says of links, by their relation; see `links_in_options` of resources.
    #[serde(default)]
    pub link_relations: IndexMap<String, LinkRelation>,
    /// Addresses that explain link relations, by the name that those begin with (`wp` of `wp:term`), with `{rel}` for the
    /// rest. Items that have such a link carry them as `curies`.
    #[serde(default)]
    pub curies: IndexMap<String, String>,
    /// The resources, in the order in which their routes are tried and listed.
    #[serde(default)]
    pub resources: IndexMap<String, Resource>,
    /// Routes that belong to no resource.
    #[serde(default)]
    pub routes: Vec<Route>,
    /// Schema files that OPTIONS shows of routes that belong to no resource, by path; `/` is the root, `/NAMESPACE`
    /// one namespace.
    #[serde(default)]
    pub route_schemas: IndexMap<String, String>,
    /// Blocks that are made of other rows when a content is shown, by their full name (`core/latest-posts`).
    #[serde(default)]
    pub blocks: IndexMap<String, Rendered>,
    /// Shortcodes that are made of other rows.
    #[serde(default)]
    pub shortcodes: IndexMap<String, Rendered>,
    /// Themes; exactly one is active.
    #[serde(default)]
    pub themes: IndexMap<String, Theme>,
    /// Cross-origin rules of the REST base.
    #[serde(default)]
    pub cors: Cors,
    /// XML-RPC: the old interface on the same routes.
    #[serde(default)]
    pub xmlrpc: XmlRpc,
    /// How often callers may ask, by name.
    #[serde(default)]
    pub limits: IndexMap<String, Limit>,
    /// What values that clients send may hold where their schema sets no bound.
    #[serde(default)]
    pub bounds: Bounds,
    /// Pages for people: logging in, profiles, letting programs in.
    #[serde(default)]
    pub pages: Pages,
    /// Overlays of schema files: `schemas.<file stem>` is merged into the schema file of that name. Empty once loaded:
    /// the loader has merged them.
    #[serde(default)]
    pub schemas: IndexMap<String, SchemaDoc>,
}
