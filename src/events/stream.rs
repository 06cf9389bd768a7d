//! Events as they come, for subscribers over HTTP (Server-Sent Events).
//!
//! A stream has no queue: it takes what is new when its client has taken what was before. A client that is slow falls behind and
//! resumes from its position; the edge disconnects one that reads nothing for too long, and it comes back with the number of the
//! last event. Nothing of it outlives the stream, so any node can serve it.

use super::hub::HubReceiver;
use super::{EventFilter, EventHub, FeedEntry, NextEntries, VisibleEvent, tell};
use crate::engine::Engine;
use crate::error::{ApiError, Code};
use crate::model::{EventQuery, EventStream, Request, StopSignal, event_stream_headers};
use crate::registry::name;
use crate::scope::{Principal, Scope};
use bytes::Bytes;
use cms_base::pool::OwnerPlace;
use cms_declaration::EventType;
use cms_storage::Storage;
use futures_util::stream::unfold;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::yield_now;
use tokio::time::timeout;

/// Between two looks at what may end a stream.
const PAUSE: Duration = Duration::from_secs(1);

/// Seconds after which a client whose stream was refused may come again.
const AGAIN: i64 = 5;

/// Events that are sent at once.
const AT_ONCE: usize = 100;

/// Tables whose rows decide who a caller is.
const CALLERS: [&str; 3] = ["app_password", "session", "user"];

/// The parts of the program that serve an open stream.
pub trait EventHost: 'static {
    fn engine(&self) -> &Engine;
    fn hub(&self) -> &EventHub;
}

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
    // Read first, so that what is written meanwhile has the caller looked up again.
    let versions = versions(&*scope.storage);
    let caller = host.engine().identity().authenticate(&scope, &request).await?;
    let scope = Scope { principal: caller.clone(), ..scope };
    let declared = &scope.registry.declaration.events;
    let place = host.hub().open.take(scope.source(), declared.streams_of_caller, declared.streams);
    let place = place.map_err(|_| {
        let message = "Too many streams are open: end one of them, or come again later.";
        ApiError::wait(Code::TooManyRequests, AGAIN).with_message(message)
    })?;
    let (receiver, newest) = host.hub().join()?;
    let asked = request.header("last-event-id").filter(|id| !id.is_empty());
    // A text that is no number names no place.
    let after = asked.map(|id| id.parse().unwrap_or(-1)).or(query.after);
    let events = query.events.iter().filter_map(|name| EventType::named(name)).collect();
    let subscriber = EventSubscriber {
        filter: EventFilter { resources: query.resources, events, statuses: query.statuses },
        heartbeat: declared.heartbeat.std(),
        versions,
        rights: rights(&caller),
        caller,
        receiver,
        at: after.unwrap_or(newest),
        first: true,
        seen: Instant::now(),
        known: Instant::now(),
        request,
        endings,
        host,
        _place: place,
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
    request: Request,
    endings: StopSignal,
    filter: EventFilter,
    heartbeat: Duration,
    caller: Principal,
    /// Callers with the same rights are told the same.
    rights: Arc<str>,
    /// The versions of what decides who the caller is, and when they were looked at.
    versions: [u64; 3],
    known: Instant,
    receiver: HubReceiver,
    /// The number of the last entry that was decided on.
    at: i64,
    first: bool,
    /// When the client heard something last.
    seen: Instant,
    _place: OwnerPlace,
}

