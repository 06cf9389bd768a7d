//! The OpenAPI description: it is valid and complete, and responses are what it says.

use super::described::{self, Described, path_of};
use super::server::{Server, stdout};
use expect_test::expect_file;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tempfile::TempDir;

/// The schema of OpenAPI 3.1 itself (Apache-2.0, OpenAPI Initiative).
const SPECIFICATION: &str = include_str!("../../fixtures/openapi/3.1.json");

/// Every object in a document.
fn objects<'v>(value: &'v Value, found: &mut Vec<&'v serde_json::Map<String, Value>>) {
    match value {
        Value::Object(map) => {
            found.push(map);
            map.values().for_each(|value| objects(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| objects(value, found)),
        _ => {}
    }
}

/// Operations as method and path.
fn operations(document: &Value) -> BTreeSet<String> {
    let paths = document["paths"].as_object().expect("paths").iter();
    let methods = |(path, item): (&String, &Value)| {
        let path = path.clone();
        let item = item.as_object().expect("methods").clone();
        item.into_iter().map(move |(method, _)| format!("{} {path}", method.to_uppercase()))
    };
    paths.flat_map(methods).collect()
}

#[test]
fn it_is_valid_and_complete() {
    let specification: Value = serde_json::from_str(SPECIFICATION).expect("JSON");
    let specification = jsonschema::draft202012::new(&specification).expect("a schema");
    for prefix in ["cms", "wp"] {
        // Some routes exist in a secure context only.
        let server = Server::with(&[&format!("site.prefix={prefix}"), "site.secure_context=always"]);
        let document = server.get("/openapi.json").body;
        let errors: Vec<String> = specification.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{prefix}: {errors:#?}");
        let mut all = Vec::new();
        objects(&document, &mut all);
        let references = all.iter().filter_map(|map| map.get("$ref").and_then(Value::as_str));
        let dangling: BTreeSet<&str> =
            references.filter(|at| document.pointer(at.trim_start_matches('#')).is_none()).collect();
        assert!(dangling.is_empty(), "{prefix}: {dangling:?}");
        let names: Vec<&str> = all.iter().filter_map(|map| map.get("operationId").and_then(Value::as_str)).collect();
        let distinct: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(names.len(), distinct.len(), "{prefix}: names of operations are unique");
        assert!(distinct.contains("posts.list") && distinct.contains("posts.revisions.get"), "{distinct:?}");
        // The root lists the same, but for the routes that take whole collections or another file, and preview links; under
        // `wp` it has nothing that WordPress does not have, such as what front ends ask for.
        let for_front_ends = ["GET /server/v1/resolve", "GET /server/v1/menus/{menu}"];
        let root = server.get("/").body;
        let mut listed = BTreeSet::new();
        for (pattern, route) in root["routes"].as_object().expect("routes") {
            let methods = route["methods"].as_array().expect("methods").iter().filter_map(Value::as_str);
            listed.extend(methods.map(|method| format!("{method} {}", path_of(pattern))));
        }
        let (taken, others): (BTreeSet<String>, BTreeSet<String>) =
            operations(&document).into_iter().partition(|operation| {
                ["/import", "/replace", "/upload"].iter().any(|end| operation.ends_with(end))
                    || operation.contains("/preview-links")
                    || prefix == "wp" && for_front_ends.contains(&operation.as_str())
            });
        assert_eq!(others, listed, "{prefix}");
        assert!(prefix == "cms" || for_front_ends.iter().all(|operation| taken.contains(*operation)), "{taken:?}");
        assert!(taken.contains(&format!("POST /{prefix}/v2/posts/import")), "{taken:?}");
    }
}

#[test]
fn places_at_addresses_fit_their_schema_whatever_is_selected_of_them() {
    for (prefix, nothing) in [("cms", json!({})), ("wp", json!([]))] {
        let server = Server::with(&[&format!("site.prefix={prefix}")]);
        let operation = &server.get("/openapi.json").body["paths"]["/server/v1/resolve"]["get"];
        let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        let schema = jsonschema::draft202012::new(schema).expect("a schema");
        for (query, expected) in [
            ("path=/&_fields=kind", json!({"kind": "front_page"})),
            ("paths[]=/&paths[]=/nothing&_fields=kind", json!([{"kind": "front_page"}, {"kind": "none"}])),
            ("path=/&_fields=none", nothing.clone()),
            ("paths[]=/&_fields=none", json!([nothing])),
        ] {
            let body = server.get(&format!("/server/v1/resolve?{query}")).body;
            assert!(schema.is_valid(&body), "{prefix} {query}: {body}");
            assert_eq!(body, expected, "{prefix} {query}");
        }
    }
}

/// Schemas of the documents in a response, by context.
fn schema_in(operation: &Value, context: &str) -> Option<String> {
    let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
    let schema = by_key(schema).unwrap_or(schema);
    let one = schema.get("items").or(schema.get("additionalProperties")).unwrap_or(schema);
    let options = one["anyOf"].as_array()?.iter().filter_map(|option| option["$ref"].as_str());
    let names: Vec<&str> =
        options.filter(|name| !name.trim_end_matches(char::is_numeric).ends_with("Fields")).collect();
    let suffix = match context {
        "edit" => "Edit",
        "embed" => "Embed",
        _ => "",
    };
    let of = |name: &&&str| name.trim_end_matches(char::is_numeric).ends_with(suffix);
    let plain =
        |name: &&&str| !["Edit", "Embed"].iter().any(|end| name.trim_end_matches(char::is_numeric).ends_with(end));
    let wanted = names.iter().find(|name| if suffix.is_empty() { plain(name) } else { of(name) });
    wanted.or(names.first()).map(|name| (*name).to_owned())
}

/// The schema of documents by key; under `wp` an empty list is none of them.
fn by_key(schema: &Value) -> Option<&Value> {
    schema["anyOf"].as_array()?.iter().find(|one| one.get("additionalProperties").is_some())
}

/// Documents of a response.
fn documents(operation: &Value, body: &Value) -> Vec<Value> {
    let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
    match body {
        Value::Array(list) => list.clone(),
        Value::Object(map) if by_key(schema).or(schema.get("additionalProperties")).is_some() => {
            map.values().cloned().collect()
        }
        other => vec![other.clone()],
    }
}

/// Every collection and the items in it, in every context, have exactly the members that the context's schema names.
fn fit(described: &Described, server: &Server) -> usize {
    let mut checked = 0;
    for (path, item) in described.document["paths"].as_object().expect("paths") {
        let operation = &item["get"];
        let needed = operation["parameters"].as_array().into_iter().flatten().any(|p| p["required"] == true);
        if operation.is_null() || needed {
            continue;
        }
        let below = format!("{path}/{{id}}");
        let contexts = operation["parameters"].as_array().expect("a list").iter().find(|p| p["name"] == "context");
        let contexts =
            contexts.map_or(vec![json!("")], |p| p["schema"]["enum"].as_array().cloned().unwrap_or_default());
        for context in contexts.iter().filter_map(Value::as_str) {
            let Some(name) = schema_in(operation, context) else { continue };
            let query = if context.is_empty() { String::new() } else { format!("?context={context}") };
            let answer = server.admin("GET", &format!("{path}{query}"), None);
            if answer.status != 200 {
                continue;
            }
            let found = documents(operation, &answer.body);
            let validator = described.validator(&json!({"$ref": name}));
            for document in &found {
                let errors: Vec<String> =
                    validator.iter_errors(document).map(|e| format!("{} {e}", e.instance_path())).collect();
                assert!(errors.is_empty(), "{path}{query} as {name}: {errors:#?}");
                checked += 1;
            }
            let Some(item) = described.document["paths"].get(&below).map(|item| &item["get"]) else { continue };
            for document in found.iter().take(3) {
                let answer = server.admin("GET", &format!("{path}/{}{query}", document["id"]), None);
                let Some(name) = schema_in(item, context).filter(|_| answer.status == 200) else { continue };
                let validator = described.validator(&json!({"$ref": name}));
                let errors: Vec<String> = validator.iter_errors(&answer.body).map(|e| e.to_string()).collect();
                assert!(errors.is_empty(), "{below}{query} as {name}: {errors:#?}");
                checked += 1;
            }
        }
    }
    checked
}

#[test]
fn documents_have_the_members_of_their_context() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}"), "site.demo=true"]);
        let checked = fit(described::under(prefix), &server);
        assert!(checked > 250, "{prefix}: only {checked} documents");
    }
}

