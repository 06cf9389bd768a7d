//! Slugs of paths to records, level by level: as many statements as the longest path has slugs, however many paths there are.

use super::candidates::{Candidate, CandidateTarget};
use crate::error::ApiError;
use crate::families::content;
use crate::records::{self, txt};
use crate::registry::columns::{ID, old_address, record};
use crate::registry::name;
use crate::registry::resource::Resource;
use crate::scope::Scope;
use cms_storage::Snapshot;
use cms_storage::plan::{Cond, DbValue, Order, ReadPlan};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A record at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathHit {
    pub id: i64,
    /// Its date when it had that path; `None`: it has it.
    pub date: Option<i64>,
}

/// Most records that have had one address.
const MOST_OLD: usize = 10;

/// The records at the paths of candidates, for each candidate.
///
/// # Errors
/// The database cannot be read.
pub fn living(
    snapshot: &dyn Snapshot,
    scope: &Scope,
    candidates: &[Candidate<'_, '_>],
) -> Result<Vec<Vec<PathHit>>, ApiError> {
    SlugWalk { snapshot, scope, old: false }.run(candidates)
}

/// The same with the records that were there, the last one first.
///
/// # Errors
/// The database cannot be read.
pub fn old(
    snapshot: &dyn Snapshot,
    scope: &Scope,
    candidates: &[Candidate<'_, '_>],
) -> Result<Vec<Vec<PathHit>>, ApiError> {
    SlugWalk { snapshot, scope, old: true }.run(candidates)
}

struct SlugWalk<'a> {
    snapshot: &'a dyn Snapshot,
    scope: &'a Scope,
    /// Old addresses count, too.
    old: bool,
}

/// A path whose next slug is looked for.
struct PathStep<'a> {
    /// Position of the candidate.
    candidate: usize,
    resource: &'a Resource,
    /// The record above.
    parent: i64,
    slugs: &'a [String],
}

impl PathStep<'_> {
    fn scope(&self) -> Arc<str> {
        content::slug_scope(self.resource, self.parent)
    }

    /// The place of a living record: its kind, the record above where that counts, its slug.
    fn place(&self) -> (Arc<str>, i64, &str) {
        let parent = if self.resource.declared.hierarchical { self.parent } else { 0 };
        (self.resource.kind.clone(), parent, &self.slugs[0])
    }
}

/// Records by kind, record above and slug.
type LivingRecords = HashMap<(Arc<str>, i64, String), i64>;

/// The records that have had a slug, the last one first, by its place.
type FormerRecords = HashMap<(Arc<str>, String), Vec<PathHit>>;

impl SlugWalk<'_> {
    fn run(&self, candidates: &[Candidate<'_, '_>]) -> Result<Vec<Vec<PathHit>>, ApiError> {
        let mut hits = vec![Vec::new(); candidates.len()];
        let mut open: Vec<PathStep<'_>> = Vec::new();
        for (candidate, of) in candidates.iter().enumerate() {
            if let CandidateTarget::Slugs(resource, slugs) = &of.target {
                open.push(PathStep { candidate, resource, parent: 0, slugs });
            }
        }
        while !open.is_empty() {
            let living = self.living_records(&open)?;
            let old = if self.old { self.old_records(&open)? } else { HashMap::new() };
            let mut next = Vec::new();
            for step in open {
                let (kind, parent, slug) = step.place();
                let here = living.get(&(kind, parent, slug.to_owned())).map(|id| PathHit { id: *id, date: None });
                let before = old.get(&(step.scope(), slug.to_owned())).into_iter().flatten().copied();
                let mut found = here.into_iter().chain(before);
                match &step.slugs[1..] {
                    [] => hits[step.candidate].extend(found.take(MOST_OLD)),
                    slugs => next.extend(found.next().map(|hit| PathStep { parent: hit.id, slugs, ..step })),
                }
            }
            open = next;
        }
        Ok(hits)
    }

    /// The records that have the next slugs: a statement for those without records above them, one for the others.
    fn living_records(&self, open: &[PathStep<'_>]) -> Result<LivingRecords, ApiError> {
        let registry = &self.scope.registry;
        let statuses = registry.declaration.statuses_where(|s| s.public || s.private || s.inherits);
        let statuses = records::words(record::STATUS, statuses);
        let mut found = HashMap::new();
        for below in [false, true] {
            let steps = || open.iter().filter(|step| step.resource.declared.hierarchical == below);
            let kinds: HashSet<&str> = steps().map(|step| &*step.resource.kind).collect();
            if kinds.is_empty() {
                continue;
            }
            let slugs: HashSet<&str> = steps().map(|step| step.slugs[0].as_str()).collect();
            let mut filter = vec![
                records::words(record::KIND, kinds),
                Cond::In(name(record::SLUG), slugs.into_iter().map(txt).collect()),
                statuses.clone(),
            ];
            if below {
                let parents: HashSet<i64> = steps().map(|step| step.parent).collect();
                filter.push(records::is_in(record::PARENT, parents));
            }
            let columns = [ID, record::KIND, record::PARENT, record::SLUG];
            let plan = records::columns(record::TABLE, &columns, Cond::All(filter));
            let rows: Vec<(i64, Arc<str>, i64, String)> = self.snapshot.rows_as(&plan)?;
            for (id, kind, parent, slug) in rows {
                found.insert((kind, if below { parent } else { 0 }, slug), id);
            }
        }
        Ok(found)
    }

    /// The records that had the next slugs, by the place of the slug.
    fn old_records(&self, open: &[PathStep<'_>]) -> Result<FormerRecords, ApiError> {
        let below = self.scope.registry.declaration.addresses.old_paths;
        let steps = || open.iter().filter(|step| below || !step.resource.declared.hierarchical);
        let texts = |texts: HashSet<Arc<str>>| texts.into_iter().map(DbValue::Text).collect::<Vec<_>>();
        let scopes = texts(steps().map(PathStep::scope).collect());
        let slugs = texts(steps().map(|step| Arc::from(step.slugs[0].as_str())).collect());
        let mut found = FormerRecords::new();
        if scopes.is_empty() {
            return Ok(found);
        }
        let filter =
            Cond::All(vec![Cond::In(name(old_address::SLUG), slugs), Cond::In(name(old_address::SCOPE), scopes)]);
        let columns = [old_address::SCOPE, old_address::SLUG, old_address::DATE, old_address::RECORD];
        let plan = records::columns(old_address::TABLE, &columns, filter);
        let order = vec![Order::Column(name(ID), true)];
        let rows: Vec<(Arc<str>, String, i64, i64)> =
            self.snapshot.rows_as(&ReadPlan { order, limit: Some(MOST_ROWS), ..plan })?;
        for (scope, slug, date, id) in rows {
            found.entry((scope, slug)).or_default().push(PathHit { id, date: Some(date) });
        }
        Ok(found)
    }
}

/// Most old addresses that are read together.
const MOST_ROWS: u64 = 5_000;
