//! Counts that are remembered until something is written that they could depend on.
//!
//! A page of a list needs the number of all rows; counting them costs more than reading the page.

use super::super::catalogue::{Catalogue, TALLY};
use super::super::generations::Generations;
use super::super::plan::{Cond, DbValue, Name, Op, Order, ReadPlan};
use super::super::sql::{Bind, conjuncts};
use quick_cache::sync::Cache;

/// Counts kept at most.
const COUNTS: usize = 4096;
/// Longer lists of values are counted each time: keeping them would cost more.
const LIST: usize = 256;

/// See the module.
pub struct Remembered(Cache<Vec<u8>, Counted>);

/// A count, and the sum of the generations that it was made under. Generations only grow, so equal sums are equal
/// generations.
#[derive(Clone, Copy)]
struct Counted {
    stamp: u64,
    n: u64,
}

impl Default for Remembered {
    fn default() -> Remembered {
        Remembered(Cache::new(COUNTS))
    }
}

impl Remembered {
    /// The count, if it is known under this stamp.
    pub fn get(&self, key: &[u8], stamp: u64) -> Option<u64> {
        self.0.get(key).filter(|counted| counted.stamp == stamp).map(|counted| counted.n)
    }

    /// Keeps a count.
    pub fn put(&self, key: Vec<u8>, stamp: u64, n: u64) {
        self.0.insert(key, Counted { stamp, n });
    }
}

/// What a count is kept under; `None` where it is not to be kept.
pub fn key(shape: String, binds: &[Bind]) -> Option<Vec<u8>> {
    let mut key = shape.into_bytes();
    let mut value = |value: &DbValue| match value {
        DbValue::Null => key.push(0),
        DbValue::Int(n) => {
            key.push(1);
            key.extend(n.to_le_bytes());
        }
        DbValue::Real(n) => {
            key.push(2);
            key.extend(n.to_le_bytes());
        }
        DbValue::Text(text) => {
            key.push(3);
            key.extend(text.len().to_le_bytes());
            key.extend(text.as_bytes());
        }
    };
    for bind in binds {
        match bind {
            Bind::One(one) => value(one),
            Bind::List(list) if list.len() > LIST => return None,
            Bind::List(list) => {
                value(&DbValue::Int(list.len() as i64));
                list.iter().for_each(&mut value);
            }
        }
    }
    Some(key)
}

/// The sum of the generations of all that the plan's count depends on; `None` where a table keeps none.
pub fn stamp(plan: &ReadPlan, catalogue: &Catalogue, generations: &Generations) -> Option<u64> {
    Some(scopes(plan, catalogue)?.iter().map(|scope| generations.get(scope)).sum())
}

/// The scopes that the rows of a plan, and their number, depend on; `None` where a table keeps no generations.
pub fn scopes(plan: &ReadPlan, catalogue: &Catalogue) -> Option<Vec<Name>> {
    let mut found = Vec::with_capacity(2);
    match &kinds_pinned(plan, catalogue) {
        Some(kinds) => found.extend(kinds.iter().map(|kind| Name::from(format!("{}:{kind}", plan.table)))),
        None => found.push(table(&plan.table)?),
    }
    condition(&plan.filter, &mut found)?;
    plan.order.iter().try_for_each(|order| match order {
        Order::First(cond) => condition(cond, &mut found),
        _ => Some(()),
    })?;
    Some(found)
}

fn table(name: &Name) -> Option<Name> {
    (**name != *"slug" && **name != *TALLY).then(|| name.clone())
}

fn kinds_pinned<'p>(plan: &'p ReadPlan, catalogue: &Catalogue) -> Option<Vec<&'p Name>> {
    catalogue.table(&plan.table).ok()?.kind?;
    let kinds = conjuncts(&plan.filter).into_iter().find_map(|cond| match cond {
        Cond::Compare(name, Op::Eq, kind) if **name == *"kind" => Some(std::slice::from_ref(kind)),
        Cond::In(name, kinds) if **name == *"kind" => Some(kinds.as_slice()),
        _ => None,
    })?;
    let word = |kind: &'p DbValue| match kind {
        DbValue::Text(word) => Some(word),
        _ => None,
    };
    kinds.iter().map(word).collect()
}

fn condition(cond: &Cond, found: &mut Vec<Name>) -> Option<()> {
    match cond {
        Cond::All(conds) | Cond::Any(conds) => conds.iter().try_for_each(|c| condition(c, found)),
        Cond::Not(cond) => condition(cond, found),
        Cond::Related { table: name, filter, .. } => {
            found.push(table(name)?);
            condition(filter, found)
        }
        Cond::Linked { rel, .. } | Cond::LinkedFrom { rel, .. } => {
            found.push(rel.clone());
            Some(())
        }
        Cond::Compare(..) | Cond::In(..) | Cond::IsNull(_) | Cond::Contains(..) | Cond::HasWord(..) => Some(()),
    }
}
