//! What is cached in memory: whole responses, and the JSON of single documents.

pub mod documents;
pub mod responses;
