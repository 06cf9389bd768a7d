//! Blocks and shortcodes of contents: which the server renders, and what each block gets when it is shown.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// See [`Declaration::blocks`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DynamicBlock {
    /// Name of the renderer, such as `latest_records`, `page_list` or `query.no_results`.
    pub renderer: String,
    /// The resource whose rows it shows.
    #[serde(default)]
    pub resource: Option<String>,
    /// The attribute that a block has when the server renders it; without the attribute the block shows what is inside
    /// it.
    #[serde(default)]
    pub when: Option<String>,
    /// The value that the member `source` of that attribute must have; with any other the block shows nothing.
    #[serde(default)]
    pub source: Option<String>,
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
    /// Whether the attribute `style.dimensions.width` gives its width, in classes and a variable that begin with the
    /// block's class.
    pub width: bool,
    /// Elements of which the first has to hold something; otherwise the block shows nothing.
    pub filled: Vec<String>,
    /// Elements of which the first has to have a `src`; otherwise the block shows nothing.
    pub sourced: Vec<String>,
    /// The attribute that opens the block. Pictures in a closed block are fetched late.
    pub opened_by: Option<String>,
    /// Whether its first picture gets the attribute `data-id`, if it has one or the block around it numbers its pictures.
    pub data_id: bool,
    /// Whether the pictures in it get their numbers as `data-id`.
    pub numbers_pictures: bool,
    /// Whether its text gets paragraphs, as content without blocks does.
    pub paragraphs: bool,
    /// Whether its pictures can have two colours (`style.color.duotone`).
    pub duotone: bool,
    /// Groups of attributes that do not style the element around the block, where the server makes that element.
    pub unstyled: Vec<StyleGroup>,
    /// Whether it shows what is written inside it where nothing renders it.
    pub inside: bool,
    /// The part of it that an automatic excerpt takes; absent: nothing.
    pub excerpt: Option<ExcerptPart>,
}

/// A group of attributes that style a block.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StyleGroup {
    /// Colours of text and background.
    Colors,
    /// Sizes and shapes of letters and lines.
    Typography,
    /// Borders and their corners.
    Border,
    /// Padding and margin.
    Spacing,
}

/// The part of a block that an automatic excerpt takes.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExcerptPart {
    /// Its own text, unless it holds blocks that hold others, or blocks that excerpts take nothing from.
    Text,
    /// The parts that the excerpt takes from the blocks inside it.
    Inside,
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
            width: false,
            filled: Vec::new(),
            sourced: Vec::new(),
            opened_by: None,
            data_id: false,
            numbers_pictures: false,
            paragraphs: false,
            duotone: false,
            unstyled: Vec::new(),
            inside: true,
            excerpt: None,
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
    /// Sizes of text that authors choose grow with the screen, between these widths in pixels; absent: they do not.
    pub fluid: Option<FluidText>,
    /// Names of pairs of colours that pictures can have (`var:preset|duotone|NAME`).
    pub duotones: Vec<String>,
    /// Whether content of limited width stays off the edges of the screen; its blocks get `has-global-padding`.
    pub root_padding: bool,
    /// Block styles that get a class with a number beside their own (`is-style-outline--1`), by the block's full name.
    pub variations: IndexMap<String, Vec<String>>,
}

/// The widths of the screen between which text grows, in pixels.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FluidText {
    /// Below it, text is as small as it gets.
    pub narrowest: u32,
    /// Above it, text is as large as the author chose.
    pub widest: u32,
}

/// See [`Declaration::block_bindings`].
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BlockBindings {
    /// Sources of values, by full name.
    pub sources: IndexMap<String, BindingSource>,
    /// The attributes that can be bound, by the block's full name; each with its place in the block's markup.
    pub attributes: IndexMap<String, IndexMap<String, BoundAttribute>>,
}

/// A source of values for attributes of blocks.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum BindingSource {
    /// Members of the record: `date`, `modified` and `link`, by the argument `field`.
    Record,
    /// Declared meta values of the record, by the argument `key`.
    Meta,
    /// Members of the term that a list shows, by the argument `field`.
    Term,
    /// Values that the place that uses a synced pattern gives for the block with this name (`metadata.name`). As the
    /// binding `__default` it is the source of every attribute that can be bound.
    Overrides,
}

/// The place of a bound attribute in the markup of a block.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoundAttribute {
    /// The first of these elements has the value.
    pub elements: Vec<String>,
    /// As which attribute; absent: the value is its content.
    #[serde(default)]
    pub attribute: Option<MarkupAttribute>,
}

/// An attribute of an element that a block's attribute may be bound to. `href` and `src` are addresses.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum MarkupAttribute {
    Alt,
    Href,
    Rel,
    Src,
    Target,
    Title,
}

impl MarkupAttribute {
    /// As HTML writes it.
    pub const fn name(self) -> &'static str {
        match self {
            MarkupAttribute::Alt => "alt",
            MarkupAttribute::Href => "href",
            MarkupAttribute::Rel => "rel",
            MarkupAttribute::Src => "src",
            MarkupAttribute::Target => "target",
            MarkupAttribute::Title => "title",
        }
    }

    /// Whether its value is an address.
    pub const fn is_address(self) -> bool {
        matches!(self, MarkupAttribute::Href | MarkupAttribute::Src)
    }
}
