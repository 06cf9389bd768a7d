//! State that readers and the writer of a database share.

use super::super::common::Common;
use super::neighbours::Neighbours;
use super::pool::Pool;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// State that readers and the writer share.
pub(in super::super) struct PgShared {
    /// Distinguishes databases that one thread reads.
    pub id: u64,
    pub pool: Arc<Pool>,
    pub common: Arc<Common>,
    /// The name of this node for other nodes.
    pub node: Arc<str>,
    pub schema: Arc<str>,
    /// See [`crate::Storage::has_commit_listener`].
    pub hears: AtomicBool,
    /// See [`crate::Database::leads`].
    pub leads: AtomicBool,
    pub neighbours: Neighbours,
}

impl PgShared {
    /// Takes notice of whether it listens, and of whether it leads.
    pub fn attends(&self, hears: bool, leads: bool) {
        self.hears.store(hears, Ordering::Release);
        if self.leads.swap(leads, Ordering::AcqRel) != leads {
            self.wake_all();
        }
    }
}

impl std::ops::Deref for PgShared {
    type Target = Common;

    fn deref(&self) -> &Common {
        &self.common
    }
}
