//! The contract, statement by statement: one module per part, one test per statement, under the default prefix, over
//! HTTP.
//!
//! A test's name is the statement in short; its module is the part that contains it.

mod authentication;
#[allow(dead_code, reason = "shared with the other tests, which use all of it")]
#[path = "../site/described.rs"]
mod described;
mod endpoints;
mod errors;
mod events;
mod limits;
mod resources;
#[path = "../site/server.rs"]
#[allow(dead_code, reason = "shared with the other tests, which use all of it")]
mod server;
mod service;
mod shared;
mod states;
mod validation;
mod versioning;
