//! Where rows are stored: inert plans, the traits that carry them out, SQLite and PostgreSQL.
//!
//! Knows tables and columns, nothing of schemas, resources or requests. No SQL text occurs outside this module.

// Some of it only PostgreSQL needs.
#![cfg_attr(not(feature = "postgres"), allow(dead_code, unused_imports))]

mod batching;
mod budget;
mod catalogue;
mod common;
mod companions;
mod connection;
#[cfg(test)]
mod contract;
pub mod copy;
mod database;
mod dependencies;
mod derived;
mod engine;
mod error;
mod feed;
#[cfg(test)]
mod fixtures;
mod forward;
mod inner_keys;
mod layout_table;
mod migrate;
mod new_row;
pub mod nodes;
mod observe;
mod opening;
mod pin;
pub mod place;
pub mod plan;
#[cfg(feature = "postgres")]
pub mod postgres;
mod queue;
mod read_cache;
mod read_set;
mod server;
mod snapshot;
mod sql;
mod sql_reads;
pub mod sqlite;
mod staging;
mod statement;
mod tally;
#[cfg(test)]
mod toy;
mod transaction;
mod typed_row;
mod versions;
mod words;
mod writer;

pub use batching::BatchedReads;
pub use budget::{Budgeted, ReadBudget};
pub use database::{BeginFuture, CommitFuture, Database, FinishFuture, Storage, Transaction, WRITE_PATIENCE};
pub use dependencies::{Dependencies, VersionSlot};
pub use error::StorageError;
pub use feed::FeedRetention;
pub use inner_keys::{InnerKeys, JsonStep};
pub use migrate::{META_VERSION, PendingChange, Refusal};
pub use new_row::{NewRowSnapshot, RelatedRows};
pub use opening::{DatabaseOptions, Migrated, OpenError};
pub use pin::PinGuard;
pub use read_set::{ReadSet, TrackedStorage};
pub use snapshot::{ReadRequest, ReadResult, Snapshot};
pub use sqlite::{end_idle_transactions, reuse_transactions};
pub use staging::{StagedRead, StagedValue, StagingFile};
pub use typed_row::{FromColumn, FromRow, TypedRow};
pub use versions::slugs;
