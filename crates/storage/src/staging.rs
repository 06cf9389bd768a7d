//! Rows that come table by table and are read joined: a temporary database of SQLite that one import has for itself.
//!
//! It is a file without a name, which the system removes when the process ends, however it ends. It holds texts and whole
//! numbers, and knows nothing of what they mean.

use crate::error::StorageError;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, ToSql, params_from_iter};

/// Kilobytes of the file that stay in memory.
const CACHE: i64 = 16 << 10;

/// Statements that stay prepared.
const STATEMENTS: usize = 64;

/// A value of a staged row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StagedValue {
    #[default]
    Null,
    Int(i64),
    Text(String),
}

impl StagedValue {
    /// The text; nothing of the others.
    pub fn into_text(self) -> String {
        match self {
            StagedValue::Text(text) => text,
            StagedValue::Null | StagedValue::Int(_) => String::new(),
        }
    }

    /// The number; 0 of the others.
    pub fn int(&self) -> i64 {
        match self {
            StagedValue::Int(number) => *number,
            StagedValue::Null | StagedValue::Text(_) => 0,
        }
    }
}

impl ToSql for StagedValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            StagedValue::Null => ValueRef::Null,
            StagedValue::Int(number) => ValueRef::Integer(*number),
            StagedValue::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

/// The rows of a table that a read selects.
#[derive(Clone, Copy, Debug)]
pub struct StagedRead<'r> {
    pub table: &'r str,
    pub columns: &'r [&'r str],
    /// The column that has this value; without it, every row.
    pub of: Option<(&'r str, &'r StagedValue)>,
    /// The column that the rows are sorted by, which has an index; those with the same value as they came.
    pub order: &'r str,
}

/// See the module.
pub struct StagingFile {
    connection: Connection,
}

impl StagingFile {
    /// A new file in the system's folder for temporary files.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn create() -> Result<StagingFile, StorageError> {
        let connection = Connection::open("").map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        // Nobody reads the file after a crash. One transaction for all rows: without it, each had its own.
        let options =
            format!("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -{CACHE}; BEGIN");
        connection.execute_batch(&options).map_err(failed)?;
        Ok(StagingFile { connection })
    }

    /// Adds a table.
    ///
    /// # Errors
    /// There is one with the name.
    pub fn add_table(&self, table: &str, columns: &[&str]) -> Result<(), StorageError> {
        let columns: Vec<String> = columns.iter().map(|column| quoted(column)).collect();
        let text = format!("CREATE TABLE {} ({})", quoted(table), columns.join(", "));
        self.connection.execute_batch(&text).map_err(failed)
    }

    /// Adds a row: a value for each column of the table.
    ///
    /// # Errors
    /// The disk is full.
    pub fn insert(&self, table: &str, values: &[StagedValue]) -> Result<(), StorageError> {
        let places = vec!["?"; values.len()].join(", ");
        let text = format!("INSERT INTO {} VALUES ({places})", quoted(table));
        let mut statement = self.connection.prepare_cached(&text).map_err(failed)?;
        statement.execute(params_from_iter(values)).map(drop).map_err(failed)
    }

    /// Makes rows of a table quick to find, and to sort, by a column.
    ///
    /// # Errors
    /// The disk is full.
    pub fn add_index(&self, table: &str, column: &str) -> Result<(), StorageError> {
        let name = quoted(&format!("{table} {column}"));
        let text = format!("CREATE INDEX {name} ON {} ({})", quoted(table), quoted(column));
        self.connection.execute_batch(&text).map_err(failed)
    }

    /// How many rows a table has.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn count(&self, table: &str) -> Result<u64, StorageError> {
        let text = format!("SELECT count(*) FROM {}", quoted(table));
        let count: i64 = self.connection.query_row(&text, [], |row| row.get(0)).map_err(failed)?;
        Ok(count.unsigned_abs())
    }

    /// Whether a row has this value in a column.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn has(&self, table: &str, column: &str, value: &StagedValue) -> Result<bool, StorageError> {
        let text = format!("SELECT EXISTS (SELECT 1 FROM {} WHERE {} = ?)", quoted(table), quoted(column));
        let mut statement = self.connection.prepare_cached(&text).map_err(failed)?;
        statement.query_row([value], |row| row.get(0)).map_err(failed)
    }

    /// Hands on the rows of a read, one at a time.
    ///
    /// # Errors
    /// The file cannot be read, or `each` refuses.
    pub fn each<E: From<StorageError>>(
        &self,
        read: &StagedRead<'_>,
        mut each: impl FnMut(Vec<StagedValue>) -> Result<(), E>,
    ) -> Result<(), E> {
        let columns: Vec<String> = read.columns.iter().map(|column| quoted(column)).collect();
        let filter = read.of.map(|(column, _)| format!(" WHERE {} = ?", quoted(column))).unwrap_or_default();
        let text = format!(
            "SELECT {} FROM {}{filter} ORDER BY {}, rowid",
            columns.join(", "),
            quoted(read.table),
            quoted(read.order)
        );
        let mut statement = self.connection.prepare_cached(&text).map_err(failed)?;
        let values = read.of.map(|(_, value)| value);
        let mut rows = statement.query(params_from_iter(values)).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            each(values_of(row, read.columns.len())?)?;
        }
        Ok(())
    }

    /// All rows of a read.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn all(&self, read: &StagedRead<'_>) -> Result<Vec<Vec<StagedValue>>, StorageError> {
        let mut all = Vec::new();
        self.each(read, |row| {
            all.push(row);
            Ok::<(), StorageError>(())
        })?;
        Ok(all)
    }
}

