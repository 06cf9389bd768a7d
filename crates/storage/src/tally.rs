//! Counting without counting: a filter on columns that the writer has tallies for becomes a sum of them.
//!
//! The writer maintains a number for each kind, status and author of a table that has such columns, one for each state of a
//! declared table, and one of the sources of a relation at each of its targets.

use super::catalogue::{Catalogue, TALLY, Table};
use super::plan::{Cond, DbValue, Name, Op, ReadPlan};

/// Represents all authors in a tally.
pub(super) const ALL_AUTHORS: i64 = -1;
/// Represents no author in a tally.
pub(super) const NO_AUTHOR: i64 = -2;

/// Plans whose one column sums up to the number of rows.
pub(super) struct TallyPlans {
    pub of: ReadPlan,
    /// The rows to be subtracted from it.
    pub without: Option<Exclusion>,
}

/// Rows that a filter excludes.
pub(super) enum Exclusion {
    /// As many as this plan's one column sums up to.
    Sum(ReadPlan),
    /// The rows of this plan, which are named by their keys.
    Rows(ReadPlan),
}

/// Where more rows than this are excluded by their keys, all rows are counted.
const FEW: usize = 100;

/// The tallies that sum up to the number of rows that meet `plan`'s filter, if there are such.
pub(super) fn tallied(plan: &ReadPlan, catalogue: &Catalogue) -> Option<TallyPlans> {
    let table = catalogue.table(&plan.table).ok()?;
    let (links, pinned): (Vec<&Cond>, Vec<&Cond>) =
        plan.filter.conjuncts().into_iter().partition(|cond| matches!(cond, Cond::Linked { .. } | Cond::Not(_)));
    match links[..] {
        [] => Some(TallyPlans { of: by_columns(table, &pinned)?, without: None }),
        [Cond::Not(link)] if matches!(**link, Cond::Linked { .. }) => {
            let without = Exclusion::Sum(by_link(table, link, &pinned, catalogue)?);
            Some(TallyPlans { of: by_columns(table, &pinned)?, without: Some(without) })
        }
        [Cond::Not(named)] => {
            let (column, keys) = pins(named)?;
            let few = *column == table.def.key.name && keys.len() <= FEW && !keys.contains(&DbValue::Null);
            let filter = Cond::All(pinned.iter().copied().chain([&**named]).cloned().collect());
            let rows = ReadPlan { filter, order: Vec::new(), limit: None, offset: 0, ..plan.clone() };
            few.then_some(TallyPlans { of: by_columns(table, &pinned)?, without: Some(Exclusion::Rows(rows)) })
        }
        [link] => Some(TallyPlans { of: by_link(table, link, &pinned, catalogue)?, without: None }),
        _ => None,
    }
}

/// Rows that are pinned to kinds, statuses and authors.
fn by_columns(table: &Table, pinned: &[&Cond]) -> Option<ReadPlan> {
    table.tally.as_ref()?;
    let of_table = Cond::Compare("table".into(), Op::Eq, DbValue::Text(table.def.name.clone()));
    let mut conds = vec![of_table];
    let mut seen: Vec<&str> = Vec::new();
    for cond in pinned {
        let (name, values) = pins(cond)?;
        let column = column(table, name)?;
        let told = match column {
            // Negative numbers have another meaning there.
            "author" => values.iter().all(|v| matches!(v, DbValue::Int(0..))),
            _ => values.iter().all(|v| matches!(v, DbValue::Text(_))),
        };
        if !told || seen.contains(&column) {
            return None;
        }
        seen.push(column);
        conds.push(Cond::In(column.into(), values.to_vec()));
    }
    if !seen.contains(&"author") {
        conds.push(Cond::Compare("author".into(), Op::Eq, DbValue::Int(ALL_AUTHORS)));
    }
    Some(sum(TALLY.into(), "n".into(), Cond::All(conds)))
}

/// Rows that are linked to one target, of the one kind that has such links, in the statuses that are counted there.
fn by_link(table: &Table, link: &Cond, pinned: &[&Cond], catalogue: &Catalogue) -> Option<ReadPlan> {
    let Cond::Linked { rel, dst } = link else { return None };
    let [target] = dst[..] else { return None };
    let def = &catalogue.relation(rel).ok()?.1.def;
    let (counted, kind) = (def.counted.as_ref()?, def.only_kind.as_ref()?);
    let [one, other] = pinned else { return None };
    let pins = [(pins(one)?, column(table, pins(one)?.0)?), (pins(other)?, column(table, pins(other)?.0)?)];
    let values = |of: &str| pins.iter().find(|(_, column)| *column == of).map(|((_, values), _)| *values);
    let names = |values: &[DbValue], names: &[Name]| {
        values.len() == names.len() && names.iter().all(|name| values.contains(&DbValue::Text(name.clone())))
    };
    let exact = names(values("kind")?, std::slice::from_ref(kind)) && names(values("status")?, &counted.statuses);
    let key = catalogue.table(&def.dst).ok()?.def.key.name.clone();
    exact.then(|| sum(def.dst.clone(), counted.column.clone(), Cond::Compare(key, Op::Eq, DbValue::Int(target))))
}

fn sum(table: Name, column: Name, filter: Cond) -> ReadPlan {
    ReadPlan {
        table,
        extensions: Vec::new(),
        columns: vec![column],
        filter,
        order: Vec::new(),
        limit: None,
        offset: 0,
        width: None,
    }
}

/// The column that a condition pins, and to what.
fn pins(cond: &Cond) -> Option<(&Name, &[DbValue])> {
    match cond {
        Cond::Compare(name, Op::Eq, value) => Some((name, std::slice::from_ref(value))),
        Cond::In(name, values) => Some((name, values)),
        _ => None,
    }
}

/// The tally's column for a column of the table.
fn column(table: &Table, name: &Name) -> Option<&'static str> {
    let tally = table.tally.as_ref()?;
    let places = [("kind", tally.kind), ("status", tally.status), ("author", tally.author)];
    let of_table = |place: usize| table.def.columns[table.tracked[place]].name == *name;
    places.into_iter().find(|(_, place)| place.is_some_and(of_table)).map(|(column, _)| column)
}
