//! One rule a line: what changes in a description, and what is said of it.

use super::{Effect, changes};
use serde_json::{Value, json};

/// A description of one operation each for reading and writing.
fn base() -> Value {
    json!({
        "openapi": "3.1.0",
        "servers": [{"url": "https://example.org/cms-json"}],
        "paths": {
            "/v1/books": {
                "get": {
                    "operationId": "books.list",
                    "description": "Who may: all.",
                    "security": [{}, {"basic": []}],
                    "parameters": [
                        {"name": "order", "in": "query", "schema": {"type": "string", "enum": ["asc", "desc"], "default": "asc"}},
                        {"name": "least", "in": "query", "required": true, "schema": {"type": "integer", "minimum": 1}},
                    ],
                    "responses": {
                        "200": {
                            "headers": {"ETag": {}},
                            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Books"}}},
                            "x-contexts": {
                                "view": {"type": "array", "items": {"$ref": "#/components/schemas/Book"}},
                                "edit": {"type": "array", "items": {"$ref": "#/components/schemas/BookEdit"}},
                            },
                        },
                        "400": {"content": {"application/json": {"schema":
                            {"properties": {"code": {"examples": ["bad", "worse"]}}}}}},
                    },
                },
                "post": {
                    "description": "Who may: editors.",
                    "security": [{"basic": []}],
                    "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/BookCreate"}}}},
                    "responses": {"201": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Book"}}}}},
                },
            },
        },
        "components": {
            "schemas": {
                "Book": {"type": "object", "required": ["title"], "properties": {
                    "title": {"type": "string"},
                    "state": {"type": "string", "enum": ["new", "old"]},
                    "_embedded": {"properties": {"author": {"type": "array", "items":
                        {"anyOf": [{"$ref": "#/components/schemas/Author"}, {"type": "null"}]}}}},
                }},
                "BookEdit": {"type": "object", "properties": {"title": {"type": "string"}}},
                "Author": {"type": "object", "properties": {
                    "name": {"type": "string"},
                    "author": {"$ref": "#/components/schemas/Author"},
                }},
                "BookCreate": {"type": "object", "required": ["title"], "properties": {
                    "title": {"type": "string", "maxLength": 9, "pattern": "a"},
                    "pages": {"type": ["integer", "null"], "maximum": 10},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "house": {"type": "object", "properties": {"name": {"type": "string"}}},
                }},
            },
            "securitySchemes": {"basic": {"type": "http", "scheme": "basic"}},
        },
    })
}

/// Replaces a value, or removes it where the new one is null.
fn replace(document: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let key = key.replace("~1", "/");
    match document.pointer_mut(parent).expect("a place") {
        Value::Object(map) if value.is_null() => {
            assert!(map.remove(&key).is_some(), "{pointer}");
        }
        Value::Object(map) => {
            map.insert(key, value);
        }
        Value::Array(list) => match key.parse::<usize>() {
            Ok(at) if value.is_null() => {
                list.remove(at);
            }
            Ok(at) => list[at] = value,
            Err(_) => list.push(value),
        },
        other => panic!("{pointer}: {other}"),
    }
}

const LIST: &str = "/paths/~1v1~1books/get";
const CREATE: &str = "/paths/~1v1~1books/post";
const SCHEMAS: &str = "/components/schemas";

fn check(pointer: &str, value: Value, expected: &[&str]) {
    let (old, mut new) = (base(), base());
    replace(&mut new, pointer, value);
    let found: Vec<String> = changes(&old, &new).iter().map(ToString::to_string).collect();
    assert_eq!(found, expected, "{pointer}");
}

