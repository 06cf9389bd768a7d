//! A migration under way: tables, columns and indexes follow the declarations, and what would lose values is refused.

use super::super::catalogue::{Catalogue, Table};
use super::super::layout_table::keep;
use super::super::plan::{ColumnDef, ColumnType, DbValue, IndexDef, Name};
use super::super::statement::{Dialect, Fault, Result, params};
use super::super::words::Words;
use super::change::{PendingChange, Refusal, hold_a_value};
use super::schema::{Described, ExistingColumn, Schema, quoted, type_mark, type_name};
use sea_query::{Alias, Expr, PostgresQueryBuilder, SchemaStatementBuilder, SqliteQueryBuilder, Table as Ddl};
use std::collections::HashSet;
use std::sync::Arc;

/// See the module.
pub struct Migration<'c> {
    pub conn: &'c dyn Schema,
    pub words: &'c Words,
    pub drops: &'c [String],
    /// The declared relations.
    pub relations: HashSet<Name>,
    pub changes: Vec<PendingChange>,
}

impl Migration<'_> {
    /// Brings one table to the layout.
    pub fn table(&mut self, table: &Table) -> Result<()> {
        let name = &table.def.name;
        if !self.conn.has_table(name)? {
            self.create(table)?;
            self.change(name, "create the table".into());
            for column in &table.def.columns {
                if !self.values_of_links(table, column, true)? {
                    self.complete_rows(table, column, None)?;
                }
            }
        } else if self.key(table)? {
            self.name_counter(table)?;
            self.rename_columns(table)?;
            self.drop_indexes(table)?;
            self.columns(table)?;
        } else {
            return Ok(());
        }
        keep(self.conn, &format!("table:{name}"), "")?;
        self.create_indexes(table)
    }

    /// Notes a change that was made.
    pub fn change(&mut self, table: &str, what: String) {
        self.remember(table, what, true);
    }

    /// A change of what is remembered of the declarations; `stored`: of what the tables hold, too.
    pub fn remember(&mut self, table: &str, what: String, stored: bool) {
        self.changes.push(PendingChange { table: table.to_owned(), what, remembered: !stored, refused: None });
    }

    /// Notes a change that is not made.
    pub fn refuse(&mut self, table: &str, what: String, refusal: Refusal) {
        let table = table.to_owned();
        self.changes.push(PendingChange { table, what, remembered: false, refused: Some(refusal) });
    }

    /// Whether values may be deleted: a table, or `table.column`.
    pub fn may_drop(&self, what: &str) -> bool {
        self.drops.iter().any(|drop| drop == what)
    }

    /// Carries out statements.
    pub fn run(&self, text: &str) -> Result<()> {
        self.conn.batch(text)
    }

    pub fn build(&self, ddl: &impl SchemaStatementBuilder) -> String {
        match self.conn.dialect() {
            Dialect::Sqlite => ddl.build(SqliteQueryBuilder),
            Dialect::Postgres => ddl.build(PostgresQueryBuilder),
        }
    }

    pub fn type_alias(&self, ty: ColumnType) -> Alias {
        Alias::new(self.conn.sql_type(ty))
    }

    fn create(&self, table: &Table) -> Result<()> {
        let def = &table.def;
        let mut ddl = Ddl::create();
        let mut key = sea_query::ColumnDef::new(Alias::new(&*def.key.name));
        ddl.table(Alias::new(&*def.name)).col(key.custom(self.type_alias(def.key.ty)).not_null().primary_key());
        for column in &def.columns {
            ddl.col(self.column_ddl(column));
        }
        self.run(&self.build(&ddl))?;
        def.columns.iter().chain([&def.key]).try_for_each(|c| self.conn.note_type(&def.name, &c.name, c.ty))
    }

    fn column_ddl(&self, column: &ColumnDef) -> sea_query::ColumnDef {
        let mut ddl = sea_query::ColumnDef::new(Alias::new(&*column.name));
        ddl.custom(self.type_alias(column.ty));
        if let Some(default) = &column.default {
            ddl.default(self.literal(column, default));
        }
        ddl
    }

    pub fn literal(&self, column: &ColumnDef, value: &DbValue) -> Expr {
        match value {
            DbValue::Null => Expr::cust("NULL"),
            DbValue::Int(n) => Expr::val(*n),
            DbValue::Real(n) => Expr::val(*n),
            DbValue::Text(word) if column.ty == ColumnType::Word => {
                Expr::val(self.words.number(word).expect("default words were added first"))
            }
            DbValue::Text(text) => Expr::val(&**text),
        }
    }

    /// Whether the key is as declared. A key of another type cannot be changed where there are rows.
    fn key(&mut self, table: &Table) -> Result<bool> {
        let def = &table.def;
        let present = self.present(&def.name)?;
        let Some(key) = present.iter().find(|c| c.key) else {
            let why = "the table in the file has none".to_owned();
            self.refuse(&def.name, "give the table a key".into(), Refusal { why, ..Refusal::default() });
            return Ok(false);
        };
        if *key.ty == *type_mark(def.key.ty) && *key.name == self.conn.stored_name(&def.key.name) {
            return Ok(true);
        }
        let what = format!("make `{}` the key", def.key.name);
        if self.holds_rows(&def.name)? {
            if !self.may_drop(&def.name) {
                let why = format!("its rows are known by `{}`", key.name);
                let drop = Some(def.name.to_string());
                self.refuse(&def.name, what, Refusal { why, drop, ..Refusal::default() });
                return Ok(false);
            }
            self.clear_companions(&def.name)?;
        }
        self.run(&self.build(Ddl::drop().table(Alias::new(&*def.name))))?;
        self.create(table)?;
        self.change(&def.name, what);
        Ok(true)
    }

    fn rename_columns(&mut self, table: &Table) -> Result<()> {
        let name = &table.def.name;
        for column in &table.def.columns {
            let Some(was) = &column.was else { continue };
            let present = self.present(name)?;
            let has = |column: &str| present.iter().any(|c| *c.name == self.conn.stored_name(column));
            if has(was) && !has(&column.name) && table.place(was).is_err() {
                let mut ddl = Ddl::alter();
                ddl.table(Alias::new(&**name)).rename_column(Alias::new(&**was), Alias::new(&*column.name));
                self.run(&self.build(&ddl))?;
                self.rename_kept(name, was, &column.name)?;
                self.change(name, format!("rename the column `{was}` to `{}`", column.name));
            }
        }
        Ok(())
    }

    pub fn columns(&mut self, table: &Table) -> Result<()> {
        let name = &table.def.name;
        let present = self.present(name)?;
        for column in &table.def.columns {
            match present.iter().find(|c| *c.name == self.conn.stored_name(&column.name)) {
                None if self.values_of_links(table, column, false)? => {}
                None => {
                    let mut what = format!("add the column `{}`", column.name);
                    if let Some(was) = &column.was {
                        what.push_str(&format!(" (x-was names `{was}`, and the table has no such column)"));
                    }
                    self.make_column(name, column)?;
                    self.complete_rows(table, column, Some(what))?;
                }
                Some(present) => self.review(table, column, present)?,
            }
        }
        let declared =
            |c: &ExistingColumn| table.def.columns.iter().any(|def| self.conn.stored_name(&def.name) == *c.name);
        let gone: Vec<&ExistingColumn> = present.iter().filter(|c| !c.key && !declared(c)).collect();
        for gone in gone {
            let what = format!("remove the column `{}`", gone.name);
            let drop = format!("{name}.{}", gone.name);
            match self.values_of(name, gone)? {
                held if held > 0 && !self.may_drop(&drop) => {
                    let why = format!("{} in it", hold_a_value(held));
                    let new = |column: &&ColumnDef| {
                        !present.iter().any(|c| c.name == column.name) && *type_mark(column.ty) == *gone.ty
                    };
                    let new_names = table.def.columns.iter().filter(new).map(|c| c.name.to_string()).collect();
                    self.refuse(name, what, Refusal { why, drop: Some(drop), new_names, remedy: None });
                }
                _ => {
                    self.drop_column(name, &gone.name)?;
                    self.change(name, what);
                }
            }
        }
        Ok(())
    }

    /// Adds a column.
    pub fn make_column(&mut self, table: &str, column: &ColumnDef) -> Result<()> {
        let mut ddl = Ddl::alter();
        ddl.table(Alias::new(table)).add_column(self.column_ddl(column));
        self.run(&self.build(&ddl))?;
        self.conn.note_type(table, &column.name, column.ty)
    }

    /// Removes a column.
    pub fn drop_column(&self, table: &str, column: &str) -> Result<()> {
        let mut ddl = Ddl::alter();
        self.run(&self.build(ddl.table(Alias::new(table)).drop_column(Alias::new(column))))
    }

    /// Makes a column hold values of another type; those of the former type are deleted.
    pub fn retype(&mut self, table: &str, column: &ColumnDef, present: &ExistingColumn) -> Result<()> {
        let what = format!("make the column `{}` hold {}", column.name, type_name(column.ty));
        let drop = format!("{table}.{}", column.name);
        match self.values_of(table, present)? {
            held if held > 0 && !self.may_drop(&drop) => {
                let why = format!("{} of the former type", hold_a_value(held));
                self.refuse(table, what, Refusal { why, drop: Some(drop), ..Refusal::default() });
                Ok(())
            }
            _ => {
                self.drop_column(table, &column.name)?;
                self.make_column(table, column)?;
                self.told(table, what)
            }
        }
    }

    /// How many rows hold something else than the default.
    pub fn values_of(&self, table: &str, column: &ExistingColumn) -> Result<i64> {
        let default = column.default.as_deref().unwrap_or("NULL");
        let text = format!(
            "SELECT count(*) FROM {} WHERE {name} IS NOT NULL AND {name} IS DISTINCT FROM ({default})",
            quoted(table),
            name = quoted(&column.name)
        );
        Ok(self.conn.number(&text, &[])?.unwrap_or(0))
    }

    /// Whether a table has rows.
    pub fn holds_rows(&self, table: &str) -> Result<bool> {
        self.conn.exists(&format!("SELECT 1 FROM {} LIMIT 1", quoted(table)), &[])
    }

    /// The columns that a table has.
    pub fn present(&self, table: &str) -> Result<Vec<ExistingColumn>> {
        self.conn.columns(table)
    }

    /// Drops indexes that are not declared, or not like this. They go before columns that they use.
    fn drop_indexes(&mut self, table: &Table) -> Result<()> {
        for index in self.conn.indexes(&table.def.name)? {
            if table.def.indexes.iter().any(|def| self.described(table, def) == index) {
                continue;
            }
            self.run(&format!("DROP INDEX {}", quoted(&index.name)))?;
            let short = index.name.split_once("__").map_or(&*index.name, |(_, short)| short);
            if !table.def.indexes.iter().any(|def| *def.name == *short) {
                self.change(&table.def.name, format!("remove the index `{short}`"));
            }
        }
        Ok(())
    }

    fn create_indexes(&mut self, table: &Table) -> Result<()> {
        let name = &table.def.name;
        let present = self.conn.indexes(name)?;
        let new_table = self.changes.iter().any(|c| c.table == **name && c.what == "create the table");
        for def in &table.def.indexes {
            let wanted = self.described(table, def);
            if present.contains(&wanted) {
                continue;
            }
            let kind = if def.unique { "unique index" } else { "index" };
            let what = format!("create the {kind} `{}`", def.name);
            self.run("SAVEPOINT new_index")?;
            match self.run(&self.conn.index_text(name, &wanted)) {
                Ok(()) if new_table => self.run("RELEASE new_index")?,
                Ok(()) => {
                    self.run("RELEASE new_index")?;
                    self.change(name, what);
                }
                Err(error) if matches!(error.fault, Fault::Duplicate(_)) => {
                    self.run("ROLLBACK TO new_index")?;
                    self.run("RELEASE new_index")?;
                    let columns: Vec<&str> = def.columns.iter().map(|(c, _)| &**c).collect();
                    let why = format!("some rows have the same value in {}", columns.join(", "));
                    self.refuse(name, what, Refusal { why, ..Refusal::default() });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The columns of a declared index. Entries with equal columns are ordered by ascending key; where the last column
    /// descends, the key has to as well, or a walk along the index would not break ties as plans do.
    fn described(&self, table: &Table, def: &IndexDef) -> Described {
        let stored = |name: &str| self.conn.stored_name(name);
        let mut columns: Vec<(String, bool)> = def.columns.iter().map(|(c, d)| (stored(c), *d)).collect();
        if !def.unique && columns.last().is_some_and(|(_, descending)| *descending) {
            columns.push((stored(&table.def.key.name), true));
        }
        let name = stored(&table.index_name(def));
        Described { name, columns, unique: def.unique, partial: def.partial }
    }

    /// Drops tables that were made for an earlier layout.
    pub fn drop_tables(&mut self, catalogue: &Catalogue) -> Result<()> {
        let made = self.conn.texts("SELECT substr(name, 7) FROM layout WHERE name LIKE 'table:%'", &[])?;
        for name in made.iter().filter(|name| catalogue.table(name).is_err()) {
            let what = "remove the table".to_owned();
            if self.holds_values(name)? {
                if !self.may_drop(name) {
                    let (why, drop) = ("it holds rows".to_owned(), Some(name.to_string()));
                    self.refuse(name, what, Refusal { why, drop, ..Refusal::default() });
                    continue;
                }
                self.clear_companions(name)?;
            }
            self.run(&self.build(Ddl::drop().table(Alias::new(&**name))))?;
            self.conn.send("DELETE FROM layout WHERE name = ?1", params![&format!("table:{name}")])?;
            self.change(name, what);
        }
        Ok(())
    }

    /// Deletes what other tables hold about the rows of a table: slugs, further values, revisions and edges. Tables
    /// that can be dropped have a space of their own, named like them.
    pub fn clear_companions(&self, table: &str) -> Result<()> {
        for rel in self.relations_of(table)? {
            let text = "DELETE FROM edge WHERE rel = (SELECT number FROM dictionary WHERE word = ?1)";
            self.conn.send(text, params![&rel])?;
        }
        for (companion, column) in
            [("slug", "\"table\""), ("tally", "\"table\""), ("meta", "space"), ("revision", "space")]
        {
            let text =
                format!("DELETE FROM {companion} WHERE {column} = (SELECT number FROM dictionary WHERE word = ?1)");
            self.conn.send(&text, params![table])?;
        }
        Ok(())
    }

    /// Relations whose sources are rows of a table, also of an earlier layout.
    pub fn relations_of(&self, table: &str) -> Result<Vec<Arc<str>>> {
        let text = "SELECT substr(name, 11) FROM layout WHERE name LIKE 'reference:%' AND definition LIKE ?1 || ' %'";
        self.conn.texts(text, params![table])
    }
}
