//! The change feed: what each commit changed, row by row, in the order of commits.
//!
//! Its rows are written in the transaction of the change, under the lock that lets one process write at a time. Their
//! numbers therefore rise in the order of commits and have no gaps: a reader that has read up to a number has missed
//! nothing before it, and recognises what it cannot find any more. Other processes learn from it which version slots a
//! commit raises; the slots themselves depend on the declarations of a process and are not stored.

use super::catalogue::{Catalogue, REVISION, Table, TableId};
use super::dependencies::{ANY_KIND, VersionSlot};
use super::plan::{DbValue, Name, Row};
use super::statement::{Param, int, text_at};
use super::words::Words;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// Entries that are read at once. Where more are new, everything counts as changed.
const AT_ONCE: usize = 2000;

/// Old entries are deleted after so many new ones.
const PRUNE_EVERY: i64 = 1024;

/// How the settings are named where others have a table.
pub const SETTING: &str = "setting";

/// How long entries stay. The newest one stays in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedRetention {
    pub age: Duration,
    pub entries: u64,
}

impl Default for FeedRetention {
    fn default() -> FeedRetention {
        FeedRetention { age: Duration::from_secs(7 * 24 * 60 * 60), entries: 1_000_000 }
    }
}

/// The kind of change to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Create,
    Update,
    Delete,
    /// A revision of the row was written, the row itself was not.
    Revise,
}

impl Action {
    /// As it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Action::Create => "create",
            Action::Update => "update",
            Action::Delete => "delete",
            Action::Revise => "revise",
        }
    }

    fn named(name: &str) -> Option<Action> {
        [Action::Create, Action::Update, Action::Delete, Action::Revise]
            .into_iter()
            .find(|action| action.name() == name)
    }
}

/// A row, by its table and key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subject {
    pub table: TableId,
    pub key: Key,
}

/// The key of a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    Id(i64),
    Name(Name),
}

impl Subject {
    /// The row of a table with this key.
    pub fn of(table: TableId, key: &DbValue) -> Subject {
        let key = match key {
            DbValue::Int(id) => Key::Id(*id),
            DbValue::Text(name) => Key::Name(name.clone()),
            DbValue::Null | DbValue::Real(_) => Key::Id(0),
        };
        Subject { table, key }
    }
}

/// A change of a row. Words are their numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub action: Action,
    pub kind: Option<i64>,
    /// Its status before and after.
    pub status: [Option<i64>; 2],
    /// The places of the columns that an update set to other values.
    pub columns: Vec<usize>,
    pub actor: Option<i64>,
    /// See [`super::plan::WritePlan::depth`].
    pub depth: i64,
    pub former: PreviousState,
}

/// The state of a row before a change, as far as it is told with it: by then it is nowhere else.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PreviousState {
    /// The slug, where the change removed the row or set another slug or status.
    pub slug: Option<Name>,
    /// The word by which rows of a shared table belong together where they have no kind. Also of a new row.
    pub class: Option<i64>,
    /// The author, where the change removed the row or set another author.
    pub author: Option<i64>,
    /// By the names of the relations whose targets an update changed: those that it took away.
    pub targets: Vec<(Name, Vec<i64>)>,
}

/// Targets that an entry names, of all relations; further ones are `+`.
const MOST_TARGETS: usize = 1000;

impl PreviousState {
    /// Adds targets that a relation had.
    fn add_targets(&mut self, relation: &Name, targets: Vec<i64>) {
        match self.targets.iter_mut().find(|(own, _)| own == relation) {
            Some((_, known)) => known.extend(targets),
            None => self.targets.push((relation.clone(), targets)),
        }
    }

    /// The targets as they are stored: `category:3,5 tag:`.
    fn targets_text(&self) -> Option<String> {
        let mut left = MOST_TARGETS;
        let one = |(relation, targets): &(Name, Vec<i64>)| {
            let named = targets.len().min(left);
            left -= named;
            let more = (named < targets.len()).then(|| "+".to_owned());
            let targets: Vec<String> = targets[..named].iter().map(i64::to_string).chain(more).collect();
            format!("{relation}:{}", targets.join(","))
        };
        let relations: Vec<String> = self.targets.iter().map(one).collect();
        (!relations.is_empty()).then(|| relations.join(" "))
    }
}

