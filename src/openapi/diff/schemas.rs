//! Two schemas compared: what a client may no longer send, and what a response may have that it had not before.

use super::{Effect, list, object, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

/// Who writes the values of a schema. A request may be accepted in more ways than before, and a response may say less
/// than it could before, but not the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Direction {
    Request,
    Response,
}

/// A difference of a member of a schema; of the schema itself where the name is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// `content.raw`; members of lists have the name of the list.
    pub member: String,
    pub effect: Effect,
    pub what: String,
}

type SchemaPair = (String, String);

/// Compares schemas of two documents, each pair of named ones once.
pub(super) struct Comparison<'a> {
    old: &'a Value,
    new: &'a Value,
    known: BTreeMap<(SchemaPair, Direction), Rc<Vec<Difference>>>,
    /// Named schemas of embedded documents: they are compared on their own, or each change of one would be a change of
    /// every operation whose documents link to it.
    embedded: VecDeque<SchemaPair>,
    seen: BTreeSet<SchemaPair>,
    in_embedded: bool,
}

/// Bounds of what is accepted: whether a greater value accepts more.
const BOUNDS: &[(&str, bool)] = &[
    ("minimum", false),
    ("exclusiveMinimum", false),
    ("minLength", false),
    ("minItems", false),
    ("minProperties", false),
    ("maximum", true),
    ("exclusiveMaximum", true),
    ("maxLength", true),
    ("maxItems", true),
    ("maxProperties", true),
];

/// How alternatives are found again, the surest sign first.
const CORRESPONDS: [fn(&Value, &Value) -> bool; 4] = [
    |a, b| a.get("$ref").is_some() && a["$ref"] == b["$ref"],
    |a, b| a == b,
    |a, b| a.get("title").is_some() && a["title"] == b["title"],
    |_, _| true,
];

