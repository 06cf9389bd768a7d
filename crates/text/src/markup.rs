//! Where markup starts and ends in any text.
//!
//! Owns two notions of it. [`pieces`] is the coarse one that paragraphs, quotes, smilies and links share with the
//! reference: markup ends at the next `>`. [`spans`] is that of a browser, where a `>` in a quoted value ends nothing:
//! whatever is written *into* a tag or replaced in a text by markup uses it. Neither decides what a tag may contain:
//! the sanitiser does.

/// A stretch of text, or one tag, comment or CDATA section with its angle brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Text(&'a str),
    Markup(&'a str),
}

/// Splits a text without losing a byte. A `<` starts markup whatever follows it, and markup that does not end reaches
/// to the end of the text: this is what the reference does with `a < b`.
pub(super) fn pieces(text: &str) -> Pieces<'_> {
    Pieces { rest: text }
}

pub(super) struct Pieces<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let length = if self.rest.starts_with('<') { markup_length(self.rest) } else { memchr(self.rest, '<') };
        let (piece, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some(if piece.starts_with('<') { Piece::Markup(piece) } else { Piece::Text(piece) })
    }
}

/// Length of the markup at the start of `text`, which starts with `<`.
pub(super) fn markup_length(text: &str) -> usize {
    let end = match text {
        _ if text.starts_with("<!--") => "-->",
        _ if text.starts_with("<![CDATA[") => "]]>",
        _ => ">",
    };
    text.find(end).map_or(text.len(), |at| at + end.len())
}

/// Name of a tag as written, and whether it closes: `</Div >` is `("Div", true)`. Comments have no name.
pub(super) fn tag_name(markup: &str) -> (&str, bool) {
    let inside = markup.strip_prefix('<').unwrap_or(markup);
    let (inside, closes) = inside.strip_prefix('/').map_or((inside, false), |rest| (rest, true));
    let end = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(inside.len());
    (&inside[..end], closes)
}

/// White space as patterns of the contract's age know it: ASCII only.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}

/// Splits a text as a browser does, without losing a byte. A tag or comment that does not end reaches to the end of
/// the text; a `<` that starts neither is text.
pub(super) fn spans(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let markup = if rest.starts_with('<') { span_length(rest) } else { None };
        let length = markup.unwrap_or_else(|| text_length(rest));
        let (piece, tail) = rest.split_at(length);
        rest = tail;
        Some(if markup.is_some() { Piece::Markup(piece) } else { Piece::Text(piece) })
    })
}

/// Length of the text at the start: up to the next markup.
fn text_length(text: &str) -> usize {
    let mut from = 0;
    while let Some(at) = text[from..].find('<').map(|n| from + n) {
        if at > 0 && starts_span(&text[at..]) {
            return at;
        }
        from = at + 1;
    }
    text.len()
}

fn starts_span(text: &str) -> bool {
    match text.as_bytes().get(1) {
        Some(b'!' | b'?') => true,
        Some(b'/') => text.len() > 2,
        Some(c) => c.is_ascii_alphabetic(),
        None => false,
    }
}

/// Length of the markup at the start of a text that starts with `<`; `None` when it is text.
fn span_length(text: &str) -> Option<usize> {
    if !starts_span(text) {
        return None;
    }
    let past = |end: &str, from: usize| text[from..].find(end).map(|n| from + n + end.len());
    let length = match &text.as_bytes()[1..] {
        [b'!', b'-', b'-', ..] => match &text[4..] {
            inside if inside.starts_with('>') => Some(5),
            inside if inside.starts_with("->") => Some(6),
            _ => comment_end(text, 4),
        },
        [b'/', c, ..] if !c.is_ascii_alphabetic() => past(">", 2),
        [b'!' | b'?', ..] => past(">", 2),
        _ => {
            let mut attributes = Attributes::of(text);
            attributes.by_ref().for_each(drop);
            attributes.end
        }
    };
    Some(length.unwrap_or(text.len()))
}

fn comment_end(text: &str, mut from: usize) -> Option<usize> {
    while let Some(dashes) = text[from..].find("--").map(|n| from + n) {
        match &text.as_bytes()[dashes + 2..] {
            [b'>', ..] => return Some(dashes + 3),
            [b'!', b'>', ..] => return Some(dashes + 4),
            _ => from = dashes + 1,
        }
    }
    None
}

/// The attributes of the tag at the start of a text, as a browser reads them. The caller decides what equal names mean.
pub(super) struct Attributes<'a> {
    text: &'a str,
    at: usize,
    /// Length of the tag, once all attributes are read; `None` when it does not end.
    pub(super) end: Option<usize>,
}

/// Where an attribute is in its tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AttributeRange {
    pub(super) name: std::ops::Range<usize>,
    /// The value without its quotes; empty behind the name where there is none.
    pub(super) value: std::ops::Range<usize>,
    pub(super) quote: Option<u8>,
}

impl<'a> Attributes<'a> {
    /// Of a text that starts with `<name` or `</name`.
    pub(super) fn of(text: &'a str) -> Attributes<'a> {
        let at = text.bytes().position(|b| is_html_space(b) || b == b'>').unwrap_or(text.len());
        // `<br/title=x>` has an attribute; the slash of a closing tag comes before its name.
        let slash = text.get(2..at).and_then(|name| name.find('/')).map(|n| n + 2);
        Attributes { text, at: slash.unwrap_or(at), end: None }
    }

    fn skip(&mut self, gap: impl Fn(u8) -> bool) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(|b| gap(*b)) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }
}

