//! Reading: a connection for each thread, a read transaction for each snapshot, text cached for each shape.
//!
//! Every statement of a request sees the same state, because all snapshots that a thread has open share a transaction,
//! and while something holds the state ([`Hold`]) the transaction outlives them.
//!
//! To begin and to end a transaction costs as much as a small read, so threads that read often leave theirs open
//! ([`reuse_transactions`]): the next snapshot uses it again as long as nothing was committed since, by whatever process
//! ([`LogIndex`]). Open transactions keep the log from starting over, so they end after [`MAX_REUSE`], when the log is
//! long, and when the thread has nothing to do ([`end_idle_transactions`]).

use super::super::catalogue::Catalogue;
use super::super::connection::{Param, int};
use super::super::count_cache;
use super::super::dependencies;
use super::super::feed::{self, News};
use super::super::plan::{DbValue, Edge, EdgePlan, MetaRow, Name, ReadPlan, RevisionCount, Row};
use super::super::sql::{Bind, Lowered, Want, lower};
use super::super::tally::{Tallied, Without, tallied};
use super::super::words::{NO_WORD, Words};
use super::super::{Dependencies, Held, Snapshot, StorageError};
use super::connection;
use super::open;
use super::search;
use super::statement_cache::StatementCache;
use super::{Dictionary, Shared, bind};
use arc_swap::Guard;
use rusqlite::{CachedStatement, Connection, Result, ToSql};
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::fs::{self, File};
use std::marker::PhantomData;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a transaction serves snapshots that begin later.
const MAX_REUSE: Duration = Duration::from_millis(100);

/// The head of the log's index in SQLite's file format ("-shm"): every commit of any process changes it.
type LogHead = [u8; 48];

/// The file that all connections to a database share beside its log.
///
/// SQLite holds locks of the process on it, and the operating system drops all of them when *any* descriptor of the file is
/// closed: another process could then write at the same time. So the process opens each of these files once, and never
/// closes it.
#[derive(Clone, Copy)]
struct LogIndex(&'static File);

impl LogIndex {
    /// The one beside a database file; `None` where there is none, and then nothing is reused.
    fn beside(database: &Path) -> Option<LogIndex> {
        static OPENED: Mutex<Vec<LogIndex>> = Mutex::new(Vec::new());
        let mut path = fs::canonicalize(database).ok()?.into_os_string();
        path.push("-shm");
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        let there = fs::metadata(&path).ok()?;
        let is_there =
            |one: &&LogIndex| one.0.metadata().is_ok_and(|m| (m.dev(), m.ino()) == (there.dev(), there.ino()));
        if let Some(known) = opened.iter().find(is_there) {
            return Some(*known);
        }
        let index = LogIndex(Box::leak(Box::new(File::open(path).ok()?)));
        opened.push(index);
        Some(index)
    }

    fn head(self) -> Option<LogHead> {
        let mut head = [0; size_of::<LogHead>()];
        self.0.read_exact_at(&mut head, 0).ok().map(|()| head)
    }
}

thread_local! {
    static READERS: RefCell<Vec<(u64, Rc<Reader>)>> = const { RefCell::new(Vec::new()) };
    static QUERIES: Cell<u64> = const { Cell::new(0) };
    static TEXT: Cell<u64> = const { Cell::new(0) };
    /// How many of [`Hold`] live.
    static HELD: Cell<u32> = const { Cell::new(0) };
    static REUSES: Cell<bool> = const { Cell::new(false) };
}

/// From here on this thread's transactions outlive their snapshots, until [`end_idle_transactions`]. Whether they did
/// already.
pub fn reuse_transactions() -> bool {
    REUSES.replace(true)
}

/// Ends the transactions of this thread that no snapshot uses.
pub fn end_idle_transactions() {
    READERS.with_borrow(|readers| readers.iter().for_each(|(_, reader)| reader.end_idle()));
}

/// See [`super::Sqlite::queries`].
pub fn queries() -> u64 {
    QUERIES.get()
}

/// See [`super::Sqlite::text_read`].
pub fn text_read() -> u64 {
    TEXT.get()
}

/// Closes this thread's connection to a database.
pub fn forget(id: u64) {
    // At the end of a thread its connections are closed already.
    let _ = READERS.try_with(|readers| readers.borrow_mut().retain(|(of, _)| *of != id));
}

/// A thread's connection.
struct Reader {
    conn: Connection,
    shapes: StatementCache,
    frequent: search::FrequentTexts,
    /// Snapshots open.
    depth: Cell<u32>,
    /// There is a transaction.
    begun: Cell<bool>,
    /// No snapshot uses the transaction.
    idle: Cell<bool>,
    /// When the transaction began and the log's head before, where it may be used again.
    since: Cell<Option<(Instant, LogHead)>>,
    /// Opened when it is first needed.
    log: OnceCell<Option<LogIndex>>,
    /// The `data_version` at the last check.
    seen: Cell<i64>,
    /// [`Versions::rising`] before the transaction began.
    ///
    /// [`Versions::rising`]: super::super::versions::Versions::rising
    rising: Cell<u64>,
}

/// See [`super::super::Storage::hold`]: it keeps the transactions of this thread open when their last snapshot is gone.
pub struct Hold {
    /// It belongs to its thread.
    _here: PhantomData<Rc<()>>,
}

impl Hold {
    /// Holds the state that the next snapshot finds, or the one that is held already.
    pub fn begin() -> Hold {
        HELD.set(HELD.get() + 1);
        Hold { _here: PhantomData }
    }
}

impl Held for Hold {}

impl Drop for Hold {
    fn drop(&mut self) {
        HELD.set(HELD.get() - 1);
        // At the end of a thread its connections are closed already.
        let _ = READERS.try_with(|readers| readers.borrow().iter().for_each(|(_, reader)| reader.settle()));
    }
}

/// A snapshot: the thread's connection with a read transaction, which ends with the last of its snapshots.
pub struct View<'s> {
    shared: &'s Shared,
    reader: Rc<Reader>,
    words: Guard<Arc<Words>>,
}