impl<'a> Comparison<'a> {
    pub fn new(old: &'a Value, new: &'a Value) -> Comparison<'a> {
        let (known, embedded, seen) = (BTreeMap::new(), VecDeque::new(), BTreeSet::new());
        Comparison { old, new, known, embedded, seen, in_embedded: false }
    }

    /// The next schema of embedded documents that no operation responds with, by the name that it has now.
    pub fn next_embedded(&mut self) -> Option<(String, Vec<Difference>)> {
        let told = |pair: &SchemaPair| self.known.contains_key(&(pair.clone(), Direction::Response));
        let at = self.embedded.iter().position(|pair| !told(pair))?;
        let pair = self.embedded.remove(at)?;
        let differences = self.named(pair.clone(), Direction::Response);
        Some((name_of(&pair.1).to_owned(), Vec::clone(&differences)))
    }

    /// What changed from one schema to the other.
    pub fn differences(&mut self, old: &Value, new: &Value, direction: Direction) -> Vec<Difference> {
        match (text(old, "$ref"), text(new, "$ref")) {
            (Some(before), Some(after)) => {
                let pair = (before.to_owned(), after.to_owned());
                if !self.in_embedded {
                    return Vec::clone(&self.named(pair, direction));
                }
                if self.seen.insert(pair.clone()) {
                    self.embedded.push_back(pair);
                }
                Vec::new()
            }
            _ => {
                let (old, new) = (resolved(self.old, old), resolved(self.new, new));
                self.of_schemas(old, new, direction)
            }
        }
    }

    /// The differences of two named schemas. A schema that contains itself has those that are found meanwhile.
    fn named(&mut self, pair: SchemaPair, direction: Direction) -> Rc<Vec<Difference>> {
        let key = (pair, direction);
        if let Some(known) = self.known.get(&key) {
            return Rc::clone(known);
        }
        self.known.insert(key.clone(), Rc::default());
        let (old, new) = (pointed(self.old, &key.0.0), pointed(self.new, &key.0.1));
        let (old, new) = (resolved(self.old, old), resolved(self.new, new));
        let found = Rc::new(self.of_schemas(old, new, direction));
        self.known.insert(key, Rc::clone(&found));
        found
    }

    fn of_schemas(&mut self, old: &Value, new: &Value, direction: Direction) -> Vec<Difference> {
        let mut found = DifferenceList { direction, all: Vec::new() };
        if old == new && !contains_references(old) {
            return found.all;
        }
        types(old, new, &mut found);
        values(old, new, &mut found);
        constraints(old, new, &mut found);
        self.alternatives(old, new, &mut found);
        self.members(old, new, &mut found);
        self.elements(old, new, &mut found);
        found.all
    }

    /// Alternatives correspond by the name of their schema, then by being equal, then by their order.
    fn alternatives(&mut self, old: &Value, new: &Value, found: &mut DifferenceList) {
        let all = |schema: &Value| -> Vec<Value> {
            let either = ["anyOf", "oneOf"].iter().find_map(|key| schema[*key].as_array());
            either.cloned().unwrap_or_default()
        };
        let (mut before, mut after) = (all(old), all(new));
        if before.is_empty() || after.is_empty() {
            match (before.is_empty(), after.is_empty()) {
                (true, false) => found.limit(true, "has alternatives that it is one of"),
                (false, true) => found.limit(false, "is no longer one of several alternatives"),
                _ => {}
            }
            return;
        }
        for fits in CORRESPONDS {
            let mut left = Vec::new();
            for one in before {
                match after.iter().position(|own| fits(&one, own)) {
                    Some(at) => {
                        let own = after.remove(at);
                        found.all.extend(self.differences(&one, &own, found.direction));
                    }
                    None => left.push(one),
                }
            }
            before = left;
        }
        if !before.is_empty() {
            found.limit(true, "has fewer alternatives");
        }
        if !after.is_empty() {
            found.limit(false, "has more alternatives");
        }
    }

    fn members(&mut self, old: &Value, new: &Value, found: &mut DifferenceList) {
        let (before, after) = (object(&old["properties"]), object(&new["properties"]));
        let needed = |schema: &Value, name: &str| list(&schema["required"]).iter().any(|one| one == name);
        for (name, schema) in &before {
            let Some(own) = after.get(name) else {
                found.add(name, Effect::Breaking, "is removed");
                continue;
            };
            match (needed(old, name), needed(new, name), found.direction) {
                (false, true, Direction::Request) => found.add(name, Effect::Breaking, "is required"),
                (true, false, Direction::Request) => found.add(name, Effect::Additive, "is optional"),
                (true, false, Direction::Response) => found.add(name, Effect::Breaking, "may be absent"),
                (false, true, Direction::Response) => found.add(name, Effect::Additive, "is always there"),
                _ => {}
            }
            let outside = self.in_embedded;
            self.in_embedded |= name == "_embedded" && found.direction == Direction::Response;
            let differences = self.differences(schema, own, found.direction);
            self.in_embedded = outside;
            found.below(name, differences);
        }
        for name in after.keys().filter(|name| !before.contains_key(*name)) {
            match found.direction == Direction::Request && needed(new, name) {
                true => found.add(name, Effect::Breaking, "is new and required"),
                false => found.add(name, Effect::Additive, "is new"),
            }
        }
        self.further_members(old, new, found);
    }

    /// Members that are not named.
    fn further_members(&mut self, old: &Value, new: &Value, found: &mut DifferenceList) {
        let open = Value::Bool(true);
        let of = |schema: &Value| schema.get("additionalProperties").unwrap_or(&open).clone();
        let (before, after) = (of(old), of(new));
        match (&before, &after) {
            (Value::Bool(a), Value::Bool(b)) if a == b => {}
            (_, Value::Bool(false)) => found.limit(true, "has no further members"),
            // A client passes over members that it does not know.
            (Value::Bool(false), _) => found.add("", Effect::Additive, "may have further members"),
            (Value::Bool(true), _) => found.limit(true, "has further members of one type alone"),
            (_, Value::Bool(true)) => found.limit(false, "has further members of any type"),
            _ => {
                let differences = self.differences(&before, &after, found.direction);
                found.below("*", differences);
            }
        }
        let (before, after) = (object(&old["patternProperties"]), object(&new["patternProperties"]));
        for (pattern, schema) in &before {
            match after.get(pattern) {
                Some(own) => {
                    let differences = self.differences(schema, own, found.direction);
                    found.below(&format!("/{pattern}/"), differences);
                }
                None => found.add(&format!("/{pattern}/"), Effect::Breaking, "is removed"),
            }
        }
        for pattern in after.keys().filter(|pattern| !before.contains_key(*pattern)) {
            found.add(&format!("/{pattern}/"), Effect::Additive, "is new");
        }
    }

    fn elements(&mut self, old: &Value, new: &Value, found: &mut DifferenceList) {
        match (old.get("items"), new.get("items")) {
            (Some(before), Some(after)) => {
                let differences = self.differences(before, after, found.direction);
                found.all.extend(differences.into_iter().map(in_list));
            }
            (None, Some(_)) if is_list(old) => found.limit(true, "has elements of one type alone"),
            (Some(_), None) if is_list(new) => found.limit(false, "has elements of any type"),
            _ => {}
        }
        let (before, after) = (list(&old["prefixItems"]), list(&new["prefixItems"]));
        for (at, (one, own)) in before.iter().zip(after).enumerate() {
            let differences = self.differences(one, own, found.direction);
            found.below(&at.to_string(), differences);
        }
        if before.len() != after.len() {
            found.limit(before.len() < after.len(), "has another number of elements with a place");
        }
    }
}

