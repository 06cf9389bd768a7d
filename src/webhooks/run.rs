//! A run of one webhook: its messages, one after the other, until there are none, one fails, or others take over.

use super::message::{WebhookMessage, tells_nothing};
use super::round::{DeliveryRound, HookValues, LONG_ROUND, MANY, SentMessage};
use super::row::{DeliveryAttempt, OrderedDelivery, WebhookRow, WebhookTables, commit, format_of};
use super::{WebhookContext, WebhookProgress};
use crate::boot::BootError;
use crate::events::{FeedEntry, HubReceiver, NextEntries, PossibleEvent, VisibleEvent, tell};
use cms_base::platform::give_way;
use cms_base::pool::wait;
use cms_core::error::{ApiError, status};
use cms_core::model::event_of_webhook;
use cms_core::outbound::{FetchError, OutboundSender};
use cms_core::records::txt;
use cms_core::registry::columns::webhook as col;
use cms_core::scope::Principal;
use cms_storage::plan::{Change, DbValue};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;
use url::Url;

/// Events that are gathered into one message.
const MOST_GATHERED: usize = 100;

/// Where more events wait, a request without a body is sent for several.
const BEHIND: usize = 20;

/// Longest pause between two attempts, in seconds.
const LONGEST_PAUSE: i64 = 3600;

/// The text in the place of a secret where a delivery is shown.
const HIDDEN: &str = "(secret)";

/// Starts a run; `false`: there is no thread for it.
pub fn start(
    context: &Arc<WebhookContext>,
    hook: i64,
    progress: &Arc<WebhookProgress>,
    stop: &Arc<AtomicBool>,
) -> bool {
    progress.lock().entry(hook).or_default().running = true;
    progress.running.fetch_add(1, Ordering::AcqRel);
    let shared = (context.clone(), progress.clone(), stop.clone(), thread::current());
    let spawned = thread::Builder::new().name(format!("webhook-{hook}")).spawn(move || {
        let (context, progress, stop, looker) = shared;
        // Requests have the processor first.
        give_way();
        let ends = RunEnd { context: &context, progress: &progress, hook, looker: &looker };
        let sender = context.outbound.sender();
        let run = Run { context: &context, progress: &progress, stop: &stop, hook, sender };
        if let Err(error) = run.carry_out() {
            tracing::warn!("the webhook {hook} has to wait: {error}");
            ends.wait();
        }
        drop(ends);
    });
    if spawned.is_err() {
        progress.lock().entry(hook).or_default().running = false;
        progress.running.fetch_sub(1, Ordering::AcqRel);
    }
    spawned.is_ok()
}

/// Says that a run has ended, also where it ends in a panic.
struct RunEnd<'a> {
    context: &'a WebhookContext,
    progress: &'a WebhookProgress,
    hook: i64,
    looker: &'a thread::Thread,
}

impl RunEnd<'_> {
    /// The next run waits a moment.
    fn wait(&self) {
        let later = self.context.clock.now() + super::RETRY;
        self.progress.lock().entry(self.hook).or_default().not_before = later;
    }
}

impl Drop for RunEnd<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.wait();
        }
        self.progress.lock().entry(self.hook).or_default().running = false;
        self.progress.running.fetch_sub(1, Ordering::AcqRel);
        self.looker.unpark();
    }
}

struct Run<'a> {
    context: &'a WebhookContext,
    progress: &'a WebhookProgress,
    stop: &'a AtomicBool,
    hook: i64,
    sender: OutboundSender,
}

/// A webhook, and what somebody ordered of it.
struct HookNow {
    hook: WebhookRow,
    ordered: Option<OrderedDelivery>,
}

/// The next message of a webhook.
enum NextMessage {
    Message(WebhookMessage),
    /// It is not sent: a cycle ends here.
    Cycle(WebhookMessage),
    /// There is nothing up to this number.
    Nothing(i64),
    /// Changes are gathered until then (UTC seconds).
    Later(i64),
    /// The place is not in the feed any more; the newest number.
    Lost(i64),
}

