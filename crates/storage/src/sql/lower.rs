//! A read plan's lowered form: what a statement is rendered from, and the key under which its text is cached.
//!
//! One walk resolves every name, brings conditions into canonical form and extracts the values in order, so that the
//! key and the text cannot disagree about what is bound where.

use super::super::catalogue::{Catalogue, Table};
use super::super::plan::{ColumnType, Cond, DbValue, Name, Op, Order, ReadPlan};
use super::super::words::{NO_WORD, Words};
use super::join_order::{self, DrivingTable, EdgeIndex};
use super::lowered::*;
use crate::error::StorageError;
use cms_text::fold;
use std::collections::{BTreeSet, HashSet};

/// Lowers a plan. Fails when it names what the layout does not have.
pub fn lower<'p>(
    plan: &'p ReadPlan,
    want: ResultKind,
    catalogue: &'p Catalogue,
    words: &Words,
) -> Result<Lowered<'p>, StorageError> {
    let table = catalogue.table(&plan.table)?;
    let mut lowering =
        Lowering { catalogue, words, binds: Vec::new(), aliases: 0, extensions: Vec::new(), leading: &[] };
    for name in &plan.extensions {
        let extension = catalogue.table(name)?;
        if extension.def.extends.as_ref() != Some(&plan.table) {
            return Err(StorageError::Failed(format!("the table {name} does not extend {}", plan.table)));
        }
        let alias = lowering.alias();
        lowering.extensions.push((extension, alias));
    }
    let scope = FilterScope { table, alias: 0 };
    let conjuncts = plan.filter.conjuncts();
    let leader = DrivingTable::choose(plan, want, table, &conjuncts, catalogue);
    let (mut columns, mut order, mut limit) = (Vec::new(), Vec::new(), None);
    let mut grouped = None;
    if let (ResultKind::Groups, [rel]) = (want, plan.columns.as_slice())
        && catalogue.relation(rel).is_ok()
    {
        grouped = Some((lowering.bind_word(rel), lowering.key(scope)));
        columns = vec![Column { alias: lowering.alias(), name: "dst", ty: ColumnType::Int, default: None }];
    } else if want != ResultKind::Count {
        columns = plan.columns.iter().map(|c| lowering.column(scope, c)).collect::<Result<_, _>>()?;
    }
    let (lead, filter) = lowering.driven(scope, plan, want, leader.as_ref(), &conjuncts)?;
    if let Some(DrivingTable::Keys { keys, .. }) = &leader {
        lowering.leading = keys;
    }
    if want == ResultKind::Groups
        && let Some(most) = plan.limit
    {
        limit = Some((lowering.bind(DbValue::Int(whole(most))), lowering.bind(DbValue::Int(0))));
    }
    if want.is_rows() {
        if !lead.as_ref().is_some_and(DrivingSource::orders) {
            order = lowering.order(scope, plan, &conjuncts, lead.as_ref())?;
        }
        if plan.limit.is_some() || plan.offset > 0 {
            let most = lowering.bind(DbValue::Int(plan.limit.map_or(i64::MAX, whole)));
            limit = Some((most, lowering.bind(DbValue::Int(whole(plan.offset)))));
        }
    }
    let by_index = want == ResultKind::OrderedRows;
    let index = by_index.then(|| join_order::ordering_index(plan, table, &conjuncts)).flatten();
    let Lowering { binds, extensions, .. } = lowering;
    Ok(Lowered {
        table,
        extensions,
        columns,
        grouped,
        lead,
        index,
        filter,
        order,
        limit,
        want,
        width: plan.width,
        binds,
    })
}

fn whole(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// The column that a window is ordered by first.
fn window_order(plan: &ReadPlan) -> Option<&Name> {
    match plan.order.first() {
        Some(Order::Column(name, _)) if plan.limit.is_some() => Some(name),
        _ => None,
    }
}

impl DrivingSource<'_> {
    /// Whether rows are in the plan's order already.
    fn orders(&self) -> bool {
        matches!(self, DrivingSource::Edges(Edges { descending: Some(_), .. }))
    }
}

