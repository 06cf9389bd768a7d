//! Responses that are streams of events: the progress of a call, and subscriptions to changes.
//!
//! A subscription listens as streams of events do ([`EventListener`]). Where that of which its documents were made has been written
//! since ([`DocumentState`]), it reads again in the caller's name, and tells the client if the document differs. Nothing of it
//! outlives the stream, so any node can serve it.

use super::messages::{self, INTERNAL, INVALID_PARAMS, McpHeaders, McpResponse, RpcError};
use super::{Mcp, McpHost, McpReply, failed, refused};
use crate::events::{CallerVersions, DocumentState, EventListener};
use bytes::Bytes;
use cms_core::error::status;
use cms_core::model::{EventStream, Request, StopReason, StopSignal, event_stream_headers};
use cms_core::scope::{Progress, Scope};
use futures_util::future::{Either, select};
use futures_util::stream::unfold;
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, VecDeque};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Changes of so long are looked at together.
const GATHER: Duration = Duration::from_millis(200);

/// Most addresses of one subscription.
const MOST_WATCHED: usize = 100;

/// Filters of a subscription: lists that may change, and addresses of documents.
const LISTS: [&str; 3] = ["toolsListChanged", "promptsListChanged", "resourcesListChanged"];
const RECORDS: &str = "resourceSubscriptions";

const META_SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

fn event(message: &Value) -> Bytes {
    Bytes::from(format!("event: message\ndata: {message}\n\n"))
}

/// An answer that is being made.
type McpFuture = Pin<Box<dyn Future<Output = McpResponse>>>;

/// The event that comes first: the answer, or a report of how far it is.
enum StreamEvent {
    Answer(McpResponse),
    Report(Option<Value>),
}

async fn sooner(answer: &mut McpFuture, reports: &mut UnboundedReceiver<Value>) -> StreamEvent {
    match select(answer, pin!(reports.recv())).await {
        Either::Left((answer, _)) => StreamEvent::Answer(answer),
        Either::Right((report, _)) => StreamEvent::Report(report),
    }
}

/// The answer to a message that wants to know of its progress: a stream if there is any before the answer.
pub(super) async fn progressing<H: McpHost>(host: Arc<H>, scope: Scope, peer: McpHeaders, message: Value) -> McpReply {
    let (sender, mut reports) = unbounded_channel();
    let token = message["params"]["_meta"]["progressToken"].clone();
    let progress = Progress::new(move |done, of, next| {
        // Nobody listens any more.
        let _ = sender.send(messages::progress(&token, done, of, next));
    });
    let mut answer: McpFuture = Box::pin(async move {
        let scope = Scope { progress: Some(progress), ..scope };
        host.mcp().answer_read(host.engine(), &scope, &peer, &message).await
    });
    let (report, answered) = match sooner(&mut answer, &mut reports).await {
        // A report made before the answer comes before it.
        StreamEvent::Answer(answer) => match reports.try_recv() {
            Err(_) => return McpReply::Reply(super::reply(answer)),
            Ok(report) => (Some(report), Some(answer)),
        },
        StreamEvent::Report(report) => (report, None),
    };
    let state = ProgressStream { reports, answer, answered, next: report };
    McpReply::Stream(event_stream_headers(), Box::pin(unfold(Some(state), progressed)))
}

struct ProgressStream {
    reports: UnboundedReceiver<Value>,
    answer: McpFuture,
    answered: Option<McpResponse>,
    next: Option<Value>,
}

/// The next event of a call: reports, then the answer.
async fn progressed(state: Option<ProgressStream>) -> Option<(Bytes, Option<ProgressStream>)> {
    let mut state = state?;
    if let Some(report) = state.next.take() {
        return Some((event(&report), Some(state)));
    }
    if state.answered.is_none() {
        match sooner(&mut state.answer, &mut state.reports).await {
            StreamEvent::Answer(answer) => state.answered = Some(answer),
            StreamEvent::Report(Some(report)) => return Some((event(&report), Some(state))),
            StreamEvent::Report(None) => {}
        }
    }
    if let Ok(report) = state.reports.try_recv() {
        return Some((event(&report), Some(state)));
    }
    let answer = match state.answered {
        Some(answer) => answer,
        None => state.answer.await,
    };
    match answer {
        McpResponse::Done(body) | McpResponse::Failed { body, .. } => Some((event(&body), None)),
        McpResponse::Nothing => None,
    }
}

