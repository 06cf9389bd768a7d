//! A database that notes what is read from it, so that an answer can be kept for as long as nothing in it has changed.
//!
//! It knows scopes and generations, nothing of what the reads are for.

use super::catalogue::REVISION;
use super::plan::{Cond, Edge, EdgePlan, MetaRow, Name, ReadPlan, RevisionCount, Row, WritePlan};
use super::{BeginFuture, CommitFuture, Snapshot, Storage, StorageError};
use std::sync::{Arc, Mutex};

/// Carries everything out on the database inside and notes the scopes of the reads.
pub struct Observed {
    inner: Arc<dyn Storage>,
    noted: Mutex<Noted>,
}

/// What was read.
#[derive(Default)]
struct Noted {
    /// Each scope with its generation before it was first read.
    scopes: Vec<(Name, u64)>,
    /// Something was read that keeps no generation, or was not the newest when it was read.
    unsettled: bool,
}

/// The scopes that an answer was made from, and their generations then. Generations only grow, so equal sums are equal
/// generations.
#[derive(Clone, Debug)]
pub struct Seen {
    scopes: Box<[Name]>,
    sum: u64,
}

impl Seen {
    /// Whether nothing that was read has been written since.
    pub fn holds(&self, storage: &dyn Storage) -> bool {
        self.scopes.iter().map(|scope| storage.generation(scope)).sum::<u64>() == self.sum
    }

    /// The names of what was read.
    pub fn scopes(&self) -> &[Name] {
        &self.scopes
    }
}

impl Observed {
    /// Begins to note what is read from a database.
    pub fn new(inner: Arc<dyn Storage>) -> Observed {
        Observed { inner, noted: Mutex::default() }
    }

    /// What was read so far; `None` when it cannot be told whether that is still so.
    pub fn seen(&self) -> Option<Seen> {
        let noted = self.lock();
        let sum = noted.scopes.iter().map(|(_, generation)| generation).sum();
        (!noted.unsettled).then(|| Seen { scopes: noted.scopes.iter().map(|(scope, _)| scope.clone()).collect(), sum })
    }

    /// Notes a scope that was read at a generation known from elsewhere.
    pub fn note(&self, scope: Name, generation: u64) {
        self.lock().add(scope, generation);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Noted {
    /// A second read under another generation belongs to another state than the first.
    fn add(&mut self, scope: Name, generation: u64) {
        match self.scopes.iter().find(|(known, _)| *known == scope) {
            Some((_, first)) => self.unsettled |= *first != generation,
            None => self.scopes.push((scope, generation)),
        }
    }
}

impl Storage for Observed {
    fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StorageError> {
        Ok(Box::new(Watched { inner: self.inner.snapshot()?, by: self }))
    }

    fn commit(&self, plan: WritePlan) -> CommitFuture {
        self.inner.commit(plan)
    }

    /// Whoever asks files something under the answer, and so depends on it.
    fn generation(&self, scope: &Name) -> u64 {
        let generation = self.inner.generation(scope);
        self.lock().add(scope.clone(), generation);
        generation
    }

    fn begin(&self) -> BeginFuture {
        self.inner.begin()
    }
}

struct Watched<'s> {
    inner: Box<dyn Snapshot + 's>,
    by: &'s Observed,
}

impl Watched<'_> {
    fn note(&self, scopes: Option<Vec<Name>>) {
        let Some(scopes) = scopes else {
            self.by.lock().unsettled = true;
            return;
        };
        let generations: Vec<u64> = scopes.iter().map(|scope| self.by.inner.generation(scope)).collect();
        let mut noted = self.by.lock();
        // Only then do these generations belong to the rows that the snapshot sees.
        noted.unsettled |= !self.inner.is_newest();
        for (scope, generation) in scopes.into_iter().zip(generations) {
            noted.add(scope, generation);
        }
    }
}

impl Snapshot for Watched<'_> {
    fn rows(&self, plan: &ReadPlan) -> Result<Vec<Row>, StorageError> {
        self.note(self.inner.scopes(plan));
        self.inner.rows(plan)
    }

    fn count(&self, plan: &ReadPlan) -> Result<u64, StorageError> {
        self.note(self.inner.scopes(plan));
        self.inner.count(plan)
    }

    fn edges(&self, plan: &EdgePlan) -> Result<Vec<Edge>, StorageError> {
        self.note(Some(plan.rels.clone()));
        self.inner.edges(plan)
    }

    /// Meta values are written with their row, which was read before.
    fn meta(&self, space: &Name, ids: &[i64]) -> Result<Vec<MetaRow>, StorageError> {
        self.inner.meta(space, ids)
    }

    fn revisions(&self, space: &Name, ids: &[i64]) -> Result<Vec<RevisionCount>, StorageError> {
        self.note(self.inner.scopes(&ReadPlan {
            table: REVISION.into(),
            extensions: Vec::new(),
            columns: Vec::new(),
            filter: Cond::All(Vec::new()),
            order: Vec::new(),
            limit: None,
            offset: 0,
        }));
        self.inner.revisions(space, ids)
    }

    fn setting(&self, key: &Name) -> Result<Option<Arc<str>>, StorageError> {
        self.note(Some(vec!["setting".into()]));
        self.inner.setting(key)
    }

    fn slug(&self, scope: &str, slug: &str) -> Result<Option<i64>, StorageError> {
        self.note(None);
        self.inner.slug(scope, slug)
    }

    fn scopes(&self, plan: &ReadPlan) -> Option<Vec<Name>> {
        self.inner.scopes(plan)
    }

    fn is_newest(&self) -> bool {
        self.inner.is_newest()
    }

    fn free_slug(&self, scope: &str, candidates: &[Arc<str>], except: Option<i64>) -> Result<Arc<str>, StorageError> {
        self.note(None);
        self.inner.free_slug(scope, candidates, except)
    }
}
