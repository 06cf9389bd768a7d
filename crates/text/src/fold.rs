//! Text as it is compared: without case and accents. The one definition for keys, searches and needles.

use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The text in lower case and without accents (`Éclair` becomes `eclair`).
pub fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        if text.bytes().any(|b| b.is_ascii_uppercase()) {
            return Cow::Owned(text.to_ascii_lowercase());
        }
        return Cow::Borrowed(text);
    }
    let letters = text.nfd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase);
    // Lower case may bring an accent of its own (İ), so accents are removed once more.
    Cow::Owned(letters.filter(|c| !is_combining_mark(*c)).nfc().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_marks_go() {
        for (text, folded) in [
            ("plain", "plain"),
            ("Upper CASE", "upper case"),
            ("Éclair", "eclair"),
            ("e\u{301}clair", "eclair"),
            ("İstanbul", "istanbul"),
            ("한국어", "한국어"),
            ("日本", "日本"),
        ] {
            assert_eq!(fold(text), folded);
            assert_eq!(fold(&fold(text)), folded, "folding twice changes nothing");
        }
    }
}
