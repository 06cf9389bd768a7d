//! The one writer: takes plans from a queue, commits those that wait as one transaction, and reports when it is on
//! disk.
//!
//! A refused plan undoes only itself. Most are refused before they wrote anything; when one was not, the group starts
//! again with a savepoint for each. A failed or panicking plan never ends the thread; a failed commit fails every plan
//! of its group, because none of them is on disk. A transaction that a caller holds open is a group of its own.

mod apply;
mod effects;
mod flush;
mod prefetch;
pub(super) mod slugs;
mod state;
mod transaction;

use super::common::Common;
use super::connection::Connection;
use super::feed::{COMMITS, CommitIdentity};
use super::plan::{Change, CommitError, ReadPlan, WritePlan};
use super::statement::{Dialect, Result};
use crate::database::WRITE_PATIENCE;
use crate::error::StorageError;
use apply::Stop;
use prefetch::{PlannedReads, Prefetched};
use slugs::Claims;
use state::{CommitResult, Writer, unavailable};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
pub(super) use transaction::Begin;

/// Plans in one transaction at most.
const GROUP: usize = 256;

/// The queue is empty for so long before the search index has its turn.
const IDLE: Duration = Duration::from_millis(20);

/// The search index has its first turn so long after the start, which needs the processors more.
const SETTLED: Duration = Duration::from_millis(300);

/// Under load the search index has a turn so often.
const OVERDUE: Duration = Duration::from_secs(2);

/// Work for the writer.
pub(super) enum Job {
    Commit {
        plan: WritePlan,
        reply: oneshot::Sender<CommitResult>,
        queued: Instant,
    },
    Begin(Begin),
    /// The last job: empties the log.
    Close {
        reply: Sender<std::result::Result<(), StorageError>>,
    },
    Secret {
        name: String,
        len: usize,
        reply: Sender<std::result::Result<Vec<u8>, StorageError>>,
    },
}

/// Starts the writer's thread. It ends when the queue's last sender is gone and the queue is empty.
pub(super) fn spawn(
    connect: impl FnOnce() -> Box<dyn Connection> + Send + 'static,
    shared: Arc<Common>,
    jobs: Receiver<Job>,
) -> std::io::Result<JoinHandle<()>> {
    Builder::new().name("storage-writer".into()).spawn(move || {
        let conn = connect();
        let mut writer = Writer::new(&*conn, &shared);
        let (mut pace, mut idle) = (Pace::default(), SETTLED);
        loop {
            let job = match writer.unsearched {
                false => jobs.recv().ok(),
                true => match jobs.recv_timeout(idle) {
                    Err(RecvTimeoutError::Timeout) => {
                        idle = IDLE;
                        writer.take_in();
                        continue;
                    }
                    job => job.ok(),
                },
            };
            let Some(job) = job else { break };
            if writer.unsearched && writer.taken_in.elapsed() > OVERDUE {
                writer.take_in();
            }
            let mut group = Group::default();
            group.add(job, &writer);
            pace.gather(&mut group, &jobs, &writer);
            let (held, close) = (group.then.take(), group.close.take());
            let start = Instant::now();
            pace.group = group.plans.len();
            writer.carry_out(group);
            pace.took = start.elapsed();
            if pace.group > 0 {
                shared.counts.commit.time(pace.took);
                shared.counts.writes.observe(pace.group as f64);
            }
            if let Some(begin) = held {
                writer.hold(begin);
            }
            conn.rest();
            if let Some(reply) = close {
                // The caller may have stopped waiting.
                let _ = reply.send(conn.close().map_err(StorageError::from));
                break;
            }
        }
    })
}

/// How the last group went: the callers it reported to are likely to be back soon, and a group without them costs
/// the disk one more flush.
#[derive(Default)]
struct Pace {
    group: usize,
    took: Duration,
}

