//! Responses of operations: documents, headers, errors.

use super::DescriptionBuilder;
use super::components::{DocumentSchemas, reference};
use super::examples;
use crate::error::{Code, status};
use crate::model::{LINES, Method};
use crate::registry::args::ArgRole;
use crate::registry::resource::{Context, Resource};
use crate::registry::vocabulary::{HandlerRole, ResponseKind};
use crate::registry::{Endpoint, Route};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

impl<'r> DescriptionBuilder<'r> {
    pub(super) fn responses(
        &mut self,
        route: &Route,
        endpoint: &Endpoint,
        method: Method,
        responds: ResponseKind,
    ) -> Value {
        let as_json = |schema: Value| Map::from_iter([("application/json".to_owned(), json!({"schema": schema}))]);
        let (content, by_context) = match responds {
            ResponseKind::Bytes(media_type) => (Map::from_iter([(media_type.to_owned(), json!({}))]), Map::new()),
            ResponseKind::Json(_, text) => {
                let mut schema: Value = serde_json::from_str(text).unwrap_or_default();
                let example = examples::derived(&schema, "", false);
                schema.as_object_mut().and_then(|schema| schema.shift_remove("example"));
                let mut content = as_json(self.or_empty_lists(schema));
                if let Some(example) = example {
                    content["application/json"]["example"] = example;
                }
                (content, Map::new())
            }
            _ => {
                let (shown, contexts) = (self.shown(route), contexts(endpoint));
                let mut schema = self.schema(&shown, &contexts, responds);
                if endpoint.args.role(ArgRole::CountBy).is_some() {
                    let counts = self.components.add("ValueCount", value_count());
                    schema["items"]["anyOf"].as_array_mut().into_iter().for_each(|any| any.push(counts.clone()));
                }
                let mut content = as_json(schema);
                if let Some(examples) = self.examples(&shown, &contexts, responds) {
                    content["application/json"]["examples"] = examples;
                }
                if endpoint.export.is_some() {
                    content.insert(LINES.into(), json!({"schema": {"type": "string"}}));
                }
                (content, self.by_context(&shown, &contexts, responds))
            }
        };
        let status = match responds {
            ResponseKind::Created => status::CREATED,
            ResponseKind::Json(status, _) => status,
            _ => status::OK,
        };
        let mut found = json!({"description": described(responds), "content": content});
        if let Some(links) = self.follow_up(route, responds) {
            found["links"] = links;
        }
        if !by_context.is_empty() {
            found["x-contexts"] = Value::Object(by_context);
        }
        found["headers"] = Value::Object(self.headers(method, responds));
        let mut all = Map::from_iter([(status.to_string(), found)]);
        if let Some(reviews) = self.proposed(route, endpoint) {
            let shown = self.components.document(&reviews.schema, &[reviews], "Review");
            let schema = self.components.any(&shown, &[Context::VIEW, Context::EDIT]);
            let description = "The credential only drafts: nothing has changed, and the change waits for this review.";
            all.insert(status::ACCEPTED.to_string(), json!({"description": description, "content": as_json(schema)}));
        }
        if method == Method::Get {
            all.insert(
                status::NOT_MODIFIED.to_string(),
                json!({"description": "The caller has this response already."}),
            );
        }
        with_errors(all, self.codes(route, endpoint, method))
    }

