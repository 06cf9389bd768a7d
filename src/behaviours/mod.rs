//! The named behaviours: one table per slot from name to function.
//!
//! `read` computes a property, `write` normalises an argument, `query` turns an argument into a condition. Guards live
//! with access, handlers with handlers. A behaviour serves a rule, never one resource by name; every one has a user in
//! the shipped declarations.

pub mod dynamic;
pub mod files;
mod query;
mod read;
mod reference;
mod write;

use crate::error::ApiError;
use crate::registry::resource::{Property, Resource};
use crate::render::Item;
use crate::scope::Scope;
use crate::storage::plan::{Cond, DbValue};
use serde_json::{Map, Value};

/// What a read behaviour needs from other rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Needs {
    pub edges: bool,
    pub meta: bool,
    pub revisions: bool,
    pub above: bool,
    pub children: bool,
    pub authors: bool,
    /// The records that comments stand under.
    pub posts: bool,
    /// The records and terms that the rows stand for.
    pub referenced: bool,
    /// Long texts of the row beside the property's own column.
    pub texts: bool,
}

impl Needs {
    /// Nothing but the row.
    pub const ROW: Needs = Needs {
        edges: false,
        meta: false,
        revisions: false,
        above: false,
        children: false,
        authors: false,
        posts: false,
        referenced: false,
        texts: false,
    };
    /// The row and what it stands for.
    pub const REFERENCED: Needs = Needs { referenced: true, ..Needs::ROW };
    /// The row with its long texts.
    pub const TEXTS: Needs = Needs { texts: true, ..Needs::ROW };
    /// What an address is made of.
    pub const ADDRESS: Needs = Needs { above: true, authors: true, ..Needs::ROW };

    /// Both.
    pub fn add(&mut self, other: Needs) {
        self.edges |= other.edges;
        self.meta |= other.meta;
        self.revisions |= other.revisions;
        self.above |= other.above;
        self.children |= other.children;
        self.authors |= other.authors;
        self.posts |= other.posts;
        self.referenced |= other.referenced;
        self.texts |= other.texts;
    }
}

/// Computes a property's value; `None` leaves the property out.
pub type Read = fn(&Item<'_>, &Property, &DbValue) -> Option<Value>;

/// What a write behaviour may ask.
pub struct WriteContext<'a> {
    pub scope: &'a Scope,
    pub resource: &'a Resource,
    pub property: &'a Property,
}

/// Normalises a checked argument into what is stored.
pub type Write = fn(&WriteContext<'_>, &Value) -> Result<DbValue, ApiError>;

/// What a query behaviour may ask.
pub struct QueryContext<'a> {
    pub scope: &'a Scope,
    pub resource: &'a Resource,
    /// The argument's name, for error messages.
    pub name: &'a str,
    /// What is asked where nothing is.
    pub usual: Option<&'a Value>,
    pub params: &'a Map<String, Value>,
    pub args: &'a crate::request::args::Checked,
}

/// Turns an argument's value into a condition; `None` selects everything.
pub type Query = fn(&QueryContext<'_>, &Value) -> Result<Option<Cond>, ApiError>;

pub use query::{QUERIES, judge};
pub use read::READS;
pub use write::{WRITES, default_write};
