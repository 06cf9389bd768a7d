//! Counting without counting: a filter that pins only what rows are tallied by becomes a sum of tallies.
//!
//! The writer keeps a number for each kind, status and author of a table that has such columns.

use super::catalogue::{Catalogue, TALLY, Table};
use super::plan::{Cond, DbValue, Name, Op, ReadPlan};
use super::sql::conjuncts;

/// Stands for all authors in a tally.
pub(super) const ALL_AUTHORS: i64 = -1;
/// Stands for no author in a tally.
pub(super) const NO_AUTHOR: i64 = -2;

/// The plan whose tallies sum up to the number of rows that meet `plan`'s filter, if tallies can tell.
pub(super) fn tallied(plan: &ReadPlan, catalogue: &Catalogue) -> Option<ReadPlan> {
    let table = catalogue.table(&plan.table).ok().filter(|table| table.tally.is_some())?;
    let of_table = Cond::Compare("table".into(), Op::Eq, DbValue::Text(plan.table.clone()));
    let mut conds = vec![of_table];
    let mut seen: Vec<&str> = Vec::new();
    for cond in conjuncts(&plan.filter) {
        let (name, values) = pins(cond)?;
        let column = column(table, name)?;
        let told = match column {
            // Negative numbers stand for something else there.
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
    Some(ReadPlan {
        table: TALLY.into(),
        extensions: Vec::new(),
        columns: Vec::new(),
        filter: Cond::All(conds),
        order: Vec::new(),
        limit: None,
        offset: 0,
    })
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
    let places = [("kind", Some(tally.kind)), ("status", Some(tally.status)), ("author", tally.author)];
    let of_table = |place: usize| table.def.columns[table.tracked[place]].name == *name;
    places.into_iter().find(|(_, place)| place.is_some_and(of_table)).map(|(column, _)| column)
}
