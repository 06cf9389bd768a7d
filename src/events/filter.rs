//! Filters: the resources, events and states that a receiver wants events of.

use super::hub::PossibleEvent;
use super::visible::VisibleEvent;
use cms_declaration::EventType;

/// Resources, events and states that a receiver wants; empty lists are all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventFilter {
    pub resources: Vec<String>,
    pub events: Vec<EventType>,
    /// Of items with states, those that are in one of these, or were before the change.
    pub statuses: Vec<String>,
}

impl EventFilter {
    /// Whether an event of an entry may be one that it wants.
    pub fn may_choose(&self, event: &PossibleEvent) -> bool {
        self.covers(&event.resource, &event.meanings)
    }

    /// Whether it wants a change of a resource that means one of these.
    fn covers(&self, resource: &str, meanings: &[EventType]) -> bool {
        self.takes(resource) && self.wants(meanings)
    }

    /// Whether it wants an event.
    pub fn chooses(&self, event: &VisibleEvent) -> bool {
        self.covers(&event.resource, &event.meanings) && (self.statuses.is_empty() || self.has_state(event))
    }

    fn has_state(&self, event: &VisibleEvent) -> bool {
        let states = ["before", "after"].map(|at| event.document["status"][at].as_str());
        let wanted = |state: &str| self.statuses.iter().any(|own| own == state);
        states == [None, None] || states.into_iter().flatten().any(wanted)
    }

    fn takes(&self, resource: &str) -> bool {
        self.resources.is_empty() || self.resources.iter().any(|own| own == resource)
    }

    fn wants(&self, meanings: &[EventType]) -> bool {
        self.events.is_empty() || meanings.iter().any(|meaning| self.events.contains(meaning))
    }
}
