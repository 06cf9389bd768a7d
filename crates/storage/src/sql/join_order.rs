//! The first table of a join. A planner without statistics guesses; a plan contains enough to decide:
//!
//! - a list of keys is first, whatever else is selected;
//! - edges of one target are first when their status is pinned: they cost what they find, and are in order when the
//!   order is the relation's sort column;
//! - rows that a comparison selects by an indexed column of an extension are first, from that index;
//! - of several targets or values, each gives its first rows in the requested order: the window is among
//!   them, and nothing behind it is read.

use super::super::catalogue::{Catalogue, Relation, Table};
use super::super::plan::{Cond, DbValue, IndexDef, Name, Op, Order, ReadPlan};
use super::lowered::ResultKind;
use std::collections::BTreeSet;

/// A longer list is read as a whole and sorted.
const MOST_MEMBERS: usize = 64;

/// The condition that leads, and how.
pub enum DrivingTable<'p> {
    Keys { cond: &'p Cond, keys: &'p [DbValue] },
    Edges { cond: &'p Cond, dst: i64, edges: EdgeIndex<'p>, descending: Option<bool> },
    EdgesPerMember { cond: &'p Cond, dst: &'p [i64], edges: EdgeIndex<'p>, descending: bool },
    ValuesPerMember { cond: &'p Cond, column: &'p Name, values: &'p [DbValue], sort: &'p Name, descending: bool },
}

/// A relation whose edges of a target are selected, and the status they are pinned to.
#[derive(Clone, Copy)]
pub struct EdgeIndex<'p> {
    pub rel: &'p Name,
    pub relation: &'p Relation,
    /// `None`: any, or the relation copies none.
    pub status: Option<&'p DbValue>,
}

impl<'p> DrivingTable<'p> {
    /// Chooses among the conditions that must all hold.
    pub fn choose(
        plan: &'p ReadPlan,
        want: ResultKind,
        table: &Table,
        conjuncts: &[&'p Cond],
        catalogue: &'p Catalogue,
    ) -> Option<DrivingTable<'p>> {
        let order = match want {
            ResultKind::Rows => column_order(plan, &table.def.key.name),
            ResultKind::OrderedRows => return None,
            ResultKind::Count | ResultKind::Sum | ResultKind::Groups => None,
        };
        let per_member = order.filter(|_| plan.limit.is_some() && extensions_named(&plan.filter).is_empty());
        let keys = |cond: &&'p Cond| match cond {
            Cond::In(name, keys) if *name == table.def.key.name && keys.len() > 1 => {
                Some(DrivingTable::Keys { cond, keys })
            }
            _ => None,
        };
        let edges = |cond: &&'p Cond| edges(cond, order, per_member, table, conjuncts, catalogue);
        let values = |cond: &&'p Cond| values(cond, per_member?, table, conjuncts);
        let all = || conjuncts.iter();
        all().find_map(keys).or_else(|| all().find_map(edges)).or_else(|| all().find_map(values))
    }

    /// Whether the leading table selects by the condition, so that nothing is left of it to test.
    pub fn answers(&self, cond: &Cond) -> bool {
        let (leads, edges) = match self {
            DrivingTable::Keys { cond, .. } | DrivingTable::ValuesPerMember { cond, .. } => (cond, None),
            DrivingTable::Edges { cond, edges, .. } | DrivingTable::EdgesPerMember { cond, edges, .. } => {
                (cond, Some(edges))
            }
        };
        let copied = |edges: &&EdgeIndex<'p>| {
            let status = edges.relation.def.status.as_ref().and_then(|column| pinned(cond, column));
            edges.status.is_some_and(|value| status.is_some_and(|status| std::ptr::eq(status, value)))
        };
        std::ptr::eq(cond, *leads) || edges.filter(copied).is_some()
    }
}

