//! The connection that writes and migrates, whatever the database: a transaction that nobody else writes beside. What
//! differs between databases is behind [`Connection`].

use super::catalogue::Catalogue;
use super::feed::CommitIdentity;
use super::plan::ReadPlan;
use super::statement::{DbError, Param, Result, Statements};
use super::words::Words;
use crate::snapshot::Snapshot;
use std::sync::Arc;

/// See the module.
pub(super) trait Connection: Statements {
    /// Reads in the open transaction.
    fn reading<'r>(&'r self, words: &'r Words, catalogue: &'r Catalogue) -> Box<dyn Snapshot + 'r>;

    /// Why the last read of [`Connection::reading`] failed, where that was a statement sent before it.
    fn failure(&self) -> Option<DbError> {
        None
    }

    /// These rows are read in the next transaction before anything is written in it. Where each read costs a round trip,
    /// they come with its beginning.
    fn expect(&self, _text: &str, _params: &[Param<'_>]) {}

    /// The same of the rows of a plan.
    fn expect_rows(&self, _plan: &ReadPlan, _words: &Words, _catalogue: &Catalogue) {}

    /// Begins a transaction that writes. Nobody else writes until it ends.
    fn begin(&self) -> Result<()>;

    /// The same, where no statement waits for a caller. A process that goes silent in it is given up sooner.
    fn begin_group(&self) -> Result<()> {
        self.begin()
    }

    /// Makes the transaction durable. `written`: what the change feed has of it, if it wrote rows.
    fn commit(&self, written: Option<CommitIdentity>) -> Result<()>;

    /// Ends the transaction, if there is one. What fails shows when the next one begins.
    fn rollback(&self);

    /// Whether a transaction is open.
    fn in_transaction(&self) -> bool;

    /// Whether the open transaction can go on after a statement of it has failed.
    fn survives_failure(&self) -> bool;

    /// A number that changes with every row written.
    fn changes(&self) -> u64;

    /// Whether another process may have committed since the last call, or since a transaction of this one failed. To be
    /// called in a transaction.
    fn others_wrote(&self) -> Result<bool>;

    /// Leaves a row for the index of texts; `table` is the table's number in the dictionary. Whether the index has work
    /// to do later.
    fn leave_for_search(&self, _table: i64, _id: i64) -> Result<bool> {
        Ok(false)
    }

    /// Takes rows that wait into the index of texts, or merges parts of it, in a transaction of its own. Whether there is more to
    /// do.
    fn take_in(&self, _catalogue: &Catalogue) -> bool {
        false
    }

    /// Bytes that are made once, at random.
    fn secret(&self, name: &str, len: usize) -> Result<Vec<u8>>;

    /// Begins a transaction that only reads, all in one state; [`Connection::rollback`] ends it.
    fn begin_reading(&self) -> Result<()>;

    /// All secrets, by their names.
    fn secrets(&self) -> Result<Vec<(Arc<str>, Vec<u8>)>>;

    /// Stores a secret that is not there.
    fn put_secret(&self, name: &str, value: &[u8]) -> Result<()>;

    /// Lets the database find out how many rows there are of what, where it does not do so at once.
    fn gather_statistics(&self) -> Result<()> {
        Ok(())
    }

    /// Called after each group of plans.
    fn rest(&self) {}

    /// Makes ready for the end of the process.
    fn close(&self) -> Result<()>;
}
