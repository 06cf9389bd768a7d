//! A description as generators of clients need it: operations with what they take and respond with, and named schemas, as
//! shapes that every language has.

use super::blocks::{NAMED, OPEN};
use crate::model::{EVENT_STREAM, LINES};
use serde_json::{Map, Value};

/// Everything that a client has types of.
#[derive(Clone, Debug)]
pub struct Model {
    /// In the order of the description.
    pub schemas: Vec<Schema>,
    pub operations: Vec<Operation>,
    /// Requests that the server sends to receivers.
    pub webhooks: Vec<Webhook>,
}

/// A request that the server sends to a receiver.
#[derive(Clone, Debug)]
pub struct Webhook {
    /// The type of its event.
    pub name: String,
    pub summary: String,
    pub headers: Vec<Member>,
    pub body: ValueType,
}

/// A schema with a name.
#[derive(Clone, Debug)]
pub struct Schema {
    pub name: String,
    pub description: Option<String>,
    pub shape: ValueType,
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueType {
    Any,
    Null,
    Boolean,
    Integer,
    Number,
    Text,
    /// The bytes of a file.
    File,
    /// One of these values.
    Literals(Vec<Value>),
    /// A schema with a name.
    Named(String),
    List(Box<ValueType>),
    /// An empty list, which some platforms write for an empty object.
    EmptyList,
    /// An object whose members have any name.
    Map(Box<ValueType>),
    Object(Object),
    /// One of these, each once; none of them is a union.
    Union(Vec<ValueType>),
}

/// An object with named members.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    pub members: Vec<Member>,
    /// It may have further members.
    pub open: bool,
}

/// A member of an object, or a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    pub name: String,
    pub description: Option<String>,
    pub required: bool,
    pub shape: ValueType,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Operation {
    /// `posts.revisions.get`.
    pub name: String,
    pub summary: String,
    /// In capitals.
    pub method: String,
    /// With `{names}` of parameters.
    pub path: String,
    /// Parameters of the path.
    pub params: Vec<Member>,
    /// Parameters of the query.
    pub query: Vec<Member>,
    pub body: Option<Body>,
    /// The response of a success, by context; without contexts one of the name `any`; none where nothing is said.
    pub response: Vec<(String, ValueType)>,
    /// It sends a collection whole, a document in each line, where the request accepts that.
    pub gives_lines: bool,
    /// The type of the events that it sends as they come.
    pub event: Option<ValueType>,
    /// Its body is documents in lines.
    pub takes_lines: bool,
    /// Codes of its errors; empty: any.
    pub errors: Vec<String>,
}

/// The body of a request.
#[derive(Clone, Debug)]
pub struct Body {
    pub shape: ValueType,
    pub required: bool,
    /// It is sent as a form, because it contains a file.
    pub form: bool,
}

impl Model {
    /// Reads a description as [`super::document`] makes it.
    pub fn of(document: &Value) -> Model {
        let schemas = members(&document["components"]["schemas"]);
        let schema = |(name, schema): (&String, &Value)| Schema {
            name: name.clone(),
            description: described(schema),
            shape: shape_of_named(schema),
        };
        let items = members(&document["paths"]);
        let operations = items.flat_map(|(path, item)| members(item).filter_map(move |(m, o)| operation(path, m, o)));
        let webhooks = members(&document["webhooks"]).filter_map(|(name, item)| webhook(name, &item["post"]));
        Model { schemas: schemas.map(schema).collect(), operations: operations.collect(), webhooks: webhooks.collect() }
    }
}

