//! Names of files: from what a client calls a file to what it is stored as.

use crate::text::slug::remove_accents;

/// Most bytes of a name, its end included; most disks take 255, and sizes add theirs.
const LONGEST: usize = 180;

/// A stored name: without folders and accents, only letters, digits, dots, dashes, underscores and `@`; the extension
/// in lower case. An inner part that looks like the extension of a program (`x.php.png`) is disarmed by a `_`; `known`
/// says which extensions are harmless. `None` when nothing is left, or the name has no extension.
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
    let clean = clean.trim_matches(['.', '-', '_']);
    let (stem, end) = clean.rsplit_once('.')?;
    let mut parts = stem.split('.').filter(|part| !part.is_empty());
    let mut base = parts.next()?.to_owned();
    for part in parts {
        base.push('.');
        base.push_str(part);
        if looks_like_an_end(part) && !known(&part.to_ascii_lowercase()) {
            base.push('_');
        }
    }
    let end = end.to_lowercase();
    let mut cut = base.len().min(LONGEST.saturating_sub(end.len()));
    while !base.is_char_boundary(cut) {
        cut -= 1;
    }
    base.truncate(cut);
    let base = base.trim_end_matches(['.', '-']).to_owned();
    (!base.is_empty() && !end.is_empty()).then_some((base, end))
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
        check(".png", None);
        check("...", None);
        check("", None);
        check("<script>.png", Some(("script", "png")));
        check("日本.png", Some(("日本", "png")));
    }

    proptest! {
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
