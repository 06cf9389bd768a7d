//! The ground that every part of cms-server stands on: metrics, bounded pools, networks and the clock.
//!
//! Nothing here knows of requests, rows or declarations.

pub mod clock;
pub mod metrics;
pub mod network;
pub mod pool;
