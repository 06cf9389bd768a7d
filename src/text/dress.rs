//! What a block gets when it is shown besides what is written in it: classes, layout, visibility, unique names.
//!
//! Owns the attributes of blocks that say how any block looks. It must not know the tree of blocks, nor what a dynamic
//! block shows.

use super::blocks::BlockOptions;
use super::html::Html;
use super::layout::{self, LaidOut, LayoutClasses, LayoutRules};
use super::markup::{Piece, is_space, spans, tag_name};
use super::sanitize::clean_url;
use super::tags::{
    add_classes, attribute, ends, find_tag, first_tag, innermost_class, put_classes, set_attribute, with_attribute,
};
use serde_json::Value;
#[cfg(test)]
use serde_json::json;
use sha2::{Digest, Sha256};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// What is declared of blocks for when they are shown.
#[derive(Clone, Debug, Default)]
pub struct BlockStyles {
    /// By full name.
    pub blocks: HashMap<String, BlockStyle>,
    pub layouts: LayoutRules,
}

/// What is declared of one kind of block.
#[derive(Clone, Debug)]
pub struct BlockStyle {
    pub class: Option<BlockClass>,
    pub layout: Option<LaidOut>,
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

/// The names that one document has used: each is used once.
#[derive(Debug, Default)]
pub struct Unique {
    /// Blocks whose elements have colours of their own.
    elements: Cell<u32>,
    /// Everything else that has a number.
    numbers: Cell<u32>,
    /// Each with the last number that was added to it.
    ids: RefCell<HashMap<String, u32>>,
    landmarks: RefCell<HashMap<String, u32>>,
}

impl Unique {
    /// An id that the document has not used yet: the one that is wanted, or with the first free number.
    pub(super) fn id(&self, wanted: &str) -> String {
        let mut ids = self.ids.borrow_mut();
        let mut number = ids.get(wanted).copied().unwrap_or(0);
        let id = loop {
            number = number.saturating_add(1);
            let id = if number == 1 { wanted.to_owned() } else { format!("{wanted}-{number}") };
            if number == u32::MAX || !ids.contains_key(&id) {
                break id;
            }
        };
        ids.insert(wanted.to_owned(), number);
        ids.entry(id.clone()).or_insert(1);
        id
    }

    /// How often the document has used a name for a landmark, this time included.
    pub fn times(&self, name: &str) -> u32 {
        let mut landmarks = self.landmarks.borrow_mut();
        let times = landmarks.entry(name.to_owned()).or_default();
        *times = times.saturating_add(1);
        *times
    }

    /// The next number of the document: blocks of all kinds share them.
    pub fn number(&self) -> u32 {
        self.numbers.set(self.numbers.get().saturating_add(1));
        self.numbers.get()
    }

    fn element(&self) -> u32 {
        self.elements.set(self.elements.get().saturating_add(1));
        self.elements.get()
    }
}

/// Attributes of a block that matter here; most blocks have none of them, and theirs are not parsed.
const WORDS: [&str; 14] = [
    "\"id\"",
    "aspectRatio",
    "backgroundImage",
    "blockVisibility",
    "css",
    "elements",
    "is-style-",
    "layout",
    "minHeight",
    "position",
    "showContent",
    "spacing",
    "data-id",
    "width",
];

/// Whether the attributes of a block may say how it looks.
pub(super) fn matters(attrs: Option<&str>) -> bool {
    attrs.is_some_and(|json| WORDS.iter().any(|word| json.contains(word)))
}

/// Whether a block shows nothing.
pub(super) fn is_hidden(attributes: &Value) -> bool {
    attributes["metadata"]["blockVisibility"] == false
}

/// What a block's markup gets.
pub(super) struct Look<'a> {
    declared: Option<&'a BlockStyle>,
    unique: Option<&'a Unique>,
    /// The class for colours of elements inside.
    elements: Option<String>,
    /// The class with a number of the style that the author chose.
    variation: Option<String>,
    layout: LayoutClasses,
    /// Whether it stays in sight: how.
    position: Option<&'static str>,
    proportions: Option<Proportions>,
    /// The style of a picture behind it.
    background: Option<String>,
    /// Of the first element, behind all others.
    classes: Vec<String>,
    width: Option<Width>,
    /// What the pictures in it are marked with, for the browser to load them late.
    priority: Option<&'static str>,
    is_button: bool,
    is_picture: bool,
    /// The number of a picture in a gallery.
    data_id: Option<String>,
}

