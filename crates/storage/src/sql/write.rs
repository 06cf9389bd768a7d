//! Text for statements about one row by its key. Placeholders are in the order of the columns given; the key's is last.

use super::super::plan::VERSION;
use sea_query::{Alias, Expr, ExprTrait, Func, Query, SqliteQueryBuilder};

/// How a column is set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Set {
    To,
    /// To the present value (0 where it is null) plus the bound one.
    Add,
}

/// A new row. The key is one of the columns.
pub fn insert_text<'a>(table: &str, columns: impl Iterator<Item = &'a str>) -> String {
    let columns: Vec<Alias> = columns.map(Alias::new).collect();
    let values: Vec<Expr> = columns.iter().map(|_| Expr::val(0)).collect();
    let mut insert = Query::insert();
    insert.into_table(Alias::new(table)).columns(columns).values(values).expect("one value for each column");
    insert.build(SqliteQueryBuilder).0
}

/// A row's new values; [`VERSION`] rises when the table has it.
pub fn update_text<'a>(
    table: &str,
    key: &str,
    columns: impl Iterator<Item = (&'a str, Set)>,
    versioned: bool,
) -> String {
    let mut update = Query::update();
    update.table(Alias::new(table));
    for (name, set) in columns {
        let present = || Expr::col(Alias::new(name));
        let value = match set {
            Set::To => Expr::val(0),
            Set::Add => Expr::from(Func::coalesce([present(), Expr::cust("0")])).add(Expr::val(0)),
        };
        update.value(Alias::new(name), value);
    }
    if versioned {
        update.value(VERSION, Expr::col(VERSION).add(Expr::cust("1")));
    }
    update.and_where(Expr::col(Alias::new(key)).eq(Expr::val(0)));
    update.build(SqliteQueryBuilder).0
}

/// Columns of a row.
pub fn select_text<'a>(table: &str, key: &str, columns: impl Iterator<Item = &'a str>) -> String {
    let mut select = Query::select();
    select.from(Alias::new(table)).columns(columns.map(Alias::new));
    select.and_where(Expr::col(Alias::new(key)).eq(Expr::val(0)));
    select.build(SqliteQueryBuilder).0
}

/// Columns of rows. `ids` is an array of their keys.
pub fn select_many_text<'a>(table: &str, key: &str, columns: impl Iterator<Item = &'a str>, ids: &str) -> String {
    let mut select = Query::select();
    select.from(Alias::new(table)).columns(columns.map(Alias::new));
    // Built, the operator's right side would be in parentheses, which it may not be.
    select.and_where(Expr::cust(format!("\"{}\" = ANY({ids})", key.replace('"', "\"\""))));
    select.build(SqliteQueryBuilder).0
}

/// A row's end.
pub fn delete_text(table: &str, key: &str) -> String {
    let mut delete = Query::delete();
    delete.from_table(Alias::new(table)).and_where(Expr::col(Alias::new(key)).eq(Expr::val(0)));
    delete.build(SqliteQueryBuilder).0
}
