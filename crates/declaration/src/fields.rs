//! Groups of fields: values that records, terms, users and comments keep as meta values, and where each group applies.

use crate::units::yes;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How documents show the values of field groups, and requests write them. The property of a schema that holds the values
/// has `x-fields`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct FieldSettings {
    /// Parameter of every request that chooses the form of the values; absent: they are shown as they are stored.
    pub parameter: Option<String>,
    /// Value of that parameter for the form that pages show: labels, addresses, whole records.
    pub formatted: Option<String>,
    /// Relations of the links to what values refer to.
    pub links: FieldLinks,
}

/// See [`FieldSettings::links`]. Without a relation there are no such links.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct FieldLinks {
    /// To records.
    pub record: Option<String>,
    /// To files.
    pub file: Option<String>,
    /// To terms.
    pub term: Option<String>,
    /// To users.
    pub user: Option<String>,
}

/// Fields that belong together.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldGroup {
    /// Title for people; groups of the same `order` are in the order of their titles.
    #[serde(default)]
    pub title: String,
    /// Key by which exports know the group.
    #[serde(default)]
    pub key: Option<String>,
    /// Groups with a smaller number come first.
    #[serde(default)]
    pub order: i64,
    /// Whether documents have its fields. One that is not active is described all the same.
    #[serde(default = "yes")]
    pub active: bool,
    /// Whether the interface knows it.
    #[serde(default = "yes")]
    pub in_rest: bool,
    /// Where it applies: all rules of one of these lists hold.
    #[serde(default)]
    pub location: Vec<Vec<LocationRule>>,
    /// The fields by name, in their order. A field inside another one has the name of that before a dot (`"box.height"`), and
    /// comes after it.
    #[serde(default)]
    pub fields: IndexMap<String, Field>,
}

/// A rule about the item that is shown or written, or about the reader.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LocationRule {
    /// The fact that is compared.
    pub param: LocationParam,
    /// Whether it has to be the value, or another one.
    #[serde(default)]
    pub operator: RuleOperator,
    /// The value.
    pub value: String,
}

/// See [`LocationRule::operator`].
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
pub enum RuleOperator {
    /// It is the value.
    #[default]
    #[serde(rename = "==")]
    Is,
    /// It is another one.
    #[serde(rename = "!=")]
    IsNot,
}

/// See [`LocationRule::param`].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum LocationParam {
    /// The kind of a record.
    PostType,
    /// The state of a record.
    PostStatus,
    /// The template of a record.
    PostTemplate,
    /// The format of a record.
    PostFormat,
    /// A category of a record: `category:SLUG`, or its id.
    PostCategory,
    /// A term of a record: `TAXONOMY:SLUG`, or its id.
    PostTaxonomy,
    /// The id of a record.
    Post,
    /// `front_page`, `posts_page`, `top_level`, `parent` or `child`.
    PageType,
    /// The id of the record above.
    PageParent,
    /// The template of a record.
    PageTemplate,
    /// The id of a record.
    Page,
    /// The type of an uploaded file, in the pages for files alone: no item of the interface meets it.
    Attachment,
    /// The taxonomy of a term, or `all`.
    Taxonomy,
    /// The form for a user: `all`, `add`, `edit` or `register`.
    UserForm,
    /// A role of a user.
    UserRole,
    /// The kind of the record of a comment, or `all`.
    Comment,
    /// A role of the reader.
    CurrentUserRole,
    /// `logged_in`, `viewing_front` or `viewing_back`.
    CurrentUser,
}

