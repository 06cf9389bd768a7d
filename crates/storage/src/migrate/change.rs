//! Changes that a migration makes, or refuses to make, as people and programs see them.

use std::fmt;

/// A difference between a database and the layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingChange {
    pub table: String,
    /// The change as a phrase, e.g. ``add the column `isbn` ``.
    pub what: String,
    /// Only what is remembered of the declarations changes: every stored value stays as it is.
    pub remembered: bool,
    /// Why it is not done automatically; `None` where nothing would be lost.
    pub refused: Option<Refusal>,
}

/// Why a change is refused, and what resolves it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    pub why: String,
    /// A table, or `table.column`, that a migration deletes only when it is named.
    pub drop: Option<String>,
    /// New columns of the same type, of which one may be the new name of the removed one.
    pub new_names: Vec<String>,
    /// Another way to resolve it.
    pub remedy: Option<String>,
}

impl fmt::Display for PendingChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.table, self.what)?;
        match &self.refused {
            Some(refusal) => write!(f, " ({})", refusal.why),
            None => Ok(()),
        }
    }
}

/// How many rows hold a value, for people.
pub fn hold_a_value(rows: i64) -> String {
    if rows == 1 { "1 row holds a value".to_owned() } else { format!("{rows} rows hold a value") }
}
