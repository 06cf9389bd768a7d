//! Parameters of path, query and header, and bodies of requests.

use super::DescriptionBuilder;
use super::examples::body_example;
use super::schemas::{Side, modern, strict};
use crate::model::{LINES, Method};
use crate::registry::args::{Arg, ArgRole};
use crate::registry::resource::Resource;
use crate::registry::{Endpoint, Route};
use serde_json::{Map, Value, json};

/// Whether requests with this method have a body.
pub(super) fn has_body(method: Method) -> bool {
    matches!(method, Method::Post | Method::Put | Method::Patch)
}

/// The body of an operation that takes documents in lines.
pub(super) fn lines_body() -> Value {
    let description = "JSON documents, one in each line.";
    json!({"description": description, "required": true, "content": {LINES: {"schema": {"type": "string"}}}})
}

/// The parameters of an operation; those of a body are in [`DescriptionBuilder::body`]. `lines`: the body is documents in lines,
/// so that all arguments are in the query.
pub(super) fn parameters(route: &Route, endpoint: &Endpoint, method: Method, lines: bool) -> Vec<Value> {
    let mut parameters: Vec<Value> = Vec::new();
    for parameter in &route.template.parameters {
        let (arg, segments) = (endpoint.args.get(&parameter.name), parameter.segments());
        let whole = arg.filter(|_| segments.len() == 1);
        let example = arg.filter(|_| whole.is_none()).and_then(|arg| arg.example.as_ref()?.as_str());
        let mut examples = example.unwrap_or_default().split('/').filter(|part| !part.is_empty());
        for (name, class) in &segments {
            let mut described = path_parameter(name, class, whole);
            if let Some(part) = examples.next() {
                described["example"] = json!(part);
            }
            parameters.push(described);
        }
    }
    let in_query = |arg: &&Arg| !route.captures.contains(&arg.name);
    if !has_body(method) || lines {
        for arg in endpoint.args.args.iter().filter(in_query) {
            match arg.role {
                Some(ArgRole::Where) => parameters.extend(criteria(arg)),
                _ => parameters.push(query_parameter(arg)),
            }
        }
    }
    parameters.extend(shaping());
    if method == Method::Get {
        parameters.push(header("If-None-Match", "Entity tags; 304 if the response would have one of them."));
    } else if !route.captures.is_empty() {
        parameters.push(header(
            "If-Match",
            "The entity tag of the document that is to be changed; 412 if it has another one by now.",
        ));
    }
    if endpoint.file && !lines {
        parameters
            .push(header("Content-Disposition", "`attachment; filename=\"tree.png\"`, where the body is the file."));
    }
    parameters
}

fn path_parameter(name: &str, class: &str, arg: Option<&Arg>) -> Value {
    let mut schema = arg.map_or_else(|| json!({"type": "string"}), value_schema);
    if let Some(map) = schema.as_object_mut() {
        map.remove("default");
        if map.get("type") == Some(&json!("string")) && !map.contains_key("pattern") {
            map.insert("pattern".into(), json!(strict(&format!("^{class}$"))));
        }
    }
    let mut parameter = json!({"name": name, "in": "path", "required": true, "schema": schema});
    describe(&mut parameter, arg);
    parameter
}

fn query_parameter(arg: &Arg) -> Value {
    let schema = value_schema(arg);
    let mut parameter = json!({"name": arg.name, "in": "query", "schema": schema});
    if arg.required {
        parameter["required"] = json!(true);
    }
    if let Some(example) = &arg.example {
        parameter["example"] = example.clone();
    }
    match first_type(&parameter["schema"]) {
        Some("array") => {
            parameter["style"] = json!("form");
            parameter["explode"] = json!(false);
        }
        Some("object") => {
            parameter["style"] = json!("deepObject");
            parameter["explode"] = json!(true);
        }
        _ => {}
    }
    describe(&mut parameter, Some(arg));
    parameter
}

/// The criteria of `where`, each operator as a parameter of its own: what `deepObject` means two levels down is not defined.
fn criteria(arg: &Arg) -> Vec<Value> {
    let members = |doc: &Value| doc["properties"].as_object().cloned().unwrap_or_default();
    let mut found = Vec::new();
    for (name, criterion) in members(&arg.shown) {
        for (operator, operand) in members(&criterion) {
            let mut parameter = json!({
                "name": format!("{}[{name}][{operator}]", arg.name),
                "in": "query",
                "description": format!("Only items by their `{name}`: {}.", explained(&operator)),
                "schema": modern(&operand, Side::Request),
            });
            if operand["type"] == "array" {
                parameter["style"] = json!("form");
                parameter["explode"] = json!(false);
            }
            found.push(parameter);
        }
    }
    found
}

