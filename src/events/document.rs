//! Documents of which listeners are notified when they differ.

use cms_core::registry::name;
use cms_core::scope::Scope;
use cms_storage::{ReadSet, Storage, TrackedStorage};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

/// The document as it was when it was read last.
#[derive(Default)]
pub struct DocumentState {
    /// `None`: the caller could not read it.
    digest: Option<[u8; 32]>,
    /// The reads that it was made from; `None`: they are not known, so it is read each time.
    made_from: Option<ReadSet>,
}

impl DocumentState {
    /// The document as the caller of a scope sees it now; `read` makes its text.
    pub async fn read(
        scope: &Scope,
        read: impl AsyncFnOnce(&Scope) -> Option<String>,
    ) -> (DocumentState, Option<String>) {
        let storage = Arc::new(TrackedStorage::new(scope.storage.clone()));
        storage.note(name("setting"), scope.settings.version);
        let text = read(&Scope { storage: storage.clone(), ..scope.clone() }).await;
        let digest = text.as_ref().map(|text| Sha256::digest(text).into());
        (DocumentState { digest, made_from: storage.seen() }, text)
    }

    /// Whether the caller could read it.
    pub fn is_readable(&self) -> bool {
        self.digest.is_some()
    }

    /// Whether what it was made from may have been written since.
    pub fn may_differ(&self, storage: &dyn Storage, now: i64) -> bool {
        self.made_from.as_ref().is_none_or(|read| !read.holds(storage, now))
    }

    /// Whether it is another document than it was.
    pub fn differs(&self, before: &DocumentState) -> bool {
        self.digest != before.digest
    }
}
