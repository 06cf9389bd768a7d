//! Paragraphs and line breaks for content that was typed without markup.
//!
//! Owns where `<p>` and `<br />` appear. The text is split into tokens once; small passes over the tokens then decide.
//! The order of the passes matters, because the reference's odd results on unbalanced markup follow from it
//! (`<div>a\n\nb</div>` loses one `<p>`): the corpus in `fixtures/render` contains them.

mod token;

use self::token::{Tag, Token, Tokens, after_space, tokenise};
use super::markup::is_space;
use std::borrow::Cow;

/// Wraps blocks of text in `<p>`, turns single line ends into `<br />`, and leaves block elements, `pre`, scripts and
/// styles alone.
pub fn autop(text: &str) -> String {
    if text.chars().all(is_space) {
        return String::new();
    }
    // The final line end is part of the algorithm: a tag that never closes swallows it.
    let text = text.replace("\r\n", "\n").replace('\r', "\n") + "\n";
    let tokens = tokenise(&text);
    let tokens = separate_blocks(tokens);
    let tokens = squeeze(tokens);
    let tokens = wrap(&tokens);
    let tokens = drop_empty(tokens);
    let tokens = close_before_container(tokens);
    let tokens = unwrap_lone_blocks(tokens);
    let tokens = unwrap_list_items(tokens);
    let tokens = enter_blockquotes(tokens);
    let tokens = drop_before_block(tokens, |t| *t == Token::Open);
    let tokens = drop_after_block(tokens, |t| *t == Token::Close);
    let tokens = break_lines(protect_code(tokens));
    let tokens = drop_after_block(tokens, |t| *t == Token::Break);
    let tokens = drop_break_before_tight(tokens);
    write(&without_last_line_end(tokens), text.len())
}

/// Two breaks make a new paragraph; block elements are separated from what surrounds them.
fn separate_blocks(tokens: Tokens) -> Tokens {
    let mut out = Vec::with_capacity(tokens.len() * 2);
    let blank_line = [Token::Line, Token::Line];
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at];
        at += 1;
        match token {
            Token::Break => {
                let next = after_space(&tokens, at);
                if tokens.get(next) == Some(&Token::Break) {
                    out.extend(blank_line);
                    at = next + 1;
                } else {
                    out.push(token);
                }
            }
            Token::Open => out.extend([Token::Line, Token::Line, token]),
            Token::Close => out.extend([token, Token::Line, Token::Line]),
            Token::Pre(_) => {
                out.extend(blank_line);
                out.push(token);
                out.extend(blank_line);
            }
            Token::Tag(tag) if tag.separates => {
                if !tag.closes && !tag.stuck {
                    out.extend(blank_line);
                }
                out.push(token);
                if tag.closes || tag.opens("hr") {
                    out.extend(blank_line);
                }
            }
            _ => out.push(token),
        }
    }
    out
}

/// Takes white space away where it would become a break inside a select, an object or a player.
fn squeeze(tokens: Tokens) -> Tokens {
    let has = |found: fn(&Tag) -> bool| tokens.iter().any(|t| matches!(t, Token::Tag(tag) if found(tag)));
    let options = has(|t| t.opens("option"));
    let objects = has(|t| t.raw == "</object>");
    let media = has(|t| t.opens("source") || t.opens("track"));
    let captions = has(|t| t.opens("figcaption"));
    if !(options || objects || media || captions) {
        return tokens;
    }
    let inner =
        |t: &Tag| objects && ["param", "embed"].iter().any(|n| t.raw[1..].trim_start_matches('/').starts_with(n));
    let source = |t: &Tag| media && (t.opens("source") || t.opens("track"));
    let before = |t: &Tag| {
        options && t.opens("option")
            || captions && t.opens("figcaption")
            || objects && t.raw == "</object>"
            || media && (t.raw == "</audio>" || t.raw == "</video>")
            || inner(t)
            || source(t)
    };
    let after = |t: &Tag| {
        options && t.raw == "</option>"
            || captions && t.raw == "</figcaption>"
            || objects && t.opens("object")
            || media && (t.opens("audio") || t.opens("video"))
            || inner(t)
            || source(t)
    };
    let mut out: Tokens = Vec::with_capacity(tokens.len());
    let mut skipping = false;
    for token in tokens {
        match token {
            _ if token.is_space() && skipping => continue,
            Token::Tag(tag) => {
                while before(&tag) && out.last().is_some_and(Token::is_space) {
                    out.pop();
                }
                skipping = after(&tag);
            }
            _ => skipping = false,
        }
        out.push(token);
    }
    out
}

/// Every stretch between blank lines becomes a paragraph.
fn wrap<'a>(tokens: &[Token<'a>]) -> Tokens<'a> {
    let mut out = Vec::with_capacity(tokens.len() * 2);
    let (mut start, mut at) = (0, 0);
    while at < tokens.len() {
        let end = after_space(tokens, at);
        let lines = |t: &&Token| **t == Token::Line;
        if tokens[at] == Token::Line && tokens[at..end].iter().filter(lines).count() >= 2 {
            wrap_one(&tokens[start..at], &mut out);
            let last = tokens[at..end].iter().rposition(|t| *t == Token::Line).unwrap_or(0);
            start = at + last + 1;
            at = end;
        } else {
            at += 1;
        }
    }
    wrap_one(&tokens[start..], &mut out);
    out
}

