//! Texts that were encoded twice: a program has read UTF-8 as Windows-1252 and encoded it again, and `für` became `fÃ¼r`.
//!
//! A text is one only where all its characters beyond ASCII are parts of such sequences, and at least one of them is none that
//! people write: `VOILÄ”` is a word before a quotation mark. Names of files, slugs and addresses stay as they are.

use super::dump::windows_1252;
use super::items::{Comment, ExportItem, ExportSummary, ImportedSetting};
use cms_text::php;

/// Examples that a report has.
const EXAMPLES: usize = 5;
/// Characters of an example.
const EXAMPLE: usize = 40;
/// How often a text may have been encoded beyond the first time.
const LAYERS: usize = 3;
/// Meta keys whose values name files.
const OF_FILES: [&str; 2] = ["_wp_attached_file", "_wp_attachment_metadata"];

/// Signs of the second half of Windows-1252 that stand behind a word.
const FOLLOWING: &str = "…‘’“”‹›«»–—•™©®°ª¹²³º·´†‡\u{a0}\u{ad}";

/// The first and the last characters of scripts that most texts are in, as far as two bytes encode them; the first of them are
/// those that a text has between two encodings.
const COMMON: [(char, char); 8] = [
    ('\u{80}', '\u{17f}'),
    ('\u{218}', '\u{21b}'),
    ('\u{386}', '\u{3ce}'),
    ('\u{400}', '\u{45f}'),
    ('\u{490}', '\u{491}'),
    ('\u{5d0}', '\u{5ea}'),
    ('\u{60c}', '\u{63a}'),
    ('\u{640}', '\u{652}'),
];

/// The account of a source's texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextEncodings {
    /// They are mended.
    pub(super) mends: bool,
    twice: u64,
    /// Texts that look so in parts, or could be meant so.
    perhaps: u64,
    examples: Vec<String>,
}

/// How a text is encoded.
#[derive(Debug, PartialEq, Eq)]
enum TextReading {
    Once,
    /// With what it was before.
    Twice(String),
    Perhaps,
}

impl TextEncodings {
    pub(super) fn new(mends: bool) -> TextEncodings {
        TextEncodings { mends, ..TextEncodings::default() }
    }

    /// Looks at the texts of an item.
    pub(super) fn item(&mut self, item: &mut ExportItem) {
        match item {
            ExportItem::Author(author) => {
                let place = format!("the account {}", author.login);
                let account = author.account.as_deref_mut();
                let texts = [&mut author.display_name, &mut author.first_name, &mut author.last_name];
                self.texts(&place, texts);
                if let Some(account) = account {
                    self.texts(&place, [&mut account.nickname, &mut account.description]);
                    self.meta(&place, &mut account.meta);
                }
            }
            ExportItem::Term(term) => {
                let place = format!("the term {}", term.slug);
                self.texts(&place, [&mut term.name, &mut term.description]);
                self.meta(&place, &mut term.meta);
            }
            ExportItem::Record(record) => {
                let place = format!("the record {}", record.id);
                self.texts(&place, [&mut record.title, &mut record.content, &mut record.excerpt]);
                self.texts(&place, record.terms.iter_mut().map(|term| &mut term.name));
                self.meta(&place, &mut record.meta);
                record.comments.iter_mut().for_each(|comment| self.comment(comment));
            }
        }
    }

    fn comment(&mut self, comment: &mut Comment) {
        let place = format!("the comment {}", comment.id);
        self.texts(&place, [&mut comment.author, &mut comment.content]);
        self.meta(&place, &mut comment.meta);
    }

    /// Looks at the texts of the site.
    pub(super) fn site(&mut self, summary: &mut ExportSummary) {
        self.texts("the site", [&mut summary.title, &mut summary.description]);
        for setting in summary.settings.values_mut() {
            if let ImportedSetting::Text(text) = setting {
                self.text("the site", text);
            }
        }
        for widget in &mut summary.widgets {
            php::each_text(&mut widget.settings, &mut |text| self.text(&widget.id, text));
        }
    }

    fn texts<'t>(&mut self, place: &str, texts: impl IntoIterator<Item = &'t mut String>) {
        texts.into_iter().for_each(|text| self.text(place, text));
    }

    fn meta(&mut self, place: &str, meta: &mut [(String, String)]) {
        let of_texts = meta.iter_mut().filter(|(key, _)| !OF_FILES.contains(&key.as_str()));
        of_texts.for_each(|(_, value)| self.text(place, value));
    }

    fn text(&mut self, place: &str, text: &mut String) {
        if text.is_ascii() {
            return;
        }
        let (mut found, mut perhaps) = (false, false);
        let mut judge = |text: &mut String| match reading(text) {
            TextReading::Once => {}
            TextReading::Perhaps => perhaps = true,
            TextReading::Twice(before) => (found, *text) = (true, before),
        };
        // The lengths in a value that PHP has serialised are those of the texts in it.
        let mut mended = text.clone();
        php::change_texts(&mut mended, &mut judge);
        self.perhaps += u64::from(perhaps && !found);
        if !found {
            return;
        }
        self.twice += 1;
        if self.examples.len() < EXAMPLES {
            self.examples.push(format!("{place}: {} was {}", around(text), around(&mended)));
        }
        if self.mends {
            *text = mended;
        }
    }

    /// The account, line by line.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let done = if self.mends { "they are mended" } else { "--mend-encoding mends them" };
        let twice = format!("{} texts were encoded twice: {done}: {}", self.twice, self.examples.join("; "));
        let perhaps = format!("{} texts may have been encoded twice, at least in parts: they stay", self.perhaps);
        [(self.twice, twice), (self.perhaps, perhaps)].into_iter().filter(|(n, _)| *n > 0).map(|(_, line)| line)
    }
}

