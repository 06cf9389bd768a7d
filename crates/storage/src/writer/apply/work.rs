//! A plan that is carried out, and why it stops.

use super::super::super::catalogue::{Catalogue, TableId};
use super::super::super::plan::{CommitError, Committed, DbValue, Name};
use super::super::super::statement::{DbError, Fault};
use super::super::effects::Effects;
use super::super::state::{Writer, unavailable};
use crate::error::StorageError;

/// Why a plan stops.
pub enum Stop {
    Refuse(CommitError),
    Sql(DbError),
}

/// The outcome of a part of a plan.
pub type PlanResult<T> = std::result::Result<T, Stop>;

impl From<DbError> for Stop {
    fn from(error: DbError) -> Stop {
        Stop::Sql(error)
    }
}

impl From<StorageError> for Stop {
    fn from(error: StorageError) -> Stop {
        match error {
            StorageError::Unavailable(_) => Stop::Sql(error.into()),
            error => Stop::Refuse(CommitError::Failed(error.to_string())),
        }
    }
}

impl Stop {
    /// As the caller hears of it.
    pub fn into_commit_error(self) -> CommitError {
        let error = match self {
            Stop::Refuse(error) => return error,
            Stop::Sql(error) => error,
        };
        match error.fault {
            // Keys were checked before, so this is a unique index.
            Fault::Duplicate(column) => {
                CommitError::Refused { tag: "duplicate", row: column.map(|column| vec![DbValue::Text(column)]) }
            }
            Fault::Outdated => unavailable(&error),
            ref fault if fault.is_temporary() => unavailable(&error),
            _ => CommitError::Failed(error.cause),
        }
    }

    /// Whether a statement failed, rather than a rule of the plan.
    pub fn is_failure(&self) -> bool {
        matches!(self, Stop::Sql(_))
    }

    /// As the end of the whole transaction.
    pub fn into_error(self) -> DbError {
        match self {
            Stop::Sql(error) => error,
            Stop::Refuse(why) => DbError::other(format!("the transaction was given up: {why}")),
        }
    }
}

/// The plan is refused: it makes no sense.
pub fn failed<T>(why: String) -> PlanResult<T> {
    Err(Stop::Refuse(CommitError::Failed(why)))
}

/// Columns that a put set in one table, by their places.
pub type SetColumns = Vec<Option<DbValue>>;

/// The columns that the first put set.
pub struct ReturnedRow {
    pub table: TableId,
    pub key: DbValue,
    /// In the order of what is wanted; `None`: as before.
    pub row: Vec<Option<DbValue>>,
}

/// A plan being carried out.
pub struct PlanExecution<'w, 'c> {
    pub writer: &'w mut Writer<'c>,
    pub catalogue: &'c Catalogue,
    pub effects: Effects,
    pub committed: Committed,
    /// The table of each put done.
    pub puts: Vec<TableId>,
    /// See [`WritePlan::returning`].
    pub returning: &'w [Name],
    pub returned: Option<ReturnedRow>,
    /// The first put is being carried out, and its row can be returned.
    pub first: bool,
}
