//! `routes.toml` as written: reading, merging and checking it, with the place of every value.
//!
//! `load` is the entry point and shows the order of steps. `cms_declaration` and `grammar` define what may be written;
//! `source` and `read` get texts, `parse_toml` and `parse_json` make `tree`s of them; `settings`,
//! `layers`, `merge`, `inherit`, `prefix`, `taxonomies`, `schema_files` and `references` combine them; `check` reports
//! what is wrong; `places` says where what is sound was written. Nothing here knows what a declaration means.

pub mod check;
pub mod grammar;
mod inherit;
mod layers;
pub mod load;
mod merge;
mod parse_json;
mod parse_toml;
pub mod places;
mod prefix;
mod problem;
mod read;
mod references;
pub mod schema_files;
pub mod settings;
pub mod shipped;
pub mod source;
mod taxonomies;
pub mod tree;
pub mod watch;

pub use problem::Problem;
