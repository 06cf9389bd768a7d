//! JSON Schema draft 4 as the contract defines it: compile a document once, then check and convert values by it.
//!
//! Owns validation and coercion (contract: "Parameter validation and coercion"), the reasons in `data.details`, and
//! what a schema looks like to clients. It knows nothing of requests, routes or storage. Whether an argument was sent
//! at all, and what its absence means, is for `args`.
//!
//! Files: `compile` reads documents, `node` fixes the order of keywords, `types` holds every leniency towards text,
//! the rest is one file per keyword family. A walk goes down schema and value together and schemas are finite, so the
//! nesting of a value cannot exhaust the stack; comparisons of free-form values are bounded by [`DEEPEST_VALUE`].

mod array;
mod combine;
mod compile;
mod draft4;
mod equal;
mod failure;
mod format;
mod free;
mod meta_schema;
mod node;
mod number;
mod object;
mod pattern;
mod reasons;
mod rewrite;
mod string;
mod types;

pub use draft4::draft4;
pub use failure::{ParamFailure, Reason};
pub use reasons::reasons;
pub use types::Type;

use failure::{Failure, ValuePath};
use node::Node;
use serde_json::Value;
use std::sync::{Arc, LazyLock};

/// The nesting up to which values are examined; what is nested deeper is refused. The JSON parser stops at the same
/// depth.
pub const DEEPEST_VALUE: usize = 128;

/// Where the contract's dialects differ in reading values. `default()` is the document's own reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dialect {
    /// A number is a list of one item, and a boolean one of `1` or of nothing.
    pub scalars_as_lists: bool,
    /// A date may name a day that its month does not have, and the hour 24.
    pub lenient_dates: bool,
    /// Blanks separate the items of a string list as commas do.
    pub space_separated_lists: bool,
    /// An empty list is accepted as an empty object: such servers print empty maps as `[]`, and clients send them back.
    pub empty_list_as_object: bool,
    /// The refusal of a value of the wrong type says what was sent, and how a text is written.
    pub explain_types: bool,
    /// A text of the format `uri` may be anything.
    pub any_address: bool,
    /// Texts of the formats `text-field` and `textarea-field` are escaped as WordPress does.
    pub escape_text_fields: bool,
    /// Blanks around a number are left out, and an integer beyond 64 bits is the nearest that has so many.
    pub lenient_numbers: bool,
    /// An empty text is a text where a text may be given, before it is anything else.
    pub empty_text_as_text: bool,
    /// Bounds of values where a schema sets none of its own.
    pub bounds: ValueBounds,
}

/// The most that a value may hold where its schema sets no bound. `None`: anything. `readonly` values are free of them:
/// clients send back what they were shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ValueBounds {
    /// Characters of a text (`maxLength`).
    pub text: Option<u64>,
    /// Items of a list (`maxItems`).
    pub items: Option<u64>,
    /// Members of an object (`maxProperties`).
    pub members: Option<u64>,
    /// Bytes of JSON text that lists without `items` and members without a schema have together (`x-max-bytes`).
    pub free: Option<u64>,
}

/// Something wrong in a schema document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaProblem {
    /// A JSON pointer into the document; empty for the document itself.
    pub pointer: String,
    /// The problem, as a sentence.
    pub message: String,
    /// The remedy.
    pub hint: Option<String>,
}

/// A compiled schema. Clones share it.
#[derive(Clone, Debug)]
pub struct Schema {
    compiled: Arc<LazyLock<SchemaContent, Box<dyn FnOnce() -> SchemaContent + Send>>>,
}

#[derive(Debug)]
struct SchemaContent {
    root: Node,
    default: Option<Value>,
}

impl SchemaContent {
    fn compile(document: &Value, dialect: Dialect) -> Result<SchemaContent, Vec<SchemaProblem>> {
        if !shallow(document, DEEPEST_VALUE) {
            let message = format!("Documents nested deeper than {DEEPEST_VALUE} levels are refused");
            return Err(vec![SchemaProblem { pointer: String::new(), message, hint: None }]);
        }
        let root = compile::compile(document, dialect)?;
        let default = document.get("default").map(|default| {
            // Compiling has made sure that a default converts; only null does not have to.
            root.coerce(&ValuePath::root("default"), default.clone()).unwrap_or(Value::Null)
        });
        Ok(SchemaContent { root, default })
    }

