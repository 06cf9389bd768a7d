//! Methods of [`Storage`](crate::database::Storage) and [`Snapshot`](crate::snapshot::Snapshot) that a decorator passes on to what it
//! decorates: it lists them, and writes only those that it changes.

macro_rules! forward {
    ($inner:ident: $($method:ident)*) => { $($crate::forward::forward!(@$method $inner);)* };
    (@pin_snapshot $inner:ident) => {
        fn pin_snapshot(&self) -> $crate::pin::PinGuard { self.$inner.pin_snapshot() }
    };
    (@commit $inner:ident) => {
        fn commit(&self, plan: $crate::plan::WritePlan) -> $crate::database::CommitFuture { self.$inner.commit(plan) }
    };
    (@begin $inner:ident) => {
        fn begin(&self) -> $crate::database::BeginFuture { self.$inner.begin() }
    };
    (@scope_version $inner:ident) => {
        fn scope_version(&self, scope: &$crate::plan::Name) -> u64 { self.$inner.scope_version(scope) }
    };
    (@slot_version $inner:ident) => {
        fn slot_version(&self, slot: $crate::dependencies::VersionSlot) -> u64 { self.$inner.slot_version(slot) }
    };
    (@version_epoch $inner:ident) => {
        fn version_epoch(&self) -> Option<u64> { self.$inner.version_epoch() }
    };
    (@limit_validity $inner:ident) => {
        fn limit_validity(&self, until: i64) { self.$inner.limit_validity(until); }
    };
    (@catch_up $inner:ident) => {
        fn catch_up(&self) -> Result<(), $crate::error::StorageError> { self.$inner.catch_up() }
    };
    (@has_commit_listener $inner:ident) => {
        fn has_commit_listener(&self) -> bool { self.$inner.has_commit_listener() }
    };
    (@prefetch $inner:ident) => {
        fn prefetch(&self, requests: &[$crate::snapshot::ReadRequest<'_>]) { self.$inner.prefetch(requests); }
    };
    (@can_prefetch $inner:ident) => {
        fn can_prefetch(&self) -> bool { self.$inner.can_prefetch() }
    };
    (@prefetch_targets $inner:ident) => {
        fn prefetch_targets(&self, edges: &$crate::plan::EdgePlan, rows: &$crate::plan::ReadPlan) {
            self.$inner.prefetch_targets(edges, rows);
        }
    };
    (@dependencies $inner:ident) => {
        fn dependencies(
            &self,
            request: $crate::snapshot::ReadRequest<'_>,
            result: &$crate::snapshot::ReadResult,
        ) -> Option<$crate::dependencies::Dependencies> {
            self.$inner.dependencies(request, result)
        }
    };
    (@is_newest $inner:ident) => {
        fn is_newest(&self) -> bool { self.$inner.is_newest() }
    };
}
pub(super) use forward;
