//! Conditions of a collection's arguments: comparisons of columns, and rows at the other end of a relation.

use crate::records::txt;
use crate::registry::args::{ComparisonValue, FilterOp, Operand};
use crate::registry::resource::ColumnClock;
use crate::scope::Scope;
use cms_storage::plan::{Cond, DbValue, Name, Op};
use cms_text::{slug, time};
use serde_json::Value;

/// A comparison of a column with a value of the request; empty lists select everything.
pub fn column(scope: &Scope, column: &Name, op: FilterOp, operand: Operand, value: &Value) -> Option<Cond> {
    let one = |value: &Value| operand_of(scope, operand, value);
    let list = |value: &Value| operands(scope, operand, value);
    Some(match op {
        FilterOp::Compare(Op::Eq) | FilterOp::In if operand == Operand::Member => {
            Cond::HasMember(column.clone(), Some(list(value)).filter(|values| !values.is_empty())?)
        }
        FilterOp::Compare(_) | FilterOp::NotIn if operand == Operand::Member => {
            let values = Some(list(value)).filter(|values| !values.is_empty())?;
            Cond::Not(Box::new(Cond::HasMember(column.clone(), values)))
        }
        FilterOp::Compare(op) => Cond::Compare(column.clone(), op, one(value)),
        FilterOp::In | FilterOp::NotIn => {
            let values = list(value);
            if values.is_empty() {
                return None;
            }
            let within = Cond::In(column.clone(), values);
            if op == FilterOp::In { within } else { Cond::Not(Box::new(within)) }
        }
        FilterOp::Contains => Cond::Contains(vec![column.clone()], part(operand, value.as_str()?).into()),
        FilterOp::HasWord => Cond::HasWord(column.clone(), part(operand, value.as_str()?).into()),
    })
}

/// The values of a list, or of one value, as columns hold them.
pub fn operands(scope: &Scope, operand: Operand, value: &Value) -> Vec<DbValue> {
    let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let items = items.iter().map(|value| operand_of(scope, operand, value));
    if operand == Operand::Id { items.map(listed).collect() } else { items.collect() }
}

fn operand_of(scope: &Scope, operand: Operand, value: &Value) -> DbValue {
    match operand {
        Operand::Time(clock) => seconds(scope, clock, value),
        Operand::Slug => value.as_str().map_or_else(|| scalar(value), |text| txt(&slug::sanitize_title(text))),
        _ => scalar(value),
    }
}

/// A part that a text has to contain. Slugs are stored with escapes; hyphens alone are a part of one, but no slug.
fn part(operand: Operand, text: &str) -> String {
    let stored = if operand == Operand::Slug { slug::sanitize_title(text) } else { String::new() };
    if stored.is_empty() { text.to_owned() } else { stored }
}

/// Whether an order of numbers holds.
pub fn ordered(own: &DbValue, op: Op, value: &DbValue) -> bool {
    let number = |value: &DbValue| match value {
        DbValue::Int(n) => Some(*n as f64),
        DbValue::Real(n) => Some(*n),
        _ => None,
    };
    let Some((own, value)) = number(own).zip(number(value)) else { return false };
    match op {
        Op::Lt => own < value,
        Op::Le => own <= value,
        Op::Gt => own > value,
        Op::Ge => own >= value,
        Op::Eq => own == value,
        Op::Ne => own != value,
    }
}

/// A comparison that the declaration names: true selects the rows for which it holds, false the others.
pub fn fixed(scope: &Scope, column: &Name, op: Op, fixed: &ComparisonValue, value: &Value) -> Option<Cond> {
    let with = match fixed {
        ComparisonValue::Value(value) => value.clone(),
        ComparisonValue::Now(ColumnClock::Local) => DbValue::Int(scope.local_now()),
        ComparisonValue::Now(ColumnClock::Utc) => DbValue::Int(scope.now),
    };
    let holds = Cond::Compare(column.clone(), op, with);
    Some(if value.as_bool()? { holds } else { Cond::Not(Box::new(holds)) })
}

/// Rows with one of these targets, or the others; an empty list selects everything.
pub fn linked(rel: &Name, without: bool, value: &Value) -> Option<Cond> {
    let ids = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let dst: Vec<i64> = ids.iter().filter_map(Value::as_i64).map(i64::saturating_abs).collect();
    let linked = Cond::Linked { rel: rel.clone(), dst: Some(dst).filter(|dst| !dst.is_empty())? };
    Some(if without { Cond::Not(Box::new(linked)) } else { linked })
}

/// A date and time, or `now`, as the seconds that a column holds; without an offset it is in the site's zone.
fn seconds(scope: &Scope, clock: ColumnClock, value: &Value) -> DbValue {
    if value == "now" {
        return DbValue::Int(if clock == ColumnClock::Utc { scope.now } else { scope.local_now() });
    }
    let Some(moment) = value.as_str().and_then(time::parse_datetime) else { return DbValue::Null };
    let (local, utc) = moment.in_zone(&scope.settings.zone);
    DbValue::Int(if clock == ColumnClock::Utc { utc } else { local })
}

/// Ids in lists may be negative and mean their absolute value, as everywhere in the contract.
fn listed(value: DbValue) -> DbValue {
    match value {
        DbValue::Int(id) => DbValue::Int(id.saturating_abs()),
        other => other,
    }
}

fn scalar(value: &Value) -> DbValue {
    match value {
        Value::Bool(b) => DbValue::Int(i64::from(*b)),
        Value::Number(n) => n.as_i64().map_or_else(|| n.as_f64().map_or(DbValue::Null, DbValue::Real), DbValue::Int),
        Value::String(text) => txt(text),
        _ => DbValue::Null,
    }
}
