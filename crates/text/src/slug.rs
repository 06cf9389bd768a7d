//! Slugs, logins and folded keys.
//!
//! Owns how a name becomes an address and how names compare. It must not know which slugs are taken: uniqueness is a
//! constraint of the storage, this only makes the candidates.

use super::strip::{strip_entities, strip_tags};
use std::borrow::Cow;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Longest slug in bytes.
pub const MAX_SLUG: usize = 200;
/// Longest login in bytes.
pub const MAX_LOGIN: usize = 60;
/// Longest nicename in bytes.
pub const MAX_NICENAME: usize = 50;

/// The slug of a title, or the normal form of a slug that a user typed: lower case, ASCII with marks removed,
/// other scripts percent-encoded, hyphens for spaces, dots and slashes, at most [`MAX_SLUG`] bytes.
pub fn sanitize_title(title: &str) -> String {
    let plain = strip_tags(title);
    let plain = remove_accents(&plain);
    let mut encoded = encode(&keep_escapes(&plain));
    // The reference cuts before it drops punctuation, and again at the end.
    encoded.truncate(cut_before(&encoded, MAX_SLUG));
    let encoded = strip_entities(&encoded);
    let mut slug = hyphenate(&encoded);
    slug.truncate(cut_before(&slug, MAX_SLUG));
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

/// The slug of a text without markup: `<` begins no tag.
pub fn of_plain_text(text: &str) -> String {
    sanitize_title(&text.replace('<', ""))
}

/// The slug with an end, shortened so that the whole fits [`MAX_SLUG`] and no escape is cut.
pub fn with_end(base: &str, end: &str) -> String {
    format!("{}{end}", &base[..cut_before(base, MAX_SLUG.saturating_sub(end.len()))])
}

/// Latin letters with marks become ASCII letters; everything else stays.
pub fn remove_accents(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.nfc() {
        match replacement(c) {
            Some(ascii) => out.push_str(ascii),
            None if has_plain_base(c) => push_base(c, &mut out),
            None => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// The characters of a text that can be part of a class name: ASCII letters and digits, `_`, `-`. Percent-encoded bytes
/// are left out whole.
pub fn html_class(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let escape = c == '%' && rest.as_bytes().get(1..3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit));
        out.extend(Some(c).filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
        rest = &rest[if escape { 3 } else { c.len_utf8() }..];
    }
    out
}

/// Most bytes of a [`title_key`]: indexes of databases hold no longer ones, and titles that differ later sort as equal.
const MAX_TITLE_KEY: usize = 2000;

/// The key by which names sort and compare: case and marks removed (DATA-MODEL 7).
pub fn title_key(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(MAX_TITLE_KEY));
    for c in text.nfd().filter(|c| !is_combining_mark(*c)) {
        match folded(c) {
            Some(ascii) => out.push_str(ascii),
            None => out.extend(c.to_lowercase().filter(|c| !is_combining_mark(*c))),
        }
        if out.len() > MAX_TITLE_KEY {
            while out.len() > MAX_TITLE_KEY {
                out.pop();
            }
            break;
        }
    }
    out
}

/// A text as a login: markup, escapes, entities and marks removed, then only ASCII letters, digits, blanks and `_.-@`,
/// with single blanks.
pub fn sanitize_user_login(login: &str) -> String {
    let plain = strip_tags(login);
    let plain = without_escapes(&remove_accents(&plain));
    let plain = strip_entities(&plain);
    let allowed = |c: &char| c.is_ascii_alphanumeric() || " _.-@".contains(*c);
    let kept: String = plain.chars().filter(allowed).collect();
    kept.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Whether a login is in normal form and of a storable length.
pub fn valid_login(login: &str) -> bool {
    login.len() <= MAX_LOGIN && normal_login(login)
}

/// Whether a login is in normal form, of whatever length.
pub fn normal_login(login: &str) -> bool {
    !login.is_empty() && sanitize_user_login(login) == login
}

/// The slug of a user, from the login or what is wished for: letters that have no ASCII fall out.
pub fn user_slug(wanted: &str) -> String {
    let ascii =
        |piece: (usize, &str)| if piece.0 == 0 { piece.1.to_owned() } else { piece.1.chars().skip(2).collect() };
    let mut slug = sanitize_title(&sanitize_title(wanted).split('%').enumerate().map(ascii).collect::<String>());
    slug.truncate(cut_before(&slug, MAX_NICENAME));
    slug
}

/// The largest cut at or before `limit` that is before a whole character, escaped or not.
fn cut_before(slug: &str, limit: usize) -> usize {
    if slug.len() <= limit {
        return slug.len();
    }
    let (mut at, mut cut) = (0, 0);
    while at <= limit {
        cut = at;
        let Some(first) = slug[at..].chars().next() else { break };
        at += escaped_char(&slug[at..]).map_or(first.len_utf8(), |(_, length)| length);
    }
    cut
}

/// Per cent signs stay only where two hex digits follow.
fn keep_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split('%');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if is_escape(part.as_bytes()) {
            out.push('%');
        }
        out.push_str(part);
    }
    Cow::Owned(out)
}

fn is_escape(after_percent: &[u8]) -> bool {
    after_percent.len() >= 2 && after_percent[..2].iter().all(u8::is_ascii_hexdigit)
}

fn without_escapes(text: &str) -> String {
    let mut parts = text.split('%');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match is_escape(part.as_bytes()) {
            true => out.push_str(&part[2..]),
            false => {
                out.push('%');
                out.push_str(part);
            }
        }
    }
    out
}