impl<'s> View<'s> {
    /// Opens a snapshot.
    pub fn begin(shared: &'s Shared) -> std::result::Result<View<'s>, StorageError> {
        let reader = reader(shared)?;
        if !reader.reuses(shared) {
            reader.end_idle();
        }
        if !reader.begun.get() {
            reader.begin(shared)?;
        }
        reader.depth.set(reader.depth.get() + 1);
        Ok(View { shared, reader, words: shared.words.load() })
    }

    fn reading(&self) -> Reading<'_> {
        let Reader { conn, shapes, frequent, .. } = &*self.reader;
        Reading { conn, shapes, frequent, words: &self.words, catalogue: &self.shared.catalogue }
    }
}

impl Drop for View<'_> {
    fn drop(&mut self) {
        self.reader.depth.set(self.reader.depth.get() - 1);
        self.reader.settle();
    }
}

impl Snapshot for View<'_> {
    fn rows(&self, plan: &ReadPlan) -> std::result::Result<Vec<Row>, StorageError> {
        self.reading().rows(plan)
    }

    fn count(&self, plan: &ReadPlan) -> std::result::Result<u64, StorageError> {
        let (catalogue, reading) = (&self.shared.catalogue, self.reading());
        if let Some(tallies) = tallied(plan, catalogue) {
            return reading.tallied(&tallies);
        }
        let lowered = lower(plan, Want::Count, catalogue, &self.words)?;
        let remembered = &self.shared.remembered;
        let stamp = dependencies::depends(plan, None, catalogue, &self.words).map(|on| self.shared.versions.sum(&on));
        // Versions that moved since the snapshot began belong to rows that it does not see.
        let kept = stamp
            .filter(|_| self.is_newest())
            .and_then(|stamp| Some((count_cache::key(lowered.shape(), &lowered.binds)?, stamp)));
        let Some((key, stamp)) = kept else { return reading.counted(plan) };
        if let Some(n) = remembered.get(&key, stamp) {
            return Ok(n);
        }
        let n = reading.counted(plan)?;
        remembered.put(key, stamp, n);
        Ok(n)
    }

    fn groups(&self, plan: &ReadPlan) -> std::result::Result<Vec<Row>, StorageError> {
        self.reading().groups(plan)
    }

    fn edges(&self, plan: &EdgePlan) -> std::result::Result<Vec<Edge>, StorageError> {
        self.reading().edges(plan)
    }

    fn meta(&self, space: &Name, ids: &[i64]) -> std::result::Result<Vec<MetaRow>, StorageError> {
        self.reading().meta(space, ids)
    }

    fn revisions(&self, space: &Name, ids: &[i64]) -> std::result::Result<Vec<RevisionCount>, StorageError> {
        self.reading().revisions(space, ids)
    }

    fn setting(&self, key: &Name) -> std::result::Result<Option<Arc<str>>, StorageError> {
        self.reading().setting(key)
    }

    fn slug(&self, scope: &str, slug: &str) -> std::result::Result<Option<i64>, StorageError> {
        self.reading().slug(scope, slug)
    }

    fn depends(&self, plan: &ReadPlan, rows: Option<&[Row]>) -> Option<Dependencies> {
        self.reading().depends(plan, rows)
    }

    fn depends_on_revisions(&self, space: &Name, ids: &[i64]) -> Option<Dependencies> {
        self.reading().depends_on_revisions(space, ids)
    }

    fn is_newest(&self) -> bool {
        self.shared.versions.rising() == self.reader.rising.get()
    }
}