fn explained(operator: &str) -> &'static str {
    match operator {
        "eq" => "it is this value",
        "ne" => "it is another value, or none",
        "lt" => "less than this value",
        "le" => "at most this value",
        "gt" => "more than this value",
        "ge" => "at least this value",
        "in" => "it is one of these values",
        "not_in" => "it is none of these values",
        "contains" => "it contains this text, whatever its case",
        "any" => "one of these values is among them",
        "all" => "each of these values is among them",
        "none" => "none of these values is among them",
        _ => "it has a value, or it has none",
    }
}

/// The parameters that shape every response.
pub(super) fn shaping() -> Vec<Value> {
    let names = |name: &str, description: &str| {
        let schema = json!({"type": "array", "items": {"type": "string"}});
        json!({"name": name, "in": "query", "description": description, "schema": schema, "style": "form", "explode": false})
    };
    vec![
        names("_fields", "Names of the members that the response contains; `a.b` selects a member of a member."),
        names(
            "_embed",
            "Relations whose documents are embedded; `1` embeds all that can be, `a.b` also `b` in the documents of `a`.",
        ),
    ]
}

fn header(name: &str, description: &str) -> Value {
    json!({"name": name, "in": "header", "description": description, "schema": {"type": "string"}})
}

/// Moves the sentence about an argument from its schema to the parameter.
fn describe(parameter: &mut Value, arg: Option<&Arg>) {
    let written = parameter["schema"].as_object_mut().and_then(|schema| schema.shift_remove("description"));
    let described = written.filter(|text| text.as_str().is_some_and(|text| !text.is_empty()));
    if let Some(map) = parameter.as_object_mut() {
        map.extend(described.map(|text| ("description".to_owned(), text)));
        let also: Vec<&str> = arg.into_iter().flat_map(|arg| &arg.also).map(String::as_str).collect();
        if !also.is_empty() {
            let before = map.get("description").and_then(Value::as_str).unwrap_or_default();
            let text = format!("{before} Also as {}.", also.join(", "));
            map.insert("description".into(), json!(text.trim_start()));
        }
    }
}

/// The schema of an argument.
fn value_schema(arg: &Arg) -> Value {
    let mut schema = modern(&arg.shown, Side::Request);
    let Some(map) = schema.as_object_mut() else { return schema };
    if !arg.accepts.is_empty()
        && let Some(own) = map.get("type").cloned()
    {
        let mut types = own.as_array().cloned().unwrap_or_else(|| vec![own]);
        types.extend(
            arg.accepts.iter().map(|also| json!(also)).filter(|also| !types.contains(also)).collect::<Vec<_>>(),
        );
        map.insert("type".into(), if types.len() == 1 { types.remove(0) } else { Value::Array(types) });
    }
    schema
}

fn first_type(schema: &Value) -> Option<&str> {
    match &schema["type"] {
        Value::String(one) => Some(one),
        Value::Array(list) => list.iter().filter_map(Value::as_str).find(|one| *one != "null"),
        _ => None,
    }
}

impl DescriptionBuilder<'_> {
    /// The body of an operation, as JSON and as a form; `None` where there are no arguments for it.
    pub(super) fn body(
        &mut self,
        name: &str,
        route: &Route,
        endpoint: &Endpoint,
        owner: Option<&Resource>,
    ) -> Option<Value> {
        let args: Vec<&Arg> = endpoint.args.args.iter().filter(|arg| !route.captures.contains(&arg.name)).collect();
        if args.is_empty() && !endpoint.file {
            return None;
        }
        let properties: Map<String, Value> = args.iter().map(|arg| (arg.name.clone(), value_schema(arg))).collect();
        let required: Vec<&str> = args.iter().filter(|arg| arg.required).map(|arg| arg.name.as_str()).collect();
        let mut schema = json!({"type": "object", "properties": properties});
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        let mut content = Map::new();
        if endpoint.file {
            let bytes = json!({"type": "string", "contentMediaType": "application/octet-stream"});
            if let Some(properties) = schema["properties"].as_object_mut() {
                properties.insert("file".into(), bytes);
            }
            content.insert("application/octet-stream".into(), json!({}));
            content.insert("multipart/form-data".into(), json!({"schema": schema}));
        } else {
            let reference = self.components.add(name, schema);
            for media_type in ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"] {
                content.insert(media_type.into(), json!({"schema": reference}));
            }
            if let Some(example) = body_example(route, endpoint, owner) {
                content["application/json"]["example"] = example;
            }
        }
        let mut body = json!({"content": content});
        if endpoint.file || !required.is_empty() {
            body["required"] = json!(true);
        }
        Some(body)
    }
}
