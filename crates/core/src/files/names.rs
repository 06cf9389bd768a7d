//! Names of files: from what a client calls a file to what it is stored as.

use cms_text::slug::remove_accents;

/// Most bytes of a name, its end included; most disks take 255, and sizes add theirs.
const LONGEST: usize = 180;

/// Most bytes of an extension.
const LONGEST_END: usize = 32;

/// The name of a file of whose own name nothing can be stored but the extension.
const UNNAMED: &str = "unnamed-file";

/// The name of a file in a header `Content-Disposition`: `filename*` (RFC 8187), or else `filename`. `None` when there is
/// none, or it is empty.
pub fn in_disposition(header: &str) -> Option<String> {
    let mut rest = header.split_once(';')?.1;
    let (mut plain, mut extended) = (None, None);
    while !rest.is_empty() {
        let (name, value, after) = parameter(rest);
        let value = value.trim();
        match name.trim() {
            name if name.eq_ignore_ascii_case("filename") => plain = plain.or(Some(value.to_owned())),
            name if name.eq_ignore_ascii_case("filename*") => extended = extended.or_else(|| decoded(value)),
            _ => {}
        }
        rest = after;
    }
    [extended, plain].into_iter().flatten().find(|name| !name.is_empty())
}

/// The first parameter of a list: its name, its value without quotes and their escapes, and what follows.
fn parameter(list: &str) -> (&str, String, &str) {
    let Some(at) = list.find(['=', ';']).filter(|at| list[*at..].starts_with('=')) else {
        return ("", String::new(), list.split_once(';').map_or("", |(_, after)| after));
    };
    let (name, value) = (&list[..at], list[at + 1..].trim_start());
    let Some(quoted) = value.strip_prefix('"') else {
        let (value, after) = value.split_once(';').unwrap_or((value, ""));
        return (name, value.to_owned(), after);
    };
    let mut text = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            // Other backslashes are those of paths, which clients send without escapes.
            '\\' if quoted[at + 1..].starts_with(['"', '\\']) => {
                text.extend(letters.next().map(|(_, escaped)| escaped))
            }
            '"' => return (name, text, quoted[at + 1..].split_once(';').map_or("", |(_, after)| after)),
            _ => text.push(letter),
        }
    }
    (name, text, "")
}

/// The text of `charset'language'escaped bytes`.
fn decoded(value: &str) -> Option<String> {
    let (charset, value) = value.split_once('\'')?;
    let bytes: Vec<u8> = percent_encoding::percent_decode_str(value.split_once('\'')?.1).collect();
    match charset.trim() {
        known if known.eq_ignore_ascii_case("UTF-8") => String::from_utf8(bytes).ok(),
        known if known.eq_ignore_ascii_case("ISO-8859-1") => Some(bytes.into_iter().map(char::from).collect()),
        _ => None,
    }
}

/// A stored name: without folders and accents, only letters, digits, dots, dashes, underscores and `@`; the extension
/// in lower case. An inner part that looks like the extension of a program (`x.php.png`) is disarmed by a `_`; `known`
/// says which extensions are harmless. Where nothing else is left it is [`UNNAMED`]. `None` when the name has no extension, or
/// none of a usual length.
pub fn stored(given: &str, known: impl Fn(&str) -> bool) -> Option<(String, String)> {
    let name = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain = remove_accents(name);
    let mut clean = String::with_capacity(plain.len());
    for c in plain.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' | '@' => clean.push(c),
            // Blanks and dashes in a row make one dash.
            ' ' | '\t' | '\n' | '\r' | '-' | '\u{a0}' if clean.ends_with('-') => {}
            ' ' | '\t' | '\n' | '\r' | '-' | '\u{a0}' => clean.push('-'),
            c if c.is_alphanumeric() => clean.extend(c.to_lowercase()),
            _ => {}
        }
    }
    let (stem, end) = clean.trim_end_matches(['.', '-', '_']).rsplit_once('.')?;
    let stem = stem.trim_matches(['.', '-', '_']);
    let mut parts = stem.split('.').filter(|part| !part.is_empty());
    let mut base = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        base.push('.');
        base.push_str(part);
        if looks_like_an_end(part) && !known(&part.to_ascii_lowercase()) {
            base.push('_');
        }
    }
    let end = Some(end.to_lowercase()).filter(|end| end.len() <= LONGEST_END)?;
    let mut cut = base.len().min(LONGEST - end.len());
    while !base.is_char_boundary(cut) {
        cut -= 1;
    }
    base.truncate(cut);
    let base = base.trim_end_matches(['.', '-']);
    let base = if base.is_empty() { UNNAMED } else { base };
    Some((base.to_owned(), end))
}

