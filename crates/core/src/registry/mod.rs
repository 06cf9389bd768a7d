//! The frozen result of the declarations: what every request is served from.
//!
//! Built whole by [`link::link`] or not at all; nothing on the request path changes it. It holds no connection, no
//! clock and no behaviour, only which one is named where: the tables of behaviours sit above it.

pub mod abilities;
pub mod addresses;
pub mod args;
mod bounds;
mod capabilities;
pub mod codes;
pub mod columns;
pub mod criteria;
mod edit_only;
pub mod entries;
pub mod fields;
pub mod guarded;
pub mod languages;
pub mod link;
mod locked;
pub mod meta;
pub mod operations;
mod path_matcher;
pub mod path_template;
pub mod relation;
pub mod resource;
pub mod roles;
pub mod seo;
mod statuses;
pub mod tables;
pub mod templates;
pub mod views;
pub mod vocabulary;
pub mod words;

use crate::error::Code;
use crate::model::Method;
use abilities::Ability;
use args::ArgSet;
use cms_config::schema_files::EntryFiles;
use cms_declaration::{self as declaration, Declaration, OAuthOptions};
use cms_schema::Dialect;
use cms_storage::plan::{Layout, Name};
use cms_text::address::AddressTemplate;
use cms_text::block_source::BlockType;
use cms_text::block_styles::BlockStyles;
use cms_text::site_links::SiteLinks;
use fields::GroupFields;
use indexmap::IndexMap;
use languages::Languages;
use path_matcher::PathMatcher;
use path_template::PathTemplate;
use resource::Resource;
use roles::EffectiveRole;
use seo::SiteSeo;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};
use vocabulary::HandlerRole;

/// A name's position in one of the tables of behaviours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Behaviour(pub usize);

/// The site's fixed facts.
#[derive(Clone, Debug)]
pub struct Site {
    /// `site.prefix`.
    pub prefix: String,
    /// Path of the REST base below the site's address, e.g. `/cms-json`.
    pub rest_path: String,
    /// The site's address without a final slash.
    pub url: String,
    /// Path of the site's address, e.g. `/blog`; empty where the site has the host for itself.
    pub base: String,
    /// The REST base's address without a final slash.
    pub rest_url: String,
    /// Shape of a record's address, compiled.
    pub permalinks: AddressTemplate,
    /// Address of the front end without a final slash; without one, the site's own.
    pub front: String,
    /// Where links to the site lead in texts; `None` without a front end.
    pub links: Option<SiteLinks>,
    /// Where the front end shows previews.
    pub front_preview: Option<FrontPreview>,
}

/// The front end's address of previews.
#[derive(Clone, Debug)]
pub struct FrontPreview {
    /// With its `{names}`.
    pub template: String,
    /// Scheme and host, as a browser writes them: the console shows pages of it in a frame, and sends it messages.
    pub origin: String,
}

impl Site {
    /// Scheme and host of the site's address.
    pub fn origin(&self) -> &str {
        self.url.strip_suffix(&*self.base).unwrap_or(&self.url)
    }

    /// Path of the REST base on the host.
    pub fn rest_place(&self) -> String {
        format!("{}{}", self.base, self.rest_path)
    }
}

/// A route: its path and its endpoints.
#[derive(Clone, Debug)]
pub struct Route {
    /// As shown to clients: `/cms/v2/posts/(?P<id>[\d]+)`.
    pub pattern: String,
    /// The pattern parsed.
    pub template: PathTemplate,
    /// The pattern as paths are compared with it.
    pub matcher: PathMatcher,
    /// Names of the captures, in order.
    pub captures: Vec<String>,
    /// `cms/v2`, or empty.
    pub namespace: String,
    /// The resource whose schema it shows and whose documents it returns.
    pub resource: Option<usize>,
    /// The resource that took the route over; differs from `resource` for what hangs below its items.
    pub owner: Option<usize>,
    pub no_schema: bool,
    /// Served but not listed.
    pub hidden: bool,
    /// OpenAPI describes it although it is hidden.
    pub described: bool,
    /// It exists in a secure context only.
    pub secure_context: bool,
    /// The schema that OPTIONS shows, where it differs from the resource's.
    pub schema: Option<Value>,
    /// Documents by name that its schema shows as examples (`x-examples`).
    pub examples: Map<String, Value>,
    pub endpoints: Vec<Endpoint>,
}

impl Route {
    /// The segments of its path that are no parameters, without the namespace.
    pub fn words(&self) -> Vec<String> {
        self.template.words(&self.namespace)
    }

    /// Whether one of its endpoints has a handler with this role.
    pub fn has_role(&self, role: HandlerRole) -> bool {
        self.endpoints.iter().any(|endpoint| endpoint.role == Some(role))
    }
}