impl Entry {
    /// An entry that says only what happened.
    pub fn new(action: Action, kind: Option<i64>) -> Entry {
        Entry {
            action,
            kind,
            status: [None; 2],
            columns: Vec::new(),
            actor: None,
            depth: 0,
            former: PreviousState::default(),
        }
    }
}

/// The changes of a transaction, in their order.
#[derive(Default)]
pub struct Entries {
    list: Vec<(Subject, Entry)>,
    /// The newest of each row.
    last: HashMap<Subject, usize>,
    /// Keys of settings that were written.
    pub settings: BTreeSet<Name>,
}

impl Entries {
    /// Adds a change. An update that follows a creation or an update of the same row becomes a part of that.
    pub fn add(&mut self, subject: Subject, entry: Entry) {
        if let Some(before) = self.last.get(&subject).map(|at| &mut self.list[*at].1)
            && entry.kind == before.kind
        {
            match (before.action, entry.action) {
                (Action::Create | Action::Update, Action::Update) => {
                    before.status[1] = entry.status[1].or(before.status[1]);
                    if before.action == Action::Update {
                        before.status[0] = before.status[0].or(entry.status[0]);
                        before.former.slug = before.former.slug.take().or(entry.former.slug);
                        before.former.author = before.former.author.or(entry.former.author);
                    }
                    entry.former.targets.into_iter().for_each(|(rel, ids)| before.former.add_targets(&rel, ids));
                    before.former.class = before.former.class.or(entry.former.class);
                    before.actor = before.actor.or(entry.actor);
                    // A change without a webhook is sent in any case.
                    before.depth = before.depth.min(entry.depth);
                    let columns = entry.columns.into_iter();
                    let others: Vec<usize> = columns.filter(|place| !before.columns.contains(place)).collect();
                    before.columns.extend(others);
                    return;
                }
                (Action::Revise, Action::Revise) => return,
                _ => {}
            }
        }
        self.last.insert(subject.clone(), self.list.len());
        self.list.push((subject, entry));
    }

    /// Says of a change that was added which targets of a relation it took away.
    pub fn took_away(&mut self, subject: &Subject, relation: &Name, targets: Vec<i64>) {
        if let Some(at) = self.last.get(subject) {
            self.list[*at].1.former.add_targets(relation, targets);
        }
    }

    /// Adds the changes of another.
    pub fn merge(&mut self, other: Entries) {
        for (subject, entry) in other.list {
            self.add(subject, entry);
        }
        self.settings.extend(other.settings);
    }

    /// Says who caused them, and after how many webhooks.
    pub fn attribute(&mut self, actor: Option<i64>, depth: i64) {
        self.list.iter_mut().for_each(|(_, entry)| (entry.actor, entry.depth) = (actor, depth));
    }

    /// The changes.
    pub fn iter(&self) -> impl Iterator<Item = &(Subject, Entry)> {
        self.list.iter()
    }

    /// The version slots that they raise.
    pub fn slots(&self, catalogue: &Catalogue, words: &Words) -> Vec<VersionSlot> {
        let mut raised = Vec::with_capacity(self.list.len() * 4);
        for (subject, entry) in &self.list {
            let id = match subject.key {
                Key::Id(id) => Some(id),
                Key::Name(_) => None,
            };
            slots(&catalogue.tables[subject.table], id, entry, words, &mut raised);
        }
        raised.sort_unstable();
        raised.dedup();
        raised
    }
}

/// The version slots that a change raises.
fn slots(table: &Table, id: Option<i64>, entry: &Entry, words: &Words, raised: &mut Vec<VersionSlot>) {
    let kinds = || entry.kind.into_iter().chain([ANY_KIND]);
    let revisions = || id.zip(words.number(&table.space)).map(|(id, space)| VersionSlot::revisions(space, id));
    if entry.action == Action::Revise {
        raised.extend(revisions());
        return;
    }
    raised.extend(id.map(|id| VersionSlot::row(table.id, id)));
    if *table.def.name == *REVISION {
        raised.push(VersionSlot::REVISIONS);
    }
    for place in &entry.columns {
        raised.extend(kinds().map(|kind| VersionSlot::column(table.id, kind, *place)));
    }
    match entry.action {
        Action::Create => raised.extend(kinds().map(|kind| VersionSlot::members(table.id, kind))),
        Action::Delete => {
            raised.extend(kinds().map(|kind| VersionSlot::members(table.id, kind)));
            raised.extend(revisions());
        }
        Action::Update | Action::Revise => {}
    }
}

