//! JSON values as TOML.

use serde_json::{Map, Value};

/// A value on one line. Null has no form in TOML: members that are null are left out.
pub fn value(value: &Value) -> String {
    match value {
        Value::Null => "\"\"".to_owned(),
        Value::String(text) => quoted(text),
        Value::Array(list) => {
            let items: Vec<String> = list.iter().filter(|item| !item.is_null()).map(self::value).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) if map.values().all(Value::is_null) => "{}".to_owned(),
        Value::Object(map) => format!("{{ {} }}", members(map).join(", ")),
        other => other.to_string(),
    }
}

/// The members of a table, each as `key = value`.
pub fn members(map: &Map<String, Value>) -> Vec<String> {
    let known = map.iter().filter(|(_, value)| !value.is_null());
    known.map(|(key, value)| format!("{} = {}", self::key(key), self::value(value))).collect()
}

/// A key, bare where it can be.
pub fn key(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(bare) { key.to_owned() } else { quoted(key) }
}

/// A text as TOML has it, which escapes what JSON does, and one character more.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// A text that is part of a comment.
pub fn comment(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn values_have_their_form() {
        let check = |given: Value, expected: &str| assert_eq!(value(&given), expected);
        check(json!("a \"b\"\n"), r#""a \"b\"\n""#);
        check(json!({"a": 1, "b c": [true, null], "n": null}), r#"{ a = 1, "b c" = [true] }"#);
        check(json!({}), "{}");
        assert_eq!(key("box.deep"), "\"box.deep\"");
        assert_eq!(comment("a\nb"), "a b");
    }

    proptest! {
        #[test]
        fn every_text_is_read_back(text in "\\PC*|[\u{0}-\u{9f}]{0,20}", name in "\\PC{1,9}") {
            let written = format!("{} = {}", key(&name), value(&json!(text)));
            let read: toml::Table = toml::from_str(&written).expect("it is TOML");
            prop_assert_eq!(read[&name].as_str(), Some(text.as_str()));
        }
    }
}
