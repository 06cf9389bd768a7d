//! A resource's entries in lists of types and taxonomies, and options of handlers in addition to its schema.

use super::views::Views;
use crate::units::{Duration, Size};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The entry of a resource in the lists of types and taxonomies, in addition to what follows from its declaration.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Listing {
    /// Name for people; default: the schema's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its purpose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Icon of its entry in menus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// Whether the site has a page that lists its records: yes, no, or the page's slug.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_archive: Option<Value>,
    /// Whether its items have pages of their own on the site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viewable: Option<bool>,
    /// Where screens show it (`show_ui`, `show_in_nav_menus`, …); `public` also decides whether searches find its terms.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub visibility: Map<String, Value>,
    /// Blocks that a new record starts with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Vec<Value>>,
    /// Which changes of that template editors may make.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template_lock: Option<Value>,
    /// Whether a cloud of its terms may be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub show_cloud: Option<bool>,
    /// Names of the capabilities as clients know them.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub capabilities: IndexMap<String, String>,
}

/// See [`HandlerOptions::widgets`]. An entry of a type has the members `settings` (by name: `type`, which is `text`,
/// `html`, `integer`, `switch`, `boolean` or `any`, and `default`) and `block`, with `attributes` (the setting of each), or
/// `html` (the setting that is shown).
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WidgetOptions {
    /// Resource whose entries are the types.
    pub types: String,
    /// Resource whose entries are the places.
    pub places: String,
    /// The place of widgets that are not shown.
    pub unused: String,
}

/// See [`HandlerOptions::lookup`]. A slug for which nothing is named is shortened by its last part (`page-about`, `page`).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Lookup {
    /// The slug that is looked for in place of one that no item has.
    #[serde(default)]
    pub instead: IndexMap<String, String>,
    /// The slug for items that users made (`is_custom`).
    #[serde(default)]
    pub custom: String,
    /// The slug that is looked for last.
    #[serde(default)]
    pub last: String,
}

/// Options that handlers need in addition to the schema. Each option names its handlers.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct HandlerOptions {
    /// `widget.*`: the types of widgets, and where they are.
    pub widgets: Option<WidgetOptions>,
    /// `lookup`: which item serves for a slug that none has.
    pub lookup: Option<Lookup>,
    /// `static.list`, `static.get`, `site_health.test`: the entries.
    pub entries: Vec<Value>,
    /// `static.*`: declared tables that are entries, too: each by its name under `key`.
    pub entries_from: Option<EntrySource>,
    /// `static.list`: what arguments select, by argument.
    pub filters: IndexMap<String, EntryFilter>,
    /// `static.*`: the member that identifies an entry; default: `id`.
    pub key: Option<String>,
    /// `static.*`: names of the parts of a key with several parts, separated by slashes.
    pub key_parts: Vec<String>,
    /// `static.*`: links of an entry by relation: paths below the collection, or below that of another resource where
    /// they begin with `@NAME`, with `{key}`, `{PART}` and `{holder}`, the row that names the entry.
    pub links: IndexMap<String, String>,
    /// `static.*`: relations whose targets may be embedded.
    pub embeddable_links: Vec<String>,
    /// `static.*`: links that only those entries have in which this member is true.
    pub links_where: IndexMap<String, String>,
    /// `static.*`: the row that names an entry.
    pub holder: Option<Holder>,
    /// `catalogue.*`: types that support the editor and have autosaves show the feature `autosave`.
    pub autosave_feature: bool,
    /// `catalogue.*`: labels of what declares none of this name, with places for names as in `labels`; `false`: null.
    pub labels: Labels,
    /// `block.render`: the resource whose entries have the `attributes` of each block; a block takes no others.
    pub types: Option<String>,
    /// `catalogue.get`: names that exist and are refused as forbidden.
    pub hidden: Vec<String>,
    /// `search`: fixed sets of values that searches of this type include.
    pub values: IndexMap<String, SearchedValues>,
    /// `theme.list`, `theme.get`: the record with the site's own styles.
    pub user_styles: Option<UserStyles>,
    /// `theme.list`, `theme.get`: links of the active theme by relation: resources, with the methods that the caller may
    /// use.
    pub theme_links: IndexMap<String, String>,
    /// `theme.export`: folders of the archive, each with the resource whose records are its files.
    pub folders: IndexMap<String, String>,
    /// `theme.export`: the resource whose one record becomes `theme.json`.
    pub styles: Option<String>,
    /// `file.create_with`: the files that an item may bring.
    pub uploads: Option<UploadedMembers>,
    /// `view_config.get`: how lists and forms of entities look.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub views: Option<Views>,
    /// `menu_tree.get`: where menus and their items are.
    pub menu_tree: Option<MenuTree>,
    /// `navigation_fallback.get`: what a navigation is made from.
    pub navigation: Option<NavigationFallback>,
    /// `token.*`: tokens that programs log in with.
    pub tokens: Option<TokenOptions>,
    /// `oauth.*`: how people connect programs (OAuth 2.1).
    pub oauth: Option<OAuthOptions>,
    /// `form.*`: forms that everybody may send.
    pub forms: Option<FormOptions>,
    /// `language.*`: languages of the site's contents. One resource may have them.
    pub languages: Option<LanguageOptions>,
}

