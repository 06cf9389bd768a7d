//! The dependents of a row in other tables: slug claim, edges, meta, revisions.

use super::super::super::catalogue::{META, REVISION, Relation, RelationId, Table};
use super::super::super::feed::{Action, Entry, Subject};
use super::super::super::plan::{CommitError, DbValue, Input, MetaChange, Name, Put, RevisionPut, SlugClaim};
use super::super::super::statement::{int, params};
use super::super::effects::VersionScope;
use super::super::prefetch::id_of;
use super::super::slugs::{self, Owner};
use super::work::{PlanExecution, PlanResult, Stop, failed};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

impl<'c> PlanExecution<'_, 'c> {
    /// Writes edges, meta and revisions of a row. `new`: the row was just created, so it has none of them yet.
    pub(super) fn put_dependents(
        &mut self,
        table: &'c Table,
        put: &Put,
        key: &DbValue,
        tracked: &[DbValue],
        new: bool,
    ) -> PlanResult<Option<i64>> {
        let inner: Vec<(RelationId, Vec<i64>)> = self.inner_keys(table, put).collect();
        if inner.is_empty() && put.edges.is_empty() && put.meta.is_empty() && put.revisions.is_empty() {
            return Ok(None);
        }
        let Some(id) = id_of(key) else {
            return failed(format!("rows of {} have no ids, so nothing can belong to them", table.def.name));
        };
        for (rel, ends) in &put.edges {
            let (rel, _) = self.catalogue.relation(rel)?;
            self.put_edges(table, id, rel, ends, tracked, new)?;
        }
        for (rel, keys) in &inner {
            let there = self.present_keys(*rel, keys)?;
            self.put_edges(table, id, *rel, &there, tracked, new)?;
        }
        self.put_meta(table, id, &put.meta, new)?;
        let mut written = None;
        for revision in &put.revisions {
            written = self.put_revision(table, id, revision, new)?.or(written);
        }
        Ok(written)
    }

    /// Removes what belongs to a row that is removed.
    pub(super) fn remove_belongings(&mut self, table: &'c Table, id: i64, tracked: &[DbValue]) -> PlanResult<()> {
        for (rel, ends) in self.edges_of(table, id)? {
            let relation = &self.catalogue.relations[rel];
            self.writer.send("DELETE FROM edge WHERE src = ?1 AND rel = ?2", params![id, self.number(rel)])?;
            self.effects.scopes.insert(VersionScope::Relation(rel));
            if self.counted(relation, table, tracked) {
                ends.iter().for_each(|dst| self.count_edge(relation, *dst, -1));
            }
        }
        for rel in &table.incoming {
            let relation = &self.catalogue.relations[*rel];
            for source in self.sources(*rel, id)? {
                self.writer.prefetched.forget_edges(source.id);
                self.raise_version(&self.catalogue.tables[relation.src], &DbValue::Int(source.id))?;
                self.effects.scopes.insert(VersionScope::Relation(*rel));
            }
            self.writer.send("DELETE FROM edge WHERE rel = ?1 AND dst = ?2", params![self.number(*rel), id])?;
        }
        let owner = Owner { table: self.writer.table_number(table.id), id };
        let space = self.writer.word(&table.space)?;
        self.writer.prefetched.forget_row(table.id, owner, space);
        while let Some((scope, slug)) = slugs::held(self.writer.conn, owner)? {
            self.writer.claims.release(self.writer.conn, &scope, &slug)?;
        }
        if self.writer.execute("DELETE FROM meta WHERE space = ?1 AND id = ?2", params![space, id])? > 0 {
            self.touch(META)?;
        }
        if self.writer.execute("DELETE FROM revision WHERE space = ?1 AND \"of\" = ?2", params![space, id])? > 0 {
            self.touch(REVISION)?;
        }
        Ok(())
    }

    // -------------------------------------------------------------------------------------------- slugs

    /// Gives the row its slug. `held`: the row may have a claim already.
    pub(super) fn claim_slug(
        &mut self,
        table: &Table,
        key: &DbValue,
        claim: &SlugClaim,
        held: bool,
    ) -> PlanResult<Arc<str>> {
        let Some(id) = id_of(key) else {
            return failed(format!("rows of {} have no ids, so they can claim no slug", table.def.name));
        };
        let conn = self.writer.conn;
        let owner = Owner { table: self.writer.table_number(table.id), id };
        let held = match held {
            true => self.writer.prefetched.held(owner).map_or_else(|| slugs::held(conn, owner), Ok)?,
            false => None,
        };
        let named = |wanted: &Arc<str>| if **wanted == *SlugClaim::ID { id.to_string().into() } else { wanted.clone() };
        let candidates: Vec<Arc<str>> = claim.candidates.iter().map(named).collect();
        let first = || candidates.first().cloned().unwrap_or_else(|| "".into());
        let Some(scope) = &claim.scope else {
            if let Some((scope, slug)) = held {
                self.writer.claims.release(conn, &scope, &slug)?;
                self.writer.prefetched.set_held(owner, None);
            }
            return Ok(first());
        };
        let own = held.as_ref().filter(|(held, _)| held == scope).map(|(_, slug)| &**slug);
        if let Some(kept) = candidates.iter().find(|c| Some(&***c) == own) {
            return Ok(kept.clone());
        }
        let free = self.writer.claims.free(conn, scope, (&candidates, claim), own, |o| *o == owner)?;
        if let (Some(tag), Some(holder)) = (claim.refuse, free.holder) {
            return Err(Stop::Refuse(CommitError::Refused { tag, row: Some(vec![DbValue::Int(holder.id)]) }));
        }
        if own != Some(&*free.slug) {
            if let Some((scope, slug)) = &held {
                self.writer.claims.release(conn, scope, slug)?;
            }
            self.writer.claims.claim(conn, scope, &free.slug, owner)?;
            self.writer.prefetched.set_held(owner, Some((scope.clone(), free.slug.clone())));
        }
        Ok(free.slug)
    }

    // -------------------------------------------------------------------------------------------- edges

    fn number(&self, rel: RelationId) -> i64 {
        self.writer.relation_numbers[rel]
    }

    /// Targets by relation, of the relations whose sources are rows of this table.
    fn edges_of(&mut self, table: &Table, src: i64) -> PlanResult<BTreeMap<RelationId, Vec<i64>>> {
        let mut found: BTreeMap<RelationId, Vec<i64>> = BTreeMap::new();
        if table.outgoing.is_empty() {
            return Ok(found);
        }
        let mut add = |number: i64, dst: i64| {
            if let Some(rel) = table.outgoing.iter().find(|rel| self.writer.relation_numbers[**rel] == number) {
                found.entry(*rel).or_default().push(dst);
            }
        };
        match self.writer.prefetched.edges(src) {
            Some(known) => known.iter().for_each(|(number, dst)| add(*number, *dst)),
            None => {
                let text = "SELECT rel, dst FROM edge WHERE src = ?1 ORDER BY rel, pos";
                let rows = self.writer.conn.select(text, params![src])?;
                rows.iter().for_each(|row| add(int(row, 0), int(row, 1)));
            }
        }
        Ok(found)
    }

    fn sources(&mut self, rel: RelationId, dst: i64) -> PlanResult<Vec<EdgeSource>> {
        let text = "SELECT src, status, sort FROM edge WHERE rel = ?1 AND dst = ?2";
        let rows = self.writer.conn.select(text, params![self.number(rel), dst])?;
        Ok(rows
            .iter()
            .map(|row| EdgeSource { id: int(row, 0), status: row[1].clone(), sort: row[2].clone() })
            .collect())
    }

    fn put_edges(
        &mut self,
        table: &'c Table,
        src: i64,
        rel: RelationId,
        ends: &[i64],
        tracked: &[DbValue],
        new: bool,
    ) -> PlanResult<()> {
        let relation = &self.catalogue.relations[rel];
        if relation.src != table.id {
            return failed(format!("the relation {} does not start at {}", relation.def.name, table.def.name));
        }
        let mut seen = HashSet::new();
        let wanted: Vec<i64> = ends.iter().copied().filter(|dst| seen.insert(*dst)).collect();
        let present = if new { Vec::new() } else { self.edges_of(table, src)?.remove(&rel).unwrap_or_default() };
        if present == wanted {
            return Ok(());
        }
        if !present.is_empty() {
            self.writer.send("DELETE FROM edge WHERE src = ?1 AND rel = ?2", params![src, self.number(rel)])?;
        }
        let (status, sort) = self.copies(relation, tracked)?;
        for (pos, dst) in wanted.iter().enumerate() {
            self.insert_edge(rel, src, *dst, pos as i64, &status, &sort)?;
        }
        let number = self.number(rel);
        self.writer.prefetched.set_edges(src, number, &wanted);
        self.effects.scopes.insert(VersionScope::Relation(rel));
        let gone: Vec<i64> = present.iter().copied().filter(|dst| !seen.contains(dst)).collect();
        if self.counted(relation, table, tracked) {
            let before: HashSet<i64> = present.iter().copied().collect();
            gone.iter().for_each(|dst| self.count_edge(relation, *dst, -1));
            wanted.iter().filter(|dst| !before.contains(dst)).for_each(|dst| self.count_edge(relation, *dst, 1));
        }
        if !new {
            let row = Subject::of(table.id, &DbValue::Int(src));
            self.effects.entries.took_away(&row, &relation.def.name, gone);
        }
        Ok(())
    }

    /// The keys that a put writes inside values, by the relations whose edges follow from them.
    fn inner_keys<'p>(
        &self,
        table: &'c Table,
        put: &'p Put,
    ) -> impl Iterator<Item = (RelationId, Vec<i64>)> + use<'c, 'p> {
        let relations = &self.catalogue.relations;
        table.outgoing.iter().filter_map(|rel| {
            let keys = relations[*rel].def.inside.as_ref()?;
            match put.set.iter().find(|(column, _)| *column == keys.column)? {
                (_, Input::Value(DbValue::Text(text))) => Some((*rel, keys.of_text(text))),
                (_, Input::Value(_)) => Some((*rel, Vec::new())),
                _ => None,
            }
        })
    }

    /// Those of the keys that rows of the target's table have, in the same order.
    fn present_keys(&self, rel: RelationId, keys: &[i64]) -> PlanResult<Vec<i64>> {
        let target = &self.catalogue.tables[self.catalogue.relations[rel].dst].def;
        let text = format!("SELECT 1 FROM \"{}\" WHERE \"{}\" = ?1", target.name, target.key.name);
        let reads: Vec<(&str, Vec<i64>)> = keys.iter().map(|key| (text.as_str(), vec![*key])).collect();
        let rows = self.writer.conn.select_all(&reads)?;
        Ok(keys.iter().zip(rows).filter(|(_, rows)| !rows.is_empty()).map(|(key, _)| *key).collect())
    }

    fn insert_edge(
        &mut self,
        rel: RelationId,
        src: i64,
        dst: i64,
        pos: i64,
        status: &DbValue,
        sort: &DbValue,
    ) -> PlanResult<()> {
        let text = "INSERT INTO edge (rel, src, dst, pos, status, sort) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        self.writer.send(text, params![self.number(rel), src, dst, pos, status, sort])?;
        Ok(())
    }

    /// Brings the copies that edges hold of their source up to date.
    pub(super) fn copy_to_edges(
        &mut self,
        table: &'c Table,
        src: i64,
        old: &[DbValue],
        new: &[DbValue],
    ) -> PlanResult<()> {
        for (rel, ends) in self.edges_of(table, src)? {
            let relation = &self.catalogue.relations[rel];
            let (status, sort) = self.copies(relation, new)?;
            if self.copies(relation, old)? == (status.clone(), sort.clone()) {
                continue;
            }
            let text = "UPDATE edge SET status = ?1, sort = ?2 WHERE src = ?3 AND rel = ?4";
            self.writer.send(text, params![&status, &sort, src, self.number(rel)])?;
            let n = i64::from(self.counted(relation, table, new)) - i64::from(self.counted(relation, table, old));
            if n != 0 {
                ends.iter().for_each(|dst| self.count_edge(relation, *dst, n));
            }
        }
        Ok(())
    }

    pub(super) fn unlink(&mut self, rel: &str, dst: i64, instead: Option<i64>) -> PlanResult<()> {
        let (rel, relation) = self.catalogue.relation(rel)?;
        let table = &self.catalogue.tables[relation.src];
        let sources = self.sources(rel, dst)?;
        self.writer.send("DELETE FROM edge WHERE rel = ?1 AND dst = ?2", params![self.number(rel), dst])?;
        for source in &sources {
            self.writer.prefetched.forget_edges(source.id);
            let counted = match relation.status {
                Some(at) => self.status_counts(relation, table, at, &source.status),
                None => relation.def.counted.is_some(),
            };
            if counted {
                self.count_edge(relation, dst, -1);
            }
            if let Some(instead) = instead.filter(|instead| *instead != dst)
                && !self.has_edge(rel, source.id)?
            {
                self.insert_edge(rel, source.id, instead, 0, &source.status, &source.sort)?;
                if counted {
                    self.count_edge(relation, instead, 1);
                }
            }
            self.raise_version(table, &DbValue::Int(source.id))?;
        }
        if !sources.is_empty() {
            self.effects.scopes.insert(VersionScope::Relation(rel));
        }
        self.committed.touched += sources.len() as u64;
        Ok(())
    }

    /// The columns that an edge of the relation copies from its source: status and sort value.
    fn copies(&mut self, relation: &Relation, tracked: &[DbValue]) -> PlanResult<(DbValue, DbValue)> {
        let status = relation.status.map_or(Ok(DbValue::Null), |at| self.as_word(&tracked[at]))?;
        Ok((status, relation.sort.map_or(DbValue::Null, |at| tracked[at].clone())))
    }

    fn has_edge(&mut self, rel: RelationId, src: i64) -> PlanResult<bool> {
        let text = "SELECT 1 FROM edge WHERE src = ?1 AND rel = ?2 LIMIT 1";
        Ok(self.writer.conn.exists(text, params![src, self.number(rel)])?)
    }

    fn counted(&self, relation: &Relation, table: &Table, tracked: &[DbValue]) -> bool {
        match relation.status {
            Some(at) => self.status_counts(relation, table, at, &tracked[at]),
            None => relation.def.counted.is_some(),
        }
    }

    /// `at`: the place of the relation's status column among the tracked ones.
    fn status_counts(&self, relation: &Relation, table: &Table, at: usize, status: &DbValue) -> bool {
        let column = &table.def.columns[table.tracked[at]];
        relation.def.counted.as_ref().is_some_and(|counted| self.is_one_of(column, status, &counted.statuses))
    }

    fn count_edge(&mut self, relation: &Relation, dst: i64, n: i64) {
        if let Some(counted) = &relation.def.counted {
            self.effects.count(relation.dst, &counted.column, dst, n);
        }
    }

    // -------------------------------------------------------------------------------------------- meta, revisions

    fn put_meta(&mut self, table: &Table, id: i64, changes: &[MetaChange], new: bool) -> PlanResult<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let space = self.writer.word(&table.space)?;
        let set = "UPDATE meta SET json = ?1 WHERE space = ?2 AND id = ?3 AND n = ?4";
        let remove = "DELETE FROM meta WHERE space = ?1 AND id = ?2 AND n = ?3";
        for change in changes {
            match change {
                MetaChange::Key(key, values) => {
                    let numbers = if new { Vec::new() } else { self.numbers_of(space, id, key)? };
                    for (number, json) in numbers.iter().zip(values) {
                        self.writer.send(set, params![json, space, id, number])?;
                    }
                    for number in numbers.iter().skip(values.len()) {
                        self.writer.send(remove, params![space, id, number])?;
                    }
                    for json in values.iter().skip(numbers.len()) {
                        self.add_value(space, id, key, json)?;
                    }
                }
                MetaChange::Add(key, json) => self.add_value(space, id, key, json)?,
                MetaChange::Set(number, json) => {
                    self.writer.send(set, params![json, space, id, number])?;
                }
                MetaChange::Remove(number) => {
                    self.writer.send(remove, params![space, id, number])?;
                }
            }
        }
        self.touch(META)
    }

    /// Numbers of the values under a key, in their order.
    fn numbers_of(&mut self, space: i64, id: i64, key: &Name) -> PlanResult<Vec<i64>> {
        let text = "SELECT n FROM meta WHERE space = ?1 AND id = ?2 AND key = ?3 ORDER BY n";
        let rows = self.writer.conn.select(text, params![space, id, key])?;
        Ok(rows.iter().map(|row| int(row, 0)).collect())
    }

    fn add_value(&mut self, space: i64, id: i64, key: &Name, json: &str) -> PlanResult<()> {
        let number = self.writer.next_id(&META.into())?;
        let text = "INSERT INTO meta (space, id, key, n, json) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.writer.send(text, params![space, id, key, number, json])?;
        Ok(())
    }

    /// Stores a snapshot; the id of the row written, if one was.
    fn put_revision(&mut self, table: &Table, of: i64, revision: &RevisionPut, new: bool) -> PlanResult<Option<i64>> {
        let space = self.writer.word(&table.space)?;
        let conn = self.writer.conn;
        if new {
            // It has none to replace or to be compared with.
        } else if revision.autosave {
            let present = conn.number(AUTOSAVE, params![space, of, revision.author])?;
            if let Some(id) = present {
                let text = "UPDATE revision SET at = ?1, json = ?2 WHERE space = ?3 AND id = ?4";
                self.writer.send(text, params![revision.at, &revision.json, space, id])?;
                self.revised(table, of)?;
                return Ok(Some(id));
            }
        } else if revision.skip_same {
            let same = match self.writer.prefetched.is_newest(space, of, &revision.json) {
                Some(same) => same,
                None => conn.text(NEWEST, params![space, of])?.as_deref() == Some(&*revision.json),
            };
            if same {
                return Ok(None);
            }
        }
        let id = self.writer.next_id(&table.space)?;
        let number = self.writer.next_id(&REVISION.into())?;
        let autosave = i64::from(revision.autosave);
        let values = params![number, id, space, of, revision.author, revision.at, autosave, &revision.json];
        self.writer.send(INSERT_REVISION, values)?;
        if !revision.autosave {
            self.writer.prefetched.add_revision(space, of, revision.at, &revision.json);
        }
        if let Some(keep) = revision.keep.filter(|_| !revision.autosave) {
            self.writer.send(TRIM, params![space, of, i64::from(keep)])?;
            if keep == 0 {
                self.writer.prefetched.forget_revisions(space, of);
            }
        }
        self.revised(table, of)?;
        Ok(Some(id))
    }

    /// Marks the revisions of a row as changed.
    fn revised(&mut self, table: &Table, of: i64) -> PlanResult<()> {
        self.effects.entries.add(Subject::of(table.id, &DbValue::Int(of)), Entry::new(Action::Revise, None));
        self.touch(REVISION)
    }

    fn touch(&mut self, table: &str) -> PlanResult<()> {
        let table = self.catalogue.table(table)?;
        self.effects.scopes.insert(VersionScope::Table(table.id));
        self.effects.wrote = true;
        Ok(())
    }
}

const AUTOSAVE: &str = "SELECT id FROM revision WHERE space = ?1 AND \"of\" = ?2 AND autosave = 1 AND author = ?3";
const NEWEST: &str = "SELECT json FROM revision WHERE space = ?1 AND \"of\" = ?2 AND autosave = 0 \
    ORDER BY at DESC, number DESC LIMIT 1";
const INSERT_REVISION: &str = "INSERT INTO revision (number, id, space, \"of\", author, at, autosave, json) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
const TRIM: &str = "DELETE FROM revision WHERE number IN (SELECT number FROM revision \
    WHERE space = ?1 AND \"of\" = ?2 AND autosave = 0 ORDER BY at DESC, number DESC LIMIT 9223372036854775807 OFFSET ?3)";

/// The source of an edge, with the copies that the edge holds of it.
struct EdgeSource {
    id: i64,
    status: DbValue,
    sort: DbValue,
}
