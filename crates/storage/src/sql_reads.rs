//! Reads of one state as SQL, the same in every engine. An engine carries out the statements.

use super::catalogue::Catalogue;
use super::observe;
use super::plan::{Cond, DbValue, Edge, EdgePlan, MetaRow, Name, Order, ReadPlan, RevisionCount, Row};
use super::read_cache::{self, ReadCache};
use super::sql::{Bind, Lowered, ResultKind, is_part_of_index, lower, with_and_without_target};
use super::statement::{int, text_at};
use super::tally::{Exclusion, TallyPlans, tallied};
use super::versions::Versions;
use super::words::{NO_WORD, Words};
use crate::dependencies::Dependencies;
use crate::error::StorageError;
use crate::snapshot::{ReadRequest, ReadResult, Snapshot};
use std::borrow::Cow;
use std::sync::Arc;

/// The columns of a row that a statement gives, by their places.
pub(super) trait Columns {
    fn int(&self, place: usize) -> Result<i64, StorageError>;
    fn text(&self, place: usize) -> Result<Arc<str>, StorageError>;
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

/// The dictionary and the layout that statements are made with.
#[derive(Clone, Copy)]
pub(super) struct Names<'r> {
    pub words: &'r Words,
    pub catalogue: &'r Catalogue,
}

/// Carries out statements that read, in whatever transaction there is.
pub(super) trait Executor {
    /// A row of [`Executor::select`].
    type Row<'r>: Columns;

    const TEXTS: ReadTexts;

    /// Whether a statement may name the index that rows are read by. Elsewhere the planner knows how many rows a target has.
    const NAMES_INDEXES: bool;

