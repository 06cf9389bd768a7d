//! Statements by their text, whatever the database.
//!
//! Texts have numbered placeholders (`?1`) and mean the same in every database.

use super::plan::{DbValue, Row};
use crate::error::StorageError;
use std::fmt;
use std::sync::Arc;

/// A value to bind.
#[derive(Clone, Copy, Debug)]
pub(super) enum Param<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(&'a str),
}

impl From<i64> for Param<'_> {
    fn from(n: i64) -> Self {
        Param::Int(n)
    }
}

impl<'a> From<&'a i64> for Param<'a> {
    fn from(n: &'a i64) -> Self {
        Param::Int(*n)
    }
}

impl<'a> From<&'a str> for Param<'a> {
    fn from(text: &'a str) -> Self {
        Param::Text(text)
    }
}

impl<'a> From<&'a String> for Param<'a> {
    fn from(text: &'a String) -> Self {
        Param::Text(text)
    }
}

impl<'a> From<&'a Arc<str>> for Param<'a> {
    fn from(text: &'a Arc<str>) -> Self {
        Param::Text(text)
    }
}

impl<'a> From<&'a DbValue> for Param<'a> {
    fn from(value: &'a DbValue) -> Self {
        match value {
            DbValue::Null => Param::Null,
            DbValue::Int(n) => Param::Int(*n),
            DbValue::Real(n) => Param::Real(*n),
            DbValue::Text(text) => Param::Text(text),
        }
    }
}

/// Values to bind, of whatever types.
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::statement::Param::from($value)),*] };
}
pub(super) use params;

/// The kind of an error.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fault {
    /// A unique index refused a row: the first of its columns, as `table.column`, where that is known.
    Duplicate(Option<Arc<str>>),
    /// The database takes no writes, or is away.
    Unavailable,
    /// Another process holds the database.
    Locked,
    /// The database cannot be written.
    ReadOnly,
    /// The file is no database, or a damaged one.
    Damaged,
    /// The read was ended.
    TimedOut,
    /// The commit may have been made or not.
    Unknown,
    /// The tables are not those of the layout any more: newer declarations have changed them.
    Outdated,
    Other,
}

/// Why a statement failed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DbError {
    pub fault: Fault,
    /// For the log.
    pub cause: String,
}

impl DbError {
    /// Anything that has no kind of its own.
    pub fn other(cause: impl Into<String>) -> DbError {
        DbError { fault: Fault::Other, cause: cause.into() }
    }
}

impl fmt::Display for DbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cause)
    }
}

impl From<DbError> for StorageError {
    fn from(error: DbError) -> StorageError {
        match error.fault {
            Fault::TimedOut => StorageError::TimedOut,
            Fault::Unavailable | Fault::Unknown | Fault::Outdated => StorageError::Unavailable(error.cause),
            Fault::Damaged => StorageError::Failed(format!("the database is damaged: {}", error.cause)),
            _ => StorageError::Failed(error.cause),
        }
    }
}

impl From<StorageError> for DbError {
    fn from(error: StorageError) -> DbError {
        match error {
            StorageError::TimedOut => DbError { fault: Fault::TimedOut, cause: error.to_string() },
            StorageError::Unavailable(cause) => DbError { fault: Fault::Unavailable, cause },
            StorageError::Failed(cause) => DbError::other(cause),
        }
    }
}

impl Fault {
    /// Whether the database may take the same statement later.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Fault::Unavailable | Fault::Locked | Fault::ReadOnly | Fault::Unknown)
    }
}

/// The outcome of a statement.
pub(super) type Result<T> = std::result::Result<T, DbError>;

/// Which SQL a database understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Sqlite,
    Postgres,
}

/// An executor of statements.
pub(super) trait Statements {
    fn dialect(&self) -> Dialect;

    /// Carries out a statement; how many rows it changed.
    fn execute(&self, text: &str, params: &[Param<'_>]) -> Result<usize>;

    /// Carries out a statement of which nobody needs the outcome. Its failure may be reported by a later call, and by
    /// [`Statements::settle`] at the latest.
    fn send(&self, text: &str, params: &[Param<'_>]) -> Result<()> {
        self.execute(text, params).map(drop)
    }

    /// The same for an insertion of each of several rows.
    fn send_each(&self, text: &str, rows: &[Vec<Param<'_>>]) -> Result<()> {
        rows.iter().try_for_each(|row| self.send(text, row))
    }

    /// Waits for everything that was sent.
    fn settle(&self) -> Result<()> {
        Ok(())
    }

    /// The rows that a statement gives.
    fn select(&self, text: &str, params: &[Param<'_>]) -> Result<Vec<Row>>;

    /// The rows that a statement gives for each of several lists of values.
    fn select_each(&self, text: &str, params: &[Vec<Param<'_>>]) -> Result<Vec<Vec<Row>>> {
        params.iter().map(|params| self.select(text, params)).collect()
    }

    /// The rows that each of several statements gives. They cost one round trip together.
    fn select_all(&self, statements: &[(&str, Vec<i64>)]) -> Result<Vec<Vec<Row>>> {
        let params = |values: &[i64]| values.iter().copied().map(Param::Int).collect::<Vec<_>>();
        statements.iter().map(|(text, values)| self.select(text, &params(values))).collect()
    }

    /// Carries out statements without placeholders.
    fn batch(&self, text: &str) -> Result<()>;

    /// The first row that a statement gives.
    fn first(&self, text: &str, params: &[Param<'_>]) -> Result<Option<Row>> {
        Ok(self.select(text, params)?.into_iter().next())
    }

    /// The first integer of the first row.
    fn number(&self, text: &str, params: &[Param<'_>]) -> Result<Option<i64>> {
        Ok(self.first(text, params)?.map(|row| int(&row, 0)))
    }

    /// The first text of the first row.
    fn text(&self, text: &str, params: &[Param<'_>]) -> Result<Option<Arc<str>>> {
        Ok(self.first(text, params)?.and_then(|row| text_at(&row, 0)))
    }

    /// Whether a statement gives a row.
    fn exists(&self, text: &str, params: &[Param<'_>]) -> Result<bool> {
        Ok(self.first(text, params)?.is_some())
    }

    /// The first texts of all rows.
    fn texts(&self, text: &str, params: &[Param<'_>]) -> Result<Vec<Arc<str>>> {
        Ok(self.select(text, params)?.iter().filter_map(|row| text_at(row, 0)).collect())
    }
}

/// An integer of a row; 0 where there is none.
pub(super) fn int(row: &Row, place: usize) -> i64 {
    match row.get(place) {
        Some(DbValue::Int(n)) => *n,
        _ => 0,
    }
}

/// A text of a row.
pub(super) fn text_at(row: &Row, place: usize) -> Option<Arc<str>> {
    match row.get(place) {
        Some(DbValue::Text(text)) => Some(text.clone()),
        _ => None,
    }
}