/// One or more methods of a route with the same handler.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The name under which resources adjust its arguments.
    pub name: Option<String>,
    pub methods: Vec<Method>,
    pub handler: Behaviour,
    pub role: Option<HandlerRole>,
    pub guard: Behaviour,
    /// The text after the colon of `can:manage_options`.
    pub guard_param: String,
    /// Error codes that this endpoint replaces.
    pub codes: HashMap<Code, Code>,
    /// Refuses callers who edit nothing.
    pub editors_only: bool,
    /// Caching of responses to anonymous callers: the value of `Cache-Control`, and the name of the header with their
    /// keys.
    pub cache: Option<(String, Option<String>)>,
    pub args: ArgSet,
    pub batch: Option<bool>,
    /// Takes a file in its body.
    pub file: bool,
    /// Lists do not name the pages before and after.
    pub no_page_links: bool,
    /// Most bytes of the files, where that is less than everywhere.
    pub max_upload: Option<u64>,
    /// Creates, changes or deletes credentials.
    pub credentials: bool,
    /// Its guard keeps credentials that only draft to drafts of their own.
    pub drafts: bool,
    /// Capability with which the collection may be read as lines.
    pub export: Option<String>,
    /// Only contains other requests, each of which is authorized by itself.
    pub envelope: bool,
    /// It acts by requests to other routes, to which the limits of a password apply.
    pub forwards: bool,
    /// Positions of the declared limits that count it.
    pub limits: Vec<usize>,
    /// Its entry in the audit trail.
    pub audit: Option<declaration::Audit>,
}

/// See the module's description.
#[derive(Debug)]
pub struct Registry {
    pub declaration: Arc<Declaration>,
    pub site: Site,
    /// Roles as declared; those in force are made from them ([`roles::Roles::of`]).
    pub declared_roles: IndexMap<String, EffectiveRole>,
    /// Every capability that the declarations name.
    pub capabilities: BTreeSet<Arc<str>>,
    pub namespaces: Vec<String>,
    pub resources: Vec<Resource>,
    /// Groups of fields, in the order in which documents show them.
    pub field_groups: Vec<GroupFields>,
    pub routes: Vec<Route>,
    /// See [`Registry::item_route`].
    item_routes: Vec<OnceLock<Option<usize>>>,
    /// The resource that declares how programs log in with tokens.
    pub tokens: Option<usize>,
    /// The resource that declares how people connect programs (OAuth).
    pub oauth: Option<usize>,
    /// Templates for search engines of places that are no items.
    pub seo: SiteSeo,
    /// Languages of the site's contents.
    pub languages: Option<Languages>,
    /// Abilities by name.
    pub abilities: IndexMap<String, Ability>,
    /// Schemas shown of the root and the namespaces, by path.
    pub index_schemas: HashMap<String, Value>,
    pub layout: Layout,
    /// See [`Registry::entries`].
    entry_files: EntryFiles,
    entries: Vec<OnceLock<Vec<Value>>>,
    /// See [`Registry::block_types`].
    block_types: OnceLock<HashMap<String, BlockType>>,
    /// `block_classes`, `block_supports` and `block_styles`.
    pub block_styles: BlockStyles,
    /// Changes whenever a declaration does; part of what caches are keyed by.
    pub fingerprint: u64,
    /// Of what all nodes that share a database have to declare alike; empty where the database is a file, which no other
    /// node shares.
    pub shared: String,
}

impl Registry {
    /// The resource declared under this name.
    pub fn resource(&self, name: &str) -> Option<&Resource> {
        self.resources.iter().find(|r| r.name == name)
    }

    /// The position of the route of a resource's items: one that can be read and that has the path of an item, however keys
    /// look. Longer keys come first: what a shorter one names may be a collection.
    pub fn item_route(&self, resource: usize) -> Option<usize> {
        let find = || {
            let collection = self.resources[resource].path_of(|_| "1".to_owned());
            let paths = ["a//b", "a/b", "a", "1"].map(|key| format!("{collection}/{key}"));
            let reads = |route: &Route| route.endpoints.iter().any(|endpoint| endpoint.methods.contains(&Method::Get));
            let of = |path: &String| self.routes.iter().position(|r| reads(r) && r.matcher.is_match(path));
            paths.iter().filter_map(of).find(|at| self.routes[*at].resource == Some(resource))
        };
        *self.item_routes[resource].get_or_init(find)
    }

    /// How the attributes of each type of blocks are read, by its full name.
    pub fn block_types(&self) -> &HashMap<String, BlockType> {
        self.block_types.get_or_init(|| {
            let resource = self.declaration.block_types.as_ref().and_then(|name| self.resource(name));
            let entries = resource.map_or(&[][..], |resource| self.entries(resource));
            link::blocks::block_types(&self.declaration, entries).0
        })
    }

    /// How people connect programs, and the resource that declares it. Without pages nobody can.
    pub fn oauth(&self) -> Option<(&Resource, &OAuthOptions)> {
        let resource = &self.resources[self.oauth.filter(|_| self.declaration.pages.enabled)?];
        Some((resource, resource.declared.options.oauth.as_ref()?))
    }