    /// The rows that a lowered plan gives, words in place of their numbers.
    fn rows(&self, lowered: &Lowered<'_>, words: &Words) -> Result<Vec<Row>, StorageError>;

    /// The one number that a lowered plan gives.
    fn number(&self, lowered: &Lowered<'_>) -> Result<u64, StorageError>;

    /// The rows that a statement gives, each decoded.
    fn select<T>(
        &self,
        text: &'static str,
        binds: &[Bind],
        decode: impl FnMut(&Self::Row<'_>) -> Result<T, StorageError>,
    ) -> Result<Vec<T>, StorageError>;

    /// The word of a number, also of one that another process added a moment ago.
    fn word(&self, words: &Words, number: i64) -> Result<Name, StorageError> {
        if let Some(name) = words.name(number) {
            return Ok(name.clone());
        }
        let found = self.select(WORD, &[Bind::One(DbValue::Int(number))], |row| row.text(0))?;
        let missing = || StorageError::Failed(format!("the dictionary has no word {number}"));
        found.into_iter().next().ok_or_else(missing)
    }

    /// Puts words in the place of their numbers; `are_words`: see [`Rendered::words`](super::sql::Rendered::words).
    fn name_words(&self, mut rows: Vec<Row>, are_words: &[bool], words: &Words) -> Result<Vec<Row>, StorageError> {
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

    /// A plan that finds the same rows with an index of texts, where the engine has one.
    fn narrow<'p>(&self, plan: &'p ReadPlan, _: Names<'_>) -> Result<Cow<'p, ReadPlan>, StorageError> {
        Ok(Cow::Borrowed(plan))
    }
}

/// Statements that read what is no row of a plan. Engines differ in how they look for the members of a list.
pub(super) struct ReadTexts {
    pub edges_from: &'static str,
    pub edges_to: &'static str,
    pub meta: &'static str,
    pub revisions: &'static str,
    pub setting: &'static str,
    pub slug: &'static str,
}

/// [`ReadTexts`] with the conditions that a value is in the first list bound, or in the second, and the grouping of revisions.
macro_rules! read_texts {
    ($in_first:literal, $in_second:literal, $grouped:literal) => {
        $crate::sql_reads::ReadTexts {
            edges_from: concat!(
                "SELECT rel, src, dst FROM edge WHERE rel ",
                $in_first,
                " AND src ",
                $in_second,
                " ORDER BY src, rel, pos"
            ),
            edges_to: concat!(
                "SELECT rel, src, dst FROM edge WHERE rel ",
                $in_first,
                " AND dst ",
                $in_second,
                " ORDER BY dst, rel, src"
            ),
            meta: concat!(
                "SELECT id, key, n, json FROM meta WHERE space = ?1 AND id ",
                $in_second,
                " ORDER BY id, key, n"
            ),
            revisions: concat!(
                "SELECT \"of\", count(*), (SELECT id FROM revision AS other WHERE other.space = revision.space ",
                "AND other.\"of\" = revision.\"of\" ORDER BY \"at\" DESC, id DESC LIMIT 1) ",
                "FROM revision WHERE space = ?1 AND \"of\" ",
                $in_second,
                " ",
                $grouped
            ),
            setting: "SELECT json FROM setting WHERE key = ?1",
            slug: "SELECT id FROM slug WHERE scope = ?1 AND slug = ?2",
        }
    };
}
pub(super) use read_texts;

/// Rows that are tested for each that is found, at most, if the rows of a target are read in another order.
const MOST_TESTED: u64 = 32;

/// The texts of so many windows are looked into at once, before what is found is ordered.
const FEW_WINDOWS: usize = 4;

/// See the module. Knows nothing of what was read before.
pub(super) struct SqlReads<'r, E> {
    pub executor: E,
    pub names: Names<'r>,
    /// The snapshot that is read, where small reads are cached.
    pub caching: Option<&'r dyn CachingSnapshot>,
}

/// A search for texts in the rows of many keys, of which a window is read in an order that knows no text.
struct TextSearch<'p> {
    key: &'p Name,
    /// Rows up to the window's end.
    window: usize,
    texts: Vec<Cond>,
    others: Vec<Cond>,
}

impl<'p> TextSearch<'p> {
    /// `None`: the plan is no such search.
    fn of(plan: &'p ReadPlan, catalogue: &'p Catalogue) -> Option<TextSearch<'p>> {
        let window = usize::try_from(plan.limit?.saturating_add(plan.offset)).ok()?;
        let key = &catalogue.table(&plan.table).ok()?.def.key.name;
        let by_columns = plan.order.iter().all(|order| matches!(order, Order::Column(..)));
        if !by_columns || plan.order.is_empty() {
            return None;
        }
        let conjuncts = plan.filter.conjuncts();
        conjuncts
            .iter()
            .find(|cond| matches!(cond, Cond::In(name, keys) if name == key && keys.len() / FEW_WINDOWS > window))?;
        let (texts, others): (Vec<Cond>, Vec<Cond>) = conjuncts.into_iter().cloned().partition(searches);
        (!texts.is_empty()).then_some(TextSearch { key, window, texts, others })
    }
}

/// Whether texts are looked into for a condition.
fn searches(cond: &Cond) -> bool {
    match cond {
        Cond::All(conds) | Cond::Any(conds) => conds.iter().any(searches),
        Cond::Not(cond) => searches(cond),
        Cond::Contains(..) => true,
        _ => false,
    }
}

/// A snapshot of a database with a cache of small reads.
pub(super) trait CachingSnapshot: Snapshot {
    fn cache(&self) -> (&ReadCache, &Versions);
}

impl<E: Executor> SqlReads<'_, E> {
    fn lower<'p>(&'p self, plan: &'p ReadPlan, want: ResultKind) -> Result<Lowered<'p>, StorageError> {
        lower(plan, want, self.names.catalogue, self.names.words)
    }

    /// The rows of a plan, or its groups.
    fn rows(&self, plan: &ReadPlan, want: ResultKind) -> Result<Vec<Row>, StorageError> {
        let plan = self.executor.narrow(plan, self.names)?;
        let is_window = want == ResultKind::Rows && plan.limit.is_some();
        if let Some(search) = TextSearch::of(&plan, self.names.catalogue).filter(|_| is_window) {
            return self.found_in_order(&plan, &search);
        }
        let by_order = E::NAMES_INDEXES
            && is_window
            && (is_part_of_index(&plan, self.names.catalogue) || self.walks_order(&plan)?);
        let want = if by_order { ResultKind::OrderedRows } else { want };
        self.executor.rows(&self.lower(&plan, want)?, self.names.words)
    }

