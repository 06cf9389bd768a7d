//! Lists of references that become columns, columns that become lists of references, and lists that are gone.

use super::super::catalogue::{Catalogue, Table};
use super::super::layout_table::{keep, kept};
use super::super::plan::{ColumnDef, DbValue, Layout, Name, Reference, ReferenceValues, TableDef, ValueRule};
use super::super::statement::{Result, int, params};
use super::change::{Refusal, hold_a_value};
use super::migration::Migration;
use super::schema::quoted;
use super::values::{KINDS, grouped, list_text, rule_key};
use std::collections::HashSet;
use std::ops::ControlFlow;

const NUMBER: &str = "(SELECT number FROM dictionary WHERE word = ?1)";

/// A column that becomes a list of references.
struct LinkSource<'s> {
    table: TableDef,
    column: Name,
    rel: &'s Name,
    /// The kind that it refers to.
    to: &'s Name,
}

impl Migration<'_> {
    /// Columns of properties that are lists of references now: their values become links. Before anything else is done
    /// with the tables, which have no such columns any more.
    pub(super) fn links_of_columns(&mut self, catalogue: &Catalogue, layout: &Layout) -> Result<()> {
        for reference in &layout.references {
            let ReferenceValues::Relation(rel) = &reference.values else { continue };
            if kept(self.conn, &format!("reference:{rel}"))?.is_some() || !self.conn.has_table(&reference.own)? {
                continue;
            }
            let present = self.present(&reference.own)?;
            let was = reference.was.as_ref().and_then(|was| was.rsplit_once('.')).map(|(_, was)| was);
            let declared = catalogue.table(&reference.own).ok();
            let Some(column) = [Some(&*reference.column), was].into_iter().flatten().find_map(|name| {
                let there = present.iter().find(|c| !c.key && *c.name == self.conn.stored_name(name))?;
                declared.is_none_or(|table| table.place(name).is_err()).then(|| there.name.clone())
            }) else {
                continue;
            };
            let Some(table) = present.iter().find(|c| c.key).map(|key| own_table(reference, &key.name)) else {
                continue;
            };
            self.link_values(catalogue, &LinkSource { table, column, rel, to: &reference.to })?;
        }
        Ok(())
    }

    fn link_values(&mut self, catalogue: &Catalogue, source: &LinkSource<'_>) -> Result<()> {
        let LinkSource { table, column, rel, to } = source;
        let what = format!("make `{column}` a list of references");
        let (mut rows, mut unfit) = (Vec::new(), 0);
        let mut known = HashSet::new();
        self.each_value(table, column, &mut |key, value| {
            let keys = keys_of(value).filter(|keys| keys.iter().collect::<HashSet<_>>().len() == keys.len());
            let mut there = keys.is_some();
            for target in keys.iter().flatten().filter(|target| !known.contains(*target)).collect::<Vec<_>>() {
                there = there && self.is_target(catalogue, rel, to, *target)?;
            }
            match keys.filter(|_| there) {
                Some(keys) => {
                    known.extend(keys.iter().copied());
                    rows.push((key.clone(), keys));
                }
                None => unfit += 1,
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let drop = format!("{}.{column}", table.name);
        if unfit > 0 && !self.may_drop(&drop) {
            let why = format!("{} that names no item of {to}", hold_a_value(unfit));
            let remedy = Some("change these values first".to_owned());
            self.refuse(&table.name, what, Refusal { why, drop: Some(drop), remedy, ..Refusal::default() });
            return Ok(());
        }
        let text = format!("INSERT INTO edge (rel, src, dst, pos) VALUES ({NUMBER}, ?2, ?3, ?4)");
        for (key, keys) in &rows {
            for (place, target) in keys.iter().enumerate() {
                self.conn.send(&text, params![*rel, key, target, place as i64])?;
            }
        }
        self.drop_indexes_of(table, column)?;
        self.drop_column(&table.name, column)?;
        for key in [format!("reference:{}.{column}", table.name), rule_key(&table.name, column)] {
            self.forget(&key)?;
        }
        let kept = rows.iter().filter(|(_, keys)| !keys.is_empty()).count();
        self.change(&table.name, format!("{what}: {} that becomes a link", hold_a_value(kept as i64)));
        Ok(())
    }

    /// Whether a key is one of a row that a relation may lead to.
    fn is_target(&self, catalogue: &Catalogue, rel: &str, to: &str, key: i64) -> Result<bool> {
        let Ok((_, relation)) = catalogue.relation(rel) else { return Ok(false) };
        let target = &catalogue.tables[relation.dst].def;
        let kind = target.columns.iter().find(|column| KINDS.contains(&&*column.name));
        let of_kind = match (kind, self.words.number(to)) {
            (Some(column), Some(number)) if !target.is_declared() => {
                format!(" AND {} = {number}", quoted(&column.name))
            }
            _ => String::new(),
        };
        let text = format!("SELECT 1 FROM {} WHERE {} = ?1{of_kind}", quoted(&target.name), quoted(&target.key.name));
        self.conn.exists(&text, params![key])
    }

    /// Whether a new column takes over what a list of references held, which is done then, or refused. `made`: the table
    /// has the column already.
    pub(super) fn values_of_links(&mut self, table: &Table, column: &ColumnDef, made: bool) -> Result<bool> {
        let (Some(kind), Some(rule)) = (&table.def.kind, &column.rule) else { return Ok(false) };
        let names = [Some(&column.name), column.was.as_ref()].into_iter().flatten();
        let mut former = None;
        for rel in names.map(|name| format!("{kind}.{name}")) {
            if self.is_former(&rel)? {
                former = Some(rel);
            }
        }
        let Some(rel) = former else { return Ok(false) };
        let text = format!("SELECT src, dst FROM edge WHERE rel = {NUMBER} ORDER BY src, pos");
        let sources = grouped(&self.conn.select(&text, params![&rel])?);
        let convert = |keys: &[i64]| (rule.convert)(ValueRule::LINKS, &list_text(keys));
        let unfit = sources.iter().filter(|(_, keys)| convert(keys).is_none()).count() as i64;
        let name = &table.def.name;
        let what = format!("make `{}` a column", column.name);
        let drop = format!("{name}.{}", column.name);
        if unfit > 0 && !self.may_drop(&drop) {
            let why = format!("{} of which the column takes no list", hold_a_value(unfit));
            let remedy = Some("leave one reference in each of these lists first".to_owned());
            self.refuse(name, what, Refusal { why, drop: Some(drop), remedy, ..Refusal::default() });
            return Ok(true);
        }
        if !made {
            self.make_column(name, column)?;
        }
        for (source, keys) in &sources {
            if let Some(value) = convert(keys) {
                self.set_value(&table.def, &DbValue::Int(*source), &column.name, &value)?;
            }
        }
        self.forget_relation(&rel)?;
        let moved = sources.len() as i64 - unfit;
        self.complete_rows(table, column, Some(format!("{what}: {} that moves into it", hold_a_value(moved))))?;
        Ok(true)
    }

    /// Whether there was a relation of this name, which the layout has no more.
    fn is_former(&self, rel: &str) -> Result<bool> {
        Ok(!self.relations.contains(rel) && kept(self.conn, &format!("relation:{rel}"))?.is_some())
    }

    /// Refuses that a list of references goes while rows have some.
    pub(super) fn drop_relations(&mut self, catalogue: &Catalogue) -> Result<()> {
        let made = self.conn.texts("SELECT substr(name, 10) FROM layout WHERE name LIKE 'relation:%'", &[])?;
        for rel in &made {
            if self.relations.contains(rel) {
                continue;
            }
            // Its keys stay inside the values that hold them.
            if kept(self.conn, &format!("relation:{rel}"))?.is_some_and(|made| made.contains("inside: Some")) {
                self.forget_relation(rel)?;
                continue;
            }
            let definition = kept(self.conn, &format!("reference:{rel}"))?.unwrap_or_default();
            let table = definition.split(' ').next().unwrap_or_default().to_owned();
            // Companion rows go with their table.
            if catalogue.table(&table).is_err() {
                continue;
            }
            let text = format!("SELECT count(DISTINCT src) FROM edge WHERE rel = {NUMBER}");
            let held = self.conn.select(&text, params![rel])?.first().map_or(0, |row| int(row, 0));
            let what = format!("remove the relation `{rel}`");
            // A table of one kind has each property once.
            let own = rel.rsplit_once('.').map(|(_, property)| property).filter(|_| table.starts_with("x_"));
            let drop = format!("{table}.{}", own.unwrap_or(rel));
            if held > 0 && !self.may_drop(&drop) {
                let why = format!("{} in it", hold_a_value(held));
                self.refuse(&table, what, Refusal { why, drop: Some(drop), ..Refusal::default() });
                continue;
            }
            self.forget_relation(rel)?;
            if held > 0 {
                self.change(&table, what);
            }
        }
        Ok(())
    }

    fn forget_relation(&self, rel: &str) -> Result<()> {
        self.conn.send(&format!("DELETE FROM edge WHERE rel = {NUMBER}"), params![rel])?;
        self.forget(&format!("reference:{rel}"))?;
        self.forget(&format!("relation:{rel}"))
    }

    fn forget(&self, key: &str) -> Result<()> {
        self.conn.send("DELETE FROM layout WHERE name = ?1", params![key])
    }

    /// Moves the facts that are stored about a column to its new name.
    pub(super) fn rename_kept(&self, table: &str, was: &str, now: &str) -> Result<()> {
        for what in ["rule", "reference"] {
            let former = format!("{what}:{table}.{was}");
            if let Some(definition) = kept(self.conn, &former)? {
                keep(self.conn, &format!("{what}:{table}.{now}"), &definition)?;
                self.forget(&former)?;
            }
        }
        Ok(())
    }
}

/// The table of a declared kind, as far as its values are read: the declarations may have no columns for it any more.
fn own_table(reference: &Reference, key: &Name) -> TableDef {
    let ty = super::super::plan::ColumnType::Int;
    TableDef {
        name: reference.own.clone(),
        key: ColumnDef { name: key.clone(), ty, default: None, was: None, rule: None },
        space: None,
        columns: Vec::new(),
        indexes: Vec::new(),
        versioned: false,
        extends: None,
        kind: None,
        states: None,
    }
}

/// The keys in a column: one, or a JSON list. 0 is none.
fn keys_of(value: &DbValue) -> Option<Vec<i64>> {
    match value {
        DbValue::Null | DbValue::Int(0) => Some(Vec::new()),
        DbValue::Int(key) => Some(vec![*key]),
        DbValue::Text(list) => serde_json::from_str(list).ok(),
        DbValue::Real(_) => None,
    }
}
