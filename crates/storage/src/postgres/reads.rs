//! Reads on one connection, in whatever transaction it is.

use super::super::budget;
use super::super::plan::{DbValue, Name, Row};
use super::super::sql::{Bind, Lowered, Rendered};
use super::super::sql_reads::{Columns, Executor, ReadTexts, read_texts};
use super::super::statement::{DbError, Dialect, Fault, int, text_at};
use super::super::words::Words;
use super::values::Cell;
use super::wire::{Prepared, Session, plain};
use crate::error::StorageError;
use std::cell::Cell as Flag;
use std::sync::Arc;

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
    fn run(&self, key: &str, make: &dyn Fn() -> Rendered, binds: &[Bind]) -> Result<Found, DbError>;
}

/// The rows of a statement, words as their numbers.
#[derive(Clone)]
pub struct Found {
    pub rows: Vec<Row>,
    /// See [`Rendered::words`].
    pub words: Vec<bool>,
}

/// Reads with a connection.
pub fn run_on(session: &Session, key: &str, make: &dyn Fn() -> Rendered, binds: &[Bind]) -> Result<Found, DbError> {
    count_query();
    let deadline = budget::deadline();
    if budget::is_spent() {
        return Err(DbError { fault: Fault::TimedOut, cause: "the read took too long".into() });
    }
    let prepared = session.prepared(key, make, deadline)?;
    found(&session.taken(session.ask(&prepared, binds), deadline)?, &prepared)
}

/// The rows of an answer, and its statement's words.
pub fn found(rows: &[tokio_postgres::Row], prepared: &Prepared) -> Result<Found, DbError> {
    Ok(Found { rows: rows.iter().map(cells).collect::<Result<_, _>>()?, words: prepared.rendered.words.clone() })
}

/// The values of a row.
pub fn cells(row: &tokio_postgres::Row) -> Result<Row, DbError> {
    let cell = |at| row.try_get::<_, Cell>(at).map(|cell| cell.0).map_err(|e| DbError::other(e.to_string()));
    (0..row.len()).map(cell).collect()
}

impl Executor for &dyn StatementRunner {
    type Row<'r> = Row;

    const TEXTS: ReadTexts = read_texts!("= ANY(?1)", "= ANY(?2)", "GROUP BY space, \"of\" ORDER BY \"of\"");

    fn rows(&self, lowered: &Lowered<'_>, words: &Words) -> Result<Vec<Row>, StorageError> {
        let Found { mut rows, words: are_words } = run_lowered(*self, lowered)?;
        for place in are_words.iter().enumerate().filter_map(|(place, word)| word.then_some(place)) {
            for row in &mut rows {
                if let DbValue::Int(number) = row[place] {
                    row[place] = DbValue::Text(self.word(words, number)?);
                }
            }
        }
        if are_words.is_empty() {
            // Rows of which nothing is read have one column all the same.
            rows.iter_mut().for_each(Vec::clear);
        }
        Ok(rows)
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

    fn word(&self, words: &Words, number: i64) -> Result<Name, StorageError> {
        if let Some(name) = words.name(number) {
            return Ok(name.clone());
        }
        let found = self.select(WORD, &[Bind::One(DbValue::Int(number))], |row| Ok(text_at(row, 0)))?;
        let missing = || StorageError::Failed(format!("the dictionary has no word {number}"));
        found.into_iter().next().flatten().ok_or_else(missing)
    }
}

fn run_lowered(run: &dyn StatementRunner, lowered: &Lowered<'_>) -> Result<Found, DbError> {
    run.run(&lowered.shape(), &|| lowered.render(Dialect::Postgres), &lowered.binds)
}

impl Columns for Row {
    fn int(&self, place: usize) -> Result<i64, StorageError> {
        Ok(int(self, place))
    }

    fn text(&self, place: usize) -> Result<Arc<str>, StorageError> {
        Ok(text_at(self, place).unwrap_or_default())
    }
}

const WORD: &str = "SELECT word FROM dictionary WHERE number = ?1";
