//! Sanitises markup of users without `unfiltered_html`: what is allowed stays, the rest is removed.
//!
//! Owns the lists of what is allowed (`rules`) and the one function that enforces them. Its safety does not rest on reading
//! markup as a browser does, but on what it writes: text without `<`, tags and attributes of the list with values
//! without `<` and `>`, comments without either. Such output means the same to every parser, whatever the input was;
//! nothing is passed on without being parsed. Input that cannot be understood is escaped.
//! It must not know who wrote the text: the caller checks `unfiltered_html` first.

mod rules;
mod styles;

pub use rules::Policy;

use super::blocks;
use super::sanitize::{allowed_scheme, decode_references};
use rules::ADDRESSES;
use serde_json::Value;
use std::collections::HashSet;
use styles::clean_style;

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
            HtmlToken::Tag(tag) => push_tag(&tag, policy, &mut out),
            HtmlToken::Close(name) => {
                if policy.elements.contains_key(&name.to_ascii_lowercase()) {
                    out.push_str(&format!("</{name}>"));
                }
            }
            HtmlToken::Comment(comment) => push_comment(comment, policy, &mut out),
            HtmlToken::Nothing => {}
            HtmlToken::Text { cost } => {
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

/// The value of an attribute between double quotes: what it is made of stays, however it was written.
fn push_value(value: &str, out: &mut String) {
    for part in with_entities(value) {
        match numbered(part) {
            // No text holds such a character: what was written is shown.
            Some((c, _)) if unwanted(c) => {
                out.push_str("&amp;");
                out.push_str(&part[1..]);
            }
            Some((c, rest)) => {
                push_escaped(c, out);
                out.push_str(rest);
            }
            None => match part {
                "<" | ">" | "\"" | "'" => part.chars().for_each(|c| push_escaped(c, out)),
                part => out.push_str(part),
            },
        }
    }
}

fn push_escaped(c: char, out: &mut String) {
    match c {
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&apos;"),
        '&' => out.push_str("&amp;"),
        c => out.push(c),
    }
}

/// The character of a reference by number that a text starts with, and what is behind it.
fn numbered(text: &str) -> Option<(char, &str)> {
    let number = text.strip_prefix("&#")?;
    let (digits, rest) = number.split_once(';')?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    Some((char::from_u32(code.ok()?)?, rest))
}

/// The classes of a mention, none if there are none.
fn mention(classes: &str) -> Option<String> {
    let user = |class: &str| {
        let id = class.strip_prefix("user-").unwrap_or_default();
        !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit())
    };
    let kept: Vec<&str> =
        classes.split_ascii_whitespace().filter(|class| *class == "wp-note-mention" || user(class)).collect();
    (!kept.is_empty()).then(|| kept.join(" "))
}

/// Control characters, which are removed from every text, however they are written.
fn unwanted(c: char) -> bool {
    c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r') || matches!(c, '\u{80}'..='\u{9f}')
}