/// The plan's rows, and those without the one target whose edges lead it, to be counted, where an index has the plan's order, and
/// the edges have not. Read in that order, rows are tested until the window is full: of a target with many rows that costs less
/// than to sort them. Rows without a value of the sort column are counted too: they are few, and no other count leaves them out.
pub fn with_and_without_target(plan: &ReadPlan, catalogue: &Catalogue) -> Option<(ReadPlan, ReadPlan)> {
    plan.limit?;
    let table = catalogue.table(&plan.table).ok()?;
    let conjuncts = plan.filter.conjuncts();
    let leading = DrivingTable::choose(plan, ResultKind::Rows, table, &conjuncts, catalogue)?;
    let DrivingTable::Edges { cond: target, descending: None, .. } = leading else { return None };
    ordering_index(plan, table, &conjuncts)?;
    let (sort, _) = column_order(plan, &table.def.key.name)?;
    let has_value = Cond::Not(Box::new(Cond::IsNull(sort.clone())));
    let counted: Vec<&Cond> = conjuncts.into_iter().filter(|cond| **cond != has_value).collect();
    let without = counted.iter().filter(|cond| !std::ptr::eq(**cond, target)).copied().cloned().collect();
    let of = |filter: Vec<Cond>| ReadPlan { filter: Cond::All(filter), ..plan.clone() };
    Some((of(counted.into_iter().cloned().collect()), of(without)))
}

/// The index in which the rows that the conditions pin stand in the order of the plan's window.
pub fn ordering_index<'t>(plan: &ReadPlan, table: &'t Table, conjuncts: &[&Cond]) -> Option<&'t IndexDef> {
    let (sort, _) = column_order(plan, &table.def.key.name).filter(|_| plan.limit.is_some())?;
    table.def.indexes.iter().filter(|index| !index.partial).find(|index| {
        let pins = |name: &Name| conjuncts.iter().any(|cond| pinned(cond, name).is_some());
        let behind = index.columns.iter().find(|(name, _)| !pins(name));
        behind.is_some_and(|(name, _)| name == sort)
    })
}

/// Whether a window is a part of an index, from a value of its order on: the conditions are about the index's columns alone. SQLite
/// takes one by the order alone where it is as good for the range, and reads each row for the rest of the conditions.
pub fn is_part_of_index(plan: &ReadPlan, catalogue: &Catalogue) -> bool {
    let Ok(table) = catalogue.table(&plan.table) else { return false };
    let key = &table.def.key.name;
    let Some((sort, _)) = column_order(plan, key) else { return false };
    let conjuncts = plan.filter.conjuncts();
    let begins =
        |cond: &&Cond| matches!(cond, Cond::Compare(name, Op::Lt | Op::Le | Op::Gt | Op::Ge, _) if name == sort);
    if !conjuncts.iter().any(begins) {
        return false;
    }
    let Some(index) = ordering_index(plan, table, &conjuncts) else { return false };
    let has = |name: &Name| name == key || index.columns.iter().any(|(own, _)| own == name);
    conjuncts.iter().all(|cond| compares(cond, &has))
}

/// Whether a condition compares nothing but these columns.
fn compares(cond: &Cond, has: &impl Fn(&Name) -> bool) -> bool {
    match cond {
        Cond::All(conds) | Cond::Any(conds) => conds.iter().all(|cond| compares(cond, has)),
        Cond::Not(cond) => compares(cond, has),
        Cond::Compare(name, ..) | Cond::In(name, _) | Cond::IsNull(name) => has(name),
        _ => false,
    }
}

/// The extension that leads where nothing else does: of it, an indexed column is compared with a value. A list of values
/// comes before a range, and the column that a window is ordered by first (`order`) before another one.
pub fn extension(conjuncts: &[&Cond], order: Option<&Name>, extensions: &[(&Table, u32)]) -> Option<u32> {
    let indexed = |name: &Name| {
        let (table, column) = name.split_once('.')?;
        let (extension, alias) = extensions.iter().find(|(extension, _)| *extension.def.name == *table)?;
        let leads =
            extension.def.indexes.iter().any(|index| index.columns.first().is_some_and(|(n, _)| **n == *column));
        let plain = extension.column(column).is_ok_and(|def| def.default.is_none());
        (leads && plain).then_some(*alias)
    };
    let value = |cond: &&Cond| match cond {
        Cond::Compare(name, Op::Eq, value) if *value != DbValue::Null => indexed(name),
        Cond::In(name, values) if !values.is_empty() && !values.contains(&DbValue::Null) => indexed(name),
        _ => None,
    };
    let range = |cond: &&Cond| match cond {
        Cond::Compare(name, Op::Lt | Op::Le | Op::Gt | Op::Ge, value) if *value != DbValue::Null => indexed(name),
        _ => None,
    };
    let ordered = || order.filter(|name| conjuncts.iter().any(|cond| cond.has_value(name))).and_then(indexed);
    conjuncts.iter().find_map(value).or_else(ordered).or_else(|| conjuncts.iter().find_map(range))
}

