//! References to rows of another resource: their keys mean nothing in another one.

use super::super::layout_table::{keep, kept};
use super::super::plan::{Reference, ReferenceValues};
use super::super::statement::{Result, params};
use super::change::Refusal;
use super::migration::Migration;
use super::schema::quoted;

impl Migration<'_> {
    /// Refuses a reference to another kind of rows than before where there are values: they are keys of the former rows.
    pub(super) fn references(&mut self, references: &[Reference]) -> Result<()> {
        for Reference { table, values, to, was, .. } in references {
            if let (ReferenceValues::Relation(rel), Some(was)) = (values, was) {
                self.rename_relation(table, rel, was)?;
            }
            let (key, short) = match values {
                ReferenceValues::Column(column) => (format!("reference:{table}.{column}"), column),
                ReferenceValues::Relation(rel) => (format!("reference:{rel}"), rel),
            };
            let definition = format!("{table} {to}");
            let former = kept(self.conn, &key)?.and_then(|text| Some(text.split_once(' ')?.1.to_owned()));
            if let Some(former) = former.filter(|former| former != &**to) {
                let what = format!("let `{short}` refer to rows of {to}");
                let drop = format!("{table}.{short}");
                match self.referring(table, values)? {
                    held if held > 0 && !self.may_drop(&drop) => {
                        let why = format!("{held} values refer to rows of {former}");
                        self.refuse(table, what, Refusal { why, drop: Some(drop), ..Refusal::default() });
                    }
                    held => {
                        if held > 0 {
                            self.clear_references(table, values)?;
                        }
                        self.change(table, what);
                    }
                }
            }
            keep(self.conn, &key, &definition)?;
        }
        Ok(())
    }

    /// Moves the edges of a relation to its new name. A former name that is still in use is none.
    fn rename_relation(&mut self, table: &str, rel: &str, was: &str) -> Result<()> {
        if self.words.number(rel).is_none() || kept(self.conn, &format!("reference:{rel}"))?.is_some() {
            return Ok(());
        }
        let text = "UPDATE edge SET rel = (SELECT number FROM dictionary WHERE word = ?1) \
            WHERE rel = (SELECT number FROM dictionary WHERE word = ?2)";
        if self.conn.execute(text, params![rel, was])? > 0 {
            self.change(table, format!("rename the relation `{was}` to `{rel}`"));
        }
        let former = kept(self.conn, &format!("reference:{was}"))?;
        former.map_or(Ok(()), |former| keep(self.conn, &format!("reference:{rel}"), &former))?;
        self.conn.send("DELETE FROM layout WHERE name = ?1", params![&format!("reference:{was}")])
    }

    fn referring(&self, table: &str, values: &ReferenceValues) -> Result<i64> {
        match values {
            ReferenceValues::Column(column) => {
                let text = format!("SELECT count({}) FROM {}", quoted(column), quoted(table));
                Ok(self.conn.number(&text, &[])?.unwrap_or(0))
            }
            ReferenceValues::Relation(rel) => {
                let text = "SELECT count(*) FROM edge WHERE rel = (SELECT number FROM dictionary WHERE word = ?1)";
                Ok(self.conn.number(text, params![rel])?.unwrap_or(0))
            }
        }
    }

    fn clear_references(&self, table: &str, values: &ReferenceValues) -> Result<()> {
        match values {
            ReferenceValues::Column(column) => {
                self.run(&format!("UPDATE {} SET {} = NULL", quoted(table), quoted(column)))
            }
            ReferenceValues::Relation(rel) => {
                let text = "DELETE FROM edge WHERE rel = (SELECT number FROM dictionary WHERE word = ?1)";
                self.conn.send(text, params![rel])
            }
        }
    }
}
