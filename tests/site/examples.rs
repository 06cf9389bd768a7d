//! The examples of the description: the server takes those of requests, what it makes of them is what the examples of
//! responses show, and all of them fit their schemas. Nothing here is written for one resource but the tables of what
//! cannot have an example.

use super::described::{self, Described};
use super::media::{png, upload};
use super::server::{Server, stdout};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tempfile::TempDir;

/// An operation of a description.
struct Operation<'d> {
    name: &'d str,
    method: String,
    path: &'d str,
    is: &'d Value,
}

fn operations(described: &Described) -> Vec<Operation<'_>> {
    let paths = described.document["paths"].as_object().expect("paths");
    let of = |(path, item): (&'_ String, &'_ Value)| -> Vec<(String, String)> {
        item.as_object().expect("methods").keys().map(|method| (path.clone(), method.clone())).collect()
    };
    let all: Vec<(String, String)> = paths.iter().flat_map(of).collect();
    let operation = |(path, method): (String, String)| {
        let (path, item) = paths.get_key_value(&path).expect("a path");
        let is = &item[&method];
        Operation { name: is["operationId"].as_str().expect("a name"), method: method.to_uppercase(), path, is }
    };
    all.into_iter().map(operation).collect()
}

impl Operation<'_> {
    /// The example of a body as JSON.
    fn body(&self) -> Option<&Value> {
        self.json_body()?.get("example")
    }

    fn json_body(&self) -> Option<&Value> {
        self.is["requestBody"]["content"].get("application/json")
    }

    /// The content of a success as JSON.
    fn response(&self) -> Option<&Value> {
        let all = self.is["responses"].as_object().expect("responses");
        let (_, success) = all.iter().find(|(status, _)| status.starts_with('2'))?;
        success["content"].get("application/json")
    }

    /// The examples of a success, by context.
    fn responses<'d>(&self, described: &'d Described) -> Vec<(String, &'d Value)>
    where
        Self: 'd,
    {
        let Some(content) = self.response() else { return Vec::new() };
        let by_context = content["examples"].as_object().into_iter().flatten();
        let named = by_context.map(|(context, example)| {
            let at = example["$ref"].as_str().expect("a reference").trim_start_matches('#');
            (context.clone(), &described.document.pointer(at).expect("an example")["value"])
        });
        let one = content.get("example").map(|_| {
            let at = format!("/paths/{}/{}/responses", self.path.replace('/', "~1"), self.method.to_lowercase());
            let all = described.document.pointer(&at).and_then(Value::as_object).expect("responses");
            let (_, success) = all.iter().find(|(status, _)| status.starts_with('2')).expect("a success");
            ("any".to_owned(), &success["content"]["application/json"]["example"])
        });
        named.chain(one).collect()
    }

    fn is_one_of(&self, table: &[(&str, &str)]) -> bool {
        let fits = |name: &str| match (name.strip_prefix('*'), name.strip_suffix('*')) {
            (Some(end), _) => self.name.ends_with(end),
            (_, Some(start)) => self.name.starts_with(start),
            _ => self.name == name,
        };
        table.iter().any(|(name, _)| fits(name))
    }
}

/// Operations whose body has no example.
const BODIES: &[(&str, &str)] = &[
    ("abilities.run*", "each ability has an input of its own"),
    ("media.finalize", "it lists what the client has uploaded before"),
    ("plugins.update*", "there are no plugins"),
    ("wp.plugins.update", "there are no plugins"),
];

/// Operations whose response has no example.
const RESPONSES: &[(&str, &str)] = &[
    ("*.index", "everything that is declared"),
    ("abilities.run*", "each ability has a result of its own"),
    ("embed.get", "WordPress describes no schema of it"),
    ("widget-types.encode", "WordPress describes no schema of it"),
];

/// Operations whose example cannot be sent as it is.
const NOT_SENT: &[(&str, &str)] = &[
    ("plugins.*", "there are no plugins, and none can be installed"),
    ("webhook-deliveries.redeliver*", "nothing was delivered yet"),
    ("rebuilds.run*", "nothing rebuilds the site"),
    ("media.upload.*", "what a picture shows follows from its file; sent alone below"),
    ("roles.update*", "the first role is the one that keeps all that is declared"),
    ("reviews.update*", "no change waits: programs that only draft propose them"),
];

