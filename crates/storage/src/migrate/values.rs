//! Values whose declaration has changed: those that it takes are kept or converted, those that it refuses are counted.

use super::super::catalogue::Table;
use super::super::connection::Connection;
use super::super::layout_table::{keep, kept};
use super::super::plan::{ColumnDef, ColumnType, DbValue, Name, TableDef, VERSION, ValueRule};
use super::super::statement::{Result, int, params};
use super::change::{Refusal, hold_a_value};
use super::migration::Migration;
use super::schema::{ExistingColumn, quoted, type_mark, type_name};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Rows that are read at once.
const PAGE: usize = 1000;
/// The name of a column while its values are converted.
const FORMER: &str = "_former";

/// Counts of a column's values by what a change does to them.
#[derive(Default)]
struct ConversionCounts {
    fitting: i64,
    converted: i64,
    refused: i64,
    /// The key of the first row whose value is refused.
    first: Option<DbValue>,
}

impl ConversionCounts {
    fn held(&self) -> i64 {
        self.fitting + self.converted
    }

    /// The outcome of a change for the values, where there are any.
    fn outcome(&self) -> String {
        match (self.held(), self.converted) {
            (0, _) => String::new(),
            (held, 0) => format!(": {}, and what is stored fits", hold_a_value(held)),
            (held, converted) => format!(": {}, of which {converted} are converted", hold_a_value(held)),
        }
    }
}

