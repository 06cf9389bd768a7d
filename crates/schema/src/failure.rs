//! Why a value is refused: the machine-readable reasons, the place inside a value, and the two ways of reporting.
//!
//! Owns the reason codes and the sentence frame. It knows no keyword; each keyword words its own failure.

use cms_base::named;
use serde_json::{Value, json};
use std::fmt;

named! {
    /// The reason of a refusal, as `data.details.<name>.code` shows it.
    pub enum Reason {
        /// No type of the list accepts the value.
        Type = "rest_invalid_type",
        /// The value is not one of the listed ones.
        Enum = "rest_not_in_enum",
        /// Below `minimum` or above `maximum`.
        Bounds = "rest_out_of_bounds",
        /// Not a multiple of `multipleOf`.
        Multiple = "rest_invalid_multiple",
        /// Shorter than `minLength`.
        TooShort = "rest_too_short",
        /// Longer than `maxLength`.
        TooLong = "rest_too_long",
        /// Does not match `pattern`.
        Pattern = "rest_invalid_pattern",
        /// Not a `date-time`.
        Date = "rest_invalid_date",
        /// Not a `uri`.
        Uri = "rest_invalid_uri",
        /// Not an `email`.
        Email = "rest_invalid_email",
        /// Not an `ip`.
        Ip = "rest_invalid_ip",
        /// Not a `uuid`.
        Uuid = "rest_invalid_uuid",
        /// Not a `hex-color`.
        HexColor = "rest_invalid_hex_color",
        /// Fewer than `minItems`.
        TooFewItems = "rest_too_few_items",
        /// More than `maxItems`.
        TooManyItems = "rest_too_many_items",
        /// `uniqueItems` is broken.
        DuplicateItems = "rest_duplicate_items",
        /// A required property is absent.
        PropertyRequired = "rest_property_required",
        /// `additionalProperties` is false and there is one.
        AdditionalProperties = "rest_additional_properties_forbidden",
        /// Fewer than `minProperties`.
        TooFewProperties = "rest_too_few_properties",
        /// More than `maxProperties`.
        TooManyProperties = "rest_too_many_properties",
        /// No alternative of `anyOf` or `oneOf` fits.
        NoMatch = "rest_no_matching_schema",
        /// More than one alternative of `oneOf` fits.
        MultipleMatches = "rest_one_of_multiple_matches",
    }
}

/// Where in a parameter the walk is. A list linked through the stack, so that success costs nothing.
#[derive(Clone, Copy)]
pub(super) struct ValuePath<'a> {
    outer: Option<&'a ValuePath<'a>>,
    step: PathPart<'a>,
}

#[derive(Clone, Copy)]
enum PathPart<'a> {
    Name(&'a str),
    Index(usize),
}

impl<'a> ValuePath<'a> {
    /// The parameter itself.
    pub fn root(name: &'a str) -> Self {
        ValuePath { outer: None, step: PathPart::Name(name) }
    }

    /// An item of the list at this place.
    pub fn item(&'a self, index: usize) -> ValuePath<'a> {
        ValuePath { outer: Some(self), step: PathPart::Index(index) }
    }

    /// A property of the object at this place.
    pub fn property(&'a self, name: &'a str) -> ValuePath<'a> {
        ValuePath { outer: Some(self), step: PathPart::Name(name) }
    }
}

impl fmt::Display for ValuePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.outer, self.step) {
            (None, PathPart::Name(name)) => f.write_str(name),
            (None, PathPart::Index(index)) => write!(f, "{index}"),
            (Some(outer), PathPart::Name(name)) => write!(f, "{outer}[{name}]"),
            (Some(outer), PathPart::Index(index)) => write!(f, "{outer}[{index}]"),
        }
    }
}

/// A failure with everything that a client gets.
#[derive(Debug)]
pub(super) struct Failure {
    pub place: String,
    pub reason: Reason,
    pub message: String,
    pub extra: FailureData,
}

/// The `data` of a detail, by its reason.
#[derive(Debug)]
pub(super) enum FailureData {
    Nothing,
    /// The place itself; part of [`Reason::Type`].
    ValuePath,
    /// The alternative that was nearest.
    Position(usize),
    /// The alternatives that fit.
    Positions(Vec<usize>),
}

impl Failure {
    /// A refusal at a place; the sentence is the place followed by `rest`.
    pub fn new(place: &ValuePath<'_>, reason: Reason, rest: &str) -> Self {
        let place = place.to_string();
        let extra = if reason == Reason::Type { FailureData::ValuePath } else { FailureData::Nothing };
        Failure { message: format!("{place} {rest}."), place, reason, extra }
    }

    /// Replaces what goes with the reason.
    pub fn with(mut self, extra: FailureData) -> Self {
        self.extra = extra;
        self
    }

    /// The failure of the whole parameter.
    pub fn of_param(self, name: &str) -> Box<ParamFailure> {
        let data = match self.extra {
            FailureData::Nothing => Value::Null,
            FailureData::ValuePath => json!({ "param": self.place }),
            FailureData::Position(position) => json!({ "position": position }),
            FailureData::Positions(positions) => json!({ "positions": positions }),
        };
        let reason = Some(self.reason.as_str());
        Box::new(ParamFailure { name: name.to_owned(), message: self.message, reason, data })
    }
}

/// How a walk reports: in full, or only that it failed. One walk serves both, so they cannot disagree.
pub(super) trait Report: Sized {
    /// Reports; `build` runs only if the text is wanted.
    fn of(build: impl FnOnce() -> Failure) -> Self;

    /// Reports a plain refusal: place, reason, and the rest of the sentence.
    fn at(place: &ValuePath<'_>, reason: Reason, rest: impl FnOnce() -> String) -> Self {
        Self::of(|| Failure::new(place, reason, &rest()))
    }
}

impl Report for Failure {
    fn of(build: impl FnOnce() -> Failure) -> Self {
        build()
    }
}

/// "It failed", for trying alternatives.
pub(super) struct Mismatch;

impl Report for Mismatch {
    fn of(_: impl FnOnce() -> Failure) -> Self {
        Mismatch
    }
}

/// "1 item", "2 items", "3 properties".
pub(super) fn count(number: u64, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

/// "a", "a or b", "a, b or c".
pub(super) fn either(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// One parameter that failed: name, sentence, and the machine-readable reason (`data.details`).
#[derive(Clone, Debug, PartialEq)]
pub struct ParamFailure {
    /// The argument's name as declared.
    pub name: String,
    /// A sentence for people.
    pub message: String,
    /// A code such as `rest_invalid_type`; `None` where only a sentence is known.
    pub reason: Option<&'static str>,
    /// Data of the reason, e.g. `{"param": "include[1]"}`; null when it has none.
    pub data: Value,
}
