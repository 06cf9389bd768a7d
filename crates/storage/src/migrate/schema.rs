//! The tables of a database, as a migration sees and changes them.

use super::super::catalogue::Catalogue;
use super::super::connection::Connection;
use super::super::plan::{ColumnType, Row};
use super::super::statement::{Result, int, text_at};
use super::super::words::Words;
use std::sync::Arc;

/// The version of the tables that storage maintains for itself. Raised with every change of those.
pub const META_VERSION: i64 = 8;

/// The layout of the index of texts. An index with another layout is rebuilt.
pub const SEARCH_LAYOUT: u32 = 3;

/// The version since which there is a change feed.
pub const CHANGE_FEED: i64 = 4;

/// The version since which the change feed says what a row was before.
pub const FORMER: i64 = 6;

/// The version since which the change feed says how many webhooks led to a change.
pub const DEPTH: i64 = 7;

/// The version since which the change feed says which targets of relations a row had.
pub const TARGETS: i64 = 8;

/// A column as the database has it.
pub struct ExistingColumn {
    pub name: Arc<str>,
    /// See [`type_mark`].
    pub ty: Arc<str>,
    pub default: Option<Arc<str>>,
    pub key: bool,
}

impl ExistingColumn {
    /// Of a row of name, type, default, and whether it is part of the key.
    pub fn of_row(row: &Row) -> ExistingColumn {
        ExistingColumn {
            name: text_at(row, 0).unwrap_or_default(),
            ty: text_at(row, 1).unwrap_or_default(),
            default: text_at(row, 2),
            key: int(row, 3) > 0,
        }
    }
}

/// An index as it is in a database.
#[derive(PartialEq)]
pub struct Described {
    pub name: String,
    /// `true`: descending.
    pub columns: Vec<(String, bool)>,
    pub unique: bool,
    /// See [`IndexDef::partial`](crate::plan::IndexDef::partial).
    pub partial: bool,
}

/// A connection that can change tables.
pub trait Schema: Connection {
    /// Whether there is a table.
    fn has_table(&self, name: &str) -> Result<bool>;

    /// The columns of a table.
    fn columns(&self, table: &str) -> Result<Vec<ExistingColumn>>;

    /// The indexes of a table, that of its key apart.
    fn indexes(&self, table: &str) -> Result<Vec<Described>>;

    /// A name as the database stores it.
    fn stored_name(&self, name: &str) -> String {
        name.to_owned()
    }

    /// The statements that make the tables that storage maintains beside the declared ones.
    fn companion_tables(&self) -> &'static str;

    /// The SQL type of a column.
    fn sql_type(&self, ty: ColumnType) -> &'static str;

    /// Remembers what else is known of the type of a column that was just made.
    fn note_type(&self, _table: &str, _column: &str, _ty: ColumnType) -> Result<()> {
        Ok(())
    }

    /// The order of a column of an index. Null is the least.
    fn index_order(&self, descending: bool) -> &'static str {
        if descending { "DESC" } else { "ASC" }
    }

    /// The statement that makes an index.
    fn index_text(&self, table: &str, index: &Described) -> String {
        let column =
            |(name, descending): &(String, bool)| format!("{} {}", quoted(name), self.index_order(*descending));
        let columns: Vec<String> = index.columns.iter().map(column).collect();
        let unique = if index.unique { "UNIQUE " } else { "" };
        let table = quoted(&self.stored_name(table));
        let last = index.columns.last().filter(|_| index.partial);
        let part = last.map_or_else(String::new, |(name, _)| format!(" WHERE {} > 0", quoted(name)));
        format!("CREATE {unique}INDEX {} ON {table} ({}){part}", quoted(&index.name), columns.join(", "))
    }

    /// The version of the companion tables.
    fn version(&self) -> Result<i64>;

    /// Changes the companion tables of an earlier version.
    fn upgrade(&self, _from: i64) -> Result<()> {
        Ok(())
    }

    /// Marks the database as one of ours, and stores the version.
    fn sign(&self) -> Result<()>;

    /// Brings the indexes of texts to what the catalogue searches, where the engine has any.
    fn renew_search(&self, _catalogue: &Catalogue, _words: &Words) -> Result<()> {
        Ok(())
    }
}

/// A name in SQL.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The mark that distinguishes types of columns, whatever SQL makes of them.
pub fn type_mark(ty: ColumnType) -> &'static str {
    match ty {
        ColumnType::Int => "INTEGER",
        ColumnType::Real => "REAL",
        ColumnType::Text => "TEXT",
        ColumnType::Word => "INTEGER_WORD",
        ColumnType::Key => "TEXT_KEY",
        ColumnType::Json => "TEXT_JSON",
    }
}

/// The values of a column, for people.
pub fn type_name(ty: ColumnType) -> &'static str {
    match ty {
        ColumnType::Int => "integers",
        ColumnType::Real => "numbers",
        ColumnType::Text => "text",
        ColumnType::Word => "words",
        ColumnType::Key => "folded text",
        ColumnType::Json => "JSON",
    }
}
