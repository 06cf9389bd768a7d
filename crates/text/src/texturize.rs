//! Typographic marks: curly quotes, apostrophes, primes, dashes, ellipses, the multiplication sign, as numeric
//! entities.
//!
//! Owns which typewriter character becomes which mark. Tags, comments, shortcodes and the insides of code-like elements
//! are left alone, except that a lone ampersand in a tag is escaped. Each stretch of text is handled by itself, as the
//! reference does: a quote after `</em>` counts as one at the start.

use super::markup::{Piece, pieces, tag_name};
use super::shortcode;
use std::borrow::Cow;

const APOSTROPHE: &str = "&#8217;";
const OPEN_SINGLE: &str = "&#8216;";
const CLOSE_SINGLE: &str = "&#8217;";
const OPEN_DOUBLE: &str = "&#8220;";
const CLOSE_DOUBLE: &str = "&#8221;";
const PRIME: &str = "&#8242;";
const DOUBLE_PRIME: &str = "&#8243;";
const EN_DASH: &str = "&#8211;";
const EM_DASH: &str = "&#8212;";

/// Placeholders for decided quotes until their phase ends; characters that no text may contain.
const HELD_APOSTROPHE: char = '\u{fdd0}';
const HELD_OPEN: char = '\u{fdd1}';

/// Words that lost their beginning.
const SHORTENED: [&str; 11] =
    ["'tain't", "'twere", "'twas", "'tis", "'twill", "'til", "'bout", "'nuff", "'round", "'cause", "'em"];
const UNTOUCHED: [&str; 6] = ["pre", "code", "kbd", "style", "script", "tt"];

/// The text with typographic marks.
pub fn texturize(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|b| matches!(b, b'\'' | b'"' | b'-' | b'.' | b'`' | b'&' | b'(' | b'x')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut untouched: Vec<&str> = Vec::new();
    for piece in pieces(text) {
        match piece {
            Piece::Markup(markup) if markup.starts_with("<!--") => out.push_str(markup),
            Piece::Markup(markup) => {
                out.push_str(&escape_ampersands(markup));
                follow(markup, &mut untouched);
            }
            Piece::Text(text) if !untouched.is_empty() => out.push_str(text),
            Piece::Text(text) => {
                for stretch in shortcode::split_at_shortcodes(text) {
                    match stretch {
                        Ok(text) => out.push_str(&stretch_of_text(text)),
                        Err(shortcode) => out.push_str(shortcode),
                    }
                }
            }
        }
    }
    Cow::Owned(out)
}

/// Escapes ampersands that start no entity.
pub fn escape_ampersands(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(if starts_entity(part) { "&" } else { "&#038;" });
        out.push_str(part);
    }
    Cow::Owned(out)
}

fn starts_entity(after_ampersand: &str) -> bool {
    let Some((name, _)) = after_ampersand.split_once(';') else { return false };
    match name.strip_prefix('#') {
        Some(hex) if hex.starts_with(['x', 'X']) => hex.len() > 1 && hex[1..].bytes().all(|b| b.is_ascii_hexdigit()),
        Some(number) => !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()),
        None => {
            (1..=8).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'1'..=b'4'))
        }
    }
}

fn follow<'a>(markup: &'a str, untouched: &mut Vec<&'a str>) {
    let (name, closes) = tag_name(markup);
    if !UNTOUCHED.contains(&name) {
        return;
    }
    match closes {
        true if untouched.last() == Some(&name) => {
            untouched.pop();
        }
        true => {}
        false => untouched.push(name),
    }
}

fn stretch_of_text(text: &str) -> Cow<'_, str> {
    // Placeholders must not come from the input.
    if text.contains(HELD_APOSTROPHE) || text.contains(HELD_OPEN) {
        return Cow::Borrowed(text);
    }
    let mut text = fixed_marks(text);
    if text.contains('\'') {
        text = Cow::Owned(single_quotes(&text));
    }
    if text.contains('"') {
        text = Cow::Owned(double_quotes(&text));
    }
    if text.contains('-') {
        text = Cow::Owned(dashes(&text));
    }
    if text.contains('x') {
        text = Cow::Owned(multiplications(&text));
    }
    match escape_ampersands(&text) {
        Cow::Owned(escaped) => Cow::Owned(escaped),
        Cow::Borrowed(_) => text,
    }
}

