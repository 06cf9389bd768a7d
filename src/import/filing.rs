//! Terms of records that cannot show them yet: their kind or the taxonomy is not declared, or the kind does not have it.
//!
//! Each is kept as an entry of `origin`. Once a declaration gives the records such a property, the entries become its
//! relations.

use super::importer::Importer;
use crate::boot::BootError;
use cms_base::pool::wait;
use cms_core::families::{column, text_column};
use cms_core::records::{self, columns, eq, txt};
use cms_core::registry::columns::VERSION;
use cms_core::registry::resource::{Relation, Resource};
use cms_core::registry::{Registry, name};
use cms_storage::plan::{Change, CommitError, Cond, DbValue, EdgePlan, Input, Name, Op, Order, Put, Target, WritePlan};
use cms_storage::{Snapshot, Storage, StorageError};
use std::collections::BTreeMap;

/// Entries that are read together.
const PAGE: u64 = 400;

/// The key under which entries of a taxonomy are kept.
fn space(taxonomy: &str) -> String {
    format!("filing.{taxonomy}")
}

impl Importer<'_> {
    /// Keeps a term of a record for later.
    pub(super) fn keep_filing(&mut self, taxonomy: &str, record: i64, term: i64) {
        let key = format!("filing:{taxonomy}:{record}:{term}");
        if self.known.contains_key(&key) || self.fresh.contains(&key) {
            return;
        }
        self.remember_as(&key, &space(taxonomy), record);
        self.fresh.insert(key);
        *self.report.filings.entry(taxonomy.to_owned()).or_default() += 1;
    }

    pub(super) fn remember_as(&mut self, key: &str, table: &str, row: i64) {
        let set = vec![
            text_column("source", &self.source),
            text_column("source_key", key),
            text_column("table", table),
            column("row", DbValue::Int(row)),
        ];
        self.pending.push(Change::Put(Put::new("origin", Target::New, set)));
    }
}

/// The terms of these taxonomies that are kept for records: record and term.
///
/// # Errors
/// The database cannot be read.
pub fn kept(
    snapshot: &dyn Snapshot,
    taxonomies: impl Iterator<Item = impl AsRef<str>>,
    records: &[i64],
) -> Result<Vec<(i64, i64)>, StorageError> {
    let spaces: Vec<String> = taxonomies.map(|taxonomy| space(taxonomy.as_ref())).collect();
    let own =
        [records::words("table", spaces.iter().map(String::as_str)), records::is_in("row", records.iter().copied())];
    let rows: Vec<(i64, Name)> = snapshot.rows_as(&columns("origin", &["row", "source_key"], records::all(own)))?;
    Ok(rows.into_iter().filter_map(|(row, key)| Some((row, term_of(&key)?))).collect())
}

/// The term of an entry's key.
fn term_of(key: &str) -> Option<i64> {
    key.rsplit(':').next()?.parse().ok()
}

/// Makes relations of what was kept, as far as it is declared by now; how many.
///
/// # Errors
/// The database cannot be read, or refuses.
pub fn carry_out(registry: &Registry, storage: &dyn Storage) -> Result<u64, BootError> {
    let mut done = 0;
    for resource in registry.content_types() {
        let to_terms = |relation: &&Relation| !relation.is_inside() && registry.resources[relation.to].is_taxonomy();
        for relation in resource.relations.iter().filter(to_terms) {
            let taxonomy = &registry.resources[relation.to].kind;
            let mut last = 0;
            loop {
                let after = Cond::Compare(name("id"), Op::Gt, DbValue::Int(last));
                let kept = Cond::All(vec![eq("table", txt(&space(taxonomy))), after]);
                let mut plan = columns("origin", &["id", "source_key", "row"], kept);
                (plan.order, plan.limit) = (vec![Order::Column(name("id"), false)], Some(PAGE));
                let rows: Vec<(i64, Name, i64)> = storage.snapshot()?.rows_as(&plan)?;
                let Some((end, ..)) = rows.last() else { break };
                last = *end;
                done += file(storage, resource, relation, &rows)?;
            }
        }
    }
    Ok(done)
}

/// Files the records of a resource among these entries; those of other kinds wait on.
fn file(
    storage: &dyn Storage,
    resource: &Resource,
    relation: &Relation,
    entries: &[(i64, Name, i64)],
) -> Result<u64, BootError> {
    let mut wanted: BTreeMap<i64, Vec<(i64, i64)>> = BTreeMap::new();
    for (entry, key, row) in entries {
        wanted.entry(*row).or_default().extend(term_of(key).map(|term| (*entry, term)));
    }
    let snapshot = storage.snapshot()?;
    let own = Cond::All(vec![records::own_rows(resource), records::is_in("id", wanted.keys().copied())]);
    let records: Vec<(i64, i64)> = snapshot.rows_as(&columns(&resource.table, &["id", VERSION], own))?;
    let ids = records.iter().map(|(id, _)| *id).collect();
    let present = snapshot.edges(&EdgePlan { rels: vec![relation.rel.clone()], of: ids, reverse: false })?;
    drop(snapshot);
    let mut done = 0;
    for (id, version) in records {
        let Some(kept) = wanted.get(&id) else { continue };
        let mut ends: Vec<i64> = present.iter().filter(|edge| edge.src == id).map(|edge| edge.dst).collect();
        for (_, term) in kept {
            if !ends.contains(term) {
                ends.push(*term);
            }
        }
        let target = Target::Existing { key: DbValue::Int(id), expect: Some(version) };
        let mut put = Put::new(resource.table.clone(), target, Vec::new());
        match (relation.is_list(), resource.plan_column(&relation.property)) {
            (true, _) => put.edges = vec![(relation.rel.clone(), ends)],
            (false, Some(own)) => put.set.extend(ends.last().map(|end| (own, Input::Value(DbValue::Int(*end))))),
            (false, None) => continue,
        }
        let entries = records::is_in("id", kept.iter().map(|(entry, _)| *entry));
        let gone = Change::RemoveWhere { table: name("origin"), filter: entries };
        match wait(storage.commit(WritePlan::new(vec![Change::Put(put), gone]))) {
            Ok(_) => done += kept.len() as u64,
            // Somebody writes it at the moment: the next start files it.
            Err(CommitError::Stale) => {}
            Err(error) => return Err(BootError::Commit(error)),
        }
    }
    Ok(done)
}
