//! Statements on a connection: what is bound to them, what they give, why they fail.

use super::super::plan::{DbValue, Row};
use super::super::sql::Bind;
use super::super::statement::{DbError, Fault, Param};
use super::values;
use crate::error::StorageError;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, ErrorCode, Statement, StatementStatus, ToSql};
use std::cell::Cell;
use std::sync::Arc;

thread_local! {
    static QUERIES: Cell<u64> = const { Cell::new(0) };
    static TEXT: Cell<u64> = const { Cell::new(0) };
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// See [`super::Sqlite::queries`].
pub fn queries() -> u64 {
    QUERIES.get()
}

/// See [`super::Sqlite::text_read`].
pub fn text_read() -> u64 {
    TEXT.get()
}

/// See [`super::Sqlite::steps`].
pub fn steps() -> u64 {
    STEPS.get()
}

impl From<rusqlite::Error> for StorageError {
    fn from(error: rusqlite::Error) -> StorageError {
        DbError::from(error).into()
    }
}

impl From<rusqlite::Error> for DbError {
    fn from(error: rusqlite::Error) -> DbError {
        let fault = match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) => Fault::Duplicate(column_of(&error)),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Fault::Locked,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => Fault::ReadOnly,
            Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => Fault::Unavailable,
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Fault::Damaged,
            // Only the progress handler interrupts.
            Some(ErrorCode::OperationInterrupted) => Fault::TimedOut,
            Some(ErrorCode::Unknown) if lacks_table(&error.to_string()) => Fault::Outdated,
            _ => Fault::Other,
        };
        DbError { fault, cause: error.to_string() }
    }
}

/// Whether SQLite names a table or column that is not there; it has no code for that.
fn lacks_table(cause: &str) -> bool {
    ["no such table", "no such column", "has no column named"].iter().any(|text| cause.contains(text))
}

/// The first column, `table.column`, of the index that refused a row.
fn column_of(error: &rusqlite::Error) -> Option<Arc<str>> {
    let rusqlite::Error::SqliteFailure(_, Some(message)) = error else { return None };
    Some(message.strip_prefix("UNIQUE constraint failed: ")?.split(',').next()?.into())
}

impl ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Param::Null => ValueRef::Null,
            Param::Int(n) => ValueRef::Integer(*n),
            Param::Real(n) => ValueRef::Real(*n),
            Param::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

/// Binds all of them.
pub fn bind(statement: &mut Statement<'_>, params: &[Param<'_>]) -> rusqlite::Result<()> {
    params.iter().enumerate().try_for_each(|(place, value)| statement.raw_bind_parameter(place + 1, value))
}

/// The rows that a statement gives.
pub fn select(conn: &rusqlite::Connection, text: &str, params: &[Param<'_>]) -> rusqlite::Result<Vec<Row>> {
    let mut statement = conn.prepare_cached(text)?;
    let width = statement.column_count();
    bind(&mut statement, params)?;
    let mut rows = statement.raw_query();
    let mut found = Vec::new();
    while let Some(found_row) = rows.next()? {
        found.push((0..width).map(|at| found_row.get_ref(at).map(raw)).collect::<rusqlite::Result<Row>>()?);
    }
    Ok(found)
}

/// A stored value, words as their numbers.
fn raw(value: ValueRef<'_>) -> DbValue {
    match value {
        ValueRef::Null => DbValue::Null,
        ValueRef::Integer(n) => DbValue::Int(n),
        ValueRef::Real(n) => DbValue::Real(n),
        ValueRef::Text(text) | ValueRef::Blob(text) => DbValue::Text(String::from_utf8_lossy(text).into()),
    }
}

/// Everything that a statement gives.
pub fn fetch<'b, T, E: From<rusqlite::Error>>(
    statement: &mut CachedStatement<'_>,
    binds: impl Iterator<Item = &'b Bind>,
    mut row: impl FnMut(&rusqlite::Row<'_>) -> std::result::Result<T, E>,
) -> std::result::Result<Vec<T>, E> {
    QUERIES.set(QUERIES.get() + 1);
    for (place, value) in binds.enumerate() {
        values::bind(statement, place, value)?;
    }
    let mut rows = statement.raw_query();
    let mut found = Vec::new();
    while let Some(next) = rows.next()? {
        found.push(row(next)?);
    }
    drop(rows);
    let steps = statement.reset_status(StatementStatus::VmStep);
    STEPS.set(STEPS.get() + u64::try_from(steps).unwrap_or(0));
    Ok(found)
}

/// Counts text that was read in rows.
pub fn count_text(bytes: u64) {
    TEXT.set(TEXT.get() + bytes);
}
