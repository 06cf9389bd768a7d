//! Tables, columns and indexes of a PostgreSQL schema.
//!
//! Texts are compared byte by byte (`COLLATE "C"`), and null is the least in every index, as on SQLite. What the
//! declarations know of a column beyond its SQL type is its comment.

use super::super::catalogue::{Catalogue, Table};
use super::super::layout_table::{keep, kept};
use super::super::migrate::{
    CHANGE_FEED, DEPTH, Described, ExistingColumn, FORMER, META_VERSION, Schema, TARGETS, quoted, type_mark,
};
use super::super::plan::{ColumnType, Name};
use super::super::statement::{Result, int, params, text_at};
use super::super::words::Words;
use super::functions;
use super::text::stored_name;
use super::writer::PgConnection;
use crate::statement::Statements as _;

/// The name of the program that the layout table holds.
pub const PROGRAM: &str = "cms-server";

/// How PostgreSQL names the types of columns.
macro_rules! make {
    ($tables:ident) => {
        $crate::companions::$tables! {
            int: "bigint", text: "text", name: "text COLLATE \"C\"", bytes: "text", copied: " bigint",
            nulls: " NULLS FIRST", end: "", often: " WITH (fillfactor = 50)"
        }
    };
}

const COLUMNS: &str = "SELECT a.attname::text, coalesce(col_description(a.attrelid, a.attnum), ''), \
    pg_get_expr(d.adbin, d.adrelid), (coalesce(a.attnum = ANY(k.conkey), false))::int \
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
    LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p' \
    WHERE c.relname = ?1 AND c.relnamespace = current_schema()::regnamespace ORDER BY a.attnum";

const INDEXES: &str = "SELECT i.relname::text, x.indisunique::int, a.attname::text, (x.indoption[(k.n - 1)::int] & 1)::int, \
    (x.indpred IS NOT NULL)::int FROM pg_class c JOIN pg_index x ON x.indrelid = c.oid JOIN pg_class i ON i.oid = x.indexrelid \
    JOIN pg_am m ON m.oid = i.relam AND m.amname = 'btree' \
    CROSS JOIN LATERAL unnest(x.indkey::int2[]) WITH ORDINALITY AS k (attnum, n) \
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum \
    WHERE c.relname = ?1 AND c.relnamespace = current_schema()::regnamespace AND NOT x.indisprimary \
    ORDER BY 1, k.n";

impl Schema for PgConnection {
    fn has_table(&self, name: &str) -> Result<bool> {
        let text = "SELECT 1 FROM pg_class WHERE relname = ?1 AND relnamespace = current_schema()::regnamespace \
            AND relkind IN ('r', 'p')";
        self.exists(text, params![&*stored_name(name)])
    }

    fn columns(&self, table: &str) -> Result<Vec<ExistingColumn>> {
        let rows = self.select(COLUMNS, params![&*stored_name(table)])?;
        Ok(rows.iter().map(ExistingColumn::of_row).collect())
    }

    fn indexes(&self, table: &str) -> Result<Vec<Described>> {
        let mut indexes: Vec<Described> = Vec::new();
        for row in self.select(INDEXES, params![&*stored_name(table)])? {
            let (name, column) = (text_at(&row, 0).unwrap_or_default(), text_at(&row, 2).unwrap_or_default());
            if indexes.last().is_none_or(|last| last.name != *name) {
                let (unique, partial) = (int(&row, 1) > 0, int(&row, 4) > 0);
                indexes.push(Described { name: name.to_string(), columns: Vec::new(), unique, partial });
            }
            if let Some(index) = indexes.last_mut() {
                index.columns.push((column.to_string(), int(&row, 3) > 0));
            }
        }
        Ok(indexes)
    }

    fn stored_name(&self, name: &str) -> String {
        stored_name(name).into_owned()
    }

    fn companion_tables(&self) -> &'static str {
        make!(companion_tables)
    }

    fn sql_type(&self, ty: ColumnType) -> &'static str {
        match ty {
            ColumnType::Int | ColumnType::Word => "bigint",
            ColumnType::Real => "double precision",
            ColumnType::Text | ColumnType::Key | ColumnType::Json => "text COLLATE \"C\"",
        }
    }

    fn note_type(&self, table: &str, column: &str, ty: ColumnType) -> Result<()> {
        let (table, column) = (quoted(&stored_name(table)), quoted(&stored_name(column)));
        self.batch(&format!("COMMENT ON COLUMN {table}.{column} IS '{}'", type_mark(ty)))
    }

    fn index_order(&self, descending: bool) -> &'static str {
        if descending { "DESC NULLS LAST" } else { "ASC NULLS FIRST" }
    }

    fn version(&self) -> Result<i64> {
        Ok(kept(self, "version")?.and_then(|text| text.parse().ok()).unwrap_or(META_VERSION))
    }

    fn upgrade(&self, from: i64) -> Result<()> {
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
        keep(self, "program", PROGRAM)?;
        keep(self, "version", &META_VERSION.to_string())
    }

    fn renew_search(&self, catalogue: &Catalogue, _: &Words) -> Result<()> {
        functions::create(self)?;
        let trigrams = functions::trigrams(self)?;
        for table in &catalogue.tables {
            self.renew_index(table, trigrams.as_ref())?;
        }
        Ok(())
    }
}

/// Where the layout table says which texts of a table have an index.
pub fn search_key(table: &str) -> String {
    format!("search:{table}")
}

impl PgConnection {
    /// Brings the index of a table's texts to what is searched.
    fn renew_index(&self, table: &Table, trigrams: Option<&Name>) -> Result<()> {
        let columns: Vec<&str> = table.searched.iter().map(|place| &*table.def.columns[*place].name).collect();
        let key = search_key(&table.def.name);
        let wanted = match trigrams.filter(|_| !columns.is_empty()) {
            Some(_) => format!("pg_trgm {}", columns.join(" ")),
            None => String::new(),
        };
        if *kept(self, &key)?.unwrap_or_default() == *wanted {
            return Ok(());
        }
        let index = quoted(&stored_name(&format!("search_{}", table.def.name)));
        self.batch(&format!("DROP INDEX IF EXISTS {index}"))?;
        if let (Some(schema), false) = (trigrams, wanted.is_empty()) {
            let entry =
                |column: &&str| format!("cms_fold({}) {}.gin_trgm_ops", quoted(&stored_name(column)), quoted(schema));
            let entries: Vec<String> = columns.iter().map(entry).collect();
            let table = quoted(&stored_name(&table.def.name));
            self.batch(&format!("CREATE INDEX {index} ON {table} USING gin ({})", entries.join(", ")))?;
        }
        keep(self, &key, &wanted)
    }
}