/// The scope that every commit of any process raises.
pub(super) const COMMITS: &str = "commits";

// ------------------------------------------------------------------------------------------------ writing

/// Adds an entry; see [`values`].
pub const INSERT: &str = "INSERT INTO change_feed (seq, in_commit, at, node, \"table\", kind, id, key, action, \
    status_before, status_after, columns, actor, slug_before, class, author_before, depth, \
    targets_before) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";

/// The newest entry: its number, and what [`Mark`] has of it.
pub const NEWEST: &str = "SELECT seq, in_commit, node, at FROM change_feed ORDER BY seq DESC LIMIT 1";

/// By what a commit is recognised in the feed.
#[derive(Clone, Copy, Debug)]
pub struct CommitIdentity {
    /// Its number among the commits of all processes.
    pub commit: u64,
    /// Its last entry.
    pub seq: i64,
    pub node: i64,
}

/// Finds the last entry of a commit, by number, commit and node.
pub const FIND: &str = "SELECT 1 FROM change_feed WHERE seq = ?1 AND in_commit = ?2 AND node = ?3";

/// Deletes entries before a time, or up to a number; at most so many.
pub const PRUNE: &str = "DELETE FROM change_feed WHERE seq IN (SELECT seq FROM \
    (SELECT seq, at FROM change_feed ORDER BY seq LIMIT ?3) AS oldest WHERE at < ?1 OR seq <= ?2)";

/// The common part of all entries of a commit.
pub struct Commit {
    /// Its number among the commits of all processes.
    pub number: u64,
    /// When it was made, in UTC milliseconds.
    pub at: i64,
    pub node: i64,
}

impl Commit {
    /// The values of an entry, for [`INSERT`]. `table` is the number of the table's name.
    pub fn values<'e>(
        &self,
        seq: i64,
        table: i64,
        key: &'e Key,
        entry: &'e Entry,
        texts: &'e EntryTexts,
    ) -> [Param<'e>; 18] {
        let text = |text: &'e Option<String>| text.as_deref().map_or(Param::Null, Param::Text);
        let number = |number: Option<i64>| number.map_or(Param::Null, Param::Int);
        let (id, name) = match key {
            Key::Id(id) => (Param::Int(*id), Param::Null),
            Key::Name(name) => (Param::Null, Param::Text(name)),
        };
        [
            Param::Int(seq),
            Param::Int(self.number as i64),
            Param::Int(self.at),
            Param::Int(self.node),
            Param::Int(table),
            number(entry.kind),
            id,
            name,
            Param::Text(entry.action.name()),
            number(entry.status[0]),
            number(entry.status[1]),
            text(&texts.columns),
            number(entry.actor),
            entry.former.slug.as_deref().map_or(Param::Null, Param::Text),
            number(entry.former.class),
            number(entry.former.author),
            number(Some(entry.depth).filter(|depth| *depth > 0)),
            text(&texts.targets),
        ]
    }
}

/// The lists of an entry, as they are stored.
#[derive(Default)]
pub struct EntryTexts {
    columns: Option<String>,
    targets: Option<String>,
}

impl EntryTexts {
    /// Those of an entry on a row of the table.
    pub fn of(table: &Table, entry: &Entry) -> EntryTexts {
        let names: Vec<&str> = entry.columns.iter().map(|place| &*table.def.columns[*place].name).collect();
        EntryTexts { columns: (!names.is_empty()).then(|| names.join(" ")), targets: entry.former.targets_text() }
    }
}

/// The values for [`PRUNE`] after entries from `first` to `last` were added at `now` (UTC milliseconds), where it is time
/// for that.
pub fn pruned(keep: FeedRetention, first: i64, last: i64, now: i64) -> Option<[i64; 3]> {
    if first / PRUNE_EVERY == (last + 1) / PRUNE_EVERY {
        return None;
    }
    let age = i64::try_from(keep.age.as_millis()).unwrap_or(i64::MAX);
    let entries = i64::try_from(keep.entries).unwrap_or(i64::MAX);
    let most = (2 * (last - first + 1)).max(2 * PRUNE_EVERY);
    Some([now.saturating_sub(age), last.saturating_sub(entries.max(1)), most])
}

// ------------------------------------------------------------------------------------------------ reading

/// Commits of all processes so far.
pub const NUMBER_OF_COMMITS: &str = "SELECT n FROM version WHERE scope = 'commits'";

