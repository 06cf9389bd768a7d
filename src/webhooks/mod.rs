//! Webhooks: receivers that are told of changes, at least once and in order.
//!
//! Each webhook has a place in the change feed, which is stored with the outcome of each delivery. One node sends, the one that carries
//! out what falls due. A thread looks which webhooks have something to be told, and starts a run for each: its thread sends one
//! message after the other, so that a receiver that is slow or hangs holds up nobody else. What fails is tried again
//! after growing pauses; after a day the webhook is parked. The outcomes of a moment are stored together. A process that
//! ends before that sends twice, never not at all.

mod counts;
mod message;
mod round;
mod row;
mod run;

use crate::boot::{BootError, Services};
use crate::events::{EventFilter, EventHub, HubReceiver, NextEntries, rights};
use arc_swap::ArcSwap;
use cms_base::clock::Clock;
use cms_core::engine::Engine;
use cms_core::outbound::Outbound;
use cms_core::registry::Registry;
use cms_core::registry::columns::webhook as col;
use cms_core::scope::Principal;
use cms_storage::Database;
use cms_storage::plan::DbValue;
pub use counts::WebhookCounts;
pub use row::declare;
use row::{WebhookRow, WebhookTables, commit};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Longest sleep, in seconds, whatever happens.
const POLL: i64 = 60;

/// Seconds until the next look after one that failed.
const RETRY: i64 = 2;

/// Entries after which the place of a webhook is stored although nothing was delivered: older entries of the feed are deleted.
const STORED_EVERY: i64 = 10_000;

/// Commits of so long are looked at together.
const GATHER: Duration = Duration::from_millis(50);

/// Everything that webhooks are sent with.
pub struct WebhookContext {
    engine: Arc<Engine>,
    hub: Arc<EventHub>,
    storage: Arc<dyn Database>,
    clock: Arc<dyn Clock>,
    outbound: Outbound,
    /// Names of the rights of webhooks: without and with what is private.
    rights: [Arc<str>; 2],
    /// Others took its place: its runs end.
    replaced: AtomicBool,
}

impl WebhookContext {
    /// The context over an engine, whose routes say what may be told, and the hub that reads the feed.
    pub fn new(engine: Arc<Engine>, hub: Arc<EventHub>, services: &Services) -> WebhookContext {
        let outbound = Outbound::new(&engine.registry().declaration.outbound);
        let rights = [rights(&Principal::default(), 0), "private webhook".into()];
        WebhookContext {
            engine,
            hub,
            storage: services.storage.clone(),
            clock: services.clock.clone(),
            outbound,
            rights,
            replaced: AtomicBool::new(false),
        }
    }

    fn registry(&self) -> &Arc<Registry> {
        self.engine.registry()
    }
}

/// The runs of webhooks, which the thread that looks shares with theirs.
#[derive(Default)]
struct WebhookProgress {
    hooks: Mutex<HashMap<i64, RunState>>,
    running: AtomicUsize,
    counts: Arc<WebhookCounts>,
}

/// How far a webhook has come.
#[derive(Clone, Copy, Default)]
struct RunState {
    running: bool,
    /// There is nothing for it up to this number.
    at: i64,
    /// Nothing is sent before (UTC seconds): a run has failed.
    not_before: i64,
    /// When outcomes were stored last.
    stored: Option<Instant>,
}

impl WebhookProgress {
    fn lock(&self) -> MutexGuard<'_, HashMap<i64, RunState>> {
        self.hooks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends to webhooks until the process ends.
pub struct WebhookSender {
    context: Arc<ArcSwap<WebhookContext>>,
    stop: Arc<AtomicBool>,
    thread: Thread,
    ended: Mutex<Receiver<()>>,
}

impl WebhookSender {
    /// Starts the thread, which counts what it does.
    ///
    /// # Errors
    /// No thread.
    pub fn start(context: WebhookContext, counts: Arc<WebhookCounts>) -> Result<WebhookSender, BootError> {
        let storage = context.storage.clone();
        let context = Arc::new(ArcSwap::from_pointee(context));
        let progress = Arc::new(WebhookProgress { counts, ..WebhookProgress::default() });
        let stop = Arc::new(AtomicBool::new(false));
        let (end, ended) = channel();
        let shared = (context.clone(), progress, stop.clone());
        let spawned = thread::Builder::new().name("webhooks".into()).spawn(move || {
            let (context, progress, stop) = shared;
            work(&context, &progress, &stop);
            // Nobody waits any more where this fails.
            let _ = end.send(());
        });
        let thread = spawned.map_err(|e| BootError::Other(format!("no thread for webhooks: {e}")))?.thread().clone();
        storage.wake(thread.clone());
        Ok(WebhookSender { context, stop, thread, ended: Mutex::new(ended) })
    }

    /// Continues with other declarations.
    pub fn take(&self, context: WebhookContext) {
        context.storage.wake(self.thread.clone());
        self.context.swap(Arc::new(context)).replaced.store(true, Ordering::Relaxed);
        self.thread.unpark();
    }

    /// Ends the thread; what is being sent is sent again by the next start where its answer does not come in time.
    pub fn finish(&self, patience: Duration) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.unpark();
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = ended.recv_timeout(patience);
    }
}

/// The knowledge of the thread between two looks.
#[derive(Default)]
struct PollState {
    receiver: Option<HubReceiver>,
    hooks: Vec<WebhookRow>,
    /// Webhooks with a delivery that somebody ordered.
    ordered: Vec<i64>,
    /// The versions of the tables that these were read at.
    versions: Option<[u64; 2]>,
}