/// Marks that do not depend on their surroundings.
fn fixed_marks(text: &str) -> Cow<'_, str> {
    if !text.contains("...") && !text.contains("``") && !text.contains('\'') && !text.contains(" (tm)") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    let shortened = |text: &str| {
        let known = || SHORTENED.iter().find(|word| text.starts_with(**word));
        text.starts_with('\'').then(known).flatten().copied()
    };
    while let Some(at) = rest.bytes().position(|b| matches!(b, b'.' | b'`' | b'\'' | b' ')) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = match rest.as_bytes()[0] {
            b'\'' if rest.starts_with("''") => Some((CLOSE_DOUBLE, 2)),
            b'.' if rest.starts_with("...") => Some(("&#8230;", 3)),
            b'`' if rest.starts_with("``") => Some((OPEN_DOUBLE, 2)),
            b' ' if rest.starts_with(" (tm)") => Some((" &#8482;", 5)),
            _ => None,
        };
        let length = if let Some((mark, length)) = known {
            out.push_str(mark);
            length
        } else if let Some(word) = shortened(rest) {
            out.push_str(&word.replace('\'', APOSTROPHE));
            word.len()
        } else {
            out.push_str(&rest[..1]);
            1
        };
        rest = &rest[length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn single_quotes(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    let (mut kept, mut at) = (0, 0);
    while let Some(found) = text[at..].find('\'') {
        let quote = at + found;
        let (before, after) = (&text[..quote], &text[quote + 1..]);
        out.push_str(&text[kept..quote]);
        at = quote + 1;
        let digits = number_length(after);
        let two_digits = after.len() >= 2 && after.as_bytes()[..2].iter().all(u8::is_ascii_digit);
        let closed_year = |mark: char| two_digits && after[2..].starts_with(mark) && closes(&after[3..]);
        if closed_year('\'') {
            out.extend([HELD_APOSTROPHE]);
            out.push_str(&after[..2]);
            out.push_str(CLOSE_SINGLE);
            at += 3;
        } else if closed_year('"') {
            out.extend([HELD_APOSTROPHE]);
            out.push_str(&after[..2]);
            out.push_str(CLOSE_DOUBLE);
            at += 3;
        } else if is_year(after) {
            out.push(HELD_APOSTROPHE);
        } else if starts_or_spaces(before)
            && digits > 0
            && after[digits..].starts_with('\'')
            && !is_year(&after[digits + 1..])
        {
            out.push(HELD_OPEN);
            out.push_str(&after[..digits]);
            out.push_str(CLOSE_SINGLE);
            at += digits + 1;
        } else if starts_or_spaces(before) || before.ends_with(['(', '[', '{', '"', '-']) || before.ends_with("&lt;") {
            out.push(HELD_OPEN);
        } else if !stops_apostrophe(after) {
            out.push(HELD_APOSTROPHE);
        } else {
            out.push('\'');
        }
        kept = at;
    }
    out.push_str(&text[kept..]);
    let marks = QuoteMarks { quote: '\'', prime: PRIME, close: CLOSE_SINGLE };
    marks.decide(&out).replace(HELD_APOSTROPHE, APOSTROPHE).replace(HELD_OPEN, OPEN_SINGLE)
}

fn double_quotes(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    let (mut kept, mut at) = (0, 0);
    while let Some(found) = text[at..].find('"') {
        let quote = at + found;
        let (before, after) = (&text[..quote], &text[quote + 1..]);
        out.push_str(&text[kept..quote]);
        at = quote + 1;
        let digits = number_length(after);
        if starts_or_spaces(before) && digits > 0 && after[digits..].starts_with('"') {
            out.push(HELD_OPEN);
            out.push_str(&after[..digits]);
            out.push_str(CLOSE_DOUBLE);
            at += digits + 1;
        } else if (starts_or_spaces(before) || before.ends_with(['(', '[', '{', '-']) || before.ends_with("&lt;"))
            && !starts_with_space(after)
        {
            out.push(HELD_OPEN);
        } else {
            out.push('"');
        }
        kept = at;
    }
    out.push_str(&text[kept..]);
    let marks = QuoteMarks { quote: '"', prime: DOUBLE_PRIME, close: CLOSE_DOUBLE };
    marks.decide(&out).replace(HELD_OPEN, OPEN_DOUBLE)
}

/// The marks that an undecided quote can still become.
struct QuoteMarks {
    quote: char,
    prime: &'static str,
    close: &'static str,
}

impl QuoteMarks {
    /// Decides the quotes that open nothing: after a digit a prime, at the end of a word a closing quote. Where a quote
    /// was opened and not closed yet, one of the candidates must close it.
    fn decide(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 32);
        for (n, sentence) in text.split(HELD_OPEN).enumerate() {
            if n > 0 {
                out.push(HELD_OPEN);
            }
            if sentence.contains(self.quote) {
                self.decide_sentence(sentence, n > 0 && !sentence.contains(self.close), &mut out);
            } else {
                out.push_str(sentence);
            }
        }
        out
    }

    fn decide_sentence(&self, sentence: &str, must_close: bool, out: &mut String) {
        let after_digit = |at: usize| at > 0 && sentence.as_bytes()[at - 1].is_ascii_digit();
        let closing = if must_close { Some(self.choose_closing(sentence)) } else { None };
        let mut kept = 0;
        for (at, _) in sentence.match_indices(self.quote) {
            out.push_str(&sentence[kept..at]);
            kept = at + 1;
            let may_close = closes(&sentence[kept..]);
            let decided = match closing {
                Some(ClosingQuotes::All) if may_close => Some(self.close),
                Some(ClosingQuotes::NotAfterDigit) if may_close && !after_digit(at) => Some(self.close),
                Some(ClosingQuotes::One(one)) if one == at => Some(self.close),
                _ if after_digit(at) => Some(self.prime),
                None if may_close => Some(self.close),
                _ if self.quote == '"' => Some(self.close),
                _ => None,
            };
            match decided {
                Some(mark) => out.push_str(mark),
                None => out.push(self.quote),
            }
        }
        out.push_str(&sentence[kept..]);
    }

    fn choose_closing(&self, sentence: &str) -> ClosingQuotes {
        let candidates: Vec<usize> =
            sentence.match_indices(self.quote).map(|(at, _)| at).filter(|at| closes(&sentence[at + 1..])).collect();
        let after_digit = |at: &&usize| **at > 0 && sentence.as_bytes()[**at - 1].is_ascii_digit();
        match candidates.as_slice() {
            [] | [_] => ClosingQuotes::All,
            several if !several.iter().all(|at| after_digit(&at)) => ClosingQuotes::NotAfterDigit,
            several => {
                let before_stop = several.iter().rfind(|at| sentence[**at + 1..].starts_with('.'));
                ClosingQuotes::One(*before_stop.or(several.last()).unwrap_or(&0))
            }
        }
    }
}

