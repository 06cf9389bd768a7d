//! The inert vocabulary between the engine and a database: what to read, what to write, what tables there are.
//!
//! Plans are data: they hold no SQL, no connection and no decision that needs the database. Identifiers in them come
//! from the declarations only; values are always bound. Statuses, kinds and relations travel by their neutral names.

use std::fmt;
use std::sync::Arc;

/// A table or column name. Made from declarations, never from a request.
pub type Name = Arc<str>;

/// The column that counts how often a row was changed. No property has a name that begins like this.
pub const VERSION: &str = "_version";

/// A value in a row.
#[derive(Clone, Debug, PartialEq)]
pub enum DbValue {
    Null,
    Int(i64),
    Real(f64),
    Text(Arc<str>),
}

/// One row: values in the order of the plan's `columns`.
pub type Row = Vec<DbValue>;

// ------------------------------------------------------------------------------------------------ tables

/// The type of a column's values. `Word` is text of a closed vocabulary (kind, status), stored as its number in the dictionary;
/// `Key` is text that was folded by the caller for comparing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    Int,
    Real,
    Text,
    Word,
    Key,
    Json,
}

/// A column of a declared table. A column may be null unless it has a default.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDef {
    pub name: Name,
    pub ty: ColumnType,
    pub default: Option<DbValue>,
    /// The column's name before it was renamed in the declarations.
    pub was: Option<Name>,
    /// The rule for declared values; `None`: any value of the type.
    pub rule: Option<ValueRule>,
}

/// See [`ValueRule::convert`].
pub type Convert = dyn Fn(&str, &DbValue) -> Option<DbValue> + Send + Sync;

/// The rule for values of a declared column. A change of the declaration makes stored values be checked again.
#[derive(Clone)]
pub struct ValueRule {
    /// The declaration, as far as it decides about values. Two rules with one definition are equal.
    pub definition: Name,
    /// A stored value as this declaration stores it, given the definition that it was stored by; `None`: it takes none such.
    pub convert: Arc<Convert>,
    /// Rows have to have a value.
    pub required: bool,
    /// The value of rows that have none when the column is made, or begins to be required.
    pub fill: Option<DbValue>,
}

impl ValueRule {
    /// The definition of lists of references: their values are given as JSON lists of keys.
    pub const LINKS: &str = "links";
    /// The prefix of a column's definition of which only the type is known, which follows.
    pub const OF_TYPE: &str = "type ";
}

impl PartialEq for ValueRule {
    fn eq(&self, other: &ValueRule) -> bool {
        (&self.definition, &self.fill) == (&other.definition, &other.fill)
    }
}

impl fmt::Debug for ValueRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ValueRule").field(&self.definition).field(&self.fill).finish()
    }
}

/// An index; `columns` with `true` for descending. A `partial` one holds only rows whose last column is above 0.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexDef {
    pub name: Name,
    pub columns: Vec<(Name, bool)>,
    pub unique: bool,
    pub partial: bool,
}

/// A table and what the writer updates with it.
#[derive(Clone, Debug, PartialEq)]
pub struct TableDef {
    pub name: Name,
    /// The primary key's column and type (`Int` or `Text`).
    pub key: ColumnDef,
    /// The sequence that new ids come from; tables may share one. `None`: the key is always given.
    pub space: Option<Name>,
    pub columns: Vec<ColumnDef>,
    pub indexes: Vec<IndexDef>,
    /// Has a column [`VERSION`] that every write of the row raises by one (starting at 1).
    pub versioned: bool,
    /// For extension tables (`x_<kind>`): the table whose key this table's key equals. Rows live and die with it.
    pub extends: Option<Name>,
    /// The kind of the rows of a declared table.
    pub kind: Option<Name>,
    /// The states of the rows of a declared table.
    pub states: Option<States>,
}

/// A text column with few values by which lists select rows, such as `draft` and `publish`. Rows are counted by it as they
/// are written, and relations can copy it into their edges.
#[derive(Clone, Debug, PartialEq)]
pub struct States {
    pub column: Name,
    /// The values that are declared.
    pub values: Vec<Name>,
}

