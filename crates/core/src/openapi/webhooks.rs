//! Requests to receivers of events, and the events of streams: one schema for both, and an example of each type.

use super::DescriptionBuilder;
use super::components::pascal;
use super::schemas::{Side, modern};
use crate::model::{EVENT_STREAM, WEBHOOK_DEPTH, WEBHOOK_HEADERS};
use crate::registry::{Registry, Route};
use cms_declaration::EventType;
use serde_json::{Map, Value, json};

/// The type of a message of several events.
const SEVERAL: &str = "several";

/// Types of events that are no changes.
const OTHERS: [(&str, &str); 3] = [
    ("test", "A test of the webhook; its id is 0."),
    ("rebuild", "Somebody wants the site to be rebuilt; its id is 0."),
    ("reset", "Changes were missed: the change feed does not have them any more. Its id is that of the newest change."),
];

impl DescriptionBuilder<'_> {
    /// Whether a route sends events as they come.
    pub(super) fn is_stream(&self, route: &Route) -> bool {
        route.endpoints.iter().any(|endpoint| self.handler(endpoint).also == Some(EVENT_STREAM))
    }

    /// Says what the events of a stream are; only success is one.
    pub(super) fn stream_of_events(&mut self, route: &Route, responses: &mut Value) {
        let Some(schema) = &route.schema else { return };
        let event = self.components.add(&title(schema), event_schema(schema));
        let streams = responses.as_object_mut().into_iter().flatten().filter(|(status, _)| status.starts_with('2'));
        for content in streams.filter_map(|(_, response)| response["content"].get_mut(EVENT_STREAM)) {
            content["x-event"] = event.clone();
        }
    }

    /// The requests that receivers get by type of event, with the schema of the route of the stream of events.
    pub(super) fn webhooks(&mut self, route: &Route) -> Map<String, Value> {
        let Some(schema) = route.schema.as_ref().filter(|_| sends_events(self.registry)) else { return Map::new() };
        let event = event_schema(schema);
        let one = self.components.add(&title(schema), event.clone());
        let tag = self.tag(route);
        let types = EventType::CHANGES.into_iter().chain([EventType::Gone]).map(EventType::name);
        let request = |name: &str| (name.to_owned(), webhook(&tag, name, &one, route.examples.get(name).cloned()));
        let mut all: Map<String, Value> = types.map(request).collect();
        let several = self.components.add(&format!("{}Several", title(schema)), several_schema(&event, &one));
        let example = several_example(route);
        all.insert(SEVERAL.into(), webhook(&tag, SEVERAL, &several, example));
        for (name, _) in OTHERS {
            let mut other = event.clone();
            other["properties"]["type"] = json!({"type": "string", "enum": [name]});
            let other = self.components.add(&format!("{}{}", title(schema), pascal(name)), other);
            all.insert(name.into(), webhook(&tag, name, &other, route.examples.get(name).cloned()));
        }
        all
    }
}

/// Whether a declared format is the event itself, signed.
fn sends_events(registry: &Registry) -> bool {
    let is_event = |body: &Option<Value>| body.as_ref().is_some_and(|body| body == "{event}");
    registry.declaration.webhook_formats.values().any(|format| format.signed && is_event(&format.body))
}

fn title(schema: &Value) -> String {
    pascal(schema["title"].as_str().unwrap_or("event"))
}

/// The schema of an event, as the body of a request. Its time has a zone, other than those of documents.
fn event_schema(schema: &Value) -> Value {
    let mut event = modern(schema, Side::Request);
    event["properties"]["time"]["format"] = schema["properties"]["time"]["format"].clone();
    event
}

/// Several events that were gathered: the head of the newest one, all keys, all events.
fn several_schema(event: &Value, one: &Value) -> Value {
    let of = |name: &str| event["properties"][name].clone();
    let events = json!({"type": "array", "items": one, "description": "The events in their order."});
    let kind = json!({"type": "string", "enum": [SEVERAL]});
    json!({
        "type": "object",
        "required": ["version", "id", "type", "time", "keys", "events"],
        "properties": {"version": of("version"), "id": of("id"), "type": kind, "time": of("time"),
            "keys": of("keys"), "events": events},
    })
}

fn several_example(route: &Route) -> Option<Value> {
    let events: Vec<Value> = [EventType::Updated, EventType::Published]
        .iter()
        .filter_map(|event| route.examples.get(event.name()).cloned())
        .collect();
    let newest = events.last()?;
    Some(json!({"version": newest["version"], "id": newest["id"], "type": SEVERAL, "time": newest["time"],
        "keys": newest["keys"], "events": events}))
}

fn summary(name: &str) -> &'static str {
    match EventType::named(name) {
        Some(EventType::Created) => "An item is new.",
        Some(EventType::Updated) => "An item has other values.",
        Some(EventType::Published) => "Everybody may read an item from now on.",
        Some(EventType::Unpublished) => "Not everybody may read an item any more.",
        Some(EventType::Trashed) => "An item went to the trash.",
        Some(EventType::Restored) => "An item came back from the trash.",
        Some(EventType::Deleted) => "An item is gone for good.",
        Some(EventType::Gone) => "The receiver may not read an item any more.",
        None => {
            let other = OTHERS.into_iter().find(|(own, _)| *own == name);
            other.map_or("Several events that were gathered.", |(_, summary)| summary)
        }
    }
}

/// A request to a receiver.
fn webhook(tag: &str, name: &str, schema: &Value, example: Option<Value>) -> Value {
    let [id, time, signature] = WEBHOOK_HEADERS;
    let header = |name: &str, kind: &str, description: &str| json!({"name": name, "in": "header", "required": true, "description": description, "schema": {"type": kind}});
    let mut content = json!({"schema": schema});
    if let Some(example) = example {
        content["example"] = example;
    }
    let headers = [
        header(
            WEBHOOK_DEPTH,
            "integer",
            "How many webhooks, one after the other, led to it, with itself: send it back with each request.",
        ),
        header(id, "string", "The same in each attempt: a receiver leaves out what it has seen."),
        header(time, "integer", "When it was sent, in seconds of Unix time."),
        header(
            signature,
            "string",
            "`v1,` and the HMAC-SHA256 of `id.timestamp.body` in Base64; one for each valid secret, separated by spaces.",
        ),
    ];
    json!({"post": {
        "tags": [tag],
        "summary": summary(name),
        "operationId": format!("webhooks.events.{name}"),
        "security": [],
        "parameters": headers,
        "requestBody": {"required": true, "content": {"application/json": content}},
        "responses": {
            "2XX": {"description": "It is delivered; the next one is sent."},
            "410": {"description": "The webhook is switched off."},
            "default": {"description": "It is sent again after growing pauses."},
        },
    }})
}
