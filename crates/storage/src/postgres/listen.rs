//! Hearing of what other nodes commit.
//!
//! A node that commits notifies the others. The notification only wakes them: the change feed tells what was written.
//! Where notifications get lost (behind a pooler that lends connections for a transaction), a node looks at the number of
//! commits more often. While it does not listen, it looks before every request: see
//! [`Storage::has_commit_listener`](super::super::Storage::has_commit_listener).
//!
//! Once the node serves, the session is named after its facts (see [`nodes`](super::super::nodes)).
//!
//! The connection also holds the lock of the node that leads ([`Database::leads`](super::super::Database::leads)). The
//! server releases it with the connection, and ends one that says nothing for three seconds.

use super::super::feed::{self, FeedUpdate};
use super::super::nodes::NodeFacts;
use super::super::plan::Row;
use super::connect::{Address, Messages};
use super::neighbours;
use super::shared::PgShared;
use super::text::for_server;
use super::values::Cell;
use super::writer::CHANNEL;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Error, Statement};

/// How long to wait for a notification before the number of commits is looked at.
const POLL: Duration = Duration::from_millis(250);

/// The same where a commit was found of which no notification had told.
const POLL_ALONE: Duration = Duration::from_millis(50);

/// Between two attempts to listen.
const PAUSE: Duration = Duration::from_millis(500);

/// Between two attempts to lead.
const ATTEMPT: Duration = Duration::from_secs(1);

/// Without an answer in this time the connection counts as lost.
const ANSWER: Duration = Duration::from_millis(500);

/// Between two looks at which nodes there are.
const LOOK: Duration = Duration::from_secs(5);

/// The time for a new connection.
const CONNECT: Duration = Duration::from_millis(1500);

