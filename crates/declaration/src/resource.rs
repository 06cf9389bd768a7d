//! Resources: schema, storage, links and rules.

use super::action::Action;
use super::console::ResourceView;
use super::discoverability::{Podcast, Syndicated};
use super::options::{HandlerOptions, Listing};
use super::route::{CacheControl, SchemaDoc};
use super::seo::SeoTemplates;
use super::site::Moderation;
use crate::units::{Duration, OptionalSetting, yes};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// Which tables and rules the rows of a resource get (docs/data-model.md).
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Status, trash, slug, author, dates, revisions, terms, comments; rows in `record`.
    Content,
    /// A table of its own: columns from the schema.
    Plain,
    Term,
    Comment,
    User,
    /// One document of settings.
    Singleton,
    /// The declarations themselves.
    Catalogue,
    /// Responses that a handler composes.
    Virtual,
}

/// As declarations write it.
impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// A resource: schema, storage, routes and rules.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// A base resource or a resource whose keys it inherits, the required ones too. Its own keys are merged over those as
    /// an overlay is merged over `routes.toml`: tables (`sort`, `endpoints`, `meta`, …) key by key, `"+key" = […]` appends
    /// to an array (`"+links"`), `false` removes a table, any other value replaces. The identity of a resource is inherited
    /// from base resources only: `base`, `kind`, `api_name`, `query_var`, `labels`, `listing`, `seed`, `default_setting`,
    /// `auto_add`, `schema_links`. The other resource may extend a third one. Overlays, the environment and the command
    /// line apply first, so a change to a base resource reaches everything that extends it.
    #[serde(default)]
    pub extends: Option<String>,
    pub family: Family,
    /// Schema file, relative to the file that declares it.
    pub schema: String,
    /// JSON file with the member `entries`, relative to the file that declares it: they are appended to `options.entries`.
    #[serde(default)]
    pub entries_file: Option<String>,
    /// Name of the declared namespace.
    pub namespace: String,
    /// Last part of the collection's path; default: the resource's name.
    #[serde(default)]
    pub base: Option<String>,
    /// Route sets that it mounts, with its own base, schema and arguments.
    #[serde(default)]
    pub routes: Vec<String>,
    /// Neutral name of the record kind or taxonomy, as stored; default: the resource's name.
    #[serde(default)]
    pub kind: Option<String>,
    /// How the kind is written in the API (`{prefix}_block`); default: the kind.
    #[serde(default)]
    pub api_name: Option<String>,
    /// Name of the declared capability map.
    #[serde(default)]
    pub capabilities: Option<String>,
    /// Its operations are abilities: `NAME/list`, `NAME/get`, `NAME/create`, `NAME/update` and `NAME/delete`, as far as it
    /// has these endpoints, each under the guard of its route. An ability of the same name in `[abilities]` replaces one.
    #[serde(default)]
    pub ability: bool,
    /// The same operations are tools of `[mcp]`, also where `ability` does not list them over REST.
    #[serde(default)]
    pub tools: bool,
    /// Adjustments of arguments by endpoint name (`list`, `get`, `create`, `update`, `delete`): merged key by key into
    /// the family's, `false` removes one.
    #[serde(default)]
    pub endpoints: IndexMap<String, IndexMap<String, Value>>,
    /// Sort key of each value of `orderby`: a column, or `@include`, `@slugs`, `@relevance`.
    #[serde(default)]
    pub sort: IndexMap<String, String>,
    /// Name of the query that leads to a record by its id (`/?p=12`; default `p`), or to a term by its slug (default: the
    /// API name).
    #[serde(default)]
    pub query_var: Option<String>,
    /// New records are closed to comments and pings, whatever the settings say.
    #[serde(default)]
    pub closed_by_default: bool,
    /// Columns that `search` covers, by the name that `search_columns` gives them. Columns that only the edit context
    /// shows are covered only for callers who may edit the rows; the same holds for `sort` and filters.
    #[serde(default)]
    pub search: IndexMap<String, String>,
    /// Columns that may not be empty in some rows.
    #[serde(default)]
    pub not_empty: Vec<RequiredColumn>,
    /// Whether endpoints with `editors_only` are for editors alone; `false`: what they read is for everybody.
    #[serde(default = "yes")]
    pub editors_only: bool,
    /// The item above a record need not exist.
    #[serde(default)]
    pub loose_parent: bool,
    /// States that records can be brought into; a request for another one means the last of them. Empty: all.
    #[serde(default)]
    pub only_statuses: Vec<String>,
    /// State of a new record whose request names none; absent: a draft.
    #[serde(default)]
    pub initial_status: Option<String>,
    /// The item of another resource that the path names above its items.
    #[serde(default)]
    pub within: Option<ParentProperty>,
    /// The columns that refer to a record or term of any kind.
    #[serde(default)]
    pub reference: Option<Reference>,
    /// Records for which a row that refers to them is created when they are first published.
    #[serde(default)]
    pub auto_add: Option<AutoAdd>,
    /// Columns that exports contain as meta values: what an import puts into each.
    #[serde(default)]
    pub import: IndexMap<String, ImportedMeta>,
    /// How items are identified: `id`, or `theme_and_slug` (`theme//slug`; items in the trash have no key).
    #[serde(default)]
    pub key: ItemKey,
    /// Columns of a row that is created at startup. Of content: a record, if there is none of the kind, but some
    /// content; of terms: the default term (`default_setting`), in an empty database.
    #[serde(default)]
    pub seed: IndexMap<String, String>,
    /// Records that are there before anybody writes them, as the files of a theme are: values by column, `slug` among
    /// them. Only for resources whose `key` is `theme_and_slug`. An update makes a record of one; when that is deleted,
    /// the original is back. An original itself is not deleted, and has no revisions.
    #[serde(default)]
    pub originals: Vec<IndexMap<String, String>>,
    /// Members of an update that bring the original back, with the value that does so (`source = "theme"`): the record
    /// is deleted, and nothing else of the request counts.
    #[serde(default)]
    pub reverts: IndexMap<String, String>,
    /// Callers who may delete a record may delete its revisions. Otherwise nobody may.
    #[serde(default)]
    pub deletes_revisions: bool,
    /// Deleted records go to the trash first; otherwise a deletion has to be forced.
    #[serde(default = "yes")]
    pub trash: bool,
    /// The name alone distinguishes terms: no two have the same, and the slug always follows it.
    #[serde(default)]
    pub unique_names: bool,
    /// Part of the search route under this subtype.
    #[serde(default)]
    pub searchable: bool,
    /// Has parents of its own kind.
    #[serde(default)]
    pub hierarchical: bool,
    /// Features of the content family that it has: `title`, `editor`, `excerpt`, `author`, `thumbnail`,
    /// `comments`, `trackbacks`, `custom-fields`, `revisions`, `sticky`, `post-formats`, `page-attributes`; `attached`: its
    /// records take the state of their parent; `files`: they stand for uploaded files.
    #[serde(default)]
    pub supports: Vec<String>,
    /// Values that the list of types shows for features instead of `true`; `editor = [{ notes = true }]` is the feature
    /// `editor.notes`.
    #[serde(default)]
    pub supports_with: IndexMap<String, Value>,
    /// Resources of the term family whose terms its records have. Each adds what `[per_taxonomy]` declares; `false` under
    /// its name, in `properties` of the schema or in `endpoints.list`, leaves the property or the argument out.
    #[serde(default)]
    pub taxonomies: Vec<String>,
    /// Address of an item on the site: `permalinks` (the site's structure), `path` (by parents), `attached` (below the
    /// parent), `plain` (`?p=`),
    /// or a template such as `/category/{path}/`.
    #[serde(default)]
    pub address: Option<String>,
    /// In which feeds (`[syndication]`) its published records are, if its items have pages of their own (`listing.viewable`).
    #[serde(default)]
    pub syndication: Syndicated,
    /// Its records are episodes: their feeds (RSS 2.0) have the elements that directories of podcasts read.
    #[serde(default)]
    pub podcast: Option<Podcast>,
    /// Sitemaps list the addresses of its items: of records with pages of their own, of terms of a public taxonomy that have
    /// records, of users who have published some.
    #[serde(default)]
    pub sitemap: bool,
    /// Its items have titles, descriptions and the like for search engines and social networks, by these templates. Their schema
    /// shows them by a property with `x-read = "seo"`.
    #[serde(default)]
    pub seo: Option<SeoTemplates>,
    /// Links of an item; without any: `self` and `collection`.
    #[serde(default)]
    pub links: Vec<Link>,
    /// OPTIONS lists the links whose relations `[link_relations]` describes.
    #[serde(default)]
    pub links_in_options: bool,
    /// Registered meta by key.
    #[serde(default)]
    pub meta: IndexMap<String, Meta>,
    /// Rules that hold comments back, in the comment family.
    #[serde(default)]
    pub moderation: Moderation,
    /// Types of comments beside the resource's own, in the comment family: those that only callers who may edit the record
    /// write and read.
    #[serde(default)]
    pub comment_types: IndexMap<String, CommentType>,
    /// A term or record that always exists; the name of the setting that holds its id (`default_category`).
    #[serde(default)]
    pub default_setting: Option<String>,
    /// Owner column of plain resources (an integer property that holds a user).
    #[serde(default)]
    pub owner: Option<String>,
    /// When rows of a plain resource are deleted by themselves.
    #[serde(default)]
    pub retention: Option<Retention>,
    /// How totals are counted: `readable` (what the caller may see) or `unfiltered`.
    #[serde(default)]
    pub total: Total,
    /// Arguments that a request may give while its total is `unfiltered`. Any other that selects rows makes the total
    /// `readable`: it would reveal what is in rows that the caller may not see.
    #[serde(default)]
    pub unfiltered_args: Vec<String>,
    /// A page beyond the end is an error (true) or an empty list (false).
    #[serde(default)]
    pub error_beyond_last_page: bool,
    /// How long caches may keep responses of its own routes to anonymous callers; an endpoint's own `cache_control`
    /// outranks it.
    #[serde(default)]
    pub cache_control: Option<CacheControl>,
    /// Documents have all properties of the resource whose routes show them (as revisions do), in addition to those of this
    /// schema.
    #[serde(default)]
    pub inherit_properties: bool,
    /// Members that `_fields` selects whole or not at all: names of parts of them select nothing. `*` is
    /// every member but `id`.
    #[serde(default)]
    pub whole_fields: Vec<String>,
    /// When an author is deleted and nobody takes over, the records go to the trash and keep the author's number; otherwise
    /// they are deleted, too. Those that are in the trash are deleted.
    #[serde(default)]
    pub trash_with_author: bool,
    /// Lone documents have their links whatever `_fields` requests.
    #[serde(default)]
    pub keeps_links: bool,
    /// Codes that differ from the family's, by the family's code (`rest_post_invalid_id = "rest_invalid_id"`); codes of
    /// your own are declared in `[codes]`.
    #[serde(default)]
    pub codes: IndexMap<String, String>,
    /// Statuses that differ from those of the server, by code.
    #[serde(default)]
    pub status_of_codes: IndexMap<String, u16>,
    /// Codes of refusals that updates answer with status 500 and no data.
    #[serde(default)]
    pub bare_in_updates: Vec<String>,
    /// Its entry in the lists of types and taxonomies.
    #[serde(default)]
    pub listing: Listing,
    /// Labels for people, by the names that clients know (`singular_name`). In the others `{name}` and `{singular_name}`
    /// are replaced by these two, `{names}` and `{singular}` by the two in small letters.
    #[serde(default)]
    pub labels: IndexMap<String, String>,
    /// Options that its handlers need in addition to the schema.
    #[serde(default)]
    pub options: HandlerOptions,
    /// How the console shows it.
    #[serde(default)]
    pub view: ResourceView,
    /// The link objects that OPTIONS lists, as written. They replace those of `links_in_options`.
    #[serde(default)]
    pub schema_links: Vec<Value>,
}

