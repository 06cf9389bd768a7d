//! Texts of a dump in its character set.

use crate::import::items::FileFault;

const HINT_CHARSET: &str = "make the dump with --default-character-set=utf8mb4";

/// The character set that a dump declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum DumpCharset {
    #[default]
    Utf8,
    /// `latin1` of MySQL, which is Windows-1252.
    Latin1,
}

/// How a text was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextFidelity {
    Exact,
    /// Bytes that are no characters are replaced.
    Replaced,
    /// A dump in Latin 1 has it in UTF-8: a table in Latin 1 with texts in UTF-8, as old versions of WordPress had them.
    Utf8InLatin1,
}

impl DumpCharset {
    /// The character set with a name.
    ///
    /// # Errors
    /// It is another one.
    pub(super) fn named(name: &str, line: u64) -> Result<DumpCharset, FileFault> {
        match name {
            "utf8mb4" | "utf8" | "utf8mb3" | "binary" | "ascii" => Ok(DumpCharset::Utf8),
            "latin1" => Ok(DumpCharset::Latin1),
            other => {
                let message = format!("the character set {other} is not read");
                Err(FileFault { line, message, hint: HINT_CHARSET })
            }
        }
    }

    /// A text, and how it was read.
    pub(super) fn decode(self, bytes: Vec<u8>) -> (String, TextFidelity) {
        let is_ascii = bytes.is_ascii();
        match (String::from_utf8(bytes), self) {
            (Ok(text), DumpCharset::Latin1) if !is_ascii => (text, TextFidelity::Utf8InLatin1),
            (Ok(text), _) => (text, TextFidelity::Exact),
            (Err(error), DumpCharset::Latin1) => {
                (error.as_bytes().iter().map(|byte| windows_1252::letter(*byte)).collect(), TextFidelity::Exact)
            }
            (Err(error), DumpCharset::Utf8) => {
                (String::from_utf8_lossy(error.as_bytes()).into_owned(), TextFidelity::Replaced)
            }
        }
    }
}

/// The characters of Windows-1252.
pub(in crate::import) mod windows_1252 {
    /// Those from 0x80 to 0x9f; MySQL keeps the five that are none as they are.
    const OWN: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘',
        '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];

    pub fn letter(byte: u8) -> char {
        let own = byte.checked_sub(0x80).and_then(|place| OWN.get(usize::from(place)));
        own.copied().unwrap_or(char::from(byte))
    }

    /// The byte of a character, also of one that Latin 1 has in place of it.
    pub fn byte(letter: char) -> Option<u8> {
        let own = || OWN.iter().position(|own| *own == letter).and_then(|place| u8::try_from(place + 0x80).ok());
        u8::try_from(letter).ok().or_else(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_by_character_set() {
        use DumpCharset::{Latin1, Utf8};
        use TextFidelity::{Exact, Replaced, Utf8InLatin1};
        for (bytes, charset, expected, fidelity) in [
            ("Grüße 🌊".as_bytes(), Utf8, "Grüße 🌊", Exact),
            (b"plain", Latin1, "plain", Exact),
            (b"Gr\xfc\xdfe \x80 \x93x\x94 \x81", Latin1, "Grüße € “x” \u{81}", Exact),
            ("Grüße".as_bytes(), Latin1, "Grüße", Utf8InLatin1),
            (b"Gr\xfc", Utf8, "Gr\u{fffd}", Replaced),
            (b"", Utf8, "", Exact),
        ] {
            assert_eq!(charset.decode(bytes.to_vec()), (expected.to_owned(), fidelity), "{bytes:?}");
        }
        for (name, expected) in [("utf8mb4", Some(Utf8)), ("latin1", Some(Latin1)), ("koi8r", None)] {
            assert_eq!(DumpCharset::named(name, 7).ok(), expected, "{name}");
        }
        let fault = DumpCharset::named("koi8r", 7).expect_err("another one").to_string();
        assert!(fault.starts_with("line 7: the character set koi8r is not read"), "{fault}");
    }
}
