//! The named behaviours: one table per slot from name to function.
//!
//! `read` computes a property, `write` normalises an argument, `query` turns an argument into a condition. Guards live
//! with access, handlers with handlers. A behaviour serves a rule, never one resource by name; every one has a user in
//! the shipped declarations.

pub mod dynamic;
mod field_values;
pub mod files;
mod original;
mod query;
mod read;
mod reference;
pub mod seo;
mod write;

use crate::error::ApiError;
use crate::registry::resource::{Property, Resource};
use crate::render::BlockReader;
use crate::scope::Scope;
use cms_storage::plan::{Cond, DbValue};
use serde_json::{Map, Value};

/// Everything that a write behaviour may use.
pub struct WriteContext<'a> {
    pub scope: &'a Scope,
    pub property: &'a Property,
}

/// Normalises a checked argument into what is stored.
pub type WriteBehaviour = fn(&WriteContext<'_>, &Value) -> Result<DbValue, ApiError>;

/// Everything that a query behaviour may use.
pub struct QueryContext<'a> {
    pub scope: &'a Scope,
    pub resource: &'a Resource,
    /// The default of the argument.
    pub usual: Option<&'a Value>,
    pub params: &'a Map<String, Value>,
    pub args: &'a crate::request::args::ArgValues,
}

/// Turns an argument's value into a condition; `None` selects everything.
pub type QueryBehaviour = fn(&QueryContext<'_>, &Value) -> Result<Option<Cond>, ApiError>;

/// Shows contents as blocks.
pub const BLOCKS: BlockReader = dynamic::data::shown;

pub use query::{QUERIES, check_argument, effect};
pub use read::{READS, options as text_options};
pub use write::{WRITES, allowed_html, comment_phrases, default_write, refused};
