//! SQL that differs from database to database.
//!
//! The functions named here that a database does not have are made by the module of that database.

use super::super::plan::ColumnType;
use super::super::statement::Dialect;
use sea_query::{
    Alias, BinOper, Expr, ExprTrait, Func, IntoIden, NullOrdering, Order, PostgresQueryBuilder, Query, SelectStatement,
    SqliteQueryBuilder, TableRef, Value, Values,
};

/// Folds its first argument and tests whether it contains the second, which is folded already.
pub const CONTAINS_FOLDED: &str = "contains_folded";
/// Folds its first argument and tests whether it is the second, which is folded already.
pub const SAME_FOLDED: &str = "same_folded";
/// PostgreSQL: the folded text.
pub const FOLD: &str = "cms_fold";
/// PostgreSQL: the pattern of texts that contain a text.
pub const PATTERN: &str = "cms_pattern";

/// See [`Dialect::list_table`].
pub const LIST_VALUE: &str = "value";
/// See [`Dialect::list_table`].
pub const LIST_PLACE: &str = "rowid";

/// Which bind each placeholder takes: statements carry the numbers of binds in place of values.
fn placeholders(values: Values) -> Vec<usize> {
    let number = |value| match value {
        Value::BigInt(Some(n)) => usize::try_from(n).ok(),
        Value::BigUnsigned(Some(n)) => usize::try_from(n).ok(),
        _ => None,
    };
    values.0.into_iter().map(|v| number(v).expect("only numbers of binds stand in statements")).collect()
}

/// A placeholder for a bind.
pub fn param(number: usize) -> Expr {
    Expr::val(number as i64)
}

/// The SQL type of lists of values of such columns.
fn list_type(ty: ColumnType) -> &'static str {
    match ty {
        ColumnType::Int | ColumnType::Word => "bigint[]",
        ColumnType::Real => "double precision[]",
        ColumnType::Text | ColumnType::Key | ColumnType::Json => "text[]",
    }
}

impl Dialect {
    /// Statements to text and the binds in the order of its placeholders.
    pub fn build(self, select: &SelectStatement) -> (String, Vec<usize>) {
        let (text, values) = match self {
            Dialect::Sqlite => select.build(SqliteQueryBuilder),
            Dialect::Postgres => select.build(PostgresQueryBuilder),
        };
        (text, placeholders(values))
    }

    /// Whether the column's value is one of a list that is bound as one value.
    pub fn is_in(self, column: Expr, ty: ColumnType, number: usize) -> Expr {
        match self {
            Dialect::Sqlite => column.in_subquery(rarray(number)),
            Dialect::Postgres => {
                Expr::cust_with_exprs(format!("$1 = ANY($2::{})", list_type(ty)), [column, param(number)])
            }
        }
    }

    /// Whether the JSON list in a column has a member that is in a bound list.
    pub fn has_member(self, column: Expr, number: usize, alias: &str) -> Expr {
        match self {
            Dialect::Sqlite => {
                let mut select = Query::select();
                select.expr(Expr::cust("1")).from_function(Func::cust("json_each").arg(column), Alias::new(alias));
                let value = Expr::col((Alias::new(alias), Alias::new("value")));
                Expr::exists(select.and_where(value.in_subquery(rarray(number))).take())
            }
            Dialect::Postgres => Expr::cust_with_exprs(
                "EXISTS (SELECT 1 FROM jsonb_array_elements(cms_members($1)) AS m (value) \
                 WHERE m.value = ANY($2::text[]::jsonb[]))",
                [column, param(number)],
            ),
        }
    }

    /// A bound list as a table to join; its columns [`LIST_VALUE`] and [`LIST_PLACE`] hold member and place.
    pub fn list_table(self, number: usize, ty: ColumnType, alias: &str) -> TableRef {
        match self {
            Dialect::Sqlite => {
                TableRef::FunctionCall(Func::cust("rarray").arg(param(number)), Alias::new(alias).into())
            }
            Dialect::Postgres => {
                let list = format!(
                    "value, place AS rowid FROM unnest($1::{}) WITH ORDINALITY AS list (value, place)",
                    list_type(ty)
                );
                let select = Query::select().expr(Expr::cust_with_expr(list, param(number))).take();
                TableRef::SubQuery(select.into(), Alias::new(alias).into_iden())
            }
        }
    }

