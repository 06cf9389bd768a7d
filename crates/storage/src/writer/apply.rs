//! Carries out one plan inside the open transaction, with all that follows from it.
//!
//! Every change passes here. What other rows copy or count of a row (its `tracked` columns) is compared before and
//! after; the difference goes to edges at once and to counts, tallies and versions at the end of the group.

mod dependents;
mod returned;
mod rows;
mod work;

use super::super::catalogue::{Table, TableId};
use super::super::plan::{Change, CommitError, Committed, DbValue, Put, PutDone, ReadPlan, Row, Target, WritePlan};
use super::super::sql::extensions_named;
use super::super::statement::params;
use super::effects::{Counter, Effects, VersionScope};
use super::state::Writer;
pub(super) use work::Stop;
use work::{PlanExecution, PlanResult, failed};

impl<'c> Writer<'c> {
    /// Carries out a plan. Its effects are dropped if the savepoint is rolled back.
    pub(super) fn apply(&mut self, plan: &WritePlan) -> PlanResult<(Committed, Effects)> {
        let catalogue = &self.shared.catalogue;
        let mut work = PlanExecution {
            writer: self,
            catalogue,
            effects: Effects::default(),
            committed: Committed::default(),
            puts: vec![],
            returning: &plan.returning,
            returned: None,
            first: false,
        };
        for change in &plan.changes {
            work.doubt_row(change);
            work.change(change)?;
        }
        work.settle_versions()?;
        work.committed.row = work.returned.map(|returned| returned.row);
        work.effects.entries.attribute(plan.actor, plan.depth);
        Ok((work.committed, work.effects))
    }
}

impl<'c> PlanExecution<'_, 'c> {
    fn change(&mut self, change: &Change) -> PlanResult<()> {
        match change {
            Change::Require { plan, found, tag } => self.require(plan, *found, tag),
            Change::Put(put) => self.put(put),
            Change::Remove { table, key, expect } => self.remove(self.catalogue.table(table)?, key, *expect),
            Change::UpdateWhere { table, filter, set } => {
                let table = self.catalogue.table(table)?;
                let mut put = rows::bare_put(table, set);
                for key in self.keys(table, filter)? {
                    put.target = Target::Existing { key, expect: None };
                    self.carry(&put)?;
                    self.committed.touched += 1;
                }
                Ok(())
            }
            Change::RemoveWhere { table, filter } => {
                let table = self.catalogue.table(table)?;
                for key in self.keys(table, filter)? {
                    self.remove(table, &key, None)?;
                    self.committed.touched += 1;
                }
                Ok(())
            }
            Change::Unlink { rel, dst, instead } => self.unlink(rel, *dst, *instead),
            #[cfg(test)]
            Change::Setting { key, .. } if **key == *"panic" => panic!("as a test asked for"),
            Change::Setting { key, json } => self.set_setting(key, json.as_deref()),
            Change::SettingMembers { key, members } => {
                let stored = self.writer.conn.text("SELECT json FROM setting WHERE key = ?1", params![key])?;
                let stored = stored.and_then(|json| serde_json::from_str::<serde_json::Map<_, _>>(&json).ok());
                let mut document = stored.unwrap_or_default();
                document.extend(members.clone());
                self.set_setting(key, Some(&serde_json::Value::Object(document).to_string()))
            }
        }
    }

    fn set_setting(&mut self, key: &str, json: Option<&str>) -> PlanResult<()> {
        match json {
            Some(json) => self.writer.send(SET_SETTING, params![key, json])?,
            None => self.writer.send("DELETE FROM setting WHERE key = ?1", params![key])?,
        };
        self.effects.scopes.insert(VersionScope::Setting);
        self.effects.entries.settings.insert(key.into());
        self.effects.wrote = true;
        Ok(())
    }

    fn require(&mut self, plan: &ReadPlan, found: bool, tag: &'static str) -> PlanResult<()> {
        let row = self.rows(&ReadPlan { limit: Some(1), ..plan.clone() })?.into_iter().next();
        if row.is_some() == found {
            return Ok(());
        }
        Err(Stop::Refuse(CommitError::Refused { tag, row }))
    }

    fn put(&mut self, put: &Put) -> PlanResult<()> {
        self.first = self.puts.is_empty() && !self.returning.is_empty();
        let (table, done) = self.carry(put)?;
        self.first = false;
        self.puts.push(table);
        self.committed.puts.push(done);
        Ok(())
    }

    fn carry(&mut self, put: &Put) -> PlanResult<(TableId, PutDone)> {
        let table = self.catalogue.table(&put.table)?;
        if table.companion {
            return failed(format!("rows of {} are made by the writer alone", put.table));
        }
        let done = match &put.target {
            Target::New => self.create(table, put, None)?,
            Target::Keyed(key) => self.create(table, put, Some(key))?,
            Target::Existing { key, expect } => self.update(table, put, key, *expect)?,
        };
        Ok((table.id, done))
    }

    /// Rows as they are at this point of the plan, counts included.
    fn rows(&mut self, plan: &ReadPlan) -> PlanResult<Vec<Row>> {
        self.write_counts()?;
        Ok(self.writer.rows(plan)?)
    }

    /// Writes the counts that the plan has raised so far.
    fn write_counts(&mut self) -> PlanResult<()> {
        self.doubt_counted_row();
        Ok(self.writer.write_counts(&mut self.effects)?)
    }

    fn keys(&mut self, table: &Table, filter: &super::super::plan::Cond) -> PlanResult<Vec<DbValue>> {
        let plan = ReadPlan {
            table: table.def.name.clone(),
            extensions: extensions_named(filter).into_iter().collect(),
            columns: vec![table.def.key.name.clone()],
            filter: filter.clone(),
            order: Vec::new(),
            limit: None,
            offset: 0,
            width: None,
        };
        Ok(self.rows(&plan)?.into_iter().flatten().collect())
    }

    /// A count that a later change of the plan raised in a row put before also raised the row's version.
    fn settle_versions(&mut self) -> PlanResult<()> {
        if self.effects.counts.is_empty() || self.puts.is_empty() {
            return Ok(());
        }
        let counted = |table: TableId, done: &PutDone, counters: &[Counter]| {
            counters.iter().any(|c| c.table == table && DbValue::Int(c.id) == done.key)
        };
        let counters: Vec<Counter> =
            self.effects.counts.iter().filter(|(_, n)| **n != 0).map(|(counter, _)| counter.clone()).collect();
        if !self.puts.iter().zip(&self.committed.puts).any(|(table, done)| counted(*table, done, &counters)) {
            return Ok(());
        }
        self.write_counts()?;
        for (at, table) in self.puts.clone().into_iter().enumerate() {
            let key = self.committed.puts[at].key.clone();
            if let Some(state) = self.state(&self.catalogue.tables[table], &key)? {
                self.committed.puts[at].version = state.version;
            }
        }
        Ok(())
    }
}

const SET_SETTING: &str = "INSERT INTO setting (key, json) VALUES (?1, ?2) \
    ON CONFLICT (key) DO UPDATE SET json = excluded.json";