/// The part of a text where it goes beyond ASCII first.
fn around(text: &str) -> String {
    let at = text.chars().position(|letter| !letter.is_ascii()).unwrap_or(0);
    text.chars().skip(at.saturating_sub(EXAMPLE / 4)).take(EXAMPLE).collect::<String>().replace(['\n', '\r'], " ")
}

/// How a plain text is encoded.
fn reading(text: &str) -> TextReading {
    let mut found = layer(text);
    for _ in 1..LAYERS {
        let TextReading::Twice(before) = &found else { break };
        match layer(before) {
            TextReading::Twice(before) => found = TextReading::Twice(before),
            _ => break,
        }
    }
    found
}

fn layer(text: &str) -> TextReading {
    if text.is_ascii() {
        return TextReading::Once;
    }
    let letters: Vec<char> = text.chars().collect();
    let (mut before, mut others, mut certain, mut uncertain) = (String::with_capacity(text.len()), false, false, false);
    let mut at = 0;
    while at < letters.len() {
        let (letter, length) = match sequence(&letters[at..]).filter(|(letter, _)| is_common(*letter)) {
            Some((letter, length)) => {
                let is_uncertain = is_written(&letters, at, length);
                (certain, uncertain) = (certain || !is_uncertain, uncertain || is_uncertain);
                (letter, length)
            }
            None => {
                others |= !letters[at].is_ascii();
                (letters[at], 1)
            }
        };
        before.push(letter);
        at += length;
    }
    match (certain, others) {
        (true, false) => TextReading::Twice(before),
        (true, true) => TextReading::Perhaps,
        (false, false) if uncertain => TextReading::Perhaps,
        _ => TextReading::Once,
    }
}

/// The character whose bytes the next characters are, and how many they are.
fn sequence(letters: &[char]) -> Option<(char, usize)> {
    let first = windows_1252::byte(*letters.first()?)?;
    let length = match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    let bytes: Option<Vec<u8>> = letters.get(..length)?.iter().map(|letter| windows_1252::byte(*letter)).collect();
    Some((std::str::from_utf8(&bytes?).ok()?.chars().next()?, length))
}

/// Whether most texts that have a character of the length of this one may have this one.
fn is_common(letter: char) -> bool {
    letter.len_utf8() > 2 || COMMON.iter().any(|(first, last)| (*first..=*last).contains(&letter))
}

/// Whether people write such a sequence: the end of a word, and signs behind it.
fn is_written(letters: &[char], at: usize, length: usize) -> bool {
    let before = at.checked_sub(1).map(|before| letters[before]);
    let after = letters.get(at + length);
    let first = letters[at];
    let ends = letters[at + 1..at + length].iter().all(|sign| FOLLOWING.contains(*sign));
    // A capital letter stands at the beginning of a word, or among others.
    let fits = first.is_lowercase() || before.is_none_or(|before| !before.is_lowercase());
    // No word is one of these letters alone.
    let alone = matches!(first, 'Â' | 'Ã') && before.is_none_or(|before| !before.is_alphabetic());
    first.is_alphabetic() && ends && fits && !alone && after.is_none_or(|after| !after.is_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_were_encoded_twice() {
        let twice = |text: &str| text.bytes().map(windows_1252::letter).collect::<String>();
        let latin = |text: &str| text.bytes().map(char::from).collect::<String>();
        for text in [
            "für",
            "Grüße aus Köln",
            "MÜNCHEN",
            "ÖSTERREICH",
            "voilà",
            "5 °C",
            "© Anna",
            "“quoted” – so",
            "it’s",
            "Привет",
            "Ελλάδα",
            "你好",
            "こんにちは",
            "🌊",
            "Żółć",
            "čeština",
            "a:1:{s:2:\"a\";i:1;} ü",
        ] {
            assert_eq!(reading(&twice(text)), TextReading::Twice(text.into()), "{text}");
            assert_eq!(reading(&latin(text)), TextReading::Twice(text.into()), "{text}");
            assert_eq!(reading(&twice(&twice(text))), TextReading::Twice(text.into()), "{text}, three times");
            assert_eq!(reading(text), TextReading::Once, "{text}");
        }
    }

    #[test]
    fn texts_that_people_write_stay() {
        for text in [
            "VÝŠKA",
            "CAFÉ™",
            "Úžasný",
            "„Spaß“",
            "“VOILÄ”",
            "São",
            "IRMÃO",
            "naïve",
            "ÅÄÖ",
            "Æ",
            "100 €",
            "é…",
            "SEÑOR",
            "×½",
        ] {
            assert_eq!(reading(text), TextReading::Once, "{text}");
        }
        for text in ["VOILÄ”", "fÃ¼r und für"] {
            assert_eq!(reading(text), TextReading::Perhaps, "{text}");
        }
    }

    #[test]
    fn values_of_php_keep_their_lengths() {
        let mended = |text: &str| {
            let mut text = text.to_owned();
            TextEncodings::new(true).text("", &mut text);
            text
        };
        let expected = "a:1:{i:0;s:4:\"für\";}";
        assert_eq!(mended("a:1:{i:0;s:6:\"fÃ¼r\";}"), expected);
        // Encoded again behind PHP's back: the length is the right one.
        assert_eq!(mended("a:1:{i:0;s:4:\"fÃ¼r\";}"), expected);
        assert_eq!(mended(expected), expected);
    }
}