    /// Tests whether a column contains folded text; `folded`: the column contains folded text itself.
    pub fn contains(self, column: Expr, needle: usize, folded: bool) -> Expr {
        match self {
            Dialect::Sqlite if folded => self.stands_in(column, needle),
            Dialect::Sqlite => Expr::from(Func::cust(CONTAINS_FOLDED).args([column, param(needle)])),
            Dialect::Postgres => {
                let text = if folded { column } else { Expr::from(Func::cust(FOLD).arg(column)) };
                Expr::cust_with_exprs(format!("$1 LIKE {PATTERN}($2)"), [text, param(needle)])
            }
        }
    }

    /// Tests whether a column is folded text.
    pub fn same(self, column: Expr, text: usize) -> Expr {
        match self {
            Dialect::Sqlite => Expr::from(Func::cust(SAME_FOLDED).args([column, param(text)])),
            Dialect::Postgres => Expr::from(Func::cust(FOLD).arg(column)).eq(param(text)),
        }
    }

    /// Tests whether a column contains text as it is.
    pub fn stands_in(self, column: Expr, needle: usize) -> Expr {
        let find = match self {
            Dialect::Sqlite => "instr",
            Dialect::Postgres => "strpos",
        };
        Expr::from(Func::cust(Alias::new(find)).args([column, param(needle)])).gt(Expr::cust("0"))
    }

    /// Whether a condition holds, or does not: null is no truth.
    pub fn is_true(self, condition: Expr, holds: bool) -> Expr {
        let (sqlite, postgres) = if holds { ("IS", "($1) IS TRUE") } else { ("IS NOT", "($1) IS NOT TRUE") };
        match self {
            Dialect::Sqlite => condition.binary(BinOper::Custom(sqlite), Expr::cust("TRUE")),
            Dialect::Postgres => Expr::cust_with_expr(postgres, condition),
        }
    }

    /// A condition on other rows that is checked row by row, rather than joined.
    pub fn probed(self, condition: Expr) -> Expr {
        match self {
            Dialect::Sqlite => condition,
            Dialect::Postgres => self.is_true(condition, true),
        }
    }

    /// An integer rounded down to a multiple of a width; in both dialects a remainder has the sign of what is divided.
    pub fn rounded_down(self, column: Expr, width: u32) -> Expr {
        let rest = |column| format!("{column} - ({column} % {width} + {width}) % {width}");
        match self {
            Dialect::Sqlite => Expr::cust_with_exprs(rest("?"), [column.clone(), column]),
            Dialect::Postgres => Expr::cust_with_exprs(rest("$1"), [column]),
        }
    }

    /// The sum of an integer column, 0 without rows.
    pub fn sum(self, column: Expr) -> Expr {
        let sum = Expr::from(Func::coalesce([column.sum(), Expr::cust("0")]));
        match self {
            Dialect::Sqlite => sum,
            // The sum of integers is a number without bounds.
            Dialect::Postgres => sum.cast_as("bigint"),
        }
    }

    /// Orders by a column; null is the least. `always`: no row of it is null.
    pub fn order(self, select: &mut SelectStatement, by: Expr, descending: bool, always: bool) {
        let order = if descending { Order::Desc } else { Order::Asc };
        let nulls = if descending { NullOrdering::Last } else { NullOrdering::First };
        match self {
            Dialect::Postgres if !always => select.order_by_expr_with_nulls(by, order, nulls),
            Dialect::Postgres | Dialect::Sqlite => select.order_by_expr(by, order),
        };
    }
}

/// The members of a list that is bound as one value.
fn rarray(number: usize) -> SelectStatement {
    Query::select().column("value").from_function(Func::cust("rarray").arg(param(number)), "list").to_owned()
}
