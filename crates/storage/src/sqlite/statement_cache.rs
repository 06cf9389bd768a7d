//! Plans read on one connection: the text of each shape and its prepared statement, cached within a number of bytes.
//!
//! Clients choose the shapes by their arguments, so neither the number of shapes nor the length of one bounds the
//! memory they use.

use super::super::plan::{DbValue, Row};
use super::super::sql::{Lowered, Rendered};
use super::super::statement::Dialect;
use super::statements::{count_text, fetch};
use super::values::{Dictionary, decode};
use crate::error::StorageError;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use rusqlite::{Connection, Result, StatementStatus};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Most bytes of texts and of their keys that a connection caches.
const TEXTS: u64 = 1 << 20;
/// The usual bytes of a text and its key.
const TEXT: u64 = 1 << 10;
/// Most bytes of prepared statements that a connection caches. Beyond that it starts again with none.
const STATEMENTS: usize = 8 << 20;
/// A larger statement is prepared for each read.
const LARGEST: usize = 256 << 10;

/// See the module.
pub struct StatementCache {
    texts: RefCell<Cache<String, Rc<CachedStatement>, CachedStatementBytes>>,
    /// Bytes of the statements that were prepared since the cache was empty.
    prepared: Cell<usize>,
    /// How often the connection has dropped its statements.
    round: Cell<u64>,
}

/// A text, and the round in which its statement was last prepared.
struct CachedStatement {
    rendered: Rendered,
    round: Cell<Option<u64>>,
}

#[derive(Clone)]
struct CachedStatementBytes;

impl Weighter<String, Rc<CachedStatement>> for CachedStatementBytes {
    fn weight(&self, shape: &String, kept: &Rc<CachedStatement>) -> u64 {
        let rendered = &kept.rendered;
        (shape.len() + rendered.text.len() + size_of_val(&*rendered.order) + rendered.words.len() + 256) as u64
    }
}

impl Default for StatementCache {
    fn default() -> StatementCache {
        let texts = Cache::with_weighter((TEXTS / TEXT) as usize, TEXTS, CachedStatementBytes);
        StatementCache { texts: RefCell::new(texts), prepared: Cell::new(0), round: Cell::new(0) }
    }
}

impl StatementCache {
    /// The rows of a plan, or its groups.
    pub fn rows(
        &self,
        lowered: &Lowered<'_>,
        dictionary: Dictionary<'_>,
    ) -> std::result::Result<Vec<Row>, StorageError> {
        Ok(self.select(dictionary.conn, lowered, |rendered, row| {
            let mut values = Vec::with_capacity(rendered.words.len());
            let mut text = 0;
            for (place, word) in rendered.words.iter().enumerate() {
                let value = decode(row.get_ref(place)?, *word, dictionary)?;
                if let DbValue::Text(read) = &value {
                    text += read.len() as u64;
                }
                values.push(value);
            }
            count_text(text);
            Ok(values)
        })?)
    }

    /// The rows of a lowered plan's statement. The connection is always the same one.
    pub fn select<T>(
        &self,
        conn: &Connection,
        lowered: &Lowered<'_>,
        mut row: impl FnMut(&Rendered, &rusqlite::Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let kept = self.kept(lowered);
        let binds = kept.rendered.order.iter().map(|i| &lowered.binds[*i]);
        let mut statement = conn.prepare_cached(&kept.rendered.text)?;
        let found = fetch(&mut statement, binds, |found| row(&kept.rendered, found));
        if kept.round.get() == Some(self.round.get()) {
            return found;
        }
        let bytes = usize::try_from(statement.get_status(StatementStatus::MemUsed)).unwrap_or(0);
        if bytes > LARGEST {
            statement.discard();
            return found;
        }
        drop(statement);
        kept.round.set(Some(self.round.get()));
        self.prepared.set(self.prepared.get() + bytes);
        if self.prepared.get() > STATEMENTS {
            conn.flush_prepared_statement_cache();
            self.prepared.set(0);
            self.round.set(self.round.get() + 1);
        }
        found
    }

    fn kept(&self, lowered: &Lowered<'_>) -> Rc<CachedStatement> {
        let shape = lowered.shape();
        let mut texts = self.texts.borrow_mut();
        if let Some(kept) = texts.get(&shape) {
            return kept.clone();
        }
        let kept = Rc::new(CachedStatement { rendered: lowered.render(Dialect::Sqlite), round: Cell::new(None) });
        texts.insert(shape, kept.clone());
        kept
    }

    /// Bytes of the texts, and of the prepared statements at most.
    #[cfg(test)]
    pub fn bytes(&self) -> (u64, usize) {
        (self.texts.borrow().weight(), self.prepared.get())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixtures::*;
    use super::super::super::plan::{Cond, ReadPlan};
    use super::super::super::sql::{ResultKind, lower};
    use super::*;

    /// A plan whose shape is its number in binary: which of its words must occur, and which not.
    fn plan(number: usize, words: usize) -> ReadPlan {
        let word = |bit: usize| {
            let found = Cond::Contains(vec![name("title"), name("content")], "word".into());
            if number >> bit & 1 == 1 { Cond::Not(Box::new(found)) } else { found }
        };
        read("record", &["id"], Cond::All((0..words).map(word).collect()))
    }

    #[test]
    fn shapes_take_bounded_memory_however_many_there_are() {
        let site = site();
        let shared = &site.db.shared;
        let conn = super::super::connect::reading(&shared.path, &shared.settings).unwrap();
        let words = shared.words.load();
        let (shapes, dictionary) = (StatementCache::default(), Dictionary { words: &words, conn: &conn });
        let mut rounds = 0;
        for number in 0..1200 {
            let plan = plan(number, 12);
            let lowered = lower(&plan, ResultKind::Rows, &shared.catalogue, &words).unwrap();
            shapes.rows(&lowered, dictionary).unwrap();
            let (texts, prepared) = shapes.bytes();
            assert!(texts <= TEXTS && prepared <= STATEMENTS, "{texts} {prepared}");
            rounds = shapes.round.get();
        }
        assert!(rounds > 0, "the statements were more than are kept");
    }

    #[test]
    fn conditions_may_be_many() {
        let site = site();
        let any = Cond::Any((0..3000).map(|n| eq("author", int(n))).collect());
        assert_eq!(rows(&site.db, &read("record", &["id"], any)).len(), 0);
    }
}