impl Iterator for Attributes<'_> {
    type Item = AttributeRange;

    fn next(&mut self) -> Option<AttributeRange> {
        // An equals sign begins a name here.
        if self.skip(|b| is_html_space(b) || b == b'/')? == b'>' {
            self.end = Some(self.at + 1);
            return None;
        }
        let start = self.at;
        self.at += 1;
        self.skip(|b| !is_html_space(b) && !matches!(b, b'/' | b'>' | b'='));
        let name = start..self.at;
        let behind = self.at..self.at;
        if self.skip(is_html_space) != Some(b'=') {
            return Some(AttributeRange { name, value: behind, quote: None });
        }
        self.at += 1;
        match self.skip(is_html_space) {
            Some(quote @ (b'"' | b'\'')) => {
                let from = self.at + 1;
                self.at = from;
                self.skip(|b| b != quote);
                let value = from..self.at;
                self.at = self.text.len().min(self.at + 1);
                Some(AttributeRange { name, value, quote: Some(quote) })
            }
            _ => {
                let from = self.at;
                self.skip(|b| !is_html_space(b) && b != b'>');
                Some(AttributeRange { name, value: from..self.at, quote: None })
            }
        }
    }
}

fn is_html_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}

fn memchr(text: &str, c: char) -> usize {
    text.find(c).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_told_from_text() {
        fn check(text: &str, expected: &[&str]) {
            let got: Vec<&str> = pieces(text)
                .map(|p| match p {
                    Piece::Text(t) | Piece::Markup(t) => t,
                })
                .collect();
            assert_eq!(got, expected);
            assert_eq!(got.concat(), text);
        }
        check("", &[]);
        check("a<b>c</b>", &["a", "<b>", "c", "</b>"]);
        check("a < b > c", &["a ", "< b >", " c"]);
        check("a < b", &["a ", "< b"]);
        check("<!-- <b> -->x", &["<!-- <b> -->", "x"]);
        check("<![CDATA[a>b]]>x", &["<![CDATA[a>b]]>", "x"]);
        check("<!-- open", &["<!-- open"]);
    }

    #[test]
    fn markup_is_split_as_a_browser_splits_it() {
        fn check(text: &str, expected: &[Piece]) {
            assert_eq!(spans(text).collect::<Vec<_>>(), expected, "{text}");
        }
        use Piece::{Markup as M, Text as T};
        check("", &[]);
        check("a<b>c</b>", &[T("a"), M("<b>"), T("c"), M("</b>")]);
        check("a < b <3 <", &[T("a < b <3 <")]);
        check("<<b>", &[T("<"), M("<b>")]);
        check("<a title=\"x > y\">z", &[M("<a title=\"x > y\">"), T("z")]);
        check("<a title='\"' b>z", &[M("<a title='\"' b>"), T("z")]);
        check("<a title=x\">z\">", &[M("<a title=x\">"), T("z\">")]);
        check("<a b\"c>z", &[M("<a b\"c>"), T("z")]);
        check("<a \"x>y\">", &[M("<a \"x>"), T("y\">")]);
        check("<a/title=\"x>\">z", &[M("<a/title=\"x>\">"), T("z")]);
        check("<a title = \"x>\" >z", &[M("<a title = \"x>\" >"), T("z")]);
        check("<a =\"x>\" >z", &[M("<a =\"x>"), T("\" >z")]);
        check("</a title=\">\">z", &[M("</a title=\">\">"), T("z")]);
        check("<a title=\"x>y", &[M("<a title=\"x>y")]);
        check("<!--a>b-->c<!--d--!>e", &[M("<!--a>b-->"), T("c"), M("<!--d--!>"), T("e")]);
        check(
            "<!-->a<!--->b<!x>c<?y>d</ z>e</>",
            &[
                M("<!-->"),
                T("a"),
                M("<!--->"),
                T("b"),
                M("<!x>"),
                T("c"),
                M("<?y>"),
                T("d"),
                M("</ z>"),
                T("e"),
                M("</>"),
            ],
        );
        check("<![CDATA[a>b]]>", &[M("<![CDATA[a>"), T("b]]>")]);
    }

    #[test]
    fn attributes_are_read_as_a_browser_reads_them() {
        fn check(tag: &str, expected: &[(&str, &str)]) {
            let found: Vec<(&str, &str)> = Attributes::of(tag).map(|a| (&tag[a.name], &tag[a.value])).collect();
            assert_eq!(found, expected, "{tag}");
        }
        check("<a>", &[]);
        check("<a title=\" class=\" b='c' D=e f>", &[("title", " class="), ("b", "c"), ("D", "e"), ("f", "")]);
        check("<br/title=x/>", &[("title", "x/")]);
        check("<a b = c>", &[("b", "c")]);
        check("<a b=>", &[("b", "")]);
        check("<a b=\"c", &[("b", "c")]);
    }

    #[test]
    fn tags_have_names() {
        fn check(markup: &str, expected: (&str, bool)) {
            assert_eq!(tag_name(markup), expected, "{markup}");
        }
        check("<b>", ("b", false));
        check("</Div >", ("Div", true));
        check("<br/>", ("br", false));
        check("<!-- b -->", ("", false));
        check("<x-foo a=b>", ("x-foo", false));
        check("< b>", ("", false));
    }
}
