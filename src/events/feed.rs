//! Entries of the change feed, as they are read.

use cms_core::records::{self, text};
use cms_core::registry::columns::feed as col;
use cms_core::registry::name;
use cms_storage::plan::{Cond, DbValue, Name, Op, ReadPlan, Row};
use cms_storage::{Storage, StorageError};

/// A change of a row, as the feed has it.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedEntry {
    pub seq: i64,
    /// By what it is recognised: the commit, the node that made it, and when (UTC milliseconds).
    pub mark: [i64; 3],
    pub table: Name,
    pub kind: Option<Name>,
    /// The taxonomy of a term.
    pub class: Option<Name>,
    pub key: DbValue,
    pub action: Name,
    pub status: [Option<Name>; 2],
    /// The columns that got other values.
    pub columns: Vec<Name>,
    pub slug_before: Option<Name>,
    pub author_before: Option<i64>,
    /// The relations whose targets are others than before, by name, with those that it has no more.
    pub targets_before: Vec<FormerTargets>,
    /// How many webhooks, one after the other, led to the change.
    pub depth: i64,
}

/// Targets that a relation of a row had before a change.
#[derive(Clone, Debug, PartialEq)]
pub struct FormerTargets {
    pub rel: Name,
    pub targets: Vec<i64>,
    /// There were more.
    pub more: bool,
}

impl FormerTargets {
    /// From `relation:3,5,+`, as the feed has it.
    fn of(text: &str) -> Option<FormerTargets> {
        let (rel, targets) = text.rsplit_once(':')?;
        let more = targets.ends_with('+');
        let targets = targets.split(',').filter_map(|id| id.parse().ok()).collect();
        Some(FormerTargets { rel: name(rel), targets, more })
    }
}

impl FeedEntry {
    fn of(row: &Row) -> FeedEntry {
        let number = |at: usize| records::int(&row[at]);
        let word = |at: usize| match &row[at] {
            DbValue::Text(word) => Some(word.clone()),
            _ => None,
        };
        FeedEntry {
            seq: number(0),
            mark: [number(1), number(2), number(3)],
            table: word(4).unwrap_or_else(|| "".into()),
            kind: word(5),
            key: if row[6] == DbValue::Null { row[7].clone() } else { row[6].clone() },
            action: word(8).unwrap_or_else(|| "".into()),
            status: [word(9), word(10)],
            columns: text(&row[11]).split(' ').filter(|column| !column.is_empty()).map(name).collect(),
            slug_before: word(12),
            class: word(13),
            author_before: (row[14] != DbValue::Null).then(|| number(14)),
            depth: number(15),
            targets_before: text(&row[16]).split_whitespace().filter_map(FormerTargets::of).collect(),
        }
    }

    /// UTC milliseconds of the commit.
    pub fn at(&self) -> i64 {
        self.mark[2]
    }

    /// Whether the row is new.
    pub fn creates(&self) -> bool {
        &*self.action == "create"
    }

    /// Whether the row is gone.
    pub fn deletes(&self) -> bool {
        &*self.action == "delete"
    }
}

/// The entries from a number on, in their order.
///
/// # Errors
/// The database cannot be read.
pub fn entries_from(storage: &dyn Storage, seq: i64, limit: u64) -> Result<Vec<FeedEntry>, StorageError> {
    let later = plan(Cond::Compare(name(col::SEQ), Op::Ge, DbValue::Int(seq)), false);
    let rows = storage.snapshot()?.rows(&ReadPlan { limit: Some(limit), ..later })?;
    Ok(rows.iter().map(FeedEntry::of).collect())
}

/// The newest entry.
///
/// # Errors
/// The database cannot be read.
pub fn newest(storage: &dyn Storage) -> Result<Option<FeedEntry>, StorageError> {
    let row = records::first_by::<Row>(&*storage.snapshot()?, plan(records::always(), true))?;
    Ok(row.as_ref().map(FeedEntry::of))
}

fn plan(filter: Cond, descending: bool) -> ReadPlan {
    records::ordered(records::columns(col::TABLE, &col::ALL, filter), col::SEQ, descending)
}
