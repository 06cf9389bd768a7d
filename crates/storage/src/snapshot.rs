//! Reading: a request is a value, its result another, and every database, decorator and prefetch takes the same ones.

use super::plan::{Edge, EdgePlan, MetaRow, Name, ReadPlan, RevisionCount, Row};
use crate::dependencies::Dependencies;
use crate::error::StorageError;
use crate::typed_row::FromRow;
use std::sync::Arc;

/// One thing to read.
#[derive(Clone, Copy, Debug)]
pub enum ReadRequest<'a> {
    /// Each is described at the typed read of its name.
    Rows(&'a ReadPlan),
    CachedRows(&'a ReadPlan),
    Count(&'a ReadPlan),
    Groups(&'a ReadPlan),
    Edges(&'a EdgePlan),
    /// A space, and rows of it.
    Meta(&'a Name, &'a [i64]),
    /// A space, and rows of it.
    Revisions(&'a Name, &'a [i64]),
    Setting(&'a Name),
    /// A scope, and a slug in it.
    Slug(&'a str, &'a str),
}

/// The result of a read, by what was requested.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadResult {
    /// Of rows, cached ones and groups.
    Rows(Vec<Row>),
    Count(u64),
    Edges(Vec<Edge>),
    Meta(Vec<MetaRow>),
    Revisions(Vec<RevisionCount>),
    Setting(Option<Arc<str>>),
    Slug(Option<i64>),
}

/// A consistent view of the database. Its typed reads are methods of `dyn Snapshot`.
pub trait Snapshot {
    /// Carries out a read.
    fn read(&self, request: ReadRequest<'_>) -> Result<ReadResult, StorageError>;

    /// Whether [`Snapshot::prefetch`] saves anything.
    fn can_prefetch(&self) -> bool {
        false
    }

    /// These reads follow. Where each of them costs a round trip, they are sent together with the next one. What fails is
    /// reported by the read itself.
    fn prefetch(&self, _requests: &[ReadRequest<'_>]) {}

    /// The same for edges, and rows that they lead to: the plan follows, with some of their keys (its first column) as its
    /// filter.
    fn prefetch_targets(&self, _edges: &EdgePlan, _rows: &ReadPlan) {}

    /// The dependencies of a read that gave this result; `None` where something in it has no version.
    fn dependencies(&self, request: ReadRequest<'_>, result: &ReadResult) -> Option<Dependencies>;

    /// No version has changed since the reads of this snapshot began: what is read is the newest state.
    fn is_newest(&self) -> bool;
}

/// The part of a result that its request determines.
macro_rules! expect_result {
    ($read:expr, $kind:ident) => {
        match $read? {
            ReadResult::$kind(found) => Ok(found),
            _ => Err(StorageError::Failed("a read gave another kind of result than was requested".into())),
        }
    };
}

impl dyn Snapshot + '_ {
    /// The rows of a plan.
    pub fn rows(&self, plan: &ReadPlan) -> Result<Vec<Row>, StorageError> {
        expect_result!(self.read(ReadRequest::Rows(plan)), Rows)
    }

    /// The rows of a plan, as values with types: numbers, pairs, [`crate::typed_row`], in a list, a set or a map.
    pub fn rows_as<T: FromRow, C: FromIterator<T>>(&self, plan: &ReadPlan) -> Result<C, StorageError> {
        Ok(self.rows(plan)?.into_iter().map(T::from_row).collect())
    }

    /// The same as [`Self::rows`] for a few rows with few columns that cost much to find: they are cached until something is written
    /// that they could depend on.
    pub fn cached_rows(&self, plan: &ReadPlan) -> Result<Vec<Row>, StorageError> {
        expect_result!(self.read(ReadRequest::CachedRows(plan)), Rows)
    }

    /// The number of rows that meet the plan's filter (order and window are ignored).
    pub fn count(&self, plan: &ReadPlan) -> Result<u64, StorageError> {
        expect_result!(self.read(ReadRequest::Count(plan)), Count)
    }

    /// The values of the plan's one column, each with the number of rows that have it (`Int`), the most frequent first; at
    /// most `limit` of them. Order and offset are ignored. In place of the column the plan may name a relation: then rows are
    /// counted by its targets, and those without one by null. With a [`ReadPlan::width`] integers are rounded down to its
    /// multiples: seconds to days.
    pub fn groups(&self, plan: &ReadPlan) -> Result<Vec<Row>, StorageError> {
        expect_result!(self.read(ReadRequest::Groups(plan)), Rows)
    }

    /// The edges of a plan.
    pub fn edges(&self, plan: &EdgePlan) -> Result<Vec<Edge>, StorageError> {
        expect_result!(self.read(ReadRequest::Edges(plan)), Edges)
    }

    /// Meta values of many rows of one space, by id, key and position.
    pub fn meta(&self, space: &Name, ids: &[i64]) -> Result<Vec<MetaRow>, StorageError> {
        expect_result!(self.read(ReadRequest::Meta(space, ids)), Meta)
    }

    /// How many revisions rows of one space have; rows without any are left out.
    pub fn revisions(&self, space: &Name, ids: &[i64]) -> Result<Vec<RevisionCount>, StorageError> {
        expect_result!(self.read(ReadRequest::Revisions(space, ids)), Revisions)
    }

    /// The document of a setting.
    pub fn setting(&self, key: &Name) -> Result<Option<Arc<str>>, StorageError> {
        expect_result!(self.read(ReadRequest::Setting(key)), Setting)
    }

    /// The id that a slug belongs to.
    pub fn slug(&self, scope: &str, slug: &str) -> Result<Option<i64>, StorageError> {
        expect_result!(self.read(ReadRequest::Slug(scope, slug)), Slug)
    }
}
