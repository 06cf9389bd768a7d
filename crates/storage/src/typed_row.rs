//! Rows with types: the columns of a read are named once, with what becomes of their values.

use super::plan::{DbValue, Row};
use std::sync::Arc;

/// A type that the values of a column are read as. Null and values of another type are 0, false or the empty text.
pub trait FromColumn {
    fn from_column(value: DbValue) -> Self;
}

/// A type that a row is read as: a struct of [`typed_row!`](crate::typed_row), or the values in the order of the plan's columns.
pub trait FromRow {
    fn from_row(row: Row) -> Self;
}

/// A row of one table, by the columns that it has use for.
pub trait TypedRow: FromRow {
    const TABLE: &'static str;
    const COLUMNS: &'static [&'static str];
}

macro_rules! columns {
    ($($kind:ty: $value:ident => $read:expr;)*) => {$(
        impl FromColumn for $kind {
            fn from_column($value: DbValue) -> $kind {
                $read
            }
        }

        impl FromRow for $kind {
            fn from_row(row: Row) -> $kind {
                <$kind>::from_column(row.into_iter().next().unwrap_or(DbValue::Null))
            }
        }
    )*};
}

columns! {
    DbValue: value => value;
    i64: value => match value {
        DbValue::Int(number) => number,
        DbValue::Real(number) => number as i64,
        _ => 0,
    };
    bool: value => i64::from_column(value) != 0;
    Arc<str>: value => match value {
        DbValue::Text(text) => text,
        _ => Arc::from(""),
    };
    String: value => Arc::<str>::from_column(value).as_ref().to_owned();
}

impl FromRow for Row {
    fn from_row(row: Row) -> Row {
        row
    }
}

macro_rules! tuples {
    ($(($($kind:ident),+))*) => {$(
        impl<$($kind: FromColumn),+> FromRow for ($($kind,)+) {
            fn from_row(row: Row) -> Self {
                let mut values = row.into_iter();
                ($($kind::from_column(values.next().unwrap_or(DbValue::Null)),)+)
            }
        }
    )*};
}

tuples! { (A) (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) }

/// A struct that is a [`TypedRow`] of the table before it. A member is read from the column of its name, or from the one named
/// after it.
#[macro_export]
macro_rules! typed_row {
    (@column $member:ident) => { stringify!($member) };
    (@column $member:ident $column:expr) => { $column };
    ($table:expr; $(#[$about:meta])* $seen:vis struct $name:ident {
        $($(#[$note:meta])* $shown:vis $member:ident: $kind:ty $(= $column:expr)?,)+
    }) => {
        $(#[$about])*
        $seen struct $name {
            $($(#[$note])* $shown $member: $kind,)+
        }

        impl $crate::FromRow for $name {
            fn from_row(row: $crate::plan::Row) -> Self {
                let mut values = row.into_iter();
                $name {
                    $($member: $crate::FromColumn::from_column(values.next().unwrap_or($crate::plan::DbValue::Null)),)+
                }
            }
        }

        impl $crate::TypedRow for $name {
            const TABLE: &'static str = $table;
            const COLUMNS: &'static [&'static str] = &[$($crate::typed_row!(@column $member $($column)?)),+];
        }
    };
}
