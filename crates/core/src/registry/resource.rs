//! A resource compiled from its schema and its block in `routes.toml`.

use super::Behaviour;
use super::addresses::ItemAddress;
use super::fields::ResourceFields;
use super::guarded::{FieldRights, GuardedField};
use super::meta::MetaType;
use super::path_template::PathTemplate;
pub use super::relation::{OnDelete, Relation, RelationPlace};
use super::seo::SeoRules;
use super::templates::Template;
use super::words::DerivedWord;
use crate::error::Code;
use cms_declaration::{self as declaration, Action, Family, LinkCondition};
use cms_schema::Schema;
use cms_storage::plan::{DbValue, Name, Row};
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The contexts of the contract, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Context(pub u8);

impl Context {
    pub const VIEW: Context = Context(1);
    pub const EMBED: Context = Context(2);
    pub const EDIT: Context = Context(4);
    pub const ALL: Context = Context(7);

    /// The context of this name.
    pub fn parse(name: &str) -> Option<Context> {
        match name {
            "view" => Some(Context::VIEW),
            "embed" => Some(Context::EMBED),
            "edit" => Some(Context::EDIT),
            _ => None,
        }
    }

    /// Whether a field of these contexts shows in this one.
    pub fn shows_in(self, context: Context) -> bool {
        self.0 & context.0 != 0
    }
}

/// The JSON type that a property's column is converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    Text,
    Integer,
    Number,
    Boolean,
    /// A date and time, stored as seconds of the site's local time.
    Time,
    /// Arrays and objects, stored as JSON text.
    Json,
}

/// The clock of the seconds in a column of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnClock {
    /// The local time of the site.
    Local,
    Utc,
}

/// Where a property's value comes from.
#[derive(Clone, Debug)]
pub enum PropertySource {
    /// A column of the row, by position in [`Resource::columns`].
    Column(usize),
    /// A behaviour, perhaps formatting a column.
    Read(Behaviour, Option<usize>),
    /// Its children.
    Object(Vec<Property>),
    /// Targets of a relation, by position in [`Resource::relations`].
    Relation(usize),
    Meta,
    /// Values of field groups, which the behaviour shows.
    Fields(Behaviour),
    /// A key of the `extra` column.
    Extra,
    /// Keys of the rows of the resource with this name that refer to this row in a property.
    Members(String, String),
    /// Always the same.
    Fixed(Value),
    /// Nothing is stored: an argument only (a password).
    Nothing,
}

/// A property of the resource schema.
#[derive(Clone, Debug)]
pub struct Property {
    pub name: String,
    pub contexts: Context,
    pub readonly: bool,
    pub source: PropertySource,
    pub kind: PropertyKind,
    /// The schema allows null.
    pub nullable: bool,
    /// The column was declared with the kind: it is not one that the family shares.
    pub own: bool,
    /// The value that is shown where nothing is stored (`x-unset`, or the default).
    pub unset: Option<Value>,
    /// The clock of the seconds in the column, where it holds times.
    pub clock: Option<ColumnClock>,
    /// The property holds keys of another resource's items.
    pub refers: bool,
    /// Positions of the relations whose keys are inside its value.
    pub inner_relations: Vec<usize>,
    /// The column holds slugs: values are written as they are stored before they are compared.
    pub slug: bool,
    /// Lists can be filtered by it (`x-filterable`).
    pub filterable: bool,
    /// Documents may lack it (`x-optional`).
    pub optional: bool,
    /// Documents have it where `_fields` names it alone (`x-on-demand`).
    pub on_demand: bool,
    /// Documents may have other values than the listed ones (`x-open-enum`).
    pub open_enum: bool,
    /// Further types that it has in documents (`x-shown-types`).
    pub shown_types: Vec<String>,
    /// Only the server uses it (`x-hidden`).
    pub hidden: bool,
    /// The source of its text (`x-derived`).
    pub derived: Option<DerivedWord>,
    /// Of declared entries: a drawing, of which only shapes are left (`x-drawing`).
    pub drawing: bool,
    /// A value for descriptions (`x-example`).
    pub example: Option<Value>,
    /// How the console shows and edits it (`x-view`).
    pub view: declaration::FieldView,
    /// The same of what is inside a value that is stored whole.
    pub inner_views: Vec<InnerView>,
    /// The type of the items of a list, where they have one.
    pub members: Option<PropertyKind>,
    pub column: Option<Name>,
    /// The schema of the text that `x-write` makes of a value.
    pub stored: Option<Schema>,
    /// The value that is shown does not follow from the column.
    pub digest: bool,
    pub write: Option<Behaviour>,
    /// Name of the resource whose declared entries are the values: each is in one row at most.
    pub among: Option<String>,
    /// How a value is refused that is not accepted (`x-refusal`).
    pub refusal: Option<PropertyRefusal>,
    /// Spelling of values: stored to public.
    pub aliases: Vec<(String, String)>,
    /// The record's password locks it (`x-password-protected`).
    pub locked: bool,
    /// The capabilities that reading and writing it need.
    pub rights: FieldRights,
    /// Most bytes of the stored value, and the code of the refusal (`x-too-long-code`), where the schema alone does not
    /// decide.
    pub longest: Option<(usize, Code)>,
}

