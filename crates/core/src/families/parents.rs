//! Parents of rows: never a loop, and never more than `bounds.max_ancestors`.

use crate::error::ApiError;
use crate::records::{self, columns, eq, int, is_in};
use crate::registry::columns::ID;
use crate::scope::Scope;
use cms_storage::plan::{Change, Cond, DbValue, Name, Row};
use cms_storage::{Snapshot, StorageError};

/// The column with the row above, in every table whose rows have one.
const PARENT: &str = "parent";

/// The tag of the refusal when an ancestor has been moved meanwhile.
pub const MOVED: &str = "parent_moved";

/// A row above another one.
pub struct AncestorRow {
    pub id: i64,
    /// Its parent and the requested columns; `None`: there is no such row.
    pub row: Option<Row>,
}

/// The ancestors, the nearest first: `from` and then always the parent, up to the top. Each is read when it is needed.
/// Where rows are below themselves it goes on without end, so that every user takes a bounded number.
pub fn above<'s>(
    snapshot: &'s dyn Snapshot,
    table: &'s str,
    wanted: &[&'s str],
    from: i64,
) -> impl Iterator<Item = Result<AncestorRow, StorageError>> + use<'s> {
    let wanted: Vec<&str> = std::iter::once(PARENT).chain(wanted.iter().copied()).collect();
    let mut next = from;
    std::iter::from_fn(move || {
        let id = Some(next).filter(|id| *id != 0)?;
        let row: Option<Row> = match records::first(snapshot, table, &wanted, by(ID, id)) {
            Ok(row) => row,
            Err(error) => return Some(Err(error)),
        };
        next = row.as_ref().map_or(0, |row| int(&row[0]));
        Some(Ok(AncestorRow { id, row }))
    })
}

/// The rows above a row at its proposed place.
pub struct Placement {
    /// Itself: it would be below itself.
    pub looped: bool,
    /// The rows above, each with its own parent, the nearest first.
    rows: Vec<(i64, i64)>,
}

impl Placement {
    /// The rows above are still where they were: two moves at once make no loop.
    pub fn unmoved(&self, table: &Name) -> Vec<Change> {
        let unmoved = |(id, parent): &(i64, i64)| Change::Require {
            plan: columns(table, &[ID], Cond::All(vec![by(ID, *id), by(PARENT, *parent)])),
            found: true,
            tag: MOVED,
        };
        self.rows.iter().map(unmoved).collect()
    }
}

/// Checks the ancestors of `parent`, for a row that is to be below it; `own` is 0 for a new one.
///
/// # Errors
/// The row, or one below it, would have more parents than are allowed; the database cannot be read.
pub fn place(scope: &Scope, table: &Name, own: i64, parent: i64) -> Result<Placement, ApiError> {
    let most = scope.registry.declaration.bounds.max_ancestors;
    let snapshot = scope.snapshot()?;
    let mut found = Placement { looped: false, rows: Vec::new() };
    for ancestor in above(&*snapshot, table, &[], parent) {
        let AncestorRow { id, row } = ancestor?;
        if own != 0 && id == own {
            found.looped = true;
            return Ok(found);
        }
        if found.rows.len() == most {
            return Err(too_deep(most));
        }
        found.rows.push((id, row.map_or(0, |row| int(&row[0]))));
    }
    if own != 0 && found.rows.len() + below(&*snapshot, table, own, most)? > most {
        return Err(too_deep(most));
    }
    Ok(found)
}

/// Levels of rows below a row, as far as they are of interest.
fn below(snapshot: &dyn Snapshot, table: &Name, own: i64, most: usize) -> Result<usize, ApiError> {
    let (mut level, mut levels) = (vec![own], 0);
    while levels <= most {
        let rows: Vec<i64> = snapshot.rows_as(&columns(table, &[ID], is_in(PARENT, level)))?;
        if rows.is_empty() {
            break;
        }
        level = rows;
        levels += 1;
    }
    Ok(levels)
}

fn by(column: &str, id: i64) -> Cond {
    eq(column, DbValue::Int(id))
}

fn too_deep(most: usize) -> ApiError {
    ApiError::invalid_one(PARENT, format!("It would have more than {most} ancestors."))
}
