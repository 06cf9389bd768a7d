//! The layout made ready for use: tables, columns and relations by name, and what a write of each has to update.
//!
//! Adds the tables that storage maintains beside the declared ones and lets plans read. Knows no SQL and no connection.

use super::plan::{
    ColumnDef, ColumnType, CountDef, Counted, DbValue, IndexDef, Layout, Name, RelationDef, TableDef, VERSION,
};
use crate::error::StorageError;
use std::collections::HashMap;
use std::sync::Arc;

/// A place in [`Catalogue::tables`].
pub(super) type TableId = usize;
/// A place in [`Catalogue::relations`].
pub(super) type RelationId = usize;

/// Tables whose rows only the writer makes, though plans may read them.
const COMPANIONS: [&str; 4] = [META, SLUG, TALLY, CHANGE_FEED];

/// The table of the change feed.
pub(super) const CHANGE_FEED: &str = "change_feed";

/// The table of claimed slugs.
pub(super) const SLUG: &str = "slug";
/// The table of tallies.
pub(super) const TALLY: &str = "tally";

/// The table of revisions.
pub(super) const REVISION: &str = "revision";
/// The table of further values of rows; also the space that their numbers come from.
pub(super) const META: &str = "meta";

/// See the module.
pub(super) struct Catalogue {
    pub tables: Vec<Table>,
    pub relations: Vec<Relation>,
    tables_by_name: HashMap<Name, TableId>,
    relations_by_name: HashMap<Name, RelationId>,
}

/// A table and everything that depends on it.
pub(super) struct Table {
    pub id: TableId,
    pub def: TableDef,
    columns: HashMap<Name, usize>,
    /// Tables that extend this one.
    pub extensions: Vec<TableId>,
    /// The space of the companion rows of this table's rows.
    pub space: Name,
    /// Columns whose change has consequences elsewhere: places in `def.columns`.
    pub tracked: Vec<usize>,
    pub tally: Option<Tally>,
    /// Place in `tracked` of the `kind` column.
    pub kind: Option<usize>,
    pub former: PreviousPlaces,
    /// Relations whose sources (targets) are rows of this table.
    pub outgoing: Vec<RelationId>,
    pub incoming: Vec<RelationId>,
    pub counts: Vec<Count>,
    /// Columns that the writer counts into.
    pub counted: Vec<Name>,
    /// Columns whose texts are searched by their parts: positions in `def.columns`.
    pub searched: Vec<usize>,
    /// Place in `def.columns` of the column that every write of a row raises.
    pub version: Option<usize>,
    /// Rows are made by the writer alone.
    pub companion: bool,
}

/// Places in `tracked` of what the table's rows are tallied by; without any of them, all rows are one number.
pub(super) struct Tally {
    pub kind: Option<usize>,
    pub status: Option<usize>,
    pub author: Option<usize>,
}

/// Places in `tracked` of what the change feed says of rows as they were.
#[derive(Default)]
pub(super) struct PreviousPlaces {
    pub slug: Option<usize>,
    /// The taxonomy of terms.
    pub class: Option<usize>,
    pub author: Option<usize>,
}

/// A [`CountDef`]; `reference` and `status` are places in `tracked`.
pub(super) struct Count {
    pub def: CountDef,
    pub reference: usize,
    pub status: usize,
    pub parent: TableId,
}

/// A [`RelationDef`]; `status` and `sort` are places in the source table's `tracked`.
pub(super) struct Relation {
    pub def: RelationDef,
    pub src: TableId,
    pub dst: TableId,
    pub status: Option<usize>,
    pub sort: Option<usize>,
}

