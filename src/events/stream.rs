//! Events as they come, for subscribers over HTTP (Server-Sent Events).
//!
//! A stream has no queue: it takes what is new when its client has taken what was before. A client that is slow falls behind and
//! resumes from its position; the edge disconnects one that reads nothing for too long, and it comes back with the number of the
//! last event. Nothing of it outlives the stream, so any node can serve it.

use super::hub::StreamText;
use super::listener::{CallerVersions, EventHost, EventListener};
use super::{DocumentState, EventFilter, FeedEntry, NextEntries, VisibleEvent, tell};
use bytes::Bytes;
use cms_core::engine::Engine;
use cms_core::error::{ApiError, Code, status};
use cms_core::model::{EventQuery, EventStream, Method, Request, StopSignal, WatchedDocument, event_stream_headers};
use cms_core::request::BodyParams;
use cms_core::request::call::Call;
use cms_core::scope::{Principal, Scope};
use cms_declaration::EventType;
use cms_storage::Storage;
use futures_util::stream::unfold;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::yield_now;

/// Seconds after which a client whose stream was refused may come again.
const AGAIN: i64 = 5;

/// Events that are sent at once.
const AT_ONCE: usize = 100;

/// Between two looks at a document.
const GATHER: Duration = Duration::from_millis(200);

/// The headers and the body of a stream.
pub type OpenedStream = (Vec<(String, String)>, EventStream);

/// Opens a stream. `endings` says when it has to end.
///
/// # Errors
/// The caller, or all callers together, have as many as they may; the database cannot be read.
pub async fn serve<H: EventHost>(
    host: Arc<H>,
    request: Request,
    query: EventQuery,
    endings: StopSignal,
) -> Result<OpenedStream, ApiError> {
    let scope = host.engine().anonymous(&request)?;
    let versions = CallerVersions::of(&scope);
    let caller = host.engine().identity().authenticate(&scope, &request).await?;
    let scope = Scope { principal: caller, ..scope };
    let declared = &scope.registry.declaration.events;
    let place = host.hub().open.take(scope.source(), declared.streams_of_caller, declared.streams);
    let place = place.map_err(|_| {
        let message = "Too many streams are open: end one of them, or come again later.";
        ApiError::wait(Code::TooManyRequests, AGAIN).with_message(message)
    })?;
    let asked = request.header("last-event-id").filter(|id| !id.is_empty());
    // A text that is no number names no place.
    let after = asked.map(|id| id.parse().unwrap_or(-1)).or(query.after);
    let (listener, newest) = EventListener::join(host.hub(), (request, endings), &scope, versions, place)?;
    let events = query.events.iter().filter_map(|name| EventType::named(name)).collect();
    let filter = EventFilter { resources: query.resources, events, statuses: query.statuses };
    let subscriber = EventSubscriber {
        filtered: format!("{filter:?}"),
        filter,
        at: after.unwrap_or(newest),
        first: true,
        watched: query.watched.map(DocumentWatch::of),
        listener,
        host,
    };
    let stream: EventStream = Box::pin(unfold(subscriber, |mut subscriber| async move {
        let next = subscriber.next().await?;
        Some((next, subscriber))
    }));
    Ok((event_stream_headers(), stream))
}

/// An open stream.
struct EventSubscriber<H> {
    host: Arc<H>,
    listener: EventListener,
    filter: EventFilter,
    /// The filter as text, part of the key under which streams share their texts.
    filtered: String,
    /// The number of the last entry that was decided on.
    at: i64,
    first: bool,
    watched: Option<DocumentWatch>,
}

/// The document of a stream, as the client knows it.
struct DocumentWatch {
    event: &'static str,
    call: Call,
    known: DocumentState,
    /// `None`: nobody has looked.
    looked: Option<Instant>,
}

impl DocumentWatch {
    fn of(watched: WatchedDocument) -> DocumentWatch {
        let call = Call::internal(Method::Get, &watched.path, watched.query, BodyParams::None);
        DocumentWatch { event: watched.event, call, known: DocumentState::default(), looked: None }
    }

    fn is_due(&self, storage: &dyn Storage, now: i64) -> bool {
        self.looked.is_none_or(|at| at.elapsed() >= GATHER) && self.known.may_differ(storage, now)
    }

    /// Looks again; the event, where the document differs and the caller can read it.
    async fn look(&mut self, engine: &Engine, scope: &Scope) -> Option<String> {
        let call = &self.call;
        let read = async |scope: &Scope| {
            let part = engine.part(scope, call, false).await;
            (part.status == status::OK).then(|| part.body.to_string())
        };
        let (now, text) = Box::pin(DocumentState::read(scope, read)).await;
        let before = std::mem::replace(&mut self.known, now);
        self.looked = Some(Instant::now());
        let text = text.filter(|_| self.known.differs(&before))?;
        Some(format!("event: {}\ndata: {text}\n\n", self.event))
    }
}

