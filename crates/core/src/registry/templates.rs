//! Values that name others, as requests of abilities are declared with: `{title}` is a member of the input, `{post.id}` a
//! member of an earlier response.
//!
//! A text that is one reference is that value, of whatever type; in a longer text scalars are filled in. Anything that
//! does not look like a reference is text.

use serde_json::{Map, Value};

/// A value by its name, or a member of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateReference {
    /// The member of the input, or the step.
    pub of: String,
    members: Vec<String>,
}

/// A declared value with references.
#[derive(Clone, Debug, PartialEq)]
pub enum Template {
    Fixed(Value),
    Value(TemplateReference),
    Text(Vec<TemplatePiece>),
    List(Vec<Template>),
    Object(Vec<(String, Template)>),
}

/// See [`Template::Text`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePiece {
    Literal(String),
    Value(TemplateReference),
}

impl TemplateReference {
    /// Reads `name` or `name.member.member`.
    pub fn parse(text: &str) -> Option<TemplateReference> {
        let word = |word: &str| {
            let name = word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
            name && !word.is_empty()
        };
        let mut words = text.split('.');
        let of = words.next().filter(|of| of.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))?;
        let members: Vec<String> = words.map(str::to_owned).collect();
        (word(of) && members.iter().all(|member| word(member)))
            .then(|| TemplateReference { of: of.to_owned(), members })
    }

    /// The name as it is written.
    pub fn name(&self) -> String {
        std::iter::once(&self.of).chain(&self.members).map(String::as_str).collect::<Vec<_>>().join(".")
    }

    /// The value, where it is there.
    pub fn value<'v>(&self, known: &'v Map<String, Value>) -> Option<&'v Value> {
        self.members.iter().try_fold(known.get(&self.of)?, |value, member| match value {
            Value::Array(list) => list.get(member.parse::<usize>().ok()?),
            other => other.get(member),
        })
    }

    /// The value as a text, where it is a text or a number.
    pub fn text(&self, known: &Map<String, Value>) -> Option<String> {
        match self.value(known)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }
}

impl Template {
    /// Reads a declared value.
    pub fn parse(value: &Value) -> Template {
        match value {
            Value::String(text) => Template::of_text(text),
            Value::Array(list) => Template::List(list.iter().map(Template::parse).collect()),
            Value::Object(map) => {
                Template::Object(map.iter().map(|(key, value)| (key.clone(), Template::parse(value))).collect())
            }
            other => Template::Fixed(other.clone()),
        }
    }

    fn of_text(text: &str) -> Template {
        let (mut pieces, mut literal, mut rest) = (Vec::new(), String::new(), text);
        while let Some((head, tail)) = rest.split_once('{') {
            literal.push_str(head);
            match tail.split_once('}').and_then(|(name, after)| Some((TemplateReference::parse(name)?, after))) {
                Some((reference, after)) => {
                    if !literal.is_empty() {
                        pieces.push(TemplatePiece::Literal(std::mem::take(&mut literal)));
                    }
                    pieces.push(TemplatePiece::Value(reference));
                    rest = after;
                }
                None => {
                    literal.push('{');
                    rest = tail;
                }
            }
        }
        literal.push_str(rest);
        match &pieces[..] {
            [] => Template::Fixed(Value::String(literal)),
            [TemplatePiece::Value(only)] if literal.is_empty() => Template::Value(only.clone()),
            _ => {
                if !literal.is_empty() {
                    pieces.push(TemplatePiece::Literal(literal));
                }
                Template::Text(pieces)
            }
        }
    }

    /// Every reference in it.
    pub fn references(&self) -> Vec<&TemplateReference> {
        match self {
            Template::Fixed(_) => Vec::new(),
            Template::Value(reference) => vec![reference],
            Template::Text(pieces) => {
                let values = pieces.iter().filter_map(|piece| match piece {
                    TemplatePiece::Value(reference) => Some(reference),
                    TemplatePiece::Literal(_) => None,
                });
                values.collect()
            }
            Template::List(list) => list.iter().flat_map(Template::references).collect(),
            Template::Object(map) => map.iter().flat_map(|(_, template)| template.references()).collect(),
        }
    }

    /// The value with everything filled in; `None` where it is a reference to something that is not there. Members and
    /// elements that are not there are left out, and so are they in a text.
    pub fn filled(&self, known: &Map<String, Value>) -> Option<Value> {
        Some(match self {
            Template::Fixed(value) => value.clone(),
            Template::Value(reference) => reference.value(known)?.clone(),
            Template::Text(pieces) => {
                let texts = pieces.iter().map(|piece| match piece {
                    TemplatePiece::Literal(text) => text.clone(),
                    TemplatePiece::Value(reference) => reference.text(known).unwrap_or_default(),
                });
                Value::String(texts.collect())
            }
            Template::List(list) => Value::Array(list.iter().filter_map(|template| template.filled(known)).collect()),
            Template::Object(map) => {
                let members = map.iter().filter_map(|(key, template)| Some((key.clone(), template.filled(known)?)));
                Value::Object(members.collect())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_are_filled_in_and_other_braces_are_text() {
        let known = json!({"title": "Milk", "id": 7, "none": null, "post": {"title": {"raw": "Tea"}, "tags": [3, 4]}});
        let known = known.as_object().expect("an object");
        let check = |declared: Value, expected: Option<Value>| {
            assert_eq!(Template::parse(&declared).filled(known), expected, "{declared}");
        };
        check(json!("{title}"), Some(json!("Milk")));
        check(json!("{id}"), Some(json!(7)));
        check(json!("{none}"), Some(json!(null)));
        check(json!("{post.tags}"), Some(json!([3, 4])));
        check(json!("{post.tags.1}"), Some(json!(4)));
        check(json!("{post.title.raw} ({id})"), Some(json!("Tea (7)")));
        check(json!("{absent}"), None);
        check(json!("{post.absent.deeper}"), None);
        check(json!("a {absent} b"), Some(json!("a  b")));
        check(json!({"a": "{absent}", "b": ["{id}", "{absent}", "x"]}), Some(json!({"b": [7, "x"]})));
        check(json!(12), Some(json!(12)));
        for text in ["<!-- wp:image {\"id\":1} -->", "{", "}", "{}", "{a b}", "{1}", "{a..b}", "a{b"] {
            check(json!(text), Some(json!(text)));
        }
        check(json!("{{id}}"), Some(json!("{7}")));
    }

    #[test]
    fn references_are_found_everywhere() {
        let template = Template::parse(&json!({"a": "{x}", "b": ["{y.z}", {"c": "in {w}"}], "d": "{not one}"}));
        let names: Vec<&str> = template.references().iter().map(|reference| reference.of.as_str()).collect();
        assert_eq!(names, ["x", "y", "w"]);
    }
}
