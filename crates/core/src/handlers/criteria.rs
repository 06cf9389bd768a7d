//! `where`: the conditions of its criteria, and rows counted by the values of one.

use super::comparisons;
use crate::access::policy;
use crate::records::{self, always};
use crate::registry::args::{FilterOp, Operand, SpellingDirection, convert_spelling};
use crate::registry::criteria::{Criteria, Criterion, CriterionOp, CriterionSubject, RelationPath};
use crate::registry::resource::{PropertyKind, Resource};
use crate::scope::Scope;
use cms_storage::plan::{Cond, DbValue, Name, Op, Row};
use cms_text::fold;
use serde_json::{Value, json};

/// The conditions of a checked value of `where`. As everywhere, an empty list selects everything.
///
/// Related rows that the caller may not see count as absent, and what a password locks is compared for those alone who
/// may edit it.
pub fn conditions(scope: &Scope, criteria: &Criteria, value: &Value) -> Vec<Cond> {
    let given = value.as_object().into_iter().flatten();
    let known = given.filter_map(|(name, tests)| Some((criteria.0.get(name)?, tests.as_object()?)));
    let condition = |(criterion, tests): (&Criterion, &serde_json::Map<String, Value>)| {
        let tests = tests.iter().filter_map(|(name, value)| Some((criterion.operator(name)?, value)));
        let mut all: Vec<Cond> = tests.filter_map(|(test, value)| compared(scope, criterion, test, value)).collect();
        if all.is_empty() {
            return None;
        }
        let target = &scope.registry.resources[criterion.resource];
        if criterion.locked {
            all.extend(policy::unlocked(scope, target));
        }
        Some(match &criterion.through {
            None => Cond::All(all),
            Some(through) => {
                all.extend([records::own_rows(target), policy::visible(scope, target)]);
                related(through, target, Cond::All(all))
            }
        })
    };
    known.filter_map(condition).collect()
}

/// There is a related row that meets a condition.
fn related(through: &RelationPath, target: &Resource, filter: Cond) -> Cond {
    let (table, filter) = (target.table.clone(), Box::new(filter));
    match through {
        RelationPath::Column(outer) => Cond::Related { table, inner: target.key.clone(), outer: outer.clone(), filter },
        RelationPath::Edges(rel) => Cond::LinkedTo { rel: rel.clone(), table, filter },
    }
}

/// One comparison, on the row that has the property; `None` selects everything.
fn compared(scope: &Scope, criterion: &Criterion, test: CriterionOp, value: &Value) -> Option<Cond> {
    let target = &scope.registry.resources[criterion.resource];
    let value = convert_spelling(value.clone(), &criterion.aliases, SpellingDirection::ToStored);
    match &criterion.subject {
        CriterionSubject::Edges(rel) => linked(scope, target, rel, test, &value),
        CriterionSubject::Column { column, extension, operand } => {
            // Of a related row, the columns of the extension are not joined.
            let (name, apart): (Name, _) = match extension {
                Some(table) if criterion.through.is_none() => (format!("{table}.{column}").into(), None),
                Some(table) => (column.clone(), Some(table)),
                None => (column.clone(), None),
            };
            let condition = of_column(scope, &name, *operand, test, &value)?;
            let unset = criterion
                .unset
                .as_ref()
                .map(|unset| convert_spelling(unset.clone(), &criterion.aliases, SpellingDirection::ToStored));
            let empty = unset_meets(scope, *operand, test, &value, unset.as_ref());
            let condition = match unset {
                None => condition,
                Some(_) if empty => Cond::Any(vec![condition, Cond::IsNull(name)]),
                Some(_) => Cond::All(vec![condition, Cond::Not(Box::new(Cond::IsNull(name)))]),
            };
            let Some(table) = apart else { return Some(condition) };
            let row = |filter| Cond::Related {
                table: table.clone(),
                inner: target.key.clone(),
                outer: target.key.clone(),
                filter: Box::new(filter),
            };
            // A row without a row of the extension is one where nothing is stored.
            Some(match empty {
                true => Cond::Not(Box::new(row(Cond::Not(Box::new(condition))))),
                false => row(condition),
            })
        }
    }
}

