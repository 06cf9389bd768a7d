//! Deleting rows for good: what the declarations say of rows that refer to a deleted one (`on_delete`).
//!
//! Rows that are deleted with it are found first, relation by relation. Each of them is deleted as it would be alone, so
//! a row that refers to one of them has its say, too. What was found is required again in the commit.

use super::{POINTED_TO, content, deletion, term, user};
use crate::access::{failure, policy};
use crate::error::{ApiError, Code, status};
use crate::records::{self, Record, int, txt};
use crate::registry::columns::{comment, record};
use crate::registry::resource::{OnDelete, Relation, Resource};
use crate::registry::{Registry, name};
use crate::scope::{Scope, Settings};
use cms_declaration::Family;
use cms_storage::plan::{Change, Cond, DbValue, Op, ReadPlan, Row};
use cms_storage::{Snapshot, StorageError};
use indexmap::IndexMap;
use serde_json::json;

/// Rows that a refusal names.
const NAMED: u64 = 5;

/// Why a row is not deleted.
pub enum RemovalError {
    /// The database cannot be read.
    Storage(StorageError),
    /// Rows of this resource refer to it, or to a row that would be deleted with it.
    PointedTo { resource: usize, filter: Cond },
    /// A default term would be deleted.
    DefaultTerm,
}

impl From<StorageError> for RemovalError {
    fn from(error: StorageError) -> RemovalError {
        RemovalError::Storage(error)
    }
}

/// The inputs of a decision about deletions.
#[derive(Clone, Copy)]
pub struct RemovalContext<'a> {
    pub registry: &'a Registry,
    pub snapshot: &'a dyn Snapshot,
    pub settings: &'a Settings,
    /// The user who gets what belongs to a deleted user.
    pub heir: Option<i64>,
    /// Records of a deleted user that stay.
    pub left: &'a [i64],
}

impl<'a> RemovalContext<'a> {
    /// The plan that deletes a row for good.
    pub fn plan(self, root: Record<'_>) -> Result<Vec<Change>, RemovalError> {
        let mut removal = Removal { by: self, rows: IndexMap::new() };
        let mut changes = Vec::new();
        removal.add(root.resource, vec![root.row.clone()]);
        match root.resource.family {
            // First of all, while its version is still the expected one: what is counted in the row would raise it.
            Family::Content => changes.push(deletion(root)),
            Family::User => {
                removal.works(root.id())?;
                changes.extend(user::ending(self.registry, root, self.heir, self.left));
            }
            _ => {}
        }
        removal.gather()?;
        removal.changes(&mut changes)?;
        if !root.resource.is_content() {
            changes.push(deletion(root));
        }
        // After the row itself: what goes with it may be in lists of the row, whose version that raises.
        removal.deletions(root, &mut changes);
        Ok(changes)
    }
}

/// The answer to a deletion that is held up. Only rows that the caller may see are named.
pub fn refused(scope: &Scope, resource: &Resource, held: RemovalError) -> ApiError {
    let (other, filter) = match held {
        RemovalError::Storage(error) => return error.into(),
        RemovalError::DefaultTerm => {
            return ApiError::new(Code::CannotDeleteStored).with_message("The default term stays.");
        }
        RemovalError::PointedTo { resource, filter } => (&scope.registry.resources[resource], filter),
    };
    let seen = Cond::All(vec![filter, policy::visible(scope, other)]);
    let plan = ReadPlan { columns: vec![other.key.clone()], limit: Some(NAMED + 1), ..records::plan(other, seen) };
    let rows = match scope.snapshot().and_then(|snapshot| Ok(snapshot.rows(&plan)?)) {
        Ok(rows) => rows,
        Err(error) => return error,
    };
    let mut keys: Vec<String> = rows.iter().map(|row| Record { resource: other, row }.key()).collect();
    let more = if keys.len() as u64 > NAMED { " and others" } else { "" };
    keys.truncate(NAMED as usize);
    let which = if keys.is_empty() { String::new() } else { format!(": {}{more}", keys.join(", ")) };
    failure(resource, Code::CannotDeleteStored)
        .with_message(format!("Items of {} refer to this one{which}.", other.name))
        .with_status(status::CONFLICT)
        .with("referring", json!({ &other.name: keys }))
}

/// The rows that are deleted together.
struct Removal<'a> {
    by: RemovalContext<'a>,
    /// By position of the resource.
    rows: IndexMap<usize, Vec<Row>>,
}