/// Members that each server makes of its own secrets.
const SECRET: &[&str] = &["instance"];

fn fit(described: &Described) {
    let mut wrong = Vec::new();
    for operation in operations(described) {
        let name = format!("{} {}", operation.method, operation.path);
        match (operation.json_body(), operation.body()) {
            (Some(content), Some(example)) => {
                let errors = described.validator(&content["schema"]);
                let errors: Vec<String> = errors.iter_errors(example).map(|error| error.to_string()).collect();
                if !errors.is_empty() {
                    wrong.push(format!("{name}: the body {example}: {errors:?}"));
                }
            }
            (Some(_), None) if !operation.is_one_of(BODIES) => {
                wrong.push(format!("{name} ({}): the body has no example", operation.name));
            }
            _ => {}
        }
        let found = operation.responses(described);
        if let Some(content) = operation.response() {
            if found.is_empty() && !operation.is_one_of(RESPONSES) {
                wrong.push(format!("{name} ({}): the response has no example", operation.name));
            }
            for (context, example) in found {
                // The schema of the context, not the one of a selection that anything fits.
                let by_context = operation.is["responses"].as_object().expect("responses").values();
                let schema = by_context.filter_map(|response| response["x-contexts"].get(&context)).next();
                let validator = described.validator(schema.unwrap_or(&content["schema"]));
                let errors = validator.iter_errors(example).map(|error| format!("{} {error}", error.instance_path()));
                let errors: Vec<String> = errors.collect();
                if !errors.is_empty() {
                    wrong.push(format!("{name} ({context}): {errors:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn examples_fit_their_schemas() {
    for prefix in ["cms", "wp"] {
        fit(described::under(prefix));
    }
}

/// The address of a record that is there, or that an example has made.
fn address(server: &Server, described: &Described, operation: &Operation<'_>) -> Option<String> {
    let mut found = String::new();
    let parameters = operation.is["parameters"].as_array().expect("a list");
    for segment in operation.path.split('/').skip(1) {
        let name = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let given = parameters.iter().find(|one| one["name"].as_str() == name && one["in"] == "path");
        let key = match given.map(|parameter| parameter["example"].as_str()) {
            None => segment.to_owned(),
            Some(Some(example)) => example.to_owned(),
            Some(None) => key(server, described, &found)?,
        };
        found = format!("{found}/{key}");
    }
    Some(found)
}

/// The key of an item of a collection.
fn key(server: &Server, described: &Described, collection: &str) -> Option<String> {
    let listed = server.admin("GET", &format!("{collection}?context=edit"), None);
    let first = match &listed.body {
        Value::Array(list) => list.first().cloned(),
        Value::Object(map) if listed.status == 200 => map.values().next().cloned(),
        _ => None,
    };
    // A record that no list has may be named by a link of a theme.
    if first.is_none() && listed.code() == "rest_no_route" {
        let themes = server.admin("GET", &format!("/{}/v2/themes", server.prefix), None);
        let (_, rest) = themes.text.split_once(&format!("{collection}/"))?;
        return Some(rest.chars().take_while(char::is_ascii_digit).collect());
    }
    let item = first.or_else(|| {
        let all = operations(described);
        let create = all.iter().find(|one| one.method == "POST" && matches(one.path, collection))?;
        let made = server.admin("POST", collection, Some(create.body()?));
        Some(made.body).filter(|_| made.status == 201)
    })?;
    let key = ["id", "uuid", "slug", "stylesheet", "name"].iter().find_map(|name| item.get(name))?;
    Some(key.as_str().map_or_else(|| key.to_string(), str::to_owned))
}

fn matches(template: &str, path: &str) -> bool {
    let (one, other): (Vec<&str>, Vec<&str>) = (template.split('/').collect(), path.split('/').collect());
    one.len() == other.len() && one.iter().zip(&other).all(|(a, b)| a == b || a.starts_with('{'))
}

/// The address of a collection with the examples of its parameters.
fn filtered(operation: &Operation<'_>) -> Option<String> {
    let list = operation.is["parameters"].as_array().expect("a list");
    let given = list.iter().filter(|one| one["in"] == "query").filter_map(|one| {
        let example = one.get("example")?;
        Some(format!(
            "{}={}",
            one["name"].as_str()?,
            example.as_str().map_or_else(|| example.to_string(), str::to_owned)
        ))
    });
    let query = given.collect::<Vec<_>>().join("&");
    let whole = operation.method == "GET" && !operation.path.contains('{') && !query.is_empty();
    whole.then(|| format!("{}?{query}", operation.path))
}

/// Sends every example of a request, and compares what is created with the example of the response.
fn send(server: &Server, described: &Described, replace: &dyn Fn(&str, &mut Value)) -> BTreeSet<String> {
    let (mut wrong, mut sent) = (Vec::new(), BTreeSet::new());
    let mut all = operations(described);
    // Created documents are compared first, before the examples of changes are like them.
    all.sort_by_key(|operation| operation.path.contains('{'));
    for operation in all.iter().filter(|operation| !operation.is_one_of(NOT_SENT)) {
        if let Some(path) = filtered(operation) {
            let answer = server.admin("GET", &path, None);
            if answer.status != 200 {
                wrong.push(format!("{path} ({}): {} {}", operation.name, answer.status, answer.text));
            }
        }
        let Some(body) = operation.body() else { continue };
        let Some(path) = address(server, described, operation) else {
            wrong.push(format!("{} ({}): there is nothing to send it to", operation.path, operation.name));
            continue;
        };
        let mut body = body.clone();
        replace(operation.name, &mut body);
        let answer = server.admin(&operation.method, &path, Some(&body));
        if answer.status >= 300 {
            wrong.push(format!(
                "{} {path} ({}): {body}: {} {}",
                operation.method, operation.name, answer.status, answer.text
            ));
            continue;
        }
        sent.insert(operation.name.to_owned());
        let found = operation.responses(described);
        if answer.status != 201 {
            continue;
        }
        for name in body.as_object().expect("an object").keys().filter(|name| !SECRET.contains(&name.as_str())) {
            let mut shown = found.iter().filter_map(|(_, example)| example.get(name)).peekable();
            if shown.peek().is_some() && shown.clone().all(|expected| answer.body[name] != *expected) {
                let expected = shown.last();
                wrong.push(format!("{} {path}: `{name}` is {}, not {expected:?}", operation.method, answer.body[name]));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    sent
}

#[test]
fn the_server_takes_the_examples_of_requests() {
    for prefix in ["cms", "wp"] {
        let server = Server::with(&[&format!("site.prefix={prefix}"), "site.demo=true"]);
        let file = upload(&server, "harbour.png", "image/png", png(400, 300));
        let described = described::under(prefix);
        // The file of an example is not on every site.
        let sent = send(&server, described, &|_, body| {
            if let Some(src) = body.get_mut("src") {
                *src = file.body["source_url"].clone();
            }
        });
        assert!(sent.len() > 30, "{prefix}: {sent:?}");
        let all = operations(described);
        let brought =
            all.iter().find(|operation| operation.name == "media.upload.create").expect("uploads without a body");
        let made = server.admin("POST", brought.path, brought.body());
        assert_eq!((made.status, &made.body["mime_type"]), (201, &json!("image/png")), "{prefix}: {}", made.text);
    }
}

#[test]
fn an_own_resource_has_examples() {
    let folder = TempDir::new().expect("a temporary folder");
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    std::fs::write(folder.path().join("site.toml"), include_str!("../../fixtures/books/site.toml")).expect("a file");
    let schema = include_str!("../../fixtures/books/book.json");
    std::fs::write(folder.path().join("schemas/book.json"), schema).expect("a file");
    let server = Server::over(folder, &[]);
    let described = Described::new(&server.get("/openapi.json?namespace=library/v1").text);
    fit(&described);
    let sent = send(&server, &described, &|_, _| {});
    assert!(sent.contains("books.create") && sent.contains("books.update"), "{sent:?}");
    let create = operations(&described).into_iter().find(|operation| operation.name == "books.create").expect("books");
    assert_eq!(create.body().expect("an example")["title"], json!("A winter on the quay"));
}
