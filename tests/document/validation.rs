//! Parameter validation and coercion: what the shipped routes use, and the remaining keywords on a route that is
//! declared for the test and returns its arguments.

use crate::server::{Answer, Server, stdout};
use crate::shared::{args, block, id, ids, made, refused, refused_params, site, unique};
use serde_json::{Value, json};
use std::fmt::Write;
use tempfile::TempDir;

/// A server with one more route, whose parameters have these schemas.
struct Trial(Server);

impl Trial {
    fn of(schemas: &[(&str, Value)]) -> Trial {
        let folder = TempDir::new().expect("a temporary folder");
        stdout(&["init", folder.path().to_str().expect("a path")], "");
        let mut text =
            "[[\"+routes\"]]\npath = \"/try/echo\"\n\n[[\"+routes\".endpoints]]\nmethods = [\"GET\", \"POST\"]\n\
             handler = \"echo\"\naccess = \"public\"\n\n[\"+routes\".endpoints.with]\n"
                .to_owned();
        for (name, schema) in schemas {
            let mut schema = schema.clone();
            schema["description"] = json!("Under trial.");
            let schema = toml::Value::try_from(&schema).expect("a schema without null");
            writeln!(text, "{name} = {schema}").expect("a text");
        }
        std::fs::write(folder.path().join("site.toml"), text).expect("a file");
        Trial(Server::over(folder, &[]))
    }

    fn json(&self, name: &str, value: &Value) -> Answer {
        self.0.ask("POST", "/try/echo", None, Some(&json!({name: value})))
    }

    /// A JSON value is taken and becomes another.
    fn takes(&self, name: &str, value: Value, becomes: Value) {
        let answer = self.json(name, &value);
        assert_eq!(answer.status, 200, "{name} {value}: {}", answer.text);
        assert_eq!(answer.body["params"][name], becomes, "{name} {value}: {}", answer.text);
    }

    /// A JSON value is refused; gives the message.
    fn refuses(&self, name: &str, value: Value) -> String {
        let answer = self.json(name, &value);
        assert_eq!(answer.status, 400, "{name} {value}: {}", answer.text);
        let answer = refused_params(answer, &[name]);
        answer.body["data"]["params"][name].as_str().expect("a message").to_owned()
    }

    /// A value of the query.
    fn query(&self, query: &str) -> Answer {
        self.0.get(&format!("/try/echo?{query}"))
    }
}

/// string: a string.
#[test]
fn a_string_is_a_string() {
    let trial = Trial::of(&[("v", json!({"type": "string"}))]);
    trial.takes("v", json!("text"), json!("text"));
    trial.takes("v", json!(""), json!(""));
    trial.takes("v", json!("5"), json!("5"));
    for bad in [json!(5), json!(1.5), json!(true), json!(["a"]), json!({"a": 1})] {
        let said = trial.refuses("v", bad);
        assert!(said.contains('v') && said.contains("string"), "{said}");
    }
}

/// null: real null only, which needs a JSON body.
#[test]
fn null_is_real_null_only() {
    let trial = Trial::of(&[("v", json!({"type": ["integer", "null"]})), ("n", json!({"type": "null"}))]);
    trial.takes("v", json!(null), json!(null));
    trial.takes("n", json!(null), json!(null));
    for bad in [json!(""), json!("null"), json!(0), json!(false)] {
        trial.refuses("n", bad);
    }
    assert_eq!(trial.query("n=null").status, 400);
    assert_eq!(trial.query("n=").status, 400);
    assert_eq!(trial.query("v=null").status, 400);
}

