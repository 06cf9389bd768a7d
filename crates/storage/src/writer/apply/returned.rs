//! The row that a plan put first, as returned to the caller, so that it need not be read again.

use super::super::super::catalogue::{Table, TableId};
use super::super::super::plan::{Change, ColumnType, DbValue, Name, Put, Target};
use super::work::{PlanExecution, ReturnedRow, SetColumns};

impl<'c> PlanExecution<'_, 'c> {
    /// Notes what the first put set: `own` in its table, the rest in extensions. A `new` row without an extension reads
    /// as the defaults of that.
    pub fn note_row(
        &mut self,
        table: &Table,
        key: &DbValue,
        own: &[Option<DbValue>],
        extensions: &[(TableId, SetColumns)],
        new: bool,
    ) {
        let column = |name: &Name| -> Option<Option<DbValue>> {
            let Some((of, column)) = name.split_once('.') else {
                if *name == table.def.key.name {
                    return Some(Some(key.clone()));
                }
                let place = table.place(name).ok()?;
                return Some(own[place].clone().map(|value| self.named(table, place, value)));
            };
            let extension = self.catalogue.table(of).ok()?;
            let place = extension.place(column).ok()?;
            Some(match extensions.iter().find(|(id, _)| *id == extension.id) {
                Some((_, set)) => set[place].clone().map(|value| self.named(extension, place, value)),
                None if new => Some(extension.def.columns[place].default.clone().unwrap_or(DbValue::Null)),
                None => None,
            })
        };
        let row = self.returning.iter().map(column).collect::<Option<_>>();
        self.returned = row.map(|row| ReturnedRow { table: table.id, key: key.clone(), row });
    }

    /// A stored value as plans have it.
    fn named(&self, table: &Table, place: usize, value: DbValue) -> DbValue {
        match value {
            DbValue::Int(number) if table.def.columns[place].ty == ColumnType::Word => {
                self.writer.words.name(number).map_or(DbValue::Null, |word| DbValue::Text(word.clone()))
            }
            value => value,
        }
    }

    /// A change may concern the row that is put first: then what was noted is not certain.
    pub fn doubt_row(&mut self, change: &Change) {
        match change {
            Change::Put(Put { table, target: Target::Keyed(key) | Target::Existing { key, .. }, .. }) => {
                let is =
                    |noted: &ReturnedRow| *self.catalogue.tables[noted.table].def.name == **table && noted.key == *key;
                self.returned.take_if(|noted| is(noted));
            }
            // Before the put, they may have changed other columns of the row.
            Change::Remove { .. } | Change::UpdateWhere { .. } | Change::RemoveWhere { .. } | Change::Unlink { .. } => {
                self.returned = None;
                self.returning = &[];
            }
            Change::Put(_) | Change::Require { .. } | Change::Setting { .. } | Change::SettingMembers { .. } => {}
        }
    }

    /// Counts into the row that was put first change it.
    pub fn doubt_counted_row(&mut self) {
        let Some(noted) = &self.returned else { return };
        if self.effects.counts.keys().any(|c| c.table == noted.table && DbValue::Int(c.id) == noted.key) {
            self.returned = None;
        }
    }
}