/// Which candidates close an open quote.
#[derive(Clone, Copy)]
enum ClosingQuotes {
    All,
    NotAfterDigit,
    One(usize),
}

fn dashes(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut at = 0;
    while let Some(found) = text[at..].find('-') {
        let dash = at + found;
        out.push_str(&text[at..dash]);
        let (before, after) = (&text[..dash], &text[dash..]);
        let apart = |length: usize| starts_or_spaces(before) && ends_or_spaces(&after[length..]);
        let (mark, length) = if after.starts_with("---") {
            (EM_DASH, 3)
        } else if after.starts_with("--") {
            match () {
                () if apart(2) => (EM_DASH, 2),
                // Names of internationalised domains.
                () if before.ends_with("xn") => ("--", 2),
                () => (EN_DASH, 2),
            }
        } else {
            (if apart(1) { EN_DASH } else { "-" }, 1)
        };
        out.push_str(mark);
        at = dash + length;
    }
    out.push_str(&text[at..]);
    out
}

/// `3x4` becomes a product, `0x10` and `1x2x3` do not.
fn multiplications(text: &str) -> String {
    let bytes = text.as_bytes();
    let part_of_number = |b: &u8| b.is_ascii_digit() || matches!(b, b'.' | b',');
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    let between = |three: &[u8]| part_of_number(&three[0]) && three[1] == b'x' && three[2].is_ascii_digit();
    for at in bytes.windows(3).enumerate().filter(|(_, three)| between(three)).map(|(before, _)| before + 1) {
        if at < kept {
            continue;
        }
        let from = bytes[kept..at].iter().rposition(|b| !part_of_number(b)).map_or(kept, |n| kept + n + 1);
        let left = (from..at).any(|n| {
            let starts = bytes[n].is_ascii_digit() && (n == 0 || !word(bytes[n - 1]));
            starts && !(bytes[n] == b'0' && n + 1 == at)
        });
        let to = bytes[at + 1..].iter().position(|b| !part_of_number(b)).map_or(bytes.len(), |n| at + 1 + n);
        let right = bytes[at + 1..to].iter().any(|b| !b.is_ascii_digit()) || !bytes.get(to).is_some_and(|b| word(*b));
        if left && right {
            out.push_str(&text[kept..at]);
            out.push_str("&#215;");
            kept = at + 1;
        }
    }
    out.push_str(&text[kept..]);
    out
}