impl<H: EventHost> EventSubscriber<H> {
    /// The next bytes of the stream; `None`: it ends, and the client comes again.
    async fn next(&mut self) -> Option<Bytes> {
        let host = self.host.clone();
        loop {
            if (self.endings)().is_some() {
                return None;
            }
            if let Some(storage) = self.receiver.storage_without_listener() {
                storage.catch_up().ok()?;
            }
            if !self.is_due()? {
                let _ = timeout(PAUSE, self.receiver.changes.changed()).await;
                continue;
            }
            let scope = self.identified(host.engine().anonymous(&self.request).ok()?).await?;
            let mut text = String::new();
            let first = std::mem::take(&mut self.first);
            if first {
                text.push_str("retry: 2000\n\n");
            }
            match self.receiver.after(self.at).ok()? {
                NextEntries::Lost(newest) => {
                    self.at = newest;
                    let _ = write!(text, "id: {newest}\nevent: reset\ndata: {{\"id\":{newest}}}\n\n");
                }
                NextEntries::Entries(entries) => {
                    if first {
                        // A client that loses the connection before the first event comes back to this position.
                        let _ = write!(text, "id: {}\n\n", self.at);
                    }
                    let whole = self.write(&scope, &entries, &mut text).await;
                    // Events before an entry that fails are sent; the next look fails on its own.
                    if whole.is_none() && text.is_empty() {
                        return None;
                    }
                }
            }
            if text.is_empty() && self.seen.elapsed() >= self.heartbeat {
                // The position moves on although there was no event for the client.
                let _ = write!(text, "id: {}\n:\n\n", self.at);
            }
            if !text.is_empty() {
                self.seen = Instant::now();
                return Some(text.into());
            }
            // Entries that concern nobody may be many: other streams of this thread have their turn.
            yield_now().await;
        }
    }

    /// Whether there is something to do: entries, a heartbeat, a change of what decides who the caller is.
    fn is_due(&self) -> Option<bool> {
        let news = self.at < self.receiver.newest() || self.receiver.changes.has_changed().ok()?;
        let identity = self.has_credentials() && versions(self.receiver.storage()) != self.versions;
        Some(self.first || news || identity || self.seen.elapsed() >= self.heartbeat)
    }

    /// Whether the request names a caller who may lose rights.
    fn has_credentials(&self) -> bool {
        ["authorization", "cookie"].iter().any(|name| self.request.header(name).is_some())
    }

    /// Writes the events of entries, as far as the caller may know of them; `None`: one cannot be decided on now.
    async fn write(&mut self, scope: &Scope, entries: &[Arc<FeedEntry>], text: &mut String) -> Option<()> {
        let mut decided = 0;
        for entry in entries {
            if decided >= AT_ONCE {
                break;
            }
            let told = match self.receiver.told(entry.seq, &self.rights) {
                Some(told) => told,
                None if !self.filter.may_concern(&scope.registry, entry) => {
                    self.at = entry.seq;
                    continue;
                }
                None => self.told(scope, entry).await?,
            };
            decided += 1;
            self.at = entry.seq;
            let wanted = told.filter(|event| self.filter.chooses(event));
            if let Some(event) = wanted {
                let _ = write!(text, "id: {}\ndata: {}\n\n", event.seq, event.text);
            }
        }
        Some(())
    }

    /// Decides which event of an entry callers with the same rights get.
    async fn told(&self, scope: &Scope, entry: &FeedEntry) -> Option<Option<Arc<VisibleEvent>>> {
        if let Some(budget) = &scope.budget {
            budget.renew();
        }
        // In a box: what a request needs is large, and most streams are idle.
        let told = Box::pin(tell(self.host.engine(), scope, entry)).await.ok()?.map(Arc::new);
        self.receiver.note(entry.seq, &self.rights, told.clone());
        Some(told)
    }

    /// The scope in the caller's name; `None`: the caller's credentials are not valid any more.
    async fn identified(&mut self, scope: Scope) -> Option<Scope> {
        let versions = versions(&*scope.storage);
        let due = versions != self.versions || self.known.elapsed() >= self.heartbeat;
        if due && self.has_credentials() {
            let identity = self.host.engine().identity();
            let caller = Box::pin(identity.authenticate(&scope, &self.request)).await.ok()?;
            if (caller.id, &caller.app_password) != (self.caller.id, &self.caller.app_password) {
                return None;
            }
            (self.rights, self.caller) = (rights(&caller), caller);
            (self.versions, self.known) = (versions, Instant::now());
        }
        Some(Scope { principal: self.caller.clone(), ..scope })
    }
}

/// Names the rights of a caller: whoever has the same name is told the same.
pub fn rights(caller: &Principal) -> Arc<str> {
    format!("{} {:?} {:?}", caller.id, caller.app_password, caller.roles).into()
}

fn versions(storage: &dyn Storage) -> [u64; 3] {
    CALLERS.map(|table| storage.scope_version(&name(table)))
}
