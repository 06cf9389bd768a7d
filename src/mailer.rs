//! Sends what waits in the outbox: a thread that is woken by writes, and tries again what failed.
//!
//! A message waits in the database, so that it survives a restart and a mail server that is down, and no request waits for
//! one. Before an attempt its row is claimed, so that of several processes over one database (a command beside the server)
//! one sends it. Text and token are made for each attempt: what is stored opens nothing. A process that ends between the
//! mail server's response and the removal of the row sends twice, never not at all.

use crate::boot::{BootError, Services};
use arc_swap::ArcSwap;
use cms_base::clock::Clock;
use cms_base::metrics::{Counter, Reading};
use cms_base::pool::wait;
use cms_core::access::attempts::AttemptLimit;
use cms_core::access::identity::Identity;
use cms_core::access::links;
use cms_core::access::outbox::{self, Message, MessageSubject};
use cms_core::access::passwords::takes_password;
use cms_core::mail::{MailContent, SendError, Sender, render};
use cms_core::records::{self, Record, columns, eq, ordered, txt};
use cms_core::registry::columns::{outbox as col, user};
use cms_core::registry::{Registry, name};
use cms_core::scope::read_settings;
use cms_storage::plan::{Change, CommitError, Cond, DbValue, Input, Op, Put, ReadPlan, Target, WritePlan};
use cms_storage::{Database, typed_row};
use cms_text::dates;
use cms_text::sanitize::unescape;
use cms_text::slug::title_key;
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;
use url::Url;

/// Messages that are read at once.
const AT_ONCE: u64 = 20;

/// Longest sleep, in seconds: another process may have stored a message.
const POLL: i64 = 30;

/// Longest wait between two attempts, in seconds.
const LONGEST_WAIT: i64 = 3600;

/// A request for a link that is older than this sends none: nobody waits for it any more. In seconds.
const STALE: i64 = 24 * 3600;

/// Steps of a conversation with a mail server, each of which may take `mail.timeout`: after that another process may take
/// the message over.
const STEPS: i64 = 12;
const SHORTEST_LEASE: i64 = 60;

/// The outcome of an attempt; a reason is for the log and names nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    Sent,
    /// There is nothing to send.
    Dropped(&'static str),
    /// It is tried again.
    Retried(String),
    /// It is not tried again.
    Failed(String),
}

typed_row! {
    col::TABLE;
    /// A row of the outbox.
    struct OutboxRow {
        id: i64,
        kind: Arc<str>,
        user: i64,
        address: Arc<str>,
        data: Arc<str>,
        created: i64,
        due: i64,
        /// Attempts before this one.
        attempts: i64,
    }
}

impl OutboxRow {
    fn subject(&self) -> Option<MessageSubject> {
        MessageSubject::parse(&self.kind)
    }

    fn data(&self) -> Map<String, Value> {
        serde_json::from_str(&self.data).unwrap_or_default()
    }
}

/// A message that is ready.
struct OutgoingMail {
    to: String,
    letter: MailContent,
    /// The token of the link in it.
    token: Option<String>,
}

/// Everything that messages are sent with.
pub struct MailContext {
    registry: Arc<Registry>,
    storage: Arc<dyn Database>,
    identity: Arc<Identity>,
    clock: Arc<dyn Clock>,
    /// `None`: e-mail is off, and what waits stays.
    sender: Option<Sender>,
}

impl MailContext {
    /// The context that the declarations describe.
    ///
    /// # Errors
    /// A file that `[mail]` names cannot be read.
    pub fn new(registry: Arc<Registry>, services: &Services) -> Result<MailContext, BootError> {
        let sender = sender(&registry)?;
        let (storage, identity, clock) = (services.storage.clone(), services.identity.clone(), services.clock.clone());
        Ok(MailContext { registry, storage, identity, clock, sender })
    }

    /// Sends what is due; when the next message is.
    fn carry_out(&self, stop: &AtomicBool, progress: &MailCounts) -> Result<Option<i64>, BootError> {
        let Some(sender) = &self.sender else { return Ok(None) };
        loop {
            let due = Cond::Compare(name(col::DUE), Op::Le, DbValue::Int(self.clock.now()));
            let rows = self.rows(due, AT_ONCE)?;
            if rows.is_empty() {
                break;
            }
            for waiting in &rows {
                if stop.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                if self.claimed(waiting)? {
                    progress.note(waiting, &self.attempt(sender, waiting)?);
                }
            }
        }
        Ok(self.rows(records::always(), 1)?.first().map(|waiting| waiting.due))
    }