#[test]
fn callers_may_ask_for_what_they_may_use() {
    let server = Server::start();
    let author = server.user("author", "author");
    let subscriber = server.user("subscriber", "subscriber");
    let of = |user: Option<&(String, String)>| {
        let answer = server.ask("GET", "/openapi.json?for=me", user, None);
        assert!(answer.status == 200 && answer.header("cache-control").is_some_and(|text| text.contains("private")));
        operations(&answer.body)
    };
    let (nobody, subscriber, author, admin) =
        (of(None), of(Some(&subscriber)), of(Some(&author)), of(Some(&server.admin)));
    assert_eq!(admin.len(), operations(&server.get("/openapi.json").body).len() - nobodys(&admin));
    assert!(nobody.is_subset(&subscriber) && subscriber.is_subset(&author) && author.is_subset(&admin));
    for (operation, who) in [
        ("GET /cms/v2/posts", 0),
        ("POST /cms/v2/comments", 0),
        ("GET /cms/v2/users/{id}", 0),
        ("PATCH /cms/v2/users/{id}", 1),
        ("POST /cms/v2/posts", 2),
        ("DELETE /cms/v2/posts/{id}", 2),
        ("POST /cms/v2/media", 2),
        ("POST /cms/v2/categories", 3),
        ("GET /cms/v2/settings", 3),
        ("GET /server/v1/audit", 3),
        ("GET /server/v1/audit/{id}", 3),
    ] {
        let may: Vec<bool> =
            [&nobody, &subscriber, &author, &admin].iter().map(|all| all.contains(operation)).collect();
        let expected: Vec<bool> = (0..4).map(|caller| caller >= who).collect();
        assert_eq!(may, expected, "{operation}");
    }
}