fn looks_like_an_end(part: &str) -> bool {
    let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
    (2..=5).contains(&letters.len())
        && part.len() - letters.len() <= 1
        && letters.bytes().all(|b| b.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names() {
        let check = |given: &str, expected: Option<(&str, &str)>| {
            let found = stored(given, |end| end == "png" || end == "jpg");
            assert_eq!(found.as_ref().map(|(a, b)| (a.as_str(), b.as_str())), expected, "{given}");
        };
        check("a.png", Some(("a", "png")));
        check("Weird  Näme (1)+%20&?.PNG", Some(("Weird-Name-120", "png")));
        check("../../x.png", Some(("x", "png")));
        check("C:\\temp\\x.png", Some(("x", "png")));
        check("x.php.png", Some(("x.php_", "png")));
        check("x.php5.png", Some(("x.php5_", "png")));
        check("x.jpg.png", Some(("x.jpg", "png")));
        check("a.b.c.png", Some(("a.b.c", "png")));
        check("x..png", Some(("x", "png")));
        check("logo@2x.png", Some(("logo@2x", "png")));
        check("noext", None);
        check(".png", Some(("unnamed-file", "png")));
        check("🦃.PNG", Some(("unnamed-file", "png")));
        check("🎄🎄 ❤️.jpg", Some(("unnamed-file", "jpg")));
        check("+++.jpg", Some(("unnamed-file", "jpg")));
        check("---.jpg", Some(("unnamed-file", "jpg")));
        check("party 🎉.png", Some(("party", "png")));
        check("🎉", None);
        check("a.🎉", None);
        check("a.png.", Some(("a", "png")));
        check("...", None);
        check("", None);
        check("<script>.png", Some(("script", "png")));
        check("日本.png", Some(("日本", "png")));
        check(&format!("a.{}", "b".repeat(LONGEST_END)), Some(("a", &"b".repeat(LONGEST_END))));
        check(&format!("a.{}", "b".repeat(LONGEST_END + 1)), None);
    }

    #[test]
    fn names_in_headers() {
        let check = |header: &str, expected: &str| {
            assert_eq!(in_disposition(header).unwrap_or_default(), expected, "{header}");
        };
        check("attachment; filename=\"a b.png\"", "a b.png");
        check("attachment; filename=a.png", "a.png");
        check("inline; x=1; Filename = \"a.png\" ; y", "a.png");
        check("attachment;filename=\"with \\\"quote\\\".jpg\"", "with \"quote\".jpg");
        check("attachment; filename=\"a;b=c.jpg\"", "a;b=c.jpg");
        check("attachment; filename=\"a\\\\b.jpg\"", "a\\b.jpg");
        check("attachment; filename=\"C:\\temp\\a.jpg\"", "C:\\temp\\a.jpg");
        check("attachment; filename=\"open.jpg", "open.jpg");
        check("attachment; name=\"filename=x\"; filename=a.png", "a.png");
        check("attachment; filename*=UTF-8''na%C3%AFve.png", "naïve.png");
        check("attachment; filename*=utf-8'en'%e2%82%ac%20rates.png; filename=\"EURO.png\"", "€ rates.png");
        check("attachment; filename=\"EURO.png\"; filename*=UTF-8''%e2%82%ac.png", "€.png");
        check("attachment; filename*=iso-8859-1''na%EFve.png", "naïve.png");
        check("attachment; filename*=\"UTF-8''a%20b.png\"", "a b.png");
        check("attachment; filename*=UTF-8''%ff.png; filename=a.png", "a.png");
        check("attachment; filename*=KOI8-R''%ff.png; filename=a.png", "a.png");
        for none in [
            "",
            "attachment",
            "filename=\"a.png\"",
            "attachment; filename=\"\"",
            "attachment; filename",
            "attachment; filename*=a.png",
            "attachment; filename*=UTF-8''",
            "attachment; =;;;=\"",
        ] {
            check(none, "");
        }
    }

    proptest! {
        #[test]
        fn headers_have_any_form(header in "[a-z;=*\"'\\\\ %0-9éf]{0,60}") {
            let name = in_disposition(&format!("attachment; {header}"));
            prop_assert!(name.is_none_or(|name| !name.is_empty()));
        }

        #[test]
        fn a_stored_name_is_one_harmless_segment(given in "\\PC{0,300}|[a-z./\\\\ %-]{0,60}") {
            if let Some((base, end)) = stored(&given, |_| false) {
                let name = format!("{base}.{end}");
                prop_assert!(name.len() <= LONGEST + 1, "{}", name.len());
                prop_assert!(!name.starts_with('.') && !name.contains(['/', '\\', '\0', ' ', '"', '<']), "{}", name);
            }
        }
    }
}
