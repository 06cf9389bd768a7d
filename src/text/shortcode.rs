//! Shortcodes: `[name attributes]` in content.
//!
//! Owns which names are shortcodes, where one starts and ends, and the ones that need nothing but their own text
//! (captions, embeds). What needs records (galleries, players) is asked of the caller.

use super::markup::is_space;
use std::borrow::Cow;

/// The names that are shortcodes; any other bracket is text.
pub const NAMES: [&str; 7] = ["caption", "wp_caption", "gallery", "playlist", "audio", "video", "embed"];

/// One shortcode with what it encloses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcode<'a> {
    /// One of the known names.
    pub name: &'static str,
    /// The text between the name and the bracket, unread: see [`Shortcode::attr`].
    pub attrs: &'a str,
    /// What stands before `[/name]`, if that follows.
    pub content: Option<&'a str>,
}

impl<'a> Shortcode<'a> {
    /// Its attributes in order.
    pub fn attrs(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        attributes(self.attrs)
    }

    /// The value of an attribute: `name="value"`, `name='value'` or `name=value`.
    pub fn attr(&self, name: &str) -> Option<&'a str> {
        attributes(self.attrs).find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// Makes the replacement of a shortcode that needs more than its text; `None` leaves nothing in its place.
pub type Expand<'f> = &'f dyn Fn(&Shortcode) -> Option<String>;

/// Replaces shortcodes by what they stand for. `[[name]]` is an escaped one and loses a pair of brackets.
pub fn expand(text: &str, expand: Option<Expand>) -> String {
    replace(text, |code| {
        Some(match code.name {
            "caption" | "wp_caption" => caption(code),
            "embed" => embed(code),
            _ => expand.and_then(|f| f(code)).unwrap_or_default(),
        })
    })
}

/// Replaces only embeds, which are due before anything else touches their address.
pub(super) fn expand_embeds(text: &str) -> Cow<'_, str> {
    if !text.contains("[embed") {
        return Cow::Borrowed(text);
    }
    Cow::Owned(replace(text, |code| (code.name == "embed").then(|| embed(code))))
}

/// An address that stands alone on its line is written out plainly: the place where an embed would go.
pub(super) fn plain_addresses(text: &str) -> Cow<'_, str> {
    let alone = |line: &str| {
        let line = line.trim_matches(is_space);
        let web = line.starts_with("http://") || line.starts_with("https://");
        web && !line.contains(|c: char| is_space(c) || matches!(c, '<' | '>' | '"'))
    };
    if !text.contains("&amp;") || !text.split('\n').any(|line| line.contains("&amp;") && alone(line)) {
        return Cow::Borrowed(text);
    }
    let lines = text.split('\n').map(|line| if alone(line) { line.replace("&amp;", "&") } else { line.to_owned() });
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// Takes shortcodes out, with what they enclose.
pub fn strip(text: &str) -> String {
    replace(text, |_| Some(String::new()))
}

/// Cuts a text into what is not (`Ok`) and what is (`Err`) the bracketed part of a shortcode, opening or closing.
pub(super) fn around(text: &str) -> impl Iterator<Item = Result<&str, &str>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut from = 0;
        let found = loop {
            let Some(at) = rest[from..].find('[').map(|n| from + n) else { break None };
            if let Some(length) = bracket_length(&rest[at..]) {
                break Some((at, length));
            }
            from = at + 1;
        };
        Some(match found {
            Some((0, length)) => {
                let (code, tail) = rest.split_at(length);
                rest = tail;
                Err(code)
            }
            Some((at, _)) => {
                let (text, tail) = rest.split_at(at);
                rest = tail;
                Ok(text)
            }
            None => Ok(std::mem::take(&mut rest)),
        })
    })
}

fn bracket_length(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('[')?;
    let inside = inside.strip_prefix('[').unwrap_or(inside);
    let inside = inside.strip_prefix('/').unwrap_or(inside);
    let name = known_name(inside)?;
    let start = text.len() - inside.len() + name.len();
    // A bracket that opens another one is none of ours.
    let end = text[start..].find([']', '[']).filter(|n| text[start + n..].starts_with(']'))?;
    let length = start + end + 1;
    Some(length + usize::from(text.starts_with("[[") && text[length..].starts_with(']')))
}

