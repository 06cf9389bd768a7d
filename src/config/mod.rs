//! `routes.toml` as written: reading, merging and checking it, with the place of everything kept.
//!
//! `load` is the way in and shows the order of steps. `declaration`, `units`, `xmlrpc` and `grammar` say what may be written; `source` and
//! `read` get texts, `parse_toml` and `parse_json` make `tree`s of them; `settings`, `layers`, `merge`, `schema_files`
//! and `prefix` put them together; `check` tells what is wrong. Nothing here knows what a declaration means.

pub mod check;
pub mod declaration;
pub mod grammar;
mod inherit;
mod layers;
pub mod load;
mod merge;
mod parse_json;
mod parse_toml;
mod prefix;
mod read;
mod references;
mod schema_files;
pub mod settings;
pub mod shipped;
pub mod source;
mod taxonomies;
pub mod tree;
pub mod units;
pub mod watch;
pub mod xmlrpc;