fn values_of(row: &Row<'_>, columns: usize) -> Result<Vec<StagedValue>, StorageError> {
    let value = |place: usize| {
        Ok(match row.get_ref(place).map_err(failed)? {
            ValueRef::Integer(number) => StagedValue::Int(number),
            ValueRef::Text(text) => StagedValue::Text(String::from_utf8_lossy(text).into_owned()),
            _ => StagedValue::Null,
        })
    };
    (0..columns).map(value).collect()
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn failed(error: rusqlite::Error) -> StorageError {
    StorageError::Failed(format!("the temporary file of the import: {error} (TMPDIR names its folder)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> StagedValue {
        StagedValue::Text(text.to_owned())
    }

    #[test]
    fn rows_come_back_by_key_and_in_order() {
        let file = StagingFile::create().expect("a file");
        file.add_table("p\"_posts", &["id", "of", "text"]).expect("a table");
        let rows = [(3, 1, "c"), (1, 2, "a \0 ü"), (2, 1, "b"), (2, 1, "b again")];
        for (id, of, own) in rows {
            file.insert("p\"_posts", &[StagedValue::Int(id), StagedValue::Int(of), text(own)]).expect("a row");
        }
        file.insert("p\"_posts", &[StagedValue::Int(9), StagedValue::Null, StagedValue::Null]).expect("a row");
        file.add_index("p\"_posts", "id").expect("an index");
        let read = |of| {
            let read = StagedRead { table: "p\"_posts", columns: &["text"], of, order: "id" };
            let rows = file.all(&read).expect("rows");
            rows.into_iter().map(|row| row.into_iter().next().expect("a column")).collect::<Vec<_>>()
        };
        let all = [text("a \0 ü"), text("b"), text("b again"), text("c"), StagedValue::Null];
        assert_eq!(read(None), all);
        assert_eq!(read(Some(("of", &StagedValue::Int(1)))), [text("b"), text("b again"), text("c")]);
        assert_eq!(read(Some(("text", &text("c")))), [text("c")]);
        assert_eq!(file.count("p\"_posts").expect("a number"), 5);
        for (id, expected) in [(2, true), (4, false)] {
            assert_eq!(file.has("p\"_posts", "id", &StagedValue::Int(id)).expect("an answer"), expected);
        }
        assert!(file.add_table("p\"_posts", &["id"]).is_err());
    }
}
