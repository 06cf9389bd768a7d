//! The shared parts of a description: schemas by name, security schemes, the error object.

use super::schemas::{Side, has_contexts, modern, shown_in};
use super::{blocks, examples};
use crate::access::sessions::{SESSION, cookie_name, nonce_header};
use crate::error::Code;
use crate::registry::Registry;
use crate::registry::args::{SpellingDirection, convert_spelling};
use crate::registry::resource::{Context, LinkTarget, Property, PropertySource, Resource};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Schemas of a document, which are added to the description when they are used.
#[derive(Clone, Debug)]
pub(super) struct DocumentSchemas {
    /// View, edit and embed; one name where the schema has no contexts.
    contexts: [ContextSchema; 3],
    /// Any of the members, as `_fields` selects them.
    selected: (String, Arc<Value>),
}

/// A document in a context: the name that its schema gets, the schema, and a document as an example.
#[derive(Clone, Debug)]
struct ContextSchema {
    context: Context,
    name: String,
    schema: Arc<Value>,
    example: Arc<Value>,
}

/// See the module's description.
pub(super) struct Components<'a> {
    registry: &'a Registry,
    schemas: Map<String, Value>,
    examples: Map<String, Value>,
    /// Names of the schemas of resources, by position.
    titles: Vec<String>,
    /// Resources whose documents others embed.
    embedded: BTreeSet<usize>,
    empty_lists: bool,
}

