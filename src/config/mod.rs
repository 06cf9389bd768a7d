//! `routes.toml` as written: reading, merging and checking it, with the place of everything kept.
//!
//! `load` is the way in and shows the order of steps. `declaration`, `units`, `xmlrpc` and `grammar` say what may be written; `source` and
//! `read` get texts, `parse_toml` and `parse_json` make `tree`s of them; `settings`, `layers`, `merge`, `schema_files`
//! and `prefix` put them together; `check` tells what is wrong. Nothing here knows what a declaration means.

pub(crate) mod check;
pub mod declaration;
pub(crate) mod grammar;
mod layers;
pub mod load;
mod merge;
mod parse_json;
mod parse_toml;
mod prefix;
mod read;
mod schema_files;
pub(crate) mod settings;
pub(crate) mod shipped;
pub(crate) mod source;
pub(crate) mod tree;
pub mod units;
pub(crate) mod watch;
pub(crate) mod xmlrpc;