impl Catalogue {
    /// Resolves a layout. The error says what in it does not fit together.
    pub fn new(layout: &Layout) -> Result<Catalogue, StorageError> {
        let mut tables: Vec<Table> = layout.tables.iter().cloned().chain(builtin_tables()).map(Table::new).collect();
        let mut tables_by_name = HashMap::new();
        for (id, table) in tables.iter_mut().enumerate() {
            table.id = id;
            if tables_by_name.insert(table.def.name.clone(), id).is_some() {
                return Err(StorageError::Failed(format!("the table {} is declared twice", table.def.name)));
            }
        }
        for table in &mut tables {
            table.track_states()?;
        }
        let mut catalogue =
            Catalogue { tables, relations: Vec::new(), tables_by_name, relations_by_name: HashMap::new() };
        catalogue.link_extensions()?;
        catalogue.link_relations(&layout.relations)?;
        catalogue.link_counts(&layout.counts)?;
        for (table, columns) in &layout.searched {
            let table = catalogue.table(table)?.id;
            let places = columns.iter().map(|column| catalogue.tables[table].place(column));
            catalogue.tables[table].searched = places.collect::<Result<_, _>>()?;
        }
        Ok(catalogue)
    }

    /// The table of this name.
    pub fn table(&self, name: &str) -> Result<&Table, StorageError> {
        let id =
            self.tables_by_name.get(name).ok_or_else(|| StorageError::Failed(format!("there is no table {name}")))?;
        Ok(&self.tables[*id])
    }

    /// The relation of this name.
    pub fn relation(&self, name: &str) -> Result<(RelationId, &Relation), StorageError> {
        let id = self
            .relations_by_name
            .get(name)
            .ok_or_else(|| StorageError::Failed(format!("there is no relation {name}")))?;
        Ok((*id, &self.relations[*id]))
    }

    /// Every word that the declarations themselves bring: names of tables, spaces and relations, counted statuses.
    pub fn words(&self) -> Vec<Name> {
        let mut words: Vec<Name> = Vec::new();
        for table in &self.tables {
            words.push(table.def.name.clone());
            words.push(table.space.clone());
            words.extend(table.counts.iter().flat_map(|c| c.def.statuses.iter().cloned()));
            words.extend(table.def.states.iter().flat_map(|states| states.values.iter().cloned()));
        }
        for relation in &self.relations {
            words.push(relation.def.name.clone());
            words.extend(relation.def.counted.iter().flat_map(|c| c.statuses.iter().cloned()));
        }
        words
    }

    fn link_extensions(&mut self) -> Result<(), StorageError> {
        for id in 0..self.tables.len() {
            let Some(base) = self.tables[id].def.extends.clone() else { continue };
            let base = self.table(&base)?.id;
            self.tables[base].extensions.push(id);
        }
        Ok(())
    }

    fn link_relations(&mut self, relations: &[RelationDef]) -> Result<(), StorageError> {
        for def in relations {
            let id = self.relations.len();
            let (src, dst) = (self.table(&def.src)?.id, self.table(&def.dst)?.id);
            if let Some(Counted { column, .. }) = &def.counted {
                self.tables[dst].count_into(column)?;
            }
            let status = def.status.as_ref().map(|c| self.tables[src].track(c)).transpose()?;
            let sort = def.sort.as_ref().map(|c| self.tables[src].track(c)).transpose()?;
            self.tables[src].outgoing.push(id);
            self.tables[dst].incoming.push(id);
            if self.relations_by_name.insert(def.name.clone(), id).is_some() {
                return Err(StorageError::Failed(format!("the relation {} is declared twice", def.name)));
            }
            self.relations.push(Relation { def: def.clone(), src, dst, status, sort });
        }
        Ok(())
    }

    fn link_counts(&mut self, counts: &[CountDef]) -> Result<(), StorageError> {
        for def in counts {
            let parent = self.table(&def.parent)?.id;
            self.tables[parent].count_into(&def.column)?;
            let table = self.table(&def.table)?.id;
            let reference = self.tables[table].track(&def.reference)?;
            let status = self.tables[table].track(&def.status)?;
            self.tables[table].counts.push(Count { def: def.clone(), reference, status, parent });
        }
        Ok(())
    }
}

impl Table {
    /// The name that an index of the table has in a database.
    pub fn index_name(&self, index: &IndexDef) -> String {
        format!("{}__{}", self.def.name, index.name)
    }

