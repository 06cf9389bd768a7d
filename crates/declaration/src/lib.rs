//! The grammar of `routes.toml`: what a user may write, as types.
//!
//! `cms-server schema` prints the JSON Schema of [`Declaration`]; the loader checks every file against it, so a field
//! added here is at once known to editors, to the problem report at startup and to the registry. Nothing is interpreted
//! here. In every string `{prefix}` and `{PREFIX}` are replaced by `site.prefix`. The further keys of a file
//! (`include`, `overlays`, `remove`) are in the `grammar` of the crate that reads files. Types with defaults serialise, so
//! that the defaults are in the JSON Schema too.

mod abilities;
mod action;
mod addresses;
mod blocks;
mod console;
mod discoverability;
mod events;
mod fields;
mod login;
mod mail;
mod media;
mod options;
mod resource;
mod route;
mod seo;
mod server;
mod site;
pub mod translations;
pub mod units;
mod views;
pub mod xmlrpc;

pub use abilities::*;
pub use action::*;
pub use addresses::*;
pub use blocks::*;
pub use console::*;
pub use discoverability::*;
pub use events::*;
pub use fields::*;
pub use login::*;
pub use mail::*;
pub use media::*;
pub use options::*;
pub use resource::*;
pub use route::*;
pub use seo::*;
pub use server::*;
pub use site::*;
pub use views::*;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use translations::Translations;
use xmlrpc::XmlRpc;

