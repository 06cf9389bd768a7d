//! Reads of single rows for a group of plans, made for all plans at once when the transaction begins.
//!
//! Where each read costs a round trip, a group then costs two, however many plans it has. What a plan writes is noted here
//! or forgotten, so that a later plan of the group finds what is stored. What was not read, or is forgotten, plans read
//! themselves.

use super::super::catalogue::{Catalogue, Table, TableId};
use super::super::connection::Connection;
use super::super::plan::{Change, ColumnType, DbValue, Input, Put, Row, Target, WritePlan};
use super::super::sql::select_many_text;
use super::super::statement::{Result, int, params, text_at};
use super::super::words::Words;
use super::slugs::Owner;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A slug's scope, and the slug.
pub type ScopedSlug = (Arc<str>, Arc<str>);

/// The newest revision of a row: its time and the digest of its JSON.
type RevisionDigest = (i64, Arc<str>);

/// The known state of a row before a write.
#[derive(Clone)]
pub struct RowState {
    /// 0 for tables without versions.
    pub version: i64,
    /// The tracked columns as they are stored.
    pub tracked: Vec<DbValue>,
}

impl RowState {
    /// From the row's key and its [`Table::state_columns`].
    pub fn of_row(table: &Table, mut row: Row) -> RowState {
        let version = table.version.map_or(0, |_| int(&row, table.tracked.len() + 1));
        row.truncate(table.tracked.len() + 1);
        row.remove(0);
        RowState { version, tracked: row }
    }
}

/// The id of a row whose key is one.
pub fn id_of(key: &DbValue) -> Option<i64> {
    match key {
        DbValue::Int(id) => Some(*id),
        _ => None,
    }
}

/// See the module.
#[derive(Default)]
pub struct Prefetched {
    /// By table and id; `None`: there is no such row.
    states: HashMap<(TableId, i64), Option<RowState>>,
    held: HashMap<Owner, Option<ScopedSlug>>,
    /// Relation's number and target, by source.
    edges: HashMap<i64, Vec<(i64, i64)>>,
    /// By the number of the row's space and its id.
    newest: HashMap<(i64, i64), Option<RevisionDigest>>,
}

/// Ids of rows.
type Ids = BTreeSet<i64>;

/// The reads that plans are going to make.
#[derive(Default)]
pub struct PlannedReads {
    states: BTreeMap<TableId, Ids>,
    /// Targets of edges from these sources, in one of the tables.
    targets: BTreeMap<TableId, Ids>,
    /// By the number of the table.
    held: BTreeMap<i64, Ids>,
    edges: Ids,
    /// By the number of the space.
    newest: BTreeMap<i64, Ids>,
}

/// The ids of a text.
const IDS: &str = "string_to_array(?1, ',')::bigint[]";
const HELD: &str =
    "SELECT id, scope, slug FROM slug WHERE id = ANY(string_to_array(?1, ',')::bigint[]) AND \"table\" = ?2";
const EDGES: &str =
    "SELECT src, rel, dst FROM edge WHERE src = ANY(string_to_array(?1, ',')::bigint[]) ORDER BY src, rel, pos";
/// The limit makes the planner look each of them up, whatever it knows of the table.
const NEWEST: &str = "SELECT wanted.id, found.at, found.json FROM unnest(string_to_array(?1, ',')::bigint[]) AS wanted (id), \
    LATERAL (SELECT at, encode(sha256(convert_to(json, 'UTF8')), 'hex') AS json FROM revision WHERE revision.space = ?2 AND revision.\"of\" = wanted.id AND autosave = 0 \
    ORDER BY at DESC, number DESC LIMIT 1) AS found";

