//! Values between plans and the server.

use super::super::plan::DbValue;
use super::super::sql::Bind;
use bytes::BytesMut;
use std::error::Error;

use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

type EncodeResult = Result<IsNull, Box<dyn Error + Sync + Send>>;

/// A value that the server asks for in another type is taken as SQLite takes it: numbers in text are numbers, and text is
/// no number.
impl ToSql for Bind {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> EncodeResult {
        match self {
            Bind::One(value) => match *ty {
                Type::INT8 => integer(value).to_sql(ty, out),
                Type::FLOAT8 => real(value).to_sql(ty, out),
                _ => text(value).to_sql(&Type::TEXT, out),
            },
            Bind::List(values) => match *ty {
                Type::INT8_ARRAY => values.iter().map(integer).collect::<Vec<_>>().to_sql(ty, out),
                Type::FLOAT8_ARRAY => values.iter().map(real).collect::<Vec<_>>().to_sql(ty, out),
                _ => values.iter().map(text).collect::<Vec<_>>().to_sql(&Type::TEXT_ARRAY, out),
            },
            Bind::Members(values) => {
                values.iter().filter_map(json).collect::<Vec<String>>().to_sql(&Type::TEXT_ARRAY, out)
            }
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn integer(value: &DbValue) -> Option<i64> {
    match value {
        DbValue::Null => None,
        DbValue::Int(n) => Some(*n),
        DbValue::Real(n) if n.fract() == 0.0 && n.abs() < 9.0e18 => Some(*n as i64),
        DbValue::Real(_) => None,
        DbValue::Text(text) => text.trim().parse().ok(),
    }
}

fn real(value: &DbValue) -> Option<f64> {
    match value {
        DbValue::Null => None,
        DbValue::Int(n) => Some(*n as f64),
        DbValue::Real(n) => Some(*n),
        DbValue::Text(text) => text.trim().parse().ok(),
    }
}

fn text(value: &DbValue) -> Option<String> {
    match value {
        DbValue::Null => None,
        DbValue::Int(n) => Some(n.to_string()),
        DbValue::Real(n) => Some(n.to_string()),
        DbValue::Text(text) => Some(text.to_string()),
    }
}

/// A member of a list as JSON; `None` where no stored list can have it.
fn json(value: &DbValue) -> Option<String> {
    match value {
        DbValue::Null => None,
        DbValue::Int(n) => Some(n.to_string()),
        DbValue::Real(n) => serde_json::to_string(n).ok(),
        DbValue::Text(text) if text.contains('\0') => None,
        DbValue::Text(text) => serde_json::to_string(&**text).ok(),
    }
}

/// A value of a row, words as their numbers.
pub struct Cell(pub DbValue);

impl<'a> FromSql<'a> for Cell {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Cell, Box<dyn Error + Sync + Send>> {
        Ok(Cell(match *ty {
            Type::INT8 => DbValue::Int(i64::from_sql(ty, raw)?),
            Type::INT4 => DbValue::Int(i32::from_sql(ty, raw)?.into()),
            Type::FLOAT8 => DbValue::Real(f64::from_sql(ty, raw)?),
            Type::BOOL => DbValue::Int(bool::from_sql(ty, raw)?.into()),
            _ => DbValue::Text(std::str::from_utf8(raw)?.into()),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Cell, Box<dyn Error + Sync + Send>> {
        Ok(Cell(DbValue::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
