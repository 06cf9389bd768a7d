//! Abilities of resources (`resources.NAME.ability`): one for each operation that the resource has.

use super::abilities::{Ability, AbilityInput, AbilityPath, OperationPlace, RequestTemplate, method_of};
use super::columns::VERSION;
use super::resource::Resource;
use super::templates::Template;
use super::{Behaviour, Endpoint, Route};
use crate::model::Method;
use cms_declaration::{self as declaration, AbilityCategory, AbilityRequest, Annotations, SchemaDoc};
use indexmap::IndexSet;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The handlers whose endpoints are abilities, with what the endpoint has to be: of the collection, or of an item.
const OPERATIONS: [(&str, bool); 5] =
    [("list", false), ("get", true), ("create", false), ("update", true), ("delete", true)];

/// The behaviour that sends the request of an ability.
pub const RUN: &str = "request";

/// The argument that narrows a response.
pub const FIELDS: &str = "_fields";

/// The member of a response that is its entity tag.
pub const ETAG: &str = "_etag";

/// The member of the input that is the entity tag which the record has to have.
const IF_MATCH: &str = "if_match";

/// An operation of a resource.
struct ResourceOperation<'a> {
    resource: &'a Resource,
    route: &'a Route,
    endpoint: &'a Endpoint,
    place: OperationPlace,
}

/// The abilities of a resource, with their names, in the order of [`OPERATIONS`]. `handler` names that of an endpoint;
/// `run` is the place of the behaviour [`RUN`].
pub fn operations(
    resource: &Resource,
    routes: &[Route],
    handler: &dyn Fn(&Endpoint) -> &'static str,
    run: Behaviour,
) -> Vec<(String, Ability)> {
    let word = word(&resource.name);
    let mut found: Vec<ResourceOperation<'_>> = Vec::new();
    for (at, route) in routes.iter().enumerate().filter(|(_, route)| route.owner == Some(resource.index)) {
        let Some(item) = place(resource, route) else { continue };
        let open = route.endpoints.iter().enumerate().filter(|(_, endpoint)| !endpoint.credentials && !endpoint.file);
        for (place, endpoint) in open {
            let name = handler(endpoint);
            let verb = name.rsplit('.').next().unwrap_or(name);
            let operation = OPERATIONS.iter().find(|(own, of_item)| *own == verb && *of_item == item);
            if let Some((verb, _)) = operation
                && !found.iter().any(|other| other.place.verb == *verb)
            {
                let place = OperationPlace { resource: resource.index, route: at, endpoint: place, verb };
                found.push(ResourceOperation { resource, route, endpoint, place });
            }
        }
    }
    found.sort_by_key(|operation| OPERATIONS.iter().position(|(verb, _)| *verb == operation.place.verb));
    found.iter().filter_map(|one| Some((format!("{word}/{}", one.place.verb), one.ability(&word, run)?))).collect()
}

/// The schemas of the input and the result of an ability. Those of operations are made when they are needed: they repeat every
/// argument and property.
pub fn schemas<'a>(ability: &'a Ability, resources: &[Resource], routes: &[Route]) -> [Cow<'a, SchemaDoc>; 2] {
    let declared = &ability.declared;
    let Some(place) = ability.operation else {
        return [Cow::Borrowed(&declared.input_schema), Cow::Borrowed(&declared.output_schema)];
    };
    let (resource, route) = (&resources[place.resource], &routes[place.route]);
    let operation = ResourceOperation { resource, route, endpoint: &route.endpoints[place.endpoint], place };
    [Cow::Owned(operation.input()), Cow::Owned(operation.output())]
}

/// The name of a resource as abilities write it.
pub fn word(name: &str) -> String {
    name.replace('_', "-")
}

/// Whether a route is that of items, or of the collection; `None`: of neither.
fn place(resource: &Resource, route: &Route) -> Option<bool> {
    let (collection, template) = (&resource.template, &route.template);
    if template == collection {
        return Some(false);
    }
    let (key, above) = template.parameters.split_last()?;
    let below = key.before.strip_prefix(&collection.end) == Some("/") && template.end.is_empty();
    (below && above == collection.parameters).then_some(true)
}

