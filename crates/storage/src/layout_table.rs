//! The table `layout`: what the tables were made for, by name.

use super::statement::{Result, Statements, params};
use std::sync::Arc;

/// The definition stored under a name.
pub(super) fn kept(conn: &dyn Statements, name: &str) -> Result<Option<Arc<str>>> {
    conn.text("SELECT definition FROM layout WHERE name = ?1", params![name])
}

/// Stores it, or replaces it.
pub(super) fn keep(conn: &dyn Statements, name: &str, definition: &str) -> Result<()> {
    let text = "INSERT INTO layout (name, definition) VALUES (?1, ?2) \
        ON CONFLICT (name) DO UPDATE SET definition = excluded.definition";
    conn.send(text, params![name, definition])
}
