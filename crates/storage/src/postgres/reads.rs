//! Reads on one connection, in whatever transaction it is.

use super::super::budget;
use super::super::plan::Row;
use super::super::sql::{Bind, Lowered, Rendered};
use super::super::sql_reads::{Executor, ReadTexts, read_texts};
use super::super::statement::{DbError, Dialect, Fault, int};
use super::super::words::Words;
use super::values::Cell;
use super::wire::{Prepared, Session, plain};
use crate::error::StorageError;
use std::cell::Cell as Flag;

thread_local! {
    static QUERIES: Flag<u64> = const { Flag::new(0) };
}

/// See [`super::Postgres::queries`].
pub fn queries() -> u64 {
    QUERIES.get()
}

/// Counts a statement that reads.
pub fn count_query() {
    QUERIES.set(QUERIES.get() + 1);
}

/// Something that carries out statements in a transaction.
pub trait StatementRunner {
    /// The rows that a statement gives, and the statement.
    fn run(&self, key: &str, make: &dyn Fn() -> Rendered, binds: &[Bind]) -> Result<FetchedRows, DbError>;
}

/// The rows of a statement, words as their numbers.
#[derive(Clone)]
pub struct FetchedRows {
    pub rows: Vec<Row>,
    /// See [`Rendered::words`].
    pub words: Vec<bool>,
}

/// Reads with a connection.
pub fn run_on(
    session: &Session,
    key: &str,
    make: &dyn Fn() -> Rendered,
    binds: &[Bind],
) -> Result<FetchedRows, DbError> {
    count_query();
    let deadline = budget::deadline();
    if budget::is_spent() {
        return Err(DbError { fault: Fault::TimedOut, cause: "the read took too long".into() });
    }
    let prepared = session.prepared(key, make, deadline)?;
    found(&session.taken(session.ask(&prepared, binds), deadline)?, &prepared)
}

/// The rows of an answer, and its statement's words.
pub fn found(rows: &[tokio_postgres::Row], prepared: &Prepared) -> Result<FetchedRows, DbError> {
    Ok(FetchedRows { rows: rows.iter().map(cells).collect::<Result<_, _>>()?, words: prepared.rendered.words.clone() })
}

/// The values of a row.
pub fn cells(row: &tokio_postgres::Row) -> Result<Row, DbError> {
    let cell = |at| row.try_get::<_, Cell>(at).map(|cell| cell.0).map_err(|e| DbError::other(e.to_string()));
    (0..row.len()).map(cell).collect()
}

impl Executor for &dyn StatementRunner {
    type Row<'r> = Row;

    const TEXTS: ReadTexts = read_texts!("= ANY(?1)", "= ANY(?2)", "GROUP BY space, \"of\" ORDER BY \"of\"");

    const NAMES_INDEXES: bool = false;

    fn rows(&self, lowered: &Lowered<'_>, words: &Words) -> Result<Vec<Row>, StorageError> {
        let FetchedRows { rows, words: are_words } = run_lowered(*self, lowered)?;
        self.name_words(rows, &are_words, words)
    }

    fn number(&self, lowered: &Lowered<'_>) -> Result<u64, StorageError> {
        Ok(run_lowered(*self, lowered)?.rows.first().map_or(0, |row| int(row, 0).max(0) as u64))
    }

    fn select<T>(
        &self,
        text: &'static str,
        binds: &[Bind],
        decode: impl FnMut(&Row) -> Result<T, StorageError>,
    ) -> Result<Vec<T>, StorageError> {
        self.run(text, &|| plain(text), binds)?.rows.iter().map(decode).collect()
    }
}

fn run_lowered(run: &dyn StatementRunner, lowered: &Lowered<'_>) -> Result<FetchedRows, DbError> {
    run.run(&lowered.shape(), &|| lowered.render(Dialect::Postgres), &lowered.binds)
}
