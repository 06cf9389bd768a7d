//! The console: where it is, and how it shows resources.

use crate::units::OptionalSetting;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The console for people who write. It needs the pages (`pages.enabled`), where people log in.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Console {
    /// It is served.
    pub enabled: bool,
    /// Path of its address. Addresses of pages below it stay those of the pages.
    pub path: String,
    /// Paths that redirect to it.
    pub redirects: Vec<String>,
    /// The resource in which users keep views of lists; `false`: none.
    pub saved_views: OptionalSetting<String>,
    /// The resource with what rebuilds the site, for which there are buttons; `false`: none.
    pub rebuilds: OptionalSetting<String>,
    /// The resource with the roles, which have a page of their own; `false`: none.
    pub roles: OptionalSetting<String>,
}

impl Default for Console {
    fn default() -> Self {
        Console {
            enabled: true,
            path: "/admin".into(),
            redirects: Vec::new(),
            saved_views: OptionalSetting::OFF,
            rebuilds: OptionalSetting::OFF,
            roles: OptionalSetting::OFF,
        }
    }
}

/// A section of the console's navigation. Sections come in the order of their declaration.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ViewGroup {
    /// Name for people.
    pub label: String,
}

/// How the console shows a resource. Absent parts follow from the rest of the declaration: columns, filters and forms
/// from the schema, tabs from the states.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResourceView {
    /// Name of its section (`[view_groups]`); absent: the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Place in the section; smaller numbers come first. Absent: 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<i64>,
    /// Name of an icon of the console (docs/console.md lists them).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// It has no place in the navigation; other resources may still lead to it.
    pub hidden: bool,
    /// Records of other resources that are created from one of these: for each resource its properties, and those of this one
    /// whose values they begin with.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub creates: IndexMap<String, IndexMap<String, String>>,
    /// How the list looks at first: `type` (`table`, `list`, `grid`, `tree`), `sort`, `fields`, `titleField`, `mediaField`,
    /// `perPage`, `filters` and the other members that `view-config` has.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub default_view: Map<String, Value>,
    /// Changes of each layout.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub default_layouts: Map<String, Value>,
    /// Views that the user may choose, instead of one for each state. In titles `{labels.NAME}` is a label of the resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view_list: Option<Vec<ViewChoice>>,
    /// The form: `fields` lists names of properties and groups of them (`{ id, label, children }`).
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub form: Map<String, Value>,
    /// How single properties are shown and edited, by name; `a.b` for what is nested.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub fields: IndexMap<String, FieldView>,
}

/// See [`ResourceView::view_list`].
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ViewChoice {
    /// Name for people.
    pub title: String,
    /// Name in addresses.
    pub slug: String,
    /// Differences from `default_view`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub view: Map<String, Value>,
}

/// How a property is shown and edited. The same words are those of `x-view` in a schema.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct FieldView {
    /// Name for people; absent: made of the property's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Advice for people who fill it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The control that edits it; absent: chosen by format and type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
    /// The display that shows it in lists; absent: chosen by format and type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display: Option<String>,
    /// It is rarely needed: forms that follow from the schema fold it away.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub folded: bool,
    /// Options of the control.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub options: Map<String, Value>,
    /// Names of the values of an enumeration for people.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub labels: IndexMap<String, String>,
    /// Further names of values: those of what is declared elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels_from: Option<LabelSource>,
}

/// A kind of declared things that have names for people.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelSource {
    /// Roles.
    Roles,
    /// States of records.
    Statuses,
    /// Resources of the content family, by the names that the API has for them.
    Types,
    /// Resources of the term family, by the names that the API has for them.
    Taxonomies,
    /// All resources, by their names in the declarations.
    Resources,
    /// Templates of the active theme.
    Templates,
}