    fn new(mut def: TableDef) -> Table {
        if def.versioned {
            def.columns.push(column(VERSION, ColumnType::Int).with_default(DbValue::Int(1)));
        }
        let columns: HashMap<Name, usize> = def.columns.iter().enumerate().map(|(i, c)| (c.name.clone(), i)).collect();
        let version = columns.get(VERSION).copied().filter(|_| def.versioned);
        let mut table = Table {
            id: 0,
            columns,
            extensions: Vec::new(),
            space: def.space.clone().unwrap_or_else(|| def.name.clone()),
            tracked: Vec::new(),
            tally: None,
            kind: None,
            former: PreviousPlaces::default(),
            outgoing: Vec::new(),
            incoming: Vec::new(),
            counts: Vec::new(),
            counted: Vec::new(),
            searched: Vec::new(),
            version,
            companion: COMPANIONS.contains(&&*def.name),
            def,
        };
        table.track_kinds();
        table.track_former();
        table
    }

    /// The column of this name, the key included.
    pub fn column(&self, name: &str) -> Result<&ColumnDef, StorageError> {
        if &*self.def.key.name == name {
            return Ok(&self.def.key);
        }
        Ok(&self.def.columns[self.place(name)?])
    }

    /// The place of a column that is not the key.
    pub fn place(&self, name: &str) -> Result<usize, StorageError> {
        self.columns
            .get(name)
            .copied()
            .ok_or_else(|| StorageError::Failed(format!("the table {} has no column {name}", self.def.name)))
    }

    /// The columns of which the writer knows the values before it writes a row: the tracked ones, and the version.
    pub fn state_columns(&self) -> impl Iterator<Item = &str> {
        self.tracked.iter().chain(&self.version).map(|place| &*self.def.columns[*place].name)
    }

    fn count_into(&mut self, name: &Name) -> Result<(), StorageError> {
        self.place(name)?;
        if !self.counted.contains(name) {
            self.counted.push(name.clone());
        }
        Ok(())
    }

    fn track(&mut self, name: &str) -> Result<usize, StorageError> {
        let place = self.place(name)?;
        if let Some(at) = self.tracked.iter().position(|p| *p == place) {
            return Ok(at);
        }
        self.tracked.push(place);
        Ok(self.tracked.len() - 1)
    }

    fn track_kinds(&mut self) {
        let of_type = |t: &Table, name: &str, ty| t.column(name).is_ok_and(|c| c.ty == ty);
        if self.companion || !of_type(self, "kind", ColumnType::Word) {
            return;
        }
        self.kind = self.track("kind").ok();
        if of_type(self, "status", ColumnType::Word) {
            let author = of_type(self, "author", ColumnType::Int).then(|| self.track("author").ok()).flatten();
            if let (Some(kind), Ok(status)) = (self.kind, self.track("status")) {
                self.tally = Some(Tally { kind: Some(kind), status: Some(status), author });
            }
        }
    }

    /// Follows what tells of a row that is gone what it was.
    fn track_former(&mut self) {
        if self.companion || self.def.extends.is_some() {
            return;
        }
        let mut place = |name: &str, ty| {
            let has = self.column(name).is_ok_and(|column| column.ty == ty);
            has.then(|| self.track(name).ok()).flatten()
        };
        let slug = place("slug", ColumnType::Text);
        let class = place("taxonomy", ColumnType::Word);
        let author = self.tally.as_ref().and_then(|tally| tally.author);
        self.former = PreviousPlaces { slug, class, author };
    }

    /// Declared tables with rows of their own are tallied by their states.
    fn track_states(&mut self) -> Result<(), StorageError> {
        if self.def.is_declared() && self.def.extends.is_none() {
            let states = self.def.states.as_ref().map(|states| states.column.clone());
            let status = states.map(|column| self.track(&column)).transpose()?;
            self.tally = Some(Tally { kind: None, status, author: None });
        }
        Ok(())
    }
}

/// The tables that storage maintains itself and that plans may read; `revision` and `origin` they may write, too.
pub fn builtin_tables() -> Vec<TableDef> {
    vec![revision_table(), origin_table(), meta_table(), slug_table(), tally_table(), change_feed_table()]
}

