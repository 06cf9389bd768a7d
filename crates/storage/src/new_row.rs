//! What belongs to a row that was just created is known from the plan that made it: it need not be read.

use super::plan::{Change, Edge, EdgePlan, MetaRow, Name, Put, ReadPlan, RevisionCount, Row, Target};
use super::{Ahead, Dependencies, Snapshot, StorageError};
use std::collections::HashSet;
use std::sync::Arc;

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
    /// What its companion rows are filed under.
    pub space: Name,
    /// Relations that begin at rows of its table.
    pub relations: Vec<Name>,
    pub related: &'s RelatedRows,
}

impl NewRowSnapshot<'_> {
    fn knows_edges(&self, plan: &EdgePlan) -> bool {
        !plan.reverse && plan.of == [self.id] && plan.rels.iter().all(|rel| self.relations.contains(rel))
    }

    /// There are none in this space for these rows.
    fn has_none(&self, some: bool, space: &Name, ids: &[i64]) -> bool {
        !some && *space == self.space && ids == [self.id]
    }
}

impl Snapshot for NewRowSnapshot<'_> {
    fn reads_ahead(&self) -> bool {
        self.inner.reads_ahead()
    }

    fn ahead(&self, reads: &[Ahead<'_>]) {
        let unknown = |read: &&Ahead<'_>| match read {
            Ahead::Edges(plan) => !self.knows_edges(plan),
            Ahead::Meta(space, ids) => !self.has_none(self.related.meta, space, ids),
            Ahead::Revisions(space, ids) => !self.has_none(self.related.revisions, space, ids),
            Ahead::Rows(_) | Ahead::Count(_) | Ahead::Targets(..) => true,
        };
        let unknown: Vec<Ahead<'_>> = reads.iter().filter(unknown).copied().collect();
        if !unknown.is_empty() {
            self.inner.ahead(&unknown);
        }
    }

    fn rows(&self, plan: &ReadPlan) -> Result<Vec<Row>, StorageError> {
        self.inner.rows(plan)
    }

    fn count(&self, plan: &ReadPlan) -> Result<u64, StorageError> {
        self.inner.count(plan)
    }

    fn groups(&self, plan: &ReadPlan) -> Result<Vec<Row>, StorageError> {
        self.inner.groups(plan)
    }

    fn edges(&self, plan: &EdgePlan) -> Result<Vec<Edge>, StorageError> {
        if self.knows_edges(plan) { Ok(self.related.edges(&plan.rels, self.id)) } else { self.inner.edges(plan) }
    }

    fn meta(&self, space: &Name, ids: &[i64]) -> Result<Vec<MetaRow>, StorageError> {
        match self.has_none(self.related.meta, space, ids) {
            true => Ok(Vec::new()),
            false => self.inner.meta(space, ids),
        }
    }

    fn revisions(&self, space: &Name, ids: &[i64]) -> Result<Vec<RevisionCount>, StorageError> {
        match self.has_none(self.related.revisions, space, ids) {
            true => Ok(Vec::new()),
            false => self.inner.revisions(space, ids),
        }
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
