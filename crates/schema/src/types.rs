//! The seven types: what each accepts, and the typed value that it becomes (contract: "Parameter validation and
//! coercion", first table).
//!
//! Owns every leniency towards text: numeric strings, comma lists, list-like maps. Nothing else in the server guesses
//! at types. It knows no constraint keyword.

use super::Dialect;
use cms_base::named;
use serde_json::{Map, Number, Value};
use std::borrow::Cow;

named! {
    /// A type of JSON Schema draft 4.
    pub enum Type {
        /// A list.
        Array = "array",
        /// A map from names to values.
        Object = "object",
        /// Text.
        String = "string",
        /// A floating-point number.
        Number = "number",
        /// A whole number of 64 bits.
        Integer = "integer",
        /// True or false.
        Boolean = "boolean",
        /// Null; only JSON can express it.
        Null = "null",
    }
}

impl Type {
    /// The value as this type sees it: borrowed where it has the type already, converted where the contract allows,
    /// `None` where it does not. Lists and objects are converted at this level only, their members stay as they are.
    pub(super) fn read(self, value: &Value, dialect: Dialect) -> Option<Cow<'_, Value>> {
        let owned = match (self, value) {
            (Type::Array, Value::Array(_))
            | (Type::Object, Value::Object(_))
            | (Type::String, Value::String(_))
            | (Type::Boolean, Value::Bool(_))
            | (Type::Null, Value::Null) => return Some(Cow::Borrowed(value)),
            (Type::Array, Value::String(text)) => Value::Array(split(text, dialect)),
            (Type::Array, Value::Number(number)) if dialect.scalars_as_lists => {
                Value::Array(split(&number.to_string(), dialect))
            }
            (Type::Array, Value::Bool(set)) if dialect.scalars_as_lists => {
                Value::Array(set.then(|| Value::from("1")).into_iter().collect())
            }
            (Type::Array, Value::Object(map)) => Value::Array(list_of(map)?),
            (Type::Object, Value::String(text)) if text.is_empty() => Value::Object(Map::new()),
            (Type::Object, Value::Array(list)) if list.is_empty() && dialect.empty_list_as_object => {
                Value::Object(Map::new())
            }
            (Type::Integer, Value::Number(number)) if number.is_i64() => return Some(Cow::Borrowed(value)),
            (Type::Integer, Value::Number(number)) => whole(number.as_f64()?, dialect)?.into(),
            (Type::Integer, Value::String(text)) => integer_from_text(spaced(text, dialect), dialect)?.into(),
            (Type::Number, Value::Number(number)) if number.is_f64() => return Some(Cow::Borrowed(value)),
            (Type::Number, Value::Number(number)) => Value::Number(Number::from_f64(number.as_f64()?)?),
            (Type::Number, Value::String(text)) => {
                Value::Number(Number::from_f64(number_from_text(spaced(text, dialect))?)?)
            }
            (Type::Boolean, Value::Number(number)) => match number.as_i64()? {
                0 => Value::Bool(false),
                1 => Value::Bool(true),
                _ => return None,
            },
            (Type::Boolean, Value::String(text)) => Value::Bool(boolean_from_text(text)?),
            _ => return None,
        };
        Some(Cow::Owned(owned))
    }
}

/// The items of a string list. Blanks around an item and empty items never count: `"1, 2,"` holds two items.
fn split(text: &str, dialect: Dialect) -> Vec<Value> {
    let separates = |c: char| c == ',' || (dialect.space_separated_lists && blank(c));
    text.split(separates)
        .map(|part| part.trim_matches(blank))
        .filter(|part| !part.is_empty())
        .map(Value::from)
        .collect()
}

fn blank(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\x0b'
}

/// A map with nothing but integers as keys is a list: PHP clients send lists with holes that way (`include[3]=7`).
fn list_of(map: &Map<String, Value>) -> Option<Vec<Value>> {
    let index = |key: &String| key.parse::<u64>().is_ok_and(|n| n.to_string() == *key);
    (!map.is_empty() && map.keys().all(index)).then(|| map.values().cloned().collect())
}

