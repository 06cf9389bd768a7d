//! cms-server: a content site's REST contract, served from declarations.
//!
//! # Map
//!
//! Lowest layer first; a module uses those above it in this list, never those below, and no two use each other
//! (`tests/tidy.rs` reads the list and enforces it).
//!
//! | layer | module | responsibility, and what it must not know |
//! | --- | --- | --- |
//! | 0 | [`error`] | every code and status of the server; problems at startup |
//! | 0 | [`model`] | the data that stages pass on; no logic |
//! | 0 | [`network`], [`pool`] | networks of addresses; threads behind a bounded queue; no logic of ours |
//! | 0 | [`clock`] | the time of day, and waiting for a time; a test has its own |
//! | 0 | [`metrics`] | every metric's name, type and meaning; counters; not who counts |
//! | 1 | [`config`] | `routes.toml` as written, with the place of every value; not what it means |
//! | 1 | [`schema`] | a JSON Schema compiled: check, coerce, describe; not where values come from |
//! | 1 | [`storage`] | inert plans, the traits that carry them out, SQLite; no schema, no resource, no request |
//! | 1 | [`files`] | uploaded files under keys, in a folder or an object store; no record, no request |
//! | 1 | [`pictures`] | pictures measured, decoded, resized, cropped, in a bounded pool; no record, no key |
//! | 1 | [`mail`] | messages by SMTP or as files in a folder, and their texts; not why they are sent |
//! | 1 | [`outbound`] | requests to other sites, where the configuration allows them; not their purpose |
//! | 1 | [`text`] | pure functions on text, time and addresses |
//! | 2 | [`registry`] | declarations linked into a frozen whole, or every problem; no behaviour, only its name's position |
//! | 2 | [`log`] | lines of the log in the declared format; not what is logged |
//! | 3 | [`request`] | decode a request, find its route, check its arguments, read `_fields` and what it is conditional on |
//! | 3 | [`scope`] | what a stage may use: registry, storage, settings, caller, time |
//! | 4 | [`records`] | rows by name |
//! | 5 | [`access`] | authentication and authorization: identification, guards, visibility of rows; rate limits and the audit trail |
//! | 6 | [`openapi`] | the registry as an OpenAPI description; not who asks for it |
//! | 6 | [`render`] | rows to documents: values, links, addresses; not which functions compute properties |
//! | 7 | [`behaviours`] | named functions that declarations use |
//! | 8 | [`families`] | what a row of each family is: draft to plan, states, slugs, removal, refusals; no request |
//! | 9 | [`cache`] | rendered documents and whole responses in memory |
//! | 10 | [`handlers`] | what endpoints do; they reach other routes only through [`handlers::Dispatch`] |
//! | 11 | [`engine`] | the order of the stages, re-entrant; embedding; root, namespaces, OPTIONS |
//! | 12 | [`xmlrpc`], [`pages`] | XML-RPC and the pages for people, both by requests to the routes |
//! | 12 | [`mcp`] | the Model Context Protocol: abilities as tools, records as resources, by requests to the routes |
//! | 13 | [`http`], [`boot`] | the only module that names actix; a database opened and seeded |
//! | 14 | [`import`], [`scheduler`] | imports; timed transitions of records |
//! | 14 | [`mailer`] | messages that wait in the outbox are sent; no request |
//! | 14 | [`backup`] | backups with uploaded files, and their schedule; no request |
//! | 15 | [`commands`] | the command line: serving, the doctor, the reference, and the rest |
//! | 16 | [`fuzzing`] | what every parser of foreign bytes promises, for tests only |
//!
//! # One request
//!
//! [`http`] receives → [`access::identity`] identifies the caller → [`cache::responses`] may have the response → [`request`] decodes →
//! [`request::route`] finds the route → [`request::args`] checks and coerces (400) → [`access`] decides and loads the target
//! (401, 403, 404) → [`handlers`] read, or commit the [`storage`] plans of [`families`] → [`render`] makes documents →
//! [`engine`] finishes: `Allow`, fields, embedding, envelope. The order is one function, `Engine::stages`. Each stage takes
//! the type that only the stage before can make, so that no handler runs with unchecked arguments or without a
//! decision.
//!
//! # Invariants
//!
//! * No SQL outside [`storage`]; no status or code outside [`error`]; no resource's name in Rust.
//! * Everything that can be compiled is compiled before the socket opens; a reload builds another registry and swaps it.
//! * Every write is a plan that the one writer carries out; a request is answered after its commit is on disk.
//! * What a caller may see is one condition per resource, shared by lists, items, searches, counts and embedding.
//! * A list costs a fixed number of queries, whatever its length; so does what is embedded in it.

// What is public serves the binary, tests and benches; the documentation is for those who read the source.
#![allow(rustdoc::private_intra_doc_links)]

mod access;
mod backup;
mod behaviours;
pub mod boot;
mod cache;
pub mod clock;
pub mod commands;
pub mod config;
pub mod engine;
mod error;
mod families;
mod files;
pub mod fuzzing;
mod handlers;
pub mod http;
mod import;
mod log;
mod mail;
pub mod mailer;
mod mcp;
pub mod metrics;
pub mod model;
mod network;
pub mod openapi;
mod outbound;
mod pages;
mod pictures;
mod pool;
mod records;
pub mod registry;
mod render;
pub mod request;
pub mod scheduler;
mod schema;
mod scope;
pub mod storage;
pub mod text;
mod xmlrpc;
