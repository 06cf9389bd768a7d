//! Sanitises markup of users without `unfiltered_html`: what is allowed stays, the rest is removed.
//!
//! Owns the lists of what is allowed and the one function that enforces them. Its safety does not rest on reading
//! markup as a browser does, but on what it writes: text without `<`, tags and attributes of the list with values
//! without `<` and `>`, comments without either. Such output means the same to every parser, whatever the input was;
//! nothing is passed on without being parsed. What cannot be understood is escaped.
//! It must not know who wrote the text: the caller checks `unfiltered_html` first.

use super::blocks;
use super::sanitize::{SCHEMES, allowed_scheme, decode_references};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// What is allowed, as it is declared.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// Names of elements and of their own attributes, each list separated by blanks.
    pub elements: &'a [(&'a str, &'a str)],
    /// Attributes of every element.
    pub attributes: &'a str,
    /// Whether `data-…` attributes are allowed everywhere.
    pub data_attributes: bool,
    /// Schemes of addresses; addresses without a scheme are always allowed.
    pub schemes: &'a [&'a str],
    /// Properties that a `style` attribute may set.
    pub style_properties: &'a str,
}

/// [`Rules`] made ready for use.
#[derive(Clone, Debug)]
pub struct Policy {
    elements: HashMap<String, HashSet<String>>,
    data_attributes: bool,
    schemes: Vec<String>,
    style_properties: HashSet<String>,
}

impl Policy {
    /// Makes rules ready for use.
    pub fn new(rules: &Rules) -> Policy {
        let mut elements: HashMap<String, HashSet<String>> = HashMap::new();
        for (names, own) in rules.elements {
            let attributes = own.split_whitespace().chain(rules.attributes.split_whitespace());
            let attributes: HashSet<String> = attributes.map(str::to_ascii_lowercase).collect();
            for name in names.split_whitespace() {
                elements.entry(name.to_ascii_lowercase()).or_default().extend(attributes.iter().cloned());
            }
        }
        Policy {
            elements,
            data_attributes: rules.data_attributes,
            schemes: rules.schemes.iter().map(|s| (*s).to_owned()).collect(),
            style_properties: rules.style_properties.split_whitespace().map(str::to_owned).collect(),
        }
    }

    /// Contents and excerpts.
    pub fn posts() -> &'static Policy {
        static POSTS: LazyLock<Policy> = LazyLock::new(|| Policy::new(&POST_RULES));
        &POSTS
    }

    /// Comments, titles, descriptions of terms: phrases.
    pub fn phrases() -> &'static Policy {
        static PHRASES: LazyLock<Policy> = LazyLock::new(|| {
            Policy::new(&Rules { elements: &PHRASE_ELEMENTS, attributes: "", data_attributes: false, ..POST_RULES })
        });
        &PHRASES
    }

    /// Biographies: phrases whose links may have a `rel`.
    pub fn biographies() -> &'static Policy {
        static BIOGRAPHIES: LazyLock<Policy> = LazyLock::new(|| {
            let mut elements = PHRASE_ELEMENTS.to_vec();
            elements.push(("a", "rel"));
            Policy::new(&Rules { elements: &elements, attributes: "", data_attributes: false, ..POST_RULES })
        });
        &BIOGRAPHIES
    }

    /// Drawings: shapes of SVG without scripts, styles and references.
    pub fn drawings() -> &'static Policy {
        static DRAWINGS: LazyLock<Policy> = LazyLock::new(|| {
            let elements = [
                ("svg", "class xmlns width height viewbox aria-hidden role focusable"),
                ("path", "fill fill-rule d transform"),
                ("polygon", "fill fill-rule points transform focusable"),
            ];
            let rules = Rules { elements: &elements, attributes: "", data_attributes: false, ..POST_RULES };
            Policy::new(&rules)
        });
        &DRAWINGS
    }

    /// Whether what a browser reads in sanitised markup is within the policy: an element with an attribute of this value,
    /// or, without an attribute's name, the element itself. Names in lower case, references in the value resolved.
    pub fn permits(&self, element: &str, attribute: &str, value: &str) -> bool {
        if attribute.is_empty() {
            return self.elements.contains_key(element);
        }
        let schemes: Vec<&str> = self.schemes.iter().map(String::as_str).collect();
        let address = ADDRESSES.contains(&attribute);
        self.allows(element, attribute) && (!address || allowed_scheme(value, &schemes))
    }

    fn allows(&self, element: &str, attribute: &str) -> bool {
        let data = || {
            attribute.strip_prefix("data-").is_some_and(|rest| {
                !rest.is_empty()
                    && rest.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':' | b'.'))
            })
        };
        self.elements.get(element).is_some_and(|own| own.contains(attribute)) || self.data_attributes && data()
    }
}