/// See [`Resource::retention`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retention {
    /// The property with a date and time in UTC.
    pub on: String,
    /// How long after it the row is deleted; `false`: never.
    pub after: OptionalSetting<Duration>,
}

/// See [`Resource::not_empty`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequiredColumn {
    /// Column that may not be empty.
    pub column: String,
    /// Values of other columns for which this holds.
    #[serde(default)]
    pub when: IndexMap<String, String>,
    /// Code of the refusal.
    pub code: String,
}

/// See [`Resource::comment_types`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommentType {
    /// The feature of the record's resource (`supports`, `supports_with`) that it needs.
    pub supports: String,
    /// Meta key whose values, one of which a comment has, let it have no text.
    #[serde(default)]
    pub state: Option<String>,
    /// Query of links to the replies, in addition to their parent.
    #[serde(default)]
    pub replies: IndexMap<String, String>,
}

/// See [`Resource::within`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParentProperty {
    /// Property that holds the key of the item above; the path has a capture of the same name. Its `x-relation` names the
    /// resource, and the code for an item above that does not exist.
    pub property: String,
    /// Code of the refusal of an item that is below another one.
    pub mismatch: String,
}

/// See [`Resource::import`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportedMeta {
    /// Key of the meta value.
    pub meta: String,
    /// Format of the value.
    #[serde(default, rename = "as")]
    pub kind: ImportFormat,
}

