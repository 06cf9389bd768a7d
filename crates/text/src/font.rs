//! Fonts in CSS, as clients send them: names of families, descriptors, and a form in which equal ones are equal.

use super::sanitize::{clean_url, sanitize_text_field};
use serde_json::Value;

/// A list of families, each quoted unless it is a word or a generic family.
pub fn families(given: &str) -> String {
    let line = sanitize_text_field(given);
    let named = line.split(',').map(|family| quoted(family.trim())).filter(|family| !family.is_empty());
    named.collect::<Vec<_>>().join(", ")
}

fn quoted(family: &str) -> String {
    let word = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-');
    let generic = family.strip_prefix("generic(").and_then(|rest| rest.strip_suffix(')'));
    if family.is_empty() || word(family) || generic.is_some_and(word) {
        return family.to_owned();
    }
    let bare = family.trim_matches(['"', '\'']);
    if bare.is_empty() { String::new() } else { format!("\"{bare}\"") }
}

/// The descriptors of a font: families under `fontFamily`, addresses where they are addresses, texts of one line
/// otherwise.
pub fn descriptors(given: &Value) -> Value {
    let Value::Object(members) = given else { return clean(given) };
    let members = members.iter().map(|(name, value)| {
        let value = match value {
            Value::String(list) if name == "fontFamily" => Value::from(families(list)),
            value => clean(value),
        };
        (name.clone(), value)
    });
    Value::Object(members.collect())
}

fn clean(value: &Value) -> Value {
    match value {
        Value::String(text) if text.contains("://") => Value::from(clean_url(text)),
        Value::String(text) => Value::from(sanitize_text_field(text)),
        Value::Array(list) => list.iter().map(clean).collect(),
        other => other.clone(),
    }
}

/// A text in small letters, without quotes and separators, with lists written without blanks.
pub fn comparable(text: &str) -> String {
    let plain = text.replace(['"', '\'', ';'], "").to_lowercase();
    plain.split(',').map(str::trim).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn families_are_quoted_where_css_needs_it() {
        let check = |given: &str, expected: &str| assert_eq!(families(given), expected, "{given}");
        check("Roboto", "Roboto");
        check("sans-serif", "sans-serif");
        check("Open Sans", "\"Open Sans\"");
        check("'Open Sans', serif", "\"Open Sans\", serif");
        check("Exo 2,generic(fangsong), ,", "\"Exo 2\", generic(fangsong)");
        check("<b>Bad</b>", "Bad");
        check("''", "");
    }

    #[test]
    fn descriptors_are_plain() {
        let given = json!({"fontFamily": "Exo 2", "src": ["https://a.org/x%20y.woff2", "file"], "fontWeight": 400,
            "unicodeRange": "U+0-7F<script>"});
        let expected = json!({"fontFamily": "\"Exo 2\"", "src": ["https://a.org/x%20y.woff2", "file"],
            "fontWeight": 400, "unicodeRange": "U+0-7F"});
        assert_eq!(descriptors(&given), expected);
    }

    #[test]
    fn equal_texts_compare_equal() {
        for (a, b) in [("\"Open Sans\", Serif", "open sans,serif"), ("Bold", "bold"), ("U+0-7F; ", "u+0-7f")] {
            assert_eq!(comparable(a), comparable(b), "{a}");
        }
        assert_ne!(comparable("Open Sans"), comparable("OpenSans"));
    }
}