impl Property {
    /// Whether revisions hold it: it is what a form edits, no secret, and nothing that a revision has of its own.
    pub fn is_versioned(&self) -> bool {
        use super::columns::record::{AUTHOR, DATE_LOCAL, DATE_UTC, PARENT, PASSWORD, SLUG, STATUS};
        let apart = [AUTHOR, DATE_LOCAL, DATE_UTC, PARENT, PASSWORD, SLUG, STATUS];
        let stored = match &self.source {
            PropertySource::Relation(_) | PropertySource::Meta | PropertySource::Extra => true,
            PropertySource::Nothing
            | PropertySource::Fixed(_)
            | PropertySource::Members(..)
            | PropertySource::Fields(_) => false,
            _ => self.written_columns().next().is_some(),
        };
        let mut columns = self.written_columns();
        stored
            && !self.readonly
            && !self.hidden
            && !self.digest
            && columns.all(|(column, _)| !apart.contains(&&**column))
    }

    /// The columns that its value is written to, and what each is converted to.
    pub fn written_columns(&self) -> impl Iterator<Item = (&Name, PropertyKind)> {
        let members: &[Property] = match &self.source {
            PropertySource::Object(children) => children,
            _ => std::slice::from_ref(self),
        };
        let written = members.iter().filter(|member| !member.readonly);
        written.filter_map(|member| Some((member.column.as_ref()?, member.kind)))
    }

    /// The value in documents where nothing is stored; `None`: null.
    pub fn shown_unset(&self) -> Option<Value> {
        match (&self.unset, self.kind) {
            (Some(unset), _) => Some(unset.clone()).filter(|unset| !unset.is_null()),
            (None, _) if self.nullable => None,
            (None, PropertyKind::Boolean) => Some(Value::Bool(false)),
            (None, PropertyKind::Integer) => Some(0.into()),
            (None, PropertyKind::Text) => Some("".into()),
            (None, PropertyKind::Number | PropertyKind::Time | PropertyKind::Json) => None,
        }
    }

    /// Whether documents show it in any context.
    pub fn is_shown(&self) -> bool {
        self.contexts.0 != 0
    }
}

/// How the console shows and edits a value inside a property.
#[derive(Clone, Debug)]
pub struct InnerView {
    /// Names from the property down, joined by dots; `*` is a place in a list or a name in a map.
    pub path: String,
    /// Place of the schema, below the property's own.
    pub pointer: String,
    pub view: declaration::FieldView,
}

