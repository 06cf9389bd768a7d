//! How often each scope has been written, in memory. Numbers only grow.

use super::dependencies::{Dependencies, SLOTS, VersionSlot};
use super::feed::{self, COMMITS, FeedPosition, Mark};
use super::plan::Name;
use super::statement::{Result, Statements, int, text_at};
use arc_swap::ArcSwap;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The scope of the slugs of a table's rows, and of the rows that they are below.
pub fn slugs(table: &Name) -> Name {
    format!("{table}/slug").into()
}

/// The columns that hold a row's slug and the row above it: the paths of rows are made of both.
pub(super) const PATHS: [&str; 2] = ["slug", "parent"];

/// The state of a database that was just opened.
pub(super) fn load(conn: &dyn Statements) -> Result<Versions> {
    let rows = conn.select("SELECT scope, n FROM version", &[])?;
    let numbers: Vec<(Name, u64)> =
        rows.iter().map(|row| (text_at(row, 0).unwrap_or_default(), int(row, 1) as u64)).collect();
    let versions = Versions::default();
    // A damaged feed keeps nobody from reading: without its end, the next commit of others concerns everything.
    let newest = conn.select(feed::NEWEST, &[]).unwrap_or_default();
    versions.take_up(&numbers, &[], Mark::newest(&newest));
    Ok(versions)
}

/// See the module.
pub(super) struct Versions {
    scopes: ArcSwap<Scopes>,
    slots: Box<[AtomicU64]>,
    commits: AtomicU64,
    /// The newest entry of the change feed that was taken up.
    mark: ArcSwap<Mark>,
    rising: AtomicU64,
    risen: AtomicU64,
}

/// The numbers of scopes, as they are in the database.
#[derive(Clone, Default)]
struct Scopes {
    /// It is added to each of them, and grows where those in the database have gone back.
    base: u64,
    cells: HashMap<Name, Arc<AtomicU64>>,
}

impl Default for Versions {
    fn default() -> Versions {
        Versions {
            scopes: ArcSwap::default(),
            slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(),
            commits: AtomicU64::new(0),
            mark: ArcSwap::default(),
            rising: AtomicU64::new(0),
            risen: AtomicU64::new(0),
        }
    }
}

impl Versions {
    /// The scope's number; 0 before it was first written.
    pub fn get(&self, scope: &str) -> u64 {
        let scopes = self.scopes.load();
        scopes.base + scopes.cells.get(scope).map_or(0, |n| n.load(Ordering::Acquire))
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

    /// The state of the database that was taken up.
    pub fn known(&self) -> FeedPosition {
        // The number of commits is raised first and read last: entries after the mark are there for all commits after it.
        let mark = **self.mark.load();
        FeedPosition { mark, commits: self.commits() }
    }

    /// Changes before any version does: a reader that finds it unchanged knows that no version has changed in between.
    pub fn rising(&self) -> u64 {
        self.rising.load(Ordering::Acquire)
    }

    /// [`Versions::rising`] for what begins now; a number that it never has while versions rise, since those that are read then
    /// may be of two states.
    pub fn settled(&self) -> u64 {
        self.epoch().unwrap_or(u64::MAX)
    }

    /// See [`Storage::version_epoch`](crate::database::Storage::version_epoch).
    pub fn epoch(&self) -> Option<u64> {
        // The number that has begun is read last: if it is as much as has ended, nothing was under way at that moment.
        let risen = self.risen.load(Ordering::Acquire);
        (self.rising() == risen).then_some(risen)
    }

    /// Takes over the versions of an own commit, and raises version slots. `seq` is its last entry in the change feed.
    pub fn raise_to(&self, numbers: &[(Name, u64)], slots: &[VersionSlot], seq: i64) {
        self.take_up(numbers, slots, Mark::own(seq));
    }

    /// Takes over versions that are in the database, and raises version slots. `mark` is the newest entry of the change
    /// feed with them. A reader who sees the number of commits sees the rest.
    pub fn take_up(&self, numbers: &[(Name, u64)], slots: &[VersionSlot], mark: Mark) {
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
        self.mark.rcu(|known| if mark.seq > known.seq { Arc::new(mark) } else { known.clone() });
        self.risen.fetch_add(1, Ordering::AcqRel);
    }

    /// Takes over versions of a database that has lost commits. Every number is another one than any before.
    pub fn start_over(&self, numbers: &[(Name, u64)], mark: Mark) {
        self.rising.fetch_add(1, Ordering::AcqRel);
        self.slots[VersionSlot::OTHERS.place()].fetch_add(1, Ordering::AcqRel);
        let commits = numbers.iter().find(|(scope, _)| **scope == *COMMITS).map_or(0, |(_, number)| *number);
        let cell = |(scope, number): &(Name, u64)| (scope.clone(), Arc::new(AtomicU64::new(*number)));
        let others = || numbers.iter().filter(|(scope, _)| **scope != *COMMITS);
        self.scopes.rcu(|scopes| {
            let highest = scopes.cells.values().map(|n| n.load(Ordering::Acquire)).max().unwrap_or(0);
            Scopes { base: scopes.base + highest + 1, cells: others().map(cell).collect() }
        });
        self.commits.store(commits, Ordering::Release);
        self.mark.store(Arc::new(mark));
        self.risen.fetch_add(1, Ordering::AcqRel);
    }

    fn cell(&self, scope: &Name) -> Arc<AtomicU64> {
        if let Some(cell) = self.scopes.load().cells.get(scope) {
            return cell.clone();
        }
        self.scopes.rcu(|scopes| {
            let mut scopes = Scopes::clone(scopes);
            scopes.cells.entry(scope.clone()).or_default();
            scopes
        });
        self.scopes.load().cells.get(scope).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_comes_again_after_commits_were_lost() {
        let versions = Versions::default();
        let numbers = |n: u64| [(Name::from("record"), n), (Name::from(COMMITS), n)];
        versions.raise_to(&numbers(9), &[], 20);
        let on = Dependencies { scopes: vec!["record".into(), "user".into()], slots: vec![VersionSlot::OTHERS] };
        let mut seen = vec![versions.get("record")];
        let mut sums = vec![versions.sum(&on)];
        let before = versions.rising();
        versions.start_over(&numbers(7), Mark::own(15));
        assert!(versions.rising() > before);
        assert_eq!((versions.commits(), versions.known().mark.seq), (7, 15));
        for n in 7..12 {
            versions.raise_to(&numbers(n), &[], 20);
            assert!(versions.get("record") > seen[seen.len() - 1] && versions.sum(&on) > sums[sums.len() - 1], "{n}");
            seen.push(versions.get("record"));
            sums.push(versions.sum(&on));
        }
        assert_eq!(versions.commits(), 11);
    }
}