/// Marks the links in a text as user-generated (`rel="nofollow ugc"`), as stored comments have them.
pub fn mark_links(html: &str) -> String {
    let mut out = String::with_capacity(html.len() + 32);
    let mut at = 0;
    let is_link =
        |start: &usize| html.as_bytes()[start + 1..].first_chunk().is_some_and(|head| matches!(head, b"a " | b"A "));
    while let Some(start) = html[at..].match_indices('<').map(|(n, _)| at + n).find(is_link) {
        out.push_str(&html[at..start]);
        let (token, length) = read(&html[start..]);
        at = start + length;
        match token {
            HtmlToken::Tag(tag) if tag.attributes.iter().any(|a| a.name.eq_ignore_ascii_case("href")) => {
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

pub(super) enum HtmlToken<'a> {
    Tag(HtmlTag<'a>),
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

pub(super) struct HtmlTag<'a> {
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
pub(super) fn read(text: &str) -> (HtmlToken<'_>, usize) {
    let nothing = (HtmlToken::Text { cost: 1 }, 1);
    let Some(next) = text[1..].chars().next() else { return nothing };
    match next {
        '!' if text.starts_with("<!--") => match text.find("-->") {
            Some(end) => (HtmlToken::Comment(&text[..end + 3]), end + 3),
            None => (HtmlToken::Text { cost: text.len() }, 1),
        },
        '!' | '?' => match text.find('>') {
            Some(end) => (HtmlToken::Nothing, end + 1),
            None => (HtmlToken::Text { cost: text.len() }, 1),
        },
        '/' if text[2..].starts_with(|c: char| c.is_ascii_alphabetic()) => {
            let name = name_length(&text[2..]);
            match text[2 + name..].find(['>', '<']) {
                Some(end) if text[2 + name + end..].starts_with('>') => {
                    (HtmlToken::Close(&text[2..2 + name]), 2 + name + end + 1)
                }
                end => (HtmlToken::Text { cost: end.unwrap_or(text.len()) }, 1),
            }
        }
        c if c.is_ascii_alphabetic() => read_tag(text),
        _ => nothing,
    }
}

fn name_length(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(text.len())
}

fn read_tag(text: &str) -> (HtmlToken<'_>, usize) {
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
            None | Some('<') => return (HtmlToken::Text { cost: at }, 1),
            Some('>') => break,
            Some(_) => match read_attribute(rest) {
                Ok((attribute, length)) => {
                    attributes.extend(attribute);
                    at += length;
                    closes_itself = false;
                }
                Err(cost) => return (HtmlToken::Text { cost: at + cost }, 1),
            },
        }
    }
    (HtmlToken::Tag(HtmlTag { name: &text[1..1 + name], attributes, closes_itself }), at + 1)
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

fn push_tag(tag: &HtmlTag, policy: &Policy, out: &mut String) {
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
            "class" if policy.mentions_only => mention(attribute.value),
            name if ADDRESSES.contains(&name) => Some(clean_address(attribute.value, policy)),
            _ => Some(attribute.value.to_owned()),
        };
        if let Some(value) = value {
            out.push(' ');
            out.push_str(&name);
            if attribute.quote.is_some() {
                out.push_str("=\"");
                push_value(&value, out);
                out.push('"');
            }
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
            part if part.starts_with("&#") => push_number(part, out),
            part => out.push_str(part),
        }
    }
}

/// A text that starts with a reference by number: of a character that texts have in its usual form, of another one as the
/// text that was written.
fn push_number(text: &str, out: &mut String) {
    let (digits, rest) = text[2..].split_once(';').unwrap_or((&text[2..], ""));
    let (mark, digits) = digits.strip_prefix(['x', 'X']).map_or(("", digits), |hex| ("x", hex));
    let digits = digits.trim_start_matches('0');
    let code = u32::from_str_radix(digits, if mark.is_empty() { 10 } else { 16 }).ok().and_then(char::from_u32);
    match code {
        Some(c) if matches!(c, '\t' | '\n' | '\r') || c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}') => {
            let fewest = if mark.is_empty() { 3 } else { 0 };
            out.push_str(&format!("&#{mark}{digits:0>fewest$};{rest}"));
        }
        _ => {
            out.push_str("&amp;");
            out.push_str(&text[1..]);
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
        check("<a href='javascript:alert(1)'>x</a>", "<a href=\"alert(1)\">x</a>");
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
        check("<B TITLE=a'b id='c\"d'>x</B>", "<B title=\"a&apos;b\" id=\"c&quot;d\">x</B>");
        check(
            "<b title='&#39;&#x26;amp;&#0;&copy;&#8217;'>x</b>",
            "<b title=\"&apos;&amp;amp;&amp;#0;&copy;\u{2019}\">x</b>",
        );
        check("<dialog open autofocus tabindex=0>x</dialog>", "<dialog open autofocus tabindex=\"0\">x</dialog>");
        check("x\u{0}y<b\u{0}>z</b>", "xy<b>z</b>");
        check("<!DOCTYPE html>x<?php x ?>y", "xy");
        check("\\<b>\\ \"q\"", "\\<b>\\ \"q\"");
        check("<B>x</B><SCRIPT>y</SCRIPT><Em>z</eM>", "<B>x</B>y<Em>z</eM>");
    }

    #[test]
    fn references_by_number_are_of_characters() {
        fn check(text: &str, expected: &str) {
            assert_eq!(sanitise(text, Policy::posts()), expected, "{text}");
        }
        check("a&#0;b&#x0;c&#00;d", "a&amp;#0;b&amp;#x0;c&amp;#00;d");
        check(
            "&#1;&#31;&#xD800;&#65534;&#1114112;&#xffffff;",
            "&amp;#1;&amp;#31;&amp;#xD800;&amp;#65534;&amp;#1114112;&amp;#xffffff;",
        );
        check("&#60;&#38;&#9;&#8217;&#0000000065;", "&#060;&#038;&#009;&#8217;&#065;");
        check("&#X41;&#x041;&#x3C; d", "&#x41;&#x41;&#x3C; d");
        check("&#65 &# &#; &#x;", "&amp;#65 &amp;# &amp;#; &amp;#x;");
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
        check("background-image:url('http://x/a.png')", "background-image:url(&apos;http://x/a.png&apos;)");
        check("width:expression(1)", "");
        check("width:calc(1px + 2px);color:var(--x);--x:1", "width:calc(1px + 2px);color:var(--x);--x:1");
        check("position:absolute;display:none;behavior:url(x);opacity:0", "position:absolute;display:none");
        check(
            "transform:rotate(5deg) scale(2);clip-path:circle(50%)",
            "transform:rotate(5deg) scale(2);clip-path:circle(50%)",
        );
        check("transform:url(x);mask:url(x);clip-path:url(#a)", "");
        check("background:linear-gradient(red,blue)", "background:linear-gradient(red,blue)");
        check("color:rgb(1,2,3)", "");
        check("color:\\72 ed;color:/*x*/red;color:a=b;color:a&amp;b", "");
        check("font-family:'A B', c", "font-family:&apos;A B&apos;, c");
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
        let mention = sanitise("<span class=\"a wp-note-mention user-7 user-x\" id=b>n</span>", Policy::comments());
        assert_eq!(mention, "<span class=\"wp-note-mention user-7\">n</span>");
        assert_eq!(sanitise("<span class=a>n</span>", Policy::comments()), "<span>n</span>");
        let bio = sanitise("<a href='/' rel=y>l</a>", Policy::biographies());
        assert_eq!(bio, "<a href=\"/\" rel=\"y\">l</a>");
    }

    #[test]
    fn links_are_marked() {
        fn check(html: &str, expected: &str) {
            assert_eq!(mark_links(html), expected);
        }
        check("<a href=\"http://x.org\">x</a>", "<a href=\"http://x.org\" rel=\"nofollow ugc\">x</a>");
        check("<a rel='x' href='y'>x</a> <a name=\"z\">", "<a href='y' rel=\"nofollow ugc\">x</a> <a name=\"z\">");
        check("<b><A HREF=\"y\">x</A></b><", "<b><a HREF=\"y\" rel=\"nofollow ugc\">x</A></b><");
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
        crate::browser::outside(html, |element, attribute, value| policy.permits(element, attribute, value))
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