impl Run<'_> {
    fn goes_on(&self) -> bool {
        let ends = [self.stop, &self.context.replaced];
        !ends.iter().any(|flag| flag.load(Ordering::Relaxed)) && self.context.storage.leads()
    }

    fn carry_out(&self) -> Result<(), BootError> {
        let Some(tables) = WebhookTables::of(self.context.registry()) else { return Ok(()) };
        let mut receiver = self.context.hub.join()?.0;
        let mut round = DeliveryRound::default();
        let sent = self.send_on(tables, &mut receiver, &mut round);
        // The round is stored, whatever ended the run.
        sent.and(self.store(tables, &receiver, &mut round))
    }

    /// Sends one message after the other. The outcomes of the last ones are in the round.
    fn send_on(
        &self,
        tables: WebhookTables<'_>,
        receiver: &mut HubReceiver,
        round: &mut DeliveryRound,
    ) -> Result<(), BootError> {
        let storage = &*self.context.storage;
        let (mut known, mut looked_again) = (None, false);
        let (mut count, mut last) = (0, Instant::now());
        while self.goes_on() {
            let looked = tables.versions(storage);
            let Some(HookNow { hook, ordered }) = self.look(tables, &mut known)? else { return Ok(()) };
            if let Some(ordered) = ordered {
                self.send_ordered(tables, (hook, ordered), receiver, round)?;
                known = None;
                continue;
            }
            if !round.is_empty() {
                hook.start_over();
            }
            if !hook.active || hook.due > self.context.clock.now() {
                return Ok(());
            }
            let message = match self.next(hook, receiver)? {
                NextMessage::Message(message) => message,
                NextMessage::Lost(newest) if looked_again => self.reset(tables, hook, newest),
                NextMessage::Nothing(_) | NextMessage::Later(_) if !round.is_empty() => {
                    self.gather(tables, receiver, round)?;
                    continue;
                }
                // More will come: another run would need a thread and connections of its own.
                NextMessage::Nothing(at) if count >= MANY && last.elapsed() < LONG_ROUND && !hook.is_pending() => {
                    self.note(at);
                    thread::sleep(super::GATHER);
                    continue;
                }
                other => {
                    let lost = matches!(other, NextMessage::Lost(_));
                    if lost {
                        // The places of lost commits are not stored.
                        round.clear();
                    }
                    self.store(tables, receiver, round)?;
                    if !self.take_note(tables, hook, other)? {
                        return Ok(());
                    }
                    (looked_again, known) = (lost, None);
                    continue;
                }
            };
            // The webhook was changed meanwhile, and its message follows what it is now.
            if tables.versions(storage) != looked {
                continue;
            }
            looked_again = false;
            (count, last) = (count + 1, Instant::now());
            let attempt = self.attempt(hook, &message);
            if !self.take_outcome(tables, hook, (message, attempt), round)? {
                return Ok(());
            }
            if round.is_full() {
                self.store(tables, receiver, round)?;
            }
        }
        Ok(())
    }

    /// Sends what somebody ordered, and stores how it went.
    fn send_ordered(
        &self,
        tables: WebhookTables<'_>,
        (hook, ordered): (&WebhookRow, &OrderedDelivery),
        receiver: &HubReceiver,
        round: &mut DeliveryRound,
    ) -> Result<(), BootError> {
        let outcome = self.attempt(hook, &ordered.message);
        let delivery = tables.outcome(hook.id, Some(ordered.id), &ordered.message, &outcome);
        self.store(tables, receiver, round)?;
        commit(&*self.context.storage, vec![tables.set(hook.id, &outcome.last()), delivery])
    }

    /// Takes an attempt into the round; whether it was delivered.
    fn take_outcome(
        &self,
        tables: WebhookTables<'_>,
        hook: &WebhookRow,
        (message, attempt): (WebhookMessage, DeliveryAttempt),
        round: &mut DeliveryRound,
    ) -> Result<bool, BootError> {
        let history = self.context.registry().declaration.events.history;
        let failure = if attempt.error.is_empty() { HookValues::new() } else { self.failure(hook, &attempt) };
        let failed = !failure.is_empty();
        let again = if hook.attempts > 0 { tables.failed(&*self.context.storage, hook.id, &message.id)? } else { None };
        self.note(if failed { 0 } else { message.seq() });
        round.add(SentMessage { again, message, attempt }, failure, usize::try_from(history).unwrap_or(usize::MAX));
        Ok(!failed)
    }

    /// The webhook as it is now, and what somebody ordered; `None`: it is gone. They are read where something of them was written.
    fn look<'k>(
        &self,
        tables: WebhookTables<'_>,
        known: &'k mut Option<([u64; 2], Option<HookNow>)>,
    ) -> Result<Option<&'k mut HookNow>, BootError> {
        let storage = &*self.context.storage;
        // Looked at first, so that what is written meanwhile has it read again.
        let versions = tables.versions(storage);
        if known.as_ref().is_none_or(|(at, _)| *at != versions) {
            let hook = tables.find(storage, self.hook)?;
            let ordered = tables.ordered(storage, self.hook)?;
            *known = Some((versions, hook.map(|hook| HookNow { hook, ordered })));
        }
        Ok(known.as_mut().and_then(|(_, now)| now.as_mut()))
    }

    /// Waits a moment for more to send, until the outcomes are stored.
    fn gather(
        &self,
        tables: WebhookTables<'_>,
        receiver: &HubReceiver,
        round: &mut DeliveryRound,
    ) -> Result<(), BootError> {
        let stored = self.progress.lock().get(&self.hook).and_then(|state| state.stored);
        if stored.is_none_or(|at| at.elapsed() >= round.length()) {
            return self.store(tables, receiver, round);
        }
        thread::sleep(super::GATHER);
        Ok(())
    }

    /// Stores the outcomes of a round, unless another node sends or the database lacks what was sent: then it is sent again.
    fn store(
        &self,
        tables: WebhookTables<'_>,
        receiver: &HubReceiver,
        round: &mut DeliveryRound,
    ) -> Result<(), BootError> {
        if round.is_empty() {
            return Ok(());
        }
        let storage = &*self.context.storage;
        receiver.catch_up()?;
        if !storage.leads() || !receiver.is_whole() {
            // The numbers are not stored: other changes have them, or will have them.
            self.forget();
            round.clear();
            return Ok(());
        }
        let history = self.context.registry().declaration.events.history;
        commit(storage, round.changes((tables, storage), self.hook, history)?)?;
        round.clear();
        self.progress.lock().entry(self.hook).or_default().stored = Some(Instant::now());
        Ok(())
    }

    /// Takes note of what is no message; whether there may be another one.
    fn take_note(&self, tables: WebhookTables<'_>, hook: &WebhookRow, next: NextMessage) -> Result<bool, BootError> {
        let storage = &*self.context.storage;
        match &next {
            NextMessage::Cycle(message) => {
                commit(storage, self.stopped(tables, hook, message)?)?;
                self.progress.counts.note(hook.id, "stopped");
                self.note(message.seq());
            }
            NextMessage::Lost(_) => self.forget(),
            NextMessage::Nothing(at) => {
                if hook.is_pending() {
                    let values = [(col::STATE, txt("active")), (col::DUE, DbValue::Null)];
                    commit(storage, vec![tables.set(hook.id, &values)])?;
                }
                self.note(*at);
            }
            NextMessage::Later(moment) => {
                let values = [(col::STATE, txt("pending")), (col::DUE, DbValue::Int(*moment))];
                commit(storage, vec![tables.set(hook.id, &values)])?;
            }
            NextMessage::Message(_) => {}
        }
        Ok(matches!(next, NextMessage::Cycle(_) | NextMessage::Lost(_)))
    }

    /// Notes that there is nothing up to a number.
    fn note(&self, at: i64) {
        let mut states = self.progress.lock();
        let state = states.entry(self.hook).or_default();
        (state.at, state.not_before) = (state.at.max(at), 0);
    }

    /// The message that changes were missed, which are not in the feed any more. It is the same in every attempt.
    fn reset(&self, tables: WebhookTables<'_>, hook: &WebhookRow, newest: i64) -> WebhookMessage {
        tracing::warn!("the webhook {} missed changes, which are not in the change feed any more", hook.id);
        let event = event_of_webhook(newest, "reset", self.context.clock.now() * 1000, tables.item(hook), true);
        WebhookMessage { id: format!("msg_{}_reset_{}", hook.id, hook.position), events: vec![Arc::new(event)] }
    }

    /// Forgets what was known of the feed. Where a database took over that lacks the newest commits, the stored position is
    /// one of its own.
    fn forget(&self) {
        self.progress.lock().entry(self.hook).or_default().at = 0;
    }

    /// The next message after the place of the webhook.
    fn next(&self, hook: &WebhookRow, receiver: &mut HubReceiver) -> Result<NextMessage, BootError> {
        let known = self.progress.lock().get(&hook.id).map_or(0, |state| state.at);
        let mut at = hook.position.max(known);
        let format = format_of(self.context.registry(), hook);
        let each = format.is_some_and(|format| format.each);
        // A request without a body may be sent for several events, and one that is always the same for all that wait.
        let bare = !each && format.is_some_and(|format| format.body.is_none());
        let same = format.is_some_and(tells_nothing);
        let mut gathers = hook.debounce > 0 && !each;
        let depth = |event: &VisibleEvent| event.document["depth"].as_i64();
        let mut gathered: Vec<Arc<VisibleEvent>> = Vec::new();
        let mut first = None;
        loop {
            let from = at;
            receiver.catch_up_after(from)?;
            let (events, until) = match receiver.after(from, &hook.filter)? {
                NextEntries::Deleted(newest) | NextEntries::Lost(newest) => return Ok(NextMessage::Lost(newest)),
                NextEntries::Entries(events, until) => (events, until),
            };
            gathers |= bare && gathered.is_empty() && events.len() > BEHIND;
            for PossibleEvent { entry, .. } in events.iter().map(|event| &**event) {
                let Some(event) = self.told(hook, receiver, entry)? else { continue };
                if entry.depth + 1 >= self.context.registry().declaration.events.max_depth {
                    // The events that were gathered before it are sent first.
                    return Ok(match gathered.is_empty() {
                        true => NextMessage::Cycle(message(hook, vec![event])),
                        false => NextMessage::Message(message(hook, gathered)),
                    });
                }
                let moment = *first.get_or_insert(entry.at() / 1000);
                if hook.debounce > 0 && self.context.clock.now() < moment + hook.debounce {
                    return Ok(NextMessage::Later(moment + hook.debounce));
                }
                gathered.push(event);
                if gathers && same && gathered.len() > MOST_GATHERED {
                    // Of the first two, the one at the greater depth says how deep the message is.
                    gathered.remove(usize::from(depth(&gathered[0]) > depth(&gathered[1])));
                } else if !gathers || gathered.len() >= MOST_GATHERED && !same {
                    return Ok(NextMessage::Message(message(hook, gathered)));
                }
            }
            if until <= from {
                break;
            }
            at = until;
        }
        match gathered.is_empty() {
            true => Ok(NextMessage::Nothing(at)),
            false => Ok(NextMessage::Message(message(hook, gathered))),
        }
    }

    /// The event that the webhook is told of an entry. Webhooks with the same rights are told the same.
    fn told(
        &self,
        hook: &WebhookRow,
        receiver: &HubReceiver,
        entry: &FeedEntry,
    ) -> Result<Option<Arc<VisibleEvent>>, BootError> {
        let failed = |error: ApiError| BootError::Other(error.message().to_owned());
        let rights = &self.context.rights[usize::from(hook.private)];
        let told = match receiver.told(entry.seq, rights) {
            Some(told) => told,
            None => {
                let mut scope = self.context.engine.scope_of(Principal::default()).map_err(failed)?;
                if let Some(role) = self.context.registry().required_role().filter(|_| hook.private) {
                    scope.principal.capabilities = Arc::new(scope.settings.roles.capabilities(&[role.into()]));
                }
                let told = wait(tell(&self.context.engine, &scope, entry)).map_err(failed)?;
                let told = told.map(Arc::new);
                receiver.note(entry.seq, rights, told.clone());
                told
            }
        };
        Ok(told.filter(|event| hook.filter.chooses(event)))
    }

    /// The changes that note a message that is not sent, since so many webhooks led to it.
    fn stopped(
        &self,
        tables: WebhookTables<'_>,
        hook: &WebhookRow,
        message: &WebhookMessage,
    ) -> Result<Vec<Change>, BootError> {
        let error = format!(
            "Not sent: {} webhooks, one after the other, led to this change (webhook-depth). The receiver changes what it \
             is notified of: it must not react to its own changes.",
            message.depth() - 1
        );
        tracing::warn!("the webhook {}: {error}", hook.id);
        let values = [(col::POSITION, DbValue::Int(message.seq())), (col::ERROR, txt(&error))];
        let at = self.context.clock.now();
        let outcome = DeliveryAttempt { at, tried: false, body: String::new(), answer: None, error };
        let history = self.context.registry().declaration.events.history;
        let mut changes = vec![tables.set(hook.id, &values), tables.outcome(hook.id, None, message, &outcome)];
        changes.extend(tables.shortened(&*self.context.storage, hook.id, history.saturating_sub(1))?);
        Ok(changes)
    }

    /// Sends a message, and counts it.
    fn attempt(&self, hook: &WebhookRow, message: &WebhookMessage) -> DeliveryAttempt {
        let outcome = self.send(hook, message);
        self.progress.counts.note(hook.id, outcome.state());
        outcome
    }

    fn send(&self, hook: &WebhookRow, message: &WebhookMessage) -> DeliveryAttempt {
        let (context, at) = (self.context, self.context.clock.now());
        let failed = |error: String| DeliveryAttempt { at, tried: true, body: String::new(), answer: None, error };
        let Some(format) = format_of(context.registry(), hook) else {
            return failed(format!("There is no format `{}`.", hook.format));
        };
        let Ok(url) = Url::parse(&hook.url) else { return failed("The address is none.".into()) };
        let request = message.request(format, &hook.secrets(at), at);
        let body = without(&String::from_utf8_lossy(&request.body), &hook.secrets(at));
        let declared = &context.registry().declaration.events;
        let bounds = (declared.timeout.std(), declared.max_answer.bytes());
        match self.sender.send(&url, request, bounds) {
            Ok(mut answer) => {
                // A receiver may send back what it got.
                answer.text = without(&answer.text, &hook.secrets(at));
                let error = match answer.status {
                    moved if status::is_redirection(moved) => {
                        format!("The receiver answered {moved}: redirects are not followed.")
                    }
                    good if status::is_success(good) => String::new(),
                    other => format!("The receiver answered {other}."),
                };
                DeliveryAttempt { body, answer: Some(answer), ..failed(error) }
            }
            Err(error) => DeliveryAttempt { body, ..failed(reason(&error)) },
        }
    }

    /// The state of the webhook after an attempt that failed, with its next one.
    fn failure(&self, hook: &WebhookRow, attempt: &DeliveryAttempt) -> HookValues {
        let declared = &self.context.registry().declaration.events;
        let since = hook.failing_since.unwrap_or(attempt.at);
        let refused = attempt.answer.as_ref().is_some_and(|answer| answer.status == status::GONE);
        let state = match attempt.at.saturating_sub(since) >= declared.patience.seconds_signed() {
            _ if refused => "refused",
            true => "parked",
            false => "failing",
        };
        let doubled = declared.backoff.seconds_signed().max(1).saturating_mul(1 << hook.attempts.clamp(0, 20));
        let pause = doubled.min(LONGEST_PAUSE);
        // Receivers that failed together are not all tried again at the same moment.
        let jitter = rand::random_range(0..=pause / 4);
        vec![
            (col::STATE, txt(state)),
            (col::ERROR, txt(&attempt.error)),
            (col::ATTEMPTS, DbValue::Int(hook.attempts + 1)),
            (col::DUE, DbValue::Int(attempt.at.saturating_add(pause + jitter))),
            (col::FAILING, DbValue::Int(since)),
        ]
    }
}