/// Whose columns plain names are.
#[derive(Clone, Copy)]
struct FilterScope<'p> {
    table: &'p Table,
    alias: u32,
}

struct Lowering<'p, 'w> {
    catalogue: &'p Catalogue,
    words: &'w Words,
    binds: Vec<Bind>,
    aliases: u32,
    extensions: Vec<(&'p Table, u32)>,
    /// The keys that lead the join, if keys do.
    leading: &'p [DbValue],
}

impl<'p> Lowering<'p, '_> {
    fn alias(&mut self) -> u32 {
        self.aliases += 1;
        self.aliases
    }

    fn bind(&mut self, value: DbValue) -> Placeholder {
        self.binds.push(Bind::One(value));
        self.binds.len() - 1
    }

    fn bind_list(&mut self, values: Vec<DbValue>) -> Placeholder {
        self.binds.push(Bind::List(values));
        self.binds.len() - 1
    }

    fn bind_word(&mut self, word: &str) -> Placeholder {
        let number = self.words.number(word).unwrap_or(NO_WORD);
        self.bind(DbValue::Int(number))
    }

    /// A value as the column stores it.
    fn stored(&self, column: Column<'_>, value: &DbValue) -> DbValue {
        match (column.ty, value) {
            (ColumnType::Word, DbValue::Text(word)) => DbValue::Int(self.words.number(word).unwrap_or(NO_WORD)),
            _ => value.clone(),
        }
    }

