//! SQL that differs from database to database. Here: SQLite.
//!
//! The functions named here that SQLite does not have are registered with every connection.

use sea_query::{Alias, Expr, ExprTrait, Func, Query, SelectStatement, SqliteQueryBuilder, TableRef, Value, Values};

/// Folds its first argument and tests whether it contains the second, which is folded already.
pub const CONTAINS_FOLDED: &str = "contains_folded";

/// Statements to text and the binds in the order of its placeholders.
pub fn build(select: &SelectStatement) -> (String, Vec<usize>) {
    let (text, values) = select.build(SqliteQueryBuilder);
    (text, placeholders(values))
}

/// Which bind each placeholder takes: statements carry the numbers of binds in place of values.
pub fn placeholders(values: Values) -> Vec<usize> {
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

/// The members of a list that is bound as one value.
pub fn list(number: usize) -> SelectStatement {
    Query::select().column("value").from_function(Func::cust("rarray").arg(param(number)), "list").to_owned()
}

/// The members of the JSON list in a column that are in a bound list.
pub fn members(column: Expr, number: usize, alias: &str) -> SelectStatement {
    let mut select = Query::select();
    select.expr(Expr::cust("1")).from_function(Func::cust("json_each").arg(column), Alias::new(alias));
    let value = Expr::col((Alias::new(alias), Alias::new("value")));
    select.and_where(value.in_subquery(list(number))).take()
}

/// A bound list as a table to join; its columns [`LIST_VALUE`] and [`LIST_PLACE`] hold member and place.
pub fn list_table(number: usize, alias: &str) -> TableRef {
    TableRef::FunctionCall(Func::cust("rarray").arg(param(number)), Alias::new(alias).into())
}

/// See [`list_table`].
pub const LIST_VALUE: &str = "value";
/// See [`list_table`].
pub const LIST_PLACE: &str = "rowid";

/// Tests whether a column contains folded text; `folded`: the column contains folded text itself.
pub fn contains(column: Expr, needle: usize, folded: bool) -> Expr {
    if folded {
        return stands_in(column, needle);
    }
    Expr::from(Func::cust(CONTAINS_FOLDED).args([column, param(needle)]))
}

/// Folds its first argument and tests whether it is the second, which is folded already.
pub const SAME_FOLDED: &str = "same_folded";

/// Tests whether a column is folded text.
pub fn same(column: Expr, text: usize) -> Expr {
    Expr::from(Func::cust(SAME_FOLDED).args([column, param(text)]))
}

/// Tests whether a column contains text as it is.
pub fn stands_in(column: Expr, needle: usize) -> Expr {
    Expr::from(Func::cust("instr").args([column, param(needle)])).gt(Expr::cust("0"))
}
