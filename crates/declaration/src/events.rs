//! Events: notifications of changes, for subscribers of the stream and for webhooks.

use crate::units::{Duration, OptionalSetting, Size};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Events notify subscribers of the stream and webhooks of changes.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Events {
    /// Types of events of resources that `resources` does not name.
    pub types: Vec<EventType>,
    /// Types of events of single resources; an empty list: none.
    pub resources: IndexMap<String, Vec<EventType>>,
    /// Properties by resource whose change alone is no event, such as counts.
    pub ignore: IndexMap<String, Vec<String>>,
    /// Streams that are open at once, of each process.
    pub streams: usize,
    /// Streams that one user may have open at once, or one network without credentials.
    pub streams_of_caller: usize,
    /// A stream without events shows so often that it is there.
    pub heartbeat: Duration,
    /// The resource with the webhooks.
    pub webhooks: OptionalSetting<String>,
    /// The resource with the deliveries of webhooks.
    pub deliveries: OptionalSetting<String>,
    /// Most webhooks.
    #[schemars(range(min = 1, max = 1000))]
    pub max_webhooks: u64,
    /// Messages at this depth are not sent: so many webhooks, one after the other, would have called back.
    #[schemars(range(min = 1, max = 100))]
    pub max_depth: i64,
    /// How long a receiver may take for one request.
    pub timeout: Duration,
    /// How much of a receiver's answer is read and shown.
    pub max_answer: Size,
    /// The first wait before a failed delivery is retried; it doubles with each further one, up to an hour.
    pub backoff: Duration,
    /// How long a delivery is retried; then the webhook is parked until somebody starts it again.
    pub patience: Duration,
    /// Deliveries of one webhook that are remembered.
    #[schemars(range(min = 1, max = 10_000))]
    pub history: u64,
}

impl Default for Events {
    fn default() -> Self {
        Events {
            types: EventType::CHANGES.to_vec(),
            resources: IndexMap::new(),
            ignore: IndexMap::new(),
            streams: 5000,
            streams_of_caller: 20,
            heartbeat: Duration::seconds_of(15),
            webhooks: OptionalSetting::OFF,
            deliveries: OptionalSetting::OFF,
            max_webhooks: 50,
            max_depth: 3,
            timeout: Duration::seconds_of(10),
            max_answer: Size::kib(4),
            backoff: Duration::seconds_of(5),
            patience: Duration::days(1),
            history: 100,
        }
    }
}

/// The change of an item, as its receiver may know it.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EventType {
    Created,
    Updated,
    /// Everybody may read it from now on.
    Published,
    /// Not everybody may read it any more.
    Unpublished,
    Trashed,
    /// It is out of the trash.
    Restored,
    Deleted,
    /// The receiver may not read it any more, for whatever reason.
    Gone,
}

impl EventType {
    /// Changes of an item, for any receiver.
    pub const CHANGES: [EventType; 7] = [
        EventType::Created,
        EventType::Updated,
        EventType::Published,
        EventType::Unpublished,
        EventType::Trashed,
        EventType::Restored,
        EventType::Deleted,
    ];

    /// Its name in events.
    pub fn name(self) -> &'static str {
        match self {
            EventType::Created => "created",
            EventType::Updated => "updated",
            EventType::Published => "published",
            EventType::Unpublished => "unpublished",
            EventType::Trashed => "trashed",
            EventType::Restored => "restored",
            EventType::Deleted => "deleted",
            EventType::Gone => "gone",
        }
    }

    /// The type of this name.
    pub fn named(name: &str) -> Option<EventType> {
        EventType::CHANGES.into_iter().chain([EventType::Gone]).find(|event| event.name() == name)
    }
}

/// The format of requests to receivers of a kind. In texts, `{type}`, `{resource}`, `{kind}`, `{record}`, `{slug}`, `{link}`,
/// `{keys}` and `{secret}` are replaced; a text that is nothing but a name has that value with its type, and `{event}` is the
/// event, or an object with all of them where several were gathered.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebhookFormat {
    /// Method of the request; default: POST.
    pub method: String,
    /// Headers of the request.
    pub headers: IndexMap<String, String>,
    /// The JSON body; without one the request has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// The request is signed as Standard Webhooks are.
    pub signed: bool,
    /// Each event is a request of its own, also where several were gathered.
    pub each: bool,
    /// Other words for kinds, by the kind in the API.
    pub kinds: IndexMap<String, String>,
}

/// A receiver that is notified of changes.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredWebhook {
    /// Address to which events are sent: http or https.
    pub url: String,
    /// The format of requests: one of `webhook_formats`.
    #[serde(default = "events")]
    pub format: String,
    /// Only these resources; empty: all.
    #[serde(default)]
    pub resources: Vec<String>,
    /// Only these events; empty: all.
    #[serde(default)]
    pub events: Vec<EventType>,
    /// Only of items that are in one of these states, or were before the change; empty: all.
    #[serde(default)]
    pub statuses: Vec<String>,
    /// It also receives events of what not everybody may read, never contents.
    #[serde(default)]
    pub private: bool,
    /// Seconds in which changes are gathered into one delivery.
    #[serde(default)]
    #[schemars(range(max = 3600))]
    pub debounce: u32,
    /// The secret that signs requests (`whsec_…`), which a signed format needs, or that the receiver wants.
    #[serde(default)]
    pub secret: String,
    /// It rebuilds the site: the console has a button that calls it.
    #[serde(default)]
    pub rebuild: bool,
    /// Whether it is on.
    #[serde(default = "on")]
    pub enabled: bool,
}

fn events() -> String {
    "events".to_owned()
}

fn on() -> bool {
    true
}