/// The same, and what [`Mark`] has of the entry with this number.
pub const COMMITS_AND_ENTRY: &str = "SELECT version.n, entry.in_commit, entry.node, entry.at FROM version \
    LEFT JOIN change_feed AS entry ON entry.seq = ?1 WHERE version.scope = 'commits'";

const ENTRY: &str = "SELECT in_commit, node, at FROM change_feed WHERE seq = ?1";

const WORDS: &str = "SELECT number, word FROM dictionary";
const VERSIONS: &str = "SELECT scope, n FROM version";
const AFTER: &str = "SELECT seq, in_commit, \"table\", kind, id, action, columns, node, at FROM change_feed \
    WHERE seq > ?1 ORDER BY seq LIMIT ?2";

/// An entry by which a process recognises that the feed still is the one that it has read. A database that loses commits
/// (a replica that lacked the newest ones takes over, an older copy is restored) gives their numbers to other commits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The number of the entry; 0: there was none.
    pub seq: i64,
    /// Its commit, node and time, where it was read. Otherwise the process has written it itself.
    read: Option<[i64; 3]>,
}

impl Mark {
    /// An entry of an own commit.
    pub fn own(seq: i64) -> Mark {
        Mark { seq, read: None }
    }

    /// An entry as it was read: its number, and the rest from this place of the row on.
    fn read(row: &Row, rest: [usize; 3]) -> Mark {
        Mark { seq: int(row, 0), read: Some(rest.map(|place| int(row, place))) }
    }

    /// From the row of [`NEWEST`], if there is one.
    pub fn newest(rows: &[Row]) -> Mark {
        rows.first().map_or(Mark::default(), |row| Mark::read(row, [1, 2, 3]))
    }

    /// Whether the entry that is there now, three values of a row from this place on, is the same. `own` is what entries of
    /// this process have as their node.
    pub fn is(&self, row: Option<&Row>, place: usize, own: i64) -> bool {
        let there = row.filter(|row| matches!(row.get(place), Some(DbValue::Int(_))));
        match (there.map(|row| [0, 1, 2].map(|offset| int(row, place + offset))), self.read) {
            _ if self.seq == 0 => true,
            (None, _) => false,
            (Some(there), Some(read)) => there == read,
            // A process takes notice of what was lost before it writes again, so no later entry with this number is its own.
            (Some([_, node, _]), None) => node == own,
        }
    }
}

/// The state of the feed that a process has taken up.
#[derive(Clone, Copy, Debug, Default)]
pub struct FeedPosition {
    /// The newest entry that it has taken up.
    pub mark: Mark,
    pub commits: u64,
}

impl FeedPosition {
    /// Whether there is something new, by a row of [`COMMITS_AND_ENTRY`]: further commits, or others than before.
    pub fn is_behind(&self, row: Option<&Row>, own: i64) -> bool {
        row.map_or(0, |row| int(row, 0)) as u64 > self.commits || !self.mark.is(row, 1, own)
    }
}

/// Commits of other processes since then.
pub struct FeedUpdate {
    known: FeedPosition,
    pub words: Words,
    /// The versions of all scopes.
    pub numbers: Vec<(Name, u64)>,
    /// Commits that these versions count.
    there: u64,
    /// The newest entry; later ones may be of later commits.
    newest: Mark,
    entries: Vec<Row>,
    /// The entry with the number of the one that was taken up last.
    last: Option<Row>,
}

