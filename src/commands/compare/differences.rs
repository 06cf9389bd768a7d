//! Differences of two documents, counted by kind and place, with the first ones as examples.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;

/// Places that are counted one by one.
const MOST_PLACES: usize = 5000;
/// Differences of one kind at one place that are spelt out.
const EXAMPLES: usize = 3;
/// Characters of a value in an example.
const BRIEF: usize = 60;

/// The kind of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DifferenceKind {
    /// The old site has it, and this one has not.
    Missing,
    /// This site has it, and the old one has not.
    Extra,
    /// Values of different types.
    Type,
    Value,
}

impl DifferenceKind {
    pub(super) fn word(self) -> &'static str {
        match self {
            DifferenceKind::Missing => "missing",
            DifferenceKind::Extra => "extra",
            DifferenceKind::Type => "type",
            DifferenceKind::Value => "value",
        }
    }
}

/// One difference: of which document, and both values.
struct DifferenceExample {
    of: String,
    old: String,
    here: String,
}

#[derive(Default)]
struct DifferenceCount {
    count: u64,
    examples: Vec<DifferenceExample>,
}

/// See the module.
#[derive(Default)]
pub(super) struct Differences {
    counts: BTreeMap<(DifferenceKind, String), DifferenceCount>,
    /// Differences at further places.
    more: u64,
}

impl Differences {
    /// Compares two values at a place. `ignored` are members that are not looked at, at whatever depth.
    pub(super) fn compare(&mut self, place: &str, of: &str, ignored: &[String], (old, here): (&Value, &Value)) {
        match (old, here) {
            (Value::Object(old), Value::Object(here)) => self.objects(place, of, ignored, (old, here)),
            (Value::Array(old), Value::Array(here)) if old.len() == here.len() => {
                let place = format!("{place}[]");
                old.iter().zip(here).for_each(|pair| self.compare(&place, of, ignored, pair));
            }
            (old, here) if old == here => {}
            (old, here) => {
                let same = std::mem::discriminant(old) == std::mem::discriminant(here);
                self.add(if same { DifferenceKind::Value } else { DifferenceKind::Type }, place, of, (old, here));
            }
        }
    }

    fn objects(
        &mut self,
        place: &str,
        of: &str,
        ignored: &[String],
        (old, here): (&Map<String, Value>, &Map<String, Value>),
    ) {
        for (key, value) in old.iter().filter(|(key, _)| !ignored.contains(key)) {
            let place = format!("{place}.{key}");
            match here.get(key) {
                Some(own) => self.compare(&place, of, ignored, (value, own)),
                None => self.add(DifferenceKind::Missing, &place, of, (value, &Value::Null)),
            }
        }
        for (key, value) in here.iter().filter(|(key, _)| !old.contains_key(*key) && !ignored.contains(key)) {
            self.add(DifferenceKind::Extra, &format!("{place}.{key}"), of, (&Value::Null, value));
        }
    }

    /// Counts a difference.
    pub(super) fn add(&mut self, kind: DifferenceKind, place: &str, of: &str, (old, here): (&Value, &Value)) {
        let key = (kind, place.to_owned());
        if self.counts.len() == MOST_PLACES && !self.counts.contains_key(&key) {
            self.more += 1;
            return;
        }
        let counted = self.counts.entry(key).or_default();
        counted.count += 1;
        if counted.examples.len() < EXAMPLES {
            counted.examples.push(DifferenceExample {
                of: of.to_owned(),
                old: brief(old, here),
                here: brief(here, old),
            });
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        self.counts.values().map(|counted| counted.count).sum::<u64>() + self.more
    }

    /// The differences for programs.
    pub(super) fn to_json(&self) -> Value {
        let shown = self.counts.iter().map(|((kind, place), counted)| {
            let examples = counted.examples.iter().map(|one| json!({"of": one.of, "old": one.old, "here": one.here}));
            let examples: Vec<Value> = examples.collect();
            json!({"kind": kind.word(), "place": place, "count": counted.count, "examples": examples})
        });
        shown.collect()
    }
}

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((kind, place), counted) in &self.counts {
            writeln!(f, "{:>8} {:<7} {place}", counted.count, kind.word())?;
            for one in &counted.examples {
                match kind {
                    DifferenceKind::Missing => writeln!(f, "                 {}: {}", one.of, one.old)?,
                    DifferenceKind::Extra => writeln!(f, "                 {}: {}", one.of, one.here)?,
                    _ => writeln!(f, "                 {}: {} | here {}", one.of, one.old, one.here)?,
                }
            }
        }
        if self.more > 0 { writeln!(f, "{:>8} at further places", self.more) } else { Ok(()) }
    }
}

/// A value fit for a line, from a little before the place where it differs from the other.
fn brief(value: &Value, other: &Value) -> String {
    let text = value.to_string();
    let same = text.chars().zip(other.to_string().chars()).take_while(|(own, other)| own == other).count();
    let from = same.saturating_sub(BRIEF / 3);
    let mut brief: String = text.chars().skip(from).take(BRIEF).collect();
    if from > 0 {
        brief.insert(0, '…');
    }
    if text.chars().count() > from + BRIEF {
        brief.push('…');
    }
    brief
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_a_kind_and_a_place() {
        let ignored = ["_links".to_owned()];
        let table = [
            (json!({"a": 1}), json!({"a": 1}), ""),
            (json!({"a": 1, "_links": 1}), json!({"a": 1}), ""),
            (json!({"a": 1}), json!({"b": 1}), "1 missing x.a 1|null, 1 extra x.b null|1"),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d"}}), "1 value x.a.b \"c\"|\"d\""),
            (json!({"a": 1}), json!({"a": "1"}), "1 type x.a 1|\"1\""),
            (json!([1, 2, 3]), json!([1, 5, 6]), "2 value x[] 2|5"),
            (json!([1]), json!([1, 2]), "1 value x [1]|[1,2]"),
        ];
        for (old, here, expected) in table {
            let mut found = Differences::default();
            found.compare("x", "7", &ignored, (&old, &here));
            let shown = found.counts.iter().map(|((kind, place), counted)| {
                let one = &counted.examples[0];
                format!("{} {} {place} {}|{}", counted.count, kind.word(), one.old, one.here)
            });
            assert_eq!(shown.collect::<Vec<_>>().join(", "), expected, "{old} {here}");
        }
    }

    #[test]
    fn examples_begin_where_values_differ() {
        let (old, here) = (json!("x".repeat(200) + "a"), json!("x".repeat(200) + "b"));
        assert!(brief(&old, &here).ends_with("xa\"") && brief(&old, &here).starts_with("…x"));
        assert_eq!(brief(&json!(5), &json!(6)), "5");
    }
}