impl Pace {
    /// Adds waiting plans to the group; while it is smaller than the last one, also those that arrive within half the
    /// time that one took. A lone caller never waits.
    fn gather(&self, group: &mut Group, jobs: &Receiver<Job>, writer: &Writer<'_>) {
        let until = Instant::now() + self.took / 2;
        while group.plans.len() < GROUP && group.then.is_none() && group.close.is_none() {
            let job = match jobs.try_recv() {
                Ok(job) => job,
                Err(_) if group.plans.len() >= self.group => return,
                Err(_) => match jobs.recv_timeout(until.saturating_duration_since(Instant::now())) {
                    Ok(job) => job,
                    Err(_) => return,
                },
            };
            group.add(job, writer);
        }
    }
}

/// Plans that share a transaction, and where their outcomes go.
#[derive(Default)]
struct Group {
    plans: Vec<WritePlan>,
    replies: Vec<oneshot::Sender<CommitResult>>,
    /// The plan that follows them, in a transaction of its own.
    then: Option<Begin>,
    /// They are the last.
    close: Option<Sender<std::result::Result<(), StorageError>>>,
}

impl Group {
    fn add(&mut self, job: Job, writer: &Writer<'_>) {
        match job {
            Job::Commit { plan, reply, queued } => {
                writer.shared.counts.queue.dec();
                writer.shared.counts.wait.time(queued.elapsed());
                if queued.elapsed() > WRITE_PATIENCE {
                    // The caller may be gone.
                    let _ = reply.send(Err(CommitError::Busy));
                    return;
                }
                self.plans.push(plan);
                self.replies.push(reply);
            }
            Job::Begin(begin) => {
                writer.shared.counts.queue.dec();
                if begin.queued.elapsed() > WRITE_PATIENCE {
                    let _ = begin.ready.send(Err(CommitError::Busy));
                    return;
                }
                self.then = Some(begin);
            }
            Job::Close { reply } => self.close = Some(reply),
            Job::Secret { name, len, reply } => {
                // The caller may be gone.
                let _ = reply.send(writer.conn.secret(&name, len).map_err(StorageError::from));
            }
        }
    }
}