/// The differences of one schema.
struct DifferenceList {
    direction: Direction,
    all: Vec<Difference>,
}

impl DifferenceList {
    fn add(&mut self, member: &str, effect: Effect, what: impl Into<String>) {
        self.all.push(Difference { member: member.to_owned(), effect, what: what.into() });
    }

    /// The schema itself allows fewer values (`narrower`) or more.
    fn limit(&mut self, narrower: bool, what: impl Into<String>) {
        let breaks = narrower == (self.direction == Direction::Request);
        self.add("", if breaks { Effect::Breaking } else { Effect::Additive }, what);
    }

    /// Whatever the direction, a client cannot know.
    fn breaks(&mut self, what: impl Into<String>) {
        self.add("", Effect::Breaking, what);
    }

    /// Differences of a member.
    fn below(&mut self, name: &str, differences: Vec<Difference>) {
        for Difference { member, effect, what } in differences {
            let member = if member.is_empty() { name.to_owned() } else { format!("{name}.{member}") };
            self.all.push(Difference { member, effect, what });
        }
    }
}

/// What differs of an element: its members have the name that the list has, and only a sentence about the element itself
/// names it.
fn in_list(difference: Difference) -> Difference {
    match difference.member.is_empty() {
        true => Difference { what: format!("(an element) {}", difference.what), ..difference },
        false => difference,
    }
}

fn types(old: &Value, new: &Value, found: &mut DifferenceList) {
    let (before, after) = (types_of(old), types_of(new));
    if before == after {
        return;
    }
    let written = |types: &BTreeSet<&str>| match types.is_empty() {
        true => "any value".to_owned(),
        false => types.iter().copied().collect::<Vec<_>>().join(" or "),
    };
    let what = format!("becomes {}, was {}", written(&after), written(&before));
    // Every integer is a number.
    let holds = |types: &BTreeSet<&str>, one: &str| types.contains(one) || one == "integer" && types.contains("number");
    let within = |inner: &BTreeSet<&str>, outer: &BTreeSet<&str>| {
        outer.is_empty() || !inner.is_empty() && inner.iter().all(|one| holds(outer, one))
    };
    match (within(&after, &before), within(&before, &after)) {
        (true, _) => found.limit(true, what),
        (_, true) => found.limit(false, what),
        _ => found.breaks(what),
    }
}

