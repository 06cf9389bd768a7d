//! What a block gets when it is shown besides what is written in it: classes, layout, visibility, unique names.
//!
//! Owns the attributes of blocks that say how any block looks, and how a class or attribute is added to markup. It must
//! not know the tree of blocks, nor what a dynamic block shows.

use super::blocks::BlockOptions;
use super::html::Html;
use super::markup::{Attribute, Attributes, Piece, is_space, spans, tag_name};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// The class that each block gets, on the first of its elements that may have it.
#[derive(Clone, Debug, Default)]
pub struct BlockClasses(HashMap<String, (String, Vec<String>)>);

impl FromIterator<(String, String, Vec<String>)> for BlockClasses {
    /// Of the names of blocks, each with its class and elements.
    fn from_iter<I: IntoIterator<Item = (String, String, Vec<String>)>>(all: I) -> BlockClasses {
        BlockClasses(all.into_iter().map(|(block, class, elements)| (block, (class, elements))).collect())
    }
}

/// The names that one document has used: each is used once.
#[derive(Debug, Default)]
pub struct Unique {
    /// Blocks whose elements have colours of their own.
    elements: Cell<u32>,
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

    fn element(&self) -> u32 {
        self.elements.set(self.elements.get().saturating_add(1));
        self.elements.get()
    }
}

/// Attributes of a block that matter here; most blocks have none of them, and theirs are not parsed.
const WORDS: [&str; 6] = ["blockVisibility", "elements", "css", "width", "layout", "showContent"];

/// Whether the attributes of a block may say how it looks.
pub(super) fn matters(attrs: Option<&str>) -> bool {
    attrs.is_some_and(|json| WORDS.iter().any(|word| json.contains(word)))
}

/// Whether a block shows nothing.
pub(super) fn is_hidden(name: &str, attributes: &Value) -> bool {
    attributes["metadata"]["blockVisibility"] == false && !ALWAYS_SHOWN.contains(&name)
}

/// What a block's markup gets.
pub(super) struct Look<'a> {
    /// Of the first element.
    classes: Vec<String>,
    /// The class that is declared for the block, and the elements that may have it.
    declared: Option<&'a (String, Vec<String>)>,
    width: Option<Width>,
    /// What the pictures in it are marked with, for the browser to load them late.
    priority: Option<&'static str>,
    is_button: bool,
    is_picture: bool,
}