impl ValueType {
    /// The shape of a schema.
    pub fn of(schema: &Value) -> ValueType {
        let named = schema["$ref"].as_str().and_then(|at| at.rsplit('/').next()).or(schema[NAMED].as_str());
        if let Some(name) = named {
            return ValueType::Named(name.to_owned());
        }
        if let Some(values) = schema["enum"].as_array() {
            return ValueType::Literals(values.clone());
        }
        for alternatives in ["anyOf", "oneOf"] {
            if let Some(list) = schema[alternatives].as_array().filter(|_| schema.get("properties").is_none()) {
                return ValueType::union(list.iter().filter(|one| one.get(OPEN).is_none()).map(ValueType::of));
            }
        }
        if schema["contentMediaType"].is_string() {
            return ValueType::File;
        }
        match &schema["type"] {
            Value::String(one) => of_type(one, schema),
            Value::Array(several) => {
                ValueType::union(several.iter().filter_map(Value::as_str).map(|one| of_type(one, schema)))
            }
            _ if schema["properties"].is_object() => of_type("object", schema),
            _ => ValueType::Any,
        }
    }

    /// One of several shapes.
    pub fn union(shapes: impl Iterator<Item = ValueType>) -> ValueType {
        let mut distinct: Vec<ValueType> = Vec::new();
        for shape in shapes {
            let all = if let ValueType::Union(all) = shape { all } else { vec![shape] };
            for one in all {
                if !distinct.contains(&one) {
                    distinct.push(one);
                }
            }
        }
        if distinct.len() == 1 { distinct.remove(0) } else { ValueType::Union(distinct) }
    }
}

/// A schema with a name is an object wherever it has members.
fn shape_of_named(schema: &Value) -> ValueType {
    match schema["properties"].as_object() {
        Some(properties) if schema.get("anyOf").is_none() => ValueType::Object(object(properties, schema)),
        _ => ValueType::of(schema),
    }
}

fn of_type(name: &str, schema: &Value) -> ValueType {
    match name {
        "string" => ValueType::Text,
        "integer" => ValueType::Integer,
        "number" => ValueType::Number,
        "boolean" => ValueType::Boolean,
        "null" => ValueType::Null,
        "array" if schema["maxItems"] == 0 => ValueType::EmptyList,
        "array" => ValueType::List(Box::new(schema.get("items").map_or(ValueType::Any, ValueType::of))),
        "object" => match (schema["properties"].as_object(), schema.get("additionalProperties")) {
            (Some(properties), _) if !properties.is_empty() => ValueType::Object(object(properties, schema)),
            (_, Some(values @ Value::Object(_))) => ValueType::Map(Box::new(ValueType::of(values))),
            _ => ValueType::Map(Box::new(ValueType::Any)),
        },
        _ => ValueType::Any,
    }
}

fn object(properties: &Map<String, Value>, schema: &Value) -> Object {
    let listed = schema["required"].as_array();
    let is_listed = |name: &str| listed.is_some_and(|list| list.iter().any(|one| one == name));
    let member = |(name, property): (&String, &Value)| Member {
        name: name.clone(),
        description: described(property),
        required: is_listed(name),
        shape: ValueType::of(property),
    };
    let open = schema.get("additionalProperties").is_some_and(Value::is_object) && listed.is_none();
    Object { members: properties.iter().map(member).collect(), open }
}

fn operation(path: &str, method: &str, operation: &Value) -> Option<Operation> {
    Some(Operation {
        name: operation["operationId"].as_str()?.to_owned(),
        summary: operation["summary"].as_str().unwrap_or_default().to_owned(),
        method: method.to_uppercase(),
        path: path.to_owned(),
        params: parameters(operation, "path"),
        query: parameters(operation, "query"),
        body: body(operation),
        response: response(operation),
        gives_lines: method == "get" && operation["responses"]["200"]["content"][LINES].is_object(),
        event: Some(&operation["responses"]["200"]["content"][EVENT_STREAM]["x-event"])
            .filter(|event| event.is_object())
            .map(ValueType::of),
        takes_lines: operation["requestBody"]["content"][LINES].is_object(),
        errors: errors(operation),
    })
}

fn webhook(name: &str, request: &Value) -> Option<Webhook> {
    Some(Webhook {
        name: name.to_owned(),
        summary: request["summary"].as_str().unwrap_or_default().to_owned(),
        headers: parameters(request, "header"),
        body: body(request)?.shape,
    })
}

