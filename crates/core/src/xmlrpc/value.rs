//! Values on their way between XML-RPC, expressions and JSON.
//!
//! Expressions work on `minijinja` values; a [`CompactTime`] is the one kind of value that neither JSON nor the expressions
//! know. Nothing here knows a method.

use minijinja::value::{Object, ObjectRepr, ValueKind};
use serde_json::{Map, Number};
use std::fmt;
use std::sync::Arc;

pub use minijinja::Value;

/// A time in a response, in the compact form of XML-RPC: `20310102T03:04:05`.
#[derive(Debug, PartialEq, Eq)]
pub struct CompactTime(String);

impl CompactTime {
    /// From a time of the REST routes (`2031-01-02T03:04:05`, perhaps with a zone, which is dropped). `None` for anything
    /// else.
    pub fn from_rest(text: &str) -> Option<CompactTime> {
        let (date, time) = text.split_once('T')?;
        let time = time.get(..8)?;
        let digits = |text: &str, places: &[usize], mark: u8| {
            text.bytes().enumerate().all(|(i, b)| if places.contains(&i) { b == mark } else { b.is_ascii_digit() })
        };
        let fits = date.len() == 10 && digits(date, &[4, 7], b'-') && digits(time, &[2, 5], b':');
        fits.then(|| CompactTime(format!("{}T{time}", date.replace('-', ""))))
    }

    /// The compact form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Object for CompactTime {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A time of a client in the format of the REST routes: `20310102t03:04:05z` becomes `2031-01-02T03:04:05Z`. Other
/// spellings stay as they are; the routes validate them.
pub fn to_rest_time(text: &str) -> String {
    let text = text.trim();
    let Some((date, time)) = text.split_once(['T', 't']) else { return text.to_owned() };
    let time = time.to_ascii_uppercase();
    match date.len() {
        8 if date.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{}-{}-{}T{time}", &date[..4], &date[4..6], &date[6..])
        }
        10 if date.bytes().all(|b| b.is_ascii_digit() || b == b'-') => format!("{date}T{time}"),
        _ => text.to_owned(),
    }
}

/// JSON for expressions.
pub fn from_json(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::from(()),
        serde_json::Value::Bool(flag) => Value::from(*flag),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::from(whole),
            (None, Some(real)) => Value::from(real),
            (None, None) => Value::from(()),
        },
        serde_json::Value::String(text) => Value::from(text.as_str()),
        serde_json::Value::Array(list) => list.iter().map(from_json).collect(),
        serde_json::Value::Object(map) => {
            Value::from_pairs(map.iter().map(|(key, value)| (Value::from(key.as_str()), from_json(value))))
        }
    }
}

/// JSON of what an expression gave: undefined members are left out, an undefined whole is `None`.
pub fn to_json(value: &Value) -> Option<serde_json::Value> {
    Some(match value.kind() {
        ValueKind::Undefined => return None,
        ValueKind::None => serde_json::Value::Null,
        ValueKind::Bool => serde_json::Value::Bool(value.is_true()),
        ValueKind::Number => number(value),
        ValueKind::Seq | ValueKind::Iterable => {
            serde_json::Value::Array(elements(value).iter().filter_map(to_json).collect())
        }
        ValueKind::Map => {
            let mut map = Map::new();
            for (key, value) in members(value) {
                if let Some(value) = to_json(&value) {
                    map.insert(key, value);
                }
            }
            serde_json::Value::Object(map)
        }
        _ => serde_json::Value::String(value.to_string()),
    })
}

fn number(value: &Value) -> serde_json::Value {
    if let Some(whole) = value.as_i64().filter(|_| value.is_integer()) {
        return whole.into();
    }
    let real = f64::try_from(value.clone()).ok().and_then(Number::from_f64);
    real.map_or(serde_json::Value::Null, serde_json::Value::Number)
}

/// Bytes of text in a value; numbers count as a few.
pub fn bytes(value: &Value) -> usize {
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => elements(value).iter().map(bytes).sum::<usize>() + 16,
        ValueKind::Map => members(value).iter().map(|(name, value)| name.len() + bytes(value)).sum::<usize>() + 16,
        ValueKind::Bytes => value.as_bytes().map_or(0, <[u8]>::len),
        _ => value.as_str().map_or(8, str::len),
    }
}

/// The same of a document.
pub fn json_bytes(json: &serde_json::Value) -> usize {
    match json {
        serde_json::Value::String(text) => text.len(),
        serde_json::Value::Array(list) => list.iter().map(json_bytes).sum::<usize>() + 16,
        serde_json::Value::Object(map) => {
            map.iter().map(|(name, value)| name.len() + json_bytes(value)).sum::<usize>() + 16
        }
        _ => 8,
    }
}

/// The elements of a list; none for anything that cannot be walked.
pub fn elements(value: &Value) -> Vec<Value> {
    value.try_iter().map(Iterator::collect).unwrap_or_default()
}

/// The members of a map in order.
pub fn members(value: &Value) -> Vec<(String, Value)> {
    let keys = elements(value);
    keys.into_iter().map(|key| (key.to_string(), value.get_item(&key).unwrap_or_default())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times() {
        let check = |rest: &str, expected: Option<&str>| {
            assert_eq!(CompactTime::from_rest(rest).as_ref().map(CompactTime::as_str), expected, "{rest}");
        };
        check("2031-01-02T03:04:05", Some("20310102T03:04:05"));
        check("2031-01-02T03:04:05+00:00", Some("20310102T03:04:05"));
        for none in ["", "2031-01-02", "2031-01-02T03:04", "2031-01-0xT03:04:05", "é031-01-02T03:04:05", "T", "xT€€€"]
        {
            check(none, None);
        }
        assert_eq!(to_rest_time("20310102T03:04:05"), "2031-01-02T03:04:05");
        assert_eq!(to_rest_time(" 20310102T03:04:05Z "), "2031-01-02T03:04:05Z");
        assert_eq!(to_rest_time("2031-01-02T03:04:05"), "2031-01-02T03:04:05");
        assert_eq!(to_rest_time("20310102t03:04:05z"), "2031-01-02T03:04:05Z");
        assert_eq!(to_rest_time("2031-01-02t03:04:05z"), "2031-01-02T03:04:05Z");
        assert_eq!(to_rest_time("soon"), "soon");
        assert_eq!(to_rest_time("at two"), "at two");
        assert_eq!(to_rest_time("ééééT"), "ééééT");
    }

    #[test]
    fn texts_are_what_weighs() {
        let document = json!({"a": ["xx", "yyy"], "b": {"c": "z"}, "n": 1});
        assert_eq!(json_bytes(&document), bytes(&from_json(&document)));
        assert_eq!(json_bytes(&document), 3 * 16 + 1 + 5 + 2 + 1 + 1 + 8);
        assert_eq!(bytes(&Value::from_bytes(vec![0; 100])), 100);
    }

    #[test]
    fn json_goes_in_and_out() {
        let document = json!({"b": [1, -2.5, null, true, "x", {}], "a": {"n": 9_007_199_254_740_993_i64}});
        assert_eq!(to_json(&from_json(&document)), Some(document));
        assert_eq!(to_json(&Value::UNDEFINED), None);
        let gap = Value::from_pairs([("a", Value::UNDEFINED), ("b", Value::from(1))]);
        assert_eq!(to_json(&gap), Some(json!({"b": 1})));
    }
}