impl<'a> Removal<'a> {
    fn resource(&self, index: usize) -> &'a Resource {
        &self.by.registry.resources[index]
    }

    /// Adds rows; of several resources with the same rows the first one stands for all.
    fn add(&mut self, resource: &Resource, rows: Vec<Row>) {
        let index = self.by.registry.resources.iter().position(|other| same_rows(other, resource));
        self.rows.entry(index.unwrap_or(resource.index)).or_default().extend(rows);
    }

    fn keys(&self, resource: &Resource) -> Vec<DbValue> {
        let own = self.rows.iter().filter(|(index, _)| same_rows(self.resource(**index), resource));
        let rows = own.flat_map(|(_, rows)| rows);
        rows.map(|row| Record { resource, row }.value(&resource.key).clone()).collect()
    }

    /// The records of a deleted user that something may refer to, where nobody gets them.
    fn works(&mut self, user: i64) -> Result<(), StorageError> {
        if self.by.heir.is_some() {
            return Ok(());
        }
        let registry = self.by.registry;
        for resource in registry.content_types() {
            if registry.resources.iter().flat_map(|other| &other.relations).any(|r| leads_to(registry, r, resource)) {
                let rows = self.read(resource, user::own_records(&DbValue::Int(user), self.by.left))?;
                self.add(resource, rows);
            }
        }
        Ok(())
    }

    fn count(&self) -> usize {
        self.rows.values().map(Vec::len).sum()
    }

    /// Finds the rows that are deleted because of what they refer to.
    fn gather(&mut self) -> Result<(), StorageError> {
        let mut followed = 0;
        // Each round follows what the one before has found.
        while followed < self.count() {
            followed = self.count();
            for (other, relation, keys) in self.pointing() {
                if relation.on_delete != OnDelete::Cascade {
                    continue;
                }
                if let Some(filter) = self.staying(other, relation, &keys) {
                    let rows = self.read(other, filter)?;
                    if !rows.is_empty() {
                        self.add(other, rows);
                    }
                }
            }
        }
        Ok(())
    }

    /// The relations that lead to deleted rows, with the keys of those rows.
    fn pointing(&self) -> Vec<(&'a Resource, &'a Relation, Vec<DbValue>)> {
        let registry = self.by.registry;
        let mut found = Vec::new();
        for other in registry.resources.iter().filter(|other| other.stores_rows()) {
            for relation in &other.relations {
                let keys = self.keys(&registry.resources[relation.to]);
                if !keys.is_empty() {
                    found.push((other, relation, keys));
                }
            }
        }
        found
    }

    /// The rows that refer to deleted ones and are not deleted themselves.
    fn staying(&self, other: &Resource, relation: &Relation, keys: &[DbValue]) -> Option<Cond> {
        let mut all = vec![records::own_rows(other), records::referring(other, relation, keys)?];
        let mut gone = self.keys(other);
        if other.family == Family::Content {
            gone.extend(self.by.left.iter().map(|id| DbValue::Int(*id)));
        }
        if !gone.is_empty() {
            all.push(Cond::Not(Box::new(Cond::In(other.key.clone(), gone))));
        }
        Some(Cond::All(all))
    }

    /// Adds the changes to dependent rows: those that stay, and those that belong to deleted rows.
    fn changes(&self, changes: &mut Vec<Change>) -> Result<(), RemovalError> {
        for (index, rows) in &self.rows {
            self.plan_dependents(self.resource(*index), rows, changes)?;
        }
        let mut links = Vec::new();
        for (other, relation, keys) in self.pointing() {
            let target = self.resource(relation.to);
            let Some(filter) = self.staying(other, relation, &keys) else { continue };
            let found = || ReadPlan {
                columns: vec![other.key.clone()],
                limit: Some(1),
                ..records::plan(other, filter.clone())
            };
            match relation.on_delete {
                OnDelete::Restrict | OnDelete::Cascade => {
                    if relation.on_delete == OnDelete::Restrict && !self.by.snapshot.rows(&found())?.is_empty() {
                        return Err(RemovalError::PointedTo { resource: other.index, filter });
                    }
                    changes.push(Change::Require { plan: found(), found: false, tag: POINTED_TO });
                }
                OnDelete::Clear | OnDelete::Reassign if !relation.is_column() => {
                    // Without a replacement, the key leaves the lists with the row.
                    let Some(instead) = self.replacement(target, relation) else { continue };
                    let unlink = |dst| Change::Unlink { rel: relation.rel.clone(), dst, instead: Some(instead) };
                    links.extend(keys.iter().map(int).map(unlink));
                }
                OnDelete::Clear | OnDelete::Reassign => {
                    let Some(column) = records::column_of(other, relation) else { continue };
                    let instead = self.replacement(target, relation);
                    let set = vec![(column, instead.map_or(DbValue::Null, DbValue::Int))];
                    changes.push(Change::UpdateWhere { table: other.table.clone(), filter, set });
                }
            }
        }
        // Edges last: they are counted in the deleted row, and a lookup of rows writes the counts first, which raises
        // the version that the deletion expects.
        changes.extend(links);
        Ok(())
    }

    /// The replacement for a deleted row: the heir of a user, the default term.
    fn replacement(&self, target: &Resource, relation: &Relation) -> Option<i64> {
        let reassigned = relation.on_delete == OnDelete::Reassign;
        match target.family {
            Family::User if reassigned => self.by.heir,
            Family::Term if reassigned => Some(self.default_term(target)).filter(|id| *id != 0),
            _ => None,
        }
    }

    fn default_term(&self, taxonomy: &Resource) -> i64 {
        taxonomy.declared.default_setting.as_deref().map_or(0, |setting| self.by.settings.int(setting))
    }

    /// Plans for dependents that no relation names: children of deleted rows move up, their comments are deleted.
    fn plan_dependents(
        &self,
        resource: &Resource,
        rows: &[Row],
        changes: &mut Vec<Change>,
    ) -> Result<(), RemovalError> {
        for row in rows {
            let record = Record { resource, row };
            match resource.family {
                Family::Content => changes.push(content::leaving(self.by.registry, record)),
                Family::Term if self.default_term(resource) == record.id() => return Err(RemovalError::DefaultTerm),
                Family::Term => changes.push(term::leaving(record)),
                Family::Comment => changes.push(super::comment::leaving(record)),
                _ => {}
            }
            let standing = self.by.registry.resources.iter();
            changes.extend(standing.filter_map(|other| standing_for(other, resource, record.id())));
        }
        if resource.is_content() {
            let filter = Cond::In(name(comment::POST), self.keys(resource));
            changes.push(Change::RemoveWhere { table: name(comment::TABLE), filter });
            changes.push(content::old::forgotten(self.keys(resource)));
        }
        Ok(())
    }

    /// Deletes what is deleted with the root. It may be gone already, with what it belonged to.
    fn deletions(&self, root: Record<'_>, changes: &mut Vec<Change>) {
        let own = root.value(&root.resource.key);
        for index in self.rows.keys() {
            let resource = self.resource(*index);
            let mut keys = self.keys(resource);
            if same_rows(resource, root.resource) {
                keys.retain(|key| key != own);
            }
            if !keys.is_empty() {
                let filter = Cond::In(resource.key.clone(), keys);
                changes.push(Change::RemoveWhere { table: resource.table.clone(), filter });
            }
        }
    }

    /// Rows with the columns that their deletion needs.
    fn read(&self, resource: &Resource, filter: Cond) -> Result<Vec<Row>, StorageError> {
        let needed = [&*resource.key, record::PARENT].into_iter().filter_map(|column| resource.column(column));
        records::read(self.by.snapshot, resource, records::plan(resource, filter), &needed.collect::<Vec<_>>())
    }
}

/// Whether two resources show the same rows.
fn same_rows(one: &Resource, other: &Resource) -> bool {
    one.stores_rows()
        && one.table == other.table
        && (one.kind == other.kind || !matches!(one.family, Family::Content | Family::Term))
}

fn leads_to(registry: &Registry, relation: &Relation, resource: &Resource) -> bool {
    same_rows(&registry.resources[relation.to], resource)
}

/// The column that holds a relation to one row.
/// Rows of `other` that stand for a deleted row: they are deleted, too.
fn standing_for(other: &Resource, resource: &Resource, id: i64) -> Option<Change> {
    let declared = other.declared.reference.as_ref()?;
    let class = if resource.is_taxonomy() { &declared.term } else { &declared.record };
    let same = vec![
        records::own_rows(other),
        Cond::Compare(other.plan_column(&declared.class)?, Op::Eq, txt(class)),
        Cond::Compare(other.plan_column(&declared.id)?, Op::Eq, DbValue::Int(id)),
    ];
    Some(Change::RemoveWhere { table: other.table.clone(), filter: Cond::All(same) })
}