fn parameters(operation: &Value, place: &str) -> Vec<Member> {
    let all = operation["parameters"].as_array().into_iter().flatten().filter(|one| one["in"] == place);
    let member = |one: &Value| {
        let (description, required) = (described(one), one["required"] == true);
        Some(Member {
            name: one["name"].as_str()?.to_owned(),
            description,
            required,
            shape: ValueType::of(&one["schema"]),
        })
    };
    all.filter_map(member).collect()
}

fn body(operation: &Value) -> Option<Body> {
    let content = &operation["requestBody"]["content"];
    let (json, form) = (&content["application/json"], &content["multipart/form-data"]);
    let as_form = json.is_null() && form.is_object();
    let schema = [json, form].into_iter().map(|one| &one["schema"]).find(|schema| schema.is_object())?;
    let required = operation["requestBody"]["required"] == true;
    Some(Body { shape: ValueType::of(schema), required, form: as_form })
}

fn response(operation: &Value) -> Vec<(String, ValueType)> {
    let success = members(&operation["responses"]).find(|(status, _)| status.starts_with('2'));
    let Some((_, response)) = success else { return Vec::new() };
    let whole = &response["content"]["application/json"]["schema"];
    let contexts: Vec<(String, ValueType)> =
        members(&response["x-contexts"]).map(|(name, schema)| (name.clone(), ValueType::of(schema))).collect();
    if contexts.is_empty() {
        let shape = if whole.is_object() { ValueType::of(whole) } else { ValueType::File };
        return vec![("any".to_owned(), shape)];
    }
    contexts
}

fn errors(operation: &Value) -> Vec<String> {
    let listed = members(&operation["responses"]).flat_map(|(_, response)| {
        let codes = &response["content"]["application/json"]["schema"]["properties"]["code"]["examples"];
        codes.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned)
    });
    let mut codes: Vec<String> = listed.collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

fn described(schema: &Value) -> Option<String> {
    schema["description"].as_str().filter(|text| !text.is_empty()).map(|text| text.replace('\n', " "))
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn responses_have_contexts_or_one_shape() {
        let list = |name: &str| json!({"type": "array", "items": {"$ref": format!("#/components/schemas/{name}")}});
        let content = json!({"application/json": {"schema": list("Post")}});
        let contexts = json!({"view": list("Post"), "edit": list("PostEdit")});
        let of = |success: Value| super::response(&json!({"responses": {"400": {}, "200": success}}));
        let posts = |name: &str| ValueType::List(Box::new(ValueType::Named(name.to_owned())));
        let both = [("view".to_owned(), posts("Post")), ("edit".to_owned(), posts("PostEdit"))];
        assert_eq!(of(json!({"content": content, "x-contexts": contexts})), both);
        assert_eq!(of(json!({"content": content})), [("any".to_owned(), posts("Post"))]);
        assert_eq!(of(json!({"content": {"text/csv": {}}})), [("any".to_owned(), ValueType::File)]);
    }

    #[test]
    fn unions_are_flat() {
        let nested =
            json!({"anyOf": [{"type": ["string", "null"]}, {"anyOf": [{"type": "null"}, {"type": "integer"}]}]});
        assert_eq!(
            ValueType::of(&nested),
            ValueType::Union(vec![ValueType::Text, ValueType::Null, ValueType::Integer])
        );
        assert_eq!(ValueType::of(&json!({"anyOf": [{"type": "string"}, {"type": "string"}]})), ValueType::Text);
    }

    #[test]
    fn bodies_with_files_are_forms() {
        let form = json!({"requestBody": {"required": true, "content": {"multipart/form-data": {"schema":
            {"type": "object", "properties": {"file": {"type": "string", "contentMediaType": "a/b"}}}}}}});
        let body = body(&form).expect("a body");
        let ValueType::Object(object) = body.shape else { panic!("an object") };
        assert!(
            body.form && body.required && object.members[0].shape == ValueType::File && !object.members[0].required
        );
    }
}