impl<'a> Look<'a> {
    /// Of a block by its full name and attributes.
    pub(super) fn of(name: &str, attributes: &Value, options: &BlockOptions<'a>) -> Look<'a> {
        let core = name.strip_prefix("core/").unwrap_or_default();
        let style = &attributes["style"];
        let declared = options.styles.and_then(|styles| styles.blocks.get(name));
        let supports = |support: fn(&BlockStyle) -> bool| declared.map_or(support(&BlockStyle::default()), support);
        let coloured = supports(|block| block.element_colors) && colours_elements(&style["elements"]);
        let unique = options.unique;
        let elements = unique.filter(|_| coloured).map(|unique| format!("wp-elements-{}", unique.element()));
        let layout = options.styles.map_or_else(LayoutClasses::default, |styles| {
            let laid_out = declared.and_then(|block| block.layout.as_ref());
            let around = options.around.map(|around| around.layout);
            layout::classes(name, laid_out, attributes, around, &styles.layouts)
        });
        let variation = declared.and_then(|block| variation(attributes, &block.variations)).zip(unique);
        let variation = variation.map(|(variation, unique)| format!("is-style-{variation}--{}", unique.number()));
        let mut classes = Vec::new();
        let hides = supports(|block| block.visibility);
        let sizes: Vec<&str> = VIEWPORTS.into_iter().filter(|size| hides && hidden_on(attributes, size)).collect();
        classes.extend(sizes.iter().map(|size| format!("wp-block-hidden-{size}")));
        let css = style["css"].as_str().map(str::trim).filter(|_| supports(|block| block.css));
        if let Some(css) = css.filter(|css| !css.is_empty() && !has_markup(css)) {
            let digest = Sha256::digest(format!("{name}\n{css}").as_bytes());
            let hash: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
            classes.extend(["has-custom-css".to_owned(), format!("wp-custom-css-{hash}")]);
        }
        let closed = core == "details" && attributes["showContent"] != true;
        let hidden = (!sizes.is_empty()).then_some("auto");
        let priority = if closed { Some("low") } else { hidden };
        let is_button = core == "button";
        let width = if is_button { Width::of(&style["dimensions"]["width"]) } else { None };
        let proportions = if supports(|block| block.aspect_ratio) { Proportions::of(attributes) } else { None };
        let position = if supports(|block| block.position) { position(&style["position"]) } else { None };
        let is_picture = core == "image";
        let data_id = if is_picture { data_id(attributes, options) } else { None };
        Look {
            declared,
            unique,
            elements,
            variation,
            layout,
            position,
            proportions,
            background: options.styles.and_then(|_| background(&style["background"])),
            classes,
            width,
            priority,
            is_button,
            is_picture,
            data_id,
        }
    }

    /// The classes that a dynamic block has beside those that its author gave.
    pub(super) fn added(&self) -> String {
        self.elements.iter().chain(&self.variation).map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// The markup of the block with all of it. `before`: what the block holds before the first block inside it.
    pub(super) fn dress(&self, html: String, before: Option<&str>) -> String {
        if (self.is_button && is_empty_button(&html)) || (self.is_picture && !shows_picture(&html)) {
            return String::new();
        }
        let class = self.declared.and_then(|block| block.class.as_ref());
        let html = match &self.data_id {
            Some(id) => set_attribute(&html, &["img"], "data-id", |_| id.clone()),
            None => html,
        };
        let mut html = match &self.width {
            Some(width) => width.dress(&html),
            None => html,
        };
        if let Some(class) = class.filter(|class| !class.last) {
            html = class.dress(&html);
        }
        let numbered = self.declared.and_then(|block| block.numbered.as_ref()).filter(|_| !html.is_empty());
        if let Some((class, unique)) = numbered.zip(self.unique) {
            html = add_classes(&html, &[&format!("{class}{}", unique.number())], &[]);
        }
        let outside: Vec<&str> = self.elements.iter().chain(&self.layout.place).map(String::as_str).collect();
        html = add_classes(&html, &outside, &[]);
        html = self.lay_out(html, before);
        if let Some((position, unique)) = self.position.zip(self.unique) {
            let number = format!("wp-container-{}", unique.number());
            html = add_classes(&html, &[&number, position], &[]);
        }
        if let Some(proportions) = &self.proportions {
            html = proportions.dress(&html);
        }
        if let Some(background) = &self.background {
            html = add_classes(&with_style(&html, background), &["has-background"], &[]);
        }
        let classes: Vec<&str> = self.variation.iter().chain(&self.classes).map(String::as_str).collect();
        html = add_classes(&html, &classes, &[]);
        if let Some(priority) = self.priority.filter(|_| html.contains("<img")) {
            html = prioritise(&html, priority);
        }
        match class.filter(|class| class.last) {
            Some(class) => class.dress(&html),
            None => html,
        }
    }

    /// The classes of the layout, on the element around the blocks inside: the one whose classes are those of the last
    /// element that is open before them. Without blocks or such an element they are on the block itself.
    fn lay_out(&self, html: String, before: Option<&str>) -> String {
        let classes: Vec<&str> = self.layout.own.iter().map(String::as_str).collect();
        if classes.is_empty() {
            return html;
        }
        let around = before.and_then(innermost_class);
        let tag = find_tag(&html, |tag| {
            around.is_none_or(|around| attribute(tag, "class").is_some_and(|class| tag[class.value].contains(around)))
        });
        match tag {
            Some((start, tag)) => put_classes(&html, start, tag, &classes),
            None => html,
        }
    }
}

impl BlockClass {
    fn dress(&self, html: &str) -> String {
        let elements: Vec<&str> = self.elements.iter().map(String::as_str).collect();
        add_classes(html, &[&self.class], &elements)
    }
}

/// The number that a picture in a gallery has for scripts.
fn data_id(attributes: &Value, options: &BlockOptions) -> Option<String> {
    let in_gallery = options.around.is_some_and(|around| around.name == "core/gallery");
    let own = Some(&attributes["data-id"]).filter(|own| !own.is_null());
    let id = own.or_else(|| Some(&attributes["id"]).filter(|_| in_gallery))?;
    match id {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// The first style that an author chose and that has a class with a number.
fn variation<'v>(attributes: &Value, variations: &'v [String]) -> Option<&'v String> {
    let chosen = attributes["className"].as_str()?.split(is_space).filter_map(|class| class.strip_prefix("is-style-"));
    chosen.filter_map(|chosen| variations.iter().find(|variation| *variation == chosen)).next()
}

/// The class of how a block stays in sight while the page moves.
fn position(position: &Value) -> Option<&'static str> {
    (position["type"] == "sticky").then_some("is-position-sticky")
}

/// The proportions of a block, or that it has none because its height is given.
enum Proportions {
    Given(String),
    None,
}

impl Proportions {
    fn of(attributes: &Value) -> Option<Proportions> {
        let own = &attributes["style"]["dimensions"];
        let given = match &own["aspectRatio"] {
            Value::String(ratio) => ratio.trim().to_owned(),
            Value::Number(ratio) => ratio.to_string(),
            _ => String::new(),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '.' | '/');
        match given.as_str() {
            "" | "auto" if own["minHeight"].is_null() && attributes["minHeight"].is_null() => None,
            "" | "auto" => Some(Proportions::None),
            ratio => ratio.chars().all(plain).then_some(Proportions::Given(given)),
        }
    }