#[test]
fn nothing_changes_by_texts_and_names() {
    check("/info", json!({"title": "Another"}), &[]);
    check(&format!("{LIST}/operationId"), json!("books.all"), &[]);
    check(&format!("{LIST}/summary"), json!("All."), &[]);
    check(&format!("{SCHEMAS}/Book/properties/title/description"), json!("Its title."), &[]);
    // The order of parameters, types and values means nothing.
    check(&format!("{SCHEMAS}/BookCreate/properties/pages/type"), json!(["null", "integer"]), &[]);
    check(&format!("{SCHEMAS}/Book/properties/state/enum"), json!(["old", "new"]), &[]);
    // The host is not of the declarations.
    check("/servers/0/url", json!("http://localhost:8080/cms-json"), &[]);
}

#[test]
fn routes_and_methods() {
    check("/paths/~1v1~1books", Value::Null, &["breaking  /v1/books: the route is removed"]);
    check("/paths/~1v2~1books", json!({"get": {}}), &["additive  /v2/books: the route is new"]);
    check(CREATE, Value::Null, &["breaking  POST /v1/books: the method is removed"]);
    check("/paths/~1v1~1books/put", json!({}), &["additive  PUT /v1/books: the method is new"]);
    check(
        "/servers/0/url",
        json!("https://example.org/api/"),
        &["breaking  all routes: the REST base `/cms-json` becomes `/api`"],
    );
}

#[test]
fn access() {
    check(
        &format!("{LIST}/security"),
        json!([{"basic": []}]),
        &["breaking  GET /v1/books: anonymous callers are refused"],
    );
    check(
        &format!("{CREATE}/security"),
        json!([{}, {"basic": []}]),
        &["additive  POST /v1/books: anonymous callers are allowed"],
    );
    check(
        &format!("{CREATE}/description"),
        json!("Who may: owners."),
        &["breaking  POST /v1/books: who may use it changes from \"Who may: editors.\" to \"Who may: owners.\""],
    );
    check("/components/securitySchemes/basic", Value::Null, &["breaking  authentication `basic`: is removed"]);
    check(
        "/components/securitySchemes/basic/scheme",
        json!("bearer"),
        &["breaking  authentication `basic`: is sent in another way"],
    );
    check("/components/securitySchemes/key", json!({}), &["additive  authentication `key`: is new"]);
}

#[test]
fn arguments() {
    let at = |what: &str| format!("{LIST}/parameters/{what}");
    let new = |required: bool| json!({"name": "page", "in": "query", "required": required, "schema": {}});
    check(&at("0"), Value::Null, &["breaking  GET /v1/books: argument `order` is removed"]);
    check(&at("-"), new(false), &["additive  GET /v1/books: argument `page` is new"]);
    check(&at("-"), new(true), &["breaking  GET /v1/books: argument `page` is new and required"]);
    check(&at("0/required"), json!(true), &["breaking  GET /v1/books: argument `order` is required"]);
    check(&at("1/required"), json!(false), &["additive  GET /v1/books: argument `least` is optional"]);
    check(&at("0/explode"), json!(false), &["breaking  GET /v1/books: argument `order` is written in another way"]);
    check(
        &at("0/schema/default"),
        json!("desc"),
        &["breaking  GET /v1/books: argument `order` has the default \"desc\", was \"asc\""],
    );
    check(
        &at("0/schema/enum"),
        json!(["asc", "random"]),
        &[
            "breaking  GET /v1/books: argument `order` no longer has the value \"desc\"",
            "additive  GET /v1/books: argument `order` has the new value \"random\"",
        ],
    );
    check(
        &at("0/schema/enum"),
        Value::Null,
        &["additive  GET /v1/books: argument `order` has values beside the listed ones"],
    );
    check(&at("1/schema/minimum"), json!(2), &["breaking  GET /v1/books: argument `least` has `minimum` 2, was 1"]);
    check(&at("1/schema/minimum"), json!(0), &["additive  GET /v1/books: argument `least` has `minimum` 0, was 1"]);
    check(
        &at("1/schema/type"),
        json!("number"),
        &["additive  GET /v1/books: argument `least` becomes number, was integer"],
    );
    check(
        &at("1/schema/type"),
        json!("string"),
        &["breaking  GET /v1/books: argument `least` becomes string, was integer"],
    );
}

