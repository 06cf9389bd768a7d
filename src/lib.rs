//! cms-server: a content site's REST contract, served from declarations.

pub mod error;
