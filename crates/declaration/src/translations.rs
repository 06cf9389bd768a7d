//! Texts in other languages: `translations` of the declarations.

use indexmap::IndexMap;
use std::fmt;

/// By language, such as `de`, and by the text that is translated.
pub type Translations = IndexMap<String, IndexMap<String, String>>;

/// A text of the program, with a value where it has `{value}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    text: &'static str,
    value: String,
}

impl Sentence {
    /// The text with a value.
    pub fn about(text: &'static str, value: impl ToString) -> Sentence {
        Sentence { text, value: value.to_string() }
    }

    /// The sentence, of which `say` translates the text.
    pub fn said(&self, say: impl FnOnce(&'static str) -> String) -> String {
        say(self.text).replace("{value}", &self.value)
    }
}

impl From<&'static str> for Sentence {
    fn from(text: &'static str) -> Sentence {
        Sentence { text, value: String::new() }
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said(str::to_owned))
    }
}

/// Translates texts into a language, by the nearest translations first.
pub struct Translator<'t>(Vec<&'t IndexMap<String, String>>);

impl<'t> Translator<'t> {
    /// Those of a tag such as `de-AT` or `de_AT`: of itself, then of its first part.
    pub fn of(translations: &'t Translations, tag: &str) -> Translator<'t> {
        let same = |a: u8, b: u8| a.eq_ignore_ascii_case(&b) || (matches!(a, b'-' | b'_') && matches!(b, b'-' | b'_'));
        let is_tag =
            |name: &str, tag: &str| name.len() == tag.len() && name.bytes().zip(tag.bytes()).all(|(a, b)| same(a, b));
        let named = |tag: &str| translations.iter().find(|(name, _)| is_tag(name, tag)).map(|(_, texts)| texts);
        let first = tag.split(['-', '_']).next().filter(|first| *first != tag);
        Translator([Some(tag), first].into_iter().flatten().filter_map(named).collect())
    }

    /// The translation of a text.
    pub fn get(&self, text: &str) -> Option<&'t str> {
        self.0.iter().find_map(|texts| texts.get(text)).map(String::as_str)
    }

    /// The translation of a text; where there is none, the text.
    pub fn translate<'s>(&self, text: &'s str) -> &'s str
    where
        't: 's,
    {
        self.get(text).unwrap_or(text)
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