fn known_name(text: &str) -> Option<&'static str> {
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    NAMES.into_iter().find(|name| text.strip_prefix(name).is_some_and(ends))
}

/// `None` leaves a shortcode as it stands, escapes included.
fn replace(text: &str, mut by: impl FnMut(&Shortcode) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut scanner = Scanner::default();
    let (mut kept, mut from) = (0, 0);
    while let Some(at) = text[from..].find('[').map(|n| from + n) {
        match scanner.at(text, at) {
            Some(found) => {
                from = found.end;
                let Some(by) = by(&found.code) else { continue };
                out.push_str(&text[kept..at]);
                match found.escaped {
                    true => out.push_str(&text[at + 1..found.end - 1]),
                    false => out.push_str(&by),
                }
                kept = found.end;
            }
            None => from = at + 1,
        }
    }
    out.push_str(&text[kept..]);
    out
}

struct Found<'a> {
    code: Shortcode<'a>,
    end: usize,
    escaped: bool,
}

/// Finds shortcodes of one text. Remembers where the next closing brackets stand, so that many open shortcodes do not
/// cost a search each; positions must not decrease by much to profit.
#[derive(Default)]
pub(super) struct Scanner {
    bracket: Next,
    closing: [Next; NAMES.len()],
}

/// Where something occurs next, known for searches that start within `from..=found`.
#[derive(Clone, Copy, Default)]
struct Next {
    known: bool,
    from: usize,
    found: Option<usize>,
}

impl Next {
    fn find(&mut self, text: &str, from: usize, what: &str) -> Option<usize> {
        let covered = self.known && self.from <= from && self.found.is_none_or(|found| from <= found);
        if !covered {
            *self = Next { known: true, from, found: text[from..].find(what).map(|n| from + n) };
        }
        self.found
    }
}

impl Scanner {
    /// Where the whole shortcode that starts at a position ends, what it encloses included.
    pub(super) fn end(&mut self, text: &str, at: usize) -> Option<usize> {
        self.at(text, at).filter(|found| !found.escaped).map(|found| found.end)
    }

    fn at<'a>(&mut self, text: &'a str, at: usize) -> Option<Found<'a>> {
        let doubled = text[at..].starts_with("[[");
        let start = at + 1 + usize::from(doubled);
        let name = known_name(&text[start..])?;
        let attrs_start = start + name.len();
        let close = self.bracket.find(text, attrs_start, "]")?;
        let attrs = &text[attrs_start..close];
        let (attrs, lone) = attrs.strip_suffix('/').map_or((attrs, false), |attrs| (attrs, true));
        let mut end = close + 1;
        let mut content = None;
        let number = NAMES.iter().position(|n| *n == name).unwrap_or(0);
        if !lone {
            let closing = format!("[/{name}]");
            if let Some(found) = self.closing[number].find(text, end, &closing) {
                content = Some(&text[end..found]);
                end = found + closing.len();
            }
        }
        let escaped = doubled && text[end..].starts_with(']');
        let code = Shortcode { name, attrs, content };
        match (doubled, escaped) {
            (true, false) => None,
            _ => Some(Found { code, end: end + usize::from(escaped), escaped }),
        }
    }
}

fn attributes(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start_matches(is_space);
            if rest.is_empty() {
                return None;
            }
            let end = rest.find(|c: char| is_space(c) || c == '=').unwrap_or(rest.len());
            let (name, tail) = rest.split_at(end);
            let Some(value) = tail.trim_start_matches(is_space).strip_prefix('=') else {
                rest = tail;
                continue;
            };
            let value = value.trim_start_matches(is_space);
            let (value, tail) = match value.chars().next() {
                Some(quote @ ('"' | '\'')) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
                _ => value.split_at(value.find(is_space).unwrap_or(value.len())),
            };
            rest = tail;
            return Some((name, value));
        }
    })
}