impl<H: EventHost> EventSubscriber<H> {
    /// The next bytes of the stream; `None`: it ends, and the client comes again.
    async fn next(&mut self) -> Option<Bytes> {
        let host = self.host.clone();
        loop {
            if self.listener.ending().is_some() {
                return None;
            }
            self.listener.catch_up().ok()?;
            if !self.is_due()? {
                self.listener.wait().await;
                continue;
            }
            let scope = self.listener.scope(host.engine()).await?;
            let mut text = String::new();
            if std::mem::take(&mut self.first) {
                // A client that loses the connection before the first event comes back to this position.
                let _ = write!(text, "retry: 2000\n\nid: {}\n\n", self.at);
            }
            let (storage, now) = (self.listener.receiver.storage(), host.engine().now());
            if let Some(watched) = self.watched.as_mut().filter(|watched| watched.is_due(storage, now)) {
                text.extend(watched.look(host.engine(), &scope).await);
            }
            let news = match self.news(&scope).await {
                Some(news) => news,
                None if text.is_empty() => return None,
                None => Bytes::new(),
            };
            if text.is_empty() && news.is_empty() && self.listener.is_silent() {
                // The position moves on although there was no event for the client.
                let _ = write!(text, "id: {}\n:\n\n", self.at);
            }
            if !text.is_empty() || !news.is_empty() {
                self.listener.heard();
                return Some(if text.is_empty() { news } else { [text.as_bytes(), &news].concat().into() });
            }
            // Entries that concern nobody may be many: other streams of this thread have their turn.
            yield_now().await;
        }
    }

    /// Whether there is something to do: entries, a heartbeat, a look at who the caller is. `None`: the hub is gone.
    fn is_due(&self) -> Option<bool> {
        let receiver = &self.listener.receiver;
        let news = self.at < receiver.announced() || receiver.changes.has_changed().ok()?;
        let (storage, now) = (receiver.storage(), self.host.engine().now());
        let differs = self.watched.as_ref().is_some_and(|watched| watched.is_due(storage, now));
        Some(self.first || news || differs || self.listener.is_silent() || self.listener.may_have_changed())
    }

    /// The text for entries that are new; `None`: one of them cannot be decided on now.
    async fn news(&mut self, scope: &Scope) -> Option<Bytes> {
        // Callers with the same rights are told the same.
        let rights = rights(&scope.principal, scope.settings.version);
        let streams: Arc<str> = format!("{rights} {}", self.filtered).into();
        let from = self.at;
        if let Some(StreamText { until, text }) = self.listener.receiver.text(from, &streams) {
            self.at = until;
            return Some(text);
        }
        let (events, until) = match self.listener.receiver.after(from, &self.filter).ok()? {
            NextEntries::Entries(events, until) => (events, until),
            NextEntries::Deleted(newest) | NextEntries::Lost(newest) => {
                self.at = newest;
                return Some(format!("id: {newest}\nevent: reset\ndata: {{\"id\":{newest}}}\n\n").into());
            }
        };
        let mut text = String::new();
        for event in events.iter().take(AT_ONCE) {
            let Some(told) = self.told(scope, &event.entry, &rights).await else {
                // Events before it are sent; the next look fails on its own.
                return (!text.is_empty()).then(|| text.into());
            };
            self.at = event.entry.seq;
            if let Some(event) = told.filter(|event| self.filter.chooses(event)) {
                let _ = write!(text, "id: {}\ndata: {}\n\n", event.seq, event.text);
            }
        }
        if events.len() <= AT_ONCE {
            self.at = until;
        }
        let text = Bytes::from(text);
        self.listener.receiver.share(from, &streams, StreamText { until: self.at, text: text.clone() });
        Some(text)
    }

    /// The event of an entry that callers with the same rights get.
    async fn told(&self, scope: &Scope, entry: &FeedEntry, rights: &Arc<str>) -> Option<Option<Arc<VisibleEvent>>> {
        if let Some(told) = self.listener.receiver.told(entry.seq, rights) {
            return Some(told);
        }
        if let Some(budget) = &scope.budget {
            budget.renew();
        }
        // In a box: what a request needs is large, and most streams are idle.
        let told = Box::pin(tell(self.host.engine(), scope, entry)).await.ok()?.map(Arc::new);
        self.listener.receiver.note(entry.seq, rights, told.clone());
        Some(told)
    }
}

/// Names the rights of a caller under settings of a version: whoever has the same name is told the same.
pub fn rights(caller: &Principal, settings: u64) -> Arc<str> {
    let settings = if caller.is_logged_in() { settings } else { 0 };
    format!("{} {:?} {:?} {settings}", caller.id, caller.app_password, caller.roles).into()
}
