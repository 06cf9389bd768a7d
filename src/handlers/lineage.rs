//! Parents of rows: never a loop, and never more of them than `bounds.max_ancestors`.

use super::Work;
use crate::error::ApiError;
use crate::records::{self, among, columns, eq, int};
use crate::storage::plan::{Change, Cond, DbValue, Name};

/// The tag of the refusal when a row above has been moved meanwhile.
pub const MOVED: &str = "parent_moved";

/// What a row would have above itself.
pub struct Ancestor {
    /// Itself: it would stand below itself.
    pub looped: bool,
    /// The rows above, each with its own parent, the nearest first.
    rows: Vec<(i64, i64)>,
}

impl Ancestor {
    /// The rows above are still where they were: two moves at once make no loop.
    pub fn unmoved(&self, table: &Name) -> impl Iterator<Item = Change> {
        let unmoved = |(id, parent): &(i64, i64)| Change::Require {
            plan: columns(table, &["id"], Cond::All(vec![by("id", *id), by("parent", *parent)])),
            found: true,
            tag: MOVED,
        };
        self.rows.iter().map(unmoved).collect::<Vec<_>>().into_iter()
    }
}

/// Looks at what stands above `parent`, for a row that is to stand below it; `own` is 0 for a new one.
///
/// # Errors
/// The row, or one below it, would have more parents than are allowed; the database cannot be read.
pub fn above(work: &Work<'_>, table: &Name, own: i64, parent: i64) -> Result<Ancestor, ApiError> {
    let most = work.scope.registry.declaration.bounds.max_ancestors;
    let snapshot = work.scope.snapshot()?;
    let mut found = Ancestor { looped: own != 0 && parent == own, rows: Vec::new() };
    let mut next = parent;
    while next != 0 && !found.looped {
        if found.rows.len() == most {
            return Err(too_deep(most));
        }
        let row = records::first(&*snapshot, table, &["parent"], by("id", next))?;
        let up = row.map_or(0, |row| int(&row[0]));
        found.rows.push((next, up));
        found.looped = own != 0 && up == own;
        next = up;
    }
    if own != 0 && !found.looped && found.rows.len() + below(work, table, own, most)? > most {
        return Err(too_deep(most));
    }
    Ok(found)
}

/// Levels of rows below a row, as far as they are of interest.
fn below(work: &Work<'_>, table: &Name, own: i64, most: usize) -> Result<usize, ApiError> {
    let snapshot = work.scope.snapshot()?;
    let (mut level, mut levels) = (vec![own], 0);
    while levels <= most {
        let rows = snapshot.rows(&columns(table, &["id"], among("parent", level)))?;
        if rows.is_empty() {
            break;
        }
        level = rows.iter().map(|row| int(&row[0])).collect();
        levels += 1;
    }
    Ok(levels)
}

fn by(column: &str, id: i64) -> Cond {
    eq(column, DbValue::Int(id))
}

fn too_deep(most: usize) -> ApiError {
    ApiError::invalid_one("parent", format!("It would stand below more than {most} others."))
}
