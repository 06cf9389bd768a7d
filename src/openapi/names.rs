//! Names in generated code.

use std::collections::BTreeSet;

/// Names that are taken in a scope.
#[derive(Clone, Debug, Default)]
pub struct Names(BTreeSet<String>);

impl Names {
    /// A scope in which these names have another meaning.
    pub fn reserved(words: &[&str]) -> Names {
        Names(words.iter().map(|word| (*word).to_owned()).collect())
    }

    /// Whether a name is taken.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// The name, or the name with a number if it is taken.
    pub fn free(&mut self, wanted: &str) -> String {
        let numbered = (2..).map(|number| format!("{wanted}{number}"));
        let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
        let name = names.find(|name| !self.0.contains(name)).unwrap_or_default();
        self.0.insert(name.clone());
        name
    }
}

/// `users.application-passwords.list` as `users_application_passwords_list`; an underscore is never doubled and never last.
pub fn snake(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let joined = words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("_");
    match joined.starts_with(|c: char| c.is_ascii_digit()) || joined.is_empty() {
        true => format!("n{joined}"),
        false if name.starts_with('_') => format!("_{joined}"),
        false => joined,
    }
}

/// `users.application-passwords.list` as `UsersApplicationPasswordsList`; never empty, never a number first.
pub fn pascal(name: &str) -> String {
    let joined = super::components::pascal(name);
    match joined.starts_with(|c: char| c.is_ascii_digit()) || joined.is_empty() {
        true => format!("N{joined}"),
        false => joined,
    }
}

/// Whether a name can be written as it is in most languages, keywords aside.
pub fn is_plain(name: &str) -> bool {
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    first && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_and_unique() {
        assert_eq!(snake("users.application-passwords.list"), "users_application_passwords_list");
        assert_eq!((snake("1.0"), snake("")), ("n1_0".to_owned(), "n".to_owned()));
        assert_eq!((snake("where[date][ge]"), snake("__a")), ("where_date_ge".to_owned(), "_a".to_owned()));
        assert_eq!((pascal("wp:term"), pascal("16x9"), pascal("+")), ("WpTerm".into(), "N16x9".into(), "N".into()));
        let mut names = Names::reserved(&["File"]);
        assert_eq!([names.free("File"), names.free("Post"), names.free("Post")], ["File2", "Post", "Post2"]);
        assert!(is_plain("_links") && !is_plain("a-b") && !is_plain("2a") && !is_plain(""));
    }
}