/// See [`Property::refusal`].
#[derive(Clone, Debug)]
pub struct PropertyRefusal {
    pub code: Code,
    /// Member of the data that holds the value.
    pub member: Option<String>,
}

/// Where a link points.
#[derive(Clone, Debug)]
pub enum LinkTarget {
    /// The item of a resource whose key is in a column.
    Item { resource: usize, column: usize },
    /// A resource's collection, with a query of argument names and columns (or literals in quotes).
    Collection { resource: usize, query: Vec<(String, QueryValue)> },
    /// A template relative to the REST base.
    Template(Vec<HrefPiece>),
    /// The record or the term that the row refers to.
    Referenced(Family),
}

/// A value in a link's query.
#[derive(Clone, Debug)]
pub enum QueryValue {
    Column(usize),
    Literal(String),
}

/// The parts of a link of a declared entry: the resource that it leads to (`@NAME`), if it is another one, and what
/// follows the path of its collection.
pub fn link_parts(template: &str) -> (Option<&str>, &str) {
    match template.strip_prefix('@') {
        None => (None, template),
        Some(rest) => {
            let end = rest.find(['/', '?']).unwrap_or(rest.len());
            (Some(&rest[..end]), &rest[end..])
        }
    }
}

/// A piece of a link's template.
#[derive(Clone, Debug)]
pub enum HrefPiece {
    Literal(String),
    Column(usize),
    /// Path of the item.
    SelfPath,
    /// Path of the collection.
    CollectionPath,
    /// The kind in the API.
    ApiName,
    /// The newest revision's id.
    RevisionId,
    /// One of the values of the property that [`Link::each`] names.
    Each,
}

/// A link of an item.
#[derive(Clone, Debug)]
pub struct Link {
    pub rel: String,
    pub target: LinkTarget,
    pub embeddable: bool,
    pub attrs: Map<String, Value>,
    pub when: LinkCondition,
    pub when_column: Option<usize>,
    /// Property with values, for each of which there is a link.
    pub each: Option<String>,
    /// Not below the REST base (curies).
    pub absolute: bool,
}

impl Link {
    /// The column with the record that the caller has to be able to read; `None`: the link does not depend on it.
    pub fn must_be_readable(&self) -> Option<usize> {
        match self.target {
            LinkTarget::Item { column, .. } if self.when.readable => Some(column),
            _ => None,
        }
    }
}

/// The sort key of a value of `orderby`.
#[derive(Clone, Debug, PartialEq)]
pub enum Sort {
    Column(Name),
    Include,
    Slugs,
    Relevance,
}

/// Positions of columns by name. The names are declared, so nobody can choose them for their hashes.
pub type ColumnIndex = HashMap<String, usize, foldhash::fast::RandomState>;