    /// Of a schema that no value fits.
    fn closed() -> SchemaContent {
        SchemaContent { root: Node { members: Some(Vec::new()), ..Node::default() }, default: None }
    }
}

impl Schema {
    /// Compiles a document, or reports everything that is wrong with it.
    pub fn compile(document: &Value, dialect: Dialect) -> Result<Schema, Vec<SchemaProblem>> {
        let content = SchemaContent::compile(document, dialect)?;
        let schema = Schema { compiled: Arc::new(LazyLock::new(Box::new(|| content))) };
        LazyLock::force(&schema.compiled);
        Ok(schema)
    }

    /// The schema of a document that is known to be sound. It is made and compiled when a value is first checked by it, which
    /// for most is never; should it not be sound after all, no value fits.
    pub fn later(document: impl FnOnce() -> Value + Send + 'static, dialect: Dialect) -> Schema {
        let compile = move || SchemaContent::compile(&document(), dialect).unwrap_or_else(|_| SchemaContent::closed());
        Schema { compiled: Arc::new(LazyLock::new(Box::new(compile))) }
    }

    /// Whether the value fits; the first failure in contract order if not. `name` is the argument's, for sentences.
    pub fn check(&self, name: &str, value: &Value) -> Result<(), Box<ParamFailure>> {
        let place = ValuePath::root(name);
        if !shallow(value, DEEPEST_VALUE) {
            let rest = format!("is nested deeper than {DEEPEST_VALUE} levels");
            return Err(Failure::new(&place, Reason::Type, &rest).of_param(name));
        }
        self.compiled.root.check::<Failure>(&place, value).map_err(|failure| failure.of_param(name))
    }

    /// The typed value of one that has passed [`Schema::check`]: `"5"` becomes 5, `"a,b"` a list, and so on through
    /// lists and objects. Fails where converting made items of a `uniqueItems` list equal, or the value does not fit.
    pub fn coerce(&self, name: &str, value: Value) -> Result<Value, Box<ParamFailure>> {
        self.compiled.root.coerce(&ValuePath::root(name), value).map_err(|failure| failure.of_param(name))
    }

    /// [`Schema::check`], then [`Schema::coerce`].
    pub fn accept(&self, name: &str, value: Value) -> Result<Value, Box<ParamFailure>> {
        self.check(name, &value)?;
        self.coerce(name, value)
    }

    /// See [`Dialect::escape_text_fields`].
    pub fn escapes_text_fields(&self) -> bool {
        self.compiled.root.dialect.escape_text_fields
    }

    /// The types at the top, in the order in which they are tried; empty where any type is accepted.
    pub fn types(&self) -> &[Type] {
        &self.compiled.root.types
    }

    /// The default at the top, converted.
    pub fn default_value(&self) -> Option<&Value> {
        self.compiled.default.as_ref()
    }
}

/// A document's keywords that decide which values fit, and nothing else of it.
pub fn constraints(document: &Value) -> Value {
    rewrite::constraints(document)
}

