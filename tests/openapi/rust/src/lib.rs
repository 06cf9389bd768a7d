//! The generated client; nothing in it may be warned of.
#![deny(warnings)]

pub mod cms;
