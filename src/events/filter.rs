//! Filters: the resources and events that a receiver wants to be told of.

use super::FeedEntry;
use super::told::likely_meanings;
use crate::registry::Registry;
use cms_config::declaration::EventType;

/// Resources and events that a receiver wants; empty lists are all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventFilter {
    pub resources: Vec<String>,
    pub events: Vec<EventType>,
}

impl EventFilter {
    /// Whether an event of an entry may be one that it wants. Nothing is read for that.
    pub fn may_concern(&self, registry: &Registry, entry: &FeedEntry) -> bool {
        likely_meanings(registry, entry).is_some_and(|(resource, meanings)| self.covers(&resource.name, &meanings))
    }

    /// Whether it wants a change of a resource that means one of these.
    pub fn covers(&self, resource: &str, meanings: &[EventType]) -> bool {
        self.takes(resource) && self.wants(meanings)
    }

    /// Whether it wants changes of a resource.
    pub fn takes(&self, resource: &str) -> bool {
        self.resources.is_empty() || self.resources.iter().any(|own| own == resource)
    }

    /// Whether it wants an event with one of these meanings.
    pub fn wants(&self, meanings: &[EventType]) -> bool {
        self.events.is_empty() || meanings.iter().any(|meaning| self.events.contains(meaning))
    }
}
