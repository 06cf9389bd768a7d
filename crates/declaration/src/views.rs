//! How lists and forms of entities look: a base and the changes of each kind and name.

use super::action::Action;
use super::resource::Family;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How lists and forms of entities look.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Views {
    /// Capability that shows the configuration of kinds that are not declared.
    pub capability: String,
    /// Kinds of entities by name.
    pub kinds: IndexMap<String, EntityKind>,
    /// The configuration that every entity starts with.
    pub base: ViewParts,
    /// Changes by `KIND` and by `KIND/NAME`, in this order.
    pub changes: IndexMap<String, ViewChange>,
}

/// A kind of entities: types or taxonomies, or names that are not declared anywhere.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct EntityKind {
    /// Family of the resources whose kinds are its names; absent: any name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// Names whose configuration follows from `base` and `changes` alone; others look as `view` of their resource says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub listed: Vec<String>,
    /// Action that a caller has to be allowed to do with such items; absent: `edit`.
    pub act: Option<Action>,
    /// Capability that shows the configuration, where there is no family.
    pub capability: String,
}

/// Parts of a configuration.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ViewParts {
    /// How the list looks at first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_view: Option<Map<String, Value>>,
    /// Changes of each layout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_layouts: Option<Map<String, Value>>,
    /// Views that the user may choose. In texts `{labels.NAME}` is a label of the entity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view_list: Option<Vec<Value>>,
    /// Form that edits an item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<Map<String, Value>>,
}

/// Changes of a configuration, in the order of the keys.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ViewChange {
    /// Parts that replace those before.
    pub set: ViewParts,
    /// Values that are merged key by key; lists replace those before.
    pub replace: ViewParts,
    /// Values that are merged key by key; members of lists by `id`, `slug` or `field`.
    pub merge: ViewParts,
    /// Names that are removed: a list of keys or of members, or a table that leads to them. A whole part becomes that of
    /// the base.
    pub remove: Value,
    /// Views that are added for rows, declared entries or facts of the theme.
    pub lists: Vec<ViewTemplate>,
}

/// One view for each item of some sources.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ViewTemplate {
    /// Where the items are from. Of items with the same slug the last one counts.
    pub from: Vec<ViewSource>,
    /// Views that are there in any case.
    pub also: Vec<ViewName>,
    /// Slugs that come first, in this order.
    pub first: Vec<String>,
    /// They are sorted by title.
    pub sorted: bool,
    /// Filter of the view: it lists items whose field has the slug as its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<ViewFilter>,
}

/// Items that views are made of.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ViewSource {
    /// Resource whose items they are, as the caller may see them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// Otherwise: member of the active theme with a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<String>,
    /// Member with the slug.
    pub slug: String,
    /// Member with the title.
    pub title: String,
    /// Values of items that come last.
    pub last: IndexMap<String, String>,
}

/// A view that is there in any case.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ViewName {
    /// Name for people.
    pub title: String,
    /// Name.
    pub slug: String,
}

/// See [`ViewTemplate::filter`].
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ViewFilter {
    /// Field that is compared.
    pub field: String,
    /// How it is compared.
    pub operator: String,
}