/// Attributes whose value is an address.
const ADDRESSES: [&str; 12] = [
    "action",
    "background",
    "cite",
    "classid",
    "codebase",
    "data",
    "formaction",
    "href",
    "longdesc",
    "poster",
    "src",
    "usemap",
];

const PHRASE_ELEMENTS: [(&str, &str); 6] = [
    ("a", "href title"),
    ("abbr acronym", "title"),
    ("b code em i s strike strong cite", ""),
    ("blockquote q", "cite"),
    ("del", "datetime"),
    ("br", ""),
];

/// What authors may use, observed on the reference.
const POST_RULES: Rules = Rules {
    elements: &[
        (
            "address abbr acronym b bdo big br cite code dd dfn dl dt em fieldset i kbd mark rb rp rt rtc ruby s samp",
            "",
        ),
        ("small strike strong sub sup title tt u var", ""),
        (
            "article aside caption div figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup legend main nav p section",
            "align",
        ),
        ("span summary", "align"),
        ("a", "href name rel rev target download"),
        ("area", "alt coords href nohref shape target"),
        ("audio", "autoplay controls loop muted preload src"),
        ("blockquote q", "cite"),
        ("button", "disabled name type value"),
        ("col colgroup", "align char charoff span valign width"),
        ("del", "datetime"),
        ("details", "align open"),
        ("font", "color face size"),
        ("hr", "align noshade size width"),
        ("img", "align alt border height hspace loading longdesc src usemap vspace width"),
        ("ins", "cite datetime"),
        ("label", "for"),
        ("li", "align value"),
        ("map", "name"),
        ("menu ul", "type"),
        ("ol", "reversed start type"),
        ("pre", "width"),
        ("table", "align bgcolor border cellpadding cellspacing rules summary width"),
        ("tbody tfoot thead", "align char charoff valign"),
        ("td th", "abbr align axis bgcolor char charoff colspan headers height nowrap rowspan scope valign width"),
        ("textarea", "cols disabled name readonly rows"),
        ("tr", "align bgcolor char charoff valign"),
        ("track", "default kind label src srclang"),
        ("video", "autoplay controls height loop muted playsinline poster preload src width"),
    ],
    attributes: "aria-controls aria-current aria-describedby aria-details aria-expanded aria-hidden aria-label \
                 aria-labelledby aria-live class dir id lang role style title xml:lang",
    data_attributes: true,
    schemes: &SCHEMES,
    style_properties: "align-content align-items align-self background background-attachment background-blend-mode \
        background-color background-image background-position background-size border border-bottom border-bottom-color \
        border-bottom-left-radius border-bottom-right-radius border-bottom-style border-bottom-width border-collapse \
        border-color border-left border-left-color border-left-style border-left-width border-radius border-right \
        border-right-color border-right-style border-right-width border-spacing border-style border-top \
        border-top-color border-top-left-radius border-top-right-radius border-top-style border-top-width border-width \
        caption-side clear color column-count column-fill column-gap column-rule column-span column-width columns \
        cursor direction filter flex flex-basis flex-direction flex-flow flex-grow flex-shrink flex-wrap float font \
        font-family font-size font-style font-variant font-weight gap grid-auto-columns grid-auto-rows grid-column-end \
        grid-column-gap grid-column-start grid-gap grid-row-end grid-row-gap grid-row-start grid-template-columns \
        grid-template-rows height justify-content justify-items justify-self letter-spacing line-height \
        list-style-type margin margin-block-end margin-block-start margin-bottom margin-inline-end margin-inline-start \
        margin-left margin-right margin-top max-height max-width min-height min-width object-fit object-position \
        overflow padding padding-block-end padding-block-start padding-bottom padding-inline-end padding-inline-start \
        padding-left padding-right padding-top row-gap text-align text-decoration text-indent text-transform \
        vertical-align width",
};

