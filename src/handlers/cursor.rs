//! Walks through a collection: the cost of a page does not depend on its position, and no row is repeated because
//! others were inserted before it.
//!
//! `_cursor=` starts the walk; the `Link` of each response leads on, until there is nothing more. The cursor is opaque.

use super::Work;
use crate::config::declaration::Family;
use crate::error::ApiError;
use crate::records::Record;
use crate::registry::resource::Resource;
use crate::storage::plan::{Cond, DbValue, Name, Op, Order, Row};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

/// Name of the parameter.
pub const PARAM: &str = "_cursor";

/// A walk that a request continues.
pub struct Cursor {
    column: Name,
    descending: bool,
    /// The sort value and key of the last row seen.
    after: Option<(DbValue, i64)>,
}

impl Cursor {
    /// The walk of the request, if any.
    ///
    /// # Errors
    /// A cursor of another order, or not one of ours; an order without a column.
    pub fn of(work: &Work<'_>, resource: &Resource, order: &[Order]) -> Result<Option<Cursor>, ApiError> {
        let begin = Value::from("");
        let Some(given) = work.query.get(PARAM).or(work.lines.then_some(&begin)) else { return Ok(None) };
        let invalid = |message: &str| ApiError::invalid_one(PARAM, message);
        let (column, descending) = match order {
            [Order::Column(column, descending)] => (column, *descending),
            [Order::Column(column, descending), Order::Column(key, same)]
                if *key == resource.key && same == descending =>
            {
                (column, *descending)
            }
            _ => return Err(invalid("This order knows no next row; walk by date or id.")),
        };
        if resource.key_is_text {
            return Err(invalid("Only what has numbers for keys can be walked through."));
        }
        let mut cursor = Cursor { column: column.clone(), descending, after: None };
        let word = given.as_str().unwrap_or("");
        if !word.is_empty() {
            let after = read(word, &cursor.column, descending);
            cursor.after = Some(after.ok_or_else(|| invalid("Not a cursor of this order; begin with an empty one."))?);
        }
        Ok(Some(cursor))
    }

    /// The cursor that continues after a row.
    pub fn next(&self, resource: &Resource, row: &Row) -> String {
        let record = Record { resource, row };
        let column = self.column.rsplit('.').next().unwrap_or_default();
        write(&self.column, self.descending, record.value(column), record.id())
    }

    /// The remaining rows. Null sorts before everything else in columns that a family shares, after it in declared ones.
    pub fn to_come(&self, resource: &Resource) -> Option<Cond> {
        let (value, id) = self.after.as_ref()?;
        let (beyond, to) = if self.descending { (Op::Lt, Op::Le) } else { (Op::Gt, Op::Ge) };
        let than = |op, value: DbValue| Cond::Compare(self.column.clone(), op, value);
        let key = Cond::Compare(resource.key.clone(), beyond, DbValue::Int(*id));
        if self.column == resource.key {
            return Some(key);
        }
        let null = || Cond::IsNull(self.column.clone());
        let range = |value: &DbValue| {
            // The range follows from the rest, and is what an index can start from.
            Cond::All(vec![than(to, value.clone()), Cond::Any(vec![than(beyond, value.clone()), key.clone()])])
        };
        let declared = self.column.contains('.') || resource.family == Family::Plain;
        Some(match (value, self.descending) {
            (DbValue::Null, descending) if declared || descending => Cond::All(vec![null(), key]),
            (DbValue::Null, _) => Cond::Any(vec![Cond::All(vec![null(), key]), Cond::Not(Box::new(null()))]),
            (value, _) if declared => Cond::Any(vec![range(value), null()]),
            (value, _) => range(value),
        })
    }
}

/// The sort value and key in the cursor of a walk along a column; `None` for another walk's and for what is no cursor
/// of ours.
pub(crate) fn read(word: &str, column: &str, descending: bool) -> Option<(DbValue, i64)> {
    let told: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(word).ok()?).ok()?;
    if told[0] != json!(column) || told[1] != json!(descending) {
        return None;
    }
    let value = match &told[2] {
        Value::Null => DbValue::Null,
        Value::Number(n) if n.is_i64() => DbValue::Int(n.as_i64()?),
        Value::Number(n) => DbValue::Real(n.as_f64()?),
        // No text of a request holds a NUL, so none that was stored does.
        Value::String(text) if !text.contains('\0') => DbValue::Text(text.as_str().into()),
        _ => return None,
    };
    Some((value, told[3].as_i64()?))
}

/// The cursor that continues after a sort value and key; see [`read`].
pub(crate) fn write(column: &str, descending: bool, value: &DbValue, key: i64) -> String {
    let value = match value {
        DbValue::Null => Value::Null,
        DbValue::Int(n) => json!(n),
        DbValue::Real(n) => json!(n),
        DbValue::Text(text) => json!(&**text),
    };
    URL_SAFE_NO_PAD.encode(json!([column, descending, value, key]).to_string())
}
