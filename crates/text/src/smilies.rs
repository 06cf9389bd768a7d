//! Text smilies as emoji.
//!
//! Owns the table and where a smiley counts as one: between white space, outside code. Whether to convert at all is a
//! setting of the site (`use_smilies`), which the caller knows.

use super::markup::{Piece, pieces, tag_name};
use std::borrow::Cow;

/// Longer ones first where one starts like another. `:mrgreen:` is a picture in the reference; it stays text here.
const SMILIES: &[(&str, &str)] = &[
    (":neutral:", "😐"),
    (":twisted:", "😈"),
    (":arrow:", "➡"),
    (":shock:", "😯"),
    (":smile:", "🙂"),
    (":razz:", "😛"),
    (":cool:", "😎"),
    (":evil:", "👿"),
    (":grin:", "😀"),
    (":idea:", "💡"),
    (":oops:", "😳"),
    (":roll:", "🙄"),
    (":wink:", "😉"),
    (":cry:", "😥"),
    (":eek:", "😮"),
    (":lol:", "😆"),
    (":mad:", "😡"),
    (":sad:", "🙁"),
    (":???:", "😕"),
    ("8-)", "😎"),
    ("8-O", "😯"),
    (":-(", "🙁"),
    (":-)", "🙂"),
    (":-?", "😕"),
    (":-D", "😀"),
    (":-P", "😛"),
    (":-o", "😮"),
    (":-x", "😡"),
    (":-|", "😐"),
    (";-)", "😉"),
    (":!:", "❗"),
    (":?:", "❓"),
    ("8O", "😯"),
    (":(", "🙁"),
    (":)", "🙂"),
    (":?", "😕"),
    (":D", "😀"),
    (":P", "😛"),
    (":o", "😮"),
    (":x", "😡"),
    (":|", "😐"),
    (";)", "😉"),
];
const UNTOUCHED: [&str; 5] = ["code", "pre", "style", "script", "textarea"];

/// The text with its smilies as emoji.
pub fn convert_smilies(text: &str) -> Cow<'_, str> {
    if first(text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut untouched: Option<&str> = None;
    for piece in pieces(text) {
        match piece {
            Piece::Markup(markup) => {
                let (name, closes) = tag_name(markup);
                match untouched {
                    Some(open) if closes && open == name => untouched = None,
                    None if !closes && UNTOUCHED.contains(&name) => untouched = Some(name),
                    _ => {}
                }
                out.push_str(markup);
            }
            Piece::Text(text) if untouched.is_some() => out.push_str(text),
            Piece::Text(text) => convert_text(text, &mut out),
        }
    }
    Cow::Owned(out)
}

fn convert_text(text: &str, out: &mut String) {
    let (mut kept, mut from) = (0, 0);
    while let Some(at) = first(&text[from..]).map(|n| from + n) {
        from = at + 1;
        let before = &text[..at];
        let apart = before.is_empty() || before.ends_with(is_gap) || before.ends_with("&nbsp;");
        if apart && let Some((length, emoji)) = smiley_at(&text[at..]) {
            out.push_str(&text[kept..at]);
            out.push_str(emoji);
            kept = at + length;
            from = kept;
        }
    }
    out.push_str(&text[kept..]);
}

/// Where the first character is that a smiley may begin with.
fn first(text: &str) -> Option<usize> {
    memchr::memchr3(b':', b';', b'8', text.as_bytes())
}

fn smiley_at(text: &str) -> Option<(usize, &'static str)> {
    if !text.starts_with([':', ';', '8']) {
        return None;
    }
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(is_gap) || rest.starts_with("&nbsp;");
    let found = SMILIES.iter().find(|(smiley, _)| text.strip_prefix(smiley).is_some_and(ends));
    found.map(|(smiley, emoji)| (smiley.len(), *emoji))
}

fn is_gap(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{a0}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smilies_between_gaps_are_converted() {
        fn check(text: &str, expected: &str) {
            assert_eq!(convert_smilies(text), expected, "{text}");
        }
        check(":) x:) :)x (:) :)", "🙂 x:) :)x (:) 🙂");
        check("<b>:)</b> <code>:)</code>", "<b>🙂</b> <code>:)</code>");
        check(":?: :? ;-) 8O 8) :O", "❓ 😕 😉 😯 8) :O");
        check(":) :)", "🙂 🙂");
        check(":):)", ":):)");
        check("a&nbsp;:)", "a&nbsp;🙂");
        check("plain", "plain");
    }
}