/// The text with only what the policy allows. Tags that are not allowed are removed, what is between them stays as text
/// (also the insides of scripts and styles, as in the reference); attributes and style properties that are not allowed
/// are removed; addresses lose a scheme that is not allowed; stray `<`, `>` and `&` become entities. Block delimiters
/// stay, the texts in their attributes follow the same policy. Applying it again changes nothing.
pub fn sanitise(html: &str, policy: &Policy) -> String {
    let cleaned;
    let html = if html.contains(unwanted) {
        cleaned = html.replace(unwanted, "");
        &cleaned
    } else {
        html
    };
    let mut out = String::with_capacity(html.len() + html.len() / 16);
    // The cost of failed attempts to read a tag is limited; behind that the rest is text. No real text has that many.
    let mut patience = html.len() * 8 + 1_000;
    let mut at = 0;
    while let Some(start) = html[at..].find('<').map(|n| at + n) {
        push_text(&html[at..start], &mut out);
        let (token, length) = read(&html[start..]);
        at = start + length;
        match token {
            Token::Tag(tag) => push_tag(&tag, policy, &mut out),
            Token::Close(name) => {
                if policy.elements.contains_key(&name.to_ascii_lowercase()) {
                    out.push_str(&format!("</{name}>"));
                }
            }
            Token::Comment(comment) => push_comment(comment, policy, &mut out),
            Token::Nothing => {}
            Token::Text { cost } => {
                push_text(&html[start..at], &mut out);
                patience = patience.saturating_sub(cost);
                if patience == 0 {
                    break;
                }
            }
        }
    }
    push_text(&html[at..], &mut out);
    out
}

/// Control characters, which are removed from every text, however they are written.
fn unwanted(c: char) -> bool {
    c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r') || matches!(c, '\u{80}'..='\u{9f}')
}

/// Marks the links in a text as user-generated (`rel="nofollow ugc"`), as stored comments have them.
pub fn mark_links(html: &str) -> String {
    let mut out = String::with_capacity(html.len() + 32);
    let mut at = 0;
    while let Some(start) = html[at..].find("<a ").map(|n| at + n) {
        out.push_str(&html[at..start]);
        let (token, length) = read(&html[start..]);
        at = start + length;
        match token {
            Token::Tag(tag) if tag.attributes.iter().any(|a| a.name.eq_ignore_ascii_case("href")) => {
                out.push_str("<a");
                for attribute in tag.attributes.iter().filter(|a| !a.name.eq_ignore_ascii_case("rel")) {
                    out.push(' ');
                    attribute.write(attribute.value, &mut out);
                }
                out.push_str(" rel=\"nofollow ugc\">");
            }
            _ => out.push_str(&html[start..at]),
        }
    }
    out.push_str(&html[at..]);
    out
}