/// See [`ImportedMeta`].
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum ImportFormat {
    /// Itself.
    #[default]
    Text,
    /// A list of words, serialised by PHP.
    Words,
    /// The number that a record has in the export.
    Record,
    /// The platform's name of a kind or taxonomy.
    Kind,
    /// The number, in the export, of the record or term that the row refers to (`reference`).
    Referenced,
}

/// See [`Resource::reference`]: three columns identify a record or term, and the class says which of them it is.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Column with the class.
    pub class: String,
    /// Column with the neutral name of the kind or taxonomy.
    pub kind: String,
    /// Column with the number.
    pub id: String,
    /// Class of rows that refer to records.
    pub record: String,
    /// Class of rows that refer to terms.
    pub term: String,
    /// Class of rows that refer to all records of a kind.
    pub archive: String,
    /// Labels of the classes that refer to nothing.
    #[serde(default)]
    pub labels: IndexMap<String, String>,
}

/// See [`Resource::auto_add`]: the resource's rows are items of menus.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AutoAdd {
    /// Resource of the menus, and property with the menu of an item.
    pub menu: String,
    /// Property of a menu that switches it on.
    pub property: String,
    /// Resources whose records are added.
    pub resources: Vec<String>,
}

/// See [`Resource::key`].
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemKey {
    /// By number.
    #[default]
    Id,
    /// By the active theme and the slug.
    ThemeAndSlug,
}

