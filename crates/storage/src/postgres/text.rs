//! Texts of statements as the server takes them.

use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

/// Most bytes of a name; the server cuts longer ones, and two could become one.
const NAME: usize = 63;

/// A name as the server stores it: a long one ends with a digest of the whole.
pub fn stored_name(name: &str) -> Cow<'_, str> {
    if name.len() <= NAME {
        return Cow::Borrowed(name);
    }
    let digest = Sha256::digest(name.as_bytes());
    let digest: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let mut end = NAME - digest.len() - 1;
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    Cow::Owned(format!("{}_{digest}", &name[..end]))
}

/// Placeholders numbered as the server wants them (`?` and `?2` become `$1` and `$2`), and long names shortened.
pub fn for_server(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let (mut rest, mut unnumbered) = (text, 0);
    while let Some(at) = rest.find(['?', '"', '\'']) {
        out.push_str(&rest[..at]);
        let (mark, after) = rest[at..].split_at(1);
        rest = after;
        match mark {
            "?" => {
                let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                unnumbered += 1;
                out.push('$');
                match digits {
                    0 => out.push_str(&unnumbered.to_string()),
                    _ => out.push_str(&rest[..digits]),
                }
                rest = &rest[digits..];
            }
            quote => {
                let (inside, after) = rest.split_once(quote).unwrap_or((rest, ""));
                out.push_str(quote);
                out.push_str(&if quote == "\"" { stored_name(inside) } else { Cow::Borrowed(inside) });
                out.push_str(quote);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// How many placeholders a text has.
pub fn placeholders(text: &str) -> usize {
    let mut most = 0;
    let text = for_server(text);
    for part in text.split('$').skip(1) {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        most = most.max(digits.parse().unwrap_or(0));
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_and_long_names_are_rewritten() {
        let long = "n".repeat(80);
        let short = stored_name(&long).into_owned();
        assert_eq!(short.len(), 63);
        assert_ne!(short, stored_name(&"n".repeat(81)));
        for (text, server, number) in [
            ("SELECT 1", "SELECT 1".to_owned(), 0),
            ("a = ?1 AND b = ?2 AND c = ?1", "a = $1 AND b = $2 AND c = $1".into(), 2),
            ("VALUES (?, ?)", "VALUES ($1, $2)".into(), 2),
            ("\"a?\" = '?' AND b = $1", "\"a?\" = '?' AND b = $1".into(), 1),
            (&format!("SELECT \"{long}\""), format!("SELECT \"{short}\""), 0),
        ] {
            assert_eq!(for_server(text), server);
            assert_eq!(placeholders(text), number, "{text}");
        }
    }
}
