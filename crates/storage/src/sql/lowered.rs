//! A lowered plan: what a statement is rendered from. No value is left in it but what is bound.

use super::super::catalogue::Table;
use super::super::plan::{ColumnType, DbValue, IndexDef, Op};

/// Something to bind.
#[derive(Clone, Debug, PartialEq)]
pub enum Bind {
    One(DbValue),
    List(Vec<DbValue>),
    /// Values that the members of JSON lists are compared with.
    Members(Vec<DbValue>),
}

/// Text made for a shape.
pub struct Rendered {
    pub text: String,
    /// For each placeholder of the text, in order: which of the lowered plan's binds it takes.
    pub order: Vec<usize>,
    /// For each column of the result: whether it holds words.
    pub words: Vec<bool>,
}

/// The result that is made of the rows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ResultKind {
    Rows,
    /// Rows that are found in the plan's order, whatever else selects them: see [`super::join_order::with_and_without_target`].
    OrderedRows,
    Count,
    /// The sum of the plan's one column.
    Sum,
    /// The values of the plan's one column, or the targets of the relation that is named in its place, each with the number
    /// of rows that have it, the most frequent first.
    Groups,
}

impl ResultKind {
    pub fn is_rows(self) -> bool {
        matches!(self, ResultKind::Rows | ResultKind::OrderedRows)
    }
}

/// The number of a bind.
pub type Placeholder = usize;

/// A lowered plan: no value left in it.
pub struct Lowered<'p> {
    pub table: &'p Table,
    /// Joined on the key, with their aliases.
    pub extensions: Vec<(&'p Table, u32)>,
    /// Empty where rows are counted; the one that is summed where a sum is selected.
    pub columns: Vec<Column<'p>>,
    /// The edges whose targets rows are grouped by: the relation, and the row's own key. The one column is of them.
    pub grouped: Option<(Placeholder, Column<'p>)>,
    pub lead: Option<DrivingSource<'p>>,
    /// The index that rows are read by, where that is not for a planner to choose.
    pub index: Option<&'p IndexDef>,
    pub filter: Vec<Test<'p>>,
    pub order: Vec<Sort<'p>>,
    pub limit: Option<(Placeholder, Placeholder)>,
    pub want: ResultKind,
    /// See [`ReadPlan::width`].
    pub width: Option<u32>,
    pub binds: Vec<Bind>,
}

/// A column of a table with the name `alias`.
#[derive(Clone, Copy)]
pub struct Column<'p> {
    pub alias: u32,
    pub name: &'p str,
    pub ty: ColumnType,
    /// Read in its place where an extension has no row.
    pub default: Option<Placeholder>,
}

/// The table that drives a join (see [`super::join_order`]), lowered.
pub enum DrivingSource<'p> {
    Keys(Placeholder),
    Edges(Edges),
    RowsPerMember(RowsPerMember<'p>),
    /// An extension, by its alias.
    Extension(u32),
}

/// Edges of one target.
pub struct Edges {
    pub index: EdgeParams,
    pub dst: Placeholder,
    /// `Some(descending)` when the plan's order is that of the index on relation, target, status, sort and source.
    pub descending: Option<bool>,
}

/// The parameters that edges are pinned to, their target apart.
pub struct EdgeParams {
    pub rel: Placeholder,
    pub status: EdgeStatus,
}

/// Which of the edges of a target are looked at.
pub enum EdgeStatus {
    /// Those whose sources have this status.
    Of(Placeholder),
    /// All, of a relation that copies no status.
    Unset,
    /// All, whatever status they copy.
    Any,
}

/// The first rows for each member of a list.
pub struct RowsPerMember<'p> {
    pub members: Placeholder,
    pub source: MemberSource<'p>,
    /// The other conditions, on the rows of a member, which go by this alias.
    pub alias: u32,
    pub filter: Vec<Test<'p>>,
    pub descending: bool,
    /// How many rows of each member can be in the window.
    pub most: Placeholder,
}

/// Where the rows for a member come from.
pub enum MemberSource<'p> {
    /// Edges to the member.
    Edges(EdgeParams),
    /// Rows whose first column is the member, by the second.
    Column(Column<'p>, Column<'p>),
}

/// A lowered condition.
pub enum Test<'p> {
    All(Vec<Test<'p>>),
    Any(Vec<Test<'p>>),
    Not(Box<Test<'p>>),
    Compare(Column<'p>, Op, Placeholder),
    /// The text of the statement holds the 0, so that partial indexes serve.
    AboveZero(Column<'p>),
    In(Column<'p>, Placeholder),
    IsNull(Column<'p>),
    Contains(Vec<Column<'p>>, Placeholder),
    Same(Vec<Column<'p>>, Placeholder),
    HasWord(Column<'p>, Placeholder),
    /// The list of values, and the alias of the column's members.
    HasMember(Column<'p>, Placeholder, u32),
    Related {
        table: &'p Table,
        inner: Column<'p>,
        outer: Column<'p>,
        filter: Box<Test<'p>>,
    },
    Linked(Linked<'p>),
    LinkedTo(LinkedTo<'p>),
}

/// Rows at the other end of edges.
pub struct Linked<'p> {
    /// The row's own key.
    pub key: Column<'p>,
    pub rel: Placeholder,
    pub ends: Placeholder,
    /// `ends` is one value, not a list.
    pub one: bool,
    /// The row is the source.
    pub forward: bool,
    /// The ends' rows are gathered first; else each row is probed.
    pub gathered: bool,
    pub alias: u32,
}

/// Rows at the other end of edges, by a condition.
pub struct LinkedTo<'p> {
    /// The row's own key.
    pub key: Column<'p>,
    pub rel: Placeholder,
    /// Alias of the edges.
    pub edges: u32,
    pub table: &'p Table,
    /// The key of the rows at the other end.
    pub end: Column<'p>,
    pub filter: Box<Test<'p>>,
    /// See [`Linked::gathered`].
    pub gathered: bool,
}

/// A lowered sort key.
pub enum Sort<'p> {
    /// Descending; rows without a value last.
    Column(Column<'p>, bool, bool),
    Given(Column<'p>, Placeholder, u32),
    /// In the order of the keys that lead the join.
    Keys,
    First(Test<'p>),
}