pub(super) enum Token<'a> {
    Tag(Tag<'a>),
    Close(&'a str),
    /// With its marks.
    Comment(&'a str),
    /// A declaration or processing instruction: nothing remains.
    Nothing,
    /// Not markup, after reading so much.
    Text {
        cost: usize,
    },
}

pub(super) struct Tag<'a> {
    pub(super) name: &'a str,
    pub(super) attributes: Vec<Attribute<'a>>,
    closes_itself: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Attribute<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a str,
    /// `None` when there is no value at all.
    quote: Option<char>,
}

impl Attribute<'_> {
    /// Writes the attribute with a value, in its own quotes, the value free of what could end it.
    fn write(&self, value: &str, out: &mut String) {
        out.push_str(self.name);
        let Some(quote) = self.quote else { return };
        out.push('=');
        out.push(quote);
        for part in with_entities(value) {
            match part {
                "<" => out.push_str("&lt;"),
                ">" => out.push_str("&gt;"),
                "\"" if quote == '"' => out.push_str("&quot;"),
                "'" if quote == '\'' => out.push_str("&#039;"),
                part => out.push_str(part),
            }
        }
        out.push(quote);
    }
}

/// The token at the start of a text that starts with `<`, and its length.
pub(super) fn read(text: &str) -> (Token<'_>, usize) {
    let nothing = (Token::Text { cost: 1 }, 1);
    let Some(next) = text[1..].chars().next() else { return nothing };
    match next {
        '!' if text.starts_with("<!--") => match text.find("-->") {
            Some(end) => (Token::Comment(&text[..end + 3]), end + 3),
            None => (Token::Text { cost: text.len() }, 1),
        },
        '!' | '?' => match text.find('>') {
            Some(end) => (Token::Nothing, end + 1),
            None => (Token::Text { cost: text.len() }, 1),
        },
        '/' if text[2..].starts_with(|c: char| c.is_ascii_alphabetic()) => {
            let name = name_length(&text[2..]);
            match text[2 + name..].find(['>', '<']) {
                Some(end) if text[2 + name + end..].starts_with('>') => {
                    (Token::Close(&text[2..2 + name]), 2 + name + end + 1)
                }
                end => (Token::Text { cost: end.unwrap_or(text.len()) }, 1),
            }
        }
        c if c.is_ascii_alphabetic() => read_tag(text),
        _ => nothing,
    }
}

fn name_length(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(text.len())
}

fn read_tag(text: &str) -> (Token<'_>, usize) {
    let mut attributes = Vec::new();
    let name = name_length(&text[1..]);
    let mut at = 1 + name;
    let mut closes_itself = false;
    loop {
        let rest = text[at..].trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        if rest.len() < text.len() - at {
            closes_itself = text[..text.len() - rest.len()].ends_with('/');
        }
        at = text.len() - rest.len();
        match rest.chars().next() {
            None | Some('<') => return (Token::Text { cost: at }, 1),
            Some('>') => break,
            Some(_) => match read_attribute(rest) {
                Ok((attribute, length)) => {
                    attributes.extend(attribute);
                    at += length;
                    closes_itself = false;
                }
                Err(cost) => return (Token::Text { cost: at + cost }, 1),
            },
        }
    }
    (Token::Tag(Tag { name: &text[1..1 + name], attributes, closes_itself }), at + 1)
}

/// One attribute and its length; an error says how far the search for its end went.
fn read_attribute(text: &str) -> Result<(Option<Attribute<'_>>, usize), usize> {
    let name = text.find(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | '>' | '/' | '<')).unwrap_or(text.len());
    if name == 0 {
        // A stray equals sign.
        return Ok((None, 1));
    }
    let after = text[name..].trim_start_matches(|c: char| c.is_ascii_whitespace());
    let Some(value) = after.strip_prefix('=') else {
        return Ok((Some(Attribute { name: &text[..name], value: "", quote: None }), name));
    };
    let value = value.trim_start_matches(|c: char| c.is_ascii_whitespace());
    let start = text.len() - value.len();
    match value.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let length = value[1..].find(quote).ok_or(text.len())?;
            let attribute = Attribute { name: &text[..name], value: &value[1..1 + length], quote: Some(quote) };
            Ok((Some(attribute), start + length + 2))
        }
        _ => {
            let length = value.find(|c: char| c.is_ascii_whitespace() || matches!(c, '>' | '<')).unwrap_or(value.len());
            let attribute = Attribute { name: &text[..name], value: &value[..length], quote: Some('"') };
            Ok((Some(attribute).filter(|_| length > 0), start + length))
        }
    }
}