fn wrap_one<'a>(mut chunk: &[Token<'a>], out: &mut Tokens<'a>) {
    if chunk.is_empty() {
        return;
    }
    while let [Token::Line, rest @ ..] | [rest @ .., Token::Line] = chunk {
        chunk = rest;
    }
    out.push(Token::Open);
    out.extend(chunk);
    out.extend([Token::Close, Token::Line]);
}

fn drop_empty(tokens: Tokens) -> Tokens {
    let mut out = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at] == Token::Open {
            let next = after_space(&tokens, at + 1);
            if tokens.get(next) == Some(&Token::Close) {
                at = next + 1;
                continue;
            }
        }
        out.push(tokens[at]);
        at += 1;
    }
    out
}

/// A paragraph of plain text that runs into the end of its container ends before it.
fn close_before_container(tokens: Tokens) -> Tokens {
    let mut out = Vec::with_capacity(tokens.len());
    // Whether a paragraph is open that holds nothing but text, and at least some.
    let (mut open, mut filled) = (false, false);
    for token in tokens {
        match token {
            Token::Open => (open, filled) = (true, false),
            Token::Text(_) | Token::Blank(_) | Token::Line => filled = true,
            Token::Tag(tag) => {
                if open && filled && matches!(tag.raw, "</div>" | "</address>" | "</form>") {
                    out.push(Token::Close);
                }
                open = false;
            }
            _ => open = false,
        }
        out.push(token);
    }
    out
}

/// A paragraph around nothing but one block tag is removed.
fn unwrap_lone_blocks(tokens: Tokens) -> Tokens {
    let mut out = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at] == Token::Open {
            let block = after_space(&tokens, at + 1);
            // A `pre` is an opening and a closing tag.
            let alone = tokens.get(block).is_some_and(|t| t.is_block() && !matches!(t, Token::Pre(_)));
            let end = after_space(&tokens, (block + 1).min(tokens.len()));
            if alone && tokens.get(end) == Some(&Token::Close) {
                out.push(tokens[block]);
                at = end + 1;
                continue;
            }
        }
        out.push(tokens[at]);
        at += 1;
    }
    out
}

/// A paragraph that starts with a list item and ends on the same line is removed.
fn unwrap_list_items(tokens: Tokens) -> Tokens {
    let mut out = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        if let [Token::Open, Token::Tag(tag), rest @ ..] = &tokens[at..] {
            let end =
                if tag.opens("li") { rest.iter().position(|t| matches!(t, Token::Close | Token::Line)) } else { None };
            if let Some(end) = end.filter(|end| rest[*end] == Token::Close) {
                out.extend(&tokens[at + 1..at + 2 + end]);
                at += end + 3;
                continue;
            }
        }
        out.push(tokens[at]);
        at += 1;
    }
    out
}

/// Paragraph marks around a quotation move inside.
fn enter_blockquotes(tokens: Tokens) -> Tokens {
    let mut out = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at..] {
            [Token::Open, Token::Tag(tag), ..] if tag.opens("blockquote") => {
                out.extend([Token::Tag(*tag), Token::Open]);
                at += 2;
            }
            [Token::Tag(tag), Token::Close, ..] if tag.raw == "</blockquote>" => {
                out.extend([Token::Close, Token::Tag(*tag)]);
                at += 2;
            }
            _ => {
                out.push(tokens[at]);
                at += 1;
            }
        }
    }
    out
}

fn drop_before_block(tokens: Tokens, dropped: fn(&Token) -> bool) -> Tokens {
    let mut out = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        if dropped(&tokens[at]) {
            let block = after_space(&tokens, at + 1);
            if tokens.get(block).is_some_and(Token::is_block) {
                out.push(tokens[block]);
                at = block + 1;
                continue;
            }
        }
        out.push(tokens[at]);
        at += 1;
    }
    out
}

fn drop_after_block(tokens: Tokens, dropped: fn(&Token) -> bool) -> Tokens {
    let mut out = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        out.push(tokens[at]);
        let next = after_space(&tokens, at + 1);
        let matched = tokens[at].is_block() && tokens.get(next).is_some_and(dropped);
        at = if matched { next + 1 } else { at + 1 };
    }
    out
}

/// Line ends inside scripts, styles, drawings and formulas are part of them.
fn protect_code(mut tokens: Tokens) -> Tokens {
    let mut hopeless = [false; 4];
    let mut at = 0;
    while at < tokens.len() {
        let found = match &tokens[at] {
            Token::Tag(tag) => ["script", "style", "svg", "math"].iter().position(|name| tag.opens(name)),
            _ => None,
        };
        at += 1;
        let Some(n) = found.filter(|n| !hopeless[*n]) else { continue };
        let close = ["</script>", "</style>", "</svg>", "</math>"][n];
        match tokens[at..].iter().position(|t| matches!(t, Token::Tag(tag) if tag.raw == close)) {
            Some(length) => {
                for token in tokens[at..at + length].iter_mut().filter(|t| **t == Token::Line) {
                    *token = Token::HardLine;
                }
                at += length;
            }
            None => hopeless[n] = true,
        }
    }
    tokens
}

