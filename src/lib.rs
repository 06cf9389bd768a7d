//! cms-server: a content site's REST contract, served from declarations.
//!
//! # Map
//!
//! Lowest layer first: the crates below, then the modules of [`cms_core`], which answer requests, and those of this crate, which
//! serve, fill, move and look after a site. Each uses those above it in this list or of its own layer, never those below, and no
//! two use each other (`tests/tidy.rs` reads the list and enforces it).
//!
//! | layer | crate or module | responsibility, and what it must not know |
//! | --- | --- | --- |
//! | 0 | [`cms_base`] | metrics, threads behind a bounded queue, networks of addresses, the time of day, files and signals of each system; no logic of ours |
//! | 0 | [`cms_text`] | pure functions on text, time and addresses |
//! | 0 | [`cms_declaration`] | what may be written in `routes.toml`, as types; nothing reads files here |
//! | 1 | [`cms_schema`] | a JSON Schema compiled: check, coerce, describe; not where values come from |
//! | 1 | [`cms_config`] | `routes.toml` as written, with the place of every value; not what it means |
//! | 1 | [`cms_storage`] | inert plans, the traits that carry them out, SQLite; no schema, no resource, no request |
//! | 2 | [`cms_pictures`] | pictures measured, decoded, resized, cropped, in a bounded pool; no record, no key |
//! | 3 | [`error`] | the error codes of the server, with their statuses |
//! | 3 | [`model`] | the data that stages pass on; no logic |
//! | 3 | [`files`] | uploaded files under keys, in a folder or an object store; no record, no request |
//! | 3 | [`mail`] | messages by SMTP or as files in a folder, and their texts; not why they are sent |
//! | 3 | [`outbound`] | requests to other sites, where the configuration allows them; not their purpose |
//! | 4 | [`registry`] | declarations linked into a frozen whole, or every problem; no behaviour, only its name's position |
//! | 4 | [`log`] | lines of the log in the declared format; not what is logged |
//! | 5 | [`request`] | decode a request, find its route, check its arguments, read `_fields` and what it is conditional on |
//! | 5 | [`scope`] | what a stage may use: registry, storage, settings, caller, time |
//! | 6 | [`records`] | rows by name |
//! | 7 | [`access`] | authentication and authorization: identification, guards, visibility of rows; rate limits and the audit trail |
//! | 8 | [`fields`] | values of field groups: where a group applies, what is stored, checked and shown to programs; no address |
//! | 8 | [`openapi`] | the registry as an OpenAPI description; not who asks for it |
//! | 8 | [`render`] | rows to documents: values, links, addresses; not which functions compute properties |
//! | 9 | [`behaviours`] | named functions that declarations use |
//! | 10 | [`families`] | what a row of each family is: draft to plan, states, slugs, removal, refusals; no request |
//! | 11 | [`cache`] | rendered documents and whole responses in memory |
//! | 11 | [`openid`] | login by identity providers: what they say, and who that is here; no page |
//! | 12 | [`handlers`] | what endpoints do; they reach other routes only through [`handlers::Dispatcher`] |
//! | 13 | [`features`] | what serves one route, block or part of the console: handlers with their rows; its `guard.rs` belongs to [`access`] |
//! | 14 | [`engine`] | the order of the stages, re-entrant; embedding; root, namespaces, OPTIONS |
//! | 15 | [`xmlrpc`], [`pages`] | XML-RPC and the pages for people, both by requests to the routes |
//! | 15 | [`events`] | what has changed, told to those who may read it; streams of it, by requests to the routes |
//! | 15 | [`mcp`] | the Model Context Protocol: abilities as tools, records as resources, by requests to the routes; subscriptions listen with [`events`] |
//! | 16 | [`http`], [`boot`] | the only module that names actix; a database opened and seeded |
//! | 17 | [`import`], [`scheduler`] | imports; timed transitions of records |
//! | 17 | [`export`] | a site as WXR, for WordPress and for imports; no request |
//! | 17 | [`mailer`] | messages that wait in the outbox are sent; no request |
//! | 17 | [`webhooks`] | receivers that are told of changes, at least once and in order; not how they are declared |
//! | 17 | [`backup`] | backups with uploaded files, and their schedule; no request |
//! | 18 | [`commands`] | the command line: serving, the doctor, the reference, and the rest |
//! | 19 | [`fuzzing`] | what every parser of foreign bytes promises, for tests only |
//!
//! # One request
//!
//! [`http`] receives → [`access::identity`] identifies the caller → [`cache::responses`] may have the response → [`request`] decodes →
//! [`request::route`] finds the route → [`request::args`] checks and coerces (400) → [`access`] decides and loads the target
//! (401, 403, 404) → [`handlers`] read, or commit the [`cms_storage`] plans of [`families`] → [`render`] makes documents →
//! [`engine`] finishes: `Allow`, fields, embedding, envelope. The order is one function, `Engine::stages`. Each stage takes
//! the type that only the stage before can make, so that no handler runs with unchecked arguments or without a
//! decision.
//!
//! # Invariants
//!
//! * No SQL outside [`cms_storage`]; no resource's name in Rust.
//! * Error codes and statuses are in [`error`], those of checks of single values in [`cms_schema`]. `tests/tidy.rs` lists the
//!   few files with statuses that HTTP itself or another server answers with.
//! * Everything that can be compiled is compiled before the socket opens; a reload builds another registry and swaps it.
//! * Every write is a plan that the one writer carries out; a request is answered after its commit is on disk.
//! * One condition per resource decides what a caller may see, for lists, items, searches, counts and embedding.
//! * A list costs a fixed number of queries, whatever its length; so do the documents embedded in it.
//!
//! [`access`]: cms_core::access
//! [`access::identity`]: cms_core::access::identity
//! [`behaviours`]: cms_core::behaviours
//! [`cache`]: cms_core::cache
//! [`cache::responses`]: cms_core::cache::responses
//! [`engine`]: cms_core::engine
//! [`error`]: cms_core::error
//! [`families`]: cms_core::families
//! [`features`]: cms_core::features
//! [`fields`]: cms_core::fields
//! [`files`]: cms_core::files
//! [`handlers`]: cms_core::handlers
//! [`handlers::Dispatcher`]: cms_core::handlers::Dispatcher
//! [`http`]: cms_core::http
//! [`log`]: cms_core::log
//! [`mail`]: cms_core::mail
//! [`model`]: cms_core::model
//! [`openapi`]: cms_core::openapi
//! [`openid`]: cms_core::openid
//! [`outbound`]: cms_core::outbound
//! [`records`]: cms_core::records
//! [`registry`]: cms_core::registry
//! [`render`]: cms_core::render
//! [`request`]: cms_core::request
//! [`request::args`]: cms_core::request::args
//! [`request::route`]: cms_core::request::route
//! [`scope`]: cms_core::scope
//! [`xmlrpc`]: cms_core::xmlrpc

// Public items serve the binary, tests and benches; the documentation is for those who read the source.
#![allow(rustdoc::private_intra_doc_links)]

mod backup;
pub mod boot;
pub mod commands;
pub mod events;
mod export;
pub mod fuzzing;
mod import;
pub mod mailer;
mod mcp;
mod pages;
pub mod scheduler;
pub mod webhooks;
