//! Segments of the indexes of texts. A search looks into each segment, so few are fast. Rows that are taken in make new ones,
//! and SQLite by itself merges only those of one size.

use super::super::catalogue::{Catalogue, Table};
use super::super::plan::Name;
use super::search::index_name;
use rusqlite::{Connection, Result};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// Pages that a turn writes.
const PAGES: i64 = 32;

/// So many segments are looked into as fast as one.
const FEW: usize = 3;

/// Segments are merged where those beside the largest have at least one page for so many of its own: a page is written again a
/// few times for each doubling of the index.
const SHARE: i64 = 8;

/// The writer's knowledge of the segments.
#[derive(Default)]
pub(super) struct SegmentMerges {
    /// Rows that were taken into all indexes.
    taken: Cell<i64>,
    tables: RefCell<HashMap<Name, MergeState>>,
}

#[derive(Default)]
struct MergeState {
    /// The number of rows at which the segments are looked at again.
    due: i64,
    under_way: bool,
}

impl SegmentMerges {
    /// Takes notice of rows that are new in an index.
    pub fn took(&self, rows: usize) {
        self.taken.set(self.taken.get().saturating_add_unsigned(rows as u64));
    }

    /// Merges some pages of one index, in whatever transaction there is. Whether there is more to merge.
    pub fn turn(&self, conn: &Connection, catalogue: &Catalogue) -> Result<bool> {
        let (taken, mut all) = (self.taken.get(), self.tables.borrow_mut());
        for table in catalogue.tables.iter().filter(|table| !table.searched.is_empty()) {
            let state = all.entry(table.def.name.clone()).or_default();
            let begins = !state.under_way && state.due <= taken && {
                let pages = pages_of(conn, table)?;
                let (all, largest) = (pages.iter().sum::<i64>(), pages.iter().max().copied().unwrap_or(0));
                // A row fills less than a page.
                state.due = taken + (all / SHARE / 2).max(1);
                pages.len() > FEW && (all - largest) * SHARE >= largest
            };
            if begins || state.under_way {
                state.under_way = merge(conn, table, begins)?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The pages of each segment of a table's index.
fn pages_of(conn: &Connection, table: &Table) -> Result<Vec<i64>> {
    let text = format!("SELECT count(*) FROM \"{}_idx\" GROUP BY segid", index_name(table));
    conn.prepare_cached(&text)?.query_map([], |row| row.get(0))?.collect()
}

/// Merges some pages; `all`: from now on, whatever the sizes of the segments. Whether there is more of it.
fn merge(conn: &Connection, table: &Table, all: bool) -> Result<bool> {
    let index = index_name(table);
    let before = conn.total_changes();
    conn.prepare_cached(&format!("INSERT INTO \"{index}\" (\"{index}\", rank) VALUES ('merge', ?1)"))?
        .execute([if all { -PAGES } else { PAGES }])?;
    // The statement itself counts as one.
    Ok(conn.total_changes() - before > 1)
}
