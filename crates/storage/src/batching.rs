//! Reads of many like requests, combined into few statements.
//!
//! Requests that are alike (those that embedding makes) read the same things of different rows. Here each of them runs
//! until it needs something that has not been read yet, which is recorded; then everything recorded is read together,
//! reads that differ only in ids as one; then the requests run again. So the number of statements depends on how many
//! reads a request makes one after another, not on how many requests there are, and every request still decides for
//! itself.

use super::plan::{Cond, DbValue, Edge, EdgePlan, MetaRow, Name, Op, ReadPlan, RevisionCount, Row, WritePlan};
use super::{Ahead, BeginFuture, CommitFuture, Dependencies, Held, Snapshot, Storage, StorageError, VersionSlot};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

/// Rows that are read together at most; where there are more, each request reads for itself.
const MOST: u64 = 5000;

/// Replaces the ids in a shape.
const NO_ID: i64 = i64::MIN;

/// See the module.
pub struct BatchedReads {
    inner: Arc<dyn Storage>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: Known,
    wanted: Vec<Read>,
    /// Something was recorded since the last [`BatchedReads::begin`].
    missed: bool,
}

#[derive(Default)]
struct Known {
    rows: Vec<(ReadPlan, Hole, Together<Row>)>,
    edges: Vec<(Vec<Name>, bool, Together<Edge>)>,
    meta: Vec<(Name, Together<MetaRow>)>,
    revisions: Vec<(Name, Together<RevisionCount>)>,
    /// Plans that are better read one by one.
    alone: Vec<ReadPlan>,
}

/// What was read for many ids at once, in the order of the statement.
struct Together<T> {
    ids: HashSet<i64>,
    found: Vec<T>,
    /// Places in `found`, by id.
    places: HashMap<i64, Vec<usize>>,
}

/// Where the ids are in a plan.
#[derive(Clone, Debug, PartialEq)]
enum Hole {
    Column(Name),
    /// Relations, one of which comes from these ids.
    From(Vec<Name>),
}

/// A read that was needed.
enum Read {
    Rows { shape: ReadPlan, hole: Hole, ids: Vec<i64> },
    Edges(EdgePlan),
    Meta(Name, Vec<i64>),
    Revisions(Name, Vec<i64>),
}

impl<T> Together<T> {
    fn new(ids: HashSet<i64>, found: Vec<T>, of: impl Fn(&T) -> Vec<i64>) -> Together<T> {
        let mut places: HashMap<i64, Vec<usize>> = HashMap::new();
        for (place, one) in found.iter().enumerate() {
            for id in of(one) {
                places.entry(id).or_default().push(place);
            }
        }
        Together { ids, found, places }
    }

    /// What was found for these ids; `None` when not all of them were read.
    fn of(&self, ids: &[i64]) -> Option<Vec<&T>> {
        if !ids.iter().all(|id| self.ids.contains(id)) {
            return None;
        }
        let mut places: Vec<usize> = ids.iter().filter_map(|id| self.places.get(id)).flatten().copied().collect();
        places.sort_unstable();
        places.dedup();
        Some(places.into_iter().map(|place| &self.found[place]).collect())
    }
}

impl BatchedReads {
    /// Nothing has been read yet.
    pub fn new(inner: Arc<dyn Storage>) -> BatchedReads {
        BatchedReads { inner, state: Mutex::default() }
    }

    /// A request begins.
    pub fn begin(&self) {
        self.lock().missed = false;
    }

    /// The request that began last needed what is not there: its outcome means nothing.
    pub fn missed(&self) -> bool {
        self.lock().missed
    }

