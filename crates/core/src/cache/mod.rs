//! Caches in memory: whole responses, and the JSON of single documents.

pub mod descriptions;
pub mod documents;
pub mod responses;
