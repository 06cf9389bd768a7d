//! `minLength`, `maxLength`, `x-max-bytes` and `pattern`. (`format` comes after `enum`, in a file of its own.)

use super::compile::Reader;
use super::failure::{Reason, Report, ValuePath, count};
use super::pattern::{Pattern, StepLimit};

/// The rules of a schema for a text.
#[derive(Debug, Default)]
pub(super) struct StringRules {
    shortest: Option<u64>,
    longest: Option<u64>,
    /// Bytes in UTF-8, for what is stored in so many.
    bytes: Option<u64>,
    pattern: Option<Pattern>,
}

impl StringRules {
    pub fn read(reader: &mut Reader<'_, '_>) -> Self {
        let usual = reader.bounds().text;
        let (shortest, longest) = reader.bounded_range("minLength", "maxLength", usual);
        let bytes = reader.most_bytes(None);
        let pattern = reader.text("pattern").and_then(|source| reader.pattern("pattern", source));
        // A text that is too long for its column has an error of its own there.
        let (longest, bytes) = if reader.get("x-too-long-code").is_some() { (None, None) } else { (longest, bytes) };
        StringRules { shortest, longest, bytes, pattern }
    }

    pub fn check<R: Report>(&self, place: &ValuePath<'_>, text: &str) -> Result<(), R> {
        if self.shortest.is_some() || self.longest.is_some() {
            let length = text.chars().count() as u64;
            if let Some(least) = self.shortest.filter(|least| length < *least) {
                let least = || format!("is shorter than {}", count(least, "character", "characters"));
                return Err(R::at(place, Reason::TooShort, least));
            }
            if let Some(most) = self.longest.filter(|most| length > *most) {
                let most = || format!("is longer than {}", count(most, "character", "characters"));
                return Err(R::at(place, Reason::TooLong, most));
            }
        }
        if let Some(most) = self.bytes.filter(|most| text.len() as u64 > *most) {
            return Err(R::at(place, Reason::TooLong, || format!("is longer than {}", count(most, "byte", "bytes"))));
        }
        self.pattern.as_ref().map_or(Ok(()), |pattern| match pattern.is_in(text) {
            Ok(true) => Ok(()),
            Ok(false) => {
                Err(R::at(place, Reason::Pattern, || format!("does not fit the pattern {}", pattern.as_str())))
            }
            Err(StepLimit) => Err(step_limit(place, pattern)),
        })
    }
}

/// The refusal of a text that a pattern takes too many steps on.
pub(super) fn step_limit<R: Report>(place: &ValuePath<'_>, pattern: &Pattern) -> R {
    R::at(place, Reason::Pattern, || {
        format!("cannot be compared with the pattern {}, because that takes too many steps", pattern.as_str())
    })
}