/// The extension tables whose columns a condition names.
pub fn extensions_named(cond: &Cond) -> BTreeSet<Name> {
    fn walk(cond: &Cond, found: &mut BTreeSet<Name>) {
        let mut name = |name: &Name| {
            if let Some((table, _)) = name.split_once('.') {
                found.insert(table.into());
            }
        };
        match cond {
            Cond::All(conds) | Cond::Any(conds) => conds.iter().for_each(|c| walk(c, found)),
            Cond::Not(cond) => walk(cond, found),
            Cond::Compare(column, ..)
            | Cond::In(column, _)
            | Cond::IsNull(column)
            | Cond::HasWord(column, _)
            | Cond::HasMember(column, _)
            | Cond::Related { outer: column, .. } => name(column),
            Cond::Contains(columns, _) | Cond::Same(columns, _) => columns.iter().for_each(name),
            Cond::Linked { .. } | Cond::LinkedFrom { .. } | Cond::LinkedTo { .. } => {}
        }
    }
    let mut found = BTreeSet::new();
    walk(cond, &mut found);
    found
}

/// The one column that the plan orders by (ties by key in the same direction), and whether it descends.
fn column_order<'p>(plan: &'p ReadPlan, key: &Name) -> Option<(&'p Name, bool)> {
    match plan.order.as_slice() {
        [Order::Column(name, descending)] => Some((name, *descending)),
        [Order::Column(name, descending), Order::Column(second, same)] if second == key && same == descending => {
            Some((name, *descending))
        }
        _ => None,
    }
}

fn edges<'p>(
    cond: &'p Cond,
    order: Option<(&'p Name, bool)>,
    per_member: Option<(&'p Name, bool)>,
    table: &Table,
    conjuncts: &[&'p Cond],
    catalogue: &'p Catalogue,
) -> Option<DrivingTable<'p>> {
    let Cond::Linked { rel, dst } = cond else { return None };
    let (_, relation) = catalogue.relation(rel).ok()?;
    if relation.src != table.id {
        return None;
    }
    let column = relation.def.status.as_ref();
    let status = column.and_then(|column| conjuncts.iter().find_map(|c| pinned(c, column)));
    let of_any = column.is_some() && status.is_none();
    // Rows of the shared tables have other indexes then.
    if of_any && table.def.states.is_none() {
        return None;
    }
    let edges = EdgeIndex { rel, relation, status };
    let sorted = |order: Option<(&'p Name, bool)>| {
        let (name, descending) = order.filter(|_| !of_any)?;
        // Edges without a sort value come first when they ascend.
        let agrees = descending || !table.def.unset_last(name);
        (agrees && relation.def.sort.as_ref() == Some(name)).then_some(descending)
    };
    match dst.as_slice() {
        [dst] => Some(DrivingTable::Edges { cond, dst: *dst, edges, descending: sorted(order) }),
        dst if (2..=MOST_MEMBERS).contains(&dst.len()) => {
            Some(DrivingTable::EdgesPerMember { cond, dst, edges, descending: sorted(per_member)? })
        }
        _ => None,
    }
}

fn values<'p>(
    cond: &'p Cond,
    (sort, descending): (&'p Name, bool),
    table: &Table,
    conjuncts: &[&'p Cond],
) -> Option<DrivingTable<'p>> {
    let Cond::In(column, values) = cond else { return None };
    if !(2..=MOST_MEMBERS).contains(&values.len()) {
        return None;
    }
    let fixed = |name: &Name| name == column || conjuncts.iter().any(|c| pinned(c, name).is_some());
    let walks = table.def.indexes.iter().any(|index| {
        let place = index.columns.iter().position(|(name, _)| name == sort);
        place.is_some_and(|place| {
            let before = &index.columns[..place];
            before.iter().any(|(name, _)| name == column) && before.iter().all(|(name, _)| fixed(name))
        })
    });
    walks.then_some(DrivingTable::ValuesPerMember { cond, column, values, sort, descending })
}

/// The one value that the condition allows the column.
fn pinned<'p>(cond: &'p Cond, column: &Name) -> Option<&'p DbValue> {
    match cond {
        Cond::Compare(name, Op::Eq, value) if name == column && *value != DbValue::Null => Some(value),
        Cond::In(name, values) if name == column && values.len() == 1 && values[0] != DbValue::Null => values.first(),
        _ => None,
    }
}
