//! Errors are as the description says: every operation is sent what it has to refuse, by several callers, and the code of
//! each refusal is listed for the operation at the status that it has.

use super::described::{self, Described};
use super::server::Server;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Values for a parameter of a path: of something that is not there, of something that is, of nothing that fits.
const KEYS: &[&str] = &["999999", "1", "0", "nothing"];

/// The client of the tests stops at the first objection to a response of the shipped declarations; here all are collected. The
/// setting has its default.
const UNHELD: &str = "mcp.direct=40";

/// A body in which nothing is of its type, and one in which nothing fits its bounds.
fn bodies(content: &Value, document: &Value) -> Vec<Value> {
    let schema = &content["schema"];
    let schema = schema["$ref"].as_str().and_then(|at| document.pointer(at.trim_start_matches('#'))).unwrap_or(schema);
    let names: Vec<&String> = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name).collect();
    let all =
        |value: Value| Value::Object(names.iter().map(|name| ((*name).clone(), value.clone())).collect::<Map<_, _>>());
    let one = |name: &String| json!({name.clone(): 987_654});
    // One by one after the whole, which the first of them ends.
    let ones = names.iter().map(|name| one(name));
    [json!({}), all(json!({"a": [{}]})), all(json!("\u{1}")), all(json!(-1))].into_iter().chain(ones).collect()
}

/// Whether all parameters of the path take a key; another route may answer where they do not.
fn fit(described: &Described, operation: &Value, key: &str) -> bool {
    let of_path = operation["parameters"].as_array().expect("a list").iter().filter(|one| one["in"] == "path");
    let value = |schema: &Value| match schema["type"] == "integer" {
        true => key.parse::<i64>().map_or(Value::Null, Value::from),
        false => json!(key),
    };
    of_path.map(|one| &one["schema"]).all(|schema| described.validator(schema).is_valid(&value(schema)))
}

#[test]
fn each_code_is_listed_at_its_status() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}"), "site.demo=true", UNHELD]);
        let subscriber = server.user("subscriber", "subscriber");
        let callers = [None, Some(&subscriber), Some(&server.admin)];
        let described = described::under(prefix);
        let document = &described.document;
        let mut wrong = BTreeSet::new();
        let mut found = BTreeSet::new();
        for (path, item) in document["paths"].as_object().expect("paths") {
            for (method, operation) in item.as_object().expect("methods") {
                // Nobody's credentials are taken away.
                let ends = ["users.me.delete", "users.application-passwords.delete_all"];
                if ends.iter().any(|name| operation["operationId"] == *name) {
                    continue;
                }
                let content = &operation["requestBody"]["content"]["application/json"];
                let bodies = if content.is_null() { vec![Value::Null] } else { bodies(content, document) };
                let keys = if path.contains('{') { KEYS } else { &KEYS[..1] };
                let queries = ["?context=edit&per_page=0&orderby=nothing&force=true", "?context=edit", ""];
                for (caller, (i, key)) in
                    callers.iter().flat_map(|caller| keys.iter().enumerate().map(move |key| (caller, key)))
                {
                    if !fit(described, operation, key) {
                        continue;
                    }
                    let filled = path.split('/').map(|part| if part.starts_with('{') { key } else { part });
                    let at = filled.collect::<Vec<_>>().join("/");
                    // Most of it once: the others differ in who may.
                    let most = i == 0 && *caller == Some(&server.admin);
                    for body in bodies.iter().take(if most { usize::MAX } else { 1 }) {
                        for query in queries.iter().take(if body.is_null() { 3 } else { 1 }) {
                            let body = Some(body).filter(|body| !body.is_null());
                            let answer = server.ask(&method.to_uppercase(), &format!("{at}{query}"), *caller, body);
                            let method = method.to_uppercase();
                            wrong.extend(
                                described.objection(&method, &at, &answer).map(|text| format!("{method} {text}")),
                            );
                            if answer.status >= 400 {
                                found.insert((answer.status, answer.code().to_owned()));
                            }
                        }
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{prefix}: {wrong:#?}");
        assert!(found.len() > 40, "{prefix}: only {} refusals: {found:?}", found.len());
    }
}