fn push_tag(tag: &Tag, policy: &Policy, out: &mut String) {
    let element = tag.name.to_ascii_lowercase();
    if !policy.elements.contains_key(&element) {
        return;
    }
    out.push('<');
    out.push_str(tag.name);
    let mut seen: HashSet<String> = HashSet::new();
    for attribute in &tag.attributes {
        let name = attribute.name.to_ascii_lowercase();
        // Of two equal names a browser takes the first.
        if !policy.allows(&element, &name) || seen.contains(&name) {
            continue;
        }
        let value = match name.as_str() {
            "style" => clean_style(attribute.value, policy),
            name if ADDRESSES.contains(&name) => Some(clean_address(attribute.value, policy)),
            _ => Some(attribute.value.to_owned()),
        };
        if let Some(value) = value {
            out.push(' ');
            attribute.write(&value, out);
        }
        seen.insert(name);
    }
    out.push_str(if tag.closes_itself { " />" } else { ">" });
}

/// The address without schemes that are not allowed.
fn clean_address(value: &str, policy: &Policy) -> String {
    let schemes: Vec<&str> = policy.schemes.iter().map(String::as_str).collect();
    if allowed_scheme(value, &schemes) {
        return value.to_owned();
    }
    let decoded = decode_references(value).replace(unwanted, "");
    let mut rest: &str = &decoded;
    while !allowed_scheme(rest, &schemes) {
        rest = rest.split_once(':').map_or("", |(_, rest)| rest.trim_start());
    }
    rest.replace('&', "&amp;")
}

/// The declarations that are allowed, or `None` when none is.
fn clean_style(value: &str, policy: &Policy) -> Option<String> {
    let decoded = decode_references(value).replace(unwanted, "").replace("&quot;", "\"").replace("&apos;", "'");
    let kept: Vec<&str> = decoded.split(';').map(str::trim).filter(|d| allowed_declaration(d, policy)).collect();
    (!kept.is_empty()).then(|| kept.join(";"))
}

fn allowed_declaration(declaration: &str, policy: &Policy) -> bool {
    let Some((property, value)) = declaration.split_once(':') else { return false };
    let property = property.trim_end();
    let custom = property.strip_prefix("--").is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    });
    let pictures = matches!(property, "background" | "background-image" | "list-style" | "list-style-image" | "cursor");
    (custom || policy.style_properties.contains(property)) && allowed_style_value(value, pictures)
}

/// Functions that compute lengths or colours are allowed, pictures only where they belong, everything else that could
/// nest, escape or comment is not.
fn allowed_style_value(value: &str, pictures: bool) -> bool {
    const FUNCTIONS: [&str; 7] = ["calc", "clamp", "max", "min", "minmax", "repeat", "var"];
    if value.contains(['\\', '&', '=', '}', '{', '<', '>', '@']) || value.contains("/*") {
        return false;
    }
    let mut rest = value;
    while let Some(open) = rest.find('(') {
        let before = &rest[..open];
        let start = before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '-').map_or(0, |n| n + 1);
        let function = before[start..].to_ascii_lowercase();
        rest = &rest[open + 1..];
        match function.as_str() {
            "url" if pictures => {
                let Some((address, tail)) = rest.split_once(')') else { return false };
                let address = address.trim().trim_matches(['"', '\'']);
                let web = !address.contains(':') || address.starts_with("http://") || address.starts_with("https://");
                if !web || address.contains('(') {
                    return false;
                }
                rest = tail;
            }
            name if pictures && name.ends_with("-gradient") => {}
            // Within a gradient colours are computed too.
            "rgb" | "rgba" | "hsl" | "hsla" if pictures => {}
            name if FUNCTIONS.contains(&name) => {}
            // A bracket of its own, within a computation.
            "" => {}
            _ => return false,
        }
    }
    !value.contains(':') || pictures
}