    /// The rows of a search among many keys: they are ordered before their texts are looked into, and no more than fill the window.
    fn found_in_order(&self, plan: &ReadPlan, search: &TextSearch<'_>) -> Result<Vec<Row>, StorageError> {
        let read = |plan: &ReadPlan| self.executor.rows(&self.lower(plan, ResultKind::Rows)?, self.names.words);
        let bare = ReadPlan { columns: vec![search.key.clone()], limit: None, offset: 0, ..plan.clone() };
        let keys = read(&ReadPlan { filter: Cond::All(search.others.clone()), ..bare })?;
        let mut keys: Vec<DbValue> = keys.into_iter().flatten().collect();
        let (mut rows, mut part) = (Vec::new(), search.window.saturating_add(search.window / 4));
        while rows.len() < search.window && !keys.is_empty() {
            let rest = keys.split_off(part.min(keys.len()));
            let named = Cond::In(search.key.clone(), std::mem::replace(&mut keys, rest));
            let filter = Cond::All([named].into_iter().chain(search.texts.iter().cloned()).collect());
            rows.extend(read(&ReadPlan { filter, limit: None, offset: 0, ..plan.clone() })?);
            part = part.saturating_mul(4);
        }
        let skipped = usize::try_from(plan.offset).unwrap_or(usize::MAX);
        rows.truncate(search.window);
        Ok(rows.split_off(skipped.min(rows.len())))
    }

    /// Whether the rows of a target are so many that a few of them are found soon in another order than the edges have. To
    /// test a row costs a tenth of what it costs to read one by its edge and sort it. Where the rows of the target are all at
    /// the end of the order, every row of the table is tested.
    fn walks_order(&self, plan: &ReadPlan) -> Result<bool, StorageError> {
        let catalogue = self.names.catalogue;
        let Some((found, all)) = with_and_without_target(plan, catalogue) else { return Ok(false) };
        // A count that is not cached costs as much as the sort.
        let is_cached = self.caching.is_some() || tallied(&found, catalogue).is_some();
        let Some(all) = tallied(&all, catalogue).filter(|_| is_cached) else { return Ok(false) };
        let (found, all) = ((self as &dyn Snapshot).count(&found)?, self.tally(&all)?);
        let window = plan.limit.unwrap_or(u64::MAX).saturating_add(plan.offset);
        // Some window × all / found rows are tested.
        let tested = u128::from(window) * u128::from(all) / u128::from(found.max(1));
        Ok(all <= found.saturating_mul(MOST_TESTED) && tested < u128::from(found) * 4)
    }

    /// The number of rows that meet the plan's filter.
    fn count(&self, plan: &ReadPlan) -> Result<u64, StorageError> {
        let plan = self.executor.narrow(plan, self.names)?;
        self.executor.number(&self.lower(&plan, ResultKind::Count)?)
    }

    /// The number that tallies add up to.
    fn tally(&self, tallies: &TallyPlans) -> Result<u64, StorageError> {
        let sum = |plan: &ReadPlan| self.executor.number(&self.lower(plan, ResultKind::Sum)?);
        let without = match &tallies.without {
            None => 0,
            Some(Exclusion::Sum(plan)) => sum(plan)?,
            Some(Exclusion::Rows(plan)) => self.executor.number(&self.lower(plan, ResultKind::Count)?)?,
        };
        Ok(sum(&tallies.of)?.saturating_sub(without))
    }

    /// The rows of a plan or their number, read once for each state of what they depend on.
    fn cached(&self, request: ReadRequest<'_>, plan: &ReadPlan, want: ResultKind) -> Result<ReadResult, StorageError> {
        let read = || match want {
            ResultKind::Count => self.count(plan).map(ReadResult::Count),
            _ => self.rows(plan, want).map(ReadResult::Rows),
        };
        let Some(caching) = self.caching else { return read() };
        let Names { words, catalogue } = self.names;
        let (cache, versions) = caching.cache();
        let lowered = self.lower(plan, want)?;
        let on = observe::of(request, &ReadResult::Rows(Vec::new()), catalogue, words);
        let key = on.and_then(|on| Some((read_cache::key(lowered.shape(), &lowered.binds)?, versions.sum(&on))));
        // Asked last: a commit between the two would give its versions to a result that it has made old. Versions that moved since
        // the snapshot began belong to rows that it does not see.
        let Some((key, stamp)) = key.filter(|_| caching.is_newest()) else { return read() };
        if let Some(result) = cache.get(&key, stamp) {
            return Ok(result);
        }
        let result = read()?;
        cache.put(key, stamp, result.clone());
        Ok(result)
    }