impl<'a> Components<'a> {
    pub fn new(registry: &'a Registry) -> Components<'a> {
        let mut titles: Vec<String> = Vec::new();
        for resource in &registry.resources {
            let title = resource.schema["title"].as_str().unwrap_or(&resource.name);
            let names = [pascal(title), pascal(&resource.name), format!("{}{}", pascal(title), resource.index)];
            let free =
                |name: &String| !name.is_empty() && !titles.contains(name) && !blocks::is_reserved(registry, name);
            let free = names.into_iter().find(free);
            titles.push(free.unwrap_or_else(|| format!("Resource{}", resource.index)));
        }
        let empty_lists = registry.declaration.dialect.empty_list_as_object;
        let mut schemas = Map::new();
        schemas.insert("Link".into(), link());
        Components { registry, schemas, examples: Map::new(), titles, embedded: BTreeSet::new(), empty_lists }
    }

    /// Adds a schema under a name, or under one with a number if another schema has it already. Returns a reference.
    pub fn add(&mut self, name: &str, schema: Value) -> Value {
        let names = std::iter::once(name.to_owned()).chain((2..).map(|number| format!("{name}{number}")));
        for name in names {
            match self.schemas.get(&name) {
                Some(own) if *own != schema => {}
                Some(_) => return reference(&name),
                None => {
                    self.schemas.insert(name.clone(), schema);
                    return reference(&name);
                }
            }
        }
        json!({})
    }

    /// The schemas of a document: of a resource itself, or of what is shown below the items of another one.
    pub fn document(&mut self, schema: &Value, resources: &[&Resource], fallback: &str) -> DocumentSchemas {
        let own = resources.first().filter(|resource| resource.schema == *schema);
        let title = match (own, schema["title"].as_str()) {
            (Some(resource), _) => self.titles[resource.index].clone(),
            (None, Some(title)) => pascal(title),
            (None, None) => fallback.to_owned(),
        };
        let mut of_context = |context: Context| {
            let seen = shown_in(schema, Some(context).filter(|_| has_contexts(schema)));
            ContextSchema {
                context,
                name: format!("{title}{}", suffix(schema, context)),
                schema: Arc::new(self.response(&seen, resources, true)),
                example: Arc::new(examples::document(&seen, resources, self.registry)),
            }
        };
        let contexts = [Context::VIEW, Context::EDIT, Context::EMBED].map(&mut of_context);
        let selected = (format!("{title}Fields"), Arc::new(self.response(schema, resources, false)));
        DocumentSchemas { contexts, selected }
    }

    /// References to the schemas of these contexts, each once, and to that of a selection.
    pub fn any(&mut self, shown: &DocumentSchemas, contexts: &[Context]) -> Value {
        let mut options: Vec<Value> = Vec::new();
        let wanted = shown.contexts.iter().filter(|shown| contexts.contains(&shown.context));
        for (name, document) in
            wanted.map(|shown| (&shown.name, &shown.schema)).chain([(&shown.selected.0, &shown.selected.1)])
        {
            let reference = self.add(name, Value::clone(document));
            if !options.contains(&reference) {
                options.push(reference);
            }
        }
        // `_fields` may select nothing.
        if self.empty_lists {
            options.push(json!({"type": "array", "maxItems": 0}));
        }
        json!({"anyOf": options})
    }

    /// A document in a context with the name that its schema has; `None` where nothing is known of its members.
    pub fn example(&mut self, shown: &DocumentSchemas, context: Context) -> Option<(String, Value)> {
        let reference = self.any(shown, &[context])["anyOf"][0]["$ref"].as_str().map(str::to_owned)?;
        let name = reference.rsplit('/').next()?.to_owned();
        let shown = shown.contexts.iter().find(|shown| shown.context == context)?;
        shown
            .example
            .as_object()
            .is_some_and(|members| !members.is_empty())
            .then(|| (name, Value::clone(&shown.example)))
    }

    /// Adds an example under a name, unless it is there. Returns a reference.
    pub fn add_example(&mut self, name: &str, value: Value) -> Value {
        self.examples.entry(name).or_insert_with(|| json!({"value": value}));
        json!({"$ref": format!("#/components/examples/{name}")})
    }

    /// A schema of what the server sends, with its links; `whole`: all members are there. A member may be declared by the
    /// first resource, or by the one that it is shown below.
    fn response(&mut self, schema: &Value, resources: &[&Resource], whole: bool) -> Value {
        let mut document = modern(schema, Side::Response { empty_lists: self.empty_lists });
        let Some(map) = document.as_object_mut() else { return document };
        map.remove("maxItems");
        if map.contains_key("properties") {
            map.insert("type".into(), json!("object"));
        }
        if let Some(resource) = resources.first()
            && let Some(properties) = map.get_mut("properties").and_then(Value::as_object_mut)
        {
            let declared = |name: &str| resources.iter().filter_map(|of| of.property(name)).collect::<Vec<_>>();
            // Members that a revision has of its record alone, older ones may lack.
            let own = |name: &str| resource.declared.inherit_properties || resource.property(name).is_some();
            let lacked = |name: &str| resources.len() > 1 && !own(name);
            let always =
                |name: &&String| !lacked(name) && declared(name).iter().all(|own| !own.hidden && !own.optional);
            let required: Vec<Value> = properties.keys().filter(always).map(|name| json!(name)).collect();
            for (name, document) in properties.iter_mut() {
                declared(name).into_iter().for_each(|property| self.stored(property, document));
                let composed = |own: &&Property| matches!(own.source, PropertySource::Object(_));
                if whole && declared(name).first().is_some_and(composed) {
                    require_all(document);
                }
            }
            blocks::extend(self.registry, resource, properties);
            properties.insert("_links".into(), links(resource));
            properties.insert("_embedded".into(), self.embedded(resource));
            if whole {
                map.insert("required".into(), Value::Array(required));
            }
        }
        document
    }

    /// The members of `_embedded` that links of a resource lead to.
    fn embedded(&mut self, resource: &Resource) -> Value {
        let mut named = Map::new();
        for link in resource.links.iter().filter(|link| link.embeddable) {
            let target = match link.target {
                LinkTarget::Item { resource, .. } | LinkTarget::Collection { resource, .. } => Some(resource),
                _ => None,
            };
            let document = target.map(|index| {
                self.embedded.insert(index);
                let schema = &self.registry.resources[index].schema;
                reference(&format!("{}{}", self.titles[index], suffix(schema, Context::EMBED)))
            });
            let one = match (document, &link.target) {
                (None, _) => json!({}),
                (Some(document), LinkTarget::Collection { .. }) => json!({"type": "array", "items": document}),
                (Some(document), _) => document,
            };
            let list = named.entry(&link.rel).or_insert_with(|| json!({"type": "array", "items": {"anyOf": []}}));
            if let Some(alternatives) = list["items"]["anyOf"].as_array_mut() {
                alternatives.push(one);
            }
        }
        for list in named.values_mut() {
            if let Some(alternatives) = list["items"]["anyOf"].as_array_mut() {
                alternatives.push(reference("Error"));
            }
        }
        let description = "Documents that `_embed` puts here, by the relation of the link that leads to them.";
        let more = beside(&named, json!({"type": "array", "items": {}}));
        json!({"type": "object", "description": description, "properties": named, "additionalProperties": more})
    }

    /// Allows the values that are stored, besides those that a request may send.
    fn stored(&self, property: &Property, document: &mut Value) {
        if let Some(map) = document.as_object_mut().filter(|_| property.open_enum) {
            map.shift_remove("enum");
        }
        for also in &property.shown_types {
            allow(document, also);
        }
        // The server sets states that no request may set. A column of a kind's own has no such states.
        if !property.own
            && property.column.as_deref() == Some("status")
            && let Some(values) = document.get_mut("enum").and_then(Value::as_array_mut)
        {
            let shown = |name: &String| convert_spelling(json!(name), &property.aliases, SpellingDirection::ToApi);
            let statuses = self.registry.declaration.statuses.keys();
            let others: Vec<Value> = statuses.map(shown).filter(|name| !values.contains(name)).collect();
            values.extend(others);
        }
        // Values of field groups are of several shapes; which groups there are depends on the item and on who reads.
        if matches!(property.source, PropertySource::Fields(_)) {
            *document = json!({"type": ["object", "array"], "items": {}, "description": document["description"]});
        }
        // A value that nobody has set is null unless it has a default.
        if matches!(property.source, PropertySource::Meta)
            && let Some(values) = document.get_mut("properties").and_then(Value::as_object_mut)
        {
            values.values_mut().for_each(|document| allow(document, "null"));
        }
    }

    /// The codes of the server and of the declarations.
    fn codes(&self) -> BTreeSet<&'static str> {
        let declared = self.registry.resources.iter().flat_map(|resource| resource.codes.values());
        let endpoints = self.registry.routes.iter().flat_map(|route| &route.endpoints);
        let renamed = declared.chain(endpoints.flat_map(|endpoint| endpoint.codes.values()));
        Code::ALL.iter().chain(renamed).map(|code| code.as_str()).collect()
    }