/// The whole of `routes.toml` after includes, overlays, environment and command line are merged.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// How the program listens and what it accepts.
    #[serde(default)]
    pub server: Server,
    /// How the log is written.
    #[serde(default)]
    pub log: Log,
    /// Caches in memory.
    #[serde(default)]
    pub cache: Cache,
    /// Where rows are stored.
    #[serde(default)]
    pub storage: Storage,
    /// Backups that the server makes by itself.
    #[serde(default)]
    pub backup: Backup,
    /// The record of what each commit changed.
    #[serde(default)]
    pub feed: Feed,
    /// Events: notifications of changes.
    #[serde(default)]
    pub events: Events,
    /// Formats of the requests of webhooks, by name.
    #[serde(default)]
    pub webhook_formats: IndexMap<String, WebhookFormat>,
    /// Receivers that are notified of changes, by name. Others are made while the server runs.
    #[serde(default)]
    pub webhooks: IndexMap<String, DeclaredWebhook>,
    /// Name and address of the site.
    #[serde(default)]
    pub site: Site,
    /// Addresses of the site: parameters, old addresses.
    #[serde(default)]
    pub addresses: Addresses,
    /// Feeds of the site's lists.
    #[serde(default)]
    pub syndication: Syndication,
    /// Sitemaps.
    #[serde(default)]
    pub sitemaps: Sitemaps,
    /// `robots.txt`.
    #[serde(default)]
    pub robots: Robots,
    /// Titles, descriptions and the like for search engines and social networks.
    #[serde(default)]
    pub seo: Seo,
    /// How values are read and responses are shaped where clients differ.
    #[serde(default)]
    pub dialect: Dialect,
    /// Uploaded files.
    #[serde(default)]
    pub media: Media,
    /// Requests to other sites.
    #[serde(default)]
    pub outbound: Outbound,
    /// E-mail that the server sends.
    #[serde(default)]
    pub mail: Mail,
    /// Login by identity providers.
    #[serde(default)]
    pub login: Login,
    /// Values of the settings resource on an empty database, by property.
    #[serde(default)]
    pub settings: Map<String, Value>,
    /// Roles by machine name.
    #[serde(default)]
    pub roles: IndexMap<String, Role>,
    /// The capability that each action needs, by kind of object; resources refer to one.
    #[serde(default)]
    pub capabilities: IndexMap<String, CapabilityMap>,
    /// Record states by neutral name.
    #[serde(default)]
    pub statuses: IndexMap<String, Status>,
    /// States of comments by neutral name. The first public one is the state of approved comments, the first one that
    /// is neither public nor removed the state of comments that wait for a moderator.
    #[serde(default)]
    pub comment_statuses: IndexMap<String, CommentStatus>,
    /// Namespaces by the name that resources refer to.
    #[serde(default)]
    pub namespaces: IndexMap<String, Namespace>,
    /// Reusable groups of arguments.
    #[serde(default)]
    pub args: IndexMap<String, ArgGroup>,
    /// Reusable sets of routes that a resource mounts with its own base, schema and arguments.
    #[serde(default)]
    pub route_sets: IndexMap<String, Vec<Route>>,
    /// Error codes that the server does not know by itself, for resources and endpoints to name.
    #[serde(default)]
    pub codes: IndexMap<String, ErrorCode>,
    /// Features that this program or known clients read in a resource's `supports`, each with what it does. A resource may
    /// have others; one that is spelled almost like one of these is a problem.
    #[serde(default)]
    pub features: IndexMap<String, String>,
    /// Resources that are not served: others extend them. Their keys are those of `resources`.
    #[serde(default)]
    pub base_resources: IndexMap<String, Resource>,
    /// Property, arguments and links that a resource gets for each of its `taxonomies`.
    #[serde(default)]
    pub per_taxonomy: TaxonomyTemplate,
    /// Descriptions of link relations, by relation, for resources with `links_in_options`.
    #[serde(default)]
    pub link_relations: IndexMap<String, LinkRelation>,
    /// URLs of the documentation of link relations, by prefix (`wp` of `wp:term`); `{rel}` is replaced by the rest. Items
    /// list those that their links use as `curies`.
    #[serde(default)]
    pub curies: IndexMap<String, String>,
    /// How documents show the values of field groups.
    #[serde(default)]
    pub fields: FieldSettings,
    /// Groups of fields by name: values of items that are kept as meta values.
    #[serde(default)]
    pub field_groups: IndexMap<String, FieldGroup>,
    /// The resources, in the order in which their routes are tried and listed.
    #[serde(default)]
    pub resources: IndexMap<String, Resource>,
    /// Routes that belong to no resource.
    #[serde(default)]
    pub routes: Vec<Route>,
    /// Schema files that OPTIONS shows for routes that belong to no resource, by path; `/` is the root, `/NAMESPACE`
    /// one namespace, `/*` every namespace without an entry.
    #[serde(default)]
    pub route_schemas: IndexMap<String, String>,
    /// Resource whose entries are the types of blocks, with the attributes that `content.blocks` shows.
    #[serde(default)]
    pub block_types: Option<String>,
    /// Changes to the attributes of types of blocks as `content.blocks` reads them, by type and attribute; `*` is every type that
    /// has the attribute.
    #[serde(default)]
    pub block_attributes: IndexMap<String, IndexMap<String, Map<String, Value>>>,
    /// Blocks that the server renders from other rows, by their full name (`core/latest-posts`).
    #[serde(default)]
    pub blocks: IndexMap<String, DynamicBlock>,
    /// The class that each block gets when it is shown, by the block's full name.
    #[serde(default)]
    pub block_classes: IndexMap<String, BlockClass>,
    /// Layout, styles and other features of each block, by its full name; a block without an entry has no layout.
    #[serde(default)]
    pub block_supports: IndexMap<String, BlockSupports>,
    /// Rules of the site's style sheets for blocks, as far as classes of blocks follow from them.
    #[serde(default)]
    pub block_styles: BlockStyles,
    /// Attributes of blocks that can have values of a record instead of what is written (`metadata.bindings`).
    #[serde(default)]
    pub block_bindings: BlockBindings,
    /// Shortcodes that the server renders from other rows.
    #[serde(default)]
    pub shortcodes: IndexMap<String, DynamicBlock>,
    /// Groups of abilities by slug.
    #[serde(default)]
    pub ability_categories: IndexMap<String, AbilityCategory>,
    /// Abilities by name (`core/get-site-info`): operations that programs find and run.
    #[serde(default)]
    pub abilities: IndexMap<String, Ability>,
    /// Themes; exactly one is active.
    #[serde(default)]
    pub themes: IndexMap<String, Theme>,
    /// Cross-origin rules of the REST base.
    #[serde(default)]
    pub cors: Cors,
    /// XML-RPC: the older interface to the same routes.
    #[serde(default)]
    pub xmlrpc: XmlRpc,
    /// The Model Context Protocol.
    #[serde(default)]
    pub mcp: Mcp,
    /// Changes that wait for a review.
    #[serde(default)]
    pub reviews: Reviews,
    /// Rate limits by name.
    #[serde(default)]
    pub limits: IndexMap<String, Limit>,
    /// Limits on values that clients send, where their schema sets none.
    #[serde(default)]
    pub bounds: Bounds,
    /// Pages for people: login, profiles, authorization of programs.
    #[serde(default)]
    pub pages: Pages,
    /// The console: an application for people who write and look after the site.
    #[serde(default)]
    pub console: Console,
    /// Sections of the console's navigation by name, in their order.
    #[serde(default)]
    pub view_groups: IndexMap<String, ViewGroup>,
    /// Texts of the console, the pages and the dynamic blocks in other languages: by language, such as `de`, and by the text
    /// that is translated. Labels, help, descriptions of properties and the like; the interface keeps the texts of the declarations.
    #[serde(default)]
    pub translations: Translations,
    /// Overlays of schema files: `schemas.<file stem>` is merged into the schema file of that name. Empty once loaded:
    /// the loader has merged them.
    #[serde(default)]
    pub schemas: IndexMap<String, SchemaDoc>,
}

impl Declaration {
    /// The merged files as types. What the check of files has accepted is no error.
    pub fn read(document: Value) -> Result<Declaration, serde_json::Error> {
        serde_json::from_value(document)
    }

    /// The states of records of which something is true, in the order of declaration.
    pub fn statuses_where<'d>(&'d self, wanted: impl Fn(&Status) -> bool + 'd) -> impl Iterator<Item = &'d str> {
        self.statuses.iter().filter(move |(_, status)| wanted(status)).map(|(name, _)| name.as_str())
    }

    /// The states of comments of which something is true, in the order of declaration.
    pub fn comment_statuses_where<'d>(
        &'d self,
        wanted: impl Fn(&CommentStatus) -> bool + 'd,
    ) -> impl Iterator<Item = &'d str> {
        self.comment_statuses.iter().filter(move |(_, status)| wanted(status)).map(|(name, _)| name.as_str())
    }
}
