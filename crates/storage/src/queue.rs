//! The queue of the one writer, and its thread.

use super::common::Common;
use super::connection::Connection;
use super::plan::{CommitError, WritePlan};
use super::transaction::OpenTransaction;
use super::writer::{self, Begin, Job};
use crate::database::{BeginFuture, CommitFuture, Transaction, later};
use crate::error::StorageError;
use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How long making a secret may take.
const MAKING: Duration = Duration::from_secs(60);

/// The writer's thread and its queue. Dropping it waits until the writer has carried out what is queued.
pub(super) struct Queue {
    pub common: Arc<Common>,
    jobs: Option<SyncSender<Job>>,
    writer: Option<JoinHandle<()>>,
}

impl Queue {
    /// Starts the writer. `connect` runs on its thread; at most `length` writes wait.
    pub fn start(
        common: Arc<Common>,
        length: usize,
        connect: impl FnOnce() -> Box<dyn Connection> + Send + 'static,
    ) -> std::io::Result<Queue> {
        let (queue, jobs) = mpsc::sync_channel(length);
        let writer = writer::spawn(connect, common.clone(), jobs)?;
        Ok(Queue { common, jobs: Some(queue), writer: Some(writer) })
    }

    /// See [`crate::database::Storage::commit`].
    pub fn commit(&self, plan: WritePlan) -> CommitFuture {
        let (reply, answer) = oneshot::channel();
        let sent = self.send(Job::Commit { plan, reply, queued: Instant::now() });
        Box::pin(later(async move {
            sent?;
            answer.await.unwrap_or_else(|_| Err(stopped()))
        }))
    }

    /// See [`crate::database::Storage::begin`].
    pub fn begin(&self) -> BeginFuture {
        let (ready, answer) = oneshot::channel();
        let (ops, served) = mpsc::channel();
        let sent = self.send(Job::Begin(Begin { ops: served, ready, queued: Instant::now() }));
        let versions = Arc::clone(&self.common.versions);
        Box::pin(async move {
            sent?;
            answer.await.unwrap_or_else(|_| Err(stopped()))?;
            Ok(Arc::new(OpenTransaction::new(ops, versions)) as Arc<dyn Transaction>)
        })
    }

    /// See [`crate::database::Database::secret`].
    pub fn secret(&self, name: &str, len: usize) -> Result<Vec<u8>, StorageError> {
        let (reply, answer) = mpsc::channel();
        let job = Job::Secret { name: name.into(), len, reply };
        let gone = || StorageError::Failed("the writer has stopped".into());
        self.jobs.as_ref().ok_or_else(gone)?.send(job).map_err(|_| gone())?;
        answer.recv_timeout(MAKING).map_err(|_| gone())?
    }

    /// See [`crate::database::Database::close`].
    pub fn close(&self, patience: Duration) -> Result<(), StorageError> {
        let (reply, answer) = mpsc::channel();
        let gone = || StorageError::Failed("the writer has stopped".into());
        self.jobs.as_ref().ok_or_else(gone)?.send(Job::Close { reply }).map_err(|_| gone())?;
        answer.recv_timeout(patience).map_err(|_| StorageError::Failed("the writer takes too long".into()))?
    }

    fn send(&self, job: Job) -> Result<(), CommitError> {
        let queue = self.jobs.as_ref().ok_or_else(stopped)?;
        // Before the writer takes it out of the queue.
        self.common.counts.queue.inc();
        queue.try_send(job).map_err(|e| {
            self.common.counts.queue.dec();
            match e {
                TrySendError::Full(_) => CommitError::Busy,
                TrySendError::Disconnected(_) => stopped(),
            }
        })
    }

    /// Waits until the writer has carried out what is queued, and ends it.
    pub fn finish(&mut self) {
        self.jobs = None;
        if let Some(writer) = self.writer.take() {
            // A panic of the writer was reported when it happened.
            let _ = writer.join();
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.finish();
    }
}

fn stopped() -> CommitError {
    CommitError::Unavailable("the writer has stopped".into())
}