    /// Reads together what the requests needed.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn fetch(&self) -> Result<(), StorageError> {
        let mut state = self.lock();
        let wanted = Wanted::of(std::mem::take(&mut state.wanted));
        let snapshot = self.inner.snapshot()?;
        wanted.send(&*snapshot);
        for (shape, hole, ids) in wanted.rows {
            match together(&*snapshot, &shape, &hole, ids)? {
                Some(found) => state.known.rows.push((shape, hole, found)),
                None => state.known.alone.push(shape),
            }
        }
        for (rels, reverse, ids) in wanted.edges {
            let plan = EdgePlan { rels, of: sorted(&ids), reverse };
            let found = snapshot.edges(&plan)?;
            let found = Together::new(ids, found, |e| vec![if reverse { e.dst } else { e.src }]);
            state.known.edges.push((plan.rels, reverse, found));
        }
        for (space, ids) in wanted.meta {
            let found = snapshot.meta(&space, &sorted(&ids))?;
            state.known.meta.push((space, Together::new(ids, found, |m| vec![m.id])));
        }
        for (space, ids) in wanted.revisions {
            let found = snapshot.revisions(&space, &sorted(&ids))?;
            state.known.revisions.push((space, Together::new(ids, found, |r| vec![r.of])));
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Reads that were needed, those that differ only in ids as one.
#[derive(Default)]
struct Wanted {
    rows: Vec<(ReadPlan, Hole, HashSet<i64>)>,
    edges: Vec<(Vec<Name>, bool, HashSet<i64>)>,
    meta: Vec<(Name, HashSet<i64>)>,
    revisions: Vec<(Name, HashSet<i64>)>,
}

impl Wanted {
    fn of(reads: Vec<Read>) -> Wanted {
        let mut wanted = Wanted::default();
        let Wanted { rows, edges, meta, revisions } = &mut wanted;
        for read in reads {
            match read {
                Read::Rows { shape, hole, ids } => match rows.iter_mut().find(|r| r.0 == shape && r.1 == hole) {
                    Some(like) => like.2.extend(ids),
                    None => rows.push((shape, hole, ids.into_iter().collect())),
                },
                Read::Edges(plan) => match edges.iter_mut().find(|e| e.0 == plan.rels && e.1 == plan.reverse) {
                    Some(like) => like.2.extend(plan.of),
                    None => edges.push((plan.rels, plan.reverse, plan.of.into_iter().collect())),
                },
                Read::Meta(space, ids) => gather(meta, space, ids),
                Read::Revisions(space, ids) => gather(revisions, space, ids),
            }
        }
        wanted
    }

    /// Sends all of them at once, where each would cost a round trip.
    fn send(&self, snapshot: &dyn Snapshot) {
        if !snapshot.reads_ahead() {
            return;
        }
        for (shape, hole, ids) in &self.rows {
            snapshot.ahead(&[Ahead::Rows(&all_of(shape, hole, ids))]);
            if let Hole::From(rels) = hole {
                snapshot.ahead(&[Ahead::Edges(&edges_from(rels, ids))]);
            }
        }
        for (rels, reverse, ids) in &self.edges {
            snapshot.ahead(&[Ahead::Edges(&EdgePlan { reverse: *reverse, ..edges_from(rels, ids) })]);
        }
        for (space, ids) in &self.meta {
            snapshot.ahead(&[Ahead::Meta(space, &sorted(ids))]);
        }
        for (space, ids) in &self.revisions {
            snapshot.ahead(&[Ahead::Revisions(space, &sorted(ids))]);
        }
    }
}

fn gather(all: &mut Vec<(Name, HashSet<i64>)>, space: Name, ids: Vec<i64>) {
    match all.iter_mut().find(|(known, _)| *known == space) {
        Some(like) => like.1.extend(ids),
        None => all.push((space, ids.into_iter().collect())),
    }
}

fn sorted(ids: &HashSet<i64>) -> Vec<i64> {
    let mut ids: Vec<i64> = ids.iter().copied().collect();
    ids.sort_unstable();
    ids
}

/// The plan of all rows of a shape, without their windows. Its last column says to which ids a row belongs.
fn all_of(shape: &ReadPlan, hole: &Hole, ids: &HashSet<i64>) -> ReadPlan {
    let mut plan = shape.clone();
    plan.filter = fill(&shape.filter, hole, &sorted(ids));
    plan.columns.push(match hole {
        Hole::Column(column) => column.clone(),
        Hole::From(_) => "id".into(),
    });
    (plan.limit, plan.offset) = (Some(MOST), 0);
    plan
}

fn edges_from(rels: &[Name], ids: &HashSet<i64>) -> EdgePlan {
    EdgePlan { rels: rels.to_vec(), of: sorted(ids), reverse: false }
}

/// The rows of all plans of a shape, without their windows. `None`: there are too many.
fn together(
    snapshot: &dyn Snapshot,
    shape: &ReadPlan,
    hole: &Hole,
    ids: HashSet<i64>,
) -> Result<Option<Together<Row>>, StorageError> {
    let (plan, place) = (all_of(shape, hole, &ids), shape.columns.len());
    let found = snapshot.rows(&plan)?;
    if found.len() as u64 == MOST {
        return Ok(None);
    }
    let mut sources: HashMap<i64, Vec<i64>> = HashMap::new();
    if let Hole::From(rels) = hole {
        for edge in snapshot.edges(&edges_from(rels, &ids))? {
            sources.entry(edge.dst).or_default().push(edge.src);
        }
    }
    let of = |row: &Row| match (row.get(place), hole) {
        (Some(DbValue::Int(id)), Hole::Column(_)) => vec![*id],
        (Some(DbValue::Int(id)), Hole::From(_)) => sources.get(id).cloned().unwrap_or_default(),
        _ => Vec::new(),
    };
    Ok(Some(Together::new(ids, found, of)))
}

/// Takes the ids out of a plan; `None` when it holds none.
fn open(plan: &ReadPlan) -> Option<(ReadPlan, Hole, Vec<i64>)> {
    let holes = holes(&plan.filter);
    // The key identifies rows best.
    let chosen = holes.iter().find(|(hole, _)| *hole == Hole::Column("id".into())).or_else(|| holes.first());
    let (hole, ids) = chosen?.clone();
    let shape = ReadPlan { filter: fill(&plan.filter, &hole, &[NO_ID]), ..plan.clone() };
    Some((shape, hole, ids))
}

fn holes(cond: &Cond) -> Vec<(Hole, Vec<i64>)> {
    match cond {
        Cond::All(all) => all.iter().flat_map(holes).collect(),
        Cond::Compare(column, Op::Eq, DbValue::Int(id)) => vec![(Hole::Column(column.clone()), vec![*id])],
        Cond::In(column, values) => ints(values).map(|ids| (Hole::Column(column.clone()), ids)).into_iter().collect(),
        other => linked(other).map(|(rels, ids)| (Hole::From(rels), ids)).into_iter().collect(),
    }
}

/// Relations that come from the same ids, if the condition is about nothing else.
fn linked(cond: &Cond) -> Option<(Vec<Name>, Vec<i64>)> {
    let all = match cond {
        Cond::Any(all) => all.as_slice(),
        one => std::slice::from_ref(one),
    };
    let (mut rels, mut ids) = (Vec::new(), None);
    for cond in all {
        let Cond::LinkedFrom { rel, src } = cond else { return None };
        if src.is_empty() || ids.is_some_and(|ids| ids != src) {
            return None;
        }
        rels.push(rel.clone());
        ids = Some(src);
    }
    ids.map(|ids| (rels, ids.clone()))
}

/// The numbers in a list of nothing else.
fn ints(values: &[DbValue]) -> Option<Vec<i64>> {
    let ints: Option<Vec<i64>> = values.iter().map(|v| if let DbValue::Int(i) = v { Some(*i) } else { None }).collect();
    ints.filter(|ints| !ints.is_empty())
}

/// Puts ids into the first place that fits the hole.
fn fill(cond: &Cond, hole: &Hole, ids: &[i64]) -> Cond {
    fn put(cond: &Cond, hole: &Hole, ids: &[i64], done: &mut bool) -> Cond {
        let within = |column: &Name| Cond::In(column.clone(), ids.iter().copied().map(DbValue::Int).collect());
        let from = |rel: &Name| Cond::LinkedFrom { rel: rel.clone(), src: ids.to_vec() };
        match (cond, hole) {
            _ if *done => cond.clone(),
            (Cond::All(all), _) => Cond::All(all.iter().map(|c| put(c, hole, ids, done)).collect()),
            (Cond::Compare(column, Op::Eq, DbValue::Int(_)), Hole::Column(own)) if column == own => {
                *done = true;
                within(own)
            }
            (Cond::In(column, values), Hole::Column(own)) if column == own && ints(values).is_some() => {
                *done = true;
                within(own)
            }
            (other, Hole::From(rels)) if linked(other).is_some_and(|(own, _)| own == *rels) => {
                *done = true;
                Cond::Any(rels.iter().map(from).collect())
            }
            _ => cond.clone(),
        }
    }
    put(cond, hole, ids, &mut false)
}

impl Storage for BatchedReads {
    fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StorageError> {
        Ok(Box::new(BatchedSnapshot { inner: self.inner.snapshot()?, by: self }))
    }

    fn hold(&self) -> Box<dyn Held + '_> {
        self.inner.hold()
    }

    fn commit(&self, plan: WritePlan) -> CommitFuture {
        self.inner.commit(plan)
    }

    fn scope_version(&self, scope: &Name) -> u64 {
        self.inner.scope_version(scope)
    }

    fn slot_version(&self, slot: VersionSlot) -> u64 {
        self.inner.slot_version(slot)
    }

    fn version_epoch(&self) -> Option<u64> {
        self.inner.version_epoch()
    }

    fn catch_up(&self) -> Result<(), StorageError> {
        self.inner.catch_up()
    }

    fn hears_commits(&self) -> bool {
        self.inner.hears_commits()
    }

    fn begin(&self) -> BeginFuture {
        self.inner.begin()
    }
}

struct BatchedSnapshot<'s> {
    inner: Box<dyn Snapshot + 's>,
    by: &'s BatchedReads,
}