/// Reads on one connection, in whatever transaction it is. Knows nothing of what was read before.
pub struct Reading<'r> {
    pub conn: &'r Connection,
    pub shapes: &'r StatementCache,
    pub frequent: &'r search::FrequentTexts,
    pub words: &'r Words,
    pub catalogue: &'r Catalogue,
}

impl Reading<'_> {
    /// The one number that a statement gives.
    fn number(&self, lowered: &Lowered<'_>) -> std::result::Result<u64, StorageError> {
        let numbers = self.shapes.select(self.conn, lowered, |_, row| row.get::<_, i64>(0))?;
        Ok(numbers.first().copied().unwrap_or(0).max(0) as u64)
    }

    fn tallied(&self, tallies: &Tallied) -> std::result::Result<u64, StorageError> {
        let sum = |plan: &ReadPlan| self.number(&lower(plan, Want::Sum, self.catalogue, self.words)?);
        let without = match &tallies.without {
            None => 0,
            Some(Without::Sum(plan)) => sum(plan)?,
            Some(Without::Rows(plan)) => self.number(&lower(plan, Want::Count, self.catalogue, self.words)?)?,
        };
        Ok(sum(&tallies.of)?.saturating_sub(without))
    }

    /// The number of rows that meet the plan's filter.
    fn counted(&self, plan: &ReadPlan) -> std::result::Result<u64, StorageError> {
        let plan = self.narrowed(plan)?;
        self.number(&lower(&plan, Want::Count, self.catalogue, self.words)?)
    }

    fn narrowed<'p>(&self, plan: &'p ReadPlan) -> std::result::Result<Cow<'p, ReadPlan>, StorageError> {
        search::narrowed((self.conn, self.frequent), self.catalogue, self.words, plan)
    }

    fn dictionary(&self) -> Dictionary<'_> {
        Dictionary { words: self.words, conn: self.conn }
    }

    fn numbers(&self, words: &[Name]) -> Bind {
        Bind::List(words.iter().map(|w| DbValue::Int(self.words.number(w).unwrap_or(NO_WORD))).collect())
    }

    fn select<T>(
        &self,
        text: &str,
        binds: &[Bind],
        row: impl FnMut(&rusqlite::Row<'_>) -> Result<T>,
    ) -> std::result::Result<Vec<T>, StorageError> {
        Ok(select(self.conn, text, binds.iter(), row)?)
    }
}

