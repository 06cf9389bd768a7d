//! Dependencies of a read, finer than kinds: single rows, the columns that a plan filters and sorts by, which rows
//! there are at all.
//!
//! Each of these has a version slot, a number in memory that grows when it is written. There are some thousand, shared by
//! what happens to fall together, so that a write may seem to concern more than it does, never less. What other processes
//! write raises one slot that everything depends on.

use super::catalogue::TableId;
use super::plan::Name;

/// Marks of columns and memberships, which much depends on, and of rows, of which there are many: neither falls together
/// with the other.
const FRAMES: usize = 1 << 12;
const ROWS: usize = 1 << 13;
/// How many slots there are.
pub(super) const SLOTS: usize = FIRST + FRAMES + ROWS;
/// Those before it have a meaning of their own.
const FIRST: usize = 2;

/// Represents the kinds of a plan that names none, and of rows that have none.
pub(super) const ANY_KIND: i64 = i64::MIN;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VersionSlot(u16);

impl VersionSlot {
    /// The slot for writes of other processes.
    pub(super) const OTHERS: VersionSlot = VersionSlot(0);
    /// Revisions that are written for themselves, not with their row.
    pub(super) const REVISIONS: VersionSlot = VersionSlot(1);

    /// Everything of a row, what belongs to it included.
    pub(super) fn row(table: TableId, id: i64) -> VersionSlot {
        VersionSlot::of_row([0, table as u64, id as u64])
    }

    /// The values of a column (its place) in the rows of a kind.
    pub(super) fn column(table: TableId, kind: i64, place: usize) -> VersionSlot {
        VersionSlot::of_frame([1 + place as u64, table as u64, kind as u64])
    }

    /// Which rows of a kind there are.
    pub(super) fn members(table: TableId, kind: i64) -> VersionSlot {
        VersionSlot::of_frame([0, table as u64, kind as u64])
    }

    /// The revisions of a row, by the number of its space.
    pub(super) fn revisions(space: i64, of: i64) -> VersionSlot {
        VersionSlot::of_row([1, space as u64, of as u64])
    }

    /// Position of the slot.
    pub(super) fn place(self) -> usize {
        usize::from(self.0)
    }

    fn of_frame(parts: [u64; 3]) -> VersionSlot {
        VersionSlot((FIRST + hash(parts) % FRAMES) as u16)
    }

    fn of_row(parts: [u64; 3]) -> VersionSlot {
        VersionSlot((FIRST + FRAMES + hash(parts) % ROWS) as u16)
    }
}

fn hash(parts: [u64; 3]) -> usize {
    let mix = |sum: u64, part: u64| (sum ^ part).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    (parts.into_iter().fold(0x51_7C_C1_B7, mix) >> 20) as usize
}

/// The dependencies of a read's outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// Scopes of versions.
    pub scopes: Vec<Name>,
    pub slots: Vec<VersionSlot>,
}