/// Line ends become breaks, unless a break is right before them.
fn break_lines(tokens: Tokens) -> Tokens {
    let mut out: Tokens = Vec::with_capacity(tokens.len() * 2);
    let mut at = 0;
    while at < tokens.len() {
        if !tokens[at].is_space() {
            out.push(match tokens[at] {
                Token::HardLine => Token::Line,
                other => other,
            });
            at += 1;
            continue;
        }
        let end = after_space(&tokens, at);
        let mut spared = "";
        if at > 0 && tokens[at - 1] == Token::Break {
            // The one character that touches the break makes no second one.
            match tokens[at] {
                Token::Blank(blank) => {
                    out.push(Token::Blank(&blank[..1]));
                    spared = &blank[1..];
                }
                line => out.push(line),
            }
            at += 1;
        }
        match tokens[at..end].iter().rposition(|t| *t == Token::Line) {
            Some(last) => {
                out.extend([Token::Break, Token::Line]);
                out.extend(&tokens[at + last + 1..end]);
            }
            None => {
                out.push(Token::Blank(spared));
                out.extend(&tokens[at..end]);
            }
        }
        at = end;
    }
    out
}

fn drop_break_before_tight(tokens: Tokens) -> Tokens {
    let spared = |at: usize| tokens.get(after_space(&tokens, at + 1)).is_some_and(Token::is_tight);
    let kept = |at: &usize| tokens[*at] != Token::Break || !spared(*at);
    (0..tokens.len()).filter(kept).map(|at| tokens[at]).collect()
}

/// `</p>` at the very end closes on the line of its text.
fn without_last_line_end(mut tokens: Tokens) -> Tokens {
    let end = tokens.len() - usize::from(tokens.last() == Some(&Token::Line));
    if let [.., Token::Line, Token::Close] = &tokens[..end] {
        tokens.remove(end - 2);
    }
    tokens
}

fn write(tokens: &[Token], length: usize) -> String {
    let mut out = String::with_capacity(length + length / 8);
    for token in tokens {
        out.push_str(match token {
            Token::Text(text) | Token::Blank(text) | Token::Pre(text) | Token::Kept(text) => text,
            Token::Line | Token::HardLine => "\n",
            Token::Open => "<p>",
            Token::Close => "</p>",
            Token::Break => "<br />",
            Token::Tag(tag) => tag.raw,
        });
    }
    out
}

/// Removes the paragraph around a shortcode that is alone in it; `end` returns where the shortcode that starts at a
/// position ends, if there is one that we know.
pub(super) fn shortcode_unautop(text: &str, end: impl Fn(usize) -> Option<usize>) -> Cow<'_, str> {
    if !text.contains('[') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let (mut kept, mut from) = (0, 0);
    let after_space = |at: usize| text.len() - text[at..].trim_start_matches(is_space).len();
    while let Some(open) = text[from..].find("<p>").map(|n| from + n) {
        from = open + 3;
        let start = after_space(from);
        let code_end = if text[start..].starts_with('[') { end(start) } else { None };
        let Some(code_end) = code_end else { continue };
        let close = after_space(code_end);
        if text[close..].starts_with("</p>") {
            out.push_str(&text[kept..open]);
            out.push_str(&text[start..code_end]);
            kept = close + 4;
            from = kept;
        }
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_becomes_paragraphs() {
        fn check(text: &str, expected: &str) {
            assert_eq!(autop(text), expected, "{text}");
        }
        check("", "");
        check(" \n\t", "");
        check("one\n\ntwo", "<p>one</p>\n<p>two</p>\n");
        check("one\r\ntwo", "<p>one<br />\ntwo</p>\n");
        check("x <div>in</div> y", "<p>x </p>\n<div>in</div>\n<p> y</p>\n");
        check("<div>\na\n\nb\n</div>", "<div>\na</p>\n<p>b\n</p></div>\n");
        check("<blockquote>q</blockquote>", "<blockquote><p>q</p></blockquote>\n");
        check("<ul><li>x</li></ul>", "<ul>\n<li>x</li>\n</ul>\n");
        check("x\n<pre>a\n\nb</pre>\ny", "<p>x</p>\n<pre>a\n\nb</pre>\n<p>y</p>\n");
        check("a < b", "<p>a < b\n</p>\n");
        check("a<br><br>b", "<p>a</p>\n<p>b</p>\n");
    }

    #[test]
    fn shortcodes_lose_their_paragraph() {
        fn check(text: &str, expected: &str) {
            let known = |at: usize| text[at..].starts_with("[x]").then_some(at + 3);
            assert_eq!(shortcode_unautop(text, known), expected, "{text}");
        }
        check("<p>[x]</p>\n<p>a [x]</p>", "[x]\n<p>a [x]</p>");
        check("<p> [x]\n</p>", "[x]");
        check("<p>[y]</p>", "<p>[y]</p>");
    }
}