/// number: a number or a numeric string, becomes a float.
#[test]
fn a_number_becomes_a_float() {
    let trial = Trial::of(&[("v", json!({"type": "number"}))]);
    let float = |value: Value, expected: f64| {
        let answer = trial.json("v", &value);
        assert_eq!(answer.body["params"]["v"].as_f64(), Some(expected), "{value}: {}", answer.text);
    };
    float(json!(1.5), 1.5);
    float(json!("1.5"), 1.5);
    float(json!(2), 2.0);
    float(json!("2"), 2.0);
    float(json!("-0.25"), -0.25);
    float(json!("1e3"), 1000.0);
    for bad in [json!("x"), json!(""), json!("1.5x"), json!(true), json!([1]), json!({"a": 1})] {
        assert!(trial.refuses("v", bad).contains("number"));
    }
}

/// integer: an integer, or a string without a fractional part.
#[test]
fn an_integer_has_no_fraction() {
    let trial = Trial::of(&[("v", json!({"type": "integer"}))]);
    for (value, becomes) in
        [(json!(5), 5), (json!("5"), 5), (json!("-5"), -5), (json!(0), 0), (json!("0"), 0), (json!(5.0), 5)]
    {
        trial.takes("v", value, json!(becomes));
    }
    for bad in [json!(1.5), json!("1.5"), json!("x"), json!(""), json!("5x"), json!(true), json!([5]), json!({"a": 5})]
    {
        assert!(trial.refuses("v", bad).contains("integer"));
    }
    assert_eq!(trial.query("v=7").body["params"]["v"], 7);
}

/// boolean: true, false, 1, 0, '1', '0', 'true', 'false'.
#[test]
fn a_boolean_has_eight_spellings() {
    let trial = Trial::of(&[("v", json!({"type": "boolean"}))]);
    for yes in [json!(true), json!(1), json!("1"), json!("true")] {
        trial.takes("v", yes, json!(true));
    }
    for no in [json!(false), json!(0), json!("0"), json!("false")] {
        trial.takes("v", no, json!(false));
    }
    for bad in
        [json!(2), json!("yes"), json!("no"), json!("on"), json!(""), json!(1.5), json!([true]), json!({"a": true})]
    {
        assert!(trial.refuses("v", bad).contains("boolean"));
    }
}

/// array: a list, or a string whose commas separate the items.
#[test]
fn an_array_is_a_list_or_a_string_with_commas() {
    let trial = Trial::of(&[
        ("v", json!({"type": "array", "items": {"type": "integer"}})),
        ("s", json!({"type": "array", "items": {"type": "string"}})),
        ("nested", json!({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}})),
    ]);
    trial.takes("v", json!([1, "2"]), json!([1, 2]));
    trial.takes("v", json!("1,2,3"), json!([1, 2, 3]));
    trial.takes("v", json!("7"), json!([7]));
    trial.takes("v", json!([]), json!([]));
    trial.takes("s", json!("a,b c"), json!(["a", "b c"]));
    trial.takes("s", json!("one"), json!(["one"]));
    trial.takes("nested", json!([[1, 2], ["3"]]), json!([[1, 2], [3]]));
    assert_eq!(trial.query("v=1,2").body["params"]["v"], json!([1, 2]));
    assert_eq!(trial.query("v%5B%5D=1&v%5B%5D=2").body["params"]["v"], json!([1, 2]));
    for bad in [json!(5), json!(true), json!({"a": 1})] {
        assert!(trial.refuses("v", bad).contains("array"));
    }
    let said = trial.refuses("v", json!([1, "x"]));
    assert!(said.contains("v[1]") && said.contains("integer"), "{said}");
    assert!(trial.refuses("nested", json!([[1], ["x"]])).contains("nested[1][0]"));
}

/// object: a map or the empty string.
#[test]
fn an_object_is_a_map_or_the_empty_string() {
    let trial = Trial::of(&[("v", json!({"type": "object", "properties": {"n": {"type": "integer"}}}))]);
    trial.takes("v", json!({"n": "5", "other": "x"}), json!({"n": 5, "other": "x"}));
    trial.takes("v", json!(""), json!({}));
    trial.takes("v", json!({}), json!({}));
    assert_eq!(trial.query("v%5Bn%5D=5").body["params"]["v"], json!({"n": 5}));
    for bad in [json!("x"), json!(5), json!(true), json!([1, 2])] {
        assert!(trial.refuses("v", bad).contains("object"));
    }
    assert!(trial.refuses("v", json!({"n": "x"})).contains("v[n]"));
}