impl TableDef {
    /// Whether the table was declared with a kind, rather than shared by a family.
    pub fn is_declared(&self) -> bool {
        self.name.starts_with("x_")
    }

    /// Whether the rows without a value of a column are last in both directions: so it is in declared columns, whose
    /// extension is named before a dot. Elsewhere null is the least.
    pub fn unset_last(&self, column: &str) -> bool {
        column.contains('.') || (self.is_declared() && *column != *self.key.name)
    }
}

/// A relation of the edge table.
#[derive(Clone, Debug, PartialEq)]
pub struct RelationDef {
    /// Stable neutral name, e.g. `post.categories`.
    pub name: Name,
    /// Table of the sources and of the targets.
    pub src: Name,
    pub dst: Name,
    /// Columns of the source row that the edge copies (`status`, then the sort value).
    pub status: Option<Name>,
    pub sort: Option<Name>,
    /// Count sources per target in this integer column of the target's table, of those with one of these statuses.
    pub counted: Option<Counted>,
    /// The kind of all its sources, where no other relation leads to its targets: what is counted there are its own.
    pub only_kind: Option<Name>,
    /// The targets are keys inside a value: edges follow from what is written there.
    pub inside: Option<crate::InnerKeys>,
}

/// See [`RelationDef::counted`].
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    pub column: Name,
    pub statuses: Vec<Name>,
}

/// Keeps `column` of `parent` rows equal to the number of rows of `table` whose `reference` names the parent and whose
/// `status` is one of `statuses` (e.g. approved comments per record).
#[derive(Clone, Debug, PartialEq)]
pub struct CountDef {
    pub table: Name,
    pub reference: Name,
    pub status: Name,
    pub statuses: Vec<Name>,
    pub parent: Name,
    pub column: Name,
}

/// All that a database must hold. Boot compares its fingerprint with the stored one and migrates additively.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Layout {
    pub tables: Vec<TableDef>,
    pub relations: Vec<RelationDef>,
    pub counts: Vec<CountDef>,
    /// Columns by table whose texts are searched by their parts.
    pub searched: Vec<(Name, Vec<Name>)>,
    /// References of declared properties, to recognise one that is declared again over values for another target.
    pub references: Vec<Reference>,
}

impl Layout {
    /// The table of this name.
    pub fn table(&self, name: &str) -> Option<&TableDef> {
        self.tables.iter().find(|table| *table.name == *name)
    }

    /// A column by the name that plans of a table have for it, with the table that it is in.
    pub fn column(&self, table: &str, column: &str) -> Option<(&TableDef, &ColumnDef)> {
        let (table, column) = column.split_once('.').unwrap_or((table, column));
        let table = self.table(table)?;
        let found = table.columns.iter().find(|own| *own.name == *column);
        Some((table, found.or_else(|| (*table.key.name == *column).then_some(&table.key))?))
    }
}

/// A property that refers to rows of another resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    pub table: Name,
    pub values: ReferenceValues,
    /// The kind of the rows that it refers to.
    pub to: Name,
    /// Former name of the relation.
    pub was: Option<Name>,
    /// The declared table of the rows, and the column that the property has there where it is no list of references.
    pub own: Name,
    pub column: Name,
}

/// Where the keys of a [`Reference`] are.
#[derive(Clone, Debug, PartialEq)]
pub enum ReferenceValues {
    Column(Name),
    /// The edges of this relation.
    Relation(Name),
}