/// See the module's description.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Position among the resources.
    pub index: usize,
    pub name: String,
    pub family: Family,
    pub kind: Name,
    pub api_name: String,
    pub namespace: String,
    /// Path of the collection below the REST base: `/cms/v2/posts`.
    pub path: String,
    /// The path parsed: captures name columns of an item.
    pub template: PathTemplate,
    pub base: String,
    pub title: String,
    /// Table of the rows; empty for resources without rows.
    pub table: Name,
    /// `x_<kind>`, joined on the key.
    pub extension: Option<Name>,
    pub key: Name,
    pub key_is_text: bool,
    pub properties: Vec<Property>,
    /// Everything that may be read, in the order that [`PropertySource::Column`] counts in.
    pub columns: Vec<Name>,
    pub column_index: ColumnIndex,
    pub relations: Vec<Relation>,
    pub links: Vec<Link>,
    pub sort: IndexMap<String, Sort>,
    /// Searched columns by the name that `search_columns` gives them.
    pub search: IndexMap<String, Name>,
    /// Columns that only the edit context shows: see [`super::edit_only`].
    pub edit_only: HashSet<Name>,
    /// Columns that a record's password locks: see [`super::locked`].
    pub locked: HashSet<Name>,
    /// Properties and meta values that not everybody may read or write: see [`super::guarded`].
    pub guarded: Vec<GuardedField>,
    /// Act to primitive capability.
    pub capabilities: HashMap<Action, String>,
    pub codes: HashMap<Code, Code>,
    pub status_of_codes: HashMap<Code, u16>,
    pub bare_in_updates: HashSet<Code>,
    /// Columns that may not be empty in some rows, with the code of the refusal.
    pub not_empty: Vec<(declaration::RequiredColumn, Code)>,
    /// The item that the path names above, with the code for an item below another one.
    pub within: Option<(declaration::ParentProperty, Code)>,
    /// Shapes of the addresses of its items.
    pub address: ItemAddress,
    /// Rows of the declared `originals`; their keys are negative numbers.
    pub originals: Vec<Row>,
    /// Types of registered meta, by key.
    pub meta: HashMap<String, MetaType>,
    /// Templates for search engines of its items.
    pub seo: Option<SeoRules>,
    /// Elements of its items in feeds of podcasts.
    pub podcast: Vec<(String, Template)>,
    /// Its field groups, where a property shows them.
    pub fields: Option<ResourceFields>,
    /// The resource schema as clients see it.
    pub schema: Value,
    /// The block in `routes.toml`, with its labels filled in and without its entries.
    pub declared: Arc<declaration::Resource>,
}

impl Resource {
    /// The relations whose keys are inside values.
    pub fn inner_relations(&self) -> impl Iterator<Item = &Relation> {
        self.relations.iter().filter(|relation| relation.is_inside())
    }

    /// Whether it is a content type.
    pub fn is_content(&self) -> bool {
        self.family == Family::Content
    }

    /// Whether it is a taxonomy.
    pub fn is_taxonomy(&self) -> bool {
        self.family == Family::Term
    }

    /// Whether its rows are accounts.
    pub fn is_users(&self) -> bool {
        self.family == Family::User
    }

    /// Whether its rows are comments.
    pub fn is_comments(&self) -> bool {
        self.family == Family::Comment
    }

    /// Whether it has a table of its own.
    pub fn is_plain(&self) -> bool {
        self.family == Family::Plain
    }

    /// Whether it is one document of settings.
    pub fn is_singleton(&self) -> bool {
        self.family == Family::Singleton
    }

    /// Whether it has rows of its own.
    pub fn stores_rows(&self) -> bool {
        !self.table.is_empty()
    }

    /// The original with this key.
    pub fn original(&self, key: i64) -> Option<&Row> {
        let place = key.checked_neg()?.checked_sub(1)?;
        self.originals.get(usize::try_from(place).ok()?)
    }

    /// The original with this slug.
    pub fn original_of_slug(&self, slug: &str) -> Option<&Row> {
        let at = self.column("slug")?;
        self.originals.iter().find(|row| matches!(&row[at], DbValue::Text(own) if **own == *slug))
    }

