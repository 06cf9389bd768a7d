//! Keys of other rows inside a column of JSON. The writer derives edges from them.

use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;

/// The place of keys inside a column of JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct InnerKeys {
    /// The column as puts name it: that of an extension is `table.column`.
    pub column: Arc<str>,
    /// The way from the value to a key. It has at least one step.
    pub path: Vec<JsonStep>,
}

/// A step into a JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonStep {
    /// The member of this name.
    Member(Arc<str>),
    /// Each item of a list, or each member of an object.
    Each,
}

impl InnerKeys {
    /// The keys in a value: each once, in their order.
    pub fn of(&self, value: &Value) -> Vec<i64> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        gather(value, &self.path, &mut found);
        found.retain(|key| seen.insert(*key));
        found
    }

    /// Puts other keys in place of those in a value. One without another leaves its list, or goes with its member.
    pub fn replace(&self, value: &mut Value, other: impl Fn(i64) -> Option<i64>) {
        replace(value, &self.path, &other);
    }

    /// The keys in the text of a value.
    pub(super) fn of_text(&self, text: &str) -> Vec<i64> {
        serde_json::from_str(text).map_or_else(|_| Vec::new(), |value| self.of(&value))
    }
}

fn key(value: &Value) -> Option<i64> {
    value.as_i64().filter(|key| *key > 0)
}

fn gather(value: &Value, path: &[JsonStep], found: &mut Vec<i64>) {
    match (path.split_first(), value) {
        (None, value) => found.extend(key(value)),
        (Some((JsonStep::Member(name), rest)), Value::Object(members)) => {
            members.get(&**name).into_iter().for_each(|member| gather(member, rest, found));
        }
        (Some((JsonStep::Each, rest)), Value::Array(items)) => items.iter().for_each(|item| gather(item, rest, found)),
        (Some((JsonStep::Each, rest)), Value::Object(members)) => {
            members.values().for_each(|member| gather(member, rest, found));
        }
        _ => {}
    }
}

fn replace(value: &mut Value, path: &[JsonStep], other: &dyn Fn(i64) -> Option<i64>) {
    let Some((step, rest)) = path.split_first() else { return };
    // Whether the value stays.
    let change = |value: &mut Value| {
        replace(value, rest, other);
        let Some(key) = key(value).filter(|_| rest.is_empty()) else { return true };
        let new = other(key);
        *value = new.map_or(Value::Null, Value::from);
        new.is_some()
    };
    match (step, value) {
        (JsonStep::Member(name), Value::Object(members)) => {
            members.retain(|own, member| **own != **name || change(member));
        }
        (JsonStep::Each, Value::Array(items)) => items.retain_mut(change),
        (JsonStep::Each, Value::Object(members)) => members.retain(|_, member| change(member)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn keys(path: &[&str]) -> InnerKeys {
        let step = |name: &&str| if *name == "*" { JsonStep::Each } else { JsonStep::Member((*name).into()) };
        InnerKeys { column: "parts".into(), path: path.iter().map(step).collect() }
    }

    #[test]
    fn keys_are_found_and_replaced_at_their_place() {
        let value = json!({
            "one": 3,
            "list": [5, 3, 5, 0, "7", null],
            "rows": [{"of": 3}, {"of": 4, "note": 3}, {"note": 9}, 7],
            "map": {"a": [8], "b": [3, 9]},
        });
        let cases: [(&[&str], &[i64], Value); 6] = [
            (&["one"], &[3], json!(null)),
            (&["list", "*"], &[5, 3], json!([5, 5, 0, "7", null])),
            (&["rows", "*", "of"], &[3, 4], json!([{}, {"of": 4, "note": 3}, {"note": 9}, 7])),
            (&["map", "*", "*"], &[8, 3, 9], json!({"a": [8], "b": [9]})),
            (&["none", "*"], &[], json!(null)),
            (&["one", "deeper"], &[], json!(3)),
        ];
        for (path, found, without_3) in cases {
            let keys = keys(path);
            assert_eq!(keys.of(&value), found, "{path:?}");
            let mut value = value.clone();
            keys.replace(&mut value, |key| Some(key).filter(|key| *key != 3));
            assert_eq!(value[path[0]], without_3, "{path:?}");
        }
    }
}
