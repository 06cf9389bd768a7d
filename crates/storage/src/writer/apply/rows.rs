//! One row: created, updated, removed, and what its tracked columns mean for others.

use super::super::super::catalogue::{Count, REVISION, Table, TableId};
use super::super::super::derived::recount_text;
use super::super::super::feed::{Action, Entry, PreviousState};
use super::super::super::plan::{
    ColumnDef, ColumnType, CommitError, DbValue, Input, Name, Piece, Put, PutDone, Target,
};
use super::super::super::sql::{Set, delete_text, insert_text, select_text, update_text};
use super::super::super::statement::{Param, params};
use super::super::super::tally::NO_AUTHOR;
use super::super::super::versions::PATHS;
use super::super::effects::VersionScope;
use super::super::prefetch::{RowState, id_of};
use super::work::{PlanExecution, PlanResult, SetColumns, Stop, failed};
use std::sync::Arc;

/// A put that only sets columns.
pub fn bare_put(table: &Table, set: &[(Name, DbValue)]) -> Put {
    Put {
        table: table.def.name.clone(),
        target: Target::New,
        set: set.iter().map(|(name, value)| (name.clone(), Input::Value(value.clone()))).collect(),
        slug: None,
        edges: Vec::new(),
        meta: Vec::new(),
        revisions: Vec::new(),
    }
}

fn stale<T>() -> PlanResult<T> {
    Err(Stop::Refuse(CommitError::Stale))
}

fn number(value: &DbValue) -> i64 {
    id_of(value).unwrap_or(0)
}