    /// Stores a message and tries to send it at once; what fails stays for the server.
    ///
    /// # Errors
    /// The database cannot be read or written; e-mail is off.
    pub fn send_now(&self, message: &Message<'_>) -> Result<DeliveryOutcome, BootError> {
        let sender = self.sender.as_ref().ok_or_else(off)?;
        // The server beside leaves it alone meanwhile.
        let stored = outbox::stored(message, self.clock.now(), self.lease());
        let done = self.commit(vec![stored]).map_err(BootError::Commit)?;
        let rows = self.rows(eq("id", done.puts.first().map_or(DbValue::Null, |put| put.key.clone())), 1)?;
        let row = rows.first().ok_or_else(|| BootError::Other("the message is gone".into()))?;
        self.attempt(sender, row)
    }

    /// Sends a message that says that messages can be sent. It does not wait in the outbox.
    ///
    /// # Errors
    /// E-mail is off; the message was not sent.
    pub fn test(&self, address: &str) -> Result<(), BootError> {
        let sender = self.sender.as_ref().ok_or_else(off)?;
        let letter = render("test", Value::Object(self.common()?)).map_err(BootError::Other)?;
        sender.send(address, &letter).map_err(|error| BootError::Other(format!("nothing was sent: {}", error.why)))
    }

    /// Tries to send a message that is claimed.
    fn attempt(&self, sender: &Sender, waiting: &OutboxRow) -> Result<DeliveryOutcome, BootError> {
        let now = self.clock.now();
        let composed = match self.composed(waiting, now)?.and_then(|composed| self.counted(waiting, composed, now)) {
            Ok(composed) => composed,
            Err(why) => {
                self.commit(vec![removed(waiting.id)]).map_err(BootError::Commit)?;
                return Ok(DeliveryOutcome::Dropped(why));
            }
        };
        let error = match sender.send(&composed.to, &composed.letter) {
            Ok(()) => {
                self.commit(vec![removed(waiting.id)]).map_err(BootError::Commit)?;
                return Ok(DeliveryOutcome::Sent);
            }
            Err(error) => error,
        };
        let (outcome, change) = self.after(waiting, error, now);
        let mut changes = vec![change];
        // The next attempt gets a token of its own.
        changes.extend(composed.token.map(|token| self.identity.plan_token_deletion(&token)));
        self.commit(changes).map_err(BootError::Commit)?;
        Ok(outcome)
    }

    /// The next step for a message that was not sent.
    fn after(&self, waiting: &OutboxRow, error: SendError, now: i64) -> (DeliveryOutcome, Change) {
        let declared = &self.registry.declaration.mail;
        let attempts = waiting.attempts + 1;
        if error.permanent || attempts >= i64::from(declared.attempts) {
            return (DeliveryOutcome::Failed(error.why), removed(waiting.id));
        }
        let doubled = declared.backoff.seconds_signed().saturating_mul(1 << (attempts - 1).clamp(0, 32));
        let due = now.saturating_add(doubled.min(LONGEST_WAIT));
        let set = vec![(name(col::DUE), Input::Value(DbValue::Int(due)))];
        (DeliveryOutcome::Retried(error.why), changed(waiting.id, set))
    }

    /// Takes a message for this process, unless another one has it.
    fn claimed(&self, waiting: &OutboxRow) -> Result<bool, BootError> {
        let due = Cond::All(vec![eq("id", DbValue::Int(waiting.id)), eq(col::DUE, DbValue::Int(waiting.due))]);
        let free = Change::Require { plan: columns(col::TABLE, &["id"], due), found: true, tag: "claimed" };
        let set =
            vec![(name(col::DUE), Input::Value(DbValue::Int(self.lease()))), (name(col::ATTEMPTS), Input::Add(1))];
        match self.commit(vec![free, changed(waiting.id, set)]) {
            Ok(_) => Ok(true),
            Err(CommitError::Refused { .. } | CommitError::Stale) => Ok(false),
            Err(error) => Err(BootError::Commit(error)),
        }
    }