#[test]
fn members_of_bodies() {
    let at = |what: &str| format!("{SCHEMAS}/BookCreate/{what}");
    let said = |effect: &str, what: &str| [format!("{effect}  POST /v1/books: argument {what}")];
    let check = |pointer: &str, value: Value, effect: &str, what: &str| {
        let expected = said(effect, what);
        check(&at(pointer), value, &[expected[0].as_str()]);
    };
    check("properties/pages", Value::Null, "breaking", "`pages` is removed");
    check("properties/year", json!({"type": "integer"}), "additive", "`year` is new");
    check("required", json!(["title", "pages"]), "breaking", "`pages` is required");
    check("required", json!([]), "additive", "`title` is optional");
    check("properties/title/maxLength", json!(8), "breaking", "`title` has `maxLength` 8, was 9");
    check("properties/title/maxLength", json!(10), "additive", "`title` has `maxLength` 10, was 9");
    check("properties/title/maxLength", Value::Null, "additive", "`title` has no `maxLength`, was 9");
    check("properties/title/minLength", json!(1), "breaking", "`title` has `minLength` 1");
    check("properties/title/pattern", json!("b"), "breaking", "`title` has `pattern` \"b\", was \"a\"");
    check("properties/title/pattern", Value::Null, "additive", "`title` has no `pattern`, was \"a\"");
    check("properties/title/readOnly", json!(true), "breaking", "`title` is read-only");
    check("properties/title/default", json!("A"), "breaking", "`title` has the default \"A\", was null");
    check("properties/pages/type", json!("integer"), "breaking", "`pages` becomes integer, was integer or null");
    check("properties/pages/type", Value::Null, "additive", "`pages` becomes any value, was integer or null");
    check(
        "properties/tags/items/type",
        json!("integer"),
        "breaking",
        "`tags` (an element) becomes integer, was string",
    );
    check("properties/tags/uniqueItems", json!(true), "breaking", "`tags` has each element once");
    check("properties/house/properties/name", Value::Null, "breaking", "`house.name` is removed");
    check("properties/house/additionalProperties", json!(false), "breaking", "`house` has no further members");
}

#[test]
fn bodies() {
    let at = |what: &str| format!("{CREATE}/requestBody{what}");
    check(&at(""), Value::Null, &["breaking  POST /v1/books: the body is ignored"]);
    check(&at("/required"), json!(true), &["breaking  POST /v1/books: the body is required"]);
    check(
        &at("/content"),
        json!({"multipart/form-data": {}}),
        &[
            "breaking  POST /v1/books: the body is no longer `application/json`",
            "additive  POST /v1/books: the body may be `multipart/form-data`",
        ],
    );
    check(
        &format!("{LIST}/requestBody"),
        json!({"content": {"a/b": {}}}),
        &["additive  GET /v1/books: a body is accepted"],
    );
}

#[test]
fn responses() {
    let at = |what: &str| format!("{LIST}/responses/200/{what}");
    check(&at("headers/ETag"), Value::Null, &["breaking  GET /v1/books: header `ETag` of the response is removed"]);
    check(&at("headers/Link"), json!({}), &["additive  GET /v1/books: header `Link` of the response is new"]);
    check(&at("content/text~1csv"), json!({}), &["additive  GET /v1/books: the response may be `text/csv`"]);
    check(&format!("{CREATE}/responses/201"), Value::Null, &["breaking  POST /v1/books: status 201 is removed"]);
    check(&format!("{CREATE}/responses/202"), json!({}), &["breaking  POST /v1/books: status 202 is new"]);
}