/// Several types are tried in the listed order.
#[test]
fn several_types_are_tried_in_order() {
    let trial = Trial::of(&[
        ("bs", json!({"type": ["boolean", "string"]})),
        ("sb", json!({"type": ["string", "boolean"]})),
        ("is", json!({"type": ["integer", "string"]})),
        ("ns", json!({"type": ["null", "string"]})),
        ("ai", json!({"type": ["array", "integer"], "items": {"type": "integer"}})),
        ("os", json!({"type": ["object", "string"]})),
    ]);
    trial.takes("bs", json!("1"), json!(true));
    trial.takes("sb", json!("1"), json!("1"));
    trial.takes("sb", json!(true), json!(true));
    trial.takes("bs", json!("word"), json!("word"));
    trial.takes("is", json!("12"), json!(12));
    trial.takes("is", json!("x12"), json!("x12"));
    trial.takes("ns", json!(null), json!(null));
    trial.takes("ns", json!(""), json!(""));
    trial.takes("ai", json!(5), json!(5));
    trial.takes("ai", json!("5,6"), json!([5, 6]));
    trial.takes("os", json!(""), json!({}));
    trial.refuses("bs", json!([1]));
}

/// minLength and maxLength are inclusive and count characters.
#[test]
fn lengths_count_characters() {
    let trial = Trial::of(&[("v", json!({"type": "string", "minLength": 2, "maxLength": 4}))]);
    for good in ["ab", "abcd", "äö", "日本語字", "😀😀"] {
        trial.takes("v", json!(good), json!(good));
    }
    for bad in ["", "a", "abcde", "ä", "日本語字本"] {
        trial.refuses("v", json!(bad));
    }
}

/// The formats; the value must always match, so the empty string fails unless null is a type.
#[test]
fn formats_always_match() {
    let of = |format: &str| json!({"type": "string", "format": format});
    let trial = Trial::of(&[
        ("date", of("date-time")),
        ("uri", of("uri")),
        ("email", of("email")),
        ("ip", of("ip")),
        ("uuid", of("uuid")),
        ("hex", of("hex-color")),
    ]);
    let table: [(&str, &[&str], &[&str]); 6] = [
        (
            "date",
            &[
                "2020-01-02T03:04:05",
                "2020-01-02T03:04:05Z",
                "2020-01-02T03:04:05+02:00",
                "2020-02-29T00:00:00",
                "2020-01-02T03:04:05.123Z",
            ],
            &[
                "2020-01-02",
                "03:04:05",
                "2020-13-01T00:00:00",
                "2020-02-30T00:00:00",
                "2021-02-29T00:00:00",
                "tomorrow",
                "2020-01-02T25:00:00",
            ],
        ),
        (
            "uri",
            &["http://example.org", "https://example.org/a?b=c#d", "ftp://example.org/x"],
            &["not an address", "://x", "http://"],
        ),
        (
            "email",
            &["a@example.org", "a.b+c@mail.example.org"],
            &["a", "a@", "@example.org", "a b@example.org", "a@example"],
        ),
        (
            "ip",
            &["127.0.0.1", "255.255.255.255", "::1", "2001:db8::ff00:42:8329"],
            &["256.0.0.1", "1.2.3", "::g", "localhost", "1.2.3.4.5"],
        ),
        (
            "uuid",
            &[
                "12345678-1234-4234-8234-1234567890ab",
                "12345678-1234-1234-1234-1234567890AB",
                "00000000-0000-0000-0000-000000000000",
            ],
            &[
                "12345678123442348234-1234567890ab",
                "12345678-1234-4234-8234-1234567890a",
                "g2345678-1234-4234-8234-1234567890ab",
            ],
        ),
        ("hex", &["#fff", "#00FF7f"], &["fff", "#ffff", "#ff", "#gggggg", "#fffffff"]),
    ];
    for (name, good, bad) in table {
        for value in good {
            trial.takes(name, json!(value), json!(value));
        }
        for value in bad.iter().chain(&[""]) {
            trial.refuses(name, json!(value));
        }
    }
    let optional = Trial::of(&[("v", json!({"type": ["null", "string"], "format": "email"}))]);
    optional.takes("v", json!(null), json!(null));
    optional.refuses("v", json!("nobody"));
}

