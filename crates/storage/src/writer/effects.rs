//! Effects of writes that can wait for the end of the group: counts, tallies, sequences, versions.
//!
//! Gathered in memory, so that 256 plans raising the same number cost one statement.

use super::super::catalogue::{Catalogue, RelationId, TableId};
use super::super::feed::{Entries, Entry, Subject};
use super::super::plan::{Change, DbValue, Name, WritePlan};
use super::super::tally::ALL_AUTHORS;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Something whose version grows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VersionScope {
    Table(TableId),
    /// Rows of a table that have this number for their kind.
    Kind(TableId, i64),
    Relation(RelationId),
    /// Slugs of rows of a table that relations lead to.
    Slugs(TableId),
    Setting,
}

/// A counting column of a row.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Counter {
    pub table: TableId,
    pub column: Name,
    pub id: i64,
}

/// Table, kind, status and author.
pub type TallyKey = (TableId, i64, i64, i64);

/// See the module.
#[derive(Default)]
pub struct Effects {
    pub scopes: HashSet<VersionScope>,
    /// Feed entries of changed rows.
    pub entries: Entries,
    pub tallies: HashMap<TallyKey, i64>,
    pub counts: HashMap<Counter, i64>,
    /// Spaces whose sequence moved. Never undone: ids of a refused plan are lost, not given again.
    pub spaces: BTreeSet<Name>,
    /// Words added to the dictionary.
    pub words: Vec<Name>,
    pub wrote: bool,
}

impl Effects {
    /// Takes up what a plan brought.
    pub fn merge(&mut self, other: Effects) {
        self.scopes.extend(other.scopes);
        self.entries.merge(other.entries);
        for (key, n) in other.tallies {
            *self.tallies.entry(key).or_default() += n;
        }
        for (counter, n) in other.counts {
            *self.counts.entry(counter).or_default() += n;
        }
        self.spaces.extend(other.spaces);
        self.words.extend(other.words);
        self.wrote |= other.wrote;
    }

    /// Marks a row as changed, and its table and kind as written.
    pub fn changed(&mut self, table: TableId, key: &DbValue, entry: Entry) {
        self.scopes.insert(VersionScope::Table(table));
        self.scopes.extend(entry.kind.map(|kind| VersionScope::Kind(table, kind)));
        self.wrote = true;
        self.entries.add(Subject::of(table, key), entry);
    }

    /// Adds to a tally, for the author and for all.
    pub fn tally(&mut self, table: TableId, kind: i64, status: i64, author: Option<i64>, n: i64) {
        *self.tallies.entry((table, kind, status, ALL_AUTHORS)).or_default() += n;
        if let Some(author) = author {
            *self.tallies.entry((table, kind, status, author)).or_default() += n;
        }
    }

    /// Adds to a counting column.
    pub fn count(&mut self, table: TableId, column: &Name, id: i64, n: i64) {
        *self.counts.entry(Counter { table, column: column.clone(), id }).or_default() += n;
    }

    /// Whether a read of the plan could notice that counts are not written yet.
    pub fn disturbs(&self, plan: &WritePlan, catalogue: &Catalogue) -> bool {
        if self.counts.is_empty() {
            return false;
        }
        let counted = |name: &Name| {
            catalogue.table(name).is_ok_and(|table| self.counts.keys().any(|counter| counter.table == table.id))
        };
        plan.changes.iter().any(|change| match change {
            Change::Put(put) => counted(&put.table),
            Change::Setting { .. } | Change::SettingMembers { .. } => false,
            Change::Require { .. }
            | Change::Remove { .. }
            | Change::UpdateWhere { .. }
            | Change::RemoveWhere { .. }
            | Change::Unlink { .. } => true,
        })
    }
}
