//! Values of field groups: where a group applies, how values are stored and shown, how written ones are checked.
//!
//! A value is kept as WordPress keeps it: a meta value under the field's name, its key beside it under `_NAME`; fields inside
//! others under the names of both, joined by `_`. So what an import has stored is shown as it is.

mod checks;
mod light;
mod location;
mod rows;
mod writes;

pub use checks::check;
pub use light::{StoredValues, light, place, rows, stored, stored_ids, whole};
pub use location::{LocationFacts, RuleTerms, applying};
pub use rows::{FieldIds, FieldRows};
pub use writes::{FieldWrites, writes};
