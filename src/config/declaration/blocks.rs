//! Blocks and shortcodes of contents: which the server renders, and what each block gets when it is shown.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// See [`Declaration::blocks`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rendered {
    /// Name of the renderer, such as `latest_records`, `page_list` or `query.no_results`.
    pub renderer: String,
    /// The resource whose rows it shows.
    #[serde(default)]
    pub resource: Option<String>,
    /// The attribute that a block has when the server renders it; without the attribute the block shows what is inside
    /// it.
    #[serde(default)]
    pub when: Option<String>,
}

/// See [`Declaration::block_classes`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlockClass {
    /// The class, such as `wp-block-heading`.
    pub class: String,
    /// The elements that may have it: the first of them in the block gets it; any element where there are none.
    #[serde(default)]
    pub elements: Vec<String>,
    /// Whether the class comes behind those that follow from the block's attributes.
    #[serde(default)]
    pub last: bool,
}

/// See [`Declaration::block_supports`].
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct BlockSupports {
    /// The layout of what is inside the block, unless its attribute `layout` says another one: `type` is `default`,
    /// `constrained`, `flex` or `grid`. Absent: the block has no layout.
    pub layout: Option<Map<String, Value>>,
    /// Whether the attribute `style.dimensions.aspectRatio` gives its proportions.
    pub aspect_ratio: bool,
    /// Whether the attribute `style.position` makes it stay in sight.
    pub position: bool,
    /// Whether it can be hidden on screens of some widths (`metadata.blockVisibility.viewport`).
    pub visibility: bool,
    /// Whether it can have a style sheet of its own (`style.css`).
    pub css: bool,
    /// Whether links, buttons and headings in it can have colours of their own (`style.elements`).
    pub element_colors: bool,
    /// The beginning of a class that every block of the kind gets; the server adds a number.
    pub numbered_class: Option<String>,
}

impl Default for BlockSupports {
    fn default() -> BlockSupports {
        BlockSupports {
            layout: None,
            aspect_ratio: false,
            position: false,
            visibility: true,
            css: true,
            element_colors: true,
            numbered_class: None,
        }
    }
}

/// See [`Declaration::block_styles`].
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct BlockStyles {
    /// The distance between blocks; absent: blocks have no say in it.
    pub gap: Option<String>,
    /// The distance inside blocks of a kind where it is another one, by the block's full name.
    pub gaps: IndexMap<String, String>,
    /// Whether content of limited width stays off the edges of the screen; its blocks get `has-global-padding`.
    pub root_padding: bool,
    /// Block styles that get a class with a number beside their own (`is-style-outline--1`), by the block's full name.
    pub variations: IndexMap<String, Vec<String>>,
}
