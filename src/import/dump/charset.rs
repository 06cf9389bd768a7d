//! Texts of a dump in its character set.

use crate::import::items::FileFault;
use encoding_rs::Encoding;

const HINT_CHARSET: &str = "make the dump with --default-character-set=utf8mb4";

/// The character set that a dump declares.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum DumpCharset {
    #[default]
    Utf8,
    /// `latin1` of MySQL, which is Windows-1252. It was the usual one of tables that WordPress wrote UTF-8 into.
    Latin1,
    /// Another one.
    Other(&'static Encoding),
}

/// The other character sets by the names that MySQL has for them.
const OTHERS: [(&str, &Encoding); 23] = [
    ("big5", encoding_rs::BIG5),
    ("cp1250", encoding_rs::WINDOWS_1250),
    ("cp1251", encoding_rs::WINDOWS_1251),
    ("cp1256", encoding_rs::WINDOWS_1256),
    ("cp1257", encoding_rs::WINDOWS_1257),
    ("cp866", encoding_rs::IBM866),
    ("cp932", encoding_rs::SHIFT_JIS),
    ("eucjpms", encoding_rs::EUC_JP),
    ("euckr", encoding_rs::EUC_KR),
    ("gb18030", encoding_rs::GB18030),
    ("gb2312", encoding_rs::GBK),
    ("gbk", encoding_rs::GBK),
    ("greek", encoding_rs::ISO_8859_7),
    ("hebrew", encoding_rs::ISO_8859_8),
    ("koi8r", encoding_rs::KOI8_R),
    ("koi8u", encoding_rs::KOI8_U),
    ("latin2", encoding_rs::ISO_8859_2),
    ("latin5", encoding_rs::WINDOWS_1254),
    ("latin7", encoding_rs::ISO_8859_13),
    ("macroman", encoding_rs::MACINTOSH),
    ("sjis", encoding_rs::SHIFT_JIS),
    ("tis620", encoding_rs::WINDOWS_874),
    ("ujis", encoding_rs::EUC_JP),
];

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
    /// It is one that is not known.
    pub(super) fn named(name: &str, line: u64) -> Result<DumpCharset, FileFault> {
        let other = || OTHERS.iter().find(|(own, _)| *own == name);
        match name {
            "utf8mb4" | "utf8" | "utf8mb3" | "binary" | "ascii" => Ok(DumpCharset::Utf8),
            "latin1" => Ok(DumpCharset::Latin1),
            _ => other().map(|(_, encoding)| DumpCharset::Other(encoding)).ok_or_else(|| {
                let message = format!("the character set {name} is not read");
                FileFault { line, message, hint: HINT_CHARSET }
            }),
        }
    }

    /// A text, and how it was read.
    pub(super) fn decode(self, bytes: Vec<u8>) -> (String, TextFidelity) {
        if let DumpCharset::Other(encoding) = self {
            let (text, is_damaged) = encoding.decode_without_bom_handling(&bytes);
            let fidelity = if is_damaged { TextFidelity::Replaced } else { TextFidelity::Exact };
            return (text.into_owned(), fidelity);
        }
        let is_latin = self == DumpCharset::Latin1;
        let is_ascii = bytes.is_ascii();
        match String::from_utf8(bytes) {
            Ok(text) if is_latin && !is_ascii => (text, TextFidelity::Utf8InLatin1),
            Ok(text) => (text, TextFidelity::Exact),
            Err(error) if is_latin => {
                (error.as_bytes().iter().map(|byte| windows_1252::letter(*byte)).collect(), TextFidelity::Exact)
            }
            Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), TextFidelity::Replaced),
        }
    }

    /// Whether a byte begins a character whose second byte may look like a backslash; `None`: no character does so.
    pub(super) fn lead_bytes(self) -> Option<fn(u8) -> bool> {
        match self {
            DumpCharset::Other(encoding) if encoding == encoding_rs::SHIFT_JIS => {
                Some(|byte| matches!(byte, 0x81..=0x9f | 0xe0..=0xfc))
            }
            DumpCharset::Other(encoding)
                if [encoding_rs::BIG5, encoding_rs::GBK, encoding_rs::GB18030].contains(&encoding) =>
            {
                Some(|byte| matches!(byte, 0x81..=0xfe))
            }
            _ => None,
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
        let of = |name: &str| DumpCharset::named(name, 1).expect("a character set");
        for (bytes, charset, expected, fidelity) in [
            ("Grüße 🌊".as_bytes(), Utf8, "Grüße 🌊", Exact),
            (b"plain", Latin1, "plain", Exact),
            (b"Gr\xfc\xdfe \x80 \x93x\x94 \x81", Latin1, "Grüße € “x” \u{81}", Exact),
            ("Grüße".as_bytes(), Latin1, "Grüße", Utf8InLatin1),
            (b"Gr\xfc", Utf8, "Gr\u{fffd}", Replaced),
            (b"", Utf8, "", Exact),
            (b"\xcf\xf0\xe8\xe2\xe5\xf2", of("cp1251"), "Привет", Exact),
            (b"\xf0\xd2\xc9\xd7\xc5\xd4", of("koi8r"), "Привет", Exact),
            (b"za\xbf\xf3\xb3\xe6", of("latin2"), "zażółć", Exact),
            (b"\x95\x5c\x8e\xa6", of("sjis"), "表示", Exact),
            (b"\xb9\xf8 \xff", of("euckr"), "번 \u{fffd}", Replaced),
        ] {
            assert_eq!(charset.decode(bytes.to_vec()), (expected.to_owned(), fidelity), "{bytes:?}");
        }
        for (name, expected) in [("utf8mb4", Some(Utf8)), ("latin1", Some(Latin1)), ("keybcs2", None)] {
            assert_eq!(DumpCharset::named(name, 7).ok(), expected, "{name}");
        }
        let fault = DumpCharset::named("keybcs2", 7).expect_err("another one").to_string();
        assert!(fault.starts_with("line 7: the character set keybcs2 is not read"), "{fault}");
    }
}
