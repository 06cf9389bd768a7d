//! Reads of many like requests, combined into few statements.
//!
//! Requests that are alike (those that embedding makes) read the same things of different rows. Here each of them runs
//! until it needs something that has not been read yet, which is recorded; then everything recorded is read together,
//! reads that differ only in ids as one; then the requests run again. So the number of statements depends on how many
//! reads a request makes one after another, not on how many requests there are, and every request still decides for
//! itself.

use super::forward::forward;
use super::plan::{Cond, DbValue, Edge, EdgePlan, MetaRow, Name, Op, ReadPlan, RevisionCount, Row};
use crate::database::Storage;
use crate::error::StorageError;
use crate::snapshot::{ReadRequest, ReadResult, Snapshot};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

/// Rows that are read together at most; where there are more, each request reads for itself.
const MOST: u64 = 5000;

/// Replaces the ids in a shape.
const NO_ID: i64 = i64::MIN;

/// See the module.
pub struct BatchedReads {
    inner: Arc<dyn Storage>,
    state: Mutex<BatchState>,
}

#[derive(Default)]
struct BatchState {
    known: FetchedReads,
    missing: Vec<MissedRead>,
    /// Something was recorded since the last [`BatchedReads::begin`].
    missed: bool,
}

/// Relations, and whether they are followed backwards.
type EdgeKind = (Vec<Name>, bool);

#[derive(Default)]
struct FetchedReads {
    rows: Vec<(ReadPlan, IdSlot, GroupedRows<Row>)>,
    edges: Vec<(EdgeKind, GroupedRows<Edge>)>,
    meta: Vec<(Name, GroupedRows<MetaRow>)>,
    revisions: Vec<(Name, GroupedRows<RevisionCount>)>,
    /// Plans that are better read one by one.
    alone: Vec<ReadPlan>,
}

/// The rows read for many ids at once, in the order of the statement.
struct GroupedRows<T> {
    ids: HashSet<i64>,
    found: Vec<T>,
    /// Places in `found`, by id.
    places: HashMap<i64, Vec<usize>>,
}

/// Where the ids are in a plan.
#[derive(Clone, Debug, PartialEq)]
enum IdSlot {
    Column(Name),
    /// Relations, one of which comes from these ids.
    From(Vec<Name>),
}

/// A read that was needed.
enum MissedRead {
    Rows { shape: ReadPlan, slot: IdSlot, ids: Vec<i64> },
    Edges(EdgePlan),
    Meta(Name, Vec<i64>),
    Revisions(Name, Vec<i64>),
}

impl<T> GroupedRows<T> {
    fn new(ids: HashSet<i64>, found: Vec<T>, of: impl Fn(&T) -> Vec<i64>) -> GroupedRows<T> {
        let mut places: HashMap<i64, Vec<usize>> = HashMap::new();
        for (place, one) in found.iter().enumerate() {
            for id in of(one) {
                places.entry(id).or_default().push(place);
            }
        }
        GroupedRows { ids, found, places }
    }