impl<'c> PlanExecution<'_, 'c> {
    pub(super) fn create(&mut self, table: &'c Table, put: &Put, given: Option<&DbValue>) -> PlanResult<PutDone> {
        let key = self.new_key(table, given)?;
        let slug = match &put.slug {
            Some(claim) => Some(self.claim_slug(table, &key, claim, false)?),
            None => None,
        };
        let mut values: Vec<Option<DbValue>> = vec![None; table.def.columns.len()];
        for (name, input) in own(&put.set) {
            let place = table.place(name)?;
            values[place] = Some(self.input(&table.def.columns[place], input, &key, slug.as_deref())?.alone());
        }
        if let (Some(claim), Some(slug)) = (&put.slug, &slug) {
            values[table.place(&claim.column)?] = Some(DbValue::Text(slug.clone()));
        }
        if given.is_some() {
            // Differences that are still to be written are part of what is counted then.
            self.write_counts()?;
        }
        if *table.def.name == *REVISION {
            self.complete_revision(table, &mut values)?;
        }
        let values = self.with_defaults(table, values)?;
        self.insert(table, &key, &values)?;
        self.leave_for_search(table, &key, |_| true)?;
        if given.is_some() {
            self.recount(table, &key)?;
        }
        let extensions = self.put_extensions(table, put, &key, slug.as_deref(), true)?;
        // References to a given key were counted before the row existed.
        if self.first && (given.is_none() || table.counted.is_empty()) {
            let own: Vec<Option<DbValue>> = values.iter().cloned().map(Some).collect();
            self.note_row(table, &key, &own, &extensions, true);
        }
        let tracked: Vec<DbValue> = table.tracked.iter().map(|place| values[*place].clone()).collect();
        self.derive(table, &key, (None, Some(&tracked)), Vec::new())?;
        let revision = self.put_dependents(table, put, &key, &tracked, true)?;
        let version = table.version.map_or(0, |place| number(&values[place]));
        Ok(PutDone { key, version, slug, revision })
    }

    pub(super) fn update(
        &mut self,
        table: &'c Table,
        put: &Put,
        key: &DbValue,
        expect: Option<i64>,
    ) -> PlanResult<PutDone> {
        let Some(RowState { version, tracked }) = self.state(table, key)? else { return stale() };
        if table.version.is_some() && expect.is_some_and(|expected| expected != version) {
            return stale();
        }
        let changes_nothing = put.set.is_empty() && put.slug.is_none() && put.edges.is_empty() && put.meta.is_empty();
        if changes_nothing {
            if self.first {
                self.note_row(table, key, &vec![None; table.def.columns.len()], &[], false);
            }
            let revision = self.put_dependents(table, put, key, &tracked, false)?;
            return Ok(PutDone { key: key.clone(), version, slug: None, revision });
        }
        let slug = match &put.slug {
            Some(claim) => Some(self.claim_slug(table, key, claim, true)?),
            None => None,
        };
        let mut sets: Vec<Option<Resolved>> = (0..table.def.columns.len()).map(|_| None).collect();
        for (name, input) in own(&put.set) {
            let place = table.place(name)?;
            sets[place] = Some(self.input(&table.def.columns[place], input, key, slug.as_deref())?);
        }
        if let (Some(claim), Some(slug)) = (&put.slug, &slug) {
            sets[table.place(&claim.column)?] = Some(Resolved::To(DbValue::Text(slug.clone())));
        }
        let set_version = table.version.and_then(|place| sets[place].take());
        if set_version.is_some() {
            return failed(format!("the version of {} is the writer's", table.def.name));
        }
        self.set_columns(table, key, &sets)?;
        self.leave_for_search(table, key, |place| sets[place].is_some())?;
        let extensions = self.put_extensions(table, put, key, slug.as_deref(), false)?;
        if self.first && !sets.iter().flatten().any(Resolved::adds) {
            let mut own: SetColumns = sets.iter().map(|set| set.as_ref().map(|set| set.clone().alone())).collect();
            if let Some(place) = table.version {
                own[place] = Some(DbValue::Int(version + 1));
            }
            self.note_row(table, key, &own, &extensions, false);
        }
        let new: Vec<DbValue> =
            table.tracked.iter().zip(&tracked).map(|(place, old)| Resolved::over(&sets[*place], old)).collect();
        // The former values of columns that are not tracked are unknown.
        let same =
            |place: usize| table.tracked.iter().position(|p| *p == place).is_some_and(|at| tracked[at] == new[at]);
        let changed = (0..sets.len()).filter(|place| sets[*place].is_some() && !same(*place));
        let is_set = |column: &&str| table.place(column).is_ok_and(|place| sets[place].is_some());
        if !table.incoming.is_empty() && PATHS.iter().any(is_set) {
            self.effects.scopes.insert(VersionScope::Slugs(table.id));
        }
        self.derive(table, key, (Some(&tracked), Some(&new)), changed.collect())?;
        let version = if table.version.is_some() { version + 1 } else { 0 };
        if *table.def.name == *REVISION {
            self.writer.prefetched.forget_all_revisions();
        }
        self.writer.prefetched.set_state(table.id, key, RowState { version, tracked: new.clone() });
        let revision = self.put_dependents(table, put, key, &new, false)?;
        Ok(PutDone { key: key.clone(), version, slug, revision })
    }

    pub(super) fn remove(&mut self, table: &'c Table, key: &DbValue, expect: Option<i64>) -> PlanResult<()> {
        if table.companion {
            return failed(format!("rows of {} are removed by the writer alone", table.def.name));
        }
        let Some(RowState { version, tracked }) = self.state(table, key)? else { return stale() };
        if table.version.is_some() && expect.is_some_and(|expected| expected != version) {
            return stale();
        }
        if let Some(id) = id_of(key) {
            self.remove_belongings(table, id, &tracked)?;
        }
        self.derive(table, key, (Some(&tracked), None), Vec::new())?;
        for extension in table.extensions.iter().map(|id| &self.catalogue.tables[*id]) {
            self.delete(extension, key)?;
        }
        self.leave_for_search(table, key, |_| true)?;
        self.delete(table, key)
    }

    /// A row of which a searched column changed: the index has to hear of it.
    fn leave_for_search(&mut self, table: &Table, key: &DbValue, changed: impl Fn(usize) -> bool) -> PlanResult<()> {
        if table.searched.iter().any(|place| changed(*place))
            && let Some(id) = id_of(key)
        {
            let number = self.writer.table_number(table.id);
            self.writer.unsearched |= self.writer.conn.leave_for_search(number, id)?;
        }
        Ok(())
    }

    /// The row's version and tracked columns; `None` where there is no such row.
    pub(super) fn state(&mut self, table: &Table, key: &DbValue) -> PlanResult<Option<RowState>> {
        if let Some(known) = self.writer.prefetched.state(table.id, key) {
            return Ok(known.clone());
        }
        let text = self.writer.text(text_key(b's', table), || {
            let key = &*table.def.key.name;
            select_text(&table.def.name, key, std::iter::once(key).chain(table.state_columns()))
        });
        Ok(self.writer.conn.first(&text, params![key])?.map(|row| RowState::of_row(table, row)))
    }

    /// A row that something else changed: its version rises.
    pub(super) fn raise_version(&mut self, table: &'c Table, key: &DbValue) -> PlanResult<()> {
        if table.version.is_some() {
            let sets: Vec<Option<Resolved>> = (0..table.def.columns.len()).map(|_| None).collect();
            self.set_columns(table, key, &sets)?;
            self.writer.prefetched.raise_version(table.id, key);
        }
        self.writer.touched(&mut self.effects, table.id, key)?;
        Ok(())
    }

    fn new_key(&mut self, table: &Table, given: Option<&DbValue>) -> PlanResult<DbValue> {
        let space = table.def.space.as_ref();
        let Some(key) = given else {
            let Some(space) = space else {
                return failed(format!("a new row of {} needs a key", table.def.name));
            };
            return Ok(DbValue::Int(self.writer.next_id(space)?));
        };
        if self.taken(table, space, key)? {
            return Err(Stop::Refuse(CommitError::Refused { tag: "key_taken", row: None }));
        }
        if let (Some(space), Some(id)) = (space, id_of(key)) {
            self.writer.move_past(space, id)?;
        }
        Ok(key.clone())
    }

    /// A row whose key was given may have been referred to before it was created (or restored).
    fn recount(&mut self, table: &Table, key: &DbValue) -> PlanResult<()> {
        if table.counted.is_empty() {
            return Ok(());
        }
        let (catalogue, words) = (self.catalogue, self.writer.words.clone());
        let text = self.writer.text(text_key(b'r', table), || {
            let update = recount_text(catalogue, &words, &table.def.name, &table.counted);
            format!("{update} WHERE \"{}\" = ?1", table.def.key.name)
        });
        self.writer.send(&text, params![key])?;
        Ok(())
    }

    /// Drops earlier reads of a row.
    fn forget_row(&mut self, table: &Table, key: &DbValue) {
        self.writer.prefetched.forget_state(table.id, key);
        if *table.def.name == *REVISION {
            self.writer.prefetched.forget_all_revisions();
        }
    }

    /// Whether a table of the same space has this key, or a revision this id.
    fn taken(&mut self, table: &Table, space: Option<&Name>, key: &DbValue) -> PlanResult<bool> {
        for sibling in &self.catalogue.tables {
            let shares = space.is_some_and(|space| sibling.def.space.as_ref() == Some(space));
            if (sibling.id == table.id || shares) && self.state(sibling, key)?.is_some() {
                return Ok(true);
            }
        }
        let (Some(space), Some(id)) = (space, id_of(key)) else { return Ok(false) };
        let space = self.writer.word(space)?;
        Ok(self.writer.conn.exists("SELECT 1 FROM revision WHERE space = ?1 AND id = ?2", params![space, id])?)
    }

    /// A revision that a plan brings itself (an import) takes its id from the space of its row, as all do.
    fn complete_revision(&mut self, table: &Table, values: &mut [Option<DbValue>]) -> PlanResult<()> {
        let (id, space) = (table.place("id")?, table.place("space")?);
        let space = match &values[space] {
            Some(DbValue::Int(number)) => self.writer.words.name(*number).cloned(),
            _ => None,
        };
        let Some(space) = space else { return failed("a revision needs the space of its row".into()) };
        match &values[id] {
            Some(DbValue::Int(id)) => self.writer.move_past(&space, *id)?,
            _ => values[id] = Some(DbValue::Int(self.writer.next_id(&space)?)),
        }
        Ok(())
    }

    /// A value as its column stores it; null becomes the default.
    fn stored(&mut self, column: &ColumnDef, value: DbValue) -> PlanResult<DbValue> {
        let value = match (value, &column.default) {
            (DbValue::Null, Some(default)) => default.clone(),
            (value, _) => value,
        };
        Ok(match value {
            DbValue::Text(word) if column.ty == ColumnType::Word => DbValue::Int(self.writer.word(&word)?),
            value => value,
        })
    }

    fn input(&mut self, column: &ColumnDef, input: &Input, key: &DbValue, slug: Option<&str>) -> PlanResult<Resolved> {
        let value = match input {
            Input::Value(value) => value.clone(),
            Input::Add(n) => return Ok(Resolved::Add(*n)),
            Input::IdOf(n) => match self.committed.puts.get(*n) {
                Some(done) => done.key.clone(),
                None => return failed(format!("the plan has no put number {n} before this one")),
            },
            Input::Text(pieces) => DbValue::Text(compose(pieces, key, slug)),
        };
        Ok(Resolved::To(self.stored(column, value)?))
    }

    fn with_defaults(&mut self, table: &Table, values: Vec<Option<DbValue>>) -> PlanResult<Vec<DbValue>> {
        let mut complete = Vec::with_capacity(values.len());
        for (place, (column, value)) in table.def.columns.iter().zip(values).enumerate() {
            complete.push(match value {
                Some(value) => value,
                None if table.version == Some(place) => DbValue::Int(1),
                None => self.stored(column, DbValue::Null)?,
            });
        }
        Ok(complete)
    }

    fn insert(&mut self, table: &Table, key: &DbValue, values: &[DbValue]) -> PlanResult<()> {
        let text = self.writer.text(text_key(b'i', table), || {
            let columns = table.def.columns.iter().map(|c| &*c.name);
            insert_text(&table.def.name, columns.chain(std::iter::once(&*table.def.key.name)))
        });
        let binds: Vec<Param<'_>> = values.iter().chain(std::iter::once(key)).map(Param::from).collect();
        self.forget_row(table, key);
        Ok(self.writer.send(&text, &binds)?)
    }

    /// Sets columns of a row that there is.
    fn set_columns(&mut self, table: &Table, key: &DbValue, sets: &[Option<Resolved>]) -> PlanResult<()> {
        if table.version.is_none() && sets.iter().all(Option::is_none) {
            return Ok(());
        }
        let (text, binds) = self.update_of(table, key, sets);
        Ok(self.writer.send(&text, &binds)?)
    }

    /// The statement that sets columns of a row.
    fn update_of<'v>(
        &mut self,
        table: &Table,
        key: &'v DbValue,
        sets: &'v [Option<Resolved>],
    ) -> (Arc<str>, Vec<Param<'v>>) {
        let mut name = text_key(b'u', table);
        name.extend(sets.iter().map(|set| match set {
            None => 0,
            Some(Resolved::To(_)) => 1,
            Some(Resolved::Add(_)) => 2,
        }));
        let text = self.writer.text(name, || {
            let columns = table.def.columns.iter().zip(sets).filter_map(|(column, set)| match set {
                None => None,
                Some(Resolved::To(_)) => Some((&*column.name, Set::To)),
                Some(Resolved::Add(_)) => Some((&*column.name, Set::Add)),
            });
            update_text(&table.def.name, &table.def.key.name, columns, table.version.is_some())
        });
        let value = |set: &'v Resolved| match set {
            Resolved::To(value) => Param::from(value),
            Resolved::Add(n) => Param::Int(*n),
        };
        (text, sets.iter().flatten().map(value).chain([Param::from(key)]).collect())
    }

    fn delete(&mut self, table: &Table, key: &DbValue) -> PlanResult<()> {
        let text = self.writer.text(text_key(b'd', table), || delete_text(&table.def.name, &table.def.key.name));
        self.forget_row(table, key);
        self.writer.send(&text, params![key])?;
        Ok(())
    }

    /// Writes the columns of extensions, each in the row of the same key, and gives what was set. `new`: the row was just
    /// created, so it has none.
    fn put_extensions(
        &mut self,
        table: &'c Table,
        put: &Put,
        key: &DbValue,
        slug: Option<&str>,
        new: bool,
    ) -> PlanResult<Vec<(TableId, SetColumns)>> {
        let mut written = Vec::new();
        for extension in table.extensions.iter().map(|id| &self.catalogue.tables[*id]) {
            let mut sets: Vec<Option<Resolved>> = (0..extension.def.columns.len()).map(|_| None).collect();
            for (name, input) in &put.set {
                if let Some((of, column)) = name.split_once('.')
                    && *of == *extension.def.name
                {
                    let place = extension.place(column)?;
                    sets[place] = Some(self.input(&extension.def.columns[place], input, key, slug)?);
                }
            }
            if sets.iter().all(Option::is_none) {
                continue;
            }
            let known = self.writer.prefetched.state(extension.id, key).map(Option::is_some);
            if !new && known != Some(false) {
                let (text, binds) = self.update_of(extension, key, &sets);
                let found = match known {
                    Some(_) => self.writer.send(&text, &binds).map(|()| true)?,
                    None => self.writer.execute(&text, &binds)? > 0,
                };
                self.forget_row(extension, key);
                if found {
                    // A column that was added to has no known value.
                    self.first &= !sets.iter().flatten().any(Resolved::adds);
                    written.push((extension.id, sets.into_iter().map(|set| set.map(Resolved::alone)).collect()));
                    continue;
                }
            }
            let values = sets.into_iter().map(|set| set.map(Resolved::alone)).collect();
            let values = self.with_defaults(extension, values)?;
            self.insert(extension, key, &values)?;
            written.push((extension.id, values.into_iter().map(Some).collect()));
        }
        for (name, _) in &put.set {
            if let Some((of, _)) = name.split_once('.')
                && !table.extensions.iter().any(|id| *self.catalogue.tables[*id].def.name == *of)
            {
                return failed(format!("the table {of} does not extend {}", table.def.name));
            }
        }
        Ok(written)
    }

    /// Derives the effects of a change of a row's tracked columns on other rows. `columns`: the places of
    /// those that have other values.
    fn derive(
        &mut self,
        table: &'c Table,
        key: &DbValue,
        (old, new): (Option<&[DbValue]>, Option<&[DbValue]>),
        columns: Vec<usize>,
    ) -> PlanResult<()> {
        self.changed(table, key, (old, new), columns);
        if old == new {
            return Ok(());
        }
        if let Some(tally) = &table.tally {
            for (state, n) in [(old, -1), (new, 1)] {
                let Some(state) = state else { continue };
                let author = tally.author.map(|a| id_of(&state[a]).unwrap_or(NO_AUTHOR));
                let kind = tally.kind.map_or(0, |kind| number(&state[kind]));
                let status = tally.status.map(|status| self.as_word(&state[status])).transpose()?;
                self.effects.tally(table.id, kind, status.as_ref().map_or(0, number), author, n);
            }
        }
        for count in &table.counts {
            for (state, n) in [(old, -1), (new, 1)] {
                if let Some(parent) = state.and_then(|state| self.counted_parent(table, count, state)) {
                    self.effects.count(count.parent, &count.def.column, parent, n);
                }
            }
        }
        match (id_of(key), old, new) {
            (Some(id), Some(old), Some(new)) => self.copy_to_edges(table, id, old, new),
            _ => Ok(()),
        }
    }

    /// Marks the row as changed. One that gets another kind leaves its old one and appears in the new one.
    fn changed(
        &mut self,
        table: &Table,
        key: &DbValue,
        (old, new): (Option<&[DbValue]>, Option<&[DbValue]>),
        columns: Vec<usize>,
    ) {
        let kind = |state: &[DbValue]| table.kind.map(|kind| number(&state[kind]));
        let status = |state: &[DbValue]| table.tally.as_ref()?.status.and_then(|status| id_of(&state[status]));
        let entry = |action, state: &[DbValue], former: PreviousState| Entry {
            status: [old.and_then(status), new.and_then(status)],
            columns: columns.clone(),
            former,
            ..Entry::new(action, kind(state))
        };
        let entries = match (old, new) {
            (Some(before), Some(now)) if kind(before) == kind(now) => {
                [Some(entry(Action::Update, now, former(table, old, new))), None]
            }
            _ => [
                old.map(|before| entry(Action::Delete, before, former(table, old, None))),
                new.map(|now| entry(Action::Create, now, former(table, None, new))),
            ],
        };
        for entry in entries.into_iter().flatten() {
            self.effects.changed(table.id, key, entry);
        }
    }

    /// A kind, status or state as tallies and edges have it: a text by its number in the dictionary.
    pub(super) fn as_word(&mut self, value: &DbValue) -> PlanResult<DbValue> {
        Ok(match value {
            DbValue::Text(text) => DbValue::Int(self.writer.word(text)?),
            number => number.clone(),
        })
    }

    fn counted_parent(&self, table: &Table, count: &Count, state: &[DbValue]) -> Option<i64> {
        let column = &table.def.columns[table.tracked[count.status]];
        let counts = self.is_one_of(column, &state[count.status], &count.def.statuses);
        if counts { id_of(&state[count.reference]) } else { None }
    }

    /// Whether a stored value is one of these names.
    pub(super) fn is_one_of(&self, column: &ColumnDef, value: &DbValue, names: &[Name]) -> bool {
        match value {
            DbValue::Int(number) if column.ty == ColumnType::Word => {
                names.iter().any(|name| self.writer.words.number(name) == Some(*number))
            }
            DbValue::Text(text) => names.contains(text),
            _ => false,
        }
    }
}

