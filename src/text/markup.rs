//! Where markup starts and ends in a text that may be anything.
//!
//! Owns the one notion of "tag" that paragraphs, quotes, smilies and links share. It must not judge what a tag may
//! contain: that is the sanitiser's.

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