/// See [`HandlerOptions::entries_from`].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EntrySource {
    /// `[abilities]` that are shown.
    Abilities,
    /// `[ability_categories]`.
    AbilityCategories,
}

/// The entries that an argument selects. See [`HandlerOptions::filters`].
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct EntryFilter {
    /// Members that are compared, one of which has to fit; none named: that of the argument's name.
    pub members: Vec<String>,
    /// How they are compared.
    pub by: Comparison,
    /// Resource whose entries the value names; for any other value the response is that there is no such entry.
    pub among: Option<String>,
    /// Members of the value that select nothing.
    pub ignored: Vec<String>,
}

/// How a member of an entry is compared with the value of an argument.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Comparison {
    /// It is the value.
    #[default]
    Equal,
    /// It contains the text, in any case.
    Contains,
    /// It has every member of the value, at any depth.
    Part,
}

/// See [`HandlerOptions::holder`].
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Holder {
    /// Resource of the row.
    pub resource: String,
    /// Its property with the keys of entries, separated by spaces.
    pub property: String,
    /// Member of the entry that shows the row's number.
    pub shown_as: String,
}

/// See [`HandlerOptions::values`].
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SearchedValues {
    /// Resource whose records have the values.
    pub resource: String,
    /// Their property.
    pub property: String,
    /// Path of a value's page; `{value}` is replaced by the value.
    pub address: String,
    /// Names for people, by value.
    pub labels: IndexMap<String, String>,
}

/// See [`HandlerOptions::labels`].
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Labels {
    /// Of all of them, in the order in which they are shown.
    pub all: IndexMap<String, Value>,
    /// Of those that are hierarchical, instead.
    pub hierarchical: IndexMap<String, Value>,
}

/// See [`HandlerOptions::user_styles`].
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct UserStyles {
    /// Relation of the link.
    pub rel: String,
    /// Resource with the one record.
    pub resource: String,
}

/// See [`HandlerOptions::uploads`].
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct UploadedMembers {
    /// Property whose value is an object.
    pub property: String,
    /// Its member with addresses: one, or a list. One that is the name of a file in the form is replaced by the address of
    /// that file.
    pub member: String,
    /// Folder of the files.
    pub folder: String,
    /// MIME types that are accepted.
    pub types: Vec<String>,
}

/// See [`HandlerOptions::menu_tree`].
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MenuTree {
    /// Resource of menus.
    pub menus: String,
    /// Resource of their items.
    pub items: String,
    /// Property of an item with its menu.
    pub menu: String,
    /// Resource of the places of menus.
    pub places: String,
}

/// See [`HandlerOptions::navigation`].
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NavigationFallback {
    /// Resource of navigations.
    pub resource: String,
    /// Resource of menus that one is made from.
    pub menus: String,
    /// Resource of their items.
    pub items: String,
    /// The record that is created where there is no menu.
    pub new: Map<String, Value>,
}

/// See [`HandlerOptions::tokens`].
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TokenOptions {
    /// How long a token is valid.
    pub lifetime: Duration,
    /// Tokens that an account has at most; another one ends the oldest.
    #[schemars(range(min = 1, max = 1000))]
    pub most: u64,
    /// Argument with the user name or the e-mail address.
    pub login: String,
    /// Argument with the password of the account.
    pub password: String,
    /// Member of the response with the token.
    pub member: String,
    /// Further members, each with the property of the account that it shows.
    #[serde(default)]
    pub account: IndexMap<String, String>,
    /// The response of `token.check` to a token that is valid.
    #[serde(default)]
    pub valid: Map<String, Value>,
}

/// See [`HandlerOptions::oauth`]. The page where people decide is `pages.connect`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OAuthOptions {
    /// How long the code is valid that a program gets when it is connected.
    pub code: Duration,
    /// How long an access token is valid; the program gets the next one for its refresh token.
    pub access: Duration,
    /// The periods that people may choose a connection to last; the first one is chosen where they choose none.
    #[schemars(length(min = 1, max = 20))]
    pub periods: Vec<Duration>,
    /// Connections that an account has at most; another one ends the oldest.
    #[schemars(range(min = 1, max = 1000))]
    pub most: u64,
    /// Programs that are registered at most; another one takes the place of one that nobody has connected.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub clients: u64,
    /// How long a registration stays that nobody has connected.
    pub unused: Duration,
    /// How long a registration stays after its last use.
    pub idle: Duration,
    /// Addresses of one program at most.
    #[schemars(range(min = 1, max = 100))]
    pub redirects: usize,
    /// Schemes of programs without a full stop that are accepted in such addresses.
    #[serde(default)]
    pub schemes: Vec<String>,
    /// Programs that nobody registers: their id is the address of a document that describes them.
    #[serde(default)]
    pub documents: ClientDocumentOptions,
}

