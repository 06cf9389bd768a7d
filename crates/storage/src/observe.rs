//! Which versions the outcome of a read depends on.

use super::catalogue::{CHANGE_FEED, Catalogue, REVISION, SLUG, TALLY, Table};
use super::dependencies::{ANY_KIND, Dependencies, VersionSlot};
use super::plan::{Cond, DbValue, Name, Op, Order, ReadPlan, Row};
use super::words::Words;
use crate::snapshot::{ReadRequest, ReadResult};

/// Rows that are depended on one by one; more are depended on by their kind.
const MOST_ROWS: usize = 128;

/// The dependencies of a read that gave this result; `None` where something in it has no version.
pub(super) fn of(
    request: ReadRequest<'_>,
    result: &ReadResult,
    catalogue: &Catalogue,
    words: &Words,
) -> Option<Dependencies> {
    let of_scopes = |scopes| Some(Dependencies { scopes, slots: Vec::new() });
    match (request, result) {
        (ReadRequest::Rows(plan) | ReadRequest::CachedRows(plan), ReadResult::Rows(rows)) => {
            of_plan(plan, Some(rows), catalogue, words)
        }
        (ReadRequest::Rows(_) | ReadRequest::CachedRows(_), _) => None,
        (ReadRequest::Count(plan), _) => of_plan(plan, None, catalogue, words),
        (ReadRequest::Groups(plan), _) => {
            of_plan(&ReadPlan { limit: None, ..plan.clone() }, Some(&[]), catalogue, words)
        }
        (ReadRequest::Edges(plan), _) => of_scopes(plan.rels.clone()),
        // Meta values are written with their row, which was read before.
        (ReadRequest::Meta(..), _) => of_scopes(Vec::new()),
        (ReadRequest::Revisions(space, ids), _) => Some(of_revisions(space, ids, words)),
        (ReadRequest::Setting(_), _) => of_scopes(vec!["setting".into()]),
        (ReadRequest::Slug(..), _) => None,
    }
}

/// The dependencies of a plan's rows, or of their number (`rows` is `None`), which depends on no order; `None` where a table has no
/// versions.
pub(super) fn of_plan(
    plan: &ReadPlan,
    rows: Option<&[Row]>,
    catalogue: &Catalogue,
    words: &Words,
) -> Option<Dependencies> {
    let mut found = Dependencies { scopes: Vec::new(), slots: vec![VersionSlot::OTHERS] };
    match catalogue.table(&plan.table).ok().and_then(|table| slots(plan, rows, table, words)) {
        Some(slots) => found.slots.extend(slots),
        None => found.scopes = kinds_or_table(plan, catalogue)?,
    }
    // Rows can be grouped by the targets of a relation, whose name is in the place of a column.
    found.scopes.extend(plan.columns.iter().filter(|name| catalogue.relation(name).is_ok()).cloned());
    condition(&plan.filter, catalogue, words, &mut found)?;
    order_of(plan, rows).iter().try_for_each(|order| match order {
        Order::First(cond) => condition(cond, catalogue, words, &mut found),
        _ => Some(()),
    })?;
    Some(found)
}

/// The order of rows; their number has none.
fn order_of<'p>(plan: &'p ReadPlan, rows: Option<&[Row]>) -> &'p [Order] {
    rows.map_or(&[], |_| &plan.order)
}

/// The dependencies of the numbers of revisions of rows.
fn of_revisions(space: &Name, ids: &[i64], words: &Words) -> Dependencies {
    match words.number(space).filter(|_| ids.len() <= MOST_ROWS) {
        Some(space) => {
            let slots = [VersionSlot::OTHERS, VersionSlot::REVISIONS].into_iter();
            Dependencies {
                scopes: Vec::new(),
                slots: slots.chain(ids.iter().map(|of| VersionSlot::revisions(space, *of))).collect(),
            }
        }
        None => Dependencies { scopes: vec![REVISION.into()], slots: Vec::new() },
    }
}