// ------------------------------------------------------------------------------------------------ reading

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// A condition on the rows of one table. `All([])` is true, `Any([])` is false.
#[derive(Clone, Debug, PartialEq)]
pub enum Cond {
    All(Vec<Cond>),
    Any(Vec<Cond>),
    Not(Box<Cond>),
    Compare(Name, Op, DbValue),
    /// The column's value is one of these. The list may hold 100,000 entries and never changes the SQL's shape.
    In(Name, Vec<DbValue>),
    IsNull(Name),
    /// `needle` occurs in one of the columns; both sides folded (case and accents removed).
    Contains(Vec<Name>, Arc<str>),
    /// One of the columns is the text; both sides folded.
    Same(Vec<Name>, Arc<str>),
    /// The column contains space-separated words (` a b `) and this is one of them.
    HasWord(Name, Arc<str>),
    /// The column contains a JSON list with one of these values.
    HasMember(Name, Vec<DbValue>),
    /// A row of `table` exists whose `inner` column equals this row's `outer` column and that meets `filter`.
    Related {
        table: Name,
        inner: Name,
        outer: Name,
        filter: Box<Cond>,
    },
    /// An edge of relation `rel` goes from this row to one of `dst`.
    Linked {
        rel: Name,
        dst: Vec<i64>,
    },
    /// An edge of relation `rel` leads to this row from one of `src`.
    LinkedFrom {
        rel: Name,
        src: Vec<i64>,
    },
    /// An edge of relation `rel` goes from this row to a row of `table` that meets `filter`.
    LinkedTo {
        rel: Name,
        table: Name,
        filter: Box<Cond>,
    },
}

impl Cond {
    /// The conditions that must all hold, nested ones included.
    pub fn conjuncts(&self) -> Vec<&Cond> {
        match self {
            Cond::All(conds) => conds.iter().flat_map(Cond::conjuncts).collect(),
            other => vec![other],
        }
    }

    /// Whether no row that meets it lacks a value of the column.
    pub(crate) fn has_value(&self, column: &Name) -> bool {
        match self {
            Cond::Compare(name, op, value) => name == column && *op != Op::Ne && *value != DbValue::Null,
            Cond::In(name, values) => name == column && !values.contains(&DbValue::Null),
            Cond::Not(cond) => matches!(&**cond, Cond::IsNull(name) if name == column),
            _ => false,
        }
    }
}

/// A sort key; `true` is descending. Ties are broken by the key column in the direction of the first entry.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    Column(Name, bool),
    /// In the order of this list (values not in it are last).
    Given(Name, Vec<DbValue>),
    /// Rows for which the condition holds are first.
    First(Cond),
}

/// Rows to read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadPlan {
    pub table: Name,
    /// Extension tables joined on the key; their columns are named `table.column` in `columns`, conditions and order.
    pub extensions: Vec<Name>,
    pub columns: Vec<Name>,
    pub filter: Cond,
    pub order: Vec<Order>,
    pub limit: Option<u64>,
    pub offset: u64,
    /// Rows are grouped by where the column's integer is rounded down to a multiple of this; see [`crate::snapshot::Snapshot::groups`].
    pub width: Option<u32>,
}

/// Edges to read: `(src, dst)` of a relation for many sources (or targets) at once, by source, then position.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgePlan {
    pub rels: Vec<Name>,
    /// Rows whose edges are requested; `reverse` reads edges that lead to them.
    pub of: Vec<i64>,
    pub reverse: bool,
}

/// One edge read.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    pub rel: Name,
    pub src: i64,
    pub dst: i64,
}

/// One meta value read: JSON text.
#[derive(Clone, Debug, PartialEq)]
pub struct MetaRow {
    pub id: i64,
    pub key: Arc<str>,
    /// No other value has it, and none gets it after this one is gone.
    pub number: i64,
    pub json: Arc<str>,
}

/// How many revisions a row has, autosaves among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RevisionCount {
    pub of: i64,
    pub count: i64,
    /// Id of the newest.
    pub newest: i64,
}

// ------------------------------------------------------------------------------------------------ writing

/// Changes that happen together or not at all, in this order.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct WritePlan {
    pub changes: Vec<Change>,
    /// The user who causes them, for the change feed.
    pub actor: Option<i64>,
    /// How many webhooks, one after the other, led to them, for the change feed; 0: none.
    pub depth: i64,
    /// Columns of the first put's row that the caller wants to know afterwards, named as in a [`ReadPlan`].
    pub returning: Vec<Name>,
}

