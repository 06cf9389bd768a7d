//! Writes of one row, and what they leave to be read afterwards: nothing of a new row, and of a changed one only what
//! belongs to it.

use super::Work;
use crate::error::{ApiError, Code};
use crate::families;
use crate::families::parents::MOVED;
use crate::records::{Record, meta_space};
use crate::registry::resource::Resource;
use cms_storage::plan::{Change, CommitError, DbValue, Row, Target, WritePlan};
use cms_storage::{NewRowSnapshot, RelatedRows, Snapshot};

/// A row that a request has written.
pub struct WrittenRow {
    pub key: DbValue,
    /// As it is now; `None`: it has to be read.
    pub row: Option<Row>,
    /// Rows that belong to it, where it is new.
    related: Option<RelatedRows>,
}

impl WrittenRow {
    /// A row of which nothing is known but its key.
    pub fn unread(key: DbValue) -> WrittenRow {
        WrittenRow { key, row: None, related: None }
    }

    /// A snapshot for the response. It reads nothing that is known from the write.
    pub fn snapshot<'s>(&'s self, work: &'s Work<'_>, resource: &Resource) -> Result<Box<dyn Snapshot + 's>, ApiError> {
        let inner = work.scope.snapshot()?;
        let (Some(related), DbValue::Int(id)) = (&self.related, &self.key) else { return Ok(inner) };
        // The edges of others are not in the write.
        let lists = resource.relations.iter().filter(|relation| relation.is_list());
        let relations = lists.map(|relation| relation.rel.clone()).collect();
        Ok(Box::new(NewRowSnapshot { inner, id: *id, space: meta_space(resource), relations, related }))
    }
}

/// Why a row was not changed.
#[derive(Debug)]
pub enum WriteRefusal {
    /// The row has changed since the decision: decide again.
    Stale,
    Error(ApiError),
}

impl From<ApiError> for WriteRefusal {
    fn from(error: ApiError) -> WriteRefusal {
        WriteRefusal::Error(error)
    }
}

impl Work<'_> {
    /// Writes a new row, the first put of the changes, with the key of an import where that has one.
    ///
    /// # Errors
    /// A refusal of the database, with the resource's codes.
    pub async fn insert(&self, resource: &Resource, mut changes: Vec<Change>) -> Result<WrittenRow, ApiError> {
        if let Some(key) = self.scope.imported.and_then(|imported| imported.key) {
            let first = changes.iter_mut().find_map(|change| match change {
                Change::Put(put) => Some(put),
                _ => None,
            });
            if let Some(put) = first.filter(|put| put.table == resource.table && put.target == Target::New) {
                put.target = Target::Keyed(DbValue::Int(key));
            }
        }
        let related = RelatedRows::of(&changes);
        let done = self.commit(WritePlan::new(changes).returning(&resource.columns)).await;
        let done = done.map_err(|error| families::refusal(self.scope, resource, error))?;
        let row = done.row.and_then(|row| row.into_iter().collect());
        let key = done.puts.into_iter().next().map(|put| put.key).ok_or_else(|| ApiError::new(Code::Internal))?;
        Ok(WrittenRow { key, row, related })
    }

    /// Writes changes of a row, the first put among them, that were decided on what it was.
    ///
    /// # Errors
    /// See [`Work::carry_out`].
    pub async fn rewrite(&self, record: Record<'_>, changes: Vec<Change>) -> Result<WrittenRow, WriteRefusal> {
        let Record { resource, row } = record;
        // Without a version, it may have been changed by others meanwhile.
        let columns: &[_] = if record.version().is_some() { &resource.columns } else { &[] };
        let done = self.commit(WritePlan::new(changes).returning(columns)).await;
        let done = done.map_err(|error| refused(self, resource, error))?;
        let of = |set: Vec<Option<DbValue>>| -> Row {
            set.into_iter().zip(row).map(|(set, before)| set.unwrap_or_else(|| before.clone())).collect()
        };
        Ok(WrittenRow { key: record.value(&resource.key).clone(), row: done.row.map(of), related: None })
    }

    /// Writes changes; what the database refuses is reported with the resource's codes, except that the row has changed.
    pub async fn carry_out(&self, resource: &Resource, changes: Vec<Change>) -> Result<(), WriteRefusal> {
        let done = self.commit(WritePlan::new(changes)).await;
        done.map(drop).map_err(|error| refused(self, resource, error))
    }
}

fn refused(work: &Work<'_>, resource: &Resource, error: CommitError) -> WriteRefusal {
    match error {
        CommitError::Stale | CommitError::Refused { tag: MOVED, .. } => WriteRefusal::Stale,
        error => WriteRefusal::Error(families::refusal(work.scope, resource, error)),
    }
}
