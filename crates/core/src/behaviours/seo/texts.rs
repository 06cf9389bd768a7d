//! Texts for search engines: plain, on one line, of bounded length, made by templates.

use crate::registry::templates::{Template, TemplatePiece, TemplateReference};
use cms_text::sanitize::decode_text;
use cms_text::strip::strip_all_tags;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The mark of a text that was cut.
const CUT: char = '…';

/// Signs that stand between the parts of a title; beside a part that is empty they are left out.
const BETWEEN: [char; 12] = ['-', '–', '—', '|', '·', '•', '»', '/', ':', ',', '~', '*'];

/// The text of markup.
pub fn plain(html: &str) -> String {
    one_line(&decode_text(&strip_all_tags(html)))
}

/// A text on one line, without signs that turn the direction of what follows it.
fn one_line(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let unwritten = |c: char| turns(c) || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    let kept: String = text.chars().filter(|c| !unwritten(*c)).map(|c| if c.is_control() { ' ' } else { c }).collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text of at most so many characters, cut between words where that is possible.
pub fn cut(text: &str, most: u32) -> Cow<'_, str> {
    let most = most as usize;
    let Some((end, _)) = text.char_indices().nth(most) else { return Cow::Borrowed(text) };
    let end = text[..end].char_indices().next_back().map_or(0, |(at, _)| at);
    let kept = &text[..end];
    let kept = match kept.rfind(' ') {
        Some(at) if at > end / 2 && !text[end..].starts_with(' ') => &kept[..at],
        _ => kept,
    };
    // A sign that joins two others joins nothing now.
    Cow::Owned(format!("{}{CUT}", kept.trim_end_matches(|c: char| c.is_whitespace() || c == '\u{200d}')))
}

/// The text of the first template that gives one.
pub fn first(templates: &[Template], known: &Map<String, Value>, most: u32) -> String {
    let texts = templates.iter().map(|template| filled(template, known));
    texts.into_iter().find(|text| !text.is_empty()).map_or_else(String::new, |text| cut(&text, most).into_owned())
}

/// A template with its values.
fn filled(template: &Template, known: &Map<String, Value>) -> String {
    let text = match template {
        Template::Fixed(value) => shown(value),
        Template::Value(reference) => value_of(reference, known),
        Template::Text(pieces) => joined(pieces, known),
        Template::List(_) | Template::Object(_) => String::new(),
    };
    one_line(&text)
}

/// The pieces of a template. Signs between two parts are written where both have text.
fn joined(pieces: &[TemplatePiece], known: &Map<String, Value>) -> String {
    let (mut out, mut between) = (String::new(), String::new());
    for piece in pieces {
        let text = match piece {
            TemplatePiece::Literal(text) => text.clone(),
            TemplatePiece::Value(reference) => value_of(reference, known),
        };
        let signs = text.chars().all(|c| c.is_whitespace() || BETWEEN.contains(&c));
        if !signs {
            if out.is_empty() {
                between.clear();
            }
            out.push_str(&std::mem::take(&mut between));
            out.push_str(&text);
        } else if between.trim().is_empty() {
            between.push_str(&text);
        } else if text.trim().is_empty() {
            between.push(' ');
        }
    }
    out
}

fn value_of(reference: &TemplateReference, known: &Map<String, Value>) -> String {
    reference.value(known).map_or_else(String::new, shown)
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(list) => list.iter().map(shown).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", "),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn markup_becomes_one_line_of_text() {
        for (html, expected) in [
            ("A <b>bold</b>\n\tword", "A bold word"),
            ("Fish &amp; chips &#8211; 1 &lt; 2", "Fish & chips – 1 < 2"),
            ("A&nbsp;day [&hellip;] &amp;hellip;", "A day […] &hellip;"),
            ("a\u{202e}b\u{2067}c\u{200f}", "abc\u{200f}"),
            ("\u{0}a\u{7}", "a"),
            ("👩‍👩‍👧 x", "👩‍👩‍👧 x"),
            ("<script>alert(1)</script>x", "x"),
        ] {
            assert_eq!(plain(html), expected, "{html:?}");
        }
    }

    #[test]
    fn long_texts_are_cut_between_words() {
        for (text, most, expected) in [
            ("one two", 7, "one two"),
            ("one two three", 9, "one two…"),
            ("one two three", 8, "one two…"),
            ("aaaaaaaaaaaa", 5, "aaaa…"),
            ("éééé éééé", 6, "éééé…"),
        ] {
            assert_eq!(cut(text, most), expected, "{text} {most}");
        }
        let long = "ж ".repeat(40_000);
        assert!(cut(&long, 300).chars().count() <= 300);
    }

    #[test]
    fn signs_between_parts_need_both() {
        let known = json!({"title": "A", "empty": "", "site": {"title": "S"}, "separator": "–", "list": ["x", "y"], "braces": "{title}"});
        let known = known.as_object().expect("an object");
        for (template, expected) in [
            ("{title} {separator} {site.title}", "A – S"),
            ("{empty} {separator} {site.title}", "S"),
            ("{title} {empty} {separator} {site.title}", "A – S"),
            ("{title} {separator} {empty}", "A"),
            ("{title} | {empty} | {site.title}", "A | S"),
            ("{title}: {list}", "A: x, y"),
            ("{list.1}", "y"),
            ("{list.9}", ""),
            ("{braces}", "{title}"),
            ("Hello {title}!", "Hello A!"),
            ("", ""),
        ] {
            assert_eq!(filled(&Template::parse(&json!(template)), known), expected, "{template}");
        }
        let templates = ["{empty}", "{title}", "{site.title}"].map(|text| Template::parse(&json!(text)));
        assert_eq!(first(&templates, known, 10), "A");
    }
}