/// pattern: the ECMA 262 dialect, unanchored, no modifiers.
#[test]
fn a_pattern_is_ecma_262() {
    let of = |pattern: &str| json!({"type": "string", "pattern": pattern});
    let trial = Trial::of(&[
        ("part", of("[0-9]+")),
        ("whole", of("^#[0-9]+$")),
        ("digit", of("^\\d$")),
        ("escape", of("^\\u0041$")),
        ("look", of("^(?!bad)[a-z]+$")),
        ("delimiter", of("^a/b#c$")),
    ]);
    trial.takes("part", json!("ab12"), json!("ab12"));
    trial.refuses("part", json!("ab"));
    trial.takes("whole", json!("#123"), json!("#123"));
    for bad in ["123", "#12a", "#123\n", "x#123"] {
        trial.refuses("whole", json!(bad));
    }
    trial.refuses("digit", json!("٣"));
    trial.takes("escape", json!("A"), json!("A"));
    trial.takes("look", json!("good"), json!("good"));
    trial.refuses("look", json!("badly"));
    trial.takes("delimiter", json!("a/b#c"), json!("a/b#c"));
}

/// minimum and maximum are inclusive; the exclusive flags make them exclusive.
#[test]
fn bounds_are_inclusive_unless_flagged() {
    let trial = Trial::of(&[
        ("v", json!({"type": "integer", "minimum": 10, "maximum": 20})),
        (
            "x",
            json!({"type": "integer", "minimum": 10, "maximum": 20, "exclusiveMinimum": true, "exclusiveMaximum": true}),
        ),
        ("low", json!({"type": "number", "minimum": 0.5, "exclusiveMinimum": true})),
        ("high", json!({"type": "number", "maximum": 0.5, "exclusiveMaximum": false})),
    ]);
    for good in [10, 15, 20] {
        trial.takes("v", json!(good), json!(good));
    }
    for bad in [9, 21, -10] {
        trial.refuses("v", json!(bad));
    }
    trial.takes("x", json!(11), json!(11));
    trial.takes("x", json!("19"), json!(19));
    for bad in [10, 20, 9, 21] {
        trial.refuses("x", json!(bad));
    }
    trial.refuses("low", json!(0.5));
    trial.takes("low", json!(0.6), json!(0.6));
    trial.takes("high", json!(0.5), json!(0.5));
    trial.refuses("high", json!(0.51));
}

/// multipleOf: a multiple, decimals allowed and exact.
#[test]
fn a_multiple_may_be_decimal() {
    let trial = Trial::of(&[
        ("v", json!({"type": "integer", "multipleOf": 3})),
        ("d", json!({"type": "number", "multipleOf": 0.1})),
    ]);
    for good in [0, 3, -6, 9] {
        trial.takes("v", json!(good), json!(good));
    }
    trial.refuses("v", json!(4));
    for good in [0.3, 0.1, 0.7, 1.1, 4.5] {
        trial.takes("d", json!(good), json!(good));
    }
    trial.refuses("d", json!(0.35));
}

/// minItems and maxItems are inclusive.
#[test]
fn the_number_of_items_is_bounded() {
    let trial =
        Trial::of(&[("v", json!({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3}))]);
    trial.takes("v", json!([1, 2]), json!([1, 2]));
    trial.takes("v", json!("1,2,3"), json!([1, 2, 3]));
    for bad in [json!([]), json!([1]), json!([1, 2, 3, 4]), json!("1")] {
        trial.refuses("v", bad);
    }
}