    fn column(&mut self, scope: FilterScope<'p>, name: &'p str) -> Result<Column<'p>, StorageError> {
        let Some((table, rest)) = name.split_once('.') else {
            let def = scope.table.column(name)?;
            return Ok(Column { alias: scope.alias, name, ty: def.ty, default: None });
        };
        let found = self.extensions.iter().find(|(t, _)| scope.alias == 0 && &*t.def.name == table).copied();
        let (table, alias) =
            found.ok_or_else(|| StorageError::Failed(format!("{name}: the plan does not join the table {table}")))?;
        let def = table.column(rest)?;
        let default = def.default.as_ref().map(|value| {
            let column = Column { alias, name: rest, ty: def.ty, default: None };
            let stored = self.stored(column, value);
            self.bind(stored)
        });
        Ok(Column { alias, name: rest, ty: def.ty, default })
    }

    fn key(&self, scope: FilterScope<'p>) -> Column<'p> {
        let def = &scope.table.def.key;
        Column { alias: scope.alias, name: &def.name, ty: def.ty, default: None }
    }

    /// The table that drives the join, and the tests that are left of the conditions.
    fn driven(
        &mut self,
        scope: FilterScope<'p>,
        plan: &'p ReadPlan,
        want: ResultKind,
        leader: Option<&DrivingTable<'p>>,
        conjuncts: &[&'p Cond],
    ) -> Result<(Option<DrivingSource<'p>>, Vec<Test<'p>>), StorageError> {
        let Some(leader) = leader else {
            let first = window_order(plan).filter(|_| want.is_rows());
            let lead = join_order::extension(conjuncts, first, &self.extensions).map(DrivingSource::Extension);
            let filter = self.conjuncts(scope, conjuncts, lead.is_none() && want != ResultKind::OrderedRows)?;
            return Ok((lead, filter));
        };
        let rest: Vec<&Cond> = conjuncts.iter().copied().filter(|c| !leader.answers(c)).collect();
        let lead = self.lead(scope, plan, leader, &rest)?;
        let filter = match &lead {
            // The rows of each member are filtered already.
            DrivingSource::RowsPerMember(_) => Vec::new(),
            DrivingSource::Keys(_) | DrivingSource::Edges(_) | DrivingSource::Extension(_) => {
                self.conjuncts(scope, &rest, false)?
            }
        };
        Ok((Some(lead), filter))
    }

    fn lead(
        &mut self,
        scope: FilterScope<'p>,
        plan: &'p ReadPlan,
        leader: &DrivingTable<'p>,
        rest: &[&'p Cond],
    ) -> Result<DrivingSource<'p>, StorageError> {
        Ok(match leader {
            DrivingTable::Keys { keys, .. } => {
                let key = self.key(scope);
                DrivingSource::Keys(self.bind_members(key, keys))
            }
            DrivingTable::Edges { dst, edges, descending, .. } => {
                let index = self.edge_params(scope, edges)?;
                DrivingSource::Edges(Edges { index, dst: self.bind(DbValue::Int(*dst)), descending: *descending })
            }
            DrivingTable::EdgesPerMember { dst, edges, descending, .. } => {
                let dst: BTreeSet<i64> = dst.iter().copied().collect();
                let members = self.bind_list(dst.into_iter().map(DbValue::Int).collect());
                let source = MemberSource::Edges(self.edge_params(scope, edges)?);
                let inside = FilterScope { alias: self.alias(), ..scope };
                DrivingSource::RowsPerMember(self.per_member(inside, plan, members, source, *descending, rest)?)
            }
            DrivingTable::ValuesPerMember { column, values, sort, descending, .. } => {
                let inside = FilterScope { alias: self.alias(), ..scope };
                let column = self.column(inside, column)?;
                let members = self.bind_members(column, values);
                let source = MemberSource::Column(column, self.column(inside, sort)?);
                DrivingSource::RowsPerMember(self.per_member(inside, plan, members, source, *descending, rest)?)
            }
        })
    }

    fn per_member(
        &mut self,
        inside: FilterScope<'p>,
        plan: &ReadPlan,
        members: Placeholder,
        source: MemberSource<'p>,
        descending: bool,
        rest: &[&'p Cond],
    ) -> Result<RowsPerMember<'p>, StorageError> {
        let filter = self.conjuncts(inside, rest, false)?;
        let most = self.bind(DbValue::Int(whole(plan.limit.unwrap_or(u64::MAX).saturating_add(plan.offset))));
        Ok(RowsPerMember { members, source, alias: inside.alias, filter, descending, most })
    }

    fn edge_params(&mut self, scope: FilterScope<'p>, edges: &EdgeIndex<'p>) -> Result<EdgeParams, StorageError> {
        let status = match (&edges.relation.def.status, edges.status) {
            (None, _) => EdgeStatus::Unset,
            (Some(_), None) => EdgeStatus::Any,
            // Edges have every status as a word.
            (Some(_), Some(DbValue::Text(status))) => EdgeStatus::Of(self.bind_word(status)),
            (Some(name), Some(value)) => {
                let column = self.column(scope, name)?;
                let stored = self.stored(column, value);
                EdgeStatus::Of(self.bind(stored))
            }
        };
        Ok(EdgeParams { rel: self.bind_word(edges.rel), status })
    }

    /// A list without repetitions: what is joined to it must not occur twice.
    fn bind_members(&mut self, column: Column<'_>, values: &[DbValue]) -> Placeholder {
        let members = distinct(values).map(|value| self.stored(column, value)).collect();
        self.bind_list(members)
    }

    /// `free`: nothing leads the join yet.
    fn conjuncts(
        &mut self,
        scope: FilterScope<'p>,
        conds: &[&'p Cond],
        free: bool,
    ) -> Result<Vec<Test<'p>>, StorageError> {
        conds.iter().map(|cond| self.test(scope, cond, free)).collect()
    }

    /// `conjunct`: the condition must hold for every row, and nothing else leads the join.
    fn test(&mut self, scope: FilterScope<'p>, cond: &'p Cond, conjunct: bool) -> Result<Test<'p>, StorageError> {
        Ok(match cond {
            Cond::All(conds) => Test::All(self.tests(scope, conds)?),
            Cond::Any(conds) => Test::Any(self.tests(scope, conds)?),
            Cond::Not(cond) => Test::Not(Box::new(self.test(scope, cond, false)?)),
            Cond::Compare(name, op, value) => self.compare(scope, name, *op, value)?,
            Cond::In(name, values) => match values.as_slice() {
                [] => Test::Any(Vec::new()),
                [value] => self.compare(scope, name, Op::Eq, value)?,
                values => {
                    let column = self.column(scope, name)?;
                    let stored = values.iter().map(|v| self.stored(column, v)).collect();
                    Test::In(column, self.bind_list(stored))
                }
            },
            Cond::IsNull(name) => Test::IsNull(self.column(scope, name)?),
            Cond::Contains(names, needle) => {
                let columns = names.iter().map(|n| self.column(scope, n)).collect::<Result<_, _>>()?;
                Test::Contains(columns, self.bind(DbValue::Text(fold(needle).into())))
            }
            Cond::Same(names, text) => {
                let columns = names.iter().map(|n| self.column(scope, n)).collect::<Result<_, _>>()?;
                Test::Same(columns, self.bind(DbValue::Text(fold(text).into())))
            }
            Cond::HasWord(name, word) => {
                let column = self.column(scope, name)?;
                Test::HasWord(column, self.bind(DbValue::Text(format!(" {word} ").into())))
            }
            Cond::HasMember(name, values) => {
                let column = self.column(scope, name)?;
                self.binds.push(Bind::Members(values.clone()));
                let list = self.binds.len() - 1;
                Test::HasMember(column, list, self.alias())
            }
            Cond::Related { table, inner, outer, filter } => self.related(scope, table, inner, outer, filter)?,
            Cond::Linked { rel, dst } => self.linked(scope, rel, dst, true, conjunct)?,
            Cond::LinkedFrom { rel, src } => self.linked(scope, rel, src, false, conjunct)?,
            Cond::LinkedTo { rel, table, filter } => self.linked_to(scope, rel, table, filter, conjunct)?,
        })
    }

    fn tests(&mut self, scope: FilterScope<'p>, conds: &'p [Cond]) -> Result<Vec<Test<'p>>, StorageError> {
        conds.iter().map(|c| self.test(scope, c, false)).collect()
    }

    fn compare(
        &mut self,
        scope: FilterScope<'p>,
        name: &'p str,
        op: Op,
        value: &DbValue,
    ) -> Result<Test<'p>, StorageError> {
        let column = self.column(scope, name)?;
        Ok(match (op, value) {
            (Op::Eq, DbValue::Null) => Test::IsNull(column),
            (Op::Ne, DbValue::Null) => Test::Not(Box::new(Test::IsNull(column))),
            (_, DbValue::Null) => Test::Any(Vec::new()),
            (Op::Gt, DbValue::Int(0)) if column.ty == ColumnType::Int => Test::AboveZero(column),
            // Words are ordered as text, so their names are compared, not their numbers.
            (Op::Lt | Op::Le | Op::Gt | Op::Ge, _) => Test::Compare(column, op, self.bind(value.clone())),
            (Op::Eq | Op::Ne, _) => {
                let stored = self.stored(column, value);
                Test::Compare(column, op, self.bind(stored))
            }
        })
    }

    fn related(
        &mut self,
        scope: FilterScope<'p>,
        table: &'p Name,
        inner: &'p str,
        outer: &'p str,
        filter: &'p Cond,
    ) -> Result<Test<'p>, StorageError> {
        let outer = self.column(scope, outer)?;
        let table = self.catalogue.table(table)?;
        let inside = FilterScope { table, alias: self.alias() };
        let inner = self.column(inside, inner)?;
        let filter = Box::new(self.test(inside, filter, false)?);
        Ok(Test::Related { table, inner, outer, filter })
    }

    fn linked(
        &mut self,
        scope: FilterScope<'p>,
        rel: &Name,
        ends: &[i64],
        forward: bool,
        gathered: bool,
    ) -> Result<Test<'p>, StorageError> {
        self.catalogue.relation(rel)?;
        let key = self.key(scope);
        let rel = self.bind_word(rel);
        let alias = self.alias();
        let (ends, one) = match ends {
            [] => return Ok(Test::Any(Vec::new())),
            [end] => (self.bind(DbValue::Int(*end)), true),
            ends => (self.bind_list(ends.iter().map(|e| DbValue::Int(*e)).collect()), false),
        };
        Ok(Test::Linked(Linked { key, rel, ends, one, forward, gathered, alias }))
    }

    fn linked_to(
        &mut self,
        scope: FilterScope<'p>,
        rel: &Name,
        table: &'p Name,
        filter: &'p Cond,
        gathered: bool,
    ) -> Result<Test<'p>, StorageError> {
        self.catalogue.relation(rel)?;
        let (key, rel, edges) = (self.key(scope), self.bind_word(rel), self.alias());
        let table = self.catalogue.table(table)?;
        let inside = FilterScope { table, alias: self.alias() };
        let (end, filter) = (self.key(inside), Box::new(self.test(inside, filter, false)?));
        Ok(Test::LinkedTo(LinkedTo { key, rel, edges, table, end, filter, gathered }))
    }

    fn order(
        &mut self,
        scope: FilterScope<'p>,
        plan: &'p ReadPlan,
        conjuncts: &[&Cond],
        lead: Option<&DrivingSource<'p>>,
    ) -> Result<Vec<Sort<'p>>, StorageError> {
        // An index of the extension that leads ends with the extension's key.
        let leading = self
            .extensions
            .iter()
            .find(|(_, alias)| matches!(lead, Some(DrivingSource::Extension(own)) if own == alias));
        let key = self.key(leading.map_or(scope, |(table, alias)| FilterScope { table, alias: *alias }));
        let mut sorts = Vec::new();
        let mut total = plan.order.is_empty();
        for order in &plan.order {
            match order {
                Order::Column(name, descending) => {
                    total |= **name == *key.name;
                    let last = scope.table.def.unset_last(name) && !conjuncts.iter().any(|cond| cond.has_value(name));
                    let by = if **name == *key.name { key } else { self.column(scope, name)? };
                    sorts.push(Sort::Column(by, *descending, last));
                }
                Order::Given(_, values) if values.is_empty() => {}
                Order::Given(name, values) if **name == *key.name && values == self.leading => sorts.push(Sort::Keys),
                Order::Given(name, values) => {
                    let column = self.column(scope, name)?;
                    let list = distinct(values).map(|v| self.stored(column, v)).collect();
                    let alias = self.alias();
                    sorts.push(Sort::Given(column, self.bind_list(list), alias));
                }
                Order::First(cond) => sorts.push(Sort::First(self.test(scope, cond, false)?)),
            }
        }
        if !total {
            let descending = plan.order.iter().find_map(|o| match o {
                Order::Column(_, descending) => Some(*descending),
                _ => None,
            });
            sorts.push(Sort::Column(key, descending.unwrap_or(false), false));
        }
        Ok(sorts)
    }
}

/// The values without repetitions: a row has one place in a given order, the first.
fn distinct(values: &[DbValue]) -> impl Iterator<Item = &DbValue> {
    let mut seen = HashSet::with_hasher(foldhash::fast::RandomState::default());
    values.iter().filter(move |v| match v {
        DbValue::Int(n) => seen.insert((0, *n as u64, None)),
        DbValue::Real(n) => seen.insert((1, n.to_bits(), None)),
        DbValue::Text(t) => seen.insert((2, 0, Some(t.clone()))),
        DbValue::Null => false,
    })
}

/// The operator as SQL spells it.
pub fn op_text(op: Op) -> &'static str {
    match op {
        Op::Eq => "=",
        Op::Ne => "<>",
        Op::Lt => "<",
        Op::Le => "<=",
        Op::Gt => ">",
        Op::Ge => ">=",
    }
}
