//! Declared styles of blocks, for when they are shown.
//!
//! Owns the properties that kinds of blocks differ in. It must not know markup: `dress` and `render` act on them.

use super::block_css::FluidWidths;
#[cfg(test)]
use super::blocks::full_name;
use super::layout::{BlockLayout, LayoutRules};
#[cfg(test)]
use serde_json::{Value, json};
use std::collections::HashMap;

/// Declared styles of blocks, for when they are shown.
#[derive(Clone, Debug, Default)]
pub struct BlockStyles {
    /// By full name.
    pub blocks: HashMap<String, BlockStyle>,
    pub layouts: LayoutRules,
    /// How sizes of text grow with the screen; none: they do not.
    pub fluid: Option<FluidWidths>,
    /// Names of pairs of colours that pictures can have.
    pub duotones: Vec<String>,
}

/// The groups of attributes that style the element around a block that the server makes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WrapperStyles {
    pub colors: bool,
    pub typography: bool,
    pub border: bool,
    pub spacing: bool,
}

impl WrapperStyles {
    /// Every group.
    pub const ALL: WrapperStyles = WrapperStyles { colors: true, typography: true, border: true, spacing: true };
}

impl BlockStyles {
    /// The declared style of a kind of block.
    pub fn of(&self, name: &str) -> Option<&BlockStyle> {
        self.blocks.get(name)
    }
}

/// The declared style of one kind of block.
#[derive(Clone, Debug)]
pub struct BlockStyle {
    pub class: Option<BlockClass>,
    pub layout: Option<BlockLayout>,
    /// Styles that authors choose from and that have a class with a number.
    pub variations: Vec<String>,
    /// The beginning of a class with a number that every block of the kind gets.
    pub numbered: Option<String>,
    /// Whether its proportions can be set.
    pub aspect_ratio: bool,
    /// Whether it can stay in sight.
    pub position: bool,
    /// Whether it can be hidden on screens of some widths.
    pub visibility: bool,
    /// Whether it can have a style sheet of its own.
    pub css: bool,
    /// Whether links, buttons and headings in it can have colours of their own.
    pub element_colors: bool,
    /// Whether its width can be set.
    pub width: bool,
    /// Elements of which the first has to hold something; otherwise the block shows nothing.
    pub filled: Vec<String>,
    /// Elements of which the first has to have an address; otherwise the block shows nothing.
    pub sourced: Vec<String>,
    /// The attribute that opens the block; while it is not set, pictures inside are not urgent.
    pub opened_by: Option<String>,
    /// Whether it can have a number for scripts.
    pub data_id: bool,
    /// Whether the pictures in it get their numbers for scripts.
    pub numbers_pictures: bool,
    /// Whether its text gets paragraphs.
    pub paragraphs: bool,
    /// Whether it shows what is written inside it where nothing renders it.
    pub inside: bool,
    /// Whether its pictures can have two colours.
    pub duotone: bool,
    /// Groups of styles that the element around it gets.
    pub styled: WrapperStyles,
    /// The part of it that an automatic excerpt takes.
    pub excerpt: Option<Excerpt>,
}

/// The part of a block that an automatic excerpt takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Excerpt {
    /// Its own text, unless it holds blocks that hold others.
    Text,
    /// The parts that the excerpt takes from the blocks inside it.
    Inside,
}

impl Default for BlockStyle {
    fn default() -> BlockStyle {
        BlockStyle {
            class: None,
            layout: None,
            variations: Vec::new(),
            numbered: None,
            aspect_ratio: false,
            position: false,
            visibility: true,
            css: true,
            element_colors: true,
            width: false,
            filled: Vec::new(),
            sourced: Vec::new(),
            opened_by: None,
            data_id: false,
            numbers_pictures: false,
            paragraphs: false,
            inside: true,
            duotone: false,
            styled: WrapperStyles::ALL,
            excerpt: None,
        }
    }
}

/// The class that a block has on the first of its elements that may have it.
#[derive(Clone, Debug)]
pub struct BlockClass {
    pub class: String,
    /// Names of elements; none: any.
    pub elements: Vec<String>,
    /// Whether it is behind the classes that follow from the block's attributes.
    pub last: bool,
}

#[cfg(test)]
impl BlockStyles {
    /// Of some blocks, for tests of rendering.
    pub fn sample() -> BlockStyles {
        let class = |class: &str, elements: &[&str]| BlockStyle {
            class: Some(BlockClass {
                class: class.to_owned(),
                elements: elements.iter().map(|element| (*element).to_owned()).collect(),
                last: false,
            }),
            ..BlockStyle::default()
        };
        let layout =
            |default: Value| BlockStyle { layout: Some(BlockLayout { default, gap: None }), ..BlockStyle::default() };
        let text = || BlockStyle { excerpt: Some(Excerpt::Text), ..BlockStyle::default() };
        let elements = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let holder = |style: BlockStyle| BlockStyle { excerpt: Some(Excerpt::Inside), ..style };
        let gallery = BlockStyle { numbered: Some("wp-block-gallery-".to_owned()), ..layout(json!({"type": "flex"})) };
        let gallery = BlockStyle { numbers_pictures: true, ..gallery };
        let button = BlockStyle {
            variations: vec!["outline".to_owned()],
            element_colors: false,
            width: true,
            filled: elements(&["a", "button"]),
            ..BlockStyle::default()
        };
        let image = BlockStyle { data_id: true, sourced: elements(&["img"]), ..BlockStyle::default() };
        let details = BlockStyle { opened_by: Some("showContent".to_owned()), ..layout(json!({})) };
        let heading = class("wp-block-heading", &["h1", "h2", "h3", "h4", "h5", "h6"]);
        let all = [
            ("block", BlockStyle { inside: false, ..BlockStyle::default() }),
            ("button", button),
            ("buttons", layout(json!({"type": "flex"}))),
            ("column", holder(layout(json!({})))),
            ("columns", holder(layout(json!({"type": "flex", "flexWrap": "nowrap"})))),
            ("details", details),
            ("cover", BlockStyle { aspect_ratio: true, ..layout(json!({})) }),
            ("gallery", gallery),
            ("group", holder(BlockStyle { position: true, ..layout(json!({})) })),
            ("heading", BlockStyle { excerpt: Some(Excerpt::Text), ..heading }),
            ("html", text()),
            ("image", image),
            ("list", BlockStyle { excerpt: Some(Excerpt::Text), ..class("wp-block-list", &["ul", "ol"]) }),
            ("media-text", text()),
            ("paragraph", text()),
            ("preformatted", text()),
            ("pullquote", text()),
            ("quote", BlockStyle { excerpt: Some(Excerpt::Text), ..layout(json!({})) }),
            ("shortcode", BlockStyle { paragraphs: true, ..BlockStyle::default() }),
            ("table", text()),
            ("verse", text()),
        ];
        BlockStyles {
            blocks: all.into_iter().map(|(name, style)| (full_name(name).into_owned(), style)).collect(),
            layouts: LayoutRules { gap: json!("1.2rem"), root_padding: true },
            fluid: None,
            duotones: Vec::new(),
        }
    }
}
