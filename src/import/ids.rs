//! Ids of an export: they stay where they are free, and are replaced where they are taken.

use super::ImportReport;
use super::items::GREATEST;
use crate::boot::BootError;
use cms_core::records::{self, columns, is_in};
use cms_storage::plan::Cond;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Ids that the file holds.
#[derive(Default)]
pub(super) struct ExportIds {
    pub records: Vec<i64>,
    pub comments: Vec<i64>,
    pub terms: Vec<i64>,
    /// Those of terms by taxonomy and slug.
    pub slugs: HashMap<(String, String), i64>,
    pub users: Vec<i64>,
}

/// Whether an id can stay the one of the file. A larger one leaves no room for those that come later, and programs that read
/// JSON take it for another one.
pub(super) fn may_stay(id: i64) -> bool {
    (1..=GREATEST).contains(&id)
}

/// Decides the id of everything before anything is written: the file's own where it is free, else the next free one.
/// `free` may be taken over.
pub(super) fn assign_ids(
    snapshot: &dyn cms_storage::Snapshot,
    space: &'static str,
    ids: &[i64],
    free: &HashSet<i64>,
    known: &HashMap<String, i64>,
    report: &mut ImportReport,
) -> Result<IdMap, BootError> {
    let taken: HashSet<i64> = snapshot.rows_as(&columns(space, &["id"], is_in("id", ids.iter().copied())))?;
    let newest = records::ordered(columns(space, &["id"], Cond::All(Vec::new())), "id", true);
    let newest = records::first_by(snapshot, newest)?.unwrap_or(0);
    let mut next = newest.max(ids.iter().copied().filter(|id| may_stay(*id)).max().unwrap_or(0)) + 1;
    let mut placed = HashMap::new();
    let mut given: HashMap<i64, u32> = HashMap::new();
    for id in ids {
        // A file may give one id to several things.
        let nth = given.entry(*id).and_modify(|n| *n += 1).or_insert(0);
        if let Some(before) = known.get(&source_key(space, *id, *nth)) {
            if before != id {
                placed.insert((*id, *nth), *before);
            }
        } else if taken.contains(id) && !free.contains(id) || !may_stay(*id) || *nth > 0 {
            placed.insert((*id, *nth), next);
            // Users and terms that are here already are matched by name later; only real changes of ids are reported.
            if *id > 0 && (space == "record" || space == "comment") {
                report.moved(space, *id, next);
            }
            next += 1;
        }
    }
    // Rows of earlier runs may be meant, too.
    let numbered = known.iter().filter(|_| space == "record" || space == "comment");
    for (source, row) in numbered {
        let Some((id, nth)) = source.strip_prefix(space).and_then(numbers) else { continue };
        if *row != id {
            placed.entry((id, nth)).or_insert(*row);
        }
        given.entry(id).and_modify(|last| *last = nth.max(*last)).or_insert(nth);
    }
    Ok(IdMap { moved: placed, given, seen: HashMap::new(), lost: RefCell::default() })
}

/// The source key of something that came from a file.
fn source_key(what: &str, id: i64, nth: u32) -> String {
    if nth == 0 { format!("{what}:{id}") } else { format!("{what}:{id}:{nth}") }
}

/// The numbers of a source key behind its word.
fn numbers(key: &str) -> Option<(i64, u32)> {
    let key = key.strip_prefix(':')?;
    match key.split_once(':') {
        Some((id, nth)) => Some((id.parse().ok()?, nth.parse().ok()?)),
        None => Some((key.parse().ok()?, 0)),
    }
}

/// Ids of the file, with the ids that they became here.
pub(super) struct IdMap {
    /// Ids that are not the file's own, by the file's id and how many things before had the same.
    pub moved: HashMap<(i64, u32), i64>,
    /// How many things before the last one with an id have it, too.
    given: HashMap<i64, u32>,
    /// How often each id came by so far.
    seen: HashMap<i64, u32>,
    /// Ids that the file points to and does not have.
    lost: RefCell<BTreeSet<i64>>,
}

impl IdMap {
    /// The id here of the thing that the file points to: of those with the id the one that was read last, or the last
    /// of the file where it comes later. 0 is nothing: an id that no import brought may be that of another thing here.
    pub(super) fn target(&self, id: i64) -> i64 {
        let Some(last) = self.given.get(&id).filter(|_| id > 0) else {
            if id > 0 {
                self.lost.borrow_mut().insert(id);
            }
            return 0;
        };
        let nth = *self.seen.get(&id).unwrap_or(last);
        self.moved.get(&(id, nth)).copied().unwrap_or(id)
    }

    /// The id here of the thing with this one in the file, where it is another one.
    pub(super) fn renumbered(&self, id: i64) -> Option<i64> {
        self.given.contains_key(&id).then(|| self.target(id)).filter(|here| *here != id)
    }

    /// The ids that something points to and that no import brought, so far.
    pub(super) fn take_lost(&self) -> BTreeSet<i64> {
        self.lost.take()
    }

    /// The id of the next thing with this id, and what it is remembered by.
    pub(super) fn take(&mut self, what: &str, id: i64) -> (i64, String) {
        let nth = *self.seen.entry(id).and_modify(|n| *n += 1).or_insert(0);
        (self.moved.get(&(id, nth)).copied().unwrap_or(id), source_key(what, id, nth))
    }
}