impl Snapshot for Reading<'_> {
    fn rows(&self, plan: &ReadPlan) -> std::result::Result<Vec<Row>, StorageError> {
        self.shapes.rows(&*self.narrowed(plan)?, Want::Rows, self.catalogue, self.dictionary())
    }

    fn count(&self, plan: &ReadPlan) -> std::result::Result<u64, StorageError> {
        match tallied(plan, self.catalogue) {
            Some(tallies) => self.tallied(&tallies),
            None => self.counted(plan),
        }
    }

    fn groups(&self, plan: &ReadPlan) -> std::result::Result<Vec<Row>, StorageError> {
        self.shapes.rows(&*self.narrowed(plan)?, Want::Groups, self.catalogue, self.dictionary())
    }

    fn edges(&self, plan: &EdgePlan) -> std::result::Result<Vec<Edge>, StorageError> {
        let of = Bind::List(plan.of.iter().map(|id| DbValue::Int(*id)).collect());
        let text = if plan.reverse { EDGES_TO } else { EDGES_FROM };
        let dictionary = self.dictionary();
        self.select(text, &[self.numbers(&plan.rels), of], |row| {
            Ok(Edge { rel: dictionary.name(row.get(0)?)?, src: row.get(1)?, dst: row.get(2)? })
        })
    }

    fn meta(&self, space: &Name, ids: &[i64]) -> std::result::Result<Vec<MetaRow>, StorageError> {
        let ids = Bind::List(ids.iter().map(|id| DbValue::Int(*id)).collect());
        let space = Bind::One(DbValue::Int(self.words.number(space).unwrap_or(NO_WORD)));
        self.select(META, &[space, ids], |row| {
            Ok(MetaRow { id: row.get(0)?, key: text(row, 1)?, number: row.get(2)?, json: text(row, 3)? })
        })
    }

    fn revisions(&self, space: &Name, ids: &[i64]) -> std::result::Result<Vec<RevisionCount>, StorageError> {
        let ids = Bind::List(ids.iter().map(|id| DbValue::Int(*id)).collect());
        let space = Bind::One(DbValue::Int(self.words.number(space).unwrap_or(NO_WORD)));
        self.select(REVISIONS, &[space, ids], |row| {
            Ok(RevisionCount { of: row.get(0)?, count: row.get(1)?, newest: row.get(2)? })
        })
    }

    fn setting(&self, key: &Name) -> std::result::Result<Option<Arc<str>>, StorageError> {
        let found = self.select(SETTING, &[Bind::One(DbValue::Text(key.clone()))], |row| text(row, 0))?;
        Ok(found.into_iter().next())
    }

    fn slug(&self, scope: &str, slug: &str) -> std::result::Result<Option<i64>, StorageError> {
        let binds = [scope, slug].map(|text| Bind::One(DbValue::Text(text.into())));
        Ok(self.select(SLUG, &binds, |row| row.get(0))?.into_iter().next())
    }

    fn depends(&self, plan: &ReadPlan, rows: Option<&[Row]>) -> Option<Dependencies> {
        dependencies::depends(plan, rows, self.catalogue, self.words)
    }

    fn depends_on_revisions(&self, space: &Name, ids: &[i64]) -> Option<Dependencies> {
        Some(dependencies::depends_on_revisions(space, ids, self.words))
    }

    /// Whether it is, only the connection's owner knows.
    fn is_newest(&self) -> bool {
        false
    }
}

const EDGES_FROM: &str = "SELECT rel, src, dst FROM edge \
    WHERE rel IN (SELECT value FROM rarray(?1)) AND src IN (SELECT value FROM rarray(?2)) ORDER BY src, rel, pos";
const EDGES_TO: &str = "SELECT rel, src, dst FROM edge \
    WHERE rel IN (SELECT value FROM rarray(?1)) AND dst IN (SELECT value FROM rarray(?2)) ORDER BY dst, rel, src";
const META: &str = "SELECT id, key, n, json FROM meta \
    WHERE space = ?1 AND id IN (SELECT value FROM rarray(?2)) ORDER BY id, key, n";
const REVISIONS: &str = "SELECT \"of\", count(*), (SELECT id FROM revision AS other \
    WHERE other.space = revision.space AND other.\"of\" = revision.\"of\" ORDER BY \"at\" DESC, id DESC LIMIT 1) \
    FROM revision WHERE space = ?1 AND \"of\" IN (SELECT value FROM rarray(?2)) GROUP BY \"of\"";
const SLUG: &str = "SELECT id FROM slug WHERE scope = ?1 AND slug = ?2";
const SETTING: &str = "SELECT json FROM setting WHERE key = ?1";

fn text(row: &rusqlite::Row<'_>, place: usize) -> Result<Arc<str>> {
    Ok(Arc::from(row.get_ref(place)?.as_str()?))
}

fn reader(shared: &Shared) -> std::result::Result<Rc<Reader>, StorageError> {
    READERS.with_borrow_mut(|readers| {
        if let Some((_, reader)) = readers.iter().find(|(id, _)| *id == shared.id) {
            return Ok(reader.clone());
        }
        let conn = open::reading(&shared.path, &shared.settings)?;
        let reader = Rc::new(Reader {
            conn,
            shapes: StatementCache::default(),
            frequent: search::FrequentTexts::default(),
            depth: Cell::new(0),
            begun: Cell::new(false),
            idle: Cell::new(false),
            since: Cell::new(None),
            log: OnceCell::new(),
            seen: Cell::new(i64::MIN),
            rising: Cell::new(0),
        });
        readers.push((shared.id, reader.clone()));
        Ok(reader)
    })
}

