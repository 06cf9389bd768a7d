//! Form tags: `[type* name option:value "value"]` in the text of a form, as people write forms for WordPress.
//!
//! It knows how a tag is written, and nothing of what a type means.

/// Most tags of one form; further ones are passed over.
const MOST: usize = 200;

/// One tag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormTag<'a> {
    /// Without the asterisk.
    pub kind: &'a str,
    /// The type ends with an asterisk.
    pub required: bool,
    /// Empty: it has none.
    pub name: &'a str,
    /// The words behind the name.
    pub options: Vec<&'a str>,
    /// The texts in quotes.
    pub values: Vec<&'a str>,
}

impl<'a> FormTag<'a> {
    /// The value of an option: `10` of `maxlength:10`.
    pub fn option(&self, name: &str) -> Option<&'a str> {
        self.options.iter().find_map(|option| option.strip_prefix(name)?.strip_prefix(':'))
    }

    /// Whether an option is there: `optional`.
    pub fn has(&self, name: &str) -> bool {
        self.options.contains(&name)
    }

    /// The values as they are sent, each with its replacement: of `"shown|meant"` these two, of any other twice the same.
    pub fn pairs(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.values.iter().map(|value| value.split_once('|').unwrap_or((value, value)))
    }
}

/// The tags of a form that have a name, in their order. `[[type name]]` is a text.
pub fn form_tags(form: &str) -> Vec<FormTag<'_>> {
    let mut found = Vec::new();
    let mut rest = form;
    while let Some(start) = rest.find('[') {
        if found.len() == MOST {
            break;
        }
        let inside = &rest[start + 1..];
        let Some(end) = inside.find(']') else { break };
        // A bracket inside begins another one.
        let begin = inside[..end].rfind('[').map_or(0, |at| at + 1);
        let escaped = inside[end + 1..].starts_with(']') && rest[..start + 1 + begin].ends_with("[[");
        found.extend(tag(&inside[begin..end]).filter(|tag| !escaped && !tag.name.is_empty()));
        rest = &inside[end + 1..];
    }
    found
}

/// The tag that brackets contain.
fn tag(text: &str) -> Option<FormTag<'_>> {
    let kind_end = text.find(|c: char| c.is_ascii_whitespace()).unwrap_or(text.len());
    let (kind, rest) = text.split_at(kind_end);
    let (kind, required) = kind.strip_suffix('*').map_or((kind, false), |kind| (kind, true));
    let begins = kind.starts_with(|c: char| c.is_ascii_lowercase());
    if !begins || !kind.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-')) {
        return None;
    }
    let (words, values) = rest.split_at(rest.find(['"', '\'']).unwrap_or(rest.len()));
    let mut options: Vec<&str> = words.split_ascii_whitespace().filter(|word| *word != "/").collect();
    let named = options.first().is_some_and(|word| is_name(word));
    let name = if named { options.remove(0) } else { "" };
    Some(FormTag { kind, required, name, options, values: quoted(values) })
}

/// Whether a word is the name of a field.
fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':'))
}

/// The texts in quotes.
fn quoted(mut text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    while let Some(start) = text.find(['"', '\'']) {
        let (quote, inside) = (&text[start..=start], &text[start + 1..]);
        let Some(end) = inside.find(quote) else { break };
        found.push(&inside[..end]);
        text = &inside[end + 1..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> FormTag<'_> {
        let mut all = form_tags(text);
        assert_eq!(all.len(), 1, "{text}: {all:?}");
        all.remove(0)
    }

    #[test]
    fn a_tag_has_a_type_a_name_options_and_values() {
        let tag = one("<label>Name [text* first-name minlength:2 id:first \"a b\" 'c'] </label>");
        assert_eq!((tag.kind, tag.required, tag.name), ("text", true, "first-name"));
        assert_eq!((tag.option("minlength"), tag.option("id"), tag.option("max")), (Some("2"), Some("first"), None));
        assert_eq!(tag.values, ["a b", "c"]);
        let quiz = one("[quiz sum \"1+1?|2\" \"2+2?|4\"]");
        assert_eq!(quiz.pairs().collect::<Vec<_>>(), [("1+1?", "2"), ("2+2?", "4")]);
        let choice = one("[select x \"one\"]");
        assert_eq!(choice.pairs().collect::<Vec<_>>(), [("one", "one")]);
        assert!(one("[acceptance terms optional] I agree [/acceptance]").has("optional"));
    }

    #[test]
    fn what_is_no_tag_is_passed_over() {
        for text in [
            "",
            "[",
            "]",
            "[]",
            "[text",
            "[text]",
            "[submit \"Send\"]",
            "[[text name]]",
            "[Text name]",
            "[1 2]",
            "[é x]",
        ] {
            assert!(form_tags(text).is_empty(), "{text}");
        }
        assert_eq!(one("[ [text name]").name, "name");
        assert_eq!(one("[text name \"open]").values, Vec::<&str>::new());
        assert_eq!(form_tags(&"[text a]".repeat(1000)).len(), MOST);
    }
}