fn shallow(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(list) => levels > 0 && list.iter().all(|item| shallow(item, levels - 1)),
        Value::Object(map) => levels > 0 && map.values().all(|member| shallow(member, levels - 1)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Map, json};
    use std::path::Path;

    const NO_BOUNDS: ValueBounds = ValueBounds { text: None, items: None, members: None, free: None };
    const WP: Dialect = Dialect {
        scalars_as_lists: true,
        lenient_dates: true,
        space_separated_lists: true,
        empty_list_as_object: true,
        explain_types: false,
        any_address: true,
        escape_text_fields: true,
        lenient_numbers: true,
        empty_text_as_text: true,
        bounds: NO_BOUNDS,
    };

    fn compile(document: &Value, dialect: Dialect) -> Schema {
        Schema::compile(document, dialect).unwrap_or_else(|problems| panic!("{document}: {problems:#?}"))
    }

    /// A row contains what becomes of a value; whatever passes has to pass again and stay as it is.
    fn check_row(schema: &Schema, row: &Value) -> Result<(), String> {
        let data = &row["data"];
        match (schema.accept("p", data.clone()), row["valid"] == json!(true)) {
            (Ok(coerced), true) => {
                let expected = row.get("coerced").unwrap_or(data);
                if coerced != *expected {
                    return Err(format!("became {coerced}, expected {expected}"));
                }
                match schema.accept("p", coerced.clone()) {
                    Ok(again) if again == coerced => Ok(()),
                    other => Err(format!("a second time: {other:?}")),
                }
            }
            (Err(failure), false) => {
                let detail = match (row.get("param"), row.get("detail")) {
                    (Some(param), _) => json!({ "param": param }),
                    (None, Some(detail)) => detail.clone(),
                    (None, None) => failure.data.clone(),
                };
                let reason = failure.reason.map(Value::from);
                if reason.as_ref() != row.get("reason") || failure.data != detail || failure.name != "p" {
                    return Err(format!("failed otherwise: {failure:?}"));
                }
                Ok(())
            }
            (outcome, _) => Err(format!("{outcome:?}")),
        }
    }

    #[test]
    fn rows() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/schema");
        let mut files: Vec<_> =
            std::fs::read_dir(folder).expect("fixtures").map(|f| f.expect("entry").path()).collect();
        files.sort();
        let (mut count, mut wrong) = (0, Vec::new());
        for file in files {
            let text = std::fs::read_to_string(&file).expect("readable");
            let groups: Vec<Value> = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{file:?}: {e}"));
            for group in groups {
                let dialect = if group.get("dialect") == Some(&json!("wp")) { WP } else { Dialect::default() };
                let schema = compile(&group["schema"], dialect);
                for row in group["tests"].as_array().expect("tests") {
                    count += 1;
                    if let Err(why) = check_row(&schema, row) {
                        let name = file.file_name().unwrap_or_default().to_string_lossy();
                        wrong.push(format!("{name}: {}: {}: {why}", group["description"], row["description"]));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{} of {count} rows:\n{}", wrong.len(), wrong.join("\n"));
        assert!(count >= 600, "only {count} rows were found");
    }

    #[test]
    fn sentences_name_the_place_and_the_limit() {
        let check = |schema: Value, data: Value, expected: &str| {
            let failure = compile(&schema, Dialect::default()).check("page", &data).expect_err("rows fail");
            assert_eq!(failure.message, expected);
        };
        check(json!({"type": "integer"}), json!("x"), "page is not of type integer.");
        let long = "a".repeat(10_000);
        let costly = "because that takes too many steps.";
        let sentence = format!("page cannot be compared with the pattern (a)\\1b, {costly}");
        check(json!({"type": "string", "pattern": "(a)\\1b"}), json!(long), &sentence);
        let sentence = format!("page[{long}] cannot be compared with the pattern (a)\\1b, {costly}");
        check(json!({"type": "object", "patternProperties": {"(a)\\1b": {}}}), json!({long.as_str(): 1}), &sentence);
        check(json!({"type": ["integer", "null"]}), json!("x"), "page is not of type integer or null.");
        check(json!({"type": "string", "enum": ["asc", "desc"]}), json!("x"), "page is not one of: asc, desc.");
        check(json!({"type": "integer", "minimum": 1}), json!(0), "page may not be below 1.");
        check(json!({"type": "number", "multipleOf": 0.1}), json!(0.25), "page is not a multiple of 0.1.");
        check(json!({"type": "string", "minLength": 1}), json!(""), "page is shorter than 1 character.");
        check(
            json!({"type": "array", "items": {"type": "object", "additionalProperties": false}}),
            json!([{"b": 1}]),
            "page[0] takes no property b.",
        );
        check(
            json!({"anyOf": [{"type": "integer", "title": "Count", "minimum": 5}, {"type": "boolean"}]}),
            json!(3),
            "page is not valid as Count: page may not be below 5.",
        );
        check(
            json!({"anyOf": [{"type": "integer", "title": "Count"}, {"type": "boolean", "title": "Switch"}]}),
            json!("x"),
            "page is not valid as Count or Switch.",
        );
        check(
            json!({"oneOf": [{"type": "integer", "title": "Count"}, {"type": "string", "title": "Name"}]}),
            json!("5"),
            "page may fit only one of its alternatives but could be Count or Name.",
        );
    }

    #[test]
    fn every_problem_of_a_document_is_reported() {
        let check = |document: Value, expected: &[(&str, &str)]| {
            let problems = Schema::compile(&document, Dialect::default()).expect_err("rows have problems");
            let found: Vec<(&str, &str)> = problems.iter().map(|p| (p.pointer.as_str(), p.message.as_str())).collect();
            assert_eq!(found.len(), expected.len(), "{document}: {found:#?}");
            for ((pointer, message), (at, part)) in found.iter().zip(expected) {
                assert!(pointer == at && message.contains(part), "{document}: {pointer}: {message}, not {at}: {part}");
            }
        };
        check(
            json!({"type": "strin", "minLenght": 1, "maximum": "9", "properties": {"a/b": {"type": "string", "format": "mail"}}}),
            &[
                ("/minLenght", "not a schema keyword"),
                ("/type", "\"strin\" is not a type"),
                ("/maximum", "has to be a number"),
                ("/properties/a~1b/format", "\"mail\" is not a format"),
            ],
        );
        check(json!([]), &[("", "A schema is an object")]);
        check(json!({"type": []}), &[("/type", "is not a type")]);
        check(json!({"type": ["string", "string"]}), &[("/type", "twice")]);
        check(json!({"allOf": []}), &[("/allOf", "not part of this contract")]);
        check(json!({"$ref": "#/x"}), &[("/$ref", "not part of this contract")]);
        check(json!({"type": "string", "pattern": "("}), &[("/pattern", "cannot be read")]);
        check(json!({"type": "string", "pattern": "^(a)\\2$"}), &[("/pattern", "cannot be read")]);
        check(json!({"type": "object", "patternProperties": {"[": {}}}), &[("/patternProperties/[", "cannot be read")]);
        check(json!({"type": "integer", "default": "x"}), &[("/default", "not of type integer")]);
        check(json!({"type": "string", "enum": ["a"], "default": "b"}), &[("/default", "can only be a")]);
        check(
            json!({"type": "object", "properties": {"a": {"type": "string", "maxLength": 2, "x-example": "abc"}}}),
            &[("/properties/a/x-example", "longer than 2")],
        );
        check(
            json!({"type": "object", "properties": {"a": {"type": "integer", "default": "x"}}}),
            &[("/properties/a/default", "not of type integer")],
        );
        check(json!({"type": "integer", "minimum": 3, "maximum": 2}), &[("/minimum", "No number lies")]);
        check(
            json!({"type": "integer", "minimum": 3, "maximum": 3, "exclusiveMaximum": true}),
            &[("/minimum", "No number lies")],
        );
        check(json!({"type": "integer", "exclusiveMinimum": 3}), &[("/exclusiveMinimum", "has to be true or false")]);
        check(
            json!({"type": "integer", "exclusiveMinimum": true}),
            &[("/exclusiveMinimum", "minimum, which is absent")],
        );
        check(json!({"type": "string", "minLength": 3, "maxLength": 2}), &[("/minLength", "above maxLength")]);
        check(json!({"type": "string", "minLength": -1}), &[("/minLength", "whole number")]);
        check(json!({"type": "number", "multipleOf": 0}), &[("/multipleOf", "above 0")]);
        check(
            json!({"type": "integer", "enum": [1, "2", 1]}),
            &[("/enum/1", "can never be matched"), ("/enum/2", "listed twice")],
        );
        check(json!({"type": "string", "enum": []}), &[("/enum", "list of values")]);
        check(json!({"type": "array", "items": [{}]}), &[("/items", "one schema")]);
        check(json!({"type": "array", "items": 5}), &[("/items", "A schema is an object")]);
        check(json!({"type": "object", "properties": []}), &[("/properties", "object that holds schemas")]);
        check(json!({"type": "object", "required": "a"}), &[("/required", "list of names")]);
        check(json!({"type": "object", "required": []}), &[("/required", "Draft 4")]);
        check(
            json!({"type": "object", "additionalProperties": 1}),
            &[("/additionalProperties", "A schema is an object")],
        );
        check(json!({"oneOf": []}), &[("/oneOf", "list of schemas")]);
        check(
            json!({"type": "string", "anyOf": [{"type": "integer"}]}),
            &[("/anyOf/0", "No value can be of this type")],
        );
        check(
            json!({"properties": {"a": {"description": 5}, "b": {"maximum": "9"}}}),
            &[("/properties/b/maximum", "has to be a number"), ("/properties/a/description", "Draft 4")],
        );
        check(json!({"title": 5}), &[("/title", "has to be a text")]);
        check(json!({"description": 5}), &[("/description", "Draft 4")]);
        let deep = (0..70).fold(json!({}), |inner, _| json!({"type": "array", "items": inner}));
        assert!(Schema::compile(&deep, Dialect::default()).is_err());
        let hints = Schema::compile(&json!({"minlength": 1}), Dialect::default()).expect_err("a typo");
        assert_eq!(hints[0].hint.as_deref(), Some("did you mean minLength?"));
    }

    #[test]
    fn the_default_is_converted() {
        let default = |document: Value| compile(&document, Dialect::default()).default_value().cloned();
        assert_eq!(
            default(json!({"type": "array", "items": {"type": "string"}, "default": "any"})),
            Some(json!(["any"]))
        );
        assert_eq!(default(json!({"type": "string", "default": null})), Some(Value::Null));
        assert_eq!(default(json!({"type": "string"})), None);
    }

    #[test]
    fn deep_values_are_refused() {
        let deep = (0..1000).fold(json!(1), |inner, _| json!([inner]));
        let schema = compile(&json!({"type": "array", "uniqueItems": true}), Dialect::default());
        assert_eq!(schema.check("p", &deep).expect_err("deep").reason, Some("rest_invalid_type"));
    }

    fn a_value() -> impl Strategy<Value = Value> {
        let texts = ["", "a", "abc", "5", "-1", "2.5", "true", "0", "a,b", "1,2,2", " x y", "#fff", "a@b.co", "é"];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-3i64..9).prop_map(Value::from),
            prop::sample::select(vec![0.5, 2.5, -1.25, 1e-7]).prop_map(Value::from),
            prop::sample::select(texts.to_vec()).prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            let key = prop::sample::select(vec!["a", "b", "c", "0", "1"]).prop_map(str::to_owned);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((key, inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    fn some(members: Vec<(&str, Value)>, chosen: &[bool]) -> Map<String, Value> {
        let chosen = members.into_iter().zip(chosen).filter(|(_, wanted)| **wanted);
        chosen.map(|((key, value), _)| (key.to_owned(), value)).collect()
    }

    /// Schemas of one type each, with keywords that draft 4 and the contract read alike.
    fn a_schema() -> impl Strategy<Value = Value> {
        let with_type = |kind: &str, mut map: Map<String, Value>| {
            map.insert("type".into(), kind.into());
            Value::Object(map)
        };
        let flags = || prop::collection::vec(any::<bool>(), 6);
        let leaf = prop_oneof![
            prop::sample::select(vec!["null", "boolean", "string", "object", "array", "number", "integer"])
                .prop_map(|kind| json!({ "type": kind })),
            Just(json!({})),
            (flags(), 0u64..3, 3u64..5).prop_map(move |(flags, low, high)| {
                let pattern = json!("^[a-c5]");
                let words = vec![
                    ("minLength", json!(low)),
                    ("maxLength", json!(high)),
                    ("pattern", pattern),
                    ("enum", json!(["a", "5"])),
                ];
                with_type("string", some(words, &flags))
            }),
            (flags(), -2i64..3, 3i64..6, any::<bool>()).prop_map(move |(flags, low, high, open)| {
                let words = vec![("minimum", json!(low)), ("maximum", json!(high)), ("multipleOf", json!(2))];
                let mut map = some(words, &flags);
                if map.contains_key("minimum") {
                    map.insert("exclusiveMinimum".into(), open.into());
                }
                with_type("integer", map)
            }),
            (flags(), any::<bool>()).prop_map(move |(flags, integer)| {
                let words = vec![("minimum", json!(-1.5)), ("maximum", json!(2.5)), ("multipleOf", json!(0.5))];
                with_type(if integer { "integer" } else { "number" }, some(words, &flags))
            }),
        ];
        leaf.prop_recursive(3, 16, 3, move |inner| {
            let three = || (inner.clone(), inner.clone(), inner.clone());
            prop_oneof![
                (flags(), three(), 0u64..2, 2u64..4).prop_map(move |(flags, (items, ..), low, high)| {
                    let words = vec![
                        ("items", items),
                        ("minItems", json!(low)),
                        ("maxItems", json!(high)),
                        ("uniqueItems", json!(true)),
                    ];
                    with_type("array", some(words, &flags))
                }),
                (flags(), three(), any::<bool>()).prop_map(move |(flags, (a, b, rest), closed)| {
                    let words = vec![
                        ("properties", json!({"a": a, "b": b.clone()})),
                        ("required", json!(["a"])),
                        ("additionalProperties", if closed { json!(false) } else { rest }),
                        ("minProperties", json!(1)),
                        ("maxProperties", json!(2)),
                        // The same schema as for `b`: schemas of one property that want different types are another
                        // matter.
                        ("patternProperties", json!({"^[b1]$": b})),
                    ];
                    with_type("object", some(words, &flags))
                }),
                three().prop_map(|(a, b, _)| json!({"anyOf": [a, b]})),
            ]
        })
    }

    /// The value with objects for its empty lists.
    fn with_empty_objects(value: &Value) -> Value {
        match value {
            Value::Array(list) if list.is_empty() => json!({}),
            Value::Array(list) => list.iter().map(with_empty_objects).collect(),
            Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), with_empty_objects(value))).collect(),
            _ => value.clone(),
        }
    }

    fn one_of_schema() -> impl Strategy<Value = Value> {
        prop_oneof![
            3 => a_schema(),
            1 => (a_schema(), a_schema()).prop_map(|(a, b)| json!({"oneOf": [a, b]})),
            1 => prop::sample::subsequence(vec!["boolean", "integer", "string", "array", "object", "number", "null"], 1..5)
                .prop_shuffle()
                .prop_map(|types| json!({"type": types, "minimum": 1, "minLength": 1, "minItems": 1, "items": {"type": "integer"}})),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn what_is_coerced_fits_and_stays(document in one_of_schema(), value in a_value(), wp in any::<bool>()) {
            let schema = compile(&document, if wp { WP } else { Dialect::default() });
            // Values that do not fit may be refused or left alone, but must not bring anything down.
            let _ = schema.coerce("p", value.clone());
            if let Ok(coerced) = schema.accept("p", value) {
                // Under `wp` an empty list is an empty object as well: it may fit two alternatives, or another one.
                let is_ambiguous = wp && document.get("oneOf").is_some() && coerced == json!([]);
                let again = schema.accept("p", coerced.clone());
                let stays = |again: &Value| match wp {
                    true => with_empty_objects(again) == with_empty_objects(&coerced),
                    false => *again == coerced,
                };
                prop_assert!(is_ambiguous || again.as_ref().is_ok_and(stays), "{again:?} of {coerced}");
            }
        }

        #[test]
        fn draft_4_agrees_where_nothing_is_coerced(document in a_schema(), value in a_value()) {
            let schema = compile(&document, Dialect::default());
            let theirs = jsonschema::draft4::new(&document).expect("draft 4").is_valid(&value);
            let ours = schema.accept("p", value.clone());
            let untouched = ours.as_ref().is_ok_and(|coerced| equal::values_equal(coerced, &value));
            prop_assert!(!untouched || theirs, "{} <- {}: only we accept it", document, value);
            prop_assert!(!theirs || schema.check("p", &value).is_ok(), "{} <- {}: {:?}", document, value, ours);
        }
    }
}
