//! Queries, forms, JSON, arguments, `_fields`, cursors.

use super::HtmlAuditor;
use cms_config::load;
use cms_core::engine;
use cms_core::handlers::cursor as walk;
use cms_core::model::{Method, Peer, Request};
use cms_core::registry::args::{ArgRole, ArgSet};
use cms_core::registry::{Registry, link};
use cms_core::request::args::{self, ArgSources};
use cms_core::request::fields::Fields;
use cms_core::request::{BodyParams, body_params, decode_query};
use cms_schema::{Dialect, Schema, ValueBounds};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// Levels that are read, as shipped.
const DEPTH: usize = 64;

/// A query string, and the same as a form.
pub(super) fn query(bytes: &[u8], _: HtmlAuditor) {
    let form = body_params(&posted("application/x-www-form-urlencoded", bytes), DEPTH);
    let Ok(text) = std::str::from_utf8(bytes) else {
        assert!(bytes.is_empty() || form.is_err_and(|refusal| refusal.status() == 400));
        return;
    };
    match decode_query(text, DEPTH) {
        Ok(decoded) => {
            if !text.is_empty() {
                assert_eq!(form.ok(), Some(BodyParams::Form(decoded.clone())));
            }
            // Text after a bracket that is never closed stays in a name as it is, and no query can spell it otherwise.
            if decoded.keys().all(|name| !name.contains(['[', ' ', '.'])) {
                let written = written(&decoded);
                assert_eq!(decode_query(&written, DEPTH).ok(), Some(decoded), "{written}");
            }
        }
        Err(refusal) => assert_eq!(refusal.status(), 400),
    }
}

fn written(decoded: &Map<String, Value>) -> String {
    let mut pairs = Vec::new();
    for (name, value) in decoded {
        spell(&percent_encoded(name), value, &mut pairs);
    }
    pairs.join("&")
}

fn spell(name: &str, value: &Value, pairs: &mut Vec<String>) {
    match value {
        Value::String(text) => pairs.push(format!("{name}={}", percent_encoded(text))),
        Value::Array(list) => list.iter().enumerate().for_each(|(i, item)| spell(&format!("{name}[{i}]"), item, pairs)),
        Value::Object(map) => {
            map.iter().for_each(|(key, item)| spell(&format!("{name}[{}]", percent_encoded(key)), item, pairs));
        }
        other => unreachable!("a query holds texts, not {other}"),
    }
}

fn percent_encoded(text: &str) -> String {
    text.bytes()
        .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect()
}

/// A JSON body.
pub(super) fn json(bytes: &[u8], _: HtmlAuditor) {
    match body_params(&posted("application/json", bytes), DEPTH) {
        Ok(BodyParams::Json(members)) => {
            let written = serde_json::to_vec(&members).expect("JSON");
            let again = body_params(&posted("application/json", &written), DEPTH);
            assert_eq!(again.ok(), Some(BodyParams::Json(members)), "{}", String::from_utf8_lossy(&written));
        }
        Ok(other) => assert_eq!(other, BodyParams::None),
        Err(refusal) => assert_eq!(refusal.status(), 400),
    }
}

fn posted(kind: &str, body: &[u8]) -> Request {
    Request {
        id: "-".into(),
        method: Method::Post,
        path: "/".into(),
        raw_query: String::new(),
        query: Map::new(),
        headers: vec![("content-type".into(), kind.into())],
        body: body.to_vec(),
        upload: None,
        goes_on: false,
        peer: Peer::default(),
    }
}

/// Two bytes that choose one of the shipped endpoints; a query; behind a line end a JSON object.
pub(super) fn arguments(bytes: &[u8], _: HtmlAuditor) {
    let [high, low, rest @ ..] = bytes else { return };
    let endpoints = endpoints();
    let set = endpoints[(usize::from(*high) * 256 + usize::from(*low)) % endpoints.len()];
    let (raw, body) = split(rest, b'\n');
    let Ok(query) = decode_query(&String::from_utf8_lossy(raw), DEPTH) else { return };
    let Ok(body) = body_params(&posted("application/json", body), DEPTH) else { return };
    let sources = ArgSources { path: &Map::new(), body: &body, query: &query };
    let checked = match args::check(set, &sources, &|_, _| None, &|_| false) {
        Ok(checked) => checked,
        Err(refusal) => return assert_eq!(refusal.status(), 400),
    };
    for arg in &set.args {
        // These are spelled otherwise behind the check, or taken although no schema describes them.
        if !arg.aliases.is_empty() || !arg.accepts.is_empty() || arg.role == Some(ArgRole::Search) {
            continue;
        }
        if let Some(value) = checked.explicit(&arg.name) {
            let again = arg.schema.accept(&arg.name, value.clone());
            assert_eq!(again.ok().as_ref(), Some(value), "{}", arg.name);
        }
    }
}

