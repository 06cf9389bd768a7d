//! Reads on one connection, in whatever transaction it is.

use super::super::plan::{ReadPlan, Row};
use super::super::sql::{Bind, Lowered};
use super::super::sql_reads::{Columns, Executor, Names, ReadTexts, read_texts};
use super::super::words::Words;
use super::search;
use super::statement_cache::StatementCache;
use super::statements::fetch;
use super::values::Dictionary;
use crate::error::StorageError;
use rusqlite::Connection;
use std::borrow::Cow;
use std::sync::Arc;

/// Carries out statements on one connection, in whatever transaction it is.
pub struct ConnectionReads<'r> {
    pub conn: &'r Connection,
    pub shapes: &'r StatementCache,
    pub frequent: &'r search::FrequentTexts,
}

impl Executor for ConnectionReads<'_> {
    type Row<'r> = rusqlite::Row<'r>;

    const TEXTS: ReadTexts =
        read_texts!("IN (SELECT value FROM rarray(?1))", "IN (SELECT value FROM rarray(?2))", "GROUP BY \"of\"");

    const NAMES_INDEXES: bool = true;

    fn rows(&self, lowered: &Lowered<'_>, words: &Words) -> std::result::Result<Vec<Row>, StorageError> {
        self.shapes.rows(lowered, Dictionary { words, conn: self.conn })
    }

    fn number(&self, lowered: &Lowered<'_>) -> std::result::Result<u64, StorageError> {
        let numbers = self.shapes.select(self.conn, lowered, |_, row| row.get::<_, i64>(0))?;
        Ok(numbers.first().copied().unwrap_or(0).max(0) as u64)
    }

    fn select<T>(
        &self,
        text: &'static str,
        binds: &[Bind],
        decode: impl FnMut(&rusqlite::Row<'_>) -> std::result::Result<T, StorageError>,
    ) -> std::result::Result<Vec<T>, StorageError> {
        let mut statement = self.conn.prepare_cached(text)?;
        fetch(&mut statement, binds.iter(), decode)
    }

    fn narrow<'p>(
        &self,
        plan: &'p ReadPlan,
        Names { words, catalogue }: Names<'_>,
    ) -> std::result::Result<Cow<'p, ReadPlan>, StorageError> {
        search::narrowed((self.conn, self.frequent), catalogue, words, plan)
    }
}

impl Columns for rusqlite::Row<'_> {
    fn int(&self, place: usize) -> std::result::Result<i64, StorageError> {
        Ok(self.get(place)?)
    }

    fn text(&self, place: usize) -> std::result::Result<Arc<str>, StorageError> {
        Ok(Arc::from(self.get_ref(place)?.as_str().map_err(rusqlite::Error::from)?))
    }
}