/// Operations that no administrator may use either: those of revisions that are never deleted.
fn nobodys(admin: &BTreeSet<String>) -> usize {
    let all = operations(&described::under("cms").document);
    let closed: Vec<&String> = all.difference(admin).collect();
    assert!(closed.iter().all(|operation| operation.contains("/revisions/")), "{closed:?}");
    closed.len()
}

#[test]
fn formats_namespaces_and_caches() {
    let server = Server::start();
    let whole = server.get("/openapi.json");
    let tag = whole.header("etag").expect("a tag").to_owned();
    let url = format!("{}/openapi.json", server.rest);
    assert_eq!(server.send("GET", &url, None, None, &[("if-none-match", &tag)]).status, 304);
    let part = server.get("/openapi.json?namespace=server/v1").body;
    assert!(operations(&part).iter().all(|operation| operation.contains("/server/v1")), "{:?}", operations(&part));
    let none = server.get("/openapi.json?namespace=none");
    assert_eq!((none.status, none.code()), (400, "rest_invalid_param"));
    assert_eq!(server.get("/openapi.json?format=xml").status, 400);
    let yaml = server.get("/openapi.yaml?namespace=server/v1");
    assert_eq!(yaml.header("content-type"), Some("application/yaml"));
    let read = yaml_rust2::YamlLoader::load_from_str(&yaml.text).expect("YAML");
    let paths = read[0]["paths"].as_hash().expect("paths").keys().filter_map(|key| key.as_str()).collect::<Vec<_>>();
    assert_eq!(paths, part["paths"].as_object().expect("paths").keys().collect::<Vec<_>>());
    // Neither the root nor the description lists the description.
    assert!(server.get("/").body["routes"].get("/openapi.json").is_none());
}

