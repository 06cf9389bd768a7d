//! Values that a declared column takes, for changes of declarations over stored rows.
//!
//! A value goes from one declaration to another as it is shown in documents: as it is, as the only member of a list, or
//! out of a list of one. It is lossless or it is not done.

use super::super::resource::{ColumnClock, Property, PropertyKind, PropertySource};
use super::super::words::PropertyWords;
use super::property::is_required;
use cms_schema::{Dialect, Schema, constraints};
use cms_storage::plan::{DbValue, ValueRule};
use cms_text::time::{format_local, parse_datetime};
use serde_json::{Number, Value, json};
use std::sync::Arc;

/// How a column stores values, by the names that definitions have for it.
const STORED: [(&str, PropertyKind); 7] = [
    ("text", PropertyKind::Text),
    ("integer", PropertyKind::Integer),
    ("number", PropertyKind::Number),
    ("boolean", PropertyKind::Boolean),
    ("json", PropertyKind::Json),
    ("time", PropertyKind::Time),
    (UTC_TIME, PropertyKind::Time),
];
const UTC_TIME: &str = "utc-time";

/// Kinds by the types of columns, for databases that do not say more.
const TYPES: [(&str, &str); 4] = [("INTEGER", "integer"), ("REAL", "number"), ("TEXT", "text"), ("TEXT_JSON", "json")];

/// The rule of an own column; `None` where what documents show does not follow from the column alone.
pub(super) fn rule(property: &Property, doc: &Value, dialect: Dialect) -> Option<ValueRule> {
    let words = PropertyWords::of(doc);
    let plain = match property.source {
        PropertySource::Column(_) => true,
        PropertySource::Read(..) => words.read.as_deref() == Some("time"),
        _ => false,
    };
    if !plain || !property.own || !property.aliases.is_empty() {
        return None;
    }
    let mut schema = constraints(doc);
    if let Some(map) = schema.as_object_mut().filter(|_| words.open_enum) {
        map.shift_remove("enum");
    }
    let utc = property.clock == Some(ColumnClock::Utc);
    let stored_as = STORED.iter().find(|(name, kind)| *kind == property.kind && utc == (*name == UTC_TIME))?.0;
    let required = is_required(doc);
    let definition = json!({"stored": stored_as, "schema": schema, "required": required}).to_string();
    let (name, unset, kind) = (property.name.clone(), words.unset.clone(), property.kind);
    let target = ConversionTarget { name, stored_as, kind, unset, schema: Schema::compile(&schema, dialect).ok()? };
    let fill = doc.get("default").filter(|default| !default.is_null()).and_then(|default| target.stored(default));
    let convert = move |former: &str, value: &DbValue| target.convert(former, value);
    Some(ValueRule { definition: definition.into(), convert: Arc::new(convert), required, fill })
}

/// A declaration that values are brought to.
struct ConversionTarget {
    name: String,
    stored_as: &'static str,
    kind: PropertyKind,
    /// The value that is accepted whatever the schema says.
    unset: Option<Value>,
    schema: Schema,
}

impl ConversionTarget {
    /// See [`ValueRule::convert`].
    fn convert(&self, former: &str, value: &DbValue) -> Option<DbValue> {
        let (shown, moved) = if former == ValueRule::LINKS {
            (shown(PropertyKind::Json, value), false)
        } else {
            let stored_as = match former.strip_prefix(ValueRule::OF_TYPE) {
                Some(ty) => TYPES.iter().find(|(mark, _)| *mark == ty)?.1.to_owned(),
                None => serde_json::from_str::<Value>(former).ok()?["stored"].as_str()?.to_owned(),
            };
            let kind = STORED.iter().find(|(name, _)| **name == stored_as)?.1;
            (shown(kind, value), (stored_as == UTC_TIME) != (self.stored_as == UTC_TIME))
        };
        // A moment of one clock is another one of the other.
        if moved {
            return None;
        }
        let shown = shown?;
        self.stored(&shown).or_else(|| match shown {
            Value::Array(mut list) if self.kind != PropertyKind::Json && list.len() <= 1 => {
                self.stored(&list.pop().unwrap_or(Value::Null))
            }
            Value::Array(_) | Value::Object(_) | Value::Null => None,
            one if self.kind == PropertyKind::Json => {
                // Columns of texts have held lists and objects, where a property was declared with several types.
                let held: Option<Value> = one.as_str().and_then(|text| serde_json::from_str(text).ok());
                self.stored(&Value::Array(vec![one])).or_else(|| self.stored(&held?))
            }
            _ => None,
        })
    }

    /// How a value of a document is stored; `None` where the declaration takes no such value.
    fn stored(&self, value: &Value) -> Option<DbValue> {
        let taken = match self.unset.as_ref() == Some(value) {
            true => value.clone(),
            false => self.schema.accept(&self.name, value.clone()).ok()?,
        };
        let stored = match (self.kind, value) {
            (_, Value::Null) => DbValue::Null,
            (PropertyKind::Json, value) => DbValue::Text(value.to_string().into()),
            (PropertyKind::Boolean, Value::Bool(truth)) => DbValue::Int(i64::from(*truth)),
            (PropertyKind::Integer, Value::Number(number)) => DbValue::Int(whole(number)?),
            (PropertyKind::Number, Value::Number(number)) => DbValue::Real(number.as_f64()?),
            (PropertyKind::Text, Value::String(text)) => DbValue::Text(text.as_str().into()),
            (PropertyKind::Time, Value::String(text)) => {
                DbValue::Int(parse_datetime(text).filter(|time| time.offset.is_none())?.wall)
            }
            _ => return None,
        };
        let again = shown(self.kind, &stored)?;
        (same(&taken, value) && same(&again, value)).then_some(stored)
    }
}

/// A stored value as documents show it.
fn shown(kind: PropertyKind, value: &DbValue) -> Option<Value> {
    match (kind, value) {
        (_, DbValue::Null) => Some(Value::Null),
        (PropertyKind::Boolean, DbValue::Int(n)) => Some(Value::Bool(*n != 0)),
        (PropertyKind::Time, DbValue::Int(seconds)) => Some(Value::String(format_local(*seconds))),
        (PropertyKind::Json, DbValue::Text(text)) => serde_json::from_str(text).ok(),
        (_, DbValue::Int(n)) => Some((*n).into()),
        (_, DbValue::Real(n)) => Number::from_f64(*n).map(Value::Number),
        (_, DbValue::Text(text)) => Some(Value::String(text.to_string())),
    }
}

/// The integer that a number is.
fn whole(number: &Number) -> Option<i64> {
    let of_real = |n: f64| (n.fract() == 0.0 && n.abs() < 9_007_199_254_740_992.0).then_some(n as i64);
    number.as_i64().or_else(|| of_real(number.as_f64()?))
}

/// Whether two values are the same to clients: 5 is 5.0.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => match (whole(one), whole(other)) {
            (Some(one), Some(other)) => one == other,
            (None, None) => one.as_f64() == other.as_f64(),
            _ => false,
        },
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, one)| other.get(key).is_some_and(|other| same(one, other)))
        }
        (one, other) => one == other,
    }
}
