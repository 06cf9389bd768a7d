//! Single values as they are stored or shown: one-line texts, e-mail addresses, URLs, escaped text.
//!
//! Owns the normal forms of plain fields. Markup that stays markup is the business of `html_policy`.

use super::strip::{strip_all_tags, without_scripts};
use super::texturize::escape_ampersands;
use std::borrow::Cow;

/// URL schemes that content and fields may use.
pub const SCHEMES: [&str; 22] = [
    "http", "https", "ftp", "ftps", "mailto", "news", "irc", "irc6", "ircs", "gopher", "nntp", "feed", "telnet", "mms",
    "rtsp", "sms", "svn", "tel", "fax", "xmpp", "webcal", "urn",
];

/// A text of one line: no markup, no escapes, no control characters, single blanks.
pub fn sanitize_text_field(text: &str) -> String {
    let plain = field(text);
    plain.split(|c: char| c.is_ascii_whitespace()).filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Like [`sanitize_text_field`], but preserves line ends and tabs.
pub fn sanitize_textarea(text: &str) -> String {
    field(text)
}

/// A text of one line as it was sent, without markup and control characters. `escaped`: as WordPress stores it, see
/// [`sanitize_text_field`].
pub fn text_field(text: &str, escaped: bool) -> String {
    if escaped { sanitize_text_field(text) } else { one_line(&without_markup(text)).trim().to_owned() }
}

/// Like [`text_field`], of several lines.
pub fn text_area(text: &str, escaped: bool) -> String {
    if escaped { sanitize_textarea(text) } else { without_markup(text).trim().to_owned() }
}

/// The name of a term or a person, as stored: one line of text whose ampersands are escaped.
pub fn name(text: &str) -> String {
    escape_amp(&sanitize_text_field(text))
}

/// Whether a text is an e-mail address as accounts and comments accept it: ASCII, at least one dot in the domain, six
/// characters or more.
pub fn is_email(text: &str) -> bool {
    const LOCAL: &str = "!#$%&'*+/=?^_`{|}~.-";
    let Some((local, domain)) = text.split_once('@') else { return false };
    let local_char = |c: char| c.is_ascii_alphanumeric() || LOCAL.contains(c);
    let label = |l: &str| {
        let inner = |c: char| c.is_ascii_alphanumeric() || c == '-';
        !l.is_empty() && !l.starts_with('-') && !l.ends_with('-') && l.chars().all(inner)
    };
    text.len() >= 6
        && !local.is_empty()
        && local.chars().all(local_char)
        && domain.contains('.')
        && domain.split('.').all(label)
}

/// The address without what an e-mail address cannot hold; empty when no address remains.
pub fn sanitize_email(text: &str) -> String {
    let trimmed = text.trim();
    let kept: String = trimmed.chars().filter(|c| c.is_ascii_graphic()).collect();
    if is_email(&kept) { kept } else { String::new() }
}

/// A URL fit to be stored: unwanted characters dropped, `http://` added to a bare host; empty when the scheme is not
/// one of [`SCHEMES`]. Relative addresses stay relative.
pub fn clean_url(url: &str) -> String {
    clean_url_for(url, &SCHEMES)
}

/// [`clean_url`] with a list of schemes of one's own.
pub fn clean_url_for(url: &str, schemes: &[&str]) -> String {
    let url = url.trim_start().replace(' ', "%20");
    let kept: String = url.chars().filter(|c| url_char(*c)).collect();
    let line_end = |escape: &[u8]| matches!(escape, [_, b'0', b'd' | b'D' | b'a' | b'A']);
    let mut kept = without(&kept, line_end).replace(";//", "://");
    if kept.is_empty() {
        return kept;
    }
    let relative = kept.starts_with(['/', '#', '?']);
    if !relative && !kept.contains(':') && !is_script_file(&kept) {
        kept.insert_str(0, "http://");
    }
    let kept = encode_brackets(&kept);
    if relative || allowed_scheme(&kept, schemes) { normal_scheme(&kept) } else { String::new() }
}

/// Whether a URL has no scheme or one of the list. Control characters and entities that browsers ignore are
/// ignored, so `java&#9;script:` does not pass as relative.
pub fn allowed_scheme(url: &str, schemes: &[&str]) -> bool {
    match scheme_of(url) {
        Some(scheme) => schemes.iter().any(|s| s.eq_ignore_ascii_case(&scheme)),
        None => true,
    }
}

/// Any text as HTML: what looks like an entity is text, too.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// `<`, `>`, `&`, quotes as entities; entities that are there stay.
pub fn esc_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    push_esc_html(&mut out, text);
    out
}