/// Lower case, with everything beyond ASCII as escapes.
fn encode(text: &str) -> String {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(text.len());
    // One to one, so that a final sigma stays what it is.
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_ascii() {
            out.push(c);
            continue;
        }
        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    out
}

/// Spaces, dots, slashes and dashes become single hyphens, punctuation is removed, no hyphen is left at either end.
fn hyphenate(encoded: &str) -> String {
    let mut out = String::with_capacity(encoded.len());
    let hyphen = |out: &mut String| {
        if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    };
    let mut rest = encoded;
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        match first {
            'a'..='z' | '0'..='9' | '_' => out.push(first),
            ' ' | '.' | '/' | '-' => hyphen(&mut out),
            '%' => {
                if let Some((c, escape)) = escaped_char(rest) {
                    length = escape;
                    match c {
                        Some(c) if is_blank_or_dash(c) => hyphen(&mut out),
                        Some('\u{d7}') => out.push('x'),
                        Some(c) if is_dropped(c) => {}
                        _ => out.push_str(&rest[..escape]),
                    }
                }
            }
            _ => {}
        }
        rest = &rest[length..];
    }
    out.truncate(out.trim_end_matches('-').len());
    out
}

/// The character that the escapes at the start spell, and their length; a byte that starts no character is alone.
fn escaped_char(text: &str) -> Option<(Option<char>, usize)> {
    let byte = |n: usize| {
        let escape = text.as_bytes().get(n * 3..n * 3 + 3)?;
        let hex = std::str::from_utf8(&escape[1..]).ok()?;
        if escape[0] == b'%' && is_escape(&escape[1..]) { u8::from_str_radix(hex, 16).ok() } else { None }
    };
    let first = byte(0)?;
    let length = match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Some((None, 3)),
    };
    let mut bytes = [first; 4];
    for (n, place) in bytes.iter_mut().enumerate().take(length).skip(1) {
        match byte(n) {
            Some(b) => *place = b,
            None => return Some((None, 3)),
        }
    }
    match std::str::from_utf8(&bytes[..length]).ok().and_then(|s| s.chars().next()) {
        Some(c) => Some((Some(c), length * 3)),
        None => Some((None, 3)),
    }
}

fn is_blank_or_dash(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{2013}' | '\u{2014}' | '\u{2028}' | '\u{2029}' | '\u{202f}')
}

/// Punctuation, marks and invisible characters beyond ASCII that leave no trace (observed).
fn is_dropped(c: char) -> bool {
    matches!(c, '\u{a1}' | '\u{a3}' | '\u{a9}' | '\u{ab}' | '\u{ad}' | '\u{ae}' | '\u{b0}' | '\u{b4}' | '\u{bb}' | '\u{bf}'
        | '\u{2ca}' | '\u{300}' | '\u{301}' | '\u{304}' | '\u{30c}' | '\u{341}' | '\u{200b}'..='\u{200f}'
        | '\u{2018}'..='\u{201f}' | '\u{2022}' | '\u{2026}' | '\u{202a}'..='\u{202e}' | '\u{2039}' | '\u{203a}'
        | '\u{2122}' | '\u{feff}')
}

/// Letters whose ASCII form is not simply the letter below their marks (observed on slugs).
fn replacement(c: char) -> Option<&'static str> {
    Some(match c {
        'ª' | 'ɑ' => "a",
        'º' => "o",
        'Ø' => "O",
        'ø' => "o",
        'Æ' => "AE",
        'æ' => "ae",
        'Ð' | 'Đ' => "D",
        'ð' | 'đ' => "d",
        'Þ' => "TH",
        'þ' => "th",
        'ß' | 'ſ' => "s",
        'Ħ' => "H",
        'ħ' => "h",
        'ı' => "i",
        'Ĳ' => "IJ",
        'ĳ' => "ij",
        'ĸ' => "k",
        'Ŀ' | 'Ł' => "L",
        'ŀ' | 'ł' => "l",
        'ŉ' | 'ŋ' => "n",
        'Ŋ' => "N",
        'Œ' => "OE",
        'œ' => "oe",
        'Ŧ' => "T",
        'ŧ' => "t",
        '€' => "E",
        '£' => "",
        _ => return None,
    })
}