    /// The resource of reviews, where a request to the endpoint may become one.
    pub(super) fn proposed(&self, route: &Route, endpoint: &Endpoint) -> Option<&'r Resource> {
        let registry = self.registry;
        let own = route.resource.map(|index| &registry.resources[index]);
        match endpoint.role {
            Some(HandlerRole::Update) if endpoint.drafts => registry.reviews_of(own?),
            Some(HandlerRole::RunAbility) => registry.reviews(),
            _ => None,
        }
    }

    /// The schema of a response in each context, for generators of types: `anyOf` does not say which is which.
    fn by_context(
        &mut self,
        shown: &DocumentSchemas,
        contexts: &[Context],
        responds: ResponseKind,
    ) -> Map<String, Value> {
        let list = matches!(responds, ResponseKind::Page | ResponseKind::List);
        if !list && !matches!(responds, ResponseKind::Document | ResponseKind::Created) {
            return Map::new();
        }
        let names = [("view", Context::VIEW), ("edit", Context::EDIT), ("embed", Context::EMBED)];
        let chosen = names.iter().filter(|(_, context)| contexts.contains(context));
        let document = |(name, context): &(&str, Context)| {
            let one = self.components.any(shown, &[*context])["anyOf"][0].clone();
            ((*name).to_owned(), if list { json!({"type": "array", "items": one}) } else { one })
        };
        chosen.map(document).collect()
    }

    /// Documents as a response contains them, by context: lists for reading alone, what is deleted as those who may edit it
    /// see it.
    fn examples(&mut self, shown: &DocumentSchemas, contexts: &[Context], responds: ResponseKind) -> Option<Value> {
        let named = [("view", Context::VIEW), ("edit", Context::EDIT)];
        let mut chosen: Vec<_> = named.into_iter().filter(|(_, context)| contexts.contains(context)).collect();
        match responds {
            ResponseKind::Page | ResponseKind::List | ResponseKind::ByKey => chosen.truncate(1),
            ResponseKind::Deleted | ResponseKind::Trashed => drop(chosen.drain(..chosen.len().saturating_sub(1))),
            _ => {}
        }
        let mut examples = Map::new();
        for (context, of) in chosen {
            let Some((name, document)) = self.components.example(shown, of) else { continue };
            let (name, value) = match responds {
                ResponseKind::Page | ResponseKind::List => (format!("{name}List"), json!([document])),
                ResponseKind::ByKey => (format!("{name}ByKey"), json!({key_of(&document): document})),
                ResponseKind::Deleted | ResponseKind::Trashed => {
                    (format!("{name}Deleted"), json!({"deleted": true, "previous": document}))
                }
                _ => (name, document),
            };
            examples.insert(context.to_owned(), self.components.add_example(&name, value));
        }
        (!examples.is_empty()).then_some(Value::Object(examples))
    }

    /// The schema of a response as JSON.
    fn schema(&mut self, shown: &DocumentSchemas, contexts: &[Context], responds: ResponseKind) -> Value {
        let document = self.components.any(shown, contexts);
        let deleted = |required: &[&str]| {
            json!({"type": "object", "required": required,
                "properties": {"deleted": {"type": "boolean"}, "previous": document}})
        };
        match responds {
            ResponseKind::Page | ResponseKind::List => json!({"type": "array", "items": document}),
            ResponseKind::ByKey => self.by_key(document),
            // `_fields` selects among the members of the whole response.
            ResponseKind::Deleted => self.or_empty_list(deleted(&[])),
            ResponseKind::Trashed => json!({"anyOf": [deleted(&["deleted", "previous"]), document]}),
            _ => document,
        }
    }

    /// The schemas of the route's document.
    fn shown(&mut self, route: &Route) -> DocumentSchemas {
        let registry = self.registry;
        let resource = route.resource.map(|index| &registry.resources[index]);
        let schema = route.schema.as_ref().or(resource.map(|resource| &resource.schema));
        let own = registry.index_schemas.get(&route.pattern);
        let any = json!({});
        let words = super::components::pascal(&route.words().join(" "));
        let owner = route.owner.filter(|owner| Some(*owner) != route.resource).map(|index| &registry.resources[index]);
        let resources: Vec<&Resource> = resource.into_iter().chain(owner).collect();
        self.components.document(schema.or(own).unwrap_or(&any), &resources, &words)
    }

    fn by_key(&self, document: Value) -> Value {
        self.or_empty_list(json!({"type": "object", "additionalProperties": document}))
    }

    /// An object; where the platform writes empty ones as lists, it may be one.
    fn or_empty_list(&self, object: Value) -> Value {
        match self.registry.declaration.dialect.empty_list_as_object {
            true => json!({"anyOf": [object, {"type": "array", "maxItems": 0}]}),
            false => object,
        }
    }

    /// The same, also of the objects in a list where a response is either.
    fn or_empty_lists(&self, mut schema: Value) -> Value {
        let choices = schema.get_mut("anyOf").and_then(Value::as_array_mut).into_iter().flatten();
        for items in choices.filter_map(|choice| choice.get_mut("items")) {
            *items = self.or_empty_list(items.take());
        }
        self.or_empty_list(schema)
    }

    fn headers(&self, method: Method, responds: ResponseKind) -> Map<String, Value> {
        let prefix = self.registry.site.prefix.to_uppercase();
        let text = |description: &str| json!({"description": description, "schema": {"type": "string"}});
        let number = |description: &str| json!({"description": description, "schema": {"type": "integer"}});
        let mut headers = Map::new();
        headers.insert("Allow".into(), text("Methods that the caller may use here."));
        if method == Method::Get {
            headers.insert("ETag".into(), text("Changes whenever the response does."));
        }
        if responds == ResponseKind::Page {
            headers.insert(format!("X-{prefix}-Total"), number("How many there are."));
            headers.insert(format!("X-{prefix}-TotalPages"), number("How many pages there are."));
            headers.insert("Link".into(), text("The pages before and after."));
        }
        if responds == ResponseKind::Created {
            headers.insert("Location".into(), text("The address of what was created."));
        }
        headers
    }

    /// Links of a created document to the operations on it.
    fn follow_up(&self, route: &Route, responds: ResponseKind) -> Option<Value> {
        if responds != ResponseKind::Created {
            return None;
        }
        let item = self.registry.item_route(route.resource?)?;
        let item = &self.registry.routes[item];
        let ([capture], address) = (&item.captures[..], item.template.uri_template()) else { return None };
        if route.template.uri_template() != address.rsplit_once('/')?.0 {
            return None;
        }
        let key = &self.registry.resources[route.resource?].key;
        let links = item.endpoints.iter().filter_map(|endpoint| {
            let method = endpoint.methods.first()?.as_str().to_lowercase();
            let verb = self.vocabulary.handlers[endpoint.handler.0].name.rsplit('.').next()?;
            let path = address.replace('~', "~0").replace('/', "~1");
            let link = json!({
                "operationRef": format!("#/paths/{path}/{method}"),
                "parameters": {capture: format!("$response.body#/{key}")},
            });
            Some((verb.to_owned(), link))
        });
        Some(Value::Object(links.collect()))
    }
}

