//! `where`: the conditions of its criteria, and rows counted by the values of one.

use super::comparisons;
use crate::access::policy;
use crate::records::{self, everything};
use crate::registry::args::{FilterOp, Operand, Spelling, spell};
use crate::registry::criteria::{Criteria, Criterion, Subject, Test, Through};
use crate::registry::resource::{Kind, Resource};
use crate::scope::Scope;
use crate::storage::plan::{Cond, DbValue, Name, Op, Row};
use serde_json::{Value, json};

/// The conditions of a checked value of `where`.
///
/// Related rows that the caller may not see count as absent, and what a password locks is compared for those alone who
/// may edit it.
pub fn conditions(scope: &Scope, criteria: &Criteria, value: &Value) -> Vec<Cond> {
    let given = value.as_object().into_iter().flatten();
    let known = given.filter_map(|(name, tests)| Some((criteria.0.get(name)?, tests.as_object()?)));
    let condition = |(criterion, tests): (&Criterion, &serde_json::Map<String, Value>)| {
        let tests = tests.iter().filter_map(|(name, value)| Some((criterion.operator(name)?, value)));
        let mut all: Vec<Cond> = tests.filter_map(|(test, value)| compared(scope, criterion, test, value)).collect();
        let target = &scope.registry.resources[criterion.resource];
        if criterion.locked {
            all.extend(policy::unlocked(scope, target));
        }
        match &criterion.through {
            None => Cond::All(all),
            Some(through) => {
                all.extend([records::own_rows(target), policy::visible(scope, target)]);
                related(through, target, Cond::All(all))
            }
        }
    };
    known.map(condition).collect()
}

/// There is a related row that meets a condition.
fn related(through: &Through, target: &Resource, filter: Cond) -> Cond {
    let (table, filter) = (target.table.clone(), Box::new(filter));
    match through {
        Through::Column(outer) => Cond::Related { table, inner: target.key.clone(), outer: outer.clone(), filter },
        Through::Edges(rel) => Cond::LinkedTo { rel: rel.clone(), table, filter },
    }
}

/// One comparison, on the row that has the property; `None` selects everything.
fn compared(scope: &Scope, criterion: &Criterion, test: Test, value: &Value) -> Option<Cond> {
    let target = &scope.registry.resources[criterion.resource];
    let value = spell(value.clone(), &criterion.aliases, Spelling::ToStored);
    match &criterion.subject {
        Subject::Edges(rel) => linked(scope, target, rel, test, &value),
        Subject::Column { column, extension, operand } => {
            // Of a related row, the columns of the extension are not joined.
            let (name, apart): (Name, _) = match extension {
                Some(table) if criterion.through.is_none() => (format!("{table}.{column}").into(), None),
                Some(table) => (column.clone(), Some(table)),
                None => (column.clone(), None),
            };
            let condition = of_column(scope, &name, *operand, test, &value)?;
            Some(match apart {
                None => condition,
                Some(table) => Cond::Related {
                    table: table.clone(),
                    inner: target.key.clone(),
                    outer: target.key.clone(),
                    filter: Box::new(condition),
                },
            })
        }
    }
}

fn of_column(scope: &Scope, column: &Name, operand: Operand, test: Test, value: &Value) -> Option<Cond> {
    match test {
        Test::Compare(op) => comparisons::column(scope, column, op, operand, value),
        Test::All => {
            let has = |value| comparisons::column(scope, column, FilterOp::Compare(Op::Eq), operand, value);
            Some(Cond::All(value.as_array()?.iter().filter_map(has).collect()))
        }
        Test::Set => {
            let mut none = vec![Cond::IsNull(column.clone())];
            if operand == Operand::Id {
                none.push(Cond::Compare(column.clone(), Op::Eq, DbValue::Int(0)));
            }
            Some(switched(Cond::Not(Box::new(Cond::Any(none))), value))
        }
    }
}

fn linked(scope: &Scope, target: &Resource, rel: &Name, test: Test, value: &Value) -> Option<Cond> {
    match test {
        Test::Compare(op) => comparisons::linked(rel, op == FilterOp::NotIn, value),
        Test::All => {
            let has = |value| comparisons::linked(rel, false, value);
            Some(Cond::All(value.as_array()?.iter().filter_map(has).collect()))
        }
        Test::Set => {
            let relation = target.relations.iter().find(|relation| relation.rel == *rel)?;
            let table = scope.registry.resources[relation.to].table.clone();
            let any = Cond::LinkedTo { rel: rel.clone(), table, filter: Box::new(everything()) };
            Some(switched(any, value))
        }
    }
}

/// The condition, or its opposite for false.
fn switched(condition: Cond, value: &Value) -> Cond {
    if *value == Value::Bool(false) { Cond::Not(Box::new(condition)) } else { condition }
}

/// The column of a criterion, by the name that plans have for it; `None`: its values are not in a column of the row.
pub fn column(criterion: &Criterion) -> Option<Name> {
    match &criterion.subject {
        Subject::Column { column, extension: Some(table), .. } => Some(format!("{table}.{column}").into()),
        Subject::Column { column, .. } => Some(column.clone()),
        Subject::Edges(_) => None,
    }
}

/// A value, as documents show it, with the number of rows that have it.
pub fn group(criterion: &Criterion, row: &Row) -> Value {
    let [value, count] = row.as_slice() else { return Value::Null };
    let value = match (value, criterion.kind) {
        (DbValue::Int(n), Kind::Boolean) => json!(*n != 0),
        (DbValue::Int(n), _) => json!(n),
        (DbValue::Real(n), _) => json!(n),
        (DbValue::Text(text), _) => spell(json!(&**text), &criterion.aliases, Spelling::ToApi),
        (DbValue::Null, _) => Value::Null,
    };
    json!({"value": value, "count": records::int(count)})
}
