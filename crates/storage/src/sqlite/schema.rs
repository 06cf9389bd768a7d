//! Tables, columns and indexes of a SQLite file.

use super::super::catalogue::Catalogue;
use super::super::migrate::{CHANGE_FEED, DEPTH, Described, ExistingColumn, FORMER, Schema, TARGETS, type_mark};
use super::super::plan::ColumnType;
use super::super::statement::Result;
use super::super::statement::Statements as _;
use super::super::words::Words;
use super::connection::SqliteConnection;
use super::{connect, search};

/// How SQLite names the types of columns.
macro_rules! make {
    ($tables:ident) => {
        $crate::companions::$tables! {
            int: "INTEGER", text: "TEXT", name: "TEXT", bytes: "BLOB", copied: "", nulls: "", end: " WITHOUT ROWID",
            often: ""
        }
    };
}

/// The version since which the number of a meta value is its alone. Before, it counted the values of a row's key.
const NUMBERED_VALUES: i64 = 3;
const NUMBER_VALUES: &str = r#"
ALTER TABLE meta RENAME TO meta_counted;
CREATE TABLE meta (
    space INTEGER NOT NULL, id INTEGER NOT NULL, key TEXT NOT NULL, n INTEGER NOT NULL, json TEXT NOT NULL,
    PRIMARY KEY (space, id, key, n)) WITHOUT ROWID;
INSERT INTO meta (space, id, key, n, json)
    SELECT space, id, key, row_number() OVER (ORDER BY space, id, key, n), json FROM meta_counted;
DROP TABLE meta_counted;
INSERT INTO sequence (space, next) SELECT 'meta', count(*) + 1 FROM meta
    WHERE true ON CONFLICT (space) DO UPDATE SET next = excluded.next;
"#;

impl Schema for SqliteConnection {
    fn has_table(&self, name: &str) -> Result<bool> {
        let mut select = self.inner().prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1")?;
        Ok(select.exists([name])?)
    }

    fn columns(&self, table: &str) -> Result<Vec<ExistingColumn>> {
        let mut select = self.inner().prepare("SELECT name, type, dflt_value, pk FROM pragma_table_info(?1)")?;
        let rows = select.query_map([table], |row| {
            Ok(ExistingColumn {
                name: row.get(0)?,
                ty: row.get(1)?,
                default: row.get(2)?,
                key: row.get::<_, i64>(3)? > 0,
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn indexes(&self, table: &str) -> Result<Vec<Described>> {
        let mut names = self
            .inner()
            .prepare("SELECT name, \"unique\", partial FROM pragma_index_list(?1) WHERE origin = 'c' ORDER BY name")?;
        let names: Vec<(String, bool, bool)> = names
            .query_map([table], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let mut columns =
            self.inner().prepare("SELECT name, \"desc\" FROM pragma_index_xinfo(?1) WHERE key = 1 ORDER BY seqno")?;
        let mut indexes = Vec::new();
        for (name, unique, partial) in names {
            let columns =
                columns.query_map([&name], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
            indexes.push(Described { name, columns, unique, partial });
        }
        Ok(indexes)
    }

    fn companion_tables(&self) -> &'static str {
        make!(companion_tables)
    }

    /// The part that SQLite ignores stores what else is known of the column.
    fn sql_type(&self, ty: ColumnType) -> &'static str {
        type_mark(ty)
    }

    fn version(&self) -> Result<i64> {
        Ok(self.inner().pragma_query_value(None, "user_version", |row| row.get(0))?)
    }

    fn upgrade(&self, from: i64) -> Result<()> {
        if from < NUMBERED_VALUES {
            self.batch(NUMBER_VALUES)?;
        }
        match from {
            _ if from < CHANGE_FEED => self.batch(make!(change_feed)),
            _ if from < FORMER => {
                self.batch(concat!(make!(former_columns), make!(depth_column), make!(targets_column)))
            }
            _ if from < DEPTH => self.batch(concat!(make!(depth_column), make!(targets_column))),
            _ if from < TARGETS => self.batch(make!(targets_column)),
            _ => Ok(()),
        }
    }

    fn sign(&self) -> Result<()> {
        Ok(connect::sign(self.inner())?)
    }

    fn renew_search(&self, catalogue: &Catalogue, words: &Words) -> Result<()> {
        search::renew(self, catalogue, words)
    }
}
