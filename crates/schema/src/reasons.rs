//! The reasons for which a document may refuse values, for descriptions. It checks nothing.

use super::Reason;
use serde_json::Value;
use std::collections::BTreeSet;

/// The codes of the checks that a document makes, at any depth.
pub fn reasons(document: &Value, found: &mut BTreeSet<&'static str>) {
    for (keyword, value) in document.as_object().into_iter().flatten() {
        let own: &[Reason] = match (keyword.as_str(), value.as_str()) {
            // Where a schema sets no bound, the usual ones hold.
            ("type", Some("string")) => &[Reason::Type, Reason::TooLong],
            ("type", Some("array")) => &[Reason::Type, Reason::TooManyItems],
            ("type", Some("object")) => &[Reason::Type, Reason::TooManyProperties],
            ("type", None) => &[Reason::Type, Reason::TooLong, Reason::TooManyItems, Reason::TooManyProperties],
            ("type", _) => &[Reason::Type],
            ("enum", _) => &[Reason::Enum],
            ("minimum" | "maximum", _) => &[Reason::Bounds],
            ("multipleOf", _) => &[Reason::Multiple],
            ("minLength", _) => &[Reason::TooShort],
            ("maxLength", _) => &[Reason::TooLong],
            ("pattern", _) => &[Reason::Pattern],
            ("format", Some("date-time" | "date" | "time")) => &[Reason::Date],
            ("format", Some("uri")) => &[Reason::Uri],
            ("format", Some("email")) => &[Reason::Email],
            ("format", Some("ip")) => &[Reason::Ip],
            ("format", Some("uuid")) => &[Reason::Uuid],
            ("format", Some("hex-color")) => &[Reason::HexColor],
            ("minItems", _) => &[Reason::TooFewItems],
            ("maxItems", _) => &[Reason::TooManyItems],
            ("uniqueItems", _) => &[Reason::DuplicateItems],
            ("required", _) => &[Reason::PropertyRequired],
            ("additionalProperties", _) if value == false => &[Reason::AdditionalProperties],
            ("minProperties", _) => &[Reason::TooFewProperties],
            ("maxProperties", _) => &[Reason::TooManyProperties],
            ("anyOf", _) => &[Reason::NoMatch],
            ("oneOf", _) => &[Reason::NoMatch, Reason::MultipleMatches],
            _ => &[],
        };
        found.extend(own.iter().map(|reason| reason.as_str()));
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties", Value::Object(members)) => {
                members.values().for_each(|member| reasons(member, found));
            }
            ("items" | "additionalProperties", inner) => reasons(inner, found),
            ("anyOf" | "oneOf", Value::Array(list)) => list.iter().for_each(|inner| reasons(inner, found)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_keyword_has_its_reasons() {
        let of = |document: Value| {
            let mut found = BTreeSet::new();
            reasons(&document, &mut found);
            found.into_iter().collect::<Vec<_>>().join(" ")
        };
        let document = json!({"type": "object", "properties": {"type": {"type": "integer", "minimum": 1}}});
        assert_eq!(of(document), "rest_invalid_type rest_out_of_bounds rest_too_many_properties");
        let document = json!({"items": {"format": "uri"}, "additionalProperties": false, "oneOf": [{"enum": [1]}]});
        assert_eq!(
            of(document),
            "rest_additional_properties_forbidden rest_invalid_uri rest_no_matching_schema rest_not_in_enum \
             rest_one_of_multiple_matches"
        );
        assert_eq!(of(json!({"description": "anything"})), "");
    }
}