    fn dress(&self, html: &str) -> String {
        let (own, classes): (String, &[&str]) = match self {
            Proportions::Given(ratio) => {
                (format!("aspect-ratio:{ratio};height:unset;min-height:unset;"), &["has-aspect-ratio"])
            }
            Proportions::None => ("aspect-ratio:unset;".to_owned(), &[]),
        };
        add_classes(&with_style(html, &own), classes, &[])
    }
}

/// The markup with more in the style of its first element.
fn with_style(html: &str, own: &str) -> String {
    set_attribute(html, &[], "style", |style| match style {
        "" => own.to_owned(),
        style if style.ends_with(';') => [style, own].concat(),
        style => format!("{style};{own}"),
    })
}

/// The style of a block with a picture behind it: the picture, then how it is placed.
fn background(own: &Value) -> Option<String> {
    const PLACED: [(&str, &str); 4] = [
        ("backgroundPosition", "background-position"),
        ("backgroundRepeat", "background-repeat"),
        ("backgroundSize", "background-size"),
        ("backgroundAttachment", "background-attachment"),
    ];
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '.' | '%' | '-');
    let url = clean_url(own["backgroundImage"]["url"].as_str()?);
    if url.is_empty() || url.contains(['\'', '"', '(', ')', '\\', ';', '<', '>']) {
        return None;
    }
    let mut style = format!("background-image:url('{url}');");
    let value = |key: &str| own[key].as_str().filter(|value| !value.is_empty() && value.chars().all(plain));
    let size = value("backgroundSize").unwrap_or("cover");
    for (key, name) in PLACED {
        let usual = match key {
            "backgroundSize" => Some(size),
            "backgroundPosition" if size == "contain" => Some("50% 50%"),
            _ => None,
        };
        if let Some(value) = value(key).or(usual) {
            style.push_str(&format!("{name}:{value};"));
        }
    }
    Some(style)
}