/// A field.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// The type decides how values are stored, shown and checked.
    #[serde(rename = "type")]
    pub kind: FieldKind,
    /// Key by which exports know the field. Writes may name the field by it; it is stored beside the value, under `_NAME`.
    #[serde(default)]
    pub key: Option<String>,
    /// Label for people.
    #[serde(default)]
    pub label: Option<String>,
    /// Whether a write of the group's values has to have it.
    #[serde(default)]
    pub required: bool,
    /// The value where nothing is stored.
    #[serde(default)]
    pub default: Option<Value>,
    /// Labels of the values that may be chosen, by value.
    #[serde(default)]
    pub choices: IndexMap<String, String>,
    /// Whether it holds several values.
    #[serde(default)]
    pub multiple: bool,
    /// Whether it may be left empty.
    #[serde(default)]
    pub nullable: bool,
    /// Whether values beside the choices are accepted.
    #[serde(default)]
    pub custom: bool,
    /// Most characters of a text.
    #[serde(default)]
    pub max_length: Option<u64>,
    /// Least number, or fewest items of a list.
    #[serde(default)]
    pub min: Option<f64>,
    /// Greatest number, or most items of a list.
    #[serde(default)]
    pub max: Option<f64>,
    /// How pages show it: `value`, `label`, `array`, `object`, `id`, `url`, `string`, or the form of a date (`d/m/Y`).
    #[serde(default)]
    pub form: Option<String>,
    /// How pages show the lines of a text.
    #[serde(default)]
    pub lines: Lines,
    /// Endings or MIME types of the files that are accepted; empty: all.
    #[serde(default)]
    pub mime_types: Vec<String>,
    /// Kinds of the records that are accepted; empty: all.
    #[serde(default)]
    pub kinds: Vec<String>,
    /// Roles of the users that are accepted; empty: all.
    #[serde(default)]
    pub roles: Vec<String>,
    /// Taxonomy of the terms.
    #[serde(default)]
    pub taxonomy: Option<String>,
    /// Control that people choose terms with: `checkbox`, `multi_select`, `radio` or `select`.
    #[serde(default)]
    pub control: Option<String>,
    /// Whether a record gets the terms that are written.
    #[serde(default)]
    pub assigns: bool,
    /// Whether the terms of the record are the value.
    #[serde(default)]
    pub assigned: bool,
    /// Sources of icons.
    #[serde(default)]
    pub sources: Vec<String>,
}

/// See [`Field::kind`].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum FieldKind {
    /// One line of text.
    Text,
    /// Several lines of text.
    Textarea,
    /// A number.
    Number,
    /// A number between two others.
    Range,
    /// An e-mail address.
    Email,
    /// The address of a page.
    Url,
    /// A text that is typed unseen.
    Password,
    /// HTML, as contents are written.
    Wysiwyg,
    /// The address of something that pages embed.
    Oembed,
    /// A colour.
    ColorPicker,
    /// A day, stored as `Ymd`.
    DatePicker,
    /// A day and a time, stored as `Y-m-d H:i:s`.
    DateTimePicker,
    /// A time, stored as `H:i:s`.
    TimePicker,
    /// Yes or no.
    TrueFalse,
    /// One choice, or several.
    Select,
    /// Several choices.
    Checkbox,
    /// One choice.
    Radio,
    /// One choice.
    ButtonGroup,
    /// An address with its title and target.
    Link,
    /// An icon.
    IconPicker,
    /// A picture.
    Image,
    /// A file.
    File,
    /// One record, or several.
    PostObject,
    /// Several records.
    Relationship,
    /// Records, or addresses of pages.
    PageLink,
    /// Terms.
    Taxonomy,
    /// One user, or several.
    User,
    /// A place on a map.
    GoogleMap,
    /// Pictures.
    Gallery,
    /// The fields whose names begin with its own and a dot.
    Group,
    /// Rows of the fields whose names begin with its own and a dot.
    Repeater,
    /// Rows, each with the fields of one of the layouts whose names begin with its own and a dot.
    FlexibleContent,
    /// The fields of a row of flexible content.
    Layout,
}

impl FieldKind {
    /// Whether it holds other fields.
    pub fn holds_fields(self) -> bool {
        self.holds_rows() || matches!(self, FieldKind::Group | FieldKind::Layout)
    }

    /// Whether it holds rows of other fields.
    pub fn holds_rows(self) -> bool {
        matches!(self, FieldKind::Repeater | FieldKind::FlexibleContent)
    }
}

/// See [`Field::lines`].
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Lines {
    /// As they are.
    #[default]
    Plain,
    /// With `<br />` at their ends.
    Breaks,
    /// As paragraphs.
    Paragraphs,
}
