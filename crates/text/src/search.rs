//! The grammar of a search text: words, `"phrases"`, `-exclusions`.

/// One word or phrase of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    pub text: String,
    /// Must not be there.
    pub without: bool,
}

/// How many words a search may have, and which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordLimit {
    pub most: usize,
    /// A search of more words is one phrase; otherwise it is refused.
    pub phrase: bool,
    /// Words, in small letters, that are left out; a search of nothing else is one phrase.
    pub skipped: Vec<String>,
    /// A plus divides words.
    pub plus: bool,
}

/// For searches without a declared limit.
pub static UNLIMITED: WordLimit = WordLimit { most: usize::MAX, phrase: false, skipped: Vec::new(), plus: false };

impl WordLimit {
    /// The words of a search within the limit; `None` when there are too many.
    pub fn words(&self, text: &str) -> Option<Vec<Word>> {
        let mut words = words(text, self.plus);
        if !self.skipped.is_empty() {
            words.retain(|word| word.without || !self.skipped.contains(&word.text.to_lowercase()));
            if words.is_empty() && !text.trim().is_empty() {
                words.push(Word { text: text.trim().to_owned(), without: false });
            }
        }
        match words.len() > self.most {
            false => Some(words),
            true if self.phrase => Some(vec![Word { text: text.trim().to_owned(), without: false }]),
            true => None,
        }
    }
}

/// The terms of a search, which a plus may divide (`plus`). Empty phrases are left out.
fn words(text: &str, plus: bool) -> Vec<Word> {
    let divides = |c: char| c.is_whitespace() || c == ',' || plus && c == '+';
    let mut words = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('"')
            && let Some(end) = inner.find('"')
        {
            words.push(Word { text: inner[..end].to_owned(), without: false });
            rest = inner[end + 1..].trim_start();
            continue;
        }
        let end = rest.find(divides).unwrap_or(rest.len());
        let word = &rest[..end];
        match word.strip_prefix('-') {
            Some(word) if !word.is_empty() => words.push(Word { text: word.to_owned(), without: true }),
            _ => words.push(Word { text: word.trim_matches('"').to_owned(), without: false }),
        }
        rest = rest[end..].trim_start_matches(divides);
    }
    words.retain(|word| !word.text.is_empty());
    // A text of nothing but quotes is searched as it is.
    if words.is_empty() && text.chars().any(|c| !c.is_whitespace() && c != ',') {
        words.push(Word { text: text.trim().to_owned(), without: false });
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(words: &[Word]) -> Vec<(&str, bool)> {
        words.iter().map(|w| (w.text.as_str(), w.without)).collect()
    }

    #[test]
    fn a_search_is_words_phrases_and_exclusions() {
        let check = |text: &str, expected: &[(&str, bool)]| assert_eq!(told(&words(text, false)), expected, "{text}");
        check("", &[]);
        check("one two", &[("one", false), ("two", false)]);
        check("\"one two\" three", &[("one two", false), ("three", false)]);
        check("one -two", &[("one", false), ("two", true)]);
        check("- \"open", &[("-", false), ("open", false)]);
        check("\"\" , one", &[("one", false)]);
        check(" \" ", &[("\"", false)]);
        check(" , ", &[]);
    }

    #[test]
    fn more_words_than_the_limit_are_one_phrase_or_none() {
        let limit = |phrase| WordLimit { most: 2, phrase, ..UNLIMITED.clone() };
        for phrase in [true, false] {
            assert_eq!(limit(phrase).words("one").map(|w| w.len()), Some(1));
            assert_eq!(limit(phrase).words(" one -two ").map(|w| w.len()), Some(2));
        }
        assert_eq!(limit(false).words("one two three"), None);
        let words = limit(true).words(" one -two three ").expect("a phrase");
        assert_eq!(told(&words), [("one -two three", false)]);
    }

    #[test]
    fn frequent_words_and_letters_are_left_out_beside_others() {
        let skipped = ["the", "of", "q", "-"].map(str::to_owned).to_vec();
        let limit = WordLimit { most: 9, phrase: true, skipped, plus: true };
        for (text, expected) in [
            ("Q Long", &["Long"][..]),
            ("The Long of w5", &["Long", "w5"]),
            ("w5+w6", &["w5", "w6"]),
            ("the of", &["the of"]),
            ("q", &["q"]),
            ("\"of the\" ä", &["of the", "ä"]),
            ("x7 -", &["x7"]),
        ] {
            let words = limit.words(text).expect("within the limit");
            assert_eq!(words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>(), expected, "{text}");
        }
        let words = limit.words("long -the").expect("within the limit");
        assert_eq!(told(&words), [("long", false), ("the", true)]);
    }
}