/// Length of `1,000.5` at the start of a text.
fn number_length(text: &str) -> usize {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return 0;
    }
    text.bytes().position(|b| !b.is_ascii_digit() && b != b'.' && b != b',').unwrap_or(text.len())
}

/// Two digits that are neither part of a longer number nor a percentage: `99`, `80s`.
fn is_year(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |n: usize| bytes.get(n).is_some_and(u8::is_ascii_digit);
    let longer = digit(2) || bytes.get(2) == Some(&b'%') || (matches!(bytes.get(2), Some(b'.' | b',')) && digit(3));
    digit(0) && digit(1) && !longer
}

fn starts_or_spaces(before: &str) -> bool {
    before.is_empty() || before.ends_with([' ', '\n', '\t', '\r', '\u{a0}']) || before.ends_with("&nbsp;")
}

fn starts_with_space(after: &str) -> bool {
    after.starts_with([' ', '\n', '\t', '\r', '\u{a0}']) || after.starts_with("&nbsp;")
}

fn ends_or_spaces(after: &str) -> bool {
    after.is_empty() || starts_with_space(after)
}

/// Whether what follows lets a quote close something.
fn closes(after: &str) -> bool {
    ends_or_spaces(after)
        || after.starts_with(['.', ',', ':', ';', '!', '?', ')', '}', '-', ']'])
        || after.starts_with("&gt;")
}

fn stops_apostrophe(after: &str) -> bool {
    ends_or_spaces(after)
        || after.starts_with(['.', ',', ':', ';', '!', '?', '"', '\'', '(', ')', '{', '}', '[', ']', '-'])
        || after.starts_with("&lt;")
        || after.starts_with("&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_set() {
        fn check(text: &str, expected: &str) {
            assert_eq!(texturize(text), expected, "{text}");
        }
        check("plain words", "plain words");
        check("\"quoted\" 'single' it's", "&#8220;quoted&#8221; &#8216;single&#8217; it&#8217;s");
        check("6' 2\" tall", "6&#8242; 2&#8243; tall");
        check("the '90s 'tis", "the &#8217;90s &#8217;tis");
        check("a -- b a--b a---b a - b", "a &#8212; b a&#8211;b a&#8212;b a &#8211; b");
        check("8x10 0x10 1x2x3", "8&#215;10 0x10 1x2x3");
        check("...", "&#8230;");
        check("<code>\"x\"</code> & <!-- & -->", "<code>\"x\"</code> &#038; <!-- & -->");
        check("<a href=\"?a&b\">x</a>", "<a href=\"?a&#038;b\">x</a>");
        check("'\u{fdd0}'", "'\u{fdd0}'");
    }

    #[test]
    fn ampersands_know_entities() {
        fn check(text: &str, expected: &str) {
            assert_eq!(escape_ampersands(text), expected);
        }
        check(
            "a & b &amp; &#38; &#x26; &; &#; &bogus9;",
            "a &#038; b &amp; &#38; &#x26; &#038;; &#038;#; &#038;bogus9;",
        );
    }
}
