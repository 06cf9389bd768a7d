//! Filters: the resources and events that a receiver wants to be told of.

use cms_config::declaration::EventType;

/// Resources and events that a receiver wants; empty lists are all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventFilter {
    pub resources: Vec<String>,
    pub events: Vec<EventType>,
}

impl EventFilter {
    /// Whether it wants changes of a resource.
    pub fn takes(&self, resource: &str) -> bool {
        self.resources.is_empty() || self.resources.iter().any(|own| own == resource)
    }

    /// Whether it wants an event with one of these meanings.
    pub fn wants(&self, meanings: &[EventType]) -> bool {
        self.events.is_empty() || meanings.iter().any(|meaning| self.events.contains(meaning))
    }
}
