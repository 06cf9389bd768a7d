//! Tags in finished markup found and changed: attributes set, classes added, content put in.
//!
//! Owns how a value gets into a tag that somebody else wrote: it is escaped, and the tag is read as a browser reads it.
//! It must not know blocks.

use super::html::Html;
use super::markup::{AttributeRange, Attributes, Piece, is_space, spans, tag_name};
use super::sanitize::decode_value;

/// Names as functions here take them.
pub fn names(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

/// The markup with an attribute on its first element of one of the names. `value` makes it of the one that is there; both
/// are texts without entities.
pub fn set_attribute(html: &str, names: &[&str], name: &'static str, value: impl FnOnce(&str) -> String) -> String {
    let Some((start, tag)) = first_tag(html, names) else { return html.to_owned() };
    let there = attribute(tag, name).map_or("", |found| &tag[found.value]);
    let value = value(&decode_value(there));
    format!("{}{}{}", &html[..start], with_attribute(tag, name, &value), &html[start + tag.len()..])
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

/// The values of an attribute in elements of these names, in their order, as texts without entities.
pub fn values<'h>(html: &'h str, names: &'h [&str], attribute: &'h str) -> impl Iterator<Item = String> + 'h {
    spans(html).filter_map(move |piece| {
        let Piece::Markup(tag) = piece else { return None };
        let (name, closes) = tag_name(tag);
        let wanted = !closes && names.iter().any(|known| name.eq_ignore_ascii_case(known));
        let found = wanted.then(|| self::attribute(tag, attribute)).flatten()?;
        Some(decode_value(&tag[found.value]).into_owned())
    })
}

/// The values of an attribute and of further ones in the first element of a name in which the attribute is not empty, as texts
/// without entities; what is not there is empty.
pub fn first_with(html: &str, name: &str, attribute: &str, more: &[&str]) -> Option<Vec<String>> {
    let value = |tag: &str, name: &str| {
        self::attribute(tag, name).map_or_else(String::new, |found| decode_value(&tag[found.value]).trim().to_owned())
    };
    let wanted = |tag: &str| tag_name(tag).0.eq_ignore_ascii_case(name) && !value(tag, attribute).is_empty();
    let (_, tag) = find_tag(html, wanted)?;
    Some(std::iter::once(&attribute).chain(more).map(|name| value(tag, name)).collect())
}

/// The first attribute of a tag with this name.
pub(super) fn attribute(tag: &str, name: &str) -> Option<AttributeRange> {
    Attributes::of(tag).find(|attribute| tag[attribute.name.clone()].eq_ignore_ascii_case(name))
}

/// A tag that ends, with an attribute of this value, which is escaped.
pub(super) fn with_attribute(tag: &str, name: &'static str, value: &str) -> String {
    let mut written = Html::new();
    written.attr_text(name, value);
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

/// Adds classes to the first tag (of one of the names, if any are given) unless it has them.
pub(super) fn add_classes(html: &str, classes: &[&str], names: &[&str]) -> String {
    let Some((start, tag)) = first_tag(html, names).filter(|_| !classes.is_empty()) else { return html.to_owned() };
    put_classes(html, start, tag, classes)
}

/// Adds classes to a tag unless it has them.
pub(super) fn put_classes(html: &str, start: usize, tag: &str, classes: &[&str]) -> String {
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
        Some(AttributeRange { name, value, quote }) => {
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
pub(super) fn first_tag<'a>(html: &'a str, names: &[&str]) -> Option<(usize, &'a str)> {
    find_tag(html, |tag| names.is_empty() || names.iter().any(|name| name.eq_ignore_ascii_case(tag_name(tag).0)))
}

/// The first opening tag that is wanted, as a browser reads it, and where it starts.
pub(super) fn find_tag(html: &str, wanted: impl Fn(&str) -> bool) -> Option<(usize, &str)> {
    let mut at = 0;
    for span in spans(html) {
        let (Piece::Text(span) | Piece::Markup(span)) = span;
        let (name, closes) = if span.starts_with('<') { tag_name(span) } else { ("", false) };
        if !name.is_empty() && !closes && wanted(span) && ends(span) {
            return Some((at, span));
        }
        at += span.len();
    }
    None
}

/// Whether a tag ends as a browser reads it: a `>` at the end may be part of a value whose quote is never closed.
pub(super) fn ends(tag: &str) -> bool {
    let mut attributes = Attributes::of(tag);
    attributes.by_ref().for_each(drop);
    attributes.end == Some(tag.len())
}

/// The class attribute of the innermost element that a markup leaves open and that has one.
pub(super) fn innermost_class(before: &str) -> Option<&str> {
    const VOID: [&str; 13] =
        ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];
    let mut open: Vec<&str> = Vec::new();
    for span in spans(before) {
        let Piece::Markup(tag) = span else { continue };
        match tag_name(tag) {
            ("", _) => {}
            (_, true) => drop(open.pop()),
            (name, false) if VOID.iter().any(|void| void.eq_ignore_ascii_case(name)) => {}
            _ => open.push(attribute(tag, "class").map_or("", |class| &tag[class.value])),
        }
    }
    open.into_iter().rev().find(|class| !class.is_empty())
}