/// uniqueItems: types differ, array order matters, property order does not; checked again after sanitizing.
#[test]
fn unique_items_differ() {
    let trial = Trial::of(&[
        ("v", json!({"type": "array", "uniqueItems": true, "items": {"type": ["string", "integer"]}})),
        ("i", json!({"type": "array", "uniqueItems": true, "items": {"type": "integer"}})),
        ("o", json!({"type": "array", "uniqueItems": true, "items": {"type": "object"}})),
        ("a", json!({"type": "array", "uniqueItems": true, "items": {"type": "array", "items": {"type": "string"}}})),
    ]);
    trial.takes("v", json!(["1", 1]), json!(["1", 1]));
    trial.refuses("v", json!(["a", "a"]));
    trial.refuses("v", json!([1, 1]));
    trial.refuses("i", json!(["1", 1]));
    trial.refuses("i", json!("5,5"));
    trial.refuses("o", json!([{"a": 1, "b": 2}, {"b": 2, "a": 1}]));
    trial.takes("o", json!([{"a": 1}, {"a": 2}]), json!([{"a": 1}, {"a": 2}]));
    trial.takes("a", json!([["x", "y"], ["y", "x"]]), json!([["x", "y"], ["y", "x"]]));
    trial.refuses("a", json!([["x", "y"], ["x", "y"]]));
}

/// properties are optional unless required: by a flag of the property, or by the object's list.
#[test]
fn properties_are_optional_unless_required() {
    let trial = Trial::of(&[
        (
            "v",
            json!({"type": "object", "properties": {"n": {"type": "integer", "required": true}, "o": {"type": "string"}}}),
        ),
        (
            "l",
            json!({"type": "object", "properties": {"in": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}}}),
        ),
    ]);
    trial.takes("v", json!({"n": 1}), json!({"n": 1}));
    let said = trial.refuses("v", json!({"o": "x"}));
    assert!(said.contains('n') && said.contains('v'), "{said}");
    trial.takes("l", json!({"in": {"n": 1}}), json!({"in": {"n": 1}}));
    let said = trial.refuses("l", json!({"in": {"o": "x"}}));
    assert!(said.contains("l[in]") && said.contains('n'), "{said}");
    trial.takes("l", json!({}), json!({}));
    assert_eq!(trial.0.ask("POST", "/try/echo", None, Some(&json!({}))).status, 200, "an absent object is no error");
}

/// additionalProperties: false forbids, a schema validates.
#[test]
fn additional_properties_are_forbidden_or_validated() {
    let trial = Trial::of(&[
        ("f", json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false})),
        (
            "s",
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "integer"}}),
        ),
    ]);
    trial.takes("f", json!({"a": "x"}), json!({"a": "x"}));
    assert!(trial.refuses("f", json!({"a": "x", "b": 1})).contains('b'));
    trial.takes("s", json!({"a": "x", "b": "5"}), json!({"a": "x", "b": 5}));
    trial.refuses("s", json!({"b": "x"}));
}

/// patternProperties: a schema per pattern; unmatched names go unchecked unless additional ones are forbidden.
#[test]
fn pattern_properties_go_by_name() {
    let patterns = json!({"^n_": {"type": "integer"}});
    let trial = Trial::of(&[
        ("v", json!({"type": "object", "patternProperties": patterns})),
        ("f", json!({"type": "object", "patternProperties": patterns, "additionalProperties": false})),
    ]);
    trial.takes("v", json!({"n_a": "5", "other": "x"}), json!({"n_a": 5, "other": "x"}));
    trial.refuses("v", json!({"n_a": "x"}));
    trial.takes("f", json!({"n_a": 5}), json!({"n_a": 5}));
    trial.refuses("f", json!({"n_a": 5, "other": "x"}));
}