    /// Position of a column; `None` when the resource has none of this name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.column_index.get(name).copied()
    }

    /// The name by which plans know a column: `x_book.pages` for columns of the extension table.
    pub fn plan_column(&self, name: &str) -> Option<Name> {
        self.column(name).map(|i| self.columns[i].clone())
    }

    /// The top-level property of this name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|p| p.name == name)
    }

    /// Whether a meta key is that of a declared value, or of a field.
    pub fn declares_meta(&self, key: &str) -> bool {
        self.declared.meta.contains_key(key) || self.fields.as_ref().is_some_and(|fields| fields.declares(key))
    }

    /// The property that shows values of field groups.
    pub fn fields_property(&self) -> Option<&Property> {
        self.fields.as_ref()?;
        self.properties.iter().find(|property| matches!(property.source, PropertySource::Fields(_)))
    }

    /// The top-level property that a column is written through.
    pub fn property_of_column(&self, column: &str) -> Option<&Property> {
        self.properties.iter().find(|p| p.column.as_deref() == Some(column))
    }

    /// The clock of the seconds in a column; `None` where it holds no times.
    pub fn clock(&self, column: &str) -> Option<ColumnClock> {
        match column {
            "date_local" | "modified_local" if !self.is_plain() => Some(ColumnClock::Local),
            "date_utc" | "modified_utc" | "registered" if !self.is_plain() => Some(ColumnClock::Utc),
            column => self.holder(column)?.clock,
        }
    }

    /// The property that holds a column, at any depth.
    pub fn holder(&self, column: &str) -> Option<&Property> {
        fn among<'p>(properties: &'p [Property], column: &str) -> Option<&'p Property> {
            properties.iter().find_map(|property| match &property.source {
                PropertySource::Object(children) => among(children, column),
                _ => (property.column.as_deref() == Some(column)).then_some(property),
            })
        }
        among(&self.properties, column)
    }

    /// Whether this is the name of its kind, as the API or as the database writes it.
    pub fn is_named(&self, name: &str) -> bool {
        self.api_name == name || *self.kind == *name
    }

    /// Whether its operations are abilities, over REST or as tools alone.
    pub fn has_operations(&self) -> bool {
        self.declared.ability || self.declared.tools
    }

    /// Whether a piece of machinery is declared: a feature, or a part of one (`editor.notes`).
    pub fn supports(&self, what: &str) -> bool {
        match what.split_once('.') {
            None => self.declared.supports.iter().any(|s| s == what),
            Some((feature, part)) => {
                let with = self.declared.supports_with.get(feature).and_then(Value::as_array);
                self.supports(feature) && with.is_some_and(|parts| parts.iter().any(|with| with[part] == true))
            }
        }
    }

    /// The declared type of a comment; `None` for the resource's own type.
    pub fn comment_type(&self, kind: &str) -> Option<&declaration::CommentType> {
        self.declared.comment_types.get(kind)
    }

    /// Its items have pages of their own on the site.
    pub fn viewable(&self) -> bool {
        self.declared.listing.viewable != Some(false)
    }

    /// Path of an item below the REST base.
    pub fn item_path(&self, key: &str) -> String {
        format!("{}/{}", self.path, key)
    }

    /// Path of the collection that an item is in: `value` gives the column of a capture.
    pub fn path_of(&self, value: impl Fn(&str) -> String) -> String {
        self.template.filled(|parameter| value(&parameter.name))
    }

    /// The code that replaces `code` in this resource.
    pub fn code(&self, code: Code) -> Code {
        self.codes.get(&code).copied().unwrap_or(code)
    }

    /// The primitive capability for an act; absent acts are allowed to nobody.
    pub fn capability(&self, action: Action) -> &str {
        self.capabilities.get(&action).map_or(super::capabilities::NOBODY, String::as_str)
    }

    /// The primitive capability that reading needs; empty: none.
    pub fn reading_capability(&self) -> &str {
        self.capabilities.get(&Action::Read).map_or("", String::as_str)
    }
}

/// The keys of a response, for caches that can invalidate it: its collection, and the item where it is one.
pub fn surrogate_keys(resource: &Resource, key: Option<&str>) -> Vec<String> {
    let item = key.map(|key| format!("{}/{key}", resource.name));
    [resource.name.clone()].into_iter().chain(item).collect()
}

/// A label with the names of a resource in place of `{name}` and `{singular_name}`, and of `{names}` and `{singular}` in
/// small letters.
pub fn label_of(template: &str, name: &str, singular: &str) -> String {
    let small = [("{names}", name.to_lowercase()), ("{singular}", singular.to_lowercase())];
    let text = template.replace("{name}", name).replace("{singular_name}", singular);
    small.iter().fold(text, |text, (place, value)| text.replace(place, value))
}