fn push_comment(comment: &str, policy: &Policy, out: &mut String) {
    if let Some(attrs) = blocks::delimiter_attrs(comment) {
        match attrs {
            None => out.push_str(comment),
            Some(json) => {
                let at = json.as_ptr() as usize - comment.as_ptr() as usize;
                let Some(clean) = clean_attrs(json, policy) else { return };
                out.push_str(&comment[..at]);
                out.push_str(&clean);
                out.push_str(&comment[at + json.len()..]);
            }
        }
        return;
    }
    let mut inside = comment.strip_prefix("<!--").and_then(|c| c.strip_suffix("-->")).unwrap_or_default().to_owned();
    if inside.is_empty() || inside.contains(['<', '>']) {
        return;
    }
    while inside.contains("--") {
        inside = inside.replace("--", "-");
    }
    let inside = inside.trim_end_matches('-');
    out.push_str("<!--");
    out.push_str(inside);
    out.push_str("-->");
}

/// The attributes of a block with every text held to the policy; `None` when they are no JSON.
fn clean_attrs(json: &str, policy: &Policy) -> Option<String> {
    let mut value: Value = serde_json::from_str(json).ok()?;
    let changed = clean_texts(&mut value, policy);
    let json = if changed { value.to_string() } else { json.to_owned() };
    Some(blocks::within_comment(&json))
}

fn clean_texts(value: &mut Value, policy: &Policy) -> bool {
    match value {
        Value::String(text) if text.contains('<') => {
            let clean = sanitise(text, policy);
            let changed = clean != *text;
            *text = clean;
            changed
        }
        // `|`, not `||`: each of them is to be cleaned.
        Value::Array(items) => items.iter_mut().fold(false, |changed, item| clean_texts(item, policy) | changed),
        Value::Object(map) => map.values_mut().fold(false, |changed, item| clean_texts(item, policy) | changed),
        _ => false,
    }
}

fn push_text(text: &str, out: &mut String) {
    for part in with_entities(text) {
        match part {
            "<" => out.push_str("&lt;"),
            ">" => out.push_str("&gt;"),
            part => out.push_str(part),
        }
    }
}

/// The text in parts: each `<`, `>` and quote by itself, lone ampersands as entities.
fn with_entities(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = match first {
            '<' | '>' | '"' | '\'' => 1,
            '&' if !starts_entity(&rest[1..]) => {
                rest = &rest[1..];
                return Some("&amp;");
            }
            _ => {
                1 + rest[first.len_utf8()..]
                    .find(['<', '>', '"', '\'', '&'])
                    .map_or(rest.len() - 1, |n| n + first.len_utf8() - 1)
            }
        };
        let (part, tail) = rest.split_at(length);
        rest = tail;
        Some(part)
    })
}