fn caption(code: &Shortcode) -> String {
    let content = code.content.unwrap_or_default();
    let (image, caption) = match code.attr("caption") {
        Some(caption) => (content, caption),
        None => split_image(content),
    };
    let width: u32 = code.attr("width").map_or(0, |w| {
        let digits = w.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(w.len());
        w[..digits].parse().unwrap_or(0)
    });
    let caption = caption.trim_matches(is_space);
    if width == 0 || caption.is_empty() {
        return image.to_owned();
    }
    let id = code.attr("id").map(super::sanitize::esc_attr).filter(|id| !id.is_empty());
    let (figure_id, caption_id) = match &id {
        Some(id) => {
            let name = format!("caption-{}", id.replace('_', "-"));
            (format!("id=\"{id}\" aria-describedby=\"{name}\" "), format!("id=\"{name}\" "))
        }
        None => Default::default(),
    };
    let mut classes = format!("wp-caption {}", super::sanitize::esc_attr(code.attr("align").unwrap_or("alignnone")));
    if let Some(class) = code.attr("class") {
        classes.push(' ');
        classes.push_str(&super::sanitize::esc_attr(class));
    }
    format!(
        "<figure {figure_id}style=\"width: {width}px\" class=\"{classes}\">{image}\
         <figcaption {caption_id}class=\"wp-caption-text\">{caption}</figcaption></figure>"
    )
}

/// The image of a caption (with a link around it), and the text behind it.
fn split_image(content: &str) -> (&str, &str) {
    let Some(image) = content.find("<img ") else { return (content, "") };
    let Some(end) = content[image..].find('>').map(|n| image + n + 1) else { return (content, "") };
    let before = content[..image].trim_end_matches(is_space);
    let start = if before.ends_with('>') { before.rfind("<a ").unwrap_or(image) } else { image };
    let link_end = content[end..].trim_start_matches(is_space).strip_prefix("</a>").map(str::len);
    let end = link_end.map_or(end, |rest| content.len() - rest);
    (&content[start..end], &content[end..])
}

/// A link to what cannot be embedded.
fn embed(code: &Shortcode) -> String {
    let address = code.content.unwrap_or_default().trim();
    if address.is_empty() {
        return String::new();
    }
    let href = super::sanitize::clean_url(&address.replace("&#038;", "&").replace("&amp;", "&"));
    let shown = super::sanitize::esc_html(address);
    format!("<a href=\"{}\">{shown}</a>", href.replace('&', "&#038;"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captions_become_figures() {
        fn check(text: &str, expected: &str) {
            assert_eq!(expand(text, None), expected, "{text}");
        }
        check(
            "[caption id=\"attachment_1\" align=\"alignleft\" width=\"300\"]<img src=\"a\" /> A [/caption]",
            "<figure id=\"attachment_1\" aria-describedby=\"caption-attachment-1\" style=\"width: 300px\" \
             class=\"wp-caption alignleft\"><img src=\"a\" />\
             <figcaption id=\"caption-attachment-1\" class=\"wp-caption-text\">A</figcaption></figure>",
        );
        check("[caption width=\"10\"]no image[/caption]", "no image");
        check("[caption width=\"0\"]<img src=\"a\"/> c[/caption]", "<img src=\"a\"/>");
    }

    #[test]
    fn only_known_names_count() {
        fn check(text: &str, expected: &str) {
            assert_eq!(strip(text), expected, "{text}");
        }
        check("a [gallery ids=\"1\"] b", "a  b");
        check("[gallery-x] [other]y[/other]", "[gallery-x] [other]y[/other]");
        check("[[gallery]]", "[gallery]");
        check("[video]x[/video]y", "y");
        check("[gallery", "[gallery");
        check("[gallery /]x[/gallery]", "x[/gallery]");
    }

    #[test]
    fn attributes_are_read() {
        let code = Shortcode { name: "gallery", attrs: " a=\"1 2\" b='x' c=3 d", content: None };
        assert_eq!(
            (code.attr("a"), code.attr("B"), code.attr("c"), code.attr("d")),
            (Some("1 2"), Some("x"), Some("3"), None)
        );
    }

    #[test]
    fn expansion_may_be_supplied() {
        let gallery = |code: &Shortcode| code.attr("ids").map(|ids| format!("<{ids}>"));
        assert_eq!(expand("a [gallery ids=\"1\"] [gallery]", Some(&gallery)), "a <1> ");
    }
}
