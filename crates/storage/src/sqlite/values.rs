//! Values between plans and rusqlite.

use super::super::plan::{DbValue, Name};
use super::super::sql::Bind;
use super::super::words::Words;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Result, Statement, ToSql};
use std::rc::Rc;
use std::sync::Arc;

impl ToSql for DbValue {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            DbValue::Null => ValueRef::Null,
            DbValue::Int(n) => ValueRef::Integer(*n),
            DbValue::Real(n) => ValueRef::Real(*n),
            DbValue::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

/// Binds to the placeholder at `place` (from 0).
pub fn bind(statement: &mut Statement<'_>, place: usize, bind: &Bind) -> Result<()> {
    match bind {
        Bind::One(value) => statement.raw_bind_parameter(place + 1, value),
        Bind::List(values) | Bind::Members(values) => {
            let list: Vec<Value> = values.iter().map(owned).collect();
            statement.raw_bind_parameter(place + 1, Rc::new(list))
        }
    }
}

fn owned(value: &DbValue) -> Value {
    match value {
        DbValue::Null => Value::Null,
        DbValue::Int(n) => Value::Integer(*n),
        DbValue::Real(n) => Value::Real(*n),
        DbValue::Text(text) => Value::Text(text.to_string()),
    }
}

/// A value of a row. A number of the dictionary becomes its word.
pub fn decode(value: ValueRef<'_>, word: bool, dictionary: Dictionary<'_>) -> Result<DbValue> {
    Ok(match value {
        ValueRef::Null => DbValue::Null,
        ValueRef::Integer(n) if word => DbValue::Text(dictionary.name(n)?),
        ValueRef::Integer(n) => DbValue::Int(n),
        ValueRef::Real(n) => DbValue::Real(n),
        ValueRef::Text(text) | ValueRef::Blob(text) => DbValue::Text(match std::str::from_utf8(text) {
            Ok(text) => Arc::from(text),
            Err(_) => String::from_utf8_lossy(text).into(),
        }),
    })
}

/// The cached words, and the connection to read one that another process added.
#[derive(Clone, Copy)]
pub struct Dictionary<'a> {
    pub words: &'a Words,
    pub conn: &'a Connection,
}

impl Dictionary<'_> {
    /// The word of this number.
    pub fn name(&self, number: i64) -> Result<Name> {
        if let Some(name) = self.words.name(number) {
            return Ok(name.clone());
        }
        let mut select = self.conn.prepare_cached("SELECT word FROM dictionary WHERE number = ?1")?;
        select.query_row([number], |row| row.get::<_, String>(0).map(Name::from))
    }
}