/// minProperties and maxProperties are inclusive.
#[test]
fn the_number_of_properties_is_bounded() {
    let trial = Trial::of(&[("v", json!({"type": "object", "minProperties": 1, "maxProperties": 2}))]);
    trial.takes("v", json!({"a": 1}), json!({"a": 1}));
    trial.takes("v", json!({"a": 1, "b": 2}), json!({"a": 1, "b": 2}));
    trial.refuses("v", json!({}));
    trial.refuses("v", json!({"a": 1, "b": 2, "c": 3}));
}

/// enum: any type; the message lists the values.
#[test]
fn an_enum_lists_its_values() {
    let trial = Trial::of(&[
        ("v", json!({"type": "string", "enum": ["red", "blue"]})),
        ("i", json!({"type": "integer", "enum": [1, 5]})),
    ]);
    trial.takes("v", json!("red"), json!("red"));
    let said = trial.refuses("v", json!("green"));
    assert!(said.contains("red") && said.contains("blue"), "{said}");
    trial.refuses("v", json!("Red"));
    trial.takes("i", json!("5"), json!(5));
    trial.refuses("i", json!(2));
}

/// oneOf: exactly one; anyOf: at least one; the message names the nearest by its title.
#[test]
fn choices_match_one_or_any() {
    let short = json!({"title": "Short text", "type": "string", "maxLength": 3});
    let number = json!({"title": "Big number", "type": "integer", "minimum": 100});
    let digits = json!({"title": "Digits", "type": "string", "pattern": "^[0-9]+$"});
    let trial = Trial::of(&[
        ("one", json!({"oneOf": [short, digits]})),
        ("any", json!({"anyOf": [short, digits]})),
        ("mixed", json!({"anyOf": [short, number]})),
    ]);
    trial.takes("one", json!("ab"), json!("ab"));
    trial.takes("one", json!("12345"), json!("12345"));
    trial.refuses("one", json!("12"));
    trial.takes("any", json!("12"), json!("12"));
    trial.refuses("any", json!("abcdef"));
    trial.takes("mixed", json!(150), json!(150));
    let said = trial.refuses("mixed", json!(50));
    assert!(said.contains("Big number"), "{said}");
    let said = trial.refuses("mixed", json!("too long"));
    assert!(said.contains("Short text"), "{said}");
}

/// A required parameter that is absent is missing, an invalid one is invalid.
#[test]
fn required_parameters_are_missed_by_name() {
    let trial = Trial::of(&[
        ("a", json!({"type": "string", "required": true})),
        ("b", json!({"type": "integer", "required": true})),
        ("c", json!({"type": "integer", "default": 7})),
    ]);
    let answer = refused(trial.query(""), 400, "rest_missing_callback_param");
    assert_eq!(answer.body["data"]["params"], json!(["a", "b"]));
    let answer = refused(trial.query("a=x"), 400, "rest_missing_callback_param");
    assert_eq!(answer.body["data"]["params"], json!(["b"]));
    refused_params(trial.query("a=x&b=y"), &["b"]);
    let answer = trial.query("a=x&b=5");
    assert_eq!(answer.body["params"], json!({"a": "x", "b": 5, "c": 7}), "defaults are filled in: {}", answer.text);
}

/// OPTIONS shows the constraint keywords of each parameter.
#[test]
fn options_shows_the_keywords() {
    let keywords = json!({"type": "integer", "minimum": 1, "maximum": 9, "multipleOf": 2, "exclusiveMaximum": true});
    let trial = Trial::of(&[("v", keywords.clone())]);
    let shown = args(&trial.0, "/try/echo", "GET")["v"].take();
    for (name, value) in keywords.as_object().expect("keywords") {
        assert_eq!(&shown[name], value, "{name}: {shown}");
    }
    assert_eq!(shown["required"], false);
}