/// The subject of a subscription.
#[derive(Clone, Debug, PartialEq)]
enum SubscriptionTopic {
    /// One document.
    Record(String),
    /// The addresses of all documents.
    List,
    /// The prompts.
    Prompts,
}

struct TopicState {
    subject: SubscriptionTopic,
    document: DocumentState,
}

struct Subscription<H> {
    host: Arc<H>,
    listener: EventListener,
    id: Value,
    tools: bool,
    watched: Vec<TopicState>,
    events: VecDeque<Value>,
    until: Instant,
    ended: bool,
}

/// The stream of a subscription.
pub(super) async fn listening<H: McpHost>(
    host: Arc<H>,
    connection: (Request, StopSignal),
    (scope, versions): (&Scope, CallerVersions),
    (id, params): (Value, Map<String, Value>),
) -> McpReply {
    let objected = |failure: RpcError| {
        let status = if failure.code == INTERNAL { status::TOO_MANY_REQUESTS } else { status::BAD_REQUEST };
        McpReply::Reply(refused(status, &failure.message))
    };
    let Some(wanted) = params.get("notifications").and_then(Value::as_object) else {
        return objected(RpcError::new(INVALID_PARAMS, "The parameter `notifications` is missing, or no object."));
    };
    if let Some(name) = wanted.iter().find(|(name, value)| !is_filter(name, value)).map(|(name, _)| name) {
        let name: String = name.chars().take(100).collect();
        let message = format!("`{name}` is no kind of notification, or has a value of another type.");
        return objected(RpcError::new(INVALID_PARAMS, message));
    }
    let flag = |name: &str| wanted.get(name) == Some(&json!(true));
    let uris = wanted.get(RECORDS).and_then(Value::as_array).into_iter().flatten();
    let uris: Vec<&str> = uris.filter_map(Value::as_str).collect();
    if uris.len() > MOST_WATCHED {
        let message = format!("A subscription has {MOST_WATCHED} addresses at most.");
        return objected(RpcError::new(INVALID_PARAMS, message));
    }
    let declared = &scope.registry.declaration.mcp;
    let (until, most) = (Instant::now() + declared.subscription.std(), declared.max_subscriptions);
    // Nobody has more than a tenth.
    let Ok(place) = host.mcp().open.take(scope.source(), (most / 10).max(1), most) else {
        return objected(RpcError::new(INTERNAL, "There are too many subscriptions; end one of them first."));
    };
    // Writes from here on wake it.
    let (listener, _) = match EventListener::join(host.hub(), connection, scope, versions, place) {
        Ok(joined) => joined,
        Err(error) => return McpReply::Reply(failed(&error)),
    };
    let distinct: BTreeSet<&str> = uris.iter().copied().collect();
    let subjects = distinct.into_iter().map(|uri| SubscriptionTopic::Record(uri.to_owned()));
    let mut watched = Vec::new();
    let prompts = flag("promptsListChanged") && host.mcp().has_prompts();
    let lists = [(flag("resourcesListChanged"), SubscriptionTopic::List), (prompts, SubscriptionTopic::Prompts)];
    for subject in subjects.chain(lists.into_iter().filter_map(|(wanted, list)| wanted.then_some(list))) {
        let document = look(&*host, scope, &subject).await;
        watched.extend(document.is_readable().then_some(TopicState { subject, document }));
    }
    let mut agreed = Map::new();
    for name in LISTS.into_iter().filter(|name| flag(name) && (prompts || *name != "promptsListChanged")) {
        agreed.insert(name.to_owned(), json!(true));
    }
    let records: Vec<&String> = watched.iter().filter_map(|one| one.subject.uri()).collect();
    if !uris.is_empty() {
        agreed.insert(RECORDS.into(), json!(records));
    }
    let tools = flag("toolsListChanged");
    let events = VecDeque::new();
    let mut subscription = Subscription { host, listener, id, tools, watched, events, until, ended: false };
    subscription.tell("notifications/subscriptions/acknowledged", json!({"notifications": agreed}));
    let stream: EventStream = Box::pin(unfold(subscription, |mut subscription| async move {
        let next = subscription.next().await?;
        Some((next, subscription))
    }));
    McpReply::Stream(event_stream_headers(), stream)
}