/// Appends a text as [`esc_html`] makes it.
pub fn push_esc_html(out: &mut String, text: &str) {
    let text = escape_amp(text);
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let entity = match byte {
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            b'\'' => "&#039;",
            _ => continue,
        };
        out.push_str(&text[from..at]);
        out.push_str(entity);
        from = at + 1;
    }
    out.push_str(&text[from..]);
}

/// The value of an attribute between double quotes.
pub fn esc_attr(text: &str) -> String {
    esc_html(text)
}

/// Undoes [`esc_html`] and [`escape`]: text as people read it. WordPress stores the site's title and tagline escaped.
pub fn unescape(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&#039;", "'").replace("&#39;", "'").replace("&amp;", "&")
}

/// Text between tags: as [`esc_html`], quotes left alone.
pub fn esc_text(text: &str) -> String {
    escape_amp(text).replace('<', "&lt;").replace('>', "&gt;")
}

/// Numeric references to the bytes 128 to 159, which older systems took for typographic marks, become the marks.
pub fn fix_numeric_entities(text: &str) -> Cow<'_, str> {
    const MARKS: [u32; 32] = [
        8364, 0, 8218, 402, 8222, 8230, 8224, 8225, 710, 8240, 352, 8249, 338, 0, 381, 0, 0, 8216, 8217, 8220, 8221,
        8226, 8211, 8212, 732, 8482, 353, 8250, 339, 0, 382, 376,
    ];
    if !text.contains("&#1") {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split("&#1");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let number = part.get(..3).filter(|p| p.ends_with(';')).and_then(|p| p[..2].parse::<usize>().ok());
        match number.filter(|n| (28..60).contains(n)) {
            Some(n) => {
                if MARKS[n - 28] != 0 {
                    out.push_str(&format!("&#{};", MARKS[n - 28]));
                }
                out.push_str(&part[3..]);
            }
            None => {
                out.push_str("&#1");
                out.push_str(part);
            }
        }
    }
    Cow::Owned(out)
}

/// The text with a blank in place of each run of line ends and tabs.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' | '\n' | '\r' if line.ends_with(' ') => {}
            '\t' | '\n' | '\r' => line.push(' '),
            c => line.push(c),
        }
    }
    line
}

/// The text without control characters, comments, scripts and tags. A `<` that no letter follows, or that no `>` ends, is
/// text. A tag that forms when another one is taken out goes, too.
fn without_markup(text: &str) -> String {
    let lines = text.replace(['\x0b', '\x0c', '\u{85}', '\u{2028}', '\u{2029}'], "\n");
    let text: String = lines.chars().filter(|c| !c.is_control() || matches!(c, '\t' | '\n' | '\r')).collect();
    if !text.contains('<') {
        return text;
    }
    let text = without_comments(&without_scripts(&text));
    let (mut plain, mut opened) = (String::with_capacity(text.len()), Vec::new());
    for c in text.chars() {
        match c {
            '<' => opened.push(plain.len()),
            '>' => {
                // Signs of comparison on the way begin nothing.
                let begins = |at: &usize| {
                    let begun = |c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?');
                    plain[at + 1..].starts_with(begun)
                };
                if let Some(place) = opened.iter().rposition(begins) {
                    plain.truncate(opened[place]);
                    opened.truncate(place);
                    continue;
                }
                opened.clear();
            }
            _ => {}
        }
        plain.push(c);
    }
    plain
}

fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        let Some((_, after)) = comment.split_once("-->") else { break };
        plain.push_str(before);
        rest = after;
    }
    plain + rest
}

fn escape_amp(text: &str) -> String {
    escape_ampersands(text).replace("&#038;", "&amp;")
}

fn field(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control() || c.is_ascii_whitespace()).collect();
    let text = if text.contains('<') { strip_all_tags(&lone_angles(&text)) } else { text };
    without(&text, |escape| escape[1..].iter().all(u8::is_ascii_hexdigit)).trim().to_owned()
}

/// `a<b` is no tag: a `<` that no `>` follows is text.
fn lone_angles(text: &str) -> String {
    match text.rfind('>') {
        Some(last) => format!("{}{}", &text[..last], text[last..].replace('<', "&lt;")),
        None => text.replace('<', "&lt;"),
    }
}

/// The text without the escapes (`%xx`) that a function picks, including those that arise when one is removed.
fn without(text: &str, picked: impl Fn(&[u8]) -> bool) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        out.push(c);
        if let [.., b'%', _, _] = out.as_bytes()
            && picked(&out.as_bytes()[out.len() - 3..])
        {
            out.truncate(out.len() - 3);
        }
    }
    out
}