    /// The resource of changes that wait for a review.
    pub fn reviews(&self) -> Option<&Resource> {
        self.resource(self.declaration.reviews.resource.get()?)
    }

    /// The same for records of a resource, where changes of these can wait: they have authors and a history.
    pub fn reviews_of(&self, resource: &Resource) -> Option<&Resource> {
        let waits = resource.is_content() && ["author", "revisions"].iter().all(|feature| resource.supports(feature));
        self.reviews().filter(|_| waits)
    }

    /// Whether a token of a header can name the caller.
    pub fn takes_tokens(&self) -> bool {
        self.tokens.is_some() || self.oauth().is_some()
    }

    /// The resource whose records are of this neutral kind (or taxonomy).
    pub fn resource_of_kind(&self, kind: &str) -> Option<&Resource> {
        self.resources.iter().find(|r| &*r.kind == kind && r.stores_rows())
    }

    /// The resource whose kind is written this way in the API.
    pub fn resource_by_api_name(&self, api_name: &str) -> Option<&Resource> {
        self.resources.iter().find(|r| r.api_name == api_name && r.stores_rows())
    }

    /// Resources of a family, in declaration order.
    pub fn family(&self, family: declaration::Family) -> impl Iterator<Item = &Resource> {
        self.resources.iter().filter(move |r| r.family == family)
    }

    /// Content types, in declaration order.
    pub fn content_types(&self) -> impl Iterator<Item = &Resource> {
        self.family(declaration::Family::Content)
    }

    /// Taxonomies, in declaration order.
    pub fn taxonomies(&self) -> impl Iterator<Item = &Resource> {
        self.family(declaration::Family::Term)
    }

    /// The taxonomies that every site has a default term of, with its id.
    pub fn default_terms(&self) -> impl Iterator<Item = (&Resource, i64)> {
        let id = |setting: &String| self.declaration.settings.get(setting).and_then(|v| v.as_i64()).unwrap_or(1);
        self.taxonomies()
            .filter_map(move |taxonomy| Some((taxonomy, taxonomy.declared.default_setting.as_ref().map(id)?)))
    }

    /// Resources of comments, in declaration order.
    pub fn comment_resources(&self) -> impl Iterator<Item = &Resource> {
        self.family(declaration::Family::Comment)
    }

    /// Resources of one document each, in declaration order.
    pub fn singletons(&self) -> impl Iterator<Item = &Resource> {
        self.family(declaration::Family::Singleton)
    }

    /// The resource of the accounts.
    pub fn users(&self) -> Option<&Resource> {
        self.family(declaration::Family::User).next()
    }

    /// The kinds of content types.
    pub fn content_kinds(&self) -> impl Iterator<Item = &Resource> {
        self.kinds(declaration::Family::Content)
    }

    /// The kinds of taxonomies.
    pub fn taxonomy_kinds(&self) -> impl Iterator<Item = &Resource> {
        self.kinds(declaration::Family::Term)
    }

    /// The resources of a family, one for each kind: where several show the same rows, the first declared one
    /// represents it.
    pub fn kinds(&self, family: declaration::Family) -> impl Iterator<Item = &Resource> {
        let earlier =
            move |r: &Resource| self.resources[..r.index].iter().any(|e| e.family == family && e.kind == r.kind);
        self.family(family).filter(move |r| !earlier(r))
    }

    /// The name of the active theme.
    pub fn active_theme(&self) -> &str {
        self.declaration.themes.iter().find(|(_, theme)| theme.active).map_or("", |(name, _)| name)
    }

    /// The first route that has a role.
    pub fn route_with(&self, role: HandlerRole) -> Option<&Route> {
        self.routes.iter().find(|route| route.has_role(role))
    }

    /// How values are read.
    pub fn dialect(&self) -> Dialect {
        link::dialect(&self.declaration)
    }

    /// A declared status.
    pub fn status(&self, name: &str) -> Option<&declaration::Status> {
        self.declaration.statuses.get(name)
    }

    /// Address of a route below the REST base.
    pub fn rest(&self, path: &str) -> String {
        format!("{}{}", self.site.rest_url, path)
    }
}

/// Makes a [`Name`].
pub fn name(text: &str) -> Name {
    Arc::from(text)
}

/// Removes the `x-` words from a schema document, at every depth.
pub fn without_x_words(doc: &Value) -> Value {
    match doc {
        Value::Object(map) => {
            let plain = map.iter().filter(|(k, _)| !k.starts_with("x-")).map(|(k, v)| (k.clone(), without_x_words(v)));
            let mut plain: Map<String, Value> = plain.collect();
            let described = map.get("x-described").and_then(Value::as_object);
            plain.extend(described.into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())));
            Value::Object(plain)
        }
        Value::Array(list) => Value::Array(list.iter().map(without_x_words).collect()),
        other => other.clone(),
    }
}
