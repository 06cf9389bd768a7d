//! How often each scope has been written, in memory. Numbers only grow.

use super::plan::Name;
use arc_swap::ArcSwap;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The scope that every commit of any process raises.
pub(super) const COMMITS: &str = "commits";

/// See the module.
#[derive(Default)]
pub(super) struct Generations {
    scopes: ArcSwap<HashMap<Name, Arc<AtomicU64>>>,
    commits: AtomicU64,
    rising: AtomicU64,
}

impl Generations {
    /// The scope's number; 0 before it was first written.
    pub fn get(&self, scope: &str) -> u64 {
        self.scopes.load().get(scope).map_or(0, |n| n.load(Ordering::Acquire))
    }

    /// Commits known of.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    /// Changes before any number does: who finds it unchanged knows that no number has changed meanwhile.
    pub fn rising(&self) -> u64 {
        self.rising.load(Ordering::Acquire)
    }

    /// Takes up numbers that are in the database. `commits` comes last, so that who sees it sees the rest.
    pub fn raise_to(&self, numbers: &[(Name, u64)]) {
        self.rising.fetch_add(1, Ordering::AcqRel);
        for (scope, number) in numbers.iter().filter(|(scope, _)| **scope != *COMMITS) {
            self.cell(scope).fetch_max(*number, Ordering::AcqRel);
        }
        for (_, number) in numbers.iter().filter(|(scope, _)| **scope == *COMMITS) {
            self.commits.fetch_max(*number, Ordering::AcqRel);
        }
    }

    fn cell(&self, scope: &Name) -> Arc<AtomicU64> {
        if let Some(cell) = self.scopes.load().get(scope) {
            return cell.clone();
        }
        self.scopes.rcu(|scopes| {
            let mut scopes = HashMap::clone(scopes);
            scopes.entry(scope.clone()).or_default();
            scopes
        });
        self.scopes.load()[scope].clone()
    }
}