impl Migration<'_> {
    /// Looks at the values of a column whose declaration has changed.
    pub(super) fn review(&mut self, table: &Table, column: &ColumnDef, present: &ExistingColumn) -> Result<()> {
        let retyped = *present.ty != *type_mark(column.ty);
        let Some(rule) = &column.rule else {
            return if retyped { self.retype(&table.def.name, column, present) } else { Ok(()) };
        };
        let key = rule_key(&table.def.name, &column.name);
        let former = match kept(self.conn, &key)? {
            Some(former) if !retyped && *former == *rule.definition => return Ok(()),
            Some(former) => former,
            None if retyped => format!("{}{}", ValueRule::OF_TYPE, present.ty).into(),
            // A database of an earlier version, which knows nothing of the former declaration.
            None => return keep(self.conn, &key, &rule.definition),
        };
        let counts = self.count_conversions(&table.def, &column.name, &former, rule)?;
        let what = match retyped {
            true => format!("make the column `{}` hold {}", column.name, type_name(column.ty)),
            false => format!("let `{}` take what is declared now", column.name),
        };
        let drop = format!("{}.{}", table.def.name, column.name);
        if counts.refused > 0 && !self.may_drop(&drop) {
            self.refuse(&table.def.name, what, refused(&counts, drop));
            return Ok(());
        }
        if retyped {
            self.replace(table, column, |this| this.convert(&table.def, (FORMER, &column.name), &former, rule))?;
        } else if counts.converted + counts.refused > 0 {
            self.convert(&table.def, (&column.name, &column.name), &former, rule)?;
        }
        match retyped {
            true => self.change(&table.def.name, what + &counts.outcome()),
            false => self.remember(&table.def.name, what + &counts.outcome(), counts.converted > 0),
        }
        self.complete_rows(table, column, None)
    }

    /// After a column is made, or its declaration has changed: rows without a value get the declared default. Where a
    /// value is required and there is no default, the change is refused. `what`: the change, if it is not told yet.
    pub(super) fn complete_rows(&mut self, table: &Table, column: &ColumnDef, what: Option<String>) -> Result<()> {
        let name = &table.def.name;
        let Some(rule) = &column.rule else { return what.map_or(Ok(()), |what| self.told(name, what)) };
        keep(self.conn, &rule_key(name, &column.name), &rule.definition)?;
        let lacking = if rule.required || rule.fill.is_some() { self.lacking(&table.def, &column.name)? } else { 0 };
        let rows = |what: Option<String>| what.unwrap_or_else(|| format!("require `{}`", column.name));
        match &rule.fill {
            _ if lacking == 0 => what.map_or(Ok(()), |what| self.told(name, what)),
            Some(fill) => {
                self.fill(&table.def, column, fill)?;
                self.told(name, format!("{}: {} the default", rows(what), get(lacking)))
            }
            None => {
                let why = format!("{} without a value, which is required", are(lacking));
                let remedy =
                    Some(format!("declare a default of `{}`, which these rows get, or do not require it", column.name));
                self.refuse(name, rows(what), Refusal { why, remedy, ..Refusal::default() });
                Ok(())
            }
        }
    }

    pub(super) fn told(&mut self, table: &str, what: String) -> Result<()> {
        self.change(table, what);
        Ok(())
    }

    /// Rows that have no value, those of an extended table among them that have no row in the extension yet.
    fn lacking(&self, def: &TableDef, column: &str) -> Result<i64> {
        let column = quoted(column);
        let own = quoted(&def.name);
        let text = match (&def.extends, self.kind_of(def)) {
            (Some(base), Some(kind)) => {
                let key = quoted(&def.key.name);
                format!(
                    "SELECT count(*) FROM {} AS b LEFT JOIN {own} AS e ON e.{key} = b.{key} WHERE b.{kind} AND e.{column} IS NULL",
                    quoted(base)
                )
            }
            _ => format!("SELECT count(*) FROM {own} WHERE {column} IS NULL"),
        };
        Ok(self.conn.number(&text, &[])?.unwrap_or(0))
    }

    /// The condition that chooses the rows of the extended table that an extension is for.
    fn kind_of(&self, def: &TableDef) -> Option<String> {
        let number = self.words.number(def.kind.as_deref()?)?;
        let base = def.extends.as_deref()?;
        let column = self.conn.columns(base).ok()?.into_iter().find(|c| KINDS.contains(&&*c.name))?;
        Some(format!("{} = {number}", quoted(&column.name)))
    }

    fn fill(&self, def: &TableDef, column: &ColumnDef, value: &DbValue) -> Result<()> {
        let (own, name, key) = (quoted(&def.name), quoted(&column.name), quoted(&def.key.name));
        let value = literal(value);
        self.run(&format!("UPDATE {own} SET {name} = {value} WHERE {name} IS NULL"))?;
        let (Some(base), Some(kind)) = (&def.extends, self.kind_of(def)) else { return Ok(()) };
        self.run(&format!(
            "INSERT INTO {own} ({key}, {name}) SELECT b.{key}, {value} FROM {} AS b WHERE b.{kind} \
             AND NOT EXISTS (SELECT 1 FROM {own} AS e WHERE e.{key} = b.{key})",
            quoted(base)
        ))
    }

    /// Databases of earlier versions count the changes of rows under a name that a property can have.
    pub(super) fn name_counter(&self, table: &Table) -> Result<()> {
        const FORMERLY: &str = "version";
        let present = self.present(&table.def.name)?;
        let counts = type_mark(ColumnType::Int);
        let has = |name: &str| present.iter().any(|column| *column.name == *name && *column.ty == *counts);
        if table.version.is_none() || has(VERSION) || !has(FORMERLY) || table.place(FORMERLY).is_ok() {
            return Ok(());
        }
        self.rename(&table.def.name, FORMERLY, VERSION)
    }

    fn rename(&self, table: &str, from: &str, to: &str) -> Result<()> {
        self.run(&format!("ALTER TABLE {} RENAME COLUMN {} TO {}", quoted(table), quoted(from), quoted(to)))
    }

    /// Makes a column again in place of one of another type; `convert` brings its values over.
    fn replace(&mut self, table: &Table, column: &ColumnDef, convert: impl Fn(&Self) -> Result<()>) -> Result<()> {
        let def = &table.def;
        self.drop_indexes_of(def, &column.name)?;
        self.rename(&def.name, &column.name, FORMER)?;
        self.make_column(&def.name, column)?;
        convert(self)?;
        self.drop_column(&def.name, FORMER)
    }

    /// Drops the indexes that use a column; they are made again where they are declared.
    pub(super) fn drop_indexes_of(&self, def: &TableDef, column: &str) -> Result<()> {
        let stored = self.conn.stored_name(column);
        for index in self.conn.indexes(&def.name)? {
            if index.columns.iter().any(|(name, _)| *name == stored) {
                self.run(&format!("DROP INDEX {}", quoted(&index.name)))?;
            }
        }
        Ok(())
    }

    fn count_conversions(
        &self,
        def: &TableDef,
        column: &str,
        former: &str,
        rule: &ValueRule,
    ) -> Result<ConversionCounts> {
        let mut counts = ConversionCounts::default();
        self.each_value(def, column, &mut |key, value| {
            match (rule.convert)(former, value) {
                Some(new) if new == *value => counts.fitting += 1,
                Some(_) => counts.converted += 1,
                None => {
                    counts.refused += 1;
                    counts.first.get_or_insert_with(|| key.clone());
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(counts)
    }

    /// Stores each value as it is declared now. What the declaration refuses is deleted.
    fn convert(&self, def: &TableDef, (from, to): (&str, &str), former: &str, rule: &ValueRule) -> Result<()> {
        self.each_value(def, from, &mut |key, value| {
            let new = (rule.convert)(former, value).unwrap_or(DbValue::Null);
            if from != to || new != *value {
                self.set_value(def, key, to, &new)?;
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    pub(super) fn set_value(&self, def: &TableDef, key: &DbValue, column: &str, value: &DbValue) -> Result<()> {
        let (table, column, by) = (quoted(&def.name), quoted(column), quoted(&def.key.name));
        let text = match def.extends {
            None => format!("UPDATE {table} SET {column} = ?2 WHERE {by} = ?1"),
            Some(_) => format!(
                "INSERT INTO {table} ({by}, {column}) VALUES (?1, ?2) \
                 ON CONFLICT ({by}) DO UPDATE SET {column} = excluded.{column}"
            ),
        };
        self.conn.send(&text, params![key, value])
    }

    pub(super) fn each_value(&self, def: &TableDef, column: &str, visit: &mut Visit<'_>) -> Result<()> {
        each_value(self.conn, &def.name, (&def.key.name, def.key.ty), column, visit)
    }

    /// Whether a table that is no longer declared holds something: rows, or values where its rows are parts of others.
    pub(super) fn holds_values(&self, table: &str) -> Result<bool> {
        let columns = self.present(table)?;
        if columns.iter().any(|column| *column.name == *VERSION) {
            return self.holds_rows(table);
        }
        for column in columns.iter().filter(|column| !column.key) {
            if self.values_of(table, column)? > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Columns in which tables say what kind a row is of.
pub(super) const KINDS: [&str; 2] = ["kind", "taxonomy"];

/// A visitor of a key and a value.
pub(super) type Visit<'v> = dyn FnMut(&DbValue, &DbValue) -> Result<ControlFlow<()>> + 'v;

/// Visits the values of a column, some rows at a time.
pub(in super::super) fn each_value(
    conn: &dyn Connection,
    table: &str,
    (key, ty): (&Name, ColumnType),
    column: &str,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let (table, by, column) = (quoted(table), quoted(key), quoted(column));
    let text = format!(
        "SELECT {by}, {column} FROM {table} WHERE {column} IS NOT NULL AND {by} > ?1 ORDER BY {by} LIMIT {PAGE}"
    );
    let mut after = match ty {
        ColumnType::Int => DbValue::Int(i64::MIN),
        _ => DbValue::Text(Arc::from("")),
    };
    loop {
        let rows = conn.select(&text, params![&after])?;
        for row in &rows {
            if let [key, value] = &row[..]
                && visit(key, value)?.is_break()
            {
                return Ok(());
            }
        }
        match rows.last().and_then(|row| row.first()) {
            Some(last) if rows.len() == PAGE => after = last.clone(),
            _ => return Ok(()),
        }
    }
}

/// Where stored values contradict their declarations, in sentences, at most `most` of each column.
pub(in super::super) fn contradictions(conn: &dyn Connection, tables: &[Table], most: usize) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for table in tables.iter().map(|table| &table.def) {
        for column in &table.columns {
            let Some(rule) = &column.rule else { continue };
            let mut rows = Vec::new();
            each_value(conn, &table.name, (&table.key.name, table.key.ty), &column.name, &mut |key, value| {
                if (rule.convert)(&rule.definition, value).is_none() {
                    rows.push(format!(
                        "{} {}: `{}` holds a value that its declaration refuses",
                        table.name,
                        text_of(key),
                        column.name
                    ));
                }
                Ok(if rows.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            })?;
            all.append(&mut rows);
        }
    }
    Ok(all)
}

/// Where the definition of a column is kept.
pub(super) fn rule_key(table: &str, column: &str) -> String {
    format!("rule:{table}.{column}")
}

fn refused(counts: &ConversionCounts, drop: String) -> Refusal {
    let first = counts.first.as_ref().map(text_of).unwrap_or_default();
    let why = format!("{} that it does not take, the first is {first}", hold_a_value(counts.refused));
    let remedy = Some("change these values first, or declare what takes them".to_owned());
    Refusal { why, drop: Some(drop), remedy, ..Refusal::default() }
}

pub(super) fn text_of(key: &DbValue) -> String {
    match key {
        DbValue::Int(id) => id.to_string(),
        DbValue::Text(text) => text.to_string(),
        DbValue::Real(_) | DbValue::Null => String::new(),
    }
}

fn get(rows: i64) -> String {
    if rows == 1 { "1 row gets".to_owned() } else { format!("{rows} rows get") }
}

fn are(rows: i64) -> String {
    if rows == 1 { "1 row is".to_owned() } else { format!("{rows} rows are") }
}

/// A value in SQL.
fn literal(value: &DbValue) -> String {
    match value {
        DbValue::Null => "NULL".to_owned(),
        DbValue::Int(n) => n.to_string(),
        DbValue::Real(n) => format!("{n:?}"),
        DbValue::Text(text) => format!("'{}'", text.replace('\'', "''")),
    }
}

/// Keys of a list of references, as JSON.
pub(super) fn list_text(keys: &[i64]) -> DbValue {
    let keys: Vec<String> = keys.iter().map(i64::to_string).collect();
    DbValue::Text(format!("[{}]", keys.join(",")).into())
}

/// Rows that are grouped by their first column, of `(source, target)`.
pub(super) fn grouped(rows: &[super::super::plan::Row]) -> Vec<(i64, Vec<i64>)> {
    let mut groups: Vec<(i64, Vec<i64>)> = Vec::new();
    for row in rows {
        let (source, target) = (int(row, 0), int(row, 1));
        match groups.last_mut().filter(|(last, _)| *last == source) {
            Some((_, targets)) => targets.push(target),
            None => groups.push((source, vec![target])),
        }
    }
    groups
}