/// Listens until the database is closed.
pub async fn follow(shared: Weak<PgShared>, address: Arc<Address>) {
    let mut warned = false;
    while shared.strong_count() > 0 {
        let lost = match timeout(CONNECT, Listener::connect(&address)).await {
            Ok(Ok(mut listener)) => {
                warned = false;
                listener.attend(&shared).await;
                None
            }
            Ok(Err(error)) => Some(super::driver::with_causes(&error)),
            Err(_) => Some("no answer in time".to_owned()),
        };
        if let Some(open) = shared.upgrade() {
            open.attends(false, false);
        }
        if let Some(cause) = lost
            && !std::mem::replace(&mut warned, true)
        {
            tracing::warn!("every request asks the database for news: no connection to listen on ({cause})");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// A connection that listens.
struct Listener {
    client: Client,
    messages: Messages,
    commits: Statement,
    /// See [`FeedUpdate::statements`].
    news: Vec<Statement>,
    lead: Statement,
    nodes: Statement,
    /// The facts that the session is named after, and when those of other nodes were read.
    shown: Option<(Arc<NodeFacts>, Instant)>,
}

const LISTEN: &str = "SET idle_session_timeout = '3s'; LISTEN cms_server_commits";
const LEAD: &str = "SELECT pg_try_advisory_lock(hashtextextended('cms-server leader ' || current_schema(), 0))";

/// The outcome of waiting.
enum WaitOutcome<T> {
    Done(T),
    /// A notification of another node's commit came meanwhile.
    Due(T),
    /// The connection has ended, or nothing came in time.
    Lost,
}

impl Listener {
    async fn connect(address: &Address) -> Result<Listener, Error> {
        let (client, mut messages) = address.listen().await?;
        let prepared = async {
            client.batch_execute(LISTEN).await?;
            let commits = client.prepare(&for_server(feed::COMMITS_AND_ENTRY)).await?;
            let mut news = Vec::new();
            for (text, _) in FeedUpdate::statements(feed::FeedPosition::default()) {
                news.push(client.prepare(&for_server(text)).await?);
            }
            Ok((commits, news, client.prepare(LEAD).await?, client.prepare(neighbours::NODES).await?))
        };
        let prepared = {
            let mut prepared = pin!(prepared);
            // The connection goes on only while its messages are taken.
            loop {
                tokio::select! {
                    done = &mut prepared => break done,
                    message = messages.next() => if message.is_none() { break prepared.await },
                }
            }
        };
        let (commits, news, lead, nodes) = prepared?;
        Ok(Listener { client, messages, commits, news, lead, nodes, shown: None })
    }

    /// Shows the other nodes what this one has announced, and looks at theirs, from time to time. Whether there is
    /// something due; `None` where the connection has ended.
    async fn meet(&mut self, shared: &PgShared) -> Option<bool> {
        let Some(announced) = shared.neighbours.announced() else { return Some(false) };
        let Listener { client, messages, nodes, shown, .. } = self;
        // The clock that is shown is measured, not announced.
        let same = |shown: &NodeFacts| NodeFacts { clock: announced.clock, ..shown.clone() } == *announced;
        if shown.as_ref().is_some_and(|(shown, at)| at.elapsed() < LOOK && same(shown)) {
            return Some(false);
        }
        let before = shown.as_ref().map(|(shown, _)| shown.clone());
        let (facts, due) = match during(look(shared, client, nodes, &announced, before), messages, shared).await {
            WaitOutcome::Done(Ok(facts)) => (facts, false),
            WaitOutcome::Due(Ok(facts)) => (facts, true),
            WaitOutcome::Done(Err(_)) | WaitOutcome::Due(Err(_)) | WaitOutcome::Lost => return None,
        };
        *shown = Some((facts, Instant::now()));
        Some(due)
    }

    /// Takes up what others have committed, now and with every notification, until the connection ends.
    async fn attend(&mut self, shared: &Weak<PgShared>) {
        let (mut due, mut told, mut poll) = (true, true, POLL);
        let (mut leads, mut attempted) = (false, None::<Instant>);
        loop {
            let Some(open) = shared.upgrade() else { return };
            if !leads && attempted.is_none_or(|at| at.elapsed() > ATTEMPT) {
                attempted = Some(Instant::now());
                let Listener { client, messages, lead, .. } = self;
                let (WaitOutcome::Done(Ok(row)) | WaitOutcome::Due(Ok(row))) =
                    during(client.query_one(lead, &[]), messages, &open).await
                else {
                    return;
                };
                (due, leads) = (true, row.get(0));
            }
            match self.meet(&open).await {
                Some(heard) => (due, told) = (due || heard, told || heard),
                None => return,
            }
            if std::mem::take(&mut due) {
                let Listener { client, messages, commits, news, .. } = self;
                let found = match during(catch_up(&open, client, commits, news), messages, &open).await {
                    WaitOutcome::Done(Ok(found)) => found,
                    WaitOutcome::Due(Ok(found)) => {
                        (due, told) = (true, true);
                        found
                    }
                    WaitOutcome::Done(Err(_)) | WaitOutcome::Due(Err(_)) | WaitOutcome::Lost => return,
                };
                open.attends(true, leads);
                poll = match (found, told) {
                    (true, false) => POLL_ALONE,
                    (true, true) => POLL,
                    (false, _) => poll,
                };
                continue;
            }
            drop(open);
            match timeout(poll, self.messages.next()).await {
                Ok(Some(message)) => {
                    let Some(open) = shared.upgrade() else { return };
                    (due, told) = (concerns(&open, &message), true);
                }
                Ok(None) => return,
                Err(_) => (due, told) = (true, false),
            }
        }
    }
}

/// Waits for something on a connection, and takes its messages meanwhile.
async fn during<T>(waited: impl Future<Output = T>, messages: &mut Messages, shared: &PgShared) -> WaitOutcome<T> {
    let mut waited = pin!(timeout(ANSWER, waited));
    let mut due = false;
    loop {
        tokio::select! {
            done = &mut waited => return match done {
                Ok(done) if due => WaitOutcome::Due(done),
                Ok(done) => WaitOutcome::Done(done),
                Err(_) => WaitOutcome::Lost,
            },
            message = messages.next() => match message {
                Some(message) => due |= concerns(shared, &message),
                None => return WaitOutcome::Lost,
            },
        }
    }
}

/// Whether a message tells of another node's commit to this site.
fn concerns(shared: &PgShared, message: &AsyncMessage) -> bool {
    let AsyncMessage::Notification(notification) = message else { return false };
    let Some((schema, node)) = notification.payload().rsplit_once(' ') else { return false };
    notification.channel() == CHANNEL && *schema == *shared.schema && *node != *shared.node
}

/// Whether there was something new.
async fn catch_up(shared: &PgShared, client: &Client, commits: &Statement, news: &[Statement]) -> Result<bool, Error> {
    let known = shared.versions.known();
    let commits = client.query(commits, &[&known.mark.seq]).await?;
    let commits = commits.first().map(cells).transpose()?;
    if !known.is_behind(commits.as_ref(), shared.common.node) {
        return Ok(false);
    }
    let mut found = Vec::new();
    for (statement, (_, values)) in news.iter().zip(FeedUpdate::statements(known)) {
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|n| n as _).collect();
        found.push(client.query(statement, &values).await?.iter().map(cells).collect::<Result<_, _>>()?);
    }
    shared.take_up(&FeedUpdate::of(known, found));
    Ok(true)
}

/// Names the session after this node's facts, and takes notice of the others; what is shown.
async fn look(
    shared: &PgShared,
    client: &Client,
    nodes: &Statement,
    announced: &NodeFacts,
    before: Option<Arc<NodeFacts>>,
) -> Result<Arc<NodeFacts>, Error> {
    let rows = client.query(nodes, &[]).await?.iter().map(cells).collect::<Result<Vec<_>, _>>()?;
    let found = neighbours::nodes(&rows, &shared.schema);
    let facts = NodeFacts { clock: found.clock, ..announced.clone() };
    shared.neighbours.take(&facts, &found);
    if let Some(before) = before.filter(|before| **before == facts) {
        return Ok(before);
    }
    // It has letters, digits, spaces and a few signs, no quotes.
    client.batch_execute(&format!("SET application_name = '{}'", facts.session(&shared.schema))).await?;
    Ok(Arc::new(facts))
}

fn cells(row: &tokio_postgres::Row) -> Result<Row, Error> {
    (0..row.len()).map(|at| row.try_get::<_, Cell>(at).map(|cell| cell.0)).collect()
}