    /// Until when a message is this process's own.
    fn lease(&self) -> i64 {
        let steps = self.registry.declaration.mail.timeout.seconds_signed().saturating_mul(STEPS);
        self.clock.now().saturating_add(steps.max(SHORTEST_LEASE))
    }

    /// The message, or why there is none. A link in it is valid from now on.
    fn composed(&self, waiting: &OutboxRow, now: i64) -> Result<Result<OutgoingMail, &'static str>, BootError> {
        let Some(subject) = waiting.subject() else { return Ok(Err("its kind is unknown")) };
        let mut data = self.common()?;
        if subject == MessageSubject::Confirmation {
            return self.confirmation(waiting, data, now);
        }
        if !matches!(subject, MessageSubject::Reset | MessageSubject::Invitation) {
            data.extend(waiting.data());
            let letter = render(subject.as_str(), Value::Object(self.dated(data)?)).map_err(BootError::Other)?;
            return Ok(Ok(OutgoingMail { to: waiting.address.to_string(), letter, token: None }));
        }
        if subject == MessageSubject::Reset && now - waiting.created > STALE {
            return Ok(Err("the request is too old"));
        }
        let Some(users) = self.registry.users() else { return Ok(Err("there are no accounts")) };
        let snapshot = self.storage.snapshot()?;
        let named = match waiting.data().get("login").and_then(Value::as_str) {
            Some(login) => {
                let key = txt(&title_key(login));
                Cond::Any(vec![eq(user::LOGIN_KEY, key.clone()), eq(user::EMAIL_KEY, key)])
            }
            None => eq("id", DbValue::Int(waiting.user)),
        };
        let found = snapshot.rows(&ReadPlan { limit: Some(1), ..records::plan(users, named) })?;
        let Some(row) = found.first() else { return Ok(Err("there is no such account")) };
        let account = Record { resource: users, row };
        let roles = read_settings(&self.registry, &*self.storage)?.roles;
        if !takes_password(&self.registry, &roles, account) {
            return Ok(Err("the account does not log in with a password (roles.NAME.password_login)"));
        }
        let to = outbox::notification_address(account);
        if to.is_empty() {
            return Ok(Err("the account has no e-mail address that its owner has confirmed"));
        }
        let declared = &self.registry.declaration.mail;
        if links::count(&*snapshot, account.id(), now)? >= declared.max_links {
            return Ok(Err("the account has as many valid links as it may (mail.max_links)"));
        }
        drop(snapshot);
        let lifetime =
            if subject == MessageSubject::Reset { declared.reset_lifetime } else { declared.invitation_lifetime };
        let (token, stored) = self.identity.new_link(account, now.saturating_add(lifetime.seconds_signed()));
        self.commit(vec![links::expired(now), stored]).map_err(BootError::Commit)?;
        data.insert("login".into(), json!(account.text(user::LOGIN)));
        data.insert("link".into(), json!(self.reset_link(&token)));
        data.insert("lifetime".into(), json!(in_words(lifetime.seconds())));
        let letter = render(subject.as_str(), Value::Object(data)).map_err(BootError::Other)?;
        Ok(Ok(OutgoingMail { to: to.to_owned(), letter, token: Some(token) }))
    }

    /// The message by which the owner of an address confirms it, if the account still has it.
    fn confirmation(
        &self,
        waiting: &OutboxRow,
        mut data: Map<String, Value>,
        now: i64,
    ) -> Result<Result<OutgoingMail, &'static str>, BootError> {
        let Some(users) = self.registry.users() else { return Ok(Err("there are no accounts")) };
        let row = records::find(&*self.storage.snapshot()?, users, &DbValue::Int(waiting.user))?;
        let Some(row) = row else { return Ok(Err("there is no such account")) };
        let account = Record { resource: users, row: &row };
        if account.int(user::EMAIL_PENDING) == 0 || account.text(user::EMAIL) != &*waiting.address {
            return Ok(Err("the address is confirmed, or the account has another one"));
        }
        let lifetime = self.registry.declaration.mail.confirmation_lifetime;
        let token = self.identity.confirmation(account, now.saturating_add(lifetime.seconds_signed()));
        data.extend(waiting.data());
        data.insert("link".into(), json!(self.reset_link(&token)));
        data.insert("lifetime".into(), json!(in_words(lifetime.seconds())));
        let letter = render(MessageSubject::Confirmation.as_str(), Value::Object(data)).map_err(BootError::Other)?;
        Ok(Ok(OutgoingMail { to: waiting.address.to_string(), letter, token: None }))
    }

    /// A message, unless its address has got as many as it may. One that is tried again was counted before.
    fn counted(&self, waiting: &OutboxRow, composed: OutgoingMail, now: i64) -> Result<OutgoingMail, &'static str> {
        let declared = &self.registry.declaration.mail;
        let limit = AttemptLimit::paused(declared.max_messages, declared.retry_after);
        match waiting.attempts > 0 || self.identity.try_count_message(&title_key(&composed.to), limit, now) {
            true => Ok(composed),
            false => Err("the address has got as many messages as it may (mail.max_messages)"),
        }
    }

    /// The address of the page that a link in a message leads to.
    fn reset_link(&self, token: &str) -> String {
        let page = self.page(&self.registry.declaration.pages.reset);
        let mark = if page.contains('?') { '&' } else { '?' };
        format!("{page}{mark}token={token}")
    }

    /// Values for every message. Addresses begin with that of the site, whatever requests were sent to.
    fn common(&self) -> Result<Map<String, Value>, BootError> {
        let settings = read_settings(&self.registry, &*self.storage)?;
        let (url, pages) = (&self.registry.site.url, &self.registry.declaration.pages);
        let title = unescape(settings.text("title"));
        let mut data = Map::new();
        data.insert("site".into(), json!(if title.trim().is_empty() { url.clone() } else { title }));
        data.insert("url".into(), json!(url));
        if pages.enabled {
            data.insert("lost".into(), json!(self.page(&pages.lost)));
            data.insert("profile".into(), json!(self.page(&pages.profile)));
        }
        Ok(data)
    }

    /// The time of the event, as people read it.
    fn dated(&self, mut data: Map<String, Value>) -> Result<Map<String, Value>, BootError> {
        let settings = read_settings(&self.registry, &*self.storage)?;
        let at = settings.zone.utc_to_local(data.get("at").and_then(Value::as_i64).unwrap_or_default());
        data.insert("when".into(), json!(dates::format_for_language(at, settings.locale())));
        Ok(data)
    }

    fn page(&self, path: &str) -> String {
        format!("{}{path}", self.registry.site.url)
    }

    fn rows(&self, filter: Cond, most: u64) -> Result<Vec<OutboxRow>, BootError> {
        let plan = ordered(records::select::<OutboxRow>(filter), col::DUE, false);
        Ok(self.storage.snapshot()?.rows_as(&ReadPlan { limit: Some(most), ..plan })?)
    }

    fn commit(&self, changes: Vec<Change>) -> Result<cms_storage::plan::Committed, CommitError> {
        wait(self.storage.commit(WritePlan::new(changes)))
    }
}

