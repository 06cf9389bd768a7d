//! Rows that values refer to, read once for a whole list.

use super::light::{StoredValues, stored_ids, stored_rows};
use crate::access::policy;
use crate::records::{self, Record, is_in};
use crate::registry::fields::{FieldNode, FieldTarget};
use crate::registry::resource::Resource;
use crate::scope::Scope;
use cms_storage::plan::Row;
use cms_storage::{Snapshot, StorageError};
use std::collections::{HashMap, HashSet};

/// Ids that values refer to.
#[derive(Debug, Default)]
pub struct FieldIds {
    /// Of records, files among them.
    pub records: HashSet<i64>,
    pub terms: HashSet<i64>,
    pub users: HashSet<i64>,
}

impl FieldIds {
    /// Adds those in values of fields, and of fields inside them.
    pub fn add(&mut self, fields: &[FieldNode], values: StoredValues<'_>) {
        for field in fields {
            let ids = || stored_ids(field, values);
            match field.target() {
                Some(FieldTarget::Record | FieldTarget::File) => self.records.extend(ids()),
                Some(FieldTarget::Term) => self.terms.extend(ids()),
                Some(FieldTarget::User) => self.users.extend(ids()),
                None if field.holds_rows() => {
                    stored_rows(field, values).iter().for_each(|row| self.add(&row.fields, values));
                }
                None => self.add(&field.fields, values),
            }
        }
    }
}

/// Rows by id, with the positions of their resources.
#[derive(Debug, Default)]
pub struct FieldRows {
    /// Records that the caller may read.
    pub records: HashMap<i64, (usize, Row)>,
    pub terms: HashMap<i64, (usize, Row)>,
    /// Recorded: a value shows its users whoever asks, as a byline does. What is told of them depends on the caller.
    pub users: HashMap<i64, (usize, Row)>,
}

impl FieldRows {
    /// Reads the rows: a query for each kind among them.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn load(snapshot: &dyn Snapshot, scope: &Scope, ids: &FieldIds) -> Result<FieldRows, StorageError> {
        let mut rows = FieldRows::default();
        if !ids.records.is_empty() {
            let kinds: HashSet<_> =
                records::kinds(snapshot, ids.records.iter().copied())?.into_iter().map(|(_, kind)| kind).collect();
            for resource in scope.registry.content_types().filter(|resource| kinds.contains(&resource.kind)) {
                let seen = records::all([is_in("id", ids.records.iter().copied()), policy::visible(scope, resource)]);
                let found = snapshot.rows(&records::plan(resource, seen))?.into_iter();
                rows.records.extend(found.map(|row| (Record { resource, row: &row }.id(), (resource.index, row))));
            }
        }
        for taxonomy in scope.registry.taxonomies().filter(|_| !ids.terms.is_empty()) {
            read_into(&mut rows.terms, snapshot, taxonomy, &ids.terms)?;
        }
        for users in scope.registry.users().into_iter().filter(|_| !ids.users.is_empty()) {
            read_into(&mut rows.users, snapshot, users, &ids.users)?;
        }
        Ok(rows)
    }
}

/// Reads rows of a resource by id.
fn read_into(
    rows: &mut HashMap<i64, (usize, Row)>,
    snapshot: &dyn Snapshot,
    resource: &Resource,
    ids: &HashSet<i64>,
) -> Result<(), StorageError> {
    for row in snapshot.rows(&records::plan(resource, is_in("id", ids.iter().copied())))? {
        // Where several resources show the same rows, the first one represents them.
        rows.entry(Record { resource, row: &row }.id()).or_insert((resource.index, row));
    }
    Ok(())
}