/// The same rules on shipped routes: integers.
#[test]
fn shipped_integers_follow_the_rules() {
    let site = site();
    block(&site, json!({}));
    for good in ["1", "01"] {
        assert_eq!(site.get(&format!("/cms/v2/blocks?per_page={good}")).status, 200, "{good}");
    }
    for bad in ["1.5", "x", "", "1x", "true", "%5B1%5D"] {
        let said = refused_params(site.get(&format!("/cms/v2/blocks?per_page={bad}")), &["per_page"]);
        assert!(
            said.body["data"]["params"]["per_page"].as_str().is_some_and(|m| m.contains("integer")),
            "{}",
            said.text
        );
    }
}

/// The same rules on shipped routes: lists.
#[test]
fn shipped_lists_follow_the_rules() {
    let site = site();
    let (a, b) = (id(&block(&site, json!({}))), id(&block(&site, json!({}))));
    for query in [
        format!("include={a},{b}"),
        format!("include%5B%5D={a}&include%5B%5D={b}"),
        format!("include%5B0%5D={a}&include%5B1%5D={b}"),
    ] {
        assert_eq!(
            ids(&site.admin("GET", &format!("/cms/v2/blocks?{query}&orderby=id&order=asc"), None)),
            [a, b],
            "{query}"
        );
    }
    assert_eq!(ids(&site.admin("GET", &format!("/cms/v2/blocks?include={a}"), None)), [a]);
    refused_params(site.get(&format!("/cms/v2/blocks?include={a},x")), &["include"]);
}

/// The same rules on shipped routes: objects, strings and dates in bodies.
#[test]
fn shipped_bodies_follow_the_rules() {
    let site = site();
    let table = [
        ("title", json!("a plain string"), false),
        ("title", json!({"raw": "x"}), true),
        ("title", json!({"raw": 5}), false),
        ("title", json!(["x"]), false),
        ("title", json!(5), false),
        ("content", json!("a plain string"), false),
        ("content", json!({"raw": "x"}), true),
        ("content", json!({"raw": ["x"]}), false),
        ("template", json!(5), false),
        ("template", json!({}), false),
        ("slug", json!(["x"]), false),
        ("slug", json!(unique("slug-")), true),
        ("password", json!("pw"), true),
        ("password", json!({"a": 1}), false),
        ("date", json!("2020-01-02T03:04:05"), true),
        ("date", json!("2020-02-30T03:04:05"), false),
        ("date", json!("2020-01-02"), false),
        ("date", json!("yesterday"), false),
        ("date", json!(""), false),
        ("date_gmt", json!("2020-01-02T03:04:05"), true),
        ("date_gmt", json!("never"), false),
        ("status", json!("draft"), true),
        ("status", json!("trash"), false),
        ("status", json!(["draft"]), false),
    ];
    for (name, value, good) in table {
        let mut body = json!({"title": {"raw": "T"}});
        body[name] = value.clone();
        let answer = site.admin("POST", "/cms/v2/blocks", Some(&body));
        if good {
            assert_eq!(answer.status, 201, "{name} {value}: {}", answer.text);
        } else {
            refused_params(answer, &[name]);
        }
    }
}

/// The same rules on shipped routes: booleans.
#[test]
fn shipped_booleans_follow_the_rules() {
    let site = site();
    for (value, forced) in [
        (json!(true), true),
        (json!("1"), true),
        (json!(1), true),
        (json!("true"), true),
        (json!(0), false),
        (json!("false"), false),
    ] {
        let name = unique("Bool ");
        let category = id(&made(&site, "/cms/v2/categories", &json!({"name": name})));
        let answer = site.admin("DELETE", &format!("/cms/v2/categories/{category}"), Some(&json!({"force": value})));
        if forced {
            assert_eq!(answer.body["deleted"], true, "{value}: {}", answer.text);
        } else {
            refused(answer, 501, "rest_trash_not_supported");
        }
    }
    let category = id(&made(&site, "/cms/v2/categories", &json!({"name": unique("Bool ")})));
    for bad in [json!("yes"), json!(2), json!([true])] {
        refused_params(
            site.admin("DELETE", &format!("/cms/v2/categories/{category}"), Some(&json!({"force": bad}))),
            &["force"],
        );
    }
}
