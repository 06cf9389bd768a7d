//! Hearing of what other nodes commit.
//!
//! A node that commits notifies the others. The notification only wakes them: the numbers in the table of versions tell
//! what was written. Where notifications get lost (behind a pooler that lends connections for a transaction), it looks
//! there now and then. While a node does not listen it may have missed something, so that what its caches hold is not used
//! before the connection was lost, nor after it is back.

use super::super::dependencies::VersionSlot;
use super::super::versions::COMMITS;
use super::super::words::Words;
use super::Shared;
use super::connect::{Address, Messages};
use super::writer::CHANNEL;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::timeout;
use tokio_postgres::{AsyncMessage, Client, Error};

/// How long to wait for a notification before the table is looked at.
const POLL: Duration = Duration::from_millis(250);

/// Between two attempts to listen.
const PAUSE: Duration = Duration::from_millis(500);
/// Without an answer in this time the connection counts as lost.
const ANSWER: Duration = Duration::from_millis(1500);

/// Listens until the database is closed.
pub async fn follow(shared: Weak<Shared>, address: Arc<Address>) {
    let mut warned = false;
    loop {
        let Some(open) = shared.upgrade() else { return };
        let lost = match timeout(ANSWER, listening(&address)).await {
            Ok(Ok((client, messages))) => {
                warned = false;
                drop(open);
                attend(&shared, &client, messages).await;
                None
            }
            Ok(Err(error)) => {
                drop(open);
                Some(super::wire::with_causes(&error))
            }
            Err(_) => {
                drop(open);
                Some("no answer in time".to_owned())
            }
        };
        // Nothing was heard until now, so that what was cached meanwhile may be old.
        if let Some(open) = shared.upgrade() {
            open.versions.raise_to(&[], [&VersionSlot::OTHERS]);
        }
        if let Some(cause) = lost
            && !std::mem::replace(&mut warned, true)
        {
            tracing::warn!("what other nodes write is noticed late: no connection to listen on ({cause})");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn listening(address: &Address) -> Result<(Client, Messages), Error> {
    let (client, mut messages) = address.listen().await?;
    {
        // The connection goes on only while its messages are taken.
        let listen = client.batch_execute("LISTEN cms_server_commits");
        tokio::pin!(listen);
        loop {
            tokio::select! {
                done = &mut listen => break done?,
                message = messages.next() => if message.is_none() { break },
            }
        }
    }
    Ok((client, messages))
}

/// Takes up what others have committed, now and with every notification, until the connection ends.
async fn attend(shared: &Weak<Shared>, client: &Client, mut messages: Messages) {
    let mut due = true;
    loop {
        if std::mem::take(&mut due) {
            let Some(open) = shared.upgrade() else { return };
            let caught_up = timeout(ANSWER, catch_up(&open, client));
            tokio::pin!(caught_up);
            loop {
                tokio::select! {
                    done = &mut caught_up => match done {
                        Ok(Ok(())) => break,
                        Ok(Err(_)) | Err(_) => return,
                    },
                    message = messages.next() => match message {
                        Some(message) => due |= concerns(&open, &message),
                        None => return,
                    },
                }
            }
            continue;
        }
        match timeout(POLL, messages.next()).await {
            Ok(Some(message)) => {
                let Some(open) = shared.upgrade() else { return };
                due = concerns(&open, &message);
            }
            Ok(None) => return,
            Err(_) => due = true,
        }
    }
}

/// Whether a message tells of another node's commit to this site.
fn concerns(shared: &Shared, message: &AsyncMessage) -> bool {
    let AsyncMessage::Notification(notification) = message else { return false };
    let Some((schema, node)) = notification.payload().rsplit_once(' ') else { return false };
    notification.channel() == CHANNEL && *schema == *shared.schema && *node != *shared.node
}

async fn catch_up(shared: &Shared, client: &Client) -> Result<(), Error> {
    let commits = client.query("SELECT n FROM version WHERE scope = 'commits'", &[]).await?;
    let there: i64 = commits.first().map_or(Ok(0), |row| row.try_get(0))?;
    if there as u64 <= shared.versions.commits() {
        return Ok(());
    }
    let mut words = Words::default();
    for row in client.query("SELECT number, word FROM dictionary", &[]).await? {
        words.insert(row.try_get(0)?, row.try_get::<_, String>(1)?.into());
    }
    shared.learn(&words);
    let mut numbers = Vec::new();
    for row in client.query("SELECT scope, n FROM version", &[]).await? {
        numbers.push((row.try_get::<_, String>(0)?.into(), row.try_get::<_, i64>(1)? as u64));
    }
    let there = numbers.iter().find(|(scope, _): &&(super::super::plan::Name, u64)| **scope == *COMMITS);
    if let Some((_, there)) = there.cloned()
        && there > shared.versions.commits()
    {
        shared.meet(there, &numbers);
    }
    Ok(())
}