impl WritePlan {
    /// Changes that nobody in particular causes.
    pub fn new(changes: Vec<Change>) -> WritePlan {
        WritePlan { changes, actor: None, depth: 0, returning: Vec::new() }
    }

    /// The same changes, caused by a user, after so many webhooks.
    pub fn by(self, actor: Option<i64>, depth: i64) -> WritePlan {
        WritePlan { actor, depth, ..self }
    }

    /// The same changes; the caller wants to know these columns of the first put's row.
    pub fn returning(self, columns: &[Name]) -> WritePlan {
        WritePlan { returning: columns.to_vec(), ..self }
    }
}

/// One change. The writer derives row versions, edges' copies, counts, slug claims and scope versions from it.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Stop with [`CommitError::Refused`] and `tag` unless `plan` finds a row (`found: true`) or finds none (`found: false`).
    Require {
        plan: ReadPlan,
        found: bool,
        tag: &'static str,
    },
    Put(Put),
    /// Deletes one row with all that belongs to it: extension rows, edges both ways, meta, slug claims, revisions.
    Remove {
        table: Name,
        key: DbValue,
        expect: Option<i64>,
    },
    /// Sets columns in every row that meets the filter (versions rise).
    UpdateWhere {
        table: Name,
        filter: Cond,
        set: Vec<(Name, DbValue)>,
    },
    /// Deletes every row that meets the filter, each as [`Change::Remove`] does.
    RemoveWhere {
        table: Name,
        filter: Cond,
    },
    /// Removes all edges of `rel` to `dst`; a source that has no other edge of `rel` then gets one to `instead`.
    Unlink {
        rel: Name,
        dst: i64,
        instead: Option<i64>,
    },
    /// Sets a document of the `setting` table; `None` deletes it.
    Setting {
        key: Name,
        json: Option<Arc<str>>,
    },
    /// Sets members of such a document, as it is when the plan is carried out; the others stay.
    SettingMembers {
        key: Name,
        members: serde_json::Map<String, serde_json::Value>,
    },
}

/// Creates or updates one row.
#[derive(Clone, Debug, PartialEq)]
pub struct Put {
    pub table: Name,
    pub target: Target,
    /// Columns of the table, and of its extensions as `table.column`.
    pub set: Vec<(Name, Input)>,
    pub slug: Option<SlugClaim>,
    /// For each relation named: the row's edges are exactly these, in this order.
    pub edges: Vec<(Name, Vec<i64>)>,
    pub meta: Vec<MetaChange>,
    /// A put of an existing row that brings nothing but revisions leaves the row, its version and the scope versions alone.
    pub revisions: Vec<RevisionPut>,
}

impl Put {
    /// A put of columns alone.
    pub fn new(table: impl Into<Name>, target: Target, set: Vec<(Name, Input)>) -> Put {
        let table = table.into();
        Put { table, target, set, slug: None, edges: Vec::new(), meta: Vec::new(), revisions: Vec::new() }
    }
}

/// A change of the meta values of a row; values are JSON text.
#[derive(Clone, Debug, PartialEq)]
pub enum MetaChange {
    /// The values under the key are exactly these; none deletes the key. A value that replaces another one, by its place
    /// in the order, has the number of that.
    Key(Name, Vec<Arc<str>>),
    /// One more value under the key.
    Add(Name, Arc<str>),
    /// The row's value with this number becomes another one; without such a value nothing happens.
    Set(i64, Arc<str>),
    /// The row's value with this number is deleted.
    Remove(i64),
}

/// Which row a [`Put`] writes.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A new row with the next id of the table's space.
    New,
    /// A new row with this key (imports, text keys); a space's sequence moves past it. Taken: refused as `key_taken`.
    Keyed(DbValue),
    /// An existing row; `expect` is the version that the decision was made on.
    Existing { key: DbValue, expect: Option<i64> },
}