/// The sender of messages, as `[mail]` declares it; `None` when it is off.
///
/// # Errors
/// A file that it names cannot be read.
pub fn sender(registry: &Registry) -> Result<Option<Sender>, BootError> {
    let host = Url::parse(&registry.site.url).ok().and_then(|url| url.host_str().map(str::to_owned));
    Sender::new(&registry.declaration.mail, &host.unwrap_or_default()).map_err(BootError::Other)
}

fn off() -> BootError {
    BootError::Other("the server sends no e-mail: mail.url is not set".into())
}

fn changed(id: i64, set: Vec<(cms_storage::plan::Name, Input)>) -> Change {
    Change::Put(Put::new(col::TABLE, Target::Existing { key: DbValue::Int(id), expect: None }, set))
}

fn removed(id: i64) -> Change {
    Change::Remove { table: name(col::TABLE), key: DbValue::Int(id), expect: None }
}

/// A span of time in the largest unit that leaves a whole number.
fn in_words(seconds: u64) -> String {
    let units = [(86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second")];
    let (one, unit) =
        units.into_iter().find(|(one, _)| seconds > 0 && seconds.is_multiple_of(*one)).unwrap_or((1, "second"));
    let number = seconds / one;
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

// ------------------------------------------------------------------------------------------------ on time

/// How many messages there were, by what became of them.
#[derive(Debug, Default)]
pub struct MailCounts {
    sent: Counter,
    retried: Counter,
    failed: Counter,
    dropped: Counter,
}

impl MailCounts {
    fn note(&self, waiting: &OutboxRow, outcome: &DeliveryOutcome) {
        let what = format!("message {} ({})", waiting.id, waiting.subject().map_or("unknown", MessageSubject::as_str));
        match outcome {
            DeliveryOutcome::Sent => {
                self.sent.inc();
                tracing::info!("{what} was sent");
            }
            DeliveryOutcome::Dropped(why) => {
                self.dropped.inc();
                tracing::info!("{what} is dropped: {why}");
            }
            DeliveryOutcome::Retried(why) => {
                self.retried.inc();
                tracing::warn!("{what} was not sent and is tried again: {why}");
            }
            DeliveryOutcome::Failed(why) => {
                self.failed.inc();
                tracing::error!("{what} was not sent: {why}");
            }
        }
    }

    /// Attempts that failed and are repeated, and messages that were sent.
    pub fn numbers(&self) -> [u64; 2] {
        [self.retried.get(), self.sent.get()]
    }

    /// The readings of it on `/metrics`.
    pub fn readings(&self) -> [Reading; 4] {
        let count = |outcome: &str, counter: &Counter| Reading::count("cms_server_mails", &[outcome], counter.get());
        [
            count("sent", &self.sent),
            count("retried", &self.retried),
            count("failed", &self.failed),
            count("dropped", &self.dropped),
        ]
    }
}

/// Sends what is due until the process ends.
pub struct Mailer {
    post: Arc<ArcSwap<MailContext>>,
    progress: Arc<MailCounts>,
    thread: Thread,
    stop: Arc<AtomicBool>,
    ended: Mutex<Receiver<()>>,
}

impl Mailer {
    /// Starts the thread.
    ///
    /// # Errors
    /// No thread.
    pub fn start(post: MailContext) -> Result<Mailer, BootError> {
        let progress = Arc::new(MailCounts::default());
        let stop = Arc::new(AtomicBool::new(false));
        let post = Arc::new(ArcSwap::from_pointee(post));
        let (end, ended) = channel();
        let (posts, reached, stopped) = (post.clone(), progress.clone(), stop.clone());
        let work = move || {
            work(&posts, &stopped, &reached);
            let _ = end.send(());
        };
        let handle = thread::Builder::new().name("mail".into()).spawn(work);
        let handle = handle.map_err(|e| BootError::Other(format!("no thread for e-mail: {e}")))?;
        let thread = handle.thread().clone();
        post.load().storage.wake(thread.clone());
        Ok(Mailer { post, progress, thread, stop, ended: Mutex::new(ended) })
    }

    /// How far it has come.
    pub fn progress(&self) -> &Arc<MailCounts> {
        &self.progress
    }

    /// Continues with other declarations.
    pub fn take(&self, post: MailContext) {
        post.storage.wake(self.thread.clone());
        self.post.store(Arc::new(post));
        self.thread.unpark();
    }

    /// Ends the thread after the message that it sends now; what waits stays in the outbox.
    pub fn finish(&self, patience: Duration) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.unpark();
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.recv_timeout(patience).is_err() {
            tracing::warn!(
                "a message is still on its way; if the mail server does not take it, the next start sends it again"
            );
        }
    }
}

fn work(posts: &ArcSwap<MailContext>, stop: &AtomicBool, progress: &MailCounts) {
    while !stop.load(Ordering::Relaxed) {
        let post = posts.load_full();
        // Read first, so that what is written meanwhile requires another round.
        let written = post.storage.scope_version(&name(col::TABLE));
        let next = post.carry_out(stop, progress).unwrap_or_else(|error| {
            tracing::warn!("the outbox has to wait: {error}");
            None
        });
        let now = post.clock.now();
        let next = next.unwrap_or(i64::MAX).clamp(now + 1, now + POLL);
        let next = post.sender.is_some().then_some(next);
        let same = || Arc::ptr_eq(&post, &posts.load()) && post.storage.scope_version(&name(col::TABLE)) == written;
        while same() && !stop.load(Ordering::Relaxed) && next.is_none_or(|next| next > post.clock.now()) {
            post.clock.park_until(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_time_are_words() {
        for (seconds, words) in [
            (0, "0 seconds"),
            (1, "1 second"),
            (90, "90 seconds"),
            (1800, "30 minutes"),
            (3600, "1 hour"),
            (259_200, "3 days"),
        ] {
            assert_eq!(in_words(seconds), words);
        }
    }
}