/// See [`OAuthOptions::documents`]. They are read within the rules of `[outbound]`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClientDocumentOptions {
    /// Whether the server reads such documents, at addresses that programs choose, for people who are logged in.
    pub enabled: bool,
    /// Largest document.
    pub max_size: Size,
    /// How long a document is used at least before it is read again, whatever its `Cache-Control` says.
    pub fresh: Duration,
    /// How long at most.
    pub longest: Duration,
    /// Documents that one person can make the server read in a row.
    #[schemars(range(min = 1, max = 1000))]
    pub burst: u32,
    /// After these, one more in this time.
    pub pause: Duration,
}

impl Default for ClientDocumentOptions {
    fn default() -> Self {
        ClientDocumentOptions {
            enabled: false,
            max_size: Size::kib(5),
            fresh: Duration::seconds_of(300),
            longest: Duration::days(1),
            burst: 10,
            pause: Duration::seconds_of(60),
        }
    }
}

/// See [`HandlerOptions::forms`]. A form is a row with the columns `title`, `form` (the tags), `mail` (`active`, `recipient`,
/// `subject`, `body`), `messages` (texts by key) and `additional_settings` (lines such as `skip_mail: on`).
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FormOptions {
    /// Resource whose rows are the messages.
    pub messages: String,
    /// Field that names the part of the page that shows the form.
    pub place: String,
    /// Beginning of the name of the field with the proof of a question's answer; the name of the quiz follows.
    pub quiz: String,
    /// Field with the moment when the form was shown, where it has `minimum_seconds: N`.
    pub shown: String,
    /// Members of the response, each with what it shows.
    pub members: IndexMap<String, FormMember>,
    /// The word for each outcome.
    pub statuses: IndexMap<FormOutcome, String>,
    /// Sentences for people, by key, where the form has no text of its own.
    #[serde(default)]
    pub texts: IndexMap<String, String>,
    /// Messages with one of these words are taken for those of programs.
    #[serde(default)]
    pub disallowed: Vec<String>,
    /// Version of the rules that `form.rules` shows.
    #[serde(default)]
    pub version: String,
}

/// The value of a member of the response to a form.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FormMember {
    /// The id of the form.
    Form,
    /// The word for the outcome.
    Status,
    /// The sentence about the outcome.
    Text,
    /// A digest of what was sent; empty where it is not taken.
    Digest,
    /// The part of the page, after `#`.
    Place,
    /// The fields whose values are not taken.
    Problems,
}

/// The outcome of a form that was sent.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FormOutcome {
    /// It is stored.
    Sent,
    /// A value is not taken.
    Invalid,
    /// Something was not accepted that has to be.
    Unaccepted,
    /// It is taken for the message of a program.
    Spam,
    /// Only those who are logged in may send it.
    Closed,
}

impl FormOutcome {
    /// The key of the sentence about it.
    pub fn text(self) -> &'static str {
        match self {
            FormOutcome::Sent => "mail_sent_ok",
            FormOutcome::Invalid => "validation_error",
            FormOutcome::Unaccepted => "accept_terms",
            FormOutcome::Spam => "spam",
            FormOutcome::Closed => "subscribers_only",
        }
    }
}

/// See [`HandlerOptions::languages`]. Its `entries` are the languages: `slug`, `name`, `locale` (`de_DE`) and perhaps `rtl`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LanguageOptions {
    /// Slug of the language of what names none; without one it is the first of them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub default: String,
    /// Property of records and terms with the slug of their language.
    pub property: String,
    /// Property of records and terms with the name that translations of each other share.
    pub group: String,
    /// Taxonomies by which an export names languages and translations.
    #[serde(default)]
    pub import: LanguageImport,
    /// Members of a language, each with what it shows.
    #[serde(default)]
    pub members: IndexMap<String, LanguageMember>,
    /// Further members, which are the same for all.
    #[serde(default)]
    pub constants: Map<String, Value>,
}

/// See [`LanguageOptions::import`].
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct LanguageImport {
    /// The languages of records, by slug.
    pub records: String,
    /// Groups of records that translate each other.
    pub record_groups: String,
    /// Groups of terms that translate each other; the description is a map of languages to terms.
    pub term_groups: String,
}

/// The value of a member of a language.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LanguageMember {
    /// Its place among the languages, from 1.
    Id,
    Name,
    Slug,
    /// `de_DE`.
    Locale,
    /// `de-DE`.
    Tag,
    /// Whether it is written from right to left.
    Rtl,
    /// The address of the site in this language.
    Home,
    /// Whether it is the default language.
    Default,
}
