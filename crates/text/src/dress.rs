//! Decoration of a block when it is shown, besides its own markup: classes, layout, visibility, unique names.
//!
//! Owns the attributes of blocks that say how any block looks. It must not know the tree of blocks, nor what a dynamic
//! block shows.

use super::block_css::fluid_size;
use super::block_sizes::{Proportions, Width, background, with_style};
use super::block_styles::{BlockClass, BlockStyle};
use super::blocks::{BlockOptions, class_name};
use super::hex::hex;
use super::html::Html;
use super::layout::{self, LayoutClasses};
use super::markup::{Piece, is_space, spans, tag_name};
use super::tags::{
    add_classes, attribute, ends, find_tag, first_tag, innermost_class, names, put_classes, set_attribute,
    with_attribute,
};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// The names that a document has used: each is used once.
#[derive(Debug, Default)]
pub struct UniqueNames {
    /// The documents of a response share them.
    is_shared: bool,
    /// How many they are.
    used: Cell<u64>,
    /// Blocks whose elements have colours of their own.
    elements: Cell<u32>,
    /// Everything else that has a number.
    numbers: Cell<u32>,
    /// Each with the last number that was added to it.
    ids: RefCell<HashMap<String, u32>>,
    landmarks: RefCell<HashMap<String, u32>>,
}

impl UniqueNames {
    /// Names of each document (`is_shared`: of all documents of a response together).
    pub fn of_documents(is_shared: bool) -> UniqueNames {
        UniqueNames { is_shared, ..UniqueNames::default() }
    }

    /// Begins a document, and returns how many names have been used.
    pub fn begin(&self) -> u64 {
        if !self.is_shared {
            self.elements.take();
            self.numbers.take();
            self.ids.take();
            self.landmarks.take();
        }
        self.used.get()
    }

    /// Whether the document that began after `used` names depends on those before it.
    pub fn is_counted_since(&self, used: u64) -> bool {
        self.is_shared && self.used.get() != used
    }

    fn count(&self) {
        self.used.set(self.used.get().saturating_add(1));
    }

    /// An id that the document has not used yet: the one that is wanted, or with the first free number.
    pub(super) fn id(&self, wanted: &str) -> String {
        self.count();
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
    pub fn count_landmark(&self, name: &str) -> u32 {
        self.count();
        let mut landmarks = self.landmarks.borrow_mut();
        let times = landmarks.entry(name.to_owned()).or_default();
        *times = times.saturating_add(1);
        *times
    }

    /// The next number: blocks of all kinds share them.
    pub fn number(&self) -> u32 {
        self.count();
        self.numbers.set(self.numbers.get().saturating_add(1));
        self.numbers.get()
    }

    fn element(&self) -> u32 {
        self.count();
        self.elements.set(self.elements.get().saturating_add(1));
        self.elements.get()
    }
}

/// Attributes of a block that matter here; most blocks have none of them, and theirs are not parsed.
const WORDS: [&str; 15] = [
    "\"id\"",
    "aspectRatio",
    "backgroundImage",
    "blockVisibility",
    "css",
    "duotone",
    "elements",
    "fontSize",
    "is-style-",
    "layout",
    "minHeight",
    "position",
    "spacing",
    "data-id",
    "width",
];

/// Whether the attributes of a block may say how it looks.
pub(super) fn has_decoration(attrs: Option<&str>, declared: Option<&BlockStyle>) -> bool {
    let opened_by = declared.and_then(|declared| declared.opened_by.as_deref());
    attrs.is_some_and(|json| WORDS.iter().copied().chain(opened_by).any(|word| json.contains(word)))
}

/// Whether a block shows nothing.
pub(super) fn is_hidden(attributes: &Value) -> bool {
    attributes["metadata"]["blockVisibility"] == false
}

/// The decoration of a block's markup.
pub(super) struct Decoration<'a> {
    declared: Option<&'a BlockStyle>,
    unique: Option<&'a UniqueNames>,
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
    /// The class of the two colours of its pictures.
    duotone: Option<Duotone>,
    /// A size of text that is written in it, and how it grows with the screen.
    grown: Option<(String, String)>,
    /// Of the first element, behind all others.
    classes: Vec<String>,
    width: Option<(Width, String)>,
    /// The mark of the pictures in it, for the browser to load them late.
    priority: Option<&'static str>,
    /// The number of a picture in a gallery.
    data_id: Option<String>,
}

impl<'a> Decoration<'a> {
    /// Of a block by its full name and attributes.
    pub(super) fn of(name: &str, attributes: &Value, options: &BlockOptions<'a>) -> Decoration<'a> {
        let style = &attributes["style"];
        let declared = options.styles.and_then(|styles| styles.of(name));
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
            let hash = hex(&digest[..4]);
            classes.extend(["has-custom-css".to_owned(), format!("wp-custom-css-{hash}")]);
        }
        let opened_by = declared.and_then(|block| block.opened_by.as_deref());
        let closed = opened_by.is_some_and(|opens| attributes[opens] != true);
        let hidden = (!sizes.is_empty()).then_some("auto");
        let priority = if closed { Some("low") } else { hidden };
        let width = if supports(|block| block.width) { Width::of(&style["dimensions"]["width"]) } else { None };
        let proportions = if supports(|block| block.aspect_ratio) { Proportions::of(attributes) } else { None };
        let position = if supports(|block| block.position) { position(&style["position"]) } else { None };
        let duotone = supports(|block| block.duotone).then(|| &style["color"]["duotone"]);
        let duotone = options.styles.zip(duotone).and_then(|(styles, given)| Duotone::of(given, &styles.duotones));
        let grown = options.styles.and_then(|styles| {
            let size = style["typography"]["fontSize"].as_str()?;
            Some((size.to_owned(), fluid_size(size, styles.fluid?)?))
        });
        let data_id = if supports(|block| block.data_id) { data_id(attributes, options) } else { None };
        Decoration {
            declared,
            unique,
            elements,
            variation,
            layout,
            position,
            proportions,
            background: options.styles.and_then(|_| background(&style["background"])),
            duotone,
            grown,
            classes,
            width: width.map(|width| (width, class_name(name))),
            priority,
            data_id,
        }
    }