/// The arguments of all endpoints of both dialects.
fn endpoints() -> &'static [&'static ArgSet] {
    static REGISTRIES: LazyLock<Vec<Registry>> = LazyLock::new(|| {
        let registry = |prefix: &str| {
            let loaded = load::load(None, &[format!("site.prefix={prefix}")], []).expect("the shipped declaration");
            link::link(&loaded, &engine::vocabulary(), "http://site.example").expect("the shipped declaration")
        };
        vec![registry("cms"), registry("wp")]
    });
    static ENDPOINTS: LazyLock<Vec<&ArgSet>> = LazyLock::new(|| {
        let routes = REGISTRIES.iter().flat_map(|registry| &registry.routes);
        routes.flat_map(|route| &route.endpoints).map(|endpoint| &endpoint.args).collect()
    });
    &ENDPOINTS
}

/// A schema in JSON; behind a line end a value in JSON.
pub(super) fn schema(bytes: &[u8], _: HtmlAuditor) {
    let (document, value) = split(bytes, b'\n');
    let Ok(mut document) = serde_json::from_slice::<Value>(document) else { return };
    // Patterns come from operators, who may write expensive ones.
    without_patterns(&mut document);
    for wordpress in [false, true] {
        let bounds = ValueBounds { text: Some(5_000), items: Some(100), members: Some(100), free: Some(10_000) };
        let dialect = Dialect {
            space_separated_lists: wordpress,
            empty_list_as_object: wordpress,
            any_address: wordpress,
            escape_text_fields: wordpress,
            scalars_as_lists: wordpress,
            lenient_dates: wordpress,
            lenient_numbers: wordpress,
            empty_text_as_text: wordpress,
            explain_types: !wordpress,
            bounds,
        };
        match Schema::compile(&document, dialect) {
            Ok(schema) => {
                let texts = Value::String(String::from_utf8_lossy(value).into_owned());
                for value in serde_json::from_slice(value).ok().into_iter().chain([texts]) {
                    if let Ok(coerced) = schema.accept("x", value) {
                        let again = schema.accept("x", coerced.clone());
                        assert_eq!(again.ok().as_ref(), Some(&coerced), "{document}");
                    }
                }
            }
            Err(problems) => assert!(!problems.is_empty()),
        }
    }
}

fn without_patterns(document: &mut Value) {
    match document {
        Value::Object(map) => {
            map.shift_remove("pattern");
            map.shift_remove("patternProperties");
            map.values_mut().for_each(without_patterns);
        }
        Value::Array(list) => list.iter_mut().for_each(without_patterns),
        _ => {}
    }
}

/// The requested names: a text, or with a line end in it a list of texts.
pub(super) fn fields(bytes: &[u8], _: HtmlAuditor) {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
        json!({
            "id": 1, "title": {"raw": "a", "rendered": "b"}, "meta": {"a": {"b": {"c": [1, {"d": 2}]}}}, "": {"": 0},
            "_links": {"self": [{"href": "x"}], "author": []}, "_embedded": {"author": [{"id": 2}]}
        })
    });
    let text = String::from_utf8_lossy(bytes);
    let asked = match text.contains('\n') {
        true => Value::Array(text.split('\n').map(Value::from).collect()),
        false => Value::from(&*text),
    };
    let fields = Fields::parse(Some(&asked));
    let kept = fields.select(DOCUMENT.clone());
    assert!(within(&kept, &DOCUMENT), "{kept}");
    assert_eq!(fields.select(kept.clone()), kept);
    assert!(within(&fields.select_single(DOCUMENT.clone()), &DOCUMENT));
}

fn within(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|whole| within(value, whole)))
        }
        (part, whole) => part == whole,
    }
}

/// A cursor.
pub(super) fn cursor(bytes: &[u8], _: HtmlAuditor) {
    let word = String::from_utf8_lossy(bytes);
    let mark = "mark";
    if let Some(values) = walk::read(&word, mark) {
        let written = walk::write(mark, &values);
        assert_eq!(walk::read(&written, mark), Some(values), "{written}");
    }
}

/// The parts before and behind a mark.
fn split(bytes: &[u8], mark: u8) -> (&[u8], &[u8]) {
    match bytes.iter().position(|b| *b == mark) {
        Some(at) => (&bytes[..at], &bytes[at + 1..]),
        None => (bytes, &[]),
    }
}
