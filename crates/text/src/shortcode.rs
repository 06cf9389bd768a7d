//! Shortcodes: `[name attributes]` in content.
//!
//! Owns which names are shortcodes, where one starts and ends, and the ones that need nothing but their own text
//! (captions, embeds). Shortcodes that need records (galleries, players) are rendered by the caller.

use super::dress::UniqueNames;
use super::html::Html;
use super::markup::{Piece, is_space, spans};
use super::sanitize::clean_url;
use std::borrow::Cow;

/// The names that are shortcodes; any other bracket is text.
pub const NAMES: [&str; 7] = ["caption", "wp_caption", "gallery", "playlist", "audio", "video", "embed"];

/// One shortcode with what it encloses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcode<'a> {
    /// One of the known names.
    pub name: &'static str,
    /// The text between the name and the bracket, not parsed yet: see [`Shortcode::attr`].
    pub attrs: &'a str,
    /// The text before `[/name]`, if that follows.
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
pub type ShortcodeExpander<'f> = &'f dyn Fn(&Shortcode) -> Option<Html>;

/// Replaces shortcodes by their output. `[[name]]` is an escaped one and loses a pair of brackets.
pub fn expand(text: &str, expand: Option<ShortcodeExpander>, unique: &UniqueNames) -> String {
    replace(text, |code| {
        Some(match code.name {
            "caption" | "wp_caption" => caption(code, unique),
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

/// An address that is alone on its line is written out plainly: the place where an embed would be.
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
    replace(text, |_| Some(Html::new()))
}

/// Cuts a text into what is not (`Ok`) and what is (`Err`) the bracketed part of a shortcode, opening or closing.
pub(super) fn split_at_shortcodes(text: &str) -> impl Iterator<Item = Result<&str, &str>> {
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
    let name = NAMES[known_name(inside)?];
    let start = text.len() - inside.len() + name.len();
    // A bracket that opens another one is none of ours.
    let end = text[start..].find([']', '[']).filter(|n| text[start + n..].starts_with(']'))?;
    let length = start + end + 1;
    Some(length + usize::from(text.starts_with("[[") && text[length..].starts_with(']')))
}

/// The place in [`NAMES`] of the name that a text starts with.
fn known_name(text: &str) -> Option<usize> {
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    NAMES.iter().position(|name| text.strip_prefix(name).is_some_and(ends))
}

/// `None` leaves a shortcode as it is, escapes included.
fn replace(text: &str, mut by: impl FnMut(&Shortcode) -> Option<Html>) -> String {
    let codes = Shortcodes::of(text);
    let mut out = String::with_capacity(text.len());
    let (mut kept, mut from) = (0, 0);
    for opening in &codes.openings {
        // A shortcode inside another one is part of that one's content.
        if opening.start < from {
            continue;
        }
        let Some(found) = codes.whole(opening) else { continue };
        from = found.end;
        let Some(by) = by(&found.code) else { continue };
        out.push_str(&text[kept..opening.start]);
        match found.escaped {
            true => out.push_str(&text[opening.start + 1..found.end - 1]),
            false => out.push_str(by.as_str()),
        }
        kept = found.end;
    }
    out.push_str(&text[kept..]);
    out
}

/// The brackets of a text that may open or close a shortcode.
///
/// A bracket counts only where all of it is in text as a browser sees it: never inside a tag or a comment, and never
/// across one. Its replacement is then markup between tags, so that no attribute can be left through it.
pub(super) struct Shortcodes<'a> {
    text: &'a str,
    /// In order.
    openings: Vec<OpeningTag>,
    /// By the place of a name in [`NAMES`]: where its closing brackets start, in order.
    closings: [Vec<usize>; NAMES.len()],
}

struct OpeningTag {
    start: usize,
    /// In [`NAMES`].
    name: usize,
    attrs: std::ops::Range<usize>,
    /// `[name /]` encloses nothing.
    lone: bool,
    doubled: bool,
}

struct ShortcodeMatch<'a> {
    code: Shortcode<'a>,
    end: usize,
    escaped: bool,
}

impl<'a> Shortcodes<'a> {
    /// Finds them in one pass.
    pub(super) fn of(text: &'a str) -> Shortcodes<'a> {
        let mut codes = Shortcodes { text, openings: Vec::new(), closings: Default::default() };
        if !text.contains('[') {
            return codes;
        }
        let mut at = 0;
        for span in spans(text) {
            match span {
                Piece::Text(inside) => {
                    codes.read(at, inside);
                    at += inside.len();
                }
                Piece::Markup(markup) => at += markup.len(),
            }
        }
        codes
    }

    /// Where the whole shortcode that starts at a position ends, what it encloses included.
    pub(super) fn end(&self, at: usize) -> Option<usize> {
        let number = self.openings.binary_search_by_key(&at, |opening| opening.start).ok()?;
        self.whole(&self.openings[number]).filter(|found| !found.escaped).map(|found| found.end)
    }

    fn read(&mut self, offset: usize, text: &str) {
        let mut from = 0;
        while let Some(start) = text[from..].find('[').map(|n| from + n) {
            from = start + 1;
            let doubled = text[from..].starts_with('[');
            let inside = from + usize::from(doubled);
            if let Some(closed) = text[from..].strip_prefix('/') {
                if let Some(name) = known_name(closed).filter(|name| closed[NAMES[*name].len()..].starts_with(']')) {
                    self.closings[name].push(offset + start);
                }
                continue;
            }
            let Some(name) = known_name(&text[inside..]) else { continue };
            let attrs = inside + NAMES[name].len();
            // No bracket closes in what is left: neither does one that opens later.
            let Some(close) = text[attrs..].find(']').map(|n| attrs + n) else { return };
            let lone = text[attrs..close].ends_with('/');
            let attrs = offset + attrs..offset + close - usize::from(lone);
            self.openings.push(OpeningTag { start: offset + start, name, attrs, lone, doubled });
            // The second of two brackets may open the shortcode by itself.
            from = if doubled { start + 1 } else { close + 1 };
        }
    }

    /// `None`: the bracket is text, because it is doubled and the shortcode is not.
    fn whole(&self, opening: &OpeningTag) -> Option<ShortcodeMatch<'a>> {
        let mut end = opening.attrs.end + usize::from(opening.lone) + 1;
        let mut content = None;
        if !opening.lone {
            let closings = &self.closings[opening.name];
            if let Some(closing) = closings.get(closings.partition_point(|start| *start < end)) {
                content = Some(&self.text[end..*closing]);
                end = closing + "[/]".len() + NAMES[opening.name].len();
            }
        }
        let escaped = opening.doubled && self.text[end..].starts_with(']');
        let code = Shortcode { name: NAMES[opening.name], attrs: &self.text[opening.attrs.clone()], content };
        match (opening.doubled, escaped) {
            (true, false) => None,
            _ => Some(ShortcodeMatch { code, end: end + usize::from(escaped), escaped }),
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

/// A picture with its caption. The enclosed text went through the sanitiser with the text around it; its attributes are
/// values.
fn caption(code: &Shortcode, unique: &UniqueNames) -> Html {
    let content = code.content.unwrap_or_default();
    let (image, enclosed) = match code.attr("caption") {
        Some(_) => (content, ""),
        None => split_image(content),
    };
    let image = Html::rendered(image);
    let mut text = Html::new();
    match code.attr("caption") {
        Some(caption) => text.text(caption.trim_matches(is_space)),
        None => text.html(&Html::rendered(enclosed.trim_matches(is_space))),
    };
    let width: u32 = code.attr("width").map_or(0, |w| {
        let digits = w.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(w.len());
        w[..digits].parse().unwrap_or(0)
    });
    if width == 0 || text.is_empty() {
        return image;
    }
    let id = code.attr("id").filter(|id| !id.is_empty()).map(|id| unique.id(id)).unwrap_or_default();
    let named = if id.is_empty() { String::new() } else { format!("caption-{}", id.replace('_', "-")) };
    let align = code.attr("align").unwrap_or("alignnone");
    let classes = ["wp-caption", align].into_iter().chain(code.attr("class")).collect::<Vec<_>>().join(" ");
    let mut html = Html::new();
    html.raw("<figure").attr_if("id", &id).attr_if("aria-describedby", &named);
    html.raw(" style=\"width: ").number(width).raw("px\"").attr("class", &classes).raw(">").html(&image);
    html.raw("<figcaption").attr_if("id", &named).raw(" class=\"wp-caption-text\">").html(&text);
    html.raw("</figcaption></figure>");
    html
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
fn embed(code: &Shortcode) -> Html {
    let mut html = Html::new();
    let address = code.content.unwrap_or_default().trim();
    if !address.is_empty() {
        let href = clean_url(&address.replace("&#038;", "&").replace("&amp;", "&"));
        html.raw("<a").address("href", &href).raw(">").text(address).raw("</a>");
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captions_become_figures() {
        fn check(text: &str, expected: &str) {
            assert_eq!(expand(text, None, &UniqueNames::default()), expected, "{text}");
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
    fn brackets_in_markup_are_no_shortcodes() {
        fn check(text: &str) {
            assert_eq!(expand(text, Some(&|_| Some(Html::rendered("!"))), &UniqueNames::default()), text);
        }
        check("<b title=\"[embed]/onmouseover=alert(1)//[/embed]\">x</b>");
        check("<b title='[gallery]' class=\"[video]\">x</b><a href=\"[embed]\">");
        check("<b title=\"x > [gallery]\">x</b>");
        check("[gallery <b>]x</b>");
        check("<!-- [gallery] -->");
        check("<b [gallery] x>");
        check("<b title=\"[gallery");
        assert_eq!(
            expand(
                "[embed]a<b title=\"[/embed] onfocus=alert(1) autofocus \">b[/embed]c",
                None,
                &UniqueNames::default()
            ),
            "<a href=\"http://ab%20title=[/embed%5D%20onfocus=alert(1)%20autofocus%20b\">a&lt;b title=&quot;[/embed] \
             onfocus=alert(1) autofocus &quot;&gt;b</a>c"
        );
    }

    #[test]
    fn what_brackets_hold_is_escaped() {
        fn check(text: &str, expected: &str) {
            assert_eq!(expand(text, None, &UniqueNames::default()), expected, "{text}");
        }
        check(
            "[caption id='a\"onclick=x' align='b\"c' class='d\"e' width=\"10\"]<img src=\"a\"> Words[/caption]",
            "<figure id=\"a&quot;onclick=x\" aria-describedby=\"caption-a&quot;onclick=x\" style=\"width: 10px\" \
             class=\"wp-caption b&quot;c d&quot;e\"><img src=\"a\"><figcaption id=\"caption-a&quot;onclick=x\" \
             class=\"wp-caption-text\">Words</figcaption></figure>",
        );
        check(
            "[caption width=\"10\" caption=\"&lt;i> 'x'\"]y[/caption]",
            "<figure style=\"width: 10px\" class=\"wp-caption alignnone\">y<figcaption class=\"wp-caption-text\">\
             &lt;i&gt; &#039;x&#039;</figcaption></figure>",
        );
        check("[embed]javascript:alert(1)[/embed]", "<a href=\"\">javascript:alert(1)</a>");
    }

    #[test]
    fn doubled_brackets_escape_whole_shortcodes_only() {
        let mark = |_: &Shortcode| Some(Html::rendered("!"));
        assert_eq!(
            expand("[[gallery]] [[gallery] [[video]x[/video]]", Some(&mark), &UniqueNames::default()),
            "[gallery] [! [video]x[/video]"
        );
    }

    #[test]
    fn many_brackets_stay_cheap() {
        for text in
            ["[gallery ", "[[gallery]", "[caption]", "[/caption]", "[caption][/caption]", "<b>[", "<!-- [", "[["]
        {
            let text = text.repeat(20_000);
            let _ = expand(&text, None, &UniqueNames::default());
        }
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
        let gallery = |code: &Shortcode| code.attr("ids").map(|ids| Html::rendered(format!("<{ids}>")));
        assert_eq!(expand("a [gallery ids=\"1\"] [gallery]", Some(&gallery), &UniqueNames::default()), "a <1> ");
    }
}
