//! Values that PHP has serialised (`a:1:{i:0;s:3:"one";}`), as JSON: plugins of WordPress store lists and structures so.
//!
//! Pure: it knows neither where a text comes from nor what a value has to be.

use serde_json::{Map, Number, Value};

/// Lists and objects inside one another; what is nested deeper is not read.
const DEEPEST: usize = 64;

/// The value of a serialised text; `None` when the text is nothing of the kind. An array whose keys count from 0 is a
/// list, any other one an object, as are the objects of PHP.
pub fn unserialize(text: &str) -> Option<Value> {
    if !is_serialised(text) {
        return None;
    }
    let mut reader = Reader { rest: text };
    let value = reader.value(0)?;
    reader.rest.trim_end().is_empty().then_some(value)
}

/// The cheapest way to tell a plain text.
fn is_serialised(text: &str) -> bool {
    matches!(text.as_bytes(), [b'a' | b'b' | b'd' | b'i' | b's' | b'O', b':', ..] | b"N;")
}

/// The texts of a serialised list; what is nothing of the kind holds none.
pub fn texts(serialised: &str) -> Vec<String> {
    let values = match unserialize(serialised) {
        Some(Value::Array(list)) => list,
        Some(Value::Object(map)) => map.into_iter().map(|(_, value)| value).collect(),
        _ => Vec::new(),
    };
    values.iter().filter_map(|value| Some(value.as_str()?.to_owned())).collect()
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        if self.skip("N;").is_some() {
            return Some(Value::Null);
        }
        let (kind, rest) = self.rest.split_once(':')?;
        self.rest = rest;
        match kind {
            "b" => Some(Value::Bool(self.until(';')? == "1")),
            "i" => Some(Value::from(self.until(';')?.parse::<i64>().ok()?)),
            "d" => Some(Value::Number(Number::from_f64(self.until(';')?.parse().ok()?)?)),
            "s" => {
                let text = self.quoted()?;
                self.skip(";")?;
                Some(Value::String(text.to_owned()))
            }
            "a" => self.members(depth),
            "O" => {
                self.quoted()?;
                self.skip(":")?;
                Some(match self.members(depth)? {
                    Value::Array(list) => Value::Object(list_to_object(list)),
                    other => other,
                })
            }
            _ => None,
        }
    }

    /// The members behind their count: `2:{…}`.
    fn members(&mut self, depth: usize) -> Option<Value> {
        let count: usize = self.until(':')?.parse().ok()?;
        self.skip("{")?;
        let (mut map, mut counts_on) = (Map::new(), true);
        for place in 0..count {
            let key = match self.value(depth + 1)? {
                Value::String(key) => {
                    counts_on = false;
                    // Private members have the name of their class before their own.
                    key.rsplit('\0').next().unwrap_or_default().to_owned()
                }
                Value::Number(key) => {
                    counts_on = counts_on && key.as_u64() == Some(place as u64);
                    key.to_string()
                }
                _ => return None,
            };
            map.insert(key, self.value(depth + 1)?);
        }
        self.skip("}")?;
        Some(if counts_on { Value::Array(map.into_iter().map(|(_, value)| value).collect()) } else { map.into() })
    }

    /// Writes a value as it is, but for its texts.
    fn copy(&mut self, to: &mut String, change: &mut dyn FnMut(&mut String), depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        if self.skip("N;").is_some() {
            to.push_str("N;");
            return Some(());
        }
        let (kind, rest) = self.rest.split_once(':')?;
        self.rest = rest;
        match kind {
            "s" => {
                let mut text = self.quoted()?.to_owned();
                self.skip(";")?;
                // Plugins serialise what is serialised already.
                change_nested(&mut text, change, depth + 1);
                to.push_str(&format!("s:{}:\"{text}\";", text.len()));
            }
            "a" => {
                to.push_str("a:");
                self.copy_members(to, change, depth)?;
            }
            "O" => {
                let class = self.quoted()?;
                self.skip(":")?;
                to.push_str(&format!("O:{}:\"{class}\":", class.len()));
                self.copy_members(to, change, depth)?;
            }
            "b" | "i" | "d" | "r" | "R" => to.push_str(&format!("{kind}:{};", self.until(';')?)),
            _ => return None,
        }
        Some(())
    }

    fn copy_members(&mut self, to: &mut String, change: &mut dyn FnMut(&mut String), depth: usize) -> Option<()> {
        let count: usize = self.until(':')?.parse().ok()?;
        self.skip("{")?;
        to.push_str(&format!("{count}:{{"));
        for _ in 0..count {
            self.copy(to, &mut |_| {}, depth + 1)?;
            self.copy(to, change, depth + 1)?;
        }
        self.skip("}")?;
        to.push('}');
        Some(())
    }

    /// The text behind its length in bytes: `3:"one"`. A line end that lost its carriage return on the way is counted with it.
    fn quoted(&mut self) -> Option<&'t str> {
        let length: usize = self.until(':')?.parse().ok()?;
        let text = self.skip("\"")?;
        let ends = |end: usize| text.is_char_boundary(end) && text[end..].starts_with('"');
        let end = Some(length).filter(|end| *end <= text.len() && ends(*end)).or_else(|| {
            let mut counted = 0;
            let end = text.bytes().position(|byte| {
                let reached = counted >= length;
                counted += if byte == b'\n' { 2 } else { 1 };
                reached
            })?;
            ends(end).then_some(end)
        })?;
        self.rest = &text[end + 1..];
        Some(&text[..end])
    }

    fn until(&mut self, end: char) -> Option<&'t str> {
        let (before, rest) = self.rest.split_once(end)?;
        self.rest = rest;
        Some(before)
    }

    fn skip(&mut self, mark: &str) -> Option<&'t str> {
        self.rest = self.rest.strip_prefix(mark)?;
        Some(self.rest)
    }
}

