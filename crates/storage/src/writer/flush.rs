//! Writing what the group has gathered: counts, tallies, sequences, versions, the change feed.

use super::super::catalogue::TableId;
use super::super::feed::{self, Action, COMMITS, Entry, Subject};
use super::super::plan::{DbValue, Name};
use super::super::sql::{Set, update_text};
use super::super::statement::{Param, Result, int, params};
use super::super::versions::slugs;
use super::effects::{Counter, Effects, VersionScope};
use super::state::Writer;
use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

impl Writer<'_> {
    /// Writes everything that is pending. Returns the new versions, to be published after the commit.
    pub fn flush(&mut self) -> Result<Vec<(Name, u64)>> {
        let versions = self.flush_versions()?;
        if let Some((_, number)) = versions.iter().find(|(scope, _)| **scope == *COMMITS) {
            self.write_entries(*number)?;
        }
        Ok(versions)
    }

    fn flush_versions(&mut self) -> Result<Vec<(Name, u64)>> {
        self.flush_counts()?;
        self.flush_tallies()?;
        for space in std::mem::take(&mut self.pending.spaces) {
            let next = self.sequences.get(&space).copied().unwrap_or(1);
            self.send(SEQUENCE, params![&space, next])?;
        }
        let scopes = std::mem::take(&mut self.pending.scopes);
        let mut raised: Vec<Name> = scopes.into_iter().map(|scope| self.scope_name(scope)).collect();
        // Always in this order, so that no two transactions wait for each other.
        raised.sort_unstable();
        if std::mem::take(&mut self.pending.wrote) {
            raised.push(COMMITS.into());
        }
        let unknown: Vec<&Name> = raised.iter().filter(|scope| !self.numbers.contains_key(*scope)).collect();
        let params: Vec<Vec<Param<'_>>> = unknown.iter().map(|scope| vec![Param::from(*scope)]).collect();
        let numbers = self.conn.select_each(RAISE, &params)?;
        let mut read: HashMap<&Name, u64> = HashMap::new();
        for (scope, rows) in unknown.into_iter().zip(&numbers) {
            read.insert(scope, rows.first().map_or(0, |row| int(row, 0) as u64));
        }
        let mut versions = Vec::with_capacity(raised.len());
        for scope in &raised {
            let number = match read.get(scope) {
                Some(number) => *number,
                None => {
                    let next = self.numbers.get(scope).map_or(1, |number| number + 1);
                    self.conn.send(SET_VERSION, params![next as i64, scope])?;
                    next
                }
            };
            versions.push((scope.clone(), number));
        }
        self.numbers.extend(versions.iter().cloned());
        Ok(versions)
    }

    /// Writes the counts that are pending.
    pub fn flush_counts(&mut self) -> Result<()> {
        let mut effects = Effects { counts: std::mem::take(&mut self.pending.counts), ..Effects::default() };
        self.write_counts(&mut effects)?;
        self.pending.merge(effects);
        Ok(())
    }

    /// Writes the tallies that are pending.
    pub fn flush_tallies(&mut self) -> Result<()> {
        for ((table, kind, status, author), n) in std::mem::take(&mut self.pending.tallies) {
            if n != 0 {
                let table = self.table_number(table);
                self.send(TALLY, params![table, kind, status, author, n])?;
            }
        }
        Ok(())
    }

    /// Writes the counts of `effects` and adds what follows from that.
    pub fn write_counts(&mut self, effects: &mut Effects) -> Result<()> {
        let mut counts: Vec<(Counter, i64)> = std::mem::take(&mut effects.counts).into_iter().collect();
        counts.retain(|(_, n)| *n != 0);
        counts.sort_unstable();
        for like in counts.chunk_by(|(one, _), (other, _)| (one.table, &one.column) == (other.table, &other.column)) {
            let (table, column) = (&self.shared.catalogue.tables[like[0].0.table], &like[0].0.column);
            let set = std::iter::once((&**column, Set::Add));
            let update = update_text(&table.def.name, &table.def.key.name, set, table.def.versioned);
            let text = format!("{update} RETURNING {}", if table.kind.is_some() { "kind" } else { "0" });
            let (known, unknown): (Vec<_>, Vec<_>) =
                like.iter().partition(|(c, _)| self.prefetched.state(table.id, &DbValue::Int(c.id)).is_some());
            let params: Vec<Vec<Param<'_>>> =
                unknown.iter().map(|(c, n)| vec![Param::Int(*n), Param::Int(c.id)]).collect();
            let written = self.conn.select_each(&text, &params)?;
            let written = unknown.iter().zip(&written).filter_map(|((c, _), rows)| Some((c.id, int(rows.first()?, 0))));
            let mut counted: Vec<(i64, i64)> = written.collect();
            for (counter, n) in known {
                let key = DbValue::Int(counter.id);
                // Where there is no such row, there is nothing to count into.
                if let Some(Some(state)) = self.prefetched.state(table.id, &key) {
                    counted.push((counter.id, table.kind.map_or(0, |kind| int(&state.tracked, kind))));
                    self.send(&update, params![*n, counter.id])?;
                    self.prefetched.raise_version(table.id, &key);
                }
            }
            for (id, kind) in counted {
                let columns = table.place(column).into_iter().collect();
                let entry = Entry { columns, ..Entry::new(Action::Update, table.kind.map(|_| kind)) };
                effects.changed(table.id, &DbValue::Int(id), entry);
            }
        }
        Ok(())
    }

    /// Marks a row as written that something else changed.
    pub fn touched(&self, effects: &mut Effects, table: TableId, key: &DbValue) -> Result<()> {
        let def = &self.shared.catalogue.tables[table];
        let text = format!("SELECT kind FROM \"{}\" WHERE \"{}\" = ?1", def.def.name, def.def.key.name);
        let kind = match (def.kind, self.prefetched.state(table, key)) {
            (Some(kind), Some(Some(state))) => Some(int(&state.tracked, kind)),
            (Some(_), _) => Some(self.conn.number(&text, params![key])?.unwrap_or(0)),
            (None, _) => None,
        };
        effects.changed(table, key, Entry::new(Action::Update, kind));
        Ok(())
    }

    /// Adds what happened to the change feed.
    fn write_entries(&mut self, commit: u64) -> Result<()> {
        let first = match self.next_entry {
            Some(next) => next,
            None => self.conn.number(feed::NEWEST, &[])?.unwrap_or(0) + 1,
        };
        let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64);
        let commit = feed::Commit { number: commit, at, node: self.shared.node };
        let setting = match self.pending.entries.settings.is_empty() {
            true => 0,
            false => self.word(&feed::SETTING.into())?,
        };
        let mut seq = first;
        let named = |(subject, entry): &(Subject, Entry)| {
            feed::EntryTexts::of(&self.shared.catalogue.tables[subject.table], entry)
        };
        let texts: Vec<feed::EntryTexts> = self.pending.entries.iter().map(named).collect();
        let mut rows = Vec::with_capacity(texts.len());
        for ((subject, entry), texts) in self.pending.entries.iter().zip(&texts) {
            rows.push(commit.values(seq, self.table_number(subject.table), &subject.key, entry, texts).to_vec());
            seq += 1;
        }
        let (written, texts) = (Entry::new(Action::Update, None), feed::EntryTexts::default());
        let keys: Vec<feed::Key> = self.pending.entries.settings.iter().cloned().map(feed::Key::Name).collect();
        for key in &keys {
            rows.push(commit.values(seq, setting, key, &written, &texts).to_vec());
            seq += 1;
        }
        self.conn.send_each(feed::INSERT, &rows)?;
        if let Some([before, up_to, most]) = feed::pruned(self.shared.feed, first, seq - 1, at) {
            self.send(feed::PRUNE, params![before, up_to, most])?;
        }
        self.next_entry = Some(seq);
        Ok(())
    }

    fn scope_name(&self, scope: VersionScope) -> Name {
        let catalogue = &self.shared.catalogue;
        match scope {
            VersionScope::Table(table) => catalogue.tables[table].def.name.clone(),
            VersionScope::Kind(table, kind) => {
                let kind = self.words.name(kind).map_or("", |word| word);
                format!("{}:{kind}", catalogue.tables[table].def.name).into()
            }
            VersionScope::Relation(relation) => catalogue.relations[relation].def.name.clone(),
            VersionScope::Slugs(table) => slugs(&catalogue.tables[table].def.name),
            VersionScope::Setting => "setting".into(),
        }
    }

    /// The number of a table's name. Opening the file made sure that there is one.
    pub fn table_number(&self, table: TableId) -> i64 {
        let name = &self.shared.catalogue.tables[table].def.name;
        self.words.number(name).expect("names of tables are words")
    }
}

const TALLY: &str = "INSERT INTO tally (\"table\", kind, status, author, n) VALUES (?1, ?2, ?3, ?4, ?5) \
    ON CONFLICT (\"table\", kind, status, author) DO UPDATE SET n = tally.n + excluded.n";
const SEQUENCE: &str = "INSERT INTO sequence (space, next) VALUES (?1, ?2) \
    ON CONFLICT (space) DO UPDATE SET next = excluded.next";
const RAISE: &str = "INSERT INTO version (scope, n) VALUES (?1, 1) \
    ON CONFLICT (scope) DO UPDATE SET n = version.n + 1 RETURNING n";
const SET_VERSION: &str = "UPDATE version SET n = ?1 WHERE scope = ?2";