#[test]
fn an_own_resource_is_described_at_once() {
    let folder = TempDir::new().expect("a temporary folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    std::fs::write(folder.path().join("site.toml"), include_str!("../../fixtures/books/site.toml")).expect("a file");
    let schema = include_str!("../../fixtures/books/book.json");
    std::fs::write(folder.path().join("schemas/book.json"), schema).expect("a file");
    let config = folder.path().join("routes.toml").display().to_string();
    let text = stdout(&["openapi", "--yaml", "--namespace", "library/v1", "--config", &config], "");
    expect_file!["../../fixtures/golden/openapi.books.yaml"].assert_eq(&text);
    // `tests/openapi/run` compiles the client and drives it.
    let text = stdout(&["client", "--config", &config], "");
    assert!(text.contains("\n  \"books.create\": {") && text.contains("min_pages?: number;"), "{text}");
}

#[test]
fn blocks_of_contents_are_told_apart_by_their_names() {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    let config = folder.path().join("routes.toml").display().to_string();
    let described: Value = serde_json::from_str(&stdout(&["openapi", "--config", &config], "")).expect("JSON");
    let schemas = &described["components"]["schemas"];
    let heading = &schemas["HeadingBlock"]["properties"];
    assert_eq!(heading["name"]["enum"], json!(["core/heading"]));
    assert_eq!(heading["attributes"]["properties"]["level"], json!({"type": "number"}));
    let of_post = &schemas["Post"]["properties"]["content"];
    assert_eq!(of_post["properties"]["blocks"]["items"]["$ref"], "#/components/schemas/Block");
    assert!(!of_post["required"].to_string().contains("blocks"), "they are there on demand: {}", of_post["required"]);
    let union = schemas["Block"]["anyOf"].as_array().expect("alternatives");
    assert!(union.contains(&json!({"$ref": "#/components/schemas/HeadingBlock"})));
    // A type of others is a block, too, for whoever checks responses.
    assert_eq!(union.iter().filter(|one| one["$ref"] == "#/components/schemas/OtherBlock").count(), 1);
    let types = stdout(&["types", "--config", &config], "");
    let union = types.lines().find(|line| line.starts_with("export type Block = ")).expect("a union");
    assert!(union.contains(" | HeadingBlock | ") && !union.contains("OtherBlock"), "{union}");
}

#[test]
fn requests_to_receivers_are_described() {
    let document = &described::under("cms").document;
    let webhooks = document["webhooks"].as_object().expect("webhooks");
    let types = &document["paths"]["/server/v1/events"]["get"]["parameters"][1]["schema"]["items"]["enum"];
    let mut expected: Vec<&str> = types.as_array().expect("types").iter().filter_map(Value::as_str).collect();
    expected.extend(["rebuild", "reset", "several", "test"]);
    assert_eq!(webhooks.keys().map(String::as_str).collect::<BTreeSet<_>>(), expected.into_iter().collect());
    for (name, item) in webhooks {
        let request = &item["post"];
        let headers = request["parameters"].as_array().expect("headers").iter();
        let headers: Vec<&str> = headers.filter_map(|header| header["name"].as_str()).collect();
        assert_eq!(headers, ["webhook-depth", "webhook-id", "webhook-timestamp", "webhook-signature"], "{name}");
        let content = &request["requestBody"]["content"]["application/json"];
        // The example fits, also where further members would be refused, and has all that the schema has.
        let at = content["schema"]["$ref"].as_str().and_then(|at| at.strip_prefix('#')).expect("a reference");
        let mut schema = document.pointer(at).expect("a schema").clone();
        schema["additionalProperties"] = json!(false);
        schema["components"] = document["components"].clone();
        let example = &content["example"];
        let errors = jsonschema::draft202012::new(&schema).expect("a schema");
        let errors: Vec<String> = errors.iter_errors(example).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?} {example}");
        assert_eq!(example["type"], **name);
        let members = |of: &Value| of.as_object().expect("members").keys().cloned().collect::<BTreeSet<_>>();
        assert_eq!(members(example), members(&schema["properties"]), "{name}");
    }
    let stream = &document["paths"]["/server/v1/events"]["get"]["responses"]["200"]["content"]["text/event-stream"];
    assert_eq!(stream["x-event"], webhooks["created"]["post"]["requestBody"]["content"]["application/json"]["schema"]);
    // Without a format that sends the signed event, or without the stream, there is nothing to describe.
    let server = Server::start();
    let part = |name: &str| server.get(&format!("/openapi.json?namespace={name}")).body["webhooks"].clone();
    assert!(part("server/v1").is_object() && part("cms/v2").is_null());
}