/// `amp;`, `#38;`, `#x26;`
fn starts_entity(after: &str) -> bool {
    let Some(name) = after.bytes().take(33).position(|b| b == b';').map(|end| &after.as_bytes()[..end]) else {
        return false;
    };
    match name {
        [b'#', b'x' | b'X', hex @ ..] => !hex.is_empty() && hex.iter().all(u8::is_ascii_hexdigit),
        [b'#', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        [first, rest @ ..] => {
            first.is_ascii_alphabetic() && !rest.is_empty() && rest.iter().all(u8::is_ascii_alphanumeric)
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn authors_keep_what_is_allowed() {
        fn check(html: &str, expected: &str) {
            assert_eq!(sanitise(html, Policy::posts()), expected, "{html}");
        }
        // As recorded.
        check("<script>var q=1;</script>Tail", "var q=1;Tail");
        check(
            "<iframe src=\"x\"></iframe>Left <a href=\"https://example.org\" onclick=\"x()\">link</a>",
            "Left <a href=\"https://example.org\">link</a>",
        );
        // As observed.
        check("<scr<script>ipt>x</scr</script>ipt>", "&lt;script&gt;x&lt;/script&gt;");
        check("<b onclick=x class=c id=i data-a=b>x</b>", "<b class=\"c\" id=\"i\" data-a=\"b\">x</b>");
        check("<a href='javascript:alert(1)'>x</a>", "<a href='alert(1)'>x</a>");
        check("<a href=\"java&#115;cript:x\">x</a>", "<a href=\"x\">x</a>");
        check("<a href=\"java\tscript:x\">x</a>", "<a href=\"x\">x</a>");
        check("<a href=\"x:/&#1;a&#8;b&#128;\">x</a>", "<a href=\"/ab\">x</a>");
        check("<p style=\"color:&#1;red\">x</p>", "<p style=\"color:red\">x</p>");
        check("<a href=\"javascript:javascript:x\">z</a>", "<a href=\"x\">z</a>");
        check("<img src=x onerror=alert(1)>", "<img src=\"x\">");
        check("<img src=\"x\" onload=1 alt=\"\">", "<img src=\"x\" alt=\"\">");
        check("<img src=a.png/>", "<img src=\"a.png/\">");
        check("<br><br/><br />", "<br><br /><br />");
        check("a < b &amp; c", "a &lt; b &amp; c");
        check("a & b", "a &amp; b");
        check("<b", "&lt;b");
        check("</b>x", "</b>x");
        check("<p><b>x</p></b>", "<p><b>x</p></b>");
        check("<svg onload=x><path d='x'/></svg>", "");
        check("<b class>z</b>", "<b class>z</b>");
        check("<b class='x>z</b>", "&lt;b class='x&gt;z</b>");
        check("<b title=a&b>x</b>", "<b title=\"a&amp;b\">x</b>");
        check("<b title=\"a<b>\">x</b>", "<b title=\"a&lt;b&gt;\">x</b>");
        check("x\u{0}y<b\u{0}>z</b>", "xy<b>z</b>");
        check("<!DOCTYPE html>x<?php x ?>y", "xy");
        check("\\<b>\\ \"q\"", "\\<b>\\ \"q\"");
    }

    #[test]
    fn comments_and_blocks_stay() {
        fn check(html: &str, expected: &str) {
            assert_eq!(sanitise(html, Policy::posts()), expected, "{html}");
        }
        check("<!--more-->", "<!--more-->");
        check("<!-- a -- b -->x", "<!-- a - b -->x");
        check("<!-- <script>x</script> -->", "");
        check("<!---->x<!-->y<!--z", "xy&lt;!--z");
        check("<!-- wp:html --><script>x</script><!-- /wp:html -->", "<!-- wp:html -->x<!-- /wp:html -->");
        let group =
            "<!-- wp:group {\"layout\":{\"type\":\"flex\"}} --><div class=\"wp-block-group\"></div><!-- /wp:group -->";
        check(group, group);
        check("<!-- cms:foo {\"a\":\"\\u003cscript\\u003e\"} /-->", "<!-- cms:foo {\"a\":\"\"} /-->");
        check("<!-- wp:p {\"a\":\"<b>\"} -->", "<!-- wp:p {\"a\":\"\\u003cb\\u003e\"} -->");
        check("<!-- wp:p {\"a\":\"a & b\"} /-->", "<!-- wp:p {\"a\":\"a & b\"} /-->");
    }

    #[test]
    fn styles_are_filtered() {
        fn check(style: &str, expected: &str) {
            let expected =
                if expected.is_empty() { "<p>x</p>".into() } else { format!("<p style=\"{expected}\">x</p>") };
            assert_eq!(sanitise(&format!("<p style=\"{style}\">x</p>"), Policy::posts()), expected, "{style}");
        }
        check("color:red;", "color:red");
        check("color: red ; ", "color: red");
        check("COLOR:red", "");
        check("color:red;background:url(x.png)", "color:red;background:url(x.png)");
        check("background:url(javascript:x)", "");
        check("background-image:url('http://x/a.png')", "background-image:url('http://x/a.png')");
        check("width:expression(1)", "");
        check("width:calc(1px + 2px);color:var(--x);--x:1", "width:calc(1px + 2px);color:var(--x);--x:1");
        check("position:absolute;display:none;z-index:1;behavior:url(x)", "");
        check("background:linear-gradient(red,blue)", "background:linear-gradient(red,blue)");
        check("color:rgb(1,2,3)", "");
        check("color:\\72 ed;color:/*x*/red;color:a=b;color:a&amp;b", "");
        check("font-family:'A B', c", "font-family:'A B', c");
        check("background:url&#40;javascript:x)", "");
        check("background:url&lpar;javascript:x)", "");
    }

    #[test]
    fn phrases_are_narrower() {
        fn check(html: &str, expected: &str) {
            assert_eq!(sanitise(html, Policy::phrases()), expected, "{html}");
        }
        check(
            "<b class=x>a</b> <p>x</p> <a href=\"http://x\" title=t rel=y>l</a>",
            "<b>a</b> x <a href=\"http://x\" title=\"t\">l</a>",
        );
        check("<div>x</div><img src=x>", "x");
        let bio = sanitise("<a href='/' rel=y>l</a>", Policy::biographies());
        assert_eq!(bio, "<a href='/' rel=\"y\">l</a>");
    }

    #[test]
    fn links_are_marked() {
        fn check(html: &str, expected: &str) {
            assert_eq!(mark_links(html), expected);
        }
        check("<a href=\"http://x.org\">x</a>", "<a href=\"http://x.org\" rel=\"nofollow ugc\">x</a>");
        check("<a rel='x' href='y'>x</a> <a name=\"z\">", "<a href='y' rel=\"nofollow ugc\">x</a> <a name=\"z\">");
    }

    #[test]
    fn hostile_lengths_stay_cheap() {
        for part in ["<a ", "<a x=\"", "<!--", "</a", "<", "<a x='<a x=\"", "&", "<a x=&", "<!-- wp:a {"] {
            let text = part.repeat(40_000);
            assert!(!sanitise(&text, Policy::posts()).contains("<a"));
            assert!(!sanitise(&format!("{text}\">"), Policy::posts()).contains("<script"));
        }
    }

    /// Reads markup as a browser does and reports what the policy does not name.
    fn foreign(html: &str, policy: &Policy) -> Vec<String> {
        crate::text::browser::outside(html, |element, attribute, value| policy.permits(element, attribute, value))
    }

    fn hostile() -> impl Strategy<Value = String> {
        let parts = prop::sample::select(vec![
            "<",
            ">",
            "\"",
            "'",
            "=",
            "/",
            " ",
            "&",
            ";",
            ":",
            "a",
            "<b",
            "<script",
            "</script>",
            "<svg",
            "<style>",
            "<textarea>",
            "</textarea>",
            "<title>",
            "</title>",
            "<img src=",
            " onerror=",
            " title=\"",
            " style='",
            "href=",
            "javascript:",
            "&#106;",
            "&colon;",
            "<!--",
            "-->",
            "--!>",
            "<!-- wp:x {\"a\":\"",
            "\"} /-->",
            "<![CDATA[",
            "]]>",
            "<math>",
            "<a ",
            "\\u003c",
            "url(",
            ")",
            "\n",
            "\t",
            "é",
            "\u{0}",
            "<plaintext>",
            "<noscript>",
            "<?",
            "x",
        ]);
        prop::collection::vec(parts, 0..40).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn a_browser_sees_nothing_foreign(html in hostile()) {
            let clean = sanitise(&html, Policy::posts());
            prop_assert_eq!(foreign(&clean, Policy::posts()), Vec::<String>::new(), "{} -> {}", html, clean);
        }

        #[test]
        fn sanitising_twice_changes_nothing(html in hostile()) {
            let once = sanitise(&html, Policy::posts());
            prop_assert_eq!(sanitise(&once, Policy::posts()), once);
        }
    }
}
