//! State that readers and the writer of a file share.

use super::super::common::Common;
use super::connect::ConnectionSettings;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Pages in the log that call for a checkpoint.
pub const LONG_LOG: usize = 1000;

/// State that readers and the writer share.
pub(in super::super) struct SqliteShared {
    /// Distinguishes databases that one thread reads.
    pub id: u64,
    pub path: PathBuf,
    pub settings: ConnectionSettings,
    pub common: Arc<Common>,
    /// Pages in the log.
    pub log_pages: Arc<AtomicUsize>,
}

impl SqliteShared {
    /// Whether the log waits for its readers to start over.
    pub fn log_is_long(&self) -> bool {
        self.log_pages.load(Ordering::Relaxed) >= LONG_LOG
    }
}

impl std::ops::Deref for SqliteShared {
    type Target = Common;

    fn deref(&self) -> &Common {
        &self.common
    }
}
