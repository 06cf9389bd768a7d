//! The two notions of equality: `uniqueItems` distinguishes types, `enum` compares numbers by value. Both ignore the
//! order of properties.

use super::number::Num;
use serde_json::Value;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};

/// Whether an item occurs twice. Linear: the sets that clients send may be long.
pub(super) fn has_duplicates(items: &[Value]) -> bool {
    let mut seen = HashSet::with_capacity(items.len());
    !items.iter().all(|item| seen.insert(StrictValue(item)))
}

/// Equality of `enum`: 1 and 1.0 are the same there.
pub(super) fn values_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => Num::of(a) == Num::of(b),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| values_equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| values_equal(a, b)))
        }
        _ => a == b,
    }
}

/// Equality of `uniqueItems`: '1', 1 and 1.0 are three values.
struct StrictValue<'a>(&'a Value);

impl PartialEq for StrictValue<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self.0, other.0) {
            (Value::Number(a), Value::Number(b)) => a.is_f64() == b.is_f64() && Num::of(a) == Num::of(b),
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| StrictValue(a) == StrictValue(b))
            }
            (Value::Object(a), Value::Object(b)) => {
                a.len() == b.len()
                    && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| StrictValue(a) == StrictValue(b)))
            }
            (a, b) => a == b,
        }
    }
}

// serde_json holds no NaN, so equality is total.
impl Eq for StrictValue<'_> {}

impl Hash for StrictValue<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.0 {
            Value::Null => state.write_u8(0),
            Value::Bool(flag) => (1u8, flag).hash(state),
            Value::Number(number) => match number.as_i64().filter(|_| !number.is_f64()) {
                Some(integer) => (2u8, integer).hash(state),
                // Adding zero turns -0.0 into 0.0, which equals it.
                None => (3u8, (number.as_f64().unwrap_or_default() + 0.0).to_bits()).hash(state),
            },
            Value::String(text) => (4u8, text).hash(state),
            Value::Array(items) => {
                (5u8, items.len()).hash(state);
                items.iter().for_each(|item| StrictValue(item).hash(state));
            }
            Value::Object(map) => {
                (6u8, map.len()).hash(state);
                let mut keys: Vec<&String> = map.keys().collect();
                keys.sort_unstable();
                for key in keys {
                    key.hash(state);
                    StrictValue(&map[key]).hash(state);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn uniqueness_tells_types_apart() {
        let rows = [
            (json!(["1", 1, 1.0, true, null]), false),
            (json!([1, 1]), true),
            (json!([0.0, -0.0]), true),
            (json!([18446744073709551615u64, 18446744073709551614u64]), false),
            (json!([{"a": 1, "b": [2]}, {"b": [2], "a": 1}]), true),
            (json!([{"a": 1}, {"a": 1.0}]), false),
            (json!([["a", "b"], ["b", "a"]]), false),
            (json!([]), false),
        ];
        for (list, expected) in rows {
            assert_eq!(has_duplicates(list.as_array().expect("rows are lists")), expected, "{list}");
        }
    }
}