fn url_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-~+_.?#=!&;,/:%@$|*'()[]".contains(c) || !c.is_ascii() && !c.is_control()
}

fn is_script_file(url: &str) -> bool {
    let name = url.split(['?', '#']).next().unwrap_or_default();
    name.ends_with(".php") && !name.contains('/')
}

/// Square brackets belong to hosts only; elsewhere they are escaped.
fn encode_brackets(url: &str) -> String {
    if !url.contains(['[', ']']) {
        return url.to_owned();
    }
    let host = url.find("//").map_or(0, |at| url[at + 2..].find(['/', '?', '#']).map_or(url.len(), |n| at + 2 + n));
    let (front, rest) = url.split_at(host);
    format!("{front}{}", rest.replace('[', "%5B").replace(']', "%5D"))
}

fn normal_scheme(url: &str) -> String {
    match url.split_once(':') {
        Some((scheme, rest)) if !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric()) => {
            format!("{}:{rest}", scheme.to_ascii_lowercase())
        }
        _ => url.to_owned(),
    }
}

/// The part of an address that a browser would take for the scheme: letters before the first colon, white space,
/// control characters and character references looked through. `None` for relative addresses.
fn scheme_of(url: &str) -> Option<String> {
    let decoded = decode_references(url);
    let mut scheme = String::new();
    for c in decoded.chars().filter(|c| !c.is_control() && !c.is_whitespace() && *c != '\u{ad}') {
        match c {
            ':' => return Some(scheme),
            '/' | '?' | '#' => return None,
            c => scheme.push(c),
        }
    }
    None
}

/// Numeric references and `&colon;`, `&Tab;`, `&NewLine;` as characters, as far as a scheme can reach.
/// Whether a style sheet would end the element that it is written into, or ends in the beginning of such an end.
pub fn ends_style_element(css: &str) -> bool {
    const END: &str = "</style";
    let css = css.to_ascii_lowercase();
    let ends = css.match_indices(END).any(|(at, _)| {
        let behind = css[at + END.len()..].chars().next();
        behind.is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}' | '/' | '>'))
    });
    ends || (1..END.len()).any(|length| css.ends_with(&END[..length]))
}

pub(super) fn decode_references(text: &str) -> Cow<'_, str> {
    decode(text, &[])
}

/// The text that the value of an attribute says.
pub fn decode_value(value: &str) -> Cow<'_, str> {
    decode(value, &[("amp;", '&'), ("lt;", '<'), ("gt;", '>'), ("quot;", '"'), ("apos;", '\'')])
}

/// The text that markup says between its tags, as far as its named references are those that people write.
pub fn decode_text(text: &str) -> Cow<'_, str> {
    decode(
        text,
        &[
            ("amp;", '&'),
            ("lt;", '<'),
            ("gt;", '>'),
            ("quot;", '"'),
            ("apos;", '\''),
            ("nbsp;", ' '),
            ("laquo;", '«'),
            ("raquo;", '»'),
            ("ndash;", '–'),
            ("mdash;", '—'),
            ("lsquo;", '‘'),
            ("rsquo;", '’'),
            ("ldquo;", '“'),
            ("rdquo;", '”'),
            ("hellip;", '…'),
            ("copy;", '©'),
        ],
    )
}

fn decode<'a>(text: &'a str, more: &[(&str, char)]) -> Cow<'a, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let named = more.iter().find_map(|(name, c)| Some((Some(*c), part.strip_prefix(name)?)));
        let (decoded, rest) = named.unwrap_or_else(|| decode_reference(part));
        match decoded {
            Some(c) => out.push(c),
            None => out.push('&'),
        }
        out.push_str(rest);
    }
    Cow::Owned(out)
}