/// A value as WordPress's tables have it: texts and numbers as they are, true as 1, false and null as nothing, lists and objects
/// serialised.
pub fn stored(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(false) => String::new(),
        Value::Bool(true) => "1".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => serialize(value),
    }
}

/// A value as PHP serialises it. Keys that are whole numbers are numbers there.
pub fn serialize(value: &Value) -> String {
    let text = |text: &str| format!("s:{}:\"{text}\";", text.len());
    let entries = |count: usize, entries: String| format!("a:{count}:{{{entries}}}");
    match value {
        Value::Null => "N;".to_owned(),
        Value::Bool(flag) => format!("b:{};", u8::from(*flag)),
        Value::Number(number) if number.is_f64() => format!("d:{number};"),
        Value::Number(number) => format!("i:{number};"),
        Value::String(own) => text(own),
        Value::Array(list) => {
            let all = list.iter().enumerate().map(|(place, value)| format!("i:{place};{}", serialize(value)));
            entries(list.len(), all.collect())
        }
        Value::Object(map) => {
            let is_number = |key: &str| key.parse::<i64>().is_ok_and(|number| number.to_string() == key);
            let key = |key: &str| if is_number(key) { format!("i:{key};") } else { text(key) };
            entries(map.len(), map.iter().map(|(own, value)| key(own) + &serialize(value)).collect())
        }
    }
}

/// Changes a text; of a value that PHP has serialised, the texts in it, whose lengths follow. What else is in that stays as it is
/// written: objects, references, names of members.
pub fn change_texts(text: &mut String, change: &mut dyn FnMut(&mut String)) {
    change_nested(text, change, 0);
}

fn change_nested(text: &mut String, change: &mut dyn FnMut(&mut String), depth: usize) {
    let mut reader = Reader { rest: text };
    let mut written = String::with_capacity(text.len());
    let whole = is_serialised(text) && reader.copy(&mut written, change, depth).is_some();
    match whole && reader.rest.trim_end().is_empty() {
        true => *text = written,
        false => change(text),
    }
}