/// A column's new value, once everything is known that the transaction had to determine.
#[derive(Clone)]
enum Resolved {
    To(DbValue),
    Add(i64),
}

impl Resolved {
    /// The value where there was none before.
    fn alone(self) -> DbValue {
        match self {
            Resolved::To(value) => value,
            Resolved::Add(n) => DbValue::Int(n),
        }
    }

    fn adds(&self) -> bool {
        matches!(self, Resolved::Add(_))
    }

    fn over(set: &Option<Resolved>, old: &DbValue) -> DbValue {
        match set {
            None => old.clone(),
            Some(Resolved::To(value)) => value.clone(),
            Some(Resolved::Add(n)) => DbValue::Int(number(old) + n),
        }
    }
}

/// The state of a row before a change, as far as that is told.
fn former(table: &Table, old: Option<&[DbValue]>, new: Option<&[DbValue]>) -> PreviousState {
    let at = |state: Option<&[DbValue]>, place: Option<usize>| Some(state?[place?].clone());
    let differs = |place: Option<usize>| at(old, place) != at(new, place);
    let places = &table.former;
    let status = table.tally.as_ref().and_then(|tally| tally.status);
    let slug = match at(old, places.slug) {
        Some(DbValue::Text(slug)) if differs(places.slug) || differs(status) => Some(slug),
        _ => None,
    };
    let class = at(old.or(new), places.class).as_ref().and_then(id_of);
    let author = at(old, places.author).filter(|_| differs(places.author)).as_ref().and_then(id_of);
    PreviousState { slug, class, author, targets: Vec::new() }
}

/// Columns of the table itself.
fn own(set: &[(Name, Input)]) -> impl Iterator<Item = (&Name, &Input)> {
    set.iter().filter(|(name, _)| !name.contains('.')).map(|(name, input)| (name, input))
}

fn compose(pieces: &[Piece], key: &DbValue, slug: Option<&str>) -> Arc<str> {
    let mut text = String::new();
    for piece in pieces {
        match (piece, key) {
            (Piece::Literal(literal), _) => text.push_str(literal),
            (Piece::Id, DbValue::Int(id)) => text.push_str(&id.to_string()),
            (Piece::Id, DbValue::Text(key)) => text.push_str(key),
            (Piece::Id, _) => {}
            (Piece::Slug, _) => text.push_str(slug.unwrap_or_default()),
        }
    }
    text.into()
}

fn text_key(of: u8, table: &Table) -> Vec<u8> {
    let mut key = Vec::with_capacity(5 + table.def.columns.len());
    key.push(of);
    key.extend((table.id as u32).to_le_bytes());
    key
}
