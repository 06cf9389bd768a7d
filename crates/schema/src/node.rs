//! One compiled schema node, and the order in which its keywords are checked. The order is part of the contract:
//! clients see the first failure.

use super::Dialect;
use super::array::ArrayRules;
use super::combine::Alternatives;
use super::equal::values_equal;
use super::failure::{Failure, Mismatch, Reason, Report, ValuePath, either};
use super::format::Format;
use super::number::NumberRules;
use super::object::ObjectRules;
use super::string::StringRules;
use super::types::Type;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Names the kind of a value, for people.
fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A schema that can be walked. Nothing in it can fail any more.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Empty: any type.
    pub types: Vec<Type>,
    pub dialect: Dialect,
    pub title: Option<String>,
    pub alternatives: Alternatives,
    pub string: StringRules,
    pub number: NumberRules,
    pub array: ArrayRules,
    pub object: ObjectRules,
    pub members: Option<Vec<Value>>,
    pub format: Option<Format>,
    /// Whether the format cleans texts.
    pub cleans: bool,
}

impl Node {
    /// Alternatives, type, the keywords of that type, `enum`, `format`.
    pub fn check<R: Report>(&self, place: &ValuePath<'_>, value: &Value) -> Result<(), R> {
        let chosen = self.alternatives.check::<R>(place, value)?;
        let typed = self.typed(chosen, value).ok_or_else(|| self.wrong_type::<R>(place, value))?;
        match typed.as_ref() {
            Value::String(text) => self.string.check::<R>(place, text)?,
            Value::Number(number) => self.number.check::<R>(place, number)?,
            Value::Array(list) => self.array.check::<R>(place, list)?,
            Value::Object(map) => self.object.check::<R>(place, map)?,
            Value::Bool(_) | Value::Null => {}
        }
        self.check_members::<R>(place, &typed)?;
        match (&self.format, typed.as_ref()) {
            (Some(Format::Uri), _) if self.dialect.any_address => Ok(()),
            (Some(format), Value::String(text)) if !format.accepts(text, self.dialect.lenient_dates) => {
                Err(R::at(place, format.reason(), || format.requirement().to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// The typed value of one that passed `check`; a value that did not is refused or left as it is.
    pub fn coerce(&self, place: &ValuePath<'_>, value: Value) -> Result<Value, Failure> {
        let chosen = self.alternatives.check::<Failure>(place, &value)?;
        let mut value = if chosen.iter().any(Option::is_some) {
            // The alternative decides the type; what this node requires of members is checked in addition.
            let mut value = value;
            for node in chosen.into_iter().flatten() {
                // `anyOf` and `oneOf` of one schema that want different types: the first one decides.
                if node.check::<Mismatch>(place, &value).is_ok() {
                    value = node.coerce(place, value)?;
                }
            }
            value
        } else {
            match self.typed(chosen, &value) {
                Some(Cow::Borrowed(_)) => value,
                Some(Cow::Owned(typed)) => typed,
                None => return Err(self.wrong_type(place, &value)),
            }
        };
        match &mut value {
            Value::String(text) => {
                if let Some(clean) = self.cleaned(text) {
                    *text = clean;
                }
            }
            Value::Array(list) => self.array.coerce(place, list)?,
            Value::Object(map) => self.object.coerce(place, map)?,
            _ => {}
        }
        Ok(value)
    }

    /// The text as its format stores it, where that cleans texts.
    fn cleaned(&self, text: &str) -> Option<String> {
        self.format.as_ref().filter(|_| self.cleans)?.clean(text, self.dialect)
    }

    /// The name for people.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// See [`ObjectRules::familiar`].
    pub fn count_listed(&self, map: &Map<String, Value>) -> usize {
        self.object.count_listed(map)
    }

    /// The value as the first type that accepts it sees it. A node without types of its own borrows those of the
    /// alternatives that fit.
    fn typed<'v>(&self, chosen: [Option<&Node>; 2], value: &'v Value) -> Option<Cow<'v, Value>> {
        let borrowed =
            || chosen.into_iter().flatten().map(|node| node.types.as_slice()).find(|types| !types.is_empty());
        let types = if self.types.is_empty() { borrowed().unwrap_or_default() } else { &self.types };
        if types.is_empty() {
            return Some(Cow::Borrowed(value));
        }
        // There, an empty text that may be a text is one, whatever else it could be read as.
        if self.dialect.empty_text_as_text && types.contains(&Type::String) && value.as_str() == Some("") {
            return Some(Cow::Borrowed(value));
        }
        types.iter().find_map(|kind| kind.read(value, self.dialect))
    }

    fn wrong_type<R: Report>(&self, place: &ValuePath<'_>, value: &Value) -> R {
        R::at(place, Reason::Type, || {
            let names: Vec<&str> = self.types.iter().map(|kind| kind.as_str()).collect();
            let refusal = format!("is not of type {}", either(&names));
            if !self.dialect.explain_types {
                return refusal;
            }
            let written = if self.object.names("raw") { "; write {\"raw\": \"…\"}" } else { "" };
            format!("{refusal}, got {}{written}", kind_of(value))
        })
    }

    fn check_members<R: Report>(&self, place: &ValuePath<'_>, typed: &Value) -> Result<(), R> {
        let Some(members) = &self.members else { return Ok(()) };
        let listed = match typed {
            // Members of members are compared as converted too.
            Value::Array(_) | Value::Object(_) => {
                let converted = self.coerce(place, typed.clone());
                converted.is_ok_and(|converted| members.iter().any(|member| values_equal(&converted, member)))
            }
            scalar => members.iter().any(|member| values_equal(scalar, member)),
        };
        if listed { Ok(()) } else { Err(R::at(place, Reason::Enum, || allowed(members))) }
    }
}

fn allowed(members: &[Value]) -> String {
    let show = |member: &Value| member.as_str().map_or_else(|| member.to_string(), str::to_owned);
    match members {
        [only] => format!("can only be {}", show(only)),
        several => format!("is not one of: {}", several.iter().map(show).collect::<Vec<_>>().join(", ")),
    }
}
