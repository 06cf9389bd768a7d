//! Companion rows of a row that was just created: they are known from the plan that made it, and need not be read.

use super::forward::forward;
use super::plan::{Change, Edge, Name, Put, Target};
use crate::error::StorageError;
use crate::snapshot::{ReadRequest, ReadResult, Snapshot};
use std::collections::HashSet;

/// Edges of a new row, and whether it has meta values and revisions.
#[derive(Debug)]
pub struct RelatedRows {
    edges: Vec<(Name, Vec<i64>)>,
    meta: bool,
    revisions: bool,
}

impl RelatedRows {
    /// Those of the first put of a plan; `None` where that is no new row, or something else in the plan may change them.
    pub fn of(changes: &[Change]) -> Option<RelatedRows> {
        let puts = |change: &&Change| matches!(change, Change::Put(_));
        let Change::Put(Put { target: Target::New, edges, meta, revisions, .. }) = changes.iter().find(puts)? else {
            return None;
        };
        let unlinks = |change: &Change| matches!(change, Change::Unlink { .. } | Change::RemoveWhere { .. });
        if changes.iter().any(unlinks) {
            return None;
        }
        Some(RelatedRows { edges: edges.clone(), meta: !meta.is_empty(), revisions: !revisions.is_empty() })
    }

    /// The edges of some relations, as they are stored: each target once, in the order given.
    fn edges(&self, rels: &[Name], src: i64) -> Vec<Edge> {
        let wanted = self.edges.iter().filter(|(rel, _)| rels.contains(rel));
        let of = |(rel, ends): &(Name, Vec<i64>)| {
            let mut seen = HashSet::new();
            let ends: Vec<i64> = ends.iter().copied().filter(|dst| seen.insert(*dst)).collect();
            ends.into_iter().map(|dst| Edge { rel: rel.clone(), src, dst }).collect::<Vec<_>>()
        };
        wanted.flat_map(of).collect()
    }
}

/// A snapshot that reads nothing of what belongs to a new row.
pub struct NewRowSnapshot<'s> {
    pub inner: Box<dyn Snapshot + 's>,
    pub id: i64,
    /// The space of its companion rows.
    pub space: Name,
    /// Relations that begin at rows of its table.
    pub relations: Vec<Name>,
    pub related: &'s RelatedRows,
}

impl NewRowSnapshot<'_> {
    /// The result of a read that need not be made.
    fn known(&self, request: ReadRequest<'_>) -> Option<ReadResult> {
        let has_none = |some: bool, space: &Name, ids: &[i64]| !some && *space == self.space && ids == [self.id];
        match request {
            ReadRequest::Edges(plan) => {
                let own = !plan.reverse && plan.of == [self.id];
                let known = own && plan.rels.iter().all(|rel| self.relations.contains(rel));
                known.then(|| ReadResult::Edges(self.related.edges(&plan.rels, self.id)))
            }
            ReadRequest::Meta(space, ids) if has_none(self.related.meta, space, ids) => {
                Some(ReadResult::Meta(Vec::new()))
            }
            ReadRequest::Revisions(space, ids) if has_none(self.related.revisions, space, ids) => {
                Some(ReadResult::Revisions(Vec::new()))
            }
            _ => None,
        }
    }
}

impl Snapshot for NewRowSnapshot<'_> {
    fn read(&self, request: ReadRequest<'_>) -> Result<ReadResult, StorageError> {
        self.known(request).map_or_else(|| self.inner.read(request), Ok)
    }

    fn prefetch(&self, requests: &[ReadRequest<'_>]) {
        let unknown: Vec<_> = requests.iter().copied().filter(|request| self.known(*request).is_none()).collect();
        if !unknown.is_empty() {
            self.inner.prefetch(&unknown);
        }
    }

    forward!(inner: can_prefetch prefetch_targets dependencies is_newest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(target: Target, edges: Vec<(Name, Vec<i64>)>) -> Change {
        Change::Put(Put { edges, ..Put::new("record", target, Vec::new()) })
    }

    #[test]
    fn related_rows_are_known_where_nothing_else_changes_them() {
        let edges = vec![(Name::from("post.tags"), vec![3, 1, 3])];
        let made = put(Target::New, edges.clone());
        let known = RelatedRows::of(std::slice::from_ref(&made)).expect("a new row");
        let ends: Vec<i64> = known.edges(&[Name::from("post.tags")], 7).iter().map(|edge| edge.dst).collect();
        assert_eq!(ends, [3, 1]);
        assert!(known.edges(&[Name::from("post.categories")], 7).is_empty());
        let unlink = Change::Unlink { rel: Name::from("post.tags"), dst: 3, instead: None };
        assert!(RelatedRows::of(&[made, unlink]).is_none());
        let existing = Target::Existing { key: super::super::plan::DbValue::Int(1), expect: None };
        assert!(RelatedRows::of(&[put(existing, edges)]).is_none());
    }
}
