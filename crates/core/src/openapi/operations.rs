//! Paths and their operations.

use super::DescriptionBuilder;
use super::codes::of_index;
use super::components::pascal;
use super::parameters::{has_body, lines_body, parameters, shaping};
use super::responses::with_errors;
use crate::model::{LINES, Method};
use crate::registry::resource::Context;
use crate::registry::vocabulary::{AnonymousAccess, Description, ResponseKind};
use crate::registry::{Endpoint, Route};
use serde_json::{Map, Value, json};

impl DescriptionBuilder<'_> {
    /// A route: its path and its operations by method.
    pub(super) fn route(
        &mut self,
        route: &Route,
        chosen: &dyn Fn(&Route, &Endpoint) -> bool,
    ) -> (String, Map<String, Value>) {
        let mut item = Map::new();
        for endpoint in route.endpoints.iter().filter(|endpoint| chosen(route, endpoint)) {
            for (i, method) in endpoint.methods.iter().enumerate() {
                let operation = self.operation(route, endpoint, *method, i == 0);
                item.entry(method.as_str().to_lowercase()).or_insert(operation);
            }
        }
        (route.template.uri_template(), item)
    }

    fn operation(&mut self, route: &Route, endpoint: &Endpoint, method: Method, first: bool) -> Value {
        let (handler, guard) = (self.handler(endpoint), self.vocabulary.guards[endpoint.guard.0]);
        let name = self.operation_name(route, handler.name, method, first);
        let mut operation = Map::new();
        operation.insert("tags".into(), json!([self.tag(route)]));
        operation.insert("summary".into(), json!(handler.doc));
        let who = match endpoint.guard_param.is_empty() {
            true => guard.doc.to_owned(),
            false => format!("{} Here: `{}`.", guard.doc, endpoint.guard_param),
        };
        operation.insert("description".into(), json!(format!("Who may: {who}")));
        operation.insert("operationId".into(), json!(name));
        operation.insert("security".into(), self.security(route, guard));
        let lines = handler.responds == ResponseKind::Bytes(LINES);
        operation.insert("parameters".into(), json!(parameters(route, endpoint, method, lines)));
        if has_body(method) && lines {
            operation.insert("requestBody".into(), lines_body());
        } else if has_body(method) {
            let body = self.body_name(route, handler);
            let owner = route.owner.or(route.resource).map(|index| &self.registry.resources[index]);
            let body = self.body(&body, route, endpoint, owner);
            operation.extend(body.map(|body| ("requestBody".to_owned(), body)));
        }
        let mut responses = self.responses(route, endpoint, method, handler.responds);
        if let Some(media_type) = handler.also {
            super::responses::add_media_type(&mut responses, media_type);
        }
        if self.is_stream(route) {
            self.stream_of_events(route, &mut responses);
        }
        operation.insert("responses".into(), responses);
        Value::Object(operation)
    }

    pub(super) fn handler(&self, endpoint: &Endpoint) -> Description {
        self.vocabulary.handlers[endpoint.handler.0]
    }

    /// `posts.revisions.get`: literal segments and the verb of the handler; further methods of an endpoint are named, too.
    fn operation_name(&mut self, route: &Route, handler: &str, method: Method, first: bool) -> String {
        let verb = handler.rsplit('.').next().unwrap_or(handler);
        let mut words = route.words();
        if words.last().is_none_or(|last| last != verb) {
            words.push(verb.to_owned());
        }
        if !first {
            words.push(method.as_str().to_lowercase());
        }
        let plain = words.join(".");
        let spaced = route.namespace.split('/').next().unwrap_or_default();
        let longer = [format!("{spaced}.{plain}"), format!("{plain}.by.{}", route.captures.join("."))];
        let names = std::iter::once(plain.clone()).chain(longer).chain((2..).map(|n| format!("{plain}.{n}")));
        let name = names.into_iter().find(|name| !self.operations.contains(name)).unwrap_or(plain);
        self.operations.push(name.clone());
        name
    }

    /// `PostCreate`, from the title of the schema where the route has one.
    fn body_name(&self, route: &Route, handler: Description) -> String {
        let verb = handler.name.rsplit('.').next().unwrap_or(handler.name);
        let owner = route.owner.or(route.resource).filter(|_| handler.responds != ResponseKind::List);
        let title = owner.and_then(|index| self.registry.resources[index].schema["title"].as_str());
        match title.filter(|_| matches!(verb, "create" | "update")) {
            Some(title) if route.owner == route.resource => format!("{}{}", pascal(title), pascal(verb)),
            _ => {
                let words = route.words().join(" ");
                format!("{}{}", pascal(&words), pascal(verb))
            }
        }
    }

    /// The resource that took the route over, or the first segment below the namespace.
    pub(super) fn tag(&self, route: &Route) -> String {
        match route.owner.or(route.resource) {
            Some(index) => self.registry.resources[index].name.clone(),
            None => route.words().into_iter().next().unwrap_or_else(|| "discovery".to_owned()),
        }
    }

    pub(super) fn tag_document(&self, tag: &str) -> Value {
        let described = self.registry.resource(tag).and_then(|resource| resource.schema["description"].as_str());
        let text = described.filter(|text| !text.is_empty()).map(str::to_owned);
        json!({"name": tag, "description": text.unwrap_or_else(|| format!("Routes of {}.", tag.replace('_', " ")))})
    }

    fn security(&self, route: &Route, guard: Description) -> Value {
        let readable = || {
            let resource = route.resource.map(|index| &self.registry.resources[index]);
            resource.is_some_and(|resource| resource.reading_capability().is_empty())
        };
        let anonymous = match guard.anonymous {
            AnonymousAccess::Never => false,
            AnonymousAccess::Perhaps | AnonymousAccess::Always => true,
            AnonymousAccess::WhereReadable => readable(),
        };
        let mut ways = vec![json!({"basic": []}), json!({"session": [], "nonce": []})];
        if anonymous {
            ways.insert(0, json!({}));
        }
        Value::Array(ways)
    }

    /// The root and the namespaces.
    pub(super) fn indexes(&mut self, namespace: Option<&str>) -> Vec<(String, Value)> {
        let registry = self.registry;
        let root = std::iter::once((String::new(), "/".to_owned())).filter(|_| namespace.is_none());
        let spaces = registry.namespaces.iter().filter(|own| namespace.is_none_or(|wanted| *own == wanted));
        let spaces = spaces.map(|own| (own.clone(), format!("/{own}")));
        let described = root.chain(spaces).map(|(name, path)| {
            let schema = registry.index_schemas.get(&path).cloned().unwrap_or_else(|| json!({}));
            let title = if name.is_empty() { "Site" } else { "Namespace" };
            let shown = self.components.document(&schema, &[], title);
            let document = self.components.any(&shown, &[Context::VIEW]);
            let words: Vec<&str> = name.split(['/', '.']).filter(|word| !word.is_empty()).collect();
            let id = format!("{}.index", if words.is_empty() { "root".to_owned() } else { words.join(".") });
            let success = json!({"description": "The description.", "content": {"application/json": {"schema": document}}});
            let success = Map::from_iter([("200".to_owned(), success)]);
            let operation = json!({
                "tags": ["discovery"],
                "summary": if name.is_empty() { "The site, its namespaces and its routes." } else { "The routes of a namespace." },
                "operationId": id,
                "security": [{}, {"basic": []}, {"session": [], "nonce": []}],
                "parameters": shaping(),
                "responses": with_errors(success, of_index()),
            });
            (path, json!({"get": operation}))
        });
        described.collect()
    }
}