    /// All of them.
    pub fn finish(mut self) -> Value {
        let mut described = BTreeSet::new();
        while let Some(index) = self.embedded.iter().copied().find(|index| !described.contains(index)) {
            let resource = &self.registry.resources[index];
            let shown = self.document(&resource.schema, &[resource], &resource.name);
            let [.., embedded] = &shown.contexts;
            self.add(&embedded.name, Value::clone(&embedded.schema));
            described.insert(index);
        }
        if self.schemas.values().any(blocks::is_extended) {
            self.schemas.extend(blocks::schemas(self.registry));
        }
        let description = "The codes that the server and its declarations have. A failed check of a single value has the \
                           name of the check.";
        let codes = json!({"type": "string", "enum": self.codes(), "description": description});
        self.schemas.insert("ErrorCode".into(), codes);
        self.schemas.insert("Error".into(), error());
        let mut schemas: Vec<(String, Value)> = std::mem::take(&mut self.schemas).into_iter().collect();
        schemas.sort_by(|(a, _), (b, _)| a.cmp(b));
        let prefix = &self.registry.site.prefix;
        json!({
            "schemas": Map::from_iter(schemas),
            "examples": self.examples,
            "securitySchemes": {
                "basic": {"type": "http", "scheme": "basic", "description": "A login name and an application password."},
                "session": {"type": "apiKey", "in": "cookie", "name": cookie_name(prefix, SESSION, self.registry.site.url.starts_with("https:") && self.registry.site.base.is_empty()),
                    "description": "A session of the pages; needs the nonce, too."},
                "nonce": {"type": "apiKey", "in": "header", "name": nonce_header(prefix),
                    "description": "The nonce of a session."},
            },
        })
    }
}

/// All members of an object that is composed of properties are there.
fn require_all(document: &mut Value) {
    let names: Option<Vec<Value>> =
        document.get("properties").and_then(Value::as_object).map(|all| all.keys().map(|name| json!(name)).collect());
    if let (Some(names), Some(map)) = (names, document.as_object_mut()) {
        map.insert("required".into(), Value::Array(names));
    }
}

/// The end of the names of a context's schemas.
fn suffix(schema: &Value, context: Context) -> &'static str {
    match context {
        _ if !has_contexts(schema) => "",
        Context::EDIT => "Edit",
        Context::EMBED => "Embed",
        _ => "",
    }
}

/// A link of a document.
fn link() -> Value {
    json!({
        "type": "object",
        "required": ["href"],
        "properties": {
            "href": {"type": "string", "description": "Address, or a template of addresses."},
            "embeddable": {"type": "boolean", "description": "`_embed` puts what it leads to into the response."},
            "templated": {"type": "boolean"},
        },
    })
}

/// Allows one more type.
fn allow(document: &mut Value, also: &str) {
    let Some(map) = document.as_object_mut() else { return };
    let mut types = match map.get("type") {
        Some(Value::Array(list)) => list.clone(),
        Some(one) => vec![one.clone()],
        None => return,
    };
    if !types.contains(&json!(also)) {
        types.push(json!(also));
    }
    map.insert("type".into(), Value::Array(types));
    if let Some(values) = map.get_mut("enum").and_then(Value::as_array_mut).filter(|_| also == "null")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

/// The members of `_links` that a resource declares.
fn links(resource: &Resource) -> Value {
    let list = json!({"type": "array", "items": {"$ref": "#/components/schemas/Link"}});
    let declared = resource.links.iter().map(|link| (link.rel.clone(), list.clone()));
    let named: Map<String, Value> = declared.collect();
    let more = beside(&named, list);
    json!({"type": "object", "properties": named, "additionalProperties": more})
}

/// The schema of further members. Empty where there are named ones: TypeScript's generators make an index signature of
/// it, which members that may be absent would contradict.
fn beside(named: &Map<String, Value>, value: Value) -> Value {
    if named.is_empty() { value } else { json!({}) }
}

/// The error object.
fn error() -> Value {
    json!({
        "type": "object",
        "required": ["code", "message", "data"],
        "properties": {
            "code": {"description": "Machine code.", "anyOf": [reference("ErrorCode"), {"type": "string"}]},
            "message": {"type": "string", "description": "A sentence for people."},
            "data": {
                "type": ["object", "null"],
                "properties": {
                    "status": {"type": "integer", "description": "The status of the response."},
                    "params": {"description": "Arguments that do not fit or are absent, each with a sentence."},
                    "details": {"description": "For each of them the failed check, as an error object."},
                },
            },
            "additional_errors": {"type": "array", "items": {"type": "object"}},
        },
    })
}

/// A reference to a schema.
pub(super) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// `post-revision` as `PostRevision`.
pub(super) fn pascal(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect()
}