/// `revision`: snapshots of rows. `of` is the row's id, `space` the space of its companion rows, `id` comes
/// from that space. Ids of different spaces may be equal, so the key is a number of its own.
fn revision_table() -> TableDef {
    let mut table = table(
        REVISION,
        column("number", ColumnType::Int),
        vec![
            column("id", ColumnType::Int),
            column("space", ColumnType::Word),
            column("of", ColumnType::Int),
            column("author", ColumnType::Int),
            column("at", ColumnType::Int),
            column("autosave", ColumnType::Int).with_default(DbValue::Int(0)),
            column("json", ColumnType::Json),
        ],
        vec![index("id", &["space", "id"], true), index("of", &["space", "of", "autosave", "at", "id"], false)],
    );
    table.space = Some(REVISION.into());
    table
}

/// `origin`: what an import brought under which name (`source` is the import, `table` and `row` what it became).
fn origin_table() -> TableDef {
    let mut table = table(
        "origin",
        column("id", ColumnType::Int),
        vec![
            column("source", ColumnType::Text),
            column("source_key", ColumnType::Text),
            column("table", ColumnType::Word),
            column("row", ColumnType::Int),
        ],
        vec![index("source", &["source", "source_key"], true), index("row", &["table", "row"], false)],
    );
    table.space = Some("origin".into());
    table
}

/// `meta`: further values of rows; `id` is the row's, `n` the number of the value, which no other value has.
fn meta_table() -> TableDef {
    table(
        META,
        column("id", ColumnType::Int),
        vec![
            column("space", ColumnType::Word),
            column("key", ColumnType::Text),
            column("n", ColumnType::Int),
            column("json", ColumnType::Json),
        ],
        Vec::new(),
    )
}

/// `slug`: who claims which slug; `id` is the row's.
fn slug_table() -> TableDef {
    table(
        SLUG,
        column("id", ColumnType::Int),
        vec![column("scope", ColumnType::Text), column("slug", ColumnType::Text), column("table", ColumnType::Word)],
        Vec::new(),
    )
}

/// `tally`: how many rows of a table there are by kind, status and author (see [`super::tally`]).
fn tally_table() -> TableDef {
    let columns = vec![
        column("table", ColumnType::Word),
        column("kind", ColumnType::Word),
        column("status", ColumnType::Word),
        column("author", ColumnType::Int),
    ];
    table(TALLY, column("n", ColumnType::Int), columns, Vec::new())
}

/// `change_feed`: what commits changed (see [`super::feed`]); `at` is in UTC milliseconds, and a row has an `id` or a `key`.
fn change_feed_table() -> TableDef {
    let columns = vec![
        column("in_commit", ColumnType::Int),
        column("at", ColumnType::Int),
        column("node", ColumnType::Int),
        column("table", ColumnType::Word),
        column("kind", ColumnType::Word),
        column("id", ColumnType::Int),
        column("key", ColumnType::Text),
        column("action", ColumnType::Text),
        column("status_before", ColumnType::Word),
        column("status_after", ColumnType::Word),
        column("columns", ColumnType::Text),
        column("actor", ColumnType::Int),
        column("slug_before", ColumnType::Text),
        column("class", ColumnType::Word),
        column("author_before", ColumnType::Int),
        column("depth", ColumnType::Int),
        column("targets_before", ColumnType::Text),
    ];
    table(CHANGE_FEED, column("seq", ColumnType::Int), columns, Vec::new())
}

fn table(name: &str, key: ColumnDef, columns: Vec<ColumnDef>, indexes: Vec<IndexDef>) -> TableDef {
    TableDef {
        name: name.into(),
        key,
        space: None,
        columns,
        indexes,
        versioned: false,
        extends: None,
        kind: None,
        states: None,
    }
}

fn column(name: &str, ty: ColumnType) -> ColumnDef {
    ColumnDef { name: name.into(), ty, default: None, was: None, rule: None }
}

impl ColumnDef {
    fn with_default(mut self, default: DbValue) -> ColumnDef {
        self.default = Some(default);
        self
    }
}

fn index(name: &str, columns: &[&str], unique: bool) -> IndexDef {
    let columns = columns.iter().map(|c| (Arc::from(*c), false)).collect();
    IndexDef { name: name.into(), columns, unique, partial: false }
}
