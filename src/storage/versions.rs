//! How often each scope has been written, in memory. Numbers only grow.

use super::connection::{Connection, Result, int, text_at};
use super::dependencies::{Dependencies, SLOTS, VersionSlot};
use super::feed::{self, Known};
use super::plan::Name;
use arc_swap::ArcSwap;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// The scope that every commit of any process raises.
pub(super) const COMMITS: &str = "commits";

/// The scope of the slugs of a table's rows.
pub(crate) fn slugs(table: &Name) -> Name {
    format!("{table}/{SLUG}").into()
}

/// The column that holds a row's slug.
pub(super) const SLUG: &str = "slug";

/// The state of a database that was just opened.
pub(super) fn load(conn: &dyn Connection) -> Result<Versions> {
    let rows = conn.select("SELECT scope, n FROM version", &[])?;
    let numbers: Vec<(Name, u64)> =
        rows.iter().map(|row| (text_at(row, 0).unwrap_or_default(), int(row, 1) as u64)).collect();
    let versions = Versions::default();
    // A damaged feed keeps nobody from reading: without its end, the next commit of others concerns everything.
    let seq = conn.number(feed::NEWEST, &[]).ok().flatten().unwrap_or(0);
    versions.raise_to(&numbers, &[], seq);
    Ok(versions)
}

/// See the module.
pub(super) struct Versions {
    scopes: ArcSwap<HashMap<Name, Arc<AtomicU64>>>,
    slots: Box<[AtomicU64]>,
    commits: AtomicU64,
    /// The newest entry of the change feed that was taken up.
    seq: AtomicI64,
    /// The number of the commit that this process is about to make, or has made last.
    announced: AtomicU64,
    rising: AtomicU64,
    risen: AtomicU64,
}

impl Default for Versions {
    fn default() -> Versions {
        Versions {
            scopes: ArcSwap::default(),
            slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(),
            commits: AtomicU64::new(0),
            seq: AtomicI64::new(0),
            announced: AtomicU64::new(0),
            rising: AtomicU64::new(0),
            risen: AtomicU64::new(0),
        }
    }
}

impl Versions {
    /// The scope's number; 0 before it was first written.
    pub fn get(&self, scope: &str) -> u64 {
        self.scopes.load().get(scope).map_or(0, |n| n.load(Ordering::Acquire))
    }

    /// How often what has this slot was written.
    pub fn slot_version(&self, slot: VersionSlot) -> u64 {
        self.slots[slot.place()].load(Ordering::Acquire)
    }

    /// The sum of all numbers that something depends on. They only grow, so equal sums are equal numbers.
    pub fn sum(&self, on: &Dependencies) -> u64 {
        let scopes: u64 = on.scopes.iter().map(|scope| self.get(scope)).sum();
        scopes + on.slots.iter().map(|slot| self.slot_version(*slot)).sum::<u64>()
    }

    /// Commits seen.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    /// What was taken up of the database.
    pub fn known(&self) -> Known {
        // The number of commits is raised first and read last: entries after `seq` are there for all commits after it.
        let seq = self.seq.load(Ordering::Acquire);
        Known { seq, commits: self.commits() }
    }

    /// Changes before any version does: a reader that finds it unchanged knows that no version has changed in between.
    pub fn rising(&self) -> u64 {
        self.rising.load(Ordering::Acquire)
    }

    /// See [`Storage::version_epoch`](super::Storage::version_epoch).
    pub fn epoch(&self) -> Option<u64> {
        // What has begun is read last: if it is as much as has ended, nothing was under way at that moment.
        let risen = self.risen.load(Ordering::Acquire);
        (self.rising() == risen).then_some(risen)
    }

    /// Announces before a commit which versions it brings, so that a reader who finds them in the database knows whose
    /// they are.
    pub fn announce(&self, numbers: &[(Name, u64)]) {
        for (_, number) in numbers.iter().filter(|(scope, _)| **scope == *COMMITS) {
            self.announced.store(*number, Ordering::Release);
        }
    }

    /// The announced commit was not made, so its number may be another process's.
    pub fn retract(&self) {
        self.announced.store(self.commits(), Ordering::Release);
    }

    /// The number of the last commit that this process has made or is about to make. All before it have been taken up.
    pub fn announced(&self) -> u64 {
        self.announced.load(Ordering::Acquire)
    }

    /// Takes over versions that are in the database, and raises version slots. `seq` is the newest entry of the change
    /// feed with them. A reader who sees the number of commits sees the rest.
    pub fn raise_to(&self, numbers: &[(Name, u64)], slots: &[VersionSlot], seq: i64) {
        self.rising.fetch_add(1, Ordering::AcqRel);
        for slot in slots {
            self.slots[slot.place()].fetch_add(1, Ordering::AcqRel);
        }
        for (scope, number) in numbers.iter().filter(|(scope, _)| **scope != *COMMITS) {
            self.cell(scope).fetch_max(*number, Ordering::AcqRel);
        }
        for (_, number) in numbers.iter().filter(|(scope, _)| **scope == *COMMITS) {
            self.commits.fetch_max(*number, Ordering::AcqRel);
        }
        self.seq.fetch_max(seq, Ordering::AcqRel);
        self.risen.fetch_add(1, Ordering::AcqRel);
    }

    fn cell(&self, scope: &Name) -> Arc<AtomicU64> {
        if let Some(cell) = self.scopes.load().get(scope) {
            return cell.clone();
        }
        self.scopes.rcu(|scopes| {
            let mut scopes = HashMap::clone(scopes);
            scopes.entry(scope.clone()).or_default();
            scopes
        });
        self.scopes.load()[scope].clone()
    }
}