/// Whether a row in which nothing is stored meets a test: documents show `unset` for it, or null.
fn unset_meets(scope: &Scope, operand: Operand, test: CriterionOp, value: &Value, unset: Option<&Value>) -> bool {
    let of = |value: &Value| comparisons::operands(scope, operand, value);
    let (own, given) = (unset.map(of).unwrap_or_default(), of(value));
    let same = |value: &DbValue| own.iter().any(|own| own == value || comparisons::ordered(own, Op::Eq, value));
    let any = || given.iter().any(same);
    match test {
        CriterionOp::Set => unset.is_some() == (*value != Value::Bool(false)),
        CriterionOp::All => given.iter().all(same),
        CriterionOp::Compare(FilterOp::Compare(Op::Eq) | FilterOp::In) => any(),
        CriterionOp::Compare(FilterOp::Compare(Op::Ne) | FilterOp::NotIn) => !any(),
        CriterionOp::Compare(FilterOp::Compare(op)) => match (own.as_slice(), given.as_slice()) {
            ([own], [value]) => comparisons::ordered(own, op, value),
            _ => false,
        },
        CriterionOp::Compare(FilterOp::Contains) => {
            let text = |value: &Value| value.as_str().map(|text| fold(text).into_owned());
            let texts = unset.and_then(text).zip(text(value));
            texts.is_some_and(|(own, part)| own.contains(&part))
        }
        CriterionOp::Compare(FilterOp::HasWord) => false,
    }
}

fn of_column(scope: &Scope, column: &Name, operand: Operand, test: CriterionOp, value: &Value) -> Option<Cond> {
    match test {
        CriterionOp::Compare(op) => comparisons::column(scope, column, op, operand, value),
        CriterionOp::All => {
            let has = |value| comparisons::column(scope, column, FilterOp::Compare(Op::Eq), operand, value);
            Some(Cond::All(value.as_array().filter(|list| !list.is_empty())?.iter().filter_map(has).collect()))
        }
        CriterionOp::Set => {
            let mut none = vec![Cond::IsNull(column.clone())];
            if operand == Operand::Id {
                none.push(Cond::Compare(column.clone(), Op::Eq, DbValue::Int(0)));
            }
            Some(switched(Cond::Not(Box::new(Cond::Any(none))), value))
        }
    }
}

fn linked(scope: &Scope, target: &Resource, rel: &Name, test: CriterionOp, value: &Value) -> Option<Cond> {
    match test {
        CriterionOp::Compare(op) => comparisons::linked(rel, op == FilterOp::NotIn, value),
        CriterionOp::All => {
            let has = |value| comparisons::linked(rel, false, value);
            Some(Cond::All(value.as_array().filter(|list| !list.is_empty())?.iter().filter_map(has).collect()))
        }
        CriterionOp::Set => {
            let relation = target.relations.iter().find(|relation| relation.rel == *rel)?;
            let table = scope.registry.resources[relation.to].table.clone();
            let any = Cond::LinkedTo { rel: rel.clone(), table, filter: Box::new(always()) };
            Some(switched(any, value))
        }
    }
}

/// The condition, or its opposite for false.
fn switched(condition: Cond, value: &Value) -> Cond {
    if *value == Value::Bool(false) { Cond::Not(Box::new(condition)) } else { condition }
}

/// The name that rows are counted by: the column of a criterion, or its relation.
pub fn counted(criterion: &Criterion) -> Name {
    match &criterion.subject {
        CriterionSubject::Column { column, extension: Some(table), .. } => format!("{table}.{column}").into(),
        CriterionSubject::Column { column, .. } => column.clone(),
        CriterionSubject::Edges(rel) => rel.clone(),
    }
}

/// The values of rows as documents show them, each with the number of rows that have it, the most frequent first.
pub fn groups(criterion: &Criterion, rows: &[Row]) -> Value {
    let mut counted: Vec<(Value, i64)> = Vec::with_capacity(rows.len());
    for row in rows {
        let [value, count] = row.as_slice() else { continue };
        let (value, count) = (shown(criterion, value), records::int(count));
        // An unset value may be shown as a value that other rows have.
        match counted.iter_mut().find(|(known, _)| criterion.unset.is_some() && *known == value) {
            Some((_, known)) => *known += count,
            None => counted.push((value, count)),
        }
    }
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counted.into_iter().map(|(value, count)| json!({"value": value, "count": count})).collect()
}

fn shown(criterion: &Criterion, value: &DbValue) -> Value {
    match (value, criterion.kind) {
        (DbValue::Int(n), PropertyKind::Boolean) => json!(*n != 0),
        (DbValue::Int(n), _) => json!(n),
        (DbValue::Real(n), _) => json!(n),
        (DbValue::Text(text), _) => convert_spelling(json!(&**text), &criterion.aliases, SpellingDirection::ToApi),
        (DbValue::Null, _) => criterion.unset.clone().unwrap_or(Value::Null),
    }
}
