//! The ground that every part of cms-server stands on: metrics, bounded pools, networks, the clock, and what systems do differently.
//!
//! Nothing here knows of requests, rows or declarations.

pub mod clock;
pub mod metrics;
pub mod named;
pub mod network;
pub mod platform;
pub mod pool;