/// The rows one by one, where they are few and have their keys, else the columns that are read of them. `None`: the
/// table's rows are not marked, or the plan has a column of another table.
fn slots(plan: &ReadPlan, rows: Option<&[Row]>, table: &Table, words: &Words) -> Option<Vec<VersionSlot>> {
    if !marked(table) {
        return None;
    }
    if let Some(keys) = plan.filter.conjuncts().into_iter().find_map(|cond| keys(cond, table)) {
        return Some(keys.into_iter().map(|id| VersionSlot::row(table.id, id)).collect());
    }
    let mut columns = Vec::new();
    for order in order_of(plan, rows) {
        match order {
            Order::Column(name, _) | Order::Given(name, _) => column(name, table, &mut columns)?,
            Order::First(cond) => named(cond, table, &mut columns)?,
        }
    }
    let key = plan.columns.iter().position(|name| *name == table.def.key.name);
    let singly = rows.filter(|rows| rows.len() <= MOST_ROWS).zip(key);
    if rows.is_some() && singly.is_none() {
        plan.columns.iter().try_for_each(|name| column(name, table, &mut columns))?;
    }
    let mut found = frame(&plan.filter, columns, table, words)?;
    for (row, key) in singly.into_iter().flat_map(|(rows, key)| rows.iter().map(move |row| (row, key))) {
        found.push(VersionSlot::row(table.id, int(&row[key])?));
    }
    Some(found)
}

/// Whether every write of the table's rows raises version slots.
fn marked(table: &Table) -> bool {
    !table.companion && table.def.extends.is_none() && *table.def.name != *REVISION
}

/// The version slots that decide which rows meet a filter, and their order by these columns.
fn frame(filter: &Cond, mut columns: Vec<usize>, table: &Table, words: &Words) -> Option<Vec<VersionSlot>> {
    named(filter, table, &mut columns)?;
    let pinned = filter.conjuncts().into_iter().find_map(kinds).filter(|_| table.kind.is_some());
    let kinds: Vec<Option<i64>> = match pinned {
        Some(kinds) => kinds.into_iter().map(|kind| words.number(kind)).collect(),
        None => vec![Some(ANY_KIND)],
    };
    let mut found = Vec::with_capacity(kinds.len() * (columns.len() + 1) + 16);
    for kind in kinds {
        // There are no rows of a kind without a number, until there is a first.
        found.push(VersionSlot::members(table.id, kind.unwrap_or(ANY_KIND)));
        found.extend(
            kind.into_iter()
                .flat_map(|kind| columns.iter().map(move |place| VersionSlot::column(table.id, kind, *place))),
        );
    }
    Some(found)
}

fn int(value: &DbValue) -> Option<i64> {
    match value {
        DbValue::Int(n) => Some(*n),
        _ => None,
    }
}

/// The keys that a condition names, where they are few.
fn keys(cond: &Cond, table: &Table) -> Option<Vec<i64>> {
    let key = &table.def.key.name;
    match cond {
        Cond::Compare(name, Op::Eq, value) if name == key => Some(vec![int(value)?]),
        Cond::In(name, values) if name == key && values.len() <= MOST_ROWS => values.iter().map(int).collect(),
        _ => None,
    }
}

/// The kinds that a condition names.
fn kinds(cond: &Cond) -> Option<Vec<&Name>> {
    let kinds = match cond {
        Cond::Compare(name, Op::Eq, kind) if **name == *"kind" => std::slice::from_ref(kind),
        Cond::In(name, kinds) if **name == *"kind" => kinds.as_slice(),
        _ => return None,
    };
    let word = |kind: &'_ DbValue| matches!(kind, DbValue::Text(_));
    kinds.iter().all(word).then(|| {
        let texts = kinds.iter().filter_map(|kind| match kind {
            DbValue::Text(word) => Some(word),
            _ => None,
        });
        texts.collect()
    })
}

