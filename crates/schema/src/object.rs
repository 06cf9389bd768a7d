//! `properties`, `patternProperties`, `additionalProperties`, `required` in both styles, `minProperties` and
//! `maxProperties`; `x-max-bytes` of the properties that no schema describes.

use super::compile::Reader;
use super::failure::{Failure, Mismatch, Reason, Report, ValuePath, count};
use super::free::{check_free, size_of};
use super::node::Node;
use super::pattern::Pattern;
use super::string::step_limit;
use indexmap::IndexMap;
use serde_json::{Map, Value};

/// The rules of a schema for an object.
#[derive(Debug, Default)]
pub(super) struct ObjectRules {
    /// Both styles, the draft-4 list first.
    required: Vec<String>,
    properties: IndexMap<String, Node>,
    patterns: Vec<(Pattern, Node)>,
    additional: AdditionalMembers,
    fewest: Option<u64>,
    most: Option<u64>,
    /// Bytes of the properties that no schema describes, together.
    free: Option<u64>,
}

#[derive(Debug, Default)]
enum AdditionalMembers {
    #[default]
    Allowed,
    Forbidden,
    Checked(Box<Node>),
}

impl ObjectRules {
    pub fn read(reader: &mut Reader<'_, '_>) -> Self {
        let mut required = reader.names("required");
        let mut properties = IndexMap::new();
        for (name, document, pointer) in reader.members("properties") {
            if document.get("required") == Some(&Value::Bool(true)) && !required.iter().any(|known| known == name) {
                required.push(name.to_owned());
            }
            properties.insert(name.to_owned(), reader.schema_at(document, pointer));
        }
        let mut patterns = Vec::new();
        for (source, document, pointer) in reader.members("patternProperties") {
            let node = reader.schema_at(document, pointer.clone());
            if let Some(pattern) = reader.pattern_at(pointer, source) {
                patterns.push((pattern, node));
            }
        }
        let additional = match reader.get("additionalProperties") {
            None | Some(Value::Bool(true)) => AdditionalMembers::Allowed,
            Some(Value::Bool(false)) => AdditionalMembers::Forbidden,
            Some(_) => reader
                .schema("additionalProperties")
                .map_or(AdditionalMembers::Allowed, |node| AdditionalMembers::Checked(Box::new(node))),
        };
        let bounds = reader.bounds();
        let (fewest, most) = reader.bounded_range("minProperties", "maxProperties", bounds.members);
        let free = if let AdditionalMembers::Allowed = additional { reader.most_bytes(bounds.free) } else { None };
        ObjectRules { required, properties, patterns, additional, fewest, most, free }
    }

    /// Missing properties first, then each one in the order sent, then how many.
    pub fn check<R: Report>(&self, place: &ValuePath<'_>, map: &Map<String, Value>) -> Result<(), R> {
        if let Some(name) = self.required.iter().find(|name| !map.contains_key(*name)) {
            return Err(R::at(place, Reason::PropertyRequired, || format!("lacks the property {name}")));
        }
        for (name, value) in map {
            self.check_property(place, name, value)?;
        }
        let length = map.len() as u64;
        if let Some(fewest) = self.fewest.filter(|fewest| length < *fewest) {
            let rest = || format!("needs at least {}", count(fewest, "property", "properties"));
            return Err(R::at(place, Reason::TooFewProperties, rest));
        }
        if let Some(most) = self.most.filter(|most| length > *most) {
            let rest = || format!("takes at most {}", count(most, "property", "properties"));
            return Err(R::at(place, Reason::TooManyProperties, rest));
        }
        let unknown = || map.iter().filter(|(name, _)| self.schemas_of(name).next().is_none());
        check_free(place, self.free, || unknown().map(|(name, value)| name.len() as u64 + size_of(value)).sum())
    }

    fn check_property<R: Report>(&self, place: &ValuePath<'_>, name: &str, value: &Value) -> Result<(), R> {
        let here = place.property(name);
        if let Some((pattern, _)) = self.patterns.iter().find(|(pattern, _)| pattern.is_in(name).is_err()) {
            return Err(step_limit(&here, pattern));
        }
        let mut known = false;
        for node in self.schemas_of(name) {
            known = true;
            node.check::<R>(&here, value)?;
        }
        match &self.additional {
            AdditionalMembers::Checked(node) if !known => node.check(&here, value),
            AdditionalMembers::Forbidden if !known => {
                Err(R::at(place, Reason::AdditionalProperties, || format!("takes no property {name}")))
            }
            _ => Ok(()),
        }
    }

    /// Converts every property that a schema covers.
    pub fn coerce(&self, place: &ValuePath<'_>, map: &mut Map<String, Value>) -> Result<(), Failure> {
        for (name, slot) in map.iter_mut() {
            let here = place.property(name);
            let mut nodes = self.schemas_of(name).peekable();
            if nodes.peek().is_none() {
                if let AdditionalMembers::Checked(node) = &self.additional {
                    *slot = node.coerce(&here, slot.take())?;
                }
                continue;
            }
            for (position, node) in nodes.enumerate() {
                // Schemas of one property that want different types: the first one decides.
                if position == 0 || node.check::<Mismatch>(&here, slot).is_ok() {
                    *slot = node.coerce(&here, slot.take())?;
                }
            }
        }
        Ok(())
    }

    /// Whether the schema lists a property of this name.
    pub fn names(&self, property: &str) -> bool {
        self.properties.contains_key(property)
    }

    /// How many of these properties the schema lists; this identifies the alternative that an object is intended for.
    pub fn count_listed(&self, map: &Map<String, Value>) -> usize {
        map.keys().filter(|name| self.properties.contains_key(*name)).count()
    }

    fn schemas_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Node> {
        let by_pattern = self.patterns.iter().filter(move |(pattern, _)| pattern.is_in(name) == Ok(true));
        self.properties.get(name).into_iter().chain(by_pattern.map(|(_, node)| node))
    }
}