    fn edges(&self, plan: &EdgePlan) -> Result<Vec<Edge>, StorageError> {
        let numbers = plan.rels.iter().map(|rel| DbValue::Int(self.number_of(rel)));
        let binds = [Bind::List(numbers.collect()), list(&plan.of)];
        let text = if plan.reverse { E::TEXTS.edges_to } else { E::TEXTS.edges_from };
        self.executor.select(text, &binds, |row| {
            let rel = self.executor.word(self.names.words, row.int(0)?)?;
            Ok(Edge { rel, src: row.int(1)?, dst: row.int(2)? })
        })
    }

    /// Rows of one space.
    fn of_space<T>(
        &self,
        text: &'static str,
        (space, ids): (&Name, &[i64]),
        decode: impl FnMut(&E::Row<'_>) -> Result<T, StorageError>,
    ) -> Result<Vec<T>, StorageError> {
        let space = Bind::One(DbValue::Int(self.number_of(space)));
        self.executor.select(text, &[space, list(ids)], decode)
    }

    fn number_of(&self, word: &str) -> i64 {
        self.names.words.number(word).unwrap_or(NO_WORD)
    }
}

/// Numbers to bind as one value.
pub(super) fn list(ids: &[i64]) -> Bind {
    Bind::List(ids.iter().copied().map(DbValue::Int).collect())
}

impl<E: Executor> Snapshot for SqlReads<'_, E> {
    fn read(&self, request: ReadRequest<'_>) -> Result<ReadResult, StorageError> {
        let text_of = |text: &str| Bind::One(DbValue::Text(text.into()));
        Ok(match request {
            ReadRequest::Rows(plan) => ReadResult::Rows(self.rows(plan, ResultKind::Rows)?),
            ReadRequest::Groups(plan) => ReadResult::Rows(self.rows(plan, ResultKind::Groups)?),
            ReadRequest::CachedRows(plan) => self.cached(request, plan, ResultKind::Rows)?,
            ReadRequest::Count(plan) => match tallied(plan, self.names.catalogue) {
                Some(tallies) => ReadResult::Count(self.tally(&tallies)?),
                None => self.cached(request, plan, ResultKind::Count)?,
            },
            ReadRequest::Edges(plan) => ReadResult::Edges(self.edges(plan)?),
            ReadRequest::Meta(space, ids) => ReadResult::Meta(self.of_space(E::TEXTS.meta, (space, ids), |row| {
                Ok(MetaRow { id: row.int(0)?, key: row.text(1)?, number: row.int(2)?, json: row.text(3)? })
            })?),
            ReadRequest::Revisions(space, ids) => {
                ReadResult::Revisions(self.of_space(E::TEXTS.revisions, (space, ids), |row| {
                    Ok(RevisionCount { of: row.int(0)?, count: row.int(1)?, newest: row.int(2)? })
                })?)
            }
            ReadRequest::Setting(key) => {
                let found = self.executor.select(E::TEXTS.setting, &[text_of(key)], |row| row.text(0))?;
                ReadResult::Setting(found.into_iter().next())
            }
            ReadRequest::Slug(scope, slug) => {
                let binds = [text_of(scope), text_of(slug)];
                ReadResult::Slug(self.executor.select(E::TEXTS.slug, &binds, |row| row.int(0))?.into_iter().next())
            }
        })
    }

    fn dependencies(&self, request: ReadRequest<'_>, result: &ReadResult) -> Option<Dependencies> {
        observe::of(request, result, self.names.catalogue, self.names.words)
    }

    /// Whether it is, only the transaction's owner knows.
    fn is_newest(&self) -> bool {
        false
    }
}