impl ResourceOperation<'_> {
    fn ability(&self, word: &str, run: Behaviour) -> Option<Ability> {
        let method = *self.endpoint.methods.first()?;
        let declared = self.declared(word, method)?;
        let request = declared.request.as_ref()?;
        let request = RequestTemplate {
            name: String::new(),
            when: None,
            method,
            path: AbilityPath::parse(&request.path),
            args: Vec::new(),
            if_match: request.if_match.clone().map(|tag| Template::parse(&Value::String(tag))),
            apart: None,
        };
        let names = self.members().map(str::to_owned).collect::<IndexSet<String>>().into_iter().collect();
        Some(Ability {
            method: method_of(&declared.annotations),
            input: AbilityInput::Arguments(names),
            output: None,
            run,
            requests: vec![request.take_rest_of_input(&declared)],
            listed: self.resource.declared.ability,
            declared,
            operation: Some(self.place),
        })
    }

    fn declared(&self, word: &str, method: Method) -> Option<declaration::Ability> {
        let [one, many] = names_of(self.resource);
        let (label, description, readonly, destructive, idempotent) = match self.place.verb {
            "list" => (
                format!("List {many}"),
                format!(
                    "Responds with a page of {many} that the caller may read, filtered and sorted by the arguments."
                ),
                true,
                Some(false),
                true,
            ),
            "get" => (format!("Read: {one}"), format!("Responds with one of {many}."), true, Some(false), true),
            "create" => (
                format!("Create: {one}"),
                format!("Adds one to {many} and responds with it."),
                false,
                Some(false),
                false,
            ),
            // Overwritten values may or may not be restored, so it does not say that it is harmless.
            "update" => (
                format!("Change: {one}"),
                format!("Changes the given members of one of {many} and responds with it."),
                false,
                None,
                true,
            ),
            _ => (
                format!("Delete: {one}"),
                format!("Deletes one of {many}, or moves it to the trash where there is one."),
                false,
                Some(true),
                true,
            ),
        };
        Some(declaration::Ability {
            label,
            description,
            category: word.to_owned(),
            input_schema: SchemaDoc::new(),
            output_schema: SchemaDoc::new(),
            annotations: Annotations {
                readonly: Some(readonly),
                destructive,
                idempotent: Some(idempotent),
                more: Map::new(),
            },
            public: true,
            show_in_rest: None,
            capability: String::new(),
            run: RUN.to_owned(),
            request: Some(AbilityRequest {
                method: method.as_str().to_owned(),
                path: self.path(),
                args: Map::new(),
                if_match: self.conditional().then(|| format!("{{{IF_MATCH}}}")),
            }),
            steps: Vec::new(),
            atomic: false,
            result: Default::default(),
            select: None,
            tool: false,
        })
    }

    /// It may be made to depend on nobody having changed the record.
    fn conditional(&self) -> bool {
        matches!(self.place.verb, "update" | "delete") && self.resource.column(VERSION).is_some()
    }

    /// The path with members of the input in the places of its captures.
    fn path(&self) -> String {
        let collection = self.resource.path_of(|capture| format!("{{{capture}}}"));
        match self.route.pattern == self.resource.path {
            true => collection,
            false => format!("{collection}/{{{}}}", self.route.captures.last().map_or("id", String::as_str)),
        }
    }

    /// It reads, so that the input may say which members the result has.
    fn reads(&self) -> bool {
        self.endpoint.methods.first() == Some(&Method::Get)
    }

    /// The names of the members of the input, some of them more than once.
    fn members(&self) -> impl Iterator<Item = &str> {
        let args = self.endpoint.args.args.iter().map(|arg| &arg.name);
        let names = self.route.captures.iter().chain(args).map(String::as_str);
        names.chain(self.reads().then_some(FIELDS)).chain(self.conditional().then_some(IF_MATCH))
    }

    /// The arguments of the endpoint as one object.
    fn input(&self) -> SchemaDoc {
        let captures = &self.route.captures;
        let mut properties = Map::new();
        for capture in captures {
            properties
                .insert(capture.clone(), json!({"type": ["string", "integer"], "description": "Key in the path."}));
        }
        for arg in &self.endpoint.args.args {
            // Values of field groups have names of types that no JSON Schema has.
            let shown = if arg.fields { values_of_fields() } else { Value::clone(&arg.shown) };
            properties.insert(arg.name.clone(), shown);
        }
        if self.reads() {
            let description = "Names of the members that the result contains; `a.b` selects a member of a member.";
            properties.insert(
                FIELDS.to_owned(),
                json!({"type": "array", "items": {"type": "string"}, "description": description}),
            );
        }
        if self.conditional() {
            let description = "`_etag` of the record as you know it: if it has changed since, nothing is done.";
            properties.insert(IF_MATCH.to_owned(), json!({"type": "string", "description": description}));
        }
        for document in properties.values_mut().filter_map(Value::as_object_mut) {
            document.shift_remove("required");
        }
        let args = self.endpoint.args.args.iter().filter(|arg| arg.required && !captures.contains(&arg.name));
        let required: Vec<&str> =
            captures.iter().map(String::as_str).chain(args.map(|arg| arg.name.as_str())).collect();
        let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        object(schema)
    }

    /// The documents of the resource; none is described of what is deleted, which depends on the trash.
    fn output(&self) -> SchemaDoc {
        let mut properties = self.resource.schema.get("properties").cloned().unwrap_or_else(|| json!({}));
        if let Some(property) = self.resource.fields_property() {
            properties[&property.name] = json!({"description": "Values of field groups by name."});
        }
        let mut item = json!({"type": "object", "properties": properties});
        match self.place.verb {
            "delete" => SchemaDoc::new(),
            "list" => object(json!({"type": "array", "items": item})),
            _ => {
                if self.resource.column(VERSION).is_some() {
                    let description = "Entity tag of the record: what `if_match` is compared with.";
                    item["properties"][ETAG] = json!({"type": "string", "description": description});
                }
                object(item)
            }
        }
    }
}

/// Given values of field groups, which have a check of their own.
fn values_of_fields() -> Value {
    json!({"type": "object", "description": "Values of field groups by name."})
}

fn object(value: Value) -> SchemaDoc {
    match value {
        Value::Object(map) => map,
        _ => SchemaDoc::new(),
    }
}

/// Names of one item and of several for people, in small letters.
fn names_of(resource: &Resource) -> [String; 2] {
    let spaced = resource.name.replace('_', " ");
    let label = |name: &str| resource.declared.labels.get(name).map(|label| label.to_lowercase());
    [label("singular_name").unwrap_or_else(|| spaced.clone()), label("name").unwrap_or(spaced)]
}

/// The category of the abilities of a resource.
pub fn category_of(resource: &Resource) -> AbilityCategory {
    let [_, many] = names_of(resource);
    let mut label = many.clone();
    if let Some(first) = label.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    AbilityCategory { label, description: format!("Reading and changing {many}."), meta: Map::new() }
}
