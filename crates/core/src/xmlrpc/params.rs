//! Parameters of calls: of the kinds that a method declares, read as leniently as old clients need.

use super::value::{Value, to_json};
use super::{Param, ParamKind};
use crate::error::XmlRpcFault;
use crate::request::call::CustomField;
use minijinja::value::ValueKind;

/// A change of a meta value as clients describe it.
pub fn custom_field(given: &Value) -> CustomField {
    let member = |name: &str| given.get_attr(name).ok().filter(|value| !value.is_undefined() && !value.is_none());
    CustomField {
        number: member("id").map(|id| number(&id)),
        key: member("key").map(|key| key.to_string()),
        value: member("value").and_then(|value| to_json(&value)).unwrap_or_default(),
    }
}

/// The number that a text begins with, and 0 where there is none: such an id names nothing.
fn number(value: &Value) -> i64 {
    let text = value.as_str().unwrap_or_default().trim_start();
    let digits = text.trim_start_matches(['+', '-']);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len()) + text.len() - digits.len();
    let real = || f64::try_from(value.clone()).map_or(0, |real| real as i64);
    value.as_i64().unwrap_or_else(|| if value.as_str().is_some() { text[..end].parse().unwrap_or(0) } else { real() })
}

/// A whole number, or a text that is one.
pub fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()))
}

/// A parameter of its kind. An empty value where another kind is wanted counts as absent, as old clients intend it.
///
/// # Errors
/// It is of another kind.
pub fn checked(param: &Param, value: Value) -> Result<Value, XmlRpcFault> {
    let kind = value.kind();
    let fits = match param.kind {
        ParamKind::Any | ParamKind::Login | ParamKind::Secret => true,
        ParamKind::Id | ParamKind::Int => matches!(kind, ValueKind::String | ValueKind::Number | ValueKind::Bool),
        ParamKind::Text => matches!(kind, ValueKind::String | ValueKind::Number),
        ParamKind::Flag => !matches!(kind, ValueKind::Seq | ValueKind::Map | ValueKind::Bytes),
        ParamKind::List => kind == ValueKind::Seq,
        ParamKind::Struct => kind == ValueKind::Map,
        ParamKind::Bytes => kind == ValueKind::Bytes,
    };
    let empty = value.is_none() || value.len() == Some(0);
    match (fits, empty, param.kind) {
        (true, false, ParamKind::Id | ParamKind::Int) => Ok(Value::from(number(&value))),
        (true, true, ParamKind::Id | ParamKind::Int) if param.optional => Ok(Value::UNDEFINED),
        (true, true, ParamKind::Id | ParamKind::Int) => Ok(Value::from(0)),
        (true, ..) => Ok(value),
        // A struct without members is a list to some clients.
        (false, true, ParamKind::Struct) => Ok(Value::from_pairs::<_, &str, Value>([])),
        (false, true, ParamKind::List) => Ok(Value::from(Vec::<Value>::new())),
        (false, true, _) if param.optional => Ok(Value::UNDEFINED),
        _ => Err(XmlRpcFault::InvalidParams),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_far_as_they_are_numbers() {
        let check = |value: Value, expected: i64| assert_eq!(number(&value), expected, "{value}");
        check(Value::from(7), 7);
        check(Value::from(7.9), 7);
        check(Value::from(true), 1);
        for (text, expected) in [("7", 7), (" 7", 7), ("7th", 7), ("-7", -7), ("x7", 0), ("", 0), ("+-7", 0), ("é", 0)]
        {
            check(Value::from(text), expected);
        }
        check(Value::from("99999999999999999999"), 0);
    }
}