    /// The classes that a dynamic block has beside those that its author gave.
    pub(super) fn added(&self) -> String {
        self.elements.iter().chain(&self.variation).map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// The markup of the block with all of it. `before`: what the block holds before the first block inside it.
    pub(super) fn dress(&self, html: String, before: Option<&str>) -> String {
        if self.declared.is_some_and(|declared| lacks_content(declared, &html)) {
            return String::new();
        }
        let class = self.declared.and_then(|block| block.class.as_ref());
        let html = match &self.data_id {
            Some(id) => set_attribute(&html, &["img"], "data-id", |_| id.clone()),
            None => html,
        };
        let mut html = match &self.width {
            Some((width, class)) => width.dress(&html, class),
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
        if let Some((size, grown)) = &self.grown {
            html = resized(&html, size, grown);
        }
        if let Some((duotone, unique)) = self.duotone.as_ref().zip(self.unique) {
            html = add_classes(&html, &[&duotone.class(unique)], &[]);
        }
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
        add_classes(html, &[&self.class], &names(&self.elements))
    }
}

/// The number that a picture in a gallery has for scripts.
fn data_id(attributes: &Value, options: &BlockOptions) -> Option<String> {
    let in_gallery =
        options.around.and_then(|around| options.styles?.of(around.name)).is_some_and(|around| around.numbers_pictures);
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

/// The two colours of pictures.
enum Duotone {
    /// A pair with a name.
    Named(String),
    /// Colours of the block's own; the class has a number.
    Own(String),
}

impl Duotone {
    fn of(given: &Value, named: &[String]) -> Option<Duotone> {
        let key = |text: &str| {
            let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            text.to_ascii_lowercase().chars().filter(plain).collect::<String>()
        };
        match given {
            Value::String(text) => {
                let preset = text.strip_prefix("var:preset|duotone|").or_else(|| {
                    text.strip_prefix("var(--wp--preset--duotone--").and_then(|rest| rest.strip_suffix(')'))
                });
                let preset = preset.filter(|preset| named.iter().any(|name| name == preset));
                Some(preset.map_or_else(|| Duotone::Own(key(text)), |preset| Duotone::Named(preset.to_owned())))
            }
            Value::Array(colours) => {
                let colours: Vec<&str> = colours.iter().filter_map(Value::as_str).collect();
                Some(Duotone::Own(key(&colours.join("-"))))
            }
            _ => None,
        }
    }

    fn class(&self, unique: &UniqueNames) -> String {
        match self {
            Duotone::Named(name) => format!("wp-duotone-{name}"),
            Duotone::Own(key) => format!("wp-duotone-{key}-{}", unique.number()),
        }
    }
}

/// The markup with another size in the style of its first element that has this one.
fn resized(html: &str, size: &str, grown: &str) -> String {
    let sized = |tag: &str| attribute(tag, "style").is_some_and(|style| tag[style.value].contains("font-size:"));
    let Some((start, tag)) = find_tag(html, sized) else { return html.to_owned() };
    let Some(style) = attribute(tag, "style").map(|style| style.value) else { return html.to_owned() };
    let (before, own, behind) = (&tag[..style.start], &tag[style.clone()], &tag[style.end..]);
    let written = [";", ""].iter().flat_map(|end| ["", " "].map(|space| format!("font-size:{space}{size}{end}")));
    let Some(written) = written.into_iter().find(|written| own.contains(written)) else { return html.to_owned() };
    let own = own.replacen(&written, &format!("font-size:{grown};"), 1);
    let tag_grown = [before, &own, behind].concat();
    [&html[..start], &tag_grown, &html[start + tag.len()..]].concat()
}

/// Whether the markup of a block lacks what the block shows nothing without: the content of an element, or an address.
fn lacks_content(declared: &BlockStyle, html: &str) -> bool {
    (!declared.filled.is_empty() && is_empty(html, &names(&declared.filled)))
        || (!declared.sourced.is_empty() && !has_source(html, &names(&declared.sourced)))
}

/// Whether the first of these elements has nothing in it.
fn is_empty(html: &str, elements: &[&str]) -> bool {
    let Some((start, tag)) = first_tag(html, elements) else { return false };
    let mut behind =
        spans(&html[start + tag.len()..]).filter(|span| !matches!(span, Piece::Markup(m) if m.starts_with("<!--")));
    matches!(behind.next(), Some(Piece::Markup(end)) if tag_name(end) == (tag_name(tag).0, true))
}

/// Whether the first of these elements has the address of what it shows.
fn has_source(html: &str, elements: &[&str]) -> bool {
    let source = |(_, tag): (usize, &str)| attribute(tag, "src").is_some_and(|found| !found.value.is_empty());
    first_tag(html, elements).is_some_and(source)
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
pub(super) fn strip_editor_notes(text: &str) -> String {
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
pub fn apply_block_attributes(name: &str, attributes: &Value, html: Html, options: &BlockOptions) -> Html {
    match is_hidden(attributes) {
        true => Html::new(),
        false => Html::rendered(Decoration::of(name, attributes, options).dress(html.into(), None)),
    }
}