/// The places of the columns that a condition names; `None` where one of them is no column of the table.
fn named(cond: &Cond, table: &Table, found: &mut Vec<usize>) -> Option<()> {
    match cond {
        Cond::All(conds) | Cond::Any(conds) => conds.iter().try_for_each(|cond| named(cond, table, found)),
        Cond::Not(cond) => named(cond, table, found),
        Cond::Compare(name, ..)
        | Cond::In(name, _)
        | Cond::IsNull(name)
        | Cond::HasWord(name, _)
        | Cond::HasMember(name, _) => column(name, table, found),
        Cond::Contains(names, _) | Cond::Same(names, _) => names.iter().try_for_each(|name| column(name, table, found)),
        Cond::Related { outer, .. } => column(outer, table, found),
        // Edges have versions of their own, and their copies follow the columns that are named here.
        Cond::Linked { .. } | Cond::LinkedFrom { .. } | Cond::LinkedTo { .. } => Some(()),
    }
}

fn column(name: &Name, table: &Table, found: &mut Vec<usize>) -> Option<()> {
    if *name == table.def.key.name {
        return Some(());
    }
    let place = table.place(name).ok().filter(|place| Some(*place) != table.version)?;
    if !found.contains(&place) {
        found.push(place);
    }
    Some(())
}

fn kinds_or_table(plan: &ReadPlan, catalogue: &Catalogue) -> Option<Vec<Name>> {
    let has_kinds = catalogue.table(&plan.table).is_ok_and(|table| table.kind.is_some());
    let kinds = plan.filter.conjuncts().into_iter().find_map(kinds).filter(|_| has_kinds);
    match kinds {
        Some(kinds) => Some(kinds.iter().map(|kind| Name::from(format!("{}:{kind}", plan.table))).collect()),
        None => Some(vec![table(&plan.table)?]),
    }
}

fn table(name: &Name) -> Option<Name> {
    (![SLUG, TALLY, CHANGE_FEED].contains(&&**name)).then(|| name.clone())
}

/// The columns that a condition on rows of another table reads: the one that they are found by (their key without one) and those
/// of the condition.
fn related(
    name: &Name,
    by: Option<&Name>,
    filter: &Cond,
    catalogue: &Catalogue,
    words: &Words,
    found: &mut Dependencies,
) -> Option<()> {
    let related = catalogue.table(name).ok().filter(|table| marked(table)).and_then(|table| {
        let mut columns = Vec::new();
        by.map_or(Some(()), |by| column(by, table, &mut columns))?;
        frame(filter, columns, table, words)
    });
    match related {
        Some(slots) => found.slots.extend(slots),
        // An extension's columns are written with its row.
        None => found.scopes.push(table(catalogue.table(name).ok()?.def.extends.as_ref().unwrap_or(name))?),
    }
    condition(filter, catalogue, words, found)
}

/// Adds the dependencies of a condition beside the plan's own table.
fn condition(cond: &Cond, catalogue: &Catalogue, words: &Words, found: &mut Dependencies) -> Option<()> {
    match cond {
        Cond::All(conds) | Cond::Any(conds) => conds.iter().try_for_each(|c| condition(c, catalogue, words, found)),
        Cond::Not(cond) => condition(cond, catalogue, words, found),
        Cond::Related { table, inner, filter, .. } => related(table, Some(inner), filter, catalogue, words, found),
        Cond::LinkedTo { rel, table, filter } => {
            found.scopes.push(rel.clone());
            related(table, None, filter, catalogue, words, found)
        }
        Cond::Linked { rel, .. } | Cond::LinkedFrom { rel, .. } => {
            found.scopes.push(rel.clone());
            Some(())
        }
        Cond::Compare(..)
        | Cond::In(..)
        | Cond::IsNull(_)
        | Cond::Contains(..)
        | Cond::Same(..)
        | Cond::HasWord(..)
        | Cond::HasMember(..) => Some(()),
    }
}