/// Whether a subscription has such a filter.
fn is_filter(name: &str, value: &Value) -> bool {
    match name {
        RECORDS => value.as_array().is_some_and(|uris| uris.iter().all(Value::is_string)),
        name => LISTS.contains(&name) && value.is_boolean(),
    }
}

impl SubscriptionTopic {
    fn uri(&self) -> Option<&String> {
        match self {
            SubscriptionTopic::Record(uri) => Some(uri),
            SubscriptionTopic::List | SubscriptionTopic::Prompts => None,
        }
    }

    /// The notification that it has changed.
    fn notification(&self) -> &'static str {
        match self {
            SubscriptionTopic::Record(_) => "notifications/resources/updated",
            SubscriptionTopic::List => "notifications/resources/list_changed",
            SubscriptionTopic::Prompts => "notifications/prompts/list_changed",
        }
    }
}

/// A subject as the caller sees it.
async fn look<H: McpHost>(host: &H, scope: &Scope, subject: &SubscriptionTopic) -> DocumentState {
    let mcp: &Mcp = host.mcp();
    let text = async |scope: &Scope| match subject {
        SubscriptionTopic::Record(uri) => Some(mcp.read_record(host.engine(), scope, uri).await.ok()?.to_string()),
        SubscriptionTopic::List => Some(mcp.newest_records(host.engine(), scope).await),
        SubscriptionTopic::Prompts => Some(mcp.newest_prompts(host.engine(), scope).await),
    };
    DocumentState::read(scope, text).await.0
}

impl<H: McpHost> Subscription<H> {
    fn tell(&mut self, method: &str, mut params: Value) {
        params["_meta"] = json!({META_SUBSCRIPTION: self.id});
        self.events.push_back(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn end(&mut self) {
        self.ended = true;
        let meta = json!({META_SUBSCRIPTION: self.id});
        self.events
            .push_back(json!({"jsonrpc": "2.0", "id": self.id, "result": {"resultType": "complete", "_meta": meta}}));
    }

    /// The next bytes of the stream.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(message) = self.events.pop_front() {
                self.listener.heard();
                return Some(event(&message));
            }
            if self.ended {
                return None;
            }
            if self.listener.is_silent() {
                self.listener.heard();
                return Some(Bytes::from_static(b":\n\n"));
            }
            self.listener.wait().await;
            tokio::time::sleep(GATHER).await;
            match self.listener.ending() {
                Some(StopReason::Replaced) => {
                    // Declarations may differ by now; interested clients subscribe again.
                    if self.tools {
                        self.tell("notifications/tools/list_changed", json!({}));
                    }
                    for list in [SubscriptionTopic::List, SubscriptionTopic::Prompts] {
                        if self.watched.iter().any(|one| one.subject == list) {
                            self.tell(list.notification(), json!({}));
                        }
                    }
                    self.end();
                }
                Some(StopReason::Stopping) => self.end(),
                None if Instant::now() >= self.until => self.end(),
                None => self.check().await,
            }
        }
    }

    /// Reads again what may have changed.
    async fn check(&mut self) {
        // The database is away: a later look finds what has changed.
        if self.listener.catch_up().is_err() {
            return;
        }
        let (host, now) = (self.host.clone(), self.host.engine().now());
        let storage = self.listener.receiver.storage();
        let old = |one: &TopicState| one.document.may_differ(storage, now);
        let due: Vec<usize> = (0..self.watched.len()).filter(|at| old(&self.watched[*at])).collect();
        if due.is_empty() && !self.listener.may_have_changed() {
            return;
        }
        // The password may have been revoked meanwhile, or the user's rights have changed.
        let Some(scope) = self.listener.scope(host.engine()).await else { return self.end() };
        for at in due {
            let subject = self.watched[at].subject.clone();
            let told = subject.uri().map_or_else(|| json!({}), |uri| json!({"uri": uri}));
            let document = look(&*host, &scope, &subject).await;
            let before = std::mem::replace(&mut self.watched[at].document, document);
            if self.watched[at].document.differs(&before) {
                self.tell(subject.notification(), told);
            }
        }
    }
}