impl Reader {
    fn begin(&self, shared: &Shared) -> Result<()> {
        if !self.conn.is_autocommit() {
            self.end();
        }
        let rising = shared.versions.rising();
        self.rising.set(rising);
        let head = REUSES.get().then(|| self.log_head(shared)).flatten();
        self.since.set(head.map(|head| (Instant::now(), head)));
        execute(&self.conn, "BEGIN", &[])?;
        match self.look(shared) {
            Ok(took_up) => {
                // What this transaction sees is the newest state if only its own look has raised versions.
                if took_up && shared.versions.rising() == rising + 1 {
                    self.rising.set(rising + 1);
                }
                self.begun.set(true);
                Ok(())
            }
            Err(error) => {
                self.end();
                Err(error)
            }
        }
    }

    /// Ends the transaction when nothing needs it any more, or leaves it to the next snapshot.
    fn settle(&self) {
        if self.depth.get() > 0 || HELD.get() > 0 || !self.begun.get() {
            return;
        }
        self.idle.set(true);
        if self.since.get().is_none() {
            self.end_idle();
        }
    }

    /// Takes over an idle transaction if it still shows the newest state.
    fn reuses(&self, shared: &Shared) -> bool {
        if !self.idle.get() || shared.versions.rising() != self.rising.get() || shared.log_is_long() {
            return false;
        }
        let Some((since, head)) = self.since.get() else { return false };
        let reuses = since.elapsed() < MAX_REUSE && self.log_head(shared) == Some(head);
        reuses && self.idle.replace(false)
    }

    fn log_head(&self, shared: &Shared) -> Option<LogHead> {
        (*self.log.get_or_init(|| LogIndex::beside(&shared.path)))?.head()
    }

    fn end_idle(&self) {
        if self.idle.replace(false) && self.begun.replace(false) {
            self.end();
        }
    }

    /// Takes notice of what other processes committed; whether there was something new. (Also starts the read transaction,
    /// which `BEGIN` alone does not.)
    fn look(&self, shared: &Shared) -> Result<bool> {
        let version: i64 = self.conn.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if version == self.seen.get() {
            return Ok(false);
        }
        let all = |text: &str, values: &[i64]| {
            connection::select(&self.conn, text, &values.iter().map(Param::from).collect::<Vec<_>>())
        };
        let known = shared.versions.known();
        let commits = all(feed::NUMBER_OF_COMMITS, &[])?.first().map_or(0, |row| int(row, 0));
        let is_new = commits as u64 > known.commits;
        if is_new {
            let found =
                News::statements(known).iter().map(|(text, values)| all(text, values)).collect::<Result<_>>()?;
            shared.take_up(&News::of(known, found));
        }
        self.seen.set(version);
        Ok(is_new)
    }

    fn end(&self) {
        if execute(&self.conn, "COMMIT", &[]).is_err() {
            // The transaction only read; `begin` tries once more.
            let _ = self.conn.execute_batch("ROLLBACK");
        }
    }
}

fn execute(conn: &Connection, text: &str, params: &[&dyn ToSql]) -> Result<usize> {
    conn.prepare_cached(text)?.execute(params)
}

fn select<'b, T>(
    conn: &Connection,
    text: &str,
    binds: impl Iterator<Item = &'b Bind>,
    row: impl FnMut(&rusqlite::Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut statement = conn.prepare_cached(text)?;
    fetch(&mut statement, binds, row)
}

/// Everything that a statement gives.
pub(super) fn fetch<'b, T>(
    statement: &mut CachedStatement<'_>,
    binds: impl Iterator<Item = &'b Bind>,
    mut row: impl FnMut(&rusqlite::Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    QUERIES.set(QUERIES.get() + 1);
    for (place, value) in binds.enumerate() {
        bind(statement, place, value)?;
    }
    let mut rows = statement.raw_query();
    let mut found = Vec::new();
    while let Some(next) = rows.next()? {
        found.push(row(next)?);
    }
    Ok(found)
}

/// Counts text that was read in rows.
pub(super) fn count_text(bytes: u64) {
    TEXT.set(TEXT.get() + bytes);
}
