//! Plans into SQL. A plan is first lowered: names resolved, conditions put into one canonical form, values extracted.
//! The rest is its shape; equal shapes have equal text, so text is rendered once per shape and cached.
//!
//! Knows columns and conditions, no connection. What differs between databases is in `dialect` alone.
//!
//! Conditions know two truth values: where a column is null, a comparison does not hold, and `Not` of it does.

mod dialect;
mod join_order;
mod lower;
mod lowered;
mod render;
mod shape;
mod write;

pub(super) use dialect::{FOLD, PATTERN};
pub(super) use join_order::{extensions_named, is_part_of_index, with_and_without_target};
pub(super) use lower::lower;
pub(super) use lowered::{Bind, Lowered, Rendered, ResultKind};
pub(super) use write::{Set, delete_text, insert_text, select_many_text, select_text, update_text};