fn decode_reference(after: &str) -> (Option<char>, &str) {
    for (name, c) in [("colon;", ':'), ("Tab;", '\t'), ("NewLine;", '\n'), ("sol;", '/')] {
        if let Some(rest) = after.strip_prefix(name) {
            return (Some(c), rest);
        }
    }
    let Some(number) = after.strip_prefix('#') else { return (None, after) };
    let (digits, radix) = match number.strip_prefix(['x', 'X']) {
        Some(hex) => (hex, 16),
        None => (number, 10),
    };
    let length = digits.bytes().position(|b| !char::from(b).is_digit(radix)).unwrap_or(digits.len());
    if length == 0 {
        return (None, after);
    }
    // A value out of range is no character, so it hides nothing.
    let c = u32::from_str_radix(digits[..length].trim_start_matches('0'), radix).ok().and_then(char::from_u32);
    let rest = &digits[length..];
    (c.or(Some('\u{fffd}')), rest.strip_prefix(';').unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_fields() {
        fn check(text: &str, line: &str, area: &str) {
            assert_eq!((sanitize_text_field(text).as_str(), sanitize_textarea(text).as_str()), (line, area), "{text}");
        }
        check(" x  y ", "x y", "x  y");
        check("a\nb", "a b", "a\nb");
        check("<b>x</b>y <script>q</script>z", "xy z", "xy z");
        check("a<b", "a&lt;b", "a&lt;b");
        check("%20z %2%200", "z", "z");
        check("a\u{0}b", "ab", "ab");
    }

    #[test]
    fn term_names_are_escaped() {
        fn check(text: &str, expected: &str) {
            assert_eq!(name(text), expected);
        }
        check("A & B", "A &amp; B");
        check("&amp; x", "&amp; x");
        check("a<b", "a&lt;b");
        check("a \"q\" 'z'", "a \"q\" 'z'");
        check("<b>x</b>y", "xy");
    }

    #[test]
    fn addresses_as_the_reference_takes_them() {
        for good in
            ["a@b.co", "a.b+c@d-e.org", "A@B.ORG", "a!#$%&'*+/=?^_`{|}~.-@b.org", "a@1.2.3.4", ".a@c.org", "a@b.o-g"]
        {
            assert!(is_email(good), "{good}");
            assert_eq!(sanitize_email(&format!(" {good} ")), good);
        }
        for bad in [
            "a@b.c",
            "a@b",
            "a b@c.org",
            "a@b..org",
            "a@-b.org",
            "a@b-.org",
            "a@b.org ",
            "a@ü.org",
            "ü@b.org",
            "a@b.org.",
            "@b.org",
            "a@",
            "a@b@c.org",
            "a@b_c.org",
            "\"x\"@b.org",
            "a@[1.2.3.4]",
            "a@.b.org",
            "",
        ] {
            assert!(!is_email(bad), "{bad}");
        }
    }

    #[test]
    fn urls_as_the_reference_stores_them() {
        fn check(url: &str, expected: &str) {
            assert_eq!(clean_url(url), expected, "{url}");
        }
        check("::", "");
        check("http://example.org", "http://example.org");
        check("example.org", "http://example.org");
        check("javascript:alert(1)", "");
        check("JavaScript:x", "");
        check("java\tscript:x", "");
        check("http://a b", "http://a%20b");
        check("HTTP://X.org/é", "http://X.org/é");
        check("//x.org/a", "//x.org/a");
        check("/path", "/path");
        check("#frag", "#frag");
        check("mailto:a@b.c", "mailto:a@b.c");
        check("http://x.org/[a]", "http://x.org/%5Ba%5D");
        check("x.org:80/a", "");
        check("http://x.org/<b>", "http://x.org/b");
        check("  http://x.org ", "http://x.org%20");
        check("http://x.org/a\"b", "http://x.org/ab");
        check("?a=1", "?a=1");
        check("a:b", "");
        check("http://x.org/a%0%0dd0b", "http://x.org/a0b");
        check("urn:x", "urn:x");
        check("data:text/html,x", "");
        check("", "");
    }

    #[test]
    fn schemes_are_seen_through_disguise() {
        for bad in [
            "javascript:x",
            "java\nscript:x",
            "&#106;avascript:x",
            "javascript&colon;x",
            "java&#x09;script&#58;x",
            "\u{1}javascript:x",
            "&#0000106;avascript:x",
        ] {
            assert!(!allowed_scheme(bad, &SCHEMES), "{bad}");
        }
        for good in ["http://x", "/a:b", "a/b:c", "#x:y", "?x:y", "mailto:a@b"] {
            assert!(allowed_scheme(good, &SCHEMES), "{good}");
        }
    }

    #[test]
    fn text_is_escaped_once() {
        for text in ["<a href=\"x\">'&' &amp; b", "&lt;"] {
            assert_eq!(unescape(&escape(text)), text);
        }
        assert_eq!(
            esc_html("<a href=\"x\">'&' &amp; &#38;"),
            "&lt;a href=&quot;x&quot;&gt;&#039;&amp;&#039; &amp; &#38;"
        );
        assert_eq!(fix_numeric_entities("&#128;&#150;&#1; &#160;"), "&#8364;&#8211;&#1; &#160;");
    }
}