/// The blocks in which the reference removes marks; it leaves the rest of Latin as it is.
fn has_plain_base(c: char) -> bool {
    matches!(c, '\u{c0}'..='\u{17f}' | '\u{1a0}' | '\u{1a1}' | '\u{1af}' | '\u{1b0}' | '\u{1cd}'..='\u{1dc}'
        | '\u{218}'..='\u{21b}' | '\u{1ea0}'..='\u{1ef9}')
}

fn push_base(c: char, out: &mut String) {
    let base = c.nfd().next().filter(char::is_ascii);
    out.push(base.unwrap_or(c));
}

/// Lower-case ASCII of letters that do not decompose, for keys.
fn folded(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' | 'ẞ' => "ss",
        'Ø' | 'ø' => "o",
        'Æ' | 'æ' => "ae",
        'Œ' | 'œ' => "oe",
        'Đ' | 'đ' | 'Ð' | 'ð' => "d",
        'Þ' | 'þ' => "th",
        'Ł' | 'ł' => "l",
        'Ħ' | 'ħ' => "h",
        'ı' => "i",
        'Ŧ' | 'ŧ' => "t",
        'ſ' => "s",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_slugs() {
        fn check(title: &str, slug: &str) {
            assert_eq!(sanitize_title(title), slug, "{title}");
        }
        check("Hello World", "hello-world");
        check("a.b,c/d_u--x", "a-bc-d_u-x");
        check("Mixed CASE & 12 Ünïcode", "mixed-case-12-unicode");
        check("   ", "");
        check("<b>Bold</b> 1", "bold-1");
        check("Salt & pepper", "salt-pepper");
        check("Čaj Élan", "caj-elan");
        check("Мир", "%d0%bc%d0%b8%d1%80");
        check("50%20 x 100% a%zz", "50%20-x-100-azz");
        check("ß Æsir €5 £5 x×y", "s-aesir-e5-5-xxy");
        check("½ a…b 2\u{2044}3", "%c2%bd-ab-2%e2%81%843");
        check("tab\tnl\nx", "tabnlx");
        check("..a..", "a");
        check("e%CC%81", "e");
        check("Tiếng Việt", "tieng-viet");
        check("a\u{303}", "a");
        check("ΟΔΟΣ", "%ce%bf%ce%b4%ce%bf%cf%83");
        check(&"x".repeat(250), &"x".repeat(200));
        check(&"я".repeat(60), &"%d1%8f".repeat(33));
        check(&format!("{}{}", "!".repeat(150), "a".repeat(100)), &"a".repeat(50));
    }

    #[test]
    fn slugs_never_exceed_the_limit() {
        for base in ["é я".repeat(60), "日".repeat(90), "a-".repeat(150), "%".repeat(300)] {
            let slug = sanitize_title(&base);
            assert!(slug.len() <= MAX_SLUG, "{slug}");
        }
    }

    #[test]
    fn logins_are_checked() {
        fn check(login: &str, clean: &str, valid: bool) {
            assert_eq!((sanitize_user_login(login).as_str(), valid_login(login)), (clean, valid), "{login}");
        }
        check("a.b@c-d_e f", "a.b@c-d_e f", true);
        check("...", "...", true);
        check("", "", false);
        check("Ünï", "Uni", false);
        check("a  b", "a b", false);
        check(" lead", "lead", false);
        check("a%20b", "ab", false);
        check("a&amp;b", "ab", false);
        check("b!d$$", "bd", false);
        check("<b>x</b>", "x", false);
        check("日本", "", false);
        check(&"A".repeat(61), &"A".repeat(61), false);
    }

    #[test]
    fn nicenames_are_short_slugs() {
        fn check(login: &str, expected: &str) {
            assert_eq!(user_slug(login), expected);
        }
        check("a.b@c-d_e f", "a-bc-d_e-f");
        check("@", "");
        check("Äö 日本", "ao");
        check(&"A".repeat(60), &"a".repeat(50));
    }

    #[test]
    fn keys_fold_case_and_marks() {
        fn check(text: &str, key: &str) {
            assert_eq!(title_key(text), key, "{text}");
        }
        check("Élan Ärger", "elan arger");
        check("Straße", "strasse");
        check("İstanbul I", "istanbul i");
        check("Ёлка Йод", "елка иод");
        check("Ø Æ ﬁ", "o ae ﬁ");
        check("日本", "日本");
    }
}