impl<'a> Look<'a> {
    /// Of a block by its full name and attributes.
    pub(super) fn of(name: &str, attributes: &Value, options: &BlockOptions<'a>) -> Look<'a> {
        let core = name.strip_prefix("core/").unwrap_or_default();
        let style = &attributes["style"];
        let mut classes = Vec::new();
        let coloured = !SELF_COLOURED.contains(&core) && colours_elements(&style["elements"]);
        if let Some(unique) = options.unique.filter(|_| coloured) {
            classes.push(format!("wp-elements-{}", unique.element()));
        }
        if let Some((name, fallback)) = LAID_OUT.iter().find(|(laid_out, _)| *laid_out == core) {
            classes.extend(layout(name, fallback, &attributes["layout"]));
        }
        let hides = !ALWAYS_SHOWN.contains(&name);
        let sizes: Vec<&str> = VIEWPORTS.into_iter().filter(|size| hides && hidden_on(attributes, size)).collect();
        classes.extend(sizes.iter().map(|size| format!("wp-block-hidden-{size}")));
        let css = style["css"].as_str().map(str::trim).filter(|_| !WITHOUT_STYLE_SHEET.contains(&core));
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
        let declared = options.classes.and_then(|classes| classes.0.get(name));
        Look { classes, declared, width, priority, is_button, is_picture: core == "image" }
    }

    /// The markup of the block with all of it.
    pub(super) fn dress(&self, html: String) -> String {
        if (self.is_button && is_empty_button(&html)) || (self.is_picture && !shows_picture(&html)) {
            return String::new();
        }
        let mut html = match &self.width {
            Some(width) => width.dress(&html),
            None => html,
        };
        let classes: Vec<&str> = self.classes.iter().map(String::as_str).collect();
        if !classes.is_empty() {
            html = add_classes(&html, &classes, &[]);
        }
        if let Some(priority) = self.priority.filter(|_| html.contains("<img")) {
            html = prioritise(&html, priority);
        }
        if let Some((class, elements)) = self.declared {
            let elements: Vec<&str> = elements.iter().map(String::as_str).collect();
            html = add_classes(&html, &[class], &elements);
        }
        html
    }
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
    match is_hidden(name, attributes) {
        true => Html::new(),
        false => Html::rendered(Look::of(name, attributes, options).dress(html.into())),
    }
}

/// The markup with an attribute on its first element of one of the names; `value` makes it of the one that is there,
/// and it is escaped.
pub fn set_attribute(html: &str, names: &[&str], name: &'static str, value: impl FnOnce(&str) -> String) -> String {
    let Some((start, tag)) = first_tag(html, names) else { return html.to_owned() };
    let there = attribute(tag, name).map_or("", |found| &tag[found.value]);
    format!("{}{}{}", &html[..start], with_attribute(tag, name, &value(there)), &html[start + tag.len()..])
}

/// The markup with other content in its first element of one of the names. An element that does not end in this markup
/// is filled up to the end.
pub fn fill(html: &str, names: &[&str], content: &Html) -> String {
    let Some((start, tag)) = first_tag(html, names) else { return html.to_owned() };
    let behind = start + tag.len();
    let ends = ["</", tag_name(tag).0].concat();
    let end = html[behind..].rfind(&ends).map_or(html.len(), |at| behind + at);
    format!("{}{content}{}", &html[..behind], &html[end..])
}

/// The markup with something at the beginning of its first element of one of the names; `None` where it has none.
pub fn prepend(html: &str, names: &[&str], content: &Html) -> Option<String> {
    let (start, tag) = first_tag(html, names)?;
    let behind = start + tag.len();
    Some(format!("{}{content}{}", &html[..behind], &html[behind..]))
}

/// The first attribute of a tag with this name.
pub(super) fn attribute(tag: &str, name: &str) -> Option<Attribute> {
    Attributes::of(tag).find(|attribute| tag[attribute.name.clone()].eq_ignore_ascii_case(name))
}

/// A tag that ends, with an attribute of this value, which is escaped.
pub(super) fn with_attribute(tag: &str, name: &'static str, value: &str) -> String {
    let mut written = Html::new();
    written.attr(name, value);
    let written = written.as_str();
    match attribute(tag, name) {
        // Something is before the name already.
        Some(found) => {
            let end = found.value.end + usize::from(found.quote.is_some());
            format!("{}{}{}", &tag[..found.name.start], &written[1..], &tag[end..])
        }
        None => {
            let at = 1 + tag_name(tag).0.len();
            format!("{}{written}{}", &tag[..at], &tag[at..])
        }
    }
}

/// The core blocks that lay out their content, and how they do without being told.
const LAID_OUT: [(&str, &str); 22] = [
    ("accordion", "default"),
    ("accordion-item", "default"),
    ("accordion-panel", "default"),
    ("buttons", "flex"),
    ("column", "default"),
    ("columns", "flex"),
    ("comments-pagination", "flex"),
    ("details", "default"),
    ("gallery", "flex"),
    ("group", "default"),
    ("latest-posts", "default"),
    ("navigation", "flex"),
    ("post-template", "default"),
    ("query", "default"),
    ("query-pagination", "flex"),
    ("quote", "default"),
    ("social-links", "flex"),
    ("tab-list", "flex"),
    ("tab-panel", "default"),
    ("tabs", "default"),
    ("term-template", "default"),
    ("terms-query", "default"),
];

/// The core blocks that are always shown: parts of others, and those without an element of their own.
const ALWAYS_SHOWN: [&str; 13] = [
    "core/accordion-heading",
    "core/accordion-panel",
    "core/block",
    "core/freeform",
    "core/html",
    "core/missing",
    "core/more",
    "core/nextpage",
    "core/pattern",
    "core/shortcode",
    "core/tab-list",
    "core/tab-panel",
    "core/tab-panels",
];

/// The core blocks that take no style sheet of their own.
const WITHOUT_STYLE_SHEET: [&str; 7] = ["block", "freeform", "html", "missing", "more", "nextpage", "shortcode"];

/// The core blocks that colour their elements themselves.
const SELF_COLOURED: [&str; 6] = ["button", "icon", "search", "separator", "tab-list", "table"];

/// The layouts that there are, each with its classes; what else a content names is no layout.
struct Layout {
    name: &'static str,
    class: &'static str,
    /// Behind `wp-block-NAME-`.
    suffix: &'static str,
}

const LAYOUTS: [Layout; 4] = [
    Layout { name: "default", class: "is-layout-flow", suffix: "is-layout-flow" },
    Layout { name: "constrained", class: "is-layout-constrained", suffix: "is-layout-constrained" },
    Layout { name: "flex", class: "is-layout-flex", suffix: "is-layout-flex" },
    Layout { name: "grid", class: "is-layout-grid", suffix: "is-layout-grid" },
];
const ORIENTATIONS: [(&str, &str); 2] = [("horizontal", "is-horizontal"), ("vertical", "is-vertical")];
const JUSTIFICATIONS: [(&str, &str); 5] = [
    ("left", "is-content-justification-left"),
    ("center", "is-content-justification-center"),
    ("right", "is-content-justification-right"),
    ("space-between", "is-content-justification-space-between"),
    ("stretch", "is-content-justification-stretch"),
];

/// The class of a known word.
fn class_of(known: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    known.iter().find(|(name, _)| *name == word).map(|(_, class)| *class)
}

/// The classes of a block's layout.
fn layout(core: &str, fallback: &str, layout: &Value) -> Vec<String> {
    let text = |key: &str| layout[key].as_str().unwrap_or_default();
    let kind = match text("type") {
        _ if layout["inherit"] == true || layout.get("contentSize").is_some() => "constrained",
        "" => fallback,
        named => named,
    };
    let mut classes: Vec<&'static str> = Vec::new();
    if kind == "constrained" && core == "group" {
        classes.push("has-global-padding");
    }
    classes.extend(class_of(&ORIENTATIONS, text("orientation")));
    classes.extend(class_of(&JUSTIFICATIONS, text("justifyContent")));
    if text("flexWrap") == "nowrap" {
        classes.push("is-nowrap");
    }
    let layout = LAYOUTS.iter().find(|layout| layout.name == kind);
    classes.extend(layout.map(|layout| layout.class));
    let own = layout.map(|layout| format!("wp-block-{core}-{}", layout.suffix));
    classes.into_iter().map(str::to_owned).chain(own).collect()
}

/// Adds classes to the first tag (of one of the names, if any are given) unless it has them.
fn add_classes(html: &str, classes: &[&str], names: &[&str]) -> String {
    let Some((start, tag)) = first_tag(html, names).filter(|_| !classes.is_empty()) else { return html.to_owned() };
    let class = attribute(tag, "class");
    let behind = &html[start + tag.len()..];
    let mut out = String::with_capacity(html.len() + 64);
    out.push_str(&html[..start]);
    match class {
        None => {
            let name = 1 + tag_name(tag).0.len();
            out.push_str(&tag[..name]);
            out.push(' ');
            push_classes("", classes, b'"', &mut out);
            out.push_str(&tag[name..]);
        }
        Some(Attribute { name, value, quote }) => {
            out.push_str(&tag[..name.start]);
            push_classes(&tag[value.clone()], classes, quote.unwrap_or(b'"'), &mut out);
            out.push_str(&tag[value.end + usize::from(quote.is_some())..]);
        }
    }
    out.push_str(behind);
    out
}

/// `class="…"` with the classes that are there and those that are not.
fn push_classes(there: &str, wanted: &[&str], quote: u8, out: &mut String) {
    let there = there.trim_matches(is_space);
    let have = |class: &&&str| there.split(is_space).any(|have| have == **class);
    out.push_str("class=");
    out.push(char::from(quote));
    // A value without quotes may hold some.
    out.push_str(&if quote == b'"' { there.replace('"', "&quot;") } else { there.replace('\'', "&#039;") });
    for class in wanted.iter().filter(|class| !have(class)) {
        if !out.ends_with(char::from(quote)) {
            out.push(' ');
        }
        out.push_str(class);
    }
    out.push(char::from(quote));
}

/// The first opening tag of one of the names, as a browser reads it, and where it starts.
fn first_tag<'a>(html: &'a str, names: &[&str]) -> Option<(usize, &'a str)> {
    let mut at = 0;
    for span in spans(html) {
        let (Piece::Text(span) | Piece::Markup(span)) = span;
        let (name, closes) = if span.starts_with('<') { tag_name(span) } else { ("", false) };
        let wanted = names.is_empty() || names.iter().any(|n| n.eq_ignore_ascii_case(name));
        if !name.is_empty() && !closes && wanted && ends(span) {
            return Some((at, span));
        }
        at += span.len();
    }
    None
}

/// Whether a tag ends as a browser reads it: a `>` at the end may be part of a value whose quote is never closed.
fn ends(tag: &str) -> bool {
    let mut attributes = Attributes::of(tag);
    attributes.by_ref().for_each(drop);
    attributes.end == Some(tag.len())
}