fn types_of(schema: &Value) -> BTreeSet<&str> {
    match &schema["type"] {
        Value::String(one) => BTreeSet::from([one.as_str()]),
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => BTreeSet::new(),
    }
}

fn is_list(schema: &Value) -> bool {
    types_of(schema).contains("array")
}

/// Listed values, and the default.
fn values(old: &Value, new: &Value, found: &mut DifferenceList) {
    let listed = |schema: &Value| {
        let all = schema["enum"].as_array()?.iter().filter(|value| !value.is_null());
        Some(all.map(ToString::to_string).collect::<Vec<_>>())
    };
    match (listed(old), listed(new)) {
        (Some(before), Some(after)) => {
            // A response without a value that clients wait for breaks them as well.
            for value in before.iter().filter(|value| !after.contains(value)) {
                found.breaks(format!("no longer has the value {value}"));
            }
            for value in after.iter().filter(|value| !before.contains(value)) {
                found.limit(false, format!("has the new value {value}"));
            }
        }
        (None, Some(after)) => found.limit(true, format!("has only the values {}", after.join(", "))),
        (Some(_), None) => found.limit(false, "has values beside the listed ones"),
        (None, None) => {}
    }
    if found.direction == Direction::Request && old["default"] != new["default"] {
        found.breaks(format!("has the default {}, was {}", new["default"], old["default"]));
    }
}

fn constraints(old: &Value, new: &Value, found: &mut DifferenceList) {
    for (key, greater_is_wider) in BOUNDS {
        match (old[*key].as_f64(), new[*key].as_f64()) {
            (None, None) => {}
            (None, Some(_)) => found.limit(true, format!("has `{key}` {}", new[*key])),
            (Some(_), None) => found.limit(false, format!("has no `{key}`, was {}", old[*key])),
            (Some(before), Some(after)) if before != after => {
                let what = format!("has `{key}` {}, was {}", new[*key], old[*key]);
                found.limit((after > before) != *greater_is_wider, what);
            }
            _ => {}
        }
    }
    match (old["uniqueItems"] == true, new["uniqueItems"] == true) {
        (false, true) => found.limit(true, "has each element once"),
        (true, false) => found.limit(false, "may have an element twice"),
        _ => {}
    }
    // Which of two expressions fits more values cannot be said.
    for key in ["pattern", "format", "multipleOf", "not", "allOf", "const", "contentMediaType"] {
        match (old.get(key), new.get(key)) {
            (None, Some(value)) => found.limit(true, format!("has `{key}` {value}")),
            (Some(value), None) => found.limit(false, format!("has no `{key}`, was {value}")),
            (Some(before), Some(after)) if before != after => {
                found.breaks(format!("has `{key}` {after}, was {before}"));
            }
            _ => {}
        }
    }
    match (old["readOnly"] == true, new["readOnly"] == true, found.direction) {
        (false, true, Direction::Request) => found.breaks("is read-only"),
        (true, false, Direction::Request) => found.limit(false, "can be written"),
        _ => {}
    }
}

/// What a reference leads to; a chain of them ends after so many.
fn resolved<'v>(document: &'v Value, schema: &'v Value) -> &'v Value {
    let mut schema = schema;
    for _ in 0..16 {
        match text(schema, "$ref") {
            Some(at) => schema = pointed(document, at),
            None => return schema,
        }
    }
    &Value::Null
}

fn pointed<'v>(document: &'v Value, reference: &str) -> &'v Value {
    let pointer = reference.strip_prefix('#');
    pointer.and_then(|pointer| document.pointer(pointer)).unwrap_or(&Value::Null)
}

fn name_of(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap_or(reference)
}

/// Equal schemas may refer to others that differ.
fn contains_references(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.contains_key("$ref") || map.values().any(contains_references),
        Value::Array(all) => all.iter().any(contains_references),
        _ => false,
    }
}