/// The value that a column is set to.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Value(DbValue),
    /// The id that the n-th [`Put`] of this plan (from 0) received.
    IdOf(usize),
    /// Text whose parts are known only in the transaction.
    Text(Vec<Piece>),
    /// The column's present value plus this.
    Add(i64),
}

/// See [`Input::Text`].
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    Literal(Arc<str>),
    /// The row's id.
    Id,
    /// The slug that the row was given.
    Slug,
}

/// A slug for the row. The first free candidate is taken; when none is free, the last one gets the smallest free
/// suffix `-2`, `-3`, … (the whole at most 200 bytes), or the plan is refused.
#[derive(Clone, Debug, PartialEq)]
pub struct SlugClaim {
    /// The column that receives it.
    pub column: Name,
    /// `None`: the first candidate is written and nothing is claimed (drafts, trash); a claim held before is released.
    pub scope: Option<Arc<str>>,
    /// [`SlugClaim::ID`] is the row's id, which a new row gets with the commit.
    pub candidates: Vec<Arc<str>>,
    /// The last candidate is not taken as it is: it gets a suffix.
    pub reserved: bool,
    /// Refuse with this tag instead of adding a suffix; the row of the refusal is the holder's id.
    pub refuse: Option<&'static str>,
    /// Most bytes of the slug with its suffix.
    pub longest: usize,
}

impl SlugClaim {
    /// No slug that is made from a text has braces.
    pub const ID: &'static str = "{id}";
    /// Most bytes of most slugs.
    pub const LONGEST: usize = 200;
}

/// A snapshot to store with the row.
#[derive(Clone, Debug, PartialEq)]
pub struct RevisionPut {
    pub author: i64,
    /// UTC seconds.
    pub at: i64,
    /// At most one per record and author: replaces the one before.
    pub autosave: bool,
    pub json: Arc<str>,
    /// Delete the oldest (not autosaves) beyond this many.
    pub keep: Option<u32>,
    /// Write nothing when the newest revision (not autosave) holds the same JSON.
    pub skip_same: bool,
}

/// The result of a commit, one entry per [`Change::Put`], in order.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Committed {
    pub puts: Vec<PutDone>,
    /// Rows that [`Change::UpdateWhere`], [`Change::RemoveWhere`] and [`Change::Unlink`] touched, summed.
    pub touched: u64,
    /// The first put's row in the columns of [`WritePlan::returning`], those without a change `None`; `None`: read it.
    pub row: Option<Vec<Option<DbValue>>>,
}

/// See [`Committed`].
#[derive(Clone, Debug, PartialEq)]
pub struct PutDone {
    pub key: DbValue,
    /// 0 for tables without versions.
    pub version: i64,
    pub slug: Option<Arc<str>>,
    /// The last revision written, if one was.
    pub revision: Option<i64>,
}

/// Why a plan was not carried out. Nothing of it was written.
#[derive(Clone, Debug, PartialEq)]
pub enum CommitError {
    /// A rule of the plan: its tag, and the row found. `duplicate`: of a unique index, the row is its first column's name.
    Refused { tag: &'static str, row: Option<Row> },
    /// The row is not at the expected version (or is gone): decide again.
    Stale,
    /// The queue is full.
    Busy,
    /// The database does not take writes: why (for the log).
    Unavailable(String),
    /// Whether the plan was carried out is not known: why (for the log).
    Unknown(String),
    /// Anything else: why (for the log).
    Failed(String),
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommitError::Refused { tag: "duplicate", row: Some(row) } => match row.first() {
                Some(DbValue::Text(column)) => write!(f, "another row has the same value in {column}"),
                _ => f.write_str("another row has the same value"),
            },
            CommitError::Refused { tag: "key_taken" | "duplicate", .. } => f.write_str("such a row is there already"),
            CommitError::Refused { .. } | CommitError::Stale => f.write_str("others changed its rows; try again"),
            CommitError::Busy => f.write_str("too many writes wait for their turn; try again"),
            CommitError::Unavailable(why) | CommitError::Unknown(why) | CommitError::Failed(why) => f.write_str(why),
        }
    }
}