    /// The rows found for these ids; `None` when not all of them were read.
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
    pub fn fetch(&self) -> Result<(), StorageError> {
        let mut state = self.lock();
        let merged = MergedReads::of(std::mem::take(&mut state.missing));
        let snapshot = self.inner.snapshot()?;
        merged.send(&*snapshot);
        for (shape, slot, ids) in merged.rows {
            match read_grouped(&*snapshot, &shape, &slot, ids)? {
                Some(found) => state.known.rows.push((shape, slot, found)),
                None => state.known.alone.push(shape),
            }
        }
        for (rels, reverse, ids) in merged.edges {
            let plan = EdgePlan { rels, of: sorted(&ids), reverse };
            let found = snapshot.edges(&plan)?;
            let found = GroupedRows::new(ids, found, |e| vec![if reverse { e.dst } else { e.src }]);
            state.known.edges.push(((plan.rels, reverse), found));
        }
        for (space, ids) in merged.meta {
            let found = snapshot.meta(&space, &sorted(&ids))?;
            state.known.meta.push((space, GroupedRows::new(ids, found, |m| vec![m.id])));
        }
        for (space, ids) in merged.revisions {
            let found = snapshot.revisions(&space, &sorted(&ids))?;
            state.known.revisions.push((space, GroupedRows::new(ids, found, |r| vec![r.of])));
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, BatchState> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Reads that were needed, those that differ only in ids as one.
#[derive(Default)]
struct MergedReads {
    rows: Vec<(ReadPlan, IdSlot, HashSet<i64>)>,
    edges: Vec<(Vec<Name>, bool, HashSet<i64>)>,
    meta: Vec<(Name, HashSet<i64>)>,
    revisions: Vec<(Name, HashSet<i64>)>,
}

impl MergedReads {
    fn of(reads: Vec<MissedRead>) -> MergedReads {
        let mut merged = MergedReads::default();
        let MergedReads { rows, edges, meta, revisions } = &mut merged;
        for read in reads {
            match read {
                MissedRead::Rows { shape, slot, ids } => match rows.iter_mut().find(|r| r.0 == shape && r.1 == slot) {
                    Some(like) => like.2.extend(ids),
                    None => rows.push((shape, slot, ids.into_iter().collect())),
                },
                MissedRead::Edges(plan) => match edges.iter_mut().find(|e| e.0 == plan.rels && e.1 == plan.reverse) {
                    Some(like) => like.2.extend(plan.of),
                    None => edges.push((plan.rels, plan.reverse, plan.of.into_iter().collect())),
                },
                MissedRead::Meta(space, ids) => gather(meta, space, ids),
                MissedRead::Revisions(space, ids) => gather(revisions, space, ids),
            }
        }
        merged
    }

    /// Sends all of them at once, where each would cost a round trip.
    fn send(&self, snapshot: &dyn Snapshot) {
        if !snapshot.can_prefetch() {
            return;
        }
        for (shape, slot, ids) in &self.rows {
            snapshot.prefetch(&[ReadRequest::Rows(&all_of(shape, slot, ids))]);
            if let IdSlot::From(rels) = slot {
                snapshot.prefetch(&[ReadRequest::Edges(&edges_from(rels, ids))]);
            }
        }
        for (rels, reverse, ids) in &self.edges {
            snapshot.prefetch(&[ReadRequest::Edges(&EdgePlan { reverse: *reverse, ..edges_from(rels, ids) })]);
        }
        for (space, ids) in &self.meta {
            snapshot.prefetch(&[ReadRequest::Meta(space, &sorted(ids))]);
        }
        for (space, ids) in &self.revisions {
            snapshot.prefetch(&[ReadRequest::Revisions(space, &sorted(ids))]);
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
fn all_of(shape: &ReadPlan, slot: &IdSlot, ids: &HashSet<i64>) -> ReadPlan {
    let mut plan = shape.clone();
    plan.filter = fill(&shape.filter, slot, &sorted(ids));
    plan.columns.push(match slot {
        IdSlot::Column(column) => column.clone(),
        IdSlot::From(_) => "id".into(),
    });
    (plan.limit, plan.offset) = (Some(MOST), 0);
    plan
}

fn edges_from(rels: &[Name], ids: &HashSet<i64>) -> EdgePlan {
    EdgePlan { rels: rels.to_vec(), of: sorted(ids), reverse: false }
}

/// The rows of all plans of a shape, without their windows. `None`: there are too many.
fn read_grouped(
    snapshot: &dyn Snapshot,
    shape: &ReadPlan,
    slot: &IdSlot,
    ids: HashSet<i64>,
) -> Result<Option<GroupedRows<Row>>, StorageError> {
    let (plan, place) = (all_of(shape, slot, &ids), shape.columns.len());
    let found = snapshot.rows(&plan)?;
    if found.len() as u64 == MOST {
        return Ok(None);
    }
    let mut sources: HashMap<i64, Vec<i64>> = HashMap::new();
    if let IdSlot::From(rels) = slot {
        for edge in snapshot.edges(&edges_from(rels, &ids))? {
            sources.entry(edge.dst).or_default().push(edge.src);
        }
    }
    let of = |row: &Row| match (row.get(place), slot) {
        (Some(DbValue::Int(id)), IdSlot::Column(_)) => vec![*id],
        (Some(DbValue::Int(id)), IdSlot::From(_)) => sources.get(id).cloned().unwrap_or_default(),
        _ => Vec::new(),
    };
    Ok(Some(GroupedRows::new(ids, found, of)))
}

/// Takes the ids out of a plan; `None` when it holds none.
fn open(plan: &ReadPlan) -> Option<(ReadPlan, IdSlot, Vec<i64>)> {
    let slots = slots(&plan.filter);
    // The key identifies rows best.
    let chosen = slots.iter().find(|(slot, _)| *slot == IdSlot::Column("id".into())).or_else(|| slots.first());
    let (slot, ids) = chosen?.clone();
    let shape = ReadPlan { filter: fill(&plan.filter, &slot, &[NO_ID]), ..plan.clone() };
    Some((shape, slot, ids))
}

fn slots(cond: &Cond) -> Vec<(IdSlot, Vec<i64>)> {
    match cond {
        Cond::All(all) => all.iter().flat_map(slots).collect(),
        Cond::Compare(column, Op::Eq, DbValue::Int(id)) => vec![(IdSlot::Column(column.clone()), vec![*id])],
        Cond::In(column, values) => ints(values).map(|ids| (IdSlot::Column(column.clone()), ids)).into_iter().collect(),
        other => linked(other).map(|(rels, ids)| (IdSlot::From(rels), ids)).into_iter().collect(),
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

/// Puts ids into the first place that fits the slot.
fn fill(cond: &Cond, slot: &IdSlot, ids: &[i64]) -> Cond {
    fn put(cond: &Cond, slot: &IdSlot, ids: &[i64], done: &mut bool) -> Cond {
        let within = |column: &Name| Cond::In(column.clone(), ids.iter().copied().map(DbValue::Int).collect());
        let from = |rel: &Name| Cond::LinkedFrom { rel: rel.clone(), src: ids.to_vec() };
        match (cond, slot) {
            _ if *done => cond.clone(),
            (Cond::All(all), _) => Cond::All(all.iter().map(|c| put(c, slot, ids, done)).collect()),
            (Cond::Compare(column, Op::Eq, DbValue::Int(_)), IdSlot::Column(own)) if column == own => {
                *done = true;
                within(own)
            }
            (Cond::In(column, values), IdSlot::Column(own)) if column == own && ints(values).is_some() => {
                *done = true;
                within(own)
            }
            (other, IdSlot::From(rels)) if linked(other).is_some_and(|(own, _)| own == *rels) => {
                *done = true;
                Cond::Any(rels.iter().map(from).collect())
            }
            _ => cond.clone(),
        }
    }
    put(cond, slot, ids, &mut false)
}

impl Storage for BatchedReads {
    fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StorageError> {
        Ok(Box::new(BatchedSnapshot { inner: self.inner.snapshot()?, by: self }))
    }

    forward!(inner: pin_snapshot commit begin catch_up has_commit_listener);
    forward!(inner: scope_version slot_version version_epoch limit_validity);
}

struct BatchedSnapshot<'s> {
    inner: Box<dyn Snapshot + 's>,
    by: &'s BatchedReads,
}

impl BatchedSnapshot<'_> {
    /// Looks up a fetched read, or records it as missed.
    fn look_up<T>(
        &self,
        known: impl FnOnce(&FetchedReads) -> Option<T>,
        read: impl FnOnce() -> MissedRead,
    ) -> Result<T, StorageError> {
        let mut state = self.by.lock();
        if let Some(found) = known(&state.known) {
            return Ok(found);
        }
        state.missing.push(read());
        state.missed = true;
        Err(StorageError::not_yet())
    }

    /// The rows of a plan without its window; `None`: the plan is run as it is.
    fn all(&self, plan: &ReadPlan) -> Result<Option<Vec<Row>>, StorageError> {
        let Some((shape, slot, ids)) = open(plan) else { return Ok(None) };
        if self.by.lock().known.alone.contains(&shape) {
            return Ok(None);
        }
        let width = plan.columns.len();
        let known = |known: &FetchedReads| {
            let like = known.rows.iter().filter(|(s, h, _)| *s == shape && *h == slot);
            let found = like.filter_map(|(.., rows)| rows.of(&ids)).next()?;
            Some(found.into_iter().map(|row| row[..width].to_vec()).collect())
        };
        let read = || MissedRead::Rows { shape: shape.clone(), slot: slot.clone(), ids: ids.clone() };
        self.look_up(known, read).map(Some)
    }
}

impl Snapshot for BatchedSnapshot<'_> {
    fn read(&self, request: ReadRequest<'_>) -> Result<ReadResult, StorageError> {
        let found = match request {
            ReadRequest::Rows(plan) => self.all(plan)?.map(|all| {
                let most = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
                let skipped = all.into_iter().skip(most(plan.offset));
                ReadResult::Rows(skipped.take(plan.limit.map_or(usize::MAX, most)).collect())
            }),
            ReadRequest::Count(plan) => {
                let bare = ReadPlan { columns: Vec::new(), order: Vec::new(), limit: None, offset: 0, ..plan.clone() };
                self.all(&bare)?.map(|all| ReadResult::Count(all.len() as u64))
            }
            ReadRequest::Edges(plan) => {
                let is = |(rels, reverse): &EdgeKind| *rels == plan.rels && *reverse == plan.reverse;
                let read = || MissedRead::Edges(plan.clone());
                Some(ReadResult::Edges(self.look_up(|known| copied(&known.edges, is, &plan.of), read)?))
            }
            ReadRequest::Meta(space, ids) => {
                let read = || MissedRead::Meta(space.clone(), ids.to_vec());
                Some(ReadResult::Meta(self.look_up(|known| copied(&known.meta, |of| of == space, ids), read)?))
            }
            ReadRequest::Revisions(space, ids) => {
                let read = || MissedRead::Revisions(space.clone(), ids.to_vec());
                let known = |known: &FetchedReads| copied(&known.revisions, |of| of == space, ids);
                Some(ReadResult::Revisions(self.look_up(known, read)?))
            }
            ReadRequest::CachedRows(_) | ReadRequest::Groups(_) | ReadRequest::Setting(_) | ReadRequest::Slug(..) => {
                None
            }
        };
        found.map_or_else(|| self.inner.read(request), Ok)
    }

    forward!(inner: dependencies is_newest);
}

/// A copy of the rows of all of these ids, from the first group of its kind that has them.
fn copied<K, T: Clone>(groups: &[(K, GroupedRows<T>)], is: impl Fn(&K) -> bool, ids: &[i64]) -> Option<Vec<T>> {
    let found = groups.iter().filter(|(kind, _)| is(kind)).find_map(|(_, rows)| rows.of(ids))?;
    Some(found.into_iter().cloned().collect())
}
