//! The writer's memory between groups and in the open transaction.

use super::super::catalogue::Relation;
use super::super::common::Common;
use super::super::connection::Connection;
use super::super::feed::FeedUpdate;
use super::super::migrate;
use super::super::plan::{CommitError, Committed, Name, ReadPlan, Row};
use super::super::statement::{DbError, Fault, Param, Result, params};
use super::super::words::Words;
use super::effects::Effects;
use super::prefetch::Prefetched;
use super::slugs::Claims;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// Bytes of statement texts that the writer caches: a client chooses which columns it sets.
const TEXTS: usize = 1 << 20;

/// The outcome of a plan.
pub type CommitResult = std::result::Result<Committed, CommitError>;

/// The memory of a text and its key.
#[derive(Clone)]
pub struct TextBytes;

impl Weighter<Vec<u8>, Arc<str>> for TextBytes {
    fn weight(&self, key: &Vec<u8>, text: &Arc<str>) -> u64 {
        (key.len() + text.len() + 128) as u64
    }
}

/// The writer's state between groups. All of it can be read again from the file.
pub(in super::super) struct Writer<'c> {
    pub conn: &'c dyn Connection,
    pub shared: &'c Common,
    /// The dictionary with what the open transaction added.
    pub words: Words,
    /// The next id of each space.
    pub sequences: HashMap<Name, i64>,
    /// The versions of scopes, as far as they are known.
    pub numbers: HashMap<Name, u64>,
    /// The number of the next entry of the change feed, where it is known.
    pub next_entry: Option<i64>,
    /// Text of statements about one row, by statement, table and columns set.
    pub texts: Cache<Vec<u8>, Arc<str>, TextBytes>,
    /// The numbers of the catalogue's relations.
    pub relation_numbers: Vec<i64>,
    /// Effects that the open transaction still has to write.
    pub pending: Effects,
    /// Slugs in the open transaction.
    pub claims: Claims,
    /// Row data read when it began.
    pub prefetched: Prefetched,
    /// The words in memory may have numbers that are not in the database.
    pub words_unsure: bool,
    /// There may be rows that the search index does not know, or segments to merge.
    pub unsearched: bool,
    /// When it last had its turn.
    pub taken_in: Instant,
}

impl<'c> Writer<'c> {
    /// The state at the start.
    pub fn new(conn: &'c dyn Connection, shared: &'c Common) -> Writer<'c> {
        let words = Words::clone(&shared.words.load());
        let number = |relation: &Relation| {
            words.number(&relation.def.name).expect("opening the file made every relation's name a word")
        };
        Writer {
            conn,
            shared,
            relation_numbers: shared.catalogue.relations.iter().map(number).collect(),
            words,
            sequences: HashMap::new(),
            numbers: HashMap::new(),
            next_entry: None,
            texts: Cache::with_weighter(TEXTS / 1024, TEXTS as u64, TextBytes),
            pending: Effects::default(),
            claims: Claims::default(),
            prefetched: Prefetched::default(),
            words_unsure: false,
            unsearched: true,
            taken_in: Instant::now(),
        }
    }

    /// Gives the search index a turn: it takes in rows that wait, or merges. What fails is tried again with the next write.
    pub fn take_in(&mut self) {
        self.unsearched = self.conn.take_in(&self.shared.catalogue);
        self.taken_in = Instant::now();
    }

    /// Takes notice of what other processes committed.
    pub fn catch_up(&mut self) -> Result<()> {
        if !self.conn.others_wrote()? {
            return Ok(());
        }
        let known = self.shared.versions.known();
        let news = FeedUpdate::of(known, self.conn.select_all(&FeedUpdate::statements(known))?);
        self.words = news.words.clone();
        self.sequences.clear();
        self.numbers.clear();
        self.next_entry = Some(news.taken() + 1);
        if std::mem::take(&mut self.words_unsure) {
            // Words in memory may have other numbers.
            self.shared.words.store(Arc::new(self.words.clone()));
        }
        self.shared.take_up(&news);
        Ok(())
    }

    /// Drops what may not be in the database, after a transaction that failed.
    pub fn forget(&mut self) {
        self.conn.rollback();
        self.pending = Effects::default();
        self.claims = Claims::default();
        self.prefetched = Prefetched::default();
        self.sequences.clear();
        self.numbers.clear();
        self.next_entry = None;
        match Words::load(self.conn) {
            Ok(words) => {
                self.shared.words.store(Arc::new(words.clone()));
                self.words = words;
            }
            Err(_) => self.words_unsure = true,
        }
    }

    /// The number of a word; a new word gets the next.
    pub fn word(&mut self, word: &Name) -> Result<i64> {
        if let Some(number) = self.words.number(word) {
            return Ok(number);
        }
        let number = self.words.next();
        self.conn.send(migrate::ADD_WORD, params![number, word])?;
        self.words.insert(number, word.clone());
        self.pending.words.push(word.clone());
        Ok(number)
    }

    /// Drops the words that a refused plan added.
    pub fn unlearn(&mut self, keep: usize) {
        for word in self.pending.words.split_off(keep) {
            self.words.remove(&word);
        }
    }

    /// Shows readers the words that the transaction added.
    pub fn publish_words(&mut self) {
        if !self.pending.words.is_empty() {
            self.pending.words.clear();
            self.shared.words.store(Arc::new(self.words.clone()));
        }
    }

    /// A new id of a space.
    pub fn next_id(&mut self, space: &Name) -> Result<i64> {
        let id = self.peek_id(space)?;
        self.move_past(space, id)?;
        Ok(id)
    }

    /// Makes sure that the space never gives this id.
    pub fn move_past(&mut self, space: &Name, id: i64) -> Result<()> {
        if self.peek_id(space)? <= id {
            self.sequences.insert(space.clone(), id.saturating_add(1));
            self.pending.spaces.insert(space.clone());
        }
        Ok(())
    }

    pub fn peek_id(&mut self, space: &Name) -> Result<i64> {
        if let Some(next) = self.sequences.get(space) {
            return Ok(*next);
        }
        let next = self.conn.number("SELECT next FROM sequence WHERE space = ?1", params![space])?.unwrap_or(1);
        self.sequences.insert(space.clone(), next);
        Ok(next)
    }

    /// Text that is made once.
    pub fn text(&mut self, key: Vec<u8>, make: impl FnOnce() -> String) -> Arc<str> {
        if let Some(text) = self.texts.get(&key) {
            return text.clone();
        }
        let text: Arc<str> = make().into();
        self.texts.insert(key, text.clone());
        text
    }

    /// Rows as the open transaction sees them.
    pub fn rows(&self, plan: &ReadPlan) -> Result<Vec<Row>> {
        let rows = self.conn.reading(&self.words, &self.shared.catalogue).rows(plan);
        rows.map_err(|error| self.conn.failure().unwrap_or_else(|| error.into()))
    }

    /// Carries out a statement; how many rows it changed.
    pub fn execute(&self, text: &str, params: &[Param<'_>]) -> Result<usize> {
        self.conn.execute(text, params)
    }

    /// As [`Writer::execute`], where nobody needs to know how many rows were changed.
    pub fn send(&self, text: &str, params: &[Param<'_>]) -> Result<()> {
        self.conn.send(text, params)
    }
}

/// How a caller hears of an error that ended a whole group.
pub fn unavailable(error: &DbError) -> CommitError {
    match error.fault {
        Fault::Unknown => CommitError::Unknown(error.cause.clone()),
        _ => CommitError::Unavailable(format!("the database does not take writes: {error}")),
    }
}
