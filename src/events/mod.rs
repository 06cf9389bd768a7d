//! Changes, told to those who may read what has changed.
//!
//! The change feed is the one log of changes. A [`hub`](EventHub) reads it once for the whole process; each receiver takes what is new
//! since its own place, and `visible` decides for each change what this receiver may know at that moment: by a request to
//! the route of the item, in the receiver's name, and by the guard of that route for what the item was before. A [`EventListener`] is what
//! every open response has that waits for news; `stream` sends events to listeners as they come, and the console's windows and subscriptions
//! of MCP hear of [documents](DocumentState) that differ. Nothing is stored for them: a listener that comes back names its place.

mod addresses;
mod document;
mod feed;
mod filter;
mod hub;
mod listener;
mod stream;
mod transition;
mod visible;

pub use document::DocumentState;
pub use feed::FeedEntry;
pub use filter::EventFilter;
pub use hub::{EventHub, HubReceiver, NextEntries, PossibleEvent};
pub use listener::{CallerVersions, EventHost, EventListener};
pub use stream::{rights, serve};
pub use visible::{VisibleEvent, tell};