/// The message with these events. Its id has a time, since numbers of commits that a failover lost are given again.
fn message(hook: &WebhookRow, events: Vec<Arc<VisibleEvent>>) -> WebhookMessage {
    let (first, last) = (events.first().map_or(0, |event| event.seq), events.last().map_or(0, |event| event.seq));
    let at = events.last().map_or(0, |event| event.at);
    let range = if first == last { last.to_string() } else { format!("{first}_{last}") };
    let events = events.iter().map(|event| event.document.clone()).collect();
    WebhookMessage { id: format!("msg_{}_{range}_{at}", hook.id), events }
}

/// A text as it is shown: without secrets, as they are and as JSON writes them.
fn without(text: &str, secrets: &[&str]) -> String {
    let secrets = secrets.iter().filter(|secret| !secret.is_empty());
    secrets.fold(text.to_owned(), |text, secret| {
        let written = Value::from(*secret).to_string();
        // Without its quotes.
        let written = &written[1..written.len() - 1];
        text.replace(secret, HIDDEN).replace(written, HIDDEN)
    })
}

fn reason(error: &FetchError) -> String {
    match error {
        FetchError::Address(why) => format!("Nothing is sent there: {why}."),
        FetchError::Nothing(why) => format!("There was no answer: {why}."),
        FetchError::Status(status) => format!("The receiver answered {status}."),
        FetchError::TooLarge => "The answer is too large.".to_owned(),
        FetchError::Busy => "There is no place for the request.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_receiver_sends_back_has_no_secrets() {
        let secrets = ["whsec_new", "a\"b\\c", ""];
        for (text, shown) in [
            ("Bearer whsec_new", "Bearer (secret)"),
            (r#"{"token": "a\"b\\c", "other": 1}"#, r#"{"token": "(secret)", "other": 1}"#),
            (r#"a"b\c"#, "(secret)"),
            ("ok", "ok"),
        ] {
            assert_eq!(without(text, &secrets), shown, "{text}");
        }
    }
}
