//! The modules that answer a request, from the registry of what is declared to the HTTP server.
//!
//! The map of all crates and modules is in the `src/lib.rs` of the program.

// Public items serve the program, its tests and benches; the documentation is for those who read the source.
#![allow(rustdoc::private_intra_doc_links)]

pub mod access;
pub mod behaviours;
pub mod cache;
pub mod engine;
pub mod error;
pub mod families;
pub mod features;
pub mod fields;
pub mod files;
pub mod handlers;
pub mod http;
pub mod log;
pub mod mail;
pub mod model;
pub mod openapi;
pub mod openid;
pub mod outbound;
pub mod records;
pub mod registry;
pub mod render;
pub mod request;
pub mod scope;
pub mod xmlrpc;