impl Writer<'_> {
    fn carry_out(&mut self, group: Group) {
        if group.plans.is_empty() {
            return;
        }
        let Group { plans, replies, .. } = group;
        let done = catch_unwind(AssertUnwindSafe(|| self.transaction(&plans)));
        let failed = match done {
            Ok(Ok(outcomes)) => {
                self.shared.remember(None);
                for (reply, outcome) in replies.into_iter().zip(outcomes) {
                    // A caller that is gone needs no result.
                    let _ = reply.send(outcome);
                }
                return;
            }
            Ok(Err(error)) => unavailable(&error),
            Err(panic) => CommitError::Failed(panic_text(&*panic)),
        };
        self.shared.counts.failures.inc();
        self.shared.remember(Some(failed.to_string()));
        self.forget();
        for reply in replies {
            let _ = reply.send(Err(failed.clone()));
        }
    }

    fn transaction(&mut self, plans: &[WritePlan]) -> Result<Vec<CommitResult>> {
        match self.attempt(plans, false) {
            Ok(Some(outcomes)) => return Ok(outcomes),
            Ok(None) => {}
            // One of the plans failed, and with it all.
            Err(error) if !self.conn.survives_failure() && !error.fault.is_temporary() => {}
            Err(error) => return Err(error),
        }
        self.forget();
        self.attempt(plans, true).map(Option::unwrap_or_default)
    }

    /// Carries out the plans as one transaction. `None`: one of them has to be undone, and there are no savepoints.
    fn attempt(&mut self, plans: &[WritePlan], savepoints: bool) -> Result<Option<Vec<CommitResult>>> {
        let wanted = slugs::wanted(self.conn, plans.iter().filter(|_| !savepoints));
        slugs::expect(self.conn, &wanted);
        let rows = self.wanted(if savepoints { &[] } else { plans });
        rows.expect(self.conn, &self.shared.catalogue);
        if let Some(first) = plans.first().filter(|_| !savepoints) {
            self.expect(first);
        }
        self.conn.begin_group()?;
        self.claims = Claims::read(self.conn, wanted)?;
        self.prefetched = rows.read(self.conn, &self.shared.catalogue)?;
        self.catch_up()?;
        let mut outcomes = Vec::with_capacity(plans.len());
        for plan in plans {
            match self.carry_out_one(plan, savepoints)? {
                Some(outcome) => outcomes.push(outcome),
                None => return Ok(None),
            }
        }
        self.close()?;
        Ok(Some(outcomes))
    }

    /// The single rows that plans are going to read, where reading all of them at once saves round trips.
    fn wanted(&self, plans: &[WritePlan]) -> PlannedReads {
        match self.conn.dialect() {
            Dialect::Sqlite => PlannedReads::default(),
            Dialect::Postgres => PlannedReads::of(plans, &self.shared.catalogue, &self.words),
        }
    }

    /// Reads the requirements of a plan before anything is written.
    fn expect(&self, plan: &WritePlan) {
        for change in &plan.changes {
            let Change::Require { plan, .. } = change else { return };
            let plan = ReadPlan { limit: Some(1), ..plan.clone() };
            self.conn.expect_rows(&plan, &self.words, &self.shared.catalogue);
        }
    }

    fn close(&mut self) -> Result<()> {
        self.claims.write_runs(self.conn)?;
        self.claims = Claims::default();
        let versions = self.flush()?;
        self.prefetched = Prefetched::default();
        let slots = std::mem::take(&mut self.pending.entries).slots(&self.shared.catalogue, &self.words);
        // Before the commit, so that no reader meets a number it cannot name.
        self.publish_words();
        let commit = versions.iter().find(|(scope, _)| **scope == *COMMITS).map(|(_, number)| *number);
        let seq = self.next_entry.map_or(0, |next| next - 1);
        let written = commit.map(|commit| CommitIdentity { commit, seq, node: self.shared.node });
        self.conn.commit(written)?;
        // After the commit, so that nobody files old rows under a new number.
        self.shared.versions.raise_to(&versions, &slots, seq);
        self.shared.wake_all();
        Ok(())
    }

    /// Carries out one plan. The outer error is the transaction's end; for `None` see [`Writer::attempt`].
    fn carry_out_one(&mut self, plan: &WritePlan, savepoint: bool) -> Result<Option<CommitResult>> {
        if self.pending.disturbs(plan, &self.shared.catalogue) {
            self.flush_counts()?;
        }
        if savepoint {
            self.send("SAVEPOINT plan", &[])?;
        }
        let written = self.conn.changes();
        let words = self.pending.words.len();
        let applied = catch_unwind(AssertUnwindSafe(|| {
            let applied = self.apply(plan)?;
            if savepoint {
                self.claims.write_runs(self.conn)?;
                self.conn.settle()?;
            }
            Ok(applied)
        }));
        let stop = match applied {
            Ok(Ok((committed, effects))) => {
                if savepoint {
                    self.send("RELEASE plan", &[])?;
                }
                self.pending.merge(effects);
                return Ok(Some(Ok(committed)));
            }
            Ok(Err(stop)) => stop,
            Err(panic) => Stop::Refuse(CommitError::Failed(panic_text(&*panic))),
        };
        if !self.conn.in_transaction() {
            // The database has given up the whole transaction (no space, I/O error, connection lost).
            return Err(stop.into_error());
        }
        if savepoint {
            self.execute("ROLLBACK TO plan", &[])?;
            self.execute("RELEASE plan", &[])?;
            self.claims = Claims::default();
            self.prefetched = Prefetched::default();
            self.unlearn(words);
        } else if self.conn.changes() != written || (stop.is_failure() && !self.conn.survives_failure()) {
            return Ok(None);
        }
        Ok(Some(Err(stop.into_commit_error())))
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the writer panicked: {}", said.unwrap_or("no reason given"))
}
