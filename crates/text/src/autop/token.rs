//! The tokens that paragraphs are decided on: lines, blanks, tags and what counts as a block.

use crate::markup::{Piece, is_space, pieces};

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    /// Text of one line without white space at its ends.
    Text(&'a str),
    /// White space other than line ends.
    Blank(&'a str),
    Line,
    /// A line end in a script or style: never a break.
    HardLine,
    /// `<p>`
    Open,
    /// `</p>`
    Close,
    /// `<br />`
    Break,
    /// Any other tag or comment.
    Tag(Tag<'a>),
    /// A whole `<pre>…</pre>`.
    Pre(&'a str),
    /// Written as it is and judged by nobody.
    Kept(&'a str),
}

/// A tag or comment, judged once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tag<'a> {
    pub raw: &'a str,
    pub closes: bool,
    /// Stands on lines of its own.
    pub separates: bool,
    /// Follows a `<` that was no tag, so that it cannot be distinguished from anything before it.
    pub stuck: bool,
    /// Has no paragraph marks next to it. Tags whose name only begins like a block's count too (`<progress>` like
    /// `<p>`), as they do there.
    block: bool,
    /// Has no break before it.
    tight: bool,
}

const BLOCKS: [&str; 43] = [
    "table",
    "thead",
    "tfoot",
    "caption",
    "col",
    "colgroup",
    "tbody",
    "tr",
    "td",
    "th",
    "div",
    "dl",
    "dd",
    "dt",
    "ul",
    "ol",
    "li",
    "pre",
    "form",
    "map",
    "area",
    "blockquote",
    "address",
    "style",
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "fieldset",
    "legend",
    "section",
    "article",
    "aside",
    "hgroup",
    "header",
    "footer",
    "nav",
    "figure",
    "figcaption",
];
const MORE_BLOCKS: [&str; 3] = ["details", "menu", "summary"];
const TIGHT: [&str; 11] = ["p", "li", "div", "dl", "dd", "dt", "th", "pre", "td", "ul", "ol"];

impl<'a> Tag<'a> {
    fn of(raw: &'a str) -> Tag<'a> {
        let inside = &raw[1..];
        let (inside, closes) = inside.strip_prefix('/').map_or((inside, false), |rest| (rest, true));
        let ends = |rest: &str| rest.starts_with(|c: char| is_space(c) || c == '/' || c == '>');
        let mut names = BLOCKS.iter().chain(&MORE_BLOCKS);
        Tag {
            raw,
            closes,
            stuck: false,
            separates: names.clone().any(|name| inside.strip_prefix(name).is_some_and(ends)),
            block: raw.ends_with('>') && names.any(|name| inside.starts_with(name)),
            tight: raw.ends_with('>') && TIGHT.iter().any(|name| inside.starts_with(name)),
        }
    }

    /// Whether it opens an element whose name begins so.
    pub fn opens(&self, name: &str) -> bool {
        !self.closes && self.raw[1..].starts_with(name)
    }
}

impl Token<'_> {
    /// White space, line ends included.
    pub fn is_space(&self) -> bool {
        matches!(self, Token::Blank(_) | Token::Line)
    }

    /// Has no paragraph marks next to it.
    pub fn is_block(&self) -> bool {
        match self {
            Token::Open | Token::Close | Token::Pre(_) => true,
            Token::Tag(tag) => tag.block,
            _ => false,
        }
    }

    /// Has no break before it.
    pub fn is_tight(&self) -> bool {
        match self {
            Token::Open | Token::Close | Token::Pre(_) => true,
            Token::Tag(tag) => tag.tight,
            _ => false,
        }
    }
}

/// A text in tokens.
pub type Tokens<'a> = Vec<Token<'a>>;

/// Cuts a text into tokens.
pub fn tokenise(text: &str) -> Tokens<'_> {
    let mut tokens = Vec::with_capacity(text.len() / 16 + 8);
    let mut rest = text;
    // A `pre` reaches from the first `<pre` to the next `</pre>`, whatever is between.
    if text.contains("<pre") {
        while let Some(end) = rest.find("</pre>") {
            match rest[..end].find("<pre") {
                Some(start) => {
                    tokenise_plain(&rest[..start], &mut tokens);
                    tokens.push(Token::Pre(&rest[start..end + 6]));
                }
                None => tokenise_plain(&rest[..end], &mut tokens),
            }
            rest = &rest[end + 6..];
        }
    }
    tokenise_plain(rest, &mut tokens);
    tokens
}

fn tokenise_plain<'a>(text: &'a str, tokens: &mut Tokens<'a>) {
    for piece in pieces(text) {
        match piece {
            Piece::Markup("<p>") => tokens.push(Token::Open),
            Piece::Markup("</p>") => tokens.push(Token::Close),
            Piece::Markup(raw) if is_break(raw) => tokens.push(Token::Break),
            Piece::Markup(raw) if raw.starts_with("<!--") || raw.starts_with("<![CDATA[") => {
                tokens.push(Token::Tag(Tag::of(raw)))
            }
            Piece::Markup(raw) => tokenise_markup(raw, tokens),
            Piece::Text(text) => tokenise_text(text, tokens),
        }
    }
}

/// `a < b <ul>`: the first `<` starts the markup, the last one the tag. The blank line that a block element gets is
/// within the markup then and breaks nothing.
fn tokenise_markup<'a>(raw: &'a str, tokens: &mut Tokens<'a>) {
    let mut rest = raw;
    while let Some(inner) = rest[1..].find('<').map(|n| n + 1) {
        tokens.push(Token::Kept(&rest[..inner]));
        rest = &rest[inner..];
        let tag = Tag::of(rest);
        if tag.separates && !tag.closes {
            tokens.push(Token::Kept("\n\n"));
        }
    }
    tokens.push(Token::Tag(Tag { stuck: rest.len() < raw.len(), ..Tag::of(rest) }));
}

fn tokenise_text<'a>(text: &'a str, tokens: &mut Tokens<'a>) {
    for (n, line) in text.split('\n').enumerate() {
        if n > 0 {
            tokens.push(Token::Line);
        }
        let from_word = line.trim_start_matches(is_space);
        let word = from_word.trim_end_matches(is_space);
        let before = line.len() - from_word.len();
        for (blank, token) in
            [(&line[..before], None), ("", Some(word).filter(|w| !w.is_empty())), (&line[before + word.len()..], None)]
        {
            match token {
                Some(word) => tokens.push(Token::Text(word)),
                None if !blank.is_empty() => tokens.push(Token::Blank(blank)),
                None => {}
            }
        }
    }
}

fn is_break(raw: &str) -> bool {
    raw.strip_prefix("<br").and_then(|r| r.strip_suffix('>')).is_some_and(|inside| {
        let inside = inside.strip_suffix('/').unwrap_or(inside);
        inside.chars().all(is_space)
    })
}

/// Position of the first token at or after `from` that is not white space.
pub fn after_space(tokens: &[Token], from: usize) -> usize {
    tokens[from..].iter().position(|t| !t.is_space()).map_or(tokens.len(), |n| from + n)
}