fn boolean_from_text(text: &str) -> Option<bool> {
    if text == "1" || text.eq_ignore_ascii_case("true") {
        Some(true)
    } else if text == "0" || text.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// The integer that a float is, if it is one and fits into 64 bits.
fn whole(float: f64, dialect: Dialect) -> Option<i64> {
    // Both bounds are exact powers of two, so the cast below cannot saturate.
    const TOO_LARGE: f64 = 9_223_372_036_854_775_808.0;
    if float.fract() == 0.0 && !(-TOO_LARGE..TOO_LARGE).contains(&float) && dialect.lenient_numbers {
        return Some(greatest(float < 0.0));
    }
    (float.fract() == 0.0 && (-TOO_LARGE..TOO_LARGE).contains(&float)).then_some(float as i64)
}

/// The integer farthest from 0 whose opposite is one, too.
fn greatest(negative: bool) -> i64 {
    if negative { -i64::MAX } else { i64::MAX }
}

/// The text of a number without the blanks around it, where these do not count.
fn spaced(text: &str, dialect: Dialect) -> &str {
    if dialect.lenient_numbers { text.trim_matches(blank) } else { text }
}

fn number_from_text(text: &str) -> Option<f64> {
    Decimal::parse(text)?;
    text.parse::<f64>().ok().filter(|n| n.is_finite())
}

/// Exact for every spelling: `5`, `05`, `2.0`, `1e9`, `10e-1`; never through a float.
fn integer_from_text(text: &str, dialect: Dialect) -> Option<i64> {
    let Decimal { negative, whole, fraction, exponent } = Decimal::parse(text)?;
    let digits: String = [whole, fraction].concat();
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    let dropped = digits.len() - digits.trim_end_matches('0').len();
    let exponent = exponent? - i64::try_from(fraction.len()).ok()? + i64::try_from(dropped).ok()?;
    let zeros = usize::try_from(exponent).ok()?;
    let beyond = || dialect.lenient_numbers.then(|| greatest(negative));
    if significant.len().checked_add(zeros)? > 19 {
        return beyond();
    }
    let sign = if negative { "-" } else { "" };
    format!("{sign}{significant}{}", "0".repeat(zeros)).parse().ok().or_else(beyond)
}

/// A number as text: an optional minus, digits with an optional point, an optional exponent. No plus sign in front,
/// no blanks, no hexadecimal.
struct Decimal<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    /// `None` where the exponent is beyond all use.
    exponent: Option<i64>,
}

impl<'a> Decimal<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (text, None),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
            return None;
        }
        let exponent = match exponent {
            None => Some(0),
            Some(text) => {
                let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
                if unsigned.is_empty() || !digits(unsigned) {
                    return None;
                }
                text.parse::<i32>().ok().map(i64::from)
            }
        };
        Some(Decimal { negative, whole, fraction, exponent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_exactly() {
        let rows: &[(&str, Option<i64>)] = &[
            ("5", Some(5)),
            ("-5", Some(-5)),
            ("05", Some(5)),
            ("-0", Some(0)),
            ("2.0", Some(2)),
            ("5.", Some(5)),
            (".0", Some(0)),
            ("1e9", Some(1_000_000_000)),
            ("1E+3", Some(1000)),
            ("10e-1", Some(1)),
            ("0.5e1", Some(5)),
            ("0e999999999999", Some(0)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9007199254740993.000", Some(9_007_199_254_740_993)),
            ("9223372036854775808", None),
            ("1e19", None),
            ("1e999999999999", None),
            ("1e-1", None),
            ("1.5", None),
            ("+2", None),
            (" 2", None),
            ("2 ", None),
            ("0x1A", None),
            ("", None),
            ("-", None),
            (".", None),
            ("e5", None),
            ("1e", None),
            ("1e+", None),
            ("1_000", None),
            ("٣", None),
        ];
        for (text, expected) in rows {
            assert_eq!(integer_from_text(text, Dialect::default()), *expected, "{text:?}");
        }
    }

    #[test]
    fn lenient_integers_have_no_blanks_and_no_end() {
        let lenient = Dialect { lenient_numbers: true, ..Dialect::default() };
        let rows: &[(&str, Option<i64>)] = &[
            (" 5", Some(5)),
            ("\t5\n", Some(5)),
            ("5 5", None),
            (" ", None),
            ("9223372036854775807", Some(i64::MAX)),
            ("9223372036854775808", Some(i64::MAX)),
            ("-9223372036854775809", Some(-i64::MAX)),
            ("1e30", Some(i64::MAX)),
            ("1.5", None),
        ];
        for (text, expected) in rows {
            assert_eq!(integer_from_text(spaced(text, lenient), lenient), *expected, "{text:?}");
        }
        assert_eq!((whole(1e300, lenient), whole(-1e300, lenient)), (Some(i64::MAX), Some(-i64::MAX)));
        assert_eq!(whole(0.5, lenient), None);
    }

    #[test]
    fn floats_are_integers_only_when_they_fit() {
        assert_eq!(whole(2.0, Dialect::default()), Some(2));
        assert_eq!(whole(-9_223_372_036_854_775_808.0, Dialect::default()), Some(i64::MIN));
        for refused in [1.5, 9_223_372_036_854_775_808.0, 1e300, f64::NAN, f64::INFINITY] {
            assert_eq!(whole(refused, Dialect::default()), None, "{refused}");
        }
    }
}
