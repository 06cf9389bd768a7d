//! The types that the values of a meta key show.

use crate::import::items::GREATEST;
use cms_text::php;
use cms_text::time::parse_datetime;
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};

/// Numbers of a meta key that are compared with the ids of records.
const MOST_NUMBERS: usize = 1000;

/// Facts about the values of a meta key.
pub(super) struct MetaFacts {
    pub items: u64,
    pub repeated: bool,
    pub guess: Option<GuessedType>,
    /// Besides nothing, there is "0" or "1" alone.
    pub binary: bool,
    pub zero: bool,
    pub one: bool,
    /// Some values are JSON; all are dates, as far as there are any.
    json: bool,
    dates: bool,
    /// Numbers among the values, as far as all are numbers that could be ids; `None`: they cannot, or are too many to know.
    numbers: Option<BTreeSet<i64>>,
}

impl Default for MetaFacts {
    /// Nothing is known: whatever holds for all values holds.
    fn default() -> MetaFacts {
        let (items, repeated, guess) = (0, false, None);
        let (binary, zero, one, json, dates) = (true, false, false, false, true);
        MetaFacts { items, repeated, guess, binary, zero, one, json, dates, numbers: Some(BTreeSet::new()) }
    }
}

impl MetaFacts {
    /// Notes what a value looks like besides its type.
    pub fn look(&mut self, value: &str) {
        self.binary &= matches!(value, "" | "0" | "1");
        self.zero |= matches!(value, "" | "0");
        self.one |= value == "1";
        self.json |= json_of(value).is_some();
        self.dates &= value.is_empty() || is_date(value);
        if let Some(numbers) = self.numbers.as_mut().filter(|_| !matches!(value, "" | "0")) {
            match value.parse() {
                Ok(number) if numbers.len() < MOST_NUMBERS => drop(numbers.insert(number)),
                _ => self.numbers = None,
            }
        }
    }

    /// The use of the values besides their type: dates, JSON, or ids of records.
    pub fn further(&self, records: &HashSet<i64>) -> &'static str {
        let ids = self.numbers.as_ref().filter(|numbers| numbers.len() > 1);
        if ids.is_some_and(|numbers| numbers.iter().all(|number| records.contains(number))) {
            ", and the id of a record"
        } else if self.dates && self.guess == Some(GuessedType::Text) {
            ", and a date"
        } else if self.json {
            ", some of them as JSON"
        } else {
            ""
        }
    }
}

/// The type that values show.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GuessedType {
    Integer,
    Number,
    Text,
    List,
    Object,
    /// Texts, and lists or objects.
    Several,
}

impl GuessedType {
    pub fn of(text: &str) -> Option<GuessedType> {
        if text.is_empty() {
            return None;
        }
        let integer = text.parse::<i64>().ok().filter(|number| number.unsigned_abs() <= GREATEST.unsigned_abs());
        if integer.is_some_and(|number| number.to_string() == text) {
            return Some(GuessedType::Integer);
        }
        let digits = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-'));
        if digits && text.contains('.') && text.parse::<f64>().is_ok_and(f64::is_finite) && !text.starts_with('.') {
            return Some(GuessedType::Number);
        }
        Some(match php::unserialize(text).or_else(|| json_of(text)) {
            Some(Value::Array(_)) => GuessedType::List,
            Some(Value::Object(map)) if map.keys().all(|key| key.parse::<i64>().is_ok()) => GuessedType::List,
            Some(Value::Object(_)) => GuessedType::Object,
            _ => GuessedType::Text,
        })
    }

    pub fn and(self, other: GuessedType) -> GuessedType {
        use GuessedType::{Integer, List, Number, Object, Several, Text};
        match (self, other) {
            (one, other) if one == other => one,
            (Integer | Number, Integer | Number) => Number,
            (Integer | Number | Text, Integer | Number | Text) => Text,
            // PHP has one type for both, and an empty one is written as a list.
            (List | Object, List | Object) => Object,
            _ => Several,
        }
    }
}

/// The list or object that a text holds as JSON.
fn json_of(text: &str) -> Option<Value> {
    text.starts_with(['[', '{']).then(|| serde_json::from_str(text).ok()).flatten()
}

/// Whether a text is a day, with a time or without: `2024-05-06`, `2024-05-06 07:08:09`.
fn is_date(text: &str) -> bool {
    let (day, time) = text.split_once([' ', 'T']).unwrap_or((text, "00:00:00"));
    day.len() == 10 && text.len() <= 25 && parse_datetime(&format!("{day}T{time}")).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_guessed_by_all_values() {
        use GuessedType::{Integer, List, Number, Object, Several, Text};
        let of = |values: &[&str]| {
            let all = values.iter().filter_map(|value| GuessedType::of(value));
            all.reduce(GuessedType::and)
        };
        for (values, expected) in [
            (&["1", "-20", ""][..], Some(Integer)),
            (&["1", "2.5"], Some(Number)),
            (&["007"], Some(Text)),
            (&["9007199254740993"], Some(Text)),
            (&["1", "one"], Some(Text)),
            (&["1.2.3"], Some(Text)),
            (&[""], None),
            (&["a:2:{i:0;s:1:\"a\";i:1;s:1:\"b\";}"], Some(List)),
            (&["a:1:{s:1:\"k\";i:1;}", "a:0:{}"], Some(Object)),
            (&["a:1:{s:1:\"k\";i:1;}", "text"], Some(Several)),
            (&["[1, 2]"], Some(List)),
            (&["{\"k\": 1}", "a:1:{s:1:\"k\";i:1;}"], Some(Object)),
            (&["[not JSON"], Some(Text)),
        ] {
            assert!(of(values) == expected, "{values:?}");
        }
    }

    #[test]
    fn values_may_be_dates_or_ids_of_records() {
        let records = HashSet::from([7, 8, 9]);
        for (values, expected) in [
            (&["2024-05-06", "", "2024-05-06 07:08:09"][..], ", and a date"),
            (&["2024-05-06", "soon"], ""),
            (&["2024-13-06"], ""),
            (&["7", "8", "", "0"], ", and the id of a record"),
            (&["7"], ""),
            (&["7", "12"], ""),
            (&["[1]", "a:0:{}"], ", some of them as JSON"),
        ] {
            let mut facts = MetaFacts::default();
            values.iter().for_each(|value| facts.look(value));
            facts.guess = values.iter().filter_map(|value| GuessedType::of(value)).reduce(GuessedType::and);
            assert_eq!(facts.further(&records), expected, "{values:?}");
        }
    }
}