/// As [`NEWEST`] has it.
fn digest(json: &str) -> String {
    Sha256::digest(json.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn joined(ids: &Ids) -> String {
    ids.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

impl PlannedReads {
    /// The reads that plans are going to make of rows that they name.
    pub fn of(plans: &[WritePlan], catalogue: &Catalogue, words: &Words) -> PlannedReads {
        let mut wanted = PlannedReads::default();
        for change in plans.iter().flat_map(|plan| &plan.changes) {
            match change {
                // A mistake in the plan is reported when it is carried out.
                Change::Put(put) => wanted.put(put, catalogue, words).unwrap_or_default(),
                Change::Remove { table, key: DbValue::Int(id), .. } => {
                    if let Some(table) = catalogue.table(table).ok().filter(|table| table.def.key.ty == ColumnType::Int)
                    {
                        wanted.states.entry(table.id).or_default().insert(*id);
                    }
                }
                _ => {}
            }
        }
        wanted
    }

    fn put(&mut self, put: &Put, catalogue: &Catalogue, words: &Words) -> Option<()> {
        let table = catalogue.table(&put.table).ok()?;
        for (rel, ends) in &put.edges {
            let relation = catalogue.relation(rel).ok()?.1;
            if relation.def.counted.is_some() {
                self.states.entry(relation.dst).or_default().extend(ends);
            }
        }
        for count in &table.counts {
            let reference = &table.def.columns[table.tracked[count.reference]].name;
            let parent = put.set.iter().find(|(name, _)| name == reference);
            if let Some((_, Input::Value(DbValue::Int(parent)))) = parent {
                self.states.entry(count.parent).or_default().insert(*parent);
            }
        }
        let Target::Existing { key, .. } = &put.target else { return None };
        let id = id_of(key).filter(|_| table.def.key.ty == ColumnType::Int)?;
        self.states.entry(table.id).or_default().insert(id);
        for (name, _) in &put.set {
            if let Some((extension, _)) = name.split_once('.') {
                self.states.entry(catalogue.table(extension).ok()?.id).or_default().insert(id);
            }
        }
        if put.slug.is_some() {
            self.held.entry(words.number(&table.def.name)?).or_default().insert(id);
        }
        // A slug is claimed or released where the status changes, which edges copy.
        if !table.outgoing.is_empty() && (put.slug.is_some() || !put.edges.is_empty()) {
            self.edges.insert(id);
            for relation in table.outgoing.iter().map(|rel| &catalogue.relations[*rel]) {
                if relation.def.counted.is_some() {
                    self.targets.entry(relation.dst).or_default().insert(id);
                }
            }
        }
        if put.revisions.iter().any(|revision| revision.skip_same && !revision.autosave) {
            self.newest.entry(words.number(&table.space)?).or_default().insert(id);
        }
        Some(())
    }

    /// These reads follow when the next transaction has begun.
    pub fn expect(&self, conn: &dyn Connection, catalogue: &Catalogue) {
        for Statement { text, ids, of } in self.statements(catalogue) {
            match of {
                Some(of) => conn.expect(&text, params![&ids, of]),
                None => conn.expect(&text, params![&ids]),
            }
        }
    }

    /// Carries the reads out.
    pub fn read(&self, conn: &dyn Connection, catalogue: &Catalogue) -> Result<Prefetched> {
        let mut found = Prefetched::default();
        for (table, ids) in &self.states {
            found.states.extend(ids.iter().map(|id| ((*table, *id), None)));
        }
        for (table, ids) in &self.held {
            found.held.extend(ids.iter().map(|id| (Owner { table: *table, id: *id }, None)));
        }
        found.edges.extend(self.edges.iter().map(|id| (*id, Vec::new())));
        for (space, ids) in &self.newest {
            found.newest.extend(ids.iter().map(|id| ((*space, *id), None)));
        }
        let mut reads = Vec::new();
        for Statement { text, ids, of } in self.statements(catalogue) {
            reads.push(match of {
                Some(of) => conn.select(&text, params![&ids, of])?,
                None => conn.select(&text, params![&ids])?,
            });
        }
        let mut reads = reads.into_iter();
        let mut next = || reads.next().unwrap_or_default();
        for table in self.states.keys().chain(self.targets.keys()) {
            for row in next() {
                let (id, state) = (int(&row, 0), RowState::of_row(&catalogue.tables[*table], row));
                found.states.insert((*table, id), Some(state));
            }
        }
        for table in self.held.keys() {
            for row in next() {
                let held = text_at(&row, 1).zip(text_at(&row, 2));
                found.held.insert(Owner { table: *table, id: int(&row, 0) }, held);
            }
        }
        if !self.edges.is_empty() {
            for row in next() {
                found.edges.entry(int(&row, 0)).or_default().push((int(&row, 1), int(&row, 2)));
            }
        }
        for space in self.newest.keys() {
            for row in next() {
                let newest = text_at(&row, 2).map(|digest| (int(&row, 1), digest));
                found.newest.insert((*space, int(&row, 0)), newest);
            }
        }
        Ok(found)
    }

    /// In the order in which [`PlannedReads::read`] takes their rows.
    fn statements(&self, catalogue: &Catalogue) -> Vec<Statement> {
        let statement = |text: &str, ids: &Ids, of: Option<&i64>| Statement {
            text: text.to_owned(),
            ids: joined(ids),
            of: of.copied(),
        };
        let of_states =
            self.states.iter().map(|(table, ids)| statement(&states_text(catalogue, *table, IDS), ids, None));
        let linked = format!("ARRAY(SELECT dst FROM edge WHERE src = ANY({IDS}))");
        let targets =
            self.targets.iter().map(|(table, ids)| statement(&states_text(catalogue, *table, &linked), ids, None));
        let held = self.held.iter().map(|(table, ids)| statement(HELD, ids, Some(table)));
        let edges = (!self.edges.is_empty()).then(|| statement(EDGES, &self.edges, None));
        let newest = self.newest.iter().map(|(space, ids)| statement(NEWEST, ids, Some(space)));
        of_states.chain(targets).chain(held).chain(edges).chain(newest).collect()
    }
}

/// A read of rows with these ids, joined by commas, and of the table or the space that they are of.
struct Statement {
    text: String,
    ids: String,
    of: Option<i64>,
}

fn states_text(catalogue: &Catalogue, table: TableId, ids: &str) -> String {
    let table = &catalogue.tables[table];
    let key = &*table.def.key.name;
    select_many_text(&table.def.name, key, std::iter::once(key).chain(table.state_columns()), ids)
}

impl Prefetched {
    /// The state of a row, where it is known. `Some(None)`: there is no such row.
    pub fn state(&self, table: TableId, key: &DbValue) -> Option<&Option<RowState>> {
        self.states.get(&(table, id_of(key)?))
    }

    /// A row that was read has another state now.
    pub fn set_state(&mut self, table: TableId, key: &DbValue, state: RowState) {
        if let Some(known) = id_of(key).and_then(|id| self.states.get_mut(&(table, id))) {
            *known = Some(state);
        }
    }

    /// The state of a row is no longer known.
    pub fn forget_state(&mut self, table: TableId, key: &DbValue) {
        if let Some(id) = id_of(key) {
            self.states.remove(&(table, id));
        }
    }

    /// Something raised the version of a row, and left what is tracked.
    pub fn raise_version(&mut self, table: TableId, key: &DbValue) {
        if let Some(Some(state)) = id_of(key).and_then(|id| self.states.get_mut(&(table, id))) {
            state.version += 1;
        }
    }

    /// The slug that a row has claimed, where that is known.
    pub fn held(&self, owner: Owner) -> Option<Option<ScopedSlug>> {
        self.held.get(&owner).cloned()
    }

    /// A row has claimed another slug, or has given it up.
    pub fn set_held(&mut self, owner: Owner, held: Option<ScopedSlug>) {
        if let Some(known) = self.held.get_mut(&owner) {
            *known = held;
        }
    }

    /// Relations' numbers and targets of the edges that a row is the source of, where they are known.
    pub fn edges(&self, src: i64) -> Option<&[(i64, i64)]> {
        self.edges.get(&src).map(Vec::as_slice)
    }

    /// A row has other targets of a relation now.
    pub fn set_edges(&mut self, src: i64, rel: i64, ends: &[i64]) {
        if let Some(known) = self.edges.get_mut(&src) {
            known.retain(|(other, _)| *other != rel);
            known.extend(ends.iter().map(|dst| (rel, *dst)));
        }
    }

    /// The edges of a source are no longer known.
    pub fn forget_edges(&mut self, src: i64) {
        self.edges.remove(&src);
    }

    /// Whether the newest revision of a row has this JSON, where that is known.
    pub fn is_newest(&self, space: i64, of: i64, json: &str) -> Option<bool> {
        let newest = self.newest.get(&(space, of))?;
        Some(newest.as_ref().is_some_and(|(_, known)| **known == *digest(json)))
    }

    /// A revision was added.
    pub fn add_revision(&mut self, space: i64, of: i64, at: i64, json: &str) {
        if let Some(known) = self.newest.get_mut(&(space, of))
            && known.as_ref().is_none_or(|(newest, _)| *newest <= at)
        {
            *known = Some((at, digest(json).into()));
        }
    }

    /// The revisions of a row are no longer known.
    pub fn forget_revisions(&mut self, space: i64, of: i64) {
        self.newest.remove(&(space, of));
    }

    /// No revision is known any longer.
    pub fn forget_all_revisions(&mut self) {
        self.newest.clear();
    }

    /// A row is removed.
    pub fn forget_row(&mut self, table: TableId, owner: Owner, space: i64) {
        self.states.remove(&(table, owner.id));
        self.held.remove(&owner);
        self.edges.remove(&owner.id);
        self.newest.remove(&(space, owner.id));
    }
}