/// Members of a response are those of the contexts that have them, and of all other operations with the same document.
#[test]
fn members_of_responses() {
    let both = |pointer: &str, value: Value, effect: &str, what: &str| {
        let list = format!("{effect}  GET /v1/books: response member {what} (context view)");
        let create = format!("{effect}  POST /v1/books: response member {what}");
        check(&format!("{SCHEMAS}/Book/{pointer}"), value, &[&list, &create]);
    };
    both("properties/title", Value::Null, "breaking", "`title` is removed");
    both("properties/isbn", json!({}), "additive", "`isbn` is new");
    both("required", json!([]), "breaking", "`title` may be absent");
    both("required", json!(["title", "state"]), "additive", "`state` is always there");
    both("properties/title/type", json!(["string", "null"]), "breaking", "`title` becomes null or string, was string");
    both("properties/state/enum", json!(["new", "old", "lost"]), "breaking", "`state` has the new value \"lost\"");
    both("properties/state/enum", json!(["new"]), "breaking", "`state` no longer has the value \"old\"");
    both("properties/state/enum", Value::Null, "breaking", "`state` has values beside the listed ones");
    both("properties/title/enum", json!(["a"]), "additive", "`title` has only the values \"a\"");
    both("properties/title/format", json!("uri"), "additive", "`title` has `format` \"uri\"");
    let (old, mut new) = (base(), base());
    for schema in ["Book", "BookEdit"] {
        replace(&mut new, &format!("{SCHEMAS}/{schema}/properties/title/type"), json!("integer"));
    }
    let found: Vec<String> = changes(&old, &new).iter().map(ToString::to_string).collect();
    assert_eq!(found[0], "breaking  GET /v1/books: response member `title` becomes integer, was string");
}

/// A document that others embed is said once, and one that contains itself ends.
#[test]
fn embedded_documents() {
    let at = |what: &str| format!("{SCHEMAS}/Author/properties/{what}");
    check(&at("name"), Value::Null, &["breaking  documents embedded as Author: member `name` is removed"]);
    check(&at("born"), json!({}), &["additive  documents embedded as Author: member `born` is new"]);
}

#[test]
fn errors() {
    let at = |what: &str| format!("{LIST}/responses/{what}");
    let codes = |codes: &[&str]| json!({"content": {"application/json": {"schema": {"properties": {"code": {"examples": codes}}}}}});
    check(&at("400"), codes(&["bad"]), &["breaking  GET /v1/books: error `worse` is removed"]);
    check(&at("400"), codes(&["bad", "worse", "worst"]), &["additive  GET /v1/books: error `worst` is new"]);
    check(&at("409"), codes(&["bad"]), &["breaking  GET /v1/books: error `bad` has status 400, 409, not 400"]);
}

#[test]
fn alternatives() {
    let one = |alternatives: Value| {
        let mut document = base();
        replace(&mut document, &format!("{SCHEMAS}/Book/properties/state"), json!({"anyOf": alternatives}));
        document
    };
    let effects = |old: Value, new: Value| {
        let found = changes(&one(old), &one(new));
        found.iter().map(|change| change.effect).collect::<Vec<Effect>>()
    };
    let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
    let same: [Effect; 0] = [];
    assert_eq!(effects(json!([text, number]), json!([number, text])), same);
    assert_eq!(effects(json!([text]), json!([text, number])), [Effect::Breaking; 2]);
    assert_eq!(effects(json!([text, number]), json!([text])), [Effect::Additive; 2]);
}

/// Descriptions of others may lead nowhere, or in circles.
#[test]
fn references_that_lead_nowhere() {
    let mut odd = base();
    replace(&mut odd, &format!("{SCHEMAS}/Book"), json!({"$ref": "#/components/schemas/Book"}));
    replace(&mut odd, &format!("{SCHEMAS}/BookEdit"), json!({"$ref": "elsewhere"}));
    assert_eq!(changes(&odd, &odd), []);
    assert!(!changes(&base(), &odd).is_empty());
    assert!(changes(&json!(null), &json!({"paths": []})).is_empty());
}
