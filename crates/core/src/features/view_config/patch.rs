//! Changes of a view configuration: values merged key by key, lists by what identifies their members, names removed.

use serde_json::{Map, Value};

/// Members by which items of lists are known, the first that an item has.
const IDENTITY: [&str; 3] = ["id", "slug", "field"];

/// How a change treats a list that it names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ListPolicy {
    /// Members are merged with those of the same identity; others are added.
    Merge,
    /// The list of the change is the list.
    Replace,
}

/// Merges a change into a configuration. A value of another shape (a list for a table) changes nothing.
pub fn patch(config: &mut Map<String, Value>, change: Map<String, Value>, lists: ListPolicy) {
    for (key, value) in change {
        match config.get_mut(&key) {
            None => drop(config.insert(key, value)),
            Some(current) => merge(current, value, lists),
        }
    }
}

fn merge(current: &mut Value, change: Value, lists: ListPolicy) {
    match (current, change) {
        (Value::Object(current), Value::Object(change)) => patch(current, change, lists),
        (Value::Array(current), Value::Array(change)) if lists == ListPolicy::Replace => *current = change,
        (Value::Array(current), Value::Array(change)) => {
            for member in change {
                let known = identity(&member);
                match current.iter_mut().find(|other| known.is_some() && identity(other) == known) {
                    Some(other) => merge(other, member, lists),
                    None => current.push(member),
                }
            }
        }
        (Value::Object(_) | Value::Array(_), _) | (_, Value::Object(_) | Value::Array(_)) => {}
        (current, change) => *current = change,
    }
}

/// The identity of a member of a list: the member itself, or one of its members.
fn identity(member: &Value) -> Option<String> {
    match member {
        Value::Object(map) => IDENTITY.iter().find_map(|key| map.get(*key)).and_then(identity),
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Removes what is named: keys of tables and members of lists, in a list of names or below a table of them. A whole part
/// becomes that of the base.
pub fn remove(config: &mut Map<String, Value>, names: &Value, base: &Map<String, Value>) {
    match names {
        Value::Array(parts) => {
            for part in parts.iter().filter_map(Value::as_str) {
                match base.get(part) {
                    Some(value) => drop(config.insert(part.to_owned(), value.clone())),
                    None => drop(config.shift_remove(part)),
                }
            }
        }
        Value::Object(below) => {
            for (part, names) in below {
                if let Some(value) = config.get_mut(part) {
                    prune(value, names);
                }
            }
        }
        _ => {}
    }
}

fn prune(value: &mut Value, names: &Value) {
    let named = |name: &Option<String>, names: &[Value]| {
        name.as_ref().is_some_and(|name| names.iter().any(|wanted| identity(wanted).as_ref() == Some(name)))
    };
    match (value, names) {
        (Value::Object(map), Value::Array(names)) => map.retain(|key, _| !named(&Some(key.clone()), names)),
        (Value::Array(list), Value::Array(names)) => list.retain(|member| !named(&identity(member), names)),
        (value, Value::Object(below)) => {
            for (name, names) in below {
                let member = match value {
                    Value::Object(map) => map.get_mut(name),
                    Value::Array(list) => list.iter_mut().find(|member| identity(member).as_ref() == Some(name)),
                    _ => None,
                };
                if let Some(member) = member {
                    prune(member, names);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().expect("an object")
    }

    #[test]
    fn changes_are_merged_by_shape_and_identity() {
        let base = json!({"view": {"fields": ["a", "b"], "sort": {"field": "t"}, "n": 1}, "list": [{"slug": "x", "title": "X"}, {"id": 7}]});
        let check = |change: Value, lists: ListPolicy, expected: Value| {
            let mut config = map(base.clone());
            patch(&mut config, map(change.clone()), lists);
            assert_eq!(Value::Object(config), expected, "{change}");
        };
        let change = json!({"view": {"fields": ["b", "c"], "n": 2, "m": {}}, "list": [{"slug": "x", "title": "Y"}, {"slug": "z"}, {"id": "7", "on": true}, {"none": 1}]});
        check(
            change.clone(),
            ListPolicy::Merge,
            json!({"view": {"fields": ["a", "b", "c"], "sort": {"field": "t"}, "n": 2, "m": {}},
                "list": [{"slug": "x", "title": "Y"}, {"id": "7", "on": true}, {"slug": "z"}, {"none": 1}]}),
        );
        check(
            json!({"view": {"fields": ["c"]}}),
            ListPolicy::Replace,
            json!({"view": {"fields": ["c"], "sort": {"field": "t"}, "n": 1}, "list": base["list"]}),
        );
        check(json!({"view": ["a"], "list": {"slug": "y"}}), ListPolicy::Merge, base.clone());
        check(json!({"list": [], "view": {"sort": "t", "fields": []}}), ListPolicy::Merge, base.clone());
    }

    #[test]
    fn names_are_removed_at_any_depth() {
        let base = json!({"view": {"fields": ["a"]}, "form": {}});
        let config = json!({"view": {"fields": ["a", "b"], "sort": {"field": "t", "direction": "asc"}},
            "list": [{"slug": "x", "view": {"n": 1, "m": 2}}, {"slug": "y"}]});
        let check = |names: Value, expected: Value| {
            let mut config = map(config.clone());
            remove(&mut config, &names, &map(base.clone()));
            assert_eq!(Value::Object(config), expected, "{names}");
        };
        check(json!(["view", "list"]), json!({"view": {"fields": ["a"]}}));
        check(
            json!({"view": {"fields": ["b", "q"], "sort": ["direction"]}, "list": {"x": {"view": ["n"]}}, "none": ["a"]}),
            json!({"view": {"fields": ["a"], "sort": {"field": "t"}}, "list": [{"slug": "x", "view": {"m": 2}}, {"slug": "y"}]}),
        );
        check(
            json!({"list": ["y"]}),
            json!({"view": config["view"], "list": [{"slug": "x", "view": {"n": 1, "m": 2}}]}),
        );
        check(json!(null), config.clone());
    }
}