impl BatchedSnapshot<'_> {
    /// What has been read, or a record of what is needed.
    fn look<T>(&self, known: impl FnOnce(&Known) -> Option<T>, read: impl FnOnce() -> Read) -> Result<T, StorageError> {
        let mut state = self.by.lock();
        if let Some(found) = known(&state.known) {
            return Ok(found);
        }
        state.wanted.push(read());
        state.missed = true;
        Err(StorageError::not_yet())
    }

    /// The rows of a plan without its window; `None`: the plan is run as it is.
    fn all(&self, plan: &ReadPlan) -> Result<Option<Vec<Row>>, StorageError> {
        let Some((shape, hole, ids)) = open(plan) else { return Ok(None) };
        if self.by.lock().known.alone.contains(&shape) {
            return Ok(None);
        }
        let width = plan.columns.len();
        let known = |known: &Known| {
            let like = known.rows.iter().filter(|(s, h, _)| *s == shape && *h == hole);
            let found = like.filter_map(|(.., together)| together.of(&ids)).next()?;
            Some(found.into_iter().map(|row| row[..width].to_vec()).collect())
        };
        let read = || Read::Rows { shape: shape.clone(), hole: hole.clone(), ids: ids.clone() };
        self.look(known, read).map(Some)
    }
}

impl Snapshot for BatchedSnapshot<'_> {
    fn rows(&self, plan: &ReadPlan) -> Result<Vec<Row>, StorageError> {
        let Some(all) = self.all(plan)? else { return self.inner.rows(plan) };
        let skipped = all.into_iter().skip(usize::try_from(plan.offset).unwrap_or(usize::MAX));
        Ok(skipped.take(plan.limit.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX))).collect())
    }

    fn count(&self, plan: &ReadPlan) -> Result<u64, StorageError> {
        let bare = ReadPlan { columns: Vec::new(), order: Vec::new(), limit: None, offset: 0, ..plan.clone() };
        match self.all(&bare)? {
            Some(all) => Ok(all.len() as u64),
            None => self.inner.count(plan),
        }
    }

    fn groups(&self, plan: &ReadPlan) -> Result<Vec<Row>, StorageError> {
        self.inner.groups(plan)
    }

    fn edges(&self, plan: &EdgePlan) -> Result<Vec<Edge>, StorageError> {
        let known = |known: &Known| {
            let like = known.edges.iter().filter(|(rels, reverse, _)| *rels == plan.rels && *reverse == plan.reverse);
            let found = like.filter_map(|(.., together)| together.of(&plan.of)).next()?;
            Some(found.into_iter().cloned().collect())
        };
        self.look(known, || Read::Edges(plan.clone()))
    }

    fn meta(&self, space: &Name, ids: &[i64]) -> Result<Vec<MetaRow>, StorageError> {
        let known = |known: &Known| {
            let found = known.meta.iter().filter(|(s, _)| s == space).filter_map(|(_, t)| t.of(ids)).next()?;
            Some(found.into_iter().cloned().collect())
        };
        self.look(known, || Read::Meta(space.clone(), ids.to_vec()))
    }

    fn revisions(&self, space: &Name, ids: &[i64]) -> Result<Vec<RevisionCount>, StorageError> {
        let known = |known: &Known| {
            let found = known.revisions.iter().filter(|(s, _)| s == space).filter_map(|(_, t)| t.of(ids)).next()?;
            Some(found.into_iter().copied().collect())
        };
        self.look(known, || Read::Revisions(space.clone(), ids.to_vec()))
    }

    fn setting(&self, key: &Name) -> Result<Option<Arc<str>>, StorageError> {
        self.inner.setting(key)
    }

    fn slug(&self, scope: &str, slug: &str) -> Result<Option<i64>, StorageError> {
        self.inner.slug(scope, slug)
    }

    fn depends(&self, plan: &ReadPlan, rows: Option<&[Row]>) -> Option<Dependencies> {
        self.inner.depends(plan, rows)
    }

    fn depends_on_revisions(&self, space: &Name, ids: &[i64]) -> Option<Dependencies> {
        self.inner.depends_on_revisions(space, ids)
    }

    fn is_newest(&self) -> bool {
        self.inner.is_newest()
    }
}