/// The sizes of screens that a block may be hidden on, in the order of their classes.
const VIEWPORTS: [&str; 3] = ["desktop", "mobile", "tablet"];

fn hidden_on(attributes: &Value, size: &str) -> bool {
    attributes["metadata"]["blockVisibility"]["viewport"][size] == false
}

/// Whether a text holds what a style sheet has no use for: the beginning of a tag.
fn has_markup(css: &str) -> bool {
    let begins = |rest: &str| {
        rest.trim_start_matches('/').starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && !rest.starts_with("//")
    };
    css.match_indices('<').any(|(at, _)| begins(&css[at + 1..]))
}

/// Whether links, buttons or headings inside a block have colours of their own.
fn colours_elements(elements: &Value) -> bool {
    const FILLED: [&str; 8] = ["button", "heading", "h1", "h2", "h3", "h4", "h5", "h6"];
    let given = |colour: &Value, key: &str| colour.get(key).is_some_and(|value| !value.is_null());
    let link = &elements["link"];
    elements.is_object()
        && (given(&link["color"], "text")
            || given(&link[":hover"]["color"], "text")
            || FILLED.iter().any(|element| {
                ["text", "background", "gradient"].iter().any(|key| given(&elements[element]["color"], key))
            }))
}

/// The width of a button.
enum Width {
    /// In hundredths of what is around it: a number.
    Percent(String),
    /// A length.
    Length(String),
}

impl Width {
    /// The widths that have a class of their own, and the presets.
    const STEPS: [&'static str; 4] = ["25", "50", "75", "100"];

    fn of(value: &Value) -> Option<Width> {
        const UNITS: [&str; 6] = ["px", "rem", "em", "vw", "vh", "ch"];
        let number = |text: &str| {
            let digits = text.len() <= 8 && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            digits && text.parse::<f64>().is_ok_and(|number| number > 0.0)
        };
        let text = value.as_str()?.trim();
        if let Some(preset) = text.strip_prefix("var:preset|dimension|") {
            return Self::STEPS.contains(&preset).then(|| Width::Percent(preset.to_owned()));
        }
        if let Some(percent) = text.strip_suffix('%') {
            return number(percent).then(|| Width::Percent(percent.to_owned()));
        }
        let length = UNITS.iter().find_map(|unit| text.strip_suffix(unit))?;
        number(length).then(|| Width::Length(text.to_owned()))
    }

    fn dress(&self, html: &str) -> String {
        let html = match self {
            Width::Percent(percent) => {
                let step = format!("wp-block-button__width-{percent}");
                let known = Self::STEPS.contains(&percent.as_str()).then_some(step.as_str());
                let classes = ["has-custom-width", "wp-block-button__width"];
                add_classes(html, &classes.into_iter().chain(known).collect::<Vec<_>>(), &[])
            }
            Width::Length(_) => add_classes(html, &["has-custom-width"], &[]),
        };
        let own = match self {
            Width::Percent(percent) => format!("--wp--block-button--width: {percent};"),
            Width::Length(length) => format!("width: {length};"),
        };
        set_attribute(&html, &[], "style", |style| match style.trim() {
            "" => own,
            style => format!("{own} {style}"),
        })
    }
}

/// Whether the link or button of a button block has nothing in it.
fn is_empty_button(html: &str) -> bool {
    let Some((start, tag)) = first_tag(html, &["a", "button"]) else { return false };
    let mut behind =
        spans(&html[start + tag.len()..]).filter(|span| !matches!(span, Piece::Markup(m) if m.starts_with("<!--")));
    matches!(behind.next(), Some(Piece::Markup(end)) if tag_name(end) == (tag_name(tag).0, true))
}

/// Whether a picture block has a picture.
fn shows_picture(html: &str) -> bool {
    let source = |(_, tag): (usize, &str)| attribute(tag, "src").is_some_and(|found| !found.value.is_empty());
    first_tag(html, &["img"]).is_some_and(source)
}

/// The pictures of a markup marked with how urgent they are.
fn prioritise(html: &str, priority: &str) -> String {
    let mut out = String::with_capacity(html.len() + 64);
    for span in spans(html) {
        match span {
            Piece::Markup(tag) => {
                let (name, closes) = tag_name(tag);
                match name.eq_ignore_ascii_case("img") && !closes && ends(tag) {
                    true => out.push_str(&with_attribute(tag, "fetchpriority", priority)),
                    false => out.push_str(tag),
                }
            }
            Piece::Text(text) => out.push_str(text),
        }
    }
    out
}

/// A text without the marks that anchor remarks of editors in it; what they enclose stays.
pub(super) fn unwrap_notes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Of each open mark: whether it is one of those.
    let mut open: Vec<bool> = Vec::new();
    for span in spans(text) {
        let (Piece::Text(span) | Piece::Markup(span)) = span;
        let (name, closes) = if span.starts_with('<') { tag_name(span) } else { ("", false) };
        let dropped = match (name.eq_ignore_ascii_case("mark"), closes) {
            (true, false) => {
                let note = attribute(span, "class")
                    .is_some_and(|class| span[class.value].split(is_space).any(|class| class == "wp-note"));
                open.push(note);
                note
            }
            (true, true) => open.pop().unwrap_or(false),
            _ => false,
        };
        if !dropped {
            out.push_str(span);
        }
    }
    out
}