/// Visits the texts of a value; names of members are none.
pub fn each_text(value: &mut Value, visit: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(list) => list.iter_mut().for_each(|value| each_text(value, visit)),
        Value::Object(map) => map.values_mut().for_each(|value| each_text(value, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether PHP takes the value for empty.
pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => matches!(text.as_str(), "" | "0"),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}

/// A list as an object, by position.
pub fn list_to_object(list: Vec<Value>) -> Map<String, Value> {
    list.into_iter().enumerate().map(|(place, value)| (place.to_string(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn empty_values() {
        for value in [json!(null), json!(false), json!(0), json!(0.0), json!(""), json!("0"), json!([]), json!({})] {
            assert!(is_empty(&value), "{value}");
        }
        for value in [json!(true), json!(-1), json!(0.5), json!("00"), json!(" "), json!([0]), json!({"a": 0})] {
            assert!(!is_empty(&value), "{value}");
        }
    }

    #[test]
    fn values() {
        let check = |text: &str, expected: Option<Value>| assert_eq!(unserialize(text), expected, "{text}");
        check("a:2:{i:0;i:37;i:1;s:2:\"10\";}", Some(json!([37, "10"])));
        check("a:2:{s:1:\"a\";s:1:\"x\";s:1:\"b\";b:1;}", Some(json!({"a": "x", "b": true})));
        check("a:2:{i:3;i:1;i:7;i:2;}", Some(json!({"3": 1, "7": 2})));
        check("a:0:{}", Some(json!([])));
        check("a:1:{i:0;a:1:{s:1:\"k\";N;}}", Some(json!([{"k": null}])));
        check("s:6:\"s:\"two\";", Some(json!("s:\"two")));
        check("s:5:\"Ärzt\";", Some(json!("Ärzt")));
        check("s:4:\"a\nb\";", Some(json!("a\nb")));
        check("d:12.5;", Some(json!(12.5)));
        check("i:-4;", Some(json!(-4)));
        check("b:0;", Some(json!(false)));
        check("N;", Some(Value::Null));
        check("O:8:\"stdClass\":1:{s:1:\"a\";i:1;}", Some(json!({"a": 1})));
        check("O:8:\"stdClass\":0:{}", Some(json!({})));
        for other in
            ["plain", "", "12.5", "a:1:{i:0;s:99:\"short\";}", "i:1;x", "s:1:\"ab\";", "a:9:{}", "d:INF;", "R:1;"]
        {
            check(other, None);
        }
        let deep = "a:1:{i:0;".repeat(DEEPEST + 2) + "i:1;" + &"}".repeat(DEEPEST + 2);
        check(&deep, None);
    }

    #[test]
    fn texts_of_lists() {
        let check = |text: &str, expected: &[&str]| assert_eq!(texts(text), expected, "{text}");
        check("a:1:{i:0;s:0:\"\";}", &[""]);
        check("a:2:{i:0;s:3:\"one\";i:1;s:6:\"s:\"two\";}", &["one", "s:\"two"]);
        check("a:1:{i:0;s:99:\"short\";}", &[]);
        check("plain", &[]);
    }

    proptest! {
        #[test]
        fn nothing_breaks_it(text in "[abidsNO:;{}\"0-9\\nä]{0,80}") {
            let _ = unserialize(&text);
        }
    }

    #[test]
    fn texts_inside_change_and_the_rest_stays() {
        for (text, expected) in [
            ("one a", "one b"),
            ("s:1:\"a\";", "s:1:\"b\";"),
            (
                "a:2:{s:1:\"a\";s:2:\"aa\";i:5;a:1:{i:0;s:4:\"a é\";}}",
                "a:2:{s:1:\"a\";s:2:\"bb\";i:5;a:1:{i:0;s:4:\"b é\";}}",
            ),
            (
                "O:3:\"Aca\":3:{s:1:\"p\";s:1:\"a\";s:1:\"q\";R:2;s:1:\"r\";d:0.10;}",
                "O:3:\"Aca\":3:{s:1:\"p\";s:1:\"b\";s:1:\"q\";R:2;s:1:\"r\";d:0.10;}",
            ),
            ("a:1:{i:0;s:9:\"a\";}", "b:1:{i:0;s:9:\"b\";}"),
            ("a:1:{i:0;s:18:\"a:1:{i:0;s:1:\"a\";}\";}", "a:1:{i:0;s:18:\"a:1:{i:0;s:1:\"b\";}\";}"),
        ] {
            let mut changed = text.to_owned();
            change_texts(&mut changed, &mut |text| *text = text.replace('a', "b"));
            assert_eq!(changed, expected, "{text}");
        }
    }
}