/// See [`Resource::total`].
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Total {
    #[default]
    Readable,
    Unfiltered,
}

/// A link of an item.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Relation of the link in `_links`.
    pub rel: String,
    /// Resource that it points to; `@self`: the resource itself; `@record` or `@term`: what the row refers to; absent:
    /// `href`.
    #[serde(default)]
    pub to: Option<String>,
    /// Column with the key of the item it points to; a row whose column is null, zero or empty has no such link. Absent: the
    /// collection.
    #[serde(default)]
    pub key: Option<String>,
    /// Query of a collection link: argument to column.
    #[serde(default)]
    pub query: IndexMap<String, String>,
    /// Address relative to the REST base, with `{column}` places; `{self}` is the item, `{collection}` the resource.
    #[serde(default)]
    pub href: Option<String>,
    /// Property with keys of other rows (`x-members`) or with declared entries (`x-options-from`): there is a link for each,
    /// which is `{each}` in `href`.
    #[serde(default)]
    pub each: Option<String>,
    /// `_embed` may put what the link leads to into the response.
    #[serde(default)]
    pub embeddable: bool,
    /// Further members of the link object.
    #[serde(default)]
    pub attrs: Map<String, Value>,
    /// When it is shown; all given conditions must hold.
    #[serde(default)]
    pub when: LinkCondition,
}

/// Parts that a resource gets for each of its `taxonomies`. A property, argument or link of its own stays as it is.
///
/// In texts and keys `{taxonomy}` is replaced by the name of the taxonomy's resource, `{taxonomy.base}`, `{taxonomy.kind}`
/// and `{taxonomy.api_name}` by its `base`, `kind` and `api_name`, `{taxonomy.assign}` by the capability that assigns its
/// terms and `{taxonomy.create}` by the one that creates them: `manage` of hierarchical taxonomies, `assign` of others. A
/// table with `x-hierarchical = true` is for hierarchical taxonomies only.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct TaxonomyTemplate {
    /// Schema of the property that holds the terms of a record. Its name is the `base` of the taxonomy.
    pub property: SchemaDoc,
    /// Arguments by endpoint name, as `endpoints` of resources.
    pub endpoints: IndexMap<String, IndexMap<String, Value>>,
    /// Links of an item. A link whose relation and `attrs` the resource has already is left out.
    pub links: Vec<Value>,
    /// Descriptions of the relations of those links.
    pub link_relations: IndexMap<String, LinkRelation>,
}

/// Description of a link relation that OPTIONS lists.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LinkRelation {
    /// The act that the link allows the caller.
    pub title: String,
    /// Schemas of the properties that the caller may write.
    #[serde(default)]
    pub properties: SchemaDoc,
}

/// The closed list of predicates on a link.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkCondition {
    /// This column is neither null, zero nor empty.
    pub set: Option<String>,
    /// Only of resources that support this (`supports`).
    pub supports: Option<String>,
    /// Only of resources that are hierarchical.
    pub hierarchical: bool,
    /// Only in this context.
    pub context: Option<String>,
    /// The caller may do this action on the item (see [`CapabilityMap`]).
    pub act: Option<Action>,
    /// The caller has this primitive capability.
    pub can: Option<String>,
    /// The record has at least one revision.
    pub revised: bool,
    /// Somebody has written the item: it is none of the `originals`.
    pub stored: bool,
    /// The item has at least one child of its kind.
    pub children: bool,
    /// The record that `key` names is there, and the caller may read it.
    pub readable: bool,
}

/// A registered meta key.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Meta {
    /// JSON Schema of one value.
    pub schema: SchemaDoc,
    /// One value (true) or a list.
    #[serde(default = "yes")]
    pub single: bool,
    /// Documents show the value as a member of their own, not in `meta`; the empty value where they show no `meta`.
    #[serde(default)]
    pub beside: bool,
}