/// The markup of a dynamic block with an id on its first element, unless that has one.
pub fn with_id(html: Html, id: &str) -> Html {
    let free = first_tag(html.as_str(), &[]).is_some_and(|(_, tag)| attribute(tag, "id").is_none());
    match free && !id.is_empty() {
        true => Html::rendered(set_attribute(html.as_str(), &[], "id", |_| id.to_owned())),
        false => html,
    }
}

/// The markup of one block as it is shown; a hidden one shows nothing.
pub fn dressed(name: &str, attributes: &Value, html: Html, options: &BlockOptions) -> Html {
    match is_hidden(attributes) {
        true => Html::new(),
        false => Html::rendered(Look::of(name, attributes, options).dress(html.into(), None)),
    }
}

#[cfg(test)]
impl BlockStyles {
    /// Of some blocks, for tests of rendering.
    pub(super) fn sample() -> BlockStyles {
        let class = |class: &str, elements: &[&str]| BlockStyle {
            class: Some(BlockClass {
                class: class.to_owned(),
                elements: elements.iter().map(|element| (*element).to_owned()).collect(),
                last: false,
            }),
            ..BlockStyle::default()
        };
        let layout =
            |default: Value| BlockStyle { layout: Some(LaidOut { default, gap: None }), ..BlockStyle::default() };
        let gallery = BlockStyle { numbered: Some("wp-block-gallery-".to_owned()), ..layout(json!({"type": "flex"})) };
        let button =
            BlockStyle { variations: vec!["outline".to_owned()], element_colors: false, ..BlockStyle::default() };
        let all = [
            ("button", button),
            ("buttons", layout(json!({"type": "flex"}))),
            ("column", layout(json!({}))),
            ("columns", layout(json!({"type": "flex", "flexWrap": "nowrap"}))),
            ("details", layout(json!({}))),
            ("cover", BlockStyle { aspect_ratio: true, ..layout(json!({})) }),
            ("gallery", gallery),
            ("group", BlockStyle { position: true, ..layout(json!({})) }),
            ("heading", class("wp-block-heading", &["h1", "h2", "h3", "h4", "h5", "h6"])),
            ("list", class("wp-block-list", &["ul", "ol"])),
            ("quote", layout(json!({}))),
        ];
        BlockStyles {
            blocks: all.into_iter().map(|(name, style)| (format!("core/{name}"), style)).collect(),
            layouts: LayoutRules { gap: json!("1.2rem"), root_padding: true },
        }
    }
}
