//! Plans into SQL. A plan is first lowered: names resolved, conditions put into one canonical form, values extracted.
//! What is left is its shape; equal shapes have equal text, so text is rendered once per shape and cached.
//!
//! Knows columns and conditions, no connection. What differs between databases is in `dialect` alone.
//!
//! Conditions know two truth values: where a column is null, a comparison does not hold, and `Not` of it does.

mod dialect;
mod join_order;
mod lower;
mod render;
mod shape;
mod write;

pub(super) use dialect::{FOLD, PATTERN};
pub(super) use join_order::extensions_named;
pub(super) use lower::{Lowered, Want, conjuncts, lower};
pub(super) use write::{Set, delete_text, insert_text, select_many_text, select_text, update_text};

use super::plan::DbValue;

/// Something to bind.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Bind {
    One(DbValue),
    List(Vec<DbValue>),
    /// What the members of JSON lists are compared with.
    Members(Vec<DbValue>),
}

/// Text made for a shape.
pub(super) struct Rendered {
    pub text: String,
    /// For each placeholder of the text, in order: which of the lowered plan's binds it takes.
    pub order: Vec<usize>,
    /// For each column of the result: whether it holds words.
    pub words: Vec<bool>,
}