impl FeedUpdate {
    /// The statements that give it, with their values. Each may see a later state than the one before.
    pub fn statements(known: FeedPosition) -> [(&'static str, Vec<i64>); 5] {
        let seq = known.mark.seq;
        let after = (AFTER, vec![seq, AT_ONCE as i64 + 1]);
        [(NEWEST, vec![]), (VERSIONS, vec![]), after, (WORDS, vec![]), (ENTRY, vec![seq])]
    }

    /// From the rows of [`FeedUpdate::statements`].
    pub fn of(known: FeedPosition, found: Vec<Vec<Row>>) -> FeedUpdate {
        let mut found = found.into_iter();
        let mut next = || found.next().unwrap_or_default();
        let (newest, versions, entries, dictionary, last) = (next(), next(), next(), next(), next());
        let mut words = Words::default();
        for row in &dictionary {
            words.insert(int(row, 0), text_at(row, 1).unwrap_or_default());
        }
        let version = |row: &Row| (text_at(row, 0).unwrap_or_default(), int(row, 1) as u64);
        let numbers: Vec<(Name, u64)> = versions.iter().map(version).collect();
        let there = numbers.iter().find(|(scope, _)| **scope == *COMMITS).map_or(0, |(_, n)| *n);
        let (newest, last) = (Mark::newest(&newest), last.into_iter().next());
        FeedUpdate { known, words, numbers, there, newest, entries, last }
    }

    /// Whether the database has lost commits that were known: what is there now is no continuation of it.
    pub fn is_another_past(&self, own: i64) -> bool {
        !self.known.mark.is(self.last.as_ref(), 0, own)
    }

    /// The last entry of the commits that are taken up. Entries of later ones come again with their versions.
    pub fn mark(&self) -> Mark {
        let taken = self.entries.iter().rev().find(|row| int(row, 1) as u64 <= self.there);
        let taken = taken.map_or(Mark::default(), |row| Mark::read(row, [1, 7, 8]));
        if taken.seq > self.newest.seq { taken } else { self.newest }
    }

    /// The number of [`FeedUpdate::mark`].
    pub fn taken(&self) -> i64 {
        self.mark().seq
    }

    /// The version slots that commits behind the number `known` have raised; `None` where entries are missing or too many.
    /// Nothing of this process depends on a table or a column that it does not know.
    pub fn slots(&self, known: u64, catalogue: &Catalogue) -> Option<Vec<VersionSlot>> {
        if !self.is_complete() {
            return None;
        }
        let mut raised = Vec::new();
        for row in self.entries.iter().filter(|row| int(row, 1) as u64 > known) {
            let Some(table) = self.words.name(int(row, 2)).and_then(|name| catalogue.table(name).ok()) else {
                continue;
            };
            let optional = |place: usize| match row.get(place) {
                Some(DbValue::Int(n)) => Some(*n),
                _ => None,
            };
            let names = text_at(row, 6).unwrap_or_default();
            let entry = Entry {
                columns: names.split(' ').filter_map(|name| table.place(name).ok()).collect(),
                ..Entry::new(Action::named(&text_at(row, 5)?)?, optional(3))
            };
            slots(table, optional(4), &entry, &self.words, &mut raised);
        }
        raised.sort_unstable();
        raised.dedup();
        Some(raised)
    }

    /// Whether there are entries for each commit since.
    fn is_complete(&self) -> bool {
        let new = self.there.saturating_sub(self.known.commits);
        let is_new = |commit: &u64| *commit > self.known.commits && *commit <= self.there;
        let commits: BTreeSet<u64> = self.entries.iter().map(|row| int(row, 1) as u64).filter(is_new).collect();
        let follows = self.entries.first().is_none_or(|row| int(row, 0) == self.known.mark.seq + 1);
        follows && self.entries.len() <= AT_ONCE && commits.len() as u64 == new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: [i64; 4]) -> Row {
        values.map(DbValue::Int).into()
    }

    #[test]
    fn an_entry_is_recognised() {
        const OWN: i64 = 7;
        let read = Mark::newest(&[row([20, 9, 3, 1000])]);
        let missing: Row = vec![DbValue::Int(9), DbValue::Null, DbValue::Null, DbValue::Null];
        for (mark, there, same) in [
            (Mark::default(), None, true),
            (Mark::default(), Some(missing.clone()), true),
            (read, Some(row([9, 9, 3, 1000])), true),
            // The same node has written another commit at another time.
            (read, Some(row([9, 9, 3, 1001])), false),
            (read, Some(row([9, 9, 4, 1000])), false),
            (read, Some(row([9, 8, 3, 1000])), false),
            (read, Some(missing.clone()), false),
            (read, None, false),
            (Mark::own(20), Some(row([9, 9, OWN, 1000])), true),
            (Mark::own(20), Some(row([9, 9, 3, 1000])), false),
            (Mark::own(20), Some(missing), false),
        ] {
            assert_eq!(mark.is(there.as_ref(), 1, OWN), same, "{mark:?} {there:?}");
        }
        let known = FeedPosition { mark: read, commits: 9 };
        assert!(!known.is_behind(Some(&row([9, 9, 3, 1000])), OWN));
        assert!(known.is_behind(Some(&row([10, 9, 3, 1000])), OWN));
        assert!(known.is_behind(Some(&row([8, 9, 4, 1000])), OWN));
    }
}
