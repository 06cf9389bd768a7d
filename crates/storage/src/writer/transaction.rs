//! The writer's end of a transaction that is held open: it serves that one until it ends, while other plans wait.

use super::super::plan::{CommitError, WritePlan};
use super::super::statement::Result;
use super::super::transaction::TransactionStep;
use super::state::{CommitResult, Writer, unavailable};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Receiver;
use std::time::Instant;
use tokio::sync::oneshot;

/// A transaction that a caller requests.
pub struct Begin {
    pub ops: Receiver<TransactionStep>,
    pub ready: oneshot::Sender<std::result::Result<(), CommitError>>,
    pub queued: Instant,
}

impl Writer<'_> {
    /// Serves a transaction until it is finished, dropped or too old.
    pub fn hold(&mut self, begin: Begin) {
        let committed = catch_unwind(AssertUnwindSafe(|| self.serve(begin)));
        if !committed.unwrap_or(false) {
            self.forget();
        }
    }

    /// Whether it was committed; otherwise it is to be rolled back.
    fn serve(&mut self, Begin { ops, ready, .. }: Begin) -> bool {
        if let Err(error) = self.conn.begin().and_then(|()| self.catch_up()) {
            let _ = ready.send(Err(unavailable(&error)));
            return false;
        }
        if ready.send(Ok(())).is_err() {
            // Nobody waits for it any more.
            return false;
        }
        let until = Instant::now() + self.shared.hold;
        while let Ok(op) = ops.recv_timeout(until.saturating_duration_since(Instant::now())) {
            match op {
                TransactionStep::Read(read) => read(&*self.conn.reading(&self.words, &self.shared.catalogue)),
                TransactionStep::Commit { plan, reply } => {
                    let outcome = self.step(&plan);
                    let lost = outcome.is_err();
                    let _ = reply.send(outcome.unwrap_or_else(|error| Err(unavailable(&error))));
                    if lost {
                        return false;
                    }
                }
                TransactionStep::Finish { reply } => {
                    let closed = self.close();
                    let committed = closed.is_ok();
                    if !committed {
                        self.forget();
                    }
                    let _ = reply.send(closed.map_err(|error| unavailable(&error)));
                    return committed;
                }
            }
        }
        false
    }

    /// Carries out one plan, and writes what follows from it at once: the next read sees it.
    fn step(&mut self, plan: &WritePlan) -> Result<CommitResult> {
        let outcome =
            self.carry_out_one(plan, true)?.unwrap_or_else(|| Err(CommitError::Failed("a savepoint was lost".into())));
        self.flush_counts()?;
        self.flush_tallies()?;
        Ok(outcome)
    }
}