/// Adds the errors that an operation may end with.
pub(super) fn with_errors(mut responses: Map<String, Value>, errors: impl IntoIterator<Item = (Code, u16)>) -> Value {
    let mut by_status: BTreeMap<u16, BTreeSet<&'static str>> = BTreeMap::new();
    for (code, status) in errors {
        by_status.entry(status).or_default().insert(code.as_str());
    }
    for (status, codes) in by_status {
        let list = codes.iter().map(|code| format!("`{code}`")).collect::<Vec<_>>().join(", ");
        let schema = json!({
            "allOf": [reference("Error")],
            "properties": {"code": {"type": "string", "examples": codes}},
        });
        let response = json!({"description": list, "content": {"application/json": {"schema": schema}}});
        responses.entry(status.to_string()).or_insert(response);
    }
    responses.insert("default".into(), any_error());
    Value::Object(responses)
}

/// Responses may be of another media type, too.
pub(super) fn add_media_type(responses: &mut Value, media_type: &str) {
    let all = responses.as_object_mut().into_iter().flat_map(Map::values_mut);
    for content in all.filter_map(|response| response.get_mut("content")?.as_object_mut()) {
        content.insert(media_type.to_owned(), json!({}));
    }
}

/// Any error.
pub(super) fn any_error() -> Value {
    json!({"description": "An error.", "content": {"application/json": {"schema": reference("Error")}}})
}

/// The schema of an entry of `_count_by`.
fn value_count() -> Value {
    json!({"type": "object", "required": ["value", "count"], "properties": {
        "value": {"type": ["string", "number", "boolean", "null"], "description": "A value; null where there is none."},
        "count": {"type": "integer", "description": "How many items have it."},
    }})
}

/// The key that a document is listed under.
fn key_of(document: &Value) -> String {
    let named = ["slug", "name", "id"].into_iter().map(|name| &document[name]);
    let key = named.into_iter().find(|value| !value.is_null());
    key.map_or_else(String::new, |key| key.as_str().map_or_else(|| key.to_string(), str::to_owned))
}

fn described(responds: ResponseKind) -> &'static str {
    match responds {
        ResponseKind::Document => "The document.",
        ResponseKind::Created => "What was created.",
        ResponseKind::Page => "A page of documents.",
        ResponseKind::List => "All of them.",
        ResponseKind::ByKey => "All of them, by key.",
        ResponseKind::Deleted => "What was deleted.",
        ResponseKind::Trashed => "What was deleted, or what went to the trash.",
        ResponseKind::Json(..) => "The outcome.",
        ResponseKind::Bytes(_) => "The file.",
    }
}

/// The contexts that an operation shows documents in: those of its argument; without one, writes are shown for editing
/// to those who may.
fn contexts(endpoint: &Endpoint) -> Vec<Context> {
    let Some(arg) = endpoint.args.role(ArgRole::Context) else { return vec![Context::VIEW, Context::EDIT] };
    let listed = arg.shown["enum"].as_array();
    let all = vec![Context::VIEW, Context::EDIT, Context::EMBED];
    listed.map_or(all, |list| list.iter().filter_map(Value::as_str).filter_map(Context::parse).collect())
}