fn work(contexts: &Arc<ArcSwap<WebhookContext>>, progress: &Arc<WebhookProgress>, stop: &Arc<AtomicBool>) {
    let mut last: Option<Arc<WebhookContext>> = None;
    let mut state = PollState::default();
    while !stop.load(Ordering::Relaxed) {
        let context = contexts.load_full();
        let leads = context.storage.leads();
        if !leads || last.as_ref().is_none_or(|last| !Arc::ptr_eq(last, &context)) {
            state = PollState::default();
            progress.lock().retain(|_, state| state.running);
        }
        if !leads {
            progress.counts.clear_lags();
        }
        let looked = if leads { look(&context, &mut state, (progress, stop)) } else { Ok(None) };
        last = (leads && looked.is_ok()).then(|| context.clone());
        let now = context.clock.now();
        let next = looked.unwrap_or_else(|error| {
            tracing::warn!("webhooks have to wait: {error}");
            Some(now + RETRY)
        });
        if !stop.load(Ordering::Relaxed) {
            // A commit meanwhile ends the sleep behind it at once.
            thread::sleep(GATHER);
            context.clock.park_until(next.map(|next| next.clamp(now + 1, now + POLL)));
        }
    }
    // Runs see the flag between two messages.
    while progress.running.load(Ordering::Acquire) > 0 {
        thread::park_timeout(Duration::from_millis(100));
    }
}

/// Starts a run for each webhook that may have something to be told; when the next look is due.
fn look(
    context: &Arc<WebhookContext>,
    state: &mut PollState,
    (progress, stop): (&Arc<WebhookProgress>, &Arc<AtomicBool>),
) -> Result<Option<i64>, BootError> {
    let registry = context.registry();
    let Some(tables) = WebhookTables::of(registry) else { return Ok(None) };
    let storage = &*context.storage;
    if !storage.has_commit_listener() {
        storage.catch_up()?;
    }
    // Read first, so that what is written meanwhile requires another look.
    let versions = tables.versions(storage);
    if state.versions != Some(versions) {
        state.hooks = tables.all(storage)?;
        state.ordered = if state.hooks.is_empty() { Vec::new() } else { tables.waiting(storage)? };
        state.versions = Some(versions);
    }
    if state.hooks.is_empty() {
        state.receiver = None;
        progress.counts.set_lags(&[]);
        return Ok(None);
    }
    let receiver = match &mut state.receiver {
        Some(receiver) => receiver,
        none => none.insert(context.hub.join()?.0),
    };
    receiver.catch_up()?;
    skip(context, tables, &state.hooks, receiver, progress)?;
    let (now, newest) = (context.clock.now(), receiver.newest());
    let mut next: Option<i64> = None;
    let mut lags = Vec::new();
    for hook in &state.hooks {
        let run = progress.lock().get(&hook.id).copied().unwrap_or_default();
        lags.push((hook.id, newest.saturating_sub(run.at.max(hook.position)).max(0)));
        let waits = state.ordered.contains(&hook.id);
        let behind = hook.active && run.at.max(hook.position) < newest;
        let due = if waits { run.not_before } else { hook.due.max(run.not_before) };
        if run.running || !(waits || behind) {
            continue;
        }
        if due <= now && run::start(context, hook.id, progress, stop) {
            continue;
        }
        let due = due.max(now + 1);
        next = Some(next.map_or(due, |next| next.min(due)));
    }
    progress.counts.set_lags(&lags);
    Ok(next)
}

/// Notes up to where there is nothing for each webhook that does not run, without a look at rows or rights.
fn skip(
    context: &WebhookContext,
    tables: WebhookTables<'_>,
    hooks: &[WebhookRow],
    receiver: &mut HubReceiver,
    progress: &WebhookProgress,
) -> Result<(), BootError> {
    let mut states = progress.lock();
    states.retain(|id, state| state.running || hooks.iter().any(|hook| hook.id == *id));
    let mut waiting: Vec<(&WebhookRow, i64)> = Vec::new();
    for hook in hooks.iter().filter(|hook| hook.active) {
        let state = states.entry(hook.id).or_default();
        if !state.running {
            state.at = state.at.max(hook.position);
            waiting.push((hook, state.at));
        }
    }
    let mut stored = Vec::new();
    while let Some(first) = waiting.iter().map(|(_, at)| *at).min() {
        let (events, until) = match receiver.after(first, &EventFilter::default())? {
            NextEntries::Entries(events, until) => (events, until),
            // A run notifies the receiver of it.
            NextEntries::Deleted(_) => {
                waiting.retain(|(_, at)| *at > first);
                continue;
            }
            // Commits are lost: what was known of their numbers is not true any more.
            NextEntries::Lost(_) => {
                states.values_mut().for_each(|state| state.at = 0);
                break;
            }
        };
        if until <= first {
            break;
        }
        for event in &events {
            let seq = event.entry.seq;
            waiting.retain(|(hook, at)| {
                let concerns = seq > *at && hook.filter.may_choose(event);
                if concerns {
                    states.entry(hook.id).or_default().at = seq - 1;
                }
                !concerns
            });
        }
        for (hook, at) in &mut waiting {
            *at = until.max(*at);
            states.entry(hook.id).or_default().at = *at;
            if *at - hook.position > STORED_EVERY {
                stored.push((hook.id, *at));
            }
        }
    }
    drop(states);
    for (id, at) in stored {
        commit(&*context.storage, vec![tables.set(id, &[(col::POSITION, DbValue::Int(at))])])?;
    }
    Ok(())
}
